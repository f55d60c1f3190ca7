//! The compiled graph: a node per stage, an edge per outcome, shared asks copied to where they are put.
//!
//! A limited route has two edges (`to` and `then`). A shared ask is copied per (origin, outcome, cut-off route), so that
//! `back`, `origin` and `as x` are plain edges. The checks and the drawings work on this and on nothing else.

mod build;
mod outcomes;
#[cfg(test)]
mod tests;

use crate::id::GateId;
use std::collections::BTreeMap;

use super::Outcome;
use super::model::{Flow, Protocol, Resource, Stage};
use crate::Name;
use crate::diagnostic::Place;

pub use build::build;
pub(crate) use outcomes::over_variables;
pub use outcomes::{favourable, needed, outcomes, stands_for};

/// Nodes and edges a protocol may compile to.
pub const SIZE_MAX: usize = 200_000;

/// Every flow of a protocol, compiled.
#[derive(Debug)]
pub struct Graph<'p> {
    pub protocol: &'p Protocol,
    /// In the order of the protocol's flows.
    pub flows: Vec<FlowGraph<'p>>,
    /// Flows in an order in which each comes after those it runs; `None` where flows call each other in a circle.
    pub order: Option<Vec<usize>>,
    /// What went wrong while compiling.
    pub faults: Vec<Fault<'p>>,
}

/// One flow, compiled; node 0 is where it starts.
#[derive(Debug)]
pub struct FlowGraph<'p> {
    pub flow: &'p Flow,
    /// The stages in the order of the file, then the copies of shared asks.
    pub nodes: Vec<Node<'p>>,
    /// What it lets out, and whether only persons cause it.
    pub raises: BTreeMap<Name, bool>,
}

/// A stage of a flow, or a shared ask as it is put from one place.
#[derive(Debug)]
pub struct Node<'p> {
    pub stage: &'p Stage,
    /// Where a copied ask was put.
    pub origin: Option<Origin>,
    pub edges: Vec<Edge>,
}

/// The return address of a copied ask.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The node of the stage that routed to it.
    pub node: usize,
    pub outcome: Outcome,
    /// The target of the route that a limit cut off.
    pub cut_off: Option<End>,
}

/// One way out of a node.
#[derive(Debug, Clone)]
pub struct Edge {
    pub outcome: Outcome,
    pub to: End,
    pub mode: Mode,
    /// What a person's answer establishes.
    pub ensures: Vec<GateId>,
    /// What a person's answer may amend.
    pub amends: Vec<Resource>,
    /// How the route came to be taken.
    pub way: Way,
    /// The rule, or the stage where the rule stands in `otherwise`.
    pub place: Place,
}

/// Where an edge leads.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    Node(usize),
    Done,
    Reported,
    Dropped,
    Hold,
    Raise(Name),
}

/// What bounds an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A `to` with a limit.
    Limited,
    /// An answer that is not the default, or a raise that only persons cause.
    Person,
    /// Nothing.
    Automatic,
}

/// How an edge comes to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The outcome leads here.
    Plain,
    /// The limit of the outcome's route is reached.
    Then,
    /// A timer answers.
    Default,
}

/// Something that compiling finds.
#[derive(Debug)]
pub enum Fault<'p> {
    /// An outcome has no route.
    NotRouted { stage: &'p Stage, outcome: Outcome },
    /// An automatic answer whose target the origin lacks.
    OriginLacks { ask: &'p Stage, answer: Outcome, origin: &'p Stage, place: Place },
    /// A raise leaves main.
    Uncaught { raised: Name, stage: &'p Stage, place: Place },
    /// Flows call each other in a circle, seen at this stage.
    Circle { stage: &'p Stage, flow: Name },
    /// More than [`SIZE_MAX`].
    TooLarge,
}

impl Graph<'_> {
    /// A flow's index by its name.
    pub fn index(&self, flow: &str) -> Option<usize> {
        self.flows.iter().position(|graph| &*graph.flow.name == flow)
    }
}
