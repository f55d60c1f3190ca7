//! `tollgate run`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tollgate_app::config;
use tollgate_app::engine_errors::TASK;
use tollgate_app::failure::Failure;
use tollgate_app::format;
use tollgate_app::runs::not_as_checked_out;
use tollgate_app::start::Request;
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_engine::workspace::Dirty;

use crate::cli::drive::{Wait, drive};
use crate::cli::{Exit, Invocation};
use tollgate_core::id::UnitId;

/// How the help calls the protocol that a run is of.
pub const PROTOCOL: &str = "PROTOCOL";

/// Start a run and drive it
///
/// Stays attached while the run waits for a person, when there is a terminal (Ctrl-C leaves it; `tollgate resume` takes
/// it on). Without a terminal, or with --no-wait, it exits with 4. A signal that stops it while workers are at work makes it exit with
/// 3: nothing in the run failed, and `tollgate resume` goes on. A budget that is used up is a question, and exits with 5. When the quota of an
/// agent is used up, it waits for the time that the agent names and goes on by itself; with --no-wait it exits with 5.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// The protocol: its name, or a file
    #[arg(value_name = PROTOCOL)]
    protocol: String,
    /// The task file; the same as `--give task=FILE`
    #[arg(long, value_name = "FILE")]
    task: Option<PathBuf>,
    /// A document the protocol asks for
    #[arg(long, value_name = "NAME=FILE")]
    give: Vec<String>,
    /// An input of the protocol
    #[arg(long, value_name = "NAME=VALUE")]
    input: Vec<String>,
    /// Who does a role: a configured worker, an agent that is installed, or command:'PROGRAM ARGS'; without ROLE= every role
    /// that has no other
    #[arg(long, value_name = "[ROLE=]NAME")]
    worker: Vec<String>,
    /// A script that acts for every role without another worker
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// What a side may change, when several run at once; instead of the `Scope:` in the task, once for each pattern
    #[arg(long, value_name = "SIDE=GLOB")]
    scope: Vec<String>,
    /// Your answer to a question, given in advance
    #[arg(long, value_name = "STAGE=OPTION")]
    answer: Vec<String>,
    /// What the run is for; without it, the first heading of the task
    #[arg(long, visible_alias = "goal")]
    title: Option<String>,
    /// Start from the checkout as it is, uncommitted changes included
    #[arg(long)]
    include_dirty: bool,
    /// Exit with 4 when a person is needed, and with 5 when a budget or a quota is used up
    #[arg(long)]
    no_wait: bool,
}

pub fn run(args: RunArgs, call: &Invocation) -> Result<Exit, Failure> {
    let runs = call.runs_as_person()?;
    let wait = if args.no_wait { Wait::No } else { Wait::Attached };
    let mut notices = Vec::new();
    let started = runs.start(&call.person(), request(args)?, &call.environment, &mut notices);
    notices.iter().for_each(|notice| call.output.notice(notice));
    let (run, opened) = started?;
    if !call.json() {
        call.output.talk(format!("{} of {}", run.run().id, run.run().opened.protocol.name));
        if let Some(files) = not_as_checked_out(run.run(), None) {
            call.output.talk(format!("  {}", format::not_as_checked_out(&files)));
        }
    }
    drive(&runs, run, &opened, wait, call)
}

/// What the flags ask for.
fn request(args: RunArgs) -> Result<Request, Failure> {
    let mut documents = pairs(&args.give, "NAME=FILE")?;
    if let Some(task) = &args.task
        && documents.insert(TASK.into(), task.display().to_string().into()).is_some()
    {
        return Err(Failure::usage(Code::USAGE, "`task` is given twice").hint("`--task FILE` is `--give task=FILE`"));
    }
    Ok(Request {
        documents,
        inputs: pairs(&args.input, "NAME=VALUE")?,
        workers: workers(&args)?,
        scopes: scopes(&args.scope)?,
        answers: pairs(&args.answer, "STAGE=OPTION")?
            .into_iter()
            .map(|(stage, option)| (stage.into(), option))
            .collect(),
        protocol: args.protocol,
        script: args.script.map(|script| script.display().to_string()),
        title: args.title.unwrap_or_default(),
        dirty: if args.include_dirty { Dirty::Include } else { Dirty::Refuse },
    })
}

/// Who does a role by the command line. Two for the same role is a mistake: none of them wins silently.
fn workers(args: &RunArgs) -> Result<BTreeMap<String, config::Choice>, Failure> {
    let mut roles = BTreeMap::new();
    for text in &args.worker {
        let (role, choice) = config::assignment(text)?;
        let twice = match role.as_str() {
            config::ALL_OTHERS if args.script.is_some() => {
                "`--script` and a `--worker` without a role are both for all others".to_owned()
            }
            config::ALL_OTHERS => "two `--worker` are for every role without another".to_owned(),
            role => format!("`{role}` is given two workers"),
        };
        let is_second = role == config::ALL_OTHERS && args.script.is_some();
        if roles.insert(role, choice).is_some() || is_second {
            return Err(
                Failure::usage(Code::USAGE, twice).hint("keep one of them; `--worker ROLE=NAME` gives a role another")
            );
        }
    }
    Ok(roles)
}

/// Reads `SIDE=GLOB` pairs; a side may be given several patterns.
fn scopes(texts: &[String]) -> Result<BTreeMap<UnitId, Vec<Name>>, Failure> {
    let mut scopes: BTreeMap<UnitId, Vec<Name>> = BTreeMap::new();
    for text in texts {
        let (side, pattern) = pair(text, "SIDE=GLOB")?;
        scopes.entry(side.into()).or_default().push(pattern);
    }
    Ok(scopes)
}

fn pair(text: &str, form: &str) -> Result<(Name, Name), Failure> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = pair
        .ok_or_else(|| Failure::usage(Code::USAGE, format!("`{text}` is not {form}")).hint(format!("write {form}")))?;
    Ok((name.into(), value.into()))
}

/// Reads `NAME=VALUE` pairs; a name given twice is a mistake.
fn pairs(texts: &[String], form: &str) -> Result<BTreeMap<Name, Name>, Failure> {
    let mut pairs = BTreeMap::new();
    for text in texts {
        let (name, value) = pair(text, form)?;
        if pairs.insert(name.clone(), value).is_some() {
            return Err(Failure::usage(Code::USAGE, format!("`{name}` is given twice")).hint("give it once"));
        }
    }
    Ok(pairs)
}
