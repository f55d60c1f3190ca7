//! What takes a report back that is valid by itself: the word that decides it said otherwise, or a report of another contract that speaks against it.

use std::ops::Range;

use super::against::{self, Stands};
use super::candidates::{Candidate, Form, State};
use super::decides::Decided;
use super::{Read, Search, tail};
use crate::contract::Reading;
use crate::report::{Health, Verdict};

impl Search<'_> {
    /// Where a valid report is taken back, behind it or further down in it.
    pub(super) fn taken_back(&self, at: usize, read: &Read) -> Option<Candidate> {
        let Read::Report(Reading { report, .. }) = read else { return None };
        if read.is_refused() {
            return None;
        }
        let refuses = report.health != Health::Ok || report.verdict == Verdict::Reject;
        // What speaks against a report that refuses only says so again.
        let against = if refuses { None } else { self.spoken_against(at) };
        let accepts = matches!(report.verdict, Verdict::Accept | Verdict::AcceptWithNotes);
        let demanded = || if accepts { self.demanded(at) } else { None };
        against.or_else(|| self.said_otherwise(at, refuses)).or_else(demanded)
    }

    /// Where a report of another contract says otherwise.
    fn spoken_against(&self, at: usize) -> Option<Candidate> {
        let one = &self.all.candidates[at];
        if one.form != Form::Text || self.looks.against.is_empty() {
            return None;
        }
        let found =
            |layer: usize, range: Range<usize>, state: State| Candidate { layer, range, form: Form::Text, state };
        let text = self.all.text(one);
        let head = text.find('\n').map_or(text.len(), |end| end + 1);
        if let Some((at, state)) = against::find(&text[head..], self.looks, Stands::Inside) {
            return Some(found(one.layer, one.range.start + head + at..one.range.end, state));
        }
        self.all.said_behind(at).find_map(|part| {
            let text = &self.all.layers.text(part.layer)[part.range.clone()];
            let (at, state) = against::find(text, self.looks, Stands::Behind)?;
            // A prompt has such headings too: it is repeated where nothing else is said below them.
            let echo = self.own(&text[at..]).trim().is_empty();
            (!echo).then(|| found(part.layer, part.range.start + at..part.range.end, state))
        })
    }

    /// What the worker said itself: what it was shown is blank, and what is left has its place.
    pub(super) fn own(&self, text: &str) -> String {
        tail::without_shown(text, self.looks, self.context.prompt.as_deref())
    }

    /// Where the word that decides is said once more, and otherwise.
    fn said_otherwise(&self, at: usize, refuses: bool) -> Option<Candidate> {
        if self.looks.decides.is_empty() {
            return None;
        }
        let one = &self.all.candidates[at];
        let text = self.all.text(one);
        let decided = match one.form {
            Form::Json => Decided::object(self.looks, text, refuses),
            Form::Text => Decided::text(self.looks, text, refuses),
        };
        let found =
            |layer: usize, range: Range<usize>| Candidate { layer, range, form: Form::Text, state: State::Otherwise };
        let is_anothers = |object: &str| self.names_other_unit(object).is_some();
        if one.form == Form::Text
            && let Some(inside) = decided.find_inside(text, is_anothers)
        {
            return Some(found(one.layer, one.range.start + inside..one.range.end));
        }
        self.all.said_behind(at).find_map(|part| {
            let text = &self.all.layers.text(part.layer)[part.range.clone()];
            let find = |text: &str| decided.find(text, is_anothers);
            let at = find(text).and_then(|_| find(&self.own(text)))?;
            Some(found(part.layer, part.range.start + at..part.range.end))
        })
    }
}
