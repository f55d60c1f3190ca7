//! What changes when something is written, given or amended, and which gates that kills.

use std::collections::{BTreeMap, BTreeSet};

use super::super::condition::{Condition, SetKind};
use super::super::graph::Graph;
use super::super::model::{Gate, Kind, Protocol, Resource};
use super::space::{Facts, Space};
use crate::Name;
use crate::id::RoleId;

/// Which resources change together, and which gates are bound to them.
pub(super) struct Changes<'a> {
    protocol: &'a Protocol,
    space: &'a Space,
    /// The areas an artifact's path may lie in; none for one outside the tree.
    homes: BTreeMap<&'a str, Vec<&'a Name>>,
}

impl<'a> Changes<'a> {
    pub fn new(protocol: &'a Protocol, space: &'a Space) -> Self {
        let home = |path: &Name| {
            // What stands in braces is known only at run time.
            if path.starts_with('{') {
                return protocol.areas.iter().map(|area| &area.name).collect();
            }
            let path = sample(path);
            let area =
                protocol.areas.iter().find(|area| area.patterns.iter().any(|p| fast_glob::glob_match(&**p, &*path)));
            area.map(|area| &area.name).into_iter().collect::<Vec<_>>()
        };
        let homes = protocol.artifacts.iter();
        let homes =
            homes.map(|(name, artifact)| (&**name, artifact.path.as_ref().map(home).unwrap_or_default())).collect();
        Self { protocol, space, homes }
    }

    /// Everything that changes when these resources are touched.
    fn touched(&self, names: &[Resource]) -> BTreeSet<Resource> {
        let mut all: BTreeSet<Resource> = names.iter().cloned().collect();
        for name in names {
            if let Some(artifact) = self.protocol.artifacts.get(&**name) {
                let homes = self.homes.get(&**name).into_iter().flatten();
                all.extend(homes.map(|area| Resource::Named((*area).clone())));
                if artifact.path.is_some() {
                    all.insert(Resource::Tree);
                }
                // A document brings its criteria with it; units and requirements are named where they are given.
                if artifact.schema.is_some() {
                    all.insert(Resource::Criteria);
                }
            }
            if *name == Resource::Tree {
                all.extend(self.areas());
            }
        }
        let is_named = |area: &&Name| names.iter().any(|name| **name == ***area);
        let areas: Vec<&Name> = self.protocol.areas.iter().map(|area| &area.name).filter(is_named).collect();
        if !areas.is_empty() {
            all.insert(Resource::Tree);
            let moved = self.homes.iter().filter(|(_, homes)| homes.iter().any(|home| areas.contains(home)));
            all.extend(moved.map(|(artifact, _)| Resource::from(*artifact)));
        }
        all
    }

    /// What a gate is bound to, itself or through gates that it reads.
    fn rests_on(&self, gate: &'a Gate) -> impl Iterator<Item = &'a Resource> {
        self.protocol.with_read(std::iter::once(gate)).into_iter().flat_map(|gate| &gate.bound_to)
    }

    /// The facts that end when these resources are touched: gates bound to them, and `landed` with the tree.
    pub fn kills(&self, names: &[Resource]) -> Facts {
        if names.is_empty() {
            return Facts::default();
        }
        let touched = self.touched(names);
        let mut kills = self.gates_where(|gate| self.rests_on(gate).any(|resource| touched.contains(resource)));
        if touched.contains(&Resource::Tree) {
            kills.set(self.space.landed);
        }
        kills
    }

    /// The facts bound to the tree as a whole.
    pub fn tree(&self) -> Facts {
        self.gates_where(|gate| self.rests_on(gate).any(|resource| *resource == Resource::Tree))
    }

    /// The facts that speak of what state units are in.
    pub fn unit_states(&self) -> Facts {
        self.gates_where(|gate| {
            let reads =
                |part: &Condition| matches!(part, Condition::Set { set: SetKind::Unit, is, .. } if !is.is_empty());
            self.protocol.with_read(std::iter::once(gate)).into_iter().any(|gate| gate.holds.parts().any(reads))
        })
    }

    fn gates_where(&self, is: impl Fn(&'a Gate) -> bool) -> Facts {
        let mut facts = Facts::default();
        let found = self.protocol.gates.iter().filter(|(_, gate)| is(gate));
        found.filter_map(|(name, _)| self.space.gates.get(&**name)).for_each(|bit| facts.set(*bit));
        facts
    }

    /// Every area of the tree.
    pub fn areas(&self) -> Vec<Resource> {
        self.protocol.areas.iter().map(|area| Resource::Named(area.name.clone())).collect()
    }
}

/// What a flow may do to its caller, with everything it runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Reach {
    /// Resources its stages write, give or amend.
    pub touches: BTreeSet<Resource>,
    /// Roles that write in it.
    pub writers: BTreeSet<RoleId>,
}

/// What each flow may do, in the order of the graph's flows.
pub(super) fn reaches(graph: &Graph<'_>) -> Vec<Reach> {
    let mut reaches: Vec<Reach> = graph.flows.iter().map(|_| Reach::default()).collect();
    for index in graph.order.iter().flatten() {
        let mut reach = Reach::default();
        for node in &graph.flows[*index].nodes {
            reach.touches.extend(node.stage.gives.iter().cloned());
            reach.touches.extend(node.edges.iter().flat_map(|edge| &edge.amends).cloned());
            match &node.stage.kind {
                Kind::Dispatch { role } => {
                    let writes = graph.protocol.roles.get(role).map(|role| role.writes.as_slice()).unwrap_or_default();
                    if !writes.is_empty() {
                        reach.writers.insert(role.clone());
                        reach.touches.extend(writes.iter().cloned().map(Resource::Named));
                    }
                }
                Kind::Each(each) => {
                    let callee = graph.index(&each.flow).map(|callee| reaches[callee].clone()).unwrap_or_default();
                    reach.touches.extend(callee.touches);
                    reach.writers.extend(callee.writers);
                }
                Kind::Ask(_) | Kind::Check { .. } | Kind::Land(_) => {}
            }
        }
        reaches[*index] = reach;
    }
    reaches
}

/// A path like those a template makes.
fn sample(template: &str) -> String {
    let mut path = String::new();
    let mut inside = false;
    for c in template.chars() {
        match c {
            '{' => inside = true,
            '}' => {
                inside = false;
                path.push('x');
            }
            _ if inside => {}
            '*' => path.push('x'),
            _ => path.push(c),
        }
    }
    path
}
