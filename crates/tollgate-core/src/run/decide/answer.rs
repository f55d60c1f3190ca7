//! Answering: what an answer carries, what it must establish, and where it leads.

use std::collections::BTreeMap;

use super::super::event::{
    Asked, By, ByKind, DecisionEnd, DecisionEnded, DecisionRefused, FindingStatus, JudgementEnded, Origin,
    RequirementsDisposed, ScopeWidened, TreeChanged, VariableGiven, WaiverGranted,
};
use super::super::gate::{self, Status};
use super::super::state::{Decision, Ledger, keyed};
use super::answer_instead::{by_number, other_answer};
use super::draft::Draft;
use super::waive::Waivers;
use super::{Answer, Rejection};
use crate::Name;
use crate::id::{DecisionId, GateId, InstanceId, StageId, UnitId};
use crate::protocol::model::{Ensures, Kind, Resource, Route, Stage, Target};
use crate::protocol::{Outcome, Protocol};
use crate::report::{Disposition, Plan, Verdict};
use crate::scope::Content;

/// How many requirements are named where one is meant that there is not.
const REQUIREMENTS_NAMED_MAX: usize = 10;

impl Draft {
    /// A person answers.
    pub fn answer(&mut self, id: DecisionId, answer: Answer) -> Result<(), Rejection> {
        self.needs_person()?;
        let by = self.by.clone();
        let known = self.run.decisions.get(&id);
        let option = answer.option.clone().or_else(|| known?.strictest(&answer.answers).cloned());
        let is_answer = answer.instead.is_none();
        match self.attempt(|draft| draft.answer_by(id, answer, &by, false)) {
            Err(short @ Rejection::NotEstablished { .. }) => self.ask_anew(id, option.as_ref()).ok_or(short),
            Err(invalid) if is_answer && invalid.is_of_answer() => self.count_invalid(id, option, invalid),
            answered => answered,
        }
    }

    pub fn answer_by(&mut self, id: DecisionId, answer: Answer, by: &By, in_advance: bool) -> Result<(), Rejection> {
        let Some(decision) = self.run.decisions.get(&id).cloned() else { return Err(Rejection::NoDecision(id)) };
        if decision.end.is_none() && decision.is_of_intake() {
            return self.answer_intake(id, &decision, answer, by);
        }
        let numbered = by_number(id, &decision, &answer)?;
        let answer = Answer { answers: numbered, ..answer };
        if decision.end.is_none() && (answer.instead.is_some() || !answer.answers.is_empty()) {
            return self.answer_otherwise(id, &decision, answer, by);
        }
        if let Some(ended) = &decision.end {
            return self.answer_again(id, &decision, ended.option.as_ref(), &answer);
        }
        if decision.is_answered_one_by_one() {
            return self.answer_rest(id, &decision, answer, by);
        }
        self.answer_whole(id, &decision, answer, by, in_advance)
    }

    /// One answer to all that a decision asks.
    pub(super) fn answer_whole(
        &mut self,
        id: DecisionId,
        decision: &Decision,
        answer: Answer,
        by: &By,
        in_advance: bool,
    ) -> Result<(), Rejection> {
        let offered: Vec<Name> = decision.asked.options.iter().map(|option| option.id.clone()).collect();
        match &answer.option {
            Some(_) if offered.is_empty() => return Err(Rejection::TextNeeded(id)),
            Some(option) if !offered.contains(option) => {
                return Err(Rejection::NotOffered { decision: id, option: option.clone(), offered });
            }
            None if !offered.is_empty() => {
                return Err(Rejection::NotOffered { decision: id, option: answer.text.trim().into(), offered });
            }
            None if answer.text.trim().is_empty() => return Err(Rejection::TextNeeded(id)),
            Some(_) | None => {}
        }
        if let Some(over) = decision.asked.budget.clone() {
            return self.answer_budget(id, decision, over, &answer, by);
        }
        if decision.is_of_empty_change() {
            return self.answer_empty(id, decision, &answer, by);
        }
        if decision.is_of_findings() {
            return self.answer_findings(id, decision, &answer, by);
        }
        if let Some(permission) = decision.permission() {
            return self.answer_permission(id, permission, &answer, by);
        }
        let protocol = self.protocol.clone();
        let asked = &decision.asked;
        let ends = |option: Option<Name>, text: String| DecisionEnded {
            decision: id,
            end: DecisionEnd::Answered,
            option,
            text,
            in_advance,
        };
        if !asked.blocking {
            self.emit_by(by.clone(), ends(None, answer.text));
            return Ok(());
        }
        let origin = self.asked_at(&protocol, asked)?;
        let shared = protocol.ask(&asked.ask);
        let stage = shared.unwrap_or(origin);
        let outcome = answer.option.as_deref().map_or(Outcome::Answered, Outcome::from);
        let Some(route) = protocol.route(stage, &outcome).map(|(rule, _)| rule.route.clone()) else {
            return Err(Rejection::NotOffered { decision: id, option: outcome.word().into(), offered });
        };
        self.emit_by(by.clone(), ends(answer.option.clone(), answer.text.clone()));
        self.amend(id, &asked.instance, asked.unit.as_ref(), &asked.paths, &route, &answer, by)?;
        // Whoever answers in advance has seen nothing of it.
        let mut shown = asked.options.iter().filter(|_| !in_advance);
        let waives = shown.find(|offered| Some(&offered.id) == answer.option.as_ref());
        let waives = waives.map(|offered| offered.waives.as_slice()).unwrap_or_default();
        self.establish(id, &asked.instance, Some(origin), (&route, waives), by)?;
        if let (Some(option), Some(name)) = (&answer.option, stage.gives.first()) {
            self.emit_by(by.clone(), VariableGiven { name: (&**name).into(), value: option.clone() });
        }
        if shared.is_some() {
            self.end_noted(id, asked.unit.as_ref(), origin, &asked.origin, &route.to);
        } else {
            self.end_noted_before(id, asked, stage, &route);
        }
        if shared.is_some() {
            self.follow(&asked.instance, origin, &asked.origin, Some(id), &route.to, by.kind == ByKind::Person);
        } else {
            self.route(&asked.instance, stage, &outcome);
        }
        Ok(())
    }

    /// The stage at which something was asked.
    pub(super) fn asked_at<'p>(&self, protocol: &'p Protocol, asked: &Asked) -> Result<&'p Stage, Rejection> {
        let known = self.instance(&asked.instance);
        let stage = known.and_then(|known| Self::stage_of(protocol, &known, &asked.origin.stage));
        stage.ok_or_else(|| Rejection::NotInProtocol { what: "stage", name: (&*asked.origin.stage).into() })
    }

    /// Ends a question that the kernel asks by itself. Its answer is about `what`, and brings nothing.
    pub(super) fn end_own(
        &mut self,
        decision: DecisionId,
        answer: &Answer,
        by: &By,
        what: &'static str,
    ) -> Result<(), Rejection> {
        let brings = answer.content.is_some() || !answer.scope.is_empty() || !answer.dispositions.is_empty();
        if brings || answer.plan != Plan::default() {
            return Err(Rejection::NotAllowed { decision, what });
        }
        let (end, option, text) = (DecisionEnd::Answered, answer.option.clone(), answer.text.clone());
        self.emit_by(by.clone(), DecisionEnded { decision, end, option, text, in_advance: false });
        Ok(())
    }

    /// An acceptance whose notes are to be fixed accepts no more: who gave it looks at the work again, whatever changed.
    fn end_noted(&mut self, decision: DecisionId, unit: Option<&UnitId>, stage: &Stage, origin: &Origin, to: &Target) {
        let (Kind::Dispatch { role }, Target::As(outcome)) = (&stage.kind, to) else { return };
        let outcome = self.stands_for(stage, outcome);
        let is_rejected = outcome == Some(Outcome::Verdict(Verdict::Reject));
        if !is_rejected || origin.outcome != Some(Outcome::Verdict(Verdict::AcceptWithNotes)) {
            return;
        }
        let judged = self.run.ledger.judgements.get(&keyed(role, unit));
        if let Some(attempt) = judged.and_then(|judged| judged.attempt) {
            self.emit(JudgementEnded { attempt, decision: Some(decision) });
        }
    }

    /// The same where a stage asks: an answer that establishes nothing and sends the work to somebody who writes, elsewhere than an
    /// acceptance would, ends the last acceptance with notes that leads to the question.
    fn end_noted_before(&mut self, decision: DecisionId, asked: &Asked, stage: &Stage, route: &Route) {
        let protocol = self.protocol.clone();
        let (Some(instance), Target::Stage(to)) = (self.instance(&asked.instance), &route.to) else { return };
        let writes = |stage: &Stage| match &stage.kind {
            Kind::Dispatch { role } => protocol.roles.get(role).is_some_and(|role| !role.writes.is_empty()),
            Kind::Ask(_) | Kind::Check { .. } | Kind::Each(_) | Kind::Land(_) => false,
        };
        let Some(next) = Self::stage_of(&protocol, &instance, to).filter(|next| writes(next)) else { return };
        let stages = protocol.flow(&instance.flow).map(|flow| flow.stages.as_slice()).unwrap_or_default();
        let leads = |from: &Stage, verdict, to: &StageId| {
            let found = protocol.route(from, &Outcome::Verdict(verdict));
            found.is_some_and(|(rule, _)| matches!(&rule.route.to, Target::Stage(known) if known == to))
        };
        let noted = stages
            .iter()
            .filter(|from| leads(from, Verdict::AcceptWithNotes, &stage.id) && !leads(from, Verdict::Accept, &next.id));
        let judged = noted.filter_map(|from| match &from.kind {
            Kind::Dispatch { role } => self.run.ledger.judgements.get(&keyed(role, asked.unit.as_ref())),
            Kind::Ask(_) | Kind::Check { .. } | Kind::Each(_) | Kind::Land(_) => None,
        });
        let last = judged.max_by_key(|judged| judged.seq);
        let last = last.filter(|judged| judged.verdict == Verdict::AcceptWithNotes);
        if let Some(attempt) = last.and_then(|judged| judged.attempt).filter(|_| route.ensures == Ensures::Nothing) {
            self.emit(JudgementEnded { attempt, decision: Some(decision) });
        }
    }

    /// Goes on from a decision that has ended, by the route of what came of it.
    pub(super) fn go_on_from(
        &mut self,
        id: DecisionId,
        decision: &Decision,
        outcome: &Outcome,
        by: &By,
    ) -> Result<(), Rejection> {
        let protocol = self.protocol.clone();
        let asked = &decision.asked;
        let origin = self.asked_at(&protocol, asked)?;
        let shared = protocol.ask(&asked.ask);
        let stage = shared.unwrap_or(origin);
        let Some(to) = protocol.route(stage, outcome).map(|(rule, _)| rule.route.to.clone()) else {
            let what = format!("one of its answers: nothing says what happens when it is {}", outcome.word());
            return Err(Rejection::Incomplete { decision: id, what });
        };
        if shared.is_some() {
            self.follow(&asked.instance, origin, &asked.origin, Some(id), &to, by.kind == ByKind::Person);
        } else {
            self.route(&asked.instance, stage, outcome);
        }
        Ok(())
    }

    /// The same answer again changes nothing; another one is refused and recorded.
    fn answer_again(
        &mut self,
        id: DecisionId,
        decision: &Decision,
        held: Option<&Name>,
        answer: &Answer,
    ) -> Result<(), Rejection> {
        let ended = decision.end.as_ref();
        if ended.is_some_and(|ended| ended.end != DecisionEnd::Answered) {
            return Err(Rejection::AlreadyEnded(id));
        }
        let other = answer.answers.iter().find_map(|(number, text)| other_answer(id, decision, *number, text.trim()));
        let each = held.is_some() && answer.option.is_none() && !answer.answers.is_empty();
        let same = each
            || held == answer.option.as_ref()
                && (held.is_some() || ended.is_some_and(|ended| ended.text.trim() == answer.text.trim()));
        if same && other.is_none() {
            return Ok(());
        }
        let text = ended.and_then(|ended| ended.text.lines().next()).unwrap_or_default();
        let held = held.cloned().unwrap_or_else(|| text.chars().take(60).collect::<String>().into());
        let rejection = other.unwrap_or(Rejection::AlreadyAnswered { decision: id, held });
        self.emit(DecisionRefused {
            decision: id,
            option: answer.option.clone().unwrap_or_else(|| "a text".into()),
            why: rejection.to_string(),
        });
        self.refusal = Some(rejection);
        Ok(())
    }

    /// Carries out what an answer amends, as far as its option allows it.
    #[expect(clippy::too_many_arguments, reason = "one answer, with all that it is about")]
    fn amend(
        &mut self,
        id: DecisionId,
        instance: &InstanceId,
        unit: Option<&UnitId>,
        paths: &[Name],
        route: &Route,
        answer: &Answer,
        by: &By,
    ) -> Result<(), Rejection> {
        let amends = |what| route.amends.contains(&what);
        let amends_areas = route.amends.iter().any(|name| self.protocol.lies_in_tree(name));
        let not_allowed = |what| Err(Rejection::NotAllowed { decision: id, what });
        if !answer.dispositions.is_empty() {
            if !amends(Resource::Requirements) {
                return not_allowed("requirements");
            }
            if let Some(what) = indisposable(&answer.dispositions, &self.run.ledger) {
                return Err(Rejection::Incomplete { decision: id, what });
            }
            let dispositions = answer.dispositions.clone();
            self.emit_by(by.clone(), RequirementsDisposed { dispositions, decision: id });
        }
        if !answer.scope.is_empty() && !amends(Resource::Scope) {
            return not_allowed("the scope");
        }
        if let Some((pattern, problem)) =
            answer.scope.iter().find_map(|p| crate::scope::pattern_problem(p).map(|why| (p, why)))
        {
            let unit = unit.cloned().unwrap_or_else(|| "run".into());
            return Err(Rejection::Scope {
                unit,
                why: format!("would have the pattern `{}`, which {problem}", pattern.escape_debug()),
            });
        }
        if amends(Resource::Scope) {
            // What was asked about is widened by exactly those paths, whatever stands in their names.
            let asked = || paths.iter().map(|path| crate::scope::literal(path)).collect();
            let widened = if answer.scope.is_empty() { asked() } else { answer.scope.clone() };
            if !widened.is_empty() {
                let event = ScopeWidened { unit: unit.cloned(), paths: widened, decision: id };
                self.emit_by(by.clone(), event);
            }
        }
        let plan_is_empty = answer.plan == crate::report::Plan::default();
        if !plan_is_empty {
            if !(amends(Resource::Criteria) || amends(Resource::Units) || amends(Resource::Requirements)) {
                return not_allowed("rows");
            }
            if let Some(what) = super::plan::problem(&answer.plan, &self.run) {
                return Err(Rejection::Incomplete { decision: id, what });
            }
            self.planned(&answer.plan, &id.to_string());
        }
        match (&answer.content, amends_areas) {
            (Some(_), false) => return not_allowed("the work tree"),
            (_, true) if self.tree_is_busy(unit, true) => {
                let what =
                    "a work tree in which no worker is at work; wait until they are done, and answer again".to_owned();
                return Err(Rejection::NotNow { decision: id, what });
            }
            (None, true) => {
                return Err(Rejection::NotNow { decision: id, what: "the measured work tree".to_owned() });
            }
            (Some(_), true) if answer.start.as_ref().is_some_and(|start| start != self.run.tree_of(unit)) => {
                let what = "the work tree as it is now, which has changed since; answer again".to_owned();
                return Err(Rejection::NotNow { decision: id, what });
            }
            (Some(content), true) => {
                let beside = self.changed_beside(unit, route, content);
                if !beside.is_empty() {
                    let (asked, named) = (route.amends.join("`, `"), beside.join("`, `"));
                    let what = format!(
                        "a change to `{asked}` alone; take back what you changed in `{named}`, and answer again"
                    );
                    return Err(Rejection::Incomplete { decision: id, what });
                }
                let deleted = answer.deleted.clone();
                let how =
                    if content.tree == *self.run.tree_of(unit) { "given back as it was" } else { "edited by hand" };
                let event = TreeChanged { unit: unit.cloned(), content: content.clone(), decision: id, deleted };
                self.emit_by(by.clone(), event);
                let open = self.findings(unit, |finding| finding.status_for(unit) == FindingStatus::Open);
                self.address(open, unit, &format!("{how} ({id})"));
                self.lapse();
            }
            (None, false) => {}
        }
        let _ = instance;
        Ok(())
    }

    /// The areas that a change by hand touches, and its option does not amend: what was proved of the protocol holds for those
    /// it names. A document of the tree may lie in any.
    fn changed_beside(&self, unit: Option<&UnitId>, route: &Route, content: &Content) -> Vec<Name> {
        let amended = |area: &Name| route.amends.iter().any(|name| *name == Resource::Tree || **name == **area);
        let documents = route.amends.iter().any(|name| self.protocol.artifacts.contains_key(&**name));
        let before = self.run.contents.get(self.run.tree_of(unit)).filter(|_| !documents);
        let differs = |area: &&Name| before.is_some_and(|before| before.areas.get(*area) != content.areas.get(*area));
        content.areas.keys().filter(|area| !amended(area)).filter(differs).cloned().collect()
    }

    /// Grants the waivers an answer carries and refuses it unless what it must establish then holds. Nothing is waived that the
    /// question did not show. A default waives nothing and establishes nothing: it only routes.
    fn establish(
        &mut self,
        id: DecisionId,
        instance: &InstanceId,
        origin: Option<&Stage>,
        (route, shown): (&Route, &[Name]),
        by: &By,
    ) -> Result<(), Rejection> {
        let gates = self.ensured(origin, route);
        if by.kind != ByKind::Person {
            return Ok(());
        }
        let unit = self.unit_of(instance);
        let waivers = self.waivers(instance, origin, route);
        let waivers = waivers.held_to(shown);
        if !waivers.names().is_empty() {
            let Waivers { criteria, findings, requirements, commands, judgements, gives_up } = waivers;
            let event =
                WaiverGranted { decision: id, criteria, findings, requirements, commands, judgements, gives_up };
            self.emit_by(by.clone(), event);
        }
        let open: Vec<GateId> =
            gates.into_iter().filter(|gate| gate::status_of(&self.run, gate, unit.as_ref()) != Status::Holds).collect();
        if open.is_empty() { Ok(()) } else { Err(Rejection::NotEstablished { decision: id, gates: open }) }
    }

    /// Follows a target of a shared ask from its origin.
    pub(super) fn follow(
        &mut self,
        instance: &InstanceId,
        stage: &Stage,
        origin: &Origin,
        id: Option<DecisionId>,
        to: &Target,
        person: bool,
    ) {
        let came_of = origin.outcome.as_ref().unwrap_or(&Outcome::Answered);
        match (to, &origin.cut_off) {
            (Target::Back, Some(cut)) => {
                let to = match &cut.to {
                    Target::Again => Target::Stage(stage.id.clone()),
                    to @ (Target::Stage(_)
                    | Target::Ask(_)
                    | Target::Done
                    | Target::Reported
                    | Target::Dropped
                    | Target::Hold
                    | Target::Raise(_)
                    | Target::Back
                    | Target::Origin
                    | Target::As(_)) => to.clone(),
                };
                let renews = person.then(|| cut.rule.clone());
                self.come_back(instance, stage, came_of, id, to, renews);
            }
            (Target::Back | Target::Origin, _) => {
                self.come_back(instance, stage, came_of, id, Target::Stage(stage.id.clone()), None);
            }
            (Target::As(outcome), _) => {
                let outcome = self.stands_for(stage, outcome).unwrap_or_else(|| outcome.clone());
                self.route(instance, stage, &outcome);
            }
            (end, _) => self.come_back(instance, stage, came_of, id, end.clone(), None),
        }
    }
}

/// What dispositions lack that can be carried out: requirements that there are, and words that decide something.
fn indisposable(dispositions: &BTreeMap<Name, Disposition>, ledger: &Ledger) -> Option<String> {
    dispositions.iter().find_map(|(id, disposition)| {
        if !ledger.requirements.iter().any(|row| row.id == *id) {
            let known: Vec<&str> = ledger.requirements.iter().map(|row| &*row.id).collect();
            let first = known.iter().take(REQUIREMENTS_NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
            let more = known.len().saturating_sub(REQUIREMENTS_NAMED_MAX);
            return Some(match more {
                _ if known.is_empty() => format!("requirements that there are: there are none, and no `{id}`"),
                0 => format!("requirements that there are: there is no `{id}`, only {first}"),
                more => format!("requirements that there are: there is no `{id}`, only {first} and {more} more"),
            });
        }
        match disposition {
            Disposition::InScope | Disposition::Deferred | Disposition::OutOfScope | Disposition::NonMaterial => None,
            Disposition::Other(word) => {
                Some(format!("one of {} for `{id}`: `{word}` decides nothing", Disposition::WORDS.join(", ")))
            }
        }
    })
}
