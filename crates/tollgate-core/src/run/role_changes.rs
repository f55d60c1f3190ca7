//! What a role changed, and what of it its reports have answered for.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::event::{ChangeKind, Changed};
use super::net_change::NetChange;
use crate::Name;
use crate::path::unquote;
use crate::report::Claims;

/// How many contradictions between claim and measurement are listed.
const CONTRADICTIONS_MAX: usize = 20;

/// The paths that a role has changed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Wrote {
    pub all: NetChange,
    /// Since it last reported that it is done.
    pub unfinished: NetChange,
    /// Those that no report of it has named.
    pub unnamed: BTreeSet<Name>,
}

/// A report's word on what was changed, held against what was.
#[derive(Debug, Default)]
pub(super) struct Compared {
    pub contradictions: Vec<String>,
    /// Those of them that this report says, or that are about what the attempt itself changed.
    pub anew: BTreeSet<String>,
    /// What the role changed, now or before, and has not named yet.
    pub unnamed: Vec<Name>,
}

impl Wrote {
    /// Whether it changed a path.
    pub(super) fn has(&self, path: &Name) -> bool {
        self.all.kind(path).is_some()
    }

    /// Takes in what an attempt changed, what is left unnamed of it, and whether its role is done.
    pub(super) fn note(&mut self, changed: &[Changed], unnamed: &[Name], done: bool) {
        self.all.add(changed);
        if done {
            self.unfinished.clear();
        } else {
            self.unfinished.add(changed);
        }
        self.unnamed = unnamed.iter().cloned().collect();
    }

    /// Compares a report's claims, where it makes any, with what was measured now and before. A report may also name what
    /// others changed in the same run.
    pub(super) fn compare<'a>(
        &self,
        claims: Option<&Claims>,
        changed: &[Changed],
        judges: bool,
        in_the_run: impl Iterator<Item = &'a Name>,
    ) -> Compared {
        // A judge that is asked again may name what it wrote the first time, and so may a builder that was not done; its repair is
        // what it does now.
        let earlier = if judges { &self.all } else { &self.unfinished };
        let undone = |path: &Name| earlier.kind(path) == Some(ChangeKind::Created);
        let mut all = self.all.clone();
        all.add(changed);
        // Nobody answers for a file that came and went before it was done.
        let owed = changed.iter().filter(|change| change.kind != ChangeKind::Deleted || !undone(&change.path));
        let mut owed: BTreeMap<Name, Changed> = owed.map(|change| (change.path.clone(), change.clone())).collect();
        for path in self.unnamed.iter().filter(|path| !changed.iter().any(|change| change.path == **path)) {
            owed.extend(all.change(path).map(|change| (path.clone(), change)));
        }
        let Some(claims) = claims else {
            return Compared { unnamed: owed.into_keys().collect(), ..Compared::default() };
        };
        let mut net = earlier.clone();
        net.add(changed);
        let paths = changed.iter().map(|change| &change.path).chain(net.paths()).chain(&self.unnamed);
        let mut touched: BTreeSet<Cow<'_, [u8]>> = paths.map(|path| unquote(path)).collect();
        touched.extend(in_the_run.map(|path| unquote(path)));
        // By what they name, not by how they are written: a worker need not know how git quotes.
        let claimed = claims.paths().flat_map(|claim| named_by(claim, &touched));
        let claimed: BTreeMap<Cow<'_, [u8]>, &str> = claimed.map(|path| (meant(path), path)).collect();
        let said_gone: BTreeSet<Cow<'_, [u8]>> = claims.deleted.iter().map(|path| meant(path)).collect();
        // A deletion is a change: contracts that have one list of changed files name it there.
        let said_there: BTreeSet<Cow<'_, [u8]>> = claims.created.iter().map(|path| meant(path)).collect();
        // What is wrong, and whether it is so by what is said or was changed now.
        let mut found: Vec<(String, bool)> = Vec::new();
        let now: BTreeSet<&Name> = changed.iter().map(|change| &change.path).collect();
        let mut wrong: BTreeSet<&Name> = BTreeSet::new();
        for (path, kind) in net.kinds() {
            let (said, how) = match kind {
                ChangeKind::Deleted => (&said_there, "created, but it was deleted"),
                ChangeKind::Created | ChangeKind::Modified => (&said_gone, "deleted, but it is there"),
            };
            if said.contains(&unquote(path)) {
                found.push((format!("the report names {path} as {how}"), true));
                wrong.insert(path);
            }
        }
        let is_named = |path: &Name| !wrong.contains(path) && claimed.contains_key(&unquote(path));
        settle_moves(&mut owed, is_named, &wrong);
        owed.retain(|path, _| !is_named(path));
        let counted = claims.deleted_count.filter(|_| claims.deleted.is_empty());
        let is_gone = |change: &Changed| change.kind == ChangeKind::Deleted;
        if let Some(count) = counted {
            // The count is the claim; what was deleted before may be in it, and so may what the role itself had made.
            let least = owed.iter().filter(|(path, change)| is_gone(change) && !wrong.contains(path)).count();
            let before = net.kinds().filter(|(_, kind)| *kind == ChangeKind::Deleted).map(|(path, _)| path);
            let deleted = changed.iter().chain(owed.values()).filter(|change| is_gone(change));
            let most: BTreeSet<&Name> = deleted.map(|change| &change.path).chain(before).collect();
            if !(least..=most.len()).contains(&(count as usize)) {
                // Too many were deleted at no time; too few may be what was left out before.
                let anew = count as usize > most.len() || most.iter().any(|path| now.contains(*path));
                found.push((miscounted(count, &most), anew));
            } else {
                owed.retain(|path, change| !is_gone(change) || wrong.contains(path));
            }
        }
        let silent =
            owed.iter().filter(|(path, change)| !wrong.contains(path) && (counted.is_none() || !is_gone(change)));
        found.extend(
            silent.map(|(path, _)| (format!("{path} changed, but the report does not name it"), now.contains(path))),
        );
        let ghosts = claimed.iter().filter(|(bytes, _)| !touched.contains(*bytes));
        found.extend(
            ghosts.map(|(_, path)| (format!("the report names {path} as changed, but it did not change"), true)),
        );
        if found.len() > CONTRADICTIONS_MAX {
            let more = found.len() - CONTRADICTIONS_MAX;
            found.truncate(CONTRADICTIONS_MAX);
            found.push((format!("and {more} more"), true));
        }
        let anew = found.iter().filter(|(_, anew)| *anew).map(|(what, _)| what.clone()).collect();
        let contradictions = found.into_iter().map(|(what, _)| what).collect();
        Compared { contradictions, anew, unnamed: owed.into_keys().collect() }
    }

    /// Somebody else deleted these: that the role once wrote one is no word on what is there.
    pub(super) fn lose<'a>(&mut self, deleted: impl Iterator<Item = &'a Name> + Clone) {
        self.all.lose(deleted.clone());
        self.unfinished.lose(deleted);
    }
}

/// The paths that a claim names: `OLD -> NEW` names both, unless that is the name of one file.
fn named_by<'c>(claim: &'c str, touched: &BTreeSet<Cow<'_, [u8]>>) -> Vec<&'c str> {
    match claim.split_once(" -> ") {
        Some((old, new)) if !touched.contains(&meant(claim)) => vec![old.trim(), new.trim()],
        Some(_) | None => vec![claim],
    }
}

/// A file that moved counts under both names: who named one of them need not name the other. Each name accounts for one other.
fn settle_moves(owed: &mut BTreeMap<Name, Changed>, is_named: impl Fn(&Name) -> bool, wrong: &BTreeSet<&Name>) {
    let mut named: BTreeMap<MoveEnd, usize> = BTreeMap::new();
    for change in owed.values().filter(|change| is_named(&change.path)) {
        if let Some(end) = MoveEnd::of(change) {
            *named.entry(end).or_default() += 1;
        }
    }
    owed.retain(|path, change| {
        let is_silent = !is_named(path) && !wrong.contains(path);
        let other = MoveEnd::of(change).filter(|_| is_silent).map(MoveEnd::other);
        match other.and_then(|other| named.get_mut(&other)).filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            None => return true,
        }
        false
    });
}

/// One end of a move: this content is gone from a path, or has come to one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum MoveEnd {
    From(Name),
    To(Name),
}

impl MoveEnd {
    fn of(change: &Changed) -> Option<Self> {
        match change.kind {
            ChangeKind::Created => change.now.clone().map(Self::To),
            ChangeKind::Deleted => change.was.clone().map(Self::From),
            ChangeKind::Modified => None,
        }
    }

    fn other(self) -> Self {
        match self {
            Self::From(content) => Self::To(content),
            Self::To(content) => Self::From(content),
        }
    }
}

/// What a claimed path names: `./` is where every path begins.
fn meant(path: &str) -> Cow<'_, [u8]> {
    unquote(path.strip_prefix("./").unwrap_or(path))
}

fn miscounted(count: u32, deleted: &BTreeSet<&Name>) -> String {
    let names: Vec<&str> = deleted.iter().map(|path| &***path).take(CONTRADICTIONS_MAX).collect();
    let names = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
    format!("the report counts {count} deleted, but {} were{names}", deleted.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_may_name_what_the_run_changed() {
        let claims = Claims { created: vec!["tests/a".into(), "greet.sh".into()], ..Claims::default() };
        let changed = [Changed::new("tests/a", ChangeKind::Created)];
        let compare = |others: &[Name]| Wrote::default().compare(Some(&claims), &changed, true, others.iter());
        assert_eq!(compare(&["greet.sh".into()]).contradictions, [""; 0]);
        let wrong = ["the report names greet.sh as changed, but it did not change"];
        assert_eq!(compare(&["other.sh".into()]).contradictions, wrong);
        assert!(compare(&["greet.sh".into()]).unnamed.is_empty());
    }
}
