//! What the imports of a file bind before and after a change, and whether the change in scope needs that.
//!
//! A name alone ties nothing: it must come from a module that is, as far as the text says, a file of the change in scope. An import
//! that gives a name the file already had another meaning alters what the file does.

use std::collections::BTreeSet;

use super::change::{Hunk, Sign};
use super::modules::{Dialect, dialect};
use super::named::file_name;
use super::names::Names;
use super::shape::parted;
use super::words::{Language, Token, TokenSort};
use crate::Name;

/// What the imports of a change say of it.
#[derive(Debug, Default)]
pub struct Imports<'n> {
    /// Why the change in scope needs one of them, and the file that says so.
    pub strong: Option<(String, &'n Name)>,
    /// Whether there is one of which nothing says that it is needed.
    pub loose: bool,
    /// Why the file may do something else.
    pub open: Option<String>,
    /// A module that is no file of any repository.
    pub foreign: Option<String>,
    /// Whether all that comes in is given to others, and lies in the folder of the file or below it.
    pub gathered: bool,
}

/// How a name comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    Plain,
    /// Under another name.
    Alias,
    /// With all others of its module.
    Wildcard,
    /// Not at all: the module is there for what it does.
    Effect,
}

/// A name that an import binds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Binding {
    /// What it is called in the file, or by those who import it from there.
    pub local: String,
    pub exported: bool,
    /// What it is called in the module; nothing for the module itself.
    pub imported: String,
    pub module: String,
    pub how: How,
    /// Who sees it, where that is less than all and more than the file: `pub(crate)`.
    pub seen_by: String,
}

/// One side of a change.
#[derive(Debug, Default)]
struct Side<'a> {
    bound: BTreeSet<Binding>,
    /// A line of an import that changed and cannot be read.
    unclear: Option<&'a str>,
    /// The words of the other lines.
    used: BTreeSet<&'a str>,
}

/// Judges the imports of a change by what they bind.
pub fn judge<'n>(path: &str, hunks: &[Hunk<'_>], language: Language, names: &Names<'n>) -> Imports<'n> {
    let dialect = dialect(path);
    let before = side(hunks, Sign::Removed, language, dialect);
    let after = side(hunks, Sign::Added, language, dialect);
    let mut imports = Imports::default();
    if let Some(line) = before.unclear.or(after.unclear) {
        imports.loose = true;
        imports.open = Some(format!("where this import leads is not known: {}", quoted(line.trim())));
    }
    let added: Vec<&Binding> = after.bound.difference(&before.bound).collect();
    let all_of = |binding: &&Binding| binding.how == How::Wildcard;
    let hidden = before.bound.iter().find(all_of).filter(|all| added.iter().any(|one| one.module != all.module));
    if let Some(all) = hidden {
        // A name that comes by itself goes before one that comes with all others.
        imports.open =
            Some(format!("all names of {} come in here, and a new one may hide one of them", quoted(&all.module)));
    }
    let removed: Vec<&Binding> = before.bound.difference(&after.bound).collect();
    imports.loose |= added.is_empty() && removed.is_empty();
    let Some(dialect) = dialect else { return imports };
    let leads = |binding: &Binding| names.files_of(dialect, path, &binding.module, &binding.imported);
    let folder = &path[..path.len() - file_name(path).len()];
    let gathers = |binding: &&Binding| {
        let given = binding.exported || dialect != Dialect::Script;
        given && leads(binding).into_iter().any(|file| file.starts_with(folder))
    };
    imports.gathered = added.iter().all(gathers);
    for binding in &added {
        let needed = leads(binding).into_iter().find_map(|file| names.brings(file, binding.name()));
        imports.take(needed);
        if binding.module.contains("://") {
            imports.foreign.get_or_insert_with(|| binding.module.clone());
        }
        let key = |other: &&&Binding| (other.exported, &other.local) == (binding.exported, &binding.local);
        // Both lists are in the order of the local name.
        let at = removed.partition_point(|other| (&other.local, other.exported) < (&binding.local, binding.exported));
        let instead_of = removed.get(at).filter(key);
        let follows = instead_of.is_some_and(|old| {
            let same_name =
                old.imported == binding.imported || names.renamed(&old.imported, &binding.imported).is_some();
            same_name && leads(old).into_iter().any(|file| names.loses(file, old.name()).is_some())
        });
        let open = binding.open(instead_of.is_some(), follows, before.used.contains(binding.local.as_str()));
        imports.open = imports.open.take().or(open);
    }
    for binding in &removed {
        let needed = leads(binding).into_iter().find_map(|file| names.loses(file, binding.name()));
        let at = added.partition_point(|other| (&other.local, other.exported) < (&binding.local, binding.exported));
        let replaced =
            added.get(at).is_some_and(|other| (other.exported, &other.local) == (binding.exported, &binding.local));
        let missed =
            !replaced && (after.used.contains(binding.local.as_str()) || (binding.exported && needed.is_none()));
        if missed && imports.open.is_none() {
            imports.open = Some(format!("{} is no longer imported or exported here", quoted(&binding.local)));
        }
        imports.take(needed);
    }
    imports
}

impl<'n> Imports<'n> {
    fn take(&mut self, needed: Option<(String, &'n Name)>) {
        self.loose |= needed.is_none();
        self.strong = self.strong.take().or(needed);
    }
}

impl Binding {
    /// The name by which the module knows it.
    pub fn name(&self) -> &str {
        if self.imported.is_empty() || self.imported == "default" { &self.local } else { &self.imported }
    }

    /// Why the file may do something else by it.
    fn open(&self, replaces: bool, follows: bool, used: bool) -> Option<String> {
        let (local, module) = (quoted(&self.local), quoted(&self.module));
        match self.how {
            How::Wildcard => Some(format!("all names of {module} come in")),
            How::Effect => Some(format!("{module} is imported for what it does")),
            How::Plain | How::Alias if replaces && follows => None,
            How::Plain | How::Alias if replaces => Some(format!("{local} means something else now, from {module}")),
            How::Alias => Some(format!("{} of {module} is called {local} here", quoted(self.name()))),
            How::Plain if used && !self.exported => {
                Some(format!("the file used {local} before, and now it comes from {module}"))
            }
            How::Plain => None,
        }
    }
}

/// What the imports of one side bind, as far as they can be read.
pub fn bound(hunks: &[Hunk<'_>], sign: Sign, language: Language, dialect: Option<Dialect>) -> BTreeSet<Binding> {
    side(hunks, sign, language, dialect).bound
}

fn side<'a>(hunks: &'a [Hunk<'a>], sign: Sign, language: Language, dialect: Option<Dialect>) -> Side<'a> {
    let mut side = Side::default();
    for hunk in hunks {
        let parted = parted(hunk, sign, language);
        for (lines, changed) in parted.imports {
            let atoms: Vec<Atom<'_>> = lines.iter().flat_map(|line| atoms(&language.tokens(line))).collect();
            match dialect.and_then(|dialect| read(dialect, &atoms)) {
                Some(bound) => side.bound.extend(bound),
                None if changed => side.unclear = side.unclear.or(lines.first().copied()),
                None => {}
            }
        }
        for line in parted.others {
            let tokens = language.tokens(line);
            let member = |at: usize| at > 0 && tokens[at - 1].text == ".";
            let words = tokens
                .iter()
                .enumerate()
                .filter(|(at, token)| token.sort == TokenSort::Word && !token.quoted && !member(*at));
            side.used.extend(words.map(|(_, token)| token.text));
        }
    }
    side
}

/// A word, a sign or a whole string.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Atom<'a> {
    Word(&'a str),
    Sign(&'a str),
    Text(String),
}

fn atoms<'a>(tokens: &[Token<'a>]) -> Vec<Atom<'a>> {
    let mut atoms = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let inside = tokens[at + 1..].iter().take_while(|token| token.quoted).count();
        if inside > 0 && !token.quoted {
            // The last one closes it.
            atoms.push(Atom::Text(tokens[at + 1..at + inside].iter().map(|token| token.text).collect()));
        } else if token.sort == TokenSort::Word {
            atoms.push(Atom::Word(token.text));
        } else {
            atoms.push(Atom::Sign(token.text));
        }
        at += inside + 1;
    }
    while atoms.last() == Some(&Atom::Sign(";")) {
        atoms.pop();
    }
    atoms
}

/// What an import binds; none where it cannot be read.
fn read(dialect: Dialect, atoms: &[Atom<'_>]) -> Option<Vec<Binding>> {
    match dialect {
        Dialect::Script => script(atoms),
        Dialect::Python => python(atoms),
        Dialect::Rust => rust(atoms),
        Dialect::Jvm => jvm(atoms),
        Dialect::Go => go(atoms),
    }
}

fn bind(local: &str, imported: &str, module: &str, how: How) -> Binding {
    Binding {
        local: local.into(),
        exported: false,
        imported: imported.into(),
        module: module.into(),
        how,
        seen_by: String::new(),
    }
}

/// `a, b as c`: each with the word that stands between the two names.
fn entries(atoms: &[Atom<'_>], module: &str, between: &Atom<'_>) -> Option<Vec<Binding>> {
    let entry = |entry: &[Atom<'_>]| match entry {
        [Atom::Sign("*")] => Some(bind("*", "*", module, How::Wildcard)),
        [Atom::Word("type"), Atom::Word(name)] | [Atom::Word(name)] => Some(bind(name, name, module, How::Plain)),
        [Atom::Word(name), word, Atom::Word(local)]
        | [Atom::Word("type"), Atom::Word(name), word, Atom::Word(local)]
            if word == between =>
        {
            // What a module exports by default has no other name.
            let plain = name == local || *name == "default";
            Some(bind(local, name, module, if plain { How::Plain } else { How::Alias }))
        }
        _ => None,
    };
    atoms.split(|atom| *atom == Atom::Sign(",")).filter(|part| !part.is_empty()).map(entry).collect()
}

fn script(atoms: &[Atom<'_>]) -> Option<Vec<Binding>> {
    if let [
        Atom::Word("const" | "let" | "var"),
        pattern @ ..,
        Atom::Sign("="),
        Atom::Word("require"),
        Atom::Sign("("),
        Atom::Text(module),
        Atom::Sign(")"),
    ] = atoms
    {
        return match pattern {
            [Atom::Word(name)] => Some(vec![bind(name, "", module, How::Plain)]),
            [Atom::Sign("{"), inside @ .., Atom::Sign("}")] => entries(inside, module, &Atom::Sign(":")),
            _ => None,
        };
    }
    let [first, head @ .., Atom::Word("from"), Atom::Text(module)] = atoms else { return None };
    let exported = *first == Atom::Word("export");
    if !exported && *first != Atom::Word("import") {
        return None;
    }
    let head = match head {
        [Atom::Word("type"), rest @ ..] if !matches!(rest, [] | [Atom::Sign(","), ..]) => rest,
        head => head,
    };
    let (default, rest) = match head {
        [Atom::Word(name)] => (Some(name), &[][..]),
        [Atom::Word(name), Atom::Sign(","), rest @ ..] => (Some(name), rest),
        rest => (None, rest),
    };
    let mut bound = match rest {
        [] => Vec::new(),
        [Atom::Sign("*")] => vec![bind("*", "*", module, How::Wildcard)],
        [Atom::Sign("*"), Atom::Word("as"), Atom::Word(local)] => vec![bind(local, "*", module, How::Alias)],
        [Atom::Sign("{"), inside @ .., Atom::Sign("}")] => entries(inside, module, &Atom::Word("as"))?,
        _ => return None,
    };
    bound.extend(default.map(|name| bind(name, "default", module, How::Plain)));
    bound.iter_mut().for_each(|binding| binding.exported = exported);
    Some(bound)
}

/// Words with signs between them, as they are written.
fn path(atoms: &[Atom<'_>]) -> Option<String> {
    let part = |atom: &Atom<'_>| match atom {
        Atom::Word(word) => Some(word.to_string()),
        Atom::Sign(sign @ ("." | ":")) => Some(sign.to_string()),
        Atom::Sign(_) | Atom::Text(_) => None,
    };
    atoms.iter().map(part).collect()
}

fn python(atoms: &[Atom<'_>]) -> Option<Vec<Binding>> {
    let [first, rest @ ..] = atoms else { return None };
    if *first == Atom::Word("from") {
        let at = rest.iter().position(|atom| *atom == Atom::Word("import"))?;
        let names = match &rest[at + 1..] {
            [Atom::Sign("("), inside @ .., Atom::Sign(")")] => inside,
            names => names,
        };
        return entries(names, &path(&rest[..at])?, &Atom::Word("as"));
    }
    let entry = |entry: &[Atom<'_>]| {
        let (module, local) = match entry {
            [module @ .., Atom::Word("as"), Atom::Word(local)] => (path(module)?, Some(*local)),
            module => (path(module)?, None),
        };
        let own = module.split('.').next().unwrap_or_default().to_owned();
        let how = if local.is_some_and(|local| local != module) { How::Alias } else { How::Plain };
        Some(bind(local.unwrap_or(&own), "", &module, how))
    };
    let names = (*first == Atom::Word("import")).then_some(rest)?;
    names.split(|atom| *atom == Atom::Sign(",")).map(entry).collect()
}

fn rust(atoms: &[Atom<'_>]) -> Option<Vec<Binding>> {
    let (exported, seen_by, atoms) = match atoms {
        [Atom::Word("pub"), Atom::Sign("("), Atom::Word(by), Atom::Sign(")"), rest @ ..] => (false, *by, rest),
        [Atom::Word("pub"), rest @ ..] => (true, "", rest),
        rest => (false, "", rest),
    };
    let seen = |binding: Binding| Binding { exported, seen_by: seen_by.to_owned(), ..binding };
    if let [Atom::Word("mod"), Atom::Word(name)] = atoms {
        return Some(vec![seen(bind(name, name, "self", How::Plain))]);
    }
    let [Atom::Word("use"), rest @ ..] = atoms else { return None };
    let mut bound = Vec::new();
    used("", rest, 0, &mut bound)?;
    Some(bound.into_iter().map(seen).collect())
}

/// How deep the names of an import may be nested.
const NESTED_MAX: usize = 8;

/// What `a::{b, c::{d, e as f}}` brings; none where it cannot be read.
fn used(prefix: &str, atoms: &[Atom<'_>], depth: usize, bound: &mut Vec<Binding>) -> Option<()> {
    let module = |atoms: &[Atom<'_>]| Some(format!("{prefix}{}", path(atoms)?));
    let mut open = 0_usize;
    let parts = atoms.split(|atom| {
        match atom {
            Atom::Sign("{") => open += 1,
            Atom::Sign("}") => open = open.saturating_sub(1),
            _ => {}
        }
        open == 0 && *atom == Atom::Sign(",")
    });
    for part in parts.filter(|part| !part.is_empty()) {
        match part.iter().position(|atom| *atom == Atom::Sign("{")) {
            Some(at) if depth < NESTED_MAX => {
                let [.., Atom::Sign("}")] = part else { return None };
                used(&module(&part[..at])?, &part[at + 1..part.len() - 1], depth + 1, bound)?;
            }
            Some(_) => return None,
            None => {
                let colons = |atoms: &[Atom<'_>]| atoms.ends_with(&[Atom::Sign(":"), Atom::Sign(":")]);
                let at = part.windows(2).rposition(colons).map_or(0, |at| at + 2);
                bound.extend(entries(&part[at..], module(&part[..at])?.trim_end_matches("::"), &Atom::Word("as"))?);
            }
        }
    }
    Some(())
}

fn jvm(atoms: &[Atom<'_>]) -> Option<Vec<Binding>> {
    let [Atom::Word("import"), rest @ ..] = atoms else { return None };
    let at = rest.iter().rposition(|atom| *atom == Atom::Sign("."))?;
    if matches!(rest[0], Atom::Word("static")) {
        return None;
    }
    entries(&rest[at + 1..], &path(&rest[..at])?, &Atom::Word("as"))
}

fn go(atoms: &[Atom<'_>]) -> Option<Vec<Binding>> {
    let mut bound = Vec::new();
    let mut called = None;
    for atom in atoms {
        match atom {
            Atom::Word("import") | Atom::Sign("(" | ")" | ";") => {}
            Atom::Word(name) | Atom::Sign(name @ ".") => called = Some(*name),
            Atom::Sign(_) => return None,
            Atom::Text(module) => {
                let own = module.rsplit('/').next().unwrap_or(module);
                let how = match called {
                    None => How::Plain,
                    Some("_") => How::Effect,
                    Some(".") => How::Wildcard,
                    Some(_) => How::Alias,
                };
                bound.push(bind(called.take().unwrap_or(own), "", module, how));
            }
        }
    }
    Some(bound)
}

fn quoted(text: &str) -> String {
    crate::contract::text::quote(text)
}
