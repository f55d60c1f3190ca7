//! Stages of flows, and the asks that flows share.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::Reader;
use super::names::stage_ids;
use super::routes::Stand;
use crate::Name;
use crate::amount;
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Place};
use crate::id::{GateId, StageId};
use crate::protocol::model::{
    Ask, AskDefault, AtOnce, Class, Each, Flow, From, Kind, Land, Makes, Over, Resource, Stage, Trees,
};
use crate::yaml::{Fields, Key, Node};

/// Outcomes of every ask, so no option may be called so.
const ASK_OUTCOMES: [&str; 3] = ["answered", "cancelled", "skipped"];

impl Reader {
    pub(super) fn flows(&mut self, node: &Node) -> Vec<Flow> {
        let mut flows = Vec::new();
        let mut asks: BTreeMap<StageId, Place> = BTreeMap::new();
        for (key, value) in self.problems.entries(node, "flows") {
            let ids = stage_ids(value);
            let stages: BTreeSet<Name> = ids.iter().map(|(id, _)| (*id).clone()).collect();
            let mut seen: BTreeMap<StageId, Place> = BTreeMap::new();
            let items = self.problems.list(value, &format!("the flow `{}`", key.text));
            if items.is_empty() && value.kind() == "a list" {
                self.problems.value(
                    value.place,
                    format!("the flow `{}` has no stage", key.text),
                    "add one, or drop it",
                );
            }
            let mut list = Vec::new();
            for item in items {
                let Some(stage) = self.stage(item, &stages, &*key.text == "main") else { continue };
                if let Some(first) = seen.insert(stage.id.clone(), stage.place) {
                    let message = format!("the stage `{}` is twice in the flow `{}`", stage.id, key.text);
                    let problem = Diagnostic::error(Code::NAME_TAKEN, stage.place, message).other(first);
                    self.problems.add(problem.hint("give one of them another id"));
                }
                // Answers go by the name of their ask, in whatever flow it stands.
                let shared = self.names.asks.contains(&*stage.id);
                let first = asks.get(&stage.id).copied();
                if shared || first.is_some() && matches!(stage.kind, Kind::Ask(_)) {
                    let message = format!("there is another ask `{}`, and answers go by the name", stage.id);
                    let problem = Diagnostic::error(Code::NAME_TAKEN, stage.place, message);
                    let problem = if let Some(first) = first { problem.other(first) } else { problem };
                    self.problems.add(problem.hint("give one of them another id"));
                }
                if matches!(stage.kind, Kind::Ask(_)) {
                    asks.insert(stage.id.clone(), stage.place);
                }
                list.push(stage);
            }
            if self.declared(&key.text, key.place, "the name of a flow") {
                flows.push(Flow { name: key.text.clone(), stages: list, place: key.place });
            }
        }
        if node.map().is_some() && !self.names.flows.contains("main") {
            let message = "there is no flow `main`";
            let problem = Diagnostic::error(Code::YAML_MISSING_KEY, node.place, message);
            self.problems.add(problem.hint("add `main: […]`: it is the run"));
        }
        flows
    }

    fn stage(&mut self, node: &Node, stages: &BTreeSet<Name>, main: bool) -> Option<Stage> {
        let mut fields = Fields::open(node, "the stage", &mut self.problems);
        let id = fields.need("id", &mut self.problems);
        let place = id.map_or(node.place, |id| id.place);
        let id = id.and_then(|n| Some((self.problems.text(n, "the id")?, n.place)));
        let id = id.filter(|(id, place)| self.stage_name(id, *place)).map(|(id, _)| id);
        let when = fields.take("when").and_then(|n| self.condition(n, "`when`"));
        let kinds: Vec<(&str, &Node)> = ["dispatch", "ask", "check", "each", "land"]
            .into_iter()
            .filter_map(|kind| fields.take(kind).map(|node| (kind, node)))
            .collect();
        let asks = kinds.first().is_some_and(|(kind, _)| *kind == "ask");
        let requires = fields.take("requires").map(|n| self.requires(n)).unwrap_or_default();
        let ensures = fields.take("ensures").map(|n| self.gate_names(n, "`ensures`")).unwrap_or_default();
        let gives = fields.take("gives").map(|n| self.gives(n)).unwrap_or_default();
        let label = fields.take("label").and_then(|n| self.problems.text(n, "the label"));
        let on = fields.need("on", &mut self.problems);
        let on = on.map(|n| self.rules(n, Stand::Flow { stages, asks, main })).unwrap_or_default();
        fields.close(&mut self.problems);
        if node.map().is_some() && kinds.len() != 1 {
            let hint = "write exactly one of `dispatch`, `ask`, `check`, `each`, `land`";
            self.problems.value(node.place, format!("the stage has {} kinds", kinds.len()), hint);
        }
        let (kind, value) = *kinds.first()?;
        if !gives.is_empty() && !matches!(kind, "dispatch" | "ask") {
            self.problems.value(place, "only a dispatch or an ask can give something", "leave `gives` out");
        }
        let kind = self.kind(kind, value)?;
        Some(Stage { id: id?.into(), kind, when, requires, ensures, gives, label, on, place })
    }

    fn kind(&mut self, kind: &str, node: &Node) -> Option<Kind> {
        Some(match kind {
            "dispatch" => {
                let role = self.problems.text(node, "the role")?;
                let names = Rc::clone(&self.names);
                Kind::Dispatch { role: self.resolve_in(vec![(role, node.place)], "role", &names.roles).pop()?.into() }
            }
            "ask" => Kind::Ask(self.ask(node)?),
            "check" => {
                let gates = self.gate_names(node, "`check`");
                if gates.is_empty() && node.kind() == "a list" {
                    self.problems.value(node.place, "the check names no gate", "name at least one");
                }
                Kind::Check { gates }
            }
            "each" => Kind::Each(self.each(node)?),
            _ => {
                let lands = [("run", Land::Run), ("pull-request", Land::PullRequest), ("base", Land::Base)];
                Kind::Land(self.problems.word(node, "where work can land", &lands)?)
            }
        })
    }

    pub(super) fn shared_ask(&mut self, key: &Key, node: &Node) -> Option<Stage> {
        let mut fields = Fields::open(node, format!("the ask `{}`", key.text), &mut self.problems);
        let when = fields.take("when").and_then(|n| self.condition(n, "`when`"));
        let ask = fields.need("ask", &mut self.problems);
        let label = fields.take("label").and_then(|n| self.problems.text(n, "the label"));
        let on = fields.need("on", &mut self.problems).map(|n| self.rules(n, Stand::Ask)).unwrap_or_default();
        fields.close(&mut self.problems);
        let named = self.stage_name(&key.text, key.place);
        let kind = Kind::Ask(self.ask(ask?)?);
        named.then(|| Stage {
            id: key.text.clone().into(),
            kind,
            when,
            requires: Vec::new(),
            ensures: Vec::new(),
            gives: Vec::new(),
            label,
            on,
            place: key.place,
        })
    }

    fn ask(&mut self, node: &Node) -> Option<Ask> {
        let mut fields = Fields::open(node, "the ask", &mut self.problems);
        let class = fields.need("class", &mut self.problems);
        let classes = Class::ALL.map(|class| (class.word(), class));
        let class = class.and_then(|n| self.problems.word(n, "a class of decisions", &classes));
        let question = fields.take("question").and_then(|n| self.problems.text(n, "the question"));
        let sources = [("report", From::Report), ("ledger", From::Ledger), ("measure", From::Measure)];
        let from = fields.take("from").and_then(|n| self.problems.word(n, "where a question comes from", &sources));
        let shows = fields.take("shows").map(|n| self.shown(n, "`shows`")).unwrap_or_default();
        let options = fields.take("options").map(|n| self.options(n)).unwrap_or_default();
        let recommend = fields.take("recommend");
        let default = fields.take("default");
        let tries = fields.take("tries").and_then(|n| {
            let tries = self.problems.number(n, "`tries`")?;
            if tries == 0 {
                let hint = "write how many invalid answers it takes, or leave it out: it is asked until it is answered";
                self.problems.value(n.place, "`tries: 0` would cancel the question before it is asked", hint);
            }
            Some(tries)
        });
        let cancelled_as = fields.take("cancelled_as").and_then(|n| self.name(n, "the name of a cancellation"));
        fields.close(&mut self.problems);
        if question.is_none() && from.is_none() {
            self.problems.value(node.place, "the ask has no question", "add `question`, or `from: report`");
        }
        if options.is_empty() && from.is_none() {
            self.problems.value(node.place, "the ask has no options", "add `options`, or `from: report`");
        }
        let names: BTreeSet<Name> = options.iter().map(|(name, _)| name.clone()).collect();
        let mut recommended = Vec::new();
        for (key, value) in recommend.map(|n| self.problems.entries(n, "`recommend`")).unwrap_or_default() {
            let known = !self.resolve_in(vec![(key.text.clone(), key.place)], "option", &names).is_empty();
            if let Some(condition) = self.condition(value, "`recommend`").filter(|_| known) {
                recommended.push((key.text.clone(), condition));
            }
        }
        let default = default.and_then(|n| self.ask_default(n, &names));
        let question = question.map(|text| text.to_string());
        Some(Ask {
            class: class?,
            question,
            from,
            shows,
            options,
            recommend: recommended,
            default,
            tries,
            cancelled_as,
        })
    }

    fn options(&mut self, node: &Node) -> Vec<(Name, String)> {
        let mut options = Vec::new();
        for (key, value) in self.problems.entries(node, "options") {
            let text = self.problems.text(value, &format!("the consequence of `{}`", key.text));
            if ASK_OUTCOMES.contains(&&*key.text) {
                let message = format!("an option cannot be called `{}`: every ask has that outcome", key.text);
                self.problems.add(Diagnostic::error(Code::NAME_TAKEN, key.place, message).hint("choose another word"));
            }
            if let Some(text) = text.filter(|_| self.declared(&key.text, key.place, "an option")) {
                options.push((key.text.clone(), text.to_string()));
            }
        }
        options
    }

    fn ask_default(&mut self, node: &Node, options: &BTreeSet<Name>) -> Option<AskDefault> {
        let mut fields = Fields::open(node, "the default", &mut self.problems);
        let answer = fields.need("answer", &mut self.problems);
        let after = fields.need("after", &mut self.problems);
        fields.close(&mut self.problems);
        let answer = answer.and_then(|n| Some((self.problems.text(n, "the answer")?, n.place)))?;
        let answer = self.resolve_in(vec![answer], "option", options).pop()?;
        let after = after?;
        Some(AskDefault { answer, after_ms: self.duration_ms(after)? })
    }

    fn each(&mut self, node: &Node) -> Option<Each> {
        let mut fields = Fields::open(node, "`each`", &mut self.problems);
        let over = fields.need("over", &mut self.problems);
        let flow = fields.need("flow", &mut self.problems);
        let (at_once, trees, makes) = (fields.take("at_once"), fields.take("trees"), fields.take("makes"));
        fields.close(&mut self.problems);
        let over = over.and_then(|n| self.over(n));
        if let (Some(Over::It), Some(node)) = (&over, at_once.or(trees).or(makes)) {
            let hint = "leave `at_once`, `trees` and `makes` out";
            self.problems.value(node.place, "with `over: it` the flow runs once, for the same subject", hint);
        }
        let flow = flow.and_then(|n| Some((self.problems.text(n, "the flow")?, n.place)))?;
        let names = Rc::clone(&self.names);
        let flow = self.resolve_in(vec![flow], "flow to run", &names.callable).pop();
        let at_once = at_once.map_or(Some(AtOnce::Number(1)), |n| self.at_once(n));
        let trees =
            trees.map(|n| self.problems.word(n, "a kind of tree", &[("shared", Trees::Shared), ("own", Trees::Own)]));
        let states = [("accepted", Makes::Accepted), ("produced", Makes::Produced)];
        let makes = makes.map(|n| self.problems.word(n, "what a flow makes of a unit", &states));
        Some(Each {
            over: over?,
            flow: flow?,
            at_once: at_once?,
            trees: trees.unwrap_or(Some(Trees::Shared))?,
            makes: makes.unwrap_or(Some(Makes::Accepted))?,
        })
    }

    fn over(&mut self, node: &Node) -> Option<Over> {
        let Some(text) = node.text() else {
            let lanes = self.problems.texts(node, "`over`");
            let mut seen = BTreeSet::new();
            for (lane, place) in &lanes {
                if self.declared(lane, *place, "a lane") && !seen.insert(lane.clone()) {
                    self.problems.value(*place, format!("the lane `{lane}` is listed twice"), "keep one of them");
                }
            }
            if lanes.is_empty() && node.kind() == "a list" {
                let message = "`over` is an empty list: the stage does nothing, and counts as done";
                self.problems.value(node.place, message, "list at least one lane, or remove the stage");
            }
            return Some(Over::Lanes(lanes.into_iter().map(|(lane, _)| lane).collect()));
        };
        match &**text {
            "units" => Some(Over::Units),
            "it" => Some(Over::It),
            _ => {
                let names = Rc::clone(&self.names);
                let words = ["units", "it"].into_iter().chain(names.variables.keys().map(|k| &**k));
                self.resolve(text, node.place, "list", words).then(|| Over::Input(text.clone()))
            }
        }
    }

    fn at_once(&mut self, node: &Node) -> Option<AtOnce> {
        let text = self.problems.text(node, "`at_once`")?;
        if self.names.variables.contains_key(&text) {
            return Some(AtOnce::Input(text));
        }
        let number = self.problems.number::<u32>(node, "`at_once`")?;
        if number == 0 {
            self.problems.value(node.place, "`at_once` is 0: nothing could start", "write 1 or more");
        }
        Some(AtOnce::Number(number))
    }

    fn gate_names(&mut self, node: &Node, what: &str) -> Vec<GateId> {
        let list = self.problems.texts(node, what);
        let names = Rc::clone(&self.names);
        self.resolve_in(list, "gate", &names.gates).into_iter().map(GateId::from).collect()
    }

    fn requires(&mut self, node: &Node) -> Vec<Name> {
        let list = self.problems.texts(node, "`requires`");
        let names = Rc::clone(&self.names);
        self.resolve_in(list, "gate or artifact", &names.requirable)
    }

    fn gives(&mut self, node: &Node) -> Vec<Resource> {
        let list = self.problems.texts(node, "`gives`");
        let names = Rc::clone(&self.names);
        self.resolve_in(list, "variable or artifact", &names.givable).into_iter().map(Into::into).collect()
    }
}

/// Milliseconds of `90s`, `30m`, `4h`, `2d`.
impl Reader {
    /// Expects a time: a number with its unit.
    pub(super) fn duration_ms(&mut self, node: &Node) -> Option<u64> {
        let ms = node.text().and_then(|text| amount::duration_ms(text));
        if ms.is_none() {
            self.problems.value(node.place, "this is not a time", "write a number with s, m, h or d: `4h`");
        }
        ms
    }
}
