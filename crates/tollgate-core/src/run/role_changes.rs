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
        let mut owed: BTreeMap<Name, ChangeKind> = owed.map(|change| (change.path.clone(), change.kind)).collect();
        for path in self.unnamed.iter().filter(|path| !changed.iter().any(|change| change.path == **path)) {
            owed.extend(all.kind(path).map(|kind| (path.clone(), kind)));
        }
        let Some(claims) = claims else {
            return Compared { unnamed: owed.into_keys().collect(), ..Compared::default() };
        };
        // By what they name, not by how they are written: a worker need not know how git quotes.
        let claimed: BTreeMap<Cow<'_, [u8]>, &Name> = claims.paths().map(|path| (meant(path), path)).collect();
        let mut net = earlier.clone();
        net.add(changed);
        let paths = changed.iter().map(|change| &change.path).chain(net.paths()).chain(&self.unnamed);
        let mut touched: BTreeSet<Cow<'_, [u8]>> = paths.map(|path| unquote(path)).collect();
        touched.extend(in_the_run.map(|path| unquote(path)));
        let said_gone: BTreeSet<Cow<'_, [u8]>> = claims.deleted.iter().map(|path| meant(path)).collect();
        let said_there: BTreeSet<Cow<'_, [u8]>> =
            claims.created.iter().chain(&claims.modified).map(|path| meant(path)).collect();
        // What is wrong, and whether it is so by what is said or was changed now.
        let mut found: Vec<(String, bool)> = Vec::new();
        let now: BTreeSet<&Name> = changed.iter().map(|change| &change.path).collect();
        let mut wrong: BTreeSet<&Name> = BTreeSet::new();
        for (path, kind) in net.kinds() {
            let (said, how) = match kind {
                ChangeKind::Deleted => (&said_there, "there, but it was deleted"),
                ChangeKind::Created | ChangeKind::Modified => (&said_gone, "deleted, but it is there"),
            };
            if said.contains(&unquote(path)) {
                found.push((format!("the report names {path} as {how}"), true));
                wrong.insert(path);
            }
        }
        owed.retain(|path, _| wrong.contains(path) || !claimed.contains_key(&unquote(path)));
        let counted = claims.deleted_count.filter(|_| claims.deleted.is_empty());
        let is_gone = |kind: ChangeKind| kind == ChangeKind::Deleted;
        if let Some(count) = counted {
            // The count is the claim; what was deleted before may be in it, and so may what the role itself had made.
            let least = owed.iter().filter(|(path, kind)| is_gone(**kind) && !wrong.contains(path)).count();
            let deleted = changed.iter().filter(|change| is_gone(change.kind)).map(|change| &change.path);
            let before = net.kinds().chain(owed.iter().map(|(path, kind)| (path, *kind)));
            let before = before.filter(|(_, kind)| is_gone(*kind)).map(|(path, _)| path);
            let most: BTreeSet<&Name> = deleted.chain(before).collect();
            if !(least..=most.len()).contains(&(count as usize)) {
                // Too many were deleted at no time; too few may be what was left out before.
                let anew = count as usize > most.len() || most.iter().any(|path| now.contains(*path));
                found.push((miscounted(count, &most), anew));
            } else {
                owed.retain(|path, kind| !is_gone(*kind) || wrong.contains(path));
            }
        }
        let silent =
            owed.iter().filter(|(path, kind)| !wrong.contains(path) && (counted.is_none() || !is_gone(**kind)));
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
