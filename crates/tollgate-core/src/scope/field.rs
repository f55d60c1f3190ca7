//! Fields of a type, as languages write them: whether a line is one, and how it is called.

use super::comment::steers_a_tool;
use super::words::{Language, words};

/// What may stand before a field.
const VISIBLE: [&str; 11] = [
    "pub(crate) ",
    "pub(super) ",
    "pub ",
    "public ",
    "private ",
    "protected ",
    "internal ",
    "final ",
    "readonly ",
    "val ",
    "var ",
];

/// `name: Type,`, without a value of its own.
pub(super) fn is_field(line: &str) -> bool {
    let mut words = line;
    for before in VISIBLE {
        words = words.strip_prefix(before).unwrap_or(words);
    }
    let Some((name, of)) = words.split_once(':') else { return false };
    let name = name.trim_end_matches(['?', '!']);
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    // A type calls nothing; one of a function has an arrow.
    let of = if of.contains("=>") { of.replace("=>", "").replace(['(', ')'], "") } else { of.to_owned() };
    let plain = plain && !of.trim().is_empty();
    plain && !of.contains(['=', '{', '(', ';'])
        || (plain && of.ends_with(';') && !of[..of.len() - 1].contains(['=', '{', '(', ';']))
}

/// Whether words name a part of a type, and nothing else.
pub(super) fn is_part(words: &str) -> bool {
    let name = words.strip_suffix(':').map(|name| name.trim_end_matches('?').trim_start_matches("readonly "));
    name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_'))
}

/// A line without the words for people at its end; none where those are for a tool.
pub(super) fn uncommented(line: &str, language: Language) -> Option<&str> {
    let comment = line.match_indices(language.comment).find(|(at, _)| line[..*at].ends_with([' ', '\t']));
    let cut = comment.map(|(at, _)| line.split_at(at)).filter(|_| !language.comment.is_empty());
    match cut.filter(|(code, _)| !code.contains(['"', '\'', '`'])) {
        Some((_, words)) if steers_a_tool(words) => None,
        Some((code, _)) => Some(code.trim_end()),
        None => Some(line),
    }
}

/// Whether a line says something of what stands behind it: `@Column`, `[Key]`, `#[serde(skip)]`, or is the end of what does.
pub(super) fn annotates(line: &str, language: Language) -> bool {
    let Some(line) = uncommented(line, language) else { return true };
    let begins = line.starts_with('@') || line.starts_with("#[") || (line.starts_with('[') && line.ends_with(']'));
    let closes = line.contains([')', ']']) && line.bytes().all(|byte| b")]}".contains(&byte));
    closes || (begins && !line.ends_with([';', ',', '{', '}']))
}

/// What a property of C# has without code of its own.
const ACCESS: [&str; 6] = ["get", "set", "init", "private set", "protected set", "internal set"];
/// What says more of a field than who sees it.
const SAYS_MORE: [&str; 4] = ["override", "abstract", "required", "const"];

/// What ends a field: a mark, or the access to a property.
fn ended(line: &str) -> Option<&str> {
    let property = || {
        let (field, access) = line.strip_suffix('}')?.split_once('{')?;
        let is_access = access.trim().strip_suffix(';')?.split(';').all(|access| ACCESS.contains(&access.trim()));
        is_access.then(|| field.trim_end())
    };
    line.strip_suffix(';').or_else(property)
}

/// What other texts than Go call a field by.
const FORMATS: [&str; 5] = ["json", "yaml", "xml", "toml", "bson"];

/// Whether a tag of Go says no more than the name of its field: another name, a default value or a rule says more.
fn is_plain_tag(tag: &str, name: &str) -> bool {
    let bare = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    let mut rest = tag.trim();
    while !rest.is_empty() {
        let part = rest.split_once(":\"").and_then(|(key, rest)| Some((key, rest.split_once('"')?)));
        let Some((key, (value, after))) = part else { return false };
        let mut said = value.split(',');
        let is_named = said.next().is_some_and(|called| bare(called) == bare(name));
        if !is_named || !FORMATS.contains(&key) || !said.all(|option| option == "omitempty") {
            return false;
        }
        rest = after.trim_start();
    }
    true
}

/// `Type name;` as in Java, or `Name Type` as in Go where `bare` says that nothing needs to end it; without a value of its own.
pub(super) fn is_typed_field(line: &str, bare: bool) -> bool {
    let ended = ended(line);
    // What a field is called elsewhere: `json:"name"`.
    let tag = line.split_once('`').filter(|(_, tag)| tag.find('`') == Some(tag.len() - 1));
    let Some(said) = ended.or_else(|| tag.map_or(Some(line), |(said, _)| Some(said)).filter(|_| bare)) else {
        return false;
    };
    let said = VISIBLE.iter().fold(said.trim_end(), |said, before| said.strip_prefix(before).unwrap_or(said));
    let (first, second) =
        if ended.is_some() { said.rsplit_once(' ') } else { said.split_once(' ') }.unwrap_or_default();
    let (name, of) = if ended.is_some() { (second, first) } else { (first, second.trim_start()) };
    let is_name = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_of = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '*' | '[' | ']' | '<' | '>' | ',' | '?' | ' ');
    let steers = |word: &str| {
        matches!(word, "return" | "throw" | "break" | "continue" | "goto" | "yield" | "await" | "delete" | "new")
    };
    let says_more = ended.is_some() && (said.starts_with('[') || said.split(' ').any(|word| SAYS_MORE.contains(&word)));
    let tagged = ended.is_some() || tag.is_none_or(|(_, tag)| is_plain_tag(tag.trim_end_matches('`'), name));
    is_name(name)
        && tagged
        && !says_more
        && !of.is_empty()
        && of.chars().all(is_of)
        && !said.split_whitespace().any(steers)
}

/// The name of a field.
pub fn field_name(line: &str, language: Language) -> Option<&str> {
    let line = uncommented(line, language)?;
    match line.split_once(':').filter(|(name, _)| !name.contains('`')) {
        Some((name, _)) => words(name, language).last(),
        None => match ended(line.trim_end()) {
            Some(field) => words(field, language).last(),
            None => words(line, language).next(),
        },
    }
}
