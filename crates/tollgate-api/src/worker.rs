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
    /// What an agent can do; null for other workers.
    pub capabilities: Option<Capabilities>,
}

/// What an agent can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Capabilities {
    /// How that is known.
    pub basis: CapabilityBasis,
    /// Whether it can be held to a JSON Schema.
    pub schema: SchemaSupport,
    /// Where a session of it can be gone on with.
    pub resume: ResumeSupport,
    /// Whether it tells the tokens it used.
    pub usage: bool,
    /// Whether it tells what that cost.
    pub cost: bool,
    /// Whether it can be kept from writing.
    pub read_only: bool,
    /// Whether it works without a person to allow each step.
    pub unattended: bool,
    /// Whether it can be given servers of tools.
    pub mcp: bool,
    /// Whether it tells what it was not allowed to do.
    pub denials: bool,
    /// What it tells of an exhausted quota.
    pub quota: QuotaTold,
}

/// How it is known what an agent can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CapabilityBasis {
    /// Its adapter says so; nobody has measured it.
    Declared,
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
}

/// What an agent tells of an exhausted quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuotaTold {
    /// When it ends.
    Time,
    /// That there is one.
    Words,
    /// Nothing.
    None,
}
