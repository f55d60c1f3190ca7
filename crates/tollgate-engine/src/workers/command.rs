//! The `command` worker: any program that reads a brief and leaves a report.
//!
//! The brief is on stdin and the work tree is the working directory. `TOLLGATE_BUNDLE` is a read-only folder (brief.md,
//! manifest.json, files/), `TOLLGATE_REPORT` the path for the report (stdout counts when it stays empty), `TOLLGATE_OUT` the
//! folder for the documents that its stage gives, and `TOLLGATE_RUN`, `_UNIT`, `_ROLE`, `_STAGE`, `_ITERATION`, `_CONTRACT` say
//! what it is about.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tollgate_core::redact::Secrets;
use tollgate_core::run::AgentStats;
use tollgate_store::{Point, reach};

use super::agent::{AgentFailure, SharedLogin};
use super::report_file::{NAME, ReportFolder};
use super::{
    Attempt, Job, LOG_BYTES_MAX, Outcome, REPORT_BYTES_MAX, RawReport, Worker, WorkerError, environment, handed_over,
    shell_words,
};
use crate::process::{
    Cancel, Environment, Inherit, Log, Output, ProcessId, Program, Recorded, Redacted, Running, StdoutKind, Tail, Tee,
    find_program, is_own, start_with,
};
use crate::sandbox::{AgentHome, AgentLayer, OwnFolders};

/// A worker that is a command.
#[derive(Debug, Clone)]
pub struct CommandWorker {
    argv: Vec<OsString>,
    base: PathBuf,
    state: PathBuf,
    adapter: &'static str,
    brief: BriefBy,
}

/// How a command is given its brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BriefBy {
    /// On its standard input.
    #[default]
    Stdin,
    /// As its last argument.
    Argument,
}

impl CommandWorker {
    /// A worker of these words; a program with a `/` is looked up from `base`. Its processes are recorded in `state`.
    pub fn new(argv: Vec<OsString>, base: &Path, state: &Path) -> Self {
        Self { argv, base: base.to_owned(), state: state.to_owned(), adapter: "command", brief: BriefBy::Stdin }
    }

    /// The same, given its brief in this way.
    #[must_use]
    pub fn briefed(self, brief: BriefBy) -> Self {
        Self { brief, ..self }
    }

    /// A worker of a text such as `agent --headless 'two words'`.
    pub fn from_text(text: &str, base: &Path, state: &Path) -> Result<Self, WorkerError> {
        Ok(Self::new(shell_words::split(text)?.into_iter().map(OsString::from).collect(), base, state))
    }

    /// Finds its program.
    pub fn find(&self) -> Result<PathBuf, WorkerError> {
        find(&self.argv, &self.base)
    }

    /// A worker that acts out a script: the same, with the `tollgate` program itself as the command.
    pub fn scripted(tollgate: &Path, script: &Path, state: &Path) -> Self {
        let argv = [tollgate.as_os_str(), "worker-script".as_ref(), "--script".as_ref(), script.as_os_str()];
        let argv = argv.map(OsString::from).to_vec();
        Self { adapter: "script", ..Self::new(argv, Path::new("/"), state) }
    }
}

/// Finds the program of these words; one with a `/` is looked up from `base`.
pub(super) fn find(argv: &[OsString], base: &Path) -> Result<PathBuf, WorkerError> {
    let name = argv.first().map(OsString::as_os_str).unwrap_or_default();
    find_program(name, base).ok_or_else(|| WorkerError::NotFound(name.to_string_lossy().into_owned()))
}

/// A program that works on an attempt, and what it is given besides the attempt.
pub(super) struct Launch {
    pub path: PathBuf,
    pub args: Vec<OsString>,
    pub stdin: Vec<u8>,
    pub set: Vec<(OsString, OsString)>,
    pub inherit: Inherit,
    pub home: HomePlaces,
    /// How long it may print nothing.
    pub idle: Option<Duration>,
    pub stdout: StdoutKind,
}

/// What an agent has in the home folder.
#[derive(Debug, Default)]
pub(super) struct HomePlaces {
    /// Its places, as its adapter names them.
    pub places: &'static [&'static str],
    /// The files of its login that are written through the layer over these places; none: nothing covers them.
    pub login: Option<&'static [&'static str]>,
    /// What it writes besides.
    pub writes: Vec<PathBuf>,
    /// Variables that name some of that.
    pub set: Vec<(OsString, OsString)>,
    pub kept: KeptLogin,
}

/// The person's login, while an attempt may write it.
#[derive(Debug, Default)]
pub(super) struct KeptLogin {
    /// The one that it shares with other attempts.
    pub shared: Option<SharedLogin>,
    /// The files that it writes in place, with their modes.
    pub modes: Vec<(PathBuf, u32)>,
}

impl KeptLogin {
    /// Hands a login back that the agent has renewed, soon: whoever else has the old one could not renew it any more.
    fn hand_back(&self) -> std::io::Result<()> {
        self.shared.as_ref().map_or(Ok(()), SharedLogin::share)
    }

    /// The same for the last time; and no file is open to more people than it was.
    fn end(&self) -> std::io::Result<()> {
        for (path, before) in &self.modes {
            let now = path.metadata()?.permissions().mode() & 0o7777;
            if now & !before != 0 {
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(now & before))?;
            }
        }
        self.shared.as_ref().map_or(Ok(()), SharedLogin::end)
    }
}

impl HomePlaces {
    /// Has it write a folder that a variable names.
    pub fn give(&mut self, variable: &str, folder: PathBuf) {
        self.set.push((variable.into(), folder.clone().into()));
        self.writes.push(folder);
    }
}

/// What a program told of itself, and why it failed by its own lines.
pub(super) type AgentResult = (AgentStats, Option<AgentFailure>);

/// Listens to a program while it works, and says at the end what it heard; the end is clean or not.
pub(super) struct Listener {
    pub reader: Arc<dyn Output>,
    /// Whether it told that it used more than it may.
    pub over: Arc<AtomicBool>,
    pub end: Box<dyn Fn(bool) -> Option<AgentResult> + Send>,
}

/// Starts a program on an attempt: in its tree, under its limit, recorded while it lives.
pub(super) fn launch(
    what: Launch,
    job: &Job,
    state: &Path,
    listener: Option<Listener>,
) -> Result<Box<dyn Attempt>, WorkerError> {
    let failed = |path: &Path, source| WorkerError::Start { path: path.to_owned(), source };
    let report = ReportFolder::create(&job.scratch).map_err(|error| failed(&job.scratch, error))?;
    // Who has a voice of its own reports by that alone: a file is written by whatever it starts.
    let report = Some(report).filter(|_| what.stdout == StdoutKind::Pipe);
    if let Some(out) = &job.out {
        handed_over::create(out).map_err(|error| failed(out, error))?;
    }
    let log = Log::create(&job.log, LOG_BYTES_MAX).map_err(|error| failed(&job.log, error))?;
    log.push(job.note.as_bytes());
    let stdout = Tail::new(REPORT_BYTES_MAX);
    let marker = job.marker();
    let file = report.as_ref().map(|_| ("TOLLGATE_REPORT".into(), job.scratch.join(NAME).into()));
    let set = what.set.into_iter().chain(what.home.set).chain(environment(job)).chain(file).collect();
    let path = what.path;
    let program = Program {
        path: path.clone(),
        args: what.args,
        cwd: job.cwd.clone(),
        env: Environment { set, marker: Some(marker.clone()), inherit: what.inherit },
        stdin: what.stdin,
        limit: job.limit,
        control: None,
    };
    let program = match &job.confinement {
        Some(confinement) => {
            let (tree, scratch, caches) = (&*job.cwd, &*job.scratch, &*job.caches);
            let layer = what.home.login.map(|login| AgentLayer { folder: &job.layer, login });
            let home = AgentHome { places: what.home.places, layer, writes: &what.home.writes };
            let own = OwnFolders { tree, scratch, caches, bundle: Some(&job.bundle), home };
            confinement.hold(program, own).map_err(|error| failed(&job.scratch, error))?
        }
        None => program,
    };
    let mut takers: Vec<Arc<dyn Output>> = vec![log.clone(), stdout.clone()];
    takers.extend(listener.as_ref().map(|listener| listener.reader.clone()));
    let out = Redacted::new(&job.secrets, Arc::new(Tee(takers)));
    let mut running = start_with(program, what.stdout, out, Redacted::new(&job.secrets, log.clone()))
        .map_err(|error| failed(&path, error))?;
    running.end_when_silent(what.idle);
    reach(Point::Spawned);
    let record = Recorded::new(state, running.id(), &marker)
        .map_err(|source| WorkerError::Record { path: state.to_owned(), source })?;
    reach(Point::WorkerRecorded);
    let secrets = Arc::clone(&job.secrets);
    Ok(Box::new(CommandAttempt {
        running,
        report,
        secrets,
        log,
        stdout,
        listener,
        login: what.home.kept,
        outcome: None,
        _record: record,
    }))
}

impl Worker for CommandWorker {
    fn start(&self, mut job: Job) -> Result<Box<dyn Attempt>, WorkerError> {
        let (mut args, brief) = (self.argv.iter().skip(1).cloned().collect::<Vec<_>>(), std::mem::take(&mut job.brief));
        let stdin = match self.brief {
            BriefBy::Stdin => brief.into_bytes(),
            BriefBy::Argument => {
                args.push(brief.into());
                Vec::new()
            }
        };
        let what = Launch {
            path: self.find()?,
            args,
            stdin,
            set: Vec::new(),
            inherit: Inherit::Only(environment::common().chain(job.variables()).collect()),
            home: HomePlaces::default(),
            idle: None,
            // A script may well say `> /dev/stdout`.
            stdout: StdoutKind::Pipe,
        };
        launch(what, &job, &self.state, None)
    }

    fn describe(&self) -> String {
        let name = |word| if is_own(Path::new(word)) { OsStr::new("tollgate") } else { word };
        let words: Vec<_> = self.argv.iter().map(|word| name(word.as_os_str()).to_string_lossy()).collect();
        format!("{}: {}", self.adapter, words.join(" "))
    }
}

/// What a worker is told through its environment, besides [`crate::process::MARKER`].
fn environment(job: &Job) -> Vec<(OsString, OsString)> {
    let mut variables = vec![
        ("TOLLGATE_RUN".into(), job.run.to_string().into()),
        ("TOLLGATE_UNIT".into(), job.unit.as_deref().unwrap_or_default().into()),
        ("TOLLGATE_ROLE".into(), (*job.role).into()),
        ("TOLLGATE_STAGE".into(), (*job.stage).into()),
        ("TOLLGATE_ITERATION".into(), job.iteration.to_string().into()),
        ("TOLLGATE_CONTRACT".into(), (*job.contract).into()),
        ("TOLLGATE_BUNDLE".into(), job.bundle.clone().into()),
    ];
    variables.extend(job.out.iter().map(|out| ("TOLLGATE_OUT".into(), out.into())));
    variables
}

struct CommandAttempt {
    running: Running,
    report: Option<ReportFolder>,
    secrets: Arc<Secrets>,
    log: Arc<Log>,
    stdout: Arc<Tail>,
    listener: Option<Listener>,
    login: KeptLogin,
    outcome: Option<Outcome>,
    // Dropped last: the record stays while the process may live.
    _record: Recorded,
}

impl CommandAttempt {
    fn keep_login(&self, has_ended: bool) {
        let kept = if has_ended { self.login.end() } else { self.login.hand_back() };
        if let Some(error) = kept.err().filter(|_| has_ended) {
            self.log.push(format!("tollgate: the agent's login could not be handed back: {error}\n").as_bytes());
        }
    }
}

impl Attempt for CommandAttempt {
    fn wait(&mut self, deadline: Instant) -> Option<Outcome> {
        if self.outcome.is_none() {
            if self.listener.as_ref().is_some_and(|listener| listener.over.load(Ordering::SeqCst)) {
                self.running.canceller().cancel();
            }
            let end = self.running.wait(deadline);
            self.keep_login(end.is_some());
            let end = end?;
            let file = self.report.as_ref().map(|report| report.read_without(&self.secrets));
            let said = match file.unwrap_or(RawReport::Nothing) {
                RawReport::Nothing => match self.stdout.take() {
                    (bytes, _) if bytes.trim_ascii().is_empty() => RawReport::Nothing,
                    (bytes, cut) => RawReport::Printed { bytes, cut },
                },
                said => said,
            };
            let heard = self.listener.as_ref().and_then(|listener| (listener.end)(end.success()));
            let (told, failure) = heard.map_or((None, None), |(told, failure)| (Some(told), failure));
            self.outcome = Some(Outcome { end, said, log_cut: self.log.cut(), told, failure });
        }
        self.outcome.clone()
    }

    fn canceller(&self) -> Option<Cancel> {
        Some(self.running.canceller())
    }

    fn process(&self) -> Option<ProcessId> {
        Some(self.running.id())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::process::{End, recorded};
    use crate::testing::{Folder, folder, own_run};

    fn job(root: &Folder) -> Job {
        Job {
            run: own_run(),
            attempt: "att_3".parse().unwrap(),
            token: 17,
            unit: Some("api".into()),
            role: "developer".into(),
            contract: "status-block@1".into(),
            stage: "build".into(),
            iteration: 2,
            brief: "Build it.\n".into(),
            cwd: root.to_path_buf(),
            bundle: root.join("bundle"),
            scratch: root.join("scratch"),
            out: None,
            log: root.join("logs/att_3.log"),
            note: "a note\n".into(),
            limit: Duration::from_secs(60),
            allowed: Default::default(),
            resumption: None,
            confinement: None,
            caches: root.join("caches"),
            layer: root.join("layer"),
            secrets: Arc::new(Secrets::new([("KEY".into(), "abcdefgh-12345678".to_owned())]).unwrap()),
        }
    }

    fn act(text: &str, job: impl FnOnce(&Folder) -> Job) -> (Outcome, Folder) {
        let root = folder("command");
        let worker = CommandWorker::new(["sh", "-c", text].map(OsString::from).to_vec(), &root, &root);
        let mut attempt = worker.start(job(&root)).unwrap();
        let outcome = loop {
            if let Some(outcome) = attempt.wait(Instant::now() + Duration::from_secs(1)) {
                break outcome;
            }
        };
        assert_eq!(attempt.wait(Instant::now()), Some(outcome.clone()));
        (outcome, root)
    }

    fn text(outcome: &Outcome) -> String {
        match &outcome.said {
            RawReport::File(bytes) | RawReport::Printed { bytes, .. } => String::from_utf8(bytes.clone()).unwrap(),
            said => panic!("{said:?}"),
        }
    }

    #[test]
    fn the_interface_is_what_the_design_says() {
        let script = "cat; pwd; echo \"$TOLLGATE_RUN $TOLLGATE_UNIT $TOLLGATE_ROLE $TOLLGATE_ATTEMPT $TOLLGATE_ITERATION \
                      $TOLLGATE_CONTRACT\"; echo \"${TOLLGATE_BUNDLE##*/} ${TOLLGATE_REPORT##*/}\"; echo noise >&2";
        let (outcome, root) = act(script, job);
        assert_eq!(outcome.end, End::Exited(0));
        let expected = format!(
            "Build it.\n{}\n{run} api developer {run}/att_3/17 2 status-block@1\nbundle report\n",
            root.display(),
            run = own_run()
        );
        assert_eq!(text(&outcome), expected);
        let log = std::fs::read_to_string(root.join("logs/att_3.log")).unwrap();
        assert!(log.starts_with("a note\n") && log.contains("noise") && log.contains("Build it."));
    }

    #[test]
    fn no_secret_reaches_the_log_or_the_report_or_stays_in_its_file() {
        let say = "printf '%s' '{\"key\":\"abcdefgh-'; sleep 0.1; echo '12345678\"}'";
        let (outcome, root) = act(&format!("{say}; {{ {say}; }} >&2"), job);
        assert_eq!(text(&outcome), "{\"key\":\"[redacted KEY]\"}\n");
        let (outcome, other) = act("echo abcdefgh-12345678 | tee \"$TOLLGATE_REPORT\"", job);
        assert_eq!(text(&outcome), "[redacted KEY]\n");
        for path in [root.join("logs/att_3.log"), other.join("logs/att_3.log"), other.join("scratch/report")] {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(!text.contains("12345678") && text.contains("[redacted KEY]"), "{}: {text}", path.display());
        }
    }

    #[test]
    fn the_report_file_comes_before_stdout_and_an_exit_code_is_told() {
        let (outcome, _root) = act("echo on stdout; echo in file > \"$TOLLGATE_REPORT\"; exit 7", job);
        assert_eq!((outcome.end, text(&outcome)), (End::Exited(7), "in file\n".to_owned()));
        let (outcome, _root) = act("echo; ln -s /etc/passwd \"$TOLLGATE_REPORT\"", job);
        assert!(matches!(outcome.said, RawReport::Refused(_)));
        let (outcome, _root) = act("echo", job);
        assert_eq!(outcome.said, RawReport::Nothing);
    }

    #[test]
    fn too_much_output_is_cut_in_the_log_and_in_the_report() {
        let (outcome, _root) = act("head -c 9000000 /dev/zero | tr '\\0' x; echo end", job);
        assert!(outcome.log_cut);
        let RawReport::Printed { bytes, cut } = outcome.said else { panic!("nothing") };
        assert!(cut && bytes.len() == REPORT_BYTES_MAX && bytes.ends_with(b"end\n"));
    }

    #[test]
    fn a_worker_past_its_limit_is_ended_and_forgotten() {
        let (outcome, root) =
            act("sleep 1000 & sleep 1000", |root| Job { limit: Duration::from_millis(50), ..job(root) });
        assert_eq!((outcome.end, outcome.said), (End::TimedOut, RawReport::Nothing));
        assert_eq!(recorded(&root, &own_run().to_string()), []);
    }

    #[test]
    fn a_worker_is_recorded_while_it_runs_and_can_be_cancelled() {
        let root = folder("recorded");
        let worker = CommandWorker::from_text("sleep 1000", &root, &root).unwrap();
        let mut attempt = worker.start(job(&root)).unwrap();
        assert_eq!(recorded(&root, &own_run().to_string())[0].0, attempt.process().unwrap());
        attempt.canceller().unwrap().cancel();
        let outcome = attempt.wait(Instant::now() + Duration::from_secs(60)).unwrap();
        assert_eq!(outcome.end, End::Cancelled);
        drop(attempt);
        assert_eq!(recorded(&root, &own_run().to_string()), []);
    }

    #[test]
    fn a_program_that_is_not_there_is_refused_by_name() {
        let root = folder("missing");
        for command in ["no-such-agent --x", "./no-such-agent"] {
            let error = CommandWorker::from_text(command, &root, &root).unwrap().start(job(&root)).err().unwrap();
            assert!(error.code().as_str() == "TG0510" && error.to_string().contains("no-such-agent"), "{error}");
        }
    }
}
