//! Contracts where people keep their repositories: a hook, code scanning, patterns of files.

use crate::contract::VERDICT;
use crate::world::World;

#[test]
fn code_scanning_reads_what_is_wrong() {
    let world = World::new();
    world.write("a b.json", VERDICT.replace("rejected", "maybe"));
    world.write("verdict.json", VERDICT);
    let output =
        world.program(&["contract", "check", "--format", "sarif", "a b.json", "verdict.json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let log: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&log["version"], log["runs"].as_array().unwrap().len()), (&"2.1.0".into(), 1));
    let run = &log["runs"][0];
    assert_eq!((&run["tool"]["driver"]["name"], &run["columnKind"]), (&"tollgate".into(), &"unicodeCodePoints".into()));
    let [result] = &run["results"].as_array().unwrap()[..] else { panic!("{run}") };
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!((&result["ruleId"], &result["level"]), (&"TG0245".into(), &"error".into()));
    assert_eq!(place["artifactLocation"]["uri"], "a%20b.json");
    assert_eq!(place["region"], serde_json::json!({"startLine": 1, "startColumn": 54}));
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(
        rules.iter().any(|rule| rule["id"] == result["ruleId"] && rule["help"]["text"].as_str().unwrap().len() > 20)
    );
}

/// What docs/contracts/ci.md shows works as it stands there.
#[test]
fn a_hook_refuses_a_broken_hand_off() {
    let world = World::with_repository();
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(docs.join("docs/contracts/ci.md")).unwrap();
    let hook = page.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tollgate"), world.path("bin/tollgate")).unwrap();
    world.write(".git/hooks/pre-commit", hook);
    let hooks = world.path("work/.git/hooks/pre-commit");
    std::fs::set_permissions(&hooks, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let task = "tasks:\n  - {id: T-1, status: not-started, goal: x, acceptance_checks: [\"cmd: x\"]}\n";
    let commit_staged = || {
        let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
        world
            .git_output(&[&who[..], &["-c", "core.hooksPath=.git/hooks", "commit", "-qm", "x"]].concat())
            .status
            .success()
    };
    let stage = |path: &str, text: &str| {
        world.write(path, text);
        world.git(&["add", "-A"]);
    };
    let broken = task.replace("not-started", "done");
    for path in ["tasks.yaml", ".agents-work/tasks.yaml", ".agents-work/a session/tasks.yaml"] {
        stage(path, task);
        assert!(commit_staged(), "a sound file passes: {path}");
        stage(path, &broken);
        assert!(!commit_staged(), "a broken one does not: {path}");
        world.write(path, task);
        assert!(!commit_staged(), "what is staged counts, not the checkout: {path}");
        world.git(&["add", "-A"]);
        world.write(path, &broken);
        assert!(commit_staged() || world.git(&["diff", "--cached", "--name-only"]).is_empty(), "{path}");
        stage(path, task);
    }
    stage("build/status.json", "{\"build\": \"green\"}");
    stage("my-status.json", "{\"current_state\": 3}");
    assert!(commit_staged(), "files of other tools are left alone");
    stage(".agents-work/status.json", "{\"current_state\": 3}");
    assert!(!commit_staged(), "a broken status is not");
    world.git(&["rm", "-qf", ".agents-work/status.json"]);
    // Both entries are the same.
    let hooks = std::fs::read_to_string(docs.join(".pre-commit-hooks.yaml")).unwrap();
    for key in ["entry:", "files:", "language:"] {
        let line = hooks.lines().find(|line| line.trim_start().starts_with(key)).unwrap().trim();
        assert!(page.contains(line), "{line}");
    }
    let workflow = page.split("```yaml\n").nth(2).unwrap().split("```").next().unwrap();
    assert!(workflow.contains("vars.TOLLGATE_REPOSITORY || "), "nothing is left to fill in: {workflow}");
    let source =
        workflow.lines().find_map(|line| line.trim().strip_prefix("- run: cargo install --locked --path ")).unwrap();
    let (inside, folder) = source.split_once('/').unwrap();
    assert!(
        workflow.contains(&format!("path: {inside}\n")) && docs.join(folder).join("Cargo.toml").exists(),
        "{source}"
    );
    let run = workflow.lines().find_map(|line| line.trim().strip_prefix("- run: tollgate ")).unwrap();
    let words: Vec<&str> = run.split(" > ").next().unwrap().split(' ').map(|word| word.trim_matches('\'')).collect();
    let bare = World::with_repository();
    let output = bare.program(&words).output().unwrap();
    let log: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), log["runs"][0]["results"].as_array().unwrap().len()), (Some(0), 0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no file matches"));
    let strict: Vec<&str> = words.iter().copied().filter(|word| *word != "--if-any").collect();
    assert_eq!(bare.program(&strict).output().unwrap().status.code(), Some(3), "a typo is no clean check");
    world.write(".agents-work/tasks.yaml", &broken);
    world.write(".agents-work/approve-design-history.jsonl", "{}\n");
    world.write(".agents-work/spec.md", "# Spec\n\n## Goals\n\nA total.\n\n## Acceptance Criteria\n\nIt shows.\n\n");
    world.write(".agents-work/acceptance.json", "{\"acceptance_criteria\": []}");
    let output = world.program(&words).output().unwrap();
    let log: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let files = log["runs"][0]["results"].as_array().unwrap().iter();
    let files: std::collections::BTreeSet<&str> = files
        .map(|one| one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap())
        .map(|file| file.rsplit('/').next().unwrap())
        .collect();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(Vec::from_iter(files), ["acceptance.json", "approve-design-history.jsonl", "spec.md", "tasks.yaml"]);
}

#[test]
fn a_pattern_may_begin_anywhere() {
    let world = World::with_repository();
    world.write("../apart/d/one.json", "{}");
    world.write("../apart/d/two.txt", "{}");
    world.write("d/three.json", "{}");
    let above = world.path("apart/d").display().to_string();
    for (pattern, file) in [
        (format!("{above}/*.json"), format!("{above}/one.json")),
        ("../apart/**/*.json".into(), "../apart/d/one.json".into()),
        ("./d/*.json".into(), "d/three.json".into()),
        ("**/*.json".into(), "d/three.json".into()),
    ] {
        let output = world.run(&format!("--json contract check --contract team.status {pattern}"), "");
        let told: Vec<serde_json::Value> =
            output.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
        assert_eq!(told.len(), 1, "{pattern}: {}", String::from_utf8_lossy(&output.stdout));
        assert_eq!(told[0]["file"], file, "{pattern}");
    }
    let none = world.run("contract check ../nowhere/*.json", "");
    assert!(String::from_utf8_lossy(&none.stderr).contains("no file matches"));
}
