//! Words around a folder or a pattern of In Scope: whether they describe it, or may mean a part of it.
//!
//! Nobody can list all the words that narrow (`tests only`, `just the cart`, `nur Tests`). So those that describe are known: what
//! the folder is, whose it is, what is done there. All others leave the folder to a person.

use std::collections::BTreeSet;

use super::item::{bare_word, is_path, is_plain};
use super::task::{FOLDERS_MAX, base_of, is_file};

/// What words say of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    /// Nothing that takes away from it.
    Nothing,
    /// These names in it are what is meant.
    Names(Vec<String>),
    /// Perhaps a part of it, and no path says which.
    Part,
}

/// A word of a sentence, in lower case, or what stands for a thing in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Path(String),
    Code(String),
}

/// Verbs of work; none of them is the name of a thing too (`store`, `test`).
const WORK: &[&str] = &[
    "add",
    "create",
    "modify",
    "update",
    "change",
    "edit",
    "extend",
    "fix",
    "implement",
    "write",
    "rewrite",
    "refactor",
    "rename",
    "move",
    "remove",
    "delete",
    "drop",
    "replace",
    "introduce",
    "extract",
    "split",
    "merge",
    "wire",
    "register",
    "expose",
    "adjust",
    "adapt",
    "migrate",
    "convert",
    "clean",
    "improve",
    "simplify",
    "make",
    "configure",
    "enable",
    "disable",
    "handle",
    "validate",
    "render",
    "compute",
    "calculate",
    "parse",
    "persist",
    "ensure",
    "bump",
    "upgrade",
    "put",
    "touch",
    "generate",
    "allow",
    "insert",
    "finish",
    "complete",
    "rework",
    "reword",
    "correct",
    "repair",
    "mend",
];
/// What a folder does, where a clause begins so.
const DOES: &[&str] = &["holds", "contains", "has", "handles", "implements", "provides", "computes", "defines", "gets"];
/// Nouns for all of a folder.
const WHOLES: &[&str] = &[
    "module",
    "folder",
    "directory",
    "package",
    "crate",
    "component",
    "library",
    "service",
    "app",
    "application",
    "subsystem",
    "layer",
    "place",
    "home",
    "tree",
    "workspace",
    "project",
    "root",
    "namespace",
    "suite",
    "plugin",
    "extension",
    "server",
    "client",
    "engine",
    "repository",
    "codebase",
];
const DETERMINERS: &[&str] = &["the", "a", "an", "our", "its", "this", "whole", "entire"];
/// Words behind which more is said of a noun.
const MORE: &[&str] = &["of", "for", "in", "that", "which", "with", "where", "behind", "to", "and", "from"];
/// Words that mean all that is there, or what becomes of it.
const ALL: &[&str] = &[
    "the",
    "all",
    "every",
    "any",
    "everything",
    "anything",
    "whole",
    "entire",
    "contents",
    "content",
    "of",
    "in",
    "it",
    "them",
    "there",
    "here",
    "below",
    "inside",
    "under",
    "within",
    "recursive",
    "recursively",
    "new",
    "existing",
    "optional",
    "to",
    "be",
    "created",
    "itself",
    "yes",
    "file",
    "files",
    "folders",
    "subfolders",
    "source",
    "code",
];
/// Words without which `files` are some of them.
const EACH: &[&str] = &["all", "every", "any", "everything", "anything", "whole", "entire"];
/// Words that come with more than the folder.
const ADDS: &[&str] = &["and", "plus", "+", "&", "also", "including", "includes", "incl"];
/// Words that take away, wherever they stand.
const LIMITS: &[&str] = &[
    "only",
    "just",
    "solely",
    "exclusively",
    "merely",
    "alone",
    "namely",
    "i.e",
    "ie",
    "specifically",
    "top-level",
    "except",
    "unless",
    "save",
    "but",
    "not",
    "no",
    "never",
    "nor",
    "neither",
    "without",
    "minus",
    "bar",
    "barring",
    "excluding",
    "excluded",
    "excepting",
    "besides",
    "beyond",
    "other",
    "apart",
    "aside",
    "limited",
    "restricted",
    "instead",
    "rather",
    "outside",
];
/// Those of them behind or before which stands what is meant.
const MEANT: &[&str] =
    &["only", "just", "solely", "exclusively", "merely", "alone", "namely", "i.e", "ie", "specifically", "top-level"];
const JOINS: &[&str] = &["and", "or", "in", "the", "file", "files", "both"];
/// Clauses that say when a folder is there.
const PHRASES: &[&[&str]] = &[
    &["does", "not", "exist", "yet"],
    &["not", "there", "yet"],
    &["if", "needed"],
    &["as", "needed"],
    &["only"],
    &["nothing", "else"],
    &["may", "change"],
    &["may", "be", "touched"],
    &["may", "be", "changed"],
    &["may", "be", "modified"],
];
/// What may be looked up, and takes nothing away.
const SOURCES: &[&str] = &["spec", "section", "issue", "adr", "readme", "design", "the"];

pub(super) fn is_in(word: &str, known: &[&str]) -> bool {
    known.contains(&word)
}

/// Whether a word is a verb of work: `rename`, `renaming`.
pub(super) fn is_work(word: &str) -> bool {
    let stem = word.strip_suffix("ing").filter(|stem| stem.len() > 1);
    let is = |stem: &str| {
        let doubled = stem.len() > 1 && stem[..stem.len() - 1].ends_with(&stem[stem.len() - 1..]);
        is_in(stem, WORK) || is_in(&format!("{stem}e"), WORK) || (doubled && is_in(&stem[..stem.len() - 1], WORK))
    };
    is_in(word, WORK) || stem.filter(|stem| stem.is_ascii()).is_some_and(is)
}

/// Whether words mean all that is there.
pub(super) fn is_all(words: &[Token]) -> bool {
    words.iter().all(|word| is_in(word.word(), ALL))
}

/// Whether a word is a noun for all of a folder, or for one file.
pub(super) fn is_whole(word: &str) -> bool {
    is_in(word, WHOLES)
}

impl Token {
    pub fn word(&self) -> &str {
        match self {
            Self::Word(word) => word,
            Self::Path(_) | Self::Code(_) => "",
        }
    }
}

/// The clauses of a text, as signs and brackets part them.
pub(super) fn clauses(text: &str) -> Vec<Vec<Token>> {
    let mut all = vec![Vec::new()];
    let end = |all: &mut Vec<Vec<Token>>| {
        if all.last().is_some_and(|last| !last.is_empty()) {
            all.push(Vec::new());
        }
    };
    let put =
        |all: &mut Vec<Vec<Token>>, token: Token| all.iter_mut().last().into_iter().for_each(|c| c.push(token.clone()));
    for (at, piece) in text.split('`').enumerate() {
        if at % 2 == 1 {
            let span = piece.trim();
            put(&mut all, if is_path(span) { Token::Path(span.into()) } else { Token::Code(span.into()) });
            continue;
        }
        let spaced = piece.replace(['—', '–', '→'], " - ").replace('’', "'");
        for raw in spaced.split_whitespace() {
            if raw.starts_with(['(', '[', ',', ';', ':', '.']) && !raw.starts_with("./") || matches!(raw, "-" | "--") {
                end(&mut all);
            }
            let bare = bare_word(raw).trim_start_matches([',', ';', ':']);
            let lower = bare.trim_matches(['*', '_', '~', ',']).to_lowercase();
            let is_short = matches!(lower.as_str(), "i.e" | "e.g" | "incl");
            match bare {
                _ if lower.is_empty() || lower == "-" || lower == "--" => {
                    // A sign that is none of a sentence says something that nobody knows.
                    let odd = raw.chars().any(|c| !c.is_ascii() || c == '!');
                    odd.then(|| put(&mut all, Token::Word(raw.to_owned())));
                }
                // What begins with a sign takes something away.
                _ if is_short || raw.starts_with(['!', '-']) => put(&mut all, Token::Word(lower)),
                _ if is_path(bare) => put(&mut all, Token::Path(bare.to_owned())),
                _ => put(&mut all, Token::Word(lower)),
            }
            if raw.ends_with([',', ';', ':', ')', ']']) || (raw.ends_with(['.', '!']) && !is_short) {
                end(&mut all);
            }
        }
    }
    all.retain(|clause| !clause.is_empty());
    all
}

/// What words say of folders; of the paths among them that are known, something else is said already.
pub(super) fn said(text: &str, folders: &[String], known: &BTreeSet<&str>) -> Said {
    let (mut names, mut is_limited, mut adds) = (Vec::new(), false, false);
    // What stands in brackets may be what is meant of it; behind a dash it is what it is.
    let begin = text.trim_start();
    let is_told = (begin.starts_with(['—', '–', ':']) || begin.starts_with("- ")) && !text.contains(['(', '[']);
    for clause in clauses(text) {
        let is_known = |token: &Token| matches!(token, Token::Path(path) if known.contains(path.as_str()));
        if clause.iter().any(is_known) {
            continue;
        }
        let only_paths = clause.iter().all(|token| matches!(token, Token::Path(_)) || is_in(token.word(), JOINS));
        let last = clause.last().map_or("", Token::word);
        adds = is_in(clause[0].word(), ADDS) || last == "included" || (adds && only_paths);
        match says(&clause, folders) {
            _ if adds && !limits(&clause) => {}
            Said::Nothing => {}
            Said::Part if clause.iter().all(|token| is_in(token.word(), MEANT)) => is_limited = true,
            Said::Part if is_told && describes(&clause, folders) => {}
            Said::Part => return Said::Part,
            Said::Names(mut more) => names.append(&mut more),
        }
    }
    match (names.is_empty(), is_limited) {
        (true, true) => Said::Part,
        (true, false) => Said::Nothing,
        (false, _) => Said::Names(names),
    }
}

/// Words for things that lie in a folder beside others.
const PARTS: &[&str] = &[
    "test",
    "tests",
    "spec",
    "specs",
    "fixture",
    "fixtures",
    "snapshot",
    "snapshots",
    "doc",
    "docs",
    "documentation",
    "readme",
    "comment",
    "comments",
    "type",
    "types",
    "annotation",
    "annotations",
    "file",
    "files",
    "config",
    "part",
    "parts",
    "one",
    "two",
    "some",
    "half",
];

/// Whether a clause tells what a folder is, and names no part of it.
fn describes(clause: &[Token], folders: &[String]) -> bool {
    clause.iter().all(|token| matches!(token, Token::Word(_))) && !limits(clause) && !names_part(clause, folders)
}

fn names_part(clause: &[Token], folders: &[String]) -> bool {
    let own = own_words(folders);
    let is_own = |word: &str| own.iter().any(|own| own.trim_end_matches('s') == word.trim_end_matches('s'));
    // `its tests` come with what is done.
    let comes_with = |at: usize| at > 0 && is_in(clause[at - 1].word(), &["its", "their"]);
    let words = clause.iter().map(Token::word).enumerate();
    words.into_iter().any(|(at, word)| is_in(word, PARTS) && !is_own(word) && !comes_with(at))
}

/// Whether words before a folder leave all of it in scope.
pub(super) fn is_lead_of_all(lead: &str, folders: &[String]) -> bool {
    const WHAT: &[&str] = &["files", "changes", "change", "edits", "work"];
    const BEFORE: &[&str] = &["in", "to", "of", "at", "within", "inside", "under", "below", "into"];
    let is_label = lead.trim_end().ends_with([':', '(', '-', '—', '–']);
    clauses(lead).into_iter().all(|mut clause| {
        while clause.last().is_some_and(|last| is_in(last.word(), BEFORE)) {
            clause.pop();
        }
        let first = clause.first().map_or("", Token::word);
        let begins = is_work(first) || (clause.len() == 1 && is_in(first, WHAT));
        match limits(&clause) {
            true => false,
            false => is_label || begins || clause.is_empty() || says(&clause, folders) == Said::Nothing,
        }
    })
}

/// Whether a clause takes something away: `the only place` does not.
fn limits(clause: &[Token]) -> bool {
    let is_limit = |(at, token): (usize, &Token)| {
        let word = token.word();
        let before = at.checked_sub(1).map_or("", |before| clause[before].word());
        let is_plain = word == "only" && is_in(before, &["the", "our", "its"]);
        (is_in(word, LIMITS) || word.ends_with("-only") || word.starts_with(['!', '-'])) && !is_plain
    };
    clause.iter().enumerate().any(is_limit)
}

/// Whether words behind an exception take more away than it names.
pub(super) fn limits_more(text: &str) -> bool {
    clauses(text).iter().skip(1).any(|clause| limits(clause))
}

fn says(clause: &[Token], folders: &[String]) -> Said {
    let words: Vec<&str> = clause.iter().map(Token::word).collect();
    let named: Vec<&String> = clause.iter().filter_map(Token::inside).collect();
    let first = words[0];
    if PHRASES.contains(&&words[..]) {
        return Said::Nothing;
    }
    if !named.is_empty() {
        let is_elsewhere = |path: &&String| {
            path.contains('/') && !folders.iter().take(FOLDERS_MAX).any(|folder| lies_in(path, folder))
        };
        let is_told = is_work(first) || is_in(first, &["see", "cf", "spec"]);
        return match named.iter().all(is_elsewhere) {
            true if is_told && !limits(clause) => Said::Nothing,
            _ if clause.iter().all(Token::names_what_is_meant) => Said::Names(named.into_iter().cloned().collect()),
            _ => Said::Part,
        };
    }
    let own = own_words(folders);
    let is_own = |word: &str| own.iter().any(|own| own.trim_end_matches('s') == word.trim_end_matches('s'));
    let all_of_it = words.iter().all(|word| is_in(word, ALL) || (!word.is_empty() && is_own(word)))
        && (!words.iter().any(|word| matches!(*word, "file" | "files"))
            || words.iter().any(|word| is_in(word, EACH))
                && !words.iter().any(|word| is_in(word, &["new", "existing"])));
    let of_something = matches!(clause.get(1), Some(Token::Code(_)))
        || words.get(1).is_some_and(|next| is_in(next, DETERMINERS) || is_in(next, EACH));
    let told = is_work(first)
        || (first.strip_suffix('s').is_some_and(is_work) && of_something)
        || is_in(first, DOES)
        || is_in(first, &["owned", "maintained"])
        || (is_in(first, &["see", "cf"])
            && words.get(1).is_some_and(|next| next.starts_with('#') || is_in(next, SOURCES)));
    // The noun comes first, and what is said of it behind.
    let noun = words.iter().position(|word| is_in(word, MORE)).unwrap_or(words.len());
    let is_whole = words[..noun].split_last().is_some_and(|(last, before)| {
        let plain = |word: &&str| is_in(word, DETERMINERS) || is_own(word);
        is_whole(last) || (is_own(last) && before.iter().all(plain))
    });
    let is_all = all_of_it || ((told || is_whole) && !names_part(clause, folders));
    match is_all && !limits(clause) {
        true => Said::Nothing,
        false => Said::Part,
    }
}

impl Token {
    /// The name of something that may lie in a folder.
    fn inside(&self) -> Option<&String> {
        match self {
            Self::Path(path) => Some(path),
            Self::Code(name) if is_plain(name) && is_file(name) => Some(name),
            Self::Code(_) | Self::Word(_) => None,
        }
    }

    fn names_what_is_meant(&self) -> bool {
        match self {
            Self::Word(word) => is_in(word, MEANT) || is_in(word, JOINS) || is_work(word) || word == "&" || word == "+",
            Self::Path(_) | Self::Code(_) => self.inside().is_some(),
        }
    }
}

fn lies_in(path: &str, folder: &str) -> bool {
    let base = base_of(folder);
    base.is_empty() || path.trim_start_matches("./").strip_prefix(base).is_some_and(|rest| rest.starts_with('/'))
}

/// The words that the last parts of folders are made of.
fn own_words(folders: &[String]) -> Vec<String> {
    let names = folders.iter().filter(|folder| !folder.contains(' ')).take(FOLDERS_MAX);
    let last = names.filter_map(|folder| base_of(folder).rsplit('/').next());
    let parts = last.flat_map(|name| name.split(|c: char| !c.is_alphanumeric())).filter(|part| !part.is_empty());
    parts.map(str::to_lowercase).collect()
}
