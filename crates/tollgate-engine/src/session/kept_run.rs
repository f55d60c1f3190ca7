//! A run as a snapshot keeps it. Another version of Tollgate may make another run of the same events, so what it kept is read as
//! nothing, and the run is replayed.

use serde::{Deserialize, Serialize};
use tollgate_core::run::Run;

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Serialize, Deserialize)]
struct Kept<R> {
    version: String,
    run: R,
}

/// The bytes of a snapshot.
pub fn to_bytes(run: &Run) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&Kept { version: VERSION.to_owned(), run })
}

/// The run in a snapshot; none where it is not one of this version.
pub fn from_bytes(bytes: &[u8]) -> Option<Run> {
    let kept: Kept<Run> = serde_json::from_slice(bytes).ok()?;
    (kept.version == VERSION).then_some(kept.run)
}
