//! What went wrong, and what is wrong with an input.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a command did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// What kind of failure it is; decides the exit code.
    pub kind: FailureKind,
    /// The code; `tollgate explain CODE` prints its page.
    pub code: String,
    /// What went wrong, in one sentence.
    pub message: String,
    /// Why, from the nearest cause to the farthest.
    pub causes: Vec<String>,
    /// What to do next.
    pub hints: Vec<String>,
    /// What is wrong with an input, by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// A rule says no (exit 1).
    Refused,
    /// The command line is wrong (exit 2).
    Usage,
    /// The machine, a file or a program is not as needed (exit 3).
    Environment,
    /// A person has to decide (exit 4).
    Waiting,
    /// A budget or a quota is used up (exit 5).
    Budget,
    /// Tollgate broke one of its own rules (exit 70).
    Internal,
}

/// One thing that is wrong with an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnostic {
    /// The rule that was broken; `tollgate explain CODE` prints its page.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The file, where there is one.
    pub file: Option<String>,
    /// The line, from 1; 0 for the whole text.
    pub line: u32,
    /// The column in characters, from 1; 0 for the whole text.
    pub column: u32,
    /// The second place, where two places contradict each other.
    pub other: Option<Place>,
    /// What to do next.
    pub hint: Option<String>,
    /// The rule of a contract that does not hold; absent for everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The input is good; this is worth knowing.
    Warning,
    /// The input is refused.
    Error,
}

/// A code and its page (`explain`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CodePage {
    /// The code.
    pub code: String,
    /// What it is, in a few words.
    pub title: String,
    /// The whole page, in Markdown.
    pub page: String,
}
