//! Layers: what an agent writes into its own folders of the person's home goes elsewhere, and the folders stay as they are.
//!
//! A folder is covered by an overlay: what is in it is read, what is written goes into a folder of the engine's. A file is covered by a copy
//! of it. The files of a login are bound through the layer, since a login that is renewed and not kept is lost.

use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::mount::{MountFlags, mount, mount_bind};
use serde::{Deserialize, Serialize};

use super::{hidden_paths, path_text, read_only_mounts, visible_paths};

/// How many entries of what an agent wrote are named.
const NAMED_MAX: usize = 12;
const UPPER: &str = "upper";
const COPY: &str = "copy";
/// What the copy was made from.
const ORIGINAL: &str = "original";

/// What an agent has to itself besides what its attempt has.
#[derive(Debug, Clone, Copy, Default)]
pub struct AgentHome<'a> {
    /// Its places in the home folder, as its adapter names them.
    pub places: &'a [&'a str],
    /// Where what it writes there goes; none: it is written there.
    pub layer: Option<AgentLayer<'a>>,
    /// What it writes besides.
    pub writes: &'a [PathBuf],
}

/// Where what an agent writes goes in the place of its own folders.
#[derive(Debug, Clone, Copy)]
pub struct AgentLayer<'a> {
    pub folder: &'a Path,
    /// The names of files in its places that are written through: it keeps its login there.
    pub login: &'a [&'a str],
}

/// A place, and what covers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    #[serde(with = "path_text::one")]
    place: PathBuf,
    cover: Cover,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Cover {
    Overlay {
        #[serde(with = "path_text::one")]
        upper: PathBuf,
        #[serde(with = "path_text::one")]
        work: PathBuf,
        #[serde(with = "path_text")]
        login: Vec<PathBuf>,
    },
    Copy(#[serde(with = "path_text::one")] PathBuf),
}

/// Whether every place of an agent can be covered: one that a configuration lets it write, or in which something is mounted, cannot.
pub(crate) fn can_cover(places: &[&str], written: &[PathBuf]) -> bool {
    let mounts = read_only_mounts::mounts();
    let written: Vec<PathBuf> = written.iter().filter_map(|path| path.canonicalize().ok()).collect();
    real(places).iter().all(|(_, place)| {
        let meets = |path: &PathBuf| path.starts_with(place) || place.starts_with(path);
        !written.iter().any(meets) && !mounts.iter().any(|mount| mount.starts_with(place) && mount != place)
    })
}

/// The places that are there, by where they lie, without those inside of others; each with its number in the list.
fn real(places: &[&str]) -> Vec<(usize, PathBuf)> {
    let there = |place: &&str| visible_paths::own(place)?.canonicalize().ok();
    let mut all: Vec<(usize, PathBuf)> =
        places.iter().enumerate().filter_map(|(number, place)| Some((number, there(place)?))).collect();
    all.sort_by(|(_, a), (_, b)| a.cmp(b));
    all.dedup_by(|(_, next), (_, before)| next.starts_with(before));
    all
}

/// Where what is written into a place of an agent goes.
pub(crate) fn upper(places: &[&str], place: &Path, layer: &Path) -> Option<PathBuf> {
    let (number, _) = real(places).into_iter().find(|(_, real)| real == place)?;
    Some(layer.join(number.to_string()).join(UPPER))
}

/// Makes what covers the places of an agent: what a conversation has written before is still there.
pub(super) fn prepare(places: &[&str], layer: AgentLayer<'_>) -> io::Result<Vec<Layer>> {
    let cover = |(number, place): (usize, PathBuf)| {
        let folder = layer.folder.join(number.to_string());
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        if !place.is_dir() {
            let copy = folder.join(COPY);
            if !copy.exists() {
                let bytes = std::fs::read(&place)?;
                for name in [ORIGINAL, COPY] {
                    let mut options = std::fs::OpenOptions::new();
                    let file = options.write(true).create(true).truncate(true).mode(0o600).open(folder.join(name));
                    file?.write_all(&bytes)?;
                }
            }
            return Ok(Layer { place, cover: Cover::Copy(copy) });
        }
        let (upper, work) = (folder.join(UPPER), folder.join("work"));
        // It looks like the folder itself.
        let mode = std::fs::metadata(&place)?.permissions();
        for made in [&upper, &work] {
            std::fs::create_dir_all(made)?;
        }
        std::fs::set_permissions(&upper, mode)?;
        // The mark of a layer that was not synced; the next one would not be mounted over it.
        let own = work.join("work");
        if own.is_dir() {
            // It is closed to everybody.
            std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o700))?;
            std::fs::remove_dir_all(own)?;
        }
        let file = |name: &&str| place.join(name).canonicalize().ok().filter(|file| file.starts_with(&place));
        let login = layer.login.iter().filter_map(file).filter(|file| file.is_file()).collect();
        Ok(Layer { place, cover: Cover::Overlay { upper, work, login } })
    };
    real(places).into_iter().map(cover).collect()
}

/// What was written into the places of an agent, by their names: the entries of its folders, without what lies in those. What the person
/// has there comes first.
pub(crate) fn written(places: &[&str], layer: &Path) -> Vec<String> {
    let mut found: Vec<(bool, String)> = Vec::new();
    for (number, place) in places.iter().enumerate() {
        let folder = layer.join(number.to_string());
        let name = place.trim_end_matches('/');
        let name = if name.starts_with('$') { name.to_owned() } else { format!("~/{name}") };
        let same =
            |one: &str, other: &str| std::fs::read(folder.join(one)).ok() == std::fs::read(folder.join(other)).ok();
        if !same(COPY, ORIGINAL) {
            found.push((false, name.clone()));
        }
        let upper = folder.join(UPPER);
        // It may have been closed, to hide what is in it.
        std::fs::set_permissions(&upper, std::fs::Permissions::from_mode(0o700)).ok();
        let own = visible_paths::own(place).unwrap_or_default();
        for entry in std::fs::read_dir(upper).into_iter().flatten().flatten() {
            let end = match entry.file_type() {
                Ok(kind) if kind.is_dir() => "/",
                // What an overlay keeps of an entry that was removed.
                Ok(kind) if kind.is_char_device() => " (removed)",
                _ => "",
            };
            let is_new = own.join(entry.file_name()).symlink_metadata().is_err();
            found.push((is_new, format!("{name}/{}{end}", entry.file_name().to_string_lossy())));
        }
    }
    found.sort();
    let more = found.len().saturating_sub(NAMED_MAX);
    let first = found.into_iter().take(NAMED_MAX).map(|(_, name)| name);
    first.chain((more > 0).then(|| format!("{more} more"))).collect()
}

/// Covers the places, in a mount namespace of its own.
pub(super) fn lay(layers: &[Layer]) -> io::Result<()> {
    let named = |path: &Path, error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    for Layer { place, cover } in layers {
        match cover {
            Cover::Copy(copy) => mount_bind(copy, place).map_err(|error| named(place, error.into()))?,
            Cover::Overlay { upper, work, login } => {
                let trees: Vec<OwnedFd> =
                    login.iter().map(|file| hidden_paths::tree_at(file)).collect::<Result<_, _>>()?;
                overlay(place, upper, work).map_err(|error| named(place, error))?;
                for (tree, file) in trees.into_iter().zip(login) {
                    hidden_paths::put(tree, file).map_err(|error| named(file, error))?;
                }
            }
        }
    }
    Ok(())
}

/// The folders are named by open files: a path of its own could hold what separates the options. It is not synced when it ends, which would
/// sync the whole file system: what a machine that went down leaves of a layer is no more than a session that is lost.
fn overlay(place: &Path, upper: &Path, work: &Path) -> io::Result<()> {
    let open = |path: &Path| rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY, Mode::empty());
    let (lower, upper, work) = (open(place)?, open(upper)?, open(work)?);
    let at = |file: &OwnedFd| format!("/proc/self/fd/{}", file.as_raw_fd());
    let extended = if in_own_user_namespace() { ",userxattr" } else { "" };
    let options = format!(
        "lowerdir={},upperdir={},workdir={},index=off,metacopy=off,volatile{extended}",
        at(&lower),
        at(&upper),
        at(&work)
    );
    let options = std::ffi::CString::new(options)?;
    Ok(mount("overlay", place, "overlay", MountFlags::NOSUID | MountFlags::NODEV, &*options)?)
}

/// There an overlay keeps its notes in attributes that everybody may set.
fn in_own_user_namespace() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.split_whitespace().nth(2) != Some("4294967295")
}

/// A folder in which to try it, for this process.
pub(super) fn probe_folder(state: &Path) -> PathBuf {
    state.join(format!("layers-{}", std::process::id()))
}

/// Covers a folder in there, in a mount namespace, to see whether the system lets us and the file system can hold layers. What it leaves
/// whoever asked for it removes: the mount goes with the namespace.
pub(super) fn probe(folder: &Path) -> io::Result<()> {
    let [place, upper, work] = ["place", UPPER, "work"].map(|name| folder.join(name));
    for made in [&place, &upper, &work] {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(made)?;
    }
    overlay(&place, &upper, &work)?;
    std::fs::write(place.join("file"), "").and_then(|()| std::fs::metadata(upper.join("file"))).map(drop)
}

/// Removes what [`probe`] left.
pub(super) fn remove_probe(folder: &Path) {
    // The overlay makes a folder there that nobody may enter.
    std::fs::set_permissions(folder.join("work/work"), std::fs::Permissions::from_mode(0o700)).ok();
    std::fs::remove_dir_all(folder).ok();
}
