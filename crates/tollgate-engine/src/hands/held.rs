//! What holds the programs of a run: by what its configuration asks for and what this machine can do.

use std::path::PathBuf;

use serde::Deserialize;
use tollgate_core::run::Run;
use tollgate_core::run::leash::Sandbox;

use super::{Failure, RealHands};
use crate::sandbox::{Asked, Tether, probe};
use crate::workers::WorkerError;

/// What a run's configuration asks for a role, or without one for the commands that check.
fn asked(run: &Run, role: Option<&str>) -> Asked {
    let config = &run.opened.config;
    let own = role.and_then(|role| config.get("roles")?.get(role));
    let asked = own.map(|own| Asked::deserialize(own).unwrap_or_default()).unwrap_or_default();
    let all = config.get("sandbox").and_then(|setting| Sandbox::deserialize(setting.get("value")?).ok());
    let env = config.get("env").and_then(|names| Vec::<String>::deserialize(names).ok());
    asked.under(all, env.into_iter().flatten())
}

impl RealHands {
    /// What holds the programs of a role, or the commands that check; these have no network. A sandbox that is required and
    /// cannot be had is a refusal.
    pub(super) fn tether(&self, run: &Run, role: Option<&str>, reads: Vec<PathBuf>) -> Result<Tether, Failure> {
        let able = || self.able.get_or_init(|| probe(&self.tollgate));
        let tether = asked(run, role).tether(&self.tollgate, &self.state, able, role.is_none());
        let mut tether = tether.map_err(WorkerError::Unheld)?;
        tether.reads.extend(reads);
        Ok(tether)
    }
}
