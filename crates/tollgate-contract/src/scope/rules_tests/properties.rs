//! What holds of every change.

use proptest::prelude::*;

use super::*;
use crate::scope::correction::Correction;

const PATHS: &[&str] = &[
    "src/cart.js",
    "src/cart.test.js",
    "src/page.js",
    "src/auth.js",
    "lib/x.rs",
    "lib/mod.rs",
    "Cargo.lock",
    "Cargo.toml",
    "README.md",
    "tests/__snapshots__/cart.test.js.snap",
    "data.json",
    "src/types.ts",
    "\"odd\\012name\"",
];
const LINES: &[&str] = &[
    "+export { total } from './cart';",
    "-export { cart } from './cart';",
    "+function total(items) {",
    "-function total(items) {",
    "-  tax: number,",
    "-function sum(items) {",
    "+  if (x) {",
    " kept",
    "+  return 1;",
    "-  return 2;",
    "+",
    "+// note",
    "+pub mod cart;",
    " struct X {",
    "+  tax: number,",
    "-const a = 1;",
    "+const a = 2;",
    "+  \"lodash\": \"^4\",",
];

fn a_change() -> impl Strategy<Value = Made> {
    let lines = prop::collection::vec(prop::sample::select(LINES), 0..6);
    let modes = prop::sample::select(vec![
        (Mode::File, Mode::File),
        (Mode::Absent, Mode::File),
        (Mode::File, Mode::Absent),
        (Mode::File, Mode::Program),
        (Mode::File, Mode::Link),
        (Mode::Submodule, Mode::Submodule),
        (Mode::Absent, Mode::Submodule),
    ]);
    (prop::sample::select(PATHS), lines, modes, any::<bool>()).prop_map(|(path, lines, (before, after), unread)| {
        let made = made(path, &lines.join("\n"));
        Made { unread: unread && lines.is_empty(), modes: (before, after), ..made }
    })
}

fn a_whole_change() -> impl Strategy<Value = Vec<Made>> {
    prop::collection::vec(a_change(), 0..8).prop_map(|mut all| {
        all.sort_by_key(|made| made.path.clone());
        all.dedup_by_key(|made| made.path.clone());
        all
    })
}

proptest! {
    #[test]
    fn every_path_has_one_class_whatever_the_order(made in a_whole_change(), seed in 0usize..1000) {
        let mut rules = rules(&["src/cart.js", "Cargo.toml"], &["src/auth.js"]);
        rules.protected = vec!["lib/x.*".into()];
        let changes = changes(&made);
        let sorted = rules.sort(&changes);
        let mut paths: Vec<_> = sorted.iter().map(|one| one.change.path.clone()).collect();
        paths.sort();
        prop_assert_eq!(&paths, &changes.iter().map(|change| change.path.clone()).collect::<Vec<_>>());
        prop_assert!(sorted.is_sorted_by_key(|one| one.class));
        let mut other = changes.clone();
        other.reverse();
        if !other.is_empty() {
            let by = seed % other.len();
            other.rotate_left(by);
        }
        prop_assert_eq!(shown(&sorted), shown(&rules.sort(&other)));
    }

    #[test]
    fn a_correction_never_worsens(made in a_whole_change(), actual in prop::sample::select(PATHS), listed in prop::sample::select(PATHS)) {
        let mut rules = rules(&["src/cart.js", "Cargo.toml"], &["src/auth.js"]);
        let changes = changes(&made);
        let class = |rules: &Rules| -> std::collections::BTreeMap<tollgate_core::Name, Class> {
            rules.sort(&changes).into_iter().map(|one| (one.change.path.clone(), one.class)).collect()
        };
        let before = class(&rules);
        rules.corrections.push(Correction {
            listed: listed.to_owned(),
            actual: actual.to_owned(),
            reason: "moved".to_owned(),
            place: tollgate_core::diagnostic::Place::default(),
        });
        for (path, now) in class(&rules) {
            prop_assert!(now <= before[&path], "{path}: {:?} became {now:?}", before[&path]);
        }
    }

    /// A breaking change beside an import that follows from the change in scope, with noise around its lines.
    #[test]
    fn white_space_and_comments_never_make_a_breaking_change_incidental(
        breaking in prop::sample::select(BREAKING),
        noise in prop::collection::vec((0usize..20, prop::sample::select(NOISE)), 0..6),
    ) {
        let mut lines = vec!["+import { total } from './cart';", " function page(items) {"];
        lines.extend(breaking.lines());
        lines.push(" }");
        for (at, line) in noise {
            lines.insert(at % (lines.len() + 1), line);
        }
        let made = [made("src/cart.js", "+export function total() {\n+}"), made("src/page.js", &lines.join("\n"))];
        prop_assert_ne!(class_of(&rules(&["src/cart.js"], &[]), &made, "src/page.js"), Class::Incidental);
    }
}

const BREAKING: &[&str] = &[
    "+  function inner() {\n+  }",
    "-  show();\n+  if (items) show();",
    "-  show(1);\n+  show(2);",
    "+  test('a', () => {});",
    "-  return total;",
];
const NOISE: &[&str] =
    &["+", "-", "+   ", "+// note", "-// note", "+/* note */", " // note", "+/*", "+*/", "-/*", "-*/", " '", "+`"];
