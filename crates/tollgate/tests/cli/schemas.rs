//! `schemas`.

use crate::world::World;

#[test]
fn schemas_are_written_and_compared() {
    let mut world = World::new();
    world.type_in("schemas --dir out --check").type_in("schemas --dir out").type_in("schemas --dir out --check");
    world.write("out/run.json", "{}");
    world.write("out/stray.json", "{}");
    world.type_in("schemas --dir out --check");
    insta::assert_snapshot!(world.transcript);
}
