//! A mark that no process can take off: everything below a driver carries it, whoever its parents are now.
//!
//! The driver lowers a hard limit of its own to nothing, and what it starts inherits that. Without privileges a hard limit is
//! never raised again, and it survives a cleared environment, another session and the death of every parent. The limit is that
//! of file locks, which Linux keeps, shows and has not applied to anything for twenty years: nobody misses it, nobody sets it,
//! and at nothing it cannot be lowered further to look like somebody's own.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::OnceLock;

use super::table::own_pid;

/// The line of `/proc/PID/limits`.
const LINE: &str = "Max file locks";

/// Set when this process marked itself.
static MARKED: OnceLock<()> = OnceLock::new();

/// Marks this process as a driver, and with it everything that it starts from now on.
pub fn mark_driver() {
    MARKED.get_or_init(|| {
        keep_files();
        // Where it cannot be lowered, a worker is known by the other signs alone.
        lower().ok();
    });
}

/// Lowers the limit of this process.
pub(crate) fn lower() -> std::io::Result<()> {
    Ok(setrlimit(Resource::Locks, Rlimit { current: Some(0), maximum: Some(0) })?)
}

/// Whether this process, and all that it starts, has the lowered limit.
pub(crate) fn is_lowered() -> bool {
    getrlimit(Resource::Locks).maximum == Some(0)
}

/// Keeps what was open when this process was started: a shell may have handed it files that nobody below it could open.
#[expect(unsafe_code, reason = "no safe call names files that somebody else opened")]
fn keep_files() {
    // SAFETY: no file is closed, here or where it is used; those that stay open in a new program are fewer.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
}

/// Whether a process other than a driver carries the mark.
pub(super) fn is_marked(pid: u32) -> bool {
    let marked_itself = pid == own_pid() && MARKED.get().is_some();
    !marked_itself && hard_limit(pid).as_deref() == Some("0")
}

/// The hard limit of a process, as the system writes it.
fn hard_limit(pid: u32) -> Option<String> {
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix(LINE))?;
    line.split_ascii_whitespace().nth(1).map(str::to_owned)
}
