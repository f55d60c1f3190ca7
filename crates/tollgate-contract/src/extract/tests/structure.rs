//! What holds for every contract of reports: text outside of the report changes nothing but `trailing`.

use super::*;
use crate::defined::definition::samples;
use crate::proptest_cases::some;
use crate::{Reading, Trailing};

const STATUS_BLOCK: &str = include_str!("../../../../../docs/contracts/examples/status-block.md");

/// Valid reports of every registered contract, with the role that says them.
fn reports() -> Vec<(&'static str, String, Context)> {
    let mut all = vec![("status-block@1", STATUS_BLOCK.to_owned(), Context::default())];
    for own in registry::all_defined().filter(|own| own.definition.report.is_some()) {
        for sample in samples(&own.definition).iter().filter(|sample| sample.breaks.is_none()) {
            let text = own.write(&sample.document).unwrap_or_else(|why| panic!("{}: {why}", own.definition.id));
            all.push((&own.definition.id, text, crate::cases::context(sample)));
        }
    }
    all
}

fn reading(extraction: &Extraction) -> &Reading {
    match &extraction.read {
        Read::Report(reading) => reading,
        Read::Document(_) => panic!("a report"),
    }
}

fn found_in(dialect: Dialect<'_>, text: &str, context: &Context) -> Extraction {
    extract(dialect, &Transcript::Plain(text), context)
}

/// Text of many kinds that holds no candidate.
const TEXTS: [&str; 9] = [
    "Goodbye.",
    "On second thought I cannot approve this.",
    "Verdict: rejected",
    "**I withdraw the above.**",
    "- one\n- two",
    "> quoted",
    "<!-- a comment -->",
    "```sh\ncargo test\n```",
    "Ich ziehe das zurück. {\"a\": 1}",
];

/// What must come of a report with text after it.
#[track_caller]
fn follows(dialect: Dialect<'_>, alone: &Extraction, text: &str, context: &Context) {
    follows_in(dialect, alone, &Transcript::Plain(text), context);
}

#[track_caller]
fn follows_in(dialect: Dialect<'_>, alone: &Extraction, transcript: &Transcript<'_>, context: &Context) {
    let extraction = extract(dialect, transcript, context);
    let what = || format!("{dialect:?}\n{}\n{extraction:#?}", transcript.text());
    assert!(extraction.trailing.is_some(), "{}", what());
    let (before, after) = (reading(alone), reading(&extraction));
    let is_after = |one: &&Diagnostic| one.code == Code::TEXT_AFTER;
    assert_eq!(after.diagnostics.iter().filter(is_after).count(), 1, "{}", what());
    if dialect.trailing() == Trailing::Refuse && before.report.verdict.accepts() {
        assert_eq!((after.report.health, after.report.verdict), (Health::Malformed, Verdict::None), "{}", what());
        assert!(extraction.read.is_refused() && after.sections.is_empty(), "{}", what());
    } else {
        assert_eq!((&after.report, &after.sections), (&before.report, &before.sections), "{}", what());
        assert!(!extraction.read.is_refused(), "{}", what());
    }
}

#[test]
fn text_after_the_end_marker_changes_nothing_but_trailing() {
    for (nth, (id, report, context)) in reports().into_iter().enumerate() {
        let (dialect, context) = (dialect(id), Context { markers: Some(markers()), ..context });
        let alone = found_in(dialect, &marked(&report), &context);
        assert!(!alone.read.is_refused() && alone.trailing.is_none(), "{id}\n{report}\n{alone:#?}");
        for text in some(TEXTS, nth, 3) {
            follows(dialect, &alone, &format!("{}{text}\n", marked(&report)), &context);
        }
        // Not even another report counts there.
        follows(dialect, &alone, &format!("{}{report}\n", marked(&report)), &context);
    }
}

#[test]
fn text_after_the_last_brace_changes_nothing_but_trailing() {
    let json = |report: &str| report.starts_with('{') && serde_json::from_str::<serde_json::Value>(report).is_ok();
    let reports: Vec<_> = reports().into_iter().filter(|(_, report, _)| json(report)).collect();
    assert!(reports.len() > 10);
    for (nth, (id, report, context)) in reports.into_iter().enumerate() {
        let dialect = dialect(id);
        let alone = found_in(dialect, &report, &context);
        assert!(!alone.read.is_refused() && alone.trailing.is_none(), "{id}\n{report}\n{alone:#?}");
        for text in some(TEXTS, nth, 3) {
            follows(dialect, &alone, &format!("{}\n\n{text}\n", report.trim_end()), &context);
            follows(dialect, &alone, &format!("```json\n{}\n```\n{text}\n", report.trim_end()), &context);
        }
        let said = format!("{}\n{}\n", quoted(&report), quoted("Goodbye."));
        follows_in(dialect, &alone, &messages(&said), &context);
    }
}

/// Opaque blocks around a marked report, and candidates in them, change nothing at all but `trailing`.
#[test]
fn what_is_around_a_marked_report_changes_nothing() {
    for (nth, (id, report, context)) in reports().into_iter().enumerate() {
        let (dialect, context) = (dialect(id), Context { markers: Some(markers()), ..context });
        let alone = found_in(dialect, &marked(&report), &context);
        let lines = |sign: &str| report.lines().map(|line| format!("{sign}{line}\n")).collect::<String>();
        let blocks = [
            format!("````\n{report}\n````\n"),
            lines("> "),
            lines("    "),
            format!("<!--\n{report}\n-->\n"),
            report.clone(),
            "My last report was a draft:\n".to_owned(),
        ];
        for block in some(blocks, nth, 3) {
            let before = found_in(dialect, &format!("{block}\n{}", marked(&report)), &context);
            assert_eq!(before.read, Read::Report(reading(&before).clone()));
            let (one, other) = (reading(&before), reading(&alone));
            assert_eq!((&one.report, &one.sections), (&other.report, &other.sections), "{id}\n{block}\n{before:#?}");
            assert!(before.trailing.is_none() && !before.read.is_refused(), "{id}\n{block}");
            follows(dialect, &alone, &format!("{}\n{block}", marked(&report)), &context);
        }
        // One fence around all of it is taken off.
        for fence in some(["```", "~~~~", "````markdown"], nth, 3) {
            let end: String = fence.chars().filter(|c| !c.is_alphabetic()).collect();
            if report.contains(&end) {
                continue;
            }
            let inside = found_in(dialect, &marked(&format!("{fence}\n{report}\n{end}")), &context);
            assert_eq!(reading(&inside).report, reading(&alone).report, "{id} {fence}\n{inside:#?}");
            let outside = found_in(dialect, &format!("{fence}\n{}{end}\n", marked(&report)), &context);
            assert!(outside.found.is_some() && outside.earlier.is_none(), "{id} {fence}\n{outside:#?}");
        }
    }
}
