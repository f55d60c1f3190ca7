//! `cargo xtask figures`: how large the tree is, how it hangs together, and how long its checks took. CONTRIBUTING.md says what each is for.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::tidy::{Repo, lists, rooms};

/// Where the seconds of the last `cargo xtask test` are kept, in the target folder.
const STEPS: &str = "test-steps.tsv";

struct Figure {
    name: String,
    now: String,
    target: &'static str,
}

/// Prints every figure that the tree itself gives, and the seconds of the last test run in this target folder.
pub fn run() -> ExitCode {
    let repo = match Repo::load(&crate::command::root()) {
        Ok(repo) => repo,
        Err(why) => {
            eprintln!("error: {why}");
            return ExitCode::FAILURE;
        }
    };
    let figures = of_the_tree(&repo);
    let width = figures.iter().map(|figure| figure.name.chars().count()).max().unwrap_or(0);
    for Figure { name, now, target } in &figures {
        println!("{name:<width$}  {now:>8}  {target}");
    }
    match kept() {
        Some(steps) => println!("\nlast `cargo xtask test` in this target folder, seconds:\n{}", steps.trim_end()),
        None => println!("\n`cargo xtask test` has not run in this target folder"),
    }
    ExitCode::SUCCESS
}

fn of_the_tree(repo: &Repo) -> Vec<Figure> {
    let lines = |wanted: &dyn Fn(&str) -> bool| -> usize {
        repo.rust().filter(|(path, ..)| wanted(path)).map(|(_, text, _)| text.lines().count()).sum()
    };
    let all = lines(&|_| true);
    let of_contracts = lines(&|path| lists::SOURCES.iter().any(|folder| path.starts_with(folder)));
    let crates: BTreeSet<&str> = repo.rust().filter_map(|(path, ..)| rooms::package(path)).collect();
    let sizes = crates.iter().map(|name| (lines(&|path| rooms::package(path) == Some(name)), *name));
    let (largest, name) = sizes.max().unwrap_or((0, "none"));
    let cycles = rooms::cycles(repo);
    let figure = |name: &str, now: String, target| Figure { name: name.to_owned(), now, target };
    let mut figures = vec![
        figure("lines of Rust", all.to_string(), "at most 118000"),
        figure("of them, reading contracts and scopes", of_contracts.to_string(), "at most 25000"),
        figure("word lists where reports are read", lists::all(repo).count().to_string(), "at most 4"),
        figure(
            &format!("percent of the lines in the largest crate ({name})"),
            (largest * 100 / all.max(1)).to_string(),
            "at most 30",
        ),
        figure("circles of top-level modules that use each other", cycles.len().to_string(), "0"),
    ];
    figures.extend(cycles.into_iter().map(|circle| figure(&format!("  {circle}"), String::new(), "")));
    figures
}

/// Keeps the seconds of each step of a test run.
pub fn keep(steps: &[(&str, f64)]) {
    let text: String = steps.iter().map(|(name, seconds)| format!("{name}\t{seconds:.1}\n")).collect();
    let Some(path) = path() else { return };
    if let Err(error) = std::fs::write(&path, text) {
        eprintln!("warning: {} could not be written: {error}", path.display());
    }
}

fn kept() -> Option<String> {
    std::fs::read_to_string(path()?).ok()
}

/// In the target folder that this command was built in.
fn path() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.parent()?.parent()?.join(STEPS))
}
