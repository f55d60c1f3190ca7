//! Comments that a tool reads together: whether one of them is for people, the lines around it say.

use super::change::{Hunk, Sign};
use super::placed::Role;
use super::words::Language;

/// Takes comments that are part of something for a tool for such, on one side of a hunk.
pub(super) fn heeded(hunk: &Hunk<'_>, sign: Sign, language: Language, roles: &mut [Role]) {
    if !roles.contains(&Role::Comment(false)) {
        return;
    }
    let own: Vec<usize> =
        (0..roles.len()).filter(|at| hunk.lines[*at].0 == sign || hunk.lines[*at].0 == Sign::Kept).collect();
    let steering: Vec<usize> = if language.examples && shows_example(hunk) {
        own
    } else if language.comment == "#" && language.indents && language.names {
        let is_comment = |at: usize| matches!(roles[at], Role::Comment(_));
        let runs = own.chunk_by(|a, b| is_comment(*a) && is_comment(*b));
        // Where it fills what is seen, its marks may stand beyond.
        let is_block = |run: &&[usize]| run.len() == own.len() || run.iter().any(|at| is_mark(&hunk.lines[*at].1));
        runs.filter(is_block).flatten().copied().collect()
    } else {
        return;
    };
    for at in steering {
        if roles[at] == Role::Comment(false) {
            roles[at] = Role::Comment(true);
        }
    }
}

/// Whether lines stand in an example of Go: its last comment is what it has to print, and without one it is not run.
fn shows_example(hunk: &Hunk<'_>) -> bool {
    let begins = |line: &str| line.trim_start().starts_with("func Example");
    begins(&hunk.within) || hunk.lines.iter().any(|(_, line)| begins(line))
}

/// Whether a line begins or ends what a script says of itself, as `# /// script` does in Python.
fn is_mark(line: &str) -> bool {
    line.trim_start().starts_with("# ///")
}
