//! `cargo xtask breaks`: breaks the kernel on purpose, one line at a time, and requires the simulator to see each.
//!
//! A break is a file in `crates/tollgate-testkit/breaks/`: the invariant that no longer holds, or `stuck` where runs no longer come to an
//! end, a file, a line and what it is changed to; and the protocol that is played, where only the ends of that one rest on the line. Sources are copied below `target/`, so the work tree is never touched.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use crate::command::{cargo, root};

/// Seeds of each protocol within which a break must be seen.
const SEEDS: &str = "134";
/// Seeds where only one protocol is played.
const SEEDS_OF_ONE: &str = "402";
/// Parts of the repository that are not needed to build the simulator.
const LEFT_OUT: [&str; 3] = ["target", ".git", "web"];

struct Break {
    name: String,
    /// The number of the invariant that is broken, or `stuck`.
    invariant: String,
    file: PathBuf,
    old: String,
    new: String,
    /// The protocol whose ends rest on this line alone; none: it is seen under any.
    protocol: Option<String>,
}

pub fn run(wanted: &[&str]) -> ExitCode {
    match all(wanted) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::from(3)
        }
    }
}

/// Tries every break whose name begins with one of the wanted ones; how many were not seen.
fn all(wanted: &[&str]) -> Result<usize, String> {
    let breaks = read(&root().join("crates/tollgate-testkit/breaks"))?;
    let chosen = |found: &&Break| wanted.is_empty() || wanted.iter().any(|name| found.name.starts_with(name));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let scratch = target.join("breaks");
    let source = scratch.join("source");
    copy(&root(), &source)?;
    let start = Instant::now();
    let (mut seen, mut missed) = (0, Vec::new());
    for found in breaks.iter().filter(chosen) {
        let begun = Instant::now();
        let verdict = attempt(found, &source, &scratch.join("build"))?;
        println!("{:<12} {}: {verdict} ({:.0} s)", found.name, found.seen_as(), begun.elapsed().as_secs_f64());
        if verdict.starts_with("seen") { seen += 1 } else { missed.push(found.name.clone()) }
    }
    println!("breaks: {seen} seen, {} missed, {:.0} s", missed.len(), start.elapsed().as_secs_f64());
    if seen == 0 && missed.is_empty() {
        return Err(format!("no break is called {}", wanted.join(", ")));
    }
    Ok(missed.len())
}

fn read(folder: &Path) -> Result<Vec<Break>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().map(|path| parse(path)).collect()
}

fn parse(path: &Path) -> Result<Break, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let field = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
        line.map(str::to_owned).ok_or_else(|| format!("{} has no line `{key} …`", path.display()))
    };
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (invariant, file, old, new) = (field("invariant")?, field("file")?, field("-")?, field("+")?);
    let protocol = field("protocol").ok();
    Ok(Break { name, invariant, file: file.into(), old, new, protocol })
}

impl Break {
    /// What the simulator says when it sees it.
    fn seen_as(&self) -> String {
        if self.invariant == "stuck" { self.invariant.clone() } else { format!("invariant {}", self.invariant) }
    }

    /// The file as it is, which has the line once.
    fn sound(&self, source: &Path) -> Result<String, String> {
        let path = source.join(&self.file);
        let whole = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        match whole.matches(&self.old).count() {
            1 => Ok(whole),
            _ => Err(format!("{}: `{}` is not once in {}", self.name, self.old, self.file.display())),
        }
    }
}

/// Breaks, builds, simulates, and puts the line back.
fn attempt(found: &Break, source: &Path, build: &Path) -> Result<String, String> {
    let path = source.join(&found.file);
    let whole = found.sound(source)?;
    write(&path, &whole.replacen(&found.old, &found.new, 1))?;
    let args = ["--quiet", "--package", "tollgate-testkit", "--bin", "sim"];
    let mut sim = at(source, build);
    let seeds = if found.protocol.is_some() { SEEDS_OF_ONE } else { SEEDS };
    let only = found.protocol.iter().flat_map(|name| ["--protocol", name.as_str()]);
    let outcome = sim.arg("run").args(args).args(["--", "--seeds", seeds, "--brief", "--first"]).args(only).output();
    write(&path, &whole)?;
    let outcome = outcome.map_err(|error| format!("cargo could not be started: {error}"))?;
    let said = String::from_utf8_lossy(&outcome.stdout);
    let expected = format!("{}:", found.seen_as());
    // What is stuck is named after what is broken, and only where nothing else was seen does it come first.
    let line = said.lines().find(|line| line.starts_with("seed "));
    Ok(match line {
        _ if !said.contains("sim: ") => {
            return Err(format!("{} does not build:\n{}", found.name, String::from_utf8_lossy(&outcome.stderr)));
        }
        // Replay and chain are checked apart: a break they see first is seen.
        Some(line) if line.contains(&expected) || line.contains("invariant 6:") => format!("seen: {line}"),
        Some(line) => format!("MISSED, it was taken for something else: {line}"),
        None => format!("MISSED in {seeds} seeds"),
    })
}

fn at(source: &Path, build: &Path) -> Command {
    let mut command = cargo();
    command.current_dir(source).env("CARGO_TARGET_DIR", build);
    command
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Copies what changed, so that what did not is not built again, and takes away what is gone.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let fail = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::create_dir_all(to).map_err(|error| fail(to, error))?;
    for entry in std::fs::read_dir(from).map_err(|error| fail(from, error))?.flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let name = entry.file_name();
        if LEFT_OUT.iter().any(|left| name == *left) {
            continue;
        }
        if path.is_dir() {
            copy(&path, &target)?;
        } else if std::fs::read(&target).ok() != std::fs::read(&path).ok() {
            std::fs::copy(&path, &target).map_err(|error| fail(&path, error))?;
        }
    }
    for entry in std::fs::read_dir(to).map_err(|error| fail(to, error))?.flatten() {
        let path = entry.path();
        if !from.join(entry.file_name()).exists() {
            let removed = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
            removed.map_err(|error| fail(&path, error))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line that was rewritten would leave its break to be found out by the next who tries them all.
    #[test]
    fn every_break_has_its_line() -> Result<(), String> {
        for found in read(&root().join("crates/tollgate-testkit/breaks"))? {
            found.sound(&root())?;
        }
        Ok(())
    }
}
