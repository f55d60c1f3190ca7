//! From a status block to the canonical report.
//!
//! Status: complete ok · blocked needs_input · failed failed · incomplete exhausted.
//! Verdict: APPROVED accept · REQUEST_CHANGES, BLOCKED reject · n/a none; a tester's follows from its rows.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::access::Access;
use super::document::{Finding, Mark};
use super::draft::Located;
use super::rules::Part;
use super::stances::{is_testers, verified_mark};
use crate::contract::rows::{Named, Rows};
use crate::report::{Claims, CriterionReport, FindingReport, Health, Judgement, QuestionReport, Report, Verdict};

/// Maps a report that broke no rule.
pub fn map(mut access: Access<'_>, part: Part, rows: &Rows<'_>) -> Report {
    let Some(status) = access.status() else { return Report::new(Health::Malformed, Verdict::None) };
    let health = status.health();
    let mut report = Report::new(health, Verdict::None);
    report.reason = access.reason().to_owned();
    let (word, next) = access.index();
    report.verdict = word.verdict();
    if part == Part::DodChecker
        && let Some(own) = access.verdict()
    {
        report.verdict = own.verdict();
    }
    report.claims = claims(&mut access, next);
    if part == Part::Tester {
        test(&mut access, rows, &mut report);
    }
    // What an unfinished judge says against the work is no verdict, and is told to who decides what becomes of it.
    if health != Health::Ok {
        report.verdict = Verdict::None;
    }
    let objects = health != Health::Ok || report.verdict == Verdict::Reject;
    if matches!(part, Part::DodChecker | Part::Unknown) {
        checked(&mut access, rows, &mut report, objects);
    }
    report.criteria = merged(std::mem::take(&mut report.criteria));
    if objects {
        let reason = match report.verdict {
            Verdict::Reject => "the verdict rejects: the findings go to the next attempt",
            _ => "the judge is not finished: its findings are put to a person",
        };
        report.findings.extend(access.findings(reason).map(finding));
    } else if access.repeats_findings() {
        let repeated = access.findings("the verdict accepts: what it names again is not called mended");
        report.findings.extend(repeated.filter(|finding| finding.repeats.is_some()).map(finding));
    }
    if access.has_questions() {
        let blocking = health == Health::NeedsInput;
        let reason = if blocking {
            "status blocked: put to a person word for word"
        } else {
            "open questions are put beside the work"
        };
        let question =
            |text: &Located<String>| QuestionReport { text: text.value.clone(), blocking, ..QuestionReport::default() };
        report.questions = access.questions(reason).iter().map(question).collect();
    }
    report.reads = access.into_reads();
    report
}

fn claims(access: &mut Access<'_>, next: Option<&str>) -> Claims {
    let (created, modified, deleted, deleted_count) = access.claimed();
    let addresses = access.addressed().map(<[_]>::to_vec);
    Claims { created, modified, deleted, deleted_count, next: next.map(Into::into), addresses }
}

/// A tester's rows are its verdict: any ✗ rejects, whosever row it is. A ⚠️ is unobservable and so never a pass: in a run the report
/// accepts what else there is, and the gate over the rows does not hold, so that a person is asked to waive them. Where no rows are known
/// there is no such gate, and the report is inconclusive.
fn test(access: &mut Access<'_>, rows: &Rows<'_>, report: &mut Report) {
    report.verdict = Verdict::Accept;
    for row in access.coverage() {
        if row.value.mark == Mark::Warning && !rows.are_known() && report.verdict == Verdict::Accept {
            report.verdict = Verdict::Inconclusive;
        }
        let Named::Rows(ids, evidence) = rows.resolve(&row.value.row) else { continue };
        for id in ids {
            if row.value.mark == Mark::Fail {
                report.verdict = Verdict::Reject;
                report.findings.push(gap(&id, &evidence, rows));
            } else if rows.get(&id).is_some_and(|row| !is_testers(row)) {
                // A tester may repeat the other rows; that they hold is not its to say.
                continue;
            }
            add_row(report, &id, row.value.mark.judgement(), &evidence);
        }
    }
}

/// A checker's verified rows pass and its gaps fail. A verified row with a ⚠️ could not be observed, which is no pass, also where it is
/// left to the tester.
fn checked(access: &mut Access<'_>, rows: &Rows<'_>, report: &mut Report, objects: bool) {
    for row in access.verified() {
        if let Named::Rows(ids, evidence) = rows.resolve(&row.value) {
            let judged = verified_mark(&row.value, rows).judgement();
            ids.iter().for_each(|id| add_row(report, id, judged, &evidence));
        }
    }
    if !objects {
        return;
    }
    for row in access.gaps() {
        if let Named::Rows(ids, evidence) = rows.resolve(&row.value) {
            for id in ids {
                report.findings.push(gap(&id, &evidence, rows));
                add_row(report, &id, Judgement::Fail, &evidence);
            }
        }
    }
}

/// One judgement per row, with everything that was said for it.
fn merged(rows: Vec<CriterionReport>) -> Vec<CriterionReport> {
    let mut at: BTreeMap<crate::Name, usize> = BTreeMap::new();
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

fn add_row(report: &mut Report, id: &crate::Name, result: Judgement, evidence: &str) {
    report.criteria.push(CriterionReport { id: id.clone(), result, evidence: evidence.to_owned() });
}

fn gap(id: &crate::Name, evidence: &str, rows: &Rows<'_>) -> FindingReport {
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
