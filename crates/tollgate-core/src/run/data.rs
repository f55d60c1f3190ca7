//! The parts that events are made of.

use serde::{Deserialize, Serialize};

use super::blank::blank_as_none;
use super::budget::Over;
use super::repetition::Once;
use crate::Name;
use crate::digest::Digest;
use crate::id::{AttemptId, InstanceId, RoleId, StageId, UnitId};
pub use crate::protocol::LandOutcome;
use crate::protocol::Outcome;
use crate::protocol::model::{Class, Target};
use crate::report::Judgement;
use crate::words::words;

/// Who caused an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct By {
    /// What kind of actor it is.
    pub kind: ByKind,
    /// Its name: a person's, a driver's, a role's.
    pub name: Name,
}

/// The kinds of actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ByKind {
    Person,
    Driver,
    Worker,
    Timer,
}

/// A protocol by name and content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    pub name: Name,
    pub version: u32,
    pub digest: Digest,
}

/// How git converts the files of a checkout, as it was when the run began.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckoutRules {
    /// `core.autocrlf=VALUE` and `core.eol=VALUE`, where they convert anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Name>,
    /// The text of the repository's `info/attributes`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub attributes: String,
    /// Files of the base that a filter converts, which Tollgate does not start.
    #[serde(default, skip_serializing_if = "Filtered::is_none")]
    pub filtered: Filtered,
}

/// Files with an attribute `filter`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filtered {
    pub count: u64,
    /// The first of them.
    pub paths: Vec<Name>,
}

impl Filtered {
    /// Whether there are none.
    pub fn is_none(&self) -> bool {
        self.count == 0
    }
}

/// What is done under a lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Work {
    /// A role is dispatched to a worker.
    Dispatch {
        role: RoleId,
        worker: Name,
        iteration: u32,
        /// What it is shown, and why.
        bundle: Vec<BundleItem>,
    },
    /// The engine runs commands.
    Commands { commands: Vec<CommandRef> },
    /// The unit's change is put on its caller's tree.
    Land {
        unit: UnitId,
        /// The tree the unit started from.
        base: Name,
        /// The caller's tree now.
        onto: Name,
    },
}

/// The kinds of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkKind {
    Dispatch,
    Commands,
    Land,
}

impl WorkKind {
    /// What is reported of it, in words.
    pub(super) const fn report(self) -> &'static str {
        match self {
            Self::Dispatch => "a worker's report",
            Self::Commands => "the results of commands",
            Self::Land => "the end of a landing",
        }
    }
}

impl Work {
    /// Its kind.
    pub const fn kind(&self) -> WorkKind {
        match self {
            Self::Dispatch { .. } => WorkKind::Dispatch,
            Self::Commands { .. } => WorkKind::Commands,
            Self::Land { .. } => WorkKind::Land,
        }
    }
}

/// An outcome that leads to a person and is routed once commands have run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PendingOutcome {
    pub outcome: Outcome,
    /// Why the report that it is of says it did not go well.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// One thing an attempt is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleItem {
    /// The item as `sees` names it: `task`, `criteria`, `developer.coverage`.
    pub item: Name,
    /// The object it is taken from, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Digest>,
    /// The attempt whose report it is a section of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<AttemptId>,
    /// The rows that a judge is shown with `criteria`, and that its word counts for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<Name>>,
}

/// A command the engine runs: of a criterion, or a configured one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandRef {
    /// The command a criterion names.
    Criterion(Name),
    /// The entry of `[commands]` that `{command: NAME}` runs.
    Named(Name),
}

impl CommandRef {
    /// The row or the entry that it runs for.
    pub const fn name(&self) -> &Name {
        match self {
            Self::Criterion(name) | Self::Named(name) => name,
        }
    }
}

/// What came of one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandResult {
    pub command: CommandRef,
    pub result: Judgement,
    /// Its output, kept as evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Digest>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Every time it was run on this content, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Once>,
    /// What it has to change of the tree that it is to check: held, it failed, and where it may write, it passes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Name>,
    /// The files by which the work changed the set-up that prepares it: it was not run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<Name>,
}

/// One path the engine saw changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    pub path: Name,
    pub kind: ChangeKind,
    /// What was there, as a name of its mode and bytes; none where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<Name>,
    /// What is there now; none where nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<Name>,
}

impl Changed {
    /// A change of which only the kind is known.
    pub fn new(path: impl Into<Name>, kind: ChangeKind) -> Self {
        Self { path: path.into(), kind, was: None, now: None }
    }
}

/// How a path changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Created,
    Modified,
    Deleted,
}

/// How a run hands its tree over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LandAs {
    /// On a branch of its own.
    Branch,
    /// Merged into a branch, and into its checkout where it has one.
    Merge,
    /// As a patch.
    Patch,
}

words!(LandAs { Branch = "branch", Merge = "merge", Patch = "patch" });

/// Where a run is to land, and what was found there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LandTarget {
    pub how: LandAs,
    /// The branch whose commit it lands on, as people name it.
    pub onto: Name,
    /// That commit.
    pub at: Name,
    /// The branch that is made or moved; none for a patch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Name>,
    /// What that branch pointed to, if it was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Name>,
    /// The tree that holds both changes; the run's own when nothing else changed.
    pub tree: Name,
    /// The run's files that were changed there, too, since it started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<Name>,
    /// Whether the branch does not hold what the run started from: only what the run changed itself lands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
    /// What that is: commits, and changes that were not committed, a phrase each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<Name>,
    /// The file that a person wants a patch in, as a whole path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Name>,
}

/// What is wrong with the work, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// The role that found it; none: the engine measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleId>,
    /// The role whose report it contradicts, where it is about a report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<RoleId>,
    pub attempt: AttemptId,
    /// The units it is about; empty: the run's own work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<UnitId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    pub what: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fix: String,
}

/// Where a finding stands; the least settled first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingStatus {
    Open,
    Addressed,
    Fixed,
    Refuted,
    Waived,
}

words!(FindingStatus {
    Open = "open",
    Addressed = "addressed",
    Fixed = "fixed",
    Refuted = "refuted",
    Waived = "waived"
});

impl FindingStatus {
    /// Whether nothing more is owed on it.
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Fixed | Self::Refuted | Self::Waived)
    }
}

/// A work tree, by whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeOf {
    Run,
    /// The one that a unit has of its own.
    Unit(UnitId),
}

/// Where a unit stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnitState {
    New,
    Produced,
    Accepted,
    Lapsed,
    Dropped,
}

words!(UnitState {
    New = "new",
    Produced = "produced",
    Accepted = "accepted",
    Lapsed = "lapsed",
    Dropped = "dropped"
});

/// A question as it was put.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    pub instance: InstanceId,
    /// The ask: a stage of the flow or a shared ask.
    pub ask: StageId,
    pub class: Class,
    pub question: String,
    /// Why it is asked, in the words of the run.
    pub why: String,
    /// Options offered, with what each leads to; empty: any text answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Offered>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommend: Option<Name>,
    /// A timer's answer: the option, and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<DefaultAnswer>,
    /// The unit it is about; none: the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<UnitId>,
    /// Whether the instance waits for it.
    pub blocking: bool,
    /// Objects shown with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shows: Vec<Digest>,
    /// Where the answer returns to.
    pub origin: Origin,
    /// The content it is about.
    pub tree: Name,
    /// Paths it is about (outside the scope, in collision).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<Name>,
    /// The budget that was reached, where it asks about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Over>,
    /// The questions on its card, where they are answered one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<AskedQuestion>,
    /// After so many invalid answers it is cancelled; none: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tries: Option<u32>,
}

/// One question of several on one card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskedQuestion {
    /// The question, word for word.
    pub text: String,
    /// The answers it proposes; any other text answers, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The one that the worker would take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommend: Option<String>,
    /// Why it would take that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The input that it asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Name>,
}

/// An option as it was offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offered {
    pub id: Name,
    pub consequence: String,
    /// What choosing it waives, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waives: Vec<Name>,
}

/// A timer's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DefaultAnswer {
    pub option: Name,
    pub at_ms: u64,
}

/// The stage that led to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    pub stage: StageId,
    /// What the stage came to; none: the stage is the question itself.
    #[serde(with = "blank_as_none")]
    pub outcome: Option<Outcome>,
    /// The route a limit cut off: its rule and its target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_off: Option<CutOff>,
}

/// A route that a limit cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CutOff {
    pub rule: Name,
    pub to: Target,
}

/// How a decision ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionEnd {
    Answered,
    Cancelled,
    /// A person goes on without an answer, and says why.
    Skipped,
    /// It is asked again under another id, as things stand now.
    Replaced,
}

/// The end of a chain as it was committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Committed {
    pub seq: u64,
    pub head: Digest,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    Succeeded,
    /// It ended with its report, and is no success of work of its own.
    Reported,
    Dropped,
    Cancelled,
}
