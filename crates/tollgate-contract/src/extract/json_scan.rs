//! Passes over a JSON object without building anything: where it ends, and where its keys and values stand.
//!
//! A transcript is mostly JSON that does not matter. Every byte is looked at once; what does not go on as JSON is left there.

use std::ops::Range;

use memchr::{memchr, memchr3};

/// The deepest nesting.
const DEPTH_MAX: usize = 127;
/// So many keys of one object are kept: no document has more at its top.
const KEYS_MAX: usize = 128;

/// So many keys inside of values are kept: no line of a tool has as many texts.
const INNER_MAX: usize = 1 << 16;
/// Keys are kept up to this depth.
const INNER_DEPTH: usize = 4;

/// A key of an object, without its quotes, and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    pub key: Range<usize>,
    pub value: Range<usize>,
}

impl Pair {
    /// Whether it has this key.
    pub fn is(&self, text: &str, key: &str) -> bool {
        &text[self.key.clone()] == key
    }

    /// Whether it has this key, in whatever case.
    pub fn is_like(&self, text: &str, key: &str) -> bool {
        text[self.key.clone()].eq_ignore_ascii_case(key)
    }
}

/// A key inside of a value: of an object or a list, only the beginning is its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inner {
    pub pair: Pair,
    /// Where its object begins, and what is around that.
    pub object: usize,
    pub around: usize,
}

/// What stands at a `{`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skimmed {
    /// The keys at the top whose values are there.
    pub pairs: Vec<Pair>,
    /// Keys in the values, those that were asked for.
    pub inner: Vec<Inner>,
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
        self.pairs.iter().find(|pair| pair.is(text, key)).map(|pair| pair.value.clone())
    }

    /// The value of a key in whatever case.
    pub fn get_like(&self, text: &str, key: &str) -> Option<&Pair> {
        self.pairs.iter().find(|pair| pair.is_like(text, key))
    }

    /// The value of a key that was asked for, in the object that begins at a byte.
    pub fn get_in(&self, text: &str, object: usize, key: &str) -> Option<Range<usize>> {
        let mut inner = self.inner.iter().filter(|inner| inner.object == object).map(|inner| &inner.pair);
        inner.find(|pair| pair.is(text, key)).map(|pair| pair.value.clone())
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

/// The words of a text that is one JSON string and nothing else.
pub fn whole_string(text: &str) -> Option<Range<usize>> {
    let begin = text.len() - text.trim_start().len();
    if text.as_bytes().get(begin) != Some(&b'"') {
        return None;
    }
    let end = string_end(text.as_bytes(), begin + 1).ok()?;
    text[end + 1..].trim().is_empty().then_some(begin + 1..end)
}

/// Whether a `{` can begin an object: a key follows, or nothing at all.
pub fn may_begin(bytes: &[u8], at: usize) -> bool {
    let next = bytes[at + 1..].iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(next, Some(b'"') | None)
}

/// Passes over the object that begins at a `{`.
pub fn object(text: &str, start: usize) -> Skimmed {
    let mut found = Skimmed::default();
    found.read(text, start, None);
    found
}

/// Which keys inside of values are kept.
pub type Wanted = fn(&[u8]) -> bool;

impl Default for Skimmed {
    fn default() -> Self {
        Self { pairs: Vec::new(), inner: Vec::new(), open: None, end: End::Cut }
    }
}

impl Skimmed {
    /// Passes over the object that begins at a `{`, in the room of one before.
    pub fn read(&mut self, text: &str, start: usize, wanted: Option<Wanted>) {
        self.pairs.clear();
        self.inner.clear();
        self.open = None;
        let bytes = text.as_bytes();
        let skim = Skim {
            bytes,
            at: start,
            string: start,
            kinds: 0,
            depth: 0,
            starts: [0; _],
            value: start,
            scalar: false,
            wanted,
        };
        self.end = match skim.run(self) {
            Ok(end) => End::Whole(end),
            Err(end) => end,
        };
    }
}

struct Skim<'t> {
    bytes: &'t [u8],
    at: usize,
    /// Where the last string began.
    string: usize,
    /// Which of the open containers are objects, the innermost in the lowest bit.
    kinds: u128,
    depth: usize,
    /// Where the outer ones of them begin.
    starts: [usize; INNER_DEPTH + 1],
    /// Where the value of the last key at the top begins.
    value: usize,
    /// Whether the last key inside of a value waits for the end of its own.
    scalar: bool,
    wanted: Option<Wanted>,
}

impl Skim<'_> {
    /// Gives where the object ends.
    fn run(mut self, found: &mut Skimmed) -> Result<usize, End> {
        loop {
            // A value begins, or the list ends that just began.
            match self.next()? {
                b'"' => drop(self.text()?),
                b'{' | b'[' if self.depth >= DEPTH_MAX => self.pass_deep()?,
                byte @ (b'{' | b'[') => {
                    self.open(byte);
                    match (byte, self.next()?) {
                        (b'{', b'}') | (b'[', b']') => self.close(),
                        (b'{', _) => {
                            self.key(found)?;
                            continue;
                        }
                        _ => continue,
                    }
                }
                b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                    let rest = &self.bytes[self.at..];
                    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
                    self.at += rest.iter().position(|byte| !plain(byte)).unwrap_or(rest.len());
                }
                _ => return Err(self.broken()),
            }
            if self.scalar
                && let Some(inner) = found.inner.last_mut()
            {
                inner.pair.value.end = self.at;
                self.scalar = false;
            }
            // Behind a value: the next one, or the end of what is around it.
            loop {
                match self.depth {
                    0 => return Ok(self.at),
                    1 => {
                        if let Some(key) = found.open.take()
                            && found.pairs.len() < KEYS_MAX
                        {
                            found.pairs.push(Pair { key, value: self.value..self.at });
                        }
                    }
                    _ => {}
                }
                let in_object = self.kinds & 1 == 1;
                match self.next()? {
                    b',' => {
                        self.at += 1;
                        if in_object {
                            self.next()?;
                            self.key(found)?;
                        }
                        break;
                    }
                    b'}' if in_object => self.close(),
                    b']' if !in_object => self.close(),
                    _ => return Err(self.broken()),
                }
            }
        }
    }

    /// The next byte that is no white space.
    fn next(&mut self) -> Result<u8, End> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(byte) => return Ok(*byte),
                None => return Err(End::Cut),
            }
        }
    }

    /// Passes over a value that nests too deeply for any document, by its brackets alone. What somebody has hidden in it is
    /// not looked into: it would pass for what stands around it.
    fn pass_deep(&mut self) -> Result<(), End> {
        let mut open = 0_usize;
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => drop(self.text()?),
                Some(b'{' | b'[') => (open, self.at) = (open + 1, self.at + 1),
                Some(b'}' | b']') if open <= 1 => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'}' | b']') => (open, self.at) = (open - 1, self.at + 1),
                Some(_) => self.at += 1,
                None => return Err(End::Cut),
            }
        }
    }

    fn open(&mut self, byte: u8) {
        self.depth += 1;
        if let Some(start) = self.starts.get_mut(self.depth) {
            *start = self.at;
        }
        self.at += 1;
        self.kinds = (self.kinds << 1) | u128::from(byte == b'{');
    }

    fn close(&mut self) {
        self.at += 1;
        self.depth -= 1;
        self.kinds >>= 1;
    }

    /// A key, its colon, and where its value begins.
    fn key(&mut self, found: &mut Skimmed) -> Result<(), End> {
        if self.bytes.get(self.at) != Some(&b'"') {
            return Err(self.broken());
        }
        let start = self.at + 1;
        let key = start..self.text()?;
        match self.next()? {
            b':' => self.at += 1,
            _ => return Err(self.broken()),
        }
        if self.depth == 1 {
            found.open = Some(key);
            self.next()?;
            self.value = self.at;
        } else if self.depth <= INNER_DEPTH
            && self.wanted.is_some_and(|wanted| wanted(&self.bytes[key.clone()]))
            && found.inner.len() < INNER_MAX
        {
            self.scalar = !matches!(self.next()?, b'{' | b'[');
            let (object, around) = (self.starts[self.depth], self.starts[self.depth - 1]);
            found.inner.push(Inner { pair: Pair { key, value: self.at..self.at + 1 }, object, around });
        }
        Ok(())
    }
    /// A string; gives where its words end.
    fn text(&mut self) -> Result<usize, End> {
        self.string = self.at;
        match string_end(self.bytes, self.at + 1) {
            Ok(end) => {
                self.at = end + 1;
                Ok(end)
            }
            Err(end) => {
                self.at = match end {
                    End::Broken(at) => at,
                    End::Cut | End::Whole(_) => self.bytes.len(),
                };
                Err(end)
            }
        }
    }

    /// Where to look on: a string that swallowed the beginning of an object is looked into.
    fn broken(&self) -> End {
        let gap = &self.bytes[self.string..self.at];
        let swallowed = gap.iter().rposition(|byte| *byte == b'{').filter(|at| *at > 0);
        End::Broken(swallowed.map_or(self.at, |at| self.string + at))
    }
}

/// Where the words of a string end that begin at a byte.
pub fn string_end(bytes: &[u8], start: usize) -> Result<usize, End> {
    let mut at = start;
    loop {
        at += memchr3(b'"', b'\\', b'\n', bytes.get(at..).unwrap_or_default()).ok_or(End::Cut)?;
        match bytes[at] {
            b'"' => return Ok(at),
            b'\\' => at += 2,
            _ => return Err(End::Broken(at)),
        }
    }
}

/// Adds the words of a string without its escapes to a text; what is no escape stays as it is.
pub fn unescape(raw: &str, text: &mut String) {
    let mut rest = raw;
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        text.push_str(&rest[..at]);
        let (c, width) = escape(&rest[at..]);
        text.push(c);
        rest = rest.get(at + width..).unwrap_or_default();
    }
    text.push_str(rest);
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
        assert!(matches!(object(&"{\"a\":".repeat(500), 0).end, End::Cut));
        let deep = format!(r#"{{"a": {}, "b": 1}} x"#, "[".repeat(500) + &"]".repeat(500));
        assert!(shown(&deep).ends_with(&format!("b=1 Whole({})", deep.len() - 2)));
    }

    #[test]
    fn escapes_are_undone() {
        let said = |raw: &str| {
            let mut text = String::new();
            unescape(raw, &mut text);
            text
        };
        assert_eq!(said(r#"a\n\"\u00e9\ud83d\ude00\\ \ud83d\u0041 \x \u12"#), "a\n\"é😀\\ \u{fffd}A \\x \\u12");
        assert_eq!(said("\\"), "\\");
    }
}
