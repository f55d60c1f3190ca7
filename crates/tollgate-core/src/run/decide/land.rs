//! Landing: a run that succeeded hands its tree over. The run stays closed; nothing here changes what it closed with.
//!
//! ```text
//! none     --land--> checking, asking or clear       another tree than the run's: commands run again, what nothing covers is asked
//! checking --results--> asking | clear
//! asking   --`land`--> clear    --`leave`--> none    --land, elsewhere--> (taken back) checking, asking or clear
//! clear    --put--> none, and the run has landed; or nothing was moved, and why
//! ```

use std::collections::BTreeSet;

use super::super::blockers::{self, Blocker};
use super::super::event::{
    Asked, CommandRef, CommandResult, DecisionAsked, LandAsked, LandChecked, LandLeft, LandTarget, Offered, Origin,
    RunLanded, RunOutcome, UnitState,
};
use super::super::sandbox_record::SandboxRecord;
use super::super::state::{AtLanding, LAND, Landing, Phase, Run};
use super::draft::Draft;
use super::{Answer, Command, LandEnd, Rejection};
use crate::Name;
use crate::id::{DecisionId, UnitId};
use crate::protocol::Outcome;
use crate::protocol::model::Class;
use crate::report::Judgement;
use std::sync::Arc;

/// Why a run did not succeed, or not yet; empty: it did.
pub fn not_succeeded(run: &Run) -> Vec<String> {
    match &run.phase {
        Phase::Closed { outcome: RunOutcome::Reported, why } => vec![format!("it ended as reported: {why}")],
        Phase::Closed { why, .. } if !run.succeeded() => vec![format!("it closed without success: {why}")],
        Phase::Closed { .. } => Vec::new(),
        Phase::Halted { reasons } => reasons.clone(),
        Phase::Open => {
            let open = blockers::of_close(run);
            if open.is_empty() {
                vec!["it is still at work".to_owned()]
            } else {
                open.iter().map(Blocker::to_string).collect()
            }
        }
    }
}

/// The commands that are run again on a tree which is not the one that the run closed with: all that any evidence was run by.
fn commands(run: &Run) -> Vec<CommandRef> {
    let dropped = |unit: &Option<UnitId>| {
        let unit = unit.as_ref().and_then(|name| run.unit(name));
        unit.is_some_and(|unit| unit.state == UnitState::Dropped)
    };
    let rows = run.ledger.criteria.iter().filter(|row| row.command.is_some() && !dropped(&row.unit));
    let rows = rows.map(|row| CommandRef::Criterion(row.id.clone()));
    let named: BTreeSet<&Name> = run.ledger.commands.keys().map(|key| &key.name).collect();
    rows.chain(named.into_iter().map(|name| CommandRef::Named(name.clone()))).collect()
}

impl Draft {
    /// Decides a command to a run that is closed.
    pub(super) fn after_the_end(&mut self, command: Command) -> Result<(), Rejection> {
        match command {
            Command::Published { branch, commit } => self.published(branch, commit),
            Command::Report { attempt, token, result } => {
                self.refuse_report(attempt, token, Some(result.object));
                Ok(())
            }
            Command::Repair(repaired) => self.repair(*repaired),
            // An answer that comes again changes nothing, also after the end; another one is refused and recorded.
            Command::Answer { decision, answer } if self.has_ended(decision) => {
                self.answer(decision, answer.without_blank_texts())
            }
            Command::Answer { decision, answer } => self.answer_landing(decision, &answer),
            Command::Land(target) => self.land(*target),
            Command::LandChecked { token, results, leash } => self.land_checked(token, results, leash),
            Command::LandEnded { token, end } => self.land_ended(token, end),
            Command::TakeOver { .. }
            | Command::Advance
            | Command::Unready { .. }
            | Command::Ran { .. }
            | Command::Landed { .. }
            | Command::Tick
            | Command::Retry { .. }
            | Command::Cancel { .. } => Err(Rejection::Closed),
        }
    }

    fn land(&mut self, target: LandTarget) -> Result<(), Rejection> {
        self.needs_person()?;
        let open = not_succeeded(&self.run);
        if !open.is_empty() {
            return Err(Rejection::NotSucceeded(open));
        }
        if !self.run.has_changed() {
            return Err(Rejection::EmptyChange);
        }
        if let Some(landing) = self.run.landing.clone() {
            let asks = landing.decision.filter(|(_, answered)| !answered);
            match asks {
                // Asked once more for the same: what was asked stays asked.
                _ if landing.target == target => return Ok(()),
                None => return Err(Rejection::Landing { onto: landing.target.onto.clone() }),
                Some((decision, _)) => {
                    self.cancel_decision(decision);
                    let why = "another landing was asked for".to_owned();
                    self.emit(LandLeft { token: landing.token, why });
                }
            }
        }
        let commands = if target.tree == self.run.tree { Vec::new() } else { commands(&self.run) };
        self.emit(LandAsked { target, commands });
        self.ask_to_land();
        Ok(())
    }

    /// The landing under way under a token, for the driver that sees to it.
    fn landing(&self, token: u64) -> Result<Arc<Landing>, Rejection> {
        self.needs_driver()?;
        let landing = self.run.landing.clone().filter(|landing| landing.token == token);
        landing.ok_or(Rejection::NoLanding { token })
    }

    fn land_checked(
        &mut self,
        token: u64,
        results: Vec<CommandResult>,
        leash: Option<SandboxRecord>,
    ) -> Result<(), Rejection> {
        let landing = self.landing(token)?;
        if landing.is_checked() {
            return Err(Rejection::LandingExpects { token, expected: "its end" });
        }
        // What has no result was not observed.
        let result = |command: &CommandRef| {
            let known = results.iter().find(|result| result.command == *command).cloned();
            let known = known.map(|result| self.held_to(result));
            known.unwrap_or_else(|| CommandResult::unobserved(command.clone(), "it gave no result"))
        };
        let results = landing.commands.iter().map(result).collect();
        self.emit(LandChecked { token, results, leash });
        self.ask_to_land();
        Ok(())
    }

    fn land_ended(&mut self, token: u64, end: LandEnd) -> Result<(), Rejection> {
        let landing = self.landing(token)?;
        match end {
            LandEnd::Landed { .. } if !landing.is_checked() => {
                return Err(Rejection::LandingExpects { token, expected: "the results of its commands" });
            }
            LandEnd::Landed { .. } if !landing.is_clear(&self.run) => {
                return Err(Rejection::LandingExpects {
                    token,
                    expected: "a person's answer and the run's own branch",
                });
            }
            LandEnd::Landed { commit, patch } => {
                let LandTarget { how, branch, tree, .. } = landing.target.clone();
                self.emit(RunLanded { token, how, branch, commit, tree, patch });
            }
            LandEnd::Left { why } => {
                if let Some((decision, _)) = landing.decision
                    && self.run.pending().any(|(open, _)| open == decision)
                {
                    self.cancel_decision(decision);
                }
                self.emit(LandLeft { token, why });
            }
        }
        Ok(())
    }

    /// Asks a person, where the tree that lands is covered by no evidence.
    fn ask_to_land(&mut self) {
        let Some(landing) = self.run.landing.clone().filter(|landing| landing.is_checked()) else { return };
        let open = landing.open(&self.run);
        if open.is_empty() {
            return;
        }
        let failed: Vec<&CommandResult> =
            landing.results.iter().flatten().filter(|result| result.result != Judgement::Pass).collect();
        let onto = &landing.target.onto;
        let go_on = Offered {
            id: AtLanding::Land.word().into(),
            consequence: match landing.target.apart {
                true => "Only what the run changed itself lands; what it was built on does not come along",
                false => "The merged tree lands as it is",
            }
            .to_owned(),
            waives: failed.iter().map(|result| result.command.name().clone()).collect(),
        };
        let leave = Offered {
            id: AtLanding::Leave.word().into(),
            consequence: "Nothing is moved; the run keeps its branch".to_owned(),
            waives: Vec::new(),
        };
        let asked = Asked {
            instance: LAND.into(),
            ask: LAND.into(),
            class: if failed.is_empty() { Class::Approval } else { Class::Waiver },
            question: match landing.target.apart {
                true => format!("`{onto}` is not where the run started. Land the run's own change there?"),
                false => format!("`{onto}` has moved since the run started. Land the merged tree?"),
            },
            why: open.join("; "),
            options: vec![go_on, leave],
            recommend: (!failed.is_empty()).then(|| AtLanding::Leave.word().into()),
            default: None,
            unit: None,
            blocking: true,
            shows: failed.iter().filter_map(|result| result.output).collect(),
            origin: Origin { stage: LAND.into(), outcome: Some(Outcome::Named("moved".into())), cut_off: None },
            tree: landing.target.tree.clone(),
            paths: landing.target.touched.clone(),
            budget: None,
            questions: Vec::new(),
            tries: None,
        };
        let decision = DecisionId(self.run.next_decision);
        self.emit(DecisionAsked { decision, asked });
    }

    /// A person says whether a tree lands that no evidence covers.
    fn answer_landing(&mut self, id: DecisionId, answer: &Answer) -> Result<(), Rejection> {
        self.needs_person()?;
        let Some(decision) = self.run.decisions.get(&id).cloned() else { return Err(Rejection::NoDecision(id)) };
        let landing = self.run.landing.clone().filter(|landing| landing.decision == Some((id, false)));
        let Some(landing) = landing else { return Err(Rejection::Closed) };
        let offered: Vec<Name> = decision.asked.options.iter().map(|option| option.id.clone()).collect();
        let Some(option) = answer.option.clone().filter(|option| offered.contains(option)) else {
            let option = answer.option.clone().unwrap_or_else(|| answer.text.trim().into());
            return Err(Rejection::NotOffered { decision: id, option, offered });
        };
        let leaves = AtLanding::parse(&option) == Some(AtLanding::Leave);
        let by = self.by.clone();
        self.end_own(id, answer, &by, "anything but where the tree goes")?;
        if leaves {
            let why = format!("{} left it ({id})", self.by.name);
            self.emit(LandLeft { token: landing.token, why });
        }
        Ok(())
    }
}
