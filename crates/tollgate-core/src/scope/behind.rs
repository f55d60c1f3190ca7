//! Where the paths end that an item of a task's lists begins with, and its words begin.

use std::borrow::Cow;

use super::item::{REMARKS, bare_word, is_path, joined, link};
use super::leading::without_remarks;
use super::task::is_file;

/// The words of an item that begins in bold or italics, and what follows; `**` is also a glob, and `__tests__` a folder.
pub(super) fn emphasised(item: &str) -> Option<(&str, &str)> {
    let bold = item.strip_prefix("**").and_then(|rest| rest.split_once("**"));
    if let Some((words, rest)) = bold.filter(|(words, _)| !words.is_empty() && !words.starts_with('/')) {
        return Some((words, rest));
    }
    let mark = ["__", "_", "*"].into_iter().find(|mark| item.starts_with(mark)).filter(|_| !item.starts_with("**"))?;
    let inside = &item[mark.len()..];
    let ends =
        |at: &usize| !inside[at + mark.len()..].starts_with(|c: char| c.is_alphanumeric() || "/_*.-".contains(c));
    let end = inside.match_indices(mark).map(|(at, _)| at).find(ends)?;
    let (words, rest) = (&inside[..end], &inside[end + mark.len()..]);
    let names = words.starts_with('`') || (words.contains('/') && (is_file(words) || words.ends_with('/')));
    let is_name = words.starts_with(['/', '.']) || words.contains(mark);
    (names && !is_name).then_some((words, rest))
}

/// An item without the remarks between its paths that only say what becomes of each: `src/a.ts (new), src/b.ts`.
pub(super) fn without_states(head: &str) -> Cow<'_, str> {
    const STATES: &[&str] = &["new", "modified", "existing", "updated", "created", "changed", "edited"];
    let joints = [",", ";", " and", " &", " +"];
    let remarks =
        STATES.iter().flat_map(|state| joints.iter().map(move |joint| (format!(" ({state}){joint}"), *joint)));
    remarks.filter(|_| head.contains('(')).fold(Cow::Borrowed(head), |head, (remark, joint)| {
        if head.contains(&remark) { head.replace(&remark, joint).into() } else { head }
    })
}

/// Paths that go on with a list behind other words: they may be meant too.
pub(super) fn listed_behind(rest: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_joined = false;
    for (at, piece) in without_remarks(rest).split('`').enumerate() {
        if at % 2 == 1 {
            found.extend(Some(piece.trim().to_owned()).filter(|path| is_joined && is_path(path)));
            is_joined = false;
            continue;
        }
        for raw in piece.split_whitespace() {
            let bare = bare_word(raw);
            found.extend(Some(bare.to_owned()).filter(|path| is_joined && is_path(path)));
            is_joined = raw.ends_with([',', ';']) || matches!(raw, "|" | "+" | "/" | "&" | "or" | "and");
        }
    }
    found
}

/// What stands behind the paths that an item begins with.
pub(super) fn behind_paths(item: &str) -> &str {
    let item = item.trim();
    if let Some((words, rest)) = emphasised(item) {
        let inside = behind_paths(words);
        let marks = (item.len() - words.len() - rest.len()) / 2;
        return if inside.is_empty() { rest } else { &item[marks + words.len() - inside.len()..] };
    }
    if let Some((_, target)) = link(item) {
        return target.split_once(')').map_or("", |(_, rest)| rest);
    }
    if item.starts_with('`') {
        return spans_and_rest(item).1;
    }
    let quoted = |sign: char| item.strip_prefix(sign).and_then(|quoted| quoted.split_once(sign));
    if let Some((_, rest)) = quoted('"').or_else(|| quoted('\'')) {
        return rest;
    }
    let remark = REMARKS.iter().filter_map(|mark| item.find(mark)).min().unwrap_or(item.len());
    let end = [", ", "; "].iter().filter_map(|mark| item[..remark].find(mark)).min().unwrap_or(remark);
    let whole = &item[..end];
    let is_sign = |word: &str| !word.contains(char::is_alphanumeric);
    let is_name = whole.contains(' ')
        && !whole.contains("/ ")
        && !whole.split(' ').any(is_sign)
        && (is_file(whole) || whole.ends_with('/'));
    let first = match is_name && joined(whole).is_empty() {
        true => whole,
        false => item.split_whitespace().next().unwrap_or_default(),
    };
    let mut rest = &item[first.trim_end_matches([',', ';', ':']).len()..];
    loop {
        let next = rest.trim_start();
        let joint = next.strip_prefix([',', ';', '&', '+']).or_else(|| next.strip_prefix("and "));
        let Some(next) = joint.map(str::trim_start) else { return rest };
        let next = next.strip_prefix("and ").unwrap_or(next);
        let word = bare_word(next.split_whitespace().next().unwrap_or_default());
        if !is_path(word) || !next.starts_with(word) {
            return rest;
        }
        rest = &next[word.len()..];
    }
}

/// The code spans at the beginning of an item, as far as only commas and `and` stand between them.
pub(super) fn spans(item: &str) -> Vec<String> {
    let (found, _) = spans_and_rest(item);
    if found.is_empty() { vec![item.trim_matches('`').to_owned()] } else { found }
}

/// The same, and what stands behind them.
fn spans_and_rest(item: &str) -> (Vec<String>, &str) {
    let mut behind = item;
    let mut found = Vec::new();
    let mut rest = item;
    while rest.starts_with('`') {
        let ticks = rest.len() - rest.trim_start_matches('`').len();
        let (fence, inside) = rest.split_at(ticks);
        let Some((name, after)) = inside.split_once(fence) else { break };
        let bare = name.strip_prefix(' ').and_then(|name| name.strip_suffix(' ')).unwrap_or(name);
        found.push(bare.to_owned());
        behind = after;
        let next = after.trim_start_matches([',', ';', ' ', '&', '+']);
        rest = next.strip_prefix("and ").unwrap_or(next).trim_start();
    }
    (found, behind)
}
