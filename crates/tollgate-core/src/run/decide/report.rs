//! A worker reports: the claim is settled against the protocol and what was measured, then routed.

use std::collections::BTreeSet;

use super::super::bundle;
use super::super::event::{
    ArtifactGiven, AttemptReported, By, ByKind, ChangeKind, Changed, Finding, FindingChanged, FindingOpened,
    FindingStatus, JudgementRests, LedgerPlanned, VariableGiven, Work,
};
use super::super::gate;
use super::super::state::FindingState;
use super::draft::Draft;
use super::{AttemptResult, Rejection};
use crate::Name;
use crate::id::{AttemptId, FindingId};
use crate::protocol::model::{Role, ScopePolicy, Stage};
use crate::report::{FindingReport, Health, Judgement, Plan, Report, Verdict};
use crate::scope;

/// How many contradictions between claim and measurement are listed.
const CONTRADICTIONS_MAX: usize = 20;

impl Draft {
    pub fn report(&mut self, attempt: AttemptId, token: u64, mut result: AttemptResult) -> Result<(), Rejection> {
        self.needs_driver()?;
        let Some(live) = self.live(attempt, token, Some(result.object)) else { return Ok(()) };
        let protocol = self.protocol.clone();
        let Some(instance) = self.instance(&live.instance) else { return Ok(()) };
        let (Work::Dispatch { role: role_name, worker, .. }, Some(stage)) =
            (&live.work, Self::stage_of(&protocol, &instance, &live.stage))
        else {
            return Err(Rejection::NotTheDriver);
        };
        let Some(role) = protocol.roles.get(role_name) else { return Err(Rejection::NotTheDriver) };
        let unit = instance.unit.clone();

        let breach = self.breach(role, unit.as_ref(), &result.changed);
        settle(stage, role, &mut result, &breach);
        let kept = !role.writes.is_empty() && breach.is_empty();
        let contradictions = if kept && result.report.health == Health::Ok {
            contradictions(&result.report, &result.changed)
        } else {
            Vec::new()
        };
        let report = &result.report;
        let by = By { kind: ByKind::Worker, name: worker.clone() };
        self.emit_by(
            by,
            AttemptReported {
                attempt,
                token,
                report: result.object,
                health: report.health,
                code: report.code.clone(),
                reason: report.reason.clone(),
                verdict: report.verdict,
                criteria: report.criteria.clone(),
                reads: report.reads.clone(),
                sections: result.sections.clone(),
                content: result.content.clone().filter(|_| kept),
                changed: result.changed.clone(),
                contradictions: contradictions.clone(),
                diagnostics: result.diagnostics.clone(),
            },
        );
        if report.health == Health::Ok {
            self.deliver(stage, &result);
            self.settle_findings(attempt, role_name, role, unit.as_ref(), report, contradictions);
            self.beside_questions(&live, stage, report);
        }
        self.lapse();
        let outcome = outcome(role, &result.report);
        self.asked_by_report = result.report.questions;
        self.reason = result.report.reason;
        // An acceptance is borne out before it is routed; `advance` sees to it.
        if self.instance(&live.instance).is_some_and(|known| known.judging.is_none()) {
            self.route(&live.instance, stage, &outcome);
        }
        Ok(())
    }

    /// Paths that a writing role may not have changed: outside its areas, or outside the scope where it is strict and
    /// nothing will look at them again before they count.
    fn breach(&self, role: &Role, unit: Option<&Name>, changed: &[Changed]) -> Vec<Name> {
        if role.writes.is_empty() {
            return Vec::new();
        }
        let areas = self.run.area_patterns();
        let known = unit.and_then(|name| self.run.unit(name));
        let lands = known.is_some_and(|unit| unit.tree.as_ref().is_some_and(|own| !own.landed));
        let scope = known.filter(|_| !lands && role.scope == ScopePolicy::Strict).map(|unit| unit.scope.clone());
        let allowed = |path: &Name| {
            let in_area = scope::area_of(&areas, path).is_some_and(|area| role.writes.contains(area));
            let widened = !self.run.ledger.widened.is_empty() && scope::in_scope(path, &self.run.ledger.widened);
            (in_area && scope.as_ref().is_none_or(|scope| scope::in_scope(path, scope))) || widened
        };
        changed.iter().map(|change| &change.path).filter(|path| !allowed(path)).cloned().collect()
    }

    /// What an accepted report delivers: documents, rows, units, variables.
    fn deliver(&mut self, stage: &Stage, result: &AttemptResult) {
        for (name, artifact) in &result.artifacts {
            self.emit(ArtifactGiven { name: name.clone(), object: artifact.object, fields: artifact.fields.clone() });
            self.planned(&artifact.plan, name);
        }
        let mut plan = result.report.plan.clone();
        let gives = |what: &str| stage.gives.iter().any(|name| &**name == what);
        if !gives("units") {
            plan.units.clear();
        }
        if !gives("requirements") {
            plan.requirements.clear();
        }
        if !gives("units") && !gives("requirements") && !gives("criteria") {
            plan.criteria.clear();
        }
        self.planned(&plan, &stage.id);
        for (name, value) in &result.report.gives {
            if stage.gives.contains(name) {
                self.emit(VariableGiven { name: name.clone(), value: value.clone() });
            }
        }
    }

    pub fn planned(&mut self, plan: &Plan, from: &Name) {
        if !(plan.units.is_empty() && plan.requirements.is_empty() && plan.criteria.is_empty()) {
            self.emit(LedgerPlanned { plan: plan.clone(), from: from.clone() });
        }
    }

    fn settle_findings(
        &mut self,
        attempt: AttemptId,
        role_name: &Name,
        role: &Role,
        unit: Option<&Name>,
        report: &Report,
        contradictions: Vec<String>,
    ) {
        if !role.judges() {
            // A repair says which findings it addresses; without a word, all it was shown.
            let open = self.findings(unit, |finding| finding.status_for(unit) == FindingStatus::Open);
            let addressed = match &report.claims.addresses {
                Some(named) => open.into_iter().filter(|id| named.contains(id)).collect(),
                None => open,
            };
            self.address(addressed, unit, &format!("{role_name} reports it mended in {attempt}"));
            for what in contradictions {
                let about = FindingReport { what, ..FindingReport::default() };
                self.open_finding(attempt, None, unit, about);
            }
            return;
        }
        // What was found on a row is settled by who judges that row: not by the same role in a unit that does not own it.
        let rows: BTreeSet<Name> = self.rows_of(unit);
        let mine = |finding: &FindingState| {
            let about = &finding.about;
            about.role.as_ref() == Some(role_name) && about.criterion.as_ref().is_none_or(|row| rows.contains(row))
        };
        match report.verdict {
            Verdict::Accept | Verdict::AcceptWithNotes => {
                let mended = self.findings(unit, |finding| mine(finding) && !finding.status.is_closed());
                self.change(mended, FindingStatus::Fixed, &format!("{role_name} accepts in {attempt}"));
                // Only who was shown a measured contradiction can say that it does no harm.
                let shown = bundle::sees(&role.sees, "findings");
                let measured = self.findings(unit, |finding| {
                    let about = &finding.about;
                    shown && about.role.is_none() && about.criterion.is_none() && !finding.status.is_closed()
                });
                self.change(measured, FindingStatus::Refuted, &format!("{role_name} saw it and accepts in {attempt}"));
            }
            Verdict::Reject => {
                let before = self.findings(unit, |finding| mine(finding) && !finding.status.is_closed());
                let mut still: Vec<FindingId> = Vec::new();
                let mut fresh: Vec<FindingReport> = Vec::new();
                let named_rows = report.findings.iter().filter_map(|finding| finding.criterion.clone());
                let named_rows: Vec<Name> = named_rows.collect();
                let failed = report.criteria.iter().filter(|said| said.result == Judgement::Fail);
                let rows = failed.filter(|said| !named_rows.contains(&said.id)).map(|said| FindingReport {
                    criterion: Some(said.id.clone()),
                    what: format!("{} does not hold: {}", said.id, said.evidence),
                    ..FindingReport::default()
                });
                for said in report.findings.iter().cloned().chain(rows) {
                    match self.same_finding(&before, &said) {
                        Some(id) => still.push(id),
                        None => fresh.push(said),
                    }
                }
                let gone: Vec<FindingId> = before.into_iter().filter(|id| !still.contains(id)).collect();
                self.change(gone, FindingStatus::Fixed, &format!("{role_name} does not name it again in {attempt}"));
                self.change(still.clone(), FindingStatus::Open, &format!("{role_name} names it again in {attempt}"));
                for said in fresh {
                    self.open_finding(attempt, Some(role_name), unit, said);
                }
                if !still.is_empty() {
                    self.emit(JudgementRests { attempt, findings: still });
                }
            }
            Verdict::None | Verdict::Inconclusive => {}
        }
    }

    /// The rows a subject is judged by: a unit's own; for the run all.
    fn rows_of(&self, unit: Option<&Name>) -> BTreeSet<Name> {
        let rows = self.run.ledger.criteria.iter();
        rows.filter(|row| unit.is_none() || row.unit.as_ref() == unit).map(|row| row.id.clone()).collect()
    }

    /// A finding of the same role that a report names again: by id, by row, or by place and words.
    fn same_finding(&self, before: &[FindingId], said: &FindingReport) -> Option<FindingId> {
        let findings = &self.run.ledger.findings;
        before.iter().copied().find(|id| {
            let Some(known) = findings.get(id).map(|finding| &finding.about) else { return false };
            match (&said.repeats, &said.criterion) {
                (Some(repeats), _) => repeats == id,
                (None, Some(row)) => known.criterion.as_ref() == Some(row),
                (None, None) => known.criterion.is_none() && known.path == said.path && known.what == said.what,
            }
        })
    }

    /// Findings of a subject: a unit's own; for the run all.
    pub fn findings(&self, unit: Option<&Name>, wanted: impl Fn(&FindingState) -> bool) -> Vec<FindingId> {
        let of_subject = |finding: &FindingState| unit.is_none_or(|unit| finding.about.units.contains(unit));
        let all = self.run.ledger.findings.iter();
        all.filter(|(_, finding)| of_subject(finding) && wanted(finding)).map(|(id, _)| *id).collect()
    }

    pub fn change(&mut self, findings: Vec<FindingId>, status: FindingStatus, why: &str) {
        let differ: Vec<FindingId> = findings
            .into_iter()
            .filter(|id| self.run.ledger.findings.get(id).is_some_and(|finding| finding.status != status))
            .collect();
        if !differ.is_empty() {
            self.emit(FindingChanged { findings: differ, status, why: why.to_owned(), unit: None });
        }
    }

    /// A subject did its part of these findings, which are open for it.
    pub fn address(&mut self, findings: Vec<FindingId>, unit: Option<&Name>, why: &str) {
        if !findings.is_empty() {
            let status = FindingStatus::Addressed;
            self.emit(FindingChanged { findings, status, why: why.to_owned(), unit: unit.cloned() });
        }
    }

    /// What a command found is fixed when the command passes, and by nothing else.
    pub fn commands_rest(&mut self, unit: Option<&Name>) {
        let passes = |row: &Name| {
            let ran = self.run.criterion(row).and_then(|row| row.ran.as_ref());
            ran.is_some_and(|shown| shown.result == Judgement::Pass)
        };
        let fixed = self.findings(unit, |finding| {
            let by_engine = finding.about.role.is_none() && !finding.status.is_closed();
            by_engine && finding.about.criterion.as_ref().is_some_and(passes)
        });
        self.change(fixed, FindingStatus::Fixed, "its command passes");
    }

    /// What the engine's own commands say against a judge's acceptance: a finding per row, for whoever mends it. Whether
    /// they say anything.
    pub fn commands_speak(&mut self, attempt: AttemptId, stage: &Stage, unit: Option<&Name>) -> bool {
        let protocol = self.protocol.clone();
        let gates = stage.ensures.iter().filter_map(|name| protocol.gates.get(name));
        let rows: Vec<(Name, String)> = gates
            .flat_map(|gate| gate::rows_of(&self.run, gate, unit).into_iter().map(move |row| (gate, row)))
            .filter_map(|(gate, row)| {
                let waived = gate::is_waived(&self.run, row, &gate.bound_to, unit);
                let fails = row.ran.as_ref()?.result == Judgement::Fail && !waived;
                let command = row.command.as_deref().unwrap_or_default();
                fails.then(|| (row.id.clone(), format!("the command of {} fails: {command}", row.id)))
            })
            .collect();
        let speak = !rows.is_empty();
        for (row, what) in rows {
            let about_row =
                |finding: &FindingState| finding.about.role.is_none() && finding.about.criterion.as_ref() == Some(&row);
            let known = self.findings(unit, about_row);
            if known.is_empty() {
                let said = FindingReport { criterion: Some(row), what, ..FindingReport::default() };
                self.open_finding(attempt, None, unit, said);
            } else {
                self.change(known, FindingStatus::Open, "its command still fails");
            }
        }
        speak
    }

    fn open_finding(&mut self, attempt: AttemptId, role: Option<&Name>, unit: Option<&Name>, said: FindingReport) {
        let units = self.units_meant(unit, &said);
        self.emit(FindingOpened {
            finding: FindingId(self.run.next_finding),
            about: Finding {
                role: role.cloned(),
                attempt,
                units,
                criterion: said.criterion,
                severity: said.severity,
                category: said.category,
                path: said.path,
                line: said.line,
                what: said.what,
                why: said.why,
                fix: said.fix,
            },
        });
    }

    /// The units a finding goes to: the one it names, the row's, the one whose scope holds the path, else every one.
    fn units_meant(&self, unit: Option<&Name>, said: &FindingReport) -> Vec<Name> {
        let units = &self.run.ledger.units;
        let row = said.criterion.as_ref().and_then(|row| self.run.criterion(row)).and_then(|row| row.unit.clone());
        let named = said.unit.clone().filter(|name| self.run.unit(name).is_some());
        if let Some(one) = unit.cloned().or(named).or(row) {
            return vec![one];
        }
        let holds = |path: &Name| {
            let scoped = units.iter().filter(|unit| !unit.scope.is_empty() && scope::in_scope(path, &unit.scope));
            scoped.map(|unit| unit.name.clone()).collect::<Vec<_>>()
        };
        match said.path.as_ref().map(holds) {
            Some(found) if !found.is_empty() => found,
            _ => units.iter().map(|unit| unit.name.clone()).collect(),
        }
    }
}

/// The outcome of a dispatch: health first, then the verdict.
fn outcome(role: &Role, report: &Report) -> String {
    match (report.health, &report.code) {
        (Health::Ok, _) if role.judges() => report.verdict.word().to_owned(),
        (Health::Ok, _) => "ok".to_owned(),
        (health, Some(code)) => format!("{}.{code}", health.word()),
        (health, None) => health.word().to_owned(),
    }
}

/// Brings a report in line with the protocol: what contradicts it is malformed, what breaks its bounds has failed.
fn settle(stage: &Stage, role: &Role, result: &mut AttemptResult, breach: &[Name]) {
    let report = &mut result.report;
    if !breach.is_empty() {
        let first: Vec<&str> = breach.iter().take(5).map(|path| &**path).collect();
        *report = Report {
            code: Some("scope".into()),
            reason: format!("it changed what it may not write: {}", first.join(", ")),
            ..Report::new(Health::Failed, Verdict::None)
        };
        result.diagnostics.push(report.reason.clone());
        return;
    }
    if report.health != Health::Ok {
        // A verdict given with another health is a note; it never counts.
        report.verdict = Verdict::None;
        if result.diagnostics.is_empty() && !report.reason.is_empty() {
            result.diagnostics.push(report.reason.clone());
        }
        return;
    }
    let names_something =
        !report.findings.is_empty() || report.criteria.iter().any(|said| said.result == Judgement::Fail);
    let lacks = stage.gives.iter().find(|name| match &***name {
        "units" => report.plan.units.is_empty(),
        "requirements" => report.plan.requirements.is_empty(),
        "criteria" => report.plan.criteria.is_empty(),
        name => !report.gives.contains_key(name) && !result.artifacts.contains_key(name),
    });
    let problem = if let Some(problem) = plan_problem(&report.plan) {
        Some(problem)
    } else if role.judges() && report.verdict == Verdict::None {
        Some("the role judges, but the report has no verdict".to_owned())
    } else if role.judges() && !role.verdicts.contains(&report.verdict) {
        Some(format!("`{}` is not a verdict of this role", report.verdict.word()))
    } else if role.judges() && report.verdict == Verdict::Reject && !names_something {
        Some("it rejects, but names no finding and no failed row".to_owned())
    } else {
        lacks.map(|name| format!("it does not deliver `{name}`"))
    };
    if let Some(problem) = problem {
        report.health = Health::Malformed;
        report.verdict = Verdict::None;
        report.reason.clone_from(&problem);
        result.diagnostics.push(problem);
    }
    if !role.judges() {
        report.verdict = Verdict::None;
    }
}

/// The longest name of a unit.
const UNIT_NAME_MAX: usize = 64;

/// What is wrong with a plan. Names of units are parts of other names (`main/build:UNIT`, `reviewer@UNIT`), and a planner
/// is not to be trusted with those.
pub fn plan_problem(plan: &Plan) -> Option<String> {
    let plain = |name: &Name| {
        (1..=UNIT_NAME_MAX).contains(&name.len())
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.'))
    };
    let mut seen = BTreeSet::new();
    plan.units.iter().find_map(|unit| {
        if !plain(&unit.name) {
            Some(format!(
                "`{}` is no name for a unit: letters, digits, `-`, `_` and `.`, at most {UNIT_NAME_MAX}",
                unit.name
            ))
        } else if !seen.insert(&unit.name) {
            Some(format!("unit `{}` is planned twice", unit.name))
        } else {
            None
        }
    })
}

/// Where what a report claims and what the engine measured contradict each other.
fn contradictions(report: &Report, changed: &[Changed]) -> Vec<String> {
    let claims = &report.claims;
    let claimed = claims.created.iter().chain(&claims.modified).chain(&claims.deleted);
    let claimed: BTreeSet<&Name> = claimed.collect();
    if claimed.is_empty() && changed.is_empty() {
        return Vec::new();
    }
    let touched: BTreeSet<&Name> = changed.iter().map(|change| &change.path).collect();
    let mut found: Vec<String> = Vec::new();
    for path in claimed.iter().filter(|path| !touched.contains(**path)) {
        found.push(format!("the report names {path} as changed, but it did not change"));
    }
    let silent = changed.iter().filter(|change| !claimed.contains(&change.path));
    for change in silent.filter(|change| change.kind != ChangeKind::Deleted || claims.deleted_count.is_none()) {
        found.push(format!("{} changed, but the report does not name it", change.path));
    }
    if found.len() > CONTRADICTIONS_MAX {
        let more = found.len() - CONTRADICTIONS_MAX;
        found.truncate(CONTRADICTIONS_MAX);
        found.push(format!("and {more} more"));
    }
    found
}
