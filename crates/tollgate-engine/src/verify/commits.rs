//! Whether the work of a run that succeeded is still there: its commit, in one of the git folders that should hold it.

use std::path::Path;

use tollgate_core::code::Code;
use tollgate_core::run::Run;
use tollgate_core::run::event::RunOutcome;
use tollgate_core::run::state::Phase;

use super::Breach;
use crate::workspace::{git_folders, holds_commit, is_demonstration};

/// The breach of a run whose journal may hold, but whose commit is in none of its git folders. What landed from it counts as well; a patch
/// is an object of the journal, and proved with it.
pub fn missing(state: &Path, run: &Run) -> Option<Breach> {
    let succeeded = matches!(&run.phase, Phase::Closed { outcome: RunOutcome::Succeeded, .. });
    let commit = run.published.as_ref().filter(|commit| succeeded && !commit.is_empty())?;
    // `gc` removes the repository of a demonstration, which is in the state directory.
    if is_demonstration(state, run) || run.landed.iter().any(|landed| landed.patch.is_some()) {
        return None;
    }
    let folders = git_folders(state, run);
    let commits = std::iter::once(commit).chain(run.landed.iter().map(|landed| &landed.commit));
    // A folder that git cannot look into says nothing about what it holds.
    let mut looks = commits.flat_map(|commit| folders.iter().map(|folder| holds_commit(folder, commit)));
    if looks.any(|found| found != Some(false)) {
        return None;
    }
    let places: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    let what = format!("the commit {commit} of its tree is neither in {}", places.join(" nor in "));
    Some(Breach { code: Code::RUN_COMMIT_MISSING, seq: None, what })
}
