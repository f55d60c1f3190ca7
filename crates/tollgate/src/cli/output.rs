//! Where words go: stdout is data, stderr is talk.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;

use serde::Serialize;
use tollgate_app::environment::Environment;
use tollgate_app::failure::Failure;
use tollgate_app::notice::Notice;
use tollgate_core::code::Code;

use crate::view::diagnostic;
use crate::view::failure::lines;
use crate::view::text::{Colour, Line, Style, beside, harmful, wrap};

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// The wire types, one object a line.
    Json,
}

/// Columns where nobody says how wide the output is.
const WIDTH_DEFAULT: usize = 100;
/// Lines of prose that are longer are hard to follow.
const PAGE_WIDTH: usize = 100;

/// The two streams of the process.
#[derive(Debug)]
pub struct Output {
    format: Format,
    colour_out: Colour,
    colour_err: Colour,
    width: usize,
    /// Whether a person reads the stream in a terminal: only there are sentences broken.
    terminal_out: bool,
    terminal_err: bool,
    lost: Mutex<Option<io::Error>>,
}

impl Output {
    /// Looks at the process's streams once.
    pub fn of_process(format: Format, environment: &Environment) -> Self {
        let colour = |terminal: bool| {
            let wanted = terminal && environment.get("NO_COLOR").is_none() && environment.get("TERM") != Some("dumb");
            if wanted { Colour::Always } else { Colour::Never }
        };
        let columns = environment.get("COLUMNS").and_then(|text| text.parse().ok()).filter(|columns| *columns > 0);
        Self {
            format,
            colour_out: colour(io::stdout().is_terminal()),
            colour_err: colour(io::stderr().is_terminal()),
            width: columns.or_else(terminal_columns).unwrap_or(WIDTH_DEFAULT),
            terminal_out: io::stdout().is_terminal(),
            terminal_err: io::stderr().is_terminal(),
            lost: Mutex::new(None),
        }
    }

    /// How data is printed.
    pub fn format(&self) -> Format {
        self.format
    }

    /// How many columns a line may take.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether talk is coloured.
    pub fn colour_of_talk(&self) -> Colour {
        self.colour_err
    }

    /// Prints a line of data.
    pub fn data(&self, line: impl Into<Line>) {
        let text = line.into().render(self.colour_out) + "\n";
        self.keep(io::stdout().lock().write_all(text.as_bytes()));
    }

    /// Prints a sentence as data behind a label; in a terminal what goes on stands below it.
    pub fn paragraph(&self, label: impl Into<Line>, text: &str) {
        let room = if self.terminal_out { self.width } else { usize::MAX };
        beside(&label.into(), Style::Plain, text, room).into_iter().for_each(|line| self.data(line));
    }

    /// Says a sentence behind a label; in a terminal what goes on stands below it.
    pub fn say(&self, label: impl Into<Line>, style: Style, text: &str) {
        beside(&label.into(), style, text, self.room_of_talk()).into_iter().for_each(|line| self.talk(line));
    }

    /// How many columns talk may take: as many as it needs where no person reads it.
    pub fn room_of_talk(&self) -> usize {
        if self.terminal_err { self.width } else { usize::MAX }
    }

    /// Prints a page of prose: in a terminal its paragraphs are filled anew, and what is indented stays as it is.
    pub fn page(&self, text: &str) {
        if !self.terminal_out {
            return self.text(text);
        }
        self.text(&page(text, self.width.min(PAGE_WIDTH)).join("\n"));
    }

    /// Prints a text of several lines as data, made harmless.
    pub fn text(&self, text: &str) {
        text.lines().for_each(|line| {
            let line = crate::view::text::plain(line);
            self.keep(io::stdout().lock().write_all(format!("{line}\n").as_bytes()));
        });
    }

    /// Prints a document as data: as it is where a program reads it, made harmless in a terminal.
    pub fn document(&self, text: &str) {
        let text = text.trim_end_matches('\n');
        match self.terminal_out {
            true => self.text(text),
            false => self.keep(io::stdout().lock().write_all(format!("{text}\n").as_bytes())),
        }
    }

    /// Prints bytes as data: as they are where a program reads them, made harmless in a terminal.
    pub fn bytes(&self, bytes: &[u8]) {
        match self.terminal_out {
            true => self.text(&String::from_utf8_lossy(bytes)),
            false => self.keep(io::stdout().lock().write_all(bytes)),
        }
    }

    /// Prints an object of the wire on a line of its own.
    pub fn json<T: Serialize>(&self, value: &T) {
        match serde_json::to_string(value) {
            Ok(text) => self.keep(io::stdout().lock().write_all((escape(&text) + "\n").as_bytes())),
            Err(error) => self.keep(Err(error.into())),
        }
    }

    /// Says a line to the person at the terminal.
    pub fn talk(&self, line: impl Into<Line>) {
        let text = line.into().render(self.colour_err) + "\n";
        self.keep(io::stderr().lock().write_all(text.as_bytes()));
    }

    /// Reports a failure: as data with `--json`, else as talk.
    pub fn failure(&self, failure: &Failure) {
        match self.format {
            Format::Json => self.json(&tollgate_api::ErrorDocument { error: failure.wire() }),
            Format::Text => {
                lines(failure, self.width, self.room_of_talk()).into_iter().for_each(|line| self.talk(line))
            }
        }
    }

    /// Says what a person should know besides the result.
    pub fn notice(&self, notice: &Notice) {
        match notice {
            Notice::Warning { code, message, next } => {
                let code = code.map(|code| format!("[{code}]")).unwrap_or_default();
                self.say(Line::new().add(Style::Warn, format!("warning{code}: ")), Style::Plain, message);
                next.iter().for_each(|next| self.talk(Line::from("  ").add(Style::Accent, next)));
            }
            Notice::Document { source, diagnostics } => {
                let lines = diagnostic::lines(diagnostics, source, self.width);
                lines.into_iter().for_each(|line| self.talk(line));
            }
        }
    }

    /// Whether anybody still reads; a reader that went away wants no more.
    pub fn is_wanted(&self) -> bool {
        self.lost.lock().unwrap_or_else(std::sync::PoisonError::into_inner).is_none()
    }

    /// Says whether something could not be written. A reader that went away wanted no more.
    pub fn finish(&self) -> Result<(), Failure> {
        let mut lost = self.lost.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        lost.take().filter(|error| error.kind() != io::ErrorKind::BrokenPipe).map_or(Ok(()), |error| {
            Err(Failure::environment(Code::FILE, "the output could not be written").cause(error))
        })
    }

    fn keep(&self, result: io::Result<()>) {
        if let Err(error) = result {
            self.lost.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(error);
        }
    }
}

/// The lines of a page: paragraphs and items of lists filled to so many columns.
fn page(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut open: Option<(usize, String)> = None;
    let close = |open: &mut Option<(usize, String)>, lines: &mut Vec<String>| {
        if let Some((indent, text)) = open.take() {
            let begins = std::iter::once(0).chain(std::iter::repeat(indent));
            lines.extend(begins.zip(wrap(&text, width - indent)).map(|(by, line)| " ".repeat(by) + &line));
        }
    };
    for line in text.lines() {
        let apart = line.is_empty() || line.starts_with("    ") || line.starts_with(['#', '|']);
        let item = line.starts_with("- ");
        match &mut open {
            _ if apart => {
                close(&mut open, &mut lines);
                lines.push(line.to_owned());
            }
            Some((_, text)) if !item => text.extend([" ", line.trim_start()]),
            _ => {
                close(&mut open, &mut lines);
                open = Some((if item { 2 } else { 0 }, line.to_owned()));
            }
        }
    }
    close(&mut open, &mut lines);
    lines
}

/// Escapes what JSON allows raw and a terminal would obey. All of it stands inside strings.
fn escape(json: &str) -> String {
    if !json.contains(harmful) {
        return json.to_owned();
    }
    let mut out = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        if harmful(character) {
            let mut units = [0; 2];
            character.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(character);
        }
    }
    out
}

fn terminal_columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).or_else(|_| rustix::termios::tcgetwinsize(io::stderr()));
    size.ok().map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_filled_and_what_is_indented_stays() {
        let text = "# A title that is long\n\none two three\nfour\n- an item of\n  a list\n- b\n\n    as it is, however long\n";
        let filled = page(text, 12);
        let expected = ["# A title that is long", "", "one two", "three four", "- an item", "  of a list", "- b", ""];
        assert_eq!(filled[..8], expected);
        assert_eq!(filled[8..], ["    as it is, however long"]);
    }

    #[test]
    fn json_stays_json_and_holds_nothing_a_terminal_obeys() {
        let text = "\u{9b}31m \u{202e} \x1b \u{7f} \u{e0001} ä\n";
        let escaped = escape(&serde_json::to_string(text).unwrap());
        assert!(!escaped.contains(harmful), "{escaped}");
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
    }
}
