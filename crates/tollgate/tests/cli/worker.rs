//! `worker-script`, as the engine starts it.

use crate::world::World;

#[test]
fn a_script_writes_files_and_reports() {
    let mut world = World::new();
    world.write("script.yaml", "script: 1\nroles:\n  developer:\n    - {iteration: 1, write: {hello.txt: \"hello\\n\"}, text: \"I am done.\", exit: 7}\n");
    world.set("TOLLGATE_ROLE", "developer").set("TOLLGATE_ITERATION", "1").set("TOLLGATE_ATTEMPT", "att_1");
    let report = world.path("work/report.md").display().to_string();
    world.set("TOLLGATE_REPORT", &report).type_with("worker-script --script script.yaml", "the brief");
    assert_eq!(std::fs::read_to_string(&report).unwrap(), "I am done.");
    assert_eq!(std::fs::read_to_string(world.path("work/hello.txt")).unwrap(), "hello\n");
    world.set("TOLLGATE_ITERATION", "2").type_with("worker-script --script script.yaml", "the brief");
    insta::assert_snapshot!(world.transcript);
}
