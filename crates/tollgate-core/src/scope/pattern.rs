//! Patterns of paths: what they hold, what can hold nothing, and which of them meet.

use super::Entry;
use crate::Name;
use crate::path::unquote;

/// Whether one pattern matches a path: its bytes, however it is written. A pattern in quotes means the quoted text itself.
pub fn matches(pattern: &str, path: &str) -> bool {
    let pattern = from_top(pattern);
    let bytes = if pattern.starts_with('"') { path.as_bytes().into() } else { unquote(path) };
    match pattern.strip_suffix('/') {
        Some(folder) => fast_glob::glob_match(format!("{folder}/**"), &bytes),
        None => fast_glob::glob_match(pattern, &bytes),
    }
}

/// Whether a pattern protects a path: it holds it, or is the path itself or a folder above it as they are written. Who protects `src` or `pages/[id]` means all that is there.
pub fn protects(pattern: &str, path: &str) -> bool {
    let name = from_top(pattern).trim_end_matches('/');
    let below = |rest: &str| rest.is_empty() || rest.starts_with('/');
    matches(pattern, path)
        || (!name.is_empty() && path.strip_prefix(name).is_some_and(below))
        || (!name.contains(['*', '?']) && matches(&format!("{name}/"), path))
}

/// A pattern without the `./` that it may begin with.
fn from_top(pattern: &str) -> &str {
    pattern.trim_start_matches("./")
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
    let bare = from_top(pattern);
    let mut segments = bare.strip_suffix('/').unwrap_or(bare).split('/');
    if pattern.trim().is_empty() {
        Some("is empty")
    } else if matches!(bare, "" | ".") {
        Some("is the top of the repository: `**` holds everything in it")
    } else if pattern.chars().any(char::is_control) {
        Some("holds a control character")
    } else if bare.starts_with('!') {
        Some("begins with `!`: patterns say what is in, and cannot take anything out")
    } else if pattern.starts_with('/') {
        Some("begins with `/`, and paths are relative to the repository")
    } else if segments.clone().any(|segment| segment == "..") {
        Some("leads out of the repository")
    } else if segments.any(|segment| matches!(segment, "" | ".")) {
        Some("has a part that is empty or `.`, and no path has")
    } else if quotes_nothing(bare) {
        Some("ends with a `\\`: use `/` between folders")
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
    let name = from_top(pattern);
    if name.ends_with('/') || name.contains(['*', '?', '[', '{', '\\']) {
        return None;
    }
    let below = |entry: &Entry| entry.path.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'));
    let is_file = entries.iter().any(|entry| &*entry.path == name);
    (!is_file && entries.iter().any(below)).then_some(name)
}

/// Whether a backslash stands before a letter, or at the end: it was meant to part folders.
fn quotes_nothing(pattern: &str) -> bool {
    let mut chars = pattern.chars();
    while let Some(char) = chars.next() {
        if char == '\\' && chars.next().is_none_or(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '/')) {
            return true;
        }
    }
    false
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
    if from_top(left).starts_with('!') || from_top(right).starts_with('!') {
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
    let pattern = from_top(pattern);
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
    use proptest::prelude::*;

    fn names(list: &[&str]) -> Vec<Name> {
        list.iter().map(|name| Name::from(*name)).collect()
    }

    fn entry(path: &str, blob: &str) -> Entry {
        Entry { path: path.into(), mode: "100644".into(), blob: blob.into() }
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
    fn a_pattern_that_can_hold_nothing_is_a_problem() {
        for pattern in [
            "",
            " ",
            ".",
            "./",
            "././",
            "/a",
            "..",
            "a/../b",
            "a//b",
            "a/./b",
            "a/.",
            "a//",
            "!a",
            "./!a",
            r"src\cart.js",
            r"src\_x",
            r"src\.git",
            r"a\",
            r"C:\src\**",
            "{a",
            "a[b",
        ] {
            assert!(pattern_problem(pattern).is_some(), "{pattern}");
        }
        for pattern in [
            "a",
            "./a",
            "././a",
            "a/",
            "a/**/",
            ".github/**",
            "a/.b",
            "...",
            "{a,b}/",
            r"\*",
            r"\!a",
            r"a\\b",
            r"[z\-a]",
            "a!",
        ] {
            assert_eq!(pattern_problem(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn who_protects_a_folder_means_all_that_is_there() {
        for (pattern, path) in [
            ("src", "src/a/b.js"),
            ("src/", "src/a"),
            ("./src", "src/a"),
            ("././src/a", "src/a"),
            ("{src,lib}", "lib/a"),
            ("[s]rc", "src/a"),
            ("pages/[id]", "pages/[id]/p.js"),
            ("pages/[id]/p.js", "pages/[id]/p.js"),
            ("a?b/", "a?b/c"),
            ("src/*.js", "src/a.js"),
            ("src/a.js/", "src/a.js"),
        ] {
            assert!(protects(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("src", "src2/a"),
            ("src", "a/src"),
            ("*", "a/b"),
            ("src/*", "src/a/b"),
            ("src/?", "src/a/b"),
            ("Src", "src/a"),
        ] {
            assert!(!protects(pattern, path), "{pattern} {path}");
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
