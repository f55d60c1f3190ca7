//! What holds the programs of a run: by what its configuration asks for and what this machine can do.

use std::path::PathBuf;

use serde::Deserialize;
use tollgate_core::run::Run;
use tollgate_core::run::leash::Sandbox;

use super::{Failure, RealHands};
use crate::sandbox::{self, Tether, probe};
use crate::workers::WorkerError;

/// What a run's configuration asks for, for one of its roles.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Asked {
    sandbox: Option<Sandbox>,
    reads: Vec<String>,
    writes: Vec<String>,
    env: Vec<String>,
}

impl Asked {
    /// For a role, or without one for the commands that check.
    fn of(run: &Run, role: Option<&str>) -> Self {
        let config = &run.opened.config;
        let own = role.and_then(|role| config.get("roles")?.get(role));
        let mut asked = own.map(|own| Self::deserialize(own).unwrap_or_default()).unwrap_or_default();
        let all = config.get("sandbox").and_then(|setting| Sandbox::deserialize(setting.get("value")?).ok());
        let env = config.get("env").and_then(|names| Vec::<String>::deserialize(names).ok());
        asked.env.extend(env.into_iter().flatten());
        // A worker may ask for less than is preferred, not for less than is required.
        asked.sandbox = all.filter(|all| *all == Sandbox::Require).or(asked.sandbox).or(all);
        asked
    }
}

impl RealHands {
    /// What holds the programs of a role, or the commands that check; these have no network. A sandbox that is required and
    /// cannot be had is a refusal.
    pub(super) fn tether(&self, run: &Run, role: Option<&str>, mut reads: Vec<PathBuf>) -> Result<Tether, Failure> {
        let asked = Asked::of(run, role);
        let sandbox = asked.sandbox.unwrap_or_default();
        let able = || self.able.get_or_init(|| probe(&self.tollgate));
        let leash = match sandbox {
            Sandbox::Off => sandbox::leash(sandbox, &sandbox::Able::default(), false),
            Sandbox::Require | Sandbox::Prefer => sandbox::leash(sandbox, able(), role.is_none()),
        };
        let leash = leash.map_err(WorkerError::Unheld)?;
        reads.extend(asked.reads.iter().filter_map(|path| sandbox::place(path)));
        let writes = asked.writes.iter().filter_map(|path| sandbox::place(path)).collect();
        let (helper, state) = (self.tollgate.clone(), self.state.clone());
        Ok(Tether { helper, leash, state, reads, writes, variables: asked.env })
    }
}
