//! YAML as it really comes: the place of a mistake is that in the file, and what would be read twice is refused.

use super::*;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::Place;

const TASKS: &str = "# Größe 語\nproject: {name: \"größe 語 👍\"}\ntasks:\n  - {id: T-001, goal: \"ü語👍\", status: done, acceptance_checks: [\"cmd: x\"]}\n";

fn judged(text: &str) -> Vec<(Code, Place)> {
    let own = registry::defined("team.tasks").expect("a contract");
    own.judge(text, &Context::default()).diagnostics.into_iter().map(|one| (one.code, one.place)).collect()
}

#[test]
fn a_place_is_that_in_the_file_as_it_is() {
    let line = TASKS.lines().position(|line| line.contains("done")).expect("a line");
    let before = TASKS.lines().nth(line).and_then(|line| line.split_once("done")).expect("a word").0;
    let place =
        Place { line: u32::try_from(line + 1).unwrap(), column: u32::try_from(before.chars().count() + 1).unwrap() };
    for text in [
        TASKS.to_owned(),
        format!("\u{feff}{TASKS}"),
        TASKS.replace('\n', "\r\n"),
        format!("\u{feff}{}", TASKS.replace('\n', "\r\n")),
        TASKS.replace('\n', "\r"),
        TASKS.trim_end().to_owned(),
    ] {
        assert_eq!(judged(&text), [(Code::FIELD_WORD, place)], "{text:?}");
    }
}

#[test]
fn what_would_be_read_twice_is_refused() {
    let good = TASKS.replace("done", "blocked");
    assert_eq!(judged(&good), []);
    let at = |text: &str, word: &str| {
        let line = text.lines().position(|line| line.contains(word)).expect("a line");
        let column = text.lines().nth(line).and_then(|line| line.split_once(word)).expect("a word").0.chars().count();
        Place { line: u32::try_from(line + 1).unwrap(), column: u32::try_from(column + 1).unwrap() }
    };
    let anchor = good.replace("goal: \"", "goal: &g \"");
    assert_eq!(judged(&anchor), [(Code::YAML_REFUSED, at(&anchor, "&g"))]);
    let alias = anchor.replace("status: blocked", "title: *g, status: blocked");
    assert_eq!(judged(&alias), [(Code::YAML_REFUSED, at(&alias, "&g")), (Code::YAML_REFUSED, at(&alias, "*g"))]);
    let twice = good.replace("status: blocked", "status: blocked, goal: x");
    assert_eq!(judged(&twice), [(Code::YAML_DUPLICATE, at(&twice, "goal: x"))]);
}
