//! The top-level modules of a crate are its rooms: they use each other in one direction. A parent and its children are one room.

use std::collections::{BTreeMap, BTreeSet};

use super::repo::Repo;
use super::rust;

/// No rooms of a crate use each other in a circle.
pub fn in_order(repo: &Repo) -> Vec<String> {
    let fix = "move what they share into the lower one";
    cycles(repo).into_iter().map(|circle| format!("{circle} use each other in a circle; {fix}")).collect()
}

/// The rooms that use each other in a circle, one line for each circle.
pub fn cycles(repo: &Repo) -> Vec<String> {
    let packages: BTreeSet<&str> = repo.rust().filter_map(|(path, ..)| package(path)).collect();
    let mut found = Vec::new();
    for package in packages {
        let uses = uses(repo, package);
        let reached: BTreeMap<&str, BTreeSet<&str>> = uses.keys().map(|room| (*room, reach(&uses, room))).collect();
        let mut named = BTreeSet::new();
        for room in uses.keys().filter(|room| reached[*room].contains(**room)) {
            let circle: Vec<&str> =
                reached[room].iter().copied().filter(|other| reached[other].contains(room)).collect();
            if named.insert(circle[0]) {
                found.push(format!("{package}: {}", circle.join(", ")));
            }
        }
    }
    found
}

/// The folder of the package that a Rust file is in.
pub fn package(path: &str) -> Option<&str> {
    match path.strip_prefix("crates/") {
        Some(rest) => rest.split_once('/').map(|(name, _)| &path[..name.len() + 7]),
        None => path.split_once('/').map(|(name, _)| name),
    }
}

/// Every room that can be reached from a room by at least one step.
fn reach<'u>(uses: &'u BTreeMap<&str, BTreeSet<String>>, room: &str) -> BTreeSet<&'u str> {
    let (mut reached, mut waiting) = (BTreeSet::new(), vec![room]);
    while let Some(room) = waiting.pop() {
        for (name, _) in uses.iter().filter(|(name, _)| uses[room].contains(**name)) {
            if reached.insert(*name) {
                waiting.push(name);
            }
        }
    }
    reached
}

/// The rooms of a crate and what each uses of the others. Tests and programs do not count.
fn uses<'r>(repo: &'r Repo, package: &str) -> BTreeMap<&'r str, BTreeSet<String>> {
    let root = format!("{package}/src/");
    let mut uses: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (path, text, test) in repo.rust() {
        let Some(inside) = path.strip_prefix(&root).filter(|inside| !test && !inside.starts_with("bin/")) else {
            continue;
        };
        let room = inside.split('/').next().unwrap_or(inside).trim_end_matches(".rs");
        if matches!(room, "lib" | "main") {
            continue;
        }
        let depth = inside.split('/').count() - usize::from(inside.ends_with("/mod.rs"));
        let text = text.split_once("#[cfg(test)]\nmod tests {").map_or(text, |(before, _)| before);
        let code = rust::code_only(text);
        let used = [used(&code, "crate::"), used(&code, &"super::".repeat(depth))].concat();
        uses.entry(room).or_default().extend(used.into_iter().filter(|name| name != room));
    }
    uses
}

/// The modules that a path from the root of the crate names: `crate::NAME` and `crate::{NAME, …}`.
fn used(code: &str, root: &str) -> Vec<String> {
    let name =
        |text: &str| text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = Vec::new();
    for (at, path) in code.match_indices(root).filter(|(at, _)| !code[..*at].ends_with("::")) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_that_use_each_other_in_a_circle_are_named_and_tests_do_not_count() {
        let repo = Repo::of(&[
            ("crates/a/src/lib.rs", "mod x;\nmod y;\nmod z;\n"),
            ("crates/a/src/x/mod.rs", "use crate::{y::Y, z};\n#[cfg(test)]\nmod tests { use crate::w; }\n"),
            ("crates/a/src/x/deep.rs", "use super::y;\n"),
            ("crates/a/src/y.rs", "// crate::z\nfn f() { super::w::g() }\n"),
            ("crates/a/src/z.rs", ""),
            ("crates/a/src/w/part.rs", "use super::super::x::X;\n"),
            ("crates/a/src/z/tests.rs", "use crate::x;\n"),
        ]);
        assert_eq!(cycles(&repo), ["crates/a: w, x, y"]);
    }

    #[test]
    fn grouped_paths_are_read() {
        assert_eq!(used("use crate::{a::{b, c}, d};\ncrate::e::f()", "crate::"), ["a", "d", "e"]);
    }
}
