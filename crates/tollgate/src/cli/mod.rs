//! The command line: one command is one file in [`commands`], and its doc comment is its help.

pub mod ask;
pub mod commands;
pub mod drive;
#[cfg(debug_assertions)]
mod fail_at;
pub mod output;
pub mod signals;

use std::ffi::OsString;
use std::panic::{self, AssertUnwindSafe};

use clap::{CommandFactory, Parser, Subcommand};
use tollgate_app::environment::Environment;
use tollgate_app::failure::{Failure, Kind};
use tollgate_app::runs::Runs;
use tollgate_core::code::Code;
use tollgate_engine::git::program;
use tollgate_engine::process::{below_a_worker, own_program};
use tollgate_engine::sandbox;
use tollgate_engine::workers::agent;
use tollgate_store::Unlisted;

use self::output::{Format, Output};

const EXIT_CODES: &str = "Exit codes:
  0 done   1 refused, halted, or closed without success   2 usage
  3 environment, or stopped by a signal (`tollgate resume` goes on)
  4 waiting for a person   5 budget or quota   70 internal";

/// Runs software work that several AI agents share, and decides what happens next from evidence
#[derive(Debug, Parser)]
#[command(name = "tollgate", version, disable_help_subcommand = true, max_term_width = 100)]
#[command(after_help = EXIT_CODES)]
pub struct Cli {
    /// Print data as JSON, one object a line
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(commands::init::InitArgs),
    Doctor(commands::doctor::DoctorArgs),
    Demo(commands::demo::DemoArgs),
    Run(commands::run::RunArgs),
    Decide(commands::decide::DecideArgs),
    Resume(commands::resume::ResumeArgs),
    Retry(commands::retry::RetryArgs),
    Repair(commands::repair::RepairArgs),
    Cancel(commands::cancel::CancelArgs),
    Ls(commands::ls::LsArgs),
    Show(commands::show::ShowArgs),
    Inbox(commands::inbox::InboxArgs),
    Decisions(commands::decisions::DecisionsArgs),
    Logs(commands::logs::LogsArgs),
    Diff(commands::diff::DiffArgs),
    Land(commands::land::LandArgs),
    Evidence(commands::evidence::EvidenceArgs),
    Verify(commands::verify::VerifyArgs),
    Export(commands::export::ExportArgs),
    Gc(commands::gc::GcArgs),
    Trust(commands::trust::TrustArgs),
    Protocol(commands::protocol::ProtocolArgs),
    Contract(commands::contract::ContractArgs),
    Scope(commands::scope::ScopeArgs),
    Worker(commands::worker::WorkerArgs),
    Report(commands::report::ReportArgs),
    Delegate(Box<commands::delegate::DelegateArgs>),
    Explain(commands::explain::ExplainArgs),
    Completions(commands::completions::CompletionsArgs),
    Schemas(commands::schemas::SchemasArgs),
    WorkerAcp(commands::worker_acp::WorkerAcpArgs),
    WorkerScript(commands::worker_script::WorkerScriptArgs),
}

/// What a command is given: where to print, and what the process was started with.
#[derive(Debug)]
pub struct Invocation {
    pub output: Output,
    pub environment: Environment,
}

impl Invocation {
    /// Whether data is printed as JSON.
    pub fn json(&self) -> bool {
        self.output.format() == Format::Json
    }

    /// The person at the terminal, as the journal names them: without a name, the number that the system knows them by.
    pub fn person(&self) -> String {
        let named = ["USER", "LOGNAME"].iter().find_map(|name| self.environment.get(name)).map(str::to_owned);
        named.unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()))
    }

    /// Refuses below a worker: what follows is for a person to say.
    pub fn need_a_person(&self) -> Result<(), Failure> {
        if !below_a_worker(&self.environment.state_dir()?) {
            return Ok(());
        }
        Err(Failure::refused(Code::NOT_A_PERSON, "this command is for a person, and it was given below a worker").hint(
            "a worker reports `blocked` with its question; a person gives the command in a terminal of their own",
        ))
    }

    /// The runs, for a command that only a person may give.
    pub fn runs_as_person(&self) -> Result<Runs, Failure> {
        self.need_a_person()?;
        Runs::open(&self.environment)
    }

    /// Names the runs whose row cannot be read.
    pub fn unlisted(&self, damaged: &[Unlisted]) {
        for row in damaged {
            let code = Code::RUN_ROW_DAMAGED;
            self.output.talk(format!("{} cannot be listed [{code}]: {}", row.named, row.why));
            self.output.talk(format!("    next: tollgate verify {}", row.named));
        }
    }

    /// Prints events, where data is printed as JSON.
    pub fn events(&self, events: &[tollgate_core::run::Recorded]) {
        if self.json() {
            events.iter().for_each(|event| self.output.json(&tollgate_app::wire::event(event)));
        }
    }

    /// The clock.
    #[expect(clippy::disallowed_methods, reason = "the room of the command line's clock")]
    pub fn now_ms(&self) -> u64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

/// How a command ended that did what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All is well.
    Done,
    /// The answer is printed, and it is not a good one.
    With(Kind),
    /// A worker's own exit code.
    Code(u8),
}

impl Exit {
    const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::With(Kind::Refused) => 1,
            Self::With(Kind::Usage) => 2,
            Self::With(Kind::Environment) => 3,
            Self::With(Kind::Waiting) => 4,
            Self::With(Kind::Budget) => 5,
            Self::With(Kind::Internal) => 70,
            Self::Code(code) => code,
        }
    }
}

/// Parses and runs; returns the exit code of the process.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // Before anything else: the helper stands between a driver and each of its programs, and is to cost nothing.
    if let [_, word, rest @ ..] = arguments.as_slice()
        && word == sandbox::WORD
    {
        return sandbox::helper::run(rest);
    }
    signals::listen_early(&arguments);
    // Before it is parsed, a wrong command line can already ask for JSON.
    let json = arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json");
    let format = if json { Format::Json } else { Format::Text };
    let environment = environment();
    let output = Output::of_process(format, environment.as_ref().unwrap_or(&Environment::default()));
    guarded(&output, || match environment {
        Ok(environment) => {
            start(arguments, Invocation { output: Output::of_process(format, &environment), environment })
        }
        Err(failure) => nowhere(&arguments, failure, format),
    })
}

/// What this process was started with.
#[expect(clippy::disallowed_methods, reason = "this module owns the environment of the process")]
fn environment() -> Result<Environment, Failure> {
    let directory = std::env::current_dir()
        .map_err(|error| Failure::environment(Code::FILE, "the working directory cannot be read").cause(error))?;
    Ok(Environment::new(directory, own_program().ok(), std::env::vars_os()))
}

/// Ends where there is no folder to be in: whoever delegates has a report all the same.
fn nowhere(arguments: &[OsString], failure: Failure, format: Format) -> u8 {
    let environment = Environment::default();
    let call = Invocation { output: Output::of_process(format, &environment), environment };
    let result = match Cli::try_parse_from(arguments).map(|cli| cli.command) {
        Ok(Command::Delegate(args)) => commands::delegate::unable(&args, failure, &call),
        Ok(_) | Err(_) => Err(failure),
    };
    finish(result, &call)
}

fn start(arguments: Vec<OsString>, call: Invocation) -> u8 {
    #[cfg(debug_assertions)]
    fail_at::arm(&call.environment);
    program::not_looked_for_in(agent::own_places().chain(call.environment.state_dir().ok()).collect());
    let result = match Cli::try_parse_from(&arguments) {
        Ok(cli) => run(cli.command, &call),
        Err(error) if error.use_stderr() => Err(usage(&error, &typed_command(&arguments))),
        // Help and version are what was asked for; clap knows how wide and how colourful.
        Err(error) => {
            let _ = error.print();
            Ok(Exit::Done)
        }
    };
    finish(result, &call)
}

/// The exit code of what came of a command, which is said where it failed.
fn finish(result: Result<Exit, Failure>, call: &Invocation) -> u8 {
    match result.and_then(|exit| call.output.finish().map(|()| exit)) {
        Ok(exit) => exit.code(),
        Err(failure) => report(&call.output, &failure),
    }
}

fn run(command: Command, call: &Invocation) -> Result<Exit, Failure> {
    match command {
        Command::Init(args) => commands::init::run(&args, call),
        Command::Doctor(args) => commands::doctor::run(&args, call),
        Command::Demo(args) => commands::demo::run(&args, call),
        Command::Run(args) => commands::run::run(args, call),
        Command::Decide(args) => commands::decide::run(args, call),
        Command::Resume(args) => commands::resume::run(&args, call),
        Command::Retry(args) => commands::retry::run(&args, call),
        Command::Repair(args) => commands::repair::run(&args, call),
        Command::Cancel(args) => commands::cancel::run(&args, call),
        Command::Ls(args) => commands::ls::run(&args, call),
        Command::Show(args) => commands::show::run(&args, call),
        Command::Inbox(args) => commands::inbox::run(&args, call),
        Command::Decisions(args) => commands::decisions::run(&args, call),
        Command::Logs(args) => commands::logs::run(&args, call),
        Command::Diff(args) => commands::diff::run(&args, call),
        Command::Land(args) => commands::land::run(&args, call),
        Command::Evidence(args) => commands::evidence::run(&args, call),
        Command::Verify(args) => commands::verify::run(&args, call),
        Command::Export(args) => commands::export::run(&args, call),
        Command::Gc(args) => commands::gc::run(&args, call),
        Command::Trust(args) => commands::trust::run(&args, call),
        Command::Protocol(args) => commands::protocol::run(&args, call),
        Command::Contract(args) => commands::contract::run(&args, call),
        Command::Scope(args) => commands::scope::run(&args, call),
        Command::Worker(args) => commands::worker::run(&args, call),
        Command::Report(args) => commands::report::run(args, call),
        Command::Delegate(args) => commands::delegate::run(&args, call),
        Command::Explain(args) => commands::explain::run(&args, call),
        Command::Completions(args) => commands::completions::run(&args, call, Cli::command()),
        Command::Schemas(args) => commands::schemas::run(&args, call),
        Command::WorkerAcp(args) => commands::worker_acp::run(args, call),
        Command::WorkerScript(args) => commands::worker_script::run(&args, call),
    }
}

fn report(output: &Output, failure: &Failure) -> u8 {
    output.failure(failure);
    Exit::With(failure.kind()).code()
}

/// The command that a line begins with: `protocol show`.
fn typed_command(arguments: &[OsString]) -> String {
    let mut known = Cli::command();
    let mut typed = String::new();
    for word in arguments.iter().skip(1).filter_map(|word| word.to_str()) {
        if let Some(found) = known.find_subcommand(word).cloned() {
            typed = format!("{typed} {word}");
            known = found;
        }
    }
    typed
}

/// What clap says, in our shape: the first line is the message, its tips are hints.
fn usage(error: &clap::Error, command: &str) -> Failure {
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Failure::usage(Code::USAGE, "a command is missing").hint("`tollgate --help` lists them");
    }
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n").map(str::trim);
    let message = paragraphs.next().unwrap_or_default().trim_start_matches("error: ");
    let mut told = false;
    let mut failure = Failure::usage(Code::USAGE, message.split_whitespace().collect::<Vec<_>>().join(" "));
    let lists = [(commands::run::PROTOCOL, "protocol list", "protocols"), ("RUN", "ls", "runs")];
    for (_, list, what) in lists.into_iter().filter(|(name, ..)| message.contains(&format!("<{name}>"))) {
        failure = failure.hint(format!("`tollgate {list}` lists the {what}"));
    }
    for paragraph in paragraphs.filter(|paragraph| !paragraph.is_empty() && !paragraph.starts_with("For more")) {
        failure = failure.hint(paragraph.trim_start_matches("tip: "));
        told = true;
    }
    if told || command.is_empty() {
        return failure;
    }
    failure.hint(format!("`tollgate{command} --help` says what it takes"))
}

/// Runs with a net: a panic is said in our shape and ends with the exit code of an internal error.
fn guarded(output: &Output, work: impl FnOnce() -> u8) -> u8 {
    panic::set_hook(Box::new(|_| ()));
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let text =
            payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
        report(
            output,
            &Failure::internal("Tollgate broke one of its own rules").because(text.unwrap_or("a panic without words")),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_panic_is_an_internal_error() {
        let output = Output::of_process(Format::Text, &Environment::default());
        assert_eq!(guarded(&output, || panic!("on purpose")), 70);
        let _ = panic::take_hook();
    }
}
