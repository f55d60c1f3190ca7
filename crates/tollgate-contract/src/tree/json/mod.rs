//! JSON as RFC 8259 has it, read into the tree: linear, bounded, with a place for everything that is wrong. What is wrong is passed
//! over where one can tell what was meant ([`recover`]), so that the first mistake does not hide the second.

mod recover;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::{Entry, Node, Value};
use tollgate_core::code::Code;

/// The largest text that is read.
pub const BYTES_MAX: usize = 16 << 20;
/// The most values in one text.
const NODES_MAX: usize = 1 << 21;
/// The deepest nesting.
const DEPTH_MAX: usize = 127;

/// So many mistakes of one text are told apart: enough that who mends them reads the text a few times, and not once for every few.
const FAULTS_MAX: usize = 1 << 19;

/// Why a text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub code: Code,
    pub at: u32,
    /// Where the first of two stands.
    pub other: Option<u32>,
    pub message: String,
    pub hint: &'static str,
}

/// A text as far as it could be read.
#[derive(Debug)]
pub struct Parsed<'a> {
    /// The value; none where nothing could be told of it.
    pub node: Option<Node<'a>>,
    /// What is no JSON, in the order of the text.
    pub faults: Vec<Fault>,
    /// Where values stand that are not what was written: nothing more is to be said of them. Of a list or a map among them, the end is missing.
    pub broken: Vec<u32>,
    /// Where the value ends.
    pub end: usize,
}

/// Reads a text that is one value and nothing else; offsets do not count a byte order mark.
pub fn read(text: &str) -> Result<Node<'_>, Fault> {
    let parsed = parse(text);
    match (parsed.node, parsed.faults.into_iter().next()) {
        (Some(node), None) => Ok(node),
        (_, fault) => Err(fault.unwrap_or_else(|| Reader::at(text, text.len()).cut_off())),
    }
}

/// Reads a text that should be one value as far as it goes; offsets do not count a byte order mark.
pub fn parse(text: &str) -> Parsed<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let hint = "print the JSON alone, without words or a fence around it";
    parse_part(text, 0..text.len(), "the JSON ends before this; nothing may follow it", hint)
}

/// Reads a part of a text; offsets are those of the whole.
pub fn parse_part<'a>(text: &'a str, part: Range<usize>, after: &str, hint: &'static str) -> Parsed<'a> {
    let mut reader = Reader::at(&text[..part.end], part.start);
    let node = reader.root();
    let end = reader.at;
    reader.space();
    if let Some(node) = node.as_ref().filter(|_| !reader.stopped && reader.at < part.end) {
        let second = matches!(reader.peek(), b'{' | b'[');
        let mut fault = match second {
            true => reader.fault(Code::SECOND_DOCUMENT, "a second JSON value begins here", "give one document a file"),
            false => reader.fault(Code::TEXT_AROUND, after, hint),
        };
        fault.other = second.then_some(node.at);
        reader.faults.push(fault);
    }
    Parsed { node, faults: reader.faults, broken: reader.broken, end }
}

/// Reads a text with one value a line into a list; every line that is not JSON is a fault of its own.
pub fn parse_lines(text: &str) -> Parsed<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    const AFTER: &str = "the value of this line ends here";
    const HINT: &str = "one value a line, nothing else";
    let (mut items, mut faults, mut broken, mut start) = (Vec::new(), Vec::new(), Vec::new(), 0);
    // Where the value ends that began in a line before.
    let (mut until, mut may_go_on) = (0, true);
    for line in text.split_inclusive('\n') {
        let part = start..start + line.len();
        start = part.end;
        let from = part.start.max(until);
        if text.get(from..part.end).is_none_or(|rest| rest.trim_matches(WHITE).is_empty()) {
            continue;
        }
        let mut parsed = parse_part(text, from..part.end, AFTER, HINT);
        let cut = parsed.faults.iter().any(|fault| fault.code == Code::REPORT_CUT_OFF);
        if cut && may_go_on && part.end < text.len() {
            let whole = parse_part(text, from..text.len(), AFTER, HINT);
            let ends = |fault: &Fault| matches!(fault.code, Code::TEXT_AROUND | Code::SECOND_DOCUMENT);
            match whole.node {
                Some(node) if whole.broken.is_empty() && whole.faults.iter().all(ends) => {
                    let at = Reader::at(text, node.at as usize);
                    let fault = at.fault(Code::TEXT_AROUND, "this value goes on over several lines", HINT);
                    until = whole.end;
                    parsed = Parsed { node: Some(node), faults: vec![fault], broken: Vec::new(), end: whole.end };
                }
                // One that does not end is asked for once, so that hostile lines cost no more than honest ones.
                _ => may_go_on = false,
            }
        }
        items.extend(parsed.node);
        faults.extend(parsed.faults);
        broken.extend(parsed.broken);
        if faults.len() > FAULTS_MAX || items.len() > NODES_MAX {
            break;
        }
    }
    Parsed { node: Some(Node::new(Value::List(items))), faults, broken, end: text.len() }
}

const WHITE: [char; 4] = [' ', '\t', '\n', '\r'];

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    nodes: usize,
    faults: Vec<Fault>,
    /// What was told once of those that go through a whole text.
    habits: Vec<String>,
    broken: Vec<u32>,
    /// How many values had been read at the last fault.
    faulty: usize,
    /// Whether reading came to its end before the value did.
    stopped: bool,
}

impl<'a> Reader<'a> {
    fn at(text: &'a str, at: usize) -> Self {
        let bytes = text.as_bytes();
        let (faults, habits, broken) = (Vec::new(), Vec::new(), Vec::new());
        Self { text, bytes, at, nodes: 0, faults, habits, broken, faulty: 0, stopped: false }
    }

    fn root(&mut self) -> Option<Node<'a>> {
        let read = match self.text.len() > BYTES_MAX {
            true => {
                let message = format!("the text is longer than {BYTES_MAX} bytes");
                Err(self.fault(Code::TEXT_REFUSED, message, "give the document alone"))
            }
            false => self.value(0),
        };
        read.map_err(|fault| self.stop(fault)).ok()
    }

    fn fault(&self, code: Code, message: impl Into<String>, hint: &'static str) -> Fault {
        let at = u32::try_from(self.at).unwrap_or(u32::MAX);
        Fault { code, at, other: None, message: message.into(), hint }
    }

    fn syntax(&self, message: impl Into<String>, hint: &'static str) -> Fault {
        if self.at >= self.bytes.len() {
            return self.cut_off();
        }
        self.fault(Code::JSON_SYNTAX, message, hint)
    }

    fn cut_off(&self) -> Fault {
        match self.text.trim_matches(WHITE).is_empty() {
            true => self.fault(Code::JSON_SYNTAX, "there is no JSON: the text is empty", "print the document"),
            false => self.fault(Code::REPORT_CUT_OFF, "the JSON is cut off here", "print the whole document again"),
        }
    }

    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        if self.peek() == b'/' {
            self.comments();
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node<'a>, Fault> {
        self.space();
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            return Err(self.fault(Code::TEXT_REFUSED, "there are too many values", "give the document alone"));
        }
        let at = u32::try_from(self.at).unwrap_or(u32::MAX);
        let value = match self.peek() {
            b'{' | b'[' if depth >= DEPTH_MAX => {
                return Err(self.fault(Code::TEXT_REFUSED, "this nests too deeply", "write it flatter"));
            }
            b'{' => self.map(depth, at)?,
            b'[' => self.list(depth, at)?,
            b'"' => Value::Text(self.string()?),
            b'-' | b'0'..=b'9' => match self.number() {
                Ok(number) => Value::Number(Cow::Borrowed(number)),
                Err(fault) => self.no_number(fault, at)?,
            },
            b't' if self.literal("true") => Value::Bool(true),
            b'f' if self.literal("false") => Value::Bool(false),
            b'n' if self.literal("null") => Value::Null,
            _ => self.odd_value(depth)?,
        };
        Ok(Node { value, at })
    }

    fn literal(&mut self, word: &str) -> bool {
        let found = self.text[self.at..].starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    fn list(&mut self, depth: usize, at: u32) -> Result<Value<'a>, Fault> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.peek() == b']' {
            self.at += 1;
            return Ok(Value::List(items));
        }
        while !self.stopped {
            if !self.is_hole()? {
                match self.value(depth + 1) {
                    Ok(item) => items.push(item),
                    Err(fault) => self.stop(fault),
                }
            }
            self.space();
            match self.peek() {
                _ if self.stopped => {}
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Ok(Value::List(items));
                }
                _ => self.no_comma(b']', "the list goes on without a comma", "write `,` or `]`"),
            }
        }
        self.broken.push(at);
        Ok(Value::List(items))
    }

    fn map(&mut self, depth: usize, start: u32) -> Result<Value<'a>, Fault> {
        self.at += 1;
        let (mut entries, mut known) = (Vec::new(), BTreeMap::new());
        self.space();
        if self.peek() == b'}' {
            self.at += 1;
            return Ok(Value::Map(entries));
        }
        while !self.stopped {
            match self.entry(depth, &mut known) {
                Ok(entry) => entries.extend(entry),
                Err(fault) => self.stop(fault),
            }
            self.space();
            match self.peek() {
                _ if self.stopped => {}
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Ok(Value::Map(entries));
                }
                _ => self.no_comma(b'}', "the map goes on without a comma", "write `,` or `}`"),
            }
        }
        self.broken.push(start);
        Ok(Value::Map(entries))
    }

    /// The next entry of a map; none where there is none, or where its key is known already.
    fn entry(&mut self, depth: usize, known: &mut BTreeMap<Cow<'a, str>, u32>) -> Result<Option<Entry<'a>>, Fault> {
        self.space();
        let hole = self.commas()?;
        let at = u32::try_from(self.at).unwrap_or(u32::MAX);
        let key = match self.peek() {
            b'"' => self.string()?,
            b'}' if hole => return Ok(None),
            b'}' => {
                let fault = self.syntax("there is a comma before the end of the map", "take the comma away");
                return self.note(fault).map(|()| None);
            }
            _ => self.odd_key()?,
        };
        let first = *known.entry(key.clone()).or_insert(at);
        if first != at {
            self.note(twice(&key, at, first))?;
        }
        self.space();
        if self.peek() != b':' {
            return Err(self.syntax("this key has no value", "write `:` and the value"));
        }
        self.at += 1;
        let node = self.value(depth + 1)?;
        Ok((first == at).then_some(Entry { key, at, node }))
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Fault> {
        self.at += 1;
        let start = self.at;
        self.plain();
        if self.peek() == b'"' && self.at < self.bytes.len() {
            self.at += 1;
            return Ok(Cow::Borrowed(&self.text[start..self.at - 1]));
        }
        let mut text = String::from(&self.text[start..self.at]);
        let mut odd = false;
        loop {
            match self.bytes.get(self.at) {
                None => return Err(self.cut_off()),
                Some(b'"') => {
                    self.at += 1;
                    if odd {
                        self.broken.push(u32::try_from(start - 1).unwrap_or(u32::MAX));
                    }
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => {
                    let escaped = self.escape();
                    odd |= escaped.is_err();
                    text.push(escaped.or_else(|fault| self.no_escape(fault))?);
                }
                // Signs that say nothing in a text are one mistake, however many there are.
                Some(0..=0x08 | 0x0b | 0x0c | 0x0e..=0x1f) if odd => self.at += 1,
                Some(sign @ 0..=0x1f) => {
                    text.push(char::from(*sign));
                    odd |= !matches!(sign, b'\n' | b'\r' | b'\t');
                    let fault = self.syntax("this text contains a control character", "write a line end as `\\n`");
                    self.note(fault)?;
                    self.at += 1;
                    // Both signs are one line end.
                    if self.bytes[self.at - 1..].starts_with(b"\r\n") {
                        text.push('\n');
                        self.at += 1;
                    }
                }
                Some(_) => {
                    let from = self.at;
                    self.plain();
                    text.push_str(&self.text[from..self.at]);
                }
            }
        }
    }

    /// Passes over what stands for itself in a text.
    fn plain(&mut self) {
        let rest = &self.bytes[self.at..];
        let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
        self.at += rest.iter().position(special).unwrap_or(rest.len());
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let Some(sign) = self.bytes.get(self.at + 1) else {
            self.at += 1;
            return Err(self.cut_off());
        };
        let c = match sign {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            _ => return Err(self.syntax("there is no such escape", "write a backslash as `\\\\`")),
        };
        self.at += 2;
        Ok(c)
    }

    fn unicode(&mut self) -> Result<char, Fault> {
        let first = self.hex(self.at)?;
        let code = match first {
            0xd800..=0xdbff => {
                let second = match self.bytes.get(self.at + 6..self.at + 8) {
                    Some(br"\u") => self.hex(self.at + 6)?,
                    _ => 0,
                };
                if !(0xdc00..=0xdfff).contains(&second) {
                    return Err(self.syntax("this is half of a character", "write the character itself"));
                }
                self.at += 6;
                0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
            }
            other => other,
        };
        let Some(c) = char::from_u32(code) else {
            return Err(self.syntax("this is half of a character", "write the character itself"));
        };
        self.at += 6;
        Ok(c)
    }

    fn hex(&self, at: usize) -> Result<u32, Fault> {
        let digits = self.bytes.get(at + 2..at + 6).and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).ok_or_else(|| {
            if at + 6 > self.bytes.len() {
                return self.cut_off();
            }
            self.syntax("`\\u` needs four hexadecimal digits", "write the character itself")
        })
    }

    fn number(&mut self) -> Result<&'a str, Fault> {
        let start = self.at;
        self.at += usize::from(self.peek() == b'-');
        let zero = self.peek() == b'0';
        let digits = self.digits();
        if digits == 0 || (zero && digits > 1) {
            self.at = start;
            return Err(self.fault(
                Code::JSON_SYNTAX,
                "this is no number",
                "write it in digits, without zeros before it",
            ));
        }
        if self.peek() == b'.' {
            self.at += 1;
            self.need_digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), b'+' | b'-'));
            self.need_digits()?;
        }
        let written = &self.text[start..self.at];
        // Only a long number or one with an exponent can be too large to be one.
        let risky = written.len() > 300 || written.bytes().any(|byte| matches!(byte, b'e' | b'E'));
        if risky && !written.parse::<f64>().is_ok_and(f64::is_finite) {
            self.at = start;
            return Err(self.fault(Code::JSON_SYNTAX, "this number is too large", "write a smaller one"));
        }
        Ok(written)
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        self.at - start
    }

    fn need_digits(&mut self) -> Result<(), Fault> {
        match self.digits() {
            0 => Err(self.syntax("a digit is missing in this number", "write the digits")),
            _ => Ok(()),
        }
    }
}

fn twice(key: &str, at: u32, first: u32) -> Fault {
    let message = format!("the key {} is here a second time", crate::text::quote(key));
    Fault { code: Code::KEY_TWICE, at, other: Some(first), message, hint: "keep one of the two" }
}
