//! A task and a change in, classes out: one line a path.

mod criteria;
mod properties;
mod reading;

use super::change::{Change, Content, Line, Mode, Moved, Sign};
use super::correction::corrections;
use super::rules::{Class, Rules, Sorted};
use super::task::TaskScope;

/// A task issue with these lists.
fn task(listed: &[&str], excluded: &[&str]) -> String {
    let list = |intro: &str, items: &[&str]| match items {
        [] => "None\n".to_owned(),
        items => intro.to_owned() + &items.iter().map(|item| format!("- {item}\n")).collect::<String>(),
    };
    format!(
        "## Objective\n\nThe cart shows a total.\n\n## Spec Reference\n\n- Spec: `docs/specs/cart.md`\n- Section(s): Totals\n\n\
         ## Scope\n\n### In Scope\n\n{}\n### Out of Scope\n\n{}\n## Acceptance Criteria\n\n- [ ] The page shows the total.\n\n## Context\n\n\
         Prices are in cents.\n\n## Constraints\n\nNo new dependency.\n",
        list("Files/modules this task may touch:\n\n", listed),
        list("Files/modules explicitly excluded:\n\n", excluded)
    )
}

fn rules(listed: &[&str], excluded: &[&str]) -> Rules {
    let text = task(listed, excluded);
    let (task, warnings) = TaskScope::read(&text).unwrap_or_else(|wrong| panic!("{wrong:?}\n{text}"));
    assert_eq!(warnings, []);
    Rules { task, ..Rules::default() }
}

/// A change that owns its lines: ` kept`, `-removed`, `+added`.
#[derive(Debug)]
struct Made {
    path: &'static str,
    lines: Vec<Line<'static>>,
    modes: (Mode, Mode),
    moved: Option<Moved>,
    unread: bool,
}

fn made(path: &'static str, diff: &str) -> Made {
    let line = |line: &str| {
        let (sign, text) = match line.split_at_checked(1) {
            Some(("+", text)) => (Sign::Added, text),
            Some(("-", text)) => (Sign::Removed, text),
            Some((_, text)) => (Sign::Kept, text),
            None => (Sign::Kept, line),
        };
        (sign, text.to_owned().into())
    };
    let lines = diff.split_terminator('\n').map(line).collect();
    Made { path, lines, modes: (Mode::File, Mode::File), moved: None, unread: false }
}

impl Made {
    fn modes(self, before: Mode, after: Mode) -> Self {
        Self { modes: (before, after), ..self }
    }

    fn from(self, old: &str) -> Self {
        Self { moved: Some(Moved::From(old.into())), ..self }.modes(Mode::Absent, Mode::File)
    }

    fn to(self, new: &str) -> Self {
        Self { moved: Some(Moved::To(new.into())), ..self }.modes(Mode::File, Mode::Absent)
    }

    fn new_file(self) -> Self {
        self.modes(Mode::Absent, Mode::File)
    }

    fn unread(self) -> Self {
        Self { unread: true, ..self }
    }

    fn change(&self) -> Change<'_> {
        let content = match (self.unread, self.lines.is_empty()) {
            (true, _) => Content::Unread,
            (false, true) => Content::Same,
            (false, false) => Content::Lines(&self.lines),
        };
        let (before, after) = self.modes;
        Change { path: self.path.into(), before, after, moved: self.moved.clone(), content }
    }
}

fn changes(made: &[Made]) -> Vec<Change<'_>> {
    made.iter().map(Made::change).collect()
}

/// `class path: reason`, a line each.
fn shown(sorted: &[Sorted<'_>]) -> Vec<String> {
    sorted.iter().map(|one| format!("{} {}: {}", one.class.words(), one.change.path, one.reason)).collect()
}

fn classes(rules: &Rules, made: &[Made]) -> Vec<String> {
    let changes = changes(made);
    rules.sort(&changes).iter().map(|one| format!("{} {}", one.class.words(), one.change.path)).collect()
}

fn class_of(rules: &Rules, made: &[Made], path: &str) -> Class {
    let changes = changes(made);
    rules.sort(&changes).iter().find(|one| &*one.change.path == path).unwrap().class
}

const EDIT: &str = "-a\n+b";
/// A new function in a file outside of the task.
const GROWS: &str = "+function late() {\n+}";

#[test]
fn listed_files_are_primary_whatever_changes_in_them() {
    let rules = rules(&["src/cart.js", "`docs/My File.md` (the page)", "web/", "lib/**/*.ts", "pages/[id].tsx"], &[]);
    for path in ["src/cart.js", "docs/My File.md", "web/a/b.css", "lib/x/y.ts", "pages/[id].tsx"] {
        assert_eq!(class_of(&rules, &[made(path, EDIT)], path), Class::Primary, "{path}");
    }
    for path in ["src/cart.jsx", "docs/My", "webs/a", "lib/x/y.js", "pages/i.tsx", "src/cart.js/evil.js"] {
        assert_ne!(class_of(&rules, &[made(path, EDIT)], path), Class::Primary, "{path}");
    }
}

#[test]
fn what_the_task_excludes_is_out_of_scope_unless_it_names_the_file_itself() {
    let rules = rules(&["src/", "lib/keep.js"], &["src/auth.js (owned by #12)", "lib/"]);
    let made = [
        made("src/a.js", EDIT),
        made("src/auth.js", "+import { total } from './a';"),
        made("lib/keep.js", EDIT),
        made("lib/x.js", EDIT),
    ];
    let changes = changes(&made);
    assert_eq!(
        shown(&rules.sort(&changes)),
        [
            "primary lib/keep.js: listed",
            "primary src/a.js: listed: src/",
            "out of scope lib/x.js: the task excludes it: lib/",
            "out of scope src/auth.js: the task excludes it: src/auth.js (owned by #12)",
        ]
    );
}

#[test]
fn a_test_beside_a_listed_file_is_in_scope_and_no_other_test_is() {
    let rules =
        rules(&["src/cart.ts", "src/sum.py", "src/Total.java", "bin/run.sh", "src/gone.go"], &["src/gone_test.go"]);
    for path in [
        "src/cart.test.ts",
        "src/cart.spec.tsx",
        "src/test_sum.py",
        "src/sum_test.py",
        "src/TotalTest.java",
        "bin/run_test.sh",
    ] {
        assert_eq!(class_of(&rules, &[made(path, EDIT)], path), Class::Test, "{path}");
    }
    for path in [
        "test/cart.test.ts",
        "src/__tests__/cart.test.ts",
        "src/other.test.ts",
        "src/cart.fixture.ts",
        "src/cart.test.json",
        "src/gone_test.go",
        "src/testing.ts",
    ] {
        let found = class_of(&rules, &[made(path, EDIT)], path);
        assert!(found > Class::Incidental, "{path}: {found:?}");
    }
}

#[test]
fn a_protected_path_is_protected_whatever_lists_it() {
    let mut rules = rules(&["src/"], &["src/auth.js"]);
    rules.protected = vec!["src/guard/**".into(), "**/auth.js".into()];
    let made = [made("src/guard/a.js", "+one more line"), made("src/auth.js", EDIT), made("src/b.js", EDIT)];
    assert_eq!(classes(&rules, &made), ["primary src/b.js", "protected src/auth.js", "protected src/guard/a.js"]);
}

const BODY: &str = "Adds the total.\n\nCloses #4\n\n## Scope correction\n- **Listed:** `src/cart.js`\n- **Actual:** `src/checkout/cart.js`\n- **Reason:** the handler lives there\n";

#[test]
fn a_correction_makes_the_named_file_primary_and_its_test_too() {
    let mut rules = rules(&["src/cart.js"], &[]);
    let made = [made("src/checkout/cart.js", GROWS), made("src/checkout/cart.test.js", EDIT)];
    assert_eq!(class_of(&rules, &made, "src/checkout/cart.js"), Class::OutOfScope);
    let (found, problems) = corrections(BODY);
    assert_eq!((found.len(), problems), (1, vec![]));
    rules.corrections = found;
    let changes = changes(&made);
    assert_eq!(
        shown(&rules.sort(&changes)),
        [
            "primary src/checkout/cart.js: corrected: the task lists src/cart.js",
            "co-located test src/checkout/cart.test.js: beside src/checkout/cart.js"
        ]
    );
    assert_eq!(rules.corrected()[0].refused, None);
}

/// What is no file that was read is no test, whatever its name.
#[test]
fn a_test_is_a_file_of_text() {
    let rules = rules(&["src/cart.js"], &[]);
    let test = || made("src/cart.test.js", "+../auth/login.js");
    let of = |test: Made| {
        let made = [made("src/cart.js", EDIT), test];
        assert!(rules.need_content(changes(&made[1..]).iter().map(|change| &change.path)));
        shown(&rules.sort(&changes(&made)))[1].clone()
    };
    assert_eq!(of(test().new_file()), "co-located test src/cart.test.js: beside src/cart.js");
    assert_eq!(of(test().modes(Mode::File, Mode::Program)), "co-located test src/cart.test.js: beside src/cart.js");
    for (test, what) in [
        (test().modes(Mode::Absent, Mode::Link), "a link"),
        (test().modes(Mode::File, Mode::Link), "a link"),
        (test().modes(Mode::Absent, Mode::Submodule), "a submodule"),
        (test().new_file().unread(), "binary or too large to be read"),
    ] {
        let why = format!("It has the name of a test of src/cart.js and is {what}.");
        assert_eq!(of(test), format!("incidental? src/cart.test.js: Does the task want this file? {why}"));
    }
}

#[test]
fn a_correction_that_does_not_hold_says_why() {
    let mut rules = rules(&["src/cart.js"], &["src/auth.js (owned by #12)"]);
    for (listed, actual, why) in [
        ("src/other.js", "src/new.js", "the task does not list the file under `Listed`"),
        ("src/cart.js", "./src/cart.js", "`Listed` and `Actual` name the same file"),
        ("src/cart.js", "src/auth.js", "the task excludes the file under `Actual`: `src/auth.js (owned by #12)`"),
    ] {
        let body = BODY.replace("`src/checkout/cart.js`", actual).replace("`src/cart.js`", listed);
        rules.corrections = corrections(&body).0;
        let corrected = rules.corrected();
        assert_eq!(corrected[0].refused.as_ref().map(ToString::to_string).as_deref(), Some(why));
        let changed = made(if actual.contains("auth") { "src/auth.js" } else { "src/new.js" }, GROWS);
        assert_eq!(class_of(&rules, &[changed], &corrected_path(actual)), Class::OutOfScope);
    }
}

/// The code that a task speaks of was somewhere before the change.
#[test]
fn a_correction_names_a_file_that_was_there() {
    let created = "the change creates the file under `Actual`, so the code was not there";
    let nowhere = "`Actual` names no file of the repository";
    for (actual, before, why, class) in [
        ("`src/app.js`", &["src/cart.js", "src/app.js"][..], None, Class::Primary),
        ("`src/app.js`", &["src/cart.js"], Some(created), Class::OutOfScope),
        // Both are new: the task may have named the wrong place for it.
        ("`src/app.js`", &["src/other.js"], None, Class::Judge),
        ("`src/`", &["src/cart.js", "src/app.js"], Some(nowhere), Class::OutOfScope),
        ("`src/*.js`", &["src/cart.js", "src/app.js"], Some(nowhere), Class::OutOfScope),
    ] {
        let mut rules = rules(&["src/cart.js"], &[]);
        rules.corrections = corrections(&BODY.replace("`src/checkout/cart.js`", actual)).0;
        rules.settle(&before.iter().copied().collect(), &["src/app.js"].into());
        let refused = rules.corrected()[0].refused.as_ref().map(ToString::to_string);
        assert_eq!(refused.as_deref(), why, "{actual}");
        assert_eq!(class_of(&rules, &[made("src/app.js", GROWS)], "src/app.js"), class, "{actual}");
    }
}

#[test]
fn a_correction_that_lifts_more_than_one_file_or_a_file_that_changes_too_is_for_a_person() {
    let correction =
        |listed: &str, actual: &str| BODY.replace("src/checkout/cart.js", actual).replace("src/cart.js", listed);
    let app = || made("src/app.js", EDIT);
    let cases = [
        // The file that is said to be the wrong one changes too.
        (vec![correction("src/cart.js", "src/app.js")], vec![made("src/cart.js", EDIT), app()], Class::Judge),
        (vec![correction("src/cart.js", "src/app.js")], vec![app()], Class::Primary),
        // One file, two others in its place; said twice is said once.
        (
            vec![correction("src/cart.js", "src/app.js"), correction("src/cart.js", "src/util.js")],
            vec![app()],
            Class::Judge,
        ),
        (
            vec![correction("src/cart.js", "src/app.js"), correction("src/cart.js", "src/app.js")],
            vec![app()],
            Class::Primary,
        ),
        // A folder is one item, whatever is said to be missing in it.
        (vec![correction("lib/a.js", "src/app.js"), correction("lib/b.js", "src/util.js")], vec![app()], Class::Judge),
        (vec![correction("lib", "src/app.js")], vec![made("lib/x.js", EDIT), app()], Class::Judge),
        (
            vec![correction("src/cart.js", "src/app.js"), correction("lib/b.js", "src/util.js")],
            vec![app()],
            Class::Primary,
        ),
    ];
    for (bodies, made, class) in cases {
        let mut rules = rules(&["src/cart.js", "lib/"], &[]);
        rules.corrections = corrections(&bodies.join("\n")).0;
        assert_eq!(rules.corrections.len(), bodies.len());
        assert_eq!(class_of(&rules, &made, "src/app.js"), class, "{bodies:#?}");
    }
    // The test beside it goes with it.
    let mut rules = rules(&["src/cart.js"], &[]);
    rules.corrections = corrections(&correction("src/cart.js", "src/app.js")).0;
    let made = [made("src/cart.js", EDIT), made("src/app.test.js", EDIT)];
    assert_eq!(class_of(&rules, &made, "src/app.test.js"), Class::Judge);
}

#[test]
fn the_list_that_names_a_path_more_closely_counts() {
    for (listed, excluded, path, class) in [
        ("src/", "src/migrations/**", "src/migrations/1.sql", Class::OutOfScope),
        ("src/api/**", "src/", "src/api/a.ts", Class::Primary),
        ("src/**/*.ts", "src/", "src/api/a.ts", Class::OutOfScope),
        ("src/**", "src/legacy/", "src/legacy/a.ts", Class::OutOfScope),
        ("**/*.ts", "src/legacy/", "src/a.ts", Class::Primary),
        ("src/legacy/a.ts", "src/legacy/**", "src/legacy/a.ts", Class::Primary),
    ] {
        let rules = rules(&[listed], &[excluded]);
        assert_eq!(class_of(&rules, &[made(path, "+x")], path), class, "{path}: {listed} without {excluded}");
    }
}

#[test]
fn an_exception_takes_paths_out_of_its_item() {
    let in_scope = rules(&["src/ (the shop)\n  - except: src/auth.js\n  - except: src/gen/**"], &[]);
    let out_of_scope = rules(&["src/cart.js"], &["lib/\n  - except:\n    - lib/sum.js"]);
    for (rules, path, class) in [
        (&in_scope, "src/cart.js", Class::Primary),
        (&in_scope, "src/auth.js", Class::OutOfScope),
        (&in_scope, "src/gen/a.js", Class::OutOfScope),
        (&out_of_scope, "lib/cart.js", Class::OutOfScope),
        // It is neither listed nor excluded.
        (&out_of_scope, "lib/sum.js", Class::Judge),
    ] {
        let made = [made("src/cart.js", EDIT), made(path, EDIT)];
        let made = if path == "src/cart.js" { &made[1..] } else { &made };
        assert_eq!(class_of(rules, made, path), class, "{path}");
    }
}

fn corrected_path(actual: &str) -> String {
    if actual.contains("auth") { "src/auth.js".to_owned() } else { "src/new.js".to_owned() }
}
