//! A worker reports: the claim is settled against the protocol and what was measured, then routed.

use std::collections::BTreeSet;

use super::super::bundle::rows_shown;
use super::super::event::{
    ArtifactGiven, AttemptReported, BundleItem, By, ByKind, Changed, LedgerPlanned, VariableGiven, Work, WorkKind,
};
use super::super::gate;
use super::super::role_changes::Compared;
use super::super::state::Criterion;
use super::draft::Draft;
use super::open::OpenArtifact;
use super::plan;
use super::quota::is_cut_off;
use super::work::other_work;
use super::{AttemptResult, Rejection};
use crate::Name;
use crate::id::{AttemptId, UnitId};
use crate::protocol::Outcome;
use crate::protocol::model::{Resource, Role, ScopePolicy, Stage};
use crate::report::{CriterionReport, Disposition, Health, Judgement, Plan, Report, RowWord, Verdict};
use crate::scope;

/// How many rows are named that an acceptance does not name.
const ROWS_NAMED_MAX: usize = 5;

/// How many paths outside a scope are told.
const NOTICED_MAX: usize = 20;

impl Draft {
    pub fn report(&mut self, attempt: AttemptId, token: u64, mut result: AttemptResult) -> Result<(), Rejection> {
        self.needs_driver()?;
        let Some(live) = self.live(attempt, token, Some(result.object)) else { return Ok(()) };
        let protocol = self.protocol.clone();
        let Some(instance) = self.instance(&live.instance) else { return Ok(()) };
        let Work::Dispatch { role: role_name, worker, bundle, .. } = &live.work else {
            return Err(other_work(attempt, &live, WorkKind::Dispatch));
        };
        let missing = |what, name: &str| Rejection::NotInProtocol { what, name: name.into() };
        let stage = Self::stage_of(&protocol, &instance, &live.stage);
        let stage = stage.ok_or_else(|| missing("stage", &live.stage))?;
        let role = protocol.roles.get(role_name).ok_or_else(|| missing("role", role_name))?;
        let unit = instance.unit.clone();

        plan::propose(&mut result.report.plan, &self.run.ledger);
        result.artifacts.values_mut().for_each(|artifact| plan::propose(&mut artifact.plan, &self.run.ledger));
        let breach = self.breach(role, &live.instance, unit.as_ref(), &result.changed);
        if role.judges() {
            speak_for_shown(bundle, &mut result);
        }
        // What counts of them comes at once, and is looked at as one.
        result.report.plan = plan::used(&stage.gives, &result.report.plan);
        for (name, artifact) in &mut result.artifacts {
            artifact.plan = plan::brought(&protocol, name, &artifact.plan);
        }
        let brought = result.artifacts.values().map(|artifact| &artifact.plan);
        let planned = plan::together(std::iter::once(&result.report.plan).chain(brought));
        let wrong = plan::problem(&planned, &self.run).or_else(|| plan::replaced(&planned, &self.run.ledger));
        settle(stage, role, &mut result, (&breach, wrong));
        self.owes_rows(stage, unit.as_ref(), &mut result.report);
        if breach.is_empty() {
            let outside = self.outside(role, unit.as_ref(), &result.changed);
            result.noticed.extend(outside.into_iter().map(|path| format!("scope: {path}")));
        }
        let kept = !role.writes.is_empty() && breach.is_empty();
        if is_cut_off(&result) {
            self.park(&live, (attempt, token), (role_name, worker), result, kept);
            return Ok(());
        }
        // A report that cannot be used says nothing; one that is not done need not say what it changed.
        let (health, claims) = (result.report.health, &result.report.claims);
        let stated = health == Health::Ok || health != Health::Malformed && claims.are_stated();
        let claims = Some(claims).filter(|_| stated);
        // Who neither writes nor judges has no word on files that anything rests on, or that anybody could settle.
        let answers = !role.writes.is_empty() || role.judges();
        let before = instance.wrote.get(role_name).cloned().unwrap_or_default();
        let mut compared = Compared::default();
        if breach.is_empty() && answers {
            let in_the_run = self.run.instances.values().flat_map(|it| it.wrote.values()).flat_map(|it| it.all.paths());
            compared = before.compare(claims, &result.changed, role.judges(), in_the_run);
        }
        // What is not so is asked for again, as long as a report that cannot be used would be. After that it is a finding.
        let is_claimed = health == Health::Ok && !compared.contradictions.is_empty();
        if is_claimed && self.asks_again(&live.instance, stage) {
            result.report.health = Health::Malformed;
            result.report.verdict = Verdict::None;
            result.report.reason = match compared.contradictions.as_slice() {
                [first, more @ ..] if !more.is_empty() => format!("{first}, and {} more", more.len()),
                found => found.concat(),
            };
            result.diagnostics.append(&mut compared.contradictions);
            compared = before.compare(None, &result.changed, role.judges(), std::iter::empty());
        }
        let now = result.changed.iter().map(|change| &change.path);
        let wrote: BTreeSet<Name> = now.chain(before.unfinished.paths()).cloned().collect();
        if answers {
            compared.contradictions.extend(self.left_open(unit.as_ref(), &result.report));
        }
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
                notices: if report.health == Health::Ok { report.notices.clone() } else { Vec::new() },
                reads: report.reads.clone(),
                sections: result.sections.clone(),
                content: result.content.clone().filter(|_| kept),
                changed: result.changed.clone(),
                contradictions: compared.contradictions.clone(),
                unnamed: compared.unnamed.clone(),
                diagnostics: result.diagnostics.clone(),
                noticed: result.noticed.clone(),
                told: result.told.clone().map(Box::new),
                leash: result.leash.clone().map(Box::new),
            },
        );
        let outcome = outcome(role, report);
        if report.health == Health::Ok {
            self.deliver(stage, unit.as_ref(), &result);
            let again = &compared.contradictions;
            self.settle_findings(attempt, (role_name, role), unit.as_ref(), report, (again, &wrote));
        }
        self.open_contradictions(attempt, role_name, unit.as_ref(), &compared);
        let (questions, beside) = self.part_questions(&live, stage, report, &outcome);
        self.beside_questions(&live, stage, report, &outcome, &beside);
        self.lapse();
        self.reason = reason(&result.report);
        self.asked_by_report = questions;
        // An acceptance is borne out before it is routed; `advance` sees to it.
        if self.instance(&live.instance).is_some_and(|known| known.judging.is_none()) {
            self.route(&live.instance, stage, &outcome);
        }
        Ok(())
    }

    /// An acceptance names the rows it accepts, where its contract can: what it is silent on it has not said. A command that
    /// fails is said by itself.
    fn owes_rows(&self, stage: &Stage, unit: Option<&UnitId>, report: &mut Report) {
        if report.health != Health::Ok || !report.verdict.accepts() || report.rows != RowWord::Named {
            return;
        }
        let gates = stage.ensures.iter().filter_map(|name| self.protocol.gates.get(name));
        let asked: Vec<&Criterion> = gates
            .flat_map(|gate| gate::rows_of(&self.run, gate, unit).into_iter().map(move |row| (gate, row)))
            .filter(|(gate, row)| !gate::is_waived(&self.run, row, &gate.bound_to, unit))
            .map(|(_, row)| row)
            .collect();
        let is_named = |row: &&Criterion| report.criteria.iter().any(|said| said.id == row.id);
        let fails = |row: &&Criterion| row.ran.as_ref().is_some_and(|ran| ran.result == Judgement::Fail);
        if asked.is_empty() || asked.iter().any(is_named) || asked.iter().any(fails) {
            return;
        }
        let names: BTreeSet<&str> = asked.iter().map(|row| &*row.id).collect();
        let first: Vec<&str> = names.iter().take(ROWS_NAMED_MAX).copied().collect();
        let more = names.len() - first.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        report.verdict = Verdict::Inconclusive;
        report.reason =
            format!("it accepts, and names none of the rows it was asked about: {}{more}", first.join(", "));
    }

    /// Requirements that a report leaves open by their id although they are in scope of its subject and it is done, or accepts: its
    /// own next word closes that, or a person, and no judge. What somebody else is to meet it may name.
    fn left_open(&self, unit: Option<&UnitId>, report: &Report) -> Vec<String> {
        let ledger = &self.run.ledger;
        let ends = report.health == Health::Ok
            && matches!(report.verdict, Verdict::None | Verdict::Accept | Verdict::AcceptWithNotes);
        let in_scope = |id: &Name| {
            let known = ledger.requirements.iter().find(|known| known.id == *id);
            known.is_some_and(|known| known.disposition == Some(Disposition::InScope) && known.waived.is_none())
        };
        let of_unit = |name: &UnitId, id: &Name| {
            let serves = self.run.unit(name).is_some_and(|unit| unit.requirements.contains(id));
            let shows = |row: &Criterion| row.unit.as_ref() == Some(name) && row.requirement.as_ref() == Some(id);
            serves || ledger.criteria.iter().any(shows)
        };
        let own = |id: &Name| in_scope(id) && unit.is_none_or(|name| of_unit(name, id));
        let notices = report.notices.iter().filter(|_| ends);
        let named =
            notices.filter_map(|notice| notice.requirement.as_ref().filter(|id| own(id)).map(|id| (id, &notice.text)));
        named.map(|(id, text)| format!("the report leaves {id} open, which is in scope: {text}")).collect()
    }

    /// Paths that a writing role may not have changed: outside its areas, or outside the scope where it is strict and
    /// nothing will look at them again before they count. What a landing would not take it was told to take out, whose ever
    /// it is; the next landing looks at it again.
    fn breach(&self, role: &Role, instance: &str, unit: Option<&UnitId>, changed: &[Changed]) -> Vec<Name> {
        if role.writes.is_empty() {
            return Vec::new();
        }
        let areas = self.run.area_patterns();
        let known = unit.and_then(|name| self.run.unit(name));
        let lands = known.is_some_and(|unit| unit.tree.as_ref().is_some_and(|own| !own.landed));
        let scope = known.filter(|_| !lands && role.scope == ScopePolicy::Strict).map(|unit| unit.scope.clone());
        let allowed = |path: &Name| {
            let is_told = self.run.is_told_of(instance, path);
            let in_area = scope::area_of(&areas, path).is_some_and(|area| role.writes.contains(area));
            let widened = !self.run.ledger.widened.is_empty() && scope::in_scope(path, &self.run.ledger.widened);
            (in_area && scope.as_ref().is_none_or(|scope| scope::in_scope(path, scope))) || widened || is_told
        };
        changed.iter().map(|change| &change.path).filter(|path| !allowed(path)).cloned().collect()
    }

    /// Paths outside the scope of a unit that its role may change all the same, by its policy or because a landing looks at
    /// them again: they are told. Some of many.
    fn outside(&self, role: &Role, unit: Option<&UnitId>, changed: &[Changed]) -> Vec<Name> {
        let scope = unit.and_then(|name| self.run.unit(name)).map(|unit| unit.scope.as_slice()).unwrap_or_default();
        let paths = changed.iter().map(|change| &change.path).filter(|path| !scope::in_scope(path, scope));
        if role.writes.is_empty() || scope.is_empty() { Vec::new() } else { paths.take(NOTICED_MAX).cloned().collect() }
    }

    /// A document was given for a subject, with what it brings.
    pub(super) fn given(&mut self, name: &Name, artifact: &OpenArtifact, unit: Option<&UnitId>) {
        let has_path = self.protocol.artifacts.get(name).is_some_and(|artifact| artifact.path.is_some());
        let tree = has_path.then(|| self.run.tree_of(unit).clone());
        let OpenArtifact { object, fields, plan, .. } = artifact;
        self.emit(ArtifactGiven { name: name.clone(), object: *object, fields: fields.clone(), tree });
        self.planned(&plan::news(plan, &self.run.ledger), name);
    }

    /// What an accepted report delivers: documents, rows, units, variables.
    fn deliver(&mut self, stage: &Stage, unit: Option<&UnitId>, result: &AttemptResult) {
        for (name, artifact) in &result.artifacts {
            self.given(name, artifact, unit);
        }
        self.planned(&plan::news(&result.report.plan, &self.run.ledger), &stage.id);
        for (name, value) in &result.report.gives {
            if stage.gives.iter().any(|given| **given == **name) {
                self.emit(VariableGiven { name: name.clone(), value: value.clone() });
            }
        }
    }

    pub fn planned(&mut self, plan: &Plan, from: &str) {
        if *plan != Plan::default() {
            self.emit(LedgerPlanned { plan: plan.clone(), from: from.into() });
        }
    }
}

/// A verdict speaks for the rows that its worker was shown, and for no others.
fn speak_for_shown(bundle: &[BundleItem], result: &mut AttemptResult) {
    let Some(shown) = rows_shown(bundle) else { return };
    let report = &mut result.report;
    if report.rows == RowWord::Shown && report.health == Health::Ok && report.verdict.accepts() {
        let pass = |id: &Name| CriterionReport { id: id.clone(), result: Judgement::Pass, evidence: String::new() };
        report.criteria = shown.iter().map(pass).collect();
    }
    let (counts, others): (Vec<_>, Vec<_>) =
        std::mem::take(&mut report.criteria).into_iter().partition(|said| shown.contains(&said.id));
    report.criteria = counts;
    let others = others.into_iter().map(|said| format!("rows: {} was not shown to it", said.id));
    result.noticed.extend(others.take(NOTICED_MAX));
}

/// Why a report is what it is. What an unfinished one says against the work does not count, but who decides what becomes of
/// it is told.
fn reason(report: &Report) -> String {
    let mut parts: Vec<String> = Some(report.reason.clone()).into_iter().filter(|said| !said.is_empty()).collect();
    if !matches!(report.health, Health::Ok | Health::Malformed) {
        let failed = report.criteria.iter().filter(|said| said.result != Judgement::Pass);
        parts.extend(failed.map(|said| {
            let how = if said.result == Judgement::Fail { "does not hold" } else { "cannot be observed" };
            format!("it says that {} {how}: {}", said.id, said.evidence)
        }));
        let others = report.findings.iter().filter(|said| said.criterion.is_none());
        parts.extend(others.map(|said| match &said.path {
            Some(path) => format!("it found in {path}: {}", said.what),
            None => format!("it found: {}", said.what),
        }));
    }
    parts.join("\n")
}

/// The outcome of a dispatch: health first, then the verdict.
fn outcome(role: &Role, report: &Report) -> Outcome {
    match (report.health, &report.code) {
        (Health::Ok, _) if role.judges() => Outcome::Verdict(report.verdict),
        (Health::Ok, _) => Outcome::OK,
        (health, code) => Outcome::Health(health, code.clone()),
    }
}

/// Brings a report in line with the protocol: what contradicts it is malformed, what breaks its bounds has failed.
fn settle(stage: &Stage, role: &Role, result: &mut AttemptResult, (breach, wrong): (&[Name], Option<String>)) {
    let report = &mut result.report;
    if !breach.is_empty() {
        let first: Vec<&str> = breach.iter().take(5).map(|path| &**path).collect();
        report.overrule("scope", format!("it changed what it may not write: {}", first.join(", ")));
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
    let plans = || std::iter::once(&report.plan).chain(result.artifacts.values().map(|artifact| &artifact.plan));
    let lacks = stage.gives.iter().find(|given| match given {
        Resource::Units => plans().all(|plan| plan.units.is_empty()),
        Resource::Requirements => plans().all(|plan| plan.requirements.is_empty()),
        Resource::Criteria => plans().all(|plan| plan.criteria.is_empty()),
        Resource::Tree | Resource::Findings | Resource::Scope | Resource::Named(_) => {
            !report.gives.contains_key(&***given) && !result.artifacts.contains_key(&***given)
        }
    });
    let problem = if wrong.is_some() {
        wrong
    } else if role.judges() && report.verdict == Verdict::None {
        Some("the role judges, but the report has no verdict".to_owned())
    } else if role.judges() && !role.verdicts.contains(&report.verdict) {
        Some(format!("`{}` is not a verdict of this role", report.verdict.word()))
    } else if role.judges() && report.verdict == Verdict::Reject && !names_something {
        Some("it rejects, but names no finding and no failed row".to_owned())
    } else {
        let why = result.diagnostics.first().map(|why| format!(": {why}")).unwrap_or_default();
        lacks.map(|name| format!("it does not deliver `{name}`{why}"))
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
