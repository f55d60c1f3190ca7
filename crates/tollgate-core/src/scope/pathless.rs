//! Items of a task's lists that name no path, and why.

use super::item::{Item, begins_with_path, is_path, link, mentions, without_bold, without_mark};

/// Why an item can hold no path, as far as its words say.
pub(super) fn names_no_path(text: &str, item: &Item, is_listed: bool) -> Option<&'static str> {
    let looks_like_one = |words: &str| words.contains(['/', '.', '*']);
    let paths = &item.paths;
    let numbered = |path: &String| {
        let (name, number) = path.rsplit_once(':').unwrap_or_default();
        let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '-');
        is_number && looks_like_one(name)
    };
    if paths.iter().any(numbered) {
        return Some("a scope holds whole files, without the number of a line");
    }
    if paths.iter().any(|path| path.starts_with('!')) {
        return Some("nothing is taken out by `!`; what is excluded stands under Out of Scope");
    }
    let elsewhere =
        |path: &String| path.starts_with("~/") || path.split_once(":/").is_some_and(|(word, _)| !word.contains('/'));
    if is_listed && paths.iter().any(elsewhere) {
        return Some("a path begins at the top of the repository");
    }
    let bare = without_bold(without_mark(text.trim()));
    if let Some((words, target)) = link(bare) {
        return (!looks_like_one(words) && looks_like_one(target)).then_some("a link is read by its words");
    }
    let others = [&item.mentioned, &item.below, &item.only, &item.doubtful, &item.refused, &item.apart, &item.pointed];
    let names = others.into_iter().any(|named| !named.is_empty());
    // What is listed is a path itself, not a sentence with one in it.
    let is_one = |path: &String| match is_listed {
        true => is_path(path.trim_end_matches('.')),
        false => looks_like_one(path),
    };
    let begins = is_listed && begins_with_path(bare);
    let marked = bare.starts_with(['`', '"']) || begins || paths.iter().any(is_one) || names;
    let behind = bare.split_once(": ").is_some_and(|(_, remark)| !mentions(remark, false).is_empty());
    match (marked || !(paths.len() > 1 || behind), is_listed) {
        (true, _) => None,
        (false, true) => Some("these words are no path; a path comes first, a remark after it"),
        (false, false) => Some("these words are no path, and exclude nothing"),
    }
}
