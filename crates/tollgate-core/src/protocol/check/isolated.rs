//! *isolated*: a judge is not shown the judged party's own word, and is not its author.

use std::collections::BTreeSet;

use super::super::dialects::Dialects;
use super::super::model::{AtOnce, Kind, Over, Protocol, Resource, Role, Sees, Stage, Trees};
use super::Breaches;
use super::dataflow::DataFlow;
use super::space::State;
use crate::Name;
use crate::code::Code;
use crate::id::RoleId;
use crate::protocol::SectionClass;

pub(super) fn check(flow: &DataFlow<'_, '_>, dialects: &Dialects, breaches: &mut Breaches) {
    let protocol = flow.graph.protocol;
    for instance in &flow.instances {
        for (i, node) in flow.graph.flows[instance.flow].nodes.iter().enumerate() {
            let stage = node.stage;
            match &stage.kind {
                Kind::Dispatch { role } => {
                    let state = &flow.points[instance.base + i].state;
                    if let Some(judge) = protocol.roles.get(role).filter(|judge| judge.judges() && !state.is_empty()) {
                        let runs = flow.entered(stage, state, true);
                        judges(flow, stage, (role, judge), &runs, dialects, breaches);
                    }
                }
                Kind::Each(each) => {
                    let callee = flow.graph.index(&each.flow);
                    let writes = callee.is_some_and(|callee| !flow.reaches[callee].writers.is_empty());
                    let many = each.over != Over::It && each.at_once != AtOnce::Number(1);
                    if writes && many && each.trees == Trees::Shared {
                        let message = format!("the stage `{}` lets writers work side by side in one tree", stage.id);
                        breaches.error(Code::TREE_SHARED, stage.place, message, "write `trees: own`, or `at_once: 1`");
                    }
                }
                Kind::Ask(_) | Kind::Check { .. } | Kind::Land(_) => {}
            }
        }
    }
}

/// The areas a stage judges: those of the gates it ensures; all, if it ensures none.
fn subject(protocol: &Protocol, stage: &Stage) -> BTreeSet<Name> {
    let all = || protocol.areas.iter().map(|area| area.name.clone());
    if stage.ensures.is_empty() {
        return all().collect();
    }
    let bound = stage.ensures.iter().filter_map(|gate| protocol.gates.get(gate)).flat_map(|gate| &gate.bound_to);
    let bound: BTreeSet<&Resource> = bound.collect();
    let whole = bound.contains(&Resource::Tree);
    all().filter(|area| whole || bound.iter().any(|resource| ***resource == **area)).collect()
}

fn judges(
    flow: &DataFlow<'_, '_>,
    stage: &Stage,
    (name, judge): (&RoleId, &Role),
    state: &State,
    dialects: &Dialects,
    breaches: &mut Breaches,
) {
    let protocol = flow.graph.protocol;
    let subject = subject(protocol, stage);
    if !subject.is_empty() && !judge.self_check && subject.iter().all(|area| judge.writes.contains(area)) {
        let message = format!("the role `{name}` judges at the stage `{}` what it writes itself", stage.id);
        let hint = "let another role judge, or write `self_check: true`";
        breaches.error(Code::JUDGES_ITSELF, stage.place, message, hint);
    }
    for (other, judged) in &protocol.roles {
        let bit = flow.space.roles[&**other];
        let wrote = state.iter().any(|(_, facts)| !facts.has(bit));
        if other == name || !wrote || !judged.writes.iter().any(|area| subject.contains(area)) {
            continue;
        }
        let Some(dialect) = dialects.get(&judged.contract) else { continue };
        for (section, class) in &dialect.sections {
            if *class == SectionClass::Claim && shown(judge, other, section) {
                let message = format!(
                    "the role `{name}` judges at the stage `{}` the work of `{other}` and is shown `{other}.{section}`, its own word",
                    stage.id
                );
                let hint =
                    format!("take it out of `sees`, or name `{other}.{section}` in `shown_claims` if it is meant");
                breaches.error(Code::CLAIM_SHOWN, stage.place, message, hint);
            }
        }
    }
}

/// Whether a role is shown a section without having said so.
fn shown(judge: &Role, of: &str, section: &str) -> bool {
    let names = |items: &[Name]| {
        items
            .iter()
            .any(|item| item.split_once('.').is_some_and(|(role, s)| s == section && (role == "*" || role == of)))
    };
    let visible = match &judge.sees {
        Sees::Full => true,
        Sees::Only(items) => names(items),
        Sees::AllBut(items) => !names(items),
    };
    visible && !names(&judge.shown_claims)
}
