//! The files that an entry of a list names, and what is said of each.

use super::document::FileEntry;
use super::entry::after_separator;
use crate::contract::text::says_none;

/// A name in a text, and what stands behind it.
#[derive(Clone, Copy)]
struct Named<'t> {
    name: &'t str,
    rest: &'t str,
    /// Whether it stands in code quotes.
    coded: bool,
}

/// The files of an entry, one or several in a row. None where it names no file.
pub(super) fn files(text: &str) -> Vec<FileEntry> {
    let text = undecorated(text);
    let Some((at, first)) = first(text) else { return Vec::new() };
    // Behind a name that is a bare word, others are names too; behind a path such a word may be what was changed in it.
    let bare = first.coded && is_word(first.name);
    let mut named = vec![(first.name, "")];
    let mut rest = first.rest;
    while let Some((remark, next)) = another(rest, bare) {
        named.last_mut().into_iter().for_each(|last| last.1 = remark);
        named.push((next.name, ""));
        rest = next.rest;
    }
    // In a sentence that goes on, the others are a part of what is said of the first.
    if !ends(rest) {
        named.truncate(1);
        named[0].1 = "";
        rest = first.rest;
    }
    // What is said of all stands with one: many names and a long note would be many long notes.
    let remarks = named.iter().any(|(_, remark)| !remark.is_empty());
    let noted = if remarks { named.len() - 1 } else { 0 };
    named[noted].1 = if rest == "." { "" } else { after_separator(rest).trim() };
    let before = text[..at].trim_matches(|c: char| !c.is_alphanumeric());
    let mut entries: Vec<FileEntry> =
        named.into_iter().map(|(path, note)| FileEntry { path: path.to_owned(), note: note.to_owned() }).collect();
    if !before.is_empty() {
        entries[0].note = format!("{before} {}", entries[0].note).trim_end().to_owned();
    }
    entries
}

/// An entry without the sign or the ticked box in front of it.
fn undecorated(text: &str) -> &str {
    let text = text.strip_prefix("[x] ").or_else(|| text.strip_prefix("[X] ")).unwrap_or(text);
    let sign = |c: char| !c.is_ascii() && !c.is_alphanumeric();
    text.trim_start_matches(|c: char| c.is_whitespace() || sign(c))
}

/// The first file of an entry and where it stands: what the entry begins with or, where that is a word of a sentence, the
/// first thing in it that can only be a path. A box that nobody ticked names none.
fn first(text: &str) -> Option<(usize, Named<'_>)> {
    let begins = |one: &Named<'_>| match one.coded {
        true => ends(one.rest) || joined(one.rest).is_some() || !is_code(one.name),
        false => is_path(one.name) || is_file(one.name) || (ends(one.rest) && !one.rest.starts_with(':')),
    };
    if text.starts_with("[ ]") {
        return None;
    }
    if let Some(one) = name(text).filter(begins) {
        return Some((0, one));
    }
    let within = |is: &dyn Fn(&Named<'_>) -> bool| {
        starts(text).find_map(|at| name(&text[at..]).filter(|one| is(one)).map(|one| (at, one)))
    };
    within(&|one| one.coded && !is_code(one.name) && (is_path(one.name) || is_file(one.name)))
        .or_else(|| within(&|one| one.name.contains('/') && is_path(one.name) && has_extension(one.name)))
        .or_else(|| within(&|one| has_extension(one.name) || is_file(one.name)))
}

/// So many words of an entry are looked at: who names a file names it early.
const WORDS_MAX: usize = 64;

/// Where the first words of a text begin.
fn starts(text: &str) -> impl Iterator<Item = usize> {
    let opens = |c: char| c.is_whitespace() || c == '(';
    let behind = text.char_indices().filter(move |(_, c)| opens(*c)).map(|(at, c)| at + c.len_utf8());
    std::iter::once(0).chain(behind).filter(move |at| text[*at..].starts_with(|c: char| !opens(c))).take(WORDS_MAX)
}

/// The name that a text begins with: in code quotes, in quotes, in bold, as a link, or a word.
fn name(text: &str) -> Option<Named<'_>> {
    if let Some(inside) = text.strip_prefix('`') {
        let (name, rest) = inside.split_once('`')?;
        return (!name.trim().is_empty() && !name.contains('\n')).then_some(Named { name, rest, coded: true });
    }
    for (open, close) in [("**", "**"), ("__", "__"), ("\"", "\""), ("'", "'"), ("[", "](")] {
        let Some((inside, rest)) = text.strip_prefix(open).and_then(|inside| inside.split_once(close)) else {
            continue;
        };
        let rest = if open == "[" { rest.split_once(')')?.1 } else { rest };
        let name = inside.trim_matches(['`', ':']);
        // Signs like these stand around labels, too.
        let is_label = name.contains(char::is_whitespace) || (inside.ends_with(':') && !is_path(name));
        return (!name.is_empty() && !is_label).then_some(Named { name, rest, coded: false });
    }
    let word = &text[..text.find(char::is_whitespace).unwrap_or(text.len())];
    let behind: &[char] = if word.contains('(') { &[':', ',', ';', '.', '*'] } else { &[':', ',', ';', '.', '*', ')'] };
    let (name, rest) = text.split_at(word.trim_end_matches(behind).len());
    (!name.is_empty()).then_some(Named { name, rest, coded: false })
}

/// Whether nothing follows a name but what is said of it.
fn ends(rest: &str) -> bool {
    let rest = rest.trim_start();
    matches!(rest, "" | ".") || rest.starts_with(['—', '–', '-', ':', '·', '('])
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
    last.rsplit_once('.').is_some_and(|(_, extension)| extension.starts_with(|c: char| c.is_ascii_alphabetic()))
        && !name.contains("//")
}

/// Files that have a bare word for their name wherever they are.
const FILES: [&str; 8] = ["AUTHORS", "CHANGELOG", "CODEOWNERS", "COPYING", "LICENSE", "NOTICE", "README", "VERSION"];

fn is_file(name: &str) -> bool {
    let is_named = |name: &str| name.len() > "file".len() && name.ends_with("file");
    is_word(name) && (FILES.contains(&name) || is_named(name))
}

/// What stands behind the sign that joins a name to the one before.
fn joined(rest: &str) -> Option<&str> {
    let joined =
        ["and ", ",", ";", "&", "+"].iter().find_map(|sign| rest.trim_start().strip_prefix(sign))?.trim_start();
    Some(joined.strip_prefix("and ").map_or(joined, str::trim_start))
}

/// The next name of a row, and the remark in brackets that stands before it. A word is one only where nobody takes it for
/// anything else.
fn another(rest: &str, bare: bool) -> Option<(&str, Named<'_>)> {
    let (remark, rest) = remark(rest.trim_start());
    let joined = joined(rest)?;
    let next = name(joined)?;
    let is_file = is_word(next.name) && (bare || is_file(next.name));
    let quoted = joined.starts_with('`') && (next.name.contains('.') || is_file);
    ((next.name.contains('/') || quoted) && !says_none(next.name)).then_some((remark, next))
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
