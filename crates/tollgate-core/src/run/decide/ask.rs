//! Asking: a question is in the journal before anybody is asked, with the options that lead somewhere.

use super::super::event::{
    Asked, AskedQuestion, By, ByKind, DecisionAsked, DecisionEnd, DecisionEnded, DecisionRefused, DefaultAnswer,
    Offered, Origin,
};
use super::super::gate::{self, CriterionState};
use super::super::state::{Attempt, Decision, Requirement, Shown};
use super::draft::Draft;
use super::outcome_text::came_out;
use super::{Answer, Rejection};
use crate::Name;
use crate::digest::Digest;
use crate::id::{DecisionId, InstanceId, StageId, UnitId};
use crate::protocol::model::{Ask, Class, From, Kind, Stage, Target};
use crate::protocol::{Outcome, graph};
use crate::report::{Health, Judgement, QuestionReport, Report};

/// The questions of a report that an ask takes from it, and those beside the work.
type Parted = (Vec<QuestionReport>, Vec<QuestionReport>);

/// Why something is as it was shown, where that is known.
fn note(shown: &Shown) -> String {
    if shown.note.is_empty() { String::new() } else { format!(" ({})", shown.note) }
}

/// A question of a report in the words of an ask. Where the ask has options of its own, those that the report proposes are
/// words of the question.
fn worded(ask: &Ask, question: &QuestionReport) -> String {
    let mut text = question.text.clone();
    if ask.options.is_empty() {
        return text;
    }
    if !question.options.is_empty() {
        text.push_str(&format!("\nproposed: {}", question.options.join("; ")));
    }
    if let Some(recommended) = &question.recommendation {
        text.push_str(&format!("\nrecommended by the worker: {recommended}"));
    }
    if let Some(reason) = &question.reason {
        text.push_str(&format!("\nits reason: {reason}"));
    }
    text
}

/// Questions that each need an answer of their own.
fn one_by_one(questions: Vec<&QuestionReport>) -> Vec<AskedQuestion> {
    let is_bare = |question: &&QuestionReport| question.options.is_empty() && question.recommendation.is_none();
    if questions.len() < 2 && questions.iter().all(is_bare) {
        return Vec::new();
    }
    let asked = |question: &QuestionReport| AskedQuestion {
        text: question.text.clone(),
        options: question.options.clone(),
        recommend: question.recommendation.clone(),
        reason: question.reason.clone(),
        input: None,
    };
    questions.into_iter().map(asked).collect()
}

impl Draft {
    /// Puts the question of a stage that is an ask.
    pub fn ask_here(&mut self, instance: &InstanceId, stage: &Stage, origin: Origin) {
        let Kind::Ask(ask) = &stage.kind else { return };
        self.put(instance, stage, ask, origin);
    }

    /// Puts a shared question; the instance stays at the stage it came from.
    pub fn ask_shared(&mut self, instance: &InstanceId, name: &StageId, origin: Origin) {
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
                self.follow(instance, stage, &origin, None, &rule.route.to, false);
            }
            return;
        }
        self.put(instance, shared, ask, origin);
    }

    pub(super) fn put(&mut self, instance: &InstanceId, stage: &Stage, ask: &Ask, origin: Origin) {
        let unit = self.unit_of(instance);
        let decision = DecisionId(self.run.next_decision);
        let options = self.offered(instance, stage, ask, &origin);
        if let Some(why) = self.cannot_ask(instance, stage, ask, &options) {
            return self.hold_at_ask(instance, stage, &origin, why);
        }
        let recommend = ask.recommend.iter().find(|(_, when)| gate::truth(&self.run, when, unit.as_ref()));
        let asked = Asked {
            instance: instance.clone(),
            ask: stage.id.clone(),
            class: ask.class,
            question: self.question(instance, ask, &origin),
            why: self.why(instance, &origin),
            recommend: recommend.map(|(option, _)| option.clone()),
            default: ask
                .default
                .as_ref()
                .filter(|default| options.iter().any(|option| option.id == default.answer))
                // A timer has measured nothing and decides nothing: it only routes.
                .filter(|default| {
                    stage.on.iter().all(|rule| rule.outcome != default.answer || rule.route.amends.is_empty())
                })
                .map(|default| DefaultAnswer { option: default.answer.clone(), at_ms: self.now_ms + default.after_ms }),
            options,
            unit: unit.clone(),
            blocking: true,
            shows: self.shown(ask),
            origin,
            tree: self.run.tree_of(unit.as_ref()).clone(),
            paths: self.paths(instance, ask),
            budget: None,
            questions: self.questions(ask),
            tries: ask.tries,
        };
        self.emit(DecisionAsked { decision, asked });
        self.answer_in_advance(decision, stage);
    }

    /// Why a question is not put: it would show another text than the tree has, or none of its answers leads anywhere.
    fn cannot_ask(&self, instance: &str, stage: &Stage, ask: &Ask, options: &[Offered]) -> Option<String> {
        let unit = self.unit_of(instance);
        let other = |name: &&Name| !gate::is_shown(&self.run, name, unit.as_ref());
        if let Some(name) = ask.shows.iter().find(other) {
            return Some(format!("`{}` shows `{name}`, which is not what was given", stage.id));
        }
        let none = options.is_empty() && !ask.options.is_empty();
        none.then(|| format!("no answer to `{}` could establish what it has to", stage.id))
    }

    fn hold_at_ask(&mut self, instance: &InstanceId, stage: &Stage, origin: &Origin, why: String) {
        let protocol = self.protocol.clone();
        let known = self.instance(instance);
        let from = known.as_ref().and_then(|known| Self::stage_of(&protocol, known, &origin.stage));
        self.hold(instance, from.unwrap_or(stage), origin.outcome.as_ref(), why);
    }

    /// What an answer had to establish is no longer what the question was about: it is put again as things stand, under an id of
    /// its own, and nothing is answered: who answers the old one has not seen it. None: nothing has changed since it was asked.
    pub(super) fn ask_anew(&mut self, decision: DecisionId, option: Option<&Name>) -> Option<()> {
        let known = self.run.decisions.get(&decision)?.asked.clone();
        let protocol = self.protocol.clone();
        let instance = self.instance(&known.instance)?;
        let stage = protocol.ask(&known.ask).or_else(|| Self::stage_of(&protocol, &instance, &known.ask))?;
        let Kind::Ask(ask) = &stage.kind else { return None };
        let options = self.offered(&known.instance, stage, ask, &known.origin);
        let tree = self.run.tree_of(known.unit.as_ref()).clone();
        let shows = self.shown(ask);
        if (&options, &tree, &shows) == (&known.options, &known.tree, &known.shows) {
            return None;
        }
        let waives = |options: &[Offered]| {
            let chosen = options.iter().find(|offered| Some(&offered.id) == option);
            chosen.map(|offered| offered.waives.clone()).unwrap_or_default()
        };
        let seen = waives(&known.options);
        let more: Vec<Name> = waives(&options).into_iter().filter(|name| !seen.contains(name)).collect();
        let anew = DecisionId(self.run.next_decision);
        let rejection = Rejection::AskedAnew { decision, anew, more };
        let default =
            known.default.clone().filter(|default| options.iter().any(|offered| offered.id == default.option));
        let recommend = known.recommend.clone().filter(|named| options.iter().any(|offered| offered.id == *named));
        let option = option.cloned().unwrap_or_else(|| "a text".into());
        self.emit(DecisionRefused { decision, option, why: rejection.to_string() });
        self.emit(DecisionEnded {
            decision,
            end: DecisionEnd::Replaced,
            option: None,
            text: String::new(),
            in_advance: false,
        });
        if let Some(why) = self.cannot_ask(&known.instance, stage, ask, &options) {
            self.refusal = Some(Rejection::Incomplete { decision, what: format!("something else first: {why}") });
            self.hold_at_ask(&known.instance, stage, &known.origin, why);
            return Some(());
        }
        let question = match ask.from {
            Some(From::Ledger) => self.question(&known.instance, ask, &known.origin),
            Some(From::Report | From::Measure) | None => known.question.clone(),
        };
        let asked = Asked { options, tree, shows, default, recommend, question, ..known };
        self.emit(DecisionAsked { decision: anew, asked });
        self.refusal = Some(rejection);
        Some(())
    }

    /// The objects that a question shows.
    fn shown(&self, ask: &Ask) -> Vec<Digest> {
        ask.shows.iter().filter_map(|name| self.run.artifacts.get(name)).map(|artifact| artifact.object).collect()
    }

    /// An answer that a person gave with the run, before it was asked.
    pub(super) fn answer_in_advance(&mut self, decision: DecisionId, stage: &Stage) {
        let Kind::Ask(Ask { class, .. }) = &stage.kind else { return };
        // Runs of earlier versions may have one.
        if *class == Class::Security {
            return;
        }
        let Some(option) = self.run.opened.answers.get(&*stage.id).cloned() else { return };
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

    fn question(&self, instance: &str, ask: &Ask, origin: &Origin) -> String {
        let mut parts: Vec<String> = ask.question.iter().cloned().collect();
        match ask.from {
            Some(From::Report) => {
                parts.extend(self.asked_by_report.iter().map(|question| worded(ask, question)));
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
        if parts.is_empty() {
            let led = Some(self.why(instance, origin)).filter(|led| !led.is_empty());
            let led = led.unwrap_or_else(|| format!("`{}` is reached", origin.stage));
            let open = if ask.from == Some(From::Ledger) { ", and nothing is open" } else { "" };
            parts.push(format!("{led}{open}. How does it go on?"));
        }
        parts.join("\n")
    }

    /// The questions of a report that are answered one by one: several, or one that proposes answers. Where the ask has options,
    /// each is answered with one of them.
    fn questions(&self, ask: &Ask) -> Vec<AskedQuestion> {
        if ask.from != Some(From::Report) {
            return Vec::new();
        }
        let asked = self.asked_by_report.iter();
        if ask.options.is_empty() {
            return one_by_one(asked.collect());
        }
        let worded: Vec<QuestionReport> =
            asked.map(|question| QuestionReport { text: worded(ask, question), ..QuestionReport::default() }).collect();
        one_by_one(worded.iter().collect())
    }

    /// Rows, findings and requirements of a subject that are not settled, a line each.
    pub fn open_rows(&self, instance: &str) -> Vec<String> {
        let unit = self.unit_of(instance);
        let ledger = &self.run.ledger;
        let own = |owner: Option<&UnitId>| unit.as_ref().is_none_or(|unit| owner == Some(unit));
        let rows = ledger.criteria.iter().filter(|row| own(row.unit.as_ref())).filter_map(|row| {
            let (state, fresh) = gate::criterion(&self.run, row, &gate::row_rests_on(&self.run, row), unit.as_ref());
            let settled = matches!(state, CriterionState::Passed | CriterionState::Waived);
            if settled && !fresh {
                return Some(format!("{} was checked on other content: {}", row.id, row.text));
            }
            let mut shown = row.ran.iter().chain(&row.judged);
            let why = shown.find(|shown| shown.result == Judgement::Unobservable || shown.flaky.is_some()).map(note);
            // Beside what it is to show: whether it is as strong, people compare.
            let shows =
                row.requirement.as_ref().and_then(|id| ledger.requirements.iter().find(|known| known.id == *id));
            let shows = shows.map(|known| format!(", for {}: {}", known.id, known.text)).unwrap_or_default();
            (!settled)
                .then(|| format!("{} is {}: {}{}{shows}", row.id, state.word(), row.text, why.unwrap_or_default()))
        });
        let commands = ledger.commands.iter().filter_map(|(key, shown)| {
            let how = match shown.result {
                Judgement::Pass => return None,
                Judgement::Fail => "fails",
                Judgement::Unobservable => "cannot be observed",
            };
            let waived = ledger.waived_commands.get(key).is_some_and(|on| on.tree == shown.on.tree);
            (key.unit == unit && !waived).then(|| format!("the command `{}` {how}{}", key.name, note(shown)))
        });
        let requirements = ledger.requirements.iter().filter(|row| row.disposition.is_none() && row.waived.is_none());
        let unshown = self
            .unshown(unit.as_ref())
            .into_iter()
            .map(|row| format!("{} is in scope, and no criterion shows it: {}", row.id, row.text));
        let open = self.findings(unit.as_ref(), |finding| !finding.status_in(unit.as_ref()).is_closed());
        let findings = open.iter().filter_map(|id| ledger.findings.get(id).map(|f| format!("{id}: {}", f.about.what)));
        rows.chain(commands)
            .chain(requirements.map(|row| match &row.proposed {
                Some(proposed) => format!("{} is proposed as {proposed}: {}", row.id, row.text),
                None => format!("{} is undecided: {}", row.id, row.text),
            }))
            .chain(unshown)
            .chain(findings)
            .collect()
    }

    /// The requirements that some gate asks to be met and that no row shows, once there is a plan.
    fn unshown(&self, unit: Option<&UnitId>) -> Vec<&Requirement> {
        if self.run.ledger.units.is_empty() {
            return Vec::new();
        }
        let asked = |row: &&Requirement| {
            let mut gates = self.protocol.gates.values();
            gates.any(|gate| gate::unshown(&self.run, gate, unit).any(|known| known.id == row.id))
        };
        self.run.ledger.requirements.iter().filter(asked).collect()
    }

    /// What led to a question, in one sentence.
    pub(super) fn why(&self, instance: &str, origin: &Origin) -> String {
        let known = self.instance(instance);
        let from = known.as_ref().and_then(|known| Self::stage_of(&self.protocol, known, &origin.stage));
        let (Some(from), Some(outcome)) = (from, &origin.outcome) else { return String::new() };
        let limit = if origin.cut_off.is_some() { ", and the limit for that is reached" } else { "" };
        let reason = if self.reason.is_empty() { String::new() } else { format!(": {}", self.reason) };
        format!("{}{limit}{reason}", came_out(from, outcome))
    }

    pub(super) fn paths(&self, instance: &str, ask: &Ask) -> Vec<Name> {
        let measured = ask.from == Some(From::Measure);
        let remarks = self.run.instances.get(instance).filter(|_| measured).map(|known| known.remarks.clone());
        remarks.unwrap_or_default().into_iter().map(Name::from).collect()
    }

    /// The options that lead somewhere from this origin. Facts are not waived.
    pub(super) fn offered(&self, instance: &str, stage: &Stage, ask: &Ask, origin: &Origin) -> Vec<Offered> {
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
    pub(super) fn stands_for(&self, origin: &Stage, outcome: &Outcome) -> Option<Outcome> {
        graph::stands_for(&self.protocol, &graph::needed(&self.protocol), origin, outcome)
    }

    /// Parts the questions of a report: those that an ask takes from it, and those that are put beside the work. What does not block
    /// is beside it, unless the report has no other question for the ask that it leads to.
    pub fn part_questions(&self, live: &Attempt, stage: &Stage, report: &Report, outcome: &Outcome) -> Parted {
        let all = report.questions.iter().cloned();
        let (block, beside): (Vec<_>, Vec<_>) = all.partition(|question| question.blocking);
        let judging = self.instance(&live.instance).is_some_and(|known| known.judging.is_some());
        if block.is_empty() && !judging && self.leads_to_questions(&live.instance, stage, outcome) {
            (beside, Vec::new())
        } else {
            (block, beside)
        }
    }

    /// Whether an outcome leads to an ask that takes its questions from the report.
    fn leads_to_questions(&self, instance: &InstanceId, stage: &Stage, outcome: &Outcome) -> bool {
        let takes = |stage: &Stage| matches!(&stage.kind, Kind::Ask(ask) if ask.from == Some(From::Report));
        let unit = self.unit_of(instance);
        let is_put =
            |stage: &&Stage| stage.when.as_ref().is_none_or(|when| gate::truth(&self.run, when, unit.as_ref()));
        let known = self.instance(instance);
        let next = match self.next_target(instance, stage, outcome) {
            Some(Target::Ask(name)) => self.protocol.ask(&name),
            Some(Target::Stage(name)) => known.as_ref().and_then(|known| Self::stage_of(&self.protocol, known, &name)),
            _ => None,
        };
        next.filter(is_put).is_some_and(takes)
    }

    /// Questions of a report are put beside the work, also those of one that was not done.
    pub fn beside_questions(
        &mut self,
        live: &Attempt,
        stage: &Stage,
        report: &Report,
        outcome: &Outcome,
        beside: &[QuestionReport],
    ) {
        let unit = self.unit_of(&live.instance);
        let asked = |text: &str| {
            let mut known = self.run.decisions.values().map(|known| &known.asked);
            let whole = |said: &str| format!("\n{said}\n");
            known.any(|known| known.unit == unit && whole(&known.question).contains(&whole(text)))
        };
        // Nobody is asked twice.
        let questions: Vec<&QuestionReport> = beside.iter().filter(|question| !asked(&question.text)).collect();
        let open: Vec<&str> = questions.iter().map(|question| &*question.text).collect();
        if open.is_empty() || report.health == Health::Malformed {
            return;
        }
        let done = if report.health == Health::Ok { "is done" } else { "stopped" };
        self.emit(DecisionAsked {
            decision: DecisionId(self.run.next_decision),
            asked: Asked {
                instance: live.instance.clone(),
                ask: stage.id.clone(),
                class: Class::Clarification,
                question: open.join("\n"),
                why: format!("`{}` {done} and asks this beside its work", stage.id),
                options: Vec::new(),
                recommend: None,
                default: None,
                tree: self.run.tree_of(unit.as_ref()).clone(),
                unit,
                blocking: false,
                shows: Vec::new(),
                origin: Origin { stage: stage.id.clone(), outcome: Some(outcome.clone()), cut_off: None },
                paths: Vec::new(),
                budget: None,
                questions: one_by_one(questions),
                tries: None,
            },
        });
    }
}
