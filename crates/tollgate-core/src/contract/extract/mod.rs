//! Finds the report in what a worker printed: the last one of its unit that is no echo of what the worker was shown.
//!
//! [`scan`] opens the lines of command line tools and notes what looks like a document, [`region`] looks into plain text, [`echo`]
//! knows what was shown. A last report that is cut off or invalid makes the whole malformed; one before it is shown, never used.

mod against;
mod alike;
mod alone;
mod announce;
mod around;
mod called;
mod candidates;
mod decides;
mod demands;
mod dialect;
mod disown;
mod echo;
mod entitled;
mod envelope;
mod handed_in;
mod layer;
mod looks;
mod plain;
mod region;
mod sample;
mod scan;
mod skim;
mod tail;
mod taken_back;
#[cfg(test)]
mod tests;
mod thoughts;
mod unit;
mod wrapped;

pub use self::against::Against;
pub use self::alone::{objects, only_fence, only_object, other_object};
pub use self::decides::Deciding;
pub use self::dialect::{Dialect, Read, malformed};
pub use self::looks::{Heads, Looks};

#[cfg(test)]
use self::candidates::CANDIDATES_MAX;
use self::candidates::{Candidate, Candidates, Form, State, find};
use self::echo::{Echo, Shown};
use super::markdown::{SHOW_NOT, SHOWN, heading_words};
use super::text::Source;
use super::tree::json;
use super::{Context, Reading, ReportDialect};
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Mend, Place};
use crate::report::{Health, Report, Verdict};

/// The largest transcript that is read.
pub const BYTES_MAX: usize = 64 << 20;
/// So many reports before one that is not valid are looked at for one that is.
const EARLIER_MAX: usize = 16;

/// What came of a transcript.
#[derive(Debug)]
pub struct Extraction {
    /// What the report says that counts; malformed where there is none. Its diagnostics have places in the transcript.
    pub read: Read,
    /// The report that counts.
    pub found: Option<Found>,
    /// What else looks like a report, in the order of the text.
    pub passed: Vec<Passed>,
    /// How many before those were not looked at.
    pub unseen: usize,
    /// The last report before an invalid one that is valid: it is not used.
    pub earlier: Option<Earlier>,
}

/// A report in a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub from: Place,
    pub to: Place,
    /// Whether it stands in a JSON string.
    pub in_string: bool,
    /// Its text, without what is around it.
    pub text: String,
    /// What is wrong, with places in this text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Something that looks like a report and is not the one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    pub place: Place,
    pub why: Why,
}

/// Why a report is not the one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// It repeats what the worker was shown, or is a template that nobody filled in.
    Echo,
    /// Another comes after it.
    Earlier,
    /// The one that counts says the same again.
    Repeated,
    /// It is about another unit.
    OtherUnit(String),
}

/// A valid report before the one that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    pub place: Place,
    pub read: Read,
}

/// Finds the report in a transcript and reads it.
pub fn extract(dialect: Dialect<'_>, text: &str, context: &Context) -> Extraction {
    let file = Source::new(text);
    if text.len() > BYTES_MAX {
        let message = format!("the transcript is longer than {BYTES_MAX} bytes");
        let wrong = Diagnostic::error(Code::TEXT_REFUSED, Place::START, message).hint("give its end alone");
        return Extraction::nothing(dialect.malformed(vec![wrong]), Vec::new(), 0);
    }
    // What a script hands in is one object in the form for scripts.
    if let Dialect::Report(own) = dialect
        && let Some(reading) = own.read_object(text, context)
    {
        let found = Found {
            from: Place::START,
            to: file.place(text.trim_end().len()),
            in_string: false,
            text: text.to_owned(),
            diagnostics: reading.diagnostics.clone(),
        };
        return Extraction { found: Some(found), ..Extraction::nothing(Read::Report(reading), Vec::new(), 0) };
    }
    let looks = dialect.looks(context);
    let all = all(&file, &looks, context);
    Search::new(dialect, context, &looks, &all, &file).run()
}

/// Everything in a text that looks like a document, also what stands behind the last one and could not be read.
fn all<'t>(file: &Source<'t>, looks: &Looks, context: &Context) -> Candidates<'t> {
    let mut all = find(file.text(), looks);
    all.find_unread(looks, context.prompt.as_deref());
    all
}

struct Search<'s> {
    dialect: Dialect<'s>,
    context: &'s Context,
    looks: &'s Looks,
    all: &'s Candidates<'s>,
    shown: Shown,
    file: &'s Source<'s>,
}

impl<'s> Search<'s> {
    fn new(
        dialect: Dialect<'s>,
        context: &'s Context,
        looks: &'s Looks,
        all: &'s Candidates<'s>,
        file: &'s Source<'s>,
    ) -> Self {
        Self { dialect, context, looks, all, shown: Shown::of(looks, context.prompt.as_deref()), file }
    }

    fn run(&self) -> Extraction {
        let mut passed = Vec::new();
        let mut counts: Option<(usize, Echo)> = None;
        let mut earlier: Vec<usize> = Vec::new();
        let last_own = self.last_own();
        let mut before: Option<(usize, Read)> = None;
        for (at, one) in self.all.candidates.iter().enumerate().rev() {
            let decided = counts.is_some() || self.all.failed.is_some();
            if one.is_shown() && (decided || self.says_otherwise(at, &mut before) != Some(true)) {
                continue;
            }
            let text = self.all.text(one);
            let echo = if last_own.is_some_and(|own| at > own) { Echo::Whole } else { self.echo(one) };
            let echo = if echo == Echo::No && counts.is_none() { self.example(at) } else { echo };
            let why = if echo == Echo::Whole {
                Some(Why::Echo)
            } else if let Some(unit) = self.other_unit(one) {
                Some(Why::OtherUnit(unit))
            } else if let Some((winner, _)) = counts {
                earlier.push(at);
                let same = text.trim() == self.all.text(&self.all.candidates[winner]).trim();
                Some(if same { Why::Repeated } else { Why::Earlier })
            } else if self.all.failed.is_some() {
                earlier.push(at);
                Some(Why::Earlier)
            } else {
                counts = Some((at, echo));
                None
            };
            passed.extend(why.map(|why| Passed { place: self.place(one, 0), why }));
        }
        passed.reverse();
        match counts {
            Some((at, echo)) => self.counted(at, echo, passed, earlier),
            None if self.all.failed.is_some() => {
                let before = self.valid_before(&earlier).map(|(at, read)| self.earlier(at, read));
                let read = self.dialect.malformed(self.failed());
                Extraction { earlier: before, ..Extraction::nothing(read, passed, self.all.unseen) }
            }
            None => {
                let wrong = self.absent(&passed);
                Extraction::nothing(self.dialect.malformed(vec![wrong]), passed, self.all.unseen)
            }
        }
    }

    /// What comes of the candidate that counts, unless it is taken back behind it.
    fn counted(&self, at: usize, echo: Echo, mut passed: Vec<Passed>, mut earlier: Vec<usize>) -> Extraction {
        let one = &self.all.candidates[at];
        let mut read = self.judge(one, echo);
        if let Some(label) = self.called_former(at, &read, &earlier) {
            refuse(&mut read, self.is_called(Some(label)));
        }
        let Some(other) = self.taken_back(at, &read) else { return self.read(one, read, passed, &earlier) };
        let own = Passed { place: self.place(one, 0), why: Why::Earlier };
        passed.insert(passed.partition_point(|before| before.place < own.place), own);
        earlier.insert(0, at);
        self.read(&other, self.judge(&other, Echo::No), passed, &earlier)
    }

    fn read(&self, one: &Candidate, mut read: Read, passed: Vec<Passed>, earlier: &[usize]) -> Extraction {
        let text = self.all.text(one);
        let own = read.diagnostics().to_vec();
        let source = Source::new(text);
        for diagnostic in read.diagnostics_mut() {
            self.in_file(diagnostic, one, &source);
        }
        let drafts = passed.iter().filter(|passed| passed.why == Why::Earlier).take(50);
        let warnings: Vec<Diagnostic> = drafts
            .map(|passed| {
                let message = "an earlier report stands here; only the last one counts";
                Diagnostic::warning(Code::REPORT_DRAFT, passed.place, message).hint("report once, at the end")
            })
            .collect();
        read.diagnostics_mut().splice(0..0, warnings);
        read.diagnostics_mut().sort_by_key(|diagnostic| diagnostic.place);
        let before = read.is_refused().then(|| self.valid_before(earlier)).flatten();
        let before = before.map(|(at, read)| self.earlier(at, read));
        let found = Found {
            from: self.place(one, 0),
            to: self.place(one, text.trim_end().len()),
            in_string: self.all.layers.is_string(one.layer),
            text: text.to_owned(),
            diagnostics: own,
        };
        Extraction { read, found: Some(found), passed, unseen: self.all.unseen, earlier: before }
    }

    /// Whether what stands in code, a quote or a list says otherwise than the report before it, which is read once. Without one before it there is no report.
    fn says_otherwise(&self, at: usize, read: &mut Option<(usize, Read)>) -> Option<bool> {
        let before = self.all.candidates[..at].iter().rposition(|one| !one.is_shown())?;
        let text = sample::bare(self.all.text(&self.all.candidates[at]));
        let nobodys = text.trim() == self.looks.example.trim()
            || self.dialect.is_unfilled(&text)
            || self.shown.echo(&text, Form::Text) == Echo::Whole
            || self.names_other_unit(&text).is_some();
        if nobodys {
            return Some(false);
        }
        if read.as_ref().is_none_or(|(known, _)| *known != before) {
            *read = Some((before, self.judge(&self.all.candidates[before], Echo::No)));
        }
        let own = read.as_ref().map(|(_, read)| read);
        Some(match (own, self.dialect.read_alone(&text, self.context)) {
            (Some(Read::Report(own)), Read::Report(shown)) => {
                (own.report.health, own.report.verdict) != (shown.report.health, shown.report.verdict)
            }
            (Some(Read::Document(own)), Read::Document(shown)) => own.plan != shown.plan,
            _ => true,
        })
    }

    /// The last report before the one that counts, or would, that is valid.
    fn valid_before(&self, earlier: &[usize]) -> Option<(usize, Read)> {
        let one = |at: usize| &self.all.candidates[at];
        let whole = earlier.iter().copied().take(EARLIER_MAX).filter(|at| one(*at).state == State::Whole);
        whole.map(|at| (at, self.judge(one(at), Echo::No))).find(|(_, read)| !read.is_refused())
    }

    fn earlier(&self, at: usize, read: Read) -> Earlier {
        Earlier { place: self.place(&self.all.candidates[at], 0), read }
    }

    /// The last valid report before one that is the contract's own example, in whatever layout: the example is nobody's where there is another.
    fn last_own(&self) -> Option<usize> {
        let example = self.looks.example.trim();
        let tree = json::read(example).ok();
        let same = |text: &str| json::read(text).is_ok_and(|own| tree.as_ref().is_some_and(|tree| tree.same(&own)));
        let is_sample = |one: &Candidate| {
            let text = self.all.text(one).trim();
            one.state == State::Whole
                && !example.is_empty()
                && (text == example || (one.form == Form::Json && same(text)))
        };
        let behind = self.all.candidates.iter().rev().take_while(|one| is_sample(one)).count();
        let at = self.all.candidates.len().checked_sub(behind + 1).filter(|_| behind > 0)?;
        let own = &self.all.candidates[at];
        let counts = own.state == State::Whole
            && self.echo(own) == Echo::No
            && self.example(at) == Echo::No
            && self.other_unit(own).is_none();
        (counts && !self.judge(own, Echo::No).is_refused()).then_some(at)
    }

    /// How much of a candidate only repeats what was shown, or is said to be no report.
    fn echo(&self, one: &Candidate) -> Echo {
        if one.state != State::Whole {
            return Echo::No;
        }
        if self.dialect.is_unfilled(self.all.text(one)) {
            return Echo::Whole;
        }
        self.shown.echo(self.all.text(one), one.form)
    }

    /// Whether the one that counts is said to be an example; in a line as code it is one where another report stands before it.
    fn example(&self, at: usize) -> Echo {
        let one = &self.all.candidates[at];
        let text = self.all.layers.text(one.layer);
        let others = || self.all.candidates[..at].iter().any(|other| self.all.text(other) != self.all.text(one));
        // What takes a Markdown report out ends below it, which is in it.
        let head = self.all.text(one).lines().next().map_or(0, str::len);
        let range = one.range.start..if one.form == Form::Json { one.range.end } else { one.range.start + head };
        let is = one.state == State::Whole
            && (announce::is_example(text, &range)
                || (announce::is_inline(text, &range) && others())
                || self.announced_before(at).is_some());
        if is { Echo::Example } else { Echo::No }
    }

    /// What a tool says of its call: nothing before it is a report of work that was finished.
    fn failed(&self) -> Vec<Diagnostic> {
        let at = self.all.failed.map_or(0, |(layer, at)| self.all.layers.in_file(layer, at));
        let message =
            "the agent's tool says here that its call failed or was stopped: what was printed before is no report";
        let hint = "start the agent again; `--json` names in `earlier` what it had reported by then";
        vec![Diagnostic::error(Code::CALL_FAILED, self.file.place(at), message).hint(hint)]
    }

    /// Reads one candidate; places are those of its own text.
    fn judge(&self, one: &Candidate, echo: Echo) -> Read {
        let start = Place { line: 1, column: 1 };
        let unread = one.state.told(self.looks);
        if let Some((code, message, hint)) = unread {
            return self.dialect.malformed(vec![Diagnostic::error(code, start, message).hint(hint)]);
        }
        let mut read = self.dialect.read_alone(self.all.text(one), self.context);
        let told = match echo {
            Echo::Beginning => {
                let message = "this is word for word what the prompt shows";
                Some((message.to_owned(), "report on the work that was done".to_owned()))
            }
            Echo::Example => Some(self.is_called(self.label(one))),
            Echo::No | Echo::Whole if self.is_unit_unclear(self.all.text(one)) => {
                let message = "the unit is spelt otherwise here than it was given: whether it is the same is not said";
                Some((message.to_owned(), "name the unit as it was given".to_owned()))
            }
            Echo::No | Echo::Whole => None,
        };
        if let Some(told) = told {
            refuse(&mut read, told);
        }
        read
    }

    /// The unit of a report that is about another one than was asked for.
    fn other_unit(&self, one: &Candidate) -> Option<String> {
        (one.state == State::Whole).then(|| self.names_other_unit(self.all.text(one))).flatten()
    }

    fn names_other_unit(&self, text: &str) -> Option<String> {
        let wanted = self.context.unit.as_deref()?;
        let Dialect::Report(dialect) = self.dialect else { return None };
        dialect.unit(text, self.context).filter(|said| unit::compare(said, wanted) == unit::Is::Another)
    }

    /// Whether a report names a unit that may be the one that was asked for, and may not.
    fn is_unit_unclear(&self, text: &str) -> bool {
        let (Some(wanted), Dialect::Report(dialect)) = (self.context.unit.as_deref(), self.dialect) else {
            return false;
        };
        dialect.unit(text, self.context).is_some_and(|said| unit::compare(&said, wanted) == unit::Is::Unclear)
    }

    fn place(&self, one: &Candidate, at: usize) -> Place {
        self.file.place(self.all.layers.in_file(one.layer, one.range.start + at))
    }

    /// Gives a diagnostic the place in the transcript; where that is inside of a JSON string, it says so.
    fn in_file(&self, diagnostic: &mut Diagnostic, one: &Candidate, source: &Source<'_>) {
        let own = diagnostic.place;
        if own.line == 0 {
            return;
        }
        diagnostic.place = self.place(one, source.offset(own));
        diagnostic.other = diagnostic.other.map(|other| self.place(one, source.offset(other)));
        if self.all.layers.is_string(one.layer) {
            let hint = diagnostic.hint.take().map(|hint| format!("{hint}; ")).unwrap_or_default();
            let inside = format!("this is line {}, column {} of the report in the JSON string", own.line, own.column);
            diagnostic.hint = Some(format!("{hint}{inside}"));
        }
    }

    fn absent(&self, passed: &[Passed]) -> Diagnostic {
        let what = if matches!(self.dialect, Dialect::Report(_)) { "report" } else { "document" };
        let last = passed.last();
        let error = |place: Place, message: String| Diagnostic::error(Code::REPORT_ABSENT, place, message);
        match last.map(|passed| (&passed.why, passed.place)) {
            Some((Why::OtherUnit(unit), place)) => {
                let wanted = self.context.unit.as_deref().unwrap_or_default();
                let message =
                    format!("there is no {what} of {wanted}; the last one is of {}", super::text::quote(unit));
                error(place, message).hint(format!("report on {wanted}"))
            }
            Some((_, place)) => {
                error(place, format!("there is only an echo of the prompt, no {what}")).hint(&self.looks.begin)
            }
            None if self.all.thought.is_some() => {
                let at = self.all.thought.map_or(0, |(layer, at)| self.all.layers.in_file(layer, at));
                let message = format!("there is no {what}: what stands here is printed as a thought");
                error(self.file.place(at), message).hint("print it behind the thoughts, and close their tag")
            }
            None => {
                let message = format!("there is no {what}: {}", self.looks.lacks);
                let line = self.looks.markdown.as_ref().and_then(Heads::line);
                let head = self.looks.markdown.as_ref().and_then(|heads| {
                    let is = |line: &str| heading_words(line).is_some_and(|words| heads.is_head(2, words));
                    let mut lines = super::text::lines(self.file.text());
                    lines.find(|(_, line)| line.trim_start().starts_with('#') && is(line.trim()))
                });
                let Some((line, (at, said))) = line.zip(head) else {
                    return error(Place::START, message).hint(self.looks.begin.clone());
                };
                let level = |line: &str| line.trim_start().bytes().take_while(|byte| *byte == b'#').count();
                if level(said) == level(&line) {
                    let outline = super::markdown::outline(self.file).ok();
                    if let Some(open) = outline.and_then(|outline| outline.open_fence()).filter(|open| *open < at) {
                        let hint = format!("end the code fence that begins here: `{line}` stands in it");
                        return error(self.file.place(open), message).hint(hint);
                    }
                    let message = format!("there is no {what}: this `{line}` {SHOWN}");
                    return error(self.file.place(at), message).hint(SHOW_NOT);
                }
                let hint = format!("write {} as `{line}`", super::text::quote(said));
                error(self.file.place(at), message).hint(hint).mend(Some(Mend::Level(level(&line))))
            }
        }
    }
}

/// Makes malformed what was read, for a reason that its words do not show, with what to do about it.
fn refuse(read: &mut Read, (reason, hint): (String, String)) {
    let wrong = Diagnostic::error(Code::REPORT_ABSENT, Place { line: 1, column: 1 }, &reason).hint(hint);
    read.diagnostics_mut().insert(0, wrong);
    if let Read::Report(reading) = read {
        let reads = std::mem::take(&mut reading.report.reads);
        reading.report = Report { reads, reason, ..Report::new(Health::Malformed, Verdict::None) };
    }
}

impl Extraction {
    fn nothing(read: Read, passed: Vec<Passed>, unseen: usize) -> Self {
        Self { read, found: None, passed, unseen, earlier: None }
    }
}

/// Reads the report of a worker from all that it printed.
pub fn report(dialect: &dyn ReportDialect, text: &str, context: &Context) -> Reading {
    match extract(Dialect::Report(dialect), text, context).read {
        Read::Report(reading) => reading,
        Read::Document(_) => malformed(Vec::new()),
    }
}
