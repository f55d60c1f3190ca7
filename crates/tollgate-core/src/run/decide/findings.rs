//! Findings: opened, restated, addressed and closed by who may do that.

use std::collections::BTreeSet;

use super::super::bundle;
use super::super::event::{Finding, FindingChanged, FindingOpened, FindingRestated, FindingStatus, JudgementRests};
use super::super::gate::{self, CriterionState};
use super::super::state::FindingState;
use super::draft::Draft;
use crate::Name;
use crate::id::{AttemptId, FindingId};
use crate::protocol::model::{Role, Stage};
use crate::report::{FindingReport, Judgement, Report, Verdict};
use crate::scope;

impl Draft {
    pub(super) fn settle_findings(
        &mut self,
        attempt: AttemptId,
        (role_name, role): (&Name, &Role),
        unit: Option<&Name>,
        report: &Report,
        contradictions: &[String],
    ) {
        let own = |finding: &FindingState| finding.about.of.as_ref() == Some(role_name);
        let again = |finding: &FindingState| own(finding) && contradictions.contains(&finding.about.what);
        if !role.judges() {
            // A repair says which findings it addresses; without a word, all it was shown.
            let open =
                self.findings(unit, |finding| finding.status_for(unit) == FindingStatus::Open && !again(finding));
            let addressed = match &report.claims.addresses {
                Some(named) => open.into_iter().filter(|id| named.contains(id)).collect(),
                None => open,
            };
            self.address(addressed, unit, &format!("{role_name} reports it mended in {attempt}"));
            return;
        }
        // What was found on a row is settled by who judges that row: not by the same role in a unit that does not own it.
        let rows: BTreeSet<Name> = self.rows_of(unit);
        let mine = |finding: &FindingState| {
            let about = &finding.about;
            about.role.as_ref() == Some(role_name) && about.criterion.as_ref().is_none_or(|row| rows.contains(row))
        };
        // What was wrong in a judge's own word is settled by its next word, and by nothing that it thinks of it.
        let mended = self.findings(unit, |finding| own(finding) && !finding.status.is_closed() && !again(finding));
        self.change(mended, FindingStatus::Fixed, &format!("{role_name} reports what was measured in {attempt}"));
        match report.verdict {
            Verdict::Accept | Verdict::AcceptWithNotes => {
                let known = self.findings(unit, |finding| mine(finding) && !finding.status.is_closed());
                // What it names beside its acceptance is not mended: it stands, and does no harm.
                let noted: Vec<(FindingId, FindingReport)> = report
                    .findings
                    .iter()
                    .filter_map(|said| Some((self.same_finding(&known, said)?, said.clone())))
                    .collect();
                let (noted_ids, mended): (Vec<FindingId>, Vec<FindingId>) =
                    known.into_iter().partition(|id| noted.iter().any(|(noted, _)| noted == id));
                self.change(mended, FindingStatus::Fixed, &format!("{role_name} accepts in {attempt}"));
                for (id, said) in noted {
                    self.restate(id, attempt, said);
                }
                let why = format!("{role_name} names it again and accepts all the same in {attempt}");
                self.change(noted_ids, FindingStatus::Refuted, &why);
                // Only who was shown a measured contradiction can say that it does no harm.
                let shown = bundle::sees(&role.sees, "findings");
                let measured = self.findings(unit, |finding| {
                    let about = &finding.about;
                    let harmless = about.role.is_none() && about.criterion.is_none() && !own(finding);
                    shown && harmless && !finding.status.is_closed()
                });
                self.change(measured, FindingStatus::Refuted, &format!("{role_name} saw it and accepts in {attempt}"));
            }
            Verdict::Reject => {
                let before = self.findings(unit, |finding| mine(finding) && !finding.status.is_closed());
                let mut still: Vec<FindingId> = Vec::new();
                let mut restated: Vec<(FindingId, FindingReport)> = Vec::new();
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
                    // Two gaps of one row are two findings: each known one is met once.
                    let unmet: Vec<FindingId> = before.iter().copied().filter(|id| !still.contains(id)).collect();
                    match self.same_finding(&unmet, &said) {
                        Some(id) => {
                            still.push(id);
                            restated.push((id, said));
                        }
                        None => fresh.push(said),
                    }
                }
                // Silence confirms what somebody says to have mended; of what nobody has touched it says nothing.
                let passed =
                    |row: &Name| report.criteria.iter().any(|said| said.id == *row && said.result == Judgement::Pass);
                let settled = |id: &FindingId| {
                    self.run.ledger.findings.get(id).is_some_and(|finding| {
                        finding.status == FindingStatus::Addressed
                            || finding.about.criterion.as_ref().is_some_and(passed)
                    })
                };
                let (gone, silent): (Vec<FindingId>, Vec<FindingId>) =
                    before.into_iter().filter(|id| !still.contains(id)).partition(settled);
                // Units that left it as it is have to look at it again.
                self.reopen(silent, &format!("{role_name} says nothing of it in {attempt}"));
                self.change(gone, FindingStatus::Fixed, &format!("{role_name} does not name it again in {attempt}"));
                self.reopen(still.clone(), &format!("{role_name} names it again in {attempt}"));
                for (id, said) in restated {
                    self.restate(id, attempt, said);
                }
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

    /// What a report claims and was not measured, or the other way round, is found by the engine, whatever else it says.
    pub(super) fn open_contradictions(
        &mut self,
        attempt: AttemptId,
        (role_name, role): (&Name, &Role),
        unit: Option<&Name>,
        contradictions: Vec<String>,
    ) {
        for what in contradictions {
            let said = FindingReport { what, ..FindingReport::default() };
            // What a judge claims to have written and did not concerns its own word, and no unit's work.
            let units = if role.judges() { unit.cloned().into_iter().collect() } else { self.units_meant(unit, &said) };
            let same = |about: &Finding| {
                about.of.as_ref() == Some(role_name) && about.what == said.what && about.units == units
            };
            let known = self.run.ledger.findings.iter().find(|(_, finding)| same(&finding.about));
            let Some((id, status)) = known.map(|(id, finding)| (*id, finding.status)) else {
                let about = Finding { of: Some(role_name.clone()), ..finding_of(attempt, None, units, said) };
                self.emit(FindingOpened { finding: FindingId(self.run.next_finding), about });
                continue;
            };
            // Who may say that it does no harm has said so.
            if !matches!(status, FindingStatus::Refuted | FindingStatus::Waived) {
                self.reopen(vec![id], &format!("it is measured again in {attempt}"));
            }
        }
    }

    /// Takes over what was said last of a finding, where it says something else.
    fn restate(&mut self, finding: FindingId, attempt: AttemptId, said: FindingReport) {
        let Some(known) = self.run.ledger.findings.get(&finding).map(|known| known.about.clone()) else { return };
        let about = Finding {
            attempt,
            severity: said.severity.or_else(|| known.severity.clone()),
            category: said.category.or_else(|| known.category.clone()),
            path: said.path.or_else(|| known.path.clone()),
            line: said.line.or(known.line),
            what: said.what,
            why: said.why,
            fix: said.fix,
            ..known.clone()
        };
        if about != (Finding { attempt, ..known }) {
            self.emit(FindingRestated { finding, about });
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

    /// Findings are open again for everybody they go to.
    fn reopen(&mut self, findings: Vec<FindingId>, why: &str) {
        let touched = |id: &FindingId| {
            let known = self.run.ledger.findings.get(id);
            known.is_some_and(|finding| {
                finding.status != FindingStatus::Open || !finding.addressed.is_empty() || !finding.left.is_empty()
            })
        };
        let findings: Vec<FindingId> = findings.into_iter().filter(touched).collect();
        if !findings.is_empty() {
            self.emit(FindingChanged { findings, status: FindingStatus::Open, why: why.to_owned(), unit: None });
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
    pub fn commands_speak(&mut self, stage: &Stage, unit: Option<&Name>) -> bool {
        let protocol = self.protocol.clone();
        let gates = stage.ensures.iter().filter_map(|name| protocol.gates.get(name));
        let rows: Vec<(Name, AttemptId, String)> = gates
            .flat_map(|gate| gate::rows_read(&self.run, gate, unit))
            .filter_map(|(row, state, _)| {
                let ran = row.ran.as_ref()?;
                let fails = ran.result == Judgement::Fail && state != CriterionState::Waived;
                let command = row.command.as_deref().unwrap_or_default();
                let how = ran.flaky.map_or_else(|| "fails".to_owned(), |flaky| format!("is {flaky}"));
                fails.then(|| (row.id.clone(), ran.attempt, format!("the command of {} {how}: {command}", row.id)))
            })
            .collect();
        let speak = !rows.is_empty();
        for (row, attempt, what) in rows {
            let about_row =
                |finding: &FindingState| finding.about.role.is_none() && finding.about.criterion.as_ref() == Some(&row);
            let known = self.findings(unit, about_row);
            let said = FindingReport { criterion: Some(row), what, ..FindingReport::default() };
            if known.is_empty() {
                self.open_finding(attempt, None, unit, said);
                continue;
            }
            self.reopen(known.clone(), "its command still fails");
            // One that now fails every time, or not every time any more, is another thing to mend.
            for id in known {
                self.restate(id, attempt, said.clone());
            }
        }
        speak
    }

    fn open_finding(&mut self, attempt: AttemptId, role: Option<&Name>, unit: Option<&Name>, said: FindingReport) {
        let about = finding_of(attempt, role, self.units_meant(unit, &said), said);
        self.emit(FindingOpened { finding: FindingId(self.run.next_finding), about });
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

fn finding_of(attempt: AttemptId, role: Option<&Name>, units: Vec<Name>, said: FindingReport) -> Finding {
    Finding {
        role: role.cloned(),
        of: None,
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
    }
}
