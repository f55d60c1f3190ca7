//! What Markdown really looks like: every line end, nested code, look-alikes, comments.

use crate::Context;
use crate::defined::Defined;
use crate::defined::definition;
use crate::tree::json_line;

const RESULT: &str = "contract: t.result
version: 1
purpose: A test.
form: markdown
heading: \"## Result: {title}\"
fields:
  title: {text: {}, head: true}
  task: {text: {like: \"#{count} — {text}\"}, label: Task}
  outcome: {one_of: [done, stuck], label: Outcome}
  options:
    optional: true
    label: Options
    list:
      items: numbers
      of:
        labels: bullets
        record:
          name: {text: {}, head: true}
          cost: {text: {}, label: Cost}
  left: {text: {}, section: [Left, Outstanding]}
  more: {list: {of: text, items: checks}, section: More, optional: true}
example: {title: a, task: \"#1 — b\", outcome: done, left: c}
";

fn result() -> Defined {
    let (definition, problems) = definition::read("t.result", RESULT, false);
    assert!(problems.is_empty(), "{problems:?}");
    Defined { definition: definition.expect("a definition") }
}

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
fn look_alikes_are_content() {
    let fence = "## Result: it works\n**Task:** #7 — a task\n**Outcome:** done\n### Left\n````\n```\n### Left\n**Task:** no\n```\n````\n";
    assert_eq!(
        shown(fence),
        r##"{"title": "it works", "task": "#7 — a task", "outcome": "done", "left": "````\n```\n### Left\n**Task:** no\n```\n````"}"##
    );
    let quoted = "> ## Result: no\n\n## Result: it works\n> **Task:** no\n\n**Task:** #7 — a task\n**Outcome:** done\n### Left\nnothing\n";
    assert_eq!(shown(quoted), GOOD);
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

#[test]
fn what_says_nothing_is_told_where_it_says_it() {
    let text = "## Result: a\n**Task:**\n**Outcome:** done\n\n### Left\n\n### More\n- [ ] a\n- [ ]\n- [ ] c\n";
    assert!(shown(text).ends_with(" TG0246@2:1 TG0246@5:1 TG0246@9:1"), "{}", shown(text));
    let text = "## Result: a\n**Task:** #7 — a task **Outcome:**\n\n### Left\nx\n";
    assert!(shown(text).ends_with(" TG0245@2:23"), "{}", shown(text));
    let text = "## Result: a\n**Task:** #7 — a task\n**Outcome:** stuck\n**Options:**\n\n1.\n2. b\n   - Cost:\n\n### Left\nx\n";
    assert!(shown(text).ends_with(" TG0242@6:1 TG0242@6:1 TG0246@8:4"), "{}", shown(text));
}

#[test]
fn items_hold_records() {
    let text = "## Result: a\n**Task:** #7 — a task\n**Outcome:** stuck\n\n**Options:**\n\n1. **Wait**\n   - Cost: a week,\n     or two\n2. Go on\n   - **Cost:** nothing\n\n### Left\nx\n";
    assert!(
        shown(text).contains(
            r#""options": [{"name": "Wait", "cost": "a week,\nor two"}, {"name": "Go on", "cost": "nothing"}]"#
        ),
        "{}",
        shown(text)
    );
    assert!(shown(&text.replace("   - Cost: a week,\n     or two\n", "")).ends_with(" TG0242@7:4"));
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

/// The formats as their source writes them.
#[test]
fn templates_are_read_as_they_are_written() {
    let read = |contract: &str, text: &str| {
        let own = crate::registry::defined(contract).expect(contract);
        let judged = own.judge(text, &Context::default());
        assert!(judged.diagnostics.is_empty(), "{contract}: {:?}", judged.diagnostics);
        json_line(&judged.root.expect("a document"))
    };
    assert_eq!(
        read(
            "decree.validation-failure",
            "## Validation Failure\n\n**Check:** the spec **Expected:** approved **Actual:** draft\n\nCannot proceed until this is resolved.\n"
        ),
        r#"{"check": "the spec", "expected": "approved", "actual": "draft"}"#
    );
    assert_eq!(
        read(
            "decree.review-rejection",
            "## Review: Needs Changes\n\n### Findings\n\n#### Code Quality\n\n- **What:** a.rs, line 3 **Why:** reference to\n  convention **Fix:** rename\n- **What:** b **Why:** c\n  **Fix:** d\n\n### Warnings\n\nNone\n"
        ),
        concat!(
            r#"{"categories": [{"category": "Code Quality", "findings": [{"what": "a.rs, line 3", "why": "reference to\nconvention", "fix": "rename"}, "#,
            r#"{"what": "b", "why": "c", "fix": "d"}]}], "warnings": "None"}"#
        )
    );
    assert_eq!(
        read(
            "decree.task-issue",
            "## Objective\n\nOne sentence.\n\n## Spec Reference\n\n- Spec: `docs/specs/a.md`\n- Section(s): B\n\n## Scope\n\n### In Scope\n\nFiles/modules this task may touch:\n\n- a.ts\n- a.test.ts\n\n### Out of Scope\n\nFiles/modules explicitly excluded:\n\n- b.ts (owned by #3)\n\n## Acceptance Criteria\n\n- [ ] One\n- [x] Two\n\n## Context\n\nNothing.\n\n## Constraints\n\nNone.\n"
        ),
        concat!(
            r#"{"objective": "One sentence.", "spec_reference": {"spec": "`docs/specs/a.md`", "sections": "B"}, "scope": {"in_scope": ["a.ts", "a.test.ts"], "#,
            r#""out_of_scope": ["b.ts (owned by #3)"]}, "acceptance_criteria": ["One", "Two"], "context": "Nothing.", "constraints": "None."}"#
        )
    );
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
fn a_quote_that_is_not_closed_hides_no_label() {
    let own = crate::registry::defined("decree.validation-failure").unwrap();
    let text = "## Validation Failure\n\n**Check:** the ` sign **Expected:** none **Actual:** one\n\nCannot proceed until this is resolved.\n";
    let judged = own.judge(text, &Context::default());
    assert!(judged.diagnostics.is_empty(), "{:?}", judged.diagnostics);
    let quoted = text.replace("sign **Expected:** none", "sign **Expected:** none` here");
    assert_eq!(own.judge(&quoted, &Context::default()).diagnostics.len(), 1, "it is an example");
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

#[test]
fn a_fence_that_never_ends_is_named_instead_of_what_it_swallowed() {
    let text = "## Result: it works\n\n**Task:** #7 — a task\n**Outcome:** done\n\n```\n$ test\n\n### Left\nnothing\n";
    let told = |text: &str| shown(text).split_once("} ").map(|(_, told)| told.to_owned()).unwrap_or_default();
    for sign in ["```", "~~~"] {
        assert_eq!(told(&text.replace("```", sign)), "TG0208@6:1", "{sign}");
    }
    assert_eq!(shown(&format!("Log:\n\n~~~\nx\n{text}")), " TG0208@3:1", "before the heading");
    let ended =
        "## Result: it works\n\n**Task:** #7 — a task\n**Outcome:** done\n\n### Left\nnothing\n\n```\n### More\n";
    assert_eq!(told(ended), "TG0208@9:1", "a section that need not be there");
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

/// What belongs to no field is told, with its place.
#[test]
fn no_text_beside_a_list_is_lost() {
    let rejection = example("decree.review-rejection");
    let finding = rejection.lines().find(|line| line.starts_with("- **What")).expect("a finding");
    let (with, category) = (|beside: &str| rejection.replace(finding, beside), "#### Acceptance Criteria");
    for (beside, expected) in [
        (format!("{finding}\n\nAlso src/auth.js stores the password."), "Error 9:TG0224"),
        (format!("{finding}\n\nAlso this.\n\n{finding}"), "Error 9:TG0224"),
        (format!("{finding}\n\n| What | Why |\n|---|---|\n| a | b |"), "Error 9:TG0224"),
        (format!("{finding}\n\n##### More\n\nAlso this."), "Error 9:TG0224"),
        (format!("{}\n\n{finding}", finding.trim_start_matches("- ")), "Error 7:TG0224"),
        (finding.replace("- **What", "- [major] **What"), "Warning 7:TG0224"),
    ] {
        assert_eq!(told("decree.review-rejection", &with(&beside)), [expected], "{beside}");
    }
    for beside in [
        format!("Two things were found:\n\n{finding}"),
        format!("Two things were found.\n\n{finding}"),
        format!("**Found:**\n\n{finding}"),
        format!("{finding}\n\n  Also this."),
        format!("{finding}\n<!-- Also this. -->"),
        format!("{finding}\n\n---"),
        format!("<details>\n\n{finding}\n\n</details>"),
    ] {
        assert_eq!(told("decree.review-rejection", &with(&beside)), [""; 0], "{beside}");
    }
    for (before, expected) in [
        (format!("{finding}\n\n{category}"), "Error 5:TG0224"),
        (format!("{}\n\n{category}", finding.trim_start_matches("- ")), "Error 5:TG0224"),
    ] {
        assert_eq!(told("decree.review-rejection", &rejection.replace(category, &before)), [expected], "{before}");
    }
    let task = example("decree.task-issue").replace("## Context", "It must load within a second.\n\n## Context");
    assert_eq!(told("decree.task-issue", &task).len(), 1, "{task}");
    let approval = example("decree.review-approval");
    let said = approval.replace("### Checklist", "**Verdict:** needs-changes\n\n### Checklist");
    assert_eq!(told("decree.review-approval", &said), ["Warning 3:TG0224"]);
}

/// A finding that stands where no field reads it is told, and read where its place is clear.
#[test]
fn items_outside_of_their_section_are_told() {
    let (id, rejection) = ("decree.review-rejection", example("decree.review-rejection"));
    let finding = "- **What:** a lock **Why:** It hangs. **Fix:** Take it once.\n";
    let above = rejection.replace("### Findings\n", &format!("{finding}\n### Findings\n"));
    assert_eq!(told(id, &above), ["Error 3:TG0224"], "{above}");
    let high = rejection.replace("### Warnings\n", &format!("### Locks\n\n{finding}\n### Warnings\n"));
    assert_eq!(told(id, &high), ["Error 9:TG0225"], "{high}");
    let all = rejection.replace("#### Acceptance", "### Acceptance");
    assert_eq!(told(id, &all), ["Error 5:TG0225"], "{all}");
    let other = rejection.replace("### Warnings\n", "### Thanks\n\nA good start.\n\n### Warnings\n");
    assert_eq!(told(id, &other), ["Warning 9:TG0206"], "{other}");
}

/// One mistake is one error: parts of a section that are a level too high.
#[test]
fn a_part_in_another_form_is_one_mistake() {
    let (id, issue) = ("decree.task-issue", example("decree.task-issue"));
    let high = issue.replace("### ", "## ");
    assert_eq!(told(id, &high), ["Error 12:TG0225", "Error 17:TG0225"], "{high}");
    let one = issue.replace("### Out", "## Out");
    assert_eq!(told(id, &one), ["Error 17:TG0225"], "{one}");
    let twice = issue.replace("## Context", "## In Scope\n\n- src/all.js\n\n## Context");
    assert_eq!(told(id, &twice).len(), 1, "{twice}");
}

/// A fence that never ends is where the document was cut off, whatever is missing.
#[test]
fn a_fence_that_never_ends_is_told_in_the_last_section() {
    for id in ["decree.review-approval", "decree.reviewer-result", "decree.blocker", "team.spec"] {
        let report = example(id);
        let line = report.lines().count() + 2;
        let text = format!("{report}\n```\ncart.test.js\n  shows the total\n");
        assert_eq!(told(id, &text), [format!("Error {line}:TG0208")], "{text}");
        assert_eq!(told(id, &format!("{report}\n```\ncart.test.js\n```\n")), [""; 0], "{id}");
    }
}

/// A heading names a group of a checklist; in another list it may say anything of what follows.
#[test]
fn a_checklist_has_groups() {
    let (id, issue) = ("decree.task-issue", example("decree.task-issue"));
    let groups = issue
        .replace("- [ ] The page", "### Page\n\n- [ ] The page")
        .replace("- [ ] Test", "\n### Tests\n\n- [ ] Test");
    assert_eq!(told(id, &groups), [""; 0], "{groups}");
    let behind = issue.replace("## Context", "### More\n\n## Context");
    assert_eq!(told(id, &behind), ["Error 26:TG0224"], "{behind}");
    let scope = issue.replace("- src/cart.test.js", "\n#### Later\n\n- src/cart.test.js");
    assert_eq!(told(id, &scope), ["Error 16:TG0224"], "{scope}");
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
