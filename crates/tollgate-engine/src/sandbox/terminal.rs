//! The person's terminal: nobody below types into it, reads what is typed there, or writes over what it shows.

use rustix::fs::{Mode, OFlags, open};
use rustix::mount::{MountFlags, mount};
use rustix::process::setsid;

/// Takes this process, and all that it starts, from the terminal it was started at. Whoever has one as their own can put words into it
/// that a shell takes for the person's.
#[expect(unsafe_code, reason = "no safe call gives a terminal up")]
pub(super) fn leave() {
    // The first of a group cannot have a session of its own.
    if setsid().is_ok() {
        return;
    }
    if let Ok(terminal) = open("/dev/tty", OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()) {
        use std::os::fd::AsRawFd;
        // SAFETY: the request takes no argument, and the file is open until it is answered.
        unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCNOTTY) };
    }
}

/// Gives a mount namespace terminals of its own, so that those of the person are not there. Where the system does not let us, the old
/// ones stay.
pub(super) fn mount_own() {
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount("devpts", "/dev/pts", "devpts", flags, c"newinstance,ptmxmode=0666,mode=0620").ok();
}
