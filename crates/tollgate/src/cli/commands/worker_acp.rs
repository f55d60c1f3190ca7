//! `tollgate worker-acp`.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::PathBuf;

use tollgate_app::failure::{Failure, Kind};
use tollgate_core::code::Code;
use tollgate_engine::workers::acp::{AcpRequest, Permission, converse};

use crate::cli::{Exit, Invocation};

/// The longest brief that is read.
const BRIEF_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Put a question to an agent of the Agent Client Protocol
///
/// Started by Tollgate for workers of the adapter `acp`; reads the question on stdin and prints what the agent says, a line each.
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub struct WorkerAcpArgs {
    /// What the agent is allowed when it asks
    #[arg(long, value_parser = permit, default_value = "edits", value_name = "nothing|edits|all")]
    permit: Permission,
    /// The model
    #[arg(long)]
    model: Option<String>,
    /// The mode of the session, one of those that the agent offers
    #[arg(long)]
    mode: Option<String>,
    /// The session to go on with
    #[arg(long)]
    session: Option<String>,
    /// The agent
    program: PathBuf,
    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

fn permit(word: &str) -> Result<Permission, String> {
    Permission::parse(word).ok_or_else(|| format!("there are {}", Permission::WORDS.map(|(word, _)| word).join(", ")))
}

pub fn run(args: WorkerAcpArgs, call: &Invocation) -> Result<Exit, Failure> {
    let mut prompt = String::new();
    std::io::stdin()
        .take(BRIEF_BYTES_MAX)
        .read_to_string(&mut prompt)
        .map_err(|error| Failure::refused(Code::USAGE, "the question cannot be read from the input").cause(error))?;
    let request = AcpRequest {
        cwd: call.environment.directory().to_owned(),
        out: call.environment.get("TOLLGATE_OUT").map(PathBuf::from),
        prompt,
        session: args.session,
        model: args.model,
        mode: args.mode,
        permission: args.permit,
    };
    let answered = converse(&args.program, &args.args, request, &mut std::io::stdout().lock());
    Ok(if answered { Exit::Done } else { Exit::With(Kind::Environment) })
}
