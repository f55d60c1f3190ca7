//! What a person should know and what stops nothing.

use tollgate_core::code::Code;
use tollgate_core::diagnostic::Diagnostic;

use crate::failure::Source;

/// A warning that comes with a result.
#[derive(Debug)]
pub enum Notice {
    /// A sentence.
    Warning {
        /// The page that explains it.
        code: Option<Code>,
        /// What is the case.
        message: String,
        /// What to type next.
        next: Option<String>,
    },
    /// What a check says of a document that it accepts.
    Document {
        /// The document.
        source: Source,
        /// Each with its place.
        diagnostics: Vec<Diagnostic>,
    },
}
