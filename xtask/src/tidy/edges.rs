//! Which crate may depend on which, and what the core must never depend on.

use std::collections::{BTreeMap, BTreeSet};

use super::repo::Repo;

/// tollgate → app → engine → contract, store → core → yaml; app → api. A new edge is a decision, not an edit.
const EDGES: &[(&str, &[&str])] = &[
    (
        "tollgate",
        &["tollgate-api", "tollgate-app", "tollgate-contract", "tollgate-core", "tollgate-engine", "tollgate-store"],
    ),
    ("tollgate-api", &[]),
    ("tollgate-app", &["tollgate-api", "tollgate-contract", "tollgate-core", "tollgate-engine", "tollgate-store"]),
    ("tollgate-contract", &["tollgate-core"]),
    ("tollgate-core", &["tollgate-yaml"]),
    ("tollgate-engine", &["tollgate-contract", "tollgate-core", "tollgate-store"]),
    ("tollgate-store", &["tollgate-core"]),
    (TESTKIT, &["tollgate-contract", "tollgate-core", "tollgate-engine", "tollgate-store"]),
    ("tollgate-yaml", &[]),
    ("xtask", &[]),
];

/// The tests of every crate may use it, and nothing that ships.
const TESTKIT: &str = "tollgate-testkit";

/// What decides and what reads reports take everything as arguments.
const PURE: [&str; 3] = ["tollgate-contract", "tollgate-core", "tollgate-yaml"];

/// What waits, reads, writes, tells the time or throws dice: none of it may reach the core, however indirectly.
const NOT_IN_THE_CORE: &[&str] = &[
    "async-io",
    "async-std",
    "chrono",
    "crossbeam-channel",
    "crossterm",
    "fastrand",
    "futures",
    "futures-core",
    "getrandom",
    "hyper",
    "jiff",
    "libsqlite3-sys",
    "mio",
    "polling",
    "postgres",
    "rand",
    "rand_core",
    "rayon",
    "reqwest",
    "rusqlite",
    "rustix",
    "rustls",
    "smol",
    "socket2",
    "sqlx",
    "tar",
    "tempfile",
    "time",
    "tokio",
    "tokio-postgres",
    "ureq",
    "uuid",
    "walkdir",
    "web-time",
];

/// Crates of the workspace use each other in one direction only.
pub fn between_crates(repo: &Repo) -> Vec<String> {
    let mut found = Vec::new();
    let members: Vec<&str> = repo.packages.iter().map(|package| package.name.as_str()).collect();
    for package in &repo.packages {
        let Some((_, allowed)) = EDGES.iter().find(|(name, _)| *name == package.name) else {
            found.push(format!("{}: a crate without a place among the edges (xtask/src/tidy/edges.rs)", package.name));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|dependency| members.contains(&dependency.name.as_str())) {
            let name = dependency.name.as_str();
            if !(allowed.contains(&name) || dependency.dev && name == TESTKIT) {
                found.push(format!("{} → {name}: not an allowed edge between crates", package.name));
            }
        }
    }
    found
}

/// The pure crates stay pure also through what they depend on.
pub fn of_the_core(repo: &Repo) -> Vec<String> {
    let lock = locked(repo.files.get("Cargo.lock").map_or("", String::as_str));
    let mut found = Vec::new();
    for package in repo.packages.iter().filter(|package| PURE.contains(&package.name.as_str())) {
        let direct = package.dependencies.iter().filter(|dependency| !dependency.dev);
        let mut waiting: Vec<(&str, &str)> =
            direct.map(|dependency| (dependency.name.as_str(), dependency.name.as_str())).collect();
        let mut seen = BTreeSet::new();
        while let Some((name, through)) = waiting.pop() {
            if PURE.contains(&name) || !seen.insert(name) {
                continue;
            }
            if NOT_IN_THE_CORE.contains(&name) {
                found.push(format!("{} → {through}: brings in {name}, and it must stay pure", package.name));
            }
            waiting.extend(lock.get(name).into_iter().flatten().map(|next| (*next, through)));
        }
    }
    found
}

/// The dependencies of every locked package, by name; several versions of one package count together.
fn locked(lock: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut packages: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut current = "";
    for line in lock.lines() {
        if let Some(name) = line.strip_prefix("name = ") {
            current = name.trim_matches('"');
        } else if let Some(entry) = line.strip_prefix(" \"") {
            let name = entry.split(['"', ' ']).next().unwrap_or(entry);
            packages.entry(current).or_default().push(name);
        }
    }
    packages
}

/// Every package carries the licence, and no library has examples that the test runner would pass over.
pub fn manifests(repo: &Repo) -> Vec<String> {
    let mut found = Vec::new();
    for package in &repo.packages {
        if package.license != "MIT OR Apache-2.0" {
            found.push(format!("{}: licence `{}`; say `license.workspace = true`", package.name, package.license));
        }
        if package.doctest {
            found.push(format!("{}: nextest runs no doc tests; say `doctest = false` under `[lib]`", package.name));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::repo::{Dependency, Package};
    use super::*;

    fn package(name: &str, normal: &[&str], dev: &[&str]) -> Package {
        let list = |names: &[&str], dev| {
            names.iter().map(|name| Dependency { name: (*name).to_owned(), dev }).collect::<Vec<_>>()
        };
        let dependencies = list(normal, false).into_iter().chain(list(dev, true)).collect();
        Package { name: name.to_owned(), license: "MIT OR Apache-2.0".to_owned(), dependencies, doctest: false }
    }

    #[test]
    fn edges_go_one_way_and_the_testkit_is_for_tests() {
        let packages = vec![
            package("tollgate-core", &["serde"], &[TESTKIT]),
            package("tollgate-store", &["tollgate-core", "tollgate-engine", TESTKIT], &[]),
            package("tollgate-engine", &["tollgate-core"], &["tollgate-api"]),
            package("tollgate-api", &[], &[]),
            package(TESTKIT, &["tollgate-core"], &[]),
            package("newcomer", &[], &[]),
        ];
        let found = between_crates(&Repo { packages, ..Repo::default() }).join("\n");
        assert_eq!(found.lines().count(), 4, "{found}");
        assert!(
            found.contains("tollgate-store → tollgate-engine") && found.contains("tollgate-store → tollgate-testkit")
        );
        assert!(found.contains("tollgate-engine → tollgate-api") && found.contains("newcomer"));
    }

    #[test]
    fn the_core_is_pure_through_its_dependencies() {
        let lock = "[[package]]\nname = \"markup\"\ndependencies = [\n \"clocky 1.0.0\",\n]\n\n[[package]]\nname = \"clocky\"\ndependencies = [\n \"getrandom\",\n]\n";
        let mut repo = Repo::of(&[("Cargo.lock", lock)]);
        repo.packages = vec![package("tollgate-core", &["markup"], &["tempfile"])];
        assert_eq!(of_the_core(&repo), ["tollgate-core → markup: brings in getrandom, and it must stay pure"]);
    }

    #[test]
    fn manifests_carry_the_licence_and_no_doc_tests() {
        let bad = Package { name: "a".to_owned(), doctest: true, ..Package::default() };
        let packages = vec![bad, package("b", &[], &[])];
        assert_eq!(manifests(&Repo { packages, ..Repo::default() }).len(), 2);
    }
}
