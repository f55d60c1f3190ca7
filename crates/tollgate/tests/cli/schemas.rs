//! `schemas`.

use crate::world::World;

#[test]
fn schemas_are_written_and_compared() {
    let mut world = World::new();
    world.type_in("schemas --dir out --check").type_in("schemas --dir out").type_in("schemas --dir out --check");
    world.write("out/wire/run.schema.json", "{}");
    world.write("out/wire/stray.schema.json", "{}");
    world.type_in("schemas --dir out --check");
    insta::assert_snapshot!(world.transcript);
}

/// Whoever changes the wire changes the committed schemas in the same commit: `cargo xtask schemas` writes them.
#[test]
fn the_committed_schemas_are_those_of_the_program() {
    let world = World::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schemas");
    let output = world.run(&format!("schemas --check --dir {folder}"), "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
