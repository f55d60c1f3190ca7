//! Secrets are taken out of everything that is stored or shown: values that are known, and tokens by their shape.
//!
//! A value is looked for as it is, as JSON and URLs write it, and in base64. What is put in its place is text that needs no
//! escape, so that JSON stays JSON. A stream is cut anywhere: what could become a secret with the next bytes is held back.

mod forms;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, Input, MatchKind};

use crate::Name;
use forms::forms;

/// A shorter value is no secret: taking it out would black out ordinary words.
const LENGTH_MIN: usize = 8;
/// A longer value is looked for by its beginning.
const LENGTH_MAX: usize = 4 * 1024;
/// More values than this are no secrets of one process.
const VALUES_MAX: usize = 1_000;
/// How much before a token shows whether it begins there.
const BEFORE_BYTES: usize = 12;
/// What stands in the name of a variable that holds a secret.
const NAMES: [&str; 10] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "API_KEY",
    "APIKEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "CREDENTIAL",
];

/// A token that is known by how it begins and what it is made of.
#[derive(Debug)]
struct Shape {
    name: &'static str,
    begins: &'static str,
    /// How many bytes the next piece of it has; 0: none, it has ended.
    piece: fn(&[u8]) -> usize,
    least: usize,
}

const fn shape(name: &'static str, begins: &'static str, least: usize) -> Shape {
    Shape { name, begins, piece: word, least }
}

const fn key(begins: &'static str) -> Shape {
    Shape { name: "private key", begins, piece: block, least: 32 }
}

static SHAPES: [Shape; 24] = [
    shape("Anthropic key", "sk-ant-", 20),
    shape("OpenAI key", "sk-proj-", 20),
    shape("API key", "sk-", 32),
    shape("GitHub token", "ghp_", 30),
    shape("GitHub token", "gho_", 30),
    shape("GitHub token", "ghu_", 30),
    shape("GitHub token", "ghs_", 30),
    shape("GitHub token", "ghr_", 30),
    shape("GitHub token", "github_pat_", 22),
    shape("GitLab token", "glpat-", 20),
    shape("Slack token", "xoxb-", 20),
    shape("Slack token", "xoxp-", 20),
    shape("Slack token", "xapp-", 20),
    shape("npm token", "npm_", 36),
    shape("Hugging Face token", "hf_", 30),
    shape("Google key", "AIza", 35),
    Shape { name: "AWS key", begins: "AKIA", piece: capital, least: 16 },
    Shape { name: "AWS key", begins: "ASIA", piece: capital, least: 16 },
    Shape { name: "web token", begins: "eyJ", piece: dotted, least: 60 },
    key("-----BEGIN PRIVATE KEY-----"),
    key("-----BEGIN RSA PRIVATE KEY-----"),
    key("-----BEGIN EC PRIVATE KEY-----"),
    key("-----BEGIN OPENSSH PRIVATE KEY-----"),
    key("-----BEGIN ENCRYPTED PRIVATE KEY-----"),
];

fn one(is: bool) -> usize {
    usize::from(is)
}

fn word(text: &[u8]) -> usize {
    one(text.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')))
}

fn capital(text: &[u8]) -> usize {
    one(text.first().is_some_and(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()))
}

fn dotted(text: &[u8]) -> usize {
    one(word(text) == 1 || text.first() == Some(&b'.'))
}

/// Base64 in lines, also with its line breaks escaped. A backslash alone is not taken: it may belong to a quote behind it.
fn block(text: &[u8]) -> usize {
    match text {
        [b'\\', b'n' | b'r', ..] => 2,
        [byte, ..] => one(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\n' | b'\r' | b' ')),
        [] => 0,
    }
}

/// What a found beginning stands for.
#[derive(Debug, Clone)]
enum Meaning {
    /// A form of a value: what is put in its place, and how long the longest is that begins with it.
    Value { instead: Arc<str>, longest: usize },
    /// A token may begin here.
    Begins(&'static Shape),
}

/// Why secrets could not be looked for. Whoever would print them is not to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unsearchable {
    /// There are too many.
    TooMany(usize),
    /// They cannot be made into one search.
    Search(String),
    /// The value of this one is no text, and could be written in many ways.
    NotText(String),
}

impl std::fmt::Display for Unsearchable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooMany(count) => write!(f, "there are {count} of them; at most {VALUES_MAX} can be looked for"),
            Self::Search(why) => write!(f, "they cannot be made into one search: {why}"),
            Self::NotText(name) => write!(f, "the value of {name} is not UTF-8: unset it, or set it to text"),
        }
    }
}

impl std::error::Error for Unsearchable {}

/// The secrets that are known, ready to be looked for.
#[derive(Debug)]
pub struct Secrets {
    finder: AhoCorasick,
    meanings: Vec<Meaning>,
    longest: usize,
    /// Whether a secret may reach over the end of a line.
    over_lines: bool,
}

impl Secrets {
    /// The secrets among named values, such as the variables of an environment: by their names, passwords in URLs, and of those
    /// that were `handed` over by name every value that is no word.
    pub fn of_variables<'a>(
        variables: impl IntoIterator<Item = (&'a str, &'a str)>,
        handed: &dyn Fn(&str) -> bool,
    ) -> Result<Self, Unsearchable> {
        let secret = |(name, value): (&'a str, &'a str)| {
            Some((Name::from(name), secret_in(name, value, handed(name))?.to_owned()))
        };
        Self::new(variables.into_iter().filter_map(secret))
    }

    /// The secrets of these values, by name. None of them is left out: what cannot be looked for is said.
    pub fn new(values: impl IntoIterator<Item = (Name, String)>) -> Result<Self, Unsearchable> {
        let mut patterns: BTreeMap<Vec<u8>, Meaning> = BTreeMap::new();
        let values: Vec<(Name, String)> = values.into_iter().filter(|(_, value)| value.len() >= LENGTH_MIN).collect();
        if values.len() > VALUES_MAX {
            return Err(Unsearchable::TooMany(values.len()));
        }
        for (name, value) in values {
            let instead: Arc<str> = format!("[redacted {}]", plain(&name)).into();
            for form in forms(value.trim_end_matches(['\r', '\n'])) {
                let longest = form.len();
                patterns.entry(form).or_insert_with(|| Meaning::Value { instead: instead.clone(), longest });
            }
        }
        for shape in &SHAPES {
            patterns.entry(shape.begins.as_bytes().to_vec()).or_insert(Meaning::Begins(shape));
        }
        let keys: Vec<Vec<u8>> = patterns.keys().cloned().collect();
        for (index, (key, meaning)) in patterns.iter_mut().enumerate() {
            // What begins with a key stands right behind it.
            let longer = keys[index..].iter().take_while(|other| other.starts_with(key)).map(Vec::len).max();
            if let Meaning::Value { longest, .. } = meaning {
                *longest = longer.unwrap_or(*longest);
            }
        }
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(patterns.keys());
        let finder = finder.map_err(|error| Unsearchable::Search(error.to_string()))?;
        let longest = patterns.keys().map(Vec::len).max().unwrap_or(0);
        let over_lines = patterns.keys().any(|pattern| pattern.contains(&b'\n'));
        Ok(Self { finder, meanings: patterns.into_values().collect(), longest, over_lines })
    }

    /// A text without its secrets.
    pub fn scrub<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let mut out = Vec::new();
        let mut found = false;
        let mut scan = Scan::default();
        self.scan(&mut scan, text, true, &mut |piece| {
            found |= matches!(piece, Piece::Secret { .. });
            out.extend_from_slice(piece.shown());
        });
        if found { out.into() } else { text.into() }
    }

    /// The same for a text.
    pub fn scrubbed(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.scrub(text.as_bytes())).into_owned()
    }

    /// Whether a text holds a secret, and which: the first one's name.
    pub fn found_in(&self, text: &[u8]) -> Option<String> {
        let mut first = None;
        self.each_in(text, &mut |name, _| {
            first.get_or_insert_with(|| name.to_owned());
        });
        first
    }

    /// The secrets of a text, each by its name and as it stands there. Text of two bytes to a letter is read, too.
    pub fn each_in(&self, text: &[u8], found: &mut dyn FnMut(&str, &[u8])) {
        let mut look = |text: &[u8]| {
            self.scan(&mut Scan::default(), text, true, &mut |piece| {
                if let Piece::Secret { instead, was } = piece {
                    found(instead.trim_start_matches("[redacted ").trim_end_matches(']'), was);
                }
            });
        };
        look(text);
        if text.contains(&0) {
            look(&wide(text));
        }
    }

    /// Gives out what is safe of a text and says how much of it that was; the rest is to be shown again with what follows.
    fn scan(&self, scan: &mut Scan, text: &[u8], is_end: bool, out: &mut dyn FnMut(Piece<'_>)) -> usize {
        let mut at = 0;
        // A token goes on from the piece before.
        if let Some(shape) = scan.within {
            at = run(shape, text);
            if !is_end && (at == text.len() || is_half(shape, &text[at..])) {
                return at;
            }
            scan.within = None;
        }
        let mut from = at;
        loop {
            let Some(found) = self.finder.find(Input::new(text).span(from..text.len())) else {
                let safe = if is_end { text.len() } else { self.safe(text).max(from) };
                scan.give(&text[at..safe], out);
                return safe;
            };
            let (start, end) = (found.start(), found.end());
            match &self.meanings[found.pattern().as_usize()] {
                Meaning::Value { instead, longest } => {
                    // A longer one may begin at the same place.
                    if !is_end && start + longest > text.len() {
                        scan.give(&text[at..start], out);
                        return start;
                    }
                    scan.give(&text[at..start], out);
                    scan.replace(instead, &text[start..end], out);
                    (at, from) = (end, end);
                }
                Meaning::Begins(shape) => {
                    let is_word = joins(&scan.before(&text[at..start]));
                    let tail = run(shape, &text[end..]);
                    let reaches = end + tail == text.len() || is_half(shape, &text[end + tail..]);
                    if !is_word && tail < shape.least && reaches && !is_end {
                        scan.give(&text[at..start], out);
                        return start;
                    }
                    if is_word || tail < shape.least {
                        from = start + 1;
                        continue;
                    }
                    scan.give(&text[at..start], out);
                    scan.replace(&format!("[redacted {}]", shape.name), &text[start..end + tail], out);
                    (at, from) = (end + tail, end + tail);
                    if reaches && !is_end {
                        scan.within = Some(shape);
                        return at;
                    }
                }
            }
        }
    }

    /// Up to where nothing that begins in a text can still become a secret.
    fn safe(&self, text: &[u8]) -> usize {
        let held = text.len().saturating_sub(self.longest.saturating_sub(1));
        let line = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        if self.over_lines { held } else { held.max(line) }
    }
}

/// What stands in a text with two bytes to a letter, of which one is zero; a line break for what does not.
fn wide(text: &[u8]) -> Vec<u8> {
    let is_zero = |at: Option<usize>| at.and_then(|at| text.get(at)) == Some(&0);
    let letter = |(at, byte): (usize, &u8)| match byte {
        0 => None,
        _ if is_zero(at.checked_sub(1)) || is_zero(Some(at + 1)) => Some(*byte),
        _ => Some(b'\n'),
    };
    text.iter().enumerate().filter_map(letter).collect()
}

/// Whether what follows belongs to the word before it. The end of an escape is no word: `\n`, `\x1b`, `\u000a`, `%0A`, or a colour.
fn joins(before: &[u8]) -> bool {
    let ends = |mark: &[u8], digits: usize| {
        let at = before.len().checked_sub(mark.len() + digits);
        at.map(|at| before[at..].split_at(mark.len()))
            .is_some_and(|(start, rest)| start == mark && rest.iter().all(u8::is_ascii_hexdigit))
    };
    let colour = || {
        let open = before.iter().rposition(|byte| *byte == b'[').map(|at| &before[at + 1..]);
        let numbers = open.and_then(|open| open.strip_suffix(b"m"));
        numbers.is_some_and(|numbers| numbers.iter().all(|byte| byte.is_ascii_digit() || *byte == b';'))
    };
    let letter = || matches!(before, [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f' | b'v' | b'a' | b'e' | b'0']);
    before.last().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && !(letter() || ends(b"%", 2) || ends(b"\\x", 2) || ends(b"\\u", 4) || colour())
}

/// How far a token goes on.
fn run(shape: &Shape, text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        match (shape.piece)(rest) {
            0 => break,
            piece => at += piece,
        }
    }
    at
}

/// Whether what is left may be the first half of a piece.
fn is_half(shape: &Shape, rest: &[u8]) -> bool {
    rest == b"\\" && (shape.piece)(b"\\n") == 2
}

/// What a scan gives out.
enum Piece<'t> {
    Plain(&'t [u8]),
    /// What is put in the place of a secret, and what stood there.
    Secret {
        instead: &'t str,
        was: &'t [u8],
    },
}

impl<'t> Piece<'t> {
    const fn shown(&self) -> &'t [u8] {
        match self {
            Self::Plain(text) => text,
            Self::Secret { instead, .. } => instead.as_bytes(),
        }
    }
}

/// Where a scan stands between two pieces of a stream.
#[derive(Debug, Default)]
struct Scan {
    within: Option<&'static Shape>,
    /// The end of what was given out.
    last: Vec<u8>,
    /// Whether what was given out ends within an escape.
    escapes: bool,
}

impl Scan {
    /// What stands before the end of a piece that comes next.
    fn before(&self, piece: &[u8]) -> Vec<u8> {
        let piece = &piece[piece.len().saturating_sub(BEFORE_BYTES)..];
        let kept = self.last.len().min(BEFORE_BYTES - piece.len());
        [&self.last[self.last.len() - kept..], piece].concat()
    }

    fn give(&mut self, piece: &[u8], out: &mut dyn FnMut(Piece<'_>)) {
        if piece.is_empty() {
            return;
        }
        let trailing = piece.iter().rev().take_while(|byte| **byte == b'\\').count();
        self.escapes = (trailing % 2 == 1) ^ (trailing == piece.len() && self.escapes);
        self.last = self.before(piece);
        out(Piece::Plain(piece));
    }

    /// Puts a text in the place of a secret. What stands behind a lone backslash would be an escape, and JSON knows few.
    fn replace(&mut self, instead: &str, was: &[u8], out: &mut dyn FnMut(Piece<'_>)) {
        if std::mem::take(&mut self.escapes) {
            out(Piece::Plain(b"\\"));
        }
        self.last = vec![b']'];
        out(Piece::Secret { instead, was });
    }
}

/// Takes secrets out of a stream, piece by piece.
#[derive(Debug)]
pub struct Redactor {
    secrets: Arc<Secrets>,
    scan: Scan,
    held: Vec<u8>,
}

impl Redactor {
    /// A stream that begins.
    pub fn new(secrets: Arc<Secrets>) -> Self {
        Self { secrets, scan: Scan::default(), held: Vec::new() }
    }

    /// Takes a piece, and gives out what is safe.
    pub fn push(&mut self, bytes: &[u8], out: &mut dyn FnMut(&[u8])) {
        self.take(bytes, false, out);
    }

    /// The stream has ended: gives out what was held back.
    pub fn end(&mut self, out: &mut dyn FnMut(&[u8])) {
        self.take(b"", true, out);
    }

    fn take(&mut self, bytes: &[u8], is_end: bool, out: &mut dyn FnMut(&[u8])) {
        let Self { secrets, scan, held } = self;
        if held.is_empty() {
            let safe = secrets.scan(scan, bytes, is_end, &mut |piece| out(piece.shown()));
            held.extend_from_slice(&bytes[safe..]);
            return;
        }
        held.extend_from_slice(bytes);
        let safe = secrets.scan(scan, held, is_end, &mut |piece| out(piece.shown()));
        held.drain(..safe);
    }
}

/// The secret in the value of a variable: all of it by the variable's name, or where it was handed over by that and is no word; else a password.
pub fn secret_in<'v>(name: &str, value: &'v str, handed: bool) -> Option<&'v str> {
    let name = name.to_ascii_uppercase();
    let is_secret = NAMES.iter().any(|part| name.contains(part)) || name.ends_with("_KEY");
    if is_secret || (handed && is_no_word(value)) { Some(value) } else { password(value) }
}

/// Whether a value is nothing that a person would write: long, in one piece, of letters and digits.
fn is_no_word(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    value.len() >= 2 * LENGTH_MIN
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !value.contains(|char: char| char.is_whitespace() || "/\\".contains(char))
}

/// The password of a URL: `scheme://user:PASSWORD@host`.
fn password(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let (user, _) = rest.rsplit_once('@')?;
    let (_, password) = user.split_once(':')?;
    Some(password)
}

/// A name that cannot end the text it stands in.
fn plain(name: &str) -> String {
    name.chars().filter(|char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.')).take(64).collect()
}

#[cfg(test)]
mod tests;
