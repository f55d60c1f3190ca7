//! The runs of a state directory: opening its journal, finding and loading a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tollgate_api::NotAsCheckedOut;
use tollgate_core::code::Code;
use tollgate_core::id::{DecisionId, RunId};
use tollgate_core::run::Run;
use tollgate_core::run::data::Filtered;
use tollgate_engine::service::Service;
use tollgate_engine::session::Session;
use tollgate_engine::workspace::{ObjectId, Workspace};
use tollgate_store::{HeadDamage, OpenError, Options, SqliteJournal};

use crate::engine_errors::about;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::files;
use crate::notice::Notice;
use crate::repository::{self, Repository};
use crate::tail::{Subscription, Tail};

/// The runs of a state directory.
#[derive(Debug)]
pub struct Runs {
    pub service: Service,
    pub journal: Arc<SqliteJournal>,
    pub state: PathBuf,
    /// Follows the journal once somebody watches a run.
    tail: Mutex<Option<Tail>>,
}

impl Runs {
    /// The files of a run's tree that are not as a checkout has them.
    pub fn not_as_checked_out(&self, run: &Run) -> Option<NotAsCheckedOut> {
        let look = || Workspace::of(&self.state, run).ok()?.not_as_checked_out(&ObjectId::parse(&run.tree)?).ok();
        not_as_checked_out(run, look())
    }

    /// The work trees that open questions of a run may be answered in by hand; with why some are not shown now.
    pub fn trees_of(&self, run: &Run, notices: &mut Vec<Notice>) -> BTreeMap<DecisionId, PathBuf> {
        let (trees, withheld) = self.service.trees_of(run);
        notices.extend(withheld.map(|error| Notice::Warning {
            code: Some(error.code()),
            message: format!("{error}; the work tree to change by hand is not shown"),
            next: None,
        }));
        trees
    }

    /// Opens the journal of the state directory, and makes both when they are not there yet.
    pub fn open(environment: &Environment) -> Result<Self, Failure> {
        Self::open_with(environment, SqliteJournal::open)
    }

    /// The same for a caller that only reads: a journal that cannot be written will do.
    pub fn open_to_read(environment: &Environment) -> Result<Self, Failure> {
        Self::open_with(environment, SqliteJournal::open_to_read)
    }

    fn open_with(
        environment: &Environment,
        open: fn(&Path, Options) -> Result<SqliteJournal, OpenError>,
    ) -> Result<Self, Failure> {
        let state = environment.state_dir()?;
        need_a_place_apart(&state, environment)?;
        let journal = Arc::new(open(&state, Options::default())?);
        let service = Service { state: state.clone(), journal: journal.clone() };
        Ok(Self { service, journal, state, tail: Mutex::default() })
    }

    /// Watches a run, from before what the caller reads next.
    pub fn watch(&self, run: RunId) -> Result<Subscription, Failure> {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let tail = match &mut *tail {
            Some(tail) => tail,
            none => none.insert(Tail::start(self.journal.clone())?),
        };
        Ok(tail.watch(run))
    }

    /// Finds a run by what was typed; one of which nothing is left but its record in the file of heads is no run to work with.
    pub fn find(&self, typed: &str) -> Result<RunId, Failure> {
        let missing = match self.service.find(typed) {
            Ok(run) => return Ok(run),
            Err(error) => Failure::from(error),
        };
        let Some(run) = self.recorded(typed)? else { return Err(missing) };
        Err(self.lost(run)?.map_or(missing, |damage| lost_failure(run, &damage)))
    }

    /// Finds a run to prove or to repair: also one that only the file of heads still names.
    pub fn find_recorded(&self, typed: &str) -> Result<RunId, Failure> {
        match self.service.find(typed) {
            Ok(run) => Ok(run),
            Err(error) => self.recorded(typed)?.ok_or_else(|| error.into()),
        }
    }

    /// The one run in the file of heads whose id begins like this.
    fn recorded(&self, typed: &str) -> Result<Option<RunId>, Failure> {
        let digits = typed.strip_prefix("run_").unwrap_or(typed).to_ascii_lowercase();
        let recorded = self.journal.recorded()?;
        let mut named = recorded.into_iter().filter(|run| run.digits().starts_with(&digits));
        let first = named.next();
        Ok(first.filter(|_| named.next().is_none()))
    }

    /// Loads a run that is about to be changed: one that has lost its end is not driven over, or the loss would be
    /// forgotten.
    pub fn load_to_change(&self, typed: &str) -> Result<Session, Failure> {
        let id = self.find(typed)?;
        match self.lost(id)? {
            None => self.service.load(id).map_err(about(id)),
            Some(damage) => Err(lost_failure(id, &damage)),
        }
    }

    /// What a run has lost of its end, if it has.
    pub fn lost(&self, id: RunId) -> Result<Option<HeadDamage>, Failure> {
        let damages = self.journal.check_heads()?;
        let of_run = |damage: &HeadDamage| {
            let (HeadDamage::LostTail { had, .. } | HeadDamage::Differs { had, .. }) = damage;
            had.run == id
        };
        Ok(damages.into_iter().find(of_run))
    }

    /// Loads a run by what was typed.
    pub fn load(&self, typed: &str) -> Result<Session, Failure> {
        let id = self.find(typed)?;
        self.service.load(id).map_err(about(id))
    }
}

/// Refuses a state directory in the checkout that the command is given in: its own files would make it dirty.
pub fn need_a_place_apart(state: &Path, environment: &Environment) -> Result<(), Failure> {
    // Asked of the file system first: git is started only where the answer is in doubt.
    let here = environment.directory().ancestors().find(|folder| repository::is_root(folder));
    let state = files::canonical_as_far_as_it_is_there(state);
    let Some(root) = here.filter(|root| state.starts_with(root)) else { return Ok(()) };
    let Some(repository) = Repository::holding(root)? else { return Ok(()) };
    if !repository.would_see(&state.join("journal.db"))? {
        return Ok(());
    }
    let message = format!("the state directory {} lies in the checkout {}", state.display(), root.display());
    Err(Failure::environment(Code::STATE, message)
        .because("its files would count as changes that are not committed")
        .hint("set TOLLGATE_STATE to a folder outside of it, or add it to .gitignore"))
}

fn lost_failure(run: RunId, damage: &HeadDamage) -> Failure {
    Failure::refused(damage.code(), damage.to_string())
        .hint(format!("`tollgate verify {run}` shows what holds"))
        .hint(format!("restore the journal from a copy, or go on without what is lost: `tollgate repair {run}`"))
}

/// The files that a filter converts; of the base, where the tree was not looked at.
pub fn not_as_checked_out(run: &Run, now: Option<Filtered>) -> Option<NotAsCheckedOut> {
    let filtered = &now.or_else(|| Some(run.opened.checkout.as_ref()?.filtered.clone()))?;
    let paths = filtered.paths.iter().map(ToString::to_string).collect();
    (!filtered.is_none()).then_some(NotAsCheckedOut { count: filtered.count, paths })
}
