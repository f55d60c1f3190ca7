//! Events: what happened. A journal is a list of these, and a run is what [`evolve`](super::evolve) makes of them.

use std::collections::BTreeMap;

use serde::de::{DeserializeSeed, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::agent_stats::AgentStats;
use super::blank::blank_as_none;
use super::budget::{Budgets, Over, Used};
use super::envelope::{DataIn, DataOut};
use super::named_objects::NamesObjects as _;
use super::sandbox_record::SandboxRecord;
use crate::Name;
use crate::digest::Digest;
use crate::id::{AttemptId, DecisionId, FindingId, InstanceId, RoleId, RunId, StageId, UnitId};
use crate::protocol::Outcome;
use crate::protocol::model::{Target, Value};
use crate::report::{CriterionReport, Disposition, Health, Notice, Plan, SectionRead, Verdict};
use crate::scope::Content;

pub use super::data::*;
pub use super::envelope::Unreadable;

/// The newest version of the event format that this build writes and reads.
pub const VERSION: u32 = 1;

/// One event as it stands in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    pub run: RunId,
    pub seq: u64,
    pub at_ms: u64,
    pub epoch: u64,
    pub by: By,
    pub event: Event,
}

macro_rules! events {
    ($($(#[$doc:meta])* $variant:ident = $kind:literal $(names [$($object:ident),+])? { $($(#[$attr:meta])* $field:ident: $ty:ty),* $(,)? })*) => {
        /// What happened.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Event {
            $($(#[$doc])* $variant($variant),)*
        }

        $($(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $variant { $($(#[$attr])* pub $field: $ty,)* })*

        $(impl From<$variant> for Event {
            fn from(data: $variant) -> Self {
                Self::$variant(data)
            }
        })*

        impl Event {
            /// The type as it is written: `attempt.started`.
            pub const fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => $kind,)* }
            }

            /// The objects that it names: they are kept beside the journal, proved and exported with it.
            pub fn objects(&self) -> Vec<Digest> {
                let mut _found = Vec::new();
                match self { $(Self::$variant(_data) => { $($(_data.$object.name_objects(&mut _found);)+)? })* }
                _found
            }

            /// Every type there is.
            pub const KINDS: &'static [&'static str] = &[$($kind,)*];
        }

        impl Serialize for DataOut<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.0 { $(Event::$variant(data) => data.serialize(serializer),)* }
            }
        }

        impl<'de> DeserializeSeed<'de> for DataIn<'_> {
            type Value = Option<Event>;

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<Event>, D::Error> {
                match self.0 {
                    $($kind => $variant::deserialize(deserializer).map(|data| Some(Event::$variant(data))),)*
                    _ => IgnoredAny::deserialize(deserializer).map(|_| None),
                }
            }
        }
    };
}

events! {
    /// The run exists, with everything that is in force for it.
    RunOpened = "run.opened" names [protocol, pins] {
        title: String,
        protocol: Pinned,
        /// Digests of the contracts and role texts it is pinned to.
        pins: BTreeMap<Name, Digest>,
        repository: String,
        base: Name,
        inputs: BTreeMap<Name, Value>,
        /// The worker of each role.
        workers: BTreeMap<RoleId, Name>,
        /// Configured commands: name to argv.
        commands: BTreeMap<Name, Vec<String>>,
        /// Overridden patterns of areas.
        areas: BTreeMap<Name, Vec<Name>>,
        /// What else is in force, for people.
        config: serde_json::Value,
        /// Answers given in advance by `person`: stage to option.
        answers: BTreeMap<StageId, Name>,
        person: Name,
        content: Content,
        /// What a unit, the run and a day may use.
        #[serde(default, skip_serializing_if = "Budgets::is_none")]
        budgets: Box<Budgets>,
        /// The credential pool of each role whose worker has one.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pools: BTreeMap<RoleId, Name>,
        /// How its files are written and taken in; none: byte for byte, as versions before this field did it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        checkout: Option<Box<CheckoutRules>>,
        /// Scopes of lanes, where the inputs that say which lanes run are asked for.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        scopes: BTreeMap<UnitId, Vec<Name>>,
    }
    /// Inputs that were not given with the run were answered; it begins with them.
    InputsGiven = "inputs.given" {
        decision: DecisionId,
        inputs: BTreeMap<Name, Value>,
        /// The content that it begins with, told apart by what the inputs say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Content>,
    }
    /// A driver took the run over; the envelope's epoch is its epoch.
    DriverTookOver = "driver.took_over" { driver: Name }
    /// A document was given.
    ArtifactGiven = "artifact.given" names [object] {
        name: Name,
        object: Digest,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        fields: BTreeMap<Name, Name>,
        /// The tree in which it lies; none for one without a path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<Name>,
    }
    /// Units, requirements or criteria entered the ledger.
    LedgerPlanned = "ledger.planned" { plan: Plan, from: Name }
    /// A variable was given.
    VariableGiven = "variable.given" { name: Name, value: Name }
    /// A flow instance started at its first stage.
    FlowEntered = "flow.entered" {
        instance: InstanceId,
        flow: Name,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<UnitId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<InstanceId>,
        /// The stage of the parent that runs it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        each: Option<StageId>,
        stage: StageId,
        /// Whether it works in a tree of its own, made now from its caller's.
        own_tree: bool,
    }
    /// An outcome was routed.
    FlowMoved = "flow.moved" {
        instance: InstanceId,
        stage: StageId,
        outcome: Outcome,
        /// The rule's own outcome pattern: with the stage, the name of its counter.
        rule: Name,
        to: Target,
        /// Whether the limit cut the route off and this is its `then`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut_off: bool,
        /// Digest of what was still open, where the rule counts sameness.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        open_set: Option<Digest>,
    }
    /// A stage was entered again without an outcome of its own: by `retry`, by an answer, or by a re-entered `each`.
    FlowResumed = "flow.resumed" {
        instance: InstanceId,
        stage: StageId,
        /// Whether the limits of the stage are renewed.
        renewed: bool,
    }
    /// An answer returned a flow to where its question came from.
    FlowReturned = "flow.returned" {
        instance: InstanceId,
        stage: StageId,
        /// The question that was answered; none: it was skipped and never asked.
        #[serde(with = "blank_as_none")]
        decision: Option<DecisionId>,
        to: Target,
        /// The rule whose counter a person renewed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        renews: Option<Name>,
    }
    /// Units are at work below a stage.
    EachEntered = "each.entered" { instance: InstanceId, stage: StageId, units: Vec<UnitId> }
    /// Nothing can move in this instance without a person.
    FlowHeld = "flow.held" {
        instance: InstanceId, stage: StageId, #[serde(with = "blank_as_none")] outcome: Option<Outcome>, why: String,
    }
    /// Work began under a lease; its token is this event's seq.
    AttemptStarted = "attempt.started" names [work] {
        attempt: AttemptId,
        instance: InstanceId,
        stage: StageId,
        work: Work,
        /// The tree it starts from.
        tree: Name,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repeats: Option<AttemptId>,
        /// The outcome of the stage that is routed when this work is done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pending: Option<Box<PendingOutcome>>,
    }
    /// A worker reported under its live lease.
    AttemptReported = "attempt.reported" names [report] {
        attempt: AttemptId,
        token: u64,
        /// The report's bytes.
        report: Digest,
        health: Health,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<Name>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
        verdict: Verdict,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        criteria: Vec<CriterionReport>,
        /// What it leaves open.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notices: Vec<Notice>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reads: Vec<SectionRead>,
        /// Sections later agents may be shown.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sections: Vec<Name>,
        /// What the engine measured, when the role may write and kept to its areas.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Content>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changed: Vec<Changed>,
        /// Where report and measurement contradict each other.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        contradictions: Vec<String>,
        /// What its role changed, now or before, and no report of it has named.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unnamed: Vec<Name>,
        /// Diagnostics of a malformed report, for the next bundle and for people.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        diagnostics: Vec<String>,
        /// What it did besides changing files of the tree: to the git folder of its tree (`git: tag v1`), to ignored files
        /// (`ignored: out/x`).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        noticed: Vec<String>,
        /// What the agent told of itself, where its adapter could read it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        told: Option<Box<AgentStats>>,
        /// What held it while it worked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        leash: Option<Box<SandboxRecord>>,
    }
    /// A worker was cut off by a limit of its plan or provider: it goes on once that has passed, and nothing is routed.
    AttemptParked = "attempt.parked" names [report] {
        attempt: AttemptId,
        token: u64,
        /// What it had said.
        report: Digest,
        reason: String,
        /// What the engine measured, when the role may write and kept to its areas.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Content>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changed: Vec<Changed>,
        /// What its role changed, now or before, and no report of it has named.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unnamed: Vec<Name>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        noticed: Vec<String>,
        /// What the agent told of itself: its session, and the limit.
        told: Box<AgentStats>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        leash: Option<Box<SandboxRecord>>,
    }
    /// A credential pool may not be called before a time.
    PoolParked = "pool.parked" {
        pool: Name,
        until_ms: u64,
        /// What was said of it.
        said: String,
        /// The run that was told so, where it was another one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<RunId>,
        /// Whether that run tries it: until it has, nobody knows, and it is asked again then.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        tried: bool,
    }
    /// What the other runs of the state directory used on a day (UTC, in days since 1970), as they told.
    DayCounted = "day.counted" { day: u64, elsewhere: Used }
    /// A person changed a budget.
    BudgetChanged = "budget.changed" {
        over: Over,
        /// What it is from now on; none: it holds no more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u64>,
        decision: DecisionId,
    }
    /// An attempt's end never reached the journal: its driver is gone.
    AttemptLost = "attempt.lost" { attempt: AttemptId, why: String }
    /// An attempt ended before any worker or command was started: the place it works in could not be made ready.
    AttemptUnready = "attempt.unready" names [output] {
        attempt: AttemptId,
        token: u64,
        why: String,
        /// What the setup printed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Digest>,
    }
    /// An attempt was ended on purpose; what it wrote is kept.
    AttemptCancelled = "attempt.cancelled" { attempt: AttemptId, why: String }
    /// A report came under a token that is not live: recorded, not counted.
    AttemptRefused = "attempt.refused" names [report] {
        attempt: AttemptId,
        token: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        report: Option<Digest>,
        why: String,
    }
    /// Commands were run on a throw-away copy of the tree.
    CommandsRan = "commands.ran" names [results] {
        attempt: AttemptId,
        token: u64,
        tree: Name,
        results: Vec<CommandResult>,
        /// What held them while they ran.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        leash: Option<SandboxRecord>,
    }
    /// A landing ended.
    LandingEnded = "landing.ended" {
        attempt: AttemptId,
        token: u64,
        outcome: LandOutcome,
        /// The caller's content after it, when it landed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Content>,
        /// The unit's content with the collisions in its files, after a conflict.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        collided: Option<Content>,
        /// What evidence rests on, measured again because the unit's scope was widened since.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        measured: Vec<Content>,
        /// The paths that were changed, collided or lie outside the scope.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        paths: Vec<Name>,
        /// Those of them that landed outside of the unit's scope, as the policy of the roles that wrote them says.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        by_policy: Vec<Name>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    }
    /// Something is wrong with the work.
    FindingOpened = "finding.opened" {
        finding: FindingId,
        about: Finding,
        /// The tree in which it was found, where units have trees of their own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<TreeOf>,
    }
    /// A judgement rests on findings that were there before it, too.
    JudgementRests = "judgement.rests" { attempt: AttemptId, findings: Vec<FindingId> }
    /// An acceptance accepts no more: a person sends its notes to whoever fixes them, or something measured is open against it.
    JudgementEnded = "judgement.ended" {
        attempt: AttemptId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<DecisionId>,
    }
    /// A finding is named again in other words; the newest are what has to be mended.
    FindingRestated = "finding.restated" { finding: FindingId, about: Finding }
    /// A finding's status changed.
    FindingChanged = "finding.changed" {
        findings: Vec<FindingId>,
        status: FindingStatus,
        why: String,
        /// The unit that did its part, where findings are addressed; the unit that left them as they are, where they are open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<UnitId>,
        /// The tree in which they stand so now; none: every tree.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<TreeOf>,
    }
    /// A unit's state changed.
    UnitChanged = "unit.changed" { unit: UnitId, state: UnitState, why: String }
    /// A person set what becomes of requirements.
    RequirementsDisposed = "requirements.disposed" { dispositions: BTreeMap<Name, Disposition>, decision: DecisionId }
    /// A person widened a unit's scope (or the run's, without a unit).
    ScopeWidened = "scope.widened" {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<UnitId>,
        paths: Vec<Name>,
        decision: DecisionId,
    }
    /// A person waived rows, findings or requirements, by name.
    WaiverGranted = "waiver.granted" {
        decision: DecisionId,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        criteria: Vec<Name>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        findings: Vec<FindingId>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        requirements: Vec<Name>,
        /// Configured commands that cannot be observed here.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        commands: Vec<Name>,
        /// Roles for whose missing judgement the person's own stands.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        judgements: Vec<RoleId>,
        /// Whether the unit is given up with it: what was found in it counts for the run no more.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        gives_up: bool,
    }
    /// A person changed a work tree by hand, and the engine measured it.
    TreeChanged = "tree.changed" {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<UnitId>,
        content: Content,
        decision: DecisionId,
        /// The files that are gone.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        deleted: Vec<Name>,
    }
    /// A question was put to a person.
    DecisionAsked = "decision.asked" names [asked] { decision: DecisionId, asked: Asked }
    /// A decision ended, once.
    DecisionEnded = "decision.ended" {
        decision: DecisionId,
        end: DecisionEnd,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        option: Option<Name>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// Given before it was asked, with `--answer`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        in_advance: bool,
    }
    /// One question of several on one card was answered; the decision ends with the last of them.
    QuestionAnswered = "question.answered" { decision: DecisionId, question: u32, text: String }
    /// A person puts a decision off: until then nobody is asked for it, and no timer answers it any more.
    DecisionDeferred = "decision.deferred" {
        decision: DecisionId, until_ms: u64, #[serde(default, skip_serializing_if = "String::is_empty")] why: String,
    }
    /// An answer that does not count: it conflicts with an earlier one, or is none of those offered.
    DecisionRefused = "decision.refused" { decision: DecisionId, option: Name, why: String }
    /// The run cannot go on without a person.
    RunHalted = "run.halted" { reasons: Vec<String> }
    /// A person's word on what is held or halted.
    RunRetried = "run.retried" {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unit: Option<UnitId>,
    }
    /// A person cut the journal back to the last event that verifies, which is the one before this.
    RunRepaired = "run.repaired" {
        /// What did not hold.
        why: String,
        /// The last event that is known to have been there: this one and those up to it are lost.
        until: u64,
        /// The head that was committed and is there no more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        committed: Option<Committed>,
        /// The file beside the journal that keeps what was cut.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<Name>,
        /// What may have happened after the cut.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        after: Vec<String>,
        /// The first ids that nothing that was cut can have had: a late answer or report never fits a new question or attempt.
        next_attempt: u64,
        next_decision: u64,
        next_finding: u64,
    }
    /// The run is over.
    RunClosed = "run.closed" { outcome: RunOutcome, why: String, tree: Name }
    /// The tree is a commit on the run's own branch.
    RunPublished = "run.published" { branch: Name, commit: Name }
    /// A person wants the tree of a run that succeeded to land; its token is this event's seq.
    LandAsked = "land.asked" {
        target: LandTarget,
        /// What is run again on the tree that lands, because it is another one than the run closed with.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        commands: Vec<CommandRef>,
    }
    /// The commands were run on the tree that is to land.
    LandChecked = "land.checked" names [results] {
        token: u64,
        results: Vec<CommandResult>,
        /// What held them while they ran.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        leash: Option<SandboxRecord>,
    }
    /// A landing ended, and nothing was moved.
    LandLeft = "land.left" { token: u64, why: String }
    /// The tree is where it was wanted.
    RunLanded = "run.landed" names [patch] {
        token: u64,
        how: LandAs,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<Name>,
        /// The commit that the branch points to; for a patch, the one that it fits.
        commit: Name,
        tree: Name,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        patch: Option<Digest>,
    }
}
