//! The lease of a run: who may drive it and until when, and the rule that grants, renews and releases it.

use tollgate_core::code::Code;
use tollgate_core::id::RunId;

use crate::error::StoreError;

/// Times beyond this do not survive every reader of JSON.
const TIME_MS_MAX: u64 = 1 << 53;

/// The right to drive a run until a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Which take-over it is.
    pub epoch: u64,
    /// Who holds it, in the holder's own words.
    pub holder: String,
    /// When it passes; 0 when it was given back.
    pub until_ms: u64,
}

/// What is asked of a run's lease. Time is an argument: the store has no clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseRequest {
    /// Takes the lease and raises the epoch; refused while another holder's is alive.
    Acquire {
        /// Who asks.
        holder: String,
        /// Now.
        now_ms: u64,
        /// For how long.
        ttl_ms: u64,
        /// The epoch of a holder that is known to be dead: its lease counts as passed.
        over: Option<u64>,
    },
    /// Prolongs the lease of this epoch: a row beside the journal, no event.
    Renew {
        /// The epoch that was acquired.
        epoch: u64,
        /// Now.
        now_ms: u64,
        /// For how long.
        ttl_ms: u64,
    },
    /// Gives the lease of this epoch back.
    Release {
        /// The epoch that was acquired.
        epoch: u64,
    },
}

/// Why a lease was not granted.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LeaseError {
    /// Another holder's lease is alive.
    #[error("another tollgate is running {run}: {} (epoch {})", held.holder, held.epoch)]
    Held {
        /// The run.
        run: RunId,
        /// The lease that is in the way.
        held: Lease,
    },
    /// The lease was taken over, or never was.
    #[error("the lease of {run} at epoch {epoch} is gone: the run is at epoch {actual}")]
    Gone {
        /// The run.
        run: RunId,
        /// The epoch that was named.
        epoch: u64,
        /// The run's epoch.
        actual: u64,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LeaseError {
    /// The code of the page that explains it.
    pub fn code(&self) -> Code {
        match self {
            Self::Held { .. } => Code::LEASE_HELD,
            Self::Gone { .. } => Code::LEASE_GONE,
            Self::Store(error) => error.code(),
        }
    }
}

/// Decides a request from the lease that the run has now.
pub(crate) fn decide_lease(run: RunId, current: Option<Lease>, request: LeaseRequest) -> Result<Lease, LeaseError> {
    let actual = current.as_ref().map_or(0, |lease| lease.epoch);
    let until = |now_ms: u64, ttl_ms: u64| now_ms.saturating_add(ttl_ms).min(TIME_MS_MAX);
    let mine = |epoch: u64| match &current {
        Some(lease) if lease.epoch == epoch => Ok(lease.clone()),
        _ => Err(LeaseError::Gone { run, epoch, actual }),
    };
    match request {
        LeaseRequest::Acquire { holder, now_ms, ttl_ms, over } => match &current {
            Some(held) if held.holder != holder && held.until_ms > now_ms && over != Some(held.epoch) => {
                Err(LeaseError::Held { run, held: held.clone() })
            }
            _ => Ok(Lease { epoch: actual + 1, holder, until_ms: until(now_ms, ttl_ms) }),
        },
        LeaseRequest::Renew { epoch, now_ms, ttl_ms } => {
            // A released lease is not renewed: another driver may be acquiring it.
            let given_back = current.as_ref().is_some_and(|lease| lease.until_ms == 0);
            if given_back {
                return Err(LeaseError::Gone { run, epoch, actual });
            }
            mine(epoch).map(|lease| Lease { until_ms: until(now_ms, ttl_ms), ..lease })
        }
        LeaseRequest::Release { epoch } => mine(epoch).map(|lease| Lease { until_ms: 0, ..lease }),
    }
}
