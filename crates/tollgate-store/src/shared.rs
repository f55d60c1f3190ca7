//! What runs say to each other, by key: amounts, which are added up, and notes, which are read one by one.
//!
//! A run says all of it with every append, in the same transaction, as it says its summary; so what it said is never more than
//! one append old, and reading a key costs the same however many runs there are. Who decides from a key names the place at which
//! it was read, and the append is refused when the key has changed since.

use std::collections::BTreeMap;

use tollgate_core::id::RunId;

use crate::lease::Lease;

/// The longest key.
pub const KEY_BYTES_MAX: usize = 64 * 1024;
/// The most keys under which one run says something.
pub const KEYS_MAX: usize = 1_000;
/// The most amounts under one key.
pub const AMOUNTS_MAX: usize = 16;
/// The largest note.
pub const NOTE_BYTES_MAX: usize = 64 * 1024;

/// What a run says, by key.
pub type Says = BTreeMap<String, Said>;

/// What one run says under one key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Said {
    /// Numbers that are added up over all runs.
    pub amounts: Vec<u64>,
    /// What is read as it is; opaque to the store.
    pub note: Vec<u8>,
}

/// The amounts of the other runs under a key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Total {
    /// The place of the last append that changed the key; 0: no run ever did.
    pub place: u64,
    /// Added up; one that no run named is missing at the end.
    pub amounts: Vec<u64>,
}

/// The notes of the other runs under a key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Notes {
    /// The place of the last append that changed the key; 0: no run ever did.
    pub place: u64,
    /// One for each run that has one.
    pub notes: Vec<Note>,
}

/// What one other run says under a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The run.
    pub run: RunId,
    /// Its words.
    pub note: Vec<u8>,
    /// Its lease, if it ever had one; it may have passed.
    pub lease: Option<Lease>,
}

/// A sum in which a run's amounts take the place of those it said before.
pub(crate) fn replace(total: &[u64], before: &[u64], now: &[u64]) -> Vec<u64> {
    let at = |amounts: &[u64], i: usize| amounts.get(i).copied().unwrap_or(0);
    let many = total.len().max(now.len());
    (0..many).map(|i| at(total, i).saturating_sub(at(before, i)).saturating_add(at(now, i))).collect()
}

/// What changed between two sayings of a run: each key with what was said and what is said.
pub(crate) fn changed<'a>(before: &'a Says, now: &'a Says) -> Vec<(&'a str, Option<&'a Said>, Option<&'a Said>)> {
    let new = now.keys().filter(|key| !before.contains_key(*key));
    let keys = before.keys().chain(new).map(String::as_str);
    keys.map(|key| (key, before.get(key), now.get(key))).filter(|(_, before, now)| before != now).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_follows_what_its_parts_become() {
        let sum = replace(&[], &[], &[1, 2]);
        assert_eq!(sum, [1, 2]);
        let sum = replace(&sum, &[], &[5]);
        assert_eq!(sum, [6, 2]);
        let sum = replace(&sum, &[1, 2], &[3, 4, 7]);
        assert_eq!(sum, [8, 4, 7]);
        assert_eq!(replace(&sum, &[3, 4, 7], &[]), [5, 0, 0]);
        assert_eq!(replace(&[u64::MAX], &[], &[1]), [u64::MAX]);
    }
}
