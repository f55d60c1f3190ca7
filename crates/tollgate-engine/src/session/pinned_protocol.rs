//! The protocol and the contracts that a run is pinned to, read once per process: a digest says what each is, so that it never
//! reads differently.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tollgate_contract::registry::Contracts;
use tollgate_core::Name;
use tollgate_core::digest::Digest;
use tollgate_core::protocol::{self, Protocol};
use tollgate_core::run::event::RunOpened;

use super::LoadError;

/// So many of each are kept; beyond that all are read again when they are asked for.
const KEPT_MAX: usize = 64;

static PROTOCOLS: Kept<Digest, Protocol> = Kept::new();
static CONTRACTS: Kept<Vec<Digest>, Contracts> = Kept::new();

/// What was read, by what it was read from.
struct Kept<K, V>(Mutex<BTreeMap<K, Arc<V>>>);

impl<K: Ord, V> Kept<K, V> {
    const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    fn get(&self, key: K, read: impl FnOnce() -> Result<V, LoadError>) -> Result<Arc<V>, LoadError> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = lock().get(&key) {
            return Ok(kept.clone());
        }
        let value = Arc::new(read()?);
        let mut kept = lock();
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(key, value.clone());
        Ok(value)
    }
}

/// Where the objects of a run come from.
type Objects<'o> = &'o mut dyn FnMut(Digest) -> Result<Option<Arc<[u8]>>, LoadError>;

/// The pin of what a person configured about the project.
pub(crate) const PROJECT: &str = "project";
/// What the instructions of the repository are pinned under, before their file.
pub(crate) const INSTRUCTIONS: &str = "instructions:";
/// What the definition of a contract is pinned under, before its name.
const DEFINITION: &str = "definition:";

/// The name under which the definition of a contract is pinned.
pub fn definition(name: &str) -> Name {
    format!("{DEFINITION}{name}").into()
}

/// The protocol that a run is pinned to. The contracts that are pinned beside it must be readable too.
pub fn protocol_of(opened: &RunOpened, object: Objects<'_>) -> Result<Arc<Protocol>, LoadError> {
    let protocol = protocol(opened.protocol.digest, object)?;
    contracts_of(opened, object)?;
    Ok(protocol)
}

/// The protocol of a digest. Its object must be there, also when it was read before.
pub fn protocol(digest: Digest, object: Objects<'_>) -> Result<Arc<Protocol>, LoadError> {
    let refuse = |why: &str| LoadError::Protocol { digest, why: why.to_owned() };
    let bytes = object(digest)?.ok_or_else(|| refuse("its object is missing"))?;
    PROTOCOLS.get(digest, || {
        let text = str::from_utf8(&bytes).map_err(|_| refuse("it is not text"))?;
        let (protocol, diagnostics) = protocol::read(text);
        let first = || diagnostics.first().map_or_else(|| "it is no protocol".to_owned(), |d| d.message.clone());
        protocol.ok_or_else(|| refuse(&first()))
    })
}

/// The contracts of this build, and those that a run is pinned to. Their objects must be there, also when they were read before.
pub fn contracts_of(opened: &RunOpened, object: Objects<'_>) -> Result<Arc<Contracts>, LoadError> {
    let refuse = |why: String| LoadError::Protocol { digest: opened.protocol.digest, why };
    let pins = opened.pins.iter().filter_map(|(pin, digest)| Some((pin.strip_prefix(DEFINITION)?, *digest)));
    let (mut key, mut definitions) = (Vec::new(), Vec::new());
    for (name, digest) in pins {
        let missing = || refuse(format!("the definition of its contract `{name}` is missing"));
        definitions.push((name, object(digest)?.ok_or_else(missing)?));
        key.push(digest);
    }
    CONTRACTS.get(key, || {
        let mut contracts = Contracts::default();
        for (name, bytes) in &definitions {
            let text = str::from_utf8(bytes).map_err(|_| refuse(format!("its contract `{name}` is not text")))?;
            let read = contracts.add(name, text);
            read.map_err(|_| refuse(format!("its contract `{name}` cannot be read by this version")))?;
        }
        Ok(contracts)
    })
}
