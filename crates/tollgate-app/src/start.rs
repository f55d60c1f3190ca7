//! Starting a run from a request: the protocol, documents, workers and configuration are found, read and checked first.

use std::collections::BTreeMap;

use tollgate_api::ProtocolOrigin;
use tollgate_contract::registry::Contracts;
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::Diagnostic;
use tollgate_core::digest::Digest;
use tollgate_core::protocol::Protocol;
use tollgate_core::protocol::model::Value;
use tollgate_core::run::Recorded;
use tollgate_engine::service::required_roles;
use tollgate_engine::service::{ServiceError, Start, checked, contracts, warnings};
use tollgate_engine::session::Session;
use tollgate_engine::workers::agent::AgentSpec;
use tollgate_engine::workers::script::Script;
use tollgate_engine::workers::{pinned_files, shell_words};
use tollgate_engine::workspace::Dirty;

use crate::config::paths::{Named, Paths};
use crate::config::{self, Adapter, Choice, Config, Inactive, Layer, Origin};
use crate::engine_errors::given_by;
use crate::environment::Environment;
use crate::failure::{Failure, Source};
use crate::files;
use crate::notice::Notice;
use crate::protocols::{self, Definition};
use crate::repository::{CONFIG_PATH, Folder, Repository};
use crate::runs::Runs;
use crate::trust::{self, Standing};
use tollgate_core::id::{RoleId, StageId, UnitId};

const DOCUMENT_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// What a run is asked to be.
#[derive(Debug)]
pub struct Request {
    /// The protocol: its name, or a file.
    pub protocol: String,
    /// The file of each document that the protocol asks for.
    pub documents: BTreeMap<Name, Name>,
    /// The protocol's inputs.
    pub inputs: BTreeMap<Name, Name>,
    /// Who does a role.
    pub workers: BTreeMap<String, Choice>,
    /// A script that acts for every role without another worker.
    pub script: Option<String>,
    /// What each side may change, in place of what documents say.
    pub scopes: BTreeMap<UnitId, Vec<Name>>,
    /// Answers in advance, by stage.
    pub answers: BTreeMap<StageId, Name>,
    /// What the run is for; empty: the first heading of the task.
    pub title: String,
    /// What to do with changes that are not committed.
    pub dirty: Dirty,
}

impl Runs {
    /// Starts a run: it is in the journal, and nothing is done yet.
    pub fn start(
        &self,
        person: &str,
        request: Request,
        environment: &Environment,
        notices: &mut Vec<Notice>,
    ) -> Result<(Session, Vec<Recorded>), Failure> {
        let definition = protocols::find_to_run(&request.protocol, environment)?;
        let documents = documents(&request, environment)?;
        let Prepared { start, protocol, contracts, inactive } =
            prepare(request, &definition, &documents, environment, notices)?;
        notices.extend(inactive.as_ref().map(|inactive| Notice::Warning {
            code: None,
            message: inactive.said.clone(),
            next: Some(config::NEXT.to_owned()),
        }));
        for (name, diagnostics) in warnings(&protocol, &contracts, &start) {
            let source = documents.get(&name).map(Document::source);
            notices.extend(source.map(|source| Notice::Document { source, diagnostics }));
        }
        self.service.start(person, start).map_err(|error| {
            let missing = match &error {
                ServiceError::NoWorker(roles) => roles.clone(),
                _ => Vec::new(),
            };
            let failure = at_source(error, &definition, &documents);
            let gives = |inactive: &Inactive| missing.iter().any(|role| inactive.roles.contains(&**role));
            if inactive.as_ref().is_some_and(gives) {
                failure.because(format!("{CONFIG_PATH} gives them one and is not trusted")).hint(config::NEXT)
            } else {
                failure
            }
        })
    }
}

/// What is wrong with a protocol or a document is shown in its own text.
fn at_source(error: ServiceError, definition: &Definition, documents: &BTreeMap<Name, Document>) -> Failure {
    // By its name, or by the file that it was read from: as it can be typed.
    let typed = if definition.origin == ProtocolOrigin::BuiltIn { &definition.id } else { &definition.source.file };
    match error {
        ServiceError::Protocol(diagnostics) => {
            let code = diagnostics.first().map_or(Code::INTERNAL, |first| first.code);
            Failure::refused(code, format!("{} does not check", definition.source.file))
                .at(definition.source.clone(), diagnostics)
                .hint("fix it; `tollgate protocol check FILE` proves it without a run")
        }
        ServiceError::Artifact { name, .. } if documents.get(&name).is_some_and(|given| !given.is_text()) => {
            let document = &documents[&name];
            let failure = Failure::refused(Code::BAD_ARTIFACT, format!("{} is not text", document.file));
            match String::from_utf8(document.bytes.clone()) {
                Ok(_) => failure,
                Err(error) => {
                    let (_, diagnostic) = files::undecoded(error);
                    failure.at(document.source(), vec![diagnostic]).hint("write the file as UTF-8 and start again")
                }
            }
        }
        ServiceError::Artifact { name, wrong } if wrong.why.is_empty() && documents.contains_key(&name) => {
            let document = &documents[&name];
            Failure::refused(Code::BAD_ARTIFACT, format!("{} does not pass the check of `{name}`", document.file))
                .at(document.source(), wrong.diagnostics)
                .hint("fix the file and start again")
        }
        ServiceError::Scopes { rejection, name, places } if documents.contains_key(&name) => {
            let document = &documents[&name];
            let (first, other) = (places.first().copied().unwrap_or_default(), places.get(1).copied());
            let found = Diagnostic::error(rejection.code(), first, rejection.to_string());
            let found = other.into_iter().fold(found, Diagnostic::other);
            let failure = Failure::from(ServiceError::Scopes { rejection, name, places });
            failure.at(document.source(), vec![found])
        }
        other => Failure::from(other).about_protocol(typed),
    }
}

/// A document that was given, and the file it came from.
struct Document {
    file: String,
    bytes: Vec<u8>,
}

impl Document {
    fn is_text(&self) -> bool {
        str::from_utf8(&self.bytes).is_ok()
    }

    fn source(&self) -> Source {
        Source { file: self.file.clone(), text: String::from_utf8_lossy(&self.bytes).into_owned() }
    }
}

/// Reads the documents that a request names.
fn documents(request: &Request, environment: &Environment) -> Result<BTreeMap<Name, Document>, Failure> {
    let read = |(name, file): (&Name, &Name)| {
        let bytes = files::read(&environment.directory().join(&**file), DOCUMENT_BYTES_MAX)
            .map_err(|failure| failure.hint(format!("name the file of `{name}`: `{}`", given_by(name))))?;
        Ok((name.clone(), Document { file: file.to_string(), bytes }))
    };
    request.documents.iter().map(read).collect()
}

/// A run before it starts.
struct Prepared {
    start: Start,
    protocol: Protocol,
    contracts: Contracts,
    inactive: Option<Inactive>,
}

/// Everything a run needs, from the request, configuration and files.
fn prepare(
    request: Request,
    definition: &Definition,
    documents: &BTreeMap<Name, Document>,
    environment: &Environment,
    notices: &mut Vec<Notice>,
) -> Result<Prepared, Failure> {
    let read = tollgate_core::protocol::read(&definition.source.text).0;
    let names = read.iter().flat_map(Protocol::contract_names);
    let definitions = crate::contracts::definitions(names, environment)?;
    let (protocol, contracts) = contracts(&definitions)
        .and_then(|contracts| Ok((checked(&definition.source.text, &contracts)?, contracts)))
        .map_err(|error| at_source(error, definition, documents))?;
    let standing = Standing::look(environment)?;
    let edited = standing.repository().map(Repository::uncommitted).transpose()?.unwrap_or_default();
    if !edited.is_empty() {
        notices.push(Notice::Warning {
            code: None,
            message: trust::ignored(&edited),
            next: Some("git add .tollgate && git commit, then `tollgate trust`".to_owned()),
        });
    }
    let mut config = Config::load(environment, standing.trusted())?;
    config.push(Origin::Flag, Layer { roles: workers_of(&request, &protocol), ..Layer::default() });
    let force = config.in_force(&protocol)?;
    let inactive = config::inactive(&standing, &protocol, &force, environment)?;
    let (inputs, answers) = inputs(request.inputs, request.answers, &protocol)?;
    let (mut workers, mut scripts, mut pools) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let paths = Paths { standing: &standing, directory: environment.directory() };
    let mut pins = false;
    let mut named = |words: &[String]| pins |= words.iter().any(|word| pinned_files::named_by(word).is_some());
    for (role, assigned) in &force.roles {
        let typed = assigned.is_typed();
        let spec = match assigned.worker.adapter {
            Adapter::Command => {
                let words = paths.worker(&assigned.worker.command, typed)?;
                named(&words);
                format!("command:{}", shell_words::join(&words))
            }
            Adapter::Agent(adapter) => {
                let config::Agent { model, minutes, idle_ms, env, args, .. } = assigned.worker.agent.clone();
                let words: Vec<String> = assigned.worker.command.iter().chain(&args).cloned().collect();
                let words = paths.worker(&words, typed)?;
                named(&words);
                AgentSpec { adapter, words, model, minutes, idle_ms, env }.to_string()
            }
            Adapter::Script => {
                let file = assigned.worker.command.first().cloned().unwrap_or_default();
                let text = match paths.file(&file, typed)? {
                    Named::Trusted(path, file) => {
                        String::from_utf8(file.bytes.clone()).map_err(|error| files::not_text(&path, &error))?
                    }
                    Named::There(path) => files::read_text(&path, DOCUMENT_BYTES_MAX)?,
                };
                fits(&file, &text, &protocol, &contracts)?;
                let digest = Digest::of(text.as_bytes());
                scripts.insert(digest, text);
                format!("script:{digest}")
            }
        };
        workers.insert(RoleId::from(role.as_str()), Name::from(spec));
        pools.extend(assigned.worker.pool().map(|pool| (RoleId::from(role.as_str()), Name::from(pool))));
    }
    let mut commands = BTreeMap::new();
    for (name, set) in &force.commands {
        let words = paths.command(&set.value)?;
        named(&words);
        commands.insert(Name::from(name.as_str()), words);
    }
    let mut force = force;
    if let Some(setup) = &mut force.worktree.setup {
        setup.value = paths.command(&setup.value)?;
        named(&setup.value);
    }
    let folder = standing.trusted().filter(|_| pins).into_iter().flat_map(Folder::files);
    let start = Start {
        title: request.title,
        protocol: definition.source.text.clone(),
        contracts: definitions,
        briefs: protocols::briefs(definition, &protocol, environment)?,
        repository: environment.directory().to_owned(),
        dirty: request.dirty,
        inputs,
        artifacts: documents.iter().map(|(name, document)| (name.clone(), document.bytes.clone())).collect(),
        workers,
        scripts,
        folder: folder.map(|(path, file)| (path.into(), file.clone())).collect(),
        commands,
        areas: force
            .areas
            .iter()
            .map(|(name, set)| (name.as_str().into(), set.value.iter().map(|glob| glob.as_str().into()).collect()))
            .collect(),
        config: serde_json::to_value(&force).unwrap_or_default(),
        project: force.project.map(|project| project.value),
        answers,
        scopes: request.scopes,
        tollgate: environment.program()?.to_owned(),
        budgets: config::budget::budgets(force.budget.iter().map(|(name, set)| (name.as_str(), set.value))),
        pools,
    };
    Ok(Prepared { start, protocol, contracts, inactive })
}

/// Inputs, and answers in advance.
type Given = (BTreeMap<Name, Value>, BTreeMap<StageId, Name>);

/// The inputs that are given, also as answers in advance to the card that would ask for them; and the answers to stages.
fn inputs(
    given: BTreeMap<Name, Name>,
    answers: BTreeMap<StageId, Name>,
    protocol: &Protocol,
) -> Result<Given, Failure> {
    let asks = |name: &str| protocol.flows.iter().flat_map(|flow| &flow.stages).any(|stage| &*stage.id == name);
    let is_input = |name: &StageId| protocol.inputs.contains_key(&**name) && !asks(name);
    let mut inputs = given;
    let (early, answers): (BTreeMap<_, _>, BTreeMap<_, _>) = answers.into_iter().partition(|(name, _)| is_input(name));
    for (name, value) in early {
        if inputs.insert((&*name).into(), value).is_some() {
            return Err(Failure::usage(Code::USAGE, format!("`{name}` is given twice"))
                .hint(format!("`--answer {name}=VALUE` is `--input {name}=VALUE`")));
        }
    }
    Ok((inputs.into_iter().map(|(name, value)| (name, Value::Text(value))).collect(), answers))
}

/// The workers that a request names; its script acts for all roles without one.
fn workers_of(request: &Request, protocol: &Protocol) -> BTreeMap<String, Choice> {
    let mut roles = request.workers.clone();
    if let Some(script) = &request.script {
        let worker = config::Worker::plain(Adapter::Script, vec![script.clone()]);
        for role in protocol.roles.keys() {
            roles.entry(role.to_string()).or_insert_with(|| Choice::Inline(worker.clone()));
        }
    }
    roles
}

/// A script that cannot be read, or does not fit the protocol, is refused before the run, not by each of its workers.
fn fits(file: &str, text: &str, protocol: &Protocol, contracts: &Contracts) -> Result<(), Failure> {
    let units = required_roles::units(protocol);
    Script::read_for(text, protocol, contracts, units.as_ref()).map(drop).map_err(|diagnostics| {
        let code = diagnostics.first().map_or(Code::INTERNAL, |first| first.code);
        let source = Source { file: file.to_owned(), text: text.to_owned() };
        Failure::refused(code, format!("{file} is not a script for `{}`", protocol.name))
            .at(source, diagnostics)
            .hint("fix it; docs/schemas/script.schema.json says what a script may hold")
    })
}
