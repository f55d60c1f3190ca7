//! Workers and commands on their leash: what they may not touch stays as it was, and the journal says what held them.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use tollgate_core::run::Event;
use tollgate_core::run::sandbox_record::{Network, Sandbox, SandboxRecord};

use tollgate_engine::sandbox::{SandboxSupport, probe};

use crate::play::{BUILT, IDLE, Play, TASK, at, else_, script};

/// What this machine can do.
fn able() -> SandboxSupport {
    probe(std::path::Path::new(env!("CARGO_BIN_EXE_tollgate")), &std::env::temp_dir())
}

/// Whether this machine can hold a program, all of it; where it cannot, that is said, and under CI it is a failure.
pub fn holds() -> bool {
    let missing = able().missing(true).join("; ");
    assert!(
        missing.is_empty() || std::env::var_os("CI").is_none(),
        "{missing}: the sandbox cannot be tried here, and nothing is skipped under CI"
    );
    if !missing.is_empty() {
        println!("SKIPPED: the sandbox cannot be tried here: {missing}");
    }
    missing.is_empty()
}

/// A run whose developer is a shell script, in the work tree of its unit; it fails in the end, so that nothing else runs.
pub fn developer(play: &mut Play, acts: &str) -> String {
    play.world.agent("agent", &format!("#!/bin/sh\n{acts}\nexit 5\n"));
    let words =
        ["--input", "complexity=standard", "--answer", "sign-off=approve", "--worker", "developer=command:agent"];
    play.start(&words).exits(1).says("its program exited with 5");
    play.log("developer", 1)
}

/// A world whose person has this configuration.
pub fn configured(task: &str, script: &str, config: &str) -> Play {
    let play = Play::new(task, script);
    std::fs::create_dir_all(play.world.path("home/.config/tollgate")).unwrap();
    std::fs::write(play.world.path("home/.config/tollgate/config.toml"), config).unwrap();
    play
}

pub const WORDS: [&str; 4] = ["--input", "complexity=standard", "--answer", "sign-off=approve"];

/// How often programs say that they were denied something, or that what is hidden is not there.
fn denials(log: &str) -> usize {
    let says = ["ermission denied", "ead-only file system", "No such file or directory", "nonexistent"];
    says.iter().map(|says| log.matches(says).count()).sum()
}

/// What the person who runs the machine took away is not given back, though the configuration lets a worker write there.
#[test]
fn what_is_mounted_so_that_nobody_writes_it_stays_so() {
    if !holds() {
        return;
    }
    let config = "[worker.mine]\nadapter = \"command\"\ncommand = [\"sh\", \"-c\", \"echo evil > ~/.agent/keep; exit 5\"]\n\
                  writes = [\"~/.agent/\"]\n";
    let play = configured(TASK, &script(&[]), config);
    let (agent, work) = (play.world.path("home/.agent"), play.world.path("work"));
    std::fs::create_dir_all(&agent).unwrap();
    std::fs::write(agent.join("keep"), "kept\n").unwrap();
    let script = format!(
        "mount --bind {agent} {agent}; mount -o remount,bind,ro {agent}; cd {work}
         tollgate run build-plan --task ../task.md --script ../script.yaml {words} --worker developer=mine || true",
        agent = agent.display(),
        work = work.display(),
        words = WORDS.join(" "),
    );
    let Some(output) = play.world.shell_with_mounts(&script) else { return };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("its program exited with 5"), "{said}");
    assert_eq!(std::fs::read_to_string(agent.join("keep")).unwrap(), "kept\n");
}

pub fn leashes(play: &Play) -> Vec<SandboxRecord> {
    let held = |event: Event| match event {
        Event::AttemptReported(reported) => reported.leash.map(|leash| *leash),
        Event::CommandsRan(ran) => ran.leash,
        _ => None,
    };
    play.events().into_iter().filter_map(|recorded| held(recorded.event)).collect()
}

#[test]
fn a_worker_writes_its_work_tree_and_nothing_else() {
    if !holds() {
        return;
    }
    let mut play = Play::new(TASK, &script(&[]));
    let (out, work) = (play.world.path("out.txt"), play.world.path("work"));
    let home = play.world.path("home");
    std::fs::write(home.join(".netrc"), "a secret\n").unwrap();
    let before = play.world.git(&["for-each-ref", "refs/heads"]);
    let modes_and_times = || {
        let of =
            |path: PathBuf| path.metadata().map(|meta| (meta.mode(), meta.uid(), meta.mtime(), meta.ctime())).unwrap();
        [work.clone(), work.join("README.md"), home.join(".netrc")].map(of)
    };
    let held = modes_and_times();
    let log = developer(
        &mut play,
        &format!(
            "echo mine > mine.txt; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m own && echo committed\n\
             echo x > {out}; echo x > {work}/README.md; echo x > {work}/.git/config; echo x > {work}/.git/hooks/post-commit\n\
             git -C {work} branch stolen; echo x > {home}/.profile; echo x > /etc/tollgate-was-here; cat {home}/.netrc\n\
             chmod 777 {work} {work}/README.md {home}/.netrc; chown 1:1 {work}/README.md; touch -d 2001-01-01 {work}/README.md {home}/.netrc\n\
             echo x > \"$TMPDIR/x\" && echo x > /dev/null && echo x > \"$XDG_CACHE_HOME/x\" && echo scratch",
            out = out.display(),
            work = work.display(),
            home = home.display()
        ),
    );
    assert!(log.contains("committed") && log.contains("scratch"), "{log}");
    assert!(denials(&log) >= 10 && !log.contains("a secret"), "{log}");
    assert_eq!(modes_and_times(), held, "nor a mode, an owner or a time");
    assert_eq!(std::fs::read_to_string(work.join("README.md")).unwrap(), "# A project\n");
    for path in [out, work.join(".git/hooks/post-commit"), home.join(".profile"), "/etc/tollgate-was-here".into()] {
        assert!(!path.exists(), "{}", path.display());
    }
    assert_eq!(play.world.git(&["for-each-ref", "refs/heads"]), before);
    let tree = play.world.path(&format!("state/trees/{}/backend/mine.txt", play.run));
    assert_eq!(std::fs::read_to_string(tree).unwrap(), "mine\n");
    // What it was denied is on record, as its programs say it.
    let reported = play.events().into_iter().find_map(|recorded| match recorded.event {
        Event::AttemptReported(reported) => Some(reported),
        _ => None,
    });
    let noticed = reported.unwrap().noticed;
    let denied = |path: &str| noticed.iter().any(|said| said.starts_with("denied: ") && said.contains(path));
    assert!(denied("/etc/tollgate-was-here"), "{noticed:?}");
    let shown = play.tollgate(&["show", "RUN"]).exits(0).out;
    assert!(shown.contains("denied: "), "{shown}");
    let held = &leashes(&play)[0];
    assert!(held.processes && held.landlock >= Some(3) && held.missing.is_empty(), "{held:?}");
    assert_eq!((held.sandbox, held.network), (Sandbox::Prefer, Network::Open));
    play.holds();
}

/// What its programs say of a denial is reported; one that says nothing is denied all the same, and that is all there is to see.
#[test]
fn a_denied_write_is_reported_as_it_is_said_and_denied_where_it_is_hidden() {
    if !holds() {
        return;
    }
    // How the usual runtimes say it.
    let says = [
        "Error: EACCES: permission denied, open 'OUT'",
        "PermissionError: [Errno 13] Permission denied: 'OUT'",
        "Error: EROFS: read-only file system, open 'OUT'",
        "Error: EPERM: operation not permitted, open 'OUT'",
        "open OUT: EACCES",
    ];
    let mut play = Play::new(TASK, &script(&[]));
    // The world of a test may lie below `/tmp`, which a worker has to itself.
    let outside = |number: usize, hidden: bool| {
        PathBuf::from(format!("/var/tollgate-test-{}-{number}-{hidden}", std::process::id()))
    };
    let all = || (0..says.len()).flat_map(|number| [(number, false), (number, true)]);
    let acts: String = all().fold(String::new(), |acts, (number, hidden)| {
        let out = outside(number, hidden).display().to_string();
        let said = if hidden { "true".to_owned() } else { format!("echo \"{}\"", says[number].replace("OUT", &out)) };
        acts + &format!("(echo x > {out}) 2>/dev/null || {said}\n")
    });
    developer(&mut play, &acts);
    let noticed = play.events().into_iter().find_map(|recorded| match recorded.event {
        Event::AttemptReported(reported) => Some(reported.noticed),
        _ => None,
    });
    let noticed = noticed.unwrap();
    let denied: Vec<&String> = noticed.iter().filter(|said| said.starts_with("denied: ")).collect();
    for (number, hidden) in all() {
        let out = outside(number, hidden);
        assert!(!out.exists(), "{}", out.display());
        let told = denied.iter().any(|said| said.contains(&out.display().to_string()));
        assert_eq!(told, !hidden, "{} {noticed:?}", out.display());
    }
    assert!(leashes(&play)[0].landlock >= Some(3), "that it was held is on record in any case");
    play.holds();
}

#[test]
fn the_state_directory_and_the_trees_of_others_cannot_be_read() {
    if !holds() {
        return;
    }
    let mut play = Play::new(TASK, &script(&[]));
    let state = play.world.path("state").display().to_string();
    std::fs::create_dir_all(play.world.path("state/trees/run_0000000a/other")).unwrap();
    std::fs::write(play.world.path("state/trees/run_0000000a/other/file"), "of another\n").unwrap();
    let log = developer(
        &mut play,
        &format!(
            "cat {state}/journal.db; ls {state}; ls {state}/trees; cat {state}/trees/run_0000000a/other/file; ls {state}/runs/$TOLLGATE_RUN\n\
             head -c 4 \"$TOLLGATE_BUNDLE/brief.md\" >/dev/null && echo shown; echo x > \"$TOLLGATE_BUNDLE/brief.md\"; echo x > {state}/journal.db"
        ),
    );
    assert!(denials(&log) >= 4, "{log}");
    assert!(!log.contains("SQLite format") && !log.contains("of another") && log.contains("shown"), "{log}");
    play.holds();
}

#[test]
fn what_forks_twice_into_a_session_of_its_own_ends_with_its_worker() {
    if !holds() {
        return;
    }
    let mut play = Play::new(TASK, &script(&[]));
    // Its name is all that could be left of it: it clears its environment and ignores every polite word.
    let name = format!("sleep 86{}", std::process::id());
    let log = developer(
        &mut play,
        &format!("(setsid env -i /bin/sh -c 'trap \"\" TERM HUP; {name}' >/dev/null 2>&1 </dev/null &)\necho left"),
    );
    assert!(log.contains("left"), "{log}");
    let table = std::process::Command::new("ps").args(["axww", "-o", "args"]).output().unwrap();
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(table.contains("ps axww") && !table.contains(&name), "{table}");
    play.holds();
}

#[test]
fn a_worker_cannot_end_or_look_into_what_is_outside() {
    if !holds() {
        return;
    }
    let mut play = Play::new(TASK, &script(&[]));
    let mut outside = std::process::Command::new("sleep").arg("600").env("A_SECRET", "of-the-person").spawn().unwrap();
    let pid = outside.id();
    let log = developer(&mut play, &format!("kill -9 {pid}; cat /proc/{pid}/environ; kill -9 -1; echo alive"));
    assert!(outside.try_wait().unwrap().is_none() && !log.contains("of-the-person"), "{log}");
    outside.kill().unwrap();
    outside.wait().unwrap();
}

#[test]
fn a_configuration_gives_a_worker_more_places_and_never_less_than_is_required() {
    if !holds() {
        return;
    }
    let mut play = Play::new(TASK, &script(&[]));
    let (given, file) = (play.world.path("given"), play.world.path("home/.config/tollgate/config.toml"));
    std::fs::create_dir_all(&given).unwrap();
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let config = |sandbox: &str| {
        let text = format!(
            "sandbox = \"{sandbox}\"\n[worker.mine]\nadapter = \"command\"\ncommand = [\"agent\"]\nsandbox = \"off\"\nwrites = [\"{}\"]\n",
            given.display()
        );
        std::fs::write(&file, text).unwrap();
    };
    play.world.agent("agent", &format!("#!/bin/sh\necho x > {}/x\necho x > {0}.not\nexit 5\n", given.display()));
    let words = ["--input", "complexity=standard", "--answer", "sign-off=approve", "--worker", "developer=mine"];
    config("require");
    play.start(&words).exits(1);
    assert!(given.join("x").exists() && !play.world.path("given.not").exists());
    config("prefer");
    play.start(&words).exits(1);
    assert!(play.world.path("given.not").exists());
    config("perhaps");
    play.start(&words).exits(1).says("there is no sandbox `perhaps`");
}

/// Nobody writes the person's repository, and the state directory is not even read: no configuration says otherwise.
#[test]
fn a_configuration_gives_away_neither_the_repository_nor_the_state() {
    let mut play = Play::new(TASK, &script(&[]));
    let file = play.world.path("home/.config/tollgate/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(play.world.path("work/.git"), play.world.path("link")).unwrap();
    play.world.agent("agent", "#!/bin/sh\ntouch ../../../started; exit 5\n");
    let words = [&WORDS[..], &["--worker", "developer=mine"]].concat();
    for (key, place, lies) in [
        ("writes", "work/", "what git keeps"),
        ("writes", "work/.git/hooks/", "what git keeps"),
        ("writes", "link/hooks/", "what git keeps"),
        ("writes", "home/../", "lies there"),
        ("writes", "state/", "the state directory"),
        ("reads", "state/runs", "the state directory"),
    ] {
        let place = play.world.path(place);
        let worker =
            format!("[worker.mine]\nadapter = \"command\"\ncommand = [\"agent\"]\n{key} = [\"{}\"]\n", place.display());
        std::fs::write(&file, worker).unwrap();
        play.start(&words).exits(1).says("TG0604").says("cannot be given to the worker `mine`").says(lies);
        play.tollgate(&["worker", "doctor", "mine"]).exits(1).says("TG0604");
        let told = play.tollgate(&["doctor"]);
        assert!(format!("{}{}", told.out, told.err).contains("cannot be given"), "{}", told.out);
    }
}

#[test]
fn a_worker_sees_the_usual_variables_and_those_that_were_named() {
    let config =
        "env = [\"FOR_ALL\"]\n[worker.mine]\nadapter = \"command\"\ncommand = [\"agent\"]\nenv = [\"FOR_ME*\"]\n";
    let mut play = configured(TASK, &script(&[]), config);
    for name in ["FOR_ALL", "FOR_ME_TOO", "FOR_NOBODY", "SSH_AUTH_SOCK", "LANG"] {
        play.world.set(name, "is-here");
    }
    play.world.agent("agent", "#!/bin/sh\nenv\nexit 5\n");
    play.start(&[&WORDS[..], &["--worker", "developer=mine"]].concat()).exits(1);
    let log = play.log("developer", 1);
    for name in ["FOR_ALL", "FOR_ME_TOO", "LANG", "TOLLGATE_RUN", "PATH"] {
        assert!(log.contains(&format!("{name}=")), "{log}");
    }
    assert!(!log.contains("FOR_NOBODY") && !log.contains("SSH_AUTH_SOCK"), "{log}");
}

/// What a command of a row printed.
pub fn printed(play: &Play) -> String {
    let object = play.events().into_iter().find_map(|recorded| match recorded.event {
        Event::CommandsRan(ran) => ran.results[0].output,
        _ => None,
    });
    play.tollgate(&["evidence", &object.unwrap().to_string()]).exits(0).out
}

#[test]
fn a_command_sees_the_usual_variables_and_those_that_were_named_for_all() {
    let task = TASK.replace("greet.sh greets", "greet.sh greets `cmd: env; false`");
    let mut play = configured(&task, &script(&[]), "env = [\"FOR_ALL\"]\n");
    for name in ["FOR_ALL", "FOR_NOBODY", "SSH_AUTH_SOCK", "LANG"] {
        play.world.set(name, "is-here");
    }
    play.start(&WORDS).exits(4);
    let shown = printed(&play);
    assert!(shown.contains("FOR_ALL=is-here") && shown.contains("LANG=is-here"), "{shown}");
    assert!(!shown.contains("FOR_NOBODY") && !shown.contains("SSH_AUTH_SOCK"), "{shown}");
}

/// Looks through every file below a folder.
fn is_nowhere(folder: std::path::PathBuf, secrets: &[&str]) {
    let (mut open, mut looked) = (vec![folder], 0);
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned();
        assert!(secrets.iter().all(|secret| !text.contains(secret)), "{}", path.display());
        looked += 1;
    }
    assert!(looked > 10);
}

#[test]
fn a_secret_is_in_nothing_that_is_stored_or_shown() {
    let (secret, token) = ("hunter2-hunter2-hunter2", format!("ghp_{}", "a1".repeat(20)));
    let task = TASK.replace("greet.sh greets", "greet.sh greets `cmd: echo $THE_TOKEN; false`");
    let mut play = configured(&task, &script(&[]), "env = [\"THE_TOKEN\"]\n");
    play.world.set("THE_TOKEN", secret);
    play.start(&WORDS).exits(4);
    assert_eq!(printed(&play), "[redacted THE_TOKEN]\n");
    is_nowhere(play.world.path("state"), &[secret]);
    let mut play = configured(TASK, &script(&[]), "env = [\"THE_TOKEN\"]\n");
    play.world.set("THE_TOKEN", secret);
    let report = "## Status\\nfailed: %s\\n\\n## Abstract\\noutcome: %s\\n";
    let agent = format!(
        "#!/bin/sh\necho \"$THE_TOKEN\" | tee \"$TMPDIR/x\"; printf hunter2- >&2; sleep 0.1; echo hunter2-hunter2 >&2\n\
         printf '{report}' \"$THE_TOKEN\" {} > \"$TOLLGATE_REPORT\"\n",
        token.replace("_", "_''")
    );
    play.world.agent("agent", &agent);
    let said = play.start(&[&WORDS[..], &["--worker", "developer=command:agent"]].concat()).exits(1);
    assert!(!said.err.contains(secret), "{}", said.err);
    assert_eq!(play.log("developer", 1).matches("[redacted THE_TOKEN]").count(), 2);
    is_nowhere(play.world.path("state"), &[secret, &token]);
}

#[test]
fn a_token_in_a_change_fails_the_attempt_and_enters_no_tree() {
    let token = format!("ghp_{}", "a1B2".repeat(10));
    let leak = BUILT.replace("echo Hello\\n", &format!("curl -H 'Authorization: {token}'\\n"));
    let script = script(&[("developer", &[at(1, &leak), else_(BUILT)])]);
    let mut play = Play::new(TASK, &script);
    let said = play.start(&WORDS).exits(1).says("it wrote what looks like a secret: GitHub token in greet.sh");
    assert!(!said.err.contains(&token), "{}", said.err);
    play.tollgate(&["retry", "RUN"]).exits(0);
    assert_eq!(play.file("greet.sh").as_deref(), Some("echo Hello\n"));
    play.holds();
    // Where a repository keeps examples, it says so.
    let mut play = configured(TASK, &script, "example_secrets = [\"greet.*\"]\n");
    play.start(&WORDS).exits(0);
    assert!(play.file("greet.sh").unwrap().contains(&token));
}

/// What a worker names is its word too: a file, a branch, a tag.
#[test]
fn a_secret_in_a_name_is_neither_stored_nor_shown_and_enters_no_tree() {
    let secret = "hunter2-hunter2-hunter2";
    for (acts, why) in [
        ("git branch b-$THE_TOKEN; git tag $THE_TOKEN", "git: branch b-[redacted THE_TOKEN]"),
        ("echo x > x-$THE_TOKEN", "it wrote what looks like a secret: THE_TOKEN in the name of a file"),
        ("ln -s / x-$THE_TOKEN", "the link `x-[redacted THE_TOKEN]` leads out of the tree"),
    ] {
        let mut play = configured(TASK, &script(&[]), "env = [\"THE_TOKEN\"]\n");
        play.world.set("THE_TOKEN", secret);
        play.world.agent("agent", &format!("#!/bin/sh\n{acts}\nprintf '## Status\\nfailed: no\\n'\n"));
        let said = play.start(&[&WORDS[..], &["--worker", "developer=command:agent"]].concat()).exits(1).says(why);
        assert!(!said.err.contains(secret), "{}", said.err);
        for words in [&["show", "RUN"][..], &["show", "RUN", "--json"], &["log", "RUN"], &["export", "RUN"]] {
            let said = play.tollgate(words);
            assert!(!said.out.contains(secret) && !said.err.contains(secret), "{words:?}: {}{}", said.out, said.err);
        }
        let journal = std::fs::read(play.world.path("state/journal.db")).unwrap();
        assert!(!String::from_utf8_lossy(&journal).contains(secret), "{acts}");
        play.holds();
    }
}

/// The command of a row speaks with a server of its own, and not with one that was there before.
#[test]
fn a_command_that_checks_has_no_network_but_its_own() {
    if !holds() {
        return;
    }
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let program = format!(
        "import socket\\nown = socket.create_server(('127.0.0.1', 0))\\nsocket.create_connection(own.getsockname())\\n\
         try:\\n  socket.create_connection(('127.0.0.1', {port}))\\nexcept OSError:\\n  raise SystemExit(0)\\nraise SystemExit(1)\\n"
    );
    let direct = program.replace("\\n", "\n");
    assert_eq!(std::process::Command::new("python3").args(["-c", &direct]).status().unwrap().code(), Some(1));
    let built = BUILT.replace("write: {", &format!("write: {{net.py: \"{program}\", "));
    let built = built.replace("files_created: [", "files_created: [net.py, ");
    let task = TASK.replace("greet.sh greets", "greet.sh greets `cmd: python3 net.py`");
    let mut play = Play::new(&task, &script(&[("developer", &[at(1, &built), else_(IDLE)])]));
    play.start(&["--input", "complexity=standard", "--answer", "sign-off=approve"]).exits(0).says("DoD-1 passed");
    let leashes = leashes(&play);
    let commands: Vec<&SandboxRecord> = leashes.iter().filter(|leash| leash.network == Network::Denied).collect();
    assert!(!commands.is_empty() && commands.iter().all(|leash| leash.processes), "{leashes:?}");
    play.holds();
}
