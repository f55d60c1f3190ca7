//! What the documents of a contract look like from outside: enough to find them among other text.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::against::Against;
use super::decides::Deciding;
use super::sample;
use super::skim::{self, End, Pair, Skimmed};
use crate::Name;
use crate::contract::definition::{Definition, Form, Heading, Kind, LINES, Layout, RecordType};
use crate::contract::text::is_title;

/// What the documents of a contract look like.
#[derive(Debug, Default)]
pub struct Looks {
    /// As a JSON object.
    pub json: Option<Shape>,
    /// As a JSON object in each line.
    pub lines: Option<Shape>,
    /// As YAML.
    pub yaml: Option<Shape>,
    /// As Markdown.
    pub markdown: Option<Heads>,
    /// The names of its fields, and of the sections of a Markdown document.
    pub keys: Vec<Name>,
    pub sections: Vec<Name>,
    /// The keys that decide what a report means.
    pub decides: Vec<Deciding>,
    /// What is shown along with the contract (template, instructions): an echo of it is no document.
    pub shown: Vec<String>,
    /// A document that shows how one is written, and is nobody's.
    pub example: String,
    /// The schema, which is no document either.
    pub schema: serde_json::Value,
    /// Reports of other contracts that say otherwise behind one of this.
    pub against: Vec<Against>,
    /// What a text lacks that has none, and how one begins.
    pub lacks: String,
    pub begin: String,
}

/// The keys of an object.
#[derive(Debug, Default)]
pub struct Shape {
    /// Keys with one word each, and the word as JSON writes it.
    consts: Vec<(Name, String)>,
    /// The keys that must be there.
    pub needed: Vec<Name>,
    /// All keys.
    known: Vec<Name>,
    /// An object without any of these does not look so.
    needles: Vec<Finder<'static>>,
    /// A bit for each key: most keys of other objects have none of them.
    sieve: u64,
}

/// The headings of a Markdown document.
#[derive(Debug)]
pub enum Heads {
    /// It begins with a heading of its own, as a worker is told to write it, and goes up to the next of its level.
    Own(Heading),
    /// It begins with a heading that code knows, and goes up to the next such.
    Coded { title: &'static str, is: fn(usize, &str) -> bool, needs: &'static str },
    /// It is all the text, and has these sections, each by one of its names.
    Sections(Vec<Vec<Name>>),
}

impl Heads {
    /// Whether a document begins with a heading.
    pub fn is_head(&self, level: usize, title: &str) -> bool {
        match self {
            Self::Own(heading) => heading.begins(title),
            Self::Coded { is, .. } => is(level, title),
            Self::Sections(all) => all.iter().flatten().any(|known| is_title(known, title)),
        }
    }

    /// Whether the lines under a heading are more than a mention of it.
    pub fn is_enough<'l>(&self, lines: impl Iterator<Item = &'l str>) -> bool {
        let mut lines = lines.map(str::trim).filter(|line| !line.is_empty());
        match self {
            Self::Coded { needs, .. } => lines.any(|line| line == *needs) && lines.next().is_some(),
            Self::Own(_) | Self::Sections(_) => lines.nth(2).is_some(),
        }
    }

    /// The line that a document begins with.
    pub fn line(&self) -> Option<String> {
        match self {
            Self::Own(heading) => Some(format!("{} {}", "#".repeat(heading.level), heading.words)),
            Self::Coded { title, .. } => Some((*title).to_owned()),
            Self::Sections(_) => None,
        }
    }
}

/// How an escape begins that may stand for any sign.
static ESCAPED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\\u00"));

/// Whether a `{` in a string may begin such an object, or what means to be one in a code fence.
fn may_hold_object(raw: &str, shape: &Shape) -> bool {
    let bytes = raw.as_bytes();
    let (mut known, mut room) = (0, Room::default());
    ends_with_fence(raw)
        || memchr::memchr_iter(b'{', bytes).any(|at| {
            if at < known {
                return false;
            }
            let mut rest = &bytes[at + 1..];
            while let [b' ', next @ ..] | [b'\\', b'n' | b't' | b'r', next @ ..] = rest {
                rest = next;
            }
            let line = matches!(raw[..at].trim_end_matches(' ').as_bytes(), [] | [.., b'\\', b'n' | b'r' | b't']);
            match rest {
                [b'\\', ..] | [] => room.other_object(&raw[at..], shape).is_none_or(|bytes| {
                    known = at + bytes;
                    false
                }),
                _ => line,
            }
        })
}

/// Room for the objects in a string, so that each need not make its own.
#[derive(Default)]
struct Room {
    text: String,
    object: Skimmed,
}

impl Room {
    /// How many bytes at least an object takes that is another one, where it is small.
    fn other_object(&mut self, raw: &str, shape: &Shape) -> Option<usize> {
        let Self { text, object } = self;
        for window in [64, 512, 4096] {
            text.clear();
            skim::unescape(&raw[..raw.floor_char_boundary(window)], text);
            object.read(text, 0, None);
            match object.end {
                End::Whole(end) => return (!shape.is(text, object)).then_some(end),
                End::Broken(_) => return None,
                End::Cut => {}
            }
        }
        None
    }
}

/// Whether the last line of a string begins or ends a code fence.
fn ends_with_fence(raw: &str) -> bool {
    let mut rest = raw.trim_end();
    while let Some(before) = ["\\n", "\\r", "\\t"].iter().find_map(|sign| rest.strip_suffix(sign)) {
        rest = before.trim_end();
    }
    let bytes = rest.as_bytes();
    let mut start = bytes.len();
    // Searching backwards for a sign is quicker than for words, and most strings end with a line that is short.
    let line = loop {
        match memchr::memrchr(b'\\', &bytes[..start]) {
            Some(at) if bytes.get(at + 1) == Some(&b'n') => break &bytes[at + 2..],
            Some(at) => start = at,
            None => break bytes,
        }
    };
    memchr::memchr2_iter(b'`', b'~', line)
        .any(|at| line.get(at..at + 3).is_some_and(|mark| mark == b"```" || mark == b"~~~"))
}

/// Whether a heading in a string may be one that a document begins with, or the beginning of one.
fn may_hold_head(raw: &str, heads: &Heads) -> bool {
    let bytes = raw.as_bytes();
    memchr::memchr_iter(b'#', bytes).any(|at| {
        let mut before = &bytes[..at];
        for _ in 0..sample::SIGNS_MAX {
            before = match before {
                [rest @ .., b'\\', b't'] => rest,
                [rest @ .., sign] if sample::is_sign(*sign) => rest,
                _ => break,
            };
        }
        if !matches!(before, [] | [.., b'\\', b'n' | b'r']) {
            return false;
        }
        let line = &raw[at..];
        let end = memchr::memchr(b'\\', line.as_bytes()).unwrap_or(line.len());
        let title = line[..end].trim_start_matches('#');
        let ends = matches!(line.as_bytes().get(end + 1), Some(b'n' | b'r'));
        !ends || heads.is_head(end - title.len(), title.trim().trim_end_matches('#').trim_end())
    })
}

fn bit(key: &[u8]) -> u64 {
    let first = key.first().copied().unwrap_or_default().to_ascii_lowercase();
    1 << ((usize::from(first) + key.len() * 11) % 64)
}

/// Whether a key is one of these, in whatever case: `Verdict` is meant as `verdict`, and a report with it is an invalid one.
fn has(names: &[Name], key: &str) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case(key))
}

impl Shape {
    fn of(record: &RecordType) -> Self {
        let needed = record.fields.iter().filter(|field| !field.optional);
        let mut shape = Self {
            needed: needed.map(|field| field.name.clone()).collect(),
            known: record.fields.iter().map(|field| field.name.clone()).collect(),
            ..Self::default()
        };
        for field in &record.fields {
            if let Kind::Const(word, number) = &field.of.kind {
                let written = if *number { word.to_string() } else { format!("\"{word}\"") };
                shape.consts.push((field.name.clone(), written));
            }
        }
        // With fewer than half of the keys an object does not look so: it has one of any that are more than the other half.
        let mut keys = if shape.needed.is_empty() { shape.known.clone() } else { shape.needed.clone() };
        keys.sort_by_key(|key| std::cmp::Reverse(key.len()));
        keys.truncate(keys.len() + 1 - shape.half().min(keys.len()));
        let words = shape.consts.iter().filter(|(_, word)| word.starts_with('"')).map(|(_, word)| word.clone());
        let needles = keys.iter().map(|key| format!("\"{key}\"")).chain(words);
        shape.needles = needles.map(|needle| Finder::new(needle.as_bytes()).into_owned()).collect();
        shape.sieve = shape.known.iter().fold(0, |sieve, key| sieve | bit(key.as_bytes()));
        shape
    }

    pub fn half(&self) -> usize {
        self.needed.len().div_ceil(2).max(1)
    }

    /// The words that only such an object has.
    pub fn words(&self) -> Vec<&str> {
        self.consts.iter().filter_map(|(_, word)| skim::inside(word)).collect()
    }

    /// Whether a text can hold such an object.
    pub fn may_be_in(&self, text: &str) -> bool {
        self.needles.iter().any(|needle| needle.find(text.as_bytes()).is_some())
    }

    /// Whether an object looks so: by a word that only it has, or by half of what it must have.
    pub fn is(&self, text: &str, object: &Skimmed) -> bool {
        if self.count(text, object) < if self.consts.is_empty() { self.half() } else { 1 } {
            return false;
        }
        let enough = if self.says_otherwise(text, object) { self.others() } else { self.half() };
        self.counts(text, object).is_none_or(|keys| keys >= enough)
    }

    /// How many of an object's keys are known.
    fn count(&self, text: &str, object: &Skimmed) -> usize {
        let is_known = |pair: &&Pair| {
            self.sieve & bit(&text.as_bytes()[pair.key.clone()]) != 0 && self.has_key(&text[pair.key.clone()])
        };
        object.pairs.iter().filter(is_known).count()
    }

    /// Whether an object inside of another looks so: one key alone is in much of what is only data.
    pub fn is_inside(&self, text: &str, object: &Skimmed) -> bool {
        self.count(text, object) >= 2 && self.is(text, object)
    }

    /// Whether a word says that an object is something else; it may be misspelt.
    pub fn says_otherwise(&self, text: &str, object: &Skimmed) -> bool {
        self.consts.iter().any(|(name, word)| {
            let other = |pair: &Pair| !text[pair.value.clone()].eq_ignore_ascii_case(word);
            word.starts_with('"') && object.get_like(text, name).is_some_and(other)
        })
    }

    /// How many keys must be there whose words are not given.
    fn others(&self) -> usize {
        let given = |name: &&Name| self.consts.iter().any(|(known, word)| known == *name && word.starts_with('"'));
        self.needed.iter().filter(|name| !given(name)).count().max(1)
    }

    /// Whether an object that does not end looks so, as far as it goes.
    pub fn may_be(&self, text: &str, object: &Skimmed) -> bool {
        let few = if self.needed.len() < 4 { 1 } else { 2 };
        let enough = if self.says_otherwise(text, object) { self.others() } else { few };
        self.counts(text, object).is_none_or(|keys| keys >= enough)
    }

    /// Whether an object has one of the keys.
    pub fn knows(&self, text: &str, object: &Skimmed) -> bool {
        let mut keys = object.pairs.iter().map(|pair| &pair.key).chain(&object.open);
        keys.any(|key| self.has_key(&text[key.clone()]))
    }

    /// Whether it is one of the keys.
    pub fn has_key(&self, key: &str) -> bool {
        has(&self.known, key)
    }

    /// Whether one of the keys begins so, or is this one with the quote behind it.
    pub fn has_key_with(&self, beginning: &str) -> bool {
        match beginning.split_once('"') {
            Some((key, after)) => after.trim().is_empty() && self.has_key(key),
            None => {
                let begins =
                    |known: &Name| known.get(..beginning.len()).is_some_and(|own| own.eq_ignore_ascii_case(beginning));
                self.known.iter().any(begins)
            }
        }
    }

    /// How many of its keys are there; none to count where a word settles it.
    fn counts(&self, text: &str, object: &Skimmed) -> Option<usize> {
        let word =
            |name: &str| self.consts.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, word)| word);
        let (mut keys, mut settled) = (0, false);
        for pair in &object.pairs {
            let key = &text[pair.key.clone()];
            match word(key) {
                Some(word) if text[pair.value.clone()].eq_ignore_ascii_case(word) => {
                    settled |= word.starts_with('"');
                    keys += 1;
                }
                Some(_) => {}
                None => keys += usize::from(has(self.keys(), key)),
            }
        }
        let open = object.open.as_ref().map(|key| &text[key.clone()]);
        keys += usize::from(open.is_some_and(|key| has(self.keys(), key)));
        (!settled).then_some(keys)
    }

    fn keys(&self) -> &[Name] {
        if self.needed.is_empty() { &self.known } else { &self.needed }
    }

    /// Whether keys that stand at the start of lines are enough.
    pub fn has_half(&self, keys: &[&str]) -> bool {
        self.keys().iter().filter(|known| keys.contains(&&***known)).count() >= self.half()
    }

    /// Whether a text that is no JSON means to be such an object: it has its words, or begins with one of its keys, or with nothing.
    pub fn is_meant(&self, text: &str) -> bool {
        let begun = || {
            let start = text.len() - text.trim_start().len();
            let object = skim::object(text, start);
            self.knows(text, &object) || text[start..].trim_end() == "{"
        };
        let lower = text.to_ascii_lowercase();
        let holds = |name: &str| lower.contains(&name.to_ascii_lowercase());
        self.words().iter().any(|word| holds(word))
            || self.keys().iter().filter(|key| holds(key)).count() >= self.half()
            || begun()
    }
}

impl Looks {
    /// Whether a document may stand in a message, by a look at the string it was written as: most say nothing of the kind.
    pub fn may_be_said(&self, raw: &str) -> bool {
        if self.yaml.is_some() || self.lines.is_some() || ESCAPED.find(raw.as_bytes()).is_some() {
            return true;
        }
        // What is a line of a tool itself is opened once more.
        if raw.starts_with(['{', ' ', '\\']) {
            return true;
        }
        let object = self.json.as_ref().is_some_and(|shape| may_hold_object(raw, shape));
        object || self.markdown.as_ref().is_some_and(|heads| may_hold_head(raw, heads))
    }

    /// Those of a contract that is data.
    pub fn of(definition: &Definition) -> Self {
        let mut looks = Self { decides: Deciding::all(definition), ..Self::default() };
        let Some(root) = definition.root.record() else { return looks };
        for field in &root.fields {
            looks.keys.push(field.name.clone());
            match &field.layout {
                Layout::Section(names) => looks.sections.extend(names.iter().cloned()),
                Layout::Label(label) => looks.keys.push(label.clone()),
                _ => {}
            }
        }
        for form in &definition.forms {
            match form {
                Form::Json => looks.json = Some(Shape::of(root)),
                Form::Yaml => looks.yaml = Some(Shape::of(root)),
                Form::JsonLines => {
                    let line = definition.root.step(LINES).map(|(of, _)| of);
                    let line = line.and_then(|of| match &of.kind {
                        Kind::List(list) => list.of.record(),
                        _ => None,
                    });
                    looks.lines = line.map(Shape::of);
                }
                Form::Markdown => looks.markdown = Some(heads(definition, root)),
            }
        }
        (looks.lacks, looks.begin) = match looks.markdown.as_ref().map(Heads::line) {
            Some(Some(line)) => (format!("no `{line}` heading"), format!("begin the document with `{line}`")),
            Some(None) => ("none of its sections".to_owned(), "write it as the template shows".to_owned()),
            None => {
                let keys: Vec<String> = root
                    .fields
                    .iter()
                    .filter(|field| !field.optional)
                    .map(|field| format!("`{}`", field.name))
                    .collect();
                ("no JSON or YAML with its fields".to_owned(), format!("print it with {}", keys.join(", ")))
            }
        };
        if looks.yaml.is_none() && looks.markdown.is_none() {
            looks.lacks = "no JSON object with its fields".to_owned();
        }
        looks
    }
}

fn heads(definition: &Definition, root: &RecordType) -> Heads {
    match &definition.heading {
        Some(heading) => Heads::Own(heading.clone()),
        None => {
            let needed = root.fields.iter().filter(|field| !field.optional);
            Heads::Sections(
                needed
                    .filter_map(|field| match &field.layout {
                        Layout::Section(names) => Some(names.clone()),
                        _ => None,
                    })
                    .collect(),
            )
        }
    }
}
