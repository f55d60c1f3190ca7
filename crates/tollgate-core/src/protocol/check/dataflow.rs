//! The forward analysis: which valuations reach each node, with which facts on every path.
//!
//! A flow is analysed once per place that runs it. With `over: it` its states come from the caller and go back to it;
//! otherwise it starts with the caller's valuations, no gates, and nothing said about the subject. Facts only shrink and
//! valuations only grow, so the work list ends; what would take too long is refused.

use std::collections::BTreeSet;

use super::super::condition::Condition;
use super::super::dialects::Dialects;
use super::super::graph::{Edge, End, Graph, Node, SIZE_MAX};
use super::super::model::{Each, Given, Kind, Land, Over, Resource, Stage};
use super::super::{LandOutcome, Outcome};
use super::change::{Changes, Reach, reaches};
use super::documents;
use super::space::{Facts, Space, State, join, normal};
use super::truth::{Constants, Judge, Truth};
use crate::Name;
use crate::id::{GateId, RoleId};

/// Pairs of edge and valuation that are looked at before a protocol counts as too large.
const STEPS_MAX: usize = 20_000_000;

/// A flow as it is run from one place.
pub(super) struct Instance<'p> {
    pub flow: usize,
    /// The number of its first node among all nodes.
    pub base: usize,
    /// The `each` that runs it, and its node's number; none: main.
    pub caller: Option<(usize, &'p Each)>,
    /// Whether its subject is a unit.
    pub of_unit: bool,
    /// The combinations of inputs with which it can end in `done`; main in `reported`, too.
    pub done: BTreeSet<u32>,
}

/// One node of one instance.
#[derive(Default)]
pub(super) struct Point {
    pub instance: usize,
    pub state: State,
    /// The part of the state that its edges have not carried on yet.
    fresh: State,
    /// Whether its edges carry anything, in the order of the node's edges.
    pub live: Vec<bool>,
    /// The states of its edges that lead to an end.
    pub out: Vec<State>,
    /// The instance that an `each` runs.
    child: Option<usize>,
    /// What a flow run with `over: it` came back with, by outcome, and was not carried on yet.
    returned: Vec<(Outcome, State)>,
    /// What its edges do, worked out at the first visit.
    effects: Vec<Effect>,
}

/// What the units of a plan are taken for: only a run knows how many there are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lists {
    /// They may hold nothing, and `all` of nothing comes at once: nothing that can happen is left out.
    MayBeEmpty,
    /// They hold something: what a run comes by that has work to do.
    HoldSomething,
}

/// The result: every point with its state.
pub(super) struct DataFlow<'a, 'p> {
    pub graph: &'a Graph<'p>,
    dialects: &'a Dialects,
    pub space: &'a Space,
    pub judge: Judge<'a>,
    pub changes: Changes<'a>,
    pub reaches: Vec<Reach>,
    pub instances: Vec<Instance<'p>>,
    pub points: Vec<Point>,
    lists: Lists,
    steps: usize,
}

impl<'a, 'p> DataFlow<'a, 'p> {
    /// Runs the analysis; `None` when the protocol is too large.
    pub fn run(
        graph: &'a Graph<'p>,
        dialects: &'a Dialects,
        space: &'a Space,
        lists: Lists,
        constants: Constants,
    ) -> Option<Self> {
        let mut flow = Self {
            graph,
            dialects,
            space,
            judge: Judge { protocol: graph.protocol, space, constants },
            changes: Changes::new(graph.protocol, space),
            reaches: reaches(graph),
            instances: Vec::new(),
            points: Vec::new(),
            lists,
            steps: 0,
        };
        let main = graph.index("main")?;
        flow.instantiate(main, None, false)?;
        let mut list = BTreeSet::new();
        let start = flow.start();
        flow.feed(0, &start, &mut list);
        while let Some(point) = list.pop_first() {
            flow.visit(point, &mut list);
            if flow.steps > STEPS_MAX {
                return None;
            }
        }
        Some(flow)
    }

    /// Makes the points of a flow and of all that it runs.
    fn instantiate(&mut self, flow: usize, caller: Option<(usize, &'p Each)>, of_unit: bool) -> Option<usize> {
        let instance = self.instances.len();
        let base = self.points.len();
        let graph = self.graph;
        let nodes = &graph.flows[flow].nodes;
        if base + nodes.len() > SIZE_MAX {
            return None;
        }
        self.instances.push(Instance { flow, base, caller, of_unit, done: BTreeSet::new() });
        self.points.extend(nodes.iter().map(|node| Point {
            instance,
            live: vec![false; node.edges.len()],
            out: vec![State::new(); node.edges.len()],
            ..Point::default()
        }));
        for (i, node) in nodes.iter().enumerate() {
            if let Kind::Each(each) = &node.stage.kind
                && let Some(callee) = graph.index(&each.flow)
            {
                let of_unit = of_unit || each.over != Over::It;
                self.points[base + i].child = Some(self.instantiate(callee, Some((base + i, each)), of_unit)?);
            }
        }
        Some(instance)
    }

    /// Every combination of the inputs, with what is there before the first stage.
    pub fn start(&self) -> State {
        let protocol = self.graph.protocol;
        let mut facts = Facts::default();
        self.space.roles.values().for_each(|bit| facts.set(*bit));
        // Lanes exist by name; planned units must be given.
        let planned = |stage: &Stage| {
            let over = matches!(&stage.kind, Kind::Each(each) if each.over == Over::Units);
            over || stage.gives.contains(&Resource::Units)
        };
        if !protocol.flows.iter().flat_map(|flow| &flow.stages).any(planned) {
            facts.set(self.space.units);
        }
        let list = self.space.starts(protocol).into_iter().map(|valuation| {
            let mut facts = facts;
            for (name, artifact) in &protocol.artifacts {
                let there = match &artifact.given {
                    Given::ByStage => false,
                    Given::Input => true,
                    Given::InputWhen(condition) => self.judge.eval(condition, valuation) == Truth::True,
                };
                if there {
                    facts.set(self.space.artifacts[name]);
                    for (resource, bit) in [("units", self.space.units), ("requirements", self.space.requirements)] {
                        if documents::brings(artifact, resource, self.dialects) {
                            facts.set(bit);
                        }
                    }
                }
            }
            (valuation, facts)
        });
        self.space.free_atoms(normal(list.collect()))
    }

    /// The node behind a point.
    pub fn node(&self, point: usize) -> &'a Node<'p> {
        let instance = &self.instances[self.points[point].instance];
        &self.graph.flows[instance.flow].nodes[point - instance.base]
    }

    fn feed(&mut self, point: usize, state: &State, list: &mut BTreeSet<usize>) {
        let point_state = &mut self.points[point];
        let changed = join(&mut point_state.state, state);
        if !changed.is_empty() {
            join(&mut point_state.fresh, &changed);
            list.insert(point);
        }
    }

    /// The part of a state for which a stage's `when` has a truth value, with what that implies.
    pub fn entered(&self, stage: &Stage, state: &State, truth: bool) -> State {
        let Some(when) = &stage.when else {
            return if truth { state.clone() } else { State::new() };
        };
        let can = state.iter().filter(|(valuation, _)| self.judge.eval(when, *valuation).can_be(truth));
        can.map(|(valuation, facts)| (*valuation, facts.or(self.judge.implied(when, truth, *valuation)))).collect()
    }

    /// Whether an `each` that its `when` skips counts as entered: inputs alone decide that there is no work for units, and the gates
    /// say so, too. None of them is mandatory for units under these values.
    pub fn has_no_units(&self, stage: &Stage, valuation: u32) -> bool {
        let mut of_units = self.graph.protocol.gates.values().filter_map(|gate| gate.mandatory_unit.as_ref());
        self.is_decided_by_inputs(stage) && of_units.all(|when| self.judge.eval(when, valuation) == Truth::False)
    }

    /// Whether inputs that no stage changes decide alone if a stage is done.
    fn is_decided_by_inputs(&self, stage: &Stage) -> bool {
        let protocol = self.graph.protocol;
        let given = || protocol.flows.iter().flat_map(|flow| &flow.stages).flat_map(|stage| &stage.gives);
        let is_fixed = |name: &Name| protocol.inputs.contains_key(name) && given().all(|given| **given != **name);
        let read = || stage.when.iter().flat_map(Condition::atoms);
        let gates = read().filter_map(|atom| if let Condition::Holds(gate) = atom { Some(gate) } else { None });
        let through = gates.flat_map(|gate| protocol.gates.get(gate)).flat_map(|gate| gate.holds.atoms());
        let mut atoms = read().filter(|atom| !matches!(atom, Condition::Holds(_))).chain(through);
        atoms.all(|atom| matches!(atom, Condition::Var { name, .. } if is_fixed(name)))
    }

    /// Carries on what is new at a point: each valuation goes its way alone, so the rest need not be looked at again.
    fn visit(&mut self, point: usize, list: &mut BTreeSet<usize>) {
        let node = self.node(point);
        let instance = self.points[point].instance;
        let fresh = std::mem::take(&mut self.points[point].fresh);
        let mut runs = self.entered(node.stage, &fresh, true);
        let mut skips = self.entered(node.stage, &fresh, false);
        if let Kind::Each(each) = &node.stage.kind
            && let Some(bit) = self.space.entered(&each.over)
        {
            runs.iter_mut().for_each(|(_, facts)| facts.set(bit));
            let left_out = skips.iter_mut().filter(|(valuation, _)| self.has_no_units(node.stage, *valuation));
            left_out.for_each(|(_, facts)| facts.set(bit));
        }
        if self.points[point].effects.len() != node.edges.len() {
            self.points[point].effects =
                node.edges.iter().map(|edge| self.effect(node.stage, edge, instance)).collect();
        }
        let mut back = Vec::new();
        if let (Kind::Each(each), Some(child)) = (&node.stage.kind, self.points[point].child) {
            let entry = self.entry(each, child, &runs);
            self.feed(self.instances[child].base, &entry, list);
            back = std::mem::take(&mut self.points[point].returned);
        }
        for (index, edge) in node.edges.iter().enumerate() {
            self.steps += runs.len().max(skips.len()) + 1;
            let out = if in_place(node.stage) && edge.outcome != Outcome::Skipped {
                let came = back.iter().filter(|(name, _)| *name == edge.outcome);
                normal(came.flat_map(|(_, state)| state.iter().copied()).collect())
            } else {
                self.carried(point, index, &runs, &skips)
            };
            if out.is_empty() {
                continue;
            }
            self.points[point].live[index] = true;
            match &edge.to {
                End::Node(node) => self.feed(self.instances[instance].base + node, &out, list),
                end @ (End::Done | End::Reported | End::Dropped | End::Hold | End::Raise(_)) => {
                    let changed = join(&mut self.points[point].out[index], &out);
                    self.leave(instance, end, &changed, list);
                }
            }
        }
    }

    /// What an edge makes of the states with which its stage is done and skipped; the outcomes of a flow in place are its ends.
    pub fn carried(&self, point: usize, index: usize, runs: &State, skips: &State) -> State {
        let node = self.node(point);
        let (edge, effect) = (&node.edges[index], &self.points[point].effects[index]);
        match (&node.stage.kind, &edge.outcome) {
            (_, Outcome::Skipped) => skips.clone(),
            (Kind::Each(each), Outcome::All | Outcome::Some)
                if !(edge.outcome == Outcome::All && self.may_be_empty(each)) =>
            {
                // No unit is done whose flow never is.
                let done = self.points[point].child.map(|child| &self.instances[child].done);
                let can = |valuation: u32| done.is_some_and(|done| done.contains(&self.start_of(valuation)));
                let runs = runs.iter().filter(|(valuation, _)| can(*valuation)).copied().collect();
                self.transfer(node.stage, edge, effect, &runs)
            }
            _ => self.transfer(node.stage, edge, effect, runs),
        }
    }

    /// The instance that the flow of a point's `each` runs in, if it is run for the same subject.
    pub fn in_place(&self, point: usize) -> Option<usize> {
        self.points[point].child.filter(|_| in_place(self.node(point).stage))
    }

    /// Hands the state with which a flow ended back to the `each` that ran it.
    fn leave(&mut self, instance: usize, end: &End, state: &State, list: &mut BTreeSet<usize>) {
        let mut first = BTreeSet::new();
        if matches!(end, End::Done | End::Reported) {
            first = state.iter().map(|(valuation, _)| self.start_of(*valuation)).collect();
            first.retain(|start| self.instances[instance].done.insert(*start));
        }
        let (Some(outcome), Some((point, each))) = (outcome_of(end), self.instances[instance].caller) else { return };
        if each.over == Over::It && !state.is_empty() {
            self.points[point].returned.push((outcome, state.clone()));
            list.insert(point);
        }
        // Who runs it for each unit has waited for the first with these inputs that can be done.
        if each.over != Over::It && !first.is_empty() {
            let waited = |(valuation, _): &&(u32, Facts)| first.contains(&self.start_of(*valuation));
            let again = self.points[point].state.iter().filter(waited).copied().collect();
            join(&mut self.points[point].fresh, &again);
            list.insert(point);
        }
    }

    /// The combination of inputs with which a valuation started.
    fn start_of(&self, valuation: u32) -> u32 {
        self.space.start_of(self.graph.protocol, valuation)
    }

    fn may_be_empty(&self, each: &Each) -> bool {
        match &each.over {
            Over::Units => self.lists == Lists::MayBeEmpty,
            // Neither a list of lanes nor a list input is ever empty.
            Over::Lanes(_) | Over::Input(_) | Over::It => false,
        }
    }

    /// Whether `all` came somewhere only because a list may be empty.
    pub fn leans_on_empty_lists(&self) -> bool {
        self.instances.iter().any(|instance| {
            let entered = self.points[instance.base].state.iter();
            instance.caller.is_some_and(|(_, each)| self.may_be_empty(each))
                && entered.into_iter().any(|(valuation, _)| !instance.done.contains(&self.start_of(*valuation)))
        })
    }

    /// The state with which a flow starts.
    fn entry(&self, each: &Each, child: usize, state: &State) -> State {
        if each.over == Over::It {
            return state.clone();
        }
        let mut gone = Facts::one(self.space.landed);
        self.space.gates.values().for_each(|bit| gone.set(*bit));
        // A sibling, or an earlier pass, may have written already.
        for writer in &self.reaches[self.instances[child].flow].writers {
            gone.set(self.space.roles[&**writer]);
        }
        self.space.free_atoms(state.iter().map(|(valuation, facts)| (*valuation, facts.without(gone))).collect())
    }

    /// What an edge of a stage that was done makes of a state.
    fn transfer(&self, stage: &Stage, edge: &Edge, effect: &Effect, state: &State) -> State {
        let mut out = Vec::with_capacity(state.len());
        let asks = !edge.ensures.is_empty() || !stage.ensures.is_empty() || matches!(stage.kind, Kind::Check { .. });
        for (valuation, facts) in state {
            if asks && !self.possible(stage, edge, *valuation) {
                continue;
            }
            let facts = facts.without(effect.kills).or(effect.gens);
            match &effect.assigns {
                Assigns::Nothing => out.push((*valuation, facts)),
                Assigns::All(dims) => {
                    let mut split = vec![*valuation];
                    for (dim, values) in dims {
                        let spread = |v: u32| values.iter().map(move |value| self.space.with(v, *dim, *value));
                        split = split.into_iter().flat_map(spread).collect();
                    }
                    out.extend(split.into_iter().map(|valuation| (valuation, facts)));
                }
            }
        }
        if matches!(effect.assigns, Assigns::Nothing) { out } else { normal(out) }
    }

    /// Whether an outcome can come about under a valuation, as far as gates that read variables tell.
    fn possible(&self, stage: &Stage, edge: &Edge, valuation: u32) -> bool {
        let can_hold = |gate: &GateId| self.judge.gate(gate, valuation).can_be(true);
        let own = match (&stage.kind, &edge.outcome) {
            (Kind::Check { gates }, Outcome::Pass) => gates.iter().all(can_hold),
            (Kind::Check { gates }, Outcome::Fail) => gates.iter().any(|g| self.judge.gate(g, valuation).can_be(false)),
            (Kind::Dispatch { .. }, Outcome::Verdict(verdict)) if verdict.accepts() => {
                stage.ensures.iter().all(can_hold)
            }
            _ => true,
        };
        own && edge.ensures.iter().all(can_hold)
    }

    fn effect(&self, stage: &Stage, edge: &Edge, instance: usize) -> Effect {
        let mut effect = Effect { kills: self.changes.kills(&edge.amends), ..Effect::default() };
        for gate in &edge.ensures {
            effect.gens.set(self.space.gates[&**gate]);
        }
        match &stage.kind {
            Kind::Dispatch { role } => self.dispatch_effect(stage, role, edge, &mut effect),
            Kind::Ask(_) => {
                let chosen = |given: &Resource| {
                    let dim = self.space.dim(given)?;
                    Some((dim, vec![self.space.dims[dim].place(&edge.outcome.word())?]))
                };
                effect.assign(stage.gives.iter().filter_map(chosen).collect());
            }
            Kind::Check { gates } if edge.outcome == Outcome::Pass => {
                gates.iter().for_each(|gate| effect.gens.set(self.space.gates[&**gate]));
            }
            Kind::Check { .. } => {}
            Kind::Each(each) => {
                if let Some(callee) = self.graph.index(&each.flow) {
                    let reach = &self.reaches[callee];
                    let touches: Vec<Resource> = reach.touches.iter().cloned().collect();
                    effect.kills = effect.kills.or(self.changes.kills(&touches));
                    reach.writers.iter().for_each(|writer| effect.kills.set(self.space.roles[&**writer]));
                }
                // Units that are not as they should be: what was established of all units before is not so any more.
                if each.over != Over::It && edge.outcome != Outcome::All {
                    effect.kills = effect.kills.or(self.changes.unit_states());
                }
            }
            Kind::Land(land) => match (&edge.outcome, land) {
                (Outcome::Land(LandOutcome::Landed), Land::Run | Land::Base) => {
                    if self.instances[instance].of_unit {
                        effect.kills = effect.kills.or(self.changes.tree());
                    }
                    effect.gens.set(self.space.landed);
                }
                // The work now stands on the caller's tree, with the collisions in the files.
                (Outcome::Land(LandOutcome::Conflict), Land::Run) => {
                    effect.kills = effect.kills.or(self.changes.kills(&self.changes.areas()));
                }
                _ => {}
            },
        }
        effect
    }

    fn dispatch_effect(&self, stage: &Stage, role: &RoleId, edge: &Edge, effect: &mut Effect) {
        let writes = self.graph.protocol.roles.get(role).map(|role| role.writes.as_slice()).unwrap_or_default();
        let writes_to = writes.iter().cloned().map(Resource::Named);
        let touched: Vec<Resource> = writes_to.chain(stage.gives.iter().cloned()).collect();
        effect.kills = effect.kills.or(self.changes.kills(&touched));
        if !writes.is_empty() {
            effect.kills.set(self.space.roles[&**role]);
        }
        let accepts = matches!(edge.outcome, Outcome::Verdict(verdict) if verdict.accepts());
        if !accepts && edge.outcome != Outcome::OK {
            return;
        }
        stage.ensures.iter().for_each(|gate| effect.gens.set(self.space.gates[&**gate]));
        let mut dims = Vec::new();
        for given in &stage.gives {
            match given {
                Resource::Units => effect.gens.set(self.space.units),
                Resource::Requirements => effect.gens.set(self.space.requirements),
                Resource::Tree | Resource::Criteria | Resource::Findings | Resource::Scope | Resource::Named(_) => {
                    self.space.artifacts.get(&**given).into_iter().for_each(|bit| effect.gens.set(*bit));
                    let dim = self.space.dim(given);
                    dims.extend(dim.map(|dim| (dim, (0..self.space.dims[dim].values.len()).collect())));
                }
            }
        }
        effect.assign(dims);
    }
}

/// Whether a stage runs a flow for the same subject.
fn in_place(stage: &Stage) -> bool {
    matches!(&stage.kind, Kind::Each(each) if each.over == Over::It)
}

/// The outcome that the end of a flow in place is to the stage that runs it.
pub(super) fn outcome_of(end: &End) -> Option<Outcome> {
    match end {
        End::Done => Some(Outcome::All),
        End::Dropped => Some(Outcome::None),
        End::Raise(raised) => Some(Outcome::Raised(raised.clone())),
        // Only main ends as reported, and nothing runs it.
        End::Reported | End::Hold | End::Node(_) => None,
    }
}

/// What an edge does to every valuation alike.
#[derive(Default)]
struct Effect {
    kills: Facts,
    gens: Facts,
    assigns: Assigns,
}

impl Effect {
    fn assign(&mut self, dims: Vec<(usize, Vec<usize>)>) {
        if !dims.is_empty() {
            self.assigns = Assigns::All(dims);
        }
    }
}

/// The variables an edge assigns.
#[derive(Default)]
enum Assigns {
    #[default]
    Nothing,
    /// Each of these variables to any of these values.
    All(Vec<(usize, Vec<usize>)>),
}
