//! `decide`: what a command changes. Reads nothing but its arguments.
//!
//! ```text
//! report accepted | commands ran | landing ended | decision ended | instances joined
//!   → outcome → route → (counter) → enter the next stage: when? requires? → lease, question, units
//! ```

mod answer;
mod answer_instead;
mod ask;
mod begin_again;
mod budget;
mod cancellation;
mod close;
mod command_permission;
mod draft;
mod empty_change;
mod enter;
mod fan_out;
mod findings;
mod flow;
mod inputs;
mod intake;
mod land;
mod measure;
mod open;
mod open_findings;
mod outcome_text;
mod person;
mod plan;
mod quota;
mod report;
mod setup_failure;
mod waive;
mod work;

use std::collections::BTreeMap;

use crate::Name;
use crate::code::Code;
use crate::digest::Digest;
use crate::id::{AttemptId, DecisionId, GateId, StageId, UnitId};
use crate::report::{Disposition, Plan, Report};
use crate::scope::Content;
use crate::text::is_blank;

use super::agent_stats::AgentStats;
use super::event::{By, Changed, CommandResult, LandOutcome, LandTarget, Recorded, RunRepaired, WorkKind};
use super::invariants::Violation;
use super::pool::Around;
use super::sandbox_record::SandboxRecord;
use super::state::Run;
use draft::Draft;

pub use inputs::{input, inputs, missing};
pub use intake::{Opening, completed};
pub use land::not_succeeded;
pub use open::{Open, OpenArtifact, open};

/// When, by whom, under which epoch and among which other runs a command is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    pub now_ms: u64,
    pub by: By,
    pub epoch: u64,
    /// What the other runs of the state directory know.
    pub around: Around,
}

/// What somebody wants to happen to a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A driver takes the run over; what was under way is repeated.
    TakeOver { driver: Name },
    /// A driver grants what is ready.
    Advance,
    /// A worker's attempt came to an end.
    Report { attempt: AttemptId, token: u64, result: Box<AttemptResult> },
    /// The place of an attempt could not be made ready: no worker and no command was started.
    Unready { attempt: AttemptId, token: u64, why: String, output: Option<Digest> },
    /// Commands were run.
    Ran { attempt: AttemptId, token: u64, results: Vec<CommandResult>, leash: Option<SandboxRecord> },
    /// A landing came to an end.
    Landed { attempt: AttemptId, token: u64, landing: Box<Landing> },
    /// A person answers.
    Answer { decision: DecisionId, answer: Box<Answer> },
    /// Time has passed.
    Tick,
    /// A person's word on what is held or halted.
    Retry { unit: Option<UnitId> },
    /// A person cuts the journal back to the last event that verifies.
    Repair(Box<RunRepaired>),
    /// A person ends the run.
    Cancel { why: String },
    /// The tree is on the run's branch.
    Published { branch: Name, commit: Name },
    /// A person wants the tree of a run that succeeded to land.
    Land(Box<LandTarget>),
    /// The commands of a landing were run.
    LandChecked { token: u64, results: Vec<CommandResult>, leash: Option<SandboxRecord> },
    /// A landing came to an end.
    LandEnded { token: u64, end: LandEnd },
}

/// What came of a landing of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LandEnd {
    /// It is there: the commit of its branch or the one that a patch fits, and the patch.
    Landed { commit: Name, patch: Option<Digest> },
    /// Nothing was moved.
    Left { why: String },
}

/// What came of a dispatch: the claim, parsed, and what the engine measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptResult {
    pub report: Report,
    /// The report's bytes.
    pub object: Digest,
    /// Sections later agents may be shown.
    pub sections: Vec<Name>,
    /// Diagnostics of a malformed report.
    pub diagnostics: Vec<String>,
    /// The content the worker left, when its role may write.
    pub content: Option<Content>,
    pub changed: Vec<Changed>,
    /// Documents the stage gives, as far as they are there and pass their check.
    pub artifacts: BTreeMap<Name, OpenArtifact>,
    /// What it did besides changing files of the tree.
    pub noticed: Vec<String>,
    /// What the agent told of itself.
    pub told: Option<AgentStats>,
    /// What held it while it worked.
    pub leash: Option<SandboxRecord>,
}

/// What came of a landing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landing {
    pub outcome: LandOutcome,
    pub content: Option<Content>,
    pub collided: Option<Content>,
    /// The trees that [`outdated`](super::gate::outdated) names, measured again.
    pub measured: Vec<Content>,
    pub paths: Vec<Name>,
    /// What of it lies outside of the unit's scope and lands all the same, as the policy of the roles that wrote it says.
    pub by_policy: Vec<Name>,
    pub why: String,
}

/// A person's answer, with what its option allows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// The option; none: the text is the answer.
    pub option: Option<Name>,
    pub text: String,
    /// The measured content, where the option amends areas.
    pub content: Option<Content>,
    /// The tree that it was measured against: a person answers for no other.
    pub start: Option<Name>,
    /// The files that are gone there.
    pub deleted: Vec<Name>,
    /// What becomes of requirements, where the option amends them.
    pub dispositions: BTreeMap<Name, Disposition>,
    /// Paths added to the scope, where the option amends it; empty: the paths the question was about.
    pub scope: Vec<Name>,
    /// A plan that replaces rows, where the option amends criteria or units.
    pub plan: Plan,
    /// Answers to single questions of a card, by their number from 1 on.
    pub answers: BTreeMap<u32, String>,
    /// The same for inputs that are asked for, by their name.
    pub named: BTreeMap<Name, String>,
    /// What the run begins with, where the answer gives the last input that was missing.
    pub opening: Option<Box<Opening>>,
    /// What the person wants in place of an answer; the text is the reason.
    pub instead: Option<Instead>,
}

impl Answer {
    /// The same without texts that nobody could read: they are no answers and no reasons.
    fn without_blank_texts(mut self) -> Self {
        let texts = self.answers.values_mut().chain(self.named.values_mut()).chain([&mut self.text]);
        texts.filter(|text| is_blank(text)).for_each(String::clear);
        self
    }
}

/// What a person does with a decision in place of answering it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instead {
    /// Nobody is asked for it before a time.
    Defer { until_ms: u64 },
    /// It ends without an answer, and the protocol says what then.
    Cancel,
    /// The work goes on without an answer.
    Skip,
}

/// What a command changes: the events, and the run after them.
#[derive(Debug, Clone)]
pub struct Decided {
    pub events: Vec<Recorded>,
    pub run: Run,
    /// A refusal that is recorded all the same: a stale report, a conflicting answer.
    pub refusal: Option<Rejection>,
}

/// Why a command changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// The run is over.
    Closed,
    /// The token is not the live lease's.
    StaleToken { attempt: AttemptId, shown: u64, held: Option<u64> },
    /// There is no such decision.
    NoDecision(DecisionId),
    /// It was answered differently before.
    AlreadyAnswered { decision: DecisionId, held: Name },
    /// The decision was cancelled or skipped.
    AlreadyEnded(DecisionId),
    /// The option was not offered.
    NotOffered { decision: DecisionId, option: Name, offered: Vec<Name> },
    /// The answer must be a text.
    TextNeeded(DecisionId),
    /// Each of its questions has an answer of its own: the numbers of those that are open.
    OneByOne { decision: DecisionId, open: Vec<u32> },
    /// The option does not allow what the answer carries.
    NotAllowed { decision: DecisionId, what: &'static str },
    /// The answer needs something it does not carry.
    Incomplete { decision: DecisionId, what: String },
    /// The person has to say why.
    ReasonNeeded,
    /// The answer is none that this run can take now, whatever it says.
    NotNow { decision: DecisionId, what: String },
    /// With all it waives, gates that the answer must establish do not hold.
    NotEstablished { decision: DecisionId, gates: Vec<GateId> },
    /// What the question was about has changed: it was put again, with what the option would waive besides.
    AskedAnew { decision: DecisionId, anew: DecisionId, more: Vec<Name> },
    /// Nothing is held or halted.
    NothingToRetry,
    /// There is no such unit.
    NoUnit(UnitId),
    /// Nothing of this unit is held.
    NotHeld(UnitId),
    /// The unit is held, but the run has gone on without it.
    GoneOn(UnitId),
    /// Only a person may say this.
    NotAPerson,
    /// Only the driver may say this.
    NotTheDriver,
    /// The attempt does other work than what was reported for it.
    OtherWork { attempt: AttemptId, expected: WorkKind, reported: WorkKind },
    /// The protocol that was loaded for the run lacks something that the run's journal names.
    NotInProtocol { what: &'static str, name: Name },
    /// An input is missing or wrong.
    Input { name: Name, why: String },
    /// An artifact is missing or does not pass its check.
    Artifact { name: Name, why: String },
    /// The protocol needs something this build does not run.
    Unsupported(String),
    /// Two lanes that may run side by side overlap: the lanes, and a pattern of each.
    Overlap { one: UnitId, other: UnitId, patterns: (Name, Name) },
    /// A lane has no scope where it needs one, or a scope that cannot be used.
    Scope { unit: UnitId, why: String },
    /// An answer in advance names no ask, or no option of it.
    Advance { stage: StageId, why: String },
    /// The run did not succeed: what is open, or how it ended.
    NotSucceeded(Vec<String>),
    /// The run changed nothing: there is nothing to hand over.
    EmptyChange,
    /// A landing is under way already.
    Landing { onto: Name },
    /// No landing is under way under this token.
    NoLanding { token: u64 },
    /// The landing expects something else next.
    LandingExpects { token: u64, expected: &'static str },
    /// The kernel broke one of its own invariants; nothing was changed.
    Broken(Vec<Violation>),
}

impl Rejection {
    /// Whether it refuses an answer for what it says, whenever it is said.
    pub(super) const fn is_of_answer(&self) -> bool {
        matches!(
            self,
            Self::NotOffered { .. }
                | Self::TextNeeded(_)
                | Self::OneByOne { .. }
                | Self::NotAllowed { .. }
                | Self::Incomplete { .. }
                | Self::Scope { .. }
        )
    }

    /// The code of its page.
    pub const fn code(&self) -> Code {
        match self {
            Self::Closed => Code::RUN_CLOSED,
            Self::StaleToken { .. } => Code::STALE_TOKEN,
            Self::NoDecision(_) => Code::NO_DECISION,
            Self::AlreadyAnswered { .. } | Self::AlreadyEnded(_) => Code::ALREADY_ANSWERED,
            Self::NotOffered { .. } | Self::TextNeeded(_) => Code::NOT_OFFERED,
            Self::OneByOne { .. }
            | Self::NotAllowed { .. }
            | Self::Incomplete { .. }
            | Self::ReasonNeeded
            | Self::NotNow { .. } => Code::ANSWER_CARRIES,
            Self::NotEstablished { .. } => Code::ANSWER_FALLS_SHORT,
            Self::AskedAnew { .. } => Code::QUESTION_CHANGED,
            Self::NothingToRetry | Self::NoUnit(_) | Self::NotHeld(_) | Self::GoneOn(_) => Code::NOTHING_TO_RETRY,
            Self::NotAPerson => Code::NOT_A_PERSON,
            Self::NotTheDriver => Code::NOT_THE_DRIVER,
            Self::OtherWork { .. } => Code::OTHER_WORK,
            Self::NotInProtocol { .. } => Code::NOT_IN_PROTOCOL,
            Self::Input { .. } => Code::BAD_INPUT,
            Self::Artifact { .. } => Code::BAD_ARTIFACT,
            Self::Unsupported(_) => Code::UNSUPPORTED,
            Self::Overlap { .. } => Code::SCOPES_OVERLAP,
            Self::Scope { .. } => Code::BAD_SCOPE,
            Self::Advance { .. } => Code::BAD_ADVANCE_ANSWER,
            Self::NotSucceeded(_) => Code::NOT_SUCCEEDED,
            Self::EmptyChange => Code::EMPTY_CHANGE,
            Self::Landing { .. } | Self::NoLanding { .. } | Self::LandingExpects { .. } => Code::LANDING_UNDER_WAY,
            Self::Broken(_) => Code::INVARIANT_BROKEN,
        }
    }
}

impl std::fmt::Display for Rejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Closed => write!(f, "the run is over"),
            Self::StaleToken { attempt, shown, held: Some(held) } => {
                write!(f, "{attempt} reported under token {shown}, but the live lease has token {held}")
            }
            Self::StaleToken { attempt, shown, held: None } => {
                write!(f, "{attempt} reported under token {shown}, but no lease of it is live")
            }
            Self::NoDecision(id) => write!(f, "there is no decision {id} in this run"),
            Self::AlreadyAnswered { decision, held } => write!(f, "{decision} was already answered with `{held}`"),
            Self::AlreadyEnded(id) => write!(f, "{id} has ended without an answer"),
            Self::NotOffered { decision, option, offered } if option.is_empty() => {
                write!(f, "{decision} is answered with an option: {}", list(offered))
            }
            Self::NotOffered { decision, option, offered } => {
                write!(f, "{decision} does not offer `{option}`; it offers {}", list(offered))
            }
            Self::TextNeeded(id) => write!(f, "{id} asks for an answer in words"),
            Self::OneByOne { decision, open } => {
                let open: Vec<String> = open.iter().map(ToString::to_string).collect();
                write!(f, "each question of {decision} is answered by itself; open: {}", open.join(", "))
            }
            Self::NotAllowed { decision, what } => write!(f, "the answer to {decision} may not change {what}"),
            Self::Incomplete { decision, what } | Self::NotNow { decision, what } => {
                write!(f, "the answer to {decision} needs {what}")
            }
            Self::ReasonNeeded => write!(f, "a reason is needed, with a character that can be seen"),
            Self::NotEstablished { decision, gates } => {
                write!(f, "even with what the answer to {decision} waives, {} would not hold", list(gates))
            }
            Self::AskedAnew { decision, anew, more } if more.is_empty() => {
                write!(
                    f,
                    "the work that {decision} is about has changed since it was asked; it is asked again as {anew}"
                )
            }
            Self::AskedAnew { decision, anew, more } => {
                let what = "would waive more than was shown when it was asked";
                write!(f, "the answer to {decision} {what}: {}; it is asked again as {anew}", list(more))
            }
            Self::NothingToRetry => write!(f, "nothing to retry: the run is not halted and no unit is held"),
            Self::NotHeld(unit) => write!(f, "nothing to retry: `{unit}` is not held"),
            Self::GoneOn(unit) => write!(f, "`{unit}` is held, but the run has gone on without it"),
            Self::NoUnit(unit) => write!(f, "there is no unit `{unit}` in this run"),
            Self::NotAPerson => write!(f, "only a person may decide this"),
            Self::NotTheDriver => write!(f, "only the driver that holds the run may report this"),
            Self::OtherWork { attempt, expected, reported } => {
                write!(f, "{attempt} expects {}, but {} was given", expected.report(), reported.report())
            }
            Self::NotInProtocol { what, name } => {
                write!(f, "the protocol loaded for this run has no {what} `{name}`, which its journal names")
            }
            Self::Input { name, why } => write!(f, "input `{name}`: {why}"),
            Self::Artifact { name, why } => write!(f, "artifact `{name}`: {why}"),
            Self::Unsupported(what) => write!(f, "{what}"),
            Self::Overlap { one, other, patterns: (left, right) } => {
                let what = "run side by side, but their scopes overlap";
                write!(f, "`{one}` and `{other}` {what}: a path could be in `{left}` and in `{right}`")
            }
            Self::Scope { unit, why } => write!(f, "`{unit}` {why}"),
            Self::Advance { stage, why } => write!(f, "answer in advance for `{stage}`: {why}"),
            Self::NotSucceeded(open) => write!(f, "only a run that succeeded lands: {}", open.join("; ")),
            Self::EmptyChange => write!(f, "the run changed nothing: there is nothing to hand over"),
            Self::Landing { onto } => write!(f, "a landing on `{onto}` is under way"),
            Self::NoLanding { token } => write!(f, "no landing is under way under token {token}"),
            Self::LandingExpects { token, expected } => {
                write!(f, "the landing under token {token} expects {expected} next")
            }
            Self::Broken(violations) => {
                write!(f, "the kernel broke its own rule: {}", violations.first().map_or("", |v| &v.what))
            }
        }
    }
}

pub(super) fn list(names: &[impl std::fmt::Display]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Decides what a command changes.
pub fn decide(run: &Run, command: Command, stamp: &Stamp) -> Result<Decided, Rejection> {
    let mut draft = Draft::new(run, stamp);
    // What ends after the close is still recorded where it is a refusal; everything else has nothing left to change.
    if run.is_closed() {
        draft.after_the_end(command)?;
        return draft.finish();
    }
    match command {
        Command::TakeOver { driver } => draft.take_over(driver)?,
        Command::Advance => {}
        Command::Report { attempt, token, result } => draft.report(attempt, token, *result)?,
        Command::Unready { attempt, token, why, output } => draft.unready(attempt, token, why, output)?,
        Command::Ran { attempt, token, results, leash } => draft.ran(attempt, token, results, leash)?,
        Command::Landed { attempt, token, landing } => draft.landed(attempt, token, *landing)?,
        Command::Answer { decision, answer } => draft.answer(decision, answer.without_blank_texts())?,
        Command::Tick => draft.tick(),
        Command::Retry { unit } => draft.retry(unit)?,
        Command::Repair(repaired) => draft.repair(*repaired)?,
        Command::Cancel { why } => draft.cancel(why)?,
        Command::Published { branch, commit } => draft.published(branch, commit)?,
        Command::Land(_) => return Err(Rejection::NotSucceeded(not_succeeded(run))),
        Command::LandChecked { token, .. } | Command::LandEnded { token, .. } => {
            return Err(Rejection::NoLanding { token });
        }
    }
    draft.advance();
    draft.finish()
}
