//! The names that a document gives, some of which may be wrong by themselves: what could be meant by one of those is unknown,
//! everything else is there or is not.

use std::collections::BTreeSet;

/// A name in the order of the document: its words, where it has some, and whether it is right by itself.
pub type Name<'n> = (Option<&'n str>, bool);

/// Names, and what those among them that are wrong may have been meant as.
pub struct Names<'n> {
    words: BTreeSet<&'n str>,
    meant: Meant,
}

/// What names that are wrong may have been meant as.
enum Meant {
    Nothing,
    /// Names with a number in one of these ranges, which are sorted and apart; any name without a number.
    Numbered(Vec<(u64, u64)>),
    Anything,
}

impl<'n> Names<'n> {
    pub fn new(names: &[Name<'n>]) -> Self {
        Self { words: names.iter().filter_map(|(word, _)| *word).collect(), meant: meant(names) }
    }

    /// Whether a name is there; unknown where one that is wrong may have been meant as it.
    pub fn has(&self, word: &str) -> Option<bool> {
        if self.words.contains(word) {
            return Some(true);
        }
        match (&self.meant, number(word)) {
            (Meant::Nothing, _) => Some(false),
            (Meant::Numbered(ranges), Some(number)) => {
                let before = ranges.partition_point(|(low, _)| *low <= number);
                let among = ranges[..before].last().is_some_and(|(_, high)| number <= *high);
                (!among).then_some(false)
            }
            (Meant::Numbered(_), None) | (Meant::Anything, _) => None,
        }
    }
}

fn meant(names: &[Name<'_>]) -> Meant {
    if names.iter().all(|(_, sound)| *sound) {
        return Meant::Nothing;
    }
    let said = |(word, sound): &Name<'_>| word.filter(|_| *sound).and_then(number);
    if !names.iter().any(|name| said(name).is_some()) {
        return Meant::Anything;
    }
    // The number that comes next, behind each name.
    let mut nexts = Vec::with_capacity(names.len());
    let mut next = None;
    for name in names.iter().rev() {
        nexts.push(next);
        next = said(name).or(next);
    }
    let (mut ranges, mut before, mut run) = (Vec::new(), 0u64, 0u64);
    for (name, next) in names.iter().zip(nexts.into_iter().rev()) {
        if let Some(number) = said(name) {
            (before, run) = (number, 0);
        }
        if name.1 {
            continue;
        }
        run += 1;
        // A name that lacks a number has its place among those that have one.
        ranges.push(match name.0.and_then(number) {
            Some(own) => (own, own),
            None => (
                before.saturating_add(1),
                next.filter(|next| *next > before).map_or(before.saturating_add(run), |next| next - 1),
            ),
        });
    }
    ranges.sort_unstable();
    ranges.dedup_by(|next, kept| {
        let meets = next.0 <= kept.1;
        if meets {
            kept.1 = kept.1.max(next.1);
        }
        meets
    });
    Meant::Numbered(ranges)
}

/// The number that a name ends with: 7 of `T-007`.
fn number(word: &str) -> Option<u64> {
    word[word.trim_end_matches(|c: char| c.is_ascii_digit()).len()..].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[Name<'_>], word: &str, expected: Option<bool>) {
        assert_eq!(Names::new(names).has(word), expected, "{word} in {names:?}");
    }

    #[test]
    fn what_could_be_meant_is_unknown_and_nothing_else() {
        let sound = |word| (Some(word), true);
        let wrong = |word| (Some(word), false);
        check(&[sound("T-001")], "T-009", Some(false));
        for first in [wrong("X"), wrong("T1"), (None, false)] {
            let names = [first, sound("T-002")];
            check(&names, "T-001", None);
            check(&names, "T-002", Some(true));
            check(&names, "T-009", Some(false));
            check(&names, "other", None);
        }
        check(&[wrong("T_7"), sound("T-002")], "T-007", None);
        check(&[wrong("T_7"), sound("T-002")], "T-001", Some(false));
        let last = [sound("T-004"), (None, false), wrong("Y")];
        check(&last, "T-006", None);
        check(&last, "T-007", Some(false));
        check(&last, "Y", Some(true));
        check(&[wrong("X"), sound("meta")], "T-009", None);
        check(&[wrong("X"), sound("T-18446744073709551615")], "T-1", None);
    }
}
