//! Agents: command line programs with a model behind them.
//!
//! One adapter is one file and is pure: from a question to a command line; from a line of output to worker events; from the agent's
//! account of its usage to what one call used. What an agent can do is measured on the real program ([`sheet`]). That the program exited with 0 and
//! said "success" proves nothing: what was denied, what the model's service refused and where a plan ended is read from the lines.

mod acp;
mod capabilities;
mod claude;
mod codex;
mod copilot;
#[cfg(test)]
mod extraction;
mod gemini;
mod last_words;
mod line_parser;
mod line_reader;
mod login;
mod opencode;
mod probe;
mod qwen;
mod spec;
mod tally;
#[cfg(test)]
mod tests;
mod transcript;
mod worker;

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tollgate_core::run::agent_stats::{Guarded, Usage};
use tollgate_core::run::sandbox_record::AgentFolders;

use crate::sandbox::layers::can_cover;
use crate::sandbox::own_place;

pub use capabilities::{AgentCapabilities, QuotaReport, Resume, Schema, all_capabilities, capabilities_of};
pub use last_words::prose;
pub use line_parser::{FieldUse, leniently};
pub use line_reader::session_in;
pub use login::SharedLogin;
pub use probe::{ask, version};
pub use spec::{AgentSpec, variables};
pub use tally::{AgentFailure, Tally, WorkerEvent};
pub use transcript::{AgentSpeech, speech};
pub use worker::{AgentWorker, Resumption};

/// Every adapter there is. A new one is a new file and a line here.
pub static ADAPTERS: [&Adapter; 7] = [
    &acp::ADAPTER,
    &claude::ADAPTER,
    &codex::ADAPTER,
    &copilot::ADAPTER,
    &gemini::ADAPTER,
    &opencode::ADAPTER,
    &qwen::ADAPTER,
];

/// The adapter of a name.
pub fn adapter(name: &str) -> Option<&'static Adapter> {
    ADAPTERS.into_iter().find(|adapter| adapter.name == name)
}

/// The adapter whose places in the home folder an agent has: where any can be behind its own, the one that knows the program.
fn at_home(adapter: &'static Adapter, program: &Path) -> Option<&'static Adapter> {
    let known = |other: &&Adapter| program.file_name().is_some_and(|name| Some(name) == other.program.map(OsStr::new));
    if adapter.bridged { ADAPTERS.into_iter().find(known) } else { Some(adapter) }
}

/// The places in the home folder of the agent that a run remembers by this text.
pub fn places_of(spec: &str) -> &'static [&'static str] {
    whose(spec).map_or(&[], |adapter| adapter.home)
}

fn whose(spec: &str) -> Option<&'static Adapter> {
    let spec = AgentSpec::parse(spec)?.ok()?;
    at_home(spec.adapter, Path::new(spec.words.first()?))
}

/// Whether the places in the home folder of a worker are kept as they are, on a machine that can have layers or not; `writes` is what its
/// configuration lets it write.
pub fn folders(spec: &str, layers: bool, writes: &[PathBuf]) -> AgentFolders {
    match whose(spec) {
        None => AgentFolders::None,
        Some(adapter) if adapter.login.is_some() && layers && can_cover(adapter.home, writes) => AgentFolders::Held,
        Some(_) => AgentFolders::Open,
    }
}

/// The places that agents have to themselves, of all there are.
pub fn own_places() -> impl Iterator<Item = PathBuf> {
    ADAPTERS.into_iter().flat_map(|adapter| adapter.home).filter_map(|place| own_place(place))
}

/// How Tollgate speaks with one agent.
#[derive(Debug)]
pub struct Adapter {
    /// Its name in the configuration.
    pub name: &'static str,
    /// The program, where none is configured; none: it must be.
    pub program: Option<&'static str>,
    /// Whether Tollgate itself is started and speaks with the agent, which must be answered while it works.
    pub bridged: bool,
    /// The variables of the environment it needs to find its account; a `*` at the end is any end.
    pub variables: &'static [&'static str],
    /// The files and folders below the home folder that it reads and writes; one that ends with `/` is a folder and is made
    /// where it is missing, and one that begins with `$` is named by that variable.
    pub home: &'static [&'static str],
    /// How its login outlives an attempt whose writes to these places are thrown away; none: nobody has shown that, and they are written
    /// as they are.
    pub login: Option<Login>,
    /// How it holds itself.
    pub guard: Guard,
    /// The command line that asks a question.
    pub call: fn(&Ask<'_>) -> Call,
    /// What it looks at in a line of the output.
    pub wants: fn(&str) -> FieldUse,
    /// The types of the lines that hold its messages: one of these that is cut off may have held its report.
    pub says: &'static [&'static str],
    /// What one line of the output says; lines that are no JSON object say nothing.
    pub read: fn(&Value, &mut Pending, &mut Vec<WorkerEvent>),
    /// Whether it is given the JSON Schema of the report, and hands the object over in a field of its own.
    pub forces_schema: bool,
    /// The parts of its account that are of a step, where it gives more than one in a call: they are added up, and the others are of the whole.
    pub adds: &'static [&'static str],
    /// What a call used, by the agent's account after it and the one before it.
    pub spent: fn(&Value, PreviousUsage<'_>) -> Usage,
}

/// How the login of an agent is kept while its places are covered by layers. docs/agent-logins.md says how that was found out.
#[derive(Debug)]
pub struct Login {
    /// The files of its places that it writes in place: they are bound through the layer.
    pub in_place: &'static [&'static str],
    /// The one that it replaces by another file.
    pub replaced: Option<ReplacedLogin>,
    /// Variables that name a folder for its databases: one that is copied while it is written is broken.
    pub databases: &'static [&'static str],
}

/// A login that is replaced by a rename. All attempts share one folder for it, and with that the lock of the agent.
#[derive(Debug)]
pub struct ReplacedLogin {
    /// The variable that names the folder for the login alone.
    pub variable: &'static str,
    /// Where the person's lies: the first of these that there is.
    pub places: &'static [&'static str],
    pub file: &'static str,
    /// The folder beside it that the agent makes while it replaces the file.
    pub lock: &'static str,
}

/// How an agent holds itself, in words of its command line.
#[derive(Debug)]
pub struct Guard {
    /// Where nothing else holds it: it may change files of its folder.
    pub own: &'static [&'static str],
    /// Off, where the sandbox holds it.
    pub off: &'static [&'static str],
    /// Variables that it gets where it is off.
    pub set: &'static [(&'static str, &'static str)],
    /// The words of a configuration that go over both, alone or before a `=`.
    pub flags: &'static [&'static str],
    /// What lets it write one folder more: `{}` is the folder, `{json}` the same as a JSON string.
    pub folder: &'static [&'static str],
}

/// A question to an agent.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// Where its program is.
    pub program: &'a Path,
    pub prompt: &'a str,
    pub model: Option<&'a str>,
    /// The session to go on with.
    pub session: Option<&'a str>,
    /// The JSON Schema of the report, where that is JSON.
    pub schema: Option<&'a str>,
    /// The arguments of the configuration. They go over what the adapter would say itself.
    pub args: &'a [OsString],
    /// Whether the sandbox holds it, so that its own guard can be off.
    pub held: bool,
    /// The folder in which it hands documents over.
    pub out: Option<&'a Path>,
}

impl Ask<'_> {
    /// Whether the configuration gives one of these flags.
    fn gives(&self, flags: &[&str]) -> bool {
        let is = |word: &OsString, flag: &&str| {
            let end = word.to_str().and_then(|word| word.strip_prefix(*flag));
            end.is_some_and(|end| end.is_empty() || end.trim_start().starts_with('='))
        };
        self.args.iter().any(|word| flags.iter().any(|flag| is(word, flag)))
    }

    /// A flag and its value, unless the configuration gives one of these flags.
    fn unless_given(&self, flags: &[&str], value: &str) -> Vec<OsString> {
        match flags.first() {
            Some(flag) if !self.gives(flags) => vec![flag.into(), value.into()],
            _ => Vec::new(),
        }
    }

    /// Which guard of its own the agent works under.
    fn guarded(&self, guard: &Guard) -> Guarded {
        match (self.gives(guard.flags), self.held) {
            (true, _) => Guarded::Configured,
            (false, true) => Guarded::Off,
            (false, false) => Guarded::Own,
        }
    }

    /// The words that say so.
    fn guard<'g>(&self, guard: &'g Guard) -> impl Iterator<Item = OsString> + use<'_, 'g> {
        let words = match self.guarded(guard) {
            Guarded::Configured => &[],
            Guarded::Off => guard.off,
            Guarded::Own => guard.own,
        };
        let folders = self.out.iter().flat_map(|out| {
            let out = out.to_string_lossy();
            let json = Value::from(&*out).to_string();
            guard.folder.iter().map(move |word| word.replace("{json}", &json).replace("{}", &out).into())
        });
        words.iter().map(OsString::from).chain(folders)
    }
}

/// How an agent is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables that it gets, unless the environment has them.
    pub set: Vec<(&'static str, &'static str)>,
    /// What it reads on its standard input.
    pub stdin: String,
}

/// The account that an agent gave before this call.
#[derive(Debug, Clone, Copy)]
pub enum PreviousUsage<'a> {
    /// None: the session began with the call.
    Fresh,
    /// The last one of the session; none: nobody kept it.
    Resumed(Option<&'a Value>),
}

/// What may wait for its end: the last tools that were used, and the answer of the model that is under way.
#[derive(Debug, Default)]
pub struct Pending {
    tools: VecDeque<Used>,
    turn: Option<String>,
}

#[derive(Debug, Clone)]
struct Used {
    id: String,
    tool: String,
    path: Option<String>,
    denied: bool,
}

/// How many tools may be at work at once.
const PENDING_MAX: usize = 64;

impl Pending {
    fn begin(&mut self, id: &str, tool: &str, path: Option<&str>) {
        if self.tools.len() == PENDING_MAX {
            self.tools.pop_front();
        }
        let used = Used { id: id.to_owned(), tool: tool.to_owned(), path: path.map(str::to_owned), denied: false };
        self.tools.push_back(used);
    }

    /// Notes that something of an answer came, by what tells this answer from others; the turn, where that begins it.
    fn answers(&mut self, id: &str) -> Option<WorkerEvent> {
        let begins = self.turn.as_deref() != Some(id);
        self.turn = Some(id.to_owned());
        begins.then_some(WorkerEvent::Turn)
    }

    /// Notes that a tool ended: what the model says after that is another answer.
    fn answered(&mut self) {
        self.turn = None;
    }

    fn get(&mut self, id: &str) -> Option<&mut Used> {
        self.tools.iter_mut().rev().find(|used| used.id == id)
    }

    /// Notes that a tool was denied; none when that was said before.
    fn deny(&mut self, id: &str, tool: &str, path: Option<&str>) -> Option<WorkerEvent> {
        if self.get(id).is_none() {
            self.begin(id, tool, path);
        }
        let used = self.get(id)?;
        (!std::mem::replace(&mut used.denied, true))
            .then(|| WorkerEvent::Denied { tool: used.tool.clone(), path: used.path.clone() })
    }
}

/// The text at the end of a way.
fn text<'v>(value: &'v Value, way: &[&str]) -> Option<&'v str> {
    at(value, way)?.as_str()
}

fn at<'v>(value: &'v Value, way: &[&str]) -> Option<&'v Value> {
    way.iter().try_fold(value, |value, key| value.get(key))
}

fn number(value: &Value, way: &[&str]) -> Option<u64> {
    at(value, way)?.as_u64()
}

/// A number that counts a whole session, as what one call added to it.
fn since(raw: &Value, before: PreviousUsage<'_>, way: &[&str]) -> Option<u64> {
    match before {
        PreviousUsage::Fresh => number(raw, way),
        PreviousUsage::Resumed(before) => number(raw, way)?.checked_sub(number(before?, way)?),
    }
}

/// The items of a list at the end of a way.
fn items<'v>(value: &'v Value, way: &[&str]) -> impl Iterator<Item = &'v Value> {
    at(value, way).and_then(Value::as_array).into_iter().flatten()
}

/// Whether what went wrong is, by its words, that a limit of a plan or a provider is reached. Those who say it by a number of its own need no words.
fn names_a_limit(what: &str) -> bool {
    const WORDS: [&str; 5] = ["quota", "rate limit", "usage limit", "resource_exhausted", "too many requests"];
    let lower = what.to_lowercase();
    WORDS.iter().any(|words| lower.contains(words))
        || lower.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "429")
}

/// An error in words: where it holds a JSON object, the message in that stands for the object.
fn in_words(what: &str) -> String {
    let object = || {
        let (start, end) = (what.find('{')?, what.rfind('}')?);
        let value: Value = serde_json::from_str(what.get(start..=end)?).ok()?;
        let ways: [&[&str]; 3] = [&["error", "message"], &["message"], &["error"]];
        let message = ways.into_iter().find_map(|way| text(&value, way))?;
        Some(format!("{}{}{}", &what[..start], in_words(message), &what[end + 1..]))
    };
    object().unwrap_or_else(|| what.to_owned())
}

/// More than any session costs: who tells of more has told nothing.
const DOLLARS_MAX: f64 = 1e6;

/// Dollars as billionths; what is no amount is unknown.
fn nano_usd(value: &Value, way: &[&str]) -> Option<u64> {
    let dollars = at(value, way)?.as_f64().filter(|dollars| (0.0..DOLLARS_MAX).contains(dollars))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was looked at")]
    Some((dollars * 1e9).round() as u64)
}
