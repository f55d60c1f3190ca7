//! Words above a list of paths in an item of In Scope: `Backend:`, `Files to change`, `See also:`.
//!
//! What stands below such words is read as what stands behind them on their line. Nobody can list all the words that give files
//! away, so those are known that only say what the files are; with others a person says what is meant.

use super::described::{Token, clauses, is_all, is_in, is_whole, is_work};
use super::item::{is_plain, mentions};
use super::leading::{POINTS, led};
use super::refusing::{Refused, refused};
use super::refusing_words::{ALONE, BEFORE, BEFORE_DIRECTLY};

/// What words say of the list below them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    /// What is below is changed.
    Lists,
    /// What is below may be there to be looked at.
    Points,
    /// What is below is not to be changed.
    Refuses,
}

/// What a part of a project is called, or a sort of files.
const AREAS: &[&str] = &[
    "api",
    "apis",
    "app",
    "assets",
    "backend",
    "build",
    "ci",
    "cli",
    "code",
    "commands",
    "component",
    "components",
    "config",
    "configuration",
    "controllers",
    "core",
    "data",
    "database",
    "db",
    "demo",
    "doc",
    "docs",
    "documentation",
    "domain",
    "e2e",
    "endpoint",
    "endpoints",
    "entities",
    "file",
    "files",
    "fixtures",
    "folder",
    "folders",
    "frontend",
    "function",
    "functions",
    "handler",
    "handlers",
    "helper",
    "helpers",
    "hooks",
    "implementation",
    "infra",
    "infrastructure",
    "integration",
    "interface",
    "library",
    "logic",
    "middleware",
    "migration",
    "migrations",
    "model",
    "models",
    "module",
    "modules",
    "package",
    "packages",
    "page",
    "pages",
    "paths",
    "production",
    "repositories",
    "route",
    "routes",
    "routing",
    "schema",
    "schemas",
    "script",
    "scripts",
    "server",
    "service",
    "services",
    "shared",
    "source",
    "sources",
    "spec",
    "specs",
    "src",
    "storage",
    "store",
    "stores",
    "style",
    "styles",
    "styling",
    "test",
    "tests",
    "tooling",
    "type",
    "types",
    "ui",
    "unit",
    "util",
    "utilities",
    "utils",
    "view",
    "views",
    "web",
    "widgets",
    "workflow",
    "workflows",
];
/// Words between those, and words for what becomes of the files.
const BETWEEN: &[&str] = &[
    "&",
    "+",
    "a",
    "additions",
    "affected",
    "also",
    "an",
    "and",
    "be",
    "changed",
    "changes",
    "created",
    "deleted",
    "edited",
    "edits",
    "following",
    "for",
    "its",
    "listed",
    "may",
    "modified",
    "moved",
    "must",
    "of",
    "on",
    "only",
    "removed",
    "renamed",
    "scope",
    "should",
    "that",
    "these",
    "this",
    "to",
    "touched",
    "updated",
    "updates",
    "will",
    "with",
    "work",
];
/// Words that put something off, or that are about something else.
const AWAY: &[&str] = &[
    "based",
    "context",
    "depend",
    "dependent",
    "depending",
    "legacy",
    "next",
    "old",
    "other",
    "others",
    "out",
    "outside",
    "possible",
    "possibly",
    "maybe",
    "perhaps",
    "reading",
    "review",
    "reviewed",
    "unrelated",
    "unless",
    "upstream",
    "using",
    "used",
    "without",
];

/// Those that put it off alone.
const PUT_OFF: &[&str] = &["follow-up", "follow-ups", "future", "later", "someday"];
/// Words that point at something only where they come first: `Health check`, `Mail template`.
const THINGS: &[&str] = &["check", "copy", "match", "template"];

/// How many words of a label and how many paths below it are compared, each with each.
const COMPARED_MAX: usize = 16;

/// What words say of the list below them; `Depends on` is known only together with a path.
pub(super) fn label(head: &str, below: &[String]) -> Label {
    let head = &head.replace("**", "");
    let paths: Vec<String> = below.iter().flat_map(|item| mentions(item, false)).collect();
    // Of an item that names paths itself, the words are about those.
    let Some(first) = paths.first().filter(|_| !head.is_empty() && mentions(head, false).is_empty()) else {
        return Label::Lists;
    };
    let inner = below.iter().filter(|item| item.ends_with(':') && mentions(item, false).is_empty());
    let said = std::iter::once(head.as_str()).chain(inner.map(String::as_str));
    said.fold(Label::Lists, |found, head| match (found, says(head, first, &paths)) {
        (Label::Refuses, _) | (_, Label::Refuses) => Label::Refuses,
        (Label::Points, _) | (_, Label::Points) => Label::Points,
        (Label::Lists, Label::Lists) => Label::Lists,
    })
}

fn says(head: &str, first: &str, paths: &[String]) -> Label {
    let line = format!("{head} `{first}`");
    if matches!(refused(&line, &[]), Some(Refused::All | Refused::Paths(_))) {
        return Label::Refuses;
    }
    let is_pointed = || led(&line).first().is_some_and(|one| !one.is_meant);
    let is_colon = head.trim_end_matches(['*', '_', ' ']).ends_with(':');
    match is_harmless(head, paths) && (is_colon || ends_alone(head) || !is_pointed()) {
        true => Label::Lists,
        false => Label::Points,
    }
}

/// Whether words end in none that something must follow.
fn ends_alone(head: &str) -> bool {
    let last = clauses(head).into_iter().flatten().next_back();
    last.is_none_or(|last| !is_in(last.word(), &["as", "for", "from", "like", "on", "with"]))
}

/// Whether words say what the files below them are, or what is done to them.
fn is_harmless(head: &str, paths: &[String]) -> bool {
    let words: Vec<Token> = clauses(head).into_iter().flatten().collect();
    let first = words.first().map_or("", Token::word);
    // What is done is read as it is before a path, unless it is put off.
    if is_work(first) {
        return !words.iter().any(|token| is_in(token.word(), PUT_OFF));
    }
    let is_away = |(at, token): (usize, &Token)| {
        let word = token.word();
        let is_thing = is_in(word, AREAS) || word == "following" || (at > 0 && is_in(word, THINGS));
        !is_thing && [POINTS, BEFORE, BEFORE_DIRECTLY, ALONE, AWAY, PUT_OFF].iter().any(|known| is_in(word, known))
    };
    // A word of the paths themselves says which of them they are.
    let is_own = |token: &Token| {
        let word = token.word().trim_end_matches('s');
        word.chars().nth(2).is_some() && paths.iter().take(COMPARED_MAX).any(|path| path.to_lowercase().contains(word))
    };
    let is_known = |token: &Token| {
        let word = token.word();
        is_in(word, AREAS) || is_in(word, BETWEEN) || is_work(word) || is_whole(word.trim_end_matches('s'))
    };
    let is_known = |token: &Token| is_known(token) || is_all(std::slice::from_ref(token)) || is_own(token);
    // Above names alone stands the folder that they lie in.
    let is_folder = || is_plain(head.trim_end_matches(':')) && !paths.iter().any(|path| path.contains('/'));
    let is_own_or_known = || {
        let compared = words.iter().take(COMPARED_MAX);
        compared.clone().any(is_own) || (words.len() <= COMPARED_MAX && compared.clone().all(is_known))
    };
    !words.iter().enumerate().any(is_away) && (is_own_or_known() || is_folder())
}
