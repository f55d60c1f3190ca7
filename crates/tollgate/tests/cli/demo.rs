//! `tollgate demo`.

use tollgate_engine::verify;
use tollgate_store::{Filter, Journal, Options, SqliteJournal};

use crate::world::World;

#[test]
fn the_demonstration_ends_well_twice_and_every_run_proves() {
    let world = World::new();
    for number in 1..=2 {
        let output = world.run("demo", "");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        for text in
            ["Which greeting is wanted", "killed", "repeated after a crash", "succeeded", "tollgate verify --all"]
        {
            assert!(said.contains(text), "`{text}` is not in:\n{said}");
        }
        assert!(world.path(&format!("state/demo/{number}/greet")).is_dir());
    }
    let journal = SqliteJournal::open(&world.path("state"), Options::default()).unwrap();
    let runs = journal.list(&Filter::default()).unwrap();
    assert_eq!(runs.len(), 2);
    for summary in runs {
        assert_eq!(verify::verify(&journal, summary.run).unwrap().breaches, []);
    }
}
