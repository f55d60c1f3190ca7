//! What stands behind the last document. A report that is no JSON (single quotes, a comment, a frame around it) is overlooked by whoever looks for JSON,
//! and a rejection of another contract by whoever looks for approvals: the draft before them must not count in their place.

use std::collections::BTreeSet;
use std::ops::Range;

use memchr::memmem;

use super::candidates::State;
use super::layer::Layers;
use super::looks::{Heads, Looks, Shape};
use super::skim::{self, End, Skimmed};
use crate::contract::definition::Heading;
use crate::contract::markdown::{Fence, heading_words};
use crate::contract::text::{is_quote, lines};

/// So much of what was said last is looked into.
const BYTES_MAX: usize = 256 << 10;
/// How far before its first key the brace of an object stands at most.
const BRACE_BYTES: usize = 256;

/// Text behind the last document.
#[derive(Debug)]
pub enum Behind {
    /// What an agent said, as strings of a layer.
    Said(usize, Vec<Range<usize>>),
    /// The same in one string, which is how most of it comes.
    Words(usize, Range<usize>),
    /// Plain text of a layer.
    Plain(usize, Range<usize>),
}

impl Behind {
    /// The layer that it stands in.
    pub fn layer(&self) -> usize {
        match self {
            Self::Said(layer, _) | Self::Words(layer, _) | Self::Plain(layer, _) => *layer,
        }
    }
}

/// Where something stands that has the fields of a document and was not read as one, or that is a report against it: its layer, and its range.
pub fn unread(
    layers: &mut Layers<'_>,
    behind: Vec<Behind>,
    looks: &Looks,
    prompt: Option<&str>,
) -> Option<(usize, Range<usize>, State)> {
    if looks.json.is_none() && looks.against.is_empty() {
        return None;
    }
    let mut bytes = 0;
    for part in behind.into_iter().rev() {
        let (layer, words) = match part {
            Behind::Plain(layer, range) => (layer, Err(range)),
            Behind::Said(layer, words) => (layer, Ok(words)),
            Behind::Words(layer, words) => (layer, Ok(vec![words])),
        };
        let (layer, range) = match words {
            Err(plain) => (layer, plain),
            Ok(words) if words.iter().map(ExactSizeIterator::len).sum::<usize>() > BYTES_MAX - bytes => return None,
            Ok(words) => {
                let said = layers.strings(layer, words);
                (said, 0..layers.text(said).len())
            }
        };
        let text = &layers.text(layer)[range.clone()];
        let text = &text[..text.floor_char_boundary(BYTES_MAX - bytes)];
        bytes += text.len();
        let shown = |shape: &Shape| is_shown(text, shape, looks, prompt);
        let fields = looks.json.as_ref().and_then(|shape| meant(text, shape).filter(|_| !shown(shape)));
        let found = fields.map(|at| (at, State::Unread)).or_else(|| against(text, looks));
        if let Some((at, state)) = found {
            return Some((layer, range.start + at..range.start + text.len(), state));
        }
    }
    None
}

/// Where a heading stands in a text, in no code, that has the words of a report which rejects, or almost those of this one: `## ❌ Review: Needs Changes`.
fn against(text: &str, looks: &Looks) -> Option<(usize, State)> {
    let own = match &looks.markdown {
        Some(Heads::Own(heading)) if !looks.against.is_empty() => heading,
        _ => return None,
    };
    let mut fence = Fence::default();
    let has = |words: &str, heading: &Heading| words.contains(&heading.words.to_lowercase());
    lines(text).find_map(|(at, line)| {
        let code = fence.is_code(line);
        let words = heading_words(line.trim()).filter(|_| !code && line.starts_with('#'))?.to_lowercase();
        let state = looks.against.iter().any(|heading| has(&words, heading)).then_some(State::Against);
        Some((at, state.or_else(|| has(&words, own).then_some(State::Unread))?))
    })
}

/// Where the keys of a document stand in a text, as keys, though what stands around them is no JSON.
fn meant(text: &str, shape: &Shape) -> Option<usize> {
    let mut text = text;
    let mut blanked;
    // A schema has all keys, and is no document.
    if let Some(schema) = schema(text) {
        blanked = text.to_owned();
        blanked.replace_range(schema.clone(), &" ".repeat(schema.len()));
        text = &blanked;
    }
    if let Some(at) = decided(text, shape) {
        return Some(at);
    }
    let places: Vec<usize> = shape.needed.iter().filter_map(|key| key_at(text, key)).collect();
    let first = *places.iter().min()?;
    let words = shape.words();
    let enough = if words.is_empty() {
        let brace = text[text.floor_char_boundary(first.saturating_sub(BRACE_BYTES))..first].contains('{');
        places.len() == shape.needed.len() || (brace && places.len() >= shape.half())
    } else {
        words.iter().any(|word| memmem::find(text.as_bytes(), word.as_bytes()).is_some())
    };
    (enough && places.len() >= 2).then(|| text[..first].rfind('\n').map_or(0, |at| at + 1))
}

/// Where a key stands in front of a colon, whatever quotes are around it.
fn key_at(text: &str, key: &str) -> Option<usize> {
    memmem::find_iter(text.as_bytes(), key.as_bytes()).find(|at| {
        let (before, after) = (&text[..*at], &text[at + key.len()..]);
        let joined = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let mut rest = after.trim_start_matches(|c| is_quote(c) || c == '\\');
        for entity in ["&quot;", "&#34;", "&#39;"] {
            rest = rest.trim_start_matches(entity);
        }
        !before.ends_with(joined) && rest.trim_start_matches([' ', '\t']).starts_with(':')
    })
}

/// The first object of a text that is a JSON Schema.
fn schema(text: &str) -> Option<Range<usize>> {
    first_object(text, |object| object.get(text, "properties").is_some() || object.get(text, "$schema").is_some())
}

/// Where an object stands in a text that decides and has too few keys to be a document.
fn decided(text: &str, shape: &Shape) -> Option<usize> {
    first_object(text, |object| shape.decides(text, object)).map(|range| range.start)
}

/// The first object of a text that is a certain one.
fn first_object(text: &str, is: impl Fn(&Skimmed) -> bool) -> Option<Range<usize>> {
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'{', &text.as_bytes()[at..]) {
        at += found;
        let object = skim::object(text, at);
        match object.end {
            End::Whole(end) if is(&object) => return Some(at..end),
            End::Whole(end) => at = end,
            End::Broken(next) => at = next.max(at + 1),
            End::Cut => return None,
        }
    }
    None
}

/// Whether every line with a key is one that the worker was shown.
fn is_shown(text: &str, shape: &Shape, looks: &Looks, prompt: Option<&str>) -> bool {
    let shown: BTreeSet<&str> =
        looks.shown.iter().map(String::as_str).chain(prompt).flat_map(str::lines).map(str::trim).collect();
    let own: String = text.lines().filter(|line| !shown.contains(line.trim())).flat_map(|line| [line, "\n"]).collect();
    shape.needed.iter().all(|key| key_at(&own, key).is_none())
}
