//! Ids that say what they are: `run_7k3m9q2x`, `att_12`, `dec_3`, `fnd_7`, and names that the compiler tells apart.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Name;

/// Crockford's base32, lower case: no i, l, o, u.
const CROCKFORD: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const RUN_DIGITS: usize = 8;

/// The name of a run: `run_` and eight digits of Crockford's base32.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId([u8; RUN_DIGITS]);

impl RunId {
    /// Makes an id of 40 random bits.
    pub fn from_bits(bits: u64) -> Self {
        Self(std::array::from_fn(|i| CROCKFORD[(bits >> (5 * (RUN_DIGITS - 1 - i)) & 31) as usize]))
    }

    /// The eight digits without the prefix.
    pub fn digits(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run_{}", self.digits())
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What is wrong with a text that should be an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAnId {
    /// What was expected.
    pub expected: &'static str,
}

impl fmt::Display for NotAnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.expected)
    }
}

impl FromStr for RunId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let expected = NotAnId { expected: "`run_` and eight digits or letters (not i, l, o, u)" };
        let digits = text.strip_prefix("run_").ok_or(expected.clone())?.as_bytes();
        let digits: [u8; RUN_DIGITS] = digits.try_into().map_err(|_| expected.clone())?;
        if digits.iter().all(|d| CROCKFORD.contains(d)) { Ok(Self(digits)) } else { Err(expected) }
    }
}

impl Serialize for RunId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RunId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parsed(deserializer)
    }
}

/// Reads a value from its text where the text lies: a journal holds millions of them, and a copy of each is dear.
pub(crate) fn parsed<'de, T: FromStr<Err: fmt::Display>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Text<T>(std::marker::PhantomData<T>);

    impl<T: FromStr<Err: fmt::Display>> serde::de::Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
    }

    deserializer.deserialize_str(Text(std::marker::PhantomData))
}

macro_rules! counter_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<Self, NotAnId> {
                let expected = NotAnId { expected: concat!("`", $prefix, "` and a number") };
                let number = text.strip_prefix($prefix).ok_or(expected.clone())?;
                // One spelling per id: no sign, no leading zero.
                let plain = number.bytes().all(|b| b.is_ascii_digit()) && (number == "0" || !number.starts_with('0'));
                if plain { number.parse().map(Self).map_err(|_| expected) } else { Err(expected) }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                parsed(deserializer)
            }
        }
    };
}

counter_id!(
    /// One dispatch of a role, one check or one landing: whatever is done under a lease.
    AttemptId, "att_"
);
counter_id!(
    /// One question to a person.
    DecisionId, "dec_"
);
counter_id!(
    /// One thing that is wrong with the work.
    FindingId, "fnd_"
);

macro_rules! name_id {
    ($(#[$doc:meta])* $id:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $id(Name);

        impl Deref for $id {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $id {
            fn borrow(&self) -> &str {
                self
            }
        }

        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl From<&str> for $id {
            fn from(name: &str) -> Self {
                Self(name.into())
            }
        }

        impl From<String> for $id {
            fn from(name: String) -> Self {
                Self(name.into())
            }
        }

        impl From<Name> for $id {
            fn from(name: Name) -> Self {
                Self(name)
            }
        }
    };
}

name_id!(
    /// A flow at work: `main`, or `main/build:api` for the flow of the unit `api` below the stage `build`.
    InstanceId
);
name_id!(
    /// A unit of the run's work.
    UnitId
);
name_id!(
    /// A stage of a flow, or an ask that flows share.
    StageId
);
name_id!(
    /// A role of a protocol.
    RoleId
);
name_id!(
    /// A gate of a protocol.
    GateId
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_an_id_is_written_as_its_text() {
        let id = InstanceId::from("main/build:api");
        let json = serde_json::to_string(&id).unwrap();
        assert_eq!(json, "\"main/build:api\"");
        assert_eq!(serde_json::from_str::<InstanceId>(&json).unwrap(), id);
        assert_eq!((format!("{id:>16}"), format!("{id:?}")), ("  main/build:api".to_owned(), json));
    }

    #[test]
    fn ids_read_what_they_write() {
        for bits in [0, 1, 0xff_ffff_ffff, 0x12_3456_789a] {
            let id = RunId::from_bits(bits);
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        assert_eq!(AttemptId(12).to_string(), "att_12");
        assert_eq!("dec_3".parse(), Ok(DecisionId(3)));
    }

    #[test]
    fn a_wrong_id_does_not_parse() {
        for bad in ["run_", "run_0000000", "run_000000000", "run_0000000i", "run_0000000A", "att_1"] {
            assert!(bad.parse::<RunId>().is_err(), "{bad}");
        }
        for bad in ["fnd_", "fnd_01", "fnd_+1", "fnd_x", "dec_1", "fnd_99999999999999999999"] {
            assert!(bad.parse::<FindingId>().is_err(), "{bad}");
        }
    }
}
