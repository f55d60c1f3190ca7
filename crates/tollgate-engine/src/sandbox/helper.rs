//! The helper: this program, started again between the driver and a program, to hold that one.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, set_parent_process_death_signal, wait};
use tollgate_core::run::sandbox_record::Network;

use super::tracing::Listener;
use super::{
    Policy, file_rules, first_process, hidden_paths, layers, namespaces, probe, protected_mounts, read_only_mounts,
    service_sockets, terminal, tracing,
};
use crate::process::{GRACE_MS, MARKER, control, driver_mark, is_own};

/// What the helper exits with when it cannot hold, or not start, the program.
pub const REFUSED: u8 = 125;
const POLL: Duration = Duration::from_millis(5);

/// Runs as the helper: `PROGRAM ARGUMENTS…`, by the policy that comes over its standard input, or `probe FOLDER`; answers the exit code.
pub fn run(args: &[OsString]) -> u8 {
    let held = match args {
        [word, folder] if word == probe::WORD => probe::report(Path::new(folder)),
        [] => Err("no program is named".to_owned()),
        program => hold(program),
    };
    held.unwrap_or_else(|why| {
        writeln!(io::stderr(), "tollgate: the sandbox does not hold, and nothing was started: {why}").ok();
        REFUSED
    })
}

fn hold(program: &[OsString]) -> Result<u8, String> {
    let received = control::receive(io::stdin().as_fd());
    let (policy, input) = received.map_err(|error| format!("it is started by Tollgate alone ({error})"))?;
    let policy: Policy = serde_json::from_slice(&policy).map_err(|error| error.to_string())?;
    if policy.bound {
        set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    }
    if !policy.processes {
        return become_program(&policy, program, input);
    }
    // Whoever is asked to end is the program; these two end after it.
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false))).map_err(|error| error.to_string())?;
    }
    namespaces::take(policy.network == Network::Denied).map_err(|error| format!("namespaces: {error}"))?;
    let (told, tell) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| error.to_string())?;
    match namespaces::fork().map_err(|error| format!("the first process: {error}"))? {
        None => {
            drop(told);
            first(&policy, program, input, tell)
        }
        Some(first) => {
            drop((tell, input));
            let status = until_ended(first)?;
            let mut raw = [0; 4];
            // One that was killed has said nothing: its own end counts.
            let raw = std::fs::File::from(told).read_exact(&mut raw).map(|()| i32::from_le_bytes(raw)).ok();
            Ok(end_as(raw.unwrap_or(status.as_raw())))
        }
    }
}

/// Without a pid namespace nobody has to stay: the program takes the helper's place.
fn become_program(policy: &Policy, program: &[OsString], input: OwnedFd) -> Result<u8, String> {
    terminal::leave();
    namespaces::own_keys();
    namespaces::drop_privileges();
    let mut command = command(policy, program, input, false);
    if policy.files || policy.network == Network::NoTcp {
        file_rules::hold(policy, &[])?;
    }
    tracing::hold(policy.tracing).map_err(|error| format!("tracing: {error}"))?;
    holds(policy)?;
    Err(format!("{}: {}", Path::new(&program[0]).display(), command.exec()))
}

/// Says that the policy holds: from here on it is the program's own fault if it does not start.
fn holds(policy: &Policy) -> Result<(), String> {
    control::answer(io::stdin().as_fd(), &policy.answer).map_err(|error| error.to_string())
}

fn command(policy: &Policy, program: &[OsString], input: OwnedFd, own_tmp: bool) -> Command {
    let mut command = Command::new(&program[0]);
    let temporary = if own_tmp { Path::new("/tmp") } else { &policy.temporary };
    command.args(&program[1..]).stdin(input).env("TMPDIR", temporary);
    if policy.unnamed && driver_mark::is_lowered() {
        command.env_remove(MARKER);
    }
    if is_own(Path::new(&program[0])) {
        command.arg0("tollgate");
    }
    command
}

/// The first process of the namespace: when it ends, everything in it does.
fn first(policy: &Policy, program: &[OsString], input: OwnedFd, tell: OwnedFd) -> Result<u8, String> {
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    first_process::name();
    terminal::leave();
    namespaces::own_keys();
    if policy.network == Network::Denied {
        namespaces::loopback_up().map_err(|error| format!("loopback: {error}"))?;
    }
    let mut own: Vec<&Path> = Vec::new();
    if namespaces::own_mounts().is_ok() {
        own.extend(namespaces::mount_own());
        terminal::mount_own();
    }
    let own_tmp = policy.mounts && mount(policy, &mut own).map_err(|error| format!("mounts: {error}"))?;
    namespaces::drop_privileges();
    if policy.files {
        file_rules::hold(policy, &own)?;
    }
    let answered = tracing::hold(policy.tracing).and_then(|calls| calls.map_or(Ok(()), Listener::answer_in_background));
    answered.map_err(|error| format!("tracing: {error}"))?;
    holds(policy)?;
    let child = command(policy, program, input, own_tmp).spawn();
    let child = child.map_err(|error| format!("{}: {error}", Path::new(&program[0]).display()))?;
    let status = until_ended(Pid::from_child(&child))?;
    drop(child);
    leave();
    std::fs::File::from(tell).write_all(&status.as_raw().to_le_bytes()).map_err(|error| error.to_string())?;
    Ok(0)
}

/// Covers what is hidden, and has nothing else written but what may be; answers whether `/tmp` is its own.
fn mount(policy: &Policy, own: &mut Vec<&Path>) -> io::Result<bool> {
    layers::lay(&policy.layers)?;
    let before = read_only_mounts::writable_mounts();
    let granted = [&policy.reads[..], &policy.writes].concat();
    let own_tmp = hidden_paths::cover(&policy.hidden, &granted, &policy.temporary)?;
    own.extend(own_tmp.then(|| Path::new("/tmp")));
    service_sockets::cover(&policy.covered)?;
    read_only_mounts::but(&policy.writes, own, &before)?;
    protected_mounts::keep(&policy.kept, &policy.writes)?;
    Ok(own_tmp)
}

/// Reaps until this one has ended.
fn until_ended(wanted: Pid) -> Result<WaitStatus, String> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == wanted => return Ok(status),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// Asks what the program left to end, and waits a little: what is left then ends with this process.
fn leave() {
    if matches!(wait(WaitOptions::NOHANG), Err(Errno::CHILD)) {
        return;
    }
    namespaces::ask_all_to_end();
    for _ in 0..GRACE_MS / POLL.as_millis() as u64 {
        match wait(WaitOptions::NOHANG) {
            Err(Errno::CHILD) => return,
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => std::thread::sleep(POLL),
        }
    }
}

/// Ends as the program did.
fn end_as(status: i32) -> u8 {
    let status = ExitStatus::from_raw(status);
    if let Some(signal) = status.signal() {
        signal_hook::low_level::emulate_default_handler(signal).ok();
    }
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(REFUSED)
}
