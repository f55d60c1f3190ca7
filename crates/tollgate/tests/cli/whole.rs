//! What nobody's scope holds, what a name hides and what a side leaves alone: the whole answers for it.

use crate::play::{APPROVED, COVERED, FAILING, GAP, IDLE, Play, Said, TASK, TESTED, at, else_, script};

const STANDARD: [&str; 4] = ["--input", "complexity=standard", "--answer", "sign-off=approve"];

const SIDES: &str = "# Two\n\n## Definition of Done\n\n### Backend\nScope: `api/**`\n- api/a is there\n\n### Frontend\nScope: `web/**`\n\
                     - web/a is there\n\n### Shared\n- both say the same\n\n### Tester scope\n- tested\n";

pub fn built(unit: &str, path: &str) -> String {
    format!(
        r#"{{unit: {unit}, iteration: 1, write: {{{path}: "x\n"}}, report: {{status: complete, abstract: {{outcome: built, next_phase: dod-checker}}, files_created: [{path}]}}}}"#
    )
}

fn checked(unit: &str, rows: &str) -> String {
    said(unit, "APPROVED", &format!("verified_rows: [{rows}]"))
}

fn said(whom: &str, verdict: &str, rows: &str) -> String {
    format!(
        r#"{{{whom}report: {{status: complete, abstract: {{outcome: looked at, verdict: {verdict}, next_phase: n/a}}, verdict: {verdict}, {rows}}}}}"#
    )
}

/// Both sides with a row of their own and one that they share; what is put before it happens first.
pub fn sides_script(before: &[(&str, String)]) -> Play {
    let idle = else_(&IDLE.replace(", dod_coverage: [{mark: \"✓\", row: DoD-1}]", ""));
    let well: [(&str, Vec<String>); 4] = [
        ("developer", vec![built("backend", "api/a"), built("frontend", "web/a"), idle]),
        (
            "dod-checker",
            vec![
                checked("unit: backend, ", r#""DoD-1: there""#),
                checked("unit: frontend, ", r#""DoD-2: there""#),
                checked("", r#""DoD-1: there", "DoD-2: there", "DoD-3: they do""#),
            ],
        ),
        ("reviewer", vec![else_(&APPROVED.replace("tester", "n/a"))]),
        ("tester", vec![else_(&TESTED.replace("DoD-2", "DoD-4"))]),
    ];
    let roles: Vec<(&str, Vec<String>)> = well
        .into_iter()
        .map(|(role, entries)| {
            let first = before.iter().filter(|(named, _)| *named == role).map(|(_, entry)| entry.clone());
            (role, first.chain(entries).collect())
        })
        .collect();
    let roles: Vec<(&str, &[String])> = roles.iter().map(|(role, entries)| (*role, entries.as_slice())).collect();
    Play::new(SIDES, &script(&roles))
}

fn sides(complexity: &str, before: &[(&str, String)]) -> (Play, Said) {
    let mut play = sides_script(before);
    let complexity = format!("complexity={complexity}");
    let said =
        play.start(&["--input", &complexity, "--input", "sides=backend,frontend", "--answer", "sign-off=approve"]);
    (play, said)
}

#[test]
fn what_a_person_changes_in_nobodys_scope_is_judged_by_everybody() {
    let task = TASK.replace("### Backend\n", "### Backend\nScope: `greet.sh`\n");
    let lies = TESTED.replace(r#"write: {tests/greet.test.sh: "sh greet.sh\n"}, "#, "");
    let mut play = Play::new(&task, &script(&[("tester", &[at(1, &lies), at(2, &lies), else_(TESTED)])]));
    play.start(&STANDARD).exits(4).says("still leave something open");
    let tree = play.world.path(&format!("state/trees/{}/@run", play.run));
    std::fs::write(tree.join("other.sh"), "by hand\n").unwrap();
    let said = play.decide(&["dec_2", "by-hand"]).exits(0);
    said.says("backend  needs a new check: files outside every unit's scope have changed");
    let dispatched = ["developer", "dod-checker", "reviewer", "tester"].map(|role| play.dispatched(role));
    assert_eq!(dispatched, [1, 2, 2, 3]);
    assert_eq!(play.file("other.sh").as_deref(), Some("by hand\n"));
    for role in ["dod-checker", "reviewer"] {
        assert!(play.patch(role, 2).contains("other.sh"), "who judges it again is shown it");
    }
    play.holds();
}

/// The repository's own patterns leave a file in no area: no judge is bound to it alone, so all of them are.
#[test]
fn what_lies_in_no_area_is_judged_by_everybody() {
    let lies = TESTED.replace(r#"write: {tests/greet.test.sh: "sh greet.sh\n"}, "#, "");
    let mut play = Play::new(TASK, &script(&[("tester", &[at(1, &lies), at(2, &lies), else_(TESTED)])]));
    play.world.write(".tollgate/config.toml", "[areas.build-plan]\ncode = ['greet.sh']\n");
    play.world.write("deploy.txt", "safe\n");
    play.world.commit("areas");
    play.tollgate(&["trust"]).exits(0);
    play.start(&STANDARD).exits(4).says("still leave something open");
    let tree = play.world.path(&format!("state/trees/{}/@run", play.run));
    std::fs::write(tree.join("deploy.txt"), "by hand\n").unwrap();
    play.decide(&["dec_2", "by-hand"]).exits(0).says("backend  needs a new check");
    let dispatched = ["developer", "dod-checker", "reviewer", "tester"].map(|role| play.dispatched(role));
    assert_eq!(dispatched, [1, 2, 2, 3]);
    play.holds_but_for_the_head();
}

/// A unit that once had a finding waived is no exception.
#[test]
fn a_waiver_of_before_does_not_cover_what_a_person_changes_later() {
    let task = TASK.replace("### Backend\n", "### Backend\nScope: `greet.sh`\n");
    let lies = TESTED.replace(r#"write: {tests/greet.test.sh: "sh greet.sh\n"}, "#, "");
    let testers = [at(1, &lies), at(2, &lies), else_(TESTED)];
    let checks = [at(1, GAP), at(2, GAP), at(3, GAP), else_(COVERED)];
    let mut play = Play::new(&task, &script(&[("tester", &testers), ("dod-checker", &checks)]));
    play.start(&STANDARD).exits(4).says("trying again does not close them");
    play.decide(&["dec_2", "accept"]).exits(4).says("still leave something open");
    let tree = play.world.path(&format!("state/trees/{}/@run", play.run));
    std::fs::write(tree.join("other.sh"), "by hand\n").unwrap();
    let said = play.decide(&["dec_3", "by-hand"]).exits(0);
    said.says("backend  needs a new check: files outside every unit's scope have changed");
    assert_eq!((play.dispatched("dod-checker"), play.dispatched("reviewer")), (4, 2));
    play.holds();
}

#[test]
fn a_name_that_git_quotes_lies_where_its_folder_does() {
    let weakens = r#"write: {'tests/od\d.sh': "exit 0\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_modified: ['tests/od\d.sh']}"#;
    let mut play = Play::new(TASK, &script(&[("developer", &[else_(weakens)])]));
    play.world.write("tests/od\\d.sh", "exit 1\n");
    play.world.commit("a test");
    play.start(&STANDARD).exits(1).says(r#"it changed what it may not write: "tests/od\\d.sh""#);
    play.holds_but_for_the_head();
}

#[test]
fn a_finding_that_a_side_leaves_alone_goes_back_to_who_found_it() {
    let leaves = IDLE.replace("dod_coverage:", "addressed_findings: [], dod_coverage:");
    let developers = [at(1, crate::play::BUILT), else_(&leaves)];
    let testers = [at(1, FAILING), else_(TESTED)];
    let (play, said) = Play::standard(&[("developer", &developers), ("tester", &testers)]);
    said.exits(0).says("fnd_1 left as it is: whoever found it judges it again").says("fnd_1 fixed: tester accepts");
    play.holds();
    // Who insists is not overruled: the limit of the tester's loop ends it, and a person is asked.
    let (play, said) = Play::standard(&[("developer", &developers), ("tester", &[else_(FAILING)])]);
    said.exits(4).says("The tests still leave something open after the last try.");
    assert_eq!((play.dispatched("tester"), play.dispatched("developer")), (4, 4));
    play.decide(&["dec_2", "accept"]).exits(0).says("waived DoD-2");
    play.holds();
}

#[test]
fn a_shared_finding_that_one_side_mends_and_the_other_leaves_is_settled() {
    let gap = r#"{iteration: 1, report: {status: complete, abstract: {outcome: they differ, verdict: BLOCKED, next_phase: developer}, verdict: BLOCKED, verified_rows: ["DoD-1: there", "DoD-2: there"], gaps: ["DoD-3: they differ"]}}"#;
    let of_unit = |unit: &str, row: &str| checked(&format!("unit: {unit}, "), &format!(r#""{row}: there""#));
    let mends = r#"{unit: backend, iteration: 2, write: {api/a: "y\n"}, report: {status: complete, abstract: {outcome: mended, next_phase: dod-checker}, files_modified: [api/a]}}"#;
    let leaves = r#"{unit: frontend, iteration: 2, report: {status: complete, abstract: {outcome: not mine, next_phase: dod-checker}, addressed_findings: []}}"#;
    let before = [
        ("developer", mends.to_owned()),
        ("developer", leaves.to_owned()),
        ("dod-checker", of_unit("backend", "DoD-1")),
        ("dod-checker", of_unit("frontend", "DoD-2")),
        ("dod-checker", gap.to_owned()),
    ];
    let (play, said) = sides("complex", &before);
    said.exits(0).says("frontend  fnd_1 left as it is").says("fnd_1 fixed: dod-checker accepts");
    play.holds();
}

#[test]
fn rows_are_judged_again_on_the_tree_that_the_sides_made_together() {
    // A checker of the whole that leaves a side's row out has not established it.
    let short = checked("", r#""DoD-3: they do""#);
    let of_unit = |unit: &str, row: &str| checked(&format!("unit: {unit}, "), &format!(r#""{row}: there""#));
    let before = [
        ("dod-checker", of_unit("backend", "DoD-1")),
        ("dod-checker", of_unit("frontend", "DoD-2")),
        ("dod-checker", short),
    ];
    let (play, said) = sides("complex", &before);
    said.exits(4).says("The joined sides still leave rows open.").says("DoD-1").says("DoD-2");
    assert!(!play.changed_branch());
    // In standard a side that comes again makes what was shown of the shared row stale; it is shown again, and the run closes.
    let failing = FAILING.replace("DoD-2", "DoD-4");
    let mends = r#"{unit: backend, iteration: 2, write: {api/a: "y\n"}, report: {status: complete, abstract: {outcome: mended, next_phase: dod-checker}, files_modified: [api/a]}}"#;
    let (play, said) = sides("standard", &[("tester", at(1, &failing)), ("developer", mends.to_owned())]);
    said.exits(0);
    assert_eq!(play.dispatched("tester"), 2);
    play.holds();
}

#[test]
fn marks_of_a_collision_do_not_land_under_any_name() {
    let page = |unit: &str, word: &str| {
        format!(
            r#"{{unit: {unit}, iteration: 1, write: {{'web/a\b.txt': "{word}\n"}}, report: {{status: complete, abstract: {{outcome: built, next_phase: dod-checker}}, files_created: ['web/a\b.txt']}}}}"#
        )
    };
    let task =
        SIDES.replace("Scope: `api/**`", "Scope: `api/**`, `web/a*`").replace("Scope: `web/**`", "Scope: `web/b*`");
    let idle = else_(&IDLE.replace(", dod_coverage: [{mark: \"✓\", row: DoD-1}]", ""));
    let checks = [
        checked("unit: backend, ", r#""DoD-1: there""#),
        checked("unit: frontend, ", r#""DoD-2: there""#),
        checked("", r#""DoD-1: there", "DoD-2: there", "DoD-3: they do""#),
    ];
    let reviewers = [else_(&APPROVED.replace("tester", "n/a"))];
    let developers = [page("backend", "one"), page("frontend", "two"), idle];
    let roles: [(&str, &[String]); 3] =
        [("developer", &developers), ("dod-checker", &checks), ("reviewer", &reviewers)];
    let mut play = Play::new(&task, &script(&roles));
    let words = ["--input", "complexity=complex", "--input", "sides=backend,frontend", "--answer", "sign-off=approve"];
    let mut said = play.start(&words).exits(4);
    // One of the two writes outside its scope, which a person lets pass; then they collide, whoever comes second.
    for _ in 0..2 {
        if said.err.contains("outside the scope") {
            let asked = said.err.split_whitespace().rfind(|word| word.starts_with("dec_")).unwrap().to_owned();
            said = play.decide(&[&asked, "extend"]).exits(4);
        }
    }
    said.says("could not be brought together").says(r#""web/a\\b.txt""#);
    assert!(!play.changed_branch());
}

/// Two units, and a gate of the run that would let any of them be missing.
const LOOSE: &str = r#"protocol: loose
version: 1
inputs: {sides: {list_of: [backend, frontend], default: [backend, frontend]}}
areas: {code: ["**"]}
artifacts: {task: {schema: build-plan.task, given: input}}
roles:
  developer: {contract: status-block, writes: [code], sees: full}
  polisher: {contract: status-block, writes: [code], sees: full}
  dod-checker: {contract: status-block, verdicts: [accept, reject], writes: none, sees: {only: [task, criteria, change]}}
gates:
  covered: {holds: {every: criterion, is: [passed, waived]}, bound_to: [code], mandatory: {unit: true}}
  loose: {holds: {every: unit, is: [accepted, new, lapsed, held]}, bound_to: tree, mandatory: {run: true}}
otherwise: {needs_input: hold, exhausted: hold, failed: hold, malformed: hold, cancelled: hold, unobservable: hold, inconclusive: hold, out_of_scope: hold, refused: hold}
flows:
  main:
    - id: sides
      each: {over: sides, flow: side, at_once: 2, trees: own, makes: accepted}
      on: {all: polish, some: polish, none: polish}
    - {id: polish, dispatch: polisher, on: {ok: look}}
    - {id: look, check: [loose], on: {pass: done, fail: hold, stale: hold}}
  side:
    - {id: build, dispatch: developer, on: {ok: check}}
    - {id: check, dispatch: dod-checker, ensures: [covered], on: {accept: join, reject: hold}}
    - {id: join, land: run, on: {landed: done, conflict: hold}}
"#;

/// Whatever the gates of a protocol read, a success is one of every unit.
#[test]
fn a_run_does_not_succeed_without_its_units() {
    let task = SIDES.split("### Shared").next().unwrap();
    let idle = r"{report: {status: complete, abstract: {outcome: nothing to do, next_phase: n/a}}}";
    let fails = r"{unit: frontend, exit: 1, report: {status: failed, status_reason: why, abstract: {outcome: none, next_phase: n/a}}}";
    let deletes = r"{delete: [api/a], report: {status: complete, abstract: {outcome: tidied, next_phase: n/a}, files_deleted: [api/a]}}";
    let front = built("frontend", "web/a");
    for (frontend, polisher, why) in [
        (&*front, idle, None),
        (fails, idle, Some("frontend: developer failed at `build`")),
        (&*front, deletes, Some("`backend` is no longer accepted")),
    ] {
        let script = format!(
            "script: 1\nroles:\n  developer: [{}, {frontend}]\n  polisher: [{polisher}]\n  dod-checker: [{}, {}]\n",
            built("backend", "api/a"),
            checked("unit: backend, ", r#""DoD-1: there""#),
            checked("unit: frontend, ", r#""DoD-2: there""#),
        );
        let mut play = Play::new(task, &script);
        std::fs::write(play.world.path("loose.yaml"), LOOSE).unwrap();
        let words = ["run", "../loose.yaml", "--give", "task=../task.md", "--script", "../script.yaml", "--no-wait"];
        let said = play.tollgate(&words);
        play.named_by(&said);
        match why {
            Some(why) => said.exits(1).says("is halted").says(why).silent_on("succeeded"),
            None => said.exits(0).says("succeeded"),
        };
        play.holds();
    }
}

/// Plays a protocol that differs from the loose one by these words; every unit does what it should.
fn loosely(words: &[(&str, &str)], roles: &[(&str, &str)], answers: &[&str]) -> (Play, Said) {
    let mut protocol = LOOSE.to_owned();
    for (from, to) in words {
        assert!(protocol.contains(from), "{from}");
        protocol = protocol.replace(from, to);
    }
    let task = SIDES.split("### Shared").next().unwrap();
    let shared = protocol.contains("trees: shared");
    let task =
        if shared { task.replace("Scope: `api/**`\n", "").replace("Scope: `web/**`\n", "") } else { task.to_owned() };
    let own = |role: &str| roles.iter().filter(|(of, _)| *of == role).map(|(_, entry)| format!("{entry}, ")).collect();
    let [developer, checker, polisher]: [String; 3] = ["developer", "dod-checker", "polisher"].map(own);
    let guard =
        "  guard: [{report: {status: complete, abstract: {outcome: fine, verdict: APPROVED, next_phase: n/a}}}]\n";
    let guard = if protocol.contains("guard:") { guard } else { "" };
    let script = format!(
        "script: 1\nroles:\n  developer: [{developer}{}, {}]\n  polisher: [{polisher}{{report: {{status: complete, abstract: {{outcome: idle, \
         next_phase: n/a}}}}}}]\n  dod-checker: [{checker}{}, {}]\n{guard}",
        built("backend", "api/a"),
        built("frontend", "web/a"),
        checked("unit: backend, ", r#""DoD-1: there""#),
        checked("unit: frontend, ", r#""DoD-2: there""#),
    );
    let mut play = Play::new(&task, &script);
    std::fs::write(play.world.path("loose.yaml"), protocol).unwrap();
    let run = ["run", "../loose.yaml", "--give", "task=../task.md", "--script", "../script.yaml", "--no-wait"];
    let answers = answers.iter().flat_map(|answer| ["--answer", answer]);
    let said = play.tollgate(&run.into_iter().chain(answers).collect::<Vec<_>>());
    play.named_by(&said);
    (play, said)
}

/// The whole tree is the most that a gate of a unit can be bound to, and not the least.
#[test]
fn a_unit_that_rests_on_the_whole_tree_lapses_when_any_of_it_changes() {
    let shared = [("bound_to: [code], mandatory", "bound_to: tree, mandatory"), ("trees: own", "trees: shared")];
    let alone = [("at_once: 2", "at_once: 1"), ("on: {accept: join,", "on: {accept: done,")];
    let none = "    - {id: join, land: run, on: {landed: done, conflict: hold}}\n";
    let words: Vec<(&str, &str)> = shared.into_iter().chain(alone).chain([(none, "")]).collect();
    let deletes = r#"{unit: frontend, write: {web/a: "x\n"}, delete: [api/a], report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [web/a], files_deleted: [api/a]}}"#;
    let (play, said) = loosely(&words, &[("developer", deletes)], &[]);
    said.exits(1).says("is halted").says("`backend` is no longer accepted").silent_on("succeeded");
    play.holds();
}

/// What was accepted and is made again without a judge is not accepted any more.
#[test]
fn a_unit_that_is_made_again_owes_its_gates_again() {
    let again = "    - id: repolish\n      each: {over: sides, flow: more, at_once: 1, trees: own, makes: produced}\n      \
                 on: {all: look, some: hold, none: hold}\n    - {id: look,";
    let more = "flows:\n  more:\n    - {id: more, dispatch: polisher, on: {ok: put}}\n    - {id: put, land: run, on: {landed: done, conflict: hold}}\n";
    let made = ("is: [accepted, new, lapsed, held]", "is: [accepted, produced, lapsed]");
    let words = [("on: {ok: look}}", "on: {ok: repolish}}"), ("    - {id: look,", again), ("flows:\n", more), made];
    let rewrites = r#"{unit: backend, write: {api/a: "other\n"}, report: {status: complete, abstract: {outcome: polished, next_phase: n/a}, files_modified: [api/a]}}"#;
    let (play, said) = loosely(&words, &[("polisher", rewrites)], &[]);
    said.exits(1).says("is halted").says("gate `covered` does not hold for `backend`").silent_on("succeeded");
    play.holds();
}

/// A gate may come to be mandatory when a unit is long accepted.
#[test]
fn a_gate_that_becomes_mandatory_later_is_owed() {
    let ask = |id: &str, to: &str| {
        format!(
            "    - id: {id}\n      ask: {{class: choice, question: \"How risky is {id}?\", options: {{low: Low, high: High}}}}\n      \
             gives: [risk]\n      on: {{low: {to}, high: {to}, cancelled: hold}}\n"
        )
    };
    let (first, last) =
        (format!("  main:\n{}", ask("before", "sides")), format!("{}    - {{id: look,", ask("after", "look")));
    let guard = "  guard: {contract: status-block, verdicts: [accept, reject], writes: none, sees: {only: [change]}}\ngates:\n  \
                 guarded: {holds: {judged: guard}, bound_to: [code], mandatory: {unit: {risk: high}}}\n";
    let side = "on: {accept: guard, reject: hold}}\n    - {id: guard, when: {risk: high}, dispatch: guard, ensures: [guarded], \
                on: {accept: join, reject: hold, skipped: join}}";
    let words = [
        ("inputs:", "vars: {risk: {one_of: [low, high]}}\ninputs:"),
        ("gates:\n", guard),
        ("  main:\n", &*first),
        ("on: {ok: look}}", "on: {ok: after}}"),
        ("    - {id: look,", &*last),
        ("on: {accept: join, reject: hold}}", side),
    ];
    let (play, said) = loosely(&words, &[], &["before=low", "after=low"]);
    said.exits(0).says("succeeded");
    play.holds();
    let (play, said) = loosely(&words, &[], &["before=low", "after=high"]);
    said.exits(1).says("is halted").says("gate `guarded` does not hold for").silent_on("succeeded");
    play.holds();
}

/// What nobody judged is not handed over because somebody gave it up after it had landed.
#[test]
fn a_unit_that_is_given_up_leaves_nothing_in_the_tree() {
    let fails = r"{unit: frontend, exit: 1, report: {status: failed, status_reason: why, abstract: {outcome: none, next_phase: n/a}}}";
    let late = "    - {id: build, dispatch: developer, on: {ok: join}}\n    - {id: join, land: run, on: {landed: check, conflict: hold}}\n    \
                - {id: check, dispatch: dod-checker, ensures: [covered], on: {accept: done, reject: hold, failed: dropped}}\n";
    let early = "    - {id: build, dispatch: developer, on: {ok: check}}\n    - {id: check, dispatch: dod-checker, ensures: [covered], \
                 on: {accept: join, reject: hold, failed: dropped}}\n    - {id: join, land: run, on: {landed: done, conflict: hold}}\n";
    let side = LOOSE.split("  side:\n").nth(1).unwrap();
    let loose = ("is: [accepted, new, lapsed, held]", "is: [accepted, dropped]");
    let (play, said) = loosely(&[(side, early), loose], &[("dod-checker", fails)], &[]);
    said.exits(0).says("succeeded").says("without frontend");
    assert_eq!((play.file("web/a"), play.file("api/a").as_deref()), (None, Some("x\n")));
    play.holds();
    let (play, said) = loosely(&[(side, late), loose], &[("dod-checker", fails)], &[]);
    said.exits(1).says("is halted").says("`frontend` was given up, but its work is in the tree").silent_on("succeeded");
    play.holds();
}

/// What is judged in a tree of its own is no part of what is handed over, also where nobody writes there.
#[test]
fn a_unit_that_is_only_looked_at_is_looked_at_where_it_counts() {
    let side = LOOSE.split("  side:\n").nth(1).unwrap();
    let looks = "    - {id: check, dispatch: dod-checker, ensures: [covered], on: {accept: done, reject: hold}}\n";
    let (_, said) = loosely(&[(side, looks)], &[("developer", "{}")], &[]);
    said.exits(1).says("TG0141").says("trees: shared");
}

/// A row that no gate reads goes stale with what it was shown on.
#[test]
fn a_row_that_no_gate_reads_is_bound_to_everything_in_the_scope() {
    let judged = [
        ("areas: {code: [\"**\"]}", "areas: {docs: [\"docs/**\"], code: [\"**\"]}"),
        (
            "holds: {every: criterion, is: [passed, waived]}, bound_to: [code]",
            "holds: {judged: dod-checker}, bound_to: [docs]",
        ),
    ];
    let deletes = r"{delete: [api/a], report: {status: complete, abstract: {outcome: tidied, next_phase: n/a}, files_deleted: [api/a]}}";
    let (play, said) = loosely(&judged, &[("polisher", deletes)], &[]);
    said.exits(1).says("is halted").says("`backend` is no longer accepted").silent_on("succeeded");
    play.holds();
}

/// What a person put into a side by hand is not the developer's to write; to take it out it was told.
#[test]
fn who_is_told_to_take_something_out_may() {
    let gap = |nth: u32| {
        ("dod-checker", said(&format!("unit: backend, iteration: {nth}, "), "BLOCKED", r#"gaps: ["DoD-1: not there"]"#))
    };
    let forgets = r#"{unit: backend, iteration: 4, text: nonsense}"#;
    let takes = r#"{unit: backend, iteration: 5, delete: [tests/by-hand.sh], report: {status: complete, abstract: {outcome: taken out, next_phase: dod-checker}, files_deleted: [tests/by-hand.sh]}}"#;
    let (play, start) =
        sides("complex", &[gap(1), gap(2), gap(3), ("developer", forgets.to_owned()), ("developer", takes.to_owned())]);
    start.exits(4).says("Rows are still open");
    let tree = play.world.path(&format!("state/trees/{}/backend", play.run));
    std::fs::create_dir_all(tree.join("tests")).unwrap();
    std::fs::write(tree.join("tests/by-hand.sh"), "true\n").unwrap();
    play.decide(&["dec_2", "by-hand"]).exits(4).says("outside the scope").says("tests/by-hand.sh");
    // Also when it does so in the second try.
    play.decide(&["dec_3", "undo"]).exits(0).says("developer left no valid report").says("succeeded");
    assert_eq!(play.file("tests/by-hand.sh"), None);
    play.holds();
}

/// Where the tests of a language lie is no reason to stop; what lies elsewhere is said where it is to be said.
#[test]
fn tests_beside_the_code_are_the_testers() {
    let beside = |path: &str| else_(&TESTED.replace("tests/greet.test.sh", path));
    let (play, said) = Play::standard(&[("tester", &[beside("pkg/greet_test.go")])]);
    said.exits(0).says("succeeded");
    assert!(play.file("pkg/greet_test.go").is_some());
    let (play, said) = Play::standard(&[("tester", &[beside("pkg/greet.check")])]);
    said.exits(1)
        .says("it changed what it may not write: pkg/greet.check")
        .says("[areas.build-plan]")
        .says("tollgate doctor build-plan");
    play.holds();
}
