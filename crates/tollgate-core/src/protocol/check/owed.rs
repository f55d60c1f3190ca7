//! *gated*: a run that reaches `done` owes nothing that no gate of its protocol reads.
//!
//! The close looks at requirements, rows and findings whatever the gates say. Where no gate reads them, a run comes to `done` and is
//! refused there, and no stage of it can answer for that.

use super::super::condition::{Condition, SetKind};
use super::super::dialects::Dialects;
use super::super::graph::{End, Graph};
use super::super::model::{Kind, Resource, Role, Route, Sees, Stage, Target};
use super::Breaches;
use super::documents;
use super::gated::parts;
use crate::Name;
use crate::code::Code;
use crate::diagnostic::Place;
use crate::report::{RowWord, Verdict};

pub(super) fn check(graph: &Graph<'_>, dialects: &Dialects, breaches: &mut Breaches) {
    let stages = || graph.protocol.flows.iter().flat_map(|flow| &flow.stages);
    stages().for_each(|stage| judged(graph, dialects, stage, breaches));
    let main = graph.flows.iter().find(|flow| &*flow.flow.name == "main");
    let edges = main.iter().flat_map(|flow| &flow.nodes).flat_map(|node| &node.edges);
    if !edges.into_iter().any(|edge| edge.to == End::Done) {
        return;
    }
    let owed = Owed { graph, dialects };
    let rows = [SetKind::Criterion, SetKind::Command, SetKind::Requirement];
    for (resource, sets, hint) in [("requirements", &rows[2..], REQUIREMENTS), ("criteria", &rows[..], CRITERIA)] {
        if let Some((place, who)) = owed.brings(resource).filter(|_| !owed.reads(sets)) {
            owed.refuse(place, &format!("{who} brings {resource}"), hint, breaches);
        }
    }
    let noted = stages().find_map(|stage| Some((stage, notes(graph, stage)?)));
    if let Some((stage, place)) = noted.filter(|_| !owed.reads(&[SetKind::Finding])) {
        let what = format!("the notes of `{}` stay open and no person is asked about them", stage.id);
        let hint = "lead `accept_with_notes` to an ask, or add a gate over findings that is mandatory for the run";
        owed.refuse(place, &what, hint, breaches);
    }
}

const REQUIREMENTS: &str = "add a gate like `{holds: {every: requirement, where: {disposition: in_scope}, is: [met, waived]}, bound_to: [code, requirements], mandatory: {run: true}}`";
const CRITERIA: &str = "add a gate like `{holds: {every: criterion, is: [passed, waived]}, bound_to: [code], mandatory: {unit: true, run: true}}`";

struct Owed<'a, 'p> {
    graph: &'a Graph<'p>,
    dialects: &'a Dialects,
}

impl Owed<'_, '_> {
    fn refuse(&self, place: Place, what: &str, hint: &str, breaches: &mut Breaches) {
        let message = format!("{what}, and no gate reads them: a run may reach `done` and be refused there");
        breaches.error(Code::NOT_GATED, place, message, hint);
    }

    /// Whether a gate reads one of these sets.
    fn reads(&self, sets: &[SetKind]) -> bool {
        let read = |part: &Condition| match part {
            Condition::Set { set, .. } | Condition::Count { set, .. } => sets.contains(set),
            Condition::All(_)
            | Condition::Any(_)
            | Condition::Not(_)
            | Condition::Var { .. }
            | Condition::It { .. }
            | Condition::Holds(_)
            | Condition::Judged(_)
            | Condition::Answer { .. }
            | Condition::Command { .. }
            | Condition::Artifact { .. } => false,
        };
        self.graph.protocol.gates.values().any(|gate| gate.holds.parts().any(read))
    }

    /// The first stage or document that brings a part of the ledger, and what it is.
    fn brings(&self, resource: &str) -> Option<(Place, String)> {
        let protocol = self.graph.protocol;
        let gives = |stage: &&Stage| {
            let Kind::Dispatch { role } = &stage.kind else { return false };
            let contract = protocol.roles.get(role).and_then(|role| self.dialects.get(&role.contract));
            // Criteria come with units and requirements, too.
            let takes = |given: &Resource| match given {
                Resource::Units | Resource::Criteria | Resource::Requirements => {
                    resource == "criteria" || **given == *resource
                }
                Resource::Tree | Resource::Findings | Resource::Scope | Resource::Named(_) => false,
            };
            stage.gives.iter().any(takes) && contract.is_some_and(|known| known.can_bring(resource))
        };
        let stage = protocol.flows.iter().flat_map(|flow| &flow.stages).find(gives);
        let by_stage = stage.map(|stage| (stage.place, format!("the stage `{}`", stage.id)));
        by_stage.or_else(|| {
            let mut all = protocol.artifacts.iter();
            // A contract that is unknown, or cannot bring it, is refused by itself.
            let can = |schema: &Name| self.dialects.document(schema).is_some_and(|known| known.can_bring(resource));
            let (name, artifact) = all.find(|(_, artifact)| {
                artifact.schema.as_ref().is_some_and(can) && documents::brings(artifact, resource, self.dialects)
            })?;
            Some((artifact.place, format!("the artifact `{name}`")))
        })
    }
}

/// Where an acceptance with notes goes on without a person.
fn notes(graph: &Graph<'_>, stage: &Stage) -> Option<Place> {
    let Kind::Dispatch { role } = &stage.kind else { return None };
    let gives = graph.protocol.roles.get(role)?.verdicts.contains(&Verdict::AcceptWithNotes);
    let (rule, _) = graph.protocol.route(stage, &super::super::Outcome::Verdict(Verdict::AcceptWithNotes))?;
    (gives && !asks(graph, stage, &rule.route)).then_some(rule.place)
}

/// Whether a route leads to a question.
fn asks(graph: &Graph<'_>, from: &Stage, route: &Route) -> bool {
    match &route.to {
        Target::Ask(_) => true,
        Target::Stage(id) => {
            let holds = |stage: &Stage| std::ptr::eq(stage, from);
            let flow = graph.protocol.flows.iter().find(|flow| flow.stages.iter().any(holds));
            flow.and_then(|flow| flow.stage(id)).is_some_and(|stage| matches!(stage.kind, Kind::Ask(_)))
        }
        Target::Again
        | Target::Done
        | Target::Reported
        | Target::Dropped
        | Target::Hold
        | Target::Raise(_)
        | Target::Back
        | Target::Origin
        | Target::As(_) => false,
    }
}

/// A judge that ensures a gate over criteria has to be shown them, and its contract to say something of them.
fn judged(graph: &Graph<'_>, dialects: &Dialects, stage: &Stage, breaches: &mut Breaches) {
    let Kind::Dispatch { role: name } = &stage.kind else { return };
    let Some(role) = graph.protocol.roles.get(name).filter(|role| role.judges()) else { return };
    let reads = |part: &Condition| matches!(part, Condition::Set { set: SetKind::Criterion, .. });
    let gates = stage.ensures.iter().filter_map(|name| Some((name, graph.protocol.gates.get(name)?)));
    let over_rows = gates.filter(|(_, gate)| parts(graph, gate).into_iter().any(reads)).map(|(name, _)| name).next();
    let Some(gate) = over_rows else { return };
    let (why, hint) = match cannot(role, dialects) {
        None => return,
        Some(RowWord::Silent) => (
            format!("the contract `{}` of its role `{name}` says nothing of criteria", role.contract),
            "map `criteria` in the report of the contract, or write `rows: shown` there",
        ),
        Some(RowWord::Named | RowWord::Shown) => {
            (format!("its role `{name}` is not shown `criteria`"), "add `criteria` to what the role `sees`")
        }
    };
    let message = format!("the stage `{}` cannot ensure `{gate}`, which reads criteria: {why}", stage.id);
    breaches.error(Code::CANNOT_ENSURE, stage.place, message, hint);
}

fn sees_criteria(role: &Role) -> bool {
    let named = |items: &[Name]| items.iter().any(|item| &**item == "criteria");
    match &role.sees {
        Sees::Full => true,
        Sees::Only(items) => named(items),
        Sees::AllBut(items) => !named(items),
    }
}

/// Why the word of a role counts for no row: its contract says nothing of any, or it is shown none.
fn cannot(role: &Role, dialects: &Dialects) -> Option<RowWord> {
    let known = dialects.get(&role.contract).map(|known| known.rows).unwrap_or_default();
    (known == RowWord::Silent || !sees_criteria(role)).then_some(known)
}
