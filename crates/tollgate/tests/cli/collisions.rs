//! Two sides that changed the same: what is marked, what cannot be, and who mends it.

use tollgate_core::run::Event;
use tollgate_core::run::event::Work;

use crate::play::Play;
use crate::sides::{BOTH, TASK, landed, play, script, tree};

/// Both sides change a file that only one of them may: a person allows it, and then they collide.
pub const COLLIDING: [&str; 2] = [
    r#"{unit: backend, iteration: 1, write: {api/greet.sh: "echo Hello\n", conf/lang: "en\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [api/greet.sh, conf/lang], dod_coverage: [{mark: "✓", row: DoD-1}]}}"#,
    r#"{unit: frontend, iteration: 1, delay_ms: 1000, write: {web/page.txt: "Hello\n", conf/lang: "fr\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [web/page.txt, conf/lang], dod_coverage: [{mark: "✓", row: DoD-2}]}}"#,
];

pub fn mended(iteration: u32) -> String {
    format!(
        r#"{{unit: frontend, iteration: {iteration}, write: {{conf/lang: "en, fr\n"}}, report: {{status: complete, abstract: {{outcome: both languages, next_phase: dod-checker}}, files_modified: [conf/lang]}}}}"#
    )
}

#[test]
fn a_collision_goes_back_with_both_sides_in_the_file_and_in_the_brief() {
    let mended = mended(2);
    let (play, said) = play(&[("developer", &[COLLIDING[0], COLLIDING[1], &mended])]);
    said.exits(4).says("outside the scope").says("conf/lang");
    let said = play.decide(&["dec_2", "extend"]).exits(0);
    insta::assert_snapshot!("collision", play.told(&said));
    assert_eq!(play.file("conf/lang").as_deref(), Some("en, fr\n"));
    let brief = brief_of(&play, "frontend", 2);
    let from = brief.find("## Your work collides").unwrap();
    let to = from + brief[from..].find("\n## Iteration").unwrap();
    insta::assert_snapshot!("collision-brief", &brief[from..to]);
    play.holds();
}

/// The brief of a unit's developer in its nth attempt.
pub fn brief_of(play: &Play, unit: &str, nth: u32) -> String {
    let found = play.events().into_iter().find_map(|event| match event.event {
        Event::AttemptStarted(started) if started.instance.ends_with(&format!(":{unit}")) => match &started.work {
            Work::Dispatch { role, iteration, .. } if &**role == "developer" && *iteration == nth => {
                Some(started.attempt)
            }
            _ => None,
        },
        _ => None,
    });
    let path = format!("state/runs/{}/bundles/{}/brief.md", play.run, found.unwrap());
    std::fs::read_to_string(play.world.path(&path)).unwrap()
}

#[test]
fn marks_that_stay_do_not_land_and_after_two_tries_a_person_mends_the_file() {
    // Nobody mends it: every developer says that there is nothing to do.
    let (play, said) = play(&[("developer", &COLLIDING)]);
    said.exits(4);
    let said =
        play.decide(&["dec_2", "extend"]).exits(4).says("This could not be brought together with what landed before.");
    insta::assert_snapshot!("clash", play.told(&said));
    assert_eq!(landed(&play), ["backend"]);
    let tree = tree(&said);
    let text = std::fs::read_to_string(tree.join("conf/lang")).unwrap();
    assert_eq!(text, "<<<<<<< side/landed\nen\n=======\nfr\n>>>>>>> side/unit-frontend\n");
    assert!(tree.join("api/greet.sh").exists(), "it stands on what has landed");
    std::fs::write(tree.join("conf/lang"), "en and fr\n").unwrap();
    play.decide(&["dec_3", "by-hand"]).exits(0).says("succeeded");
    assert_eq!(play.file("conf/lang").as_deref(), Some("en and fr\n"));
    assert_eq!(play.file("api/greet.sh").as_deref(), Some("echo Hello\n"));
    play.holds();
}

/// Both sides change what git cannot mark: one takes the file away, or it is no text.
fn unmarkable(how: &str) -> [String; 2] {
    let (backend, frontend) = match how {
        "deleted" => (r#"delete: [conf/lang], "#, r#"conf/lang: "fr\n""#),
        _ => ("", r#"conf/lang: "fr\0""#),
    };
    let (wrote, said) = match how {
        "deleted" => ("", "files_created: [api/greet.sh], files_deleted: [conf/lang]"),
        _ => (r#", conf/lang: "en\0""#, "files_created: [api/greet.sh], files_modified: [conf/lang]"),
    };
    [
        format!(
            r#"{{unit: backend, iteration: 1, {backend}write: {{api/greet.sh: "echo Hello\n"{wrote}}}, report: {{status: complete, abstract: {{outcome: built, next_phase: dod-checker}}, {said}, dod_coverage: [{{mark: "✓", row: DoD-1}}]}}}}"#
        ),
        format!(
            r#"{{unit: frontend, iteration: 1, delay_ms: 1000, write: {{web/page.txt: "Hello\n", {frontend}}}, report: {{status: complete, abstract: {{outcome: built, next_phase: dod-checker}}, files_created: [web/page.txt], files_modified: [conf/lang], dod_coverage: [{{mark: "✓", row: DoD-2}}]}}}}"#
        ),
    ]
}

#[test]
fn a_collision_that_git_cannot_mark_does_not_land_as_it_was_left() {
    for how in ["deleted", "binary"] {
        let entries = unmarkable(how);
        let mut play = Play::new(TASK, &script(&[("developer", &[&entries[0], &entries[1]])]));
        play.world.write("conf/lang", if how == "deleted" { &b"de\n"[..] } else { b"de\0" });
        play.world.commit("A language");
        play.start(&BOTH).exits(4).says("outside the scope");
        let said = play.decide(&["dec_2", "extend"]).exits(4).says("could not be brought together");
        assert_eq!((landed(&play), play.dispatched("developer")), (vec!["backend".to_owned()], 4), "{how}");
        let brief = brief_of(&play, "frontend", 3);
        assert!(brief.contains("conf/lang is as the collision left it"), "{brief}");
        // A person who looked at it may leave it as it is.
        assert!(tree(&said).join("conf/lang").exists());
        play.decide(&["dec_3", "by-hand"]).exits(0).says("succeeded");
        play.tollgate(&["verify", "--all"]).exits(0);
    }
}

/// A question about something else in between leaves the collision what it is: nobody has chosen.
#[test]
fn a_collision_that_git_cannot_mark_outlasts_a_question_of_scope() {
    let entries = unmarkable("deleted");
    let beside = r#"{unit: frontend, iteration: 2, write: {other.txt: "x\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [other.txt], dod_coverage: [{mark: "✓", row: DoD-2}]}}"#;
    let mut play = Play::new(TASK, &script(&[("developer", &[&entries[0], &entries[1], beside])]));
    play.world.write("conf/lang", "de\n");
    play.world.commit("A language");
    play.start(&BOTH).exits(4).says("outside the scope");
    play.decide(&["dec_2", "extend"]).exits(4).says("outside the scope").says("other.txt");
    play.decide(&["dec_3", "extend"]).exits(4).says("could not be brought together").silent_on("frontend  landed");
    assert_eq!(landed(&play), ["backend"]);
    play.tollgate(&["verify", "--all"]).exits(0);
}
