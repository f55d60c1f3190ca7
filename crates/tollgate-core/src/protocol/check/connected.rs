//! *connected*: names resolve, everything is reached and used, every run can end.

use std::collections::BTreeSet;

use super::super::artifact::placeholders;
use super::super::condition::{Condition, SetKind};
use super::super::dialects::Dialects;
use super::super::graph::{End, Graph};
use super::super::model::{AtOnce, Given, Kind, Over, Sees, VariableKind};
use super::Breaches;
use super::dataflow::DataFlow;
use crate::code::Code;
use crate::diagnostic::Place;

/// What can be said without following the data flow.
pub(super) fn names(graph: &Graph<'_>, dialects: &Dialects, breaches: &mut Breaches) {
    sections(graph, dialects, breaches);
    lists(graph, breaches);
    unused(graph, breaches);
    let protocol = graph.protocol;
    let stages = protocol.flows.iter().flat_map(|flow| &flow.stages);
    let given: BTreeSet<&str> = stages.flat_map(|stage| &stage.gives).map(|given| &**given).collect();
    for (name, artifact) in &protocol.artifacts {
        if artifact.given == Given::ByStage && !given.contains(&**name) {
            let message = format!("no stage gives the artifact `{name}`");
            let hint = format!("add `gives: [{name}]` to the stage that makes it, or `given: input`");
            breaches.error(Code::NO_GIVER, artifact.place, message, hint);
        }
    }
}

/// Sections that roles are shown exist in the dialects of the roles they name.
fn sections(graph: &Graph<'_>, dialects: &Dialects, breaches: &mut Breaches) {
    let roles = &graph.protocol.roles;
    let has = |role: &str, section: &str| {
        let dialect = roles.get(role).and_then(|role| dialects.get(&role.contract));
        dialect.is_none_or(|dialect| dialect.sections.contains_key(section))
    };
    for (name, role) in roles {
        let seen = match &role.sees {
            Sees::Full => &[],
            Sees::Only(items) | Sees::AllBut(items) => items.as_slice(),
        };
        for item in seen.iter().chain(&role.shown_claims) {
            let Some((of, section)) = item.split_once('.') else { continue };
            let found = if of == "*" { roles.keys().any(|role| has(role, section)) } else { has(of, section) };
            if !found {
                let message = format!("the role `{name}` speaks of `{item}`, and no report has such a section");
                let hint = "correct the section; the role's contract declares those it has";
                breaches.error(Code::NAME_UNKNOWN, role.place, message, hint);
            }
        }
    }
}

/// What `each` runs over, and how many at once, are inputs of the right kind.
fn lists(graph: &Graph<'_>, breaches: &mut Breaches) {
    let inputs = &graph.protocol.inputs;
    for stage in graph.protocol.flows.iter().flat_map(|flow| &flow.stages) {
        let Kind::Each(each) = &stage.kind else { continue };
        if let Over::Input(name) = &each.over
            && !inputs.get(name).is_some_and(|input| matches!(input.kind, VariableKind::ListOf(_)))
        {
            let message = format!("the stage `{}` runs over `{name}`, which is no list input", stage.id);
            breaches.error(Code::NAME_UNKNOWN, stage.place, message, "declare it under `inputs` with `list_of`");
        }
        if let Over::Input(name) = &each.over
            && inputs.get(name).is_some_and(|input| !input.required && !input.has_default())
        {
            let message = format!(
                "the stage `{}` runs over `{name}`, which may be left out: it runs over nothing then",
                stage.id
            );
            breaches.error(
                Code::NOT_ASSIGNED,
                stage.place,
                message,
                format!("write `required: true` or a `default` for `{name}`"),
            );
        }
        if let AtOnce::Input(name) = &each.at_once
            && !inputs.get(name).is_some_and(|input| matches!(input.kind, VariableKind::Int))
        {
            let message = format!("the stage `{}` runs `{name}` at once, which is no number", stage.id);
            breaches.error(Code::NAME_UNKNOWN, stage.place, message, "declare it under `inputs` with `int: true`");
        }
    }
}

fn unused(graph: &Graph<'_>, breaches: &mut Breaches) {
    let protocol = graph.protocol;
    let (mut roles, mut flows, mut asks, mut read) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    flows.insert("main");
    for node in graph.flows.iter().flat_map(|flow| &flow.nodes) {
        match &node.stage.kind {
            Kind::Dispatch { role } => drop(roles.insert(&**role)),
            Kind::Each(each) => drop(flows.insert(&*each.flow)),
            Kind::Ask(_) if node.origin.is_some() => drop(asks.insert(&*node.stage.id)),
            Kind::Ask(_) | Kind::Check { .. } | Kind::Land(_) => {}
        }
    }
    let mut attrs = BTreeSet::new();
    for condition in protocol.conditions() {
        match condition {
            Condition::Var { name, .. } => drop(read.insert(&**name)),
            Condition::It { attr, .. } => drop(attrs.insert(&**attr)),
            Condition::Set { set: SetKind::Unit, filter, .. } => attrs.extend(filter.iter().map(|(attr, _)| &**attr)),
            Condition::All(_)
            | Condition::Any(_)
            | Condition::Not(_)
            | Condition::Holds(_)
            | Condition::Judged(_)
            | Condition::Answer { .. }
            | Condition::Command { .. }
            | Condition::Artifact { .. }
            | Condition::Set { .. }
            | Condition::Count { .. } => {}
        }
    }
    read.extend(protocol.artifacts.values().filter_map(|a| a.path.as_ref()).flat_map(|path| placeholders(path)));
    let mut tell = |used: bool, what: &str, name: &str, place: Place, hint: &str| {
        if !used {
            breaches.error(Code::UNUSED, place, format!("{what} `{name}` is never used"), hint);
        }
    };
    for (name, role) in &protocol.roles {
        tell(roles.contains(&**name), "the role", name, role.place, "dispatch it, or remove it");
    }
    for flow in &protocol.flows {
        tell(flows.contains(&*flow.name), "the flow", &flow.name, flow.place, "run it with an `each`, or remove it");
    }
    for ask in &protocol.asks {
        tell(asks.contains(&*ask.id), "the ask", &ask.id, ask.place, "route an outcome to it, or remove it");
    }
    for (name, variable) in &protocol.vars {
        tell(read.contains(&**name), "the variable", name, variable.place, "read it in a condition, or remove it");
    }
    for (name, attr) in &protocol.attrs {
        let hint = "read it in a condition, or remove it: workers see the attributes of a unit in any case";
        tell(attrs.contains(&**name), "the attribute", name, attr.place, hint);
    }
}

/// What the data flow shows: stages and asks that are reached.
pub(super) fn reached(flow: &DataFlow<'_, '_>, breaches: &mut Breaches) {
    let graph = flow.graph;
    let mut seen: Vec<Vec<bool>> = graph.flows.iter().map(|f| vec![false; f.nodes.len()]).collect();
    let mut called = vec![false; graph.flows.len()];
    for instance in &flow.instances {
        called[instance.flow] = true;
        for (i, seen) in seen[instance.flow].iter_mut().enumerate() {
            *seen |= !flow.points[instance.base + i].state.is_empty();
        }
    }
    let mut asked = BTreeSet::new();
    for (f, compiled) in graph.flows.iter().enumerate().filter(|(f, _)| called[*f]) {
        for (i, node) in compiled.nodes.iter().enumerate() {
            if node.origin.is_some() && seen[f][i] {
                asked.insert(&*node.stage.id);
            } else if node.origin.is_none() && !seen[f][i] {
                let message =
                    format!("the stage `{}` of the flow `{}` is never reached", node.stage.id, compiled.flow.name);
                let hint = "route to it, or remove it; a `when` on the way may keep every path out";
                breaches.error(Code::NOT_REACHED, node.stage.place, message, hint);
            }
        }
    }
    let put: BTreeSet<&str> =
        graph.flows.iter().flat_map(|f| &f.nodes).filter(|n| n.origin.is_some()).map(|n| &*n.stage.id).collect();
    for ask in graph.protocol.asks.iter().filter(|ask| put.contains(&*ask.id) && !asked.contains(&*ask.id)) {
        let message = format!("the ask `{}` is never reached", ask.id);
        breaches.error(Code::NOT_REACHED, ask.place, message, "the stages that put it are never reached themselves");
    }
}

/// From each reached node an end is reached over edges that carry something, and `done` or `reported` of main for every
/// combination of inputs.
pub(super) fn ends(flow: &DataFlow<'_, '_>, breaches: &mut Breaches) {
    succeeds(flow, breaches);
    for instance in &flow.instances {
        let compiled = &flow.graph.flows[instance.flow];
        let count = compiled.nodes.len();
        let mut into: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut ending = Vec::new();
        for (i, node) in compiled.nodes.iter().enumerate() {
            let point = &flow.points[instance.base + i];
            for (edge, _) in node.edges.iter().zip(&point.live).filter(|(_, live)| **live) {
                match edge.to {
                    End::Node(to) => into[to].push(i),
                    End::Done | End::Reported | End::Dropped | End::Hold | End::Raise(_) => ending.push(i),
                }
            }
        }
        let mut ends = vec![false; count];
        while let Some(node) = ending.pop() {
            if !std::mem::replace(&mut ends[node], true) {
                ending.extend(&into[node]);
            }
        }
        for (i, node) in compiled.nodes.iter().enumerate() {
            if !ends[i] && !flow.points[instance.base + i].state.is_empty() {
                let message = format!("from the stage `{}` no end can be reached", node.stage.id);
                let hint = "route one of its outcomes towards `done`, `dropped`, `hold` or a `raise`";
                breaches.error(Code::NO_END, node.stage.place, message, hint);
            }
        }
    }
}

/// For every combination of inputs `done` or `reported` of main is reached.
fn succeeds(flow: &DataFlow<'_, '_>, breaches: &mut Breaches) {
    let Some(main) = flow.instances.first() else { return };
    let (protocol, compiled) = (flow.graph.protocol, &flow.graph.flows[main.flow]);
    let starts: BTreeSet<u32> = flow.space.starts(protocol).into_iter().collect();
    let missing: Vec<&u32> = starts.difference(&main.done).collect();
    let Some(first) = missing.first() else { return };
    let inputs = flow.space.describe_inputs(protocol, **first);
    let message = match (inputs.is_empty(), missing.len()) {
        (true, _) => "no path leads to `done` or `reported` of main".into(),
        (false, 1) => format!("no path leads to `done` or `reported` of main when {inputs}"),
        (false, n) => {
            format!("no path leads to `done` or `reported` of main for {n} combinations of inputs, such as: {inputs}")
        }
    };
    breaches.error(Code::NEVER_DONE, compiled.flow.place, message, "follow the path of these inputs to where it ends");
}
