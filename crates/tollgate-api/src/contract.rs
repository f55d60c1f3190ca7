//! Contracts and what a check of a report or document says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Criterion, Diagnostic, Report};

/// A contract (`contract list`, `contract show`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contract {
    /// Its name and version, `status-block@1`.
    pub id: String,
    /// Whether it is for reports or for documents.
    pub kind: ContractKind,
    /// The instructions for whoever writes one.
    pub instructions: String,
    /// The JSON Schema of the document behind the text.
    pub schema: serde_json::Value,
}

/// What a contract is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContractKind {
    /// What a worker hands back.
    Report,
    /// A document that a run is given.
    Document,
}

/// The check of one file (`contract check`), one object a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContractCheck {
    /// The file; `-` is stdin.
    pub file: String,
    /// The contract's name and version.
    pub contract: String,
    /// Whether nothing is wrong; warnings do not count.
    pub valid: bool,
    /// What the report says in the words of the engine; null for a document and for a file that could not be read.
    pub report: Option<Report>,
    /// What the document brings into the ledger; null for a report.
    pub plan: Option<Plan>,
    /// What is wrong, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// With `--reask`: what to tell the model that wrote it; absent where nothing is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reask: Option<String>,
}

/// What was mended in a file (`contract fix`), and the check of what it is then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContractFix {
    /// The check of the mended text: what could not be mended is in its diagnostics.
    #[serde(flatten)]
    pub check: ContractCheck,
    /// What was mended, in the order in which it was.
    pub mended: Vec<Mended>,
    /// The change as a unified diff; empty where nothing was mended.
    pub diff: String,
    /// Whether the file was written.
    pub written: bool,
}

/// Something that was mended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mended {
    /// The line it stood in, from 1; mends before it may have moved it.
    pub line: u32,
    /// The column, in characters, from 1.
    pub column: u32,
    /// What was wrong.
    pub message: String,
}

/// What was found in a transcript (`contract extract`): the check of the report that counts, and what else is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContractExtract {
    /// The check of the report that counts; its diagnostics have places in the file.
    #[serde(flatten)]
    pub check: ContractCheck,
    /// The report that counts; null where there is none.
    pub found: Option<FoundReport>,
    /// What else looks like a report, in the order of the text.
    pub passed: Vec<PassedReport>,
    /// How many before those were not looked at.
    pub unseen: u64,
    /// The last valid report before one that is not: it is not used.
    pub earlier: Option<EarlierReport>,
    /// Where text begins that follows the report; it is not read.
    pub trailing: Option<TrailingText>,
}

/// Where text begins that follows a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrailingText {
    /// The line, from 1.
    pub line: u32,
    /// The column, in characters, from 1.
    pub column: u32,
}

/// Where a report stands in a transcript, and what it is without what is around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundReport {
    /// Its first line, from 1.
    pub line: u32,
    /// The column it begins at, in characters, from 1.
    pub column: u32,
    /// Its last line.
    pub end_line: u32,
    /// Whether it stands in a JSON string: every place in it is in the line of that string.
    pub in_string: bool,
    /// Its text.
    pub text: String,
}

/// Something that looks like a report and is not the one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PassedReport {
    /// Why not.
    pub why: PassedWhy,
    /// The unit it is about, where that is why.
    pub unit: Option<String>,
    /// Its first line, from 1.
    pub line: u32,
    /// The column it begins at, in characters, from 1.
    pub column: u32,
}

/// Why a report is not the one that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PassedWhy {
    /// It repeats the prompt, the template, the instructions or the schema.
    Echo,
    /// Another comes after it.
    Earlier,
    /// The one that counts says the same again.
    Repeated,
    /// It is about another unit.
    OtherUnit,
}

/// A valid report before the one that counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EarlierReport {
    /// Its first line, from 1.
    pub line: u32,
    /// The column it begins at, in characters, from 1.
    pub column: u32,
    /// What it says; null for a document.
    pub report: Option<Report>,
    /// What it would bring into the ledger; null for a report.
    pub plan: Option<Plan>,
}

/// What enters the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Planned units.
    pub units: Vec<PlannedUnit>,
    /// What must be true.
    pub requirements: Vec<Requirement>,
    /// How it is judged.
    pub criteria: Vec<Criterion>,
}

/// A unit that a document plans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedUnit {
    /// Its name.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// The units that must be done before it starts.
    pub needs: Vec<String>,
    /// The paths it may change; empty: everything.
    pub scope: Vec<String>,
}

/// Something that must be true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Requirement {
    /// Its id.
    pub id: String,
    /// What must be true.
    pub text: String,
    /// in_scope, deferred, out_of_scope, non_material; null while nobody has decided.
    pub disposition: Option<String>,
}
