//! Texts that put off what should be said.

use super::text::words;

/// Words that stand for what is to come.
const LATER: [&str; 7] = ["tbd", "tba", "tbc", "todo", "fixme", "xxx", "wip"];
/// What is to be done with it: `To be determined`. `To be compliant` says something.
const TO_BE: [&str; 19] = [
    "added",
    "agreed",
    "announced",
    "clarified",
    "completed",
    "confirmed",
    "decided",
    "defined",
    "described",
    "determined",
    "discussed",
    "documented",
    "done",
    "filled",
    "provided",
    "refined",
    "specified",
    "supplied",
    "written",
];
/// So many words a line has at most that says no more: `To be decided by the team`.
const WORDS_MAX: usize = 6;
/// So many bytes a line has at most.
const LINE_BYTES: usize = 80;

/// Whether every line of a text puts off what should be said: `TBD`, `- To be written`, `???`, `…`.
pub fn puts_off(text: &str) -> bool {
    let bare =
        text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '*' | '_' | '+' | '`' | '(' | '"'));
    // Nearly no text begins with a letter of the words above.
    let begins = |byte: &u8| byte.is_ascii_alphanumeric() && !b"tTfFxXwW".contains(byte);
    if bare.as_bytes().first().is_none_or(begins) {
        return false;
    }
    text.lines().map(str::trim).filter(|line| !line.is_empty()).all(is_put_off)
}

fn is_put_off(line: &str) -> bool {
    if line.len() > LINE_BYTES {
        return false;
    }
    let is = |word: &str, known: &[&str]| known.iter().any(|known| word.eq_ignore_ascii_case(known));
    let count = |sign: char| line.chars().filter(|c| *c == sign).count();
    let mut own = words(line);
    match own.next() {
        // A dash says that there is nothing, and `..` is a path.
        None => (count('?') > 1 || count('.') > 2 || line.contains('…')) && line.chars().all(is_sign),
        Some(first) if is(first, &LATER) => own.next().is_none(),
        Some(first) => {
            is(first, &["to"])
                && own.next().is_some_and(|be| is(be, &["be"]))
                && own.next().is_some_and(|done| is(done, &TO_BE))
                && own.nth(WORDS_MAX - 3).is_none()
        }
    }
}

/// Whether a text is a dash in the place of words, or a question mark.
pub fn is_dash(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || matches!(c, '-' | '–' | '—' | '_' | '?'))
}

fn is_sign(c: char) -> bool {
    matches!(c, '?' | '.' | '…' | ' ' | '-' | '*' | '_' | '`' | '"' | '(' | ')')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_off_is_not_said() {
        for stub in [
            "TBD",
            "tbd.",
            "- TBD\n- todo\n",
            "_To be written_",
            "To be determined",
            "to be decided by the team",
            "???",
            "…",
            "...",
            "**TODO**",
            "(tba)",
            "`XXX`",
            "WIP",
        ] {
            assert!(puts_off(stub), "{stub}");
        }
        for said in [
            "",
            "-",
            "—",
            "?",
            "..",
            "**/...",
            "None",
            "To be compliant",
            "To be added to the cart, an item needs a price.",
            "TBD.md is written",
            "Todo list",
            "- TBD\n- The cart shows a total.",
            "✅ ✅",
            "The total",
        ] {
            assert!(!puts_off(said), "{said}");
        }
        assert!(is_dash("-") && is_dash(" — ") && !is_dash(".") && !is_dash("👍") && !is_dash("- a"));
    }
}
