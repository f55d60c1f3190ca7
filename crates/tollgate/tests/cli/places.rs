//! `reads` and `writes` of a worker: what is given by a name is what the person named, and not what another worker made of it.

use crate::budget::looking;
use crate::leash::holds;
use crate::play::{Play, Said, TASK};

/// Two workers of one row: one writes a folder of the home, the other is given places inside of it.
fn play(maker: &str, reader: &str, places: &str) -> Play {
    let play = Play::new(TASK, "");
    std::fs::write(play.world.path("row.yaml"), looking()).unwrap();
    for folder in ["home/.config/tollgate", "home/.ssh", "home/w/sub"] {
        std::fs::create_dir_all(play.world.path(folder)).unwrap();
    }
    std::fs::write(play.world.path("home/.ssh/id"), "PRIVATE\n").unwrap();
    let config = format!(
        "[worker.m]\nadapter = \"command\"\ncommand = [\"w-maker\"]\nwrites = [\"~/w/\"]\n\
         [worker.r]\nadapter = \"command\"\ncommand = [\"w-reader\"]\n{places}\n[roles]\nmaker = \"m\"\nreader = \"r\"\n"
    );
    std::fs::write(play.world.path("home/.config/tollgate/config.toml"), config).unwrap();
    let report = "## Status\ncomplete\n\n## Abstract\noutcome: made\nverdict: n/a\nfiles: 0 created, 0 modified, 0 deleted\nnext_phase: n/a\nopen_questions: 0\n";
    for (name, acts) in [("w-maker", maker), ("w-reader", reader)] {
        let text = format!("#!/bin/sh\ncat > /dev/null\n{acts}\ncat > \"$TOLLGATE_REPORT\" <<'END'\n{report}END\n");
        play.world.agent(name, &text);
    }
    play
}

fn run(play: &mut Play) -> Said {
    let said = play.tollgate(&["run", "../row.yaml", "--no-wait"]);
    play.named_by(&said);
    said
}

#[test]
fn a_link_that_a_worker_laid_gives_the_next_one_nothing() {
    if !holds() {
        return;
    }
    let reads = "cat ~/w/sub/id; echo k > ~/w/sub/authorized_keys";
    for places in ["writes = [\"~/w/sub/\"]", "reads = [\"~/w/sub\"]", "writes = [\"~/w/sub/new/deep/\"]"] {
        let mut play = play("rmdir ~/w/sub; ln -s ~/.ssh ~/w/sub", reads, places);
        let said = run(&mut play).exits(3).says("w/sub is a link").says("tollgate retry");
        assert_eq!(play.dispatched("reader"), 1, "{}", said.err);
        assert_eq!(std::fs::read_dir(play.world.path("home/.ssh")).unwrap().count(), 1, "{places}");
        // The next run is told before anything starts.
        play.tollgate(&["run", "../row.yaml", "--no-wait"]).exits(1).says("TG0604").says("w/sub is a link");
        // Once it is gone, the run goes on.
        std::fs::remove_file(play.world.path("home/w/sub")).unwrap();
        std::fs::create_dir(play.world.path("home/w/sub")).unwrap();
        play.tollgate(&["retry", "RUN", "--no-wait"]).exits(0);
    }
    // A link of the person's own, where no worker writes, is the person's word.
    let mut play = play("echo x > ~/w/x", "echo x > ~/w/sub/x || exit 9", "writes = [\"~/w/sub/\"]");
    std::fs::rename(play.world.path("home/w"), play.world.path("home/else")).unwrap();
    std::os::unix::fs::symlink("else", play.world.path("home/w")).unwrap();
    run(&mut play).exits(0);
    assert!(play.world.path("home/else/sub/x").exists());
}

#[test]
fn the_person_s_own_configuration_is_given_to_nobody() {
    for place in ["~/.config/tollgate/", "~/.config/", "~/.config/tollgate/config.toml", "~/w/../.config/"] {
        let play = play("echo '# more' >> ~/.config/tollgate/config.toml", "", &format!("writes = [\"{place}\"]"));
        let before = std::fs::read_to_string(play.world.path("home/.config/tollgate/config.toml")).unwrap();
        play.tollgate(&["run", "../row.yaml", "--no-wait"])
            .exits(1)
            .says("TG0604")
            .says("the configuration of Tollgate itself lies there");
        let told = play.tollgate(&["doctor"]);
        assert!(format!("{}{}", told.out, told.err).contains("cannot be given"), "{}", told.out);
        assert_eq!(std::fs::read_to_string(play.world.path("home/.config/tollgate/config.toml")).unwrap(), before);
    }
    let mut beside = play("echo x > ~/w/x", "echo x > ~/.config/git/x", "writes = [\"~/.config/git/\"]");
    run(&mut beside).exits(0);
}
