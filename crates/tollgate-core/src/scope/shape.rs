//! What the lines of a change are: imports, fields of a type, renamed words, layout, comments, or code that no rule knows.

use std::collections::BTreeSet;
use std::ops::Range;

use super::change::{Hunk, Sign};
use super::comment::steers_a_tool;
use super::field::{annotates, is_field, is_part, is_typed_field, uncommented};
use super::heeded::heeded;
use super::open::{Inside, Open};
use super::paired::{differing, is_literal, is_value, paired, rewrapped, stands};
use super::placed::{Role, placed};
use super::words::{Language, Token, TokenSort, words};

/// A piece of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Only white space differs.
    Layout,
    /// A line that is a comment, or part of one; one that steers a tool is told apart.
    Comment { steers_a_tool: bool },
    /// A line of an import, a re-export or a declaration of a module: the words that come or go with it.
    Import(Vec<&'a str>),
    /// A field in the body of a type.
    Field(Sign, &'a str),
    /// A line in which words were replaced, each by one other; and what else than a name one of them may be.
    Renamed { pairs: Vec<(&'a str, &'a str)>, stands: Stands, at: Pair },
    /// A line in which only literal values differ.
    Value(&'a str, &'a str),
    /// Any other line.
    Code(Sign, &'a str),
}

/// Where a line and what became of it stand: the hunk, and the lines of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    pub hunk: usize,
    pub before: usize,
    pub now: usize,
    /// The last lines of the two, where one of them is wrapped.
    pub wrapped: Option<(usize, usize)>,
}

/// Where renamed words stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stands {
    /// Where only names do.
    AsNames,
    /// Called behind a dot: a part of something, perhaps of something else.
    Inside,
    /// Behind a dot and not called, or as a key: a part of something that only its reader knows.
    AsParts,
    /// Where they may be values: in a string, or in a language whose values need no quotes.
    AsValues,
}

/// The pieces of a change; each is a line, or a pair of lines.
pub fn pieces<'a>(hunks: &'a [Hunk<'a>], language: Language) -> Vec<Piece<'a>> {
    hunks.iter().enumerate().flat_map(|(at, hunk)| of_hunk(at, hunk, language)).collect()
}

fn of_hunk<'a>(number: usize, hunk: &'a Hunk<'a>, language: Language) -> Vec<Piece<'a>> {
    let [removed, added] = sides(hunk, language);
    let mut found = Vec::new();
    let mut at = 0;
    while at < hunk.lines.len() {
        let group = |from: usize, sign| hunk.lines[from..].iter().take_while(|line| line.0 == sign).count();
        let old = at..at + group(at, Sign::Removed);
        let new = old.end..old.end + group(old.end, Sign::Added);
        if old.is_empty() && new.is_empty() {
            at += 1;
            continue;
        }
        at = new.end;
        let line = |at: usize| hunk.lines[at].1.as_ref();
        let whole = |range: Range<usize>| language.joined(range.map(line));
        let blank = |range: Range<usize>| range.clone().all(|at| line(at).trim().is_empty());
        if old.clone().any(|at| removed[at] == Role::Text) || new.clone().any(|at| added[at] == Role::Text) {
            found.extend(old.map(|at| Piece::Code(Sign::Removed, line(at))));
            found.extend(new.map(|at| Piece::Code(Sign::Added, line(at))));
            continue;
        }
        let wraps = |range: Range<usize>| language.wraps(range.map(line));
        let wrapped = || wraps(old.clone()) && wraps(new.clone()) && whole(old.clone()) == whole(new.clone());
        if (blank(old.clone()) && blank(new.clone())) || wrapped() {
            found.push(Piece::Layout);
            continue;
        }
        // The last field gets a comma when another one follows it.
        let ended = |at: usize| language.squeezed(line(at).trim_end().trim_end_matches(','));
        let goes_on = |(before, now): (usize, usize)| {
            (removed[before], added[now]) == (Role::Field, Role::Field) && ended(before) == ended(now)
        };
        if old.len() < new.len() && !old.is_empty() && old.clone().zip(new.clone()).all(goes_on) {
            found.push(Piece::Layout);
            found.extend(new.skip(old.len()).map(|at| single(Sign::Added, line(at), &added[at], language)));
            continue;
        }
        let (pairs, alone) = paired((old.clone(), &removed), (new.clone(), &added));
        for &(before, now) in &pairs {
            let at = Pair { hunk: number, before, now, wrapped: None };
            found.extend(pair(at, (line(before), &removed[before]), (line(now), &added[now]), language));
        }
        if !pairs.is_empty() {
            found.extend(alone[0].iter().map(|at| single(Sign::Removed, line(*at), &removed[*at], language)));
            found.extend(alone[1].iter().map(|at| single(Sign::Added, line(*at), &added[*at], language)));
            continue;
        }
        let code = old.clone().all(|at| removed[at] == Role::Code) && new.clone().all(|at| added[at] == Role::Code);
        if code && let Some(piece) = wrapped_otherwise(number, (old.clone(), new.clone()), line, language) {
            found.push(piece);
            continue;
        }
        found.extend(old.map(|at| single(Sign::Removed, line(at), &removed[at], language)));
        found.extend(new.map(|at| single(Sign::Added, line(at), &added[at], language)));
    }
    found
}

/// Lines in which words were replaced and that are wrapped otherwise.
fn wrapped_otherwise<'a>(
    hunk: usize,
    (old, new): (Range<usize>, Range<usize>),
    line: impl Fn(usize) -> &'a str,
    language: Language,
) -> Option<Piece<'a>> {
    let (before, now): (Vec<&str>, Vec<&str>) = (old.clone().map(&line).collect(), new.clone().map(&line).collect());
    let (before, now) = rewrapped(&before, &now, language)?;
    let wrapped = Some((old.end - 1, new.end - 1));
    renamed(Pair { hunk, before: old.start, now: new.start, wrapped }, &before, &now, language)
}

fn single<'a>(sign: Sign, line: &'a str, role: &Role, language: Language) -> Piece<'a> {
    match role {
        Role::Blank => Piece::Layout,
        Role::Comment(steers_a_tool) => Piece::Comment { steers_a_tool: *steers_a_tool },
        Role::Import => Piece::Import(imported(line, language)),
        Role::Field => Piece::Field(sign, line),
        Role::Code | Role::Text => Piece::Code(sign, line),
    }
}

/// The roles of the lines on either side of a hunk.
fn sides(hunk: &Hunk<'_>, language: Language) -> [Vec<Role>; 2] {
    let ((mut removed, before), (mut added, now)) =
        (side(hunk, Sign::Removed, language), side(hunk, Sign::Added, language));
    // A mark that opens or closes a comment around lines that stay is no comment: it takes them away, or lets them run.
    let hides = language.shows_comments(hunk.lines.iter().map(|(_, line)| line.as_ref()));
    if before != now || hides {
        let changed = hunk.lines.iter().map(|(sign, _)| *sign != Sign::Kept);
        for ((role, other), _) in removed.iter_mut().zip(&mut added).zip(changed).filter(|(_, changed)| *changed) {
            for role in [role, other] {
                if let Role::Comment(_) = role {
                    *role = Role::Code;
                }
            }
        }
    }
    [removed, added]
}

/// One side of a hunk: the lines of each import, with whether one of them changed; and all other lines.
#[derive(Debug, Default)]
pub struct Parted<'a> {
    pub imports: Vec<(Vec<&'a str>, bool)>,
    pub others: Vec<&'a str>,
}

/// Parts one side of a hunk into imports and the rest.
pub fn parted<'a>(hunk: &'a Hunk<'a>, sign: Sign, language: Language) -> Parted<'a> {
    let mut parted = Parted::default();
    let mut goes_on = false;
    for ((found, line), role) in hunk.lines.iter().zip(side(hunk, sign, language).0) {
        if *found != sign && *found != Sign::Kept {
            continue;
        }
        match (role, parted.imports.last_mut()) {
            (Role::Blank | Role::Comment(_), _) => {}
            (Role::Field | Role::Code | Role::Text, _) => {
                parted.others.push(line);
                goes_on = false;
            }
            (Role::Import, Some((lines, changed))) if goes_on && !begins_import(line.trim(), language) => {
                lines.push(line);
                *changed |= *found == sign;
            }
            (Role::Import, _) => {
                parted.imports.push((vec![line], *found == sign));
                goes_on = true;
            }
        }
    }
    parted
}

/// The lines of one side of a hunk that are no blanks, comments or imports, each with its place.
pub fn spoken<'a>(hunk: &'a Hunk<'a>, sign: Sign, language: Language) -> Vec<(usize, &'a str)> {
    let (roles, _) = side(hunk, sign, language);
    let speaks = |(at, role): (usize, Role)| {
        let (found, line) = &hunk.lines[at];
        let there = *found == sign || *found == Sign::Kept;
        (there && matches!(role, Role::Field | Role::Code)).then(|| (at, line.as_ref()))
    };
    roles.into_iter().enumerate().filter_map(speaks).collect()
}

fn begins_import(line: &str, language: Language) -> bool {
    is_import(line, language) || opened(line) == Some(Body::Import)
}

/// What became of a line.
fn pair<'a>(at: Pair, (old, was): (&'a str, &Role), (new, is): (&'a str, &Role), language: Language) -> Vec<Piece<'a>> {
    // In a comment for a tool, white space decides whether it is one: `//go:build`, `// go:build`.
    let heeded = matches!((was, is), (Role::Comment(true), _) | (_, Role::Comment(true)));
    if language.squeezed(old) == language.squeezed(new) && (!heeded || old.trim() == new.trim()) {
        return vec![Piece::Layout];
    }
    let both = || vec![single(Sign::Removed, old, was, language), single(Sign::Added, new, is, language)];
    if (was, is) == (&Role::Import, &Role::Import) {
        let (before, now): (BTreeSet<&str>, BTreeSet<&str>) =
            (words(old, language).collect(), words(new, language).collect());
        return vec![Piece::Import(before.symmetric_difference(&now).copied().collect())];
    }
    if matches!(was, Role::Comment(_) | Role::Blank) || matches!(is, Role::Comment(_) | Role::Blank) {
        return both();
    }
    let (before, after) = (language.tokens(old), language.tokens(new));
    if let Some(piece) = renamed(at, &before, &after, language) {
        return vec![piece];
    }
    match differing(&before, &after) {
        Some(pairs) if *is == Role::Code && pairs.iter().all(|(a, b)| is_value(a) && is_value(b)) => {
            pairs.first().map_or_else(both, |(a, b)| vec![Piece::Value(a.text, b.text)])
        }
        _ => both(),
    }
}

/// A line in which nothing but words were replaced, each by one other.
fn renamed<'a>(at: Pair, before: &[Token<'a>], after: &[Token<'a>], language: Language) -> Option<Piece<'a>> {
    let pairs = differing(before, after)?;
    let is_word = |token: &Token<'_>| token.sort == TokenSort::Word && !is_literal(token);
    if !pairs.iter().all(|(a, b)| is_word(a) && is_word(b)) {
        return None;
    }
    let renamed = (0..before.len()).filter(|at| before[*at].text != after[*at].text);
    let stands = renamed.map(|at| stands(before, at, language)).max();
    let stands = stands.filter(|_| language.names).unwrap_or(Stands::AsValues);
    Some(Piece::Renamed { pairs: pairs.into_iter().map(|(a, b)| (a.text, b.text)).collect(), stands, at })
}

/// The words of an import; where it takes several lines, those of its first and last say nothing of what it brings.
fn imported(line: &str, language: Language) -> Vec<&str> {
    let bare = line.trim();
    if bare.starts_with(['}', ')']) || bare.ends_with(['{', '(']) {
        Vec::new()
    } else {
        words(line, language).collect()
    }
}

/// What a line stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    Import,
    Type,
    /// A type with functions in it.
    Class,
    Other,
}

/// The role of each line of one side of a hunk (lines of the other have none that matters), and what each kept line begins in.
fn side(hunk: &Hunk<'_>, sign: Sign, language: Language) -> (Vec<Role>, Vec<Inside>) {
    let mut open = Open::new(language);
    // What is open by its indentation, and by its brackets.
    let (mut indented, mut bracketed): (Vec<(usize, Body)>, Vec<Body>) = (Vec::new(), Vec::new());
    // Git names what the change is in, if that begins before the lines that are shown.
    let mut head = hunk.within.trim();
    let mut outer = opened(head);
    indented.extend(outer.map(|body| (0, body)));
    let mut roles = Vec::with_capacity(hunk.lines.len());
    let mut kept = Vec::new();
    for (found, line) in &hunk.lines {
        if *found != sign && *found != Sign::Kept {
            roles.push(Role::Blank);
            continue;
        }
        let bare = line.trim();
        let indent = line.len() - line.trim_start().len();
        let begins = open.inside(line);
        if *found == Sign::Kept {
            kept.push(begins);
        }
        let brackets = open.read(line);
        let innermost = bracketed.last().copied();
        // A brace alone opens what the line before it names, where that opens and ends nothing itself.
        let named = bare == "{" && !head.ends_with([';', '{', '}']);
        let body = match brackets.opened.as_slice() {
            // Behind a second bracket, or behind the end of something else, it is not what the line begins with.
            [_, _, ..] => Some(Body::Other),
            [at] if line[..*at].contains(['{', '}', ';']) => Some(Body::Other),
            [_] if named => opened(&format!("{head} {{")),
            // A part of a type may be a type without a name: `cart: {`.
            [at] if innermost == Some(Body::Type) && is_part(line[..*at].trim()) => Some(Body::Type),
            [at] => opened(line[..=*at].trim()),
            [] => opened(bare).filter(|_| language.indents),
        };
        if brackets.closed > bracketed.len() {
            outer = None;
        }
        bracketed.truncate(bracketed.len().saturating_sub(brackets.closed));
        bracketed.extend(brackets.opened.iter().map(|_| body.unwrap_or(Body::Other)));
        match begins {
            Inside::Text(_) => {
                roles.push(Role::Text);
                continue;
            }
            Inside::Comment | Inside::Code
                if begins == Inside::Comment || (language.blocks && bare.starts_with("/*")) =>
            {
                // What follows the end of a comment on its line is code.
                let alone = bare.find("*/").is_none_or(|end| end + 2 == bare.len());
                roles.push(if alone { Role::Comment(steers_a_tool(bare)) } else { Role::Code });
                continue;
            }
            Inside::Code | Inside::Comment => {}
        }
        if bare.is_empty() {
            roles.push(Role::Blank);
            continue;
        }
        let mut left = None;
        while indented.last().is_some_and(|(outer, _)| *outer >= indent) {
            left = indented.pop().map(|(_, body)| body);
        }
        let inside = match innermost {
            _ if language.indents => indented.last().map(|(_, body)| *body),
            Some(body) => Some(body),
            None => outer,
        };
        // What stands behind an annotation is what it is about: a field between the two takes it away.
        let own = match role(bare, inside, left, language) {
            Role::Field if annotates(head, language) => Role::Code,
            // In brackets, a line is no field of what they stand in.
            Role::Field if language.indents && innermost.is_some() => Role::Code,
            own => own,
        };
        indented.extend(body.map(|body| (indent, body)));
        if !matches!(own, Role::Comment(_)) {
            head = bare;
        }
        roles.push(own);
    }
    kept.push(open.end());
    heeded(hunk, sign, language, &mut roles);
    placed(hunk, sign, language, &mut roles);
    (roles, kept)
}

fn role(line: &str, inside: Option<Body>, left: Option<Body>, language: Language) -> Role {
    use super::words::Sort;
    if language.is_only_comment(line) {
        // In C the next line is part of it then.
        let goes_on = language.comment == "//" && line.ends_with('\\');
        return if goes_on { Role::Code } else { Role::Comment(steers_a_tool(line)) };
    }
    if language.sort != Sort::Code {
        return Role::Code;
    }
    let closes = line.starts_with(['}', ')']);
    let continued = (inside == Some(Body::Import) || (closes && left == Some(Body::Import))) && is_plain(line);
    if continued || is_import(line, language) {
        return Role::Import;
    }
    let field = match inside {
        Some(Body::Type | Body::Class) => {
            let is = |line: &str| is_field(line) || is_typed_field(line, inside == Some(Body::Type));
            uncommented(line, language).is_some_and(is)
        }
        Some(Body::Import | Body::Other) | None => false,
    };
    if field { Role::Field } else { Role::Code }
}

/// Words that may stand before the word that says what is defined.
const MODIFIERS: &[&str] = &[
    "pub",
    "crate",
    "super",
    "export",
    "default",
    "declare",
    "public",
    "private",
    "protected",
    "internal",
    "abstract",
    "sealed",
    "static",
    "final",
    "data",
    "readonly",
    "partial",
];

/// The body that a line opens.
fn opened(line: &str) -> Option<Body> {
    // Python's end with a colon.
    if line.starts_with("class ") && line.ends_with(':') {
        return Some(Body::Class);
    }
    if line.starts_with("def ") && line.ends_with(':') {
        return Some(Body::Other);
    }
    if !line.ends_with(['{', '(']) {
        return None;
    }
    let words = line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let mut words = words.skip_while(|word| MODIFIERS.contains(word));
    let (first, third) = (words.next().unwrap_or_default(), words.nth(1).unwrap_or_default());
    let calls = line.trim_end_matches('(').contains('(') && !line.starts_with("pub(");
    Some(match first {
        "import" | "use" | "from" if !calls => Body::Import,
        _ if line.starts_with("export {") && !calls => Body::Import,
        "struct" | "interface" | "message" | "record" | "union" if !calls => Body::Type,
        "class" if !calls => Body::Class,
        // `type Item struct {` and `type Item = {`.
        "type" if !calls && (matches!(third, "struct" | "interface") || line.ends_with("= {")) => Body::Type,
        _ => Body::Other,
    })
}

/// Whether a line holds one statement at most, and calls nothing: code can hide behind an import.
fn is_plain(line: &str) -> bool {
    let line = line.strip_suffix(';').unwrap_or(line);
    let line = line.strip_suffix('(').or_else(|| line.strip_prefix(')')).unwrap_or(line);
    !line.contains([';', '(', ')', '=', '+', '!', '&', '|'])
}

/// Whether a line imports, re-exports or declares a module, and does nothing else.
fn is_import(line: &str, language: Language) -> bool {
    if let Some(required) = required(line) {
        return is_plain(required);
    }
    if !is_plain(line.strip_prefix("pub(crate) ").or_else(|| line.strip_prefix("pub(super) ")).unwrap_or(line)) {
        return false;
    }
    let visible = line.split_once(") ").map_or(line, |(_, rest)| rest);
    let visible = visible.strip_prefix("pub ").unwrap_or(visible);
    let module = || visible.strip_prefix("mod ").is_some_and(|rest| rest.ends_with(';'));
    if visible.starts_with("use ") || module() || line.starts_with("#include") || line.starts_with("using ") {
        return true;
    }
    if let Some(rest) = line.strip_prefix("import") {
        let bare = rest.trim_start().starts_with(['"', '\'']);
        let continues = rest.starts_with([' ', '{', '*', '"', '\'']);
        return continues && !(bare && language.bare_imports_act);
    }
    let export = line.starts_with("export ")
        && (line.contains(" from ") || line.starts_with("export {") || line.starts_with("export *"));
    let quoted = line.ends_with(['"', '\'']);
    (line.starts_with("from ") && line.contains(" import "))
        || export
        || (quoted && (line.starts_with("require_relative ") || line.starts_with("require '")))
}

/// What `const x = require('…');` names.
fn required(line: &str) -> Option<&str> {
    let (name, of) = line.strip_suffix(';').unwrap_or(line).split_once(" = require(")?;
    let starts = ["const ", "let ", "var "].iter().any(|word| name.starts_with(word));
    let path = of.strip_suffix(')')?;
    (starts && is_plain(name)).then_some(path)
}
