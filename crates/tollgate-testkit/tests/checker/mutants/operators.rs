//! The operators: each breaks a protocol in one way, wherever it can, and knows by which code that is refused.

use tollgate_core::code::Code;
use tollgate_core::yaml::{Key, Node};

use super::tree::*;

/// A protocol broken in one way at one place.
pub struct Mutant {
    pub operator: &'static str,
    pub site: String,
    pub tree: Node,
    /// The codes of which one must be among the breaches.
    pub codes: &'static [Code],
}

/// Every mutant of a protocol.
pub fn mutants(root: &Node) -> Vec<Mutant> {
    let mut maker = Maker { root, list: Vec::new() };
    maker.routes();
    maker.limits();
    maker.otherwise();
    maker.gates();
    maker.establishing();
    maker.stages();
    maker.roles();
    maker.data();
    maker.units();
    maker.list
}

struct Maker<'a> {
    root: &'a Node,
    list: Vec<Mutant>,
}

impl<'a> Maker<'a> {
    /// The entries of a section; a protocol may do without it.
    fn section(&self, name: &str) -> &'a [(Key, Node)] {
        self.root.get(name).map(entries).unwrap_or_default()
    }

    fn add(&mut self, operator: &'static str, site: &str, codes: &'static [Code], change: impl FnOnce(&mut Node)) {
        let mut tree = self.root.clone();
        change(&mut tree);
        self.list.push(Mutant { operator, site: site.into(), tree, codes });
    }

    fn routes(&mut self) {
        let root = self.root;
        let otherwise: Vec<&str> = self.section("otherwise").iter().map(|(k, _)| &*k.text).collect();
        for (flow, i, id, stage_node) in stages(root) {
            for (outcome, route) in entries(stage_node.get("on").unwrap()) {
                let site = format!("{flow}.{id}.{}", outcome.text);
                let head = outcome.text.split('.').next().unwrap();
                if !otherwise.contains(&head)
                    && !otherwise.contains(&&*outcome.text)
                    && !outcome.text.starts_with("raise")
                {
                    self.add("drop a route", &site, &[Code::NOT_ROUTED], |tree| {
                        drop_key(get(stage(tree, &flow, i), "on"), &outcome.text);
                    });
                }
                let target = route.text().or_else(|| route.get("to").and_then(Node::text)).unwrap().to_string();
                self.add("misspell a target", &site, &[Code::NAME_UNKNOWN], |tree| {
                    retarget(stage(tree, &flow, i), &target, "nowhere");
                });
            }
            let site = format!("{flow}.{id}");
            self.add("route what is no outcome", &site, &[Code::NOT_AN_OUTCOME], |tree| {
                put(get(stage(tree, &flow, i), "on"), "shipped", yaml("hold"));
            });
        }
        for (flow, stages) in self.section("flows") {
            let name = flow.text.to_string();
            let codes: &[Code] = match &*name {
                "main" => &[Code::NEVER_DONE],
                // Of a flow that is run for the same subject it is known what its caller never sees.
                _ => &[Code::NEVER_DONE, Code::NOT_REACHED, Code::NO_END],
            };
            self.add("never done", &name, codes, |tree| {
                for i in 0..items(Some(stages)).len() {
                    retarget(stage(tree, &name, i), "done", "hold");
                }
            });
        }
    }

    fn limits(&mut self) {
        for (flow, i, id, stage_node) in stages(self.root) {
            for (outcome, route) in entries(stage_node.get("on").unwrap()) {
                if route.get("limit").is_none() {
                    continue;
                }
                let site = format!("{flow}.{id}.{}", outcome.text);
                const ENDLESS: &[Code] = &[Code::NOT_BOUNDED, Code::NOT_REACHED, Code::UNUSED];
                let route_of = |tree: &mut Node, change: &dyn Fn(&mut Node)| {
                    change(get(get(stage(tree, &flow, i), "on"), &outcome.text));
                };
                self.add("drop a limit", &site, ENDLESS, |tree| {
                    route_of(tree, &|route| ["limit", "same", "then"].iter().for_each(|k| drop_key(route, k)));
                });
                self.add("drop a way out", &site, &[Code::LIMIT_INCOMPLETE], |tree| {
                    route_of(tree, &|route| drop_key(route, "then"));
                });
                self.add("a limit of 0", &site, &[Code::LIMIT_INCOMPLETE], |tree| {
                    route_of(tree, &|route| put(route, "limit", yaml("0")));
                });
                if route.get("same").is_some() {
                    self.add("same alone", &site, &[Code::LIMIT_INCOMPLETE], |tree| {
                        route_of(tree, &|route| drop_key(route, "limit"));
                    });
                }
            }
        }
    }

    fn otherwise(&mut self) {
        for (outcome, route) in self.section("otherwise") {
            let site = format!("otherwise.{}", outcome.text);
            self.add("drop a rule", &site, &[Code::NOT_ROUTED, Code::RAISE_UNCAUGHT], |tree| {
                drop_key(get(tree, "otherwise"), &outcome.text);
            });
            if route.get("limit").is_some() {
                self.add("drop a rule's limit", &site, &[Code::NOT_BOUNDED], |tree| {
                    let route = get(get(tree, "otherwise"), &outcome.text);
                    ["limit", "then"].iter().for_each(|k| drop_key(route, k));
                });
            }
            if route.text().is_some_and(|text| &**text == "hold") {
                self.add("raise and nobody catches", &site, &[Code::RAISE_UNCAUGHT], |tree| {
                    put(get(tree, "otherwise"), &outcome.text, yaml("raise lost"));
                });
            }
        }
        for (ask, body) in self.section("asks") {
            let skipped = body.get("on").and_then(|on| on.get("skipped"));
            if skipped.is_some() {
                self.add("skip to what the origin lacks", &ask.text, &[Code::ORIGIN_LACKS], |tree| {
                    put(get(get(get(tree, "asks"), &ask.text), "on"), "skipped", yaml("as conflict"));
                });
            }
        }
        self.add("an ask nobody puts", "asks", &[Code::UNUSED], |tree| {
            put(
                get(tree, "asks"),
                "idle",
                yaml("{ask: {class: choice, from: report}, on: {answered: back, cancelled: hold}}"),
            );
        });
    }

    fn gates(&mut self) {
        for (name, gate) in self.section("gates") {
            if gate.get("mandatory").is_some() {
                self.add("drop mandatory", &name.text, &[Code::GUARDS_NOTHING, Code::NOT_GATED], |tree| {
                    drop_key(get(get(tree, "gates"), &name.text), "mandatory");
                });
            }
            if gate.get("bound_to").is_some() {
                self.add("bind to nothing", &name.text, &[Code::CANNOT_ENSURE], |tree| {
                    drop_key(get(get(tree, "gates"), &name.text), "bound_to");
                });
                self.add("bind to what is not there", &name.text, &[Code::NAME_UNKNOWN], |tree| {
                    put(get(get(tree, "gates"), &name.text), "bound_to", yaml("[moon]"));
                });
                self.add(
                    "require it before anything",
                    &name.text,
                    &[Code::NOT_ESTABLISHED, Code::READ_TOO_EARLY],
                    |tree| {
                        put(stage(tree, "main", 0), "requires", yaml(&format!("[{}]", name.text)));
                    },
                );
            }
        }
        self.add("a gate that guards nothing", "gates", &[Code::GUARDS_NOTHING], |tree| {
            put(get(tree, "gates"), "tidy", yaml("{holds: {command: lint}, bound_to: tree}"));
        });
    }

    /// What establishes gates: judges, checks, answers.
    fn establishing(&mut self) {
        const LOST: &[Code] = &[Code::NOT_GATED, Code::NOT_ESTABLISHED];
        for (flow, i, id, node) in stages(self.root) {
            let site = format!("{flow}.{id}");
            if node.get("ensures").is_some() {
                self.add("drop ensures", &site, LOST, |tree| drop_key(stage(tree, &flow, i), "ensures"));
            }
            let checked = words(node.get("check"));
            for gate in checked.iter().filter(|_| checked.len() > 1) {
                self.add("drop a gate from a check", &format!("{site}.{gate}"), LOST, |tree| {
                    drop_word(get(stage(tree, &flow, i), "check"), gate);
                });
            }
            for (outcome, route) in entries(node.get("on").unwrap()) {
                if route.get("ensures").is_some() {
                    let site = format!("{site}.{}", outcome.text);
                    self.add("drop an answer's ensures", &site, LOST, |tree| {
                        drop_key(get(get(stage(tree, &flow, i), "on"), &outcome.text), "ensures");
                    });
                }
            }
            if node.get("dispatch").is_some() && node.get("ensures").is_none() && !self.judges(node) {
                let gate = self.section("gates")[0].0.text.clone();
                self.add("ensure without judging", &site, &[Code::CANNOT_ENSURE], |tree| {
                    put(stage(tree, &flow, i), "ensures", yaml(&format!("[{gate}]")));
                });
            }
        }
    }

    fn judges(&self, node: &Node) -> bool {
        let role = node.get("dispatch").and_then(Node::text).unwrap();
        self.root.get("roles").unwrap().get(role).unwrap().get("verdicts").is_some()
    }

    fn stages(&mut self) {
        let writer = self.writer();
        for (flow, i, id, node) in stages(self.root) {
            let site = format!("{flow}.{id}");
            let goes = |route: &Node, to: &str| {
                let is = |node: &Node| node.text().is_some_and(|text| &**text == to);
                is(route) || route.get("to").is_some_and(is)
            };
            if entries(node.get("on").unwrap()).iter().any(|(_, route)| goes(route, "done")) {
                const UNDONE: &[Code] = &[Code::NOT_GATED, Code::NOT_LANDED, Code::TREE_SHARED];
                self.add("write after the last check", &site, UNDONE, |tree| {
                    retarget(stage(tree, &flow, i), "done", "polish");
                    let polish = format!("{{id: polish, dispatch: {writer}, on: {{ok: done}}}}");
                    push(get(get(tree, "flows"), &flow), yaml(&polish));
                });
            }
            if node.get("land").and_then(Node::text).is_some_and(|to| &**to == "run") {
                self.add("never land", &site, &[Code::NOT_LANDED], |tree| {
                    for j in 0..items(self.root.get("flows").unwrap().get(&flow)).len() {
                        retarget(stage(tree, &flow, j), &id, "done");
                    }
                });
            }
            if node.get("ask").and_then(|ask| ask.get("class")).and_then(Node::text).is_some_and(|c| &**c == "approval")
            {
                let option = entries(node.get("ask").unwrap().get("options").unwrap())[0].0.text.clone();
                self.add("a timer approves", &site, &[Code::DEFAULT_FORBIDDEN], |tree| {
                    let default = format!("{{answer: {option}, after: 1h}}");
                    put(get(stage(tree, &flow, i), "ask"), "default", yaml(&default));
                });
            }
        }
        for (flow, _) in self.section("flows") {
            self.add("a stage nobody reaches", &flow.text, &[Code::NOT_REACHED], |tree| {
                let orphan = format!("{{id: orphan, dispatch: {writer}, on: {{ok: dropped}}}}");
                push(get(get(tree, "flows"), &flow.text), yaml(&orphan));
            });
            if &*flow.text != "main" {
                self.add("a flow that runs itself", &flow.text, &[Code::FLOW_CIRCLE], |tree| {
                    let call = format!(
                        "{{id: more, each: {{over: it, flow: {}}}, on: {{all: done, none: dropped}}}}",
                        flow.text
                    );
                    push(get(get(tree, "flows"), &flow.text), yaml(&call));
                });
            }
        }
        self.add("a flow nobody runs", "flows", &[Code::UNUSED], |tree| {
            let flow = format!("[{{id: idle, dispatch: {writer}, on: {{ok: done}}}}]");
            put(get(tree, "flows"), "idle", yaml(&flow));
        });
    }

    /// The role that writes most of what is judged.
    fn writer(&self) -> String {
        let roles = self.section("roles").iter();
        let most = roles.filter(|(_, role)| role.get("verdicts").is_none());
        most.max_by_key(|(_, role)| {
            (words(role.get("writes")).contains(&"code".into()), items(role.get("writes")).len())
        })
        .unwrap()
        .0
        .text
        .to_string()
    }

    fn roles(&mut self) {
        let areas: Vec<&str> = self.section("areas").iter().map(|(k, _)| &*k.text).collect();
        let all = format!("[{}]", areas.join(", "));
        let writer = self.writer();
        for (name, role) in self.section("roles") {
            let of = |tree: &mut Node, change: &dyn Fn(&mut Node)| change(get(get(tree, "roles"), &name.text));
            self.add("an unknown contract", &name.text, &[Code::CONTRACT_UNKNOWN], |tree| {
                of(tree, &|role| put(role, "contract", yaml("telegram")));
            });
            if role.get("verdicts").is_none() {
                continue;
            }
            self.add("widen a judge's writes", &name.text, &[Code::JUDGES_ITSELF], |tree| {
                of(tree, &|role| put(role, "writes", yaml(&all)));
            });
            self.add("show a judge everything", &name.text, &[Code::CLAIM_SHOWN], |tree| {
                of(tree, &|role| {
                    put(role, "sees", yaml("full"));
                    drop_key(role, "shown_claims");
                });
            });
            if role.get("shown_claims").is_some() {
                self.add("drop shown_claims", &name.text, &[Code::CLAIM_SHOWN], |tree| {
                    of(tree, &|role| drop_key(role, "shown_claims"));
                });
            }
            self.add("judge in the author's session", &name.text, &[Code::NO_EFFECT], |tree| {
                of(tree, &|role| put(role, "session", yaml(&writer)));
            });
            let notes = |(_, role): &(_, Node)| words(role.get("verdicts")).contains(&"accept_with_notes".into());
            if !self.section("roles").iter().any(notes) {
                const UNSAID: &[Code] = &[Code::VERDICT_UNKNOWN, Code::NOT_ROUTED];
                self.add("a verdict nobody can say", &name.text, UNSAID, |tree| {
                    of(tree, &|role| put(role, "verdicts", yaml("[accept, accept_with_notes, reject]")));
                });
            }
        }
        let role = self.section("roles")[0].1.clone();
        self.add("a role nobody dispatches", "roles", &[Code::UNUSED], |tree| {
            put(get(tree, "roles"), "idle", role);
        });
    }

    fn data(&mut self) {
        for (name, _) in self.section("artifacts") {
            self.add("an artifact nobody gives", &name.text, &[Code::NO_GIVER], |tree| {
                drop_key(get(get(tree, "artifacts"), &name.text), "given");
                for (flow, i, _, node) in stages(self.root) {
                    if node.get("gives").is_some() {
                        drop_word(get(stage(tree, &flow, i), "gives"), &name.text);
                    }
                }
            });
        }
        for (flow, i, id, node) in stages(self.root) {
            let when = node.get("when").map(entries).unwrap_or_default();
            let Some((variable, _)) = when.iter().find(|(k, _)| self.variable(&k.text)) else { continue };
            let site = format!("{flow}.{id}");
            self.add("rename a variable", &site, &[Code::NAME_UNKNOWN], |tree| {
                put(stage(tree, &flow, i), "when", yaml("{mood: good}"));
            });
            self.add("compare with no value", &site, &[Code::VALUE_UNKNOWN], |tree| {
                put(stage(tree, &flow, i), "when", yaml(&format!("{{{}: never-this}}", variable.text)));
            });
        }
        for (name, _) in self.section("vars") {
            self.add("a variable nobody gives", &name.text, &[Code::NOT_ASSIGNED], |tree| {
                for (flow, i, _, node) in stages(self.root) {
                    if node.get("gives").is_some() {
                        drop_word(get(stage(tree, &flow, i), "gives"), &name.text);
                    }
                }
            });
        }
        self.add("an unknown section", "the file", &[Code::YAML_UNKNOWN_KEY], |tree| put(tree, "hooks", yaml("{}")));
    }

    fn variable(&self, name: &str) -> bool {
        ["inputs", "vars"].iter().any(|section| self.root.get(section).is_some_and(|s| s.get(name).is_some()))
    }

    fn units(&mut self) {
        let artifacts = self.section("artifacts");
        for (flow, i, id, node) in stages(self.root) {
            let Some(each) = node.get("each") else { continue };
            let site = format!("{flow}.{id}");
            self.around(&flow, i, &id, node);
            let own = each.get("trees").and_then(Node::text).is_some_and(|trees| &**trees == "own");
            if own {
                self.add("share the tree", &site, &[Code::TREE_SHARED], |tree| {
                    put(get(stage(tree, &flow, i), "each"), "trees", yaml("shared"));
                });
            }
            if each.get("over").and_then(Node::text).is_some_and(|over| &**over == "units") {
                self.add("units nobody gives", &site, &[Code::READ_TOO_EARLY], |tree| {
                    for (flow, i, _, node) in stages(self.root) {
                        if node.get("gives").is_some() {
                            drop_word(get(stage(tree, &flow, i), "gives"), "units");
                        }
                    }
                    for (name, artifact) in artifacts {
                        if artifact.get("brings").is_some() {
                            drop_word(get(get(get(tree, "artifacts"), &name.text), "brings"), "units");
                        }
                    }
                });
            }
        }
    }

    /// Each way into an `each` from a stage before it, led to what follows when all units are done.
    fn around(&mut self, flow: &str, at: usize, id: &str, each: &Node) {
        let Some(after) = each.get("on").unwrap().get("all").and_then(Node::text) else { return };
        for (_, i, before, node) in stages(self.root).into_iter().filter(|(f, i, ..)| f == flow && *i < at) {
            for (outcome, route) in entries(node.get("on").unwrap()) {
                if route.text().is_some_and(|to| &**to == id) {
                    let site = format!("{flow}.{before}.{}", outcome.text);
                    self.add("route around an each", &site, &[Code::NOT_GATED, Code::NOT_REACHED], |tree| {
                        put(get(stage(tree, flow, i), "on"), &outcome.text, yaml(after));
                    });
                }
            }
        }
    }
}
