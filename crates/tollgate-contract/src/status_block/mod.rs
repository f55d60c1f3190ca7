//! `status-block@1`: a hand-off that begins with how the run went and an index of the rest.
//!
//! [`grammar`] reads the sections, [`rules`] hold them against each other, [`mapping`] makes the canonical report. Sentences
//! are shown to people and never judged.

mod abstract_fields;
pub mod document;
mod finding;
mod grammar;
mod heading;
mod instructions;
mod mapping;
mod object;
mod render;
mod rules;
mod sections;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use self::object::{Answer, File, Object, Row, RowResult};

use self::document::{Document, Severity};
use self::heading::Heading;
use self::rules::{Reporter, Rules};
use self::sections::Draft;
use crate::diagnostics::Sink;
use crate::extract::{self, Heads, Looks};
use crate::markdown::{self, Section};
use crate::rows::Rows;
use crate::text::Source;
use crate::{Context, Format, Reading, ReportDialect, Trailing};
use tollgate_core::Name;
use tollgate_core::protocol::{Declaration, SectionClass};
use tollgate_core::report::{Health, Verdict};

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

impl Format for StatusBlock {
    fn id(&self) -> &str {
        "status-block@1"
    }

    fn looks(&self, context: &Context) -> Looks {
        Looks {
            markdown: Some(Heads::Coded { title: "## Status", is: begins, needs: "## Abstract" }),
            shown: vec![instructions::instructions(context)],
            example: include_str!("../../../../docs/contracts/examples/status-block.md").to_owned(),
            lacks: "it has no `## Status` heading".to_owned(),
            begin: "begin the report with `## Status` and one of `complete`, `blocked`, `failed`, `incomplete`"
                .to_owned(),
            ..Looks::default()
        }
    }

    fn is_unfilled(&self, text: &str) -> bool {
        text.lines().map(str::trim).filter(|line| !line.is_empty()).nth(1) == Some(instructions::STATUS)
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

    fn schema(&self) -> serde_json::Value {
        crate::schema_of::<Document>(self.id())
    }
}

impl ReportDialect for StatusBlock {
    fn declaration(&self) -> Declaration {
        Declaration {
            verdicts: vec![Verdict::Accept, Verdict::Reject],
            healths: vec![Health::NeedsInput, Health::Failed, Health::Exhausted, Health::Malformed],
            sections: SHOWN.iter().map(|(name, class, _)| (Name::from(*name), *class)).collect(),
            words: [("severity".into(), Severity::ALL.map(|severity| severity.word().into()).to_vec())].into(),
            reads_part: true,
            ..Declaration::default()
        }
    }

    fn read_alone(&self, text: &str, context: &Context) -> Reading {
        if let Some(read) = object::read(text, context) {
            return read;
        }
        let rows = Rows::new(context.criteria.as_deref());
        let (draft, sink) = judge(text, context, &rows);
        if sink.refused() {
            return malformed(sink, &draft);
        }
        let report = mapping::map(&draft, Reporter::of(context), &rows);
        Reading { report, diagnostics: sink.finish(), sections: shown(&draft), present: present(&draft) }
    }

    /// A worker prints its report at the end of what it has to say; a script hands in one object and nothing else.
    fn read(&self, text: &str, context: &Context) -> Reading {
        extract::report(self, text, context)
    }

    fn read_object(&self, text: &str, context: &Context) -> Option<Reading> {
        object::read(text, context)
    }

    /// A verdict is the last word of a judge.
    fn trailing(&self) -> Trailing {
        Trailing::Refuse
    }

    fn unit(&self, _: &str, _: &Context) -> Option<String> {
        None
    }

    fn names_units(&self) -> bool {
        false
    }

    fn headings(&self, section: &str) -> Vec<Name> {
        let known = SHOWN.iter().find(|(name, _, _)| *name == section);
        known.into_iter().flat_map(|(_, _, headings)| headings.iter().map(|heading| heading.title().into())).collect()
    }
}

/// Whether a report begins with a heading.
fn begins(level: usize, title: &str) -> bool {
    level == 2 && matches!(Heading::find(title), Some((Heading::Status, _)))
}

/// Reads and judges a text that is one report. All errors of its form are given at once or, where the form holds, all of its rules.
fn judge(text: &str, context: &Context, rows: &Rows<'_>) -> (Draft, Sink) {
    let source = Source::new(text);
    let mut sink = Sink::default();
    let sections = match markdown::outline(&source) {
        Ok(outline) => outline.sections,
        Err(refused) => {
            crate::refuse(&source, refused, &mut sink);
            return (Draft::default(), sink);
        }
    };
    let draft = grammar::parse(&source, &sections, &mut sink);
    if !sink.refused() {
        Rules { draft: &draft, context, reporter: Reporter::of(context), rows, sink: &mut sink }.check();
    }
    (draft, sink)
}

/// Reads a text that holds one report and nothing else.
fn reread(text: &str) -> Option<Document> {
    let source = Source::new(text);
    let sections = markdown::outline(&source).ok()?.sections;
    let is_head = |section: &Section| begins(2, &text[section.title.clone()]);
    let alone = sections.iter().position(is_head) == Some(0) && sections.iter().filter(|one| is_head(one)).count() == 1;
    let mut sink = Sink::default();
    let draft = grammar::parse(&source, &sections, &mut sink);
    draft.document().filter(|_| alone && !sink.refused())
}

/// A report that never advances: it says what is wrong with itself and nothing of what it claims.
fn malformed(sink: Sink, draft: &Draft) -> Reading {
    let mut reading = extract::malformed(sink.finish());
    reading.report.reads = mapping::reads_of_malformed(draft);
    // A report that an older build accepted is shown to later agents whatever this one says of it.
    Reading { sections: shown(draft), present: present(draft), ..reading }
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
