//! What stands behind the last document. A report that is no JSON (single quotes, a comment, a frame around it) is overlooked by whoever looks for JSON:
//! the draft before it must not count in its place.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use memchr::memmem;

use super::layer::Layers;
use super::looks::{Heads, Looks, Shape};
use super::skim::{self, End, Skimmed};
use super::wrapped;
use crate::contract::markdown::{Fence, heading_words};
use crate::contract::text::{is_quote, lines};

/// So much of what was said last is looked into, and of a longer text its beginning and its end.
const BYTES_MAX: usize = 1 << 20;
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

/// A text that was said behind a document: how many documents stand before it, and where it is.
#[derive(Debug)]
pub struct Part {
    pub behind: usize,
    pub layer: usize,
    pub range: Range<usize>,
}

/// Opens what was said last, as far as it is looked into.
pub fn open(layers: &mut Layers<'_>, behind: Vec<(usize, Behind)>) -> Vec<Part> {
    let (mut parts, mut room) = (Vec::new(), BYTES_MAX);
    for (behind, part) in behind.into_iter().rev() {
        let (layer, words) = match part {
            Behind::Plain(layer, range) => (layer, Err(range)),
            Behind::Said(layer, words) => (layer, Ok(words)),
            Behind::Words(layer, words) => (layer, Ok(vec![words])),
        };
        let (layer, range) = match words {
            Err(plain) => (layer, plain),
            Ok(words) if words.iter().map(ExactSizeIterator::len).sum::<usize>() > room => break,
            Ok(words) => {
                let said = layers.strings(layer, words);
                (said, 0..layers.text(said).len())
            }
        };
        let text = layers.text(layer);
        let pieces = match range.len() <= room {
            true => [range.end..range.end, range],
            false => {
                let (begin, end) = (range.start + room / 2, range.end - room / 2);
                [text.ceil_char_boundary(end)..range.end, range.start..text.floor_char_boundary(begin)]
            }
        };
        for range in pieces.into_iter().filter(|piece| !piece.is_empty()) {
            room -= range.len();
            parts.push(Part { behind, layer, range });
        }
    }
    parts
}

/// Where something stands in a text that has the fields of a document, or almost its heading, and was not read as one.
pub fn unread(text: &str, looks: &Looks, prompt: Option<&str>) -> Option<usize> {
    let shown = |shape: &Shape| {
        let own = without_shown(text, looks, prompt);
        shape.needed.iter().all(|key| key_at(&own, key).is_none())
    };
    let fields = looks.json.as_ref().and_then(|shape| meant(text, shape).filter(|_| !shown(shape)));
    let inside = || looks.json.as_ref().and_then(|shape| inside(text, shape, looks, prompt));
    fields.or_else(inside).or_else(|| almost(text, looks))
}

/// Where an object stands that holds one which, by itself, would be read as a document; what was shown holds none.
fn inside(text: &str, shape: &Shape, looks: &Looks, prompt: Option<&str>) -> Option<usize> {
    let mut held = wrapped::find(text, shape).peekable();
    held.peek()?;
    let own = without_shown(text, looks, prompt);
    held.find(|range| !own[range.clone()].trim().is_empty()).map(|range| range.start)
}

/// Where a heading stands in a text, in no code, that has the words of the one that a document begins with, and others: `## ❌ Reviewer Result`.
fn almost(text: &str, looks: &Looks) -> Option<usize> {
    let own = match &looks.markdown {
        Some(Heads::Own(heading)) if !looks.against.is_empty() => heading.words.to_lowercase(),
        _ => return None,
    };
    let mut fence = Fence::default();
    let is_almost = |line: &str| heading_words(line.trim()).is_some_and(|words| words.to_lowercase().contains(&own));
    lines(text).find(|(_, line)| !fence.is_code(line) && line.starts_with('#') && is_almost(line)).map(|(at, _)| at)
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
    first_object(text, |object| wrapped::is_schema(text, object))
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

/// A text in which every line is blank that the worker was shown; where lines end stays.
pub fn without_shown(text: &str, looks: &Looks, prompt: Option<&str>) -> String {
    let shown: BTreeSet<&str> =
        looks.shown.iter().map(String::as_str).chain(prompt).flat_map(str::lines).map(str::trim).collect();
    let blank = |line: &str| {
        let words = line.trim_end_matches(['\r', '\n']).len();
        " ".repeat(words) + &line[words..]
    };
    lines(text)
        .map(|(_, line)| if shown.contains(line.trim()) { Cow::Owned(blank(line)) } else { Cow::Borrowed(line) })
        .collect()
}
