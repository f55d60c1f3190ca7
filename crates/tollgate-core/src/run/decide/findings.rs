//! Findings: opened, restated, addressed and closed by who may do that.

use std::collections::{BTreeMap, BTreeSet};

use super::super::event::{
    Finding, FindingChanged, FindingOpened, FindingRestated, FindingStatus, JudgementRests, TreeOf,
};
use super::super::finding::FindingState;
use super::super::gate::{self, CriterionState};
use super::super::role_changes::Compared;
use super::super::state::{Run, Unit};
use super::draft::Draft;
use crate::Name;
use crate::id::{AttemptId, FindingId, RoleId, UnitId};
use crate::protocol::model::{Role, Stage};
use crate::report::{FindingReport, Judgement, Report, Verdict};
use crate::scope;

/// What a finding says: of which row and place, and in which words.
type Words<'a> = (Option<&'a Name>, Option<&'a Name>, &'a str);

/// Findings of a role, by what a report can name them by: an id, a row, or a place and words.
struct Known<'a> {
    ids: BTreeSet<FindingId>,
    by_row: BTreeMap<&'a Name, Vec<FindingId>>,
    by_words: BTreeMap<Words<'a>, Vec<FindingId>>,
}

impl<'a> Known<'a> {
    /// What was found in the run's tree since a unit's was made is not met in the unit's: other words of the same row are of another gap.
    fn of(run: &'a Run, findings: &[FindingId], unit: Option<&UnitId>) -> Self {
        let mut known = Self { ids: BTreeSet::new(), by_row: BTreeMap::new(), by_words: BTreeMap::new() };
        // From the last to the first, so that the first is met first.
        for id in findings.iter().rev() {
            let Some(finding) = run.ledger.findings.get(id).filter(|finding| !finding.is_runs(unit)) else { continue };
            let about = &finding.about;
            known.ids.insert(*id);
            known.by_words.entry((about.criterion.as_ref(), about.path.as_ref(), &about.what)).or_default().push(*id);
            if let Some(row) = &about.criterion {
                known.by_row.entry(row).or_default().push(*id);
            }
        }
        known
    }

    /// The one that a report names again.
    fn same(&self, said: &FindingReport) -> Option<FindingId> {
        let first = |alike: &Vec<FindingId>| alike.iter().rev().find(|id| self.ids.contains(id)).copied();
        let words = (said.criterion.as_ref(), said.path.as_ref(), said.what.as_str());
        let alike = || self.by_words.get(&words).and_then(first);
        let of_row = || self.by_row.get(said.criterion.as_ref()?).and_then(first);
        match said.repeats {
            Some(id) => self.ids.get(&id).copied(),
            None => alike().or_else(of_row),
        }
    }

    /// It is not met again.
    fn met(&mut self, id: FindingId) {
        self.ids.remove(&id);
    }
}

impl Draft {
    pub(super) fn settle_findings(
        &mut self,
        attempt: AttemptId,
        (role_name, role): (&RoleId, &Role),
        unit: Option<&UnitId>,
        report: &Report,
        (contradictions, wrote): (&[String], &BTreeSet<Name>),
    ) {
        let own = |finding: &FindingState| finding.about.of.as_ref() == Some(role_name);
        let again = |finding: &FindingState| own(finding) && contradictions.contains(&finding.about.what);
        // What was wrong in a role's own word is settled by its next word, and by nothing that anybody thinks of it.
        let unsettled = |finding: &FindingState| !finding.status_in(unit).is_closed();
        let corrected = self.findings(unit, |finding| own(finding) && unsettled(finding) && !again(finding));
        let why = format!("{role_name} reports what was measured in {attempt}");
        self.change(corrected, None, FindingStatus::Fixed, &why);
        if !role.judges() {
            let why = format!("{role_name} says it is fixed ({attempt}), not verified yet");
            self.address(self.addressed_by(unit, report, wrote), unit, &why);
            return;
        }
        // What was found on a row is settled by who judges that row: not by the same role in a unit that does not own it.
        let rows: BTreeSet<Name> = self.rows_of(unit);
        let mine = |finding: &FindingState| {
            let about = &finding.about;
            about.role.as_ref() == Some(role_name) && about.criterion.as_ref().is_none_or(|row| rows.contains(row))
        };
        // What goes to others too, a judge of one unit does not settle for them.
        let open = |finding: &FindingState| self.is_only_of(finding, unit) && unsettled(finding);
        let of_role = self.findings(unit, |finding| mine(finding) && open(finding));
        match report.verdict {
            Verdict::Accept | Verdict::AcceptWithNotes => self.accepted(attempt, role_name, unit, report, of_role),
            Verdict::Reject => self.rejected(attempt, role_name, unit, report, of_role),
            Verdict::None | Verdict::Inconclusive => {}
        }
    }

    /// The findings that a repair addresses: those it names; without a word, all it was shown. Only of areas in which it changed
    /// something; one without a place, by any change. What was measured of a claim is no work of anybody.
    fn addressed_by(&self, unit: Option<&UnitId>, report: &Report, wrote: &BTreeSet<Name>) -> Vec<FindingId> {
        let areas = self.run.area_patterns();
        let touched: BTreeSet<Option<&Name>> = wrote.iter().map(|path| scope::area_of(&areas, path)).collect();
        let wrote_there = |path: &Name| {
            let area = scope::area_of(&areas, path);
            area.is_none() || touched.contains(&area)
        };
        let named = |id: &FindingId| report.claims.addresses.as_ref().is_none_or(|named| named.contains(id));
        let open = self.findings(unit, |finding| {
            let about = &finding.about;
            !wrote.is_empty()
                && finding.status_for(unit) == FindingStatus::Open
                && about.of.is_none()
                && about.path.as_ref().is_none_or(wrote_there)
        });
        open.into_iter().filter(named).collect()
    }

    /// An acceptance closes what the role found. What was measured is not its to close. Notes stay open until a person chose.
    fn accepted(
        &mut self,
        attempt: AttemptId,
        role: &RoleId,
        unit: Option<&UnitId>,
        report: &Report,
        known: Vec<FindingId>,
    ) {
        let index = Known::of(&self.run, &known, unit);
        let mut noted: BTreeMap<FindingId, FindingReport> = BTreeMap::new();
        let mut fresh: Vec<FindingReport> = Vec::new();
        for said in report.findings.iter().cloned() {
            match index.same(&said) {
                Some(id) => drop(noted.insert(id, said)),
                None => fresh.push(said),
            }
        }
        let (noted_ids, fixed): (Vec<FindingId>, Vec<FindingId>) =
            known.into_iter().partition(|id| noted.contains_key(id));
        let tree = self.tree_judged(unit);
        self.change(fixed, tree.as_ref(), FindingStatus::Fixed, &format!("{role} accepts in {attempt}"));
        for (id, said) in noted {
            self.restate(id, attempt, said);
        }
        let first = self.run.next_finding;
        for said in fresh {
            self.open_finding(attempt, Some(role), unit, said);
        }
        let beside = (first..self.run.next_finding).map(FindingId).collect();
        if report.verdict == Verdict::AcceptWithNotes {
            self.change(noted_ids, tree.as_ref(), FindingStatus::Open, &format!("{role} names it again in {attempt}"));
            return;
        }
        // What it names beside its acceptance does no harm.
        let why = format!("{role} names it again and accepts all the same in {attempt}");
        self.change(noted_ids, tree.as_ref(), FindingStatus::Refuted, &why);
        let why = format!("{role} names it and accepts all the same in {attempt}");
        self.change(beside, None, FindingStatus::Refuted, &why);
    }

    /// A rejection opens what it names, and closes what it does not name again.
    fn rejected(
        &mut self,
        attempt: AttemptId,
        role: &RoleId,
        unit: Option<&UnitId>,
        report: &Report,
        before: Vec<FindingId>,
    ) {
        let mut index = Known::of(&self.run, &before, unit);
        let mut still: BTreeSet<FindingId> = BTreeSet::new();
        let mut restated: Vec<(FindingId, FindingReport)> = Vec::new();
        let mut fresh: Vec<FindingReport> = Vec::new();
        let named_rows: BTreeSet<&Name> = report.findings.iter().filter_map(|said| said.criterion.as_ref()).collect();
        let failed = report.criteria.iter().filter(|said| said.result == Judgement::Fail);
        let rows = failed.filter(|said| !named_rows.contains(&said.id)).map(|said| FindingReport {
            criterion: Some(said.id.clone()),
            what: format!("{} does not hold: {}", said.id, said.evidence),
            ..FindingReport::default()
        });
        for said in report.findings.iter().cloned().chain(rows) {
            // Two gaps of one row are two findings: each known one is met once.
            match index.same(&said) {
                Some(id) => {
                    index.met(id);
                    still.insert(id);
                    restated.push((id, said));
                }
                None => fresh.push(said),
            }
        }
        // Silence confirms what somebody says to have mended; of what nobody has touched it says nothing.
        let passed = report.criteria.iter().filter(|said| said.result == Judgement::Pass);
        let passed: BTreeSet<&Name> = passed.map(|said| &said.id).collect();
        let settled = |id: &FindingId| {
            self.run.ledger.findings.get(id).is_some_and(|finding| {
                finding.status_in(unit) == FindingStatus::Addressed
                    || finding.about.criterion.as_ref().is_some_and(|row| passed.contains(row))
            })
        };
        let (gone, silent): (Vec<FindingId>, Vec<FindingId>) =
            before.into_iter().filter(|id| !still.contains(id)).partition(settled);
        let tree = self.tree_judged(unit);
        let tree = tree.as_ref();
        // Units that left it as it is have to look at it again.
        let silent = silent.into_iter().filter(|id| !self.stands(id, FindingStatus::Open, tree)).collect();
        self.change(silent, tree, FindingStatus::Open, &format!("{role} says nothing of it in {attempt}"));
        self.change(gone, tree, FindingStatus::Fixed, &format!("{role} does not name it again in {attempt}"));
        let still: Vec<FindingId> = still.into_iter().collect();
        self.change(still.clone(), tree, FindingStatus::Open, &format!("{role} names it again in {attempt}"));
        for (id, said) in restated {
            self.restate(id, attempt, said);
        }
        for said in fresh {
            self.open_finding(attempt, Some(role), unit, said);
        }
        if !still.is_empty() {
            self.emit(JudgementRests { attempt, findings: still });
        }
    }

    /// What a report claims and was not measured, or the other way round, is found by the engine, whatever else it says.
    pub(super) fn open_contradictions(
        &mut self,
        attempt: AttemptId,
        role_name: &RoleId,
        unit: Option<&UnitId>,
        compared: &Compared,
    ) {
        for what in compared.contradictions.iter().cloned() {
            let anew = compared.anew.contains(&what);
            let said = FindingReport { what, ..FindingReport::default() };
            // It concerns the word of who said it, and the work of no unit but its own.
            let units: Vec<UnitId> = unit.cloned().into_iter().collect();
            let same = |about: &Finding| {
                about.of.as_ref() == Some(role_name) && about.what == said.what && about.units == units
            };
            let known = self.run.ledger.findings.iter().find(|(_, finding)| same(&finding.about));
            let Some((id, status)) = known.map(|(id, finding)| (*id, finding.status_in(unit))) else {
                let about = Finding { of: Some(role_name.clone()), ..finding_of(attempt, None, units, said) };
                let tree = self.tree_judged(unit);
                self.emit(FindingOpened { finding: FindingId(self.run.next_finding), about, tree });
                continue;
            };
            // A person has said that it does no harm, of what was there then.
            if anew || !matches!(status, FindingStatus::Refuted | FindingStatus::Waived) {
                let tree = self.tree_judged(unit);
                let why = format!("still true after {attempt}");
                self.change(vec![id], tree.as_ref(), FindingStatus::Open, &why);
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
    fn rows_of(&self, unit: Option<&UnitId>) -> BTreeSet<Name> {
        let rows = self.run.ledger.criteria.iter();
        rows.filter(|row| unit.is_none() || row.unit.as_ref() == unit).map(|row| row.id.clone()).collect()
    }

    /// Findings of a subject: a unit's own; for the run all.
    pub fn findings(&self, unit: Option<&UnitId>, wanted: impl Fn(&FindingState) -> bool) -> Vec<FindingId> {
        let of_subject = |finding: &FindingState| unit.is_none_or(|unit| finding.about.units.contains(unit));
        let all = self.run.ledger.findings.iter();
        all.filter(|(_, finding)| of_subject(finding) && wanted(finding)).map(|(id, _)| *id).collect()
    }

    /// Whether a finding goes to nobody else than this subject. A unit that was given up is somebody else: who found it judges it again.
    pub fn is_only_of(&self, finding: &FindingState, unit: Option<&UnitId>) -> bool {
        unit.is_none() || finding.about.units.iter().all(|name| Some(name) == unit)
    }

    /// The tree that somebody who works on a subject sees, where units have trees of their own; none: all see the same.
    fn tree_judged(&self, unit: Option<&UnitId>) -> Option<TreeOf> {
        match unit {
            Some(unit) => self.run.unit(unit).is_some_and(Unit::is_apart).then(|| TreeOf::Unit(unit.clone())),
            None => self.run.ledger.units.iter().any(Unit::is_apart).then_some(TreeOf::Run),
        }
    }

    fn stands(&self, finding: &FindingId, status: FindingStatus, tree: Option<&TreeOf>) -> bool {
        self.run.ledger.findings.get(finding).is_none_or(|known| known.stands(status, tree))
    }

    /// Findings stand otherwise in a tree, or in all.
    fn change(&mut self, findings: Vec<FindingId>, tree: Option<&TreeOf>, status: FindingStatus, why: &str) {
        let known = |id: &FindingId| self.run.ledger.findings.get(id);
        let same = |id: &FindingId| match status {
            FindingStatus::Open => known(id).is_none_or(|known| known.is_found(tree)),
            FindingStatus::Addressed | FindingStatus::Fixed | FindingStatus::Refuted | FindingStatus::Waived => {
                self.stands(id, status, tree)
            }
        };
        let findings: Vec<FindingId> = findings.into_iter().filter(|id| !same(id)).collect();
        if !findings.is_empty() {
            self.emit(FindingChanged { findings, status, why: why.to_owned(), unit: None, tree: tree.cloned() });
        }
    }

    /// A subject did its part of these findings, which are open for it.
    pub fn address(&mut self, findings: Vec<FindingId>, unit: Option<&UnitId>, why: &str) {
        if !findings.is_empty() {
            let status = FindingStatus::Addressed;
            let tree = self.tree_judged(unit).filter(|_| unit.is_none());
            self.emit(FindingChanged { findings, status, why: why.to_owned(), unit: unit.cloned(), tree });
        }
    }

    /// What a command found is fixed when the command passes, and by nothing else: in every tree, for the row itself has to be shown
    /// in each.
    pub fn commands_rest(&mut self, unit: Option<&UnitId>) {
        let passes = |row: &Name| {
            let ran = self.run.criterion(row).and_then(|row| row.ran.as_ref());
            ran.is_some_and(|shown| shown.result == Judgement::Pass)
        };
        let fixed = self.findings(unit, |finding| {
            let by_engine = finding.about.role.is_none() && !finding.status_in(unit).is_closed();
            by_engine && finding.about.criterion.as_ref().is_some_and(passes)
        });
        // What a command showed in the run's tree, it does not take back in an older one.
        let is_runs = |id: &FindingId| self.run.ledger.findings.get(id).is_some_and(|known| known.is_runs(unit));
        let (here, all): (Vec<FindingId>, Vec<FindingId>) = fixed.into_iter().partition(is_runs);
        self.change(all, None, FindingStatus::Fixed, "its command passes");
        let tree = self.tree_judged(unit);
        self.change(here, tree.as_ref(), FindingStatus::Fixed, "its command passes");
    }

    /// What the engine's own commands say against a judge's acceptance: a finding per row, for whoever mends it. Whether
    /// they say anything.
    pub fn commands_speak(&mut self, stage: &Stage, unit: Option<&UnitId>) -> bool {
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
            let tree = self.tree_judged(unit).filter(|_| unit.is_none());
            self.change(known.clone(), tree.as_ref(), FindingStatus::Open, "its command still fails");
            // One that now fails every time, or not every time any more, is another thing to mend.
            for id in known {
                self.restate(id, attempt, said.clone());
            }
        }
        speak
    }

    fn open_finding(
        &mut self,
        attempt: AttemptId,
        role: Option<&RoleId>,
        unit: Option<&UnitId>,
        mut said: FindingReport,
    ) {
        // Nobody judges a row that there is not, and nobody would settle what is about it.
        said.criterion.take_if(|row| self.run.criterion(row).is_none());
        let about = finding_of(attempt, role, self.units_meant(unit, &said), said);
        let tree = self.tree_judged(unit);
        self.emit(FindingOpened { finding: FindingId(self.run.next_finding), about, tree });
    }

    /// The units a finding goes to: the one it names, the row's, the one whose scope holds the path, else every one.
    fn units_meant(&self, unit: Option<&UnitId>, said: &FindingReport) -> Vec<UnitId> {
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

fn finding_of(attempt: AttemptId, role: Option<&RoleId>, units: Vec<UnitId>, said: FindingReport) -> Finding {
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
