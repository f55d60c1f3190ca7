//! What lists show of a run, written with every append.

use serde::{Deserialize, Serialize};
use tollgate_core::run::Run;
use tollgate_core::run::event::RunOutcome;
use tollgate_core::run::state::{At, Phase};
use tollgate_store::SummaryText;

/// How a run stands, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Somebody works, or could.
    Working,
    /// A person is asked, and nothing else can move.
    Waiting,
    /// Nothing moves without a person's `retry`.
    Halted,
    /// Closed: every mandatory gate held at the closing tree.
    Succeeded,
    /// Closed: given up.
    Dropped,
    /// Closed: a person ended it.
    Cancelled,
}

impl Standing {
    /// The word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Waiting => "waiting",
            Self::Halted => "halted",
            Self::Succeeded => "succeeded",
            Self::Dropped => "dropped",
            Self::Cancelled => "cancelled",
        }
    }
}

/// How a run stands.
pub fn standing(run: &Run) -> Standing {
    match &run.phase {
        Phase::Closed { outcome: RunOutcome::Succeeded, .. } => Standing::Succeeded,
        Phase::Closed { outcome: RunOutcome::Dropped, .. } => Standing::Dropped,
        Phase::Closed { outcome: RunOutcome::Cancelled, .. } => Standing::Cancelled,
        Phase::Halted { .. } => Standing::Halted,
        Phase::Open => {
            let moves = |at: &At| matches!(at, At::Ready { .. } | At::Leased { .. });
            let moving = run.instances.values().any(|instance| moves(&instance.at));
            if !moving && run.pending().next().is_some() { Standing::Waiting } else { Standing::Working }
        }
    }
}

/// The body of a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Body {
    /// What the run is for.
    pub title: String,
    /// Its protocol.
    pub protocol: String,
    /// Where it is: each active instance and its stage.
    pub at: Vec<String>,
    /// How many questions are open.
    pub open: u32,
    /// When it was opened is the first `at_ms` a list ever saw: kept from append to append by the run itself.
    pub epoch: u64,
}

/// The summary of a run, as the store keeps it.
pub fn text(run: &Run, now_ms: u64) -> SummaryText {
    const PLACES_MAX: usize = 4;
    let at = run
        .instances
        .values()
        .filter(|instance| instance.at.is_active() && !matches!(instance.at, At::Each { .. }))
        .take(PLACES_MAX)
        .filter_map(|instance| {
            let stage = instance.at.stage()?;
            Some(match &instance.unit {
                Some(unit) => format!("{unit}: {stage}"),
                None => stage.to_string(),
            })
        })
        .collect();
    let body = Body {
        title: run.opened.title.clone(),
        protocol: run.opened.protocol.name.to_string(),
        at,
        open: u32::try_from(run.pending().count()).unwrap_or(u32::MAX),
        epoch: run.epoch,
    };
    SummaryText {
        status: standing(run).word().to_owned(),
        repository: run.opened.repository.clone(),
        at_ms: now_ms,
        body: serde_json::to_vec(&body).unwrap_or_default(),
    }
}
