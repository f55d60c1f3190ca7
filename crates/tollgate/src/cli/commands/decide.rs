//! `tollgate decide`.

use std::collections::BTreeMap;

use tollgate_app::failure::Failure;
use tollgate_app::runs::Runs;
use tollgate_core::Name;
use tollgate_core::amount::{date_ms, duration_ms};
use tollgate_core::code::Code;
use tollgate_core::id::DecisionId;
use tollgate_core::report::Disposition;
use tollgate_core::run::decide::{Answer, Instead};
use tollgate_engine::driver::DriveError;
use tollgate_engine::session::Session;

use crate::cli::drive::{Wait, drive, waiting};
use crate::cli::{Exit, Invocation};

/// Answer a question
///
/// The answer is recorded once, however often it is given; another answer later is refused. Then the run is driven on,
/// when nobody drives it and --no-resume is not given.
#[derive(Debug, clap::Args)]
pub struct DecideArgs {
    /// The run, the decision and the option: RUN DECISION [OPTION], or DECISION [OPTION] where only one run asks it; RUN alone
    /// shows what it asks
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
    /// The answer to one question of a card by its number, or the value of an input by its name; what is answered stays when others
    /// are open
    #[arg(long, value_name = "NUMBER=TEXT|NAME=VALUE", conflicts_with_all = ["text", "defer", "cancel", "skip"])]
    answer: Vec<String>,
    /// Put it off: not asked, and not answered by a timer; a time from now (`2h`, `3d`) or UTC (`2026-12-01T09:00`)
    #[arg(long, value_name = "UNTIL", conflicts_with_all = ["text", "cancel", "skip"])]
    defer: Option<String>,
    /// End it without an answer, as the protocol says
    #[arg(long, conflicts_with_all = ["text", "skip"])]
    cancel: bool,
    /// Go on without an answer
    #[arg(long, conflicts_with = "text")]
    skip: bool,
    /// Why it is put off, cancelled or skipped
    #[arg(long, value_name = "TEXT", default_value = "")]
    why: String,
    /// Record it, and leave the driving to others
    #[arg(long)]
    no_resume: bool,
    /// Exit with 4 when a person is needed again
    #[arg(long)]
    no_wait: bool,
}

pub fn run(args: DecideArgs, call: &Invocation) -> Result<Exit, Failure> {
    if let [run] = &*args.words
        && run.parse::<DecisionId>().is_err()
        && let Ok(run) = Runs::open_to_read(&call.environment)?.load(run)
    {
        return show(&run, call);
    }
    let runs = call.runs_as_person()?;
    let (run, id, option) = parse(&args.words)?;
    let mut dispositions = BTreeMap::new();
    for text in &args.requirement {
        let (id, disposition) = text.split_once('=').ok_or_else(|| {
            Failure::usage(Code::USAGE, format!("`{text}` is not ID=DISPOSITION")).hint("write ID=DISPOSITION")
        })?;
        dispositions.insert(Name::from(id), Disposition::from(disposition));
    }
    let instead = match &args.defer {
        Some(until) => Some(Instead::Defer { until_ms: until_ms(until, call.now_ms())? }),
        None if args.cancel => Some(Instead::Cancel),
        None => args.skip.then_some(Instead::Skip),
    };
    if instead.is_none() && !args.why.is_empty() {
        return Err(Failure::usage(Code::USAGE, "`--why` is for `--defer`, `--cancel` and `--skip`")
            .hint("say it with `--text`"));
    }
    let (answers, named) = answers(&args.answer)?;
    let answer = Answer {
        option: option.map(Into::into),
        text: if instead.is_some() { args.why } else { args.text },
        answers,
        named,
        instead,
        dispositions,
        scope: args.scope.iter().map(|glob| glob.as_str().into()).collect(),
        ..Answer::default()
    };
    let (run, events) = runs.decide(&call.person(), run, id, answer)?;
    if events.is_empty() {
        call.output.talk(format!("{id} was already answered like this; nothing changed"));
    }
    if args.no_resume {
        call.events(&events);
        if !events.is_empty() {
            call.output.talk(format!("recorded; `tollgate resume {}` goes on with it", run.run().id));
        }
        return Ok(Exit::Done);
    }
    let wait = if args.no_wait { Wait::No } else { Wait::Attached };
    match drive(&runs, run, &events, wait, call) {
        // Somebody drives it already and sees the answer.
        Err(failure) if failure.code() == DriveError::held_code() => {
            call.output.talk("recorded; the process that drives the run goes on with it");
            Ok(Exit::Done)
        }
        other => other,
    }
}

/// Answers to questions by their number, and to inputs by their name.
type Answers = (BTreeMap<u32, String>, BTreeMap<Name, String>);

/// The answers to single questions: by number, and inputs by their name.
fn answers(texts: &[String]) -> Result<Answers, Failure> {
    let (mut numbered, mut named) = (BTreeMap::new(), BTreeMap::new());
    for text in texts {
        let (of, answer) = text.split_once('=').filter(|(of, _)| !of.is_empty()).ok_or_else(|| {
            Failure::usage(Code::USAGE, format!("`{text}` is not NUMBER=TEXT, nor NAME=VALUE"))
                .hint("write --answer 1='TEXT', or --answer NAME=VALUE where an input is asked for")
        })?;
        let before = match of.parse::<u32>() {
            Ok(number) => numbered.insert(number, answer.to_owned()),
            Err(_) => named.insert(Name::from(of), answer.to_owned()),
        };
        if before.is_some() {
            return Err(Failure::usage(Code::USAGE, format!("question {of} is answered twice")).hint("once is enough"));
        }
    }
    Ok((numbered, named))
}

/// A time that is still to come: so long from now, or a date in UTC.
fn until_ms(text: &str, now_ms: u64) -> Result<u64, Failure> {
    let then = duration_ms(text).map(|ms| now_ms.saturating_add(ms)).or_else(|| date_ms(text));
    then.ok_or_else(|| {
        Failure::usage(Code::USAGE, format!("`{text}` is no time"))
            .hint("write how long (`2h`, `3d`) or when in UTC (`2026-12-01`, `2026-12-01T09:00`)")
    })
}

/// Without a decision, what the run asks is shown.
fn show(run: &Session, call: &Invocation) -> Result<Exit, Failure> {
    let runs = Runs::open_to_read(&call.environment)?;
    if run.run().pending().next().is_none() {
        let message = format!("{} asks nothing", run.run().id);
        return Err(Failure::refused(Code::NO_DECISION, message).hint("`tollgate inbox` lists what is asked"));
    }
    waiting(&runs, run.run(), call);
    Ok(Exit::Done)
}

/// The run, the decision and the option that were typed.
fn parse(words: &[String]) -> Result<(Option<&str>, DecisionId, Option<&str>), Failure> {
    let parse = |text: &str| text.parse::<DecisionId>().ok();
    let (run, id, option) = match words {
        [one, rest @ ..] if parse(one).is_some() && rest.len() <= 1 => (None, parse(one), rest.first()),
        [run, id, rest @ ..] => (Some(run.as_str()), parse(id), rest.first()),
        _ => (None, None, None),
    };
    let id = id.ok_or_else(|| {
        Failure::usage(Code::USAGE, "no decision is named")
            .hint("`tollgate inbox` lists them: `tollgate decide RUN dec_1 OPTION`")
    })?;
    Ok((run, id, option.map(String::as_str)))
}
