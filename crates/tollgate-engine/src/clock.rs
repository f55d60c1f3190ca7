//! The clock and the random numbers: the only module that reads either.
#![expect(clippy::disallowed_methods, reason = "this module owns the clock and the random numbers")]

use std::time::{SystemTime, UNIX_EPOCH};

use tollgate_core::id::RunId;
use tollgate_core::run_secret::RunSecret;

/// Where the engine takes the time from. The simulator has its own.
pub trait Clock: Send + Sync {
    /// Milliseconds since the epoch of Unix.
    fn now_ms(&self) -> u64;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl SystemClock {
    /// Seconds since 1970.
    pub fn now_s(self) -> u64 {
        self.now_ms() / 1000
    }
}

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

/// Bytes that nobody can guess.
fn random<const N: usize>() -> std::io::Result<[u8; N]> {
    let mut bytes = [0u8; N];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(bytes)
}

/// A text that nobody can guess.
pub fn nonce() -> std::io::Result<String> {
    let bytes: [u8; 16] = random()?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A new run id.
pub fn new_run_id() -> std::io::Result<RunId> {
    Ok(RunId::from_bits(u64::from_le_bytes(random()?)))
}

/// A new secret of a run.
pub fn new_run_secret() -> std::io::Result<RunSecret> {
    random().map(RunSecret::new)
}
