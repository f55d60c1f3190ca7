//! Namespaces: processes that end with their first one, mounts of their own, a network with nobody in it.

use std::io;
use std::path::Path;

use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Pid, getgid, getuid};
use rustix::thread::{CapabilitySet, UnshareFlags, remove_capability_from_bounding_set};

/// What root keeps below Tollgate: what has to do with files of its own and with becoming somebody else. Without the rest nobody
/// raises a limit again, loads a module, reads a disk or looks into another's memory.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

const SHARED_MEMORY: &str = "/dev/shm";

/// Takes a pid and a mount namespace, and one for shared memory and queues, for what this process starts from now on; without privileges, a user namespace with them.
pub(super) fn take(network: bool) -> io::Result<()> {
    let mut flags = UnshareFlags::NEWPID | UnshareFlags::NEWNS | UnshareFlags::NEWIPC;
    flags.set(UnshareFlags::NEWNET, network);
    match unshare(flags) {
        Err(Errno::PERM) => {
            let (uid, gid) = (getuid().as_raw(), getgid().as_raw());
            unshare(flags | UnshareFlags::NEWUSER)?;
            // Everybody stays who they are.
            std::fs::write("/proc/self/setgroups", "deny").ok();
            std::fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
            std::fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))
        }
        other => Ok(other?),
    }
}

#[expect(
    unsafe_code,
    reason = "the call is unsafe for a table of open files that threads share; that one is not unshared"
)]
fn unshare(flags: UnshareFlags) -> Result<(), Errno> {
    // SAFETY: `FILES` is never among the flags.
    unsafe { rustix::thread::unshare_unsafe(flags) }
}

/// A second process of this program, as it stands; none: it is that one.
#[expect(unsafe_code, reason = "only a fork makes the first process of a pid namespace from a program that is running")]
pub(super) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: the helper has one thread, so nothing is locked or half done in the copy.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        pid => Ok(Pid::from_raw(pid)),
    }
}

/// Asks everything else in the namespace to end; only its first process may call it.
#[expect(unsafe_code, reason = "no safe call names all processes")]
pub(super) fn ask_all_to_end() {
    // SAFETY: a signal to others touches no memory of this process, and in a pid namespace `-1` is everything in it.
    unsafe { libc::kill(-1, libc::SIGTERM) };
}

/// Has no mount of this namespace seen outside of it.
pub(super) fn own_mounts() -> io::Result<()> {
    Ok(mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?)
}

/// Gives the namespace its own view of itself, and shared memory of its own; answers where that is.
pub(super) fn mount_own() -> Option<&'static Path> {
    let plain = MountFlags::NOSUID | MountFlags::NODEV;
    // Where the system does not let us (a container that hides parts of /proc), the old view stays: it shows more, and harms nobody.
    mount("proc", "/proc", "proc", plain | MountFlags::NOEXEC, None).ok();
    mount("tmpfs", SHARED_MEMORY, "tmpfs", plain, None).ok().map(|()| Path::new(SHARED_MEMORY))
}

/// Brings the loopback of a new network namespace up: a test may speak with its own server.
#[expect(unsafe_code, reason = "no safe call sets the flags of an interface")]
pub(super) fn loopback_up() -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let socket = std::net::UdpSocket::bind("0.0.0.0:0")?;
    // SAFETY: all zeros are a request without a name.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = from.cast_signed();
    }
    #[expect(clippy::cast_possible_truncation, reason = "both flags are small")]
    let flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    request.ifr_ifru.ifru_flags = flags;
    // SAFETY: the request is whole and outlives the call.
    match unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Takes this process, and all that it starts, from the keys that the kernel keeps for the person's session. Where the system knows
/// none, there is nothing to be taken from.
#[expect(unsafe_code, reason = "no safe call joins a keyring")]
pub(super) fn own_keys() {
    const JOIN_SESSION_KEYRING: libc::c_int = 1;
    let unnamed: *const libc::c_char = std::ptr::null();
    // SAFETY: without a name the call reads no memory of this process.
    unsafe { libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, unnamed) };
}

/// Gives up what root has over other people's things; nothing changes for somebody who is not root.
pub(super) fn drop_privileges() {
    for capability in CapabilitySet::all().difference(KEPT).iter() {
        // Refused to those who have none to give up.
        remove_capability_from_bounding_set(capability).ok();
    }
}
