//! Who may come next, as the protocol routes it.

use crate::bench::{Bench, checked, developed, report, reviewed};
use tollgate_core::context::next_roles;
use tollgate_core::report::Health;

fn next(bench: &mut Bench, outcome: &str) -> (Vec<String>, bool) {
    let attempt = bench.live();
    let live = &bench.run.attempts[&attempt];
    let next = next_roles(&bench.run, &live.instance, &live.stage, &outcome.into());
    (next.roles.iter().map(ToString::to_string).collect(), next.person)
}

fn roles(names: &[&str]) -> (Vec<String>, bool) {
    (names.iter().map(ToString::to_string).collect(), false)
}

const VERIFIED: &str = "## Verified rows\n- DoD-1 — src/greet.rs:1\n- DoD-2 — make\n\n## Gaps\nNone\n";

#[test]
fn standard_goes_from_role_to_role_and_up_to_the_tester() {
    let mut bench = Bench::open(&[("complexity", "standard"), ("infra", "needed")]);
    assert_eq!(next(&mut bench, "ok").0[0], "developer", "through the `each` into the first stage of the side");
    bench.report("devops", &report("ready", "n/a", "0 created, 0 modified, 0 deleted", "n/a", 0, ""));
    assert_eq!(next(&mut bench, "ok"), roles(&["dod-checker"]));
    bench.report("developer", &developed());
    assert_eq!(next(&mut bench, "accept"), roles(&["reviewer"]));
    assert_eq!(next(&mut bench, "reject"), roles(&["developer"]));
    bench.report("dod-checker", &checked("APPROVED", "reviewer", VERIFIED));
    assert_eq!(
        next(&mut bench, "accept"),
        roles(&["dod-checker", "tester"]),
        "a joint check only where sides share rows"
    );
    assert_eq!(next(&mut bench, "reject"), roles(&["developer"]));
    assert_eq!(next(&mut bench, "needs_input"), (Vec::new(), true));
    assert_eq!(next(&mut bench, "malformed"), roles(&["reviewer"]), "asked again");
    bench.report("reviewer", &reviewed("APPROVED", "tester", "None"));
    assert_eq!(next(&mut bench, "accept"), roles(&[]), "the closing check, and the end");
    let (names, person) = next(&mut bench, "reject");
    assert_eq!((names[0].as_str(), person), ("developer", false));
}

#[test]
fn the_third_review_leads_to_a_person() {
    let mut bench = Bench::open(&[("complexity", "standard")]);
    for review in 1..=3 {
        bench.report("developer", &developed());
        bench.report("dod-checker", &checked("APPROVED", "reviewer", VERIFIED));
        // The developer may be named there too: that the route is used up is the engine's knowledge.
        let (names, person) = roles(&["developer"]);
        let expected = (names, person || review == 3);
        assert_eq!(next(&mut bench, "reject"), expected, "review {review}");
        let to = if review < 3 { "developer" } else { "stop, surface to human" };
        bench.report(
            "reviewer",
            &reviewed("REQUEST_CHANGES", to, &format!("- [major] `src/greet.rs:{review}` — wrong {review}")),
        );
    }
}

/// Who comes next is the protocol's to say: a report that names another is routed all the same.
#[test]
fn the_next_phase_of_a_report_decides_nothing() {
    for to in ["developer", "stop, surface to human", "n/a", "tester"] {
        let mut bench = Bench::open(&[("complexity", "standard")]);
        bench.report("developer", &developed());
        let said = checked("APPROVED", to, VERIFIED);
        assert_eq!(bench.report_any("dod-checker", &said), Health::Ok, "{to}");
        assert_eq!(next(&mut bench, "reject"), roles(&["developer"]), "the reviewer is at work");
    }
}

#[test]
fn simple_asks_a_reviewer_only_where_questions_are_open() {
    let mut bench = Bench::open(&[("complexity", "simple")]);
    assert_eq!(next(&mut bench, "ok"), roles(&["dod-checker"]));
    bench.report("dev-tester", &developed());
    // Whether a question will be open is not a variable: both ways are possible.
    assert_eq!(next(&mut bench, "accept"), roles(&["reviewer"]));
    assert_eq!(next(&mut bench, "reject"), roles(&["dev-tester"]));
}

#[test]
fn complex_checks_the_joined_tree() {
    let mut bench = Bench::open(&[("complexity", "complex")]);
    bench.report("developer", &developed());
    bench.report("dod-checker", &checked("APPROVED", "reviewer", VERIFIED));
    assert_eq!(next(&mut bench, "accept"), roles(&["dod-checker"]));
}
