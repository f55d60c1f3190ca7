//! Lines of a stream: events of a run, and lines of a worker's log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Actor;

/// One event of a run's journal, a line of `run --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// The version of the wire.
    pub v: u32,
    /// The dotted name: `run.started`, `attempt.ended`, `decision.asked`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The run.
    pub run: String,
    /// The number of the event in its run, from 1.
    pub seq: u64,
    /// When it was recorded.
    pub at_ms: u64,
    /// Which take-over of the run recorded it.
    pub epoch: u64,
    /// Who caused it.
    pub by: Actor,
    /// What happened, in one sentence.
    pub text: String,
    /// The event's own fields, as they stand in the journal.
    pub data: serde_json::Value,
}

/// One line that a worker or a command wrote (`logs`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogLine {
    /// The run.
    pub run: String,
    /// The attempt that wrote it.
    pub attempt: String,
    /// The unit it worked on; null: the run.
    pub unit: Option<String>,
    /// The role it worked in; null for a command of a check.
    pub role: Option<String>,
    /// Where it wrote.
    pub stream: Stream,
    /// The line's number in its attempt, from 1.
    pub line: u64,
    /// The text, without its end of line.
    pub text: String,
}

/// Where a line was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output or standard error, as they came.
    Output,
    /// What Tollgate says about the attempt.
    Tollgate,
}
