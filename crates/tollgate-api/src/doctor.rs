//! What `doctor` finds and what `trust` did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether this machine and this repository are ready (`doctor`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Doctor {
    /// Whether no check found a problem.
    pub ready: bool,
    /// The checks, in the order they were made.
    pub checks: Vec<DoctorCheck>,
    /// Into which area of the named protocol the repository's files fall; empty without a protocol.
    pub areas: Vec<AreaFiles>,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorCheck {
    /// What was looked at: `git`, `state`, `repository`, `config`, `trust`, `worker NAME`.
    pub name: String,
    /// How it is.
    pub status: DoctorStatus,
    /// What was found, in one sentence.
    pub message: String,
    /// What to do next.
    pub next: Option<String>,
}

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DoctorStatus {
    /// As it should be.
    Ok,
    /// Runs will work; this is worth knowing.
    Note,
    /// Runs will not work.
    Problem,
}

/// The files of one area.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AreaFiles {
    /// The area; null for files that no area holds.
    pub area: Option<String>,
    /// Its patterns, as they are in force.
    pub patterns: Vec<String>,
    /// Where the patterns come from: protocol, repository or user.
    pub origin: String,
    /// How many files of the repository fall into it.
    pub files: u64,
    /// The first few of them.
    pub examples: Vec<String>,
}

/// What a repository may do (`trust`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrustResult {
    /// What is trusted after the command, or was listed or removed.
    pub entries: Vec<TrustEntry>,
}

/// One state of a repository's `.tollgate/` folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrustEntry {
    /// The repository's folder.
    pub repository: String,
    /// The digest of the files under `.tollgate/`.
    pub digest: String,
    /// The files it covers.
    pub files: Vec<String>,
    /// When it was trusted.
    pub at_ms: u64,
}

/// A file that was written (`init`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Written {
    /// The file.
    pub file: String,
    /// What to do next.
    pub next: Vec<String>,
}
