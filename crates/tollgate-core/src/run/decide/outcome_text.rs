//! What came of a stage, as people read it in reasons and questions.

use crate::protocol::model::{Kind, Stage};

/// What came of a stage, in words.
pub(super) fn came_out(stage: &Stage, outcome: &str) -> String {
    let id = &stage.id;
    let health = outcome.split_once('.').map_or(outcome, |(health, _)| health);
    match (&stage.kind, health) {
        (_, "fail") => format!("`{id}` does not pass"),
        (_, "stale") => format!("`{id}` rests on other content"),
        (_, "unobservable") => format!("`{id}` needs what cannot be observed"),
        (Kind::Dispatch { role }, "failed") => format!("{role} failed at `{id}`"),
        (Kind::Dispatch { role }, "malformed") => format!("the report of {role} at `{id}` cannot be used"),
        (Kind::Dispatch { role }, "exhausted") => format!("{role} stopped unfinished at `{id}`"),
        (Kind::Dispatch { role }, "needs_input") => format!("{role} needs an answer at `{id}`"),
        (Kind::Dispatch { role }, "partial") => format!("{role} reports only the least that counts at `{id}`"),
        (Kind::Dispatch { role }, "reject") => format!("{role} rejects at `{id}`"),
        (Kind::Dispatch { role }, "inconclusive") => {
            format!("{role} accepts at `{id}`, and what was measured does not bear it out")
        }
        (Kind::Dispatch { role }, _) => format!("{role} at `{id}`: {outcome}"),
        (Kind::Each(_), "none") => format!("no unit of `{id}` is done"),
        (Kind::Each(_), "some") => format!("not every unit of `{id}` is done"),
        (Kind::Land(_), "conflict") => format!("the landing at `{id}` ended in a conflict"),
        (Kind::Land(_), "out_of_scope") => format!("the landing at `{id}` found changes outside of the scope"),
        (Kind::Land(_), "refused") => format!("the landing at `{id}` was refused"),
        (_, "skipped") => format!("`{id}` was not done"),
        (Kind::Ask(_), "cancelled") => format!("the question `{id}` was taken back"),
        (Kind::Ask(_) | Kind::Check { .. } | Kind::Each(_) | Kind::Land(_), _) => format!("`{id}`: {outcome}"),
    }
}
