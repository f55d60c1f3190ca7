//! What the content of a run is told apart by.

use std::collections::BTreeMap;

use super::state::Run;
use crate::Name;
use crate::diagnostic::Place;
use crate::id::RunId;
use crate::protocol::Protocol;
use crate::protocol::model::Value;
use crate::scope::{Area, Parts};

impl Run {
    /// What its content is told apart by now.
    pub fn parts(&self) -> Parts {
        let scoped = self.ledger.units.iter().filter(|unit| !unit.scope.is_empty());
        let scopes = scoped.map(|unit| (unit.name.clone(), unit.scope.clone())).collect();
        Parts { areas: self.area_patterns(), scopes, documents: documents(&self.protocol, self.id, &self.vars) }
    }

    /// Whether the last landing of an instance's own tree would not take a path, or collided there: who works there was told of
    /// it, and the next landing looks at it again.
    pub fn is_told_of(&self, instance: &str, path: &str) -> bool {
        let unit = self.instances.get(instance).and_then(|known| known.unit.as_ref()).and_then(|name| self.unit(name));
        let own = unit.and_then(|unit| unit.tree.as_ref()).filter(|own| !own.landed);
        own.is_some_and(|own| own.refused.iter().any(|named| **named == *path))
    }

    /// The areas as patterns in force.
    pub fn area_patterns(&self) -> Vec<Area> {
        let area = |name: &Name, patterns: &[Name]| Area {
            name: name.clone(),
            patterns: patterns.to_vec(),
            place: Place::default(),
        };
        self.areas.iter().map(|known| area(&known.name, &known.patterns)).collect()
    }
}

/// The path of each document that has one; what stands in braces is the run's digits or a variable.
pub fn documents(protocol: &Protocol, run: RunId, vars: &BTreeMap<Name, Value>) -> BTreeMap<Name, Name> {
    let texts = vars.iter().filter_map(|(name, value)| match value {
        Value::Text(text) => Some((format!("{{{name}}}"), text)),
        Value::Int(_) | Value::List(_) => None,
    });
    let texts: Vec<(String, &Name)> = texts.collect();
    let filled = |path: &Name| {
        let path = path.replace("{run}", run.digits());
        Name::from(texts.iter().fold(path, |path, (hole, text)| path.replace(hole, text)))
    };
    let with_path = protocol.artifacts.iter().filter_map(|(name, artifact)| Some((name, artifact.path.as_ref()?)));
    with_path.map(|(name, path)| (name.clone(), filled(path))).collect()
}
