//! Where a line stands: an import or a field counts as one only where it takes nothing else apart.

use super::change::{Hunk, Sign};
use super::words::Language;

/// What a line alone is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Blank,
    Comment(bool),
    Import,
    Field,
    Code,
    /// A line of a string that goes over several: a value, whatever it looks like, and white space counts.
    Text,
}

/// Takes lines that come or go where they may do more than they say for code.
pub(super) fn placed(hunk: &Hunk<'_>, sign: Sign, language: Language, roles: &mut [Role]) {
    // It comes and goes with the module below it, which is then one of tests.
    for at in 1..roles.len() {
        let comes = |at: usize| hunk.lines[at].0 == sign;
        if comes(at - 1) && comes(at) && hunk.lines[at - 1].1 == "#[cfg(test)]" && is_module(&hunk.lines[at].1) {
            roles[at - 1] = Role::Blank;
        }
    }
    for at in [imports(hunk, sign, roles), fields(hunk, sign, language, roles)].concat() {
        roles[at] = Role::Code;
    }
}

/// An import stands among others, or at the start of a file. One that comes or goes elsewhere may take what stands around it apart: an
/// annotation from what it is about, a condition from what it guards, a directive from the start.
fn imports(hunk: &Hunk<'_>, sign: Sign, roles: &[Role]) -> Vec<usize> {
    let own = |at: &usize| hunk.lines[*at].0 == sign || hunk.lines[*at].0 == Sign::Kept;
    let said =
        |at: &usize| !matches!(roles[*at], Role::Blank | Role::Comment(_)) || hunk.lines[*at].1.starts_with("#!");
    let lines: Vec<usize> = (0..hunk.lines.len()).filter(own).filter(said).collect();
    let bare = |at: usize| hunk.lines[at].1.trim();
    // A comment for a tool may be about the line below it, or about all that follow.
    let own_lines: Vec<usize> = (0..hunk.lines.len()).filter(own).collect();
    let is_steered = |at: usize| {
        let place = own_lines.partition_point(|line| *line < at);
        let beside =
            [place.checked_sub(1), Some(place + 1)].into_iter().flatten().filter_map(|place| own_lines.get(place));
        beside.into_iter().any(|line| roles[*line] == Role::Comment(true) && hunk.lines[*line].0 == Sign::Kept)
    };
    let mut elsewhere = Vec::new();
    for run in lines.chunk_by(|a, b| roles[*a] == Role::Import && roles[*b] == Role::Import) {
        let [first, ..] = run else { continue };
        if roles[*first] != Role::Import {
            continue;
        }
        let around = lines.partition_point(|at| at < first);
        let before = around.checked_sub(1).map(|at| bare(lines[at]));
        let behind = lines.get(around + run.len()).map(|at| bare(*at));
        let is_kept = |at: &&usize| hunk.lines[**at].0 == Sign::Kept;
        let leads = before.is_none_or(|before| before.ends_with([';', '{', '}']) || is_first(before));
        let heads = before.is_none_or(is_first) && !behind.is_some_and(is_first);
        let future = run.iter().rposition(|at| bare(*at).starts_with("from __future__"));
        for (index, at) in run.iter().enumerate().filter(|(_, at)| !is_kept(at)) {
            let follows = run[..index].iter().any(|at| is_kept(&at));
            let precedes =
                leads && run[index..].iter().any(|at| is_kept(&at)) && future.is_none_or(|last| last < index);
            let anywhere = leads && is_module(&hunk.lines[*at].1);
            if !(follows || precedes || anywhere || (heads && future.is_none())) || is_steered(*at) {
                elsewhere.push(*at);
            }
        }
    }
    elsewhere
}

/// Whether a line declares a module of Rust outside of everything: where it stands says nothing.
fn is_module(line: &str) -> bool {
    line.strip_prefix("pub ").unwrap_or(line).starts_with("mod ") && line.ends_with(';')
}

/// Whether a line is one that stands before all others: a directive, the words of a module for people, the name of a package.
fn is_first(line: &str) -> bool {
    let starts = ["'", "\"", "package ", "namespace ", "module ", "#![", "#!", "<?php", "<script", "if TYPE_CHECKING:"];
    starts.iter().any(|start| line.starts_with(start))
}

/// A field that stands before another moves it: that counts where fields are given by their place, compared in their order, or laid out
/// for others.
fn fields(hunk: &Hunk<'_>, sign: Sign, language: Language, roles: &[Role]) -> Vec<usize> {
    let own = |at: &usize| hunk.lines[*at].0 == sign || hunk.lines[*at].0 == Sign::Kept;
    let lines: Vec<usize> = (0..hunk.lines.len()).filter(own).collect();
    let bare = |at: usize| hunk.lines[at].1.trim();
    let annotates = |line: &str| line.starts_with("#[") || line.starts_with('@');
    let in_order = |place: usize| {
        let above =
            |at: &&usize| matches!(roles[**at], Role::Field | Role::Blank | Role::Comment(_)) || annotates(bare(**at));
        let mut before = lines[..place].iter().rev().skip_while(above);
        let head = before.next().map_or("", |at| bare(*at));
        let mut marks = before.map(|at| bare(*at)).take_while(|line| annotates(line) || line.starts_with("//"));
        language.indents || head.ends_with('(') || marks.any(|line| line.contains("repr") || line.contains("Ord"))
    };
    let moves = |place: &usize| {
        let mut behind = lines[*place + 1..].iter().filter(|at| !matches!(roles[**at], Role::Blank | Role::Comment(_)));
        behind.find(|at| hunk.lines[**at].0 == Sign::Kept).is_some_and(|at| roles[*at] == Role::Field)
            && in_order(*place)
    };
    let changed = |place: &usize| roles[lines[*place]] == Role::Field && hunk.lines[lines[*place]].0 != Sign::Kept;
    (0..lines.len()).filter(changed).filter(moves).map(|place| lines[place]).collect()
}
