//! Text in, report and places out (`cases.txt`). What is found among other text is tested where it is looked for.
//!
//! A script says who reports (`by checker`), the groups of the rows that are known (`rows dod,tester`), who may come next
//! (`next accept=tester`), and what differs in the head of the report; its other sections follow after an empty line. Behind `whole`
//! the report is given as it is.

mod property;
mod reading;
mod structure;

use super::document::Document;
use super::{StatusBlock, reread};
use crate::{Context, Format, Reading, ReportDialect};
use tollgate_core::Name;
use tollgate_core::report::{CriterionRow, Health, Part, Report};

/// The example of docs/contracts/status-block.md.
const EXAMPLE: &str = include_str!("../../../../../docs/contracts/examples/status-block.md");

fn read(text: &str, context: &Context) -> Reading {
    StatusBlock.read_alone(text, context)
}

/// Who plays a part.
fn by(part: Part) -> Context {
    Context { part: Some(part), judges: Some(part.judges()), ..Context::default() }
}

fn with_rows(part: Part, rows: &[(&str, &str)]) -> Context {
    let row = |(at, (group, text)): (usize, &(&str, &str))| CriterionRow {
        id: format!("DoD-{}", at + 1).into(),
        text: (*text).to_owned(),
        group: Some(Name::from(*group)),
        ..CriterionRow::default()
    };
    Context { criteria: Some(rows.iter().enumerate().map(row).collect()), ..by(part) }
}

/// Rows of a developer and of a tester.
const ROWS: [(&str, &str); 3] = [("dod", "it adds"), ("dod", "it subtracts"), ("tester", "tests pass")];
const NO_FILES: &str = "0 created, 0 modified, 0 deleted";

/// A report with these head and Abstract values, and further sections from line 12 on.
fn report(status: &str, reason: &str, verdict: &str, files: &str, questions: &str, rest: &str) -> String {
    format!(
        "## Status\n{status}\n## Status reason\n{reason}\n## Abstract\noutcome: did it\nverdict: {verdict}\nfiles: {files}\n\
         next_phase: n/a\nopen_questions: {questions}\n\n{rest}"
    )
}

fn complete(verdict: &str, rest: &str) -> String {
    report("complete", "", verdict, NO_FILES, "0", rest)
}

/// What comes of the report of a script.
fn answer(script: &str) -> String {
    let (head, rest) = script.split_once("\n\n").unwrap_or((script, ""));
    let (mut context, mut whole) = (Context::default(), false);
    let [mut status, mut reason, mut verdict, mut files, mut questions] =
        ["complete", "", "n/a", NO_FILES, "0"].map(str::to_owned);
    for line in head.lines() {
        let (word, value) = line.split_once(' ').unwrap_or((line, ""));
        let said = value.replace("\\n", "\n");
        match word {
            "by" => context = who(value),
            "rows" => {
                let groups: Vec<(&str, &str)> = value.split(',').map(|group| (group, "a row")).collect();
                context.criteria = with_rows(Part::Checker, &groups).criteria;
            }
            "next" => {
                let route = |route: &str| {
                    let (outcome, roles) = route.split_once('=').expect(line);
                    (outcome.into(), roles.split(',').map(Into::into).collect())
                };
                context.next = Some(value.split(' ').map(route).collect());
            }
            "status" => status = said,
            "reason" => reason = said,
            "verdict" => verdict = said,
            "files" => files = said,
            "questions" => questions = said,
            "whole" => whole = true,
            other => panic!("{other} is no word of a script"),
        }
    }
    let text = if whole { rest.to_owned() } else { report(&status, &reason, &verdict, &files, &questions, rest) };
    // What can be read as a document can be written, and says the same then.
    if let Some(document) = reread(&text).map(Document::counted) {
        let written = StatusBlock.render(&serde_json::to_value(&document).expect("JSON"));
        assert_eq!(written.ok().and_then(|written| reread(&written)), Some(document), "{text}");
    }
    told(&read(&text, &context))
}

/// Who plays a part, or a role without one; it may not be known who reports.
fn who(word: &str) -> Context {
    let judges = Some(word == "judge").filter(|_| word != "anyone");
    Part::parse(word).map_or_else(|| Context { judges, ..Context::default() }, by)
}

/// All that a reading says: what it decides, what is wrong, and what the report holds.
fn told(reading: &Reading) -> String {
    let Report { health, verdict, criteria, findings, questions, claims, .. } = &reading.report;
    // Why a report is malformed is its first error.
    let reason = if *health == Health::Malformed { "" } else { &reading.report.reason };
    let mut lines = vec![format!("{} {} {reason}", health.word(), verdict.word())];
    lines.extend(reading.diagnostics.iter().map(crate::cases::line));
    lines.extend(criteria.iter().map(|row| format!("row {} {:?}: {}", row.id, row.result, row.evidence)));
    for one in findings {
        let parts =
            [&one.severity, &one.criterion, &one.category, &one.path].map(|part| part.as_deref().unwrap_or("-"));
        let (line, repeats) =
            (one.line.unwrap_or_default(), one.repeats.map(|id| format!(" {id}")).unwrap_or_default());
        lines.push(format!("finding {}:{line}{repeats}: {}", parts.join(" "), one.what));
    }
    lines.extend(questions.iter().map(|one| format!("asks{}: {}", if one.blocking { "!" } else { "" }, one.text)));
    let changed = [("created", &claims.created), ("modified", &claims.modified), ("deleted", &claims.deleted)];
    lines.extend(changed.into_iter().flat_map(|(word, paths)| paths.iter().map(move |path| format!("{word} {path}"))));
    lines.extend(claims.addresses.iter().map(|ids| format!("addresses {ids:?}")));
    lines.iter().map(|line| line.trim_end().replace('\n', "\\n")).collect::<Vec<_>>().join("\n")
}

#[test]
fn cases() {
    crate::cases::check("status_block/tests/cases.txt", answer);
}
