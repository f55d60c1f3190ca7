//! What is open where a line begins: a comment, a text over several lines, brackets. As far as the signs before it say.

use super::texts::{PLAIN, Text, text};
use super::words::{Language, Sort};

/// What a line begins in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inside {
    Code,
    Comment,
    /// A string over several lines: whatever its lines look like, they are a value.
    Text(Text),
}

impl Language {
    /// Whether what looks like a comment may be text: in markup, where it is shown, and below a line with `<<`.
    pub fn shows_comments<'t>(&self, mut lines: impl Iterator<Item = &'t str>) -> bool {
        let markup = !self.names && self.blocks;
        markup || (self.texts == PLAIN && lines.any(|line| line.contains("<<")))
    }
}

/// What a line does to the brackets.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Brackets {
    /// How many it closes of those that were open where it begins.
    pub closed: usize,
    /// Where it opens those that it leaves open.
    pub opened: Vec<usize>,
}

/// Reads lines one after the other.
#[derive(Debug)]
pub struct Open {
    language: Language,
    inside: Inside,
    /// Lines that are open by their indentation, and whether what is below them is text: `run: |`.
    blocks: Vec<(usize, bool)>,
}

impl Open {
    pub fn new(language: Language) -> Self {
        Self { language, inside: Inside::Code, blocks: Vec::new() }
    }

    /// What the next line begins in.
    pub fn inside(&self, line: &str) -> Inside {
        let indent = if line.trim().is_empty() { usize::MAX } else { line.len() - line.trim_start().len() };
        let block = self.blocks.iter().any(|(outer, is_text)| *is_text && *outer < indent);
        if block { Inside::Text(text("", "", false)) } else { self.inside }
    }

    /// What stays open behind the last line.
    pub fn end(&self) -> Inside {
        self.inside
    }

    /// Reads a line.
    pub fn read(&mut self, line: &str) -> Brackets {
        if self.language.sort == Sort::Other {
            self.block(line);
        }
        let mut brackets = Brackets::default();
        let mut at = 0;
        while let Some(first) = line[at..].chars().next() {
            let rest = &line[at..];
            at += match self.inside {
                Inside::Comment => self.leave(rest.find("*/").map(|end| end + 2), rest),
                Inside::Text(open) => self.leave(ended(rest, open), rest),
                Inside::Code if self.language.is_comment(rest, line) => break,
                Inside::Code if self.language.blocks && rest.starts_with("/*") => {
                    self.inside = Inside::Comment;
                    2
                }
                Inside::Code => match self.language.texts.iter().find(|text| rest.starts_with(text.begin)) {
                    Some(open) => {
                        self.inside = Inside::Text(*open);
                        open.begin.len()
                    }
                    None => {
                        match first {
                            '{' | '(' | '[' => brackets.opened.push(at),
                            '}' | ')' | ']' if brackets.opened.pop().is_none() => brackets.closed += 1,
                            _ => {}
                        }
                        let length = self.whole(&line[..at], rest, first);
                        match self.continued(rest, first).filter(|_| length == first.len_utf8()) {
                            Some(open) => {
                                self.inside = Inside::Text(open);
                                rest.len()
                            }
                            None => length,
                        }
                    }
                },
            };
        }
        brackets
    }

    /// Goes on behind what was open, or to the end of the line.
    fn leave(&mut self, end: Option<usize>, rest: &str) -> usize {
        if end.is_some() {
            self.inside = Inside::Code;
        }
        end.unwrap_or(rest.len())
    }

    /// How long what begins here is, where it ends in its line: a string, a letter in quotes, a pattern, or one sign.
    fn whole(&self, before: &str, rest: &str, first: char) -> usize {
        let one = first.len_utf8();
        let quoted = |end: &'static str| ended(&rest[one..], text("", end, true)).map(|end| one + end);
        let found = match first {
            '"' => quoted("\""),
            '\'' if self.language.ticks => quoted("'"),
            // Elsewhere it may begin the name of a lifetime.
            '\'' => {
                let letter = rest[one..].chars().next().filter(|letter| *letter != '\\');
                let end = letter.map(|letter| one + letter.len_utf8()).filter(|end| rest[*end..].starts_with('\''));
                if rest.starts_with("'\\") { quoted("'") } else { end.map(|end| end + 1) }
            }
            '/' if self.language.bare_imports_act && begins_pattern(before) => quoted("/"),
            _ => None,
        };
        found.unwrap_or(one)
    }

    /// The string that begins here and goes on in the next line, where a backslash stands before the end of this one.
    fn continued(&self, rest: &str, first: char) -> Option<Text> {
        let open = match first {
            '"' => text("", "\"", true),
            '\'' if self.language.ticks => text("", "'", true),
            _ => return None,
        };
        let escapes = rest.len() - rest.trim_end_matches('\\').len();
        (escapes % 2 == 1).then_some(open)
    }

    fn block(&mut self, line: &str) {
        let bare = line.trim();
        if bare.is_empty() {
            return;
        }
        let indent = line.len() - line.trim_start().len();
        while self.blocks.last().is_some_and(|(outer, _)| *outer >= indent) {
            self.blocks.pop();
        }
        let is_text =
            bare.trim_end_matches(['+', '-']).trim_end_matches(|c: char| c.is_ascii_digit()).ends_with(['|', '>']);
        self.blocks.push((indent, is_text));
    }
}

/// Where a text ends, behind its last sign.
fn ended(rest: &str, text: Text) -> Option<usize> {
    let mut at = 0;
    loop {
        let end = at + rest[at..].find(text.end)?;
        let escape = rest[at..end].find('\\').filter(|_| text.escapes).map(|escape| at + escape + 1);
        match escape.and_then(|escape| Some(escape + rest[escape..].chars().next()?.len_utf8())) {
            Some(behind) => at = behind,
            None => return Some(end + text.end.len()),
        }
    }
}

/// Whether a slash begins a pattern of a script: what divides stands behind a value.
fn begins_pattern(before: &str) -> bool {
    let before = before.trim_end();
    before.is_empty()
        || before.ends_with(['(', ',', '=', ':', '[', '!', '&', '|', '?', '{', ';'])
        || before.ends_with("return")
}

#[cfg(test)]
mod tests {
    use super::super::words::language;
    use super::*;

    /// What each line begins in: code, a comment or text.
    fn begins(path: &str, lines: &str) -> String {
        let mut open = Open::new(language(path));
        let mut read = |line: &str| {
            let inside = open.inside(line);
            open.read(line);
            match inside {
                Inside::Code => '.',
                Inside::Comment => 'c',
                Inside::Text(_) => 't',
            }
        };
        lines.lines().map(&mut read).collect()
    }

    #[test]
    fn a_line_begins_in_what_the_lines_before_it_left_open() {
        for (path, lines, expected) in [
            ("a.ts", "/* one\ntwo\n*/ f();\ng();", ".cc."),
            ("a.ts", "/* one */ f();\n// it's /* none\ng();", "..."),
            ("a.ts", "const q = `\n// a\n`;\nf();", ".tt."),
            ("a.ts", "const q = `a` + \"`\" + '`';\nf(/`/);\nreturn /[\"`]/;\ng();", "...."),
            ("a.ts", "const half = a / b; // `\nf();", ".."),
            ("a.py", "q = \"\"\"\n# a\n\"\"\"\nf()", ".tt."),
            ("a.py", "q = '''a''' # '''\nf()", ".."),
            ("a.py", "/* no comment\nf()", ".."),
            ("a.rs", "let q = \"a\n// b \\\" c\n\";\nf('\"', '\\'', 'a', &'a b);\ng();", ".tt.."),
            ("a.rs", "let q = r#\"a\n\" // b\n\"#;\nf();", ".tt."),
            ("a.go", "q := `a\\`\nf(\"`\")", ".."),
            ("a.java", "String q = \"\"\"\n // a\n \"\"\";\nf();", ".tt."),
            ("a.kt", "val q = \"\"\"\\\"\"\"\nval r = \"\"\"\n// a\n\"\"\"\nf()", "..tt."),
            // A backslash before the end of a line.
            ("a.py", "q = \"a \\\n# b\"\nf()", ".t."),
            ("a.py", "q = 'a \\\n# b \\\n# c'\nf()", ".tt."),
            ("a.py", "q = 'a' + \\\n# b\nf()", "..."),
            ("a.py", "q = 'a\\\\'\n# b", ".."),
            ("a.ts", "q('a', 'b \\\n// c');\n// d", ".t."),
            ("a.ts", "q(\"a\"); // it's \\\n// c", ".."),
            ("a.c", "char *q = \"a \\\n// b\";\nf();", ".t."),
            ("a.cs", "var q = @\"a\n// b\n\";\nf();", ".tt."),
            ("a.sh", "echo \"a\n# b\"\nf", ".t."),
            ("a.yaml", "run: |\n  # a\n  b\n\n  # c\nnext: 1\n# d", ".tttt.."),
            ("a.yaml", "a:\n  # b\n  c: >-\n    # d\n  # e", "...t."),
        ] {
            assert_eq!(begins(path, lines), expected, "{path}: {lines}");
        }
    }

    #[test]
    fn brackets_in_strings_and_comments_are_none() {
        let mut open = Open::new(language("a.ts"));
        let mut read = |line: &str| open.read(line);
        assert_eq!(read("class A { x = {"), Brackets { closed: 0, opened: vec![8, 14] });
        assert_eq!(read("a: f('}', \"{\", /[}]/), // }"), Brackets::default());
        assert_eq!(read("}; y = [ /* ] */ ]; }"), Brackets { closed: 2, opened: vec![] });
    }
}
