//! Documents that are given with a run: read, checked, and where they say what a unit may change.

use std::collections::BTreeMap;

use tollgate_contract::registry::Contracts;
use tollgate_core::Name;
use tollgate_core::diagnostic::{Diagnostic, Place};
use tollgate_core::protocol::Protocol;
use tollgate_core::protocol::model::Value;
use tollgate_core::run::decide::{Open, OpenArtifact, Rejection, inputs};
use tollgate_core::scope::{self, Entry};
use tollgate_store::Object;

use super::{ServiceError, Start};
use crate::executor::{DocumentErrors, document_warnings, lanes, read_document};
use crate::session::CommandError;
use crate::workspace::Workspace;
use tollgate_core::id::UnitId;

/// The documents of a run, read, and their bytes.
pub(crate) type Documents = (BTreeMap<Name, OpenArtifact>, Vec<Object>);

/// Reads the documents that were given.
pub(crate) fn documents(
    protocol: &Protocol,
    contracts: &Contracts,
    given: &BTreeMap<Name, Vec<u8>>,
    inputs: &BTreeMap<Name, Value>,
) -> Result<Documents, ServiceError> {
    let (mut artifacts, mut objects) = (BTreeMap::new(), Vec::new());
    let sides = lanes(protocol, inputs);
    for (name, bytes) in given {
        let known = protocol.artifacts.get(name).ok_or_else(|| ServiceError::NoArtifact(name.clone()))?;
        let given = read_document(contracts, known, bytes, sides.clone())
            .map_err(|wrong| ServiceError::Artifact { name: name.clone(), wrong })?;
        artifacts.insert(name.clone(), given);
        objects.push(Object::new(bytes.clone()));
    }
    Ok((artifacts, objects))
}

/// What is agreed on and what is handed over are one text, or nobody knows which of them was meant.
pub(crate) fn as_they_stand(
    workspace: &Workspace,
    paths: &BTreeMap<Name, Name>,
    given: &BTreeMap<Name, Vec<u8>>,
) -> Result<(), ServiceError> {
    for (name, given) in given {
        let Some(path) = paths.get(name) else { continue };
        if workspace.file(&workspace.base().tree, path)?.is_some_and(|stands| stands != *given) {
            let why = format!("the repository has another text at `{path}`: give that one, or commit this one");
            let wrong = DocumentErrors { why: vec![why], ..DocumentErrors::default() };
            return Err(ServiceError::Artifact { name: name.clone(), wrong });
        }
    }
    Ok(())
}

/// What the documents of a run are worth a word about before it starts, by their names.
pub fn warnings(protocol: &Protocol, contracts: &Contracts, start: &Start) -> BTreeMap<Name, Vec<Diagnostic>> {
    // Inputs that do not fit are refused when the run starts.
    let sides = lanes(protocol, &inputs(protocol, &start.inputs).unwrap_or_default());
    let given = start.artifacts.iter().filter_map(|(name, bytes)| Some((name, protocol.artifacts.get(name)?, bytes)));
    given
        .map(|(name, known, bytes)| (name.clone(), document_warnings(contracts, known, bytes, sides.clone())))
        .collect()
}

/// What each unit may change: by what documents say, unless it was given otherwise.
pub(crate) fn scopes(
    artifacts: &BTreeMap<Name, OpenArtifact>,
    given: &BTreeMap<UnitId, Vec<Name>>,
) -> BTreeMap<UnitId, Vec<Name>> {
    let planned = artifacts.values().flat_map(|artifact| &artifact.plan.units);
    let planned = planned.filter(|unit| !unit.scope.is_empty()).map(|unit| (&unit.name, &unit.scope));
    planned.chain(given).map(|(unit, scope)| (unit.clone(), scope.clone())).collect()
}

/// Refuses a scope that names a folder as if it were a file: all of the unit's work would lie outside of it.
pub(crate) fn no_bare_folders(scopes: &BTreeMap<UnitId, Vec<Name>>, entries: &[Entry]) -> Result<(), Rejection> {
    for (unit, scope) in scopes {
        if let Some(folder) = scope.iter().find_map(|pattern| scope::folder_meant(pattern, entries)) {
            let why =
                format!("has the pattern `{folder}`, which is a folder: write `{folder}/**` for all that is in it");
            return Err(Rejection::Scope { unit: unit.clone(), why });
        }
    }
    Ok(())
}

/// Where documents say the scope of each unit, or would: those that were given otherwise are left out.
pub(crate) fn said_scopes(open: &Open) -> BTreeMap<Name, (Name, Place)> {
    let places = open.artifacts.iter().flat_map(|(name, artifact)| artifact.places.iter().map(move |at| (name, at)));
    let said = places.filter(|(_, (unit, _))| !open.scopes.contains_key(&***unit));
    said.map(|(name, (unit, place))| (unit.clone(), (name.clone(), *place))).collect()
}

/// A rejection of scopes, with the places that say them.
pub(crate) fn at_document(rejection: Rejection, said: &BTreeMap<Name, (Name, Place)>) -> ServiceError {
    let units = match &rejection {
        Rejection::Overlap { one, other, .. } => vec![one, other],
        Rejection::Scope { unit, .. } => vec![unit],
        _ => Vec::new(),
    };
    let found: Vec<&(Name, Place)> = units.into_iter().filter_map(|unit| said.get(&**unit)).collect();
    match found.first() {
        Some((name, _)) => {
            let places = found.iter().filter(|(document, _)| document == name).map(|(_, place)| *place).collect();
            ServiceError::Scopes { rejection, name: name.clone(), places }
        }
        None => CommandError::Rejected(rejection).into(),
    }
}
