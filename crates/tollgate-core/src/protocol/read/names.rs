//! The names a protocol declares, collected before anything that uses them is read.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::Reader;
use super::conditions::STATES;
use crate::Name;
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Place};
use crate::protocol::model::{ITEMS, Resource};
use crate::yaml::{Content, Key, Node, suggest};

/// What `sees` and `shows` can be read with besides artifacts, sections and what is shown: the checker refuses it.
const NOT_SHOWN: [&str; 2] = ["requirements", "notes"];
/// Words that are targets, so no stage may be called so.
const TARGETS: [&str; 7] = ["again", "done", "reported", "dropped", "hold", "back", "origin"];
/// Words that begin a condition, so no variable may be called so.
const CONDITIONS: [&str; 12] =
    ["all", "any", "not", "holds", "judged", "answer", "command", "artifact", "every", "none", "some", "count"];
/// Characters a name may have.
const NAME_CHARS_MAX: usize = 64;

/// Every declared name, and what a condition must know about it.
#[derive(Default)]
pub(super) struct Names {
    /// Inputs and variables; the values of a `one_of`, nothing for the others.
    pub variables: BTreeMap<Name, Option<BTreeSet<Name>>>,
    pub attrs: BTreeMap<Name, BTreeSet<Name>>,
    pub areas: BTreeSet<Name>,
    pub artifacts: BTreeSet<Name>,
    pub roles: BTreeSet<Name>,
    pub gates: BTreeSet<Name>,
    pub asks: BTreeSet<Name>,
    pub flows: BTreeSet<Name>,
    pub main: BTreeSet<Name>,
    /// Asks of every flow and shared ones, with their options.
    pub options: BTreeMap<Name, BTreeSet<Name>>,
    /// What gates are bound to and answers amend.
    pub resources: BTreeSet<Name>,
    /// What a stage may require.
    pub requirable: BTreeSet<Name>,
    /// What a stage may give.
    pub givable: BTreeSet<Name>,
    /// What a bundle or a question may show, besides sections.
    pub shown: BTreeSet<Name>,
    /// What `each` may run.
    pub callable: BTreeSet<Name>,
}

impl Names {
    pub fn collect(node: &Node) -> Self {
        let mut names = Self {
            areas: keys(node.get("areas")),
            artifacts: keys(node.get("artifacts")),
            roles: keys(node.get("roles")),
            gates: keys(node.get("gates")),
            asks: keys(node.get("asks")),
            flows: keys(node.get("flows")),
            ..Self::default()
        };
        for (key, variable) in entries(node.get("inputs")).iter().chain(entries(node.get("vars"))) {
            names.variables.insert(key.text.clone(), variable.get("one_of").map(values));
        }
        for (key, attr) in entries(node.get("units").and_then(|units| units.get("attrs"))) {
            names.attrs.insert(key.text.clone(), attr.get("set_of").map(values).unwrap_or_default());
        }
        names.attrs.insert("state".into(), STATES.map(Name::from).into());
        for (key, ask) in entries(node.get("asks")) {
            names.options.insert(key.text.clone(), options(ask));
        }
        for (flow, stages) in entries(node.get("flows")) {
            let ids = stage_ids(stages);
            for (id, stage) in &ids {
                if stage.get("ask").is_some() {
                    names.options.entry((*id).clone()).or_default().extend(options(stage));
                }
            }
            if &*flow.text == "main" {
                names.main = ids.into_iter().map(|(id, _)| id.clone()).collect();
            }
        }
        let words = |list: &[&str]| list.iter().map(|word| Name::from(*word)).collect::<BTreeSet<Name>>();
        names.resources = &(&names.areas | &names.artifacts) | &words(Resource::WORDS);
        names.requirable = &names.gates | &names.artifacts;
        names.givable =
            &(&names.variables.keys().cloned().collect() | &names.artifacts) | &words(&["units", "requirements"]);
        names.shown = &(&names.artifacts | &words(&ITEMS)) | &words(&NOT_SHOWN);
        names.callable = &names.flows - &words(&["main"]);
        names
    }
}

/// The stages of a flow that have an id.
pub(super) fn stage_ids(flow: &Node) -> Vec<(&Name, &Node)> {
    let stages = if let Content::Seq(stages) = &flow.value { stages.as_slice() } else { &[] };
    stages.iter().filter_map(|stage| Some((stage.get("id")?.text()?, stage))).collect()
}

fn entries(node: Option<&Node>) -> &[(Key, Node)] {
    node.and_then(Node::map).unwrap_or_default()
}

fn keys(node: Option<&Node>) -> BTreeSet<Name> {
    entries(node).iter().map(|(key, _)| key.text.clone()).collect()
}

fn values(node: &Node) -> BTreeSet<Name> {
    let Content::Seq(items) = &node.value else { return BTreeSet::new() };
    items.iter().filter_map(Node::text).cloned().collect()
}

fn options(stage: &Node) -> BTreeSet<Name> {
    keys(stage.get("ask").and_then(|ask| ask.get("options")))
}

impl Reader {
    /// Expects a text that may name something.
    pub(super) fn name(&mut self, node: &Node, what: &str) -> Option<Name> {
        let text = self.problems.text(node, what)?;
        self.declared(&text, node.place, what).then_some(text)
    }

    /// Whether a text may name something; a problem otherwise.
    pub(super) fn declared(&mut self, text: &str, place: Place, what: &str) -> bool {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let good = !text.is_empty() && text.len() <= NAME_CHARS_MAX && text.chars().all(plain);
        if !good {
            let hint = format!("use letters, digits, `-` and `_`, at most {NAME_CHARS_MAX}");
            self.problems.value(place, format!("`{}` cannot be {what}", shorten(text)), hint);
        }
        good
    }

    /// Whether a name is declared; a problem with its near miss otherwise.
    pub(super) fn resolve<'a>(
        &mut self,
        name: &Name,
        place: Place,
        what: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> bool {
        if known.clone().any(|k| k == &**name) {
            return true;
        }
        if !self.problems.is_full() {
            let known: Vec<&str> = known.collect();
            let hint = suggest(name, &known).unwrap_or_else(|| match known.len() {
                0 => "none is declared".into(),
                1..=12 => format!("declared: {}", known.join(", ")),
                n => format!("none of the {n} declared ones is near"),
            });
            let message = format!("there is no {what} `{}`", shorten(name));
            self.problems.add(Diagnostic::error(Code::NAME_UNKNOWN, place, message).hint(hint));
        }
        false
    }

    /// Keeps those of a list that are declared in a set of names.
    pub(super) fn resolve_in(&mut self, list: Vec<(Name, Place)>, what: &str, known: &BTreeSet<Name>) -> Vec<Name> {
        // A look in the set first: the search for a near miss is for errors only.
        list.into_iter()
            .filter(|(name, place)| {
                known.contains(name) || self.resolve(name, *place, what, known.iter().map(|k| &**k))
            })
            .map(|(name, _)| name)
            .collect()
    }

    /// Keeps the resources of a list.
    pub(super) fn resources(&mut self, node: &Node, what: &str) -> Vec<Resource> {
        let list = self.problems.one_or_more(node, what);
        let names = Rc::clone(&self.names);
        self.resolve_in(list, "resource", &names.resources).into_iter().map(Resource::from).collect()
    }

    /// Refuses names that two things share where one word must mean one thing.
    pub(super) fn shared_names(&mut self, node: &Node) {
        let mut taken: BTreeMap<&str, (&str, Place)> = BTreeMap::new();
        let mut clash = Vec::new();
        for section in ["inputs", "vars", "artifacts", "gates", "areas"] {
            for (key, _) in entries(node.get(section)) {
                if let Some((other, place)) = taken.get(&*key.text).filter(|(other, _)| meets(other, section)) {
                    clash.push((key.clone(), *other, section, *place));
                } else {
                    taken.insert(&key.text, (section, key.place));
                }
            }
        }
        for (key, other, section, place) in clash {
            let message = format!("`{}` names one of {other} and one of {section}", key.text);
            let problem = Diagnostic::error(Code::NAME_TAKEN, key.place, message).other(place);
            self.problems.add(problem.hint("give one of them another name"));
        }
    }

    /// Whether a stage or ask may be called so.
    pub(super) fn stage_name(&mut self, name: &Name, place: Place) -> bool {
        if TARGETS.contains(&&**name) {
            let message = format!("a stage cannot be called `{name}`: the word is a target");
            self.problems.add(Diagnostic::error(Code::NAME_TAKEN, place, message).hint("give it another name"));
            return false;
        }
        self.declared(name, place, "the id of a stage")
    }

    /// Whether a variable may be called so.
    pub(super) fn variable_name(&mut self, key: &Key) -> bool {
        if CONDITIONS.contains(&&*key.text) || is_of_ledger(&key.text) || &*key.text == "it" {
            let message = format!("a variable cannot be called `{}`: the word has a meaning", key.text);
            self.problems.add(Diagnostic::error(Code::NAME_TAKEN, key.place, message).hint("give it another name"));
            return false;
        }
        self.declared(&key.text, key.place, "the name of a variable")
    }

    /// Whether something that can be bound to may be called so.
    pub(super) fn resource_name(&mut self, key: &Key, what: &str) -> bool {
        if Resource::WORDS.contains(&&*key.text) {
            let message = format!("{what} cannot be called `{}`: the word is a resource", key.text);
            self.problems.add(Diagnostic::error(Code::NAME_TAKEN, key.place, message).hint("give it another name"));
            return false;
        }
        self.declared(&key.text, key.place, what)
    }
}

/// Whether a word is a resource of the ledger, which changes by what stages give and people amend.
fn is_of_ledger(word: &str) -> bool {
    !matches!(Resource::from(word), Resource::Tree | Resource::Named(_))
}

/// Whether names of two sections stand where either could be meant.
fn meets(a: &str, b: &str) -> bool {
    let variable = |s| matches!(s, "inputs" | "vars" | "artifacts");
    let thing = |s| matches!(s, "artifacts" | "gates");
    let resource = |s| matches!(s, "artifacts" | "areas");
    (variable(a) && variable(b)) || (thing(a) && thing(b)) || (resource(a) && resource(b))
}

/// A written name, cut where it is too long for a message.
pub(super) fn shorten(text: &str) -> String {
    match text.char_indices().nth(NAME_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
