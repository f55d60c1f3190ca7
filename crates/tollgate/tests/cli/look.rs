//! `ls`, `show`, `inbox` and `logs`, over runs that the binary itself made.

use std::path::Path;

use tollgate_api::RunDetail;

use crate::world::World;

const TASK: &str = include_str!("../../src/demo/standard/task.md");
const SCRIPT: &str = include_str!("../../src/demo/standard/script.yaml");

/// The story of the demonstration without its pauses: a question, a row claimed and not done, a review and its repair.
pub fn world_with_question() -> (World, String) {
    let mut world = World::with_repository();
    std::fs::write(world.path("task.md"), TASK).unwrap();
    let quick: String =
        SCRIPT.lines().filter(|line| !line.trim().starts_with("delay_ms")).map(|l| format!("{l}\n")).collect();
    let quick =
        quick.replace("- delay_ms: 200\n      report", "- report").replace("- delay_ms: 900\n      write", "- write");
    std::fs::write(world.path("script.yaml"), quick).unwrap();
    world.set("USER", "ada");
    start(&world, "script.yaml", 4);
    let run = newest(&world);
    (world, run)
}

fn start(world: &World, script: &str, exit: i32) {
    let line = format!(
        "run build-plan --task ../task.md --input complexity=standard --script ../{script} --answer sign-off=approve --no-wait"
    );
    let output = world.run(&line, "");
    assert_eq!(output.status.code(), Some(exit), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A run in which one program does every role.
fn run_with_worker(program: &str) -> String {
    let roles = ["devops", "developer", "dev-tester", "dod-checker", "reviewer", "tester"];
    let workers: Vec<String> = roles.iter().map(|role| format!("--worker {role}=command:{program}")).collect();
    let run = "run build-plan --task ../task.md --input complexity=standard --answer sign-off=approve --no-wait";
    format!("{run} {}", workers.join(" "))
}

/// The run that changed last.
fn newest(world: &World) -> String {
    world.json("ls --json").0[0]["run"].as_str().unwrap().to_owned()
}

/// The same, once the question is answered: it succeeds.
pub fn world_with_success() -> (World, String) {
    let (world, run) = world_with_question();
    let output = world.run(&format!("decide {run} dec_2 --text Hello --no-wait"), "");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    (world, run)
}

/// So far to the right begins what goes on from the line above.
const FAR: &str = "         ";

/// Times differ from run to run, and with them the width of what stands beside them.
/// Where a line is broken depends on them too: what goes on far to the right is put behind its beginning.
pub fn timeless(text: &str) -> String {
    let mut whole: Vec<String> = Vec::new();
    for line in text.lines() {
        match whole.last_mut().filter(|_| line.starts_with(FAR)) {
            Some(last) => last.extend([" ", line.trim_start()]),
            None => whole.push(line.to_owned()),
        }
    }
    let text = whole.join("\n").replace("look at: work tree\n    ", "look at: work tree ");
    let is_time = |word: &str| word.trim_start_matches(['+', '(']).parse::<f64>().is_ok();
    let is_unit = |word: &str| matches!(word.trim_end_matches([',', ')']), "s" | "min" | "h" | "days");
    let line = |line: &str| {
        // A column of times is as wide as the longest of them.
        let times = line.trim_start().starts_with('+');
        let indent = if times { "    " } else { &line[..line.len() - line.trim_start().len()] };
        // How long something took is told from a second on.
        let line = line.split(" (").enumerate().fold(String::new(), |told, (nth, part)| match part.split_once(')') {
            Some((took, rest)) if took.contains('\u{a0}') => told + rest,
            _ if nth > 0 => told + " (" + part,
            _ => told + part,
        });
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut out: Vec<String> = Vec::new();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            if is_time(word) && words.get(at + 1).is_some_and(|unit| is_unit(unit)) {
                let comma = if words[at + 1].ends_with(',') { "," } else { "" };
                out.push(format!("[T]{comma}"));
                at += 1;
            } else {
                out.push((*word).to_owned());
            }
            at += 1;
        }
        format!("{indent}{}\n", out.join(" ").replace("[T] [T]", "[T]").replace("just now", "[T] ago"))
    };
    text.lines().map(line).collect()
}

#[test]
fn a_question_is_shown_in_the_list_the_inbox_and_the_run() {
    let (mut world, run) = world_with_question();
    world.set("COLUMNS", "1000").type_in("ls").type_in("inbox").type_in(&format!("show {run}"));
    world.type_in(&format!("logs {run}")).type_in("ls --status halted").type_in("ls --here --status waiting -n 0");
    insta::assert_snapshot!(timeless(&world.transcript));
    let (items, exit) = world.json("inbox --json");
    let item: tollgate_api::InboxItem = serde_json::from_value(items[0].clone()).unwrap();
    assert_eq!((exit, item.run == run, item.next.len()), (0, true, 1));
    assert_eq!(item.decision.unwrap().question, "Which greeting is wanted: \"Hello\" or \"Good day\"?");
    fits_every_terminal(&mut world, &run);
    // A run that should be working and that nobody drives is interrupted.
    let answered = world.run(&format!("decide {run} dec_2 --text Hello --no-resume"), "");
    assert!(answered.status.success());
    let (runs, _) = world.json("ls --json");
    assert_eq!(runs[0]["status"], "interrupted");
    assert_eq!(runs[0]["next"][0], format!("tollgate resume {run}"));
    assert_eq!(world.json("ls --json --status interrupted").0.len(), 1);
    assert_eq!(world.json("ls --json --status working").0.len(), 0);
    assert!(Path::new(runs[0]["repository"].as_str().unwrap()).is_dir());
}

#[test]
fn a_run_that_succeeded_tells_how() {
    let (mut world, run) = world_with_question();
    answered_before_a_follower(&world, &run);
    world.set("COLUMNS", "1000").type_in(&format!("show {run}")).type_in("inbox").type_in("ls");
    insta::assert_snapshot!("succeeded", timeless(&world.transcript));
    let (details, _) = world.json(&format!("show {run} --json"));
    let detail: RunDetail = serde_json::from_value(details[0].clone()).unwrap();
    assert_eq!(detail.summary.status, tollgate_api::RunStatus::Succeeded);
    assert!(detail.criteria.iter().all(|row| row.status == "passed" && row.evidence.iter().all(|e| e.fresh)));
    assert!(
        detail.gates.iter().filter(|gate| gate.mandatory).all(|gate| gate.status == tollgate_api::GateStatus::Holds)
    );
    assert!(detail.reads.is_empty());
    let outcomes: Vec<(String, String)> = detail
        .attempts
        .iter()
        .filter_map(|attempt| Some((attempt.outcome.clone()?, attempt.routed_to.clone()?)))
        .collect();
    assert!(
        outcomes.contains(&("reject".into(), "build".into())) && outcomes.contains(&("landed".into(), "done".into()))
    );
    assert!(detail.attempts.iter().filter(|attempt| attempt.role.is_some()).all(|attempt| attempt.outcome.is_some()));
    let paths: Vec<&str> = detail.changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(paths, ["USAGE.md", "greet.sh", "tests/greet.test.sh"]);
    reads_are_the_sections_whose_content_counted(&world, &run);
    what_shows_each_row_is_a_table_and_its_bytes_can_be_read(&mut world, &run, &detail);
    the_change_is_a_patch_in_whole_and_in_parts(&mut world, &run);
}

/// A follower that starts while the run waits sees what comes after, to the end.
fn answered_before_a_follower(world: &World, run: &str) {
    std::thread::scope(|scope| {
        let follower = scope.spawn(|| world.json(&format!("logs {run} -f --json")));
        let output = world.run(&format!("decide {run} dec_2 --text Hello --no-wait"), "");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let (events, exit) = follower.join().unwrap();
        assert_eq!(exit, 0);
        let seqs: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
        assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>(), "every event once, in order");
        assert!(events.iter().any(|event| event["type"] == "run.closed"));
    });
}

fn reads_are_the_sections_whose_content_counted(world: &World, run: &str) {
    let (details, _) = world.json(&format!("show {run} --reads --json"));
    let detail: RunDetail = serde_json::from_value(details[0].clone()).unwrap();
    let mut told = String::new();
    for reads in &detail.reads {
        told += &format!("{} at {}: {}\n", reads.attempt, reads.stage, reads.outcome);
        for read in &reads.read {
            told += &format!("  {} ({} B): {}\n", read.section, read.bytes, read.reason);
        }
        told += &format!("  only checked: {}\n", reads.checked_only.join(", "));
        let both = reads.read.iter().filter(|read| reads.checked_only.contains(&read.section)).count();
        assert_eq!(both, 0, "a section is read or only checked: {reads:?}");
    }
    insta::assert_snapshot!("reads", told);
    let text = world.run(&format!("show {run} --reads"), "");
    assert!(String::from_utf8_lossy(&text.stdout).contains("checked, not routed on: "));
}

fn what_shows_each_row_is_a_table_and_its_bytes_can_be_read(world: &mut World, run: &str, detail: &RunDetail) {
    world.transcript.clear();
    world.type_in(&format!("show {run} --evidence"));
    insta::assert_snapshot!("evidence", timeless(&world.transcript));
    let judged = detail.criteria.iter().flat_map(|row| &row.evidence).rfind(|e| e.object.is_some()).unwrap();
    assert_eq!((&judged.covers[..], judged.tree.len()), (&["tree".to_owned()][..], 40));
    let object = judged.object.clone().unwrap();
    let read = world.run(&format!("evidence {}", &object[..8]), "");
    assert!(read.stdout.starts_with(b"## Status\n"), "{}", String::from_utf8_lossy(&read.stdout));
    let (stored, _) = world.json(&format!("evidence {object} --json"));
    assert_eq!(
        (stored[0]["exact"].as_bool(), stored[0]["bytes"].as_u64()),
        (Some(true), Some(read.stdout.len() as u64))
    );
    world.transcript.clear();
    world.type_in("evidence 000000").type_in("evidence 12").type_in(&format!("evidence {}", "0".repeat(64)));
    insta::assert_snapshot!("no_such_object", world.transcript);
}

fn the_change_is_a_patch_in_whole_and_in_parts(world: &mut World, run: &str) {
    let patch = world.run(&format!("diff {run}"), "");
    world.write("change.patch", &patch.stdout);
    world.git(&["apply", "--index", "change.patch"]);
    world.git(&["rm", "-q", "--cached", "--ignore-unmatch", "change.patch"]);
    let branch = world.git(&["rev-parse", &format!("tollgate/{run}^{{tree}}")]);
    assert_eq!(world.git(&["write-tree"]), branch, "the patch makes the tree of the run");
    world.transcript.clear();
    for by in ["scope", "unit", "since-verdict"] {
        world.type_in(&format!("diff {run} --by {by}"));
    }
    insta::assert_snapshot!("diff", world.transcript);
    let (parts, _) = world.json(&format!("diff {run} --by since-verdict --json"));
    // Only the tester wrote after the review; what it judged itself is what stands.
    let unseen =
        |title: &str| parts.iter().find(|p| p["title"].as_str().unwrap().contains(title)).unwrap()["patch"].clone();
    assert!(unseen("reviewer judged").as_str().unwrap().contains("tests/greet.test.sh"));
    assert_eq!(unseen("tester judged").as_str(), Some(""));
}

/// Whatever the width, no line is wider; only commands to copy and the head are never cut.
fn fits_every_terminal(world: &mut World, run: &str) {
    for columns in [60usize, 80, 140] {
        world.set("COLUMNS", &columns.to_string());
        for command in [format!("show {run} --reads"), "inbox".to_owned(), "ls".to_owned()] {
            let output = world.run(&command, "");
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(!text.contains('\x1b'), "{command}: colour in a pipe");
            for line in text.lines() {
                let copied =
                    line.contains("tollgate decide") || line.contains("git -C") || line.starts_with("  journal");
                assert!(copied || line.chars().count() <= columns, "{command} at {columns}: {line}");
            }
        }
    }
}

#[test]
fn a_halted_run_says_why_and_what_to_type() {
    let mut world = World::with_repository();
    std::fs::write(world.path("task.md"), TASK).unwrap();
    let script = "script: 1\nroles:\n  developer: [{text: \"I think it is done.\\n\"}]\n  dod-checker: [{text: x}]\n  reviewer: [{text: x}]\n  tester: [{text: x}]\n";
    std::fs::write(world.path("bad.yaml"), script).unwrap();
    world.set("USER", "ada").set("COLUMNS", "1000");
    start(&world, "bad.yaml", 1);
    let run = newest(&world);
    world.type_in("ls").type_in("inbox").type_in(&format!("show {run}"));
    insta::assert_snapshot!(timeless(&world.transcript));
}

#[test]
fn a_worker_log_is_printed_and_cannot_harm_the_terminal() {
    let mut world = World::with_repository();
    std::fs::write(world.path("task.md"), TASK).unwrap();
    let noisy = "#!/bin/sh\nprintf 'first\\n\\033[2J\\033]0;owned\\007\\n'\nprintf 'no end'\n";
    std::fs::write(world.path("bin/noisy"), noisy).unwrap();
    std::fs::set_permissions(world.path("bin/noisy"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(world.run(&run_with_worker("noisy"), "").status.code(), Some(1));
    let run = newest(&world);
    world.type_in(&format!("logs {run} att_1")).type_in(&format!("logs {run} 1 -f --json"));
    world.type_in(&format!("logs {run} att_9")).type_in(&format!("logs {run} nonsense")).type_in("logs nonsense");
    insta::assert_snapshot!(world.transcript);
}

const STUCK: &str = r#"script: 1
roles:
  developer:
    - iteration: 1
      write: {greet.sh: "printf 'Hello, %s!\\n' \"$1\"\n"}
      report: &done
        status: complete
        abstract: {outcome: wrote the command, next_phase: dod-checker}
        files_created: [greet.sh]
    - report:
        status: complete
        abstract: {outcome: nothing more to do, next_phase: dod-checker}
  dod-checker:
    - report:
        status: complete
        abstract: {outcome: one row is not there, verdict: BLOCKED, next_phase: developer}
        verdict: BLOCKED
        verified_rows: [DoD-1, DoD-2]
        gaps: ["DoD-3: there is no USAGE.md"]
  reviewer:
    - report:
        status: complete
        abstract: {outcome: nothing to mend, verdict: APPROVED, next_phase: tester}
  tester:
    - write: {tests/greet.test.sh: "true\n"}
      report:
        status: complete
        abstract: {outcome: it is tested, next_phase: n/a}
        files_created: [tests/greet.test.sh]
        dod_coverage: [{mark: "✓", row: DoD-4}]
"#;

/// The options of an exhausted limit say what they waive and where to mend it; the answer is told with its waivers.
#[test]
fn an_exhausted_limit_shows_the_work_tree_and_what_accepting_waives() {
    let mut world = World::with_repository();
    std::fs::write(world.path("task.md"), TASK).unwrap();
    std::fs::write(world.path("stuck.yaml"), STUCK.replace("&done", "")).unwrap();
    world.set("USER", "ada").set("COLUMNS", "1000");
    start(&world, "stuck.yaml", 4);
    let run = newest(&world);
    world.type_in("inbox");
    let output = world.run(&format!("decide {run} dec_2 accept --no-wait"), "");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    world.type_in(&format!("show {run}"));
    insta::assert_snapshot!(timeless(&world.transcript));
}

/// What a worker writes is seen while it works, and the follower ends when the attempt does.
#[test]
fn a_follower_sees_a_log_grow() {
    let world = world_with_slow_worker();
    let mut driver = world.spawn(&run_with_worker("slow"));
    wait_for_first_line(&world, &mut driver);
    std::thread::scope(|scope| {
        let follower = scope.spawn(|| first_log(&world, "-f"));
        std::fs::write(world.path("bin/go"), "").unwrap();
        assert_eq!(follower.join().unwrap().unwrap(), "one\ntwo\n");
    });
    assert_eq!(driver.wait().unwrap().code(), Some(1));
}

/// A worker that writes a line, waits until it may go on, and writes another.
fn world_with_slow_worker() -> World {
    let mut world = World::with_repository();
    world.set("USER", "ada").set("COLUMNS", "1000");
    std::fs::write(world.path("task.md"), TASK).unwrap();
    // A worker sees the folders of its search path, and nothing else of its world.
    let go = world.path("bin/go");
    let slow = format!("#!/bin/sh\necho one\nwhile ! test -e {}; do sleep 0.05; done\necho two\n", go.display());
    std::fs::write(world.path("bin/slow"), slow).unwrap();
    std::fs::set_permissions(world.path("bin/slow"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world
}

/// What the first worker has written.
fn first_log(world: &World, follow: &str) -> Option<String> {
    let run = world.json("ls --json").0.first()?["run"].as_str()?.to_owned();
    let output = world.run(&format!("logs {run} 1 {follow}"), "");
    Some(String::from_utf8(output.stdout).unwrap())
}

fn wait_for_first_line(world: &World, driver: &mut std::process::Child) {
    while first_log(world, "").is_none_or(|text| text != "one\n") {
        assert!(driver.try_wait().unwrap().is_none(), "the run ended before its worker wrote");
    }
}

/// A driver that is killed leaves a run that says so, and how to go on.
#[test]
fn a_killed_driver_leaves_a_run_that_says_so() {
    let mut world = world_with_slow_worker();
    let mut driver = world.spawn(&run_with_worker("slow"));
    wait_for_first_line(&world, &mut driver);
    assert_eq!(world.json("ls --json").0[0]["status"], "working");
    driver.kill().unwrap();
    driver.wait().unwrap();
    let run = newest(&world);
    world.type_in("ls").type_in(&format!("show {run}")).type_in("inbox");
    std::fs::write(world.path("bin/go"), "").unwrap();
    assert_eq!(world.run(&format!("resume {run} --no-wait"), "").status.code(), Some(1));
    world.type_in(&format!("show {run}"));
    insta::assert_snapshot!(timeless(&world.transcript));
}

#[test]
fn each_command_says_what_it_does() {
    let mut world = World::new();
    for command in ["ls", "show", "inbox", "decisions", "logs", "diff", "evidence", "verify", "export"] {
        world.type_in(&format!("{command} --help"));
    }
    insta::assert_snapshot!(world.transcript);
}
