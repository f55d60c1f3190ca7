//! What a tool or a person writes, and no program: lock files, fixtures and snapshots, prose.

use std::collections::BTreeSet;

use super::change::{Change, Hunk, Kind, Sign};
use super::incidental::{Criteria, by_size, no, quoted, unknown, whole, yes};
use super::names::{Known, Names};
use super::words::{Language, manifests};

pub fn lock(change: &Change<'_>, names: &Names<'_>) -> Criteria {
    let wanted = manifests(&change.path).unwrap_or_default();
    let required = match wanted.iter().find(|manifest| names.changed_file(manifest)) {
        Some(manifest) => yes(format!("{manifest}, from which it is written, changes in scope")),
        None => no(format!("no {} changes in scope", wanted.join(" or "))),
    };
    let written = "a lock file, written by a tool";
    let minimal = whole(change).filter(|_| change.kind() == Kind::Deleted).unwrap_or_else(|| yes(written));
    Criteria { minimal, required, unaltered: yes(format!("{written}: it holds no logic of its own")) }
}

pub fn prose(change: &Change<'_>, names: &Names<'_>) -> Criteria {
    let required = match names.names_file(&change.path) {
        Some(by) => unknown(format!("the change in {by} names it")),
        None => no("text for people: nothing in scope works or fails by it"),
    };
    let size = change.lines().map_or(0, |(added, removed)| added + removed);
    let minimal = whole(change).unwrap_or_else(|| by_size(size));
    Criteria { minimal, required, unaltered: yes("text for people, without logic") }
}

pub fn fixture(change: &Change<'_>, hunks: &[Hunk<'_>], names: &Names<'_>, language: Language) -> Criteria {
    let belongs = names.changed_test_of(&change.path);
    let side = |wanted| -> BTreeSet<&str> {
        let lines = hunks.iter().flat_map(|hunk| &hunk.lines).filter(|(sign, _)| *sign == wanted);
        lines.flat_map(|(_, line)| super::words::words(line, language)).collect()
    };
    let (before, now) = (side(Sign::Removed), side(Sign::Added));
    let structural = before.symmetric_difference(&now).find_map(|word| match names.knows(word) {
        Some(Known::Brought(by) | Known::Gone(by) | Known::Fresh(by)) => Some((*word, by)),
        Some(Known::File(_) | Known::Redefined(_) | Known::Touched(_)) | None => None,
    });
    let required = match (belongs, structural) {
        (true, _) => yes("it is the snapshot of a test that changes in scope"),
        (false, Some((word, by))) => {
            yes(format!("it shows {}, which the change in {by} brings or takes away", quoted(word)))
        }
        (false, None) => unknown("it names nothing that the change in scope brings or takes away"),
    };
    let minimal = match change.kind() {
        Kind::Deleted => no("the whole file is removed"),
        Kind::Added if !belongs => no("a new fixture"),
        _ => yes("a snapshot or fixture, which shows what the code gives"),
    };
    Criteria { minimal, required, unaltered: yes("a snapshot or fixture, without logic") }
}
