//! Files that are mended where there is one possible answer.

use crate::world::World;

const TASKS: &str = "# Tasks of today\ntasks:\n  - id: T-1\n    status: Not-Started # soon\n    goal: x\n    acceptance_checks: [\"cmd: x\"]\n";

#[test]
fn what_has_one_answer_is_mended_and_shown() {
    let mut world = World::new();
    world.write(
        "verdict.json",
        "Here it is:\n\n```json\n{\"kind\": \"wr.gate_verdict\", \"version\": \"1\", \"Verdict\": \"Rejected\",\n \"confidence\": \"high\", \"rationale\": \"No test shows the second criterion.\",}\n```\n",
    );
    world.write("tasks.yaml", TASKS);
    world.write("open.json", "{\"kind\": \"wr.gate_verdict\", \"version\": 1, \"verdict\": \"PERHAPS\", \"confidence\": \"HIGH\", \"rationale\": \"No.\"}\n");
    world.write("note.md", "# A note\n");
    world.write("task.md", "# T\n\n## Definition of Done\n\n## Notes\n\nNo rows.\n");
    world.type_in("contract fix --contract wr.gate_verdict --dry-run verdict.json");
    world.type_in("contract fix --contract wr.gate_verdict verdict.json");
    world.type_in("contract fix --contract wr.gate_verdict verdict.json");
    world.type_in("contract fix tasks.yaml").type_in("contract check tasks.yaml");
    world.type_in("contract fix open.json");
    world.type_in("contract fix --contract build-plan.task task.md");
    world.type_in("contract fix note.md").type_in("contract fix missing.json");
    insta::assert_snapshot!(world.transcript);
    let read = |file: &str| std::fs::read_to_string(world.path(&format!("work/{file}"))).unwrap();
    assert_eq!(read("tasks.yaml"), TASKS.replace("Not-Started", "not-started"), "everything else is as it was");
}

/// A sign that denies a word, and a second report that is no JSON, are not mended away.
#[test]
fn what_says_otherwise_stays() {
    let world = World::new();
    let approved = crate::handoff::verdict("approved");
    for text in [
        approved.replace("approved", "!approved"),
        approved.replace("approved", "Approved?"),
        format!("{approved}\n{{'kind': 'wr.gate_verdict', 'version': 1, 'verdict': 'rejected'}}\n"),
        format!("{approved}\nMy verdict is rejected.\n"),
        format!("This is not approved:\n{approved}"),
    ] {
        world.write("verdict.json", &text);
        let (lines, exit) = world.json("contract fix --json --write --contract wr.gate_verdict verdict.json");
        assert_eq!((exit, &lines[0]["valid"]), (1, &false.into()), "{text}");
        assert_eq!(std::fs::read_to_string(world.path("work/verdict.json")).unwrap(), text);
    }
}

#[test]
fn programs_get_the_diff_and_what_is_left() {
    let world = World::new();
    world.write("tasks.yaml", TASKS);
    let (lines, exit) = world.json("contract fix --json --dry-run tasks.yaml");
    let line = &lines[0];
    assert_eq!(
        (exit, &line["valid"], &line["written"], &line["contract"]),
        (0, &true.into(), &false.into(), &"team.tasks@1".into())
    );
    assert!(
        line["diff"].as_str().unwrap().contains("-    status: Not-Started # soon\n+    status: not-started # soon\n"),
        "{line}"
    );
    assert_eq!((&line["mended"][0]["line"], &line["mended"][0]["column"]), (&4.into(), &13.into()));
    assert_eq!(std::fs::read_to_string(world.path("work/tasks.yaml")).unwrap(), TASKS);
    let (lines, exit) = world.json("contract fix --json --write tasks.yaml");
    assert_eq!((exit, &lines[0]["written"]), (0, &true.into()));
}

/// What is piped is the diff itself, whatever stands in the file; only a terminal is spared what it would obey.
#[test]
fn a_piped_diff_can_be_applied() {
    let world = World::new();
    let tasks = TASKS.replace("# soon", "# s\u{1b}[1moon\u{202e}");
    world.write("tasks.yaml", &tasks);
    let shown = String::from_utf8(world.run("contract fix --dry-run tasks.yaml", "").stdout).unwrap();
    let (lines, _) = world.json("contract fix --json --dry-run tasks.yaml");
    assert!(shown.starts_with(lines[0]["diff"].as_str().unwrap()), "{shown:?}");
    assert!(shown.contains("+    status: not-started # s\u{1b}[1moon\u{202e}\n"), "{shown:?}");
}

/// A patch of a file that is named from the root can be applied there.
#[test]
fn the_root_is_no_part_of_a_name_in_a_patch() {
    let world = World::new();
    world.write("tasks.yaml", TASKS);
    let file = world.path("work/tasks.yaml");
    let (lines, _) = world.json(&format!("contract fix --json --dry-run {}", file.display()));
    let diff = lines[0]["diff"].as_str().unwrap().to_owned();
    assert!(diff.starts_with(&format!("--- a{0}\n+++ b{0}\n", file.display())), "{diff}");
}
