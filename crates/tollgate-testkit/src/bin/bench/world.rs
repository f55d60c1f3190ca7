//! What is measured on: a protocol of one stage that comes back to itself, a worker that answers at once, folders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tollgate_core::Name;
use tollgate_core::digest::Digest;
use tollgate_core::id::{AttemptId, RunId};
use tollgate_core::protocol::{self, Protocol};
use tollgate_core::report::{Health, Report, Verdict};
use tollgate_core::run::decide::{AttemptResult, Open};
use tollgate_core::run::event::{By, ByKind, ChangeKind, Changed, Recorded};
use tollgate_core::run::{Command, Run};
use tollgate_core::scope::Content;
use tollgate_engine::clock::SystemClock;
use tollgate_engine::driver::{EffectResult, Watch};
use tollgate_engine::session::Session;
use tollgate_store::{Journal, LeaseRequest, Object};

use crate::Outcome;

/// The size of a report.
pub const REPORT_BYTES: usize = 4096;
/// Threads that make runs, so that one commit holds many.
const THREADS: usize = 64;
/// Longer than any measurement.
const LEASE_MS: u64 = 24 * 3_600_000;

/// One stage that is dispatched again and again: a step is a report accepted, routed, and the next lease granted.
const PROTOCOL: &str = "\
protocol: bench
version: 1
areas: {code: [\"**\"]}
roles:
  builder: {contract: status-block, writes: [code], sees: full}
otherwise: {needs_input: hold, exhausted: hold, failed: hold, malformed: hold, cancelled: hold}
flows:
  main:
    - id: work
      dispatch: builder
      on: {ok: {to: again, limit: 10000000, then: hold}}
";

/// A folder that is removed with its content when it is dropped.
pub struct Folder(PathBuf);

impl Folder {
    /// Makes a folder below another.
    pub fn new(below: &Path, name: &str) -> Outcome<Self> {
        let path = below.join(format!("tollgate-bench-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).map_err(|error| format!("{} cannot be made: {error}", path.display()))?;
        Ok(Self(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What stays behind spoils no figure.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Opens runs of the protocol.
pub struct Runs {
    journal: Arc<dyn Journal>,
    protocol: Arc<Protocol>,
    text: Object,
}

impl Runs {
    /// Runs in a journal.
    pub fn new(journal: Arc<dyn Journal>) -> Outcome<Self> {
        let (protocol, diagnostics) = protocol::read(PROTOCOL);
        let protocol = protocol.ok_or_else(|| format!("the bench's protocol cannot be read: {diagnostics:?}"))?;
        Ok(Self { journal, protocol: Arc::new(protocol), text: Object::new(PROTOCOL.as_bytes()) })
    }

    /// Begins one.
    pub fn open(&self, number: u64) -> Outcome<Session> {
        self.begin(self.described(number))
    }

    /// Begins one that has to look at others before each dispatch: it calls an agent's pool, under a budget of the day.
    pub fn open_among_others(&self, number: u64) -> Outcome<Session> {
        let mut open = self.described(number);
        open.workers = BTreeMap::from([("builder".into(), "claude:claude".into())]);
        open.budgets.day.attempts = Some(u64::MAX);
        self.begin(open)
    }

    fn described(&self, number: u64) -> Open {
        Open {
            id: RunId::from_bits(number),
            title: format!("Measure what a step costs, run {number}"),
            protocol: Arc::clone(&self.protocol),
            digest: self.text.digest(),
            pins: BTreeMap::new(),
            repository: format!("/repositories/{}", number % 10),
            base: "0123456789012345678901234567890123456789".into(),
            inputs: BTreeMap::new(),
            artifacts: BTreeMap::new(),
            workers: BTreeMap::from([("builder".into(), "in-process".into())]),
            commands: BTreeMap::new(),
            areas: BTreeMap::new(),
            config: serde_json::Value::Null,
            answers: BTreeMap::new(),
            scopes: BTreeMap::new(),
            content: content(0, number),
            budgets: Default::default(),
            pools: BTreeMap::new(),
            checkout: None,
        }
    }

    fn begin(&self, open: Open) -> Outcome<Session> {
        let objects = vec![self.text.clone()];
        let (session, _) = Session::open(Arc::clone(&self.journal), Arc::new(SystemClock), open, "bench", objects)?;
        Ok(session)
    }
}

/// Does something for each number, on many threads.
pub fn many(numbers: std::ops::Range<u64>, each: impl Fn(u64) -> Outcome + Sync) -> Outcome {
    std::thread::scope(|scope| {
        let start = |thread| {
            let (each, mut own) = (&each, numbers.clone().skip(thread).step_by(THREADS));
            scope.spawn(move || own.try_for_each(each))
        };
        let threads: Vec<_> = (0..THREADS).map(start).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })
}

/// The content that a step leaves behind: another one every time.
fn content(step: u64, run: u64) -> Content {
    let mut digest = Digest::default();
    digest.0[..8].copy_from_slice(&step.to_be_bytes());
    digest.0[8..16].copy_from_slice(&run.to_be_bytes());
    Content {
        tree: format!("{step:020x}{run:020x}").into(),
        areas: BTreeMap::from([("code".into(), digest)]),
        ..Content::default()
    }
}

/// What the worker of an attempt reports: all went well, one file changed, 4 KiB of text.
pub fn finished(run: &Run, attempt: AttemptId, token: u64) -> EffectResult {
    let mut text = format!("{} {attempt} did a piece of the work.\n", run.id).into_bytes();
    text.resize(REPORT_BYTES, b'.');
    let object = Object::new(text);
    let path: Name = "src/lib.rs".into();
    let mut report = Report::new(Health::Ok, Verdict::None);
    report.claims.modified = vec![path.clone()];
    let result = AttemptResult {
        report,
        object: object.digest(),
        sections: Vec::new(),
        diagnostics: Vec::new(),
        content: Some(content(token, run.seq)),
        changed: vec![Changed::new(path, ChangeKind::Modified)],
        artifacts: BTreeMap::new(),
        told: None,
        noticed: Vec::new(),
        leash: None,
    };
    EffectResult { token, command: Command::Report { attempt, token, result: Box::new(result) }, objects: vec![object] }
}

/// A driver without a loop: takes one step when it is told to.
pub struct Stepper {
    /// The run it drives.
    pub session: Session,
    by: By,
    epoch: u64,
}

impl Stepper {
    /// Takes a run; the first lease is granted with that.
    pub fn take(mut session: Session) -> Outcome<Self> {
        let holder = "bench".to_owned();
        let acquire = LeaseRequest::Acquire { holder, now_ms: session.now_ms(), ttl_ms: LEASE_MS, over: None };
        let epoch = session.journal().lease(session.run().id, acquire)?.epoch;
        let by = By { kind: ByKind::Driver, name: "bench".into() };
        session.command(&Command::TakeOver { driver: "bench".into() }, &by, Some(epoch), &[])?;
        Ok(Self { session, by, epoch })
    }

    /// Takes a step.
    pub fn step(&mut self) -> Outcome {
        let run = self.session.run();
        let (attempt, lease) = run.attempts.first_key_value().ok_or("no lease was granted: the run does not move")?;
        let EffectResult { command, objects, .. } = finished(run, *attempt, lease.token);
        self.session.command(&command, &self.by, Some(self.epoch), &objects)?;
        Ok(())
    }
}

/// Nobody watches: what it costs to show a run is not the kernel's.
pub struct Unwatched;

impl Watch for Unwatched {
    fn events(&mut self, _: &Run, _: &[Recorded]) {}
    fn tick(&mut self, _: &Run) {}
}
