//! How one item of a task's lists is read: the paths that it names, and those that its words take out again.
//!
//! Whoever writes a list of paths writes sentences too: `Create` before a path in backticks, `except` behind a folder, a list
//! below an item. What such words mean for a path is read here; what cannot be read is never taken to list or to exclude.

use std::borrow::Cow;

use super::pattern_problem;
use super::refusing::{Refused, refused};

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
    /// Items of a list below it that stand for themselves.
    pub below: Vec<String>,
    /// What it names with words that refuse a change: listed it is not, and excluded it may be.
    pub refused: Vec<String>,
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
        let mut item = Self::meant(without_mark(&head), below.clone());
        // Items below that stand for themselves are read alone.
        let remarks = if item.below.is_empty() { &below[..] } else { &[] };
        let own = |item: &Self, path: &String| item.apart.contains(path);
        match refused(&head, remarks) {
            None => {}
            Some(Refused::Part) => item.is_narrowed = true,
            Some(Refused::Paths(paths)) => {
                item.paths.retain(|path| !paths.contains(path));
                item.only.retain(|path| !paths.contains(path));
                item.refused = paths.into_iter().filter(|path| !own(&item, path)).collect();
            }
            Some(Refused::All) => {
                let mut named = std::mem::take(&mut item.paths);
                named.append(&mut item.only);
                // `Do not touch:` speaks of the list below it.
                for inner in std::mem::take(&mut item.below).iter().map(|text| Self::listed(text)) {
                    named.extend([inner.paths, inner.only, inner.refused].concat());
                }
                let paths = mentions(&head, false);
                let is_clear = !paths.is_empty() && paths.iter().all(|path| own(&item, path));
                named.extend(paths);
                named.retain(|path| !is_clear && !own(&item, path));
                item.refused = named;
            }
        }
        item
    }

    fn meant(head: &str, below: Vec<String>) -> Self {
        let near = |cut: &Cut| {
            let words: Vec<&str> = head[cut.end..].split_whitespace().take(2).collect();
            !mentions(&words.join(" "), false).is_empty()
        };
        let perhaps = find(head, APART_PERHAPS, false).filter(near);
        let apart = find(head, APART, false).into_iter().chain(perhaps).min();
        let only = find(head, &["only"], true);
        let cut = match (apart, only) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let Some(cut) = cut else {
            let mut item = Self::about(head);
            match begins_with_path(head) {
                true => item.only = paths_in(&below),
                false => item.below = below,
            }
            return item;
        };
        let mut item =
            Self::about(head[..cut.start].trim_end_matches(|c: char| !c.is_alphanumeric() && !is_of_path(c)));
        let mut tail = mentions(&head[cut.end..], true);
        tail.extend(paths_in(&below));
        match (only == Some(cut), tail.is_empty()) {
            (true, false) => item.only = tail,
            (false, false) => item.apart = tail,
            (is_only, true) => {
                let words = head[cut.end..].contains(char::is_alphanumeric);
                item.is_narrowed = words && (is_only || find(head, APART, false) == Some(cut));
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
        match stays.is_empty() {
            true => item.below = below,
            false => item.apart.extend(paths_in(&below)),
        }
        item
    }

    fn about(head: &str) -> Self {
        let named = if begins_with_path(head) { Vec::new() } else { spans_anywhere(head) };
        let named: Vec<String> = named.into_iter().filter(|name| is_path(name)).map(str::to_owned).collect();
        let paths = if named.is_empty() && !head.is_empty() { paths_of(head) } else { named };
        Self { paths, ..Self::default() }
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
fn mentions(text: &str, plain: bool) -> Vec<String> {
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

fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

fn is_of_path(c: char) -> bool {
    matches!(c, '*' | '/' | '`' | ']' | '}' | '"' | '?' | '_')
}

/// An item without what is said in brackets before its path: `(new) src/cart.ts`.
fn without_mark(item: &str) -> &str {
    let end = match item.trim_start().chars().next() {
        Some('(') => ") ",
        Some('[') => "] ",
        _ => return item,
    };
    let rest = item.split_once(end).map(|(_, rest)| rest.trim_start());
    rest.filter(|rest| begins_with_path(rest)).unwrap_or(item)
}

/// Whether an item begins with what it is about.
fn begins_with_path(item: &str) -> bool {
    let item = without_bold(item.trim());
    let first = item.split_whitespace().next().unwrap_or_default();
    item.starts_with(['`', '"', '[']) || first.contains(['/', '*']) || super::task::is_file(bare_word(first))
}

const REMARKS: [&str; 6] = [" (", " — ", " – ", " -- ", " - ", ": "];

/// An item up to its remark.
fn before_remark(item: &str) -> &str {
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
    if let Some(quoted) = item.strip_prefix('"') {
        let end = quoted.match_indices('"').find(|(at, _)| !quoted[..*at].ends_with('\\')).map(|(at, _)| at);
        if let Some(inside) = end.map(|end| &quoted[..end]) {
            // In git's own quotes a name stays as it is; others are a person's.
            let name = if inside.contains('\\') { format!("\"{inside}\"") } else { inside.to_owned() };
            return vec![name];
        }
    }
    let remark = REMARKS.iter().filter_map(|mark| item.find(mark)).min();
    let mut parts = item[..remark.unwrap_or(item.len())].split(", ");
    let whole = parts.next().unwrap_or_default().trim_end_matches([':', ',', ';']).trim();
    let word = whole.split_whitespace().next().unwrap_or_default();
    let mut paths = vec![whole.to_owned()];
    if word != whole {
        paths.push(word.to_owned());
    }
    paths.extend(joined(whole).into_iter().skip(1).map(str::to_owned));
    // Several paths, as far as what follows a comma looks like one.
    let looks_like_one = |part: &&str| !part.contains(char::is_whitespace) && part.contains(['/', '.']);
    if !whole.contains('{') && whole.contains(',') && whole.split(',').all(|part| looks_like_one(&part)) {
        paths.extend(whole.split(',').map(str::to_owned));
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
fn joined(words: &str) -> Vec<&str> {
    let parts: Vec<&str> = words.split(" and ").flat_map(|part| part.split(" & ")).map(str::trim).collect();
    if parts.len() > 1 && parts.iter().all(|part| is_path(part)) { parts } else { Vec::new() }
}

/// The words of a link that an item begins with, and what follows them.
fn link(item: &str) -> Option<(&str, &str)> {
    without_bold(item.trim()).strip_prefix('[').and_then(|link| link.split_once("]("))
}

/// The words of an item that begins in bold; `**` is also a glob.
fn without_bold(item: &str) -> &str {
    let bold = item.strip_prefix("**").and_then(|rest| rest.split_once("**"));
    bold.map(|(words, _)| words).filter(|words| !words.is_empty() && !words.starts_with('/')).unwrap_or(item)
}

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
    let others = [&item.mentioned, &item.below, &item.only, &item.doubtful, &item.refused, &item.apart];
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

/// The code spans at the beginning of an item, as far as only commas and `and` stand between them.
fn spans(item: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = item;
    while rest.starts_with('`') {
        let ticks = rest.len() - rest.trim_start_matches('`').len();
        let (fence, inside) = rest.split_at(ticks);
        let Some((name, after)) = inside.split_once(fence) else { break };
        let bare = name.strip_prefix(' ').and_then(|name| name.strip_suffix(' ')).unwrap_or(name);
        found.push(bare.to_owned());
        let next = after.trim_start_matches([',', ' ', '&', '+']);
        rest = next.strip_prefix("and ").unwrap_or(next).trim_start();
    }
    if found.is_empty() { vec![item.trim_matches('`').to_owned()] } else { found }
}
