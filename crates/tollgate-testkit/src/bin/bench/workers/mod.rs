//! What a worker costs besides its own work: its tree, its start, what is measured after it, and what it prints.

mod repository;
mod runs;
mod start;
mod stream;
mod tree;

use std::path::Path;

use crate::Outcome;
use crate::figures::Figures;
use repository::Size;

/// How many files a repository has; each limit holds at its own.
const SMALL: Size = Size { files: 10_000, rounds: 7 };
const LARGE: Size = Size { files: 100_000, rounds: 5 };

/// This program as something else: what is measured starts it. None when the words ask for nothing of that.
pub fn child(words: &[&str]) -> Option<Outcome> {
    // Among what the adapter of an agent says itself.
    if let Some([_, file, ..]) = words.iter().position(|word| *word == stream::PRINTER).and_then(|at| words.get(at..)) {
        return Some(stream::print(Path::new(file)));
    }
    match words {
        [start::WORKER] => Some(start::work()),
        [stream::CHILD, dir, agent] => Some(stream::child(Path::new(dir), agent)),
        _ => None,
    }
}

/// The names of the figures of one size.
struct Names {
    made: &'static str,
    made_by_git: &'static str,
    start: &'static str,
    first: &'static str,
    end: &'static str,
    measured: &'static str,
    status: &'static str,
}

/// Measures work trees, measurements and starts with 10,000 files.
pub fn small(dir: &Path, figures: &mut Figures) -> Outcome {
    let names = Names {
        made: "worktree_ratio_10000",
        made_by_git: "worktree_add_ms",
        start: "start_ms",
        first: "start_ms_first",
        end: "end_ms",
        measured: "measure_ratio_10000",
        status: "status_ms",
    };
    sized(dir, figures, &SMALL, &names)
}

/// The same with 100,000 files.
pub fn large(dir: &Path, figures: &mut Figures) -> Outcome {
    let names = Names {
        made: "worktree_ratio_100000",
        made_by_git: "worktree_add_ms_100000",
        start: "start_ms_100000",
        first: "start_ms_100000_first",
        end: "end_ms_100000",
        measured: "measure_ratio_100000",
        status: "status_ms_100000",
    };
    sized(dir, figures, &LARGE, &names)
}

fn sized(dir: &Path, figures: &mut Figures, size: &Size, names: &Names) -> Outcome {
    let (tree, start) = repository::with(dir, size, |world| Ok((tree::measure(world)?, start::measure(world)?)))?;
    figures.set(names.made, tree.made_ratio);
    figures.set(names.made_by_git, tree.bare_made_ms);
    figures.set(names.start, start.start_ms);
    figures.set(names.first, start.first_ms);
    figures.set(names.end, start.end_ms);
    figures.set(names.measured, tree.measure_ratio);
    figures.set(names.status, tree.bare_measure_ms);
    figures.worse("worktree_ratio", tree.made_ratio);
    figures.worse("measure_ratio", tree.measure_ratio);
    Ok(())
}

/// Measures how fast an agent's output is taken.
pub fn stream(dir: &Path, figures: &mut Figures) -> Outcome {
    stream::measure(dir, figures)
}
