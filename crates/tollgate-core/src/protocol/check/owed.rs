//! *gated*: a run that reaches `done` owes nothing that no gate of its protocol reads.
//!
//! The close looks at requirements, rows and findings whatever the gates say. Where no gate reads them, a run comes to `done` and is
//! refused there, and no stage of it can answer for that.

use std::collections::BTreeSet;

use super::super::condition::{Condition, Quantifier, SetKind};
use super::super::dialects::Dialects;
use super::super::graph::{End, Graph};
use super::super::model::{Ensures, Gate, Kind, Protocol, Resource, Role, Route, Rule, Sees, Stage, Target};
use super::Breaches;
use super::brought;
use super::documents;
use super::gated::parts;
use crate::Name;
use crate::code::Code;
use crate::diagnostic::Place;
use crate::id::GateId;
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
    for (resource, set, hint) in
        [("requirements", SetKind::Requirement, REQUIREMENTS), ("criteria", SetKind::Criterion, CRITERIA)]
    {
        if let Some((place, who)) = owed.brings(resource).filter(|_| !owed.settles(set)) {
            owed.refuse(place, &format!("{who} brings {resource}"), hint, breaches);
        }
    }
    let noted = stages().find_map(|stage| Some((stage, notes(graph, stage)?)));
    if let Some((stage, place)) = noted.filter(|_| !owed.settles(SetKind::Finding)) {
        let what = format!("the notes of `{}` stay open and no person is asked about them", stage.id);
        let hint = "lead `accept_with_notes` to an ask, or add a gate like `{every: finding, is: [fixed, refuted, waived]}` that is mandatory for the run";
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
        let message = format!(
            "{what}, and no gate that must hold asks for all of them: a run may reach `done` and be refused there"
        );
        breaches.error(Code::NOT_GATED, place, message, hint);
    }

    /// Whether gates that have to hold somewhere ask every member of a set for what the close asks of it; together, where each asks for
    /// one group of a closed list.
    fn settles(&self, set: SetKind) -> bool {
        let protocol = self.graph.protocol;
        let is_used = |name: &GateId| {
            let stages = protocol.flows.iter().flat_map(|flow| &flow.stages).chain(&protocol.asks);
            stages.into_iter().any(|stage| {
                let checks = matches!(&stage.kind, Kind::Check { gates } if gates.contains(name));
                let required = stage.requires.iter().any(|required| **required == **name);
                let is = |rule: &Rule| matches!(&rule.route.ensures, Ensures::Gates(gates) if gates.contains(name));
                checks || required || stage.ensures.contains(name) || stage.on.iter().any(is)
            })
        };
        let is_mandatory = |gate: &Gate| gate.mandatory_unit.is_some() || gate.mandatory_run.is_some();
        let gates = protocol.gates.iter().filter(|(name, gate)| is_mandatory(gate) || is_used(name));
        let mut groups = BTreeSet::new();
        for (_, gate) in gates {
            let asked = asked(protocol, &gate.holds, set, 0);
            if asked.whole {
                return true;
            }
            groups.extend(asked.groups);
        }
        let closed = self.groups().filter(|_| set == SetKind::Criterion && !groups.is_empty());
        closed.is_some_and(|closed| closed.iter().all(|group| groups.contains(*group)))
    }

    /// Every group that rows can have; none where a contract is free in that.
    fn groups(&self) -> Option<BTreeSet<&Name>> {
        let contracts = brought::of_criteria(self.graph, self.dialects);
        let words: Option<Vec<&Vec<Name>>> =
            contracts.into_iter().map(|contract| contract?.words.get("group")).collect();
        // Rows of a contract without groups are in none.
        words
            .filter(|words| words.iter().all(|words| !words.is_empty()))
            .map(|words| words.into_iter().flatten().collect())
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

/// What a condition asks of a set.
#[derive(Default)]
struct Asked {
    /// All members are asked for what the close asks of them.
    whole: bool,
    /// The rows of these groups are.
    groups: BTreeSet<Name>,
}

/// How many gates may read each other, one after the other; more are refused by themselves.
const DEPTH_MAX: usize = 16;

/// What a condition that holds says of a set: what one part of `all` says, and what each part of `any` says. Parts of `any` over
/// variables alone choose between modes.
fn asked(protocol: &Protocol, condition: &Condition, set: SetKind, depth: usize) -> Asked {
    match condition {
        Condition::All(parts) => {
            parts.iter().map(|part| asked(protocol, part, set, depth)).fold(Asked::default(), |mut all, part| {
                all.whole |= part.whole;
                all.groups.extend(part.groups);
                all
            })
        }
        Condition::Any(parts) => {
            let of_mode = |part: &&Condition| part.atoms().all(|atom| matches!(atom, Condition::Var { .. }));
            let each = parts.iter().filter(|part| !of_mode(part)).map(|part| asked(protocol, part, set, depth));
            let both = |one: Asked, other: Asked| Asked {
                whole: one.whole && other.whole,
                groups: one.groups.intersection(&other.groups).cloned().collect(),
            };
            each.reduce(both).unwrap_or_default()
        }
        Condition::Holds(gate) if depth < DEPTH_MAX => {
            let inner = protocol.gates.get(gate);
            inner.map(|gate| asked(protocol, &gate.holds, set, depth + 1)).unwrap_or_default()
        }
        Condition::Set { quantifier, set: of, filter, is, has } if *of == set => {
            members(*quantifier, set, filter, is, has)
        }
        Condition::Not(inner) => {
            if let Condition::Set { quantifier: Quantifier::Some, set: of, filter, is, has } = &**inner
                && *of == set
            {
                return members(Quantifier::None, set, filter, is, has);
            }
            Asked::default()
        }
        Condition::Var { .. }
        | Condition::It { .. }
        | Condition::Holds(_)
        | Condition::Judged(_)
        | Condition::Answer { .. }
        | Condition::Command { .. }
        | Condition::Artifact { .. }
        | Condition::Set { .. }
        | Condition::Count { .. } => Asked::default(),
    }
}

/// What one condition over a set asks of its members.
fn members(quantifier: Quantifier, set: SetKind, filter: &[(Name, Vec<Name>)], is: &[Name], has: &[Name]) -> Asked {
    // What a member may be at the close, and what it may not.
    let (good, bad): (&[&str], &[&str]) = match set {
        SetKind::Criterion => (&["passed", "waived"], &["open", "failed", "unobservable"]),
        SetKind::Finding => (&["fixed", "refuted", "waived"], &["open", "addressed"]),
        SetKind::Requirement => {
            (&["met", "waived", "deferred", "out_of_scope", "non_material"], &["in_scope", "proposed", "undecided"])
        }
        SetKind::Command | SetKind::Unit | SetKind::Decision | SetKind::Question | SetKind::Notice => {
            return Asked::default();
        }
    };
    let named = |word: &str| is.iter().any(|is| **is == *word);
    let settled = match quantifier {
        Quantifier::Every if !has.is_empty() => has.iter().any(|part| matches!(&**part, "unit" | "criterion")),
        Quantifier::Every => is.iter().all(|word| good.contains(&&**word)),
        Quantifier::None => has.is_empty() && bad.iter().all(|word| named(word)),
        Quantifier::Some => false,
    };
    let in_scope = |(key, words): &(Name, Vec<Name>)| {
        set == SetKind::Requirement && &**key == "disposition" && words.iter().any(|word| &**word == "in_scope")
    };
    match filter {
        _ if !settled => Asked::default(),
        [] => Asked { whole: true, groups: BTreeSet::new() },
        [(key, words)] if set == SetKind::Criterion && &**key == "group" => {
            Asked { whole: false, groups: words.iter().cloned().collect() }
        }
        _ => Asked { whole: filter.iter().all(in_scope), groups: BTreeSet::new() },
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
