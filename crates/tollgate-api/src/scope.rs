//! What a scope check says of a change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Diagnostic;

/// The scope check of a change (`scope check`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScopeCheck {
    /// The task issue, as it was named.
    pub task: String,
    /// The commit that the change is measured from.
    pub base: String,
    /// The commit that it ends at; null for the checkout.
    pub head: Option<String>,
    /// Who asks.
    pub role: ScopeRole,
    /// What comes of it, by the worst class.
    pub result: ScopeResult,
    /// Every changed path, from the best class to the worst, each by path.
    pub paths: Vec<ScopePath>,
    /// The task and the body of the pull request, where they lie in the checkout and git does not know them: not counted.
    pub left_out: Vec<String>,
    /// The scope corrections of the pull request.
    pub corrections: Vec<ScopeCorrection>,
    /// What an implementor posts, ready to be edited; empty for a reviewer and when nothing is out of scope.
    pub drafts: Vec<ScopeDraft>,
    /// What a reviewer writes under Warnings; empty for an implementor.
    pub warnings: Vec<String>,
    /// What is wrong with the task or the pull request and refuses nothing.
    pub diagnostics: Vec<Diagnostic>,
}

/// Who asks for a scope check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScopeRole {
    /// Whoever made the change.
    Implementor,
    /// Whoever looks at it: what is out of scope is a warning.
    Reviewer,
}

/// What comes of a scope check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScopeResult {
    /// Every path is in scope.
    InScope,
    /// A person has to judge at least one path.
    Judge,
    /// At least one path is out of scope or protected.
    OutOfScope,
}

/// The class of a changed path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScopeClass {
    /// Listed in the task, or named by a correction.
    Primary,
    /// A test beside a file in scope.
    CoLocatedTest,
    /// All three criteria are met.
    Incidental,
    /// A person has to judge one of the criteria.
    #[serde(rename = "incidental?")]
    Judge,
    /// The task excludes it, or a criterion is not met.
    OutOfScope,
    /// A person protected it.
    Protected,
}

/// What happened to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScopeChange {
    /// It is new.
    Added,
    /// Its content changed.
    Modified,
    /// It is gone.
    Deleted,
    /// It is the new path of a rename.
    MovedHere,
    /// It is the old path of a rename.
    MovedAway,
    /// Another kind of thing stands there now.
    Replaced,
    /// Only its mode changed.
    Mode,
}

/// One changed path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScopePath {
    /// The path, in git's quotes when it is not plain text.
    pub path: String,
    /// What happened to it.
    pub change: ScopeChange,
    /// The other path of a rename; null otherwise.
    pub other: Option<String>,
    /// Lines added; null when they were not needed or could not be read.
    pub added: Option<usize>,
    /// Lines removed; null when they were not needed or could not be read.
    pub removed: Option<usize>,
    /// Its class.
    pub class: ScopeClass,
    /// Why it has this class.
    pub reason: String,
    /// What was measured for an incidental change; null where the class does not rest on it.
    pub criteria: Option<ScopeCriteria>,
    /// What a person has to judge.
    pub judge: Vec<String>,
}

/// The three criteria of an incidental change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScopeCriteria {
    /// The change is minimal.
    pub minimal: ScopeCriterion,
    /// The change in scope would not work without it.
    pub required: ScopeCriterion,
    /// The file does what it did before.
    pub unaltered: ScopeCriterion,
}

/// One criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScopeCriterion {
    /// Whether it is met; null when a person has to judge.
    pub met: Option<bool>,
    /// What was measured.
    pub measured: String,
}

/// One scope correction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScopeCorrection {
    /// The file that the task lists.
    pub listed: String,
    /// The file that holds the code.
    pub actual: String,
    /// Why.
    pub reason: String,
    /// The line in the pull request's body.
    pub line: u32,
    /// Whether it holds.
    pub holds: bool,
    /// Why it does not; null when it does.
    pub why_not: Option<String>,
}

/// A document to post.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScopeDraft {
    /// The contract that it meets.
    pub contract: String,
    /// Its type: technical-constraint, scope-conflict or spec-gap.
    #[serde(rename = "type")]
    pub kind: String,
    /// When it is to be posted.
    pub when: String,
    /// Its text.
    pub text: String,
}
