//! Mutants of every shipped protocol: each is refused with the right code, or listed here with its reason.

mod operators;
mod tree;

use std::collections::BTreeMap;

use tollgate_core::code::Code;
use tollgate_core::diagnostic::Severity;
use tollgate_core::protocol;
use tollgate_testkit::sample::some_of;

use super::shipped::{dialects, text};
use operators::{Mutant, mutants};

/// Mutants that are sound protocols: protocol, operator, site, why.
const EQUIVALENT: &[(&str, &str, &str, &str)] = &[
    ("build-plan", "drop mandatory", "signed-off", STILL_READ),
    ("build-plan", "drop mandatory", "dod-covered", STILL_READ),
    ("supervisor", "drop mandatory", "approved", STILL_READ),
    ("supervisor", "drop mandatory", "owned", STILL_READ),
    ("team", "drop mandatory", "design-approved", STILL_READ),
    ("team", "drop mandatory", "reviewed", STILL_READ),
    ("team", "drop mandatory", "build-reviewed", STILL_READ),
    ("team", "drop mandatory", "tested", STILL_READ),
    ("team", "drop mandatory", "secured", STILL_READ),
    ("team", "drop mandatory", "whole-secured", STILL_READ),
    ("team", "drop mandatory", "criteria-met", STILL_READ),
    ("ledger", "drop mandatory", "approved", STILL_READ),
    ("ledger", "drop mandatory", "agreed", STILL_READ),
    ("supervisor", "drop a limit", "main.audit.reject", BY_PERSON),
    ("supervisor", "drop a limit", "main.close.fail", BY_PERSON),
    ("team", "drop a limit", "main.implement.raise outgrown", BY_PERSON),
    ("team", "drop a limit", "main.implement-all.raise outgrown", BY_PERSON),
    ("team", "drop a limit", "main.final-pass.raise outgrown", BY_PERSON),
    ("supervisor", "never done", "unit", BY_PERSON),
    ("fan-out", "never done", "unit", BY_PERSON),
    ("team", "never done", "task", BY_PERSON),
    ("supervisor", "drop ensures", "main.audit", CHECKED_NEXT),
    ("team", "drop ensures", "main.final-review", CHECKED_NEXT),
    ("team", "drop an answer's ensures", "main.left-over.without", CHECKED_NEXT),
    ("fan-out", "drop ensures", "main.judge", CHECKED_NEXT),
    ("ledger", "drop ensures", "main.audit", CHECKED_NEXT),
    ("ledger", "drop an answer's ensures", "main.approve.yes", CHECKED_NEXT),
    ("team", "drop ensures", "verify.review", CHECKED_NEXT),
    ("team", "drop ensures", "verify.qa", CHECKED_NEXT),
    ("team", "drop ensures", "verify.security", CHECKED_NEXT),
    ("supervisor", "drop a gate from a check", "main.plan-check.approved", NOT_UNDONE),
    ("supervisor", "drop a gate from a check", "main.recheck.plan-approved", NOT_UNDONE),
    ("supervisor", "drop a gate from a check", "main.close.audited", NOT_UNDONE),
    ("supervisor", "drop a gate from a check", "main.close.verified", NOT_UNDONE),
    ("team", "drop a gate from a check", "main.lean-close.reviewed", NOT_UNDONE),
    ("team", "drop a gate from a check", "main.lean-close.criteria-met", NOT_UNDONE),
    ("team", "drop a gate from a check", "main.close.reviewed", NOT_UNDONE),
    ("team", "drop a gate from a check", "main.close.criteria-met", NOT_UNDONE),
    ("team", "drop a gate from a check", "verify.weigh.secured", NOT_UNDONE),
    ("team", "write after the last check", "code-only.code-all", NOT_DUE),
    ("fan-out", "write after the last check", "notes.write", NOT_DUE),
    ("team", "raise and nobody catches", "otherwise.cancelled", NOT_TAKEN),
    ("team", "drop a rule", "otherwise.cancelled", NOT_TAKEN),
    ("team", "route around an each", "main.approve-plan.approve", ENTERED),
    ("team", "route around an each", "main.intake-lean.ok", ENTERED),
    ("team", "route around an each", "main.outgrown.lean", ENTERED),
];
const STILL_READ: &str = "a stage still requires the gate, or a condition reads it";
const BY_PERSON: &str = "a person decides in every round of the loop, or whether to go on without";
const CHECKED_NEXT: &str = "the check that follows evaluates the gate itself";
const NOT_UNDONE: &str = "the gate was established before and nothing since changes what it is bound to";
const NOT_TAKEN: &str = "every question says by itself what happens when it is cancelled";
const ENTERED: &str =
    "an `each` over the same units was entered before or follows, and the gate that reads the units refuses new ones";
const NOT_DUE: &str = "no mandatory gate is bound to what is written, in this mode or for units that are only produced";

/// So many sites of each operator are tried before a merge, besides those that are listed.
const OF_EACH: usize = 2;

fn codes(mutant: &Mutant) -> Vec<Code> {
    let (protocol, mut found) = protocol::read_tree(&mutant.tree);
    found.extend(protocol.map(|protocol| protocol::check(&protocol, dialects())).unwrap_or_default());
    found.into_iter().filter(|d| d.severity == Severity::Error).map(|d| d.code).collect()
}

/// Some sites of each operator, evenly over all that it has.
fn sampled(mutants: Vec<Mutant>) -> Vec<Mutant> {
    let mut operators: BTreeMap<&str, Vec<Mutant>> = BTreeMap::new();
    mutants.into_iter().for_each(|mutant| operators.entry(mutant.operator).or_default().push(mutant));
    operators.into_values().flat_map(|sites| some_of(sites, OF_EACH)).collect()
}

/// How many mutants of a protocol are refused; each of the others must be listed, and be sound.
fn refused(name: &str, text: &str) -> usize {
    let is_listed = |mutant: &Mutant| {
        EQUIVALENT.iter().find(|(protocol, operator, site, _)| {
            (*protocol, *operator, *site) == (name, mutant.operator, &*mutant.site)
        })
    };
    let (sound, broken): (Vec<_>, Vec<_>) =
        mutants(&tree::yaml(text)).into_iter().partition(|m| is_listed(m).is_some());
    let of_this = EQUIVALENT.iter().filter(|(protocol, ..)| *protocol == name).count();
    let mut wrong = Vec::new();
    if sound.len() != of_this {
        let there: Vec<_> = sound.iter().map(|mutant| (mutant.operator, &mutant.site)).collect();
        wrong.push(format!("{of_this} are listed, and of them there are {there:?}"));
    }
    for mutant in &sound {
        let found = codes(mutant);
        if !found.is_empty() {
            let reason = is_listed(mutant).map(|(.., reason)| reason);
            wrong.push(format!("{} at {}: listed ({reason:?}), yet refused: {found:?}", mutant.operator, mutant.site));
        }
    }
    let broken = sampled(broken);
    for mutant in &broken {
        let found = codes(mutant);
        if !found.iter().any(|code| mutant.codes.contains(code)) {
            wrong.push(format!("{} at {}: found {found:?}, due {:?}", mutant.operator, mutant.site, mutant.codes));
        }
    }
    assert!(wrong.is_empty(), "{name}: {} mutants are not as they should be:\n{}", wrong.len(), wrong.join("\n"));
    broken.len()
}

macro_rules! mutants_of {
    ($($test:ident: $name:literal;)*) => {
        $(#[test]
        fn $test() {
            let refused = refused($name, text($name));
            assert!(refused >= 50, "only {refused} mutants were refused");
        })*

        const NAMES: &[&str] = &[$($name),*];
    };
}

mutants_of! {
    build_plan: "build-plan";
    supervisor: "supervisor";
    team: "team";
    fan_out: "fan-out";
    ledger: "ledger";
}

#[test]
fn the_list_of_sound_mutants_names_protocols() {
    assert!(EQUIVALENT.iter().all(|(protocol, ..)| NAMES.contains(protocol)));
}
