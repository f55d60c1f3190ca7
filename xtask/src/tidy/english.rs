//! Words that messages and file names do not use: they need to be learned before they are understood.

use super::repo::Repo;
use super::rust::literals;

/// Each with what is written instead.
const WORDS: &[(&str, &str)] = &[
    ("told", "say who reported what"),
    ("stands", "is, holds"),
    ("behind", "after, of"),
    ("mend", "fix"),
    ("mends", "fixes"),
    ("mended", "fixed"),
    ("nobody", "no worker, no one"),
    ("bear out", "confirm"),
    ("bears out", "confirms"),
    ("goes over", "overrides"),
    ("drive on", "resume"),
    ("drives on", "resumes"),
];

/// Literals that keep such a word: (the file, a part of the literal), at most [`EXCEPTIONS_MAX`].
const EXCEPTIONS: &[(&str, &str)] = &[
    // A field of what `delegate --json` prints.
    ("crates/tollgate-engine/src/delegate/mod.rs", "\"told\""),
    // The recorded states in docs/golden do not change.
    ("crates/tollgate-testkit/src/golden.rs", "mended by hand"),
    ("crates/tollgate-testkit/src/log.rs", "mended by hand"),
    ("crates/tollgate-testkit/src/bin/crash/scenario.rs", "mended by hand"),
];
const EXCEPTIONS_MAX: usize = 30;

/// String literals of the sources and names of files are plain English.
pub fn is_plain(repo: &Repo) -> Vec<String> {
    let mut found = Vec::new();
    if EXCEPTIONS.len() > EXCEPTIONS_MAX {
        found.push(format!("xtask/src/tidy/english.rs: {} exceptions, limit {EXCEPTIONS_MAX}", EXCEPTIONS.len()));
    }
    for (path, text, test) in repo.rust() {
        let name = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".rs");
        let line = |at: usize| 1 + text[..at].bytes().filter(|byte| *byte == b'\n').count();
        let mut say = |place: String, text: &str| {
            let words = WORDS.iter().filter(|(word, _)| holds(text, word));
            found.extend(
                words.map(|(word, instead)| format!("{place}: `{word}` is no plain English; write: {instead}")),
            );
        };
        say(path.to_owned(), &name.replace('_', " "));
        if test || path == "xtask/src/tidy/english.rs" {
            continue;
        }
        let sources = text.split_once("#[cfg(test)]\nmod tests {").map_or(text, |(before, _)| before);
        for literal in literals(sources) {
            let said = &text[literal.clone()];
            if !EXCEPTIONS.iter().any(|(file, part)| *file == path && said.contains(part)) {
                say(format!("{path}:{}", line(literal.start)), said);
            }
        }
    }
    found
}

/// Whether a text holds a word as a word of its own.
fn holds(text: &str, word: &str) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word)
        .any(|(at, _)| !is_letter(text[..at].chars().next_back()) && !is_letter(text[at + word.len()..].chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_file_names_are_plain() {
        let repo = Repo::of(&[
            ("crates/a/src/told.rs", ""),
            ("crates/a/src/fine.rs", "// told\nfn f() { say(\"it stands here\"); let told = \"untold\"; }\n"),
            ("crates/a/src/tests.rs", "\"mend\""),
        ]);
        let found = is_plain(&repo);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("crates/a/src/fine.rs:2: `stands`"), "{found:?}");
        assert!(found[1].starts_with("crates/a/src/told.rs: `told`"), "{found:?}");
    }
}
