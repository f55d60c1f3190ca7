//! Configuration: which worker does a role, where areas lie, what commands run.
//!
//! A flag goes over the environment, the environment over the repository (once trusted), the repository over the user's
//! file. What is in force, and where each value comes from, enters the first event of a run.

mod adapter;
pub mod budget;
mod inactive;
mod parser;
pub mod paths;
mod reserved;
mod worktree;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tollgate_core::code::Code;
use tollgate_core::protocol::Protocol;
use tollgate_core::run::budget::Measure;
use tollgate_core::run::sandbox_record::{Sandbox, Tracing};
use tollgate_core::yaml::nearest;
use tollgate_engine::workers::agent::{self, ADAPTERS, Adapter as AgentAdapter};
use tollgate_engine::workers::{adapter_of, shell_words};

pub use adapter::Adapter;
pub use inactive::{Inactive, NEXT, inactive};
pub use parser::read;
pub use worktree::{Needed, Worktree};

use crate::environment::Environment;
use crate::failure::Failure;
use crate::failure::Source;
use crate::files;
use crate::format::list;
use crate::repository::{CONFIG_PATH, Folder};

/// A configuration file is small; a larger one is a mistake or an attack.
pub const CONFIG_BYTES_MAX: u64 = 256 * 1024;
/// Variables of this name and a role give that role a worker: `TOLLGATE_WORKER_DOD_CHECKER`.
const WORKER_VARIABLE: &str = "TOLLGATE_WORKER_";
/// In the place of a role: every role that nobody names.
pub const ALL_OTHERS: &str = "*";
/// How much is asked of the sandbox: `require`, `prefer` or `off`.
const SANDBOX_VARIABLE: &str = "TOLLGATE_SANDBOX";
/// The file that `init` writes.
pub const TEMPLATE: &str = include_str!("template.toml");

/// What one source says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layer {
    pub workers: BTreeMap<String, Worker>,
    pub roles: BTreeMap<String, Choice>,
    pub areas: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    pub commands: BTreeMap<String, Vec<String>>,
    pub sandbox: Option<Sandbox>,
    /// Into whose memory workers and commands get.
    pub tracing: Option<Tracing>,
    /// Variables that workers and commands may see.
    pub env: Vec<String>,
    /// Places that workers and commands may read.
    pub reads: Vec<String>,
    /// Where what looks like a secret is none.
    pub example_secrets: Vec<String>,
    /// What may be added to, and not weakened.
    pub protected: Vec<String>,
    /// What commands may write of the tree that they check.
    pub checks: Checks,
    /// Facts about the project that every brief has which shows it.
    pub project: Option<String>,
    /// What a fresh work tree needs.
    pub worktree: Needed,
    /// What may be used.
    pub budget: budget::Limits,
}

/// `[checks]`: how commands are run that check the work.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Checks {
    /// Patterns of paths of the tree.
    pub writes: Vec<String>,
}

impl Checks {
    /// Whether nobody says anything.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }
}

impl Layer {
    /// The areas it moves in a protocol; one that the protocol does not have is refused.
    pub fn areas_of(&self, protocol: &Protocol) -> Result<impl Iterator<Item = (&String, &Vec<String>)>, Failure> {
        let areas = self.areas.get(&*protocol.name);
        let known = |area: &str| protocol.areas.iter().any(|known| *known.name == *area);
        match areas.into_iter().flatten().find(|(area, _)| !known(area)) {
            None => Ok(areas.into_iter().flatten()),
            Some((area, _)) => {
                Err(unknown("area", area, &protocol.name, protocol.areas.iter().map(|known| &*known.name)))
            }
        }
    }
}

/// The program behind a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    /// How Tollgate speaks with it.
    pub adapter: Adapter,
    /// Program and arguments; of a script its file, of an agent its program.
    pub command: Vec<String>,
    /// What only an agent has.
    #[serde(flatten)]
    pub agent: Agent,
    /// What it is held to.
    #[serde(flatten)]
    pub bounds: Bounds,
}

/// What a worker is held to, where that is not what holds for all.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Bounds {
    /// How much is asked of the sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Sandbox>,
    /// Places that it may read besides the system and its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// Places that it may write besides its work tree and its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
}

impl Worker {
    /// A program or a script, which has nothing of an agent.
    pub fn plain(adapter: Adapter, command: Vec<String>) -> Self {
        Self { adapter, command, agent: Agent::default(), bounds: Bounds::default() }
    }

    /// Its credential pool: the configured one, or its adapter with the variables that it brings; none without an account.
    pub fn pool(&self) -> Option<String> {
        let Adapter::Agent(adapter) = self.adapter else { return None };
        let own = std::iter::once(adapter.name).chain(self.agent.env.iter().map(String::as_str));
        Some(self.agent.pool.clone().unwrap_or_else(|| own.collect::<Vec<_>>().join("+")))
    }

    /// What it does not tell, so that no budget can hold it to that. A script uses nothing.
    pub fn untold(&self) -> Vec<String> {
        let program = self.command.first().map(String::as_str).unwrap_or_default();
        let sheet = agent::capabilities_of(self.adapter.word(), program);
        let told = |of: fn(&agent::AgentCapabilities) -> Option<bool>| match self.adapter {
            Adapter::Script => true,
            Adapter::Command => false,
            Adapter::Agent(_) => sheet.and_then(of).unwrap_or(false),
        };
        let all = [
            (told(|sheet| sheet.usage), Measure::Tokens.word()),
            (told(|sheet| sheet.cost), Measure::Cost.word()),
            (told(|sheet| sheet.turns), "turns"),
        ];
        all.into_iter().filter(|(told, _)| !told).map(|(_, word)| word.to_owned()).collect()
    }

    /// An agent as its adapter knows it; none where that names no program.
    pub fn agent(adapter: &'static AgentAdapter) -> Option<Self> {
        Some(Self::plain(Adapter::Agent(adapter), vec![adapter.program?.to_owned()]))
    }
}

/// What is said of an agent besides its program.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Agent {
    /// The model; none: the agent's own choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How long an attempt may take; none: what the role says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u64>,
    /// How long it may print nothing; none: as long as it may work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_ms: Option<u64>,
    /// Variables that it may see besides those it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// Arguments besides those of the adapter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The account that it calls with: what a quota of one stops of all that share it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
}

/// The worker of a role: by name, or as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    Named(String),
    Inline(Worker),
}

/// Where a value comes from; later ones go over earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    BuiltIn,
    User,
    Repository,
    Environment,
    Flag,
}

impl Origin {
    /// The word used on the wire and in the journal.
    pub const fn word(self) -> &'static str {
        match self {
            Self::BuiltIn => "built_in",
            Self::User => "user",
            Self::Repository => "repository",
            Self::Environment => "environment",
            Self::Flag => "flag",
        }
    }
}

/// A value and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting<T> {
    pub value: T,
    pub from: Origin,
}

/// The worker of a role, as it is in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assigned {
    /// Its name in the configuration; none when it was given as a command.
    pub name: Option<String>,
    /// The program behind it.
    #[serde(flatten)]
    pub worker: Worker,
    /// Who gave the role this worker.
    pub from: Origin,
}

impl Assigned {
    /// Whether it was given as it stands, in a flag or a variable: its paths count from the folder one is in.
    pub fn is_typed(&self) -> bool {
        self.name.is_none() && self.from >= Origin::Environment
    }
}

/// What is in force for one protocol. This is what the first event of a run holds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct InForce {
    pub roles: BTreeMap<String, Assigned>,
    /// The areas whose patterns are not the protocol's own.
    pub areas: BTreeMap<String, Setting<Vec<String>>>,
    pub commands: BTreeMap<String, Setting<Vec<String>>>,
    /// How much is asked of the sandbox, where somebody says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Setting<Sandbox>>,
    /// Into whose memory workers and commands get, where somebody says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracing: Option<Setting<Tracing>>,
    /// Variables that every worker and every command may see besides the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// Places that every worker and every command may read besides the system and its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// Where what looks like a secret is none: patterns of paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub example_secrets: Vec<String>,
    /// What may be added to, and not weakened: patterns of paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protected: Vec<String>,
    /// What commands may write of the tree that they check.
    #[serde(default, skip_serializing_if = "Checks::is_empty")]
    pub checks: Checks,
    /// Facts about the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Setting<String>>,
    /// What a fresh work tree needs.
    #[serde(default, skip_serializing_if = "Worktree::is_empty")]
    pub worktree: Worktree,
    /// What may be used: `run.tokens` to its limit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub budget: BTreeMap<String, Setting<u64>>,
}

/// Every source, the weakest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Config {
    layers: Vec<(Origin, Layer)>,
}

impl Config {
    /// Reads the user's file, the repository's folder if the caller trusts it, and the environment.
    pub fn load(environment: &Environment, trusted: Option<&Folder>) -> Result<Self, Failure> {
        let mut config = Self::default();
        if let Some(path) = environment.user_config()
            && let Some(text) = files::read_text_if_any(&path, CONFIG_BYTES_MAX)?
        {
            config.push(Origin::User, parse(path.display().to_string(), text)?);
        }
        if let Some(text) = trusted.and_then(|folder| folder.text(CONFIG_PATH)) {
            config.push(Origin::Repository, parse(CONFIG_PATH.to_owned(), text?)?);
        }
        config.push(Origin::Environment, of_environment(environment)?);
        config.without_reserved(environment)
    }

    /// Puts a source over those before it.
    pub fn push(&mut self, origin: Origin, layer: Layer) {
        self.layers.push((origin, layer));
    }

    /// What one source says, if it says something.
    pub fn layer(&self, origin: Origin) -> Option<&Layer> {
        self.layers.iter().find(|(from, _)| *from == origin).map(|(_, layer)| layer)
    }

    /// Every worker that is named, the strongest source of each.
    pub fn workers(&self) -> BTreeMap<&str, Setting<&Worker>> {
        let layers = self.layers.iter();
        let each = layers.flat_map(|(from, layer)| layer.workers.iter().map(|(name, worker)| (*from, name, worker)));
        each.map(|(from, name, value)| (name.as_str(), Setting { value, from })).collect()
    }

    /// What is in force for a protocol, or why that cannot be said.
    pub fn in_force(&self, protocol: &Protocol) -> Result<InForce, Failure> {
        let (env, reads, worktree, budget) = (self.env(), self.reads(), self.worktree(), self.budget());
        let mut force =
            InForce { env, reads, worktree, budget, example_secrets: self.example_secrets(), ..InForce::default() };
        for (from, layer) in &self.layers {
            for (role, choice) in layer.roles.iter().filter(|(role, _)| *role != ALL_OTHERS) {
                let known = protocol.roles.contains_key(role.as_str());
                if !known && *from < Origin::Environment {
                    continue; // A file serves many protocols.
                }
                if !known {
                    return Err(unknown("role", role, &protocol.name, protocol.roles.keys().map(|name| &**name)));
                }
                force.roles.insert(role.clone(), self.assign(role, choice, *from)?);
            }
            (force.sandbox, force.tracing) = (self.sandbox(), self.tracing());
            if let Some(value) = layer.project.clone() {
                force.project = Some(Setting { value, from: *from });
            }
            force.protected.extend(layer.protected.iter().cloned());
            force.checks.writes.extend(layer.checks.writes.iter().cloned());
            for (area, patterns) in layer.areas_of(protocol)? {
                force.areas.insert(area.clone(), Setting { value: patterns.clone(), from: *from });
            }
            let commands = layer.commands.iter();
            force
                .commands
                .extend(commands.map(|(name, argv)| (name.clone(), Setting { value: argv.clone(), from: *from })));
        }
        let others = self.layers.iter().rev().find_map(|(from, layer)| Some((from, layer.roles.get(ALL_OTHERS)?)));
        if let Some((from, choice)) = others {
            for role in protocol.roles.keys().filter(|role| !force.roles.contains_key(&***role)).collect::<Vec<_>>() {
                force.roles.insert(role.to_string(), self.assign(role, choice, *from)?);
            }
        }
        Ok(force)
    }

    /// How much is asked of the sandbox. What you require, a repository does not take away; a variable goes over both.
    pub fn sandbox(&self) -> Option<Setting<Sandbox>> {
        self.strictest(|layer| layer.sandbox)
    }

    /// Into whose memory workers and commands get.
    pub fn tracing(&self) -> Option<Setting<Tracing>> {
        self.strictest(|layer| layer.tracing)
    }

    fn strictest<T: Ord>(&self, said: impl Fn(&Layer) -> Option<T>) -> Option<Setting<T>> {
        let all = self.layers.iter().filter_map(|(from, layer)| Some(Setting { value: said(layer)?, from: *from }));
        all.reduce(
            |before, next| {
                if next.from >= Origin::Environment || next.value < before.value { next } else { before }
            },
        )
    }

    /// What may be used, the strongest source of each limit.
    pub fn budget(&self) -> BTreeMap<String, Setting<u64>> {
        let each = self.layers.iter().flat_map(|(from, layer)| layer.budget.iter().map(|limit| (*from, limit)));
        each.map(|(from, (name, value))| (name.clone(), Setting { value: *value, from })).collect()
    }

    /// Variables that every worker and every command may see besides the usual ones.
    pub fn env(&self) -> Vec<String> {
        self.layers.iter().flat_map(|(_, layer)| layer.env.iter().cloned()).collect()
    }

    /// Places that every worker and every command may read besides the system and its own.
    pub fn reads(&self) -> Vec<String> {
        self.layers.iter().flat_map(|(_, layer)| layer.reads.iter().cloned()).collect()
    }

    /// Where what looks like a secret is none: patterns of paths.
    pub fn example_secrets(&self) -> Vec<String> {
        self.layers.iter().flat_map(|(_, layer)| layer.example_secrets.iter().cloned()).collect()
    }

    /// The worker of a role, by what was chosen for it.
    pub fn assign(&self, role: &str, choice: &Choice, from: Origin) -> Result<Assigned, Failure> {
        let name = match choice {
            Choice::Inline(worker) => return Ok(Assigned { name: None, worker: worker.clone(), from }),
            Choice::Named(name) => name,
        };
        let workers = self.workers();
        let agent = agent::adapter(name).and_then(Worker::agent);
        if let (None, Some(worker)) = (workers.get(name.as_str()), agent) {
            // An agent needs no configuration to be called by its name.
            return Ok(Assigned { name: Some(name.clone()), worker, from });
        }
        let worker = workers.get(name.as_str()).ok_or_else(|| {
            let failure = Failure::refused(Code::WORKER_UNKNOWN, format!("role `{role}` has the worker `{name}`, which is not defined"));
            if agent::adapter(name).is_some() {
                let way = format!("write `[worker.NAME]` with `adapter = \"{name}\"` and `command = [\"PROGRAM\"]`, and give the role that NAME");
                return failure.because("it is a way to speak with agents, and names none of them").hint(way);
            }
            let agents = ADAPTERS.into_iter().filter(|adapter| adapter.program.is_some());
            let known = workers.keys().copied().chain(agents.map(|adapter| adapter.name));
            match nearest(name, known) {
                Some(near) => failure.hint(format!("did you mean `{near}`?")),
                None => failure.hint(format!("add `[worker.{name}]` to the user's or the repository's config.toml; `tollgate doctor` lists what is known")),
            }
        })?;
        Ok(Assigned { name: Some(name.clone()), worker: worker.value.clone(), from })
    }
}

fn unknown<'a>(what: &str, name: &str, protocol: &str, known: impl Iterator<Item = &'a str> + Clone) -> Failure {
    let failure = Failure::refused(Code::CONFIG_NAME, format!("protocol `{protocol}` has no {what} `{name}`"));
    match nearest(name, known.clone()) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint(format!("it has {}", list(&known.collect::<Vec<_>>()))),
    }
}

/// Reads the text of a file, or says everything that is wrong with it.
pub fn parse(file: String, text: String) -> Result<Layer, Failure> {
    read(&text).map_err(|diagnostics| {
        Failure::refused(Code::CONFIG, format!("{file} is not a valid configuration"))
            .at(Source { file, text }, diagnostics)
    })
}

/// Reads `ROLE=NAME`, `ROLE=command:PROGRAM ARGS` or `ROLE=script:FILE`; without a role it is for all others.
pub fn assignment(text: &str) -> Result<(String, Choice), Failure> {
    let is_role = |role: &str| !role.contains([':', ' ']);
    let (role, choice) = text.split_once('=').filter(|(role, _)| is_role(role)).unwrap_or((ALL_OTHERS, text));
    if role.is_empty() || choice.is_empty() {
        return Err(Failure::usage(Code::USAGE, format!("`{text}` gives no role a worker")).hint(
            "write ROLE=NAME, ROLE=command:'PROGRAM ARGS', ROLE=script:FILE, or NAME for every role without another",
        ));
    }
    Ok((role.to_owned(), choose(choice)?))
}

fn choose(text: &str) -> Result<Choice, Failure> {
    match adapter_of(text) {
        Some(("command", line)) => {
            let command = shell_words::split(line)
                .map_err(|error| Failure::usage(Code::USAGE, format!("`{line}` is no command")).cause(error))?;
            Ok(Choice::Inline(Worker::plain(Adapter::Command, command)))
        }
        Some(("script", file)) if !file.is_empty() => {
            Ok(Choice::Inline(Worker::plain(Adapter::Script, vec![file.to_owned()])))
        }
        Some((adapter, _)) => Err(Failure::usage(Code::USAGE, format!("there is no adapter `{adapter}`"))
            .hint("write NAME, command:'PROGRAM ARGS' or script:FILE")),
        None => Ok(Choice::Named(text.to_owned())),
    }
}

fn of_environment(environment: &Environment) -> Result<Layer, Failure> {
    let mut layer = Layer::default();
    if let Some(word) = environment.get(SANDBOX_VARIABLE) {
        layer.sandbox = Some(Sandbox::parse(word).ok_or_else(|| {
            Failure::refused(Code::CONFIG, format!("{SANDBOX_VARIABLE} is set to `{word}`, which is no sandbox"))
                .hint(format!("it is one of {}", list(&Sandbox::ALL.map(Sandbox::word))))
        })?);
    }
    for (name, value) in environment.with_prefix(WORKER_VARIABLE).filter(|(_, value)| !value.is_empty()) {
        let role = name.to_lowercase().replace('_', "-");
        let choice =
            choose(value).map_err(|failure| failure.because(format!("{WORKER_VARIABLE}{name} is set to `{value}`")))?;
        layer.roles.insert(role, choice);
    }
    Ok(layer)
}

#[cfg(test)]
mod tests;
