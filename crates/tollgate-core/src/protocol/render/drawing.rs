//! What a drawing shows: each flow's stages, the asks and ends they lead to by routes of their own.

use std::collections::BTreeMap;

use super::super::model::{Flow, Kind, Protocol, Stage, Target};
use super::wording;

/// The shape of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shape {
    Work,
    Ask,
    Check,
    Each,
    Land,
    End,
}

/// One flow to draw.
pub(super) struct Drawing {
    pub name: String,
    /// Id in the drawing, label, shape.
    pub nodes: BTreeMap<String, (String, Shape)>,
    /// From, to, label, whether a limit leads there.
    pub edges: Vec<(String, String, String, bool)>,
}

/// Draws each flow. Rules of `otherwise` hold everywhere and would hide the rest: the table has them.
pub(super) fn drawings(protocol: &Protocol) -> Vec<Drawing> {
    protocol.flows.iter().map(draw).collect()
}

fn draw(flow: &Flow) -> Drawing {
    let mut drawing = Drawing { name: flow.name.to_string(), nodes: BTreeMap::new(), edges: Vec::new() };
    for stage in &flow.stages {
        let from = id(flow, &stage.id);
        drawing.nodes.insert(from.clone(), (label(stage), shape(stage)));
        let mut ways: BTreeMap<(String, bool), Vec<String>> = BTreeMap::new();
        for rule in &stage.on {
            let limit = rule.route.limit.map(|limit| format!(" ≤{limit}")).unwrap_or_default();
            let to = end(flow, stage, &rule.route.to, &mut drawing);
            ways.entry((to, false)).or_default().push(format!("{}{limit}", rule.outcome));
            if let Some(then) = &rule.route.then {
                let to = end(flow, stage, then, &mut drawing);
                ways.entry((to, true)).or_default().push(rule.outcome.to_string());
            }
        }
        for ((to, limited), labels) in ways {
            drawing.edges.push((from.clone(), to, labels.join(", "), limited));
        }
    }
    drawing
}

fn end(flow: &Flow, stage: &Stage, target: &Target, drawing: &mut Drawing) -> String {
    let (name, shape) = match target {
        Target::Stage(name) => return id(flow, name),
        Target::Again => return id(flow, &stage.id),
        Target::Ask(name) => (format!("ask {name}"), Shape::Ask),
        other @ (Target::Done
        | Target::Reported
        | Target::Dropped
        | Target::Hold
        | Target::Raise(_)
        | Target::Back
        | Target::Origin
        | Target::As(_)) => (wording::target(other), Shape::End),
    };
    let id = id(flow, &name);
    drawing.nodes.insert(id.clone(), (name, shape));
    id
}

/// An id that every drawing language takes: names differ in `-` and `_` only where their case of sign does.
fn id(flow: &Flow, name: &str) -> String {
    let plain = |text: &str| text.replace('_', "__").replace('-', "_").replace(' ', "___");
    format!("{}____{}", plain(&flow.name), plain(name))
}

fn label(stage: &Stage) -> String {
    match &stage.kind {
        Kind::Dispatch { role } if **role == *stage.id => stage.id.to_string(),
        Kind::Dispatch { role } => format!("{} ({role})", stage.id),
        Kind::Each(each) => format!("{} (runs {})", stage.id, each.flow),
        Kind::Ask(_) | Kind::Check { .. } | Kind::Land(_) => stage.id.to_string(),
    }
}

fn shape(stage: &Stage) -> Shape {
    match &stage.kind {
        Kind::Dispatch { .. } => Shape::Work,
        Kind::Ask(_) => Shape::Ask,
        Kind::Check { .. } => Shape::Check,
        Kind::Each(_) => Shape::Each,
        Kind::Land(_) => Shape::Land,
    }
}
