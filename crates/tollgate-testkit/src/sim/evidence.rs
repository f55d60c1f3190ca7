//! Acceptance and success derived a second time, from the ledger and the journal: nothing here asks the functions that decide.
//!
//! What is derived is less than what the kernel asks for, so that a difference is always a mistake of the kernel.

use std::collections::{BTreeMap, BTreeSet};

use tollgate_core::Name;
use tollgate_core::id::{AttemptId, FindingId, RoleId, UnitId};
use tollgate_core::protocol::Condition;
use tollgate_core::protocol::condition::{Quantifier, SetKind};
use tollgate_core::protocol::model::{Gate, Resource, Target};
use tollgate_core::report::{Disposition, Judgement, Verdict};
use tollgate_core::run::empty_change::EMPTY;
use tollgate_core::run::event::{
    ByKind, Changed, DecisionEnd, Event, FindingChanged, FindingStatus, Recorded, UnitState, Work,
};
use tollgate_core::run::gate;
use tollgate_core::run::state::{Criterion, LAND, On, Run, Shown, keyed};

/// What the journal says of judges, waivers and raises.
#[derive(Debug, Default)]
pub struct Evidence {
    /// The last verdict of each role on each unit or on the run, and its event.
    verdicts: BTreeMap<(RoleId, Option<UnitId>), (u64, Verdict)>,
    /// The last event with which a person waived something.
    waived: u64,
    /// Whether some flow was left by a raise: what was planned below it is owed no more.
    raised: bool,
    /// The subjects for which somebody who may write was dispatched.
    written_for: BTreeSet<Option<UnitId>>,
    /// The units for which a file was changed.
    changed: BTreeSet<UnitId>,
    /// The subjects of which a person accepted that nothing was changed.
    empty: BTreeSet<Option<UnitId>>,
    /// The role that reported last.
    last: Option<RoleId>,
}

impl Evidence {
    /// Takes in an event, with the state before it.
    pub fn event(&mut self, run: &Run, recorded: &Recorded) {
        if let Event::AttemptReported(reported) = &recorded.event {
            let work = run.attempts.get(&reported.attempt).map(|attempt| &attempt.work);
            let Some(Work::Dispatch { role, .. }) = work else { return };
            self.last = Some(role.clone());
        }
        match &recorded.event {
            Event::AttemptReported(reported) if reported.verdict != Verdict::None => {
                let Some(attempt) = run.attempts.get(&reported.attempt) else { return };
                let Work::Dispatch { role, .. } = &attempt.work else { return };
                let unit = run.instances.get(&attempt.instance).and_then(|instance| instance.unit.clone());
                self.verdicts.insert((role.clone(), unit), (recorded.seq, reported.verdict));
            }
            Event::WaiverGranted(granted) => {
                self.waived = recorded.seq;
                let unit = run.decisions.get(&granted.decision).and_then(|decision| decision.asked.unit.clone());
                for role in &granted.judgements {
                    self.verdicts.insert((role.clone(), unit.clone()), (recorded.seq, Verdict::Accept));
                }
            }
            Event::FlowMoved(moved) => self.raised |= matches!(moved.to, Target::Raise(_)),
            _ => {}
        }
        self.changes(run, &recorded.event);
    }

    /// Takes in who could write for what, and what of it was changed.
    fn changes(&mut self, run: &Run, event: &Event) {
        let unit_of = |instance: &str| run.instances.get(instance).and_then(|instance| instance.unit.clone());
        let mut wrote = |attempt: &AttemptId, changed: &[Changed]| {
            let unit = run.attempts.get(attempt).and_then(|attempt| unit_of(&attempt.instance));
            self.changed.extend(unit.filter(|_| !changed.is_empty()));
        };
        match event {
            Event::AttemptStarted(started) => {
                let Work::Dispatch { role, .. } = &started.work else { return };
                if run.protocol.roles.get(role).is_some_and(|role| !role.writes.is_empty()) {
                    self.written_for.insert(unit_of(&started.instance));
                }
            }
            Event::AttemptReported(reported) if reported.content.is_some() => {
                wrote(&reported.attempt, &reported.changed)
            }
            Event::AttemptParked(parked) if parked.content.is_some() => wrote(&parked.attempt, &parked.changed),
            Event::TreeChanged(changed) => self.changed.extend(changed.unit.clone()),
            Event::DecisionEnded(ended) => {
                let Some(decision) = run.decisions.get(&ended.decision) else { return };
                if &*decision.asked.ask == EMPTY && ended.option.as_deref() == Some("accept") && !ended.in_advance {
                    self.empty.insert(decision.asked.unit.clone());
                }
            }
            _ => {}
        }
    }

    /// Why findings may not be closed so: what was measured is closed by a measurement, or by a person, who waives it.
    pub fn against_closing(&self, run: &Run, changed: &FindingChanged) -> Option<String> {
        let known = |id: &FindingId| Some((*id, run.ledger.findings.get(id)?));
        let mut measured = changed.findings.iter().filter_map(known).filter(|(_, known)| known.about.role.is_none());
        let passes = |row: &Name| run.criterion(row)?.ran.as_ref().map(|shown| shown.result == Judgement::Pass);
        let (id, _) = measured.find(|(_, known)| match (&known.about.of, &known.about.criterion) {
            (Some(of), _) => self.last.as_ref() != Some(of),
            (None, Some(row)) => passes(row) != Some(true),
            (None, None) => true,
        })?;
        Some(format!("{id} was measured, and is {} by somebody's word", changed.status.word()))
    }

    /// Why a unit may not become accepted.
    pub fn against_unit(&self, run: &Run, unit: &UnitId) -> Option<String> {
        let key = Some(unit.clone());
        if self.written_for.contains(&key) && !self.changed.contains(unit) && !self.empty.contains(&key) {
            return Some("its change is empty, and no person said that this is right".to_owned());
        }
        let gates = run.protocol.gates.values();
        let mut mandatory = gates.filter(|gate| must_hold(run, gate.mandatory_unit.as_ref(), Some(unit)));
        mandatory.find_map(|gate| self.against(run, gate, &gate.holds, Some(unit))).or_else(|| changed_since(run, unit))
    }

    /// Why a run may not succeed.
    pub fn against_success(&self, run: &Run) -> Option<String> {
        let mut decisions = run.pending().filter(|(_, decision)| &*decision.asked.instance != LAND);
        if let Some((id, _)) = decisions.next() {
            return Some(format!("{id} is open"));
        }
        if run.tree == run.opened.content.tree && !self.written_for.is_empty() && self.empty.is_empty() {
            return Some("its change is empty, and no person said that this is right".to_owned());
        }
        for unit in &run.ledger.units {
            let owed = match unit.state {
                UnitState::Accepted | UnitState::Produced => unit.is_apart(),
                // One that the run never began with is owed by gates alone.
                UnitState::New => {
                    !self.raised && run.instances.values().any(|instance| instance.unit.as_ref() == Some(&unit.name))
                }
                UnitState::Lapsed => true,
                UnitState::Dropped => unit.in_tree,
            };
            if owed {
                return Some(format!("`{}` is {}", unit.name, unit.state.word()));
            }
        }
        if let Some((id, _)) = run.ledger.findings.iter().find(|(_, finding)| !finding.status.is_closed()) {
            return Some(format!("{id} is open"));
        }
        let shown = |row: &&Criterion| row.unit.is_none() && !is_shown(run, row, &[], None);
        if let Some(row) = run.ledger.criteria.iter().find(shown) {
            return Some(format!("nothing shows {}", row.id));
        }
        for row in &run.ledger.requirements {
            let material = matches!(row.disposition, None | Some(Disposition::InScope | Disposition::Other(_)))
                && row.waived.is_none();
            let shows = run.ledger.criteria.iter().any(|criterion| criterion.requirement.as_ref() == Some(&row.id));
            let serves = run.ledger.units.iter().any(|unit| unit.requirements.contains(&row.id));
            if material && !shows && !serves {
                return Some(format!("no unit serves {}", row.id));
            }
        }
        let gates = run.protocol.gates.values();
        let mut mandatory = gates.filter(|gate| must_hold(run, gate.mandatory_run.as_ref(), None));
        mandatory.find_map(|gate| self.against(run, gate, &gate.holds, None))
    }

    /// What is missing for a part of a gate to hold on the content that is there now; none: nothing that can be seen from here.
    fn against(&self, run: &Run, gate: &Gate, part: &Condition, unit: Option<&UnitId>) -> Option<String> {
        match part {
            Condition::All(parts) => parts.iter().find_map(|part| self.against(run, gate, part, unit)),
            Condition::Any(parts) => {
                let each = parts.iter().map(|part| self.against(run, gate, part, unit));
                each.collect::<Option<Vec<_>>>().map(|missing| missing.join(", and "))
            }
            Condition::Holds(name) => {
                let inner = run.protocol.gates.get(name)?;
                self.against(run, inner, &inner.holds, unit)
            }
            Condition::Judged(role) => self.against_judged(run, gate, role, unit),
            Condition::Answer { ask, options, by_anyone } => {
                let here = |of: Option<&UnitId>| of.is_none() || of == unit;
                let answers =
                    run.decisions.values().filter(|known| known.asked.ask == *ask && here(known.asked.unit.as_ref()));
                let mut ends = answers.filter_map(|known| known.end.as_ref());
                let last = ends.rfind(|end| end.end == DecisionEnd::Answered);
                let right = last.is_some_and(|end| {
                    let by = *by_anyone || end.by.kind == ByKind::Person;
                    by && end.option.as_ref().is_some_and(|option| options.contains(option))
                });
                (!right).then(|| format!("`{ask}` was not answered so"))
            }
            Condition::Command { name, .. } => {
                let key = keyed(name, unit);
                let waived =
                    run.ledger.waived_commands.get(&key).is_some_and(|on| is_same(run, on, &gate.bound_to, unit));
                let passed =
                    run.ledger.commands.get(&key).is_some_and(|shown| passes(run, shown, &gate.bound_to, unit));
                (!waived && !passed).then(|| format!("`{name}` did not pass on this content"))
            }
            Condition::Set { quantifier, set, filter, is, .. } if !is.is_empty() => {
                against_set(run, gate, (*quantifier, *set), filter, is, unit)
            }
            Condition::Set { .. }
            | Condition::Not(_)
            | Condition::Var { .. }
            | Condition::It { .. }
            | Condition::Artifact { .. }
            | Condition::Count { .. } => None,
        }
    }

    fn against_judged(&self, run: &Run, gate: &Gate, role: &RoleId, unit: Option<&UnitId>) -> Option<String> {
        let of = |unit: Option<&UnitId>| self.verdicts.get(&(role.clone(), unit.cloned()));
        let Some((seq, verdict)) = of(unit).into_iter().chain(of(None)).max() else {
            return Some(format!("{role} did not judge"));
        };
        if !verdict.accepts() && self.waived < *seq {
            return Some(format!("{role} says {}", verdict.word()));
        }
        let judgements = [keyed(role, unit), keyed(role, None)].map(|key| run.ledger.judgements.get(&key));
        let same = judgements.into_iter().flatten().any(|judged| is_same(run, &judged.on, &gate.bound_to, unit));
        (!same).then(|| format!("{role} judged other content"))
    }
}

/// Why a unit may not stay accepted: something was found against it, or nothing shows one of its rows on this content.
pub fn changed_since(run: &Run, unit: &UnitId) -> Option<String> {
    let open = |id| {
        run.ledger.findings.get(id).is_some_and(|finding| {
            finding.about.units.contains(unit) && finding.status_for(Some(unit)) == FindingStatus::Open
        })
    };
    if let Some(id) = run.ledger.findings.keys().find(|id| open(id)) {
        return Some(format!("{id} is open"));
    }
    let gates = run.protocol.gates.values().filter(|gate| must_hold(run, gate.mandatory_unit.as_ref(), Some(unit)));
    let bound: Vec<Resource> =
        gates.flat_map(|gate| &gate.bound_to).filter(|resource| **resource != Resource::Tree).cloned().collect();
    let mut rows = run.ledger.criteria.iter().filter(|row| row.unit.as_ref() == Some(unit));
    let row = rows.find(|row| !is_shown(run, row, &bound, Some(unit)))?;
    Some(format!("nothing shows {} on this content", row.id))
}

fn must_hold(run: &Run, when: Option<&Condition>, unit: Option<&UnitId>) -> bool {
    when.is_some_and(|when| gate::truth(run, when, unit))
}

fn against_set(
    run: &Run,
    gate: &Gate,
    (quantifier, set): (Quantifier, SetKind),
    filter: &[(Name, Vec<Name>)],
    is: &[Name],
    unit: Option<&UnitId>,
) -> Option<String> {
    let named = |word: &str| is.iter().any(|known| &**known == word);
    let fits = |word: &str| match quantifier {
        Quantifier::Every => named(word),
        Quantifier::None => !named(word),
        Quantifier::Some => true,
    };
    match set {
        SetKind::Criterion | SetKind::Command if quantifier == Quantifier::Every && !named("open") => {
            let group = |row: &Criterion| {
                filter.iter().all(|(_, values)| row.group.as_ref().is_some_and(|group| values.contains(group)))
            };
            let own = |row: &&Criterion| group(row) && unit.is_none_or(|unit| row.unit.as_ref() == Some(unit));
            let shown = |row: &Criterion| match (set, &row.ran) {
                (SetKind::Command, _) if row.command.is_none() || row.waived.is_some() => true,
                (SetKind::Command, ran) => {
                    // The rows of a unit that was given up are shown on the content of whoever asks.
                    let stands = |name: &&UnitId| run.unit(name).is_some_and(|own| own.state != UnitState::Dropped);
                    let of = row.unit.as_ref().filter(stands).or(unit);
                    ran.as_ref().is_some_and(|ran| passes(run, ran, &gate.bound_to, of))
                }
                _ => is_shown(run, row, &gate.bound_to, unit),
            };
            let row = run.ledger.criteria.iter().filter(own).find(|row| !shown(row))?;
            Some(format!("nothing shows {} on this content", row.id))
        }
        SetKind::Finding if filter.is_empty() => {
            let mut findings = run
                .ledger
                .findings
                .iter()
                .filter(|(_, finding)| unit.is_none_or(|unit| finding.about.units.contains(unit)));
            let (id, finding) = findings.find(|(_, finding)| !fits(finding.status_for(unit).word()))?;
            Some(format!("{id} is {}", finding.status_for(unit).word()))
        }
        SetKind::Unit if !named("held") => {
            let mut units = run.ledger.units.iter().filter(|known| unit.is_none_or(|unit| known.name == *unit));
            let open = units.find(|unit| !fits(unit.state.word()))?;
            Some(format!("`{}` is {}", open.name, open.state.word()))
        }
        _ => None,
    }
}

/// Whether a judge and, where the row has one, its command say that a row holds on this content, or a person waived it there.
fn is_shown(run: &Run, row: &Criterion, bound: &[Resource], unit: Option<&UnitId>) -> bool {
    let waived = row.waived.as_ref().is_some_and(|waived| {
        is_same(run, &waived.on, bound, unit) || is_same(run, &waived.on, bound, row.unit.as_ref())
    });
    let passed = |shown: Option<&Shown>| shown.is_some_and(|shown| passes(run, shown, bound, unit));
    waived || passed(row.judged.as_ref()) && (row.command.is_none() || passed(row.ran.as_ref()))
}

fn passes(run: &Run, shown: &Shown, bound: &[Resource], unit: Option<&UnitId>) -> bool {
    shown.result == Judgement::Pass && is_same(run, &shown.on, bound, unit)
}

/// Whether the files that a gate is bound to are in the subject's tree as they were, for a unit those in its scope. Documents
/// are not compared.
fn is_same(run: &Run, on: &On, bound: &[Resource], unit: Option<&UnitId>) -> bool {
    let now = run.tree_of(unit);
    let digest = |tree: &Name, area: &Name| {
        let content = run.contents.get(tree)?;
        unit.and_then(|unit| content.scoped.get(unit)).unwrap_or(&content.areas).get(area)
    };
    let mut areas = run.areas.iter().map(|area| &area.name).filter(|area| bound.iter().any(|name| **name == ***area));
    let same = |area: &Name| digest(&on.tree, area).is_some_and(|then| digest(now, area) == Some(then));
    on.tree == *now || !bound.contains(&Resource::Tree) && areas.all(same)
}
