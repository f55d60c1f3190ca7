//! What events make of the ledger.

use super::super::NetChange;
use super::super::event::{
    FindingChanged, FindingOpened, FindingStatus, LedgerPlanned, RequirementsDisposed, ScopeWidened, TreeOf, UnitState,
    WaiverGranted,
};
use super::super::finding::FindingState;
use super::super::gate;
use super::super::state::{Criterion, Judged, Ledger, On, Requirement, Run, Shown, Unit, Waived, keyed};
use crate::Name;
use crate::id::{AttemptId, UnitId};
use crate::protocol::model::Resource;
use crate::report::{Judgement, Plan, Verdict};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A ledger part changed: what is bound to it goes stale.
pub(super) fn bump(ledger: &mut Ledger, resource: Resource) {
    *ledger.revisions.entry(resource).or_default() += 1;
}

/// An answer is given to what it changes itself: only what others change makes it stale.
pub(super) fn amended(run: &mut Run, decision: crate::id::DecisionId, resource: Resource) {
    let Some(known) = run.decisions.get(&decision) else { return };
    let Some(now) = gate::document(run, &known.on.tree, &resource) else { return };
    let Some(known) = run.decisions.get_mut(&decision).map(Arc::make_mut) else { return };
    if let Some(then) = known.on.documents.get_mut(&resource) {
        *then = now;
        let key = keyed(&known.asked.ask, known.asked.unit.as_ref());
        if let Some(answered) = Arc::make_mut(&mut run.ledger).answers.get_mut(&key) {
            answered.on = known.on.clone();
        }
    }
}

/// A plan replaces rows of the same name and keeps what is not in it: nothing vanishes from the ledger.
pub(super) fn plan(ledger: &mut Ledger, planned: &LedgerPlanned, by_person: bool) {
    let Plan { units, requirements, criteria, retires } = &planned.plan;
    if by_person {
        let names = units.iter().map(|row| &*row.name).chain(requirements.iter().map(|row| &*row.id));
        ledger.persons.extend(names.chain(criteria.iter().map(|row| &*row.id)).map(Name::from));
    }
    // What a person gave, nobody else replaces.
    let persons = ledger.persons.clone();
    let may = |name: &str| by_person || !persons.contains(name);
    for row in units.iter().filter(|row| may(&row.name)) {
        let unit = Unit {
            name: row.name.clone(),
            title: row.title.clone(),
            needs: row.needs.clone(),
            scope: row.scope.clone(),
            attrs: row.attrs.clone(),
            requirements: row.requirements.clone(),
            state: UnitState::New,
            accepted_on: None,
            tree: None,
            in_tree: false,
            net_change: NetChange::default(),
            retired: None,
        };
        match ledger.units.iter_mut().find(|old| old.name == row.name) {
            Some(old) => {
                let Unit { state, accepted_on, tree, in_tree, net_change, retired, .. } = old.clone();
                *old = Unit { state, accepted_on, tree, in_tree, net_change, retired, ..unit };
            }
            None => ledger.units.push(unit),
        }
    }
    for row in requirements.iter().filter(|row| may(&row.id)) {
        let requirement = Requirement {
            id: row.id.clone(),
            text: row.text.clone(),
            disposition: row.disposition.clone(),
            proposed: row.proposed.clone(),
            disposed_by: None,
            waived: None,
        };
        match ledger.requirements.iter_mut().find(|old| old.id == row.id) {
            // What a person decided of it is not undone by naming it again.
            Some(old) if old.disposed_by.is_some() => old.proposed = requirement.proposed,
            Some(old) => *old = requirement,
            None => ledger.requirements.push(requirement),
        }
    }
    for row in criteria.iter().filter(|row| may(&row.id)) {
        let criterion = Criterion {
            id: row.id.clone(),
            text: row.text.clone(),
            group: row.group.clone(),
            unit: row.unit.clone(),
            requirement: row.requirement.clone(),
            command: row.command.clone(),
            repeat: row.repeat,
            judged: None,
            ran: None,
            waived: None,
        };
        match ledger.criteria.iter_mut().find(|old| old.id == row.id) {
            Some(old) => *old = criterion,
            None => ledger.criteria.push(criterion),
        }
    }
    for row in retires {
        if let Some(unit) = ledger.units.iter_mut().find(|unit| *unit.name == *row.id) {
            unit.retired = Some(row.why.clone());
        }
    }
    let parts = [
        (Resource::Units, units.is_empty() && retires.is_empty()),
        (Resource::Requirements, requirements.is_empty()),
        (Resource::Criteria, criteria.is_empty()),
    ];
    for (resource, _) in parts.into_iter().filter(|(_, empty)| !empty) {
        bump(ledger, resource);
    }
}

/// What was waived before an acceptance ended says nothing for it: it was given with that waiver already.
pub(super) fn end_judgement(ledger: &mut Ledger, attempt: AttemptId) {
    let Ledger { judgements, criteria, findings, .. } = ledger;
    for judged in judgements.values_mut().filter(|judged| judged.attempt == Some(attempt)) {
        judged.verdict = Verdict::Reject;
        judged.failed.retain(|id| criteria.iter().all(|row| row.id != *id || row.waived.is_none()));
        judged.findings.retain(|id| findings.get(id).is_none_or(|known| known.status != FindingStatus::Waived));
    }
}

pub(super) fn change_findings(ledger: &mut Ledger, changed: &FindingChanged) {
    let gone = given_up(ledger);
    for id in &changed.findings {
        let Some(finding) = ledger.findings.get_mut(id) else { continue };
        match (changed.status, &changed.unit) {
            (FindingStatus::Addressed, Some(unit)) => finding.address(unit, |name| gone.contains(name)),
            (FindingStatus::Open, Some(unit)) => finding.leave(unit, |name| gone.contains(name)),
            (status, _) => finding.set(status, changed.tree.as_ref()),
        }
    }
    bump(ledger, Resource::Findings);
}

/// The units that nothing is asked of any more.
fn given_up(ledger: &Ledger) -> BTreeSet<UnitId> {
    let dropped = ledger.units.iter().filter(|unit| unit.state == UnitState::Dropped);
    dropped.map(|unit| unit.name.clone()).collect()
}

/// A unit begins in a tree of its own.
pub(super) fn part(run: &mut Run, unit: &UnitId) {
    Arc::make_mut(&mut run.ledger).findings.values_mut().for_each(|finding| finding.part(unit));
}

/// A unit's own tree has the run's in it now.
pub(super) fn meet(run: &mut Run, unit: &UnitId) {
    Arc::make_mut(&mut run.ledger).findings.values_mut().for_each(|finding| finding.meet(unit));
}

/// A unit's own tree is the run's now.
pub(super) fn join(run: &mut Run, unit: &UnitId) {
    let ledger = Arc::make_mut(&mut run.ledger);
    let gone = given_up(ledger);
    let all = ledger.findings.values_mut();
    if all.filter_map(|finding| finding.join(unit, |name| gone.contains(name)).then_some(())).count() > 0 {
        bump(ledger, Resource::Findings);
    }
}

/// A person sends a flow on: what failed or could not be observed for its subject is run again. What it needed may have been
/// mended outside of the tree.
pub(super) fn look_again(run: &mut Run, instance: &str) {
    let Some(unit) = run.instances.get(instance).map(|known| known.unit.clone()) else { return };
    let again = |shown: &Shown| shown.result != Judgement::Pass;
    let ledger = Arc::make_mut(&mut run.ledger);
    for row in ledger.criteria.iter_mut().filter(|row| unit.is_none() || row.unit == unit) {
        row.ran.take_if(|shown| again(shown));
    }
    ledger.commands.retain(|key, shown| key.unit != unit || !again(shown));
}

pub(super) fn waive(run: &mut Run, waiver: &WaiverGranted) {
    let Some(decision) = run.decisions.get(&waiver.decision) else { return };
    let (unit, on) = (decision.asked.unit.clone(), decision.on.clone());
    waive_for(run, waiver, unit, on);
}

/// Waives for a subject, on the content that a person was asked about.
pub(in crate::run) fn waive_for(run: &mut Run, waiver: &WaiverGranted, unit: Option<UnitId>, on: On) {
    let seq = run.seq;
    let ledger = Arc::make_mut(&mut run.ledger);
    for role in &waiver.judgements {
        let judged = Judged {
            verdict: Verdict::Accept,
            on: on.clone(),
            attempt: None,
            seq,
            failed: Vec::new(),
            findings: BTreeSet::new(),
            waived: Some(waiver.decision),
        };
        ledger.judgements.insert(keyed(role, unit.as_ref()), judged);
    }
    for name in &waiver.commands {
        ledger.waived_commands.insert(keyed(name, unit.as_ref()), on.clone());
    }
    for row in ledger.criteria.iter_mut().filter(|row| waiver.criteria.contains(&row.id)) {
        let passes = |ran: &Shown| ran.result == Judgement::Pass && ran.on.tree == on.tree;
        let with_command = !row.ran.as_ref().is_some_and(passes);
        row.waived = Some(Waived { decision: waiver.decision, on: on.clone(), with_command });
    }
    for row in ledger.requirements.iter_mut().filter(|row| waiver.requirements.contains(&row.id)) {
        row.waived = Some(waiver.decision);
    }
    for id in &waiver.findings {
        if let Some(finding) = ledger.findings.get_mut(id) {
            let own = unit.clone().filter(|unit| !waiver.gives_up && finding.apart.contains_key(unit));
            finding.set(FindingStatus::Waived, own.map(TreeOf::Unit).as_ref());
        }
    }
}

pub(super) fn open_finding(run: &mut Run, opened: &FindingOpened) {
    run.next_finding = run.next_finding.max(opened.finding.0 + 1);
    let ledger = Arc::make_mut(&mut run.ledger);
    let apart = |name: &UnitId| ledger.units.iter().any(|unit| unit.name == *name && unit.is_apart());
    let state = FindingState::open(opened.about.clone(), opened.tree.as_ref(), apart);
    ledger.findings.insert(opened.finding, state);
    bump(ledger, Resource::Findings);
    if let Some(role) = &opened.about.role {
        let of_attempt = |judged: &Judged| judged.attempt == Some(opened.about.attempt);
        let judgements = ledger.judgements.iter_mut().filter(|(key, judged)| *key.name == **role && of_attempt(judged));
        judgements.for_each(|(_, judged)| judged.findings.extend([opened.finding]));
    }
}

pub(super) fn dispose(run: &mut Run, disposed: &RequirementsDisposed) {
    let ledger = Arc::make_mut(&mut run.ledger);
    for row in &mut ledger.requirements {
        if let Some(disposition) = disposed.dispositions.get(&row.id) {
            row.disposition = Some(disposition.clone());
            row.disposed_by = Some(disposed.decision);
        }
    }
    bump(ledger, Resource::Requirements);
    amended(run, disposed.decision, Resource::Requirements);
    if let Some(decision) = run.decisions.get_mut(&disposed.decision).map(Arc::make_mut) {
        decision.dispositions.extend(disposed.dispositions.clone());
    }
}

pub(super) fn widen(run: &mut Run, widened: &ScopeWidened) {
    let ledger = Arc::make_mut(&mut run.ledger);
    match &widened.unit {
        Some(name) => {
            // A unit without a scope may write everywhere already.
            let scoped = |unit: &&mut Unit| unit.name == *name && !unit.scope.is_empty();
            for unit in ledger.units.iter_mut().filter(scoped) {
                unit.scope.extend(widened.paths.iter().cloned());
            }
        }
        None => ledger.widened.extend(widened.paths.iter().cloned()),
    }
    bump(ledger, Resource::Scope);
    amended(run, widened.decision, Resource::Scope);
}
