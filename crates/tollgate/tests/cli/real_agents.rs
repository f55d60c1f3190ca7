//! The real command line tools of agents, against a scripted model on loopback: `cargo xtask test --full`.
//!
//! An agent that is not installed is skipped, and said so. `TOLLGATE_AGENTS` names a folder with their programs, such as the
//! `node_modules/.bin` of `npm install @anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai`.

use serde_json::{Value, json};
use tollgate_core::run::Event;
use tollgate_testkit::model::{Model, Step};

use crate::play::{Play, TASK, script};
use crate::world::full;

const REPORT: &str = "\
## Status
complete

## Abstract
outcome: built
verdict: n/a
files: 1 created, 0 modified, 0 deleted
next_phase: dod-checker
open_questions: 0

## Files Created
- greet.sh

## DoD coverage
- ✓ DoD-1
";

/// The folders where agents may be.
fn search_path() -> String {
    let own = std::env::var("TOLLGATE_AGENTS").unwrap_or_default();
    format!("{own}:{}", std::env::var("PATH").unwrap_or_default())
}

fn is_installed(program: &str) -> bool {
    std::env::split_paths(&search_path()).any(|folder| folder.is_absolute() && folder.join(program).is_file())
}

/// The developer of a plan is a real agent; the others follow a script.
fn builds(agent: &str, tool: (&'static str, Value), config: impl Fn(&Model, &mut Play) -> String) {
    if !full() || !is_installed(agent) {
        println!("SKIPPED: {agent} runs in `cargo xtask test --full`, where it is installed");
        return;
    }
    let model = Model::start(vec![Step::Tool(tool.0, tool.1), Step::Say(REPORT.to_owned())]).unwrap();
    let mut play = Play::new(TASK, &script(&[]));
    let path = format!("{}:{}", play.world.path("bin").display(), search_path());
    let folder = play.world.path("tmp");
    std::fs::create_dir_all(&folder).unwrap();
    // Codex does without its sandbox where its own folder lies below the one for temporary files, and then does nothing.
    play.world.set("PATH", &path).set("TMPDIR", &folder.display().to_string());
    let config = config(&model, &mut play);
    std::fs::create_dir_all(play.world.path("home/.config/tollgate")).unwrap();
    let config = format!("[worker.real]\nadapter = \"{agent}\"\n{config}");
    std::fs::write(play.world.path("home/.config/tollgate/config.toml"), config).unwrap();
    let words = ["--input", "complexity=standard", "--answer", "sign-off=approve", "--worker", "developer=real"];
    let said = play.start(&words);
    let log = if play.run.is_empty() { String::new() } else { play.log("developer", 1) };
    assert_eq!(said.code, Some(0), "{}\n{log}\n{:?}", said.err, model.calls());
    assert_eq!(play.file("greet.sh").as_deref(), Some("echo Hello\n"), "{log}");
    let told = play.events().into_iter().find_map(|event| match event.event {
        Event::AttemptReported(reported) => reported.told,
        _ => None,
    });
    let told = told.unwrap();
    assert_eq!((&*told.adapter, told.usage.input_tokens, told.usage.output_tokens), (agent, Some(240), Some(60)));
    assert!(told.session.is_some() && told.denied.is_empty(), "{told:?}");
    play.holds();
}

#[test]
fn claude_code_builds_a_plan() {
    builds("claude", ("Write", json!({"file_path": "greet.sh", "content": "echo Hello\n"})), |model, play| {
        play.world.set("ANTHROPIC_BASE_URL", &model.address()).set("ANTHROPIC_API_KEY", "sk-ant-scripted-0000");
        play.world.set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        "model = \"claude-sonnet-4-5\"\n".to_owned()
    });
}

#[test]
fn codex_builds_a_plan() {
    builds("codex", ("exec_command", json!({"cmd": "echo 'echo Hello' > greet.sh"})), |model, play| {
        play.world.set("SCRIPTED_KEY", "scripted-key-0000");
        let provider =
            format!("{{name='s',base_url='{}/v1',wire_api='responses',env_key='SCRIPTED_KEY'}}", model.address());
        format!(
            "model = \"scripted\"\nenv = [\"SCRIPTED_KEY\"]\nargs = [\"-c\", \"model_provider='s'\", \"-c\", \"model_providers.s={provider}\"]\n"
        )
    });
}

#[test]
fn gemini_builds_a_plan() {
    builds("gemini", ("write_file", json!({"file_path": "greet.sh", "content": "echo Hello\n"})), |model, play| {
        let settings = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}});
        std::fs::create_dir_all(play.world.path("home/.gemini")).unwrap();
        std::fs::write(play.world.path("home/.gemini/settings.json"), settings.to_string()).unwrap();
        play.world.set("GEMINI_API_KEY", "scripted-key-0000").set("GOOGLE_GEMINI_BASE_URL", &model.address());
        "model = \"gemini-2.5-flash\"\n".to_owned()
    });
}

#[test]
fn opencode_builds_a_plan() {
    builds("opencode", ("write", json!({"filePath": "greet.sh", "content": "echo Hello\n"})), |model, play| {
        let models = json!({"scripted": {"limit": {"context": 100_000, "output": 10_000}}});
        let options = json!({"baseURL": format!("{}/v1", model.address()), "apiKey": "scripted-key-0000"});
        let provider = json!({"s": {"npm": "@ai-sdk/openai-compatible", "options": options, "models": models}});
        let config = json!({"provider": provider, "model": "s/scripted", "small_model": "s/scripted"});
        let path = play.world.path("home/opencode.json");
        std::fs::write(&path, config.to_string()).unwrap();
        play.world.set("OPENCODE_CONFIG", &path.display().to_string()).set("OPENCODE_DISABLE_MODELS_FETCH", "1");
        "model = \"s/scripted\"\n".to_owned()
    });
}
