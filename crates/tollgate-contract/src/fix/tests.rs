//! What is mended says what it said, and mending it again changes nothing.

use proptest::prelude::*;

use super::*;
use crate::defined::definition::{Form, Kind, Sample, samples};
use crate::defined::guide;
use crate::registry;
use crate::tree::{Node, Value};

fn dialect(id: &str) -> Dialect<'static> {
    match registry::report_dialect(id) {
        Some(dialect) => Dialect::Report(dialect),
        None => Dialect::Document(registry::document_dialect(id).expect(id)),
    }
}

fn context(sample: &Sample<'_>) -> Context {
    Context { role: sample.by.clone(), ..Context::default() }
}

#[track_caller]
fn check(id: &str, text: &str, expected: &str) -> Fixed {
    let fixed = fix(dialect(id), text, &Context::default());
    assert_eq!(fixed.text, expected, "{:#?}", fixed.read.diagnostics());
    let again = fix(dialect(id), &fixed.text, &Context::default());
    assert!(again.mended.is_empty() && again.text == fixed.text, "{:#?}", again.mended);
    fixed
}

const GOOD: &str = "{\n  \"kind\": \"wr.gate_verdict\",\n  \"version\": 1,\n  \"verdict\": \"approved\",\n  \"confidence\": \"high\",\n  \"rationale\": \"Every item is shown by a test.\"\n}\n";

#[test]
fn json_is_mended_where_there_is_one_answer() {
    for broken in [
        GOOD.replace("\"approved\"", "\"APPROVED\""),
        GOOD.replace("\"version\": 1", "\"version\": \"1\""),
        GOOD.replace("\"verdict\"", "\"Verdict\""),
        GOOD.replace(".\"\n}", ".\",\n}"),
        format!("```json\n{GOOD}```\n"),
        format!("\n```\n{GOOD}```\n").replace("high", "High").replace("\"kind\"", "\"Kind\""),
        GOOD.replace("wr.gate_verdict", "WR.Gate-Verdict"),
    ] {
        let fixed = check("wr.gate_verdict", &broken, GOOD);
        assert!(!fixed.read.is_refused() && !fixed.mended.is_empty(), "{broken}");
    }
    let lines = GOOD.replace("item is", "item\nis");
    check("wr.gate_verdict", &lines, &GOOD.replace("item is", "item\\nis"));
    for open in [
        GOOD.replace("approved", "fine"),
        GOOD.replace("  \"version\": 1,\n", ""),
        GOOD.replace('"', "'"),
        format!("{GOOD}{GOOD}"),
        String::new(),
    ] {
        let fixed = check("wr.gate_verdict", &open, &open);
        assert!(fixed.read.is_refused() && fixed.mended.is_empty(), "{open}");
    }
}

/// Text around a report is cut away; around one that accepts, only a code fence is, where the contract refuses text beside an acceptance.
#[test]
fn text_around_an_acceptance_stays() {
    let rejected = GOOD.replace("approved", "rejected");
    for (before, after) in [
        ("Here it is:\n\n", ""),
        ("", "\nBye.\n"),
        ("On second thought:\n```json\n", "```\n"),
        ("", "\nkind: wr.gate_verdict\nverdict: rejected\n"),
        ("<!--\n", "-->\n"),
    ] {
        let text = format!("{before}{GOOD}{after}");
        let fixed = check("wr.gate_verdict", &text, &text);
        assert!(fixed.read.is_refused() && fixed.mended.is_empty(), "{text}");
        check("wr.gate_verdict", &format!("{before}{rejected}{after}"), &rejected);
    }
    check("wr.gate_verdict", &format!("```json\n{GOOD}```\n"), GOOD);
    let two = format!("{rejected}\n{{\"other\": 1}}\n");
    check("wr.gate_verdict", &two, &two);
}

/// A sign that may deny or doubt a word makes it another answer, whatever it is written in.
#[test]
fn a_word_is_not_freed_of_signs_that_deny_it() {
    let result = guide::example(&registry::defined("decree.reviewer-result").expect("a contract").definition);
    let block = include_str!("../../../../docs/contracts/examples/status-block.md");
    for sign in ["!W", "¬W", "-W", "~~W~~", "W?", "W ❌", "W 👎", "(W)"] {
        let signed = |word: &str| sign.replace('W', word);
        for (id, text) in [
            ("wr.gate_verdict", GOOD.replace("approved", &signed("Approved"))),
            ("decree.reviewer-result", result.replace("approved", &signed("approved"))),
            ("status-block", block.replace("REQUEST_CHANGES", &signed("APPROVED"))),
        ] {
            let fixed = check(id, &text, &text);
            assert!(fixed.read.is_refused() && fixed.mended.is_empty(), "{text}");
        }
    }
    check("wr.gate_verdict", &GOOD.replace("approved", " Approved."), GOOD);
}

#[test]
fn markdown_is_mended_in_its_place() {
    let good = guide::example(&registry::defined("decree.implementor-result").expect("a contract").definition);
    let (head, done) = good.split_once("### What Was Done").expect("a section");
    let (done, left) = done.split_once("### Outstanding").expect("a section");
    let swapped =
        format!("{head}### Outstanding{}\n\n<!-- kept -->\n\n### What Was Done{}\n", left.trim_end(), done.trim_end());
    let fixed = check("decree.implementor-result", &swapped, &good.replace("None\n", "None\n\n<!-- kept -->\n"));
    assert!(!fixed.read.is_refused());
    check(
        "decree.implementor-result",
        &good.replace("completed", "**Completed**"),
        &good.replace("completed", "**completed**"),
    );
    check("decree.implementor-result", &good.replace("completed", "\"Completed\""), &good);
    check("decree.implementor-result", &good.replace("completed", "'completed'"), &good);
    check("decree.implementor-result", &good.replace("completed", "`completed`."), &good);
    check("decree.implementor-result", &good.replace("completed", "**Completed**."), &good);
    check("decree.implementor-result", &good.replace("### Outstanding", "#### Outstanding"), &good);
    for fence in ["```markdown", "~~~~md", "```"] {
        let end = fence.trim_end_matches(char::is_alphabetic);
        check("decree.implementor-result", &format!("\n{fence}\n{good}{end}\n"), &good);
    }
    for kept in [
        format!("```markdown\n{good}```\n\nNot sent.\n"),
        format!("```diff\n{good}```\n"),
        format!("```\n{good}```\n```\n```\n"),
        format!("```\n# Notes\n\n{good}```\n"),
    ] {
        let fixed = check("decree.implementor-result", &kept, &kept);
        let wrong = &fixed.read.diagnostics()[0].message;
        assert!(wrong.ends_with(crate::markdown::SHOWN), "{kept}\n{wrong}");
    }
    check("decree.implementor-result", &good.replace("## Implementor", "# Implementor"), &good);
    let windows = good.replace("completed", "COMPLETED").replace('\n', "\r\n");
    check(
        "decree.implementor-result",
        &format!("\u{feff}{windows}"),
        &format!("\u{feff}{}", good.replace('\n', "\r\n")),
    );
}

#[test]
fn a_status_block_is_mended() {
    let good = include_str!("../../../../docs/contracts/examples/status-block.md");
    let wrong = good
        .replace("## Status\ncomplete", "## Status\nComplete")
        .replace("0 created, 0 modified", "2 created, 0 modified");
    check("status-block", &wrong, good);
    check("status-block", &good.replace("## Status\ncomplete", "## Status\nComplete."), good);
    check("status-block", &good.replace("## Status\ncomplete", "## Status\n\"complete\""), good);
    check("status-block", &good.replace("open_questions: 0", "open_questions: 10"), good);
    let (before, rest) = good.split_once("## Key Decisions").expect("a section");
    let (decisions, rest) = rest.split_once("## For the Next Agent").expect("a section");
    let (next, last) = rest.split_once("## Open Questions").expect("a section");
    let moved = format!("{before}## For the Next Agent{next}## Key Decisions{decisions}## Open Questions{last}");
    check("status-block", &moved, good);
}

#[test]
fn yaml_is_mended_in_its_place() {
    let good = "# Tasks of today\ntasks:\n  - id: T-1 # the first\n    status: not-started\n    goal: x\n    acceptance_checks: [\"cmd: x\"]\n";
    for broken in [
        good.replace("not-started", "Not-Started"),
        good.replace("not-started", "not_started"),
        good.replace("goal:", "Goal:"),
    ] {
        check("team.tasks", &broken, good);
    }
    check("team.tasks", &good.replace("not-started", "'NOT-STARTED'"), &good.replace("not-started", "'not-started'"));
}

#[test]
fn a_count_is_what_the_list_gives() {
    let own = registry::defined("wr.interpretation").expect("a contract");
    let good = guide::example(&own.definition);
    let at = good.find("\"unresolvedAssumptionCount\": ").expect("a count") + 29;
    let mut wrong = good.clone();
    wrong.insert(at, '7');
    check("wr.interpretation", &wrong, &good);
}

/// A list that is not there gives no count.
#[test]
fn a_count_is_left_alone_where_its_list_is_missing() {
    let good = include_str!("../../../../docs/contracts/examples/status-block.md");
    let lost = good.replace("## Open Questions\nNone\n", "").replace("open_questions: 0", "open_questions: 2");
    let fixed = fix(dialect("status-block"), &lost, &Context::default());
    assert!(fixed.text == lost && fixed.read.is_refused(), "{}", fixed.text);
    let low = good.replace("## Abstract", "### Abstract");
    let fixed = check("status-block", &low, good);
    assert!(!fixed.read.is_refused() && fixed.mended.len() == 1, "{:?}", fixed.mended);
}

/// A word in another case.
fn shouted(word: &str) -> String {
    let upper = word.to_uppercase();
    if upper == word { word.to_lowercase() } else { upper }
}

/// Every mistake with one answer, in every contract that it can be made in: the report is the one before.
#[test]
fn every_contract_is_mended_to_what_it_said() {
    let mut made = 0;
    for own in registry::all_defined() {
        let record = own.definition.root.record().expect("a record");
        for sample in samples(&own.definition).iter().filter(|sample| sample.breaks.is_none()) {
            let (dialect, context) = (dialect(&own.definition.id), context(sample));
            let Ok(good) = own.write(&sample.document) else { panic!("{}", own.definition.id) };
            let before = dialect.read(&good, &context);
            assert!(fix(dialect, &good, &context).mended.is_empty(), "{}", own.definition.id);
            let mut broken = Vec::new();
            for field in record.fields.iter().filter(|field| matches!(field.of.kind, Kind::OneOf(_))) {
                let mut document = sample.document.clone();
                let Value::Map(entries) = &mut document.value else { continue };
                let Some(entry) = entries.iter_mut().find(|entry| *entry.key == *field.name) else { continue };
                let Some(word) = entry.node.text().map(shouted) else { continue };
                entry.node = Node::new(Value::Text(word.into()));
                broken.extend(own.write(&document));
            }
            if own.definition.forms[0] == Form::Json {
                broken.push(format!("\n```json\n{good}```\n"));
                broken.push(good.trim_end().trim_end_matches('}').trim_end().to_owned() + ",\n}\n");
            }
            for text in broken {
                let fixed = fix(dialect, &text, &context);
                let what = format!("{}\n{text}\n{}\n{:#?}", own.definition.id, fixed.text, fixed.read.diagnostics());
                match (&before, &fixed.read) {
                    (Read::Report(before), Read::Report(after)) => assert_eq!(before.report, after.report, "{what}"),
                    (Read::Document(before), Read::Document(after)) => assert_eq!(before.plan, after.plan, "{what}"),
                    _ => panic!("{what}"),
                }
                assert!(!fixed.read.is_refused() && !fixed.mended.is_empty(), "{what}");
                let again = fix(dialect, &fixed.text, &context);
                assert!(again.mended.is_empty() && again.text == fixed.text, "{what}");
                made += 1;
            }
        }
    }
    assert!(made > 150, "{made}");
}

proptest! {
    #![proptest_config(crate::proptest_cases::few(24))]

    /// Whatever is damaged: what could be read says the same, and mending ends.
    #[test]
    fn damage_is_never_given_another_meaning(
        at in any::<prop::sample::Index>(),
        until in any::<prop::sample::Index>(),
        noise in "[\\x00-\\x7f]{0,6}|(## |\\*\\*|- |\\{|,|\"|\r\n|True){1,4}",
    ) {
        for own in registry::all_defined() {
            let text: Vec<char> = guide::example(&own.definition).chars().collect();
            let (a, b) = (at.index(text.len() + 1), until.index(text.len() + 1));
            let kept = text[..a.min(b)].iter().copied().chain(noise.chars()).chain(text[a.max(b)..].iter().copied());
            let damaged: String = kept.collect();
            let dialect = dialect(&own.definition.id);
            let before = dialect.read(&damaged, &Context::default());
            let fixed = fix(dialect, &damaged, &Context::default());
            if let (Read::Report(before), Read::Report(after), false) = (&before, &fixed.read, before.is_refused()) {
                prop_assert_eq!(&before.report, &after.report);
            }
            let again = fix(dialect, &fixed.text, &Context::default());
            prop_assert!(again.mended.is_empty() && again.text == fixed.text, "{} {damaged:?}", own.definition.id);
        }
    }
}

/// However many there are, one pass mends them: a text is not read again for every few.
#[test]
fn many_mistakes_are_mended_together() {
    let many = |finding: &str| {
        let list = vec![finding; 4000].join(", ");
        format!(
            "{{\"kind\": \"wr.review_verdict\", \"verdict\": \"minor\", \"confidence\": \"high\", \"findings\": [{list}], \"summary\": \"So.\"}}"
        )
    };
    let Some(dialect) = registry::report_dialect("wr.review_verdict") else { panic!("a report") };
    for finding in [r#"{"severity": "Minor", "summary": "x"}"#, r#"{"severity": "minor", "summary": "x",}"#] {
        let fixed = fix(Dialect::Report(dialect), &many(finding), &Context::default());
        assert_eq!((fixed.mended.len(), fixed.read.diagnostics()), (4000, &[][..]), "{finding}");
        assert_eq!(fixed.text, many(r#"{"severity": "minor", "summary": "x"}"#));
    }
    // What is left is told as it is to everybody.
    let left = fix(Dialect::Report(dialect), &many(r#"{"severity": "odd", "summary": "x"}"#), &Context::default());
    assert_eq!((left.mended.len(), left.read.diagnostics().len()), (0, 50));
}

/// All of them are named where they stand in the text as it was given: it was not read again in between.
#[test]
fn as_many_as_a_text_can_hold_are_mended_in_one_round() {
    let Some(dialect) = registry::report_dialect("decree.planner-output") else { panic!("a report") };
    let many = 40_000;
    let each = |one: fn(usize) -> String| (1..=many).map(one).collect::<Vec<_>>().join(", ");
    let keys = each(|number| format!("\"{number}\": []"));
    let text = format!(
        "{{\"created\": [{}], \"closed\": [], \"updated\": [], \"blocking\": {{{keys}}}}}",
        each(|number| format!("\"{number}\""))
    );
    let fixed = fix(Dialect::Report(dialect), &text, &Context::default());
    let last = text.find(&format!("\"{many}\"")).unwrap();
    let places = fixed.mended.iter().map(|(place, _)| place.column as usize);
    assert_eq!((fixed.mended.len(), places.max()), (many, Some(last + 1)));
    assert!(!fixed.read.is_refused());
}

/// Where one change would undo another there is no one answer: the text stays, and is not left in the middle of it.
#[test]
fn what_does_not_settle_stays_as_it_is() {
    let block = include_str!("../../../../docs/contracts/examples/status-block.md");
    let moved = block.replacen("## Quality-Gate Results\n", "\n", 1).replacen(
        "## Status reason\n\n",
        "## Status reason\n## Quality-Gate Results\n",
        1,
    );
    let council = guide::example(&registry::defined("wr.council").expect("a contract").definition);
    let quoted = format!("\u{feff}\u{feff}{}", council.replacen("  \"revised", ">   \"revised", 1));
    for (id, text) in
        [("status-block@1", format!("# Title\n\n{}", moved.replace('\n', "\n\n"))), ("wr.council", quoted)]
    {
        let fixed = fix(dialect(id), &text, &Context::default());
        let again = fix(dialect(id), &fixed.text, &Context::default());
        assert!(again.mended.is_empty() && again.text == fixed.text, "{id}: {:?}", again.mended);
    }
}
