//! The rules of the repository that no compiler checks. Each is a function from the [`Repo`] to what breaches it.

mod edges;
mod english;
mod foreign;
pub mod lists;
mod map;
mod modules;
mod pages;
mod repo;
pub mod rooms;
pub mod rust;
mod sizes;
mod words;

use std::process::ExitCode;

pub use repo::Repo;

/// A rule: what breaches it, each as one line that says where, what, and what to do.
type Rule = fn(&Repo) -> Vec<String>;

const RULES: &[Rule] = &[
    sizes::files,
    sizes::functions,
    sizes::lock_file,
    modules::heads,
    modules::declared,
    rooms::in_order,
    edges::between_crates,
    edges::of_the_core,
    edges::manifests,
    foreign::crates,
    lists::of_words,
    map::code_map,
    map::links,
    pages::codes,
    pages::decisions,
    pages::required,
    english::is_plain,
    words::left_behind,
    words::of_a_machine,
];

/// Prints what breaches a rule; fails when anything does.
pub fn run() -> ExitCode {
    let breaches = breaches();
    for breach in &breaches {
        println!("{breach}");
    }
    println!("tidy: {} rules, {} breaches", RULES.len(), breaches.len());
    if breaches.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What breaches a rule in this repository.
pub fn breaches() -> Vec<String> {
    match Repo::load(&crate::command::root()) {
        Ok(repo) => RULES.iter().flat_map(|rule| rule(&repo)).collect(),
        Err(why) => vec![why],
    }
}

#[test]
fn the_repository_is_tidy() {
    let breaches = breaches();
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}
