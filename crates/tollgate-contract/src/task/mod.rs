//! `build-plan.task@1`: a task file whose Definition of Done becomes criteria.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::commands::command_of;
use crate::defined::layout::Outline;
use crate::diagnostics::Sink;
use crate::extract::{Heads, Looks};
use crate::markdown;
use crate::text::{Source, is_title, one_line, quote, repeated};
use crate::{Context, Declaration, DocumentDialect, DocumentReading, Format};
use reader::Reader;
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place};
use tollgate_core::id::UnitId;
use tollgate_core::protocol::Brought;
use tollgate_core::report::{CriterionRow, Plan, UnitReport};
use tollgate_core::words;

mod invisible_characters;
mod reader;
mod scope;
#[cfg(test)]
mod tests;

const SECTION: &str = "Definition of Done";

const INSTRUCTIONS: &str = "\
Write the task in Markdown, outside any code fence. What counts is under one heading `## Definition of Done`; the rest is for people.

- Each item of a list there is a row: one thing that must be true when the work is done. Rows are `DoD-1`, `DoD-2`, … in their order.
- A row that a command can show ends with it, in code quotes: `cmd: program arguments`. One that may be flaky has `repeat: N` after it, 2 to 100.
- Rows of one side are under `### Backend` or `### Frontend`, rows of both under `### Shared`, rows for the tester under `### Tester scope`.
- Under a side, a line `Scope:` names the paths that it may change, as patterns in code quotes; those of two sides do not overlap.
";

const TEMPLATE: &str = "\
# <what is to be done>

<why, and what to know before>

## Definition of Done
- [ ] <what must be true of the whole> `cmd: <program arguments>`

### Backend
Scope: `<path/**>`

- [ ] <what must be true of this side>

### Frontend
Scope: `<path/**>`

- [ ] <what must be true of this side>

### Shared
- [ ] <what concerns both sides>

### Tester scope
- [ ] <what the tester shows> `cmd: <program arguments>`
";

/// The dialect.
#[derive(Debug)]
pub struct Task;

/// Where a row of the Definition of Done stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// `### Backend`.
    Backend,
    /// `### Frontend`.
    Frontend,
    /// `### Shared`.
    Shared,
    /// `### Tester scope`.
    TesterScope,
}

words!(Part { Backend = "Backend", Frontend = "Frontend", Shared = "Shared", TesterScope = "Tester scope" });

impl Part {
    /// The side whose rows these are.
    const fn side(self) -> Option<&'static str> {
        match self {
            Self::Backend => Some("backend"),
            Self::Frontend => Some("frontend"),
            Self::Shared | Self::TesterScope => None,
        }
    }

    /// The part that a sub-heading names, perhaps with a remark in brackets.
    fn find(title: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| is_title(part.word(), title))
    }
}

/// One row of the Definition of Done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// What must be true.
    pub text: String,
    /// The sub-heading it stands under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// The command that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How often the command is run on the same content, to find out whether it is flaky; once without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
}

/// A task file as data; its other sections are for people.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// The rows, in order.
    pub rows: Vec<Row>,
    /// The paths a side may change, as patterns.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scopes: BTreeMap<Part, Vec<String>>,
}

impl Format for Task {
    fn id(&self) -> &str {
        "build-plan.task@1"
    }

    fn looks(&self, context: &Context) -> Looks {
        Looks {
            markdown: Some(Heads::Sections(vec![vec![SECTION.into()]])),
            example: include_str!("../../../../docs/contracts/examples/build-plan.task.md").to_owned(),
            lacks: format!("it has no `## {SECTION}` heading"),
            begin: format!("write a section `## {SECTION}`"),
            shown: vec![self.template(context), self.instructions(context)],
            ..Looks::default()
        }
    }

    fn render(&self, document: &serde_json::Value) -> Result<String, String> {
        let document: Document = serde_json::from_value(document.clone()).map_err(|error| error.to_string())?;
        let text = write(&document);
        let mut sink = Sink::default();
        let (read, _) = parse(&Source::new(&text), &mut sink);
        let same = read == document && !sink.refused();
        same.then_some(text).ok_or_else(|| "a row or a scope would not be read back as it is".to_owned())
    }

    fn template(&self, _: &Context) -> String {
        TEMPLATE.to_owned()
    }

    fn instructions(&self, _: &Context) -> String {
        format!("{INSTRUCTIONS}\n```markdown\n{TEMPLATE}```\n")
    }

    fn schema(&self) -> serde_json::Value {
        crate::schema_of::<Document>(self.id())
    }
}

impl DocumentDialect for Task {
    fn declaration(&self) -> Declaration {
        Declaration {
            brings: vec![Brought::Units, Brought::Criteria],
            unit_parts: Some(vec!["scope".into(), "criteria".into()]),
            words: [("group".into(), vec!["dod".into(), "tester".into()])].into(),
            ..Declaration::default()
        }
    }

    fn read(&self, text: &str, context: &Context) -> DocumentReading {
        let source = Source::new(text);
        let mut sink = Sink::default();
        let (document, places) = parse(&source, &mut sink);
        let plan = plan(&source, document, &places, context, &mut sink);
        let sides = context.sides.iter().flatten();
        let said = places.scopes.iter().filter_map(|(part, place)| Some((Name::from(part.side()?), *place)));
        let scopes = said.collect();
        let places = sides.map(|side| (side.clone(), places.of(side))).collect();
        DocumentReading { plan, fields: BTreeMap::new(), places, scopes, diagnostics: sink.finish() }
    }
}

/// The text of a row and the command that its end names, when it names one; and how often that is run, as it is written.
pub fn split_command(row: &str) -> Option<(&str, &str, Option<&str>)> {
    let (row, repeat) = split_repeat(row).map_or((row, None), |(row, repeat)| (row, Some(repeat)));
    let (text, quoted) = split_quoted(row)?;
    Some((text, command_of(quoted)?, repeat))
}

/// A text and how often the code quotes at its end say that a command is run.
fn split_repeat(text: &str) -> Option<(&str, &str)> {
    let (text, quoted) = split_quoted(text)?;
    Some((text, quoted.trim_start().strip_prefix("repeat:")?.trim()))
}

/// A text and what is in the code quotes at its end.
fn split_quoted(text: &str) -> Option<(&str, &str)> {
    let inside = text.trim_end().strip_suffix('`')?;
    let start = memchr::memrchr(b'`', inside.as_bytes())?;
    Some((inside[..start].trim_end(), &inside[start + 1..]))
}

/// Whether the words of a heading are the section's name.
fn is_section(title: &str) -> bool {
    one_line(title).trim_end_matches(':').trim_end().eq_ignore_ascii_case(SECTION)
}

/// Where the rows and scopes of a document stand.
#[derive(Debug, Default)]
struct Places {
    whole: Place,
    /// By their offsets: lines are counted for those that are asked for.
    rows: Vec<usize>,
    headings: BTreeMap<Part, Place>,
    scopes: BTreeMap<Part, Place>,
}

impl Places {
    /// Where a side's scope is said; without one, where it would be.
    fn of(&self, side: &str) -> Place {
        let part = Part::ALL.into_iter().find(|part| part.side() == Some(side));
        let found = part.and_then(|part| self.scopes.get(&part).or_else(|| self.headings.get(&part)));
        found.copied().unwrap_or(self.whole)
    }
}

fn parse(source: &Source<'_>, sink: &mut Sink) -> (Document, Places) {
    let mut document = Document::default();
    let mut places = Places::default();
    if let Some(refused) = markdown::refused(source.text()) {
        crate::refuse(source, refused, sink);
        return (document, places);
    }
    let (text, outline) = (source.text(), Outline::of(source.text()));
    let mut named = outline.heads.iter().filter(|head| is_section(&text[head.title.clone()]));
    let Some(head) = named.clone().find(|head| head.level == 2) else {
        let message = format!("there is no `## {SECTION}`");
        // One of another level is meant as it.
        let place = named.next().map_or(Place::START, |head| source.place(head.range.start));
        sink.error(Code::TASK_NO_ROWS, place, message, format!("add `## {SECTION}` with a list item per row"));
        return (document, places);
    };
    let next = outline.heads.iter().find(|next| next.range.start > head.range.start && next.level <= 2);
    let region = head.range.end..next.map_or(text.len(), |next| next.range.start);
    let place = source.place(head.range.start);
    places.whole = place;
    reader::outside(source, &outline, &region, head.range.start, sink);
    let (document_ref, places_ref) = (&mut document, &mut places);
    Reader { source, outline: &outline, sink, document: document_ref, places: places_ref, part: None, listing: None }
        .read(&region);
    if document.rows.is_empty() && !sink.refused() {
        let message = format!("`## {SECTION}` has no rows");
        sink.error(Code::TASK_NO_ROWS, place, message, "add a list item per row");
    }
    (document, places)
}

/// What the rows mean in a run of these sides; without sides every row is the run's.
fn plan(source: &Source<'_>, document: Document, places: &Places, context: &Context, sink: &mut Sink) -> Plan {
    let sides = context.sides.as_deref();
    let mut plan = Plan::default();
    let place = |at: usize| places.rows.get(at).map_or_else(Place::default, |offset| source.place(*offset));
    for (at, first) in repeated(document.rows.iter().map(|row| &*row.text)) {
        let message = format!("the row {} is there twice", quote(&document.rows[at].text));
        let warning = Diagnostic::warning(Code::TASK_ROW, place(at), message).other(place(first));
        sink.push(warning.hint("reports can then name it by its id only"));
    }
    let (dod, tester) = (Name::from("dod"), Name::from("tester"));
    plan.criteria.reserve(document.rows.len());
    let mut id = String::new();
    for (at, row) in document.rows.into_iter().enumerate() {
        id.clear();
        // Writing to a string never fails.
        let _ = write!(id, "DoD-{}", at + 1);
        let group = if row.part == Some(Part::TesterScope) { &tester } else { &dod };
        plan.criteria.push(CriterionRow {
            id: Name::from(id.as_str()),
            text: row.text,
            group: Some(group.clone()),
            unit: sides.and_then(|sides| owner(row.part, sides, || place(at), sink)).map(UnitId::from),
            requirement: None,
            command: row.command,
            repeat: row.repeat,
        });
    }
    for (part, scope) in &document.scopes {
        let side = part.side().and_then(|side| sides?.iter().find(|name| ***name == *side));
        if let Some(name) = side {
            let scope = scope.iter().map(|pattern| Name::from(pattern.as_str())).collect();
            plan.units.push(UnitReport { name: name.clone().into(), scope, ..UnitReport::default() });
        }
    }
    plan
}

/// The side a row belongs to; none: the run.
fn owner(part: Option<Part>, sides: &[Name], place: impl Fn() -> Place, sink: &mut Sink) -> Option<Name> {
    if part == Some(Part::TesterScope) {
        return None;
    }
    let Some(side) = part.and_then(Part::side) else {
        return match sides {
            [only] => Some(only.clone()),
            _ => None,
        };
    };
    let found = sides.iter().find(|name| ***name == *side).cloned();
    if found.is_none() {
        let message = format!("the row belongs to the side `{side}`, which does not run");
        let runs: Vec<String> = sides.iter().map(|name| format!("`{name}`")).collect();
        let runs = if runs.is_empty() { "no side".to_owned() } else { runs.join(", ") };
        sink.error(Code::TASK_SIDE, place(), message, format!("sides that run: {runs}; move the row or add the side"));
    }
    found
}

fn write(document: &Document) -> String {
    let mut text = format!("## {SECTION}\n");
    let mut part = None;
    let mut scoped: Vec<Part> = Vec::new();
    let mut open = |text: &mut String, next: Part| {
        text.push_str(&format!("\n### {}\n", next.word()));
        if let Some(patterns) = document.scopes.get(&next).filter(|_| !scoped.contains(&next)) {
            let quoted: Vec<String> = patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
            text.push_str(&format!("Scope: {}\n\n", quoted.join(", ")));
            scoped.push(next);
        }
    };
    for row in &document.rows {
        if let Some(next) = row.part.filter(|_| row.part != part) {
            open(&mut text, next);
        }
        part = row.part;
        let command = row.command.as_ref().map(|command| format!(" `cmd: {command}`")).unwrap_or_default();
        let repeat = row.repeat.map(|times| format!(" `repeat: {times}`")).unwrap_or_default();
        text.push_str(&format!("- {}{command}{repeat}\n", row.text));
    }
    for next in document.scopes.keys().filter(|next| document.rows.iter().all(|row| row.part != Some(**next))) {
        open(&mut text, *next);
    }
    text
}
