//! The agents of the kit: how each finds the scripted model, what its tools are called, and how its own guard is set.

use serde_json::{Value, json};
use tollgate_testkit::model::Step;

use crate::world::World;

/// An agent that is measured.
pub struct Agent {
    /// The name of its adapter.
    pub adapter: &'static str,
    /// Its program.
    pub program: &'static str,
    /// What a configuration says of it, and what it needs in its home, so that it asks the model at an address.
    pub finds: fn(&str, &mut World) -> Setup,
    /// Writes a file: the path, whole or from its folder, and the text.
    pub write: fn(&str, &str) -> Step,
    /// Runs a command.
    pub shell: fn(&str) -> Step,
    /// Arguments by which it may run commands.
    pub all: &'static [&'static str],
    /// Arguments by which it may write nothing.
    pub look: &'static [&'static str],
    /// Arguments by which it is held to the schema in a file, where it has some; `SCHEMA` is its text, `FILE` its path.
    pub schema: &'static [&'static str],
    /// How its service refuses with a quota that ends in an hour.
    pub quota: fn() -> Step,
    /// What it has to be told of a server of tools; `SERVER` is its program, `FILE` a JSON file that names it.
    pub mcp: Mcp,
}

/// How an agent is told of a server of tools.
pub enum Mcp {
    Args(&'static [&'static str]),
    /// Its settings in a file of its home get this key.
    Settings(&'static str, &'static str),
}

/// What a configuration says of an agent.
#[derive(Default)]
pub struct Setup {
    pub model: Option<&'static str>,
    pub env: Vec<&'static str>,
    pub args: Vec<String>,
}

const KEY: &str = "scripted-key-00000000";

pub const AGENTS: [Agent; 8] = [CLAUDE, CODEX, COPILOT, GEMINI, OPENCODE, QWEN, ACP_COPILOT, ACP_OPENCODE];

const CLAUDE: Agent = Agent {
    adapter: "claude",
    program: "claude",
    finds: |address, world| {
        world.set("ANTHROPIC_BASE_URL", address).set("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-scripted-0000000000");
        world.set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").set("IS_SANDBOX", "1");
        Setup { model: Some("claude-sonnet-4-5"), ..Setup::default() }
    },
    write: |path, text| Step::Tool("Write", json!({"file_path": path, "content": text})),
    shell: |command| Step::Tool("Bash", json!({"command": command, "description": "does it"})),
    all: &["--dangerously-skip-permissions"],
    look: &["--permission-mode", "dontAsk"],
    schema: &["--json-schema", "SCHEMA"],
    quota: || {
        let headers = vec![
            ("retry-after", "3600".to_owned()),
            ("anthropic-ratelimit-unified-status", "rejected".to_owned()),
            ("anthropic-ratelimit-unified-reset", "1900000000".to_owned()),
            ("anthropic-ratelimit-unified-representative-claim", "five_hour".to_owned()),
        ];
        Step::Refuse(
            429,
            headers,
            json!({"type": "error", "error": {"type": "rate_limit_error", "message": "This request would exceed your account's rate limit."}}),
        )
    },
    mcp: Mcp::Args(&["--mcp-config", "FILE", "--strict-mcp-config"]),
};

const CODEX: Agent = Agent {
    adapter: "codex",
    program: "codex",
    finds: |address, world| {
        world.set("SCRIPTED_KEY", KEY);
        let provider = format!("{{name='s',base_url='{address}/v1',wire_api='responses',env_key='SCRIPTED_KEY'}}");
        let args =
            ["-c", "model_provider='s'", "-c", &format!("model_providers.s={provider}")].map(str::to_owned).to_vec();
        Setup { model: Some("scripted"), env: vec!["SCRIPTED_KEY"], args }
    },
    write: |path, text| Step::Tool("exec_command", json!({"cmd": format!("printf '%s' '{text}' > '{path}'")})),
    shell: |command| Step::Tool("exec_command", json!({"cmd": command})),
    all: &["-c", "sandbox_mode='danger-full-access'"],
    look: &["-c", "sandbox_mode='read-only'"],
    schema: &["--output-schema", "FILE"],
    quota: || {
        Step::Refuse(
            429,
            vec![],
            json!({"error": {"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus", "resets_at": 1_900_000_000}}),
        )
    },
    mcp: Mcp::Args(&["-c", "mcp_servers.probe={command='SERVER',args=['SCRIPT']}"]),
};

const COPILOT: Agent = Agent {
    adapter: "copilot",
    program: "copilot",
    finds: |address, world| {
        copilot(address, world);
        Setup { model: Some("scripted"), ..Setup::default() }
    },
    write: |path, text| Step::Tool("create", json!({"path": path, "file_text": text})),
    shell: |command| Step::Tool("bash", json!({"command": command, "description": "does it"})),
    all: &["--allow-all"],
    look: &["--deny-tool=write"],
    schema: &[],
    quota: limited,
    mcp: Mcp::Args(&["--additional-mcp-config", "@FILE"]),
};

const GEMINI: Agent = Agent {
    adapter: "gemini",
    program: "gemini",
    finds: |address, world| {
        settings(
            world,
            ".gemini/settings.json",
            &json!({"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}}),
        );
        world.set("GEMINI_API_KEY", KEY).set("GOOGLE_GEMINI_BASE_URL", address);
        Setup { model: Some("gemini-2.5-flash"), ..Setup::default() }
    },
    write: |path, text| Step::Tool("write_file", json!({"file_path": path, "content": text})),
    shell: |command| Step::Tool("run_shell_command", json!({"command": command, "description": "does it"})),
    all: &["--approval-mode", "yolo"],
    look: &["--approval-mode", "default"],
    schema: &[],
    quota: || {
        let details = json!([
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests", "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3600s"},
        ]);
        Step::Refuse(
            429,
            vec![],
            json!({"error": {"code": 429, "message": "You exceeded your current quota.", "status": "RESOURCE_EXHAUSTED", "details": details}}),
        )
    },
    mcp: Mcp::Settings(".gemini/settings.json", "mcpServers"),
};

const OPENCODE: Agent = Agent {
    adapter: "opencode",
    program: "opencode",
    finds: |address, world| {
        opencode(address, world);
        Setup { model: Some("s/scripted"), ..Setup::default() }
    },
    write: |path, text| Step::Tool("write", json!({"filePath": path, "content": text})),
    shell: |command| Step::Tool("bash", json!({"command": command, "description": "does it"})),
    all: &["--auto"],
    look: &["--agent", "plan"],
    schema: &[],
    quota: limited,
    mcp: Mcp::Settings(".config/opencode/opencode.json", "mcp"),
};

const QWEN: Agent = Agent {
    adapter: "qwen",
    program: "qwen",
    finds: |address, world| {
        qwen(address, world);
        Setup { model: Some("scripted"), ..Setup::default() }
    },
    write: |path, text| Step::Tool("write_file", json!({"file_path": path, "content": text})),
    shell: |command| {
        Step::Tool("run_shell_command", json!({"command": command, "is_background": false, "description": "does it"}))
    },
    all: &["--approval-mode", "yolo"],
    look: &["--approval-mode", "plan"],
    schema: &["--json-schema", "@FILE"],
    quota: limited,
    mcp: Mcp::Args(&["--mcp-config", "FILE"]),
};

const ACP_COPILOT: Agent = Agent {
    adapter: "acp",
    finds: |address, world| {
        copilot(address, world);
        Setup { env: vec!["COPILOT_*"], args: vec!["--acp".to_owned()], ..Setup::default() }
    },
    all: &["--permit", "all", "--"],
    look: &["--permit", "nothing", "--"],
    mcp: Mcp::Args(&["--additional-mcp-config", "@FILE"]),
    ..COPILOT
};

const ACP_OPENCODE: Agent = Agent {
    adapter: "acp",
    finds: |address, world| {
        opencode(address, world);
        Setup { env: vec!["OPENCODE_*"], args: vec!["acp".to_owned()], ..Setup::default() }
    },
    all: &["--permit", "all", "--"],
    look: &["--permit", "nothing", "--"],
    ..OPENCODE
};

fn limited() -> Step {
    Step::Refuse(
        429,
        vec![("retry-after", "3600".to_owned())],
        json!({"error": {"type": "rate_limit_error", "message": "Rate limit reached"}}),
    )
}

fn copilot(address: &str, world: &mut World) {
    world.set("COPILOT_PROVIDER_BASE_URL", &format!("{address}/v1")).set("COPILOT_PROVIDER_API_KEY", KEY);
    world.set("COPILOT_MODEL", "scripted").set("COPILOT_OFFLINE", "true");
}

fn opencode(address: &str, world: &mut World) {
    let models = json!({"scripted": {"limit": {"context": 100_000, "output": 10_000}}});
    let options = json!({"baseURL": format!("{address}/v1"), "apiKey": KEY});
    let provider = json!({"s": {"npm": "@ai-sdk/openai-compatible", "options": options, "models": models}});
    settings(
        world,
        ".config/opencode/opencode.json",
        &json!({"provider": provider, "model": "s/scripted", "small_model": "s/scripted"}),
    );
    world.set("OPENCODE_DISABLE_MODELS_FETCH", "1");
}

fn qwen(address: &str, world: &mut World) {
    world.set("OPENAI_API_KEY", KEY).set("OPENAI_BASE_URL", &format!("{address}/v1")).set("OPENAI_MODEL", "scripted");
}

/// Puts a file of settings into the home.
pub fn settings(world: &World, path: &str, value: &Value) {
    let path = world.path("home").join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, value.to_string()).unwrap();
}
