//! Where a flow instance stands.

use serde::{Deserialize, Serialize};

use super::blank::blank_as_none;
use crate::id::{AttemptId, DecisionId, StageId};
use crate::protocol::Outcome;
use crate::protocol::model::Target;

/// As what a run ends that does not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnding {
    /// It succeeds, if nothing is open.
    #[default]
    Done,
    /// It ends with its report.
    Reported,
    /// It is given up.
    Dropped,
}

impl RunEnding {
    fn is_done(&self) -> bool {
        *self == Self::Done
    }
}

/// Where a flow instance stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum At {
    /// Entered; a driver grants the lease.
    Ready { stage: StageId },
    /// Somebody works under a lease.
    Leased { stage: StageId, attempt: AttemptId },
    /// A person is asked.
    Waiting { stage: StageId, decision: DecisionId },
    /// Units are at work below it.
    Each { stage: StageId },
    /// Nothing moves without a person's `retry`.
    Held {
        stage: StageId,
        #[serde(with = "blank_as_none")]
        outcome: Option<Outcome>,
        why: String,
    },
    /// Everything is done; decisions beside the work are still open.
    Closing {
        stage: StageId,
        #[serde(default, skip_serializing_if = "RunEnding::is_done")]
        end: RunEnding,
    },
    /// It has ended.
    Ended { end: Target },
}

impl At {
    /// The stage, while it has one.
    pub fn stage(&self) -> Option<&StageId> {
        match self {
            Self::Ready { stage }
            | Self::Leased { stage, .. }
            | Self::Waiting { stage, .. }
            | Self::Each { stage }
            | Self::Held { stage, .. }
            | Self::Closing { stage, .. } => Some(stage),
            Self::Ended { .. } => None,
        }
    }

    /// Whether it can still move by itself, by a worker or by an answer.
    pub const fn is_active(&self) -> bool {
        match self {
            Self::Ready { .. }
            | Self::Leased { .. }
            | Self::Waiting { .. }
            | Self::Each { .. }
            | Self::Closing { .. } => true,
            Self::Held { .. } | Self::Ended { .. } => false,
        }
    }
}
