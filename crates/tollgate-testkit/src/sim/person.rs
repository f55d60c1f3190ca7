//! Persons: they answer late, twice and in conflict, mend by hand, retry, repair and cancel.

use std::collections::BTreeMap;

use tollgate_core::Name;
use tollgate_core::id::{DecisionId, UnitId};
use tollgate_core::protocol::model::{Ensures, Resource, Route, Value};
use tollgate_core::report::Plan;
use tollgate_core::run::decide::{Answer, Instead, Opening, completed};
use tollgate_core::run::event::{By, ByKind, LandAs, LandTarget, RunRepaired};
use tollgate_core::run::state::{At, Decision, Phase};
use tollgate_core::run::{Command, Rejection, Run};
use tollgate_core::scope;
use tollgate_engine::clock::Clock;
use tollgate_engine::session::CommandError;

use super::opening::{any_value, documents};
use super::play::Play;
use super::rng::Rng;
use super::stuck::gives_up;
use super::watch::Violation;

/// For how long a person puts a decision off.
const DEFERRED_MS: u64 = 60_000;
/// An answer after this time is a late one.
const LATE_MS: u64 = 600_000;
/// How often a run that is over is to land.
pub const LANDS_MAX: u32 = 3;
impl Play {
    /// One step of a person.
    pub fn person(&mut self, rng: &mut Rng) -> Result<(), Violation> {
        // A person often looks at an old screen.
        if self.is_calm() || rng.percent(70) {
            self.persons.refresh().map_err(|error| Violation::other(format!("refresh: {error}")))?;
        }
        let run = self.persons.run().clone();
        if run.is_closed() {
            return self.after_the_end(&run, rng);
        }
        let held = run.instances.values().any(|instance| matches!(instance.at, At::Held { .. }));
        let open: Vec<DecisionId> = run.pending().map(|(id, _)| id).collect();
        let ended: Vec<DecisionId> = run.decisions.iter().filter(|(_, d)| d.end.is_some()).map(|(id, _)| *id).collect();
        match rng.below(100) {
            0..12 if !self.is_calm() && !ended.is_empty() => {
                let which = rng.pick(&ended).copied().unwrap_or(DecisionId(0));
                self.conflict(&run, which, rng)
            }
            12..14 if !self.is_calm() && rng.percent(5) => {
                self.misbehaved("cancel");
                self.say(Command::Cancel { why: "enough".to_owned() }).map(drop)
            }
            // Whatever a repair cut: nothing moves before a retry, and no id is given twice.
            40..42 if !self.is_calm() && rng.percent(20) => {
                self.misbehaved("repair");
                let repaired = RunRepaired {
                    why: "a disk lost something".to_owned(),
                    until: run.seq + rng.below(3),
                    committed: None,
                    file: None,
                    after: Vec::new(),
                    next_attempt: run.next_attempt + rng.below(3),
                    next_decision: run.next_decision + rng.below(3),
                    next_finding: run.next_finding + rng.below(3),
                };
                self.say(Command::Repair(Box::new(repaired))).map(drop)
            }
            14..40 if held || matches!(run.phase, Phase::Halted { .. }) => self.retry(&run, rng),
            _ if !open.is_empty() => {
                let which = rng.pick(&open).copied().unwrap_or(DecisionId(0));
                self.answer(&run, which, rng)
            }
            _ if held || matches!(run.phase, Phase::Halted { .. }) => self.retry(&run, rng),
            _ => Ok(()),
        }
    }

    /// A person lands a run that succeeded, perhaps where others have changed something, and answers what that asks.
    fn after_the_end(&mut self, run: &Run, rng: &mut Rng) -> Result<(), Violation> {
        let open = run.pending().map(|(id, _)| id).next();
        if let Some(open) = open.filter(|_| self.is_calm() || rng.percent(70)) {
            return self.answer(run, open, rng);
        }
        if !run.succeeded() || self.lands >= LANDS_MAX {
            return Ok(());
        }
        let how = *rng.pick(&[LandAs::Branch, LandAs::Merge, LandAs::Patch]).unwrap_or(&LandAs::Branch);
        let mut tree = run.tree.clone();
        let mut touched = Vec::new();
        if rng.percent(70) {
            tree = self.world.write(&tree, &[("docs/moved.md".into(), Some(rng.draw() >> 40))]);
        }
        if rng.percent(40) {
            touched.push("src/main.rs".into());
        }
        let branch = (how != LandAs::Patch).then(|| "main".into());
        let (onto, at, apart) = ("main".into(), Name::from(format!("c{}", rng.below(9))), rng.percent(10));
        let found = branch.is_some().then(|| at.clone());
        let target = LandTarget { how, onto, at, branch, found, tree, touched, apart, lacks: Vec::new(), file: None };
        let refused = self.say(Command::Land(Box::new(target)))?;
        self.lands += u32::from(refused.is_none() || !run.has_changed());
        Ok(())
    }

    /// Gives a command as a person; the rejection where there was one.
    pub fn say(&mut self, command: Command) -> Result<Option<Rejection>, Violation> {
        let by = By { kind: ByKind::Person, name: "ann".into() };
        let outcome = self.persons.command(&command, &by, None, &[]);
        self.watch.look()?;
        match outcome {
            Ok(outcome) => Ok(outcome.refusal),
            Err(CommandError::Rejected(Rejection::Broken(broken))) => {
                let first = broken.into_iter().next();
                let (invariant, what) = first.map_or((0, String::new()), |broken| (broken.invariant, broken.what));
                Err(Violation { invariant, what: format!("decide refused its own events: {what}") })
            }
            Err(CommandError::Rejected(rejection)) => Ok(Some(rejection)),
            Err(error) => Err(Violation::other(format!("a person's command failed: {error}"))),
        }
    }

    fn retry(&mut self, run: &Run, rng: &mut Rng) -> Result<(), Violation> {
        self.misbehaved("retry");
        let units: Vec<UnitId> = run.ledger.units.iter().map(|unit| unit.name.clone()).collect();
        let unit = if rng.percent(30) { rng.pick(&units).cloned() } else { None };
        self.say(Command::Retry { unit }).map(drop)
    }

    /// Answers an open question; in a calm world with what ends the matter.
    fn answer(&mut self, run: &Run, id: DecisionId, rng: &mut Rng) -> Result<(), Violation> {
        let Some(decision) = run.decisions.get(&id).cloned() else { return Ok(()) };
        if !self.is_calm() && rng.percent(4) {
            return self.answer_otherwise(id, rng);
        }
        if decision.is_of_intake() {
            return self.answer_intake(run, id, &decision, rng);
        }
        if decision.open_questions().next().is_some() && rng.percent(60) {
            return self.answer_one(run, id, &decision, rng);
        }
        let mut options: Vec<Name> = decision.asked.options.iter().map(|option| option.id.clone()).collect();
        let calm = self.is_calm();
        let many = options.len().max(1) as u64;
        options.rotate_left(usize::try_from(rng.below(many)).unwrap_or(0));
        // Whoever wants an end approves more often than not.
        if calm && rng.percent(70) {
            options.sort_by_key(|option| {
                self.route(run, &decision, Some(option)).is_none_or(|route| route.ensures == Ensures::Nothing)
            });
        }
        // Where nothing has changed, nothing is in the way of giving up; what commands are refused gives up a row, not the work.
        let goes_on = match decision.permission() {
            Some(_) => 60,
            None if self.is_idle => 40,
            None => 92,
        };
        if calm || rng.percent(goes_on) {
            options.sort_by_key(|option| gives_up(run, &decision, option));
        }
        if !calm && rng.percent(25) {
            options.sort_by_key(|option| self.amends(run, &decision, Some(option)).is_empty());
        }
        if calm && options.first().is_some_and(|option| gives_up(run, &decision, option)) {
            let (stage, ask) = (&decision.asked.origin.stage, &decision.asked.ask);
            self.dead_end = Some(format!("`{stage}` asks `{ask}`, which offers only {}", options.join(", ")));
            return Ok(());
        }
        let option = options.first().cloned();
        let late = self.clock.now_ms().saturating_sub(decision.asked_ms) > LATE_MS;
        let answer = self.filled(run, &decision, option.clone(), rng);
        let by_hand = answer.content.is_some();
        let command = Command::Answer { decision: id, answer: Box::new(answer) };
        let refused = self.say(command.clone())?;
        if refused.is_none() {
            if late {
                self.misbehaved("late answer");
            }
            if by_hand {
                self.misbehaved("by hand");
            }
            if !calm && rng.percent(25) {
                self.misbehaved("double answer");
                self.say(command)?;
            }
            if !calm && options.len() > 1 && rng.percent(20) {
                self.misbehaved("conflicting answer");
                let answer = self.filled(run, &decision, options.get(1).cloned(), rng);
                self.say(Command::Answer { decision: id, answer: Box::new(answer) })?;
            }
        }
        Ok(())
    }

    /// Puts an open decision off, or ends it without an answer.
    fn answer_otherwise(&mut self, id: DecisionId, rng: &mut Rng) -> Result<(), Violation> {
        let until_ms = self.clock.now_ms() + DEFERRED_MS;
        let instead =
            *rng.pick(&[Instead::Defer { until_ms }, Instead::Cancel, Instead::Skip]).unwrap_or(&Instead::Skip);
        self.misbehaved("no answer");
        let answer = Answer { instead: Some(instead), text: "not now".to_owned(), ..Answer::default() };
        self.say(Command::Answer { decision: id, answer: Box::new(answer) }).map(drop)
    }

    /// Answers one question of a card, perhaps again and otherwise.
    fn answer_one(&mut self, run: &Run, id: DecisionId, decision: &Decision, rng: &mut Rng) -> Result<(), Violation> {
        let asked = decision.asked.questions.len() as u64;
        let open = decision.open_questions().map(|(number, _)| number).next();
        let any = u32::try_from(rng.below(asked) + 1).ok();
        let number = if self.is_calm() || rng.percent(80) { open } else { any };
        let mut options: Vec<&Name> = decision.asked.options.iter().map(|option| &option.id).collect();
        let many = options.len().max(1) as u64;
        options.rotate_left(usize::try_from(rng.below(many)).unwrap_or(0));
        if self.is_calm() {
            options.sort_by_key(|option| gives_up(run, decision, option));
        }
        let text = match options.first() {
            Some(option) => format!("{option}: so be it, {}", rng.below(3)),
            None => format!("so be it, {}", rng.below(3)),
        };
        let answers: BTreeMap<u32, String> = number.map(|number| (number, text)).into_iter().collect();
        let filled = match decision.strictest(&answers).cloned() {
            Some(option) => self.filled(run, decision, Some(option), rng),
            None => Answer::default(),
        };
        let answer = Answer { option: None, answers, ..filled };
        self.say(Command::Answer { decision: id, answer: Box::new(answer) }).map(drop)
    }

    /// Gives some of the inputs that are asked for, sometimes one that is none of its values.
    fn answer_intake(
        &mut self,
        run: &Run,
        id: DecisionId,
        decision: &Decision,
        rng: &mut Rng,
    ) -> Result<(), Violation> {
        let mut answer = Answer::default();
        for (number, asked) in decision.open_questions() {
            let input = asked.input.as_ref().and_then(|name| run.protocol.inputs.get(name));
            let Some(input) = input.filter(|_| answer.answers.is_empty() || rng.percent(70)) else { continue };
            let value = match any_value(&input.kind, rng) {
                _ if !self.is_calm() && rng.percent(10) => "anything".to_owned(),
                Value::Text(text) => text.to_string(),
                Value::Int(number) => number.to_string(),
                Value::List(values) => values.join(","),
            };
            answer.answers.insert(number, value);
        }
        if let Some(inputs) = completed(run, id, &answer) {
            let content = self.world.opening(&run.tree, &run.protocol, run.id, &inputs);
            let artifacts = documents(&run.protocol, run.id, &inputs, &Plan::default());
            answer.opening = Some(Box::new(Opening { artifacts, content: Some(content) }));
        }
        self.say(Command::Answer { decision: id, answer: Box::new(answer) }).map(drop)
    }

    /// Answers what has ended, otherwise than it ended.
    fn conflict(&mut self, run: &Run, id: DecisionId, rng: &mut Rng) -> Result<(), Violation> {
        let Some(decision) = run.decisions.get(&id).cloned() else { return Ok(()) };
        let held = decision.end.as_ref().and_then(|end| end.option.clone());
        let mut options = decision.asked.options.iter().map(|option| option.id.clone());
        let other = options.rfind(|option| Some(option) != held.as_ref());
        self.misbehaved("conflicting answer");
        let answer = self.filled(run, &decision, other, rng);
        self.say(Command::Answer { decision: id, answer: Box::new(answer) }).map(drop)
    }

    /// An answer with what its option allows.
    fn filled(&mut self, run: &Run, decision: &Decision, option: Option<Name>, rng: &mut Rng) -> Answer {
        let amends = self.amends(run, decision, option.as_ref());
        let is = |what: &str| amends.contains(&what.into());
        let mut answer = Answer { option, text: "so be it".to_owned(), ..Answer::default() };
        if is("requirements") {
            for row in &run.ledger.requirements {
                let what = if self.is_calm() || row.disposition.is_none() || rng.percent(30) {
                    *rng.pick(&["in_scope", "deferred", "out_of_scope"]).unwrap_or(&"deferred")
                } else {
                    continue;
                };
                answer.dispositions.insert(row.id.clone(), what.into());
            }
        }
        if is("scope") {
            let known = decision.asked.paths.iter().any(|path| !path.contains(' '));
            answer.scope = if known { Vec::new() } else { vec!["docs/**".into()] };
        }
        if amends.iter().any(|what| run.protocol.lies_in_tree(what)) {
            let tree = run.tree_of(decision.asked.unit.as_ref()).clone();
            // In a unit's scope, or in nobody's; and there in what units are bound to, or only in what the whole is.
            let path: Name = match &decision.asked.unit {
                Some(unit) => format!("src/{unit}/hand.rs").into(),
                None => {
                    let paths = ["src/hand.rs", "docs/hand.md", "docs/hand.md", "tests/hand.rs"];
                    (*rng.pick(&paths).unwrap_or(&"src/hand.rs")).into()
                }
            };
            let area = scope::area_of(&run.area_patterns(), &path).cloned();
            let write = area.filter(|area| is(area) && !self.is_idle).map(|_| (path, Some(rng.draw() >> 40)));
            let changed = self.world.write(&tree, write.as_slice());
            (answer.content, answer.start) = (Some(self.world.content(run, &changed)), Some(tree));
        }
        answer
    }

    fn amends(&self, run: &Run, decision: &Decision, option: Option<&Name>) -> Vec<Resource> {
        self.route(run, decision, option).map(|route| route.amends.clone()).unwrap_or_default()
    }

    /// Where an option leads, or a text where none is offered.
    fn route<'a>(&self, run: &'a Run, decision: &Decision, option: Option<&Name>) -> Option<&'a Route> {
        let protocol = &run.protocol;
        let instance = run.instances.get(&decision.asked.instance);
        let here = instance.and_then(|instance| run.stage(instance, &decision.asked.ask));
        let stage = protocol.ask(&decision.asked.ask).or(here);
        let outcome = option.map_or("answered", |option| option);
        stage?.on.iter().find(|rule| &*rule.outcome == outcome).map(|rule| &rule.route)
    }
}
