//! The canonical report: what a worker said, whatever dialect it said it in.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a worker said, in the words of the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// How the worker's run went: ok, partial, needs_input, failed, exhausted or malformed.
    pub health: String,
    /// The dialect's closed code for a health other than ok.
    pub code: Option<String>,
    /// One line on why the health is not ok.
    pub reason: String,
    /// What it judged: none, accept, accept_with_notes, reject or inconclusive.
    pub verdict: String,
    /// Its word on single criteria.
    pub criteria: Vec<CriterionResult>,
    /// What it found wrong.
    pub findings: Vec<FindingResult>,
    /// What it asks.
    pub questions: Vec<Question>,
    /// What it says was done; compared with what was measured, never believed.
    pub claims: Claims,
    /// What only people and later agents read, by section.
    #[serde(default)]
    pub notes: BTreeMap<String, String>,
    /// Values of the variables it gives.
    pub gives: BTreeMap<String, String>,
    /// The sections whose content entered all this.
    pub reads: Vec<SectionRead>,
}

/// A report's word on one criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CriterionResult {
    /// The criterion's id.
    pub id: String,
    /// pass, fail or unobservable.
    pub result: String,
    /// What the report cites for it.
    pub evidence: String,
}

/// A report's finding, before the ledger gives it an id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FindingResult {
    /// The finding of the ledger that it repeats.
    pub repeats: Option<String>,
    /// The dialect's word for how bad it is.
    pub severity: Option<String>,
    /// The dialect's word for what kind it is.
    pub category: Option<String>,
    /// The file it is in.
    pub path: Option<String>,
    /// The line in that file.
    pub line: Option<u32>,
    /// The criterion it is about.
    pub criterion: Option<String>,
    /// The unit it is about.
    pub unit: Option<String>,
    /// What is wrong.
    pub what: String,
    /// Why it matters.
    pub why: String,
    /// What would mend it.
    pub fix: String,
}

/// A report's question to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// The question, word for word.
    pub text: String,
    /// Whether the worker stopped for it.
    pub blocking: bool,
    /// The answers it offers.
    pub options: Vec<String>,
    /// The one it would take.
    pub recommendation: Option<String>,
    /// Why it would take that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a report says was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claims {
    /// Paths it says it created.
    pub created: Vec<String>,
    /// Paths it says it modified.
    pub modified: Vec<String>,
    /// Paths it says it deleted.
    pub deleted: Vec<String>,
    /// How many files it says it deleted, where its dialect only counts them.
    pub deleted_count: Option<u32>,
    /// Who it thinks comes next.
    pub next: Option<String>,
    /// Findings a repair says it addressed; null: all it was shown.
    pub addresses: Option<Vec<String>>,
}

/// One section that entered a routing decision, a question or a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SectionRead {
    /// The section's heading as the dialect writes it.
    pub section: String,
    /// Why its content was read.
    pub reason: String,
    /// How many bytes of content were read.
    pub bytes: u64,
}
