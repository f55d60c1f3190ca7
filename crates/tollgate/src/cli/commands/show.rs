//! `tollgate show`.

use tollgate_app::detail::Detail;
use tollgate_app::failure::Failure;
use tollgate_app::runs::Runs;

use crate::cli::{Exit, Session};
use crate::view::{evidence, show};

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
}

pub fn run(args: &ShowArgs, session: &Session) -> Result<Exit, Failure> {
    let mut notices = Vec::new();
    let found = Runs::open_to_read(&session.environment)?.detail(&args.run, args.reads, session.now_ms(), &mut notices);
    notices.iter().for_each(|notice| session.output.notice(notice));
    let Detail { run: detail, history } = found?;
    if session.json() {
        session.output.json(&detail);
    } else if args.evidence {
        evidence::lines(&detail, session.output.width()).into_iter().for_each(|line| session.output.data(line));
    } else {
        let lines = show::lines(&detail, &history, session.now_ms(), session.output.width());
        lines.into_iter().for_each(|line| session.output.data(line));
    }
    Ok(Exit::Done)
}
