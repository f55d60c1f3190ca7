//! The table: for every stage, what happens on every outcome.

use std::fmt::Write;

use super::super::dialects::Dialects;
use super::super::graph::{Graph, build};
use super::super::model::{AtOnce, Each, Kind, Land, Makes, Over, Owner, Protocol, Role, Stage, Trees};
use super::words;

/// Columns a line may have; longer ones go on below.
const WIDTH: usize = 120;

/// The protocol as plain text, flow by flow.
pub fn table(protocol: &Protocol, dialects: &Dialects) -> String {
    let graph = build(protocol, dialects);
    let mut text = format!("{} version {}\n", protocol.name, protocol.version);
    for flow in &protocol.flows {
        line(&mut text, 0, &format!("\nflow {}", flow.name), "");
        for stage in &flow.stages {
            stage_rows(&mut text, &graph, stage, &flow.name, dialects);
        }
    }
    if !protocol.asks.is_empty() {
        line(
            &mut text,
            0,
            "\nasks that any stage may put; `back` is where the limit cut in, else the stage that asked",
            "",
        );
        for ask in &protocol.asks {
            stage_rows(&mut text, &graph, ask, "", dialects);
        }
    }
    if !protocol.gates.is_empty() {
        line(&mut text, 0, "\ngates", "");
        for (name, gate) in &protocol.gates {
            let mut said = format!("{name}: {}", words::condition(&gate.holds));
            if !gate.bound_to.is_empty() {
                let _ = write!(said, "; bound to {}", gate.bound_to.join(", "));
            }
            for (who, condition) in [("unit", &gate.mandatory_unit), ("run", &gate.mandatory_run)] {
                if let Some(condition) = condition {
                    let _ = write!(said, "; mandatory for the {who} {}", when(&words::condition(condition)));
                }
            }
            line(&mut text, 2, &said, "");
        }
    }
    text
}

fn when(condition: &str) -> String {
    if condition == "always" { condition.into() } else { format!("when {condition}") }
}

fn stage_rows(text: &mut String, graph: &Graph<'_>, stage: &Stage, flow: &str, dialects: &Dialects) {
    let protocol = graph.protocol;
    let mut head = format!("{}: {}", stage.id, kind(&stage.kind));
    if let Some(condition) = &stage.when {
        let _ = write!(head, "; when {}", words::condition(condition));
    }
    for (word, list) in [("requires", &stage.requires), ("ensures", &stage.ensures), ("gives", &stage.gives)] {
        if !list.is_empty() {
            let _ = write!(head, "; {word} {}", list.join(", "));
        }
    }
    line(text, 2, &head, "");
    let judges = matches!(&stage.kind, Kind::Dispatch { role } if protocol.roles.get(role).is_some_and(Role::judges));
    for outcome in graph.outcomes(stage, dialects) {
        let shown = match &*outcome {
            "accept" | "accept_with_notes" | "reject" if judges => format!("ok, {outcome}"),
            "inconclusive" if judges => "ok, accept, gate open".into(),
            "unobservable" if judges => "ok, accept, unobservable".into(),
            other => other.to_owned(),
        };
        let upward = outcome.starts_with("raise ") && !flow.is_empty() && flow != "main";
        let own = stage.on.iter().any(|rule| rule.outcome == outcome);
        let said = match protocol.route(stage, &outcome) {
            _ if upward && !own => "passed on upward".into(),
            Some((rule, Owner::Stage)) => words::route(&rule.route),
            Some((rule, Owner::Otherwise)) => format!("{}  [otherwise]", words::route(&rule.route)),
            None => "no route".into(),
        };
        line(text, 6, &format!("{shown:<26}"), &said);
    }
}

/// A line, broken at words where it is too long.
fn line(text: &mut String, indent: usize, head: &str, rest: &str) {
    let pad = " ".repeat(indent);
    let hang = if rest.is_empty() { indent + 4 } else { indent + head.chars().count() };
    let mut width = 0;
    let whole = if rest.is_empty() { head.to_owned() } else { format!("{head}{rest}") };
    let (first, body) = whole.split_at(if rest.is_empty() { 0 } else { head.len() });
    let _ = write!(text, "{}{pad}{first}", if whole.starts_with('\n') { "\n" } else { "" });
    width += indent + first.chars().count();
    let mut fresh = true;
    for word in body.trim_start_matches('\n').split(' ') {
        let length = word.chars().count();
        if !fresh && width + 1 + length > WIDTH {
            let _ = write!(text, "\n{}", " ".repeat(hang));
            (width, fresh) = (hang, true);
        }
        if !fresh {
            text.push(' ');
            width += 1;
        }
        text.push_str(word);
        (width, fresh) = (width + length, false);
    }
    text.push('\n');
}

fn kind(kind: &Kind) -> String {
    match kind {
        Kind::Dispatch { role } => format!("dispatch {role}"),
        Kind::Ask(ask) => {
            let class = format!("{:?}", ask.class).to_lowercase();
            let question = ask.question.as_ref().map(|q| format!(" “{q}”")).unwrap_or_default();
            let default = ask.default.as_ref().map(|d| format!("; {} after {} s", d.answer, d.after_ms / 1000));
            format!("ask, {class}{question}{}", default.unwrap_or_default())
        }
        Kind::Check { gates } => format!("check {}", gates.join(", ")),
        Kind::Each(each) => each_words(each),
        Kind::Land(Land::Run) => "land in the run's tree".into(),
        Kind::Land(Land::PullRequest) => "land as a pull request".into(),
        Kind::Land(Land::Base) => "land on the base branch".into(),
    }
}

fn each_words(each: &Each) -> String {
    let over = match &each.over {
        Over::It => return format!("run {} for the same subject", each.flow),
        Over::Units => "each unit".into(),
        Over::Input(name) => format!("each of {name}"),
        Over::Lanes(lanes) => format!("each of {}", lanes.join(", ")),
    };
    let at_once = match &each.at_once {
        AtOnce::Number(number) => number.to_string(),
        AtOnce::Input(name) => name.to_string(),
    };
    let trees = if each.trees == Trees::Own { "trees of their own" } else { "a shared tree" };
    let makes = if each.makes == Makes::Accepted { "accepted" } else { "produced" };
    format!("run {} for {over}, {at_once} at once, in {trees}, making them {makes}", each.flow)
}
