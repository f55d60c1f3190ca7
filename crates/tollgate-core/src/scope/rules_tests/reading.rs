//! How tasks and corrections are read, and what a person is given to post.

use super::*;
use crate::contract::registry::defined;
use crate::contract::{Context, ReportDialect};
use crate::diagnostic::Severity;
use crate::scope::draft::{Draft, called_for, write};
use crate::scope::item::paths_of;

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
        ("src/a.ts and src/b.ts", &["src/a.ts and src/b.ts", "src/a.ts", "src/b.ts"]),
        ("src/a.ts, src/b.ts and src/c/ (new)", &["src/a.ts", "src/b.ts", "src/c/"]),
        ("src/a.ts, src/b.ts, and src/c.ts", &["src/a.ts", "src/b.ts", "src/c.ts"]),
        ("src/a.ts and the page", &["src/a.ts and the page", "src/a.ts"]),
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
        ("Modify src/cart.ts", "these words are no path; a path comes first, a remark after it"),
        ("The page.", "these words are no path; a path comes first, a remark after it"),
    ] {
        assert_eq!(warned(&["src/a.js", item], &[]), [format!("17:3 TG0235 `{item}` names no path: {why}")]);
    }
    assert_eq!(warned(&["src/a.js"], &["src/auth.ts:3"]).len(), 1);
    let fine = [
        "src/a.js",
        "Makefile",
        "src",
        "`Dockerfile dev` (new)",
        "docs/My File.md",
        "[src/b.js](../src/b.js)",
        "**",
        "src/c.js.",
    ];
    assert_eq!(warned(&fine, &["Payments"]), [""; 0]);
    assert_eq!(
        warned(&["src/a.js"], &["anything about payments"]),
        ["22:3 TG0235 `anything about payments` names no path: these words are no path, and exclude nothing"]
    );
    assert_eq!(warned(&["src/a.js", "Modify: src/cart.js"], &[]).len(), 1);
    // Which part of a file is meant, nobody measures.
    assert_eq!(
        warned(&["src/a.js"], &["Discounts in `src/a.js`"]),
        ["22:3 TG0235 `Discounts in `src/a.js`` names `src/a.js`, which is in scope: it stays so"]
    );
    assert_eq!(warned(&["src/a.js"], &["Everything outside `src/a.js`"]), [""; 0]);
    assert_eq!(
        warned(&["src/a.js"], &["All but src/b.js"]),
        ["22:3 TG0235 `All but src/b.js` does not exclude `src/b.js`"]
    );
}

#[test]
fn what_words_exclude_is_out_of_scope() {
    for item in [
        "Changes to `src/auth.js` (owned by #12)",
        "Authentication (`src/auth.js`)",
        "Auth: src/auth.js",
        "Do not touch `src/auth.js`",
        "No changes in src/auth.js.",
        "**Auth** — `src/auth.js`",
        "The login function in `src/auth.js`",
        "`src/session.js` and also `src/auth.js`",
        "Auth:\n  - src/auth.js",
        "Auth (see below)\n  - the file `src/auth.js`",
        "src/ except src/a.js",
        "Anything like src/auth*",
    ] {
        let (task, _) = TaskScope::read(&task(&["src/**", "src/a.js"], &[item])).unwrap();
        let rules = Rules { task, ..Rules::default() };
        let made = [made("src/a.js", EDIT), made("src/auth.js", EDIT)];
        assert_eq!(classes(&rules, &made), ["primary src/a.js", "out of scope src/auth.js"], "{item}");
    }
    // A remark behind a path excludes nothing more, and neither does what stays.
    for item in ["src/b.js (see src/auth.js)", "`src/b.js`: use `src/auth.js`", "Anything other than `src/auth.js`"] {
        let (task, _) = TaskScope::read(&task(&["src/"], &[item])).unwrap();
        let rules = Rules { task, ..Rules::default() };
        assert_eq!(classes(&rules, &[made("src/auth.js", EDIT)]), ["primary src/auth.js"], "{item}");
    }
}

#[test]
fn words_of_an_exception_do_not_exclude_the_test_that_they_name() {
    let sorted = |item: &str| {
        let (task, _) = TaskScope::read(&task(&["src/cart.js"], &[item])).unwrap();
        let rules = Rules { task, ..Rules::default() };
        classes(&rules, &[made("src/cart.js", EDIT), made("src/cart.test.js", EDIT)]).join(", ")
    };
    for item in ["New tests beyond `src/cart.test.js`", "Any file not named `src/cart.test.js`"] {
        assert_eq!(sorted(item), "primary src/cart.js, co-located test src/cart.test.js", "{item}");
    }
    // Whether `only` lets it be changed, or alone excludes it, is for a person.
    let item = "Other modules (only `src/cart.test.js` may change)";
    assert_eq!(sorted(item), "primary src/cart.js, incidental? src/cart.test.js");
    assert_eq!(sorted("Only src/cart.test.js"), "primary src/cart.js, out of scope src/cart.test.js");
}

#[test]
fn what_words_take_out_of_a_folder_is_not_listed() {
    let sorted = |item: &str| {
        let (task, _) = TaskScope::read(&task(&[item], &[])).unwrap();
        let rules = Rules { task, ..Rules::default() };
        let made = [made("src/app.js", EDIT), made("src/cart.js", EDIT)];
        classes(&rules, &made).join(", ")
    };
    for item in [
        "src/** (except src/app.js)",
        "src/ (except app.js)",
        "src/*.js, but not src/app.js",
        "src/ — everything but app.js",
        "src/ (not src/app.js)",
        "src/**/*.js excluding `src/app.js`",
        "`src/` without `app.js`",
        "src/ except:\n  - app.js",
    ] {
        assert_eq!(sorted(item), "primary src/cart.js, out of scope src/app.js", "{item}");
    }
    for item in
        ["src/ (only src/cart.js)", "src/, only `cart.js`", "src/\n  - src/cart.js", "src/\n  - `cart.js`: the total"]
    {
        assert_eq!(sorted(item), "primary src/cart.js, incidental? src/app.js", "{item}");
    }
    for item in ["src/ (except the page)", "src/** (only what the total needs)"] {
        assert_eq!(sorted(item), "incidental? src/app.js, incidental? src/cart.js", "{item}");
    }
    for item in ["src/ (does not exist yet)", "src/ — the only place of totals", "src/ only"] {
        assert_eq!(sorted(item), "primary src/app.js, primary src/cart.js", "{item}");
    }
    for item in [
        "Create `src/cart.js`",
        "Modify: `src/cart.js`",
        "Cart total in `src/cart.js`",
        "Add `total()` to `src/cart.js`",
        "Cart:\n  - src/cart.js",
        "src/cart.js (only the total function)",
        "src/cart.js\n  - the total\n  - no rounding",
        "src/cart.js — wrapped,\n  not much",
        "(new) src/cart.js",
        "[new] src/cart.js",
        "(new) `src/cart.js`",
    ] {
        assert_eq!(sorted(item), "primary src/cart.js, out of scope src/app.js", "{item}");
    }
    for item in ["src/cart.js and src/app.js", "src/cart.js & src/app.js (new)"] {
        assert_eq!(sorted(item), "primary src/app.js, primary src/cart.js", "{item}");
    }
}

/// Classes of `src/auth.js` and `src/cart.js` by items of In Scope, and how many warnings there are.
fn listed_by(items: &[&str]) -> (String, usize) {
    let (task, warnings) = TaskScope::read(&task(items, &[])).unwrap_or_else(|wrong| panic!("{items:?}: {wrong:?}"));
    let rules = Rules { task, ..Rules::default() };
    // An import that a change in scope needs: by its lines alone it is incidental.
    let made = [
        made("src/auth.js", "+import { total } from './cart';"),
        made("src/cart.js", "+export function total() {\n+}"),
    ];
    (classes(&rules, &made).join(", "), warnings.len())
}

#[test]
fn an_item_that_refuses_a_change_lists_nothing() {
    let mut odd = Vec::new();
    for item in [
        "No changes to `src/auth.js`",
        "No changes to src/auth.js",
        "`src/auth.js` must stay unchanged",
        "src/auth.js must stay unchanged",
        "`src/auth.js` (reference only, do not modify)",
        "src/auth.js (read only)",
        "src/auth.js (read-only)",
        "src/auth.js — read-only for now",
        "(read only) src/auth.js",
        "[do not edit] src/auth.js",
        "Avoid `src/auth.js`",
        "Avoid: `src/auth.js`",
        "Reads `src/auth.js`",
        "Only read `src/auth.js`",
        "Reference: `src/auth.js`",
        "See `src/auth.js`",
        "Leave `src/auth.js` alone",
        "Leave src/auth.js as it is",
        "Keep `src/auth.js` as is",
        "Please never change `src/auth.js`",
        "Don't modify `src/auth.js`",
        "Don’t modify `src/auth.js`",
        "`src/auth.js` must not be changed",
        "`src/auth.js` cannot be touched in this task",
        "`src/auth.js` should not change",
        "`src/auth.js`: do not touch",
        "`src/auth.js`: do not touch this file",
        "`src/auth.js` - do not change it",
        "`src/auth.js` - no changes",
        "`src/auth.js` - no changes to the file",
        "`src/auth.js` - generated, do not edit by hand",
        "`src/auth.js` is not in scope",
        "`src/auth.js` is out of scope",
        "`src/auth.js` is off limits",
        "`src/auth.js` (off-limits)",
        "`src/auth.js` stays untouched",
        "`src/auth.js` (unchanged)",
        "`src/auth.js` (frozen)",
        "`src/auth.js` (forbidden)",
        "`src/auth.js` must stay.",
        "`src/auth.js` (only for reference)",
        "`src/auth.js` (for reference)",
        "`src/auth.js` (leave alone)",
        "`src/auth.js` (reference)",
        "`src/auth.js`\n  - do not modify",
        "Auth stays untouched: `src/auth.js`",
        "Auth (read only):\n  - `src/auth.js` (read only)",
        "Do not touch:\n  - src/auth.js",
        "Not:\n  - src/auth.js",
        "Out:\n  - src/auth.js",
        "Reference:\n  - `src/auth.js`",
        "Depends on\n  - src/auth.js",
        "See also:\n  - `src/auth.js`",
        "Auth:\n  - Do not touch:\n    - `src/auth.js`",
    ] {
        // Also where another item lists the folder, or the file itself.
        for others in [&["src/cart.js"][..], &["src/"], &["src/cart.js", "src/auth.js"]] {
            let found = listed_by(&[others, &[item]].concat());
            if (&*found.0, found.1) != ("primary src/cart.js, incidental? src/auth.js", 1) {
                odd.push((item, others, found));
            }
        }
    }
    assert!(odd.is_empty(), "{odd:#?}");
    for item in [
        "src/** (leave auth.js alone)",
        "src/ — never touch src/auth.js",
        "src/ (`auth.js` is read only)",
        "src/\n  - cart.js\n  - auth.js (read only)",
        "src/cart.js (but do not touch src/auth.js)",
    ] {
        let (found, warnings) = listed_by(&[item]);
        assert_eq!((found.contains("? src/auth.js"), warnings), (true, 1), "{item}: {found}");
    }
    assert_eq!(
        listed_by(&["src/** , auth.js is off limits"]),
        ("incidental? src/auth.js, incidental? src/cart.js".to_owned(), 1)
    );
    // What is excluded in so many words stays so.
    for item in [
        "Do not touch `src/auth.js`",
        "You must not edit `src/auth.js`",
        "Auth must not change (`src/auth.js`)",
        "src/cart.js, but leave src/auth.js alone",
    ] {
        let found = listed_by(&["src/cart.js", item]);
        assert_eq!((&*found.0, found.1), ("primary src/cart.js, out of scope src/auth.js", 0), "{item}");
    }
    // A part of a folder that words refuse is some of its files; which, a person says.
    assert_eq!(listed_by(&["src/ (leave the login alone)"]).0, "incidental? src/auth.js, incidental? src/cart.js");
    // Neither a correction nor the place beside a file lifts it.
    let (task, _) = TaskScope::read(&task(&["src/", "src/auth.js (read only)"], &[])).unwrap();
    let body = BODY.replace("src/checkout/cart.js", "src/auth.js");
    let rules = Rules { task, corrections: corrections(&body).0, ..Rules::default() };
    assert_eq!(class_of(&rules, &[made("src/auth.js", EDIT)], "src/auth.js"), Class::Judge);
}

#[test]
fn words_about_the_work_refuse_nothing() {
    let mut odd = Vec::new();
    for item in [
        "`src/auth.js` (new)",
        "`src/auth.js` - does not round",
        "`src/auth.js` — the total, no rounding yet",
        "src/auth.js — the total, no rounding yet",
        "`src/auth.js` (does not exist yet)",
        "`src/auth.js` - not much",
        "`src/auth.js` - the total is not updated when an item goes",
        "`src/auth.js` - do not change the public API",
        "`src/auth.js` (do not change `login()`)",
        "`src/auth.js` - no changes to the signature of login",
        "`src/auth.js` - the API stays unchanged",
        "`src/auth.js` - rounding unchanged",
        "`src/auth.js` - add the total, no other changes",
        "`src/auth.js` - nothing else changes",
        "`src/auth.js` - do not change anything else",
        "`src/auth.js` - without changing the API",
        "`src/auth.js` - read-only view of the cart",
        "`src/auth.js` - reads the cart",
        "`src/auth.js` - keeps the total",
        "`src/auth.js` - must stay compatible with the page",
        "`src/auth.js` - rounding is out of scope",
        "`src/auth.js` (see the spec for reference)",
        "`src/auth.js` leaves the rounding unchanged",
        "Make `login()` not round in `src/auth.js`",
        "Fix the total not updating in `src/auth.js`",
        "Not-found page: `src/auth.js`",
        "Warn about unchanged totals in `src/auth.js`",
        "Handle frozen carts in `src/auth.js`",
        "Update `src/auth.js`",
        "Edit: `src/auth.js`",
        "src/auth.js\n  - no rounding\n  - the API stays unchanged",
    ] {
        let found = listed_by(&["src/cart.js", item]);
        if (&*found.0, found.1) != ("primary src/auth.js, primary src/cart.js", 0) {
            odd.push((item, found));
        }
    }
    assert!(odd.is_empty(), "{odd:#?}");
}

#[test]
fn a_correction_with_several_files_is_for_a_person() {
    for actual in
        ["`src/a.js`, `src/b.js`", "src/a.js and src/b.js", "src/a.js, src/b.js", "\n  - `src/a.js`\n  - `src/b.js`"]
    {
        let mut rules = rules(&["src/cart.js"], &[]);
        rules.corrections = corrections(&BODY.replace("`src/checkout/cart.js`", actual)).0;
        let made = [made("src/a.js", EDIT), made("src/b.js", EDIT)];
        assert_eq!(classes(&rules, &made), ["incidental? src/a.js", "incidental? src/b.js"], "{actual}");
    }
    let (found, _) = corrections(&BODY.replace("`src/checkout/cart.js`", "docs/My File.md (was `src/cart.js`)"));
    assert_eq!(found.iter().map(|one| one.actual.as_str()).collect::<Vec<_>>(), ["docs/My File.md"]);
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
    for struck in [
        format!("<del>\n\n{BODY}\n</del>\n"),
        BODY.replace("## Scope correction", "## ~~Scope correction~~"),
        BODY.replace("the handler lives there", "None"),
        BODY.replace("the handler lives there", "..."),
        BODY.replace("the handler lives there", "-"),
        BODY.replace("the handler lives there", "."),
        BODY.replace("the handler lives there", "?"),
        BODY.replace("the handler lives there", "—"),
        BODY.replace("the handler lives there", "n.a."),
        BODY.replace("the handler lives there", "\"None\""),
        BODY.replace("the handler lives there", "`None`"),
        BODY.replace("the handler lives there", "*None*"),
        BODY.replace("the handler lives there", "none needed"),
        BODY.replace("the handler lives there", "see above"),
        BODY.replace("the handler lives there", "TODO: explain"),
        BODY.replace("the handler lives there", "[TBD] later"),
    ] {
        let (found, problems) = corrections(&struck);
        assert_eq!((found.len(), problems.len()), (0, 1), "{struck}");
    }
    for reason in ["moved", "`total()` lives there", "None of it is in the listed file", "The todo list is there"] {
        let (found, problems) = corrections(&BODY.replace("the handler lives there", reason));
        assert_eq!((found.len(), problems), (1, vec![]), "{reason}");
    }
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
