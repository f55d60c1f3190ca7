//! Comments that a tool reads together: whether one of them is for people, the lines around it say.

use super::change::{Hunk, Sign};
use super::comment::begins_code;
use super::doc_test::doc_tests;
use super::placed::Role;
use super::words::Language;

/// Takes comments that are part of something for a tool for such, on one side of a hunk.
pub(super) fn heeded(hunk: &Hunk<'_>, sign: Sign, language: Language, roles: &mut [Role]) {
    if language.qualifies {
        preamble(hunk, sign, roles);
    }
    if !roles.contains(&Role::Comment(false)) {
        return;
    }
    if language.doc_tests {
        doc_tests(hunk, sign, roles);
    }
    let own: Vec<usize> =
        (0..roles.len()).filter(|at| hunk.lines[*at].0 == sign || hunk.lines[*at].0 == Sign::Kept).collect();
    if language.blocks {
        code_blocks(hunk, &own, roles);
    }
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

/// How many lines around a change are shown.
const SHOWN: usize = 12;

/// Takes what changes in the comment above `import "C"` of Go for code: it is compiled, as long as no blank line stands between the two.
fn preamble(hunk: &Hunk<'_>, sign: Sign, roles: &mut [Role]) {
    let own: Vec<usize> =
        (0..roles.len()).filter(|at| hunk.lines[*at].0 == sign || hunk.lines[*at].0 == Sign::Kept).collect();
    let is_comment = |role: Role| matches!(role, Role::Comment(_));
    let mut compiled = Vec::new();
    for run in own.chunk_by(|a, b| {
        let is_quiet = |at: usize| is_comment(roles[at]) || roles[at] == Role::Blank;
        is_quiet(*a) && is_quiet(*b)
    }) {
        let Some(first) = run.iter().position(|at| is_comment(roles[*at])) else { continue };
        let next = own.partition_point(|at| run.last().is_some_and(|last| at <= last));
        let is_above = imports_c(own[next..].iter().map(|at| hunk.lines[*at].1.trim()));
        // Where a comment fills what is shown below a change, what it stands above is not seen.
        let is_cut = |place: usize| own.get(next).is_none() && run.len() - place > SHOWN;
        let changed = run.iter().enumerate().skip(first).filter(|(_, at)| hunk.lines[**at].0 == sign);
        compiled.extend(changed.filter(|(place, _)| is_above || is_cut(*place)).map(|(_, at)| *at));
    }
    for at in compiled {
        roles[at] = Role::Text;
    }
}

/// Whether lines begin with the import of C.
fn imports_c<'t>(mut lines: impl Iterator<Item = &'t str>) -> bool {
    let is_c = |line: &str| line.starts_with("\"C\"") || line.starts_with("`C`");
    let first = lines.next().unwrap_or_default();
    let rest = first.strip_prefix("import").map_or(first, str::trim_start);
    is_c(rest) || (rest.trim_end() == "(" && lines.find(|line| !line.is_empty()).is_some_and(is_c))
}

/// Takes every line of a comment that is code for a tool for such.
fn code_blocks(hunk: &Hunk<'_>, own: &[usize], roles: &mut [Role]) {
    let mut is_code = false;
    for at in own {
        let (_, line) = &hunk.lines[*at];
        is_code |= begins_code(line);
        if is_code && roles[*at] == Role::Comment(false) {
            roles[*at] = Role::Comment(true);
        }
        is_code &= !line.contains("*/");
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
