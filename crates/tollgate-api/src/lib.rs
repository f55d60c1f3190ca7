//! The wire types: what `--json` prints, and nothing else. States are plain words, every state has its reason, and
//! what can be done about it is a command to type.
//!
//! Rules of the wire: a key is always there (an absent value is `null`, an empty list `[]`); ids are strings; times are
//! milliseconds since 1970; there are no floats. Keys and words are only ever added.

mod budget;
mod contract;
mod decision;
mod doctor;
mod event;
mod failure;
mod gc;
mod journal;
mod land;
mod ledger;
mod protocol;
mod report;
mod run;
mod scope;
mod worker;

pub use budget::Budget;
pub use contract::{
    Contract, ContractCheck, ContractExtract, ContractFix, ContractKind, EarlierReport, FoundReport, Mended,
    PassedReport, PassedWhy, Plan, PlannedUnit, Requirement, TrailingText,
};
pub use decision::{
    CardQuestion, DecidedRequirement, Decision, DecisionStatus, InboxItem, LastLines, Origin, QuestionOption,
};
pub use doctor::{AreaFiles, Doctor, DoctorCheck, DoctorStatus, TrustEntry, TrustResult, Written};
pub use event::{Event, LogLine, Stream};
pub use failure::{CodePage, Diagnostic, Failure, FailureKind, Place, Severity};
pub use gc::{GcFate, GcItem, GcResult};
pub use journal::{Broken, ExportResult, RepairResult, VerifiedRun, VerifyResult};
pub use land::{LandKind, LandResult, LandStatus};
pub use ledger::{
    CommandRan, Criterion, Evidence, EvidenceRun, EvidenceSource, Finding, Gate, GateStatus, MatrixRow, Notice,
};
pub use protocol::{
    ProtocolCheck, ProtocolDetail, ProtocolGate, ProtocolOrigin, ProtocolOutcome, ProtocolRule, ProtocolStage,
    ProtocolSummary,
};
pub use report::{Claims, CriterionResult, FindingResult, Question, Report, SectionRead};
pub use run::{
    Actor, ActorKind, Attempt, AttemptStatus, Change, ChangeKind, DiffPart, Kept, NotAsCheckedOut, Position, Reads,
    RoleUsage, RunDetail, RunStatus, RunSummary, StoredObject, Tree, Unit, UsageSum,
};

pub use scope::{
    ScopeChange, ScopeCheck, ScopeClass, ScopeCorrection, ScopeCriteria, ScopeCriterion, ScopeDraft, ScopePath,
    ScopeResult, ScopeRole,
};

pub use worker::{Capabilities, Probe, QuotaReport, ResumeSupport, SchemaSupport, Worker};

/// The version of the wire, in every event line.
pub const VERSION: u32 = 1;

/// What a command prints on stdout with `--json` when it cannot do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct ErrorDocument {
    /// What went wrong.
    pub error: Failure,
}

/// The completions of a shell (`completions`).
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Completions {
    /// The shell.
    pub shell: String,
    /// What it reads.
    pub script: String,
}

/// Every document of the wire and its JSON Schema, by the name of its file.
pub fn schemas() -> Vec<(&'static str, schemars::Schema)> {
    vec![
        ("code", schemars::schema_for!(CodePage)),
        ("completions", schemars::schema_for!(Completions)),
        ("contract", schemars::schema_for!(Contract)),
        ("contract-check", schemars::schema_for!(ContractCheck)),
        ("contract-extract", schemars::schema_for!(ContractExtract)),
        ("contract-fix", schemars::schema_for!(ContractFix)),
        ("decision", schemars::schema_for!(Decision)),
        ("diff-part", schemars::schema_for!(DiffPart)),
        ("doctor", schemars::schema_for!(Doctor)),
        ("error", schemars::schema_for!(ErrorDocument)),
        ("event", schemars::schema_for!(Event)),
        ("evidence", schemars::schema_for!(StoredObject)),
        ("export-result", schemars::schema_for!(ExportResult)),
        ("gc-result", schemars::schema_for!(GcResult)),
        ("inbox-item", schemars::schema_for!(InboxItem)),
        ("land-result", schemars::schema_for!(LandResult)),
        ("log-line", schemars::schema_for!(LogLine)),
        ("protocol", schemars::schema_for!(ProtocolSummary)),
        ("protocol-check", schemars::schema_for!(ProtocolCheck)),
        ("protocol-detail", schemars::schema_for!(ProtocolDetail)),
        ("repair-result", schemars::schema_for!(RepairResult)),
        ("run", schemars::schema_for!(RunSummary)),
        ("run-detail", schemars::schema_for!(RunDetail)),
        ("scope-check", schemars::schema_for!(ScopeCheck)),
        ("trust", schemars::schema_for!(TrustResult)),
        ("verify-result", schemars::schema_for!(VerifyResult)),
        ("worker", schemars::schema_for!(Worker)),
        ("written", schemars::schema_for!(Written)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Floats do not survive a round trip everywhere, and a person cannot compare them.
    #[test]
    fn no_schema_has_a_float_and_every_property_says_what_it_is() {
        for (name, schema) in schemas() {
            walk(name, schema.as_value());
        }
    }

    fn walk(at: &str, value: &serde_json::Value) {
        match value {
            serde_json::Value::Object(map) => {
                assert_ne!(map.get("type").and_then(|kind| kind.as_str()), Some("number"), "{at} is a float");
                if let Some(serde_json::Value::Object(properties)) = map.get("properties") {
                    for (key, property) in properties {
                        let described = property.get("description").is_some() || property.get("const").is_some();
                        assert!(described, "{at}.{key} has no description");
                    }
                }
                map.iter().for_each(|(key, inner)| walk(&format!("{at}.{key}"), inner));
            }
            serde_json::Value::Array(items) => items.iter().for_each(|inner| walk(at, inner)),
            _ => {}
        }
    }

    #[test]
    fn names_of_schemas_are_unique_and_sorted() {
        let names: Vec<_> = schemas().into_iter().map(|(name, _)| name).collect();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    }
}
