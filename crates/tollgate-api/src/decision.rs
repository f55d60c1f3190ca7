//! Questions to people and their answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Actor;

/// A question to a person, and what came of it (`decisions`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// Its id in its run (`dec_3`).
    pub id: String,
    /// approval, choice, clarification, scope, waiver, security, disposition or intake.
    pub class: String,
    /// Where it stands.
    pub status: DecisionStatus,
    /// The question, word for word.
    pub question: String,
    /// Why it is asked.
    pub why: String,
    /// Whether work waits for it. The run does not close before it is answered, either way.
    pub blocking: bool,
    /// The unit that waits for it; null: the run.
    pub unit: Option<String>,
    /// What asked it.
    pub origin: Origin,
    /// The answers that are offered; empty: any text answers.
    pub options: Vec<QuestionOption>,
    /// The option that is recommended.
    pub recommendation: Option<String>,
    /// What to look at before answering: files, diffs, rows of the ledger.
    pub evidence: Vec<String>,
    /// The end of the output of what failed and led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_lines: Option<LastLines>,
    /// The option a timer takes when nobody answers.
    pub default_answer: Option<String>,
    /// When the timer takes it.
    pub default_at_ms: Option<u64>,
    /// When it was asked.
    pub asked_at_ms: u64,
    /// The option that was taken, or the text that was given where there are no options.
    pub answer: Option<String>,
    /// What the answer said beside the option.
    pub text: Option<String>,
    /// The questions on its card, each with an answer of its own; empty: it is one question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<CardQuestion>,
    /// What its answer decided of requirements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<DecidedRequirement>,
    /// Until when a person put it off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred_until_ms: Option<u64>,
    /// After so many invalid answers it is cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tries: Option<u32>,
    /// Why a person cancelled, skipped or put it off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who answered.
    pub by: Option<Actor>,
    /// When it ended.
    pub ended_at_ms: Option<u64>,
}

/// What an answer decided of one requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DecidedRequirement {
    /// The id of the requirement.
    pub id: String,
    /// in_scope, deferred, out_of_scope or non_material.
    pub disposition: String,
    /// The later decision that counts instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overruled_by: Option<String>,
}

/// One question of several on one card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CardQuestion {
    /// Its number, from 1 on.
    pub number: u32,
    /// The question, word for word.
    pub text: String,
    /// The input that it asks for, by which it is answered too; it takes nothing but the answers that it proposes, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The answers it proposes; any other text answers, too.
    pub options: Vec<String>,
    /// The one that the worker would take.
    pub recommendation: Option<String>,
    /// Why it would take that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The answer; null while it is open.
    pub answer: Option<String>,
    /// Who answered it.
    pub by: Option<Actor>,
}

/// The end of the output of something that failed, bounded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LastLines {
    /// What printed it.
    pub of: String,
    /// The attempt in which it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<String>,
    /// At most 8 lines and 600 characters, without control characters.
    pub lines: Vec<String>,
}

/// Where a decision stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecisionStatus {
    /// Somebody has to answer.
    Pending,
    /// It was answered.
    Answered,
    /// It was taken back.
    Cancelled,
    /// A person went on without an answer.
    Skipped,
    /// It turned out not to be needed.
    Replaced,
}

/// What asked a question: answering resumes exactly there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// The stage that led to it.
    pub stage: String,
    /// The outcome that led to it; null when the ask is a stage of its own.
    pub outcome: Option<String>,
    /// Where the work would have gone if a limit had not been reached.
    pub cut_off: Option<String>,
}

/// One answer that is offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionOption {
    /// The word to answer with.
    pub id: String,
    /// What happens then.
    pub consequence: String,
    /// The rows, findings and commands that it waives, by name.
    pub waives: Vec<String>,
}

/// One thing that waits for a person (`inbox`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InboxItem {
    /// The run that waits.
    pub run: String,
    /// What the run is for, in a line.
    pub goal: String,
    /// Its repository.
    pub repository: String,
    /// The question; null when the run is halted and waits for `retry` or `cancel`.
    pub decision: Option<Decision>,
    /// Why it waits, in one sentence.
    pub reason: String,
    /// The end of the output of what holds a run that is halted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last_lines: Vec<LastLines>,
    /// The commands that answer it.
    pub next: Vec<String>,
}
