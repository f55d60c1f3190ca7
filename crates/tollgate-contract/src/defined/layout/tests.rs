//! What Markdown really looks like: every line end, nested code, look-alikes, comments.

use crate::Context;
use crate::defined::Defined;
use crate::defined::definition;
use crate::defined::tests::{RESULT, result};
use crate::tree::json_line;

/// The document as JSON in one line, then what is wrong with it.
fn shown(text: &str) -> String {
    let own = result();
    let judged = own.judge(text, &Context::default());
    let wrong = judged.diagnostics.iter().map(|d| format!(" {}@{}:{}", d.code, d.place.line, d.place.column));
    judged.root.map(|root| json_line(&root)).unwrap_or_default() + &wrong.collect::<String>()
}

const GOOD: &str = r##"{"title": "it works", "task": "#7 — a task", "outcome": "done", "left": "nothing"}"##;

#[test]
fn line_ends_marks_and_noise_around_it_change_nothing() {
    let text = "Some words.\n\n## Result: it works\n\n**Task:** #7 — a task\n**Outcome:** done\n\n### Left\nnothing\n\n## Something else\nx\n";
    assert_eq!(shown(text), GOOD);
    assert_eq!(shown(&text.replace('\n', "\r\n")), GOOD);
    assert_eq!(shown(&format!("\u{feff}{text}")), GOOD);
    assert_eq!(shown(&format!("---\nfront: matter\n---\n{text}")), GOOD);
    assert_eq!(shown(&text.replace("\n**Outcome", " **Outcome")), GOOD, "two labels on one line");
    assert_eq!(
        shown(&text.replace("**Task:**", "- **task**:").replace("**Outcome:**", "- **Outcome:**")),
        GOOD,
        "as items"
    );
    assert_eq!(shown(&text.replace("nothing", "<!-- not\nthis -->\nnothing")), GOOD, "a comment says nothing");
    assert_eq!(shown(&text.replace("done", "`done`")), GOOD);
    assert_eq!(shown(&text.replace("### Left", "### 2. OUTSTANDING:")), GOOD, "another name of the section");
}

#[test]
fn what_is_wrong_has_a_place_in_the_file_as_it_is() {
    let text = "\u{feff}é\r\n\r\n## Result: it works\r\n\r\n**Task:** 7\r\n**Outcome:** dnoe\r\n\r\n### Lefft\r\nx\r\n";
    assert_eq!(
        shown(text),
        r#"{"title": "it works", "task": "7", "outcome": "dnoe"} TG0204@3:4 TG0247@5:11 TG0245@6:14 TG0206@8:1"#
    );
    assert_eq!(shown("no heading"), " TG0204@1:1");
    assert_eq!(shown("# Result: it works\n"), " TG0225@1:1");
    let twice = "## Result: a\n**Task:** #7 — a task\n**Task:** #8 — b\n**Outcome:** done\n### Left\nx\n### Left\ny\n## Result: b\n";
    let wrong = shown(twice);
    assert!(wrong.ends_with(" TG0241@3:1 TG0205@7:1 TG0205@9:1"), "{wrong}");
    let level = "## Result: a\n**Task:** #7 — a task\n**Outcome:** done\n#### Left\nx\n";
    assert!(shown(level).ends_with("\"left\": \"x\"} TG0225@4:1"), "{}", shown(level));
    let order = "## Result: a\n**Task:** #7 — a task\n**Outcome:** done\n### More\n- [x] a\n- b\n### Left\nx\n";
    assert!(shown(order).ends_with("\"more\": [\"a\", \"b\"]} TG0207@7:1"), "{}", shown(order));
}

/// Markdown takes a line right below an item for more of the item; whoever writes a label there is done with the list.
#[test]
fn a_label_right_behind_a_list_is_one() {
    let text = "## Result: a\n**Task:** #7 — a task\n**Options:**\n1. **Wait**\n   - Cost: a week\n2. Go on\n   - Cost: nothing\n**Outcome:** stuck\n\n### Left\nx\n";
    let read = r##"{"title": "a", "task": "#7 — a task", "outcome": "stuck", "options": [{"name": "Wait", "cost": "a week"}, {"name": "Go on", "cost": "nothing"}], "left": "x"}"##;
    assert_eq!(shown(text), read);
    assert_eq!(shown(&text.replace('\n', "\r\n")), read);
    assert_eq!(shown(&text.replace("**Outcome", " **Outcome")), read, "as far in as the item, or less");
    // Further in than the mark it belongs to the item.
    let inside = shown(&text.replace("**Outcome", "     **Outcome"));
    assert!(inside.contains("nothing\\n**Outcome:** stuck"), "{inside}");
    for id in ["decree.blocker", "decree.escalation"] {
        let own = crate::registry::defined(id).expect(id);
        let example = crate::defined::guide::example(&own.definition);
        let close = example.replace("\n\n**", "\n**");
        assert_ne!(close, example);
        let (apart, close) = (own.judge(&example, &Context::default()), own.judge(&close, &Context::default()));
        assert!(close.diagnostics.is_empty(), "{id}: {:?}", close.diagnostics);
        assert_eq!(close.root.map(|root| json_line(&root)), apart.root.map(|root| json_line(&root)), "{id}");
    }
}

#[test]
fn hostile_text_is_refused_or_read_in_one_pass() {
    let deep = format!("## Result: a\n{}x\n", "- ".repeat(400));
    assert_eq!(shown(&deep), " TG0200@2:1");
    let long = "**Task:** ".repeat(20_000);
    assert!(shown(&format!("## Result: a\n{long}\n")).contains("TG0241"));
}

#[test]
fn what_people_write_is_understood() {
    let text = RESULT.replace("label: Outcome", "label: What's done").replace("t.result", "t.other");
    let (definition, problems) = definition::read("t.other", &text, false);
    assert!(problems.is_empty(), "{problems:?}");
    let own = Defined { definition: definition.expect("a definition") };
    let written =
        "## Result: a\n**Task:** #7 — a task\n**What’s Done:** done\n### Left\nx\n### More\nWhat is left:\n\nNone\n";
    for text in [written.to_owned(), written.replace('’', "'"), written.replace("**What’s Done:**", "**what’s done**:")]
    {
        let judged = own.judge(&text, &Context::default());
        assert!(judged.diagnostics.is_empty(), "{text}: {:?}", judged.diagnostics);
        let root = judged.root.expect("a document");
        assert!(root.get("more").and_then(|more| more.list()).is_some_and(<[_]>::is_empty), "{text}");
    }
    let some = written.replace("None", "Nothing but this");
    assert!(
        own.judge(&some, &Context::default())
            .diagnostics
            .iter()
            .any(|one| one.code == tollgate_core::code::Code::FIELD_KIND)
    );
}

#[test]
fn what_would_be_read_as_another_label_is_not_written() {
    let own = crate::registry::defined("decree.blocker").unwrap();
    let mut document: serde_json::Value =
        serde_json::from_str(&crate::tree::json_line(&own.definition.example)).unwrap();
    document["description"] = "**Type:** x".into();
    let why = own.write(&crate::tree::from_json(&document)).unwrap_err();
    assert!(why.contains("`Type:` is there twice"), "{why}");
}

/// What a contract says of a text.
fn told(id: &str, text: &str) -> Vec<String> {
    let own = crate::registry::defined(id).expect(id);
    let judged = own.judge(text, &Context::default()).diagnostics;
    judged.iter().map(|d| format!("{:?} {}:{}", d.severity, d.place.line, d.code)).collect()
}

fn example(id: &str) -> String {
    crate::defined::guide::example(&crate::registry::defined(id).expect(id).definition)
}

/// An unknown section refuses an acceptance wherever it is: in the document, after it, or after many others.
#[test]
fn an_unknown_section_refuses_an_acceptance_wherever_it_is() {
    for id in ["decree.review-approval", "decree.reviewer-result"] {
        let report = example(id);
        let line = report.lines().count() + 2;
        for level in ["###", "##", "#"] {
            assert_eq!(
                told(id, &format!("{report}\n{level} Notes\n\nx\n")),
                [format!("Error {line}:TG0206")],
                "{id} {level}"
            );
        }
        let above = report.replacen("\n### ", "\n#### Notes\n\nx\n\n### ", 1);
        let at = above.lines().position(|line| line == "#### Notes").map_or(0, |at| at + 1);
        assert_eq!(told(id, &above), [format!("Error {at}:TG0206")], "{id}");
        // A second document is one mistake.
        let second = format!("{report}\n## Blocker: x\n\nx\n\n## More\n\ny\n");
        let read = crate::registry::report_dialect(id).expect(id).read(&second, &Context::default());
        let codes: Vec<_> = read.diagnostics.iter().map(|one| one.code).collect();
        assert_eq!(codes, [tollgate_core::code::Code::SECOND_DOCUMENT], "{id}");
    }
    let many: String = (0..5000).map(|at| format!("\n### Notes {at}\n\nx\n")).collect();
    let all = told("decree.review-approval", &format!("{}{many}", example("decree.review-approval")));
    assert_eq!(all.iter().filter(|one| one.starts_with("Error")).count(), 50);
    // A heading inside of a section's text is content.
    let deeper = format!("{}\n#### Notes\n\nx\n", example("decree.review-approval"));
    assert_eq!(told("decree.review-approval", &deeper), [""; 0]);
}
