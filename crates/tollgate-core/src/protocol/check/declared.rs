//! *declared*: a condition reads only what has been given on every path that reaches it.

use std::collections::BTreeSet;

use super::super::artifact::placeholders;
use super::super::condition::{Condition, SetKind};
use super::super::dialects::{Dialects, bare};
use super::super::graph::{End, Graph, Node};
use super::super::model::{Ask, Each, Flow, Given, Kind, Over, Protocol, Resource, Role, Stage, VariableKind};
use super::Breaches;
use super::dataflow::{DataFlow, Instance};
use super::documents::{self, brings};
use super::space::State;
use crate::Name;
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Place};
use crate::id::GateId;

/// What stages give can be given by them.
pub(super) fn gives(graph: &Graph<'_>, dialects: &Dialects, breaches: &mut Breaches) {
    let of_units = of_units(graph.protocol);
    let stages = graph.protocol.flows.iter().flat_map(|flow| flow.stages.iter().map(move |stage| (flow, stage)));
    for (flow, stage) in stages {
        let is_of_unit = of_units.contains(&flow.name);
        for given in &stage.gives {
            let document = graph.protocol.artifacts.contains_key(&**given);
            if is_of_unit && (document || values(graph, given).is_some()) {
                let (what, hint) = match document {
                    true => {
                        ("document", "give it in `main`, or let later roles see the report: `ROLE.SECTION` in `sees`")
                    }
                    false => (
                        "variable",
                        "give it in `main`; what is said of one unit conditions read from its attributes and notices",
                    ),
                };
                let message = format!(
                    "the stage `{}` gives the {what} `{given}` once for each unit, and a run has one of a name",
                    stage.id
                );
                breaches.error(Code::CANNOT_GIVE, stage.place, message, hint);
            }
            let wrong = match &stage.kind {
                Kind::Ask(_) if stage.gives.len() > 1 => Some("an answer is one word, and gives one variable".into()),
                Kind::Ask(ask) => ask_gives(graph, ask, given),
                Kind::Dispatch { role } => {
                    let role = graph.protocol.roles.get(role);
                    role.and_then(|role| report_gives(graph, stage, role, given, dialects))
                }
                Kind::Check { .. } | Kind::Each(_) | Kind::Land(_) => Some("only a dispatch or an ask gives".into()),
            };
            if let Some(wrong) = wrong {
                let message = format!("the stage `{}` cannot give `{given}`: {wrong}", stage.id);
                let hint = match given {
                    Resource::Units | Resource::Requirements | Resource::Criteria => {
                        "let it give a document whose contract has them in its `plan`, or report in such a contract"
                    }
                    Resource::Tree | Resource::Findings | Resource::Scope | Resource::Named(_) => {
                        "give it at a stage that can"
                    }
                };
                breaches.error(Code::CANNOT_GIVE, stage.place, message, hint);
            }
        }
    }
}

/// The flows that are run for each of several units.
fn of_units(protocol: &Protocol) -> BTreeSet<&Name> {
    fn each(flow: &Flow) -> impl Iterator<Item = &Each> {
        flow.stages.iter().filter_map(|stage| if let Kind::Each(each) = &stage.kind { Some(each) } else { None })
    }
    let mut found: BTreeSet<&Name> =
        protocol.flows.iter().flat_map(each).filter(|each| each.over != Over::It).map(|each| &each.flow).collect();
    loop {
        let inner: Vec<&Name> = protocol
            .flows
            .iter()
            .filter(|flow| found.contains(&flow.name))
            .flat_map(each)
            .map(|each| &each.flow)
            .collect();
        let before = found.len();
        found.extend(inner);
        if found.len() == before {
            return found;
        }
    }
}

/// Why a role cannot give something with its report or a document.
fn report_gives(
    graph: &Graph<'_>,
    stage: &Stage,
    role: &Role,
    given: &Resource,
    dialects: &Dialects,
) -> Option<String> {
    let (artifacts, contract) = (&graph.protocol.artifacts, &role.contract);
    let dialect = dialects.get(contract)?;
    if let Some(artifact) = artifacts.get(&**given) {
        if let Some(wrong) = documents::unwritten(graph.protocol, artifact, role) {
            return Some(wrong);
        }
        let schema = artifact.schema.as_ref().filter(|_| artifact.from_report)?;
        let other = bare(schema) != bare(contract);
        return other
            .then(|| format!("it is the report, its contract is `{schema}`, and the role reports in `{contract}`"));
    }
    if matches!(given, Resource::Units | Resource::Requirements | Resource::Criteria) {
        let mut documents = stage.gives.iter().filter_map(|name| artifacts.get(&**name));
        let can = dialect.can_bring(given) || documents.any(|document| brings(document, given, dialects));
        return (!can).then(|| format!("neither a report in `{contract}` nor a document of the stage can bring them"));
    }
    let declared = values(graph, given)?;
    match dialect.gives.get(&**given) {
        None => Some(format!("its contract `{contract}` has no such variable")),
        Some(can) if can.iter().any(|value| !declared.contains(value)) => {
            Some(format!("its contract gives `{given}` values that are not declared"))
        }
        Some(_) => None,
    }
}

/// The declared values of a variable that steers; none for what is no variable.
fn values<'g>(graph: &'g Graph<'_>, name: &str) -> Option<&'g [Name]> {
    let protocol = graph.protocol;
    match &protocol.inputs.get(name).or_else(|| protocol.vars.get(name))?.kind {
        VariableKind::OneOf(values) | VariableKind::ListOf(values) => Some(values),
        VariableKind::Int | VariableKind::Text => Some(&[]),
    }
}

fn ask_gives(graph: &Graph<'_>, ask: &Ask, given: &str) -> Option<String> {
    let Some(values) = values(graph, given) else { return Some("an answer gives variables only".into()) };
    if ask.options.is_empty() {
        return Some("its options are not known before the run".into());
    }
    let odd = ask.options.iter().find(|(option, _)| !values.contains(option))?;
    Some(format!("its option `{}` is not one of the values", odd.0))
}

/// What the data flow shows: each read comes after what it reads.
pub(super) fn check(flow: &DataFlow<'_, '_>, breaches: &mut Breaches) {
    inputs(flow, breaches);
    defaults(flow, breaches);
    for instance in &flow.instances {
        for (i, node) in flow.graph.flows[instance.flow].nodes.iter().enumerate() {
            let point = &flow.points[instance.base + i];
            if point.state.is_empty() {
                continue;
            }
            let stage = node.stage;
            if let Some(when) = &stage.when {
                reads(flow, stage, "its `when`", when, &point.state, breaches);
            }
            let runs = flow.entered(stage, &point.state, true);
            entered(flow, node, &runs, breaches);
            ends(flow, instance, i, node, breaches);
        }
    }
}

/// Artifacts that are inputs under a condition: the condition reads inputs.
fn inputs(flow: &DataFlow<'_, '_>, breaches: &mut Breaches) {
    let protocol = flow.graph.protocol;
    for (name, artifact) in &protocol.artifacts {
        let Given::InputWhen(condition) = &artifact.given else { continue };
        for part in condition.parts() {
            if let Condition::Var { name: variable, .. } = part
                && !protocol.inputs.contains_key(variable)
            {
                let message = format!("`given` of the artifact `{name}` reads `{variable}` before any stage gives it");
                breaches.error(Code::NOT_ASSIGNED, artifact.place, message, "read an input");
            }
        }
    }
}

/// Defaults that hang on other inputs: on what is known before the run, and in no circle.
fn defaults(flow: &DataFlow<'_, '_>, breaches: &mut Breaches) {
    let inputs = &flow.graph.protocol.inputs;
    for (name, input) in inputs {
        for atom in input.defaults.iter().flat_map(|(when, _)| when.atoms()) {
            let read = if let Condition::Var { name, .. } = atom { inputs.get_key_value(name) } else { None };
            let message = match read {
                Some((_, other)) if other.defaults.is_empty() => continue,
                Some((other, _)) => {
                    format!("`default` of the input `{name}` reads `{other}`, whose default hangs on others itself")
                }
                None => format!("`default` of the input `{name}` reads what is not known before the run"),
            };
            breaches.error(
                Code::NOT_ASSIGNED,
                input.place,
                message,
                "read another input that is given or has one default",
            );
        }
    }
}

/// What a stage reads once it is entered: gates it evaluates, recommendations, units.
fn entered(flow: &DataFlow<'_, '_>, node: &Node<'_>, runs: &State, breaches: &mut Breaches) {
    let stage = node.stage;
    let mut gates: BTreeSet<&GateId> = stage.ensures.iter().collect();
    gates.extend(node.edges.iter().flat_map(|edge| &edge.ensures));
    match &stage.kind {
        Kind::Check { gates: checked } => gates.extend(checked),
        Kind::Ask(ask) => {
            for (_, condition) in &ask.recommend {
                reads(flow, stage, "its recommendation", condition, runs, breaches);
            }
        }
        Kind::Each(each) if each.over == Over::Units => {
            given(flow.space.units, "units", stage, "`over`", runs, breaches);
        }
        Kind::Dispatch { .. } => filled_in(flow, stage, runs, breaches),
        Kind::Each(_) | Kind::Land(_) => {}
    }
    for gate in gates {
        if let Some(definition) = flow.graph.protocol.gates.get(gate) {
            reads(flow, stage, &format!("the gate `{gate}`"), &definition.holds, runs, breaches);
        }
    }
}

/// The variables in the paths of the documents that a stage gives have values when it is entered.
fn filled_in(flow: &DataFlow<'_, '_>, stage: &Stage, runs: &State, breaches: &mut Breaches) {
    let protocol = flow.graph.protocol;
    for artifact in stage.gives.iter().filter_map(|given| protocol.artifacts.get(&**given)) {
        let words = artifact.path.iter().flat_map(|path| placeholders(path));
        for name in words.filter(|name| protocol.vars.contains_key(*name)) {
            let dim = flow.space.dim(name);
            if dim.is_none_or(|dim| runs.iter().any(|(v, _)| flow.space.value(*v, dim).is_none())) {
                let message = format!(
                    "the path of a document of the stage `{}` reads `{name}`, which has no value on some path",
                    stage.id
                );
                let hint = format!("let an earlier stage give `{name}` on every path, or make it a required input");
                keep(Code::NOT_ASSIGNED, stage.place, name, message, hint, breaches);
            }
        }
    }
}

/// What is read at `done`: under which condition a gate is mandatory.
fn ends(flow: &DataFlow<'_, '_>, instance: &Instance<'_>, i: usize, node: &Node<'_>, breaches: &mut Breaches) {
    let of_it = instance.caller.is_some_and(|(_, each)| each.over == Over::It);
    for (edge, out) in node.edges.iter().zip(&flow.points[instance.base + i].out) {
        if edge.to != End::Done || of_it {
            continue;
        }
        for (name, gate) in &flow.graph.protocol.gates {
            let mandatory = if instance.caller.is_some() { &gate.mandatory_unit } else { &gate.mandatory_run };
            if let Some(condition) = mandatory {
                reads(flow, node.stage, &format!("`mandatory` of the gate `{name}`"), condition, out, breaches);
            }
        }
    }
}

fn reads(
    flow: &DataFlow<'_, '_>,
    stage: &Stage,
    what: &str,
    condition: &Condition,
    state: &State,
    into: &mut Breaches,
) {
    let mut gates = BTreeSet::new();
    let mut open = vec![condition];
    while let Some(condition) = open.pop() {
        for part in condition.parts() {
            if let Condition::Var { name, .. } = part {
                let dim = flow.space.dim(name);
                if dim.is_some_and(|dim| state.iter().any(|(v, _)| flow.space.value(*v, dim).is_none())) {
                    let message =
                        format!("{what} at the stage `{}` reads `{name}`, which has no value on some path", stage.id);
                    let hint = format!("let an earlier stage give `{name}` on every path, or make it a required input");
                    keep(Code::NOT_ASSIGNED, stage.place, name, message, hint, into);
                }
            } else if let Condition::Set { set, .. } | Condition::Count { set, .. } = part {
                if *set == SetKind::Unit {
                    given(flow.space.units, "units", stage, what, state, into);
                } else if *set == SetKind::Requirement {
                    given(flow.space.requirements, "requirements", stage, what, state, into);
                }
            } else if let Condition::Artifact { name, .. } = part {
                if let Some(bit) = flow.space.artifacts.get(name) {
                    given(*bit, name, stage, what, state, into);
                }
            } else if let Condition::Holds(gate) = part
                && gates.insert(gate)
            {
                open.extend(flow.graph.protocol.gates.get(gate).map(|gate| &gate.holds));
            }
        }
    }
}

fn given(bit: usize, name: &str, stage: &Stage, what: &str, state: &State, into: &mut Breaches) {
    if !state.iter().all(|(_, facts)| facts.has(bit)) {
        let message = format!("{what} at the stage `{}` reads `{name}` before a stage has given it", stage.id);
        let hint = format!("let an earlier stage give `{name}` on every path");
        keep(Code::READ_TOO_EARLY, stage.place, name, message, hint, into);
    }
}

fn keep(code: Code, place: Place, key: &str, message: String, hint: String, into: &mut Breaches) {
    into.add(key, Diagnostic::error(code, place, message).hint(hint));
}
