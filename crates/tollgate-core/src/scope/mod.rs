//! Which part of a tree a path belongs to, and the digests by which evidence is bound to content.
//!
//! Patterns are globs (`*` within a segment, `**` across segments, `?`, `[a-z]`, `{a,b}`); one that ends in `/` means
//! everything below that folder. Paths are relative to the tree, with `/` between segments.

mod content;
mod pattern;

pub use content::content;
pub use pattern::{folder_meant, literal, matches, meeting, overlap, pattern_problem, protects};
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Name;
use crate::diagnostic::Place;
use crate::digest::Digest;
use crate::id::UnitId;

/// A part of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Area {
    pub name: Name,
    pub patterns: Vec<Name>,
    pub place: Place,
}

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
    pub scoped: BTreeMap<UnitId, BTreeMap<Name, Digest>>,
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
    pub scopes: BTreeMap<UnitId, Vec<Name>>,
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

#[cfg(test)]
mod tests {
    use super::*;

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
        let api = (UnitId::from("api"), names(&["api/**", "tests/api/**"]));
        let scopes = BTreeMap::from([api, (UnitId::from("web"), names(&["web/**"]))]);
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
}
