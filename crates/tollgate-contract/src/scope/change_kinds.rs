//! The kinds of changed code: what may follow from a change in scope, and what never does.
//!
//! | kind | what it is |
//! |---|---|
//! | layout | the same tokens in the same lines |
//! | rename | the same tokens but for whole words |
//! | field | a declaration without a value in the body of a type |
//! | code | everything else, with a comment |
//!
//! Of code, a new function, a new test, another number of control words and a changed literal are never incidental.

use std::collections::BTreeMap;

use super::diff::{Group, Side};
use super::languages::{FieldForm, Language};
use super::tokens::{Kind, Token};

/// What a group of changed lines is.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'t> {
    Layout,
    /// Each pair of words, and whether all of them can only be names of that thing.
    Rename {
        pairs: Vec<(&'t str, &'t str)>,
        plain: bool,
    },
    /// The names of the fields.
    Fields(Vec<&'t str>),
    Comment,
    Code,
}

/// The tokens at these positions without comments.
pub fn significant<'s, 't>(side: &'s Side<'t>, at: &[usize]) -> Vec<(usize, &'s Token<'t>)> {
    at.iter().map(|at| (*at, &side.tokens[*at])).filter(|(_, token)| token.kind != Kind::Comment).collect()
}

/// The words that differ, each with its position after the change; none when more than whole words differ.
pub fn renamed_words<'t>(
    removed: &[(usize, &Token<'t>)],
    added: &[(usize, &Token<'t>)],
) -> Option<Vec<(usize, &'t str, &'t str)>> {
    let word = |token: &Token<'_>| token.kind == Kind::Word;
    let fits =
        |((_, old), (_, new)): (&(usize, &Token<'_>), &(usize, &Token<'_>))| old.same(new) || (word(old) && word(new));
    let all = removed.len() == added.len() && removed.iter().zip(added).all(fits);
    let pairs = removed.iter().zip(added).filter(|((_, old), (_, new))| !old.same(new));
    all.then(|| pairs.map(|((_, old), (at, new))| (*at, old.text, new.text)).collect())
}

/// What a group is.
pub fn piece<'t>(group: &Group, before: &Side<'t>, after: &Side<'t>, language: &Language) -> Piece<'t> {
    let comments = |side: &Side<'t>, at: &[usize]| -> Vec<&'t str> {
        let tokens = at.iter().map(|at| &side.tokens[*at]);
        tokens.filter(|token| token.kind == Kind::Comment).map(|token| token.text).collect()
    };
    let (removed, added) = (significant(before, &group.removed), significant(after, &group.added));
    // A tool may read a comment.
    let comment = comments(before, &group.removed) != comments(after, &group.added);
    let reserved = |word: &str| {
        let known = [language.control_words, language.function_words, language.type_words, language.value_words];
        VALUES.contains(&word) || known.iter().any(|words| words.contains(&word))
    };
    match renamed_words(&removed, &added) {
        Some(pairs) if pairs.iter().any(|(_, old, new)| reserved(old) || reserved(new)) => Piece::Code,
        _ if comment && removed.is_empty() && added.is_empty() => Piece::Comment,
        _ if comment => Piece::Code,
        Some(pairs) if lines(&removed, language) == lines(&added, language) => match pairs.is_empty() {
            true => Piece::Layout,
            false => Piece::Rename {
                plain: pairs.iter().all(|(at, ..)| is_plain(&after.tokens, *at)),
                pairs: pairs.into_iter().map(|(_, old, new)| (old, new)).collect(),
            },
        },
        Some(_) => Piece::Code,
        None => fields(&removed, &added, after, language).map_or(Piece::Code, Piece::Fields),
    }
}

/// How many tokens each line has, and how far it is indented where that counts.
fn lines(tokens: &[(usize, &Token<'_>)], language: &Language) -> Vec<(usize, usize)> {
    let indent = |token: &Token<'_>| if language.indents { token.column } else { 0 };
    tokens.chunk_by(|(_, a), (_, b)| a.line == b.line).map(|line| (line.len(), indent(line[0].1))).collect()
}

/// Whether a word is neither a member, a key, an argument by name, a shorthand of a key nor text of a page.
fn is_plain(tokens: &[Token<'_>], at: usize) -> bool {
    let (before, after) = (at.checked_sub(1).map(|at| tokens[at]), tokens.get(at + 1));
    let one_of = |token: Option<&Token<'_>>, signs: &str| {
        token.is_some_and(|token| token.kind == Kind::Punctuation && signs.contains(token.text))
    };
    let is_equal = one_of(after, "=") && !one_of(tokens.get(at + 2), "=");
    let is_listed = one_of(before.as_ref(), "{,") && one_of(after, ",}");
    !one_of(before.as_ref(), ".:@#>") && !one_of(after, ":<") && !is_equal && !is_listed
}

/// The names of fields that are added to the body of a type, and nothing else.
fn fields<'t>(
    removed: &[(usize, &Token<'t>)],
    added: &[(usize, &Token<'t>)],
    after: &Side<'t>,
    language: &Language,
) -> Option<Vec<&'t str>> {
    let starts = added.len() > removed.len() && removed.iter().zip(added).all(|((_, old), (_, new))| old.same(new));
    let mut rest = added.get(removed.len()..).filter(|_| starts)?;
    // The field before it gets a comma.
    if let [(_, first), more @ ..] = rest
        && !removed.is_empty()
        && (first.is(",") || first.is(";"))
    {
        rest = more;
    }
    let start = rest.first()?.0;
    let by_line = language.field_form == FieldForm::NameFirst;
    let follows = |at: usize| {
        let token = &after.tokens[at];
        [",", ";", "{", "}"].iter().any(|sign| token.is(sign)) || (by_line && token.line < after.tokens[start].line)
    };
    if !start.checked_sub(1).is_some_and(follows) || !in_type(&after.tokens[..start], language) {
        return None;
    }
    let end = rest.last()?.0;
    let is_last = after.tokens.get(end + 1).is_none_or(|next| next.is("}"));
    let is_ended = by_line || is_last || after.tokens[end].is(",") || after.tokens[end].is(";");
    let names = rest.chunk_by(|(_, a), (_, b)| a.line == b.line).map(|line| {
        let line: Vec<&Token<'t>> = line.iter().map(|(_, token)| *token).collect();
        field(&line, language.field_form)
    });
    names.collect::<Option<Vec<_>>>().filter(|_| is_ended)
}

/// Words that may come before a field without changing what it does.
const MODIFIERS: [&str; 7] = ["pub", "public", "private", "protected", "internal", "readonly", "final"];

/// The name of a field that is all of a line.
fn field<'t>(line: &[&Token<'t>], form: FieldForm) -> Option<&'t str> {
    let line = match line {
        [all @ .., end] if end.is(",") || end.is(";") => all,
        all => all,
    };
    let modifiers = line.iter().take_while(|token| token.kind == Kind::Word && MODIFIERS.contains(&token.text)).count();
    let (name, of) = match (form, &line[modifiers..]) {
        (FieldForm::Colon, [name, mark, colon, of @ ..]) if mark.is("?") && colon.is(":") => (name, of),
        (FieldForm::Colon, [name, colon, of @ ..]) if colon.is(":") => (name, of),
        (FieldForm::TypeFirst, [of @ .., name]) => (name, of),
        (FieldForm::NameFirst, [name, of @ ..]) => (name, of),
        (FieldForm::Colon | FieldForm::TypeFirst | FieldForm::NameFirst | FieldForm::Unknown, _) => return None,
    };
    let is_type = |token: &&Token<'_>| match token.kind {
        Kind::Word => !matches!(token.text, "func" | "new" | "override" | "static" | "required" | "return"),
        Kind::Punctuation => ".:<>[],|&*?".contains(token.text),
        Kind::Number | Kind::Text | Kind::Comment => false,
    };
    let begins = of.first().is_some_and(|first| first.kind == Kind::Word || matches!(first.text, "[" | "*" | "&"));
    (name.kind == Kind::Word && begins && of.iter().all(is_type)).then_some(name.text)
}

/// Whether what follows these tokens is directly inside of the body of a type.
fn in_type(tokens: &[Token<'_>], language: &Language) -> bool {
    let mut depth = 0_usize;
    let open = tokens.iter().rposition(|token| {
        match token.text {
            _ if token.kind != Kind::Punctuation => return false,
            ")" | "]" | "}" => depth += 1,
            "(" | "[" | "{" if depth > 0 => depth -= 1,
            "(" | "[" | "{" => return true,
            _ => {}
        }
        false
    });
    let Some(open) = open.filter(|open| tokens[*open].is("{")) else { return false };
    let start = tokens[..open].iter().rposition(|token| [";", "{", "}"].iter().any(|sign| token.is(sign)));
    let mut head: Vec<&Token<'_>> = tokens[start.map_or(0, |start| start + 1)..open].iter().collect();
    head.retain(|token| token.kind != Kind::Comment);
    if language.is_rust {
        head = without_derive(&head);
    }
    // Without semicolons, what comes before may end with its line.
    let line = head.last().map_or(0, |last| last.line);
    if !language.semicolons {
        head.retain(|token| token.line == line);
    }
    if language.is_script && head.last().is_some_and(|last| last.is("=")) && head.iter().any(|token| token.is("type")) {
        head.pop();
    }
    let is_type = |pair: &[&Token<'_>]| {
        pair.iter().all(|token| token.kind == Kind::Word) && language.type_words.contains(&pair[0].text)
    };
    let plain = |token: &&Token<'_>| match token.kind {
        Kind::Word => token.text != "enum",
        Kind::Punctuation => ".:<>,|&*?".contains(token.text),
        Kind::Number | Kind::Text | Kind::Comment => false,
    };
    let ends = head.last().is_some_and(|last| last.kind == Kind::Word || last.is(">"));
    ends && head.windows(2).any(is_type) && head.iter().all(plain)
}

/// The head of a type of Rust without `#[derive(…)]`; one that compares fields in their order stays.
fn without_derive<'h, 't>(head: &[&'h Token<'t>]) -> Vec<&'h Token<'t>> {
    let (mut rest, mut kept): (_, Vec<&'h Token<'t>>) = (head, Vec::new());
    while let [hash, open, derive, ..] = rest
        && hash.is("#")
        && open.is("[")
        && derive.is("derive")
    {
        let Some(end) = rest.iter().position(|token| token.is("]")) else { break };
        let ordered = rest[..end].iter().any(|token| token.is("Ord") || token.is("PartialOrd"));
        kept.extend(rest[..end].iter().filter(|_| ordered));
        rest = &rest[end + 1..];
    }
    kept.extend(rest);
    let visible =
        kept.iter().position(|token| token.is("pub")).filter(|at| kept.get(at + 1).is_some_and(|next| next.is("(")));
    if let Some(at) = visible
        && let Some(end) = kept[at..].iter().position(|token| token.is(")"))
    {
        kept.drain(at..=at + end);
    }
    kept
}

/// Why code is never incidental.
#[derive(Debug, PartialEq, Eq)]
pub enum Breaking {
    Test,
    Function(String),
    Control(String),
    Literal { old: String, new: String },
}

/// What code breaks, if anything: the tokens that were removed and those that were added.
pub fn breaking(groups: &[(Vec<&Token<'_>>, Vec<&Token<'_>>)], language: &Language) -> Option<Breaking> {
    let of = |count: &dyn Fn(&[&Token<'_>]) -> Vec<String>| {
        let mut counts: BTreeMap<String, i64> = BTreeMap::new();
        for (removed, added) in groups {
            count(removed).into_iter().for_each(|found| *counts.entry(found).or_default() -= 1);
            count(added).into_iter().for_each(|found| *counts.entry(found).or_default() += 1);
        }
        counts
    };
    let tests = of(&|tokens| test_cases(tokens, language));
    if tests.values().any(|count| *count > 0) {
        return Some(Breaking::Test);
    }
    if let Some((name, _)) = of(&|tokens| functions(tokens, language)).into_iter().find(|(_, count)| *count > 0) {
        return Some(Breaking::Function(name));
    }
    if let Some((word, _)) = of(&|tokens| controls(tokens, language)).into_iter().find(|(_, count)| *count != 0) {
        return Some(Breaking::Control(word));
    }
    groups.iter().find_map(|(removed, added)| changed_literal(removed, added))
}

fn test_cases(tokens: &[&Token<'_>], language: &Language) -> Vec<String> {
    let begins = |line: &[&Token<'_>]| {
        let mut text = String::new();
        for token in line {
            if token.kind == Kind::Word && text.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                text.push(' ');
            }
            text.push_str(token.text);
        }
        language.test_signs.iter().find(|sign| text.starts_with(**sign)).map(|sign| (*sign).to_owned())
    };
    tokens.chunk_by(|a, b| a.line == b.line).filter_map(begins).collect()
}

/// The functions that tokens begin, by their names where they have one.
fn functions(tokens: &[&Token<'_>], language: &Language) -> Vec<String> {
    let unnamed = || "a function".to_owned();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1);
        if token.kind == Kind::Word && language.function_words.contains(&token.text) {
            found.push(next.filter(|next| next.kind == Kind::Word).map_or_else(unnamed, |next| next.text.to_owned()));
        } else if language.methods && token.is("=") && next.is_some_and(|next| next.is(">")) {
            found.push(unnamed());
        } else if language.methods && token.kind == Kind::Word && next.is_some_and(|next| next.is("(")) {
            let known = language.control_words.contains(&token.text) || language.function_words.contains(&token.text);
            let called = at.checked_sub(1).is_some_and(|at| tokens[at].is("new") || tokens[at].is("."));
            if !known && !called && closes_before_body(&tokens[at + 1..]) {
                found.push(token.text.to_owned());
            }
        }
    }
    found
}

/// Whether brackets that open here are followed by a body.
fn closes_before_body(tokens: &[&Token<'_>]) -> bool {
    let mut depth = 0_i32;
    let close = tokens.iter().position(|token| {
        depth += i32::from(token.is("(")) - i32::from(token.is(")"));
        depth == 0
    });
    let after = close.map(|close| &tokens[close + 1..]).unwrap_or_default();
    after.iter().find(|token| !matches!(token.kind, Kind::Word) && !token.is(":")).is_some_and(|token| token.is("{"))
}

fn controls(tokens: &[&Token<'_>], language: &Language) -> Vec<String> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let member = at.checked_sub(1).is_some_and(|at| tokens[at].is("."));
        let doubled = (token.is("&") || token.is("|"))
            && tokens.get(at + 1).is_some_and(|next| next.joined && next.is(token.text));
        if token.kind == Kind::Word && !member && language.control_words.contains(&token.text) {
            found.push(token.text.to_owned());
        } else if doubled {
            found.push(token.text.repeat(2));
        }
    }
    found
}

/// Words that are values by themselves.
const VALUES: [&str; 8] = ["true", "false", "null", "nil", "None", "True", "False", "undefined"];

/// A literal in the place of another one. A string with code in it says nothing.
fn changed_literal(removed: &[&Token<'_>], added: &[&Token<'_>]) -> Option<Breaking> {
    let literals = |tokens: &[&Token<'_>]| -> Vec<String> {
        let is = |token: &&&Token<'_>| match token.kind {
            Kind::Number => true,
            Kind::Text => !token.text.contains('{'),
            Kind::Word => VALUES.contains(&token.text),
            Kind::Comment | Kind::Punctuation => false,
        };
        let mut found: Vec<String> = tokens.iter().filter(is).map(|token| token.text.to_owned()).collect();
        found.sort();
        found
    };
    let (old, new) = (literals(removed), literals(added));
    let differs =
        |(old, new): (&String, &String)| (old != new).then(|| Breaking::Literal { old: old.clone(), new: new.clone() });
    old.iter().zip(&new).find_map(differs).filter(|_| old.len() == new.len())
}
