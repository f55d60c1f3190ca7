//! What failed is where the person looks: its last lines stand below the run's own, on the card, in `show` and in `inbox`.

use crate::play::{BUILT, Play, TASK, else_, script};

/// A worker that prints much, ends in an error and tries to steer the terminal.
const BROKEN: &str = "#!/bin/sh\ncat > /dev/null\nfor n in 1 2 3 4 5 6 7 8 9; do echo step $n; done >&2\n\
    printf '\\033[31merror:\\033[0m no such table: users\\007\\n' >&2\nexit 1\n";

#[test]
fn the_last_lines_of_a_worker_that_failed_are_told_at_once() {
    let mut play = Play::new(TASK, &script(&[]));
    play.world.agent("broken", BROKEN);
    let words = ["--input", "complexity=standard", "--answer", "sign-off=approve", "--worker"];
    let said = play.start(&[&words[..], &["developer=command:broken"]].concat());
    // In the line of the attempt, and again at the end, where the run halts or asks.
    let told = said.err.matches("│ error: no such table: users").count();
    assert!(told >= 2, "{}", said.err);
    assert!(!said.err.contains("step 2\n") && said.err.contains("│ step 9"), "{}", said.err);
    for words in [&["show", "RUN"][..], &["inbox"]] {
        let shown = play.tollgate(words).out;
        assert!(shown.contains("│ error: no such table: users"), "{shown}");
    }
    let (items, _) = play.world.json("inbox --json");
    let lines = items[0].pointer("/decision/last_lines/lines").or_else(|| items[0].pointer("/last_lines/0/lines"));
    let lines: Vec<&str> = lines.unwrap().as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    assert_eq!((lines.len(), lines[7]), (8, "error: no such table: users"));
}

#[test]
fn the_card_shows_what_a_failed_command_printed_and_what_it_rests_on() {
    let task = TASK
        .replace("- greet.sh greets", "- greet.sh greets `cmd: sh greet.sh; echo expected Hello, got nothing; exit 1`");
    let mut play = Play::new(&task, &script(&[("developer", &[else_(BUILT)])]));
    let said = play.start(&["--input", "complexity=standard", "--answer", "sign-off=approve"]).exits(4);
    let card = play.tollgate(&["decide", "RUN"]).exits(0);
    for shown in [&said.err, &card.err] {
        assert!(shown.contains("│ expected Hello, got nothing"), "{shown}");
        assert!(shown.contains("rows passed"), "{shown}");
        assert!(shown.contains("(fresh)"), "{shown}");
    }
    play.holds();
}
