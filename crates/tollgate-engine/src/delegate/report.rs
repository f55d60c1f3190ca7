//! The report that goes out: always one that its contract holds, with what was measured in the place of what was claimed.

use serde_json::{Map, Value, json};
use tollgate_contract::{Context, ReportDialect, reask};
use tollgate_core::diagnostic::Severity;

use super::VERIFIER;

/// Why a worker is blocked by something else than its own word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The dossier does not hold.
    InvalidDossier,
    /// There are changes that are not committed.
    DirtyWorkspace,
    /// There is no such worker.
    WorkerUnavailable,
    /// Its program is not there.
    CliMissing,
    /// It could not be started, held or measured, or it came down.
    Execution,
    /// It took too long.
    Timeout,
    /// It is not logged in.
    Auth,
    /// It left no report.
    InvalidReport,
    /// Its report breaks a rule, or what it did does.
    Validation,
}

impl Reason {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::InvalidDossier => "invalid_dossier",
            Self::DirtyWorkspace => "dirty_workspace",
            Self::WorkerUnavailable => "worker_agent_unavailable",
            Self::CliMissing => "adapter_cli_missing",
            Self::Execution => "adapter_execution_error",
            Self::Timeout => "adapter_timeout",
            Self::Auth => "adapter_auth_unavailable",
            Self::InvalidReport => "invalid_worker_report",
            Self::Validation => "report_validation_failed",
        }
    }

    /// Whether it is the worker or the machine that failed.
    const fn is_failure(self) -> bool {
        match self {
            Self::WorkerUnavailable
            | Self::CliMissing
            | Self::Execution
            | Self::Timeout
            | Self::Auth
            | Self::InvalidReport => true,
            Self::InvalidDossier | Self::DirtyWorkspace | Self::Validation => false,
        }
    }

    const fn next(self) -> &'static str {
        match self {
            Self::InvalidDossier => "Fix the dossier: `tollgate contract check --contract supervisor.dossier FILE`.",
            Self::DirtyWorkspace => "Commit or stash the changes, or delegate with `--allow-dirty`.",
            Self::WorkerUnavailable | Self::CliMissing => "See which workers there are: `tollgate delegate doctor`.",
            Self::Execution => "See what is wrong with the worker or the machine: `tollgate delegate doctor`.",
            Self::Timeout => {
                "Look at what it left, then delegate again, with a longer `--timeout-ms` or a smaller unit."
            }
            Self::Auth => "Log the agent in, then delegate again.",
            Self::InvalidReport => "Look at what it left, then delegate again.",
            Self::Validation => "Look at what it did before you use it.",
        }
    }
}

/// How a delegation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Passed,
    Failed,
    /// A person must decide.
    Asks,
    /// Blocked for another reason.
    Blocked,
    /// The worker or the machine failed.
    Broken,
}

/// What the guard saw.
#[derive(Debug, Clone, Default)]
pub(super) struct Guard {
    /// Changes outside of what was allowed.
    pub outside: Vec<String>,
    /// What the role may not do.
    pub role: Vec<String>,
    pub warnings: Vec<String>,
    /// What a person has to put right where git keeps something.
    pub by_hand: Vec<String>,
}

impl Guard {
    fn next(&self, reason: Reason) -> String {
        match self.by_hand.as_slice() {
            [] => reason.next().to_owned(),
            all => format!("Nothing was put back; before you use git there: {}.", all.join("; ")),
        }
    }

    fn json(&self) -> Value {
        json!({"allowed_surface_violations": self.outside, "role_violations": self.role, "warnings": self.warnings})
    }
}

/// What is put into every report.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub role: String,
    pub unit: String,
    /// How the worker was started.
    pub adapter: Map<String, Value>,
    pub guard: Guard,
    /// What was changed, as it was measured.
    pub changed: Vec<String>,
}

/// A report, and what it comes to.
#[derive(Debug)]
pub struct FinalReport {
    pub report: Value,
    pub ending: Ending,
}

impl Frame {
    /// What is known before anything was looked at.
    pub fn of(agent: &str, role: &str, unit: &str) -> Self {
        let adapter = Map::from_iter([("agent".to_owned(), agent.into())]);
        Self { role: role.to_owned(), unit: unit.to_owned(), adapter, ..Self::default() }
    }

    /// A report of a worker that did not get to one of its own, or whose own cannot stand.
    pub fn blocked(&self, reason: Reason, summary: &str, findings: &[String]) -> FinalReport {
        let mut all = vec![json!({"id": reason.word(), "severity": "blocking", "summary": summary})];
        all.extend(findings.iter().map(|finding| json!({"id": reason.word(), "summary": finding})));
        let report = json!({
            "schema": "WorkerReportV1",
            "status": "BLOCKED",
            "role": self.role,
            "unit_id": self.unit,
            "summary": summary,
            "changed_surfaces": self.shown(),
            "evidence": [],
            "checks_run": [],
            "skipped_checks": [],
            "findings": all,
            "blocking_question": null,
            "next_action": self.guard.next(reason),
            "adapter": self.adapter(),
            "guard": self.guard.json(),
            "reason": reason.word(),
        });
        let ending = if reason.is_failure() { Ending::Broken } else { Ending::Blocked };
        FinalReport { report, ending }
    }

    /// The worker's own report, which holds, with what is measured in it.
    pub fn own(&self, mut report: Map<String, Value>) -> FinalReport {
        report.insert("changed_surfaces".into(), self.shown().into());
        report.insert("adapter".into(), self.adapter());
        report.insert("guard".into(), self.guard.json());
        // The words for a reason are ours: a worker that claims one would pass for what it is not.
        report.insert("reason".into(), Value::Null);
        let question = report.get("blocking_question").and_then(Value::as_str);
        let asks = question.is_some_and(|question| !question.trim().is_empty());
        let ending = match report.get("status").and_then(Value::as_str) {
            Some("PASS") => Ending::Passed,
            Some("FAIL") => Ending::Failed,
            _ if asks => Ending::Asks,
            _ => Ending::Blocked,
        };
        FinalReport { report: report.into(), ending }
    }

    /// The worker's own report, with what speaks against it: it is kept, and blocked.
    pub fn refused(&self, mut report: Map<String, Value>, summary: &str, findings: &[String]) -> FinalReport {
        let blocked = self.blocked(Reason::Validation, summary, findings);
        let Value::Object(blocked) = blocked.report else { return blocked };
        for (key, value) in blocked {
            match (key.as_str(), report.get_mut(&key)) {
                // What the worker found stays, behind what was found of it.
                ("findings", Some(Value::Array(own))) => {
                    let mut all = value.as_array().cloned().unwrap_or_default();
                    all.append(own);
                    *own = all;
                }
                ("evidence" | "checks_run" | "skipped_checks" | "blocking_question", Some(_)) => {}
                _ => drop(report.insert(key, value)),
            }
        }
        FinalReport { report: report.into(), ending: Ending::Blocked }
    }

    fn adapter(&self) -> Value {
        if self.adapter.is_empty() { Value::Null } else { self.adapter.clone().into() }
    }

    /// What was changed; a report of a verifier may name nothing, its guard does.
    fn shown(&self) -> Vec<String> {
        if self.role == VERIFIER { Vec::new() } else { self.changed.clone() }
    }
}

/// What is wrong with a report, by its contract.
pub(super) fn mistakes(report: &Value, role: &str, dialect: &dyn ReportDialect) -> Vec<String> {
    let context = Context { role: Some(role.into()), ..Context::default() };
    let found = dialect.read_alone(&report.to_string(), &context).diagnostics;
    found.iter().filter(|one| one.severity == Severity::Error).map(reask::point).collect()
}
