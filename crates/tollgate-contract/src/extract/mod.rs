//! Finds the report in what a worker printed.
//!
//! What an agent said is read from the lines of its program by its adapter and comes as a [`Transcript`]; what a plain program printed
//! is what it said. An object that the program was forced to by a schema is the report. Otherwise it is what is between the last pair of
//! [`Markers`]; a plain program prints one such report, or equal ones. Without those it is the last candidate that is no echo of what the
//! worker was shown: a JSON object or Markdown of the contract, at the outermost level of what the agent said. One that is cut off or
//! invalid makes the whole malformed; an earlier one is shown, never used. Text after the report is `trailing`: it is not read, and a
//! contract says whether it is refused.

mod absent;
mod blocks;
mod candidates;
mod dialect;
mod echo;
mod extraction;
mod json_scan;
mod markers;
mod signature;
mod sole_document;
mod speech;
#[cfg(test)]
mod tests;
mod text_layers;
mod transcript;
mod unit_match;

pub use self::candidates::objects;
pub use self::dialect::{Dialect, Read, malformed};
pub use self::extraction::{Earlier, Extraction, Found, Passed, Why};
pub use self::markers::{Markers, is_marker};
pub use self::signature::{Heads, Looks, Shape};
pub use self::sole_document::{only_fence, only_object, other_object};
pub use self::transcript::{Item, Part, Transcript};

use std::ops::Range;

use self::candidates::{Candidate, Form};
use self::echo::{Echo, Shown};
use self::sole_document::InFile;
use self::speech::{Said, Speech};
use crate::text::{Source, quote};
use crate::tree::json;
use crate::{Context, Reading, ReportDialect, Trailing};
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place};

/// The largest transcript that is read.
pub const BYTES_MAX: usize = 64 << 20;
/// So many reports before one that is not valid are read in search of one that is.
const EARLIER_MAX: usize = 16;
/// So many earlier reports are warned about.
const DRAFTS_MAX: usize = 50;
/// Where a report begins, in its own text.
const FIRST: Place = Place { line: 1, column: 1 };

/// How a report was handed over, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// As an object that a tool was forced to.
    Schema,
    Markers,
    /// It looks like one.
    Looks,
}

/// Finds the report in a transcript and reads it.
pub fn extract(dialect: Dialect<'_>, transcript: &Transcript<'_>, context: &Context) -> Extraction {
    let text = transcript.text();
    let file = Source::new(text);
    if text.len() > BYTES_MAX {
        let message = format!("the transcript is longer than {BYTES_MAX} bytes");
        let wrong = Diagnostic::error(Code::TEXT_REFUSED, Place::START, message).hint("give only its end");
        return Extraction::nothing(dialect.malformed(vec![wrong]), Vec::new(), 0);
    }
    // What a script hands in is one object in the form for scripts.
    if let (Dialect::Report(own), Transcript::Plain(_)) = (dialect, transcript)
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
    let looks = dialect.format().looks(context);
    let printed = matches!(transcript, Transcript::Plain(_));
    let mut speech = Speech::of(transcript);
    let (by, all, unseen) = candidates(&mut speech, &looks, context.markers.as_ref(), printed);
    let shown = match by {
        By::Looks => Shown::of(&looks, context.prompt.as_deref()),
        By::Schema | By::Markers => Shown::default(),
    };
    Search { dialect, context, looks: &looks, speech: &speech, by, all: &all, unseen, shown, file: &file, printed }
        .run()
}

/// Reads the report in a text that is all said by one.
pub fn report(dialect: &dyn ReportDialect, text: &str, context: &Context) -> Reading {
    report_in(dialect, &Transcript::Plain(text), context).0
}

/// Reads the report of a worker from all that it printed, and gives the text of the report.
pub fn report_in(
    dialect: &dyn ReportDialect,
    transcript: &Transcript<'_>,
    context: &Context,
) -> (Reading, Option<String>) {
    let extraction = extract(Dialect::Report(dialect), transcript, context);
    match extraction.read {
        Read::Report(reading) => (reading, extraction.found.map(|found| found.text)),
        Read::Document(_) => (malformed(Vec::new()), None),
    }
}

/// Reads a report file, and gives the text of the report: it is the whole file, and nothing else may be in it but the markers around it.
pub fn report_file(dialect: &dyn ReportDialect, text: &str, context: &Context) -> (Reading, Option<String>) {
    let inside = context.markers.as_ref().and_then(|markers| markers.inside(text));
    let text = inside.map_or(text, |inside| &text[inside]);
    let mut read = Read::Report(dialect.read_alone(text, context));
    match sole_document::in_file(Dialect::Report(dialect), text, context) {
        InFile::Alone | InFile::Nothing => {}
        InFile::With(at) => {
            let message = "a report file holds one report, and this is no part of it";
            let hint = "write the report alone into the file";
            read.refuse(Diagnostic::error(Code::TEXT_AROUND, Source::new(text).place(at), message).hint(hint));
        }
    }
    match read {
        Read::Report(reading) => (reading, Some(text.to_owned())),
        Read::Document(_) => (malformed(Vec::new()), None),
    }
}

/// Everything that may be the report, and how many more there were.
fn candidates(
    speech: &mut Speech<'_>,
    looks: &Looks,
    markers: Option<&Markers>,
    printed: bool,
) -> (By, Vec<Candidate>, usize) {
    let objects = speech.said.iter().enumerate().filter_map(|(said, item)| match item {
        Said::Object { layer, range } => {
            Some(Candidate { layer: *layer, range: range.clone(), form: Form::Json, cut: false, said, after: None })
        }
        Said::Text { .. } | Said::Failed { .. } | Said::Cut { .. } => None,
    });
    // A brief that names markers has no tool forced to an object.
    let objects: Vec<Candidate> = objects.filter(|_| looks.json.is_some() && markers.is_none()).collect();
    if !objects.is_empty() {
        return (By::Schema, objects, 0);
    }
    let marked = markers.map(|markers| markers::find(speech, markers, printed)).unwrap_or_default();
    if !marked.is_empty() {
        let candidate = |one: markers::Marked| {
            let form = if speech.layers.text(one.layer)[one.range.clone()].trim_start().starts_with('{') {
                Form::Json
            } else {
                Form::Text
            };
            let markers::Marked { layer, range, cut, said, after } = one;
            Candidate { layer, range, form, cut, said, after: Some(after) }
        };
        return (By::Markers, marked.into_iter().map(candidate).collect(), 0);
    }
    if markers.is_some() {
        markers::leave_out_pairs(speech);
    }
    let (all, unseen) = candidates::find(speech, looks);
    (By::Looks, all, unseen)
}

struct Search<'s> {
    dialect: Dialect<'s>,
    context: &'s Context,
    looks: &'s Looks,
    speech: &'s Speech<'s>,
    by: By,
    all: &'s [Candidate],
    unseen: usize,
    shown: Shown,
    file: &'s Source<'s>,
    /// Whether a program printed it as it is, and no tool says which of it are the words of the agent.
    printed: bool,
}

impl Search<'_> {
    fn run(&self) -> Extraction {
        let (mut passed, mut earlier) = (Vec::new(), Vec::new());
        let failed = self.failed();
        let counts = if failed.is_some() { None } else { self.counts() };
        for (at, one) in self.all.iter().enumerate() {
            let why = match counts {
                Some((winner, _)) if at == winner => continue,
                _ if self.is_echo(one) => Why::Echo,
                Some((winner, _)) if at > winner && self.is_example(one) => Why::Echo,
                _ => match (self.other_unit(one), counts) {
                    (Some(unit), _) if self.by == By::Looks => Why::OtherUnit(unit),
                    (_, Some((winner, _))) if self.text(one).trim() == self.text(&self.all[winner]).trim() => {
                        Why::Repeated
                    }
                    _ => {
                        earlier.push(at);
                        Why::Earlier
                    }
                },
            };
            passed.push(Passed { place: self.place(one, 0), why });
        }
        match (counts, failed) {
            (Some((at, echo)), _) => self.counted(&self.all[at], echo, passed, &earlier),
            (None, Some(failed)) => {
                let earlier = self.valid_before(&earlier);
                let read = self.dialect.malformed(vec![failed]);
                Extraction { earlier, ..Extraction::nothing(read, passed, self.unseen) }
            }
            (None, None) => {
                let wrong = self.absent(&passed);
                Extraction::nothing(self.dialect.malformed(vec![wrong]), passed, self.unseen)
            }
        }
    }

    /// The candidate that counts: the last one; of those that only look like one, the last that is no echo. The contract's own example
    /// counts where there is no other.
    fn counts(&self) -> Option<(usize, Echo)> {
        let last = |is: &dyn Fn(&Candidate) -> bool| self.all.iter().rposition(is);
        if self.by != By::Looks {
            return last(&|_| true).map(|at| (at, Echo::No));
        }
        let own = |one: &Candidate| !self.is_echo(one) && self.other_unit(one).is_none();
        let at = last(&|one| own(one) && !self.is_example(one)).or_else(|| last(&own))?;
        Some((at, self.echo(&self.all[at])))
    }

    fn counted(&self, one: &Candidate, echo: Echo, passed: Vec<Passed>, earlier: &[usize]) -> Extraction {
        let mut read = self.judge(one, echo);
        let own = read.diagnostics().to_vec();
        let source = Source::new(self.text(one));
        for diagnostic in read.diagnostics_mut() {
            self.in_file(diagnostic, one, &source);
        }
        let trailing = self.trailing(one).map(|(layer, at)| self.file.place(self.speech.layers.in_file(layer, at)));
        let refused = self.dialect.trailing() == Trailing::Refuse && read.accepts();
        if let Some(place) = trailing {
            match refused {
                true => read.refuse(accepted_and_more(place)),
                false => read.diagnostics_mut().push(unread_text(place)),
            }
        }
        let more = trailing.filter(|_| refused).map(|_| accepted_and_more(Place::default()));
        let contradicted = self.contradicted(one);
        contradicted.clone().into_iter().for_each(|wrong| read.refuse(wrong));
        let contradicted = contradicted.map(|wrong| Diagnostic { place: Place::default(), other: None, ..wrong });
        let drafts = passed.iter().filter(|passed| passed.why == Why::Earlier).take(DRAFTS_MAX);
        let drafts = drafts.map(|passed| {
            let message = "an earlier report; only the last one counts";
            Diagnostic::warning(Code::REPORT_DRAFT, passed.place, message).hint("report once, at the end")
        });
        read.diagnostics_mut().extend(drafts);
        read.diagnostics_mut().sort_by_key(|diagnostic| diagnostic.place);
        let earlier = if read.is_refused() { self.valid_before(earlier) } else { None };
        let text = self.text(one);
        let found = Found {
            from: self.place(one, 0),
            to: self.place(one, text.trim_end().len()),
            in_string: self.speech.layers.is_string(one.layer),
            text: text.to_owned(),
            diagnostics: own.into_iter().chain(more).chain(contradicted).collect(),
        };
        Extraction { read, found: Some(found), passed, unseen: self.unseen, earlier, trailing }
    }

    /// What is wrong where a program printed another whole report between the same markers. What it starts prints to the same place
    /// and can read the same brief, so the last one is no more its own than the one before.
    fn contradicted(&self, one: &Candidate) -> Option<Diagnostic> {
        let mut others = self.all.iter().rev().filter(|other| self.printed && self.by == By::Markers && !other.cut);
        let differs = |other: &Candidate| markers::difference(self.text(one), self.text(other));
        let (other, (own, beside)) = others.find_map(|other| Some((other, differs(other)?))).filter(|_| !one.cut)?;
        let said = |line: &str| if line.trim().is_empty() { "nothing".to_owned() } else { quote(line) };
        let (place, other) = (self.place(one, 0), self.place(other, 0));
        let (own, beside) = (said(own), said(beside));
        let message = format!(
            "two different reports are printed between the marker lines: the last one says {own} where the one at line {} says {beside}",
            other.line
        );
        let hint = "print the report once, when everything that you started has ended";
        Some(Diagnostic { other: Some(other), ..Diagnostic::error(Code::REPORTS_DIFFER, place, message).hint(hint) })
    }

    fn text(&self, one: &Candidate) -> &str {
        &self.speech.layers.text(one.layer)[one.range.clone()]
    }

    /// Where text begins that the agent said after a report and that is no other candidate.
    fn trailing(&self, one: &Candidate) -> Option<(usize, usize)> {
        let items = self.speech.said.iter().enumerate().skip(one.said);
        items.filter(|_| self.by != By::Schema && !one.cut).find_map(|(index, item)| match item {
            Said::Text { layer, range, .. } if index == one.said => self.text_in(index, *layer, one.after?..range.end),
            Said::Text { layer, range, own: true } => self.text_in(index, *layer, range.clone()),
            Said::Text { .. } | Said::Object { .. } | Said::Failed { .. } | Said::Cut { .. } => None,
        })
    }

    /// Where text begins in a range of an item, outside of candidates.
    fn text_in(&self, said: usize, layer: usize, range: Range<usize>) -> Option<(usize, usize)> {
        let (text, mut from) = (self.speech.layers.text(layer), range.start);
        let others =
            self.all.iter().filter(|one| one.said == said && one.range.start >= range.start && self.by == By::Looks);
        let gaps = others.map(|one| one.range.start..one.after.unwrap_or(one.range.end));
        for gap in gaps.chain(std::iter::once(range.end..range.end)) {
            let bare = text.get(from..gap.start).unwrap_or_default().trim_start();
            // The end of a fence around the markers is around the report.
            let is_fence = self.by == By::Markers && bare.trim_end().trim_matches(['`', '~']).is_empty();
            if !bare.is_empty() && !is_fence {
                return Some((layer, gap.start - bare.len()));
            }
            from = gap.end;
        }
        None
    }

    /// The last report before the one that counts that is valid.
    fn valid_before(&self, earlier: &[usize]) -> Option<Earlier> {
        let whole = earlier.iter().rev().take(EARLIER_MAX).map(|at| &self.all[*at]).filter(|one| !one.cut);
        let mut read = whole.map(|one| (one, self.judge(one, Echo::No)));
        let (one, read) = read.find(|(_, read)| !read.is_refused())?;
        Some(Earlier { place: self.place(one, 0), read })
    }

    fn echo(&self, one: &Candidate) -> Echo {
        match (self.by, one.cut) {
            (By::Looks, false) if self.dialect.format().is_unfilled(self.text(one)) => Echo::Whole,
            (By::Looks, false) => self.shown.echo(self.text(one), one.form),
            _ => Echo::No,
        }
    }

    fn is_echo(&self, one: &Candidate) -> bool {
        self.echo(one) == Echo::Whole
    }

    /// Whether a candidate is the contract's own example, in whatever layout.
    fn is_example(&self, one: &Candidate) -> bool {
        let (example, text) = (self.looks.example.trim(), self.text(one).trim());
        let same = || {
            let trees = json::read(example).ok().zip(json::read(text).ok());
            one.form == Form::Json && trees.is_some_and(|(example, own)| example.same(&own))
        };
        self.by == By::Looks && !one.cut && !example.is_empty() && (text == example || same())
    }

    /// What a tool says of its call, where nothing that may be the report comes after it.
    fn failed(&self) -> Option<Diagnostic> {
        let last = self.all.last().map_or(0, |one| one.said);
        let found = self.speech.said.iter().enumerate().rev().find_map(|(index, item)| match item {
            Said::Failed { layer, at } => Some((index, *layer, *at)),
            Said::Text { .. } | Said::Object { .. } | Said::Cut { .. } => None,
        });
        let (_, layer, at) = found.filter(|(index, ..)| *index >= last)?;
        let place = self.file.place(self.speech.layers.in_file(layer, at));
        let message = "the agent's tool reports here that its call failed or was stopped, and no report follows";
        let hint = "start the agent again; `earlier` in the output of `--json` shows what it had reported by then";
        Some(Diagnostic::error(Code::CALL_FAILED, place, message).hint(hint))
    }

    /// Reads one candidate; places are those of its own text.
    fn judge(&self, one: &Candidate, echo: Echo) -> Read {
        if one.cut {
            let message = "the report is cut off";
            let error = Diagnostic::error(Code::REPORT_CUT_OFF, FIRST, message).hint("print the whole report again");
            return self.dialect.malformed(vec![error]);
        }
        let mut read = self.dialect.read_alone(self.text(one), self.context);
        let refused = match (echo, self.unit(one)) {
            (Echo::Beginning, _) => {
                Some(("this repeats what the prompt shows".to_owned(), "report on the work that was done".to_owned()))
            }
            (Echo::No | Echo::Whole, Some((unit_match::Is::Unclear | unit_match::Is::Another, said, wanted))) => {
                let message = format!("the report names the unit {}, and {} was given", quote(&said), quote(wanted));
                Some((message, "name the unit as it was given".to_owned()))
            }
            (Echo::No | Echo::Whole, _) => None,
        };
        if let Some((message, hint)) = refused {
            read.refuse(Diagnostic::error(Code::REPORT_ABSENT, FIRST, message).hint(hint));
        }
        read
    }

    /// The unit that a report names, beside the one that was asked for.
    fn unit(&self, one: &Candidate) -> Option<(unit_match::Is, String, &str)> {
        let wanted = self.context.unit.as_deref().filter(|_| !one.cut)?;
        let Dialect::Report(dialect) = self.dialect else { return None };
        let said = dialect.unit(self.text(one), self.context)?;
        Some((unit_match::compare(&said, wanted), said, wanted))
    }

    fn other_unit(&self, one: &Candidate) -> Option<String> {
        self.unit(one).filter(|(is, ..)| *is == unit_match::Is::Another).map(|(_, said, _)| said)
    }

    fn place(&self, one: &Candidate, at: usize) -> Place {
        self.file.place(self.speech.layers.in_file(one.layer, one.range.start + at))
    }

    /// Gives a diagnostic the place in the transcript; where that is inside of a JSON string, it says so.
    fn in_file(&self, diagnostic: &mut Diagnostic, one: &Candidate, source: &Source<'_>) {
        let own = diagnostic.place;
        if own.line == 0 {
            return;
        }
        diagnostic.place = self.place(one, source.offset(own));
        diagnostic.other = diagnostic.other.map(|other| self.place(one, source.offset(other)));
        if self.speech.layers.is_string(one.layer) {
            let hint = diagnostic.hint.take().map(|hint| format!("{hint}; ")).unwrap_or_default();
            let inside = format!("this is line {}, column {} of the report in the JSON string", own.line, own.column);
            diagnostic.hint = Some(format!("{hint}{inside}"));
        }
    }
}

/// Text after a report that is only noted.
fn unread_text(place: Place) -> Diagnostic {
    let message = "text follows the report; it is not read";
    Diagnostic::warning(Code::TEXT_AFTER, place, message).hint("print the report last")
}

/// Text after a report that accepts.
fn accepted_and_more(place: Place) -> Diagnostic {
    let message = "text follows a report that accepts the work";
    Diagnostic::error(Code::TEXT_AFTER, place, message).hint("print nothing after the report; put remarks into it")
}
