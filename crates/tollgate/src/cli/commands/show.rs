//! `tollgate show`.

use tollgate_app::detail::{Detail, With};
use tollgate_app::failure::Failure;
use tollgate_app::runs::Runs;

use crate::cli::{Exit, Invocation};
use crate::view::{evidence, matrix, show};

/// Show one run: where it stands, what happened, what shows that it is done
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    /// The run; any unique beginning of its id will do
    run: String,
    /// Also list what each routing decision read of a report, and what it only checked
    #[arg(long)]
    reads: bool,
    /// Only what shows that each row holds: from whom, what it covers, and whether that is unchanged
    #[arg(long, conflicts_with = "reads")]
    evidence: bool,
    /// Only the matrix: requirement, unit, row, what shows it, fresh or stale, and by whom
    #[arg(long, conflicts_with_all = ["reads", "evidence"])]
    matrix: bool,
}

pub fn run(args: &ShowArgs, call: &Invocation) -> Result<Exit, Failure> {
    let mut notices = Vec::new();
    let with = match (args.reads, args.matrix) {
        (true, _) => With::Reads,
        (false, true) => With::Matrix,
        (false, false) => With::Nothing,
    };
    let found = Runs::open_to_read(&call.environment)?.detail(&args.run, with, call.now_ms(), &mut notices);
    notices.iter().for_each(|notice| call.output.notice(notice));
    let Detail { run: detail, history } = found?;
    if call.json() {
        call.output.json(&detail);
    } else if args.evidence {
        evidence::lines(&detail, call.output.width()).into_iter().for_each(|line| call.output.data(line));
    } else if args.matrix && detail.matrix.is_empty() {
        call.output.talk(format!("{} has no requirements, units or rows so far", detail.summary.run));
    } else if args.matrix {
        matrix::lines(&detail.matrix, call.output.width()).into_iter().for_each(|line| call.output.data(line));
    } else {
        let lines = show::lines(&detail, &history, call.now_ms(), call.output.width());
        lines.into_iter().for_each(|line| call.output.data(line));
    }
    Ok(Exit::Done)
}
