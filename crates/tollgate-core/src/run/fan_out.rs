//! Which units an `each` runs over, and which it was left without.

use super::event::UnitState;
use super::state::{At, Instance, Run, Unit};
use crate::Name;
use crate::id::{StageId, UnitId};
use crate::protocol::model::{Each, Kind, Over, Stage, Target, Value, VariableKind};

/// The units an `each` of a subject runs over, in plan order, also those that are not in the ledger yet.
pub fn units_over(run: &Run, subject: Option<&UnitId>, each: &Each) -> Vec<UnitId> {
    match &each.over {
        Over::Units => {
            let stays = |unit: &&Unit| unit.retired.is_none() && !is_lane(run, &unit.name);
            let planned = run.ledger.units.iter().filter(stays);
            planned.map(|unit| unit.name.clone()).collect()
        }
        Over::It => subject.into_iter().cloned().collect(),
        Over::Lanes(_) | Over::Input(_) => lanes(run, each),
    }
}

/// The lanes of an `each`; none where it runs over something else.
pub fn lanes(run: &Run, each: &Each) -> Vec<UnitId> {
    let named = |lanes: &[Name]| lanes.iter().cloned().map(UnitId::from).collect();
    match &each.over {
        Over::Lanes(lanes) => named(lanes),
        Over::Input(input) => match run.vars.get(input) {
            Some(Value::List(lanes)) => named(lanes),
            Some(Value::Text(lane)) => vec![lane.clone().into()],
            Some(Value::Int(_)) | None => Vec::new(),
        },
        Over::Units | Over::It => Vec::new(),
    }
}

/// Whether a unit exists by name, as a lane of some `each`, and was not planned.
pub(super) fn is_lane(run: &Run, unit: &UnitId) -> bool {
    run.protocol.flows.iter().flat_map(|flow| &flow.stages).any(|stage| match &stage.kind {
        Kind::Each(each) => lanes(run, each).contains(unit),
        Kind::Dispatch { .. } | Kind::Ask(_) | Kind::Check { .. } | Kind::Land(_) => false,
    })
}

/// Whether a name is that of a lane which some inputs of the protocol run, be it not with these.
pub(super) fn is_named_lane(run: &Run, unit: &UnitId) -> bool {
    let declares = |input: &Name| match run.protocol.inputs.get(input).map(|input| &input.kind) {
        Some(VariableKind::OneOf(lanes) | VariableKind::ListOf(lanes)) => lanes.iter().any(|lane| **lane == **unit),
        Some(VariableKind::Int | VariableKind::Text) | None => false,
    };
    let stages = run.protocol.flows.iter().flat_map(|flow| &flow.stages);
    let mut each = stages.filter_map(|stage| if let Kind::Each(each) = &stage.kind { Some(each) } else { None });
    is_lane(run, unit) || each.any(|each| matches!(&each.over, Over::Input(input) if declares(input)))
}

/// Whether a unit was left for another way: its flow, or one beside it, raised what the caller caught, and none of its work is in
/// the tree; or a later plan took it back. Its rows are the run's.
pub fn is_left(run: &Run, unit: &Unit) -> bool {
    unit.retired.is_some() || unit.state == UnitState::New && !unit.in_tree && was_left(run, &unit.name)
}

/// Whether every `each` that a unit belongs to was left by a raise, its own or one beside it: it was stopped, or never started.
fn was_left(run: &Run, unit: &UnitId) -> bool {
    let mut own = run.instances.values().filter(|instance| instance.unit.as_ref() == Some(unit)).peekable();
    if own.peek().is_some() {
        return own.all(|instance| is_below_a_raise(run, instance));
    }
    let over = |instance: &Instance, stage: &Stage| match &stage.kind {
        Kind::Each(each) => units_over(run, instance.unit.as_ref(), each).contains(unit),
        Kind::Dispatch { .. } | Kind::Ask(_) | Kind::Check { .. } | Kind::Land(_) => false,
    };
    let mut belongs = run
        .instances
        .iter()
        .flat_map(|(name, instance)| {
            let stages = run.protocol.flow(&instance.flow).map(|flow| flow.stages.as_slice()).unwrap_or_default();
            stages.iter().filter(|stage| over(instance, stage)).map(move |stage| (name, &stage.id))
        })
        .peekable();
    belongs.peek().is_some() && belongs.all(|(name, stage)| raised(run, name, stage).is_some())
}

/// Whether the run has begun with a unit: its flow was entered, or an `each` that runs over it was, and has not come to it.
pub fn was_entered(run: &Run, unit: &Unit) -> bool {
    let runs = |instance: &Instance, each: &StageId| {
        let stage = run.protocol.flow(&instance.flow).and_then(|flow| flow.stage(each));
        stage.is_some_and(|stage| match &stage.kind {
            Kind::Each(each) => units_over(run, instance.unit.as_ref(), each).contains(&unit.name),
            Kind::Dispatch { .. } | Kind::Ask(_) | Kind::Check { .. } | Kind::Land(_) => false,
        })
    };
    run.instances.values().any(|child| {
        let parent = child.parent.as_ref().and_then(|parent| run.instances.get(parent));
        let beside = parent.zip(child.each.as_ref()).is_some_and(|(parent, each)| runs(parent, each));
        child.unit.as_ref() == Some(&unit.name) || beside
    })
}

fn is_below_a_raise(run: &Run, instance: &Instance) -> bool {
    let (Some(parent), Some(each)) = (&instance.parent, &instance.each) else { return false };
    raised(run, parent, each).is_some() || run.instances.get(parent).is_some_and(|parent| is_below_a_raise(run, parent))
}

/// What a unit below an `each` raised.
pub fn raised(run: &Run, name: &str, stage: &StageId) -> Option<Name> {
    let stays = |unit: &UnitId| run.unit(unit).is_none_or(|unit| unit.retired.is_none());
    let mut below = run.children(name).filter(|(_, child)| child.each.as_ref() == Some(stage));
    below.find_map(|(_, child)| {
        let At::Ended { end: Target::Raise(name) } = &child.at else { return None };
        child.unit.as_ref().is_none_or(stays).then(|| name.clone())
    })
}
