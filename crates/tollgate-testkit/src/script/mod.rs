//! Scripts in, log out: a run is played against the kernel alone, one line a step.
//!
//! ```text
//! protocol build-plan | input complexity=standard | row DoD-1 unit=backend group=dod | answer sign-off approve
//! report build@backend ok write=src/a.rs | report check@backend reject fail=DoD-1 | ran DoD-1=pass | land backend
//! unready build why="npm ci exited with 1" | late build ok | takeover | tick 60 | retry backend | cancel why="no use" | publish
//! deliver merge moved=src/b.rs touched=src/a.rs | delivered checks=DoD-1=pass | delivered left="main has moved"
//! ```

mod answer;
mod protocols;
mod used;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;

use tollgate_core::Name;
use tollgate_core::digest::Digest;
use tollgate_core::id::{AttemptId, RoleId, RunId, StageId};
use tollgate_core::protocol::{self, Protocol, model::Value};
use tollgate_core::report::{CriterionReport, Health, Judgement, Plan, RowWord, Verdict};
use tollgate_core::run::budget::Budgets;
use tollgate_core::run::decide::{AttemptResult, LandEnd, Open, OpenArtifact};
use tollgate_core::run::event::{
    AttemptStarted, By, ByKind, Event, LandAs, LandOutcome, LandTarget, RunRepaired, Work,
};
use tollgate_core::run::pool::Around;
use tollgate_core::run::{self, Command, Decided, Recorded, Rejection, Run, Stamp, gate, invariants};

use crate::log;
use crate::world::World;
pub use protocols::{dialects, protocol_text};
pub use words::by;
use words::{documents, judged, names, pair, planned, read_report, words};

/// A run that is played.
#[derive(Debug)]
pub struct Play {
    /// The run as it stands.
    pub run: Run,
    /// Everything that happened.
    pub events: Vec<Recorded>,
    /// Where its trees are.
    pub world: World,
    now_ms: u64,
    epoch: u64,
    blobs: u64,
    around: Around,
    /// The documents that it was given.
    artifacts: BTreeMap<Name, OpenArtifact>,
}

/// What a script says before its run begins.
#[derive(Debug, Default)]
struct Setup {
    protocol: Option<Arc<Protocol>>,
    inputs: BTreeMap<Name, Value>,
    plan: Plan,
    /// Documents besides the task.
    given: BTreeMap<Name, OpenArtifact>,
    files: Vec<Name>,
    commands: BTreeMap<Name, Vec<String>>,
    answers: BTreeMap<StageId, Name>,
    budgets: Budgets,
    pools: BTreeMap<RoleId, Name>,
}

/// Plays a script and returns its log: each step, and below it what it changed.
pub fn play(script: &str) -> (Option<Play>, String) {
    play_after(Setup::default(), script)
}

/// Plays a script under a protocol of the caller's.
pub fn play_under(protocol: &str, script: &str) -> (Option<Play>, String) {
    let protocol = protocol::read(protocol).0.map(Arc::new);
    play_after(Setup { protocol, ..Setup::default() }, script)
}

fn play_after(mut setup: Setup, script: &str) -> (Option<Play>, String) {
    let mut play: Option<Play> = None;
    let mut log = String::new();
    let steps = script.lines().flat_map(|line| line.split(" | ")).map(str::trim).filter(|step| !step.is_empty());
    for step in steps {
        let words = words(step);
        if play.is_none() && setup.take(&words) {
            continue;
        }
        let mut say = |lines: Vec<String>| lines.iter().for_each(|line| log.push_str(&format!("  {line}\n")));
        let current = match &mut play {
            Some(play) => play,
            None => match Play::open(&setup) {
                Ok(opened) => {
                    say(opened.events.iter().filter_map(log::line).collect());
                    play.insert(opened)
                }
                Err(rejection) => {
                    say(vec![format!("! {rejection}")]);
                    return (None, log);
                }
            },
        };
        let lines = current.step(&words).unwrap_or_else(|problem| vec![format!("! {problem}")]);
        log.push_str(&format!("{step}\n"));
        lines.iter().for_each(|line| log.push_str(&format!("  {line}\n")));
    }
    if let (None, Some(_)) = (&play, &setup.protocol) {
        match Play::open(&setup) {
            Ok(opened) => {
                opened.events.iter().filter_map(log::line).for_each(|line| log.push_str(&format!("  {line}\n")));
                play = Some(opened);
            }
            Err(rejection) => log.push_str(&format!("  ! {rejection}\n")),
        }
    }
    (play, log)
}

impl Setup {
    /// Takes a line that belongs before the run; false when the run begins here.
    fn take(&mut self, words: &[String]) -> bool {
        let (Some(verb), rest) = (words.first(), words.get(1..).unwrap_or_default()) else { return false };
        match (verb.as_str(), rest) {
            ("protocol", [name]) => {
                self.protocol = protocol_text(name).and_then(|text| protocol::read(text).0).map(Arc::new);
            }
            ("input", [one]) => {
                let (name, value) = pair(one);
                self.inputs.insert(name, Value::Text(value));
            }
            ("give", words) => self.given.extend(documents(words)),
            ("file", [path]) => self.files.push(path.as_str().into()),
            ("command", [name]) => drop(self.commands.insert(name.as_str().into(), vec!["run".into()])),
            ("advance", [one]) => {
                let (stage, option) = pair(one);
                self.answers.insert(stage.into(), option);
            }
            ("budget", [whose, rest @ ..]) => return used::budget(&mut self.budgets, whose, rest),
            ("pool", [one]) => {
                let (role, pool) = pair(one);
                self.pools.insert(role.into(), pool);
            }
            ("unit" | "row" | "req", [one, ..]) => planned(&mut self.plan, verb, one, &rest[1..]),
            _ => return false,
        }
        true
    }
}

impl Play {
    fn open(setup: &Setup) -> Result<Self, Rejection> {
        let protocol = setup.protocol.clone().ok_or_else(|| Rejection::Unsupported("no such protocol".to_owned()))?;
        let mut world = World::default();
        let files = setup.files.iter().cloned().chain(["src/main.rs".into()]).map(|path| (path, 0)).collect();
        let tree = world.put(files);
        let content = world.opening(&tree, &protocol, RunId::from_bits(1), &setup.inputs);
        let task = OpenArtifact { object: Digest::of(b"task"), plan: setup.plan.clone(), ..OpenArtifact::default() };
        let artifacts = protocol.artifacts.contains_key("task").then(|| (Name::from("task"), task));
        let artifacts: BTreeMap<Name, OpenArtifact> = artifacts.into_iter().chain(setup.given.clone()).collect();
        let open = Open {
            id: RunId::from_bits(1),
            title: "a play".to_owned(),
            digest: Digest::default(),
            pins: BTreeMap::new(),
            repository: "/repository".to_owned(),
            base: "base".into(),
            inputs: setup.inputs.clone(),
            artifacts: artifacts.clone(),
            workers: BTreeMap::new(),
            commands: setup.commands.clone(),
            areas: BTreeMap::new(),
            config: serde_json::Value::Null,
            answers: setup.answers.clone(),
            scopes: BTreeMap::new(),
            content,
            budgets: setup.budgets,
            pools: setup.pools.clone(),
            checkout: None,
            protocol,
        };
        let stamp = Stamp { now_ms: 0, by: by(ByKind::Person, "ann"), epoch: 0, around: Around::default() };
        let Decided { events, run, .. } = run::open(open, &stamp)?;
        let around = Around::default();
        let mut play = Self { run, events, world, now_ms: 0, epoch: 0, blobs: 0, around, artifacts };
        // Every run has a driver; the script says only when another one takes over.
        play.take_over().map_err(|_| Rejection::NotTheDriver)?;
        Ok(play)
    }

    fn take_over(&mut self) -> Result<Vec<String>, String> {
        self.epoch += 1;
        let driver = Name::from(format!("driver-{}", self.epoch));
        self.say(Command::TakeOver { driver: driver.clone() }, by(ByKind::Driver, &driver))
    }

    fn driver(&self) -> By {
        by(ByKind::Driver, &format!("driver-{}", self.epoch))
    }

    /// Decides a command and keeps what it changed, as long as every invariant holds.
    pub fn say(&mut self, command: Command, by: By) -> Result<Vec<String>, String> {
        self.now_ms += 1;
        let stamp = Stamp { now_ms: self.now_ms, by, epoch: self.epoch, around: self.around.clone() };
        let decided = run::decide(&self.run, command, &stamp).map_err(|rejection| rejection.to_string())?;
        let mut lines: Vec<String> = decided.events.iter().filter_map(log::line).collect();
        lines.extend(decided.refusal.map(|rejection| format!("! {rejection}")));
        self.run = decided.run;
        self.events.extend(decided.events);
        let broken = invariants::state(&self.run);
        lines.extend(broken.iter().map(|violation| format!("BROKEN {}: {}", violation.invariant, violation.what)));
        Ok(lines)
    }

    /// One step; the driver grants at once what a person's word made ready.
    fn step(&mut self, words: &[String]) -> Result<Vec<String>, String> {
        let mut lines = self.one(words)?;
        if !self.run.is_closed() {
            lines.extend(self.say(Command::Advance, self.driver())?);
        }
        Ok(lines)
    }

    fn one(&mut self, words: &[String]) -> Result<Vec<String>, String> {
        let (Some(verb), rest) = (words.first(), words.get(1..).unwrap_or_default()) else { return Ok(Vec::new()) };
        let person = by(ByKind::Person, "ann");
        match (verb.as_str(), rest) {
            ("report", [who, rest @ ..]) => {
                let (attempt, started, token) = self.live(who).ok_or_else(|| format!("no worker is at {who}"))?;
                self.report(attempt, &started, token, rest)
            }
            ("late", [who, rest @ ..]) => {
                let (attempt, started, token) = self.gone(who).ok_or_else(|| format!("no worker was at {who}"))?;
                self.report(attempt, &started, token, rest)
            }
            ("unready", [who, rest @ ..]) => self.unready(who, rest),
            ("ran", results) => self.ran(results),
            ("land", [unit, rest @ ..]) => self.land(unit, rest),
            ("answer", [ask, rest @ ..]) => self.answer(ask, rest, person),
            ("elsewhere", rest) => {
                self.around = used::elsewhere(rest, self.now_ms);
                Ok(Vec::new())
            }
            ("takeover", []) => self.take_over(),
            ("advance", []) => self.say(Command::Advance, self.driver()),
            ("tick", [seconds]) => {
                self.now_ms += seconds.parse::<u64>().unwrap_or(0) * 1000;
                self.say(Command::Tick, self.driver())
            }
            ("retry", []) => self.say(Command::Retry { unit: None }, person),
            ("retry", [unit]) => self.say(Command::Retry { unit: Some(unit.as_str().into()) }, person),
            ("repair", []) => {
                let repaired = RunRepaired {
                    why: "something was lost".to_owned(),
                    until: self.run.seq,
                    committed: None,
                    file: None,
                    after: Vec::new(),
                    next_attempt: self.run.next_attempt,
                    next_decision: self.run.next_decision,
                    next_finding: self.run.next_finding,
                };
                self.say(Command::Repair(Box::new(repaired)), person)
            }
            ("cancel", []) => self.say(Command::Cancel { why: "enough".to_owned() }, person),
            ("cancel", [why]) => self.say(Command::Cancel { why: pair(why).1.to_string() }, person),
            ("publish", []) => {
                self.say(Command::Published { branch: "tollgate/run".into(), commit: "c1".into() }, self.driver())
            }
            ("deliver", [how, rest @ ..]) => self.deliver(how, rest),
            ("delivered", rest) => self.delivered(rest),
            _ => Err(format!("`{}` is no step", words.join(" "))),
        }
    }

    /// `deliver merge [moved=PATHS] [touched=PATHS] [apart]`: a person lands the run, on a branch that others changed meanwhile.
    fn deliver(&mut self, how: &str, words: &[String]) -> Result<Vec<String>, String> {
        let how = [LandAs::Branch, LandAs::Merge, LandAs::Patch].into_iter().find(|known| known.word() == how);
        let how = how.ok_or("a run lands as branch, merge or patch")?;
        let (mut tree, mut touched, mut apart) = (self.run.tree.clone(), Vec::new(), false);
        for word in words {
            match &*pair(word).0 {
                "moved" => {
                    let changes: Vec<_> = names(&pair(word).1).into_iter().map(|path| (path, Some(7))).collect();
                    tree = self.world.write(&tree, &changes);
                }
                "touched" => touched = names(&pair(word).1),
                _ => apart = true,
            }
        }
        let branch = (how != LandAs::Patch).then(|| "main".into());
        let at = Name::from(format!("c{}", words.len()));
        let found = branch.is_some().then(|| at.clone());
        let target = LandTarget {
            how,
            onto: "main".into(),
            at,
            branch,
            found,
            tree,
            touched,
            apart,
            lacks: Vec::new(),
            file: None,
        };
        self.say(Command::Land(Box::new(target)), by(ByKind::Person, "ann"))
    }

    /// `delivered NAME=pass …` says what came of its commands, `delivered` that it is there, `delivered left=WHY` that it is not.
    fn delivered(&mut self, words: &[String]) -> Result<Vec<String>, String> {
        let token = self.run.landing.as_ref().map_or(0, |landing| landing.token);
        let command = match words {
            [] => Command::LandEnded { token, end: LandEnd::Landed { commit: "c9".into(), patch: None } },
            [one] if one.starts_with("left=") => {
                Command::LandEnded { token, end: LandEnd::Left { why: pair(one).1.to_string() } }
            }
            results => {
                let commands = self.run.landing.as_ref().map(|landing| landing.commands.clone()).unwrap_or_default();
                Command::LandChecked { token, results: judged(&commands, results), leash: None }
            }
        };
        self.say(command, self.driver())
    }

    fn attempts(&self) -> impl DoubleEndedIterator<Item = (u64, &AttemptStarted)> {
        self.events.iter().filter_map(|recorded| match &recorded.event {
            Event::AttemptStarted(started) => Some((recorded.seq, started)),
            _ => None,
        })
    }

    fn is_at(&self, who: &str, started: &AttemptStarted) -> bool {
        let (stage, unit) = who.split_once('@').map_or((who, None), |(stage, unit)| (stage, Some(unit)));
        let of = self.run.instances.get(&started.instance).and_then(|instance| instance.unit.as_deref());
        &*started.stage == stage && (unit.is_none() || unit == of) && matches!(started.work, Work::Dispatch { .. })
    }

    fn live(&self, who: &str) -> Option<(AttemptId, AttemptStarted, u64)> {
        let found = self.attempts().find(|(_, s)| self.run.attempts.contains_key(&s.attempt) && self.is_at(who, s));
        found.map(|(token, started)| (started.attempt, started.clone(), token))
    }

    fn gone(&self, who: &str) -> Option<(AttemptId, AttemptStarted, u64)> {
        let found = self.attempts().rfind(|(_, s)| !self.run.attempts.contains_key(&s.attempt) && self.is_at(who, s));
        found.map(|(token, started)| (started.attempt, started.clone(), token))
    }

    fn report(
        &mut self,
        attempt: AttemptId,
        started: &AttemptStarted,
        token: u64,
        words: &[String],
    ) -> Result<Vec<String>, String> {
        let Work::Dispatch { role, .. } = &started.work else { return Err("it is no dispatch".to_owned()) };
        let writes = self.run.protocol.roles.get(role).is_some_and(|role| !role.writes.is_empty());
        let instance = self.run.instances.get(&started.instance).cloned().ok_or("no such instance")?;
        let mut report = read_report(words)?;
        self.now_ms += used::took_ms(words);
        let told: Vec<Name> = report.criteria.iter().map(|row| row.id.clone()).collect();
        let accepts = matches!(report.verdict, Verdict::Accept | Verdict::AcceptWithNotes | Verdict::Reject);
        if accepts && report.rows == RowWord::Named && !words.iter().any(|word| word == "silent") {
            report.criteria.extend(
                self.rows(&instance, &started.stage)
                    .into_iter()
                    .filter(|id| !told.contains(id))
                    .map(|id| CriterionReport { id, result: Judgement::Pass, evidence: "seen".to_owned() }),
            );
        }
        let mut changes: Vec<(Name, Option<u64>)> = Vec::new();
        for word in words {
            match word.split_once('=') {
                Some(("write", list)) => {
                    for path in names(list) {
                        self.blobs += 1;
                        changes.push((path, Some(self.blobs)));
                    }
                }
                Some(("restore", list)) => {
                    let opening = self.world.tree(&self.run.opened.content.tree);
                    changes.extend(names(list).into_iter().map(|path| (path.clone(), opening.get(&path).copied())));
                }
                Some(("delete", list)) => changes.extend(names(list).into_iter().map(|path| (path, None))),
                Some(("move", list)) => {
                    let before = self.world.tree(&started.tree);
                    for (from, to) in list.split(',').filter_map(|one| one.split_once(':')) {
                        changes.extend([(Name::from(from), None), (Name::from(to), before.get(from).copied())]);
                    }
                }
                _ => {}
            }
        }
        let tree = self.world.write(&started.tree, &changes);
        let changed = self.world.changed(&started.tree, &tree);
        if !words.iter().any(|word| word.starts_with("claims=")) {
            report.claims.modified = changed.iter().map(|change| change.path.clone()).collect();
        }
        let result = AttemptResult {
            object: Digest::of(format!("{words:?}").as_bytes()),
            sections: vec!["coverage".into(), "notes".into()],
            diagnostics: if report.health == Health::Malformed { vec!["no Status".to_owned()] } else { Vec::new() },
            content: writes.then(|| self.world.content(&self.run, &tree)),
            changed,
            artifacts: documents(words),
            told: used::told(words, self.now_ms),
            noticed: Vec::new(),
            leash: None,
            report,
        };
        self.say(Command::Report { attempt, token, result: Box::new(result) }, self.driver())
    }

    /// `unready STAGE[@UNIT] [why=…]`: its place cannot be made ready; `unready commands` is of those that the engine runs.
    fn unready(&mut self, who: &str, words: &[String]) -> Result<Vec<String>, String> {
        let mut commands = self.run.attempts.iter().filter(|(_, lease)| matches!(lease.work, Work::Commands { .. }));
        let of_commands = commands.next().filter(|_| who == "commands").map(|(id, lease)| (*id, lease.token));
        let live = of_commands.or_else(|| self.live(who).map(|(attempt, _, token)| (attempt, token)));
        let (attempt, token) = live.ok_or_else(|| format!("no worker is at {who}"))?;
        let why = words.first().map_or_else(|| "the setup failed".to_owned(), |word| pair(word).1.to_string());
        self.say(Command::Unready { attempt, token, why, output: None }, self.driver())
    }

    /// The rows a judge at a stage is asked about.
    fn rows(&self, instance: &run::state::Instance, stage: &str) -> Vec<Name> {
        let Some(stage) = self.run.stage(instance, stage) else { return Vec::new() };
        let gates = stage.ensures.iter().filter_map(|name| self.run.protocol.gates.get(name));
        let rows = gates.flat_map(|gate| gate::rows_of(&self.run, gate, instance.unit.as_ref()));
        let mut ids: Vec<Name> = rows.map(|row| row.id.clone()).collect();
        ids.sort();
        ids.dedup();
        ids
    }

    fn ran(&mut self, words: &[String]) -> Result<Vec<String>, String> {
        let live = self.run.attempts.iter().find(|(_, attempt)| matches!(attempt.work, Work::Commands { .. }));
        let (attempt, token, work) =
            live.map(|(id, attempt)| (*id, attempt.token, attempt.work.clone())).ok_or("no command runs")?;
        let Work::Commands { commands } = work else { return Err("no command runs".to_owned()) };
        let results = judged(&commands, words);
        self.say(Command::Ran { attempt, token, results, leash: None }, self.driver())
    }

    /// `land UNIT` does what the engine would; `land UNIT conflict=path` has somebody else in the way.
    fn land(&mut self, unit: &str, words: &[String]) -> Result<Vec<String>, String> {
        let live = self.run.attempts.iter().find_map(|(id, attempt)| match &attempt.work {
            Work::Land { unit: of, base, onto } if &**of == unit => {
                Some((*id, attempt.token, base.clone(), onto.clone()))
            }
            _ => None,
        });
        let (attempt, token, base, onto) = live.ok_or("nothing lands")?;
        let mut landing = self.world.land(&self.run, unit, &base, &onto);
        if let Some((outcome, paths)) = words.first().map(|word| pair(word)) {
            let collided = landing.content.take();
            landing.paths = names(&paths);
            landing.outcome = match &*outcome {
                "conflict" => LandOutcome::Conflict,
                "out_of_scope" => LandOutcome::OutOfScope,
                _ => LandOutcome::Refused,
            };
            landing.collided = collided.filter(|_| landing.outcome == LandOutcome::Conflict);
        }
        self.say(Command::Landed { attempt, token, landing: Box::new(landing) }, self.driver())
    }
}
