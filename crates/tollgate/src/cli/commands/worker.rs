//! `tollgate worker`.

use std::path::Path;

use tollgate_api::{Capabilities, CapabilityBasis, QuotaTold, ResumeSupport, SchemaSupport, Worker};
use tollgate_core::code::Code;
use tollgate_core::yaml::nearest;
use tollgate_engine::workers::agent::{self, ADAPTERS, Resume, Schema, Sheet};

use crate::cli::failure::{Failure, Kind};
use crate::cli::{Exit, Session};
use crate::config::paths::Paths;
use crate::config::{self, Adapter, Config, Origin};
use crate::trust::Standing;
use crate::view::table::table;
use crate::view::text::{Line, Style};

/// Look at the workers that can be named
#[derive(Debug, clap::Args)]
pub struct WorkerArgs {
    #[command(subcommand)]
    command: WorkerCommand,
}

#[derive(Debug, clap::Subcommand)]
enum WorkerCommand {
    List(ListArgs),
    Doctor(DoctorArgs),
}

/// List the workers of the configuration, and the agents that need none
///
/// Nothing is started: whether a program is there is looked up, what it is worth is `worker doctor`'s to say.
#[derive(Debug, clap::Args)]
struct ListArgs {}

/// Say what is installed, in which version, and what it can do
///
/// Starts each agent with --version. What it can do is declared by its adapter and was not measured on this machine. Exits with 3 when the
/// named worker, or without a name one of the configuration, is not there.
#[derive(Debug, clap::Args)]
struct DoctorArgs {
    /// The worker
    name: Option<String>,
}

pub fn run(args: &WorkerArgs, session: &Session) -> Result<Exit, Failure> {
    match &args.command {
        WorkerCommand::List(ListArgs {}) => list(session),
        WorkerCommand::Doctor(args) => doctor(args, session),
    }
}

/// A worker, how it stands, and the adapter that can be asked for more.
struct Found {
    worker: Worker,
    adapter: Adapter,
}

fn list(session: &Session) -> Result<Exit, Failure> {
    let found = all(session)?;
    if session.json() {
        found.iter().for_each(|found| session.output.json(&found.worker));
        return Ok(Exit::Done);
    }
    let row = |Found { worker, .. }: &Found| {
        let place = match &worker.path {
            Some(path) => Line::from(path.clone()),
            None => Line::new().add(Style::Faint, "not installed"),
        };
        let model = worker.model.clone().unwrap_or_default();
        vec![
            worker.name.clone().into(),
            worker.adapter.clone().into(),
            model.into(),
            worker.origin.clone().into(),
            place,
        ]
    };
    let rows = found.iter().map(row).collect();
    let lines = table(&["worker", "adapter", "model", "from", "program"], rows, session.output.width());
    lines.into_iter().for_each(|line| session.output.data(line));
    Ok(Exit::Done)
}

fn doctor(args: &DoctorArgs, session: &Session) -> Result<Exit, Failure> {
    let mut found = all(session)?;
    if let Some(name) = &args.name {
        let known: Vec<String> = found.iter().map(|found| found.worker.name.clone()).collect();
        found.retain(|found| found.worker.name == *name);
        if found.is_empty() {
            let failure = Failure::refused(Code::WORKER_UNKNOWN, format!("there is no worker `{name}`"));
            return Err(match nearest(name, known.iter().map(String::as_str)) {
                Some(near) => failure.hint(format!("did you mean `{near}`?")),
                None => failure.hint("`tollgate worker list` lists them"),
            });
        }
    }
    for Found { worker, adapter } in &mut found {
        if let (Adapter::Agent(adapter), Some(path)) = (&adapter, &worker.path) {
            let path = Path::new(path);
            // One of the trusted folder is started from a copy only, and by a run.
            let here = path.is_absolute().then(|| agent::version(adapter, path, session.environment.directory()));
            worker.version = here.flatten();
        }
    }
    for Found { worker, .. } in &found {
        if session.json() {
            session.output.json(worker);
        } else {
            print(worker, session);
        }
    }
    let missed = |found: &Found| {
        found.worker.path.is_none() && (args.name.is_some() || found.worker.origin != Origin::BuiltIn.word())
    };
    Ok(if found.iter().any(missed) { Exit::With(Kind::Environment) } else { Exit::Done })
}

/// Every worker of the configuration, then the agents that it does not name.
fn all(session: &Session) -> Result<Vec<Found>, Failure> {
    let standing = Standing::look(&session.environment)?;
    let config = Config::load(&session.environment, standing.trusted())?;
    let paths = Paths { standing: &standing, directory: session.environment.directory() };
    let configured = config.workers();
    let named = configured.iter().map(|(name, setting)| ((*name).to_owned(), setting.value.clone(), setting.from));
    let others = ADAPTERS.into_iter().filter(|adapter| !configured.contains_key(adapter.name));
    let others = others.map(|adapter| (adapter.name.to_owned(), config::Worker::agent(adapter), Origin::BuiltIn));
    let one = |(name, worker, from): (String, config::Worker, Origin)| {
        let path = paths.locate(&worker, false, &session.environment).ok().flatten();
        let sheet = if let Adapter::Agent(adapter) = worker.adapter { Some(capabilities(adapter.sheet)) } else { None };
        Found {
            worker: Worker {
                name,
                adapter: worker.adapter.word().to_owned(),
                origin: from.word().to_owned(),
                program: worker.command.first().cloned().unwrap_or_default(),
                path,
                version: None,
                model: worker.agent.model,
                capabilities: sheet,
            },
            adapter: worker.adapter,
        }
    };
    Ok(named.chain(others).map(one).collect())
}

fn capabilities(sheet: Sheet) -> Capabilities {
    Capabilities {
        basis: CapabilityBasis::Declared,
        schema: match sheet.schema {
            Schema::Enforced => SchemaSupport::Enforced,
            Schema::BestEffort => SchemaSupport::BestEffort,
            Schema::None => SchemaSupport::None,
        },
        resume: match sheet.resume {
            Resume::Anywhere => ResumeSupport::Anywhere,
            Resume::SameFolder => ResumeSupport::SameFolder,
        },
        usage: sheet.usage,
        cost: sheet.cost,
        read_only: sheet.read_only,
        unattended: sheet.unattended,
        mcp: sheet.mcp,
        denials: sheet.denials,
        quota: match sheet.quota {
            agent::QuotaTold::Time => QuotaTold::Time,
            agent::QuotaTold::Words => QuotaTold::Words,
            agent::QuotaTold::No => QuotaTold::None,
        },
    }
}

fn print(worker: &Worker, session: &Session) {
    let (style, state) = match &worker.path {
        Some(path) => {
            (Style::Good, format!("{path}{}", worker.version.as_ref().map(|v| format!(", {v}")).unwrap_or_default()))
        }
        None => (Style::Faint, format!("`{}` is not installed", worker.program)),
    };
    let head =
        Line::new().add(Style::Strong, worker.name.clone()).text(format!(" ({}, {}): ", worker.adapter, worker.origin));
    session.output.data(head.add(style, state));
    let Some(can) = &worker.capabilities else { return };
    let yes = |does: bool| if does { "yes" } else { "no" };
    let schema = match can.schema {
        SchemaSupport::Enforced => "enforced",
        SchemaSupport::BestEffort => "best effort",
        SchemaSupport::None => "none",
    };
    let resume = match can.resume {
        ResumeSupport::Anywhere => "anywhere",
        ResumeSupport::SameFolder => "in the same folder",
    };
    let quota = match can.quota {
        QuotaTold::Time => "with its end",
        QuotaTold::Words => "in words",
        QuotaTold::None => "not told",
    };
    let lines = [
        format!("schema {schema}, resume {resume}, MCP {}", yes(can.mcp)),
        format!(
            "tells: tokens {}, cost {}, denials {}, quota {quota}",
            yes(can.usage),
            yes(can.cost),
            yes(can.denials)
        ),
        format!("read-only {}, unattended {}", yes(can.read_only), yes(can.unattended)),
    ];
    session.output.paragraph(Line::from("  declared, not measured: "), &lines.join("; "));
}
