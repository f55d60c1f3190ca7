//! Findings that nobody ahead looks at: what a person can say of them.

use crate::words::words;

/// Stands for an ask where findings are put that alone are in the way: no protocol can use this name.
pub const FINDINGS: &str = "@findings";

/// What a person can say of findings that nobody is dispatched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtFindings {
    /// They do no harm.
    Waive,
    /// Somebody works on them again.
    Again,
    /// It is held.
    Hold,
}

words!(AtFindings { Waive = "waive", Again = "again", Hold = "hold" });
