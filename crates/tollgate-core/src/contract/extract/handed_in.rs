//! A file that somebody wrote as a report: what takes a report back in a transcript does so in it too.

use super::{Dialect, Read, called, extract};
use crate::contract::Context;
use crate::diagnostic::{Diagnostic, Severity};
use crate::report::{Health, Report, Verdict};

impl Dialect<'_> {
    /// Reads a file that was handed in. Where it holds a report in Markdown that is well, what stands around and in that is asked what
    /// [`extract`] asks: whether it is called something else, or says otherwise further down.
    pub fn read_handed_in(self, text: &str, context: &Context) -> Read {
        let mut read = self.read(text, context);
        if read.is_refused() || called::is_well(&read) != Some(true) || self.looks(context).markdown.is_none() {
            return read;
        }
        let found = extract(self, text, context);
        let doubts = found.read.diagnostics().iter().filter(|one| one.severity == Severity::Error);
        let doubts: Vec<Diagnostic> = doubts.filter(|_| found.found.is_some()).cloned().collect();
        if let (Read::Report(reading), Some(first)) = (&mut read, doubts.first()) {
            let reads = std::mem::take(&mut reading.report.reads);
            let reason = first.message.clone();
            reading.report = Report { reads, reason, ..Report::new(Health::Malformed, Verdict::None) };
            reading.diagnostics.extend(doubts);
            reading.diagnostics.sort_by_key(|one| one.place);
        }
        read
    }
}
