//! How tasks and corrections are read, and what a person is given to post.

use super::*;
use crate::contract::registry::defined;
use crate::contract::{Context, ReportDialect};
use crate::diagnostic::Severity;
use crate::scope::draft::{Draft, called_for, write};
use crate::scope::task::paths_of;

#[test]
fn an_item_names_its_path_however_it_is_written() {
    for (item, paths) in [
        ("src/cart.js", &["src/cart.js"][..]),
        ("`src/cart.js`", &["src/cart.js"]),
        ("`src/a.ts`, `src/b.ts` and `c d.ts` — not `src/x.ts`", &["src/a.ts", "src/b.ts", "c d.ts"]),
        ("`` a`b.ts ``", &["a`b.ts"]),
        ("src/auth.js (owned by #12)", &["src/auth.js"]),
        ("src/auth.js — the handler", &["src/auth.js"]),
        ("src/auth.js: the handler", &["src/auth.js"]),
        ("src/a.ts, src/b.ts, and more", &["src/a.ts", "src/b.ts"]),
        ("src/a.ts, the handler", &["src/a.ts"]),
        ("docs/My File.md", &["docs/My File.md", "docs/My"]),
        ("\"docs/My File.md\" (new)", &["docs/My File.md"]),
        ("\"a\\012b\"", &["\"a\\012b\""]),
        ("[src/cart.js](../src/cart.js)", &["src/cart.js"]),
        ("**src/cart.js**", &["src/cart.js"]),
        ("**src/cart.js** (the page)", &["src/cart.js"]),
        ("**", &["**"]),
        ("**/*.ts", &["**/*.ts"]),
        ("**/cart/**", &["**/cart/**"]),
    ] {
        assert_eq!(paths_of(item), paths, "{item}");
    }
}

#[test]
fn a_task_that_is_no_task_is_refused_where_it_is_wrong() {
    let wrong = |text: &str| TaskScope::read(text).unwrap_err();
    let shown = |text: &str| -> Vec<String> {
        wrong(text)
            .iter()
            .map(|one| format!("{}:{} {} {}", one.place.line, one.place.column, one.code, one.message))
            .collect()
    };
    assert_eq!(
        shown(&task(&["src/a.js", "/etc/passwd"], &[])),
        ["17:3 TG0235 the path `/etc/passwd` begins with `/`, and paths are relative to the repository"]
    );
    assert_eq!(shown(&task(&["../x"], &[])), ["16:3 TG0235 the path `../x` leads out of the repository"]);
    assert_eq!(
        shown(&task(&["src/a.js"], &["src/a.js (owned by #3)"])),
        ["16:3 TG0235 `src/a.js` is in scope and out of scope"]
    );
    assert_eq!(shown(&task(&[], &[]))[0], "14:1 TG0246 the section `In Scope` is empty");
    assert!(wrong("All done.").iter().all(|one| one.severity == Severity::Error));
}

#[test]
fn an_item_that_names_no_path_is_named() {
    let warned = |listed: &[&str], excluded: &[&str]| -> Vec<String> {
        let (_, warnings) = TaskScope::read(&task(listed, excluded)).unwrap();
        assert!(warnings.iter().all(|one| one.severity == Severity::Warning));
        warnings
            .iter()
            .map(|one| format!("{}:{} {} {}", one.place.line, one.place.column, one.code, one.message))
            .collect()
    };
    let line = "a scope holds whole files, without the number of a line";
    for (item, why) in [
        ("src/cart.ts:12", line),
        ("src/cart.ts:12-30", line),
        ("[cart](src/cart.ts)", "a link is read by its words"),
        ("the cart module (src/cart.ts)", "these words are no path; a path comes first, a remark after it"),
    ] {
        assert_eq!(warned(&["src/a.js", item], &[]), [format!("17:3 TG0235 `{item}` names no path: {why}")]);
    }
    assert_eq!(warned(&["src/a.js"], &["src/auth.ts:3"]).len(), 1);
    let fine =
        ["src/a.js", "Makefile", "src", "`Dockerfile dev` (new)", "docs/My File.md", "[src/b.js](../src/b.js)", "**"];
    assert_eq!(warned(&fine, &["anything about payments"]), [""; 0]);
}

#[test]
fn a_correction_under_another_heading_is_named() {
    for heading in ["### Scope correction", "# Scope Correction", "Scope correction\n---"] {
        let (found, problems) = corrections(&BODY.replace("## Scope correction", heading));
        assert_eq!(found, [], "{heading}");
        let shown: Vec<_> =
            problems.iter().map(|one| (one.place.line, one.code.as_str(), one.message.as_str())).collect();
        let message = "`Scope correction` is no heading of level two here; this correction does not count";
        assert_eq!(shown, [(5, "TG0225", message)], "{heading}");
        assert_eq!(problems[0].severity, Severity::Warning);
    }
}

#[test]
fn several_corrections_stand_in_one_body_in_any_line_ends() {
    let two = "\n- **Listed:** b.js\n- **Actual:** c.js\n- **Reason:** moved\n";
    let body = format!("# Title\n{BODY}{two}\n## Testing\n- none\n");
    for body in [body.clone(), body.replace('\n', "\r\n"), format!("\u{feff}{body}")] {
        let (found, problems) = corrections(&body);
        let shown: Vec<_> = found
            .iter()
            .map(|one| (one.listed.as_str(), one.actual.as_str(), one.reason.as_str(), one.place.line))
            .collect();
        assert_eq!(
            shown,
            [("src/cart.js", "src/checkout/cart.js", "the handler lives there", 7), ("b.js", "c.js", "moved", 11)]
        );
        assert_eq!(problems, []);
    }
}

#[test]
fn a_correction_without_its_parts_is_not_one() {
    let (found, problems) = corrections(&BODY.replace("- **Reason:** the handler lives there\n", ""));
    assert_eq!(found, []);
    let shown: Vec<_> = problems.iter().map(|one| (one.place.line, one.code.as_str(), one.message.as_str())).collect();
    assert_eq!(shown, [(5, "TG0242", "`Reason:` is missing; this correction does not count")]);
    let fenced = format!("```\n{BODY}```\n");
    assert_eq!(corrections(&fenced), (vec![], vec![]));
    assert_eq!(corrections("## Scope correction\n\nThe list was wrong, I used another file.\n").0, []);
    assert!(!corrections("## Scope correction\n\nThe list was wrong.\n").1.is_empty());
}

#[test]
fn hostile_bodies_are_bounded() {
    let many = format!("## Scope correction\n{}", "- **Listed:** a\n- **Actual:** b\n- **Reason:** c\n".repeat(20_000));
    let (found, problems) = corrections(&many);
    assert_eq!((found.len(), problems.len()), (100, 1));
    let (found, problems) = corrections(&"x".repeat(2 << 20));
    assert_eq!((found.len(), problems[0].code.as_str()), (0, "TG0200"));
}

#[test]
fn drafts_meet_their_contracts() {
    let mut rules = rules(&["src/cart.js"], &["src/auth.js (owned by #12)"]);
    rules.corrections = corrections(&BODY.replace("src/checkout/cart.js", "src/auth.js")).0;
    let made: Vec<Made> = vec![made("src/auth.js", EDIT), made("src/b`a\"c.js", EDIT), made("## Blocker: x", EDIT)];
    let changes = changes(&made);
    let sorted = rules.sort(&changes);
    let drafts = called_for(&sorted, &rules.corrected());
    assert_eq!(drafts, [Draft::SpecGap, Draft::Escalation]);
    for draft in [Draft::SpecGap, Draft::Blocker, Draft::Escalation] {
        let text = write(draft, &rules, &sorted).unwrap();
        let reading = ReportDialect::read(defined(draft.contract()).unwrap(), &text, &Context::default());
        assert_eq!(reading.diagnostics, [], "{text}");
        assert!(text.contains(draft.kind()) && text.contains("src/auth.js"), "{text}");
    }
    assert_eq!(called_for(&sorted, &[]), [Draft::Blocker, Draft::Escalation]);
    let alone = rules.sort(&changes[..1]);
    assert_eq!(called_for(&alone, &rules.corrected()), [Draft::SpecGap]);
    assert_eq!(called_for(&rules.sort(&[]), &[]), []);
}
