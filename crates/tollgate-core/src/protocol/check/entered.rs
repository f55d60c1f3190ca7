//! *gated*: a run succeeds only after it entered every `each` whose units one of its mandatory gates asks to be worked on.
//!
//! Units exist once an `each` over them was entered, and `every unit …` holds while there is none. A path around the `each`
//! would therefore pass such a gate without any work. A gate that accepts units in the state `new` asks for none. Several stages may run over the same units: one of them is enough.
//! A stage that its `when` skips is not entered, unless inputs alone skip it and, with these inputs, no gate is mandatory for units.

use std::collections::{BTreeMap, VecDeque};

use super::super::Outcome;
use super::super::condition::{Condition, Quantifier, SetKind};
use super::super::graph::{End, Graph};
use super::super::model::{Gate, Kind, Over};
use super::Breaches;
use super::dataflow::{DataFlow, outcome_of};
use super::gated::{parts, when};
use super::space::{Facts, State};
use super::truth::Truth;
use crate::code::Code;
use crate::diagnostic::Diagnostic;
use crate::id::{GateId, StageId};

/// Places and valuations that are looked at for the paths of one check; a breach after that has no path in its message.
const PLACES_MAX: usize = 1_000_000;
/// Stages of a path, and names of stages over the same units, that a message shows.
const SHOWN_MAX: usize = 12;

pub(super) fn check(flow: &DataFlow<'_, '_>, breaches: &mut Breaches) {
    let gates = flow.graph.protocol.gates.iter().filter(|(_, gate)| gate.mandatory_run.is_some());
    let gates: Vec<(&GateId, &Gate)> = gates.filter(|(_, gate)| asks_for_work(flow.graph, gate)).collect();
    let Some(main) = flow.instances.first().filter(|_| !gates.is_empty()) else { return };
    let mut places_left = PLACES_MAX;
    for (over, stages) in sets(flow) {
        let mut around = None;
        for point in main.base..main.base + flow.graph.flows[main.flow].nodes.len() {
            for (index, edge) in flow.node(point).edges.iter().enumerate().filter(|(_, edge)| edge.to == End::Done) {
                for (name, gate) in &gates {
                    let missing = missing(flow, &flow.points[point].out[index], name, gate, over);
                    if missing.is_empty() {
                        continue;
                    }
                    let around = around.get_or_insert_with(|| Around::search(flow, over, &mut places_left));
                    let path = around.path(flow, (point, index), &missing);
                    let when = when(flow, &missing, flow.points[point].out[index].len());
                    let (stage, outcome, each) = (&flow.node(point).stage.id, &edge.outcome, either(&stages));
                    let message = format!(
                        "the stage `{stage}` ends the run on `{outcome}` without entering {each}, and the mandatory gate `{name}` then holds over no unit{when}{path}"
                    );
                    let hint = format!(
                        "route this path through {each}; where inputs alone skip that, make each gate that is mandatory for units so under the other values alone (`mandatory: {{unit: {{INPUT: [VALUES]}}}}`), or make `{name}` mandatory only where there are units"
                    );
                    let breach = Diagnostic::error(Code::NOT_GATED, edge.place, message);
                    breaches.add(&format!("{name} {stage} {each}"), breach.hint(hint).other(gate.place));
                }
            }
        }
    }
}

/// Whether a gate refuses units on which nobody has begun: it asks for work, and without any unit it holds all the same.
fn asks_for_work(graph: &Graph<'_>, gate: &Gate) -> bool {
    parts(graph, gate).into_iter().any(|part| {
        let Condition::Set { quantifier, set: SetKind::Unit, is, .. } = part else { return false };
        let new = is.iter().any(|state| &**state == "new");
        !is.is_empty() && (*quantifier == Quantifier::Every) != new
    })
}

/// The valuations of an end for which a gate is mandatory and the `each` over these units was not entered on every path.
fn missing(flow: &DataFlow<'_, '_>, out: &State, name: &GateId, gate: &Gate, over: &Over) -> Vec<u32> {
    let entered = |facts: &Facts| flow.space.entered(over).is_none_or(|bit| facts.has(bit));
    let owed = |valuation: u32| {
        let mandatory = gate.mandatory_run.as_ref();
        mandatory.is_some_and(|condition| flow.judge.eval(condition, valuation) != Truth::False)
            // Where its variables decide a gate, it reads no unit.
            && flow.judge.gate(name, valuation) != Truth::True
    };
    out.iter()
        .filter(|(valuation, facts)| !entered(facts) && owed(*valuation))
        .map(|(valuation, _)| *valuation)
        .collect()
}

/// The stages, one of which has to be entered, in words.
fn either(stages: &[&StageId]) -> String {
    let shown: Vec<String> = stages.iter().take(SHOWN_MAX).map(|id| format!("`{id}`")).collect();
    shown.join(" or ")
}

/// The sets of units that the run itself works on, and the stages that run over each.
fn sets<'p>(flow: &DataFlow<'_, 'p>) -> Vec<(&'p Over, Vec<&'p StageId>)> {
    let mut sets: Vec<(&Over, Vec<&StageId>)> = Vec::new();
    for instance in flow.instances.iter().filter(|instance| !instance.of_unit) {
        for node in &flow.graph.flows[instance.flow].nodes {
            let Kind::Each(each) = &node.stage.kind else { continue };
            match sets.iter_mut().find(|(over, _)| **over == each.over) {
                Some((_, stages)) if stages.contains(&&node.stage.id) => {}
                Some((_, stages)) => stages.push(&node.stage.id),
                None => sets.push((&each.over, vec![&node.stage.id])),
            }
        }
    }
    sets
}

/// A point and a valuation with which it is reached.
type Place = (usize, u32);

/// An edge: its point and its number among the edges of its node.
type Way = (usize, usize);

/// Everything that is reached without entering an `each` over one set of units.
struct Around {
    /// From where each place was reached first.
    from: BTreeMap<Place, Option<Place>>,
    /// From where each end of main was reached first: by the edge that leads to it, and the valuation.
    ends: BTreeMap<(Way, u32), Place>,
}

impl Around {
    /// Breadth first, so that paths are short.
    fn search(flow: &DataFlow<'_, '_>, avoided: &Over, places_left: &mut usize) -> Self {
        let mut around = Self { from: BTreeMap::new(), ends: BTreeMap::new() };
        let mut open: VecDeque<Place> = VecDeque::new();
        for (valuation, _) in flow.start() {
            around.from.insert((0, valuation), None);
            open.push_back((0, valuation));
        }
        while let Some(place @ (point, valuation)) = open.pop_front() {
            let node = flow.node(point);
            let is_avoided = matches!(&node.stage.kind, Kind::Each(each) if each.over == *avoided);
            if is_avoided && flow.has_no_units(node.stage, valuation) {
                continue;
            }
            if *places_left == 0 {
                break;
            }
            *places_left -= 1;
            let here = vec![(valuation, Facts::default())];
            let (runs, skips) = (flow.entered(node.stage, &here, true), flow.entered(node.stage, &here, false));
            let mut next: Vec<Place> = Vec::new();
            let in_place = flow.in_place(point);
            if let Some(child) = in_place {
                next.extend(runs.iter().map(|(valuation, _)| (flow.instances[child].base, *valuation)));
            }
            for (index, edge) in node.edges.iter().enumerate() {
                if (in_place.is_some() || is_avoided) && edge.outcome != Outcome::Skipped {
                    continue;
                }
                for (valuation, _) in flow.carried(point, index, &runs, &skips) {
                    around.leave(flow, place, (point, index), valuation, &mut next);
                }
            }
            for to in next {
                around.from.entry(to).or_insert_with(|| {
                    open.push_back(to);
                    Some(place)
                });
            }
        }
        around
    }

    /// Follows an edge of a point to the next place, out of the flows in place that it ends.
    fn leave(&mut self, flow: &DataFlow<'_, '_>, from: Place, way: Way, valuation: u32, next: &mut Vec<Place>) {
        let instance = &flow.instances[flow.points[way.0].instance];
        let end = &flow.node(way.0).edges[way.1].to;
        if let End::Node(node) = end {
            next.push((instance.base + node, valuation));
        } else if let (Some((caller, _)), Some(outcome)) = (instance.caller, outcome_of(end)) {
            let edges = flow.node(caller).edges.iter().enumerate().filter(|(_, edge)| edge.outcome == outcome);
            edges.for_each(|(index, _)| self.leave(flow, from, (caller, index), valuation, next));
        } else if *end == End::Done {
            self.ends.entry((way, valuation)).or_insert(from);
        }
    }

    /// The path over an edge to an end of main, with one of these valuations, as the last part of a message.
    fn path(&self, flow: &DataFlow<'_, '_>, way: Way, valuations: &[u32]) -> String {
        let mut at = valuations.iter().find_map(|valuation| self.ends.get(&(way, *valuation)).copied());
        let mut stages = vec!["done"];
        while let Some(place) = at {
            stages.push(&*flow.node(place.0).stage.id);
            at = self.from.get(&place).copied().flatten();
        }
        let cut = stages.len() > SHOWN_MAX;
        stages.truncate(SHOWN_MAX);
        stages.reverse();
        match stages.len() {
            1 => String::new(),
            _ => format!(": {}{}", if cut { "… → " } else { "" }, stages.join(" → ")),
        }
    }
}
