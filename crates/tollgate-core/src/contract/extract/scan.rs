//! One pass over a text: lines of tools are opened, objects that look like documents are noted, and what lies between is kept whole.

use std::ops::Range;

use memchr::{memchr, memchr3};

use super::alike::Alike;
use super::envelope::{self, Carried};
use super::looks::{Looks, Shape};
use super::skim::{self, End, Skimmed};
use crate::contract::tree::json;

/// Something that a document may stand in.
#[derive(Debug, PartialEq, Eq)]
pub enum Item {
    /// Plain text.
    Region(Range<usize>),
    /// A JSON object that looks like a document, whether or not it is whole.
    Object(Range<usize>),
    /// What an agent said: strings, one after the other, without their quotes.
    Message(Vec<Range<usize>>),
    /// What an agent said in which no document can stand.
    Words(Range<usize>),
    /// A line of a tool that says nothing of the agent's own.
    Line(Range<usize>),
    /// A tool says here that its call failed.
    Failed(usize),
    /// Something begins here and the text ends: nobody knows what it was.
    Cut(usize),
}

/// Whether a byte may stand before an object that begins a line, or between two of them.
fn is_list_sign(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b',' | b'[' | b']')
}

/// What a text consists of. In what an agent said, only the very beginning can be a line of a tool.
pub fn scan(text: &str, looks: &Looks, said: bool) -> Vec<Item> {
    let begin = text.len() - text.trim_start().len();
    // A string that was written as JSON once more is what it says.
    if let Some(words) = skim::whole_string(text, begin) {
        return vec![Item::Message(vec![words])];
    }
    let mut scan = Scan {
        text,
        bytes: text.as_bytes(),
        looks,
        only: said.then_some(begin),
        region: 0,
        fence: None,
        fence_end: None,
        pieces: Vec::new(),
        tools: false,
        error: None,
        items: Vec::new(),
        carried: Carried::default(),
        alike: Alike::default(),
    };
    scan.run();
    scan.items
}

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    looks: &'a Looks,
    /// The only place where a line of a tool may stand; none: the start of every line.
    only: Option<usize>,
    /// Where the plain text began that goes on here.
    region: usize,
    /// The mark of the code fence that is open, how wide it is, and where its content begins.
    fence: Option<(u8, usize, usize)>,
    /// Where that fence ends, once that was asked.
    fence_end: Option<usize>,
    /// Pieces of one message so far.
    pieces: Vec<Range<usize>>,
    /// Whether lines of tools were seen.
    tools: bool,
    /// Where a tool told of an error in its last line so far.
    error: Option<usize>,
    items: Vec<Item>,
    /// What the last line of a tool carried, for its room.
    carried: Carried,
    /// The last line that carried a piece.
    alike: Alike,
}

impl Scan<'_> {
    fn run(&mut self) {
        let mut at = 0;
        // Whether nothing but list signs stands between the last line end, or the last object, and here.
        let mut fresh = true;
        // One room for all objects.
        let mut object = Skimmed::default();
        while at < self.bytes.len() {
            if fresh {
                at += self.bytes[at..].iter().take_while(|byte| is_list_sign(**byte)).count();
            }
            if self.bytes.get(at) == Some(&b'\n') {
                (at, fresh) = (at + 1, true);
                continue;
            }
            let brace = match self.brace(at, fresh) {
                Ok(brace) => brace,
                Err(line) => {
                    (at, fresh) = (line, true);
                    continue;
                }
            };
            let begins = fresh && brace == at;
            at = self.object(&mut object, brace, begins);
            let before = || self.bytes[..at].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
            fresh = begins || matches!(before(), Some(b'\n' | b'\r'));
        }
        self.finish();
    }

    /// The next `{` that is worth a look, or where a line begins that has to be looked at from its start; fences are noted on the way.
    fn brace(&mut self, at: usize, fresh: bool) -> Result<usize, usize> {
        match self.bytes.get(at) {
            Some(b'{') if fresh => return Ok(at),
            Some(b'`' | b'~') if fresh => {
                let end = memchr(b'\n', &self.bytes[at..]).map_or(self.bytes.len(), |found| at + found + 1);
                self.fence_line(at, end);
            }
            _ => {}
        }
        let mut from = at;
        // Most lines have none of these signs, and are passed over without being told apart.
        while let Some(found) = memchr3(b'{', b'`', b'~', &self.bytes[from..]) {
            from += found;
            let before = self.bytes[..from].iter().rposition(|byte| !is_list_sign(*byte));
            match before.map(|before| self.bytes[before]) {
                Some(b'\n') | None if from > at => return Err(before.map_or(0, |before| before + 1).max(at)),
                _ if self.bytes[from] == b'{' && self.looks.json.is_some() && skim::may_begin(self.bytes, from) => {
                    return Ok(from);
                }
                _ => from += 1,
            }
        }
        Err(self.bytes.len())
    }

    fn fence_line(&mut self, at: usize, end: usize) {
        let mark = self.bytes[at];
        let line = &self.bytes[at..end];
        let width = line.iter().take_while(|byte| **byte == mark).count();
        let bare = line[width..].iter().all(u8::is_ascii_whitespace);
        match self.fence {
            Some((open, wide, content)) if open == mark && width >= wide && bare => {
                self.fence = None;
                self.meant(content..at);
            }
            None if width >= 3 && !line[width..].contains(&b'`') => {
                (self.fence, self.fence_end) = (Some((mark, width, end)), None)
            }
            _ => {}
        }
    }

    /// Notes what stands alone in a fence and means to be a document, although it is no JSON.
    fn meant(&mut self, content: Range<usize>) {
        let Some(shape) = &self.looks.json else { return };
        let noted = matches!(self.items.last(), Some(Item::Object(known)) if known.end > content.start);
        let text = &self.text[content.clone()];
        if !noted && text.trim_start().starts_with('{') && json::read(text).is_err() && shape.is_meant(text) {
            self.note(content);
        }
    }

    /// Leaves out a line between the pieces of a message.
    fn pass_over(&mut self, line: Range<usize>) {
        if self.pieces.is_empty() {
            return;
        }
        match self.is_blank(self.region..line.start) {
            true => self.region = line.end,
            // Words stand between: the message has ended, and they are looked at once.
            false => self.flush(),
        }
    }

    /// Passes over what begins with a `{`; gives where to go on.
    fn object(&mut self, object: &mut Skimmed, start: usize, begins: bool) -> usize {
        let may_open = begins && self.fence.is_none() && self.only.is_none_or(|only| only == start);
        if may_open && let Some((piece, end)) = self.alike.next(self.bytes, start) {
            self.piece(piece, start..end);
            return end;
        }
        object.read(self.text, start, may_open.then_some(envelope::is_on_the_way));
        self.read(object, start, may_open, begins)
    }

    fn read(&mut self, object: &Skimmed, start: usize, may_open: bool, begins: bool) -> usize {
        match object.end {
            End::Whole(end) => {
                self.whole(object, start..end, may_open);
                end
            }
            End::Cut => {
                self.cut(object, start, may_open, begins);
                self.bytes.len()
            }
            End::Broken(at) => {
                if self.looks.json.as_ref().is_some_and(|shape| shape.may_be(self.text, object)) {
                    let end = self.fence_end(at);
                    self.note(start..end);
                }
                at.max(start + 1)
            }
        }
    }

    fn whole(&mut self, object: &Skimmed, range: Range<usize>, may_open: bool) {
        if self.looks.json.as_ref().is_some_and(|shape| shape.is(self.text, object)) {
            self.note(range);
            return;
        }
        let kind = may_open.then(|| envelope::kind(self.text, object)).flatten();
        if may_open {
            self.error = envelope::errs(self.text, object, kind, &range).then_some(range.start);
        }
        if may_open && envelope::fails(self.text, object, kind) {
            self.opened(range.clone());
            self.flush();
            self.items.push(Item::Failed(range.start));
            return;
        }
        if !(may_open && self.carried.open(self.text, object, kind)) {
            match may_open && envelope::is_between(self.text, object, kind) {
                true => self.pass_over(range),
                false if may_open => {
                    self.flush();
                    self.items.push(Item::Line(range));
                }
                false => {}
            }
            return;
        }
        if let Some(piece) = self.carried.piece.take() {
            let is_known = |key: &str| self.looks.json.as_ref().is_some_and(|shape| shape.has_key(key));
            self.alike.keep(self.text, object, &range, &piece, |key| envelope::decides(key) || is_known(key));
            self.piece(piece, range);
            return;
        }
        self.opened(range);
        self.flush();
        let item = |words: Range<usize>| match self.looks.may_be_said(&self.text[words.clone()]) {
            true => Item::Message(vec![words]),
            false => Item::Words(words),
        };
        self.items.extend(self.carried.whole.drain(..).map(item));
        if let Some(object) = self.carried.object.take().filter(|_| self.looks.json.is_some()) {
            self.items.push(Item::Object(object));
        }
    }

    /// Takes a line that carries a piece of a message.
    fn piece(&mut self, piece: Range<usize>, line: Range<usize>) {
        self.error = None;
        self.opened(line);
        self.pieces.push(piece);
    }

    /// Leaves a line of a tool: plain text goes on behind it.
    fn opened(&mut self, line: Range<usize>) {
        self.tools = true;
        self.end_region(line.start);
        self.region = line.end;
    }

    fn cut(&mut self, object: &Skimmed, start: usize, may_open: bool, begins: bool) {
        let unknown = object.pairs.is_empty() && object.open.is_none();
        let rest = self.text[start + 1..].trim_start();
        // A brace in the words that follow a report is no report; one that begins a line may be.
        let may_be = |shape: &Shape| match rest.strip_prefix('"').unwrap_or(rest) {
            "" => begins,
            key => shape.has_key_with(key),
        };
        let document = self
            .looks
            .json
            .as_ref()
            .is_some_and(|shape| if unknown { may_be(shape) } else { shape.knows(self.text, object) });
        let tool = may_open && envelope::may_carry(self.text, object) && (self.tools || !unknown);
        if document || (tool && (self.tools || object.word(self.text, "type").is_some_and(envelope::is_type))) {
            self.note(start..self.bytes.len());
            if !document {
                self.items.pop();
                self.items.push(Item::Cut(start));
            }
        }
    }

    fn note(&mut self, range: Range<usize>) {
        self.error = None;
        self.flush();
        self.items.push(Item::Object(range));
    }

    /// Where what is broken may end: at the end of its code fence.
    fn fence_end(&mut self, at: usize) -> usize {
        let Some((mark, width, _)) = self.fence else { return self.bytes.len() };
        if let Some(end) = self.fence_end.filter(|end| *end > at) {
            return end;
        }
        let closing = format!("\n{}", char::from(mark).to_string().repeat(width));
        let end = self.text[at..].find(&closing).map_or(self.bytes.len(), |found| at + found + 1);
        self.fence_end = Some(end);
        end
    }

    fn is_blank(&self, range: Range<usize>) -> bool {
        self.bytes[range].iter().all(u8::is_ascii_whitespace)
    }

    fn end_region(&mut self, end: usize) {
        if !self.is_blank(self.region..end) {
            self.flush();
            self.items.push(Item::Region(self.region..end));
        }
    }

    fn flush(&mut self) {
        if !self.pieces.is_empty() {
            self.items.push(Item::Message(std::mem::take(&mut self.pieces)));
        }
    }

    fn finish(&mut self) {
        self.flush();
        // What stands behind the line may be a report all the same.
        if let Some(error) = self.error.filter(|_| self.tools) {
            // One that was opened for what it says is left already.
            if self.region <= error {
                self.end_region(error);
                self.region = error;
            }
            self.items.push(Item::Failed(error));
        }
        self.end_region(self.bytes.len());
        let open = self.fence.is_some_and(|(.., content)| self.text[content..].trim().is_empty());
        if open && self.looks.json.is_some() {
            self.items.push(Item::Cut(self.bytes.len()));
        }
    }
}
