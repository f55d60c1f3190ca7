//! Workers that can be named, and what they can do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A worker that can be named (`worker list`, `worker doctor`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Worker {
    /// Its name: that of a configuration, or that of an agent.
    pub name: String,
    /// How Tollgate speaks with it.
    pub adapter: String,
    /// Who defines it: `built_in`, `user` or `repository`.
    pub origin: String,
    /// The program, or the file of a script, as it is configured.
    pub program: String,
    /// Where that was found; null: nowhere.
    pub path: Option<String>,
    /// The version that the program says it has; null where it was not asked or did not say.
    pub version: Option<String>,
    /// The model; null: the agent's own choice.
    pub model: Option<String>,
    /// What an agent can do; null for other workers, and where nobody measured it.
    pub capabilities: Option<Capabilities>,
    /// The credential pool that a quota parks; null for workers without an account.
    pub pool: Option<String>,
    /// What it does not tell, so that no budget can hold it to that: tokens, cost, turns.
    pub untold: Vec<String>,
    /// What came of asking it once (`--probe`); null where it was not asked.
    pub probe: Option<Probe>,
}

/// What an agent can do, as the conformance kit measured it; what is null was not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Capabilities {
    /// The version that was measured.
    pub measured_on: String,
    /// Whether the same is installed; null: not known.
    pub same_version: Option<bool>,
    /// Whether it can be held to a JSON Schema.
    pub schema: Option<SchemaSupport>,
    /// Where a session of it can be gone on with.
    pub resume: Option<ResumeSupport>,
    /// Whether it tells the tokens it used.
    pub usage: Option<bool>,
    /// Whether it tells what that cost.
    pub cost: Option<bool>,
    /// Whether it tells its turns as it works, so that it is stopped when they are used up.
    pub turns: Option<bool>,
    /// Whether it tells its tokens as it works, too.
    pub tokens_at_work: Option<bool>,
    /// Whether it can be kept from writing.
    pub read_only: Option<bool>,
    /// Whether it works without a person to allow each step.
    pub unattended: Option<bool>,
    /// Whether it can be given servers of tools.
    pub mcp: Option<bool>,
    /// Whether it tells what it was not allowed to do.
    pub denials: Option<bool>,
    /// What it tells of an exhausted quota.
    pub quota: Option<QuotaReport>,
    /// Whether nothing of it is left when it is ended, also what left its session.
    pub whole_tree_kill: Option<bool>,
}

/// What came of asking an agent once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// Whether it answered.
    pub answered: bool,
    /// Why not, in one sentence; empty where it did.
    pub reason: String,
    /// The model that it says it asked.
    pub model: Option<String>,
    /// What it used; null where it did not say.
    pub input_tokens: Option<u64>,
    /// What it was answered with; null where it did not say.
    pub output_tokens: Option<u64>,
    /// Billionths of a US dollar.
    pub cost_nano_usd: Option<u64>,
}

/// Whether an agent can be held to a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SchemaSupport {
    /// It checks its answer.
    Enforced,
    /// It hands the schema on and believes the answer.
    BestEffort,
    /// It takes none.
    None,
}

/// Where a session can be gone on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResumeSupport {
    /// In any folder.
    Anywhere,
    /// In the folder that it began in.
    SameFolder,
    /// Nowhere.
    None,
}

/// What an agent tells of an exhausted quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuotaReport {
    /// When it ends.
    Time,
    /// That there is one.
    Words,
    /// Nothing.
    None,
}
