//! *total*: every outcome has a route, and every route an outcome.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::super::Outcome;
use super::super::dialects::Dialects;
use super::super::graph::{Fault, Graph};
use super::super::model::{Kind, Rule, Stage, Target};
use super::Breaches;
use crate::code::Code;

/// Outcomes that `otherwise` may route though no stage has them today: a rule for all stages looks ahead.
const USUAL: [&str; 12] = [
    "partial",
    "needs_input",
    "failed",
    "exhausted",
    "malformed",
    "inconclusive",
    "stale",
    "unobservable",
    "cancelled",
    "conflict",
    "out_of_scope",
    "refused",
];

pub(super) fn check(graph: &Graph<'_>, dialects: &Dialects, breaches: &mut Breaches) {
    faults(graph, breaches);
    contracts(graph, dialects, breaches);
    let mut all: BTreeSet<String> = USUAL.map(String::from).into();
    let mut asks: BTreeSet<&str> = BTreeSet::new();
    for (flow, node) in graph.flows.iter().flat_map(|flow| flow.nodes.iter().map(move |node| (flow, node))) {
        if node.origin.is_some() && !asks.insert(&node.stage.id) {
            continue;
        }
        let outcomes: Vec<String> = graph.outcomes(node.stage, dialects).iter().map(Outcome::to_string).collect();
        // Without its contract nobody knows what the stage can come to.
        if known(graph, node.stage, dialects) {
            keys(&node.stage.on, &outcomes, &format!("the stage `{}` never has", node.stage.id), breaches);
        }
        all.extend(outcomes);
        all.extend(flow.raises.keys().map(|raised| format!("raise {raised}")));
    }
    // A raise of main ends in `otherwise` and is in no flow's list.
    let stages = graph.protocol.flows.iter().flat_map(|flow| &flow.stages).chain(&graph.protocol.asks);
    for rule in stages.flat_map(|stage| &stage.on).chain(&graph.protocol.otherwise) {
        for target in [Some(&rule.route.to), rule.route.then.as_ref()].into_iter().flatten() {
            if let Target::Raise(raised) = target {
                all.insert(format!("raise {raised}"));
            }
        }
    }
    answers(graph, breaches);
    let outcomes: Vec<String> = all.into_iter().collect();
    keys(&graph.protocol.otherwise, &outcomes, "no stage ever has", breaches);
}

/// An answer that goes `as x` can be given from somewhere: no option is offered to nobody.
fn answers(graph: &Graph<'_>, breaches: &mut Breaches) {
    let copies = || graph.flows.iter().flat_map(|flow| &flow.nodes).filter(|node| node.origin.is_some());
    let put: BTreeSet<&str> = copies().map(|copy| &*copy.stage.id).collect();
    let offered: BTreeSet<(&str, Cow<'_, str>)> =
        copies().flat_map(|copy| copy.edges.iter().map(|edge| (&*copy.stage.id, edge.outcome.word()))).collect();
    for ask in graph.protocol.asks.iter().filter(|ask| put.contains(&*ask.id)) {
        // What nobody chooses is told of each origin already.
        for rule in ask.on.iter().filter(|rule| &*rule.outcome != "skipped") {
            if let Target::As(outcome) = &rule.route.to
                && !offered.contains(&(&*ask.id, Cow::from(&*rule.outcome)))
            {
                let message = format!("no stage that puts the ask `{}` can go on `as {outcome}`", ask.id);
                let hint = "name an outcome that such a stage routes; what is a fact cannot be accepted";
                breaches.error(Code::NAME_UNKNOWN, rule.place, message, hint);
            }
        }
    }
}

fn known(graph: &Graph<'_>, stage: &Stage, dialects: &Dialects) -> bool {
    match &stage.kind {
        Kind::Dispatch { role } => graph.protocol.roles.get(role).is_some_and(|r| dialects.get(&r.contract).is_some()),
        Kind::Ask(_) | Kind::Check { .. } | Kind::Each(_) | Kind::Land(_) => true,
    }
}

/// Each key of a table of routes is an outcome, a health with codes, or a pattern that meets one.
fn keys(rules: &[Rule], outcomes: &[String], who: &str, breaches: &mut Breaches) {
    for rule in rules {
        let key = &*rule.outcome;
        let meets = |outcome: &String| match key.strip_suffix('*') {
            Some(prefix) => key.contains('.') && outcome.starts_with(prefix),
            None => outcome == key,
        };
        if !outcomes.iter().any(meets) {
            let list: Vec<&str> = outcomes.iter().map(|outcome| &**outcome).collect();
            let hint = crate::yaml::suggest(key, &list).unwrap_or_else(|| match list.len() {
                0..=16 => format!("outcomes: {}", list.join(", ")),
                _ => "drop the route, or correct the word".into(),
            });
            let message = format!("{who} the outcome `{key}`");
            breaches.error(Code::NOT_AN_OUTCOME, rule.place, message, hint);
        }
    }
}

fn faults(graph: &Graph<'_>, breaches: &mut Breaches) {
    for fault in &graph.faults {
        match fault {
            Fault::NotRouted { stage, outcome } => {
                let message = format!("the stage `{}` does not route its outcome `{outcome}`", stage.id);
                let hint = format!("add `{outcome}: …` to its `on`, or to `otherwise`");
                breaches.error(Code::NOT_ROUTED, stage.place, message, hint);
            }
            Fault::OriginLacks { ask, answer, origin, place } => {
                let message = format!(
                    "the ask `{}` can be answered `{answer}` without a person, and the stage `{}` has no such way on",
                    ask.id, origin.id
                );
                let hint = format!("route the outcome of `{}` elsewhere, or change the answer's target", origin.id);
                let breach = crate::diagnostic::Diagnostic::error(Code::ORIGIN_LACKS, *place, message.clone());
                breaches.add(&message, breach.hint(hint).other(origin.place));
            }
            Fault::Uncaught { raised, stage, place } => {
                let message =
                    format!("`raise {raised}` leaves main at the stage `{}` and no stage catches it", stage.id);
                let hint = format!("add `raise {raised}: …` to the `each` that runs the flow, or to `otherwise`");
                breaches.error(Code::RAISE_UNCAUGHT, *place, message, hint);
            }
            Fault::Circle { stage, flow } => {
                let message = format!("the stage `{}` runs the flow `{flow}`, which comes back to it", stage.id);
                breaches.error(Code::FLOW_CIRCLE, stage.place, message, "loop inside one flow, with a limit");
            }
            Fault::TooLarge => {}
        }
    }
}

fn contracts(graph: &Graph<'_>, dialects: &Dialects, breaches: &mut Breaches) {
    for (name, role) in &graph.protocol.roles {
        let Some(dialect) = dialects.get(&role.contract) else {
            let list: Vec<&str> = dialects.names().map(|name| &**name).collect();
            let hint = crate::yaml::suggest(&role.contract, &list)
                .unwrap_or_else(|| "declare it in a file and give it with `--dialects FILE`".into());
            let message = format!("the role `{name}` reports in `{}`, which is not known", role.contract);
            breaches.error(Code::CONTRACT_UNKNOWN, role.place, message, hint);
            continue;
        };
        for verdict in role.verdicts.iter().filter(|verdict| !dialect.verdicts.contains(verdict)) {
            let message =
                format!("the role `{name}` may give `{}`, which `{}` cannot express", verdict.word(), role.contract);
            breaches.error(Code::VERDICT_UNKNOWN, role.place, message, "take it out of `verdicts`");
        }
    }
}
