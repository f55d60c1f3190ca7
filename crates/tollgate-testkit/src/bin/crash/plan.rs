//! What happens to the drivers of a history, from its seed.

use std::fmt;

use tollgate_store::Point;
use tollgate_testkit::sim::Rng;

use crate::scenario::{SCENARIOS, Scenario};

/// How many blows a history has at most.
const BLOWS_MAX: u64 = 10;
/// How many points are played in one history.
const TOGETHER: usize = 9;
/// The scenario in which drivers are stopped: whoever takes over has work to do at once.
const FOR_PAUSES: &str = "halted";
/// Up to which time of a point's coming it may count.
const NTH_MAX: u64 = 9;

/// When a blow falls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// After a driver has been at it so long, counted over all drivers since the last blow.
    After(u64),
    /// When a driver comes to this point for the nth time.
    At(Point, u64),
}

/// What happens to a driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// It is killed; its workers live on.
    Kill,
    /// Everything is killed at once, as when the machine loses its power.
    KillAll,
    /// It is stopped past its lease, another takes over, and it wakes up.
    Pause(Wake),
}

/// When a driver that was stopped wakes up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// So many milliseconds after another has begun.
    After(u64),
    /// As soon as the other has a worker at work.
    AtWork,
}

/// One blow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blow {
    /// When it falls.
    pub when: When,
    /// What it is.
    pub what: What,
}

/// A scenario and the blows that it gets.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How it is asked for again.
    pub again: String,
    /// The scenario, by its place.
    pub scenario: usize,
    /// The blows, in order.
    pub blows: Vec<Blow>,
    /// Whether a blow waits for its point; otherwise another has its turn when the point did not come.
    pub in_order: bool,
    /// Whether what follows a kill is typed twice at once, as by two people.
    pub rivals: bool,
}

impl Plan {
    /// A scenario that is left alone.
    pub fn undisturbed(scenario: usize) -> Self {
        Self { again: String::new(), scenario, blows: Vec::new(), in_order: true, rivals: false }
    }

    /// The history of a seed; `length_ms` says how long the drivers of each scenario work when they are left alone.
    pub fn of_seed(seed: u64, length_ms: &[u64]) -> Self {
        let mut rng = Rng::new(seed, 7);
        // The longer ones come more often: they have more moments.
        let scenario = usize::try_from(rng.below(2 * SCENARIOS.len() as u64 - 1)).unwrap_or(0).div_ceil(2);
        let length = length_ms.get(scenario).copied().unwrap_or(2_000).max(200);
        let blows = (0..rng.between(1, BLOWS_MAX)).map(|_| {
            let when = if rng.percent(35) {
                let point = rng.pick(&Point::of_a_run()).copied().unwrap_or(Point::BeforeCommit);
                When::At(point, rng.between(1, NTH_MAX))
            } else {
                When::After(rng.below(length / 2))
            };
            let what = match rng.below(10) {
                0 if rng.percent(50) => What::Pause(Wake::After(rng.below(1_500))),
                0 => What::Pause(Wake::AtWork),
                1 | 2 if matches!(when, When::After(_)) => What::KillAll,
                _ => What::Kill,
            };
            Blow { when, what }
        });
        let blows = blows.collect();
        Self { again: format!("--seed {seed}"), scenario, blows, in_order: false, rivals: rng.percent(30) }
    }

    /// The history in which drivers die, or are stopped, at these points; what leads there may need a crash before it.
    pub fn of_points(scenario: usize, points: &[Point], what: What) -> Self {
        let at = |point, what| Blow { when: When::At(point, 1), what };
        let blows = points.iter().flat_map(|point| {
            let needs_a_crash = matches!(point, Point::TreeKept | Point::TreeAside | Point::TreePut);
            let before = needs_a_crash.then(|| at(Point::Spawned, What::Kill));
            before.into_iter().chain([at(*point, what)])
        });
        let names: Vec<&str> = points.iter().map(|point| point.name()).collect();
        let again = format!("--points {}", names.join(","));
        Self { again, scenario, blows: blows.collect(), in_order: true, rivals: false }
    }

    /// The scenarios in which drivers die, or are stopped, at points. Those that land come to most of them.
    pub fn stories(what: What) -> Vec<usize> {
        let plays = |scenario: &Scenario| match what {
            What::Kill | What::KillAll => scenario.lands,
            What::Pause(_) => scenario.name == FOR_PAUSES,
        };
        SCENARIOS.iter().enumerate().filter(|(_, scenario)| plays(scenario)).map(|(number, _)| number).collect()
    }

    /// Every point in a few histories: a start comes first in its own.
    pub fn groups(points: &[Point]) -> Vec<&[Point]> {
        let start = points.iter().position(|point| *point == Point::StartMade).unwrap_or_default();
        let (store, engine) = points.split_at(start);
        store.chunks(TOGETHER).chain(engine.chunks(TOGETHER)).collect()
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rivals = if self.rivals { " with rivals" } else { "" };
        write!(f, "{}{rivals}: ", SCENARIOS[self.scenario].name)?;
        for (number, Blow { when, what }) in self.blows.iter().enumerate() {
            let comma = if number > 0 { ", " } else { "" };
            let when = match when {
                When::After(ms) => format!("after {ms} ms"),
                When::At(point, nth) => format!("at {} {nth}", point.name()),
            };
            write!(f, "{comma}{what:?} {when}")?;
        }
        Ok(())
    }
}
