//! What came of a stage, as people read it in reasons and questions.

use crate::protocol::model::{Kind, Stage};
use crate::protocol::{LandOutcome, Outcome};
use crate::report::{Health, Verdict};

/// What came of a stage, in words.
pub(super) fn came_out(stage: &Stage, outcome: &Outcome) -> String {
    let id = &stage.id;
    match (&stage.kind, outcome) {
        (_, Outcome::Fail) => format!("`{id}` does not pass"),
        (_, Outcome::Stale) => format!("`{id}` rests on other content"),
        (_, Outcome::Unobservable) => format!("`{id}` needs what cannot be observed"),
        (Kind::Dispatch { role }, Outcome::Health(health, _)) if *health != Health::Ok => match health {
            Health::Ok | Health::Failed => format!("{role} failed at `{id}`"),
            Health::Malformed => format!("the report of {role} at `{id}` cannot be used"),
            Health::Exhausted => format!("{role} stopped unfinished at `{id}`"),
            Health::NeedsInput => format!("{role} needs an answer at `{id}`"),
            Health::Partial => format!("{role} reports only the least that counts at `{id}`"),
        },
        (Kind::Dispatch { role }, Outcome::Verdict(Verdict::Reject)) => format!("{role} rejects at `{id}`"),
        (Kind::Dispatch { role }, Outcome::Verdict(Verdict::Inconclusive)) => {
            format!("{role} accepts at `{id}`, but the measurements do not confirm it")
        }
        (Kind::Dispatch { role }, _) => format!("{role} at `{id}`: {outcome}"),
        (Kind::Each(_), Outcome::None) => format!("no unit of `{id}` is done"),
        (Kind::Each(_), Outcome::Some) => format!("not every unit of `{id}` is done"),
        (Kind::Land(_), Outcome::Land(LandOutcome::Conflict)) => {
            format!("the landing at `{id}` ended in a conflict")
        }
        (Kind::Land(_), Outcome::Land(LandOutcome::OutOfScope)) => {
            format!("the landing at `{id}` found changes outside of the scope")
        }
        (Kind::Land(_), Outcome::Land(LandOutcome::Refused)) => format!("the landing at `{id}` was refused"),
        (_, Outcome::Skipped) => format!("`{id}` was not done"),
        (Kind::Ask(_), Outcome::Cancelled) => format!("the question `{id}` was taken back"),
        (Kind::Ask(_) | Kind::Check { .. } | Kind::Each(_) | Kind::Land(_), _) => format!("`{id}`: {outcome}"),
    }
}
