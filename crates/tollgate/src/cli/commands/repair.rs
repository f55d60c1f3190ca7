//! `tollgate repair`.

use tollgate_api::{Broken, RepairResult};
use tollgate_app::failure::Failure;
use tollgate_core::code::Code;
use tollgate_core::id::RunId;
use tollgate_core::run::Run;
use tollgate_engine::session::LoadError;
use tollgate_engine::verify::repair::{RepairContext, RepairError, RepairOutcome, repair};

use crate::cli::commands::verify::kind;
use crate::cli::{Exit, Invocation};
use crate::view::table::wrap;
use crate::view::text::{Line, Style};

/// Cut a damaged run back to the last event that verifies
///
/// What is cut is kept in a file beside the journal, and you are told what was lost and what may have happened since. The
/// repair is recorded, and the run is halted until you say `tollgate retry`. A run that holds is left alone.
#[derive(Debug, clap::Args)]
pub struct RepairArgs {
    /// The run: any unique beginning of its id
    run: String,
}

pub fn run(args: &RepairArgs, call: &Invocation) -> Result<Exit, Failure> {
    let runs = call.runs_as_person()?;
    let id = runs.find_recorded(&args.run)?;
    let place = RepairContext { state: &runs.state, person: &call.person(), now_ms: call.now_ms() };
    let done = repair(&runs.journal, id, place).map_err(|error| repair_failure(id, error))?;
    let result = result(&done);
    if call.json() {
        call.output.json(&result);
    } else {
        print(&result, &done.run, call);
    }
    Ok(Exit::Done)
}

fn result(done: &RepairOutcome) -> RepairResult {
    let run = done.run.id.to_string();
    RepairResult {
        kept: done.kept,
        lost_until: done.until,
        cut: done.cut,
        broken: Broken {
            what: kind(done.breach.code).to_owned(),
            seq: done.breach.seq,
            code: done.breach.code.to_string(),
            message: done.breach.what.clone(),
            next: vec![format!("tollgate explain {}", done.breach.code)],
        },
        file: done.file.as_ref().map(|path| path.display().to_string()),
        after: done.after.clone(),
        head: done.head.to_string(),
        next: match done.run.is_closed() {
            true => vec![format!("tollgate show {run}")],
            false => ["show", "retry", "cancel"].map(|word| format!("tollgate {word} {run}")).to_vec(),
        },
        run,
    }
}

fn print(result: &RepairResult, run: &Run, call: &Invocation) {
    let output = &call.output;
    let words =
        if run.is_closed() { "is repaired; it is over" } else { "is repaired, and halted until you look at it" };
    output.data(Line::new().add(Style::Warn, "■ ").add(Style::Strong, &result.run).text(format!("  {words}")));
    output.data(format!("  kept    events 1 to {}, and the repair as event {}", result.kept, result.kept + 1));
    let lost = match result.lost_until.checked_sub(result.kept) {
        None | Some(0) => "no event".to_owned(),
        Some(1) => format!("event {}", result.lost_until),
        Some(_) => format!("events {} to {}", result.kept + 1, result.lost_until),
    };
    output.data(format!("  lost    {lost}"));
    let room = output.width().saturating_sub(10).max(20);
    let beside = |label: &str, text: &str| {
        for (at, line) in wrap(text, room).into_iter().enumerate() {
            output.data(format!("  {:<8}{line}", if at == 0 { label } else { "" }));
        }
    };
    beside("why", &format!("[{}] {}", result.broken.code, result.broken.message));
    if let Some(file) = &result.file {
        output.data(format!("  cut     {file}"));
    }
    for (at, line) in result.after.iter().enumerate() {
        beside(if at == 0 { "since" } else { "" }, line);
    }
    if !result.after.is_empty() {
        beside("", "these may have happened after the last event that is kept: look at them before you go on");
    }
    for command in &result.next {
        output.data(Line::from("  next    ").add(Style::Accent, command));
    }
}

fn repair_failure(run: RunId, error: RepairError) -> Failure {
    let code = error.code();
    let message = error.to_string();
    match error {
        RepairError::Sound(_) => Failure::refused(code, message).hint(format!("`tollgate show {run}` shows its state")),
        RepairError::Nothing { breach, .. } => Failure::refused(code, message)
            .because(format!("{}: {}", breach.code, breach.what))
            .hint("bring the state directory, or what is missing in it, back from a copy"),
        RepairError::NotDamage { .. } if code == Code::NEWER_EVENT => {
            Failure::refused(code, message).hint("this is no damage: use the version of Tollgate that wrote it")
        }
        RepairError::NotDamage { .. } => {
            Failure::environment(code, message).hint(format!("`tollgate verify {run}` tries to read it again"))
        }
        RepairError::Held { .. } => Failure::refused(code, message)
            .hint("stop that driver first; a run can be repaired when no process drives it"),
        RepairError::Load(LoadError::NoRun(_)) => {
            Failure::refused(code, message).hint("`tollgate verify --all` names every run there is, or was")
        }
        RepairError::Load(error) => Failure::from(error),
        RepairError::Lease(error) => Failure::environment(code, "the lease of the run cannot be had").cause(error),
        RepairError::Rejected(rejection) => Failure::from(tollgate_engine::session::CommandError::Rejected(rejection)),
        RepairError::Append(error) => Failure::from(tollgate_engine::session::CommandError::Append(error)),
        RepairError::Unwritable(error) => Failure::internal(error.to_string()),
    }
}
