//! Conditions, evaluated: four values, of which only one passes.

use super::super::event::{DecisionEnd, FindingStatus, UnitState};
use super::super::fan_out::is_left;
use super::super::finding::FindingState;
use super::super::state::{ArtifactState, At, Criterion, Instance, Judged, On, Requirement, Run, Unit, keyed};
use super::{
    CriterionState, Status, criterion, fresh, given, is_waived, measured, requirement_matches, row_matches, stands,
};
use crate::Name;
use crate::id::UnitId;
use crate::protocol::Condition;
use crate::protocol::condition::{Quantifier, SetKind};
use crate::protocol::model::{Class, Resource, Value};
use crate::report::{Disposition, Judgement, Verdict};

/// Gates do not call each other in circles; the checker proves it, and this is the belt to its braces.
const DEPTH_MAX: u8 = 16;

pub(super) struct Eval<'a> {
    pub run: &'a Run,
    pub unit: Option<&'a UnitId>,
    pub bound_to: &'a [Resource],
    pub depth: u8,
}

/// The last judgement of a role that counts for a subject: one of the whole run is one of its units too.
pub(in super::super) fn last_judgement<'a>(run: &'a Run, role: &str, unit: Option<&UnitId>) -> Option<&'a Judged> {
    let own = unit.and_then(|unit| run.ledger.judgements.get(&keyed(role, Some(unit))));
    let whole = run.ledger.judgements.get(&keyed(role, None));
    own.into_iter().chain(whole).max_by_key(|judged| judged.seq)
}

impl Eval<'_> {
    /// Whether a row or finding of this owner belongs to the subject: a unit's own; for the run all.
    pub(super) fn owns(&self, owner: Option<&UnitId>) -> bool {
        self.unit.is_none_or(|unit| owner == Some(unit))
    }

    /// Yes or no: what is stale or cannot be observed does not hold, and its opposite does. A gate is evaluated in four
    /// values; whether a stage is entered is not (`when: {not: {holds: reviewed}}` must not skip a stale review).
    pub(super) fn holds(&self, condition: &Condition) -> bool {
        if let Condition::All(parts) = condition {
            parts.iter().all(|part| self.holds(part))
        } else if let Condition::Any(parts) = condition {
            parts.iter().any(|part| self.holds(part))
        } else if let Condition::Not(part) = condition {
            !self.holds(part)
        } else {
            self.condition(condition) == Status::Holds
        }
    }

    pub(super) fn condition(&self, condition: &Condition) -> Status {
        match condition {
            Condition::All(parts) => parts.iter().map(|part| self.condition(part)).max().unwrap_or(Status::Holds),
            Condition::Any(parts) => parts.iter().map(|part| self.condition(part)).min().unwrap_or(Status::Fails),
            Condition::Not(part) => self.condition(part).not(),
            Condition::Var { name, values } => Status::of(match self.run.vars.get(name) {
                Some(Value::Text(value)) => values.contains(value),
                Some(Value::Int(_) | Value::List(_)) | None => false,
            }),
            Condition::It { attr, values } => Status::of(self.it(attr, values)),
            Condition::Holds(_) if self.depth >= DEPTH_MAX => Status::Fails,
            Condition::Holds(gate) => self.run.protocol.gates.get(gate).map_or(Status::Fails, |gate| {
                Eval { bound_to: &gate.bound_to, depth: self.depth + 1, ..*self }.condition(&gate.holds)
            }),
            Condition::Judged(role) => self.judged(role),
            Condition::Answer { ask, options, by_anyone } => self.answer(ask, options, *by_anyone),
            Condition::Command { name, .. } => self.command(name),
            Condition::Artifact { name, with } => {
                let says = |artifact: &ArtifactState| {
                    with.iter().all(|(field, value)| artifact.fields.get(field) == Some(value))
                };
                match given(self.run, name, self.unit) {
                    Some(same) if self.run.artifacts.get(name).is_some_and(says) => Status::if_fresh(same),
                    Some(_) | None => Status::Fails,
                }
            }
            Condition::Set { quantifier, set, filter, is, has } => self.set(*quantifier, *set, filter, is, has),
            Condition::Count { set, at_least } => {
                Status::of(u32::try_from(self.members(*set, &[]).len()).unwrap_or(u32::MAX) >= *at_least)
            }
        }
    }

    fn it(&self, attr: &str, values: &[Name]) -> bool {
        let has = |unit: &Unit| match attr {
            "state" => values.iter().any(|value| &**value == unit_word(self.run, unit)),
            _ => unit.attrs.get(attr).is_some_and(|set| set.iter().any(|value| values.contains(value))),
        };
        match self.unit {
            Some(name) => self.run.unit(name).is_some_and(has),
            // The run's attribute is the union of its units'.
            None => attr != "state" && self.run.ledger.units.iter().any(has),
        }
    }

    fn judged(&self, role: &str) -> Status {
        let Some(judged) = last_judgement(self.run, role, self.unit) else { return Status::Fails };
        match judged.verdict {
            // Whoever was sent to fix what it notes ends it: what they say they fixed has to be looked at again.
            Verdict::AcceptWithNotes if self.notes_are_fixed(judged) => Status::Stale,
            Verdict::Accept | Verdict::AcceptWithNotes => self.if_fresh(&judged.on),
            Verdict::Reject if self.all_waived(judged) => self.if_fresh(&judged.on),
            Verdict::Reject | Verdict::None | Verdict::Inconclusive => Status::Fails,
        }
    }

    fn notes_are_fixed(&self, judged: &Judged) -> bool {
        let mut notes = judged.findings.iter().filter_map(|id| self.run.ledger.findings.get(id));
        notes.any(|note| note.status_for(self.unit) == FindingStatus::Addressed)
    }

    fn all_waived(&self, judged: &Judged) -> bool {
        let ledger = &self.run.ledger;
        let finding = |id| ledger.findings.get(id).is_some_and(|f| f.status_in(self.unit) == FindingStatus::Waived);
        let row =
            |id: &Name| self.run.criterion(id).is_some_and(|row| is_waived(self.run, row, self.bound_to, self.unit));
        !(judged.findings.is_empty() && judged.failed.is_empty())
            && judged.findings.iter().all(finding)
            && judged.failed.iter().all(row)
    }

    fn answer(&self, ask: &str, options: &[Name], by_anyone: bool) -> Status {
        let answers = &self.run.ledger.answers;
        let own = self.unit.and_then(|unit| answers.get(&keyed(ask, Some(unit))));
        let Some(answered) = own.into_iter().chain(answers.get(&keyed(ask, None))).max_by_key(|answered| answered.seq)
        else {
            return Status::Fails;
        };
        if options.contains(&answered.option) && (by_anyone || answered.by_person) {
            self.if_fresh(&answered.on)
        } else {
            Status::Fails
        }
    }

    fn command(&self, name: &str) -> Status {
        let key = keyed(name, self.unit);
        // A waiver is of content: when that changed, what was observed since counts.
        if self.run.ledger.waived_commands.get(&key).is_some_and(|on| self.if_fresh(on) == Status::Holds) {
            return Status::Holds;
        }
        let Some(shown) = self.run.ledger.commands.get(&key) else { return Status::Unobservable };
        match shown.result {
            Judgement::Pass => Status::if_fresh(measured(self.run, &shown.on, self.bound_to, self.unit)),
            Judgement::Fail => Status::Fails,
            Judgement::Unobservable => Status::Unobservable,
        }
    }

    fn if_fresh(&self, on: &On) -> Status {
        Status::if_fresh(fresh(self.run, on, self.bound_to, self.unit))
    }

    fn set(
        &self,
        quantifier: Quantifier,
        set: SetKind,
        filter: &[(Name, Vec<Name>)],
        is: &[Name],
        has: &[Name],
    ) -> Status {
        let mut members = self.members(set, filter);
        let suits = |member: &Member<'_>| {
            let state = is.is_empty() || is.iter().any(|word| &**word == member.word);
            state && has.iter().all(|part| member.parts.iter().any(|p| *p == &**part))
        };
        // Who takes what is in scope does not ask whether it is met.
        let met_or_not = set == SetKind::Requirement && is.iter().any(|word| **word == *"in_scope");
        if !met_or_not && is.iter().any(|word| **word == *"met") {
            members.retain(|member| !member.is_of_others);
        }
        // How a member stands matters only where it is asked for; then what was shown of other content is not known of this.
        let suits = |member: &Member<'_>| match suits(member) {
            _ if !is.is_empty() && !member.fresh && !met_or_not => Status::Stale,
            false if !is.is_empty() && !member.observable => Status::Unobservable,
            truth => Status::of(truth),
        };
        let each = members.iter().map(suits);
        match quantifier {
            Quantifier::Every => each.max().unwrap_or(Status::Holds),
            Quantifier::None => each.map(Status::not).max().unwrap_or(Status::Holds),
            Quantifier::Some => each.min().unwrap_or(Status::Fails),
        }
    }

    fn members(&self, set: SetKind, filter: &[(Name, Vec<Name>)]) -> Vec<Member<'_>> {
        let passes = |key: &str, value: Option<&str>| {
            filter
                .iter()
                .filter(|(wanted, _)| &**wanted == key)
                .all(|(_, values)| value.is_some_and(|value| values.iter().any(|v| &**v == value)))
        };
        let run = self.run;
        match set {
            SetKind::Criterion | SetKind::Command => run
                .ledger
                .criteria
                .iter()
                .filter(|row| self.owns(row.unit.as_ref()) && row_matches(row, filter))
                .filter(|row| set == SetKind::Criterion || row.command.is_some())
                .map(|row| {
                    let (state, fresh) = stands(run, row, set, self.bound_to, self.unit);
                    let observable = state != CriterionState::Unobservable;
                    Member { fresh, observable, ..Member::plain(state.word()) }
                })
                .collect(),
            SetKind::Finding => run
                .ledger
                .findings
                .values()
                .filter(|finding| self.concerns(finding))
                .filter(|finding| passes("severity", finding.about.severity.as_deref()))
                .filter(|finding| passes("category", finding.about.category.as_deref()))
                .map(|finding| Member::plain(finding.status_for(self.unit).word()))
                .collect(),
            SetKind::Requirement => run
                .ledger
                .requirements
                .iter()
                .filter(|row| self.unit.and_then(|u| run.unit(u)).is_none_or(|u| u.requirements.contains(&row.id)))
                .filter(|row| requirement_matches(row, filter))
                .map(|row| self.requirement(row))
                .collect(),
            SetKind::Unit => run
                .ledger
                .units
                .iter()
                .filter(|unit| unit.retired.is_none() && self.unit.is_none_or(|name| unit.name == *name))
                .filter(|unit| has_attrs(unit, filter))
                .map(|unit| Member { parts: unit_parts(run, unit), ..Member::plain(unit_word(run, unit)) })
                .collect(),
            SetKind::Decision => run
                .decisions
                .values()
                .filter(|decision| !decision.is_of_landing() && !decision.is_replaced())
                .filter(|decision| self.owns(decision.asked.unit.as_ref()))
                .filter(|decision| passes("class", Some(decision.asked.class.word())))
                .map(|decision| Member::plain(decision_word(decision.end.as_ref().map(|end| end.end))))
                .collect(),
            SetKind::Question => run
                .decisions
                .values()
                .filter(|decision| decision.asked.class == Class::Clarification && !decision.is_replaced())
                .filter(|decision| self.owns(decision.asked.unit.as_ref()))
                .filter(|decision| passes("blocking", Some(if decision.asked.blocking { "true" } else { "false" })))
                .map(|decision| Member::plain(if decision.end.is_none() { "open" } else { "answered" }))
                .collect(),
            SetKind::Notice => run
                .ledger
                .notices
                .iter()
                .filter(|row| self.owns(row.unit.as_ref()) && passes("kind", Some(&row.notice.kind)))
                .map(|row| Member { parts: row.parts(), ..Member::plain("open") })
                .collect(),
        }
    }

    /// A requirement is met when it has criteria and each is passed or waived. What they showed of other content is not known of
    /// this, and what cannot be observed does not fail. A unit is asked for its own criteria; without any, for the run's. What only
    /// other units show, they are asked for.
    fn requirement<'r>(&self, row: &'r Requirement) -> Member<'r> {
        let (word, parts) = (decided(row), requirement_parts(self.run, &row.id));
        let all = || self.run.ledger.criteria.iter().filter(|known| known.requirement.as_ref() == Some(&row.id));
        let own: Vec<&Criterion> = all().filter(|known| self.owns(known.unit.as_ref())).collect();
        let of_run = || all().filter(|known| known.unit.is_none()).collect();
        let rows: Vec<&Criterion> = if own.is_empty() { of_run() } else { own };
        let is_of_others = rows.is_empty() && all().next().is_some();
        let state = |known| criterion(self.run, known, self.bound_to, self.unit);
        let states: Vec<(CriterionState, bool)> = rows.into_iter().map(state).collect();
        let settled = |state: &CriterionState| matches!(state, CriterionState::Passed | CriterionState::Waived);
        if row.disposition != Some(Disposition::InScope) || row.waived.is_some() || states.is_empty() {
            let is_of_others = is_of_others && word == "in_scope";
            return Member { is_of_others, parts, ..Member::plain(word) };
        }
        if states.iter().all(|(state, _)| settled(state)) {
            return Member { fresh: states.iter().all(|(_, fresh)| *fresh), parts, ..Member::plain("met") };
        }
        let unsettled = states.iter().filter(|(state, _)| !settled(state));
        let observable = !unsettled.clone().all(|(state, _)| *state == CriterionState::Unobservable);
        Member { observable, parts, ..Member::plain(word) }
    }

    fn concerns(&self, finding: &FindingState) -> bool {
        self.unit.is_none_or(|unit| finding.about.units.contains(unit))
    }
}

pub(super) struct Member<'a> {
    word: &'a str,
    fresh: bool,
    /// Whether it could be looked at here.
    observable: bool,
    /// Whether it is a requirement that only rows of other units show.
    is_of_others: bool,
    parts: Vec<&'static str>,
}

impl<'a> Member<'a> {
    const fn plain(word: &'a str) -> Self {
        Self { word, fresh: true, observable: true, is_of_others: false, parts: Vec::new() }
    }
}

/// A requirement is what was decided of it, until it is waived or its rows show that it is met.
fn decided(row: &Requirement) -> &str {
    match &row.disposition {
        _ if row.waived.is_some() => "waived",
        None if row.proposed.is_some() => "proposed",
        Some(Disposition::Other(_)) | None => "undecided",
        Some(decided) => decided,
    }
}

/// Who owns a requirement: units that serve it, criteria that show it.
pub fn requirement_parts(run: &Run, id: &Name) -> Vec<&'static str> {
    let stands = |unit: &Unit| unit.state != UnitState::Dropped && !is_left(run, unit);
    let unit = run.ledger.units.iter().any(|unit| unit.requirements.contains(id) && stands(unit));
    let given_up = |row: &Criterion| {
        row.unit.as_ref().and_then(|unit| run.unit(unit)).is_some_and(|unit| unit.state == UnitState::Dropped)
    };
    let criterion = run.ledger.criteria.iter().any(|row| row.requirement.as_ref() == Some(id) && !given_up(row));
    [(unit, "unit"), (criterion, "criterion")].into_iter().filter_map(|(is, part)| is.then_some(part)).collect()
}

/// The state of a unit as conditions name it: one whose flow is held is `held`, whatever it was before.
pub fn unit_word(run: &Run, unit: &Unit) -> &'static str {
    let own = || run.instances.values().filter(|instance| instance.unit.as_ref() == Some(&unit.name));
    // Where the run went another way with it, the flow that was left does not count.
    let latest = own().map(|instance| begun(run, instance)).max();
    let is_held = |instance: &Instance| matches!(instance.at, At::Held { .. }) && Some(begun(run, instance)) == latest;
    if own().any(|instance| is_held(instance)) { "held" } else { unit.state.word() }
}

/// The event with which the flow of a unit was started that an instance belongs to.
fn begun(run: &Run, instance: &Instance) -> u64 {
    let parent = instance.parent.as_ref().and_then(|parent| run.instances.get(parent));
    parent.filter(|parent| parent.unit == instance.unit).map_or(instance.started, |parent| begun(run, parent))
}

/// Whether a unit has one of the values of every attribute that is asked for.
fn has_attrs(unit: &Unit, filter: &[(Name, Vec<Name>)]) -> bool {
    let has = |attr: &Name, values: &[Name]| {
        unit.attrs.get(attr).is_some_and(|own| own.iter().any(|value| values.contains(value)))
    };
    filter.iter().all(|(attr, values)| has(attr, values))
}

pub(super) fn unit_parts(run: &Run, unit: &Unit) -> Vec<&'static str> {
    let criteria = run.ledger.criteria.iter().any(|row| row.unit.as_ref() == Some(&unit.name));
    let parts = [
        (!unit.title.is_empty(), "objective"),
        (!unit.requirements.is_empty(), "reference"),
        (!unit.scope.is_empty(), "scope"),
        (criteria, "criteria"),
        (!unit.attrs.is_empty(), "labels"),
    ];
    parts.into_iter().filter_map(|(is, part)| is.then_some(part)).collect()
}

pub(super) const fn decision_word(end: Option<DecisionEnd>) -> &'static str {
    match end {
        None => "pending",
        Some(DecisionEnd::Answered) => "answered",
        Some(DecisionEnd::Cancelled) => "cancelled",
        Some(DecisionEnd::Skipped) => "skipped",
        Some(DecisionEnd::Replaced) => "replaced",
    }
}
