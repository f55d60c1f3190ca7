//! `tollgate retry`.

use tollgate_app::failure::Failure;

use crate::cli::drive::{Wait, drive};
use crate::cli::{Exit, Invocation};

/// Try again what is held or halted
///
/// Your word is recorded, the stage that led there is entered again, and its limits are renewed.
#[derive(Debug, clap::Args)]
pub struct RetryArgs {
    /// The run: any unique beginning of its id
    run: String,
    /// Only this unit
    unit: Option<String>,
    /// Record it, and leave the driving to others
    #[arg(long)]
    no_resume: bool,
    /// Exit with 4 when a person is needed
    #[arg(long)]
    no_wait: bool,
}

pub fn run(args: &RetryArgs, call: &Invocation) -> Result<Exit, Failure> {
    let runs = call.runs_as_person()?;
    let unit = args.unit.as_deref().map(Into::into);
    let (run, events) = runs.retry(&call.person(), &args.run, unit)?;
    if args.no_resume {
        call.events(&events);
        return Ok(Exit::Done);
    }
    drive(&runs, run, &events, if args.no_wait { Wait::No } else { Wait::Attached }, call)
}
