//! `verify` and `export`: what holds, and what was damaged on purpose.

use std::path::PathBuf;
use std::process::Command;

use rusqlite::Connection;
use tollgate_api::{Broken, VerifyResult};
use tollgate_core::digest::Digest;

use crate::look::world_with_question;
use crate::play::Play;
use crate::world::World;

/// A copy of the state directory that may be damaged.
pub struct Copy<'a> {
    pub world: &'a mut World,
    pub state: PathBuf,
    pub database: Connection,
}

pub fn copy<'a>(world: &'a mut World, name: &str) -> Copy<'a> {
    let state = world.path(name);
    let done = Command::new("cp").arg("-r").arg(world.path("state")).arg(&state).status().unwrap();
    assert!(done.success());
    let database = Connection::open(state.join("journal.db")).unwrap();
    world.set("TOLLGATE_STATE", &state.display().to_string());
    Copy { world, state, database }
}

impl Copy<'_> {
    pub fn change(&self, sql: &str) {
        let changed = self.database.execute(sql, []).unwrap();
        assert!(changed > 0, "{sql} changed nothing");
    }

    pub fn number(&self, sql: &str) -> u64 {
        self.database.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// What `verify` names first; it must exit with 1.
    pub fn broken(&self, line: &str) -> Broken {
        let (results, exit) = self.world.json(&format!("verify {line} --json"));
        let result: VerifyResult = serde_json::from_value(results[0].clone()).unwrap();
        assert_eq!(exit, 1, "{} holds after damage", self.state.display());
        assert!(!result.valid);
        result.runs.into_iter().find_map(|run| run.broken).unwrap()
    }
}

#[test]
fn a_run_and_its_export_hold() {
    let (mut world, run) = world_with_question();
    let earlier = world.json(&format!("verify {run} --json")).0[0]["runs"][0]["head"].as_str().unwrap().to_owned();
    assert!(world.run(&format!("decide {run} dec_2 --text Hello --no-wait"), "").status.success());
    assert_eq!(world.json(&format!("verify {run} --head {run}={earlier} --json")).1, 0, "what came before it");
    let (results, exit) = world.json(&format!("verify {run} --json"));
    let result: VerifyResult = serde_json::from_value(results[0].clone()).unwrap();
    assert_eq!((exit, result.valid), (0, true));
    let head = result.runs[0].head.clone();
    world.type_in("verify --all").type_in("export run_ -o ../a.tar").type_in("export run_ -o ../a.tar");
    world.type_in("verify ../a.tar").type_in(&format!("verify ../a.tar --head {run}={head}"));
    world
        .type_in(&format!("verify {run} --head {run}={head}"))
        .type_in(&format!("verify --head {run}={}", "0".repeat(64)));
    world.type_in(&format!("verify ../a.tar --head run_00000000={head}")).type_in("verify").type_in("verify --head x");
    world.type_in("verify ../absent.tar").type_in("verify README.md");
    let (size, _) = world.transcript.split_once(" bytes, proved").unwrap();
    let size = size.rsplit_once(' ').unwrap().1.to_owned();
    assert_eq!(size, std::fs::metadata(world.path("a.tar")).unwrap().len().to_string());
    insta::assert_snapshot!(world.transcript.replace(&size, "[SIZE]"));
    // On another machine there is nothing but the file.
    world.set("TOLLGATE_STATE", "/nonexistent/state");
    assert_eq!(world.json("verify ../a.tar --json").1, 0);
}

#[test]
fn damage_is_named() {
    let (mut world, run) = world_with_question();
    a_changed_object_is_named_with_the_event_that_names_it(&mut world, &run);
    damage_is_named_with_its_first_event(&mut world, &run);
    a_lost_tail_a_lost_run_and_a_false_summary_are_seen(&mut world, &run);
    a_forged_tail_that_chains_is_not_what_was_committed(&mut world, &run);
}

fn damage_is_named_with_its_first_event(world: &mut World, run: &str) {
    let rows: Vec<(u64, u64, u64)> = {
        let database = Connection::open(world.path("state/journal.db")).unwrap();
        let mut statement = database.prepare("SELECT place, first_seq, last_seq FROM rows ORDER BY place").unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    assert!(rows.len() >= 3, "{rows:?}");
    let (second, third) = (rows[1], rows[2]);

    let flipped = copy(world, "flipped");
    flipped.change(&format!(
        "UPDATE rows SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"epoch\":1', '\"epoch\":2') AS BLOB) WHERE place = {}",
        second.0
    ));
    let broken = flipped.broken(run);
    assert_eq!((broken.what.as_str(), broken.seq), ("chain", Some(second.1)), "{broken:?}");

    let dropped = copy(world, "dropped");
    dropped.change(&format!("DELETE FROM rows WHERE place = {}", second.0));
    let broken = dropped.broken("--all");
    assert_eq!((broken.what.as_str(), broken.seq), ("chain", Some(second.1)), "{broken:?}");

    let swapped = copy(world, "swapped");
    let sql = "UPDATE rows SET bytes = (SELECT o.bytes FROM rows o WHERE o.place = A), head = (SELECT o.head FROM rows o WHERE o.place = A) WHERE place = B";
    swapped.database.execute_batch("CREATE TABLE kept AS SELECT * FROM rows").unwrap();
    let sql = sql.replace("FROM rows o", "FROM kept o");
    swapped.change(&sql.replace("= A", &format!("= {}", second.0)).replace("= B", &format!("= {}", third.0)));
    swapped.change(&sql.replace("= A", &format!("= {}", third.0)).replace("= B", &format!("= {}", second.0)));
    let broken = swapped.broken(run);
    assert_eq!((broken.what.as_str(), broken.seq), ("chain", Some(second.1)), "{broken:?}");
}

fn a_lost_tail_a_lost_run_and_a_false_summary_are_seen(world: &mut World, run: &str) {
    let cut = copy(world, "cut");
    cut.change("DELETE FROM rows WHERE place = (SELECT max(place) FROM rows)");
    let last = cut.number("SELECT max(last_seq) FROM rows");
    let broken = cut.broken(run);
    assert_eq!(broken.seq, Some(last + 1), "{broken:?}");

    // Somebody who also rewrites the run's row is caught by the heads beside the database.
    let hidden = copy(world, "hidden");
    hidden.change("DELETE FROM rows WHERE place = (SELECT max(place) FROM rows)");
    hidden.change(
        "UPDATE runs SET seq = (SELECT max(last_seq) FROM rows), place = (SELECT max(place) FROM rows), \
         head = (SELECT head FROM rows WHERE place = (SELECT max(place) FROM rows))",
    );
    let broken = hidden.broken("--all");
    assert!(matches!(broken.what.as_str(), "tail" | "summary"), "{broken:?}");

    let gone = copy(world, "gone");
    gone.change("DELETE FROM runs");
    assert_eq!(gone.broken("--all").code, "TG0422");

    let lied = copy(world, "lied");
    lied.change("UPDATE runs SET status = 'succeeded'");
    let broken = lied.broken(run);
    assert_eq!((broken.what.as_str(), broken.code.as_str()), ("summary", "TG0328"));
}

/// Whoever can write to the database can make rows that chain; the committed heads tell them apart.
fn a_forged_tail_that_chains_is_not_what_was_committed(world: &mut World, run: &str) {
    let forged = copy(world, "forged");
    let two = "SELECT head, bytes, place, first_seq FROM rows ORDER BY place DESC LIMIT 2";
    let rows: Vec<([u8; 32], Vec<u8>, u64, u64)> = {
        let mut statement = forged.database.prepare(two).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let text = String::from_utf8(rows[0].1.clone()).unwrap();
    let bytes = text.replace("Which greeting is wanted", "Which greeting is hated!").into_bytes();
    assert_ne!(bytes, rows[0].1);
    let head = Digest(rows[1].0).chain(&bytes).0;
    let update = "UPDATE rows SET bytes = ?1, head = ?2 WHERE place = ?3";
    assert_eq!(forged.database.execute(update, rusqlite::params![bytes, head, rows[0].2]).unwrap(), 1);
    let broken = forged.broken(run);
    assert_eq!(broken.code, "TG0421", "{broken:?}");
    assert_eq!(forged.database.execute("UPDATE runs SET head = ?1", [head]).unwrap(), 1);
    let broken = forged.broken(run);
    assert_eq!((broken.code.as_str(), broken.what.as_str()), ("TG0422", "tail"), "{broken:?}");
}

fn a_changed_object_is_named_with_the_event_that_names_it(world: &mut World, run: &str) {
    world.type_in(&format!("export {run} -o ../good.tar"));
    let changed = copy(world, "changed");
    // The worker's report is the object that the last event to name one names.
    changed.change("UPDATE objects SET bytes = CAST('changed' AS BLOB) WHERE id = (SELECT max(id) FROM objects)");
    let broken = changed.broken(run);
    assert_eq!(broken.what, "object", "{broken:?}");
    let sentence: String = changed
        .database
        .query_row(
            "SELECT CAST(bytes AS TEXT) FROM rows WHERE ?1 BETWEEN first_seq AND last_seq",
            [broken.seq.unwrap()],
            |row| row.get(0),
        )
        .unwrap();
    assert!(sentence.contains("attempt.reported"), "{sentence}");
    // What does not verify is not passed on, and leaves no file.
    let refused = changed.world.run(&format!("export {run} -o ../bad.tar"), "");
    assert_eq!(refused.status.code(), Some(1));
    assert!(!changed.world.path("bad.tar").exists());

    let mut bytes = std::fs::read(world.path("good.tar")).unwrap();
    let at = bytes.windows(15).position(|window| window == b"decision.asked\"").unwrap();
    bytes[at] ^= 1;
    std::fs::write(world.path("flipped.tar"), &bytes).unwrap();
    assert_eq!(world.run("verify ../flipped.tar", "").status.code(), Some(1));
    std::fs::write(world.path("cut.tar"), &bytes[..bytes.len() / 2]).unwrap();
    let cut = world.run("verify ../cut.tar", "");
    assert!(!cut.status.success());
}

/// A sound journal of work that nobody has any more is not silence: the commit is named, and where it was looked for.
#[test]
fn a_commit_that_is_nowhere_is_named_with_the_places_that_were_looked_at() {
    let (play, said) = Play::standard(&[]);
    said.exits(0);
    let (branch, own) = (format!("tollgate/{}", play.run), format!("state/runs/{}/git", play.run));
    let commit = play.world.git(&["rev-parse", &branch]).trim().to_owned();
    let prune = || {
        play.world.git(&["reflog", "expire", "--expire=now", "--all"]);
        play.world.git(&["gc", "--quiet", "--prune=now"]);
    };
    // In the repository alone, and in the run's own folder alone.
    play.tollgate(&["verify", "RUN"]).exits(0);
    play.world.git(&["branch", "-D", &branch]);
    prune();
    assert!(!play.world.git_output(&["cat-file", "-e", &commit]).status.success());
    play.tollgate(&["verify", "RUN"]).exits(0);
    // In neither.
    std::fs::rename(play.world.path(&own), play.world.path("kept.git")).unwrap();
    let said = play.tollgate(&["verify", "RUN"]).exits(1);
    let place = play.world.path("work/.git").canonicalize().unwrap().display().to_string();
    for part in ["commit is missing [TG0524]", &commit, &place, &own, "tollgate explain TG0524"] {
        assert!(said.out.contains(part), "`{part}` is not in:\n{}", said.out);
    }
    assert!(!said.out.contains("tollgate repair"), "{}", said.out);
    let (result, exit) = play.world.json("verify --all --json");
    assert_eq!((exit, result[0]["runs"][0]["broken"]["what"].as_str()), (1, Some("commit")));
    // Fetched from somewhere that has it, it is there again.
    let kept = play.world.path("kept.git").display().to_string();
    play.world.git(&["fetch", "--quiet", &kept, "refs/published"]);
    play.tollgate(&["verify", "RUN"]).exits(0);
}

/// What landed holds the work as well, and so does a patch in the journal.
#[test]
fn a_run_that_landed_does_not_need_its_own_commit() {
    for how in ["merge", "patch"] {
        let (play, said) = Play::standard(&[]);
        said.exits(0);
        play.world.write("other", "moved on\n");
        play.world.commit("Somebody else");
        play.tollgate(&["land", "RUN", "--as", how]).exits(0);
        play.world.git(&["branch", "-D", &format!("tollgate/{}", play.run)]);
        std::fs::remove_dir_all(play.world.path(&format!("state/runs/{}/git", play.run))).unwrap();
        play.world.git(&["reflog", "expire", "--expire=now", "--all"]);
        play.world.git(&["gc", "--quiet", "--prune=now"]);
        let said = play.tollgate(&["verify", "RUN"]).exits(0).out;
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(said.contains("left as a patch: `tollgate evidence "), how == "patch", "{how}: {said}");
    }
}
