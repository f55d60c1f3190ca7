//! Whether a renamed word is what the change in scope renames, and not another thing that is called so.
//!
//! A pair of words ties nothing: the file must get the name from the file that renames it, before and after, by an import, by the
//! path that stands before the word, or because the files of a folder share their names. What no line says is for a person.

use std::collections::BTreeSet;

use super::change::{Hunk, Sign};
use super::imports::{Binding, How, bound};
use super::modules::{Dialect, Places, dialect};
use super::names::Names;
use super::paired::spread;
use super::shape::{Pair, Piece, Stands, spoken};
use super::words::{Language, Token, TokenSort, definitions};

/// What a file in scope defines outside of everything, and what else it may give to others under a name.
#[derive(Debug, Default)]
pub struct Own<'c> {
    before: BTreeSet<&'c str>,
    now: BTreeSet<&'c str>,
    /// Defined in lines that stay.
    stays: BTreeSet<&'c str>,
    /// Comes from elsewhere.
    imported: BTreeSet<String>,
    /// All names of another module may be had from it.
    passes_on: bool,
}

impl<'c> Own<'c> {
    pub fn of(path: &str, hunks: &'c [Hunk<'c>], language: Language) -> Self {
        let dialect = dialect(path);
        let mut own = Self::default();
        for sign in [Sign::Removed, Sign::Added] {
            for binding in bound(hunks, sign, language, dialect) {
                let others = binding.exported || dialect == Some(Dialect::Python);
                own.passes_on |= binding.how == How::Wildcard && others;
                own.imported.extend([binding.local, binding.imported]);
            }
            for hunk in hunks {
                let mut depth = 0_i32;
                for (at, line) in spoken(hunk, sign, language) {
                    let tokens = language.tokens(line);
                    let outside = depth <= 0 && !line.starts_with([' ', '\t']);
                    let defined = definitions(line, &tokens).into_iter().map(|(name, _)| name);
                    match (hunk.lines[at].0, sign) {
                        (Sign::Kept, _) => own.stays.extend(defined),
                        (_, Sign::Removed) if outside => own.before.extend(defined),
                        (_, Sign::Added) if outside => own.now.extend(defined),
                        _ => {}
                    }
                    depth += tokens.iter().filter(|token| !token.quoted).map(|token| braces(token.text)).sum::<i32>();
                }
            }
        }
        own
    }

    /// Whether others who had one name from the file get the same thing by the other now.
    pub fn renames(&self, old: &str, new: &str) -> bool {
        let another = |name: &str| self.stays.contains(name) || self.imported.contains(name);
        self.before.contains(old) && self.now.contains(new) && !self.passes_on && !another(old) && !another(new)
    }
}

fn braces(sign: &str) -> i32 {
    match sign {
        "{" => 1,
        "}" => -1,
        _ => 0,
    }
}

/// Why a renamed word may be another thing than what is renamed in scope; none where each is that.
pub fn doubt(
    path: &str,
    hunks: &[Hunk<'_>],
    pieces: &[Piece<'_>],
    language: Language,
    names: &Names<'_>,
) -> Option<String> {
    // What may be a value or a part is for a person anyway.
    let renamed = pieces.iter().filter_map(|piece| match piece {
        Piece::Renamed { stands: Stands::AsNames | Stands::Inside, at, .. } => Some(*at),
        _ => None,
    });
    let mut renamed = renamed.peekable();
    renamed.peek()?;
    let dialect = dialect(path);
    let half = |sign| Half::of(hunks, sign, language, dialect);
    let file = File { path, dialect, language, names, before: half(Sign::Removed), now: half(Sign::Added) };
    renamed.find_map(|at| file.doubt(at))
}

/// A changed file outside of the scope.
struct File<'a> {
    path: &'a str,
    dialect: Option<Dialect>,
    language: Language,
    names: &'a Names<'a>,
    before: Half<'a>,
    now: Half<'a>,
}

/// One side of it.
struct Half<'a> {
    bound: BTreeSet<Binding>,
    /// The lines of each hunk that do something, with their places.
    lines: Vec<Vec<(usize, &'a str)>>,
    /// Words that stand somewhere else than before a dot: they may be values.
    values: BTreeSet<&'a str>,
    /// Whether a module of Rust lies within the file.
    has_modules: bool,
    /// The package that a file of Go names.
    package: Option<&'a str>,
}

impl<'a> Half<'a> {
    fn of(hunks: &'a [Hunk<'a>], sign: Sign, language: Language, dialect: Option<Dialect>) -> Self {
        let mut half = Half {
            bound: bound(hunks, sign, language, dialect),
            lines: hunks.iter().map(|hunk| spoken(hunk, sign, language)).collect(),
            values: BTreeSet::new(),
            has_modules: false,
            package: None,
        };
        for lines in &half.lines {
            for (_, line) in lines {
                let tokens = language.tokens(line);
                let text = |at: usize| tokens.get(at).map_or("", |token| token.text);
                half.has_modules |= (0..tokens.len()).any(|at| text(at) == "mod" && text(at + 2) == "{");
                if half.package.is_none() && text(0) == "package" {
                    half.package = tokens.get(1).map(|token| token.text);
                }
                let is_value = |at: &usize| {
                    let token = &tokens[*at];
                    let member = *at > 0 && text(at - 1) == ".";
                    token.sort == TokenSort::Word && !token.quoted && !member && text(at + 1) != "."
                };
                half.values.extend((0..tokens.len()).filter(is_value).map(|at| tokens[at].text));
            }
        }
        half
    }

    fn line(&self, hunk: usize, at: usize) -> Option<&'a str> {
        let lines = self.lines.get(hunk)?;
        lines.binary_search_by_key(&at, |(place, _)| *place).ok().map(|found| lines[found].1)
    }

    /// Whether the line before one ends in the midst of a path, or with a comment that may hide its end.
    fn continues(&self, hunk: usize, at: usize, language: Language) -> bool {
        let lines = self.lines.get(hunk).map_or(&[][..], Vec::as_slice);
        let before = lines[..lines.partition_point(|(place, _)| *place < at)].last();
        before.is_some_and(|(_, line)| {
            let line = line.trim_end();
            let mut tokens = language.tokens(line);
            tokens.pop_if(|last| last.text == "\\");
            let ends =
                |with: &[&str]| tokens.iter().rev().map(|token| token.text).take(with.len()).eq(with.iter().copied());
            ends(&["."]) || ends(&[":", ":"]) || line.ends_with("*/")
        })
    }

    /// Whether a list that begins with its first line here is that of what a function takes.
    fn takes(&self, hunk: usize, at: usize) -> bool {
        let lines = self.lines.get(hunk).map_or(&[][..], Vec::as_slice);
        let behind = lines[lines.partition_point(|(place, _)| *place <= at)..].iter().map(|(_, line)| line.trim());
        behind.take(LIST_LINES_MAX).find(|line| line.starts_with(')')).is_some_and(|line| line.ends_with(['{', ':']))
    }
}

impl<'a> File<'a> {
    fn doubt(&self, at: Pair) -> Option<String> {
        let lines = self.before.line(at.hunk, at.before).zip(self.now.line(at.hunk, at.now));
        let Some((old_line, new_line)) = lines else { return Some("an import stands in place of code".to_owned()) };
        let (before, now) = match at.wrapped {
            Some((before, now)) => {
                let of = |half: &Half<'a>, from, to| {
                    let lines = &half.lines[at.hunk];
                    let lines = lines[lines.partition_point(|(place, _)| *place < from)..].iter();
                    spread(lines.take_while(|(place, _)| *place <= to).map(|(_, line)| *line), self.language)
                };
                (of(&self.before, at.before, before), of(&self.now, at.now, now))
            }
            None => (self.language.tokens(old_line), self.language.tokens(new_line)),
        };
        let differing = (0..before.len().min(now.len())).filter(|word| before[*word].text != now[*word].text);
        differing.into_iter().find_map(|word| {
            let (old, new) = (before[word].text, now[word].text);
            let by = self.names.renamed(old, new)?;
            if self.is_own(old_line, &before, word)
                || (word == 0 && self.before.takes(at.hunk, at.before) && opens(&before))
            {
                return Some(format!("{} may be this file's own name", quoted(old)));
            }
            let continues = self.before.continues(at.hunk, at.before, self.language)
                || self.now.continues(at.hunk, at.now, self.language);
            let separator = if self.dialect == Some(Dialect::Rust) { "::" } else { "." };
            let led = path_to(&before, word, separator, continues)
                .zip(path_to(&now, word, separator, continues))
                .is_some_and(|(before, now)| self.leads(&before, &now, old, new));
            (!led).then(|| format!("nothing here says that {} is that of {by}", quoted(old)))
        })
    }

    /// Whether a word of a line may be what the line itself names: a function, something it takes, a variable.
    fn is_own(&self, line: &str, tokens: &[Token<'_>], at: usize) -> bool {
        let word = |at: Option<usize>| at.and_then(|at| tokens.get(at)).filter(|token| token.sort == TokenSort::Word);
        let text = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |token| token.text);
        let (before, next) = (text(at.checked_sub(1)), text(Some(at + 1)));
        let called = next == "(";
        if self.language.qualifies && before == "." {
            return false;
        }
        if definitions(line, tokens).iter().any(|(name, _)| *name == tokens[at].text) {
            return true;
        }
        // `boolean total(…)` and `total int` say what the word is; a type stands there too.
        let types = matches!(self.dialect, Some(Dialect::Go | Dialect::Jvm)) && !called;
        let is_type = tokens[at].text.starts_with(char::is_uppercase);
        let fits_before = match before {
            "as" => self.dialect != Some(Dialect::Python),
            "for" => is_type,
            "mut" => text(at.checked_sub(2)) == "&",
            before => among(BEFORE_A_USE, before) || (types && !among(DECLARES, before)),
        };
        let fits_behind = match next {
            "as" => self.dialect != Some(Dialect::Python),
            next => among(BEHIND_A_USE, next) || self.dialect == Some(Dialect::Jvm),
        };
        if (word(at.checked_sub(1)).is_some() && !fits_before) || (word(Some(at + 1)).is_some() && !fits_behind) {
            return true;
        }
        let arrow = |from: usize| (from..tokens.len()).any(|at| (text(Some(at)), text(Some(at + 1))) == ("=", ">"));
        let rust = self.dialect == Some(Dialect::Rust);
        let script = self.dialect == Some(Dialect::Script);
        // Private fields, lifetimes, macros and regular expressions have names of their own.
        let slash = |tokens: &[Token<'_>]| tokens.iter().any(|token| token.text == "/" && !token.quoted);
        if before == "#"
            || (rust && (before == "'" || text(Some(0)) == "#" || (next == "!" && text(Some(at + 2)) != "=")))
            || (script && slash(&tokens[..at]) && slash(&tokens[at..]))
        {
            return true;
        }
        if called {
            // `total(items): number;`
            return before.is_empty() && closed(tokens, at + 1).is_some_and(|end| text(Some(end + 1)) == ":");
        }
        if (next == "=" && text(Some(at + 2)) == ">") || (rust && (before == "|" || next == "|")) {
            return true;
        }
        let in_list = matches!(before, "" | "(" | "," | "[" | "*" | ".") && matches!(next, "" | "," | ")" | "]" | "=");
        let functions = ["fn", "function", "def", "func", "fun", "lambda"];
        // What a class of Python is made of, and what stands in brackets behind a type, is used.
        let python = self.dialect == Some(Dialect::Python);
        let is_used = python && (text(Some(0)) == "class" || innermost(&tokens[..at]) == Some("["));
        let defines = tokens[..at].iter().any(|token| functions.contains(&token.text))
            || !definitions(line, tokens).is_empty()
            || arrow(at);
        in_list && ((defines && !is_used) || !is_open(&tokens[..at]) || assigned(&tokens[at + 1..]))
    }

    /// Whether both paths lead to what is renamed in scope.
    fn leads(&self, before: &[&str], now: &[&str], old: &str, new: &str) -> bool {
        let Some(dialect) = self.dialect else { return false };
        if let (&[_], &[_]) = (before, now) {
            return self.bare(dialect, old, new);
        }
        let (from, to) = (self.modules(dialect, &self.before, before), self.modules(dialect, &self.now, now));
        from.iter().any(|from| to.iter().any(|to| self.names.follows(from, to, old, new)))
    }

    /// Whether a word without a path is bound to what is renamed in scope.
    fn bare(&self, dialect: Dialect, old: &str, new: &str) -> bool {
        // A later wildcard takes the place of what was bound before it.
        let any = |half: &Half<'_>| half.bound.iter().any(|binding| binding.how == How::Wildcard);
        if dialect == Dialect::Python && (any(&self.before) || any(&self.now)) {
            return false;
        }
        let (was, is) = (self.binding(&self.before, old), self.binding(&self.now, new));
        if was.is_empty() && is.is_empty() {
            return self.shares(dialect, old, new);
        }
        let follows = |was: &Binding, is: &Binding| {
            let (from, to) = (self.files(dialect, &self.before, was), self.files(dialect, &self.now, is));
            from.iter().any(|from| to.iter().any(|to| self.names.follows(from, to, was.name(), is.name())))
        };
        !was.is_empty() && !is.is_empty() && was.iter().all(|was| is.iter().all(|is| follows(was, is)))
    }

    /// Whether the files of the folder share their names, and one of them renames it.
    fn shares(&self, dialect: Dialect, old: &str, new: &str) -> bool {
        let is_test = |package: Option<&str>| package.is_none_or(|package| package.ends_with("_test"));
        let shared = match dialect {
            Dialect::Go => !is_test(self.before.package) && !is_test(self.now.package),
            // A function may be inherited.
            Dialect::Jvm => old.starts_with(char::is_uppercase),
            Dialect::Script | Dialect::Python | Dialect::Rust => false,
        };
        let folder = self.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let files = self.names.files_at(&Places { files: Vec::new(), folders: vec![folder.to_owned()] });
        let is_one = |file: &str| super::modules::dialect(file) == Some(dialect) && !file.ends_with("_test.go");
        shared && files.into_iter().any(|file| is_one(file) && self.names.follows(file, file, old, new))
    }

    /// What a word is bound to.
    fn binding<'h>(&self, half: &'h Half<'_>, word: &str) -> Vec<&'h Binding> {
        let passed_on = |binding: &Binding| binding.exported && self.dialect == Some(Dialect::Script);
        half.bound.iter().filter(|binding| binding.local == word && !passed_on(binding)).collect()
    }

    /// The files in scope that an import may lead to.
    fn files(&self, dialect: Dialect, half: &Half<'_>, binding: &Binding) -> Vec<&str> {
        self.files_of(dialect, half, &binding.module, &binding.imported)
    }

    fn files_of(&self, dialect: Dialect, half: &Half<'_>, module: &str, name: &str) -> Vec<&str> {
        // Within a module of the file, `super` is the file.
        if dialect == Dialect::Rust && module.starts_with("super") && half.has_modules {
            return Vec::new();
        }
        self.names.files_of(dialect, self.path, module, name)
    }

    /// The files in scope that are the module before the last word of a path.
    fn modules(&self, dialect: Dialect, half: &Half<'_>, path: &[&str]) -> Vec<&str> {
        let [receiver @ .., _] = path else { return Vec::new() };
        let [first, rest @ ..] = receiver else { return Vec::new() };
        let bound = self.binding(half, first);
        if dialect != Dialect::Rust && half.values.contains(first) {
            return Vec::new();
        }
        let whole = |parts: &[&str], separator: &str| -> String {
            let parts: Vec<&str> = parts.iter().chain(rest).copied().filter(|part| !part.is_empty()).collect();
            parts.join(separator)
        };
        let module = match (dialect, bound.as_slice()) {
            (Dialect::Rust, []) if matches!(*first, "crate" | "self" | "super") => whole(&[first], "::"),
            // `use crate::cart::{self};`
            (Dialect::Rust, []) => {
                let own = |binding: &&Binding| {
                    binding.imported == "self" && binding.module.rsplit("::").next() == Some(*first)
                };
                let Some(binding) = half.bound.iter().find(own) else { return Vec::new() };
                whole(&[&binding.module], "::")
            }
            (Dialect::Rust, [one]) => whole(&[&one.module, &one.imported], "::"),
            (Dialect::Python, bound) => {
                let named = receiver.join(".");
                match bound {
                    [one] if !one.imported.is_empty() => {
                        let inside = whole(&[&one.imported], ".");
                        let dot = if one.module.ends_with('.') { "" } else { "." };
                        format!("{}{dot}{inside}", one.module)
                    }
                    [one] if one.how == How::Alias => whole(&[&one.module], "."),
                    // `import shop.cart` and `import shop.page` both bind `shop`.
                    bound if bound.iter().any(|one| one.imported.is_empty() && one.module == named) => named,
                    _ => return Vec::new(),
                }
            }
            (Dialect::Script, [one]) if rest.is_empty() && matches!(one.imported.as_str(), "*" | "") => {
                one.module.clone()
            }
            (Dialect::Go, [one]) if rest.is_empty() => one.module.clone(),
            (Dialect::Rust | Dialect::Script | Dialect::Jvm | Dialect::Go, _) => return Vec::new(),
        };
        self.files_of(dialect, half, &module, "")
    }
}

/// Within so many lines the end of a list is looked for.
const LIST_LINES_MAX: usize = 100;
/// Words before something that is used.
const BEFORE_A_USE: &str = "if else elif while switch case return throw raise match unless yield await and or not in is new \
    typeof keyof void do go defer dyn impl move unsafe extends implements throws instanceof satisfies of \
    until when assert del";
/// Words behind something that is used.
const BEHIND_A_USE: &str = "if else and or not is for instanceof satisfies extends implements where";
/// Words before something that is named.
const DECLARES: &str = "fn function def func fun class struct enum trait interface type const let var static mod module \
    union record val object namespace package import";

/// Whether a word stands before something that is used, and calls nothing itself.
pub(super) fn is_before_a_use(word: &str) -> bool {
    among(BEFORE_A_USE, word) || matches!(word, "for" | "let" | "mut" | "ref" | "as" | "lambda")
}

fn among(words: &str, word: &str) -> bool {
    words.split(' ').any(|one| one == word)
}

/// The words of the path that ends at a word, as in `shop.cart.total`; none where it begins with something else than a word.
fn path_to<'t>(tokens: &[Token<'t>], at: usize, separator: &str, continues: bool) -> Option<Vec<&'t str>> {
    let mut words = vec![tokens[at].text];
    let mut first = at;
    loop {
        let sign = |back: usize| first.checked_sub(back).map_or("", |at| tokens[at].text);
        let step = match (sign(1), sign(2)) {
            ("", _) => break,
            (".", _) if separator == "." => 1,
            (":", ":") if separator == "::" => 2,
            // Another way to lead there, or the end of a comment that may hide one.
            (".", _) | (":", ":") | ("/", "*") => return None,
            _ => break,
        };
        let word =
            first.checked_sub(step + 1).filter(|at| tokens[*at].sort == TokenSort::Word && !tokens[*at].quoted)?;
        words.push(tokens[word].text);
        first = word;
    }
    words.reverse();
    (first > 0 || !continues).then_some(words)
}

/// Where a parenthesis that opens is closed.
fn closed(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0_i32;
    (open..tokens.len()).find(|at| {
        depth += bracket(tokens[*at]);
        depth == 0
    })
}

fn bracket(token: Token<'_>) -> i32 {
    match token.text {
        _ if token.quoted => 0,
        "(" | "[" | "{" => 1,
        ")" | "]" | "}" => -1,
        _ => 0,
    }
}

/// Whether a line opens a list and leaves it open.
fn opens(tokens: &[Token<'_>]) -> bool {
    tokens.last().is_some_and(|token| token.text == "(")
}

/// The bracket that is open behind these tokens.
fn innermost<'t>(tokens: &[Token<'t>]) -> Option<&'t str> {
    let mut depth = 0_i32;
    let opens = |token: &&Token<'_>| {
        depth += bracket(**token);
        depth > 0
    };
    tokens.iter().rev().find(opens).map(|token| token.text)
}

/// Whether the list that a word behind these tokens stands in begins among them.
fn is_open(tokens: &[Token<'_>]) -> bool {
    innermost(tokens).is_some()
}

/// Whether something is given to what stands before these tokens.
fn assigned(tokens: &[Token<'_>]) -> bool {
    let text = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |token| token.text);
    let compares =
        |at: usize| matches!(text(at.checked_sub(1)), "=" | "!" | "<" | ">") || matches!(text(Some(at + 1)), "=" | ">");
    let mut depth = 0_i32;
    (0..tokens.len()).any(|at| {
        depth += bracket(tokens[at]);
        depth <= 0 && text(Some(at)) == "=" && !compares(at)
    })
}

fn quoted(text: &str) -> String {
    crate::contract::text::quote(text)
}
