//! The programs that Tollgate itself starts outside of every sandbox, and those that a person does: no worker puts another in their place.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Stdio};

use crate::leash::{WORDS, developer, holds, printed};
use crate::out_of_sight::note;
use crate::play::{BUILT, IDLE, Play, Said, TASK, at, else_, script};

/// Writes a program.
pub fn executable(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Puts another file in the place of a program.
fn replace(path: &Path, by: &Path) {
    let next = path.with_extension("next");
    std::fs::copy(by, &next).unwrap();
    std::fs::rename(next, path).unwrap();
}

/// Starts a run by a copy of this program whose developer waits in its work tree until the test lets it go on.
fn start(play: &mut Play, tollgate: &Path) -> Child {
    let report = "## Status\ncomplete\n\n## Abstract\noutcome: built\nverdict: n/a\nfiles: 1 created, 0 modified, 0 deleted\n\
                  next_phase: dod-checker\nopen_questions: 0\n\n## Files created\n- greet.sh\n\n## DoD coverage\n- ✓ DoD-1\n";
    let acts = format!(
        "#!/bin/sh\ncat > /dev/null\n[ \"$TOLLGATE_ITERATION\" = 1 ] || exit 5\ntouch waits\nwhile [ -e waits ]; do sleep 0.05; done\n\
         echo 'echo Hello' > greet.sh\ncat > \"$TOLLGATE_REPORT\" <<'END'\n{report}END\n"
    );
    play.world.agent("agent", &acts);
    let words = ["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml"];
    let words = [&words[..], &WORDS, &["--worker", "developer=command:agent"]].concat();
    let mut child = play.world.program_at(tollgate, &words).stdin(Stdio::null()).spawn().unwrap();
    play.find_run(&mut child);
    child
}

/// Waits until the developer is at work, and lets it go on after `between`.
fn meanwhile(play: &Play, between: impl FnOnce()) {
    let waits = play.world.path(&format!("state/trees/{}/backend/waits", play.run));
    play.until("the developer waits", |_| waits.exists().then_some(()));
    between();
    std::fs::remove_file(waits).unwrap();
}

/// With its own file replaced in mid-run by one that does nothing, every command would pass.
#[test]
fn a_helper_that_was_replaced_holds_and_runs_as_before() {
    if !holds() {
        return;
    }
    // Nor does a command find another program by the name of this one.
    let line = "sh greet.sh; tollgate --version | grep '^tollgate ' && exit 3; false";
    let task = TASK.replace("greet.sh greets", &format!("greet.sh greets `cmd: {line}`"));
    let mut play = Play::new(&task, &script(&[("developer", &[at(1, BUILT), else_(IDLE)])]));
    let tollgate = play.world.path("bin/tollgate");
    std::fs::copy(env!("CARGO_BIN_EXE_tollgate"), &tollgate).unwrap();
    let child = start(&mut play, &tollgate);
    meanwhile(&play, || replace(&tollgate, Path::new("/bin/true")));
    let said = Said::of(child.wait_with_output().unwrap());
    assert!(said.err.contains("DoD-1 failed") && !said.err.contains("DoD-1 passed"), "{}", said.err);
    assert_eq!(note(&play), "it exited with 3");
}

/// Git runs outside of every sandbox.
#[test]
fn a_git_that_was_replaced_ends_the_driver_and_the_next_one_uses_the_new_one() {
    let mut play = Play::new(TASK, &script(&[("developer", &[at(1, BUILT), else_(IDLE)])]));
    let git = play.world.path("bin/git");
    let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|folder| folder.join("git"))
        .find(|path| path.exists())
        .unwrap();
    let ran = play.world.path("ran");
    executable(&git, &format!("#!/bin/sh\nexec {} \"$@\"\n", real.display()));
    let child = start(&mut play, Path::new(env!("CARGO_BIN_EXE_tollgate")));
    let planted = play.world.path("planted");
    executable(&planted, &format!("#!/bin/sh\ntouch {}\nexec {} \"$@\"\n", ran.display(), real.display()));
    meanwhile(&play, || replace(&git, &planted));
    Said::of(child.wait_with_output().unwrap()).exits(3).says("TG0545").says("tollgate resume");
    assert!(!ran.exists(), "nobody started it");
    play.world.agent("agent", "#!/bin/sh\nexit 5\n");
    play.tollgate(&["resume", "RUN"]).exits(1).says("its program exited with 5");
    assert!(ran.exists());
}

#[test]
fn a_worker_plants_no_program_in_a_folder_of_the_search_path() {
    if !holds() {
        return;
    }
    for there in [true, false] {
        let mut play = Play::new(TASK, &script(&[]));
        let (local, bin) = (play.world.path("home/.local"), play.world.path("home/.local/bin"));
        std::fs::create_dir_all(&local).unwrap();
        if there {
            executable(&bin.join("tool"), "#!/bin/sh\necho the tool\n");
        }
        let config = play.world.path("home/.config/tollgate/config.toml");
        std::fs::create_dir_all(config.parent().unwrap()).unwrap();
        let worker = "[worker.mine]\nadapter = \"command\"\ncommand = [\"agent\"]\nwrites = [\"~/.local/\"]\n";
        std::fs::write(&config, worker).unwrap();
        let path = format!("{}:{}:{}", bin.display(), play.world.path("bin").display(), std::env::var("PATH").unwrap());
        play.world.set("PATH", &path);
        let plant = "cd ~/.local; for name in git tollgate tool; do cp /bin/true bin/$name; done; mkdir -p bin; echo x > bin/git\n\
                     mv bin elsewhere; rm -rf bin; chmod 777 bin; echo x > other && echo wrote; tool";
        play.world.agent("agent", &format!("#!/bin/sh\n{plant}\nexit 5\n"));
        play.start(&[&WORDS[..], &["--worker", "developer=mine"]].concat()).exits(1).says("its program exited with 5");
        let log = play.log("developer", 1);
        assert!(log.contains("wrote") && log.contains("the tool") == there, "{there}: {log}");
        let left: Vec<_> = std::fs::read_dir(&bin).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, if there { vec!["tool"] } else { vec![] }, "{log}");
        // Without mounts nothing could keep it, and that is said before anything is started.
        play.world.set("TOLLGATE_SANDBOX_WITHOUT", "mounts");
        play.start(&[&WORDS[..], &["--worker", "developer=mine"]].concat())
            .exits(1)
            .says("TG0604")
            .says("a folder of PATH")
            .says("private mounts");
    }
}

/// A link to a folder of programs is as good as the folder: who lays another one has put programs there.
#[test]
fn a_worker_changes_no_link_that_leads_to_a_folder_of_the_search_path() {
    if !holds() {
        return;
    }
    let mut play = Play::new(TASK, &script(&[]));
    let (agent, tools) = (play.world.path("home/.agent"), play.world.path("opt"));
    executable(&tools.join("v1/bin/tool"), "#!/bin/sh\necho the tool\n");
    std::fs::create_dir_all(&agent).unwrap();
    // `bin` leads to a folder beside it, over a link in between.
    std::os::unix::fs::symlink(tools.join("v1"), agent.join("current")).unwrap();
    std::os::unix::fs::symlink("current/bin", agent.join("bin")).unwrap();
    let config = play.world.path("home/.config/tollgate/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    let worker = "[worker.mine]\nadapter = \"command\"\ncommand = [\"agent\"]\nwrites = [\"~/.agent/\"]\n";
    std::fs::write(&config, worker).unwrap();
    let folders = [play.world.path("bin"), agent.join("bin")].map(|folder| folder.display().to_string()).join(":");
    play.world.set("PATH", &format!("{folders}:{}", std::env::var("PATH").unwrap()));
    let plant = "cd ~/.agent; mkdir -p evil/bin; cp /bin/true evil/bin/git; ln -sfn evil/bin bin; ln -sfn evil current\n\
                 mv bin gone; mv current gone; rm -f bin current; echo x > other && echo wrote; tool";
    play.world.agent("agent", &format!("#!/bin/sh\n{plant}\nexit 5\n"));
    play.start(&[&WORDS[..], &["--worker", "developer=mine"]].concat()).exits(1).says("its program exited with 5");
    let log = play.log("developer", 1);
    assert!(log.contains("wrote") && log.contains("the tool"), "{log}");
    assert_eq!(agent.join("bin").read_link().unwrap(), Path::new("current/bin"));
    assert_eq!(agent.join("current").read_link().unwrap(), tools.join("v1"));
}

/// What could answer in the place of the helper is not for the program that it holds: that one has fewer rights than the helper.
#[test]
fn a_program_learns_nothing_of_the_helper_that_holds_it() {
    if !holds() {
        return;
    }
    let mut play = Play::new(TASK, &script(&[]));
    let log = developer(
        &mut play,
        "tr '\\0' ' ' < /proc/1/cmdline; ls /proc/1/fd; cat /proc/1/environ; readlink /proc/1/fd/0; echo looked",
    );
    assert!(log.contains("looked") && log.contains("init "), "{log}");
    assert!(!log.contains("\"answer\"") && !log.contains("socket:") && !log.contains("TOLLGATE"), "{log}");
}

#[test]
fn a_relative_folder_of_the_search_path_reaches_nobody() {
    let task = TASK.replace("greet.sh greets", "greet.sh greets `cmd: echo \"path $PATH\"; false`");
    let mut play = Play::new(&task, &script(&[("developer", &[at(1, BUILT), else_(IDLE)])]));
    let path = format!(".::bin:{}:{}:", play.world.path("bin").display(), std::env::var("PATH").unwrap());
    play.world.set("PATH", &path);
    play.start(&WORDS);
    let shown = printed(&play);
    play.run.clear();
    let log = developer(&mut play, "echo \"path $PATH\"");
    for text in [shown, log] {
        let line = text.lines().find_map(|line| line.strip_prefix("path ")).unwrap();
        assert!(line.split(':').all(|folder| folder.starts_with('/')), "{line}");
    }
}
