//! What holds for every document and every text.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::document::{
    Abstract, CoverageRow, Document, FileCounts, FileEntry, Finding, Mark, Note, Severity as Bad, Status, Word,
};
use super::super::{render, reread};
use super::*;
use crate::markdown::BYTES_MAX;
use crate::proptest_cases;
use tollgate_core::id::FindingId;

/// Words that mean something elsewhere in the text, among words that do not.
fn word() -> impl Strategy<Value = String> {
    let odd = select(vec![
        "##",
        "```",
        "a:b",
        "src/x.rs:3",
        "-",
        "n/a",
        "✓",
        "`q`",
        "<!--",
        "1.",
        "**b**",
        "|",
        "DoD-1",
        "$",
    ]);
    prop_oneof![3 => "[a-zäß]{1,6}", 1 => odd.prop_map(str::to_owned)]
}

/// A text that begins with a plain word, so that its beginning is not read as something else.
fn text() -> impl Strategy<Value = String> {
    ("the [a-z]{1,5}", vec(word(), 0..6)).prop_map(|(start, words)| [vec![start], words].concat().join(" "))
}

fn lines() -> impl Strategy<Value = String> {
    let quiet = text().prop_filter("an open comment hides what follows", |text| !text.contains("<!--"));
    vec(quiet, 1..4).prop_map(|lines| lines.join("\n"))
}

fn prose() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), lines()]
}

fn file() -> impl Strategy<Value = FileEntry> {
    let path = "[a-z]( [a-z])?[a-z/.]{1,8}";
    (path, prop_oneof![Just(String::new()), lines()])
        .prop_map(|(path, note)| FileEntry { path: path.trim().to_owned(), note })
}

fn finding() -> impl Strategy<Value = Finding> {
    let place = option::of(("[a-z]{1,4}/[a-z]{1,4}\\.rs", option::of(1..9999u32)));
    (select(Bad::ALL.to_vec()), option::of(0..99u64), place, option::of("[A-Z]{2,3}-[0-9]{1,3}"), lines()).prop_map(
        |(severity, repeats, place, rule, text)| Finding {
            severity,
            repeats: repeats.map(FindingId),
            line: place.as_ref().and_then(|(_, line)| *line),
            path: place.map(|(path, _)| path),
            rule,
            text,
        },
    )
}

fn index() -> impl Strategy<Value = Abstract> {
    let counts =
        (0..9u32, 0..9u32, 0..9u32).prop_map(|(created, modified, deleted)| FileCounts { created, modified, deleted });
    let outcome = prop_oneof![4 => text(), 1 => "[\"'*]{1,2}[a-z\"']{1,4}"];
    (outcome, select(Word::ALL.to_vec()), option::of(counts), text(), option::of(0..9u32)).prop_map(
        |(outcome, verdict, files, next_phase, open_questions)| Abstract {
            outcome,
            verdict,
            files,
            next_phase,
            open_questions,
        },
    )
}

fn document() -> impl Strategy<Value = Document> {
    let row = (select(vec![Mark::Pass, Mark::Fail, Mark::Warning]), lines())
        .prop_map(|(mark, row)| CoverageRow { mark, row });
    let note = ("X[a-z]{1,5}", prose()).prop_map(|(title, text)| Note { title, text });
    let ids = vec(0..99u32, 0..3).prop_map(|ids| ids.into_iter().map(|id| FindingId(id.into())).collect());
    let head = (select(Status::ALL.to_vec()), prop_oneof![Just(String::new()), text()], index(), option::of(0..99u32));
    let files = (vec(file(), 0..3), vec(file(), 0..3), vec(file(), 0..3));
    let check = (option::of(select(Word::ALL.to_vec())), vec(lines(), 0..3), vec(lines(), 0..3), prose());
    let review = (vec(finding(), 0..3), prose(), option::of(ids));
    let end = (prose(), prose(), prose(), vec(lines(), 0..3), vec(note, 0..2));
    (head, files, (prose(), vec(row, 0..4)), check, review, end).prop_map(|(head, files, work, check, review, end)| {
        Document {
            status: head.0,
            status_reason: head.1,
            index: head.2,
            iteration: head.3,
            files_created: files.0,
            files_modified: files.1,
            files_deleted: files.2,
            quality_gate_results: work.0,
            dod_coverage: work.1,
            verdict: check.0,
            verified_rows: check.1,
            gaps: check.2,
            reading_scope_used: check.3,
            findings: review.0,
            re_review_mode: review.1,
            addressed_findings: review.2,
            key_decisions: end.0,
            for_the_next_agent: end.1,
            lessons_learned: end.2,
            open_questions: end.3,
            other: end.4,
        }
    })
}

proptest! {
    #![proptest_config(crate::proptest_cases::few(300))]

    #[test]
    fn reading_gives_back_what_was_written(document in document()) {
        let text = render::render(document.clone()).map_err(TestCaseError::fail)?;
        prop_assert_eq!(reread(&text), Some(document.clone().counted()));
        let value = serde_json::to_value(&document).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(StatusBlock.render(&value), Ok(text));
    }

    #[test]
    fn what_is_written_is_read_back_or_refused(texts in vec("[ \\-\\n`#:*<!>x\\u{1b}\r]{0,12}", 6)) {
        let [a, b, c, d, e, f] = <[String; 6]>::try_from(texts).unwrap_or_default();
        let value = serde_json::json!({
            "status": "complete", "abstract": {"outcome": a, "next_phase": b}, "key_decisions": c,
            "open_questions": [d], "files_created": [e], "other": [{"title": f}],
        });
        if let Ok(text) = StatusBlock.render(&value) {
            let document: Document = serde_json::from_value(value).expect("a document");
            prop_assert_eq!(reread(&text), Some(document.counted()));
        }
    }
}

#[test]
fn words_that_cannot_be_written_are_refused_by_name() {
    let render = |field: &str, value: serde_json::Value| {
        let mut document = serde_json::json!({"status": "complete", "abstract": {"outcome": "x"}});
        document[field] = value;
        StatusBlock.render(&document)
    };
    assert!(render("key_decisions", "a\n## Status\nfailed".into()).is_err());
    assert_eq!(
        render("key_decisions", "a\n## B".into()),
        Err("`key_decisions` would not be read back as it is".to_owned())
    );
    assert!(render("open_questions", serde_json::json!(["none"])).is_err());
    assert!(render("mood", "good".into()).is_err_and(|error| error.contains("mood")));
}

/// Work is counted by what comes out: twice the text gives at most twice the sections, and never more complaints than
/// the bound. That it ends at all at the size limit is the rest of the proof: quadratic time would not.
#[test]
fn hostile_texts_end_and_stay_bounded() {
    let units = [
        "## Status\n",
        "- \r",
        "a\r",
        "x\n\n<!-- -->\n\n",
        "## Status\ncomplete\n",
        "- ",
        "- \n",
        "> ",
        "```\n",
        "## x\n",
        "## Open Questions\n",
        "[",
        "*a_",
        "`",
        "<!--\n",
        "- ✓ DoD-1\n",
        "DoD-1,",
        "\n",
        "&",
        "![](",
        "\t",
        "<a ",
        "1. x\n",
        "[a]: b\n",
        "  - x\n",
        "x: ",
        "— ",
        "***",
        "\\",
        "~~~\n~~~~\n",
        "> - 1. > - x\n",
        "<?",
        "<![CDATA[",
        "a\n=\n",
        "[a][",
        "_ _ *",
    ];
    let context = Context { prompt: Some(EXAMPLE.repeat(80)), ..with_rows(Part::Tester, &[("tester", "a")]) };
    let at = |unit: &str, bytes: usize| {
        let mut text = complete("n/a", "## DoD coverage\n- ✓ DoD-1\n");
        text.push_str(&unit.repeat((bytes - text.len()) / unit.len()));
        let reading = read(&text, &context);
        assert!(reading.diagnostics.len() <= 100, "{unit:?}");
        reading.present.len()
            + reading.report.criteria.len()
            + reading.sections.values().map(String::len).sum::<usize>()
    };
    for unit in units {
        let size = proptest_cases::size(BYTES_MAX / 32, BYTES_MAX / 8);
        let (half, whole) = (at(unit, size / 2), at(unit, size));
        assert!(whole <= 2 * half + 512, "{unit:?}: {half} then {whole}");
    }
    for unit in ["## Status\n", "- \r"] {
        at(unit, proptest_cases::size(BYTES_MAX / 8, BYTES_MAX));
    }
    let deep = format!("{}\n{}", "- ".repeat(30), "\n".repeat(proptest_cases::size(BYTES_MAX / 16, BYTES_MAX / 2)));
    read(&deep, &context);
}
