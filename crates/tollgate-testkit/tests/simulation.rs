//! A few seeds with every `cargo test`; `cargo xtask sim` plays thousands.

use std::collections::BTreeSet;

use tollgate_testkit::sim::{SCENES, campaign, play};

#[test]
fn a_few_seeds_hold() {
    let done = campaign(0, 2 * SCENES.len() as u64, false);
    assert!(done.failures.is_empty(), "{:#?}", done.failures);
    assert!(done.events > 100 * done.seeds, "{} events in {} seeds", done.events, done.seeds);
}

#[test]
fn a_seed_on_sqlite_holds() {
    let outcome = play(2, true, &BTreeSet::new());
    assert_eq!(outcome.violation, None);
}

#[test]
fn the_same_seed_gives_the_same_history() {
    let (one, two) = (play(7, false, &BTreeSet::new()), play(7, false, &BTreeSet::new()));
    assert!(one.events == two.events, "{} and {} events", one.events.len(), two.events.len());
    let shorter = play(7, false, &(0..50).collect());
    assert!(shorter.events != one.events, "steps that are left out make another history");
}
