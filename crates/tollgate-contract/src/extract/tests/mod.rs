//! Which report counts in what workers print (`cases.txt`). Lines of agents' programs are read in the engine, with cases of their own.
//!
//! A script names a contract, perhaps the unit that is asked for, whether there are markers (`marked`) and whether the text has no line end (`open`); the transcript follows
//! after an empty line. In it `‹approved›` and `‹rejected›` stand for a verdict, with quotes for one inside of a JSON string, `‹begin›`
//! and `‹end›` for the markers, `␛` for an escape and `␍` for a carriage return.

mod hostile;
mod property;
mod structure;
mod transcripts;

use super::candidates::CANDIDATES_MAX;
use super::*;
use crate::cases::dialect;
use crate::registry;
use tollgate_core::diagnostic::Severity;
use tollgate_core::report::{Health, Verdict};

/// A report of wr.gate_verdict.
fn verdict(word: &str, why: &str) -> String {
    format!(
        "{{\"kind\": \"wr.gate_verdict\", \"version\": 1, \"verdict\": \"{word}\", \"confidence\": \"high\", \"rationale\": \"{why}\"}}"
    )
}

const WHY: &str = "No test shows the second criterion.";

fn found(id: &str, text: &str, context: &Context) -> Extraction {
    extract(dialect(id), &Transcript::Plain(text), context)
}

/// What an agent said whose program prints each message as a JSON string on a line of its own.
fn messages(text: &str) -> Transcript<'_> {
    let lines = crate::text::lines(text).filter(|(_, line)| !line.is_empty());
    let items = lines.map(|(start, line)| {
        let words = serde_json::from_str(line).expect("a JSON string");
        Item::Message(vec![Part { text: words, line: start..start + line.len() }])
    });
    Transcript::Agent(text, items.collect())
}

/// All that is decided, in a line: `health verdict @line:column`, what was passed over, and what is wrong.
fn shown(extraction: &Extraction) -> String {
    let mut words = match &extraction.read {
        Read::Report(reading) => {
            vec![reading.report.health.word().to_owned(), reading.report.verdict.word().to_owned()]
        }
        Read::Document(reading) => vec![format!("{} rows", reading.plan.criteria.len())],
    };
    let place = |place: Place| format!("{}:{}", place.line, place.column);
    words.extend(extraction.found.as_ref().map(|found| format!("@{}", place(found.from))));
    for passed in &extraction.passed {
        let why = match &passed.why {
            Why::Echo => "echo".to_owned(),
            Why::Earlier => "earlier".to_owned(),
            Why::Repeated => "repeated".to_owned(),
            Why::OtherUnit(unit) => format!("of {unit}"),
        };
        words.push(format!("{why}@{}", place(passed.place)));
    }
    words.extend(extraction.earlier.as_ref().map(|earlier| format!("valid before@{}", place(earlier.place))));
    let errors = extraction.read.diagnostics().iter().filter(|one| one.severity == Severity::Error);
    words.extend(errors.map(|one| format!("{}@{}", one.code, place(one.place))));
    words.join(" ")
}

#[track_caller]
fn check(id: &str, text: &str, expected: &str) {
    check_with(id, text, &Context::default(), expected);
}

#[track_caller]
fn check_with(id: &str, text: &str, context: &Context, expected: &str) {
    let extraction = found(id, text, context);
    assert_eq!(shown(&extraction), expected, "{text}\n{extraction:#?}");
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn markers() -> Markers {
    Markers::new("att_3".parse().unwrap(), b"a seed")
}

/// A report between the markers.
fn marked(report: &str) -> String {
    format!("{}\n{}\n{}\n", markers().begin(), report.trim_end(), markers().end())
}

/// Which report of a transcript counts, and its diagnostics.
fn answer(script: &str) -> String {
    let (head, text) = script.split_once("\n\n").expect("a transcript");
    let (mut context, mut open) = (Context::default(), false);
    for line in head.lines().skip(1) {
        match line.split_once(' ') {
            Some((_, unit)) => context.unit = Some(unit.into()),
            None if line == "marked" => context.markers = Some(markers()),
            None => open = true,
        }
    }
    let mut text = text.replace('␛', "\u{1b}").replace('␍', "\r");
    for word in ["approved", "rejected"] {
        let report = verdict(word, WHY);
        text = text
            .replace(&format!("‹\"{word}\"›"), quoted(&report).trim_matches('"'))
            .replace(&format!("‹{word}›"), &report);
    }
    let text = text.replace("‹begin›", markers().begin()).replace("‹end›", markers().end());
    let extraction = found(
        head.lines().next().expect("a contract"),
        if open { text.trim_end_matches('\n') } else { &text },
        &context,
    );
    let trailing = extraction.trailing.map(|place| format!(" trailing@{}:{}", place.line, place.column));
    let told = extraction.read.diagnostics().iter().map(|one| format!("\n{}", crate::cases::line(one)));
    format!("{}{}{}", shown(&extraction), trailing.unwrap_or_default(), told.collect::<String>())
}

#[test]
fn cases() {
    crate::cases::check("extract/tests/cases.txt", answer);
}
