//! A contract that documents are looked for in, and what was read of one.

use crate::{Context, DocumentDialect, DocumentReading, Format, Reading, ReportDialect, Trailing};
use tollgate_core::diagnostic::{Diagnostic, Severity};
use tollgate_core::report::{Health, Report, Verdict};

/// A contract that documents are looked for in.
#[derive(Clone, Copy)]
pub enum Dialect<'d> {
    Report(&'d dyn ReportDialect),
    Document(&'d dyn DocumentDialect),
}

/// What was read of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "there is one of them at a time")]
pub enum Read {
    Report(Reading),
    Document(DocumentReading),
}

impl std::fmt::Debug for Dialect<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.format().id())
    }
}

impl<'d> Dialect<'d> {
    /// What reports and documents have in common.
    pub fn format(self) -> &'d dyn Format {
        match self {
            Self::Report(dialect) => dialect,
            Self::Document(dialect) => dialect,
        }
    }

    /// Reads a text that was handed in as a document.
    pub fn read(self, text: &str, context: &Context) -> Read {
        match self {
            Self::Report(dialect) => Read::Report(dialect.read(text, context)),
            Self::Document(dialect) => Read::Document(dialect.read(text, context)),
        }
    }

    pub(super) fn read_alone(self, text: &str, context: &Context) -> Read {
        match self {
            Self::Report(dialect) => Read::Report(dialect.read_alone(text, context)),
            Self::Document(dialect) => Read::Document(dialect.read_alone(text, context)),
        }
    }

    /// What becomes of text after a report.
    pub(crate) fn trailing(self) -> Trailing {
        match self {
            Self::Report(dialect) => dialect.trailing(),
            Self::Document(_) => Trailing::Note,
        }
    }

    pub(super) fn malformed(self, diagnostics: Vec<Diagnostic>) -> Read {
        match self {
            Self::Report(_) => Read::Report(malformed(diagnostics)),
            Self::Document(_) => Read::Document(DocumentReading { diagnostics, ..DocumentReading::default() }),
        }
    }
}

/// A report that never advances: it says what is wrong and nothing of what it claims.
pub fn malformed(diagnostics: Vec<Diagnostic>) -> Reading {
    let mut report = Report::new(Health::Malformed, Verdict::None);
    if let Some(error) = diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error) {
        report.reason.clone_from(&error.message);
    }
    Reading { report, diagnostics, sections: std::collections::BTreeMap::new(), present: Vec::new() }
}

impl Read {
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Report(reading) => &reading.diagnostics,
            Self::Document(reading) => &reading.diagnostics,
        }
    }

    pub(crate) fn diagnostics_mut(&mut self) -> &mut Vec<Diagnostic> {
        match self {
            Self::Report(reading) => &mut reading.diagnostics,
            Self::Document(reading) => &mut reading.diagnostics,
        }
    }

    /// Whether it is a report that accepts the work.
    pub(crate) fn accepts(&self) -> bool {
        match self {
            Self::Report(reading) => reading.report.verdict.accepts(),
            Self::Document(_) => false,
        }
    }

    /// Adds an error, which makes a report malformed.
    pub(crate) fn refuse(&mut self, error: Diagnostic) {
        if let Self::Report(reading) = self {
            let reads = std::mem::take(&mut reading.report.reads);
            let reason = error.message.clone();
            reading.report = Report { reads, reason, ..Report::new(Health::Malformed, Verdict::None) };
            reading.sections.clear();
        }
        self.diagnostics_mut().push(error);
    }

    /// Whether something is wrong with it.
    pub fn is_refused(&self) -> bool {
        self.diagnostics().iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}
