//! What a run needs before it starts; each refusal says what is missing, where, and what to type next.

use crate::play::{Play, TASK, script};
use crate::world::World;

fn world() -> World {
    let mut world = World::with_repository();
    world.set("USER", "ada");
    std::fs::write(world.path("task.md"), TASK).unwrap();
    std::fs::write(world.path("script.yaml"), script(&[])).unwrap();
    world
}

const RUN: &str = "run build-plan --task ../task.md --script ../script.yaml --input complexity=standard";

#[test]
fn what_is_missing_is_refused_before_anything_is_written() {
    let mut world = world();
    world
        .type_in("run build-plan --task ../task.md --input complexity=standard")
        .type_in("run build-plan --script ../script.yaml --input complexity=standard")
        .type_in("run build-plan --task ../nothing.md --script ../script.yaml --input complexity=standard")
        .type_in("run build-plan --task ../task.md --script ../script.yaml --input complexity=huge")
        .type_in(&format!("{RUN} --input speed=fast"))
        .type_in(&format!("{RUN} --input complexity=simple"))
        .type_in(&format!("{RUN} --give plan=../task.md"))
        .type_in(&format!("{RUN} --worker nobody=agent"))
        .type_in(&format!("{RUN} --worker developer=no-such-worker"))
        .type_in(&format!("{RUN} --worker developer=command:no-such-program"))
        .type_in("run no-such-protocol --task ../task.md")
        .type_in("resume nonsense")
        .type_in("resume run_00000000");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn a_bad_task_or_script_is_shown_with_its_line() {
    let mut world = world();
    std::fs::write(
        world.path("bad.md"),
        "# Greet\n\n## Definition of Done\n\n### Database\n- a table\n\n### Frontend\n- a page\n",
    )
    .unwrap();
    std::fs::write(world.path("none.md"), "# Greet\n\nNothing to do.\n").unwrap();
    std::fs::write(
        world.path("bad.yaml"),
        "script: 1\nroles:\n  developer:\n    - {wirte: {a: b}, misbehave: sleep}\n    - {iteration: 0}\n",
    )
    .unwrap();
    world
        .type_in(&RUN.replace("task.md", "bad.md"))
        .type_in(&RUN.replace("task.md", "none.md"))
        .type_in(&RUN.replace("script.yaml", "bad.yaml"));
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn who_has_no_run_yet_is_told_how_to_start_one() {
    let play = Play::new(TASK, &script(&[]));
    play.tollgate(&["ls"]).exits(0).says("there are no runs yet").says("tollgate run PROTOCOL").says("tollgate demo");
    play.tollgate(&["ls", "--status", "halted"]).exits(0).says("there are no such runs; `tollgate ls` lists all");
    play.tollgate(&["run"]).exits(2).says("`tollgate protocol list` lists the protocols");
}

#[test]
fn a_command_with_a_backtick_is_refused_for_that() {
    for row in ["- greet.sh greets ``cmd: test `sh greet.sh` = Hello``\n", "- greet.sh greets `cmd: echo `date``\n"] {
        let mut play = Play::new(&TASK.replace("- greet.sh greets\n", row), &script(&[]));
        let said = play.start(&["--input", "complexity=standard"]).exits(1);
        said.says("TG0233").says("cannot have a backtick").says("$(…)").silent_on("inside the row");
    }
}

/// Inputs that are missing are asked for: whatever is answered, its roles have a worker.
#[test]
fn every_role_that_an_answer_may_need_has_a_worker() {
    let play = Play::new(TASK, &script(&[]));
    let said = play.tollgate(&["run", "build-plan", "--task", "../task.md"]).exits(1);
    said.says("roles `dev-tester`, `developer`, `dod-checker`, `reviewer`, `tester` have no worker");
}

#[test]
fn a_pattern_that_can_hold_no_path_is_refused_where_it_stands() {
    let mut play = Play::new(TASK, &script(&[]));
    play.world.write(".tollgate/config.toml", "[areas.build-plan]\ntests = ['t/**', 'src/[ab']\n");
    play.world.commit("Configure");
    play.tollgate(&["trust"]).exits(0);
    play.start(&["--input", "complexity=standard"]).exits(1).says("config.toml:2:").says("the pattern `src/[ab`");
    for pattern in ["", "/src/**", "../x", "src/[ab", "src/{a,b", "!src/**"] {
        let text =
            include_str!("../../../../protocols/build-plan.yaml").replace("\"e2e/**\"", &format!("\"{pattern}\""));
        std::fs::write(play.world.path("p.yaml"), text).unwrap();
        play.tollgate(&["protocol", "check", "../p.yaml"]).exits(1);
    }
}

#[test]
fn a_scope_that_nobody_would_hold_is_refused() {
    let mut play = Play::new(&TASK.replace("### Backend\n", "### Backend\nScope: `src/**`\n"), &script(&[]));
    let said = play.start(&["--input", "complexity=simple"]).exits(1);
    said.says("TG0235").says("../task.md:6:1").says("the scope of `backend` would not be enforced");
    assert_eq!(play.run, "", "there is no run");
}

#[test]
fn a_script_that_does_not_fit_the_protocol_is_refused_before_the_run() {
    let mut world = world();
    let text = "script: 1
roles:
  developr: [{text: x}]
  developer:
    - unit: backand
      report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}}
    - report:
        status: complete
        abstract: {outcome: built, next_phase: dod-checker}
        files_created: [{path: a, notes: why}]
  reviewer:
    - report: {status: done, abstract: {outcome: fine, verdict: APPROVED, next_phase: tester}}
    - report: {status: complete, abstract: {outcome: fine, verdict: APPROVED}, fundings: []}
    - report: {status: complete}
    - text: no report at all, on purpose
";
    std::fs::write(world.path("bad.yaml"), text).unwrap();
    world.type_in(&RUN.replace("script.yaml", "bad.yaml")).type_in("ls --json");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn the_checkout_must_be_a_clean_repository_with_a_commit() {
    let mut dirty = world();
    dirty.write("src/main.rs", "fn main() { changed() }\n");
    dirty.write("new.txt", "new\n");
    dirty.type_in(RUN);
    let mut none = World::new();
    std::fs::write(none.path("task.md"), TASK).unwrap();
    std::fs::write(none.path("script.yaml"), script(&[])).unwrap();
    none.type_in(RUN);
    none.git(&["init", "-q", "-b", "main"]);
    none.type_in(RUN);
    insta::assert_snapshot!(format!("{}{}", dirty.transcript, none.transcript));
}

#[test]
fn a_number_of_units_at_once_that_starts_none_is_refused() {
    let play = Play::new(TASK, &script(&[]));
    let text = include_str!("../../../../protocols/build-plan.yaml")
        .replace("inputs:\n", "inputs:\n  width: {int: true, default: 2}\n")
        .replace("at_once: 2", "at_once: width");
    std::fs::write(play.world.path("own.yaml"), text).unwrap();
    for number in ["0", "-1"] {
        let width = format!("width={number}");
        let words = ["--task", "../task.md", "--script", "../script.yaml", "--input", "complexity=standard"];
        let words = [&["run", "../own.yaml", "--input", &width], &words[..]].concat();
        play.tollgate(&words)
            .exits(2)
            .says("input `width`: it says how many units may be worked on at once: 1 or more");
    }
}

#[test]
fn a_run_whose_folder_was_deleted_says_so_and_can_be_closed() {
    let mut play = Play::new(TASK, &script(&[]));
    play.start(&["--input", "complexity=standard", "--no-wait"]).exits(4);
    std::fs::remove_dir_all(play.world.path(&format!("state/runs/{}", play.run))).unwrap();
    let said = play.decide(&["dec_1", "approve"]).exits(3).says("TG0509").says("is gone");
    assert!(said.err.contains(&format!("tollgate cancel {}", play.run)), "{}", said.err);
    play.tollgate(&["cancel", "RUN"]).exits(0);
    assert!(play.tollgate(&["show", "RUN"]).exits(0).out.contains("cancelled"));
}

#[test]
fn a_protocol_file_with_breaches_is_shown_with_its_source() {
    let mut world = world();
    let text = include_str!("../../../../protocols/build-plan.yaml");
    let broken = text.replace("reject: {to: build, limit: 12, same: 3, then: gaps}}", "reject: {to: build}}");
    std::fs::write(world.path("own.yaml"), broken).unwrap();
    world.type_in("run ../own.yaml --task ../task.md --script ../script.yaml --input complexity=standard");
    insta::assert_snapshot!(world.transcript);
}

/// A protocol of one stage, with a budget.
const OWN: &str = "\
protocol: own
version: 1
areas: {code: [\"**\"]}
roles:
  maker: {contract: status-block, writes: [code], sees: full}
  judge: {contract: status-block, verdicts: [accept, reject], writes: none, sees: {only: [change]}}
gates:
  judged: {holds: {judged: judge}, bound_to: [code], mandatory: {run: true}}
otherwise: {needs_input: hold, exhausted: hold, failed: hold, malformed: hold, inconclusive: hold}
flows:
  main:
    - {id: make, dispatch: maker, on: {ok: look}}
    - {id: look, dispatch: judge, ensures: [judged], on: {accept: done, reject: hold}}
";

const OWN_SCRIPT: &str = r#"script: 1
roles:
  maker: [{write: {a.txt: "a\n"}, report: {status: complete, abstract: {outcome: made, next_phase: judge}, files_created: [a.txt]}}]
  judge: [{report: {status: complete, abstract: {outcome: fine, verdict: APPROVED, next_phase: n/a}}}]
"#;

#[test]
fn a_protocol_of_the_repository_runs_once_it_is_trusted() {
    let mut play = Play::new(TASK, OWN_SCRIPT);
    play.world.write(".tollgate/protocols/own.yaml", OWN);
    play.world.commit("A protocol of our own");
    let said = play.tollgate(&["run", "own", "--script", "../script.yaml"]).exits(1).says("tollgate trust");
    insta::assert_snapshot!(play.told(&said));
    play.tollgate(&["trust", "--yes"]);
    play.tollgate(&["trust"]).exits(0);
    let said = play.tollgate(&["run", "own", "--script", "../script.yaml"]).exits(0);
    play.named_by(&said);
    assert_eq!(play.file("a.txt").as_deref(), Some("a\n"));
    assert_eq!((play.dispatched("maker"), play.dispatched("judge")), (1, 1));
}

#[test]
fn a_protocol_of_the_repository_needs_trust_whatever_path_leads_to_it() {
    let mut play = Play::new(TASK, OWN_SCRIPT);
    play.world.write(".tollgate/protocols/own.yaml", OWN);
    play.world.write("deep/kept", "");
    std::os::unix::fs::symlink(".tollgate/protocols/own.yaml", play.world.path("work/link.yaml")).unwrap();
    std::os::unix::fs::symlink("../.tollgate", play.world.path("work/deep/folder")).unwrap();
    play.world.commit("A protocol of our own");
    let direct = play.world.path("work/.tollgate/protocols/own.yaml").display().to_string();
    let paths = [
        "./.tollgate/protocols/own.yaml",
        "deep/../.tollgate/protocols/../protocols/own.yaml",
        "./link.yaml",
        "deep/folder/protocols/own.yaml",
        &direct,
    ];
    for path in paths {
        let said = play.tollgate(&["run", path, "--script", "../script.yaml"]).exits(1);
        assert!(said.err.starts_with("error[TG0616]: .tollgate/protocols/own.yaml is not trusted"), "{}", said.err);
    }
    // To look at it needs no trust: nothing acts.
    play.tollgate(&["protocol", "check", "./.tollgate/protocols/own.yaml"]).exits(0);
    play.tollgate(&["trust"]).exits(0);
    // What acts is what was committed, not what lies there now; and what was never committed does not act.
    play.world.write(".tollgate/protocols/own.yaml", "not a protocol");
    play.world.write(".tollgate/protocols/new.yaml", OWN);
    let said =
        play.tollgate(&["run", "deep/folder/protocols/own.yaml", "--script", "../script.yaml", "--include-dirty"]);
    play.named_by(&said.exits(0));
    let said = play.tollgate(&["run", "./.tollgate/protocols/new.yaml", "--script", "../script.yaml"]).exits(1);
    insta::assert_snapshot!(play.told(&said));
    assert_eq!(play.file("a.txt").as_deref(), Some("a\n"));
}

#[test]
fn a_state_directory_in_the_checkout_is_refused_before_anything_is_written() {
    let mut play = Play::new(TASK, &script(&[]));
    let said = play.world.set("TOLLGATE_STATE", "./deep/state").run("ls", "");
    assert_eq!(said.status.code(), Some(3));
    play.world.type_in("ls").type_in("doctor");
    play.start(&["--input", "complexity=standard"]).exits(3).says("TG0613");
    assert_eq!(play.world.git(&["status", "--porcelain", "--ignored"]), "");
    insta::assert_snapshot!(play.world.transcript);
    // Where git does not look, it may lie.
    play.world.write(".gitignore", "state/\n");
    play.world.commit("Ignore the state");
    play.start(&["--input", "complexity=standard", "--answer", "sign-off=approve"]).exits(0);
    play.world.set("TOLLGATE_STATE", ".git/tollgate").type_in("ls");
}

#[test]
fn odd_paths_of_the_state_directory_work_or_are_refused_with_a_word() {
    use std::os::unix::ffi::OsStrExt;
    for odd in ["a space \"quoted\" #hash it's $HOME", "-d co:lon tab\t ünï *[a] esc\u{1b}[31m"] {
        let mut play = Play::new(TASK, &script(&[]));
        let state = play.world.path(odd).display().to_string();
        play.world.set("TOLLGATE_STATE", &state);
        let said = play.start(&["--input", "complexity=standard", "--answer", "sign-off=approve"]).exits(0);
        assert!(!said.err.contains('\u{1b}'), "{odd}");
        let shown = play.tollgate(&["show", "RUN"]).exits(0);
        assert!(!shown.out.contains('\u{1b}'), "{odd}");
    }
    let play = Play::new(TASK, &script(&[]));
    for (odd, why) in [(&b"new\nline"[..], "holds a line break"), (b"bad\xff", "TOLLGATE_STATE is not text")] {
        let mut command = play.world.program(&["ls"]);
        let output = command.env("TOLLGATE_STATE", std::ffi::OsStr::from_bytes(odd)).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(3) && said.contains("error[TG0613]") && said.contains(why), "{said}");
    }
}

#[test]
fn the_areas_of_a_protocol_can_lie_elsewhere_in_a_repository() {
    let tested = crate::play::TESTED.replace("tests/greet.test.sh", "spec/greet_spec.sh");
    let mut play = Play::new(TASK, &script(&[("tester", &[crate::play::else_(&tested)])]));
    let words = ["--input", "complexity=standard", "--answer", "sign-off=approve"];
    let said = play.start(&words).exits(1).says("it changed what it may not write: spec/greet_spec.sh");
    said.says("[areas.build-plan]").says("tollgate doctor build-plan");
    play.run.clear();
    play.world.write(".tollgate/config.toml", "[areas.build-plan]\ntests = [\"spec/**\"]\n");
    play.world.commit("Our tests lie in spec");
    play.tollgate(&["trust"]).exits(0);
    play.start(&words).exits(0);
    assert_eq!(play.file("spec/greet_spec.sh").as_deref(), Some("sh greet.sh\n"));
}

#[test]
fn only_roles_that_the_run_can_come_to_need_a_worker() {
    let mut play = Play::new(TASK, &script(&[]));
    let script = play.world.path("script.yaml").display().to_string();
    let config = format!("[worker.actor]\nadapter = \"script\"\ncommand = [\"{script}\"]\n");
    std::fs::create_dir_all(play.world.path("home/.config/tollgate")).unwrap();
    std::fs::write(play.world.path("home/.config/tollgate/config.toml"), config).unwrap();
    let mut words = vec!["run", "build-plan", "--task", "../task.md", "--input", "complexity=standard"];
    for role in ["developer=actor", "dod-checker=actor", "reviewer=actor", "tester=actor"] {
        words.extend(["--worker", role]);
    }
    let said = play.tollgate(&words).exits(4);
    play.named_by(&said);
    words[5] = "complexity=simple";
    play.tollgate(&words).exits(1).says("role `dev-tester` has no worker");
    play.holds();
}

#[test]
fn a_branch_that_is_in_the_way_is_named_before_the_run_and_after_it() {
    let mut play = Play::new(TASK, &script(&[]));
    play.world.git(&["branch", "tollgate"]);
    let words = ["--input", "complexity=standard"];
    play.start(&words).exits(3).says("TG0518").says("git branch -m tollgate NAME");
    assert_eq!((play.run.as_str(), play.world.git(&["for-each-ref", "refs/tollgate"]).as_str()), ("", ""));
    play.world.git(&["branch", "-D", "tollgate"]);
    play.start(&words).exits(4);
    play.world.git(&["branch", "tollgate"]);
    play.decide(&["dec_1", "approve"]).says("TG0518");
    let shown = play.tollgate(&["show", "RUN"]).exits(0).out;
    assert!(shown.contains("its branch is not made yet"), "{shown}");
    assert!(shown.contains(&format!("tollgate resume {}", play.run)) && !shown.contains("log -p"), "{shown}");
    play.world.git(&["branch", "-m", "tollgate", "other"]);
    play.tollgate(&["resume", "RUN"]).exits(0);
    assert_eq!(play.file("greet.sh").as_deref(), Some("echo Hello\n"));
    let shown = play.tollgate(&["show", "RUN"]).exits(0).out;
    assert!(shown.contains("log -p") && !shown.contains("not made yet"), "{shown}");
}

/// What is wrong is said where it is, and what to type next can be typed.
#[test]
fn a_refusal_names_the_thing_itself() {
    let mut world = World::with_repository();
    std::fs::write(world.path("latin.md"), b"# T\n\n## Definition of Done\n- a caf\xe9\n").unwrap();
    std::fs::write(world.path("task.md"), TASK).unwrap();
    std::fs::write(world.path("script.yaml"), script(&[])).unwrap();
    let run = "run build-plan --script ../script.yaml --no-wait";
    world.type_in(&format!("{run} --task ../latin.md --input complexity=standard"));
    world.type_in(&format!("{run} --input complexity=standard"));
    world.type_in(&format!("{run} --task ../task.md --input complexity=standard --answer sign-off=maybe"));
    world.type_in("demo nosuch");
    world.git(&["init", "-q", "--bare", "../work/bare.git"]);
    let bare =
        world.program(&["run", "build-plan", "--task", "x"]).current_dir(world.path("work/bare.git")).output().unwrap();
    let said = String::from_utf8_lossy(&bare.stderr).into_owned();
    assert!(said.contains("TG0503") && said.contains("git clone"), "{said}");
    insta::assert_snapshot!(world.transcript);
}

/// A script may be what a program wrote: JSON escapes a character beyond U+FFFF as two.
#[test]
fn a_script_may_be_json_with_every_escape_of_json() {
    let smiling = r#"{"iteration": 1, "write": {"greet.sh": "echo \ud83d\ude00\n"}, "report": {"status": "complete", "abstract": {"outcome": "built", "next_phase": "dod-checker"}, "files_created": ["greet.sh"]}}"#;
    let roles = [crate::play::COVERED, crate::play::APPROVED, crate::play::TESTED];
    let names = ["dod-checker", "reviewer", "tester"];
    let rest: Vec<String> = names.iter().zip(roles).map(|(name, body)| format!("\"{name}\": [{{{body}}}]")).collect();
    let json = format!("{{\"script\": 1, \"roles\": {{\"developer\": [{smiling}], {}}}}}", rest.join(", "));
    let mut play = Play::new(TASK, &json);
    play.start(&["--input", "complexity=standard", "--answer", "sign-off=approve"]).exits(0);
    assert_eq!(play.file("greet.sh").as_deref(), Some("echo 😀\n"));
}

/// What somebody has to look at comes first, whatever its name.
#[test]
fn files_outside_the_scope_are_listed_first() {
    let built = r#"write: {a/in.sh: "true\n", z.sh: "true\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [a/in.sh, z.sh]}"#;
    let task = TASK.replace("### Backend\n", "### Backend\nScope: `a/**`\n\n");
    let mut play = Play::new(&task, &script(&[("developer", &[crate::play::else_(built)])]));
    play.start(&["--input", "complexity=standard", "--answer", "sign-off=approve"]).exits(4);
    let shown = play.tollgate(&["show", "RUN"]).exits(0).out;
    let changed = shown.split("Changed").nth(1).unwrap();
    let place = |path: &str| changed.find(path).unwrap();
    assert!(place("z.sh") < place("a/in.sh"), "{changed}");
}
