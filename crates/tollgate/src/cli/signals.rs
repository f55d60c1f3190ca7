//! Signals that ask this process to end.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::files;

/// Set when the person or the system asks this process to end. Where it cannot be, a signal ends the process at once.
pub fn stop() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let hangs_up = (!outlives_the_terminal()).then_some(SIGHUP);
    for signal in [SIGINT, SIGTERM].into_iter().chain(hangs_up) {
        signal_hook::flag::register(signal, Arc::clone(&stop)).ok();
    }
    stop
}

/// Whether whoever started this process wants it to go on when the terminal goes, as `nohup` does.
fn outlives_the_terminal() -> bool {
    const STATUS_BYTES_MAX: u64 = 64 * 1024;
    let status = files::read_text("/proc/self/status".as_ref(), STATUS_BYTES_MAX).unwrap_or_default();
    ignores(&status, SIGHUP)
}

/// Whether a signal is ignored, as the system says it of a process.
fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    mask & (1 << (signal - 1)) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_read_from_the_mask() {
        let status = "Name:\tx\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\nSigCgt:\tffffffffffffffff\n";
        assert!(ignores(status, SIGHUP) && !ignores(status, SIGINT) && !ignores(status, SIGTERM));
        assert!(!ignores("", SIGHUP));
    }
}
