//! Types of the core as types of the wire.

use tollgate_api as api;
use tollgate_contract::{Reading, ReportDialect};
use tollgate_core::report::{Claims, CriterionReport, CriterionRow, FindingReport, Judgement, Plan, QuestionReport};
use tollgate_core::run::event::{By, ByKind, Recorded};

/// A report as it was read.
pub fn report(reading: &Reading, dialect: &dyn ReportDialect) -> api::Report {
    let report = &reading.report;
    let notes = reading.notes(dialect);
    api::Report {
        health: report.health.word().into(),
        code: text(&report.code),
        reason: report.reason.clone(),
        verdict: report.verdict.word().into(),
        criteria: report.criteria.iter().map(criterion_result).collect(),
        findings: report.findings.iter().map(finding).collect(),
        questions: report.questions.iter().map(question).collect(),
        claims: claims(&report.claims),
        notes: notes.into_iter().map(|(name, text)| (name.to_string(), text.to_owned())).collect(),
        gives: report.gives.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        reads: report
            .reads
            .iter()
            .map(|read| api::SectionRead {
                section: read.section.to_string(),
                reason: read.reason.clone(),
                bytes: read.bytes,
            })
            .collect(),
    }
}

/// What a document brings into the ledger.
pub fn plan(plan: &Plan) -> api::Plan {
    let unit = |unit: &tollgate_core::report::UnitReport| api::PlannedUnit {
        name: unit.name.to_string(),
        title: unit.title.clone(),
        needs: texts(&unit.needs),
        scope: texts(&unit.scope),
    };
    let requirement = |requirement: &tollgate_core::report::RequirementReport| api::Requirement {
        id: requirement.id.to_string(),
        text: requirement.text.clone(),
        disposition: text(&requirement.disposition),
    };
    api::Plan {
        units: plan.units.iter().map(unit).collect(),
        requirements: plan.requirements.iter().map(requirement).collect(),
        criteria: plan.criteria.iter().map(planned_criterion).collect(),
    }
}

/// The word for what was found about a criterion.
pub const fn judgement(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Pass => "pass",
        Judgement::Fail => "fail",
        Judgement::Unobservable => "unobservable",
    }
}

/// A row that nobody has judged yet.
fn planned_criterion(row: &CriterionRow) -> api::Criterion {
    api::Criterion {
        id: row.id.to_string(),
        text: row.text.clone(),
        group: text(&row.group),
        unit: text(&row.unit),
        requirement: text(&row.requirement),
        command: row.command.clone(),
        repeat: row.repeat.unwrap_or(1),
        status: "open".into(),
        evidence: Vec::new(),
    }
}

fn criterion_result(row: &CriterionReport) -> api::CriterionResult {
    api::CriterionResult {
        id: row.id.to_string(),
        result: judgement(row.result).into(),
        evidence: row.evidence.clone(),
    }
}

fn finding(finding: &FindingReport) -> api::FindingResult {
    api::FindingResult {
        repeats: finding.repeats.map(|id| id.to_string()),
        severity: text(&finding.severity),
        category: text(&finding.category),
        path: text(&finding.path),
        line: finding.line,
        criterion: text(&finding.criterion),
        unit: text(&finding.unit),
        what: finding.what.clone(),
        why: finding.why.clone(),
        fix: finding.fix.clone(),
    }
}

fn question(question: &QuestionReport) -> api::Question {
    api::Question {
        text: question.text.clone(),
        blocking: question.blocking,
        options: question.options.clone(),
        recommendation: question.recommendation.clone(),
        reason: question.reason.clone(),
    }
}

fn claims(claims: &Claims) -> api::Claims {
    api::Claims {
        created: texts(&claims.created),
        modified: texts(&claims.modified),
        deleted: texts(&claims.deleted),
        deleted_count: claims.deleted_count,
        next: text(&claims.next),
        addresses: claims.addresses.as_ref().map(|ids| ids.iter().map(ToString::to_string).collect()),
    }
}

fn text(name: &Option<impl ToString>) -> Option<String> {
    name.as_ref().map(ToString::to_string)
}

fn texts(names: &[impl ToString]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// An event of a journal.
pub fn event(recorded: &Recorded) -> api::Event {
    // What is in the journal goes over the wire as it is; it was written by this format's own writer.
    let data = recorded.to_bytes().ok().and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    let data = data.and_then(|mut value| value.get_mut("data").map(serde_json::Value::take)).unwrap_or_default();
    api::Event {
        v: 1,
        kind: recorded.event.kind().into(),
        run: recorded.run.to_string(),
        seq: recorded.seq,
        at_ms: recorded.at_ms,
        epoch: recorded.epoch,
        by: actor(&recorded.by),
        text: crate::event_text::sentence(recorded).unwrap_or_default(),
        data,
    }
}

/// Who did something.
pub fn actor(by: &By) -> api::Actor {
    let kind = match by.kind {
        ByKind::Person => api::ActorKind::Person,
        ByKind::Driver => api::ActorKind::Driver,
        ByKind::Worker => api::ActorKind::Worker,
        ByKind::Timer => api::ActorKind::Timer,
    };
    api::Actor { kind, name: by.name.to_string() }
}
