//! One entry of a list, a row with its mark; and how many files there are.

use super::document::{CoverageRow, FileCounts, Mark};

/// What may stand between a name and the words about it.
pub(super) fn after_separator(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '—' | '–' | '-' | ':' | '·' | ','))
}

/// A row with its mark, wherever that stands.
pub(super) fn coverage_row(text: &str) -> Option<CoverageRow> {
    let (at, sign, mark) = text.char_indices().find_map(|(at, c)| Mark::of(c).map(|mark| (at, c, mark)))?;
    let before = text[..at].trim_end();
    let after = text[at + sign.len_utf8()..].trim_start_matches('\u{fe0f}').trim();
    // The mark may be a part of what is bold, or stand in brackets.
    let bold = if before == "**" { after.split_once("**") } else { None };
    let bold = bold.map(|(bold, rest)| format!("{}{rest}", bold.trim_start()));
    let (before, after) = match (&bold, before) {
        (Some(after), _) => ("", after.trim()),
        (None, "(" | "[") => ("", after.trim_start_matches([')', ']']).trim_start()),
        (None, before) => (before, after),
    };
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
