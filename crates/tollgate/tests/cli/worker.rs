//! `worker-script`, as the engine starts it; what `worker doctor` says of a command.

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

#[test]
fn a_report_is_written_where_a_worker_is_asked_to() {
    let mut world = World::new();
    world.type_in("report complete");
    let report = world.path("work/report.json").display().to_string();
    world.set("TOLLGATE_REPORT", &report);
    for wrong in [
        "report blocked --reason silent",
        "report failed",
        "report complete --verdict reject",
        "report complete --verdict accept --row DoD-1=fail:x",
        "report complete --row DoD-1=perhaps",
        "report complete --finding leaks",
    ] {
        world.type_in(wrong);
        assert!(!world.path("work/report.json").exists(), "{wrong}");
    }
    world.write("a.txt", "a\n");
    world.type_in("report complete --file a.txt --file gone.txt --row DoD-1=pass:a.txt --row DoD-2=unobservable");
    let written = std::fs::read_to_string(&report).unwrap();
    let expected = serde_json::json!({
        "status": "complete",
        "rows": [{"id": "DoD-1", "result": "pass", "evidence": "a.txt"}, {"id": "DoD-2", "result": "unobservable"}],
        "files": [{"path": "a.txt"}, {"path": "gone.txt", "deleted": true}],
    });
    assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), expected);
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn doctor_says_that_what_a_command_runs_can_write_its_report() {
    let mut world = World::new();
    std::fs::create_dir_all(world.path("home/.config/tollgate")).unwrap();
    let config = "[worker.judge]\nadapter = \"command\"\ncommand = [\"sh\"]\n[worker.agent]\nadapter = \"claude\"\n";
    std::fs::write(world.path("home/.config/tollgate/config.toml"), config).unwrap();
    let said = |world: &World, name: &str| {
        let output = world.run(&format!("worker doctor {name}"), "");
        String::from_utf8(output.stdout).unwrap()
    };
    world.set("COLUMNS", "1000");
    let judge = said(&world, "judge");
    assert!(judge.contains("same user in the same sandbox, and can write its report"), "{judge}");
    assert!(!said(&world, "agent").contains("can write its report"));
}
