//! From a run to the picture of it that is drawn while it works.

use tollgate_app::decision::{answer_each, open};
use tollgate_app::format;
use tollgate_app::listing::status;
use tollgate_core::protocol::model::Kind;
use tollgate_core::run::Run;
use tollgate_core::run::budget::Stopped;
use tollgate_core::run::event::{FindingStatus, Work};
use tollgate_core::run::gate::{self, CriterionState};
use tollgate_core::run::state::{At, Instance};
use tollgate_engine::session::summary;

use super::progress::{Doing, FlowRow, Model};

/// The picture of a run at a time.
pub fn picture(run: &Run, started_ms: u64, now_ms: u64) -> Model {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let rows = |wanted: CriterionState| {
        let state = |row| gate::criterion(run, row, &[], gate::whose(run, row, None)).0;
        count(run.ledger.criteria.iter().filter(|row| state(row) == wanted).count())
    };
    Model {
        run: run.id.to_string(),
        protocol: run.opened.protocol.name.to_string(),
        goal: run.opened.title.clone(),
        status: status(summary::status(run)),
        elapsed_ms: now_ms.saturating_sub(started_ms),
        flows: run.instances.iter().filter_map(|(name, instance)| flow(run, name, instance, now_ms)).collect(),
        questions: run
            .pending()
            .map(|(id, decision)| {
                let question = decision.asked.question.lines().next().unwrap_or_default().to_owned();
                let options: Vec<&str> = decision.asked.options.iter().map(|option| &*option.id).collect();
                // Never the first one alone: it may be the one that waives something.
                let answer = match options.as_slice() {
                    [] => "--text '…'".to_owned(),
                    [only] => (*only).to_owned(),
                    several => format!("OPTION ({})", several.join(", ")),
                };
                let each = answer_each(&run.id.to_string(), &id.to_string(), open(decision), options.is_empty());
                (question, each.unwrap_or_else(|| format!("tollgate decide {} {id} {answer}", run.id)))
            })
            .collect(),
        criteria_passed: rows(CriterionState::Passed),
        criteria_waived: rows(CriterionState::Waived),
        criteria_total: count(run.ledger.criteria.len()),
        findings_open: count(run.ledger.findings.values().filter(|f| f.status == FindingStatus::Open).count()),
    }
}

fn flow(run: &Run, name: &str, instance: &Instance, now_ms: u64) -> Option<FlowRow> {
    let unit = instance.unit.as_ref().map(ToString::to_string);
    let stage = instance.at.stage().map(ToString::to_string).unwrap_or_default();
    let doing = match &instance.at {
        At::Ready { .. } if !run.is_live(name) => return None,
        At::Ready { .. } if let Some(stopped) = run.stopped(instance) => {
            let (on, for_ms) = match stopped {
                Stopped::Asked(decision) => {
                    let asked_ms = run.decisions.get(&decision).map_or(now_ms, |decision| decision.asked_ms);
                    (decision.to_string(), now_ms.saturating_sub(asked_ms))
                }
                Stopped::Parked { pool, until_ms } => (format!("{pool}, {}", format::then(now_ms, until_ms)), 0),
                Stopped::Tried { pool, attempt } => (format!("{attempt}, which tries {pool}"), 0),
            };
            Doing::Waits { on, for_ms }
        }
        At::Ready { stage } => {
            let lands = run.stage(instance, stage).is_some_and(|stage| matches!(stage.kind, Kind::Land(_)));
            Doing::Waits { on: if lands { "its turn to land" } else { "its turn" }.to_owned(), for_ms: 0 }
        }
        At::Leased { attempt, .. } => {
            let attempt = run.attempts.get(attempt)?;
            let for_ms = now_ms.saturating_sub(attempt.started_ms);
            match &attempt.work {
                Work::Dispatch { role, iteration, .. } => {
                    Doing::Works { who: role.to_string(), iteration: *iteration, for_ms }
                }
                Work::Commands { .. } => Doing::Works { who: "the engine".to_owned(), iteration: 1, for_ms },
                Work::Land { .. } => Doing::Works { who: "landing".to_owned(), iteration: 1, for_ms },
            }
        }
        At::Waiting { decision, .. } => {
            let asked_ms = run.decisions.get(decision).map_or(now_ms, |decision| decision.asked_ms);
            Doing::Waits { on: decision.to_string(), for_ms: now_ms.saturating_sub(asked_ms) }
        }
        At::Each { stage } => {
            let below = run.children(name).filter(|(_, child)| child.each.as_ref() == Some(stage));
            let (mut done, mut total) = (0, 0);
            for (_, child) in below {
                total += 1;
                done += u32::from(matches!(child.at, At::Ended { .. }));
            }
            Doing::Runs { done, total }
        }
        At::Held { why, .. } => Doing::Held { why: why.clone() },
        At::Closing { .. } => {
            let on = if run.pending().next().is_some() { "open questions" } else { "the end of the run" };
            Doing::Waits { on: on.to_owned(), for_ms: 0 }
        }
        At::Ended { end: tollgate_core::protocol::model::Target::Done } => Doing::Done,
        At::Ended { .. } => Doing::Dropped,
    };
    Some(FlowRow { unit, stage, doing })
}
