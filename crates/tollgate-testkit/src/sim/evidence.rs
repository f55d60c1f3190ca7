//! Acceptance and success derived a second time, from the ledger and the journal: nothing here asks the functions that decide.
//!
//! What is derived is less than what the kernel asks for, so that a difference is always a mistake of the kernel.

use std::collections::{BTreeMap, BTreeSet};

use tollgate_core::Name;
use tollgate_core::digest::Digest;
use tollgate_core::id::{AttemptId, DecisionId, FindingId, InstanceId, RoleId, StageId, UnitId};
use tollgate_core::protocol::condition::SetKind;
use tollgate_core::protocol::model::{Kind, Over, Resource, Target};
use tollgate_core::protocol::{Condition, Outcome, graph};
use tollgate_core::report::{Disposition, Health, Judgement, Notice, Verdict};
use tollgate_core::run::empty_change::EMPTY;
use tollgate_core::run::event::{
    ByKind, Changed, DecisionEnded, Event, FindingChanged, FindingStatus, FlowEntered, Recorded, RunOutcome, UnitState,
    Work,
};
use tollgate_core::run::state::{Criterion, Instance, LAND, MAIN, On, Run, Shown, Unit};

use super::watch::Violation;

/// What a unit did at a path.
#[derive(Debug, Clone)]
struct Rewritten {
    /// What was there at first; none: nothing was.
    was: Option<Name>,
    /// What it left there.
    now: Option<Name>,
    /// Whether it changed what somebody else had left there.
    by_others: bool,
}

impl Rewritten {
    fn of(change: &Changed) -> Self {
        Self { was: change.was.clone(), now: change.was.clone(), by_others: false }
    }

    fn add(&mut self, change: &Changed) {
        self.by_others |= self.now != change.was;
        self.now.clone_from(&change.now);
    }

    fn is_back(&self) -> bool {
        self.was == self.now && !self.by_others
    }
}

/// What the journal says of judges, answers, documents, waivers and raises.
#[derive(Debug, Default)]
pub struct Evidence {
    /// The last verdict of each role on each unit or on the run, and its event.
    pub(super) verdicts: BTreeMap<(RoleId, Option<UnitId>), (u64, Verdict)>,
    /// The last event with which a person waived something.
    pub(super) waived: u64,
    /// The stages whose flows below were left by a raise and not entered since: what was planned below them is owed no more.
    left: BTreeSet<(InstanceId, StageId)>,
    /// The subjects for which somebody who may write was dispatched.
    written_for: BTreeSet<Option<UnitId>>,
    /// Whether somebody who may write, and judges nothing, was dispatched in the main flow.
    written_in_main: bool,
    /// The units for which a person changed a file.
    changed: BTreeSet<UnitId>,
    /// What was done at each path for a unit.
    rewritten: BTreeMap<UnitId, BTreeMap<Name, Rewritten>>,
    /// The same when the unit's own tree was made, which may be lost.
    kept: BTreeMap<UnitId, BTreeMap<Name, Rewritten>>,
    /// The subjects of which a person accepted that nothing was changed.
    empty: BTreeSet<Option<UnitId>>,
    /// The role that reported last.
    pub(super) last: Option<RoleId>,
    /// Where it was asked for.
    pub(super) last_at: Option<(InstanceId, StageId)>,
    /// How that report fared.
    pub(super) last_health: Option<Health>,
    /// Whether its role had changed anything since it was done before.
    pub(super) last_wrote: bool,
    /// The roles that have changed something in an instance and were not done since.
    unfinished: BTreeSet<(InstanceId, RoleId)>,
    /// Values that stages or answers gave to variables.
    pub(super) vars: BTreeMap<Name, Name>,
    /// The documents that were given, with their fields.
    pub(super) documents: BTreeMap<Name, (Digest, BTreeMap<Name, Name>)>,
    /// The documents that there were when a question was put.
    pub(super) shown: BTreeMap<DecisionId, BTreeMap<Name, Digest>>,
    /// What reports that are done left open, and of which unit.
    pub(super) notices: Vec<(Notice, Option<UnitId>)>,
    /// The requirements that a person disposed of.
    pub(super) disposed: BTreeSet<Name>,
    /// The units that were entered as planned ones, and not as lanes.
    planned: BTreeSet<UnitId>,
    /// Where a report could not be used.
    pub(super) malformed: BTreeSet<(InstanceId, StageId)>,
    /// Who changed a path for a unit, in the tree that the unit has now.
    pub(super) writers: BTreeMap<(UnitId, Name), BTreeSet<RoleId>>,
}

impl Evidence {
    /// Takes in an event, with the state before it.
    pub fn event(&mut self, run: &Run, recorded: &Recorded) {
        match &recorded.event {
            Event::AttemptReported(reported) => {
                let Some((role, instance)) = dispatched(run, &reported.attempt) else { return };
                let unit = instance.1.unit.clone();
                let here = (instance.0.clone(), role.clone());
                self.last = Some(role.clone());
                self.last_health = Some(reported.health);
                self.last_wrote = !reported.changed.is_empty() || self.unfinished.contains(&here);
                match reported.health {
                    Health::Ok => drop(self.unfinished.remove(&here)),
                    _ if !reported.changed.is_empty() => drop(self.unfinished.insert(here)),
                    _ => {}
                }
                let stage = run.attempts.get(&reported.attempt).map(|attempt| attempt.stage.clone());
                self.last_at = stage.map(|stage| (instance.0.clone(), stage));
                if reported.health == Health::Malformed {
                    self.malformed.extend(self.last_at.clone());
                }
                if reported.health == Health::Ok {
                    let notices = reported.notices.iter().cloned();
                    self.notices.extend(notices.map(|notice| (notice, unit.clone())));
                }
                if reported.verdict != Verdict::None {
                    self.verdicts.insert((role.clone(), unit), (recorded.seq, reported.verdict));
                }
            }
            Event::AttemptParked(parked) if !parked.changed.is_empty() => {
                let here = dispatched(run, &parked.attempt).map(|(role, at)| (at.0.clone(), role.clone()));
                self.unfinished.extend(here);
            }
            Event::WaiverGranted(granted) => {
                self.waived = recorded.seq;
                let unit = run.decisions.get(&granted.decision).and_then(|decision| decision.asked.unit.clone());
                for role in &granted.judgements {
                    self.verdicts.insert((role.clone(), unit.clone()), (recorded.seq, Verdict::Accept));
                }
            }
            Event::FlowMoved(moved) => {
                let above =
                    run.instances.get(&moved.instance).and_then(|known| known.parent.clone().zip(known.each.clone()));
                self.left.extend(above.filter(|_| matches!(moved.to, Target::Raise(_))));
                if moved.outcome.raised().is_some() {
                    self.left.insert((moved.instance.clone(), moved.stage.clone()));
                }
            }
            Event::EachEntered(entered) => drop(self.left.remove(&(entered.instance.clone(), entered.stage.clone()))),
            Event::FlowEntered(entered) => self.entered(run, entered),
            Event::VariableGiven(given) => drop(self.vars.insert(given.name.clone(), given.value.clone())),
            Event::ArtifactGiven(given) => {
                self.documents.insert(given.name.clone(), (given.object, given.fields.clone()));
            }
            Event::DecisionAsked(asked) => {
                let shown = self.documents.iter().map(|(name, (object, _))| (name.clone(), *object)).collect();
                self.shown.insert(asked.decision, shown);
            }
            Event::DecisionEnded(ended) => self.ended(run, recorded, ended),
            Event::RequirementsDisposed(disposed) if recorded.by.kind == ByKind::Person => {
                self.disposed.extend(disposed.dispositions.keys().cloned());
            }
            Event::LedgerPlanned(planned) if recorded.by.kind == ByKind::Person => {
                self.disposed.extend(planned.plan.requirements.iter().map(|row| row.id.clone()));
            }
            _ => {}
        }
        self.changes(run, &recorded.event);
    }

    /// A flow was entered: a unit below `over: units` was planned, and what was written in a tree that is made anew is gone.
    fn entered(&mut self, run: &Run, entered: &FlowEntered) {
        let Some(unit) = &entered.unit else { return };
        let parent = entered.parent.as_ref().and_then(|parent| run.instances.get(parent));
        let stage = parent.zip(entered.each.as_ref()).and_then(|(parent, each)| run.stage(parent, each));
        if stage.is_some_and(|stage| matches!(&stage.kind, Kind::Each(each) if each.over == Over::Units)) {
            self.planned.insert(unit.clone());
        }
        if entered.own_tree {
            self.writers.retain(|(of, _), _| of != unit);
            let lost = run.unit(unit).and_then(|known| known.tree.as_ref()).is_some_and(|own| !own.landed);
            let paths = self.rewritten.entry(unit.clone()).or_default();
            let kept = self.kept.entry(unit.clone()).or_default();
            if lost { paths.clone_from(kept) } else { kept.clone_from(paths) }
        }
    }

    /// A person sends the notes of an acceptance to whoever fixes them: its judge has rejected.
    fn ended(&mut self, run: &Run, recorded: &Recorded, ended: &DecisionEnded) {
        let Some(asked) = run.decisions.get(&ended.decision).map(|decision| &decision.asked) else { return };
        let noted = asked.origin.outcome == Some(Outcome::Verdict(Verdict::AcceptWithNotes));
        let Some(ask) = run.protocol.ask(&asked.ask).filter(|_| noted) else { return };
        let instance = run.instances.get(&asked.instance);
        let Some(origin) = instance.and_then(|instance| run.stage(instance, &asked.origin.stage)) else { return };
        let word = ended.option.as_deref().unwrap_or_default();
        let rule = ask.on.iter().find(|rule| *rule.outcome == *word);
        let (Some(Target::As(outcome)), Kind::Dispatch { role }) = (rule.map(|rule| &rule.route.to), &origin.kind)
        else {
            return;
        };
        let means = graph::stands_for(&run.protocol, &graph::needed(&run.protocol), origin, outcome);
        if means == Some(Outcome::Verdict(Verdict::Reject)) {
            self.verdicts.insert((role.clone(), asked.unit.clone()), (recorded.seq, Verdict::Reject));
        }
    }

    /// Takes in who could write for what, and what of it was changed.
    fn changes(&mut self, run: &Run, event: &Event) {
        let unit_of = |instance: &str| run.instances.get(instance).and_then(|instance| instance.unit.clone());
        let mut wrote = |attempt: &AttemptId, changed: &[Changed]| {
            let unit = run.attempts.get(attempt).and_then(|attempt| unit_of(&attempt.instance));
            let role = dispatched(run, attempt).map(|(role, _)| role.clone());
            for (unit, role) in unit.iter().zip(&role) {
                for path in changed.iter().map(|change| &change.path) {
                    self.writers.entry((unit.clone(), path.clone())).or_default().insert(role.clone());
                }
            }
            let Some(unit) = unit.filter(|_| !changed.is_empty()) else { return };
            let paths = self.rewritten.entry(unit).or_default();
            for change in changed {
                paths.entry(change.path.clone()).or_insert_with(|| Rewritten::of(change)).add(change);
            }
        };
        match event {
            Event::AttemptStarted(started) => {
                let Work::Dispatch { role, .. } = &started.work else { return };
                if let Some(role) = run.protocol.roles.get(role).filter(|role| !role.writes.is_empty()) {
                    self.written_for.insert(unit_of(&started.instance));
                    self.written_in_main |= *started.instance == *MAIN && !role.judges();
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
        let judged = |known: &Option<RoleId>| known.is_some() && *known != self.last;
        let mut opinions = changed.findings.iter().filter_map(known);
        if let Some((id, _)) = opinions.find(|(_, known)| judged(&known.about.role)) {
            return Some(format!("{id} is {} by somebody who did not find it", changed.status.word()));
        }
        let mut measured = changed.findings.iter().filter_map(known).filter(|(_, known)| known.about.role.is_none());
        let passes = |row: &Name| run.criterion(row)?.ran.as_ref().map(|shown| shown.result == Judgement::Pass);
        let (id, _) = measured.find(|(_, known)| match (&known.about.of, &known.about.criterion) {
            (Some(of), _) => self.last.as_ref() != Some(of),
            (None, Some(row)) => passes(row) != Some(true),
            (None, None) => true,
        })?;
        Some(format!("{id} was measured, and is {} by somebody's word", changed.status.word()))
    }

    /// Whether anything is another for a unit than it was before.
    fn has_changed(&self, unit: &UnitId) -> bool {
        let mut paths = self.rewritten.get(unit).into_iter().flat_map(BTreeMap::values);
        self.changed.contains(unit) || paths.any(|path| !path.is_back())
    }

    /// Why a unit may not become accepted.
    pub fn against_unit(&self, run: &Run, unit: &UnitId) -> Option<String> {
        let key = Some(unit.clone());
        if self.written_for.contains(&key) && !self.has_changed(unit) && !self.empty.contains(&key) {
            return Some("its change is empty, and no person said that this is right".to_owned());
        }
        if self.planned.contains(unit) && run.ledger.criteria.iter().all(|row| row.unit.as_ref() != Some(unit)) {
            return Some("it was planned, and has no criterion".to_owned());
        }
        let gates = run.protocol.gates.values();
        let mut mandatory = gates.filter(|gate| self.must_hold(run, gate.mandatory_unit.as_ref(), Some(unit)));
        let missing = mandatory.find_map(|gate| self.against(run, &gate.bound_to, &gate.holds, Some(unit)));
        missing.or_else(|| self.changed_since(run, unit))
    }

    /// Why a run may not succeed.
    pub fn against_success(&self, run: &Run) -> Option<String> {
        let mut decisions = run.pending().filter(|(_, decision)| &*decision.asked.instance != LAND);
        if let Some((id, _)) = decisions.next() {
            return Some(format!("{id} is open"));
        }
        let is_asked = self.written_in_main && !self.empty.contains(&None);
        let is_empty = run.tree == run.opened.content.tree;
        if is_empty && (is_asked || !self.written_for.is_empty() && self.empty.is_empty()) {
            return Some("its change is empty, and no person said that this is right".to_owned());
        }
        for unit in run.ledger.units.iter().filter(|unit| unit.retired.is_none()) {
            let owed = match unit.state {
                UnitState::Accepted | UnitState::Produced => unit.is_apart(),
                // One that the run never began with is owed by gates alone.
                UnitState::New => self.was_begun(run, unit),
                UnitState::Lapsed => true,
                UnitState::Dropped => unit.in_tree || is_other_in_scope(run, &unit.name),
            };
            if owed {
                return Some(format!("`{}` is {}", unit.name, unit.state.word()));
            }
        }
        if let Some((id, _)) = run.ledger.findings.iter().find(|(_, finding)| !finding.status.is_closed()) {
            return Some(format!("{id} is open"));
        }
        // What was judged as a part of the run was never accepted by itself.
        let is_silent = |unit: &&Unit| {
            let key = Some(unit.name.clone());
            unit.state == UnitState::Produced
                && unit.retired.is_none()
                && self.written_for.contains(&key)
                && !self.has_changed(&unit.name)
                && !self.empty.contains(&key)
        };
        let silent = run.ledger.units.iter().find(is_silent);
        if let Some(unit) = silent.filter(|_| run.tree != run.opened.content.tree) {
            return Some(format!("the change of `{}` is empty, and no person said that this is right", unit.name));
        }
        let made =
            |unit: &&Unit| matches!(unit.state, UnitState::Accepted | UnitState::Produced) && unit.retired.is_none();
        for unit in run.ledger.units.iter().filter(made).map(|unit| &unit.name) {
            let gates = run.protocol.gates.values();
            let mut gates = gates.filter(|gate| self.must_hold(run, gate.mandatory_unit.as_ref(), Some(unit)));
            let missing = gates.find_map(|gate| self.against(run, &gate.bound_to, &gate.holds, Some(unit)));
            if let Some(missing) = missing.or_else(|| self.changed_since(run, unit)) {
                return Some(format!("`{unit}`: {missing}"));
            }
        }
        let retired = |name: &UnitId| run.unit(name).is_some_and(|unit| unit.retired.is_some());
        let shown =
            |row: &&Criterion| row.unit.as_ref().is_none_or(retired) && !is_shown(run, row, &read_of(run, row), None);
        if let Some(row) = run.ledger.criteria.iter().find(shown) {
            return Some(format!("nothing shows {}", row.id));
        }
        for row in &run.ledger.requirements {
            let material = matches!(row.disposition, None | Some(Disposition::InScope | Disposition::Other(_)))
                && row.waived.is_none();
            if row.waived.is_none() && !material && !self.disposed.contains(&row.id) {
                return Some(format!("{} is left out, and no person decided that", row.id));
            }
            let stays = |unit: &Unit| unit.state != UnitState::Dropped;
            let shows = run.ledger.criteria.iter().any(|criterion| {
                let unit = criterion.unit.as_ref().and_then(|unit| run.unit(unit));
                criterion.requirement.as_ref() == Some(&row.id) && unit.is_none_or(stays)
            });
            let serves = |unit: &Unit| unit.requirements.contains(&row.id) && stays(unit) && unit.retired.is_none();
            if material && !shows && !run.ledger.units.iter().any(serves) {
                return Some(format!("no unit serves {}", row.id));
            }
        }
        let gates = run.protocol.gates.values();
        let mut mandatory = gates.filter(|gate| self.must_hold(run, gate.mandatory_run.as_ref(), None));
        mandatory.find_map(|gate| self.against(run, &gate.bound_to, &gate.holds, None))
    }

    /// Whether the run has begun with a unit, and did not leave it for another way.
    fn was_begun(&self, run: &Run, unit: &Unit) -> bool {
        let mut own = run.instances.values().filter(|instance| instance.unit.as_ref() == Some(&unit.name));
        own.any(|instance| unit.in_tree || !self.is_left(run, instance))
    }

    fn is_left(&self, run: &Run, instance: &Instance) -> bool {
        let Some((parent, each)) = instance.parent.as_ref().zip(instance.each.as_ref()) else { return false };
        self.left.contains(&(parent.clone(), each.clone()))
            || run.instances.get(parent).is_some_and(|parent| self.is_left(run, parent))
    }

    /// Why a unit may not stay accepted: something was found against it, or nothing shows one of its rows on this content.
    pub fn changed_since(&self, run: &Run, unit: &UnitId) -> Option<String> {
        let open = |id| {
            run.ledger.findings.get(id).is_some_and(|finding| {
                finding.about.units.contains(unit) && finding.status_for(Some(unit)) == FindingStatus::Open
            })
        };
        if let Some(id) = run.ledger.findings.keys().find(|id| open(id)) {
            return Some(format!("{id} is open"));
        }
        let gates = run.protocol.gates.values();
        let gates = gates.filter(|gate| self.must_hold(run, gate.mandatory_unit.as_ref(), Some(unit)));
        let bound: Vec<Resource> =
            gates.flat_map(|gate| &gate.bound_to).filter(|resource| **resource != Resource::Tree).cloned().collect();
        let mut rows = run.ledger.criteria.iter().filter(|row| row.unit.as_ref() == Some(unit));
        let row = rows.find(|row| !is_shown(run, row, &bound, Some(unit)))?;
        Some(format!("nothing shows {} on this content", row.id))
    }

    /// The same of one that is accepted, and of what lies in no unit's scope.
    pub fn against_staying(&self, run: &Run, unit: &Unit) -> Option<String> {
        let accepted = unit.accepted_on.as_ref().and_then(|on| run.contents.get(&on.tree));
        let (then, now) = (accepted?, run.contents.get(&run.tree)?);
        let gates = run.protocol.gates.values();
        let mut gates = gates.filter(|gate| self.must_hold(run, gate.mandatory_unit.as_ref(), Some(&unit.name)));
        let differs = |area: &&Resource| then.nobodys.get(&***area) != now.nobodys.get(&***area);
        let other = gates.find_map(|gate| gate.bound_to.iter().find(differs));
        let other = other.map(|area| format!("`{}` has changed outside of every scope", &**area));
        other.or_else(|| self.changed_since(run, &unit.name)).or_else(|| self.changed_in_scope(run, unit))
    }

    /// The files that a mandatory gate of it is bound to are no longer what it was accepted on.
    fn changed_in_scope(&self, run: &Run, unit: &Unit) -> Option<String> {
        let on = unit.accepted_on.as_ref()?;
        let gates = run.protocol.gates.iter();
        let mut gates = gates.filter(|(_, gate)| self.must_hold(run, gate.mandatory_unit.as_ref(), Some(&unit.name)));
        let (gate, _) = gates.find(|(_, gate)| !is_same(run, on, &gate.bound_to, Some(&unit.name)))?;
        Some(format!("what `{gate}` is bound to has changed since"))
    }

    /// Whether an acceptance or a success is one also when it is derived a second time, and nothing else breaks what nobody may.
    pub fn second_look(&self, run: &Run, recorded: &Recorded) -> Option<Violation> {
        let broken = |invariant, what: String| Some(Violation { invariant, what });
        match &recorded.event {
            Event::UnitChanged(changed) if changed.state == UnitState::Accepted => {
                let missing = self.against_unit(run, &changed.unit)?;
                broken(1, format!("`{}` is accepted: {missing}", changed.unit))
            }
            Event::RunClosed(closed) if closed.outcome == RunOutcome::Succeeded => {
                broken(2, format!("the run succeeds: {}", self.against_success(run)?))
            }
            Event::FindingChanged(changed) if changed.status.is_closed() => {
                broken(2, self.against_closing(run, changed)?)
            }
            Event::RunPublished(_) | Event::RunLanded(_) if run.tree == run.opened.content.tree => {
                broken(2, "an empty change is handed over".to_owned())
            }
            _ => self.against_rules(run, recorded),
        }
    }
}

/// The role of a dispatch, and the instance that it belongs to.
fn dispatched<'a>(run: &'a Run, attempt: &AttemptId) -> Option<(&'a RoleId, (&'a InstanceId, &'a Instance))> {
    let attempt = run.attempts.get(attempt)?;
    let Work::Dispatch { role, .. } = &attempt.work else { return None };
    Some((role, (&attempt.instance, run.instances.get(&attempt.instance)?)))
}

/// What the gates are bound to that have to hold, or that a stage establishes, and that read a row.
fn read_of(run: &Run, row: &Criterion) -> Vec<Resource> {
    let protocol = &run.protocol;
    let mut stages = protocol.flows.iter().flat_map(|flow| &flow.stages);
    let ensured: BTreeSet<_> = stages.by_ref().flat_map(|stage| &stage.ensures).collect();
    let reads = |atom: &Condition| match atom {
        Condition::Set { set: SetKind::Criterion, filter, .. } => {
            filter.iter().all(|(_, groups)| row.group.as_ref().is_some_and(|group| groups.contains(group)))
        }
        _ => false,
    };
    let owed = protocol.gates.iter().filter(|(name, gate)| {
        let is_owed = gate.mandatory_run.is_some() || gate.mandatory_unit.is_some() || ensured.contains(name);
        is_owed && gate.holds.atoms().any(reads)
    });
    owed.flat_map(|(_, gate)| gate.bound_to.clone()).collect()
}

/// Whether what lies in the scope of a unit is not what the run began with.
fn is_other_in_scope(run: &Run, unit: &UnitId) -> bool {
    let now = run.contents.get(&run.tree).and_then(|content| content.scoped.get(unit));
    let then = run.opened.content.scoped.get(unit);
    now.is_some() && then.is_some() && now != then
}

/// Whether a judge and, where the row has one, its command say that a row holds on this content, or a person waived it there.
pub(super) fn is_shown(run: &Run, row: &Criterion, bound: &[Resource], unit: Option<&UnitId>) -> bool {
    let waived = row.waived.as_ref().is_some_and(|waived| {
        is_same(run, &waived.on, bound, unit) || is_same(run, &waived.on, bound, row.unit.as_ref())
    });
    let passed = |shown: Option<&Shown>| shown.is_some_and(|shown| passes(run, shown, bound, unit));
    waived || passed(row.judged.as_ref()) && (row.command.is_none() || passed(row.ran.as_ref()))
}

pub(super) fn passes(run: &Run, shown: &Shown, bound: &[Resource], unit: Option<&UnitId>) -> bool {
    shown.result == Judgement::Pass && is_same(run, &shown.on, bound, unit)
}

/// Whether the files that a gate is bound to are in the subject's tree as they were, for a unit those in its scope. Documents
/// are not compared.
pub(super) fn is_same(run: &Run, on: &On, bound: &[Resource], unit: Option<&UnitId>) -> bool {
    let now = run.tree_of(unit);
    let digest = |tree: &Name, area: &Name| {
        let content = run.contents.get(tree)?;
        unit.and_then(|unit| content.scoped.get(unit)).unwrap_or(&content.areas).get(area)
    };
    let mut areas = run.areas.iter().map(|area| &area.name).filter(|area| bound.iter().any(|name| **name == ***area));
    let same = |area: &Name| digest(&on.tree, area).is_some_and(|then| digest(now, area) == Some(then));
    on.tree == *now || !bound.contains(&Resource::Tree) && areas.all(same)
}
