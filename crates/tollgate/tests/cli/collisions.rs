//! Two sides that changed the same: what is marked, what cannot be, and who mends it.

use tollgate_core::run::Event;
use tollgate_core::run::event::Work;

use crate::play::Play;
use crate::sides::{BOTH, TASK, landed, play, script, shown, tree};

/// Both sides change a file that only one of them may: a person allows it, and then they collide.
pub const COLLIDING: [&str; 2] = [
    r#"{unit: backend, iteration: 1, write: {api/greet.sh: "echo Hello\n", conf/lang: "en\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [api/greet.sh, conf/lang], dod_coverage: [{mark: "✓", row: DoD-1}]}}"#,
    r#"{unit: frontend, iteration: 1, delay_ms: 1000, write: {web/page.txt: "Hello\n", conf/lang: "fr\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [web/page.txt, conf/lang], dod_coverage: [{mark: "✓", row: DoD-2}]}}"#,
];

fn mended(iteration: u32) -> String {
    format!(
        r#"{{unit: frontend, iteration: {iteration}, write: {{conf/lang: "en, fr\n"}}, report: {{status: complete, abstract: {{outcome: both languages, next_phase: dod-checker}}, files_modified: [conf/lang]}}}}"#
    )
}

#[test]
fn a_collision_goes_back_with_both_sides_in_the_file_and_in_the_brief() {
    let mended = mended(2);
    let (play, said) = play(&[("developer", &[COLLIDING[0], COLLIDING[1], &mended])]);
    said.exits(4).says("outside the scope").says("conf/lang");
    insta::assert_snapshot!("one-side-waits", shown(&play));
    // A person widens a scope by patterns that can be held.
    for pattern in ["", "[", "../x", "/etc/**", "a\nb", "!web/**"] {
        play.decide(&["dec_2", "extend", "--scope", pattern]).exits(1).says("TG0336").says("would have the pattern");
    }
    let said = play.decide(&["dec_2", "extend", "--scope", "conf/**"]).exits(0);
    insta::assert_snapshot!("collision", play.told(&said));
    insta::assert_snapshot!("two-sides", shown(&play));
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

/// Both sides change what git cannot mark: one takes the file away.
const UNMARKABLE: [&str; 2] = [
    r#"{unit: backend, iteration: 1, delete: [conf/lang], write: {api/greet.sh: "echo Hello\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [api/greet.sh], files_deleted: [conf/lang], dod_coverage: [{mark: "✓", row: DoD-1}]}}"#,
    r#"{unit: frontend, iteration: 1, delay_ms: 1000, write: {web/page.txt: "Hello\n", conf/lang: "fr\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [web/page.txt], files_modified: [conf/lang], dod_coverage: [{mark: "✓", row: DoD-2}]}}"#,
];

/// A question about something else in between leaves the collision what it is: nobody has chosen.
#[test]
fn a_collision_that_git_cannot_mark_does_not_land_as_it_was_left() {
    let beside = r#"{unit: frontend, iteration: 2, write: {other.txt: "x\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [other.txt], dod_coverage: [{mark: "✓", row: DoD-2}]}}"#;
    let mut play = Play::new(TASK, &script(&[("developer", &[UNMARKABLE[0], UNMARKABLE[1], beside])]));
    play.world.write("conf/lang", "de\n");
    play.world.commit("A language");
    play.start(&BOTH).exits(4).says("outside the scope");
    play.decide(&["dec_2", "extend"]).exits(4).says("outside the scope").says("other.txt");
    let said = play.decide(&["dec_3", "extend"]).exits(4).says("could not be brought together");
    let said = said.silent_on("frontend  landed");
    assert_eq!(landed(&play), ["backend"]);
    let brief = brief_of(&play, "frontend", 3);
    assert!(brief.contains("conf/lang is as the collision left it"), "{brief}");
    // A person who looked at it may leave it as it is.
    assert!(tree(&said).join("conf/lang").exists());
    play.decide(&["dec_4", "by-hand"]).exits(0).says("succeeded");
    play.tollgate(&["verify", "--all"]).exits(0);
}
