//! Which part of a tree a path belongs to, and the digests by which evidence is bound to content.
//!
//! Patterns are globs (`*` within a segment, `**` across segments, `?`, `[a-z]`, `{a,b}`); one that ends in `/` means
//! everything below that folder. Paths are relative to the tree, with `/` between segments.
//!
//! [`rules`] sorts a git change by what a task issue lists: the four scope rules.

pub mod change;
mod content;
pub mod correction;
pub mod draft;
mod imports;
pub mod incidental;
mod modules;
mod names;
pub mod rules;
mod shape;
pub mod task;
mod words;

#[cfg(test)]
mod rules_tests;

pub use content::content;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Name;
use crate::digest::Digest;
use crate::path::unquote;
use crate::protocol::model::Area;

/// One file of a tree, as git names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its path from the top of the tree; a name that is not plain text is written as git quotes it.
    pub path: Name,
    /// Its mode as git writes it: `100644`, `100755`, `120000` (a link), `160000` (a submodule).
    pub mode: Name,
    /// The id of its content.
    pub blob: Name,
}

/// The content of a tree as evidence is bound to it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Content {
    /// The git tree id.
    pub tree: Name,
    /// The digest of each area.
    pub areas: BTreeMap<Name, Digest>,
    /// The digest of each area within the scope of each unit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scoped: BTreeMap<Name, BTreeMap<Name, Digest>>,
    /// The digest of what lies in no unit's scope, by area; nothing where no unit has one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nobodys: BTreeMap<Name, Digest>,
    /// The digest of what stands at the path of each document that has one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub documents: BTreeMap<Name, Digest>,
}

/// What content is told apart by: areas, the scopes of units, the paths of documents.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    pub areas: Vec<Area>,
    pub scopes: BTreeMap<Name, Vec<Name>>,
    pub documents: BTreeMap<Name, Name>,
}

/// The changed paths of a unit, by its scope.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Classified {
    /// Paths the scope holds.
    pub inside: Vec<Name>,
    /// Paths it does not.
    pub outside: Vec<Name>,
}

/// Whether one pattern matches a path: its bytes, however it is written. A pattern in quotes means the quoted text itself.
pub fn matches(pattern: &str, path: &str) -> bool {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let bytes = if pattern.starts_with('"') { path.as_bytes().into() } else { unquote(path) };
    match pattern.strip_suffix('/') {
        Some(folder) => fast_glob::glob_match(format!("{folder}/**"), &bytes),
        None => fast_glob::glob_match(pattern, &bytes),
    }
}

/// The pattern that holds one path and no other.
pub fn literal(path: &str) -> Name {
    let mut pattern = String::with_capacity(path.len());
    for char in path.chars() {
        if matches!(char, '*' | '?' | '[' | ']' | '{' | '}' | '!' | ',' | '\\') {
            pattern.push('\\');
        }
        pattern.push(char);
    }
    pattern.into()
}

/// The area of a path: the first area with a pattern that matches.
pub fn area_of<'a>(areas: &'a [Area], path: &str) -> Option<&'a Name> {
    areas.iter().find(|area| holds(area, path)).map(|area| &area.name)
}

/// Whether a pattern of an area matches a path.
fn holds(area: &Area, path: &str) -> bool {
    area.patterns.iter().any(|pattern| matches(pattern, path))
}

/// Whether a scope holds a path; an empty scope holds everything.
pub fn in_scope(path: &str, scope: &[Name]) -> bool {
    scope.is_empty() || scope.iter().any(|pattern| matches(pattern, path))
}

/// Sorts changed paths by whether the scope holds them.
pub fn classify(paths: impl IntoIterator<Item = Name>, scope: &[Name]) -> Classified {
    let (inside, outside) = paths.into_iter().partition(|path| in_scope(path, scope));
    Classified { inside, outside }
}

/// Whether some path could lie in both scopes. Errs on the side of yes.
pub fn overlap(a: &[Name], b: &[Name]) -> bool {
    a.is_empty() || b.is_empty() || a.iter().any(|left| b.iter().any(|right| patterns_meet(left, right)))
}

/// The first two patterns of two scopes that a common path could match.
pub fn meeting<'a>(a: &'a [Name], b: &'a [Name]) -> Option<(&'a Name, &'a Name)> {
    a.iter().find_map(|left| b.iter().find(|right| patterns_meet(left, right)).map(|right| (left, right)))
}

/// Why a pattern can hold no path of a tree.
pub fn pattern_problem(pattern: &str) -> Option<&'static str> {
    let mut segments = pattern.split('/');
    if pattern.trim().is_empty() {
        Some("is empty")
    } else if pattern.chars().any(char::is_control) {
        Some("holds a control character")
    } else if pattern.starts_with('!') {
        Some("begins with `!`: patterns say what is in, and cannot take anything out")
    } else if pattern.starts_with('/') {
        Some("begins with `/`, and paths are relative to the repository")
    } else if segments.any(|segment| segment == "..") {
        Some("leads out of the repository")
    } else if !is_closed(pattern) {
        Some("opens a bracket and does not close it")
    } else if has_reversed_range(pattern) {
        Some("has a range that ends before it begins")
    } else {
        None
    }
}

/// The folder that a pattern names which means a file: nothing in the tree is called so, and something lies below it.
pub fn folder_meant<'p>(pattern: &'p str, entries: &[Entry]) -> Option<&'p str> {
    let name = pattern.strip_prefix("./").unwrap_or(pattern);
    if name.ends_with('/') || name.contains(['*', '?', '[', '{', '\\']) {
        return None;
    }
    let below = |entry: &Entry| entry.path.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'));
    let is_file = entries.iter().any(|entry| &*entry.path == name);
    (!is_file && entries.iter().any(below)).then_some(name)
}

/// Whether every bracket of a pattern is closed.
fn is_closed(pattern: &str) -> bool {
    let (mut braces, mut class, mut escaped) = (0usize, false, false);
    for char in pattern.chars() {
        match char {
            _ if escaped => {}
            '[' if !class => class = true,
            ']' => class = false,
            '{' if !class => braces += 1,
            '}' if !class => braces = braces.saturating_sub(1),
            _ => {}
        }
        escaped = char == '\\' && !escaped;
    }
    !class && braces == 0
}

/// Whether a class such as `[z-a]` has a range that holds nothing.
fn has_reversed_range(pattern: &str) -> bool {
    let mut class: Option<Vec<(char, bool)>> = None;
    let mut escaped = false;
    for char in pattern.chars() {
        if escaped || !matches!((char, &class), ('[', None) | (']' | '\\', _)) {
            class.iter_mut().for_each(|class| class.push((char, escaped)));
        } else if char == '[' {
            class = Some(Vec::new());
        } else if char == ']' {
            class = None;
        }
        let ends = class.as_ref().and_then(|class| class.last_chunk::<3>());
        if ends.is_some_and(|[(from, _), dash, (to, _)]| *dash == ('-', false) && from > to) {
            return true;
        }
        escaped = char == '\\' && !escaped;
    }
    false
}

/// One segment of a pattern, widened to what is easy to intersect.
enum Segment {
    /// Any number of segments.
    Any,
    /// Exactly one segment.
    One(Vec<Piece>),
}

/// One piece of a segment.
#[derive(Clone, Copy, PartialEq)]
enum Piece {
    Literal(char),
    OneChar,
    Chars,
}

fn patterns_meet(left: &str, right: &str) -> bool {
    // A negated pattern holds nearly everything.
    if left.starts_with('!') || right.starts_with('!') {
        return true;
    }
    let (left, right) = (segments(left), segments(right));
    meet(
        &left,
        &right,
        |segment| matches!(segment, Segment::Any),
        |a, b| match (a, b) {
            (Segment::One(a), Segment::One(b)) => meet(
                a,
                b,
                |piece| *piece == Piece::Chars,
                |a, b| matches!((a, b), (Piece::OneChar, _) | (_, Piece::OneChar)) || a == b,
            ),
            _ => true,
        },
    )
}

/// Whether two sequences with wildcards (each stands for any number of items) can be equal.
fn meet<T>(left: &[T], right: &[T], wild: impl Fn(&T) -> bool, same: impl Fn(&T, &T) -> bool) -> bool {
    // reachable[j]: the first i items of `left` and the first j of `right` can be equal.
    let mut reachable = vec![false; right.len() + 1];
    reachable[0] = true;
    for j in 0..right.len() {
        reachable[j + 1] = reachable[j] && wild(&right[j]);
    }
    for item in left {
        let mut next = vec![false; right.len() + 1];
        next[0] = reachable[0] && wild(item);
        for (j, other) in right.iter().enumerate() {
            next[j + 1] = if wild(item) || wild(other) {
                // A wildcard stands for nothing, for this one item, or for this one and more.
                reachable[j] || reachable[j + 1] || next[j]
            } else {
                reachable[j] && same(item, other)
            };
        }
        reachable = next;
    }
    reachable[right.len()]
}

/// Cuts a pattern into segments; whatever is hard to cut is widened.
fn segments(pattern: &str) -> Vec<Segment> {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let mut found = Vec::new();
    let mut pieces = Vec::new();
    let mut chars = pattern.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '/' => found.push(segment(std::mem::take(&mut pieces))),
            '\\' => pieces.extend(chars.next().map(Piece::Literal)),
            '?' => pieces.push(Piece::OneChar),
            '*' => pieces.push(Piece::Chars),
            '[' => {
                // A class is one character, whichever; the first character after `[`, `[!` or `[^` may be `]`.
                chars.next_if(|c| matches!(c, '!' | '^'));
                chars.next();
                while chars.next().is_some_and(|c| c != ']') {}
                pieces.push(Piece::OneChar);
            }
            // Alternatives may hold separators: from here on anything goes.
            '{' => {
                found.push(Segment::Any);
                return found;
            }
            other => pieces.push(Piece::Literal(other)),
        }
    }
    found.push(if pattern.ends_with('/') { Segment::Any } else { segment(pieces) });
    found
}

fn segment(pieces: Vec<Piece>) -> Segment {
    let globstar = pieces.windows(2).any(|pair| pair == [Piece::Chars, Piece::Chars]);
    if globstar { Segment::Any } else { Segment::One(pieces) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Place;
    use proptest::prelude::*;

    fn names(list: &[&str]) -> Vec<Name> {
        list.iter().map(|name| Name::from(*name)).collect()
    }

    fn area(name: &str, patterns: &[&str]) -> Area {
        Area { name: name.into(), patterns: names(patterns), place: Place::default() }
    }

    fn entry(path: &str, blob: &str) -> Entry {
        Entry { path: path.into(), mode: "100644".into(), blob: blob.into() }
    }

    #[test]
    fn the_first_area_that_matches_wins() {
        let areas = [area("tests", &["tests/**", "**/*_test.rs"]), area("docs", &["docs/"]), area("code", &["**"])];
        let of = |path| area_of(&areas, path).map(std::string::ToString::to_string);
        assert_eq!(of("tests/a/b.rs").as_deref(), Some("tests"));
        assert_eq!(of("src/x_test.rs").as_deref(), Some("tests"));
        assert_eq!(of("docs/deep/page.md").as_deref(), Some("docs"));
        assert_eq!(of("src/lib.rs").as_deref(), Some("code"));
        assert_eq!(area_of(&areas[..1], "src/lib.rs"), None);
    }

    #[test]
    fn an_odd_name_lies_where_its_bytes_do() {
        let areas = [area("tests", &["tests/**"]), area("code", &["**"])];
        for name in [&b"tests/od\\d.sh"[..], b"tests/a\nb", b"tests/\xff", b"tests/\"q\""] {
            let path = crate::path::quote(name);
            assert_eq!(area_of(&areas, &path).map(|area| &**area), Some("tests"), "{path}");
            assert!(matches("tests/", &path) && matches("**", &path) && !matches("src/**", &path), "{path}");
            assert!(matches(&literal(&path), &path) && !matches(&literal(&path), "tests/od\\d"), "{path}");
        }
        assert!(matches("tests/*.sh", "\"tests/od\\\\d.sh\""));
    }

    #[test]
    fn an_empty_scope_holds_everything() {
        assert!(in_scope("a/b", &[]));
        assert!(in_scope("a/b", &names(&["a/"])));
        assert!(in_scope("a/b", &names(&["./a/*"])));
        assert!(!in_scope("ab/c", &names(&["a/"])));
        let sorted = classify(names(&["a/x", "b/x"]), &names(&["a/**"]));
        assert_eq!(sorted, Classified { inside: names(&["a/x"]), outside: names(&["b/x"]) });
    }

    #[test]
    fn a_digest_changes_with_its_own_area_and_scope_only() {
        let areas = vec![area("tests", &["tests/**"]), area("code", &["**"])];
        let api = (Name::from("api"), names(&["api/**", "tests/api/**"]));
        let scopes = BTreeMap::from([api, (Name::from("web"), names(&["web/**"]))]);
        let documents = BTreeMap::from([("page".into(), "web/w".into())]);
        let parts = Parts { areas, scopes, documents };
        let tree = |web: &str, nobodys: &str| {
            [entry("api/a", "1"), entry("tests/api/t", "2"), entry("web/w", web), entry("z", nobodys)]
        };
        let one = content("t1".into(), &tree("3", "4"), &parts);
        let (own, sibling, nobodys) = ("100644 1 api/a\n", "100644 3 web/w\n", "100644 4 z\n");
        assert_eq!(one.scoped["api"]["code"], Digest::of(own.as_bytes()));
        assert_eq!(one.nobodys["code"], Digest::of(nobodys.as_bytes()));
        assert_eq!(one.areas["code"], Digest::of(format!("{own}{sibling}{nobodys}").as_bytes()));

        let two = content("t2".into(), &tree("5", "4"), &parts);
        assert_eq!(two.scoped["api"], one.scoped["api"]);
        assert_ne!(two.scoped["web"], one.scoped["web"]);
        assert_eq!((&two.areas["tests"], &two.nobodys), (&one.areas["tests"], &one.nobodys));
        assert_ne!(two.areas["code"], one.areas["code"]);
        assert_ne!(two.documents, one.documents);
        let three = content("t3".into(), &tree("3", "5"), &parts);
        assert_eq!((&three.scoped, &three.documents), (&one.scoped, &one.documents));
        assert_ne!(three.nobodys, one.nobodys);
        let text = serde_json::to_string(&two).unwrap();
        assert_eq!(serde_json::from_str::<Content>(&text).unwrap(), two);
    }

    #[test]
    fn the_order_of_entries_does_not_matter() {
        let parts = Parts { areas: vec![area("code", &["**"])], ..Parts::default() };
        let a = content("t".into(), &[entry("a", "2"), entry("b", "1")], &parts);
        let b = content("t".into(), &[entry("b", "1"), entry("a", "2")], &parts);
        assert_eq!(a, b);
    }

    #[test]
    fn scopes_overlap_when_a_path_could_lie_in_both() {
        let meets = |a: &str, b: &str| overlap(&names(&[a]), &names(&[b]));
        for (a, b) in [
            ("src/**", "src/api/**"),
            ("src/*.rs", "src/lib.*"),
            ("**/*_test.rs", "src/**"),
            ("a/", "a/b"),
            ("a/?", "a/b"),
            ("a/[b-d]", "a/c"),
            ("{a,b}/x", "b/x"),
            ("!a", "b"),
            ("**", "a"),
        ] {
            assert!(meets(a, b) && meets(b, a), "{a} {b}");
        }
        for (a, b) in [("src/**", "docs/**"), ("a/*", "a/b/c"), ("*.rs", "*.md"), ("api/", "web/"), ("a/??", "a/b")] {
            assert!(!meets(a, b) && !meets(b, a), "{a} {b}");
        }
        assert!(overlap(&[], &names(&["a"])));
    }

    #[test]
    fn a_pattern_that_names_a_folder_and_no_file_is_seen() {
        let tree = [entry("api/a.rs", "1"), entry("web", "2"), entry("web/b.js", "3"), entry("apis", "4")];
        for pattern in ["api", "./api"] {
            assert_eq!(folder_meant(pattern, &tree), Some("api"));
        }
        for pattern in ["api/", "api/**", "ap?", "web", "apis", "new", "api/a.rs", "ap"] {
            assert_eq!(folder_meant(pattern, &tree), None, "{pattern}");
        }
    }

    #[test]
    fn a_range_that_holds_nothing_is_a_problem() {
        for pattern in ["[z-a]", "src/[a-c9-0]*", "[!b-a]", "a{b,[d-c]}"] {
            assert!(pattern_problem(pattern).is_some(), "{pattern}");
        }
        for pattern in ["[a-z]", "[a-a]", "\\[z-a\\]", "[z\\-a]", "[-a]", "[z-]", "z-a", "[ab]-a", "[a-z]z-a"] {
            assert_eq!(pattern_problem(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn a_literal_pattern_holds_its_path_and_no_other() {
        for path in ["src/[id].tsx", "a*b", "!a", "{a,b}/x", "what?", r"back\slash", "\"quoted \\303\\244\""] {
            assert!(matches(&literal(path), path), "{path}");
        }
        assert!(!matches(&literal("src/[id].tsx"), "src/i.tsx"));
        assert!(!matches(&literal("a*b"), "axb") && !matches(&literal("a?"), "ab") && !matches(&literal("{a,b}"), "a"));
    }

    proptest! {
        #[test]
        fn a_literal_pattern_is_its_path(path in "[ab*?/!,\\[\\]{}\\\\]{1,8}", other in "[ab*?/!,\\[\\]{}\\\\]{1,8}") {
            // A path of a tree neither begins nor ends with a separator, and has no empty or dotted segment.
            prop_assume!(!path.starts_with('/') && !path.ends_with('/') && !path.contains("//"));
            prop_assert!(matches(&literal(&path), &path));
            prop_assert_eq!(matches(&literal(&path), &other), path == other);
        }

        #[test]
        fn overlap_never_misses_a_common_path(
            a in "[ab*?/\\[\\]{},]{1,8}", b in "[ab*?/\\[\\]{},]{1,8}", path in "[ab]{1,2}(/[ab]{1,2}){0,2}"
        ) {
            if matches(&a, &path) && matches(&b, &path) {
                prop_assert!(overlap(&names(&[&a]), &names(&[&b])), "{a} and {b} both hold {path}");
            }
        }
    }
}
