//! From a summary row to a line of a list: where a run stands, why, and what to type next.

use tollgate_api::{RunStatus, RunSummary};
use tollgate_core::id::{DecisionId, RunId};
use tollgate_core::run::Run;
use tollgate_engine::holder::is_dead;
use tollgate_engine::summary::{self, Body, Standing};
use tollgate_store::{Lease, Summary, SummaryText};

use super::picture::status;

/// A run as its summary row says.
pub fn listed(summary: &Summary, now_ms: u64) -> RunSummary {
    row(summary.run, summary.head.seq, &summary.text, summary.lease.as_ref(), now_ms)
}

/// A loaded run, with the lease it is driven under.
pub fn loaded(run: &Run, changed_ms: u64, lease: Option<&Lease>, now_ms: u64) -> RunSummary {
    row(run.id, run.seq, &summary::text(run, changed_ms), lease, now_ms)
}

/// Where a run stands: one that should be working and that nobody drives is interrupted.
pub fn run_status(text: &SummaryText, lease: Option<&Lease>, now_ms: u64) -> RunStatus {
    let driven = || lease.is_some_and(|lease| lease.until_ms > now_ms && !is_dead(&lease.holder));
    match Standing::parse(&text.status) {
        Some(Standing::Working) | None if !driven() => RunStatus::Interrupted,
        Some(standing) => status(standing),
        None => RunStatus::Working,
    }
}

fn row(run: RunId, events: u64, text: &SummaryText, lease: Option<&Lease>, now_ms: u64) -> RunSummary {
    // A body of another version, or one that somebody changed, is shown as far as it can be read.
    let body: Body = serde_json::from_slice(&text.body).unwrap_or_default();
    let status = run_status(text, lease, now_ms);
    RunSummary {
        run: run.to_string(),
        next: next(run, &text.repository, status, &body),
        reason: match status {
            RunStatus::Interrupted => format!("nobody drives it; it was here: {}", body.reason),
            _ => body.reason,
        },
        protocol: body.protocol,
        goal: body.title,
        repository: text.repository.clone(),
        status,
        started_at_ms: body.opened_ms,
        changed_at_ms: text.at_ms,
        events,
        pending_decisions: body.open,
    }
}

/// The commands that take a run on.
fn next(run: RunId, repository: &str, status: RunStatus, body: &Body) -> Vec<String> {
    let answers = || body.asks.iter().flat_map(|ask| answers(run, ask.decision, ask.options.iter().map(|id| &**id)));
    match status {
        RunStatus::Working => vec![format!("tollgate logs -f {run}")],
        RunStatus::Interrupted | RunStatus::Sleeping => vec![format!("tollgate resume {run}")],
        RunStatus::Waiting => answers().collect(),
        RunStatus::Halted => {
            let mut all: Vec<String> = answers().collect();
            all.extend([format!("tollgate retry {run}"), format!("tollgate cancel {run}")]);
            all
        }
        RunStatus::Succeeded => vec![format!("git -C {} log -p HEAD..tollgate/{run}", quoted(repository))],
        RunStatus::Dropped | RunStatus::Cancelled => Vec::new(),
    }
}

/// The commands that answer a question, one per option.
pub fn answers<'a>(run: RunId, decision: DecisionId, options: impl Iterator<Item = &'a str>) -> Vec<String> {
    let all: Vec<String> = options.map(|option| format!("tollgate decide {run} {decision} {option}")).collect();
    if all.is_empty() { vec![format!("tollgate decide {run} {decision} --text 'ANSWER'")] } else { all }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "/._-+@%=:,".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
