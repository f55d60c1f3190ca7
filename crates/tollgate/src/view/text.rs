//! Lines of styled text, and the one place where text from outside is made harmless.

use std::borrow::Cow;
use std::fmt;

/// How a piece of text looks where colour is allowed. Never the only carrier of a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Plain,
    Strong,
    Faint,
    Good,
    Warn,
    Bad,
    Accent,
}

impl Style {
    const fn start(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "\x1b[1m",
            Self::Faint => "\x1b[2m",
            Self::Good => "\x1b[32m",
            Self::Warn => "\x1b[33m",
            Self::Bad => "\x1b[1;31m",
            Self::Accent => "\x1b[36m",
        }
    }
}

/// Whether escapes for colour may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    Never,
    Always,
}

/// One line of text in pieces. Whatever a piece holds, it is made harmless when the line is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line(Vec<(Style, String)>);

impl Line {
    /// A line of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a piece.
    #[must_use]
    pub fn add(mut self, style: Style, text: impl Into<String>) -> Self {
        self.0.push((style, text.into()));
        self
    }

    /// Adds a plain piece.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.add(Style::Plain, text)
    }

    /// Adds the pieces of another line.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// How many columns it takes.
    pub fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| width(&single(text))).sum()
    }

    /// The line cut to so many columns, with an ellipsis where something is missing.
    #[must_use]
    pub fn fit(self, columns: usize) -> Self {
        if self.width() <= columns {
            return self;
        }
        let mut room = columns.saturating_sub(1);
        let mut pieces = Vec::new();
        for (style, text) in self.0 {
            let text = cut(&single(&text), room);
            room -= width(&text);
            pieces.push((style, text));
        }
        pieces.push((Style::Faint, "…".into()));
        Self(pieces)
    }

    /// The line as it is written.
    pub fn render(&self, colour: Colour) -> String {
        let mut out = String::new();
        for (style, text) in &self.0 {
            let text = single(text);
            if colour == Colour::Never || style.start().is_empty() || text.is_empty() {
                out.push_str(&text);
            } else {
                out.extend([style.start(), &text, "\x1b[0m"]);
            }
        }
        out.truncate(out.trim_end_matches(' ').len());
        out
    }
}

impl<T: Into<String>> From<T> for Line {
    fn from(text: T) -> Self {
        Self::new().text(text)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Colour::Never))
    }
}

/// Makes text from outside harmless: what could move the cursor, change the terminal or reorder the line becomes visible.
/// Ends of lines and tabs stay.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(harmful) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\u{0}'..='\u{1f}' if harmful(character) => {
                // The Unicode pictures of the control characters stand in the same order.
                out.push(char::from_u32(0x2400 + character as u32).unwrap_or('\u{fffd}'));
            }
            '\u{7f}' => out.push('\u{2421}'),
            _ if harmful(character) => out.push_str(&format!("<U+{:04X}>", character as u32)),
            _ => out.push(character),
        }
    }
    Cow::Owned(out)
}

/// Whether a character must not reach a terminal: controls, and what reorders or hides text.
pub fn harmful(character: char) -> bool {
    matches!(character,
        '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200b}' | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Harmless, and one line: ends of lines and tabs become spaces.
fn single(text: &str) -> String {
    plain(text).replace(['\n', '\t'], " ")
}

/// How many columns a text takes, roughly: two for wide characters, none for marks.
pub fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// How many columns a character takes.
pub fn columns(character: char) -> usize {
    match character as u32 {
        0x300..=0x36f | 0x200c..=0x200d | 0xfe00..=0xfe0f | 0x20d0..=0x20ff => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// The beginning of a text that takes at most so many columns.
pub fn cut(text: &str, room: usize) -> String {
    let mut used = 0;
    text.chars()
        .take_while(|character| {
            used += columns(*character);
            used <= room
        })
        .collect()
}

/// A text behind a label, broken to so many columns; each line after the first stands below the text.
pub fn beside(label: &Line, style: Style, text: &str, room: usize) -> Vec<Line> {
    let indent = label.width();
    let broken = text.lines().flat_map(|line| wrap(line, room.saturating_sub(indent).max(20)));
    let begins = std::iter::once(label.clone()).chain(std::iter::repeat_with(|| Line::from(" ".repeat(indent))));
    let mut lines: Vec<Line> = begins.zip(broken).map(|(begin, line)| begin.add(style, line)).collect();
    if lines.is_empty() {
        lines.push(label.clone());
    }
    lines
}

/// Breaks a text at its spaces into lines of at most so many columns; a longer word stands alone.
pub fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let wide = width(word);
        let fits = used == 0 || used + 1 + wide <= room;
        match lines.last_mut() {
            Some(line) if fits => {
                if used > 0 {
                    line.push(' ');
                    used += 1;
                }
                line.push_str(word);
                used += wide;
            }
            _ => {
                lines.push(word.to_owned());
                used = wide;
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_from_outside_are_shown_and_not_obeyed() {
        assert_eq!(plain("\x1b[2J\x1b]0;owned\x07"), "␛[2J␛]0;owned␇");
        assert_eq!(plain("a\u{9b}31m\u{202e}b\u{7f}\r\n\tc"), "a<U+009B>31m<U+202E>b␡␍\n\tc");
        let line = Line::new().add(Style::Bad, "x\x1b[0m\ny");
        assert_eq!(line.render(Colour::Always), "\x1b[1;31mx␛[0m y\x1b[0m");
        assert_eq!(line.to_string(), "x␛[0m y");
    }

    #[test]
    fn a_line_is_cut_by_columns_not_by_bytes() {
        assert_eq!(Line::from("übermäßig").fit(5).to_string(), "über…");
        assert_eq!(Line::from("漢字漢字").fit(6).to_string(), "漢字…");
        assert_eq!(Line::from("short").fit(5).to_string(), "short");
    }

    #[test]
    fn a_text_is_broken_at_its_spaces() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a-very-long-word in it", 5), ["a-very-long-word", "in it"]);
        assert_eq!(wrap("", 5), [""]);
    }

    proptest! {
        #[test]
        fn nothing_harmful_is_ever_written(text: String, room in 0usize..40) {
            prop_assert!(!plain(&text).contains(harmful));
            let line = Line::from(text).fit(room);
            prop_assert!(!line.to_string().contains(harmful));
            prop_assert!(line.width() <= room.max(1));
        }
    }
}
