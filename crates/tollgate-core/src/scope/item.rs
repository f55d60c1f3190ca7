//! How one item of a task's lists is read: the paths that it names, and those that its words take out again.
//!
//! Whoever writes a list of paths writes sentences too: `Create` before a path in backticks, `except` behind a folder, a list
//! below an item. What such words mean for a path is read here; what cannot be read is never taken to list or to exclude.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::alone::names_alone;
use super::behind::{behind_paths, emphasised, listed_behind, spans, without_states};
use super::described::{Said, is_lead_of_all, limits_more, said};
use super::labelled::{Label, label};
use super::leading::{led, remarks_in};
use super::pattern_problem;
use super::refusing::{Refused, refused};
use super::task::is_folder;

/// What an item names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Item {
    /// The paths that it is about; those that can hold nothing are wrong.
    pub paths: Vec<String>,
    /// Paths that only its words name.
    pub mentioned: Vec<String>,
    /// What is taken out of them: `except`, `but not`.
    pub apart: Vec<String>,
    /// What alone is meant of them: `only`, or a list below the item.
    pub only: Vec<String>,
    /// Words take something out of them, and do not say which path.
    pub is_narrowed: bool,
    /// What it may exclude or not: the target of a link, a path behind `only`.
    pub doubtful: Vec<String>,
    /// Words alone that may be the name of something.
    pub alone: Vec<String>,
    /// Items of a list below it that stand for themselves.
    pub below: Vec<String>,
    /// What it names with words that refuse a change: listed it is not, and excluded it may be.
    pub refused: Vec<String>,
    /// Paths that it names, and of which it does not say that they are changed.
    pub pointed: Vec<String>,
    /// It is a folder, and what stands below it lies there.
    pub is_above: bool,
    /// The words around what it is about, which may mean a part of it.
    around: Around,
}

/// Words around the paths of an item.
#[derive(Debug, Default, PartialEq, Eq)]
struct Around {
    before: String,
    behind: String,
    /// They stand around a word that may be a path or not: `Modify: src/cart.ts`.
    is_loose: bool,
}

/// Words that take something out of what is listed; the second ones do when a path follows.
const APART: &[&str] = &[
    "except",
    "excepting",
    "excluding",
    "excludes",
    "exclude",
    "but not",
    "other than",
    "apart from",
    "aside from",
    "without",
    "minus",
];
const APART_PERHAPS: &[&str] = &["but", "not"];
/// Words behind which stands what is not excluded.
const STAYS: &[&str] = &[
    "except",
    "excepting",
    "excluding",
    "other than",
    "apart from",
    "aside from",
    "besides",
    "beyond",
    "outside",
    "but",
    "not in",
    "not named",
];

impl Item {
    /// Reads an item of In Scope.
    pub fn listed(text: &str) -> Self {
        let (head, below) = with_list(text);
        let head = without_states(&head);
        let mut item = Self::meant(without_mark(&head), below.clone());
        // Items below that stand for themselves are read alone.
        let remarks = if item.below.is_empty() { &below[..] } else { &[] };
        let own = |item: &Self, path: &String| item.apart.contains(path);
        let label = label(&head, &item.below);
        match Some(Refused::All).filter(|_| label == Label::Refuses).or_else(|| refused(&head, remarks)) {
            None => {}
            Some(Refused::Part) => item.is_narrowed = true,
            Some(Refused::Paths(paths)) => {
                item.pointed.retain(|path| !paths.contains(path));
                item.paths.retain(|path| !paths.contains(path));
                item.only.retain(|path| !paths.contains(path));
                item.refused = paths.into_iter().filter(|path| !own(&item, path)).collect();
            }
            Some(Refused::All) => {
                let mut named = std::mem::take(&mut item.paths);
                named.append(&mut item.only);
                named.append(&mut item.pointed);
                // `Do not touch:` speaks of the list below it.
                named.extend(std::mem::take(&mut item.below).iter().flat_map(|text| Self::listed(text).all()));
                let paths = mentions(&head, false);
                let is_clear = !paths.is_empty() && paths.iter().all(|path| own(&item, path));
                named.extend(paths);
                named.retain(|path| !is_clear && !own(&item, path));
                item.refused = named;
            }
        }
        if label == Label::Points {
            item.paths.clear();
            for text in std::mem::take(&mut item.below) {
                let named = Self::listed(&text).all().into_iter();
                item.pointed.extend(named.filter(|path| is_path(path) || *path == text));
            }
        }
        item.describe();
        item
    }

    /// All that an item of In Scope names.
    fn all(self) -> Vec<String> {
        [self.paths, self.only, self.refused, self.pointed].concat()
    }

    /// Reads the words around folders and patterns: those that do not describe them mean a part.
    fn describe(&mut self) {
        let around = std::mem::take(&mut self.around);
        let folders: Vec<String> = self.paths.iter().filter(|path| is_folder(path)).cloned().collect();
        if folders.is_empty() {
            return;
        }
        let known = self.refused.iter().chain(&self.apart).map(String::as_str).collect();
        match said(&around.behind, &folders, &known) {
            Said::Nothing => {}
            Said::Names(names) if !around.is_loose => {
                let meant: BTreeSet<&String> = names.iter().collect();
                self.pointed.retain(|path| !meant.contains(path));
                self.only.extend(names);
            }
            Said::Names(_) | Said::Part => self.is_narrowed = true,
        }
        self.is_narrowed |= !is_lead_of_all(&around.before, &folders);
    }

    fn meant(head: &str, below: Vec<String>) -> Self {
        // `Only` before everything is said of the whole list.
        let alone = ["Only ", "only ", "Just "].iter().find_map(|only| head.strip_prefix(only));
        let head = alone.filter(|rest| begins_with_path(rest)).unwrap_or(head);
        let near = |cut: &Cut| {
            let words: Vec<&str> = head[cut.end..].split_whitespace().take(2).collect();
            !mentions(&words.join(" "), false).is_empty()
        };
        let perhaps = find(head, APART_PERHAPS, false).filter(near);
        let apart = find(head, APART, false).into_iter().chain(perhaps).min();
        // `Tests only:` is a label.
        let is_label = |cut: &Cut| !begins_with_path(head) && head[..cut.end].ends_with(':');
        let only = find(head, &["only"], true).filter(|cut| !is_label(cut));
        let cut = match (apart, only) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let Some(cut) = cut else {
            let mut item = Self::about(head);
            let named = paths_in(&below);
            let is_name = is_plain(head.trim_end_matches(':'));
            match (begins_with_path(head), named.is_empty()) {
                (true, false) => item.only = named,
                (false, false) => (item.is_above, item.below) = (is_name, below),
                // Without a path below it, those are words about it.
                (_, true) if begins_with_path(head) || is_name => {
                    item.around.behind = [&[item.around.behind], &below[..]].concat().join("; ");
                }
                (_, true) => item.below = below,
            }
            return item;
        };
        let mut item =
            Self::about(head[..cut.start].trim_end_matches(|c: char| !c.is_alphanumeric() && !is_of_path(c)));
        item.is_narrowed = limits_more(&head[cut.end..]);
        let mut tail = mentions(&head[cut.end..], true);
        tail.extend(paths_in(&below));
        match (only == Some(cut), tail.is_empty()) {
            (true, false) => item.only = tail,
            (false, false) => item.apart = tail,
            (is_only, true) => {
                let words = head[cut.end..].contains(char::is_alphanumeric);
                item.is_narrowed |= words && (is_only || find(head, APART, false) == Some(cut));
            }
        }
        item
    }

    /// Reads an item of Out of Scope.
    pub fn excluded(text: &str) -> Self {
        let (head, below) = with_list(text);
        let head = without_mark(&head);
        let (about, stays) = match find(head, STAYS, false) {
            Some(cut) => (&head[..cut.start], &head[cut.end..]),
            None => (head, ""),
        };
        let (about, only) = match find(about, &["only"], true) {
            Some(cut) => (&about[..cut.start], &about[cut.end..]),
            None => (about, ""),
        };
        let mut item = Self { paths: paths_of(about), apart: mentions(stays, false), ..Self::default() };
        let target = link(about).map(|(_, target)| target.split(')').next().unwrap_or_default());
        item.doubtful = mentions(only, false);
        item.doubtful.extend(target.filter(|target| is_path(target)).map(str::to_owned));
        // Behind a path stands a remark.
        let words = if begins_with_path(about) { before_remark(about) } else { about };
        item.mentioned = mentions(words, false);
        // Before a path, or above a list of them, it is a label.
        let remark = &about[before_remark(about).len()..];
        if mentions(remark, false).is_empty() && item.doubtful.is_empty() && paths_in(&below).is_empty() {
            item.alone = names_alone(about);
        }
        match stays.is_empty() {
            true => item.below = below,
            false => item.apart.extend(paths_in(&below)),
        }
        item
    }

    fn about(head: &str) -> Self {
        let named = if begins_with_path(head) { Vec::new() } else { led(head) };
        let Some(first) = named.first() else {
            let paths = if head.is_empty() { Vec::new() } else { paths_of(head) };
            // Of prose, nothing is read.
            let is_loose = !begins_with_path(head);
            let behind = if is_loose && paths.len() > 1 { "" } else { behind_paths(head) };
            let around = Around { behind: behind.to_owned(), is_loose, ..Around::default() };
            let pointed = if is_loose { Vec::new() } else { listed_behind(behind) };
            let own: BTreeSet<&String> = paths.iter().collect();
            let pointed = pointed.into_iter().filter(|path| !own.contains(path)).collect();
            return Self { paths, pointed, around, ..Self::default() };
        };
        let last = head.rsplit('`').next().filter(|_| named.last().is_some_and(|one| one.is_meant));
        let mut behind: Vec<&str> = named.iter().skip(1).flat_map(|one| remarks_in(&one.lead)).collect();
        behind.extend(last);
        let around = Around { before: first.lead.clone(), behind: behind.join("; "), is_loose: false };
        let (meant, pointed): (Vec<_>, Vec<_>) = named.into_iter().partition(|one| one.is_meant);
        let paths = |all: Vec<super::leading::Led>| all.into_iter().map(|one| one.path).collect();
        Self { paths: paths(meant), pointed: paths(pointed), around, ..Self::default() }
    }
}

/// Where words stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cut {
    start: usize,
    end: usize,
}

/// The first of some words outside of backticks; where they begin a clause, if they must.
fn find(text: &str, wanted: &[&str], begins_clause: bool) -> Option<Cut> {
    const AROUND: &[char] = &['(', ')', '[', ']', ',', ';', ':', '.', '—', '–', '"', '*'];
    let mut in_code = false;
    let mut before: Option<(&str, &str, usize)> = None;
    let mut next = 0;
    for part in text.split_inclusive(char::is_whitespace) {
        let (at, word) = (next, part.trim_end());
        next += part.len();
        if word.is_empty() {
            continue;
        }
        let ticks = word.matches('`').count();
        if !in_code && ticks == 0 {
            let bare = word.trim_matches(AROUND);
            let is = |phrase: &str| match phrase.split_once(' ') {
                None => bare.eq_ignore_ascii_case(phrase),
                Some((first, second)) => {
                    bare.eq_ignore_ascii_case(second)
                        && before.is_some_and(|(_, word, _)| word.eq_ignore_ascii_case(first))
                }
            };
            let fits = wanted.iter().find(|phrase| is(phrase));
            let clause = word.starts_with('(')
                || before.is_some_and(|(whole, bare, at)| {
                    at == 0 || bare.is_empty() || bare == "-" || whole.ends_with([',', ';', ':'])
                });
            if let Some(phrase) = fits.filter(|_| !begins_clause || clause) {
                let start = before.filter(|_| phrase.contains(' ')).map_or(at, |(_, _, at)| at);
                return Some(Cut { start, end: at + word.len() });
            }
            before = Some((word, bare, at));
        } else {
            before = Some((word, word, at));
        }
        in_code ^= ticks % 2 == 1;
    }
    None
}

/// Tags that are written for backticks.
const CODE: [&str; 2] = ["<code>", "</code>"];

/// An item in one line, and the items of the list below it.
fn with_list(text: &str) -> (String, Vec<String>) {
    let mut lines = vec![String::new()];
    let text = CODE.iter().fold(Cow::Borrowed(text), |text, tag| match text.contains(tag) {
        true => text.replace(tag, "`").into(),
        false => text,
    });
    for line in text.lines() {
        let bare = line.trim();
        let marked = ["- ", "* ", "+ "].iter().find_map(|mark| bare.strip_prefix(mark));
        match (marked, lines.last_mut()) {
            (Some(item), _) => lines.push(item.trim().to_owned()),
            (None, Some(last)) if last.is_empty() => bare.clone_into(last),
            (None, Some(last)) => {
                last.push(' ');
                last.push_str(bare);
            }
            (None, None) => {}
        }
    }
    let head = lines.remove(0);
    (head, lines)
}

fn paths_in(items: &[String]) -> Vec<String> {
    items.iter().flat_map(|item| mentions(before_remark(item), true)).collect()
}

/// The paths that words name, in backticks and without; what stands in backticks may be a plain name where a folder is told before.
pub(super) fn mentions(text: &str, plain: bool) -> Vec<String> {
    let code = spans_anywhere(text);
    let fits = |name: &&str| is_path(name) || (plain && is_plain(name));
    let mut found: Vec<String> = code.iter().copied().filter(fits).map(str::to_owned).collect();
    let outside = text.split('`').step_by(2).flat_map(str::split_whitespace);
    let words = outside.map(bare_word).filter(|word| is_path(word));
    found.extend(words.map(str::to_owned));
    found
}

/// A word without what a sentence puts around it.
pub(super) fn bare_word(word: &str) -> &str {
    let bold = word.strip_prefix("**").and_then(|word| word.strip_suffix("**")).filter(|word| !word.starts_with('/'));
    let word = bold.unwrap_or(word);
    word.trim_start_matches(['(', '[', '"', '\'', '<'])
        .trim_end_matches([')', ']', '"', '\'', '>', ',', ';', ':', '.', '!'])
}

/// Whether a word can only be meant as a path.
pub(super) fn is_path(word: &str) -> bool {
    let shaped = word.contains(['/', '*']) || super::task::is_file(word);
    let speaks =
        word.contains(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>' | '=' | ';' | '"' | '#'));
    shaped && !speaks && !word.contains("//") && pattern_problem(&super::task::literal_brackets(word)).is_none()
}

pub(super) fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

fn is_of_path(c: char) -> bool {
    matches!(c, '*' | '/' | '`' | ']' | '}' | '"' | '?' | '_')
}

/// An item without what is said in brackets before its path: `(new) src/cart.ts`.
pub(super) fn without_mark(item: &str) -> &str {
    let end = match item.trim_start().chars().next() {
        Some('(') => ") ",
        Some('[') => "] ",
        _ => return item,
    };
    let rest = item.split_once(end).map(|(_, rest)| rest.trim_start());
    rest.filter(|rest| begins_with_path(rest)).unwrap_or(item)
}

/// Whether an item begins with what it is about.
pub(super) fn begins_with_path(item: &str) -> bool {
    let item = without_bold(item.trim());
    let first = item.split_whitespace().next().unwrap_or_default();
    item.starts_with(['`', '"', '[']) || first.contains(['/', '*']) || super::task::is_file(bare_word(first))
}

pub(super) const REMARKS: [&str; 6] = [" (", " — ", " – ", " -- ", " - ", ": "];

/// An item up to its remark.
pub(super) fn before_remark(item: &str) -> &str {
    let from = item.strip_prefix('`').and_then(|rest| rest.find('`')).map_or(0, |end| end + 2);
    let remark = REMARKS.iter().filter_map(|mark| item[from..].find(mark)).min();
    &item[..remark.map_or(item.len(), |remark| from + remark)]
}

/// The code spans of an item.
fn spans_anywhere(item: &str) -> Vec<&str> {
    item.split('`').skip(1).step_by(2).map(str::trim).filter(|span| !span.is_empty()).collect()
}

/// The paths of a value that names files: several in one line, or as a list below it.
pub(super) fn files_of(text: &str) -> Vec<String> {
    let (head, below) = with_list(text);
    let mut found = Vec::new();
    for item in std::iter::once(&head).chain(&below).filter(|item| !item.is_empty()) {
        let paths = paths_of(item);
        if item.starts_with('`') {
            found.extend(paths);
            continue;
        }
        let parts: Vec<&str> =
            before_remark(item).split(" and ").flat_map(|part| part.split(',')).map(str::trim).collect();
        match parts.len() > 1 && parts.iter().all(|part| is_path(part)) {
            true => found.extend(parts.into_iter().map(str::to_owned)),
            false => found.extend(paths.into_iter().next()),
        }
    }
    found
}

/// The paths that an item names: in backticks, or up to a remark; then also its first word alone.
pub(super) fn paths_of(item: &str) -> Vec<String> {
    let item = without_bold(item.trim());
    // A link is known by its words.
    let item = link(item).map_or(item, |(words, _)| words);
    if item.starts_with('`') {
        return spans(item);
    }
    let quoted = item.strip_prefix('\'').and_then(|quoted| quoted.split_once('\''));
    if let Some((name, _)) = quoted.filter(|(name, _)| is_path(name)) {
        return vec![name.to_owned()];
    }
    if let Some(quoted) = item.strip_prefix('"') {
        let end = quoted.match_indices('"').find(|(at, _)| !quoted[..*at].ends_with('\\')).map(|(at, _)| at);
        if let Some(inside) = end.map(|end| &quoted[..end]) {
            // In git's own quotes a name stays as it is; others are a person's.
            let name = if inside.contains('\\') { format!("\"{inside}\"") } else { inside.to_owned() };
            return vec![name];
        }
    }
    let remark = REMARKS.iter().filter_map(|mark| item.find(mark)).min();
    let item = item[..remark.unwrap_or(item.len())].replace("; ", ", ");
    let mut parts = item.split(", ");
    let whole = parts.next().unwrap_or_default().trim_end_matches([':', ',', ';']).trim();
    let word = whole.split_whitespace().next().unwrap_or_default();
    let mut paths = vec![whole.to_owned()];
    if word != whole {
        paths.push(word.to_owned());
    }
    paths.extend(joined(whole).into_iter().skip(1).map(str::to_owned));
    // Several paths, as far as what follows a comma looks like one.
    let looks_like_one = |part: &&str| !part.contains(char::is_whitespace) && part.contains(['/', '.']);
    let is_list = !whole.contains('{') && whole.contains([',', ';']);
    if is_list && whole.split([',', ';']).all(|part| looks_like_one(&part)) {
        paths.extend(whole.split([',', ';']).map(str::to_owned));
    }
    for part in parts.map(|part| part.trim().trim_end_matches([',', ';'])) {
        let part = part.strip_prefix("and ").unwrap_or(part);
        let named = if looks_like_one(&part) { vec![part] } else { joined(part) };
        if named.is_empty() {
            break;
        }
        paths.extend(named.into_iter().map(str::to_owned));
    }
    paths
}

/// The paths between which `and` stands, where all of them are such.
pub(super) fn joined(words: &str) -> Vec<&str> {
    let parts: Vec<&str> = words
        .split(" and ")
        .flat_map(|part| part.split(" & "))
        .flat_map(|part| part.split(" + "))
        .map(str::trim)
        .collect();
    if parts.len() > 1 && parts.iter().all(|part| is_path(part)) { parts } else { Vec::new() }
}

/// The words of a link that an item begins with, and what follows them.
pub(super) fn link(item: &str) -> Option<(&str, &str)> {
    without_bold(item.trim()).strip_prefix('[').and_then(|link| link.split_once("]("))
}

/// The words of an item that begins in bold or italics.
pub(super) fn without_bold(item: &str) -> &str {
    emphasised(item).map_or(item, |(words, _)| words)
}
