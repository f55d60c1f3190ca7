//! One status block as far as it could be read: its sections, each value with its place.

use std::collections::BTreeMap;

use super::document::{Abstract, CoverageRow, Document, FileCounts, FileEntry, Finding, Mark, Note, Status, Word};
use super::heading::Heading;
use tollgate_core::diagnostic::Place;
use tollgate_core::id::FindingId;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub place: Place,
}

/// A section that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Present {
    /// Which one.
    pub heading: Heading,
    /// Where its heading is.
    pub place: Place,
    /// How many bytes its content has.
    pub bytes: u64,
}

/// A status block as far as it could be read.
#[derive(Debug, Default)]
pub struct Draft {
    pub present: Vec<Present>,
    pub status: Option<Located<Status>>,
    pub reason: Option<Located<String>>,
    pub outcome: Option<Located<String>>,
    pub index_verdict: Option<Located<Word>>,
    pub files: Option<Located<FileCounts>>,
    pub next_phase: Option<Located<String>>,
    pub question_count: Option<Located<u32>>,
    pub iteration: Option<u32>,
    pub created: Vec<Located<FileEntry>>,
    pub modified: Vec<Located<FileEntry>>,
    pub deleted: Vec<Located<FileEntry>>,
    pub coverage: Vec<Located<CoverageRow>>,
    pub verdict: Option<Located<Word>>,
    pub verified: Vec<Located<String>>,
    pub gaps: Vec<Located<String>>,
    pub findings: Vec<Located<Finding>>,
    pub change_requests: Vec<Located<Finding>>,
    pub addressed: Option<Vec<FindingId>>,
    pub questions: Vec<Located<String>>,
    pub texts: BTreeMap<Heading, String>,
    pub other: Vec<Note>,
    /// The titles of sections that a status block does not have.
    pub unknown: Vec<Located<String>>,
    /// Text after the last list of the report.
    pub trailing: Option<Located<String>>,
}

impl Draft {
    /// The section, if it is there.
    pub fn find(&self, heading: Heading) -> Option<&Present> {
        self.present.iter().find(|present| present.heading == heading)
    }

    /// The verdict: that of `## Verdict`, else that of the Abstract.
    pub fn word(&self) -> Option<&Located<Word>> {
        self.verdict.as_ref().or(self.index_verdict.as_ref())
    }

    /// Every finding.
    pub fn all_findings(&self) -> impl Iterator<Item = &Located<Finding>> + Clone {
        self.findings.iter().chain(&self.change_requests)
    }

    /// Whether a row of the coverage is marked as failing.
    pub fn marks_fail(&self) -> bool {
        self.coverage.iter().any(|row| row.value.mark == Mark::Fail)
    }

    /// The whole document, when every part that cannot be left out could be read.
    pub fn document(&self) -> Option<Document> {
        fn values<T: Clone>(list: &[Located<T>]) -> Vec<T> {
            list.iter().map(|located| located.value.clone()).collect()
        }
        let text = |heading| self.texts.get(&heading).cloned().unwrap_or_default();
        let mut findings = values(&self.findings);
        findings.extend(values(&self.change_requests));
        Some(Document {
            status: self.status.as_ref()?.value,
            status_reason: self.reason.as_ref().map(|reason| reason.value.clone()).unwrap_or_default(),
            index: Abstract {
                outcome: self.outcome.as_ref()?.value.clone(),
                verdict: self.index_verdict.as_ref()?.value,
                files: self.files.as_ref().map(|files| files.value),
                next_phase: self.next_phase.as_ref()?.value.clone(),
                open_questions: Some(self.question_count.as_ref()?.value),
            },
            iteration: self.iteration,
            files_created: values(&self.created),
            files_modified: values(&self.modified),
            files_deleted: values(&self.deleted),
            quality_gate_results: text(Heading::QualityGates),
            dod_coverage: values(&self.coverage),
            verdict: self.verdict.as_ref().map(|verdict| verdict.value),
            verified_rows: values(&self.verified),
            gaps: values(&self.gaps),
            reading_scope_used: text(Heading::ReadingScope),
            findings,
            re_review_mode: text(Heading::ReReviewMode),
            addressed_findings: self.addressed.clone(),
            key_decisions: text(Heading::KeyDecisions),
            for_the_next_agent: text(Heading::NextAgent),
            lessons_learned: text(Heading::LessonsLearned),
            open_questions: values(&self.questions),
            other: self.other.clone(),
        })
    }
}
