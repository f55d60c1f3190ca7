//! *gated*: what must hold at `done`, and what a stage requires, is established on every path and not undone since.

use std::collections::{BTreeMap, BTreeSet};

use super::super::Outcome;
use super::super::condition::{Condition, Quantifier, SetKind};
use super::super::graph::{Edge, End, FlowGraph, Graph, Node, over_variables};
use super::super::model::{Class, Each, Ensures, Gate, Kind, Makes, Over, Resource, Role, Stage, Trees};
use super::Breaches;
use super::change::reaches;
use super::dataflow::{DataFlow, Instance};
use super::space::{Facts, State};
use super::truth::Truth;
use crate::code::Code;
use crate::id::GateId;

/// How many gates may read each other, one behind the other, and how many conditions one may come to.
const READ_DEPTH_MAX: usize = 16;
const CONDITIONS_MAX: usize = 10_000;

/// What can be said of gates and asks without following the data flow.
pub(super) fn gates(graph: &Graph<'_>, breaches: &mut Breaches) {
    let protocol = graph.protocol;
    let stages = || protocol.flows.iter().flat_map(|flow| &flow.stages);
    let mut used: BTreeSet<&str> = stages().flat_map(|stage| &stage.requires).map(|name| &**name).collect();
    used.extend(
        protocol.conditions().filter_map(|c| if let Condition::Holds(gate) = c { Some(&**gate) } else { None }),
    );
    for stage in stages() {
        if let Kind::Check { gates } = &stage.kind {
            used.extend(gates.iter().filter(|gate| over_variables(protocol, gate)).map(|gate| &**gate));
        }
        ensures(graph, stage, breaches);
    }
    stages().chain(&protocol.asks).for_each(|stage| unanswered(stage, breaches));
    for (name, gate) in &protocol.gates {
        let mandatory = gate.mandatory_unit.is_some() || gate.mandatory_run.is_some();
        if !mandatory && !used.contains(&**name) {
            let message = format!("the gate `{name}` is neither mandatory nor required nor read: it guards nothing");
            let hint = "make it mandatory, require it at a stage, or remove it";
            breaches.error(Code::GUARDS_NOTHING, gate.place, message, hint);
        }
        if gate.bound_to.is_empty() && !over_variables(protocol, name) {
            let message = format!("the gate `{name}` speaks of more than variables and is bound to nothing");
            let hint = "add `bound_to`: the resources whose change makes it stale";
            breaches.error(Code::CANNOT_ENSURE, gate.place, message, hint);
        }
        circle(graph, name, gate, breaches);
    }
    size(graph, breaches);
    for stage in stages().chain(&protocol.asks) {
        default(stage, breaches);
    }
    for node in graph.flows.iter().flat_map(|flow| &flow.nodes) {
        node.edges.iter().for_each(|edge| amended(graph, node, edge, breaches));
    }
    units(graph, breaches);
}

/// An answer that changes what a gate rests on cannot establish it: it would waive what nobody was told of.
fn amended(graph: &Graph<'_>, node: &Node<'_>, edge: &Edge, breaches: &mut Breaches) {
    let changes = |resource: &Resource| {
        let content = || edge.amends.iter().any(|what| graph.protocol.is_content(what));
        let all = edge.amends.contains(&Resource::Tree);
        all || if *resource == Resource::Tree { content() } else { edge.amends.contains(resource) }
    };
    for name in &edge.ensures {
        let gate = graph.protocol.gates.get(name).filter(|gate| gate.bound_to.iter().any(changes));
        if let Some(gate) = gate {
            let (stage, answer) = (&node.stage.id, &edge.outcome);
            let message = format!(
                "the answer `{answer}` of `{stage}` changes what the gate `{name}` rests on, and establishes it"
            );
            let hint = "let it lead to who judges the change, or let another answer establish the gate";
            let breach = crate::diagnostic::Diagnostic::error(Code::CANNOT_ENSURE, edge.place, message);
            breaches.add(&format!("{name} {stage} {answer}"), breach.hint(hint).other(gate.place));
        }
    }
}

/// What units have shown counts at the end of a run while they stand. Where one may be missing, or lapse because somebody changes
/// what it rests on, a gate of the run has to read them: nothing else looks at them again.
fn units(graph: &Graph<'_>, breaches: &mut Breaches) {
    let accepts = |node: &Node<'_>| matches!(&node.stage.kind, Kind::Each(each) if each.over != Over::It && each.makes == Makes::Accepted);
    if !graph.flows.iter().flat_map(|flow| &flow.nodes).any(accepts) {
        for (name, gate) in graph.protocol.gates.iter().filter(|(_, gate)| gate.mandatory_unit.is_some()) {
            let message = format!("the gate `{name}` is mandatory for units, and no stage makes a unit accepted");
            let hint = "let an `each` make units `accepted`, or let the gate be mandatory for the run";
            breaches.error(Code::GUARDS_NOTHING, gate.place, message, hint);
        }
        return;
    }
    let reads = |condition: &Condition| {
        matches!(condition, Condition::Set { quantifier: Quantifier::Every, set: SetKind::Unit, filter, is, .. }
            if filter.is_empty() && !is.is_empty())
    };
    let mut of_run = graph.protocol.gates.values().filter(|gate| gate.mandatory_run.is_some());
    if of_run.any(|gate| parts(graph, gate).into_iter().any(reads)) {
        return;
    }
    for flow in &graph.flows {
        for (at, node) in flow.nodes.iter().enumerate().filter(|(_, node)| accepts(node)) {
            let goes_on = |edge: &&Edge| {
                matches!(edge.outcome, Outcome::Some | Outcome::None) && matches!(edge.to, End::Node(_) | End::Done)
            };
            let (place, how) = if let Some(edge) = node.edges.iter().find(goes_on) {
                (edge.place, format!("goes on when {} of them are accepted", edge.outcome))
            } else if let Some(writer) = writer_after(graph, flow, at) {
                (writer.place, format!("is followed by `{}`, which may change what they rest on", writer.id))
            } else {
                continue;
            };
            let stage = &node.stage.id;
            let message =
                format!("the stage `{stage}` makes units and {how}, and no mandatory gate of the run reads them");
            let hint = "add a gate like `{holds: {every: unit, is: accepted}, bound_to: tree, mandatory: {run: true}}` and establish it before `done`";
            breaches.error(Code::NOT_GATED, place, message, hint);
        }
    }
}

/// A stage behind a node, in its flow, that may change the tree and does not accept the units again: a role that writes, a flow
/// in which one does, or a question whose answer gives back a tree that was changed by hand.
fn writer_after<'p>(graph: &Graph<'p>, flow: &FlowGraph<'p>, from: usize) -> Option<&'p Stage> {
    let reaches = reaches(graph);
    let protocol = graph.protocol;
    let writes = |node: &Node<'_>| match &node.stage.kind {
        Kind::Dispatch { role } => protocol.roles.get(role).is_some_and(|role| !role.writes.is_empty()),
        Kind::Each(each) if each.over == Over::It || each.makes == Makes::Produced => {
            graph.index(&each.flow).is_some_and(|callee| !reaches[callee].writers.is_empty())
        }
        Kind::Ask(_) => node.edges.iter().any(|edge| edge.amends.iter().any(|what| protocol.is_content(what))),
        Kind::Each(_) | Kind::Check { .. } | Kind::Land(_) => false,
    };
    let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(at) = open.pop() {
        for edge in &flow.nodes[at].edges {
            if let End::Node(to) = edge.to
                && seen.insert(to)
            {
                open.push(to);
            }
        }
    }
    seen.into_iter().map(|at| &flow.nodes[at]).find(|node| writes(node)).map(|node| node.stage)
}

/// What a gate reads, itself and through others.
pub(super) fn parts<'p>(graph: &Graph<'p>, gate: &'p Gate) -> Vec<&'p Condition> {
    graph.protocol.with_read(std::iter::once(gate)).into_iter().flat_map(|gate| gate.holds.parts()).collect()
}

fn ensures(graph: &Graph<'_>, stage: &Stage, breaches: &mut Breaches) {
    let judges = match &stage.kind {
        Kind::Dispatch { role } => graph.protocol.roles.get(role).is_some_and(Role::judges),
        Kind::Ask(_) | Kind::Check { .. } | Kind::Each(_) | Kind::Land(_) => false,
    };
    if !stage.ensures.is_empty() && !judges {
        let message = format!("the stage `{}` ensures a gate and does not judge", stage.id);
        let hint = "give its role `verdicts`, or let a check or an answer establish the gate";
        breaches.error(Code::CANNOT_ENSURE, stage.place, message, hint);
    }
}

/// A question that ends without an answer establishes nothing.
fn unanswered(stage: &Stage, breaches: &mut Breaches) {
    let never = [Outcome::Cancelled, Outcome::Skipped];
    let rules = stage.on.iter().filter(|rule| rule.route.ensures != Ensures::Nothing);
    for rule in rules.filter(|rule| never.iter().any(|outcome| *outcome.word() == *rule.outcome)) {
        let message =
            format!("the outcome `{}` of `{}` ensures a gate, and without an answer none is", rule.outcome, stage.id);
        let hint = "leave out `ensures`, and let it lead to where the gate is established";
        breaches.error(Code::CANNOT_ENSURE, rule.place, message, hint);
    }
}

/// A gate that reads itself, directly or through others, has no truth.
fn circle(graph: &Graph<'_>, name: &GateId, gate: &Gate, breaches: &mut Breaches) {
    let reads = |condition: &&Condition| matches!(condition, Condition::Holds(inner) if inner == name);
    if parts(graph, gate).iter().any(reads) {
        let message = format!("the gate `{name}` reads itself");
        breaches.error(Code::FLOW_CIRCLE, gate.place, message, "say what must be true without the gate");
    }
}

/// A gate is evaluated with everything that it reads, again for each time it is read.
fn size(graph: &Graph<'_>, breaches: &mut Breaches) {
    let gates = &graph.protocol.gates;
    // How many conditions each comes to, and how deep; one that reads itself is refused elsewhere.
    let mut sizes: BTreeMap<&GateId, (usize, usize)> = BTreeMap::new();
    for _ in 0..=READ_DEPTH_MAX + 1 {
        for (name, gate) in gates {
            let (mut conditions, mut depth) = (0usize, 1);
            for condition in gate.holds.parts() {
                let read = if let Condition::Holds(inner) = condition { sizes.get(inner).copied() } else { None };
                let inner = read.unwrap_or((1, 0));
                conditions = conditions.saturating_add(inner.0);
                depth = depth.max(inner.1 + 1);
            }
            sizes.insert(name, (conditions, depth));
        }
    }
    for (name, gate) in gates {
        let (conditions, depth) = sizes[name];
        let how = match (conditions > CONDITIONS_MAX, depth > READ_DEPTH_MAX) {
            (_, true) => format!("through more than {READ_DEPTH_MAX} others, one after the other"),
            (true, false) => format!("more than {CONDITIONS_MAX} conditions, counted with those of the gates it reads"),
            (false, false) => continue,
        };
        let circle = parts(graph, gate).iter().any(|part| matches!(part, Condition::Holds(inner) if inner == name));
        if !circle {
            let message = format!("the gate `{name}` reads {how}");
            breaches.error(Code::FLOW_CIRCLE, gate.place, message, "let it read fewer gates");
        }
    }
}

fn default(stage: &Stage, breaches: &mut Breaches) {
    let Kind::Ask(ask) = &stage.kind else { return };
    let forbidden = matches!(ask.class, Class::Approval | Class::Waiver | Class::Security | Class::Scope);
    if ask.default.is_some() && forbidden {
        let message = format!("the ask `{}` has a default, and its class needs a person", stage.id);
        breaches.error(Code::DEFAULT_FORBIDDEN, stage.place, message, "drop the default");
    }
    let answer = ask.default.as_ref().map(|default| &default.answer);
    if let Some(rule) = stage.on.iter().find(|rule| Some(&rule.outcome) == answer && !rule.route.amends.is_empty()) {
        let message =
            format!("the ask `{}` has the default `{}`, whose route amends something", stage.id, rule.outcome);
        let hint = "let another option be the default: a timer has changed nothing that could be taken over";
        breaches.error(Code::DEFAULT_FORBIDDEN, stage.place, message, hint);
    }
}

/// What the data flow shows: requirements of stages and mandatory gates at `done`.
pub(super) fn check(flow: &DataFlow<'_, '_>, breaches: &mut Breaches) {
    for instance in &flow.instances {
        for (i, node) in flow.graph.flows[instance.flow].nodes.iter().enumerate() {
            let point = &flow.points[instance.base + i];
            if point.state.is_empty() {
                continue;
            }
            if !node.stage.requires.is_empty() {
                requires(flow, node.stage, &flow.entered(node.stage, &point.state, true), breaches);
            }
            for (edge, out) in node.edges.iter().zip(&point.out).filter(|(edge, _)| edge.to == End::Done) {
                done(flow, instance, node, edge, out, breaches);
            }
        }
    }
}

fn requires(flow: &DataFlow<'_, '_>, stage: &Stage, state: &State, breaches: &mut Breaches) {
    for required in &stage.requires {
        let artifact = flow.space.artifacts.get(required);
        let holds = |valuation: u32, facts: &Facts| match artifact {
            Some(bit) => facts.has(*bit),
            None => flow.judge.established(required, valuation, facts),
        };
        let missing: Vec<u32> = state.iter().filter(|(v, facts)| !holds(*v, facts)).map(|(v, _)| *v).collect();
        if missing.is_empty() {
            continue;
        }
        let what = if artifact.is_some() { "artifact" } else { "gate" };
        let message = format!(
            "the stage `{}` requires the {what} `{required}`, which is not established on every path to it{}",
            stage.id,
            when(flow, &missing, state.len())
        );
        let hint = match artifact {
            Some(_) => format!("give `{required}` before, on each path"),
            None => format!("establish `{required}` after the last stage that changes what it is bound to"),
        };
        breaches.add(
            required,
            crate::diagnostic::Diagnostic::error(Code::NOT_ESTABLISHED, stage.place, message).hint(hint),
        );
    }
}

fn done(
    flow: &DataFlow<'_, '_>,
    instance: &Instance<'_>,
    node: &Node<'_>,
    edge: &Edge,
    out: &State,
    breaches: &mut Breaches,
) {
    let each: Option<&Each> = instance.caller.map(|(_, each)| each);
    if each.is_some_and(|each| each.over == Over::It) || out.is_empty() {
        return;
    }
    let who = if each.is_some() { "unit" } else { "run" };
    if each.is_none_or(|each| each.makes == Makes::Accepted) {
        for (name, gate) in &flow.graph.protocol.gates {
            let mandatory = if each.is_some() { &gate.mandatory_unit } else { &gate.mandatory_run };
            let Some(condition) = mandatory else { continue };
            let owed = |v: u32| flow.judge.eval(condition, v) != Truth::False;
            let missing = out.iter().filter(|(v, facts)| owed(*v) && !flow.judge.established(name, *v, facts));
            let missing: Vec<u32> = missing.map(|(v, _)| *v).collect();
            if missing.is_empty() {
                continue;
            }
            let message = format!(
                "the stage `{}` ends the {who} on `{}` while its mandatory gate `{name}` is not established{}",
                node.stage.id,
                edge.outcome,
                when(flow, &missing, out.len())
            );
            let hint = format!("establish `{name}` after the last stage that changes what it is bound to");
            let breach = crate::diagnostic::Diagnostic::error(Code::NOT_GATED, edge.place, message);
            breaches.add(&format!("{name} {}", node.stage.id), breach.hint(hint).other(gate.place));
        }
    }
    // Also where nobody writes: what is judged in a tree of its own is no part of what is handed over.
    let lands = out.iter().all(|(_, facts)| facts.has(flow.space.landed));
    if each.is_some_and(|each| each.trees == Trees::Own) && !lands {
        let message =
            format!("the stage `{}` ends the unit on `{}` and its work has not landed", node.stage.id, edge.outcome);
        breaches.error(
            Code::NOT_LANDED,
            edge.place,
            message,
            "put a `land: run` stage before `done`, or write `trees: shared`",
        );
    }
}

/// Under which values something is missing: those that all cases share, else one case; nothing when it is always.
pub(super) fn when(flow: &DataFlow<'_, '_>, missing: &[u32], all: usize) -> String {
    let common = flow.space.describe_common(missing);
    match missing.first() {
        Some(_) if !common.is_empty() => format!(" (when {common})"),
        Some(first) if missing.len() < all => format!(" (such as when {})", flow.space.describe(*first)),
        _ => String::new(),
    }
}
