//! Intake: inputs that were not given with the run are asked for on one card, before its first stage is entered.

use std::collections::BTreeMap;

use super::super::decision::{Decision, INTAKE};
use super::super::event::{Asked, AskedQuestion, By, DecisionAsked, DecisionEnd, DecisionEnded, InputsGiven, Origin};
use super::super::state::Run;
use super::answer_instead::by_number;
use super::draft::Draft;
use super::inputs::{input, inputs, missing};
use super::open::{self, OpenArtifact};
use super::{Answer, Instead, Rejection};
use crate::Name;
use crate::id::DecisionId;
use crate::protocol::model::{Class, Value, Variable, VariableKind};
use crate::scope::Content;

/// What a run begins with once all its inputs are known: its documents, read with them, and the content, told apart by them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Opening {
    pub artifacts: BTreeMap<Name, OpenArtifact>,
    pub content: Option<Content>,
}

/// All inputs of the run, where an answer gives the last that was missing.
pub fn completed(run: &Run, id: DecisionId, answer: &Answer) -> Option<BTreeMap<Name, Value>> {
    let decision = run.decisions.get(&id).filter(|decision| decision.end.is_none() && decision.is_of_intake())?;
    let answers = numbered(id, decision, answer).ok()?;
    let text = |(number, asked): (u32, &AskedQuestion)| {
        let text = answers.get(&number).or_else(|| Some(&decision.answers.get(&number)?.text))?;
        Some((asked.input.clone()?, Value::Text(text.trim().into())))
    };
    let given: Option<Vec<(Name, Value)>> = (1..).zip(&decision.asked.questions).map(text).collect();
    let mut all = run.opened.inputs.clone();
    all.extend(given?);
    inputs(&run.protocol, &all).ok()
}

/// The answers to single inputs, by the number of their question; one input alone may be answered like a question.
fn numbered(id: DecisionId, decision: &Decision, answer: &Answer) -> Result<BTreeMap<u32, String>, Rejection> {
    let mut answers = by_number(id, decision, answer)?;
    let whole = answer.option.as_ref().map(ToString::to_string).or_else(|| Some(answer.text.trim().to_owned()));
    let whole = whole.filter(|text| !text.is_empty());
    let open: Vec<(u32, &AskedQuestion)> = decision.open_questions().collect();
    match (&*open, whole) {
        ([(number, _)], Some(text)) if answers.is_empty() => drop(answers.insert(*number, text)),
        (_, None) if !answers.is_empty() => {}
        (_, Some(_) | None) => {
            let what = "each of its inputs by name: `--answer NAME=VALUE`".to_owned();
            return Err(Rejection::Incomplete { decision: id, what });
        }
    }
    Ok(answers)
}

fn question(name: &Name, variable: &Variable) -> AskedQuestion {
    let (form, options) = match &variable.kind {
        VariableKind::OneOf(values) => ("one of", values.as_slice()),
        VariableKind::ListOf(values) => ("one or several of, with commas between them", values.as_slice()),
        VariableKind::Int => ("a whole number", &[][..]),
        VariableKind::Text => ("a text", &[][..]),
    };
    AskedQuestion {
        text: format!("`{name}`, {form}"),
        options: options.iter().map(ToString::to_string).collect(),
        recommend: None,
        reason: None,
        input: Some(name.clone()),
    }
}

impl Draft {
    /// Puts the card with every input that is missing.
    pub(super) fn ask_for_inputs(&mut self) {
        let protocol = self.protocol.clone();
        let missing = missing(&protocol, &self.run.vars);
        let questions: Vec<AskedQuestion> = missing.into_iter().map(|(name, kind)| question(name, kind)).collect();
        let heading = format!("Which inputs does this run of `{}` have?", protocol.name);
        let texts = std::iter::once(heading).chain(questions.iter().map(|question| question.text.clone()));
        let asked = Asked {
            instance: INTAKE.into(),
            ask: INTAKE.into(),
            class: Class::Intake,
            question: texts.collect::<Vec<_>>().join("\n"),
            why: "they were not given with the run, and no stage is entered before they are known".to_owned(),
            options: Vec::new(),
            recommend: None,
            default: None,
            unit: None,
            blocking: true,
            shows: Vec::new(),
            origin: Origin { stage: INTAKE.into(), outcome: None, cut_off: None },
            tree: self.run.tree.clone(),
            paths: Vec::new(),
            budget: None,
            questions,
            tries: None,
        };
        self.emit(DecisionAsked { decision: DecisionId(self.run.next_decision), asked });
    }

    /// A value is refused at once when its input does not take it. With the last one the run begins.
    pub(super) fn answer_intake(
        &mut self,
        id: DecisionId,
        decision: &Decision,
        answer: Answer,
        by: &By,
    ) -> Result<(), Rejection> {
        match answer.instead {
            Some(Instead::Defer { .. }) => return self.answer_otherwise(id, decision, answer, by),
            Some(Instead::Cancel | Instead::Skip) => {
                let what =
                    "its inputs: no stage is entered without them; `tollgate cancel RUN` ends the run".to_owned();
                return Err(Rejection::Incomplete { decision: id, what });
            }
            None => {}
        }
        let answers = numbered(id, decision, &answer)?;
        let protocol = self.protocol.clone();
        for (number, asked) in (1..).zip(&decision.asked.questions) {
            if let (Some(text), Some(name)) = (answers.get(&number), &asked.input) {
                if text.trim().is_empty() {
                    return Err(Rejection::Incomplete {
                        decision: id,
                        what: format!("a value of `{name}`, not nothing"),
                    });
                }
                input(&protocol, name, &Value::Text(text.trim().into()))?;
            }
        }
        let all = completed(&self.run, id, &answer);
        if !self.record_answers(id, decision, &answers, by)? {
            return Ok(());
        }
        let (Some(all), Some(opening)) = (all, answer.opening) else {
            let what = "the documents of the run, read with all its inputs; answer again".to_owned();
            return Err(Rejection::Incomplete { decision: id, what });
        };
        let end = DecisionEnd::Answered;
        let ended = DecisionEnded { decision: id, end, option: None, text: String::new(), in_advance: false };
        self.emit_by(by.clone(), ended);
        let inputs = all.into_iter().filter(|(name, _)| !self.run.vars.contains_key(name)).collect();
        self.emit_by(by.clone(), InputsGiven { decision: id, inputs, content: opening.content });
        let scopes = self.run.opened.scopes.clone();
        open::enter(self, &opening.artifacts, &scopes)
    }
}
