//! `repair`: damage, what verify names, what is cut and kept, and the way on to the run's end.

use rusqlite::Connection;
use tollgate_api::{Broken, RepairResult};
use tollgate_core::run::Event;

use crate::play::{APPROVED, BLOCKED, BUILT, CHANGES, COVERED, GAP, IDLE, Play, at, else_};
use crate::world::some_of;

impl Play {
    fn database(&self) -> Connection {
        Connection::open(self.world.path("state/journal.db")).unwrap()
    }

    fn change(&self, sql: &str) {
        assert!(self.database().execute(sql, []).unwrap() > 0, "{sql} changed nothing");
    }

    /// The rows: place, first and last event.
    fn rows(&self) -> Vec<(u64, u64, u64)> {
        let database = self.database();
        let mut statement = database.prepare("SELECT place, first_seq, last_seq FROM rows ORDER BY place").unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// What `verify` says does not hold.
    fn broken(&self) -> Broken {
        let (results, exit) = self.world.json(&format!("verify {} --json", self.run));
        assert_eq!(exit, 1, "{results:?}");
        serde_json::from_value(results[0]["runs"][0]["broken"].clone()).unwrap()
    }

    fn repair(&self) -> RepairResult {
        let (results, exit) = self.world.json(&format!("repair {} --json", self.run));
        assert_eq!(exit, 0, "{results:?}");
        serde_json::from_value(results[0].clone()).unwrap()
    }

    /// Verify has nothing to say.
    fn is_whole(&self) {
        let (results, exit) = self.world.json("verify --all --json");
        assert_eq!(exit, 0, "{results:?}");
    }
}

/// A run with a question in it, driven to its end.
fn ended() -> Play {
    let (play, said) = Play::standard(&[("developer", &[at(1, BLOCKED), else_(BUILT)])]);
    said.exits(4);
    play.decide(&["dec_2", "--answer", "1=Hello", "--answer", "2=No"]).exits(0);
    play.is_whole();
    play
}

#[test]
fn damage_is_named_repaired_and_the_run_goes_on_to_its_end() {
    let play = ended();
    let rows = play.rows();
    let (middle, last) = (rows[rows.len() / 2], rows[rows.len() - 1]);
    play.change(&format!("UPDATE rows SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"epoch\":', '\"epoch\": ') AS BLOB) WHERE place = {}", middle.0));
    let broken = play.broken();
    assert_eq!((broken.what.as_str(), broken.seq), ("chain", Some(middle.1)), "{broken:?}");
    assert!(broken.next.contains(&format!("tollgate repair {}", play.run)), "{broken:?}");
    play.tollgate(&["retry", "RUN"]).exits(1).says("TG0420");

    let before: Vec<u8> =
        play.database().query_row("SELECT bytes FROM rows WHERE place = ?1", [middle.0], |row| row.get(0)).unwrap();
    let repaired = play.repair();
    assert_eq!((repaired.kept, repaired.lost_until, repaired.cut), (middle.1 - 1, last.2, last.2 - middle.1 + 1));
    assert!(repaired.after.iter().any(|line| line.contains("the worker of")), "{repaired:?}");
    assert!(repaired.after.iter().any(|line| line.contains("was published")), "{repaired:?}");
    // What was cut is kept as it was.
    let kept = std::fs::read_to_string(repaired.file.as_ref().unwrap()).unwrap();
    let lines: Vec<serde_json::Value> = kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), rows.len() - rows.len() / 2 + 1);
    assert_eq!(lines[1]["bytes"].as_str().unwrap().as_bytes(), before);
    play.is_whole();
    assert_eq!(play.events()[middle.1 as usize - 1].seq, middle.1);
    assert!(matches!(play.events().last().unwrap().event, Event::RunRepaired(_)));
    // Nothing moves before a person's word.
    let events = play.events().len();
    play.tollgate(&["resume", "RUN"]).exits(1).says("halted");
    assert_eq!(play.count(|event| matches!(event, Event::AttemptStarted(_))), {
        play.events()[..events].iter().filter(|event| matches!(event.event, Event::AttemptStarted(_))).count()
    });
    let shown = play.tollgate(&["show", "RUN"]).exits(0);
    assert!(
        shown.out.contains("halted") && shown.out.contains(&format!("tollgate retry {}", play.run)),
        "{}",
        shown.out
    );
    assert!(shown.out.contains("were lost"), "{}", shown.out);
    let inbox = play.tollgate(&["inbox"]).exits(0);
    assert!(inbox.out.contains(&format!("tollgate retry {}", play.run)), "{}", inbox.out);
    play.tollgate(&["retry", "RUN"]).exits(0);
    play.holds();
    play.is_whole();
    assert!(play.file("greet.sh").is_some());
    play.tollgate(&["repair", "RUN"]).exits(1).says("TG0428");
}

/// Wherever a whole run is cut, it reaches its end again, and no id is given twice.
#[test]
fn a_run_that_is_cut_anywhere_reaches_its_end() {
    let whole = ended();
    let rows = whole.rows();
    let attempts = whole.count(|event| matches!(event, Event::AttemptStarted(_))) as u64;
    drop(whole);
    for at in some_of(1..rows.len(), 2) {
        let play = ended();
        play.change(&format!("UPDATE rows SET head = zeroblob(32) WHERE place = {}", rows[at].0));
        let repaired = play.repair();
        assert_eq!(repaired.kept, rows[at].1 - 1);
        play.is_whole();
        let said = play.tollgate(&["retry", "RUN"]);
        let closed = said.code == Some(1) && said.err.contains("TG0301");
        match said.code {
            // The question is asked again.
            Some(4) => {
                let decision = play.events().iter().rev().find_map(|event| match &event.event {
                    Event::DecisionAsked(asked) => Some(asked.decision.to_string()),
                    _ => None,
                });
                play.decide(&[&decision.unwrap(), "--answer", "1=Hello", "--answer", "2=No"]).exits(0);
            }
            _ if closed => drop(play.tollgate(&["resume", "RUN"]).exits(0)),
            _ => drop(said.exits(0)),
        }
        play.holds();
        play.is_whole();
        assert!(play.file("greet.sh").is_some());
        let given: Vec<u64> = play
            .events()
            .iter()
            .filter(|event| event.seq > repaired.kept)
            .filter_map(|event| match &event.event {
                Event::AttemptStarted(started) => Some(started.attempt.0),
                _ => None,
            })
            .collect();
        assert!(given.iter().all(|id| *id > attempts), "cut at {at}: {given:?} of {attempts}");
    }
}

#[test]
fn a_lost_end_is_repaired_too() {
    let play = ended();
    let rows = play.rows();
    let (kept, last) = (rows[rows.len() - 4], rows[rows.len() - 1]);
    play.change(&format!("DELETE FROM rows WHERE place > {}", kept.0));
    play.change(&format!(
        "UPDATE runs SET seq = {}, place = {}, head = (SELECT head FROM rows WHERE place = {})",
        kept.2, kept.0, kept.0
    ));
    let broken = play.broken();
    assert_eq!(broken.code, "TG0422", "{broken:?}");
    play.tollgate(&["resume", "RUN"]).exits(1).says("tollgate repair");
    let repaired = play.repair();
    assert_eq!((repaired.kept, repaired.lost_until, repaired.cut, repaired.file), (kept.2, last.2, 0, None));
    assert!(repaired.after.iter().any(|line| line.contains("cannot be read")), "{:?}", repaired.after);
    assert!(repaired.after.iter().any(|line| line.contains("branch tollgate/")), "{:?}", repaired.after);
    play.is_whole();
    play.tollgate(&["retry", "RUN"]).exits(0);
    play.holds();
}

#[test]
fn what_stands_beside_the_events_is_made_again_and_nothing_is_cut() {
    let (play, said) = Play::standard(&[("developer", &[at(1, BLOCKED), else_(BUILT)])]);
    said.exits(4);
    for damage in [
        "UPDATE runs SET head = x'00'",
        "UPDATE runs SET head = zeroblob(32)",
        "UPDATE runs SET seq = 3",
        "UPDATE runs SET status = 'succeeded', body = x'7b7d'",
        "UPDATE runs SET run = '!'",
        "DELETE FROM runs",
        "UPDATE leases SET epoch = -7",
        "DELETE FROM leases",
    ] {
        let events = play.events().len() as u64;
        play.change(damage);
        assert_eq!(play.world.json("verify --all --json").1, 1, "{damage}");
        let repaired = play.repair();
        assert_eq!((repaired.kept, repaired.lost_until, repaired.cut), (events, events, 0), "{damage}: {repaired:?}");
        play.is_whole();
    }
    play.decide(&["dec_2", "--answer", "1=Hello", "--answer", "2=No", "--no-resume"]).exits(0);
    play.tollgate(&["retry", "RUN"]).exits(0);
    play.holds();
}

#[test]
fn a_repair_is_refused_where_it_would_be_wrong() {
    let play = ended();
    play.tollgate(&["repair", "RUN"]).exits(1).says("TG0428");
    // Below a worker.
    let mut command = play.world.program(&["repair", &play.run]);
    let output = command.env("TOLLGATE_ATTEMPT", format!("{}/att_1", play.run)).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("TG0309"));
    // What a newer version wrote is no damage.
    let (place, bytes, head): (u64, Vec<u8>, [u8; 32]) = {
        let sql = "SELECT r.place, r.bytes, p.head FROM rows r JOIN rows p ON p.place = r.place - 1 ORDER BY r.place DESC LIMIT 1";
        play.database().query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap()
    };
    let newer = String::from_utf8(bytes.clone()).unwrap().replace("\"v\":1", "\"v\":2").into_bytes();
    let put = |bytes: &[u8]| {
        let chained = tollgate_core::digest::Digest(head).chain(bytes).0;
        let database = play.database();
        database
            .execute("UPDATE rows SET bytes = ?1, head = ?2 WHERE place = ?3", rusqlite::params![bytes, chained, place])
            .unwrap();
        database.execute("UPDATE runs SET head = ?1", [chained]).unwrap();
    };
    put(&newer);
    std::fs::write(play.world.path("state/heads"), b"").unwrap();
    assert_eq!(play.broken().code, "TG0318");
    play.tollgate(&["repair", "RUN"]).exits(1).says("TG0318");
    put(&bytes);
    // Nothing would be left.
    play.change("UPDATE rows SET head = zeroblob(32) WHERE place = 1");
    play.tollgate(&["repair", "RUN"]).exits(1).says("TG0429");
    play.tollgate(&["repair", "run_00000000"]).exits(1).says("TG0317");
}

#[test]
fn a_run_that_is_driven_is_not_repaired() {
    let slow = at(1, &format!("delay_ms: 1500, {BUILT}"));
    let mut play = Play::new(crate::play::TASK, &crate::play::script(&[("developer", &[slow, else_(BUILT)])]));
    let words = ["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml"];
    let mut child =
        play.program(&[&words[..], &["--input", "complexity=standard", "--answer", "sign-off=approve"]].concat());
    play.find_run(&mut child);
    play.until_event("an attempt", |event| matches!(event, Event::AttemptStarted(_)));
    play.change("UPDATE runs SET status = 'succeeded'");
    play.tollgate(&["repair", "RUN"]).exits(1).says("TG0327");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    play.holds();
}

#[test]
fn a_repair_says_what_was_lost_and_what_to_do() {
    let play = ended();
    let rows = play.rows();
    play.change(&format!("UPDATE rows SET head = zeroblob(32) WHERE place = {}", rows[rows.len() - 5].0));
    let verified = play.tollgate(&["verify", "RUN"]).exits(1);
    let repaired = play.tollgate(&["repair", "RUN"]).exits(0);
    let shown = play.tollgate(&["show", "RUN"]).exits(0);
    let head: String =
        shown.out.lines().take_while(|line| !line.starts_with("  when")).map(|line| format!("{line}\n")).collect();
    let text = format!(
        "$ tollgate verify RUN\n{}\n$ tollgate repair RUN\n{}\n$ tollgate show RUN\n{head}",
        verified.out, repaired.out
    );
    let text = play.world.filtered(&text.replace(&play.run, "[RUN]"));
    let text: String = text
        .lines()
        .map(|line| match line.split_once("-after-") {
            Some((before, after)) => format!("{before}-after-{}-[DIGEST].jsonl\n", after.split('-').next().unwrap()),
            None => format!("{}\n", line.trim_end()),
        })
        .collect();
    insta::assert_snapshot!(text);
}

/// A run of which only its rows and its record in `heads` are left is named by every command, and what is printed can be typed.
#[test]
fn rows_without_their_run_are_named_and_lead_to_a_repair() {
    let play = ended();
    let rows = play.rows().len();
    play.change("DELETE FROM runs");
    let said = play.tollgate(&["verify", "--all"]).exits(1);
    said.says("1 of 1 run does not hold").says(&format!("beside the runs: {rows} rows"));
    let (results, _) = play.world.json("verify --all --json");
    let commands =
        results[0]["runs"].as_array().unwrap().iter().flat_map(|run| run["broken"]["next"].as_array().unwrap());
    let commands: Vec<&str> = commands.filter_map(|next| next.as_str()?.strip_prefix("tollgate repair ")).collect();
    assert_eq!(commands, [play.run.as_str()], "nothing but a run can be repaired");
    assert_eq!(play.broken().code, "TG0422");
    for command in ["show", "logs", "resume", "cancel"] {
        let said = play.tollgate(&[command, "RUN"]).exits(1);
        said.says("TG0422").says(&format!("tollgate repair {}", play.run));
    }
    play.repair();
    play.is_whole();
}

/// A row that is filed under no run is one that its events name: the repair of that run takes it, and nothing stays behind.
#[test]
fn a_row_that_names_the_run_and_is_filed_under_none_is_cut_and_kept_with_the_others() {
    let play = ended();
    let rows = play.rows();
    let (middle, last) = (rows[rows.len() / 2], rows[rows.len() - 1]);
    play.change(&format!("UPDATE rows SET run = 77 WHERE place = {}", middle.0));
    play.tollgate(&["verify", "--all"]).exits(1).says(&format!("row {}", middle.0));
    let repaired = play.repair();
    assert_eq!((repaired.kept, repaired.lost_until, repaired.cut), (middle.1 - 1, last.2, last.2 - middle.1 + 1));
    assert!(!repaired.after.iter().any(|line| line.contains("cannot be read")), "{:?}", repaired.after);
    let said = format!("the row at place {}, which names it, was filed under no run and is cut too", middle.0);
    assert!(repaired.broken.message.contains(&said), "{:?}", repaired.broken);
    let kept = std::fs::read_to_string(repaired.file.as_ref().unwrap()).unwrap();
    let lines: Vec<serde_json::Value> = kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines[1]["place"].as_u64(), lines[1]["filed"].as_u64()), (Some(middle.0), Some(77)));
    play.is_whole();
    play.tollgate(&["retry", "RUN"]).exits(0);
    play.holds();
    play.is_whole();
    // What another repair left behind is taken by the next one, from a run that holds.
    let sql = "INSERT INTO rows (place, run, first_seq, last_seq, head, bytes) \
               SELECT 9000, 77, first_seq, last_seq, head, bytes FROM rows WHERE place = 2";
    play.change(sql);
    let proved = play.tollgate(&["verify", "--all"]).exits(1).out;
    assert!(proved.contains(&format!("goes with its repair: `tollgate repair {}`", play.run)), "{proved}");
    assert_eq!(play.repair().cut, 1 + rows[1].2 - rows[1].1);
    play.is_whole();
}

/// The run that a row was filed under had no part in it, and keeps all of its own.
#[test]
fn a_row_that_is_filed_under_another_run_is_taken_from_it() {
    let play = ended();
    let rows = play.rows();
    let run = ["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml"];
    let words = [&run[..], &["--input", "complexity=standard", "--no-wait"]].concat();
    play.tollgate(&words).exits(4);
    let (results, _) = play.world.json("ls --json");
    let other = results.iter().find(|run| run["run"] != play.run.as_str()).unwrap()["run"].as_str().unwrap().to_owned();
    play.change(&format!("UPDATE rows SET run = 2 WHERE place = {}", rows[rows.len() / 2].0));
    play.tollgate(&["verify", &other]).exits(1);
    let repaired = play.repair();
    assert!(repaired.broken.message.contains(&format!("was filed under {other} and is cut too")), "{repaired:?}");
    play.is_whole();
    play.tollgate(&["repair", &other]).exits(1).says("TG0428");
}

/// What a worker left stands on what a person gave back: no look puts it away, and the person learns where it is.
#[test]
fn a_change_by_hand_that_the_cut_lost_is_not_put_away_unseen() {
    let more = r#"write: {more.sh: "echo more\n"}, report: {status: complete, abstract: {outcome: more, next_phase: dod-checker}, files_created: [more.sh], dod_coverage: [{mark: "✓", row: DoD-1}]}"#;
    let (play, said) = Play::standard(&[
        ("developer", &[at(1, BUILT), at(2, IDLE), at(3, IDLE), else_(more)]),
        ("dod-checker", &[at(1, GAP), at(2, GAP), at(3, GAP), else_(COVERED)]),
        ("reviewer", &[at(1, CHANGES), else_(APPROVED)]),
    ]);
    said.exits(4);
    let (_, _, asked) = play.rows().pop().unwrap();
    let file = play.world.path(&format!("state/trees/{}/backend/greet.sh", play.run));
    std::fs::write(&file, "by hand\n").unwrap();
    play.decide(&["dec_2", "by-hand"]).exits(0).says("succeeded");
    play.change(&format!("UPDATE rows SET bytes = x'00' WHERE first_seq = {}", asked + 1));
    play.repair();
    play.tollgate(&["show", "RUN"]).exits(0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "by hand\n");
    play.decide(&["dec_2", "by-hand"]).exits(3).says("TG0522");
}
