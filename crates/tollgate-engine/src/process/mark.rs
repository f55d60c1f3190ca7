//! A mark that no process can take off: everything below a driver carries it, whoever its parents are now.
//!
//! The driver lowers a hard limit of its own by one, and what it starts inherits that. Without privileges a hard limit can be
//! lowered further and never raised, and it survives a cleared environment, another session and the death of every parent.
//! The limit is that of POSIX message queues in bytes, of which nobody misses one. An odd number of them is the mark; below
//! what a recorded driver had itself is the mark lowered further.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::OnceLock;

/// What a driver that has no limit lowers it to.
const UNLIMITED: u64 = (1 << 40) - 1;
/// The line of `/proc/PID/limits`.
const LINE: &str = "Max msgqueue size";

/// The limit that this process had before it marked itself.
static BEFORE: OnceLock<u64> = OnceLock::new();

/// Marks this process and everything that it starts from now on; the limit it had before.
pub(super) fn mark() -> u64 {
    *BEFORE.get_or_init(|| {
        let Rlimit { current, maximum } = getrlimit(Resource::Msgqueue);
        let before = maximum.unwrap_or(u64::MAX);
        let lowered =
            maximum.map_or(UNLIMITED, |maximum| if is_odd(maximum) { maximum } else { maximum.saturating_sub(1) });
        let current = Some(current.unwrap_or(lowered).min(lowered));
        // Where it cannot be lowered, a worker is known by the other signs alone.
        setrlimit(Resource::Msgqueue, Rlimit { current, maximum: Some(lowered) }).ok();
        before
    })
}

/// Whether a process other than a driver carries the mark; `drivers` are the limits that recorded drivers had themselves.
pub(super) fn is_marked(pid: u32, drivers: impl Iterator<Item = u64>) -> bool {
    if pid == std::process::id() && BEFORE.get().is_some() {
        return false;
    }
    let Some(limit) = hard_limit(pid) else { return false };
    is_odd(limit) || drivers.max().is_some_and(|most| limit < most)
}

fn is_odd(limit: u64) -> bool {
    // No limit at all is odd as a number, and no mark.
    limit != u64::MAX && limit % 2 == 1
}

/// The hard limit of a process.
fn hard_limit(pid: u32) -> Option<u64> {
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix(LINE))?;
    match line.split_ascii_whitespace().nth(1)? {
        "unlimited" => Some(u64::MAX),
        number => number.parse().ok(),
    }
}
