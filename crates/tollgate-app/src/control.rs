//! What a person says to a run: an answer, or to try again.

use tollgate_api::RunStatus;
use tollgate_core::code::Code;
use tollgate_core::id::{DecisionId, RunId, UnitId};
use tollgate_core::run::Recorded;
use tollgate_core::run::decide::Answer;
use tollgate_engine::session::Session;
use tollgate_engine::session::summary::SummaryBody;
use tollgate_store::{Filter, Summary};

use crate::engine_errors::about;
use crate::failure::Failure;
use crate::runs::Runs;

impl Runs {
    /// Answers a question of the run that was typed; without one, of the only run that asks it. An answer that was given before
    /// records nothing.
    pub fn decide(
        &self,
        person: &str,
        run: Option<&str>,
        id: DecisionId,
        answer: Answer,
    ) -> Result<(Session, Vec<Recorded>), Failure> {
        let mut run = run.map_or_else(|| self.asking(id), |typed| self.load_to_change(typed))?;
        let of = run.run().id;
        let outcome = self.service.decide(person, &mut run, id, answer).map_err(about(of))?;
        match &outcome.refusal {
            Some(refusal) => Err(Failure::from(refusal).about(of)),
            None => Ok((run, outcome.events)),
        }
    }

    /// Tries again what is held or halted, in all of a run or in one unit.
    pub fn retry(&self, person: &str, typed: &str, unit: Option<UnitId>) -> Result<(Session, Vec<Recorded>), Failure> {
        let mut run = self.load_to_change(typed)?;
        let of = run.run().id;
        match self.service.retry(person, &mut run, unit) {
            Ok(outcome) => Ok((run, outcome.events)),
            Err(error) => Err(self.retry_refused(of, about(of)(error))),
        }
    }

    /// Why a run cannot be retried: one that was only interrupted is not held, it is resumed.
    fn retry_refused(&self, run: RunId, failure: Failure) -> Failure {
        let is_interrupted = || self.status(run).is_ok_and(|status| status == Some(RunStatus::Interrupted));
        if failure.code() != Code::NOTHING_TO_RETRY || !is_interrupted() {
            return failure;
        }
        Failure::refused(failure.code(), failure.message())
            .because("the run was interrupted: no process drives it")
            .hint(format!("`tollgate resume {run}` goes on where it was"))
    }

    /// The only run in which a decision of this id is open; where none is, the only unfinished one that ever asked it, which says what
    /// became of it.
    fn asking(&self, id: DecisionId) -> Result<Session, Failure> {
        let all = self.service.list(&Filter::default())?;
        if let Some(damaged) = all.damaged.first() {
            let message = format!("{} cannot be listed: whether it asks {id} too is unknown", damaged.named);
            return Err(Failure::refused(Code::RUN_ROW_DAMAGED, message)
                .hint("name the run: `tollgate decide RUN DECISION OPTION`"));
        }
        let asks = |summary: &&Summary| match summary.text.status.as_str() {
            "waiting" | "working" | "sleeping" | "halted" => true,
            "succeeded" => SummaryBody::of(&summary.text).is_some_and(|body| body.open > 0),
            _ => false,
        };
        let open = all.runs.iter().filter(asks);
        let (mut found, mut asked) = (Vec::new(), Vec::new());
        for summary in open {
            let loaded = self.service.load(summary.run)?;
            if loaded.run().pending().any(|(open, _)| open == id) {
                found.push(loaded);
            } else if loaded.run().decisions.contains_key(&id) {
                asked.push(loaded);
            }
        }
        if found.is_empty() && asked.len() == 1 {
            found = asked;
        }
        match (found.pop(), found.is_empty()) {
            (Some(one), true) => Ok(one),
            (None, _) => Err(Failure::refused(Code::NO_DECISION, format!("no run asks {id}"))
                .hint("`tollgate inbox` lists what is asked")),
            (Some(_), false) => Err(Failure::refused(Code::NO_DECISION, format!("several runs ask {id}"))
                .hint("name the run: `tollgate decide RUN DECISION OPTION`")),
        }
    }
}
