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
