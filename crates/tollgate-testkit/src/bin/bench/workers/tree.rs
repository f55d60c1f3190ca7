//! Making a unit's work tree over `git worktree add`, and measuring a change over `git status`, in turns.

use std::path::Path;
use std::time::Instant;

use tollgate_engine::executor::content_in;
use tollgate_engine::workspace::{GitState, Workspace, remove_tree};

use super::repository::{World, git};
use super::runs;
use crate::Outcome;
use crate::figures::median;

/// Before it counts: the first look at a fresh tree fills caches on either side.
const WARM_UP: usize = 2;

/// What was measured; ratios of medians.
pub struct Took {
    pub made_ratio: f64,
    pub bare_made_ms: f64,
    pub measure_ratio: f64,
    pub bare_measure_ms: f64,
}

/// Measures both in a repository.
pub fn measure(world: &World) -> Outcome<Took> {
    let journal = runs::journal(&world.state)?;
    let session = runs::start(&journal, &world.state, &world.repository)?;
    let workspace = Workspace::of(&world.state, session.run())?;
    let start = &workspace.base().tree;
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    // The first of each is not counted: it warms the cache of the files.
    for round in 0..=world.rounds {
        let begun = Instant::now();
        let tree = workspace.work_tree(Some(&format!("unit-{round}")), start)?;
        let took = begun.elapsed().as_secs_f64() * 1e3;
        remove_tree(&tree.path)?;
        let place = world.beside.join("tree");
        let name = place.display().to_string();
        let git_took = world.git(&["worktree", "add", "--quiet", "--detach", &name, "HEAD"])?;
        world.git(&["worktree", "remove", "--force", &name])?;
        if round > 0 {
            ours.push(took);
            bare.push(git_took);
        }
    }
    let (made, bare_made_ms) = (median(&ours), median(&bare));
    let tree = workspace.work_tree(Some("measured"), start)?;
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for round in 0..WARM_UP + world.rounds {
        change(&tree.path, 2 * round)?;
        let begun = Instant::now();
        let found = workspace.measure(&tree, start)?;
        let content = content_in(session.run(), &found.tree, &found.entries);
        let state = GitState::of(&tree.path);
        let took = begun.elapsed().as_secs_f64() * 1e3;
        if found.changes.len() != 3 || content.areas.len() != 1 || state == GitState::default() {
            return Err(format!("{} changes were measured, and there are 3", found.changes.len()).into());
        }
        change(&tree.path, 2 * round + 1)?;
        let git_took = git(&tree.path, &["status", "--porcelain"])?;
        if round >= WARM_UP {
            ours.push(took);
            bare.push(git_took);
        }
    }
    let (measured, bare_measure_ms) = (median(&ours), median(&bare));
    Ok(Took {
        made_ratio: made / bare_made_ms,
        bare_made_ms,
        measure_ratio: measured / bare_measure_ms,
        bare_measure_ms,
    })
}

/// A change as an attempt leaves it: a file is modified, one is new, one is gone.
fn change(tree: &Path, number: usize) -> Outcome {
    let folder = tree.join("src/part000/section00");
    std::fs::write(folder.join("file00.txt"), format!("modified for the time {number}\n"))?;
    std::fs::write(folder.join("new.txt"), format!("new for the time {number}\n"))?;
    // It is gone from the first time on.
    match std::fs::remove_file(folder.join("file01.txt")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
