//! The protocol a run is pinned to, read once per process: a digest says what it is, so it never reads differently.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tollgate_core::digest::Digest;
use tollgate_core::protocol::{self, Protocol};

use crate::session::LoadError;

/// So many protocols are kept; beyond that all are read again when they are asked for.
const KEPT_MAX: usize = 64;

static KEPT: Mutex<BTreeMap<Digest, Arc<Protocol>>> = Mutex::new(BTreeMap::new());

/// The protocol of this digest. Its object must be there, also when what it says is known.
pub fn protocol(
    digest: Digest,
    object: &mut dyn FnMut(Digest) -> Result<Option<Arc<[u8]>>, LoadError>,
) -> Result<Arc<Protocol>, LoadError> {
    let refuse = |why: &str| LoadError::Protocol { digest, why: why.to_owned() };
    let bytes = object(digest)?.ok_or_else(|| refuse("its object is missing"))?;
    if let Some(kept) = KEPT.lock().unwrap_or_else(PoisonError::into_inner).get(&digest) {
        return Ok(kept.clone());
    }
    let text = str::from_utf8(&bytes).map_err(|_| refuse("it is not text"))?;
    let (protocol, diagnostics) = protocol::read(text);
    let first = || diagnostics.first().map_or_else(|| "it is no protocol".to_owned(), |d| d.message.clone());
    let protocol = protocol.map(Arc::new).ok_or_else(|| refuse(&first()))?;
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() >= KEPT_MAX {
        kept.clear();
    }
    kept.insert(digest, protocol.clone());
    Ok(protocol)
}
