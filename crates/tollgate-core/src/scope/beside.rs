//! What a file is to those beside it, by its name: the test of one of them, or what gathers their names.

use super::named::file_name;
use super::words::{Sort, language};

/// Extensions of one language: a test may have another one than what it tests.
const FAMILIES: &[&[&str]] = &[
    &["ts", "tsx", "js", "jsx", "mjs", "cjs", "mts", "cts", "vue", "svelte"],
    &["c", "cc", "cpp", "cxx", "h", "hpp"],
    &["sh", "bash", "zsh", "bats"],
    &["ex", "exs"],
    &["kt", "kts", "java"],
    &["ps1", "psm1"],
];
/// Languages whose lines are not read, and that have tests.
const OTHERS: &[&str] = &[
    "clj", "cljs", "cljc", "coffee", "cr", "d", "erl", "f90", "fs", "gd", "gleam", "groovy", "hx", "jl", "m", "ml",
    "mm", "pas", "R", "rkt", "vb",
];
/// Source that has no tests: what is named so is data, or what others are made from.
const WITHOUT_TESTS: &[&str] = &["sql", "proto"];
/// What the name of a test ends with, behind that of what it tests.
const AFTER: &[&str] = &[
    ".test",
    ".tests",
    ".spec",
    "_test",
    "_tests",
    "_spec",
    "-test",
    "-tests",
    "-spec",
    "Test",
    "Tests",
    "Spec",
    ".Test",
    ".Tests",
    ".test-d",
    ".cy",
    "_unittest",
    "_unittests",
];
/// What it begins with.
const BEFORE: &[&str] = &["test_", "test-", "Test"];
/// Folders whose files a framework finds by their place.
const PLACES: &[&str] = &[
    "pages",
    "routes",
    "api",
    "functions",
    "migrations",
    "commands",
    "plugins",
    "tests",
    "test",
    "__tests__",
    ".github",
];
/// What says of which kind a test is, between the two.
const KINDS: &[&str] = &[
    ".unit",
    ".integration",
    ".e2e",
    "_internal",
    "_external",
    "_unit",
    "_integration",
    "_e2e",
    "-unit",
    "-integration",
    "-e2e",
    "Unit",
    "Integration",
];

/// The files that a test could stand beside: those in its own folder whose name it bears. Configuration and data are no tests, whatever
/// they are called.
pub fn sources_of_test(path: &str) -> Vec<String> {
    let name = file_name(path);
    let folder = &path[..path.len() - name.len()];
    let Some((stem, extension)) = name.rsplit_once('.') else { return Vec::new() };
    let after = AFTER.iter().filter_map(|end| stem.strip_suffix(end));
    let before = BEFORE.iter().filter_map(|start| stem.strip_prefix(start));
    // `webpack.config.test.js` and `.eslintrc.test.js` configure a tool.
    let configures = |base: &&str| base.is_empty() || base.starts_with('.') || base.ends_with(".config");
    let mut bases: Vec<&str> = after.chain(before).filter(|base| !configures(base)).collect();
    if extension == "bats" {
        bases.push(stem);
    }
    if bases.is_empty() {
        return Vec::new();
    }
    let family = FAMILIES.iter().find(|family| family.contains(&extension)).copied();
    let is_source = language(path).sort == Sort::Code && !WITHOUT_TESTS.contains(&extension);
    if family.is_none() && !is_source && !OTHERS.contains(&extension) {
        return Vec::new();
    }
    let of_kind = KINDS.iter().flat_map(|kind| bases.iter().filter_map(move |base| base.strip_suffix(kind)));
    let of_kind: Vec<&str> = of_kind.filter(|base| !base.is_empty()).collect();
    let alone: [&str; 1] = [extension];
    let family = family.unwrap_or(&alone);
    let of =
        |base: &&str| family.iter().map(move |extension| format!("{folder}{base}.{extension}")).collect::<Vec<_>>();
    bases.iter().chain(&of_kind).flat_map(of).filter(|source| source != path).collect()
}

/// Whether a file stands for its folder, and has nothing to do but to give others what lies there.
pub fn gathers(path: &str) -> bool {
    // In some folders, that a file is there makes it something else.
    let is_placed = |folder: &str| PLACES.contains(&folder);
    !path.split('/').rev().skip(1).any(is_placed)
        && matches!(
            file_name(path),
            "__init__.py"
                | "mod.rs"
                | "index.ts"
                | "index.tsx"
                | "index.js"
                | "index.jsx"
                | "index.mjs"
                | "index.cjs"
                | "index.mts"
        )
}
