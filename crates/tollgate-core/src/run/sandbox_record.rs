//! What held a program while it ran. It decides nothing: the journal says what was on, not what anybody hoped for.

use serde::{Deserialize, Serialize};

use super::blank::blank_as_none;
use crate::words::words;

/// How much is asked of the sandbox, the most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sandbox {
    /// All of it, or nothing is started.
    Require,
    /// What this machine can do.
    #[default]
    Prefer,
    Off,
}

words!(Sandbox { Require = "require", Prefer = "prefer", Off = "off" });

/// What a program could reach of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    #[default]
    Open,
    /// A network of its own, with nobody else in it.
    Denied,
    /// No TCP; the rest is open.
    NoTcp,
}

/// Into whose memory a program gets, the strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tracing {
    /// Nobody's: a debugger and a leak checker are refused, too.
    Refused,
    /// That of what it started itself, and the memory that it shares.
    #[default]
    Descendants,
    /// That of every process beside it.
    Open,
}

impl Tracing {
    /// What holds where this is what a machine can do, and that is asked for.
    #[must_use]
    pub fn as_asked(self, asked: Self) -> Self {
        match (self, asked) {
            (Self::Open, _) | (_, Self::Open) => Self::Open,
            (able, asked) => able.min(asked),
        }
    }
}

words!(Tracing { Refused = "refused", Descendants = "descendants", Open = "open" });

/// What of the tree that a command checks stayed as it was while it ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HeldTree {
    /// Nothing: it was no command that checks, or nothing could hold it.
    #[default]
    None,
    /// Tests, protected paths, lock files and what the command names: it has too many paths.
    Part,
    /// Everything but what commands may write.
    Whole,
}

/// What became of the folders that an agent has in the home folder: its settings, its memory, its login.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentFolders {
    /// It was no agent, or an older version did not look.
    #[default]
    None,
    /// They stayed as they were, but for its login.
    Held,
    /// It could write them, and what it wrote stays.
    Open,
}

/// The first version of Landlock that knows sockets without a path.
const ABSTRACT_SOCKETS: u32 = 6;

/// What held a program.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxRecord {
    /// What was asked for.
    pub sandbox: Sandbox,
    /// Whether its processes lived and died in a namespace of their own.
    #[serde(default, skip_serializing_if = "is_default")]
    pub processes: bool,
    /// The version of Landlock that kept it to its files; none: nothing did.
    #[serde(default, skip_serializing_if = "is_default", with = "blank_as_none")]
    pub landlock: Option<u32>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub network: Network,
    /// None: nothing held it, and older versions did not look.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tracing: Option<Tracing>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub tree: HeldTree,
    #[serde(default, skip_serializing_if = "is_default")]
    pub agent_folders: AgentFolders,
    /// Whether a command saw the variable by which its processes are found again: nothing else ends what outlives it, or tells that no
    /// person calls from below it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shows_attempt: bool,
    /// Why something of it is missing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub missing: String,
}

impl SandboxRecord {
    /// Whether a program could reach sockets that have a name and no path: Landlock of version 6 keeps it from those of others.
    pub fn reaches_abstract_sockets(&self) -> bool {
        self.landlock.is_some_and(|version| version < ABSTRACT_SOCKETS) && self.network != Network::Denied
    }

    /// Whether a program could neither leave its files nor outlive its end.
    pub fn holds(&self) -> bool {
        self.processes && self.landlock.is_some()
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_on_is_not_written() {
        let off = SandboxRecord { sandbox: Sandbox::Off, ..SandboxRecord::default() };
        assert_eq!(serde_json::to_string(&off).unwrap(), r#"{"sandbox":"off"}"#);
        let on =
            SandboxRecord { processes: true, landlock: Some(7), network: Network::NoTcp, ..SandboxRecord::default() };
        let text = serde_json::to_string(&on).unwrap();
        assert_eq!(text, r#"{"sandbox":"prefer","processes":true,"landlock":7,"network":"no_tcp"}"#);
        assert_eq!(serde_json::from_str::<SandboxRecord>(&text).unwrap(), on);
        assert_eq!(serde_json::from_str::<SandboxRecord>(r#"{"sandbox":"off","landlock":0}"#).unwrap(), off);
    }
}
