//! Items of Out of Scope that are nothing but names: `auth`, `` `migrations` ``, `migrations, auth (owned by #12)`.
//!
//! Such a word may be a subject or the name of a folder. As a path it excludes what is called so at the top; what else is called so is
//! for a person.

use super::behind::spans;
use super::item::{bare_word, before_remark, is_path, is_plain, without_bold};
use crate::contract::text::says_none;

/// Words that are no name, whatever they stand alone for.
const NO_NAMES: &[&str] = &["all", "anything", "else", "everything", "none", "nothing", "other", "others", "rest"];

/// The names that an item consists of, each a word alone: none where it is a sentence.
pub(super) fn names_alone(item: &str) -> Vec<String> {
    let item = without_bold(item.trim());
    if item.starts_with('`') {
        return spans(item).into_iter().filter(|name| is_name(name)).collect();
    }
    let parts = before_remark(item).split([',', ';', '&', '+']).flat_map(|part| part.split(" and "));
    let parts = parts.map(|part| bare_word(part.trim()).trim_start_matches("and ").trim());
    let names: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    match names.iter().all(|name| is_plain(name) || is_path(name)) {
        true => names.into_iter().filter(|name| is_name(name)).map(str::to_owned).collect(),
        false => Vec::new(),
    }
}

fn is_name(word: &str) -> bool {
    is_plain(word) && !is_path(word) && !says_none(word) && !NO_NAMES.contains(&word.to_ascii_lowercase().as_str())
}
