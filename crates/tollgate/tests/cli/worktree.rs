//! What a fresh work tree needs: files that are copied, a setup that is run, caches that count for nobody.

use std::os::unix::ffi::OsStrExt;

use tollgate_core::run::Event;
use tollgate_core::run::event::{AttemptReported, AttemptUnready, Work};

use crate::play::{BUILT, COVERED, GAP, IDLE, Play, Said, TASK, at, else_, script};

const WORDS: [&str; 4] = ["--input", "complexity=standard", "--answer", "sign-off=approve"];

/// A world whose person has this configuration, and whose repository ignores what a setup makes. The setups count their runs in a file outside.
fn configured(roles: &[(&str, &[String])], worktree: &str) -> Play {
    let play = Play::new(TASK, &script(roles));
    play.world.write(".gitignore", ".env\n.env.*\n/deps/\n/certs/\n");
    play.world.write("package-lock.json", "{\"lock\": 1}\n");
    play.world.commit("Locked");
    let counter = play.world.path("counter").display().to_string();
    std::fs::create_dir_all(&counter).unwrap();
    let worktree = worktree.replace("COUNT", &format!("pwd >> {counter}/runs"));
    let worktree = worktree.replace("ROOT", &play.world.path("").display().to_string());
    let config = format!("sandbox = \"off\"\n[worktree]\n{worktree}\n");
    std::fs::create_dir_all(play.world.path("home/.config/tollgate")).unwrap();
    std::fs::write(play.world.path("home/.config/tollgate/config.toml"), config).unwrap();
    play
}

/// Where setups were run, in their order: in the tree of a unit, in the run's own, in copies.
fn runs(play: &Play) -> Vec<String> {
    let text = std::fs::read_to_string(play.world.path("counter/runs")).unwrap_or_default();
    let place = |line: &str| match line.rsplit_once('/') {
        Some((folder, name)) if folder.contains("/trees/") => name.to_owned(),
        _ => "copy".to_owned(),
    };
    text.lines().map(place).collect()
}

/// A setup that counts itself and fills the cache.
const FILLS: &str = r#"setup = ["sh", "-c", "COUNT; mkdir -p deps && cp package-lock.json deps/made"]"#;
const CACHED: &str = "caches = [\"deps\"]\n";

fn unready(play: &Play) -> Vec<AttemptUnready> {
    let each = play.events().into_iter().filter_map(|recorded| match recorded.event {
        Event::AttemptUnready(unready) => Some(unready),
        _ => None,
    });
    each.collect()
}

fn reports(play: &Play) -> Vec<AttemptReported> {
    let each = play.events().into_iter().filter_map(|recorded| match recorded.event {
        Event::AttemptReported(reported) => Some(reported),
        _ => None,
    });
    each.collect()
}

/// What the run's branch has of its own.
fn changed(play: &Play) -> String {
    play.world.git(&["diff", "--name-status", "main", &format!("tollgate/{}", play.run)])
}

fn tree(play: &Play, path: &str) -> std::path::PathBuf {
    play.world.path(&format!("state/trees/{}/backend/{path}", play.run))
}

/// A report of a role, printed by a program after it has looked around.
fn acts(play: &Play, name: &str, acts: &str, report: &str) -> String {
    std::fs::write(play.world.path(&format!("{name}.md")), report).unwrap();
    let report = play.world.path(&format!("{name}.md")).display().to_string();
    play.world.agent(name, &format!("#!/bin/sh\n{acts}\ncat {report}\n"));
    format!("command:{name}")
}

#[test]
fn a_tree_is_made_ready_once_and_those_who_judge_get_its_caches() {
    let checks = TASK.replace("- greet.sh greets", "- greet.sh greets `cmd: cmp deps/made package-lock.json`");
    let gap = [at(1, GAP), else_(COVERED)];
    // What the developer leaves in the cache is there for itself, and for nobody who judges it.
    let poisons = BUILT.replace("write: {", r#"write: {deps/made: "poison", "#);
    let play = &mut configured(
        &[("developer", &[at(1, &poisons), else_(IDLE)]), ("dod-checker", &gap)],
        &format!("{FILLS}\n{CACHED}"),
    );
    std::fs::write(play.world.path("task.md"), checks).unwrap();
    let said = play.start(&WORDS).exits(0);
    assert_eq!(runs(play), ["backend", "@run"], "once a tree, and never for those who judge: {}", said.err);
    assert_eq!(changed(play), "A\tgreet.sh\nA\ttests/greet.test.sh\n", "nothing of the setup is in the change");
    assert_eq!(std::fs::read_to_string(tree(play, "deps/made")).unwrap(), "poison", "kept from attempt to attempt");
    let noticed: Vec<String> = reports(play).into_iter().flat_map(|report| report.noticed).collect();
    assert_eq!(noticed, Vec::<String>::new());
    assert!(play.log("developer", 1).contains("made the work tree ready"), "{}", play.log("developer", 1));
    // What is in force is in the first event, with where it comes from.
    let Event::RunOpened(opened) = play.events().remove(0).event else { panic!("no first event") };
    assert_eq!(opened.config["worktree"]["caches"], serde_json::json!({"value": ["deps"], "from": "user"}));
    play.holds_but_for_the_head();
    // What the run was given goes with it.
    let folder = play.world.path(&format!("state/runs/{}", play.run));
    assert!(folder.join("made").is_dir() && folder.join("ready").is_dir());
    play.tollgate(&["gc"]).exits(0);
    for name in ["made", "ready", "caches"] {
        assert!(!folder.join(name).exists(), "{name}");
    }
}

#[test]
fn another_lock_file_is_another_setup_and_a_cache_that_git_does_not_ignore_is_no_change() {
    // `vendor` is in no .gitignore: that it is a cache is enough.
    let setup = r#"setup = ["sh", "-c", "COUNT; mkdir -p vendor && cp package-lock.json vendor/made && touch vendor/of-the-setup"]
caches = ["vendor"]"#;
    let locks = r#"write: {greet.sh: "echo Hello\n", package-lock.json: "{\"lock\": 2}\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [greet.sh], files_modified: [package-lock.json], dod_coverage: [{mark: "✓", row: DoD-1}]}"#;
    let gap = [at(1, GAP), else_(COVERED)];
    let play = &mut configured(&[("developer", &[at(1, locks), else_(IDLE)]), ("dod-checker", &gap)], setup);
    play.start(&WORDS).exits(0);
    assert_eq!(std::fs::read_to_string(tree(play, "vendor/made")).unwrap(), "{\"lock\": 2}\n");
    assert_eq!(
        runs(play),
        ["backend", "copy", "backend", "@run"],
        "what the first setup made is not for another lock file"
    );
    assert_eq!(changed(play), "A\tgreet.sh\nM\tpackage-lock.json\nA\ttests/greet.test.sh\n");
    play.holds_but_for_the_head();
}

#[test]
fn a_setup_that_fails_is_nobodys_failure_and_is_tried_again() {
    let play =
        &mut configured(&[], "setup = [\"sh\", \"-c\", \"COUNT; echo no such package >&2; test -e ROOT/fixed\"]");
    let said = play
        .start(&WORDS)
        .exits(3)
        .says("was not started: the setup `sh -c ")
        .says("it exited with 1; the last it said: no such package");
    let said = said.says("is halted").says(&format!("tollgate retry {}", play.run)).says("tollgate explain TG0544");
    assert!(!said.err.contains("developer failed"), "{}", said.err);
    let failed = unready(play);
    assert_eq!((failed.len(), play.dispatched("developer"), reports(play).len(), runs(play).len()), (1, 1, 0, 1));
    let object = failed[0].output.unwrap().to_string();
    assert_eq!(play.tollgate(&["evidence", &object]).exits(0).out, "no such package\n");
    let shown = play.tollgate(&["show", "RUN"]).exits(0).out;
    assert!(shown.contains("not started: the setup"), "{shown}");
    play.tollgate(&["retry", "RUN"]).exits(3);
    assert_eq!((unready(play).len(), runs(play).len()), (2, 2));
    std::fs::write(play.world.path("fixed"), "").unwrap();
    play.tollgate(&["retry", "RUN"]).exits(0);
    let iterations = play.events().into_iter().filter_map(|recorded| match recorded.event {
        Event::AttemptStarted(started) => match started.work {
            Work::Dispatch { role, iteration, .. } if &*role == "developer" => Some(iteration),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(iterations.collect::<Vec<_>>(), [1, 1, 1], "it counts as no attempt of anybody");
    play.holds_but_for_the_head();
}

#[test]
fn a_lock_file_that_the_work_broke_is_named() {
    let locks = r#"write: {greet.sh: "echo Hello\n", package-lock.json: "broken\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [greet.sh], files_modified: [package-lock.json], dod_coverage: [{mark: "✓", row: DoD-1}]}"#;
    let play = &mut configured(
        &[("developer", &[else_(locks)])],
        "setup = [\"grep\", \"-q\", \"lock\", \"package-lock.json\"]",
    );
    play.start(&WORDS)
        .exits(3)
        .says("the setup `grep -q lock package-lock.json` failed")
        .says("the work of this run changed package-lock.json");
    assert_eq!((play.dispatched("dod-checker"), unready(play).len()), (1, 1));
    play.holds_but_for_the_head();
}

#[test]
fn a_setup_that_changes_files_of_the_tree_is_refused_with_its_own_reason() {
    let acts = "echo x >> README.md; echo x > made.txt; rm src/main.rs";
    let play = &mut configured(&[], &format!("setup = [\"sh\", \"-c\", \"{acts}\"]"));
    play.start(&WORDS)
        .exits(3)
        .says("changed files of the tree: README.md, made.txt, src/main.rs; what it makes is to be in .gitignore");
    assert_eq!(reports(play).len(), 0);
    play.holds_but_for_the_head();
    let play = &mut configured(&[], "caches = [\"src\"]");
    play.start(&WORDS).exits(3).says("`src/main.rs` is a file of the tree, and lies in a folder of `caches`");
}

#[test]
fn a_setup_that_is_killed_is_run_again() {
    let setup =
        "setup = [\"sh\", \"-c\", \"COUNT; mkdir -p deps; test -e ROOT/go || { touch deps/half; sleep 600; }\"]\n";
    let mut play = configured(&[], &format!("{setup}{CACHED}"));
    let words = ["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml"];
    let mut child = play.program(&[&words[..], &WORDS].concat());
    play.find_run(&mut child);
    play.until("the setup is under way", |play| tree(play, "deps/half").exists().then_some(()));
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::write(play.world.path("go"), "").unwrap();
    play.tollgate(&["resume", "RUN"]).exits(0);
    assert_eq!(runs(&play), ["backend", "backend", "copy", "@run"], "what was cut off is not for those who judge");
    assert_eq!(play.count(|event| matches!(event, Event::AttemptLost(_))), 1);
    assert_eq!(unready(&play), []);
    play.holds_but_for_the_head();
}

#[test]
fn what_a_worker_leaves_in_a_cache_is_not_in_the_way_of_the_setup_for_ever() {
    let setup = r#"setup = ["sh", "-c", "COUNT; mkdir -p deps/s && echo made > deps/s/x"]"#;
    let mut play = configured(&[], &format!("{setup}\n{CACHED}"));
    let root = play.world.path("").display().to_string();
    let lays = format!(
        "if [ ! -e {root}/laid ]; then rm -r deps/s; ln -s nowhere deps/s; echo half > half; touch {root}/laid; sleep 600; fi; cat deps/s/x; exit 5"
    );
    let worker = format!("developer={}", acts(&play, "agent", &lays, ""));
    let words = ["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml", "--worker", &worker];
    let mut child = play.program(&[&words[..], &WORDS].concat());
    play.find_run(&mut child);
    play.until("the link is laid", |play| play.world.path("laid").exists().then_some(()));
    child.kill().unwrap();
    child.wait().unwrap();
    play.tollgate(&["resume", "RUN"]).exits(1).says("its program exited with 5");
    assert_eq!(unready(&play), []);
    let logs = std::fs::read_dir(play.world.path(&format!("state/runs/{}/logs", play.run))).unwrap();
    let logs: String = logs.map(|log| std::fs::read_to_string(log.unwrap().path()).unwrap()).collect();
    assert!(logs.contains("\nmade\n"), "{logs}");
}

#[test]
fn env_files_are_copied_and_their_secrets_are_not_told() {
    let play = &mut configured(&[], "copy = [\".env\", \"certs/\"]");
    play.world.write(".env", "# mine\nexport DB_PASSWORD='hunter2-hunter2'\nMODE=development\n");
    play.world.write("certs/own.pem", "a certificate\n");
    play.world.write("certs/deep/x.pem", "another\n");
    let report = "## Status\ncomplete\n\n## Abstract\n- Outcome: tried\n- Next phase: dod-checker\n";
    let worker = acts(
        play,
        "agent",
        "cat .env certs/own.pem certs/deep/x.pem; git status --porcelain; echo stop; exit 5",
        report,
    );
    play.start(&[&WORDS[..], &["--worker", &format!("developer={worker}")]].concat()).exits(1);
    let log = play.log("developer", 1);
    assert!(
        log.contains("DB_PASSWORD='[redacted DB_PASSWORD]'\nMODE=development\na certificate\nanother\nstop"),
        "{log}"
    );
    // One that adds the value to the work has not done it.
    let play = &mut configured(&[], "copy = [\".env\"]");
    play.world.write(".env", "DB_PASSWORD=hunter2-hunter2\n");
    let stolen = acts(play, "agent", "cp .env greet.sh", report);
    play.start(&[&WORDS[..], &["--worker", &format!("developer={stolen}")]].concat())
        .exits(1)
        .says("DB_PASSWORD in greet.sh");
}

/// As shells and their readers write them: with quotes inside, over several lines, or gone on with behind a `\`.
#[test]
fn a_secret_of_an_env_file_is_not_told_however_it_is_written() {
    let play = &mut configured(&[], "copy = [\".env\"]");
    play.world.write(
        ".env",
        "export API_KEY=\"quoted \\\"inner\\\" secret99\"\nPRIVATE_KEY=\"-----BEGIN RSA\nMIIBsecretline00\n-----END\"\n\
         JWT_SECRET=multi\\\nline-secret-5\nONE_SECRET=\"first-line\\nsecond-line\"\nMODE=development\n",
    );
    let report = "## Status\ncomplete\n\n## Abstract\n- Outcome: tried\n- Next phase: dod-checker\n";
    let acts_so = "cat .env; . ./.env; echo \"<$API_KEY>\"; echo \"<$JWT_SECRET>\"; sed 's/^/> /' .env; printf '%b\\n' \"$ONE_SECRET\" | tail -1; echo stop; exit 5";
    let worker = acts(play, "agent", acts_so, report);
    play.start(&[&WORDS[..], &["--worker", &format!("developer={worker}")]].concat()).exits(1);
    let log = play.log("developer", 1);
    for secret in ["inner", "secret99", "MIIBsecretline00", "line-secret-5", "first-line", "second-line"] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
    assert!(
        log.contains("<[redacted API_KEY]>\n") && log.contains("> MODE=development") && log.contains("stop"),
        "{log}"
    );
}

#[test]
fn what_is_not_there_leads_away_or_is_no_file_is_not_copied() {
    let refused = |copy: &str, makes: &dyn Fn(&Play), says: &str| {
        let play = &mut configured(&[], &format!("copy = [\"{copy}\"]"));
        makes(play);
        play.start(&WORDS).exits(3).says(says);
        assert_eq!(reports(play).len(), 0);
        assert!(!tree(play, copy).exists(), "{copy}");
    };
    refused(".env", &|_| (), "`copy` names what is not there: .env is not in ");
    refused(
        ".env",
        &|play| std::os::unix::fs::symlink("/etc/passwd", play.world.path("work/.env")).unwrap(),
        "`.env` cannot be copied: it is a link",
    );
    refused(
        ".env",
        &|play| play.world.write(".env", vec![b'x'; 17 * 1024 * 1024]),
        "`.env` cannot be copied: it is too large",
    );
    let mut play = configured(&[], "");
    for (key, path, why) in [
        ("copy", "../secrets", "leads out of the repository"),
        ("copy", "/etc/passwd", "begins with `/`"),
        ("copy", ".git/config", "names a git folder"),
        ("caches", "..", "leads out of the repository"),
        ("caches", "*", "is a pattern"),
        ("caches", ".", "is the whole tree"),
    ] {
        let config = format!("[worktree]\n{key} = [\"{path}\"]\n");
        std::fs::write(play.world.path("home/.config/tollgate/config.toml"), config).unwrap();
        play.start(&WORDS).exits(1).says("TG0604").says(&format!("`{path}` {why}"));
    }
}

#[test]
fn a_tracked_file_is_never_copied_over_and_a_tree_that_is_put_back_is_made_ready_again() {
    let play = &mut configured(&[], &format!("copy = [\"README.md\", \".env.*\"]\n{FILLS}\n{CACHED}"));
    play.world.write(".env.local", "A=1\n");
    let agent = acts(play, "agent", "rm .env.local; echo mine > deps/mine; exit 7", "");
    play.start(&[&WORDS[..], &["--worker", &format!("developer={agent}")]].concat()).exits(1);
    // Somebody changed the tree: the next attempt starts from the recorded one, with the caches of before.
    std::fs::write(tree(play, "README.md"), "# Nobody's\n").unwrap();
    let agent = "#!/bin/sh\ncat README.md .env.local deps/mine deps/made\nexit 7\n";
    play.world.agent("agent", agent);
    play.world.write("README.md", "# Mine\n");
    play.tollgate(&["retry", "RUN"]).exits(1);
    let attempt = play
        .events()
        .iter()
        .filter_map(|recorded| match &recorded.event {
            Event::AttemptStarted(started) => Some(started.attempt),
            _ => None,
        })
        .next_back()
        .unwrap();
    let log = std::fs::read_to_string(play.world.path(&format!("state/runs/{}/logs/{attempt}.log", play.run))).unwrap();
    assert!(log.contains("# A project\nA=1\nmine\n{\"lock\": 1}\n"), "{log}");
    assert_eq!(runs(play), ["backend", "backend"]);
    play.world.git(&["checkout", "-q", "README.md"]);
}

#[test]
fn under_the_sandbox_a_setup_has_the_network_and_writes_only_where_it_may() {
    if !crate::leash::holds() {
        return;
    }
    let play = Play::new(TASK, &script(&[]));
    let out = play.world.path("out.txt").display().to_string();
    let home = play.world.path("home/.config/tollgate");
    std::fs::create_dir_all(&home).unwrap();
    let setup = format!(
        "ls /sys/class/net | grep -qv '^lo$' && echo open > deps/net; echo x > {out}; echo x > $XDG_CACHE_HOME/x && echo x > deps/x"
    );
    std::fs::write(
        home.join("config.toml"),
        format!("sandbox = \"require\"\n[worktree]\nsetup = [\"sh\", \"-c\", \"mkdir deps; {setup}\"]\n{CACHED}"),
    )
    .unwrap();
    let play = &mut { play };
    play.start(&WORDS).exits(0);
    assert!(tree(play, "deps/x").exists() && !play.world.path("out.txt").exists());
    play.holds();
}

#[test]
fn secrets_that_cannot_be_looked_for_stop_the_driver_before_a_worker_is_started() {
    let mut play = Play::new(TASK, &script(&[]));
    for number in 0..1001 {
        play.world.set(&format!("N{number}_TOKEN"), &format!("value-{number:06}"));
    }
    let said: Said = play.start(&WORDS).exits(3).says("TG0543").says("there are 1001 of them; at most 1000");
    assert!(said.err.contains("tollgate resume"), "{}", said.err);
    assert_eq!((play.dispatched("developer"), reports(&play).len()), (1, 0));
    // One that is no text could be written in many ways.
    let mut play = Play::new(TASK, &script(&[]));
    let value = std::ffi::OsStr::from_bytes(b"Sup3rSecretV\xe9lue_9917");
    let words = ["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml"];
    let mut typed = play.world.program(&[&words[..], &WORDS].concat());
    let done = typed.env("MY_TOKEN", value).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.code() == Some(3) && said.contains("TG0543") && said.contains("MY_TOKEN"), "{said}");
    play.run.clear();
}

#[test]
fn doctor_says_what_a_tree_is_given_and_whether_that_would_work() {
    let play = configured(&[], "copy = [\".env\"]\nsetup = [\"no-such-program\", \"ci\"]\ncaches = [\"deps\"]");
    let said = play.tollgate(&["doctor"]).exits(3);
    let out = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(out.contains("`no-such-program` was not found") && out.contains(".env is not in the checkout"), "{out}");
    assert!(out.contains("runs `no-such-program ci`, once a tree and package-lock.json (user); caches deps"), "{out}");
    std::os::unix::fs::symlink("/etc/passwd", play.world.path("work/.env")).unwrap();
    let said = play.tollgate(&["doctor"]).exits(3).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("`.env` cannot be copied: it is a link"), "{said}");
    let play = configured(&[], &format!("copy = [\".env\"]\n{CACHED}setup = [\"true\"]"));
    play.world.write(".env", "A=1\n");
    let said = play.tollgate(&["doctor"]).exits(0);
    assert!(said.out.contains("copies .env (user)"), "{}", said.out);
}

#[test]
fn a_landing_whose_copy_is_not_ready_is_left_for_the_next_try() {
    let checks = TASK.replace("- greet.sh greets", "- greet.sh greets `cmd: test -e deps/made`");
    let setup = r#"setup = ["sh", "-c", "test ! -e ROOT/broken && mkdir -p deps && touch deps/made"]"#;
    let play = &mut configured(&[], setup);
    std::fs::write(play.world.path("task.md"), checks).unwrap();
    play.start(&WORDS).exits(0);
    // The base has moved: what was run is run again, in a copy that needs its setup.
    play.world.write("src/other.rs", "// new\n");
    play.world.commit("Meanwhile");
    std::fs::write(play.world.path("broken"), "").unwrap();
    play.tollgate(&["land", "RUN", "--as", "merge"]).exits(3).says("TG0544").says("the setup `sh -c ");
    std::fs::remove_file(play.world.path("broken")).unwrap();
    play.tollgate(&["resume", "RUN"]).exits(0);
    assert_eq!(play.world.git(&["show", "HEAD:greet.sh"]), "echo Hello\n");
}

#[test]
fn a_setup_of_the_repository_is_the_trusted_one_whatever_a_worker_wrote() {
    let mut play = configured(&[], CACHED);
    let counter = play.world.path("counter/runs").display().to_string();
    let setup = format!("pwd >> {counter}; mkdir -p deps; echo trusted > deps/made\n");
    play.world.write(".tollgate/setup.sh", &setup);
    play.world.write(".tollgate/config.toml", "[worktree]\nsetup = [\"sh\", \".tollgate/setup.sh\"]\n");
    play.world.commit("A setup");
    // Without trust it does not act.
    play.start(&WORDS).exits(0);
    assert_eq!(runs(&play), Vec::<String>::new());
    play.tollgate(&["trust"]).exits(0);
    play.run.clear();
    // A worker may write the file in its tree: the next tree is made ready by what is pinned all the same.
    let agent = acts(&play, "agent", "echo 'echo forged > deps/made' > .tollgate/setup.sh; exit 7", "");
    play.start(&[&WORDS[..], &["--worker", &format!("developer={agent}")]].concat()).exits(1);
    assert_eq!(runs(&play), ["backend"]);
    std::fs::write(tree(&play, "package-lock.json"), "{}").unwrap();
    play.tollgate(&["retry", "RUN"]).exits(1);
    assert_eq!(std::fs::read_to_string(tree(&play, "deps/made")).unwrap(), "trusted\n");
    assert_eq!(runs(&play), ["backend", "backend"]);
    let Event::RunOpened(opened) = play.events().remove(0).event else { panic!("no first event") };
    assert_eq!(opened.config["worktree"]["setup"]["from"], "repository");
    assert_eq!(opened.config["worktree"]["caches"]["from"], "user", "each is of its own source");
}

/// A run whose work writes these files, in a repository that has those; its row has this command.
fn worked(setup: &str, files: &[(&str, &str)], work: &[(&str, &str)], row: &str) -> Play {
    let of = |new: bool| {
        let paths = work.iter().map(|(path, _)| *path);
        paths.filter(|path| (*path == "greet.sh") == new).collect::<Vec<_>>().join(", ")
    };
    let written: std::collections::BTreeMap<_, _> = work.iter().copied().collect();
    let built = format!(
        "write: {}, report: {{status: complete, abstract: {{outcome: built, next_phase: dod-checker}}, \
         files_created: [{}], files_modified: [{}], dod_coverage: [{{mark: \"✓\", row: DoD-1}}]}}",
        serde_json::to_string(&written).unwrap(),
        of(true),
        of(false)
    );
    let mut play = configured(&[("developer", &[at(1, &built), else_(IDLE)])], &format!("{setup}\n{CACHED}"));
    let task = TASK.replace("- greet.sh greets", &format!("- greet.sh greets `cmd: {row}`"));
    std::fs::write(play.world.path("task.md"), task).unwrap();
    for (path, text) in files {
        play.world.write(path, text);
    }
    play.world.commit("What is there");
    let said = play.start(&[&WORDS[..], &["--no-wait"]].concat());
    play.named_by(&said);
    play
}

const GREETS: (&str, &str) = ("greet.sh", "echo Hello\n");
/// A setup that is a script of the tree, and calls another one.
const SCRIPTED: &str = r#"setup = ["sh", "-c", "COUNT; sh prep.sh"]"#;
const PREPARES: (&str, &str) = ("prep.sh", "mkdir -p deps && sh tools/fill.sh && cp package-lock.json deps/lock\n");
const LOCKED: (&str, &str) = ("package-lock.json", "{\"lock\": 2}\n");

/// Why the row is as it is.
fn note(play: &Play) -> String {
    let ran = play.events().into_iter().rev().find_map(|recorded| match recorded.event {
        Event::CommandsRan(ran) => Some(ran),
        _ => None,
    });
    ran.expect("commands ran").results[0].note.clone()
}

#[test]
fn what_the_work_wrote_fills_no_cache_for_its_own_lock_file() {
    let files = [PREPARES, ("tools/fill.sh", "echo genuine > deps/dep\n")];
    let forged = ("tools/fill.sh", "echo forged > deps/dep\n");
    let row = "cmp deps/lock package-lock.json && grep -q genuine deps/dep";
    let play = worked(SCRIPTED, &files, &[GREETS, LOCKED, forged], row);
    assert_eq!(note(&play), "it exited with 0");
    assert_eq!(runs(&play)[..2], ["backend", "copy"], "once for the new lock file");
    play.holds_but_for_the_head();
}

#[test]
fn a_setup_that_the_work_changed_is_put_to_a_person_once() {
    let files = [PREPARES, ("tools/fill.sh", "echo old > deps/dep\n")];
    let other = ("prep.sh", "mkdir -p deps && echo new > deps/dep\n");
    for lock in [None, Some(LOCKED)] {
        let work: Vec<_> = [GREETS, other].into_iter().chain(lock).collect();
        let play = worked(SCRIPTED, &files, &work, "grep -q new deps/dep");
        assert_eq!(note(&play), "its set-up was changed by the work: `prep.sh`");
        assert_eq!(play.dispatched("dod-checker"), 0, "a person is asked first");
        let asked = play.tollgate(&["inbox"]).out;
        assert!(asked.contains("was changed by the work: `prep.sh`") && asked.contains("dec_2 allow"), "{asked}");
        play.decide(&["dec_2", "allow"]).exits(0).says("DoD-1 passed");
        assert_eq!(play.dispatched("developer"), 1, "no attempt failed for it");
        play.tollgate(&["verify", "RUN"]).exits(0);
    }
    // Refused, nothing that it makes is believed: who judges has what the run began with.
    let play = worked(SCRIPTED, &files, &[GREETS, other], "grep -q new deps/dep");
    play.decide(&["dec_2", "refuse"]);
    assert_eq!(note(&play), "its set-up was changed by the work: `prep.sh`");
    let log = play.log("dod-checker", 1);
    assert!(log.contains("its set-up was changed by the work: `prep.sh`; the caches are those"), "{log}");
    assert!(!runs(&play).contains(&"copy".to_owned()), "{:?}", runs(&play));
}

#[test]
fn a_setup_that_does_not_do_with_the_lock_file_alone_is_put_to_a_person() {
    // It compares the lock file with one that nothing names.
    let files = [
        ("prep.sh", "mkdir -p deps && cmp package-lock.json tools/expected && cp package-lock.json deps/lock\n"),
        ("tools/expected", "{\"lock\": 1}\n"),
    ];
    let work = [GREETS, LOCKED, ("tools/expected", LOCKED.1)];
    let play = worked(SCRIPTED, &files, &work, "cmp deps/lock package-lock.json");
    let why = note(&play);
    let begins = "its set-up was changed by the work: `package-lock.json`; without its other files the setup `sh -c ";
    assert!(why.starts_with(begins) && why.contains("it exited with 1"), "{why}");
    assert_eq!(unready(&play), []);
    play.decide(&["dec_2", "allow"]).exits(0).says("DoD-1 passed");
    assert_eq!(play.dispatched("developer"), 1);
    play.tollgate(&["verify", "RUN"]).exits(0);
}

/// As `npm install NAME` leaves a tree: the manifest and the lock file agree, and nobody is asked.
#[test]
fn a_dependency_that_was_added_is_fetched_without_a_question_and_the_scripts_of_its_manifest_are_those_of_before() {
    let npm = r#"setup = ["sh", "npm.sh"]"#;
    let ci = r#"mkdir -p deps
grep -q left-pad package.json || ! grep -q left-pad package-lock.json || exit 1
sh -c "$(sed -n 's/.*"postinstall": "\(.*\)".*/\1/p' package.json)"
grep -l left-pad package.json package-lock.json > deps/found || true
"#;
    let manifest = |script: &str, packages: &str| {
        let (scripts, name) = (format!("\"postinstall\": \"echo {script} > deps/by\""), "\"name\": \"x\"");
        format!("{{\n  {name},\n  \"scripts\": {{\n    {scripts}\n  }},\n  \"dependencies\": {{{packages}}}\n}}\n")
    };
    let lock = ("package-lock.json", "{\"left-pad\": \"1.3.0\"}\n");
    let row = "test $(wc -l < deps/found) = 2 && grep -q base deps/by";
    for script in ["base", "work"] {
        let (before, after) = (manifest("base", ""), manifest(script, "\"left-pad\": \"1.3.0\""));
        let files = [("package.json", &*before), ("npm.sh", ci)];
        let play = worked(npm, &files, &[GREETS, lock, ("package.json", &after)], row);
        assert_eq!(note(&play), "it exited with 0", "{script}");
        assert_eq!(play.count(|event| matches!(event, Event::DecisionAsked(_))), 1, "the sign-off alone");
        play.holds_but_for_the_head();
    }
}

/// What is on the branch that it lands on is the person's, and no work of the run.
#[test]
fn a_setup_that_changed_on_the_base_prepares_a_landing() {
    let prep = |dep: &str| format!("mkdir -p deps && echo {dep} > deps/dep && cp package-lock.json deps/lock\n");
    let row = "cmp deps/lock package-lock.json && test -s deps/dep";
    let play = worked(SCRIPTED, &[("prep.sh", &prep("old"))], &[GREETS], row);
    play.world.write("prep.sh", prep("new"));
    play.world.write(LOCKED.0, LOCKED.1);
    play.world.commit("Meanwhile");
    play.tollgate(&["land", "RUN", "--as", "merge"]).exits(0);
    assert_eq!(play.world.git(&["show", "HEAD:greet.sh"]), "echo Hello\n");
    let checked = play.events().into_iter().find_map(|recorded| match recorded.event {
        Event::LandChecked(checked) => Some(checked.results[0].note.clone()),
        _ => None,
    });
    assert_eq!(checked.as_deref(), Some("it exited with 0"));
    play.holds_but_for_the_head();
}
