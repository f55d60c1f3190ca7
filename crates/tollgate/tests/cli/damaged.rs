//! Damage beside the chain: rows of runs and leases, summaries, the file of heads, and journals that cannot be written.

use crate::look::{world_with_question, world_with_success};
use crate::play::{BUILT, Play, else_};
use crate::proof::copy;
use crate::world::World;

#[test]
fn what_stands_beside_the_chain_is_proved() {
    let (mut world, run) = world_with_question();
    every_part_of_a_summary_is_proved(&mut world, &run);
    a_lost_end_is_said_above_what_is_shown(&mut world, &run);
    a_row_that_cannot_be_read_is_named_where_it_is(&mut world, &run);
    a_lease_that_fell_back_behind_the_events_is_named_and_nobody_drives_on_it(&mut world, &run);
}

fn every_part_of_a_summary_is_proved(world: &mut World, run: &str) {
    let body = |from: &str, to: &str| {
        format!("UPDATE runs SET body = CAST(replace(CAST(body AS TEXT), '{from}', '{to}') AS BLOB)")
    };
    for (name, damage) in [
        ("status", "UPDATE runs SET status = 'succeeded'".to_owned()),
        ("repository", "UPDATE runs SET repository = '/elsewhere'".to_owned()),
        ("time", "UPDATE runs SET at_ms = at_ms + 1".to_owned()),
        ("place", "UPDATE runs SET place = place + 1".to_owned()),
        ("title", body("\"title\":\"", "\"title\":\"Do not ")),
        ("asks", body("\"asks\":[{", "\"asks\":[],\"was\":[{")),
        ("open", body("\"open\":1", "\"open\":0")),
        ("reason", body("\"reason\":\"", "\"reason\":\"nothing: ")),
        ("body", "UPDATE runs SET body = CAST('{}' AS BLOB)".to_owned()),
    ] {
        let damaged = copy(world, name);
        damaged.change(&damage);
        let broken = damaged.broken(run);
        assert_eq!((broken.what.as_str(), broken.code.as_str()), ("summary", "TG0328"), "{name}: {broken:?}");
    }
}

/// What is left of a run whose end was lost is shown, and said to be that.
fn a_lost_end_is_said_above_what_is_shown(world: &mut World, run: &str) {
    let damaged = copy(world, "lost");
    damaged.change("DELETE FROM rows WHERE place = (SELECT max(place) FROM rows)");
    damaged.change("UPDATE runs SET seq = (SELECT max(last_seq) FROM rows), head = (SELECT head FROM rows ORDER BY place DESC LIMIT 1)");
    let output = damaged.world.run(&format!("show {run}"), "");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("warning[TG0") && said.contains(&format!("tollgate verify {run}")), "{said}");
    assert_eq!(output.status.code(), Some(0));
    assert!(!String::from_utf8(output.stdout).unwrap().is_empty());
}

#[test]
fn one_bad_row_is_named_and_the_other_runs_go_on() {
    let (mut play, said) = Play::standard(&[]);
    said.exits(0);
    let bad = std::mem::take(&mut play.run);
    play.start(&["--input", "complexity=standard", "--answer", "sign-off=approve"]).exits(0);
    let good = play.run.clone();
    for (name, damage) in [
        ("head", "UPDATE runs SET head = x'00' WHERE id = 1"),
        ("lease", "UPDATE leases SET epoch = -1 WHERE run = (SELECT run FROM runs WHERE id = 1)"),
    ] {
        let damaged = copy(&mut play.world, name);
        damaged.change(damage);
        let output = damaged.world.run("ls", "");
        let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(1), "{out}{err}");
        assert!(out.contains(&good) && !out.contains(&bad), "{out}");
        assert!(err.contains(&format!("{bad} cannot be listed [TG0425]")), "{err}");
        let output = damaged.world.run("inbox", "");
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8(output.stderr).unwrap().contains(&bad));
        let (results, exit) = damaged.world.json("verify --all --json");
        assert_eq!(exit, 1);
        for run in results[0]["runs"].as_array().unwrap() {
            let code = run["broken"]["code"].as_str();
            assert_eq!(code, (run["run"] == bad.as_str()).then_some("TG0425"), "{run}");
        }
        assert_eq!(damaged.world.json(&format!("verify {good} --json")).1, 0);
        assert_eq!(damaged.broken(&bad).code, "TG0425");
        assert_eq!(damaged.world.json(&format!("show {good} --json")).1, 0);
    }
}

fn a_row_that_cannot_be_read_is_named_where_it_is(world: &mut World, run: &str) {
    let damaged = copy(world, "head");
    damaged.change("UPDATE rows SET head = x'00' WHERE place = 3");
    let first = damaged.number("SELECT first_seq FROM rows WHERE place = 3");
    assert!(first > 1);
    assert_eq!(damaged.broken(run).seq, Some(first));
}

fn a_lease_that_fell_back_behind_the_events_is_named_and_nobody_drives_on_it(world: &mut World, run: &str) {
    for (name, damage) in [("less", "UPDATE leases SET epoch = 0"), ("gone", "DELETE FROM leases")] {
        let damaged = copy(world, name);
        damaged.change(damage);
        assert_eq!(damaged.broken(run).code, "TG0427", "{name}");
        let refused = damaged.world.run(&format!("resume {run}"), "");
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.status.code() == Some(1) && said.contains("TG0427"), "{said}");
    }
}

#[test]
fn a_missing_or_junk_file_of_heads_is_named_until_a_person_repairs_it() {
    let (mut world, run) = world_with_success();
    for name in ["gone", "empty", "junk"] {
        let damaged = copy(&mut world, name);
        let heads = damaged.state.join("heads");
        let before = std::fs::read(&heads).unwrap();
        match name {
            "gone" => std::fs::remove_file(&heads).unwrap(),
            "empty" => std::fs::write(&heads, b"").unwrap(),
            _ => std::fs::write(&heads, vec![7u8; before.len()]).unwrap(),
        }
        let left = std::fs::read(&heads).ok();
        for _ in 0..2 {
            let broken = damaged.broken(&run);
            assert_eq!((broken.what.as_str(), broken.code.as_str()), ("heads", "TG0426"), "{name}: {broken:?}");
        }
        // Who proves changes nothing: a proof that heals what it finds is clean the second time, whatever was lost.
        assert_eq!(
            std::fs::read(&heads).ok().filter(|bytes| !bytes.is_empty()),
            left.filter(|bytes| !bytes.is_empty()),
            "{name}"
        );
        assert_eq!(damaged.world.json(&format!("repair {run} --json")).1, 0, "{name}");
        assert_eq!(damaged.world.json("verify --all --json").1, 0, "{name}");
    }
}

/// What a crash between the first commit and its record leaves is no damage.
#[test]
fn a_first_append_whose_record_was_not_written_is_healed_without_a_word() {
    let mut play = Play::new(crate::play::TASK, &crate::play::script(&[("developer", &[else_(BUILT)])]));
    play.start(&["--input", "complexity=standard", "--no-wait"]).exits(4);
    let database = rusqlite::Connection::open(play.world.path("state/journal.db")).unwrap();
    database.execute("DELETE FROM rows WHERE place > 1", []).unwrap();
    let rest: u64 = database.query_row("SELECT count(*) FROM rows", [], |row| row.get(0)).unwrap();
    assert_eq!(rest, 1);
    std::fs::write(play.world.path("state/heads"), b"").unwrap();
    let (results, _) = play.world.json("verify --all --json");
    assert_ne!(results[0]["runs"][0]["broken"]["code"], "TG0426", "{results:?}");
}

#[test]
fn a_journal_that_cannot_be_written_can_be_read_and_proved() {
    let (world, run) = world_with_question();
    let state = world.path("state").display().to_string();
    let mount = format!("mount --bind {state} {state}; mount -o remount,bind,ro {state}");
    let reads = format!("ls; inbox; show {run}; logs {run}; verify --all; verify {run}; export {run} -o ../ro.tar");
    let reads: Vec<String> = reads.split("; ").map(|line| format!("tollgate {line}")).collect();
    let writes = format!("tollgate decide {run} dec_2 --text Hello && exit 9; tollgate retry {run} && exit 9; true");
    // As a driver left it, and with its log taken in.
    for prepare in
        ["test -s $TOLLGATE_STATE/journal.db", "rm -f $TOLLGATE_STATE/journal.db-shm $TOLLGATE_STATE/journal.db-wal"]
    {
        if prepare.starts_with("rm") {
            let database = rusqlite::Connection::open(world.path("state/journal.db")).unwrap();
            database.pragma_update(None, "wal_checkpoint", "TRUNCATE").unwrap();
        }
        let script = format!("{prepare}; {mount}; {}; {writes}", reads.join(" >/dev/null; "));
        let Some(output) = world.shell_with_mounts(&script) else { return };
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{prepare}: {said}");
        assert_eq!(said.matches("error[TG0412]").count(), 2, "{said}");
        std::fs::remove_file(world.path("ro.tar")).unwrap();
    }
    let decided = world.run(&format!("decide {run} dec_2 --text Hello --no-wait"), "");
    assert!(decided.status.success());
}
