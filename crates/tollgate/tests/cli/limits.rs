//! Loops end: with a person who is asked, and each answer does what it says.

use std::path::PathBuf;

use tollgate_core::run::Event;

use crate::play::{APPROVED, BUILT, CHANGES, COVERED, FAILING, GAP, IDLE, Play, Said, TESTED, at, else_};

type Roles<'a> = [(&'a str, &'a [String])];

/// The work tree that a question shows.
fn tree(said: &Said) -> PathBuf {
    said.err.lines().find_map(|line| line.trim().strip_prefix("the work tree is ")).unwrap().into()
}

#[test]
fn the_same_gaps_three_times_in_a_row_ask_a_person() {
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
    play.holds();
}

/// A row that a person let pass has not passed: the commit, `show`, the matrix and the wire name who waived what.
#[test]
fn what_was_waived_is_named_with_who_did_it_wherever_the_run_is_shown() {
    let (play, said) = Play::standard(&[("dod-checker", &[else_(GAP)])]);
    said.exits(4);
    play.decide(&["dec_2", "accept"]).exits(0);
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
}

#[test]
fn gaps_mended_by_hand_enter_at_the_check_without_the_developer() {
    let entries = [at(4, COVERED), else_(GAP)];
    let (play, said) = Play::standard(&[("dod-checker", &entries)]);
    let said = said.exits(4);
    std::fs::write(tree(&said).join("greet.sh"), "echo Hello, by hand\n").unwrap();
    let said = play.decide(&["dec_2", "by-hand"]).exits(0);
    insta::assert_snapshot!(play.told(&said));
    assert_eq!((play.dispatched("developer"), play.dispatched("dod-checker")), (3, 4));
    assert_eq!(play.file("greet.sh").as_deref(), Some("echo Hello, by hand\n"));
    play.holds();
}

#[test]
fn an_answer_by_hand_with_what_no_tree_holds_is_refused_by_name() {
    let entries = [at(4, COVERED), else_(GAP)];
    let (play, said) = Play::standard(&[("dod-checker", &entries)]);
    let tree = tree(&said.exits(4));
    std::os::unix::fs::symlink("/etc/passwd", tree.join("leads-out")).unwrap();
    std::fs::create_dir_all(tree.join("inner/.git")).unwrap();
    std::fs::write(tree.join("inner/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    for folder in ["objects", "refs"] {
        std::fs::create_dir_all(tree.join("inner/.git").join(folder)).unwrap();
    }
    play.decide(&["dec_2", "by-hand"]).exits(3).says("TG0506").says("leads-out").says("inner");
    std::fs::remove_file(tree.join("leads-out")).unwrap();
    std::fs::remove_dir_all(tree.join("inner")).unwrap();
    play.decide(&["dec_2", "by-hand"]).exits(0);
    play.holds();
}

/// What was changed in a work tree that is gone is gone: it is said, and never taken for the person's fix.
#[test]
fn an_answer_by_hand_for_a_tree_that_is_gone_is_refused() {
    let entries = [at(4, COVERED), else_(GAP)];
    let (play, said) = Play::standard(&[("dod-checker", &entries)]);
    let tree = tree(&said.exits(4));
    std::fs::remove_dir_all(&tree).unwrap();
    play.decide(&["dec_2", "by-hand"]).exits(3).says("TG0509").says("was gone").says("answer again");
    assert_eq!(std::fs::read_to_string(tree.join("greet.sh")).unwrap(), "echo Hello\n", "it is made again");
    std::fs::write(tree.join("greet.sh"), "echo Hello, by hand\n").unwrap();
    play.decide(&["dec_2", "by-hand"]).exits(0);
    assert_eq!(play.file("greet.sh").as_deref(), Some("echo Hello, by hand\n"));
    play.holds();
}

/// Who was shown the tree once, or by other means, may have changed it before the next question was shown: nothing of that is
/// put away by the answer.
#[test]
fn a_change_by_hand_is_not_put_away_by_the_answer_that_gives_it() {
    let entries = [at(5, COVERED), else_(GAP)];
    let (play, said) = Play::standard(&[("dod-checker", &entries)]);
    let tree = tree(&said.exits(4));
    std::fs::write(tree.join("greet.sh"), "echo Hello, one\n").unwrap();
    // Nothing but lines of JSON: the next question is not shown to anybody.
    play.decide(&["dec_2", "by-hand", "--json"]).exits(4);
    std::fs::write(tree.join("greet.sh"), "echo Hello, two\n").unwrap();
    // A git that was killed left its lock.
    let lock = format!("state/runs/{}/git/index.backend.lock", play.run);
    std::fs::write(play.world.path(&lock), "").unwrap();
    play.decide(&["dec_3", "by-hand"]).exits(0).says("succeeded");
    assert_eq!(play.file("greet.sh").as_deref(), Some("echo Hello, two\n"));
    play.holds();
}

/// Who knows where the tree lies need not be shown it; what a worker left is not a person's change.
#[test]
fn what_was_not_shown_is_taken_when_it_is_a_persons() {
    let run = |checks: &[String]| {
        let mut play = Play::new(crate::play::TASK, &crate::play::script(&[("dod-checker", checks)]));
        play.start(&["--input", "complexity=standard", "--answer", "sign-off=approve", "--json"]).exits(4);
        play.run =
            tollgate_store::Journal::list(&*play.journal(), &Default::default()).unwrap().runs[0].run.to_string();
        let tree = play.world.path(&format!("state/trees/{}/backend/greet.sh", play.run));
        (play, tree)
    };
    let (play, tree) = run(&[at(4, COVERED), else_(GAP)]);
    std::fs::write(&tree, "echo Hello, by hand\n").unwrap();
    play.tollgate(&["inbox"]).exits(0);
    play.decide(&["dec_2", "by-hand"]).exits(0).says("succeeded");
    assert_eq!(play.file("greet.sh").as_deref(), Some("echo Hello, by hand\n"));
    play.holds();
    let (play, tree) = run(&[at(4, COVERED), else_(GAP)]);
    // As an attempt leaves it that could not be measured.
    std::fs::write(&tree, "rm -rf /\n").unwrap();
    std::fs::write(play.world.path(&format!("state/runs/{}/hands/backend", play.run)), "back").unwrap();
    play.decide(&["dec_2", "by-hand"]).exits(3).says("TG0522").says("answer again");
    assert_eq!(std::fs::read_to_string(&tree).unwrap(), "echo Hello\n");
    play.decide(&["dec_2", "by-hand"]).exits(0).says("succeeded");
    play.holds();
}

#[test]
fn giving_up_at_the_gaps_ends_the_run() {
    let (play, _) = Play::standard(&[("dod-checker", &[else_(GAP)])]);
    play.decide(&["dec_2", "abort"]).exits(1).says("closed without success");
    assert!(!play.changed_branch());
    play.holds();
}

#[test]
fn the_third_review_is_escalated_and_every_option_does_what_it_says() {
    let roles: &Roles<'_> = &[("reviewer", &[else_(CHANGES)])];
    let (play, said) = Play::standard(roles);
    let said = said.exits(4);
    assert_eq!((play.dispatched("reviewer"), play.dispatched("developer")), (3, 3));
    insta::assert_snapshot!("review", play.told(&said));
    play.decide(&["dec_2", "accept"]).exits(0).says("waived fnd_1");
    play.holds();

    let entries = [at(4, APPROVED), else_(CHANGES)];
    let (play, said) = Play::standard(&[("reviewer", &entries)]);
    let said = said.exits(4);
    std::fs::write(tree(&said).join("greet.sh"), "printf by-hand\n").unwrap();
    play.decide(&["dec_2", "by-hand"]).exits(0);
    assert_eq!((play.dispatched("developer"), play.dispatched("reviewer")), (3, 4));
    assert_eq!(play.file("greet.sh").as_deref(), Some("printf by-hand\n"));
    play.holds();

    let (play, _) = Play::standard(roles);
    play.decide(&["dec_2", "abort"]).exits(1);
    play.holds();
}

#[test]
fn a_tester_that_still_rejects_after_three_loops_asks() {
    let roles: &Roles<'_> = &[("tester", &[else_(FAILING)])];
    let (play, said) = Play::standard(roles);
    let said = said.exits(4);
    assert_eq!(play.dispatched("tester"), 4, "the first look and three loops");
    insta::assert_snapshot!("tester", play.told(&said));
    play.decide(&["dec_2", "accept"]).exits(0).says("waived DoD-2");
    play.holds();

    let entries = [at(5, TESTED), else_(FAILING)];
    let (play, said) = Play::standard(&[("tester", &entries)]);
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

    let (play, _) = Play::standard(roles);
    play.decide(&["dec_2", "abort"]).exits(1).says("closed without success");
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

const SOLO_GAP: &str = r#"report: {status: complete, abstract: {outcome: a row is open, verdict: BLOCKED, next_phase: dev-tester}, verdict: BLOCKED, verified_rows: ["DoD-2: there"], gaps: ["DoD-1: greet.sh does not greet"]}"#;
const SOLO_COVERED: &str = r#"report: {status: complete, abstract: {outcome: every row holds, verdict: APPROVED, next_phase: n/a}, verdict: APPROVED, verified_rows: ["DoD-1: there", "DoD-2: there"]}"#;

#[test]
fn in_simple_the_same_gaps_ask_a_person_too() {
    let roles: &Roles<'_> = &[("dev-tester", &[at(1, BUILT), else_(IDLE)]), ("dod-checker", &[else_(SOLO_GAP)])];
    let (play, said) = Play::simple(roles);
    let said = said.exits(4);
    assert_eq!((play.dispatched("dev-tester"), play.dispatched("dod-checker")), (3, 3));
    insta::assert_snapshot!("simple", play.told(&said));
    play.decide(&["dec_2", "accept"]).exits(0).says("waived DoD-1");
    play.holds();

    let mended: &Roles<'_> = &[roles[0], ("dod-checker", &[at(4, SOLO_COVERED), else_(SOLO_GAP)])];
    let (play, said) = Play::simple(mended);
    std::fs::write(tree(&said.exits(4)).join("greet.sh"), "echo by hand\n").unwrap();
    play.decide(&["dec_2", "by-hand"]).exits(0);
    assert_eq!((play.dispatched("dev-tester"), play.dispatched("dod-checker")), (3, 4));
    assert_eq!(play.file("greet.sh").as_deref(), Some("echo by hand\n"));
    play.holds();

    let (play, _) = Play::simple(roles);
    play.decide(&["dec_2", "abort"]).exits(1);
    play.holds();
}

/// Three times in a row means that nothing was accepted in between.
#[test]
fn a_gap_that_was_closed_in_between_begins_a_new_row() {
    let checks = [at(1, GAP), at(2, COVERED), at(3, GAP), at(4, COVERED), at(5, GAP), else_(COVERED)];
    let reviews = [at(1, CHANGES), at(2, CHANGES), else_(APPROVED)];
    let (play, said) = Play::standard(&[("dod-checker", &checks), ("reviewer", &reviews)]);
    said.exits(0);
    assert_eq!((play.dispatched("dod-checker"), play.dispatched("reviewer")), (6, 3));
}
