//! From the model to the graph.

use std::collections::{BTreeMap, BTreeSet};

use super::super::Outcome;
use super::super::dialects::Dialects;
use super::super::model::{Ensures, Kind, Owner, Protocol, Resource, Route, Rule, Stage, Target};
use super::outcomes::{needed, stands_for, table};
use super::{Edge, End, Fault, FlowGraph, Graph, Mode, Node, Origin, SIZE_MAX, Way};
use crate::Name;
use crate::diagnostic::Place;
use crate::id::GateId;

/// Compiles a protocol. Always gives a graph; what is wrong is among its faults.
pub fn build<'p>(protocol: &'p Protocol, dialects: &Dialects) -> Graph<'p> {
    let mut graph = Graph { protocol, flows: Vec::new(), order: None, faults: Vec::new() };
    let indices: BTreeMap<&str, usize> = protocol.flows.iter().enumerate().map(|(i, f)| (&*f.name, i)).collect();
    let order = call_order(protocol, &indices, &mut graph.faults);
    let needed = needed(protocol);
    let asks = protocol.asks.iter().map(|ask| (&*ask.id, ask)).collect();
    let mut compiled: Vec<Option<FlowGraph<'p>>> = protocol.flows.iter().map(|_| None).collect();
    let mut size = 0;
    let sequence = order.clone().unwrap_or_else(|| (0..protocol.flows.len()).collect());
    for index in sequence {
        let flow = &protocol.flows[index];
        let stages = flow.stages.iter().enumerate().map(|(i, stage)| (&*stage.id, i)).collect();
        let mut builder = Builder {
            protocol,
            dialects,
            asks: &asks,
            needed: &needed,
            stages,
            is_main: &*flow.name == "main",
            callees: &indices,
            compiled: &compiled,
            nodes: flow.stages.iter().map(|stage| Node { stage, origin: None, edges: Vec::new() }).collect(),
            copies: BTreeMap::new(),
            faults: &mut graph.faults,
            size: &mut size,
        };
        builder.run();
        let nodes = builder.nodes;
        let raises = raises(&nodes);
        compiled[index] = Some(FlowGraph { flow, nodes, raises });
    }
    graph.order = order;
    graph.flows = compiled.into_iter().flatten().collect();
    if size > SIZE_MAX {
        graph.faults.push(Fault::TooLarge);
    }
    graph
}

struct Builder<'a, 'p> {
    protocol: &'p Protocol,
    dialects: &'a Dialects,
    asks: &'a BTreeMap<&'p str, &'p Stage>,
    needed: &'a BTreeSet<Name>,
    stages: BTreeMap<&'p str, usize>,
    is_main: bool,
    callees: &'a BTreeMap<&'p str, usize>,
    compiled: &'a [Option<FlowGraph<'p>>],
    nodes: Vec<Node<'p>>,
    /// Copies of asks by where they are put.
    copies: BTreeMap<(&'p str, Origin), usize>,
    faults: &'a mut Vec<Fault<'p>>,
    size: &'a mut usize,
}

/// One outcome on its way to becoming edges.
struct Draft {
    outcome: Outcome,
    /// The node that `again` means: the one whose rule it is.
    again: usize,
    mode: Mode,
    way: Way,
    ensures: Vec<GateId>,
    amends: Vec<Resource>,
    place: Place,
}

impl<'p> Builder<'_, 'p> {
    fn run(&mut self) {
        let mut next = 0;
        // Copies of asks are appended while the list is walked.
        while next < self.nodes.len() && *self.size <= SIZE_MAX {
            *self.size += 1;
            if self.nodes[next].origin.is_some() {
                self.ask_edges(next)
            } else {
                self.stage_edges(next)
            }
            *self.size += self.nodes[next].edges.len();
            next += 1;
        }
    }

    fn callee(&self, stage: &Stage) -> Option<&FlowGraph<'p>> {
        let Kind::Each(each) = &stage.kind else { return None };
        self.compiled.get(*self.callees.get(&*each.flow)?)?.as_ref()
    }

    fn outcomes_of(&self, stage: &Stage) -> Vec<Outcome> {
        let raises: Vec<Name> = self.callee(stage).map(|c| c.raises.keys().cloned().collect()).unwrap_or_default();
        table(stage, self.protocol, self.dialects, &raises)
    }

    fn stage_edges(&mut self, node: usize) {
        let stage = self.nodes[node].stage;
        for outcome in self.outcomes_of(stage) {
            if let Outcome::Raised(raised) = &outcome {
                self.raise_edges(node, &outcome, raised);
                continue;
            }
            let Some((rule, owner)) = self.protocol.route(stage, &outcome) else {
                self.faults.push(Fault::NotRouted { stage, outcome });
                continue;
            };
            let place = if owner == Owner::Stage { rule.place } else { stage.place };
            let ensures = match &rule.route.ensures {
                Ensures::Gates(gates) => gates.clone(),
                Ensures::Nothing | Ensures::Origin => Vec::new(),
            };
            let mode = self.mode(stage, &outcome);
            let amends = rule.route.amends.clone();
            self.default_edge(node, rule, &outcome, place);
            let draft = Draft { outcome, again: node, mode, way: Way::Plain, ensures, amends, place };
            self.route_edges(node, node, &rule.route, draft);
        }
    }

    /// The edges of `raise x` at an `each`: its own route, else upward.
    fn raise_edges(&mut self, node: usize, outcome: &Outcome, raised: &str) {
        let stage = self.nodes[node].stage;
        let by_person = self.callee(stage).and_then(|callee| callee.raises.get(raised).copied()).unwrap_or(false);
        let mode = if by_person { Mode::Person } else { Mode::Automatic };
        let own = stage.on.iter().find(|rule| *rule.outcome == *outcome.word());
        let place = own.map_or(stage.place, |rule| rule.place);
        let (ensures, amends) = (Vec::new(), Vec::new());
        let draft = Draft { outcome: outcome.clone(), again: node, mode, way: Way::Plain, ensures, amends, place };
        match own {
            Some(rule) => self.route_edges(node, node, &rule.route, draft),
            None => self.raised(node, node, raised, draft),
        }
    }

    /// A raise leaves a flow; of main it goes where `otherwise` says.
    fn raised(&mut self, node: usize, origin: usize, raised: &str, draft: Draft) {
        if !self.is_main {
            return self.edge(node, End::Raise(raised.into()), draft);
        }
        let key = format!("raise {raised}");
        match self.protocol.otherwise.iter().find(|rule| *rule.outcome == *key) {
            // One step only: what a rule for a raise raises again has nowhere to go.
            Some(rule) if !matches!(rule.route.to, Target::Raise(_)) => {
                self.route_edges(node, origin, &rule.route, draft);
            }
            _ => {
                let stage = self.nodes[origin].stage;
                self.faults.push(Fault::Uncaught { raised: raised.into(), stage, place: draft.place });
            }
        }
    }

    fn ask_edges(&mut self, node: usize) {
        let ask = self.nodes[node].stage;
        let Some(origin) = self.nodes[node].origin.clone() else { return };
        for outcome in self.outcomes_of(ask) {
            let Some((rule, owner)) = self.protocol.route(ask, &outcome) else {
                self.faults.push(Fault::NotRouted { stage: ask, outcome });
                continue;
            };
            let place = if owner == Owner::Stage { rule.place } else { ask.place };
            let ensures = self.origin_gates(origin.node, &rule.route.ensures);
            let amends = rule.route.amends.clone();
            let mode = self.mode(ask, &outcome);
            self.default_edge(node, rule, &outcome, place);
            let draft = Draft { outcome, again: node, mode, way: Way::Plain, ensures, amends, place };
            self.route_edges(node, origin.node, &rule.route, draft);
        }
    }

    /// A timer's answer takes the option's route, but ensures nothing.
    fn default_edge(&mut self, node: usize, rule: &Rule, outcome: &Outcome, place: Place) {
        let Kind::Ask(ask) = &self.nodes[node].stage.kind else { return };
        if ask.default.as_ref().is_none_or(|default| *default.answer != *outcome.word()) {
            return;
        }
        let origin = self.nodes[node].origin.as_ref().map_or(node, |origin| origin.node);
        let draft = Draft {
            outcome: outcome.clone(),
            again: node,
            mode: Mode::Automatic,
            way: Way::Default,
            ensures: Vec::new(),
            amends: Vec::new(),
            place,
        };
        self.route_edges(node, origin, &rule.route, draft);
    }

    /// What bounds an outcome by itself: an answer is a person's, everything else nobody's.
    fn mode(&self, stage: &Stage, outcome: &Outcome) -> Mode {
        let answered = !matches!(outcome, Outcome::Cancelled | Outcome::Skipped);
        if matches!(stage.kind, Kind::Ask(_)) && answered { Mode::Person } else { Mode::Automatic }
    }

    fn origin_gates(&self, origin: usize, ensures: &Ensures) -> Vec<GateId> {
        match ensures {
            Ensures::Nothing => Vec::new(),
            Ensures::Gates(gates) => gates.clone(),
            Ensures::Origin => match &self.nodes[origin].stage.kind {
                Kind::Check { gates } => gates.clone(),
                Kind::Dispatch { .. } | Kind::Ask(_) | Kind::Each(_) | Kind::Land(_) => {
                    self.nodes[origin].stage.ensures.clone()
                }
            },
        }
    }

    /// The edges of a route: `to`, and `then` where it is limited.
    fn route_edges(&mut self, node: usize, origin: usize, route: &Route, draft: Draft) {
        let Some(then) = route.then.as_ref().filter(|_| route.limit.is_some()) else {
            let mode = if route.limit.is_some() { Mode::Limited } else { draft.mode };
            return self.target(node, origin, &route.to, None, Draft { mode, ..draft });
        };
        // The limit of a way out through an ask names the target it cut off.
        let again = draft.again;
        let cut_off = self.plain_end(origin, again, &route.to);
        let way = if draft.way == Way::Default { Way::Default } else { Way::Then };
        let (outcome, place, mode) = (draft.outcome.clone(), draft.place, draft.mode);
        let (ensures, amends) = (draft.ensures.clone(), draft.amends.clone());
        self.target(node, origin, &route.to, None, Draft { mode: Mode::Limited, ..draft });
        self.target(node, origin, then, cut_off, Draft { outcome, again, mode, way, ensures, amends, place });
    }

    /// The end of a target that needs no copy.
    fn plain_end(&self, origin: usize, again: usize, target: &Target) -> Option<End> {
        Some(match target {
            Target::Stage(id) => End::Node(*self.stages.get(&**id)?),
            Target::Again => End::Node(again),
            Target::Origin => End::Node(origin),
            Target::Done => End::Done,
            Target::Reported => End::Reported,
            Target::Dropped => End::Dropped,
            Target::Hold => End::Hold,
            Target::Raise(raised) => End::Raise(raised.clone()),
            Target::Ask(_) | Target::Back | Target::As(_) => return None,
        })
    }

    fn target(&mut self, node: usize, origin: usize, target: &Target, cut_off: Option<End>, draft: Draft) {
        match target {
            Target::Ask(name) => {
                let Some(ask) = self.asks.get(&**name).copied() else { return };
                let address = Origin { node: origin, outcome: draft.outcome.clone(), cut_off };
                let copy = match self.copies.get(&(&*ask.id, address.clone())) {
                    Some(copy) => *copy,
                    None => {
                        let copy = self.nodes.len();
                        self.copies.insert((&*ask.id, address.clone()), copy);
                        self.nodes.push(Node { stage: ask, origin: Some(address), edges: Vec::new() });
                        copy
                    }
                };
                self.edge(node, End::Node(copy), draft);
            }
            Target::Raise(raised) => self.raised(node, origin, raised, draft),
            Target::Back => {
                let end = self.nodes[node].origin.as_ref().and_then(|origin| origin.cut_off.clone());
                self.edge(node, end.unwrap_or(End::Node(origin)), draft);
            }
            Target::As(outcome) => self.as_edges(node, origin, outcome, draft),
            Target::Stage(_)
            | Target::Again
            | Target::Done
            | Target::Reported
            | Target::Dropped
            | Target::Hold
            | Target::Origin => {
                if let Some(end) = self.plain_end(origin, draft.again, target) {
                    self.edge(node, end, draft);
                }
            }
        }
    }

    /// `as x`: where the origin's outcome goes; not offered where the origin has it not.
    fn as_edges(&mut self, node: usize, origin: usize, outcome: &Outcome, draft: Draft) {
        let stage = self.nodes[origin].stage;
        let real = stands_for(self.protocol, self.needed, stage, outcome);
        let rule = real.and_then(|real| self.protocol.route(stage, &real));
        let Some((rule, _)) = rule else {
            if draft.mode == Mode::Automatic {
                let ask = self.nodes[node].stage;
                let place = draft.place;
                self.faults.push(Fault::OriginLacks { ask, answer: draft.outcome, origin: stage, place });
            }
            return;
        };
        let route = &rule.route;
        self.route_edges(node, origin, route, Draft { again: origin, ..draft });
    }

    fn edge(&mut self, node: usize, to: End, draft: Draft) {
        let Draft { outcome, again: _, mode, way, ensures, amends, place } = draft;
        self.nodes[node].edges.push(Edge { outcome, to, mode, ensures, amends, way, place });
    }
}

/// What a flow lets out, and whether only persons cause it.
fn raises(nodes: &[Node<'_>]) -> BTreeMap<Name, bool> {
    let mut raises = BTreeMap::new();
    for edge in nodes.iter().flat_map(|node| &node.edges) {
        if let End::Raise(raised) = &edge.to {
            let by_person = edge.mode == Mode::Person;
            raises.entry(raised.clone()).and_modify(|only| *only &= by_person).or_insert(by_person);
        }
    }
    raises
}

/// Flows after those they run; `None`, with the place, when that is impossible.
fn call_order<'p>(
    protocol: &'p Protocol,
    indices: &BTreeMap<&str, usize>,
    faults: &mut Vec<Fault<'p>>,
) -> Option<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Closed,
    }
    let calls: Vec<Vec<(usize, &Stage)>> = protocol
        .flows
        .iter()
        .map(|flow| {
            let each = |stage: &'p Stage| {
                let Kind::Each(each) = &stage.kind else { return None };
                indices.get(&*each.flow).map(|callee| (*callee, stage))
            };
            flow.stages.iter().filter_map(each).collect()
        })
        .collect();
    let mut marks = vec![Mark::New; calls.len()];
    let mut order = Vec::new();
    let mut circle = false;
    for start in 0..calls.len() {
        if marks[start] != Mark::New {
            continue;
        }
        // Depth first without recursion: flows may be many.
        marks[start] = Mark::Open;
        let mut path = vec![(start, 0)];
        while let Some((flow, next)) = path.last_mut() {
            let Some((callee, stage)) = calls[*flow].get(*next).copied() else {
                marks[*flow] = Mark::Closed;
                order.push(*flow);
                path.pop();
                continue;
            };
            *next += 1;
            match marks[callee] {
                Mark::New => {
                    marks[callee] = Mark::Open;
                    path.push((callee, 0));
                }
                Mark::Open => {
                    circle = true;
                    faults.push(Fault::Circle { stage, flow: protocol.flows[callee].name.clone() });
                }
                Mark::Closed => {}
            }
        }
    }
    (!circle).then_some(order)
}
