//! Routing: from an outcome to the next place.

use super::super::event::{CutOff, FindingStatus, FlowHeld, FlowMoved, FlowReturned, Origin, RunHalted};
use super::super::evolve::counter_key;
use super::super::gate::{self, Status};
use super::super::state::{At, Counter, MAIN};
use super::draft::Draft;
use super::outcome_text::came_out;
use crate::Name;
use crate::digest::Digest;
use crate::id::{DecisionId, GateId, InstanceId};
use crate::protocol::Outcome;
use crate::protocol::model::{Kind, Owner, Rule, Stage, Target};
use crate::report::{Health, Verdict};

impl Draft {
    /// Routes an outcome of a stage.
    pub fn route(&mut self, instance: &InstanceId, stage: &Stage, outcome: &Outcome) {
        let protocol = self.protocol.clone();
        let raised = outcome.raised();
        let found = protocol.route(stage, outcome);
        // A raise that its `each` does not route is passed upward; `otherwise` catches it in main.
        let found = match (raised, found) {
            (Some(_), Some((_, Owner::Otherwise))) if &**instance != MAIN => None,
            (_, found) => found,
        };
        let Some((rule, _)) = found else {
            match raised {
                Some(name) if &**instance != MAIN => {
                    let to = Target::Raise(name.clone());
                    self.move_to(instance, stage, outcome, &outcome.word(), &to, false, None);
                }
                _ => self.hold(instance, stage, Some(outcome), format!("`{}` has no route for `{outcome}`", stage.id)),
            }
            return;
        };
        self.take(instance, stage, outcome, rule);
    }

    /// Whether a report that cannot be used is asked for again at a stage, and the limit for that is not reached.
    pub(super) fn asks_again(&self, instance: &InstanceId, stage: &Stage) -> bool {
        let found = self.protocol.route(stage, &Outcome::Health(Health::Malformed, None));
        found.is_some_and(|(rule, _)| {
            let taken = self.counter(instance, stage, rule).taken;
            rule.route.to == Target::Again && rule.route.limit.is_none_or(|limit| taken < limit)
        })
    }

    fn counter(&self, instance: &InstanceId, stage: &Stage, rule: &Rule) -> Counter {
        let key = counter_key(&stage.id, &rule.outcome);
        self.run.instances.get(instance).and_then(|known| known.counters.get(&key)).cloned().unwrap_or_default()
    }

    /// Where an outcome of a stage goes now.
    pub(super) fn next_target(&self, instance: &InstanceId, stage: &Stage, outcome: &Outcome) -> Option<Target> {
        let (rule, _) = self.protocol.route(stage, outcome)?;
        let then = rule.route.then.as_ref().filter(|_| self.is_spent(instance, stage, rule).0);
        Some(then.unwrap_or(&rule.route.to).clone())
    }

    /// Whether a limit of a route is reached, and what is open where that is counted.
    fn is_spent(&self, instance: &InstanceId, stage: &Stage, rule: &Rule) -> (bool, Option<Digest>) {
        let route = &rule.route;
        let counter = self.counter(instance, stage, rule);
        let open_set = route.same.map(|_| self.open_set(instance));
        let same =
            if counter.last_open.is_some() && counter.last_open == open_set { counter.same_in_a_row + 1 } else { 1 };
        let spent = route.limit.is_some_and(|limit| counter.taken >= limit);
        (spent || route.same.is_some_and(|most| same >= most), open_set)
    }

    fn take(&mut self, instance: &InstanceId, stage: &Stage, outcome: &Outcome, rule: &Rule) {
        let route = &rule.route;
        let (is_spent, open_set) = self.is_spent(instance, stage, rule);
        let next = route.then.as_ref().filter(|_| is_spent).unwrap_or(&route.to);
        if self.measures_before(instance, stage, outcome, next) {
            return;
        }
        match (&route.then, is_spent) {
            (Some(then), true) => {
                self.move_to(instance, stage, outcome, &rule.outcome, then, true, open_set);
                let cut_off = CutOff { rule: rule.outcome.clone(), to: route.to.clone() };
                self.arrive(instance, stage, outcome, then, Some(cut_off));
            }
            _ => {
                self.move_to(instance, stage, outcome, &rule.outcome, &route.to, false, open_set);
                self.arrive(instance, stage, outcome, &route.to, None);
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one event")]
    fn move_to(
        &mut self,
        instance: &InstanceId,
        stage: &Stage,
        outcome: &Outcome,
        rule: &str,
        to: &Target,
        cut_off: bool,
        open_set: Option<Digest>,
    ) {
        self.emit(FlowMoved {
            instance: instance.clone(),
            stage: stage.id.clone(),
            outcome: outcome.clone(),
            rule: rule.into(),
            to: to.clone(),
            cut_off,
            open_set,
        });
    }

    /// What follows from a target, once the move is recorded.
    pub fn arrive(
        &mut self,
        instance: &InstanceId,
        stage: &Stage,
        outcome: &Outcome,
        to: &Target,
        cut_off: Option<CutOff>,
    ) {
        match to {
            // Entered by `advance`.
            Target::Stage(_) | Target::Again | Target::Origin | Target::Back => {}
            Target::Ask(ask) => {
                let origin = Origin { stage: stage.id.clone(), outcome: Some(outcome.clone()), cut_off };
                self.ask_shared(instance, ask, origin);
            }
            Target::Hold if self.asks_of_findings_held(instance, stage, outcome) => {}
            Target::Hold if self.holds_before_check(instance, stage, outcome) => {}
            Target::Hold => {
                let why = self.why_held(instance, stage, outcome);
                let claimed =
                    self.claimed_at(instance, stage).filter(|_| *outcome == Outcome::Verdict(Verdict::Inconclusive));
                self.hold(instance, claimed.as_ref().unwrap_or(stage), Some(outcome), why);
            }
            Target::Done if &**instance == MAIN => self.close_as_done(stage),
            Target::Done => self.unit_done(instance, stage),
            Target::Reported => self.close_as_reported(stage),
            Target::Dropped if &**instance == MAIN => self.close_as_dropped(stage, Some(outcome)),
            Target::Dropped => self.unit_dropped(instance, stage, outcome),
            Target::Raise(name) if &**instance == MAIN => {
                let raised = Outcome::Raised(name.clone());
                // A raise of main that leads back to a raise would never end: `otherwise` must lead elsewhere.
                if *outcome == raised {
                    self.hold(instance, stage, Some(outcome), format!("`{raised}` is not caught"));
                } else {
                    self.route(instance, stage, &raised);
                }
            }
            // The `each` above sees it.
            Target::Raise(_) => {}
            Target::As(_) => self.hold(instance, stage, Some(outcome), "a target only answers have".to_owned()),
        }
    }

    /// Holds a flow where a gate is established that a check needs: the check would find the same again. Whether there is such a place.
    fn holds_before_check(&mut self, instance: &InstanceId, stage: &Stage, outcome: &Outcome) -> bool {
        let (Kind::Check { gates }, Outcome::Fail | Outcome::Stale) = (&stage.kind, outcome) else { return false };
        let Some((at, back)) = self.first_established(instance, stage, gates) else { return false };
        let why = format!("{}; `retry` enters `{}`", self.why_held(instance, stage, outcome), back.id);
        self.leave_for(&at, instance, stage, outcome, &why);
        self.hold(&at, &back, Some(outcome), why);
        true
    }

    /// Why a flow is held, in one sentence: who, where, what came of it, and the first thing that was wrong.
    fn why_held(&self, instance: &InstanceId, stage: &Stage, outcome: &Outcome) -> String {
        if matches!(stage.kind, Kind::Each(_)) {
            // What holds the units below is what a person must know.
            let children = self.run.children(instance).filter(|(_, child)| child.each.as_ref() == Some(&stage.id));
            let held = children.filter_map(|(id, child)| {
                let At::Held { why, .. } = &child.at else { return None };
                Some(format!("{} is held: {why}", child.unit.as_deref().unwrap_or(id)))
            });
            let held: Vec<String> = held.collect();
            return if held.is_empty() { came_out(stage, outcome) } else { held.join("; ") };
        }
        if let (Kind::Check { gates }, Outcome::Fail | Outcome::Stale | Outcome::Unobservable) = (&stage.kind, outcome)
        {
            let parts = [came_out(stage, outcome), self.not_holding(instance, gates)];
            return parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
        }
        let said = self.reason.lines().next().unwrap_or_default();
        let remarks = self.run.instances.get(instance).map(|known| known.remarks.as_slice()).unwrap_or_default();
        let detail = match remarks {
            _ if !said.is_empty() => said.to_owned(),
            [] => return came_out(stage, outcome),
            [one] => one.clone(),
            [first, more @ ..] => format!("{first}, and {} more", more.len()),
        };
        format!("{}: {detail}", came_out(stage, outcome))
    }

    /// The gates of a check that do not hold, and how each is.
    fn not_holding(&self, instance: &str, gates: &[GateId]) -> String {
        let unit = self.unit_of(instance);
        let gates = gates.iter().filter_map(|name| match gate::status_of(&self.run, name, unit.as_ref()) {
            Status::Holds => None,
            Status::Stale => Some(format!("`{name}` rests on other content")),
            Status::Unobservable => Some(format!("`{name}` cannot be observed")),
            Status::Fails => Some(format!("`{name}` does not hold")),
        });
        gates.collect::<Vec<_>>().join(", ")
    }

    /// Nothing moves here any more without a person's `retry`.
    pub fn hold(&mut self, instance: &InstanceId, stage: &Stage, outcome: Option<&Outcome>, why: String) {
        self.emit(FlowHeld {
            instance: instance.clone(),
            stage: stage.id.clone(),
            outcome: outcome.cloned(),
            why: why.clone(),
        });
        if &**instance == MAIN {
            self.emit(RunHalted { reasons: vec![why] });
        }
    }

    /// Takes a flow from a shared ask back to its origin, or to an end.
    pub fn come_back(
        &mut self,
        instance: &InstanceId,
        stage: &Stage,
        outcome: &Outcome,
        decision: Option<DecisionId>,
        to: Target,
        renews: Option<Name>,
    ) {
        self.emit(FlowReturned {
            instance: instance.clone(),
            stage: stage.id.clone(),
            decision,
            to: to.clone(),
            renews,
        });
        self.arrive(instance, stage, outcome, &to, None);
    }

    /// What is still open for an instance's subject: failed rows and open findings, by content and not by id.
    fn open_set(&self, instance: &str) -> Digest {
        let unit = self.unit_of(instance);
        let mut lines: Vec<String> = self
            .run
            .ledger
            .findings
            .values()
            .filter(|finding| finding.status_for(unit.as_ref()) == FindingStatus::Open)
            .filter(|finding| unit.as_ref().is_none_or(|unit| finding.about.units.contains(unit)))
            .map(|finding| {
                let about = &finding.about;
                match &about.criterion {
                    Some(row) => format!("row {row}"),
                    None => format!("at {} {}", about.path.as_deref().unwrap_or_default(), about.what),
                }
            })
            .collect();
        lines.sort();
        lines.dedup();
        Digest::of(lines.join("\n").as_bytes())
    }
}
