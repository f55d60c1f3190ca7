//! `status-block@1`: a hand-off that begins with how the run went and an index that is checked against the rest.
//!
//! [`parse`] reads the sections, [`rules`] judge them, [`mapping`] makes the canonical report and reads sections only
//! through [`access`], which is what `--reads` shows.

mod access;
pub mod document;
mod draft;
mod entry;
mod files;
mod finding;
pub mod heading;
mod index;
mod instructions;
mod list;
mod mapping;
mod parse;
mod render;
mod rules;
mod stances;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use self::access::Access;
use self::document::Document;
use self::draft::Draft;
use self::heading::Heading;
use self::rules::{Part, Rules};
use super::extract::{self, Deciding, Heads, Looks};
use super::markdown::{self, Section, heading_words};
use super::rows::Rows;
use super::sink::Sink;
use super::text::Source;
use super::unfilled::is_choice;
use super::{Context, Declaration, Reading, ReportDialect, SectionClass};
use crate::Name;
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::report::{Health, Report, Verdict};

/// The dialect.
#[derive(Debug)]
pub struct StatusBlock;

/// The sections that later agents may be shown: name, class, headings.
const SHOWN: [(&str, SectionClass, &[Heading]); 6] = [
    ("coverage", SectionClass::Claim, &[Heading::Coverage]),
    ("self_assessment", SectionClass::Claim, &[Heading::Abstract]),
    ("quality_gates", SectionClass::Claim, &[Heading::QualityGates]),
    ("files", SectionClass::Claim, &[Heading::FilesCreated, Heading::FilesModified, Heading::FilesDeleted]),
    ("decisions", SectionClass::Note, &[Heading::KeyDecisions]),
    ("handoff", SectionClass::Note, &[Heading::NextAgent, Heading::LessonsLearned]),
];

impl ReportDialect for StatusBlock {
    fn id(&self) -> &str {
        "status-block@1"
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            verdicts: vec![Verdict::Accept, Verdict::Reject],
            healths: vec![Health::NeedsInput, Health::Failed, Health::Exhausted, Health::Malformed],
            codes: BTreeMap::new(),
            sections: SHOWN.iter().map(|(name, class, _)| (Name::from(*name), *class)).collect(),
            gives: BTreeMap::new(),
        }
    }

    fn read_alone(&self, text: &str, context: &Context) -> Reading {
        let rows = Rows::new(context.criteria.as_deref());
        let (draft, part, sink) = judge(text, context, &rows);
        if sink.refused() {
            return malformed(sink, &draft);
        }
        let report = mapping::map(Access::new(&draft), part, &rows);
        Reading { report, diagnostics: sink.finish(), sections: shown(&draft), present: present(&draft) }
    }

    fn diagnose(&self, text: &str, context: &Context) -> Vec<Diagnostic> {
        judge(text, context, &Rows::new(context.criteria.as_deref())).2.finish()
    }

    /// A worker prints its report at the end of what it has to say: noise around it is no mistake.
    fn read(&self, text: &str, context: &Context) -> Reading {
        extract::report(self, text, context)
    }

    fn looks(&self, context: &Context) -> Looks {
        Looks {
            markdown: Some(Heads::Coded { title: "## Status", is: begins, needs: "## Abstract" }),
            shown: vec![instructions::instructions(context)],
            example: include_str!("../../../../../docs/contracts/examples/status-block.md").to_owned(),
            lacks: "no `## Status` heading".to_owned(),
            begin: "begin the report with `## Status` and one of `complete`, `blocked`, `failed`, `incomplete`"
                .to_owned(),
            sections: Heading::ALL.map(|heading| heading.title().into()).into(),
            decides: vec![
                Deciding::new(["status".into()], document::Status::ALL.map(|status| status.word().into()).into()),
                Deciding::new(["verdict".into()], document::Word::ALL.map(|verdict| verdict.word().into()).into()),
            ],
            ..Looks::default()
        }
    }

    fn unit(&self, _: &str, _: &Context) -> Option<String> {
        None
    }

    fn is_unfilled(&self, text: &str) -> bool {
        let heading = |line: &&str| heading_words(line).is_some_and(|words| begins(2, words));
        let mut lines = text.lines().skip_while(|line| !heading(line)).skip(1).map(str::trim);
        let words = document::Status::ALL.map(document::Status::word);
        lines.find(|line| !line.is_empty()).is_some_and(|said| is_choice(said, &words))
    }

    fn names_units(&self) -> bool {
        false
    }

    fn render(&self, document: &serde_json::Value) -> Result<String, String> {
        let document: Document = serde_json::from_value(document.clone()).map_err(|error| error.to_string())?;
        render::render(document)
    }

    fn template(&self, context: &Context) -> String {
        instructions::template(context)
    }

    fn instructions(&self, context: &Context) -> String {
        instructions::instructions(context)
    }

    fn headings(&self, section: &str) -> Vec<Name> {
        let known = SHOWN.iter().find(|(name, _, _)| *name == section);
        known.into_iter().flat_map(|(_, _, headings)| headings.iter().map(|heading| heading.title().into())).collect()
    }

    fn schema(&self) -> serde_json::Value {
        super::schema_of::<Document>(self.id())
    }
}

/// What is said of a report because something is not there: of one that is cut off, it says nothing.
const ABSENT: [Code; 6] = [
    Code::SECTION_MISSING,
    Code::STATUS_REASON,
    Code::ABSTRACT_COUNT,
    Code::QUESTION_MISSING,
    Code::REJECTS_NOTHING,
    Code::ROW_LEFT_OUT,
];

/// Whether a report begins with a heading.
fn begins(level: usize, title: &str) -> bool {
    level == 2 && matches!(Heading::find(title), Some((Heading::Status, _)))
}

/// The headings of a text with which a report begins: those that an Abstract follows.
pub fn beginnings<'h, 't>(heads: &'h [(usize, &'t str, usize)]) -> impl Iterator<Item = &'h (usize, &'t str, usize)> {
    let is = |level: usize, title: &str| level == 2 && matches!(Heading::find(title), Some((Heading::Abstract, _)));
    let last = heads.iter().rposition(|(level, title, _)| is(*level, title)).unwrap_or(0);
    heads[..last].iter().filter(|head| begins(head.0, head.1))
}

/// Reads and judges a text that is one report: what it says, for which part, and what is wrong with it.
fn judge(text: &str, context: &Context, rows: &Rows<'_>) -> (Draft, Part, Sink) {
    let source = Source::new(text);
    let mut sink = Sink::default();
    let sections = match markdown::outline(&source) {
        Ok(outline) => outline.sections,
        Err(refused) => {
            super::refuse(&source, refused, &mut sink);
            return (Draft::default(), Part::Unknown, sink);
        }
    };
    let start = sections.first().map_or(Place::START, |section| source.place(section.start));
    let draft = parse::parse(&source, &sections, &mut sink);
    let part = Part::of(context, &draft);
    let others = Rows::new(Some(&context.others));
    Rules { draft: &draft, context, part, rows, others: &others, start, sink: &mut sink }.check();
    if !sink.is_cut_off() && draft.find(Heading::Abstract).is_none() {
        end_early(&source, &sections, &mut sink);
    }
    if !draft.is_clear(Heading::Coverage) {
        // A row that could not be read is not left out.
        sink.retain(|one| one.code != Code::ROW_LEFT_OUT);
    }
    if sink.is_cut_off() {
        sink.retain(|one| !ABSENT.contains(&one.code));
    }
    (draft, part, sink)
}

/// Looks whether a report ends before its Abstract: in the middle of a line, or with a heading.
fn end_early(source: &Source<'_>, sections: &[Section], sink: &mut Sink) {
    let text = source.text();
    let (Some(last), true) = (sections.last(), sections.len() < 3) else { return };
    let torn = match text[last.body.clone()].trim().is_empty() {
        true => last.start,
        false if text.ends_with(['\n', '\r']) => return,
        false => text.rfind(['\n', '\r']).map_or(0, |end| end + 1),
    };
    let torn = source.place(torn);
    sink.retain(|one| one.place < torn);
    let message = "the report is cut off here, before `## Abstract`";
    sink.error(Code::REPORT_CUT_OFF, source.place(text.trim_end().len()), message, "print the whole report again");
}

/// Reads a text that holds one report and nothing else.
fn reread(text: &str) -> Option<Document> {
    let source = Source::new(text);
    let sections = markdown::outline(&source).ok()?.sections;
    let is_head = |section: &Section| begins(2, &text[section.title.clone()]);
    let alone = sections.iter().position(is_head) == Some(0) && sections.iter().filter(|one| is_head(one)).count() == 1;
    let mut sink = Sink::default();
    let draft = parse::parse(&source, &sections, &mut sink);
    draft.document().filter(|_| alone && !sink.refused())
}

/// A report that never advances: it says what is wrong with itself and nothing of what it claims.
fn malformed(sink: Sink, draft: &Draft) -> Reading {
    let diagnostics = sink.finish();
    let mut report = Report::new(Health::Malformed, Verdict::None);
    if let Some(error) = diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error) {
        report.reason.clone_from(&error.message);
    }
    let mut access = Access::new(draft);
    access.status();
    report.reads = access.into_reads();
    Reading { report, diagnostics, sections: BTreeMap::new(), present: present(draft) }
}

fn present(draft: &Draft) -> Vec<(Name, u64)> {
    draft.present.iter().map(|present| (present.heading.title().into(), present.bytes)).collect()
}

fn shown(draft: &Draft) -> BTreeMap<Name, String> {
    let mut sections = BTreeMap::new();
    for (name, _, headings) in SHOWN {
        let texts = headings.iter().filter_map(|heading| draft.texts.get(heading).map(|text| (heading, text)));
        let text = match headings {
            [only] => draft.texts.get(only).cloned(),
            _ => texts
                .map(|(heading, text)| format!("{}:\n{text}", heading.title()))
                .reduce(|all, next| format!("{all}\n\n{next}")),
        };
        sections.extend(text.map(|text| (Name::from(name), text)));
    }
    sections
}
