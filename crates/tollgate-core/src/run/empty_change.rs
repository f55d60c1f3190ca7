//! Empty changes: a role that may write was dispatched, and the whole change of a unit or of the run is nothing. A person is
//! asked once whether that is right, before it is accepted.
//!
//! ```text
//! done, and empty --> question `@empty`  --accept--> it is done, and not asked again for this content
//!                                        --hold--> it is held: a person's `retry` starts it again
//! ```

use std::collections::BTreeSet;

use super::event::{ByKind, DecisionEnd};
use super::gate;
use super::state::{Decision, Instance, Run};
use crate::id::{RoleId, UnitId};
use crate::protocol::model::{Kind, Resource, Role, Stage};
use crate::words::words;

/// Stands for an ask where an empty change puts its question: no protocol can use this name.
pub const EMPTY: &str = "@empty";

/// What a person can say of an empty change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtEmpty {
    /// There was nothing to change.
    Accept,
    /// Something is missing.
    Hold,
}

words!(AtEmpty { Accept = "accept", Hold = "hold" });

/// The roles whose empty work a person has not accepted yet: they may write and were dispatched, and the whole change of a unit, or
/// without one of the run, is nothing.
pub(super) fn to_be_asked(run: &Run, unit: Option<&UnitId>) -> BTreeSet<RoleId> {
    let is_empty = match unit {
        Some(unit) => is_empty(run, unit),
        None => !run.has_changed(),
    };
    if !is_empty || is_accepted(run, unit) {
        return BTreeSet::new();
    }
    let own = |instance: &&Instance| unit.is_none() || instance.unit.as_ref() == unit;
    let instances: Vec<&Instance> = run.instances.values().map(|instance| &**instance).filter(own).collect();
    // What was accepted of each of its units is accepted of the run.
    let is_asked = |instance: &Instance| {
        let of_unit = instance.unit.as_ref().filter(|_| unit.is_none());
        !of_unit.is_some_and(|unit| is_accepted(run, Some(unit)))
    };
    let open = instances.iter().filter(|instance| is_asked(instance));
    let roles = open.flat_map(|instance| writers(run, instance));
    // A judge that may write, and had nothing to add to units that were accepted as empty, is no reason to ask again.
    let accepted = instances.iter().any(|instance| !is_asked(instance));
    let judges = |role: &RoleId| run.protocol.roles.get(role).is_some_and(Role::judges);
    roles.filter(|role| !accepted || !judges(role)).collect()
}

/// Whether all that was done for a unit has changed nothing.
fn is_empty(run: &Run, name: &UnitId) -> bool {
    let Some(unit) = run.unit(name) else { return false };
    if !unit.in_tree {
        return unit.tree.as_ref().is_none_or(|own| own.tree == own.base);
    }
    // What was written, and taken back again.
    unit.net_change.is_empty() && !is_edited_by_hand(run, name)
}

/// Whether an answer about a unit came with a work tree that a person edited.
fn is_edited_by_hand(run: &Run, unit: &UnitId) -> bool {
    let edits = |decision: &Decision| {
        let asked = &decision.asked;
        let option = decision.end.as_ref().and_then(|end| end.option.as_ref());
        let here = || run.instances.get(&asked.instance).and_then(|instance| run.stage(instance, &asked.ask));
        let stage = run.protocol.ask(&asked.ask).or_else(here);
        let chosen = stage.and_then(|stage| stage.on.iter().find(|rule| Some(&rule.outcome) == option));
        let amends = |name: &Resource| run.protocol.lies_in_tree(name);
        asked.unit.as_ref() == Some(unit) && chosen.is_some_and(|rule| rule.route.amends.iter().any(amends))
    };
    run.decisions.values().any(|decision| edits(decision))
}

/// Whether a person accepted that nothing was changed, for this content.
pub(super) fn is_accepted(run: &Run, unit: Option<&UnitId>) -> bool {
    let same = |decision: &Decision| {
        decision.on.tree == *run.tree_of(unit)
            || unit.is_some_and(|name| gate::fresh(run, &decision.on, &gate::accepted_on(run, name), unit))
    };
    let accepts = |decision: &Decision| {
        let end = decision.end.as_ref().filter(|end| end.end == DecisionEnd::Answered);
        end.is_some_and(|end| {
            end.by.kind == ByKind::Person && end.option.as_deref().and_then(AtEmpty::parse) == Some(AtEmpty::Accept)
        })
    };
    let mut asked =
        run.decisions.values().filter(|known| known.is_of_empty_change() && known.asked.unit.as_ref() == unit);
    asked.any(|decision| accepts(decision) && same(decision))
}

/// The roles that may write and were dispatched in a flow.
fn writers<'a>(run: &'a Run, instance: &'a Instance) -> impl Iterator<Item = RoleId> + 'a {
    let stages = run.flow(instance).map(|flow| flow.stages.as_slice()).unwrap_or_default().iter();
    stages.filter_map(|stage| writes_at(run, instance, stage)).cloned()
}

/// The role that was dispatched at a stage, where it may write.
fn writes_at<'a>(run: &Run, instance: &Instance, stage: &'a Stage) -> Option<&'a RoleId> {
    let Kind::Dispatch { role } = &stage.kind else { return None };
    let writes = run.protocol.roles.get(role).is_some_and(|role| !role.writes.is_empty());
    (writes && instance.iterations.contains_key(&stage.id)).then_some(role)
}

impl Run {
    /// Whether its tree is another one than it began with.
    pub fn has_changed(&self) -> bool {
        self.tree != self.opened.content.tree
    }

    /// Whether it succeeded and its tree is on no branch yet. An empty change is put on none.
    pub fn is_unpublished(&self) -> bool {
        self.succeeded() && self.published.is_none() && self.has_changed()
    }
}
