//! Which line became which, and which word of it another.

use std::ops::Range;

use super::placed::Role;
use super::reached::is_before_a_use;
use super::shape::Stands;
use super::words::{Language, Token, TokenSort};

/// Which line became which, and the lines on either side that became none: comments and blanks are no part of what stands beside them.
/// No pairs where that cannot be told.
pub(super) fn paired(
    (old, removed): (Range<usize>, &[Role]),
    (new, added): (Range<usize>, &[Role]),
) -> (Vec<(usize, usize)>, [Vec<usize>; 2]) {
    let says = |role: &Role| !matches!(role, Role::Comment(_) | Role::Blank);
    if old.len() == new.len() && old.clone().zip(new.clone()).all(|(a, b)| says(&removed[a]) == says(&added[b])) {
        return (old.zip(new).collect(), Default::default());
    }
    let (before, unsaid): (Vec<usize>, Vec<usize>) = old.partition(|at| says(&removed[*at]));
    let (now, new): (Vec<usize>, Vec<usize>) = new.partition(|at| says(&added[*at]));
    let pairs = if before.len() == now.len() { before.into_iter().zip(now).collect() } else { Vec::new() };
    (pairs, [unsaid, new])
}

pub(super) fn is_literal(token: &Token<'_>) -> bool {
    matches!(token.text, "true" | "false" | "True" | "False" | "null" | "None" | "nil" | "undefined") && !token.quoted
}

pub(super) fn is_value(token: &Token<'_>) -> bool {
    token.quoted || token.sort == TokenSort::Number || is_literal(token)
}

/// The tokens that differ, where everything else stands in the same place; none where more than that differs.
pub(super) fn differing<'a>(before: &[Token<'a>], after: &[Token<'a>]) -> Option<Vec<(Token<'a>, Token<'a>)>> {
    if before.len() != after.len() {
        return None;
    }
    let pairs = before.iter().zip(after).filter(|(a, b)| a.text != b.text);
    Some(pairs.map(|(a, b)| (*a, *b)).collect()).filter(|pairs: &Vec<_>| !pairs.is_empty())
}

/// The tokens of a line on one side and of several on the other, where those hold together as a formatter wraps them.
pub(super) fn rewrapped<'a>(
    old: &[&'a str],
    new: &[&'a str],
    language: Language,
) -> Option<(Vec<Token<'a>>, Vec<Token<'a>>)> {
    let (one, several) = match (old, new) {
        ([one], [_, _, ..]) => (*one, new),
        ([_, _, ..], [one]) => (*one, old),
        _ => return None,
    };
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mark = language.comment.chars().next()?;
    // What may be a comment, or a pattern, is not taken apart.
    let hides = old.iter().chain(new).any(|line| line.contains([mark, '\\']));
    if hides || !language.names || several.first().is_none_or(|first| indent(first) != indent(one)) {
        return None;
    }
    holds_together(several, language)
        .then(|| (spread(old.iter().copied(), language), spread(new.iter().copied(), language)))
}

/// Whether no statement can end where a line does: in brackets, or behind a sign that wants more.
fn holds_together(lines: &[&str], language: Language) -> bool {
    let mut open: Vec<&str> = Vec::new();
    let [lines @ .., _] = lines else { return false };
    lines.iter().all(|line| {
        let tokens = language.tokens(line);
        for token in tokens.iter().filter(|token| !token.quoted) {
            match token.text {
                "(" | "[" | "{" => open.push(token.text),
                ")" | "]" | "}" => _ = open.pop(),
                _ => {}
            }
        }
        let assigns = tokens.last().is_some_and(|last| last.text == "=") && language.wraps(std::iter::once(*line));
        assigns || matches!(open.last(), Some(&("(" | "[")))
    })
}

/// The tokens of several lines as those of one: without the comma that a list gets behind its last part where that says nothing.
pub(super) fn spread<'a>(lines: impl Iterator<Item = &'a str>, language: Language) -> Vec<Token<'a>> {
    let mut tokens: Vec<Token<'a>> = Vec::new();
    // Of each bracket that is open: whether a comma before its end says nothing.
    let mut open: Vec<bool> = Vec::new();
    for token in lines.flat_map(|line| language.tokens(line)) {
        let last = tokens.last().map_or("", |last| last.text);
        match token.text {
            _ if token.quoted => {}
            // One part and a comma are a list where no function is called.
            "(" => {
                open.push(tokens.last().is_some_and(|last| last.sort == TokenSort::Word && !is_before_a_use(last.text)))
            }
            "[" => open.push(
                !(last == ")"
                    || last == "]"
                    || tokens.last().is_some_and(|last| last.sort == TokenSort::Word && !is_before_a_use(last.text))),
            ),
            "{" => open.push(false),
            ")" | "]" if open.pop() == Some(true) && last == "," => {
                let before = tokens.len().checked_sub(2).map_or("", |at| tokens[at].text);
                if !matches!(before, "" | "," | "(" | "[") {
                    tokens.pop();
                }
            }
            "}" => _ = open.pop(),
            _ => {}
        }
        tokens.push(token);
    }
    tokens
}

/// Where a word of a line stands.
pub(super) fn stands(tokens: &[Token<'_>], at: usize, language: Language) -> Stands {
    let text = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |token| token.text);
    let (before, next, second) = (text(at.checked_sub(1)), text(Some(at + 1)), text(Some(at + 2)));
    let is_key = match next {
        // A line may end so: `if total:`. Others are `total == 1`, `total => 1` and `total::new()`.
        ":" => !second.is_empty() && second != ":",
        "=" => !matches!(second, "=" | ">"),
        _ => false,
    };
    // `{ total, other }` names its parts as what they are made of is called.
    let open = tokens[..at].iter().rev().scan(0_i32, |depth, token| {
        *depth += match token.text {
            "}" | ")" | "]" => 1,
            "{" | "(" | "[" => -1,
            _ => 0,
        };
        Some((*depth, token.text))
    });
    let open = open.into_iter().find(|(depth, _)| *depth < 0).map(|(_, text)| text);
    let is_short = match open {
        Some("{") => matches!(before, "{" | ",") && matches!(next, "," | "}"),
        None => before.is_empty() && next == "," && second.is_empty(),
        _ => false,
    };
    match before {
        _ if tokens[at].quoted || (before == "/" && next == "/") => Stands::AsValues,
        "." if next == "(" => Stands::Inside,
        "." if language.qualifies && is_embedded(tokens, at) => Stands::AsParts,
        // What stands before the dot is looked at where the name must come from.
        "." if language.qualifies => Stands::AsNames,
        "." => Stands::AsParts,
        _ if is_key || is_short => Stands::AsParts,
        _ => Stands::AsNames,
    }
}

/// So far before a field the word is looked for that its struct in one line begins with.
const STRUCT_MAX: usize = 128;

/// Whether a word is the type of a field of Go without a name of its own, which is then called so: `*cart.Cart`.
fn is_embedded(tokens: &[Token<'_>], at: usize) -> bool {
    let text = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |token| token.text);
    let begin = at.checked_sub(2);
    let before = begin.and_then(|begin| begin.checked_sub(1));
    let before = if text(before) == "*" { before.and_then(|before| before.checked_sub(1)) } else { before };
    let in_struct = || tokens[at.saturating_sub(STRUCT_MAX)..at].iter().any(|token| token.text == "struct");
    let begins = text(before).is_empty() || (matches!(text(before), "{" | ";") && in_struct());
    let ends = match text(Some(at + 1)) {
        "" | "`" => true,
        "[" => tokens.last().is_some_and(|last| last.text == "]"),
        "}" | ";" => in_struct(),
        _ => false,
    };
    begin.is_some() && begins && ends
}
