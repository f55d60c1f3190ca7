//! `tollgate delegate doctor`.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value;
use tollgate_api::{Doctor, DoctorStatus};
use tollgate_app::config::paths::Paths;
use tollgate_app::config::{self, Adapter, Choice, Config, Origin};
use tollgate_app::environment::Environment;
use tollgate_app::failure::Failure;
use tollgate_app::files;
use tollgate_app::trust::Standing;
use tollgate_engine::delegate::{self, Delegation, Ending};
use tollgate_engine::workers::agent::ADAPTERS;

use super::{ProgramArgs, hire};
use crate::cli::commands::doctor::{Report, told};
use crate::cli::{Exit, Invocation};

/// How long an agent may take to answer.
const LIMIT: Duration = Duration::from_secs(180);
const ROLE: &str = "verifier";
const UNIT: &str = "delegate-doctor";
/// The work that shows whether a worker can report.
const DOSSIER: &str = include_str!("probe.yaml");

/// Say whether work can be delegated here: git, the state directory, the folder, the sandbox, the workers
///
/// Starts no worker, unless it is asked to with --probe. Exits with 3 when something is missing that is needed.
#[derive(Debug, clap::Args)]
pub(super) struct DoctorArgs {
    /// The worker; without it, those of the configuration and the agents that need none
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The folder to work in; without it, the one you are in
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    #[command(flatten)]
    program: ProgramArgs,
    /// Have the worker report once, in an empty folder, with the login that it has: it costs what one short call costs
    #[arg(long, requires = "agent")]
    probe: bool,
}

pub(super) fn run(args: &DoctorArgs, call: &Invocation) -> Result<Exit, Failure> {
    if let Some(agent) = &args.agent {
        hire::checked(agent, &args.program)?;
    }
    let here = call.environment.directory();
    let environment = call.environment.at(args.cwd.as_deref().unwrap_or(here))?;
    let mut report = Report(Vec::new());
    report.git(call);
    report.state(call);
    let standing = Standing::look(&environment)?;
    let folder = environment.directory().display();
    report.ok(
        "folder",
        match standing.repository() {
            Some(found) => format!("{folder} in the repository {}", found.root().display()),
            None => format!("{folder} is in no repository: nothing tells whether it was clean before"),
        },
    );
    let config = match Config::load(&environment, standing.trusted()) {
        Ok(config) => Some(config),
        Err(failure) => {
            report.failed("config", &failure);
            None
        }
    };
    report.sandbox(call, config.as_ref());
    if let Some(config) = &config {
        let paths = Paths { standing: &standing, directory: here };
        workers(args, config, paths, call, &mut report);
    }
    if args.probe {
        probe(args, &environment, call, &mut report)?;
    }
    let ready = report.0.iter().all(|check| check.status != DoctorStatus::Problem);
    Ok(told(&Doctor { ready, checks: report.0, areas: Vec::new() }, call))
}

/// The named worker, which has to be there; without a name all that can be named.
fn workers(args: &DoctorArgs, config: &Config, paths: Paths<'_>, call: &Invocation, report: &mut Report) {
    let Some(agent) = &args.agent else {
        for (name, setting) in config.workers() {
            report.worker(call, paths, &format!("worker {name}"), (setting.value, setting.from), false);
        }
        let others = ADAPTERS.into_iter().filter(|adapter| !config.workers().contains_key(adapter.name));
        for adapter in others {
            let Some(worker) = config::Worker::agent(adapter) else { continue };
            match paths.locate(&worker, false, &call.environment) {
                Ok(Some(path)) => report.ok(&format!("agent {}", adapter.name), path),
                Ok(None) | Err(_) => {
                    report.say(&format!("agent {}", adapter.name), DoctorStatus::Note, "not installed", None);
                }
            }
        }
        return;
    };
    let name = format!("worker {agent}");
    match hire::typed_words(&args.program) {
        Ok(Some(words)) => {
            let worker = config::Worker::plain(Adapter::Command, words);
            report.worker(call, paths, &name, (&worker, Origin::Flag), true);
        }
        Ok(None) => match config.assign(ROLE, &Choice::Named(hire::known(agent, config).to_owned()), Origin::Flag) {
            Ok(assigned) => report.worker(call, paths, &name, (&assigned.worker, hire::origin(agent, config)), false),
            Err(failure) => report.failed(&name, &failure),
        },
        Err(failure) => report.failed(&name, &failure),
    }
}

/// Has a worker report, in an empty folder.
fn probe(args: &DoctorArgs, environment: &Environment, call: &Invocation, report: &mut Report) -> Result<(), Failure> {
    let agent = args.agent.clone().unwrap_or_default();
    let state = call.environment.state_dir()?;
    let folder = files::Scratch::new(&state, "probe")?;
    let asked = Delegation {
        worker: hire::hire(&agent, ROLE, &args.program, environment, call.environment.directory())
            .map_err(|failure| super::said(&failure)),
        agent,
        role: ROLE.to_owned(),
        unit: UNIT.to_owned(),
        dossier: Ok(DOSSIER.as_bytes().to_vec()),
        dossier_file: None,
        cwd: files::canonical(folder.path()).map_err(|failure| super::said(&failure)),
        allowed: Vec::new(),
        forbidden: Vec::new(),
        limit: LIMIT,
        allow_dirty: true,
        tollgate: call.environment.program()?.to_owned(),
        state,
    };
    let delivered = delegate::delegate(&asked, &AtomicBool::new(false));
    let word = |key: &str| delivered.report.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    match delivered.ending {
        Ending::Passed => report.ok("probe", "it reported as it was asked to"),
        Ending::Failed | Ending::Asks | Ending::Blocked | Ending::Broken => {
            let why = [word("status"), word("reason"), word("summary")];
            let why: Vec<&str> = why.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
            report.say("probe", DoctorStatus::Problem, why.join(": "), Some(&word("next_action")));
        }
    }
    Ok(())
}
