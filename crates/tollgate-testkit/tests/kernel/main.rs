//! The kernel's table tests: each case is a script and the log it must give (`cases/*.txt`).
//!
//! A case that begins with `under NAME` has flows of its own: the indented lines below, after what `protocols/NAME.yaml` says.
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

mod replay;
mod total;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tollgate_core::protocol::{Dialects, check, read};
use tollgate_testkit::script::{Play, dialects_text, play, play_under};

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

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel").join(name)
}

/// The protocol that a script brings along, and its steps.
fn own_protocol(script: &str) -> (Option<String>, String) {
    let Some((name, rest)) = script.strip_prefix("under ").and_then(|rest| rest.split_once('\n')) else {
        return (None, script.to_owned());
    };
    let head = std::fs::read_to_string(folder("protocols").join(format!("{name}.yaml"))).unwrap();
    let (flows, steps): (Vec<&str>, Vec<&str>) = rest.lines().partition(|line| line.starts_with("  "));
    (Some(format!("{head}{}\n", flows.join("\n"))), steps.join("\n"))
}

fn play_case(script: &str) -> (Option<Play>, String) {
    match own_protocol(script) {
        (Some(protocol), steps) => play_under(&protocol, &steps),
        (None, steps) => play(&steps),
    }
}

fn files() -> Vec<PathBuf> {
    let folder = folder("cases");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Every script there is.
fn scripts() -> Vec<String> {
    let texts = files().into_iter().map(|file| format!("\n{}", std::fs::read_to_string(file).unwrap()));
    texts.flat_map(|text| cases(&text)).map(|case| without_comments(&case.script)).collect()
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
            let (played, log) = play_case(&without_comments(&case.script));
            let log = log.trim_end();
            if let Some(played) = &played {
                replay::holds(played, &case.name);
            }
            // What the kernel refuses is what a case is about; a line that nobody could follow is a mistake in the script.
            let lost = ["no worker is at", "nothing was asked", "nothing lands", "no command runs"];
            let lost = log.lines().find(|line| lost.iter().any(|word| line.starts_with(&format!("  ! {word}"))));
            assert_eq!(lost, None, "== {}", case.name);
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

#[test]
fn the_protocols_of_single_cases_check_clean() {
    let (dialects, problems) = Dialects::read(dialects_text());
    assert!(problems.is_empty(), "{problems:#?}");
    for protocol in scripts().iter().filter_map(|script| own_protocol(script).0) {
        let (read, problems) = read(&protocol);
        assert!(problems.is_empty(), "{protocol}\n{problems:#?}");
        let breaches = check(&read.unwrap(), &dialects);
        assert!(breaches.is_empty(), "{protocol}\n{breaches:#?}");
    }
}
