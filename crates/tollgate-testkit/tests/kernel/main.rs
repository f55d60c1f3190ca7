//! The kernel's table tests: each case is a script and the log it must give (`cases/*.txt`).
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

use tollgate_testkit::script::play;

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

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/cases");
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
            let (played, log) = play(&without_comments(&case.script));
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
