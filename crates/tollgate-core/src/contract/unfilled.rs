//! The words that decide what a report means, and a choice of them that was not made.

use super::definition::{Condition, Mapping, Path, Test};

/// The words that every case of a mapping asks for.
pub fn deciding(mapping: &Mapping) -> Vec<&Path> {
    let asked = mapping.cases.iter().map(|case| case.when.as_ref().map(asked).unwrap_or_default());
    let both = |all: Vec<_>, next: Vec<&Path>| {
        all.into_iter().filter(|path: &&Path| next.iter().any(|other| other.steps == path.steps)).collect()
    };
    asked.reduce(both).unwrap_or_default()
}

fn asked(condition: &Condition) -> Vec<&Path> {
    match condition {
        Condition::All(all) => all.iter().flat_map(asked).collect(),
        Condition::Test(path, Test::Is(_)) => vec![path],
        _ => Vec::new(),
    }
}

/// Whether a text names several words to choose from: `approved | rejected`, `<PASS|FAIL>`.
pub fn is_choice(said: &str, known: &[&str]) -> bool {
    let bare = said.trim().trim_matches(['<', '>', '[', ']', '{', '}', '`', '"']);
    let parts = || bare.split('|').map(|part| part.trim().trim_matches(['`', '"']));
    parts().nth(1).is_some() && parts().all(|part| known.iter().any(|word| word.eq_ignore_ascii_case(part)))
}
