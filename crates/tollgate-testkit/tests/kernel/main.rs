//! The kernel's table tests: each case is a script and the log it must give (`cases/*.txt`).
//!
//! A case about what the protocols of the kit cannot say begins with `under NAME`, which is `protocols/NAME.yaml`, and may have
//! lines `with A => B`, each of which replaces a text of that file; `\n` in B is the end of a line. Indented lines are flows of its
//! own, after what the file says. `under NAME, refused by CODE …` is a protocol that the checker refuses with exactly these codes.
//!
//! `TOLLGATE_BLESS=1 cargo test -p tollgate-testkit --test kernel` writes the logs as they are now; the change is then
//! reviewed like any other.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test makes files of its own and fails by panicking"
)]

mod objects;
mod replay;
mod total;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tollgate_core::code::Code;
use tollgate_core::id::AttemptId;
use tollgate_core::protocol::{check, read};
use tollgate_core::run::Event;
use tollgate_testkit::script::{Play, dialects, play, play_under};

struct Case {
    name: String,
    script: String,
    log: String,
}

fn cases(text: &str) -> Vec<Case> {
    text.split("\n== ")
        .skip(1)
        .map(|case| {
            let (name, rest) = case.split_once('\n').unwrap_or((case, ""));
            let (script, log) = rest.split_once("\n--\n").unwrap_or((rest, ""));
            Case { name: name.to_owned(), script: script.trim().to_owned(), log: log.trim_end().to_owned() }
        })
        .collect()
}

/// Lines that begin with `#` say why a case is there.
fn without_comments(script: &str) -> String {
    script.lines().filter(|line| !line.trim_start().starts_with('#')).collect::<Vec<_>>().join("\n")
}

/// A script, and the protocol that it runs where that is its own.
struct Script {
    protocol: Option<String>,
    steps: String,
}

impl Script {
    fn of(case: &Case) -> Self {
        let text = without_comments(&case.script);
        let Some(rest) = text.strip_prefix("under ") else { return Self { protocol: None, steps: text } };
        let (name, rest) = rest.split_once('\n').unwrap_or((rest, ""));
        // What the checker refuses, the kernel may come by in a run that an earlier version began.
        let (name, refused) = name.split_once(", refused by ").unwrap_or((name, ""));
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/kernel/protocols/{name}.yaml"));
        let mut protocol = std::fs::read_to_string(file).unwrap();
        let (flows, rest): (Vec<&str>, Vec<&str>) = rest.lines().partition(|line| line.starts_with("  "));
        if !flows.is_empty() {
            protocol = format!("{protocol}{}\n", flows.join("\n"));
        }
        let (changes, steps): (Vec<&str>, Vec<&str>) = rest.into_iter().partition(|line| line.starts_with("with "));
        for change in changes {
            let (from, to) = change["with ".len()..].split_once(" =>").unwrap();
            assert!(protocol.contains(from), "== {}: `{from}` is not in {name}", case.name);
            protocol = protocol.replace(from, &to.strip_prefix(' ').unwrap_or(to).replace("\\n", "\n"));
        }
        let (read, problems) = read(&protocol);
        assert!(problems.is_empty(), "== {}: {problems:#?}", case.name);
        let breaches = check(&read.unwrap(), &dialects());
        let codes: Vec<&str> = breaches.iter().map(|breach| breach.code.as_str()).collect();
        assert_eq!(codes.join(" "), refused, "== {}: {breaches:#?}", case.name);
        Self { protocol: Some(protocol), steps: steps.join("\n") }
    }

    /// Plays these steps of it.
    fn play(&self, steps: &str) -> (Option<Play>, String) {
        match &self.protocol {
            Some(protocol) => play_under(protocol, steps),
            None => play(steps),
        }
    }
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/cases");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Every script there is.
fn scripts() -> Vec<Script> {
    let texts = files().into_iter().map(|file| format!("\n{}", std::fs::read_to_string(file).unwrap()));
    texts.flat_map(|text| cases(&text)).map(|case| Script::of(&case)).collect()
}

#[test]
fn every_script_gives_its_log() {
    let bless = std::env::var_os("TOLLGATE_BLESS").is_some();
    let mut wrong = Vec::new();
    let mut count = 0;
    for file in files() {
        let text = format!("\n{}", std::fs::read_to_string(&file).unwrap());
        let mut blessed = String::new();
        for case in cases(&text) {
            count += 1;
            let script = Script::of(&case);
            let (played, log) = script.play(&script.steps);
            let log = log.trim_end();
            if let Some(played) = &played {
                replay::holds(played, &case.name);
            }
            // What the kernel refuses is what a case is about; a line that nobody could follow is a mistake in the script.
            let lost = ["no worker is at", "nothing was asked", "nothing lands", "no command runs"];
            let lost = log.lines().find(|line| lost.iter().any(|word| line.starts_with(&format!("  ! {word}"))));
            assert_eq!(lost, None, "== {}\n{log}", case.name);
            if log != case.log {
                wrong.push(format!("== {}\n{log}\n(expected)\n{}", case.name, case.log));
            }
            write!(blessed, "== {}\n{}\n--\n{log}\n\n", case.name, case.script).unwrap();
        }
        if bless {
            std::fs::write(&file, blessed.trim_end().to_owned() + "\n").unwrap();
        }
    }
    assert!(count > 0, "there are no cases");
    assert!(bless || wrong.is_empty(), "{} of {count} cases differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// What is judged in a tree of its own is no part of what is handed over, also where no worker writes there.
#[test]
fn what_is_only_looked_at_is_looked_at_where_it_counts() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/protocols/loose.yaml");
    let text = std::fs::read_to_string(file).unwrap();
    let (before, _) = text.split_once("  side:\n").unwrap();
    let looks = "    - {id: check, dispatch: checker, ensures: [covered], on: {accept: done, reject: hold}}\n";
    let (protocol, _) = read(&format!("{before}  side:\n{looks}"));
    let breaches = check(&protocol.unwrap(), &dialects());
    assert!(breaches.iter().any(|breach| breach.code == Code::NOT_LANDED), "{breaches:#?}");
}

/// Answers in advance go by the name of an ask, so that one name in two flows is refused.
#[test]
fn an_ask_of_the_same_name_in_another_flow_is_refused() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/protocols/two.yaml");
    let text = std::fs::read_to_string(file).unwrap();
    let ask = "    - id: rest\n      ask: {class: choice, question: \"All the same?\", options: {accept: Take it, stop: Give it up}}\n      \
               on: {accept: {to: join, ensures: [covered]}, stop: dropped, cancelled: hold}\n";
    let (_, problems) = read(
        &(text.replace("fail: hold, stale: hold}}\n    - {id: join", "fail: rest, stale: hold}}\n    - {id: join")
            + ask),
    );
    assert!(problems.iter().any(|problem| problem.message.contains("there is another ask `rest`")), "{problems:#?}");
}

/// What a command found is found by the attempt that ran it, whoever else works at the time.
#[test]
fn a_command_that_fails_is_told_of_its_own_attempt() {
    let (played, log) = play(
        "protocol build-plan | input complexity=complex | input sides=backend,frontend | advance sign-off=approve
         unit backend scope=api/** | row DoD-1 unit=backend group=dod cmd=make
         unit frontend scope=web/** | row DoD-2 unit=frontend group=dod | row T-1 group=tester
         report build@backend ok write=api/a.rs | report build@frontend ok write=web/b.js | ran DoD-1=fail
         report check@backend accept",
    );
    assert!(log.contains("att_3 runs DoD-1 in main/sides:backend"), "{log}");
    let found = played.unwrap().events.into_iter().find_map(|recorded| match recorded.event {
        Event::FindingOpened(opened) => Some(opened.about.attempt),
        _ => None,
    });
    assert_eq!(found, Some(AttemptId(3)), "{log}");
}

/// The checker refuses a default for a question of security; a run that has one all the same does not take silence for an answer.
#[test]
fn a_question_of_security_is_not_ended_by_time() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/protocols/agreed.yaml");
    let text = std::fs::read_to_string(file).unwrap();
    let steps = "report build ok write=src/a.rs | report look accept | tick 7200";
    for (class, ends) in [("choice", true), ("security", false)] {
        let ask = format!("class: {class}, default: {{answer: no, after: 1h}}, question");
        let protocol = text.replace("class: approval, question", &ask);
        let (played, log) = play_under(&protocol, steps);
        assert_eq!(log.contains("dec_1 ends: no"), ends, "{class}\n{log}");
        assert_eq!(played.unwrap().run.pending().next().is_none(), ends, "{class}\n{log}");
    }
}
