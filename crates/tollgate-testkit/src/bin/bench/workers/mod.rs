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

/// Measures work trees and measurements, and how an attempt is started, at both sizes.
pub fn trees(dir: &Path, figures: &mut Figures) -> Outcome {
    let small = repository::with(dir, &SMALL, |world| Ok((tree::measure(world)?, start::measure(world)?)))?;
    let large = repository::with(dir, &LARGE, |world| Ok((tree::measure(world)?, start::measure(world)?)))?;
    let both = |of: fn(&tree::Took) -> f64| [of(&small.0), of(&large.0)];
    let [made, made_large] = both(|took| took.made_ratio);
    let [measured, measured_large] = both(|took| took.measure_ratio);
    figures.set("worktree_ratio", made.max(made_large));
    figures.set("worktree_ratio_10000", made);
    figures.set("worktree_ratio_100000", made_large);
    figures.set("worktree_add_ms_100000", large.0.bare_made_ms);
    figures.set("start_ms", small.1.start_ms);
    figures.set("start_ms_first", small.1.first_ms);
    figures.set("start_ms_100000", large.1.start_ms);
    figures.set("start_ms_100000_first", large.1.first_ms);
    figures.set("end_ms", small.1.end_ms);
    figures.set("end_ms_100000", large.1.end_ms);
    figures.set("measure_ratio", measured.max(measured_large));
    figures.set("measure_ratio_10000", measured);
    figures.set("measure_ratio_100000", measured_large);
    figures.set("status_ms_100000", large.0.bare_measure_ms);
    Ok(())
}

/// Measures how fast an agent's output is taken.
pub fn stream(dir: &Path, figures: &mut Figures) -> Outcome {
    stream::measure(dir, figures)
}
