//! The protocol a run is pinned to, with the contracts of its own, read once per process: a digest says what each is, so it
//! never reads differently.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tollgate_core::Name;
use tollgate_core::contract::registry::Contracts;
use tollgate_core::diagnostic::Severity;
use tollgate_core::digest::Digest;
use tollgate_core::protocol::{self, Dialects, Protocol};

use crate::service::ServiceError;
use crate::session::LoadError;

/// So many protocols are kept; beyond that all are read again when they are asked for.
const KEPT_MAX: usize = 64;

/// Protocols by their digest and those of their contracts.
static KEPT: Mutex<BTreeMap<Vec<Digest>, Arc<Protocol>>> = Mutex::new(BTreeMap::new());

/// What the definition of a contract is pinned under, before its name.
const DEFINITION: &str = "definition:";

/// The name under which the definition of a contract is pinned.
pub fn definition(name: &str) -> Name {
    format!("{DEFINITION}{name}").into()
}

/// The protocol of this digest with the contracts that are pinned beside it. Their objects must be there, also when what they
/// say is known.
pub fn protocol(
    digest: Digest,
    pins: &BTreeMap<Name, Digest>,
    object: &mut dyn FnMut(Digest) -> Result<Option<Arc<[u8]>>, LoadError>,
) -> Result<Arc<Protocol>, LoadError> {
    let refuse = |why: &str| LoadError::Protocol { digest, why: why.to_owned() };
    let bytes = object(digest)?.ok_or_else(|| refuse("its object is missing"))?;
    let mut key = vec![digest];
    let mut definitions = Vec::new();
    for (name, digest) in pins.iter().filter_map(|(pin, digest)| Some((pin.strip_prefix(DEFINITION)?, *digest))) {
        let missing = || refuse(&format!("the definition of its contract `{name}` is missing"));
        definitions.push((name, object(digest)?.ok_or_else(missing)?));
        key.push(digest);
    }
    if let Some(kept) = KEPT.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok(kept.clone());
    }
    let mut contracts = Contracts::default();
    for (name, bytes) in definitions {
        let text = str::from_utf8(&bytes).map_err(|_| refuse(&format!("its contract `{name}` is not text")))?;
        let read = contracts.add(name, text);
        read.map_err(|_| refuse(&format!("its contract `{name}` cannot be read by this version")))?;
    }
    let text = str::from_utf8(&bytes).map_err(|_| refuse("it is not text"))?;
    let (protocol, diagnostics) = protocol::read(text);
    let first = || diagnostics.first().map_or_else(|| "it is no protocol".to_owned(), |d| d.message.clone());
    let protocol = protocol.ok_or_else(|| refuse(&first()))?;
    let protocol = Arc::new(Protocol { contracts, ..protocol });
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() >= KEPT_MAX {
        kept.clear();
    }
    kept.insert(key, protocol.clone());
    Ok(protocol)
}

/// Reads and checks a protocol with the contracts that can be named.
pub fn checked(text: &str, contracts: Contracts) -> Result<Protocol, ServiceError> {
    let (protocol, mut diagnostics) = protocol::read(text);
    let Some(protocol) = protocol else { return Err(ServiceError::Protocol(diagnostics)) };
    let protocol = Protocol { contracts, ..protocol };
    diagnostics.extend(protocol::check(&protocol, &dialects(&protocol.contracts)));
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
