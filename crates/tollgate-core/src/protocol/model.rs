//! A protocol as the checker proves it and the kernel runs it: names resolved, nothing of the text left but places.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::condition::Condition;
use super::outcome::Outcome;
use crate::Name;
use crate::diagnostic::Place;
use crate::id::{GateId, RoleId, StageId};
use crate::report::{Part, Verdict};
use crate::scope::Area;
use crate::words::{words, words_or_name};

pub use super::artifact::{Artifact, Given};
pub use super::projection::{Projection, Renderer};
pub use super::sees::{ITEMS, NOTICES, Sees};

/// A whole protocol. Maps keep their order of names; lists keep the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Protocol {
    pub name: Name,
    pub version: u32,
    pub inputs: BTreeMap<Name, Variable>,
    pub vars: BTreeMap<Name, Variable>,
    /// `units.attrs`.
    pub attrs: BTreeMap<Name, Attribute>,
    /// First pattern that matches a path wins, in this order.
    pub areas: Vec<Area>,
    pub artifacts: BTreeMap<Name, Artifact>,
    pub roles: BTreeMap<RoleId, Role>,
    pub gates: BTreeMap<GateId, Gate>,
    /// Questions any flow may put: stages of kind `Ask`, in the order of the file.
    pub asks: Vec<Stage>,
    pub otherwise: Vec<Rule>,
    /// `main` is the run; the others are run by `each`. In the order of the file.
    pub flows: Vec<Flow>,
    /// By path template.
    pub projections: BTreeMap<Name, Projection>,
}

impl Protocol {
    /// The contracts that roles report in and artifacts are written in.
    pub fn contract_names(&self) -> impl Iterator<Item = &Name> {
        let artifacts = self.artifacts.values().filter_map(|artifact| artifact.schema.as_ref());
        self.roles.values().map(|role| &role.contract).chain(artifacts)
    }
}

/// An input or a variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Variable {
    pub kind: VariableKind,
    pub required: bool,
    pub default: Option<Value>,
    /// Defaults that hang on other inputs: the first whose condition holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub defaults: Vec<(Condition, Value)>,
    pub place: Place,
}

impl Variable {
    /// Whether it has a value where nobody gives one.
    pub fn has_default(&self) -> bool {
        let last = self.defaults.last().map(|(when, _)| when);
        self.default.is_some() || matches!(last, Some(Condition::All(parts)) if parts.is_empty())
    }
}

/// An attribute of units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attribute {
    /// The values its set may hold.
    pub values: Vec<Name>,
    pub place: Place,
}

/// What a variable may be. Only `OneOf` may steer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VariableKind {
    OneOf(Vec<Name>),
    ListOf(Vec<Name>),
    Int,
    Text,
}

/// The value of an input or a variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    Int(i64),
    Text(Name),
    List(Vec<Name>),
}

/// Who does a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Role {
    pub contract: Name,
    /// The part that it plays, for contracts whose reports differ by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// The verdicts it may give; empty: it does not judge.
    pub verdicts: Vec<Verdict>,
    /// The areas it may write; empty: none.
    pub writes: Vec<Name>,
    pub sees: Sees,
    pub shown_claims: Vec<Name>,
    pub self_check: bool,
    /// The role whose worker session it continues; none: fresh.
    pub session: Option<RoleId>,
    pub scope: ScopePolicy,
    pub budget: Budget,
    pub place: Place,
}

impl Role {
    /// Whether the role judges.
    pub fn judges(&self) -> bool {
        !self.verdicts.is_empty()
    }
}

/// What happens to changes outside the scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScopePolicy {
    Strict,
    Incidental,
    Advisory,
}

/// Limits of one attempt; past one of them the health is `exhausted`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Budget {
    pub time_ms: Option<u64>,
    pub tokens: Option<u64>,
    pub cost_nano_usd: Option<u64>,
    pub turns: Option<u32>,
}

words_or_name! {
    /// What stages deliver, gates are bound to and answers amend.
    Resource {
        Tree = "tree",
        Units = "units",
        Requirements = "requirements",
        Criteria = "criteria",
        Findings = "findings",
        Scope = "scope",
    } or
    /// An area, an artifact or, where a stage delivers it, a variable.
    Named
}

/// A named condition over state and ledger, bound to content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gate {
    pub holds: Condition,
    /// Empty: over variables alone.
    pub bound_to: Vec<Resource>,
    /// When it must hold at `done` of a unit; none: never.
    pub mandatory_unit: Option<Condition>,
    /// When it must hold at `done` of the run; none: never.
    pub mandatory_run: Option<Condition>,
    pub place: Place,
}

/// A list of stages; the first is where it starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flow {
    pub name: Name,
    pub stages: Vec<Stage>,
    pub place: Place,
}

/// One place in a flow, or a shared ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stage {
    pub id: StageId,
    pub kind: Kind,
    pub when: Option<Condition>,
    /// Gates that must hold and artifacts that must exist when it starts.
    pub requires: Vec<Name>,
    /// Gates its acceptance establishes.
    pub ensures: Vec<GateId>,
    pub gives: Vec<Resource>,
    pub label: Option<Name>,
    pub on: Vec<Rule>,
    pub place: Place,
}

/// What a stage does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Dispatch { role: RoleId },
    Ask(Ask),
    Check { gates: Vec<GateId> },
    Each(Each),
    Land(Land),
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ask {
    pub class: Class,
    pub question: Option<String>,
    pub from: Option<From>,
    pub shows: Vec<Name>,
    /// Option and its consequence, in the order of the file, the strictest first: of the answers to several questions of a report the
    /// first is followed. Empty: any text answers (`answered`).
    pub options: Vec<(Name, String)>,
    /// Option and when it is recommended.
    pub recommend: Vec<(Name, Condition)>,
    pub default: Option<AskDefault>,
    /// After so many invalid answers the outcome is `cancelled`, under this name where it has one; none: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tries: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled_as: Option<Name>,
}

/// What kind of decision it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    Approval,
    Choice,
    Clarification,
    Scope,
    Waiver,
    Security,
    Disposition,
    Intake,
}

words!(Class {
    Approval = "approval",
    Choice = "choice",
    Clarification = "clarification",
    Scope = "scope",
    Waiver = "waiver",
    Security = "security",
    Disposition = "disposition",
    Intake = "intake",
});

/// Where an ask takes its question from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum From {
    Report,
    Ledger,
    Measure,
}

/// A timer's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AskDefault {
    pub answer: Name,
    pub after_ms: u64,
}

/// Runs a flow for several units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Each {
    pub over: Over,
    pub flow: Name,
    pub at_once: AtOnce,
    pub trees: Trees,
    pub makes: Makes,
}

/// What an `each` runs over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// The units given by a stage.
    Units,
    /// A list input: units that exist by name.
    Input(Name),
    /// A literal list.
    Lanes(Vec<Name>),
    /// The current subject: a sub-flow call.
    It,
}

/// How many instances may be active.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AtOnce {
    Number(u32),
    Input(Name),
}

/// Where instances work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trees {
    Shared,
    Own,
}

/// What `done` makes of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Makes {
    Accepted,
    Produced,
}

/// Where a landing goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Land {
    Run,
    PullRequest,
    Base,
}

/// An outcome (`accept`, `needs_input.spec-gap`, `needs_input.spec-*`, `raise x`) and where it leads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rule {
    pub outcome: Name,
    pub route: Route,
    pub place: Place,
}

/// Where an outcome leads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Route {
    pub to: Target,
    pub limit: Option<u32>,
    pub same: Option<u32>,
    pub then: Option<Target>,
    pub ensures: Ensures,
    /// What a person's answer may amend.
    pub amends: Vec<Resource>,
}

/// What an answer establishes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ensures {
    Nothing,
    /// What the origin would have established.
    Origin,
    Gates(Vec<GateId>),
}

/// The end of a route.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A stage of the same flow.
    Stage(StageId),
    /// A shared ask.
    Ask(StageId),
    /// This stage again.
    Again,
    Done,
    /// Of main: the run ends with its report, and is no success of work of its own.
    Reported,
    Dropped,
    Hold,
    Raise(Name),
    /// In asks: the target of the cut-off route, else the origin.
    Back,
    /// In asks: the origin stage again.
    Origin,
    /// In asks: where the origin's outcome goes.
    As(Outcome),
}

impl Protocol {
    /// A flow by name.
    pub fn flow(&self, name: &str) -> Option<&Flow> {
        self.flows.iter().find(|flow| &*flow.name == name)
    }

    /// These gates and those that they read, each once.
    pub fn with_read<'a>(&'a self, gates: impl Iterator<Item = &'a Gate>) -> Vec<&'a Gate> {
        let mut all: Vec<&Gate> = gates.collect();
        let mut at = 0;
        while let Some(gate) = all.get(at).copied() {
            for condition in gate.holds.parts() {
                let inner = if let Condition::Holds(inner) = condition { self.gates.get(inner) } else { None };
                all.extend(inner.filter(|inner| !all.iter().any(|known| std::ptr::eq(*known, *inner))));
            }
            at += 1;
        }
        all
    }

    /// Whether a stage establishes a gate or delivers a document: itself, by an answer, or by a flow it runs for its subject.
    pub fn establishes(&self, stage: &Stage, name: &str) -> bool {
        let has = |gates: &[GateId]| gates.iter().any(|gate| **gate == *name);
        let answers = stage.on.iter().any(|rule| matches!(&rule.route.ensures, Ensures::Gates(all) if has(all)));
        let by_kind = match &stage.kind {
            Kind::Check { gates } => has(gates),
            // Flows do not run each other in a circle: the checker refuses it.
            Kind::Each(Each { over: Over::It, flow, .. }) => {
                self.flow(flow).is_some_and(|flow| flow.stages.iter().any(|stage| self.establishes(stage, name)))
            }
            Kind::Dispatch { .. } | Kind::Ask(_) | Kind::Each(_) | Kind::Land(_) => false,
        };
        answers || by_kind || has(&stage.ensures) || stage.gives.iter().any(|given| **given == *name)
    }

    /// Whether a resource lies in the tree: an area, all of it, or a document with a path.
    pub fn lies_in_tree(&self, resource: &Resource) -> bool {
        let with_path = || self.artifacts.get(&**resource).is_some_and(|artifact| artifact.path.is_some());
        self.is_content(resource) || with_path()
    }

    /// Whether a resource is files: an area, or the whole tree.
    pub fn is_content(&self, resource: &Resource) -> bool {
        *resource == Resource::Tree || self.areas.iter().any(|area| *area.name == **resource)
    }

    /// A shared ask by name.
    pub fn ask(&self, name: &str) -> Option<&Stage> {
        self.asks.iter().find(|ask| &*ask.id == name)
    }

    /// The route of an outcome at a stage, and whether it is a rule of `otherwise`.
    pub fn route<'a>(&'a self, stage: &'a Stage, outcome: &Outcome) -> Option<(&'a Rule, Owner)> {
        let outcome = &*outcome.word();
        find(&stage.on, outcome)
            .map(|rule| (rule, Owner::Stage))
            .or_else(|| find(&self.otherwise, outcome).map(|rule| (rule, Owner::Otherwise)))
    }
}

impl Protocol {
    /// Every condition of the protocol, and every part of each.
    pub fn conditions(&self) -> impl Iterator<Item = &Condition> {
        self.placed_conditions().map(|(_, condition)| condition)
    }

    /// The same, each with the place of the stage, gate, artifact or input that it belongs to.
    pub fn placed_conditions(&self) -> impl Iterator<Item = (Place, &Condition)> {
        let stages = self.flows.iter().flat_map(|flow| &flow.stages).chain(&self.asks).flat_map(|stage| {
            let recommend = if let Kind::Ask(ask) = &stage.kind { ask.recommend.as_slice() } else { &[] };
            let all = stage.when.iter().chain(recommend.iter().map(|(_, condition)| condition));
            all.map(|condition| (stage.place, condition))
        });
        let gates = self.gates.values().flat_map(|gate| {
            let all = std::iter::once(&gate.holds).chain(&gate.mandatory_unit).chain(&gate.mandatory_run);
            all.map(|condition| (gate.place, condition))
        });
        let artifacts = self.artifacts.values().filter_map(|artifact| {
            if let Given::InputWhen(condition) = &artifact.given { Some((artifact.place, condition)) } else { None }
        });
        let inputs = self.inputs.values().flat_map(|input| input.defaults.iter().map(|(when, _)| (input.place, when)));
        let all = stages.chain(gates).chain(artifacts).chain(inputs);
        all.flat_map(|(place, condition)| condition.parts().map(move |part| (place, part)))
    }
}

impl Flow {
    /// A stage by id.
    pub fn stage(&self, id: &str) -> Option<&Stage> {
        self.stages.iter().find(|stage| &*stage.id == id)
    }
}

/// Where a rule was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Owner {
    Stage,
    Otherwise,
}

/// Looks an outcome up in a table: `a.b`, then patterns `a.sp*`, then `a`.
fn find<'a>(rules: &'a [Rule], outcome: &str) -> Option<&'a Rule> {
    let exact = rules.iter().find(|rule| &*rule.outcome == outcome);
    let pattern =
        || rules.iter().find(|rule| rule.outcome.strip_suffix('*').is_some_and(|prefix| outcome.starts_with(prefix)));
    let plain = || {
        let head = outcome.split_once('.')?.0;
        rules.iter().find(|rule| &*rule.outcome == head)
    };
    exact.or_else(pattern).or_else(plain)
}
