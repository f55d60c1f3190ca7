//! `evolve`: what one recorded event makes of a run. Replay is this and nothing else.

mod ledger;
mod usage;
mod work;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::budget::{OnDay, dispatched};
use super::event::{
    ArtifactGiven, By, ByKind, DecisionAsked, DecisionEnd, DecisionEnded, Event, FlowEntered, FlowMoved, FlowResumed,
    FlowReturned, InputsGiven, LandAsked, LedgerPlanned, Recorded, RunOpened, RunRepaired, UnitState,
};
use super::gate;
use super::state::{
    Answered, ArtifactState, At, AtLanding, Counter, Decision, Deferred, Ended, InForce, Instance, Judged, Landing,
    Ledger, MAIN, OwnTree, Phase, QuestionAnswer, Run, RunEnding, Unit, keyed,
};
use crate::Name;
use crate::id::{AttemptId, DecisionId, StageId};
use crate::protocol::model::{Kind, Target, Value};
use crate::protocol::{Outcome, Protocol};

pub(super) use ledger::waive_for;
use ledger::{change_findings, dispose, end_judgement, look_again, open_finding, part, plan, waive, widen};
use usage::Ending;
use work::{commands, land, move_tree, release, repeat, report, start};

/// Starts a run from its first event.
pub fn begin(first: &Recorded, opened: &RunOpened, protocol: Arc<Protocol>) -> Run {
    let areas = protocol
        .areas
        .iter()
        .map(|area| InForce {
            name: area.name.clone(),
            patterns: opened.areas.get(&area.name).unwrap_or(&area.patterns).clone(),
        })
        .collect();
    Run {
        id: first.run,
        seq: first.seq,
        epoch: first.epoch,
        areas: Arc::new(areas),
        phase: Phase::Open,
        vars: opened.inputs.clone(),
        artifacts: BTreeMap::new(),
        instances: BTreeMap::new(),
        attempts: BTreeMap::new(),
        decisions: BTreeMap::new(),
        tree: opened.content.tree.clone(),
        contents: BTreeMap::from([(opened.content.tree.clone(), Arc::new(opened.content.clone()))]),
        ledger: Arc::new(Ledger::default()),
        reports: BTreeMap::new(),
        next_attempt: 1,
        next_decision: 1,
        next_finding: 1,
        published: None,
        landing: None,
        landed: Vec::new(),
        spent: Arc::default(),
        pools: BTreeMap::new(),
        opened: Arc::new(opened.clone()),
        opened_ms: first.at_ms,
        closed_ms: None,
        protocol,
    }
}

/// Applies one recorded event. Total: an event that does not fit the state changes what it can and breaks an invariant
/// that is checked elsewhere.
pub fn evolve(run: &mut Run, recorded: &Recorded) {
    run.seq = recorded.seq;
    run.epoch = run.epoch.max(recorded.epoch);
    apply(run, recorded.at_ms, &recorded.by, &recorded.event);
}

fn apply(run: &mut Run, at_ms: u64, by: &By, event: &Event) {
    match event {
        Event::RunOpened(_) | Event::AttemptRefused(_) | Event::DriverTookOver(_) => {}
        Event::ArtifactGiven(given) => give(run, given),
        Event::LedgerPlanned(planned) => planned_by(run, by, planned),
        Event::VariableGiven(given) => {
            run.vars.insert(given.name.clone(), Value::Text(given.value.clone()));
        }
        Event::InputsGiven(given) => take_inputs(run, given),
        Event::FlowEntered(entered) => enter(run, entered),
        Event::FlowMoved(moved) => step(run, moved),
        Event::FlowResumed(resumed) => resume(run, resumed),
        Event::FlowReturned(returned) => come_back(run, returned),
        Event::EachEntered(each) => {
            let seq = run.seq;
            with(run, &each.instance, |instance| {
                instance.at = At::Each { stage: each.stage.clone() };
                instance.each_entered = Some(seq);
            });
        }
        Event::FlowHeld(held) => {
            let at = At::Held { stage: held.stage.clone(), outcome: held.outcome.clone(), why: held.why.clone() };
            with(run, &held.instance, |instance| {
                // An attempt that was cut off is repeated where it was, and nowhere else.
                instance.lost = instance.lost.filter(|_| instance.at.stage() == Some(&held.stage));
                instance.at = at;
            });
        }
        Event::AttemptStarted(started) => {
            start(run, at_ms, started);
            usage::begun(run, at_ms, started);
        }
        Event::AttemptReported(reported) => {
            usage::ended(run, at_ms, reported.attempt, Ending::Reported(reported.told.as_deref()));
            report(run, reported);
        }
        Event::AttemptParked(parked) => {
            usage::ended(run, at_ms, parked.attempt, Ending::Parked(&parked.told));
            usage::park(run, parked);
        }
        Event::PoolParked(parked) => usage::close(run, parked),
        Event::DayCounted(counted) => {
            let elsewhere = OnDay { day: counted.day, used: counted.elsewhere };
            Arc::make_mut(&mut run.spent).elsewhere = elsewhere;
        }
        Event::BudgetChanged(changed) => {
            Arc::make_mut(&mut run.spent).limits.insert(changed.over.key(), changed.limit);
        }
        Event::AttemptLost(lost) => {
            usage::ended(run, at_ms, lost.attempt, Ending::Lost);
            repeat(run, lost.attempt);
        }
        Event::AttemptUnready(unready) => {
            usage::ended(run, at_ms, unready.attempt, Ending::Unready);
            // Commands that did not run are no word of anybody: who is asked next is asked anew.
            if dispatched(run, unready.attempt).is_some() {
                repeat(run, unready.attempt);
            } else {
                release(run, unready.attempt);
            }
        }
        Event::AttemptCancelled(cancelled) => {
            usage::ended(run, at_ms, cancelled.attempt, Ending::Cancelled);
            release(run, cancelled.attempt);
        }
        Event::CommandsRan(ran) => commands(run, ran),
        Event::LandingEnded(landing) => land(run, landing),
        Event::FindingOpened(opened) => open_finding(run, opened),
        Event::JudgementRests(rests) => {
            judgements_of(run, rests.attempt).for_each(|judged| judged.findings.extend(rests.findings.iter().copied()));
        }
        Event::JudgementEnded(ended) => end_judgement(Arc::make_mut(&mut run.ledger), ended.attempt),
        Event::FindingRestated(restated) => {
            if let Some(finding) = Arc::make_mut(&mut run.ledger).findings.get_mut(&restated.finding) {
                finding.about = restated.about.clone();
            }
        }
        Event::FindingChanged(changed) => change_findings(Arc::make_mut(&mut run.ledger), changed),
        Event::UnitChanged(changed) => unit_changed(run, changed),
        Event::RequirementsDisposed(disposed) => dispose(run, disposed),
        Event::ScopeWidened(widened) => widen(run, widened),
        Event::WaiverGranted(waiver) => waive(run, waiver),
        Event::TreeChanged(changed) => {
            move_tree(run, changed.unit.as_ref(), &changed.content);
            work::lose(run, None, changed.deleted.iter());
            work::answered_for(run, changed.unit.as_ref());
        }
        Event::DecisionAsked(asked) => ask(run, at_ms, asked),
        Event::DecisionEnded(ended) => end_decision(run, by, ended),
        Event::QuestionAnswered(_) | Event::DecisionDeferred(_) | Event::DecisionRefused(_) => decided(run, by, event),
        Event::RunHalted(halted) => run.phase = Phase::Halted { reasons: halted.reasons.clone() },
        Event::RunRepaired(repaired) => repair(run, repaired),
        Event::RunRetried(retried) => {
            run.phase = Phase::Open;
            if retried.unit.is_none() {
                usage::wake(run);
            }
        }
        Event::RunClosed(closed) => {
            run.phase = Phase::Closed { outcome: closed.outcome, why: closed.why.clone() };
            run.closed_ms = Some(at_ms);
        }
        Event::RunPublished(published) => run.published = Some(published.commit.clone()),
        Event::LandAsked(asked) => {
            let LandAsked { target, commands } = asked.clone();
            let (token, results, decision) = (run.seq, None, None);
            let landing = Landing { token, target, commands, asked_ms: at_ms, results, decision };
            run.landing = Some(Arc::new(landing));
        }
        Event::LandChecked(checked) => with_landing(run, |landing| landing.results = Some(checked.results.clone())),
        Event::LandLeft(_) => run.landing = None,
        Event::RunLanded(landed) => {
            run.landing = None;
            run.landed.push(Arc::new(landed.clone()));
        }
    }
}

fn with_landing(run: &mut Run, change: impl FnOnce(&mut Landing)) {
    if let Some(landing) = &mut run.landing {
        change(Arc::make_mut(landing));
    }
}

fn unit_changed(run: &mut Run, changed: &super::event::UnitChanged) {
    let accepted = gate::on(run, Some(&changed.unit));
    let Some(unit) = unit_mut(run, &changed.unit) else { return };
    unit.state = changed.state;
    match changed.state {
        UnitState::Accepted => unit.accepted_on = Some(accepted),
        // What it was accepted on tells whether it can be accepted again without new work.
        UnitState::Lapsed => {}
        UnitState::New | UnitState::Produced | UnitState::Dropped => unit.accepted_on = None,
    }
    if changed.state == UnitState::Dropped {
        let findings = Arc::make_mut(&mut run.ledger).findings.values_mut();
        findings.for_each(|finding| finding.forget(&changed.unit));
    }
}

/// What was cut may have had effects: a person looks before anything goes on. A run that is over stays over.
fn repair(run: &mut Run, repaired: &RunRepaired) {
    run.next_attempt = run.next_attempt.max(repaired.next_attempt);
    run.next_decision = run.next_decision.max(repaired.next_decision);
    run.next_finding = run.next_finding.max(repaired.next_finding);
    if !run.is_closed() {
        let cut = match repaired.until.checked_sub(run.seq) {
            None => "repaired, nothing was lost".to_owned(),
            Some(0) => format!("event {} was lost", run.seq),
            Some(_) => format!("events {} to {} were lost", run.seq, repaired.until),
        };
        let reasons = std::iter::once(format!("{cut}: {}", repaired.why)).chain(repaired.after.iter().cloned());
        run.phase = Phase::Halted { reasons: reasons.collect() };
    }
}

fn with(run: &mut Run, instance: &str, change: impl FnOnce(&mut Instance)) {
    if let Some(instance) = run.instances.get_mut(instance) {
        change(Arc::make_mut(instance));
    }
}

fn unit_mut<'a>(run: &'a mut Run, name: &str) -> Option<&'a mut Unit> {
    Arc::make_mut(&mut run.ledger).units.iter_mut().find(|unit| &*unit.name == name)
}

fn enter(run: &mut Run, entered: &FlowEntered) {
    let seq = run.seq;
    let at = At::Ready { stage: entered.stage.clone() };
    let instance = Instance {
        flow: entered.flow.clone(),
        unit: entered.unit.clone(),
        parent: entered.parent.clone(),
        each: entered.each.clone(),
        at: at.clone(),
        counters: BTreeMap::new(),
        iterations: BTreeMap::new(),
        remarks: Vec::new(),
        remarks_of: None,
        wrote: BTreeMap::new(),
        session: None,
        judging: None,
        pending: None,
        lost: None,
        started: 0,
        each_entered: None,
        arrived: seq,
    };
    let known = run.instances.entry(entered.instance.clone()).or_insert_with(|| Arc::new(instance));
    let known = Arc::make_mut(known);
    known.at = at;
    known.started = seq;
    known.arrived = seq;
    known.lost = None;
    known.pending = None;
    known.session = None;
    if let (true, Some(name)) = (entered.own_tree, &entered.unit) {
        let base = run.tree.clone();
        let mut is_lost = false;
        if let Some(unit) = unit_mut(run, name) {
            let before = unit.tree.take();
            let lost = before.as_ref().filter(|own| !own.landed);
            is_lost = lost.is_some();
            if let Some(lost) = lost {
                unit.net_change = lost.before.clone();
            }
            let generation = before.as_ref().map_or(0, |own| own.generation) + 1;
            let left = before.filter(|own| !own.landed).and_then(|own| match own.tree == own.base {
                true => own.left,
                false => Some(own.tree),
            });
            unit.tree = Some(OwnTree {
                generation,
                base: base.clone(),
                tree: base,
                landed: false,
                collision: None,
                refused: Vec::new(),
                left,
                before: unit.net_change.clone(),
            });
        }
        part(run, name);
        // What was written in a tree that is gone is nobody's word of this one.
        let own = run.instances.values_mut().filter(|instance| is_lost && instance.unit.as_ref() == Some(name));
        for instance in own {
            Arc::make_mut(instance).wrote.clear();
        }
    }
}

/// Where a target puts an instance that was at a stage.
fn arrival(instance: &str, stage: &StageId, outcome: &Outcome, to: &Target) -> At {
    match to {
        Target::Stage(stage) => At::Ready { stage: stage.clone() },
        Target::Again | Target::Origin | Target::Back => At::Ready { stage: stage.clone() },
        // The event that follows says what becomes of the instance: a question or a hold.
        Target::Ask(_) | Target::Hold | Target::As(_) => {
            At::Held { stage: stage.clone(), outcome: Some(outcome.clone()), why: String::new() }
        }
        Target::Done if instance == MAIN => At::Closing { stage: stage.clone(), end: RunEnding::Done },
        Target::Dropped if instance == MAIN => At::Closing { stage: stage.clone(), end: RunEnding::Dropped },
        Target::Reported => At::Closing { stage: stage.clone(), end: RunEnding::Reported },
        Target::Done | Target::Dropped | Target::Raise(_) => At::Ended { end: to.clone() },
    }
}

fn come_back(run: &mut Run, returned: &FlowReturned) {
    let at = arrival(&returned.instance, &returned.stage, &Outcome::Answered, &returned.to);
    look_again(run, &returned.instance);
    let seq = run.seq;
    with(run, &returned.instance, |instance| {
        instance.at = at;
        instance.arrived = seq;
        (instance.judging, instance.pending) = (None, None);
        if let Some(rule) = &returned.renews {
            instance.counters.remove(&counter_key(&returned.stage, rule));
        }
    });
}

fn step(run: &mut Run, moved: &FlowMoved) {
    let stage = run.instances.get(&moved.instance).and_then(|instance| run.stage(instance, &moved.stage));
    if moved.outcome != Outcome::Skipped && stage.is_some_and(|stage| matches!(stage.kind, Kind::Ask(_))) {
        look_again(run, &moved.instance);
    }
    let at = arrival(&moved.instance, &moved.stage, &moved.outcome, &moved.to);
    let seq = run.seq;
    with(run, &moved.instance, |instance| {
        instance.at = at;
        instance.arrived = seq;
        (instance.judging, instance.pending) = (None, None);
        if !moved.cut_off {
            let counter = instance.counters.entry(counter_key(&moved.stage, &moved.rule)).or_default();
            counter.taken += 1;
        }
        // In a row: what left the stage otherwise in between begins a new row.
        if matches!(moved.to, Target::Stage(_) | Target::Done) {
            let (own, of_stage) = (counter_key(&moved.stage, &moved.rule), counter_key(&moved.stage, ""));
            let others = instance.counters.iter_mut().filter(|(key, _)| key.starts_with(&*of_stage) && **key != own);
            others.for_each(|(_, counter)| (counter.last_open, counter.same_in_a_row) = (None, 0));
        }
        if let Some(open) = moved.open_set {
            let counter = instance.counters.entry(counter_key(&moved.stage, &moved.rule)).or_default();
            let Counter { last_open, same_in_a_row, .. } = counter;
            *same_in_a_row = if *last_open == Some(open) { *same_in_a_row + 1 } else { 1 };
            *last_open = Some(open);
        }
    });
}

/// The name of a route's counter in its instance.
pub fn counter_key(stage: &str, rule: &str) -> Name {
    format!("{stage} {rule}").into()
}

fn resume(run: &mut Run, resumed: &FlowResumed) {
    if resumed.renewed {
        look_again(run, &resumed.instance);
    }
    let seq = run.seq;
    with(run, &resumed.instance, |instance| {
        instance.arrived = seq;
        // A judge whose commands put a question is borne out after its answer.
        let is_asked = !resumed.renewed && matches!(instance.at, At::Waiting { .. });
        instance.judging.take_if(|_| !is_asked);
        // Where its commands could not run, `retry` runs them, and nobody works again.
        instance.pending = instance.pending.take().filter(|_| instance.at.stage() == Some(&resumed.stage));
        instance.at = At::Ready { stage: resumed.stage.clone() };
        if resumed.renewed {
            let prefix = format!("{} ", resumed.stage);
            instance.counters.retain(|key, _| !key.starts_with(&prefix));
        }
    });
}

/// Whether a plan is from a document, a scope or an answer that somebody gave, and not from a stage that only enters its lanes.
fn is_given(protocol: &Protocol, from: &str) -> bool {
    protocol.artifacts.contains_key(from) || from == "--scope" || from.parse::<DecisionId>().is_ok()
}

fn take_inputs(run: &mut Run, given: &InputsGiven) {
    run.vars.extend(given.inputs.clone());
    let content = given.content.iter().map(|content| (content.tree.clone(), Arc::new(content.clone())));
    run.contents.extend(content);
}

fn give(run: &mut Run, ArtifactGiven { name, object, fields, tree }: &ArtifactGiven) {
    let content = tree.as_ref().and_then(|tree| run.contents.get(tree));
    let found = content.and_then(|content| content.documents.get(name)).copied();
    run.artifacts.insert(name.clone(), ArtifactState { object: *object, fields: fields.clone(), found });
}

fn ask(run: &mut Run, at_ms: u64, asked: &DecisionAsked) {
    run.next_decision = run.next_decision.max(asked.decision.0 + 1);
    let on = gate::on_tree(run, asked.asked.tree.clone());
    let decision = Decision {
        asked: asked.asked.clone(),
        on,
        asked_ms: at_ms,
        end: None,
        answers: BTreeMap::new(),
        deferred: None,
        invalid: 0,
        dispositions: BTreeMap::new(),
    };
    run.decisions.insert(asked.decision, Arc::new(decision));
    if asked.asked.is_of_landing() {
        return with_landing(run, |landing| landing.decision = Some((asked.decision, false)));
    }
    if asked.asked.blocking && asked.asked.budget.is_none() {
        let at = At::Waiting { stage: asked.asked.origin.stage.clone(), decision: asked.decision };
        with(run, &asked.asked.instance, |instance| instance.at = at);
    }
}

fn planned_by(run: &mut Run, by: &By, planned: &LedgerPlanned) {
    let by_person = by.kind == ByKind::Person && is_given(&run.protocol, &planned.from);
    plan(Arc::make_mut(&mut run.ledger), planned, by_person);
}

/// What happens to a decision before it ends.
#[expect(clippy::wildcard_enum_match_arm, reason = "called for these events alone")]
fn decided(run: &mut Run, by: &By, event: &Event) {
    match event {
        Event::QuestionAnswered(answered) => {
            let answer = QuestionAnswer { text: answered.text.clone(), by: by.clone() };
            with_decision(run, answered.decision, |decision| drop(decision.answers.insert(answered.question, answer)));
        }
        Event::DecisionDeferred(put_off) => {
            let deferred = Deferred { until_ms: put_off.until_ms, why: put_off.why.clone(), by: by.clone() };
            with_decision(run, put_off.decision, |decision| decision.deferred = Some(deferred));
        }
        // A conflict with an answer that stands is no try.
        Event::DecisionRefused(refused) => with_decision(run, refused.decision, |decision| {
            decision.invalid += u32::from(decision.asked.tries.is_some() && decision.end.is_none());
        }),
        _ => {}
    }
}

fn with_decision(run: &mut Run, id: DecisionId, change: impl FnOnce(&mut Decision)) {
    if let Some(decision) = run.decisions.get_mut(&id) {
        change(Arc::make_mut(decision));
    }
}

fn end_decision(run: &mut Run, by: &By, ended: &DecisionEnded) {
    let seq = run.seq;
    let Some(decision) = run.decisions.get_mut(&ended.decision) else { return };
    let decision = Arc::make_mut(decision);
    decision.end = Some(Ended {
        end: ended.end,
        option: ended.option.clone(),
        text: ended.text.clone(),
        by: by.clone(),
        in_advance: ended.in_advance,
    });
    if decision.is_of_landing() {
        let goes_on = ended.option.as_deref().and_then(AtLanding::parse) == Some(AtLanding::Land);
        return with_landing(run, |landing| landing.decision = Some((ended.decision, goes_on)));
    }
    if decision.is_of_kernel() {
        return;
    }
    if let (DecisionEnd::Answered, Some(option)) = (ended.end, &ended.option) {
        let (ask, unit) = (decision.asked.ask.clone(), decision.asked.unit.clone());
        let answered =
            Answered { option: option.clone(), by_person: by.kind == ByKind::Person, on: decision.on.clone(), seq };
        Arc::make_mut(&mut run.ledger).answers.insert(keyed(&ask, unit.as_ref()), answered);
    }
}

fn judgements_of(run: &mut Run, attempt: AttemptId) -> impl Iterator<Item = &mut Judged> {
    let judgements = Arc::make_mut(&mut run.ledger).judgements.values_mut();
    judgements.filter(move |judged| judged.attempt == Some(attempt))
}
