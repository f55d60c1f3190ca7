//! Inputs that were not given with the run are asked for on one card, before any stage is entered.

use crate::play::{Play, Said, TASK, script};
use tollgate_core::run::Event;

const SIGNED: [&str; 2] = ["--answer", "sign-off=approve"];

fn asked(task: &str) -> (Play, Said) {
    let mut play = Play::new(task, &script(&[]));
    let said = play.start(&[&SIGNED[..], &["--no-wait"]].concat());
    (play, said)
}

#[test]
fn a_run_asks_for_the_inputs_that_were_not_given() {
    let (play, said) = asked(TASK);
    let said = said.exits(4).says("Which inputs does this run of `build-plan` have?").says("1. `complexity`, one of");
    said.says("- standard").says(&format!("tollgate decide {} dec_1 --answer complexity='VALUE'", play.run));
    assert_eq!(play.count(|event| matches!(event, Event::FlowEntered(_) | Event::LedgerPlanned(_))), 0);
    assert!(play.tollgate(&["show", "RUN"]).exits(0).out.contains("--answer complexity='VALUE'"));
    let (items, _) = play.world.json("inbox --json");
    let (class, question) = (&items[0]["decision"]["class"], &items[0]["decision"]["questions"][0]);
    assert_eq!((class, &question["input"]), (&"intake".into(), &"complexity".into()));
    // What it may not have is refused at once, and the card stays as it was.
    let decide = |answer: &str| play.decide(&["dec_1", "--answer", answer, "--no-wait"]);
    decide("complexity=heroic").exits(2).says("TG0311").says("`heroic` is not one of simple, standard, complex");
    decide("complexity=").exits(1).says("TG0306").says("a value of `complexity`, not nothing").silent_on("--text");
    decide("speed=fast").exits(1).says("TG0306").says("a value of `complexity`, not of `speed`");
    play.decide(&["dec_1", "--skip", "--why", "later"]).exits(1).says("no stage is entered without them");
    play.decide(&["dec_1", "--defer", "2h", "--no-wait"]).exits(4).says("put off");
    assert_eq!(play.count(|event| matches!(event, Event::QuestionAnswered(_))), 0);
    decide("complexity=standard").exits(0).says("succeeded");
    decide("complexity=simple").exits(1).says("already answered with `standard`");
    let listed = play.tollgate(&["decisions", "RUN"]).exits(0).out;
    assert!(
        listed.contains("dec_1  intake for run, answered") && listed.contains("answered by ada: standard"),
        "{listed}"
    );
    let brief = play.brief("developer", 1);
    assert!(brief.contains("complexity: standard") && !brief.contains("Which inputs"), "{brief}");
    play.holds();
}

/// Documents are read with all inputs; one that no value of them would let pass is refused before anything starts.
#[test]
fn documents_wait_for_the_inputs_that_say_how_they_are_read() {
    let (play, said) = asked("# T\n\n## Definition of Done\n\n### Database\n- a table\n");
    said.exits(1).says("TG0");
    assert_eq!(play.run, "");
    let scoped = TASK.replace("### Backend\n", "### Backend\nScope: `greet.sh`\n");
    let (play, said) = asked(&scoped);
    said.exits(4);
    let decide = |answer: &str| play.decide(&["dec_1", "--answer", answer, "--no-wait"]);
    decide("complexity=simple").exits(1).says("the scope of `backend` would not be enforced");
    decide("complexity=standard").exits(0).says("succeeded");
    assert!(play.tollgate(&["show", "RUN", "--json"]).out.contains(r#""scope":["greet.sh"]"#));
    play.holds();
}

/// What is wrong on the command line is refused before there is a run, and what is given there is not asked for.
#[test]
fn inputs_that_are_given_are_looked_at_before_the_run() {
    let mut play = Play::new(TASK, &script(&[]));
    play.start(&["--input", "speed=fast", "--no-wait"]).exits(2).says("the protocol has no such input");
    play.start(&["--input", "sides=kitchen", "--no-wait"]).exits(2).says("`kitchen` is not one of backend, frontend");
    play.start(&["--answer", "complexity=huge", "--no-wait"]).exits(2).says("`huge` is not one of");
    assert_eq!(play.run, "");
    let both = ["--input", "complexity=simple", "--answer", "complexity=standard"];
    play.start(&both).exits(2).says("`complexity` is given twice");
    play.start(&[&SIGNED[..], &["--answer", "complexity=standard", "--no-wait"]].concat()).exits(0).says("succeeded");
    assert_eq!(play.count(|event| matches!(event, Event::InputsGiven(_))), 0);
    play.holds();
}

#[test]
fn a_run_that_waits_for_its_inputs_can_be_cancelled() {
    let (play, said) = asked(TASK);
    said.exits(4);
    play.tollgate(&["cancel", "RUN"]).exits(0);
    play.decide(&["dec_1", "--answer", "complexity=standard"]).exits(1).says("TG0");
    play.holds();
}

/// An empty list would make `all` of its lanes come at once, without any work.
#[test]
fn a_list_of_nothing_is_refused_when_the_run_starts() {
    let mut play = Play::new(TASK, &script(&[]));
    for list in ["sides=", "sides= , "] {
        let said = play.start(&[&SIGNED[..], &["--input", "complexity=standard", "--input", list]].concat());
        said.exits(2).says("TG0311").says("it names nothing: name one or more of backend, frontend");
    }
    assert_eq!(play.run, "");
}
