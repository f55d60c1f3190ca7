//! What a report says of each row: a row it names is one there is, and none both holds and does not.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::document::{Mark, Word};
use super::heading::Heading;
use super::rules::{Part, Rules, TESTER_GROUP};
use crate::Name;
use crate::code::Code;
use crate::contract::denied::denies;
use crate::contract::layout::{is_crossed, is_unchecked};
use crate::contract::parts;
use crate::contract::rows::{Named, Rows, unmarked};
use crate::contract::struck;
use crate::contract::text::quote;
use crate::diagnostic::{Diagnostic, Place};
use crate::report::CriterionRow;

/// What a place says of a row.
#[derive(Clone, Copy)]
struct Stance {
    mark: Mark,
    heading: Heading,
    place: Place,
}

impl Stance {
    /// Whether two places cannot both be right: what one of them cannot observe, another may.
    fn contradicts(self, other: Self) -> bool {
        let opposite = matches!((self.mark, other.mark), (Mark::Pass, Mark::Fail) | (Mark::Fail, Mark::Pass));
        opposite || (self.mark != other.mark && self.heading == other.heading)
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

impl Rules<'_, '_> {
    /// Verified rows are ✓ unless they say otherwise, gaps are ✗, and the coverage says it itself.
    pub(super) fn rows_said(&mut self) {
        let draft = self.draft;
        let mut said: BTreeMap<Name, Stance> = BTreeMap::new();
        let mut judged: BTreeSet<Name> = BTreeSet::new();
        for entry in &draft.verified {
            let mark = verified_mark(&entry.value, self.rows);
            let stance = Stance { mark, heading: Heading::VerifiedRows, place: entry.place };
            self.marks(&entry.value, stance);
            let line = self.unstruck(&entry.value, stance);
            self.denied(&line, stance);
            judged.extend(self.stand(&line, stance, &mut said));
        }
        for entry in &draft.gaps {
            let stance = Stance { mark: Mark::Fail, heading: Heading::Gaps, place: entry.place };
            // Words about a gap may well show a mark; one in front of it is its own.
            self.marks(entry.value.get(..entry.value.len().min(3)).unwrap_or_default(), stance);
            judged.extend(self.stand(&entry.value, stance, &mut said));
        }
        self.left_out_by_checker(&judged);
        let mut covered: BTreeSet<Name> = BTreeSet::new();
        for entry in &draft.coverage {
            let stance = Stance { mark: entry.value.mark, heading: Heading::Coverage, place: entry.place };
            self.marks(&entry.value.row, stance);
            let mut row = Cow::Borrowed(&*entry.value.row);
            if self.part == Part::Tester {
                row = self.unstruck(&entry.value.row, stance);
                self.denied(&row, stance);
            }
            covered.extend(self.stand(&row, stance, &mut said));
            if stance.mark == Mark::Fail {
                self.failed_beside(&entry.value.row, entry.place, &judged);
            }
        }
        if self.part == Part::Tester && self.complete() {
            self.tester_rows(&covered);
        }
    }

    /// Takes a stance on the rows of a line.
    fn stand(&mut self, line: &str, stance: Stance, said: &mut BTreeMap<Name, Stance>) -> Vec<Name> {
        let ids = self.named(line, stance);
        for id in &ids {
            let first = *said.entry(id.clone()).or_insert(stance);
            if stance.contradicts(first) {
                let message = format!("{} is {} here and {} there", quote(id), stance.mark.sign(), first.mark.sign());
                let error = Diagnostic::error(Code::ROW_TWICE, stance.place, message).other(first.place);
                self.sink.push(error.hint("keep one of the two"));
            }
        }
        ids
    }

    /// A mark inside a line that says otherwise than the line does.
    fn marks(&mut self, line: &str, stance: Stance) {
        let clashes = |mark: &Mark| match (stance.mark, mark) {
            (Mark::Pass | Mark::Warning, Mark::Fail) | (Mark::Fail, Mark::Pass) => true,
            // A checker may say in words why a ⚠️ is accepted.
            (Mark::Pass, Mark::Warning) => stance.heading == Heading::Coverage,
            _ => false,
        };
        if let Some(other) = line.chars().filter_map(Mark::of).find(clashes) {
            let message = format!("a row that is {} also has a {}", stance.mark.sign(), other.sign());
            self.sink.error(Code::ROW_TWICE, stance.place, message, "give each row one mark; say the rest in words");
        }
    }

    /// A line of a judge without the signs that strike it through; where they take out what it lets pass, that is an error.
    fn unstruck<'l>(&mut self, line: &'l str, stance: Stance) -> Cow<'l, str> {
        if stance.mark != Mark::Pass || !(struck::is_struck(line) || struck::begins_struck(line)) {
            return Cow::Borrowed(line);
        }
        let message = format!("a row that is {} is struck through: {}", stance.mark.sign(), quote(line));
        self.sink.error(Code::ROW_TWICE, stance.place, message, "take the strike out, or the row");
        Cow::Owned(struck::without_signs(line))
    }

    /// Words of a judge that deny the row which its line lets pass.
    fn denied(&mut self, line: &str, stance: Stance) {
        let said = match self.rows.resolve(line) {
            // Dots part a row from what is said of it, and are all that a template says.
            Named::Rows(_, said) if stance.mark == Mark::Pass && said.is_empty() && line.ends_with("...") => {
                "...".into()
            }
            Named::Rows(_, said) if stance.mark == Mark::Pass => said,
            _ => return,
        };
        // A mark that says otherwise is told already.
        let tells = |mark| mark == Mark::Fail || (mark == Mark::Warning && stance.heading == Heading::Coverage);
        let marked = said.chars().filter_map(Mark::of).any(tells);
        let left = struck::unstruck(&said);
        // Where no rows are known, a name is taken as it stands, and may be a denial itself.
        let name = || Some(parts::split(line).0).filter(|own| !self.rows.are_known() && denies(unmarked(own)));
        let signed = || (struck::is_struck(&said) || is_crossed(&said)).then_some(&*said);
        let denied = || parts::denied(&left).or_else(name).or_else(signed).filter(|_| !marked);
        if is_unchecked(line) {
            let message = format!("a row that is {} has a box that is not checked", stance.mark.sign());
            self.sink.error(Code::ROW_TWICE, stance.place, message, "give each row one mark; say the rest in words");
        } else if parts::parts(parts::split(line).1).any(parts::is_table) {
            let message = format!("a table stands below a row that is {}", stance.mark.sign());
            self.sink.error(Code::LIST_STRAY, stance.place, message, "write what it says as a list below the row");
        } else if let Some(denied) = denied() {
            let message = format!("a row that is {} is said to be {}", stance.mark.sign(), quote(denied));
            let hint = match stance.heading {
                Heading::Coverage => "mark it ✗, or ⚠️ when it cannot be observed",
                _ => "list it under `## Gaps`, or begin the line with ⚠️ when it cannot be observed",
            };
            self.sink.error(Code::ROW_TWICE, stance.place, message, hint);
        }
    }

    /// A ✗ in the coverage of a judge whose verdict is elsewhere: it is a gap or a finding, or it would be lost.
    fn failed_beside(&mut self, row: &str, place: Place, judged: &BTreeSet<Name>) {
        let draft = self.draft;
        let given = draft.verdict.as_ref().or(draft.index_verdict.as_ref());
        let judges = match self.part {
            Part::DodChecker | Part::Reviewer => self.complete(),
            Part::Unknown => given.is_some_and(|given| given.value != Word::NotApplicable),
            Part::Builder | Part::Tester => false,
        };
        let listed = matches!(self.rows.resolve(row), Named::Rows(ids, _) if ids.iter().all(|id| judged.contains(id)));
        if !judges || listed {
            return;
        }
        let message = format!("the coverage marks {} with ✗, and nothing follows from it", quote(row));
        let mut error = Diagnostic::error(Code::VERDICT_CONTRADICTS, place, message);
        error.other = given.map(|given| given.place);
        self.sink.push(error.hint(match self.part {
            Part::Reviewer => "list what is wrong under `## Findings`, and write `None` here",
            _ => "list it under `## Gaps`, and give the verdict that follows",
        }));
    }

    fn left_out_by_checker(&mut self, judged: &BTreeSet<Name>) {
        let criteria = self.context.criteria.as_deref().unwrap_or_default();
        // What could not be read may name them.
        let known = !judged.is_empty() || self.draft.is_clear(Heading::VerifiedRows);
        if self.part == Part::DodChecker && self.complete() && known {
            for row in criteria.iter().filter(|row| !judged.contains(&row.id)) {
                let message = format!("the row {} is neither verified nor a gap", quote(&row.id));
                let place = self.draft.find(Heading::VerifiedRows).map_or(self.start, |present| present.place);
                self.sink.warning(Code::ROW_LEFT_OUT, place, message, "a row without evidence does not pass");
            }
        }
    }

    /// The tester's coverage has each row of its scope, and of other rows only what decides something.
    fn tester_rows(&mut self, covered: &BTreeSet<Name>) {
        let draft = self.draft;
        for entry in draft.coverage.iter().filter(|entry| entry.value.mark != Mark::Fail) {
            let Named::Rows(ids, _) = self.rows.resolve(&entry.value.row) else { continue };
            let Some(row) = ids.iter().filter_map(|id| self.rows.get(id)).find(|row| !is_testers(row)) else {
                continue;
            };
            let sign = entry.value.mark.sign();
            let message = format!("{} is a row of {}: {sign} decides nothing about it", quote(&row.id), owner(row));
            let told = match entry.value.mark {
                Mark::Warning => Diagnostic::error(Code::ROW_UNKNOWN, entry.place, message),
                Mark::Pass | Mark::Fail => Diagnostic::warning(Code::ROW_UNKNOWN, entry.place, message),
            };
            self.sink.push(told.hint("mark it ✗ when you saw it fail, else leave it out"));
        }
        let known = !draft.coverage.is_empty() || draft.is_clear(Heading::Coverage);
        let Some(present) = draft.find(Heading::Coverage).filter(|_| known) else { return };
        let criteria = self.context.criteria.as_deref();
        let hint = "mark every row of the tester's scope with ✓, ✗ or ⚠️";
        let scope = criteria.unwrap_or_default().iter().filter(|row| is_testers(row));
        for row in scope.filter(|row| !covered.contains(&row.id)) {
            let message = format!("the row {} of the tester's scope is left out", quote(&row.id));
            self.sink.error(Code::ROW_LEFT_OUT, present.place, message, hint);
        }
        if criteria.is_none() && draft.coverage.is_empty() {
            self.sink.error(Code::ROW_LEFT_OUT, present.place, "the tester's coverage has no row", hint);
        }
    }

    /// The rows a line names. Who judges by a line names rows there are; a claim may speak of any.
    fn named(&mut self, line: &str, stance: Stance) -> Vec<Name> {
        let claim = stance.heading == Heading::Coverage && !(self.part == Part::Tester && self.complete());
        if let Some(nested) = self.rows.inside(line) {
            let message = format!("{} stands inside the item of another row", quote(nested));
            self.sink.error(Code::LIST_STRAY, stance.place, message, "give each row an item of its own");
        }
        let hint = "name the row by its id, as in `DoD-1`";
        let (what, hint) = match self.rows.resolve(line) {
            Named::Rows(ids, _) => return ids,
            Named::Unclear => (
                "may be about one row or about several".to_owned(),
                "give each row an item, or end the ids with a colon: `DoD-1, DoD-2: …`",
            ),
            Named::Unknown | Named::Ambiguous | Named::Torn(..) if claim => return Vec::new(),
            Named::Torn(id, text) => (
                format!("begins with the id {} and is the text of {}", quote(&id), quote(&text)),
                "begin with the id of the row that is meant, and say the rest in other words",
            ),
            Named::Ambiguous => ("is the text of several rows".to_owned(), hint),
            Named::Unknown => match self.others.resolve(line) {
                Named::Rows(ids, _) => {
                    let row = ids.first().and_then(|id| self.others.get(id));
                    let whose = row.map_or_else(|| "another role".to_owned(), owner);
                    (format!("is a row of {whose}, not one of yours"), "leave it out: who it belongs to judges it")
                }
                _ => ("is no row of the Definition of Done".to_owned(), hint),
            },
        };
        self.sink.error(Code::ROW_UNKNOWN, stance.place, format!("{} {what}", quote(line)), hint);
        Vec::new()
    }
}

/// What a line of the verified rows says of them: a ⚠️ in front of it, or of what is said of its rows, is theirs.
pub(super) fn verified_mark(line: &str, rows: &Rows<'_>) -> Mark {
    let warns = |text: &str| {
        let first = text.chars().find(|c| Mark::of(*c).is_some() || c.is_alphanumeric());
        first.and_then(Mark::of) == Some(Mark::Warning)
    };
    let said = matches!(rows.resolve(line), Named::Rows(_, said) if warns(&said));
    if said || warns(line) { Mark::Warning } else { Mark::Pass }
}

/// Whether a row is the tester's to judge.
pub(super) fn is_testers(row: &CriterionRow) -> bool {
    row.group.as_deref() == Some(TESTER_GROUP)
}
