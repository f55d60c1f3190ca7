//! What a worker did to the git folder of its tree, told from its files: git itself is never run with that folder.

use std::collections::BTreeMap;
use std::path::Path;

use tollgate_core::digest::Digest;

/// How many files of a git folder are looked at, and how much of each.
const FILES_MAX: usize = 20_000;
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// How many changes are named.
const SHOWN_MAX: usize = 20;

/// The state of a git folder: its head, refs, configuration, hooks, rules and submodules, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GitState(BTreeMap<String, Option<Digest>>);

impl GitState {
    /// The state of the git folder of a tree.
    pub fn of(tree: &Path) -> Self {
        let folder = tree.join(".git");
        let mut state = Self::default();
        if !folder.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            // Gone, or something else in its place: one name for all of it.
            state.put("git folder", &folder);
            return state;
        }
        for name in ["HEAD", "config", "config.worktree", "commondir", "shallow", "objects/info/alternates"] {
            state.put(name, &folder.join(name));
        }
        for name in ["refs", "hooks", "info", "modules", "worktrees"] {
            state.walk(&folder, name);
        }
        // A packed ref is the same ref.
        let packed = folder.join("packed-refs");
        let Some(bytes) = plain(&packed) else {
            state.put("packed-refs", &packed);
            return state;
        };
        let text = String::from_utf8_lossy(&bytes);
        for (id, name) in text.lines().filter_map(|line| line.split_once(' ')).take(FILES_MAX) {
            if name.starts_with("refs/") {
                state.0.entry(name.to_owned()).or_insert_with(|| Some(Digest::of(id.as_bytes())));
            }
        }
        state
    }

    fn walk(&mut self, folder: &Path, name: &str) {
        let mut open = vec![name.to_owned()];
        while let Some(name) = open.pop() {
            let path = folder.join(&name);
            if !path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
                self.put(&name, &path);
                continue;
            }
            for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
                // What a submodule holds is its own: that it is there, and where it stands, is told.
                let inner = entry.file_name().to_string_lossy().into_owned();
                if self.0.len() + open.len() < FILES_MAX && !(name.starts_with("modules/") && inner == "objects") {
                    open.push(format!("{name}/{inner}"));
                }
            }
        }
    }

    fn put(&mut self, name: &str, path: &Path) {
        if path.symlink_metadata().is_err() {
            return;
        }
        let content = match std::fs::read_link(path) {
            Ok(target) => Some(target.into_os_string().into_encoded_bytes()),
            Err(_) => plain(path),
        };
        // A loose ref ends with a line; a packed one does not.
        self.0.insert(name.to_owned(), content.map(|bytes| Digest::of(bytes.trim_ascii_end())));
    }

    /// What is not as it was, in words.
    pub fn changed(&self, after: &Self) -> Vec<String> {
        let names = self.0.keys().chain(after.0.keys().filter(|name| !self.0.contains_key(*name)));
        let mut changed: Vec<String> =
            names.filter(|name| self.0.get(*name) != after.0.get(*name)).map(|name| words(name)).collect();
        changed.sort();
        changed.dedup();
        let more = changed.len().saturating_sub(SHOWN_MAX);
        changed.truncate(SHOWN_MAX);
        changed.extend((more > 0).then(|| format!("{more} more")));
        changed
    }
}

/// What a plain file of bounded size holds: nobody waits at a pipe, and no link is followed.
fn plain(path: &Path) -> Option<Vec<u8>> {
    let meta = path.symlink_metadata().ok()?;
    (meta.is_file() && meta.len() <= FILE_BYTES_MAX).then(|| std::fs::read(path).ok()).flatten()
}

/// A name of a git folder as people know it.
fn words(name: &str) -> String {
    let of = |prefix: &str, word: &str| Some(format!("{word} {}", name.strip_prefix(prefix)?));
    let submodule = || Some(format!("submodule {}", name.strip_prefix("modules/")?.split('/').next()?));
    match name {
        "refs/stash" => "stash".to_owned(),
        "config" | "config.worktree" => "config".to_owned(),
        _ => of("refs/heads/", "branch")
            .or_else(|| of("refs/tags/", "tag"))
            .or_else(|| of("refs/", "ref"))
            .or_else(|| of("hooks/", "hook"))
            .or_else(submodule)
            .unwrap_or_else(|| name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{folder, git, repository, write};

    #[test]
    fn every_part_of_the_state_is_told() {
        let root = repository("git-state", &[("a", "1")]);
        let before = GitState::of(&root);
        assert_eq!(before.changed(&GitState::of(&root)), Vec::<String>::new());
        git(&root, &["config", "user.name", "Eve"]);
        git(&root, &["branch", "x/y"]);
        git(&root, &["tag", "v1"]);
        write(&root, "a", "2");
        git(&root, &["stash"]);
        write(&root, ".git/hooks/pre-commit", "#!/bin/sh\n");
        write(&root, ".git/info/exclude", "*\n");
        write(&root, ".git/modules/sub/HEAD", "x\n");
        write(&root, ".git/objects/info/alternates", "/elsewhere\n");
        git(&root, &["checkout", "-q", "--detach"]);
        let after = GitState::of(&root);
        let told = [
            "HEAD",
            "branch x/y",
            "config",
            "hook pre-commit",
            "info/exclude",
            "objects/info/alternates",
            "stash",
            "submodule sub",
            "tag v1",
        ];
        assert_eq!(before.changed(&after), told);
        assert_eq!(after.changed(&before), told, "what is gone is told too");
        git(&root, &["pack-refs", "--all"]);
        assert_eq!(after.changed(&GitState::of(&root)), Vec::<String>::new(), "packing is no change");
    }

    #[test]
    fn a_git_folder_that_is_gone_or_a_link_or_huge_does_no_harm() {
        let root = repository("git-gone", &[("a", "1")]);
        let before = GitState::of(&root);
        for number in 0..40 {
            write(&root, &format!(".git/refs/heads/b{number}"), "x");
        }
        let many = before.changed(&GitState::of(&root));
        assert_eq!((many.len(), many.last().map(String::as_str)), (SHOWN_MAX + 1, Some("20 more")));
        let huge = std::fs::File::create(root.join(".git/hooks/huge")).unwrap();
        huge.set_len(FILE_BYTES_MAX + 1).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, root.join(".git/refs/pipe"), rustix::fs::Mode::RUSR).unwrap();
        let odd = before.changed(&GitState::of(&root));
        assert!(!odd.is_empty());
        rustix::fs::mkfifoat(rustix::fs::CWD, root.join(".git/packed-refs"), rustix::fs::Mode::RUSR).unwrap();
        let piped = GitState::of(&root);
        assert_eq!(GitState::default().changed(&piped).len(), SHOWN_MAX + 1, "nobody waits for it");
        assert!(piped.0.contains_key("packed-refs"));
        std::fs::remove_dir_all(root.join(".git")).unwrap();
        assert!(before.changed(&GitState::of(&root)).contains(&"HEAD".to_owned()));
        std::os::unix::fs::symlink("/etc", root.join(".git")).unwrap();
        assert!(before.changed(&GitState::of(&root)).contains(&"git folder".to_owned()));
        assert_eq!(GitState::of(&folder("no-git")).changed(&GitState::default()), Vec::<String>::new());
    }
}
