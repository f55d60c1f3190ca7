//! `tollgate worker-script`.

use std::path::PathBuf;

use tollgate_app::failure::Failure;
use tollgate_engine::workers::script::run_script;

use crate::cli::{Exit, Invocation};

/// Act out a script as a worker does
///
/// Started by Tollgate for workers of the adapter `script`; reads the brief on stdin and the `TOLLGATE_*` variables.
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub struct WorkerScriptArgs {
    /// The script
    #[arg(long)]
    script: PathBuf,
}

pub fn run(args: &WorkerScriptArgs, call: &Invocation) -> Result<Exit, Failure> {
    let program = call.environment.program()?;
    Ok(Exit::Code(run_script(&call.environment.directory().join(&args.script), program)))
}
