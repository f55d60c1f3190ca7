//! `cargo xtask figures`: how large the tree is, how it hangs together, and how long its checks took. CONTRIBUTING.md says what each is for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::tidy::{Repo, lists, rust};

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
    let crates: BTreeSet<&str> = repo.rust().filter_map(|(path, ..)| package(path)).collect();
    let sizes = crates.iter().map(|name| (lines(&|path| package(path) == Some(name)), *name));
    let (largest, name) = sizes.max().unwrap_or((0, "none"));
    let cycles: Vec<String> = crates.iter().flat_map(|name| cycles(repo, name)).collect();
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
        figure("pairs of top-level modules that use each other", cycles.len().to_string(), "0"),
    ];
    figures.extend(cycles.into_iter().map(|pair| figure(&format!("  {pair}"), String::new(), "")));
    figures
}

/// The folder of the package that a Rust file is in.
fn package(path: &str) -> Option<&str> {
    match path.strip_prefix("crates/") {
        Some(rest) => rest.split_once('/').map(|(name, _)| &path[..name.len() + 7]),
        None => path.split_once('/').map(|(name, _)| name),
    }
}

/// The top-level modules of a crate that use each other, pair by pair. Tests and programs do not count.
fn cycles(repo: &Repo, package: &str) -> Vec<String> {
    let root = format!("{package}/src/");
    let mut uses: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (path, text, test) in repo.rust() {
        let Some(inside) = path.strip_prefix(&root).filter(|inside| !test && !inside.starts_with("bin/")) else {
            continue;
        };
        let module = inside.split('/').next().unwrap_or(inside).trim_end_matches(".rs");
        let text = text.split_once("#[cfg(test)]\nmod tests {").map_or(text, |(before, _)| before);
        uses.entry(module).or_default().extend(used(&rust::code_only(text)));
    }
    let names: Vec<&str> = uses.keys().copied().filter(|name| !matches!(*name, "lib" | "main")).collect();
    let mut found = Vec::new();
    for (at, one) in names.iter().enumerate() {
        let both = names[at + 1..].iter().filter(|other| uses[one].contains(**other) && uses[*other].contains(*one));
        found.extend(both.map(|other| format!("{package}: {one}, {other}")));
    }
    found
}

/// The modules that `crate::NAME` and `crate::{NAME, …}` name.
fn used(code: &str) -> Vec<String> {
    let name =
        |text: &str| text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = Vec::new();
    for (at, path) in code.match_indices("crate::") {
        match code[at + path.len()..].strip_prefix('{') {
            Some(group) => {
                let (mut depth, mut from) = (0_u32, 0);
                for (to, c) in group.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth > 0 => depth -= 1,
                        ',' | '}' if depth == 0 => {
                            found.push(name(&group[from..to]));
                            from = to + 1;
                            if c == '}' {
                                break;
                            }
                        }
                        _ => {}
                    }
                }
            }
            None => found.push(name(&code[at + path.len()..])),
        }
    }
    found
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_that_use_each_other_are_named_and_tests_do_not_count() {
        let repo = Repo::of(&[
            ("crates/a/src/lib.rs", "mod x;\nmod y;\nmod z;\n"),
            ("crates/a/src/x/mod.rs", "use crate::{y::Y, z};\n#[cfg(test)]\nmod tests { use crate::w; }\n"),
            ("crates/a/src/y.rs", "// crate::z\nfn f() { crate::x::g() }\n"),
            ("crates/a/src/z.rs", ""),
            ("crates/a/src/w.rs", "use crate::x::X;\n"),
            ("crates/a/src/z/tests.rs", "use crate::x;\n"),
        ]);
        assert_eq!(cycles(&repo, "crates/a"), ["crates/a: x, y"]);
    }

    #[test]
    fn grouped_paths_are_read() {
        assert_eq!(used("use crate::{a::{b, c}, d};\ncrate::e::f()"), ["a", "d", "e"]);
    }
}
