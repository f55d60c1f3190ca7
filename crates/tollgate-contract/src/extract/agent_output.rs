//! What an agent said: the words that tools wrap in their lines, unwrapped, and text that no tool wrapped as it is.

use std::ops::Range;

use memchr::memchr;

use super::envelopes::{self, ToolLine};
use super::json_scan::{self, End, Skimmed};
use super::signature::Looks;
use super::text_layers::Layers;
use crate::markdown::Fence;

/// How often a message may be a line of a tool again.
const LAYERS_MAX: usize = 3;

/// One item of what was said, in its order.
#[derive(Debug)]
pub enum Said {
    /// Text. It is not the agent's own where a tool printed it beside its lines.
    Text { layer: usize, range: Range<usize>, own: bool },
    /// An object that the tool forced the report into.
    Object { layer: usize, range: Range<usize> },
    /// A tool says here that its call failed.
    Failed { layer: usize, at: usize },
    /// A line of a tool begins here, and the text ends inside of it.
    Cut { layer: usize, at: usize },
}

/// A transcript, unwrapped.
#[derive(Debug)]
pub struct Speech<'t> {
    pub layers: Layers<'t>,
    pub said: Vec<Said>,
}

impl<'t> Speech<'t> {
    pub fn of(text: &'t str, looks: &Looks) -> Self {
        let mut speech = Self { layers: Layers::new(text), said: Vec::new() };
        let plain = speech.layers.plain(0);
        speech.unwrap(plain, looks, 0);
        speech
    }

    /// A transcript in which no tool wrapped anything.
    pub fn plain(text: &'t str) -> Self {
        let mut speech = Self { layers: Layers::new(text), said: Vec::new() };
        let layer = speech.layers.plain(0);
        let range = 0..speech.layers.text(layer).len();
        speech.said.push(Said::Text { layer, range, own: true });
        speech
    }

    fn unwrap(&mut self, layer: usize, looks: &Looks, depth: usize) {
        let text = self.layers.text(layer);
        let whole = 0..text.len();
        if depth > LAYERS_MAX {
            return self.said.push(Said::Text { layer, range: whole, own: true });
        }
        // A string that was written as JSON once more is what it says.
        if let Some(words) = json_scan::whole_string(text) {
            return self.message(layer, vec![words], looks, depth);
        }
        let Some(parts) = Unwrap::new(text, looks).run() else {
            return self.said.push(Said::Text { layer, range: whole, own: true });
        };
        for part in parts {
            match part {
                Part::Message(words) => self.message(layer, words, looks, depth),
                Part::Plain(range) => self.said.push(Said::Text { layer, range, own: depth > 0 }),
                // What the agent quotes is not what its tool was forced to.
                Part::Object(range) if depth == 0 => self.said.push(Said::Object { layer, range }),
                Part::Object(_) => {}
                Part::Failed(at) => self.said.push(Said::Failed { layer, at }),
                Part::Cut(at) => self.said.push(Said::Cut { layer, at }),
            }
        }
    }

    fn message(&mut self, layer: usize, words: Vec<Range<usize>>, looks: &Looks, depth: usize) {
        let said = self.layers.strings(layer, words);
        let layer = self.layers.plain(said);
        let text = self.layers.text(layer);
        // A tool that calls another one hands on the other's lines.
        match text.trim_start().starts_with(['{', '[', '"']) {
            true => self.unwrap(layer, looks, depth + 1),
            false => {
                let range = 0..text.len();
                self.said.push(Said::Text { layer, range, own: true });
            }
        }
    }
}

/// A part of a text.
enum Part {
    /// Strings that are one message, without their quotes.
    Message(Vec<Range<usize>>),
    Object(Range<usize>),
    Plain(Range<usize>),
    Failed(usize),
    Cut(usize),
}

struct Unwrap<'a> {
    text: &'a str,
    looks: &'a Looks,
    /// Where the plain text begins that goes on here.
    plain: usize,
    /// Pieces of one message so far.
    pieces: Vec<Range<usize>>,
    /// Whether there are lines of tools.
    tools: bool,
    /// Where a tool reported an error in its last line so far.
    error: Option<usize>,
    parts: Vec<Part>,
}

impl<'a> Unwrap<'a> {
    fn new(text: &'a str, looks: &'a Looks) -> Self {
        Self { text, looks, plain: 0, pieces: Vec::new(), tools: false, error: None, parts: Vec::new() }
    }

    /// The parts of the text; none where no line is one of a tool.
    fn run(mut self) -> Option<Vec<Part>> {
        let bytes = self.text.as_bytes();
        let (mut fence, mut in_code) = (Fence::default(), false);
        let (mut at, mut begins) = (0, true);
        while at < bytes.len() {
            let line_end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |found| at + found + 1);
            let signs = bytes[at..line_end].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b',' | b'[' | b']'));
            let start = at + signs.count();
            if in_code || bytes.get(start) != Some(&b'{') {
                in_code = if begins { fence.is_code(&self.text[at..line_end]) } else { in_code };
                (at, begins) = (line_end, true);
                continue;
            }
            let object = json_scan::object(self.text, start);
            match object.end {
                End::Whole(end) => {
                    self.line(&object, start..end);
                    (at, begins) = (end, false);
                }
                End::Cut => {
                    self.cut(&object, start);
                    at = bytes.len();
                }
                End::Broken(broken) => {
                    let next = broken.max(start + 1);
                    let is_line = bytes[next - 1] == b'\n';
                    at = if is_line {
                        next
                    } else {
                        memchr(b'\n', &bytes[next..]).map_or(bytes.len(), |end| next + end + 1)
                    };
                    begins = true;
                }
            }
        }
        self.flush();
        if let Some(error) = self.error.filter(|_| self.tools) {
            self.parts.push(Part::Failed(error));
        }
        self.end_plain(bytes.len());
        self.tools.then_some(self.parts)
    }

    /// Takes an object that begins a line.
    fn line(&mut self, object: &Skimmed, range: Range<usize>) {
        if self.looks.json.as_ref().is_some_and(|shape| shape.is(self.text, object)) {
            self.error = None;
            return self.flush();
        }
        let Some(line) = ToolLine::read(self.text, range.clone()) else {
            self.flush();
            return self.leave_out(range);
        };
        self.error = line.errs().then_some(range.start);
        if line.fails() {
            self.tools = true;
            self.leave_out(range.clone());
            self.flush();
            return self.parts.push(Part::Failed(range.start));
        }
        if let Some(carried) = line.carried() {
            self.tools = true;
            self.leave_out(range);
            if let Some(piece) = carried.piece {
                return self.pieces.push(piece);
            }
            self.flush();
            self.parts.extend(carried.whole.into_iter().map(|words| Part::Message(vec![words])));
            self.parts.extend(carried.object.map(Part::Object));
        } else if line.is_between() {
            self.leave_out(range);
        } else {
            self.flush();
            self.leave_out(range);
        }
    }

    fn cut(&mut self, object: &Skimmed, start: usize) {
        let empty = object.pairs.is_empty() && object.open.is_none();
        let is_document = !empty && self.looks.json.as_ref().is_some_and(|shape| shape.knows(self.text, object));
        let is_known = || object.word(self.text, "type").is_some_and(envelopes::is_type);
        if !is_document && envelopes::may_carry(self.text, object) && (self.tools || is_known()) {
            self.tools = true;
            self.leave_out(start..self.text.len());
            self.flush();
            self.parts.push(Part::Cut(start));
        }
    }

    /// Ends the plain text before a line of a tool; it goes on after the line.
    fn leave_out(&mut self, line: Range<usize>) {
        self.end_plain(line.start);
        self.plain = line.end;
    }

    fn end_plain(&mut self, end: usize) {
        let text = &self.text[self.plain..end];
        // Lists of lines have signs between them.
        if !text.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']')).is_empty() {
            self.flush();
            self.parts.push(Part::Plain(self.plain..end));
        }
    }

    fn flush(&mut self) {
        if !self.pieces.is_empty() {
            self.parts.push(Part::Message(std::mem::take(&mut self.pieces)));
        }
    }
}
