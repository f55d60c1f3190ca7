//! Programs that the sandbox of a run would cover: refused before the run begins.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tollgate_core::Name;
use tollgate_core::id::RoleId;
use tollgate_core::run::decide::OpenArtifact;

use super::{Service, ServiceError, Start};
use crate::executor::LocalExecutor;
use crate::executor::command_check::first_program;
use crate::executor::confinement::ProgramKind;
use crate::process::{find_in, find_program};
use crate::sandbox::search_path;
use crate::workers::agent::AgentSpec;
use crate::workers::pinned_files;
use crate::workspace::Workspace;

impl Service {
    /// Refuses a program of a worker, of a row or of a command that nobody could start in its sandbox.
    pub(super) fn refuse_covered(
        &self,
        start: &Start,
        workspace: &Workspace,
        workers: Vec<(RoleId, PathBuf)>,
        artifacts: &BTreeMap<Name, OpenArtifact>,
    ) -> Result<(), ServiceError> {
        let executor = LocalExecutor::new(&self.state, Arc::clone(&self.journal), &start.tollgate);
        let seen = |who: String, whose: ProgramKind<'_>, held: &Path, program: PathBuf| match executor.covered(
            &start.config,
            workspace,
            whose,
            held,
            &program,
        ) {
            Some(path) => Err(ServiceError::Covered { who, program, path }),
            None => Ok(()),
        };
        for (role, program) in workers {
            let agent = start.workers.get(&role).and_then(|spec| AgentSpec::parse(spec)?.ok());
            let held = if agent.is_some_and(|agent| agent.adapter.bridged) { &start.tollgate } else { &program };
            seen(format!("the worker of role `{role}`"), ProgramKind::Role(&role), &held.clone(), program)?;
        }
        let path = search_path(&workspace.unseen());
        for (name, words) in &start.commands {
            let word = words.first().filter(|word| pinned_files::named_by(word).is_none());
            // A path that does not begin at the root is one of the tree.
            let found = word.and_then(|word| match word.contains('/') {
                true => find_program(OsStr::new(word), workspace.top()).filter(|_| word.starts_with('/')),
                false => find_in(OsStr::new(word), &path),
            });
            if let Some(program) = found {
                seen(format!("the command `{name}`"), ProgramKind::Command, &program.clone(), program)?;
            }
        }
        let Some(shell) = find_in(OsStr::new("sh"), &path) else { return Ok(()) };
        for row in artifacts.values().flat_map(|artifact| &artifact.plan.criteria) {
            let first = row.command.as_deref().and_then(|line| first_program(line, workspace.top(), &path));
            if let Some(program) = first {
                seen(format!("the command of {}", row.id), ProgramKind::Command, &shell, program)?;
            }
        }
        Ok(())
    }
}
