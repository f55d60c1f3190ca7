//! How much of the sandbox there is: required, preferred, or off; and what is said of what is missing.

use tollgate_core::run::Event;
use tollgate_core::run::sandbox_record::{Sandbox, SandboxRecord};

use crate::leash::{WORDS, configured, developer, holds, leashes};
use crate::play::{BUILT, IDLE, Play, Said, TASK, at, else_, script};

#[test]
fn a_sandbox_that_is_required_and_cannot_be_had_starts_nothing() {
    if !holds() {
        return;
    }
    let mut play = Play::new(TASK, &script(&[]));
    let marks = play.world.path("work").display().to_string();
    play.world.set("TOLLGATE_SANDBOX", "require").set("TOLLGATE_SANDBOX_WITHOUT", "files");
    play.world.agent("agent", &format!("#!/bin/sh\necho started > {marks}/started\n"));
    let words = ["--input", "complexity=standard", "--answer", "sign-off=approve"];
    let all = [&words[..], &["--worker", "developer=command:agent"]].concat();
    play.start(&all)
        .exits(3)
        .says("error[TG0540]")
        .says("no Landlock: switched off for a test")
        .says("tollgate doctor");
    assert!(!play.world.path("work/started").exists());
    assert_eq!(play.count(|event| matches!(event, Event::AttemptReported(_))), 0);
    play.holds();
    // The same run, where it can be had again.
    play.world.set("TOLLGATE_SANDBOX_WITHOUT", "");
    play.tollgate(&["resume", "RUN"]).exits(1);
    let held = &leashes(&play)[0];
    assert_eq!((held.sandbox, held.processes), (Sandbox::Require, true));
    play.holds();
}

#[test]
fn a_sandbox_that_is_preferred_takes_what_there_is_and_says_what_is_missing() {
    if !holds() {
        return;
    }
    let mut play = Play::new(TASK, &script(&[]));
    play.world.set("TOLLGATE_SANDBOX_WITHOUT", "processes,network");
    let out = play.world.path("out.txt");
    let log = developer(&mut play, &format!("echo x > {}", out.display()));
    assert!(log.contains("ermission denied") && !out.exists(), "{log}");
    let held = &leashes(&play)[0];
    assert!(!held.processes && held.landlock >= Some(3), "{held:?}");
    assert_eq!(held.missing, "no pid namespace: switched off for a test");
    play.holds();
}

/// Landlock knows nothing of modes, owners and times: without mounts it is not all of it.
#[test]
fn mounts_that_cannot_be_made_are_said() {
    if !holds() {
        return;
    }
    let mut play = Play::new(TASK, &script(&[]));
    play.world.set("TOLLGATE_SANDBOX_WITHOUT", "mounts");
    developer(&mut play, "true");
    let held = &leashes(&play)[0];
    assert!(held.processes && held.landlock >= Some(3), "{held:?}");
    assert_eq!(held.missing, "no private mounts: switched off for a test");
    let said = play.tollgate(&["doctor"]);
    assert!(said.out.contains("no private mounts"), "{}", said.out);
    play.world.set("TOLLGATE_SANDBOX", "require");
    play.start(&[&WORDS[..], &["--worker", "developer=command:agent"]].concat()).exits(3).says("no private mounts");
}

/// Whoever reads only the first lines, the last line or `show` learns that something was missing, and what that allows.
#[test]
fn a_run_without_all_of_the_sandbox_says_so_at_its_start_at_its_end_and_when_shown() {
    if !holds() {
        return;
    }
    let task = TASK.replace("greet.sh greets", "greet.sh greets `cmd: true`");
    let incomplete = "sandbox: incomplete (no Landlock: switched off for a test), so workers and commands can read and change every file that you can";
    let off = "sandbox: off, so workers and commands can do everything that you can";
    for (variable, value, said) in [
        ("TOLLGATE_SANDBOX_WITHOUT", "files", Some(incomplete)),
        ("TOLLGATE_SANDBOX", "off", Some(off)),
        ("TOLLGATE_SANDBOX", "prefer", None),
    ] {
        let mut play = Play::new(&task, &script(&[]));
        play.world.set(variable, value);
        let told = play.start(&WORDS).exits(0).err;
        let shown = play.tollgate(&["show", "RUN"]).exits(0).out.split_whitespace().collect::<Vec<_>>().join(" ");
        let detail = play.tollgate(&["show", "RUN", "--json"]).exits(0).out;
        let Some(said) = said else {
            assert!(!told.contains("sandbox:") && !shown.contains("sandbox:"), "{told}{shown}");
            continue;
        };
        let first: Vec<&str> = told.lines().take(3).collect();
        assert!(first.iter().any(|line| line.contains(said)), "{told}");
        let last = told.lines().find(|line| line.contains(" succeeded")).unwrap();
        assert!(last.contains(said), "{last}");
        assert!(shown.contains(said), "{shown}");
        let detail: serde_json::Value = serde_json::from_str(&detail).unwrap();
        assert!(detail["sandbox"].as_str().unwrap().starts_with(said), "{detail}");
        play.holds();
    }
}

/// The same of a run that is halted: by its own worker alone, which the configuration lets run without a sandbox.
#[test]
fn a_halted_run_names_the_worker_that_ran_without_a_sandbox() {
    if !holds() {
        return;
    }
    let config = "[worker.mine]\nadapter = \"command\"\ncommand = [\"sh\", \"-c\", \"exit 5\"]\nsandbox = \"off\"\n";
    let mut play = configured(TASK, &script(&[]), config);
    let told = play.start(&[&WORDS[..], &["--worker", "developer=mine"]].concat()).exits(1).err;
    let said = "sandbox: off for developer, which can do everything that you can";
    assert!(told.lines().take(3).any(|line| line.contains(said)), "{told}");
    let last = told.lines().find(|line| line.contains(" is halted")).unwrap();
    assert!(last.contains("sandbox: off"), "{last}");
}

/// Starts a program where a filter of system calls knows neither namespaces nor Landlock, as many containers do.
const CONTAINER: &str = r#"
import ctypes, os, platform, struct, sys
unshare, mount = (272, 165) if platform.machine() == "x86_64" else (97, 40)
errors = {444: 38, 445: 38, 446: 38, unshare: 1, mount: 1}
code = [(0x20, 0, 0, 0)]
for number, error in errors.items():
    code += [(0x15, 0, 1, number), (0x06, 0, 0, 0x50000 | error)]
code.append((0x06, 0, 0, 0x7fff0000))
filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(filters)))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0, os.strerror(ctypes.get_errno())
os.execv(sys.argv[1], sys.argv[1:])
"#;

/// A command line in such a container.
fn contained(play: &Play, words: &[&str]) -> Said {
    let inner = play.world.program(words);
    let mut outer = std::process::Command::new("python3");
    outer.args(["-c", CONTAINER]).arg(inner.get_program()).args(inner.get_args());
    outer.env_clear().envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Said::of(outer.current_dir(inner.get_current_dir().unwrap()).output().unwrap())
}

#[test]
fn a_container_with_neither_namespaces_nor_landlock_runs_what_prefers_and_says_what_is_off() {
    let task = TASK.replace("greet.sh greets", "greet.sh greets `cmd: true`");
    let mut play = Play::new(&task, &script(&[("developer", &[at(1, BUILT), else_(IDLE)])]));
    let start = ["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml"];
    let said = contained(&play, &[&start[..], &WORDS].concat()).exits(0);
    play.named_by(&said);
    play.holds();
    let (leashes, off) = (leashes(&play), SandboxRecord { sandbox: Sandbox::Prefer, ..SandboxRecord::default() });
    assert!(leashes.len() > 2, "{leashes:?}");
    for leash in &leashes {
        for part in ["no pid namespace: Operation not permitted", "no Landlock: this kernel was built without Landlock"]
        {
            assert!(leash.missing.contains(part), "{leash:?}");
        }
        // Of a command it is recorded that it sees the variable by which it is found.
        assert_eq!(SandboxRecord { missing: String::new(), shows_attempt: false, ..leash.clone() }, off);
    }
    let commands = leashes.iter().filter(|leash| leash.shows_attempt);
    assert!(
        commands.clone().count() > 0 && commands.clone().all(|leash| leash.missing.contains("no network namespace"))
    );
    let said = contained(&play, &["doctor"]).exits(0);
    assert!(said.out.contains("no Landlock") && said.out.contains("no pid namespace"), "{}", said.out);
    play.world.set("TOLLGATE_SANDBOX", "require");
    let said = contained(&play, &[&start[..], &WORDS].concat()).exits(3);
    assert!(said.err.contains("TG0540"), "{}", said.err);
}

#[test]
fn a_sandbox_that_is_off_is_off() {
    let mut play = Play::new(TASK, &script(&[]));
    play.world.set("TOLLGATE_SANDBOX", "off");
    let out = play.world.path("out.txt");
    developer(&mut play, &format!("echo x > {}", out.display()));
    assert!(out.exists());
    assert_eq!(leashes(&play)[0], SandboxRecord { sandbox: Sandbox::Off, ..SandboxRecord::default() });
    play.holds();
}

#[test]
fn doctor_says_what_holds() {
    if !holds() {
        return;
    }
    let mut play = Play::new(TASK, &script(&[]));
    let said = play.tollgate(&["doctor"]).exits(0);
    assert!(said.out.contains("pid namespace; Landlock version"), "{}", said.out);
    play.world.set("TOLLGATE_SANDBOX", "require").set("TOLLGATE_SANDBOX_WITHOUT", "processes");
    let said = play.tollgate(&["doctor"]).exits(3);
    assert!(said.out.contains("no pid namespace: switched off for a test"), "{}", said.out);
    assert!(said.out.contains("tollgate explain TG0540"), "{}", said.out);
}
