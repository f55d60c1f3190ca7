//! Protocols and what the checker says of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Diagnostic;

/// A protocol that can be run (`protocol list`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProtocolSummary {
    /// The name that `tollgate run` takes.
    pub id: String,
    /// The version its file declares.
    pub version: u32,
    /// Where it comes from.
    pub origin: ProtocolOrigin,
    /// Its file, where it is not built in.
    pub file: Option<String>,
    /// The digest of its text, pinned in the journal of each run.
    pub digest: String,
    /// The inputs that must be given.
    pub required_inputs: Vec<String>,
    /// Its roles.
    pub roles: Vec<String>,
    /// Whether all checks hold.
    pub valid: bool,
}

/// Where a protocol comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProtocolOrigin {
    /// Part of the program.
    BuiltIn,
    /// In `.tollgate/protocols/` of a trusted repository.
    Repository,
    /// A file named on the command line; it can be checked and shown, not run.
    File,
}

/// What the checker proved, or where it could not (`protocol check`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProtocolCheck {
    /// The file, or the id of a built-in protocol.
    pub file: String,
    /// The protocol's name, when the file could be read that far.
    pub protocol: Option<String>,
    /// The digest of the text.
    pub digest: String,
    /// Whether nothing is wrong; warnings do not count.
    pub valid: bool,
    /// What is wrong, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}
