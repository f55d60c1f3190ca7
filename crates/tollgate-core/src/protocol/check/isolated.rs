//! *isolated*: a judge is not shown the judged party's own word, and is not its author.

use std::collections::BTreeSet;

use super::super::dialects::Dialects;
use super::super::model::{AtOnce, Kind, NOTICES, Over, Protocol, Resource, Role, Sees, Stage, Trees};
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
    if !judge.self_check && judges_own(protocol, stage, judge) {
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
        let claims = dialect.sections.values().any(|class| *class == SectionClass::Claim);
        reports(flow, stage, (name, judge), other, claims, breaches);
        let leaves_open = dialect.can_bring(NOTICES);
        if leaves_open && sees_item(judge, &NOTICES.into()) && !judge.shown_claims.iter().any(|item| **item == *NOTICES)
        {
            let message = format!(
                "the role `{name}` judges at the stage `{}` the work of `{other}` and is shown `notices`, what its reports leave open",
                stage.id
            );
            let hint = "take it out of `sees`, or name `notices` in `shown_claims` if it is meant";
            breaches.error(Code::CLAIM_SHOWN, stage.place, message, hint);
        }
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

/// Whether everything that a stage judges is written by the role that judges.
pub(super) fn judges_own(protocol: &Protocol, stage: &Stage, judge: &Role) -> bool {
    let subject = subject(protocol, stage);
    judge.judges() && !subject.is_empty() && subject.iter().all(|area| judge.writes.contains(area))
}

/// A report that is handed on as a document has all of its sections.
fn reports(
    flow: &DataFlow<'_, '_>,
    stage: &Stage,
    (name, judge): (&RoleId, &Role),
    judged: &RoleId,
    claims: bool,
    breaches: &mut Breaches,
) {
    let protocol = flow.graph.protocol;
    let gives = |document: &Name| {
        let by = |stage: &Stage| matches!(&stage.kind, Kind::Dispatch { role } if role == judged);
        let mut stages = protocol.flows.iter().flat_map(|flow| &flow.stages);
        stages.any(|stage| by(stage) && stage.gives.iter().any(|given| **given == **document))
    };
    let documents = protocol.artifacts.iter().filter(|(_, artifact)| claims && artifact.from_report);
    for (document, _) in documents.filter(|(document, _)| gives(document) && sees_item(judge, document)) {
        if judge.shown_claims.contains(document) {
            continue;
        }
        let message = format!(
            "the role `{name}` judges at the stage `{}` the work of `{judged}` and is shown `{document}`, its whole report",
            stage.id
        );
        let hint = format!("take it out of `sees`, or name `{document}` in `shown_claims` if it is meant");
        breaches.error(Code::CLAIM_SHOWN, stage.place, message, hint);
    }
}

/// Whether items name a section of a role.
fn names(items: &[Name], of: &str, section: &str) -> bool {
    items.iter().any(|item| item.split_once('.').is_some_and(|(role, s)| s == section && (role == "*" || role == of)))
}

/// Whether a role is shown a section of another.
pub(super) fn sees_section(role: &Role, of: &str, section: &str) -> bool {
    match &role.sees {
        Sees::Full => true,
        Sees::Only(items) => names(items, of, section),
        Sees::AllBut(items) => !names(items, of, section),
    }
}

/// Whether a role is shown a document, or another item.
pub(super) fn sees_item(role: &Role, item: &Name) -> bool {
    match &role.sees {
        Sees::Full => true,
        Sees::Only(items) => items.contains(item),
        Sees::AllBut(items) => !items.contains(item),
    }
}

/// Whether a role is shown a section without having said so.
fn shown(judge: &Role, of: &str, section: &str) -> bool {
    sees_section(judge, of, section) && !names(&judge.shown_claims, of, section)
}
