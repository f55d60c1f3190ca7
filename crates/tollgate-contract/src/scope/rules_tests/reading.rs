//! How tasks and corrections are read, and what a person is given to post.

use super::*;
use crate::registry::defined;
use crate::scope::blocker::{Draft, called_for, write};
use crate::{Context, ReportDialect};
use tollgate_core::diagnostic::Severity;

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
        shown(&task(&["src/a.js", "/etc/passwd"], &["the page"])),
        [
            "17:3 TG0235 the path `/etc/passwd` begins with `/`, and paths are relative to the repository",
            "23:3 TG0235 `the page` does not begin with a path",
        ]
    );
    assert_eq!(
        shown(&task(&["src/a.js"], &["src/a.js (owned by #3)"])),
        ["16:3 TG0235 `src/a.js` is both in scope and out of scope"]
    );
    assert_eq!(shown(&task(&["src/\n  - except: auth.js"], &[])), ["16:3 TG0235 `auth.js` is not inside `src/`"]);
    assert_eq!(shown(&task(&["src/\n  - cart.js"], &[])), ["16:3 TG0235 `cart.js` below `src/` is not an `except:`"]);
    let many: Vec<String> = (0..1_001).map(|at| format!("src/{at}.js")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(shown(&task(&many, &[])), ["1016:3 TG0235 the list has more than 1000 items"]);
    assert_eq!(shown(&task(&[], &[]))[0], "14:1 TG0246 the section `In Scope` is empty");
    assert!(wrong("All done.").iter().all(|one| one.severity == Severity::Error));
}

#[test]
fn an_item_that_excludes_no_file_is_named() {
    let (task, _) = TaskScope::read(&task(&["src/cart.js"], &["auth.js", "src/", "lib/*.js", "src/a.js/"])).unwrap();
    let idle = |files: &[&str]| -> Vec<String> {
        let files = files.iter().copied().collect();
        task.excludes_nothing(&files).into_iter().map(|one| format!("{} {}", one.place.line, one.message)).collect()
    };
    assert_eq!(
        idle(&["src/auth.js", "lib/a/b.js", "src/a.js"]),
        [
            "22 `auth.js` excludes nothing: no file has this path",
            "24 `lib/*.js` excludes nothing: no file has this path"
        ]
    );
    assert_eq!(idle(&["auth.js", "lib/a.js", "src/a.js"]), [""; 0]);
}

#[test]
fn a_correction_names_one_file_first() {
    for actual in
        ["`src/a.js`, `src/b.js`", "src/a.js, src/b.js", "the handler in `src/a.js`", "`src/a.js:12`", "~~`src/a.js`~~"]
    {
        let (found, problems) = corrections(&BODY.replace("`src/checkout/cart.js`", actual));
        assert_eq!((found.len(), problems.len(), problems[0].code.as_str()), (0, 1, "TG0247"), "{actual}");
        assert_eq!(problems[0].place, Place { line: 6, column: 1 }, "{actual}");
        assert!(problems[0].message.ends_with("; this correction does not count"), "{}", problems[0].message);
    }
    let (found, _) = corrections(&BODY.replace("`src/checkout/cart.js`", "`docs/My File.md` (was `src/cart.js`)"));
    assert_eq!(found.iter().map(|one| one.actual.as_str()).collect::<Vec<_>>(), ["docs/My File.md"]);
}

#[test]
fn a_correction_under_another_heading_is_named() {
    for heading in ["### Scope correction", "# Scope Correction", "Scope correction\n---"] {
        let (found, problems) = corrections(&BODY.replace("## Scope correction", heading));
        assert_eq!(found, [], "{heading}");
        let shown: Vec<_> =
            problems.iter().map(|one| (one.place.line, one.code.as_str(), one.message.as_str())).collect();
        let message = "`Scope correction` is not a heading of level two here; this correction does not count";
        assert_eq!(shown, [(5, "TG0225", message)], "{heading}");
        assert_eq!(problems[0].severity, Severity::Warning);
    }
}

#[test]
fn several_corrections_may_be_in_one_body_in_any_line_ends() {
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
    let many = format!(
        "## Scope correction\n{}",
        "- **Listed:** a.js\n- **Actual:** b.js\n- **Reason:** c\n".repeat(crate::proptest_cases::size(1_000, 10_000))
    );
    let (found, problems) = corrections(&many);
    assert_eq!((found.len(), problems.len()), (100, 1));
    let (found, problems) = corrections(&"x".repeat(2 << 20));
    assert_eq!((found.len(), problems[0].code.as_str()), (0, "TG0200"));
}

#[test]
fn drafts_meet_their_contracts() {
    let mut rules = rules(&["src/cart.js"], &["src/auth.js (owned by #12)"]);
    rules.corrections = corrections(&BODY.replace("src/checkout/cart.js", "src/auth.js")).0;
    let made: Vec<Made> =
        vec![made("src/auth.js", EDIT), made("src/b`a\"c.js", GROWS), made("## Blocker: x.js", GROWS)];
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
