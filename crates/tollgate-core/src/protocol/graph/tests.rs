use super::super::read;
use super::*;
use crate::protocol::Dialects;

/// The edges of a flow as text: `from -outcome-> to`, with `?` for a person's, `<` for a limited one.
fn edges(text: &str, flow: &str) -> Vec<String> {
    let (protocol, problems) = read(text);
    let protocol = protocol.unwrap_or_else(|| panic!("{problems:#?}"));
    let (dialects, _) = Dialects::read("d: {verdicts: [accept, reject], healths: [needs_input, failed, malformed]}");
    let graph = build(&protocol, &dialects);
    assert!(graph.faults.is_empty(), "{:?}", graph.faults);
    let compiled = &graph.flows[graph.index(flow).unwrap()];
    let name = |node: usize| {
        let node = &compiled.nodes[node];
        node.origin
            .as_ref()
            .map_or(node.stage.id.to_string(), |o| format!("{}@{}", node.stage.id, compiled.nodes[o.node].stage.id))
    };
    let mut list = Vec::new();
    for (i, node) in compiled.nodes.iter().enumerate() {
        for edge in &node.edges {
            let mark = match edge.mode {
                Mode::Limited => "<",
                Mode::Person => "?",
                Mode::Automatic => "",
            };
            let to = match &edge.to {
                End::Node(to) => name(*to),
                End::Done => "done".into(),
                End::Reported => "reported".into(),
                End::Dropped => "dropped".into(),
                End::Hold => "hold".into(),
                End::Raise(raised) => format!("raise {raised}"),
            };
            let ensures = if edge.ensures.is_empty() { String::new() } else { format!(" +{}", edge.ensures.join("+")) };
            list.push(format!("{} -{}{mark}-> {to}{ensures}", name(i), edge.outcome));
        }
    }
    list
}

const HEAD: &str = "\
protocol: p
version: 1
areas: {code: [\"**\"]}
roles:
  coder: {contract: d, writes: [code], sees: full}
  judge: {contract: d, verdicts: [accept, reject], writes: none, sees: {only: [change]}}
gates: {good: {holds: {judged: judge}, bound_to: [code], mandatory: {run: true}}}
asks:
  stuck:
    ask: {class: choice, question: Q, options: {retry: R, accept: A, redo: O, undo: U}}
    on: {retry: back, accept: {to: as accept, ensures: origin}, redo: origin, undo: as conflict, cancelled: hold}
otherwise: {needs_input: stuck, failed: {to: again, limit: 1, then: hold}, malformed: hold, inconclusive: hold, raise up: dropped}
flows:
";

/// A limit has two edges; the copy of the ask it leads to knows what was cut off, and offers what its origin has.
#[test]
fn a_shared_ask_returns_to_where_it_was_put() {
    let text = format!(
        "{HEAD}  main:\n    - {{id: code, dispatch: coder, on: {{ok: judge}}}}\n    - {{id: judge, dispatch: judge, ensures: [good], on: {{accept: done, reject: {{to: code, limit: 2, then: stuck}}}}}}\n"
    );
    assert_eq!(
        edges(&text, "main"),
        [
            "code -ok-> judge",
            "code -needs_input-> stuck@code",
            "code -failed<-> code",
            "code -failed-> hold",
            "code -malformed-> hold",
            "judge -accept-> done",
            "judge -reject<-> code",
            "judge -reject-> stuck@judge",
            "judge -inconclusive-> hold",
            "judge -needs_input-> stuck@judge",
            "judge -failed<-> judge",
            "judge -failed-> hold",
            "judge -malformed-> hold",
            // Put by a question of the coder: no cut-off route, so `back` is the coder; nothing to ensure.
            "stuck@code -retry?-> code",
            "stuck@code -accept?-> judge",
            "stuck@code -redo?-> code",
            "stuck@code -cancelled-> hold",
            // Put by the limit: `back` is the target that was cut off.
            "stuck@judge -retry?-> code",
            "stuck@judge -accept?-> done +good",
            "stuck@judge -redo?-> judge",
            "stuck@judge -cancelled-> hold",
            "stuck@judge -retry?-> judge",
            "stuck@judge -accept?-> done +good",
            "stuck@judge -redo?-> judge",
            "stuck@judge -cancelled-> hold",
        ]
    );
}

/// A raise goes to the nearest `each` that routes it, else upward, at last to `otherwise`; its mode tells who causes it.
#[test]
fn a_raise_goes_upward() {
    let text = format!(
        "{HEAD}  main:\n    - {{id: all, each: {{over: [a], flow: outer}}, on: {{all: done, some: hold, none: hold}}}}\n  outer:\n    \
         - {{id: call, each: {{over: it, flow: inner}}, on: {{all: done, none: dropped, raise here: dropped}}}}\n  inner:\n    \
         - {{id: ask, ask: {{class: choice, question: Q, options: {{a: A, b: B}}}}, on: {{a: raise up, b: raise here, cancelled: raise here}}}}\n"
    );
    assert_eq!(edges(&text, "inner"), ["ask -a?-> raise up", "ask -b?-> raise here", "ask -cancelled-> raise here"]);
    assert_eq!(
        edges(&text, "outer"),
        ["call -all-> done", "call -none-> dropped", "call -raise here-> dropped", "call -raise up?-> raise up"]
    );
    assert_eq!(
        edges(&text, "main"),
        ["all -all-> done", "all -some-> hold", "all -none-> hold", "all -raise up?-> dropped"]
    );
}

/// A timer's answer is an edge of its own: automatic, and it ensures nothing.
#[test]
fn a_default_is_automatic() {
    let text = format!(
        "{HEAD}  main:\n    - id: ask\n      ask: {{class: choice, question: Q, options: {{a: A}}, default: {{answer: a, after: 1h}}}}\n      on: {{a: {{to: done, ensures: [good]}}, cancelled: hold}}\n"
    );
    assert_eq!(edges(&text, "main"), ["ask -a-> done", "ask -a?-> done +good", "ask -cancelled-> hold"]);
}

/// Facts are not accepted: who owes an artifact that is required has no `as accept`.
#[test]
fn a_fact_is_not_waived() {
    let text = format!(
        "{HEAD}  main:\n    - {{id: plan, dispatch: coder, gives: [doc], on: {{ok: use}}}}\n    - {{id: use, dispatch: coder, requires: [doc], on: {{ok: done}}}}\n"
    )
    .replace("asks:\n", "artifacts: {doc: {path: doc.md}}\nasks:\n");
    let list = edges(&text, "main");
    assert!(!list.iter().any(|edge| edge.starts_with("stuck@plan -accept")), "{list:#?}");
    assert!(list.contains(&"stuck@use -accept?-> done".into()), "{list:#?}");
}
