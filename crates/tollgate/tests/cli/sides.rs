//! Two sides at once: work trees and scopes of their own, and the tree they make together.

use std::path::PathBuf;

use tollgate_core::run::Event;
use tollgate_core::run::event::{LandOutcome, Work};

use crate::collisions::{COLLIDING, brief_of};
use crate::play::{Play, Said};

/// A row for each side, one for both, one for the tester.
pub const TASK: &str = "\
# Greet on two sides

## Definition of Done

### Backend
Scope: `api/**`, `conf/lang`
- api/greet.sh greets `cmd: test \"$(sh api/greet.sh)\" = Hello`

### Frontend
Scope: `web/**`
- web/page.txt shows the greeting

### Shared
- both sides say the same

### Tester scope
- it is tested
";

pub const BOTH: [&str; 6] =
    ["--input", "complexity=complex", "--input", "sides=backend,frontend", "--answer", "sign-off=approve"];

const BACKEND: &str = r#"{unit: backend, iteration: 1, write: {api/greet.sh: "echo Hello\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [api/greet.sh], dod_coverage: [{mark: "✓", row: DoD-1}]}}"#;
const FRONTEND: &str = r#"{unit: frontend, iteration: 1, write: {web/page.txt: "Hello\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [web/page.txt], dod_coverage: [{mark: "✓", row: DoD-2}]}}"#;
const IDLE: &str = r#"{report: {status: complete, abstract: {outcome: nothing to do, next_phase: dod-checker}}}"#;
const CHECKED: [&str; 3] = [
    r#"{unit: backend, report: {status: complete, abstract: {outcome: it holds, verdict: APPROVED, next_phase: reviewer}, verdict: APPROVED, verified_rows: ["DoD-1: there"]}}"#,
    r#"{unit: frontend, report: {status: complete, abstract: {outcome: it holds, verdict: APPROVED, next_phase: reviewer}, verdict: APPROVED, verified_rows: ["DoD-2: there"]}}"#,
    r#"{report: {status: complete, abstract: {outcome: both hold, verdict: APPROVED, next_phase: tester}, verdict: APPROVED, verified_rows: ["DoD-1: there", "DoD-2: there", "DoD-3: they do"]}}"#,
];
const REVIEWED: &str = r#"{report: {status: complete, abstract: {outcome: fine, verdict: APPROVED, next_phase: n/a}}}"#;
const TESTED: &str = r#"{iteration: 1, write: {tests/both.sh: "true\n"}, report: {status: complete, abstract: {outcome: tested, next_phase: n/a}, files_created: [tests/both.sh], dod_coverage: [{mark: "✓", row: "DoD-4: a test"}]}}"#;
const TESTED_AGAIN: &str = r#"{report: {status: complete, abstract: {outcome: tested, next_phase: n/a}, dod_coverage: [{mark: "✓", row: "DoD-4: a test"}]}}"#;

/// A script in which all is well, but for what is put before it.
pub fn script(before: &[(&str, &[&str])]) -> String {
    let well: [(&str, &[&str]); 4] = [
        ("developer", &[BACKEND, FRONTEND, IDLE]),
        ("dod-checker", &CHECKED),
        ("reviewer", &[REVIEWED]),
        ("tester", &[TESTED, TESTED_AGAIN]),
    ];
    let mut text = "script: 1\nroles:\n".to_owned();
    let mut role = |name: &str, entries: &[&str]| {
        text.push_str(&format!("  {name}:\n"));
        entries.iter().for_each(|entry| text.push_str(&format!("    - {entry}\n")));
    };
    for (name, entries) in well {
        let first = before.iter().find(|(role, _)| *role == name).map_or(&[][..], |(_, entries)| entries);
        role(name, &[first, entries].concat());
    }
    for (name, entries) in before.iter().filter(|(name, _)| well.iter().all(|(known, _)| known != name)) {
        role(name, entries);
    }
    text
}

pub fn play(before: &[(&str, &[&str])]) -> (Play, Said) {
    let mut play = Play::new(TASK, &script(before));
    let said = play.start(&BOTH);
    (play, said)
}

/// The units in the order in which they landed.
pub fn landed(play: &Play) -> Vec<String> {
    let units: std::collections::BTreeMap<_, String> = play
        .events()
        .iter()
        .filter_map(|event| match &event.event {
            Event::AttemptStarted(started) => match &started.work {
                Work::Land { unit, .. } => Some((started.attempt, unit.to_string())),
                _ => None,
            },
            _ => None,
        })
        .collect();
    let ended = play.events().into_iter().filter_map(|event| match event.event {
        Event::LandingEnded(landing) if landing.outcome == LandOutcome::Landed => Some(landing.attempt),
        _ => None,
    });
    ended.map(|attempt| units[&attempt].clone()).collect()
}

/// The work tree that a question shows.
pub fn tree(said: &Said) -> PathBuf {
    said.err.lines().find_map(|line| line.trim().strip_prefix("the work tree is ")).unwrap().into()
}

/// A developer that leaves only when the other one is alive at the same time.
fn meeting(play: &Play) -> String {
    let place = play.world.path("meet");
    std::fs::create_dir_all(&place).unwrap();
    let report = "## Status\ncomplete\n\n## Abstract\noutcome: built\nverdict: n/a\nfiles: 1 created, 0 modified, 0 deleted\nnext_phase: dod-checker\nopen_questions: 0\n\n## Files Created\n- `FILE`\n\n## DoD coverage\n- ✓ ROW\n";
    format!(
        r#"#!/bin/sh
cat > /dev/null
cd_to={place}
case $TOLLGATE_UNIT in
  backend) other=frontend; file=api/greet.sh; row=DoD-1; text='echo Hello';;
  *) other=backend; file=web/page.txt; row=DoD-2; text=Hello;;
esac
await() {{ n=0; while [ ! -s "$cd_to/$1" ]; do n=$((n + 1)); [ $n -gt 600 ] && exit 7; sleep 0.05; done; }}
echo $$ > "$cd_to/$TOLLGATE_UNIT.pid"
await "$other.pid"
kill -0 "$(cat "$cd_to/$other.pid")" || exit 8
echo yes > "$cd_to/$TOLLGATE_UNIT.saw"
await "$other.saw"
mkdir -p "$(dirname "$file")"
echo "$text" > "$file"
sed "s,FILE,$file,; s,ROW,$row," > "$TOLLGATE_REPORT" <<'END'
{report}END
"#,
        place = place.display()
    )
}

#[test]
fn both_sides_work_at_the_same_time() {
    let mut play = Play::new(TASK, &script(&[]));
    let agent = meeting(&play);
    play.world.agent("agent", &agent);
    // They meet in a folder outside of both trees.
    play.world.set("TOLLGATE_SANDBOX", "off");
    // One after the other, the first would wait for the second in vain and end with 7.
    let said = play.start(&[&BOTH[..], &["--worker", "developer=command:agent"]].concat()).exits(0);
    assert!(said.err.contains("succeeded"), "{}", said.err);
    let seen = ["backend.saw", "frontend.saw"].map(|name| play.world.path("meet").join(name).exists());
    assert_eq!(seen, [true, true]);
    assert_eq!(play.changed(), "A\tapi/greet.sh\nA\ttests/both.sh\nA\tweb/page.txt\n");
    play.holds();
}

#[test]
fn both_sides_start_from_what_devops_left_and_do_not_see_each_other() {
    let devops = r#"{write: {Makefile: "all:\n"}, report: {status: complete, abstract: {outcome: a Makefile, next_phase: developer}, files_created: [Makefile]}}"#;
    let mut play = Play::new(TASK, &script(&[("devops", &[devops])]));
    play.start(&[&BOTH[..], &["--input", "infra=needed"]].concat()).exits(0);
    let starts: Vec<(String, String)> = play
        .events()
        .into_iter()
        .filter_map(|event| match event.event {
            Event::AttemptStarted(started) => match &started.work {
                Work::Dispatch { role, .. } => Some((role.to_string(), started.tree.to_string())),
                Work::Commands { .. } | Work::Land { .. } => None,
            },
            _ => None,
        })
        .take(3)
        .collect();
    let roles: Vec<&str> = starts.iter().map(|(role, _)| role.as_str()).collect();
    assert_eq!(roles, ["devops", "developer", "developer"]);
    assert_eq!(starts[1].1, starts[2].1, "the same base");
    let sides = ["backend", "frontend"].map(|side| play.world.path(&format!("state/trees/{}/{side}", play.run)));
    assert!(sides.iter().all(|side| side.join("Makefile").exists()));
    assert!(sides[0].join("api/greet.sh").exists() && !sides[0].join("web").exists());
    assert!(sides[1].join("web/page.txt").exists() && !sides[1].join("api").exists());
    play.holds();
}

#[test]
fn what_is_outside_the_scope_is_taken_out_when_a_person_says_so() {
    let out = r#"{unit: frontend, iteration: 2, delete: [conf/lang], report: {status: complete, abstract: {outcome: taken out, next_phase: dod-checker}, files_deleted: [conf/lang]}}"#;
    let (play, said) = play(&[("developer", &[COLLIDING[0], COLLIDING[1], out])]);
    said.exits(4);
    play.decide(&["dec_2", "undo"]).exits(0);
    let brief = brief_of(&play, "frontend", 2);
    assert!(brief.contains("## Take these out again") && brief.contains("- `conf/lang`"), "{brief}");
    assert!(!brief.contains("## Your work collides"), "{brief}");
    assert_eq!(play.file("conf/lang").as_deref(), Some("en\n"));
    play.holds();
}

/// What `show` says of the two sides, without the order in which they went: that differs from run to run.
pub fn shown(play: &Play) -> String {
    let said = play.tollgate(&["show", "RUN"]);
    let text = play.world.filtered(&said.out).replace(&play.run, "[RUN]");
    let wanted = ["Current state", "Waits for you", "What must be true", "Gates", "Findings", "Changed"];
    let parts = text.split("\n\n").filter(|part| wanted.iter().any(|title| part.starts_with(title)));
    let mut out = String::new();
    for word in parts.collect::<Vec<_>>().join("\n\n").split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '_')
    {
        let number = word.strip_prefix("att_").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
        out.push_str(&number.map_or_else(|| word.to_owned(), |rest| format!("att_N{rest}")));
    }
    out
}

#[test]
fn scopes_that_are_missing_overlap_or_cannot_be_used_are_refused_at_the_start() {
    let missing = TASK.replace("Scope: `web/**`\n", "");
    let overlap = TASK.replace("Scope: `web/**`", "Scope: `web/**`, `**/lang`");
    let leads_out = TASK.replace("Scope: `web/**`", "Scope: `../web/**`");
    let mut text = String::new();
    let cases: [(&str, &str, &[&str]); 7] = [
        ("without a scope", &missing, &[]),
        ("overlapping", &overlap, &[]),
        ("leading out", &leads_out, &[]),
        ("overlapping by flag", TASK, &["--scope", "frontend=api/pages/**"]),
        ("not a side", TASK, &["--scope", "docs=docs/**"]),
        ("no pattern", TASK, &["--scope", "frontend"]),
        ("absolute", TASK, &["--scope", "frontend=/web/**"]),
    ];
    for (name, task, words) in cases {
        let mut play = Play::new(task, &script(&[]));
        let said = play.start(&[&BOTH[..], words].concat());
        text.push_str(&format!("== {name}\n{}", play.told(&said)));
        assert!(!play.world.path("state/runs").join(&play.run).join("git").exists() || play.run.is_empty());
        assert_eq!(play.world.git(&["for-each-ref", "refs/tollgate"]), "", "nothing was begun");
    }
    insta::assert_snapshot!("refused", text);
}

/// A folder that is named like a file holds nothing: all of the side's work would lie outside.
#[test]
fn a_scope_that_names_a_folder_as_if_it_were_a_file_is_refused_with_the_pattern_for_it() {
    let started = |task: &str, words: &[&str]| {
        let mut play = Play::new(task, &script(&[]));
        play.world.write("web/old.txt", "old\n");
        play.world.commit("A page");
        play.start(&[&BOTH[..], words].concat())
    };
    let bare = TASK.replace("Scope: `web/**`", "Scope: `web`");
    let wanted = "`frontend` has the pattern `web`, which is a folder: write `web/**` for all that is in it";
    started(&bare, &[]).exits(1).says("TG0336").says(wanted).says("task.md:10");
    started(TASK, &["--scope", "frontend=./web"]).exits(1).says(wanted);
}

#[test]
fn a_scope_may_be_given_with_the_run_and_takes_the_place_of_the_file_s() {
    let missing = TASK.replace("Scope: `web/**`\n", "");
    let mut play = Play::new(&missing, &script(&[]));
    // A slash says that a folder is meant.
    play.start(&[&BOTH[..], &["--scope", "frontend=web/", "--scope", "frontend=pages/**"]].concat()).exits(0);
    play.holds();
    let mut play = Play::new(TASK, &script(&[]));
    // Now the page lies outside.
    play.start(&[&BOTH[..], &["--scope", "frontend=pages/**"]].concat()).exits(4).says("web/page.txt");
    play.holds();
}
