//! Conditions: one small closed language for `when`, `holds`, `mandatory` and `recommend`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Name;
use crate::id::{GateId, RoleId, StageId};
use crate::words::words;

/// A condition over variables, the subject, gates and the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Every one of these; `All(vec![])` is true.
    All(Vec<Condition>),
    /// At least one of these.
    Any(Vec<Condition>),
    /// Not this.
    Not(Box<Condition>),
    /// A variable has one of these values.
    Var { name: Name, values: Vec<Name> },
    /// The subject has one of these values of an attribute; `state` is built in.
    It { attr: Name, values: Vec<Name> },
    /// A gate holds for the subject.
    Holds(GateId),
    /// The role's last judgement of this content accepts.
    Judged(RoleId),
    /// An ask was answered with one of these options.
    Answer { ask: StageId, options: Vec<Name>, by_anyone: bool },
    /// A configured command passes, so many times in a row on the same content.
    Command { name: Name, repeat: u32 },
    /// An artifact exists, with these fields if any are named.
    Artifact { name: Name, with: BTreeMap<Name, Name> },
    /// Members of a set have a status, or have parts.
    Set { quantifier: Quantifier, set: SetKind, filter: Vec<(Name, Vec<Name>)>, is: Vec<Name>, has: Vec<Name> },
    /// A set has at least so many members.
    Count { set: SetKind, at_least: u32 },
}

impl Condition {
    /// The conditions that it combines; none for an atom.
    fn operands(&self) -> Option<&[Self]> {
        match self {
            Self::All(list) | Self::Any(list) => Some(list),
            Self::Not(inner) => Some(std::slice::from_ref(inner)),
            Self::Var { .. }
            | Self::It { .. }
            | Self::Holds(_)
            | Self::Judged(_)
            | Self::Answer { .. }
            | Self::Command { .. }
            | Self::Artifact { .. }
            | Self::Set { .. }
            | Self::Count { .. } => None,
        }
    }

    /// The condition and every part of it, from left to right.
    pub fn parts(&self) -> impl Iterator<Item = &Self> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            let next = open.pop()?;
            open.extend(next.operands().unwrap_or_default().iter().rev());
            Some(next)
        })
    }

    /// The parts that combine no others.
    pub fn atoms(&self) -> impl Iterator<Item = &Self> {
        self.parts().filter(|part| part.operands().is_none())
    }
}

/// How many members of a set must satisfy a predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantifier {
    /// All of them (also when there are none).
    Every,
    /// Not a single one.
    None,
    /// One at least.
    Some,
}

/// The sets a condition can speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetKind {
    Criterion,
    /// The rows that name a command, by what the command shows.
    Command,
    Finding,
    Requirement,
    Unit,
    Decision,
    Question,
    /// What reports left open.
    Notice,
}

words!(SetKind {
    Criterion = "criterion",
    Command = "command",
    Finding = "finding",
    Requirement = "requirement",
    Unit = "unit",
    Decision = "decision",
    Question = "question",
    Notice = "notice",
});
