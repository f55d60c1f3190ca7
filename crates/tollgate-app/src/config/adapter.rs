//! Adapters, by the word that a configuration has for them.

use serde::{Deserialize, Serialize};
use tollgate_engine::workers::agent::{ADAPTERS, Adapter as AgentAdapter};

/// How Tollgate speaks with a worker.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Adapter {
    /// A program: brief on stdin, report in a file or on stdout.
    Command,
    /// A YAML file that says what to write and report.
    Script,
    /// A program with a model behind it.
    Agent(&'static AgentAdapter),
}

impl Adapter {
    /// Its name in a configuration.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Script => "script",
            Self::Agent(adapter) => adapter.name,
        }
    }

    /// Every adapter there is.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        [Self::Command, Self::Script].into_iter().chain(ADAPTERS.into_iter().map(Self::Agent))
    }

    pub(super) fn parse(word: &str) -> Option<Self> {
        Self::all().find(|adapter| adapter.word() == word)
    }
}

impl PartialEq for Adapter {
    fn eq(&self, other: &Self) -> bool {
        self.word() == other.word()
    }
}

impl Eq for Adapter {}

impl From<Adapter> for &'static str {
    fn from(adapter: Adapter) -> Self {
        adapter.word()
    }
}

impl TryFrom<String> for Adapter {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        Self::parse(&word).ok_or_else(|| format!("there is no adapter `{word}`"))
    }
}
