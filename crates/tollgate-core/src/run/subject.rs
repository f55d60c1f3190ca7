//! Keys of the ledger: a name, and the subject it belongs to.

use std::cmp::Ordering;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Name;
use crate::id::UnitId;

/// A role, ask or command together with its subject; written `name` for the run and `name@unit` for a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectKey {
    pub name: Name,
    /// The unit; none: the run.
    pub unit: Option<UnitId>,
}

impl SubjectKey {
    fn bytes(&self) -> impl Iterator<Item = u8> {
        let unit = self.unit.iter().flat_map(|unit| std::iter::once(b'@').chain(unit.bytes()));
        self.name.bytes().chain(unit)
    }
}

// As the texts are ordered: states and lists keep the order they were written in.
impl Ord for SubjectKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bytes().cmp(other.bytes())
    }
}

impl PartialOrd for SubjectKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for SubjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.unit {
            Some(unit) => write!(f, "{}@{unit}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl FromStr for SubjectKey {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let (name, unit) = text.split_once('@').map_or((text, None), |(name, unit)| (name, Some(unit.into())));
        Ok(Self { name: name.into(), unit })
    }
}

impl Serialize for SubjectKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SubjectKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::id::parsed(deserializer)
    }
}
