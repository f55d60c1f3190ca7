//! The digests of a tree, part by part.

use std::collections::BTreeMap;

use super::{Area, Content, Entry, Parts, holds, in_scope, matches};
use crate::Name;
use crate::digest::{Digest, DigestOf};
use crate::id::UnitId;

/// Digests a tree by area: whole, narrowed to each unit's scope, and what lies in nobody's; and by document.
///
/// The digest of a part is sha256 over its sorted lines `mode blob path`.
pub fn content(tree: Name, entries: &[Entry], parts: &Parts) -> Content {
    let Parts { areas, scopes, documents } = parts;
    // Modes and ids are as long as each other: in this order the lines are sorted.
    let mut order: Vec<(u128, &Entry)> = entries.iter().map(|entry| (first_of(entry), entry)).collect();
    order.sort_unstable_by(|(a, left), (b, right)| {
        let full = || (&left.mode, &left.blob, &left.path).cmp(&(&right.mode, &right.blob, &right.path));
        a.cmp(b).then_with(full)
    });
    order.dedup();
    let mut whole = Sums::new(areas);
    let mut scoped: Vec<(&UnitId, &Vec<Name>, Sums<'_>)> =
        scopes.iter().map(|(unit, scope)| (unit, scope, Sums::new(areas))).collect();
    let has_scopes = scopes.values().any(|scope| !scope.is_empty());
    let mut nobodys = Sums::new(if has_scopes { areas } else { &[] });
    let mut documents: Vec<_> = documents.iter().map(|(name, path)| (name, path, DigestOf::default())).collect();
    let mut line = String::new();
    for (_, Entry { mode, blob, path }) in order {
        line.clear();
        for word in [&**mode, " ", blob, " ", path, "\n"] {
            line.push_str(word);
        }
        let own = areas.iter().position(|area| holds(area, path));
        let mut is_nobodys = true;
        for (_, scope, sums) in &mut scoped {
            if in_scope(path, scope) {
                is_nobodys &= scope.is_empty();
                sums.take(own, &line);
            }
        }
        if is_nobodys {
            nobodys.take(own, &line);
        }
        whole.take(own, &line);
        for (_, pattern, sum) in &mut documents {
            if matches(pattern, path) {
                sum.take(line.as_bytes());
            }
        }
    }
    let scoped = scoped.into_iter().map(|(unit, _, sums)| (unit.clone(), sums.digests())).collect();
    let documents = documents.into_iter().map(|(name, _, sum)| (name.clone(), sum.digest())).collect();
    Content { tree, areas: whole.digests(), scoped, nobodys: nobodys.digests(), documents }
}

/// The first letters of an entry's line, to compare by.
fn first_of(entry: &Entry) -> u128 {
    let letters = entry.mode.bytes().chain(entry.blob.bytes()).chain(std::iter::repeat(0));
    letters.take(16).fold(0, |all, letter| all << 8 | u128::from(letter))
}

/// The digest of each area, while its lines are taken in their order.
struct Sums<'a>(Vec<(&'a Name, DigestOf)>);

impl<'a> Sums<'a> {
    fn new(areas: &'a [Area]) -> Self {
        Self(areas.iter().map(|area| (&area.name, DigestOf::default())).collect())
    }

    /// Takes a line of an area. What no area holds is in nobody's care: it counts in each, so that no judgement outlasts its change.
    fn take(&mut self, area: Option<usize>, line: &str) {
        let taking = match area {
            Some(area) => self.0.get_mut(area..=area),
            None => Some(&mut self.0[..]),
        };
        for (_, sum) in taking.into_iter().flatten() {
            sum.take(line.as_bytes());
        }
    }

    fn digests(self) -> BTreeMap<Name, Digest> {
        self.0.into_iter().map(|(area, sum)| (area.clone(), sum.digest())).collect()
    }
}
