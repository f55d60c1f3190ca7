//! Entering stages: conditions, requirements, leases, units.

use std::collections::BTreeSet;

use super::super::event::{
    AttemptStarted, FindingStatus, FlowEntered, FlowResumed, JudgementEnded, JudgementRests, Origin, PendingOutcome,
    RunHalted, Work,
};
use super::super::evolve::counter_key;
use super::super::finding::FindingState;
use super::super::gate::{self, Status};
use super::super::state::{At, Instance, MAIN, Phase, keyed};
use super::super::{bundle, effects};
use super::draft::Draft;
use crate::Name;
use crate::id::{AttemptId, GateId, InstanceId, RoleId, UnitId};
use crate::protocol::model::{Kind, Land, Over, Resource, Stage, Target};
use crate::protocol::{LandOutcome, Outcome};
use crate::report::Verdict;

/// Moves without anybody's doing in one command. The checker proves that automatic moves end; this is the belt to its
/// braces, and far above what a protocol of any size needs.
const MOVES_MAX: usize = 10_000;

impl Draft {
    /// Enters what can be entered until nothing moves by itself.
    pub fn advance(&mut self) {
        // Also while nothing moves, evidence that comes in counts against what was accepted.
        if !self.run.is_closed() {
            self.lapse();
        }
        for _ in 0..MOVES_MAX {
            // What is halted waits for a person's `retry`, wherever it stands.
            if self.run.phase != Phase::Open || !self.move_once() {
                return;
            }
        }
        self.emit(RunHalted { reasons: vec![format!("{MOVES_MAX} moves without a worker or a person")] });
    }

    /// Moves one instance; false when none can.
    fn move_once(&mut self) -> bool {
        self.lapse();
        self.withdraw_budgets();
        self.close_when_nothing_is_open();
        if self.run.is_closed() {
            return true;
        }
        let names: Vec<InstanceId> = self.run.instances.keys().cloned().collect();
        names.into_iter().any(|name| self.run.is_live(&name) && self.move_instance(&name))
    }

    fn move_instance(&mut self, name: &InstanceId) -> bool {
        let Some(instance) = self.instance(name) else { return false };
        let protocol = self.protocol.clone();
        let stage = instance.at.stage().and_then(|stage| Self::stage_of(&protocol, &instance, stage));
        match (&instance.at, stage) {
            (At::Ready { .. }, Some(stage)) => self.enter(name, &instance, stage),
            (At::Ready { stage }, None) => {
                let why = format!("`{stage}` is not a stage of `{}`", instance.flow);
                self.emit(RunHalted { reasons: vec![why] });
                false
            }
            // Its question was cancelled when a sibling left the flow: it is put again, as a new one. Or it was about what commands may
            // write: they run again.
            (At::Waiting { stage, decision }, _) if self.has_ended(*decision) => {
                self.emit(FlowResumed { instance: name.clone(), stage: stage.clone(), renewed: false });
                true
            }
            (At::Each { .. }, Some(stage)) => match &stage.kind {
                Kind::Each(each) => self.run_each(name, stage, each),
                Kind::Dispatch { .. } | Kind::Ask(_) | Kind::Check { .. } | Kind::Land(_) => false,
            },
            (
                At::Leased { .. }
                | At::Waiting { .. }
                | At::Held { .. }
                | At::Closing { .. }
                | At::Ended { .. }
                | At::Each { .. },
                _,
            ) => false,
        }
    }

    fn enter(&mut self, name: &InstanceId, instance: &Instance, stage: &Stage) -> bool {
        let unit = instance.unit.as_ref();
        if let Some(pending) = &instance.pending {
            // Its commands may have to run again, and only the driver has them run.
            if !self.is_driver() {
                return false;
            }
            self.reason.clone_from(&pending.reason);
            self.route(name, stage, &pending.outcome);
            return true;
        }
        if let Some(verdict) = instance.judging {
            return self.bear_out(name, instance, stage, verdict);
        }
        // A lease that was cut off was entered before: its condition is not asked twice. What it needs, it needs still.
        if let Some(when) = stage.when.as_ref().filter(|_| instance.lost.is_none())
            && !gate::truth(&self.run, when, unit)
        {
            self.route(name, stage, &Outcome::Skipped);
            return true;
        }
        self.enter_unasked(name, instance, stage)
    }

    /// Enters a stage whose condition is not asked.
    pub(super) fn enter_unasked(&mut self, name: &InstanceId, instance: &Instance, stage: &Stage) -> bool {
        if self.hold_for_needs(name, instance, stage) {
            return true;
        }
        match &stage.kind {
            Kind::Dispatch { role } => self.grant_dispatch(name, instance, stage, role),
            Kind::Ask(_) => {
                let origin = Origin { stage: stage.id.clone(), outcome: None, cut_off: None };
                self.ask_here(name, stage, origin);
                true
            }
            Kind::Check { gates } => self.check(name, instance, stage, gates),
            Kind::Each(each) => self.enter_each(name, stage, each),
            Kind::Land(Land::Run) => self.grant_landing(name, instance, stage),
            Kind::Land(Land::PullRequest | Land::Base) => {
                self.route(name, stage, &Outcome::Land(LandOutcome::Refused));
                true
            }
        }
    }

    /// Holds an instance before a stage that lacks what it requires; whether it does.
    pub(super) fn hold_for_needs(&mut self, name: &InstanceId, instance: &Instance, stage: &Stage) -> bool {
        let missing = self.missing(stage, instance.unit.as_ref());
        let Some((first, _)) = missing.first() else { return false };
        // Entering it again would find the same: a person's `retry` enters what establishes it.
        let back = self.has_established(name, stage, &|before| self.protocol.establishes(before, first));
        let which = back.as_ref().map(|(_, back)| format!(", which `{}` establishes", back.id)).unwrap_or_default();
        let lacks: Vec<&str> = missing.iter().map(|(_, lacks)| &**lacks).collect();
        let why = format!("`{}` needs {}{which}", stage.id, lacks.join(", "));
        match back {
            Some((flow, back)) => self.hold(&flow, &back, Some(&Outcome::Requires), why),
            None => self.hold(name, stage, Some(&Outcome::Requires), why),
        }
        true
    }

    /// Where the first of the gates is established that a check needs and that do not hold. Another check establishes none.
    pub(super) fn first_established(
        &self,
        name: &InstanceId,
        stage: &Stage,
        gates: &[GateId],
    ) -> Option<(InstanceId, Stage)> {
        let unit = self.unit_of(name);
        let open = gates.iter().filter(|gate| gate::status_of(&self.run, gate, unit.as_ref()) != Status::Holds);
        let establishes = |before: &Stage, gate: &GateId| {
            !matches!(before.kind, Kind::Check { .. }) && self.protocol.establishes(before, gate)
        };
        let known = open.filter_map(|gate| self.has_established(name, stage, &|before| establishes(before, gate)));
        known.min_by_key(|(at, back)| (at != name, self.place_of(at, back)))
    }

    /// The place of a stage in its flow.
    fn place_of(&self, name: &InstanceId, stage: &Stage) -> Option<usize> {
        let flow = self.run.instances.get(name).and_then(|known| self.run.flow(known))?;
        flow.stages.iter().position(|known| known.id == stage.id)
    }

    /// The stage before this one, in its flow or in the one that called it for the same subject, that establishes something and where
    /// that flow has been.
    fn has_established(
        &self,
        name: &InstanceId,
        stage: &Stage,
        establishes: &dyn Fn(&Stage) -> bool,
    ) -> Option<(InstanceId, Stage)> {
        let instance = self.run.instances.get(name)?;
        let has_been =
            |stage: &Stage| instance.counters.keys().any(|key| key.starts_with(&*counter_key(&stage.id, "")));
        let other = |before: &&Stage| before.id != stage.id && establishes(before);
        let stages = &self.protocol.flow(&instance.flow)?.stages;
        let here = stages.iter().position(|known| known.id == stage.id)?;
        // The nearest that stands before it, else one that stands behind.
        let mut known = stages[..here].iter().rev().chain(&stages[here..]).filter(other);
        if let Some(back) = known.find(|before| has_been(before)) {
            return Some((name.clone(), back.clone()));
        }
        let (parent, each) = (instance.parent.as_ref()?, instance.each.as_ref()?);
        let call = Self::stage_of(&self.protocol, self.run.instances.get(parent)?, each)?;
        let is_same = matches!(&call.kind, Kind::Each(each) if each.over == Over::It);
        if is_same { self.has_established(parent, call, establishes) } else { None }
    }

    /// What a stage requires and does not have, with the words for it.
    fn missing(&self, stage: &Stage, unit: Option<&UnitId>) -> Vec<(Name, String)> {
        let lacks = |name: &&Name| {
            if self.protocol.gates.contains_key(&***name) {
                gate::status_of(&self.run, name, unit) != Status::Holds
            } else {
                gate::given(&self.run, name, unit) != Some(true)
            }
        };
        // What a judge is shown of a document is what it judges.
        let gates = stage.ensures.iter().filter_map(|name| self.protocol.gates.get(name));
        let bound = self.protocol.with_read(gates).into_iter().flat_map(|gate| &gate.bound_to);
        let other = |name: &&Resource| gate::given(&self.run, name, unit) == Some(false);
        let others = bound.filter(other).map(|name| (Name::from(&**name), format!("`{name}` as it was given")));
        stage.requires.iter().filter(lacks).map(|name| (name.clone(), format!("`{name}`"))).chain(others).collect()
    }

    /// A judge accepts: what it must establish is evaluated on what it left behind, after the commands that needs.
    fn bear_out(&mut self, name: &InstanceId, instance: &Instance, stage: &Stage, verdict: Verdict) -> bool {
        let unit = instance.unit.as_ref();
        let needed = gate::commands_needed(&self.run, &stage.ensures, unit);
        if !needed.is_empty() {
            if self.is_driver() {
                self.grant(name, stage, Work::Commands { commands: needed }, instance, None);
            }
            return self.is_driver();
        }
        self.commands_rest(unit);
        let status = stage.ensures.iter().map(|gate| gate::status_of(&self.run, gate, unit)).max();
        let holds = matches!(status, None | Some(Status::Holds));
        let measured = self.measured_against(unit);
        let fails = self.has_failed_command(unit);
        let contradicted = fails || !measured.is_empty();
        if !holds || contradicted {
            self.reason = self.open_rows(name).join("; ");
        }
        // A command that fails is a fact: whatever the judge says, the work is rejected and goes back.
        let rejected = self.can_reject(stage)
            && (!holds && self.commands_speak(stage, unit) || fails || self.goes_to(instance, stage, &measured));
        if contradicted {
            self.overrule(stage, unit);
        }
        self.lapse();
        let outcome = match (status, rejected) {
            // Who did not write what it says it wrote may not have tested what it says it tested; and nobody's acceptance
            // makes a claim true that was measured to be false.
            (None | Some(Status::Holds), false) if contradicted => Outcome::Verdict(Verdict::Inconclusive),
            (None | Some(Status::Holds), false) => Outcome::Verdict(verdict),
            (_, true) => Outcome::Verdict(Verdict::Reject),
            // Asking the judge again would show no more: a person says what becomes of it.
            (Some(Status::Unobservable), false) => Outcome::Unobservable,
            (Some(Status::Stale | Status::Fails), false) => Outcome::Verdict(Verdict::Inconclusive),
        };
        self.route(name, stage, &outcome);
        true
    }

    /// An acceptance over what was measured counts for no gate, whatever becomes of that, unless a person waives it by name.
    fn overrule(&mut self, stage: &Stage, unit: Option<&UnitId>) {
        let Kind::Dispatch { role } = &stage.kind else { return };
        let judged = self.run.ledger.judgements.get(&keyed(role, unit));
        let Some(attempt) = judged.filter(|judged| judged.verdict.accepts()).and_then(|judged| judged.attempt) else {
            return;
        };
        let findings = self.findings(unit, |known| {
            (known.about.of.is_some() || known.is_of_command()) && !known.status_in(unit).is_closed()
        });
        self.emit(JudgementRests { attempt, findings });
        self.emit(JudgementEnded { attempt, decision: None });
    }

    /// The roles whose word on a subject was measured to be otherwise, and that have not said anything else since.
    fn measured_against(&self, unit: Option<&UnitId>) -> BTreeSet<RoleId> {
        let open = self.findings(unit, |known| known.about.of.is_some() && !known.status_in(unit).is_closed());
        open.iter().filter_map(|id| self.run.ledger.findings.get(id)?.about.of.clone()).collect()
    }

    /// Whether a command found something of a subject alone that nobody has worked on since, whoever's row it is of.
    fn has_failed_command(&self, unit: Option<&UnitId>) -> bool {
        let open = |known: &FindingState| {
            known.is_of_command() && known.status_for(unit) == FindingStatus::Open && self.is_only_of(known, unit)
        };
        !self.findings(unit, open).is_empty()
    }

    /// The stage of a flow whose role's word was measured to be otherwise: whoever judges it again finds the same.
    pub(super) fn claimed_at(&self, instance: &InstanceId, judged: &Stage) -> Option<Stage> {
        let known = self.run.instances.get(instance)?;
        let claims = self.measured_against(known.unit.as_ref());
        let is_claimed = |stage: &&Stage| matches!(&stage.kind, Kind::Dispatch { role } if claims.contains(role));
        let stages = &self.protocol.flow(&known.flow)?.stages;
        let own = std::iter::once(judged).find(is_claimed);
        own.is_none().then(|| stages.iter().find(is_claimed).cloned()).flatten()
    }

    /// Whether a rejection here goes to one of these roles: straight, or by way of those who neither write nor judge.
    fn goes_to(&self, instance: &Instance, stage: &Stage, roles: &BTreeSet<RoleId>) -> bool {
        let (mut at, mut outcome, mut seen) = (stage, Outcome::Verdict(Verdict::Reject), BTreeSet::new());
        loop {
            let Some((rule, _)) = self.protocol.route(at, &outcome) else { return false };
            let Target::Stage(to) = &rule.route.to else { return false };
            let Some(next) = Self::stage_of(&self.protocol, instance, to) else { return false };
            let Kind::Dispatch { role } = &next.kind else { return false };
            if roles.contains(role) {
                return true;
            }
            let hands_on =
                self.protocol.roles.get(role).is_some_and(|known| known.writes.is_empty() && !known.judges());
            if !hands_on || !seen.insert(&next.id) {
                return false;
            }
            (at, outcome) = (next, Outcome::OK);
        }
    }

    fn can_reject(&self, stage: &Stage) -> bool {
        let Kind::Dispatch { role } = &stage.kind else { return false };
        self.protocol.roles.get(role).is_some_and(|role| role.verdicts.contains(&Verdict::Reject))
    }

    fn grant_dispatch(&mut self, name: &InstanceId, instance: &Instance, stage: &Stage, role: &RoleId) -> bool {
        let Some(known) = self.protocol.roles.get(role).cloned() else { return false };
        // One writer at a time in a tree; a judge looks at what nobody is changing.
        if !self.is_driver() || self.tree_is_busy(instance.unit.as_ref(), !known.writes.is_empty()) {
            return false;
        }
        // Facts before opinions: what can be run is run before a judge is asked. One that writes is asked first.
        let needed = gate::commands_needed(&self.run, &stage.ensures, instance.unit.as_ref());
        if !needed.is_empty() && known.writes.is_empty() {
            self.grant(name, stage, Work::Commands { commands: needed }, instance, None);
            return true;
        }
        let before = instance.iterations.get(&stage.id).copied().unwrap_or(0);
        let repeats = instance.lost.is_some() && before > 0;
        if !self.may_dispatch(instance.unit.as_ref(), stage, role, repeats) {
            return false;
        }
        let worker = self.run.opened.workers.get(role).cloned().unwrap_or_else(|| (&**role).into());
        let work = Work::Dispatch {
            role: role.clone(),
            worker,
            iteration: if repeats { before } else { before + 1 },
            bundle: bundle::bundle(&self.run, name, &known),
        };
        self.grant(name, stage, work, instance, None);
        true
    }

    pub(super) fn tree_is_busy(&self, unit: Option<&UnitId>, writer: bool) -> bool {
        effects::is_worked_in(&self.run, unit, writer)
    }

    pub(super) fn grant(
        &mut self,
        name: &InstanceId,
        stage: &Stage,
        work: Work,
        instance: &Instance,
        pending: Option<Box<PendingOutcome>>,
    ) {
        let attempt = AttemptId(self.run.next_attempt);
        self.emit(AttemptStarted {
            attempt,
            instance: name.clone(),
            stage: stage.id.clone(),
            work,
            tree: self.run.tree_of(instance.unit.as_ref()).clone(),
            repeats: instance.lost,
            pending,
        });
    }

    fn check(&mut self, name: &InstanceId, instance: &Instance, stage: &Stage, gates: &[GateId]) -> bool {
        let unit = instance.unit.as_ref();
        let needed = gate::commands_needed(&self.run, gates, unit);
        if !needed.is_empty() {
            if !self.is_driver() {
                return false;
            }
            self.grant(name, stage, Work::Commands { commands: needed }, instance, None);
            return true;
        }
        let status: Vec<Status> = gates.iter().map(|gate| gate::status_of(&self.run, gate, unit)).collect();
        let outcome = match status.iter().max() {
            None | Some(Status::Holds) => Outcome::Pass,
            Some(Status::Stale) => Outcome::Stale,
            // Nobody can waive what is to be judged anew, and whoever judges it looks at the rest again.
            Some(Status::Unobservable) if status.contains(&Status::Stale) => Outcome::Stale,
            Some(Status::Unobservable) => Outcome::Unobservable,
            Some(Status::Fails) => Outcome::Fail,
        };
        self.route(name, stage, &outcome);
        true
    }

    fn grant_landing(&mut self, name: &InstanceId, instance: &Instance, stage: &Stage) -> bool {
        let own = instance.unit.as_ref().and_then(|unit| self.run.unit(unit)).and_then(|unit| unit.tree.clone());
        let (Some(unit), Some(own)) = (instance.unit.clone(), own.filter(|own| !own.landed)) else {
            // Work in the caller's tree is there already.
            self.route(name, stage, &Outcome::Land(LandOutcome::Landed));
            return true;
        };
        let landing = self.run.attempts.values().any(|attempt| matches!(attempt.work, Work::Land { .. }));
        // Landings are serial, in the order of arrival, and nobody writes in the caller's tree meanwhile.
        if !self.is_driver() || landing || self.tree_is_busy(None, true) || self.somebody_lands_before(instance) {
            return false;
        }
        let work = Work::Land { unit, base: own.base, onto: self.run.tree.clone() };
        self.grant(name, stage, work, instance, None);
        true
    }

    /// Whether another instance came to its landing before this one.
    fn somebody_lands_before(&self, instance: &Instance) -> bool {
        self.run.instances.iter().any(|(name, other)| {
            let At::Ready { stage } = &other.at else { return false };
            let lands = self.run.stage(other, stage).is_some_and(|stage| matches!(stage.kind, Kind::Land(Land::Run)));
            lands && other.arrived < instance.arrived && self.run.is_live(name)
        })
    }

    /// Starts the main flow.
    pub fn enter_main(&mut self) {
        let protocol = self.protocol.clone();
        let Some(first) = protocol.flow(MAIN).and_then(|flow| flow.stages.first()) else { return };
        self.emit(FlowEntered {
            instance: MAIN.into(),
            flow: MAIN.into(),
            unit: None,
            parent: None,
            each: None,
            stage: first.id.clone(),
            own_tree: false,
        });
    }
}
