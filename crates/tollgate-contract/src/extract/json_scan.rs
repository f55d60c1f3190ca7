//! Passes over a JSON object without building anything: where it ends, and where its keys and values stand.
//!
//! A transcript is mostly JSON that does not matter. Every byte is looked at once; what does not go on as JSON is left there.

use std::ops::Range;

use memchr::{memchr, memchr3};

/// The deepest nesting.
const DEPTH_MAX: usize = 127;
/// So many keys of one object are kept: no document has more at its top.
const KEYS_MAX: usize = 128;

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
        self.pairs.iter().find(|pair| pair.is(text, key)).map(|pair| pair.value.clone())
    }

    /// The value of a key in whatever case.
    pub fn get_like(&self, text: &str, key: &str) -> Option<&Pair> {
        self.pairs.iter().find(|pair| pair.is_like(text, key))
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
    let mut found = Skimmed { pairs: Vec::new(), open: None, end: End::Cut };
    let mut skim = Skim { bytes: text.as_bytes(), at: start, string: start };
    found.end = match skim.value(0, &mut found) {
        Ok(()) => End::Whole(skim.at),
        Err(end) => end,
    };
    found
}

struct Skim<'t> {
    bytes: &'t [u8],
    at: usize,
    /// Where the last string began.
    string: usize,
}

impl Skim<'_> {
    /// Passes over a value.
    fn value(&mut self, depth: usize, found: &mut Skimmed) -> Result<(), End> {
        match self.next()? {
            b'"' => drop(self.text()?),
            b'{' | b'[' if depth >= DEPTH_MAX => self.pass_deep()?,
            b'{' => self.items(b'}', depth, found)?,
            b'[' => self.items(b']', depth, found)?,
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                let rest = &self.bytes[self.at..];
                let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
                self.at += rest.iter().position(|byte| !plain(byte)).unwrap_or(rest.len());
            }
            _ => return Err(self.broken()),
        }
        Ok(())
    }

    /// Passes over a list or an object; the keys of the outermost object are kept.
    fn items(&mut self, close: u8, depth: usize, found: &mut Skimmed) -> Result<(), End> {
        self.at += 1;
        if self.next()? == close {
            self.at += 1;
            return Ok(());
        }
        loop {
            let key = if close == b'}' { Some(self.key()?) } else { None };
            if depth == 0 {
                found.open = key;
            }
            self.next()?;
            let start = self.at;
            self.value(depth + 1, found)?;
            if depth == 0
                && let Some(key) = found.open.take()
                && found.pairs.len() < KEYS_MAX
            {
                found.pairs.push(Pair { key, value: start..self.at });
            }
            match self.next()? {
                b',' => self.at += 1,
                byte if byte == close => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(self.broken()),
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

    /// A key and its colon.
    fn key(&mut self) -> Result<Range<usize>, End> {
        if self.next()? != b'"' {
            return Err(self.broken());
        }
        let start = self.at + 1;
        let key = start..self.text()?;
        match self.next()? {
            b':' => self.at += 1,
            _ => return Err(self.broken()),
        }
        Ok(key)
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
