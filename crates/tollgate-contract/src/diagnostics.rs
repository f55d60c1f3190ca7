//! Where a reader puts what is wrong: bounded, so that hostile text costs no more than honest text.

use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place, Severity};

/// How many errors, and how many warnings, one text can have; the rest would repeat them.
const EACH_MAX: usize = 50;

/// Diagnostics under collection.
#[derive(Debug, Default)]
pub struct Sink {
    found: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
}

impl Sink {
    /// Takes one diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let count = match diagnostic.severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        *count += 1;
        if *count <= EACH_MAX {
            self.found.push(diagnostic);
        }
    }

    /// Takes an error with what to do about it.
    pub fn error(&mut self, code: Code, place: Place, message: impl Into<String>, hint: impl Into<String>) {
        self.push(Diagnostic::error(code, place, message).hint(hint));
    }

    /// Takes a warning with what to do about it.
    pub fn warning(&mut self, code: Code, place: Place, message: impl Into<String>, hint: impl Into<String>) {
        self.push(Diagnostic::warning(code, place, message).hint(hint));
    }

    /// Whether the text is refused.
    pub fn refused(&self) -> bool {
        self.errors > 0
    }

    /// Everything, in the order of the text.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|diagnostic| diagnostic.place);
        if let Some(last) = self.found.last_mut().filter(|_| self.errors > EACH_MAX || self.warnings > EACH_MAX) {
            say_more(last);
        }
        self.found
    }
}

/// Adds that there may be more than is listed.
pub fn say_more(last: &mut Diagnostic) {
    let hint = last.hint.take().map(|hint| format!("{hint}; ")).unwrap_or_default();
    last.hint = Some(format!("{hint}fix these first; there may be more errors"));
}
