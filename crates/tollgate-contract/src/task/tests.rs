//! Task files in, rows out (`tests/cases.txt`): a script has a line with the sides that run, and the text after an empty line.

use super::*;
use crate::markdown::BYTES_MAX;
use tollgate_core::diagnostic::Severity;

const EXAMPLE: &str = include_str!("../../../../docs/contracts/examples/build-plan.task.md");

fn sides(names: &[&str]) -> Context {
    Context { sides: Some(names.iter().map(|name| Name::from(*name)).collect()), ..Context::default() }
}

/// The rows as `id group unit text $ command`, what each side may change, and what is wrong.
fn answer(script: &str) -> String {
    let (head, text) = script.split_once("\n\n").unwrap_or((script, ""));
    let context = match head.strip_prefix("sides ") {
        Some(names) => sides(&names.split(' ').collect::<Vec<_>>()),
        None => Context::default(),
    };
    let reading = Task.read(text, &context);
    // What can be read can be written, and says the same then.
    let mut sink = Sink::default();
    let (document, _) = parse(&Source::new(text), &mut sink);
    let is_plain = |row: &Row| !row.text.contains('`');
    if !sink.refused() && document.rows.iter().all(is_plain) {
        let written = Task.render(&serde_json::to_value(&document).expect("JSON"));
        assert_eq!(written.map(|written| parse(&Source::new(&written), &mut sink).0), Ok(document), "{text}");
    }
    let rows = reading.plan.criteria.iter().map(|row| {
        let command = row.command.as_ref().map(|command| format!(" $ {command}")).unwrap_or_default();
        let repeat = row.repeat.map(|times| format!(" x{times}")).unwrap_or_default();
        let (group, unit) = (row.group.as_deref().unwrap_or_default(), row.unit.as_deref().unwrap_or("run"));
        format!("{} {group} {unit} {}{command}{repeat}", row.id, row.text)
    });
    let scopes = reading.plan.units.iter().map(|unit| format!("scope {}: {}", unit.name, unit.scope.join(" ")));
    rows.chain(scopes).chain(reading.diagnostics.iter().map(crate::cases::line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn cases() {
    crate::cases::check("task/tests/cases.txt", answer);
}

/// What a terminal obeys gets into no row and no message.
#[test]
fn hidden_characters_are_taken_out() {
    let evil = Task.read("## Definition of Done\n### \u{1b}[31m\n- a\u{1b}\n", &Context::default());
    assert_eq!(evil.plan.criteria[0].text, "a");
    assert!(!evil.diagnostics[0].message.contains('\u{1b}'));
    let long = Task.read(&"x".repeat(BYTES_MAX + 1), &Context::default());
    assert_eq!(long.diagnostics[0].code, Code::TEXT_REFUSED);
}

/// Code, quotes and comments are for people, and so is free text.
#[test]
fn code_quotes_comments_and_sentences_change_no_reading() {
    let blocks = [
        "```\n- [ ] b `cmd: make`\n### Other\n```",
        "~~~\n## Definition of Done\n- b\n~~~",
        "> - b `cmd: make`\n>\n> ### Frontend",
        "<!--\n- b `cmd: make`\n-->",
        "Not all of this is settled: see `src/a.rs`, TBD.",
    ];
    let context = sides(&["backend", "frontend"]);
    let before = Task.read(EXAMPLE, &context);
    assert_eq!(before.diagnostics, []);
    let starts: Vec<usize> = EXAMPLE.match_indices("\n\n").map(|(at, _)| at + 2).chain([EXAMPLE.len()]).collect();
    for at in starts {
        for block in blocks {
            let text = format!("{}\n\n{block}\n\n{}", EXAMPLE[..at].trim_end(), &EXAMPLE[at..]);
            let after = Task.read(&text, &context);
            assert_eq!((after.plan, after.diagnostics), (before.plan.clone(), Vec::new()), "{text}");
        }
    }
    let indented = EXAMPLE.replace("Scope: `web/**`\n", "Scope: `web/**`\n\n    - b `cmd: make`\n");
    assert_eq!(Task.read(&indented, &context).plan, before.plan);
}

#[test]
fn what_is_invisible_is_told() {
    let done = "## Definition of Done\n\n- a works\n";
    for hidden in ["- b `c\u{ad}md: false`", "\u{200b}- b", "- b\u{2028}- c", "### Te\u{2060}ster scope\n- b"] {
        let reading = Task.read(&format!("{done}\n{hidden}\n"), &sides(&["backend"]));
        let is_row = |found: &Diagnostic| found.code == Code::TASK_ROW && found.severity == Severity::Error;
        assert!(reading.diagnostics.iter().any(is_row), "{hidden:?}: {:?}", reading.diagnostics);
    }
}
