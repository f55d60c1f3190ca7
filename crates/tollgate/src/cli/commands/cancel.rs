//! `tollgate cancel`.

use tollgate_app::engine_errors::about;
use tollgate_app::failure::Failure;
use tollgate_engine::process::end_recorded;

use crate::cli::{Exit, Invocation};

/// How long workers have to end by themselves.
const GRACE: std::time::Duration = std::time::Duration::from_millis(500);

/// End a run
///
/// Its workers are ended, its work trees and its journal are kept, and it closes as not succeeded.
#[derive(Debug, clap::Args)]
pub struct CancelArgs {
    /// The run: any unique beginning of its id
    run: String,
    /// Why; it is recorded
    #[arg(long, default_value = "cancelled by a person")]
    why: String,
}

pub fn run(args: &CancelArgs, call: &Invocation) -> Result<Exit, Failure> {
    let runs = call.runs_as_person()?;
    let mut run = runs.load_to_change(&args.run)?;
    let id = run.run().id;
    let outcome = runs.service.cancel(&call.person(), &mut run, args.why.clone()).map_err(about(id))?;
    call.events(&outcome.events);
    // The driver sees the cancellation and ends its workers; one that is dead left them to us.
    end_recorded(&runs.state, &run.run().id.to_string(), GRACE);
    call.output.talk(format!("{} is cancelled; its work trees are kept", run.run().id));
    Ok(Exit::Done)
}
