//! Every module opens with a word on what it is, and every file is part of a crate.

use super::repo::Repo;
use super::rust::code_only;

/// Sources open with a `//!` head, so that a reader knows what a file is for before reading it.
pub fn heads(repo: &Repo) -> Vec<String> {
    let sources = repo.rust().filter(|(path, _, test)| path.contains("/src/") && !test);
    let bare = sources.filter(|(_, text, _)| !text.trim_start().starts_with("//! "));
    bare.map(|(path, ..)| format!("{path}: no `//!` head; open it with one sentence on what it is for")).collect()
}

/// Files that no module declares are never compiled, and tests in them never run.
pub fn declared(repo: &Repo) -> Vec<String> {
    let orphans = repo.rust().map(|(path, ..)| path).filter(|path| !is_root(path) && !is_declared(repo, path));
    orphans.map(|path| format!("{path}: no module declares it, so it is never compiled")).collect()
}

/// Whether cargo itself finds the file.
fn is_root(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    matches!(
        parts.as_slice(),
        [.., "build.rs"]
            | [.., "src", "lib.rs" | "main.rs"]
            | [.., "src", "bin", _]
            | [.., "src", "bin", _, "main.rs"]
            | [.., "tests" | "benches" | "examples", _]
            | [.., "tests" | "benches" | "examples", _, "main.rs"]
    ) && !matches!(parts.as_slice(), [.., "src", _, "tests", _])
}

fn is_declared(repo: &Repo, path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (folder, stem) = match name {
        "mod.rs" => folder.rsplit_once('/').unwrap_or(("", folder)),
        _ => (folder, name.trim_end_matches(".rs")),
    };
    let parents =
        [format!("{folder}/mod.rs"), format!("{folder}/lib.rs"), format!("{folder}/main.rs"), format!("{folder}.rs")];
    parents.iter().filter_map(|parent| repo.files.get(parent)).any(|text| {
        let code = code_only(text);
        let mut words =
            code.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '#')).filter(|word| !word.is_empty());
        std::iter::from_fn(|| words.find(|word| *word == "mod").and_then(|_| words.next())).any(|name| name == stem)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_without_a_head_are_named() {
        let repo = Repo::of(&[
            ("a/src/lib.rs", "//! A.\n"),
            ("a/src/b.rs", "use x;\n"),
            ("a/src/tests.rs", "use x;\n"),
            ("a/tests/t.rs", ""),
        ]);
        assert_eq!(heads(&repo).len(), 1);
    }

    #[test]
    fn files_that_nothing_declares_are_named() {
        let repo = Repo::of(&[
            ("a/src/lib.rs", "pub mod b;\nmod c;\n// mod d;\n"),
            ("a/src/b.rs", "mod inner;"),
            ("a/src/b/inner.rs", ""),
            ("a/src/c/mod.rs", "#[cfg(test)]\nmod tests;"),
            ("a/src/c/tests.rs", ""),
            ("a/src/d.rs", ""),
            ("a/src/bin/sim.rs", ""),
            ("a/tests/suite/main.rs", "mod x;"),
            ("a/tests/suite/x.rs", ""),
            ("a/tests/suite/y.rs", ""),
        ]);
        let found = declared(&repo);
        assert!(
            found.len() == 2 && found[0].starts_with("a/src/d.rs") && found[1].starts_with("a/tests/suite/y.rs"),
            "{found:?}"
        );
    }
}
