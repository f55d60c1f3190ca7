//! Landing: where the tree of a run went.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::NotAsCheckedOut;

/// What came of a landing (`land`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LandResult {
    /// The run.
    pub run: String,
    /// As what it was to land.
    #[serde(rename = "as")]
    pub how: LandKind,
    /// What came of it.
    pub status: LandStatus,
    /// Why, in one sentence.
    pub reason: String,
    /// The branch it lands on.
    pub onto: String,
    /// The branch that was made or moved; null for a patch.
    pub branch: Option<String>,
    /// The commit that the branch points to; for a patch, the one that it fits; null when nothing landed.
    pub commit: Option<String>,
    /// The tree that landed; null when nothing did.
    pub tree: Option<String>,
    /// Whether that is another tree than the run closed with.
    pub merged: bool,
    /// What was run again on the merged tree, by row or command: pass, fail or unobservable.
    pub checks: std::collections::BTreeMap<String, String>,
    /// The question that waits for a person.
    pub decision: Option<String>,
    /// The file that the patch was written to.
    pub file: Option<String>,
    /// The patch, where it was not written to a file.
    pub patch: Option<String>,
    /// The commands to type next.
    pub next: Vec<String>,
    /// Files of the base that a checkout has otherwise, because a filter converts them; null: there are none.
    pub not_as_checked_out: Option<NotAsCheckedOut>,
}

/// As what a run lands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LandKind {
    /// A branch of its own.
    Branch,
    /// Merged into a branch.
    Merge,
    /// A patch.
    Patch,
}

/// What came of a landing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LandStatus {
    /// It is there.
    Landed,
    /// It was there before.
    Before,
    /// A person has to decide.
    Waiting,
    /// Nothing was moved.
    Left,
}
