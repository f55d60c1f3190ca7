//! What is around a run that is over: its work trees, its private git folder, its refs.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;

use tollgate_core::Name;
use tollgate_core::run::event::LandAs;
use tollgate_core::run::{Run, effects};
use tollgate_store::Summary;

use super::{Fate, Gc, ItemKind, children};
use crate::git::ObjectId;
use crate::process::holder::is_dead;
use crate::service::ServiceError;
use crate::workspace::{Workspace, WorkspaceError, run_folder};

/// What of a run's folder goes with its git folder: what a driver made for itself. Logs, bundles and projections stay.
const DRIVERS_OWN: &[&str] = &["git", "copies", "shown", "ready", "made", "caches", "agents"];

/// Content that is kept elsewhere, by the tree that holds it, and where that is.
type Safe = BTreeMap<Name, String>;

impl Gc<'_> {
    /// Cleans up around one run.
    pub(super) fn run(&mut self, summary: &Summary) -> Result<(), ServiceError> {
        let id = summary.run;
        self.names(id);
        let (trees, folder) = (self.state.join("trees").join(id.to_string()), run_folder(self.state, id));
        let there = !children(&trees).is_empty() || DRIVERS_OWN.iter().any(|name| folder.join(name).exists());
        if !there {
            return Ok(());
        }
        let keep = |gc: &mut Self, why: String| {
            gc.item(ItemKind::RunFolder, folder.display().to_string(), Some(id), Fate::Keep, why);
            Ok(())
        };
        let Ok(loaded) = self.service.load(id) else {
            self.named = None;
            return keep(self, format!("it cannot be read; `tollgate verify {id}` says why"));
        };
        let run = loaded.run();
        let driven = |lease: &tollgate_store::Lease| lease.until_ms > self.options.now_ms && !is_dead(&lease.holder);
        if !run.is_closed() {
            return keep(self, "it is open".to_owned());
        }
        if summary.lease.as_ref().is_some_and(driven) {
            return keep(self, "a process is running it".to_owned());
        }
        if run.landing.is_some() || !effects(run).is_empty() {
            return keep(self, format!("something of it is to be done; `tollgate resume {id}` does it"));
        }
        let held = match Workspace::lock(self.state, id) {
            Ok(held) => held,
            Err(error) => return keep(self, error.to_string()),
        };
        let workspace = match Workspace::of(self.state, run) {
            Ok(workspace) if workspace.gone().is_none() => workspace,
            Ok(_) => return keep(self, "its repository is gone, so whether its work is there is unknown".to_owned()),
            Err(error) => return keep(self, error.to_string()),
        };
        let safe = safe(&workspace, run)?;
        let mut aside = BTreeSet::new();
        for tree in children(&trees) {
            aside.extend(self.tree(&workspace, run, &tree, &safe)?);
        }
        let told = |tree: &Name| self.told.contains(&(id, tree.clone()));
        let nowhere =
            recorded(run).filter(|(_, tree)| !safe.contains_key(*tree) && !aside.contains(*tree) && !told(tree));
        let nowhere: Vec<_> = nowhere.collect();
        self.lay_out(&workspace, run, nowhere)?;
        if !self.options.dry {
            // Only an empty one goes.
            std::fs::remove_dir(&trees).ok();
        }
        let kept = self.kept(&workspace, run, &safe)?;
        self.rest(&workspace, run, kept, &folder)?;
        drop(held);
        Ok(())
    }

    /// A work tree goes when its content is elsewhere, and is set aside else: answers what is set aside.
    fn tree(
        &mut self,
        workspace: &Workspace,
        run: &Run,
        path: &Path,
        safe: &Safe,
    ) -> Result<Option<Name>, WorkspaceError> {
        let id = run.id;
        let set_aside = |gc: &mut Self, tree: Option<Name>, why: String| {
            gc.set_aside(ItemKind::Tree, &id.to_string(), path, (Some(id), tree.clone()), why).map(|_| tree)
        };
        let aside = |gc: &mut Self, why: String| set_aside(gc, None, why);
        let remove = |gc: &mut Self, why: String| gc.remove(ItemKind::Tree, path, Some(id), why).map(|()| None);
        let Some(name) = path.file_name().and_then(OsStr::to_str) else {
            return aside(self, "no unit of the run has this name".to_owned());
        };
        if name.ends_with("@new") {
            return remove(self, "it was never finished".to_owned());
        }
        if name.contains("@kept-") {
            return remove(self, "its content is kept under a ref".to_owned());
        }
        if path.join(".git/refs/stash").exists() {
            return aside(self, "somebody put work into its stash".to_owned());
        }
        let found = match workspace.measure_named(name) {
            Ok(found) if found.misplaced().is_empty() => found,
            Ok(found) => return aside(self, format!("no commit can hold {}", found.misplaced().join(", "))),
            Err(error) => return aside(self, error.to_string()),
        };
        match safe.get(&found.tree.name()) {
            Some(why) => remove(self, why.clone()),
            None => {
                let why = format!("it holds work that did not land: the tree {}", found.tree);
                set_aside(self, Some(found.tree.name()), why)
            }
        }
    }

    /// What the journal says the run has, and no folder holds any more, is made again and set aside.
    fn lay_out(
        &mut self,
        workspace: &Workspace,
        run: &Run,
        trees: Vec<(Option<&str>, &Name)>,
    ) -> Result<(), WorkspaceError> {
        for (unit, tree) in trees {
            let Some(tree) = ObjectId::parse(tree).filter(|tree| workspace.has(tree)) else { continue };
            let path = match self.options.dry {
                true => Ok(workspace.locate(unit).path),
                false => workspace.work_tree(unit, &tree).map(|tree| tree.path),
            };
            let path = match path {
                Ok(path) => path,
                Err(error) => {
                    // It lies where it is, and what holds it stays.
                    self.aside.insert(run.id);
                    let place = format!("{tree} in {}", workspace.git_folder().display());
                    let why = format!("it holds work that did not land, and cannot be set aside: {error}");
                    self.item(ItemKind::Tree, place, Some(run.id), Fate::Keep, why);
                    continue;
                }
            };
            let why = format!("it holds work that did not land: the tree {tree}");
            let of = (Some(run.id), Some(tree.name()));
            self.set_aside(ItemKind::Tree, &run.id.to_string(), &path, of, why)?;
        }
        Ok(())
    }

    /// What was kept of work trees under refs of the private git folder; whether something of it is nowhere else.
    fn kept(&mut self, workspace: &Workspace, run: &Run, safe: &Safe) -> Result<bool, WorkspaceError> {
        let mut needed = false;
        for (name, commit, tree) in workspace.kept_refs()? {
            let place = format!("{name} in {}", workspace.git_folder().display());
            match safe.get(&tree.name()) {
                Some(why) => {
                    if !self.options.dry {
                        workspace.forget_kept(&name, &commit)?;
                    }
                    self.item(ItemKind::Ref, place, Some(run.id), Fate::Remove, why.clone());
                }
                None => {
                    needed = true;
                    let why = format!(
                        "it holds work that did not land: `git -C {} show {commit}`",
                        workspace.git_folder().display()
                    );
                    self.item(ItemKind::Ref, place, Some(run.id), Fate::Keep, why);
                }
            }
        }
        Ok(needed)
    }

    /// The private git folder and the pin of the base, when nothing borrows from them any more.
    fn rest(&mut self, workspace: &Workspace, run: &Run, kept: bool, folder: &Path) -> Result<(), WorkspaceError> {
        let id = run.id;
        if kept || self.aside.contains(&id) {
            let why = "what was set aside or kept borrows from it".to_owned();
            self.item(ItemKind::RunFolder, folder.display().to_string(), Some(id), Fate::Keep, why);
            return Ok(());
        }
        let pins = workspace.pins()?;
        if !self.options.dry {
            workspace.release(true)?;
        }
        for name in pins {
            let place = format!("{name} in {}", workspace.top().display());
            self.item(
                ItemKind::Ref,
                place,
                Some(id),
                Fate::Remove,
                "nothing borrows from the base any more".to_owned(),
            );
        }
        for name in DRIVERS_OWN.iter().filter(|name| folder.join(name).exists()) {
            if !self.options.dry {
                workspace.mark_collected()?;
            }
            let why = match *name {
                "git" => "every tree in it that is worth something is elsewhere; it is made again when it is needed",
                _ => "it was made for work that is over",
            };
            self.remove(ItemKind::RunFolder, &folder.join(name), Some(id), why.to_owned())?;
        }
        Ok(())
    }
}

/// The trees that the journal says a run has, by the units they are of.
fn recorded(run: &Run) -> impl Iterator<Item = (Option<&str>, &Name)> {
    let own = run.ledger.units.iter().filter_map(|unit| Some((unit, unit.tree.as_ref()?)));
    let units = own.flat_map(|(unit, own)| {
        let work = Some(&own.tree).filter(|_| !own.landed);
        work.into_iter().chain(&own.left).map(|tree| (Some(&*unit.name), tree))
    });
    std::iter::once((None, &run.tree)).chain(units)
}

/// The trees of a run whose content is kept elsewhere: the base, and what is on a branch of the user's repository or in a
/// patch of the journal.
fn safe(workspace: &Workspace, run: &Run) -> Result<Safe, WorkspaceError> {
    let mut safe = Safe::from([(run.opened.content.tree.clone(), "it holds what the run started from".to_owned())]);
    let on_a_branch = |commit: &str| -> Result<Option<String>, WorkspaceError> {
        let Some(commit) = ObjectId::parse(commit) else { return Ok(None) };
        Ok(workspace.branch_with(&commit)?.map(|branch| format!("it is in the commit {commit} on the branch {branch}")))
    };
    let mut closing = match &run.published {
        Some(commit) => on_a_branch(commit)?,
        None => None,
    };
    for landed in &run.landed {
        let why = match landed.how {
            LandAs::Patch => Some("it is in a patch that the journal holds".to_owned()),
            LandAs::Branch | LandAs::Merge => on_a_branch(&landed.commit)?,
        };
        if let Some(why) = why {
            closing = closing.or_else(|| Some(why.clone()));
            safe.insert(landed.tree.clone(), why);
        }
    }
    if let Some(why) = closing {
        for own in run.ledger.units.iter().filter_map(|unit| unit.tree.as_ref()).filter(|own| own.landed) {
            safe.entry(own.tree.clone()).or_insert_with(|| format!("it landed in the run's tree, and {why}"));
        }
        safe.insert(run.tree.clone(), why);
    }
    Ok(safe)
}
