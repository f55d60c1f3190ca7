//! How long files and functions may be, and how many packages the lock file may hold.

use super::repo::Repo;
use super::rust;

const SOURCE_LINES_MAX: usize = 500;
const TEST_LINES_MAX: usize = 1000;
const FUNCTION_LINES_MAX: usize = 120;
const LOCK_PACKAGES_MAX: usize = 400;

/// Pages that serve a reader only while they are short.
const PAGE_LINES_MAX: &[(&str, usize)] = &[("AGENTS.md", 100), ("ARCHITECTURE.md", 300)];

/// What may be longer: (`path` or `path::function`, lines, why).
const EXCEPTIONS: &[(&str, usize, &str)] =
    &[("crates/tollgate-core/src/run/event.rs", 540, "every event that a journal can hold, in one list")];

/// Files are short enough to be read in one sitting.
pub fn files(repo: &Repo) -> Vec<String> {
    let rust = repo.rust().map(|(path, text, test)| (path, text, if test { TEST_LINES_MAX } else { SOURCE_LINES_MAX }));
    let pages =
        PAGE_LINES_MAX.iter().filter_map(|&(path, max)| repo.files.get(path).map(|text| (path, text.as_str(), max)));
    rust.chain(pages).filter_map(|(path, text, max)| too_long(path, text.lines().count(), max)).collect()
}

/// Functions are short enough to be seen whole.
pub fn functions(repo: &Repo) -> Vec<String> {
    repo.rust().flat_map(|(path, text, _)| long_functions(path, text)).collect()
}

fn long_functions(path: &str, text: &str) -> Vec<String> {
    let found = rust::functions(&rust::code_only(text)).into_iter();
    found
        .filter_map(|function| {
            let breach = too_long(&format!("{path}::{}", function.name), function.lines, FUNCTION_LINES_MAX)?;
            Some(format!("{breach} (line {})", function.line))
        })
        .collect()
}

/// The number of packages that a build compiles is bounded.
pub fn lock_file(repo: &Repo) -> Vec<String> {
    let lock = repo.files.get("Cargo.lock").map_or("", String::as_str);
    let packages = lock.lines().filter(|line| *line == "[[package]]").count();
    let breach =
        format!("Cargo.lock: {packages} packages, limit {LOCK_PACKAGES_MAX}; do without, or raise it by a decision");
    if packages > LOCK_PACKAGES_MAX { vec![breach] } else { Vec::new() }
}

fn too_long(what: &str, lines: usize, max: usize) -> Option<String> {
    let max = EXCEPTIONS.iter().find(|(name, ..)| *name == what).map_or(max, |(_, max, _)| *max);
    (lines > max).then(|| format!("{what}: {lines} lines, limit {max}; split it, or add an exception with its reason"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_named_and_tests_may_be_longer() {
        let (source, test) = ("//\n".repeat(SOURCE_LINES_MAX + 1), "//\n".repeat(TEST_LINES_MAX));
        let repo = Repo::of(&[
            ("crates/a/src/a.rs", &source),
            ("crates/a/tests/a.rs", &test),
            ("AGENTS.md", &"\n".repeat(101)),
        ]);
        let found = files(&repo);
        assert!(found.len() == 2 && found[0].starts_with("crates/a/src/a.rs: 501 lines"), "{found:?}");
    }

    #[test]
    fn long_functions_are_named() {
        let long = format!("fn short() {{}}\nfn long() {{{}}}\n", "\n".repeat(FUNCTION_LINES_MAX));
        let found = functions(&Repo::of(&[("a.rs", &long)]));
        assert!(found.len() == 1 && found[0].starts_with("a.rs::long: 121 lines"), "{found:?}");
    }

    #[test]
    fn a_heavy_lock_file_is_named() {
        let lock = "[[package]]\n".repeat(LOCK_PACKAGES_MAX + 1);
        assert_eq!(lock_file(&Repo::of(&[("Cargo.lock", &lock)])).len(), 1);
    }
}
