//! One simulated history: two drivers, persons, a clock and a store, step by step from a seed.

use std::collections::BTreeSet;
use std::sync::Arc;

use tollgate_core::id::RunId;
use tollgate_core::protocol::Dialects;
use tollgate_core::run::event::{Event, Recorded, RunOutcome};
use tollgate_core::run::{Command, Run, effects};
use tollgate_engine::clock::Clock;
use tollgate_engine::session::{Replay, Session, snapshot_every};
use tollgate_store::{Fault, Point};

use super::driver::{Driver, Job, LEASE_MS};
use super::on_sqlite;
use super::opening::Played;
use super::person::LANDS_MAX;
use super::rng::Rng;
use super::stage::{FakeClock, Store};
use super::stuck::{closed, ended_well, is_owed_for_ever, waits_for};
use super::watch::{Coverage, Violation, Watch};
use super::worker::Conduct;
use crate::world::World;

/// Everybody is calm from one of these steps on.
const CALM_FROM: [u64; 2] = [1, 1_000];
/// A run that has not ended well after so many calm steps is stuck.
const CALM_STEPS_MAX: u64 = 2_000;
/// In so many of a hundred histories nobody changes a file.
const IDLE_PERCENT: u64 = 10;
/// In so many of a hundred histories somebody cancels the run, at any step before everybody is calm.
const CANCELS_PERCENT: u64 = 8;
/// So many steps more may landings take, of a run that has just ended.
const LANDING_STEPS_MAX: u64 = 1_000;

/// Snapshots come sooner than in earnest, so that a history has several and most drivers begin from one.
const SNAPSHOT_EVERY: u64 = 40;

/// What came of one seed.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What must not be, if anything.
    pub violation: Option<Violation>,
    /// What the run waits for, if it is stuck.
    pub stuck: Option<String>,
    /// How it was closed, if it was.
    pub closed: Option<RunOutcome>,
    /// Whether the run cannot end well for what a person gave up before everybody was calm.
    pub is_excused: bool,
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
    pub(super) dialects: Dialects,
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
    /// How often a person had the run land.
    pub(super) lands: u32,
    misbehaved: BTreeSet<&'static str>,
    /// A card that offers nothing but to give up.
    pub(super) dead_end: Option<String>,
    /// How many events there were when everybody became calm.
    calm_since: Option<usize>,
    /// Whether nobody changes a file in this history.
    pub(super) is_idle: bool,
    /// Whether the run cannot end well for what a person gave up.
    is_excused: bool,
}

/// Plays a seed; the steps in `skip` are left out.
pub fn play(played: &Played, seed: u64, skip: &BTreeSet<u64>) -> Outcome {
    let mut outcome = Outcome::default();
    match Play::open(played, seed) {
        Err(violation) => outcome.violation = Some(violation),
        Ok(mut play) => {
            match play.go(seed, skip, &mut outcome.steps) {
                Ok(stuck) => outcome.stuck = stuck.filter(|_| played.is_to_end_well()),
                Err(violation) => outcome.violation = Some(violation),
            }
            outcome.violation = outcome.violation.or_else(|| play.settle().err());
            outcome.closed = play.watch.run.as_ref().and_then(closed);
            outcome.is_excused = play.is_excused && played.is_to_end_well();
            outcome.events = std::mem::take(&mut play.watch.events);
            outcome.coverage = std::mem::take(&mut play.watch.coverage);
            outcome.misbehaved = std::mem::take(&mut play.misbehaved);
        }
    }
    outcome
}

impl Play {
    fn open(played: &Played, seed: u64) -> Result<Self, Violation> {
        snapshot_every(SNAPSHOT_EVERY);
        let store = Store::new(on_sqlite(seed));
        let clock: Arc<FakeClock> = Arc::default();
        clock.pass(1_000);
        let mut world = World::default();
        let (open, objects) = played.open(seed, &mut world).map_err(Violation::other)?;
        let (id, protocol) = (open.id, open.protocol.clone());
        let journal = store.connect(None).map_err(Violation::other)?;
        let watch = Watch::new(store.connect(None).map_err(Violation::other)?, id, protocol);
        let opened = Session::open(journal, clock.clone(), open, "ann", objects);
        let (persons, _) = opened.map_err(|error| Violation::other(format!("open: {error}")))?;
        Ok(Self {
            id,
            dialects: played.dialects.clone(),
            store,
            clock,
            world,
            drivers: [Driver::new("one"), Driver::new("two")],
            persons,
            watch,
            left: Vec::new(),
            performed: BTreeSet::new(),
            armed: [None, None],
            lands: 0,
            misbehaved: BTreeSet::new(),
            dead_end: None,
            calm_since: None,
            is_idle: Rng::new(seed, 4).percent(IDLE_PERCENT),
            is_excused: false,
        })
    }

    /// Whether everybody wants the run to end now.
    pub(super) fn is_calm(&self) -> bool {
        self.calm_since.is_some()
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

    /// Plays to the end; what the run waits for, if it is stuck.
    fn go(&mut self, seed: u64, skip: &BTreeSet<u64>, steps: &mut u64) -> Result<Option<String>, Violation> {
        self.watch.look()?;
        let [low, high] = CALM_FROM;
        let calm_from = Rng::new(seed, 2).between(low, high);
        let mut impatient = Rng::new(seed, 3);
        let cancels_at = impatient.percent(CANCELS_PERCENT).then(|| impatient.below(calm_from));
        for step in 0..=calm_from + CALM_STEPS_MAX + LANDING_STEPS_MAX {
            *steps = step;
            let closed = self.watch.run.as_ref().filter(|run| run.is_closed());
            let is_over = closed.is_some_and(|run| self.is_over(run));
            let is_late = closed.is_none() && step > calm_from + CALM_STEPS_MAX;
            if is_over || is_late || self.dead_end.is_some() {
                break;
            }
            if step == calm_from {
                self.calm_down();
            }
            if cancels_at == Some(step) && !skip.contains(&step) {
                self.cancel()?;
            }
            if !skip.contains(&step) {
                self.step(&mut Rng::new(seed, 100 + step))?;
            }
        }
        let Some((run, since)) = self.watch.run.as_ref().zip(self.calm_since) else { return Ok(None) };
        if !ended_well(run) && is_owed_for_ever(run, &self.watch.events) {
            self.is_excused = true;
            return Ok(None);
        }
        if !ended_well(run) {
            let waits = || waits_for(run, self.watch.events.get(since..).unwrap_or_default());
            return Ok(Some(self.dead_end.clone().unwrap_or_else(waits)));
        }
        if self.is_over(run) {
            return Ok(None);
        }
        Err(Violation { invariant: 5, what: format!("the landing does not end ({:?})", self.drivers) })
    }

    /// From here on everybody is calm.
    fn calm_down(&mut self) {
        for driver in &mut self.drivers {
            driver.mishap.disarm();
            driver.paused_until_ms = 0;
        }
        if self.watch.run.as_ref().is_some_and(|run| !run.is_closed()) {
            self.calm_since = Some(self.watch.events.len());
        }
    }

    /// Somebody has lost patience.
    fn cancel(&mut self) -> Result<(), Violation> {
        if self.watch.run.as_ref().is_some_and(|run| !run.is_closed()) {
            self.misbehaved("cancel");
            self.say(Command::Cancel { why: "too long".to_owned() })?;
        }
        Ok(())
    }

    /// Whether nothing is left to be done.
    fn is_over(&self, run: &Run) -> bool {
        let landed = !run.succeeded() || self.lands >= LANDS_MAX && run.landing.is_none();
        effects(run).is_empty() && landed
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
