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
    /// A file named on the command line.
    File,
}

/// A protocol in full (`protocol show`): its text, and for every stage what happens on every outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProtocolDetail {
    /// What `protocol list` says of it.
    pub summary: ProtocolSummary,
    /// Its text.
    pub text: String,
    /// The stages of every flow in the order of the text, then the questions that any stage may put.
    pub stages: Vec<ProtocolStage>,
    /// Its gates, by name.
    pub gates: Vec<ProtocolGate>,
}

/// A stage of a protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProtocolStage {
    /// Its flow; `null` for a question that any stage may put.
    pub flow: Option<String>,
    /// Its id.
    pub stage: String,
    /// What is done, in words.
    pub what: String,
    /// When it is done, in words; `null`: always.
    pub when: Option<String>,
    /// Gates that must hold and artifacts that must be there when it starts.
    pub requires: Vec<String>,
    /// Gates that its acceptance establishes.
    pub ensures: Vec<String>,
    /// Variables, artifacts, units and requirements that it delivers.
    pub gives: Vec<String>,
    /// What happens on each outcome.
    pub outcomes: Vec<ProtocolOutcome>,
}

/// What happens on an outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProtocolOutcome {
    /// The outcome, as routes name it.
    pub outcome: String,
    /// Where it leads, as the language writes it; `null` when the flow is left upward or the protocol has no route.
    pub to: Option<String>,
    /// How often this route may be taken.
    pub limit: Option<u32>,
    /// How often in a row it may be taken with the same gaps.
    pub same: Option<u32>,
    /// Where it leads at its limit.
    pub then: Option<String>,
    /// The gates that the answer establishes; `origin` stands for those of the stage that asked.
    pub ensures: Vec<String>,
    /// What the answer may amend.
    pub amends: Vec<String>,
    /// Where the rule stands.
    pub rule: ProtocolRule,
}

/// Where the rule for an outcome stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProtocolRule {
    /// At the stage.
    Stage,
    /// Among those for every stage.
    Otherwise,
    /// Whoever runs the flow has it.
    Upward,
    /// Nowhere; the check refuses such a protocol.
    Nowhere,
}

/// A gate of a protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProtocolGate {
    /// Its name.
    pub gate: String,
    /// When it holds, in words.
    pub holds: String,
    /// The content it is about.
    pub bound_to: Vec<String>,
    /// When it must hold at the end of a unit, in words; `null`: never.
    pub mandatory_unit: Option<String>,
    /// When it must hold at the end of the run, in words; `null`: never.
    pub mandatory_run: Option<String>,
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
