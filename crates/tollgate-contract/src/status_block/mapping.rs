//! From a status block to the canonical report.
//!
//! Status: complete ok · blocked needs_input · failed failed · incomplete exhausted.
//! Verdict: APPROVED accept · REQUEST_CHANGES, BLOCKED reject · n/a none; a tester's follows from its rows.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::document::{FileEntry, Finding, Mark};
use super::grammar::marked;
use super::heading::Heading;
use super::rules::{self, Reporter, is_testers};
use super::sections::{Draft, Located};
use crate::rows::Rows;
use tollgate_core::report::{
    Claims, CriterionReport, FindingReport, Health, Judgement, QuestionReport, Report, SectionRead, Verdict,
};

/// Maps a report that broke no rule.
pub fn map(draft: &Draft, reporter: Reporter, rows: &Rows<'_>) -> Report {
    let Some(status) = &draft.status else { return Report::new(Health::Malformed, Verdict::None) };
    let health = status.value.health();
    let mut report = Report::new(health, rules::verdict(draft, reporter, rows));
    let mut reads = Reads { draft, all: Vec::new() };
    reads.note(Heading::Status, "always: how the run went");
    reads.note(Heading::StatusReason, "always: why the run is not complete");
    reads.note(Heading::Abstract, "always: the index of the report");
    if health != Health::Ok {
        report.reason = draft.reason.as_ref().map(|reason| reason.value.clone()).unwrap_or_default();
    }
    report.claims = claims(draft);
    reads.note(Heading::AddressedFindings, "a repair says which findings it addressed");
    // What an unfinished judge holds against the work is no verdict; who decides what happens next is shown it.
    let objects = health != Health::Ok || report.verdict == Verdict::Reject;
    if matches!(reporter, Reporter::Checker | Reporter::Judge | Reporter::Anyone) {
        reads.note(Heading::Verdict, "a checker's verdict is the one in its own section");
        reads.note(Heading::VerifiedRows, "the rows a checker verified become evidence");
        let verified = draft.verified.iter().map(|item| marked(&item.value));
        add_rows(&mut report, rows, verified.map(|(mark, row)| (mark.unwrap_or(Mark::Pass), row)));
        if objects {
            reads.note(Heading::Gaps, "verdict BLOCKED: the gaps go to the next attempt");
            add_rows(&mut report, rows, draft.gaps.iter().map(|item| (Mark::Fail, marked(&item.value).1)));
        }
    }
    if rules::judges_by_coverage(draft, reporter) {
        reads.note(Heading::Coverage, "the verdict follows from the rows of the coverage");
        add_rows(&mut report, rows, draft.coverage.iter().map(|row| (row.value.mark, &*row.value.row)));
        // That the rows of others hold is not a tester's to say.
        let foreign = |id: &str| reporter == Reporter::Tester && rows.get(id).is_some_and(|row| !is_testers(row));
        report.criteria.retain(|row| row.result == Judgement::Fail || !foreign(&row.id));
    }
    report.criteria = merged(std::mem::take(&mut report.criteria));
    let reason = match (objects, report.verdict) {
        (true, Verdict::Reject) => "the verdict rejects: the findings go to the next attempt",
        (true, _) => "the judge is not finished: a person is shown its findings",
        (false, _) => "the verdict accepts: findings that it names again stay open",
    };
    let counts = |finding: &&Located<Finding>| objects || finding.value.repeats.is_some();
    let found: Vec<FindingReport> = draft.all_findings().filter(counts).map(|one| finding(&one.value)).collect();
    if objects || !found.is_empty() {
        reads.note(Heading::Findings, reason);
        reads.note(Heading::ChangeRequests, reason);
    }
    report.findings.extend(found);
    let blocking = health == Health::NeedsInput;
    let question = |text: &Located<String>| QuestionReport { text: text.value.clone(), blocking, ..Default::default() };
    report.questions = draft.questions.iter().map(question).collect();
    if !report.questions.is_empty() {
        let reason =
            if blocking { "status blocked: a person is asked word for word" } else { "questions beside the work" };
        reads.note(Heading::OpenQuestions, reason);
    }
    report.reads = reads.all;
    report
}

/// The status alone, as far as it was read: of a report that is malformed, nothing else counts.
pub fn reads_of_malformed(draft: &Draft) -> Vec<SectionRead> {
    let mut reads = Reads { draft, all: Vec::new() };
    reads.note(Heading::Status, "always: how the run went");
    reads.all
}

/// The sections whose content gets into the report, each once, with its first reason.
struct Reads<'a> {
    draft: &'a Draft,
    all: Vec<SectionRead>,
}

impl Reads<'_> {
    fn note(&mut self, heading: Heading, reason: &str) {
        let Some(present) = self.draft.find(heading) else { return };
        if self.all.iter().all(|read| *read.section != *heading.title()) {
            let section = heading.title().into();
            self.all.push(SectionRead { section, reason: reason.to_owned(), bytes: present.bytes });
        }
    }
}

/// What the report says was changed: compared with what was measured, and never routed on by itself.
fn claims(draft: &Draft) -> Claims {
    let paths = |list: &[Located<FileEntry>]| {
        list.iter().map(|file| tollgate_core::Name::from(file.value.path.as_str())).collect()
    };
    Claims {
        created: paths(&draft.created),
        modified: paths(&draft.modified),
        deleted: paths(&draft.deleted),
        deleted_count: draft.files.as_ref().map(|files| files.value.deleted),
        next: draft.next_phase.as_ref().map(|next| next.value.as_str().into()),
        addresses: draft.addressed.clone(),
    }
}

/// Adds the judgements of items on their rows; a row that fails is a finding too.
fn add_rows<'d>(report: &mut Report, rows: &Rows<'_>, items: impl Iterator<Item = (Mark, &'d str)>) {
    for (mark, item) in items {
        let Some((ids, evidence)) = rows.named(item) else { continue };
        for id in ids {
            if mark == Mark::Fail {
                report.findings.push(gap(&id, &evidence, rows));
            }
            report.criteria.push(CriterionReport { id, result: mark.judgement(), evidence: evidence.clone() });
        }
    }
}

/// One judgement per row, with everything that was said for it.
fn merged(rows: Vec<CriterionReport>) -> Vec<CriterionReport> {
    let mut at: BTreeMap<tollgate_core::Name, usize> = BTreeMap::new();
    let mut kept: Vec<CriterionReport> = Vec::new();
    for row in rows {
        match at.entry(row.id.clone()) {
            Entry::Vacant(free) => {
                free.insert(kept.len());
                kept.push(row);
            }
            Entry::Occupied(known) if row.evidence.is_empty() || kept[*known.get()].evidence == row.evidence => {}
            Entry::Occupied(known) => {
                let evidence = &mut kept[*known.get()].evidence;
                let gap = if evidence.is_empty() { "" } else { "\n" };
                evidence.push_str(gap);
                evidence.push_str(&row.evidence);
            }
        }
    }
    kept
}

fn gap(id: &tollgate_core::Name, evidence: &str, rows: &Rows<'_>) -> FindingReport {
    let what = match (evidence, rows.get(id)) {
        ("", Some(row)) => format!("not met: {}", row.text),
        ("", None) => format!("not met: {id}"),
        (text, _) => text.to_owned(),
    };
    FindingReport { criterion: Some(id.clone()), what, ..FindingReport::default() }
}

fn finding(finding: &Finding) -> FindingReport {
    FindingReport {
        repeats: finding.repeats,
        severity: Some(finding.severity.word().into()),
        category: finding.rule.as_deref().map(Into::into),
        path: finding.path.as_deref().map(Into::into),
        line: finding.line,
        what: finding.text.clone(),
        ..FindingReport::default()
    }
}
