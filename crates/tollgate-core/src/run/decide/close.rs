//! Ends: a unit is done, a run closes.

use std::collections::BTreeSet;

use super::super::blockers::{self, Blocker, joined};
use super::super::event::{
    FindingChanged, FindingStatus, FlowHeld, RunClosed, RunHalted, RunOutcome, RunPublished, UnitChanged, UnitState,
};
use super::super::evolve::counter_key;
use super::super::fan_out::{is_left, units_over, was_entered};
use super::super::gate;
use super::super::state::{At, Criterion, Instance, MAIN, RunEnding, Unit, keyed};
use super::super::waiver::waivers;
use super::draft::Draft;
use super::{Rejection, not_succeeded};
use crate::Name;
use crate::id::{InstanceId, RoleId, StageId, UnitId};
use crate::protocol::Outcome;
use crate::protocol::model::{Class, Kind, Makes, Over, Resource, Stage, Target};

impl Draft {
    /// The main flow reached `done`.
    pub fn close_as_done(&mut self, stage: &Stage) {
        let open = blockers::of_close(&self.run);
        let waits = open.iter().all(|blocker| matches!(blocker, Blocker::Decision(..)));
        if open.is_empty() && self.asks_of_empty_at_close(stage) {
            return;
        }
        if open.is_empty() {
            self.emit(RunClosed {
                outcome: RunOutcome::Succeeded,
                why: self.why_succeeded(),
                tree: self.run.tree.clone(),
            });
        } else if !waits && !self.asks_of_findings_at_done(&MAIN.into(), stage, None) {
            // The last stage would find the same: `retry` enters the first that can change it.
            let first = self.first_to_change(&open);
            let mut reasons: Vec<String> = open.iter().map(Blocker::to_string).collect();
            reasons.push(match &first {
                Some(first) => format!("`retry` enters `{first}`"),
                None => format!(
                    "no stage that was entered changes this: `retry` enters `{}` again, `tollgate cancel` ends the run",
                    stage.id
                ),
            });
            let first = first.unwrap_or_else(|| stage.id.clone());
            let why = reasons.join("; ");
            self.emit(FlowHeld { instance: MAIN.into(), stage: first, outcome: Some(Outcome::Done), why });
            self.emit(RunHalted { reasons });
        }
    }

    /// The first stage of the main flow below which a unit was to be accepted and is not: it was, or its flow was left when some of
    /// its work was in the tree.
    fn made_at(&self) -> Option<StageId> {
        let stays = |unit: &UnitId| self.run.unit(unit).is_some_and(|unit| !is_left(&self.run, unit));
        let is_owed = |instance: &InstanceId| {
            let made = self.made(instance).filter(|(_, makes)| *makes == Makes::Accepted);
            made.is_some_and(|(unit, makes)| stays(&unit) && self.is_undone(&unit, makes))
        };
        let below = self.run.instances.iter().filter(|(name, _)| is_owed(name));
        let made: BTreeSet<StageId> = below.filter_map(|(_, instance)| self.main_stage_above(instance)).collect();
        let main = self.instance(MAIN)?;
        let stages = &self.protocol.flow(&main.flow)?.stages;
        stages.iter().map(|stage| &stage.id).find(|id| made.contains(*id)).cloned()
    }

    /// The first stage of the main flow, of those it has been at, that makes or establishes some of what is open.
    pub(super) fn first_to_change(&self, open: &[Blocker]) -> Option<StageId> {
        let main = self.instance(MAIN)?;
        let made = self.made_at();
        let has_been = |stage: &Stage| main.counters.keys().any(|key| key.starts_with(&*counter_key(&stage.id, "")));
        let changes = |stage: &Stage| open.iter().any(|blocker| self.can_change(stage, None, blocker));
        let stages = &self.protocol.flow(&main.flow)?.stages;
        let is_first = |stage: &&Stage| made.as_ref() == Some(&stage.id) || has_been(stage) && changes(stage);
        stages.iter().find(is_first).map(|stage| stage.id.clone())
    }

    /// Whether a stage of the main flow, or of a flow that it runs over these units, makes or establishes what is open.
    fn can_change(&self, stage: &Stage, units: Option<&[UnitId]>, blocker: &Blocker) -> bool {
        if let Kind::Each(each) = &stage.kind
            && let Some(flow) = self.protocol.flow(&each.flow)
        {
            let over = (each.over != Over::It).then(|| units_over(&self.run, None, each));
            let over = over.as_deref().or(units);
            if flow.stages.iter().any(|below| self.can_change(below, over, blocker)) {
                return true;
            }
        }
        let is_by = |role: &RoleId| matches!(&stage.kind, Kind::Dispatch { role: by } if by == role);
        let judges = |row: &Name| {
            let gates = stage.ensures.iter().filter_map(|name| self.protocol.gates.get(name));
            let rows = |gate| gate::rows_of(&self.run, gate, None);
            // Below an `each`, rows of its units alone are judged.
            let is_judged =
                |row: &Criterion| units.is_none_or(|units| row.unit.iter().any(|unit| units.contains(unit)));
            gates.flat_map(rows).any(|read| read.id == *row && is_judged(read))
        };
        match blocker {
            Blocker::Gate(name, _) => self.protocol.establishes(stage, name),
            Blocker::Row(row, _) | Blocker::RowStale(row) => judges(row),
            Blocker::Finding(id, ..) => {
                let about = self.run.ledger.findings.get(id).map(|finding| &finding.about);
                // A word that was measured otherwise is taken back by whoever gave it; all else is settled by whoever found it.
                about.is_some_and(|about| match about.of.as_ref().or(about.role.as_ref()) {
                    Some(role) => is_by(role),
                    // What a command found is settled where the command runs again.
                    None => about.criterion.as_ref().is_some_and(judges),
                })
            }
            Blocker::Ownerless(_) => {
                let plans = |given: &Resource| match given {
                    Resource::Units | Resource::Criteria => true,
                    Resource::Tree | Resource::Requirements | Resource::Findings | Resource::Scope => false,
                    Resource::Named(name) => self.protocol.artifacts.get(name).is_some_and(|artifact| {
                        let brings = artifact.brings.as_deref().unwrap_or_default();
                        brings.iter().any(|part| matches!(part, Resource::Units | Resource::Criteria))
                    }),
                };
                stage.gives.iter().any(plans)
            }
            Blocker::Decision(..)
            | Blocker::NotLanded(_)
            | Blocker::DroppedInTree(_)
            | Blocker::DroppedChanged(_)
            | Blocker::NotAccepted(_)
            | Blocker::Lapsed(_)
            | Blocker::UnitGate(..)
            | Blocker::UnitFinding(_)
            | Blocker::NoCriterion(_)
            | Blocker::Changed
            | Blocker::ChangedOutside => false,
        }
    }

    /// The stage of the main flow that an instance belongs to, itself or through what it was called from.
    fn main_stage_above(&self, instance: &Instance) -> Option<StageId> {
        match instance.parent.as_deref()? {
            MAIN => instance.each.clone(),
            parent => self.main_stage_above(self.run.instances.get(parent)?),
        }
    }

    /// A success that rests on waivers says so.
    fn why_succeeded(&self) -> String {
        let all: Vec<Name> = waivers(&self.run).into_iter().map(|waiver| waiver.what).collect();
        let never = |unit: &Unit| unit.state == UnitState::New && !was_entered(&self.run, unit);
        let without = |unit: &&Unit| unit.state == UnitState::Dropped || is_left(&self.run, unit) || never(unit);
        let dropped = self.run.ledger.units.iter().filter(without);
        let dropped: Vec<&str> = dropped.map(|unit| &*unit.name).collect();
        let mut why = "every mandatory gate holds for this tree".to_owned();
        if !self.run.has_changed() {
            why.push_str(", and nothing is changed");
        }
        for (how, what) in [("a person waived", all.join(", ")), ("without", dropped.join(", "))] {
            if !what.is_empty() {
                why.push_str(&format!("; {how} {what}"));
            }
        }
        why
    }

    /// Decisions beside the work have ended: the run may close now.
    pub fn close_when_nothing_is_open(&mut self) {
        let protocol = self.protocol.clone();
        let Some(main) = self.instance(MAIN) else { return };
        let At::Closing { stage, end } = &main.at else { return };
        match (Self::stage_of(&protocol, &main, stage), end) {
            (Some(stage), RunEnding::Done) => self.close_as_done(stage),
            (Some(stage), RunEnding::Reported) => self.close_as_reported(stage),
            (Some(stage), RunEnding::Dropped) => self.close_as_dropped(stage, None),
            (None, _) => {}
        }
    }

    /// The main flow reached `reported`: nothing is owed, but what is still asked is answered first.
    pub fn close_as_reported(&mut self, stage: &Stage) {
        if self.run.pending().next().is_some() {
            return;
        }
        let work =
            if self.run.tree == self.run.opened.content.tree { "" } else { "; what was changed is not handed over" };
        self.emit(RunClosed {
            outcome: RunOutcome::Reported,
            why: format!("`{}` ends it with a report, which is no success of work of its own{work}", stage.id),
            tree: self.run.tree.clone(),
        });
    }

    /// The main flow reached `dropped`: whoever gives the run up answers no question of security, so that one is answered first.
    pub fn close_as_dropped(&mut self, stage: &Stage, outcome: Option<&Outcome>) {
        self.end_all_but(Some(Class::Security), "the run was given up");
        if self.run.pending().next().is_some() {
            return;
        }
        let after = outcome.map_or_else(|| "every question of security is answered".to_owned(), Outcome::to_string);
        self.emit(RunClosed {
            outcome: RunOutcome::Dropped,
            why: format!("given up at `{}`: {after}", stage.id),
            tree: self.run.tree.clone(),
        });
    }

    /// A unit's flow reached `done`.
    pub fn unit_done(&mut self, instance: &InstanceId, stage: &Stage) {
        let Some((unit, makes)) = self.made(instance) else { return };
        match makes {
            Makes::Produced => {
                self.emit(UnitChanged { unit, state: UnitState::Produced, why: format!("`{}` is done", stage.id) });
            }
            Makes::Accepted => {
                self.leave_findings(&unit);
                let open = blockers::of_new_acceptance(&self.run, &unit);
                if open.is_empty() && self.asks_of_empty(instance, stage, Some(&unit)) {
                    return;
                }
                if open.is_empty() {
                    self.emit(UnitChanged {
                        unit,
                        state: UnitState::Accepted,
                        why: "every mandatory gate holds".to_owned(),
                    });
                } else if !self.asks_of_findings_at_done(instance, stage, Some(&unit)) {
                    // Its last stage cannot mend this: a person's `retry` runs the flow from its first.
                    let protocol = self.protocol.clone();
                    let flow = self.instance(instance).map(|known| known.flow.clone()).unwrap_or_default();
                    let first = protocol.flow(&flow).and_then(|flow| flow.stages.first()).unwrap_or(stage);
                    let bare = open.iter().any(|blocker| matches!(blocker, Blocker::NoCriterion(_)));
                    let next = match bare {
                        true => format!(
                            "no stage of `{flow}` gives it one, only a plan does; `tollgate cancel` ends the run"
                        ),
                        false => format!("`retry` enters `{}`", first.id),
                    };
                    self.hold(instance, first, Some(&Outcome::Done), format!("{}; {next}", joined(&open)));
                }
            }
        }
    }

    /// What a unit that is done did not touch and nobody in its flow can settle goes back to who found it. That the unit holds
    /// on to its work is an answer, and the limits of whoever judges it again end the dispute.
    fn leave_findings(&mut self, unit: &UnitId) {
        let judges = |role: &RoleId| self.run.ledger.judgements.contains_key(&keyed(role, Some(unit)));
        let is_own = |row: &Name| self.run.criterion(row).is_some_and(|row| row.unit.as_ref() == Some(unit));
        let left = self.findings(Some(unit), |finding| {
            let (role, row) = (finding.about.role.as_ref(), finding.about.criterion.as_ref());
            let judged_here = role.is_none_or(judges) && row.is_none_or(is_own) && self.is_only_of(finding, Some(unit));
            finding.status_for(Some(unit)) == FindingStatus::Open && !judged_here
        });
        if !left.is_empty() {
            let why = "whoever found it judges it again".to_owned();
            let (status, unit) = (FindingStatus::Open, Some(unit.clone()));
            self.emit(FindingChanged { findings: left, status, why, unit, tree: None });
        }
    }

    pub fn unit_dropped(&mut self, instance: &InstanceId, stage: &Stage, outcome: &Outcome) {
        if let Some((unit, _)) = self.made(instance) {
            self.emit(UnitChanged {
                unit,
                state: UnitState::Dropped,
                why: format!("given up at `{}`: {outcome}", stage.id),
            });
        }
    }

    /// The unit that an instance makes something of; none for a sub-flow of the same subject.
    pub(super) fn made(&self, instance: &str) -> Option<(UnitId, Makes)> {
        let known = self.instance(instance)?;
        let parent = self.instance(known.parent.as_deref()?)?;
        let each = Self::stage_of(&self.protocol, &parent, known.each.as_deref()?)?;
        let Kind::Each(each) = &each.kind else { return None };
        if each.over == Over::It { None } else { Some((known.unit.clone()?, each.makes)) }
    }

    /// Acceptance lapses when what it rests on changed, or a finding was opened against the unit.
    pub fn lapse(&mut self) {
        let accepted: Vec<UnitId> = self
            .run
            .ledger
            .units
            .iter()
            .filter(|unit| unit.state == UnitState::Accepted)
            .map(|unit| unit.name.clone())
            .collect();
        for name in accepted {
            if let Some(blocker) = blockers::of_accepted(&self.run, &name) {
                let why = blocker.to_string();
                self.emit(UnitChanged { unit: name, state: UnitState::Lapsed, why });
            }
        }
        self.restore();
    }

    /// A unit is accepted again once a person has waived what it lapsed for, a finding or a row, and nothing else was done to it.
    fn restore(&mut self) {
        let ledger = &self.run.ledger;
        let lapsed = ledger.units.iter().filter(|unit| unit.state == UnitState::Lapsed).map(|unit| unit.name.clone());
        let rests = |name: &UnitId| {
            let mut own = self.run.instances.values().filter(|instance| instance.unit.as_ref() == Some(name));
            own.all(|instance| matches!(instance.at, At::Ended { end: Target::Done }))
        };
        let waived = |name: &UnitId| {
            let mut against = ledger.findings.values().filter(|finding| finding.about.units.contains(name));
            let mut rows = ledger.criteria.iter().filter(|row| row.unit.as_ref() == Some(name));
            rows.any(|row| row.waived.is_some())
                || against.any(|finding| finding.status_in(Some(name)) == FindingStatus::Waived)
        };
        let settled = |name: &UnitId| {
            let mut against = ledger.findings.values().filter(|finding| finding.about.units.contains(name));
            against.all(|finding| finding.status_in(Some(name)).is_closed())
        };
        // Not what a change has made lapse.
        let whole = |name: &UnitId| {
            blockers::of_acceptance(&self.run, name).is_empty() && blockers::since_acceptance(&self.run, name).is_none()
        };
        let restored: Vec<UnitId> =
            lapsed.filter(|name| rests(name) && waived(name) && settled(name) && whole(name)).collect();
        for unit in restored {
            let why = "nothing is open against it any more".to_owned();
            self.emit(UnitChanged { unit, state: UnitState::Accepted, why });
        }
    }

    /// Only what succeeded is put on a branch.
    pub fn published(&mut self, branch: Name, commit: Name) -> Result<(), Rejection> {
        self.needs_driver()?;
        if !self.run.succeeded() {
            return Err(Rejection::NotSucceeded(not_succeeded(&self.run)));
        }
        if !self.run.has_changed() {
            return Err(Rejection::EmptyChange);
        }
        if self.run.published.as_ref() != Some(&commit) {
            self.emit(RunPublished { branch, commit });
        }
        Ok(())
    }
}
