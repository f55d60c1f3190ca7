//! A few seeds with every `cargo test`; `cargo xtask sim` plays thousands.

use std::collections::BTreeSet;

use tollgate_testkit::sim::{Played, Seeds, campaign, play};

#[test]
fn a_few_seeds_hold() {
    let done = campaign(&Played::all(), 0, Seeds { each: 1, of_kit: 1 }, false);
    assert!(done.failures.is_empty() && done.stuck.is_empty(), "{:#?} {:#?}", done.failures, done.stuck);
    assert!(done.events > 100 * done.seeds, "{} events in {} seeds", done.events, done.seeds);
}

/// What only `cargo xtask breaks` plays: it would see nothing in a protocol that does not hold unbroken.
#[test]
fn what_only_breaks_play_holds() {
    let done = campaign(&[Played::named("loose-ends").unwrap()], 0, Seeds { each: 10, of_kit: 0 }, false);
    assert!(done.failures.is_empty() && done.stuck.is_empty(), "{:#?} {:#?}", done.failures, done.stuck);
}

#[test]
fn a_seed_on_sqlite_holds() {
    let ledger = Played::named("ledger").unwrap();
    let outcome = play(&ledger, 16, &BTreeSet::new());
    assert_eq!((outcome.violation, outcome.stuck), (None, None));
}

#[test]
fn the_same_seed_gives_the_same_history() {
    let fan_out = Played::named("fan-out").unwrap();
    let (one, two) = (play(&fan_out, 7, &BTreeSet::new()), play(&fan_out, 7, &BTreeSet::new()));
    assert!(one.events == two.events, "{} and {} events", one.events.len(), two.events.len());
    let shorter = play(&fan_out, 7, &(0..50).collect());
    assert!(shorter.events != one.events, "steps that are left out make another history");
}
