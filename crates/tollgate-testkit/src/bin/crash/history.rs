//! One history: a person who types the next command until the run is over, while its drivers are killed.

use std::collections::VecDeque;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tollgate_core::id::DecisionId;
use tollgate_core::run::state::{Decision, Phase};
use tollgate_core::run::{Event, Recorded, Run, effects};
use tollgate_store::Point;

use crate::Outcome;
use crate::plan::{Blow, Plan, Wake, What, When};
use crate::scenario::{Answer, SCENARIOS, Scenario};
use crate::world::{LEASE_MS, World};

/// The most commands that a person types before the run counts as stuck.
const COMMANDS_MAX: usize = 80;
/// How long one command may take.
const COMMAND_LIMIT: Duration = Duration::from_secs(90);
/// How long a driver that wakes up may take to see that it was overtaken.
const LEAVE_LIMIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(1);

/// What became of a history.
#[derive(Debug, Default)]
pub struct Played {
    /// How often a driver was killed.
    pub kills: usize,
    /// How often one was stopped past its lease.
    pub pauses: usize,
    /// How often another one took over while the first was stopped.
    pub overtaken: usize,
    /// How long drivers were at it, without pauses.
    pub worked: Duration,
    /// Blows that never fell.
    pub unspent: usize,
    /// The points at which blows fell.
    pub points: Vec<Point>,
    /// The unfinished files that lay in work trees after a kill.
    pub unfinished: Vec<String>,
}

/// A history under way.
pub struct History<'a> {
    pub world: &'a World,
    scenario: &'static Scenario,
    blows: VecDeque<Blow>,
    in_order: bool,
    rivals: bool,
    /// How long drivers have been at it since the last blow.
    since: Duration,
    pub played: Played,
    /// How the last command ended; none: it was killed, or there was none.
    last: Option<i32>,
}

impl<'a> History<'a> {
    /// A history in a world.
    pub fn new(world: &'a World, plan: &Plan) -> Self {
        Self {
            world,
            scenario: &SCENARIOS[plan.scenario],
            blows: plan.blows.iter().copied().collect(),
            in_order: plan.in_order,
            rivals: plan.rivals,
            since: Duration::ZERO,
            played: Played::default(),
            last: None,
        }
    }

    /// Plays it to its end; what is wrong when it has none.
    pub fn play(&mut self) -> Outcome<(Run, Vec<Recorded>)> {
        for _ in 0..COMMANDS_MAX {
            let known = self.world.run()?;
            let words = match &known {
                None => self.world.run_words(self.scenario),
                Some((run, events)) => match self.next(run, events)? {
                    Some(words) => words,
                    None => {
                        self.played.unspent = self.blows.len();
                        return known.ok_or_else(|| "the run is gone".into());
                    }
                },
            };
            self.type_in(&words)?;
        }
        Err(format!("it is not over after {COMMANDS_MAX} commands").into())
    }

    /// What a person types next; nothing when the run is over and nobody was killed at it.
    fn next(&self, run: &Run, events: &[Recorded]) -> Outcome<Option<Vec<String>>> {
        let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
        let id = run.id.to_string();
        let resume = words(&["resume", &id, "--no-wait"]);
        match (self.last, &run.phase) {
            (None, _) => Ok(resume),
            (Some(_), Phase::Closed { .. }) if effects(run).is_empty() => {
                let lands = self.scenario.lands && run.landed.is_empty();
                Ok(if lands { words(&["land", &id, "--as", "merge"]) } else { None })
            }
            (Some(4), Phase::Open) => Ok(self.decide(run)?.or(resume)),
            (Some(1), Phase::Halted { .. }) if retried(events) < self.scenario.retries => {
                Ok(words(&["retry", &id, "--no-wait"]))
            }
            (Some(1), Phase::Halted { .. }) => Err(format!("{id} is halted: {:?}", run.phase).into()),
            _ => Ok(resume),
        }
    }

    /// Answers one of the open questions, if there are any: the one whose answer the scenario names first, whichever was asked first.
    fn decide(&self, run: &Run) -> Outcome<Option<Vec<String>>> {
        let mut first: Option<(usize, DecisionId)> = None;
        for (id, decision) in run.pending() {
            let place = self.answer(run, decision)?;
            if first.as_ref().is_none_or(|(best, _)| place < *best) {
                first = Some((place, id));
            }
        }
        let Some((place, id)) = first else { return Ok(None) };
        let answer = &self.scenario.answers[place];
        let mut words: Vec<String> = vec!["decide".into(), run.id.to_string(), id.to_string()];
        words.extend(answer.words.iter().map(|word| (*word).to_owned()));
        words.push("--no-wait".into());
        if let Some(decision) = run.decisions.get(&id) {
            self.mend(run, decision, answer)?;
        }
        Ok(Some(words))
    }

    /// The place of the scenario's answer to a decision.
    fn answer(&self, run: &Run, decision: &Decision) -> Outcome<usize> {
        let asked = &decision.asked;
        let same = |other: &&Decision| other.asked.ask == asked.ask && other.asked.unit == asked.unit;
        let nth = run.decisions.values().map(|other| &**other).filter(same).position(|other| other == decision);
        let nth = nth.unwrap_or_default() + 1;
        let fits = |known: &Answer| *known.ask == *asked.ask && (known.nth == nth || known.nth == 0);
        let place = self.scenario.answers.iter().position(fits);
        place.ok_or_else(|| format!("the history does not expect `{}` number {nth}", asked.ask).into())
    }

    /// What a person mends by hand before the answer.
    fn mend(&self, run: &Run, decision: &Decision, answer: &Answer) -> Outcome {
        let unit = decision
            .asked
            .unit
            .as_deref()
            .filter(|name| run.unit(name).and_then(|unit| unit.tree.as_ref()).is_some_and(|own| !own.landed));
        for (path, text) in answer.files {
            let tree = self.world.path("state/trees").join(run.id.to_string()).join(unit.unwrap_or("@run"));
            std::fs::write(tree.join(path), text)?;
        }
        Ok(())
    }

    /// Types a command and sees to its blow, if one falls while it runs.
    fn type_in(&mut self, words: &[String]) -> Outcome {
        let blow = self.blows.front().copied();
        let fail_at = blow.and_then(|blow| match (blow.when, blow.what) {
            (When::At(point, nth), What::Pause(_)) => Some(format!("{}:{nth}:stop", point.name())),
            (When::At(point, nth), _) => Some(format!("{}:{nth}", point.name())),
            (When::After(_), _) => None,
        });
        // Two who start a run have two runs.
        let killed_before =
            self.played.kills > 0 && self.last.is_none() && words.first().is_some_and(|word| word != "run");
        let child = self.world.start(words, fail_at.as_deref())?;
        let rival = if self.rivals && killed_before { Some(Guard(self.world.start(words, None)?)) } else { None };
        let began = Instant::now();
        let before = self.since;
        let mut child = Guard(child);
        loop {
            if let Some(status) = child.0.try_wait()? {
                self.ended(status, blow);
                break;
            }
            self.since = before + began.elapsed();
            if began.elapsed() > COMMAND_LIMIT {
                return Err(format!("`{}` does not come to its end", words.join(" ")).into());
            }
            let Some(Blow { when, what }) = blow else {
                std::thread::sleep(POLL);
                continue;
            };
            let due = match when {
                When::After(ms) => self.since >= Duration::from_millis(ms),
                When::At(..) => matches!(what, What::Pause(_)) && is_stopped(&child.0),
            };
            if due && self.strike(&mut child, what)? {
                break;
            }
            std::thread::sleep(POLL);
        }
        self.played.worked += began.elapsed();
        rival.map_or(Ok(()), |rival| leaves(rival, words))
    }

    fn ended(&mut self, status: ExitStatus, blow: Option<Blow>) {
        self.last = status.code();
        let at_point = blow.is_some_and(|blow| matches!(blow.when, When::At(..)));
        if self.last.is_none() && at_point {
            self.killed();
        } else if at_point && !self.in_order {
            // The point did not come: another blow has its turn with the next command.
            self.blows.rotate_left(1);
        }
    }

    fn killed(&mut self) {
        self.played.kills += 1;
        self.last = None;
        self.next_blow();
        self.played.unfinished.extend(unfinished(&self.world.path("state/trees")));
    }

    fn next_blow(&mut self) {
        let blow = self.blows.pop_front();
        if let Some(Blow { when: When::At(point, _), .. }) = blow {
            self.played.points.push(point);
        }
        self.since = Duration::ZERO;
    }

    /// Lets a blow fall; true when the command has ended by it.
    fn strike(&mut self, child: &mut Guard, what: What) -> Outcome<bool> {
        match what {
            What::Kill | What::KillAll => {
                child.0.kill()?;
                let status = child.0.wait()?;
                if what == What::KillAll {
                    end_all(self.world);
                }
                match status.code() {
                    // It was faster: then the blow falls on the next.
                    Some(code) => self.last = Some(code),
                    None => self.killed(),
                }
                Ok(true)
            }
            What::Pause(wake) => {
                signal(&child.0, Signal::STOP);
                self.played.pauses += 1;
                self.next_blow();
                self.overtake(child, wake)?;
                Ok(true)
            }
        }
    }

    /// Has another driver take over while the first is stopped, and wakes the first up in the middle of it.
    fn overtake(&mut self, first: &mut Guard, wake: Wake) -> Outcome {
        std::thread::sleep(Duration::from_millis(LEASE_MS + 300));
        let agents = self.world.agents();
        // One that is stopped within a transaction locks everybody out until it goes on.
        let known = self.world.run().unwrap_or_default();
        let epoch = known.as_ref().map_or(0, |(run, _)| run.epoch);
        let mut second = match &known {
            Some((run, _)) => {
                let words = ["resume".to_owned(), run.id.to_string(), "--no-wait".to_owned()];
                Some(Guard(self.world.start(&words, None)?))
            }
            None => None,
        };
        let began = Instant::now();
        let mut woken = None;
        // The one that takes over may be killed, too.
        let blow = self.blows.front().copied();
        let due = blow.and_then(|blow| match (blow.when, blow.what) {
            (When::After(ms), What::Kill) => Some(Duration::from_millis(ms)),
            _ => None,
        });
        loop {
            let mut ended = second.as_mut().map_or(Ok(None), |second| second.0.try_wait())?;
            if let (Some(due), Some(other), None) = (due, &mut second, ended)
                && began.elapsed() > due
            {
                other.0.kill()?;
                let status = other.0.wait()?;
                if status.code().is_none() {
                    self.killed();
                }
                ended = Some(status);
            }
            // One that cannot go on because the first is stopped at its worst moment says so, and the person wakes it up.
            let time = match wake {
                Wake::After(ms) => began.elapsed() > Duration::from_millis(ms),
                Wake::AtWork => woken.is_none() && self.world.agents().iter().any(|agent| !agents.contains(agent)),
            };
            if woken.is_none() && (time || ended.is_some() || second.is_none()) {
                signal(&first.0, Signal::CONT);
                woken = Some(Instant::now());
            }
            let left = first.0.try_wait()?;
            if (ended.is_some() || second.is_none()) && left.is_some() {
                let status = ended.or(left);
                self.last = status.and_then(|status| status.code());
                break;
            }
            if woken.is_some_and(|at| at.elapsed() > LEAVE_LIMIT) && ended.is_some() {
                return Err("the driver that woke up does not leave".into());
            }
            if began.elapsed() > COMMAND_LIMIT {
                return Err("two drivers do not come to an end".into());
            }
            std::thread::sleep(POLL);
        }
        let now = self.world.run()?.map_or(0, |(run, _)| run.epoch);
        self.played.overtaken += usize::from(now > epoch && second.is_some());
        Ok(())
    }
}

/// Waits until a rival has left: refused, or with the run at rest.
fn leaves(mut rival: Guard, words: &[String]) -> Outcome {
    let began = Instant::now();
    while rival.0.try_wait()?.is_none() {
        if began.elapsed() > COMMAND_LIMIT {
            return Err(format!("the rival's `{}` does not come to its end", words.join(" ")).into());
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}

fn retried(events: &[Recorded]) -> usize {
    events.iter().filter(|recorded| matches!(recorded.event, Event::RunRetried(_))).count()
}

/// A process that does not outlive its history.
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn signal(child: &Child, signal: Signal) {
    // One that has just ended needs none.
    let _ = kill_process(Pid::from_child(child), signal);
}

/// Kills every process of a history, as a machine that loses its power does.
pub fn end_all(world: &World) {
    for (pid, _) in world.processes() {
        if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn is_stopped(child: &Child) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T'))
}

/// The unfinished files in the work trees, by name.
fn unfinished(trees: &Path) -> Vec<String> {
    let list = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let trees = list(trees).flat_map(|run| list(&run).collect::<Vec<_>>());
    let files = trees.flat_map(|tree| list(&tree).collect::<Vec<_>>());
    let names = files.filter_map(|file| Some(file.file_name()?.to_str()?.to_owned()));
    names.filter(|name| name.starts_with("wip-")).collect()
}
