//! Reads a configuration file: every breach with its place, unknown keys with what was probably meant.

use std::ops::Range;

use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place};
use tollgate_core::run::budget::Measure;
use tollgate_core::run::sandbox_record::{Sandbox, Tracing};
use tollgate_core::scope::pattern_problem;
use tollgate_core::yaml::nearest;
use tollgate_engine::sandbox;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Adapter, Agent, Bounds, Choice, Layer, Worker};
use crate::format::list;

/// Nobody reads more at once, and finding the place of each costs a walk through the text.
const BREACHES_MAX: usize = 20;
/// Nothing that is left alone for longer is under anybody's eyes.
const MINUTES_MAX: u64 = 7 * 24 * 60;

/// What a file may say.
const KEYS: [&str; 14] = [
    "worker",
    "roles",
    "areas",
    "commands",
    "checks",
    "worktree",
    "sandbox",
    "tracing",
    "env",
    "reads",
    "example_secrets",
    "protected",
    "project",
    "budget",
];
/// What a project says about itself is a part of every brief.
const PROJECT_BYTES_MAX: usize = 4 * 1024;

type Entry<'a, 'i> = (&'a Spanned<std::borrow::Cow<'i, str>>, &'a Spanned<DeValue<'i>>);

/// Reads a file, or lists everything that is wrong with it.
pub fn read(text: &str) -> Result<Layer, Vec<Diagnostic>> {
    let mut reader = Reader { text, found: Vec::new() };
    let document = match DeTable::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let place = error.span().map_or_else(Place::default, |span| reader.place(&span));
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            return Err(vec![
                Diagnostic::error(Code::CONFIG, place, message)
                    .hint("the file is TOML; `tollgate init` writes one to start from"),
            ]);
        }
    };
    let layer = reader.document(document.get_ref());
    reader.found.sort_by_key(|diagnostic| diagnostic.place);
    if reader.found.is_empty() { Ok(layer) } else { Err(reader.found) }
}

pub(super) struct Reader<'t> {
    text: &'t str,
    found: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn document(&mut self, document: &DeTable<'_>) -> Layer {
        let mut layer = Layer::default();
        for (key, value) in document {
            match &**key.get_ref() {
                "worker" => self.each(value, "worker", |reader, name, value| {
                    if let Some(worker) = reader.worker(name, value) {
                        layer.workers.insert(name.get_ref().to_string(), worker);
                    }
                }),
                "roles" => self.each(value, "roles", |reader, role, value| {
                    if let Some(name) = reader.string(value) {
                        layer.roles.insert(role.get_ref().to_string(), Choice::Named(name));
                    }
                }),
                "areas" => self.each(value, "areas", |reader, protocol, value| {
                    let areas = layer.areas.entry(protocol.get_ref().to_string()).or_default();
                    reader.each(value, "areas.PROTOCOL", |reader, area, value| {
                        if let Some(patterns) = reader.patterns(value) {
                            areas.insert(area.get_ref().to_string(), patterns);
                        }
                    });
                }),
                "commands" => self.each(value, "commands", |reader, name, value| {
                    if let Some(argv) = reader.strings(value, "program and arguments") {
                        layer.commands.insert(name.get_ref().to_string(), argv);
                    }
                }),
                "sandbox" => layer.sandbox = self.sandbox(value),
                "tracing" => {
                    layer.tracing = self.word(value, "tracing", Tracing::parse, &Tracing::ALL.map(Tracing::word))
                }
                "env" => layer.env = self.variables(value).unwrap_or_default(),
                "reads" => layer.reads = self.places(value).unwrap_or_default(),
                "worktree" => layer.worktree = self.worktree(value),
                "checks" => self.each(value, "checks", |reader, key, value| match &**key.get_ref() {
                    "writes" => layer.checks.writes = reader.patterns(value).unwrap_or_default(),
                    _ => reader.unknown((key, value), "checks.", &["writes"]),
                }),
                "protected" => layer.protected = self.patterns(value).unwrap_or_default(),
                "project" => layer.project = self.project(value),
                "budget" => layer.budget = self.budget(value),
                "example_secrets" => layer.example_secrets = self.patterns(value).unwrap_or_default(),
                _ => {
                    self.unknown((key, value), "", &KEYS);
                }
            }
        }
        layer
    }

    fn worker(&mut self, name: &Spanned<std::borrow::Cow<'_, str>>, value: &Spanned<DeValue<'_>>) -> Option<Worker> {
        let before = self.found.len();
        let (mut adapter, mut command, mut agent, mut bounds) = (None, None, Agent::default(), Bounds::default());
        self.each(value, "worker.NAME", |reader, key, value| match &**key.get_ref() {
            "adapter" => adapter = reader.adapter(value),
            "command" => command = reader.strings(value, "program and arguments"),
            "model" => agent.model = reader.string(value),
            "minutes" => agent.minutes = reader.minutes(value),
            "idle_time" => agent.idle_ms = reader.limit(Measure::Time, value),
            "env" => agent.env = reader.variables(value).unwrap_or_default(),
            "pool" => agent.pool = reader.string(value),
            "args" => agent.args = reader.strings(value, "arguments").unwrap_or_default(),
            "sandbox" => bounds.sandbox = reader.sandbox(value),
            "reads" => bounds.reads = reader.places(value).unwrap_or_default(),
            "writes" => bounds.writes = reader.places(value).unwrap_or_default(),
            _ => {
                let known = [
                    "adapter",
                    "command",
                    "model",
                    "minutes",
                    "idle_time",
                    "env",
                    "args",
                    "pool",
                    "sandbox",
                    "reads",
                    "writes",
                ];
                reader.unknown((key, value), "worker.NAME.", &known);
            }
        });
        if self.found.len() > before {
            return None;
        }
        let wrong = |message: &str, hint: &str| Some((message.to_owned(), hint.to_owned()));
        let problem = match (adapter, &command) {
            (None, _) => wrong("this worker has no `adapter`", "add `adapter = \"command\"`"),
            (Some(Adapter::Agent(_)), Some(words)) if words.len() != 1 => {
                wrong("the `command` of an agent is its program alone", "write its arguments as `args = [\"…\"]`")
            }
            (Some(Adapter::Agent(adapter)), None) if adapter.program.is_none() => wrong(
                "this worker has no `command`, and its adapter knows no program",
                "add `command = [\"PROGRAM\"]`, and its arguments as `args = [\"…\"]`",
            ),
            (Some(Adapter::Agent(_)), _) => None,
            (Some(_), None) => wrong("this worker has no `command`", "add `command = [\"PROGRAM\", \"ARGUMENT\"]`"),
            (Some(Adapter::Script), Some(words)) if words.len() != 1 => {
                wrong("a script worker's `command` is one file", "write `command = [\"FILE.yaml\"]`")
            }
            (Some(_), Some(_)) if (Agent { env: Vec::new(), ..agent.clone() }) != Agent::default() => wrong(
                "`model`, `minutes`, `idle_time`, `args` and `pool` work only with agent adapters",
                "leave them out, or name the adapter of an agent",
            ),
            (Some(_), Some(_)) => None,
        };
        if let Some((message, hint)) = problem {
            return self.breach(&name.span(), Code::CONFIG, message, hint);
        }
        match (adapter?, command) {
            (Adapter::Agent(adapter), None) => Some(Worker { agent, bounds, ..Worker::agent(adapter)? }),
            (adapter, command) => Some(Worker { adapter, command: command.unwrap_or_default(), agent, bounds }),
        }
    }

    fn sandbox(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Sandbox> {
        self.word(value, "sandbox", Sandbox::parse, &Sandbox::ALL.map(Sandbox::word))
    }

    /// One word of a closed list.
    fn word<T>(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        what: &str,
        parse: impl Fn(&str) -> Option<T>,
        known: &[&str],
    ) -> Option<T> {
        let word = self.string(value)?;
        parse(&word).or_else(|| {
            let hint = format!("write one of {}", list(known));
            self.breach(&value.span(), Code::CONFIG, format!("there is no {what} `{word}`"), hint)
        })
    }

    fn places(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Vec<String>> {
        let places = self.strings(value, "places")?;
        match places.iter().find(|place| sandbox::place(place).is_none()) {
            None => Some(places),
            Some(place) => {
                let message = format!("`{place}` is no whole path");
                self.breach(&value.span(), Code::CONFIG, message, "write it like `\"/srv/cache\"` or `\"~/.m2\"`")
            }
        }
    }

    fn minutes(&mut self, value: &Spanned<DeValue<'_>>) -> Option<u64> {
        let number =
            value.get_ref().as_integer().and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok());
        number.filter(|minutes| (1..=MINUTES_MAX).contains(minutes)).or_else(|| {
            let message = "this is no number of minutes";
            self.breach(&value.span(), Code::CONFIG, message, format!("write a whole number from 1 to {MINUTES_MAX}"))
        })
    }

    fn variables(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Vec<String>> {
        let names = self.strings(value, "names of variables")?;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_name = |name: &str| !name.is_empty() && name.chars().all(plain);
        match names.iter().find(|name| !is_name(name.strip_suffix('*').unwrap_or(name))) {
            None => Some(names),
            Some(name) => {
                let message = format!("`{name}` is no name of a variable");
                self.breach(&value.span(), Code::CONFIG, message, "write it like `\"MY_KEY\"` or `\"MY_*\"`")
            }
        }
    }

    fn adapter(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Adapter> {
        let word = self.string(value)?;
        Adapter::parse(&word).or_else(|| {
            let known: Vec<&str> = Adapter::all().map(Adapter::word).collect();
            let hint = nearest(&word, known.iter().copied())
                .map_or_else(|| format!("there are {}", list(&known)), |near| format!("did you mean `{near}`?"));
            self.breach(&value.span(), Code::CONFIG, format!("there is no adapter `{word}`"), hint)
        })
    }

    /// Walks the entries of a table; anything else is a breach.
    pub(super) fn each<'v, 'i>(
        &mut self,
        value: &'v Spanned<DeValue<'i>>,
        what: &str,
        mut entry: impl FnMut(&mut Self, &'v Spanned<std::borrow::Cow<'i, str>>, &'v Spanned<DeValue<'i>>),
    ) {
        match value.get_ref().as_table() {
            Some(table) => table.iter().for_each(|(key, value)| {
                if key.get_ref().is_empty() {
                    self.breach::<()>(&key.span(), Code::CONFIG, "a name must not be empty", "give it a name");
                } else {
                    entry(self, key, value);
                }
            }),
            None => {
                let message = format!("`{what}` is a table, not {}", kind(value.get_ref()));
                self.breach::<()>(
                    &value.span(),
                    Code::CONFIG,
                    message,
                    format!("write it as `[{what}]` with an entry a line"),
                );
            }
        }
    }

    fn string(&mut self, value: &Spanned<DeValue<'_>>) -> Option<String> {
        match value.get_ref().as_str() {
            Some(text) if !text.trim().is_empty() => Some(text.to_owned()),
            Some(_) => self.breach(&value.span(), Code::CONFIG, "this text must not be empty", "write a name"),
            None => self.breach(
                &value.span(),
                Code::CONFIG,
                format!("this is {}, not a text", kind(value.get_ref())),
                "write it in quotes",
            ),
        }
    }

    fn project(&mut self, value: &Spanned<DeValue<'_>>) -> Option<String> {
        let text = self.string(value)?;
        if text.len() <= PROJECT_BYTES_MAX {
            return Some(text);
        }
        let message = format!("this text has {} bytes, and {PROJECT_BYTES_MAX} are allowed", text.len());
        self.breach(&value.span(), Code::CONFIG, message, "keep what every role needs; the rest belongs into AGENTS.md")
    }

    pub(super) fn patterns(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Vec<String>> {
        let patterns = self.strings(value, "patterns")?;
        for pattern in &patterns {
            if let Some(problem) = pattern_problem(pattern) {
                let message = format!("the pattern `{pattern}` {problem}");
                return self.breach(&value.span(), Code::CONFIG, message, "write it like `\"tests/**\"`".to_owned());
            }
        }
        Some(patterns)
    }

    pub(super) fn strings(&mut self, value: &Spanned<DeValue<'_>>, what: &str) -> Option<Vec<String>> {
        let hint = format!("write {what} as `[\"…\", \"…\"]`");
        match value.get_ref().as_array() {
            Some(items) if items.iter().len() > 0 => {
                // Only the first may name what to look for; the others may be empty arguments.
                let first = self.string(items.iter().next()?)?;
                let mut all = vec![first];
                for item in items.iter().skip(1) {
                    match item.get_ref().as_str() {
                        Some(text) => all.push(text.to_owned()),
                        None => {
                            return self.breach(
                                &item.span(),
                                Code::CONFIG,
                                format!("this is {}, not a text", kind(item.get_ref())),
                                hint,
                            );
                        }
                    }
                }
                Some(all)
            }
            Some(_) => self.breach(&value.span(), Code::CONFIG, "this list must not be empty", hint),
            None => self.breach(
                &value.span(),
                Code::CONFIG,
                format!("this is {}, not a list of texts", kind(value.get_ref())),
                hint,
            ),
        }
    }

    pub(super) fn unknown(&mut self, (key, _): Entry<'_, '_>, within: &str, known: &[&str]) {
        let name = &**key.get_ref();
        let hint = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", list(known)),
        };
        self.breach::<()>(&key.span(), Code::CONFIG_NAME, format!("there is no key `{within}{name}`"), hint);
    }

    pub(super) fn breach<T>(
        &mut self,
        span: &Range<usize>,
        code: Code,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Option<T> {
        if self.found.len() < BREACHES_MAX {
            self.found.push(Diagnostic::error(code, self.place(span), message).hint(hint));
        }
        None
    }

    fn place(&self, span: &Range<usize>) -> Place {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.bytes().filter(|byte| *byte == b'\n').count();
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count());
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX - 1) + 1;
        Place { line: number(line), column: number(column) }
    }
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
