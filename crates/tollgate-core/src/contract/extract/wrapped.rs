//! Documents inside of other objects: `{"report": {…}}`, in a list, or as a JSON string.

use std::borrow::Cow;
use std::ops::Range;

use super::decides::{has_same_keys, objects};
use super::looks::Shape;
use super::skim::{self, Skimmed};

/// So many objects and strings around a document are opened: each costs one more look at the text.
const AROUND_MAX: usize = 4;

/// The objects of a text, in no other, that hold one which looks like a document by its keys, whatever it says it is.
pub fn find(text: &str, shape: &Shape) -> impl Iterator<Item = Range<usize>> {
    let all = objects(text, 0).into_iter();
    all.filter(move |(_, object)| holds(text, object, shape, AROUND_MAX)).map(|(range, _)| range)
}

/// Whether an object is a JSON Schema.
pub fn is_schema(text: &str, object: &Skimmed) -> bool {
    object.get(text, "properties").is_some() || object.get(text, "$schema").is_some()
}

/// Whether a document stands in one of the values of an object.
fn holds(text: &str, object: &Skimmed, shape: &Shape, around: usize) -> bool {
    // A schema has all keys, and is no document.
    around > 0
        && !is_schema(text, object)
        && object.pairs.iter().any(|pair| is_in(&text[pair.value.clone()], shape, around - 1))
}

/// Whether a document stands in a value; several with the same keys are data.
fn is_in(value: &str, shape: &Shape, around: usize) -> bool {
    if memchr::memchr(b'{', value.as_bytes()).is_none() {
        return false;
    }
    let text = match skim::inside(value) {
        Some(words) => {
            let mut text = String::new();
            skim::unescape(words, &mut text);
            Cow::Owned(text)
        }
        None => Cow::Borrowed(value),
    };
    let all = objects(&text, 0);
    all.iter().enumerate().any(|(at, (_, object))| {
        let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|at| all.get(at));
        let many = || beside.into_iter().any(|(_, other)| has_same_keys(&text, object, other));
        (shape.is_inside(&text, object) && !many()) || holds(&text, object, shape, around)
    })
}
