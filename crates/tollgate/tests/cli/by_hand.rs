//! What a person does to a work tree: taken with the answer, answered for, and never gone without a word.

use std::io::{BufRead, BufReader};

use tollgate_core::run::Event;
use tollgate_engine::service::Service;

use crate::play::{COVERED, GAP, Play, at, else_};
use crate::whole::{built, sides_script};

fn tree(play: &Play, name: &str) -> std::path::PathBuf {
    play.world.path(&format!("state/trees/{}/{name}", play.run))
}

/// What `show` says was put aside of a tree.
fn aside(play: &Play, name: &str) -> String {
    let shown = play.tollgate(&["show", "RUN"]).exits(0).out;
    let (_, aside) = shown.split_once("Put aside").unwrap_or_else(|| panic!("nothing is put aside in {shown}"));
    let look = aside.lines().skip(1).find(|line| line.trim_start().starts_with(name));
    look.unwrap_or_else(|| panic!("{aside}")).to_owned()
}

#[test]
fn what_is_changed_by_hand_and_not_given_back_is_put_aside_in_sight() {
    let (play, said) = Play::standard(&[("dod-checker", &[else_(GAP)])]);
    said.exits(4).says("trying again does not close them");
    locked_trees_are_not_shown(&play);
    let service = Service { state: play.world.path("state"), journal: play.journal() };
    let old = service.load(play.run.parse().unwrap()).unwrap();
    assert_eq!(service.trees_of(old.run()).0.into_values().next(), Some(tree(&play, "backend")));
    std::fs::write(tree(&play, "backend").join("greet.sh"), "by hand\n").unwrap();
    // The answer takes the work as it was, and nothing of what was changed since.
    play.decide(&["dec_2", "accept"]).exits(0).says("succeeded");
    assert_eq!(play.file("greet.sh").as_deref(), Some("echo Hello\n"));
    let look = aside(&play, "backend");
    let words: Vec<&str> = look.split_whitespace().skip_while(|word| *word != "git").collect();
    let output = std::process::Command::new("sh").args(["-c", &words.join(" ")]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("+by hand"), "{look}: {output:?}");
    play.holds();
    // Who has read the run before it went on, and looks now, touches nothing: somebody else may be there by now.
    std::fs::write(service.state.join(format!("runs/{}/hands/backend", play.run)), "back\n").unwrap();
    std::fs::write(tree(&play, "backend").join("late"), "somebody's\n").unwrap();
    assert!(service.trees_of(old.run()).0.is_empty());
    assert!(tree(&play, "backend").join("late").exists());
}

/// Who has the run's work in hand, and does not go on, holds up nobody who only looks, and is named.
fn locked_trees_are_not_shown(play: &Play) {
    let folder = play.world.path(&format!("state/runs/{}", play.run));
    std::fs::write(folder.join("hands/backend"), "back\n").unwrap();
    let lock = std::fs::File::options().read(true).write(true).open(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    for look in [&["show", "RUN"][..], &["inbox"]] {
        let said = play.tollgate(look).exits(0);
        let warnings = said.err.matches("warning[TG0517]").count();
        assert_eq!(warnings, 1, "{}", said.err);
        said.says("the work tree to change by hand is not shown");
    }
    lock.unlock().unwrap();
    let said = play.tollgate(&["inbox"]).exits(0).silent_on("TG0517");
    assert!(said.out.contains("look at: work tree"), "{}", said.out);
}

#[test]
fn what_is_changed_after_the_answer_is_put_aside_in_sight() {
    let slow = COVERED.replace("report:", "delay_ms: 1500, report:");
    let (play, said) = Play::standard(&[("dod-checker", &[at(4, &slow), else_(GAP)])]);
    said.exits(4);
    let file = tree(&play, "backend").join("greet.sh");
    std::fs::write(&file, "by hand\n").unwrap();
    let driver = play.program(&["decide", "RUN", "dec_2", "by-hand"]);
    play.until_event("it is given back", |event| matches!(event, Event::TreeChanged(_)));
    std::fs::write(&file, "too late\n").unwrap();
    assert!(driver.wait_with_output().unwrap().status.success());
    assert_eq!(play.file("greet.sh").as_deref(), Some("by hand\n"));
    aside(&play, "backend");
    play.holds();
}

#[test]
fn a_question_is_told_while_another_side_is_at_work() {
    let asks = r#"{unit: backend, iteration: 1, report: {status: blocked, status_reason: unclear, abstract: {outcome: stopped, next_phase: "stop, surface to human"}, open_questions: ["Which?"]}}"#;
    let slow = built("frontend", "web/a").replace("report:", "delay_ms: 10000, report:");
    let mut play = sides_script(&[("developer", asks.to_owned()), ("developer", slow)]);
    let words = ["--input", "complexity=complex", "--input", "sides=backend,frontend", "--answer", "sign-off=approve"];
    let all = [&["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml"], &words[..]].concat();
    let mut driver = play.program(&all);
    play.find_run(&mut driver);
    let said = BufReader::new(driver.stderr.take().unwrap()).lines().map(Result::unwrap);
    let told = said.into_iter().find(|line| line.contains("dec_2"));
    assert!(told.is_some());
    assert_eq!(play.count(|event| matches!(event, Event::AttemptReported(_))), 1, "frontend is at work");
    driver.kill().unwrap();
    driver.wait().unwrap();
}
