//! Findings, and at the end of the run rows, that are all that keeps a flow from going on, where nothing ahead looks at them again: they
//! are put to a person by name, so that no run waits for somebody who is never dispatched.
//!
//! ```text
//! done, check or acceptance, findings alone in the way --> question `@findings`
//!     --waive--> as if they were settled     --again--> where somebody works on them     --hold--> held
//! ```

use super::super::blockers::{self, Blocker};
use super::super::event::{Asked, By, DecisionAsked, FindingStatus, FlowResumed, Offered, Origin, WaiverGranted};
use super::super::evolve::waive_for;
use super::super::fan_out::units_over;
use super::super::finding::FindingState;
use super::super::gate::{self, Status};
use super::super::open_findings::{AtFindings, FINDINGS};
use super::super::state::{At, Decision, Instance, Run};
use super::begin_again::{Again, Sought};
use super::draft::Draft;
use super::outcome_text::came_out;
use super::{Answer, Rejection};
use crate::Name;
use crate::id::{DecisionId, FindingId, InstanceId, RoleId, StageId, UnitId};
use crate::protocol::Outcome;
use crate::protocol::model::{Class, Kind, Over, Stage, Target};
use crate::report::Verdict;
use std::sync::Arc;

impl Draft {
    /// Puts the findings that alone keep a unit or the run from being done; whether it does.
    pub(super) fn asks_of_findings_at_done(&mut self, name: &InstanceId, stage: &Stage, unit: Option<&UnitId>) -> bool {
        let findings = self.open_of(unit, |finding| match unit {
            Some(_) => finding.status_for(unit) == FindingStatus::Open,
            None => true,
        });
        let rows = if unit.is_none() { self.rows_of_nobody() } else { Vec::new() };
        let put = ByName { findings, rows };
        let trial = self.waived(&put, unit);
        let alone = match unit {
            Some(unit) => blockers::of_acceptance(&trial, unit).is_empty(),
            None => blockers::of_close(&trial).iter().all(|blocker| matches!(blocker, Blocker::Decision(..))),
        };
        alone && !self.comes_up_above(name, &put.findings) && self.put_by_name(name, stage, &Outcome::Done, put)
    }

    /// The rows that the run owes at its end, and that no stage judges which it has been at.
    fn rows_of_nobody(&self) -> Vec<Name> {
        let rows = blockers::of_close(&self.run).into_iter().filter_map(|blocker| {
            let (Blocker::Row(row, _) | Blocker::RowStale(row)) = &blocker else { return None };
            let row = row.clone();
            self.first_to_change(&[blocker]).is_none().then_some(row)
        });
        // What a plan calls by the id of a finding would be taken for one.
        rows.filter(|row| row.parse::<FindingId>().is_err()).collect()
    }

    /// Puts the findings for which a check does not hold or an acceptance does not count, where that leads nowhere; whether it does.
    pub(super) fn asks_of_findings_held(&mut self, name: &InstanceId, stage: &Stage, outcome: &Outcome) -> bool {
        let unit = self.unit_of(name);
        let unit = unit.as_ref();
        let put = match (&stage.kind, outcome) {
            (Kind::Check { gates }, Outcome::Fail | Outcome::Stale) => {
                let open = self.open_of(unit, |_| true);
                let open = ByName::findings(open);
                let trial = self.waived(&open, unit);
                if gates.iter().any(|gate| gate::status_of(&trial, gate, unit) != Status::Holds) {
                    return false;
                }
                open
            }
            (Kind::Dispatch { .. }, Outcome::Verdict(Verdict::Inconclusive)) => {
                let claims = self.open_of(unit, |finding| finding.about.of.is_some() || finding.is_of_command());
                if self.author_of(name, &claims).is_some() {
                    return false;
                }
                let claims = ByName::findings(claims);
                let trial = self.waived(&claims, unit);
                if stage.ensures.iter().any(|gate| gate::status_of(&trial, gate, unit) != Status::Holds) {
                    return false;
                }
                claims
            }
            _ => return false,
        };
        self.put_by_name(name, stage, outcome, put)
    }

    /// The findings of a subject alone that are not settled.
    fn open_of(&self, unit: Option<&UnitId>, wanted: impl Fn(&FindingState) -> bool) -> Vec<FindingId> {
        let open = |known: &FindingState| !known.status_in(unit).is_closed() && self.is_only_of(known, unit);
        self.findings(unit, |known| open(known) && wanted(known))
    }

    /// Whether a flow above goes on without this one and dispatches whoever found one of these, or said what it is about: that comes
    /// after this one is held. What a command found is run again there.
    fn comes_up_above(&self, name: &InstanceId, findings: &[FindingId]) -> bool {
        let Some(known) = self.run.instances.get(name) else { return false };
        let (Some(above), Some(each)) = (&known.parent, &known.each) else { return false };
        let about = || findings.iter().filter_map(|id| self.run.ledger.findings.get(id)).map(|known| &known.about);
        let concerns =
            |role: &RoleId| about().any(|about| about.role.as_ref() == Some(role) || about.of.as_ref() == Some(role));
        let ran = about().any(|about| about.role.is_none() && about.of.is_none());
        let flow = self.run.instances.get(above).and_then(|known| self.run.flow(known));
        let stages = flow.map(|flow| flow.stages.as_slice()).unwrap_or_default();
        let here = stages.iter().any(|stage| matches!(&stage.kind, Kind::Dispatch { role } if concerns(role)));
        let goes_on = stages.iter().any(|stage| stage.id == *each && self.goes_on_without(name, above, stage));
        goes_on && (here || ran) || self.comes_up_above(above, findings)
    }

    /// Whether an `each` leads anywhere when a flow below it is held.
    fn goes_on_without(&self, name: &InstanceId, above: &InstanceId, stage: &Stage) -> bool {
        let Kind::Each(each) = &stage.kind else { return false };
        let others =
            || self.run.children(above).filter(|(id, child)| *id != name && child.each.as_ref() == Some(&stage.id));
        let is_done = |(_, child): (&InstanceId, &Arc<Instance>)| matches!(child.at, At::Ended { end: Target::Done });
        let alone = units_over(&self.run, self.unit_of(above).as_ref(), each).len() < 2;
        let outcomes: &[Outcome] = match others().any(is_done) {
            true => &[Outcome::Some],
            false if alone => &[Outcome::None],
            false => &[Outcome::Some, Outcome::None],
        };
        let leads = |outcome: &Outcome| {
            let found = self.protocol.route(stage, outcome);
            found.is_some_and(|(rule, _)| !matches!(rule.route.to, Target::Hold | Target::Dropped))
        };
        // A sub-flow that is held holds its caller.
        each.over != Over::It && outcomes.iter().all(leads)
    }

    /// The run as it would be with these waived.
    fn waived(&self, put: &ByName, unit: Option<&UnitId>) -> Run {
        let mut trial = self.run.clone();
        let waiver = waiver(DecisionId(self.run.next_decision), put.clone());
        let on = gate::on(&trial, unit);
        waive_for(&mut trial, &waiver, unit.cloned(), on);
        trial
    }

    fn put_by_name(&mut self, name: &InstanceId, stage: &Stage, outcome: &Outcome, put: ByName) -> bool {
        let finding = |id: &FindingId| {
            let what = &self.run.ledger.findings.get(id)?.about.what;
            Some((Name::from(id.to_string()), format!("{id}: {what}")))
        };
        let row = |id: &Name| Some((id.clone(), format!("{id}: {}", self.run.criterion(id)?.text)));
        let (waives, list): (Vec<Name>, Vec<String>) =
            put.findings.iter().filter_map(finding).chain(put.rows.iter().filter_map(row)).unzip();
        if list.is_empty() {
            return false;
        }
        let unit = self.unit_of(name);
        let (them, it) = match (put.findings.len(), put.rows.len()) {
            (1, 0) => ("One finding is open", "it"),
            (_, 0) => ("Findings are open", "them"),
            (0, 1) => ("One row is not shown to hold", "it"),
            (0, _) => ("Rows are not shown to hold", "them"),
            _ => ("Findings are open, and rows are not shown to hold", "them"),
        };
        let other = match self.works_on(name, &put.findings) {
            Some(next) => Offered {
                id: AtFindings::Again.word().into(),
                consequence: format!("`{}` is entered again", next.stage),
                waives: Vec::new(),
            },
            None => Offered {
                id: AtFindings::Hold.word().into(),
                consequence: "It is held; `tollgate retry` looks again".to_owned(),
                waives: Vec::new(),
            },
        };
        let waive = Offered {
            id: AtFindings::Waive.word().into(),
            consequence: format!("You waive {it} by name, and the work goes on"),
            waives,
        };
        let why = if *outcome == Outcome::Done {
            format!("`{}` was the last stage, and nothing else is in the way", stage.id)
        } else {
            came_out(stage, outcome)
        };
        let asked = Asked {
            instance: name.clone(),
            ask: FINDINGS.into(),
            class: Class::Waiver,
            question: format!("{them}, and no stage ahead looks at {it} again.\n{}", list.join("\n")),
            why,
            options: vec![waive, other],
            recommend: None,
            default: None,
            tree: self.run.tree_of(unit.as_ref()).clone(),
            unit,
            blocking: true,
            shows: Vec::new(),
            origin: Origin { stage: stage.id.clone(), outcome: Some(outcome.clone()), cut_off: None },
            paths: Vec::new(),
            budget: None,
            questions: Vec::new(),
            tries: None,
        };
        self.emit(DecisionAsked { decision: DecisionId(self.run.next_decision), asked });
        true
    }

    /// The stage of a flow whose role said what these findings are about.
    fn author_of(&self, name: &InstanceId, findings: &[FindingId]) -> Option<StageId> {
        let known = self.run.instances.get(name)?;
        let is_author = |stage: &&Stage| {
            let Kind::Dispatch { role } = &stage.kind else { return false };
            let mut about = findings.iter().filter_map(|id| self.run.ledger.findings.get(id)?.about.of.as_ref());
            about.any(|of| of == role)
        };
        self.protocol.flow(&known.flow)?.stages.iter().find(is_author).map(|stage| stage.id.clone())
    }

    /// Where somebody would work on findings: their author, else whoever writes.
    fn works_on(&self, name: &InstanceId, findings: &[FindingId]) -> Option<Again> {
        let at = |stage| Again { at: name.clone(), stage, units: Vec::new() };
        if let Some(author) = self.author_of(name, findings) {
            return Some(at(author));
        }
        let known = || findings.iter().filter_map(|id| self.run.ledger.findings.get(id)).map(|known| &known.about);
        let own = self.unit_of(name);
        let is_of = |unit: &UnitId| match &own {
            Some(own) => own == unit,
            None => known().all(|about| about.units.is_empty()) || known().any(|about| about.units.contains(unit)),
        };
        let is_author = |role: &RoleId| known().any(|about| about.of.as_ref() == Some(role));
        let again = |role: &dyn Fn(&RoleId) -> bool| self.works_again(name, &Sought { unit: &is_of, role });
        known().next()?;
        again(&is_author).or_else(|| again(&|role| self.may_write(role)))
    }

    /// A person waives what was put by name, or has somebody work on it again.
    pub(super) fn answer_findings(
        &mut self,
        id: DecisionId,
        decision: &Decision,
        answer: &Answer,
        by: &By,
    ) -> Result<(), Rejection> {
        let asked = &decision.asked;
        let protocol = self.protocol.clone();
        let stage = self.asked_at(&protocol, asked)?;
        self.end_own(id, answer, by, "anything but what becomes of the findings")?;
        let shown = asked.options.iter().flat_map(|option| &option.waives);
        let (findings, rows): (Vec<Name>, Vec<Name>) =
            shown.cloned().partition(|name| name.parse::<FindingId>().is_ok());
        let findings: Vec<FindingId> = findings.iter().filter_map(|name| name.parse().ok()).collect();
        let outcome = asked.origin.outcome.clone().unwrap_or(Outcome::Done);
        match answer.option.as_deref().and_then(AtFindings::parse) {
            Some(AtFindings::Waive) => {
                let unit = asked.unit.as_ref();
                let open = |id: &FindingId| {
                    self.run.ledger.findings.get(id).is_some_and(|known| !known.status_in(unit).is_closed())
                };
                let put = ByName { findings: findings.into_iter().filter(open).collect(), rows };
                if put != ByName::default() {
                    self.emit_by(by.clone(), waiver(id, put));
                }
                let to = if outcome == Outcome::Done { Target::Done } else { Target::Stage(stage.id.clone()) };
                self.come_back(&asked.instance, stage, &outcome, Some(id), to, None);
            }
            Some(AtFindings::Again) => {
                let here = || Again { at: asked.instance.clone(), stage: stage.id.clone(), units: Vec::new() };
                let next = self.works_on(&asked.instance, &findings).unwrap_or_else(here);
                let why = format!("findings are open, and {} has somebody work on them ({id})", by.name);
                self.begin_again(&next.units, &why);
                self.leave_for(&next.at, &asked.instance, stage, &outcome, &why);
                if next.at == asked.instance {
                    self.come_back(&next.at, stage, &outcome, Some(id), Target::Stage(next.stage), None);
                } else {
                    self.emit(FlowResumed { instance: next.at, stage: next.stage, renewed: true });
                }
            }
            Some(AtFindings::Hold) | None => {
                let them = if findings.is_empty() { "rows" } else { "findings" };
                let why = format!("{them} are open, and {} waives none ({id})", by.name);
                self.hold(&asked.instance, stage, Some(&outcome), why);
            }
        }
        Ok(())
    }
}

/// What is put to a person by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ByName {
    findings: Vec<FindingId>,
    rows: Vec<Name>,
}

impl ByName {
    const fn findings(findings: Vec<FindingId>) -> Self {
        Self { findings, rows: Vec::new() }
    }
}

/// A waiver of what was put and of nothing else.
fn waiver(decision: DecisionId, put: ByName) -> WaiverGranted {
    WaiverGranted {
        decision,
        criteria: put.rows,
        findings: put.findings,
        requirements: Vec::new(),
        commands: Vec::new(),
        judgements: Vec::new(),
        gives_up: false,
    }
}
