//! The files that an entry of a list names, and what is said of each.
//!
//! An entry is a name, or several in a row, and words about them. Words may stand before the first name; where they go on behind it and name
//! another file, nobody knows which of the two was touched: that is told, and neither is claimed.

use super::document::FileEntry;
use super::entry::after_separator;
use crate::contract::rows::unmarked;
use crate::contract::text::says_none;

/// What an entry names.
#[derive(Debug)]
pub(super) enum Named {
    /// These files. Words that go on behind the last may mean more of them.
    Files(Vec<FileEntry>, Goes),
    /// These two, and not in a row.
    Apart(String, String),
    Nothing,
}

/// Whether an entry says more than its files and a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goes {
    On,
    NotOn,
}

/// How a name is set off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signs {
    Code,
    Link,
    /// A word, in quotes or in bold or not.
    None,
}

/// A name in a text, and what stands behind it.
#[derive(Debug, Clone, Copy)]
struct Name<'t> {
    path: &'t str,
    rest: &'t str,
    signs: Signs,
}

pub(super) fn named(text: &str) -> Named {
    let text = undecorated(text);
    let Some((at, first)) = first(text) else { return Named::Nothing };
    // Behind a name that is a bare word, others are names too; behind a path such a word may be what was changed in it.
    let bare = first.signs == Signs::Code && is_word(first.path);
    let mut all = vec![(first.path, "")];
    let mut rest = first.rest;
    while let Some((remark, next)) = another(rest, bare) {
        all.last_mut().into_iter().for_each(|last| last.1 = remark);
        all.push((next.path, ""));
        rest = next.rest;
    }
    let goes = if ends(rest) { Goes::NotOn } else { Goes::On };
    let other = match goes {
        Goes::On => all.get(1).map(|(path, _)| *path).or_else(|| further(&first, rest)),
        // `Tests for src/a.rs: tests/a.rs`
        Goes::NotOn if at > 0 => name(after_separator(rest)).filter(is_sure).map(|other| other.path),
        Goes::NotOn => None,
    };
    if let Some(other) = other {
        return Named::Apart(first.path.to_owned(), other.to_owned());
    }
    // What is said of all stands with one: many names and a long note would be many long notes.
    let remarks = all.iter().any(|(_, remark)| !remark.is_empty());
    let noted = if remarks { all.len() - 1 } else { 0 };
    all[noted].1 = if rest == "." { "" } else { after_separator(rest).trim() };
    let before = text[..at].trim_matches(|c: char| !c.is_alphanumeric());
    let mut files: Vec<FileEntry> =
        all.into_iter().map(|(path, note)| FileEntry { path: path.to_owned(), note: note.to_owned() }).collect();
    if !before.is_empty() {
        files[0].note = format!("{before} {}", files[0].note).trim_end().to_owned();
    }
    Named::Files(files, goes)
}

/// The file that the words behind a name name: another one, or what is left of one with a space in its name.
fn further<'t>(first: &Name<'_>, rest: &'t str) -> Option<&'t str> {
    let torn = first.signs == Signs::None && !has_extension(first.path);
    let torn = name(rest.trim_start()).filter(|next| torn && has_extension(next.path));
    torn.or_else(|| within(rest, &is_sure).map(|(_, other)| other)).map(|other| other.path)
}

/// Whether what is said of a file may name another.
pub(super) fn names_more(file: &FileEntry) -> bool {
    file.path.contains(['{', '*', ' ', ',']) || file.path.ends_with('/') || within(&file.note, &is_sure).is_some()
}

/// Whether a line below an entry is one of its own: an item that begins with a file, or a file and nothing but what is said of it.
pub(super) fn is_entry(line: &str) -> bool {
    let bare = unmarked(line);
    let is_item = bare.len() < line.trim_start().len();
    let bare = bare.strip_prefix("and ").unwrap_or(bare);
    name(undecorated(bare)).is_some_and(|one| is_sure(&one) && (is_item || ends(one.rest)))
}

/// Whether the first line of an entry names no file but those below it: `Backend:`, `**Tests**`.
pub(super) fn is_group(entry: &str) -> bool {
    let head = undecorated(entry.lines().next().unwrap_or_default());
    let words = head.trim_matches(['*', ':', ' ']);
    !head.starts_with(['`', '[']) && !is_file(words) && within(head, &is_sure).is_none()
}

/// An entry without the sign or the ticked box in front of it.
fn undecorated(text: &str) -> &str {
    let text = text.strip_prefix("[x] ").or_else(|| text.strip_prefix("[X] ")).unwrap_or(text);
    let sign = |c: char| !c.is_ascii() && !c.is_alphanumeric();
    text.trim_start_matches(|c: char| c.is_whitespace() || sign(c))
}

/// The first file of an entry and where it stands: what the entry begins with or, where that is a word of a sentence, the
/// first thing in it that can only be a path, or else may be one. A box that nobody ticked names none.
fn first(text: &str) -> Option<(usize, Name<'_>)> {
    if text.starts_with("[ ]") {
        return None;
    }
    let alone = |one: &Name<'_>| match one.signs {
        Signs::Code => ends(one.rest) || joined(one.rest).is_some(),
        Signs::Link => true,
        Signs::None if is_path(one.path) || is_file(one.path) => ends(one.rest) || joined(one.rest).is_some(),
        Signs::None => ends(one.rest) && !one.rest.starts_with(':'),
    };
    let begins = |is: &dyn Fn(&Name<'_>) -> bool| name(text).filter(|one| is(one)).map(|one| (0, one));
    begins(&alone)
        .or_else(|| within(text, &is_sure))
        .or_else(|| begins(&|one| (one.signs == Signs::Code && !is_code(one.path)) || one.path.contains('/')))
        .or_else(|| within(text, &|one| has_extension(one.path) || is_file(one.path)))
}

/// Whether a name can only be a path: nothing else in a sentence looks so.
fn is_sure(one: &Name<'_>) -> bool {
    match one.signs {
        Signs::Link => true,
        Signs::Code => {
            let path = one.path;
            !path.contains(char::is_whitespace) && !is_code(path) && (is_path(path) || is_file(path))
        }
        Signs::None => one.path.contains('/') && has_extension(one.path),
    }
}

/// So many words of an entry are looked at: who names a file names it early.
const WORDS_MAX: usize = 64;

/// The first name of a kind in a text.
fn within<'t>(text: &'t str, is: &dyn Fn(&Name<'_>) -> bool) -> Option<(usize, Name<'t>)> {
    let opens = |c: char| c.is_whitespace() || matches!(c, '(' | '/');
    let behind = text.char_indices().filter(move |(_, c)| opens(*c)).map(|(at, c)| at + c.len_utf8());
    let starts = std::iter::once(0).chain(behind).filter(|at| text[*at..].starts_with(|c: char| !opens(c)));
    // Behind a slash only signs begin another name.
    let is_start = |at: &usize| !text[..*at].ends_with('/') || text[*at..].starts_with(['`', '[']);
    starts.filter(is_start).take(WORDS_MAX).find_map(|at| name(&text[at..]).filter(|one| is(one)).map(|one| (at, one)))
}

/// The name that a text begins with: in code quotes, as a link, in quotes, in bold, or a word.
fn name(text: &str) -> Option<Name<'_>> {
    if let Some(inside) = text.strip_prefix('`') {
        let (path, rest) = inside.split_once('`')?;
        return (!path.trim().is_empty() && !path.contains('\n')).then_some(Name {
            path: without_line(path),
            rest,
            signs: Signs::Code,
        });
    }
    if let Some((label, (target, rest))) =
        text.strip_prefix('[').and_then(|inside| inside.split_once("](")).and_then(|(label, rest)| {
            Some((label, rest.split_once(')')?)).filter(|(label, _)| !label.contains(['[', '\n']))
        })
    {
        let target = target.split_whitespace().next().unwrap_or_default();
        let is_local = !target.contains("://") && !target.starts_with(['#', '/']) && !target.contains(':');
        let label = Some(label.trim_matches('`')).filter(|label| is_path(label) || is_file(label));
        let path = if is_local && !target.is_empty() { target } else { label? };
        let path = without_line(path.strip_prefix("./").unwrap_or(path));
        return Some(Name { path, rest, signs: Signs::Link });
    }
    let stars = &text[..text.bytes().take_while(|byte| *byte == b'*').count()];
    for (open, close) in [(stars, stars), ("\"", "\""), ("'", "'"), ("<code>", "</code>")] {
        let inside = text.strip_prefix(open).filter(|_| !open.is_empty());
        let Some((inside, rest)) = inside.and_then(|inside| inside.split_once(close)) else { continue };
        // As git writes a path that is no plain text, the quotes are a part of it.
        if open == "\"" && inside.contains('\\') {
            return Some(Name { path: &text[..inside.len() + 2], rest, signs: Signs::None });
        }
        let path = inside.trim_matches(['`', ':']);
        // Signs like these stand around labels, too.
        let is_label = path.contains(char::is_whitespace) || (inside.ends_with(':') && !is_path(path));
        let path = without_line(path);
        return (!path.is_empty() && !is_label).then_some(Name { path, rest, signs: Signs::None });
    }
    let word = &text[..text.find(char::is_whitespace).unwrap_or(text.len())];
    let behind: &[char] = if word.contains('(') { &[':', ',', ';', '.', '*'] } else { &[':', ',', ';', '.', '*', ')'] };
    let (path, rest) = text.split_at(word.trim_end_matches(behind).len());
    (!path.is_empty()).then_some(Name { path: without_line(path), rest, signs: Signs::None })
}

/// A path without the line in it that was meant: `src/a.rs:42`, `src/a.rs:1-40`, `src/a.rs#L42`.
fn without_line(path: &str) -> &str {
    let numbers = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let is_line =
        |text: &str| numbers(text) && text.bytes().all(|byte| byte.is_ascii_digit() || b":-L".contains(&byte));
    let line = path.split_once("#L").or_else(|| path.split_once(':'));
    line.filter(|(before, line)| is_line(line) && is_path(before)).map_or(path, |(before, _)| before)
}

/// Whether nothing follows a name but what is said of it.
fn ends(rest: &str) -> bool {
    let rest = rest.trim_start();
    let signs = rest.starts_with(['—', '–', '-', ':', '·', '(']) && !rest.starts_with("->");
    matches!(rest, "" | ".") || signs || rest.starts_with("<!--")
}

/// Whether a name is a bare word: no path, no call (`run()`) and nothing of a module (`cart::total`).
fn is_word(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Whether a name is one of the code: a call, or a part of a module.
fn is_code(name: &str) -> bool {
    !name.contains('/') && (name.ends_with(')') || name.contains("::"))
}

/// Whether a name can be a path.
fn is_path(name: &str) -> bool {
    !says_none(name) && (name.contains('/') || name.trim_end_matches('.').contains('.'))
}

/// Whether the last part of a name has an extension, which begins with a letter.
fn has_extension(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    let extension = last.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| extension.starts_with(|c: char| c.is_ascii_alphabetic()))
        && !name.contains("//")
        && !matches!(name, "e.g" | "i.e")
}

/// Files that have a bare word for their name wherever they are.
const FILES: [&str; 8] = ["AUTHORS", "CHANGELOG", "CODEOWNERS", "COPYING", "LICENSE", "NOTICE", "README", "VERSION"];

fn is_file(name: &str) -> bool {
    let is_named = |name: &str| name.len() > "file".len() && name.ends_with("file");
    is_word(name) && (FILES.contains(&name) || is_named(name))
}

/// What joins a name to the one before.
const JOINS: [&str; 9] = ["and ", "as well as ", "along with ", "plus ", ",", ";", "&", "+", "/"];

/// What stands behind the sign that joins a name to the one before.
fn joined(rest: &str) -> Option<&str> {
    let joined = JOINS.iter().find_map(|sign| rest.trim_start().strip_prefix(sign))?.trim_start();
    let further = ["and ", "plus ", "as well as "].iter().find_map(|sign| joined.strip_prefix(sign));
    Some(further.map_or(joined, str::trim_start))
}

/// The next name of a row, and the remark in brackets that stands before it. A word is one only where nobody takes it for
/// anything else.
fn another(rest: &str, bare: bool) -> Option<(&str, Name<'_>)> {
    let (remark, rest) = remark(rest.trim_start());
    let next = name(joined(rest)?)?;
    let is = match next.signs {
        Signs::Link => true,
        Signs::Code => is_path(next.path) || is_file(next.path) || (bare && is_word(next.path)),
        Signs::None => next.path.contains('/') || is_file(next.path),
    };
    (is && !says_none(next.path)).then_some((remark, next))
}

/// The remark in brackets with which a text begins, and the rest.
fn remark(text: &str) -> (&str, &str) {
    let mut open = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return text.split_at(if c == ')' { at + 1 } else { 0 });
        }
    }
    ("", text)
}
