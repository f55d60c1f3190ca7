//! Intake: documents that wait for inputs which are still asked for, and what a run begins with once they are known.

use std::collections::BTreeMap;

use tollgate_contract::registry::Contracts;
use tollgate_core::Name;
use tollgate_core::digest::Digest;
use tollgate_core::protocol::Protocol;
use tollgate_core::protocol::model::{Value, VariableKind};
use tollgate_core::run::decide::{Opening, missing};
use tollgate_core::run::{self, Run};
use tollgate_core::scope::{self, Parts};

use super::documents::{Documents, as_they_stand, documents, no_bare_folders, scopes};
use super::{Service, ServiceError, Start};
use crate::executor::{DocumentErrors, lanes, read_document};
use crate::session::pinned_protocol::contracts_of;
use crate::session::{CommandError, LoadError};
use crate::workspace::Workspace;

/// What a document is pinned under that waits for inputs, before its name.
const GIVEN: &str = "given:";
/// With so many combinations of the missing inputs a document is tried.
const COMBINATIONS_MAX: usize = 256;

/// The pins of documents that wait for inputs.
pub(super) fn pins(given: &BTreeMap<Name, Vec<u8>>) -> impl Iterator<Item = (Name, Digest)> {
    given.iter().map(|(name, bytes)| (Name::from(format!("{GIVEN}{name}")), Digest::of(bytes)))
}

/// Tries documents with the inputs that may be answered: what passes with none of them is refused before anything starts.
pub(super) fn tried(protocol: &Protocol, contracts: &Contracts, start: &Start) -> Result<Documents, ServiceError> {
    let mut first = None;
    for inputs in combinations(protocol, &start.inputs) {
        match documents(protocol, contracts, &start.artifacts, &inputs) {
            Ok((_, objects)) => return Ok((BTreeMap::new(), objects)),
            Err(error) => drop(first.get_or_insert(error)),
        }
    }
    first.map_or_else(|| Ok(Documents::default()), Err)
}

/// What the inputs may come to: every value of those that have a few, one of the others.
fn combinations(protocol: &Protocol, known: &BTreeMap<Name, Value>) -> Vec<BTreeMap<Name, Value>> {
    let mut all = vec![known.clone()];
    for (name, variable) in missing(protocol, known) {
        let values: Vec<Value> = match &variable.kind {
            VariableKind::OneOf(values) => values.iter().cloned().map(Value::Text).collect(),
            VariableKind::ListOf(values) => vec![Value::List(values.clone())],
            VariableKind::Int => vec![Value::Int(1)],
            VariableKind::Text => vec![Value::Text(name.clone())],
        };
        let with = |inputs: &BTreeMap<Name, Value>, value: &Value| {
            let mut inputs = inputs.clone();
            inputs.insert(name.clone(), value.clone());
            inputs
        };
        all = all.iter().flat_map(|inputs| values.iter().map(|value| with(inputs, value))).collect();
        all.truncate(COMBINATIONS_MAX);
    }
    all
}

impl Service {
    /// What a run begins with: its documents, read with all its inputs, and its content, told apart by what they say.
    pub(super) fn opening(&self, run: &Run, inputs: &BTreeMap<Name, Value>) -> Result<Opening, ServiceError> {
        let contracts = contracts_of(&run.opened, &mut |digest| Ok(self.journal.object(digest)?))?;
        let sides = lanes(&run.protocol, inputs);
        let (mut artifacts, mut given) = (BTreeMap::new(), BTreeMap::new());
        for (pin, digest) in &run.opened.pins {
            let Some(name) = pin.strip_prefix(GIVEN).map(Name::from) else { continue };
            let Some(known) = run.protocol.artifacts.get(&name) else { return Err(ServiceError::NoArtifact(name)) };
            let refused = |wrong| ServiceError::Artifact { name: name.clone(), wrong };
            let lost = || DocumentErrors { why: vec![format!("its object {digest} is missing")], ..Default::default() };
            let bytes = self.journal.object(*digest).map_err(LoadError::from)?.ok_or_else(lost).map_err(refused)?;
            artifacts.insert(name.clone(), read_document(&contracts, known, &bytes, sides.clone()).map_err(refused)?);
            given.insert(name.clone(), bytes.to_vec());
        }
        let workspace = Workspace::of(&self.state, run)?;
        let paths = run::documents(&run.protocol, run.id, inputs);
        as_they_stand(&workspace, &paths, &given)?;
        let scopes = scopes(&artifacts, &run.opened.scopes);
        let parts = Parts { areas: run.area_patterns(), scopes, documents: paths };
        let tree = &workspace.base().tree;
        let entries = workspace.entries(tree)?;
        no_bare_folders(&parts.scopes, &entries).map_err(CommandError::Rejected)?;
        let content = scope::content(tree.name(), &entries, &parts);
        Ok(Opening { artifacts, content: Some(content) })
    }
}
