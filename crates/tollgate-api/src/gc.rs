//! Cleaning up: what goes, what is set aside, and why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was cleaned up, or would be (`gc`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GcResult {
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// Each thing that was looked at, those that go first.
    pub items: Vec<GcItem>,
    /// How many bytes the files have that went, or would.
    pub removed_bytes: u64,
    /// What was put back (with `--restore`).
    pub restored: Vec<String>,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GcItem {
    /// What it is: tree, run_folder, ref, object, scratch, demo or quarantined.
    pub thing: String,
    /// Where it is; of what is set aside, where it was and where it is.
    pub place: String,
    /// The run it belongs to.
    pub run: Option<String>,
    /// What happens to it.
    pub fate: GcFate,
    /// Why that is safe, or why it stays.
    pub why: String,
    /// How many bytes its files have; 0 for what stays.
    pub bytes: u64,
}

/// What happens to a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GcFate {
    /// It goes.
    Removed,
    /// It is moved below `quarantine/`.
    Quarantined,
    /// It stays.
    Kept,
}
