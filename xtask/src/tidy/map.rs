//! The map in ARCHITECTURE.md is the tree, and links between pages lead somewhere.
//!
//! A line of the map is ``- `path` — what it is``. Folders end in `/`. Every crate, every module at the top of a crate and every
//! folder at the root is on it; where it lists one thing inside a folder, it lists all of them.

use std::collections::BTreeSet;

use super::repo::Repo;

const PAGE: &str = "ARCHITECTURE.md";
const HEADING: &str = "## The code map";

/// The map lists what is there and nothing else.
pub fn code_map(repo: &Repo) -> Vec<String> {
    let text = repo.files.get(PAGE).map_or("", String::as_str);
    let listed: BTreeSet<&str> = entries(text).collect();
    if listed.is_empty() {
        return vec![format!("{PAGE}: no entries under `{HEADING}`")];
    }
    let gone =
        listed.iter().filter(|path| !repo.exists(path) || path.ends_with('/') == repo.files.contains_key(**path));
    let gone = gone.map(|path| format!("{PAGE}: `{path}` is on the map and not in the tree"));
    let missing = wanted(repo, &listed).into_iter().filter(|path| !listed.contains(path.as_str()));
    let missing =
        missing.map(|path| format!("{PAGE}: `{path}` is not on the map; add: - `{path}` — {}", head(repo, &path)));
    gone.chain(missing).collect()
}

fn entries(text: &str) -> impl Iterator<Item = &str> {
    let map = text.lines().skip_while(|line| *line != HEADING).skip(1).take_while(|line| !line.starts_with("## "));
    map.filter_map(|line| line.trim_start().strip_prefix("- `")?.split('`').next())
}

/// What must be on the map, given what is on it.
fn wanted(repo: &Repo, listed: &BTreeSet<&str>) -> BTreeSet<String> {
    let roots = repo.files.keys().filter_map(|path| path.split_once('/')).map(|(folder, _)| format!("{folder}/"));
    // Hidden folders configure tools; `crates/` stands on the map as its crates.
    let mut wanted: BTreeSet<String> = roots.filter(|folder| !folder.starts_with('.') && folder != "crates/").collect();
    let mut opened: BTreeSet<String> = BTreeSet::from(["crates".to_owned()]);
    opened.extend(repo.children("crates").iter().map(|name| format!("crates/{name}src")));
    let parents = listed.iter().filter_map(|path| path.trim_end_matches('/').rsplit_once('/'));
    opened.extend(parents.map(|(folder, _)| folder.to_owned()).filter(|folder| folder.contains("/src")));
    for folder in opened {
        let children = repo.children(&folder).into_iter();
        let modules =
            children.filter(|name| !matches!(name.as_str(), "lib.rs" | "main.rs" | "mod.rs" | "tests.rs" | "tests/"));
        wanted.extend(modules.filter(|name| !name.ends_with("_tests.rs")).map(|name| format!("{folder}/{name}")));
    }
    wanted
}

/// The first sentence of a module's head, as a proposal for its line.
fn head<'a>(repo: &'a Repo, path: &str) -> &'a str {
    let candidates = ["", "mod.rs", "src/lib.rs", "src/main.rs"].map(|name| format!("{path}{name}"));
    let text = candidates.iter().find_map(|candidate| repo.files.get(candidate));
    text.and_then(|text| text.lines().next()?.strip_prefix("//! ")).unwrap_or("what it is")
}

/// Links from one page to another file lead somewhere.
pub fn links(repo: &Repo) -> Vec<String> {
    let mut found = Vec::new();
    for (page, text) in repo.files.iter().filter(|(path, _)| path.ends_with(".md")) {
        for (line, target) in link_targets(text) {
            let target = target.split('#').next().unwrap_or(target);
            if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
            if !resolve(folder, target).is_some_and(|path| repo.exists(&path)) {
                found.push(format!("{page}:{line}: the link to `{target}` leads nowhere"));
            }
        }
    }
    found
}

/// The targets of inline links outside code, with their lines.
fn link_targets(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        fenced ^= line.trim_start().starts_with("```");
        if fenced || line.starts_with("    ") {
            continue;
        }
        // Every second piece between back quotes is code.
        for piece in line.split('`').step_by(2) {
            let targets = piece.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            found.extend(targets.map(|(target, _)| (index + 1, target)));
        }
    }
    found
}

/// A path relative to a folder, without `.` and `..`; absent when it leaves the repository.
fn resolve(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &[(&str, &str)] = &[
        ("crates/a/src/lib.rs", "//! Does a.\n"),
        ("crates/a/src/b.rs", "//! Does b.\n"),
        ("crates/a/src/run/mod.rs", ""),
        ("crates/a/src/run/x.rs", ""),
        ("crates/a/src/tests.rs", ""),
        ("docs/x.md", ""),
        (".ci/run", ""),
    ];

    #[track_caller]
    fn check(map: &str, expected: &[&str]) {
        let mut repo = Repo::of(TREE);
        repo.files.insert(PAGE.to_owned(), format!("# A\n\n- `elsewhere`\n\n{HEADING}\n{map}\n## Next\n- `other`\n"));
        let found = code_map(&repo);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        assert!(found.iter().zip(expected).all(|(found, expected)| found.contains(expected)), "{found:?}");
    }

    #[test]
    fn the_map_is_the_tree() {
        check("- `crates/a/` — a\n  - `crates/a/src/b.rs` — b\n  - `crates/a/src/run/` — r\n- `docs/` — d", &[]);
        check("- `crates/a/` — a\n- `crates/a/src/run/` — r\n- `docs/` — d", &["- `crates/a/src/b.rs` — Does b."]);
        check(
            "- `crates/a/` — a\n- `crates/a/src/b.rs` — b\n- `crates/a/src/run/` — r\n- `crates/a/src/c.rs` — c\n- `docs` — d",
            &["`crates/a/src/c.rs` is on the map", "`docs` is on the map", "`docs/` is not on the map"],
        );
        check("", &["no entries"]);
    }

    #[test]
    fn a_folder_that_is_opened_is_listed_whole() {
        let map = "- `crates/a/` — a\n- `crates/a/src/b.rs` — b\n- `crates/a/src/run/` — r\n- `docs/` — d\n";
        let mut repo = Repo::of(TREE);
        repo.files.insert("crates/a/src/run/y.rs".to_owned(), String::new());
        repo.files.insert(PAGE.to_owned(), format!("{HEADING}\n{map}- `crates/a/src/run/y.rs` — y\n"));
        let found = code_map(&repo);
        assert!(found.len() == 1 && found[0].contains("`crates/a/src/run/x.rs` is not on the map"), "{found:?}");
    }

    #[test]
    fn links_lead_somewhere() {
        let page = "[a](x.md) [b](../LICENSE#top) [c](gone.md) [d](https://example.org) `[e](f)` [g](#here)\n```\n[h](i)\n```\n[j](../../k)\n";
        let found = links(&Repo::of(&[("docs/p.md", page), ("docs/x.md", ""), ("LICENSE", "")]));
        assert!(found.len() == 2 && found[0].contains("`gone.md`") && found[1].starts_with("docs/p.md:5"), "{found:?}");
    }
}
