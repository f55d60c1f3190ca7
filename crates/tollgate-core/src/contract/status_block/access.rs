//! The only way by which the content of a section gets into the canonical report; it remembers what was read and why.

use super::document::{CoverageRow, Finding, Status, Word};
use super::draft::{Draft, Located};
use super::heading::Heading;
use crate::report::SectionRead;

/// Reads a draft on behalf of the mapping.
#[derive(Debug)]
pub struct Access<'a> {
    draft: &'a Draft,
    reads: Vec<SectionRead>,
}

impl<'a> Access<'a> {
    /// Opens a draft of which nothing has been read.
    pub fn new(draft: &'a Draft) -> Self {
        Self { draft, reads: Vec::new() }
    }

    /// What was read, in that order, each section once with its first reason.
    pub fn into_reads(self) -> Vec<SectionRead> {
        self.reads
    }

    fn note(&mut self, heading: Heading, reason: &str) {
        let Some(present) = self.draft.find(heading) else { return };
        if self.reads.iter().all(|read| *read.section != *heading.title()) {
            let section = heading.title().into();
            self.reads.push(SectionRead { section, reason: reason.to_owned(), bytes: present.bytes });
        }
    }

    /// Reads `## Status`.
    pub fn status(&mut self) -> Option<Status> {
        self.note(Heading::Status, "always: how the run went");
        self.draft.status.as_ref().map(|status| status.value)
    }

    /// Reads `## Status reason`.
    pub fn reason(&mut self) -> &'a str {
        self.note(Heading::StatusReason, "always: why the run is not complete");
        self.draft.reason.as_ref().map_or("", |reason| &reason.value)
    }

    /// Reads `## Abstract` for its verdict and the next phase.
    pub fn index(&mut self) -> (Word, Option<&'a str>) {
        self.note(Heading::Abstract, "always: the index of the report");
        let verdict = self.draft.index_verdict.as_ref().map(|verdict| verdict.value).unwrap_or_default();
        (verdict, self.draft.next_phase.as_ref().map(|next| next.value.as_str()))
    }

    /// Reads `## Verdict`.
    pub fn verdict(&mut self) -> Option<Word> {
        self.note(Heading::Verdict, "the DoD checker's verdict is the one in its own section");
        self.draft.verdict.as_ref().map(|verdict| verdict.value)
    }

    /// Reads `## Open Questions`.
    pub fn questions(&mut self, reason: &str) -> &'a [Located<String>] {
        self.note(Heading::OpenQuestions, reason);
        &self.draft.questions
    }

    /// Reads `## Findings` and `## Change requests`.
    pub fn findings(&mut self, reason: &str) -> impl Iterator<Item = &'a Finding> + use<'a> {
        self.note(Heading::Findings, reason);
        self.note(Heading::ChangeRequests, reason);
        self.draft.findings.iter().chain(&self.draft.change_requests).map(|finding| &finding.value)
    }

    /// Whether a finding of before is named again.
    pub fn repeats_findings(&self) -> bool {
        self.draft.findings.iter().chain(&self.draft.change_requests).any(|finding| finding.value.repeats.is_some())
    }

    /// Reads `## Verified rows`.
    pub fn verified(&mut self) -> &'a [Located<String>] {
        self.note(Heading::VerifiedRows, "the rows a DoD checker verified become evidence");
        &self.draft.verified
    }

    /// Reads `## Gaps`.
    pub fn gaps(&mut self) -> &'a [Located<String>] {
        self.note(Heading::Gaps, "verdict BLOCKED: the gaps go to the next attempt");
        &self.draft.gaps
    }

    /// Reads `## DoD coverage`.
    pub fn coverage(&mut self) -> &'a [Located<CoverageRow>] {
        self.note(Heading::Coverage, "the tester's verdict follows from its rows");
        &self.draft.coverage
    }

    /// Reads `## Addressed findings`.
    pub fn addressed(&mut self) -> Option<&'a [crate::id::FindingId]> {
        self.note(Heading::AddressedFindings, "a repair says which findings it addressed");
        self.draft.addressed.as_deref()
    }

    /// How many questions there are: a count that was checked, not content.
    pub fn has_questions(&self) -> bool {
        !self.draft.questions.is_empty()
    }

    /// Paths the report says it created, modified, deleted, and its count of deleted: claims, compared with the
    /// measured change and never routed on by themselves.
    pub fn claimed(&self) -> (Vec<crate::Name>, Vec<crate::Name>, Vec<crate::Name>, Option<u32>) {
        let paths = |list: &[Located<super::document::FileEntry>]| {
            list.iter().map(|file| crate::Name::from(file.value.path.as_str())).collect()
        };
        let draft = self.draft;
        let deleted = draft.files.as_ref().map(|files| files.value.deleted);
        (paths(&draft.created), paths(&draft.modified), paths(&draft.deleted), deleted)
    }
}
