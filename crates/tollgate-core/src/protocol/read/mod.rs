//! From the text of a protocol to its model: every key known, every name resolved, each error at its place.

mod conditions;
mod data;
mod names;
mod routes;
mod stages;

use std::collections::BTreeMap;
use std::rc::Rc;

use super::model::{Artifact, Projection, Protocol, Resource, Stage};
use crate::Name;
use crate::diagnostic::Diagnostic;
use crate::yaml::{self, Fields, Node, Problems};
use names::Names;

/// Reads a protocol; `None` when something is wrong that the checks could not live with.
pub fn read(text: &str) -> (Option<Protocol>, Vec<Diagnostic>) {
    match yaml::parse(text) {
        Ok(node) => read_tree(&node),
        Err(diagnostic) => (None, vec![diagnostic]),
    }
}

/// Reads a protocol from its tree.
pub fn read_tree(node: &Node) -> (Option<Protocol>, Vec<Diagnostic>) {
    let mut reader = Reader { problems: Problems::default(), names: Rc::new(Names::collect(node)) };
    let protocol = reader.protocol(node);
    let broken = reader.problems.has_errors();
    (protocol.filter(|_| !broken), reader.problems.into_list())
}

struct Reader {
    problems: Problems,
    /// Shared, so that a lookup can run while problems are kept.
    names: Rc<Names>,
}

impl Reader {
    fn protocol(&mut self, node: &Node) -> Option<Protocol> {
        let mut fields = Fields::open(node, "the protocol", &mut self.problems);
        let name = fields.need("protocol", &mut self.problems).and_then(|n| self.name(n, "the protocol's name"));
        let version = fields.need("version", &mut self.problems);
        let version = version.and_then(|n| self.problems.number(n, "the version"));
        let inputs = fields.take("inputs").map(|n| self.variables(n, "inputs")).unwrap_or_default();
        let vars = fields.take("vars").map(|n| self.variables(n, "vars")).unwrap_or_default();
        let attrs = fields.take("units").map(|n| self.attrs(n)).unwrap_or_default();
        let areas = fields.take("areas").map(|n| self.areas(n)).unwrap_or_default();
        let artifacts = fields.take("artifacts").map(|n| self.artifacts(n)).unwrap_or_default();
        let roles = fields.take("roles").map(|n| self.roles(n)).unwrap_or_default();
        let gates = fields.take("gates").map(|n| self.gates(n)).unwrap_or_default();
        let asks = fields.take("asks").map(|n| self.asks(n)).unwrap_or_default();
        let otherwise = fields.take("otherwise").map(|n| self.otherwise(n)).unwrap_or_default();
        let mut flows = fields.need("flows", &mut self.problems).map(|n| self.flows(n)).unwrap_or_default();
        flows.iter_mut().flat_map(|flow| &mut flow.stages).for_each(|stage| give_what_is_brought(stage, &artifacts));
        let projections = fields.take("projections").map(|n| self.projections(n)).unwrap_or_default();
        fields.close(&mut self.problems);
        self.shared_names(node);
        let (name, version) = (name?, version?);
        Some(Protocol {
            name,
            version,
            inputs,
            vars,
            attrs,
            areas,
            artifacts,
            roles,
            gates,
            asks,
            otherwise,
            flows,
            projections,
        })
    }

    fn asks(&mut self, node: &Node) -> Vec<Stage> {
        let entries = self.problems.entries(node, "asks");
        entries.iter().filter_map(|(key, ask)| self.shared_ask(key, ask)).collect()
    }

    fn projections(&mut self, node: &Node) -> BTreeMap<Name, Projection> {
        let entries = self.problems.entries(node, "projections");
        entries
            .iter()
            .filter_map(|(path, node)| {
                let renderer = self.problems.text(node, "a renderer")?;
                Some((path.text.clone(), Projection { renderer, place: path.place }))
            })
            .collect()
    }
}

/// A stage that gives a document gives what the document brings.
fn give_what_is_brought(stage: &mut Stage, artifacts: &BTreeMap<Name, Artifact>) {
    let documents = stage.gives.iter().filter_map(|given| artifacts.get(&**given));
    let brought: Vec<Resource> = documents.flat_map(|document| document.brings.iter().flatten()).cloned().collect();
    for resource in brought {
        if !stage.gives.contains(&resource) {
            stage.gives.push(resource);
        }
    }
}
