//! Ways out of the leash that are no paths: the person's terminal, services that do things for whoever asks, files that were open
//! already; and things left in a tree at which whoever looks would wait for ever.

use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};

use crate::leash::{WORDS, developer, holds};
use crate::play::{BUILT, IDLE, Play, Said, TASK, at, else_, script};

const RUN: [&str; 6] = ["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml"];

/// Starts a run whose developer does this, by a program that starts it in turn.
fn started_by(play: &mut Play, program: &[&str], acts: &str) -> String {
    play.world.agent("agent", &format!("#!/bin/sh\n{acts}\nexit 5\n"));
    let typed = play.world.program(&[&RUN[..], &WORDS, &["--worker", "developer=command:agent"]].concat());
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).arg(typed.get_program()).args(typed.get_args()).env_clear();
    command.envs(typed.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.current_dir(typed.get_current_dir().unwrap()).stdin(Stdio::null()).output().unwrap();
    let said = Said { code: None, ..Said::of(output) };
    play.named_by(&Said { err: format!("{}{}", said.out, said.err), ..said });
    play.log("developer", 1)
}

/// Whoever has the person's terminal as their own can type into it what the shell takes for the person's.
#[test]
fn a_worker_has_no_terminal_of_the_persons() {
    if !holds() {
        return;
    }
    let spawn = ["python3", "-c", "import pty, sys; pty.spawn(sys.argv[1:])"];
    let acts = "python3 - <<'END'\nimport fcntl, os, pty, termios\n\
                try:\n  tty = os.open('/dev/tty', os.O_RDWR)\n  print('the terminal is open')\n  fcntl.ioctl(tty, termios.TIOCSTI, b'x')\n  print('and typed into')\n\
                except OSError as error:\n  print('no terminal')\n\
                print('others:', [name for name in os.listdir('/dev/pts') if name.isdigit()])\n\
                ours, theirs = pty.openpty()\nos.write(theirs, b'own\\n')\nprint('one of its', os.read(ours, 9).decode())\nEND";
    for without in ["", "processes,network"] {
        let mut play = Play::new(TASK, &script(&[]));
        play.world.set("TOLLGATE_SANDBOX_WITHOUT", without);
        let log = started_by(&mut play, &spawn, acts);
        assert!(log.contains("no terminal") && !log.contains("is open"), "{without}: {log}");
        assert!(log.contains("one of its own"), "{log}");
        assert!(!without.is_empty() || log.contains("others: []"), "{log}");
    }
}

/// Landlock has nothing to say about who connects to a socket, and what listens there may start a program for whoever asks.
#[test]
fn a_worker_reaches_no_service_that_would_do_things_for_it() {
    if !holds() {
        return;
    }
    // Who names one wants it.
    for named in [false, true] {
        let mut play = Play::new(TASK, &script(&[]));
        let (folder, config) = (play.world.path("home/.docker/run"), play.world.path("home/.config/tollgate"));
        let (engine, agent) = (folder.join("docker.sock"), play.world.path("agent.sock"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::create_dir_all(&config).unwrap();
        let _listening = [UnixListener::bind(&engine).unwrap(), UnixListener::bind(&agent).unwrap()];
        play.world.set("SSH_AUTH_SOCK", &agent.display().to_string());
        let worker = "[worker.mine]\nadapter = \"command\"\ncommand = [\"agent\"]\n";
        let reads = format!("reads = [\"~/.docker/run/docker.sock\", \"{}\"]\n", agent.display());
        let worker = if named { format!("{worker}{reads}") } else { worker.to_owned() };
        std::fs::write(config.join("config.toml"), worker).unwrap();
        let acts = "import socket, sys\nfor path in sys.argv[1:]:\n  try:\n    socket.socket(socket.AF_UNIX).connect(path)\n    print('reached')\n  \
                    except OSError as error:\n    print('refused')\n";
        let (engine, agent) = (engine.display(), agent.display());
        play.world.agent("agent", &format!("#!/bin/sh\npython3 - {engine} {agent} <<'END'\n{acts}END\nexit 5\n"));
        play.start(&[&WORDS[..], &["--worker", "developer=mine"]].concat()).exits(1).says("its program exited with 5");
        let log = play.log("developer", 1);
        let word = if named { "reached" } else { "refused" };
        assert_eq!(log.matches(word).count(), 2, "{named}: {log}");
    }
}

#[test]
fn a_worker_is_handed_no_file_that_was_open_when_tollgate_was_started() {
    for sandbox in ["prefer", "off"] {
        let mut play = Play::new(TASK, &script(&[]));
        play.world.set("TOLLGATE_SANDBOX", sandbox);
        let kept = play.world.path("kept.txt");
        let shell = ["sh", "-c", &format!("exec \"$0\" \"$@\" 7>>'{}'", kept.display())];
        let log = started_by(&mut play, &shell, "(echo evil >&7) 2>/dev/null && echo wrote; echo ended");
        assert!(log.contains("ended") && !log.contains("wrote"), "{log}");
        assert_eq!(std::fs::read_to_string(kept).unwrap(), "", "{sandbox}");
    }
}

/// Whoever opens a pipe waits until somebody writes into it.
#[test]
fn a_pipe_in_the_place_of_what_is_read_is_found_and_nobody_waits_at_it() {
    for (acts, why) in [
        ("rm -f .git/packed-refs; mkfifo .git/packed-refs", "git: packed-refs"),
        ("mkfifo .gitignore; echo x > y", "`.gitignore` is neither a file nor a folder nor a link"),
        ("mkdir d; mkfifo d/.gitattributes; echo x >> README.md", "`d/.gitattributes` is neither"),
    ] {
        let mut play = Play::new(TASK, &script(&[("developer", &[at(1, BUILT), else_(IDLE)])]));
        play.world.agent("agent", &format!("#!/bin/sh\n{acts}\nexit 5\n"));
        play.start(&[&WORDS[..], &["--worker", "developer=command:agent"]].concat()).exits(1).says(why);
        // The next one starts where the last one was to start.
        play.world.agent("agent", "#!/bin/sh\nls -A; exit 5\n");
        play.tollgate(&["retry", "RUN"]).exits(1).says("its program exited with 5");
        let log = play.log("developer", 2);
        assert!(!log.contains(".gitignore") && log.contains("README.md"), "{log}");
        play.holds();
    }
}

/// Some tools install themselves into the folder in which they keep their keys.
#[test]
fn a_program_in_the_search_path_opens_no_keys_beside_it() {
    if !holds() {
        return;
    }
    let mut play = Play::new(TASK, &script(&[]));
    let tool = play.world.path("home/.cloud");
    for (file, text) in [
        ("bin/cloud", "#!/bin/sh\n. \"$(dirname \"$0\")/../lib/words\"\n"),
        ("lib/words", "echo works\n"),
        ("token", "a key\n"),
    ] {
        std::fs::create_dir_all(tool.join(file).parent().unwrap()).unwrap();
        std::fs::write(tool.join(file), text).unwrap();
    }
    let runs = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(tool.join("bin/cloud"), runs).unwrap();
    let path = format!(
        "{}:{}:{}",
        play.world.path("bin").display(),
        tool.join("bin").display(),
        std::env::var("PATH").unwrap()
    );
    play.world.set("PATH", &path);
    let log = developer(&mut play, "cloud; cat ~/.cloud/token");
    assert!(log.contains("works") && !log.contains("a key"), "{log}");
}

/// Neither has a path: Landlock and mounts know nothing of them.
#[test]
fn a_worker_reaches_no_shared_memory_and_no_key_of_the_session() {
    if !holds() {
        return;
    }
    let python = |code: &str| {
        let output = Command::new("python3").args(["-c", code]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let library = "import ctypes, os, sys\nlibc = ctypes.CDLL(None, use_errno=True)\n";
    let memory = python(&format!("{library}print(libc.shmget(0, 4096, 0o600 | 0o1000))"));
    // Add a key to a session keyring of its own, then become what is started.
    let start = format!(
        "{library}libc.syscall(250, 1, None)\nlibc.syscall(248, b'user', b'a-key-of-the-session', b'secret', 6, -3)\n\
         print('held' if libc.syscall(250, 10, -3, b'user', b'a-key-of-the-session', 0) > 0 else 'none', file=sys.stderr)\n\
         os.execv(sys.argv[1], sys.argv[1:])"
    );
    let acts = format!(
        "python3 - <<'END'\n{library}libc.shmat.restype = ctypes.c_void_p\n\
         print('memory', 'reached' if libc.shmat({memory}, None, 0) != ctypes.c_void_p(-1).value else 'refused')\n\
         print('key', 'reached' if libc.syscall(250, 10, -3, b'user', b'a-key-of-the-session', 0) > 0 else 'refused')\nEND"
    );
    for sandbox in ["prefer", "off"] {
        let mut play = Play::new(TASK, &script(&[]));
        play.world.set("TOLLGATE_SANDBOX", sandbox);
        let log = started_by(&mut play, &["python3", "-c", &start], &acts);
        let word = if sandbox == "off" { "reached" } else { "refused" };
        // A system that keeps no keys has none to be reached.
        assert!(log.contains(&format!("memory {word}")), "{sandbox}: {log}");
        assert!(sandbox == "off" || log.contains("key refused"), "{log}");
    }
    python(&format!("{library}libc.shmctl({memory}, 0, None)"));
}

/// A home folder may be a repository, be in the search path, or not be the one that the system has for the account.
#[test]
fn keys_stay_closed_whatever_the_home_folder_is() {
    if !holds() {
        return;
    }
    let key = |play: &Play, folder: &str| {
        let place = play.world.path(folder).join(".aws");
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("credentials"), "a key\n").unwrap();
        format!("cat {}/credentials; echo looked", place.display())
    };
    let mut play = Play::new(TASK, &script(&[]));
    let acts = key(&play, "work");
    std::fs::write(play.world.path("work/.git/info/exclude"), ".aws\n").unwrap();
    play.world.set("HOME", &play.world.path("work").display().to_string());
    let log = developer(&mut play, &format!("{acts}; git log --oneline || echo blind"));
    assert!(log.contains("looked") && !log.contains("a key") && !log.contains("blind"), "{log}");

    let mut play = Play::new(TASK, &script(&[]));
    let acts = key(&play, "home");
    let home = play.world.path("home");
    std::fs::write(home.join("tool"), "#!/bin/sh\necho works\n").unwrap();
    std::fs::set_permissions(home.join("tool"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}:{}", play.world.path("bin").display(), home.display(), std::env::var("PATH").unwrap());
    play.world.set("PATH", &path);
    let log = developer(&mut play, &format!("{acts}; tool"));
    assert!(log.contains("works") && !log.contains("a key"), "{log}");

    let mut play = Play::new(TASK, &script(&[]));
    let log = developer(
        &mut play,
        "ls -A \"$(getent passwd $(id -u) | cut -d: -f6)\" >/dev/null && echo unlocked; echo looked",
    );
    assert!(log.contains("looked") && !log.contains("unlocked"), "{log}");
}
