//! Many words, found again by what they say.

use std::collections::BTreeMap;

/// The first place of each word, in the order in which the words came.
#[derive(Debug)]
pub struct Words<'w> {
    places: BTreeMap<&'w str, usize>,
}

impl<'w> Words<'w> {
    /// Takes words; `again` is called for each that was there before, with its place and the first one's.
    pub fn new(all: Vec<&'w str>, mut again: impl FnMut(usize, usize)) -> Self {
        let mut places = BTreeMap::new();
        for (at, word) in all.into_iter().enumerate() {
            let first = *places.entry(word).or_insert(at);
            if first != at {
                again(at, first);
            }
        }
        Self { places }
    }

    /// The place of the first word that says the same.
    pub fn find(&self, word: &str) -> Option<usize> {
        self.places.get(word).copied()
    }
}
