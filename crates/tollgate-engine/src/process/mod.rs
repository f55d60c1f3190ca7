//! Starts programs and ends them whole.
//!
//! A program runs in a process group of its own with a bounded output and a limit in time. Agents start their tools in
//! sessions of their own, so the group alone does not hold them: every descendant and every process that carries the
//! attempt's marker in its environment is ended too. A driver adopts orphans: a process that clears its environment,
//! leaves its group and outlives its parents comes back to it, and is ended when no attempt under way can be its origin.

#![expect(clippy::disallowed_methods, reason = "this module owns processes: their environment, time and output")]

mod children;
pub mod control;
pub(crate) mod driver_mark;
pub mod holder;
mod output;
mod own_program;
mod record;
mod table;

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::net::sockopt::set_socket_send_buffer_size;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use tollgate_core::redact::{Secrets, Unsearchable, secret_in};

pub use children::adopt_orphans;
pub use control::Control;
pub use driver_mark::mark_driver;
pub use output::{Head, Log, Output, Redacted, Tail, Tee};
pub(crate) use own_program::{is_own, put_into};
pub use own_program::{own_place, own_program};
pub use record::{Recorded, below_a_worker, end_recorded, record_driver, recorded};
pub use table::{MARKER, ProcessId, end_all, find_by_marker, markers};

/// How long a process tree may take to end by itself before it is killed.
pub const GRACE_MS: u64 = 2_000;
/// How long the last output of an ended process tree is waited for.
const DRAIN_MS: u64 = 1_000;
/// From when on the end of a silence counts as overslept, and how long the readers are left to take what is there.
const LATE_MS: u64 = 1_000;
const TURN_MS: u64 = 50;
const CHUNK_BYTES: usize = 64 * 1024;
/// How much a socket holds of what was printed and is not read yet; the system may give less.
const VOICE_BYTES: usize = 1024 * 1024;

/// What to start.
#[derive(Debug)]
pub struct Program {
    /// The program, found already (see [`find_program`]).
    pub path: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its working directory.
    pub cwd: PathBuf,
    /// What its environment holds.
    pub env: Environment,
    /// What it reads on its standard input.
    pub stdin: Vec<u8>,
    /// How long it may run.
    pub limit: Duration,
    /// What it is told to do over a socket, where it holds another program; what it reads is for that one then.
    pub control: Option<Control>,
}

/// The environment of a program.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// Variables it gets whatever was inherited.
    pub set: Vec<(OsString, OsString)>,
    /// The value of [`MARKER`], by which its process tree is found again.
    pub marker: Option<String>,
    /// What it sees of this program's own environment.
    pub inherit: Inherit,
}

/// What a program sees of this program's own environment. Variables that steer git or Tollgate are never inherited.
#[derive(Debug, Clone, Default)]
pub enum Inherit {
    #[default]
    All,
    /// Variables of these names; a `*` at the end is any end.
    Only(Vec<String>),
}

impl Inherit {
    fn has(&self, name: &OsStr) -> bool {
        let Self::Only(known) = self else { return true };
        known.iter().any(|known| match known.strip_suffix('*') {
            Some(start) => name.as_bytes().starts_with(start.as_bytes()),
            None => name == known.as_str(),
        })
    }
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It exited with this code.
    Exited(i32),
    /// A signal ended it.
    Signalled(i32),
    /// It ran past its limit and was ended.
    TimedOut,
    /// It printed nothing for longer than it may, and was ended.
    Silent,
    /// It was cancelled and was ended.
    Cancelled,
    /// It was to hold another program and never answered that it does: nothing is known to have run.
    Unheld,
}

impl End {
    /// Whether it exited with code 0.
    pub fn success(self) -> bool {
        self == Self::Exited(0)
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exited with {code}"),
            Self::Signalled(signal) => write!(f, "was ended by signal {signal}"),
            Self::TimedOut => f.write_str("ran past its time"),
            Self::Silent => f.write_str("printed nothing for too long"),
            Self::Cancelled => f.write_str("was cancelled"),
            Self::Unheld => f.write_str("was not started: the sandbox did not answer"),
        }
    }
}

enum Message {
    Exited,
    Cancel,
}

/// Cancels a program from another thread.
#[derive(Debug, Clone)]
pub struct Cancel(Sender<Message>);

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Exited => "exited",
            Self::Cancel => "cancel",
        })
    }
}

impl Cancel {
    /// Asks for the end of the program; nothing happens when it has ended.
    pub fn cancel(&self) {
        self.0.send(Message::Cancel).ok();
    }
}

/// A program under way. Dropping it ends its process tree.
#[derive(Debug)]
pub struct Running {
    child: Child,
    id: ProcessId,
    marker: Option<String>,
    until: Instant,
    /// How long it may print nothing; none: as long as it may run.
    idle: Option<Duration>,
    heard: Arc<Heard>,
    messages: Receiver<Message>,
    cancel: Sender<Message>,
    readers: Vec<JoinHandle<()>>,
    /// The socket by which it was told what to do, and the answer to that.
    control: Option<(UnixStream, String)>,
    end: Option<End>,
}

/// When a program last printed something.
#[derive(Debug)]
struct Heard(Instant, AtomicU64);

impl Heard {
    fn now(&self) {
        self.1.store(u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn last(&self) -> Instant {
        self.0 + Duration::from_millis(self.1.load(Ordering::Relaxed))
    }
}

/// What the standard output of a program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StdoutKind {
    /// A pipe, which whoever has the rights of the program can open by its path, the program itself as `/dev/stdout`.
    #[default]
    Pipe,
    /// A socket, which nobody can open: what it starts speaks in its name only where it is handed on.
    Socket,
}

/// Starts a program whose output goes to `out` and `err`.
pub fn start(program: Program, out: Arc<dyn Output>, err: Arc<dyn Output>) -> io::Result<Running> {
    start_with(program, StdoutKind::Pipe, out, err)
}

/// A socket to hear a program by, and its end for the program.
pub fn output_socket() -> io::Result<(UnixStream, Stdio)> {
    let (own, theirs) = UnixStream::pair()?;
    // As much as a pipe would hold of short lines: some programs end before all they printed is taken.
    set_socket_send_buffer_size(&theirs, VOICE_BYTES)?;
    own.shutdown(Shutdown::Write)?;
    Ok((own, OwnedFd::from(theirs).into()))
}

/// A socket to speak to a program by while it works, and its end for the program: what it starts cannot open that either.
pub fn input_socket() -> io::Result<(UnixStream, Stdio)> {
    let (own, theirs) = UnixStream::pair()?;
    own.shutdown(Shutdown::Read)?;
    Ok((own, OwnedFd::from(theirs).into()))
}

/// The same with a standard output of this kind.
pub fn start_with(
    program: Program,
    kind: StdoutKind,
    out: Arc<dyn Output>,
    err: Arc<dyn Output>,
) -> io::Result<Running> {
    let mut command = Command::new(&program.path);
    command.args(&program.args).current_dir(&program.cwd).process_group(0);
    let (own, theirs) = match kind {
        StdoutKind::Pipe => (None, Stdio::piped()),
        StdoutKind::Socket => output_socket().map(|(own, theirs)| (Some(own), theirs))?,
    };
    let control = program.control.as_ref().map(|_| UnixStream::pair()).transpose()?;
    let (control, stdin) = match control {
        Some((own, theirs)) => (Some(own), OwnedFd::from(theirs).into()),
        None => (None, Stdio::piped()),
    };
    command.stdin(stdin).stdout(theirs).stderr(Stdio::piped());
    if is_own(&program.path) {
        command.arg0("tollgate");
    }
    for (name, _) in std::env::vars_os() {
        if is_ours(&name) || !program.env.inherit.has(&name) {
            command.env_remove(name);
        }
    }
    if program.env.inherit.has(OsStr::new("PATH")) {
        command.env("PATH", std::env::join_paths(search_path()).map_err(io::Error::other)?);
    }
    command.envs(program.env.set);
    if let Some(marker) = &program.env.marker {
        command.env(MARKER, marker);
    }
    let (mut child, id) = children::spawn(&mut command, program.env.marker.is_some())?;
    // It has the other end of a socket, which would never end.
    drop(command);
    let heard = Arc::new(Heard(Instant::now(), AtomicU64::new(0)));
    let readers = [
        match (own, child.stdout.take()) {
            (Some(own), _) => Some(drain(own, out, Arc::clone(&heard))),
            (None, pipe) => pipe.map(|pipe| drain(pipe, out, Arc::clone(&heard))),
        },
        child.stderr.take().map(|pipe| drain(pipe, err, Arc::clone(&heard))),
    ];
    let input = program.stdin;
    let control = match (control, program.control) {
        (Some(own), Some(Control { order, answer })) => {
            let (theirs, mut ours) = io::pipe()?;
            let socket = own.try_clone()?;
            // The program may never read; the thread ends when the socket or the pipe breaks.
            std::thread::spawn(move || {
                control::send(&socket, &order, theirs.as_fd()).ok()?;
                drop(theirs);
                ours.write_all(&input).ok()
            });
            Some((own, answer))
        }
        (_, _) => {
            if let Some(mut stdin) = child.stdin.take() {
                std::thread::spawn(move || stdin.write_all(&input).ok());
            }
            None
        }
    };
    let (cancel, messages) = channel();
    watch(id.pid, cancel.clone());
    let until = Instant::now() + program.limit;
    let readers = readers.into_iter().flatten().collect();
    let marker = program.env.marker;
    Ok(Running { child, id, marker, until, idle: None, heard, messages, cancel, readers, control, end: None })
}

impl Running {
    /// The process that was started.
    pub fn id(&self) -> ProcessId {
        self.id
    }

    /// A handle that cancels it from another thread.
    pub fn canceller(&self) -> Cancel {
        Cancel(self.cancel.clone())
    }

    /// Has it ended when it prints nothing for so long.
    pub fn end_when_silent(&mut self, idle: Option<Duration>) {
        self.idle = idle;
    }

    /// Waits for the end, at most until `deadline`. When it answers, the whole process tree has ended.
    pub fn wait(&mut self, deadline: Instant) -> Option<End> {
        if self.end.is_some() {
            return self.end;
        }
        let silent = self.idle.map(|idle| self.heard.last() + idle);
        let until = deadline.min(silent.map_or(self.until, |silent| silent.min(self.until)));
        let message = self.messages.recv_timeout(until.saturating_duration_since(Instant::now()));
        let why = match message {
            Ok(Message::Exited) => None,
            Ok(Message::Cancel) => Some(End::Cancelled),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) if Instant::now() >= self.until => {
                Some(End::TimedOut)
            }
            Err(_) if self.idle.is_some_and(|idle| self.is_silent(idle)) => Some(End::Silent),
            Err(_) => return None,
        };
        self.end = Some(self.finish(why));
        self.end
    }

    /// Whether it printed nothing for so long, while somebody listened.
    fn is_silent(&self, idle: Duration) -> bool {
        let silence = || self.heard.last().elapsed();
        if silence() >= idle + Duration::from_millis(LATE_MS) {
            // This process was stopped itself: nobody knows what was silent meanwhile. It begins anew.
            self.heard.now();
        } else if silence() >= idle {
            // What it printed may not be read yet.
            std::thread::sleep(Duration::from_millis(TURN_MS));
        }
        silence() >= idle
    }

    /// Waits for the end, as long as the limit allows.
    pub fn wait_to_end(&mut self) -> End {
        loop {
            if let Some(end) = self.wait(self.until) {
                return end;
            }
        }
    }

    /// Ends what is left of the tree, reaps the program and collects its last output.
    fn finish(&mut self, why: Option<End>) -> End {
        // The program is not reaped before its tree is gone: its id names no other process meanwhile.
        // The engine's own tools (git) carry no marker and leave nothing behind when they end by themselves.
        if why.is_some() || self.marker.is_some() {
            children::ends(self.id);
            table::end_tree(self.id, self.marker.as_deref(), Duration::from_millis(GRACE_MS));
        }
        let status = self.child.wait();
        children::ended(self.id);
        let until = Instant::now() + Duration::from_millis(DRAIN_MS);
        for reader in self.readers.drain(..) {
            while !reader.is_finished() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        let answered = self.control.take().is_none_or(|(socket, answer)| control::is_answered(&socket, &answer));
        match (why, status) {
            (Some(why), _) => why,
            (None, _) if !answered => End::Unheld,
            (None, Ok(status)) => match status.code() {
                Some(code) => End::Exited(code),
                None => End::Signalled(status.signal().unwrap_or_default()),
            },
            (None, Err(_)) => End::Signalled(0),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.end.is_none() {
            self.end = Some(self.finish(Some(End::Cancelled)));
        }
    }
}

/// Runs a program to its end.
pub fn run(program: Program, out: Arc<dyn Output>, err: Arc<dyn Output>) -> io::Result<End> {
    Ok(start(program, out, err)?.wait_to_end())
}

/// The secrets of this program's own environment, and of what was `copied` for a program; the variables of `handed` were given
/// to it by name.
pub fn secrets(handed: &Inherit, copied: &[(String, String)]) -> Result<Arc<Secrets>, Unsearchable> {
    let given = |name: &str| handed.has(OsStr::new(name)) || copied.iter().any(|(known, _)| known == name);
    let mut variables: Vec<(String, String)> = Vec::new();
    for (name, value) in std::env::vars_os() {
        match (name.into_string(), value.into_string()) {
            (Ok(name), Ok(value)) => variables.push((name, value)),
            (Ok(name), Err(value)) if secret_in(&name, &value.to_string_lossy(), given(&name)).is_some() => {
                return Err(Unsearchable::NotText(name));
            }
            _ => {}
        }
    }
    let pairs = variables.iter().chain(copied).map(|(name, value)| (name.as_str(), value.as_str()));
    Ok(Arc::new(Secrets::of_variables(pairs, &given)?))
}

/// Variables that steer git or Tollgate are never inherited.
fn is_ours(name: &OsStr) -> bool {
    name.as_bytes().starts_with(b"GIT_") || name.as_bytes().starts_with(b"TOLLGATE_")
}

/// Tells when the program has exited, without reaping it.
fn watch(pid: u32, messages: Sender<Message>) {
    std::thread::spawn(move || {
        if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
            while let Err(rustix::io::Errno::INTR) =
                waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
            {}
        }
        messages.send(Message::Exited).ok();
    });
}

fn drain(mut pipe: impl Read + Send + 'static, output: Arc<dyn Output>, heard: Arc<Heard>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            match pipe.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => {
                    heard.now();
                    output.push(&chunk[..read]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        output.end();
    })
}

/// Finds a program: a name with a `/` from `base`, any other in the absolute folders of `PATH`.
pub fn find_program(name: &OsStr, base: &Path) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return Some(base.join(name)).filter(|path| is_program(path));
    }
    find_in(name, &search_path())
}

/// Finds a program by its name in these folders.
pub fn find_in(name: &OsStr, folders: &[PathBuf]) -> Option<PathBuf> {
    folders.iter().map(|folder| folder.join(name)).find(|path| is_program(path))
}

/// The folders of `PATH`. A relative one would be looked up in a work tree, and is none.
pub fn search_path() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect()
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests;
