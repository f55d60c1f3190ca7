//! What a configuration names under `.tollgate/` acts as it was trusted, and from nowhere else.

use crate::play::{BUILT, Play, Said, TASK, at, else_, script};
use crate::world::TOLLGATE;

const WORDS: [&str; 4] = ["--input", "complexity=standard", "--answer", "sign-off=approve"];

/// A repository whose trusted folder has a configuration, an agent and a script; the agent acts out the script beside it.
fn play(config: &str, roles: &[(&str, &[String])]) -> Play {
    let play = Play::new(TASK, &script(&[]));
    let world = &play.world;
    let agent = format!("#!/bin/sh\nexec {TOLLGATE} worker-script --script \"${{0%/*}}/agents.yaml\"\n");
    world.write(".tollgate/config.toml", config);
    world.write(".tollgate/agent.sh", agent);
    world.write(".tollgate/agents.yaml", script(roles));
    executable(&play);
    world.commit("Agents");
    assert!(world.run("trust", "").status.success());
    play
}

fn executable(play: &Play) {
    let path = play.world.path("work/.tollgate/agent.sh");
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

/// Puts something else in the place of what was trusted.
fn replace(play: &Play) {
    let evil = format!("#!/bin/sh\ntouch {}\n", play.world.path("evil").display());
    play.world.write(".tollgate/agent.sh", evil);
    executable(play);
    let other = BUILT.replace("echo Hello", "echo evil");
    play.world.write(".tollgate/agents.yaml", script(&[("developer", &[else_(&other)])]));
}

#[track_caller]
fn acted_as_trusted(play: &Play) {
    assert!(!play.world.path("evil").exists(), "what nobody trusted was started");
    assert_eq!(play.file("greet.sh").as_deref(), Some("echo Hello\n"));
}

fn start(play: &mut Play, folder: &str, words: &[&str]) -> Said {
    let all = [&["run", "build-plan", "--give", "task=/dev/stdin"], words].concat();
    let mut command = play.world.program(&all);
    let task = std::fs::File::open(play.world.path("task.md")).unwrap();
    let output = command.current_dir(play.world.path("work").join(folder)).stdin(task).output().unwrap();
    let said = Said::of(output);
    play.named_by(&said);
    said
}

const ROLES: &str = "[roles]\ndeveloper = \"p\"\ndod-checker = \"s\"\nreviewer = \"p\"\ntester = \"s\"\ndevops = \"p\"\ndev-tester = \"p\"\n";
const SCRIPTED: &str = "[worker.s]\nadapter = \"script\"\ncommand = [\".tollgate/agents.yaml\"]\n";

#[test]
fn programs_and_scripts_come_from_the_trusted_commit() {
    let config = format!("[worker.p]\nadapter = \"command\"\ncommand = [\".tollgate/agent.sh\"]\n{SCRIPTED}{ROLES}");
    let mut play = play(&config, &[]);
    replace(&play);
    start(&mut play, "src", &[&WORDS[..], &["--include-dirty"]].concat()).exits(0);
    acted_as_trusted(&play);
}

#[test]
fn what_is_changed_while_the_run_waits_does_not_act() {
    let config = format!("[worker.p]\nadapter = \"command\"\ncommand = [\"./.tollgate/agent.sh\"]\n{SCRIPTED}{ROLES}");
    let mut play = play(&config, &[]);
    start(&mut play, "", &WORDS[..2]).exits(4);
    replace(&play);
    play.decide(&["dec_1", "approve"]).exits(0);
    acted_as_trusted(&play);
    assert!(
        !play.world.path(&format!("state/runs/{}/copies", play.run)).read_dir().is_ok_and(|mut d| d.next().is_some())
    );
}

#[test]
fn an_argument_is_not_read_from_a_work_tree_that_a_worker_wrote() {
    let config =
        format!("[worker.p]\nadapter = \"command\"\ncommand = [\"sh\", \".tollgate/agent.sh\"]\n{SCRIPTED}{ROLES}");
    let evil = BUILT
        .replace("write: {", "write: {.tollgate/agent.sh: \"exit 9\\n\", ")
        .replace("files_created: [greet.sh]", "files_created: [greet.sh], files_modified: [.tollgate/agent.sh]");
    let idle = crate::play::IDLE;
    let mut play = play(&config, &[("developer", &[at(1, &evil), else_(idle)])]);
    start(&mut play, "", &WORDS).exits(0);
    acted_as_trusted(&play);
    assert_eq!(play.dispatched("reviewer"), 1, "it ran what was trusted, not what the developer wrote");
    play.holds_but_for_the_head();
}

#[test]
fn what_is_not_in_the_trusted_folder_is_refused() {
    let worker = |command: &str| format!("[worker.p]\nadapter = \"command\"\ncommand = [{command}]\n{SCRIPTED}{ROLES}");
    for (command, says) in [
        ("\"sh\", \"-c\", \"exec sh .tollgate/agent.sh\"", "in the midst of a word"),
        ("\".tollgate/other.sh\"", ".tollgate/other.sh is not in the last commit"),
        ("\"sh\", \"--rules=.tollgate/other.md\"", ".tollgate/other.md is not in the last commit"),
        ("\".tollgate/agents.yaml\"", "TG0510"),
    ] {
        let mut play = play(&worker(command), &[]);
        play.world.write(".tollgate/other.sh", "#!/bin/sh\n");
        let said = start(&mut play, "", &[&WORDS[..], &["--include-dirty"]].concat());
        assert_ne!(said.code, Some(0), "{}", said.err);
        said.says(says);
        assert_eq!(play.run, "");
    }
    let mut play = play(&worker("\"agent\""), &[]);
    play.world.write(".tollgate/more.sh", "#!/bin/sh\n");
    play.world.commit("More");
    let words =
        [&WORDS[..], &["--script", "../script.yaml", "--worker", "developer=command:.tollgate/agent.sh"]].concat();
    start(&mut play, "", &words).says(".tollgate/agent.sh is not trusted");
}

/// Whoever forgets `tollgate trust`, or changes the folder after it, hears what is therefore not in force.
#[test]
fn what_nobody_trusts_is_said_when_it_is_missed() {
    let areas = "[areas.build-plan]\ntests = [\"tests/**\", \"spec/**\"]\n";
    let mut play = play(&format!("{SCRIPTED}{}{areas}", ROLES.replace("\"p\"", "\"s\"")), &[]);
    // What acts is said at the start: nobody needs to work.
    let words = [&WORDS[..2], &["--no-wait"]].concat();
    start(&mut play, "", &words).exits(4).silent_on("trusted");
    play.world.write(".tollgate/note.md", "a word\n");
    play.world.commit("A word");
    start(&mut play, "", &words)
        .exits(1)
        .says("TG0510")
        .says("roles `developer`, `dod-checker`, `reviewer`, `tester` have no worker")
        .says(".tollgate/config.toml has changed since it was trusted, so it does not act")
        .says("gives them one and is not trusted")
        .says("tollgate trust");
    // What acts in its place does not hide that the rest of it is missing.
    let scripted = [&words[..], &["--script", "../script.yaml"]].concat();
    start(&mut play, "", &scripted).exits(4).says("Not in force: the areas tests").silent_on("workers of");
    assert!(play.world.run("trust --remove", "").status.success());
    start(&mut play, "", &scripted).exits(4).says(".tollgate/config.toml is not trusted");
    assert!(play.world.run("trust", "").status.success());
    start(&mut play, "", &scripted).exits(4).silent_on("Not in force");
}

#[test]
fn a_protocol_with_the_name_of_a_built_in_one_is_never_passed_over() {
    let mut play = play("", &[]);
    let own = play.world.run("protocol show build-plan --format yaml", "").stdout;
    play.world.write(".tollgate/protocols/build-plan.yaml", own);
    play.world.commit("Ours");
    assert!(play.world.run("trust", "").status.success());
    play.start(&WORDS).exits(1).says("TG0618").says("tollgate run ./.tollgate/protocols/build-plan.yaml");
    for command in ["protocol list", "doctor"] {
        let output = play.world.run(command, "");
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(said.contains("has the name of a built-in protocol"), "{command}: {said}");
    }
    let by_path =
        ["run", "./.tollgate/protocols/build-plan.yaml", "--task", "../task.md", "--script", "../script.yaml"];
    play.tollgate(&[&by_path[..], &WORDS[..2]].concat()).exits(4);
}
