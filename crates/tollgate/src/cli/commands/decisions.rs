//! `tollgate decisions`.

use tollgate_app::detail::With;
use tollgate_app::failure::Failure;
use tollgate_app::runs::Runs;

use crate::cli::{Exit, Invocation};
use crate::view::decisions;

/// List every decision of a run, in order: what was asked, the answer, who gave it, when and why
///
/// `tollgate inbox` lists only what is open, in all runs.
#[derive(Debug, clap::Args)]
pub struct DecisionsArgs {
    /// The run; any unique beginning of its id will do
    run: String,
}

pub fn run(args: &DecisionsArgs, call: &Invocation) -> Result<Exit, Failure> {
    let mut notices = Vec::new();
    let found = Runs::open_to_read(&call.environment)?.detail(&args.run, With::Nothing, call.now_ms(), &mut notices);
    notices.iter().for_each(|notice| call.output.notice(notice));
    let detail = found?.run;
    if call.json() {
        detail.decisions.iter().for_each(|decision| call.output.json(decision));
    } else if detail.decisions.is_empty() {
        call.output.talk(format!("{} has asked nothing so far", detail.summary.run));
    } else {
        let lines = decisions::lines(&detail.decisions, call.now_ms(), call.output.width());
        lines.into_iter().for_each(|line| call.output.data(line));
    }
    Ok(Exit::Done)
}
