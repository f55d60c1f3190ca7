//! `tollgate delegate`.

mod doctor;
mod hire;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use tollgate_app::failure::{Failure, Kind};
use tollgate_app::files;
use tollgate_app::runs::need_a_place_apart;
use tollgate_contract::registry;
use tollgate_core::code::Code;
use tollgate_engine::delegate::{self, CONTRACT, Delegation, Ending, FinalReport, ROLES};
use tollgate_engine::executor::ATTEMPT_LIMIT;

use crate::cli::signals;
use crate::cli::{Exit, Invocation};
use crate::view::text::{Line, Style};

/// A dossier is one unit of work; a longer one is a mistake or an attack.
const DOSSIER_BYTES_MAX: u64 = 1024 * 1024;

/// Hand one unit of work to one worker, without a run
///
/// Takes a dossier (`supervisor.dossier`), prints one report (`supervisor.worker-report`), and keeps nothing but what the worker changed. The worker
/// works in the folder itself, held to the allowed surfaces; what it changed is measured, whatever its report says. Exits with 0 on PASS, 1 on FAIL or when the report is
/// blocked or refused, 3 when the worker or the machine failed, 4 when it asks a question.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct DelegateArgs {
    #[command(subcommand)]
    command: Option<DelegateCommand>,
    #[command(flatten)]
    work: WorkArgs,
}

#[derive(Debug, clap::Subcommand)]
enum DelegateCommand {
    Doctor(doctor::DoctorArgs),
}

#[derive(Debug, clap::Args)]
struct WorkArgs {
    /// The worker: one of the configuration, an agent (`claude-code` is `claude`), or `command`
    #[arg(long, value_name = "NAME", required = true)]
    agent: Option<String>,
    /// What it does
    #[arg(long, value_parser = ROLES, required = true)]
    role: Option<String>,
    /// The work unit, as the dossier names it
    #[arg(long, value_name = "ID", required = true)]
    unit: Option<String>,
    /// The dossier
    #[arg(long, value_name = "FILE")]
    dossier: Option<String>,
    /// The folder to work in; without it, the one you are in
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// What may be changed, from that folder, instead of what the dossier says
    #[arg(long, value_name = "A,B")]
    allowed_surfaces: Vec<String>,
    /// What must not be changed, besides what the dossier says
    #[arg(long, value_name = "A,B")]
    forbidden_surfaces: Vec<String>,
    /// How long it may take [default: an hour]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MS_MAX))]
    timeout_ms: Option<u64>,
    /// Start although there are changes that are not committed; they are not counted as the worker's
    #[arg(long)]
    allow_dirty: bool,
    #[command(flatten)]
    program: ProgramArgs,
}

impl WorkArgs {
    /// The worker, its role and the unit. Where there is no subcommand, they are there.
    fn who(&self) -> (String, String, String) {
        let word = |word: &Option<String>| word.clone().unwrap_or_default();
        (word(&self.agent), word(&self.role), word(&self.unit))
    }
}

/// Nothing that is left alone for longer is under anybody's eyes.
const MS_MAX: u64 = 7 * 24 * 60 * 60 * 1000;

/// The program in the place of the worker's own.
#[derive(Debug, Default, clap::Args)]
struct ProgramArgs {
    /// The program and its arguments, in the place of the worker's own: `["my-agent", "--headless"]`
    #[arg(long, value_name = "JSON")]
    adapter_command: Option<String>,
    /// How a command is told what to do [default: stdin]
    #[arg(long, value_enum)]
    prompt_mode: Option<PromptMode>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PromptMode {
    /// On its standard input
    Stdin,
    /// As its last argument
    Arg,
}

pub fn run(args: &DelegateArgs, call: &Invocation) -> Result<Exit, Failure> {
    match &args.command {
        Some(DelegateCommand::Doctor(args)) => doctor::run(args, call),
        None => delegate(&args.work, call),
    }
}

fn delegate(args: &WorkArgs, call: &Invocation) -> Result<Exit, Failure> {
    let stop = signals::stop();
    let (agent, role, unit) = args.who();
    if let Some(wrong) = delegate::unit_problem(&role, &unit) {
        return Err(Failure::usage(Code::USAGE, format!("`--unit {unit}` names no unit")).because(wrong));
    }
    hire::checked(&agent, &args.program)?;
    let here = call.environment.directory();
    let folder = call.environment.at(args.cwd.as_deref().unwrap_or(here));
    let dossier_file = args.dossier.as_ref().map(|file| here.join(file));
    let dossier = match &dossier_file {
        None => Err("there is none; name it with `--dossier FILE`".to_owned()),
        Some(file) => files::read(file, DOSSIER_BYTES_MAX).map_err(|failure| said(&failure)),
    };
    // In a folder that is not there, the worker of the one we are in is as good as any: it is not started.
    let environment = folder.as_ref().unwrap_or(&call.environment);
    let hired = match hire::hire(&agent, &role, &args.program, environment, here) {
        Err(failure) if failure.kind() == Kind::Usage => return Err(failure),
        hired => hired.map_err(|failure| said(&failure)),
    };
    let places = call.environment.state_dir().and_then(|state| Ok((state, call.environment.program()?.to_owned())));
    let (state, tollgate) = match places {
        Ok(places) => places,
        Err(failure) => return deliver(&delegate::unable(&agent, &role, &unit, &said(&failure)), call),
    };
    let cwd = folder.and_then(|folder| need_a_place_apart(&state, &folder).map(|()| folder.directory().to_owned()));
    let asked = Delegation {
        agent,
        role,
        unit,
        dossier,
        dossier_file,
        cwd: cwd.map_err(|failure| said(&failure)),
        allowed: surfaces(&args.allowed_surfaces),
        forbidden: surfaces(&args.forbidden_surfaces),
        limit: args.timeout_ms.map_or(ATTEMPT_LIMIT, Duration::from_millis),
        allow_dirty: args.allow_dirty,
        worker: hired,
        tollgate,
        state,
    };
    deliver(&delegate::delegate(&asked, &stop), call)
}

/// Says that nothing could be delegated, as a report where one was asked for.
pub fn unable(args: &DelegateArgs, failure: Failure, call: &Invocation) -> Result<Exit, Failure> {
    let (agent, role, unit) = args.work.who();
    if args.command.is_some() || delegate::unit_problem(&role, &unit).is_some() {
        return Err(failure);
    }
    deliver(&delegate::unable(&agent, &role, &unit, &said(&failure)), call)
}

fn deliver(delivered: &FinalReport, call: &Invocation) -> Result<Exit, Failure> {
    print(delivered, call)?;
    Ok(exit(delivered.ending))
}

/// Lists of surfaces as one: commas part them, except in the braces of a pattern.
fn surfaces(lists: &[String]) -> Vec<String> {
    let split = |list: &String| {
        let mut depth = 0_u32;
        let parts = list.split(move |c: char| {
            depth = match c {
                '{' => depth.saturating_add(1),
                '}' => depth.saturating_sub(1),
                _ => depth,
            };
            c == ',' && depth == 0
        });
        parts.map(str::to_owned).collect::<Vec<_>>()
    };
    lists.iter().flat_map(split).collect()
}

/// A failure as one sentence.
fn said(failure: &Failure) -> String {
    let wire = failure.wire();
    let more =
        wire.causes.iter().map(|cause| format!(": {cause}")).chain(wire.hints.iter().map(|hint| format!("; {hint}")));
    wire.message + &more.collect::<String>()
}

fn print(delivered: &FinalReport, call: &Invocation) -> Result<(), Failure> {
    let report = &delivered.report;
    if call.json() {
        call.output.json(report);
    } else {
        let dialect =
            registry::report_dialect(CONTRACT).ok_or_else(|| Failure::internal("there is no such contract"))?;
        let text =
            dialect.render(report).map_err(|why| Failure::internal("the report cannot be written").because(why))?;
        call.output.document(&text);
    }
    let word = |key: &str| report.get(key).and_then(Value::as_str).unwrap_or_default();
    let style = match delivered.ending {
        Ending::Passed => Style::Good,
        Ending::Asks => Style::Warn,
        Ending::Failed | Ending::Blocked | Ending::Broken => Style::Bad,
    };
    let reason = report.get("reason").and_then(Value::as_str).map(|reason| format!(" ({reason})")).unwrap_or_default();
    let asked = report.get("blocking_question").and_then(Value::as_str);
    let head = Line::new().add(style, word("status")).text(reason);
    call.output.talk(head.text(format!(
        ": {} of {}: {}",
        word("role"),
        word("unit_id"),
        asked.unwrap_or(word("summary"))
    )));
    Ok(())
}

const fn exit(ending: Ending) -> Exit {
    match ending {
        Ending::Passed => Exit::Done,
        Ending::Failed | Ending::Blocked => Exit::With(Kind::Refused),
        Ending::Asks => Exit::With(Kind::Waiting),
        Ending::Broken => Exit::With(Kind::Environment),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn commas_part_surfaces_outside_of_braces() {
        let of = |lists: &[&str]| super::surfaces(&lists.iter().map(|list| (*list).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["a,b", "c"]), ["a", "b", "c"]);
        assert_eq!(of(&["src/{a,{b,c}}.rs,d"]), ["src/{a,{b,c}}.rs", "d"]);
        assert_eq!(of(&["a}b,c"]), ["a}b", "c"]);
    }
}
