//! Lists of words in the code that reads reports. A rule that needs one judges sentences, and no list of them is ever complete.

use super::repo::Repo;
use super::rust::{code_only, literals};

/// More strings of letters than this in one list are a word list.
const WORDS_MAX: usize = 12;

/// Where reports and documents are read.
pub const SOURCES: &[&str] = &["crates/tollgate-contract/src/"];

/// Files whose lists name things of a closed set: the lines of agents' tools, programming languages, the names of checks.
const CLOSED_SETS: &[&str] = &["envelopes.rs", "languages.rs", "checks.rs"];

/// Lists beyond those, each with the reason why it is no guess: (`path`, why).
const EXCEPTIONS: &[(&str, &str)] = &[];

/// A list of strings in a source.
#[derive(Debug, PartialEq, Eq)]
pub struct List {
    pub line: usize,
    pub words: usize,
}

/// No source of the readers holds a word list.
pub fn of_words(repo: &Repo) -> Vec<String> {
    let named = |path: &str| EXCEPTIONS.iter().any(|(name, _)| *name == path);
    all(repo)
        .filter(|(path, _)| !named(path))
        .map(|(path, List { line, words })| {
            format!("{path}:{line}: a list of {words} words, limit {WORDS_MAX}; decide by structure, not by words")
        })
        .collect()
}

/// Every word list in the sources of the readers.
pub fn all(repo: &Repo) -> impl Iterator<Item = (&str, List)> {
    let read = |path: &str| SOURCES.iter().any(|folder| path.starts_with(folder));
    let closed = |path: &str| path.rsplit('/').next().is_some_and(|name| CLOSED_SETS.contains(&name));
    let sources = repo.rust().filter(move |(path, _, test)| !test && read(path) && !closed(path));
    sources.flat_map(|(path, text, _)| lists(text).into_iter().map(move |list| (path, list)))
}

/// The outermost brackets with more than [`WORDS_MAX`] strings of letters, and alternatives as long. Tests of a source do not count.
fn lists(source: &str) -> Vec<List> {
    let source = source.split_once("#[cfg(test)]\nmod tests {").map_or(source, |(before, _)| before);
    let words: Vec<usize> =
        literals(source).into_iter().filter(|one| is_words(&source[one.clone()])).map(|one| one.start).collect();
    if words.len() <= WORDS_MAX {
        return Vec::new();
    }
    let code = code_only(source);
    let groups = groups(code.as_bytes());
    let line = |at: usize| 1 + source[..at].bytes().filter(|byte| *byte == b'\n').count();
    let count = |from: usize, to: usize| words.iter().filter(|at| (from..to).contains(*at)).count();
    let found = groups.into_iter().map(|(from, to)| List { line: line(from), words: count(from, to) });
    found.filter(|list| list.words > WORDS_MAX).collect()
}

/// Whether a literal, with its quotes, is made of letters and what joins words.
fn is_words(literal: &str) -> bool {
    let inner = literal.trim_start_matches(['b', 'c', 'r', '#']).trim_end_matches('#').trim_matches('"');
    inner.chars().any(char::is_alphabetic) && inner.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '-' | '\''))
}

/// The outermost square brackets, and the round ones of `matches!`.
fn groups(code: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open: Vec<(usize, bool)> = Vec::new();
    for (at, byte) in code.iter().enumerate() {
        match byte {
            b'[' => open.push((at, true)),
            b'(' => open.push((at, code[..at].ends_with(b"matches!"))),
            b']' | b')' => {
                let Some((from, counts)) = open.pop() else { continue };
                if counts && !open.iter().any(|(_, counts)| *counts) {
                    found.push((from, at));
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(words: usize) -> String {
        let list: Vec<String> = (0..words).map(|at| format!("(\"{}\", {at})", "a".repeat(at + 1))).collect();
        format!("//! Head.\n\nconst A: &[(&str, u8)] = &[{}];\n", list.join(", "))
    }

    #[test]
    fn a_long_list_of_words_is_named_where_reports_are_read() {
        let (long, short) = (source(WORDS_MAX + 1), source(WORDS_MAX));
        let path = |name: &str| format!("{}{name}", SOURCES[0]);
        let files =
            [path("a.rs"), path("b.rs"), path("x/languages.rs"), path("tests.rs"), "crates/other/src/a.rs".to_owned()];
        let repo = Repo::of(&[
            (&files[0], &long),
            (&files[1], &short),
            (&files[2], &long),
            (&files[3], &long),
            (&files[4], &long),
        ]);
        let found = of_words(&repo);
        assert!(found.len() == 1 && found[0].starts_with(&format!("{}:3: a list of 13 words", files[0])), "{found:?}");
    }

    #[test]
    fn alternatives_count_and_what_is_no_word_does_not() {
        let alternatives: Vec<String> = (0..20).map(|at| format!("\"{}\"", "b".repeat(at + 1))).collect();
        assert_eq!(
            lists(&format!("fn f() {{ matches!(x, {}) }}", alternatives.join(" | "))),
            [List { line: 1, words: 20 }]
        );
        let names: Vec<String> = (0..20).map(|at| format!("\"a.{at}\"")).collect();
        assert_eq!(lists(&format!("const A: &[&str] = &[{}];", names.join(", "))), []);
        assert_eq!(
            lists(&format!("#[cfg(test)]\nmod tests {{ const A: &[&str] = &[{}]; }}", alternatives.join(", "))),
            []
        );
    }
}
