//! A real terminal: the question is asked at once, and the typed answer drives the run on.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::play::{BLOCKED, BUILT, Play, TASK, at, else_, script};

/// A program on a terminal of its own.
struct Terminal {
    keys: File,
    screen: Receiver<Vec<u8>>,
    seen: String,
    child: Child,
}

impl Terminal {
    fn open(play: &Play, words: &[&str]) -> Self {
        let keys = File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap());
        grantpt(&keys).unwrap();
        unlockpt(&keys).unwrap();
        let name = ptsname(&keys, Vec::new()).unwrap();
        let open = || Stdio::from(File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap());
        let mut command = play.world.program(words);
        command.stdin(open()).stdout(open()).stderr(open()).env("TERM", "xterm").env("COLUMNS", "80");
        let child = command.spawn().unwrap();
        drop(command);
        let (sender, screen) = channel();
        let mut from = keys.try_clone().unwrap();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // A terminal whose last user is gone cannot be read any more.
            while let Ok(read @ 1..) = from.read(&mut bytes) {
                if sender.send(bytes[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { keys, screen, seen: String::new(), child }
    }

    /// Waits until this stands on the screen, after what was waited for before.
    #[track_caller]
    fn shows(&mut self, text: &str) -> &mut Self {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !self.seen.contains(text) {
            assert!(Instant::now() < deadline, "`{text}` is not on the screen:\n{}", self.seen);
            if let Ok(bytes) = self.screen.recv_timeout(Duration::from_millis(50)) {
                self.seen.push_str(&String::from_utf8_lossy(&bytes));
            }
        }
        let at = self.seen.find(text).unwrap() + text.len();
        self.seen.drain(..at);
        self
    }

    fn types(&mut self, text: &str) -> &mut Self {
        self.keys.write_all(text.as_bytes()).unwrap();
        self
    }

    fn ends(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

fn words<'a>() -> Vec<&'a str> {
    let task = ["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml"];
    [&task[..], &["--input", "complexity=standard"]].concat()
}

#[test]
fn questions_are_asked_at_once_and_typed_answers_drive_the_run_on() {
    let mut play = Play::new(TASK, &script(&[("developer", &[at(1, BLOCKED), else_(BUILT)])]));
    let mut terminal = Terminal::open(&play, &words());
    terminal.shows("greet.sh greets").shows("Build this plan?").shows("option> ").types("aprove\n");
    terminal.shows("TG0305").shows("option> ").types("approve\n");
    terminal.shows("developer works").shows("▶").shows("Also in French?").shows("answer> ").types("Hello, no French\n");
    terminal.shows("succeeded");
    assert_eq!(terminal.ends(), Some(0));
    play.find_run(&mut terminal.child);
    assert!(play.brief("developer", 2).contains("Hello, no French"));
    play.holds();
}

#[test]
fn whoever_leaves_a_question_leaves_it_open_and_an_answer_from_elsewhere_is_seen() {
    let mut play = Play::new(TASK, &script(&[]));
    let mut terminal = Terminal::open(&play, &words());
    terminal.shows("option> ");
    kill_process(Pid::from_child(&terminal.child), Signal::INT).unwrap();
    terminal.shows("waits for an answer").shows("dec_1 approve");
    assert_eq!(terminal.ends(), Some(4));
    play.find_run(&mut terminal.child);
    let run = play.run.clone();
    let mut terminal = Terminal::open(&play, &["resume", &run]);
    terminal.shows("option> ").types("\n").shows("waits for an answer");
    assert_eq!(terminal.ends(), Some(4));
    let mut terminal = Terminal::open(&play, &["resume", &run]);
    terminal.shows("option> ");
    play.decide(&["dec_1", "approve", "--no-resume"]).exits(0);
    terminal.shows("ada answers dec_1: approve").shows("succeeded");
    assert_eq!(terminal.ends(), Some(0));
    play.holds();
}
