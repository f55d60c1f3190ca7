//! Decisions: questions to a person, and what came of them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::command_permission::Permission;
use super::empty_change::EMPTY;
use super::event::{Asked, AskedQuestion, By, DecisionEnd, DefaultAnswer};
use super::landing::LAND;
use super::open_findings::FINDINGS;
use super::state::{On, Run};
use crate::Name;
use crate::id::DecisionId;
use crate::protocol::model::Class;
use crate::report::Disposition;

/// Stands for a flow instance, a stage and an ask where a run asks for its inputs: no protocol can use this name.
pub const INTAKE: &str = "@intake";

/// A question to a person, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub asked: Asked,
    /// The content it was asked about: what an answer approves, whatever changes meanwhile.
    pub on: On,
    pub asked_ms: u64,
    pub end: Option<Ended>,
    /// The answers to its questions, by their number from 1 on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<u32, QuestionAnswer>,
    /// Until when it is put off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred: Option<Deferred>,
    /// How many invalid answers it was given, where they are counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub invalid: u32,
    /// The requirements that its answer decided on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dispositions: BTreeMap<Name, Disposition>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The answer to one question of several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAnswer {
    pub text: String,
    pub by: By,
}

/// Who put a decision off, until when and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deferred {
    pub until_ms: u64,
    pub why: String,
    pub by: By,
}

impl Decision {
    /// The questions that are still open, by their number from 1 on.
    pub fn open_questions(&self) -> impl Iterator<Item = (u32, &AskedQuestion)> {
        (1..).zip(&self.asked.questions).filter(|(number, _)| !self.answers.contains_key(number))
    }

    /// The option that a text names: the option alone, or with words after a colon.
    pub fn offered(&self, text: &str) -> Option<&Name> {
        let word = text.split_once(':').map_or(text, |(word, _)| word).trim();
        self.asked.options.iter().map(|option| &option.id).find(|id| &***id == word)
    }

    /// Whether each of its questions is answered with one of its options.
    pub fn is_chosen_one_by_one(&self) -> bool {
        !self.asked.questions.is_empty() && !self.asked.options.is_empty()
    }

    /// Whether each of its questions has an answer of its own, and none is one to all of them.
    pub fn is_answered_one_by_one(&self) -> bool {
        self.asked.questions.len() > 1 || self.is_chosen_one_by_one()
    }

    /// The option that answers to its questions lead to, with those it has: of all that are chosen the one that it offers first. None
    /// while a question is open.
    pub fn strictest(&self, answers: &BTreeMap<u32, String>) -> Option<&Name> {
        let given = |number| self.answers.get(&number).map(|held| &held.text).or_else(|| answers.get(&number));
        let numbers = (1..).zip(&self.asked.questions).map(|(number, _)| number);
        let chosen: Vec<&Name> = numbers.map(|number| self.offered(given(number)?)).collect::<Option<_>>()?;
        self.asked.options.iter().map(|option| &option.id).find(|id| chosen.contains(id))
    }

    /// Whether nobody is to be asked for it now.
    pub fn is_deferred(&self, now_ms: u64) -> bool {
        self.deferred.as_ref().is_some_and(|deferred| deferred.until_ms > now_ms)
    }

    /// A timer's answer. Whoever puts a decision off answers for it: silence ends it no more, and never a question of security.
    pub fn default(&self) -> Option<&DefaultAnswer> {
        let silent = self.deferred.is_none() && self.asked.class != Class::Security;
        self.asked.default.as_ref().filter(|_| silent)
    }

    /// Whether it is asked again under another id.
    pub fn is_replaced(&self) -> bool {
        self.end.as_ref().is_some_and(|ended| ended.end == DecisionEnd::Replaced)
    }

    /// Whether it asks about a budget: what it stops are dispatches, not a flow that waits for its answer.
    pub const fn is_of_budget(&self) -> bool {
        self.asked.budget.is_some()
    }

    /// Whether it asks about an empty change: the kernel put it, and no stage of the protocol.
    pub fn is_of_empty_change(&self) -> bool {
        &*self.asked.ask == EMPTY
    }

    /// Whether it puts findings that alone are in the way, and no stage of the protocol.
    pub fn is_of_findings(&self) -> bool {
        &*self.asked.ask == FINDINGS
    }

    /// What it asks of the run's commands, where no stage of the protocol does.
    pub fn permission(&self) -> Option<Permission> {
        Permission::parse(&self.asked.ask)
    }

    /// Whether the kernel put it by itself, in a run that is under way.
    pub fn is_of_kernel(&self) -> bool {
        self.is_of_budget() || self.is_of_empty_change() || self.is_of_findings() || self.permission().is_some()
    }

    /// Whether it asks for the inputs of the run, which begins with its answer.
    pub fn is_of_intake(&self) -> bool {
        &*self.asked.instance == INTAKE
    }

    /// Whether it is about where the tree of a run that is over goes: no part of what the run answers for.
    pub fn is_of_landing(&self) -> bool {
        self.asked.is_of_landing()
    }
}

impl Asked {
    pub(super) fn is_of_landing(&self) -> bool {
        &*self.instance == LAND
    }
}

/// What a person decided of a requirement, as it counts now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequirementDecision {
    pub requirement: Name,
    pub disposition: Disposition,
    pub decision: DecisionId,
    pub by: Name,
}

impl RequirementDecision {
    /// Whose word it is, and where it was given.
    pub fn source(&self) -> String {
        format!("decided by {} at {}", self.by, self.decision)
    }
}

impl fmt::Display for RequirementDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, {}", self.requirement, self.disposition.replace('_', " "), self.source())
    }
}

impl Run {
    /// What people decided of requirements: the last word on each.
    pub fn requirement_decisions(&self) -> impl Iterator<Item = RequirementDecision> {
        self.ledger.requirements.iter().filter_map(|row| {
            let decision = row.disposed_by?;
            let ended = self.decisions.get(&decision)?.end.as_ref()?;
            Some(RequirementDecision {
                requirement: row.id.clone(),
                disposition: row.disposition.clone()?,
                decision,
                by: ended.by.name.clone(),
            })
        })
    }
}

/// How a decision ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    pub end: DecisionEnd,
    pub option: Option<Name>,
    pub text: String,
    pub by: By,
    /// Given with the run, before it was asked.
    pub in_advance: bool,
}
