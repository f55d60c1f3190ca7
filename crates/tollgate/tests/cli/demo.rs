//! `tollgate demo`.

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
    let proof = world.run("verify --all", "");
    assert_eq!(proof.status.code(), Some(0), "{}", String::from_utf8_lossy(&proof.stderr));
    let (runs, _) = world.json("ls --json");
    assert_eq!(runs.iter().filter(|run| run["status"] == "succeeded").count(), 2, "{runs:?}");
}
