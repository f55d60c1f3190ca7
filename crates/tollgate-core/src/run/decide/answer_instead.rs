//! What a person does with a decision besides answering it whole: some of its questions, later, not at all; and invalid answers.

use std::collections::BTreeMap;

use super::super::event::{
    By, ByKind, DecisionDeferred, DecisionEnd, DecisionEnded, DecisionRefused, QuestionAnswered,
};
use super::super::state::Decision;
use super::draft::Draft;
use super::{Answer, Instead, Rejection};
use crate::Name;
use crate::id::DecisionId;
use crate::protocol::Outcome;
use crate::protocol::model::{Class, Kind};
use crate::report::Plan;

/// The answers to single questions by their number, those to inputs included, which are named.
pub(super) fn by_number(
    id: DecisionId,
    decision: &Decision,
    answer: &Answer,
) -> Result<BTreeMap<u32, String>, Rejection> {
    let mut answers = answer.answers.clone();
    for (name, text) in &answer.named {
        let mut inputs = (1..).zip(&decision.asked.questions).filter_map(|(at, one)| Some((at, one.input.as_ref()?)));
        let Some((number, _)) = inputs.clone().find(|(_, input)| *input == name) else {
            let names: Vec<String> = inputs.by_ref().map(|(_, input)| format!("`{input}`")).collect();
            let what = match names.is_empty() {
                true => format!("the number of a question, not `{name}`"),
                false => format!("a value of {}, not of `{name}`", names.join(", ")),
            };
            return Err(Rejection::Incomplete { decision: id, what });
        };
        if answers.insert(number, text.clone()).is_some() {
            return Err(Rejection::Incomplete { decision: id, what: format!("one answer to `{name}`") });
        }
    }
    Ok(answers)
}

/// The refusal of an answer to a question that has another one.
pub(super) fn other_answer(id: DecisionId, decision: &Decision, number: u32, text: &str) -> Option<Rejection> {
    let held = decision.answers.get(&number).filter(|held| held.text != text)?;
    let held = held.text.chars().take(60).collect::<String>().into();
    Some(Rejection::AlreadyAnswered { decision: id, held })
}

impl Draft {
    /// Answers to single questions, or what is wanted in place of an answer.
    pub(super) fn answer_otherwise(
        &mut self,
        id: DecisionId,
        decision: &Decision,
        answer: Answer,
        by: &By,
    ) -> Result<(), Rejection> {
        let incomplete = |what: &str| Err(Rejection::Incomplete { decision: id, what: what.to_owned() });
        if answer.option.is_some() || answer.instead.is_some() && !answer.answers.is_empty() {
            return incomplete("one thing: an option, answers to its questions, or to be put off or ended");
        }
        let Some(instead) = answer.instead else { return self.answer_questions(id, decision, &answer, by) };
        let why = answer.text.trim().to_owned();
        if let Instead::Defer { until_ms } = instead {
            if until_ms <= self.now_ms {
                return incomplete("a time that is still to come");
            }
            self.emit_by(by.clone(), DecisionDeferred { decision: id, until_ms, why });
            return Ok(());
        }
        if why.is_empty() {
            return incomplete("a reason");
        }
        if decision.is_of_landing() || decision.is_of_kernel() {
            return incomplete("one of its options");
        }
        let has_route = |outcome: &Outcome| {
            let stage = self.protocol.ask(&decision.asked.ask);
            stage.is_some_and(|stage| self.protocol.route(stage, outcome).is_some())
        };
        let (end, outcome) = match instead {
            Instead::Skip if decision.asked.class == Class::Security => {
                return incomplete("to be answered or cancelled: a question of security is not skipped");
            }
            Instead::Skip if decision.asked.options.is_empty() => (DecisionEnd::Skipped, Outcome::Answered),
            Instead::Skip if self.protocol.ask(&decision.asked.ask).is_none() => {
                return incomplete(
                    "one of its options, or to be cancelled: a stage of a flow is skipped only where its `when` does not hold",
                );
            }
            Instead::Skip if !has_route(&Outcome::Skipped) => {
                return incomplete("one of its options: the protocol has no way on without");
            }
            Instead::Skip => (DecisionEnd::Skipped, Outcome::Skipped),
            Instead::Cancel | Instead::Defer { .. } => (DecisionEnd::Cancelled, Outcome::Cancelled),
        };
        self.end_without_answer(id, decision, (end, &outcome), why, by)
    }

    fn end_without_answer(
        &mut self,
        id: DecisionId,
        decision: &Decision,
        (end, outcome): (DecisionEnd, &Outcome),
        why: String,
        by: &By,
    ) -> Result<(), Rejection> {
        // Why the flow stands still is read there, too.
        let named = self.cancelled_as(decision).filter(|_| end == DecisionEnd::Cancelled);
        self.reason = named.map_or_else(|| why.clone(), |named| format!("{named}: {why}"));
        self.emit_by(by.clone(), DecisionEnded { decision: id, end, option: None, text: why, in_advance: false });
        // What no flow waits for leads nowhere.
        if !decision.asked.blocking { Ok(()) } else { self.go_on_from(id, decision, outcome, by) }
    }

    /// What its protocol calls it that a question is cancelled.
    fn cancelled_as(&self, decision: &Decision) -> Option<Name> {
        let shared = self.protocol.ask(&decision.asked.ask);
        let stage = shared.or_else(|| self.asked_at(&self.protocol, &decision.asked).ok())?;
        if let Kind::Ask(ask) = &stage.kind { ask.cancelled_as.clone() } else { None }
    }

    /// Each answer is recorded by its question; the last one ends the decision.
    fn answer_questions(
        &mut self,
        id: DecisionId,
        decision: &Decision,
        answer: &Answer,
        by: &By,
    ) -> Result<(), Rejection> {
        if !self.record_answers(id, decision, &answer.answers, by)? {
            let brings = answer.content.is_some() || !answer.scope.is_empty() || !answer.dispositions.is_empty();
            if brings || answer.plan != Plan::default() {
                let what = "the other questions on its card answered before it changes anything".to_owned();
                return Err(Rejection::Incomplete { decision: id, what });
            }
            return Ok(());
        }
        let known = self.run.decisions.get(&id).cloned();
        if let Some(known) = known.filter(|known| known.is_chosen_one_by_one()) {
            let option = known.strictest(&BTreeMap::new()).cloned();
            let answer = Answer { option, answers: BTreeMap::new(), ..answer.clone() };
            return self.answer_whole(id, &known, answer, by, false);
        }
        let (end, text) = (DecisionEnd::Answered, answer.text.clone());
        self.emit_by(by.clone(), DecisionEnded { decision: id, end, option: None, text, in_advance: false });
        if decision.asked.blocking { self.go_on_from(id, decision, &Outcome::Answered, by) } else { Ok(()) }
    }

    /// An answer without a number, where each question has one of its own. A timer's goes to all that are open; a person has to
    /// name them.
    pub(super) fn answer_rest(
        &mut self,
        id: DecisionId,
        decision: &Decision,
        answer: Answer,
        by: &By,
    ) -> Result<(), Rejection> {
        let Some(option) = answer.option.filter(|_| by.kind == ByKind::Timer) else {
            let open = decision.open_questions().map(|(number, _)| number).collect();
            return Err(Rejection::OneByOne { decision: id, open });
        };
        let answers = decision.open_questions().map(|(number, _)| (number, option.to_string())).collect();
        self.answer_questions(id, decision, &Answer { answers, ..Answer::default() }, by)
    }

    /// Records the answers to single questions; whether none is open any more.
    pub(super) fn record_answers(
        &mut self,
        id: DecisionId,
        decision: &Decision,
        answers: &BTreeMap<u32, String>,
        by: &By,
    ) -> Result<bool, Rejection> {
        let asked = decision.asked.questions.len();
        for (number, text) in answers {
            let text = text.trim();
            if !(1..=asked).contains(&usize::try_from(*number).unwrap_or(usize::MAX)) {
                let what = match asked {
                    0 => "one answer: it is one question".to_owned(),
                    1 => format!("question 1, its only one, not {number}"),
                    asked => format!("one of its questions 1 to {asked}, not {number}"),
                };
                return Err(Rejection::Incomplete { decision: id, what });
            }
            if text.is_empty() {
                return Err(Rejection::TextNeeded(id));
            }
            if decision.is_chosen_one_by_one() && decision.offered(text).is_none() {
                let offered = decision.asked.options.iter().map(|option| option.id.clone()).collect();
                return Err(Rejection::NotOffered { decision: id, option: text.into(), offered });
            }
            if let Some(rejection) = other_answer(id, decision, *number, text) {
                return Err(rejection);
            }
            if !decision.answers.contains_key(number) {
                let event = QuestionAnswered { decision: id, question: *number, text: text.to_owned() };
                self.emit_by(by.clone(), event);
            }
        }
        let known = self.run.decisions.get(&id);
        Ok(known.is_none_or(|decision| decision.open_questions().next().is_none()))
    }

    /// An invalid answer is refused at once. Where tries are counted it is recorded, and the last one cancels the question.
    pub(super) fn count_invalid(
        &mut self,
        id: DecisionId,
        said: Option<Name>,
        invalid: Rejection,
    ) -> Result<(), Rejection> {
        let Some(decision) = self.run.decisions.get(&id).filter(|decision| decision.end.is_none()).cloned() else {
            return Err(invalid);
        };
        let Some(tries) = decision.asked.tries else { return Err(invalid) };
        let said = said.unwrap_or_else(|| "a text".into());
        let option = if let Rejection::NotOffered { option, .. } = &invalid { option.clone() } else { said };
        self.emit(DecisionRefused { decision: id, option, why: invalid.to_string() });
        if decision.invalid + 1 >= tries {
            let why = format!("{tries} answers were invalid");
            let by = self.by.clone();
            self.end_without_answer(id, &decision, (DecisionEnd::Cancelled, &Outcome::Cancelled), why, &by)?;
        }
        self.refusal = Some(invalid);
        Ok(())
    }
}
