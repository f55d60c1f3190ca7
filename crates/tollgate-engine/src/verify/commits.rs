//! Whether the work of a run that succeeded is still there: its commit, in one of the git folders that should hold it.

use std::path::Path;

use tollgate_core::code::Code;
use tollgate_core::run::Run;
use tollgate_core::run::event::RunOutcome;
use tollgate_core::run::state::Phase;

use super::Breach;
use crate::workspace::{git_folders, holds_commit, is_demonstration};

/// A commit that is in none of the git folders that should hold it.
#[derive(Debug)]
pub enum Missing {
    /// The work is lost with it.
    Work(Breach),
    /// A patch of the work is an object of the journal, and proved with it.
    PatchIsLeft(String),
}

/// The commit of a run whose journal may hold, but whose commit is in none of its git folders. What landed from it counts as well.
pub fn missing(state: &Path, run: &Run) -> Option<Missing> {
    let succeeded = matches!(&run.phase, Phase::Closed { outcome: RunOutcome::Succeeded, .. });
    let commit = run.published.as_ref().filter(|commit| succeeded && !commit.is_empty())?;
    // `gc` removes the repository of a demonstration, which is in the state directory.
    if is_demonstration(state, run) {
        return None;
    }
    let folders = git_folders(state, run);
    // A patch names the commit that it is made for, which does not hold the work.
    let landed = run.landed.iter().filter(|landed| landed.patch.is_none());
    let commits = std::iter::once(commit).chain(landed.map(|landed| &landed.commit));
    // A folder that git cannot look into says nothing about what it holds.
    let mut looks = commits.flat_map(|commit| folders.iter().map(|folder| holds_commit(folder, commit)));
    if looks.any(|found| found != Some(false)) {
        return None;
    }
    let places: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    let what = format!("the commit {commit} of its tree is neither in {}", places.join(" nor in "));
    Some(match run.landed.iter().find_map(|landed| landed.patch) {
        Some(patch) => Missing::PatchIsLeft(format!(
            "{what}; its change is left as a patch: `tollgate evidence {}`",
            patch.short()
        )),
        None => Missing::Work(Breach { code: Code::RUN_COMMIT_MISSING, seq: None, what }),
    })
}
