//! Signals that ask this process to end.

use std::ffi::OsString;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tollgate_app::files;

static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Set when the person or the system asks this process to end. Where it cannot be, a signal ends the process at once.
pub fn stop() -> Arc<AtomicBool> {
    let listen = || {
        let stop = Arc::new(AtomicBool::new(false));
        let hear = |signal| drop(signal_hook::flag::register(signal, Arc::clone(&stop)));
        // What takes no time is first: until it is heard, a signal ends the process.
        hear(SIGTERM);
        hear(SIGINT);
        if !outlives_the_terminal() {
            hear(SIGHUP);
        }
        stop
    };
    Arc::clone(STOP.get_or_init(listen))
}

/// Listens before anything else is done where a command owes an answer however it ends.
pub fn listen_early(arguments: &[OsString]) {
    if owes_an_answer(arguments) {
        stop();
    }
}

/// Whether a command line delegates: before it is parsed, its words say so.
fn owes_an_answer(arguments: &[OsString]) -> bool {
    let mut words = arguments.iter().skip(1).filter(|word| !word.as_encoded_bytes().starts_with(b"-"));
    words.next().is_some_and(|word| word == "delegate") && words.next().is_none_or(|word| word != "doctor")
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
    fn only_who_delegates_owes_an_answer() {
        let owes = |line: &str| owes_an_answer(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(owes("tollgate delegate --agent claude --role doctor") && owes("tollgate --json delegate --unit U-1"));
        for line in ["tollgate", "tollgate delegate doctor", "tollgate run delegate", "tollgate --json delegate doctor"]
        {
            assert!(!owes(line), "{line}");
        }
    }

    #[test]
    fn what_is_ignored_is_read_from_the_mask() {
        let status = "Name:\tx\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\nSigCgt:\tffffffffffffffff\n";
        assert!(ignores(status, SIGHUP) && !ignores(status, SIGINT) && !ignores(status, SIGTERM));
        assert!(!ignores("", SIGHUP));
    }
}
