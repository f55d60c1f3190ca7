//! What the proof of a journal says, and what an export holds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The proof of one or more runs (`verify`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyResult {
    /// Whether everything holds.
    pub valid: bool,
    /// What was looked at: the state directory, or the file of an export.
    pub source: String,
    /// One entry per run.
    pub runs: Vec<VerifiedRun>,
}

/// The proof of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerifiedRun {
    /// The run.
    pub run: String,
    /// Whether everything holds.
    pub valid: bool,
    /// How many events hold, from the first.
    pub events: u64,
    /// The head of the chain; give it to `--head RUN=HASH` on another machine.
    pub head: String,
    /// How many objects were read and hashed.
    pub objects: u64,
    /// The first thing that does not hold.
    pub broken: Option<Broken>,
    /// What holds and should be known, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The first thing that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Broken {
    /// What does not hold: chain, tail, event, replay, snapshot, summary, row, heads, lease, invariant, object or commit.
    pub what: String,
    /// The first event it does not hold at; null when it is no event.
    pub seq: Option<u64>,
    /// The code; `tollgate explain CODE` prints its page.
    pub code: String,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What to do next.
    pub next: Vec<String>,
}

/// What a repair did (`repair`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepairResult {
    /// The run.
    pub run: String,
    /// The last event that verifies and is kept; the repair is the next one.
    pub kept: u64,
    /// The last event that is known to have been there; what lies between is lost.
    pub lost_until: u64,
    /// How many events were taken out of the journal.
    pub cut: u64,
    /// What did not hold.
    pub broken: Broken,
    /// The file beside the journal that keeps what was cut.
    pub file: Option<String>,
    /// What may have happened after the last event that is kept.
    pub after: Vec<String>,
    /// The head of the chain now.
    pub head: String,
    /// What to do next.
    pub next: Vec<String>,
}

/// What was written (`export`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExportResult {
    /// The run.
    pub run: String,
    /// The file.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// The digest of the file.
    pub digest: String,
    /// How many events it holds.
    pub events: u64,
    /// How many objects it holds.
    pub objects: u64,
    /// The head of the chain.
    pub head: String,
}
