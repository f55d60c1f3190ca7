//! The driver: holds a run's lease, performs its effects, and turns what came of them into commands.
//!
//! Nothing is remembered across a crash: what should be under way is derived from the state, and each effect is
//! idempotent by its token.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::id::RunId;
use tollgate_core::run::event::{By, ByKind};
use tollgate_core::run::{Command, Effect, Recorded, Rejection, Run, effects_under, next_wake};
use tollgate_store::{LeaseError, LeaseRequest, Object, Point, reach};

use crate::process::holder;
use crate::session::summary::{SummaryStatus, status};
use crate::session::{CommandError, LoadError, Session};

/// How long a lease lasts without being renewed.
pub const LEASE_MS: u64 = 30_000;
/// How many times it is renewed in that time.
const RENEWALS: u64 = 6;
/// How often a driver looks whether others have appended to its run.
pub const POLL_MS: u64 = 100;

static LEASE: OnceLock<u64> = OnceLock::new();

/// Has leases last so long in this process. Debug builds only, for tests in which a lease must pass.
#[cfg(debug_assertions)]
pub fn lease_for(ms: u64) {
    LEASE.set(ms).ok();
}

fn lease_ms() -> u64 {
    LEASE.get().copied().unwrap_or(LEASE_MS)
}

/// What came of an effect.
#[derive(Debug)]
pub struct EffectResult {
    /// The token it was done under.
    pub token: u64,
    /// The command for the kernel.
    pub command: Command,
    /// The objects that its events will name.
    pub objects: Vec<Object>,
}

/// What an executor sends to its driver.
#[derive(Debug)]
enum EffectMessage {
    Finished(EffectResult),
    Failed(ExecutorError),
}

/// Where an executor sends the result of an effect.
#[derive(Debug, Clone)]
pub struct EffectReply(Sender<EffectMessage>);

impl EffectReply {
    /// Sends the result of an effect. It is dropped when the driver is gone.
    pub fn send(&self, finished: EffectResult) {
        self.0.send(EffectMessage::Finished(finished)).ok();
    }

    /// Reports that an effect cannot be performed now: nothing is recorded, and the next driver tries again.
    pub fn fail(&self, error: ExecutorError) {
        self.0.send(EffectMessage::Failed(error)).ok();
    }
}

/// What performs effects.
pub trait Executor: Send + Sync {
    /// Recovers from a dead driver, for the one that holds the run under this epoch: its workers are ended before anything
    /// is started.
    fn recover(&self, run: &Run, epoch: u64) -> Result<(), ExecutorError>;
    /// Starts an effect under a token. Its result is sent once, later.
    fn start(&self, run: &Run, effect: &Effect, token: u64, done: EffectReply);
    /// Cancels an effect that is no longer wanted; what it wrote is kept.
    fn cancel(&self, token: u64);
    /// Renders the run's projections, after its events; an executor without files renders none.
    fn project(&self, run: &Run) {
        let _ = run;
    }
}

/// Why an executor cannot perform an effect now: a fault of the machine or the repository, not of the run.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct ExecutorError {
    /// Its page.
    pub code: Code,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub hint: String,
}

/// Why a run could not be driven.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// Another driver holds it.
    #[error("another tollgate is running {run}: {}", holder::display(holder))]
    Held {
        /// The run.
        run: RunId,
        /// By whom.
        holder: String,
    },
    /// The lease was set back: an epoch would be used twice.
    #[error("the lease of {run} is at epoch {lease}, and its events name epoch {events}")]
    Behind {
        /// The run.
        run: RunId,
        /// The epoch of the lease.
        lease: u64,
        /// The last epoch that the events name.
        events: u64,
    },
    /// The lease could not be had.
    #[error(transparent)]
    Lease(LeaseError),
    /// A command did not go through.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The run could not be read on.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The work trees or workers are not ready.
    #[error(transparent)]
    Executor(#[from] ExecutorError),
}

impl DriveError {
    /// The code of a run that somebody else drives.
    pub const fn held_code() -> Code {
        Code::RUN_HELD
    }

    /// The code of its page.
    pub fn code(&self) -> Code {
        match self {
            Self::Held { .. } => Code::RUN_HELD,
            Self::Behind { .. } => Code::EPOCH_BEHIND,
            Self::Lease(error) => error.code(),
            Self::Command(error) => error.code(),
            Self::Load(error) => error.code(),
            Self::Executor(error) => error.code,
        }
    }
}

/// Why a driver stopped driving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriveOutcome {
    /// The run is over.
    Closed,
    /// A person is asked, and nothing else can move.
    Waiting,
    /// A quota is used up, and nothing else can move before a time.
    Sleeping,
    /// Nothing moves without a person's `retry`.
    Halted,
    /// Somebody asked the driver to stop.
    Stopped,
}

/// What a driver does while no effect is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenIdle {
    /// It returns, also when the run would continue by itself later.
    Return,
    /// It waits for a timer, and returns when a person must answer.
    WaitForTimer,
    /// It waits for the answer, from any process.
    WaitForAnswer,
}

/// Somebody who watches a run: told of every event, in order, and now and then that time passes.
pub trait Watch {
    /// Events were appended.
    fn events(&mut self, run: &Run, events: &[Recorded]);
    /// Time passes.
    fn tick(&mut self, run: &Run);
}

/// Drives one run.
pub struct Driver {
    session: Session,
    executor: Arc<dyn Executor>,
    by: By,
    epoch: u64,
    renewed_ms: u64,
    running: BTreeMap<u64, Effect>,
    sender: Sender<EffectMessage>,
    receiver: Receiver<EffectMessage>,
    stop: Arc<AtomicBool>,
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver").field("session", &self.session).field("epoch", &self.epoch).finish_non_exhaustive()
    }
}

impl Driver {
    /// Takes a run: its lease, the order that a dead driver left behind, and what was under way.
    pub fn take(
        mut session: Session,
        executor: Arc<dyn Executor>,
        name: &str,
        stop: Arc<AtomicBool>,
        watch: &mut dyn Watch,
    ) -> Result<Self, DriveError> {
        let run = session.run().id;
        let now_ms = session.now_ms();
        let known = session.journal().head(run).map_err(LoadError::from)?.map_or(0, |head| head.epoch);
        if known < session.run().epoch {
            return Err(DriveError::Behind { run, lease: known, events: session.run().epoch });
        }
        let acquire = |over| LeaseRequest::Acquire { holder: name.to_owned(), now_ms, ttl_ms: lease_ms(), over };
        let lease = match session.journal().lease(run, acquire(None)) {
            Err(LeaseError::Held { held, .. }) if holder::is_dead(&held.holder) => {
                session.journal().lease(run, acquire(Some(held.epoch)))
            }
            other => other,
        };
        let lease = lease.map_err(|error| match error {
            LeaseError::Held { held, .. } => DriveError::Held { run, holder: held.holder },
            error => DriveError::Lease(error),
        })?;
        let seen = session.refresh()?;
        watch.events(session.run(), &seen);
        reach(Point::LeaseTaken);
        executor.recover(session.run(), lease.epoch)?;
        reach(Point::Settled);
        let (sender, receiver) = channel();
        let by = By { kind: ByKind::Driver, name: name.into() };
        let mut driver = Self {
            session,
            executor,
            by,
            epoch: lease.epoch,
            renewed_ms: now_ms,
            running: BTreeMap::new(),
            sender,
            receiver,
            stop,
        };
        if !driver.session.run().is_closed() {
            driver.command(Command::TakeOver { driver: Name::from(name) }, &[], watch)?;
        }
        Ok(driver)
    }

    /// The run as the driver knows it.
    pub const fn run(&self) -> &Run {
        self.session.run()
    }

    /// Drives until nothing is under way and nothing can be.
    pub fn drive(&mut self, when_idle: WhenIdle, watch: &mut dyn Watch) -> Result<DriveOutcome, DriveError> {
        let result = self.drive_on(when_idle, watch);
        // Whatever ends the driving ends what it started: another driver, or the next one, begins anew.
        for token in std::mem::take(&mut self.running).into_keys() {
            self.executor.cancel(token);
        }
        result
    }

    fn drive_on(&mut self, when_idle: WhenIdle, watch: &mut dyn Watch) -> Result<DriveOutcome, DriveError> {
        loop {
            // Overtaken: whatever is left to do is another driver's.
            if self.session.run().epoch > self.epoch {
                return Err(DriveError::Command(CommandError::Fenced { epoch: self.session.run().epoch }));
            }
            self.perform();
            if self.stop.load(Ordering::Relaxed) {
                return Ok(DriveOutcome::Stopped);
            }
            if self.running.is_empty() {
                match status(self.session.run()) {
                    SummaryStatus::Succeeded
                    | SummaryStatus::Reported
                    | SummaryStatus::Dropped
                    | SummaryStatus::Cancelled => {
                        return Ok(DriveOutcome::Closed);
                    }
                    SummaryStatus::Halted => return Ok(DriveOutcome::Halted),
                    SummaryStatus::Waiting if when_idle != WhenIdle::WaitForAnswer && !self.is_due_soon() => {
                        return Ok(DriveOutcome::Waiting);
                    }
                    SummaryStatus::Sleeping if when_idle == WhenIdle::Return && !self.is_due_soon() => {
                        return Ok(DriveOutcome::Sleeping);
                    }
                    // Nothing is under way and nobody is asked: a unit is held and the rest waits for it.
                    SummaryStatus::Working if !self.advance(watch)? => return Ok(DriveOutcome::Halted),
                    SummaryStatus::Working | SummaryStatus::Waiting | SummaryStatus::Sleeping => {}
                }
            }
            match self.receiver.recv_timeout(Duration::from_millis(POLL_MS)) {
                Ok(EffectMessage::Finished(finished)) => self.finish(finished, watch)?,
                Ok(EffectMessage::Failed(error)) => return Err(DriveError::Executor(error)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => self.poll(watch)?,
            }
        }
    }

    /// Whether a timer fires within the time in which a driver looks around anyway.
    fn is_due_soon(&self) -> bool {
        next_wake(self.session.run()).is_some_and(|at| at <= self.session.now_ms() + POLL_MS)
    }

    /// Starts what should be under way and is not, and ends what should not be.
    fn perform(&mut self) {
        let wanted: BTreeMap<u64, Effect> = effects_under(self.session.run(), self.epoch)
            .into_iter()
            .map(|effect| (token_of(&effect), effect))
            .collect();
        let gone: Vec<u64> = self.running.keys().filter(|token| !wanted.contains_key(token)).copied().collect();
        for token in gone {
            self.running.remove(&token);
            self.executor.cancel(token);
        }
        for (token, effect) in wanted {
            if !self.running.contains_key(&token) {
                self.executor.start(self.session.run(), &effect, token, EffectReply(self.sender.clone()));
                self.running.insert(token, effect);
            }
        }
    }

    fn finish(&mut self, finished: EffectResult, watch: &mut dyn Watch) -> Result<(), DriveError> {
        self.running.remove(&finished.token);
        self.command(finished.command, &finished.objects, watch)
    }

    /// Grants what is ready; false when nothing was.
    fn advance(&mut self, watch: &mut dyn Watch) -> Result<bool, DriveError> {
        let before = self.session.run().seq;
        self.command(Command::Advance, &[], watch)?;
        Ok(self.session.run().seq > before)
    }

    /// Looks around: the lease, what others appended, the time.
    fn poll(&mut self, watch: &mut dyn Watch) -> Result<(), DriveError> {
        let now_ms = self.session.now_ms();
        let run = self.session.run().id;
        if now_ms >= self.renewed_ms + lease_ms() / RENEWALS {
            let renew = LeaseRequest::Renew { epoch: self.epoch, now_ms, ttl_ms: lease_ms() };
            self.session.journal().lease(run, renew).map_err(DriveError::Lease)?;
            self.renewed_ms = now_ms;
        }
        let head = self.session.journal().head(run).map_err(|error| DriveError::Load(LoadError::Read(error)))?;
        if head.is_some_and(|head| head.seq > self.session.run().seq) {
            let seen = self.session.refresh()?;
            watch.events(self.session.run(), &seen);
            if !self.session.run().is_closed() {
                self.command(Command::Advance, &[], watch)?;
            }
        }
        if next_wake(self.session.run()).is_some_and(|at| at <= now_ms) {
            self.command(Command::Tick, &[], watch)?;
        }
        watch.tick(self.session.run());
        Ok(())
    }

    fn command(&mut self, command: Command, objects: &[Object], watch: &mut dyn Watch) -> Result<(), DriveError> {
        let before = self.session.run().seq;
        let outcome = self.session.command(&command, &self.by, Some(self.epoch), objects);
        let outcome = match outcome {
            // The run was closed or the lease lost while this was being done: it does not count, and is no fault.
            Err(CommandError::Rejected(
                Rejection::Closed | Rejection::NoLanding { .. } | Rejection::LandingExpects { .. },
            )) => return Ok(()),
            other => other?,
        };
        // What others appended before ours came in with the reload; whoever watches sees it all.
        let first = outcome.events.first().map_or(self.session.run().seq + 1, |event| event.seq);
        if first > before + 1 {
            let missed = crate::session::events(&**self.session.journal(), self.session.run().id, before, first - 1)?;
            watch.events(self.session.run(), &missed);
        }
        watch.events(self.session.run(), &outcome.events);
        reach(Point::BeforeProjections);
        self.executor.project(self.session.run());
        reach(Point::AfterProjections);
        Ok(())
    }

    /// Gives the run back.
    pub fn release(self) -> Session {
        let release = LeaseRequest::Release { epoch: self.epoch };
        // One that is lost already, or cannot be written now, passes by itself.
        self.session.journal().lease(self.session.run().id, release).ok();
        self.session
    }
}

/// The token of an effect; publishing has none of its own and happens once.
fn token_of(effect: &Effect) -> u64 {
    match effect {
        Effect::Dispatch { token, .. }
        | Effect::Commands { token, .. }
        | Effect::Land { token, .. }
        | Effect::CheckLanding { token }
        | Effect::PutLanding { token } => *token,
        Effect::Publish => u64::MAX,
    }
}
