//! What a status block must say beyond its form: the report agrees with itself, with its role and with the protocol.

use std::collections::{BTreeMap, BTreeSet};

use super::document::{Mark, Severity, Status, Word};
use super::grammar::marked;
use super::heading::Heading;
use super::sections::{Draft, Located};
use crate::Context;
use crate::diagnostics::Sink;
use crate::rows::Rows;
use crate::text::{quote, squash};
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Fix, Place};
use tollgate_core::report::{CriterionRow, Part, Verdict};

/// The group of rows that the tester judges.
pub(super) const TESTER_GROUP: &str = "tester";
pub(super) const TO_A_PERSON: &str = "stop, surface to human";

/// Who reports: a declared part, or what follows from the verdicts of the role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reporter {
    /// It builds, and judges nothing.
    Builder,
    /// It judges the rows of the Definition of Done.
    Checker,
    /// It judges by findings.
    Reviewer,
    /// It judges by the marks of its coverage.
    Tester,
    /// A role that judges and declares no part.
    Judge,
    /// It is not known who reports.
    Anyone,
}

impl Reporter {
    /// Who reports in a context.
    pub fn of(context: &Context) -> Self {
        match (context.part, context.judges) {
            (Some(Part::Developer), _) | (None, Some(false)) => Self::Builder,
            (Some(Part::Checker), _) => Self::Checker,
            (Some(Part::Reviewer), _) => Self::Reviewer,
            (Some(Part::Tester), _) => Self::Tester,
            (None, Some(true)) => Self::Judge,
            (None, None) => Self::Anyone,
        }
    }
}

/// Whether the marks of the coverage are the verdict: those of a tester are, and those of a judge that gives no other.
pub fn judges_by_coverage(draft: &Draft, reporter: Reporter) -> bool {
    let unsaid = draft.word().is_none_or(|word| word.value == Word::NotApplicable);
    reporter == Reporter::Tester || (reporter == Reporter::Judge && unsaid && !draft.coverage.is_empty())
}

/// What a report judges. A ⚠️ is unobservable and never a pass: in a run the gate over the rows does not hold by it; where
/// no rows are known there is no such gate, and the report is inconclusive.
pub fn verdict(draft: &Draft, reporter: Reporter, rows: &Rows<'_>) -> Verdict {
    let complete = draft.status.as_ref().is_some_and(|status| status.value == Status::Complete);
    if !complete || reporter == Reporter::Builder {
        return Verdict::None;
    }
    if !judges_by_coverage(draft, reporter) {
        return draft.word().map_or(Verdict::None, |word| word.value.verdict());
    }
    let warns = draft.coverage.iter().any(|row| row.value.mark == Mark::Warning);
    match (draft.marks_fail(), warns && !rows.are_known()) {
        (true, _) => Verdict::Reject,
        (false, true) => Verdict::Inconclusive,
        (false, false) => Verdict::Accept,
    }
}

/// A report under judgement.
pub struct Rules<'a, 's> {
    pub draft: &'a Draft,
    pub context: &'a Context,
    pub reporter: Reporter,
    pub rows: &'a Rows<'a>,
    pub sink: &'s mut Sink,
}

impl Rules<'_, '_> {
    /// Applies every rule.
    pub fn check(&mut self) {
        self.order();
        self.unknown();
        self.required();
        self.reason();
        self.counts();
        self.questions();
        self.verdict();
        self.next_phase();
        self.judged_rows();
    }

    fn complete(&self) -> bool {
        self.draft.status.as_ref().is_some_and(|status| status.value == Status::Complete)
    }

    fn accepts(&self) -> bool {
        verdict(self.draft, self.reporter, self.rows) == Verdict::Accept
    }

    /// The place of a section, or of the report where it is missing.
    fn place(&self, heading: Heading) -> Place {
        let present = self.draft.find(heading).or(self.draft.present.first());
        present.map_or(Place::START, |present| present.place)
    }

    fn order(&mut self) {
        let mut present: Vec<_> = self.draft.present.iter().filter(|one| one.heading.in_template()).collect();
        let Some(late) = present.windows(2).find(|pair| pair[1].heading < pair[0].heading) else { return };
        let message = format!("`## {}` comes after `## {}`", late[1].heading.title(), late[0].heading.title());
        let warning = Diagnostic::warning(Code::SECTION_ORDER, late[1].place, message);
        present.sort_by_key(|present| present.heading);
        let fix = Fix::Order(present.iter().map(|present| present.place).collect(), None);
        self.sink.push(warning.hint("keep the order of the template").fix(Some(fix)));
    }

    /// The sections are closed: another one is a note, and beside an acceptance an error. So is text after the report.
    fn unknown(&mut self) {
        let draft = self.draft;
        let told = draft.unknown.iter().map(|title| {
            let message = format!("a status block has no section {}", quote(&title.value));
            (Code::SECTION_UNKNOWN, title.place, message)
        });
        let trailing = draft.trailing.iter().map(|said| {
            (Code::LIST_STRAY, said.place, format!("{} comes after the end of the report", quote(&said.value)))
        });
        for (code, place, message) in told.chain(trailing) {
            if self.accepts() {
                let hint = "the report accepts the work, so nothing else may be in it: leave this out, or reject";
                self.sink.error(code, place, message, hint);
            } else {
                self.sink.warning(code, place, message, "it is kept as a note; nothing is decided by it");
            }
        }
    }

    fn required(&mut self) {
        let (heading, why) = match self.reporter {
            Reporter::Checker => (Heading::Verdict, "a checker gives its verdict in a section of its own"),
            Reporter::Tester => (Heading::Coverage, "a tester's verdict follows from its coverage"),
            Reporter::Builder | Reporter::Reviewer | Reporter::Judge | Reporter::Anyone => return,
        };
        if self.complete() && self.draft.find(heading).is_none() {
            let message = format!("`## {}` is missing: {why}", heading.title());
            self.sink.error(Code::SECTION_MISSING, self.place(heading), message, "add the section");
        }
    }

    fn reason(&mut self) {
        let Some(status) = &self.draft.status else { return };
        match (&self.draft.reason, self.complete()) {
            (Some(reason), true) => {
                let message = "the status is `complete` and a reason is given";
                let warning = Diagnostic::warning(Code::STATUS_REASON, reason.place, message).other(status.place);
                self.sink.push(warning.hint("leave `## Status reason` empty, or correct the status"));
            }
            (None, false) => {
                let message = format!("the status is `{}` and no reason is given", status.value.word());
                let place = self.draft.find(Heading::StatusReason).map_or(status.place, |present| present.place);
                let hint = "say in one line under `## Status reason` what stopped the work";
                self.sink.error(Code::STATUS_REASON, place, message, hint);
            }
            (None, true) | (Some(_), false) => {}
        }
    }

    fn counts(&mut self) {
        let draft = self.draft;
        if let Some(files) = &draft.files {
            let lists = [
                (Heading::FilesCreated, " created", files.value.created, draft.created.len()),
                (Heading::FilesModified, " modified", files.value.modified, draft.modified.len()),
                (Heading::FilesDeleted, " deleted", files.value.deleted, draft.deleted.len()),
            ];
            // Deleted files need not be listed.
            let listed = |heading| heading != Heading::FilesDeleted || draft.find(heading).is_some();
            for (heading, noun, said, listed) in lists.into_iter().filter(|(heading, ..)| listed(*heading)) {
                let found = self.count(heading, noun, said, listed, files.place);
                found.into_iter().for_each(|warning| self.sink.push(warning));
            }
        }
        if let Some(said) = &draft.question_count {
            let found = self.count(Heading::OpenQuestions, "", said.value, draft.questions.len(), said.place);
            let error = |one| Diagnostic { severity: tollgate_core::diagnostic::Severity::Error, ..one };
            found.map(error).into_iter().for_each(|error| self.sink.push(error));
        }
    }

    /// Compares a count of the Abstract with its list.
    fn count(&self, heading: Heading, noun: &str, said: u32, listed: usize, place: Place) -> Option<Diagnostic> {
        if usize::try_from(said).ok() == Some(listed) {
            return None;
        }
        let message = format!("the Abstract says {said}{noun}, `## {}` lists {listed}", heading.title());
        let mut warning = Diagnostic::warning(Code::ABSTRACT_COUNT, place, message);
        let present = self.draft.find(heading);
        warning.other = present.map(|present| present.place);
        let fix = Fix::InLine { said: format!("{said}{noun}"), with: format!("{listed}{noun}") };
        Some(warning.hint("correct the count or the section").fix(present.map(|_| fix)))
    }

    fn questions(&mut self) {
        let Some(status) = self.draft.status.as_ref().filter(|status| status.value == Status::Blocked) else { return };
        if self.draft.questions.is_empty() {
            let message = "the status is `blocked` and no question is open";
            let mut error = Diagnostic::error(Code::QUESTION_MISSING, status.place, message);
            error.other = self.draft.find(Heading::OpenQuestions).map(|present| present.place);
            self.sink.push(error.hint("list each question under `## Open Questions`"));
        }
    }

    fn verdict(&mut self) {
        let draft = self.draft;
        if let (Some(index), Some(section)) = (&draft.index_verdict, &draft.verdict)
            && index.value != section.value
        {
            let (said, judged) = (index.value.word(), section.value.word());
            let message = format!("the Abstract's verdict is `{said}`, `## Verdict` is `{judged}`");
            let error = Diagnostic::error(Code::VERDICT_CONTRADICTS, index.place, message).other(section.place);
            self.sink.push(error.hint("say the same in both places"));
            return;
        }
        let Some(given) = draft.word() else { return };
        if let Some((message, hint)) = self.not_allowed(given.value) {
            self.sink.error(Code::VERDICT_NOT_ALLOWED, given.place, message, hint);
            return;
        }
        match verdict(draft, self.reporter, self.rows) {
            Verdict::Accept => self.acceptance(given),
            Verdict::Reject => self.rejection(given),
            Verdict::None | Verdict::AcceptWithNotes | Verdict::Inconclusive => {}
        }
        self.unread(given.place);
    }

    /// Why a reporter may not give a verdict, and what to do.
    fn not_allowed(&self, given: Word) -> Option<(String, &'static str)> {
        let judges = given != Word::NotApplicable;
        match self.reporter {
            Reporter::Builder | Reporter::Tester if judges => {
                let message = format!("this role gives no verdict in words, and the report says `{}`", given.word());
                Some((message, "write `verdict: n/a`"))
            }
            Reporter::Checker if given == Word::RequestChanges => {
                let message = "a checker says `APPROVED` or `BLOCKED`, not `REQUEST_CHANGES`";
                Some((message.to_owned(), "write `BLOCKED` and list the gaps"))
            }
            Reporter::Checker | Reporter::Reviewer | Reporter::Judge
                if !judges && self.complete() && !judges_by_coverage(self.draft, self.reporter) =>
            {
                let message = "this role judges, and the report is complete without a verdict";
                Some((message.to_owned(), "give the verdict, or the status that explains why not"))
            }
            Reporter::Builder
            | Reporter::Checker
            | Reporter::Reviewer
            | Reporter::Tester
            | Reporter::Judge
            | Reporter::Anyone => None,
        }
    }

    /// What contradicts an acceptance: a gap, a row that fails, a finding that must be fixed.
    fn acceptance(&mut self, given: &Located<Word>) {
        let draft = self.draft;
        let gap = draft.gaps.first().map(|gap| (gap.place, format!("`## Gaps` names {}", quote(&gap.value))));
        let failed = draft.coverage.iter().find(|row| row.value.mark == Mark::Fail);
        let failed = failed.map(|row| (row.place, format!("the coverage marks {} with ✗", quote(&row.value.row))));
        let grave = draft.all_findings().find(|finding| finding.value.severity != Severity::Minor);
        let grave = grave.map(|one| (one.place, format!("a finding is `{}`", one.value.severity.word())));
        let is_minor = grave.is_none();
        for (place, why) in [gap, failed, grave].into_iter().flatten() {
            let message = format!("the report accepts the work, and {why}");
            let error = Diagnostic::error(Code::VERDICT_CONTRADICTS, given.place, message).other(place);
            self.sink.push(error.hint("reject, or correct what contradicts the verdict"));
        }
        if let Some(finding) = draft.all_findings().next().filter(|_| is_minor) {
            let message = "the report accepts the work: its minor findings stay notes";
            let warning = Diagnostic::warning(Code::APPROVED_WITH_FINDINGS, finding.place, message).other(given.place);
            self.sink.push(warning.hint("reject if they must be fixed"));
        }
    }

    fn rejection(&mut self, given: &Located<Word>) {
        let draft = self.draft;
        let (gaps, findings) = (!draft.gaps.is_empty(), draft.all_findings().next().is_some());
        let (named, where_) = match self.reporter {
            Reporter::Checker => (gaps, "`## Gaps`"),
            Reporter::Reviewer => (findings, "`## Findings`"),
            Reporter::Builder | Reporter::Tester | Reporter::Judge | Reporter::Anyone => {
                (gaps || findings || draft.marks_fail(), "`## Findings` or `## Gaps`")
            }
        };
        if !named {
            let message = format!("the verdict is `{}` and the report names nothing that is wrong", given.value.word());
            self.sink.error(Code::REJECTS_NOTHING, given.place, message, format!("list what is wrong under {where_}"));
        }
    }

    /// Judgements in sections by which this role does not judge.
    fn unread(&mut self, given: Place) {
        let draft = self.draft;
        let judges = verdict(draft, self.reporter, self.rows) != Verdict::None || !self.complete();
        let reads_gaps = matches!(self.reporter, Reporter::Checker | Reporter::Judge | Reporter::Anyone) && judges;
        if let Some(gap) = draft.gaps.first().filter(|_| !reads_gaps && !self.accepts()) {
            let warning = Diagnostic::warning(Code::VERDICT_NOT_ALLOWED, gap.place, "this role does not judge by gaps");
            self.sink.push(warning.other(given).hint("nothing is decided by them"));
        }
        if let Some(finding) = draft.all_findings().next().filter(|_| !judges) {
            let message = "the report gives no verdict: its findings stay notes";
            let warning = Diagnostic::warning(Code::APPROVED_WITH_FINDINGS, finding.place, message).other(given);
            self.sink.push(warning.hint("a role that judges gives its verdict"));
        }
    }

    /// The protocol decides who comes next; a report that expects another role gets a warning.
    fn next_phase(&mut self) {
        let (Some(given), Some(routes)) = (&self.draft.next_phase, &self.context.next) else { return };
        let outcome = match verdict(self.draft, self.reporter, self.rows) {
            Verdict::None => "ok",
            judged => judged.word(),
        };
        let next: Vec<&Name> = match routes.get(outcome) {
            Some(names) if self.complete() => names.iter().collect(),
            _ => routes.values().flatten().collect(),
        };
        let person = |name: &Name| &**name == "person";
        let stops = next.is_empty() || !self.complete() || next.iter().any(|name| person(name));
        let mut allowed: Vec<&str> = next.into_iter().filter(|name| !person(name)).map(|name| &**name).collect();
        allowed.extend(stops.then_some(TO_A_PERSON));
        allowed.push("n/a");
        if !allowed.iter().any(|name| squash(name) == squash(&given.value)) {
            let message = format!("{} does not come next in the protocol", quote(&given.value));
            let allowed: Vec<String> = allowed.iter().map(|name| format!("`{name}`")).collect();
            let hint = format!("expected {}; nothing is decided by it", allowed.join(" or "));
            self.sink.warning(Code::NEXT_PHASE, given.place, message, hint);
        }
    }

    /// The rows that are judged exist, and none is judged twice in different ways.
    fn judged_rows(&mut self) {
        let draft = self.draft;
        let mut said: BTreeMap<Name, (Mark, Place)> = BTreeMap::new();
        if matches!(self.reporter, Reporter::Checker | Reporter::Judge | Reporter::Anyone) {
            for item in &draft.verified {
                let (mark, row) = marked(&item.value);
                if mark == Some(Mark::Fail) {
                    let message = format!("the verified row {} is marked ✗", quote(row));
                    self.sink.error(Code::ROW_TWICE, item.place, message, "list it under `## Gaps`");
                }
                self.judge(row, mark.unwrap_or(Mark::Pass), item.place, &mut said);
            }
            for item in &draft.gaps {
                let (mark, row) = marked(&item.value);
                if mark == Some(Mark::Pass) {
                    let message = format!("the gap {} is marked ✓", quote(row));
                    self.sink.error(Code::ROW_TWICE, item.place, message, "list it under `## Verified rows`");
                }
                self.judge(row, Mark::Fail, item.place, &mut said);
            }
        }
        if judges_by_coverage(draft, self.reporter) && self.complete() {
            for row in &draft.coverage {
                self.judge(&row.value.row, row.value.mark, row.place, &mut said);
            }
        }
        if self.complete() {
            self.left_out(&said.into_keys().collect());
        }
    }

    /// Takes in the judgement of an item on its rows.
    fn judge(&mut self, item: &str, mark: Mark, place: Place, said: &mut BTreeMap<Name, (Mark, Place)>) {
        let Some((ids, _)) = self.rows.named(item) else {
            let others = Rows::new(Some(&self.context.others));
            let other = others.named(item).and_then(|(ids, _)| others.get(&ids[0]));
            let what = match other {
                Some(row) => format!("is a row of {}, not one of yours", owner(row)),
                None => "does not begin with the id of a row".to_owned(),
            };
            let hint = "write the row's id, then `—` and the evidence: `DoD-1 — …`, or `DoD-1, DoD-2 — …`";
            self.sink.error(Code::ROW_UNKNOWN, place, format!("{} {what}", quote(item)), hint);
            return;
        };
        for id in ids {
            let (first, other) = *said.entry(id.clone()).or_insert((mark, place));
            if first != mark {
                let message = format!("{} is {} here and {} there", quote(&id), mark.sign(), first.sign());
                let error = Diagnostic::error(Code::ROW_TWICE, place, message).other(other);
                self.sink.push(error.hint("keep one of the two"));
            }
            let foreign = self.rows.get(&id).filter(|row| self.reporter == Reporter::Tester && !is_testers(row));
            if let Some(row) = foreign.filter(|_| mark != Mark::Fail) {
                let message = format!("{} is a row of {}: {} decides nothing", quote(&id), owner(row), mark.sign());
                let hint = "mark it ✗ when you saw it fail, else leave it out";
                self.sink.warning(Code::ROW_UNKNOWN, place, message, hint);
            }
        }
    }

    fn left_out(&mut self, judged: &BTreeSet<Name>) {
        let criteria = self.context.criteria.as_deref();
        let missing = criteria.unwrap_or_default().iter().filter(|row| !judged.contains(&row.id));
        match self.reporter {
            Reporter::Checker => {
                for row in missing {
                    let message = format!("the row {} is neither verified nor a gap", quote(&row.id));
                    let hint = "a row without evidence does not pass";
                    self.sink.warning(Code::ROW_LEFT_OUT, self.place(Heading::VerifiedRows), message, hint);
                }
            }
            Reporter::Tester if self.draft.find(Heading::Coverage).is_some() => {
                let hint = "mark every row of the tester's scope with ✓, ✗ or ⚠️";
                let place = self.place(Heading::Coverage);
                for row in missing.filter(|row| is_testers(row)) {
                    let message = format!("the row {} of the tester's scope is left out", quote(&row.id));
                    self.sink.error(Code::ROW_LEFT_OUT, place, message, hint);
                }
                if criteria.is_none() && self.draft.coverage.is_empty() {
                    self.sink.error(Code::ROW_LEFT_OUT, place, "the tester's coverage has no row", hint);
                }
            }
            Reporter::Builder | Reporter::Reviewer | Reporter::Tester | Reporter::Judge | Reporter::Anyone => {}
        }
    }
}

/// Whose row it is, for people.
fn owner(row: &CriterionRow) -> String {
    match (&row.unit, row.group.as_deref()) {
        (_, Some(TESTER_GROUP)) => "the tester's scope".to_owned(),
        (Some(unit), _) => format!("`{unit}`"),
        (None, _) => "the whole run".to_owned(),
    }
}

/// Whether a row is the tester's to judge.
pub(super) fn is_testers(row: &CriterionRow) -> bool {
    row.group.as_deref() == Some(TESTER_GROUP)
}
