//! The invariants. What an event may do is checked before it counts; what must be true of a run is checked after every
//! append over what the events touched, and over everything after a load.
//!
//! 6 (replay equals the live state, the chain verifies) is not a property of one state: the journal's readers check it.

use std::collections::BTreeSet;

use super::blockers::{self, joined};
use super::bundle;
use super::event::{
    Changed, CommandResult, DecisionDeferred, DecisionEnded, Event, FlowMoved, LandOutcome, LandingEnded,
    QuestionAnswered, Recorded, RunOutcome, UnitState, Work,
};
use super::evolve::counter_key;
use super::state::{At, Instance, MAIN, Phase, Run};
use crate::Name;
use crate::id::{AttemptId, InstanceId};
use crate::protocol::model::ScopePolicy;
use crate::report::Judgement;
use crate::scope;

/// A broken invariant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Its number in the design.
    pub invariant: u8,
    /// The event after which it was seen.
    pub seq: u64,
    pub what: String,
}

struct Found {
    seq: u64,
    violations: Vec<Violation>,
}

impl Found {
    fn unless(&mut self, holds: bool, invariant: u8, what: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(Violation { invariant, seq: self.seq, what: what() });
        }
    }
}

/// What an event breaks, seen from the state before it.
#[cfg_attr(not(test), expect(clippy::wildcard_enum_match_arm, reason = "most events can break nothing by themselves"))]
pub fn event(run: &Run, recorded: &Recorded) -> Vec<Violation> {
    let mut found = Found { seq: recorded.seq, violations: Vec::new() };
    found.unless(recorded.seq == run.seq + 1, 6, || format!("event {} follows {}", recorded.seq, run.seq));
    let after_the_end = matches!(
        recorded.event,
        Event::RunPublished(_)
            | Event::AttemptRefused(_)
            | Event::DecisionRefused(_)
            | Event::DriverTookOver(_)
            | Event::RunRepaired(_)
    ) || lands(run, &recorded.event);
    found
        .unless(!run.is_closed() || after_the_end, 2, || format!("{} after the run was closed", recorded.event.kind()));
    match &recorded.event {
        Event::AttemptStarted(started) => {
            let live = run.attempts.values().any(|a| a.instance == started.instance && a.stage == started.stage);
            found.unless(!live, 3, || format!("a second lease for `{}` of {}", started.stage, started.instance));
            if let Work::Dispatch { role, bundle, .. } = &started.work {
                let unit = run.instances.get(&started.instance).and_then(|instance| instance.unit.as_ref());
                let asked = run.budget_questions().find(|(_, over)| over.stops(unit));
                found.unless(asked.is_none(), 5, || {
                    format!("{} starts over a budget that is asked about", started.attempt)
                });
                let closed = run.pools.get(&run.pool_of(role));
                found.unless(closed.is_none_or(|pool| !pool.is_closed(recorded.at_ms)), 5, || {
                    format!("{} starts while its pool may not be called", started.attempt)
                });
                let role = run.protocol.roles.get(role);
                let hidden = bundle.iter().find(|item| !role.is_some_and(|role| bundle::sees(&role.sees, &item.item)));
                found.unless(hidden.is_none(), 7, || {
                    format!("{} is shown `{}`", started.attempt, hidden.map_or("", |item| &item.item))
                });
            }
        }
        Event::AttemptReported(reported) => {
            under_live_lease(&mut found, run, reported.attempt, reported.token);
            if reported.content.is_some() {
                within_areas(&mut found, run, reported.attempt, &reported.changed);
            }
        }
        Event::AttemptParked(parked) => {
            under_live_lease(&mut found, run, parked.attempt, parked.token);
            if parked.content.is_some() {
                within_areas(&mut found, run, parked.attempt, &parked.changed);
            }
        }
        Event::AttemptUnready(unready) => under_live_lease(&mut found, run, unready.attempt, unready.token),
        Event::CommandsRan(ran) => {
            under_live_lease(&mut found, run, ran.attempt, ran.token);
            let held = |result: &&CommandResult| {
                result.result != Judgement::Pass
                    || (*result).clone().held_to(run.repeats(&result.command)).result == Judgement::Pass
            };
            let short = ran.results.iter().find(|result| !held(result));
            found.unless(short.is_none(), 1, || {
                let name = short.map_or("", |result| result.command.name());
                format!("the command of `{name}` passes without having passed every time")
            });
        }
        Event::LandingEnded(landing) => {
            under_live_lease(&mut found, run, landing.attempt, landing.token);
            within_scope(&mut found, run, landing);
        }
        Event::DecisionEnded(DecisionEnded { decision, .. })
        | Event::QuestionAnswered(QuestionAnswered { decision, .. })
        | Event::DecisionDeferred(DecisionDeferred { decision, .. }) => {
            let pending = run.decisions.get(decision).is_some_and(|decision| decision.end.is_none());
            found.unless(pending, 4, || format!("{} of {decision}, but it is not open", recorded.event.kind()));
        }
        Event::FlowReturned(returned) => {
            // A question that was skipped was never asked.
            if let Some(answered) = returned.decision {
                let waited = run
                    .instances
                    .get(&returned.instance)
                    .is_some_and(|known| matches!(known.at, At::Waiting { decision, .. } if decision == answered));
                let ended = run.decisions.get(&answered).is_some_and(|decision| decision.end.is_some());
                found.unless(waited && ended, 4, || format!("{answered} takes effect, but nothing waits for it"));
            }
        }
        Event::FlowMoved(moved) => {
            limits(&mut found, run, moved);
            let is_open = |decision| run.decisions.get(decision).is_some_and(|known| known.end.is_none());
            let waits = run
                .instances
                .get(&moved.instance)
                .is_some_and(|known| matches!(&known.at, At::Waiting { decision, .. } if is_open(decision)));
            found.unless(!waits, 4, || format!("{} moves while its question is open", moved.instance));
        }
        Event::UnitChanged(changed) if changed.state == UnitState::Accepted => {
            let open = blockers::of_acceptance(run, &changed.unit);
            found.unless(open.is_empty(), 1, || format!("`{}` is accepted: {}", changed.unit, joined(&open)));
        }
        Event::RunLanded(landed) => {
            let clear = run.landing.as_ref().is_some_and(|landing| {
                landing.token == landed.token && landing.target.tree == landed.tree && landing.is_clear(run)
            });
            found.unless(clear, 2, || format!("{} lands, and not all of it is shown", landed.tree));
        }
        Event::LandChecked(checked) => {
            let live = run.landing.as_ref().is_some_and(|landing| landing.token == checked.token);
            found.unless(live, 3, || format!("results count under token {}, which is not live", checked.token));
        }
        Event::RunClosed(closed) if closed.outcome == RunOutcome::Succeeded => {
            let open = blockers::of_close(run);
            found.unless(open.is_empty(), 2, || format!("the run succeeds: {}", joined(&open)));
        }
        _ => {}
    }
    found.violations
}

/// What lands is in the scope of its unit, or a policy that is recorded lets it be outside.
fn within_scope(found: &mut Found, run: &Run, landing: &LandingEnded) {
    let unit = run.attempts.get(&landing.attempt).and_then(|attempt| match &attempt.work {
        Work::Land { unit, .. } => run.unit(unit),
        Work::Dispatch { .. } | Work::Commands { .. } => None,
    });
    if let (LandOutcome::Landed, Some(unit)) = (landing.outcome, unit) {
        let by_policy = |path: &Name| {
            landing.by_policy.contains(path) && run.policy_outside(&unit.name, path) != ScopePolicy::Strict
        };
        let mut paths = landing.paths.iter().chain(&landing.by_policy);
        let outside = paths.find(|path| !scope::in_scope(path, &unit.scope) && !by_policy(path));
        found.unless(outside.is_none(), 8, || {
            format!("{} landed outside the scope of `{}`", outside.map_or("", |path| path), unit.name)
        });
    }
}

/// Whether an event belongs to the landing of a run that succeeded: it changes nothing of what the run closed with.
fn lands(run: &Run, event: &Event) -> bool {
    let asks = |id| run.landing.as_ref().is_some_and(|landing| landing.decision.is_some_and(|(of, _)| of == id));
    let steps = matches!(event, Event::LandAsked(_) | Event::LandChecked(_) | Event::LandLeft(_) | Event::RunLanded(_));
    let asked = matches!(event, Event::DecisionAsked(asked) if asked.asked.is_of_landing());
    let answered = matches!(event, Event::DecisionEnded(ended) if asks(ended.decision));
    run.succeeded() && (steps || asked || answered)
}

/// What counts of an attempt lies where its role may write.
fn within_areas(found: &mut Found, run: &Run, attempt: AttemptId, changed: &[Changed]) {
    let live = run.attempts.get(&attempt);
    let role = live.and_then(|attempt| match &attempt.work {
        Work::Dispatch { role, .. } => run.protocol.roles.get(role),
        Work::Commands { .. } | Work::Land { .. } => None,
    });
    let areas = run.area_patterns();
    let allowed = |path: &Name| {
        let area = scope::area_of(&areas, path);
        area.is_some_and(|area| role.is_some_and(|role| role.writes.contains(area)))
            || (!run.ledger.widened.is_empty() && scope::in_scope(path, &run.ledger.widened))
            || live.is_some_and(|attempt| run.is_told_of(&attempt.instance, path))
    };
    let outside = changed.iter().find(|change| !allowed(&change.path));
    found.unless(outside.is_none(), 8, || {
        format!("{} counts, which its role may not write", outside.map_or("", |change| &change.path))
    });
}

fn under_live_lease(found: &mut Found, run: &Run, attempt: AttemptId, token: u64) {
    let live = run.attempts.get(&attempt).is_some_and(|live| live.token == token);
    found.unless(live, 3, || format!("{attempt} counts under token {token}, which is not live"));
}

fn limits(found: &mut Found, run: &Run, moved: &FlowMoved) {
    let Some(instance) = run.instances.get(&moved.instance) else { return };
    let limit = run.stage(instance, &moved.stage).and_then(|stage| limit_of(run, stage, &moved.rule));
    let counter = instance.counters.get(&counter_key(&moved.stage, &moved.rule));
    let taken = counter.map_or(0, |counter| counter.taken);
    found.unless(moved.cut_off || limit.is_none_or(|limit| taken < limit), 5, || {
        format!("`{}` on `{}` is taken once more than its limit", moved.stage, moved.rule)
    });
}

fn limit_of(run: &Run, stage: &crate::protocol::model::Stage, rule: &str) -> Option<u32> {
    let of = |rules: &[crate::protocol::model::Rule]| rules.iter().find(|known| &*known.outcome == rule)?.route.limit;
    if stage.on.iter().any(|known| &*known.outcome == rule) { of(&stage.on) } else { of(&run.protocol.otherwise) }
}

/// What is broken after an append, over what its events touched.
pub fn after(run: &Run, events: &[Recorded]) -> Vec<Violation> {
    let mut found = Found { seq: run.seq, violations: Vec::new() };
    let mut instances: BTreeSet<&InstanceId> = BTreeSet::new();
    let mut units = false;
    for recorded in events {
        match &recorded.event {
            Event::FlowEntered(entered) => drop(instances.insert(&entered.instance)),
            Event::FlowMoved(moved) => drop(instances.insert(&moved.instance)),
            Event::FlowReturned(returned) => drop(instances.insert(&returned.instance)),
            Event::FlowResumed(resumed) => drop(instances.insert(&resumed.instance)),
            Event::AttemptStarted(started) => drop(instances.insert(&started.instance)),
            Event::DecisionAsked(asked) => drop(instances.insert(&asked.asked.instance)),
            Event::AttemptReported(_)
            | Event::AttemptParked(_)
            | Event::CommandsRan(_)
            | Event::LandingEnded(_)
            | Event::UnitChanged(_)
            | Event::FindingOpened(_)
            | Event::FindingChanged(_)
            | Event::LedgerPlanned(_)
            | Event::TreeChanged(_)
            | Event::ScopeWidened(_) => units = true,
            Event::RunOpened(_)
            | Event::DriverTookOver(_)
            | Event::InputsGiven(_)
            | Event::ArtifactGiven(_)
            | Event::VariableGiven(_)
            | Event::EachEntered(_)
            | Event::FlowHeld(_)
            | Event::PoolParked(_)
            | Event::DayCounted(_)
            | Event::BudgetChanged(_)
            | Event::AttemptLost(_)
            | Event::AttemptUnready(_)
            | Event::AttemptCancelled(_)
            | Event::AttemptRefused(_)
            | Event::JudgementRests(_)
            | Event::JudgementEnded(_)
            | Event::FindingRestated(_)
            | Event::RequirementsDisposed(_)
            | Event::WaiverGranted(_)
            | Event::DecisionEnded(_)
            | Event::QuestionAnswered(_)
            | Event::DecisionDeferred(_)
            | Event::DecisionRefused(_)
            | Event::RunHalted(_)
            | Event::RunRetried(_)
            | Event::RunRepaired(_)
            | Event::RunClosed(_)
            | Event::RunPublished(_)
            | Event::LandAsked(_)
            | Event::LandChecked(_)
            | Event::LandLeft(_)
            | Event::RunLanded(_) => {}
        }
    }
    for name in instances {
        if let Some(instance) = run.instances.get(name) {
            one_instance(&mut found, run, name, instance);
        }
    }
    if units {
        accepted_units(&mut found, run);
    }
    leases(&mut found, run);
    found.violations
}

/// What is broken in a whole run.
pub fn state(run: &Run) -> Vec<Violation> {
    let mut found = Found { seq: run.seq, violations: Vec::new() };
    for (name, instance) in &run.instances {
        one_instance(&mut found, run, name, instance);
    }
    accepted_units(&mut found, run);
    leases(&mut found, run);
    if matches!(run.phase, Phase::Closed { outcome: RunOutcome::Succeeded, .. }) {
        let open = blockers::of_close(run);
        found.unless(open.is_empty(), 2, || format!("the run succeeded: {}", joined(&open)));
    }
    found.unless(run.landing.is_none() || run.succeeded(), 2, || "it lands, and did not succeed".to_owned());
    for (id, decision) in run.pending().filter(|(_, decision)| decision.asked.blocking) {
        let lands = run.landing.as_ref().is_some_and(|landing| landing.decision == Some((id, false)));
        let waits = lands
            || decision.is_of_budget()
            || (decision.is_of_intake() && run.instances.is_empty())
            || run
                .instances
                .get(&decision.asked.instance)
                .is_some_and(|known| matches!(known.at, At::Waiting { decision, .. } if decision == id));
        found.unless(waits, 4, || format!("{id} is open, but nothing waits for it"));
    }
    found.violations
}

fn one_instance(found: &mut Found, run: &Run, name: &InstanceId, instance: &Instance) {
    match &instance.at {
        At::Leased { attempt, .. } => {
            let live = run.attempts.get(attempt).is_some_and(|live| live.instance == *name);
            found.unless(live, 3, || format!("{name} works under {attempt}, which has no lease"));
        }
        At::Waiting { decision, .. } => {
            found.unless(run.decisions.contains_key(decision), 4, || {
                format!("{name} waits for {decision}, never asked")
            });
        }
        At::Closing { .. } => found.unless(&**name == MAIN, 2, || format!("{name} closes the run")),
        At::Ready { .. } | At::Each { .. } | At::Held { .. } | At::Ended { .. } => {}
    }
    for (key, counter) in &instance.counters {
        let Some((stage, rule)) = key.split_once(' ') else { continue };
        let limit = run.stage(instance, stage).and_then(|stage| limit_of(run, stage, rule));
        found.unless(limit.is_none_or(|limit| counter.taken <= limit), 5, || {
            format!("`{stage}` on `{rule}` was taken {} times in {name}", counter.taken)
        });
    }
}

fn accepted_units(found: &mut Found, run: &Run) {
    for unit in run.ledger.units.iter().filter(|unit| unit.state == UnitState::Accepted) {
        if let Some(why) = blockers::of_accepted(run, &unit.name) {
            found.unless(false, 1, || format!("`{}` is still accepted, but {why}", unit.name));
        }
    }
}

fn leases(found: &mut Found, run: &Run) {
    let mut seen = BTreeSet::new();
    for (id, attempt) in &run.attempts {
        found.unless(seen.insert((&attempt.instance, &attempt.stage)), 3, || {
            format!("two leases are live for `{}` of {}", attempt.stage, attempt.instance)
        });
        let held = run
            .instances
            .get(&attempt.instance)
            .is_some_and(|known| matches!(&known.at, At::Leased { attempt, .. } if attempt == id));
        found.unless(held || run.is_closed(), 3, || format!("{id} has a lease, but {} is elsewhere", attempt.instance));
    }
}
