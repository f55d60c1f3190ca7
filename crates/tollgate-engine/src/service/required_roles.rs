//! What a run with given inputs can come to: its roles, of which only those need a worker, and its units.

use std::collections::BTreeSet;

use tollgate_core::Name;
use tollgate_core::id::{GateId, RoleId, StageId};
use tollgate_core::protocol::model::{Flow, Kind, Over, Stage, Target, Value, VariableKind};
use tollgate_core::protocol::{Condition, Protocol};

/// The value of an input, given or by default.
pub type Inputs<'a> = dyn Fn(&str) -> Option<&'a Value> + 'a;

/// The roles of every stage that can be reached, by name.
pub fn roles<'p>(protocol: &'p Protocol, inputs: &Inputs<'_>) -> BTreeSet<&'p RoleId> {
    let mut roles = BTreeSet::new();
    let mut seen: BTreeSet<(&Name, &StageId)> = BTreeSet::new();
    let mut open: Vec<(&Flow, &Stage)> = Vec::new();
    let first = |flow: &'p Flow| flow.stages.first().map(|stage| (flow, stage));
    open.extend(protocol.flow("main").and_then(first));
    while let Some((flow, stage)) = open.pop() {
        if !seen.insert((&flow.name, &stage.id)) {
            continue;
        }
        let entered = stage.when.as_ref().map_or(Some(true), |when| known(when, inputs));
        if entered != Some(false) {
            match &stage.kind {
                Kind::Dispatch { role } => drop(roles.insert(role)),
                Kind::Each(each) => open.extend(protocol.flow(&each.flow).and_then(first)),
                Kind::Ask(_) | Kind::Check { .. } | Kind::Land(_) => {}
            }
        }
        for rule in &stage.on {
            let possible = match &*rule.outcome {
                "skipped" => entered != Some(true),
                "pass" => entered != Some(false) && passes(protocol, stage, inputs) != Some(false),
                "fail" => entered != Some(false) && passes(protocol, stage, inputs) != Some(true),
                _ => entered != Some(false),
            };
            let targets = [Some(&rule.route.to), rule.route.then.as_ref()];
            for target in targets.into_iter().flatten().filter(|_| possible) {
                if let Target::Stage(next) = target {
                    open.extend(flow.stages.iter().find(|stage| stage.id == *next).map(|stage| (flow, stage)));
                }
            }
        }
    }
    roles
}

/// The units that there can be under a protocol, whatever its inputs; none when a stage or a document gives them.
pub fn units(protocol: &Protocol) -> Option<BTreeSet<Name>> {
    let mut units = BTreeSet::new();
    for stage in protocol.flows.iter().flat_map(|flow| &flow.stages) {
        let Kind::Each(each) = &stage.kind else { continue };
        match &each.over {
            Over::Lanes(lanes) => units.extend(lanes.iter().cloned()),
            Over::Input(input) => match &protocol.inputs.get(input)?.kind {
                VariableKind::ListOf(values) | VariableKind::OneOf(values) if !values.is_empty() => {
                    units.extend(values.iter().cloned());
                }
                _ => return None,
            },
            Over::Units => return None,
            Over::It => {}
        }
    }
    Some(units)
}

/// Whether a check passes, where its gates are over inputs alone.
fn passes(protocol: &Protocol, stage: &Stage, inputs: &Inputs<'_>) -> Option<bool> {
    let Kind::Check { gates } = &stage.kind else { return None };
    let holds = |gate: &GateId| protocol.gates.get(gate).and_then(|gate| known(&gate.holds, inputs));
    all(gates.iter().map(holds))
}

/// Whether a condition holds, as far as inputs say.
fn known(condition: &Condition, inputs: &Inputs<'_>) -> Option<bool> {
    match condition {
        Condition::All(parts) => all(parts.iter().map(|part| known(part, inputs))),
        Condition::Any(parts) => {
            all(parts.iter().map(|part| known(part, inputs).map(|holds| !holds))).map(|none| !none)
        }
        Condition::Not(part) => known(part, inputs).map(|holds| !holds),
        Condition::Var { name, values } => match inputs(name)? {
            Value::Text(text) => Some(values.contains(text)),
            Value::Int(_) | Value::List(_) => None,
        },
        _ => None,
    }
}

/// One that does not hold decides; otherwise all must be known.
fn all(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let parts: Vec<Option<bool>> = parts.collect();
    if parts.contains(&Some(false)) {
        return Some(false);
    }
    (!parts.contains(&None)).then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_roles_of_the_chosen_way_are_needed() {
        let (protocol, _) = tollgate_core::protocol::read(include_str!("../../../../protocols/build-plan.yaml"));
        let protocol = protocol.unwrap();
        let needed = |complexity: &str, infra: &str| {
            let (complexity, infra) = (Value::Text(complexity.into()), Value::Text(infra.into()));
            let inputs = |name: &str| match name {
                "complexity" => Some(&complexity),
                "infra" => Some(&infra),
                _ => None,
            };
            roles(&protocol, &inputs).into_iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(needed("simple", "none"), "dev-tester dod-checker reviewer");
        assert_eq!(needed("standard", "none"), "developer dod-checker reviewer tester");
        assert_eq!(needed("standard", "needed"), "developer devops dod-checker reviewer tester");
    }
}
