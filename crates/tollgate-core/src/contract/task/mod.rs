//! `build-plan.task@1`: a task file whose Definition of Done becomes criteria.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::markdown::{self, BlockKind, Section, item_text};
use super::sink::Sink;
use super::text::{Source, clean, one_line, quote};
use super::{Context, DocumentDialect, DocumentReading};
use crate::Name;
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Place};
use crate::report::{CriterionRow, Plan, UnitReport};
use crate::scope::pattern_problem;

#[cfg(test)]
mod tests;

const SECTION: &str = "Definition of Done";

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

impl Part {
    const ALL: [Self; 4] = [Self::Backend, Self::Frontend, Self::Shared, Self::TesterScope];

    const fn title(self) -> &'static str {
        match self {
            Self::Backend => "Backend",
            Self::Frontend => "Frontend",
            Self::Shared => "Shared",
            Self::TesterScope => "Tester scope",
        }
    }

    /// The side whose rows these are.
    const fn side(self) -> Option<&'static str> {
        match self {
            Self::Backend => Some("backend"),
            Self::Frontend => Some("frontend"),
            Self::Shared | Self::TesterScope => None,
        }
    }

    /// The part whose name a sub-heading begins with.
    fn find(title: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| {
            let begins = title.get(..part.title().len()).is_some_and(|words| words.eq_ignore_ascii_case(part.title()));
            begins && !title[part.title().len()..].starts_with(char::is_alphanumeric)
        })
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

impl DocumentDialect for Task {
    fn id(&self) -> &str {
        "build-plan.task@1"
    }

    fn read(&self, text: &str, context: &Context) -> DocumentReading {
        let source = Source::new(text);
        let mut sink = Sink::default();
        let (document, places) = parse(&source, &mut sink);
        let plan = plan(&document, &places, context, &mut sink);
        let sides = context.sides.iter().flatten();
        let places = sides.map(|side| (side.clone(), places.of(side))).collect();
        DocumentReading { plan, fields: BTreeMap::new(), places, diagnostics: sink.finish() }
    }

    fn render(&self, document: &serde_json::Value) -> Result<String, String> {
        let document: Document = serde_json::from_value(document.clone()).map_err(|error| error.to_string())?;
        let text = write(&document);
        let mut sink = Sink::default();
        let (read, _) = parse(&Source::new(&text), &mut sink);
        let same = read == document && !sink.refused();
        same.then_some(text).ok_or_else(|| "a row or a scope would not be read back as it is".to_owned())
    }

    fn schema(&self) -> serde_json::Value {
        super::schema_of::<Document>(self.id())
    }
}

/// The text of a row and the command that its end names, when it names one.
pub fn split_command(row: &str) -> Option<(&str, &str)> {
    let inside = row.trim_end().strip_suffix('`')?;
    let start = inside.rfind('`')?;
    let command = inside[start + 1..].trim_start().strip_prefix("cmd:")?;
    Some((inside[..start].trim_end(), command.trim()))
}

/// Whether a text has a `cmd:` at the start of code quotes, however it is spelt.
fn quotes_command(text: &str) -> bool {
    let is_command = |inside: &str| {
        let word = inside.trim_start();
        let is_cmd = word.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("cmd"));
        is_cmd && word[3..].trim_start().starts_with(':')
    };
    let (mut rest, mut inside) = (text, false);
    while let Some(at) = rest.find('`') {
        rest = rest[at..].trim_start_matches('`');
        inside = !inside;
        if inside && is_command(rest) {
            return true;
        }
    }
    false
}

/// Whether a text has a `cmd:` in plain words, with something behind it.
fn names_command(text: &str) -> bool {
    let mut words = text.split_whitespace().map(|word| word.trim_start_matches(['(', '[', '*']));
    words.any(|word| word.eq_ignore_ascii_case("cmd:")) && words.next().is_some()
}

/// Where the rows and scopes of a document stand.
#[derive(Debug, Default)]
struct Places {
    whole: Place,
    rows: Vec<Place>,
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
    let sections = match markdown::outline(source) {
        Ok(sections) => sections,
        Err(refused) => {
            super::refuse(source, refused, sink);
            return (document, places);
        }
    };
    let is_section = |words: &str| words.trim_end_matches(':').trim_end().eq_ignore_ascii_case(SECTION);
    let title = |section: &&Section| is_section(&source.text()[section.title.clone()]);
    let mut found = sections.iter().filter(title);
    let Some(section) = found.next() else {
        let message = format!("there is no `## {SECTION}`");
        sink.error(Code::TASK_NO_ROWS, Place::default(), message, format!("add `## {SECTION}` with an item per row"));
        return (document, places);
    };
    let place = source.place(section.start);
    places.whole = place;
    for again in found {
        let message = format!("`## {SECTION}` is there twice");
        let error = Diagnostic::error(Code::SECTION_TWICE, source.place(again.start), message).other(place);
        sink.push(error.hint("put all rows under one"));
    }
    for block in sections.iter().flat_map(|section| &section.blocks) {
        let (BlockKind::Heading(words) | BlockKind::Underlined(words)) = &block.kind else { continue };
        if is_section(&source.text()[words.clone()]) {
            let message = format!("another heading says `{SECTION}`, and what stands below it is not read");
            let error = Diagnostic::error(Code::SECTION_TWICE, source.place(block.range.start), message).other(place);
            sink.push(error.hint(format!("put all rows under one `## {SECTION}`")));
        }
    }
    Reader { source, sink, document: &mut document, places: &mut places, part: None, in_scope: false }.read(section);
    if document.rows.is_empty() {
        let message = format!("`## {SECTION}` has no rows");
        sink.error(Code::TASK_NO_ROWS, place, message, "add a list item per row");
    }
    (document, places)
}

struct Reader<'a, 's> {
    source: &'a Source<'a>,
    sink: &'s mut Sink,
    document: &'s mut Document,
    places: &'s mut Places,
    part: Option<Part>,
    /// Whether items are patterns of a scope that was just announced.
    in_scope: bool,
}

impl Reader<'_, '_> {
    fn read(&mut self, section: &Section) {
        let text = self.source.text();
        for block in &section.blocks {
            match &block.kind {
                BlockKind::Heading(title) | BlockKind::Underlined(title) => {
                    self.heading(&text[title.clone()], self.source.place(block.range.start))
                }
                BlockKind::Item => {
                    let (item, start) = item_text(text, &block.range);
                    self.item(&item, self.source.place(start));
                }
                BlockKind::Paragraph | BlockKind::Html => {
                    let paragraph = clean(&text[block.range.clone()]);
                    let place = self.source.place(block.range.start);
                    if let Some(patterns) = scope_of(&paragraph) {
                        self.scope(patterns, place);
                        self.in_scope = true;
                    } else if quotes_command(&paragraph) {
                        let message = "a `cmd:` stands outside of any row and is not run";
                        self.sink.error(Code::TASK_COMMAND, place, message, "put it at the end of a list item");
                    }
                }
                BlockKind::Fence { .. } | BlockKind::Comment => {}
            }
        }
    }

    fn heading(&mut self, title: &str, place: Place) {
        self.in_scope = false;
        self.part = Part::find(title);
        if let Some(part) = self.part {
            self.places.headings.entry(part).or_insert(place);
        } else {
            let message = format!("{} is no part of a Definition of Done", quote(title));
            let names = Part::ALL.map(|part| format!("`{}`", part.title())).join(", ");
            let hint = format!(
                "begin the sub-heading with one of {names}; another section begins with `## `, a rule after an empty line"
            );
            self.sink.error(Code::TASK_HEADING, place, message, hint);
        }
    }

    fn item(&mut self, item: &str, place: Place) {
        let pattern =
            item.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')).filter(|inside| !inside.contains('`'));
        if let Some(pattern) = pattern.filter(|pattern| self.in_scope && !pattern.starts_with("cmd:")) {
            self.scope(vec![pattern.to_owned()], place);
            return;
        }
        self.in_scope = false;
        if let Some(patterns) = scope_of(item) {
            self.scope(patterns, place);
            return;
        }
        let unboxed =
            ["[ ]", "[x]", "[X]"].iter().find_map(|mark| item.strip_prefix(mark)).unwrap_or(item).trim_start();
        let (text, command) = split_command(unboxed).map_or((unboxed, None), |(text, command)| (text, Some(command)));
        if command.is_some_and(str::is_empty) {
            self.sink.error(
                Code::TASK_COMMAND,
                place,
                "the row names an empty command",
                "write `cmd: program arguments`, or leave it out",
            );
        } else if quotes_command(text) {
            let message = "a `cmd:` stands inside the row and would not be run";
            let hint = "end the row with one `cmd: program arguments` in single code quotes, with nothing behind it";
            self.sink.error(Code::TASK_COMMAND, place, message, hint);
        } else if command.is_none() && names_command(text) {
            let message = "this looks like a command and is not run: it is not in code quotes";
            self.sink.warning(Code::TASK_COMMAND, place, message, "end the row with `cmd: program arguments`");
        }
        let text = one_line(text);
        if text.is_empty() {
            self.sink.error(Code::TASK_ROW, place, "the row says nothing", "say what must be true");
            return;
        }
        self.document.rows.push(Row { text, part: self.part, command: command.map(one_line) });
        self.places.rows.push(place);
    }

    fn scope(&mut self, patterns: Vec<String>, place: Place) {
        for pattern in &patterns {
            if let Some(problem) = pattern_problem(pattern) {
                let message = format!("the pattern {} {problem}", quote(pattern));
                self.sink.error(Code::TASK_SCOPE, place, message, "write it like `src/api/**` or `web/`");
            }
        }
        match self.part.filter(|part| part.side().is_some()) {
            Some(part) => {
                self.places.scopes.entry(part).or_insert(place);
                self.document.scopes.entry(part).or_default().extend(patterns);
            }
            None => {
                let message = "a scope stands under no side";
                self.sink.error(Code::TASK_SCOPE, place, message, "put it under `### Backend` or `### Frontend`");
            }
        }
    }
}

/// The patterns of a text `Scope: …`: in code quotes, or divided by commas and white space.
fn scope_of(text: &str) -> Option<Vec<String>> {
    let bare = text.trim_start_matches('*');
    let rest = bare.get(..6).filter(|word| word.eq_ignore_ascii_case("scope:")).and(bare.get(6..))?;
    let rest = rest.strip_prefix("**").unwrap_or(rest);
    let quoted: Vec<String> = rest.split('`').skip(1).step_by(2).map(|word| word.trim().to_owned()).collect();
    let words = rest.split([',', ' ', '\t', '\n']).filter(|word| !matches!(*word, "-" | "*" | "+"));
    let patterns = if quoted.is_empty() { words.map(str::to_owned).collect() } else { quoted };
    Some(patterns.into_iter().filter(|pattern| !pattern.is_empty()).collect())
}

/// What the rows mean in a run of these sides; without sides every row is the run's.
fn plan(document: &Document, places: &Places, context: &Context, sink: &mut Sink) -> Plan {
    let sides = context.sides.as_deref();
    let mut plan = Plan::default();
    let mut seen: BTreeMap<&str, Place> = BTreeMap::new();
    for (at, row) in document.rows.iter().enumerate() {
        let place = places.rows.get(at).copied().unwrap_or_default();
        if let Some(first) = seen.insert(&row.text, place) {
            let message = format!("the row {} is there twice", quote(&row.text));
            let warning = Diagnostic::warning(Code::TASK_ROW, place, message).other(first);
            sink.push(warning.hint("reports can then name it by its id only"));
        }
        let tester = row.part == Some(Part::TesterScope);
        plan.criteria.push(CriterionRow {
            id: format!("DoD-{}", at + 1).into(),
            text: row.text.clone(),
            group: Some(if tester { "tester" } else { "dod" }.into()),
            unit: sides.and_then(|sides| owner(row.part, sides, place, sink)),
            requirement: None,
            command: row.command.clone(),
        });
    }
    for (part, scope) in &document.scopes {
        let side = part.side().and_then(|side| sides?.iter().find(|name| ***name == *side));
        if let Some(name) = side {
            let scope = scope.iter().map(|pattern| Name::from(pattern.as_str())).collect();
            plan.units.push(UnitReport { name: name.clone(), scope, ..UnitReport::default() });
        }
    }
    plan
}

/// The side a row belongs to; none: the run.
fn owner(part: Option<Part>, sides: &[Name], place: Place, sink: &mut Sink) -> Option<Name> {
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
        sink.error(Code::TASK_SIDE, place, message, format!("sides that run: {runs}; move the row or add the side"));
    }
    found
}

fn write(document: &Document) -> String {
    let mut text = format!("## {SECTION}\n");
    let mut part = None;
    let mut scoped: Vec<Part> = Vec::new();
    let mut open = |text: &mut String, next: Part| {
        text.push_str(&format!("\n### {}\n", next.title()));
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
        text.push_str(&format!("- {}{command}\n", row.text));
    }
    for next in document.scopes.keys().filter(|next| document.rows.iter().all(|row| row.part != Some(**next))) {
        open(&mut text, *next);
    }
    text
}
