//! Protocols and contracts that a person names, read and checked before a run is pinned to them.

use std::collections::BTreeMap;

use tollgate_contract::registry::Contracts;
use tollgate_core::Name;
use tollgate_core::diagnostic::Severity;
use tollgate_core::protocol::{self, Dialects, Protocol};

use super::ServiceError;

/// Reads and checks a protocol with the contracts that can be named.
pub fn checked(text: &str, contracts: &Contracts) -> Result<Protocol, ServiceError> {
    let (protocol, mut diagnostics) = protocol::read(text);
    let Some(protocol) = protocol else { return Err(ServiceError::Protocol(diagnostics)) };
    diagnostics.extend(protocol::check(&protocol, &dialects(contracts)));
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err(ServiceError::Protocol(diagnostics));
    }
    Ok(protocol)
}

/// What contracts declare.
pub fn dialects(contracts: &Contracts) -> Dialects {
    let mut dialects = Dialects::default();
    for (id, declaration) in contracts.declarations() {
        dialects.add(&id, declaration);
    }
    for (id, declaration) in contracts.document_declarations() {
        dialects.add_document(&id, declaration);
    }
    dialects
}

/// The contracts of this build, and those of these definitions.
pub fn contracts(definitions: &BTreeMap<Name, String>) -> Result<Contracts, ServiceError> {
    let mut contracts = Contracts::default();
    for (name, text) in definitions {
        contracts.add(name, text).map_err(|wrong| ServiceError::Contract { name: name.clone(), wrong })?;
    }
    Ok(contracts)
}
