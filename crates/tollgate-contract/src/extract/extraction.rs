//! What comes of looking for a report in a transcript.

use super::Read;
use tollgate_core::diagnostic::{Diagnostic, Place};

/// What came of a transcript.
#[derive(Debug)]
pub struct Extraction {
    /// What the report says that counts; malformed where there is none. Its diagnostics have places in the transcript.
    pub read: Read,
    /// The report that counts.
    pub found: Option<Found>,
    /// What else looks like a report, in the order of the text.
    pub passed: Vec<Passed>,
    /// How many before those were not looked at.
    pub unseen: usize,
    /// The last report before an invalid one that is valid: it is not used.
    pub earlier: Option<Earlier>,
    /// Where text begins that follows the report.
    pub trailing: Option<Place>,
}

/// A report in a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub from: Place,
    pub to: Place,
    /// Whether it is in a JSON string.
    pub in_string: bool,
    /// Its text, without what is around it.
    pub text: String,
    /// What is wrong, with places in this text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Something that looks like a report and is not the one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    pub place: Place,
    pub why: Why,
}

/// Why a report is not the one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// It repeats what the worker was shown, or is a template that is not filled in.
    Echo,
    /// Another comes after it.
    Earlier,
    /// The one that counts says the same again.
    Repeated,
    /// It is about another unit.
    OtherUnit(String),
}

/// A valid report before the one that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    pub place: Place,
    pub read: Read,
}

impl Extraction {
    pub(super) fn nothing(read: Read, passed: Vec<Passed>, unseen: usize) -> Self {
        Self { read, found: None, passed, unseen, earlier: None, trailing: None }
    }
}
