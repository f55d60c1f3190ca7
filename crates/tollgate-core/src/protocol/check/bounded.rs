//! *bounded*: the edges that neither a limit nor a person bounds form no cycle.

use super::super::graph::{End, FlowGraph, Graph, Mode};
use super::super::model::Rule;
use super::Breaches;
use crate::code::Code;
use crate::diagnostic::Diagnostic;

/// A limit above this is worth a word.
const LIMIT_LARGE: u32 = 20;

pub(super) fn check(graph: &Graph<'_>, breaches: &mut Breaches) {
    let stages = graph.protocol.flows.iter().flat_map(|flow| &flow.stages).chain(&graph.protocol.asks);
    for rule in stages.flat_map(|stage| &stage.on).chain(&graph.protocol.otherwise) {
        limits(rule, breaches);
    }
    for flow in &graph.flows {
        cycles(flow, breaches);
    }
}

fn limits(rule: &Rule, breaches: &mut Breaches) {
    let route = &rule.route;
    let wrong = match (route.limit, route.same, &route.then) {
        (Some(0), _, _) => Some("has a limit of 0"),
        (Some(_), _, None) => Some("has a limit and no `then`"),
        (None, Some(_), _) => Some("has `same` and no limit"),
        (None, None, Some(_)) => Some("has `then` and no limit"),
        (Some(_), Some(0), Some(_)) => Some("has `same: 0`"),
        _ => None,
    };
    if let Some(wrong) = wrong {
        let message = format!("the route of `{}` {wrong}", rule.outcome);
        breaches.error(Code::LIMIT_INCOMPLETE, rule.place, message, "write `{to: …, limit: n, then: …}`");
    }
    if let Some(limit) = route.limit.filter(|limit| *limit > LIMIT_LARGE) {
        let message = format!("the route of `{}` may be taken {limit} times", rule.outcome);
        let breach = Diagnostic::warning(Code::LIMIT_LARGE, rule.place, message.clone());
        breaches.add(&message, breach.hint(format!("limits over {LIMIT_LARGE} are rarely meant")));
    }
}

/// Finds each cycle of automatic edges once, depth first, at the edge that closes it.
fn cycles(flow: &FlowGraph<'_>, breaches: &mut Breaches) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Closed,
    }
    let mut marks = vec![Mark::New; flow.nodes.len()];
    for start in 0..flow.nodes.len() {
        if marks[start] != Mark::New {
            continue;
        }
        marks[start] = Mark::Open;
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((node, next)) = path.last_mut() {
            let (node, edge) = (*node, flow.nodes[*node].edges.get(*next));
            *next += 1;
            let Some(edge) = edge else {
                marks[node] = Mark::Closed;
                path.pop();
                continue;
            };
            let End::Node(to) = edge.to else { continue };
            if edge.mode != Mode::Automatic {
                continue;
            }
            match marks[to] {
                Mark::New => {
                    marks[to] = Mark::Open;
                    path.push((to, 0));
                }
                Mark::Open => {
                    let from = path.iter().position(|(node, _)| *node == to).unwrap_or(0);
                    let names: Vec<&str> = path[from..].iter().map(|(node, _)| &*flow.nodes[*node].stage.id).collect();
                    let shown = if names.len() > 8 { &names[names.len() - 8..] } else { &names[..] };
                    let message = format!(
                        "the stage `{}` goes back to `{}` on `{}`, and nothing bounds the cycle {} → {}",
                        flow.nodes[node].stage.id,
                        flow.nodes[to].stage.id,
                        edge.outcome,
                        shown.join(" → "),
                        flow.nodes[to].stage.id
                    );
                    let hint = "put `limit` and `then` on one of its routes, or let a person decide in it";
                    breaches.error(Code::NOT_BOUNDED, edge.place, message, hint);
                }
                Mark::Closed => {}
            }
        }
    }
}
