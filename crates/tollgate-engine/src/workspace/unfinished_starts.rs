//! Starts that were cut off: what they made belongs to no run, and is cleaned up once nobody can be at it.

use std::path::{Path, PathBuf};

use tollgate_core::id::RunId;

use super::files::{beside, remove_tree};
use super::locks::Claim;
use super::{Workspace, WorkspaceError, at, run_folder};

/// How many left-overs one command cleans up.
const CLEANED_MAX: usize = 32;
const START: &str = "start-";
/// What a start makes in the folder of its run. Anything else is the work of a driver, and stays.
const MADE: &[&str] = &["git", "git@new", "workspace.json", "workspace.json@new", "lock"];

/// Claims the start of a run, before anything of it is made.
pub fn claim_start(state: &Path, run: RunId) -> Result<Claim, WorkspaceError> {
    Claim::make(&scratch(state).join(format!("{START}{run}")))
}

/// Cleans up what starts left that nobody is at: `opened` says of a run whether it is in the journal, if that can be known.
pub fn sweep_starts(state: &Path, opened: &dyn Fn(RunId) -> Option<bool>) {
    let entries = std::fs::read_dir(scratch(state)).into_iter().flatten().flatten();
    for entry in entries.take(CLEANED_MAX) {
        if let Some(claim) = Claim::take(&entry.path()) {
            undo_start(state, claim, opened);
        }
    }
}

/// Undoes a start that did not come to a run, and gives its claim up; one that did loses its claim alone.
pub fn undo_start(state: &Path, claim: Claim, opened: &dyn Fn(RunId) -> Option<bool>) {
    let done = match start_of(&claim).map(|run| (run, opened(run))) {
        None | Some((_, Some(true))) => true,
        Some((_, None)) => false,
        Some((run, Some(false))) => abandon(state, run).is_ok(),
    };
    if !done {
        claim.leave();
    }
}

/// The run whose start a claim is for.
pub fn start_of(claim: &Claim) -> Option<RunId> {
    let name = claim.path().file_name()?.to_str()?;
    name.strip_prefix(START)?.parse().ok()
}

/// What a start made that came to no run.
#[derive(Debug)]
pub struct UnfinishedStart {
    /// The folder of the run.
    pub folder: PathBuf,
    /// Its work, in a repository that is still there.
    pub workspace: Option<Workspace>,
}

/// What a start left; none where there is nothing, or the work of a driver.
pub fn left_over(state: &Path, run: RunId) -> Result<Option<UnfinishedStart>, WorkspaceError> {
    let folder = run_folder(state, run);
    if !folder.exists() {
        return Ok(None);
    }
    let listed = at(&folder, std::fs::read_dir(&folder))?.flatten();
    let worked = listed.into_iter().any(|entry| !MADE.contains(&&*entry.file_name().to_string_lossy()));
    if worked || state.join("trees").join(run.to_string()).exists() {
        return Ok(None);
    }
    // A repository that is gone has no pin.
    let made = Workspace::remembered(state, run)?.filter(|made| made.shared.common.exists());
    let workspace = made.map(|made| Workspace::reopen(state, run, made)).transpose()?;
    Ok(Some(UnfinishedStart { folder, workspace }))
}

/// Removes what a start made: the pin first, because only the folder knows of it.
fn abandon(state: &Path, run: RunId) -> Result<(), WorkspaceError> {
    remove_tree(&beside(&run_folder(state, run), "gone"))?;
    let Some(UnfinishedStart { folder, .. }) = left_over(state, run)? else { return Ok(()) };
    let _held = Workspace::lock(state, run)?;
    if let Some(UnfinishedStart { workspace: Some(workspace), .. }) = left_over(state, run)? {
        workspace.sweep_ref_locks();
        workspace.unpin()?;
    }
    let gone = beside(&folder, "gone");
    at(&folder, std::fs::rename(&folder, &gone))?;
    remove_tree(&gone)
}

pub(super) fn scratch(state: &Path) -> PathBuf {
    state.join("scratch")
}
