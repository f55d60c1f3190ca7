//! What lies in no area and what a name hides: the whole answers for it.

use crate::play::{APPROVED, IDLE, Play, TASK, TESTED, at, else_, script};

const STANDARD: [&str; 4] = ["--input", "complexity=standard", "--answer", "sign-off=approve"];

const SIDES: &str = "# Two\n\n## Definition of Done\n\n### Backend\nScope: `api/**`\n- api/a is there\n\n### Frontend\nScope: `web/**`\n\
                     - web/a is there\n\n### Shared\n- both say the same\n\n### Tester scope\n- tested\n";

pub fn built(unit: &str, path: &str) -> String {
    format!(
        r#"{{unit: {unit}, iteration: 1, write: {{{path}: "x\n"}}, report: {{status: complete, abstract: {{outcome: built, next_phase: dod-checker}}, files_created: [{path}]}}}}"#
    )
}

fn checked(unit: &str, rows: &str) -> String {
    format!(
        r#"{{{unit}report: {{status: complete, abstract: {{outcome: looked at, verdict: APPROVED, next_phase: n/a}}, verdict: APPROVED, verified_rows: [{rows}]}}}}"#
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

/// The repository's own patterns leave a file in no area: no judge is bound to it alone, so all of them are.
#[test]
fn what_lies_in_no_area_is_judged_by_everybody() {
    let lies = TESTED.replace(r#"write: {tests/greet.test.sh: "sh greet.sh\n"}, "#, "");
    let mut play = Play::new(
        TASK,
        &script(&[("tester", &[at(1, &lies), at(2, &lies), at(3, &lies), at(4, &lies), else_(TESTED)])]),
    );
    play.world.write(".tollgate/config.toml", "[areas.build-plan]\ncode = ['greet.sh']\n");
    play.world.write("deploy.txt", "safe\n");
    play.world.commit("areas");
    play.tollgate(&["trust"]).exits(0);
    play.start(&STANDARD).exits(4).says("still leave something open");
    let tree = play.world.path(&format!("state/trees/{}/@run", play.run));
    std::fs::write(tree.join("deploy.txt"), "by hand\n").unwrap();
    play.decide(&["dec_2", "by-hand"]).exits(0).says("backend  needs a new check");
    let dispatched = ["developer", "dod-checker", "reviewer", "tester"].map(|role| play.dispatched(role));
    assert_eq!(dispatched, [1, 2, 2, 5]);
    for role in ["dod-checker", "reviewer"] {
        assert!(play.patch(role, 2).contains("deploy.txt"), "who judges it again is shown it");
    }
    play.holds_but_for_the_head();
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
