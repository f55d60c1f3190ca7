//! `tollgate worker`.

use std::path::Path;

use tollgate_api::{Capabilities, Probe, QuotaReport, ResumeSupport, SchemaSupport, Worker};
use tollgate_app::config::paths::Paths;
use tollgate_app::config::{self, Adapter, Config, Origin};
use tollgate_app::failure::{Failure, Kind};
use tollgate_app::files;
use tollgate_app::format;
use tollgate_app::trust::Standing;
use tollgate_core::code::Code;
use tollgate_core::yaml::nearest;
use tollgate_engine::workers::agent::{self, ADAPTERS, AgentCapabilities, AgentSpec, Resume, Schema};

use crate::cli::{Exit, Invocation};
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
/// Starts each agent with --version. What it can do was measured on the real program, in the version that is named; another one may differ.
/// Exits with 3 when the named worker, or without a name one of the configuration, is not there or does not answer.
#[derive(Debug, clap::Args)]
struct DoctorArgs {
    /// The worker
    name: Option<String>,
    /// Ask the agent one short question with the login that it has, and say what that used: it costs what the agent's plan says
    #[arg(long, requires = "name")]
    probe: bool,
}

pub fn run(args: &WorkerArgs, call: &Invocation) -> Result<Exit, Failure> {
    match &args.command {
        WorkerCommand::List(ListArgs {}) => list(call),
        WorkerCommand::Doctor(args) => doctor(args, call),
    }
}

/// A worker, how it stands, and how it is called where it is an agent.
struct Found {
    worker: Worker,
    spec: Option<AgentSpec>,
}

fn list(call: &Invocation) -> Result<Exit, Failure> {
    let found = all(call)?;
    if call.json() {
        found.iter().for_each(|found| call.output.json(&found.worker));
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
    let lines = table(&["worker", "adapter", "model", "from", "program"], rows, call.output.width());
    lines.into_iter().for_each(|line| call.output.data(line));
    Ok(Exit::Done)
}

fn doctor(args: &DoctorArgs, call: &Invocation) -> Result<Exit, Failure> {
    let mut found = all(call)?;
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
    for Found { worker, spec } in &mut found {
        if let (Some(spec), Some(path)) = (&spec, &worker.path) {
            let path = Path::new(path);
            // One of the trusted folder is started from a copy only, and by a run.
            let here = path.is_absolute().then(|| agent::version(spec.adapter, path, call.environment.directory()));
            worker.version = here.flatten();
            if let Some(can) = &mut worker.capabilities {
                can.same_version = worker.version.as_ref().map(|version| *version == can.measured_on);
            }
            if args.probe {
                worker.probe = Some(probe(spec, path, call)?);
            }
        } else if args.probe && spec.is_none() {
            return Err(Failure::refused(
                Code::WORKER_UNKNOWN,
                format!("`{}` is no agent, and cannot be asked", worker.name),
            ));
        }
    }
    for Found { worker, .. } in &found {
        if call.json() {
            call.output.json(worker);
        } else {
            print(worker, call);
        }
    }
    let missed = |found: &Found| {
        let gone =
            found.worker.path.is_none() && (args.name.is_some() || found.worker.origin != Origin::BuiltIn.word());
        gone || found.worker.probe.as_ref().is_some_and(|probe| !probe.answered)
    };
    Ok(if found.iter().any(missed) { Exit::With(Kind::Environment) } else { Exit::Done })
}

/// Asks an agent once, in an empty folder.
fn probe(spec: &AgentSpec, path: &Path, call: &Invocation) -> Result<Probe, Failure> {
    if !path.is_absolute() {
        return Err(Failure::refused(Code::UNTRUSTED, "a program of the trusted folder is started by a run only"));
    }
    let folder = files::Scratch::new(&call.environment.state_dir()?, "probe")?;
    let (told, answer) = agent::ask(spec, path, call.environment.program()?, folder.path());
    Ok(Probe {
        answered: answer.is_ok(),
        reason: answer.err().unwrap_or_default(),
        model: told.model.map(|model| model.to_string()),
        input_tokens: told.usage.input_tokens,
        output_tokens: told.usage.output_tokens,
        cost_nano_usd: told.usage.cost_nano_usd,
    })
}

/// Every worker of the configuration, then the agents that it does not name.
fn all(call: &Invocation) -> Result<Vec<Found>, Failure> {
    let standing = Standing::look(&call.environment)?;
    let config = Config::load(&call.environment, standing.trusted())?;
    let paths = Paths { standing: &standing, directory: call.environment.directory() };
    let configured = config.workers();
    let named = configured.iter().map(|(name, setting)| ((*name).to_owned(), setting.value.clone(), setting.from));
    let others = ADAPTERS.into_iter().filter(|adapter| !configured.contains_key(adapter.name));
    let others =
        others.filter_map(|adapter| Some((adapter.name.to_owned(), config::Worker::agent(adapter)?, Origin::BuiltIn)));
    let one = |(name, worker, from): (String, config::Worker, Origin)| {
        let path = paths.locate(&worker, false, &call.environment).ok().flatten();
        let program = worker.command.first().cloned().unwrap_or_default();
        let config::Agent { model, minutes, idle_ms, env, args, .. } = worker.agent.clone();
        let spec = match worker.adapter {
            Adapter::Agent(adapter) => {
                let words = worker.command.iter().chain(&args).cloned().collect();
                Some(AgentSpec { adapter, words, model: model.clone(), minutes, idle_ms, env })
            }
            Adapter::Command | Adapter::Script => None,
        };
        Found {
            worker: Worker {
                name,
                adapter: worker.adapter.word().to_owned(),
                origin: from.word().to_owned(),
                path,
                version: None,
                model,
                pool: worker.pool(),
                untold: worker.untold(),
                capabilities: agent::capabilities_of(worker.adapter.word(), &program).map(capabilities),
                program,
                probe: None,
            },
            spec,
        }
    };
    Ok(named.chain(others).map(one).collect())
}

fn capabilities(sheet: &AgentCapabilities) -> Capabilities {
    Capabilities {
        measured_on: sheet.version.clone(),
        same_version: None,
        schema: sheet.schema.map(|schema| match schema {
            Schema::Enforced => SchemaSupport::Enforced,
            Schema::BestEffort => SchemaSupport::BestEffort,
            Schema::None => SchemaSupport::None,
        }),
        resume: sheet.resume.map(|resume| match resume {
            Resume::Anywhere => ResumeSupport::Anywhere,
            Resume::SameFolder => ResumeSupport::SameFolder,
            Resume::None => ResumeSupport::None,
        }),
        usage: sheet.usage,
        cost: sheet.cost,
        turns: sheet.turns,
        tokens_at_work: sheet.tokens_at_work,
        read_only: sheet.read_only,
        unattended: sheet.unattended,
        mcp: sheet.mcp,
        denials: sheet.denials,
        quota: sheet.quota.map(|quota| match quota {
            agent::QuotaReport::Time => QuotaReport::Time,
            agent::QuotaReport::Words => QuotaReport::Words,
            agent::QuotaReport::None => QuotaReport::None,
        }),
        whole_tree_kill: sheet.whole_tree_kill,
    }
}

fn print(worker: &Worker, call: &Invocation) {
    let (style, state) = match &worker.path {
        Some(path) => {
            (Style::Good, format!("{path}{}", worker.version.as_ref().map(|v| format!(", {v}")).unwrap_or_default()))
        }
        None => (Style::Faint, format!("`{}` is not installed", worker.program)),
    };
    let head =
        Line::new().add(Style::Strong, worker.name.clone()).text(format!(" ({}, {}): ", worker.adapter, worker.origin));
    call.output.data(head.add(style, state));
    match &worker.capabilities {
        Some(can) => {
            let label = format!("  measured on {}: ", can.measured_on);
            call.output.paragraph(Line::from(label), &measured(can).join("; "));
            if can.same_version == Some(false) {
                let text = "another version is installed: what was measured may not hold for it";
                call.output.paragraph(Line::from("  ").add(Style::Warn, "note: "), text);
            }
        }
        None if agent::adapter(&worker.adapter).is_some() => {
            call.output.data(Line::from("  ").add(Style::Faint, "what it can do was not measured"));
        }
        None => {}
    }
    if !worker.untold.is_empty() {
        let text = format!("{} cannot be limited: it does not report them", format::list(&worker.untold));
        call.output.paragraph(Line::from("  ").add(Style::Warn, "note: "), &text);
    }
    if worker.adapter == Adapter::Command.word() {
        let text = "as a judge it is only as honest as what it runs: that is the same user in the same sandbox, and can write its report";
        call.output.paragraph(Line::from("  ").add(Style::Warn, "note: "), text);
    }
    if let Some(pool) = &worker.pool {
        call.output.data(Line::from("  quota pool: ").text(pool.clone()));
    }
    if let Some(probe) = &worker.probe {
        let used = |what: &str, value: Option<u64>| {
            value.map_or_else(|| format!("{what} unknown"), |value| format!("{what} {value}"))
        };
        let cost = probe
            .cost_nano_usd
            .map_or_else(|| "cost unknown".to_owned(), |cost| format!("cost {}", format::dollars(cost)));
        let used = [used("tokens read", probe.input_tokens), used("written", probe.output_tokens), cost].join(", ");
        let (style, word) = if probe.answered { (Style::Good, "answered") } else { (Style::Bad, "did not answer") };
        let model = probe.model.as_ref().map(|model| format!("{model}, ")).unwrap_or_default();
        let reason = if probe.reason.is_empty() { String::new() } else { format!("; {}", probe.reason) };
        call.output
            .paragraph(Line::from("  asked once: ").add(style, word).text(": "), &format!("{model}{used}{reason}"));
    }
}

/// A sheet in words.
fn measured(can: &Capabilities) -> [String; 3] {
    const UNKNOWN: &str = "not measured";
    let yes = |does: Option<bool>| does.map_or(UNKNOWN, |does| if does { "yes" } else { "no" });
    let schema = can.schema.map_or(UNKNOWN, |schema| match schema {
        SchemaSupport::Enforced => "enforced",
        SchemaSupport::BestEffort => "best effort",
        SchemaSupport::None => "none",
    });
    let resume = can.resume.map_or(UNKNOWN, |resume| match resume {
        ResumeSupport::Anywhere => "anywhere",
        ResumeSupport::SameFolder => "in the same folder",
        ResumeSupport::None => "no",
    });
    let quota = can.quota.map_or(UNKNOWN, |quota| match quota {
        QuotaReport::Time => "with its end",
        QuotaReport::Words => "in words",
        QuotaReport::None => "not reported",
    });
    [
        format!("schema {schema}, resume {resume}, MCP {}", yes(can.mcp)),
        format!(
            "tells: tokens {}, cost {}, denials {}, quota {quota}; as it works: turns {}, tokens {}",
            yes(can.usage),
            yes(can.cost),
            yes(can.denials),
            yes(can.turns),
            yes(can.tokens_at_work)
        ),
        format!(
            "read-only {}, unattended {}, ended whole {}",
            yes(can.read_only),
            yes(can.unattended),
            yes(can.whole_tree_kill)
        ),
    ]
}
