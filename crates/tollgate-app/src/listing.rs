//! Lists of runs: the state of each, its reason, and what to type next.

use crate::format;
use tollgate_api::{RunStatus, RunSummary};
use tollgate_core::id::RunId;
use tollgate_core::run::Run;
use tollgate_engine::clock::{Clock, SystemClock};
use tollgate_engine::process::holder::is_dead;
use tollgate_engine::session::summary::{self, SummaryBody, SummaryStatus};
use tollgate_store::{Filter, Journal, Lease, Summary, SummaryText, Unlisted};

use crate::decision;
use crate::failure::Failure;
use crate::runs::Runs;

/// Which runs are listed.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Only runs of the repository at this root.
    pub repository: Option<String>,
    /// Only runs with one of these states; empty: any.
    pub statuses: Vec<RunStatus>,
    /// At most so many.
    pub limit: Option<usize>,
}

/// Runs, the last changed first.
#[derive(Debug)]
pub struct Listing {
    pub runs: Vec<RunSummary>,
    /// How many there are beyond the limit.
    pub more: usize,
    /// Those whose row cannot be read.
    pub damaged: Vec<Unlisted>,
}

impl Runs {
    /// Lists runs. One whose row cannot be read is named, and hides no other.
    pub fn list(&self, wanted: &Wanted, now_ms: u64) -> Result<Listing, Failure> {
        // One stored word is narrowed to by the store; several are looked through here.
        let mut stored = wanted.statuses.iter().map(|status| stored(*status));
        let one = stored.next().filter(|first| stored.all(|other| other == *first));
        let status = one.map(|standing| standing.word().to_owned());
        let filter = Filter { repository: wanted.repository.clone(), status, ..Filter::default() };
        let mut listed = self.journal.list(&filter)?;
        if !wanted.statuses.is_empty() {
            let status = |summary: &Summary| run_status(&summary.text, summary.lease.as_ref(), now_ms);
            listed.runs.retain(|summary| wanted.statuses.contains(&status(summary)));
        }
        let shown = listed.runs.iter().take(wanted.limit.unwrap_or(usize::MAX));
        let runs: Vec<RunSummary> = shown
            .map(|summary| row(summary.run, summary.head.seq, &summary.text, summary.lease.as_ref(), now_ms))
            .collect();
        Ok(Listing { more: listed.runs.len() - runs.len(), runs, damaged: listed.damaged })
    }

    /// The state of a run; none where no list has it.
    pub(crate) fn status(&self, run: RunId) -> Result<Option<RunStatus>, Failure> {
        let filter = Filter { prefix: Some(run.digits().to_owned()), limit: Some(1), ..Filter::default() };
        let listed = self.journal.list(&filter)?;
        Ok(listed.runs.first().map(|row| run_status(&row.text, row.lease.as_ref(), SystemClock.now_ms())))
    }
}

/// The word that the store keeps for a state.
const fn stored(status: RunStatus) -> SummaryStatus {
    match status {
        RunStatus::Working | RunStatus::Interrupted => SummaryStatus::Working,
        RunStatus::Waiting => SummaryStatus::Waiting,
        RunStatus::Sleeping => SummaryStatus::Sleeping,
        RunStatus::Halted => SummaryStatus::Halted,
        RunStatus::Succeeded => SummaryStatus::Succeeded,
        RunStatus::Reported => SummaryStatus::Reported,
        RunStatus::Dropped => SummaryStatus::Dropped,
        RunStatus::Cancelled => SummaryStatus::Cancelled,
    }
}

/// The state of a run, on the wire.
pub const fn status(standing: SummaryStatus) -> RunStatus {
    match standing {
        SummaryStatus::Working => RunStatus::Working,
        SummaryStatus::Waiting => RunStatus::Waiting,
        SummaryStatus::Sleeping => RunStatus::Sleeping,
        SummaryStatus::Halted => RunStatus::Halted,
        SummaryStatus::Succeeded => RunStatus::Succeeded,
        SummaryStatus::Reported => RunStatus::Reported,
        SummaryStatus::Dropped => RunStatus::Dropped,
        SummaryStatus::Cancelled => RunStatus::Cancelled,
    }
}

/// A loaded run, with the lease it is driven under.
pub fn loaded(run: &Run, changed_ms: u64, lease: Option<&Lease>, now_ms: u64) -> RunSummary {
    row(run.id, run.seq, &summary::text(run, changed_ms), lease, now_ms)
}

fn driven(lease: Option<&Lease>, now_ms: u64) -> bool {
    lease.is_some_and(|lease| lease.until_ms > now_ms && !is_dead(&lease.holder))
}

/// Where a run stands: one that should be working and that nobody drives is interrupted.
fn run_status(text: &SummaryText, lease: Option<&Lease>, now_ms: u64) -> RunStatus {
    match SummaryStatus::parse(&text.status) {
        Some(SummaryStatus::Working) | None if !driven(lease, now_ms) => RunStatus::Interrupted,
        Some(standing) => status(standing),
        None => RunStatus::Working,
    }
}

fn row(run: RunId, events: u64, text: &SummaryText, lease: Option<&Lease>, now_ms: u64) -> RunSummary {
    // A body of another version, or one that somebody changed, is shown as far as it can be read.
    let body = SummaryBody::of(text).unwrap_or_default();
    let status = run_status(text, lease, now_ms);
    RunSummary {
        run: run.to_string(),
        next: next(run, &text.repository, status, &body),
        reason: match status {
            RunStatus::Interrupted => format!("no process drives it; it was here: {}", body.reason),
            RunStatus::Sleeping => {
                let when = body.sleeps_until_ms.map_or_else(String::new, |at| format::then(now_ms, at));
                let alone = if driven(lease, now_ms) { "" } else { "; no process drives it, so it will not wake up" };
                format!("goes on {when}{alone}; {}", body.reason)
            }
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
        wakes_at_ms: body.sleeps_until_ms,
    }
}

/// The commands that take a run on.
fn next(run: RunId, repository: &str, status: RunStatus, body: &SummaryBody) -> Vec<String> {
    let answers = || body.asks.iter().flat_map(|ask| how_to_answer(run, ask));
    match status {
        RunStatus::Working => vec![format!("tollgate logs -f {run}")],
        RunStatus::Interrupted | RunStatus::Sleeping => vec![format!("tollgate resume {run}")],
        RunStatus::Waiting => answers().collect(),
        RunStatus::Halted => {
            let mut all: Vec<String> = answers().collect();
            all.extend([format!("tollgate retry {run}"), format!("tollgate cancel {run}")]);
            all
        }
        // It is made by the next driver; until then there is nothing to look at.
        RunStatus::Succeeded if body.unpublished => vec![format!("tollgate resume {run}")],
        RunStatus::Succeeded if body.empty => Vec::new(),
        RunStatus::Succeeded => {
            let git = format!("git -C {}", quoted(repository));
            let look = [format!("{git} log -p HEAD..tollgate/{run}"), format!("tollgate land {run} --as merge")];
            // One that landed, or asks whether to, has its own words.
            let look = look.into_iter().filter(|_| !body.landed && body.asks.is_empty());
            answers().chain(look).collect()
        }
        RunStatus::Reported | RunStatus::Dropped | RunStatus::Cancelled => Vec::new(),
    }
}

/// The commands that answer a question.
fn how_to_answer(run: RunId, ask: &summary::Ask) -> Vec<String> {
    let options: Vec<&str> = ask.options.iter().map(|id| &**id).collect();
    let open = ask.open.iter().map(|(number, input)| (*number, input.as_deref()));
    decision::answers(run, ask.decision, &options, open)
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

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_core::id::DecisionId;

    fn text(standing: SummaryStatus) -> SummaryText {
        let options = vec!["accept".into(), "abort".into()];
        let ask = summary::Ask { decision: DecisionId(2), options, open: Vec::new() };
        let body = SummaryBody {
            title: "A goal".into(),
            reason: "why".into(),
            open: 1,
            asks: vec![ask],
            ..SummaryBody::default()
        };
        let body = serde_json::to_vec(&body).unwrap();
        SummaryText { status: standing.word().into(), repository: "/a b/it's".into(), at_ms: 7, body }
    }

    fn lease(until_ms: u64, holder: &str) -> Lease {
        Lease { epoch: 1, holder: holder.into(), until_ms }
    }

    #[test]
    fn working_needs_a_driver_that_lives() {
        let working = text(SummaryStatus::Working);
        let alive = tollgate_engine::process::holder::this_process();
        let dead = alive.replace("pid ", "pid 9");
        let cases = [
            (None, RunStatus::Interrupted),
            (Some(lease(101, &alive)), RunStatus::Working),
            (Some(lease(100, &alive)), RunStatus::Interrupted),
            (Some(lease(101, &dead)), RunStatus::Interrupted),
            (Some(lease(101, "another host")), RunStatus::Working),
        ];
        for (lease, expected) in cases {
            assert_eq!(run_status(&working, lease.as_ref(), 100), expected, "{lease:?}");
        }
        assert_eq!(run_status(&text(SummaryStatus::Waiting), None, 100), RunStatus::Waiting);
    }

    #[test]
    fn every_standing_says_what_to_type() {
        let run = RunId::from_bits(7);
        let row = |standing| row(run, 3, &text(standing), None, 100);
        assert_eq!(row(SummaryStatus::Working).next, [format!("tollgate resume {run}")]);
        let answers = [format!("tollgate decide {run} dec_2 accept"), format!("tollgate decide {run} dec_2 abort")];
        assert_eq!(row(SummaryStatus::Waiting).next, answers);
        assert_eq!(
            row(SummaryStatus::Halted).next[2..],
            [format!("tollgate retry {run}"), format!("tollgate cancel {run}")]
        );
        let git = r"git -C '/a b/it'\''s'";
        let look = [format!("{git} log -p HEAD..tollgate/{run}"), format!("tollgate land {run} --as merge")];
        assert_eq!(row(SummaryStatus::Succeeded).next, answers);
        let succeeded = |body: SummaryBody| SummaryText {
            body: serde_json::to_vec(&body).unwrap(),
            ..text(SummaryStatus::Succeeded)
        };
        assert_eq!(super::row(run, 3, &succeeded(SummaryBody::default()), None, 100).next, look);
        let landed = succeeded(SummaryBody { landed: true, ..SummaryBody::default() });
        assert_eq!(super::row(run, 3, &landed, None, 100).next, [""; 0]);
        let body = SummaryBody { unpublished: true, ..SummaryBody::default() };
        let body = serde_json::to_vec(&body).unwrap();
        let unpublished = SummaryText { body, ..text(SummaryStatus::Succeeded) };
        assert_eq!(super::row(run, 3, &unpublished, None, 100).next, [format!("tollgate resume {run}")]);
        assert!(row(SummaryStatus::Dropped).next.is_empty());
    }

    /// A row that another version wrote, or somebody changed, hides no run.
    #[test]
    fn a_body_that_cannot_be_read_is_still_a_line() {
        let broken = SummaryText { status: "sideways".into(), body: b"{".to_vec(), ..SummaryText::default() };
        let line = row(RunId::from_bits(7), 3, &broken, None, 100);
        assert_eq!((line.status, line.goal.as_str()), (RunStatus::Interrupted, ""));
    }
}
