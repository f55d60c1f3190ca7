//! Gates: what holds now, for a subject, on the content it stands on. Always derived, never stored.

mod eval;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::event::CommandRef;
use super::state::{Criterion, On, Run, Shown, keyed};
use crate::Name;
use crate::protocol::Condition;
use crate::protocol::condition::SetKind;
use crate::protocol::model::{Gate, Kind, Stage, Value};
use crate::report::Judgement;
use crate::scope::Content;

use eval::Eval;
pub use eval::{class_word, requirement_parts, unit_word};

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

/// Whether a condition can hold with these inputs, before there is a run; what is not known yet may hold.
pub fn over_inputs<'v>(condition: &Condition, value: &dyn Fn(&str) -> Option<&'v Value>) -> bool {
    match condition {
        Condition::All(parts) => parts.iter().all(|part| over_inputs(part, value)),
        Condition::Any(parts) => parts.iter().any(|part| over_inputs(part, value)),
        Condition::Not(part) => match &**part {
            Condition::Var { .. } => !over_inputs(part, value),
            _ => true,
        },
        Condition::Var { name, values } => match value(name) {
            Some(Value::Text(text)) => values.contains(text),
            Some(Value::Int(_) | Value::List(_)) | None => false,
        },
        _ => true,
    }
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

/// The trees whose content was measured under another scope of a unit than the one in force, by what its own tree measures
/// now. A person widened the scope; what was said of the same content still stands.
pub fn outdated(run: &Run, unit: &Name, now: &Content) -> Vec<Name> {
    let then = run.contents.get(&now.tree).and_then(|content| content.scoped.get(unit));
    if then.is_none() || then == now.scoped.get(unit) {
        return Vec::new();
    }
    trees_in_use(run).into_iter().filter(|tree| run.contents.contains_key(tree)).collect()
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
    used.extend(ledger.criteria.iter().filter_map(|row| row.waived.as_ref()).map(|waived| waived.on.tree.clone()));
    used.extend(ledger.judgements.values().map(|judged| judged.on.tree.clone()));
    used.extend(ledger.answers.values().map(|answered| answered.on.tree.clone()));
    used.extend(ledger.waived_commands.values().map(|on| on.tree.clone()));
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
    // A waiver is of content: when that changed, what was shown since counts.
    if is_waived(run, row, resources, subject) {
        return (CriterionState::Waived, true);
    }
    // For a unit, evidence is narrowed to its scope. The run answers for all of it: what its units showed before they came
    // together has to be shown again.
    let is_fresh = |shown: &&Shown| fresh(run, &shown.on, resources, subject);
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

/// Whether a row's waiver still stands for these resources.
pub fn is_waived(run: &Run, row: &Criterion, resources: &[Name], subject: Option<&Name>) -> bool {
    row.waived.as_ref().is_some_and(|waived| fresh(run, &waived.on, resources, row.unit.as_ref().or(subject)))
}

/// Where a row stands by its command alone, and whether that is fresh for these resources. A waiver is one of the row, and
/// stands as long as the row's own.
pub fn command(run: &Run, row: &Criterion, resources: &[Name], subject: Option<&Name>) -> (CriterionState, bool) {
    if is_waived(run, row, bound_to(run, row), subject) {
        return (CriterionState::Waived, true);
    }
    let Some(shown) = &row.ran else { return (CriterionState::Open, true) };
    let state = match shown.result {
        Judgement::Pass => CriterionState::Passed,
        Judgement::Fail => CriterionState::Failed,
        Judgement::Unobservable => CriterionState::Unobservable,
    };
    (state, fresh(run, &shown.on, resources, row.unit.as_ref().or(subject)))
}

/// What a row's evidence and waivers are bound to: the gate that reads the row says it. One that no gate reads is bound to
/// everything: nobody says that a change does not matter to it.
pub fn bound_to<'a>(run: &'a Run, row: &Criterion) -> &'a [Name] {
    static TREE: LazyLock<[Name; 1]> = LazyLock::new(|| ["tree".into()]);
    read_by(run, row).map_or(&*TREE, |gate| gate.bound_to.as_slice())
}

/// The first gate that reads a row and that somebody has to establish. One that only says which way to take guards nothing.
pub fn read_by<'a>(run: &'a Run, row: &Criterion) -> Option<&'a Gate> {
    let protocol = &run.protocol;
    let stages = || protocol.flows.iter().flat_map(|flow| &flow.stages);
    let owed = |name: &Name, gate: &Gate| {
        let checks = |stage: &Stage| matches!(&stage.kind, Kind::Check { gates } if gates.contains(name));
        let named = |stage: &Stage| stage.ensures.contains(name) || stage.requires.contains(name) || checks(stage);
        gate.mandatory_unit.is_some() || gate.mandatory_run.is_some() || stages().any(named)
    };
    let reads_row = |gate: &Gate| {
        let mut atoms = Vec::new();
        leaves(&gate.holds, &mut atoms);
        atoms.iter().any(|atom| reads(atom, row) == Some(SetKind::Criterion))
    };
    // A gate that a gate reads is owed with it.
    let owed = with_read(run, protocol.gates.iter().filter(|(name, gate)| owed(name, gate)).map(|(_, gate)| gate));
    owed.into_iter().find(|gate| reads_row(gate))
}

/// These gates and those that they read, each once.
fn with_read<'a>(run: &'a Run, gates: impl Iterator<Item = &'a Gate>) -> Vec<&'a Gate> {
    let mut seen: BTreeSet<&Name> = BTreeSet::new();
    let mut all: Vec<&Gate> = gates.collect();
    let mut at = 0;
    while let Some(gate) = all.get(at).copied() {
        gate.holds.visit(&mut |condition| {
            if let Condition::Holds(inner) = condition
                && seen.insert(inner)
            {
                all.extend(run.protocol.gates.get(inner));
            }
        });
        at += 1;
    }
    all
}

/// Commands that a condition needs and that were not yet run on the subject's content.
pub fn commands_needed(run: &Run, gates: &[Name], unit: Option<&Name>) -> Vec<CommandRef> {
    let tree = run.tree_of(unit);
    let mut needed = BTreeSet::new();
    for gate in with_read(run, gates.iter().filter_map(|name| run.protocol.gates.get(name))) {
        let mut atoms = Vec::new();
        leaves(&gate.holds, &mut atoms);
        for atom in atoms {
            match atom {
                Condition::Command { name, .. } => {
                    let known = run.ledger.commands.get(&keyed(name, unit));
                    if known.is_none_or(|shown| shown.on.tree != *tree) {
                        needed.insert(CommandRef::Named(name.clone()));
                    }
                }
                Condition::Set { set: SetKind::Criterion | SetKind::Command, .. } => {
                    let eval = Eval { run, unit, bound_to: &gate.bound_to, depth: 0 };
                    for row in run.ledger.criteria.iter().filter(|row| eval.owns(row.unit.as_ref())) {
                        let Some(set) = reads(atom, row).filter(|_| row.command.is_some()) else { continue };
                        // What was run stands for the whole tree it ran on. A unit need not run again what a sibling's
                        // landing has not touched; the run does, on the joined tree.
                        let ran_here = row.ran.as_ref().is_some_and(|shown| {
                            let own = |unit| fresh(run, &shown.on, &gate.bound_to, Some(unit));
                            shown.on.tree == *tree || unit.is_some_and(own)
                        });
                        let (state, _) = stands(run, row, set, &gate.bound_to, unit);
                        if !ran_here && state != CriterionState::Waived {
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

/// The rows that a gate wants judged.
pub fn rows_of<'a>(run: &'a Run, gate: &'a Gate, unit: Option<&Name>) -> Vec<&'a Criterion> {
    let read = members(run, gate, unit).into_iter();
    read.filter(|(_, _, set)| *set == SetKind::Criterion).map(|(row, _, _)| row).collect()
}

/// The rows a gate reads, each once, with where it stands for the gate and whether that is fresh.
pub fn rows_read<'a>(run: &'a Run, gate: &'a Gate, unit: Option<&Name>) -> Vec<(&'a Criterion, CriterionState, bool)> {
    let stand = |(row, gate, set): (&'a Criterion, &Gate, SetKind)| {
        let (state, fresh) = stands(run, row, set, &gate.bound_to, unit);
        (row, state, fresh)
    };
    members(run, gate, unit).into_iter().map(stand).collect()
}

/// The rows that a gate reads, itself or through others, each once: with the gate that reads it and as a member of which set.
fn members<'a>(run: &'a Run, gate: &'a Gate, unit: Option<&Name>) -> Vec<(&'a Criterion, &'a Gate, SetKind)> {
    let gates = with_read(run, std::iter::once(gate)).into_iter().map(|gate| {
        let mut atoms = Vec::new();
        leaves(&gate.holds, &mut atoms);
        (gate, atoms)
    });
    let gates: Vec<(&Gate, Vec<&Condition>)> = gates.collect();
    let read =
        |row| gates.iter().find_map(|(gate, atoms)| Some((*gate, atoms.iter().find_map(|atom| reads(atom, row))?)));
    let own = run.ledger.criteria.iter().filter(|row| unit.is_none_or(|unit| row.unit.as_ref() == Some(unit)));
    own.filter_map(|row| read(row).map(|(gate, set)| (row, gate, set))).collect()
}

/// As a member of which set an atom of a gate reads a row.
fn reads(atom: &Condition, row: &Criterion) -> Option<SetKind> {
    let Condition::Set { set, filter, .. } = atom else { return None };
    let is_member = match set {
        SetKind::Criterion => true,
        SetKind::Command => row.command.is_some(),
        SetKind::Finding | SetKind::Requirement | SetKind::Unit | SetKind::Decision | SetKind::Question => false,
    };
    (is_member && row_matches(row, filter)).then_some(*set)
}

/// Where a row stands as a member of a set.
fn stands(run: &Run, row: &Criterion, set: SetKind, resources: &[Name], unit: Option<&Name>) -> (CriterionState, bool) {
    if set == SetKind::Command { command(run, row, resources, unit) } else { criterion(run, row, resources, unit) }
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
