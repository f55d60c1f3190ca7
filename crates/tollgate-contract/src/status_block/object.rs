//! The same contract as one JSON object, for scripts: written as the Markdown form and read as that.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document::{Abstract, CoverageRow, Document, FileEntry, Mark, Status, Word};
use super::grammar::marked;
use super::rules::Reporter;
use super::{StatusBlock, finding, render};
use crate::rows::{names, split};
use crate::text::{Source, quote};
use crate::tree::json;
use crate::{Context, Reading, ReportDialect, extract};
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place, Severity};
use tollgate_core::report::Verdict;

/// A report as one object; what does not apply may be absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// How the run went.
    pub status: Status,
    /// Why it is not complete, in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What a role that judges decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Answer>,
    /// The rows of the Definition of Done that it judges or claims.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Row>,
    /// The files that it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<File>,
    /// What it found wrong: `[major] src/a.rs:12 (RULE-3) — text`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// What a person must answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
}

/// The verdict of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// The work passes.
    Accept,
    /// It does not.
    Reject,
}

/// One row and whether it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The id of the row.
    pub id: String,
    /// Whether it holds.
    pub result: RowResult,
    /// What shows it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
}

/// Whether a row holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RowResult {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// It cannot be observed here.
    Unobservable,
}

/// A file that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Its path.
    pub path: String,
    /// Whether it was deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

impl Row {
    fn mark(&self) -> Mark {
        match self.result {
            RowResult::Pass => Mark::Pass,
            RowResult::Fail => Mark::Fail,
            RowResult::Unobservable => Mark::Warning,
        }
    }

    fn item(&self) -> String {
        if self.evidence.is_empty() { self.id.clone() } else { format!("{} — {}", self.id, self.evidence) }
    }
}

/// Reads a text that is one object with a `status` and nothing else; none where it is something else.
pub(super) fn read(text: &str, context: &Context) -> Option<Reading> {
    let bare = text.trim_start_matches('\u{feff}').trim();
    let value: serde_json::Value = serde_json::from_str(bare.starts_with('{').then_some(bare)?).ok()?;
    value.get("status")?;
    // Of a key that is there twice, a map would keep one.
    if let Err(fault) = json::read(text) {
        let place = Source::new(text).place(fault.at as usize);
        return Some(extract::malformed(vec![Diagnostic::error(fault.code, place, fault.message).hint(fault.hint)]));
    }
    let object: Result<Object, _> = serde_json::from_value(value);
    let reading = match object.map_err(|error| wrong(Code::FIELD_FORM, error.to_string())) {
        Ok(object) => object.read(context),
        Err(wrong) => Err(vec![wrong]),
    };
    Some(reading.unwrap_or_else(extract::malformed))
}

fn wrong(code: Code, message: impl Into<String>) -> Diagnostic {
    let hint =
        "its fields are status, reason, verdict, rows, files, findings and questions: see `tollgate report --help`";
    Diagnostic::error(code, Place::default(), message).hint(hint)
}

impl Object {
    fn read(self, context: &Context) -> Result<Reading, Vec<Diagnostic>> {
        let given = self.verdict;
        let document = self.document(Reporter::of(context))?;
        let text = render::render(document).map_err(|why| vec![wrong(Code::FIELD_FORM, why)])?;
        let mut reading = StatusBlock.read_alone(&text, context);
        for one in &mut reading.diagnostics {
            // The object has no lines that a place could name.
            (one.place, one.other, one.fix) = (Place::default(), None, None);
        }
        if reading.diagnostics.iter().any(|one| one.severity == Severity::Error) {
            return Ok(reading);
        }
        let read = reading.report.verdict;
        let (given, said) = match given {
            Some(Answer::Accept) => (Verdict::Accept, "accept"),
            Some(Answer::Reject) => (Verdict::Reject, "reject"),
            None => return Ok(reading),
        };
        if given != read {
            let message = format!("`verdict` is `{said}`, and the status and the rows give `{}`", read.word());
            return Err(vec![wrong(Code::VERDICT_CONTRADICTS, message)]);
        }
        Ok(reading)
    }

    /// The document that says the same, for who reports.
    fn document(self, reporter: Reporter) -> Result<Document, Vec<Diagnostic>> {
        let word = match (self.verdict, reporter) {
            (None, _) | (Some(_), Reporter::Tester) => Word::NotApplicable,
            (Some(Answer::Accept), _) => Word::Approved,
            (Some(Answer::Reject), Reporter::Reviewer) => Word::RequestChanges,
            (Some(Answer::Reject), _) => Word::Blocked,
        };
        let checks = match reporter {
            Reporter::Checker => true,
            Reporter::Judge | Reporter::Anyone => self.verdict.is_some(),
            Reporter::Builder | Reporter::Reviewer | Reporter::Tester => false,
        };
        let outcome = if self.reason.is_empty() { self.status.word().to_owned() } else { self.reason.clone() };
        let (mut findings, mut errors) = (Vec::new(), Vec::new());
        for text in &self.findings {
            match finding::read(text) {
                Ok(finding) => findings.push(finding),
                Err(why) => {
                    let hint = "write `[critical|major|minor] path:line (RULE) — what is wrong`";
                    errors.push(Diagnostic::error(Code::FINDING_UNREADABLE, Place::default(), why).hint(hint));
                }
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let (mut verified_rows, mut gaps, mut dod_coverage) = (Vec::new(), Vec::new(), Vec::new());
        for row in self.rows {
            let item = row.item();
            if !names(split(marked(&item).1).0).eq([&*row.id]) {
                let message = format!("{} is not the id of one row", quote(&row.id));
                let hint = "give each row its own entry, and what is said about it as `evidence`";
                return Err(vec![Diagnostic::error(Code::ENTRY_UNREADABLE, Place::default(), message).hint(hint)]);
            }
            match (checks, row.mark()) {
                (false, mark) => dod_coverage.push(CoverageRow { mark, row: item }),
                (true, Mark::Pass) => verified_rows.push(item),
                (true, mark @ Mark::Warning) => verified_rows.push(format!("{} {item}", mark.sign())),
                (true, Mark::Fail) => gaps.push(item),
            }
        }
        let entry = |file: File| FileEntry { path: file.path, note: String::new() };
        let (deleted, changed): (Vec<File>, Vec<File>) = self.files.into_iter().partition(|file| file.deleted);
        Ok(Document {
            status: self.status,
            status_reason: self.reason,
            index: Abstract { outcome, verdict: word, files: None, next_phase: "n/a".to_owned(), open_questions: None },
            iteration: None,
            files_created: Vec::new(),
            files_modified: changed.into_iter().map(entry).collect(),
            files_deleted: deleted.into_iter().map(entry).collect(),
            quality_gate_results: String::new(),
            dod_coverage,
            verdict: (reporter == Reporter::Checker && word != Word::NotApplicable).then_some(word),
            verified_rows,
            gaps,
            reading_scope_used: String::new(),
            findings,
            re_review_mode: String::new(),
            addressed_findings: None,
            key_decisions: String::new(),
            for_the_next_agent: String::new(),
            lessons_learned: String::new(),
            open_questions: self.questions,
            other: Vec::new(),
        })
    }
}
