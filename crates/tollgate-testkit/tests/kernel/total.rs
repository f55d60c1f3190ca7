//! `decide` is total: in every state, every command of everybody is decided or refused, and never breaks an invariant.

use std::collections::{BTreeMap, BTreeSet};

use tollgate_core::digest::Digest;
use tollgate_core::id::{AttemptId, DecisionId};
use tollgate_core::report::{Health, Report, Verdict};
use tollgate_core::run::decide::{Answer, AttemptResult, LandEnd, Landing};
use tollgate_core::run::event::{By, ByKind, LandAs, LandOutcome, LandTarget, Recorded};
use tollgate_core::run::state::{At, Run};
use tollgate_core::run::{self, Command, Rejection, Stamp, invariants};
use tollgate_testkit::sample::full;

fn result(health: Health, verdict: Verdict) -> Box<AttemptResult> {
    Box::new(AttemptResult {
        report: Report::new(health, verdict),
        object: Digest::default(),
        sections: Vec::new(),
        diagnostics: Vec::new(),
        content: None,
        changed: Vec::new(),
        artifacts: BTreeMap::new(),
        told: None,
        noticed: Vec::new(),
        leash: None,
    })
}

/// Every command, under every live token, under one that never was, and to every decision.
fn commands(run: &Run) -> Vec<Command> {
    let mut all = vec![
        Command::TakeOver { driver: "another".into() },
        Command::Advance,
        Command::Tick,
        Command::Retry { unit: None },
        Command::Retry { unit: Some("backend".into()) },
        Command::Retry { unit: Some("nobody".into()) },
        Command::Cancel { why: "enough".to_owned() },
        Command::Cancel { why: String::new() },
        Command::Published { branch: "b".into(), commit: "c".into() },
    ];
    for how in [LandAs::Branch, LandAs::Merge, LandAs::Patch] {
        for tree in [run.tree.clone(), "another".into()] {
            let (onto, at) = ("main".into(), "c1".into());
            let (touched, lacks) = (vec!["a".into()], vec!["a commit".into()]);
            let (branch, found, file) = (None, None, None);
            let target = LandTarget { how, onto, at, branch, found, tree, touched, apart: true, lacks, file };
            all.push(Command::Land(Box::new(target)));
        }
    }
    for token in [run.landing.as_ref().map_or(0, |landing| landing.token), 99] {
        let landed = LandEnd::Landed { commit: "c".into(), patch: None };
        all.push(Command::LandChecked { token, results: Vec::new(), leash: None });
        all.push(Command::LandEnded { token, end: landed });
        all.push(Command::LandEnded { token, end: LandEnd::Left { why: String::new() } });
    }
    let live = run.attempts.iter().map(|(id, attempt)| (*id, attempt.token));
    for (attempt, token) in live.chain([(AttemptId(1), 1), (AttemptId(99), 99)]) {
        for health in Health::ALL {
            for verdict in Verdict::ALL {
                all.push(Command::Report { attempt, token, result: result(health, verdict) });
            }
        }
        all.push(Command::Unready { attempt, token, why: String::new(), output: None });
        all.push(Command::Ran { attempt, token, results: Vec::new(), leash: None });
        for outcome in [LandOutcome::Landed, LandOutcome::Conflict, LandOutcome::OutOfScope, LandOutcome::Refused] {
            let landing = Landing {
                by_policy: Vec::new(),
                outcome,
                content: None,
                collided: None,
                measured: Vec::new(),
                paths: Vec::new(),
                why: String::new(),
            };
            all.push(Command::Landed { attempt, token, landing: Box::new(landing) });
        }
    }
    for (decision, known) in &run.decisions {
        let options = known.asked.options.iter().map(|option| Some(option.id.clone()));
        for option in options.chain([None, Some("nonsense".into())]) {
            for content in [None, Some(run.opened.content.clone())] {
                let answer = Answer { option: option.clone(), text: "text".to_owned(), content, ..Answer::default() };
                all.push(Command::Answer { decision: *decision, answer: Box::new(answer) });
            }
        }
    }
    all.push(Command::Answer { decision: DecisionId(99), answer: Box::default() });
    all
}

fn word(at: &At) -> &'static str {
    match at {
        At::Ready { .. } => "ready",
        At::Leased { .. } => "leased",
        At::Waiting { .. } => "waiting",
        At::Each { .. } => "each",
        At::Held { .. } => "held",
        At::Closing { .. } => "closing",
        At::Ended { .. } => "ended",
    }
}

#[test]
fn every_command_in_every_state_is_decided() {
    let mut states = BTreeSet::new();
    let mut decided = 0;
    for script in super::scripts() {
        let steps: Vec<&str> =
            script.steps.lines().flat_map(|line| line.split(" | ")).filter(|step| !step.trim().is_empty()).collect();
        for length in (1..=steps.len()).rev().step_by(if full() { 5 } else { 31 }) {
            let (Some(play), _) = script.play(&steps[..length].join(" | ")) else { continue };
            states.extend(play.run.instances.values().map(|instance| word(&instance.at)));
            for command in commands(&play.run) {
                for kind in [ByKind::Person, ByKind::Driver, ByKind::Worker, ByKind::Timer] {
                    let by = By { kind, name: "x".into() };
                    let stamp = Stamp { now_ms: 1 << 40, by, epoch: play.run.epoch, around: Default::default() };
                    match run::decide(&play.run, command.clone(), &stamp) {
                        Ok(made) => {
                            decided += 1;
                            holds(&play.run, &made.events, &made.run);
                        }
                        Err(Rejection::Broken(broken)) => panic!("{command:?} of {kind:?} breaks {broken:?}"),
                        Err(_) => {}
                    }
                }
            }
        }
    }
    let all: BTreeSet<&str> = ["ready", "leased", "waiting", "each", "held", "closing", "ended"].into();
    assert_eq!(states, all);
    assert!(decided > 1_000, "{decided}");
}

/// The events give the run that `decide` returned, and nothing else.
fn holds(before: &Run, events: &[Recorded], after: &Run) {
    let mut replayed = before.clone();
    events.iter().for_each(|recorded| run::evolve(&mut replayed, recorded));
    assert!(replayed == *after, "the events do not give the run");
    assert_eq!(invariants::state(after), []);
}
