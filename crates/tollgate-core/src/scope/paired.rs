//! Which line became which, and which word of it another.

use std::ops::Range;

use super::placed::Role;
use super::words::{Token, TokenSort};

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
