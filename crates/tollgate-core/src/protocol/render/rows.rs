//! What the table shows, as data: each stage, and what happens on each of its outcomes.

use super::super::Outcome;
use super::super::dialects::Dialects;
use super::super::graph::{Graph, build};
use super::super::model::{AtOnce, Each, Ensures, Flow, Kind, Land, Makes, Over, Owner, Protocol, Route, Stage, Trees};
use super::wording;
use crate::Name;
use crate::id::GateId;

/// A stage of a flow, or a question that any flow may put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageRow<'p> {
    /// Its flow; none: any.
    pub flow: Option<&'p Name>,
    /// The stage.
    pub stage: &'p Stage,
    /// What is done, in words.
    pub what: String,
    /// When it is done, in words; none: always.
    pub when: Option<String>,
    /// What happens on each outcome.
    pub outcomes: Vec<OutcomeRow<'p>>,
}

/// What happens on an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeRow<'p> {
    /// The outcome, as routes name it.
    pub outcome: Outcome,
    /// Where it leads.
    pub leads: Leads<'p>,
}

/// Where an outcome leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leads<'p> {
    /// By a rule of the stage, or of `otherwise`.
    By(&'p Route, Owner),
    /// Out of the flow, to whoever runs it.
    Upward,
    /// Nowhere: the protocol is not total.
    Nowhere,
}

/// Every stage of every flow in the order of the file, then the shared questions.
pub fn rows<'p>(protocol: &'p Protocol, dialects: &Dialects) -> Vec<StageRow<'p>> {
    let graph = build(protocol, dialects);
    let in_flow = |flow: &'p Flow| flow.stages.iter().map(move |stage| (Some(&flow.name), stage));
    let stages = protocol.flows.iter().flat_map(in_flow).chain(protocol.asks.iter().map(|ask| (None, ask)));
    stages.map(|(flow, stage)| row(&graph, flow, stage, dialects)).collect()
}

fn row<'p>(graph: &Graph<'p>, flow: Option<&'p Name>, stage: &'p Stage, dialects: &Dialects) -> StageRow<'p> {
    let outcomes = graph.outcomes(stage, dialects).into_iter().map(|outcome| {
        let upward = outcome.raised().is_some() && flow.is_some_and(|flow| &**flow != "main");
        let own = stage.on.iter().any(|rule| *rule.outcome == *outcome.word());
        let leads = match graph.protocol.route(stage, &outcome) {
            _ if upward && !own => Leads::Upward,
            Some((rule, owner)) => Leads::By(&rule.route, owner),
            None => Leads::Nowhere,
        };
        OutcomeRow { outcome, leads }
    });
    StageRow {
        flow,
        stage,
        what: kind(&stage.kind),
        when: stage.when.as_ref().map(wording::condition),
        outcomes: outcomes.collect(),
    }
}

impl Route {
    /// Its end as the language writes it.
    pub fn to_word(&self) -> String {
        wording::target(&self.to)
    }

    /// Where it leads at its limit, as the language writes it.
    pub fn then_word(&self) -> Option<String> {
        self.then.as_ref().map(wording::target)
    }

    /// The gates that an answer establishes; `origin` stands for those that the stage would have established.
    pub fn ensured(&self) -> Vec<GateId> {
        match &self.ensures {
            Ensures::Nothing => Vec::new(),
            Ensures::Origin => vec!["origin".into()],
            Ensures::Gates(gates) => gates.clone(),
        }
    }
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
