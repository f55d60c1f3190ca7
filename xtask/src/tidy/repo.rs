//! What the rules look at: the text of every file that is or would be committed, and the packages of the workspace.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::command::{cargo, program};

/// The repository as the rules see it. Paths are relative to its root, with `/` between folders.
#[derive(Default)]
pub struct Repo {
    pub files: BTreeMap<String, String>,
    pub packages: Vec<Package>,
    pub foreign: Vec<Foreign>,
}

/// A crate that is built in and not ours.
pub struct Foreign {
    pub name: String,
    pub license: String,
    pub source: String,
}

/// A package of the workspace.
#[derive(Default)]
pub struct Package {
    pub name: String,
    pub license: String,
    pub dependencies: Vec<Dependency>,
    /// Whether cargo would run the examples in its documentation.
    pub doctest: bool,
}

/// A dependency as a manifest declares it.
pub struct Dependency {
    pub name: String,
    pub dev: bool,
}

impl Repo {
    /// Reads what git tracks or would track, and asks cargo for the packages.
    pub fn load(root: &Path) -> Result<Self, String> {
        let listed = program("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .output()
            .map_err(|error| format!("git could not be started: {error}"))?;
        if !listed.status.success() {
            return Err(format!("`git ls-files` failed: {}", String::from_utf8_lossy(&listed.stderr)));
        }
        let mut files = BTreeMap::new();
        for path in String::from_utf8_lossy(&listed.stdout).split('\0').filter(|path| !path.is_empty()) {
            // A file can be tracked and deleted, or not be text: neither has lines to look at.
            if let Ok(text) = std::fs::read_to_string(root.join(path)) {
                files.insert(path.to_owned(), text);
            }
        }
        Ok(Self { files, packages: packages()?, foreign: foreign()? })
    }

    /// The Rust files, and whether each belongs to the tests.
    pub fn rust(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        let rust = self.files.iter().filter(|(path, _)| path.ends_with(".rs"));
        rust.map(|(path, text)| (path.as_str(), text.as_str(), is_test(path)))
    }

    /// Whether a path is a file or a folder with files in it.
    pub fn exists(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        self.files.contains_key(path)
            || self.files.range(folder.clone()..).next().is_some_and(|(p, _)| p.starts_with(&folder))
    }

    /// The names directly below a folder; those of folders end in `/`.
    pub fn children(&self, folder: &str) -> Vec<String> {
        let prefix = format!("{}/", folder.trim_end_matches('/'));
        let mut names: Vec<String> = Vec::new();
        for (path, _) in self.files.range(prefix.clone()..).take_while(|(path, _)| path.starts_with(&prefix)) {
            let rest = &path[prefix.len()..];
            let name = rest.split_inclusive('/').next().unwrap_or(rest);
            if names.last().is_none_or(|last| last != name) {
                names.push(name.to_owned());
            }
        }
        names
    }
}

/// Whether a Rust file holds tests only.
fn is_test(path: &str) -> bool {
    let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".rs");
    let is_folder = |folder: &str| matches!(folder, "tests" | "benches") || folder.ends_with("_tests");
    stem == "tests" || stem.ends_with("_tests") || path.split('/').any(is_folder)
}

fn packages() -> Result<Vec<Package>, String> {
    let metadata = metadata(&["--no-deps", "--offline"])?;
    Ok(list(&metadata["packages"]).iter().map(package).collect())
}

fn foreign() -> Result<Vec<Foreign>, String> {
    let metadata = metadata(&["--locked", "--filter-platform", "x86_64-unknown-linux-gnu"])?;
    let others = list(&metadata["packages"]).iter().filter(|package| !package["source"].is_null());
    let foreign = |value: &Value| Foreign {
        name: text(&value["name"]),
        license: text(&value["license"]),
        source: text(&value["source"]),
    };
    Ok(others.map(foreign).collect())
}

fn metadata(args: &[&str]) -> Result<Value, String> {
    let output = cargo()
        .args(["metadata", "--format-version", "1"])
        .args(args)
        .output()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr)))
}

fn package(value: &Value) -> Package {
    let dependency = |value: &Value| Dependency { name: text(&value["name"]), dev: value["kind"] == "dev" };
    Package {
        name: text(&value["name"]),
        license: text(&value["license"]),
        dependencies: list(&value["dependencies"]).iter().map(dependency).collect(),
        doctest: list(&value["targets"]).iter().any(|target| target["doctest"] == true),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
impl Repo {
    /// A repository of a few files, for the tests of the rules.
    pub fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        Self { files, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_seen_through_their_files() {
        let repo = Repo::of(&[("a/b/c.rs", ""), ("a/b/d.rs", ""), ("a/e.rs", ""), ("ab/f.rs", "")]);
        assert_eq!(repo.children("a"), ["b/", "e.rs"]);
        assert_eq!(repo.children("a/b/"), ["c.rs", "d.rs"]);
        assert!(repo.exists("a/b/") && repo.exists("a/b") && repo.exists("a/e.rs"));
        assert!(!repo.exists("a/c") && !repo.exists("b/"));
    }

    #[test]
    fn test_files_are_known_by_name_or_folder() {
        assert!(
            is_test("crates/x/tests/suite/a.rs")
                && is_test("crates/x/src/a/tests.rs")
                && is_test("crates/x/src/a_tests.rs")
                && is_test("crates/x/src/a_tests/b.rs")
        );
        assert!(!is_test("crates/x/src/attests.rs") && !is_test("crates/x-tests/src/a.rs"));
    }
}
