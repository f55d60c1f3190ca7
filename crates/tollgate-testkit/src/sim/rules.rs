//! Who may change what, looked at a second time: each event against the journal before it, without a word from the functions that decide.

use tollgate_core::Name;
use tollgate_core::id::{FindingId, UnitId};
use tollgate_core::protocol::Outcome;
use tollgate_core::protocol::model::{Kind, ScopePolicy, Target};
use tollgate_core::report::{
    CriterionRow, Disposition, Health, Judgement, Plan, RequirementReport, UnitReport, Verdict,
};
use tollgate_core::run::event::{
    Asked, ByKind, Event, FindingChanged, FindingOpened, FindingStatus, FlowMoved, LandOutcome, LandingEnded, Recorded,
    UnitState, WaiverGranted, Work,
};
use tollgate_core::run::gate;
use tollgate_core::run::state::{At, Criterion, Run, Shown};
use tollgate_core::scope;

use super::evidence::Evidence;
use super::watch::Violation;

impl Evidence {
    /// What an event changes that nobody, or not this one, may change.
    pub(super) fn against_rules(&self, run: &Run, recorded: &Recorded) -> Option<Violation> {
        let by_person = recorded.by.kind == ByKind::Person;
        let (invariant, what) = match &recorded.event {
            Event::LedgerPlanned(planned) if !by_person => (1, against_plan(run, &planned.plan)),
            Event::RequirementsDisposed(_) if !by_person => {
                (2, Some("requirements are disposed of by no person".to_owned()))
            }
            Event::WaiverGranted(granted) => (2, against_waiver(run, granted, by_person)),
            Event::FlowMoved(moved) => (1, against_move(run, moved)),
            Event::DecisionAsked(asked) => (2, against_card(run, &asked.asked)),
            Event::FindingChanged(changed) if changed.status == FindingStatus::Addressed && !by_person => {
                (2, self.against_addressing(run, changed))
            }
            Event::FindingOpened(opened) => (2, self.against_claim(run, opened)),
            Event::LandingEnded(landing) if landing.outcome == LandOutcome::Landed => {
                (8, self.against_landing(run, landing))
            }
            _ => return None,
        };
        what.map(|what| Violation { invariant, what })
    }

    /// A finding is addressed only by who has changed something, and may write where it is.
    fn against_addressing(&self, run: &Run, changed: &FindingChanged) -> Option<String> {
        let role = self.last.as_ref()?;
        if !self.last_wrote {
            return Some(format!("{role} changed nothing and addresses findings"));
        }
        let writes = run.protocol.roles.get(role).map(|role| role.writes.as_slice()).unwrap_or_default();
        let areas = run.area_patterns();
        let elsewhere = |id: &&FindingId| {
            let about = run.ledger.findings.get(*id).map(|known| &known.about);
            let area = about.and_then(|about| about.path.as_ref()).and_then(|path| scope::area_of(&areas, path));
            area.is_some_and(|area| !writes.contains(area)) || about.is_some_and(|about| about.of.is_some())
        };
        let id = changed.findings.iter().find(elsewhere)?;
        Some(format!("{role} addresses {id}, which is not where it may write"))
    }

    /// A word that was measured otherwise is asked for once more before it is a finding, where the stage asks again at all.
    fn against_claim(&self, run: &Run, opened: &FindingOpened) -> Option<String> {
        let role = opened.about.of.as_ref().filter(|_| self.last_health == Some(Health::Ok))?;
        let (instance, stage) = &self.last_at.as_ref()?;
        let known = run.instances.get(instance).and_then(|known| run.stage(known, stage))?;
        let (rule, _) = run.protocol.route(known, &Outcome::Health(Health::Malformed, None))?;
        let asks = rule.route.to == Target::Again && rule.route.limit != Some(0);
        let asked = self.malformed.contains(&(instance.clone(), stage.clone()));
        (asks && !asked).then(|| format!("{} was opened, and {role} was not asked again", opened.finding))
    }

    /// What lands is in the scope of its unit, or was written by nobody whose policy is strict.
    fn against_landing(&self, run: &Run, landing: &LandingEnded) -> Option<String> {
        let unit = run.attempts.get(&landing.attempt).and_then(|attempt| match &attempt.work {
            Work::Land { unit, .. } => run.unit(unit),
            Work::Dispatch { .. } | Work::Commands { .. } => None,
        })?;
        let is_lenient = |path: &Name| {
            let wrote = self.writers.get(&(unit.name.clone(), path.clone()));
            wrote.is_some_and(|roles| {
                let policies = roles.iter().map(|role| run.protocol.roles.get(role).map(|role| role.scope));
                policies.into_iter().all(|policy| policy.is_some_and(|policy| policy != ScopePolicy::Strict))
            })
        };
        let mut paths = landing.paths.iter().chain(&landing.by_policy);
        let outside = paths.find(|path| !scope::in_scope(path, &unit.scope) && !is_lenient(path))?;
        Some(format!("{outside} lands outside of the scope of `{}`, and no role of it may do that", unit.name))
    }
}

/// What is planned does not change by a worker's word, and only what nobody has begun is taken back.
fn against_plan(run: &Run, plan: &Plan) -> Option<String> {
    let ledger = &run.ledger;
    let is_other_row = |row: &&CriterionRow| {
        ledger
            .criteria
            .iter()
            .any(|old| old.id == row.id && (&old.text, &old.command, &old.unit) != (&row.text, &row.command, &row.unit))
    };
    let is_other_requirement =
        |row: &&RequirementReport| ledger.requirements.iter().any(|old| old.id == row.id && old.text != row.text);
    let is_other_unit = |row: &&UnitReport| {
        ledger.units.iter().any(|old| {
            old.name == row.name && (&old.title, &old.scope, &old.attrs) != (&row.title, &row.scope, &row.attrs)
        })
    };
    let row = plan.criteria.iter().find(is_other_row).map(|row| row.id.to_string());
    let requirement = || plan.requirements.iter().find(is_other_requirement).map(|row| row.id.to_string());
    let unit = || plan.units.iter().find(is_other_unit).map(|unit| unit.name.to_string());
    if let Some(id) = row.or_else(requirement).or_else(unit) {
        return Some(format!("a worker plans {id} otherwise"));
    }
    let left_out = |row: &&RequirementReport| !matches!(row.disposition, None | Some(Disposition::InScope));
    if let Some(row) = plan.requirements.iter().find(left_out) {
        return Some(format!("a worker leaves {} out", row.id));
    }
    let is_row = |id: &Name| {
        ledger.criteria.iter().any(|row| row.id == *id) || ledger.requirements.iter().any(|row| row.id == *id)
    };
    let is_begun = |id: &Name| run.unit(id).is_none_or(|unit| unit.in_tree || unit.state != UnitState::New);
    let taken = plan.retires.iter().find(|row| is_row(&row.id) || is_begun(&row.id) || row.why.trim().is_empty())?;
    Some(format!("a worker takes {} back", taken.id))
}

/// A person is asked to waive no row that was shown to hold for this very content.
fn against_card(run: &Run, asked: &Asked) -> Option<String> {
    let now = gate::on_tree(run, asked.tree.clone());
    let holds = |row: &Criterion| {
        let is_judged = row.judged.as_ref().is_some_and(|said| said.result == Judgement::Pass && said.on == now);
        let passes = |ran: &Shown| ran.result == Judgement::Pass && ran.on.tree == now.tree;
        is_judged && (row.command.is_none() || row.ran.as_ref().is_some_and(passes))
    };
    let named = asked.options.iter().flat_map(|option| &option.waives);
    let mut rows = named.filter_map(|name| run.criterion(name));
    rows.find(|row| holds(row)).map(|row| format!("a person is asked to waive {}, which holds", row.id))
}

/// What is waived was offered with the option that a person took, and is of the subject that it was offered for.
fn against_waiver(run: &Run, granted: &WaiverGranted, by_person: bool) -> Option<String> {
    if !by_person {
        return Some("something is waived by no person".to_owned());
    }
    let decision = run.decisions.get(&granted.decision)?;
    let taken = decision.end.as_ref().and_then(|end| end.option.clone());
    let offered = decision.asked.options.iter().find(|option| Some(&option.id) == taken.as_ref());
    let offered = offered.map(|option| option.waives.as_slice()).unwrap_or_default();
    let findings = granted.findings.iter().map(|id| Name::from(id.to_string()));
    let roles = granted.judgements.iter().map(|role| Name::from(format!("the judgement of {role}")));
    let rows = granted.criteria.iter().chain(&granted.requirements).chain(&granted.commands).cloned();
    if let Some(name) = findings.chain(roles).chain(rows).find(|name| !offered.contains(name)) {
        return Some(format!("{name} is waived, and was not offered"));
    }
    let unit = decision.asked.unit.as_ref()?;
    let of_others = |id: &&FindingId| {
        let units = run.ledger.findings.get(*id).map(|known| known.about.units.as_slice()).unwrap_or_default();
        units.iter().any(|name| name != unit)
    };
    let id = granted.findings.iter().find(of_others)?;
    Some(format!("{id} is waived for `{unit}`, and is not its alone"))
}

/// A judge does not accept over a word that was measured otherwise. A person, who is asked, does.
fn against_move(run: &Run, moved: &FlowMoved) -> Option<String> {
    let accepts = matches!(moved.outcome, Outcome::Verdict(Verdict::Accept | Verdict::AcceptWithNotes));
    let instance = run.instances.get(&moved.instance).filter(|_| accepts)?;
    let stage = run.stage(instance, &moved.stage)?;
    if !matches!(stage.kind, Kind::Dispatch { .. }) || matches!(instance.at, At::Waiting { .. }) {
        return None;
    }
    let unit: Option<&UnitId> = instance.unit.as_ref();
    let mut claims = run.ledger.findings.iter().filter(|(_, known)| {
        let about = &known.about;
        about.of.is_some() && unit.is_none_or(|unit| about.units.contains(unit)) && !known.status_in(unit).is_closed()
    });
    let (id, _) = claims.next()?;
    Some(format!("`{}` accepts over {id}, which was measured", moved.stage))
}
