//! Stuck runs: what a run waits for that comes to no good end though everybody wants it to.

use std::collections::{BTreeMap, BTreeSet};

use tollgate_core::Name;
use tollgate_core::id::UnitId;
use tollgate_core::protocol::model::{Owner, Target};
use tollgate_core::protocol::{Outcome, graph};
use tollgate_core::run::Run;
use tollgate_core::run::budget::AtBudget;
use tollgate_core::run::command_permission::AtPermission;
use tollgate_core::run::empty_change::AtEmpty;
use tollgate_core::run::event::{ByKind, Event, Recorded, RunOutcome, UnitState};
use tollgate_core::run::open_findings::AtFindings;
use tollgate_core::run::state::{Decision, Instance, Phase};

/// What is said more often than this is a circle, and what the run waits for.
const CIRCLE_MIN: usize = 3;

/// How a run was closed.
pub const fn closed(run: &Run) -> Option<RunOutcome> {
    match &run.phase {
        Phase::Closed { outcome, .. } => Some(*outcome),
        Phase::Open | Phase::Halted { .. } => None,
    }
}

/// Whether a run came to an end that its protocol was made for.
pub const fn ended_well(run: &Run) -> bool {
    matches!(closed(run), Some(RunOutcome::Succeeded | RunOutcome::Reported))
}

/// Whether a person gave up a unit that the run cannot succeed without: its work has landed, or another one needs it. No way back
/// is offered then, and the run waits for being given up itself. That is what the person asked for and no fault of the protocol, so it
/// is no stuck run; calm persons never do it, and the campaign counts and prints it, so that nothing else hides behind it.
pub fn is_owed_for_ever(run: &Run, events: &[Recorded]) -> bool {
    let by_person = events.iter().filter(|recorded| recorded.by.kind == ByKind::Person);
    let dropped = by_person.filter_map(|recorded| match &recorded.event {
        Event::UnitChanged(changed) if changed.state == UnitState::Dropped => Some(&changed.unit),
        _ => None,
    });
    let given_up: BTreeSet<&UnitId> = dropped.collect();
    run.ledger.units.iter().any(|unit| match unit.state {
        UnitState::Dropped => unit.in_tree && given_up.contains(&unit.name),
        UnitState::New => unit.needs.iter().any(|need| given_up.contains(need)),
        UnitState::Accepted | UnitState::Produced | UnitState::Lapsed => false,
    })
}

/// What a run waits for: how it closed, else what it was held at or asked about most often, else where it is.
pub fn waits_for(run: &Run, since: &[Recorded]) -> String {
    if let Phase::Closed { why, .. } = &run.phase {
        return without_numbers(&format!("closed, {why}"));
    }
    let mut often: BTreeMap<String, usize> = BTreeMap::new();
    for recorded in since {
        let line = match &recorded.event {
            Event::FlowHeld(held) => {
                format!("`{}` is held: {}", held.stage, held.why.split("; ").next().unwrap_or_default())
            }
            Event::DecisionAsked(asked) if asked.asked.blocking => {
                format!("`{}` asks `{}`", asked.asked.origin.stage, asked.asked.ask)
            }
            _ => continue,
        };
        *often.entry(without_numbers(&line)).or_default() += 1;
    }
    let most = often.into_iter().max_by_key(|(_, count)| *count).filter(|(_, count)| *count >= CIRCLE_MIN);
    most.map_or_else(|| places(run), |(line, _)| line)
}

/// Where the flows of a run are.
fn places(run: &Run) -> String {
    let live = run.instances.iter().filter(|(name, _)| run.is_live(name));
    let mut places: Vec<String> = live.filter_map(|(_, instance)| place(run, instance)).collect();
    places.sort();
    places.dedup();
    places.join(", ")
}

fn place(run: &Run, instance: &Instance) -> Option<String> {
    let stage = instance.at.stage()?;
    let asked = run
        .pending()
        .find(|(_, decision)| run.instances.get(&decision.asked.instance).is_some_and(|at| **at == *instance));
    Some(match asked {
        Some((_, decision)) => format!("`{stage}` asks `{}`", decision.asked.ask),
        None => format!("`{stage}` of {}", instance.flow),
    })
}

/// A line in which units, rows and findings are all the same.
fn without_numbers(line: &str) -> String {
    let mut out = String::new();
    for letter in line.chars().map(|letter| if letter.is_ascii_digit() { '#' } else { letter }) {
        if !(letter == '#' && out.ends_with('#')) {
            out.push(letter);
        }
    }
    out
}

/// Whether an answer gives up the run or what it is about: its route ends as dropped, or leaves the flow held.
pub fn gives_up(run: &Run, decision: &Decision, option: &Name) -> bool {
    let (protocol, asked) = (&run.protocol, &decision.asked);
    if decision.is_of_budget() {
        return AtBudget::parse(option) == Some(AtBudget::Stop);
    }
    if decision.is_of_empty_change() {
        return AtEmpty::parse(option) == Some(AtEmpty::Hold);
    }
    if decision.is_of_findings() {
        return AtFindings::parse(option) == Some(AtFindings::Hold);
    }
    if decision.permission().is_some() {
        return AtPermission::parse(option) == Some(AtPermission::Refuse);
    }
    let Some(instance) = run.instances.get(&asked.instance) else { return false };
    let origin = run.stage(instance, &asked.origin.stage);
    let Some(stage) = protocol.ask(&asked.ask).or_else(|| run.stage(instance, &asked.ask)) else { return false };
    let Some((rule, _)) = protocol.route(stage, &Outcome::from(&**option)) else { return false };
    let to = match (&rule.route.to, origin) {
        (Target::Back, _) => asked.origin.cut_off.as_ref().map(|cut_off| cut_off.to.clone()),
        (Target::As(outcome), Some(origin)) => {
            let outcome = graph::stands_for(protocol, &graph::needed(protocol), origin, outcome);
            outcome.and_then(|outcome| protocol.route(origin, &outcome)).map(|(rule, _)| rule.route.to.clone())
        }
        (to, _) => Some(to.clone()),
    };
    match to {
        Some(Target::Dropped | Target::Hold) => true,
        Some(Target::Raise(name)) => is_given_up_above(run, instance, &Outcome::Raised(name)),
        _ => false,
    }
}

/// Whether what a flow raises gives the run up: by the first flow above that catches it, else by `otherwise`.
fn is_given_up_above(run: &Run, instance: &Instance, raised: &Outcome) -> bool {
    let protocol = &run.protocol;
    let ends = |to: &Target| matches!(to, Target::Dropped | Target::Hold);
    let parent = instance.parent.as_ref().and_then(|parent| run.instances.get(parent));
    let Some((parent, each)) = parent.zip(instance.each.as_ref()) else {
        let caught = protocol.otherwise.iter().find(|rule| *rule.outcome == *raised.word());
        return caught.is_none_or(|rule| ends(&rule.route.to));
    };
    let caught = run.stage(parent, each).and_then(|stage| protocol.route(stage, raised));
    match caught {
        Some((rule, owner)) if owner == Owner::Stage || parent.parent.is_none() => ends(&rule.route.to),
        _ => is_given_up_above(run, parent, raised),
    }
}
