//! Conditions: `{var: value}`, `{it.attr: value}`, `all`, `any`, `not` and predicates over the ledger.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::Reader;
use super::names::shorten;
use crate::Name;
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Place};
use crate::protocol::condition::{Condition, Quantifier, SetKind};
use crate::protocol::model::Class;
use crate::report::{Disposition, REPEAT_MAX};
use crate::yaml::{Fields, Key, Node, suggest};

/// States of the subject that need no declaration.
pub(super) const STATES: [&str; 6] = ["new", "produced", "accepted", "lapsed", "held", "dropped"];

impl Reader {
    /// Reads a condition.
    pub(super) fn condition(&mut self, node: &Node, what: &str) -> Option<Condition> {
        let entries = self.problems.entries(node, what);
        let Some((head, value)) = entries.first() else {
            if node.map().is_some() {
                self.problems.value(node.place, format!("{what} is an empty map"), "say what must be true");
            }
            return None;
        };
        let condition = match &*head.text {
            "all" => Condition::All(self.conditions(value, what)),
            "any" => Condition::Any(self.conditions(value, what)),
            "not" => Condition::Not(Box::new(self.condition(value, what)?)),
            "holds" => Condition::Holds(self.named(value, "gate")?.into()),
            "judged" => Condition::Judged(self.named(value, "role")?.into()),
            "command" => return self.command(node),
            "answer" => return self.answer(node),
            "artifact" => return self.artifact_condition(node),
            "every" | "none" | "some" => return self.set_condition(node),
            "count" => return self.count(node),
            _ => self.variable_condition(head, value)?,
        };
        if let Some((second, _)) = entries.get(1) {
            let message = format!("a condition says one thing; `{}` is a second", shorten(&second.text));
            self.problems.value(second.place, message, "write `{all: [{…}, {…}]}`");
        }
        Some(condition)
    }

    fn conditions(&mut self, node: &Node, what: &str) -> Vec<Condition> {
        let items = self.problems.list(node, what);
        if items.is_empty() && node.kind() == "a list" {
            self.problems.value(node.place, "`all` and `any` need at least one condition", "say what must be true");
        }
        items.iter().filter_map(|item| self.condition(item, what)).collect()
    }

    fn named(&mut self, node: &Node, what: &str) -> Option<Name> {
        let name = self.problems.text(node, what)?;
        let names = Rc::clone(&self.names);
        let known = if what == "gate" { &names.gates } else { &names.roles };
        self.resolve_in(vec![(name, node.place)], what, known).pop()
    }

    fn variable_condition(&mut self, head: &Key, value: &Node) -> Option<Condition> {
        let values = self.problems.one_or_more(value, &head.text);
        if values.is_empty() {
            return None;
        }
        let names = Rc::clone(&self.names);
        if let Some(attr) = head.text.strip_prefix("it.") {
            let attr = Name::from(attr);
            let Some(known) = names.attrs.get(&attr) else {
                let message = format!("units have no attribute `{}`", shorten(&attr));
                let hint = "declare it under `units.attrs`, or read `it.state`";
                self.problems.add(Diagnostic::error(Code::VALUE_UNKNOWN, head.place, message).hint(hint));
                return None;
            };
            let values = self.values(values, &head.text, known);
            return Some(Condition::It { attr, values });
        }
        match names.variables.get(&head.text) {
            Some(Some(known)) => {
                let values = self.values(values, &head.text, known);
                Some(Condition::Var { name: head.text.clone(), values })
            }
            Some(None) => {
                let message = format!("`{}` is not a `one_of`, so it cannot steer", head.text);
                let hint = "declare it as `one_of`, or ask for something else";
                self.problems.add(Diagnostic::error(Code::VALUE_UNKNOWN, head.place, message).hint(hint));
                None
            }
            None => {
                let known: Vec<&str> = names.variables.keys().map(|k| &**k).collect();
                let hint = suggest(&head.text, &known).unwrap_or_else(|| "declare it under `inputs` or `vars`".into());
                let message = format!("there is no variable `{}`", shorten(&head.text));
                self.problems.add(Diagnostic::error(Code::NAME_UNKNOWN, head.place, message).hint(hint));
                None
            }
        }
    }

    /// Keeps the values that are declared.
    fn values(&mut self, values: Vec<(Name, Place)>, of: &str, known: &BTreeSet<Name>) -> Vec<Name> {
        let mut kept = Vec::new();
        for (value, place) in values {
            if known.contains(&value) {
                kept.push(value);
                continue;
            }
            if self.problems.is_full() {
                break;
            }
            let list: Vec<&str> = known.iter().map(|k| &**k).collect();
            let hint = suggest(&value, &list).unwrap_or_else(|| format!("values: {}", shorten(&list.join(", "))));
            let message = format!("`{of}` is never `{}`", shorten(&value));
            self.problems.add(Diagnostic::error(Code::VALUE_UNKNOWN, place, message).hint(hint));
        }
        kept
    }

    fn command(&mut self, node: &Node) -> Option<Condition> {
        let mut fields = Fields::open(node, "the condition `command`", &mut self.problems);
        let command = fields.need("command", &mut self.problems)?;
        let repeat = fields.take("repeat");
        fields.close(&mut self.problems);
        let times: Option<u32> = repeat.and_then(|node| self.problems.number(node, "`repeat`"));
        if let (Some(times), Some(node)) = (times, repeat)
            && !(2..=REPEAT_MAX).contains(&times)
        {
            let message = format!("`repeat` is {times}: a command is run 2 to {REPEAT_MAX} times, or once without it");
            self.problems.value(node.place, message, "say how often it must pass, or leave it out");
        }
        let name = self.name(command, "the name of a command")?;
        Some(Condition::Command { name, repeat: times.unwrap_or(1) })
    }

    fn answer(&mut self, node: &Node) -> Option<Condition> {
        let mut fields = Fields::open(node, "the condition `answer`", &mut self.problems);
        let ask = fields.need("answer", &mut self.problems)?;
        let is = fields.need("is", &mut self.problems);
        let by = fields.take("by");
        fields.close(&mut self.problems);
        let by_anyone =
            by.and_then(|n| self.problems.word(n, "who may answer", &[("anyone", true), ("person", false)]));
        let name = self.problems.text(ask, "an ask")?;
        let names = Rc::clone(&self.names);
        let Some(known) = names.options.get(&name) else {
            self.resolve(&name, ask.place, "ask", names.options.keys().map(|k| &**k));
            return None;
        };
        let options = self.problems.one_or_more(is?, "the answer");
        let options = self.values(options, &name, known);
        Some(Condition::Answer { ask: name.into(), options, by_anyone: by_anyone.unwrap_or(false) })
    }

    fn artifact_condition(&mut self, node: &Node) -> Option<Condition> {
        let mut fields = Fields::open(node, "the condition `artifact`", &mut self.problems);
        let artifact = fields.need("artifact", &mut self.problems)?;
        let with = fields.take("with");
        fields.close(&mut self.problems);
        let name = self.problems.text(artifact, "an artifact")?;
        let names = Rc::clone(&self.names);
        let name = self.resolve_in(vec![(name, artifact.place)], "artifact", &names.artifacts).pop()?;
        let with = with.map(|n| self.problems.entries(n, "`with`")).unwrap_or_default();
        let with = with
            .iter()
            .filter_map(|(key, node)| Some((key.text.clone(), self.problems.text(node, "the field's value")?)))
            .collect();
        Some(Condition::Artifact { name, with })
    }

    fn set_condition(&mut self, node: &Node) -> Option<Condition> {
        let mut fields = Fields::open(node, "the condition", &mut self.problems);
        let quantifiers = [("every", Quantifier::Every), ("none", Quantifier::None), ("some", Quantifier::Some)];
        let (quantifier, set) = quantifiers
            .into_iter()
            .filter_map(|(word, quantifier)| fields.take(word).map(|node| (quantifier, node)))
            .next()?;
        let (filter, is, has) = (fields.take("where"), fields.take("is"), fields.take("has"));
        fields.close(&mut self.problems);
        let set = self.problems.word(set, "a set", &SetKind::ALL.map(|set| (set.word(), set)))?;
        if is.is_some() == has.is_some() {
            self.problems.value(node.place, "the condition needs either `is` or `has`", "say what its members are");
        }
        let mut kept = Vec::new();
        for (key, value) in filter.map(|n| self.problems.entries(n, "`where`")).unwrap_or_default() {
            let values = self.problems.one_or_more(value, &key.text);
            let attrs = Rc::clone(&self.names);
            if let Some(known) = attrs.attrs.get(&key.text).filter(|_| set == SetKind::Unit) {
                kept.push((key.text.clone(), self.values(values, &key.text, known)));
                continue;
            }
            let Some(known) = filter_values(set, &key.text) else {
                let message = format!("`where` cannot ask a {} for `{}`", set.word(), shorten(&key.text));
                let can: Vec<&str> = match set == SetKind::Unit {
                    true => attrs.attrs.keys().map(|attr| &**attr).collect(),
                    false => filters(set).to_vec(),
                };
                let hint = match can.is_empty() {
                    true => "declare attributes under `units.attrs`, or leave `where` out".to_owned(),
                    false => format!("it can ask for: {}", can.join(", ")),
                };
                self.problems.value(key.place, message, hint);
                continue;
            };
            let values = match known {
                [] => values.into_iter().map(|(value, _)| value).collect(),
                known => self.values(values, &key.text, &known.iter().map(|k| Name::from(*k)).collect()),
            };
            kept.push((key.text.clone(), values));
        }
        let mut closed = |node: Option<&Node>, known: &[&str], what: &str| {
            let values = node.map(|n| self.problems.one_or_more(n, what)).unwrap_or_default();
            self.values(values, what, &known.iter().map(|k| Name::from(*k)).collect())
        };
        let is = closed(is, statuses(set), &format!("a {}", set.word()));
        let has = closed(has, parts(set), &format!("what a {} has", set.word()));
        Some(Condition::Set { quantifier, set, filter: kept, is, has })
    }

    fn count(&mut self, node: &Node) -> Option<Condition> {
        let mut fields = Fields::open(node, "the condition `count`", &mut self.problems);
        let set = fields.need("count", &mut self.problems)?;
        let at_least = fields.need("at_least", &mut self.problems);
        fields.close(&mut self.problems);
        let set = self.problems.word(set, "a set", &SetKind::ALL.map(|set| (set.word(), set)))?;
        Some(Condition::Count { set, at_least: self.problems.number(at_least?, "`at_least`")? })
    }
}

/// What `is` may say of a member.
fn statuses(set: SetKind) -> &'static [&'static str] {
    match set {
        SetKind::Criterion | SetKind::Command => &["open", "passed", "failed", "unobservable", "waived"],
        SetKind::Finding => &["open", "addressed", "fixed", "refuted", "waived"],
        SetKind::Requirement => {
            &["in_scope", "deferred", "out_of_scope", "non_material", "met", "waived", "proposed", "undecided"]
        }
        SetKind::Unit => &STATES,
        SetKind::Decision => &["pending", "answered", "cancelled", "skipped"],
        SetKind::Question => &["open", "answered"],
        SetKind::Notice => &["open"],
    }
}

/// What `has` may ask of a member.
fn parts(set: SetKind) -> &'static [&'static str] {
    match set {
        SetKind::Requirement => &["unit", "criterion"],
        SetKind::Unit => &["objective", "reference", "scope", "criteria", "labels"],
        SetKind::Notice => &["requirement"],
        SetKind::Criterion | SetKind::Command | SetKind::Finding | SetKind::Decision | SetKind::Question => &[],
    }
}

fn filters(set: SetKind) -> &'static [&'static str] {
    match set {
        SetKind::Criterion | SetKind::Command => &["group"],
        SetKind::Finding => &["severity", "category"],
        SetKind::Requirement => &["disposition", "by"],
        SetKind::Decision => &["class"],
        SetKind::Question => &["blocking"],
        SetKind::Notice => &["kind"],
        SetKind::Unit => &[],
    }
}

/// The values a filter may have; an empty list where dialects choose them.
fn filter_values(set: SetKind, filter: &str) -> Option<&'static [&'static str]> {
    Some(match (set, filter) {
        (SetKind::Criterion | SetKind::Command, "group")
        | (SetKind::Finding, "severity" | "category")
        | (SetKind::Notice, "kind") => &[],
        (SetKind::Requirement, "disposition") => Disposition::WORDS,
        (SetKind::Requirement, "by") => &["person"],
        (SetKind::Decision, "class") => Class::WORDS,
        (SetKind::Question, "blocking") => &["true", "false"],
        _ => return None,
    })
}
