//! Many words, found again by what they say: one look for each, whatever the words are.

use super::text::by_length;

/// So many words are looked through one by one.
const FEW: usize = 8;
/// How far from its slot a word may stand. Words that were made to crowd together are sorted instead.
const STEPS_MAX: usize = 64;

/// Words in the order in which they came.
#[derive(Debug)]
pub struct Words<'w> {
    all: Vec<&'w str>,
    order: Order,
}

#[derive(Debug)]
enum Order {
    Few,
    /// A part of the hash of a word and its place, at a power of two of slots; a place that no word has: free.
    Hashed(Vec<(u32, u32)>),
    /// The places of the words by length and letter, the first of equal ones first.
    Sorted(Vec<u32>),
}

const FREE: u32 = u32::MAX;

impl<'w> Words<'w> {
    /// Takes words; `again` hears of each that was there before: its place, and the first one's.
    pub fn new(all: Vec<&'w str>, mut again: impl FnMut(usize, usize)) -> Self {
        let order = match all.len() {
            ..=FEW => {
                for (at, word) in all.iter().enumerate() {
                    all[..at].iter().position(|known| known == word).into_iter().for_each(|first| again(at, first));
                }
                Order::Few
            }
            _ => hashed(&all, &mut again).unwrap_or_else(|| sorted(&all, &mut again)),
        };
        Self { all, order }
    }

    /// The place of the first word that says this.
    pub fn find(&self, word: &str) -> Option<usize> {
        match &self.order {
            Order::Few => self.all.iter().position(|known| *known == word),
            Order::Hashed(slots) => {
                let (mut slot, tag) = start(word, slots.len());
                loop {
                    match slots[slot] {
                        (_, FREE) => return None,
                        (known, at) if known == tag && self.all[at as usize] == word => return Some(at as usize),
                        _ => slot = (slot + 1) & (slots.len() - 1),
                    }
                }
            }
            Order::Sorted(order) => {
                let from = order.partition_point(|at| by_length(self.all[*at as usize], word).is_lt());
                order.get(from).map(|at| *at as usize).filter(|at| self.all[*at] == word)
            }
        }
    }
}

/// Nothing where words crowd together, or are more than places can number.
fn hashed(all: &[&str], again: &mut impl FnMut(usize, usize)) -> Option<Order> {
    let mut slots = vec![(0, FREE); (all.len() * 2).next_power_of_two()];
    // Nothing is told before it is sure that this is the order.
    let mut found = Vec::new();
    for (at, word) in all.iter().enumerate() {
        let (mut slot, tag) = start(word, slots.len());
        let mut steps = 0;
        loop {
            match slots[slot] {
                (_, FREE) => {
                    slots[slot] = (tag, u32::try_from(at).ok().filter(|at| *at != FREE)?);
                    break;
                }
                (known, first) if known == tag && all[first as usize] == *word => {
                    found.push((at, first as usize));
                    break;
                }
                _ => slot = (slot + 1) & (slots.len() - 1),
            }
            steps += 1;
            if steps > STEPS_MAX {
                return None;
            }
        }
    }
    found.into_iter().for_each(|(at, first)| again(at, first));
    Some(Order::Hashed(slots))
}

fn sorted(all: &[&str], again: &mut impl FnMut(usize, usize)) -> Order {
    let mut order: Vec<u32> = (0..u32::try_from(all.len()).unwrap_or(u32::MAX)).collect();
    order.sort_by(|a, b| by_length(all[*a as usize], all[*b as usize]).then(a.cmp(b)));
    let mut found = Vec::new();
    let mut first = None;
    for at in &order {
        match first.filter(|first| all[*first as usize] == all[*at as usize]) {
            Some(first) => found.push((*at as usize, first as usize)),
            None => first = Some(*at),
        }
    }
    found.sort_unstable();
    found.into_iter().for_each(|(at, first)| again(at, first));
    Order::Sorted(order)
}

/// The slot where a word is looked for first, and what tells it from most others there.
fn start(word: &str, slots: usize) -> (usize, u32) {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, eight: u64| {
        let wide = u128::from(hash ^ eight) * u128::from(ODD);
        u64::try_from(wide & u128::from(u64::MAX)).unwrap_or(0) ^ u64::try_from(wide >> 64).unwrap_or(0)
    };
    let (eights, rest) = word.as_bytes().as_chunks::<8>();
    let mut hash = eights.iter().fold(word.len() as u64, |hash, eight| mix(hash, u64::from_le_bytes(*eight)));
    let last = rest.iter().fold(0, |last, byte| (last << 8) | u64::from(*byte));
    hash = mix(hash, last);
    let low = u32::try_from(hash & u64::from(u32::MAX)).unwrap_or(0);
    (usize::try_from(hash >> 32).unwrap_or(0) & (slots - 1), low)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(all: &[String]) {
        let words: Vec<&str> = all.iter().map(String::as_str).collect();
        let mut again = Vec::new();
        let found = Words::new(words.clone(), |at, first| again.push((at, first)));
        let expected: Vec<(usize, usize)> = (0..words.len())
            .filter_map(|at| Some((at, words[..at].iter().position(|word| *word == words[at])?)))
            .collect();
        assert_eq!(again, expected);
        for word in &words {
            assert_eq!(found.find(word), words.iter().position(|known| known == word), "{word}");
        }
        assert_eq!(found.find("not there"), None);
    }

    #[test]
    fn every_word_is_found_and_each_that_is_there_twice_is_told() {
        for count in [0, 1, 8, 9, 100, 1000] {
            check(&(0..count).map(|at| format!("T-{}", at * 7919 % 701)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn words_that_were_made_to_crowd_are_sorted() {
        let slots = 1024;
        let crowd = (0u32..).map(|at| format!("w{at}")).filter(|word| start(word, slots).0 == 7);
        let crowd: Vec<String> = crowd.take(300).chain(["w1".to_owned(), "w1".to_owned()]).collect();
        assert!(matches!(Words::new(crowd.iter().map(String::as_str).collect(), |_, _| {}).order, Order::Sorted(_)));
        check(&crowd);
    }
}
