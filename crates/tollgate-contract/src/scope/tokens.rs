//! One tokenizer for all languages: words, numbers, strings, comments and punctuation, by the signs of a row of the table.
//!
//! It reads no grammar. Where the signs alone cannot say what a text is (a string that does not end), the whole text
//! counts as unreadable, and a person judges it.

use super::languages::{Language, Quote};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Word,
    Number,
    Text,
    Comment,
    Punctuation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
    /// The line that it begins in, from 0.
    pub line: usize,
    /// The column that it begins at, in bytes.
    pub column: usize,
    /// It is a sign of an operator right after another one: `&&` is not `& &`.
    pub joined: bool,
}

impl Token<'_> {
    pub fn is(&self, text: &str) -> bool {
        self.text == text && matches!(self.kind, Kind::Word | Kind::Punctuation)
    }

    /// Whether two tokens say the same, wherever they are.
    pub fn same(&self, other: &Token<'_>) -> bool {
        (self.kind, self.text, self.joined) == (other.kind, other.text, other.joined)
    }
}

/// Splits a text into tokens; none when a string or comment does not end, or a character was not valid UTF-8.
pub fn tokens<'t>(text: &'t str, language: &Language) -> Option<Vec<Token<'t>>> {
    let mut reader = Reader { text, at: 0, line: 0, line_start: 0, language, found: Vec::new() };
    while reader.at < text.len() {
        reader.next()?;
    }
    Some(reader.found)
}

struct Reader<'t, 'l> {
    text: &'t str,
    at: usize,
    line: usize,
    line_start: usize,
    language: &'l Language,
    found: Vec<Token<'t>>,
}

impl<'t> Reader<'t, '_> {
    fn next(&mut self) -> Option<()> {
        let rest = &self.text[self.at..];
        let first = rest.chars().next()?;
        if first == char::REPLACEMENT_CHARACTER {
            return None;
        }
        if first.is_whitespace() {
            self.pass(first.len_utf8());
            return Some(());
        }
        let (kind, length) = self.comment(rest)?.or(self.string(rest)?).unwrap_or_else(|| plain(rest, first));
        let is_sign = |c: char| "+-*/%<>=!&|^~?:.@#".contains(c);
        let joined = kind == Kind::Punctuation && is_sign(first) && self.text[..self.at].ends_with(is_sign);
        let column = self.at - self.line_start;
        self.found.push(Token { kind, text: &rest[..length], line: self.line, column, joined });
        self.pass(length);
        Some(())
    }

    fn pass(&mut self, length: usize) {
        for (at, _) in self.text[self.at..self.at + length].match_indices('\n') {
            self.line += 1;
            self.line_start = self.at + at + 1;
        }
        self.at += length;
    }

    /// The length of a comment; the outer none means that it does not end.
    #[expect(clippy::option_option, reason = "no comment, or one that cannot be read")]
    fn comment(&self, rest: &str) -> Option<Option<(Kind, usize)>> {
        if rest.starts_with(self.language.line_comment) {
            return Some(Some((Kind::Comment, rest.find('\n').unwrap_or(rest.len()))));
        }
        let Some((open, close)) = self.language.block_comment.filter(|(open, _)| rest.starts_with(open)) else {
            return Some(None);
        };
        let (mut at, mut depth) = (open.len(), 1);
        while depth > 0 {
            let inside = &rest[at..];
            let end = inside.find(close)?;
            let nested = inside.find(open).filter(|nested| self.language.is_rust && *nested < end);
            match nested {
                Some(nested) => (at, depth) = (at + nested + open.len(), depth + 1),
                None => (at, depth) = (at + end + close.len(), depth - 1),
            }
        }
        Some(Some((Kind::Comment, at)))
    }

    /// The length of a string; the outer none means that it does not end.
    #[expect(clippy::option_option, reason = "no string, or one that cannot be read")]
    fn string(&self, rest: &str) -> Option<Option<(Kind, usize)>> {
        if self.language.is_rust {
            if let Some(length) = raw_string(rest)? {
                return Some(Some((Kind::Text, length)));
            }
            if rest.starts_with('\'') {
                return Some(character(rest).map(|length| (Kind::Text, length)));
            }
        }
        if self.language.is_script && rest.starts_with('/') && self.may_begin_pattern() {
            return Some(Some((Kind::Text, pattern(rest)?)));
        }
        let Some(quote) = self.language.quotes.iter().find(|quote| rest.starts_with(quote.open)) else {
            return Some(None);
        };
        let length = quoted(rest, quote)?;
        let braces = |sign| rest[..length].matches(sign).count();
        // A template inside of a template would end here too early.
        if self.language.is_script && quote.multiline && rest[..length].contains("${") && braces('{') != braces('}') {
            return None;
        }
        Some(Some((Kind::Text, length)))
    }

    /// Whether a value may begin here, so that a slash divides nothing.
    fn may_begin_pattern(&self) -> bool {
        match self.found.iter().rev().find(|token| token.kind != Kind::Comment) {
            None => true,
            Some(token) => match token.kind {
                Kind::Word => self.language.control_words.contains(&token.text),
                Kind::Punctuation => !matches!(token.text, ")" | "]" | "}"),
                Kind::Number | Kind::Text | Kind::Comment => false,
            },
        }
    }
}

fn plain(rest: &str, first: char) -> (Kind, usize) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    if first.is_ascii_digit() {
        let next_is_digit = |at: usize| rest[at + 1..].starts_with(|c: char| c.is_ascii_digit());
        let end = rest.char_indices().find(|(at, c)| !(is_word(*c) || (*c == '.' && next_is_digit(*at))));
        return (Kind::Number, end.map_or(rest.len(), |(at, _)| at));
    }
    if is_word(first) {
        return (Kind::Word, rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
    }
    (Kind::Punctuation, first.len_utf8())
}

fn quoted(rest: &str, quote: &Quote) -> Option<usize> {
    let mut at = quote.open.len();
    loop {
        let inside = &rest[at..];
        if inside.starts_with(quote.close) {
            return Some(at + quote.close.len());
        }
        let first = inside.chars().next()?;
        at += first.len_utf8();
        match first {
            '\n' if !quote.multiline => return None,
            '\\' if quote.escapes => at += rest[at..].chars().next()?.len_utf8(),
            _ => {}
        }
    }
}

/// `r"…"`, `r#"…"#`, `br"…"`.
#[expect(clippy::option_option, reason = "no raw string, or one that does not end")]
fn raw_string(rest: &str) -> Option<Option<usize>> {
    let Some(inside) = ["r", "br", "cr"].iter().find_map(|prefix| rest.strip_prefix(prefix)) else {
        return Some(None);
    };
    let signs = inside.bytes().take_while(|byte| *byte == b'#').count();
    if !inside[signs..].starts_with('"') {
        return Some(None);
    }
    let close = format!("\"{}", "#".repeat(signs));
    let start = rest.len() - inside.len() + signs + 1;
    let end = rest[start..].find(&close)?;
    Some(Some(start + end + close.len()))
}

/// `'a'` or `'\n'`; a lifetime is none.
fn character(rest: &str) -> Option<usize> {
    let inside = &rest[1..];
    let length = match inside.strip_prefix('\\') {
        Some(escaped) => 1 + escaped.char_indices().skip(1).find(|(_, c)| *c == '\'')?.0,
        None => inside.chars().next().filter(|c| *c != '\'')?.len_utf8(),
    };
    inside[length..].starts_with('\'').then_some(length + 2)
}

/// `/…/` of JavaScript; in brackets a slash does not end it.
fn pattern(rest: &str) -> Option<usize> {
    let (mut class, mut escaped) = (false, false);
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return None,
            _ if escaped => {}
            '[' => class = true,
            ']' => class = false,
            '/' if !class => return Some(at + 1),
            _ => {}
        }
        escaped = c == '\\' && !escaped;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::languages::language;
    use super::*;

    fn shown(path: &str, text: &str) -> Option<String> {
        let all = tokens(text, language(path).unwrap())?;
        let sign = |kind| match kind {
            Kind::Word => 'w',
            Kind::Number => 'n',
            Kind::Text => 's',
            Kind::Comment => 'c',
            Kind::Punctuation => 'p',
        };
        Some(all.iter().map(|token| format!("{}{}", sign(token.kind), token.text)).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn a_text_is_split_by_the_signs_of_its_language() {
        for (path, text, expected) in [
            ("a.rs", "let a = 1.5; // b", "wlet wa p= n1.5 p; c// b"),
            ("a.rs", "/* a /* b */ c */ d", "c/* a /* b */ c */ wd"),
            ("a.rs", "r#\"a\"b\"# 'a' '\\'' &'a x", "sr#\"a\"b\"# s'a' s'\\'' p& p' wa wx"),
            ("a.ts", "/* a /* b */ c", "c/* a /* b */ wc"),
            ("a.ts", "f('a\\'b', `c\n${d}`)", "wf p( s'a\\'b' p, s`c\n${d}` p)"),
            ("a.ts", "a / b / c; return /[/']/.x", "wa p/ wb p/ wc p; wreturn s/[/']/ p. wx"),
            ("a.py", "a = '''b\n# c''' # d", "wa p= s'''b\n# c''' c# d"),
            ("a.go", "`a\\` + '\\''", "s`a\\` p+ s'\\''"),
            ("A.java", "\"\"\"\n a \"b\" \"\"\" c", "s\"\"\"\n a \"b\" \"\"\" wc"),
            ("A.cs", "@\"C:\\\" b", "s@\"C:\\\" wb"),
        ] {
            assert_eq!(shown(path, text).as_deref(), Some(expected), "{path}");
        }
    }

    #[test]
    fn a_text_that_the_signs_do_not_explain_is_not_read() {
        for (path, text) in [
            ("a.ts", "<b>don't</b>\nf('a');\n"),
            ("a.py", "x = 'a\n'"),
            ("a.ts", "`${`"),
            ("a.ts", "/* a"),
            ("a.rs", "\"a"),
            ("a.rs", "r#\"a\""),
            ("a.py", "\"\"\"a"),
            ("a.ts", "if (x) a(/\"/)) }) /\"/"),
            ("a.go", "\u{fffd}"),
        ] {
            assert_eq!(shown(path, text), None, "{text}");
        }
    }

    #[test]
    fn a_token_knows_its_line() {
        let text = "a\n  `b\nc` d";
        let all = tokens(text, language("a.ts").unwrap()).unwrap();
        let places: Vec<_> = all.iter().map(|token| (token.line, token.column)).collect();
        assert_eq!(places, [(0, 0), (1, 2), (2, 3)]);
    }
}
