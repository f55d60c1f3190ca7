//! What the words before a report call it: an example, or an older one.

use super::candidates::{Candidate, Form};
use super::disown::{Leads, last_lead};
use super::{Read, Search, announce, entitled};
use crate::contract::Reading;
use crate::contract::markdown::is_fence;
use crate::contract::text::quote;
use crate::report::{Health, Report, Verdict};

/// So many lines of a report may be about the next one.
const LINES_MAX: usize = 5;

/// Words that call a report something, as they are quoted, and their line in the transcript.
pub(super) struct Label {
    words: String,
    line: u32,
}

impl Search<'_> {
    /// The words before a report that call it an example, or disown it.
    pub(super) fn label(&self, one: &Candidate) -> Option<Label> {
        let text = self.all.layers.text(one.layer);
        let own = announce::label(text, &one.range).map(|words| self.labelled(one.layer, text, words));
        let at = || self.all.candidates.iter().position(|other| std::ptr::eq(other, one));
        own.or_else(|| self.announced_before(at()?))
    }

    /// The label in what was said right before the message that a report is: nothing but what calls it an example, or disowns it.
    pub(super) fn announced_before(&self, at: usize) -> Option<Label> {
        let one = &self.all.candidates[at];
        let before = &self.all.layers.text(one.layer)[..one.range.start];
        if before.lines().any(|line| !line.trim().is_empty() && !is_fence(line.trim())) {
            return None;
        }
        let said = self.all.said.iter().find(|part| part.behind == self.all.unseen + at);
        let Some(part) = said else {
            // A tool prints the last message once more as its result.
            let former = at.checked_sub(1)?;
            let again = self.all.text(&self.all.candidates[former]).trim() == self.all.text(one).trim();
            return again.then(|| self.announced_before(former)).flatten();
        };
        let text = self.all.layers.text(part.layer);
        entitled::last_label(&text[part.range.clone()]).map(|words| self.labelled(part.layer, text, words))
    }

    fn labelled(&self, layer: usize, text: &str, words: &str) -> Label {
        let at = words.as_ptr().addr() - text.as_ptr().addr();
        Label { words: quote(words), line: self.file.place(self.all.layers.in_file(layer, at)).line }
    }

    /// What is wrong with a report that is called something else, and what to do about it.
    pub(super) fn is_called(&self, label: Option<Label>) -> (String, String) {
        let Some(Label { words, line }) = label else {
            let message = "this is shown as an example, or taken out: whether it is the report is not said";
            let hint = "print the report as the last thing, as itself and in nothing else";
            return (message.to_owned(), hint.to_owned());
        };
        let message = format!(
            "{words} in line {line} calls this an example or another report than the last one: whether it is the report is not said"
        );
        (message, format!("leave {words} out, and print the report as the last thing"))
    }

    /// The words that call a report an older one, where it is well and the last valid one before it was not: anywhere between the two, as long as
    /// nothing behind them leads to a new one.
    pub(super) fn called_former(&self, at: usize, read: &Read, earlier: &[usize]) -> Option<Label> {
        if read.is_refused() || !is_well(read)? {
            return None;
        }
        let (before, former) = self.valid_before(earlier)?;
        if is_well(&former)? {
            return None;
        }
        let seen = self.all.unseen + before..self.all.unseen + at;
        let between = self.all.said.iter().filter(|part| part.behind > seen.start && part.behind <= seen.end);
        let parts = between.map(|part| (part.layer, &self.all.layers.text(part.layer)[part.range.clone()]));
        let (layer, lead) =
            parts.chain(self.below(before, at)).find_map(|(layer, text)| last_lead(text).map(|lead| (layer, lead)))?;
        match lead {
            Leads::ToFormer(words) => Some(self.labelled(layer, self.all.layers.text(layer), words)),
            Leads::ToNew => None,
        }
    }

    /// The last lines of a Markdown report with another right behind it: they may be about that one, as only a heading ends a report.
    fn below(&self, before: usize, at: usize) -> Option<(usize, &str)> {
        let [one, next] = [before, at].map(|at| &self.all.candidates[at]);
        let follows = one.form == Form::Text && one.layer == next.layer && one.range.end == next.range.start;
        let text = self.all.text(one).trim_end();
        let last = text.lines().rev().take(LINES_MAX).last()?;
        follows.then(|| (one.layer, &text[last.as_ptr().addr() - text.as_ptr().addr()..]))
    }
}

/// Whether what a report says is neither a refusal nor a question.
pub fn is_well(read: &Read) -> Option<bool> {
    let Read::Report(Reading { report: Report { health, verdict, .. }, .. }) = read else { return None };
    Some(*health == Health::Ok && !matches!(verdict, Verdict::Reject | Verdict::Inconclusive))
}
