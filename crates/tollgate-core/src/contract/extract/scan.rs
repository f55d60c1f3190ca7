//! One pass over a text: lines of tools are opened, objects that look like documents are noted, and what lies between is kept whole.

use std::ops::Range;
use std::sync::OnceLock;

use memchr::memchr;
use memchr::memmem::Finder;

use super::envelope;
use super::looks::Looks;
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
    /// Something begins here and the text ends: nobody knows what it was.
    Cut(usize),
}

fn needles() -> &'static [Finder<'static>] {
    static NEEDLES: OnceLock<Vec<Finder<'static>>> = OnceLock::new();
    NEEDLES.get_or_init(|| envelope::NEEDLES.iter().map(|needle| Finder::new(needle.as_bytes())).collect())
}

/// What a text consists of. In what an agent said, only the very beginning can be a line of a tool.
pub fn scan(text: &str, looks: &Looks, said: bool) -> Vec<Item> {
    let begin = text.len() - text.trim_start().len();
    let mut scan = Scan {
        text,
        bytes: text.as_bytes(),
        looks,
        only: said.then_some(begin),
        region: 0,
        fence: None,
        pieces: Vec::new(),
        tools: false,
        items: Vec::new(),
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
    /// Pieces of one message so far.
    pieces: Vec<Range<usize>>,
    /// Whether lines of tools were seen.
    tools: bool,
    items: Vec<Item>,
}

impl Scan<'_> {
    fn run(&mut self) {
        let (mut at, mut end) = (0, 0);
        // Whether nothing but list signs stands between the last line end, or the last object, and here.
        let mut fresh = true;
        while at < self.bytes.len() {
            let first = at >= end;
            if fresh {
                at += self.bytes[at..].iter().take_while(|b| matches!(b, b' ' | b'\t' | b',' | b'[' | b']')).count();
            }
            if first || at >= end {
                end = memchr(b'\n', &self.bytes[at..]).map_or(self.bytes.len(), |found| at + found + 1);
            }
            let Some(brace) = self.brace(at, end, fresh) else {
                at = end;
                fresh = true;
                continue;
            };
            let begins = fresh && brace == at;
            // A line is looked at as a whole once, however many objects stand in it.
            if begins && first && self.is_dead(brace, end) {
                self.between(brace..end);
                at = end;
                continue;
            }
            at = self.object(brace, begins);
            let before = self.bytes[..at].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
            fresh = begins || matches!(before, Some(b'\n' | b'\r'));
        }
        self.finish();
    }

    /// The next `{` of a line that is worth a look; fences are noted on the way.
    fn brace(&mut self, at: usize, end: usize, fresh: bool) -> Option<usize> {
        let first = *self.bytes.get(at)?;
        if fresh && matches!(first, b'`' | b'~') {
            self.fence_line(at, end);
        }
        if first == b'{' && fresh {
            return Some(at);
        }
        self.looks.json.as_ref()?;
        let mut from = at;
        while let Some(found) = memchr(b'{', &self.bytes[from..end]) {
            if skim::may_begin(self.bytes, from + found) {
                return Some(from + found);
            }
            from += found + 1;
        }
        None
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
            None if width >= 3 && !line[width..].contains(&b'`') => self.fence = Some((mark, width, end)),
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

    /// Whether a line is an object that cannot matter, by a look at its words.
    fn is_dead(&self, start: usize, end: usize) -> bool {
        let line = self.text[start..end].trim_end();
        let ends = matches!(self.bytes.get(end), None | Some(b'{' | b'[' | b'\n' | b'\r'));
        if !line.ends_with('}') || !ends {
            return false;
        }
        let named = line.strip_prefix("{\"type\":").map(str::trim_start).and_then(|rest| rest.strip_prefix('"'));
        let named = named.and_then(|rest| rest.split_once('"')).map(|(word, _)| word);
        let carries = match named {
            Some(word) => envelope::may_be(line, word),
            None => needles().iter().any(|needle| needle.find(line.as_bytes()).is_some()),
        };
        !carries && !self.looks.json.as_ref().is_some_and(|shape| shape.may_be_in(line))
    }

    /// A line that carries nothing stands between two others.
    fn between(&mut self, line: Range<usize>) {
        match self.text[line.clone()].contains("\"ping\"") {
            true => self.pass_over(line),
            false => self.flush(),
        }
    }

    /// Leaves out a line between the pieces of a message.
    fn pass_over(&mut self, line: Range<usize>) {
        if !self.pieces.is_empty() && self.text[self.region..line.start].trim().is_empty() {
            self.region = line.end;
        }
    }

    /// Passes over what begins with a `{`; gives where to go on.
    fn object(&mut self, start: usize, begins: bool) -> usize {
        let object = skim::object(self.text, start);
        let may_open = begins && self.fence.is_none() && self.only.is_none_or(|only| only == start);
        match object.end {
            End::Whole(end) => {
                self.whole(&object, start..end, may_open);
                end
            }
            End::Cut => {
                self.cut(&object, start, may_open);
                self.bytes.len()
            }
            End::Broken(at) => {
                if self.looks.json.as_ref().is_some_and(|shape| shape.may_be(self.text, &object)) {
                    self.note(start..self.fence_end(at));
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
        let Some(carried) = may_open.then(|| envelope::open(self.text, object)).flatten() else {
            match may_open && envelope::is_between(self.text, object) {
                true => self.pass_over(range),
                false if may_open => self.flush(),
                false => {}
            }
            return;
        };
        self.tools = true;
        self.end_region(range.start);
        self.region = range.end;
        if let Some(piece) = carried.piece {
            self.pieces.push(piece);
            return;
        }
        self.flush();
        self.items.extend(carried.whole.into_iter().map(|words| Item::Message(vec![words])));
        if let Some(object) = carried.object.filter(|_| self.looks.json.is_some()) {
            self.items.push(Item::Object(object));
        }
    }

    fn cut(&mut self, object: &Skimmed, start: usize, may_open: bool) {
        let unknown = object.pairs.is_empty() && object.open.is_none();
        let document = self.looks.json.as_ref().is_some_and(|shape| unknown || shape.knows(self.text, object));
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
        self.flush();
        self.items.push(Item::Object(range));
    }

    /// Where what is broken may end: at the end of its code fence.
    fn fence_end(&self, at: usize) -> usize {
        let Some((mark, width, _)) = self.fence else { return self.bytes.len() };
        let closing = format!("\n{}", char::from(mark).to_string().repeat(width));
        self.text[at..].find(&closing).map_or(self.bytes.len(), |found| at + found + 1)
    }

    fn end_region(&mut self, end: usize) {
        if !self.text[self.region..end].trim().is_empty() {
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
        self.end_region(self.bytes.len());
        let open = self.fence.is_some_and(|(.., content)| self.text[content..].trim().is_empty());
        if open && self.looks.json.is_some() {
            self.items.push(Item::Cut(self.bytes.len()));
        }
    }
}
