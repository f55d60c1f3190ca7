//! What a repository is to the programs of a run: its checkouts are out of their sight, the objects that they borrow are not.

use std::path::{Path, PathBuf};

use super::Repository;
use super::repository::Shared;

/// How many stores of objects may borrow from each other, as git has it.
const BORROWED_DEPTH_MAX: usize = 5;

impl Shared {
    /// The checkouts of the repository, the main one and the linked ones, and its git folder.
    pub fn checkouts(&self, top: &Path) -> Vec<PathBuf> {
        let mut all = vec![top.to_owned(), self.common.clone()];
        all.extend(self.common.parent().filter(|_| self.common.ends_with(".git")).map(Path::to_owned));
        for entry in std::fs::read_dir(self.common.join("worktrees")).into_iter().flatten().flatten() {
            // It names the `.git` of the checkout.
            let file = std::fs::read_to_string(entry.path().join("gitdir")).unwrap_or_default();
            all.extend(entry.path().join(file.trim_end_matches('\n')).parent().map(Path::to_owned));
        }
        all.retain(|path| path.parent().is_some());
        all
    }

    /// The stores of its objects, and those that they borrow from.
    pub fn stores(&self) -> Vec<PathBuf> {
        let (mut all, mut next) = (Vec::new(), vec![self.objects.clone()]);
        for _ in 0..=BORROWED_DEPTH_MAX {
            let of = |store: &PathBuf| {
                let text = std::fs::read_to_string(store.join("info/alternates")).unwrap_or_default();
                let lines: Vec<PathBuf> =
                    text.lines().filter(|line| !line.starts_with('#')).map(|line| store.join(line)).collect();
                lines
            };
            let borrowed = next.iter().flat_map(of).collect();
            all.append(&mut next);
            next = borrowed;
        }
        all
    }
}

impl Repository {
    /// The person's checkouts of this repository, which no program of a run sees.
    pub fn unseen(&self) -> Vec<PathBuf> {
        self.shared.checkouts(&self.top)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{folder, git, repository};

    #[test]
    fn linked_checkouts_and_borrowed_stores_are_found_from_each_of_them() {
        let root = repository("checkouts", &[("a", "1")]);
        let beside = folder("beside").canonicalize().unwrap();
        let (linked, clone, third) = (beside.join("linked"), beside.join("clone"), beside.join("third"));
        git(&root, &["worktree", "add", "-q", "--detach", &linked.display().to_string()]);
        let real = |path: &Path| path.canonicalize().unwrap();
        for place in [&*root, &linked] {
            let found = Repository::find(place).unwrap().unseen();
            let found: Vec<PathBuf> = found.iter().map(|path| real(path)).collect();
            assert!(found.contains(&real(&root)) && found.contains(&real(&linked)), "{found:?}");
        }
        for (from, to) in [(&*root, &clone), (&clone, &third)] {
            git(&beside, &["clone", "-q", "--shared", &from.display().to_string(), &to.display().to_string()]);
        }
        let stores = Repository::find(&third).unwrap().shared.stores();
        for repository in [&*root, &clone, &third] {
            let objects = real(&repository.join(".git/objects"));
            assert!(stores.iter().any(|store| real(store) == objects), "{stores:?}");
        }
    }
}
