//! The worker of a name, as the configuration of the folder has it, or as it was typed.

use std::path::Path;

use tollgate_app::config::paths::{Named, Paths};
use tollgate_app::config::{self, Adapter, Assigned, Choice, Config, Origin};
use tollgate_app::environment::Environment;
use tollgate_app::failure::Failure;
use tollgate_app::repository::Folder;
use tollgate_app::trust::Standing;
use tollgate_core::code::Code;
use tollgate_engine::delegate::{Program, ResolvedWorker};
use tollgate_engine::sandbox::SandboxRequest;
use tollgate_engine::workers::agent::AgentSpec;
use tollgate_engine::workers::command::BriefBy;
use tollgate_engine::workers::pinned_files;

use super::{ProgramArgs, PromptMode};

/// The worker that is no name of one: its program is typed.
const COMMAND: &str = "command";
/// Another name of an agent.
const CLAUDE_CODE: &str = "claude-code";

/// Refuses what nobody can have meant.
pub(super) fn checked(agent: &str, args: &ProgramArgs) -> Result<(), Failure> {
    if agent == COMMAND && args.adapter_command.is_none() {
        return Err(Failure::usage(Code::USAGE, "`--agent command` names no program")
            .hint("name it: `--adapter-command '[\"PROGRAM\", \"ARGUMENT\"]'`"));
    }
    typed_words(args).map(drop)
}

/// The name that the configuration knows a worker by.
pub(super) fn known<'a>(agent: &'a str, config: &Config) -> &'a str {
    if agent == CLAUDE_CODE && !config.workers().contains_key(agent) { "claude" } else { agent }
}

/// Who names a worker.
pub(super) fn origin(agent: &str, config: &Config) -> Origin {
    config.workers().get(known(agent, config)).map_or(Origin::BuiltIn, |setting| setting.from)
}

/// The words of a program that was typed.
pub(super) fn typed_words(args: &ProgramArgs) -> Result<Option<Vec<String>>, Failure> {
    let Some(text) = &args.adapter_command else { return Ok(None) };
    let wrong = |why: String| {
        Failure::usage(Code::USAGE, "`--adapter-command` is no program with its arguments")
            .because(why)
            .hint("write a JSON list of texts: `[\"PROGRAM\", \"ARGUMENT\"]`")
    };
    let words: Vec<String> = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    if words.first().is_none_or(|program| program.trim().is_empty()) {
        return Err(wrong("it names no program".to_owned()));
    }
    if words.iter().any(|word| word.contains('\0')) {
        return Err(wrong("an argument holds a zero byte".to_owned()));
    }
    Ok(Some(words))
}

/// Finds a worker. `directory` is where paths that were typed count from, the environment's is where the work is.
pub(super) fn hire(
    agent: &str,
    role: &str,
    args: &ProgramArgs,
    environment: &Environment,
    directory: &Path,
) -> Result<ResolvedWorker, Failure> {
    let standing = Standing::look(environment)?;
    let config = Config::load(environment, standing.trusted())?;
    let typed = typed_words(args)?;
    let source = if typed.is_some() { "override" } else { origin(agent, &config).word() };
    let assigned = match typed {
        Some(words) => {
            let worker = config::Worker::plain(Adapter::Command, words);
            Assigned { name: None, worker, from: Origin::Flag }
        }
        None => config.assign(role, &Choice::Named(known(agent, &config).to_owned()), Origin::Flag)?,
    };
    let paths = Paths { standing: &standing, directory };
    let program = program(&assigned, args, paths)?;
    let pins = program.words().iter().any(|word| pinned_files::named_by(word).is_some());
    let folder = standing.trusted().filter(|_| pins);
    let folder = folder.into_iter().flat_map(Folder::files).map(|(path, file)| (path.to_owned(), file.clone()));
    let config::Bounds { sandbox, reads, writes } = assigned.worker.bounds.clone();
    let reads = [reads, config.reads()].concat();
    let asked = SandboxRequest { sandbox, reads, writes, env: assigned.worker.agent.env.clone(), tracing: None };
    let base =
        if assigned.is_typed() { directory } else { standing.repository().map_or(directory, |found| found.root()) };
    Ok(ResolvedWorker {
        program,
        asked: asked.under(
            config.sandbox().map(|setting| setting.value),
            config.tracing().map(|setting| setting.value),
            config.env(),
        ),
        folder: folder.collect(),
        base: base.to_owned(),
        source,
        examples: config.example_secrets(),
    })
}

fn program(assigned: &Assigned, args: &ProgramArgs, paths: Paths<'_>) -> Result<Program, Failure> {
    let (worker, typed) = (&assigned.worker, assigned.is_typed());
    match worker.adapter {
        Adapter::Command => {
            let brief = match args.prompt_mode {
                Some(PromptMode::Arg) => BriefBy::Argument,
                Some(PromptMode::Stdin) | None => BriefBy::Stdin,
            };
            Ok(Program::Command(paths.worker(&worker.command, typed)?, brief))
        }
        Adapter::Agent(adapter) if args.prompt_mode.is_some() => {
            Err(Failure::usage(Code::USAGE, format!("how {} gets its task is up to its adapter", adapter.name))
                .hint("`--prompt-mode` is for commands: leave it out, or give `--adapter-command` with it"))
        }
        Adapter::Agent(adapter) => {
            let config::Agent { model, minutes, idle_ms, env, args, .. } = worker.agent.clone();
            let words: Vec<String> = worker.command.iter().chain(&args).cloned().collect();
            let words = paths.worker(&words, typed)?;
            Ok(Program::Agent(AgentSpec { adapter, words, model, minutes, idle_ms, env }))
        }
        Adapter::Script => {
            let file = worker.command.first().cloned().unwrap_or_default();
            Ok(Program::Script(match paths.file(&file, typed)? {
                Named::There(path) => path.display().to_string(),
                Named::Trusted(path, _) => path,
            }))
        }
    }
}
