//! What is said where no report is found: what there is in its place.

use super::{Dialect, Passed, Search, Why};
use crate::markdown::heading_words;
use crate::text::quote;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Fix, Place};

impl Search<'_> {
    /// Says that there is no report, and what was passed over last.
    pub(super) fn absent(&self, passed: &[Passed]) -> Diagnostic {
        let what = if matches!(self.dialect, Dialect::Report(_)) { "report" } else { "document" };
        let error = |place: Place, message: String| Diagnostic::error(Code::REPORT_ABSENT, place, message);
        match passed.last().map(|passed| (&passed.why, passed.place)) {
            Some((Why::OtherUnit(unit), place)) => {
                let wanted = self.context.unit.as_deref().unwrap_or_default();
                let message = format!("there is no {what} on {wanted}; the last one is on {}", quote(unit));
                error(place, message).hint(format!("report on {wanted}"))
            }
            Some((_, place)) => {
                error(place, format!("there is only an echo of the prompt, no {what}")).hint(&self.looks.begin)
            }
            None => self.unseen_heading(what).unwrap_or_else(|| {
                let message = format!("there is no {what} in the text: {}", self.looks.lacks);
                error(Place::START, message).hint(self.looks.begin.clone())
            }),
        }
    }

    /// Names a heading with the right words that begins no document: it has another level, or is in code, a quote or a list.
    fn unseen_heading(&self, what: &str) -> Option<Diagnostic> {
        let heads = self.looks.markdown.as_ref()?;
        let line = heads.line()?;
        let is = |said: &str| heading_words(said).is_some_and(|words| heads.is_head(2, words));
        let mut lines = crate::text::lines(self.file.text());
        let (at, said) = lines.find(|(_, line)| line.trim_start().starts_with('#') && is(line.trim()))?;
        let level = |line: &str| line.trim_start().bytes().take_while(|byte| *byte == b'#').count();
        let place = self.file.place(at);
        if level(said) == level(&line) {
            let message = format!("there is no {what}: this `{line}` is inside of code, a quote, a list or a comment");
            let hint = "print the report outside of these";
            return Some(Diagnostic::error(Code::REPORT_ABSENT, place, message).hint(hint));
        }
        let message = format!("there is no {what} in the text: {}", self.looks.lacks);
        let hint = format!("write {} as `{line}`", quote(said));
        Some(Diagnostic::error(Code::REPORT_ABSENT, place, message).hint(hint).fix(Some(Fix::Level(level(&line)))))
    }
}
