//! Mutants of every built-in protocol and draft: each is refused with the right code, or listed here with its reason.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test makes files of its own and fails by panicking"
)]

mod operators;
mod tree;

use tollgate_core::code::Code;
use tollgate_core::diagnostic::Severity;
use tollgate_core::protocol::{self, Dialects};

use operators::{Mutant, mutants};

/// Mutants that are sound protocols: protocol, operator, site, why.
const EQUIVALENT: &[(&str, &str, &str, &str)] = &[
    ("build-plan", "drop mandatory", "signed-off", STILL_READ),
    ("build-plan", "drop mandatory", "dod-covered", STILL_READ),
    ("decree", "drop mandatory", "spec-ready", STILL_READ),
    ("decree", "drop mandatory", "reviewed", STILL_READ),
    ("decree", "drop mandatory", "merge-approved", STILL_READ),
    ("pipeline", "drop mandatory", "ci-green", STILL_READ),
    ("pipeline", "drop mandatory", "reviewed", STILL_READ),
    ("supervisor", "drop mandatory", "approved", STILL_READ),
    ("supervisor", "drop mandatory", "owned", STILL_READ),
    ("team", "drop mandatory", "design-approved", STILL_READ),
    ("team", "drop mandatory", "reviewed", STILL_READ),
    ("team", "drop mandatory", "tested", STILL_READ),
    ("team", "drop mandatory", "secured", STILL_READ),
    ("decree", "drop a limit", "issue.merged.conflict", BY_PERSON),
    ("team", "drop a limit", "main.lean-task.raise outgrown", BY_PERSON),
    ("team", "drop a limit", "main.implement.raise outgrown", BY_PERSON),
    ("supervisor", "drop ensures", "main.audit", CHECKED_NEXT),
    ("team", "drop ensures", "verify.review", CHECKED_NEXT),
    ("team", "drop ensures", "verify.qa", CHECKED_NEXT),
    ("team", "drop ensures", "verify.security", CHECKED_NEXT),
    ("supervisor", "drop a gate from a check", "main.plan-check.approved", NOT_UNDONE),
    ("supervisor", "drop a gate from a check", "main.recheck.plan-approved", NOT_UNDONE),
    ("supervisor", "drop a gate from a check", "main.close.audited", NOT_UNDONE),
    ("supervisor", "drop a gate from a check", "main.close.verified", NOT_UNDONE),
    ("pipeline", "write after the last check", "main.review-only", NOT_DUE),
    ("team", "write after the last check", "code-only.code-all", NOT_DUE),
    ("team", "route around an each", "main.review-strategy.per-batch", SAME_UNITS),
    ("team", "route around an each", "main.final-review.accept", SAME_UNITS),
    ("team", "route around an each", "main.final-pass.all", SAME_UNITS),
];
const STILL_READ: &str = "a stage still requires the gate, or a condition reads it";
const BY_PERSON: &str = "a person decides in every round of the loop";
const CHECKED_NEXT: &str = "the check that follows evaluates the gate itself";
const NOT_UNDONE: &str = "the gate was established before and nothing since changes what it is bound to";
const SAME_UNITS: &str = "another `each` on the path enters the same units, so the gate that reads them is not empty";
const NOT_DUE: &str = "no mandatory gate is bound to what is written, in this mode or for units that are only produced";

/// From so many mutants on a third of them is tried, besides those that are listed.
const SAMPLED_FROM: usize = 250;

fn codes(mutant: &Mutant, dialects: &Dialects) -> Vec<Code> {
    let (protocol, mut found) = protocol::read_tree(&mutant.tree);
    found.extend(protocol.map(|protocol| protocol::check(&protocol, dialects)).unwrap_or_default());
    found.into_iter().filter(|d| d.severity == Severity::Error).map(|d| d.code).collect()
}

/// Tells how many mutants of a protocol are refused; each of the others must be listed, and be sound.
fn refused(name: &str, text: &str) -> usize {
    let (dialects, _) = Dialects::read(include_str!("../drafts/dialects.yaml"));
    let mut refused = 0;
    let mut wrong = Vec::new();
    let mut listed: Vec<_> = EQUIVALENT.iter().filter(|(protocol, ..)| *protocol == name).collect();
    let all = mutants(&tree::yaml(text));
    // A large protocol is sampled, unless there is time: every operator has many sites.
    let full = std::env::var_os("TOLLGATE_TEST_FULL").is_some() || all.len() < SAMPLED_FROM;
    for (at, mutant) in all.into_iter().enumerate() {
        let (operator, site) = (mutant.operator, &mutant.site);
        let entry = listed.iter().position(|(_, o, s, _)| *o == operator && s == site);
        if !full && entry.is_none() && at % 3 != 0 {
            continue;
        }
        let found = codes(&mutant, &dialects);
        match entry.map(|entry| listed.swap_remove(entry)) {
            Some(_) if found.is_empty() => {}
            Some((.., reason)) => {
                wrong.push(format!("{operator} at {site}: listed ({reason}), yet refused: {found:?}"))
            }
            None if found.iter().any(|code| mutant.codes.contains(code)) => refused += 1,
            None => wrong.push(format!("{operator} at {site}: found {found:?}, due {:?}", mutant.codes)),
        }
    }
    assert!(wrong.is_empty(), "{name}: {} mutants are not as they should be:\n{}", wrong.len(), wrong.join("\n"));
    assert!(listed.is_empty(), "{name}: listed, and no mutant at all: {listed:?}");
    println!("{name}: {refused} mutants refused");
    refused
}

macro_rules! mutants_of {
    ($($test:ident: $name:literal, $file:literal;)*) => {
        $(#[test]
        fn $test() {
            let refused = refused($name, include_str!($file));
            assert!(refused >= 60, "only {refused} mutants were refused");
        })*

        #[test]
        fn the_list_of_sound_mutants_names_protocols() {
            assert!(EQUIVALENT.iter().all(|(protocol, ..)| [$($name),*].contains(protocol)));
        }
    };
}

mutants_of! {
    build_plan: "build-plan", "../../../../protocols/build-plan.yaml";
    decree: "decree", "../drafts/decree.yaml";
    pipeline: "pipeline", "../drafts/pipeline.yaml";
    supervisor: "supervisor", "../../../../protocols/supervisor.yaml";
    team: "team", "../drafts/team.yaml";
}
