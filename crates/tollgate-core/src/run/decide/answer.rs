//! Decisions: asking, answering, and what an answer carries.

use super::super::event::{
    Asked, By, ByKind, DecisionAsked, DecisionEnd, DecisionEnded, DecisionRefused, DefaultAnswer, FindingStatus,
    Offered, Origin, Recorded, RequirementsDisposed, ScopeWidened, TreeChanged, VariableGiven, WaiverGranted,
};
use super::super::evolve::evolve;
use super::super::gate::{self, CriterionState, Status};
use super::super::state::{Attempt, Decision};
use super::draft::Draft;
use super::{Answer, Rejection};
use crate::Name;
use crate::id::{DecisionId, FindingId};
use crate::protocol::condition::Condition;
use crate::protocol::graph;
use crate::protocol::model::{Ask, Class, Ensures, From, Kind, Route, Stage, Target};
use crate::report::Report;

/// What choosing an option waives: rows, findings, commands that cannot be observed.
#[derive(Default)]
struct Waivers {
    criteria: Vec<Name>,
    findings: Vec<FindingId>,
    commands: Vec<Name>,
}

impl Waivers {
    fn names(&self) -> Vec<Name> {
        let findings = self.findings.iter().map(|id| Name::from(id.to_string()));
        self.criteria.iter().cloned().chain(findings).chain(self.commands.iter().cloned()).collect()
    }
}

/// An outcome in words.
fn plain(outcome: &str) -> String {
    outcome.replace('_', " ")
}

impl Draft {
    /// Puts the question of a stage that is an ask.
    pub fn ask_here(&mut self, instance: &Name, stage: &Stage, origin: Origin) {
        let Kind::Ask(ask) = &stage.kind else { return };
        self.put(instance, stage, ask, origin);
    }

    /// Puts a shared question; the instance stays at the stage it came from.
    pub fn ask_shared(&mut self, instance: &Name, name: &Name, origin: Origin) {
        let protocol = self.protocol.clone();
        let unit = self.unit_of(instance);
        let Some(shared) = protocol.ask(name) else { return };
        let Kind::Ask(ask) = &shared.kind else { return };
        if let Some(when) = &shared.when
            && !gate::truth(&self.run, when, unit.as_ref())
        {
            let known = self.instance(instance);
            let stage = known.as_ref().and_then(|known| Self::stage_of(&protocol, known, &origin.stage));
            let skipped = shared.on.iter().find(|rule| &*rule.outcome == "skipped");
            if let (Some(stage), Some(rule)) = (stage, skipped) {
                self.follow(instance, stage, &origin, DecisionId(0), &rule.route.to, false);
            }
            return;
        }
        self.put(instance, shared, ask, origin);
    }

    fn put(&mut self, instance: &Name, stage: &Stage, ask: &Ask, origin: Origin) {
        let unit = self.unit_of(instance);
        let decision = DecisionId(self.run.next_decision);
        let options = self.offered(instance, stage, ask, &origin);
        let recommend = ask.recommend.iter().find(|(_, when)| gate::truth(&self.run, when, unit.as_ref()));
        let asked = Asked {
            instance: instance.clone(),
            ask: stage.id.clone(),
            class: ask.class,
            question: self.question(instance, ask),
            why: self.why(&origin),
            recommend: recommend.map(|(option, _)| option.clone()),
            default: ask
                .default
                .as_ref()
                .filter(|default| options.iter().any(|option| option.id == default.answer))
                // A timer has measured nothing.
                .filter(|default| !self.amends_areas(stage, &default.answer))
                .map(|default| DefaultAnswer { option: default.answer.clone(), at_ms: self.now_ms + default.after_ms }),
            options,
            unit: unit.clone(),
            blocking: true,
            shows: ask.shows.iter().filter_map(|name| self.run.artifacts.get(name)).map(|a| a.object).collect(),
            origin,
            tree: self.run.tree_of(unit.as_ref()).clone(),
            paths: self.paths(instance, ask),
        };
        self.emit(DecisionAsked { decision, asked });
        self.answer_in_advance(decision, stage);
    }

    /// Whether an option needs a measured work tree.
    fn amends_areas(&self, stage: &Stage, option: &Name) -> bool {
        let route = stage.on.iter().find(|rule| rule.outcome == *option).map(|rule| &rule.route);
        let is_area = |name: &Name| &**name == "tree" || self.run.areas.iter().any(|area| area.name == *name);
        route.is_some_and(|route| route.amends.iter().any(is_area))
    }

    /// An answer that a person gave with the run, before it was asked.
    fn answer_in_advance(&mut self, decision: DecisionId, stage: &Stage) {
        let Some(option) = self.run.opened.answers.get(&stage.id).cloned() else { return };
        // Once for each subject: a limit that an answer renews without anybody there would be none.
        let unit = self.run.decisions.get(&decision).and_then(|decision| decision.asked.unit.clone());
        let given = |known: &Decision| {
            known.asked.ask == stage.id
                && known.asked.unit == unit
                && known.end.as_ref().is_some_and(|end| end.in_advance)
        };
        if self.run.decisions.values().any(|known| given(known)) {
            return;
        }
        let by = By { kind: ByKind::Person, name: self.run.opened.person.clone() };
        let answer = Answer { option: Some(option), ..Answer::default() };
        // Given in advance it cannot carry a measurement: an option that needs one stays a question.
        let _ = self.attempt(|draft| draft.answer_by(decision, answer, &by, true));
    }

    fn question(&self, instance: &str, ask: &Ask) -> String {
        let mut parts: Vec<String> = ask.question.iter().cloned().collect();
        match ask.from {
            Some(From::Report) => {
                parts.extend(self.asked_by_report.iter().map(|question| question.text.clone()));
            }
            Some(From::Measure) => {
                let remarks = self.run.instances.get(instance).map(|known| known.remarks.join("\n"));
                parts.extend(remarks);
            }
            Some(From::Ledger) => parts.extend(self.open_rows(instance)),
            None => {}
        }
        parts.retain(|part| !part.is_empty());
        if parts.is_empty() && !self.reason.is_empty() {
            parts.push(self.reason.clone());
        }
        parts.join("\n")
    }

    /// Rows, findings and requirements of a subject that are not settled, a line each.
    pub fn open_rows(&self, instance: &str) -> Vec<String> {
        let unit = self.unit_of(instance);
        let ledger = &self.run.ledger;
        let own = |owner: Option<&Name>| unit.as_ref().is_none_or(|unit| owner == Some(unit));
        let rows = ledger.criteria.iter().filter(|row| own(row.unit.as_ref())).filter_map(|row| {
            let (state, _) = gate::criterion(&self.run, row, &[], unit.as_ref());
            let settled = matches!(state, CriterionState::Passed | CriterionState::Waived);
            (!settled).then(|| format!("{} is {}: {}", row.id, state.word(), row.text))
        });
        let requirements = ledger.requirements.iter().filter(|row| row.disposition.is_none() && row.waived.is_none());
        let open = self.findings(unit.as_ref(), |finding| !finding.status.is_closed());
        let findings = open.iter().filter_map(|id| ledger.findings.get(id).map(|f| format!("{id}: {}", f.about.what)));
        rows.chain(requirements.map(|row| format!("{} is undecided: {}", row.id, row.text))).chain(findings).collect()
    }

    fn why(&self, origin: &Origin) -> String {
        let reason = if self.reason.is_empty() { String::new() } else { format!(": {}", self.reason) };
        match (&origin.cut_off, &*origin.outcome) {
            (Some(_), outcome) => format!("`{}` came out as {} too often{reason}", origin.stage, plain(outcome)),
            (None, "") => String::new(),
            (None, outcome) => format!("`{}` came out as {}{reason}", origin.stage, plain(outcome)),
        }
    }

    fn paths(&self, instance: &str, ask: &Ask) -> Vec<Name> {
        let measured = ask.from == Some(From::Measure);
        let remarks = self.run.instances.get(instance).filter(|_| measured).map(|known| known.remarks.clone());
        remarks.unwrap_or_default().into_iter().map(Name::from).collect()
    }

    /// The options that lead somewhere from this origin. Facts are not waived.
    fn offered(&self, instance: &str, stage: &Stage, ask: &Ask, origin: &Origin) -> Vec<Offered> {
        let shared = self.protocol.ask(&stage.id).is_some_and(|ask| std::ptr::eq(ask, stage));
        let known = self.instance(instance);
        let from = known.as_ref().and_then(|known| Self::stage_of(&self.protocol, known, &origin.stage));
        let possible = |option: &Name| {
            let route = stage.on.iter().find(|rule| rule.outcome == *option).map(|rule| &rule.route);
            match (route.map(|route| &route.to), from) {
                (Some(Target::As(outcome)), Some(from)) if shared => self.stands_for(from, outcome).is_some(),
                (Some(_), _) => true,
                (None, _) => false,
            }
        };
        let bears = |option: &Name| {
            let route = stage.on.iter().find(|rule| rule.outcome == *option).map(|rule| &rule.route);
            route.is_none_or(|route| self.could_establish(instance, from, route))
        };
        ask.options
            .iter()
            .filter(|(id, _)| possible(id) && bears(id))
            .map(|(id, consequence)| {
                let route = stage.on.iter().find(|rule| rule.outcome == *id).map(|rule| &rule.route);
                let waives = route.map(|route| self.waivers(instance, from, route).names()).unwrap_or_default();
                Offered { id: id.clone(), consequence: consequence.clone(), waives }
            })
            .collect()
    }

    /// The outcome that `as x` stands for at an origin: what is offered is what was proved.
    fn stands_for(&self, origin: &Stage, outcome: &str) -> Option<Name> {
        graph::stands_for(&self.protocol, &graph::needed(&self.protocol), origin, outcome)
    }

    /// Whether what an option must establish would hold with what it waives. What rests on the answer itself is not known
    /// before it is given.
    fn could_establish(&self, instance: &str, from: Option<&Stage>, route: &Route) -> bool {
        let unit = self.unit_of(instance);
        let Waivers { criteria, findings, commands } = self.waivers(instance, from, route);
        if !commands.is_empty() {
            return true;
        }
        let mut trial = self.run.clone();
        let decision = DecisionId(0);
        let event = WaiverGranted { decision, criteria, findings, requirements: Vec::new(), commands };
        let seq = trial.seq + 1;
        let recorded =
            Recorded { run: trial.id, seq, at_ms: self.now_ms, epoch: trial.epoch, by: self.by.clone(), event: event.into() };
        evolve(&mut trial, &recorded);
        self.ensured(from, route).iter().all(|name| {
            let Some(gate) = self.protocol.gates.get(name) else { return false };
            let mut atoms = Vec::new();
            gate::leaves(&gate.holds, &mut atoms);
            atoms.iter().any(|atom| matches!(atom, Condition::Answer { .. }))
                || gate::status(&trial, gate, unit.as_ref()) == Status::Holds
        })
    }

    /// The gates an answer must establish.
    fn ensured(&self, from: Option<&Stage>, route: &Route) -> Vec<Name> {
        match (&route.ensures, from) {
            (Ensures::Nothing, _) | (Ensures::Origin, None) => Vec::new(),
            (Ensures::Gates(gates), _) => gates.clone(),
            (Ensures::Origin, Some(from)) => match &from.kind {
                Kind::Check { gates } => gates.clone(),
                Kind::Dispatch { .. } | Kind::Ask(_) | Kind::Each(_) | Kind::Land(_) => from.ensures.clone(),
            },
        }
    }

    /// Accepting at a judge or a check waives every open row and finding, by name; a writer's work waives nothing.
    fn waivers(&self, instance: &str, from: Option<&Stage>, route: &Route) -> Waivers {
        let unit = self.unit_of(instance);
        let gates = self.ensured(from, route);
        let mut waivers = Waivers::default();
        let mut about_work = false;
        for gate in gates.iter().filter_map(|name| self.protocol.gates.get(name)) {
            let mut atoms = Vec::new();
            gate::leaves(&gate.holds, &mut atoms);
            about_work |= atoms.iter().any(|atom| matches!(atom, Condition::Judged(_) | Condition::Set { .. }));
            for row in gate::rows_of(&self.run, gate, unit.as_ref()) {
                let state = gate::criterion(&self.run, row, &gate.bound_to, unit.as_ref());
                let settled = matches!(state, (CriterionState::Passed | CriterionState::Waived, true));
                if !settled && !waivers.criteria.contains(&row.id) {
                    waivers.criteria.push(row.id.clone());
                }
            }
            for atom in atoms {
                if let Condition::Command(name) = atom
                    && gate::status(&self.run, gate, unit.as_ref()) == Status::Unobservable
                {
                    waivers.commands.push(name.clone());
                }
            }
        }
        if about_work {
            waivers.findings = self.findings(unit.as_ref(), |finding| !finding.status.is_closed());
            // What a judge failed is waived with its findings: otherwise its rejection would stand.
            let judged = self.run.ledger.judgements.iter().filter(|(key, _)| match &unit {
                Some(unit) => key.ends_with(&format!("@{unit}")),
                None => !key.contains('@'),
            });
            for row in judged.flat_map(|(_, judged)| judged.failed.iter()) {
                let open = self.run.criterion(row).is_some_and(|row| {
                    !matches!(
                        gate::criterion(&self.run, row, &[], unit.as_ref()).0,
                        CriterionState::Passed | CriterionState::Waived
                    )
                });
                if open && !waivers.criteria.contains(row) {
                    waivers.criteria.push(row.clone());
                }
            }
        }
        waivers
    }

    /// A report's questions that do not block are put beside the work.
    pub fn beside_questions(&mut self, live: &Attempt, stage: &Stage, report: &Report) {
        let open: Vec<&str> =
            report.questions.iter().filter(|question| !question.blocking).map(|question| &*question.text).collect();
        if open.is_empty() {
            return;
        }
        let unit = self.unit_of(&live.instance);
        self.emit(DecisionAsked {
            decision: DecisionId(self.run.next_decision),
            asked: Asked {
                instance: live.instance.clone(),
                ask: stage.id.clone(),
                class: Class::Clarification,
                question: open.join("\n"),
                why: format!("`{}` is done and asks this beside its work", stage.id),
                options: Vec::new(),
                recommend: None,
                default: None,
                tree: self.run.tree_of(unit.as_ref()).clone(),
                unit,
                blocking: false,
                shows: Vec::new(),
                origin: Origin { stage: stage.id.clone(), outcome: "ok".into(), cut_off: None },
                paths: Vec::new(),
            },
        });
    }

    /// A person answers.
    pub fn answer(&mut self, id: DecisionId, answer: Answer) -> Result<(), Rejection> {
        self.needs_person()?;
        let by = self.by.clone();
        self.answer_by(id, answer, &by, false)
    }

    pub fn answer_by(&mut self, id: DecisionId, answer: Answer, by: &By, in_advance: bool) -> Result<(), Rejection> {
        let Some(decision) = self.run.decisions.get(&id).cloned() else { return Err(Rejection::NoDecision(id)) };
        if let Some(ended) = &decision.end {
            return self.answer_again(id, &decision, ended.option.as_ref(), &answer);
        }
        let offered: Vec<Name> = decision.asked.options.iter().map(|option| option.id.clone()).collect();
        match &answer.option {
            Some(option) if !offered.contains(option) => {
                return Err(Rejection::NotOffered { decision: id, option: option.clone(), offered });
            }
            None if !offered.is_empty() => {
                return Err(Rejection::NotOffered { decision: id, option: answer.text.trim().into(), offered });
            }
            None if answer.text.trim().is_empty() => return Err(Rejection::TextNeeded(id)),
            Some(_) | None => {}
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
        let known = self.instance(&asked.instance);
        let origin = known.as_ref().and_then(|known| Self::stage_of(&protocol, known, &asked.origin.stage));
        let shared = protocol.ask(&asked.ask);
        let (Some(origin), Some(stage)) = (origin, shared.or(origin)) else { return Err(Rejection::NoDecision(id)) };
        let outcome = answer.option.as_deref().unwrap_or("answered");
        let Some(route) = protocol.route(stage, outcome).map(|(rule, _)| rule.route.clone()) else {
            return Err(Rejection::NotOffered { decision: id, option: outcome.into(), offered });
        };
        self.emit_by(by.clone(), ends(answer.option.clone(), answer.text.clone()));
        self.amend(id, &asked.instance, asked.unit.as_ref(), &asked.paths, &route, &answer, by)?;
        self.establish(id, &asked.instance, Some(origin), &route, by)?;
        if let (Some(option), [name]) = (&answer.option, &*stage.gives) {
            self.emit_by(by.clone(), VariableGiven { name: name.clone(), value: option.clone() });
        }
        if shared.is_some() {
            self.follow(&asked.instance, origin, &asked.origin, id, &route.to, by.kind == ByKind::Person);
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
        let same = held == answer.option.as_ref()
            && (held.is_some() || ended.is_some_and(|ended| ended.text.trim() == answer.text.trim()));
        if same {
            return Ok(());
        }
        let held: Name = held.cloned().unwrap_or_else(|| "a text".into());
        let rejection = Rejection::AlreadyAnswered { decision: id, held };
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
        instance: &Name,
        unit: Option<&Name>,
        paths: &[Name],
        route: &Route,
        answer: &Answer,
        by: &By,
    ) -> Result<(), Rejection> {
        let amends = |what: &str| route.amends.iter().any(|name| &**name == what);
        let amends_areas = self.run.areas.iter().any(|area| amends(&area.name)) || amends("tree");
        let not_allowed = |what| Err(Rejection::NotAllowed { decision: id, what });
        if !answer.dispositions.is_empty() {
            if !amends("requirements") {
                return not_allowed("requirements");
            }
            let dispositions = answer.dispositions.clone();
            self.emit_by(by.clone(), RequirementsDisposed { dispositions, decision: id });
        }
        if !answer.scope.is_empty() && !amends("scope") {
            return not_allowed("the scope");
        }
        if amends("scope") {
            let widened = if answer.scope.is_empty() { paths.to_vec() } else { answer.scope.clone() };
            if !widened.is_empty() {
                let event = ScopeWidened { unit: unit.cloned(), paths: widened, decision: id };
                self.emit_by(by.clone(), event);
            }
        }
        let plan_is_empty = answer.plan == crate::report::Plan::default();
        if !plan_is_empty {
            if !(amends("criteria") || amends("units") || amends("requirements")) {
                return not_allowed("rows");
            }
            if let Some(what) = super::report::plan_problem(&answer.plan) {
                return Err(Rejection::Incomplete { decision: id, what });
            }
            self.planned(&answer.plan, &Name::from(id.to_string()));
        }
        match (&answer.content, amends_areas) {
            (Some(_), false) => return not_allowed("the work tree"),
            (None, true) => {
                return Err(Rejection::Incomplete { decision: id, what: "the measured work tree".to_owned() });
            }
            (Some(content), true) => {
                let event = TreeChanged { unit: unit.cloned(), content: content.clone(), decision: id };
                self.emit_by(by.clone(), event);
                let open = self.findings(unit, |finding| finding.status == FindingStatus::Open);
                self.change(open, FindingStatus::Addressed, &format!("mended by hand ({id})"));
                self.lapse();
            }
            (None, false) => {}
        }
        let _ = instance;
        Ok(())
    }

    /// Grants the waivers an answer carries and refuses it unless what it must establish then holds. A default waives
    /// nothing and establishes nothing: it only routes.
    fn establish(
        &mut self,
        id: DecisionId,
        instance: &Name,
        origin: Option<&Stage>,
        route: &Route,
        by: &By,
    ) -> Result<(), Rejection> {
        let gates = self.ensured(origin, route);
        if gates.is_empty() {
            return Ok(());
        }
        if by.kind != ByKind::Person {
            return Ok(());
        }
        let unit = self.unit_of(instance);
        let Waivers { criteria, findings, commands } = self.waivers(instance, origin, route);
        if !(criteria.is_empty() && findings.is_empty() && commands.is_empty()) {
            let event = WaiverGranted { decision: id, criteria, findings, requirements: Vec::new(), commands };
            self.emit_by(by.clone(), event);
        }
        let open: Vec<Name> =
            gates.into_iter().filter(|gate| gate::status_of(&self.run, gate, unit.as_ref()) != Status::Holds).collect();
        if open.is_empty() { Ok(()) } else { Err(Rejection::NotEstablished { decision: id, gates: open }) }
    }

    /// Follows a target of a shared ask from its origin.
    fn follow(&mut self, instance: &Name, stage: &Stage, origin: &Origin, id: DecisionId, to: &Target, person: bool) {
        match (to, &origin.cut_off) {
            (Target::Back, Some(cut)) => {
                let to = match &cut.to {
                    Target::Again => Target::Stage(stage.id.clone()),
                    to => to.clone(),
                };
                let renews = person.then(|| cut.rule.clone());
                self.come_back(instance, stage, &origin.outcome, id, to, renews);
            }
            (Target::Back | Target::Origin, _) => {
                self.come_back(instance, stage, &origin.outcome, id, Target::Stage(stage.id.clone()), None);
            }
            (Target::As(outcome), _) => {
                let outcome = self.stands_for(stage, outcome).unwrap_or_else(|| outcome.clone());
                self.route(instance, stage, &outcome);
            }
            (end, _) => self.come_back(instance, stage, &origin.outcome, id, end.clone(), None),
        }
    }
}
