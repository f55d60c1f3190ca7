//! A section behind a report that accepts the work, and may ask for a change to it.

use super::Search;
use super::candidates::{Candidate, Form, State};
use crate::contract::layout::{doubted, heads};
use crate::contract::markdown;

impl Search<'_> {
    /// Where such a section stands behind a report in Markdown: one below its level is a part of it, and read with it.
    pub(super) fn demanded(&self, at: usize) -> Option<Candidate> {
        let one = &self.all.candidates[at];
        let level = self.all.text(one).bytes().take_while(|byte| *byte == b'#').count();
        if one.form != Form::Text || level == 0 {
            return None;
        }
        self.all.said_behind(at).find_map(|part| {
            let text = &self.all.layers.text(part.layer)[part.range.clone()];
            if !text.contains('#') || markdown::refused(text).is_some() {
                return None;
            }
            let high: Vec<_> = heads(text).into_iter().filter(|head| head.0 <= level).collect();
            let ends = high.iter().skip(1).map(|(.., next)| next.start).chain([text.len()]);
            let doubted = high.iter().zip(ends).find(|((_, title, range), end)| {
                doubted(&text[title.clone()], &text[range.end.min(*end)..*end]).is_some()
                    && !self.own(&text[range.start..*end]).trim().is_empty()
            });
            let ((.., range), end) = doubted?;
            let range = part.range.start + range.start..part.range.start + end;
            Some(Candidate { layer: part.layer, range, form: Form::Text, state: State::Demands })
        })
    }
}
