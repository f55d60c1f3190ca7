//! What the driver reports besides workers: take-overs, commands, landings, time.

use super::super::event::{
    AttemptLost, AttemptRefused, By, ByKind, CommandResult, CommandsRan, DriverTookOver, LandingEnded, Work, WorkKind,
};
use super::super::sandbox_record::SandboxRecord;
use super::super::state::Attempt;
use super::draft::Draft;
use super::{Answer, Landing, Rejection};
use crate::Name;
use crate::digest::Digest;
use crate::id::{AttemptId, DecisionId};
use crate::protocol::Outcome;
use std::sync::Arc;

/// The refusal of a report that the work of an attempt does not give.
pub(super) fn other_work(attempt: AttemptId, live: &Attempt, reported: WorkKind) -> Rejection {
    Rejection::OtherWork { attempt, expected: live.work.kind(), reported }
}

impl Draft {
    /// A driver takes over: what its predecessor had under way is repeated under new tokens.
    pub fn take_over(&mut self, driver: Name) -> Result<(), Rejection> {
        self.needs_driver()?;
        self.emit(DriverTookOver { driver });
        let live: Vec<AttemptId> = self.run.attempts.keys().copied().collect();
        for attempt in live {
            self.emit(AttemptLost { attempt, why: "the process that drove the run is gone".to_owned() });
        }
        Ok(())
    }

    /// The live attempt under this token; otherwise the refusal is recorded.
    pub fn live(&mut self, attempt: AttemptId, token: u64, object: Option<Digest>) -> Option<Arc<Attempt>> {
        let held = self.run.attempts.get(&attempt).cloned();
        match held {
            Some(live) if live.token == token => Some(live),
            _ => {
                self.refuse_report(attempt, token, object);
                None
            }
        }
    }

    pub fn refuse_report(&mut self, attempt: AttemptId, token: u64, report: Option<Digest>) {
        let held = self.run.attempts.get(&attempt).map(|live| live.token);
        let rejection = Rejection::StaleToken { attempt, shown: token, held };
        self.emit(AttemptRefused { attempt, token, report, why: rejection.to_string() });
        self.refusal = Some(rejection);
    }

    pub fn ran(
        &mut self,
        attempt: AttemptId,
        token: u64,
        results: Vec<CommandResult>,
        leash: Option<SandboxRecord>,
    ) -> Result<(), Rejection> {
        self.needs_driver()?;
        let Some(live) = self.live(attempt, token, None) else { return Ok(()) };
        let Work::Commands { commands } = &live.work else {
            return Err(other_work(attempt, &live, WorkKind::Commands));
        };
        // A command nobody heard of again would be asked for for ever: what has no result was not observed.
        let missing = commands.iter().filter(|command| !results.iter().any(|result| result.command == **command));
        let mut all: Vec<CommandResult> =
            missing.map(|command| CommandResult::unobserved(command.clone(), "it gave no result")).collect();
        let asked_for = results.into_iter().filter(|result| commands.contains(&result.command));
        all.extend(asked_for.map(|result| self.held_to(result).asks_beyond(&live)));
        self.emit(CommandsRan { attempt, token, tree: live.tree.clone(), results: all.clone(), leash });
        // Also where no judge accepts afterwards: the next run of a command says whether what it found is fixed.
        self.commands_rest(self.unit_of(&live.instance).as_ref());
        self.ask_permission(&live, &all);
        Ok(())
    }

    /// A result as far as it was seen as often as it must be.
    pub fn held_to(&self, result: CommandResult) -> CommandResult {
        let times = self.run.repeats(&result.command);
        result.held_to(times)
    }

    pub fn landed(&mut self, attempt: AttemptId, token: u64, landing: Landing) -> Result<(), Rejection> {
        self.needs_driver()?;
        let Some(live) = self.live(attempt, token, None) else { return Ok(()) };
        if !matches!(live.work, Work::Land { .. }) {
            return Err(other_work(attempt, &live, WorkKind::Land));
        }
        let protocol = self.protocol.clone();
        let Some(instance) = self.instance(&live.instance) else { return Ok(()) };
        let Landing { outcome, content, collided, measured, paths, by_policy, why } = landing;
        self.emit(LandingEnded { attempt, token, outcome, content, collided, measured, paths, by_policy, why });
        if let Some(stage) = Self::stage_of(&protocol, &instance, &live.stage) {
            self.route(&live.instance, stage, &Outcome::Land(outcome));
        }
        Ok(())
    }

    /// Time has passed: defaults whose time has come are answered by the timer.
    pub fn tick(&mut self) {
        let due: Vec<(DecisionId, Name)> = self
            .run
            .pending()
            .filter_map(|(id, decision)| decision.default().map(|default| (id, default)))
            .filter(|(_, default)| default.at_ms <= self.now_ms)
            .map(|(id, default)| (id, default.option.clone()))
            .collect();
        for (decision, option) in due {
            let by = By { kind: ByKind::Timer, name: "timer".into() };
            let answer = Answer { option: Some(option), ..Answer::default() };
            // A default whose option is no longer possible stays a question.
            let _ = self.attempt(|draft| draft.answer_by(decision, answer, &by, false));
        }
    }
}
