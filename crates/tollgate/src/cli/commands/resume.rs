//! `tollgate resume`.

use tollgate_app::failure::Failure;

use crate::cli::drive::{Wait, drive};
use crate::cli::{Exit, Invocation};

/// Resume a run
///
/// After a crash, a detach or an answer. Renews nothing: what is held or halted needs `tollgate retry`.
#[derive(Debug, clap::Args)]
pub struct ResumeArgs {
    /// The run: any unique beginning of its id
    run: String,
    /// Exit with 4 when a person is needed
    #[arg(long)]
    no_wait: bool,
}

pub fn run(args: &ResumeArgs, call: &Invocation) -> Result<Exit, Failure> {
    let runs = call.runs_as_person()?;
    let run = runs.load_to_change(&args.run)?;
    drive(&runs, run, &[], if args.no_wait { Wait::No } else { Wait::Attached }, call)
}
