//! What git takes from outside of its folders: through links in them, and by what its configuration names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::git_paths::leads;
use crate::git::Git;
use crate::workspace::Naming;

/// The most git folders of one repository, and the most entries of a folder, that are looked at.
const FOLDERS_MAX: usize = 4096;
const ENTRIES_MAX: usize = 10_000;

/// Where links of a git folder lie that git follows to a program, a setting or a rule, and where other git folders are.
const LINKED: [&str; 5] = ["", "hooks", "info", "modules", "worktrees"];

/// What git reaches from repositories, each by its top and a place where git keeps it; and from the person's own configuration. Not
/// what lies in the git folders themselves.
pub(super) fn reached(cwd: &Path, repositories: &BTreeSet<(PathBuf, PathBuf)>) -> Vec<PathBuf> {
    let Ok(git) = Git::discover(cwd) else { return Vec::new() };
    let user = Naming::of_user(&git);
    let (mut found, mut known) = (user.files.clone(), BTreeSet::new());
    for (top, place) in repositories {
        let folders: Vec<PathBuf> = leads(place).into_iter().filter(|place| place.is_dir()).collect();
        known.extend(folders.iter().cloned());
        let folders: Vec<PathBuf> = folders.iter().flat_map(|folder| git_folders(folder)).collect();
        found.extend(folders.iter().flat_map(|folder| LINKED.map(|name| links(&folder.join(name)))).flatten());
        let files = folders.iter().flat_map(|folder| ["config", "config.worktree"].map(|name| folder.join(name)));
        let named = Naming::of(&git, files.collect());
        found.extend(named.files);
        for hooks in user.hooks.iter().chain(&named.hooks) {
            // They are looked up from where they run.
            let hooks = top.join(hooks);
            found.extend(links(&hooks));
            found.insert(hooks);
        }
    }
    let places: BTreeSet<PathBuf> = found.iter().flat_map(|place| leads(place)).collect();
    places.into_iter().filter(|place| !known.iter().any(|folder| place.starts_with(folder))).collect()
}

/// A git folder, and those of its submodules and linked work trees.
fn git_folders(git: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![git.to_owned()]);
    while let Some(folder) = open.pop() {
        if found.len() + open.len() > FOLDERS_MAX {
            break;
        }
        if folder == git || folder.join("HEAD").symlink_metadata().is_ok() {
            open.extend(["modules", "worktrees"].iter().flat_map(|name| entries(&folder.join(name))));
            found.push(folder);
        } else if folder.is_dir() {
            // The name of a submodule may have several parts.
            open.extend(entries(&folder));
        }
    }
    found
}

fn links(folder: &Path) -> Vec<PathBuf> {
    entries(folder).filter(|entry| entry.is_symlink()).collect()
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    folder.read_dir().into_iter().flatten().flatten().take(ENTRIES_MAX).map(|entry| entry.path())
}
