//! Outcomes: what a stage came to. Protocols route them, and journals keep them, by their words.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Name;
use crate::report::{Health, Verdict};
use crate::words::words;

/// The outcomes of a landing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LandOutcome {
    Landed,
    Conflict,
    OutOfScope,
    Refused,
}

words!(LandOutcome { Landed = "landed", Conflict = "conflict", OutOfScope = "out_of_scope", Refused = "refused" });

macro_rules! outcomes {
    ($($(#[$doc:meta])* $variant:ident = $word:literal,)*) => {
        /// What a stage came to, or why a flow is held at it.
        ///
        /// A word has one reading, whatever its stage is: an ask's option `accept` is read like the verdict.
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Outcome {
            /// How a worker fared, with the code it gave.
            Health(Health, Option<Name>),
            /// What a judge judged; never [`Verdict::None`].
            Verdict(Verdict),
            Land(LandOutcome),
            $($(#[$doc])* $variant,)*
            /// A flow below was left by `raise NAME`.
            Raised(Name),
            /// Any other word: an option of an ask, by its id.
            Named(Name),
        }

        impl Outcome {
            /// The word used in protocols and journals.
            pub fn word(&self) -> Cow<'_, str> {
                match self {
                    Self::Health(health, None) => health.word().into(),
                    Self::Health(health, Some(code)) => format!("{}.{code}", health.word()).into(),
                    Self::Verdict(verdict) => verdict.word().into(),
                    Self::Land(outcome) => outcome.word().into(),
                    $(Self::$variant => $word.into(),)*
                    Self::Raised(name) => format!("raise {name}").into(),
                    Self::Named(name) => (&**name).into(),
                }
            }

            fn plain(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

outcomes! {
    /// Every gate of a check holds.
    Pass = "pass",
    Fail = "fail",
    Stale = "stale",
    Unobservable = "unobservable",
    /// Every unit of an `each` is done.
    All = "all",
    Some = "some",
    None = "none",
    /// A person answered in words.
    Answered = "answered",
    Cancelled = "cancelled",
    /// The stage's condition did not hold.
    Skipped = "skipped",
    /// The flow reached `done`, and what that needs does not hold.
    Done = "done",
    /// Something that the stage requires is missing.
    Requires = "requires",
    /// The work tree could not be prepared.
    Unready = "unready",
}

impl Outcome {
    pub const OK: Self = Self::Health(Health::Ok, None);

    /// What was raised, if the flow was left by a raise.
    pub const fn raised(&self) -> Option<&Name> {
        if let Self::Raised(name) = self { Some(name) } else { None }
    }
}

impl From<&str> for Outcome {
    fn from(word: &str) -> Self {
        let (head, code) = word.split_once('.').map_or((word, None), |(head, code)| (head, Some(code.into())));
        Self::plain(word)
            .or_else(|| Health::parse(head).map(|health| Self::Health(health, code)))
            .or_else(|| Verdict::parse(word).map(Self::Verdict))
            .or_else(|| LandOutcome::parse(word).map(Self::Land))
            .or_else(|| word.strip_prefix("raise ").map(|name| Self::Raised(name.into())))
            .unwrap_or_else(|| Self::Named(word.into()))
    }
}

impl FromStr for Outcome {
    type Err = Infallible;

    fn from_str(word: &str) -> Result<Self, Infallible> {
        Ok(word.into())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word())
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.word())
    }
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::id::parsed(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_reads_as_one_outcome_and_is_written_back() {
        let words = "ok partial failed.quota failed.a.b accept accept_with_notes inconclusive pass fail stale \
                     unobservable all some none landed out_of_scope answered cancelled skipped done requires unready \
                     approve run.tokens accept.x";
        for word in words.split_whitespace().chain(["", "raise replan", "raise "]) {
            let outcome = Outcome::from(word);
            assert_eq!(outcome.word(), word);
            assert_ne!(outcome, Outcome::Verdict(Verdict::None));
            assert_eq!(serde_json::to_string(&outcome).unwrap(), format!("{word:?}"));
            assert_eq!(serde_json::from_str::<Outcome>(&format!("{word:?}")).unwrap(), outcome);
        }
        assert_eq!(Outcome::from("failed.quota"), Outcome::Health(Health::Failed, Some("quota".into())));
        assert_eq!(Outcome::from("raise replan").raised().map(|name| &**name), Some("replan"));
    }
}
