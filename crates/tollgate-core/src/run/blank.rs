//! How absent values are written where journals and states have always had a zero or an empty word for them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::{AttemptId, DecisionId};
use crate::protocol::Outcome;

/// A type with a value that is written for none and means nothing else.
pub(super) trait Blank: Clone + PartialEq {
    fn blank() -> Self;
}

impl Blank for u32 {
    fn blank() -> Self {
        0
    }
}

impl Blank for u64 {
    fn blank() -> Self {
        0
    }
}

impl Blank for AttemptId {
    fn blank() -> Self {
        Self(0)
    }
}

impl Blank for DecisionId {
    fn blank() -> Self {
        Self(0)
    }
}

impl Blank for Outcome {
    fn blank() -> Self {
        Self::Named("".into())
    }
}

/// Serialises none as the blank value; for `#[serde(with = …)]`.
pub(super) mod blank_as_none {
    use super::{Blank, Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<T: Blank + Serialize, S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => value.serialize(serializer),
            None => T::blank().serialize(serializer),
        }
    }

    pub fn deserialize<'de, T: Blank + Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error> {
        T::deserialize(deserializer).map(|value| (value != T::blank()).then_some(value))
    }
}

/// Writes what a unit was accepted on in the shape of a result that passed, as states have always had it.
pub(super) mod accepted_as_shown {
    use super::super::state::{On, Shown};
    use super::{AttemptId, Deserialize, Deserializer, Serialize, Serializer};
    use crate::report::Judgement;

    pub fn serialize<S: Serializer>(on: &Option<On>, serializer: S) -> Result<S::Ok, S::Error> {
        let shown = |on: &On| Shown {
            result: Judgement::Pass,
            on: on.clone(),
            attempt: AttemptId(0),
            object: None,
            note: String::new(),
            flaky: None,
            changes: Vec::new(),
            setup: Vec::new(),
        };
        on.as_ref().map(shown).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<On>, D::Error> {
        Option::<Shown>::deserialize(deserializer).map(|shown| shown.map(|shown| shown.on))
    }
}
