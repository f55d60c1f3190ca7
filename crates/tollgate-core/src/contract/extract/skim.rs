//! Passes over a JSON object without building anything: where it ends, and where its keys and values stand.
//!
//! A transcript is mostly JSON that does not matter. Every byte is looked at once; what does not go on as JSON is left there.

use std::ops::Range;

use memchr::memchr3;

/// The deepest nesting.
const DEPTH_MAX: u32 = 127;
/// So many keys of one object are kept: no document has more at its top.
const KEYS_MAX: usize = 128;

/// A key of an object, without its quotes, and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    pub key: Range<usize>,
    pub value: Range<usize>,
}

/// What stands at a `{`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skimmed {
    /// The keys at the top whose values are there.
    pub pairs: Vec<Pair>,
    /// A key whose value is not whole.
    pub open: Option<Range<usize>>,
    pub end: End,
}

/// How an object ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Behind its `}`.
    Whole(usize),
    /// The text ends first.
    Cut,
    /// It does not go on as JSON; a next object may begin here.
    Broken(usize),
}

impl Skimmed {
    /// The value of a key.
    pub fn get(&self, text: &str, key: &str) -> Option<Range<usize>> {
        self.pairs.iter().find(|pair| &text[pair.key.clone()] == key).map(|pair| pair.value.clone())
    }

    /// The text of a key, where it is one without escapes.
    pub fn word<'t>(&self, text: &'t str, key: &str) -> Option<&'t str> {
        inside(&text[self.get(text, key)?]).filter(|word| !word.contains('\\'))
    }
}

/// What stands between the quotes of a string.
pub fn inside(value: &str) -> Option<&str> {
    value.strip_prefix('"')?.strip_suffix('"')
}

/// Whether a `{` can begin an object: a key follows, or nothing at all.
pub fn may_begin(bytes: &[u8], at: usize) -> bool {
    let next = bytes[at + 1..].iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(next, Some(b'"') | None)
}

/// Passes over the object that begins at a `{`.
pub fn object(text: &str, start: usize) -> Skimmed {
    let mut skim = Skim { bytes: text.as_bytes(), at: start, string: start, kinds: 0, depth: 0 };
    let (mut pairs, mut open) = (Vec::new(), None);
    let end = skim.run(&mut pairs, &mut open);
    Skimmed { pairs, open, end }
}

struct Skim<'t> {
    bytes: &'t [u8],
    at: usize,
    /// Where the last string began.
    string: usize,
    /// Which of the open containers are objects, the innermost in the lowest bit.
    kinds: u128,
    depth: u32,
}

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Key,
    KeyOrEnd,
    Value,
    ValueOrEnd,
    CommaOrEnd,
}

impl Skim<'_> {
    fn run(&mut self, pairs: &mut Vec<Pair>, open: &mut Option<Range<usize>>) -> End {
        let mut next = Next::Value;
        let mut value = self.at;
        loop {
            self.space();
            let Some(byte) = self.bytes.get(self.at).copied() else { return End::Cut };
            let step = match (next, byte) {
                (Next::Key | Next::KeyOrEnd, b'"') => {
                    let key = self.at + 1;
                    match self.key() {
                        Ok(end) => {
                            if self.depth == 1 {
                                *open = Some(key..end);
                                self.space();
                                value = self.at;
                            }
                            Ok(Next::Value)
                        }
                        Err(end) => Err(end),
                    }
                }
                (Next::KeyOrEnd, b'}') | (Next::ValueOrEnd, b']') => Ok(self.close()),
                (Next::CommaOrEnd, b'}') if self.kinds & 1 == 1 => Ok(self.close()),
                (Next::CommaOrEnd, b']') if self.kinds & 1 == 0 => Ok(self.close()),
                (Next::CommaOrEnd, b',') => {
                    self.at += 1;
                    Ok(if self.kinds & 1 == 1 { Next::Key } else { Next::Value })
                }
                (Next::Value | Next::ValueOrEnd, _) => self.value(byte),
                (Next::Key | Next::KeyOrEnd | Next::CommaOrEnd, _) => Err(self.broken()),
            };
            next = match step {
                Ok(next) => next,
                Err(end) => return end,
            };
            if self.depth == 0 {
                return End::Whole(self.at);
            }
            if self.depth == 1
                && next == Next::CommaOrEnd
                && let Some(key) = open.take()
                && pairs.len() < KEYS_MAX
            {
                pairs.push(Pair { key, value: value..self.at });
            }
        }
    }

    fn value(&mut self, byte: u8) -> Result<Next, End> {
        match byte {
            b'"' => self.text().map(|_| Next::CommaOrEnd),
            b'{' | b'[' if self.depth >= DEPTH_MAX => Err(End::Broken(self.at)),
            b'{' | b'[' => {
                self.at += 1;
                self.depth += 1;
                self.kinds = (self.kinds << 1) | u128::from(byte == b'{');
                Ok(if byte == b'{' { Next::KeyOrEnd } else { Next::ValueOrEnd })
            }
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                let rest = &self.bytes[self.at..];
                let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
                self.at += rest.iter().position(|byte| !plain(byte)).unwrap_or(rest.len());
                Ok(Next::CommaOrEnd)
            }
            _ => Err(self.broken()),
        }
    }

    /// A key and its colon; gives where the key ends.
    fn key(&mut self) -> Result<usize, End> {
        let end = self.text()?;
        self.space();
        match self.bytes.get(self.at) {
            Some(b':') => {
                self.at += 1;
                Ok(end)
            }
            Some(_) => Err(self.broken()),
            None => Err(End::Cut),
        }
    }

    /// A string; gives where its words end.
    fn text(&mut self) -> Result<usize, End> {
        self.string = self.at;
        self.at += 1;
        loop {
            let Some(found) = memchr3(b'"', b'\\', b'\n', self.bytes.get(self.at..).unwrap_or_default()) else {
                self.at = self.bytes.len();
                return Err(End::Cut);
            };
            self.at += found;
            match self.bytes[self.at] {
                b'"' => {
                    self.at += 1;
                    return Ok(self.at - 1);
                }
                b'\\' => self.at += 2,
                _ => return Err(End::Broken(self.at)),
            }
        }
    }

    fn close(&mut self) -> Next {
        self.at += 1;
        self.depth -= 1;
        self.kinds >>= 1;
        Next::CommaOrEnd
    }

    /// Where to look on: a string that swallowed the beginning of an object is looked into.
    fn broken(&self) -> End {
        let gap = &self.bytes[self.string..self.at];
        let swallowed = gap.iter().rposition(|byte| *byte == b'{').filter(|at| *at > 0);
        End::Broken(swallowed.map_or(self.at, |at| self.string + at))
    }

    fn space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }
}

/// The words of a string without its escapes; what is no escape stays as it is.
pub fn unescape(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        text.push_str(&rest[..at]);
        let (c, width) = escape(&rest[at..]);
        text.push(c);
        rest = rest.get(at + width..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

/// The character of the escape that a text begins with, and how many bytes it takes.
pub fn escape(text: &str) -> (char, usize) {
    let hex = |at: usize| text.get(at..at + 4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    match text.as_bytes().get(1) {
        Some(b'n') => ('\n', 2),
        Some(b't') => ('\t', 2),
        Some(b'r') => ('\r', 2),
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'u') => match (hex(2), hex(8).filter(|_| text[6..].starts_with("\\u"))) {
            (Some(high @ 0xd800..=0xdbff), Some(low @ 0xdc00..=0xdfff)) => {
                let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
            }
            (Some(code), _) => (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
            (None, _) => ('\\', 1),
        },
        Some(byte @ (b'"' | b'\\' | b'/')) => (char::from(*byte), 2),
        _ => ('\\', 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let skimmed = object(text, 0);
        let pairs =
            skimmed.pairs.iter().map(|pair| format!("{}={}", &text[pair.key.clone()], &text[pair.value.clone()]));
        format!("{} {:?}", pairs.collect::<Vec<_>>().join(";"), skimmed.end)
    }

    #[test]
    fn an_object_ends_where_it_ends() {
        assert_eq!(shown(r#"{"a": [1, {"b": "}\""}], "c":null} x"#), r#"a=[1, {"b": "}\""}];c=null Whole(34)"#);
        assert_eq!(shown(r#"{"a": 1, "b": "x"#), "a=1 Cut");
        assert_eq!(shown(r#"{"a"#), " Cut");
        assert_eq!(shown("{\"a\": \"b\nc\"}"), " Broken(8)");
        assert_eq!(shown(r#"{"a": 1,}"#), "a=1 Broken(8)");
        assert_eq!(shown(r#"{"a": 1]"#), "a=1 Broken(7)");
        assert_eq!(shown(r#"{"stray {"kind": 1}"#), " Broken(8)", "the inner object is not lost");
        assert!(matches!(object(&"{\"a\":".repeat(500), 0).end, End::Broken(635)));
    }

    #[test]
    fn escapes_are_undone() {
        assert_eq!(unescape(r#"a\n\"\u00e9\ud83d\ude00\\ \ud83d\u0041 \x \u12"#), "a\n\"é😀\\ \u{fffd}A \\x \\u12");
        assert_eq!(unescape("\\"), "\\");
    }
}
