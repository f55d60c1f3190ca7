//! What a status block must say beyond its form: the report agrees with itself, with its role and with the protocol.

use super::document::{Mark, Severity, Status, Word};
use super::draft::{Draft, Located};
use super::files::names_more;
use super::heading::Heading;
use crate::Name;
use crate::code::Code;
use crate::contract::Context;
use crate::contract::grave::demand;
use crate::contract::rows::Rows;
use crate::contract::sink::Sink;
use crate::contract::text::{quote, squash};
use crate::diagnostic::{Diagnostic, Mend, Place};
use crate::report::Verdict;

/// The group of rows that the tester judges.
pub(super) const TESTER_GROUP: &str = "tester";
pub(super) const TO_A_PERSON: &str = "stop, surface to human";

const MUST_CHANGE: &str =
    "reject the work if this must change; what may stay as it is goes into `## Findings` as `[minor]`";

/// Which of the dialect's parts a role plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// It builds, and judges nothing.
    Builder,
    /// It compares the work with the Definition of Done.
    DodChecker,
    /// It reviews.
    Reviewer,
    /// It tests.
    Tester,
    /// Nobody said: the report's own sections tell.
    Unknown,
}

impl Part {
    /// The part of the role that reports.
    pub fn of(context: &Context, draft: &Draft) -> Self {
        let role = context.role.as_deref().map(squash).unwrap_or_default();
        match context.judges {
            Some(false) => Self::Builder,
            _ if role.ends_with("dodchecker") => Self::DodChecker,
            _ if role.ends_with("reviewer") => Self::Reviewer,
            _ if role.ends_with("tester") && !role.starts_with("dev") => Self::Tester,
            Some(true) => Self::Reviewer,
            None if ["developer", "devtester", "developerandtester", "devops"]
                .iter()
                .any(|name| role.ends_with(name)) =>
            {
                Self::Builder
            }
            None if draft.find(Heading::Verdict).is_some() => Self::DodChecker,
            None => Self::Unknown,
        }
    }
}

/// A report under judgement.
pub struct Rules<'a, 's> {
    pub draft: &'a Draft,
    pub context: &'a Context,
    pub part: Part,
    pub rows: &'a Rows<'a>,
    /// Rows of the run that are not this role's.
    pub others: &'a Rows<'a>,
    /// Where the report begins: the place of what is missing.
    pub start: Place,
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
        self.rows_said();
    }

    pub(super) fn complete(&self) -> bool {
        self.draft.status.as_ref().is_some_and(|status| status.value == Status::Complete)
    }

    fn order(&mut self) {
        let template = self.draft.present.iter().filter(|present| present.heading.in_template());
        let (mut latest, mut told): (Option<Heading>, bool) = (None, false);
        for present in template {
            if let Some(before) = latest.filter(|before| *before > present.heading) {
                let message = format!("`## {}` stands after `## {}`", present.heading.title(), before.title());
                let warning = Diagnostic::warning(Code::SECTION_ORDER, present.place, message);
                let mend = latest.filter(|_| !told).map(|_| self.in_order());
                told = true;
                self.sink.push(warning.hint("keep the order of the template").mend(mend));
            }
            latest = latest.max(Some(present.heading));
        }
    }

    /// Sections that are no part of the dialect are notes. Beside an acceptance only those are that are known to ask for nothing.
    fn unknown(&mut self) {
        let draft = self.draft;
        for (title, doubted) in &draft.unknown {
            let message = format!("the section {} is not part of a status block", quote(&title.value));
            match *doubted && self.accepts() {
                true => self.sink.error(
                    Code::SECTION_UNKNOWN,
                    title.place,
                    format!("{message}, and the work is accepted"),
                    MUST_CHANGE,
                ),
                false => self.sink.warning(
                    Code::SECTION_UNKNOWN,
                    title.place,
                    message,
                    "it is kept as a note; nothing is decided by it",
                ),
            }
        }
        if !self.accepts() {
            return;
        }
        // What was learned is not asked for, and what is listed is judged by itself.
        let is_free = |heading: Heading| heading != Heading::LessonsLearned && !heading.lists();
        let asks = |heading| is_free(heading) && draft.texts.get(&heading).is_some_and(|text| demand(text).is_some());
        for present in draft.present.iter().filter(|present| asks(present.heading)) {
            let message = format!("`{}` asks for a change, and the work is accepted", present.heading.title());
            self.sink.error(Code::SECTION_UNKNOWN, present.place, message, MUST_CHANGE);
        }
    }

    /// Whether the report accepts the work: by its verdict, or as a tester's by the marks of its rows.
    fn accepts(&self) -> bool {
        self.approves() || (self.part == Part::Tester && self.complete() && !self.marks_fail())
    }

    fn required(&mut self) {
        let complete = self.complete();
        let needs = [
            (Heading::Abstract, true, "every report has an Abstract"),
            (
                Heading::Verdict,
                complete && self.part == Part::DodChecker,
                "a DoD checker gives its verdict in a section of its own",
            ),
            (Heading::Coverage, complete && self.part == Part::Tester, "a tester's verdict follows from its coverage"),
        ];
        for (heading, needed, why) in needs {
            if needed && self.draft.find(heading).is_none() && !self.draft.meant.contains(&heading) {
                let message = format!("`## {}` is missing: {why}", heading.title());
                self.sink.error(Code::SECTION_MISSING, self.start, message, "add the section");
            }
        }
    }

    fn reason(&mut self) {
        let Some(status) = &self.draft.status else { return };
        let present = self.draft.find(Heading::StatusReason);
        match (&self.draft.reason, self.complete()) {
            (Some(reason), true) => {
                let message = "a report that is complete has a status reason";
                let error = Diagnostic::error(Code::STATUS_REASON, reason.place, message).other(status.place);
                self.sink.push(error.hint("leave `## Status reason` empty, or correct the status"));
            }
            // More than one line has been told already.
            (None, false)
                if present.is_none_or(|present| super::super::text::says_none(self.text(present.heading))) =>
            {
                let message = format!("the status is `{}` and no reason is given", status.value.word());
                let place = present.map_or(status.place, |present| present.place);
                self.sink.error(
                    Code::STATUS_REASON,
                    place,
                    message,
                    "say in one line under `## Status reason` what stopped the work",
                );
            }
            (None, _) | (Some(_), false) => {}
        }
    }

    fn text(&self, heading: Heading) -> &str {
        self.draft.texts.get(&heading).map_or("", String::as_str)
    }

    /// The sections in the order of the template.
    fn in_order(&self) -> Mend {
        let mut present: Vec<_> = self.draft.present.iter().filter(|one| one.heading.in_template()).collect();
        present.sort_by_key(|present| present.heading);
        Mend::Order(present.iter().map(|present| present.place).collect(), None)
    }

    fn counts(&mut self) {
        let draft = self.draft;
        if let Some(files) = &draft.files {
            let pairs = [
                (Heading::FilesCreated, files.value.created, &draft.created),
                (Heading::FilesModified, files.value.modified, &draft.modified),
                (Heading::FilesDeleted, files.value.deleted, &draft.deleted),
            ];
            for (heading, said, listed) in pairs {
                // Deleted files need not be listed.
                if heading != Heading::FilesDeleted || draft.find(heading).is_some() {
                    // `src/{a,b}.rs` is one entry, and several files; so is `src/a.rs and its test`.
                    let sure =
                        || !draft.goes_on.contains(&heading) && !listed.iter().any(|file| names_more(&file.value));
                    self.count(heading, said, listed.len(), &sure, files.place);
                }
            }
        }
        if let Some(said) = &draft.question_count {
            // Words behind the list may be questions too.
            let several = |question: &Located<String>| question.value.matches('?').nth(1).is_some();
            let beside = self.sink.has(Code::LIST_STRAY);
            let sure = || !beside && !draft.questions.iter().any(several);
            self.count(Heading::OpenQuestions, said.value, draft.questions.len(), &sure, said.place);
        }
    }

    /// Compares a count with its list, which gives the true one where it is sure what it lists.
    fn count(&mut self, heading: Heading, said: u32, listed: usize, sure: &dyn Fn() -> bool, place: Place) {
        if usize::try_from(said).ok() == Some(listed) || !self.draft.is_clear(heading) {
            return;
        }
        let title = heading.title();
        let Some(present) = self.draft.find(heading) else {
            // What the section would list is not known: the count may be the true one.
            if !self.draft.meant.contains(&heading) {
                let message = format!("the Abstract says {said}, and there is no `## {title}`");
                self.sink.error(Code::ABSTRACT_COUNT, place, message, "add the section, or correct the count");
            }
            return;
        };
        let unsaid = heading == Heading::FilesDeleted && !self.draft.says_deleted;
        let message = match unsaid {
            true => format!("the Abstract leaves deleted files out, `## {title}` lists {listed}"),
            false => format!("the Abstract says {said}, `## {title}` lists {listed}"),
        };
        let error = Diagnostic::error(Code::ABSTRACT_COUNT, place, message).other(present.place);
        let noun = match heading {
            Heading::FilesCreated => " created",
            Heading::FilesModified => " modified",
            Heading::FilesDeleted => " deleted",
            _ => "",
        };
        let mend = match (unsaid, &self.draft.files) {
            (true, Some(files)) => {
                let last = format!("{} modified", files.value.modified);
                Mend::InLine { with: format!("{last}, {listed}{noun}"), said: last }
            }
            _ => Mend::InLine { said: format!("{said}{noun}"), with: format!("{listed}{noun}") },
        };
        let hint = match said {
            0 => "correct the count or the section; where there is nothing, write `None` alone",
            _ => "correct the count or the section",
        };
        self.sink.push(error.hint(hint).mend(sure().then_some(mend)));
    }

    fn questions(&mut self) {
        let Some(status) = self.draft.status.as_ref().filter(|status| status.value == Status::Blocked) else { return };
        let known = self.draft.is_clear(Heading::OpenQuestions) && !self.draft.meant.contains(&Heading::OpenQuestions);
        if self.draft.questions.is_empty() && known {
            let message = "the status is `blocked` and no question is open";
            let mut error = Diagnostic::error(Code::QUESTION_MISSING, status.place, message);
            error.other = self.draft.find(Heading::OpenQuestions).map(|present| present.place);
            self.sink.push(error.hint("put each question under `## Open Questions`, an item each"));
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
        let Some(given) = draft.verdict.as_ref().or(draft.index_verdict.as_ref()) else { return };
        match (self.part, given.value) {
            (Part::Builder | Part::Tester, Word::Approved | Word::RequestChanges | Word::Blocked) => {
                let message = format!("this role gives no verdict, and the report says `{}`", given.value.word());
                self.sink.error(Code::VERDICT_NOT_ALLOWED, given.place, message, "write `verdict: n/a`");
            }
            (Part::DodChecker, Word::RequestChanges) => {
                let message = "a DoD checker says `APPROVED` or `BLOCKED`, not `REQUEST_CHANGES`";
                self.sink.error(Code::VERDICT_NOT_ALLOWED, given.place, message, "write `BLOCKED` and list the gaps");
            }
            (Part::DodChecker | Part::Reviewer, Word::NotApplicable) if self.complete() => {
                let message = "this role judges, and the report is complete without a verdict";
                self.sink.error(
                    Code::VERDICT_NOT_ALLOWED,
                    given.place,
                    message,
                    "give the verdict, or the status that explains why not",
                );
            }
            (_, Word::Approved) => self.approval(given),
            (_, Word::RequestChanges | Word::Blocked) => self.rejection(given),
            (Part::Tester, Word::NotApplicable) if self.complete() && !self.marks_fail() => {
                self.noted(given.place, "no row is marked ✗");
            }
            (Part::Builder | Part::Unknown, Word::NotApplicable) => self.unjudged(given.place),
            (_, Word::NotApplicable) => {}
        }
        self.gaps_of_others();
    }

    fn approves(&self) -> bool {
        let given = self.draft.verdict.as_ref().or(self.draft.index_verdict.as_ref());
        given.is_some_and(|given| given.value == Word::Approved)
    }

    fn marks_fail(&self) -> bool {
        self.draft.coverage.iter().any(|row| row.value.mark == Mark::Fail)
    }

    /// Findings of who judges nothing decide nothing.
    fn unjudged(&mut self, given: Place) {
        if let Some(finding) = self.draft.findings.first().or(self.draft.change_requests.first()) {
            let message = "no verdict is given: what is listed here stays a note and opens no finding";
            let warning = Diagnostic::warning(Code::APPROVED_WITH_FINDINGS, finding.place, message).other(given);
            self.sink.push(warning.hint("a role that judges gives its verdict"));
        }
    }

    /// Gaps are a DoD checker's judgement; from another role they would be lost.
    fn gaps_of_others(&mut self) {
        let Some(gap) = self.draft.gaps.first() else { return };
        let rejects = self.draft.index_verdict.as_ref().is_some_and(|given| given.value.verdict() == Verdict::Reject);
        let hint = match self.part {
            Part::DodChecker => return,
            Part::Unknown if rejects => return,
            // That it contradicts the verdict has been told.
            Part::Reviewer | Part::Unknown if self.approves() => return,
            Part::Reviewer => "list what is wrong under `## Findings`",
            Part::Tester => "mark the row ✗ in `## DoD coverage`",
            Part::Builder => "say `incomplete`, or mark the row ✗ in `## DoD coverage`",
            Part::Unknown => "give the verdict `BLOCKED`",
        };
        let message = format!("`## Gaps` names {} and this report cannot judge it so", quote(&gap.value));
        self.sink.error(Code::VERDICT_NOT_ALLOWED, gap.place, message, hint);
    }

    /// Findings beside an acceptance are notes; what must be mended contradicts it.
    fn noted(&mut self, given: Place, accepts: &str) {
        let draft = self.draft;
        let mut all = draft.findings.iter().chain(&draft.change_requests);
        if let Some(finding) = all.clone().find(|finding| finding.value.severity != Severity::Minor) {
            let severity = finding.value.severity.word();
            let message = format!("{accepts}, and a finding is {severity}");
            let error = Diagnostic::error(Code::VERDICT_CONTRADICTS, given, message).other(finding.place);
            self.sink.push(error.hint("reject, or list as `[minor]` what may stay as it is"));
        } else if let Some(finding) = all.next() {
            let message = format!("{accepts}: what is listed here stays a note and opens no finding");
            let warning = Diagnostic::warning(Code::APPROVED_WITH_FINDINGS, finding.place, message).other(given);
            self.sink.push(warning.hint("reject if it must be mended"));
        }
    }

    fn approval(&mut self, given: &Located<Word>) {
        if let Some(gap) = self.draft.gaps.first() {
            let message = format!("the verdict is `APPROVED` and `## Gaps` names {}", quote(&gap.value));
            let error = Diagnostic::error(Code::VERDICT_CONTRADICTS, given.place, message).other(gap.place);
            self.sink.push(error.hint("write `BLOCKED`, or remove the gap"));
        }
        self.noted(given.place, "the verdict is `APPROVED`");
    }

    fn rejection(&mut self, given: &Located<Word>) {
        let draft = self.draft;
        let found = !draft.findings.is_empty() || !draft.change_requests.is_empty();
        let (named, where_) = match self.part {
            Part::DodChecker => (!draft.gaps.is_empty(), "`## Gaps`"),
            Part::Reviewer => (found, "`## Findings`"),
            Part::Builder | Part::Tester | Part::Unknown => {
                (found || !draft.gaps.is_empty(), "`## Findings` or `## Gaps`")
            }
        };
        let clear = [Heading::Gaps, Heading::Findings, Heading::ChangeRequests].iter().all(|one| draft.is_clear(*one));
        if !named && clear && self.complete() {
            let message = format!("the verdict is `{}` and nothing is named that is wrong", given.value.word());
            self.sink.error(Code::REJECTS_NOTHING, given.place, message, format!("list what is wrong under {where_}"));
        }
    }

    fn next_phase(&mut self) {
        let (Some(given), Some(routes)) = (&self.draft.next_phase, &self.context.next) else { return };
        let next: Vec<&Name> = match self.outcome().and_then(|outcome| routes.get(outcome)) {
            Some(names) => names.iter().collect(),
            None => routes.values().flatten().collect(),
        };
        let said = squash(&given.value);
        let person = ["person", "human"];
        let stops = next.is_empty() || !self.complete() || next.iter().any(|name| person.contains(&&*squash(name)));
        let fits =
            said == "na" || (stops && said == squash(TO_A_PERSON)) || next.iter().any(|name| squash(name) == said);
        if fits {
            return;
        }
        let mut allowed: Vec<String> =
            next.iter().filter(|name| !person.contains(&&****name)).map(|name| format!("`{name}`")).collect();
        if stops {
            allowed.push(format!("`{TO_A_PERSON}`"));
        }
        allowed.push("`n/a`".to_owned());
        let message = format!("{} does not come next by the protocol", quote(&given.value));
        self.sink.error(Code::NEXT_PHASE, given.place, message, format!("write {}", allowed.join(" or ")));
    }

    /// The outcome the report leads to, where that is plain.
    fn outcome(&self) -> Option<&'static str> {
        let draft = self.draft;
        let word = draft.verdict.as_ref().or(draft.index_verdict.as_ref()).map(|given| given.value);
        match (self.part, word) {
            (Part::Builder, _) => Some("ok"),
            (Part::Tester, _) if draft.coverage.iter().all(|row| row.value.mark == Mark::Pass) => Some("accept"),
            (Part::DodChecker | Part::Reviewer, Some(Word::Approved)) => Some("accept"),
            (Part::DodChecker | Part::Reviewer, Some(Word::RequestChanges | Word::Blocked)) => Some("reject"),
            (Part::Tester | Part::DodChecker | Part::Reviewer | Part::Unknown, _) => None,
        }
    }
}
