//! Conditions under a valuation: true, false, or not to be told before the run.

use super::super::condition::Condition;
use super::super::model::{Protocol, VariableKind};
use super::space::{Facts, Space};

/// What can be told of a condition before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Truth {
    True,
    False,
    Unknown,
}

impl Truth {
    pub fn can_be(self, truth: bool) -> bool {
        self == Self::Unknown || self == Self::from(truth)
    }

    fn not(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Unknown => Self::Unknown,
        }
    }
}

impl From<bool> for Truth {
    fn from(truth: bool) -> Self {
        if truth { Self::True } else { Self::False }
    }
}

/// What inputs are taken for that can have one value only.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Constants {
    AsTheyAre,
    /// Somebody who changes the protocol gives them another value.
    MayDiffer,
}

/// What is asked about conditions.
pub(super) struct Judge<'a> {
    pub protocol: &'a Protocol,
    pub space: &'a Space,
    pub constants: Constants,
}

impl Judge<'_> {
    pub fn eval(&self, condition: &Condition, valuation: u32) -> Truth {
        match condition {
            Condition::All(list) => self.fold(list, valuation, false),
            Condition::Any(list) => self.fold(list, valuation, true),
            Condition::Not(inner) => self.eval(inner, valuation).not(),
            Condition::Var { name, .. } if self.constants == Constants::MayDiffer && self.is_constant(name) => {
                Truth::Unknown
            }
            Condition::Var { name, values } => {
                let value = self.space.dim(name).and_then(|dim| self.space.value(valuation, dim));
                value.map_or(Truth::Unknown, |value| values.contains(value).into())
            }
            Condition::It { attr, values } => {
                self.space.atom(valuation, attr, values).map_or(Truth::Unknown, Truth::from)
            }
            // A gate rests on content, unless it reads variables alone; those cannot call each other in a circle.
            Condition::Holds(gate) if super::super::graph::over_variables(self.protocol, gate) => {
                self.protocol.gates.get(gate).map_or(Truth::Unknown, |gate| self.eval(&gate.holds, valuation))
            }
            Condition::Holds(_)
            | Condition::Judged(_)
            | Condition::Answer { .. }
            | Condition::Command { .. }
            | Condition::Artifact { .. }
            | Condition::Set { .. }
            | Condition::Count { .. } => Truth::Unknown,
        }
    }

    /// Whether an input can have one value only.
    pub fn is_constant(&self, name: &str) -> bool {
        let input = self.protocol.inputs.get(name);
        input.is_some_and(|input| matches!(&input.kind, VariableKind::OneOf(values) if values.len() == 1))
    }

    /// `any` for `decides` true, `all` for false.
    fn fold(&self, list: &[Condition], valuation: u32, decides: bool) -> Truth {
        let mut result = Truth::from(!decides);
        for inner in list {
            match self.eval(inner, valuation) {
                truth if truth == Truth::from(decides) => return truth,
                Truth::Unknown => result = Truth::Unknown,
                Truth::True | Truth::False => {}
            }
        }
        result
    }

    /// Gates that hold and artifacts that exist when a condition has a truth value.
    pub fn implied(&self, condition: &Condition, truth: bool, valuation: u32) -> Facts {
        let fact = |bit: Option<&usize>| if truth { bit.map(|bit| Facts::one(*bit)) } else { None }.unwrap_or_default();
        match condition {
            Condition::Not(inner) => self.implied(inner, !truth, valuation),
            Condition::Holds(gate) => fact(self.space.gates.get(&**gate)),
            Condition::Artifact { name, .. } => fact(self.space.artifacts.get(name)),
            Condition::All(list) if truth => self.each_implied(list, truth, valuation, Facts::or),
            Condition::Any(list) if !truth => self.each_implied(list, truth, valuation, Facts::or),
            // One of those that can have this value has it: what all of them imply holds.
            Condition::All(list) | Condition::Any(list) => self.each_implied(list, truth, valuation, Facts::and),
            Condition::Var { .. }
            | Condition::It { .. }
            | Condition::Judged(_)
            | Condition::Answer { .. }
            | Condition::Command { .. }
            | Condition::Set { .. }
            | Condition::Count { .. } => Facts::default(),
        }
    }

    fn each_implied(&self, list: &[Condition], truth: bool, at: u32, merge: fn(Facts, Facts) -> Facts) -> Facts {
        let possible = list.iter().filter(|inner| self.eval(inner, at).can_be(truth));
        possible.map(|inner| self.implied(inner, truth, at)).reduce(merge).unwrap_or_default()
    }

    /// Whether a gate can hold under a valuation, as far as variables tell.
    pub fn gate(&self, gate: &str, valuation: u32) -> Truth {
        self.protocol.gates.get(gate).map_or(Truth::Unknown, |gate| self.eval(&gate.holds, valuation))
    }

    /// Whether a gate is established: by a fact, or because its variables say so.
    pub fn established(&self, gate: &str, valuation: u32, facts: &Facts) -> bool {
        let fact = self.space.gates.get(gate).is_some_and(|bit| facts.has(*bit));
        fact || (super::super::graph::over_variables(self.protocol, gate) && self.gate(gate, valuation) == Truth::True)
    }
}
