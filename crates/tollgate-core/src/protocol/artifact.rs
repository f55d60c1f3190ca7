//! Documents that stages give and need.

use serde::Serialize;

use super::condition::Condition;
use super::model::Resource;
use crate::Name;
use crate::diagnostic::Place;

/// A document that stages give and need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Artifact {
    /// The file of the repository that it is; none: it is handed over, and lies in no work tree.
    pub path: Option<Name>,
    /// A document dialect whose criteria, requirements and units enter the ledger.
    pub schema: Option<Name>,
    pub sections: Vec<Name>,
    /// Whether the report of the stage that gives it is the document.
    #[serde(skip_serializing_if = "is_false")]
    pub from_report: bool,
    /// Whether it is a set of documents.
    #[serde(skip_serializing_if = "is_false")]
    pub many: bool,
    /// What of it enters the ledger; none: whatever its contract says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brings: Option<Vec<Resource>>,
    /// Where people find it, below the files of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown_at: Option<Name>,
    pub given: Given,
    pub place: Place,
}

impl Artifact {
    /// Whether a worker hands it over as a file of its own that lies in no work tree.
    pub fn is_handed_over(&self) -> bool {
        self.path.is_none() && !self.from_report
    }
}

/// What stands in braces in a path.
pub(super) fn placeholders(path: &str) -> impl Iterator<Item = &str> {
    path.split('{').skip(1).map(|rest| rest.split_once('}').map_or(rest, |(word, _)| word))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Whether an artifact is there from the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Given {
    /// A stage gives it.
    ByStage,
    /// It is an input.
    Input,
    /// It is an input when this holds.
    InputWhen(Condition),
}
