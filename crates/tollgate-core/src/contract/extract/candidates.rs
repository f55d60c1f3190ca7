//! Everything in a text that looks like a document, and what stands behind the last of them.

use std::ops::Range;

use super::layer::Layers;
use super::looks::Looks;
use super::region;
use super::scan::{self, Item};
use super::tail::{self, Behind, Part};
use crate::code::Code;

/// So many documents are told apart; of more, the last ones.
pub const CANDIDATES_MAX: usize = 256;
/// How often a message may be a line of a tool again.
const LAYERS_MAX: usize = 3;
/// So many texts behind the last document are kept; of more, the last ones.
const BEHIND_MAX: usize = 1024;

/// How a candidate is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Json,
    Text,
}

/// Something that looks like a document.
#[derive(Debug)]
pub struct Candidate {
    pub layer: usize,
    pub range: Range<usize>,
    pub form: Form,
    pub state: State,
}

impl Candidate {
    /// Whether it is only shown, or thought.
    pub fn is_shown(&self) -> bool {
        matches!(self.state, State::Shown | State::Thought)
    }
}

/// How much of a candidate is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Whole,
    /// It ends before it says anything.
    Cut,
    /// It has the fields of a document and is none.
    Unread,
    /// It stands in code, a quote or a list.
    Shown,
    /// It stands behind a tag that begins thoughts which never end.
    Thought,
    /// It is a report of another contract, and says otherwise.
    Against,
    /// It says the word that decides once more, and another one.
    Otherwise,
    /// It is a section that may ask for a change to what was accepted.
    Demands,
}

impl State {
    /// Why a candidate in this state is no report, and what to do; none where it may be one.
    pub fn told(self, looks: &Looks) -> Option<(Code, &'static str, &str)> {
        match self {
            State::Whole => None,
            State::Cut => Some((Code::REPORT_CUT_OFF, "the report is cut off", "print the whole report again")),
            State::Unread if looks.json.is_none() => Some((
                Code::REPORT_ABSENT,
                "this heading is almost that of a report: whether it is one is not said",
                looks.begin.as_str(),
            )),
            State::Unread => Some((
                Code::REPORT_ABSENT,
                "this has the fields of a report, and cannot be read as one",
                "print the report as one JSON object, in no other one and with nothing in front of its lines",
            )),
            State::Shown => Some((
                Code::REPORT_ABSENT,
                "this stands in code, a quote or a list, and says otherwise than the report before it: which of them is meant is not said",
                "print the report as the last thing, and in none of these",
            )),
            State::Thought => Some((
                Code::REPORT_ABSENT,
                "this stands behind a tag that begins thoughts and is never closed, and says otherwise than the report before it: which of them is meant is not said",
                "close the thoughts, and print the report behind them",
            )),
            State::Otherwise => Some((
                Code::REPORT_ABSENT,
                "what the report says is said here once more, and otherwise: which of the two is meant is not said",
                "print the whole report as the last thing, and nothing behind it",
            )),
            State::Demands => Some((
                Code::SECTION_UNKNOWN,
                "this section stands behind a report that accepts the work, and may ask for a change to it",
                "reject the work if this must change, else leave the section out",
            )),
            State::Against => Some((
                Code::SECOND_DOCUMENT,
                "a report of another contract stands behind the last one of this, and says otherwise",
                "report once: either this, or what stands before it",
            )),
        }
    }
}

/// What looks like a document in a text, and the texts in it.
#[derive(Debug)]
pub struct Candidates<'t> {
    pub layers: Layers<'t>,
    pub candidates: Vec<Candidate>,
    pub unseen: usize,
    /// Where a tool says that the call failed which it was to carry out, and no document comes after that.
    pub failed: Option<(usize, usize)>,
    /// The last document that stands in thoughts.
    pub thought: Option<(usize, usize)>,
    /// What stands behind candidates, and how many of them before it.
    pub behind: Vec<(usize, Behind)>,
    /// The last of that, opened.
    pub said: Vec<Part>,
}

impl Candidates<'_> {
    pub fn text(&self, candidate: &Candidate) -> &str {
        &self.layers.text(candidate.layer)[candidate.range.clone()]
    }

    fn push(&mut self, candidate: Candidate) {
        // What is broken goes on until something else begins: nobody reads the rest of the text for each of many.
        if let Some(last) = self.candidates.last_mut()
            && (last.layer, last.form, candidate.form) == (candidate.layer, Form::Json, Form::Json)
            && last.range.contains(&candidate.range.start)
        {
            last.range.end = candidate.range.start;
        }
        self.candidates.push(candidate);
    }

    /// Keeps what stands in a region around its candidates, which are those from a number on, but for the lines of tools.
    fn leave(&mut self, layer: usize, region: &Range<usize>, first: usize, lines: &[Range<usize>]) {
        let own = self.candidates[first..].iter().map(|one| (one.range.clone(), 1));
        let mut taken: Vec<(Range<usize>, usize)> = own.chain(lines.iter().map(|line| (line.clone(), 0))).collect();
        taken.sort_by_key(|(range, _)| range.start);
        let (mut from, mut behind) = (region.start, self.unseen + first);
        for (range, more) in taken {
            self.keep(behind, Behind::Plain(layer, from..range.start.max(from)));
            (from, behind) = (range.end.min(region.end).max(from), behind + more);
        }
        self.keep(behind, Behind::Plain(layer, from..region.end));
    }

    fn keep(&mut self, candidates: usize, behind: Behind) {
        let blank = |layer: usize, range: &Range<usize>| self.layers.text(layer)[range.clone()].trim().is_empty();
        if matches!(&behind, Behind::Plain(layer, range) if blank(*layer, range)) {
            return;
        }
        if self.behind.len() >= 2 * BEHIND_MAX {
            self.behind.drain(..BEHIND_MAX);
        }
        self.behind.push((candidates, behind));
    }

    /// How many candidates there were so far.
    fn count(&self) -> usize {
        self.unseen + self.candidates.len()
    }

    /// What was said behind a candidate, and is none.
    pub fn said_behind(&self, at: usize) -> impl Iterator<Item = &Part> {
        let behind = self.unseen + at;
        self.said.iter().filter(move |part| part.behind > behind)
    }

    /// Adds what stands behind the last document and has its fields, though it could not be read as one.
    pub fn find_unread(&mut self, looks: &Looks, prompt: Option<&str>) {
        if self.failed.is_some() || self.behind.is_empty() {
            return;
        }
        let last = self.count();
        // What stands before the first of them takes nothing back; the last of that may be its label.
        let before = self.behind.iter().take_while(|(behind, _)| *behind < last.min(1)).count();
        self.behind.drain(..before.saturating_sub(1));
        self.said = tail::open(&mut self.layers, std::mem::take(&mut self.behind));
        let unread = self.said.iter().filter(|part| part.behind == last).find_map(|part| {
            let at = tail::unread(&self.layers.text(part.layer)[part.range.clone()], looks, prompt)?;
            let range = part.range.start + at..part.range.end;
            Some(Candidate { layer: part.layer, range, form: Form::Text, state: State::Unread })
        });
        self.candidates.extend(unread);
    }
}

/// Everything in a text that looks like a document.
pub fn find<'t>(text: &'t str, looks: &Looks) -> Candidates<'t> {
    let (layers, candidates) = (Layers::new(text), Vec::new());
    let mut found =
        Candidates { layers, candidates, unseen: 0, failed: None, thought: None, behind: Vec::new(), said: Vec::new() };
    let plain = found.layers.plain(0);
    gather(&mut found, looks, plain, 0);
    let surplus = found.candidates.len().saturating_sub(CANDIDATES_MAX);
    found.unseen += found.candidates.drain(..surplus).count();
    found.leave_out_thoughts(looks);
    found
}

fn gather(found: &mut Candidates<'_>, looks: &Looks, layer: usize, depth: usize) {
    let items = scan::scan(found.layers.text(layer), looks, depth > 0);
    let tools = items.iter().any(|item| matches!(item, Item::Message(_) | Item::Words(_) | Item::Failed(_)));
    let mut lines: Vec<Range<usize>> = Vec::new();
    for item in items {
        let before = found.candidates.len();
        match item {
            Item::Failed(at) => found.failed = Some((layer, at)),
            Item::Object(range) => found.push(Candidate { layer, range, form: Form::Json, state: State::Whole }),
            Item::Cut(start) => {
                let range = start..found.layers.text(layer).len();
                found.push(Candidate { layer, range, form: Form::Text, state: State::Cut });
            }
            Item::Region(region) => {
                let stands = region::find(found.layers.text(layer), &region, looks);
                for (range, state) in stands {
                    found.push(Candidate { layer, range, form: Form::Text, state });
                }
                // Objects in the region were noted before it was over.
                let of_region = |one: &Candidate| one.layer == layer && one.range.start >= region.start;
                let from = found.candidates.iter().rposition(|one| !of_region(one)).map_or(0, |at| at + 1);
                found.candidates[from..].sort_by_key(|one| one.range.start);
                found.leave(layer, &region, from, &lines);
                lines.clear();
            }
            Item::Message(words) if depth < LAYERS_MAX => {
                let said = found.layers.strings(layer, words);
                let plain = found.layers.plain(said);
                gather(found, looks, plain, depth + 1);
                // Most messages hold no document: what they said is not kept.
                let kept = found.candidates.last().is_some_and(|one| one.layer >= said);
                if !kept && found.failed.is_none_or(|(layer, _)| layer < said) {
                    // What came of the message stands last.
                    let before =
                        found.behind.iter().rposition(|(_, behind)| behind.layer() < said).map_or(0, |at| at + 1);
                    found.behind.truncate(before);
                    let words = found.layers.forget(said);
                    found.keep(found.count(), Behind::Said(layer, words));
                }
            }
            Item::Message(_) => {}
            Item::Words(words) => found.keep(found.count(), Behind::Words(layer, words)),
            Item::Line(line) if tools => lines.push(line),
            Item::Line(_) => {}
        }
        if found.candidates.len() > before {
            found.failed = None;
        }
        if found.candidates.len() > 2 * CANDIDATES_MAX {
            found.unseen += found.candidates.drain(..CANDIDATES_MAX).count();
        }
    }
}
