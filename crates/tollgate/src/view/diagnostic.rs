//! A diagnostic with the line of the source it is about, and a caret under the place.

use tollgate_app::failure::Source;
use tollgate_core::diagnostic::{Diagnostic, Place, Severity};

use super::text::{Line, Style, columns, plain};

const TAB: usize = 4;
/// Nobody reads more at once; with `--json` all are there.
const SHOWN_MAX: usize = 50;

/// Diagnostics as a person reads them.
pub fn lines(diagnostics: &[Diagnostic], source: &Source, width: usize) -> Vec<Line> {
    // Cut into lines once: a hostile text has as many diagnostics as lines.
    let text = Text { file: &source.file, lines: source.text.lines().collect() };
    let mut lines: Vec<Line> = diagnostics.iter().take(SHOWN_MAX).flat_map(|one| text.show(one, width)).collect();
    if diagnostics.len() > SHOWN_MAX {
        lines.push(Line::new().add(Style::Faint, format!("and {} more", diagnostics.len() - SHOWN_MAX)));
    }
    lines
}

struct Text<'s> {
    file: &'s str,
    lines: Vec<&'s str>,
}

impl Text<'_> {
    fn show(&self, diagnostic: &Diagnostic, width: usize) -> Vec<Line> {
        let (word, style) = match diagnostic.severity {
            Severity::Error => ("error", Style::Bad),
            Severity::Warning => ("warning", Style::Warn),
        };
        let head = Line::new().add(style, format!("{word}[{}]", diagnostic.code));
        let mut lines = vec![head.add(Style::Strong, format!(": {}", diagnostic.message))];
        lines.extend(self.place(diagnostic.place, width, style, ""));
        if let Some(other) = diagnostic.other {
            lines.extend(self.place(other, width, Style::Accent, " contradicts this"));
        }
        if let Some(hint) = &diagnostic.hint {
            lines.push(Line::new().add(Style::Accent, "  hint: ").text(hint));
        }
        lines
    }

    fn place(&self, place: Place, width: usize, style: Style, label: &str) -> Vec<Line> {
        if place.line == 0 {
            return vec![Line::new().add(Style::Faint, "  --> ").text(self.file)];
        }
        let arrow = Line::new().add(Style::Faint, "  --> ");
        let mut lines = vec![arrow.text(format!("{}:{}:{}", self.file, place.line, place.column.max(1)))];
        let Some(text) = self.lines.get(place.line as usize - 1) else { return lines };
        let number = place.line.to_string();
        let (shown, caret) =
            window(text, place.column.max(1) as usize - 1, width.saturating_sub(number.len() + 4).max(20));
        let bar = |number: &str| Line::new().add(Style::Faint, format!("{number} | "));
        lines.push(bar(&number).text(shown));
        lines.push(bar(&" ".repeat(number.len())).add(style, format!("{}^{label}", " ".repeat(caret))));
        lines
    }
}

/// The part of a line that holds a character and fits, and the column of that character in it.
fn window(text: &str, character: usize, room: usize) -> (String, usize) {
    // A line may be a megabyte: only what can be shown is looked at.
    let start = character.saturating_sub(room / 2);
    let start = if start < room / 4 { 0 } else { start };
    let mut shown = String::new();
    let (mut used, mut caret) = (0, None);
    if start > 0 {
        shown.push('…');
        used = 1;
    }
    let mut rest = text.chars().skip(start).enumerate();
    for (offset, letter) in &mut rest {
        let written: String =
            if letter == '\t' { " ".repeat(TAB) } else { plain(letter.encode_utf8(&mut [0; 4])).into() };
        let takes: usize = written.chars().map(columns).sum();
        if used + takes >= room && used + takes > 1 {
            shown.push('…');
            break;
        }
        if start + offset == character {
            caret = Some(used);
        }
        shown.push_str(&written);
        used += takes;
    }
    // A place behind the last character is where something is missing.
    (shown, caret.unwrap_or(used))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tollgate_core::code::Code;

    use super::*;

    fn show(text: &str, at: Place, width: usize) -> String {
        let source = Source { file: "a.yaml".into(), text: text.into() };
        let diagnostic = Diagnostic::error(Code::INTERNAL, at, "wrong").hint("fix it");
        lines(&[diagnostic], &source, width).iter().map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn the_caret_stands_under_the_place() {
        let expected = "error[TG0600]: wrong\n  --> a.yaml:2:3\n2 |     x: 漢字\n  |      ^\n  hint: fix it\n";
        assert_eq!(show("a\n\tx: 漢字\n", Place { line: 2, column: 3 }, 80), expected);
        let expected = "error[TG0600]: wrong\n  --> a.yaml:1:3\n1 | 漢字x\n  |     ^\n  hint: fix it\n";
        assert_eq!(show("漢字x", Place { line: 1, column: 3 }, 80), expected);
    }

    #[test]
    fn a_long_line_is_shown_around_the_place() {
        let text = format!("{}HERE{}", "a".repeat(5000), "b".repeat(5000));
        let shown = show(&text, Place { line: 1, column: 5001 }, 60);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[2].contains("HERE") && lines[2].chars().count() <= 60, "{shown}");
        assert_eq!(lines[2].chars().position(|c| c == 'H'), lines[3].chars().position(|c| c == '^'), "{shown}");
    }

    #[test]
    fn a_place_that_is_not_there_shows_no_line() {
        assert_eq!(show("a", Place::default(), 80), "error[TG0600]: wrong\n  --> a.yaml\n  hint: fix it\n");
        assert_eq!(
            show("a", Place { line: 9, column: 1 }, 80),
            "error[TG0600]: wrong\n  --> a.yaml:9:1\n  hint: fix it\n"
        );
    }

    #[test]
    fn as_many_diagnostics_as_lines_are_no_burden() {
        let source = Source { file: "a".into(), text: "x\n".repeat(200_000) };
        let all: Vec<_> =
            (1..=200_000).map(|line| Diagnostic::error(Code::INTERNAL, Place { line, column: 1 }, "wrong")).collect();
        let shown = lines(&all, &source, 80);
        assert_eq!(shown.len(), SHOWN_MAX * 4 + 1);
        assert_eq!(shown.last().map(Line::to_string), Some("and 199950 more".into()));
    }

    proptest! {
        #[test]
        fn any_text_and_any_place_can_be_shown(text: String, line: u32, column: u32, width in 0usize..200) {
            show(&text, Place { line: line % 4, column }, width);
        }
    }
}
