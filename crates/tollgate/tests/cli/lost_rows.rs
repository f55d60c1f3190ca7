//! A row's command, shown in one tree and not in another.

use super::lost::{BACKEND, BOTH, FIRST, FRONTEND, JOIN, by, crashes, then_fine, told_of};

/// A command that failed in a unit's tree, passed there, and fails in the run's since: an older tree in which it passes takes nothing back.
#[test]
fn what_a_command_shows_in_the_run_s_tree_is_not_taken_back_in_an_older_one() {
    let task = BOTH.replacen("test -f README.md", "test -f api/a -a ! -f web/bad", 1);
    let flows = format!(
        "  main:
    - {{id: sides, each: {{over: [backend, frontend], flow: side, at_once: 1, trees: own, makes: accepted}}, on: {{all: close, some: look, none: hold}}}}
    - {{id: look, dispatch: dod-checker, ensures: [covered], on: {{accept: {{to: sides, limit: 1, then: hold}}, reject: {{to: sides, limit: 1, then: hold}}}}}}
    - {{id: close, check: [standing], on: {{pass: done, fail: hold, stale: hold}}}}
  side:
    - {{id: build, dispatch: developer, on: {{ok: check, failed: hold}}}}
    - {{id: check, dispatch: dod-checker, ensures: [covered], on: {{accept: more, reject: {{to: build, limit: 2, then: hold}}}}}}
    - {{id: more, dispatch: polisher, on: {{ok: tell, failed: hold}}}}
    - {{id: tell, dispatch: reviewer, on: {{accept: recheck, reject: hold}}}}
    - {{id: recheck, dispatch: dod-checker, ensures: [covered], on: {{accept: join, reject: hold}}}}
{JOIN}"
    );
    let made = |of: &str, path: &str| by(of, path, "fine", "created");
    let (run, told) = told_of(
        &task,
        "{unit: true}",
        &flows,
        &[
            ("developer", &[made(FIRST, "api/b"), made(BACKEND, "api/a"), made(FRONTEND, "web/bad")]),
            ("polisher", &[crashes(FIRST), made(BACKEND, "api/c"), made(FRONTEND, "web/c")]),
            ("reviewer", &then_fine([])),
            ("dod-checker", &then_fine([])),
        ],
    );
    told.exits(1).says("DoD-1 passed").says("DoD-1 failed").says("fnd_1 is open").silent_on("succeeded");
    run.holds();
}
