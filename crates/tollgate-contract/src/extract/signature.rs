//! What the documents of a contract look like from outside: enough to find them among other text.

use super::json_scan::{self, Pair, Skimmed};
use crate::markdown::Heading;
use crate::text::is_title;
use tollgate_core::Name;

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
    /// What is shown along with the contract (template, instructions): an echo of it is no document.
    pub shown: Vec<String>,
    /// A document that shows how one is written.
    pub example: String,
    /// The schema, which is no document either.
    pub schema: serde_json::Value,
    /// What is missing from a text without a document, and how one begins.
    pub lacks: String,
    pub begin: String,
}

/// The keys of an object.
#[derive(Debug, Default)]
pub struct Shape {
    /// Keys with one word each, and the word as JSON writes it.
    pub consts: Vec<(Name, String)>,
    /// The keys that must be there.
    pub needed: Vec<Name>,
    /// All keys.
    pub known: Vec<Name>,
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
            Self::Sections(all) => all.iter().any(|names| Self::names(names, title)),
        }
    }

    /// Whether one of some names is the title of a section.
    pub fn names(names: &[Name], title: &str) -> bool {
        names.iter().any(|known| is_title(known, title))
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

/// Whether a key is one of these, in whatever case: `Verdict` is meant as `verdict`, and a report with it is an invalid one.
fn has(names: &[Name], key: &str) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case(key))
}

impl Shape {
    fn half(&self) -> usize {
        self.needed.len().div_ceil(2).max(1)
    }

    /// Whether an object looks so: by a word that only it has, or by half of what it must have.
    pub fn is(&self, text: &str, object: &Skimmed) -> bool {
        let enough = if self.says_otherwise(text, object) { self.others() } else { self.half() };
        self.counts(text, object).is_none_or(|keys| keys >= enough)
    }

    /// Whether a word says that an object is something else; it may be misspelt.
    fn says_otherwise(&self, text: &str, object: &Skimmed) -> bool {
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
        keys.any(|key| has(&self.known, &text[key.clone()]))
    }

    /// Whether one of the keys begins so, or is this one with its closing quote.
    pub fn has_key_with(&self, beginning: &str) -> bool {
        match beginning.split_once('"') {
            Some((key, after)) => after.trim().is_empty() && has(&self.known, key),
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

    /// Whether code that is no JSON was meant to be such an object: it names the word that only this has, or half of its keys, or begins
    /// with one of them.
    pub fn is_meant(&self, text: &str) -> bool {
        let lower = text.to_ascii_lowercase();
        let holds = |name: &str| lower.contains(&name.to_ascii_lowercase());
        self.consts.iter().filter_map(|(_, word)| json_scan::inside(word)).any(holds)
            || self.keys().iter().filter(|key| holds(key)).count() >= self.half()
            || self.knows(text, &json_scan::object(text, 0))
            || text == "{"
    }
}
