//! Covers: each hidden place is replaced by an empty folder, and what is granted inside of it is bound back in.
//!
//! Landlock decides which files a program opens, but not which sockets it connects to: a socket that can be named can be reached. So
//! nothing of a hidden place may keep a name. The way to a granted place is made of empty folders and of the links that lead there.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, symlink};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MoveMountFlags, OpenTreeFlags, mount, mount_bind, move_mount, open_tree};

use super::read_only_mounts;
use crate::paths::trace_links;

/// Landlock alone hides it: it holds the devices that every program needs.
const DEVICES: &str = "/dev";
/// Replaced by a folder of the program's own, not by an empty one.
const TMP: &str = "/tmp";

/// What is done at one path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// Covers what is there.
    Cover,
    /// Makes an empty folder in the place of what is covered already: a home folder is expected to be there.
    Folder,
    /// Binds back what was there before it was covered.
    Grant,
    /// Makes a link that leads to a granted place.
    Link(PathBuf),
}

/// What is done at which path, the outer one before what lies in it. What is covered at `tmp` can be written, so that what is hidden in it
/// is covered once more.
fn plan(hidden: &[PathBuf], granted: &[PathBuf], tmp: Option<&Path>) -> Vec<(PathBuf, Step)> {
    let mut steps: Vec<(PathBuf, Step)> = Vec::new();
    for path in granted {
        let Some(trace) = trace_links(path) else { continue };
        if trace.end.symlink_metadata().is_ok() {
            let target = |link: PathBuf| link.read_link().ok().map(|target| (link, Step::Link(target)));
            steps.extend(trace.links.into_iter().filter_map(target));
            steps.push((trace.end, Step::Grant));
        }
    }
    let covers = hidden.iter().filter(|path| path.as_path() != Path::new(DEVICES) && path.parent().is_some());
    // What is granted by its own name is not hidden.
    let covers: Vec<_> = covers.filter(|path| !steps.contains(&((*path).clone(), Step::Grant))).cloned().collect();
    steps.extend(covers.into_iter().map(|path| (path, Step::Cover)));
    steps.sort_by(|(a, _), (b, _)| a.cmp(b));
    steps.dedup();
    // The nearest path above decides whether there is anything left to do.
    let mut needed: Vec<(PathBuf, Step)> = Vec::new();
    for (path, step) in steps {
        let above = needed.iter().rev().find(|(above, step)| path.starts_with(above) && !matches!(step, Step::Link(_)));
        let is_covered = above.is_some_and(|(_, step)| matches!(step, Step::Cover | Step::Folder));
        let in_tmp = above.is_some_and(|(above, _)| tmp == Some(above));
        match (is_covered, step) {
            (true, Step::Cover) => needed.push((path, if in_tmp { Step::Cover } else { Step::Folder })),
            (true, step) | (false, step @ Step::Cover) => needed.push((path, step)),
            (false, Step::Grant | Step::Link(_) | Step::Folder) => {}
        }
    }
    needed
}

/// Covers what is hidden, but for what is granted; `/tmp` becomes the folder `temporary`, which is empty. Answers whether it did.
pub(super) fn cover(hidden: &[PathBuf], granted: &[PathBuf], temporary: &Path) -> io::Result<bool> {
    let place = std::env::current_dir()?;
    let tmp = Path::new(TMP).canonicalize().ok();
    let steps = plan(hidden, granted, tmp.as_deref());
    let is_tmp = |path: &Path| tmp.as_deref() == Some(path);
    // All of it is opened before anything is covered.
    let open = |(path, step): &(PathBuf, Step)| (*step == Step::Grant).then(|| tree_at(path)).transpose();
    let mut trees: Vec<Option<OwnedFd>> = steps.iter().map(open).collect::<Result<_, _>>()?;
    let mut own_tmp = Some(tree_at(temporary)?);
    for ((path, step), tree) in steps.iter().zip(&mut trees) {
        match (step, tree.take()) {
            (Step::Cover, _) => match own_tmp.take_if(|_| is_tmp(path)) {
                Some(own) => put(own, path),
                None if path.exists() => empty(path),
                None => std::fs::create_dir_all(path).and_then(|()| empty(path)),
            },
            (Step::Folder, _) => std::fs::create_dir_all(path),
            (Step::Grant, Some(tree)) => bind_back(tree, path),
            (Step::Grant, None) => Ok(()),
            (Step::Link(target), _) => link(target, path),
        }
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    }
    for (path, _) in steps.iter().filter(|(path, step)| *step == Step::Cover && !is_tmp(path)) {
        read_only_mounts::set_one(path)?;
    }
    // The folder that it works in was one of those that were covered.
    std::env::set_current_dir(place)?;
    Ok(own_tmp.is_none())
}

/// Covers one place and uncovers a folder in it, in a namespace of its own, to see whether the system lets us.
pub(super) fn probe() -> io::Result<()> {
    cover(&["/var".into()], &["/var/lib".into()], Path::new("/usr")).map(drop)
}

pub(super) fn tree_at(path: &Path) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    let named = |error: Errno| io::Error::other(format!("{}: {}", path.display(), io::Error::from(error)));
    open_tree(CWD, path, flags | OpenTreeFlags::AT_SYMLINK_NOFOLLOW).map_err(named)
}

pub(super) fn put(tree: OwnedFd, path: &Path) -> io::Result<()> {
    Ok(move_mount(tree, "", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// Binds a tree at a path that is gone with what was covered.
fn bind_back(tree: OwnedFd, path: &Path) -> io::Result<()> {
    if rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&tree)?.st_mode).is_dir() {
        std::fs::create_dir_all(path)?;
    } else {
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
        std::fs::File::create_new(path)?;
    }
    put(tree, path)
}

fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
    Ok(symlink(target, path)?)
}

/// Covers a folder by an empty one, anything else by a device at which nobody listens.
pub(super) fn empty(path: &Path) -> io::Result<()> {
    if !path.is_dir() {
        return Ok(mount_bind("/dev/null", path)?);
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(mount("tmpfs", path, "tmpfs", flags, c"mode=0755,size=1m")?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{folder, write};

    #[test]
    fn what_is_granted_inside_of_what_is_hidden_is_bound_back_with_its_links() {
        let root = folder("covers").canonicalize().unwrap();
        for file in
            ["tmp/home/bin/x", "home/tools/bin/cc", "home/keys/id", "home/work/tree/a", "state/db", "home/work/state/x"]
        {
            write(&root, file, "");
        }
        std::os::unix::fs::symlink("tools", root.join("home/link")).unwrap();
        let at = |path: &str| root.join(path);
        let planned = |hidden: &[&str], granted: &[&str]| {
            let paths = |list: &[&str]| list.iter().map(|path| at(path)).collect::<Vec<_>>();
            let steps = plan(&paths(hidden), &paths(granted), Some(&at("tmp")));
            let shown = |(path, step): (PathBuf, Step)| {
                let path = path.strip_prefix(&root).unwrap().display().to_string();
                match step {
                    Step::Cover => format!("cover {path}"),
                    Step::Folder => format!("folder {path}"),
                    Step::Grant => format!("grant {path}"),
                    Step::Link(target) => format!("link {path} -> {}", target.display()),
                }
            };
            steps.into_iter().map(shown).collect::<Vec<_>>()
        };
        assert_eq!(
            planned(&["home", "state"], &["home/tools/bin"]),
            ["cover home", "grant home/tools/bin", "cover state"]
        );
        assert_eq!(
            planned(&["home"], &["home/link/bin"]),
            ["cover home", "link home/link -> tools", "grant home/tools/bin"]
        );
        assert_eq!(planned(&["state"], &["home/link/bin", "nowhere"]), ["cover state"], "nothing of home is hidden");
        // Inside of what is granted something may be hidden, and inside of that something granted.
        assert_eq!(
            planned(&["home", "home/work/state"], &["home/work", "home/work/state/x"]),
            ["cover home", "grant home/work", "cover home/work/state", "grant home/work/state/x"]
        );
        assert_eq!(
            planned(&["home", "home/keys"], &["home/tools", "home/tools/bin"]),
            ["cover home", "folder home/keys", "grant home/tools"]
        );
        assert_eq!(planned(&["home"], &["home"]), [""; 0], "granted by its own name");
        let in_tmp = planned(&["tmp", "tmp/home", "tmp/home/keys"], &["tmp/home/bin"]);
        assert_eq!(in_tmp, ["cover tmp", "cover tmp/home", "grant tmp/home/bin", "folder tmp/home/keys"]);
    }
}
