//! JSON as RFC 8259 has it, read into the tree: strict, linear, bounded, with a place for everything that is wrong.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use super::{Entry, Node, Value};
use crate::code::Code;
use crate::contract::words::Words;

/// The largest text that is read.
pub const BYTES_MAX: usize = 16 << 20;
/// The most values in one text.
const NODES_MAX: usize = 1 << 21;
/// The deepest nesting.
const DEPTH_MAX: usize = 127;
/// From so many keys on, a key that stands twice is looked up rather than looked for.
const FEW_KEYS: usize = 12;

/// How many bytes of a text are looked at together.
const LANE: usize = 16;

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

/// Reads a text that is one value; offsets do not count a byte order mark.
pub fn read(text: &str) -> Result<Node<'_>, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader::new(text)?;
    let node = reader.value(0)?;
    reader.space();
    if reader.at < text.len() {
        let message = "the JSON ends before this; nothing may follow it";
        return Err(reader.fault(
            Code::TEXT_AROUND,
            message,
            "print the JSON alone, without words or a fence around it",
        ));
    }
    Ok(node)
}

/// Reads a text with one value a line into a list; every line that is not JSON is a fault of its own.
pub fn read_lines(text: &str) -> (Node<'_>, Vec<Fault>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut items, mut faults, mut start) = (Vec::new(), Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        if !line.trim_matches(WHITE).is_empty() {
            match read_line(text, start, start + line.len()) {
                Ok(node) => items.push(node),
                Err(fault) => faults.push(fault),
            }
            if faults.len() > 50 || items.len() > NODES_MAX {
                break;
            }
        }
        start += line.len();
    }
    (Node::new(Value::List(items)), faults)
}

const WHITE: [char; 4] = [' ', '\t', '\n', '\r'];

fn read_line(text: &str, start: usize, end: usize) -> Result<Node<'_>, Fault> {
    let mut reader = Reader::new(&text[..end])?;
    reader.at = start;
    let node = reader.value(0)?;
    reader.space();
    if reader.at < end {
        return Err(reader.fault(
            Code::TEXT_AROUND,
            "the value of this line ends here",
            "one value a line, nothing else",
        ));
    }
    Ok(node)
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    nodes: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Result<Self, Fault> {
        let reader = Self { text, bytes: text.as_bytes(), at: 0, nodes: 0 };
        if text.len() > BYTES_MAX {
            let message = format!("the text is longer than {BYTES_MAX} bytes");
            return Err(reader.fault(Code::TEXT_REFUSED, message, "give the document alone"));
        }
        Ok(reader)
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
            b'{' => self.map(depth)?,
            b'[' => self.list(depth)?,
            b'"' => Value::Text(self.string()?),
            b'-' | b'0'..=b'9' => Value::Number(Cow::Borrowed(self.number()?)),
            b't' if self.literal("true") => Value::Bool(true),
            b'f' if self.literal("false") => Value::Bool(false),
            b'n' if self.literal("null") => Value::Null,
            _ => return Err(self.no_value(depth)),
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

    fn no_value(&self, depth: usize) -> Fault {
        match self.peek() {
            b'\'' => self.syntax("a text begins with `'`", "JSON texts stand in double quotes"),
            b'/' => self.syntax("there are no comments in JSON", "leave the comment out"),
            b',' | b'}' | b']' => self.syntax("a value is missing here", "write the value, or take the comma away"),
            b'T' | b'F' | b'N' | b'u' => self.syntax("this is no JSON value", "write `true`, `false` or `null`"),
            _ if self.at >= self.bytes.len() => self.cut_off(),
            _ if depth == 0 => self.fault(
                Code::TEXT_AROUND,
                "this is not JSON: other text stands here",
                "print the JSON alone, without words or a fence around it",
            ),
            _ => self.syntax("this is no JSON value", "put texts in double quotes"),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value<'a>, Fault> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.peek() == b']' {
            self.at += 1;
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            match self.peek() {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Ok(Value::List(items));
                }
                _ => return Err(self.syntax("the list goes on without a comma", "write `,` or `]`")),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value<'a>, Fault> {
        self.at += 1;
        let mut entries: Vec<Entry<'a>> = Vec::new();
        self.space();
        if self.peek() == b'}' {
            self.at += 1;
            return Ok(Value::Map(entries));
        }
        loop {
            self.space();
            let at = u32::try_from(self.at).unwrap_or(u32::MAX);
            let key = match self.peek() {
                b'"' => self.string()?,
                b'}' => return Err(self.syntax("a comma stands before the end of the map", "take the comma away")),
                _ => return Err(self.syntax("a key is missing here", "keys stand in double quotes")),
            };
            if entries.len() < FEW_KEYS
                && let Some(first) = entries.iter().find(|entry| entry.key == key)
            {
                return Err(twice(&key, at, first.at));
            }
            self.space();
            if self.peek() != b':' {
                return Err(self.syntax("a key stands here without a value", "write `:` and the value"));
            }
            self.at += 1;
            let node = self.value(depth + 1)?;
            entries.push(Entry { key, at, node });
            self.space();
            match self.peek() {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return all_differ(&entries).map(|()| Value::Map(entries));
                }
                _ => return Err(self.syntax("the map goes on without a comma", "write `,` or `}`")),
            }
        }
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
        loop {
            match self.bytes.get(self.at) {
                None => return Err(self.cut_off()),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(0..=0x1f) => {
                    return Err(self.syntax("a control character stands in a text", "write a line end as `\\n`"));
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
        let special = |byte: u8| (byte == b'"') | (byte == b'\\') | (byte < 0x20);
        let rest = &self.bytes[self.at..];
        // So many at a time, with one branch for all of them: long texts are passed in wide registers.
        let lanes = rest.chunks_exact(LANE);
        let plain = lanes.take_while(|some| !some.iter().fold(false, |any, byte| any | special(*byte))).count() * LANE;
        let end = rest[plain..].iter().position(|byte| special(*byte));
        self.at += end.map_or(rest.len(), |end| plain + end);
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
                    return Err(self.syntax("half of a character stands here", "write the character itself"));
                }
                self.at += 6;
                0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
            }
            other => other,
        };
        let Some(c) = char::from_u32(code) else {
            return Err(self.syntax("half of a character stands here", "write the character itself"));
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

/// Looks whether a key of a large map stands there twice.
fn all_differ(entries: &[Entry<'_>]) -> Result<(), Fault> {
    if entries.len() <= FEW_KEYS {
        return Ok(());
    }
    let mut again = None;
    Words::new(entries.iter().map(|entry| &*entry.key).collect(), |at, first| {
        again.get_or_insert((at, first));
    });
    match again {
        Some((at, first)) => Err(twice(&entries[at].key, entries[at].at, entries[first].at)),
        None => Ok(()),
    }
}

fn twice(key: &str, at: u32, first: u32) -> Fault {
    let message = format!("the key {} stands here a second time", crate::contract::text::quote(key));
    Fault { code: Code::KEY_TWICE, at, other: Some(first), message, hint: "keep one of the two" }
}
