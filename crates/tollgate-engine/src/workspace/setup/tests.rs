use serde_json::json;

use super::*;
use crate::testing::{folder, write};

fn entry(path: &str, blob: &str) -> Entry {
    Entry { path: path.into(), mode: "100644".into(), blob: blob.into() }
}

#[test]
fn what_is_in_force_is_read_or_refused() {
    assert!(Settings::of(&Value::Null).unwrap().is_empty());
    let config = json!({"worktree": {"setup": {"value": ["npm", "ci"], "from": "user"}, "caches": {"value": ["node_modules/"], "from": "user"}}});
    let settings = Settings::of(&config).unwrap();
    assert_eq!((settings.setup.join(" "), settings.caches.join(" ")), ("npm ci".into(), "node_modules".into()));
    for (key, value) in [
        ("setup", json!("npm ci")),
        ("setup", json!({"value": "npm ci"})),
        ("copy", json!({"value": ["../.env"]})),
        ("copy", json!({"value": ["/etc/passwd"]})),
        ("copy", json!({"value": [".git/config"]})),
        ("caches", json!({"value": [".."]})),
        ("caches", json!({"value": ["a/../b"]})),
        ("caches", json!({"value": ["/tmp"]})),
        ("caches", json!({"value": ["."]})),
        ("caches", json!({"value": ["**"]})),
        ("caches", json!({"value": [".git/objects"]})),
    ] {
        assert!(Settings::of(&json!({"worktree": {key: value}})).is_err(), "{key}: {value}");
    }
}

#[test]
fn the_key_is_of_the_lock_files_and_of_what_is_run() {
    let settings = Settings::of(&json!({"worktree": {"setup": {"value": ["npm", "ci"]}}})).unwrap();
    let tree = [entry("package-lock.json", "a"), entry("src/main.js", "b"), entry("web/yarn.lock", "c")];
    let key = settings.key(&tree);
    assert_eq!(settings.locks_of(&tree).count(), 2);
    assert_eq!(settings.key(&[tree[0].clone(), entry("src/main.js", "x"), tree[2].clone()]), key);
    for changed in [0, 2] {
        let mut other = tree.clone();
        other[changed].blob = "x".into();
        assert_ne!(settings.key(&other), key);
    }
    assert_ne!(Settings { setup: vec!["npm".to_owned(), "install".to_owned()], ..settings.clone() }.key(&tree), key);
    assert_ne!(Settings { copy: vec![".env".to_owned()], ..settings }.key(&tree), key);
}

#[test]
fn caches_are_copied_whole_with_their_times_and_links_and_leave_the_first_as_it_is() {
    let root = folder("caches");
    write(&root, "tree/deps/a/index.js", "1");
    write(&root, "tree/deps/bin.sh", "#!/bin/sh\n");
    std::os::unix::fs::symlink("../bin.sh", root.join("tree/deps/a/link")).unwrap();
    let file = std::fs::File::options().write(true).open(root.join("tree/deps/a/index.js")).unwrap();
    let then = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    file.set_modified(then).unwrap();
    let names = ["deps".to_owned(), "not/there".to_owned()];
    caches::keep(&root.join("tree"), &names, &root.join("made/key")).unwrap();
    write(&root, "copy/deps/stale", "of before");
    caches::put(&root.join("made/key"), &names, &root.join("copy")).unwrap();
    let copied = root.join("copy/deps/a/index.js");
    assert_eq!(std::fs::read_to_string(&copied).unwrap(), "1");
    assert_eq!(copied.metadata().unwrap().modified().unwrap(), then);
    assert_eq!(std::fs::read_link(root.join("copy/deps/a/link")).unwrap(), Path::new("../bin.sh"));
    assert!(!root.join("copy/deps/stale").exists() && !root.join("copy/not").exists());
    std::fs::write(&copied, "poison").unwrap();
    assert_eq!(std::fs::read_to_string(root.join("made/key/0/a/index.js")).unwrap(), "1");
    // What leads out of the tree is neither taken nor put.
    std::os::unix::fs::symlink("/etc", root.join("copy/out")).unwrap();
    assert!(caches::put(&root.join("made/key"), &["out/x".to_owned()], &root.join("copy")).is_err());
    std::os::unix::fs::symlink("/etc", root.join("tree/linked")).unwrap();
    assert!(caches::keep(&root.join("tree"), &["linked".to_owned()], &root.join("made/other")).is_err());
}
