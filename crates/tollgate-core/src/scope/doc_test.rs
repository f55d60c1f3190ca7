//! Examples in the documentation of Rust: `cargo test` runs them, so what changes in one is no change of words.

use super::change::{Hunk, Sign};
use super::placed::Role;

/// Marks behind which an example is code of Rust; behind any other one it is shown and not run.
const RUNS: &[&str] =
    &["rust", "no_run", "should_panic", "compile_fail", "test_harness", "standalone", "standalone_crate"];
/// How far a line is set in that is an example without a fence.
const SET_IN: &str = "    ";

/// What the lines of a documentation are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fence {
    Words,
    /// An example, with the sign of its fence.
    Open(char, bool),
    /// It began before what is shown, and may be either.
    Unknown,
}

/// Takes the changed lines of examples for comments that a tool heeds, on one side of a hunk.
pub(super) fn doc_tests(hunk: &Hunk<'_>, sign: Sign, roles: &mut [Role]) {
    let own: Vec<usize> =
        (0..roles.len()).filter(|at| hunk.lines[*at].0 == sign || hunk.lines[*at].0 == Sign::Kept).collect();
    let mut in_block = false;
    let mut said: Vec<(usize, &str)> = Vec::new();
    let mut steering = Vec::new();
    for (place, at) in own.iter().enumerate() {
        let line = hunk.lines[*at].1.as_ref();
        let text = if matches!(roles[*at], Role::Comment(_)) { documents(line, &mut in_block) } else { None };
        said.extend(text.map(|text| (*at, text)));
        if text.is_none() || place + 1 == own.len() {
            let begins_before = said.first().is_some_and(|(first, _)| Some(first) == own.first());
            steering.append(&mut examples(&std::mem::take(&mut said), begins_before));
        }
    }
    for at in steering.into_iter().filter(|at| hunk.lines[*at].0 == sign) {
        roles[at] = Role::Comment(true);
    }
}

/// What a line of documentation says; none for other comments.
fn documents<'t>(line: &'t str, in_block: &mut bool) -> Option<&'t str> {
    let bare = line.trim();
    let text = match *in_block {
        true => Some(bare.strip_prefix('*').filter(|rest| !rest.starts_with('/')).unwrap_or(bare)),
        false => {
            let begin = ["///", "/**"].into_iter().find(|begin| bare.starts_with(begin));
            let rest = begin.map(|begin| &bare[begin.len()..]);
            *in_block = begin == Some("/**");
            rest.filter(|rest| !rest.starts_with(['/', '*']))
        }
    };
    *in_block &= text.is_some() && !bare.ends_with("*/");
    text.map(|text| text.trim_end_matches("*/"))
}

/// The lines of a documentation that belong to examples that run.
fn examples(said: &[(usize, &str)], begins_before: bool) -> Vec<usize> {
    let sign_of = |text: &str| {
        let bare = text.trim_start();
        ['`', '~'].into_iter().find(|sign| bare.starts_with(&String::from(*sign).repeat(3)))
    };
    let is_set_in = |text: &str| {
        text.trim_start_matches(' ').starts_with('\t')
            || text.strip_prefix(' ').is_some_and(|rest| rest.starts_with(SET_IN))
    };
    let has_fence = said.iter().any(|(_, text)| sign_of(text).is_some());
    let mut fence = if begins_before && has_fence { Fence::Unknown } else { Fence::Words };
    let mut found = Vec::new();
    for (place, (at, text)) in said.iter().enumerate() {
        let next = said.get(place + 1).map_or("", |(_, text)| text);
        let steers = match (sign_of(text), fence) {
            (Some(sign), Fence::Words) => {
                fence = Fence::Open(sign, runs(text.trim_start().trim_start_matches(sign)));
                true
            }
            (Some(sign), Fence::Open(open, _)) if sign == open => {
                fence = Fence::Words;
                true
            }
            (_, Fence::Open(_, runs)) => runs,
            (_, Fence::Unknown) => true,
            (None, Fence::Words) => is_set_in(text) || is_set_in(next),
        };
        found.extend(Some(*at).filter(|_| steers));
    }
    found
}

/// Whether an example with these words at its fence is run, or compiled at least.
fn runs(words: &str) -> bool {
    let mut words = words.split([',', ' ', '\t']).filter(|word| !word.is_empty());
    words.all(|word| {
        RUNS.contains(&word) || word.starts_with("edition") || word.starts_with('{') || word.starts_with('E')
    })
}
