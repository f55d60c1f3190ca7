//! `status-block@1`: a hand-off that begins with how the run went and an index that is checked against the rest.
//!
//! [`parse`] reads the sections, [`rules`] judge them, [`mapping`] makes the canonical report and reads sections only
//! through [`access`], which is what `--reads` shows.

mod access;
mod denied;
pub mod document;
mod draft;
mod extract;
mod finding;
pub mod heading;
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
use super::markdown::{self, Section};
use super::rows::Rows;
use super::sink::Sink;
use super::text::Source;
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

    fn read(&self, text: &str, context: &Context) -> Reading {
        let whole = Source::new(text);
        let mut sink = Sink::default();
        let Some((source, sections)) = last_of(whole, &mut sink) else {
            return malformed(sink, &Draft::default());
        };
        let found = extract::find(&source, &sections, context.prompt.as_deref());
        let place = |at: &usize| source.place(sections[*at].start);
        for draft in &found.drafts {
            let message = "an earlier report stands here; only the last one counts";
            sink.warning(Code::REPORT_DRAFT, place(draft), message, "report once, at the end");
        }
        let Some(range) = found.report else {
            absent(&source, found.echo.as_ref().map(place), &mut sink);
            return malformed(sink, &Draft::default());
        };
        if found.copied {
            let message = "this is word for word what the prompt shows";
            sink.error(Code::REPORT_ABSENT, place(&range.start), message, "report on the work that was done");
        }
        judge(&source, &sections[range], context, sink)
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

/// The outline of a text; of one that cannot be read as a whole, of its end: the last report counts, and noise before it
/// must not hide it.
fn last_of<'a>(whole: Source<'a>, sink: &mut Sink) -> Option<(Source<'a>, Vec<Section>)> {
    let refused = match markdown::outline(&whole) {
        Ok(outline) => return Some((whole, outline.sections)),
        Err(refused) => refused,
    };
    let end = markdown::readable_end(whole.text(), refused).map(|start| whole.end(start));
    let read = end.and_then(|end| markdown::outline(&end).ok().map(|outline| (end, outline.sections)));
    let has_report =
        |(end, sections): &(Source<'_>, Vec<Section>)| sections.iter().any(|section| extract::begins(end, section));
    let Some((end, sections)) = read.filter(has_report) else {
        super::refuse(&whole, refused, sink);
        return None;
    };
    let place = sections.first().map_or(Place::default(), |section| end.place(section.start));
    let message = "only the end of the text was read, from here on: the rest is too long or nests too deeply";
    sink.warning(Code::TEXT_REFUSED, place, message, "print less before the report");
    Some((end, sections))
}

fn judge(source: &Source<'_>, sections: &[Section], context: &Context, mut sink: Sink) -> Reading {
    let start = sections.first().map_or(Place::default(), |section| source.place(section.start));
    let draft = parse::parse(source, sections, &mut sink);
    let part = Part::of(context, &draft);
    let rows = Rows::new(context.criteria.as_deref());
    let others = Rows::new(Some(&context.others));
    Rules { draft: &draft, context, part, rows: &rows, others: &others, start, sink: &mut sink }.check();
    if sink.refused() {
        return malformed(sink, &draft);
    }
    let report = mapping::map(Access::new(&draft), part, &rows);
    Reading { report, diagnostics: sink.finish(), sections: shown(&draft), present: present(&draft) }
}

/// Reads a text that holds one report and nothing else.
fn reread(text: &str) -> Option<Document> {
    let source = Source::new(text);
    let sections = markdown::outline(&source).ok()?.sections;
    let found = extract::find(&source, &sections, None);
    let whole = found.report.filter(|range| *range == (0..sections.len()))?;
    let mut sink = Sink::default();
    let draft = parse::parse(&source, &sections[whole], &mut sink);
    draft.document().filter(|_| !sink.refused())
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
        let text: Vec<String> = match headings {
            [_] => texts.map(|(_, text)| text.clone()).collect(),
            _ => texts.map(|(heading, text)| format!("{}:\n{text}", heading.title())).collect(),
        };
        if !text.is_empty() {
            sections.insert(Name::from(name), text.join("\n\n"));
        }
    }
    sections
}

fn absent(source: &Source<'_>, echo: Option<Place>, sink: &mut Sink) {
    let mut error = match echo {
        Some(place) => Diagnostic::error(Code::REPORT_ABSENT, place, "there is only an echo of the prompt, no report"),
        None => Diagnostic::error(Code::REPORT_ABSENT, Place::default(), "there is no report: no `## Status` heading"),
    };
    let fenced = echo.is_none() && source.text().lines().any(|line| line.trim() == "## Status");
    error = error.hint(match fenced {
        true => "a `## Status` inside a code fence, quote or list is an example: write the report outside of it",
        false => "begin the report with `## Status` and one of `complete`, `blocked`, `failed`, `incomplete`",
    });
    sink.push(error);
}
