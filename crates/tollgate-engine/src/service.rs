//! What the skins call: start, decide, retry, cancel, find. One function per thing a person can do.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::context;
use tollgate_core::contract::registry;
use tollgate_core::diagnostic::{Diagnostic, Severity};
use tollgate_core::digest::Digest;
use tollgate_core::id::{DecisionId, RunId};
use tollgate_core::protocol::model::{Kind, Over, Route, Stage, Value};
use tollgate_core::protocol::{self, Dialects, Protocol};
use tollgate_core::run::decide::{Answer, Open, OpenArtifact};
use tollgate_core::run::event::{By, ByKind};
use tollgate_core::run::state::Decision;
use tollgate_core::run::{Command, Recorded, Run, gate};
use tollgate_core::scope;
use tollgate_store::{Filter, Journal, Listed, Object, Point, reach};

use crate::clock::{SystemClock, new_run_id};
use crate::hands::{Wrong, content_of, document_warnings, open_artifact};
use crate::needed;
use crate::session::{CommandError, LoadError, Outcome, Session};
use crate::workers::WorkerError;
use crate::workers::command::CommandWorker;
use crate::workspace::{
    Claim, Dirty, Repository, Signature, Workspace, WorkspaceError, claim_start, sweep_starts, undo_start,
};

/// The journal of a state directory, and who asks.
#[derive(Clone)]
pub struct Service {
    /// The state directory.
    pub state: PathBuf,
    /// Its journal.
    pub journal: Arc<dyn Journal>,
    /// The person's name, as it is recorded.
    pub person: String,
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
    /// The text of each role's brief.
    pub briefs: BTreeMap<Name, String>,
    /// A folder in the repository.
    pub repository: PathBuf,
    /// What to do with changes that are not committed.
    pub dirty: Dirty,
    /// Inputs by name.
    pub inputs: BTreeMap<Name, Value>,
    /// Documents by name.
    pub artifacts: BTreeMap<Name, Vec<u8>>,
    /// The worker of each role: `command:PROGRAM ARGS`, or `script:DIGEST`.
    pub workers: BTreeMap<Name, Name>,
    /// Scripts by digest, for roles whose worker is `script:DIGEST`.
    pub scripts: BTreeMap<Digest, String>,
    /// `[commands]`.
    pub commands: BTreeMap<Name, Vec<String>>,
    /// Overridden patterns of areas.
    pub areas: BTreeMap<Name, Vec<Name>>,
    /// What is in force and where it comes from, for people.
    pub config: serde_json::Value,
    /// Answers in advance.
    pub answers: BTreeMap<Name, Name>,
}

/// Why something a person asked for was not done.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The protocol does not hold.
    #[error("the protocol does not check")]
    Protocol(Vec<Diagnostic>),
    /// A document does not pass its check.
    #[error("artifact `{name}` does not pass its check")]
    Artifact {
        /// Its name.
        name: Name,
        /// What is wrong.
        wrong: Wrong,
    },
    /// A document was given that the protocol does not know.
    #[error("the protocol has no artifact `{0}`")]
    NoArtifact(Name),
    /// A role has no worker.
    #[error("role `{0}` has no worker")]
    NoWorker(Name),
    /// The program of a role's worker is not there.
    #[error("the worker of role `{role}`: {source}")]
    Worker {
        /// The role.
        role: Name,
        /// Why not.
        source: WorkerError,
    },
    /// A brief cannot be rendered.
    #[error("the brief of `{role}`: {error}")]
    Brief {
        /// Whose.
        role: Name,
        /// Why not.
        error: context::ContextError,
    },
    /// A pattern of an area is for no area of the protocol.
    #[error("the protocol has no area `{0}`")]
    NoArea(Name),
    /// The prefix fits several runs.
    #[error("`{prefix}` fits {} runs", runs.len())]
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
            Self::Artifact { .. } | Self::NoArtifact(_) => Code::BAD_ARTIFACT,
            Self::Worker { source, .. } => source.code(),
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

impl Service {
    /// Starts a run: everything is checked, then written down, and nothing is done yet.
    pub fn start(&self, start: Start) -> Result<(Session, Vec<Recorded>), ServiceError> {
        let protocol = checked(&start.protocol)?;
        if let Some(area) = start.areas.keys().find(|area| !protocol.areas.iter().any(|known| known.name == **area)) {
            return Err(ServiceError::NoArea(area.clone()));
        }
        let value = |name: &str| start.inputs.get(name).or_else(|| protocol.inputs.get(name)?.default.as_ref());
        let roles = needed::roles(&protocol, &value);
        if let Some(role) = roles.iter().find(|role| !start.workers.contains_key(**role)) {
            return Err(ServiceError::NoWorker((*role).clone()));
        }
        for (role, text) in &start.briefs {
            context::check(text).map_err(|error| ServiceError::Brief { role: role.clone(), error })?;
        }
        let (artifacts, objects) = documents(&protocol, &start)?;
        let id = new_run_id().map_err(|source| ServiceError::Io { what: "a new run id".to_owned(), source })?;
        // Until the run is in the journal, all that is made for it is undone when this ends, however it ends.
        let claim = claim_start(&self.state, id)?;
        let started = self.start_claimed(&claim, id, protocol, start, (artifacts, objects));
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
    fn is_opened(&self, run: RunId) -> Option<bool> {
        self.journal.head(run).ok().map(|head| head.is_some())
    }

    /// Makes the work of a new run and writes its first events.
    fn start_claimed(
        &self,
        claim: &Claim,
        id: RunId,
        protocol: Protocol,
        start: Start,
        (artifacts, mut objects): Documents,
    ) -> Result<(Session, Vec<Recorded>), ServiceError> {
        let repository = Repository::open(&start.repository, claim.path())?;
        let top = repository.top.display().to_string();
        let by = Signature {
            name: "Tollgate".to_owned(),
            email: "tollgate@localhost".to_owned(),
            at_s: SystemClock.now_s(),
        };
        let value = |name: &str| start.inputs.get(name).or_else(|| protocol.inputs.get(name)?.default.as_ref());
        let roles = needed::roles(&protocol, &value);
        for (role, spec) in roles.iter().filter_map(|role| start.workers.get_key_value(*role)) {
            let found =
                spec.strip_prefix("command:").map(|text| CommandWorker::from_text(text, &repository.top, &self.state));
            let found = found.map_or(Ok(()), |worker| worker.and_then(|worker| worker.find().map(drop)));
            found.map_err(|source| ServiceError::Worker { role: role.clone(), source })?;
        }
        let workspace = Workspace::create(&self.state, id, repository, start.dirty, &by)?;
        let base = workspace.base();
        let areas: Vec<_> = protocol
            .areas
            .iter()
            .map(|area| {
                let patterns = start.areas.get(&area.name).unwrap_or(&area.patterns).clone();
                protocol::model::Area { patterns, ..area.clone() }
            })
            .collect();
        let scopes: BTreeMap<Name, Vec<Name>> = artifacts
            .values()
            .flat_map(|artifact| &artifact.plan.units)
            .filter(|unit| !unit.scope.is_empty())
            .map(|unit| (unit.name.clone(), unit.scope.clone()))
            .collect();
        let content = scope::content(base.tree.name(), &workspace.entries(&base.tree)?, &areas, &scopes);
        let mut pins = BTreeMap::new();
        for (role, text) in &start.briefs {
            let object = Object::new(text.clone().into_bytes());
            pins.insert(Name::from(format!("brief:{role}")), object.digest());
            objects.push(object);
        }
        for (digest, script) in &start.scripts {
            pins.insert(Name::from(format!("script:{digest}")), *digest);
            objects.push(Object::new(script.clone().into_bytes()));
        }
        for contract in protocol.roles.values().map(|role| &role.contract) {
            if let Some(dialect) = registry::report_dialect(contract) {
                let schema = dialect.schema().to_string();
                let object = Object::new(schema.into_bytes());
                pins.insert(Name::from(format!("contract:{}", dialect.id())), object.digest());
                objects.push(object);
            }
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
            content,
        };
        let clock = Arc::new(SystemClock);
        reach(Point::StartMade);
        Ok(Session::open(Arc::clone(&self.journal), clock, open, &self.person, objects)?)
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

    fn by(&self) -> By {
        By { kind: ByKind::Person, name: self.person.as_str().into() }
    }

    /// Answers a decision; a work tree that the option amends is measured now.
    pub fn decide(&self, session: &mut Session, id: DecisionId, mut answer: Answer) -> Result<Outcome, ServiceError> {
        let run = session.run();
        let decision = run.decisions.get(&id).cloned();
        let route = decision.as_ref().and_then(|decision| route_of(run, decision, answer.option.as_deref()));
        if let (Some(decision), Some(route)) = (&decision, route)
            && decision.end.is_none()
            && route.amends.iter().any(|name| is_tree(run, name))
        {
            answer.content = Some(self.measure_by_hand(run, decision)?);
        }
        let command = Command::Answer { decision: id, answer: Box::new(answer) };
        Ok(session.command(&command, &self.by(), None, &[])?)
    }

    fn measure_by_hand(&self, run: &Run, decision: &Decision) -> Result<tollgate_core::scope::Content, ServiceError> {
        let workspace = Workspace::of(&self.state, run)?;
        let unit = decision
            .asked
            .unit
            .as_ref()
            .filter(|name| run.unit(name).and_then(|unit| unit.tree.as_ref()).is_some_and(|own| !own.landed));
        let start = crate::git::ObjectId::parse(run.tree_of(unit));
        let start =
            start.ok_or_else(|| WorkspaceError::Lost { run: run.id, why: "its tree has no name".to_owned() })?;
        let _held = Workspace::hold(&self.state, run.id)?;
        let tree = workspace.work_tree(unit.map(|name| &**name), &start)?;
        let found = workspace.measure(&tree, &start)?;
        let misplaced = found.misplaced();
        if !misplaced.is_empty() {
            return Err(WorkspaceError::Misplaced(misplaced).into());
        }
        Ok(content_of(&workspace, run, &found.tree)?)
    }

    /// The work tree that a decision is about, where an option stands for a change by hand.
    pub fn tree_of(&self, run: &Run, decision: &Decision) -> Option<PathBuf> {
        let by_hand = decision.asked.options.iter().any(|option| {
            route_of(run, decision, Some(&option.id))
                .is_some_and(|route| route.amends.iter().any(|name| is_tree(run, name)))
        });
        if !by_hand {
            return None;
        }
        let unit = decision
            .asked
            .unit
            .as_ref()
            .filter(|name| run.unit(name).and_then(|unit| unit.tree.as_ref()).is_some_and(|own| !own.landed));
        let workspace = Workspace::of(&self.state, run).ok()?;
        let start = crate::git::ObjectId::parse(run.tree_of(unit))?;
        workspace.shown_tree(unit.map(|name| &**name), &start).ok()
    }

    /// A person's word on what is held or halted.
    pub fn retry(&self, session: &mut Session, unit: Option<Name>) -> Result<Outcome, ServiceError> {
        Ok(session.command(&Command::Retry { unit }, &self.by(), None, &[])?)
    }

    /// Ends a run.
    pub fn cancel(&self, session: &mut Session, why: String) -> Result<Outcome, ServiceError> {
        let outcome = session.command(&Command::Cancel { why }, &self.by(), None, &[])?;
        // A pin that nothing needs goes; one that cannot go now harms nobody.
        Workspace::of(&self.state, session.run()).and_then(|workspace| workspace.release(false)).ok();
        Ok(outcome)
    }
}

fn is_tree(run: &Run, resource: &str) -> bool {
    resource == "tree" || run.areas.iter().any(|area| &*area.name == resource)
}

/// The route that an answer takes.
fn route_of<'a>(run: &'a Run, decision: &Decision, option: Option<&str>) -> Option<&'a Route> {
    let outcome = option.unwrap_or("answered");
    let stage: &Stage = match run.protocol.ask(&decision.asked.ask) {
        Some(shared) => shared,
        None => run.stage(run.instances.get(&decision.asked.instance)?, &decision.asked.ask)?,
    };
    run.protocol.route(stage, outcome).map(|(rule, _)| &rule.route)
}

/// Reads and checks a protocol with the contracts of this build.
pub fn checked(text: &str) -> Result<Protocol, ServiceError> {
    let (protocol, mut diagnostics) = protocol::read(text);
    let Some(protocol) = protocol else { return Err(ServiceError::Protocol(diagnostics)) };
    diagnostics.extend(protocol::check(&protocol, &built_in_dialects()));
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err(ServiceError::Protocol(diagnostics));
    }
    Ok(protocol)
}

/// What the contracts of this build declare.
pub fn built_in_dialects() -> Dialects {
    let mut dialects = Dialects::default();
    for (id, declaration) in registry::declarations() {
        dialects.add(&id, declaration);
    }
    dialects
}

/// The documents of a run, read, and their bytes.
type Documents = (BTreeMap<Name, OpenArtifact>, Vec<Object>);

/// Reads the documents that were given.
fn documents(protocol: &Protocol, start: &Start) -> Result<Documents, ServiceError> {
    let (mut artifacts, mut objects) = (BTreeMap::new(), Vec::new());
    let sides = lanes(protocol, &start.inputs);
    for (name, bytes) in &start.artifacts {
        let known = protocol.artifacts.get(name).ok_or_else(|| ServiceError::NoArtifact(name.clone()))?;
        let given = open_artifact(known, bytes, sides.clone())
            .map_err(|wrong| ServiceError::Artifact { name: name.clone(), wrong })?;
        artifacts.insert(name.clone(), given);
        objects.push(Object::new(bytes.clone()));
    }
    Ok((artifacts, objects))
}

/// What the documents of a run are worth a word about before it starts, by their names.
pub fn warnings(protocol: &Protocol, start: &Start) -> BTreeMap<Name, Vec<Diagnostic>> {
    let sides = lanes(protocol, &start.inputs);
    let given = start.artifacts.iter().filter_map(|(name, bytes)| Some((name, protocol.artifacts.get(name)?, bytes)));
    given.map(|(name, known, bytes)| (name.clone(), document_warnings(known, bytes, sides.clone()))).collect()
}

/// The lanes that will run with these inputs; none when no stage of main runs lanes.
fn lanes(protocol: &Protocol, inputs: &BTreeMap<Name, Value>) -> Option<Vec<Name>> {
    let value = |name: &str| inputs.get(name).or_else(|| protocol.inputs.get(name)?.default.as_ref());
    let main = protocol.flow("main")?;
    main.stages.iter().find_map(|stage| {
        let Kind::Each(each) = &stage.kind else { return None };
        if stage.when.as_ref().is_some_and(|when| !gate::over_inputs(when, &value)) {
            return None;
        }
        match &each.over {
            Over::Lanes(lanes) => Some(lanes.clone()),
            Over::Input(input) => needed::lanes_of(value(input)?),
            Over::Units | Over::It => None,
        }
    })
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
