//! *declared*: what conditions ask of units, rows, findings and notices can come with a report or a document of the protocol.

use super::super::condition::{Condition, SetKind};
use super::super::dialects::{Declaration, Dialects};
use super::super::graph::Graph;
use super::super::model::{Kind, Makes, Over, Resource, Stage};
use super::Breaches;
use super::documents::brings;
use crate::Name;
use crate::code::Code;

pub(super) fn check(graph: &Graph<'_>, dialects: &Dialects, breaches: &mut Breaches) {
    attrs(graph, dialects, breaches);
    parts(graph, dialects, breaches);
    words(graph, dialects, breaches);
    notices(graph, dialects, breaches);
    never_accepted(graph, dialects, breaches);
}

/// A unit of a plan is accepted by its criteria: where nothing can bring one, none ever is.
fn never_accepted(graph: &Graph<'_>, dialects: &Dialects, breaches: &mut Breaches) {
    let planned =
        of_units(graph, dialects).iter().any(|contract| contract.is_none_or(|known| known.can_bring("units")));
    let accepts = |stage: &&Stage| matches!(&stage.kind, Kind::Each(each) if each.over == Over::Units && each.makes == Makes::Accepted);
    let mut stages = graph.protocol.flows.iter().flat_map(|flow| &flow.stages);
    let of_unit = |known: &Declaration| {
        known.unit_parts.as_ref().is_none_or(|parts| parts.iter().any(|part| **part == *"criteria"))
    };
    let comes = of_criteria(graph, dialects).into_iter().any(|contract| contract.is_none_or(of_unit));
    if let Some(stage) = stages.find(accepts).filter(|_| planned && !comes) {
        let message = format!(
            "the stage `{}` makes planned units accepted, and nothing in this protocol can bring a criterion of a unit: none is ever accepted",
            stage.id
        );
        let hint = "let the plan bring criteria (`brings: [units, criteria]`, with a contract whose `plan` has them), or write `makes: produced`";
        breaches.error(Code::CANNOT_GIVE, stage.place, message, hint);
    }
}

/// What is declared by the contracts of a protocol that can bring something; none for one that is unknown: it is refused by itself.
pub(super) type Contracts<'d> = Vec<Option<&'d Declaration>>;

/// The contracts that bring units: of reports and of documents.
fn of_units<'d>(graph: &Graph<'_>, dialects: &'d Dialects) -> Contracts<'d> {
    let with_units = |given: &Resource| *given == Resource::Units;
    reports(graph, dialects, with_units).chain(documents(graph, dialects, "units")).collect()
}

/// The contracts that bring criteria, which come with units and requirements of a report, too.
pub(super) fn of_criteria<'d>(graph: &Graph<'_>, dialects: &'d Dialects) -> Contracts<'d> {
    let with_rows = |given: &Resource| matches!(given, Resource::Units | Resource::Requirements | Resource::Criteria);
    let all = reports(graph, dialects, with_rows).chain(documents(graph, dialects, "criteria"));
    all.filter(|contract| contract.is_none_or(|known| known.can_bring("criteria"))).collect()
}

/// The contracts of the roles that report at stages which give one of these.
fn reports<'g, 'd: 'g>(
    graph: &'g Graph<'_>,
    dialects: &'d Dialects,
    gives: impl Fn(&Resource) -> bool + 'g,
) -> impl Iterator<Item = Option<&'d Declaration>> + 'g {
    let protocol = graph.protocol;
    let stages =
        protocol.flows.iter().flat_map(|flow| &flow.stages).filter(move |stage| stage.gives.iter().any(&gives));
    let roles = stages.filter_map(|stage| if let Kind::Dispatch { role } = &stage.kind { Some(role) } else { None });
    roles.filter_map(|role| protocol.roles.get(role)).map(|role| dialects.get(&role.contract))
}

/// The contracts of the documents that bring something.
fn documents<'g, 'd: 'g>(
    graph: &'g Graph<'_>,
    dialects: &'d Dialects,
    resource: &'static str,
) -> impl Iterator<Item = Option<&'d Declaration>> + 'g {
    let documents = graph.protocol.artifacts.values().filter(move |document| brings(document, resource, dialects));
    documents.map(|document| document.schema.as_ref().and_then(|schema| dialects.document(schema)))
}

/// Attributes of units that conditions read can come with a plan, with these values.
fn attrs(graph: &Graph<'_>, dialects: &Dialects, breaches: &mut Breaches) {
    let contracts = of_units(graph, dialects);
    for (place, condition) in graph.protocol.placed_conditions() {
        let read: Vec<(&Name, &[Name])> = if let Condition::It { attr, values } = condition {
            Some((attr, &values[..])).filter(|(attr, _)| &***attr != "state").into_iter().collect()
        } else if let Condition::Set { set: SetKind::Unit, filter, .. } = condition {
            filter.iter().map(|(attr, values)| (attr, &values[..])).collect()
        } else {
            Vec::new()
        };
        for (attr, values) in read {
            let known: Contracts<'_> =
                contracts.iter().copied().filter(|c| c.is_none_or(|known| known.attrs.contains(attr))).collect();
            if known.is_empty() {
                let message = format!(
                    "a condition reads the attribute `{attr}` of units, and no plan of this protocol can bring it"
                );
                let hint = "add it to `attrs` in the `plan.units` of the contract that brings the units, or read something else";
                breaches.error(Code::CANNOT_GIVE, place, message, hint);
                continue;
            }
            let closed: Option<Vec<&[Name]>> =
                known.iter().map(|c| Some(&c.as_ref()?.attr_words.get(attr)?[..])).collect();
            let never = closed.and_then(|closed| values.iter().find(|value| !closed.concat().contains(value)));
            if let Some(value) = never {
                let message = format!(
                    "a condition asks whether the attribute `{attr}` of units is `{value}`, and no plan of this protocol can say so"
                );
                let hint = "add the word to the field of the contract that brings the units, or ask for another";
                breaches.error(Code::CANNOT_GIVE, place, message, hint);
            }
        }
    }
}

/// Parts of units that conditions ask for can come with a plan.
fn parts(graph: &Graph<'_>, dialects: &Dialects, breaches: &mut Breaches) {
    let (units, criteria) = (of_units(graph, dialects), of_criteria(graph, dialects));
    let stages = graph.protocol.flows.iter().flat_map(|flow| &flow.stages);
    // Units that exist by name are called by it, and may be given a scope with the run.
    let has_lanes =
        |kind: &Kind| matches!(kind, Kind::Each(each) if matches!(each.over, Over::Lanes(_) | Over::Input(_)));
    let lanes = stages.clone().any(|stage| has_lanes(&stage.kind));
    let comes = |part: &str| {
        let known = |known: &Declaration| {
            known.unit_parts.as_ref().is_none_or(|parts| parts.iter().any(|known| **known == *part))
        };
        let among = |contracts: &Contracts<'_>| contracts.iter().any(|contract| contract.is_none_or(known));
        match part {
            "objective" | "scope" if lanes => true,
            "labels" => units.iter().any(|contract| contract.is_none_or(|known| !known.attrs.is_empty())),
            "criteria" => among(&criteria),
            _ => among(&units),
        }
    };
    for (place, condition) in graph.protocol.placed_conditions() {
        let Condition::Set { set: SetKind::Unit, has, .. } = condition else { continue };
        for part in has.iter().filter(|part| !comes(part)) {
            let message = format!("a condition asks units for `{part}`, and no plan of this protocol can bring that");
            let hint = match &**part {
                "labels" => {
                    "add `attrs` to the `plan.units` of the contract that brings the units, or leave `labels` out"
                }
                "reference" => {
                    "add `requirements` to the `plan.units` of the contract that brings the units, or leave `reference` out"
                }
                "criteria" => {
                    "add `unit` to the `plan.criteria` of the contract that brings the rows, or leave `criteria` out"
                }
                _ => "let the contract that brings the units say it in its `plan.units`, or leave it out",
            };
            breaches.error(Code::CANNOT_GIVE, place, message, hint);
        }
    }
}

/// Words that conditions ask rows and findings for can be said of them.
fn words(graph: &Graph<'_>, dialects: &Dialects, breaches: &mut Breaches) {
    let rows = of_criteria(graph, dialects);
    let findings: Contracts<'_> = graph.protocol.roles.values().map(|role| dialects.get(&role.contract)).collect();
    for (place, condition) in graph.protocol.placed_conditions() {
        let Condition::Set { set, filter, .. } = condition else { continue };
        let contracts = match set {
            SetKind::Criterion | SetKind::Command => &rows,
            SetKind::Finding => &findings,
            SetKind::Requirement | SetKind::Unit | SetKind::Decision | SetKind::Question | SetKind::Notice => continue,
        };
        for (key, asked) in filter {
            let can = |word: &Name, known: &Declaration| known.words.get(key).is_none_or(|words| words.contains(word));
            let never = |word: &&Name| !contracts.iter().any(|contract| contract.is_none_or(|known| can(word, known)));
            if let Some(word) = asked.iter().find(never) {
                let of = if *set == SetKind::Finding { "finding" } else { "row" };
                let message = format!(
                    "a condition asks for each {of} with `{key}: {word}`, and no contract of this protocol has that word"
                );
                let hint = format!("ask for a word that a contract has, or leave `{key}` out");
                breaches.error(Code::CANNOT_GIVE, place, message, hint);
            }
        }
    }
}

/// Notices that conditions read can come with a report.
fn notices(graph: &Graph<'_>, dialects: &Dialects, breaches: &mut Breaches) {
    let contracts: Contracts<'_> = graph.protocol.roles.values().map(|role| dialects.get(&role.contract)).collect();
    for (place, condition) in graph.protocol.placed_conditions() {
        let filter = if let Condition::Set { set: SetKind::Notice, filter, .. } = condition {
            filter.as_slice()
        } else if let Condition::Count { set: SetKind::Notice, .. } = condition {
            &[]
        } else {
            continue;
        };
        let can = |kind: Option<&Name>, known: &Declaration| {
            let any = known.notices.is_empty();
            known.can_bring("notices") && kind.is_none_or(|kind| any || known.notices.contains(kind))
        };
        // A contract that is unknown is refused by itself.
        let comes = |kind| contracts.iter().any(|known| known.is_none_or(|known| can(kind, known)));
        let mut kinds = filter.iter().flat_map(|(_, kinds)| kinds);
        let missing = if comes(None) { kinds.find(|kind| !comes(Some(*kind))) } else { kinds.next() };
        if missing.is_none() && comes(None) {
            continue;
        }
        let which = missing.map(|kind| format!(" of the kind `{kind}`")).unwrap_or_default();
        let message = format!("a condition reads notices{which}, and no report of this protocol can bring them");
        let hint = "add it to `report.notices` of the contract of a role, or read something else";
        breaches.error(Code::CANNOT_GIVE, place, message, hint);
    }
}
