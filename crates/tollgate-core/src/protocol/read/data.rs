//! What a protocol declares beside its stages: inputs, variables, attributes, areas, artifacts, roles, gates.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::Reader;
use crate::Name;
use crate::amount;
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Place};
use crate::id::{GateId, RoleId};
use crate::protocol::condition::Condition;
use crate::protocol::model::{Artifact, Attribute, Budget, Gate, Given, Resource, Role, ScopePolicy, Sees};
use crate::protocol::model::{Value, Variable, VariableKind};
use crate::report::{Part, Verdict};
use crate::scope::{Area, pattern_problem};
use crate::yaml::{Content, Fields, Key, Node};

impl Reader {
    pub(super) fn variables(&mut self, node: &Node, section: &str) -> BTreeMap<Name, Variable> {
        let mut variables = BTreeMap::new();
        for (key, value) in self.problems.entries(node, section) {
            if self.variable_name(key)
                && let Some(variable) = self.variable(key, value)
            {
                variables.insert(key.text.clone(), variable);
            }
        }
        variables
    }

    fn variable(&mut self, key: &Key, node: &Node) -> Option<Variable> {
        let what = format!("the variable `{}`", key.text);
        let mut fields = Fields::open(node, &*what, &mut self.problems);
        let one_of = fields.take("one_of").map(|n| VariableKind::OneOf(self.value_names(n, &what)));
        let list_of = fields.take("list_of").map(|n| VariableKind::ListOf(self.value_names(n, &what)));
        let int = fields.take("int").map(|n| self.flag(n, VariableKind::Int));
        let text = fields.take("text").map(|n| self.flag(n, VariableKind::Text));
        let required = fields.take("required").and_then(|n| self.problems.bool(n, "`required`")).unwrap_or(false);
        let default = fields.take("default");
        fields.close(&mut self.problems);
        let mut kinds: Vec<VariableKind> = [one_of, list_of, int, text].into_iter().flatten().collect();
        if kinds.len() != 1 {
            let hint = "write exactly one of `one_of`, `list_of`, `int`, `text`";
            self.problems.value(node.place, format!("{what} has {} kinds", kinds.len()), hint);
        }
        let kind = kinds.pop()?;
        let is_list =
            |node: &&Node| matches!(&node.value, Content::Seq(items) if items.iter().any(|i| i.map().is_some()));
        let defaults = default.filter(is_list).map(|n| self.defaults(n, &what, &kind)).unwrap_or_default();
        let default = default.filter(|node| !is_list(node)).and_then(|n| self.default(n, &kind));
        Some(Variable { kind, required, default, defaults, place: key.place })
    }

    fn flag(&mut self, node: &Node, kind: VariableKind) -> VariableKind {
        if node.plain() != Some("true") {
            self.problems.value(
                node.place,
                "the kind of a variable is not `true`",
                "write `int: true` or `text: true`",
            );
        }
        kind
    }

    /// Values of a set: names, each once, at least one.
    fn value_names(&mut self, node: &Node, what: &str) -> Vec<Name> {
        let mut seen = BTreeSet::new();
        let mut kept = Vec::new();
        for (value, place) in self.problems.texts(node, what) {
            if !self.declared(&value, place, "a value") {
                continue;
            }
            if seen.insert(value.clone()) {
                kept.push(value);
            } else {
                self.problems.value(place, format!("`{value}` is twice in {what}"), "keep one of them");
            }
        }
        if kept.is_empty() && node.kind() == "a list" {
            self.problems.value(node.place, format!("{what} has no values"), "list at least one");
        }
        kept
    }

    fn default(&mut self, node: &Node, kind: &VariableKind) -> Option<Value> {
        let within = |value: &Name, values: &[Name]| values.contains(value);
        match kind {
            VariableKind::OneOf(values) => {
                let value = self.problems.text(node, "the default")?;
                if !within(&value, values) {
                    self.no_such_value(&value, node.place);
                }
                Some(Value::Text(value))
            }
            VariableKind::ListOf(values) => {
                let list = self.problems.texts(node, "the default");
                if list.is_empty() && node.kind() == "a list" {
                    self.problems.value(node.place, "the default is an empty list", "list at least one of the values");
                }
                for (value, place) in list.iter().filter(|(value, _)| !within(value, values)) {
                    self.no_such_value(value, *place);
                }
                Some(Value::List(list.into_iter().map(|(value, _)| value).collect()))
            }
            VariableKind::Int => {
                let number = node.plain().and_then(|text| text.parse().ok());
                if number.is_none() {
                    self.problems.value(node.place, "the default is not a whole number", "write digits");
                }
                number.map(Value::Int)
            }
            VariableKind::Text => self.problems.text(node, "the default").map(Value::Text),
        }
    }

    /// Defaults, each with the condition under which it is taken; the last may have none.
    fn defaults(&mut self, node: &Node, what: &str, kind: &VariableKind) -> Vec<(Condition, Value)> {
        let items = self.problems.list(node, "the default").to_vec();
        let mut defaults = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let mut fields = Fields::open(item, format!("a default of {what}"), &mut self.problems);
            let when = fields.take("when");
            let is = fields.need("is", &mut self.problems);
            fields.close(&mut self.problems);
            if when.is_none() && at + 1 < items.len() {
                let message = "a default without `when` is always taken, and none after it";
                self.problems.value(item.place, message, "write it last");
            }
            let when = when.map_or(Some(Condition::All(Vec::new())), |node| self.condition(node, "`when`"));
            defaults.extend(when.zip(is.and_then(|node| self.default(node, kind))));
        }
        defaults
    }

    fn no_such_value(&mut self, value: &str, place: Place) {
        let message = format!("the default `{value}` is not one of the values");
        self.problems.add(Diagnostic::error(Code::VALUE_UNKNOWN, place, message).hint("take one of the values listed"));
    }

    pub(super) fn attrs(&mut self, node: &Node) -> BTreeMap<Name, Attribute> {
        let mut fields = Fields::open(node, "`units`", &mut self.problems);
        let attrs = fields.need("attrs", &mut self.problems);
        fields.close(&mut self.problems);
        let mut kept = BTreeMap::new();
        for (key, value) in attrs.map(|n| self.problems.entries(n, "`units.attrs`")).unwrap_or_default() {
            if &*key.text == "state" {
                let message = "an attribute cannot be called `state`: it is built in";
                self.problems.add(Diagnostic::error(Code::NAME_TAKEN, key.place, message).hint("choose another name"));
            }
            let mut fields = Fields::open(value, format!("the attribute `{}`", key.text), &mut self.problems);
            let set = fields.need("set_of", &mut self.problems);
            fields.close(&mut self.problems);
            if let Some(set) = set.filter(|_| self.declared(&key.text, key.place, "the name of an attribute")) {
                let values = self.value_names(set, &key.text);
                kept.insert(key.text.clone(), Attribute { values, place: key.place });
            }
        }
        kept
    }

    pub(super) fn areas(&mut self, node: &Node) -> Vec<Area> {
        let mut areas = Vec::new();
        for (key, value) in self.problems.entries(node, "areas") {
            if self.resource_name(key, "an area") {
                let patterns = self.problems.texts(value, &format!("the area `{}`", key.text));
                if patterns.is_empty() && value.kind() == "a list" {
                    self.problems.value(value.place, "the area has no pattern", "list at least one: `\"src/**\"`");
                }
                for (pattern, place) in &patterns {
                    if let Some(problem) = pattern_problem(pattern) {
                        let message = format!("the pattern `{pattern}` {problem}");
                        self.problems.value(*place, &message, "write it like `\"src/**\"`");
                    }
                }
                let patterns = patterns.into_iter().map(|(pattern, _)| pattern).collect();
                areas.push(Area { name: key.text.clone(), patterns, place: key.place });
            }
        }
        areas
    }

    pub(super) fn artifacts(&mut self, node: &Node) -> BTreeMap<Name, Artifact> {
        let mut artifacts = BTreeMap::new();
        for (key, value) in self.problems.entries(node, "artifacts") {
            if !self.resource_name(key, "an artifact") {
                continue;
            }
            let mut fields = Fields::open(value, format!("the artifact `{}`", key.text), &mut self.problems);
            let path = fields.take("path").and_then(|n| self.path(n));
            let schema = fields.take("schema").and_then(|n| self.problems.text(n, "the schema"));
            let sections = fields.take("sections").map(|n| self.problems.texts(n, "sections")).unwrap_or_default();
            let given = match fields.take("given") {
                None => Given::ByStage,
                Some(node) if node.text().is_some_and(|text| &**text == "input") => Given::Input,
                Some(node) => self.condition(node, "`given`").map_or(Given::ByStage, Given::InputWhen),
            };
            let from = fields.take("from");
            let from_report = from.is_some_and(|n| self.problems.word(n, "a source", &[("report", ())]).is_some());
            let many = fields.take("many");
            let is_many = many.is_some_and(|n| self.problems.bool(n, "`many`") == Some(true));
            let brings = fields.take("brings").map(|n| self.brings(n));
            let shown_at = fields.take("shown_at").and_then(|n| self.path(n));
            fields.close(&mut self.problems);
            for (node, what) in [(from, "`from`"), (many, "`many`")] {
                if let Some(node) = node.filter(|_| path.is_some()) {
                    let message = format!("the artifact `{}` has both `path` and {what}", key.text);
                    let hint = "a document with a path is a file of the repository: leave one of them out";
                    self.problems.value(node.place, message, hint);
                }
            }
            if let (Some(node), true) = (many, is_many && from_report) {
                self.problems.value(node.place, "a report is one document", "leave out `many`, or `from`");
            }
            let sections = sections.into_iter().map(|(section, _)| section).collect();
            let place = key.place;
            let artifact =
                Artifact { path, schema, sections, from_report, many: is_many, brings, shown_at, given, place };
            artifacts.insert(key.text.clone(), artifact);
        }
        artifacts
    }

    /// What a document brings into the ledger.
    fn brings(&mut self, node: &Node) -> Vec<Resource> {
        let known = [Resource::Units, Resource::Requirements, Resource::Criteria];
        let known: Vec<(&str, Resource)> = known.iter().map(|resource| (&**resource, resource.clone())).collect();
        let items = self.problems.list(node, "`brings`").to_vec();
        items.iter().filter_map(|item| self.problems.word(item, "part of the ledger", &known)).collect()
    }

    /// A path inside the tree.
    fn path(&mut self, node: &Node) -> Option<Name> {
        let path = self.problems.text(node, "the path")?;
        let outside = path.is_empty() || path.starts_with('/') || path.split('/').any(|part| part == "..");
        if outside {
            self.problems.value(
                node.place,
                "the path leads out of the tree",
                "write it from the top of the repository",
            );
        }
        (!outside).then_some(path)
    }

    pub(super) fn roles(&mut self, node: &Node) -> BTreeMap<RoleId, Role> {
        let mut roles = BTreeMap::new();
        for (key, value) in self.problems.entries(node, "roles") {
            if self.declared(&key.text, key.place, "the name of a role")
                && let Some(role) = self.role(key, value)
            {
                roles.insert(key.text.clone().into(), role);
            }
        }
        roles
    }

    fn role(&mut self, key: &Key, node: &Node) -> Option<Role> {
        let mut fields = Fields::open(node, format!("the role `{}`", key.text), &mut self.problems);
        let contract = fields.need("contract", &mut self.problems);
        let part = fields.take("part");
        let verdicts = fields.take("verdicts").map(|n| self.verdicts(n)).unwrap_or_default();
        let writes = fields.need("writes", &mut self.problems).map(|n| self.writes(n)).unwrap_or_default();
        let sees = fields.need("sees", &mut self.problems).map_or(Sees::Full, |n| self.sees(n));
        let shown_claims = fields.take("shown_claims").map(|n| self.shown(n, "shown_claims")).unwrap_or_default();
        let self_check = fields.take("self_check").and_then(|n| self.problems.bool(n, "`self_check`"));
        let session = fields.take("session").and_then(|n| self.session(n));
        let scopes = [
            ("strict", ScopePolicy::Strict),
            ("incidental", ScopePolicy::Incidental),
            ("advisory", ScopePolicy::Advisory),
        ];
        let scope = fields.take("scope").and_then(|n| self.problems.word(n, "a scope policy", &scopes));
        let budget = fields.take("budget").map(|n| self.budget(n)).unwrap_or_default();
        fields.close(&mut self.problems);
        let part = part.and_then(|node| self.part(node, !verdicts.is_empty()));
        Some(Role {
            contract: self.problems.text(contract?, "the contract")?,
            part,
            verdicts,
            writes,
            sees,
            shown_claims,
            self_check: self_check.unwrap_or(false),
            session,
            scope: scope.unwrap_or(ScopePolicy::Strict),
            budget,
            place: key.place,
        })
    }

    /// The part of a role; one that judges lists its verdicts, and no other does.
    fn part(&mut self, node: &Node, judges: bool) -> Option<Part> {
        let part = self.problems.word(node, "a part", &Part::ALL.map(|part| (part.word(), part)))?;
        if part.judges() != judges {
            let (message, hint) = match judges {
                true => ("a developer does not judge, and the role lists verdicts", "leave out `part` or `verdicts`"),
                false => ("this part judges, and the role lists no verdicts", "add `verdicts: [accept, reject]`"),
            };
            self.problems.value(node.place, message, hint);
        }
        Some(part)
    }

    fn verdicts(&mut self, node: &Node) -> Vec<Verdict> {
        let words = [Verdict::Accept, Verdict::AcceptWithNotes, Verdict::Reject].map(|v| (v.word(), v));
        let items = self.problems.list(node, "verdicts");
        let mut verdicts: Vec<Verdict> =
            items.iter().filter_map(|item| self.problems.word(item, "a verdict", &words)).collect();
        let listed = verdicts.len();
        verdicts.sort();
        verdicts.dedup();
        if listed != verdicts.len() || !verdicts.contains(&Verdict::Accept) || verdicts.len() < 2 {
            let hint = "list `accept` and at least one more, each once";
            self.problems.value(node.place, "these verdicts do not let the role judge", hint);
        }
        verdicts
    }

    fn writes(&mut self, node: &Node) -> Vec<Name> {
        if node.plain() == Some("none") {
            return Vec::new();
        }
        let list = self.problems.texts(node, "`writes`");
        let names = Rc::clone(&self.names);
        self.resolve_in(list, "area", &names.areas)
    }

    fn sees(&mut self, node: &Node) -> Sees {
        let (mut only, mut all_but) = (None, None);
        if node.map().is_some() {
            let mut fields = Fields::open(node, "`sees`", &mut self.problems);
            (only, all_but) = (fields.take("only"), fields.take("all_but"));
            fields.close(&mut self.problems);
        } else if node.plain() == Some("full") {
            return Sees::Full;
        }
        match (only, all_but) {
            (Some(only), None) => Sees::Only(self.shown(only, "sees")),
            (None, Some(but)) => Sees::AllBut(self.shown(but, "sees")),
            _ => {
                let hint = "write `full`, `{only: […]}` or `{all_but: […]}`";
                self.problems.value(node.place, "`sees` says neither what nor what not", hint);
                Sees::Full
            }
        }
    }

    /// Items of a bundle: words of the closed list, artifacts, `role.section`, `*.section`.
    pub(super) fn shown(&mut self, node: &Node, what: &str) -> Vec<Name> {
        let names = Rc::clone(&self.names);
        let mut kept = Vec::new();
        for (item, place) in self.problems.texts(node, what) {
            let found = match item.split_once('.') {
                Some(("*", section)) => self.declared(section, place, "a section"),
                Some((role, section)) => {
                    !self.resolve_in(vec![(role.into(), place)], "role", &names.roles).is_empty()
                        && self.declared(section, place, "a section")
                }
                None => !self.resolve_in(vec![(item.clone(), place)], "item to show", &names.shown).is_empty(),
            };
            if found {
                kept.push(item);
            }
        }
        kept
    }

    fn session(&mut self, node: &Node) -> Option<RoleId> {
        let name = self.problems.text(node, "the session")?;
        if &*name == "fresh" {
            return None;
        }
        let names = Rc::clone(&self.names);
        self.resolve_in(vec![(name, node.place)], "role", &names.roles).pop().map(RoleId::from)
    }

    fn budget(&mut self, node: &Node) -> Budget {
        let mut fields = Fields::open(node, "the budget", &mut self.problems);
        let time = fields.take("time");
        let minutes = fields.take("minutes");
        if let (Some(time), Some(minutes)) = (time, minutes) {
            let error = Diagnostic::error(Code::YAML_VALUE, minutes.place, "the budget has both `time` and `minutes`");
            self.problems.add(error.other(time.place).hint("keep one of them: `minutes: 5` is `time: 5m`"));
        }
        let time = time.and_then(|node| self.duration_ms(node));
        let minutes = minutes.and_then(|node| {
            let number = self.problems.number::<u32>(node, "minutes")?;
            if number == 0 {
                self.problems.value(node.place, "a budget of no time lets no worker start", "write at least 1");
            }
            Some(u64::from(number) * 60_000)
        });
        let tokens = fields.take("tokens").and_then(|n| self.problems.number(n, "tokens"));
        let cost = fields.take("cost").and_then(|node| {
            let cost = node.text().and_then(|text| amount::nano_usd(text));
            if cost.is_none() {
                self.problems.value(node.place, "this is no amount of money", "write US dollars: `cost: 2.50`");
            }
            cost
        });
        let turns = fields.take("turns").and_then(|n| self.problems.number(n, "turns"));
        fields.close(&mut self.problems);
        Budget { time_ms: time.or(minutes), tokens, cost_nano_usd: cost, turns }
    }

    pub(super) fn gates(&mut self, node: &Node) -> BTreeMap<GateId, Gate> {
        let mut gates = BTreeMap::new();
        for (key, value) in self.problems.entries(node, "gates") {
            if self.declared(&key.text, key.place, "the name of a gate")
                && let Some(gate) = self.gate(key, value)
            {
                gates.insert(key.text.clone().into(), gate);
            }
        }
        gates
    }

    fn gate(&mut self, key: &Key, node: &Node) -> Option<Gate> {
        let mut fields = Fields::open(node, format!("the gate `{}`", key.text), &mut self.problems);
        let holds = fields.need("holds", &mut self.problems);
        let bound_to = fields.take("bound_to").map(|n| self.resources(n, "`bound_to`")).unwrap_or_default();
        let mandatory = fields.take("mandatory");
        fields.close(&mut self.problems);
        let (mut unit, mut run) = (None, None);
        if let Some(node) = mandatory {
            let mut fields = Fields::open(node, "`mandatory`", &mut self.problems);
            unit = fields.take("unit").and_then(|n| self.mandatory(n));
            run = fields.take("run").and_then(|n| self.mandatory(n));
            fields.close(&mut self.problems);
        }
        let holds = self.condition(holds?, "`holds`")?;
        Some(Gate { holds, bound_to, mandatory_unit: unit, mandatory_run: run, place: key.place })
    }

    /// `true`, or under a condition.
    fn mandatory(&mut self, node: &Node) -> Option<Condition> {
        match &node.value {
            Content::Map(_) => self.condition(node, "`mandatory`"),
            _ if node.plain() == Some("true") => Some(Condition::All(Vec::new())),
            Content::Scalar { .. } | Content::Seq(_) => {
                self.problems.value(
                    node.place,
                    "`mandatory` is neither `true` nor a condition",
                    "leave it out, or say when",
                );
                None
            }
        }
    }
}
