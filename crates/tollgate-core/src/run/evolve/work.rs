//! What the ends of attempts make of a run: reports, commands, landings, and the trees they leave.

use super::super::event::{
    AttemptReported, AttemptStarted, ChangeKind, Changed, CommandRef, CommandResult, CommandsRan, LandOutcome,
    LandingEnded, Work,
};
use super::super::gate;
use super::super::notice;
use super::super::state::{At, Attempt, Collision, Instance, Judged, LastReport, On, Run, Shown, Unit, keyed};
use super::{ledger, unit_mut, with};
use crate::Name;
use crate::id::{InstanceId, RoleId, UnitId};
use crate::report::{Health, Judgement, Verdict};
use crate::scope::Content;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) fn start(run: &mut Run, at_ms: u64, started: &AttemptStarted) {
    run.next_attempt = run.next_attempt.max(started.attempt.0 + 1);
    let attempt = Attempt {
        token: run.seq,
        instance: started.instance.clone(),
        stage: started.stage.clone(),
        work: started.work.clone(),
        tree: started.tree.clone(),
        on: gate::on_tree(run, started.tree.clone()),
        started_ms: at_ms,
        epoch: run.epoch,
        repeats: started.repeats,
        writes: match started.work {
            Work::Commands { .. } => run.command_writes().into_iter().cloned().collect(),
            Work::Dispatch { .. } | Work::Land { .. } => BTreeSet::new(),
        },
        own_setup: matches!(started.work, Work::Commands { .. }) && run.allows_own_setup(),
    };
    run.attempts.insert(started.attempt, Arc::new(attempt));
    with(run, &started.instance, |instance| {
        instance.at = At::Leased { stage: started.stage.clone(), attempt: started.attempt };
        instance.lost = None;
        instance.pending.clone_from(&started.pending);
        if let Work::Dispatch { iteration, .. } = &started.work {
            instance.judging = None;
            instance.iterations.insert(started.stage.clone(), *iteration);
        }
    });
}

/// How many contents a run remembers before it forgets those nothing rests on.
const CONTENTS_KEPT: usize = 32;

/// A lease ended without a result: the stage is ready again.
pub(super) fn release(run: &mut Run, attempt: crate::id::AttemptId) {
    if let Some(attempt) = run.attempts.remove(&attempt) {
        let stage = attempt.stage.clone();
        with(run, &attempt.instance, |instance| instance.at = At::Ready { stage });
    }
}

/// The same of one that nobody worked under: what comes in its place repeats it, and is no further iteration.
pub(super) fn repeat(run: &mut Run, attempt: crate::id::AttemptId) {
    let instance = run.attempts.get(&attempt).map(|attempt| attempt.instance.clone());
    release(run, attempt);
    with(run, instance.as_deref().unwrap_or_default(), |instance| instance.lost = Some(attempt));
}

/// Takes in what a role changed for its subject, where the tree that it left is kept.
pub(super) fn write(run: &mut Run, by: (&InstanceId, &RoleId), changed: &[Changed], unnamed: &[Name], done: bool) {
    let (name, role) = by;
    with(run, name, |instance| instance.wrote.entry(role.clone()).or_default().note(changed, unnamed, done));
    let gone = changed.iter().filter(|change| change.kind == ChangeKind::Deleted).map(|change| &change.path);
    lose(run, Some(by), gone);
    let unit = run.instances.get(name).and_then(|instance| instance.unit.clone());
    if let Some(unit) = unit.and_then(|unit| unit_mut(run, &unit)) {
        unit.net_change.add(changed);
    }
}

/// Files were deleted: whoever else wrote one has no word on it any more.
pub(super) fn lose<'a>(
    run: &mut Run,
    by: Option<(&InstanceId, &RoleId)>,
    deleted: impl Iterator<Item = &'a Name> + Clone,
) {
    if deleted.clone().next().is_none() {
        return;
    }
    let wrote = |instance: &Instance| instance.wrote.values().any(|wrote| !wrote.all.is_empty());
    let names: Vec<InstanceId> =
        run.instances.iter().filter(|(_, it)| wrote(it)).map(|(name, _)| name.clone()).collect();
    for name in names {
        with(run, &name, |instance| {
            for (role, wrote) in &mut instance.wrote {
                if by != Some((&name, role)) {
                    wrote.lose(deleted.clone());
                }
            }
        });
    }
    let own = by.and_then(|(name, _)| run.instances.get(name)).and_then(|instance| instance.unit.clone());
    // What is deleted in a tree that is a unit's own is still there for the others.
    let is_apart = |unit: &Unit| Some(&unit.name) == own.as_ref() && unit.tree.as_ref().is_some_and(|own| !own.landed);
    let units = &mut Arc::make_mut(&mut run.ledger).units;
    if !units.iter().any(is_apart) {
        let others = units.iter_mut().filter(|unit| Some(&unit.name) != own.as_ref());
        others.for_each(|unit| unit.net_change.lose(deleted.clone()));
    }
}

/// A person gave a tree back: who worked there before need not name any more what is in it.
pub(super) fn answered_for(run: &mut Run, unit: Option<&UnitId>) {
    let owes = |it: &Instance| it.wrote.values().any(|wrote| !wrote.unnamed.is_empty());
    let there = |it: &Instance| unit.is_none() || it.unit.as_ref() == unit;
    let names = run.instances.iter().filter(|(_, it)| there(it) && owes(it)).map(|(name, _)| name.clone());
    for name in names.collect::<Vec<_>>() {
        with(run, &name, |instance| instance.wrote.values_mut().for_each(|wrote| wrote.unnamed.clear()));
    }
}

pub(super) fn report(run: &mut Run, reported: &AttemptReported) {
    let Some(attempt) = run.attempts.get(&reported.attempt).cloned() else { return };
    release(run, reported.attempt);
    let Work::Dispatch { role, .. } = &attempt.work else { return };
    let unit = run.instances.get(&attempt.instance).and_then(|instance| instance.unit.clone());
    let on = attempt.on.clone();
    if let Some(content) = &reported.content {
        move_tree(run, unit.as_ref(), content);
    }
    with(run, &attempt.instance, |instance| {
        instance.remarks = reported.diagnostics.clone();
        instance.remarks_of = Some(role.clone());
        instance.session = reported.told.as_deref().cloned().filter(|_| reported.health == Health::Malformed);
    });
    if reported.content.is_some() {
        let done = reported.health == Health::Ok;
        write(run, (&attempt.instance, role), &reported.changed, &reported.unnamed, done);
    }
    if reported.health != Health::Malformed {
        let last = LastReport {
            role: role.clone(),
            attempt: reported.attempt,
            object: reported.report,
            sections: reported.sections.clone(),
            contradictions: reported.contradictions.clone(),
            tree: run.tree_of(unit.as_ref()).clone(),
        };
        let reports = run.reports.entry(attempt.instance.clone()).or_default();
        reports.retain(|old| old.role != *role);
        reports.push(Arc::new(last));
    }
    notice::note(&mut Arc::make_mut(&mut run.ledger).notices, &reported.notices, role, unit.as_ref());
    // What a judge says counts only when its run went well, and only of the content it was shown.
    let judges = run.protocol.roles.get(role).is_some_and(crate::protocol::model::Role::judges);
    if reported.health != Health::Ok || !judges {
        return;
    }
    let judging = Some(reported.verdict).filter(|verdict| verdict.accepts());
    with(run, &attempt.instance, |instance| instance.judging = judging);
    // A judge that writes judges what it leaves behind: its own areas are not what it was asked about.
    let on = match &reported.content {
        Some(content) => On { tree: content.tree.clone(), ..on },
        None => on,
    };
    let seq = run.seq;
    let ledger = Arc::make_mut(&mut run.ledger);
    for said in &reported.criteria {
        if let Some(row) = ledger.criteria.iter_mut().find(|row| row.id == said.id) {
            row.judged = Some(Shown {
                result: said.result,
                on: on.clone(),
                attempt: reported.attempt,
                object: Some(reported.report),
                // Whoever is asked to waive it must see why.
                note: if said.result == Judgement::Unobservable { said.evidence.clone() } else { String::new() },
                flaky: None,
                changes: Vec::new(),
                setup: Vec::new(),
            });
        }
    }
    if reported.verdict != Verdict::None {
        let failed = reported.criteria.iter().filter(|said| said.result == Judgement::Fail);
        let judged = Judged {
            verdict: reported.verdict,
            on,
            attempt: Some(reported.attempt),
            seq,
            failed: failed.map(|said| said.id.clone()).collect(),
            findings: Default::default(),
            waived: None,
        };
        ledger.judgements.insert(keyed(role, unit.as_ref()), judged);
    }
}

pub(super) fn commands(run: &mut Run, ran: &CommandsRan) {
    let Some(attempt) = run.attempts.get(&ran.attempt).cloned() else { return };
    release(run, ran.attempt);
    let unit = run.instances.get(&attempt.instance).and_then(|instance| instance.unit.clone());
    let on = attempt.on.clone();
    let ledger = Arc::make_mut(&mut run.ledger);
    for result in &ran.results {
        let CommandResult { result: judgement, output: object, note, changes, setup, .. } = result.clone();
        let (flaky, on, attempt) = (result.flaky(), on.clone(), ran.attempt);
        let shown = Shown { result: judgement, on, attempt, object, note, flaky, changes, setup };
        match &result.command {
            CommandRef::Criterion(id) => {
                if let Some(row) = ledger.criteria.iter_mut().find(|row| row.id == *id) {
                    row.ran = Some(shown);
                }
            }
            CommandRef::Named(name) => {
                ledger.commands.insert(keyed(name, unit.as_ref()), shown);
            }
        }
    }
}

pub(super) fn land(run: &mut Run, landing: &LandingEnded) {
    let Some(attempt) = run.attempts.get(&landing.attempt).cloned() else { return };
    release(run, landing.attempt);
    let Work::Land { unit: name, onto, .. } = &attempt.work else { return };
    for content in &landing.measured {
        remember(run, content);
    }
    if let Some(content) = &landing.content {
        remember(run, content);
        move_run(run, Some(name), content);
    }
    if let Some(content) = &landing.collided {
        remember(run, content);
    }
    let stands_on = (landing.outcome == LandOutcome::Conflict).then(|| onto.clone());
    if let Some(own) = unit_mut(run, name).and_then(|unit| unit.tree.as_mut()) {
        own.landed = landing.outcome == LandOutcome::Landed;
        own.collision.take_if(|_| landing.outcome == LandOutcome::Landed);
        own.refused = if own.landed { Vec::new() } else { landing.paths.clone() };
        if let (Some(base), Some(content)) = (stands_on, &landing.collided) {
            own.base = base;
            own.tree = content.tree.clone();
            own.collision = Some(Collision { paths: landing.paths.clone(), how: landing.why.clone() });
        }
    }
    match landing.outcome {
        LandOutcome::Landed => ledger::join(run, name),
        LandOutcome::Conflict if landing.collided.is_some() => ledger::meet(run, name),
        LandOutcome::Conflict | LandOutcome::OutOfScope | LandOutcome::Refused => {}
    }
    let paths = landing.paths.iter().map(ToString::to_string).collect();
    with(run, &attempt.instance, |instance| {
        instance.remarks_of = None;
        instance.remarks = if landing.outcome == LandOutcome::Landed { Vec::new() } else { paths };
    });
}

pub(super) fn remember(run: &mut Run, content: &Content) {
    run.contents.insert(content.tree.clone(), Arc::new(content.clone()));
    if run.contents.len() > CONTENTS_KEPT {
        let used = super::gate::trees_in_use(run);
        run.contents.retain(|tree, _| used.contains(tree) || *tree == content.tree);
    }
}

/// A subject's work moved to other content.
pub(super) fn move_tree(run: &mut Run, unit: Option<&UnitId>, content: &Content) {
    remember(run, content);
    let own = unit.and_then(|name| unit_mut(run, name)).and_then(|unit| unit.tree.as_mut());
    match own.filter(|own| !own.landed) {
        Some(own) => own.tree = content.tree.clone(),
        None => move_run(run, unit, content),
    }
}

/// The run's tree is another one, by the work of a unit or by that of nobody in particular.
fn move_run(run: &mut Run, unit: Option<&UnitId>, content: &Content) {
    let moves = run.tree != content.tree;
    run.tree = content.tree.clone();
    if let Some(unit) = unit.and_then(|name| unit_mut(run, name)) {
        unit.in_tree |= moves;
    }
}
