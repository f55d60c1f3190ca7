//! What is struck through, `~~so~~` or `<del>so</del>`: somebody said it, and took it out.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

/// What a strike begins and ends with.
const STRIKES: [(&str, &str); 4] = [("~~", "~~"), ("<del>", "</del>"), ("<s>", "</s>"), ("<strike>", "</strike>")];

/// Where something is struck through in a text, with its signs.
pub fn strikes(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut from) = (Vec::new(), 0);
    // A tag that never ends strikes nothing, and is looked for once.
    let mut endless = [false; STRIKES.len()];
    while let Some(sign) = memchr::memchr2(b'~', b'<', &text.as_bytes()[from..]) {
        let at = from + sign;
        let quoted = text[..at].ends_with('`');
        let ends = |(one, (open, close)): (usize, &(&str, &str))| {
            let begins = text.get(at..at + open.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(open));
            if !begins || quoted || endless[one] {
                return None;
            }
            let inside = at + open.len();
            let end = find(&text[inside..], close);
            endless[one] = end.is_none();
            let end = inside + end?;
            // Two signs and no third, with what they strike in one paragraph.
            let parted = || text[inside..end].lines().skip(1).any(|line| line.trim().is_empty());
            let strikes = || end > inside && !text[end + 2..].starts_with('~') && !parted();
            (*open != "~~" || strikes()).then_some(end + close.len())
        };
        from = match STRIKES.iter().enumerate().find_map(ends) {
            Some(end) => {
                found.push(at..end);
                end
            }
            None => at + text[at..].len() - text[at + 1..].trim_start_matches('~').len(),
        };
    }
    found
}

/// A text without what is struck through in it.
pub fn unstruck(text: &str) -> Cow<'_, str> {
    let strikes = strikes(text);
    if strikes.is_empty() {
        return Cow::Borrowed(text);
    }
    let ends = strikes.iter().map(|range| range.end);
    let starts = strikes.iter().map(|range| range.start).chain([text.len()]);
    Cow::Owned([0].into_iter().chain(ends).zip(starts).map(|(from, to)| &text[from..to]).collect())
}

/// Whether an item, or the value of its label, is struck through: nothing is left of it.
pub fn is_struck(item: &str) -> bool {
    let says = |text: &str| text.contains(char::is_alphanumeric);
    let value =
        |text: &str| [":**", "**:"].iter().find_map(|sign| text.split_once(sign)).is_some_and(|(_, it)| says(it));
    match unstruck(item) {
        Cow::Borrowed(_) => false,
        Cow::Owned(left) => (says(item) && !says(&left)) || (value(item) && !value(&left)),
    }
}

/// Whether the first word of a text is struck through.
pub fn begins_struck(text: &str) -> bool {
    let word = |text: &str| {
        let start = text.find(char::is_alphanumeric)?;
        let end = text[start..].find(char::is_whitespace).map_or(text.len(), |end| start + end);
        Some(text[start..end].to_owned())
    };
    match unstruck(text) {
        Cow::Borrowed(_) => false,
        Cow::Owned(left) => word(text.trim_start_matches(|c: char| c == '~' || c.is_whitespace())) != word(&left),
    }
}

/// Whether a tag that strikes through is open where a text ends, and closed in what follows.
pub fn is_open(before: &str, behind: &str) -> bool {
    STRIKES.iter().skip(1).any(|(from, to)| {
        let open =
            memmem::rfind(before.as_bytes(), from.as_bytes()).is_some_and(|at| find(&before[at..], to).is_none());
        open && find(behind, to).is_some()
    })
}

fn find(text: &str, sign: &str) -> Option<usize> {
    memmem::find(text.as_bytes(), sign.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_struck_is_left_out() {
        for (text, left) in [
            ("a ~~b~~ c", "a  c"),
            ("<del>a</del>", ""),
            ("<S>a</s> <strike>b</strike>c", " c"),
            ("~~a", "~~a"),
            ("a < b ~ c", "a < b ~ c"),
            ("`~~a~~`", "`~~a~~`"),
            ("é~~ü~~<del>ß", "é<del>ß"),
            ("~~~\na\n~~~\n", "~~~\na\n~~~\n"),
            ("~~~~ ~~a~~ ~~", "~~~~  ~~"),
            ("~~a\n\nb~~", "~~a\n\nb~~"),
        ] {
            assert_eq!(unstruck(text), left, "{text}");
        }
    }

    #[test]
    fn an_item_is_struck_where_nothing_is_left_of_it() {
        for struck in
            ["~~**A:** b~~", "**A:** ~~b~~", "<del>**A:** b</del>", "~~**A:**~~ b", "**A**: <s>b</s>.", "~~ b~~"]
        {
            assert!(is_struck(struck), "{struck}");
        }
        for item in ["**A:** b", "**A:** ~~b~~ c", "~~a~~ **A:** b", "**A:** `~~b~~`", "~~", "**A:** ~~~"] {
            assert!(!is_struck(item), "{item}");
        }
        for (text, struck) in [("~~DoD-3~~ — a", true), ("DoD-3 — ~~a~~ b", false), ("✓ <del>DoD-3</del> a", true)]
        {
            assert_eq!(begins_struck(text), struck, "{text}");
        }
    }
}
