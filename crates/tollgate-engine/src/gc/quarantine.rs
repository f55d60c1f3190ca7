//! What is set aside: moved below `quarantine/`, each with a note that says where it was and why it is here.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tollgate_core::Name;
use tollgate_core::id::RunId;
use tollgate_store::{Point, reach};

use super::{DAY_MS, Fate, Gc, Item, ItemKind, children, name_of, size};
use crate::workspace::{Workspace, WorkspaceError, write_whole};

const FOLDER: &str = "quarantine";
const NOTE: &str = "@why.json";

/// Why something was set aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Where it was.
    pub from: PathBuf,
    /// The run it belongs to.
    pub run: Option<RunId>,
    /// The tree it holds, where it is a work tree that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Name>,
    /// Why it was not removed.
    pub why: String,
    /// When it was set aside.
    pub at_ms: u64,
}

impl Gc<'_> {
    /// Moves something below `quarantine/GROUP/`, unless this is only a look. The note is there first: killed in between, it
    /// stands for nothing and is forgotten. Without a note nobody could put it back: what none can name stays where it is.
    pub(super) fn set_aside(
        &mut self,
        kind: ItemKind,
        group: &str,
        path: &Path,
        (run, tree): (Option<RunId>, Option<Name>),
        why: String,
    ) -> Result<PathBuf, WorkspaceError> {
        let bytes = size(path);
        if path.to_str().is_none() {
            self.aside.extend(run);
            let why = format!("{why}; its path is no text, which no note can name: move it away by hand");
            self.items.push(Item { kind, place: path.display().to_string(), run, fate: Fate::Keep, why, bytes });
            return Ok(path.to_owned());
        }
        let folder = self.state.join(FOLDER).join(group);
        let names = (0u32..).map(|number| match number {
            0 => folder.join(name_of(path)),
            number => folder.join(format!("{}@{number}", name_of(path))),
        });
        // A note without its thing was left by one that was killed, and is written over.
        let free = |path: &PathBuf| path.symlink_metadata().is_err();
        let to = names.into_iter().find(free).unwrap_or_else(|| folder.join(name_of(path)));
        if !self.options.dry {
            let note = Note { from: path.to_owned(), run, tree, why: why.clone(), at_ms: self.options.now_ms };
            let unsaid = |error| WorkspaceError::Io { path: path.to_owned(), source: std::io::Error::other(error) };
            let text = serde_json::to_vec(&note).map_err(unsaid)?;
            write_whole(&note_path(&to), &text)?;
            reach(Point::GcNoted);
            std::fs::rename(path, &to).map_err(|source| WorkspaceError::Io { path: path.to_owned(), source })?;
            reach(Point::GcAside);
        }
        self.aside.extend(run);
        let place = format!("{} -> {}", path.display(), to.display());
        self.items.push(Item { kind, place, run, fate: Fate::SetAside, why, bytes });
        Ok(to)
    }

    /// Puts back what was set aside last: it is needed after all.
    pub(super) fn take_back(&mut self, from: &Path, to: &Path) -> Result<(), WorkspaceError> {
        // What was written anew meanwhile is the same.
        if to.symlink_metadata().is_err() {
            std::fs::rename(from, to).map_err(|source| WorkspaceError::Io { path: from.to_owned(), source })?;
        }
        std::fs::remove_file(note_path(from)).ok();
        self.items.pop();
        Ok(())
    }

    /// What was set aside before: it stays until a person says otherwise, and for so many days whatever they say.
    pub(super) fn expired(&mut self) -> Result<(), WorkspaceError> {
        for (path, note) in aside(self.state) {
            if path.symlink_metadata().is_err() {
                // A note whose thing was never moved, or was taken back.
                if !self.options.dry {
                    std::fs::remove_file(note_path(&path)).ok();
                }
                continue;
            }
            if let (Some(run), Some(tree)) = (note.run, &note.tree) {
                self.told.insert((run, tree.clone()));
            }
            let days = self.options.now_ms.saturating_sub(note.at_ms) / DAY_MS;
            let old = self.options.expire_days.is_some_and(|limit| days >= limit);
            let why = format!("set aside {days} days ago: {}", note.why);
            if old {
                self.remove(ItemKind::Quarantined, &path, note.run, why)?;
                if !self.options.dry {
                    std::fs::remove_file(note_path(&path)).ok();
                }
            } else {
                self.aside.extend(note.run);
                self.item(ItemKind::Quarantined, path.display().to_string(), note.run, Fate::Keep, why);
            }
        }
        if !self.options.dry {
            for folder in children(&self.state.join(FOLDER)) {
                // Only empty ones go.
                std::fs::remove_dir(folder).ok();
            }
        }
        Ok(())
    }
}

fn note_path(path: &Path) -> PathBuf {
    let mut note = path.as_os_str().to_owned();
    note.push(NOTE);
    note.into()
}

/// Everything that was set aside, with its note. A note that cannot be read is no reason to take something for nothing.
fn aside(state: &Path) -> Vec<(PathBuf, Note)> {
    let groups = children(&state.join(FOLDER));
    let notes = groups.iter().flat_map(|group| children(group)).filter(|path| name_of(path).ends_with(NOTE));
    notes
        .filter_map(|path| {
            let note: Note = serde_json::from_slice(&std::fs::read(&path).ok()?).ok()?;
            let name = name_of(&path);
            Some((path.with_file_name(name.strip_suffix(NOTE)?), note))
        })
        .collect()
}

/// What was set aside, and where it is again, or why it is not.
pub type Restored = (PathBuf, Result<PathBuf, String>);

/// Puts what was set aside of a run back where it was, and a demonstration that holds its repository; what is in the way stays
/// where it is, and is named.
pub fn restore(state: &Path, run: RunId, repository: Option<&Path>) -> Result<Vec<Restored>, WorkspaceError> {
    let _held = Workspace::lock(state, run)?;
    let mut done = Vec::new();
    for (path, note) in aside(state) {
        let its = note.run == Some(run) || repository.is_some_and(|repository| repository.starts_with(&note.from));
        if !its || path.symlink_metadata().is_err() {
            continue;
        }
        if note.from.symlink_metadata().is_ok() {
            done.push((path, Err(format!("{} is there", note.from.display()))));
            continue;
        }
        let folder = note.from.parent().unwrap_or(state);
        let moved = std::fs::create_dir_all(folder).and_then(|()| std::fs::rename(&path, &note.from));
        moved.map_err(|source| WorkspaceError::Io { path: path.clone(), source })?;
        std::fs::remove_file(note_path(&path)).ok();
        done.push((path, Ok(note.from)));
    }
    Ok(done)
}
