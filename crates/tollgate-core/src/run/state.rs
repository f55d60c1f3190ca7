//! The state of a run: what its journal says, folded. Every field is there because a decision reads it.
//!
//! ```text
//! Ready --grant--> Leased --report, commands, landing--> (routed) --> Ready | Waiting | Each | Held | Closing | Ended
//! Waiting --answer--> (routed)      Each --join--> (routed)      Held --retry--> Ready      Closing --last answer--> Ended
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::blank::{accepted_as_shown, blank_as_none};
use super::budget::Spent;
pub use super::decision::{Decision, Deferred, Ended, INTAKE, QuestionAnswer, RequirementDecision};
use super::event::{PendingOutcome, RunLanded, RunOpened, RunOutcome, UnitState, Work};
use super::finding::FindingState;
pub use super::landing::{AtLanding, LAND, Landing};
use super::notice::NoticeRow;
use super::pool::Pool;
pub use super::position::{At, RunEnding};
use super::repetition::Flaky;
pub use super::subject::SubjectKey;
use super::{AgentStats, NetChange, Wrote};
use crate::Name;
use crate::digest::Digest;
use crate::id::{AttemptId, DecisionId, FindingId, InstanceId, RoleId, RunId, StageId, UnitId};
use crate::protocol::Protocol;
use crate::protocol::model::{Flow, Resource, Stage, Value};
use crate::report::{Disposition, Judgement, Verdict};
use crate::scope::Content;

/// The name of the flow instance that is the run itself.
pub const MAIN: &str = "main";

/// A run. `protocol` is not part of the state: it is what the state is read by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    #[serde(skip, default = "no_protocol")]
    pub protocol: Arc<Protocol>,
    pub id: RunId,
    /// The seq of the last event.
    pub seq: u64,
    pub epoch: u64,
    pub opened: Arc<RunOpened>,
    pub opened_ms: u64,
    /// When it closed. What is published carries this time, so that publishing again changes nothing.
    #[serde(with = "blank_as_none")]
    pub closed_ms: Option<u64>,
    /// Areas in force: the protocol's, with the repository's patterns where it overrides them.
    pub areas: Arc<Vec<InForce>>,
    pub phase: Phase,
    pub vars: BTreeMap<Name, Value>,
    pub artifacts: BTreeMap<Name, ArtifactState>,
    pub instances: BTreeMap<InstanceId, Arc<Instance>>,
    pub attempts: BTreeMap<AttemptId, Arc<Attempt>>,
    pub decisions: BTreeMap<DecisionId, Arc<Decision>>,
    /// The run's own content.
    pub tree: Name,
    /// What is known of every tree that something rests on.
    pub contents: BTreeMap<Name, Arc<Content>>,
    pub ledger: Arc<Ledger>,
    /// The last report of each role in each instance, whose sections later agents may be shown.
    pub reports: BTreeMap<InstanceId, Vec<Arc<LastReport>>>,
    pub next_attempt: u64,
    pub next_decision: u64,
    pub next_finding: u64,
    pub published: Option<Name>,
    /// The landing that is under way, after the close.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landing: Option<Arc<Landing>>,
    /// Where its tree landed, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub landed: Vec<Arc<RunLanded>>,
    /// What its attempts used, and what they may.
    #[serde(default)]
    pub spent: Arc<Spent>,
    /// Credential pools that may not be called, or are being tried again.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pools: BTreeMap<Name, Pool>,
}

fn no_protocol() -> Arc<Protocol> {
    Arc::new(Protocol {
        name: "".into(),
        version: 0,
        inputs: BTreeMap::new(),
        vars: BTreeMap::new(),
        attrs: BTreeMap::new(),
        areas: Vec::new(),
        artifacts: BTreeMap::new(),
        roles: BTreeMap::new(),
        gates: BTreeMap::new(),
        asks: Vec::new(),
        otherwise: Vec::new(),
        flows: Vec::new(),
        projections: BTreeMap::new(),
    })
}

/// An area with the patterns in force for this run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InForce {
    pub name: Name,
    pub patterns: Vec<Name>,
}

/// Whether the run goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Open,
    /// Nothing moves without a person's `retry`.
    Halted {
        reasons: Vec<String>,
    },
    Closed {
        outcome: RunOutcome,
        why: String,
    },
}

/// A document that was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactState {
    pub object: Digest,
    pub fields: BTreeMap<Name, Name>,
    /// What stood at its path when it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Digest>,
}

/// A flow at work for a subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    pub flow: Name,
    /// The unit it works on; none: the run.
    pub unit: Option<UnitId>,
    pub parent: Option<InstanceId>,
    /// The stage of the parent that runs it.
    pub each: Option<StageId>,
    pub at: At,
    pub counters: BTreeMap<Name, Counter>,
    /// How often each stage was dispatched, repeats after a crash left out.
    pub iterations: BTreeMap<StageId, u32>,
    /// What the stage it is at must know: the diagnostics of a malformed report, the paths of a collision.
    pub remarks: Vec<String>,
    /// The role whose report the remarks are about; none: the engine measured them.
    #[serde(default)]
    pub remarks_of: Option<RoleId>,
    /// What each role that writes has changed here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub wrote: BTreeMap<RoleId, Wrote>,
    /// What the agent told whose report could not be used: it is asked again in its own session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<AgentStats>,
    /// The verdict of a judge that accepts, until what it must establish is evaluated.
    pub judging: Option<Verdict>,
    /// The outcome of the stage it is at that is routed once commands have run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<Box<PendingOutcome>>,
    /// The attempt that a crash cut off here: the next one repeats it under its number.
    pub lost: Option<AttemptId>,
    /// The event that last started it at its first stage.
    pub started: u64,
    /// The event with which it last entered an `each`.
    #[serde(with = "blank_as_none")]
    pub each_entered: Option<u64>,
    /// The event with which it came to the stage it is at: who lands first came first.
    #[serde(default)]
    pub arrived: u64,
}

/// How often a route was taken.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counter {
    pub taken: u32,
    pub last_open: Option<Digest>,
    pub same_in_a_row: u32,
}

/// Work under a live lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The fencing token: the seq of the event that granted the lease.
    pub token: u64,
    pub instance: InstanceId,
    pub stage: StageId,
    pub work: Work,
    pub tree: Name,
    /// The content it was given: what comes of it is said of this, whatever changes meanwhile.
    pub on: On,
    pub started_ms: u64,
    pub epoch: u64,
    /// The attempt in whose place it came: that one was cut off, or nobody worked under it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<AttemptId>,
    /// The paths of the tree that a person let its commands write before it began.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub writes: BTreeSet<Name>,
    /// Whether a person had allowed, before it began, that the work's own set-up prepares it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_setup: bool,
}

/// A role's last report in an instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastReport {
    pub role: RoleId,
    pub attempt: AttemptId,
    pub object: Digest,
    pub sections: Vec<Name>,
    pub contradictions: Vec<String>,
    /// The tree that its role left.
    #[serde(default)]
    pub tree: Name,
}

/// What must be true, how it is judged, and what shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Ledger {
    /// Units in plan order.
    pub units: Vec<Unit>,
    pub criteria: Vec<Criterion>,
    pub requirements: Vec<Requirement>,
    /// The names of those that a person gave: no worker replaces them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub persons: BTreeSet<Name>,
    pub findings: BTreeMap<FindingId, FindingState>,
    /// The last judgement of each role on each subject.
    pub judgements: BTreeMap<SubjectKey, Judged>,
    /// The last answer to each ask for each subject.
    pub answers: BTreeMap<SubjectKey, Answered>,
    /// The last result of each configured command for each subject.
    pub commands: BTreeMap<SubjectKey, Shown>,
    /// Configured commands that cannot be observed and that a person waived, and for which content.
    pub waived_commands: BTreeMap<SubjectKey, On>,
    /// Globs a person added to the run's own scope.
    pub widened: Vec<Name>,
    /// What reports left open, in the order in which they came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<NoticeRow>,
    /// Revisions of the ledger's resources.
    pub revisions: BTreeMap<Resource, u64>,
}

/// One piece of work inside the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    pub name: UnitId,
    pub title: String,
    pub needs: Vec<UnitId>,
    pub scope: Vec<Name>,
    pub attrs: BTreeMap<Name, Vec<Name>>,
    pub requirements: Vec<Name>,
    pub state: UnitState,
    /// The content at which it was accepted.
    #[serde(rename = "accepted_at", with = "accepted_as_shown")]
    pub accepted_on: Option<On>,
    pub tree: Option<OwnTree>,
    /// Whether its work has ever changed the run's tree.
    #[serde(default)]
    pub in_tree: bool,
    /// What was changed for it in all, but for what is lost.
    #[serde(default, skip_serializing_if = "NetChange::is_empty")]
    pub net_change: NetChange,
    /// Why a later plan took it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired: Option<String>,
}

impl Unit {
    /// Whether it has a tree of its own that is yet to land.
    pub fn is_apart(&self) -> bool {
        self.state != UnitState::Dropped && self.tree.as_ref().is_some_and(|own| !own.landed)
    }
}

/// A unit's own work tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnTree {
    /// How often it was made anew.
    pub generation: u32,
    /// The caller's tree it was made from, or stands on after a conflict.
    pub base: Name,
    pub tree: Name,
    pub landed: bool,
    /// How its work collided with what had landed before; gone when it lands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collision: Option<Collision>,
    /// Paths that its last landing would not take, or collided at: whoever works there may put them right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Name>,
    /// What an earlier start of the unit had made that never landed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Name>,
    /// What had been changed for the unit before: it is this again when the tree is lost.
    #[serde(default, skip_serializing_if = "NetChange::is_empty")]
    pub before: NetChange,
}

/// Work that does not fit what landed before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collision {
    pub paths: Vec<Name>,
    /// What became of each path, a line each.
    pub how: String,
}

/// One row of what must be true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    pub id: Name,
    pub text: String,
    pub group: Option<Name>,
    pub unit: Option<UnitId>,
    pub requirement: Option<Name>,
    pub command: Option<String>,
    /// How often its command is run on the same content; none: once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
    /// The last word of a judge.
    pub judged: Option<Shown>,
    /// The last result of its command.
    pub ran: Option<Shown>,
    /// A person's waiver; it stands for the content that it was given to.
    pub waived: Option<Waived>,
}

/// A waiver, and the content it was given to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waived {
    pub decision: DecisionId,
    pub on: On,
    /// Whether it was given in spite of the row's command, which then need not pass.
    #[serde(default)]
    pub with_command: bool,
}

/// A result, and the content it was given to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    pub result: Judgement,
    pub on: On,
    pub attempt: AttemptId,
    /// The bytes that show it.
    pub object: Option<Digest>,
    /// Why, where the result alone does not say it.
    pub note: String,
    /// How flaky the command is that shows it, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flaky: Option<Flaky>,
    /// What of the tree the command has to change that shows it, and was not allowed to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Name>,
    /// The files by which the work changed the set-up of the command that shows it, where nobody allowed that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<Name>,
}

/// The content that something was said of: a tree, and the documents and ledger parts that gates bind to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct On {
    pub tree: Name,
    pub documents: BTreeMap<Resource, Name>,
}

/// Something that must be true of the whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    pub id: Name,
    pub text: String,
    pub disposition: Option<Disposition>,
    /// What a worker proposes; it decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<Disposition>,
    /// The answer by which a person disposed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disposed_by: Option<DecisionId>,
    pub waived: Option<DecisionId>,
}

/// A role's judgement of a subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    pub verdict: Verdict,
    pub on: On,
    /// The attempt that judged; none: a person decided.
    #[serde(with = "blank_as_none")]
    pub attempt: Option<AttemptId>,
    pub seq: u64,
    pub failed: Vec<Name>,
    pub findings: BTreeSet<FindingId>,
    /// The decision by which a person's word stands for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waived: Option<DecisionId>,
}

/// A person's or a timer's answer to an ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    pub option: Name,
    pub by_person: bool,
    pub on: On,
    pub seq: u64,
}

/// Key of a subject's entry: `name` for the run, `name@unit` for a unit.
pub fn keyed(name: &str, unit: Option<&UnitId>) -> SubjectKey {
    SubjectKey { name: name.into(), unit: unit.cloned() }
}

impl Run {
    /// The flow of an instance.
    pub fn flow(&self, instance: &Instance) -> Option<&Flow> {
        self.protocol.flow(&instance.flow)
    }

    /// A stage of an instance's flow.
    pub fn stage<'a>(&'a self, instance: &Instance, stage: &str) -> Option<&'a Stage> {
        self.protocol.flow(&instance.flow)?.stage(stage)
    }

    /// A unit by name.
    pub fn unit(&self, name: &str) -> Option<&Unit> {
        self.ledger.units.iter().find(|unit| &*unit.name == name)
    }

    /// A criterion by id.
    pub fn criterion(&self, id: &str) -> Option<&Criterion> {
        self.ledger.criteria.iter().find(|row| &*row.id == id)
    }

    /// The tree a subject's work stands on now: a unit's own until it has landed, else the run's.
    pub fn tree_of(&self, unit: Option<&UnitId>) -> &Name {
        unit.and_then(|name| self.unit(name))
            .and_then(|unit| unit.tree.as_ref())
            .filter(|own| !own.landed)
            .map_or(&self.tree, |own| &own.tree)
    }

    /// Whether the run has ended.
    pub const fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed { .. })
    }

    /// Whether it closed with every mandatory gate holding.
    pub const fn succeeded(&self) -> bool {
        matches!(self.phase, Phase::Closed { outcome: RunOutcome::Succeeded, .. })
    }

    /// Whether it ended with its report.
    pub const fn is_reported(&self) -> bool {
        matches!(self.phase, Phase::Closed { outcome: RunOutcome::Reported, .. })
    }

    /// Decisions that are still open, in the order they were asked.
    pub fn pending(&self) -> impl Iterator<Item = (DecisionId, &Decision)> {
        self.decisions.iter().filter(|(_, decision)| decision.end.is_none()).map(|(id, decision)| (*id, &**decision))
    }

    /// The value of a `one_of` variable.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.vars.get(name)
    }

    /// Instances below one, direct children only.
    pub fn children<'a>(&'a self, parent: &'a str) -> impl Iterator<Item = (&'a InstanceId, &'a Arc<Instance>)> {
        self.instances.iter().filter(move |(_, instance)| instance.parent.as_deref() == Some(parent))
    }

    /// Whether everything above an instance still waits for it.
    pub fn is_live(&self, name: &str) -> bool {
        let Some(instance) = self.instances.get(name) else { return false };
        match &instance.parent {
            None => true,
            Some(parent) => {
                let waits = self.instances.get(parent).is_some_and(
                    |above| matches!(&above.at, At::Each { stage } if Some(stage) == instance.each.as_ref()),
                );
                waits && self.is_live(parent)
            }
        }
    }
}
