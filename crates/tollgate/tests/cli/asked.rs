//! One card with several questions: each is answered by itself, put off, skipped or cancelled, with who and why.

use crate::play::{BLOCKED, BUILT, Play, at, else_};
use tollgate_core::run::Event;

#[test]
fn the_questions_of_a_report_are_answered_one_by_one() {
    let (play, said) = Play::standard(&[("developer", &[at(1, BLOCKED), else_(BUILT)])]);
    let said = said.exits(4).says("1. Which greeting: \"Hello\" or \"Good day\"?").says("2. Also in French?");
    said.says(&format!("tollgate decide {} dec_2 --answer 1='ANSWER' --answer 2='ANSWER'", play.run));
    play.decide(&["dec_2", "--answer", "2=not yet", "--no-wait"]).exits(4).says("answered by ada: not yet");
    play.decide(&["dec_2", "--answer", "3=x", "--no-wait"]).exits(1).says("a question of its 2, not 3");
    play.decide(&["dec_2", "--answer", "second"]).exits(2).says("NUMBER=TEXT");
    // What is put off is not asked for before its time, and can be answered all the same.
    play.decide(&["dec_2", "--defer", "yesterday"]).exits(2).says("is no time");
    play.decide(&["dec_2", "--cancel"]).exits(1).says("a reason");
    play.decide(&["dec_2", "--defer", "2h", "--why", "I ask Bob", "--no-wait"]).exits(4).says("is put off");
    assert!(play.tollgate(&["inbox"]).exits(0).out.is_empty());
    let shown = play.tollgate(&["show", "RUN"]).exits(0).out;
    assert!(shown.contains("put off, asked again in") && shown.contains("I ask Bob"), "{shown}");
    play.decide(&["dec_2", "--answer", "1=Hello"]).exits(0).says("question 1 of dec_2: Hello");
    let brief = play.brief("developer", 2);
    for pair in [["question 1", "Hello"], ["question 2", "not yet"]] {
        assert!(pair.iter().all(|text| brief.contains(text)), "{brief}");
    }
    assert_eq!(play.count(|event| matches!(event, Event::QuestionAnswered(_))), 2);
    play.holds();
}

#[test]
fn a_question_is_skipped_or_cancelled_only_with_a_reason() {
    let (play, said) = Play::standard(&[("developer", &[at(1, BLOCKED), else_(BUILT)])]);
    said.exits(4);
    play.decide(&["dec_2", "--skip", "--no-wait"]).exits(1).says("a reason");
    play.decide(&["dec_2", "--skip", "--why", "choose yourself"]).exits(0).says("ada skips dec_2: choose yourself");
    assert!(play.brief("developer", 2).contains("choose yourself"));
    let (play, said) = Play::standard(&[("developer", &[at(1, BLOCKED), else_(BUILT)])]);
    said.exits(4);
    play.decide(&["dec_2", "--cancel", "--why", "not wanted"]).exits(1).says("ada cancels dec_2: not wanted");
    play.holds();
}
