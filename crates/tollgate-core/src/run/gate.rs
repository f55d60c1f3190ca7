//! Gates: what holds now, for a subject, on the content it stands on. Always derived, never stored.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::event::{CommandRef, DecisionEnd, FindingStatus, UnitState};
use super::state::{At, Criterion, FindingState, Instance, Judged, On, Run, Shown, Unit, keyed};
use crate::Name;
use crate::protocol::Condition;
use crate::protocol::condition::{Quantifier, SetKind};
use crate::protocol::model::{Class, Gate, Value};
use crate::report::{Judgement, Verdict};

/// Whether a gate holds. Only `Holds` passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It holds for this content.
    Holds,
    /// It rests on a judgement or answer given to other content.
    Stale,
    /// It cannot be observed here.
    Unobservable,
    /// It does not hold.
    Fails,
}

impl Status {
    const fn of(truth: bool) -> Self {
        if truth { Self::Holds } else { Self::Fails }
    }

    const fn not(self) -> Self {
        match self {
            Self::Holds => Self::Fails,
            Self::Fails => Self::Holds,
            Self::Stale | Self::Unobservable => self,
        }
    }
}

/// The status of a gate for a subject (a unit, or the run).
pub fn status(run: &Run, gate: &Gate, unit: Option<&Name>) -> Status {
    Eval { run, unit, bound_to: &gate.bound_to, depth: 0 }.condition(&gate.holds)
}

/// The status of a gate by name; one that does not exist fails.
pub fn status_of(run: &Run, gate: &str, unit: Option<&Name>) -> Status {
    run.protocol.gates.get(gate).map_or(Status::Fails, |gate| status(run, gate, unit))
}

/// Whether a condition holds for a subject, outside any gate.
pub fn truth(run: &Run, condition: &Condition, unit: Option<&Name>) -> bool {
    Eval { run, unit, bound_to: &[], depth: 0 }.holds(condition)
}

/// Gates that must hold at `done` of a unit.
pub fn mandatory_of_unit<'a>(run: &'a Run, unit: &'a Name) -> impl Iterator<Item = (&'a Name, &'a Gate)> {
    run.protocol
        .gates
        .iter()
        .filter(move |(_, gate)| gate.mandatory_unit.as_ref().is_some_and(|when| truth(run, when, Some(unit))))
}

/// Gates that must hold at `done` of the run.
pub fn mandatory_of_run(run: &Run) -> impl Iterator<Item = (&Name, &Gate)> {
    run.protocol
        .gates
        .iter()
        .filter(move |(_, gate)| gate.mandatory_run.as_ref().is_some_and(|when| truth(run, when, None)))
}

/// What a subject's content is now, as far as gates bind to it.
pub fn on(run: &Run, unit: Option<&Name>) -> On {
    on_tree(run, run.tree_of(unit).clone())
}

/// A tree together with the documents and ledger parts as they are now.
pub fn on_tree(run: &Run, tree: Name) -> On {
    let bound = run.protocol.gates.values().flat_map(|gate| &gate.bound_to);
    let documents = bound.filter(|name| !is_tree(run, name)).map(|name| (name.clone(), document(run, name))).collect();
    On { tree, documents }
}

fn is_tree(run: &Run, resource: &str) -> bool {
    resource == "tree" || run.areas.iter().any(|area| &*area.name == resource)
}

/// The state of a document or a part of the ledger, as a text that changes when it does.
pub(super) fn document(run: &Run, resource: &str) -> Name {
    match run.artifacts.get(resource) {
        Some(artifact) => artifact.object.to_string().into(),
        None => run.ledger.revisions.get(resource).copied().unwrap_or_default().to_string().into(),
    }
}

/// Whether something said of `on` still stands for these resources, for a subject.
pub fn fresh(run: &Run, on: &On, resources: &[Name], unit: Option<&Name>) -> bool {
    let now = run.tree_of(unit);
    resources.iter().all(|resource| {
        if &**resource == "tree" {
            on.tree == *now
        } else if is_tree(run, resource) {
            on.tree == *now || same_area(run, &on.tree, now, resource, unit)
        } else {
            on.documents.get(resource) == Some(&document(run, resource))
        }
    })
}

/// Whether an area, narrowed to the unit's scope, is the same in two trees. What is not known is not the same.
fn same_area(run: &Run, one: &Name, other: &Name, area: &Name, unit: Option<&Name>) -> bool {
    let digest = |tree: &Name| {
        let content = run.contents.get(tree)?;
        let scoped = unit.and_then(|unit| content.scoped.get(unit));
        scoped.unwrap_or(&content.areas).get(area).copied()
    };
    matches!((digest(one), digest(other)), (Some(a), Some(b)) if a == b)
}

/// Every tree that something in the state rests on.
pub fn trees_in_use(run: &Run) -> BTreeSet<Name> {
    let ledger = &run.ledger;
    let mut used = BTreeSet::from([run.tree.clone()]);
    for unit in &ledger.units {
        used.extend(unit.tree.iter().flat_map(|own| [own.base.clone(), own.tree.clone()]));
        used.extend(unit.accepted_at.iter().map(|shown| shown.on.tree.clone()));
    }
    let shown = ledger.criteria.iter().flat_map(|row| row.judged.iter().chain(row.ran.iter()));
    used.extend(shown.chain(ledger.commands.values()).map(|shown| shown.on.tree.clone()));
    used.extend(ledger.judgements.values().map(|judged| judged.on.tree.clone()));
    used.extend(ledger.answers.values().map(|answered| answered.on.tree.clone()));
    used.extend(run.attempts.values().map(|attempt| attempt.tree.clone()));
    used.extend(run.decisions.values().filter(|d| d.end.is_none()).map(|d| d.asked.tree.clone()));
    used
}

/// Where a criterion stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriterionState {
    Open,
    Passed,
    Failed,
    Unobservable,
    Waived,
}

impl CriterionState {
    /// The word conditions use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unobservable => "unobservable",
            Self::Waived => "waived",
        }
    }
}

/// Where a criterion stands and whether what shows it is fresh for these resources. A row that names a command needs
/// both: the command's result and, once a judge has spoken, the judge's.
pub fn criterion(run: &Run, row: &Criterion, resources: &[Name], subject: Option<&Name>) -> (CriterionState, bool) {
    if row.waived.is_some() {
        return (CriterionState::Waived, true);
    }
    // Evidence given for a unit is narrowed to that unit; the run sees its units' rows through the same lens.
    let lens = row.unit.as_ref().or(subject);
    let is_fresh = |shown: &&Shown| fresh(run, &shown.on, resources, lens);
    let needed: [Option<&Shown>; 2] = [row.judged.as_ref(), row.ran.as_ref()];
    let missing = row.judged.is_none() || (row.command.is_some() && row.ran.is_none());
    let all_fresh = needed.iter().flatten().all(is_fresh);
    let any = |result| needed.iter().flatten().any(|shown| shown.result == result);
    if any(Judgement::Fail) {
        (CriterionState::Failed, all_fresh)
    } else if any(Judgement::Unobservable) {
        (CriterionState::Unobservable, all_fresh)
    } else if missing {
        (CriterionState::Open, true)
    } else {
        (CriterionState::Passed, all_fresh)
    }
}

/// Commands that a condition needs and that were not yet run on the subject's content.
pub fn commands_needed(run: &Run, gates: &[Name], unit: Option<&Name>) -> Vec<CommandRef> {
    let tree = run.tree_of(unit);
    let mut needed = BTreeSet::new();
    for gate in gates.iter().filter_map(|name| run.protocol.gates.get(name)) {
        let mut atoms = Vec::new();
        leaves(&gate.holds, &mut atoms);
        for atom in atoms {
            match atom {
                Condition::Command(name) => {
                    let known = run.ledger.commands.get(&keyed(name, unit));
                    if known.is_none_or(|shown| shown.on.tree != *tree) {
                        needed.insert(CommandRef::Named(name.clone()));
                    }
                }
                Condition::Set { set: SetKind::Criterion, filter, .. } => {
                    let eval = Eval { run, unit, bound_to: &gate.bound_to, depth: 0 };
                    for row in run.ledger.criteria.iter().filter(|row| eval.owns(row.unit.as_ref())) {
                        let ran_here = row.ran.as_ref().is_some_and(|shown| {
                            shown.on.tree == *tree || fresh(run, &shown.on, &gate.bound_to, row.unit.as_ref().or(unit))
                        });
                        if row.command.is_some() && !ran_here && row.waived.is_none() && row_matches(row, filter) {
                            needed.insert(CommandRef::Criterion(row.id.clone()));
                        }
                    }
                }
                _ => {}
            }
        }
    }
    needed.into_iter().collect()
}

/// The rows a gate reads.
pub fn rows_of<'a>(run: &'a Run, gate: &Gate, unit: Option<&Name>) -> Vec<&'a Criterion> {
    let mut atoms = Vec::new();
    leaves(&gate.holds, &mut atoms);
    let eval = Eval { run, unit, bound_to: &gate.bound_to, depth: 0 };
    let reads = |row: &&Criterion| {
        eval.owns(row.unit.as_ref())
            && atoms.iter().any(|atom| {
                matches!(atom, Condition::Set { set: SetKind::Criterion, filter, .. } if row_matches(row, filter))
            })
    };
    run.ledger.criteria.iter().filter(reads).collect()
}

/// The atoms of a condition.
pub fn leaves<'a>(condition: &'a Condition, into: &mut Vec<&'a Condition>) {
    match condition {
        Condition::All(parts) | Condition::Any(parts) => parts.iter().for_each(|part| leaves(part, into)),
        Condition::Not(part) => leaves(part, into),
        atom => into.push(atom),
    }
}

fn row_matches(row: &Criterion, filter: &[(Name, Vec<Name>)]) -> bool {
    filter.iter().all(|(key, values)| match &**key {
        "group" => row.group.as_ref().is_some_and(|group| values.contains(group)),
        _ => false,
    })
}

/// Gates do not call each other in circles; the checker proves it, and this is the belt to its braces.
const DEPTH_MAX: u8 = 16;

struct Eval<'a> {
    run: &'a Run,
    unit: Option<&'a Name>,
    bound_to: &'a [Name],
    depth: u8,
}

impl Eval<'_> {
    /// Whether a row or finding of this owner belongs to the subject: a unit's own; for the run all.
    fn owns(&self, owner: Option<&Name>) -> bool {
        self.unit.is_none_or(|unit| owner == Some(unit))
    }

    /// Yes or no: what is stale or cannot be observed does not hold, and its opposite does. A gate is evaluated in four
    /// values; whether a stage is entered is not (`when: {not: {holds: reviewed}}` must not skip a stale review).
    fn holds(&self, condition: &Condition) -> bool {
        match condition {
            Condition::All(parts) => parts.iter().all(|part| self.holds(part)),
            Condition::Any(parts) => parts.iter().any(|part| self.holds(part)),
            Condition::Not(part) => !self.holds(part),
            atom => self.condition(atom) == Status::Holds,
        }
    }

    fn condition(&self, condition: &Condition) -> Status {
        match condition {
            Condition::All(parts) => parts.iter().map(|part| self.condition(part)).max().unwrap_or(Status::Holds),
            Condition::Any(parts) => parts.iter().map(|part| self.condition(part)).min().unwrap_or(Status::Fails),
            Condition::Not(part) => self.condition(part).not(),
            Condition::Var { name, values } => Status::of(match self.run.vars.get(name) {
                Some(Value::Text(value)) => values.contains(value),
                Some(Value::Int(_) | Value::List(_)) | None => false,
            }),
            Condition::It { attr, values } => Status::of(self.it(attr, values)),
            Condition::Holds(gate) if self.depth >= DEPTH_MAX => {
                let _ = gate;
                Status::Fails
            }
            Condition::Holds(gate) => self.run.protocol.gates.get(gate).map_or(Status::Fails, |gate| {
                Eval { bound_to: &gate.bound_to, depth: self.depth + 1, ..*self }.condition(&gate.holds)
            }),
            Condition::Judged(role) => self.judged(role),
            Condition::Answer { ask, options, by_anyone } => self.answer(ask, options, *by_anyone),
            Condition::Command(name) => self.command(name),
            Condition::Artifact { name, with } => {
                Status::of(self.run.artifacts.get(name).is_some_and(|artifact| {
                    with.iter().all(|(field, value)| artifact.fields.get(field) == Some(value))
                }))
            }
            Condition::Set { quantifier, set, filter, is, has } => self.set(*quantifier, *set, filter, is, has),
            Condition::Count { set, at_least } => {
                Status::of(u32::try_from(self.members(*set, &[]).len()).unwrap_or(u32::MAX) >= *at_least)
            }
        }
    }

    fn it(&self, attr: &str, values: &[Name]) -> bool {
        let has = |unit: &Unit| match attr {
            "state" => values.iter().any(|value| &**value == unit_word(self.run, unit)),
            _ => unit.attrs.get(attr).is_some_and(|set| set.iter().any(|value| values.contains(value))),
        };
        match self.unit {
            Some(name) => self.run.unit(name).is_some_and(has),
            // The run's attribute is the union of its units'.
            None => attr != "state" && self.run.ledger.units.iter().any(has),
        }
    }

    fn judged(&self, role: &str) -> Status {
        let own = self.unit.and_then(|unit| self.run.ledger.judgements.get(&keyed(role, Some(unit))));
        let whole = self.run.ledger.judgements.get(role);
        // A judgement of the whole run is one of its units too; the later one counts.
        let last = own.into_iter().chain(whole).max_by_key(|judged| judged.seq);
        let Some(judged) = last else { return Status::Fails };
        match judged.verdict {
            Verdict::Accept | Verdict::AcceptWithNotes => self.if_fresh(&judged.on),
            Verdict::Reject if self.all_waived(judged) => self.if_fresh(&judged.on),
            Verdict::Reject | Verdict::None | Verdict::Inconclusive => Status::Fails,
        }
    }

    fn all_waived(&self, judged: &Judged) -> bool {
        let ledger = &self.run.ledger;
        let finding = |id| ledger.findings.get(id).is_some_and(|f| f.status == FindingStatus::Waived);
        let row = |id: &Name| self.run.criterion(id).is_some_and(|row| row.waived.is_some());
        !(judged.findings.is_empty() && judged.failed.is_empty())
            && judged.findings.iter().all(finding)
            && judged.failed.iter().all(row)
    }

    fn answer(&self, ask: &str, options: &[Name], by_anyone: bool) -> Status {
        let answers = &self.run.ledger.answers;
        let own = self.unit.and_then(|unit| answers.get(&keyed(ask, Some(unit))));
        let Some(answered) = own.into_iter().chain(answers.get(ask)).max_by_key(|answered| answered.seq) else {
            return Status::Fails;
        };
        if options.contains(&answered.option) && (by_anyone || answered.by_person) {
            self.if_fresh(&answered.on)
        } else {
            Status::Fails
        }
    }

    fn command(&self, name: &str) -> Status {
        let key = keyed(name, self.unit);
        // A waiver is of content: when that changed, what was observed since counts.
        if self.run.ledger.waived_commands.get(&key).is_some_and(|on| self.if_fresh(on) == Status::Holds) {
            return Status::Holds;
        }
        let Some(shown) = self.run.ledger.commands.get(&key) else { return Status::Unobservable };
        match shown.result {
            Judgement::Pass => self.if_fresh(&shown.on),
            Judgement::Fail => Status::Fails,
            Judgement::Unobservable => Status::Unobservable,
        }
    }

    fn if_fresh(&self, on: &On) -> Status {
        if fresh(self.run, on, self.bound_to, self.unit) { Status::Holds } else { Status::Stale }
    }

    fn set(
        &self,
        quantifier: Quantifier,
        set: SetKind,
        filter: &[(Name, Vec<Name>)],
        is: &[Name],
        has: &[Name],
    ) -> Status {
        let members = self.members(set, filter);
        let suits = |member: &Member| {
            let state = is.is_empty() || is.iter().any(|word| &**word == member.word);
            state && has.iter().all(|part| member.parts.iter().any(|p| *p == &**part))
        };
        match quantifier {
            Quantifier::Every => members
                .iter()
                .map(|member| match (suits(member), member.fresh) {
                    (true, true) => Status::Holds,
                    (_, false) => Status::Stale,
                    (false, true) if member.word == "unobservable" => Status::Unobservable,
                    (false, true) => Status::Fails,
                })
                .max()
                .unwrap_or(Status::Holds),
            Quantifier::None => Status::of(!members.iter().any(suits)),
            Quantifier::Some => Status::of(members.iter().any(suits)),
        }
    }

    fn members(&self, set: SetKind, filter: &[(Name, Vec<Name>)]) -> Vec<Member> {
        let passes = |key: &str, value: Option<&str>| {
            filter
                .iter()
                .filter(|(wanted, _)| &**wanted == key)
                .all(|(_, values)| value.is_some_and(|value| values.iter().any(|v| &**v == value)))
        };
        let run = self.run;
        match set {
            SetKind::Criterion => run
                .ledger
                .criteria
                .iter()
                .filter(|row| self.owns(row.unit.as_ref()) && row_matches(row, filter))
                .map(|row| {
                    let (state, fresh) = criterion(run, row, self.bound_to, self.unit);
                    Member { word: state.word(), fresh, parts: Vec::new() }
                })
                .collect(),
            SetKind::Finding => run
                .ledger
                .findings
                .values()
                .filter(|finding| self.concerns(finding))
                .filter(|finding| passes("severity", finding.about.severity.as_deref()))
                .filter(|finding| passes("category", finding.about.category.as_deref()))
                .map(|finding| Member::plain(finding.status.word()))
                .collect(),
            SetKind::Requirement => run
                .ledger
                .requirements
                .iter()
                .filter(|row| self.unit.and_then(|u| run.unit(u)).is_none_or(|u| u.requirements.contains(&row.id)))
                .filter(|row| passes("disposition", row.disposition.as_deref()))
                .map(|row| Member {
                    word: requirement_word(run, row, self.bound_to),
                    fresh: true,
                    parts: requirement_parts(run, &row.id),
                })
                .collect(),
            SetKind::Unit => run
                .ledger
                .units
                .iter()
                .filter(|unit| self.unit.is_none_or(|name| unit.name == *name))
                .map(|unit| Member { word: unit_word(run, unit), fresh: true, parts: unit_parts(run, unit) })
                .collect(),
            SetKind::Decision => run
                .decisions
                .values()
                .filter(|decision| self.owns(decision.asked.unit.as_ref()))
                .filter(|decision| passes("class", Some(class_word(decision.asked.class))))
                .map(|decision| Member::plain(decision_word(decision.end.as_ref().map(|end| end.end))))
                .collect(),
            SetKind::Question => run
                .decisions
                .values()
                .filter(|decision| decision.asked.class == Class::Clarification)
                .filter(|decision| self.owns(decision.asked.unit.as_ref()))
                .filter(|decision| passes("blocking", Some(if decision.asked.blocking { "true" } else { "false" })))
                .map(|decision| Member::plain(if decision.end.is_none() { "open" } else { "answered" }))
                .collect(),
        }
    }

    fn concerns(&self, finding: &FindingState) -> bool {
        self.unit.is_none_or(|unit| finding.about.units.contains(unit))
    }
}

struct Member {
    word: &'static str,
    fresh: bool,
    parts: Vec<&'static str>,
}

impl Member {
    const fn plain(word: &'static str) -> Self {
        Self { word, fresh: true, parts: Vec::new() }
    }
}

/// A requirement is met when it has criteria and each is passed or waived; until then it is what was decided of it.
fn requirement_word(run: &Run, row: &super::state::Requirement, resources: &[Name]) -> &'static str {
    if row.waived.is_some() {
        return "waived";
    }
    let mut rows =
        run.ledger.criteria.iter().filter(|criterion| criterion.requirement.as_ref() == Some(&row.id)).peekable();
    let shown = |c: &Criterion| {
        matches!(criterion(run, c, resources, None), (CriterionState::Passed | CriterionState::Waived, true))
    };
    if rows.peek().is_some() && rows.all(shown) && row.disposition.as_deref() == Some("in_scope") {
        return "met";
    }
    match row.disposition.as_deref() {
        Some("in_scope") => "in_scope",
        Some("deferred") => "deferred",
        Some("out_of_scope") => "out_of_scope",
        Some("non_material") => "non_material",
        Some(_) | None => "undecided",
    }
}

/// Who owns a requirement: units that serve it, criteria that show it.
pub fn requirement_parts(run: &Run, id: &Name) -> Vec<&'static str> {
    let unit = run.ledger.units.iter().any(|unit| unit.requirements.contains(id) && unit.state != UnitState::Dropped);
    let criterion = run.ledger.criteria.iter().any(|row| row.requirement.as_ref() == Some(id));
    [(unit, "unit"), (criterion, "criterion")].into_iter().filter_map(|(is, part)| is.then_some(part)).collect()
}

/// The state of a unit as conditions name it: one whose flow is held is `held`, whatever it was before.
pub fn unit_word(run: &Run, unit: &Unit) -> &'static str {
    let held =
        |instance: &Instance| instance.unit.as_ref() == Some(&unit.name) && matches!(instance.at, At::Held { .. });
    if run.instances.values().any(|instance| held(instance)) { "held" } else { unit.state.word() }
}

fn unit_parts(run: &Run, unit: &Unit) -> Vec<&'static str> {
    let criteria = run.ledger.criteria.iter().any(|row| row.unit.as_ref() == Some(&unit.name));
    let parts = [
        (!unit.title.is_empty(), "objective"),
        (!unit.requirements.is_empty(), "reference"),
        (!unit.scope.is_empty(), "scope"),
        (criteria, "criteria"),
        (!unit.attrs.is_empty(), "labels"),
    ];
    parts.into_iter().filter_map(|(is, part)| is.then_some(part)).collect()
}

const fn class_word(class: Class) -> &'static str {
    match class {
        Class::Approval => "approval",
        Class::Choice => "choice",
        Class::Clarification => "clarification",
        Class::Scope => "scope",
        Class::Waiver => "waiver",
        Class::Security => "security",
        Class::Disposition => "disposition",
        Class::Intake => "intake",
    }
}

const fn decision_word(end: Option<DecisionEnd>) -> &'static str {
    match end {
        None => "pending",
        Some(DecisionEnd::Answered) => "answered",
        Some(DecisionEnd::Cancelled) => "cancelled",
        Some(DecisionEnd::Skipped) => "skipped",
    }
}
