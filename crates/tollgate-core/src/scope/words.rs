//! Lines of source as words, as far as the scope rules need them: no grammar, no guess where a line alone cannot tell.

use std::borrow::Cow;

use super::line_end::may_end;
use super::named::{file_name, is_in_fixtures, is_text_for_people, manifests};
use super::texts::{Text, texts};

/// What a file is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Source of a program.
    Code,
    /// Text for people.
    Prose,
    /// What a tool writes from a manifest: a lock file.
    Lock,
    /// What tests compare with: snapshots and fixtures.
    Fixture,
    /// Anything else: configuration, data, what nobody knows.
    Other,
}

/// How the lines of a file are read.
#[derive(Debug, Clone, Copy)]
pub struct Language {
    pub sort: Sort,
    /// What a comment to the end of the line begins with.
    pub comment: &'static str,
    /// Whether white space at the start of a line means something.
    pub indents: bool,
    /// Whether `'` begins a string.
    pub ticks: bool,
    /// Whether there are comments from `/*` to `*/`.
    pub blocks: bool,
    /// The strings that may go on over the end of their line.
    pub texts: &'static [Text],
    /// Whether an import without a name is there for what it does.
    pub bare_imports_act: bool,
    /// Whether a word outside of strings is a name, and never a value or text.
    pub names: bool,
    /// Whether a word behind the name of a module is that module's, and can be nothing of the file's own.
    pub qualifies: bool,
    /// Whether comments may say what an example prints, and are compared with it.
    pub examples: bool,
    /// Whether examples in comments are run as tests.
    pub doc_tests: bool,
    /// Whether the end of a line may end a statement.
    ends_lines: bool,
}

/// Source in which a word outside of strings may be a value, or text that is shown.
const WORDS_ARE_VALUES: &[&str] =
    &["sh", "bash", "zsh", "sql", "tsx", "jsx", "vue", "svelte", "php", "pl", "r", "rb", "ex", "exs"];

/// Words that steer: one more or one less of them is another flow of control.
const STEERING: &[&str] = &[
    "if", "else", "elif", "for", "while", "switch", "case", "return", "break", "continue", "throw", "raise", "try",
    "catch", "except", "finally", "goto", "match", "loop", "unless", "rescue", "yield", "await", "&&", "||",
];
/// Words before the name of what a line defines.
const DEFINING: &[&str] = &[
    "fn",
    "function",
    "def",
    "func",
    "fun",
    "class",
    "struct",
    "enum",
    "trait",
    "interface",
    "type",
    "const",
    "let",
    "var",
    "static",
    "mod",
    "module",
    "union",
    "record",
    "val",
    "object",
    "protocol",
    "namespace",
];
/// Those of them that define something that runs.
const FUNCTIONS: &[&str] = &["fn", "function", "def", "func", "fun", "class"];
/// Those of them that name something for the lines around them alone, unless they stand outside of everything.
const LOCAL: &[&str] = &["let", "var", "val", "const"];
/// What a test case begins with.
const TESTS: &[&str] = &[
    "it(",
    "test(",
    "describe(",
    "it.each",
    "test.each",
    "#[test]",
    "#[tokio::test]",
    "@Test",
    "@test",
    "def test_",
    "func Test",
    "it \"",
    "it '",
];

/// How a file is read, by its name.
pub fn language(path: &str) -> Language {
    let name = file_name(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let (sort, comment) = match extension {
        "rs" | "go" | "java" | "kt" | "kts" | "swift" | "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "cs" | "scala"
        | "dart" | "zig" | "ts" | "tsx" | "js" | "jsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" | "svelte" | "php"
        | "proto" => (Sort::Code, "//"),
        "py" | "rb" | "sh" | "bash" | "zsh" | "ex" | "exs" | "pl" | "r" | "nim" => (Sort::Code, "#"),
        "lua" | "sql" | "hs" | "elm" => (Sort::Code, "--"),
        "md" | "markdown" | "rst" | "adoc" => (Sort::Prose, ""),
        "txt" if is_text_for_people(path) => (Sort::Prose, ""),
        "yaml" | "yml" | "toml" | "txt" => (Sort::Other, "#"),
        _ => (Sort::Other, ""),
    };
    let sort = if manifests(path).is_some() {
        Sort::Lock
    } else if extension == "snap" || (sort != Sort::Code && is_in_fixtures(path)) {
        Sort::Fixture
    } else {
        sort
    };
    // In a file that nobody knows, white space may mean anything.
    let indents = sort != Sort::Code || matches!(extension, "py" | "nim" | "hs" | "elm");
    let script = matches!(extension, "ts" | "tsx" | "js" | "jsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" | "svelte");
    let names = sort == Sort::Code && !WORDS_ARE_VALUES.contains(&extension);
    let (ticks, blocks, texts) =
        (extension != "rs", sort == Sort::Code && (comment == "//" || extension == "sql"), texts(extension));
    let ends_lines = matches!(extension, "kt" | "kts" | "swift" | "scala" | "go" | "zig");
    let (qualifies, examples) = (extension == "go", name.ends_with("_test.go"));
    Language {
        ends_lines,
        sort,
        comment,
        indents,
        ticks,
        blocks,
        texts,
        bare_imports_act: script,
        names,
        qualifies,
        examples,
        doc_tests: extension == "rs",
    }
}

/// A word, number or sign of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'t> {
    pub text: &'t str,
    pub sort: TokenSort,
    /// Whether it stands inside a string.
    pub quoted: bool,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenSort {
    Word,
    Number,
    Sign,
}

impl Language {
    /// The tokens of a line, without a comment at its end.
    pub fn tokens<'t>(&self, line: &'t str) -> Vec<Token<'t>> {
        let mut tokens = Vec::new();
        let mut quote: Option<char> = None;
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            if quote.is_none() && self.is_comment(rest, line) {
                break;
            }
            let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
            let length = match first {
                _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
                '&' if rest.starts_with("&&") => 2,
                '|' if rest.starts_with("||") => 2,
                '\\' if quote.is_some() => rest.char_indices().nth(2).map_or(rest.len(), |(at, _)| at),
                _ => first.len_utf8(),
            };
            let (text, after) = rest.split_at(length);
            let opens = first == '"' || first == '`' || (first == '\'' && self.ticks);
            let quoted = quote.is_some();
            match quote {
                Some(open) if open == first => quote = None,
                None if opens && after.contains(first) => quote = Some(first),
                _ => {}
            }
            rest = after;
            // In a string white space counts.
            if first.is_whitespace() && !quoted {
                continue;
            }
            let sort = match first {
                _ if first.is_ascii_digit() => TokenSort::Number,
                _ if is_word(first) => TokenSort::Word,
                _ => TokenSort::Sign,
            };
            tokens.push(Token { text, sort, quoted });
        }
        tokens
    }

    /// Whether what is left of a line is a comment.
    pub fn is_comment(&self, rest: &str, line: &str) -> bool {
        let apart = || line[..line.len() - rest.len()].chars().next_back().is_none_or(char::is_whitespace);
        !self.comment.is_empty() && rest.starts_with(self.comment) && apart()
    }

    /// Whether a line is nothing but a comment to its end.
    pub fn is_only_comment(&self, line: &str) -> bool {
        let line = line.trim();
        self.is_comment(line, line) || (self.comment == "//" && line.starts_with("/*") && line.ends_with("*/"))
    }

    /// The line without white space that means nothing.
    pub fn squeezed<'t>(&self, line: &'t str) -> Cow<'t, str> {
        if self.indents {
            return line.trim_end().into();
        }
        // A slash may begin a pattern, in which a space counts as in a string; where a string does not end, all of it may be inside.
        let code = line.split_once(self.comment).filter(|_| !self.comment.is_empty()).map_or(line, |(code, _)| code);
        match self.unquoted(line).filter(|_| !code.contains('/')) {
            Some(pieces) if self.names => close_up(pieces.into_iter()).into(),
            // In markup one space or more are the same, and none is not.
            Some(pieces) => pieces.join(" ").into(),
            None => line.trim().into(),
        }
    }

    /// The words of a line, and its strings as they are; none where a string does not end in it, or a comment may hold a part of one.
    fn unquoted<'t>(&self, line: &'t str) -> Option<Vec<&'t str>> {
        let (mut pieces, mut rest) = (Vec::new(), line);
        while let Some(at) = rest.find(['"', '\'', '`']) {
            let sign = rest[at..].chars().next()?;
            let inside = &rest[at + 1..];
            let end = inside.find(sign).filter(|end| !inside[..*end].contains('\\'))?;
            if !self.comment.is_empty() && rest[..at].contains(self.comment) || (sign == '\'' && !self.ticks) {
                return None;
            }
            pieces.extend(rest[..at].split_whitespace());
            pieces.push(&rest[at..at + end + 2]);
            rest = &inside[end + 1..];
        }
        pieces.extend(rest.split_whitespace());
        Some(pieces)
    }

    /// Whether lines may be wrapped otherwise and mean the same: not where a line's end is a statement's.
    pub fn wraps<'t>(&self, lines: impl Iterator<Item = &'t str>) -> bool {
        let ends = |line: &str| {
            ["return", "throw", "break", "continue", "yield"].iter().any(|word| line.trim_end().ends_with(word))
        };
        // What comes into the line of a comment is part of it.
        let sure = !self.indents && self.comment == "//" && self.names && !self.ends_lines;
        let lines: Vec<&str> = lines.collect();
        sure && !lines.iter().any(|line| ends(line) || line.contains('/'))
            && !(self.bare_imports_act && lines.windows(2).any(|pair| may_end(pair[0], pair[1])))
    }

    /// Several lines as one, without white space that means nothing.
    pub fn joined<'t>(&self, lines: impl Iterator<Item = &'t str>) -> String {
        let lines: Vec<Cow<'t, str>> = lines.map(|line| self.squeezed(line)).collect();
        close_up(lines.iter().map(AsRef::as_ref))
    }
}

/// Joins pieces; a space stays between two words, and between two signs.
fn close_up<'t>(pieces: impl Iterator<Item = &'t str>) -> String {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$');
    let is_sign = |c: Option<char>| c.is_some_and(|c| c.is_ascii_punctuation() && !"()[]{},;'\"`_$".contains(c));
    let mut joined = String::new();
    for piece in pieces {
        let (before, next) = (joined.chars().next_back(), piece.chars().next());
        // `a & &b` is not `a && b`.
        if (is_word(before) && is_word(next)) || (is_sign(before) && is_sign(next)) {
            joined.push(' ');
        }
        joined.push_str(piece);
    }
    joined
}

/// The steering words of a line.
pub fn steering<'t>(tokens: &[Token<'t>]) -> Vec<&'t str> {
    // Imports below it are for what reads types; nothing runs otherwise by it.
    if let [first, second, ..] = tokens
        && (first.text, second.text) == ("if", "TYPE_CHECKING")
    {
        return Vec::new();
    }
    let member = |at: usize| at > 0 && tokens[at - 1].text == ".";
    let steers = |(at, token): (usize, &Token<'t>)| {
        (!token.quoted && !member(at) && STEERING.contains(&token.text)).then_some(token.text)
    };
    tokens.iter().enumerate().filter_map(steers).collect()
}

/// The names that a line defines for others, and whether each runs: what stands inside of something is its own.
pub fn definitions<'t>(line: &str, tokens: &[Token<'t>]) -> Vec<(&'t str, bool)> {
    let bare = line.trim_start();
    let inside =
        bare.len() < line.len() && !["pub", "export", "static", "public"].iter().any(|word| bare.starts_with(word));
    let plain: Vec<&Token<'t>> = tokens.iter().filter(|token| !token.quoted).collect();
    let mut found = Vec::new();
    for (at, pair) in plain.windows(2).enumerate() {
        if !DEFINING.contains(&pair[0].text) || pair[1].sort != TokenSort::Word || (at > 0 && plain[at - 1].text == ".")
        {
            continue;
        }
        if DEFINING.contains(&pair[1].text) || pair[1].text == "mut" {
            continue;
        }
        let local = inside && LOCAL.contains(&pair[0].text);
        let rest = plain.get(at + 2..).unwrap_or_default();
        let arrow = rest.windows(2).any(|signs| signs[0].text == "=" && signs[1].text == ">");
        let closure = arrow || rest.iter().any(|token| matches!(token.text, "function" | "lambda"));
        if !local || closure {
            found.push((pair[1].text, FUNCTIONS.contains(&pair[0].text) || closure));
        }
    }
    found.extend(method(&plain));
    found
}

/// `name(…) {` alone on a line: a method.
fn method<'t>(tokens: &[&Token<'t>]) -> Option<(&'t str, bool)> {
    if tokens.iter().any(|token| FUNCTIONS.contains(&token.text)) {
        return None;
    }
    let at = tokens
        .iter()
        .take_while(|token| matches!(token.text, "async" | "public" | "private" | "protected" | "static" | "override"))
        .count();
    let (name, open) = (tokens.get(at)?, tokens.get(at + 1)?);
    let is_method = name.sort == TokenSort::Word && open.text == "(" && tokens.last()?.text == "{";
    // `if (…) {` steers, `describe(…, () => {` calls.
    let calls = tokens.windows(2).any(|signs| signs[0].text == "=" && signs[1].text == ">")
        || tokens.iter().any(|token| token.text == "function");
    (is_method && !calls && !STEERING.contains(&name.text) && name.text != "fn").then_some((name.text, true))
}

/// What a line begins that is a test case; none for others.
pub fn test_case(line: &str) -> Option<&'static str> {
    let line = line.trim_start();
    let line = line.strip_prefix("async ").unwrap_or(line);
    TESTS.iter().find(|begin| line.starts_with(**begin)).map(|begin| begin.trim_end_matches(['(', '"', '\'', ' ']))
}

/// Whether a word is worth comparing: long enough to be a name of somebody's.
pub fn is_telling(word: &str) -> bool {
    word.chars().nth(2).is_some()
        && !DEFINING.contains(&word)
        && !STEERING.contains(&word)
        && !matches!(
            word,
            "import"
                | "export"
                | "from"
                | "use"
                | "pub"
                | "crate"
                | "self"
                | "this"
                | "super"
                | "require"
                | "include"
                | "default"
                | "async"
                | "public"
                | "private"
                | "protected"
                | "readonly"
                | "string"
                | "String"
                | "number"
                | "bool"
                | "boolean"
                | "int"
                | "void"
                | "null"
                | "None"
                | "true"
                | "false"
                | "True"
                | "False"
                | "undefined"
                | "new"
                | "and"
                | "the"
                | "not"
                | "src"
                | "lib"
                | "test"
                | "tests"
                | "mut"
                | "impl"
                | "str"
                | "Some"
                | "Result"
                | "Option"
                | "Vec"
                | "assert"
                | "expect"
                | "console"
                | "log"
                | "print"
                | "println"
                | "index"
                | "with"
                | "that"
                | "are"
                | "was"
                | "has"
        )
}

/// The words of a line.
pub fn words(line: &str, language: Language) -> impl Iterator<Item = &str> {
    language.tokens(line).into_iter().filter(|token| token.sort == TokenSort::Word).map(|token| token.text)
}
