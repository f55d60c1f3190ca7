//! A driver: holds the run's lease, performs its effects once per token, and reports what came of them.

use std::sync::Arc;

use tollgate_core::id::AttemptId;
use tollgate_core::protocol::Declaration;
use tollgate_core::report::Judgement;
use tollgate_core::run::decide::LandEnd;
use tollgate_core::run::event::{By, ByKind, CommandResult, Work};
use tollgate_core::run::{Command, Effect, Rejection, effects_under};
use tollgate_engine::clock::Clock;
use tollgate_engine::session::{CommandError, Session};
use tollgate_store::{AppendError, Journal, LeaseRequest};

use super::play::Play;
use super::rng::Rng;
use super::stage::Mishap;
use super::watch::Violation;
use super::worker::{Conduct, Task};
use crate::world;

/// How long a lease lasts.
pub const LEASE_MS: u64 = 30_000;

/// Work under way: what will be said when it is done.
#[derive(Debug, Clone)]
pub struct Job {
    /// When it is done.
    pub due_ms: u64,
    /// What it says then.
    pub command: Command,
    /// How it behaves.
    pub conduct: Conduct,
}

/// One driver process and its handle on the store.
pub struct Driver {
    /// Who it is.
    pub name: String,
    /// What goes wrong at its handle.
    pub mishap: Arc<Mishap>,
    /// Its handle; none after a crash.
    pub journal: Option<Arc<dyn Journal>>,
    /// What it knows of the run.
    pub session: Option<Session>,
    /// The epoch it acts under.
    pub epoch: Option<u64>,
    renewed_ms: u64,
    /// It does nothing before this time, and does not know it.
    pub paused_until_ms: u64,
    /// Workers it started.
    pub jobs: Vec<Job>,
    started: std::collections::BTreeSet<u64>,
    /// The last event after which what it knows was compared with the replay.
    compared: u64,
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let jobs: Vec<(u64, Conduct)> = self.jobs.iter().map(|job| (job.due_ms, job.conduct)).collect();
        f.debug_struct("Driver")
            .field("name", &self.name)
            .field("epoch", &self.epoch)
            .field("paused_until_ms", &self.paused_until_ms)
            .field("jobs", &jobs)
            .finish_non_exhaustive()
    }
}

impl Driver {
    /// A driver that has not begun.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            mishap: Arc::default(),
            journal: None,
            session: None,
            epoch: None,
            renewed_ms: 0,
            paused_until_ms: 0,
            jobs: Vec::new(),
            started: std::collections::BTreeSet::new(),
            compared: 0,
        }
    }

    fn by(&self) -> By {
        By { kind: ByKind::Driver, name: self.name.as_str().into() }
    }

    /// The process is gone, and with it all it knew. Workers it left may still come with their reports.
    pub fn crash(&mut self, left: &mut Vec<Job>, rng: &mut Rng) {
        for job in self.jobs.drain(..) {
            if job.conduct == Conduct::Late || rng.percent(30) {
                left.push(Job { conduct: Conduct::Late, ..job });
            }
        }
        self.session = None;
        self.journal = None;
        self.epoch = None;
        self.compared = 0;
        self.started.clear();
        self.mishap.disarm();
    }

    /// It learns that another driver has the run; its own workers are ended, or come too late.
    fn lose(&mut self, left: &mut Vec<Job>, rng: &mut Rng) {
        let journal = self.journal.take();
        self.crash(left, rng);
        self.journal = journal;
    }
}

impl Play {
    /// One step of a driver.
    pub fn drive(&mut self, which: usize, rng: &mut Rng) -> Result<(), Violation> {
        if self.drivers[which].paused_until_ms > self.clock.now_ms() {
            return Ok(());
        }
        self.wake(which)?;
        if self.drivers[which].epoch.is_none() && !self.take_the_run(which, rng)? {
            return Ok(());
        }
        self.keep_the_run(which, rng);
        let now = self.clock.now_ms();
        let due = self.drivers[which].jobs.iter().position(|job| job.due_ms <= now);
        match due {
            _ if self.drivers[which].session.is_none() => Ok(()),
            Some(job) if rng.percent(80) => self.deliver(which, job, rng),
            _ if rng.percent(10) => self.leftover(which, rng),
            _ if rng.percent(30) => self.command(which, Command::Tick, rng).map(drop),
            _ => {
                if rng.percent(60) {
                    self.refresh(which)?;
                }
                self.command(which, Command::Advance, rng)?;
                self.perform(which, rng)
            }
        }
    }

    fn wake(&mut self, which: usize) -> Result<(), Violation> {
        let driver = &mut self.drivers[which];
        if driver.journal.is_none() {
            let journal = self.store.connect(Some(driver.mishap.clone())).map_err(Violation::other)?;
            driver.journal = Some(journal);
        }
        if let (None, Some(journal)) = (&driver.session, &driver.journal) {
            let loaded = Session::load(journal.clone(), self.clock.clone(), self.id);
            driver.session = Some(loaded.map_err(|error| Violation::other(format!("load: {error}")))?);
        }
        self.same(which)
    }

    /// Takes the lease, and says so in the journal. False when another driver is alive, or something went wrong.
    fn take_the_run(&mut self, which: usize, rng: &mut Rng) -> Result<bool, Violation> {
        let now_ms = self.clock.now_ms();
        let driver = &mut self.drivers[which];
        let Some(journal) = &driver.journal else { return Ok(false) };
        let request = LeaseRequest::Acquire { holder: driver.name.clone(), now_ms, ttl_ms: LEASE_MS, over: None };
        let Ok(lease) = journal.lease(self.id, request) else {
            self.dead(which, rng);
            return Ok(false);
        };
        driver.epoch = Some(lease.epoch);
        driver.renewed_ms = now_ms;
        self.refresh(which)?;
        let closed = self.drivers[which].session.as_ref().is_some_and(|session| session.run().is_closed());
        if closed {
            return Ok(true);
        }
        let taken = self.command(which, Command::TakeOver { driver: self.drivers[which].name.as_str().into() }, rng)?;
        if !taken {
            // What is not in the journal did not happen: it takes the run again.
            self.drivers[which].epoch = None;
        }
        Ok(taken)
    }

    fn keep_the_run(&mut self, which: usize, rng: &mut Rng) {
        let now_ms = self.clock.now_ms();
        let driver = &mut self.drivers[which];
        let (Some(journal), Some(epoch)) = (driver.journal.clone(), driver.epoch) else { return };
        // A driver that slept does not look at the clock first: its appends are fenced, not its good will.
        if now_ms > driver.renewed_ms + LEASE_MS / 3 && rng.percent(85) {
            match journal.lease(self.id, LeaseRequest::Renew { epoch, now_ms, ttl_ms: LEASE_MS }) {
                Ok(_) => driver.renewed_ms = now_ms,
                Err(_) => {
                    driver.lose(&mut self.left, rng);
                    self.dead(which, rng);
                }
            }
        }
    }

    /// After an error: the handle may be dead, and the process with it.
    fn dead(&mut self, which: usize, rng: &mut Rng) {
        let driver = &mut self.drivers[which];
        let alive = driver.journal.as_ref().is_some_and(|journal| journal.head(self.id).is_ok());
        if !alive {
            driver.crash(&mut self.left, rng);
            self.watch.count("crash between two writes");
            self.misbehaved("store crash");
        }
    }

    fn refresh(&mut self, which: usize) -> Result<(), Violation> {
        let Some(session) = &mut self.drivers[which].session else { return Ok(()) };
        session.refresh().map_err(|error| Violation::other(format!("refresh: {error}")))?;
        self.same(which)
    }

    /// What a session has decided and appended is what the journal replays to.
    fn same(&mut self, which: usize) -> Result<(), Violation> {
        self.watch.look()?;
        let driver = &mut self.drivers[which];
        let (Some(session), Some(replayed)) = (&driver.session, &self.watch.run) else { return Ok(()) };
        let live = session.run();
        // A state changes with its events alone: compared once after each, that is enough.
        if live.seq != replayed.seq || driver.compared == live.seq {
            return Ok(());
        }
        driver.compared = live.seq;
        if live == replayed {
            return Ok(());
        }
        let what = format!("the live state differs from its replay at event {}", live.seq);
        Err(Violation { invariant: 6, what })
    }

    /// Sends a command; true when it is known to be in the journal.
    pub fn command(&mut self, which: usize, command: Command, rng: &mut Rng) -> Result<bool, Violation> {
        let driver = &mut self.drivers[which];
        let (by, epoch) = (driver.by(), driver.epoch);
        let Some(session) = &mut driver.session else { return Ok(false) };
        let outcome = session.command(&command, &by, epoch, &[]);
        self.faulted(which);
        self.watch.look()?;
        match outcome {
            Ok(_) => self.same(which).map(|()| true),
            Err(CommandError::Rejected(Rejection::Broken(broken))) => {
                let first = broken.into_iter().next();
                let (invariant, what) = first.map_or((0, String::new()), |broken| (broken.invariant, broken.what));
                Err(Violation { invariant, what: format!("decide refused its own events: {what}") })
            }
            Err(CommandError::Rejected(
                Rejection::Closed | Rejection::NoLanding { .. } | Rejection::LandingExpects { .. },
            )) => Ok(false),
            Err(CommandError::Rejected(other)) => Err(Violation::other(format!("a driver is refused: {other}"))),
            Err(CommandError::Fenced { .. }) => {
                self.misbehaved("stale driver");
                self.drivers[which].lose(&mut self.left, rng);
                Ok(false)
            }
            Err(CommandError::Append(AppendError::Store(_))) => {
                self.dead(which, rng);
                Ok(false)
            }
            Err(error) => Err(Violation::other(format!("a command failed: {error}"))),
        }
    }

    /// Starts what should be under way and is not, once per token.
    fn perform(&mut self, which: usize, rng: &mut Rng) -> Result<(), Violation> {
        let (Some(session), Some(epoch)) = (&self.drivers[which].session, self.drivers[which].epoch) else {
            return Ok(());
        };
        for effect in effects_under(session.run(), epoch) {
            match effect {
                Effect::Dispatch { attempt, token }
                | Effect::Commands { attempt, token }
                | Effect::Land { attempt, token } => self.start(which, attempt, token, rng)?,
                Effect::Publish => {
                    let command = Command::Published { branch: "tollgate/run".into(), commit: "c0ffee".into() };
                    self.command(which, command, rng)?;
                }
                Effect::CheckLanding { token } => {
                    let results = self.checked(which, rng);
                    self.command(which, Command::LandChecked { token, results, leash: None }, rng)?;
                }
                Effect::PutLanding { token } => {
                    let end = match rng.below(4) {
                        0 => LandEnd::Left { why: "main has moved".to_owned() },
                        _ => LandEnd::Landed { commit: "c0ffee".into(), patch: None },
                    };
                    self.command(which, Command::LandEnded { token, end }, rng)?;
                }
            }
        }
        Ok(())
    }

    /// What comes of the commands of a landing; some are forgotten.
    fn checked(&self, which: usize, rng: &mut Rng) -> Vec<CommandResult> {
        let session = self.drivers[which].session.as_ref();
        let landing = session.and_then(|session| session.run().landing.clone());
        let commands = landing.map(|landing| landing.commands.clone()).unwrap_or_default();
        let results = commands.into_iter().filter_map(|command| {
            let result = match rng.below(6) {
                0 => return None,
                1 => Judgement::Fail,
                _ => Judgement::Pass,
            };
            let times = session.map_or(1, |session| session.run().repeats(&command));
            let mut runs = vec![Judgement::Pass; times.try_into().unwrap_or(1)];
            runs[0] = result;
            Some(world::ran(command, &runs))
        });
        results.collect()
    }

    fn start(&mut self, which: usize, attempt: AttemptId, token: u64, rng: &mut Rng) -> Result<(), Violation> {
        let calm = self.is_calm();
        let now = self.clock.now_ms();
        let driver = &mut self.drivers[which];
        let Some(session) = &driver.session else { return Ok(()) };
        let Some(lease) = session.run().attempts.get(&attempt) else { return Ok(()) };
        if !driver.started.insert(token) {
            return Ok(());
        }
        if !self.performed.insert(token) {
            return Err(Violation { invariant: 3, what: format!("token {token} ({attempt}) is performed twice") });
        }
        let mut conduct = Conduct::choose(rng, calm);
        let undeclared = Declaration::default();
        let role =
            if let Work::Dispatch { role, .. } = &lease.work { session.run().protocol.roles.get(role) } else { None };
        let declared = role.and_then(|role| self.dialects.get(&role.contract)).unwrap_or(&undeclared);
        let dialects = &self.dialects;
        let task = Task { run: session.run(), attempt: lease, declared, dialects, conduct, calm, idle: self.is_idle };
        let unready = !calm && !matches!(lease.work, Work::Land { .. }) && rng.percent(2);
        let command = if unready {
            Command::Unready { attempt, token, why: "the setup failed".to_owned(), output: None }
        } else if let Some(result) = task.dispatch(&mut self.world, rng) {
            Command::Report { attempt, token, result: Box::new(result) }
        } else if let Some(landing) = task.landing(&mut self.world, rng) {
            Command::Landed { attempt, token, landing: Box::new(landing) }
        } else {
            Command::Ran { attempt, token, results: task.commands(rng), leash: None }
        };
        let worker = matches!(command, Command::Report { .. });
        if !worker && !matches!(conduct, Conduct::Late | Conduct::Twice) {
            conduct = Conduct::Honest;
        }
        let takes = match conduct {
            Conduct::Late => LEASE_MS * rng.between(1, 6),
            Conduct::Hang => LEASE_MS / 2,
            _ => rng.between(10, 4_000),
        };
        driver.jobs.push(Job { due_ms: now + takes, command, conduct });
        Ok(())
    }

    fn deliver(&mut self, which: usize, job: usize, rng: &mut Rng) -> Result<(), Violation> {
        let job = self.drivers[which].jobs.remove(job);
        self.misbehaved_as(job.conduct);
        let said = self.command(which, job.command.clone(), rng)?;
        let again = said && job.conduct == Conduct::Twice;
        let lost = !said && self.drivers[which].session.is_some();
        if again {
            self.command(which, job.command, rng)?;
        } else if lost {
            // Not known to be in the journal: said again, at worst under a token that is no longer live.
            self.drivers[which].jobs.push(job);
        }
        Ok(())
    }

    /// A worker that a dead driver left comes with its report; the driver that is there passes it on.
    fn leftover(&mut self, which: usize, rng: &mut Rng) -> Result<(), Violation> {
        let Some(job) = self.left.pop() else { return Ok(()) };
        self.misbehaved("late");
        self.command(which, job.command, rng).map(drop)
    }

    fn faulted(&mut self, which: usize) {
        if !self.drivers[which].mishap.is_armed()
            && let Some(name) = self.armed[which].take()
        {
            self.misbehaved(name);
        }
    }
}
