//! `tollgate decide`.

use std::collections::BTreeMap;

use tollgate_app::engine_errors::about;
use tollgate_app::failure::Failure;
use tollgate_app::runs::Runs;
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::id::DecisionId;
use tollgate_core::run::decide::Answer;
use tollgate_engine::driver::DriveError;
use tollgate_engine::session::Session as RunSession;
use tollgate_engine::session::summary::Body;
use tollgate_store::{Filter, Summary};

use crate::cli::drive::{Wait, drive};
use crate::cli::{Exit, Session};

/// Answer a question
///
/// The answer is recorded once, however often it is given; another answer later is refused. Then the run is driven on,
/// when nobody drives it and --no-resume is not given.
#[derive(Debug, clap::Args)]
pub struct DecideArgs {
    /// The run, the decision and the option: RUN DECISION [OPTION], or DECISION [OPTION] where only one run asks it
    #[arg(required = true, num_args = 1..=3, value_name = "RUN DECISION OPTION")]
    words: Vec<String>,
    /// Your answer in words: the answer itself, or what the next agent should know
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    text: String,
    /// What becomes of a requirement: in_scope, deferred, out_of_scope or non_material
    #[arg(long, value_name = "ID=DISPOSITION")]
    requirement: Vec<String>,
    /// A path the scope is widened by, where the option widens it
    #[arg(long, value_name = "GLOB")]
    scope: Vec<String>,
    /// Record it, and leave the driving to others
    #[arg(long)]
    no_resume: bool,
    /// Exit with 4 when a person is needed again
    #[arg(long)]
    no_wait: bool,
}

pub fn run(args: DecideArgs, session: &Session) -> Result<Exit, Failure> {
    let runs = session.runs_as_person()?;
    let (mut run, id, option) = resolve(&runs, &args.words)?;
    let mut dispositions = BTreeMap::new();
    for text in &args.requirement {
        let (id, disposition) = text.split_once('=').ok_or_else(|| {
            Failure::usage(Code::USAGE, format!("`{text}` is not ID=DISPOSITION")).hint("write ID=DISPOSITION")
        })?;
        dispositions.insert(Name::from(id), Name::from(disposition));
    }
    let answer = Answer {
        option: option.map(Into::into),
        text: args.text,
        dispositions,
        scope: args.scope.iter().map(|glob| glob.as_str().into()).collect(),
        ..Answer::default()
    };
    let of = run.run().id;
    let outcome = runs.service.decide(&session.person(), &mut run, id, answer).map_err(about(of))?;
    if let Some(refusal) = &outcome.refusal {
        return Err(Failure::from(refusal).about(of));
    }
    if outcome.events.is_empty() {
        session.output.talk(format!("{id} was answered so before; nothing happened a second time"));
    }
    if args.no_resume {
        session.events(&outcome.events);
        if !outcome.events.is_empty() {
            session.output.talk(format!("recorded; `tollgate resume {of}` goes on with it"));
        }
        return Ok(Exit::Done);
    }
    let wait = if args.no_wait { Wait::No } else { Wait::Attached };
    match drive(&runs, run, &outcome.events, wait, session) {
        // Somebody drives it already and sees the answer.
        Err(failure) if failure.code() == DriveError::held_code() => {
            session.output.talk("recorded; the process that drives the run goes on with it");
            Ok(Exit::Done)
        }
        other => other,
    }
}

/// Finds the run, the decision and the option that were typed.
fn resolve(runs: &Runs, words: &[String]) -> Result<(RunSession, DecisionId, Option<String>), Failure> {
    let parse = |text: &str| text.parse::<DecisionId>().ok();
    let (run, id, option) = match words {
        [one, rest @ ..] if parse(one).is_some() && rest.len() <= 1 => (None, parse(one), rest.first()),
        [run, id, rest @ ..] => (Some(run), parse(id), rest.first()),
        _ => (None, None, None),
    };
    let id = id.ok_or_else(|| {
        Failure::usage(Code::USAGE, "no decision is named")
            .hint("`tollgate inbox` lists them: `tollgate decide RUN dec_1 OPTION`")
    })?;
    let loaded = match run {
        Some(run) => runs.load_to_change(run)?,
        None => only_one_that_asks(runs, id)?,
    };
    Ok((loaded, id, option.cloned()))
}

/// The only run in which a decision of this id is open; where none is, the only unfinished one that ever asked it, which says what
/// became of it.
fn only_one_that_asks(runs: &Runs, id: DecisionId) -> Result<RunSession, Failure> {
    let all = runs.service.list(&Filter::default())?;
    if let Some(damaged) = all.damaged.first() {
        let message = format!("{} cannot be listed: whether it asks {id} too cannot be told", damaged.named);
        return Err(Failure::refused(Code::RUN_ROW_DAMAGED, message)
            .hint("name the run: `tollgate decide RUN DECISION OPTION`"));
    }
    let asks = |summary: &&Summary| match summary.text.status.as_str() {
        "waiting" | "working" | "sleeping" | "halted" => true,
        "succeeded" => Body::of(&summary.text).is_some_and(|body| body.open > 0),
        _ => false,
    };
    let open = all.runs.iter().filter(asks);
    let (mut found, mut asked) = (Vec::new(), Vec::new());
    for summary in open {
        let loaded = runs.service.load(summary.run)?;
        if loaded.run().pending().any(|(open, _)| open == id) {
            found.push(loaded);
        } else if loaded.run().decisions.contains_key(&id) {
            asked.push(loaded);
        }
    }
    if found.is_empty() && asked.len() == 1 {
        found = asked;
    }
    match (found.pop(), found.is_empty()) {
        (Some(one), true) => Ok(one),
        (None, _) => Err(Failure::refused(Code::NO_DECISION, format!("no run asks {id}"))
            .hint("`tollgate inbox` lists what is asked")),
        (Some(_), false) => Err(Failure::refused(Code::NO_DECISION, format!("several runs ask {id}"))
            .hint("name the run: `tollgate decide RUN DECISION OPTION`")),
    }
}
