//! What stands behind a report that accepts the work, and may ask for a change to it: a section, or a verdict in other words.

use super::Search;
use super::candidates::{Candidate, Form, State};
use super::meant::refuses;
use crate::contract::layout::{doubted, heads};
use crate::contract::markdown::{self, is_fence};
use crate::contract::text::lines_in;

/// Headings of these levels begin a section of their own, wherever they stand.
const LEVEL_MAX: usize = 3;
/// Names of what is decided, whatever the contract calls it.
const DECIDED: [&str; 8] = [
    "verdict",
    "final verdict",
    "my verdict",
    "overall verdict",
    "decision",
    "final decision",
    "outcome",
    "final outcome",
];

impl Search<'_> {
    /// Where such a section or line stands behind a report, or such a line in one that is written in Markdown.
    pub(super) fn demanded(&self, at: usize) -> Option<Candidate> {
        let one = &self.all.candidates[at];
        let inside = if one.form == Form::Text { denial(self.all.text(one)) } else { None };
        if let Some(line) = inside {
            let range = one.range.start + line.start..one.range.start + line.end;
            return Some(Candidate { layer: one.layer, range, form: Form::Text, state: State::Demands });
        }
        self.all.said_behind(at).find_map(|part| {
            let whole = &self.all.layers.text(part.layer)[part.range.clone()];
            let from = behind_fence(whole);
            let text = &whole[from..];
            let found = section(text).or_else(|| denial(text))?;
            // What was shown to the worker is not said by it.
            let is_own = !self.own(&text[found.clone()]).trim().is_empty();
            let start = part.range.start + from;
            let range = start + found.start..start + found.end;
            is_own.then_some(Candidate { layer: part.layer, range, form: Form::Text, state: State::Demands })
        })
    }
}

/// Where a text begins behind the end of the code fence that a report stands in: that line begins no code.
fn behind_fence(text: &str) -> usize {
    let whole = 0..text.len();
    let lines = || lines_in(text, &whole).filter(|(_, line)| !line.trim().is_empty());
    let Some((at, first)) = lines().next().filter(|(_, line)| is_fence(line.trim())) else { return 0 };
    let is_bare = first.trim().trim_matches(['`', '~']).is_empty();
    let is_odd = lines().filter(|(_, line)| is_fence(line.trim())).count() % 2 == 1;
    if is_bare && is_odd { at + first.len() } else { 0 }
}

/// The first section of a text that may ask for a change.
fn section(text: &str) -> Option<std::ops::Range<usize>> {
    if !text.contains('#') || markdown::refused(text).is_some() {
        return None;
    }
    let high: Vec<_> = heads(text).into_iter().filter(|head| head.0 <= LEVEL_MAX).collect();
    let ends = high.iter().skip(1).map(|(.., next)| next.start).chain([text.len()]);
    let ((.., range), end) = high
        .iter()
        .zip(ends)
        .find(|((_, title, range), end)| doubted(&text[title.clone()], &text[range.end.min(*end)..*end]).is_some())?;
    Some(range.start..end)
}

/// The first line of a text that decides otherwise: `Verdict: rejected`.
fn denial(text: &str) -> Option<std::ops::Range<usize>> {
    let is = |line: &str| {
        let line = line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '#'));
        let Some((name, said)) = line.split_once(':') else { return false };
        let name = name.trim_end_matches(['*', '_', ' ']);
        DECIDED.iter().any(|known| known.eq_ignore_ascii_case(name)) && refuses(said)
    };
    let mut fence = markdown::Fence::default();
    lines_in(text, &(0..text.len()))
        .find(|(_, line)| !fence.is_code(line) && is(line))
        .map(|(at, line)| at..at + line.len())
}
