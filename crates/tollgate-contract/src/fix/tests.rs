//! What is mended says what it said, and mending it again changes nothing.
//!
//! A script of `cases.txt` names a contract; the document is its example with changes (`with A => B`), or follows after an empty line.

use super::*;
use crate::cases::dialect;
use crate::defined::definition::{Form, Kind, Sample, samples};
use crate::defined::guide;
use crate::registry;
use crate::tree::{Node, Value};

fn context(sample: &Sample<'_>) -> Context {
    Context { role: sample.by.clone(), ..Context::default() }
}

/// The example of a contract.
fn example(id: &str) -> String {
    match registry::defined(id) {
        Some(own) => guide::example(&own.definition),
        None => include_str!("../../../../docs/contracts/examples/status-block.md").to_owned(),
    }
}

/// What was fixed in the document of a script, what is left, and what the text is then.
fn answer(script: &str) -> String {
    let (head, text) = script.split_once("\n\n").unwrap_or((script, ""));
    let id = head.lines().next().unwrap_or_default();
    let good = example(id);
    let (text, _) = crate::cases::changed(if text.is_empty() { &good } else { text }, head);
    let fixed = fix(dialect(id), &text, &Context::default());
    let again = fix(dialect(id), &fixed.text, &Context::default());
    assert!(again.mended.is_empty() && again.text == fixed.text, "{:#?}", again.mended);
    let mended = fixed.mended.iter().map(|(place, what)| format!("mended {}:{} {what}", place.line, place.column));
    let left = fixed.read.diagnostics().iter().map(crate::cases::line);
    let now = match &fixed.text {
        same if *same == text => "the text stays".to_owned(),
        fixed if *fixed == good => "the example".to_owned(),
        fixed => fixed.clone(),
    };
    mended.chain(left).chain([now]).collect::<Vec<_>>().join("\n")
}

#[test]
fn cases() {
    crate::cases::check("fix/cases.txt", answer);
    let good = example("decree.implementor-result").replace('\n', "\r\n");
    let windows = format!("\u{feff}{}", good.replace("completed", "COMPLETED"));
    let fixed = fix(dialect("decree.implementor-result"), &windows, &Context::default());
    assert_eq!(fixed.text, format!("\u{feff}{good}"));
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

/// However many there are, one pass mends them, and each is named where it stands in the text as it was given: a text is not read
/// again for every few.
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
        let places = fixed.mended.iter().map(|(place, _)| place.column as usize);
        assert!(places.max() > many(finding).rfind(finding), "{finding}");
        assert_eq!(fixed.text, many(r#"{"severity": "minor", "summary": "x"}"#));
    }
    // What is left is told as it is to everybody.
    let left = fix(Dialect::Report(dialect), &many(r#"{"severity": "odd", "summary": "x"}"#), &Context::default());
    assert_eq!((left.mended.len(), left.read.diagnostics().len()), (0, 50));
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
