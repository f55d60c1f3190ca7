//! The six checks, over the compiled graph: total, connected, bounded, gated, declared, isolated.

mod bounded;
mod brought;
mod change;
mod connected;
mod dataflow;
mod declared;
mod documents;
mod entered;
mod gated;
mod isolated;
mod later;
mod no_effect;
mod owed;
mod space;
mod total;
mod truth;

use std::collections::BTreeSet;

use super::dialects::Dialects;
use super::graph::{Fault, Graph, build};
use super::model::Protocol;
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Place};
use dataflow::{DataFlow, Lists};
use space::Space;
use truth::Constants;

/// Proves the six properties; every breach is an error, a limit over 20 a warning. Empty: the protocol is good.
pub fn check(protocol: &Protocol, dialects: &Dialects) -> Vec<Diagnostic> {
    let mut breaches = Breaches::default();
    let graph = build(protocol, dialects);
    total::check(&graph, dialects, &mut breaches);
    connected::names(&graph, dialects, &mut breaches);
    bounded::check(&graph, &mut breaches);
    documents::check(&graph, dialects, &mut breaches);
    no_effect::check(&graph, dialects, &mut breaches);
    declared::gives(&graph, dialects, &mut breaches);
    brought::check(&graph, dialects, &mut breaches);
    gated::gates(&graph, &mut breaches);
    owed::check(&graph, dialects, &mut breaches);
    let too_large = graph.faults.iter().any(|fault| matches!(fault, Fault::TooLarge));
    // Flows that call each other in a circle have no data flow to speak of.
    if !too_large && graph.order.is_some() {
        if follow(&graph, dialects, &mut breaches).is_none() {
            breaches.too_large();
        }
    } else if too_large {
        breaches.too_large();
    }
    breaches.into_list()
}

/// What the data flow shows; none where there is too much of it.
fn follow(graph: &Graph<'_>, dialects: &Dialects, breaches: &mut Breaches) -> Option<()> {
    let space = Space::new(graph.protocol)?;
    let run = |lists, constants| DataFlow::run(graph, dialects, &space, lists, constants);
    let flow = run(Lists::MayBeEmpty, Constants::AsTheyAre)?;
    // What only a run without work comes by is no way that the protocol leads.
    let lists = if flow.leans_on_empty_lists() { Lists::HoldSomething } else { Lists::MayBeEmpty };
    let full = if lists == Lists::HoldSomething { Some(run(lists, Constants::AsTheyAre)?) } else { None };
    let ways = full.as_ref().unwrap_or(&flow);
    connected::ends(ways, breaches);
    // A mode that an input with one value switches off is no mistake.
    let constants = graph.protocol.inputs.keys().any(|name| flow.judge.is_constant(name));
    let open = if constants { Some(run(lists, Constants::MayDiffer)?) } else { None };
    connected::reached(open.as_ref().unwrap_or(ways), breaches);
    gated::check(&flow, breaches);
    entered::check(&flow, breaches);
    declared::check(&flow, breaches);
    isolated::check(&flow, dialects, breaches);
    later::check(&flow, breaches);
    Some(())
}

/// What the checks found, each thing once.
#[derive(Default)]
struct Breaches {
    list: Vec<Diagnostic>,
    seen: BTreeSet<(Code, Place, String)>,
}

impl Breaches {
    /// Keeps a breach; `key` tells apart what may be said of one place more than once.
    fn add(&mut self, key: &str, breach: Diagnostic) {
        if self.seen.insert((breach.code, breach.place, key.to_owned())) {
            self.list.push(breach);
        }
    }

    fn error(&mut self, code: Code, place: Place, message: String, hint: impl Into<String>) {
        self.add(&message.clone(), Diagnostic::error(code, place, message).hint(hint));
    }

    fn too_large(&mut self) {
        let message =
            "the protocol is too large to check: too many stages, questions or combinations of variables".into();
        let hint = "steer by fewer variables, or split the protocol";
        self.error(Code::PROTOCOL_TOO_LARGE, Place { line: 1, column: 1 }, message, hint);
    }

    fn into_list(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|breach| (breach.place, breach.code));
        self.list
    }
}
