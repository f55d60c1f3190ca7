//! The ledger of a run: what must be true, what shows it, what speaks against it, and how the gates stand.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What must be true, and what shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Criterion {
    /// Its id (`DoD-1`).
    pub id: String,
    /// What must be true.
    pub text: String,
    /// The group it is judged in.
    pub group: Option<String>,
    /// The unit it belongs to; null: the run.
    pub unit: Option<String>,
    /// The requirement it shows.
    pub requirement: Option<String>,
    /// The command that is run for it.
    pub command: Option<String>,
    /// How often it is run on the same content.
    pub repeat: u32,
    /// open, passed, failed, unobservable, stale or waived.
    pub status: String,
    /// What shows it, newest first.
    pub evidence: Vec<Evidence>,
}

/// A configured command that a gate asks for, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandRan {
    /// Its name under `[commands]`.
    pub name: String,
    /// The unit it ran for; null: the run.
    pub unit: Option<String>,
    /// What was run.
    pub command: String,
    /// How often it is run on the same content.
    pub repeat: u32,
    /// What came of it.
    pub evidence: Evidence,
}

/// What shows that a criterion holds or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// How it was found.
    pub source: EvidenceSource,
    /// pass, fail, flaky or unobservable; only a pass passes.
    pub result: String,
    /// Each run of a command on the same content, in order; empty for what was not run.
    pub runs: Vec<EvidenceRun>,
    /// What it says: the cited text, the command and its exit code, the decision.
    pub text: String,
    /// The attempt or decision it comes from.
    pub from: String,
    /// What it covers: the parts of the content that the gates which read it are bound to.
    pub covers: Vec<String>,
    /// The tree it was given to.
    pub tree: String,
    /// Whether what it covers is unchanged.
    pub fresh: bool,
    /// The object that holds its bytes (`tollgate evidence OBJECT` prints them).
    pub object: Option<String>,
    /// When it was recorded.
    pub at_ms: u64,
}

/// One run of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EvidenceRun {
    /// pass, fail or unobservable.
    pub result: String,
    /// Its exit code; null: it was ended, or never ran.
    pub exit: Option<i32>,
    /// The object that holds what it printed.
    pub object: Option<String>,
}

/// How evidence was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceSource {
    /// A judging role says so.
    Report,
    /// A role says so about its own work.
    SelfCheck,
    /// A command was run by the engine.
    Command,
    /// The engine measured it.
    Measurement,
    /// A person decided.
    Decision,
}

/// A line of the matrix of a run (`show --matrix`): a requirement, a unit that serves it, a row that shows it, and one piece of what shows
/// the row.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MatrixRow {
    /// The requirement; null: the row is about none.
    pub requirement: Option<String>,
    /// Where the requirement stands: undecided, proposed, in_scope, deferred, out_of_scope, non_material, met or waived.
    pub disposition: Option<String>,
    /// The unit; null: the run.
    pub unit: Option<String>,
    /// The row; null: the line is about the requirement or the unit itself.
    pub criterion: Option<String>,
    /// Where the row stands: open, passed, failed, unobservable, stale or waived.
    pub status: Option<String>,
    /// How it was found; null: nothing shows it yet.
    pub source: Option<EvidenceSource>,
    /// pass, fail, flaky or unobservable; of a requirement, what a person decided.
    pub result: Option<String>,
    /// Whether what it covers is unchanged.
    pub fresh: Option<bool>,
    /// Whose word it is: a person, a role, or `tollgate`, which ran a command.
    pub by: Option<String>,
    /// The attempt or decision it comes from.
    pub from: Option<String>,
    /// The object that holds its bytes.
    pub object: Option<String>,
}

/// Something that a report leaves open, and that is no defect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    /// What kind it is, in the dialect's word: `residual_risk`, `needs_tests`.
    pub kind: String,
    /// What is left open.
    pub text: String,
    /// The role that said so.
    pub role: String,
    /// The unit that it worked on; null: the run.
    pub unit: Option<String>,
    /// The requirement that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirement: Option<String>,
}

/// Something that is wrong with the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Its id (`fnd_7`).
    pub id: String,
    /// open, addressed, fixed, refuted or waived: in the run's tree.
    pub status: String,
    /// Who waived it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waived_by: Option<String>,
    /// Where it stands otherwise in trees that units have of their own and are yet to land, by the unit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub apart: BTreeMap<String, String>,
    /// How bad it is, in the dialect's word.
    pub severity: Option<String>,
    /// What kind it is, in the dialect's word.
    pub category: Option<String>,
    /// The file it is in.
    pub path: Option<String>,
    /// The line in that file.
    pub line: Option<u32>,
    /// The criterion it is about.
    pub criterion: Option<String>,
    /// The unit it was opened against; null: the run.
    pub unit: Option<String>,
    /// What is wrong.
    pub what: String,
    /// Why it matters.
    pub why: String,
    /// What would mend it.
    pub fix: String,
    /// The role that found it; none: it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The attempt that found it.
    pub found_by: String,
}

/// A named condition and how it stands for one subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// Its name.
    pub gate: String,
    /// The unit it is evaluated for; null: the run.
    pub unit: Option<String>,
    /// How it stands.
    pub status: GateStatus,
    /// Why, in one sentence.
    pub reason: String,
    /// Whether the subject cannot be done without it.
    pub mandatory: bool,
    /// What it is about: areas, artifacts, parts of the ledger.
    pub bound_to: Vec<String>,
}

/// How a gate stands. Only `holds` passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateStatus {
    /// It holds for the content as it is.
    Holds,
    /// It does not hold.
    Fails,
    /// It held for other content.
    Stale,
    /// It cannot be observed here.
    Unobservable,
}
