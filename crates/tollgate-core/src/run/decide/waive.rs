//! Waivers: what accepting would waive, by name, and whether it would be enough.

use super::super::event::WaiverGranted;
use super::super::evolve::waive_for;
use super::super::finding::FindingState;
use super::super::gate::{self, CriterionState, Status};
use super::super::state::keyed;
use super::draft::Draft;
use crate::Name;
use crate::id::{DecisionId, FindingId, GateId, RoleId, UnitId};
use crate::protocol::condition::{Condition, SetKind};
use crate::protocol::model::{Ensures, Kind, Resource, Route, Stage, Target};

/// What choosing an option waives: rows, findings, commands that cannot be observed.
#[derive(Default)]
pub(super) struct Waivers {
    pub criteria: Vec<Name>,
    pub findings: Vec<FindingId>,
    pub requirements: Vec<Name>,
    pub commands: Vec<Name>,
    pub judgements: Vec<RoleId>,
    /// Whether the unit is given up with it.
    pub gives_up: bool,
}

/// How an option names the judgement it stands for.
fn judgement(role: &RoleId) -> Name {
    format!("the judgement of {role}").into()
}

/// Whether an atom of a gate is about the work: who agrees to a document or to an answer says nothing of what was found in it.
fn is_about_work(atom: &Condition) -> bool {
    match atom {
        Condition::Judged(_) => true,
        Condition::Set { set, is, .. } => match set {
            SetKind::Criterion | SetKind::Command | SetKind::Finding | SetKind::Unit | SetKind::Notice => true,
            SetKind::Requirement => is.iter().any(|word| **word == *"met"),
            SetKind::Decision | SetKind::Question => false,
        },
        Condition::All(_)
        | Condition::Any(_)
        | Condition::Not(_)
        | Condition::Var { .. }
        | Condition::It { .. }
        | Condition::Holds(_)
        | Condition::Answer { .. }
        | Condition::Command { .. }
        | Condition::Artifact { .. }
        | Condition::Count { .. } => false,
    }
}

impl Waivers {
    /// What of it was shown.
    pub(super) fn held_to(mut self, shown: &[Name]) -> Self {
        self.criteria.retain(|row| shown.contains(row));
        self.requirements.retain(|row| shown.contains(row));
        self.findings.retain(|id| shown.contains(&id.to_string().into()));
        self.commands.retain(|command| shown.contains(command));
        self.judgements.retain(|role| shown.contains(&judgement(role)));
        self
    }

    pub(super) fn names(&self) -> Vec<Name> {
        let findings = self.findings.iter().map(|id| Name::from(id.to_string()));
        let judgements = self.judgements.iter().map(judgement);
        let rows = self.criteria.iter().chain(&self.requirements).cloned();
        rows.chain(findings).chain(self.commands.iter().cloned()).chain(judgements).collect()
    }
}

impl Draft {
    /// Whether what an option must establish would hold with what it waives. What rests on the answer itself is not known
    /// before it is given.
    pub(super) fn could_establish(&self, instance: &str, from: Option<&Stage>, route: &Route) -> bool {
        let unit = self.unit_of(instance);
        let Waivers { criteria, findings, requirements, commands, judgements, gives_up } =
            self.waivers(instance, from, route);
        let mut trial = self.run.clone();
        let decision = DecisionId(self.run.next_decision);
        let waiver = WaiverGranted { decision, criteria, findings, requirements, commands, judgements, gives_up };
        let on = gate::on(&trial, unit.as_ref());
        waive_for(&mut trial, &waiver, unit.clone(), on);
        self.ensured(from, route).iter().all(|name| {
            let Some(gate) = self.protocol.gates.get(name) else { return false };
            gate.holds.atoms().any(|atom| matches!(atom, Condition::Answer { .. }))
                || gate::status(&trial, gate, unit.as_ref()) == Status::Holds
        })
    }

    /// Whether a role has judged this content.
    fn has_judged(&self, role: &RoleId, resources: &[Resource], unit: Option<&UnitId>) -> bool {
        let judgements = &self.run.ledger.judgements;
        let own = judgements.get(&keyed(role, unit)).into_iter().chain(judgements.get(&keyed(role, None)));
        own.into_iter().any(|judged| gate::fresh(&self.run, &judged.on, resources, unit))
    }

    /// The gates an answer must establish.
    pub(super) fn ensured(&self, from: Option<&Stage>, route: &Route) -> Vec<GateId> {
        match (&route.ensures, from) {
            (Ensures::Nothing, _) | (Ensures::Origin, None) => Vec::new(),
            (Ensures::Gates(gates), _) => gates.clone(),
            (Ensures::Origin, Some(from)) => match &from.kind {
                Kind::Check { gates } => gates.clone(),
                Kind::Dispatch { .. } | Kind::Ask(_) | Kind::Each(_) | Kind::Land(_) => from.ensures.clone(),
            },
        }
    }

    /// Accepting at a judge or a check waives every open row and finding, by name, and giving a unit up every finding of it; a writer's
    /// work waives nothing.
    pub(super) fn waivers(&self, instance: &str, from: Option<&Stage>, route: &Route) -> Waivers {
        let unit = self.unit_of(instance);
        let gates = self.ensured(from, route);
        let mut waivers = Waivers::default();
        let mut about_work = false;
        let gates = gates.iter().filter_map(|name| self.protocol.gates.get(name));
        for gate in self.protocol.with_read(gates) {
            about_work |= gate.holds.atoms().any(is_about_work);
            for row in gate::open_rows(&self.run, gate, unit.as_ref()) {
                if !waivers.criteria.contains(&row.id) {
                    waivers.criteria.push(row.id.clone());
                }
            }
            let unshown = gate::unshown(&self.run, gate, unit.as_ref()).map(|row| row.id.clone());
            let unshown: Vec<Name> = unshown.filter(|row| !waivers.requirements.contains(row)).collect();
            waivers.requirements.extend(unshown);
            // Where the judge came to no judgement of this content, the person's own stands for it.
            let judge = from.and_then(|from| if let Kind::Dispatch { role } = &from.kind { Some(role) } else { None });
            let unjudged = judge.filter(|role| {
                let asked = |atom: &Condition| matches!(atom, Condition::Judged(name) if name == *role);
                gate.holds.atoms().any(asked) && !self.has_judged(role, &gate.bound_to, unit.as_ref())
            });
            waivers.judgements.extend(unjudged.cloned());
            for atom in gate.holds.atoms() {
                if let Condition::Command { name, .. } = atom
                    && gate::status_in(&self.run, gate, atom, unit.as_ref()) == Status::Unobservable
                    && !waivers.commands.contains(name)
                {
                    waivers.commands.push(name.clone());
                }
            }
        }
        if about_work {
            let unit = unit.as_ref();
            let open = |known: &FindingState| !known.status_in(unit).is_closed() && self.is_only_of(known, unit);
            waivers.findings = self.findings(unit, open);
            // What a judge failed is waived with its findings: otherwise its rejection would stand.
            let judged = self.run.ledger.judgements.iter().filter(|(key, _)| key.unit.as_ref() == unit);
            for row in judged.flat_map(|(_, judged)| judged.failed.iter()) {
                let open = self.run.criterion(row).is_some_and(|row| {
                    let rests_on = gate::row_rests_on(&self.run, row);
                    let (state, _) = gate::criterion(&self.run, row, &rests_on, unit);
                    !matches!(state, CriterionState::Passed | CriterionState::Waived)
                });
                if open && !waivers.criteria.contains(row) {
                    waivers.criteria.push(row.clone());
                }
            }
        }
        // Whoever gives a unit up answers for what was found in it and is not settled in the run's tree: nobody else may come to
        // judge it.
        if let (Target::Dropped, Some((unit, _))) = (&route.to, self.made(instance)) {
            let open = |finding: &FindingState| !finding.status.is_closed() && self.is_only_of(finding, Some(&unit));
            waivers.findings = self.findings(Some(&unit), open);
            waivers.gives_up = true;
        }
        waivers
    }
}
