//! Places that a worker may not be given: said when the configuration is read, before anything is started.

use tollgate_core::code::Code;
use tollgate_engine::sandbox::{PathConflict, ProgramFolders, ReservedPaths, probe};
use tollgate_engine::workspace::Repository;

use super::{Adapter, Config};
use crate::environment::Environment;
use crate::failure::Failure;

impl Config {
    /// Refuses `reads` and `writes` that would give away what nobody is given.
    pub(super) fn without_reserved(self, environment: &Environment) -> Result<Self, Failure> {
        let workers = self.workers();
        let named = workers.iter().map(|(name, setting)| (name, &setting.value.bounds));
        let named: Vec<_> =
            named.filter(|(_, bounds)| !(bounds.reads.is_empty() && bounds.writes.is_empty())).collect();
        let for_all = self.reads();
        if named.is_empty() && for_all.is_empty() {
            return Ok(self);
        }
        let state = environment.state_dir()?;
        let bare = || ReservedPaths { state: state.clone(), ..ReservedPaths::default() };
        let found = Repository::find(environment.directory());
        let reserved = found.map_or_else(|_| bare(), |repository| repository.reserved(&state));
        let own = workers.values().flat_map(|setting| match setting.value.adapter {
            Adapter::Agent(adapter) => adapter.home,
            Adapter::Command | Adapter::Script => &[],
        });
        let reserved = reserved.where_written(named.iter().flat_map(|(_, bounds)| &bounds.writes), own.copied());
        if let Some(PathConflict { place, why, next }) = reserved.clash(&for_all, &[]) {
            let message = format!("`{place}` cannot be given to workers and commands: {why}");
            return Err(Failure::refused(Code::CONFIG, message).hint(next));
        }
        for (name, bounds) in named {
            let is_open = ReservedPaths::holds_programs(&bounds.writes)
                && !probe(environment.program()?, &environment.state_dir()?).mounts();
            let programs = if is_open { ProgramFolders::Unprotected } else { ProgramFolders::Protected };
            let reserved = ReservedPaths { programs, ..reserved.clone() };
            if let Some(PathConflict { place, why, next }) = reserved.clash(&bounds.reads, &bounds.writes) {
                let message = format!("`{place}` cannot be given to the worker `{name}`: {why}");
                return Err(Failure::refused(Code::CONFIG, message).hint(next));
            }
        }
        Ok(self)
    }
}
