//! What of the work takes part in filling a cache: its lock files, and what of their manifests names packages.

use serde_json::json;

use super::*;
use crate::workspace::setup::Settings;
use crate::workspace::setup::locked_base::LockedBase;

fn settings(setup: &[&str], locks: Option<&[&str]>) -> Settings {
    let mut worktree = json!({"setup": {"value": setup}, "caches": {"value": ["deps"]}});
    if let Some(locks) = locks {
        worktree["locks"] = json!({"value": locks});
    }
    Settings::of(&json!({"worktree": worktree})).unwrap()
}

const FILES: [(&str, &str); 9] = [
    (
        "package.json",
        "{\"scripts\": {\"postinstall\": \"a\"}, \"dependencies\": {\"x\": \"1\"}, \"devDependencies\": {}}",
    ),
    ("package-lock.json", "1"),
    ("web/package.json", "{\"dependencies\": {}}"),
    ("Cargo.toml", "[package]\n"),
    ("Cargo.lock", "1"),
    ("build.rs", "fn main() {}\n"),
    ("prep.sh", "1\n"),
    ("tools/fill.sh", "1\n"),
    ("other.lock", "1"),
];

fn of(fixture: &Fixture, settings: &Settings, unit: &str, files: &[(&str, &str)]) -> LockedBase {
    let tree = fixture.written(unit, files);
    fixture.workspace.locked_base(settings, &fixture.workspace.base().tree, &tree).unwrap()
}

/// The files in which it differs from what the run began with.
fn laid(fixture: &Fixture, locked: &LockedBase) -> Vec<String> {
    let changes = fixture.workspace.changes(&fixture.workspace.base().tree, &locked.tree).unwrap();
    changes.iter().map(|change| change.path.to_string()).collect()
}

#[test]
fn nothing_but_lock_files_and_what_their_manifests_need_is_taken_of_the_work() {
    let fixture = fixture(&FILES);
    let npm = settings(&["npm", "ci"], None);
    let work = [
        (
            "package.json",
            "{\"scripts\": {\"postinstall\": \"evil\"}, \"dependencies\": {\"x\": \"2\"}, \"bin\": \"evil\"}",
        ),
        ("package-lock.json", "2"),
        ("web/package.json", "{\"dependencies\": {\"y\": \"1\"}}"),
        ("Cargo.toml", "[package]\nbuild = \"evil.rs\"\n"),
        ("build.rs", "evil"),
        ("tools/fill.sh", "evil"),
        ("tools/new.sh", "evil"),
    ];
    let locked = of(&fixture, &npm, "npm", &work);
    assert_eq!(laid(&fixture, &locked), ["package-lock.json", "package.json", "web/package.json"]);
    assert_eq!((locked.locks.clone(), locked.named.len()), (vec!["package-lock.json".into()], 0));
    let file = |path: &str| fixture.workspace.file(&locked.tree, path).unwrap().unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&file("package.json")).unwrap();
    assert_eq!(manifest, json!({"scripts": {"postinstall": "a"}, "dependencies": {"x": "2"}}));
    assert_eq!(file("web/package.json"), work[2].1.as_bytes(), "as it is, where nothing else differs");
    // A manifest that can hold no command is taken whole; what it names is what the run began with.
    let cargo = of(&fixture, &npm, "cargo", &[("Cargo.lock", "2"), work[3], work[4]]);
    assert_eq!(laid(&fixture, &cargo), ["Cargo.lock", "Cargo.toml"]);
    // Without a lock file that differs there is nothing to fetch; and what cannot be read is left as it was.
    assert_eq!(of(&fixture, &npm, "none", &[work[0], work[5]]).tree, fixture.workspace.base().tree);
    // A new one has no scripts.
    let member = (
        "new/package.json",
        "{\"name\": \"n\", \"scripts\": {\"install\": \"evil\"}, \"dependencies\": {\"x\": \"1\"}}",
    );
    let added = of(&fixture, &npm, "member", &[work[1], member]);
    let manifest = fixture.workspace.file(&added.tree, member.0).unwrap().unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(manifest, json!({"name": "n", "dependencies": {"x": "1"}}));
    let [old, new] = ["1", "2"].map(|version| format!("[project]\nname = \"n\"\ndependencies = [\"x=={version}\"]\n"));
    let python = fixture_of(repository("python", &[("pyproject.toml", &old), ("uv.lock", "1")]));
    let variables = format!(
        "{new}[tool.uv.extra-build-variables]\nx = {{CC = \"evil\"}}\n[tool.uv.sources]\nx = {{index = \"i\"}}\n"
    );
    let locked =
        of(&python, &settings(&["uv", "sync"], None), "uv", &[("uv.lock", "2"), ("pyproject.toml", &variables)]);
    let manifest = python.workspace.file(&locked.tree, "pyproject.toml").unwrap().unwrap();
    let manifest = String::from_utf8(manifest).unwrap();
    assert!(manifest.contains("x==2") && manifest.contains("index") && !manifest.contains("evil"), "{manifest}");
    let broken = of(&fixture, &npm, "broken", &[work[1], ("package.json", "{")]);
    assert_eq!(laid(&fixture, &broken), ["package-lock.json"]);
}

#[test]
fn a_lock_file_that_is_gone_is_gone_and_one_that_is_a_link_is_not_taken() {
    let fixture = fixture(&FILES);
    let npm = settings(&["npm", "ci"], None);
    let tree = fixture.workspace.work_tree(Some("gone"), &fixture.workspace.base().tree).unwrap();
    std::fs::remove_file(tree.path.join("package-lock.json")).unwrap();
    std::fs::remove_file(tree.path.join("Cargo.lock")).unwrap();
    symlink("tools/fill.sh", tree.path.join("Cargo.lock")).unwrap();
    let now = fixture.workspace.measure(&tree, &fixture.workspace.base().tree).unwrap().tree;
    let locked = fixture.workspace.locked_base(&npm, &fixture.workspace.base().tree, &now).unwrap();
    assert_eq!(laid(&fixture, &locked), ["package-lock.json"]);
    assert_eq!(fixture.workspace.file(&locked.tree, "package-lock.json").unwrap(), None);
}

#[test]
fn a_file_that_the_setup_names_is_the_works_own_setup() {
    let fixture = fixture(&FILES);
    let changed = [("prep.sh", "2\n"), ("tools/fill.sh", "2\n"), ("package-lock.json", "2"), ("other.lock", "2")];
    let named = |words: &[&str], locks: Option<&[&str]>| {
        let unit = words.join("").replace(|c: char| !c.is_ascii_alphanumeric(), "");
        let locked = of(&fixture, &settings(words, locks), &unit, &changed);
        locked.named.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(named(&["sh", "prep.sh"], None), ["prep.sh"]);
    assert_eq!(named(&["./tools/fill.sh"], None), ["tools/fill.sh"]);
    assert_eq!(named(&["sh", "-c", "x=1; . ./prep.sh;cd tools && ./fill.sh"], None), ["prep.sh", "tools/fill.sh"]);
    assert_eq!(named(&["run", "--file=prep.sh"], None), ["prep.sh"]);
    assert!(named(&["make"], None).is_empty(), "what it does not name is as the run began");
    assert!(named(&["cp", "package-lock.json", "deps/"], None).is_empty(), "a lock file is taken");
    // A lock file by the configuration alone may be a program.
    assert!(named(&["fetch"], Some(&["other.lock"])).is_empty());
    assert_eq!(named(&["sh", "other.lock"], Some(&["other.lock"])), ["other.lock"]);
}
