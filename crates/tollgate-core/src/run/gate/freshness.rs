//! What something rests on, and whether that is still the same. One place says it, for gates, rows, lapses and the end alike.

use std::collections::BTreeSet;

use super::super::state::{Criterion, On, Run};
use super::{mandatory_of_unit, reads_itself};
use crate::Name;
use crate::id::{GateId, UnitId};
use crate::protocol::condition::SetKind;
use crate::protocol::model::{Ensures, Gate, Kind, Resource, Stage};
use crate::scope::Content;

/// What a subject's content is now, as far as gates bind to it.
pub fn on(run: &Run, unit: Option<&UnitId>) -> On {
    on_tree(run, run.tree_of(unit).clone())
}

/// A tree together with the documents and ledger parts as they are now.
pub fn on_tree(run: &Run, tree: Name) -> On {
    let bound = run.protocol.gates.values().flat_map(|gate| &gate.bound_to).filter(|name| !is_tree(run, name));
    let documents = bound.filter_map(|name| Some((name.clone(), document(run, &tree, name)?))).collect();
    On { tree, documents }
}

fn is_tree(run: &Run, resource: &Resource) -> bool {
    *resource == Resource::Tree || run.areas.iter().any(|area| *area.name == **resource)
}

/// The state of a document or a part of the ledger, as a text that changes when it does; none: it is not known. A document
/// that lies in the tree is what was given and what stands there.
pub(in super::super) fn document(run: &Run, tree: &Name, resource: &Resource) -> Option<Name> {
    let object = run.artifacts.get(&**resource).map(|artifact| artifact.object.to_string());
    let said = object.unwrap_or_else(|| run.ledger.revisions.get(resource).copied().unwrap_or_default().to_string());
    match in_tree(run, tree, resource) {
        InTree::Elsewhere => Some(said.into()),
        InTree::As(digest) => Some(format!("{said} {digest}").into()),
        InTree::Unknown => None,
    }
}

/// Whether a document was given and stands in a subject's tree as it was given.
pub fn given(run: &Run, name: &str, unit: Option<&UnitId>) -> Option<bool> {
    let artifact = run.artifacts.get(name)?;
    Some(match in_tree(run, run.tree_of(unit), name) {
        InTree::Elsewhere => true,
        InTree::As(digest) => artifact.found == Some(digest),
        InTree::Unknown => false,
    })
}

/// Whether what a question would show of a document is what stands in a subject's tree; one that is neither given nor there is
/// not shown.
pub fn is_shown(run: &Run, name: &str, unit: Option<&UnitId>) -> bool {
    given(run, name, unit).unwrap_or_else(|| match in_tree(run, run.tree_of(unit), name) {
        InTree::Elsewhere => true,
        InTree::As(digest) => digest == crate::digest::Digest::of(b""),
        InTree::Unknown => false,
    })
}

enum InTree {
    /// It has no path.
    Elsewhere,
    As(crate::digest::Digest),
    Unknown,
}

fn in_tree(run: &Run, tree: &Name, artifact: &str) -> InTree {
    if run.protocol.artifacts.get(artifact).is_none_or(|artifact| artifact.path.is_none()) {
        return InTree::Elsewhere;
    }
    let digest = run.contents.get(tree).and_then(|content| content.documents.get(artifact));
    digest.map_or(InTree::Unknown, |digest| InTree::As(*digest))
}

/// Whether something said of `on` still stands for these resources, for a subject.
pub fn fresh(run: &Run, on: &On, resources: &[Resource], unit: Option<&UnitId>) -> bool {
    resources.iter().all(|resource| is_same(run, on, resource, unit))
}

/// Whether the result of a command that ran on `on` still stands for these resources. A command runs on a tree: no document changes
/// its result.
pub fn measured(run: &Run, on: &On, resources: &[Resource], unit: Option<&UnitId>) -> bool {
    resources.iter().filter(|resource| is_tree(run, resource)).all(|resource| is_same(run, on, resource, unit))
}

/// Whether a command need not run again for these resources. A gate that is bound to documents alone says of no tree that it
/// is as good as the one that the command ran on.
pub(super) fn is_ran_on(run: &Run, on: &On, resources: &[Resource], unit: Option<&UnitId>) -> bool {
    // A unit need not run again what a sibling's landing has not touched; the run does, on the joined tree.
    let narrowed = unit.is_some() && resources.iter().any(|resource| is_tree(run, resource));
    on.tree == *run.tree_of(unit) || narrowed && measured(run, on, resources, unit)
}

fn is_same(run: &Run, on: &On, resource: &Resource, unit: Option<&UnitId>) -> bool {
    let now = run.tree_of(unit);
    if *resource == Resource::Tree {
        on.tree == *now
    } else if is_tree(run, resource) {
        on.tree == *now || same_area(run, &on.tree, now, resource, unit)
    } else {
        let now = document(run, now, resource);
        now.is_some() && on.documents.get(resource) == now.as_ref()
    }
}

/// Whether the run's tree is known to differ from what it began with where a unit's scope is.
pub fn differs_in_scope(run: &Run, unit: &UnitId) -> bool {
    let scoped = |content: &Content| content.scoped.get(unit).cloned();
    let then = scoped(&run.opened.content);
    let now = run.contents.get(&run.tree).and_then(|content| scoped(content));
    matches!((then, now), (Some(then), Some(now)) if then != now)
}

/// What a row's evidence and waivers rest on: all that the gates say which read the row and which somebody has to establish.
/// One that only says which way to take guards nothing, and one that reads the row's command asks for that by itself. A row that no gate reads rests on everything: nobody says that a
/// change does not matter to it.
pub fn row_rests_on(run: &Run, row: &Criterion) -> Vec<Resource> {
    let mut bound: BTreeSet<&Resource> = BTreeSet::new();
    let reading = owed(run)
        .into_iter()
        .filter(|gate| gate.holds.atoms().any(|atom| reads_itself(atom, row) == Some(SetKind::Criterion)));
    bound.extend(reading.flat_map(about));
    if bound.is_empty() { vec![Resource::Tree] } else { bound.into_iter().cloned().collect() }
}

/// What a row of a unit rests on: what the row does, and the files that its unit's acceptance does, within the unit's scope. A
/// sibling that lands moves the tree and not the unit's work; a gate bound to the tree, or to the plan, is asked by itself.
pub fn unit_row_rests_on(run: &Run, row: &Criterion, unit: &UnitId) -> Vec<Resource> {
    let mut bound: BTreeSet<Resource> = row_rests_on(run, row).into_iter().collect();
    let whole = bound.remove(&Resource::Tree);
    bound.extend(accepted_on(run, unit).into_iter().filter(|on| *on != Resource::Tree && is_tree(run, on)));
    if whole {
        bound.extend(run.areas.iter().map(|area| Resource::Named(area.name.clone())));
    }
    bound.into_iter().collect()
}

/// The content that a unit's acceptance rests on: what its mandatory gates are bound to, themselves or through gates they read.
pub fn accepted_on(run: &Run, unit: &UnitId) -> Vec<Resource> {
    let gates = run.protocol.with_read(mandatory_of_unit(run, unit).map(|(_, gate)| gate));
    let bound: BTreeSet<&Resource> = gates.into_iter().flat_map(about).collect();
    bound.into_iter().cloned().collect()
}

/// The content that a gate is about. Findings are not: each is settled by itself, and that settles nothing else.
fn about(gate: &Gate) -> impl Iterator<Item = &Resource> {
    gate.bound_to.iter().filter(|resource| **resource != Resource::Findings)
}

/// The gates that somebody has to establish; a gate that a gate reads is owed with it.
fn owed(run: &Run) -> Vec<&Gate> {
    let protocol = &run.protocol;
    let stages = || protocol.flows.iter().flat_map(|flow| &flow.stages).chain(&protocol.asks);
    let is_owed = |name: &GateId, gate: &Gate| {
        let checks = |stage: &Stage| matches!(&stage.kind, Kind::Check { gates } if gates.contains(name));
        let answers = |stage: &Stage| {
            let mut ensured = stage.on.iter().map(|rule| &rule.route.ensures);
            ensured.any(|ensures| matches!(ensures, Ensures::Gates(gates) if gates.contains(name)))
        };
        let named = |stage: &Stage| {
            stage.ensures.contains(name)
                || stage.requires.iter().any(|required| **required == **name)
                || checks(stage)
                || answers(stage)
        };
        gate.mandatory_unit.is_some() || gate.mandatory_run.is_some() || stages().any(named)
    };
    protocol.with_read(protocol.gates.iter().filter(|(name, gate)| is_owed(name, gate)).map(|(_, gate)| gate))
}

/// Whether an area is the same in two trees, for a unit within its scope and in nobody's: what is in no unit's care no unit's
/// judges would miss. What is not known is not the same.
fn same_area(run: &Run, one: &Name, other: &Name, area: &Resource, unit: Option<&UnitId>) -> bool {
    let digest = |tree: &Name| {
        let content = run.contents.get(tree)?;
        match unit.and_then(|unit| content.scoped.get(unit)) {
            Some(scoped) => Some((scoped.get(&**area)?, content.nobodys.get(&**area))),
            None => Some((content.areas.get(&**area)?, None)),
        }
    };
    matches!((digest(one), digest(other)), (Some(a), Some(b)) if a == b)
}

/// Whether what lies in nobody's scope is the same in what was said and in the run's tree now, as far as these resources go.
pub fn same_in_nobodys(run: &Run, on: &On, resources: &[Resource]) -> bool {
    let nobodys = |tree: &Name| run.contents.get(tree).map(|content| &content.nobodys);
    let (Some(then), Some(now)) = (nobodys(&on.tree), nobodys(run.tree_of(None))) else { return false };
    resources.iter().all(|area| then.get(&**area) == now.get(&**area))
}

/// The trees whose content was measured under another scope of a unit than the one in force, by what its own tree measures
/// now. A person widened the scope; what was said of the same content still stands.
pub fn outdated(run: &Run, unit: &UnitId, now: &Content) -> Vec<Name> {
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
        used.extend(unit.accepted_on.iter().map(|on| on.tree.clone()));
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
