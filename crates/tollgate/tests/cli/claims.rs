//! What a success may rest on: every row, the tree that is handed over, the newest words, and nobody's claim alone.

use tollgate_core::run::Event;
use tollgate_core::run::event::FindingStatus;

use crate::play::{APPROVED, BUILT, CHANGES, COVERED, GAP, IDLE, Play, TASK, TESTED, at, else_, script};

const STANDARD: [&str; 4] = ["--input", "complexity=standard", "--answer", "sign-off=approve"];

/// What the bundle of an attempt holds.
fn brief(play: &Play, attempt: &str) -> String {
    let folder = play.world.path("state").join("runs").join(&play.run).join("bundles").join(attempt);
    std::fs::read_to_string(folder.join("brief.md")).unwrap()
}

#[test]
fn a_tester_that_did_not_write_what_it_says_is_asked_again_and_then_a_person_is() {
    let lies = TESTED.replace(r#"write: {tests/greet.test.sh: "sh greet.sh\n"}, "#, "");
    let (play, said) = Play::standard(&[("tester", &[else_(&lies)])]);
    said.exits(4)
        .says("fnd_1 opened: the report names tests/greet.test.sh as changed, but it did not change")
        .says("waives fnd_1");
    assert_eq!(play.dispatched("tester"), 2);
    assert_eq!(play.dispatched("developer"), 1, "the work is not sent back for a tester's claim");
}

#[test]
fn a_tester_that_mends_its_word_passes_and_may_name_what_it_wrote_before() {
    let lies = TESTED.replace(r#"write: {tests/greet.test.sh: "sh greet.sh\n"}, "#, "");
    let (play, said) = Play::standard(&[("tester", &[at(1, &lies), else_(TESTED)])]);
    said.exits(0).says("fnd_1 fixed: tester reports what was measured");
    assert_eq!(play.dispatched("tester"), 2);
    // The second attempt changes nothing, and names the file of the first.
    let failing = TESTED.replace("✓", "✗");
    let (play, said) = Play::standard(&[("tester", &[at(1, &failing), else_(TESTED)])]);
    said.exits(0).silent_on("did not change");
    assert_eq!(play.dispatched("tester"), 2);
}

/// What is claimed is held against what was measured whatever the report says of itself.
#[test]
fn what_a_worker_writes_is_named_also_by_one_that_is_not_done() {
    let writes = r#"write: {lib/hidden: "x\n"}"#;
    let report = |status: &str, more: &str| {
        format!(
            "{writes}, report: {{status: {status}, status_reason: why, abstract: {{outcome: half, next_phase: n/a}}{more}}}"
        )
    };
    let blocked = report("blocked", ", open_questions: [Which colour?]");
    let (play, said) = Play::standard(&[("developer", &[at(1, &blocked), else_(BUILT)])]);
    said.exits(4).says("fnd_1 opened: lib/hidden changed, but the report does not name it");
    play.decide(&["dec_2", "--text", "red"]).exits(0).says("fnd_1 refuted");
    let unfinished = report("incomplete", ", files_created: [ghost]");
    let (play, said) = Play::standard(&[("developer", &[else_(&unfinished)])]);
    said.exits(4).says("names ghost as changed, but it did not change");
    play.decide(&["dec_2", "accept"]).exits(0).says("fnd_1 and fnd_2 refuted");
    // A report that cannot be read names nothing: the next one has to.
    let garbage = format!("{writes}, text: garbage");
    for (then, found) in
        [(BUILT.to_owned(), true), (BUILT.replace("files_created: [", "files_created: [lib/hidden, "), false)]
    {
        let (_, said) = Play::standard(&[("developer", &[at(1, &garbage), else_(&then)])]);
        let said = said.exits(0);
        let told = "lib/hidden changed, but the report does not name it";
        if found {
            said.says(told)
        } else {
            said.silent_on("fnd_1")
        };
    }
}

#[test]
fn a_tester_may_name_what_others_wrote_in_the_run() {
    let claims = TESTED.replace("files_created: [", "files_created: [greet.sh, ");
    let (play, said) = Play::standard(&[("tester", &[else_(&claims)])]);
    said.exits(0).silent_on("did not change");
    assert_eq!(play.dispatched("tester"), 1);
}

#[test]
fn what_an_acceptance_names_again_is_not_called_fixed() {
    let noted = APPROVED.replacen("}}", "}, findings: [{severity: minor, repeats: fnd_1, text: not fixed}]}", 1);
    let (_, said) = Play::standard(&[("reviewer", &[at(1, CHANGES), else_(&noted)])]);
    said.exits(0).says("fnd_1 refuted: reviewer names it again and accepts all the same").silent_on("fnd_1 fixed");
}

/// A worker writes the name as it is; git, and so the measurement, writes it in quotes.
#[test]
fn a_name_that_git_quotes_may_be_reported_as_it_is() {
    for said in [r"tests/a\\b.sh", r#""tests/a\\\\b.sh""#] {
        let odd = TESTED.replace("{tests/greet.test.sh:", r#"{'tests/a\b.sh':"#);
        let odd = odd.replace("[tests/greet.test.sh]", &format!("['{}']", said.replace(r"\\", r"\")));
        let (play, said) = Play::standard(&[("tester", &[else_(&odd)])]);
        said.exits(0).silent_on("did not change").silent_on("does not name it");
        assert_eq!(play.file(r"tests/a\b.sh").as_deref(), Some("sh greet.sh\n"));
    }
}

/// A path may begin with `./`.
#[test]
fn a_name_may_begin_where_every_path_begins() {
    let tested = TESTED.replace("[tests/greet.test.sh]", "[./tests/greet.test.sh]");
    let (_, said) = Play::standard(&[("tester", &[else_(&tested)])]);
    said.exits(0).silent_on("did not change").silent_on("does not name it");
}

/// A count that the checker called harmless is found again when it is said again, of other work.
#[test]
fn a_false_count_is_found_each_time_it_is_said() {
    let counts = BUILT.replace("abstract: {", "abstract: {files: {created: 1, modified: 0, deleted: 3}, ");
    let (_, said) =
        Play::standard(&[("developer", &[else_(&counts)]), ("reviewer", &[at(1, CHANGES), else_(APPROVED)])]);
    said.says("fnd_1 refuted: dismissed by dod-checker, who saw it and accepts").says("fnd_1 open: still true after");
}

/// Who takes the failing test away and says that nothing was deleted is not believed.
#[test]
fn deletions_are_held_against_their_count() {
    let hides = TESTED.replace("write: {", "delete: [tests/old.sh], write: {");
    let counts = |text: &str| hides.replace("report: {", &format!("report: {{files_deleted: [{text}], "));
    for (tester, told) in [
        (hides.clone(), "the report counts 0 deleted, but 1 were: tests/old.sh"),
        (counts("tests/other.sh"), "tests/old.sh changed, but the report does not name it"),
        (
            TESTED.replace("report: {", "report: {files_deleted: [tests/gone.sh], "),
            "the report names tests/gone.sh as changed, but it did not change",
        ),
        (
            hides.replace("files_created: [", "files_modified: [tests/old.sh], files_created: ["),
            "the report names tests/old.sh as there, but it was deleted",
        ),
    ] {
        let names = TESTED.replace("report: {", "report: {files_deleted: [tests/old.sh], ");
        for (then, exit) in [(TESTED, 4), (&*names, 0)] {
            let exit = if tester.contains("delete:") { exit } else { 4 - exit };
            let mut play = Play::new(TASK, &script(&[("tester", &[at(1, &tester), else_(then)])]));
            play.world.write("tests/old.sh", "exit 1\n");
            play.world.commit("a test that fails");
            play.start(&STANDARD).exits(exit).says(told).says("accepted, but the measurements do not confirm it");
            assert_eq!(play.dispatched("tester"), 2, "{told}");
        }
    }
    let mut play = Play::new(TASK, &script(&[("tester", &[else_(&counts("tests/old.sh"))])]));
    play.world.write("tests/old.sh", "exit 1\n");
    play.world.commit("a test that fails");
    play.start(&STANDARD).exits(0).silent_on("deleted, but");
}

#[test]
fn the_commands_of_rows_hold_on_the_tree_that_is_handed_over() {
    let task = TASK.replace(
        "- greet.sh greets",
        "- no test fails `cmd: sh -c 'for t in tests/*.sh; do [ ! -e $t ] || sh $t || exit 1; done'`",
    );
    let breaks = TESTED.replace(r"sh greet.sh\n", r"exit 1\n");
    let mends = TESTED.replace("sh greet.sh", "true");
    let testers = [at(1, &breaks.replace("greet.test.sh", "a.sh")), else_(&mends.replace("greet.test.sh", "a.sh"))];
    let mut play = Play::new(&task, &script(&[("tester", &testers)]));
    // It held before the tester came; what the tester added makes it fail, and that is nobody's word.
    play.world.write("tests/.keep", "");
    play.world.commit("tests");
    let said = play.start(&STANDARD);
    said.says("opened: the command of DoD-1 fails").says("backend  needs a new check");
}

#[test]
fn rows_that_sides_share_are_judged_in_standard_too() {
    let task = "# Two\n\n## Definition of Done\n\n### Backend\nScope: `api/**`\n- api/a is there\n\n### Frontend\nScope: `web/**`\n\
                - web/a is there\n\n### Shared\n- both `cmd: false`\n\n### Tester scope\n- tested\n";
    let build = |unit: &str, path: &str| {
        format!(
            r#"{{unit: {unit}, iteration: 1, write: {{{path}: "x\n"}}, report: {{status: complete, abstract: {{outcome: built, next_phase: dod-checker}}, files_created: [{path}]}}}}"#
        )
    };
    let check = |unit: &str, rows: &str| {
        format!(
            r#"{{{unit}report: {{status: complete, abstract: {{outcome: it holds, verdict: APPROVED, next_phase: n/a}}, verdict: APPROVED, verified_rows: [{rows}]}}}}"#
        )
    };
    let roles: [(&str, &[String]); 4] = [
        (
            "developer",
            &[
                build("backend", "api/a"),
                build("frontend", "web/a"),
                else_(IDLE).replace(", dod_coverage: [{mark: \"✓\", row: DoD-1}]", ""),
            ],
        ),
        (
            "dod-checker",
            &[
                check("unit: backend, ", r#""DoD-1: there""#),
                check("unit: frontend, ", r#""DoD-2: there""#),
                check("", r#""DoD-1: there", "DoD-2: there", "DoD-3: they say""#),
            ],
        ),
        ("reviewer", &[else_(&APPROVED.replace("tester", "n/a"))]),
        ("tester", &[else_(&TESTED.replace("DoD-2", "DoD-4"))]),
    ];
    let mut play = Play::new(task, &script(&roles));
    let said = play.start(&[&STANDARD[..], &["--input", "sides=backend,frontend"]].concat());
    said.exits(4).says("opened: the command of DoD-3 fails: false").says("The joined sides still leave rows open.");
    assert_eq!(play.count(|event| matches!(event, Event::RunClosed(_))), 0);
}

#[test]
fn the_newest_words_of_a_gap_reach_who_mends_it() {
    let gap = |number: u32| GAP.replace("greet.sh does not greet", &format!("GAP-{number}"));
    let checks = [at(1, &gap(1)), at(2, &gap(2)), else_(COVERED)];
    let (play, said) = Play::standard(&[("dod-checker", &checks)]);
    said.exits(0).says("fnd_1 now says: GAP-2");
    assert!(brief(&play, "att_5").contains("GAP-2"));
    assert!(!brief(&play, "att_5").contains("GAP-1"));
    let worse = CHANGES.replace(
        "severity: major, path: greet.sh, line: 1, text: the name is not quoted",
        "severity: critical, path: b.sh, line: 9, repeats: fnd_1, text: it deletes data",
    );
    let (play, said) = Play::standard(&[("reviewer", &[at(1, CHANGES), at(2, &worse), else_(APPROVED)])]);
    said.exits(0);
    let briefs = brief(&play, "att_7");
    assert!(
        briefs.contains("critical") && briefs.contains("`b.sh:9`") && briefs.contains("it deletes data"),
        "{briefs}"
    );
}

#[test]
fn silence_does_not_close_what_nobody_has_touched() {
    let two = CHANGES.replace(
        "text: the name is not quoted}",
        "text: first}, {severity: major, path: greet.sh, line: 2, text: second}",
    );
    let third = CHANGES.replace("the name is not quoted", "third");
    let half = IDLE.replace("dod_coverage", "addressed_findings: [fnd_1], dod_coverage");
    let developers = [at(1, crate::play::BUILT), at(2, &half), else_(IDLE)];
    let reviews = [at(1, &two), at(2, &third), else_(APPROVED)];
    let (play, said) = Play::standard(&[("developer", &developers), ("reviewer", &reviews)]);
    said.exits(0);
    let fixed: Vec<(String, String)> = play
        .events()
        .into_iter()
        .filter_map(|event| match event.event {
            Event::FindingChanged(changed) if changed.status == FindingStatus::Fixed => {
                Some((changed.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "), changed.why))
            }
            _ => None,
        })
        .collect();
    let said: Vec<&str> = fixed.iter().map(|(ids, _)| ids.as_str()).collect();
    assert_eq!(said, ["fnd_1", "fnd_2 fnd_3"], "{fixed:?}");
}

#[test]
fn what_an_unfinished_judge_says_is_shown_to_who_decides() {
    let unfinished = r#"report: {status: incomplete, status_reason: out of turns, abstract: {outcome: half, next_phase: n/a}, dod_coverage: [{mark: "✗", row: "DoD-1: greet.sh is wrong"}, {mark: "✓", row: "DoD-2: a test"}]}"#;
    let (_, said) = Play::standard(&[("tester", &[else_(unfinished)])]);
    said.exits(4).says("it says that DoD-1 does not hold: ").says("greet.sh is wrong");
    let unfinished = r#"report: {status: incomplete, status_reason: out of turns, abstract: {outcome: half, verdict: n/a, next_phase: n/a}, findings: [{severity: critical, path: greet.sh, line: 1, text: it deletes data}]}"#;
    let (play, said) = Play::standard(&[("reviewer", &[else_(unfinished)])]);
    let dec = "dec_2";
    said.exits(4)
        .says("it found in greet.sh: ")
        .says("it deletes data")
        .says("accept")
        .says("waives the judgement of reviewer");
    // Accept with the gaps: the person's own judgement stands for the one that is missing, by name.
    play.decide(&[dec, "accept"]).exits(0).says("ada waived the judgement of reviewer").says("a person waived");
}
