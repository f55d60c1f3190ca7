//! What must not be committed: unfinished code, tests that are switched off, paths of one machine.

use super::repo::Repo;
use super::rust::code_only;

/// Code that says it is not finished or not run.
const UNFINISHED: &[&str] = &["todo!(", "unimplemented!(", "#[ignore"];

/// Folders that exist on one machine. Written in two pieces so that this file does not name them.
const MACHINE: &[&str] =
    &[concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/Us", "ers/"), concat!("/ho", "me/runner/")];

/// Nothing is left for later, and no test is switched off.
pub fn left_behind(repo: &Repo) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text, _) in repo.rust() {
        let code = code_only(text);
        for (index, line) in code.lines().enumerate() {
            let words = UNFINISHED.iter().filter(|word| line.contains(**word));
            found.extend(
                words.map(|word| format!("{path}:{}: `{word}` is not committed; finish it or take it out", index + 1)),
            );
        }
    }
    found
}

/// The repository names no path of the machine it was written on.
pub fn of_a_machine(repo: &Repo) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in &repo.files {
        for (index, line) in text.lines().enumerate() {
            let words = MACHINE.iter().filter(|word| names(line, word));
            found.extend(words.map(|word| format!("{path}:{}: `{word}` is a path of one machine", index + 1)));
        }
    }
    found
}

/// Whether a line holds the path from the root, and not as a piece of a longer one.
fn names(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before
            .is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '}' | ']' | '>' | '*' | '~' | '/')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_code_is_named_and_text_about_it_is_not() {
        let repo = Repo::of(&[("a.rs", "// todo!()\nlet s = \"unimplemented!()\";\n#[ignore]\nfn f() { todo!() }\n")]);
        let found = left_behind(&repo);
        assert!(found.len() == 2 && found[0].starts_with("a.rs:3") && found[1].starts_with("a.rs:4"), "{found:?}");
    }

    #[test]
    fn paths_of_a_machine_are_named() {
        let (bad, good) = (format!("see {}x", MACHINE[0]), format!("trees{0}x [ROOT]{0}x", MACHINE[1]));
        let found = of_a_machine(&Repo::of(&[("a.md", &bad), ("b.md", &good)]));
        assert!(found.len() == 1 && found[0].starts_with("a.md:1"), "{found:?}");
    }
}
