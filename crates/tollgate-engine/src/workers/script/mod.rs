//! The script worker: acts out a file that says, per role and iteration, what to write, what to report, how to misbehave.
//!
//! It runs as a process of its own (`tollgate worker-script --script FILE`) behind the `command` adapter, so that what a
//! script does wrong is done for real. The schema of the file is docs/schemas/script.schema.json.

mod player;
mod validation;

use std::collections::BTreeMap;
use std::path::{Component, Path};

use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place};
use tollgate_core::id::UnitId;
use tollgate_core::yaml::{self, Content, Fields, Node, Problems};

pub use player::run_script;

/// A script, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// What each role does, in the order of the file.
    pub roles: BTreeMap<Name, Vec<Entry>>,
}

/// What a role does in the attempts it matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The unit it is for; none: any.
    pub unit: Option<UnitId>,
    /// The stage it is for; none: any.
    pub stage: Option<Name>,
    /// The iteration it is for; none: any.
    pub iteration: Option<u32>,
    /// Files to write, relative to the work tree.
    pub write: Vec<(Name, Name)>,
    /// Files to delete.
    pub delete: Vec<Name>,
    /// Documents to hand over, relative to their folder: `NAME`, or `NAME/FILE` of a set.
    pub hand_over: Vec<(Name, Name)>,
    /// What to report.
    pub says: Option<ScriptedReport>,
    /// How to misbehave.
    pub misbehave: Option<Misbehaviour>,
    /// How long to wait first.
    pub delay_ms: u64,
    /// The exit code.
    pub exit: u8,
    /// Where the entry stands.
    pub place: Place,
}

/// What an entry reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptedReport {
    /// A document, to be written in the contract of the role.
    Report(serde_json::Value),
    /// A text as it is.
    Text(Name),
}

/// What a worker can do wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Misbehaviour {
    /// Kills itself after it wrote, with half a report.
    Crash,
    /// Never ends.
    Hang,
    /// Reports work that it did not do.
    Lie,
    /// Exits, and lets a process it left behind report after `delay_ms`.
    Late,
    /// Reports twice.
    Twice,
    /// Repeats the brief before it reports.
    Echo,
    /// Writes a file that no scope holds.
    Outside,
    /// Tries to decide for a person.
    Decide,
    /// Opens the database.
    Database,
}

impl Misbehaviour {
    /// Every word for it, and what it means.
    pub const WORDS: [(&'static str, Self); 9] = [
        ("crash", Self::Crash),
        ("hang", Self::Hang),
        ("lie", Self::Lie),
        ("late", Self::Late),
        ("twice", Self::Twice),
        ("echo", Self::Echo),
        ("outside", Self::Outside),
        ("decide", Self::Decide),
        ("database", Self::Database),
    ];
}

impl Script {
    /// Reads a script; everything that is wrong with it otherwise.
    pub fn read(text: &str) -> Result<Self, Vec<Diagnostic>> {
        let root = yaml::parse(text).map_err(|error| vec![error])?;
        let mut problems = Problems::default();
        let mut fields = Fields::open(&root, "the script", &mut problems);
        if let Some(version) = fields.need("script", &mut problems)
            && version.plain() != Some("1")
        {
            let message = "this is not a script of version 1";
            problems.add(Diagnostic::error(Code::SCRIPT_INVALID, version.place, message).hint("write `script: 1`"));
        }
        let mut roles = BTreeMap::new();
        if let Some(node) = fields.need("roles", &mut problems) {
            for (role, entries) in problems.entries(node, "`roles`") {
                let entries = problems.list(entries, "a role's entries").iter();
                let read: Vec<Entry> = entries.map(|entry| read_entry(entry, &mut problems)).collect();
                roles.insert(role.text.clone(), read);
            }
        }
        fields.close(&mut problems);
        if problems.has_errors() { Err(problems.into_list()) } else { Ok(Self { roles }) }
    }

    /// The first entry that matches an attempt.
    pub fn entry(&self, role: &str, unit: Option<&str>, stage: &str, iteration: u32) -> Option<&Entry> {
        self.roles.get(role)?.iter().find(|entry| {
            entry.unit.as_deref().is_none_or(|wanted| unit == Some(wanted))
                && entry.stage.as_deref().is_none_or(|wanted| wanted == stage)
                && entry.iteration.is_none_or(|wanted| wanted == iteration)
        })
    }
}

fn read_entry(node: &Node, problems: &mut Problems) -> Entry {
    let mut fields = Fields::open(node, "the entry", problems);
    let unit = fields.take("unit").and_then(|node| problems.text(node, "`unit`")).map(UnitId::from);
    let iteration = fields.take("iteration").and_then(|node| {
        let number = problems.number(node, "`iteration`");
        if number == Some(0) {
            problems.value(node.place, "iterations count from 1: this entry would never match", "write 1 or more");
        }
        number
    });
    let stage = fields.take("stage").and_then(|node| problems.text(node, "`stage`"));
    let write = fields.take("write").map(|node| read_files(node, "`write`", problems)).unwrap_or_default();
    let hand_over = fields.take("hand_over").map(|node| read_files(node, "`hand_over`", problems)).unwrap_or_default();
    let delete = fields.take("delete").map(|node| problems.texts(node, "`delete`")).unwrap_or_default();
    for (path, place) in &delete {
        check_path(path, *place, problems);
    }
    let report = fields.take("report");
    let text = fields.take("text");
    let says = match (report, text) {
        (Some(report), Some(text)) => {
            let error = Diagnostic::error(Code::SCRIPT_INVALID, report.place, "the entry has both `report` and `text`");
            problems.add(error.other(text.place).hint("keep one of them"));
            None
        }
        (Some(report), None) => {
            problems.entries(report, "`report`");
            Some(ScriptedReport::Report(json(report)))
        }
        (None, Some(text)) => problems.text(text, "`text`").map(ScriptedReport::Text),
        (None, None) => None,
    };
    let misbehave =
        fields.take("misbehave").and_then(|node| problems.word(node, "a way to misbehave", &Misbehaviour::WORDS));
    let delay_ms = fields.take("delay_ms").and_then(|node| problems.number(node, "`delay_ms`")).unwrap_or_default();
    let exit = fields.take("exit").and_then(|node| problems.number(node, "`exit`")).unwrap_or_default();
    fields.close(problems);
    let delete = delete.into_iter().map(|(path, _)| path).collect();
    Entry { unit, stage, iteration, write, delete, hand_over, says, misbehave, delay_ms, exit, place: node.place }
}

/// Paths and the texts of their files.
fn read_files(node: &Node, what: &str, problems: &mut Problems) -> Vec<(Name, Name)> {
    let mut files = Vec::new();
    for (path, text) in problems.entries(node, what) {
        check_path(&path.text, path.place, problems);
        // An empty value is an empty file.
        let text = text.text().cloned().or_else(|| (text.kind() == "nothing").then(|| "".into()));
        match text {
            Some(text) => files.push((path.text.clone(), text)),
            None => problems.value(path.place, "the content of a file is not text", "write it as text"),
        }
    }
    files
}

/// A script writes inside the work tree; `misbehave: outside` is how to do it wrong.
fn check_path(path: &str, place: Place, problems: &mut Problems) {
    let inside = Path::new(path).components().all(|component| matches!(component, Component::Normal(_)));
    if path.is_empty() || !inside {
        problems.value(
            place,
            format!("`{path}` is not a path inside the work tree"),
            "write it relative, without `..`",
        );
    }
}

/// A node as JSON: what is not quoted and looks like a number, a truth value or null is one.
fn json(node: &Node) -> serde_json::Value {
    use serde_json::Value;
    match &node.value {
        Content::Scalar { text, quoted: true } => Value::from(&**text),
        Content::Scalar { text, quoted: false } => match &**text {
            "" | "~" | "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            text => text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from),
        },
        Content::Seq(items) => items.iter().map(json).collect(),
        Content::Map(entries) => entries.iter().map(|(key, node)| (key.text.to_string(), json(node))).collect(),
    }
}

#[cfg(test)]
mod tests;
