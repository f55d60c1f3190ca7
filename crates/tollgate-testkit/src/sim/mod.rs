//! The simulator: seeded histories of runs in which everybody misbehaves, checked after every event.

mod conditions;
mod driver;
mod evidence;
mod opening;
mod person;
mod plans;
mod play;
mod rng;
mod rules;
mod stage;
mod stuck;
mod watch;
mod worker;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use opening::Played;
pub use play::{Outcome, play};
pub use rng::Rng;
pub use watch::{Coverage, Violation};

use tollgate_core::run::event::RunOutcome;

use crate::log;

/// One seed in so many is played on SQLite with two connections; the others in memory. It shares no factor with the
/// number of ways in which a protocol is played, so that each is played on both.
const SQLITE_EVERY: u64 = 17;
/// A misbehaviour that happens in fewer seeds than this share is not simulated.
const SHARE_MIN_PERCENT: u64 = 5;
/// A history shorter than this on average proves little.
const EVENTS_MEAN_MIN: u64 = 200;
/// From so many seeds of a protocol on, how they ended is asserted.
const ENDS_ASSERTED_FROM: u64 = 34;
/// The share of a protocol's seeds that must end well; the others were given up or cancelled before everybody was calm.
const ENDED_WELL_MIN_PERCENT: u64 = 30;
/// From so many seeds on, what was exercised is asserted.
const ASSERT_FROM: u64 = 400;
/// Steps that shrinking a failure may take over all its replays.
const SHRINK_STEPS_MAX: u64 = 200_000;

/// Misbehaviours that every campaign must show.
const MISBEHAVIOURS: [&str; 22] = [
    "crash",
    "hang",
    "lie",
    "late",
    "twice",
    "echo",
    "quota",
    "malformed",
    "outside",
    "repair",
    "driver crash",
    "stale driver",
    "store crash",
    "fault before commit",
    "fault after commit",
    "double answer",
    "conflicting answer",
    "late answer",
    "by hand",
    "retry",
    "cancel",
    "sqlite",
];

/// What came of a campaign.
#[derive(Debug, Default)]
pub struct Campaign {
    /// Seeds that were played.
    pub seeds: u64,
    /// Events over all seeds.
    pub events: u64,
    /// How many runs of each protocol were closed how.
    pub closed: BTreeMap<(usize, &'static str), u64>,
    /// How many runs of each protocol cannot end well for what a person gave up.
    pub excused: BTreeMap<usize, u64>,
    /// How many histories of each protocol were played.
    pub played: BTreeMap<usize, u64>,
    /// What must not be, by protocol and seed.
    pub failures: BTreeMap<(usize, u64), Violation>,
    /// What stuck runs wait for, by protocol and seed.
    pub stuck: BTreeMap<(usize, u64), String>,
    /// What was exercised.
    pub coverage: Coverage,
    /// In how many seeds each misbehaviour happened.
    pub misbehaved: BTreeMap<&'static str, u64>,
}

impl Campaign {
    fn add(&mut self, case: (usize, u64), outcome: Outcome) {
        self.seeds += 1;
        self.events += outcome.events.len() as u64;
        for (what, count) in outcome.coverage {
            *self.coverage.entry(what).or_default() += count;
        }
        for how in outcome.misbehaved {
            *self.misbehaved.entry(how).or_default() += 1;
        }
        *self.played.entry(case.0).or_default() += 1;
        if let Some(closed) = outcome.closed {
            *self.closed.entry((case.0, end_word(closed))).or_default() += 1;
        }
        *self.excused.entry(case.0).or_default() += u64::from(outcome.is_excused);
        if let Some(violation) = outcome.violation {
            self.failures.insert(case, violation);
        } else if let Some(waits_for) = outcome.stuck {
            self.stuck.insert(case, waits_for);
        }
    }

    /// How many runs of a protocol came to an end that it was made for.
    pub fn ended_well(&self, which: usize) -> u64 {
        let ends = [RunOutcome::Succeeded, RunOutcome::Reported].map(|end| (which, end_word(end)));
        ends.iter().filter_map(|end| self.closed.get(end)).sum()
    }

    /// The protocols that mostly end some other way than they were made for: one that gives up early is never stuck.
    pub fn bad_ends(&self, all: &[Played]) -> Vec<String> {
        let enough = |which: &usize| self.played.get(which).is_some_and(|seeds| *seeds >= ENDS_ASSERTED_FROM);
        let mut bad = Vec::new();
        for (which, played) in all.iter().enumerate().filter(|(which, _)| enough(which)) {
            let (seeds, well) = (self.played.get(&which).copied().unwrap_or(0), self.ended_well(which));
            if played.is_to_end_well() && well * 100 < seeds * ENDED_WELL_MIN_PERCENT {
                bad.push(format!("{}: {well} of {seeds} seeds ended well only", played.name));
            }
            let mut never = vec![RunOutcome::Succeeded];
            never.extend(played.reports().then_some(RunOutcome::Reported));
            let mut never: Vec<&str> = never.into_iter().map(end_word).collect();
            never.retain(|end| !self.closed.contains_key(&(which, end)));
            bad.extend(never.iter().map(|end| format!("{}: no seed {end}", played.name)));
        }
        bad
    }

    /// What the campaign did not exercise; an invariant that holds over nothing proves nothing.
    pub fn gaps(&self) -> Vec<String> {
        if self.seeds < ASSERT_FROM {
            return Vec::new();
        }
        let mut gaps: Vec<String> = watch::expected()
            .into_iter()
            .filter(|what| !self.coverage.contains_key(what))
            .map(|what| format!("`{what}` was never exercised"))
            .collect();
        let rare = MISBEHAVIOURS.iter().map(|how| (*how, self.misbehaved.get(how).copied().unwrap_or(0)));
        let rare = rare.filter(|(_, seeds)| seeds * 100 < self.seeds * SHARE_MIN_PERCENT);
        gaps.extend(rare.map(|(how, seeds)| format!("`{how}` happened in {seeds} of {} seeds only", self.seeds)));
        if self.events < self.seeds * EVENTS_MEAN_MIN {
            gaps.push(format!("{} events a history on average", self.events / self.seeds.max(1)));
        }
        gaps
    }
}

const fn end_word(end: RunOutcome) -> &'static str {
    match end {
        RunOutcome::Succeeded => "succeeded",
        RunOutcome::Reported => "reported",
        RunOutcome::Dropped => "was dropped",
        RunOutcome::Cancelled => "was cancelled",
    }
}

/// Whether a seed is played on SQLite.
const fn on_sqlite(seed: u64) -> bool {
    seed % SQLITE_EVERY == SQLITE_EVERY - 1
}

/// How many seeds of a protocol are played.
#[derive(Debug, Clone, Copy)]
pub struct Seeds {
    /// Of each that is not in [`Self::of_kit`].
    pub each: u64,
    /// Of each of the kit's that are played unless one is named.
    pub of_kit: u64,
}

impl Seeds {
    fn of(self, played: &Played) -> u64 {
        if played.is_of_kit() { self.of_kit } else { self.each }
    }
}

/// Plays so many seeds of each protocol on as many threads as there are cores.
pub fn campaign(all: &[Played], first: u64, seeds: Seeds, stop_at_first: bool) -> Campaign {
    let next = AtomicUsize::new(0);
    let campaign = Mutex::new(Campaign::default());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let rounds = (0..seeds.each.max(seeds.of_kit)).flat_map(|nth| (0..all.len()).map(move |which| (which, nth)));
    let cases: Vec<(usize, u64)> =
        rounds.filter(|(which, nth)| *nth < seeds.of(&all[*which])).map(|(which, nth)| (which, first + nth)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((which, seed)) = cases.get(next.fetch_add(1, Ordering::Relaxed)).copied() {
                    let mut outcome = play(&all[which], seed, &BTreeSet::new());
                    if on_sqlite(seed) {
                        outcome.misbehaved.insert("sqlite");
                    }
                    let failed = outcome.violation.is_some() || outcome.stuck.is_some();
                    campaign.lock().unwrap_or_else(PoisonError::into_inner).add((which, seed), outcome);
                    if failed && stop_at_first {
                        next.store(cases.len(), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    campaign.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Leaves out steps of a failing seed as long as it fails in the same way; returns what is left.
pub fn shrink(played: &Played, seed: u64, violation: &Violation) -> Outcome {
    let mut best = play(played, seed, &BTreeSet::new());
    let mut skip: BTreeSet<u64> = BTreeSet::new();
    let mut taken = 0;
    let mut size = (best.steps / 2).max(1);
    loop {
        let mut start = 0;
        while start <= best.steps && taken < SHRINK_STEPS_MAX {
            let mut more = skip.clone();
            more.extend(start..start + size);
            let outcome = play(played, seed, &more);
            taken += outcome.steps.max(50);
            let same = outcome.violation.as_ref().is_some_and(|found| found.invariant == violation.invariant);
            if same && outcome.events.len() < best.events.len() {
                (best, skip) = (outcome, more);
            }
            start += size;
        }
        if size == 1 || taken >= SHRINK_STEPS_MAX {
            return best;
        }
        size = (size / 2).max(1);
    }
}

/// A history as lines.
pub fn history(outcome: &Outcome) -> Vec<String> {
    let lines = outcome.events.iter().filter_map(|recorded| {
        let line = log::line(recorded)?;
        Some(format!("{:>5} {:>9} ms  {line}", recorded.seq, recorded.at_ms))
    });
    lines.collect()
}
