//! One entry of a list: a file, or a row with its mark; and how many files there are.

use super::document::{CoverageRow, FileCounts, FileEntry, Mark};
use crate::contract::text::says_none;

/// What may stand between a name and the words about it.
pub(super) fn after_separator(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '—' | '–' | '-' | ':' | '·' | ','))
}

/// The files of an entry, one or several in a row, and what is said of them, which stands with the first. None where it names no file.
pub(super) fn files(text: &str) -> Vec<FileEntry> {
    let Some((first, mut rest)) = path(text) else { return Vec::new() };
    let (mut paths, mut behind) = (vec![first], rest);
    // Behind a name that is a bare word, others are names too; behind a path such a word may be what was changed in it.
    let bare = text.starts_with('`') && is_word(first);
    while let Some((path, next)) = another(behind, bare) {
        paths.push(path);
        behind = next;
    }
    // In a sentence that goes on, the others are a part of what is said of the first.
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(['—', '–', '-', ':', '·', '(']);
    match ends(behind.trim_start()) {
        true => rest = behind,
        false => paths.truncate(1),
    }
    // Not with each: many names and a long note would be many long notes.
    let mut note = after_separator(rest).trim();
    paths
        .into_iter()
        .map(|path| FileEntry { path: path.to_owned(), note: std::mem::take(&mut note).to_owned() })
        .collect()
}

/// The path that a text begins with, and what stands behind it.
fn path(text: &str) -> Option<(&str, &str)> {
    let (path, rest) = match text.strip_prefix('`') {
        Some(quoted) => quoted.split_once('`')?,
        None => {
            let word = &text[..text.find(char::is_whitespace).unwrap_or(text.len())];
            text.split_at(word.trim_end_matches([':', ',']).len())
        }
    };
    (!path.trim().is_empty() && !path.contains('\n')).then_some((path, rest))
}

/// Whether a name is a bare word: no path, no call (`run()`) and nothing of a module (`cart::total`).
fn is_word(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Files that have a bare word for their name wherever they are.
const FILES: [&str; 8] = ["AUTHORS", "CHANGELOG", "CODEOWNERS", "COPYING", "LICENSE", "NOTICE", "README", "VERSION"];

/// The next path of a row. A word is one only where nobody takes it for anything else.
fn another(rest: &str, bare: bool) -> Option<(&str, &str)> {
    let rest = rest.trim_start();
    let joined = ["and ", ",", "&", "+"].iter().find_map(|sign| rest.strip_prefix(sign))?.trim_start();
    let joined = joined.strip_prefix("and ").map_or(joined, str::trim_start);
    let is_file = |word: &str| is_word(word) && (bare || word.ends_with("file") || FILES.contains(&word));
    let is_path = |path: &str| path.contains('/') || (joined.starts_with('`') && (path.contains('.') || is_file(path)));
    path(joined).filter(|(path, _)| is_path(path) && !says_none(path))
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
