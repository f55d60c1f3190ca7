//! What agents can do, as the conformance kit measured it on the real programs (`cargo xtask agents`). What was not measured is unknown.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// What one agent can do, in one version.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentCapabilities {
    /// How Tollgate speaks with it.
    pub adapter: String,
    /// Its program.
    pub program: String,
    /// What that said its version is.
    pub version: String,
    /// Whether it can be held to a JSON Schema.
    pub schema: Option<Schema>,
    /// Whether a session can be gone on with.
    pub resume: Option<Resume>,
    /// Whether it tells the tokens it used.
    pub usage: Option<bool>,
    /// Whether it tells what that cost.
    pub cost: Option<bool>,
    /// Whether it tells its turns as it works, so that it is stopped when they are used up.
    pub turns: Option<bool>,
    /// Whether it tells its tokens as it works, too.
    pub tokens_at_work: Option<bool>,
    /// Whether it can be kept from writing.
    pub read_only: Option<bool>,
    /// Whether it works without a person to allow each step.
    pub unattended: Option<bool>,
    /// Whether it can be given servers of tools.
    pub mcp: Option<bool>,
    /// Whether it tells what it was not allowed to do.
    pub denials: Option<bool>,
    /// What it tells of an exhausted quota.
    pub quota: Option<QuotaReport>,
    /// Whether nothing of it is left when it is ended, also what left its session.
    pub whole_tree_kill: Option<bool>,
}

/// Whether an agent can be held to a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schema {
    /// It checks the answer itself.
    Enforced,
    /// It hands the schema on and believes the answer.
    BestEffort,
    None,
}

/// Where a session can be gone on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resume {
    Anywhere,
    /// Only in the folder that it began in.
    SameFolder,
    None,
}

/// What an agent tells of an exhausted quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuotaReport {
    /// When it ends.
    Time,
    /// That there is one.
    Words,
    /// Nothing: it waits by itself.
    None,
}

static SHEETS: LazyLock<Vec<AgentCapabilities>> =
    LazyLock::new(|| serde_json::from_str(include_str!("measured.json")).unwrap_or_default());

/// Every sheet there is.
pub fn all_capabilities() -> &'static [AgentCapabilities] {
    &SHEETS
}

/// The sheet of an adapter and a program; of a program by another name, the one of the adapter, where there is only one.
pub fn capabilities_of(adapter: &str, program: &str) -> Option<&'static AgentCapabilities> {
    let of: Vec<&AgentCapabilities> = SHEETS.iter().filter(|sheet| sheet.adapter == adapter).collect();
    let name = program.rsplit('/').next().unwrap_or(program);
    of.iter().find(|sheet| sheet.program == name).copied().or(of.first().copied().filter(|_| of.len() == 1))
}

#[cfg(test)]
mod tests {
    use super::super::ADAPTERS;
    use super::*;

    #[test]
    fn every_adapter_was_measured() {
        let read: Vec<AgentCapabilities> = serde_json::from_str(include_str!("measured.json")).unwrap();
        assert_eq!(read, all_capabilities());
        for adapter in ADAPTERS {
            let of: Vec<&AgentCapabilities> = read.iter().filter(|sheet| sheet.adapter == adapter.name).collect();
            assert!(!of.is_empty(), "{} was never run: `TOLLGATE_BLESS=1 cargo xtask agents`", adapter.name);
            for sheet in of {
                assert!(sheet.version.bytes().any(|byte| byte.is_ascii_digit()), "{sheet:?}");
                assert_eq!(sheet.whole_tree_kill, Some(true), "{sheet:?}");
            }
        }
    }

    /// The page for people says what the sheets say.
    #[test]
    fn the_page_shows_what_was_measured() {
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/workers.md")).unwrap();
        let yes = |does: Option<bool>| if does.unwrap() { "yes" } else { "no" };
        for sheet in all_capabilities() {
            let name = match sheet.adapter == sheet.program {
                true => sheet.adapter.clone(),
                false => format!("{} ({})", sheet.adapter, sheet.program),
            };
            let schema = match sheet.schema.unwrap() {
                Schema::Enforced => "enforced",
                Schema::BestEffort => "best effort",
                Schema::None => "none",
            };
            let resume = match sheet.resume.unwrap() {
                Resume::Anywhere => "anywhere",
                Resume::SameFolder => "same folder",
                Resume::None => "no",
            };
            let quota = match sheet.quota.unwrap() {
                QuotaReport::Time => "with its end",
                QuotaReport::Words => "in words",
                QuotaReport::None => "no, it waits",
            };
            let told = [sheet.usage, sheet.cost, sheet.denials].map(yes).join(" | ");
            let stopped = match (sheet.turns.unwrap(), sheet.tokens_at_work.unwrap()) {
                (true, true) => "turns, tokens",
                (true, false) => "turns",
                (false, true) => "tokens",
                (false, false) => "no",
            };
            let row =
                format!("| {name} | {schema} | {resume} | {told} | {stopped} | {quota} | {} |\n", yes(sheet.read_only));
            assert!(page.contains(&row), "{row}");
            assert_eq!((sheet.unattended, sheet.mcp), (Some(true), Some(true)), "the page says so of all");
        }
    }

    #[test]
    fn a_program_by_another_name_has_the_sheet_of_its_adapter() {
        assert_eq!(capabilities_of("claude", "/opt/my-claude").map(|sheet| sheet.program.as_str()), Some("claude"));
        assert_eq!(capabilities_of("acp", "/opt/bin/opencode").map(|sheet| sheet.program.as_str()), Some("opencode"));
        assert_eq!(capabilities_of("acp", "another"), None, "what another agent can do says nothing of it");
        assert_eq!(capabilities_of("command", "x"), None);
    }
}
