//! Cleaning up: what is around runs that are over, and only what is landed, kept elsewhere or empty. The rest is set aside.
//!
//! ```text
//! trees/RUN/*          removed where the content is on a branch of the user's repository, in a patch of the journal, or the base
//! runs/RUN/git, …      removed when nothing borrows from it; logs, bundles and projections stay
//! refs/tollgate/RUN/*  removed with it
//! objects/*            set aside when no run names them, a day after they were written
//! scratch/*, demo/*    removed when nobody holds them, and when nothing but the demonstration is in them
//! quarantine/*         what was set aside, each with a note; removed only when a person says so
//! ```
//!
//! Runs that are open, driven, about to land or cannot be read are left alone, and no row of the journal is touched. What goes is
//! moved into a claimed scratch folder first: killed in the middle, the next command that cleans up finds it there.
#![expect(clippy::disallowed_methods, reason = "this module owns cleaning up")]

mod leftovers;
mod quarantine;
mod runs;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tollgate_core::Name;
use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;
use tollgate_store::{Filter, Point, reach};

use crate::service::{Service, ServiceError};
use crate::session::{self, LoadError};
use crate::workers::agent::SharedLogin;
use crate::workspace::{Claim, WorkspaceError};

pub use quarantine::{Note, restore};

/// For how long what was set aside is kept at least.
pub const DAYS_KEPT: u64 = 30;
const DAY_MS: u64 = 86_400_000;

/// What happens to a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// It goes.
    Remove,
    /// It is moved below `quarantine/`.
    SetAside,
    /// It stays.
    Keep,
}

/// What a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemKind {
    /// A work tree.
    Tree,
    /// The private git folder of a run, and what a driver made beside it.
    RunFolder,
    /// A ref in the user's repository or in the private git folder.
    Ref,
    /// A large object.
    Object,
    /// A scratch folder.
    Scratch,
    /// A demonstration.
    Demo,
    /// Something that was set aside before.
    Quarantined,
}

impl ItemKind {
    /// The word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::RunFolder => "run_folder",
            Self::Ref => "ref",
            Self::Object => "object",
            Self::Scratch => "scratch",
            Self::Demo => "demo",
            Self::Quarantined => "quarantined",
        }
    }
}

/// One thing, what happens to it, and why that is safe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Where it is, or its name.
    pub place: String,
    /// The run it belongs to.
    pub run: Option<RunId>,
    /// What happens to it.
    pub fate: Fate,
    /// Why.
    pub why: String,
    /// How many bytes its files have.
    pub bytes: u64,
}

/// How it is cleaned up.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Nothing is changed; what would happen is said.
    pub dry: bool,
    /// What was set aside longer ago than this is removed; none: nothing is.
    pub expire_days: Option<u64>,
    /// Now.
    pub now_ms: u64,
}

/// A cleaning under way.
struct Gc<'a> {
    service: &'a Service,
    state: &'a Path,
    options: Options,
    items: Vec<Item>,
    /// The objects that runs name; none when one of them cannot be read.
    named: Option<BTreeSet<Digest>>,
    /// The runs of which something is set aside.
    aside: BTreeSet<RunId>,
    /// The trees that were set aside before: they are there, or a person lets them go.
    told: BTreeSet<(RunId, Name)>,
    /// What goes is moved here first, and goes with it.
    bin: Claim,
    moved: u32,
}

impl Service {
    /// Cleans up, or says what would be done.
    pub fn gc(&self, options: Options) -> Result<Vec<Item>, ServiceError> {
        let bin = Claim::make(&self.state.join("scratch").join(format!("gc-{}", std::process::id())))?;
        let (items, named) = (Vec::new(), Some(BTreeSet::new()));
        let (aside, told) = (BTreeSet::new(), BTreeSet::new());
        let mut gc = Gc { service: self, state: &self.state, options, items, named, aside, told, bin, moved: 0 };
        // First: what is set aside now has its time before it.
        gc.expired()?;
        let listed = self.journal.list(&Filter::default()).map_err(LoadError::from)?;
        let mut known: BTreeSet<RunId> = listed.damaged.iter().filter_map(|damaged| damaged.run).collect();
        if !listed.damaged.is_empty() {
            gc.named = None;
        }
        for run in &known {
            gc.item(ItemKind::RunFolder, run.to_string(), Some(*run), Fate::Keep, "it cannot be read".to_owned());
        }
        for summary in &listed.runs {
            known.insert(summary.run);
            gc.run(summary)?;
        }
        if !gc.options.dry {
            // Where that fails, the next attempt of the agent tries it again, and says why.
            SharedLogin::settle_all(&self.state).ok();
        }
        gc.strangers(&known)?;
        gc.objects()?;
        gc.scratch()?;
        gc.demos()?;
        Ok(gc.items)
    }
}

impl Gc<'_> {
    fn item(&mut self, kind: ItemKind, place: String, run: Option<RunId>, fate: Fate, why: String) {
        self.items.push(Item { kind, place, run, fate, why, bytes: 0 });
    }

    /// Removes a file or folder, unless this is only a look; it is out of the way at once, whenever this process ends.
    fn remove(&mut self, kind: ItemKind, path: &Path, run: Option<RunId>, why: String) -> Result<(), WorkspaceError> {
        let bytes = size(path);
        if !self.options.dry {
            self.moved += 1;
            let to = self.bin.path().join(self.moved.to_string());
            std::fs::rename(path, &to).map_err(|source| WorkspaceError::Io { path: path.to_owned(), source })?;
            reach(Point::GcMoved);
            match to.symlink_metadata() {
                Ok(meta) if meta.is_dir() => crate::workspace::remove_tree(&to)?,
                Ok(_) | Err(_) => {
                    std::fs::remove_file(&to).map_err(|source| WorkspaceError::Io { path: to, source })?
                }
            }
        }
        let place = path.display().to_string();
        self.items.push(Item { kind, place, run, fate: Fate::Remove, why, bytes });
        Ok(())
    }

    /// Notes which objects a run names.
    fn names(&mut self, run: RunId) {
        let events = session::events(&*self.service.journal, run, 0, u64::MAX);
        match (events, &mut self.named) {
            (Ok(events), Some(named)) => {
                named.extend(events.iter().flat_map(|recorded| recorded.event.objects()));
            }
            (Err(_), _) => self.named = None,
            (Ok(_), None) => {}
        }
    }
}

/// The bytes of all files below a path; links are not followed.
fn size(path: &Path) -> u64 {
    let mut sum = 0;
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        let Ok(meta) = path.symlink_metadata() else { continue };
        if meta.is_dir() {
            open.extend(children(&path));
        } else {
            sum += meta.len();
        }
    }
    sum
}

/// What is in a folder, by name; nothing when there is no such folder.
fn children(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.sort();
    found
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
