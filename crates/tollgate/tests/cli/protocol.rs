//! `protocol`.

use crate::world::World;

#[test]
fn protocols_are_listed() {
    let mut world = World::with_repository();
    world.type_in("protocol list").type_in("protocol list --json");
    insta::assert_snapshot!(world.transcript);
}
