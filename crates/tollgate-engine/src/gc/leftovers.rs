//! What is beside the runs: folders of runs that nobody knows, objects, scratch folders, demonstrations.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;

use super::{DAY_MS, Fate, Gc, ItemKind, children, name_of};
use crate::service::ServiceError;
use crate::session::LoadError;
use crate::workspace::{Claim, Repository, WorkspaceError, left_over, start_of, undo_start};

impl Gc<'_> {
    /// Folders of runs that are in no journal: somebody's, until they say otherwise.
    pub(super) fn strangers(&mut self, known: &BTreeSet<RunId>) -> Result<(), WorkspaceError> {
        for (kind, folder) in [(ItemKind::Tree, "trees"), (ItemKind::RunFolder, "runs")] {
            for path in children(&self.state.join(folder)) {
                let Ok(run) = name_of(&path).parse::<RunId>() else { continue };
                // One that is being started is claimed, and not in the journal yet.
                let starts = self.state.join("scratch").join(format!("start-{run}")).exists();
                if !known.contains(&run) && !starts {
                    let group = format!("{folder}-of-no-run");
                    self.set_aside(
                        kind,
                        &group,
                        &path,
                        (None, None),
                        "no run of this name is in the journal".to_owned(),
                    )?;
                }
            }
        }
        Ok(())
    }

    /// Objects that no run names. A writer has its objects there before the events that name them: young ones are left alone.
    pub(super) fn objects(&mut self) -> Result<(), ServiceError> {
        let Some(mut named) = self.named.clone() else {
            let place = self.state.join("objects").display().to_string();
            let why = "a run cannot be read: which objects it names is not known".to_owned();
            self.item(ItemKind::Object, place, None, Fate::Keep, why);
            return Ok(());
        };
        named.extend(digests_in(&self.state.join("cuts")));
        let old = UNIX_EPOCH + Duration::from_millis(self.options.now_ms.saturating_sub(DAY_MS));
        let is_old = |path: &Path| path.metadata().and_then(|meta| meta.modified()).is_ok_and(|time| time < old);
        let files: Vec<_> = children(&self.state.join("objects")).iter().flat_map(|group| children(group)).collect();
        for path in files.into_iter().filter(|path| is_old(path)) {
            let name = name_of(&path);
            if name.starts_with("tmp-") {
                self.remove(ItemKind::Object, &path, None, "it was never finished".to_owned())?;
                continue;
            }
            let Ok(digest) = name.parse::<Digest>() else { continue };
            if named.contains(&digest) {
                continue;
            }
            let why = "no event of any run names it".to_owned();
            let to = self.set_aside(ItemKind::Object, "objects", &path, (None, None), why)?;
            // A writer that found it there made it young again, and is about to name it.
            if !self.options.dry && !is_old(&to) {
                self.take_back(&to, &path)?;
            }
        }
        Ok(())
    }

    /// Scratch folders whose makers are gone, with what a start made that was cut off.
    pub(super) fn scratch(&mut self) -> Result<(), WorkspaceError> {
        let (own, service) = (name_of(self.bin.path()), self.service);
        let opened = |run| service.is_opened(run);
        for path in children(&self.state.join("scratch")).into_iter().filter(|path| name_of(path) != own) {
            let Some(claim) = Claim::take(&path) else { continue };
            let mut places = vec![(ItemKind::Scratch, path.display().to_string())];
            if let Some(run) = start_of(&claim).filter(|run| opened(*run) == Some(false))
                && let Some(left) = left_over(self.state, run)?
            {
                places.push((ItemKind::RunFolder, left.folder.display().to_string()));
                if let Some(workspace) = &left.workspace {
                    let top = workspace.top().display();
                    places.extend(workspace.pins()?.iter().map(|name| (ItemKind::Ref, format!("{name} in {top}"))));
                }
            }
            if self.options.dry {
                claim.leave();
            } else {
                undo_start(self.state, claim, &opened);
            }
            let (fate, why) = match self.options.dry || path.symlink_metadata().is_err() {
                true => (Fate::Remove, "whoever made it is gone"),
                false => (Fate::Keep, "whoever made it is gone, and it cannot be cleaned up now"),
            };
            for (kind, place) in places {
                self.item(kind, place, None, fate, why.to_owned());
            }
        }
        Ok(())
    }

    /// Demonstrations whose runs are over: they go when nothing but the demonstration is in them.
    pub(super) fn demos(&mut self) -> Result<(), ServiceError> {
        let listed = self.service.journal.list(&tollgate_store::Filter::default()).map_err(LoadError::from)?;
        for path in children(&self.state.join("demo")) {
            let place = path.display().to_string();
            let (mut open, mut runs) = (false, BTreeSet::new());
            for summary in listed.runs.iter().filter(|summary| Path::new(&summary.text.repository).starts_with(&path)) {
                runs.insert(summary.run);
                open |= !matches!(summary.text.status.as_str(), "succeeded" | "reported" | "dropped" | "cancelled");
            }
            let borrowed = self
                .items
                .iter()
                .any(|item| item.run.is_some_and(|run| runs.contains(&run)) && item.fate != Fate::Remove);
            if open || borrowed || !listed.damaged.is_empty() || !self.aside.is_disjoint(&runs) {
                let why = "a run of it is open, or something of one borrows from it".to_owned();
                self.item(ItemKind::Demo, place, None, Fate::Keep, why);
            } else if is_untouched(&path, self.bin.path()) {
                let why = "nothing but the demonstration is in it; `tollgate demo` makes another".to_owned();
                self.remove(ItemKind::Demo, &path, None, why)?;
            } else {
                let why = "somebody changed something in it".to_owned();
                self.set_aside(ItemKind::Demo, "demo", &path, (None, None), why)?;
            }
        }
        Ok(())
    }
}

/// Whether the repository of a demonstration has its one commit, the branches of runs, and nothing else.
fn is_untouched(folder: &Path, scratch: &Path) -> bool {
    let inside: Vec<_> = children(folder).into_iter().filter(|path| path.is_dir()).collect();
    let [top] = inside.as_slice() else { return false };
    let Ok(repository) = Repository::open(top, scratch) else { return false };
    repository.dirty.is_empty() && repository.is_as_made().unwrap_or(false)
}

/// Every digest that the files of a folder name: what was cut off a journal names objects, too.
fn digests_in(folder: &Path) -> Vec<Digest> {
    let mut found = Vec::new();
    for path in children(folder) {
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
        let words = text.split(|character: char| !character.is_ascii_hexdigit());
        found.extend(words.filter(|word| word.len() == 64).filter_map(|word| word.parse::<Digest>().ok()));
    }
    found
}
