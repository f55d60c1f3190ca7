//! What stands behind a report that accepts the work, and may ask for a change to it: a section, or a verdict in other words.

use super::Search;
use super::candidates::{Candidate, Form, State};
use crate::contract::layout::{doubted, heads};
use crate::contract::markdown::{self, is_fence};
use crate::contract::meant::refuses;
use crate::contract::rows::unmarked;
use crate::contract::struck::unstruck;
use crate::contract::text::{lines_in, words};

/// Headings of these levels begin a section of their own, wherever they stand.
const LEVEL_MAX: usize = 3;
/// Names of what is decided, whatever the contract calls it.
const DECIDED: [&str; 5] = ["verdict", "decision", "outcome", "recommendation", "ruling"];
/// What may stand before such a name.
const OWN: [&str; 11] =
    ["final", "my", "the", "our", "overall", "new", "updated", "revised", "review", "corrected", "current"];
/// Signs between such a name and what is decided.
const SIGNS: [char; 7] = [':', '=', '|', '—', '–', '：', '-'];

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

/// The first line of a text that decides otherwise: `Verdict: rejected`, `| Verdict | rejected |`. What a name that stands alone decides is said in the next line.
fn denial(text: &str) -> Option<std::ops::Range<usize>> {
    let mut fence = markdown::Fence::default();
    let whole = 0..text.len();
    let said = lines_in(text, &whole).filter(|(_, line)| !fence.is_code(line) && !line.trim().is_empty());
    let mut said = said.peekable();
    while let Some((at, line)) = said.next() {
        let Some(value) = decided(line) else { continue };
        let below = said.peek().map_or("", |(_, below)| *below);
        let value = if value.contains(char::is_alphanumeric) { value } else { below };
        // What is struck out is not meant, and of two words that one leads to the other the last is.
        let value = unstruck(value);
        let last = ["→", "->", "=>", "➜"].iter().filter_map(|arrow| value.rsplit_once(arrow)).next();
        if refuses(last.map_or(&*value, |(_, last)| last)) {
            return Some(at..at + line.len());
        }
    }
    None
}

/// What a line has behind the name of what is decided and a sign.
fn decided(line: &str) -> Option<&str> {
    let marks = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '#' | '|' | '{' | '"' | '\'' | '`');
    let mut rest = unmarked(line.trim_start()).trim_start_matches(marks);
    loop {
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        let is_own = |word: &str| OWN.iter().any(|known| known.eq_ignore_ascii_case(word));
        if DECIDED.iter().any(|known| known.eq_ignore_ascii_case(word)) {
            let behind = behind.trim_start_matches(marks);
            // Others tell of which round it is.
            let remark = behind.strip_prefix('(').and_then(|remark| remark.split_once(')'));
            let remark = remark.filter(|(remark, _)| words(remark).all(is_own));
            let behind = remark.map_or(behind, |(_, behind)| behind).trim_start_matches(marks);
            // In a row of a table the sign is the end of the cell.
            let is_cell = line.trim_start().starts_with('|');
            return behind.strip_prefix(SIGNS).or(is_cell.then_some(behind));
        }
        if !is_own(word) {
            return None;
        }
        rest = behind.trim_start_matches(marks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_read_in_any_spelling() {
        for line in [
            "Verdict: rejected",
            "**Verdict:** rejected",
            "- **Final verdict**: needs changes",
            "> Verdict: rejected",
            "| Verdict | rejected |",
            "Verdict — rejected",
            "VERDICT = REJECTED",
            "Verdict (updated): rejected",
            "New verdict: not approved",
            "Verdict: approved → rejected",
            "Verdict: ~~approved~~ rejected",
            "Verdict:\n\nrejected",
            "## Verdict:\n**REJECTED**",
            "Verdict: rejected because of the NaN",
            "{\"verdict\": \"rejected\"}",
            "Recommendation: do not merge",
            "Decision: not ready",
        ] {
            assert!(denial(line).is_some(), "{line}");
        }
        for line in [
            "Verdict: approved",
            "Previous verdict: rejected",
            "Verdict: rejected → approved",
            "Key decision: rejected the cache",
            "Decision: rejected promises are caught",
            "The outcome of a payment is `rejected` or `paid`.",
            "| Decision | Why |\n|---|---|\n| rejected names | too long |",
            "```\nVerdict: rejected\n```",
            "Verdict\n\nrejected names are told",
        ] {
            assert_eq!(denial(line), None, "{line}");
        }
    }
}
