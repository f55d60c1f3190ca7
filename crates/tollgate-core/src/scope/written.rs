//! What a tool or a person writes, and no program: lock files, fixtures and snapshots, prose.

use std::collections::BTreeSet;

use super::change::{Change, Hunk, Kind, Sign};
use super::incidental::{Criteria, by_size, no, quoted, unknown, whole, yes};
use super::locked;
use super::named::manifests;
use super::names::{Known, Names};
use super::words::{Language, words};
use crate::Name;

pub fn lock(change: &Change<'_>, hunks: &[Hunk<'_>], names: &Names<'_>) -> Criteria {
    let wanted = manifests(&change.path).unwrap_or_default();
    let required = match names.changed_manifest(&change.path, wanted) {
        Some(manifest) => yes(format!("{manifest}, from which it is written, changes in scope")),
        None => no(format!("no {} beside it or below it changes in scope", wanted.join(" or "))),
    };
    let written = "a lock file, written by a tool";
    let minimal = whole(change).filter(|_| change.kind() == Kind::Deleted).unwrap_or_else(|| yes(written));
    let open = match change.kind() {
        Kind::Modified => change.mode().map(str::to_owned).or_else(|| locked::open(&change.path, hunks)),
        // There is nothing to hold its sources against.
        _ => Some("whence it fetches was written nowhere before".to_owned()),
    };
    let same = || yes(format!("{written}: it fetches whence it did, and a hash changes with its version"));
    Criteria { minimal, required, unaltered: open.map_or_else(same, unknown) }
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
        lines.flat_map(|(_, line)| words(line, language)).collect()
    };
    let (before, now) = (side(Sign::Removed), side(Sign::Added));
    let mut differing = before.symmetric_difference(&now);
    let structural = differing.find_map(|word| Some((*word, structural(word, names)?)));
    let required = match (belongs, structural) {
        (true, _) => yes("it is the snapshot of a test that changes in scope"),
        (false, Some((word, by))) => {
            yes(format!("it shows {}, which the change in {by} brings or takes away", quoted(word)))
        }
        (false, None) => unknown("it names nothing that the change in scope brings or takes away"),
    };
    let size = change.lines().map_or(0, |(added, removed)| added + removed);
    let minimal = match change.kind() {
        Kind::Deleted => no("the whole file is removed"),
        Kind::Added if !belongs => no("a new fixture"),
        _ if belongs => yes("a snapshot, which shows what the code gives"),
        _ => by_size(size),
    };
    let other = || hunks.iter().find_map(|hunk| other_value(hunk, names, language)).filter(|_| !belongs);
    let mode = change.mode().map(str::to_owned);
    let unaltered = mode.or_else(other).map_or_else(|| yes("a snapshot or fixture, without logic"), unknown);
    Criteria { minimal, required, unaltered }
}

/// The file in scope that brings a word or takes it away.
fn structural<'n>(word: &str, names: &Names<'n>) -> Option<&'n Name> {
    match names.knows(word)? {
        Known::Brought(by) | Known::Gone(by) | Known::Fresh(by) => Some(by),
        Known::File(_) | Known::Redefined(_) | Known::Touched(_) => None,
    }
}

/// A line that came or went although it shows nothing of what the change in scope brings or takes away.
fn other_value(hunk: &Hunk<'_>, names: &Names<'_>, language: Language) -> Option<String> {
    // The last line before a new one gets a comma; brackets go with what stands in them.
    let bare = |line: &str| language.squeezed(line).trim_end_matches(',').to_owned();
    let is_other = |line: &&str| {
        let empty = line.chars().all(|c| c.is_whitespace() || "{}[](),;".contains(c));
        !empty && !words(line, language).any(|word| structural(word, names).is_some())
    };
    let groups = hunk.lines.split(|(sign, _)| *sign == Sign::Kept);
    groups.into_iter().find_map(|group| {
        let side = |wanted| -> Vec<&str> {
            let lines = group.iter().filter(|(sign, _)| *sign == wanted).map(|(_, line)| line.as_ref());
            lines.filter(is_other).collect()
        };
        let (before, now) = (side(Sign::Removed), side(Sign::Added));
        let same = before.iter().map(|line| bare(line)).eq(now.iter().map(|line| bare(line)));
        let first = now.first().or(before.first()).filter(|_| !same)?;
        Some(format!("a value changes that no name of the change in scope stands beside: {}", quoted(first.trim())))
    })
}
