//! A dialect that is data: everything it does comes from its [`Definition`].

pub mod built_in;
pub(crate) mod checks;
mod decided;
pub mod definition;
pub mod guide;
mod items;
pub(crate) mod judge;
pub(crate) mod layout;
pub(crate) mod mapping;
mod plan;
pub(crate) mod render;
mod schema;
mod signature;
#[cfg(test)]
mod tests;

use crate::defined::definition::{Definition, Form};
use crate::defined::judge::{Found, Wrong, judge};
use crate::extract::{self, Looks, malformed};
use crate::text::Source;
use crate::tree::{Entry, Node, Places, Value, from_json, json, read_yaml};
use crate::{Context, Declaration, DocumentDialect, DocumentReading, Format, Reading, ReportDialect, Trailing};
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Severity};
use tollgate_core::report::{Plan, Report};
use tollgate_core::run::state::RequirementDecision;

/// A contract that was read from its definition.
#[derive(Debug)]
pub struct Defined {
    pub definition: Definition,
}

/// As what a text is read: a document has no health and no verdict, also where its contract is one of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Read {
    Report,
    Document,
}

/// A text as a tree, judged.
#[derive(Debug)]
pub struct Judged<'a> {
    /// The document, where the text could be read at all.
    pub root: Option<Node<'a>>,
    pub diagnostics: Vec<Diagnostic>,
    /// What it brings into the ledger; nothing where it has an error.
    pub plan: Plan,
}

impl Judged<'_> {
    fn refused(&self) -> bool {
        self.root.is_none() || self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

impl Defined {
    /// Reads and judges a text.
    pub fn judge<'a>(&'a self, text: &'a str, context: &Context) -> Judged<'a> {
        self.judge_as(Read::Report, text, context)
    }

    fn judge_as<'a>(&'a self, read: Read, text: &'a str, context: &Context) -> Judged<'a> {
        let mut found = Found::telling(context.every);
        let (root, places) = self.tree(text, context, &mut found);
        let mut plan = Plan::default();
        if let Some(root) = &root {
            judge(&self.definition, root, context.role.as_ref(), &mut found);
            if read == Read::Report {
                self.meant(root, context, &mut found);
            }
            // What is wrong by itself is planned nowhere: one mistake gives one error.
            if !found.has_errors() {
                plan = plan::plan(&self.definition, root, context.of_set.as_deref(), &mut found);
            }
        }
        Judged { root, diagnostics: found.place(&places), plan }
    }

    /// Finds a report without errors that means nothing all the same: it must not pass as good.
    fn meant(&self, root: &Node<'_>, context: &Context, found: &mut Found) {
        let Some(mapping) = &self.definition.report else { return };
        let role = context.role.as_ref();
        if !found.unknown.is_empty() && mapping::accepts(&self.definition, mapping, root, role) {
            found.refuse_unknown("the sections of this contract are a closed set: take it out, or reject the work");
        }
        if !found.has_errors() && !mapping::has_case(&self.definition, mapping, root, role) {
            let message = "no case of the mapping applies to this document".to_owned();
            let hint = "name the role that reports, or add a last case without `when` to the contract";
            found.error(Code::NOT_MAPPED, root.at, message, hint);
        }
    }

    /// Reads and judges a text that was handed in as one document: a second one in it is an error.
    fn judge_handed_in<'a>(&'a self, read: Read, text: &'a str, context: &Context) -> Judged<'a> {
        let mut judged = self.judge_as(read, text, context);
        if judged.root.is_some() && self.form(text) == Form::Markdown {
            let second = layout::second(&self.definition, text, context);
            // That the heading is no section of the document is the same mistake, and so is what stands below it.
            let is_own = |one: &Diagnostic, second: &Diagnostic| {
                second.place != one.place && (one.code != Code::SECTION_UNKNOWN || one.place < second.place)
            };
            judged.diagnostics.retain(|one| second.as_ref().is_none_or(|second| is_own(one, second)));
            judged.diagnostics.extend(second);
            judged.diagnostics.sort_by_key(|diagnostic| diagnostic.place);
        }
        judged
    }

    fn reading(&self, judged: Judged<'_>, context: &Context) -> Reading {
        let refused = judged.refused();
        let (Some(root), Some(mapping), false) = (judged.root, &self.definition.report, refused) else {
            return malformed(judged.diagnostics);
        };
        let report = mapping::report(&self.definition, mapping, &root, context.role.as_ref());
        let report = Report { plan: judged.plan, ..report };
        let present = mapping::present(&root);
        let sections = mapping::sections(mapping, &root);
        Reading { report, diagnostics: judged.diagnostics, sections, present }
    }

    fn document(&self, judged: Judged<'_>) -> DocumentReading {
        let Some(root) = judged.root.as_ref().filter(|_| !judged.refused()) else {
            return DocumentReading { diagnostics: judged.diagnostics, ..DocumentReading::default() };
        };
        let fields = mapping::fields(&self.definition, root);
        DocumentReading { plan: judged.plan, fields, diagnostics: judged.diagnostics, ..DocumentReading::default() }
    }

    /// The form that a text has, of those the contract allows.
    fn form(&self, text: &str) -> Form {
        let forms = &self.definition.forms;
        let braces = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).starts_with(['{', '[']);
        let wanted = if braces { Form::Json } else { Form::Yaml };
        let first = forms.first().copied().unwrap_or(Form::Json);
        if forms.contains(&wanted) { wanted } else { first }
    }

    fn tree<'a>(&'a self, text: &'a str, context: &Context, found: &mut Found) -> (Option<Node<'a>>, Places<'a>) {
        match self.form(text) {
            Form::Json => (self.object(text, found), Places::of(text)),
            Form::JsonLines => {
                let parsed = json::parse_lines(text);
                let unread = !parsed.faults.is_empty();
                let lines = found.parsed(parsed).unwrap_or_else(|| Node::new(Value::List(Vec::new())));
                let unread = unread && lines.list().is_none_or(<[_]>::is_empty);
                let at = lines.at;
                let entry = Entry { key: crate::defined::definition::LINES.into(), at, node: lines };
                let root = Node { value: Value::Map(vec![entry]), at };
                ((!unread).then_some(root), Places::of(text))
            }
            Form::Yaml => {
                let mut yaml = read_yaml(text);
                // Words around JSON are no YAML, and are not meant to be.
                if !yaml.problems.is_empty() && self.definition.forms.contains(&Form::Json) && self.holds_object(text) {
                    return (self.object(text, found), Places::of(text));
                }
                for problem in std::mem::take(&mut yaml.problems) {
                    let at = yaml.note(problem.place);
                    let other = problem.other.map(|other| yaml.note(other));
                    let hint = problem.hint.unwrap_or_default();
                    found.push(Wrong::new(problem.code, problem.severity, at, problem.message, hint).and(other));
                }
                found.tear(yaml.broken);
                (yaml.node, Places::Noted(yaml.places))
            }
            Form::Markdown => (layout::read(&self.definition, text, context, found), Places::of(text)),
        }
    }

    fn holds_object(&self, text: &str) -> bool {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        !extract::objects(text, &signature::signature(&self.definition)).is_empty()
    }

    /// The object that a text should be and nothing else: words around it are one mistake, another object is a second, and what it
    /// says itself is judged all the same.
    fn object<'a>(&self, text: &'a str, found: &mut Found) -> Option<Node<'a>> {
        let mut parsed = json::parse(text);
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if parsed.node.is_none()
            && parsed.faults.last().is_some_and(|fault| fault.code == Code::TEXT_AROUND)
            && let Some(range) = extract::objects(text, &signature::signature(&self.definition)).into_iter().next()
        {
            let before = std::mem::take(&mut parsed.faults);
            parsed = json::parse_part(text, range, "the JSON ends before this", "print the JSON alone");
            parsed.faults.splice(0..0, before);
        }
        let whole = parsed.node.as_ref().map(|node| node.at as usize..parsed.end);
        let around = parsed.faults.iter().any(|fault| fault.code == Code::TEXT_AROUND);
        let node = found.parsed(parsed);
        if let Some(whole) = whole.filter(|_| around)
            && let Some(second) = extract::other_object(text, &whole)
        {
            let (at, first) = (u32::try_from(second).unwrap_or(u32::MAX), u32::try_from(whole.start).ok());
            let message = "a second JSON value begins here".to_owned();
            found.error(Code::SECOND_DOCUMENT, at, message, "give one document a file");
            found.wrong.last_mut().into_iter().for_each(|wrong| wrong.other = first);
        }
        node
    }

    /// What is wrong with a document that was given as JSON, rules left aside.
    pub fn wrong_types(&self, document: &Node<'_>, text: &str) -> Vec<Diagnostic> {
        let mut found = Found::default();
        judge(&self.definition, document, None, &mut found);
        found.retain(|wrong| wrong.rule.is_none());
        found.place(&Places::of(text))
    }

    /// Writes the text of a document; what is wrong with it otherwise.
    pub fn write(&self, document: &Node<'_>) -> Result<String, String> {
        render::render(&self.definition, document)
    }
}

impl From<json::Fault> for Wrong {
    fn from(fault: json::Fault) -> Self {
        Self::new(fault.code, Severity::Error, fault.at, fault.message, fault.hint).and(fault.other)
    }
}

impl Format for Defined {
    fn id(&self) -> &str {
        &self.definition.id
    }

    fn looks(&self, context: &Context) -> Looks {
        let told = self.definition.report.is_some().then(|| self.instructions(context));
        Looks {
            schema: self.schema(),
            example: guide::example(&self.definition),
            shown: [self.template(context)].into_iter().chain(told).collect(),
            ..signature::signature(&self.definition)
        }
    }

    fn is_unfilled(&self, text: &str) -> bool {
        let read = |text: &str| {
            let (root, _) = self.tree(text, &Context::default(), &mut Found::default());
            root.map(Node::into_owned)
        };
        let template = || read(&guide::template(&self.definition));
        text.contains('<') && read(text).zip(template()).is_some_and(|(read, template)| read.same(&template))
    }

    fn render(&self, document: &serde_json::Value) -> Result<String, String> {
        self.write(&from_json(document))
    }

    fn template(&self, _: &Context) -> String {
        guide::template(&self.definition)
    }

    fn instructions(&self, context: &Context) -> String {
        guide::instructions(&self.definition, context.role.as_ref())
    }

    fn schema(&self) -> serde_json::Value {
        schema::schema(&self.definition)
    }
}

impl ReportDialect for Defined {
    fn declaration(&self) -> Declaration {
        mapping::declaration(&self.definition)
    }

    fn read_alone(&self, text: &str, context: &Context) -> Reading {
        self.reading(self.judge(text, context), context)
    }

    fn read(&self, text: &str, context: &Context) -> Reading {
        self.reading(self.judge_handed_in(Read::Report, text, context), context)
    }

    fn trailing(&self) -> Trailing {
        self.definition.trailing
    }

    fn unit(&self, text: &str, context: &Context) -> Option<String> {
        let path = self.definition.report.as_ref()?.unit.as_ref()?;
        let judged = self.judge(text, context);
        let root = judged.root?;
        let said = path.steps.iter().try_fold(&root, |node, step| node.get(step))?;
        // Whose report it is cannot be told by a name that is wrong, or there twice.
        let at = Source::new(text).place(said.at as usize);
        let wrong = |one: &Diagnostic| one.code == Code::KEY_TWICE || one.place == at;
        if judged.diagnostics.iter().any(|one| one.severity == Severity::Error && wrong(one)) {
            return None;
        }
        said.word().map(str::to_owned).filter(|word| !word.trim().is_empty())
    }

    fn names_units(&self) -> bool {
        self.definition.report.as_ref().is_some_and(|mapping| mapping.unit.is_some())
    }

    fn headings(&self, section: &str) -> Vec<Name> {
        let mapping = self.definition.report.as_ref();
        let known = mapping.and_then(|mapping| mapping.sections.iter().find(|(name, ..)| **name == *section));
        known
            .map(|(.., paths)| paths.iter().filter_map(|path| path.steps.first().cloned()).collect())
            .unwrap_or_default()
    }
}

impl DocumentDialect for Defined {
    fn declaration(&self) -> Declaration {
        mapping::document_declaration(&self.definition)
    }

    fn read(&self, text: &str, context: &Context) -> DocumentReading {
        self.document(self.judge_handed_in(Read::Document, text, context))
    }

    fn read_alone(&self, text: &str, context: &Context) -> DocumentReading {
        self.document(self.judge_as(Read::Document, text, context))
    }

    fn decided(&self, text: &str, decisions: &[RequirementDecision]) -> Option<String> {
        let judged = self.judge_handed_in(Read::Document, text, &Context::default());
        let document = decided::decided(self.definition.plan.requirements.as_ref()?, judged.root?, decisions)?;
        self.write(&document).ok()
    }
}
