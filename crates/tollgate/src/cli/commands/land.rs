//! `tollgate land`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tollgate_api::{LandKind, LandResult, LandStatus};
use tollgate_app::decision;
use tollgate_app::delivery;
use tollgate_app::failure::{Failure, Kind};
use tollgate_app::format;
use tollgate_app::runs::Runs;
use tollgate_app::wire::judgement;
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::id::RunId;
use tollgate_core::run::event::{LandAs, RunLanded};
use tollgate_core::run::state::Landing;
use tollgate_core::run::{Event, Run, effects};
use tollgate_engine::service::ServiceError;
use tollgate_engine::service::delivery::{DeliveryError, DeliveryRequest, DeliveryStart};
use tollgate_engine::session::Session as RunSession;
use tollgate_engine::session::events;
use tollgate_engine::workspace::WorkspaceError;

use crate::cli::drive::{finish, waiting};
use crate::cli::{Exit, Invocation};
use crate::view::text::{Line, Style};

/// Put the tree of a run that succeeded where you want it
///
/// Exactly the tree that every gate held for. Where the branch has moved since the run started, both changes are merged outside
/// of your checkout, the commands of the rows run again on the merged tree, and what no review covers is asked. Your checkout is
/// moved only with `--as merge`, only on the branch it stands on, and only when it has no changes of its own.
#[derive(Debug, clap::Args)]
pub struct LandArgs {
    /// The run: any unique beginning of its id
    run: String,
    /// As what: a branch of its own, merged into a branch, or a patch
    #[arg(long = "as", value_enum, value_name = "branch|merge|patch")]
    how: How,
    /// The branch it lands on; without it, the one that is checked out
    #[arg(long, value_name = "BRANCH")]
    onto: Option<String>,
    /// The branch that is made (with `--as branch`); without it, `tollgate/RUN`
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
    /// The file that a patch is written to; without it, stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// As what a run lands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum How {
    /// A branch, on top of the one it lands on
    Branch,
    /// Merged into the branch it lands on, and into its checkout
    Merge,
    /// A patch that `git apply` takes
    Patch,
}

pub fn run(args: &LandArgs, call: &Invocation) -> Result<Exit, Failure> {
    let how = match args.how {
        How::Branch => LandAs::Branch,
        How::Merge => LandAs::Merge,
        How::Patch => LandAs::Patch,
    };
    let misplaced = [("--to", args.to.is_some(), LandAs::Branch), ("-o", args.output.is_some(), LandAs::Patch)];
    if let Some((flag, _, of)) = misplaced.into_iter().find(|(_, given, of)| *given && *of != how) {
        return Err(Failure::usage(Code::USAGE, format!("`{flag}` goes with `--as {}`", of.word()))
            .hint("`tollgate land --help` says what each is for"));
    }
    let runs = call.runs_as_person()?;
    let mut loaded = runs.load_to_change(&args.run)?;
    let id = loaded.run().id;
    // Its branch, or a landing that was cut off, comes first.
    if loaded.run().succeeded() && !effects(loaded.run()).is_empty() {
        loaded = finish(&runs, loaded, call)?;
    }
    let file = args.output.as_ref().map(|file| call.environment.directory().join(file));
    if let Some(file) = &file {
        delivery::has_room(file, &loaded.run().landed).map_err(|failure| failure.about(id))?;
    }
    let file = file.map(|file| named(&file)).transpose()?;
    let request = DeliveryRequest { how, onto: args.onto.clone(), to: args.to.clone(), file };
    let after = loaded.run().seq;
    match runs.service.deliver(&call.person(), &mut loaded, &request).map_err(|error| failure(error, id).about(id))? {
        DeliveryStart::AlreadyDone(landed) => landed_so(args, &runs, loaded.run(), &landed, LandStatus::Before, call),
        DeliveryStart::AlreadyContained { onto, at } => {
            let reason = format!("{onto} holds it already");
            // Who asks for a branch by its name or for a patch goes on with that.
            let wanted = match how {
                LandAs::Patch => Some("no patch to make; `tollgate diff RUN` prints the change".to_owned()),
                LandAs::Branch => {
                    args.to.as_ref().map(|to| format!("nothing to land; `git branch {to} {at}` makes it"))
                }
                LandAs::Merge => None,
            };
            if let Some(wanted) = wanted {
                let hint = format!("there is {wanted}");
                return Err(Failure::refused(Code::LAND_TARGET, reason).hint(hint).about(id));
            }
            let mut result = result(&runs, loaded.run(), how, LandStatus::Before, reason);
            (result.onto, result.commit) = (onto.to_string(), Some(at.to_string()));
            Ok(print(&result, call, Exit::Done))
        }
        DeliveryStart::Recorded(_) => {
            let landing = loaded.run().landing.clone();
            let loaded = if effects(loaded.run()).is_empty() { loaded } else { finish(&runs, loaded, call)? };
            came_to(args, &runs, &loaded, landing, after, call)
        }
    }
}

/// What came of a landing that was asked for.
fn came_to(
    args: &LandArgs,
    runs: &Runs,
    loaded: &RunSession,
    asked: Option<Arc<Landing>>,
    after: u64,
    call: &Invocation,
) -> Result<Exit, Failure> {
    let run = loaded.run();
    let Some(asked) = asked else { return Err(Failure::internal("a landing was asked for and is not there")) };
    let target = &asked.target;
    if let Some(landed) = run.landed.iter().find(|landed| landed.token == asked.token) {
        return landed_so(args, runs, run, landed, LandStatus::Landed, call);
    }
    if let Some(waits) = run.landing.as_ref().filter(|landing| landing.token == asked.token) {
        let question = run.pending().find(|(id, _)| waits.decision.is_some_and(|(of, _)| of == *id));
        let mut result = result(runs, run, target.how, LandStatus::Waiting, waits.open(run).join("; "));
        of_landing(&mut result, run, waits);
        if let Some((id, known)) = question {
            result.decision = Some(id.to_string());
            result.next = decision::commands(run, id, known);
        }
        if call.json() {
            call.output.json(&result);
            return Ok(Exit::With(Kind::Waiting));
        }
        return Ok(waiting(runs, run, call));
    }
    let events = events(&*runs.journal, run.id, after, u64::MAX)?;
    let left = events.into_iter().rev().find_map(|recorded| match recorded.event {
        Event::LandLeft(left) if left.token == asked.token => Some(left.why),
        _ => None,
    });
    let reason = left.unwrap_or_else(|| "it did not come to its end".to_owned());
    Err(delivery::failed(run, target, &reason))
}

/// A file as the journal names it.
fn named(file: &Path) -> Result<Name, Failure> {
    let text = file.to_str().ok_or_else(|| {
        Failure::usage(Code::USAGE, format!("the name of {} is no text", file.display())).hint("name another file")
    })?;
    Ok(text.into())
}

fn result(runs: &Runs, run: &Run, how: LandAs, status: LandStatus, reason: String) -> LandResult {
    LandResult {
        run: run.id.to_string(),
        how: match how {
            LandAs::Branch => LandKind::Branch,
            LandAs::Merge => LandKind::Merge,
            LandAs::Patch => LandKind::Patch,
        },
        status,
        reason,
        onto: String::new(),
        branch: None,
        commit: None,
        tree: None,
        merged: false,
        checks: Default::default(),
        decision: None,
        file: None,
        patch: None,
        next: Vec::new(),
        not_as_checked_out: runs.not_as_checked_out(run),
    }
}

fn of_landing(result: &mut LandResult, run: &Run, landing: &Landing) {
    result.onto = landing.target.onto.to_string();
    result.branch = landing.target.branch.as_ref().map(ToString::to_string);
    result.merged = landing.target.tree != run.tree;
    let checks = landing.results.iter().flatten();
    result.checks = checks.map(|one| (one.command.name().to_string(), judgement(one.result).to_owned())).collect();
}

/// It is there: what was written down says how.
fn landed_so(
    args: &LandArgs,
    runs: &Runs,
    run: &Run,
    put: &RunLanded,
    status: LandStatus,
    call: &Invocation,
) -> Result<Exit, Failure> {
    let short: String = put.commit.chars().take(12).collect();
    let place = put
        .branch
        .as_ref()
        .map_or_else(|| format!("the patch fits {short}"), |branch| format!("{} is on {branch} as {short}", run.id));
    let mut result = result(runs, run, put.how, status, place);
    for recorded in events(&*runs.journal, run.id, put.token - 1, u64::MAX)? {
        match recorded.event {
            Event::LandAsked(asked) if recorded.seq == put.token => result.onto = asked.target.onto.to_string(),
            Event::LandChecked(checked) if checked.token == put.token => {
                let checks = checked.results.iter();
                result.checks =
                    checks.map(|one| (one.command.name().to_string(), judgement(one.result).to_owned())).collect();
            }
            _ => {}
        }
    }
    result.branch = put.branch.as_ref().map(ToString::to_string);
    result.commit = Some(put.commit.to_string());
    result.tree = Some(put.tree.to_string());
    result.merged = put.tree != run.tree;
    if let Some(digest) = put.patch {
        let patch = runs.patch(digest)?;
        match &args.output {
            Some(file) => {
                delivery::put_patch(&call.environment.directory().join(file), &patch)?;
                result.file = Some(file.display().to_string());
                result.next = vec![format!("git apply {}", file.display())];
            }
            None if call.json() => result.patch = Some(String::from_utf8_lossy(&patch).into_owned()),
            None => call.output.bytes(&patch),
        }
    }
    Ok(print(&result, call, Exit::Done))
}

fn print(result: &LandResult, call: &Invocation, exit: Exit) -> Exit {
    if call.json() {
        call.output.json(result);
        return exit;
    }
    let word = if result.status == LandStatus::Before { "already landed: " } else { "landed: " };
    let merged = if result.merged { ", merged with what changed there" } else { "" };
    let head = Line::new().add(Style::Good, "✓ ").add(Style::Strong, word);
    call.output.talk(head.text(format!("{}{merged}", result.reason)));
    if let Some(files) = &result.not_as_checked_out {
        call.output.talk(format!("  {}", format::not_as_checked_out(files)));
    }
    for command in &result.next {
        call.output.talk(Line::from("  ").add(Style::Accent, command));
    }
    exit
}

/// Why nothing lands, and what to do.
fn failure(error: DeliveryError, run: RunId) -> Failure {
    let message = error.to_string();
    match error {
        DeliveryError::Unproved(breach) => Failure::refused(breach.code, message)
            .hint("`tollgate verify RUN` shows what holds; nothing lands that cannot be proved"),
        DeliveryError::NotYet => {
            Failure::refused(Code::LANDING_UNDER_WAY, message).hint("`tollgate resume RUN` does it")
        }
        DeliveryError::Conflict { how, onto, apart, .. } => {
            let failure = Failure::refused(Code::LAND_CONFLICT, message);
            let failure = how.lines().fold(failure, Failure::because);
            // Merged, it would bring along what the run was built on.
            let by_hand = if apart { "cherry-pick" } else { "merge" };
            failure
                .hint(format!(
                    "{by_hand} it yourself and fix these files: `git switch {onto} && git {by_hand} tollgate/{run}`"
                ))
                .hint("or start a run from there that does the work again: `tollgate run`")
        }
        DeliveryError::Service(ServiceError::Workspace(WorkspaceError::Dirty { .. })) => {
            Failure::refused(Code::DIRTY_CHECKOUT, message)
                .hint("commit or stash them, or leave the checkout alone: `--as branch --to NAME`")
        }
        DeliveryError::Service(ServiceError::Workspace(
            error @ (WorkspaceError::LandTarget { .. } | WorkspaceError::Displaced { .. }),
        )) => Failure::refused(error.code(), message).hint(error.hint()),
        DeliveryError::Service(error) => Failure::from(error),
    }
}
