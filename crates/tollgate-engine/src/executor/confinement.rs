//! What holds the programs of a run: by what its configuration asks for and what this machine can do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tollgate_core::run::sandbox_record::{AgentFolders, Sandbox, Tracing};
use tollgate_core::run::{Run, SandboxRecord};

use super::failure::NotReady;
use super::{Failure, LocalExecutor};
use crate::sandbox::{
    Confinement, PathConflict, ProgramFolders, ReservedPaths, SandboxRequest, SandboxSupport, place, probe,
    sandbox_record, search_path_into,
};
use crate::workers::{WorkerError, agent};
use crate::workspace::Workspace;
use tollgate_core::id::RoleId;

/// Whose program it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgramKind<'a> {
    /// A worker's: its model is in the network.
    Role(&'a str),
    /// The engine's, to check something: without a network.
    Command,
    /// The engine's, to make a tree ready: it fetches what that needs.
    Setup,
}

/// What a role's worker writes besides its work tree.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RoleWrites {
    adapter: String,
    writes: Vec<String>,
}

impl RoleWrites {
    /// What its program has to itself.
    fn own(&self) -> &'static [&'static str] {
        agent::adapter(&self.adapter).map_or(&[], |adapter| adapter.home)
    }
}

/// The same of all roles.
fn written(config: &Value) -> Result<BTreeMap<String, RoleWrites>, WorkerError> {
    Ok(setting(config, &["roles"])?.unwrap_or_default())
}

/// What a run's configuration asks for. What is there and cannot be read is a refusal: the default would hold less than somebody asked
/// for.
fn asked(config: &Value, whose: ProgramKind<'_>) -> Result<SandboxRequest, WorkerError> {
    let own = match whose {
        ProgramKind::Role(role) => {
            // A list would be taken for its fields.
            setting::<Map<String, Value>>(config, &["roles", role])?;
            setting(config, &["roles", role])?.unwrap_or_default()
        }
        ProgramKind::Command | ProgramKind::Setup => SandboxRequest::default(),
    };
    let all: Option<Sandbox> = for_all(config, "sandbox")?;
    let tracing: Option<Tracing> = for_all(config, "tracing")?;
    let env: Option<Vec<String>> = setting(config, &["env"])?;
    let mut asked = own.under(all, tracing, env.into_iter().flatten());
    asked.reads.extend(setting::<Vec<String>>(config, &["reads"])?.into_iter().flatten());
    Ok(asked)
}

/// What was said for all programs, with who said it; none where nobody did.
fn for_all<T: DeserializeOwned>(config: &Value, name: &str) -> Result<Option<T>, WorkerError> {
    match setting::<Value>(config, &[name])? {
        Some(_) => setting(config, &[name, "value"])?.ok_or_else(|| unreadable(name, "it has no value")).map(Some),
        None => Ok(None),
    }
}

/// A setting of the run's first event; none where it is not there, as everything of a run that was started without settings.
pub(super) fn setting<T: DeserializeOwned>(config: &Value, path: &[&str]) -> Result<Option<T>, WorkerError> {
    if config.is_null() {
        return Ok(None);
    }
    let mut found = config;
    for (depth, name) in path.iter().enumerate() {
        let table = found.as_object().ok_or_else(|| unreadable(&path[..depth].join("."), "it is no table"))?;
        match table.get(*name) {
            Some(inner) => found = inner,
            None => return Ok(None),
        }
    }
    T::deserialize(found).map(Some).map_err(|error| unreadable(&path.join("."), &error.to_string()))
}

fn unreadable(what: &str, why: &str) -> WorkerError {
    WorkerError::Unreadable { what: what.to_owned(), why: why.to_owned() }
}

/// Whether the folders of a role's agent are kept as they are.
fn agent_folders(run: &Run, role: &str, layers: bool, writes: &[PathBuf]) -> AgentFolders {
    run.opened.workers.get(role).map_or(AgentFolders::None, |worker| agent::folders(worker, layers, writes))
}

impl LocalExecutor {
    /// What will hold each role's worker and the commands that check (no role) of a run. A required part that is missing is left out
    /// here: starting the program reports it.
    pub fn sandbox_records(&self, run: &Run) -> Vec<(Option<RoleId>, SandboxRecord)> {
        let config = &run.opened.config;
        let will_hold = |whose: ProgramKind<'_>| {
            let asked = asked(config, whose).ok()?;
            let sandbox = asked.sandbox.unwrap_or_default();
            let support = if sandbox == Sandbox::Off { &SandboxSupport::default() } else { self.support() };
            let mut record = sandbox_record(sandbox, support, whose == ProgramKind::Command).ok()?;
            if let ProgramKind::Role(role) = whose {
                let writes = asked.writes.iter().filter_map(|path| place(path)).collect::<Vec<_>>();
                record.agent_folders = agent_folders(run, role, support.layers(), &writes);
            }
            Some(record)
        };
        let roles = run.opened.workers.keys().map(|role| (Some(role.clone()), ProgramKind::Role(role)));
        let programs = roles.chain([(None, ProgramKind::Command)]);
        programs.filter_map(|(role, whose)| Some((role, will_hold(whose)?))).collect()
    }

    /// The folders of `PATH` that lead into the person's checkouts of a run's repository: no program of the run sees them.
    pub fn path_into_checkout(&self, run: &Run) -> Vec<PathBuf> {
        self.workspace(run).map(|workspace| search_path_into(&workspace.unseen())).unwrap_or_default()
    }

    /// What the sandbox can do here.
    fn support(&self) -> &SandboxSupport {
        self.support.get_or_init(|| probe(&self.tollgate, &self.state))
    }

    /// The first path that starting a program needs and that the sandbox of a run with this configuration will cover; `held` is what is
    /// started in the sandbox. What cannot be had, or read, is the driver's to say.
    pub(crate) fn covered(
        &self,
        config: &Value,
        workspace: &Workspace,
        whose: ProgramKind<'_>,
        held: &Path,
        program: &Path,
    ) -> Option<PathBuf> {
        let home = match whose {
            ProgramKind::Role(role) => written(config).ok()?.get(role).map_or(&[][..], RoleWrites::own),
            ProgramKind::Command | ProgramKind::Setup => &[],
        };
        let by = |support: &SandboxSupport| {
            let confinement = self.confinement_by(config, whose, workspace, || support).ok()?;
            confinement.covered(held, home, &[], program)
        };
        // What this machine can do takes a while to find out, and mostly does not matter.
        by(&SandboxSupport::default()).and_then(|_| by(self.support()))
    }

    /// What holds a program of a run; the commands that check have no network. A sandbox that is required and cannot be had is a refusal.
    pub(super) fn confinement(
        &self,
        run: &Run,
        whose: ProgramKind<'_>,
        workspace: &Workspace,
    ) -> Result<Confinement, Failure> {
        let mut confinement = self.confinement_by(&run.opened.config, whose, workspace, || self.support())?;
        confinement.git_config.clone_from(self.git_config.get_or_init(|| workspace.worker_config()));
        if let ProgramKind::Role(role) = whose {
            confinement.leash.agent_folders = agent_folders(run, role, confinement.layers, &confinement.writes);
        }
        Ok(confinement)
    }

    /// The same by a configuration, on a machine that can do so much; without what git is told.
    fn confinement_by<'a>(
        &self,
        config: &Value,
        whose: ProgramKind<'_>,
        workspace: &Workspace,
        support: impl Fn() -> &'a SandboxSupport,
    ) -> Result<Confinement, Failure> {
        let (wished, all) = (asked(config, whose)?, written(config)?);
        let reserved = workspace.reserved().where_written(
            all.values().flat_map(|one| &one.writes),
            all.values().flat_map(|one| one.own().iter().copied()),
        );
        let own = match whose {
            ProgramKind::Role(role) => all.get(role).map_or(&[][..], RoleWrites::own),
            ProgramKind::Command | ProgramKind::Setup => &[],
        };
        if let Some(PathConflict { place, why, next }) = reserved.laid_in(&wished, own) {
            let why = format!("`{place}` cannot be given to it: {why}; {next}");
            return Err(Failure::NotReady(NotReady::because(why)));
        }
        let is_open = wished.sandbox != Some(Sandbox::Off) && !support().mounts();
        let programs = if is_open { ProgramFolders::Unprotected } else { ProgramFolders::Protected };
        let asked = ReservedPaths { programs, ..reserved }.taken_out_of(wished);
        let folder = workspace.run_folder().join("programs");
        let confinement =
            asked.confinement(&self.tollgate, &self.state, folder, &support, whose == ProgramKind::Command);
        let mut confinement = confinement.map_err(WorkerError::Unheld)?;
        confinement.reads.extend(workspace.borrowed());
        confinement.unseen = workspace.unseen();
        confinement.unnamed = !matches!(whose, ProgramKind::Role(_));
        Ok(confinement)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_asked_for_is_read_or_refused_and_never_guessed() {
        let role = ProgramKind::Role("developer");
        let sandbox = |config: &Value| asked(config, role).unwrap().sandbox;
        assert_eq!(sandbox(&Value::Null), None, "nobody said anything");
        assert_eq!(sandbox(&json!({"roles": {"reviewer": {"sandbox": "off"}}})), None);
        let own = json!({"roles": {"developer": {"sandbox": "off"}}, "sandbox": {"value": "require", "from": "user"}});
        assert_eq!(sandbox(&own), Some(Sandbox::Require));
        for (config, what) in [
            (json!({"sandbox": {"value": "strict", "from": "user"}}), "sandbox.value"),
            (json!({"sandbox": {"from": "user"}}), "sandbox"),
            (json!({"sandbox": "require"}), "sandbox"),
            (json!({"roles": {"developer": {"sandbox": "strict"}}}), "roles.developer"),
            (json!({"roles": {"developer": {"reads": "/"}}}), "roles.developer"),
            (json!({"roles": {"developer": ["require"]}}), "roles.developer"),
            (json!({"env": "HOME"}), "env"),
            (json!({"reads": "/srv"}), "reads"),
            (json!({"roles": "developer"}), "roles"),
            (json!(["require"]), ""),
        ] {
            let refused = asked(&config, role).unwrap_err();
            let WorkerError::Unreadable { what: found, .. } = &refused else { panic!("{config}: {refused}") };
            assert_eq!((found.as_str(), refused.code()), (what, tollgate_core::code::Code::SETTINGS_UNREADABLE));
        }
    }
}
