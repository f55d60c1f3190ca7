//! What an agent said while it worked, summed up: what the journal keeps of it, and whether it failed whatever it says.

use serde_json::Value;
use tollgate_core::Name;
use tollgate_core::protocol::model::Budget;
use tollgate_core::run::agent_stats::{AgentStats, Quota, Usage};

use super::{Adapter, Pending, PreviousUsage, in_words, line_parser};

/// How many denials and errors are kept, and how long each may be.
const LINES_MAX: usize = 20;
const CHARS_MAX: usize = 500;
/// The longest account of usage in the agent's own words that is kept.
const RAW_BYTES_MAX: usize = 8 * 1024;
/// More tokens than any call uses: who tells of more has told nothing.
const TOKENS_MAX: u64 = 1_000_000_000_000;
/// The longest name of a session, a model or a version.
const NAME_MAX: usize = 128;

/// What a line of an agent says.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkerEvent {
    /// The session it works in.
    Session(String),
    /// The model it asks.
    Model(String),
    /// Its own version.
    Version(String),
    /// A message.
    Text(String),
    /// A piece of a message, which goes on in the next line that says one.
    Piece(String),
    /// The line has this field with an object that its program forced it to fill in by a schema.
    Structured(&'static str),
    /// It uses a tool: on a file, or with a command.
    Tool { name: String, about: Option<String> },
    /// It says that it changed a file.
    File(String),
    /// Its own guard did not let it use a tool.
    Denied { tool: String, path: Option<String> },
    /// Something went wrong and may be tried again.
    Trouble(String),
    /// Its last answer ended before it was whole.
    Unfinished(&'static str),
    /// It gave up, whatever it exits with.
    Failed { what: String, status: Option<u64> },
    /// A limit of its plan or provider is reached.
    Quota { said: String, resets_ms: Option<u64> },
    /// Its model begins to answer once more.
    Turn,
    /// What that answer used so far, where it says so before its end.
    Step(Usage),
    /// What it used, in its own words.
    Usage(Value),
    /// Its last message.
    Final(String),
}

impl WorkerEvent {
    pub(super) fn session(id: &str) -> Self {
        Self::Session(id.to_owned())
    }

    pub(super) fn model(name: &str) -> Self {
        Self::Model(name.to_owned())
    }

    pub(super) fn version(name: &str) -> Self {
        Self::Version(name.to_owned())
    }

    pub(super) fn said(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    pub(super) fn piece(text: &str) -> Self {
        Self::Piece(text.to_owned())
    }

    pub(super) fn trouble(what: &str) -> Self {
        Self::Trouble(what.to_owned())
    }

    pub(super) fn tool(name: &str, about: Option<&str>) -> Self {
        Self::Tool { name: name.to_owned(), about: about.map(str::to_owned) }
    }
}

/// Why an agent failed, by its own lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFailure {
    /// `quota` or `agent`.
    pub code: &'static str,
    /// In one sentence.
    pub reason: String,
}

/// Reads the lines of one call and sums them up.
#[derive(Debug)]
pub struct Tally {
    adapter: &'static Adapter,
    /// The account before this call, where it went on in a session.
    resumed: Option<Option<Value>>,
    /// The session that it was to go on in.
    session: Option<Name>,
    /// The account of this call.
    raw: Option<Value>,
    /// What its answers used since then before the one under way, and what that one used so far.
    steps: Option<Usage>,
    step: Option<Usage>,
    pub(super) pending: Pending,
    told: AgentStats,
    failed: Option<String>,
    /// Whether it said or did anything.
    spoke: bool,
    /// Whether it told its session.
    named: bool,
    /// Whether a line could not be read: what it used is unknown then.
    unread: bool,
}

impl Tally {
    /// An account of a call that begins a session, or goes on in one: with what was told at its last end.
    pub fn new(adapter: &'static Adapter, goes_on: Option<&AgentStats>) -> Self {
        let told = AgentStats { adapter: adapter.name.into(), ..AgentStats::default() };
        let resumed = goes_on.map(|told| serde_json::from_str(told.raw.as_deref()?).ok());
        let session = goes_on.and_then(|told| told.session.clone());
        let (steps, step, failed) = (None, None, None);
        Self {
            adapter,
            resumed,
            session,
            raw: None,
            steps,
            step,
            pending: Pending::default(),
            told,
            failed,
            spoke: false,
            named: false,
            unread: false,
        }
    }

    /// The session that it told, as it is noted.
    pub(super) fn session(&self) -> Option<String> {
        self.told.session.as_ref().map(|session| format!("{} {session}\n", self.adapter.name))
    }

    /// What one line says.
    pub fn read(&mut self, line: &[u8]) -> Vec<WorkerEvent> {
        let mut events = Vec::new();
        match line_parser::read(line, self.adapter.wants) {
            Some(line) => (self.adapter.read)(&line, &mut self.pending, &mut events),
            None => self.passes_over(line),
        }
        events
    }

    /// Takes a line that is not read, by how it begins.
    pub(super) fn passes_over(&mut self, line: &[u8]) {
        self.unread |= line_parser::is_meant(line);
    }

    /// Takes one line.
    pub fn line(&mut self, line: &[u8]) {
        for event in self.read(line) {
            self.take(event);
        }
    }

    /// Takes one event.
    pub fn take(&mut self, event: WorkerEvent) {
        let told = &mut self.told;
        match event {
            // It tells it before it runs anything: whatever is told later may come from what it runs.
            WorkerEvent::Session(_) if std::mem::replace(&mut self.named, true) => {}
            WorkerEvent::Session(id) => told.session = Some(id).filter(|id| is_session(id)).map(Into::into),
            WorkerEvent::Model(name) => told.model = Some(cut(&name, NAME_MAX).into()),
            WorkerEvent::Version(name) => told.version = Some(cut(&name, NAME_MAX).into()),
            WorkerEvent::Denied { tool, path } => {
                let what = path.map_or_else(|| tool.clone(), |path| format!("{tool} {path}"));
                keep(&mut told.denied, &what);
            }
            WorkerEvent::Trouble(what) => keep(&mut told.errors, &in_words(&what)),
            WorkerEvent::Unfinished(what) => keep(&mut told.errors, what),
            WorkerEvent::Failed { what, status } => {
                let what = in_words(&what);
                // It told of the same before it gave up, without the status.
                told.errors.pop_if(|last| *last == one_line(&cut(&what, CHARS_MAX)));
                let what = status.map_or_else(|| what.clone(), |status| format!("{what} (status {status})"));
                keep(&mut told.errors, &what);
                self.failed = Some(cut(&what, CHARS_MAX));
            }
            WorkerEvent::Quota { said, resets_ms } => {
                // The one with a time is worth more, whichever came first.
                if resets_ms.is_some() || told.quota.as_ref().is_none_or(|quota| quota.resets_ms.is_none()) {
                    told.quota = Some(Quota { said: cut(&in_words(&said), CHARS_MAX), resets_ms });
                }
            }
            WorkerEvent::Turn => {
                told.turns = Some(told.turns.unwrap_or(0).saturating_add(1));
                if let Some(step) = self.step.take() {
                    self.steps = Some(self.steps.map_or(step, |steps| steps.and(step)));
                }
            }
            WorkerEvent::Step(usage) => self.step = Some(usage),
            WorkerEvent::Usage(mut raw) => {
                let mut before = self.raw.take().unwrap_or_default();
                for part in self.adapter.adds {
                    if let (Some(before), Some(next)) = (before.get_mut(part), raw.get_mut(part)) {
                        *next = added(before.take(), next);
                    }
                }
                // What its answers used until now is counted there.
                (self.raw, self.steps, self.step) = (Some(raw), None, None);
            }
            WorkerEvent::Text(_)
            | WorkerEvent::Piece(_)
            | WorkerEvent::Structured(_)
            | WorkerEvent::Tool { .. }
            | WorkerEvent::File(_)
            | WorkerEvent::Final(_) => {
                self.spoke = true;
            }
        }
    }

    /// What it told to have used so far: by its account, and since the last one by its steps; nothing where it tells that at its end.
    fn usage(&self) -> Usage {
        let before = match &self.resumed {
            None => PreviousUsage::Fresh,
            // Under another name it counts from nobody knows where.
            Some(_) if self.told.session.is_some() && self.told.session != self.session => PreviousUsage::Resumed(None),
            Some(before) => PreviousUsage::Resumed(before.as_ref()),
        };
        let counted = self.raw.as_ref().map(|raw| (self.adapter.spent)(raw, before));
        let told = [counted, self.steps, self.step].into_iter().flatten().reduce(Usage::and).unwrap_or_default();
        let tokens = |told: Option<u64>| told.filter(|tokens| *tokens <= TOKENS_MAX);
        Usage {
            input_tokens: tokens(told.input_tokens),
            cached_tokens: tokens(told.cached_tokens),
            output_tokens: tokens(told.output_tokens),
            ..told
        }
    }

    /// Whether it told to have used more than it may.
    pub(super) fn is_over(&self, allowed: &Budget) -> bool {
        let usage = self.usage();
        allowed.turns.zip(self.told.turns).is_some_and(|(most, took)| took > most)
            || allowed.tokens.is_some_and(|most| usage.tokens().known > most)
            || allowed.cost_nano_usd.zip(usage.cost_nano_usd).is_some_and(|(most, used)| used > most)
    }

    /// Whether it ended before it said or did anything, and not for want of a quota.
    pub fn is_silent(&self) -> bool {
        !self.spoke && self.told.quota.is_none()
    }

    /// What was told, and whether it failed by its own lines; an exit that is not clean makes a quota a failure too.
    pub fn end(mut self, clean: bool) -> (AgentStats, Option<AgentFailure>) {
        self.told.usage = if self.unread { Usage::default() } else { self.usage() };
        self.told.raw = self.raw.map(|raw| raw.to_string()).filter(|raw| raw.len() <= RAW_BYTES_MAX);
        let failure = match (&self.told.quota, self.failed) {
            (Some(quota), failed) if failed.is_some() || !clean => {
                Some(AgentFailure { code: "quota", reason: format!("its quota is used up: {}", one_line(&quota.said)) })
            }
            (_, Some(what)) => {
                Some(AgentFailure { code: "agent", reason: format!("its agent gave up: {}", one_line(&what)) })
            }
            (_, None) => None,
        };
        (self.told, failure)
    }
}

/// Whether a text can be an argument that names a session: what an agent prints is not to be trusted with more.
pub(super) fn is_session(id: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !id.is_empty() && id.len() <= NAME_MAX && !id.starts_with('-') && id.chars().all(plain)
}

fn keep(lines: &mut Vec<String>, line: &str) {
    if lines.len() == LINES_MAX {
        return;
    }
    let line = one_line(&cut(line, CHARS_MAX));
    if !lines.contains(&line) {
        lines.push(line);
    }
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Two accounts as one: numbers are added; what only one of them tells, or one tells to be less than nothing, is unknown.
fn added(before: Value, next: &Value) -> Value {
    match (before, next) {
        (Value::Number(a), Value::Number(b)) => match (a.as_u64(), b.as_u64()) {
            (Some(a), Some(b)) => a.checked_add(b).map_or(Value::Null, Value::from),
            _ => match (a.as_f64(), b.as_f64()) {
                (Some(a @ 0.0..), Some(b @ 0.0..)) => Value::from(a + b),
                _ => Value::Null,
            },
        },
        (Value::Object(before), Value::Object(next)) => {
            let both = before.into_iter().filter_map(|(key, value)| {
                let next = next.get(&key)?;
                Some((key, added(value, next)))
            });
            Value::Object(both.collect())
        }
        _ => Value::Null,
    }
}
