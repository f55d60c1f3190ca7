//! Workers that misbehave, each in its way: nothing is lost, nothing advances wrongly, no process is left.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tollgate_core::run::Event;

use crate::play::{BUILT, COVERED, Play, TASK, at, else_, script};
use crate::world::TOLLGATE;

fn misbehaves(how: &str, body: &str) -> String {
    at(1, &format!("misbehave: {how}, {body}"))
}

#[test]
fn a_crash_halts_the_run_and_what_a_person_left_in_its_work_tree_is_kept_and_shown() {
    let (play, said) = Play::standard(&[("developer", &[misbehaves("crash", BUILT), else_(BUILT)])]);
    said.exits(1).says("signal 9 ended its program");
    play.holds();
    let path = play.world.path(&format!("state/trees/{}/backend/greet.sh", play.run));
    std::fs::write(&path, "echo mended\n").unwrap();
    play.tollgate(&["retry", "RUN"]).exits(0);
    assert_eq!(play.file("greet.sh").as_deref(), Some("echo Hello\n"), "an attempt starts from the recorded tree");
    let log = play.log("developer", 2);
    let (start, folder) = (log.find(" kept as ").unwrap(), log.find(" in /").unwrap());
    let commit = log[start..].split_whitespace().nth(2).unwrap();
    let git = log[folder + 4..].lines().next().unwrap();
    assert_eq!(play.world.git(&["--git-dir", git, "show", &format!("{commit}:greet.sh")]), "echo mended\n");
    let shown = play.tollgate(&["show", "RUN"]).exits(0).out;
    let look = shown.lines().skip_while(|line| !line.starts_with("Put aside")).nth(1).unwrap();
    let (unit, look) = look.trim().split_once("  ").unwrap();
    let words: Vec<&str> = look.split(' ').collect();
    assert_eq!((unit, words[0]), ("backend", "git"));
    assert!(play.world.git(&words[1..]).contains("+echo mended"), "{look}");
    play.holds();
}

#[test]
fn a_worker_that_hangs_past_its_budget_is_ended_and_the_protocol_says_what_then() {
    let protocol = "\
protocol: hasty
version: 1
areas: {code: [\"**\"]}
roles:
  maker: {contract: status-block, writes: [code], sees: full, budget: {time: 1s}}
asks:
  late: {ask: {class: choice, question: \"It took too long.\", options: {retry: Try again, abort: Give up}}, on: {retry: back, abort: dropped, cancelled: hold}}
otherwise: {needs_input: hold, exhausted: late, failed: hold, malformed: hold}
flows:
  main:
    - {id: make, dispatch: maker, on: {ok: done}}
";
    let done = r#"write: {a: b}, report: {status: complete, abstract: {outcome: made, next_phase: n/a}, files_created: [a, half]}"#;
    let hangs = "{iteration: 1, misbehave: hang, write: {half: done}}";
    let mut play = Play::new(TASK, &format!("script: 1\nroles:\n  maker:\n    - {hangs}\n    - {{{done}}}\n"));
    std::fs::write(play.world.path("hasty.yaml"), protocol).unwrap();
    let said = play.tollgate(&["run", "../hasty.yaml", "--script", "../script.yaml"]).exits(4);
    play.named_by(&said);
    insta::assert_snapshot!(play.told(&said));
    play.holds();
    play.decide(&["dec_1", "retry"]).exits(0);
    assert_eq!(play.file("a").as_deref(), Some("b"));
    play.holds();
}

#[test]
fn a_report_that_lies_about_files_or_leaves_one_out_is_asked_for_again() {
    let outside = at(2, &format!("misbehave: outside, {BUILT}"));
    let names_all = at(3, &BUILT.replace("[greet.sh]", "[greet.sh, outside-every-scope/developer]"));
    let (play, said) = Play::standard(&[("developer", &[misbehaves("lie", BUILT), outside, names_all])]);
    let said = said.exits(0).silent_on("opened:");
    // The catch-all area holds what is outside of every other.
    said.says("names greet.sh as changed, but it did not")
        .says("outside-every-scope/developer changed, but the report does not name it");
    assert_eq!((play.dispatched("developer"), play.dispatched("dod-checker")), (3, 1));
    play.holds();
}

/// Who says it again and again is not believed by the one who judges: the person who waives it reads what it is.
#[test]
fn no_acceptance_settles_what_was_measured_of_a_claim() {
    let lies = BUILT.replace("[greet.sh]", "[greet.sh, ghost.sh]");
    let (play, said) = Play::standard(&[("developer", &[else_(&lies)])]);
    let said = said.exits(4).says("names ghost.sh as changed, but it did not");
    said.says("waives fnd_1").silent_on("refuted");
    assert!(play.dispatched("dod-checker") > 1, "its acceptance sends the work back");
    play.decide(&["dec_2", "accept"]).exits(0).says("a person waived fnd_1");
    play.holds();
}

#[test]
fn a_late_answer_and_an_echo_of_the_brief_count_as_none_and_of_two_reports_the_last_counts() {
    let late = at(1, &format!("misbehave: late, delay_ms: 60000, {BUILT}"));
    let twice = at(2, &format!("misbehave: twice, {BUILT}"));
    let echo = at(2, &format!("misbehave: echo, {COVERED}"));
    let (play, said) =
        Play::standard(&[("developer", &[late, twice]), ("dod-checker", &[at(1, "misbehave: echo"), echo])]);
    said.exits(0).says("the worker produced no report").says("there is no report");
    assert_eq!((play.dispatched("developer"), play.dispatched("dod-checker")), (2, 2), "each is asked again");
    play.holds();
}

#[test]
fn what_is_written_outside_of_a_role_s_areas_fails_the_attempt_and_is_not_kept() {
    let tests = BUILT.replace("write: {", "write: {tests/weak.test.sh: \"true\\n\", ");
    let (play, said) = Play::standard(&[("developer", &[at(1, &tests), else_(BUILT)])]);
    let said = said.exits(1).says("it changed what it may not write: tests/weak.test.sh");
    insta::assert_snapshot!(play.told(&said));
    play.holds();
    play.tollgate(&["retry", "RUN"]).exits(0);
    assert_eq!(play.file("tests/weak.test.sh"), None);
    play.holds();
}

#[test]
fn a_worker_cannot_decide_for_a_person_with_or_without_the_marker() {
    let (play, said) = Play::standard(&[
        ("developer", &[misbehaves("decide", crate::play::BLOCKED), else_(BUILT)]),
        ("dod-checker", &[misbehaves("database", COVERED)]),
    ]);
    said.exits(4);
    let log = play.log("developer", 1);
    assert_eq!(log.matches("exit Some(1): error[TG0309]").count(), 2, "{log}");
    assert_eq!(play.count(|event| matches!(event, Event::DecisionRefused(_))), 0);
    play.decide(&["dec_2", "--answer", "1=Hello", "--answer", "2=No"]).exits(0);
    play.holds();
}

#[test]
fn every_command_that_only_a_person_may_give_is_refused_below_a_worker() {
    let mut play = Play::new(TASK, &script(&[]));
    // Also without a sandbox that would stop it earlier.
    play.world.set("TOLLGATE_SANDBOX", "off");
    let state = play.world.path("state").display().to_string();
    let tollgate = env!("CARGO_BIN_EXE_tollgate");
    // Without any variable but those that a program needs: found by its ancestors, also past a hard link to the journal.
    let linked = play.world.path("linked").display().to_string();
    let agent = format!(
        "#!/bin/sh\nmkdir '{linked}'; ln '{state}'/journal.db* '{linked}'\nfor state in '{state}' '{linked}'; do for words in 'decide dec_1 approve' 'resume '$TOLLGATE_RUN 'retry '$TOLLGATE_RUN 'cancel '$TOLLGATE_RUN 'land '$TOLLGATE_RUN' --as merge' gc 'run build-plan --task x' demo trust; do\n  env -i PATH=\"$PATH\" HOME=\"$HOME\" TOLLGATE_STATE=\"$state\" setsid '{tollgate}' $words >> refused.txt 2>&1; echo \"exit $?\" >> refused.txt\ndone; done\nexit 5\n"
    );
    play.world.agent("agent", &agent);
    play.start(&[
        "--input",
        "complexity=standard",
        "--answer",
        "sign-off=approve",
        "--worker",
        "developer=command:agent",
    ])
    .exits(1)
    .says("its program exited with 5");
    let tree = play.world.path(&format!("state/trees/{}/backend/refused.txt", play.run));
    let text = std::fs::read_to_string(tree).unwrap();
    assert_eq!(text.matches("exit 1\n").count(), 18, "{text}");
    assert_eq!(text.matches("error[TG0309]").count(), 18, "{text}");
    play.holds();
}

#[test]
fn what_hides_from_its_worker_in_every_way_is_ended_with_the_attempt() {
    let mut play = Play::new(TASK, &script(&[]));
    // Also without a sandbox that would stop it earlier.
    play.world.set("TOLLGATE_SANDBOX", "off");
    let pid = play.world.path("hidden.pid").display().to_string();
    // Forked twice, in a session of its own, without its marker: nothing but being an orphan gives it away.
    let hidden =
        format!("echo $$ > {pid}.tmp; /bin/mv {pid}.tmp {pid}; trap \"\" TERM; while :; do /bin/sleep 1; done");
    let agent = format!(
        "#!/bin/sh\n(setsid env -i /bin/sh -c '{hidden}' >/dev/null 2>&1 </dev/null &)\nwhile ! test -e {pid}; do sleep 0.01; done\nexit 5\n"
    );
    play.world.agent("agent", &agent);
    let words =
        ["--input", "complexity=standard", "--answer", "sign-off=approve", "--worker", "developer=command:agent"];
    play.start(&words).exits(1).says("its program exited with 5");
    let pid = std::fs::read_to_string(pid).unwrap();
    let left = std::fs::read_to_string(format!("/proc/{}/cmdline", pid.trim())).unwrap_or_default();
    assert!(!left.contains("hidden.pid"), "{left}");
    play.holds();
}

#[test]
fn what_goes_on_as_its_own_child_is_ended_with_the_attempt() {
    let mut play = Play::new(TASK, &script(&[]));
    // Also without a sandbox that would stop it earlier.
    play.world.set("TOLLGATE_SANDBOX", "off");
    let (renew, born) = (play.world.path("renew.sh"), play.world.path("born"));
    let (renew, born) = (renew.display().to_string(), born.display().to_string());
    // Every few milliseconds another process, whose parent is gone; bounded, so that a failure leaves nothing for ever.
    std::fs::write(
        &renew,
        format!("echo x >> {born}; trap '' TERM; [ $1 -gt 30000 ] && exit; /bin/sh {renew} $(($1 + 1)) &\n"),
    )
    .unwrap();
    let agent = format!(
        "#!/bin/sh\n(setsid env -i PATH=\"$PATH\" /bin/sh {renew} 0 >/dev/null 2>&1 </dev/null &)\nwhile ! test -s {born}; do sleep 0.01; done\nexit 5\n"
    );
    play.world.agent("agent", &agent);
    let words =
        ["--input", "complexity=standard", "--answer", "sign-off=approve", "--worker", "developer=command:agent"];
    play.start(&words).exits(1).says("its program exited with 5");
    let size = || std::fs::metadata(&born).unwrap().len();
    let then = size();
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert_eq!(size(), then, "it goes on");
    assert!(then < 60_000, "it came to its own end");
    play.holds();
}

#[test]
fn an_orphan_of_a_driver_that_it_killed_cannot_answer_for_a_person() {
    // A run that waits for a person, in the same state directory.
    let mut play = Play::new(TASK, &script(&[]));
    // Also without a sandbox that would stop it earlier.
    play.world.set("TOLLGATE_SANDBOX", "off");
    play.start(&["--input", "complexity=standard"]).exits(4).says("dec_1");
    let (state, said) = (play.world.path("state").display().to_string(), play.world.path("said").display().to_string());
    let tollgate = env!("CARGO_BIN_EXE_tollgate");
    let decide = format!(
        "/bin/sleep 0.3; TOLLGATE_STATE={state} \"{tollgate}\" decide {} dec_1 approve --no-resume; echo exit $?",
        play.run
    );
    // It hides its marker, leaves its session and kills everybody above it.
    let agent = format!(
        "#!/bin/sh\nenv -i HOME=\"$HOME\" PATH=\"$PATH\" setsid sh -c '{decide}' >{said}.tmp 2>&1 </dev/null &\n\
         env -i PATH=\"$PATH\" setsid sh -c 'while ! grep -q ^exit {said}.tmp; do sleep 0.05; done; mv {said}.tmp {said}' >/dev/null 2>&1 </dev/null &\n\
         kill -9 $PPID\nkill -9 $$\n"
    );
    play.world.agent("agent", &agent);
    let words =
        ["--input", "complexity=standard", "--answer", "sign-off=approve", "--worker", "developer=command:agent"];
    let all = [&["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml"], &words[..]].concat();
    let killed = play.tollgate(&all);
    assert_eq!(killed.code, None, "the driver was killed: {}", killed.err);
    let said = play.until("the orphan was answered", |_| std::fs::read_to_string(&said).ok());
    assert!(said.contains("error[TG0309]") && said.ends_with("exit 1\n"), "{said}");
    assert_eq!(play.count(|event| matches!(event, Event::DecisionEnded(_))), 0);
    // The person themselves is not refused.
    play.decide(&["dec_1", "approve"]).exits(0);
}

/// What a person's shell may use has nothing to do with who they are: neither an odd limit nor a small one makes a worker of them.
#[test]
fn a_person_with_limits_of_their_own_is_no_worker() {
    let mut play = Play::new(TASK, &script(&[("developer", &[at(1, crate::play::BLOCKED), else_(BUILT)])]));
    play.start(&["--input", "complexity=standard", "--answer", "sign-off=approve"]).exits(4).says("dec_2");
    let typed = play.world.program(&["decide", &play.run, "dec_2", "--answer", "1=Hello", "--answer", "2=No"]);
    let mut shell = std::process::Command::new("bash");
    shell
        .args(["-c", "ulimit -q 4097 && ulimit -x 64 && exec \"$0\" \"$@\""])
        .arg(typed.get_program())
        .args(typed.get_args());
    shell.env_clear().envs(typed.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(typed.get_current_dir().unwrap());
    crate::play::Said::of(shell.output().unwrap()).exits(0);
    play.holds();
}

/// Files below a folder that whoever runs them would run as their owner or group.
fn with_set_id(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let (meta, path) = entry.map(|entry| (entry.metadata().unwrap(), entry.path())).unwrap();
            if meta.is_dir() {
                open.push(path);
            } else if meta.is_file() && meta.mode() & 0o6000 != 0 {
                found.push(path);
            }
        }
    }
    found
}

/// Git records no such bit, so no change would show it: in files that count, in ignored ones, in a git folder, in a cache.
#[test]
fn a_set_user_id_bit_that_a_worker_set_does_not_stay() {
    let mut play = Play::new(TASK, &script(&[]));
    play.world.write(".gitignore", "/out/\n*.log\n");
    play.world.commit("Ignore");
    let files = r#"greet.sh out/a out/deep/b x.log .git/c "$XDG_CACHE_HOME"/d "$XDG_CACHE_HOME"/deep/e"#;
    let acts = format!(
        "mkdir -p out/deep \"$XDG_CACHE_HOME\"/deep; for file in {files}; do echo 'echo Hi' > \"$file\"; chmod 6755 \"$file\"; done\n\
         ls -l {files} > \"$XDG_CACHE_HOME\"/listed; chmod 2775 out"
    );
    let built = format!("{TOLLGATE} report complete --file greet.sh --row DoD-1=pass:greet.sh");
    play.world.agent("builds", &format!("#!/bin/sh\ncat > /dev/null\n{acts}\n{built}\n"));
    let words = ["--input", "complexity=standard", "--answer", "sign-off=approve"];
    play.start(&[&words[..], &["--worker", "developer=command:builds"]].concat()).exits(0);
    let state = play.world.path("state");
    let listed = std::fs::read_to_string(state.join(format!("runs/{}/caches/developer/listed", play.run))).unwrap();
    assert_eq!(listed.lines().filter(|line| line.starts_with("-rwsr-sr-x")).count(), 7, "{listed}");
    assert_eq!(with_set_id(&state), Vec::<PathBuf>::new());
    assert_eq!(play.file("greet.sh").as_deref(), Some("echo Hi\n"));
    let out = play.world.path(&format!("state/trees/{}/backend/out", play.run));
    let kept = out.metadata().map(|meta| meta.mode() & 0o7777);
    assert_eq!(kept.ok(), Some(0o2775), "of a folder it says whose group new files have");
    play.holds_but_for_the_head();
}
