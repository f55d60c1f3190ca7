//! The conformance kit: the real command line tools of agents, against a scripted model on loopback.
//!
//! `cargo xtask agents` installs them, says so in `TOLLGATE_AGENTS` (their folder) and `TOLLGATE_KIT` (which adapters), and starts this where
//! nothing but loopback can be reached. What is measured is compared with the committed sheet, and written to it under `TOLLGATE_BLESS=1`.

mod agents;
mod scenarios;
mod stage;
mod team;

use std::path::Path;
use std::sync::Mutex;

use tollgate_engine::workers::agent::{self, AgentCapabilities};

use self::agents::{AGENTS, Agent};

const SHEETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tollgate-engine/src/workers/agent/measured.json");
static WRITING: Mutex<()> = Mutex::new(());

/// An agent that is to be played with; none says so.
fn wanted(adapter: &str, program: &str) -> Option<&'static Agent> {
    let kit = std::env::var("TOLLGATE_KIT").unwrap_or_default();
    if !kit.split(',').any(|named| named == adapter) {
        println!("SKIPPED: `cargo xtask agents` runs the kit on {program} ({adapter})");
        return None;
    }
    AGENTS.iter().find(|agent| (agent.adapter, agent.program) == (adapter, program))
}

/// Plays every scenario on an agent and compares what it can do with its sheet.
fn measure(adapter: &str, program: &str) {
    let Some(agent) = wanted(adapter, program) else { return };
    let path = stage::program(program).unwrap_or_else(|| panic!("{program} is not installed"));
    let version = agent::version(agent::adapter(adapter).unwrap(), &path, Path::new("/")).unwrap();
    let mut sheet = AgentCapabilities {
        adapter: adapter.to_owned(),
        program: program.to_owned(),
        version,
        ..AgentCapabilities::default()
    };
    let only = std::env::var("TOLLGATE_SCENARIO").unwrap_or_default();
    for (name, play) in scenarios::ALL.iter().filter(|(name, _)| name.contains(&only)) {
        println!("{adapter} ({program}) {name}");
        play(agent, &mut sheet);
    }
    println!("MEASURED: {}", serde_json::to_string(&sheet).unwrap());
    if !only.is_empty() {
        return;
    }
    if std::env::var_os("TOLLGATE_BLESS").is_some() {
        bless(&sheet);
    } else {
        let known =
            agent::all_capabilities().iter().find(|known| (known.adapter == adapter) && known.program == program);
        assert_eq!(known, Some(&sheet), "the sheet differs: `TOLLGATE_BLESS=1 cargo xtask agents` writes it anew");
    }
}

fn bless(sheet: &AgentCapabilities) {
    let _one = WRITING.lock().unwrap();
    let text = std::fs::read_to_string(SHEETS).unwrap();
    let mut all: Vec<AgentCapabilities> = serde_json::from_str(&text).unwrap();
    all.retain(|known| (&known.adapter, &known.program) != (&sheet.adapter, &sheet.program));
    all.push(sheet.clone());
    all.sort_by(|one, other| (&one.adapter, &one.program).cmp(&(&other.adapter, &other.program)));
    std::fs::write(SHEETS, format!("{}\n", serde_json::to_string_pretty(&all).unwrap())).unwrap();
}

#[test]
fn claude_conforms() {
    measure("claude", "claude");
}

#[test]
fn claude_plays_a_lean_run_of_the_team() {
    if let Some(agent) = wanted("claude", "claude") {
        team::plays_lean(agent);
    }
}

#[test]
fn codex_conforms() {
    measure("codex", "codex");
}

#[test]
fn copilot_conforms() {
    measure("copilot", "copilot");
}

#[test]
fn gemini_conforms() {
    measure("gemini", "gemini");
}

#[test]
fn opencode_conforms() {
    measure("opencode", "opencode");
}

#[test]
fn qwen_conforms() {
    measure("qwen", "qwen");
}

#[test]
fn copilot_by_the_agent_client_protocol_conforms() {
    measure("acp", "copilot");
}

#[test]
fn opencode_by_the_agent_client_protocol_conforms() {
    measure("acp", "opencode");
}
