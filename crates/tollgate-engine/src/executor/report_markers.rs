//! The lines between which a worker prints its report. They follow from the run's secret, which is kept before its first worker is
//! started.

use tollgate_contract::extract::Markers;
use tollgate_contract::registry::Contracts;
use tollgate_core::id::{AttemptId, RunId};
use tollgate_core::run::Run;
use tollgate_core::run::event::Work;
use tollgate_core::run_secret::RunSecret;

use super::{Failure, LocalExecutor};
use crate::clock::new_run_secret;
use crate::workers::agent::AgentSpec;
use crate::workers::{Outcome, RawReport, bundle};

/// Why a report is asked for again whose markers nobody can work out any more.
const SECRET_GONE: &str =
    "the secret of the run from which its marker lines follow is no longer kept: the report is asked for again";

/// The marker lines of one attempt, and the secret that they follow from.
pub(super) struct ReportMarkers {
    pub markers: Markers,
    secret: RunSecret,
}

impl LocalExecutor {
    /// The marker lines of an attempt; none where its worker's tool is forced to an object by a JSON Schema.
    pub(super) fn report_markers(
        &self,
        run: &Run,
        contracts: &Contracts,
        id: AttemptId,
        token: u64,
    ) -> Result<Option<ReportMarkers>, Failure> {
        if forces_schema(run, contracts, id) {
            return Ok(None);
        }
        let secret = self.kept_secret(run.id)?;
        let secret = secret.map_or_else(|| self.new_secret(run.id), Ok)?;
        Ok(Some(ReportMarkers { markers: Markers::of_attempt(&secret, run.id, id, token), secret }))
    }

    fn kept_secret(&self, run: RunId) -> Result<Option<RunSecret>, Failure> {
        self.journal.secret(run).map_err(|error| Failure::Other(error.to_string()))
    }

    /// Whoever is faster keeps its own, and everybody uses that one.
    fn new_secret(&self, run: RunId) -> Result<RunSecret, Failure> {
        let offered =
            new_run_secret().map_err(|error| Failure::Other(format!("there are no random bytes: {error}")))?;
        self.journal.keep_secret(run, &offered).map_err(|error| Failure::Other(error.to_string()))
    }

    /// What a worker said, while the secret is kept from which its markers follow. Otherwise it is refused, so that it is asked for
    /// again: nobody could show later that these were its markers.
    pub(super) fn shown_by(&self, run: RunId, markers: &ReportMarkers, outcome: Outcome) -> Result<Outcome, Failure> {
        let is_kept = self.kept_secret(run)?.as_ref() == Some(&markers.secret);
        let said = if is_kept { outcome.said } else { RawReport::Refused(SECRET_GONE.to_owned()) };
        Ok(Outcome { said, ..outcome })
    }
}

/// Whether the tool of an attempt's worker takes a JSON Schema and is held to the contract's.
fn forces_schema(run: &Run, contracts: &Contracts, id: AttemptId) -> bool {
    let Some(Work::Dispatch { worker, role, .. }) = run.attempts.get(&id).map(|lease| &lease.work) else {
        return false;
    };
    let forces = AgentSpec::parse(worker).and_then(Result::ok).is_some_and(|spec| spec.adapter.forces_schema);
    let dialect = run.protocol.roles.get(role).and_then(|role| contracts.report(&role.contract));
    forces && dialect.and_then(bundle::schema_of).is_some()
}
