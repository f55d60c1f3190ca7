//! `tollgate run`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tollgate_api::ProtocolOrigin;
use tollgate_app::config::paths::{Named, Paths};
use tollgate_app::config::{self, Adapter, Config, Inactive, Layer, Origin};
use tollgate_app::engine_errors::{TASK, given_by};
use tollgate_app::failure::Failure;
use tollgate_app::failure::Source;
use tollgate_app::files;
use tollgate_app::format;
use tollgate_app::protocols::{self, Definition};
use tollgate_app::repository::{CONFIG_PATH, Folder};
use tollgate_app::runs::not_as_checked_out;
use tollgate_app::trust::Standing;
use tollgate_contract::registry::Contracts;
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::Diagnostic;
use tollgate_core::digest::Digest;
use tollgate_core::protocol::Protocol;
use tollgate_core::protocol::model::Value;
use tollgate_engine::service::required_roles;
use tollgate_engine::service::{ServiceError, Start, checked, contracts, warnings};
use tollgate_engine::workers::agent::AgentSpec;
use tollgate_engine::workers::script::Script;
use tollgate_engine::workers::{pinned_files, shell_words};
use tollgate_engine::workspace::Dirty;

use crate::cli::commands::contract::not_text;
use crate::cli::drive::{Wait, drive};
use crate::cli::{Exit, Session};
use crate::view::diagnostic;
use crate::view::text::{Line, Style};

const DOCUMENT_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// How the help calls the protocol that a run is of.
pub const PROTOCOL: &str = "PROTOCOL";

/// Start a run and drive it
///
/// Stays attached while the run waits for a person, when there is a terminal (Ctrl-C leaves it; `tollgate resume` takes
/// it on). Without a terminal, or with --no-wait, it exits with 4. A signal that stops it while workers are at work makes it exit with
/// 3: nothing in the run failed, and `tollgate resume` goes on. A budget that is used up is a question, and exits with 5. When the quota of an
/// agent is used up, it waits for the time that the agent names and goes on by itself; with --no-wait it exits with 5.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// The protocol: its name, or a file
    #[arg(value_name = PROTOCOL)]
    protocol: String,
    /// The task file; the same as `--give task=FILE`
    #[arg(long, value_name = "FILE")]
    task: Option<PathBuf>,
    /// A document the protocol asks for
    #[arg(long, value_name = "NAME=FILE")]
    give: Vec<String>,
    /// An input of the protocol
    #[arg(long, value_name = "NAME=VALUE")]
    input: Vec<String>,
    /// Who does a role: a configured worker, an agent that is installed, or command:'PROGRAM ARGS'; without ROLE= every role
    /// that has no other
    #[arg(long, value_name = "[ROLE=]NAME")]
    worker: Vec<String>,
    /// A script that acts for every role without another worker
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// What a side may change, when several run at once; instead of the `Scope:` in the task, once for each pattern
    #[arg(long, value_name = "SIDE=GLOB")]
    scope: Vec<String>,
    /// Your answer to a question, given in advance
    #[arg(long, value_name = "STAGE=OPTION")]
    answer: Vec<String>,
    /// What the run is for; without it, the first heading of the task
    #[arg(long)]
    title: Option<String>,
    /// Start from the checkout as it is, uncommitted changes included
    #[arg(long)]
    include_dirty: bool,
    /// Exit with 4 when a person is needed, and with 5 when a budget or a quota is used up
    #[arg(long)]
    no_wait: bool,
}

pub fn run(args: RunArgs, session: &Session) -> Result<Exit, Failure> {
    let runs = session.runs_as_person()?;
    let definition = protocols::find_to_run(&args.protocol, &session.environment)?;
    let documents = documents(&args, session)?;
    let Prepared { start, protocol, contracts, inactive } = start(&args, &definition, &documents, session)?;
    if let Some(inactive) = &inactive {
        session.output.talk(Line::new().add(Style::Warn, "warning").text(format!(": {}", inactive.said)));
        session.output.talk(format!("  {}", config::NEXT));
    }
    for (name, diagnostics) in warnings(&protocol, &contracts, &start) {
        let Some(document) = documents.get(&name) else { continue };
        let lines = diagnostic::lines(&diagnostics, &document.source(), session.output.width());
        lines.into_iter().for_each(|line| session.output.talk(line));
    }
    let (run, opened) = runs.service.start(&session.person(), start).map_err(|error| {
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
    })?;
    if !session.json() {
        session.output.talk(format!("{} of {}", run.run().id, run.run().opened.protocol.name));
        if let Some(files) = not_as_checked_out(run.run(), None) {
            session.output.talk(format!("  {}", format::not_as_checked_out(&files)));
        }
    }
    let wait = if args.no_wait { Wait::No } else { Wait::Attached };
    drive(&runs, run, &opened, wait, session)
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
                .hint("mend it; `tollgate protocol check FILE` proves it without a run")
        }
        ServiceError::Artifact { name, .. } if documents.get(&name).is_some_and(|given| !given.is_text()) => {
            let document = &documents[&name];
            let failure = Failure::refused(Code::BAD_ARTIFACT, format!("{} is not text", document.file));
            match String::from_utf8(document.bytes.clone()) {
                Ok(_) => failure,
                Err(error) => {
                    let (_, diagnostic) = not_text(error);
                    failure.at(document.source(), vec![diagnostic]).hint("write the file as UTF-8 and start again")
                }
            }
        }
        ServiceError::Artifact { name, wrong } if wrong.why.is_empty() && documents.contains_key(&name) => {
            let document = &documents[&name];
            Failure::refused(Code::BAD_ARTIFACT, format!("{} does not pass the check of `{name}`", document.file))
                .at(document.source(), wrong.diagnostics)
                .hint("mend the file and start again")
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

/// Reads the documents that the command line names.
fn documents(args: &RunArgs, session: &Session) -> Result<BTreeMap<Name, Document>, Failure> {
    let mut files = pairs(&args.give, "NAME=FILE")?;
    if let Some(task) = &args.task {
        let file = Name::from(task.display().to_string());
        if files.insert(TASK.into(), file).is_some() {
            return Err(
                Failure::usage(Code::USAGE, "`task` is given twice").hint("`--task FILE` is `--give task=FILE`")
            );
        }
    }
    let read = |(name, file): (Name, Name)| {
        let bytes = files::read(&session.environment.directory().join(&*file), DOCUMENT_BYTES_MAX)
            .map_err(|failure| failure.hint(format!("name the file of `{name}`: `{}`", given_by(&name))))?;
        Ok((name, Document { file: file.to_string(), bytes }))
    };
    files.into_iter().map(read).collect()
}

/// A run before it starts.
struct Prepared {
    start: Start,
    protocol: Protocol,
    contracts: Contracts,
    inactive: Option<Inactive>,
}

/// Everything a run needs, from flags, configuration and files.
fn start(
    args: &RunArgs,
    definition: &Definition,
    documents: &BTreeMap<Name, Document>,
    session: &Session,
) -> Result<Prepared, Failure> {
    let read = tollgate_core::protocol::read(&definition.source.text).0;
    let names = read.iter().flat_map(Protocol::contract_names);
    let definitions = tollgate_app::contracts::definitions(names, &session.environment)?;
    let (protocol, contracts) = contracts(&definitions)
        .and_then(|contracts| Ok((checked(&definition.source.text, &contracts)?, contracts)))
        .map_err(|error| at_source(error, definition, documents))?;
    let standing = Standing::look(&session.environment)?;
    let edited =
        standing.repository().map(tollgate_app::repository::Repository::uncommitted).transpose()?.unwrap_or_default();
    if !edited.is_empty() {
        let said = format!(": not as committed, so without effect: {}", edited[..edited.len().min(5)].join(", "));
        session.output.talk(Line::new().add(Style::Warn, "warning").text(said));
        session.output.talk("  git add .tollgate && git commit, then `tollgate trust`");
    }
    let mut config = Config::load(&session.environment, standing.trusted())?;
    config.push(Origin::Flag, Layer { roles: typed_workers(args, &protocol)?, ..Layer::default() });
    let force = config.in_force(&protocol)?;
    let inactive = config::inactive(&standing, &protocol, &force, &session.environment)?;
    let inputs: BTreeMap<Name, Value> =
        pairs(&args.input, "NAME=VALUE")?.into_iter().map(|(name, value)| (name, Value::Text(value))).collect();
    let (mut workers, mut scripts, mut pools) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let paths = Paths { standing: &standing, directory: session.environment.directory() };
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
        workers.insert(Name::from(role.as_str()), Name::from(spec));
        pools.extend(assigned.worker.pool().map(|pool| (Name::from(role.as_str()), Name::from(pool))));
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
        title: args.title.clone().unwrap_or_default(),
        protocol: definition.source.text.clone(),
        contracts: definitions,
        briefs: protocols::briefs(definition, &protocol, &session.environment)?,
        repository: session.environment.directory().to_owned(),
        dirty: if args.include_dirty { Dirty::Include } else { Dirty::Refuse },
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
        answers: pairs(&args.answer, "STAGE=OPTION")?,
        scopes: scopes(&args.scope)?,
        budgets: config::budget::budgets(force.budget.iter().map(|(name, set)| (name.as_str(), set.value))),
        pools,
    };
    Ok(Prepared { start, protocol, contracts, inactive })
}

/// Who does a role by the command line. Two for the same role is a mistake: none of them wins silently.
fn typed_workers(args: &RunArgs, protocol: &Protocol) -> Result<BTreeMap<String, config::Choice>, Failure> {
    let mut roles = BTreeMap::new();
    for text in &args.worker {
        let (role, choice) = config::assignment(text)?;
        let twice = match role.as_str() {
            config::ALL_OTHERS if args.script.is_some() => {
                "`--script` and a `--worker` without a role are both for all others".to_owned()
            }
            config::ALL_OTHERS => "two `--worker` are for every role without another".to_owned(),
            role => format!("`{role}` is given two workers"),
        };
        let is_second = role == config::ALL_OTHERS && args.script.is_some();
        if roles.insert(role, choice).is_some() || is_second {
            return Err(
                Failure::usage(Code::USAGE, twice).hint("keep one of them; `--worker ROLE=NAME` gives a role another")
            );
        }
    }
    if let Some(script) = &args.script {
        let worker = config::Worker::plain(Adapter::Script, vec![script.display().to_string()]);
        for role in protocol.roles.keys() {
            roles.entry(role.to_string()).or_insert_with(|| config::Choice::Inline(worker.clone()));
        }
    }
    Ok(roles)
}

/// Reads `SIDE=GLOB` pairs; a side may be given several patterns.
fn scopes(texts: &[String]) -> Result<BTreeMap<Name, Vec<Name>>, Failure> {
    let mut scopes: BTreeMap<Name, Vec<Name>> = BTreeMap::new();
    for text in texts {
        let (side, pattern) = pair(text, "SIDE=GLOB")?;
        scopes.entry(side).or_default().push(pattern);
    }
    Ok(scopes)
}

fn pair(text: &str, form: &str) -> Result<(Name, Name), Failure> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = pair
        .ok_or_else(|| Failure::usage(Code::USAGE, format!("`{text}` is not {form}")).hint(format!("write {form}")))?;
    Ok((name.into(), value.into()))
}

/// A script that cannot be read, or does not fit the protocol, is refused before the run, not by each of its workers.
fn fits(file: &str, text: &str, protocol: &Protocol, contracts: &Contracts) -> Result<(), Failure> {
    let units = required_roles::units(protocol);
    Script::read_for(text, protocol, contracts, units.as_ref()).map(drop).map_err(|diagnostics| {
        let code = diagnostics.first().map_or(Code::INTERNAL, |first| first.code);
        let source = Source { file: file.to_owned(), text: text.to_owned() };
        Failure::refused(code, format!("{file} is not a script for `{}`", protocol.name))
            .at(source, diagnostics)
            .hint("mend it; docs/schemas/script.schema.json says what a script may hold")
    })
}

/// Reads `NAME=VALUE` pairs; a name given twice is a mistake.
fn pairs(texts: &[String], form: &str) -> Result<BTreeMap<Name, Name>, Failure> {
    let mut pairs = BTreeMap::new();
    for text in texts {
        let (name, value) = pair(text, form)?;
        if pairs.insert(name.clone(), value).is_some() {
            return Err(Failure::usage(Code::USAGE, format!("`{name}` is given twice")).hint("give it once"));
        }
    }
    Ok(pairs)
}
