//! What no worker and no command of a run sees: the person's checkout, their git configuration, and sockets of others.

use std::os::unix::net::UnixListener;
use std::path::Path;

use tollgate_core::run::Event;

use crate::leash::{WORDS, developer, holds};
use crate::play::{BUILT, IDLE, Play, TASK, at, else_, script};

/// The task with a command on its first row.
fn checked_by(command: &str) -> String {
    TASK.replace("greet.sh greets", &format!("greet.sh greets `cmd: {command}`"))
}

/// A run whose developer builds what the task asks for.
fn built(task: &str) -> Play {
    Play::new(task, &script(&[("developer", &[at(1, BUILT), else_(IDLE)])]))
}

/// Why the first command of a run ended as it did.
pub fn note(play: &Play) -> String {
    let found = play.events().into_iter().find_map(|recorded| match recorded.event {
        Event::CommandsRan(ran) => Some(ran.results[0].note.clone()),
        _ => None,
    });
    found.unwrap()
}

/// An editable install, `npm link` and `go.work` name the checkout by its path: a check that follows it passes on a broken tree.
#[test]
fn a_command_that_names_the_checkout_by_its_path_finds_nothing_there() {
    if !holds() {
        return;
    }
    for linked in [false, true] {
        let play = built("");
        let place = if linked { play.world.path("linked") } else { play.world.path("work") };
        play.world.write("lib.sh", "true\n");
        play.world.commit("the library");
        if linked {
            play.world.git(&["worktree", "add", "-q", "--detach", &place.display().to_string()]);
        }
        let task = checked_by(&format!("sh {}/lib.sh", place.display()));
        std::fs::write(play.world.path("task.md"), task).unwrap();
        let mut play = play;
        // The rules of the task ask for the row again and again; what matters is that it never passes.
        let said = play.start(&WORDS);
        assert!(said.code != Some(0) && said.err.contains("DoD-1"), "{}", said.err);
        assert!(!said.err.contains("DoD-1 passed"), "{}", said.err);
        assert_eq!(note(&play), "it exited with 2", "{linked}");
    }
}

#[test]
fn a_worker_and_a_setup_see_the_objects_of_the_repository_and_nothing_else_of_it() {
    if !holds() {
        return;
    }
    let mut play = Play::new(TASK, &script(&[]));
    let work = play.world.path("work").display().to_string();
    play.world.write(".env", "SECRET=x\n");
    std::fs::write(play.world.path("work/.git/info/exclude"), ".env\n").unwrap();
    play.world.git(&["remote", "add", "origin", "https://ada:a-password@example.org/x.git"]);
    let looks = format!(
        "ls -A {work} {work}/.git; cat {work}/README.md {work}/.env {work}/.git/config; git -C {work} remote -v; git remote -v\n\
         git log --oneline | head -1; git show HEAD:README.md; git status --short && echo clean"
    );
    let log = developer(&mut play, &looks);
    assert!(!log.contains("a-password") && !log.contains("SECRET"), "{log}");
    assert_eq!(log.matches("# A project").count(), 1, "only what the work tree has: {log}");
    assert!(log.contains("clean"), "{log}");
    // A place that a configuration names is seen, and nothing beside it.
    let config = play.world.path("home/.config/tollgate/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    let worker =
        format!("[worker.mine]\nadapter = \"command\"\ncommand = [\"agent\"]\nreads = [\"{work}/README.md\"]\n");
    std::fs::write(&config, worker).unwrap();
    play.run.clear();
    play.world.agent("agent", &format!("#!/bin/sh\ncat {work}/README.md {work}/.env\nexit 5\n"));
    play.start(&[&WORDS[..], &["--worker", "developer=mine"]].concat()).exits(1);
    let log = play.log("developer", 1);
    assert!(log.contains("# A project") && !log.contains("SECRET"), "{log}");
    // A setup is no exception.
    let setup = format!("[worktree]\nsetup = [\"sh\", \"-c\", \"cat {work}/README.md\"]\n");
    std::fs::write(&config, setup).unwrap();
    play.run.clear();
    play.start(&WORDS).exits(3).says("the setup").says("README.md: No such file or directory");
}

/// `.venv/bin` and `node_modules/.bin` of the checkout run what lies in the checkout.
#[test]
fn a_program_of_the_checkout_is_not_found_by_a_command_and_the_reason_says_so() {
    if !holds() {
        return;
    }
    let mut play = built(&checked_by("the-tool"));
    let bin = play.world.path("work/.venv/bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::fs::write(play.world.path("work/.git/info/exclude"), ".venv\n").unwrap();
    for (name, text) in [("bin/the-tool", "#!/bin/sh\ntrue\n"), ("editable.pth", "of the checkout\n")] {
        let file = play.world.path("work/.venv").join(name);
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}:{}", play.world.path("bin").display(), bin.display(), std::env::var("PATH").unwrap());
    play.world.set("PATH", &path);
    let said = play.start(&WORDS).says("PATH leads into your checkout").says("[worktree] setup");
    assert!(!said.err.contains("DoD-1 passed"), "{}", said.err);
    assert!(note(&play).contains("`the-tool` was found only in your checkout"), "{}", note(&play));
    assert!(note(&play).contains("[worktree] setup"), "{}", note(&play));
    let doctor = play.tollgate(&["doctor"]);
    assert!(doctor.out.contains(".venv/bin") && doctor.out.contains("[worktree] setup"), "{}", doctor.out);
    // A worker does not see the folder either, unless its own program lies there.
    play.run.clear();
    let log = developer(&mut play, &format!("cat {}/../editable.pth; the-tool || echo none", bin.display()));
    assert!(log.contains("none") && !log.contains("of the checkout"), "{log}");
    play.run.clear();
    std::fs::write(bin.join("mine"), format!("#!/bin/sh\ncat {}/../editable.pth\nexit 5\n", bin.display())).unwrap();
    std::fs::set_permissions(bin.join("mine"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    play.start(&[&WORDS[..], &["--worker", "developer=command:mine"]].concat()).exits(1);
    assert!(play.log("developer", 1).contains("of the checkout"), "its own installation");
    // A folder of programs at the top of the checkout is no installation, or the checkout would be one.
    play.run.clear();
    let own = play.world.path("work/bin/agent");
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    std::fs::write(play.world.path("work/.git/info/exclude"), ".venv\nbin\n").unwrap();
    std::fs::write(
        &own,
        format!("#!/bin/sh\necho began; cat {}/../README.md\nexit 5\n", own.parent().unwrap().display()),
    )
    .unwrap();
    std::fs::set_permissions(&own, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let worker = format!("developer=command:{}", own.display());
    play.start(&[&WORDS[..], &["--worker", &worker]].concat()).exits(1);
    let log = play.log("developer", 1);
    assert!(log.contains("began") && !log.contains("# A project"), "{log}");
}

#[test]
fn a_worker_has_the_name_of_the_person_and_none_of_their_credentials() {
    if !holds() {
        return;
    }
    for file in ["home/.gitconfig", "home/.config/git/config"] {
        let mut play = Play::new(TASK, &script(&[]));
        let path = play.world.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let config = "[user]\n\tname = Ada\n\temail = ada@example.org\n[credential]\n\thelper = store\n[http]\n\textraHeader = Authorization: a-password\n\
                      [url \"https://a-password@example.org/\"]\n\tinsteadOf = https://example.org/\n[alias]\n\tx = !sh\n";
        std::fs::write(&path, config).unwrap();
        let log = developer(
            &mut play,
            &format!(
                "cat {}; git config --list; git commit -q --allow-empty -m own && git log -1 --format='%an <%ae>'",
                path.display()
            ),
        );
        assert!(log.contains("Ada <ada@example.org>"), "{log}");
        for word in ["a-password", "credential", "insteadof", "alias"] {
            assert!(!log.to_lowercase().contains(word), "{word}: {log}");
        }
    }
}

const CONNECT: &str = "import socket, sys\nfor path in sys.argv[1:]:\n  try:\n    socket.socket(socket.AF_UNIX).connect(path)\n    print('reached', path)\n  \
                       except OSError as error:\n    print('refused', path)\n";

/// What listens may type for the person, or hand on a file that is open. Landlock has nothing to say about it.
#[test]
fn no_socket_of_another_is_reached_wherever_it_lies() {
    if !holds() {
        return;
    }
    let mut play = Play::new(TASK, &script(&[]));
    let own = format!("tollgate-test-{}.sock", std::process::id());
    std::fs::create_dir_all(play.world.path("state/trees/run_0000000a/other")).unwrap();
    let places = [
        std::env::temp_dir().join(&own),
        Path::new("/var/tmp").join(&own),
        Path::new("/var/lib").join(&own),
        Path::new("/run").join(&own),
        play.world.path("home/s.sock"),
        play.world.path("s.sock"),
        play.world.path("work/s.sock"),
        play.world.path("state/trees/run_0000000a/other/s.sock"),
    ];
    // Some of these folders can be written by root alone.
    let listening: Vec<_> = places.iter().filter_map(|path| Some((path, UnixListener::bind(path).ok()?))).collect();
    assert!(listening.len() >= 5);
    let paths = listening.iter().map(|(path, _)| path.display().to_string()).collect::<Vec<_>>().join(" ");
    let log =
        developer(&mut play, &format!("python3 - {paths} <<'END'\n{CONNECT}END\necho x > /tmp/{own}.txt && echo own"));
    let outside = std::env::temp_dir().join(format!("{own}.txt"));
    assert!(!outside.exists() && log.contains("own"), "its own /tmp: {log}");
    assert_eq!((log.matches("refused").count(), log.matches("reached").count()), (listening.len(), 0), "{log}");
    for (path, _) in &listening {
        std::fs::remove_file(path).ok();
    }
}

/// A check without a network does not speak with a worker that is at work, nor two workers with each other.
#[test]
fn a_command_does_not_reach_a_socket_of_a_work_tree() {
    if !holds() {
        return;
    }
    let play = built("");
    let socket = play.world.path("state/trees/s.sock");
    std::fs::create_dir_all(socket.parent().unwrap()).unwrap();
    let _listening = UnixListener::bind(&socket).unwrap();
    let code = format!("import socket; socket.socket(socket.AF_UNIX).connect('{}')", socket.display());
    std::fs::write(play.world.path("task.md"), checked_by(&format!("python3 -c \"{code}\""))).unwrap();
    let mut play = play;
    let said = play.start(&WORDS);
    assert!(!said.err.contains("DoD-1 passed"), "{}", said.err);
    assert_eq!(note(&play), "it exited with 1");
}
