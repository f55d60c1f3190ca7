//! Routes: `outcome: target`, or `outcome: {to, limit, same, then, ensures, amends}`.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::Reader;
use super::names::shorten;
use crate::Name;
use crate::id::GateId;
use crate::protocol::model::{Ensures, Route, Rule, Target};
use crate::yaml::{Content, Fields, Key, Node};

/// Where a route stands, and so what its targets may be.
#[derive(Clone, Copy)]
pub(super) enum Stand<'a> {
    /// In a flow with these stages; whether the stage asks a person, and whether the flow is main.
    Flow { stages: &'a BTreeSet<Name>, asks: bool, main: bool },
    /// In a shared ask.
    Ask,
    /// In `otherwise`; whether the outcome is a raise, which main routes to its stages.
    Otherwise { raise: bool },
}

impl Reader {
    pub(super) fn otherwise(&mut self, node: &Node) -> Vec<Rule> {
        let entries = self.problems.entries(node, "otherwise");
        let raise = |key: &Key| key.text.starts_with("raise ");
        entries
            .iter()
            .filter_map(|(key, route)| self.rule(key, route, Stand::Otherwise { raise: raise(key) }))
            .collect()
    }

    pub(super) fn rules(&mut self, node: &Node, stand: Stand<'_>) -> Vec<Rule> {
        let entries = self.problems.entries(node, "`on`");
        entries.iter().filter_map(|(key, route)| self.rule(key, route, stand)).collect()
    }

    fn rule(&mut self, key: &Key, node: &Node, stand: Stand<'_>) -> Option<Rule> {
        let route = match &node.value {
            Content::Map(_) => self.full_route(node, stand)?,
            Content::Scalar { .. } | Content::Seq(_) => Route {
                to: self.target(node, stand)?,
                limit: None,
                same: None,
                then: None,
                ensures: Ensures::Nothing,
                amends: Vec::new(),
            },
        };
        Some(Rule { outcome: key.text.clone(), route, place: key.place })
    }

    fn full_route(&mut self, node: &Node, stand: Stand<'_>) -> Option<Route> {
        let mut fields = Fields::open(node, "the route", &mut self.problems);
        let to = fields.need("to", &mut self.problems).and_then(|n| self.target(n, stand));
        let limit = fields.take("limit").and_then(|n| self.problems.number(n, "the limit"));
        let same = fields.take("same").and_then(|n| self.problems.number(n, "`same`"));
        let then = fields.take("then").and_then(|n| self.target(n, stand));
        let (ensures, amends) = (fields.take("ensures"), fields.take("amends"));
        fields.close(&mut self.problems);
        if let Some(node) = ensures.or(amends).filter(|_| !answers(stand)) {
            let hint =
                "`ensures` and `amends` are said of a person's answer; a stage's own `ensures` is written beside `on`";
            self.problems.value(node.place, "only the answer to an ask can ensure or amend", hint);
        }
        let ensures = ensures.map_or(Ensures::Nothing, |n| self.ensured(n, stand));
        let amends = amends.map(|n| self.resources(n, "`amends`")).unwrap_or_default();
        Some(Route { to: to?, limit, same, then, ensures, amends })
    }

    fn ensured(&mut self, node: &Node, stand: Stand<'_>) -> Ensures {
        match (stand, node.plain()) {
            (Stand::Ask, Some("origin")) => Ensures::Origin,
            (Stand::Ask, _) => {
                self.problems.value(node.place, "a shared ask can ensure `origin` only", "write `ensures: origin`");
                Ensures::Nothing
            }
            _ => {
                let list = self.problems.texts(node, "`ensures`");
                let names = Rc::clone(&self.names);
                Ensures::Gates(self.resolve_in(list, "gate", &names.gates).into_iter().map(GateId::from).collect())
            }
        }
    }

    fn target(&mut self, node: &Node, stand: Stand<'_>) -> Option<Target> {
        let text = self.problems.text(node, "a target")?;
        let in_ask = matches!(stand, Stand::Ask);
        let target = match &*text {
            "dropped" => Target::Dropped,
            "hold" => Target::Hold,
            "done" if !in_ask => Target::Done,
            "reported" if ends_main(stand) => Target::Reported,
            "reported" => {
                let hint =
                    "only the flow `main` ends as `reported`; leave this one by `raise x` and route that in main";
                self.problems.value(node.place, "this is no place to end the run as `reported`", hint);
                return None;
            }
            "again" if !in_ask => Target::Again,
            "back" if in_ask => Target::Back,
            "origin" if in_ask => Target::Origin,
            "done" | "again" => {
                let hint = "go `back`, `origin`, `as x`, `dropped`, `hold` or `raise x`";
                self.problems.value(node.place, format!("a shared ask cannot go to `{text}`"), hint);
                return None;
            }
            "back" | "origin" => {
                let hint = "only a shared ask has an origin to go back to; name a stage";
                self.problems.value(node.place, format!("`{text}` is a target of shared asks only"), hint);
                return None;
            }
            _ => return self.named_target(&text, node, stand),
        };
        Some(target)
    }

    fn named_target(&mut self, text: &Name, node: &Node, stand: Stand<'_>) -> Option<Target> {
        if let Some(raised) = text.strip_prefix("raise ") {
            return self.declared(raised, node.place, "what is raised").then(|| Target::Raise(raised.into()));
        }
        if let (Some(outcome), Stand::Ask) = (text.strip_prefix("as "), stand) {
            if outcome.is_empty() || outcome.contains(' ') {
                self.problems.value(node.place, format!("`{}` names no outcome", shorten(text)), "write `as accept`");
                return None;
            }
            return Some(Target::As(outcome.into()));
        }
        let empty = BTreeSet::new();
        let names = Rc::clone(&self.names);
        let stages = match stand {
            Stand::Flow { stages, .. } => stages,
            Stand::Otherwise { raise: true } => &names.main,
            Stand::Otherwise { raise: false } | Stand::Ask => &empty,
        };
        if stages.contains(text) {
            return Some(Target::Stage(text.clone().into()));
        }
        if names.asks.contains(text) && !matches!(stand, Stand::Ask) {
            return Some(Target::Ask(text.clone().into()));
        }
        let asks = names.asks.iter().filter(|_| !matches!(stand, Stand::Ask));
        self.resolve(text, node.place, "stage or ask", stages.iter().chain(asks).map(|name| &**name));
        None
    }
}

/// Whether a route here can end the run.
fn ends_main(stand: Stand<'_>) -> bool {
    matches!(stand, Stand::Flow { main: true, .. } | Stand::Otherwise { raise: true })
}

/// Whether the outcomes here are answers of a person.
fn answers(stand: Stand<'_>) -> bool {
    matches!(stand, Stand::Ask | Stand::Flow { asks: true, .. })
}
