//! What the skins call: start, decide, retry, cancel, find. One function per thing a person can do.

mod covered;
pub mod delivery;
mod documents;
mod intake;
mod manual_edit;
mod person;
mod project;
mod protocols;
pub mod required_roles;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tollgate_contract::registry;
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::context;
use tollgate_core::diagnostic::{Diagnostic, Place};
use tollgate_core::digest::Digest;
use tollgate_core::id::{RoleId, RunId, StageId, UnitId};
use tollgate_core::protocol::Protocol;
use tollgate_core::protocol::model::Value;
use tollgate_core::run::budget::Budgets;
use tollgate_core::run::decide::{Open, Rejection, inputs, missing};
use tollgate_core::run::event::{By, ByKind};
use tollgate_core::run::{self, Recorded};
use tollgate_core::scope::{self, Parts};
use tollgate_store::{Filter, Journal, Listed, Object, Point, reach};

use crate::clock::{SystemClock, new_run_id};
use crate::executor::DocumentErrors;
use crate::sandbox::is_covered;
use crate::session::{CommandError, LoadError, Session};
use crate::workers::command::CommandWorker;
use crate::workers::pinned_files::{self, PinnedFile};
use crate::workers::{WorkerError, adapter_of, shell_words};
use crate::workspace::{
    Claim, Dirty, Repository, Signature, Workspace, WorkspaceError, claim_start, sweep_starts, undo_start,
};

pub use documents::warnings;
use documents::{Documents, as_they_stand, at_document, documents, no_bare_folders, said_scopes, scopes};
pub use protocols::{checked, contracts, dialects};

/// The journal of a state directory. Who asks is an argument of each call: the person's name, as it is recorded.
#[derive(Clone)]
pub struct Service {
    /// The state directory.
    pub state: PathBuf,
    /// Its journal.
    pub journal: Arc<dyn Journal>,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").field("state", &self.state).finish_non_exhaustive()
    }
}

/// Everything a new run needs, found and read by the skin.
#[derive(Debug)]
pub struct Start {
    /// What the run is for; empty: the task's first heading.
    pub title: String,
    /// The text of the protocol.
    pub protocol: String,
    /// The definitions of contracts that this build does not have, by name.
    pub contracts: BTreeMap<Name, String>,
    /// The text of each role's brief.
    pub briefs: BTreeMap<RoleId, String>,
    /// A folder in the repository.
    pub repository: PathBuf,
    /// What to do with changes that are not committed.
    pub dirty: Dirty,
    /// Inputs by name.
    pub inputs: BTreeMap<Name, Value>,
    /// Documents by name.
    pub artifacts: BTreeMap<Name, Vec<u8>>,
    /// The worker of each role: `command:PROGRAM ARGS`, or `script:DIGEST`.
    pub workers: BTreeMap<RoleId, Name>,
    /// Scripts by digest, for roles whose worker is `script:DIGEST`.
    pub scripts: BTreeMap<Digest, String>,
    /// The trusted `.tollgate/` folder, by path from the root, where a worker or command names something in it.
    pub folder: BTreeMap<Name, PinnedFile>,
    /// `[commands]`.
    pub commands: BTreeMap<Name, Vec<String>>,
    /// Overridden patterns of areas.
    pub areas: BTreeMap<Name, Vec<Name>>,
    /// What is in force and where it comes from, for people.
    pub config: serde_json::Value,
    /// Facts about the project, by the configuration.
    pub project: Option<String>,
    /// Answers in advance.
    pub answers: BTreeMap<StageId, Name>,
    /// Scopes of lanes, in place of what documents say.
    pub scopes: BTreeMap<UnitId, Vec<Name>>,
    /// What a unit, the run and a day may use.
    pub budgets: Budgets,
    /// Tollgate itself, which starts workers in their sandbox.
    pub tollgate: PathBuf,
    /// The credential pool of each role whose worker has one.
    pub pools: BTreeMap<RoleId, Name>,
}

/// Why something a person asked for was not done.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The protocol does not hold.
    #[error("the protocol does not check")]
    Protocol(Vec<Diagnostic>),
    /// A contract that the run brings along is not sound.
    #[error("the contract `{name}` cannot be used")]
    Contract {
        /// Its name.
        name: Name,
        /// What is wrong with its definition.
        wrong: Vec<Diagnostic>,
    },
    /// A document does not pass its check.
    #[error("artifact `{name}` does not pass its check")]
    Artifact {
        /// Its name.
        name: Name,
        /// What is wrong.
        wrong: DocumentErrors,
    },
    /// Scopes do not fit; said where a document says them.
    #[error("{rejection}")]
    Scopes {
        /// Why not.
        rejection: Rejection,
        /// The document.
        name: Name,
        /// The places in it.
        places: Vec<Place>,
    },
    /// A document was given that the protocol does not know.
    #[error("the protocol has no artifact `{0}`")]
    NoArtifact(Name),
    /// Roles have no worker.
    #[error("{}", without_worker(.0))]
    NoWorker(Vec<RoleId>),
    /// The program of a role's worker is not there.
    #[error("the worker of role `{role}`: {source}")]
    Worker {
        /// The role.
        role: RoleId,
        /// Why not.
        source: WorkerError,
    },
    /// Nobody could start a program in the sandbox of the run.
    #[error("{who}: {}", is_covered(program, path))]
    Covered {
        /// Who names it.
        who: String,
        /// The program.
        program: PathBuf,
        /// What of it is covered.
        path: PathBuf,
    },
    /// A brief cannot be rendered.
    #[error("the brief of `{role}`: {error}")]
    Brief {
        /// Whose.
        role: RoleId,
        /// Why not.
        error: context::ContextError,
    },
    /// A pattern of an area is for no area of the protocol.
    #[error("the protocol has no area `{0}`")]
    NoArea(Name),
    /// The prefix fits several runs.
    #[error("`{prefix}` is ambiguous: {} runs", runs.len())]
    Ambiguous {
        /// What was typed.
        prefix: String,
        /// The runs it fits.
        runs: Vec<RunId>,
    },
    /// The prefix fits no run.
    #[error("there is no run `{0}`")]
    NoRun(String),
    /// The repository or the work trees.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The run could not be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The kernel or the store says no.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The system.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// Why not.
        source: std::io::Error,
    },
}

impl ServiceError {
    /// The code of its page.
    pub fn code(&self) -> Code {
        match self {
            Self::Protocol(diagnostics) => diagnostics.first().map_or(Code::INTERNAL, |first| first.code),
            Self::Contract { wrong, .. } => wrong.first().map_or(Code::INTERNAL, |first| first.code),
            Self::Artifact { .. } | Self::NoArtifact(_) => Code::BAD_ARTIFACT,
            Self::Scopes { rejection, .. } => rejection.code(),
            Self::Worker { source, .. } => source.code(),
            Self::Covered { .. } => Code::PROGRAM_COVERED,
            Self::NoWorker(_) => Code::WORKER_NOT_FOUND,
            Self::Brief { error, .. } => error.code(),
            Self::NoArea(_) => Code::BAD_INPUT,
            Self::Ambiguous { .. } | Self::NoRun(_) => Code::NO_RUN,
            Self::Workspace(error) => error.code(),
            Self::Load(error) => error.code(),
            Self::Command(error) => error.code(),
            Self::Io { .. } => Code::INTERNAL,
        }
    }
}

fn without_worker(roles: &[RoleId]) -> String {
    match roles {
        [role] => format!("role `{role}` has no worker"),
        _ => format!("roles `{}` have no worker", roles.join("`, `")),
    }
}

impl Service {
    /// Starts a run: everything is checked, then written down, and nothing is done yet.
    pub fn start(&self, person: &str, mut start: Start) -> Result<(Session, Vec<Recorded>), ServiceError> {
        let contracts = contracts(&start.contracts)?;
        let protocol = checked(&start.protocol, &contracts)?;
        if let Some(area) = start.areas.keys().find(|area| !protocol.areas.iter().any(|known| known.name == **area)) {
            return Err(ServiceError::NoArea(area.clone()));
        }
        let repository = Repository::find(&start.repository)?;
        // Before the roles: which of them are needed hangs on the inputs. While some are missing, it is all that may be.
        start.inputs = inputs(&protocol, &start.inputs).map_err(CommandError::Rejected)?;
        let asks = !missing(&protocol, &start.inputs).is_empty();
        let roles = required_roles::roles(&protocol, &|name: &str| start.inputs.get(name));
        let without: Vec<RoleId> =
            roles.into_iter().filter(|role| !start.workers.contains_key(*role)).cloned().collect();
        if !without.is_empty() {
            return Err(ServiceError::NoWorker(without));
        }
        for (role, text) in &start.briefs {
            context::check(text).map_err(|error| ServiceError::Brief { role: role.clone(), error })?;
        }
        let given = match asks {
            true => intake::tried(&protocol, &contracts, &start)?,
            false => documents(&protocol, &contracts, &start.artifacts, &start.inputs)?,
        };
        let id = new_run_id().map_err(|source| ServiceError::Io { what: "a new run id".to_owned(), source })?;
        // Until the run is in the journal, all that is made for it is undone when this ends, however it ends.
        let claim = claim_start(&self.state, id)?;
        let started = self.start_claimed(person, &claim, id, (protocol, repository), start, given);
        match &started {
            Ok(_) => drop(claim),
            Err(_) => undo_start(&self.state, claim, &|run| self.is_opened(run)),
        }
        started
    }

    /// Cleans up what starts left that were cut off.
    pub fn sweep(&self) {
        sweep_starts(&self.state, &|run| self.is_opened(run));
    }

    /// Whether a run is in the journal; none when the journal cannot say.
    pub(crate) fn is_opened(&self, run: RunId) -> Option<bool> {
        self.journal.head(run).ok().map(|head| head.is_some())
    }

    /// Makes the work of a new run and writes its first events.
    fn start_claimed(
        &self,
        person: &str,
        claim: &Claim,
        id: RunId,
        (protocol, repository): (Protocol, Repository),
        start: Start,
        (artifacts, mut objects): Documents,
    ) -> Result<(Session, Vec<Recorded>), ServiceError> {
        let repository = repository.looked_at(claim.path())?;
        let top = repository.top.display().to_string();
        let by = Signature {
            name: "Tollgate".to_owned(),
            email: "tollgate@localhost".to_owned(),
            at_s: SystemClock.now_s(),
        };
        let roles = required_roles::roles(&protocol, &|name: &str| start.inputs.get(name));
        let mut programs = Vec::new();
        for (role, spec) in roles.iter().filter_map(|role| start.workers.get_key_value(*role)) {
            // Of agents and commands alike the first word is the program.
            let Some((_, text)) = adapter_of(spec).filter(|(adapter, _)| *adapter != "script") else { continue };
            let found = self
                .find_program(text, &repository.top, &start.folder)
                .map_err(|source| ServiceError::Worker { role: role.clone(), source })?;
            programs.extend(found.map(|program| (role.clone(), program)));
        }
        let workspace = Workspace::create(&self.state, id, repository, start.dirty, &by)?;
        self.refuse_covered(&start, &workspace, programs, &artifacts)?;
        let base = workspace.base();
        let areas: Vec<_> = protocol
            .areas
            .iter()
            .map(|area| {
                let patterns = start.areas.get(&area.name).unwrap_or(&area.patterns).clone();
                scope::Area { patterns, ..area.clone() }
            })
            .collect();
        let paths = run::documents(&protocol, id, &start.inputs);
        as_they_stand(&workspace, &paths, &start.artifacts)?;
        let parts = Parts { areas, scopes: scopes(&artifacts, &start.scopes), documents: paths };
        let entries = workspace.entries(&base.tree)?;
        let folders = no_bare_folders(&parts.scopes, &entries);
        let content = scope::content(base.tree.name(), &entries, &parts);
        let mut pins = BTreeMap::new();
        if !missing(&protocol, &start.inputs).is_empty() {
            pins.extend(intake::pins(&start.artifacts));
        }
        for (role, text) in &start.briefs {
            let object = Object::new(text.clone().into_bytes());
            pins.insert(Name::from(format!("brief:{role}")), object.digest());
            objects.push(object);
        }
        for (path, file) in &start.folder {
            let object = Object::new(file.bytes.clone());
            pins.insert(pinned_files::pin(path, file.executable), object.digest());
            objects.push(object);
        }
        for (digest, script) in &start.scripts {
            pins.insert(Name::from(format!("script:{digest}")), *digest);
            objects.push(Object::new(script.clone().into_bytes()));
        }
        for (name, text) in &start.contracts {
            let object = Object::new(text.clone().into_bytes());
            pins.insert(crate::session::pinned_protocol::definition(name), object.digest());
            objects.push(object);
        }
        for contract in protocol.roles.values().map(|role| &role.contract) {
            if let Some(dialect) = registry::report_dialect(contract) {
                let schema = dialect.schema().to_string();
                let object = Object::new(schema.into_bytes());
                pins.insert(Name::from(format!("contract:{}", dialect.id())), object.digest());
                objects.push(object);
            }
        }
        for (pin, text) in project::texts(start.project.as_deref(), &workspace, &entries)? {
            let object = Object::new(text);
            pins.insert(pin, object.digest());
            objects.push(object);
        }
        let text = Object::new(start.protocol.clone().into_bytes());
        let digest = text.digest();
        objects.push(text);
        let open = Open {
            id,
            title: title(&start),
            protocol: Arc::new(protocol),
            digest,
            pins,
            repository: top,
            base: base.commit.name(),
            inputs: start.inputs,
            artifacts,
            workers: start.workers,
            commands: start.commands,
            areas: start.areas,
            config: start.config,
            answers: start.answers,
            scopes: start.scopes,
            content,
            budgets: start.budgets,
            pools: start.pools,
            checkout: workspace.pinned_checkout(&entries)?,
        };
        let clock = Arc::new(SystemClock);
        reach(Point::StartMade);
        let said = said_scopes(&open);
        folders.map_err(|rejection| at_document(rejection, &said))?;
        Session::open(Arc::clone(&self.journal), clock, open, person, objects).map_err(|error| match error {
            CommandError::Rejected(rejection) => at_document(rejection, &said),
            other => other.into(),
        })
    }

    /// The program of a worker's command, looked for where it will be when the worker is started; none: a trusted file.
    fn find_program(
        &self,
        text: &str,
        top: &Path,
        folder: &BTreeMap<Name, PinnedFile>,
    ) -> Result<Option<PathBuf>, WorkerError> {
        let words = shell_words::split(text)?;
        match words.first().and_then(|word| pinned_files::named_by(word)) {
            Some((_, path)) if folder.get(path).is_some_and(|file| file.executable) => Ok(None),
            Some((_, path)) => Err(WorkerError::NotFound(path.to_owned())),
            None => CommandWorker::from_text(text, top, &self.state)?.find().map(Some),
        }
    }

    /// Loads a run.
    pub fn load(&self, id: RunId) -> Result<Session, LoadError> {
        Session::load(Arc::clone(&self.journal), Arc::new(SystemClock), id)
    }

    /// Finds a run by what a person typed: a unique prefix, with or without `run_`.
    pub fn find(&self, typed: &str) -> Result<RunId, ServiceError> {
        let prefix = typed.strip_prefix("run_").unwrap_or(typed).to_ascii_lowercase();
        let filter = Filter { prefix: Some(prefix.clone()), limit: Some(20), ..Filter::default() };
        let found = self.journal.list(&filter).map_err(LoadError::from)?;
        // One whose row is damaged is found too: `verify` and `repair` have to be told of it.
        let damaged = found.damaged.iter().filter_map(|damaged| damaged.run);
        let runs: Vec<RunId> = found.runs.iter().map(|summary| summary.run).chain(damaged).collect();
        match runs.as_slice() {
            [] => Err(ServiceError::NoRun(typed.to_owned())),
            [one] => Ok(*one),
            _ => Err(ServiceError::Ambiguous { prefix: typed.to_owned(), runs }),
        }
    }

    /// The runs, the last changed first.
    pub fn list(&self, filter: &Filter) -> Result<Listed, LoadError> {
        Ok(self.journal.list(filter)?)
    }
}

/// The person as the journal names them.
pub(crate) fn by(person: &str) -> By {
    By { kind: ByKind::Person, name: person.into() }
}

fn title(start: &Start) -> String {
    if !start.title.is_empty() {
        return start.title.clone();
    }
    let heading = start.artifacts.values().find_map(|bytes| {
        let text = str::from_utf8(bytes).ok()?;
        text.lines().find_map(|line| line.strip_prefix("# ")).map(|line| line.trim().to_owned())
    });
    heading.unwrap_or_else(|| "untitled".to_owned())
}
