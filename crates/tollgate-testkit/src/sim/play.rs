//! One simulated history: two drivers, persons, a clock and a store, step by step from a seed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tollgate_core::id::RunId;
use tollgate_core::run::event::{Event, Recorded};
use tollgate_engine::clock::Clock;
use tollgate_engine::session::{Replay, Session, snapshot_every};
use tollgate_store::{Fault, Point};

use super::driver::{Driver, Job, LEASE_MS};
use super::person::LANDS_MAX;
use super::rng::Rng;
use super::stage::{self, FakeClock, SCENES, Store};
use super::watch::{Coverage, Violation, Watch};
use super::worker::Conduct;
use crate::world::World;

/// A history ends after so many steps, whatever happens.
const STEPS_MAX: u64 = 6_000;
/// Once everybody wants an end, it comes within so many steps.
const CALM_STEPS_MAX: u64 = 3_000;

/// Snapshots come sooner than in earnest, so that a history has several and most drivers begin from one.
const SNAPSHOT_EVERY: u64 = 40;

/// What came of one seed.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What must not be, if anything.
    pub violation: Option<Violation>,
    /// The steps that were taken.
    pub steps: u64,
    /// Every event.
    pub events: Vec<Recorded>,
    /// What was exercised.
    pub coverage: Coverage,
    /// Misbehaviours that happened.
    pub misbehaved: BTreeSet<&'static str>,
}

/// A history in the making.
#[derive(Debug)]
pub struct Play {
    pub(super) id: RunId,
    pub(super) store: Store,
    pub(super) clock: Arc<FakeClock>,
    pub(super) world: World,
    pub(super) drivers: [Driver; 2],
    pub(super) persons: Session,
    pub(super) watch: Watch,
    /// Workers that dead drivers left.
    pub(super) left: Vec<Job>,
    /// Tokens under which something was done.
    pub(super) performed: BTreeSet<u64>,
    pub(super) armed: [Option<&'static str>; 2],
    /// How often a question was answered in vain.
    pub(super) tried: BTreeMap<u64, usize>,
    /// How often a person had the run land.
    pub(super) lands: u32,
    misbehaved: BTreeSet<&'static str>,
    target: u64,
    step: u64,
    calm_since: Option<u64>,
}

/// Plays a seed; the steps in `skip` are left out.
pub fn play(seed: u64, sqlite: bool, skip: &BTreeSet<u64>) -> Outcome {
    let mut outcome = Outcome::default();
    match Play::open(seed, sqlite) {
        Err(violation) => outcome.violation = Some(violation),
        Ok(mut play) => {
            let ended = play.go(seed, skip, &mut outcome.steps);
            outcome.violation = ended.err().or_else(|| play.settle().err());
            outcome.events = std::mem::take(&mut play.watch.events);
            outcome.coverage = std::mem::take(&mut play.watch.coverage);
            outcome.misbehaved = std::mem::take(&mut play.misbehaved);
        }
    }
    outcome
}

impl Play {
    fn open(seed: u64, sqlite: bool) -> Result<Self, Violation> {
        snapshot_every(SNAPSHOT_EVERY);
        let store = Store::new(sqlite);
        let clock: Arc<FakeClock> = Arc::default();
        clock.pass(1_000);
        let mut world = World::default();
        let scene = SCENES[usize::try_from(seed % SCENES.len() as u64).unwrap_or(0)];
        let (open, objects) = stage::open(scene, seed, &mut world).map_err(Violation::other)?;
        let (id, protocol) = (open.id, open.protocol.clone());
        let journal = store.connect(None).map_err(Violation::other)?;
        let watch = Watch::new(store.connect(None).map_err(Violation::other)?, id, protocol);
        let opened = Session::open(journal, clock.clone(), open, "ann", objects);
        let (persons, _) = opened.map_err(|error| Violation::other(format!("open: {error}")))?;
        Ok(Self {
            id,
            store,
            clock,
            world,
            drivers: [Driver::new("one"), Driver::new("two")],
            persons,
            watch,
            left: Vec::new(),
            performed: BTreeSet::new(),
            armed: [None, None],
            tried: BTreeMap::new(),
            lands: 0,
            misbehaved: BTreeSet::new(),
            target: Rng::new(seed, 2).between(120, 480),
            step: 0,
            calm_since: None,
        })
    }

    /// Whether everybody wants the run to end now.
    pub(super) fn is_calm(&self) -> bool {
        self.calm_since.is_some()
    }

    /// Whether persons would rather give the run up.
    pub(super) fn is_fed_up(&self) -> bool {
        self.calm_since.is_some_and(|since| self.step > since + CALM_STEPS_MAX / 2)
    }

    /// Notes a misbehaviour.
    pub(super) fn misbehaved(&mut self, how: &'static str) {
        self.misbehaved.insert(how);
    }

    pub(super) fn misbehaved_as(&mut self, conduct: Conduct) {
        let name = match conduct {
            Conduct::Honest | Conduct::Blocked | Conduct::Partial => return,
            Conduct::Crash => "crash",
            Conduct::Hang => "hang",
            Conduct::Lie => "lie",
            // It was in time after all: its lease was not lost.
            Conduct::Late => return,
            Conduct::Twice => "twice",
            Conduct::Echo => "echo",
            Conduct::Quota => "quota",
            Conduct::Malformed => "malformed",
            Conduct::Outside => "outside",
        };
        self.misbehaved(name);
    }

    fn go(&mut self, seed: u64, skip: &BTreeSet<u64>, steps: &mut u64) -> Result<(), Violation> {
        self.watch.look()?;
        for step in 0..STEPS_MAX {
            *steps = step;
            self.step = step;
            let published = self.watch.run.as_ref().is_some_and(|run| run.is_closed() && self.is_over(run));
            if published {
                return Ok(());
            }
            let events = self.watch.events.len() as u64;
            if self.calm_since.is_none() && events >= self.target {
                self.calm_since = Some(step);
                self.drivers.iter().for_each(|driver| driver.mishap.disarm());
                // Somebody may have lost patience instead.
                if Rng::new(seed, 3).percent(8) {
                    self.misbehaved("cancel");
                    self.say(tollgate_core::run::Command::Cancel { why: "too long".to_owned() })?;
                }
            }
            if self.calm_since.is_some_and(|since| step > since + CALM_STEPS_MAX) {
                return Err(Violation {
                    invariant: 5,
                    what: format!(
                        "the run does not end, though everybody wants it to ({:?} at {} ms)",
                        self.drivers,
                        self.clock.now_ms()
                    ),
                });
            }
            if !skip.contains(&step) {
                self.step(&mut Rng::new(seed, 100 + step))?;
            }
        }
        Err(Violation { invariant: 5, what: format!("the run has not ended after {STEPS_MAX} steps") })
    }

    /// Whether nothing is left to be done.
    fn is_over(&self, run: &tollgate_core::run::Run) -> bool {
        let landed = !run.succeeded() || self.lands >= LANDS_MAX && run.landing.is_none();
        tollgate_core::run::effects(run).is_empty() && landed
    }

    fn step(&mut self, rng: &mut Rng) -> Result<(), Violation> {
        self.clock.pass(rng.between(1, 1_500));
        let which = usize::try_from(rng.below(2)).unwrap_or(0);
        let dice = if self.is_calm() { rng.between(16, 99) } else { rng.below(100) };
        match dice {
            0..2 => {
                if self.drivers[which].session.is_some() {
                    self.misbehaved("driver crash");
                }
                self.drivers[which].crash(&mut self.left, rng);
                Ok(())
            }
            2..4 => {
                let sleeps = LEASE_MS * rng.between(1, 4);
                self.drivers[which].paused_until_ms = self.clock.now_ms() + sleeps;
                Ok(())
            }
            4..8 => {
                self.arm(which, rng);
                Ok(())
            }
            8..12 => {
                self.clock.pass(LEASE_MS * rng.between(0, 2));
                Ok(())
            }
            12..14 => {
                self.clock.pass(rng.between(1, 90) * 60_000);
                Ok(())
            }
            14..16 if rng.percent(20) => {
                self.clock.pass(rng.between(1, 12) * 86_400_000);
                Ok(())
            }
            16..34 => self.person(rng),
            _ => self.drive(which, rng),
        }
    }

    /// Something will go wrong at a driver's next write.
    fn arm(&mut self, which: usize, rng: &mut Rng) {
        let before = [Point::BeforeRows, Point::BeforeCommit];
        let after = [Point::AfterCommit, Point::BeforeReply];
        let late = rng.percent(50);
        let points = if late { after } else { before };
        let fault = if rng.percent(50) { Fault::Fail } else { Fault::Crash };
        self.armed[which] = Some(if late { "fault after commit" } else { "fault before commit" });
        let point = rng.pick(&points).copied().unwrap_or(Point::BeforeRows);
        self.drivers[which].mishap.arm(point, fault);
    }

    /// At the end: from the first event and from the snapshot, everything replays to the same.
    fn settle(&mut self) -> Result<(), Violation> {
        self.watch.look()?;
        let Some(run) = &self.watch.run else { return Ok(()) };
        let journal = self.store.connect(None).map_err(Violation::other)?;
        let loaded = Session::load(journal.clone(), self.clock.clone(), self.id)
            .map_err(|error| Violation::other(format!("load: {error}")))?;
        if loaded.run() != run {
            return Err(Violation { invariant: 6, what: "from the snapshot the run is another".to_owned() });
        }
        let mut audit = Replay::auditing(self.id);
        let rows = journal.load(self.id, 0, usize::MAX).map_err(|error| Violation::other(error.to_string()))?;
        for row in &rows {
            audit
                .row(row, &mut |digest| Ok(journal.object(digest)?))
                .map_err(|error| Violation { invariant: 6, what: format!("verify: {error}") })?;
        }
        if audit.run() != Some(run) || audit.head() != loaded.head() {
            return Err(Violation { invariant: 6, what: "from the first event the run is another".to_owned() });
        }
        if self.watch.events.iter().any(|recorded| matches!(recorded.event, Event::AttemptRefused(_))) {
            self.misbehaved("late");
        }
        Ok(())
    }
}
