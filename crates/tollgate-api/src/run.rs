//! Runs: one line of a list, and everything about one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Budget, CommandRan, Criterion, Decision, Finding, Gate, MatrixRow, SectionRead};

/// One run of a list (`ls`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunSummary {
    /// Its id (`run_7k3m9q2x`).
    pub run: String,
    /// The protocol it runs under.
    pub protocol: String,
    /// What it is for, in a line.
    pub goal: String,
    /// Its repository.
    pub repository: String,
    /// Where it stands.
    pub status: RunStatus,
    /// Why it stands there, in one sentence.
    pub reason: String,
    /// The commands that take it on from here.
    pub next: Vec<String>,
    /// When it started.
    pub started_at_ms: u64,
    /// When its last event was recorded.
    pub changed_at_ms: u64,
    /// How many events its journal holds.
    pub events: u64,
    /// How many questions wait for a person.
    pub pending_decisions: u32,
    /// When a run that sleeps goes on by itself, while a driver runs it; else null.
    pub wakes_at_ms: Option<u64>,
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// A driver holds it and something is under way.
    Working,
    /// Something should be under way and no driver holds it; `resume` takes it on.
    Interrupted,
    /// A person has to decide.
    Waiting,
    /// It waits for a time: a quota or a timer.
    Sleeping,
    /// It cannot go on by itself; `retry` or `cancel`.
    Halted,
    /// It closed with every mandatory gate holding.
    Succeeded,
    /// It ended with its report, and is no success of work of its own.
    Reported,
    /// It closed without success, by the protocol or by an answer.
    Dropped,
    /// A person ended it.
    Cancelled,
}

/// Everything about one run (`show`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunDetail {
    /// The run in a line.
    pub summary: RunSummary,
    /// The digest of the protocol it is pinned to.
    pub protocol_digest: String,
    /// The values of its inputs and variables.
    pub values: BTreeMap<String, serde_json::Value>,
    /// The commit it started from.
    pub base: String,
    /// The branch that holds its tree.
    pub branch: Option<String>,
    /// The head of its journal's chain.
    pub head: String,
    /// Where its flows stand, main first.
    pub positions: Vec<Position>,
    /// Its units, in plan order.
    pub units: Vec<Unit>,
    /// What was done, in order.
    pub attempts: Vec<Attempt>,
    /// What must be true and what shows it.
    pub criteria: Vec<Criterion>,
    /// The configured commands that gates ask for, as they last ran.
    pub commands: Vec<CommandRan>,
    /// What was found wrong.
    pub findings: Vec<Finding>,
    /// What reports leave open: known issues, risks, work for later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<crate::Notice>,
    /// What people were asked.
    pub decisions: Vec<Decision>,
    /// The end of the output of what holds it, while something is held.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last_lines: Vec<crate::LastLines>,
    /// The gates for the run and for each unit.
    pub gates: Vec<Gate>,
    /// The files that differ from the base.
    pub changes: Vec<Change>,
    /// The work trees that exist.
    pub trees: Vec<Tree>,
    /// What work trees held when they were put back: work of lost or refused attempts, or of a person.
    pub kept: Vec<Kept>,
    /// What is in force for the run: workers, areas and commands, with where each comes from.
    pub config: serde_json::Value,
    /// Which parts of the sandbox were missing or off while its programs ran, in one sentence; null: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// What agents and other programs used: a row for each role, and last one for all of them; empty where no agent worked.
    pub usage: Vec<RoleUsage>,
    /// What it may use, and how much of that it did.
    pub budgets: Vec<Budget>,
    /// What each routing decision read (with `--reads`; else empty).
    pub reads: Vec<Reads>,
    /// Requirement by unit by row, with what shows each (with `--matrix`; else empty).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matrix: Vec<MatrixRow>,
    /// Files of the base that a checkout has otherwise, because a filter converts them; null: there are none.
    pub not_as_checked_out: Option<NotAsCheckedOut>,
}

/// Files that a filter converts, which Tollgate does not start: work, judges and commands have what is committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotAsCheckedOut {
    /// How many.
    pub count: u64,
    /// The first of them.
    pub paths: Vec<String>,
}

/// What the attempts of a role used, as far as it was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoleUsage {
    /// The role; null: all of them.
    pub role: Option<String>,
    /// How many attempts that may have used something.
    pub attempts: u32,
    /// Tokens that were read, from a cache or not.
    pub input_tokens: UsageSum,
    /// The part of them that came from a cache.
    pub cached_tokens: UsageSum,
    /// Tokens that were written.
    pub output_tokens: UsageSum,
    /// Billionths of a US dollar.
    pub cost_nano_usd: UsageSum,
}

/// A sum of what may be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageSum {
    /// What was told, added up.
    pub known: u64,
    /// How many attempts did not tell: the sum is that of the others.
    pub unknown: u32,
}

/// Where a flow stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Position {
    /// The flow (`main`, `side`).
    pub flow: String,
    /// The unit it runs for; null: the run.
    pub unit: Option<String>,
    /// The stage it is at, or the one that ended it.
    pub stage: String,
    /// What it does there, in plain words: "developer works", "waits for dec_3", "done", "held".
    pub state: String,
    /// How often each limited route was taken, `stage outcome` to "2 of 3".
    pub limits: BTreeMap<String, String>,
}

/// One piece of work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// new, produced, accepted, lapsed, held or dropped.
    pub state: String,
    /// Why it is in that state, in one sentence.
    pub reason: String,
    /// The stage it is at; null before it starts.
    pub stage: Option<String>,
    /// The units that must be done before it starts.
    pub needs: Vec<String>,
    /// The paths it may change; empty: everything.
    pub scope: Vec<String>,
}

/// One dispatch, check or landing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attempt {
    /// Its id (`att_12`).
    pub id: String,
    /// The stage it was made for.
    pub stage: String,
    /// The unit it was made for; null: the run.
    pub unit: Option<String>,
    /// The role; null for a check or a landing.
    pub role: Option<String>,
    /// The worker behind the role.
    pub worker: Option<String>,
    /// The role's nth attempt at this stage, from 1.
    pub iteration: u32,
    /// Where it stands.
    pub status: AttemptStatus,
    /// What came of it: the outcome that was routed.
    pub outcome: Option<String>,
    /// Why, in one sentence.
    pub reason: String,
    /// Where the outcome led: a stage, a question, an end.
    pub routed_to: Option<String>,
    /// When it started.
    pub started_at_ms: u64,
    /// When it ended.
    pub ended_at_ms: Option<u64>,
    /// The object that holds its report; of one that was not started, what its setup printed.
    pub report: Option<String>,
    /// The files it changed, as measured.
    pub changes: Vec<Change>,
}

/// Where an attempt stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttemptStatus {
    /// It is under way.
    Working,
    /// Its report counted.
    Reported,
    /// It ended without a report that counts.
    Lost,
    /// The place it works in could not be made ready: no worker was started.
    Unready,
    /// It was ended by a person or because another flow was left.
    Cancelled,
    /// A quota cut it off: another attempt goes on in its session.
    Parked,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// The file.
    pub path: String,
    /// How it differs.
    pub kind: ChangeKind,
    /// The area it falls into.
    pub area: Option<String>,
    /// in_scope, incidental, out_of_scope or protected.
    pub scope: String,
}

/// How a file differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Created,
    /// Its content or mode differs.
    Modified,
    /// It is gone.
    Deleted,
}

/// A work tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tree {
    /// The unit that works in it; null: the run.
    pub unit: Option<String>,
    /// Its folder.
    pub folder: String,
    /// The tree's id, as it was last measured.
    pub tree: Option<String>,
}

/// What a work tree held when it was put back before an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// The unit whose work tree it was; null: the run's.
    pub unit: Option<String>,
    /// The commit that holds it; null: it could not be measured, and its folder was moved.
    pub commit: Option<String>,
    /// The git folder of the commit, or the folder that was moved.
    pub folder: String,
    /// A command that shows it.
    pub look: String,
}

/// What one routing decision read of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reads {
    /// The attempt whose report was routed.
    pub attempt: String,
    /// The stage.
    pub stage: String,
    /// The outcome that was routed.
    pub outcome: String,
    /// The sections whose content entered the routing, a question or a bundle.
    pub read: Vec<SectionRead>,
    /// The sections that were checked and not routed on.
    pub checked_only: Vec<String>,
}

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Actor {
    /// What kind of actor it is.
    pub kind: ActorKind,
    /// Its name.
    pub name: String,
}

/// What kind of actor it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    /// A person.
    Person,
    /// The process that drives the run.
    Driver,
    /// A worker.
    Worker,
    /// A timer that fired.
    Timer,
}

/// A part of what a run changed (`diff`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiffPart {
    /// What part it is, in plain words.
    pub title: String,
    /// The unit it is of; null: the run.
    pub unit: Option<String>,
    /// The tree it begins at.
    pub from: String,
    /// The tree it ends at.
    pub to: String,
    /// The patch; bytes that are no text are replaced.
    pub patch: String,
}

/// The bytes of an object (`evidence`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoredObject {
    /// The sha256 of its bytes.
    pub object: String,
    /// How many bytes it has.
    pub bytes: u64,
    /// Its text; bytes that are no text are replaced.
    pub text: String,
    /// Whether the text is exactly its bytes.
    pub exact: bool,
}
