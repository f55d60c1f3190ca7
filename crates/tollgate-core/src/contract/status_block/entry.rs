//! One entry of a list: a file, or a row with its mark; and how many files there are.

use super::document::{CoverageRow, FileCounts, FileEntry, Mark};

/// What may stand between a name and the words about it.
pub(super) fn after_separator(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '—' | '–' | '-' | ':' | '·' | ','))
}

/// A file and what is said of it.
pub(super) fn file_entry(text: &str) -> Option<FileEntry> {
    let (path, rest) = match text.strip_prefix('`') {
        Some(quoted) => quoted.split_once('`')?,
        None => text.split_at(text.find(char::is_whitespace).unwrap_or(text.len())),
    };
    let path = if text.starts_with('`') { path } else { path.trim_end_matches(':') };
    let single = !path.trim().is_empty() && !path.contains('\n');
    single.then(|| FileEntry { path: path.to_owned(), note: after_separator(rest).trim().to_owned() })
}

/// A row with its mark, wherever that stands.
pub(super) fn coverage_row(text: &str) -> Option<CoverageRow> {
    let (at, sign, mark) = text.char_indices().find_map(|(at, c)| Mark::of(c).map(|mark| (at, c, mark)))?;
    let before = text[..at].trim_end();
    let after = text[at + sign.len_utf8()..].trim_start_matches('\u{fe0f}').trim();
    let joined = if before.is_empty() || after.is_empty() { "" } else { " " };
    Some(CoverageRow { mark, row: format!("{before}{joined}{after}") })
}

/// `1 created, 0 modified`, each once, in any order; deleted ones may be left out, and whether they are said is told.
pub(super) fn file_counts(value: &str) -> Option<(FileCounts, bool)> {
    let (mut created, mut modified, mut deleted) = (None, None, None);
    for part in value.split(',') {
        let (number, what) = part.trim().split_once(' ')?;
        let slot = match what.trim() {
            "created" => &mut created,
            "modified" => &mut modified,
            "deleted" => &mut deleted,
            _ => return None,
        };
        if slot.replace(number.parse().ok()?).is_some() {
            return None;
        }
    }
    Some((FileCounts { created: created?, modified: modified?, deleted: deleted.unwrap_or(0) }, deleted.is_some()))
}
