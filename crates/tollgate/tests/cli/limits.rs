//! Loops end with a person who is asked: what is shown then, and what is taken from the work tree with the answer.

use std::path::PathBuf;

use tollgate_core::run::Event;

use crate::play::{BUILT, COVERED, FAILING, GAP, Play, Said, TESTED, at, else_};

type Roles<'a> = [(&'a str, &'a [String])];

/// The work tree that a question shows.
fn tree(said: &Said) -> PathBuf {
    said.err.lines().find_map(|line| line.trim().strip_prefix("the work tree is ")).unwrap().into()
}

/// A row that a person let pass has not passed: the commit, `show`, the matrix and the wire name who waived what.
#[test]
fn the_same_gaps_ask_a_person_and_what_is_waived_is_named_wherever_the_run_is_shown() {
    let (play, said) = Play::standard(&[("dod-checker", &[else_(GAP)])]);
    let said = said.exits(4);
    assert_eq!((play.dispatched("developer"), play.dispatched("dod-checker")), (3, 3));
    insta::assert_snapshot!("gaps", play.told(&said));
    let said = play.decide(&["dec_2", "accept"]).exits(0);
    insta::assert_snapshot!("gaps-accepted", play.told(&said));
    let waived = play.events().into_iter().find_map(|event| match event.event {
        Event::WaiverGranted(waiver) => Some((waiver.criteria, waiver.findings.len(), event.by.name)),
        _ => None,
    });
    assert_eq!(waived, Some((vec!["DoD-1".into()], 1, "ada".into())), "every row and finding by name");
    let trailers = "--format=%(trailers:key=Waived-by,valueonly)";
    let message = play.world.git(&["log", "-1", trailers, &format!("tollgate/{}", play.run)]);
    assert_eq!(message.trim(), "ada (dec_2): DoD-1: greet.sh greets\nada (dec_2): fnd_1: greet.sh does not greet");

    let shown = play.tollgate(&["show", "RUN"]).exits(0).out;
    let line = |start: &str| shown.lines().find(|line| line.trim_start().starts_with(start)).map(str::to_owned);
    assert!(line("! DoD-1").is_some() && line("✓ DoD-1").is_none(), "{shown}");
    assert!(line("waived by ada (dec_2); ").is_some(), "{shown}");
    assert!(line("! fnd_1").is_some_and(|line| line.contains("waived by ada")), "{shown}");
    assert!(line("✓ DoD-2").is_some(), "{shown}");
    let matrix = play.tollgate(&["show", "RUN", "--evidence"]).exits(0).out;
    assert!(matrix.lines().any(|line| line.contains("waiver (dec_2)") && line.contains("waived")), "{matrix}");
    let (detail, _) = play.world.json(&format!("show {} --json", play.run));
    let row = &detail[0]["criteria"][0];
    assert_eq!((row["id"].as_str(), row["status"].as_str()), (Some("DoD-1"), Some("waived")));
    let by = row["evidence"].as_array().unwrap().iter().find(|evidence| evidence["source"] == "decision").unwrap();
    assert_eq!(by["text"], "waived by ada");
    assert_eq!(detail[0]["findings"][0]["waived_by"], "ada");
    play.holds();
}

/// What a person leaves in the work tree is taken with the answer, as long as a tree can hold it and it is there.
#[test]
fn an_answer_by_hand_is_what_lies_in_the_work_tree() {
    let entries = [at(5, COVERED), else_(GAP)];
    let (play, said) = Play::standard(&[("dod-checker", &entries)]);
    let tree = tree(&said.exits(4));
    std::os::unix::fs::symlink("/etc/passwd", tree.join("leads-out")).unwrap();
    std::fs::create_dir_all(tree.join("inner/.git")).unwrap();
    std::fs::write(tree.join("inner/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    for folder in ["objects", "refs"] {
        std::fs::create_dir_all(tree.join("inner/.git").join(folder)).unwrap();
    }
    play.decide(&["dec_2", "by-hand"]).exits(3).says("TG0506").says("leads-out").says("inner");
    // What was changed in a work tree that is gone is gone: it is said, and never taken for the person's fix.
    std::fs::remove_dir_all(&tree).unwrap();
    play.decide(&["dec_2", "by-hand"]).exits(3).says("TG0509").says("was gone").says("answer again");
    assert_eq!(std::fs::read_to_string(tree.join("greet.sh")).unwrap(), "echo Hello\n", "it is made again");
    std::fs::write(tree.join("greet.sh"), "echo Hello, one\n").unwrap();
    // Nothing but lines of JSON: the next question is not shown to anybody, and what was changed before it is not put away.
    play.decide(&["dec_2", "by-hand", "--json"]).exits(4);
    std::fs::write(tree.join("greet.sh"), "echo Hello, by hand\n").unwrap();
    // A git that was killed left its lock.
    let lock = format!("state/runs/{}/git/index.backend.lock", play.run);
    std::fs::write(play.world.path(&lock), "").unwrap();
    let said = play.decide(&["dec_3", "by-hand"]).exits(0);
    insta::assert_snapshot!("by-hand", play.told(&said));
    assert_eq!((play.dispatched("developer"), play.dispatched("dod-checker")), (3, 5));
    assert_eq!(play.file("greet.sh").as_deref(), Some("echo Hello, by hand\n"));
    play.holds();
}

/// Who knows where the tree lies need not be shown it; what a worker left is not a person's change.
#[test]
fn what_was_not_shown_is_taken_when_it_is_a_persons() {
    let checks = [at(5, COVERED), else_(GAP)];
    let mut play = Play::new(crate::play::TASK, &crate::play::script(&[("dod-checker", &checks)]));
    play.start(&["--input", "complexity=standard", "--answer", "sign-off=approve", "--json"]).exits(4);
    play.run = tollgate_store::Journal::list(&*play.journal(), &Default::default()).unwrap().runs[0].run.to_string();
    let tree = play.world.path(&format!("state/trees/{}/backend/greet.sh", play.run));
    std::fs::write(&tree, "echo Hello, by hand\n").unwrap();
    play.tollgate(&["inbox"]).exits(0);
    play.decide(&["dec_2", "by-hand", "--json"]).exits(4);
    // As an attempt leaves it that could not be measured.
    std::fs::write(&tree, "rm -rf /\n").unwrap();
    std::fs::write(play.world.path(&format!("state/runs/{}/hands/backend", play.run)), "back").unwrap();
    play.decide(&["dec_3", "by-hand"]).exits(3).says("TG0522").says("answer again");
    assert_eq!(std::fs::read_to_string(&tree).unwrap(), "echo Hello, by hand\n");
    play.decide(&["dec_3", "by-hand"]).exits(0).says("succeeded");
    assert_eq!(play.file("greet.sh").as_deref(), Some("echo Hello, by hand\n"));
    play.holds();
}

#[test]
fn judges_are_shown_what_a_person_mended_by_hand() {
    let lies = TESTED.replace(r#"write: {tests/greet.test.sh: "sh greet.sh\n"}, "#, "");
    let (play, said) =
        Play::standard(&[("tester", &[at(1, &lies), at(2, &lies), at(3, &lies), at(4, &lies), else_(TESTED)])]);
    let said = said.exits(4);
    let before = play.dispatched("developer");
    std::fs::write(tree(&said).join("greet.sh"), "echo mended\n").unwrap();
    play.decide(&["dec_2", "by-hand"]).exits(0);
    assert_eq!(play.dispatched("developer"), before, "what a person mended enters at the first check");
    for role in ["dod-checker", "reviewer"] {
        let last = u32::try_from(play.dispatched(role)).unwrap();
        let (brief, patch) = (play.brief(role, last), play.patch(role, last));
        assert!(brief.contains("- created `greet.sh` (also since this role judged it last)\n"), "{role}: {brief}");
        assert!(patch.contains("+echo mended\n"), "{role} accepts what a person wrote, and is shown it: {patch}");
    }
    assert_eq!(play.file("greet.sh").as_deref(), Some("echo mended\n"));
    play.holds();
}

#[test]
fn a_judge_is_shown_everything_its_verdict_is_given_to() {
    let infra = r#"write: {Makefile: "all:\n\ttrue\n"}, report: {status: complete, abstract: {outcome: infra, next_phase: developer}, files_created: [Makefile]}"#;
    let roles: &Roles<'_> = &[("devops", &[else_(infra)]), ("tester", &[at(2, TESTED), else_(FAILING)])];
    let mut play = Play::new(crate::play::TASK, &crate::play::script(roles));
    let inputs = ["--input", "complexity=standard", "--input", "infra=needed", "--answer", "sign-off=approve"];
    play.start(&inputs).exits(0);
    // The second look comes after the first work has landed, and the developer adds nothing.
    for (role, nth) in [("dod-checker", 1), ("reviewer", 1), ("dod-checker", 2), ("reviewer", 2), ("tester", 2)] {
        let brief = play.brief(role, nth);
        assert!(brief.contains("- created `Makefile`\n"), "{role} {nth}, what devops wrote: {brief}");
        assert!(brief.contains("- created `greet.sh`\n"), "{role} {nth}, what landed before: {brief}");
        let patch = play.patch(role, nth);
        assert!(patch.contains("+\ttrue\n") && patch.contains("+echo Hello\n"), "{role} {nth}: {patch}");
    }
    play.holds();
}

#[test]
fn a_side_is_shown_its_scope_nobodys_and_what_it_changed_itself() {
    let task = crate::play::TASK.replace("### Backend\n", "### Backend\nScope: `greet.sh` `src/**`\n");
    let infra = r#"write: {Makefile: "all:\n\ttrue\n"}, report: {status: complete, abstract: {outcome: infra, next_phase: developer}, files_created: [Makefile]}"#;
    let stray = BUILT
        .replace("write: {", "write: {stray.sh: \"echo stray\\n\", ")
        .replace("[greet.sh]", "[greet.sh, stray.sh]");
    let roles: &Roles<'_> = &[("devops", &[else_(infra)]), ("developer", &[else_(&stray)])];
    let mut play = Play::new(&task, &crate::play::script(roles));
    let inputs = ["--input", "complexity=standard", "--input", "infra=needed", "--answer", "sign-off=approve"];
    play.start(&inputs).exits(4).says("stray.sh");
    let (brief, patch) = (play.brief("reviewer", 1), play.patch("reviewer", 1));
    assert!(brief.contains("`greet.sh`") && brief.contains("- created `stray.sh`\n"), "{brief}");
    // What lies in nobody's scope counts for every side, so its judges are shown it.
    assert!(patch.contains("+echo stray\n") && patch.contains("Makefile"), "{patch}");
}
