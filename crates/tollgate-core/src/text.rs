//! Texts of others, before they are shown.

/// Whether a terminal could obey a character, or hide text by it, instead of showing it.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Whether a text shows nothing: white space, and signs without a picture of their own. It is no answer, and no reason.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_unseen(c))
}

/// Whether a character has no picture of its own, so that nobody knows that it is there.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// A text with every run of white space as one space.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text as one line that a terminal shows as it is: for whoever reads it without us, as in a commit.
pub fn plain_line(text: &str) -> String {
    on_screen(&one_line(text))
}

/// A line of a program's output as it would stand on a screen: without escapes, and without what was printed over.
pub fn on_screen(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    let line = line.rsplit('\r').next().unwrap_or(line);
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            // An escape ends with its first letter; `ESC [` begins most of them.
            '\u{1b}' => {
                if chars.clone().next() == Some('[') {
                    chars.next();
                    chars.by_ref().find(|c| ('\u{40}'..='\u{7e}').contains(c));
                }
            }
            '\t' => out.push_str("    "),
            c if is_hidden(c) => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_shows_nothing_is_blank() {
        for blank in [
            "",
            " \t\r\n",
            "\u{a0}\u{3000}",
            "\u{200b}\u{200d}",
            "\u{202e}\u{2066}\u{feff}",
            "\u{1b}\u{7}",
            "\u{2800}\u{3164}",
        ] {
            assert!(is_blank(blank), "{blank:?}");
        }
        for text in [".", "\u{200b}no\u{200b}", "👩‍👩‍👧", "می‌خواهم"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }

    #[test]
    fn a_plain_line_has_nothing_that_a_terminal_obeys() {
        for (text, plain) in [
            ("Greet people", "Greet people"),
            ("a\u{1b}[31mred\u{1b}[0m b", "ared b"),
            ("one\r\ntwo\u{2028}three\tfour", "one two three four"),
            ("\u{202e}a\u{2066}b\u{61c}c\u{200f}d\u{9b}e\u{7}", "abcde"),
            ("Größe 大 👩‍👩‍👧", "Größe 大 👩‍👩‍👧"),
        ] {
            assert_eq!(plain_line(text), plain, "{text:?}");
            assert!(!plain_line(text).chars().any(is_hidden));
        }
    }
}
