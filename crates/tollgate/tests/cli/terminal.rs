//! A real terminal: the question is asked at once, and the typed answer drives the run on.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::play::{BLOCKED, BUILT, CHANGES, COVERED, Play, TASK, at, else_, script};

/// A program on a terminal of its own.
struct Terminal {
    keys: File,
    screen: Receiver<Vec<u8>>,
    seen: String,
    child: Child,
}

impl Terminal {
    fn open(play: &Play, words: &[&str]) -> Self {
        Self::with(play, words, &[("COLUMNS", "80")])
    }

    fn with(play: &Play, words: &[&str], variables: &[(&str, &str)]) -> Self {
        let keys = File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap());
        grantpt(&keys).unwrap();
        unlockpt(&keys).unwrap();
        let name = ptsname(&keys, Vec::new()).unwrap();
        let open = || Stdio::from(File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap());
        let mut command = play.world.program(words);
        command.stdin(open()).stdout(open()).stderr(open()).env("TERM", "xterm").envs(variables.iter().copied());
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

    /// Everything that is printed until the program ends.
    fn all(mut self) -> String {
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut seen = std::mem::take(&mut self.seen).into_bytes();
        loop {
            match self.screen.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(bytes) => seen.extend(bytes),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let ended = self.child.try_wait();
                    panic!("somebody still has the terminal ({ended:?}):\n{}", String::from_utf8_lossy(&seen));
                }
            }
        }
        self.child.wait().unwrap();
        String::from_utf8(seen).unwrap().replace("\r\n", "\n")
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
    terminal.shows("TG0305").shows("option> ").types("approve not this\n");
    terminal.shows("TG0305").shows("option> ").types("approve --text as we said\n");
    terminal.shows("developer works").shows("▶").shows("Also in French?").shows("answer 1> ").types("Hello\n");
    terminal.shows("Also in French?").shows("answer 2> ").types("no French\n");
    terminal.shows("succeeded");
    assert_eq!(terminal.ends(), Some(0));
    play.find_run(&mut terminal.child);
    assert!(play.brief("developer", 2).contains("no French"));
    assert!(play.tollgate(&["show", "RUN", "--json"]).out.contains("as we said"));
    play.holds();
}

/// Inputs are asked for one by one, and what they may not have is asked for again.
#[test]
fn inputs_are_asked_for_at_the_terminal() {
    let play = Play::new(TASK, &script(&[]));
    let words =
        ["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml", "--answer", "sign-off=approve"];
    let mut terminal = Terminal::open(&play, &words);
    terminal.shows("`complexity`, one of").shows("- simple").shows("answer 1> ").types("heroic\n");
    terminal.shows("TG0311").shows("answer 1> ").types("standard\n").shows("succeeded");
    assert_eq!(terminal.ends(), Some(0));
}

/// What is to be signed is read in the terminal's columns, its bar beside every line.
#[test]
fn a_document_that_is_asked_about_fits_the_terminal() {
    let long = TASK.replace("greet.sh greets", &format!("greet.sh greets {}", "each and every one of them ".repeat(8)));
    let play = Play::new(&long, &script(&[]));
    let mut terminal = Terminal::open(&play, &words());
    terminal.types("\n");
    let all = without_colour(&terminal.all());
    let shown: Vec<&str> = all.lines().map(str::trim_end).filter(|line| line.contains("one of them")).collect();
    assert!(
        shown.len() > 2 && shown.iter().all(|line| line.starts_with("  │ ") && line.chars().count() <= 80),
        "{all}"
    );
}

#[test]
fn no_frame_speaks_of_questions_that_nobody_asked() {
    let play = Play::new(TASK, &script(&[]));
    let terminal = Terminal::open(&play, &[&words()[..], &["--answer", "sign-off=approve"]].concat());
    let all = terminal.all();
    assert!(all.contains("succeeded") && !all.contains("open questions"), "{all}");
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

/// The text without its colours.
fn without_colour(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| out + part.split_once('m').map_or(part, |(_, rest)| rest))
}

/// The same in a terminal of so many columns, with colour and without: colour adds nothing, and no line is broken by the
/// terminal but those with a word that nobody can break.
#[track_caller]
fn screen(play: &Play, columns: usize, words: &[&str]) -> String {
    let columns_text = columns.to_string();
    let size = ("COLUMNS", columns_text.as_str());
    let coloured = Terminal::with(play, words, &[size]).all();
    let plain = Terminal::with(play, words, &[size, ("NO_COLOR", "1")]).all();
    assert!(!plain.contains('\u{1b}'), "{plain}");
    // What holds workers is the machine's to say, and may differ from one look to the next.
    let same = |text: &str| play.world.filtered(&crate::look::timeless(text));
    assert_eq!(same(&without_colour(&coloured)), same(&plain));
    for line in plain.lines().filter(|line| line.split(' ').all(|word| word.chars().count() < 30)) {
        assert!(line.chars().count() <= columns, "{columns} columns: {line}");
    }
    plain
}

#[test]
fn pages_fit_the_terminal() {
    let play = Play::new(TASK, &script(&[]));
    for columns in [80, 140] {
        let mut seen = String::new();
        for words in [
            &["--help"][..],
            &["run", "--help"],
            &["explain", "TG0309"],
            &["protocol", "list"],
            &["contract", "list"],
            &["doctor", "build-plan"],
            &["run", "build-plan", "--task", "../task.md", "--input", "complexity=standard"],
            &["run", "bild-plan"],
        ] {
            seen += &format!("$ tollgate {}\n{}\n", words.join(" "), screen(&play, columns, words));
        }
        insta::assert_snapshot!(format!("pages_{columns}"), play.world.filtered(&seen));
    }
}

#[test]
fn runs_fit_the_terminal_however_they_stand() {
    let gap = crate::play::GAP.replace("greet.sh does not greet", &format!("{}none", "no greeting, ".repeat(8)));
    let (play, said) = Play::standard(&[("dod-checker", &[else_(&gap)])]);
    said.exits(4);
    let run = play.run.clone();
    let mut shown = String::new();
    let mut look = |play: &Play, columns: usize| {
        for words in
            [&["ls"][..], &["inbox"], &["decisions", &run], &["show", &run], &["logs", &run], &["verify", &run]]
        {
            let seen = play.world.filtered(&crate::look::timeless(&screen(play, columns, words)));
            if columns == 80 {
                shown += &format!("$ tollgate {}\n{seen}\n", words.join(" ").replace(&run, "[RUN]"));
            }
        }
    };
    look(&play, 80);
    look(&play, 140);
    play.decide(&["dec_2", "accept"]).exits(0);
    look(&play, 80);
    look(&play, 140);
    insta::assert_snapshot!(shown);
}

/// A question at the end of the live view: no answer is put forward, and what each means does not leave the screen.
#[test]
fn the_answers_to_a_question_fit_the_terminal_and_none_is_put_forward() {
    let mut play = Play::new(TASK, &script(&[("dod-checker", &[else_(crate::play::GAP)])]));
    let mut terminal = Terminal::open(&play, &[&words()[..], &["--answer", "sign-off=approve"]].concat());
    terminal.shows("dec_2 OPTION (accept, by-hand, abort)").shows("option> ").types("\n");
    terminal.shows("waits for an answer; nothing is lost");
    play.find_run(&mut terminal.child);
    let left = without_colour(&terminal.all());
    assert!(left.contains(&format!("tollgate decide {} dec_2 by-hand", play.run)), "{left}");
    assert!(left.lines().all(|line| line.chars().count() <= 80), "{left}");
    insta::assert_snapshot!(left.replace(&play.run, "[RUN]"));
}

/// Evidence that went stale, a waiver that did, what could not be observed, and bytes that would steer a terminal.
#[test]
fn the_matrix_of_evidence_fits_the_terminal() {
    let printed = r"printf 'one\033[2J\033]0;owned\007\r\n'";
    let rows =
        format!("- greet.sh greets `cmd: {printed}` `repeat: 2`\n- it is known `cmd: no-such-program --check`\n");
    let task = TASK.replace("- greet.sh greets\n", &rows);
    let again = BLOCKED.replace("report:", "write: {greet.sh: \"echo Good day\\n\"}, report:");
    let covered = COVERED.replace("\"DoD-1: greet.sh is there\"", "\"DoD-1: it is there\", \"DoD-2: it is\"");
    let developer = [at(1, BUILT), else_(&again)];
    let roles: [(&str, &[String]); 3] =
        [("developer", &developer), ("dod-checker", &[else_(&covered)]), ("reviewer", &[else_(CHANGES)])];
    let mut play = Play::new(&task, &script(&roles));
    play.start(&["--input", "complexity=standard", "--answer", "sign-off=approve"]).exits(4);
    let run = play.run.clone();
    let mut shown = String::new();
    let mut look = |play: &Play| {
        for columns in [80, 140] {
            let seen = screen(play, columns, &["show", &run, "--evidence"]);
            shown += &format!("{columns} columns\n{}\n", play.world.filtered(&seen));
        }
    };
    look(&play);
    // What is waived and reviewed is written anew, and with that nothing of it is fresh any more.
    play.decide(&["dec_2", "waive"]).exits(4).says("Which greeting");
    look(&play);
    insta::assert_snapshot!(shown);
    let (details, _) = play.world.json(&format!("show {run} --json"));
    let evidence = details[0]["criteria"][0]["evidence"].as_array().unwrap();
    let ran = evidence.iter().find(|one| one["source"] == "command").unwrap();
    assert_eq!((ran["fresh"].as_bool(), ran["runs"][1]["exit"].as_i64()), (Some(false), Some(0)));
    let object = ran["object"].as_str().unwrap();
    let seen = Terminal::open(&play, &["evidence", object]).all();
    assert!(seen.contains("one␛[2J␛]0;owned␇") && !seen.contains('\u{1b}'), "{seen:?}");
    assert!(play.tollgate(&["evidence", object]).out.contains("\u{1b}[2J"), "into a pipe the bytes go as they are");
    play.holds();
}

#[test]
fn what_a_terminal_obeys_stays_out_of_it() {
    let play = Play::new(TASK, &script(&[("developer", &[else_(BUILT)])]));
    let example = play.world.run("contract show team.output --example", "").stdout;
    let text = String::from_utf8(example).unwrap().replace("shows a total", "shows\u{202e} a total");
    play.world.write("report.json", text);
    for words in [
        &["contract", "render", "team.output", "--from", "report.json"][..],
        &["contract", "extract", "--contract", "team.output", "--text", "report.json"][..],
    ] {
        let seen = Terminal::open(&play, words).all();
        assert!(seen.contains("shows<U+202E> a total") && !seen.contains('\u{202e}'), "{seen}");
    }
}
