//! Programs where the sandbox covers everything: this one is found by each worker and each command, others are refused before a run.

use crate::leash::{WORDS, holds};
use crate::own_programs::executable;
use crate::play::{Play, Said, TASK, script};

/// Below `/tmp`, which every program in a sandbox has to itself; the name of the folder has a blank and a letter that is not ASCII, and the
/// file is not called `tollgate`.
#[test]
fn a_program_below_tmp_is_found_by_the_scripts_of_workers_and_by_rows() {
    if !holds() {
        return;
    }
    let without = |part| ("TOLLGATE_SANDBOX_WITHOUT", part);
    for (variable, value) in
        [without(""), without("mounts"), without("processes"), without("files"), ("TOLLGATE_SANDBOX", "off")]
    {
        let mut play = Play::new("", &script(&[]));
        let folder = play.world.path("a clone \u{e9}/target");
        let place = folder.join("a program");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::copy(env!("CARGO_BIN_EXE_tollgate"), &place).unwrap();
        std::fs::write(folder.join("beside"), "beside\n").unwrap();
        let (place_text, beside) = (place.display(), folder.join("beside"));
        let is_off = value == "off";
        let unseen = if is_off { "true".to_owned() } else { format!("! cat '{}'", beside.display()) };
        let row = format!(
            "tollgate --version && '{place_text}' --version && test \"$(readlink -f \"$(command -v tollgate)\")\" = '{place_text}' && {unseen}"
        );
        std::fs::write(
            play.world.path("task.md"),
            TASK.replace("greet.sh greets", &format!("greet.sh greets `cmd: {row}`")),
        )
        .unwrap();
        let writes = if is_off {
            String::new()
        } else {
            format!(
                "for file in \"$(command -v tollgate)\" '{place_text}'; do echo x > \"$file\"; rm -f \"$file\"; done\n"
            )
        };
        let builds = play.world.path("agents/builds");
        executable(
            &builds,
            &format!(
                "#!/bin/sh\ncat > /dev/null\n{writes}echo 'echo Hi' > greet.sh\ntollgate report complete --file greet.sh --row DoD-1=pass:greet.sh\n"
            ),
        );
        // Nothing on the way there is in the search path, or an installation that is seen for that.
        play.world.set("PATH", &std::env::var("PATH").unwrap()).set(variable, value);
        let worker = format!("developer=command:{}", builds.display());
        let words = ["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml", "--worker", &worker];
        let said = Said::of(play.world.program_at(&place, &[&words[..], &WORDS].concat()).output().unwrap());
        play.named_by(&said);
        said.exits(0).says("DoD-1 passed");
        assert_eq!(play.file("greet.sh").as_deref(), Some("echo Hi\n"), "{variable}={value}");
        assert!(
            std::fs::read(&place).unwrap() == std::fs::read(env!("CARGO_BIN_EXE_tollgate")).unwrap(),
            "{variable}={value}"
        );
        play.holds();
    }
}

/// A person whose configuration lets everybody read these.
fn reads(play: &Play, places: &[&std::path::Path]) {
    let config = play.world.path("home/.config/tollgate/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    let text = if places.is_empty() { String::new() } else { format!("reads = {places:?}\n") };
    std::fs::write(config, text).unwrap();
}

/// Others would be paid before anybody learned that a row cannot be run.
#[test]
fn a_program_that_the_sandbox_covers_is_refused_before_the_run() {
    if !holds() {
        return;
    }
    let mut play = Play::new("", &script(&[]));
    let (tools, links) = (play.world.path("tools"), play.world.path("links"));
    executable(&tools.join("check"), "#!/bin/sh\nexit 0\n");
    executable(&tools.join("runs"), "#!/bin/sh\nexec sh \"$@\"\n");
    std::fs::create_dir_all(&links).unwrap();
    std::os::unix::fs::symlink(tools.join("check"), links.join("linked-check")).unwrap();
    let builds = play.world.path("agents/builds");
    let report = "tollgate report complete --file greet.sh --row DoD-1=pass:greet.sh";
    executable(&builds, &format!("#!{}/runs\ncat > /dev/null\necho true > greet.sh\n{report}\n", tools.display()));
    play.world.set("PATH", &format!("{}:{}", links.display(), std::env::var("PATH").unwrap()));
    let by_path = format!("{}/check --all", tools.display());
    let worker = format!("developer=command:{}", builds.display());
    let own = [&WORDS[..], &["--worker", &worker]].concat();
    for (row, words, who) in [
        (by_path.as_str(), &WORDS[..], "the command of DoD-1"),
        ("linked-check", &WORDS, "the command of DoD-1"),
        ("true", &own, "the worker of role `developer`"),
    ] {
        let task = TASK.replace("greet.sh greets", &format!("greet.sh greets `cmd: {row}`"));
        std::fs::write(play.world.path("task.md"), task).unwrap();
        reads(&play, &[]);
        let said = play.start(words).exits(3).says("TG0546").says(who).says("`reads`");
        assert!(said.err.contains(&tools.display().to_string()), "{}", said.err);
        assert_eq!(play.run, "", "there is no run");
        reads(&play, &[&tools]);
        play.start(words).exits(0).says("DoD-1 passed");
        play.run.clear();
    }
    // What nobody is given is given to nobody by this name either.
    reads(&play, &[&play.world.path("state")]);
    play.start(&WORDS).exits(1).says("TG0604").says("the state directory");
    // Where nothing is covered, nothing is missing.
    reads(&play, &[]);
    play.world.set("TOLLGATE_SANDBOX", "off");
    play.start(&own).exits(0);
}
