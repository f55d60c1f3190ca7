//! Tracing: a program reaches into the memory of nobody but the processes that it started itself.
//!
//! What a command runs is a worker's work. It could attach to the shell that waits for it and have that exit with 0. So a filter hands the calls by
//! which one process gets into another to the first process of the namespace, which lets a debugger have what it started, and a leak checker
//! the memory that it shares. It is the rule of Yama's `ptrace_scope` 1, but for a process that asks to be traced: that one could be the shell.

#![expect(unsafe_code, reason = "no safe call installs a filter, or answers for one")]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use rustix::thread::set_no_new_privs;
use tollgate_core::run::sandbox_record::Tracing;

/// Of another kind of program that this kernel runs: the name of the architecture, and its numbers of the calls.
struct Foreign {
    architecture: u32,
    calls: [u32; 3],
}

#[cfg(target_arch = "x86_64")]
const NATIVE: Option<(u32, Foreign)> =
    Some((0xC000_003E, Foreign { architecture: 0x4000_0003, calls: [26, 348, 438] }));
#[cfg(target_arch = "aarch64")]
const NATIVE: Option<(u32, Foreign)> =
    Some((0xC000_00B7, Foreign { architecture: 0x4000_0028, calls: [26, 377, 438] }));
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const NATIVE: Option<(u32, Foreign)> = None;

/// Numbers from here on are those of x32 programs, where the architecture is that of x86-64.
const X32_CALLS: u32 = 0x4000_0000;
/// The most processes between one and what it started.
const GENERATIONS_MAX: usize = 4096;
/// What `kcmp` compares.
const KCMP_VM: libc::c_int = 1;

const PTRACE_ATTACH: u32 = 16;
const PTRACE_SEIZE: u32 = 0x4206;

const OFFSET_NUMBER: u32 = 0;
const OFFSET_ARCHITECTURE: u32 = 4;
/// The low half of the first argument, as little-endian machines store it.
const OFFSET_FIRST: u32 = 16;

/// Where calls that were held back are answered.
pub(super) struct Listener(OwnedFd);

/// Holds this process and all that it starts; who is `Tracing::Descendants` has to answer.
pub(super) fn hold(tracing: Tracing) -> io::Result<Option<Listener>> {
    if tracing == Tracing::Open {
        return Ok(None);
    }
    set_no_new_privs(true)?;
    let answered = tracing == Tracing::Descendants;
    let mut filter = filter(if answered { libc::SECCOMP_RET_USER_NOTIF } else { refused(libc::EPERM) })?;
    let len = u16::try_from(filter.len()).map_err(io::Error::other)?;
    let program = libc::sock_fprog { len, filter: filter.as_mut_ptr() };
    let flags = if answered { libc::SECCOMP_FILTER_FLAG_NEW_LISTENER } else { 0 };
    // SAFETY: the filter is whole and outlives the call.
    let done =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, std::ptr::from_ref(&program)) };
    match i32::try_from(done) {
        // SAFETY: the call answered a new file, which nobody else has.
        Ok(file) if answered && file >= 0 => Ok(Some(Listener(unsafe { OwnedFd::from_raw_fd(file) }))),
        Ok(0) => Ok(None),
        _ => Err(io::Error::last_os_error()),
    }
}

const fn refused(errno: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | errno.cast_unsigned()
}

/// The filter: `answer` to a call that gets into another process, everything else is allowed.
fn filter(answer: u32) -> io::Result<Vec<libc::sock_filter>> {
    let Some((native, foreign)) = NATIVE else {
        return Err(io::Error::other("the calls of this architecture are not known"));
    };
    let call = |number: libc::c_long| u32::try_from(number).map_err(io::Error::other);
    let (ptrace, writev, getfd) =
        (call(libc::SYS_ptrace)?, call(libc::SYS_process_vm_writev)?, call(libc::SYS_pidfd_getfd)?);
    let [foreign_ptrace, foreign_writev, foreign_getfd] = foreign.calls;
    Ok(vec![
        load(OFFSET_ARCHITECTURE),
        jump_if(native, 5, 0),
        // Another architecture: what it may not do it may not do at all. One that nobody knows may do nothing.
        jump_if(foreign.architecture, 0, 15),
        load(OFFSET_NUMBER),
        jump_if(foreign_ptrace, 12, 0),
        jump_if(foreign_writev, 11, 0),
        jump_if(foreign_getfd, 10, 8),
        // The machine's own.
        load(OFFSET_NUMBER),
        jump_from(X32_CALLS, 9, 0),
        jump_if(writev, 6, 0),
        // A file could be another one by the time that the call is let go on.
        jump_if(getfd, 6, 0),
        jump_if(ptrace, 0, 3),
        load(OFFSET_FIRST),
        jump_if(PTRACE_ATTACH, 2, 0),
        jump_if(PTRACE_SEIZE, 1, 0),
        end(libc::SECCOMP_RET_ALLOW),
        end(answer),
        end(refused(libc::EPERM)),
        end(refused(libc::ENOSYS)),
    ])
}

const fn statement(code: u32, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    #[expect(clippy::cast_possible_truncation, reason = "every code is small")]
    libc::sock_filter { code: code as u16, jt, jf, k }
}

const fn load(offset: u32) -> libc::sock_filter {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset)
}

/// Passes over so many statements where what was loaded is this, or is not.
const fn jump_if(value: u32, equal: u8, other: u8) -> libc::sock_filter {
    statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, equal, other, value)
}

/// The same where it is at least this.
const fn jump_from(value: u32, at_least: u8, less: u8) -> libc::sock_filter {
    statement(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, at_least, less, value)
}

const fn end(value: u32) -> libc::sock_filter {
    statement(libc::BPF_RET | libc::BPF_K, 0, 0, value)
}

impl Listener {
    /// Answers for as long as this process lives.
    pub(super) fn answer_in_background(self) -> io::Result<()> {
        std::thread::Builder::new().spawn(move || while self.answer_one().is_ok() {})?;
        Ok(())
    }

    fn answer_one(&self) -> io::Result<()> {
        let mut asked = libc::seccomp_notif {
            id: 0,
            pid: 0,
            flags: 0,
            data: libc::seccomp_data { nr: 0, arch: 0, instruction_pointer: 0, args: [0; 6] },
        };
        // SAFETY: the kernel fills in the one structure that it is handed.
        let received = unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut asked) };
        if received != 0 {
            let error = io::Error::last_os_error();
            // Whoever asked was ended meanwhile, or a signal came.
            return if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR)) { Ok(()) } else { Err(error) };
        }
        let may = may_reach(asked.pid.cast_signed(), target(&asked.data));
        let (error, flags) = if may { (0, CONTINUE) } else { (-libc::EPERM, 0) };
        let mut answer = libc::seccomp_notif_resp { id: asked.id, val: 0, error, flags };
        // SAFETY: the kernel reads the one structure that it is handed; one that nobody waits for any more is no harm.
        unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer) };
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the flag is 1")]
const CONTINUE: u32 = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;

/// The process that a call gets into: the first argument, of `ptrace` the second one. It is a number, which nobody can change while the
/// call waits.
#[expect(clippy::cast_possible_truncation, reason = "the kernel reads the lower half, too")]
fn target(call: &libc::seccomp_data) -> i32 {
    let at = usize::from(libc::c_long::from(call.nr) == libc::SYS_ptrace);
    call.args[at] as i32
}

/// Whether a process started another one, however many stand between them, or shares its memory. Whoever lost its parent is a child of the
/// first process, and no one's descendant that it could have been.
fn may_reach(caller: i32, target: i32) -> bool {
    let Some(caller_process) = field(caller, "Tgid:") else { return false };
    if shares_memory(caller, target) {
        return true;
    }
    let parents = std::iter::successors(field(target, "PPid:"), |process| field(*process, "PPid:"));
    parents.take(GENERATIONS_MAX).take_while(|process| *process > 0).any(|process| process == caller_process)
}

/// A number that the system tells of a process or thread; none where there is none.
fn field(process: i32, name: &str) -> Option<i32> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

fn shares_memory(one: i32, other: i32) -> bool {
    // SAFETY: the call takes numbers alone.
    unsafe { libc::syscall(libc::SYS_kcmp, one, other, KCMP_VM, 0_u64, 0_u64) == 0 }
}
