//! `tollgate ls`.

use tollgate_api::{RunStatus, RunSummary};
use tollgate_app::failure::{Failure, Kind};
use tollgate_app::format;
use tollgate_app::listing::{Listing, Wanted};
use tollgate_app::repository::Repository;
use tollgate_app::runs::Runs;

use crate::cli::{Exit, Invocation};
use crate::view::status;
use crate::view::table::table;
use crate::view::text::{Line, Style};

/// Runs that are listed when nobody says how many.
const LIMIT: usize = 50;

/// List the runs, the last changed first
///
/// All repositories share one list. A run that should be working and that nobody drives is shown as interrupted.
#[derive(Debug, clap::Args)]
pub struct LsArgs {
    /// Only runs that stand so
    #[arg(long, value_enum)]
    status: Vec<StatusWord>,
    /// Only runs of the repository you are in
    #[arg(long)]
    here: bool,
    /// At most this many
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = LIMIT, conflicts_with = "all")]
    limit: usize,
    /// All of them, however many
    #[arg(long)]
    all: bool,
}

/// Below so many columns the protocol is left out: what a run waits for says more.
const NARROW: usize = 110;

/// As wide as `59 min ago` and `99 days ago`: what stands beside a time does not move while it passes.
const TIME: usize = 11;

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum StatusWord {
    Working,
    Interrupted,
    Waiting,
    Sleeping,
    Halted,
    Succeeded,
    Reported,
    Dropped,
    Cancelled,
}

impl StatusWord {
    const fn status(self) -> RunStatus {
        match self {
            Self::Working => RunStatus::Working,
            Self::Interrupted => RunStatus::Interrupted,
            Self::Waiting => RunStatus::Waiting,
            Self::Sleeping => RunStatus::Sleeping,
            Self::Halted => RunStatus::Halted,
            Self::Succeeded => RunStatus::Succeeded,
            Self::Reported => RunStatus::Reported,
            Self::Dropped => RunStatus::Dropped,
            Self::Cancelled => RunStatus::Cancelled,
        }
    }
}

pub fn run(args: &LsArgs, call: &Invocation) -> Result<Exit, Failure> {
    let now_ms = call.now_ms();
    let repository = match args.here {
        true => Some(Repository::need(&call.environment)?.root().display().to_string()),
        false => None,
    };
    let statuses = args.status.iter().map(|word| word.status()).collect();
    let wanted = Wanted { repository, statuses, limit: (!args.all).then_some(args.limit) };
    let Listing { runs: shown, more, damaged } = Runs::open_to_read(&call.environment)?.list(&wanted, now_ms)?;
    call.unlisted(&damaged);
    if call.json() {
        shown.iter().for_each(|summary| call.output.json(summary));
    } else {
        lines(&shown, now_ms, call.output.width()).into_iter().for_each(|line| call.output.data(line));
    }
    if shown.is_empty() && more == 0 && damaged.is_empty() {
        let words = match args.status.is_empty() && !args.here {
            true => "there are no runs yet; `tollgate run PROTOCOL` starts one, `tollgate demo` shows one",
            false => "there are no such runs; `tollgate ls` lists all of them",
        };
        call.output.talk(words);
    }
    if more > 0 {
        call.output.talk(format!("and {more} more; `tollgate ls --all` lists them all"));
    }
    Ok(if !damaged.is_empty() { Exit::With(Kind::Refused) } else { Exit::Done })
}

fn lines(shown: &[RunSummary], now_ms: u64, width: usize) -> Vec<Line> {
    let narrow = width < NARROW;
    let rows = shown.iter().map(|summary| row(summary, now_ms, narrow)).collect();
    let header = ["run", "status", "changed", "protocol", "goal", "why"];
    let header: Vec<&str> = header.into_iter().filter(|title| !narrow || *title != "protocol").collect();
    table(&header, rows, width)
}

fn row(summary: &RunSummary, now_ms: u64, narrow: bool) -> Vec<Line> {
    let mut cells = vec![
        Line::new().add(Style::Strong, &summary.run),
        status::run(summary.status).line(),
        Line::new().add(Style::Faint, format!("{:<TIME$}", format::about(now_ms, summary.changed_at_ms))),
        Line::from(summary.protocol.clone()),
        Line::from(summary.goal.clone()),
        Line::new().add(Style::Faint, &summary.reason),
    ];
    if narrow {
        cells.remove(3);
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_moves_while_time_passes() {
        let waits = RunSummary {
            run: "run_7k3m9q2x".to_owned(),
            protocol: "build-plan".to_owned(),
            goal: "Greet people".to_owned(),
            repository: "/work".to_owned(),
            status: RunStatus::Waiting,
            reason: "waits for dec_2: Rows are still open, and trying again does not close them.".to_owned(),
            next: Vec::new(),
            started_at_ms: 0,
            changed_at_ms: 0,
            events: 34,
            pending_decisions: 1,
            wakes_at_ms: None,
        };
        let seconds = [0, 2, 9, 10, 59, 60, 59 * 60, 3600, 47 * 3600, 48 * 3600, 99 * 86_400];
        for width in [80, 140] {
            let shown = seconds.map(|second| {
                let now_ms = second * 1000 + 500;
                let line = lines(std::slice::from_ref(&waits), now_ms, width).pop().unwrap().to_string();
                line.replacen(&format!("{:<TIME$}", format::about(now_ms, 0)), "[T]", 1)
            });
            assert!(shown[0].contains("[T]  ") && shown.iter().all(|line| *line == shown[0]), "{shown:#?}");
        }
    }
}
