//! The values of variables in files such as `.env`, in every way that somebody may read them: they are not to be printed.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::PathBuf;

/// A larger file is no list of variables.
const FILE_BYTES_MAX: u64 = 256 * 1024;
/// How far the end of a quoted value is looked for.
const QUOTED_BYTES_MAX: usize = 16 * 1024;
/// The most lines that are known by themselves; the values that they are of are known in any case.
const LINES_MAX: usize = 400;

/// The values of the files that are there. A value is taken as it is written and as it is meant, with and without a comment behind it, and
/// one of several lines also line by line, because whoever prints it may put something before each.
pub fn values(files: &[PathBuf]) -> Vec<(String, String)> {
    let mut found = Found::default();
    for path in files.iter().filter(|path| path.symlink_metadata().is_ok_and(|meta| meta.is_file())) {
        let mut text = String::new();
        let read = std::fs::File::open(path).and_then(|file| file.take(FILE_BYTES_MAX).read_to_string(&mut text));
        if read.is_ok() {
            let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
            starts.for_each(|start| found.variable(&text[start..]));
        }
    }
    found.all
}

#[derive(Default)]
struct Found {
    all: Vec<(String, String)>,
    known: BTreeSet<(String, String)>,
    lines: usize,
}

impl Found {
    fn add(&mut self, name: &str, value: &str) {
        let pair = (name.to_owned(), value.to_owned());
        if !value.is_empty() && self.known.insert(pair.clone()) {
            self.all.push(pair);
        }
    }

    /// The variable that a text begins with.
    fn variable(&mut self, text: &str) {
        let line = text.lines().next().unwrap_or_default();
        let Some(at) = line.find(['=', ':']) else { return };
        let name = line[..at].trim();
        let name = name.strip_prefix("export ").unwrap_or(name).trim().trim_matches(['"', '\'']);
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if name.is_empty() || !name.chars().all(plain) {
            return;
        }
        let (rest, value) = (text[at + 1..].trim_start_matches([' ', '\t']), line[at + 1..].trim());
        let quote = value.chars().next().filter(|first| "\"'`".contains(*first));
        match quote.and_then(|quote| quoted(rest, quote)) {
            Some(inner) => {
                self.written(name, inner);
                // Who knows no `\` reads up to the first one.
                self.add(name, inner.split(['"', '\'']).next().unwrap_or_default());
            }
            None => self.unquoted(name, value.trim_end_matches(','), rest),
        }
    }

    fn unquoted(&mut self, name: &str, value: &str, rest: &str) {
        self.add(name, value);
        self.add(name, value.trim_start_matches(['"', '\'', '`']));
        if let Some((before, _)) = value.split_once(" #") {
            self.add(name, before.trim());
        }
        // It goes on behind a `\` at the end of a line.
        let goes_on = |line: &&str| line.ends_with('\\');
        let more = rest.lines().take_while(goes_on).count();
        if more > 0 {
            let whole: Vec<&str> = rest.lines().take(more + 1).collect();
            self.written(name, &whole.join("\n"));
        }
    }

    /// A value as it is written, as it is meant, and by its lines.
    fn written(&mut self, name: &str, value: &str) {
        let meant = meant(value);
        for whole in [value, &meant] {
            self.add(name, whole);
            let lines: Vec<&str> = whole.lines().map(|line| line.trim().trim_end_matches('\\')).collect();
            // The frame of a key is in every key.
            let own = lines.iter().filter(|line| lines.len() > 1 && !line.starts_with("-----"));
            for line in own {
                if self.lines < LINES_MAX {
                    self.lines += 1;
                    self.add(name, line);
                }
            }
        }
    }
}

/// What stands between quotes at the beginning of a text; none where nothing ends it. In single ones a `\` is nothing but itself.
fn quoted(text: &str, quote: char) -> Option<&str> {
    let inner = text.strip_prefix(quote)?;
    let mut escaped = false;
    for (at, byte) in inner.bytes().enumerate().take(QUOTED_BYTES_MAX) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quote != '\'' => escaped = true,
            _ if char::from(byte) == quote => return Some(&inner[..at]),
            _ => {}
        }
    }
    None
}

/// A value without its `\`: a quote, a dollar or another one stands for itself, `\n` for a new line, and the end of a line for nothing.
fn meant(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(char) = chars.next() {
        let next = if char == '\\' { chars.next() } else { None };
        match (char, next) {
            ('\\', Some('\n')) => {}
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('r')) => out.push('\r'),
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some(itself)) => out.push(itself),
            (char, _) => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{folder, write};

    fn of(text: &str) -> Vec<(String, String)> {
        let root = folder("values");
        write(&root, ".env", text);
        std::fs::write(root.join("binary"), [0xff, b'A', b'=', b'b']).unwrap();
        values(&[root.join(".env"), root.join("binary"), root.join("absent")])
    }

    #[test]
    fn values_are_read_as_shells_and_tools_write_them() {
        let found = of(
            "# a comment\nexport API_KEY=\"abc def\"\nPLAIN = 'x y'\nBAD LINE\nLAST=1=2 # why\n=none\n\"json\": \"v\",\n",
        );
        let found: Vec<(&str, &str)> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let expected =
            [("API_KEY", "abc def"), ("PLAIN", "x y"), ("LAST", "1=2 # why"), ("LAST", "1=2"), ("json", "v")];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_value_is_known_in_every_way_it_is_read() {
        for (text, values) in [
            (r#"K="a \"b\" c""#, &[r#"a \"b\" c"#, r#"a "b" c"#][..]),
            ("K=\"one\ntwo\nthree\"", &["one\ntwo\nthree", "one", "two", "three"]),
            ("K='one\ntwo' # why", &["one\ntwo", "one", "two"]),
            ("K=one\\\ntwo\\\nthree", &["onetwothree", "one", "two", "three"]),
            (r#"K="one\ntwo""#, &["one\ntwo", "two", r"one\ntwo"]),
            (r"K='it\' # why", &[r"it\"]),
            ("K=\"never\nended", &["\"never", "never"]),
            ("K=`a \"b\"`", &["a \"b\""]),
        ] {
            let found = of(text);
            for value in values {
                assert!(found.contains(&("K".to_owned(), (*value).to_owned())), "{text}: {value}: {found:?}");
            }
        }
        let many = format!("K=\"{}\"", "a line of it\n".repeat(900));
        assert!(of(&many).len() < 10, "one line is known once");
    }
}
