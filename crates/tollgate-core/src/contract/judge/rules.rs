//! Conditions over a tree. What is wrong by itself is unknown here: no rule is broken by it, so one mistake gives one error.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::{Found, Wrong};
use crate::Name;
use crate::code::Code;
use crate::contract::checks;
use crate::contract::definition::{Condition, Definition, Kind, Path, Quantifier, Rule, Test, Type};
use crate::contract::text::squash;
use crate::contract::tree::{Node, Value};
use crate::diagnostic::Severity;

/// How many breaches of one rule are told apart.
const BREACHES_MAX: usize = 20;

/// Checks every rule.
pub fn check(definition: &Definition, root: &Node<'_>, role: Option<&Name>, found: &mut Found) {
    let broken = std::mem::take(&mut found.broken);
    let eval = Eval::new(definition, root, role, &broken);
    for rule in &definition.rules {
        if found.is_full() {
            break;
        }
        let applies = rule.when.as_ref().is_none_or(|when| eval.holds(when) == Some(true));
        if applies && eval.holds(&rule.must) == Some(false) {
            eval.report(rule, found);
        }
    }
    drop(eval);
    found.broken = broken;
}

/// What a path leads to.
enum At<'n, 'a> {
    Node(&'n Node<'a>),
    /// It may be absent, and is.
    Absent,
    /// It is wrong, or must be there and is not.
    Broken,
}

/// Evaluates conditions over one document.
pub struct Eval<'e, 'n, 'a> {
    root: &'n Node<'a>,
    of: &'e Type,
    role: Option<String>,
    broken: &'e BTreeSet<u32>,
    /// The words at a path from the root, looked up once.
    words: RefCell<BTreeMap<Name, BTreeSet<Cow<'n, str>>>>,
}

impl<'e, 'n, 'a> Eval<'e, 'n, 'a> {
    pub fn new(definition: &'e Definition, root: &'n Node<'a>, role: Option<&Name>, broken: &'e BTreeSet<u32>) -> Self {
        let role = role.map(|role| squash(role));
        Self { root, of: &definition.root, role, broken, words: RefCell::default() }
    }

    /// Whether a condition holds of the document; unknown where it reads what is wrong.
    pub fn holds(&self, condition: &Condition) -> Option<bool> {
        self.eval(condition, self.root, self.of)
    }

    fn eval(&self, condition: &Condition, node: &Node<'a>, of: &Type) -> Option<bool> {
        match condition {
            Condition::All(all) => all.iter().map(|c| self.eval(c, node, of)).fold(Some(true), and),
            Condition::Any(any) => not(any.iter().map(|c| not(self.eval(c, node, of))).fold(Some(true), and)),
            Condition::Not(inner) => not(self.eval(inner, node, of)),
            Condition::By(roles) => self.role.as_ref().map(|role| roles.iter().any(|known| squash(known) == *role)),
            Condition::Has(path) => match self.find(path, node, of) {
                At::Node(node) => Some(!node.is_blank()),
                At::Absent => Some(false),
                At::Broken => None,
            },
            Condition::Test(path, test) => match self.find(path, node, of) {
                At::Node(node) => self.test(test, node),
                At::Absent => Some(false),
                At::Broken => None,
            },
            Condition::Each { quantifier, over, filter, is } => {
                let (items, item_type, whole) = self.items(over, node, of);
                let kept = items.iter().filter(|item| !self.is_broken(item));
                let results = kept.filter_map(|item| self.item(*quantifier, filter.as_deref(), is, item, item_type));
                let every = results.fold(Some(true), and);
                let every = if whole { every } else { and(every, None) };
                if *quantifier == Quantifier::Some { not(every) } else { every }
            }
            Condition::Acyclic { .. } | Condition::Numbered { .. } | Condition::Check(_) => {
                Some(self.places(condition, node, of).is_empty())
            }
        }
    }

    /// Whether one item does what its quantifier asks of each; nothing of an item that the filter leaves out.
    fn item(
        &self,
        quantifier: Quantifier,
        filter: Option<&Condition>,
        is: &Condition,
        item: &Node<'a>,
        of: &Type,
    ) -> Option<Option<bool>> {
        let kept = filter.map_or(Some(true), |filter| self.eval(filter, item, of));
        let holds = match (kept, quantifier) {
            (Some(false), _) => return None,
            (None, _) => None,
            (Some(true), Quantifier::Every) => self.eval(is, item, of),
            (Some(true), Quantifier::Some | Quantifier::None) => not(self.eval(is, item, of)),
        };
        Some(holds)
    }

    fn is_broken(&self, node: &Node<'_>) -> bool {
        self.broken.contains(&node.at) && node.at != 0
    }

    fn find<'x>(&self, path: &Path, node: &'x Node<'a>, of: &Type) -> At<'x, 'a> {
        let (mut node, mut of) = (node, Some(of));
        for step in &path.steps {
            if self.is_broken(node) {
                return At::Broken;
            }
            let next = of.and_then(|of| of.step(step));
            match node.get(step) {
                Some(inner) => node = inner,
                None if node.map().is_some() && next.is_some_and(|(_, optional)| !optional) => return At::Broken,
                None => return At::Absent,
            }
            of = next.map(|(of, _)| of);
        }
        if self.is_broken(node) { At::Broken } else { At::Node(node) }
    }

    /// The items at a path, what each is, and whether all of them could be read.
    fn items<'x, 't>(&self, path: &Path, node: &'x Node<'a>, of: &'t Type) -> (Vec<Cow<'x, Node<'a>>>, &'t Type, bool) {
        let (mut nodes, mut of, mut whole) = (vec![node], of, true);
        for step in &path.steps {
            let mut next = Vec::new();
            let optional = of.step(step).is_none_or(|(_, optional)| optional);
            for node in nodes.into_iter().flat_map(spread) {
                match &node.value {
                    Value::Map(entries) if &**step == "*" => next.extend(entries.iter().map(|entry| &entry.node)),
                    _ => match node.get(step) {
                        Some(inner) => next.push(inner),
                        None => whole &= optional,
                    },
                }
            }
            nodes = next;
            of = of.step(step).map_or(of, |(of, _)| of);
        }
        whole &= !nodes.iter().any(|node| self.is_broken(node));
        let keys = |node: &'x Node<'a>| -> Vec<Cow<'x, Node<'a>>> {
            match (&node.value, &of.kind) {
                (Value::Map(entries), Kind::Map(_)) => entries
                    .iter()
                    .map(|entry| Cow::Owned(Node { value: Value::Text(entry.key.clone()), at: entry.at }))
                    .collect(),
                (Value::Null, _) => Vec::new(),
                _ => spread(node).into_iter().map(Cow::Borrowed).collect(),
            }
        };
        let items = nodes.into_iter().flat_map(keys).collect();
        let item = match &of.kind {
            Kind::List(list) => &list.of,
            _ => of,
        };
        (items, item, whole)
    }

    fn test(&self, test: &Test, node: &Node<'a>) -> Option<bool> {
        Some(match test {
            Test::Is(words) => node.word().is_some_and(|said| words.iter().any(|word| **word == *said)),
            Test::Within(range) => match &node.value {
                Value::Number(number) => number.parse::<f64>().is_ok_and(|number| range.holds(number)),
                Value::Text(text) => range.counts(text.chars().count()),
                Value::List(items) => range.counts(items.len()),
                Value::Map(entries) => range.counts(entries.len()),
                Value::Null | Value::Bool(_) => false,
            },
            Test::Begins(words) => node.text().is_some_and(|text| words.iter().any(|word| text.starts_with(&**word))),
            Test::Holds(words) => node.text().is_some_and(|text| words.iter().any(|word| text.contains(&**word))),
            Test::In(path) => {
                let Some(word) = node.word() else { return Some(false) };
                self.among(path, word)?
            }
            Test::Same(path) => match self.find(path, self.root, self.of) {
                At::Node(other) => node.same(other),
                At::Absent => false,
                At::Broken => return None,
            },
            Test::CountOf(path) => {
                let (items, _, whole) = self.items(path, self.root, self.of);
                if !whole {
                    return None;
                }
                node.word().and_then(|word| word.parse::<usize>().ok()) == Some(items.len())
            }
        })
    }

    fn among(&self, path: &Path, word: &str) -> Option<bool> {
        let known = |words: &BTreeSet<Cow<'n, str>>| words.contains(word);
        if let Some(found) = self.words.borrow().get(&path.written).map(known) {
            return Some(found);
        }
        let (items, _, whole) = self.items(path, self.root, self.of);
        if !whole {
            return None;
        }
        let words: BTreeSet<Cow<'n, str>> =
            items.iter().filter_map(|item| item.word().map(|word| Cow::Owned(word.to_owned()))).collect();
        let found = known(&words);
        self.words.borrow_mut().insert(path.written.clone(), words);
        Some(found)
    }

    fn report(&self, rule: &Rule, found: &mut Found) {
        let mut places = match &rule.at {
            Some(path) => vec![(self.nearest(path, self.root), None)],
            None => self.places(&rule.must, self.root, self.of),
        };
        if places.is_empty() {
            places.push((self.root.at, None));
        }
        let severity = if rule.warning { Severity::Warning } else { Severity::Error };
        let mut told = BTreeSet::new();
        for (at, detail) in places.into_iter().filter(|(at, _)| told.insert(*at)).take(BREACHES_MAX) {
            let detail = detail.map(|detail| format!(": {detail}")).unwrap_or_default();
            found.push(Wrong {
                code: Code::RULE_BROKEN,
                severity,
                at,
                other: None,
                message: format!("{}{detail} (rule `{}`)", rule.says, rule.id),
                hint: rule.fix.clone(),
                rule: Some(rule.id.clone()),
            });
        }
    }

    /// Where a condition that does not hold is broken, and by what.
    fn places(&self, condition: &Condition, node: &Node<'a>, of: &Type) -> Vec<(u32, Option<String>)> {
        match condition {
            Condition::All(all) => {
                let failed = all.iter().filter(|inner| self.eval(inner, node, of) == Some(false));
                failed.flat_map(|inner| self.places(inner, node, of)).collect()
            }
            Condition::Each { quantifier: quantifier @ (Quantifier::Every | Quantifier::None), over, filter, is } => {
                let (items, item_type, _) = self.items(over, node, of);
                let mut places = Vec::new();
                for item in items.iter().filter(|item| !self.is_broken(item)) {
                    if self.item(*quantifier, filter.as_deref(), is, item, item_type) == Some(Some(false)) {
                        let inner = match quantifier {
                            Quantifier::Every => self.places(is, item, item_type),
                            Quantifier::Some | Quantifier::None => Vec::new(),
                        };
                        match inner.is_empty() {
                            true => places.push((item.at, None)),
                            false => places.extend(inner),
                        }
                    }
                    if places.len() > BREACHES_MAX {
                        break;
                    }
                }
                places
            }
            Condition::Acyclic { over, by, to } => {
                let cycle = self.cycle(over, by.as_deref(), to.as_deref(), node, of);
                cycle.into_iter().map(|(at, names)| (at, Some(names))).collect()
            }
            Condition::Numbered { over, by, prefix } => self.misnumbered(over, by, prefix, node, of),
            Condition::Check(name) => checks::find(name)
                .map(|check| check(self.root))
                .unwrap_or_default()
                .into_iter()
                .map(|at| (at, None))
                .collect(),
            other => vec![(first_path(other).map_or(node.at, |path| self.nearest(path, node)), None)],
        }
    }

    /// The place of what a path leads to, or of the last thing on the way.
    fn nearest(&self, path: &Path, node: &Node<'_>) -> u32 {
        let mut node = node;
        for step in &path.steps {
            match node.get(step) {
                Some(inner) => node = inner,
                None => break,
            }
        }
        node.at
    }

    /// A row of items each of which needs the next and the last of which needs the first.
    fn cycle(
        &self,
        over: &Path,
        by: Option<&str>,
        to: Option<&str>,
        node: &Node<'a>,
        of: &Type,
    ) -> Option<(u32, String)> {
        let mut edges: BTreeMap<String, (u32, Vec<String>)> = BTreeMap::new();
        let words = |node: &Node<'_>| -> Vec<String> {
            spread(node).into_iter().filter_map(|node| node.word().map(str::to_owned)).collect()
        };
        match (by, to) {
            (Some(by), Some(to)) => {
                let (items, ..) = self.items(over, node, of);
                for item in &items {
                    let Some(id) = item.get(by).and_then(Node::word) else { continue };
                    let targets = item.get(to).map(words).unwrap_or_default();
                    edges.insert(id.to_owned(), (item.at, targets));
                }
            }
            _ => {
                let At::Node(map) = self.find(over, node, of) else { return None };
                for entry in map.map().unwrap_or_default() {
                    edges.insert(entry.key.to_string(), (entry.at, words(&entry.node)));
                }
            }
        }
        find_cycle(&edges)
    }

    fn misnumbered(
        &self,
        over: &Path,
        by: &str,
        prefix: &str,
        node: &Node<'a>,
        of: &Type,
    ) -> Vec<(u32, Option<String>)> {
        let (items, ..) = self.items(over, node, of);
        let mut next = 1u64;
        let mut places = Vec::new();
        for named in items.iter().filter_map(|item| item.get(by)).filter(|named| !self.is_broken(named)) {
            let number =
                named.text().and_then(|text| text.strip_prefix(prefix)).and_then(|rest| rest.parse::<u64>().ok());
            if let Some(number) = number {
                if number != next && places.is_empty() {
                    places.push((named.at, Some(format!("{prefix}{next} would be next"))));
                }
                next = number.saturating_add(1);
            }
        }
        places
    }
}

/// The items of a list, or the value itself.
fn spread<'x, 'a>(node: &'x Node<'a>) -> Vec<&'x Node<'a>> {
    match &node.value {
        Value::List(items) => items.iter().collect(),
        _ => vec![node],
    }
}

fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (None, _) | (_, None) => None,
        (Some(true), Some(true)) => Some(true),
    }
}

fn not(a: Option<bool>) -> Option<bool> {
    a.map(|a| !a)
}

fn first_path(condition: &Condition) -> Option<&Path> {
    match condition {
        Condition::All(all) | Condition::Any(all) => all.iter().find_map(first_path),
        Condition::Not(inner) => first_path(inner),
        Condition::Has(path) | Condition::Test(path, _) => Some(path),
        Condition::Each { over, .. } | Condition::Acyclic { over, .. } | Condition::Numbered { over, .. } => Some(over),
        Condition::By(_) | Condition::Check(_) => None,
    }
}

/// Walks the edges once, without recursion: documents choose how deep they are.
fn find_cycle(edges: &BTreeMap<String, (u32, Vec<String>)>) -> Option<(u32, String)> {
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for start in edges.keys() {
        let mut way: Vec<(&str, usize)> = vec![(start, 0)];
        let mut on_way: BTreeSet<&str> = BTreeSet::from([start.as_str()]);
        while let Some((name, next)) = way.last_mut() {
            let target = edges.get(*name).and_then(|(_, targets)| targets.get(*next));
            *next += 1;
            let Some(target) = target else {
                done.insert(name);
                on_way.remove(name);
                way.pop();
                continue;
            };
            if on_way.contains(target.as_str()) {
                let from = way.iter().position(|(name, _)| name == target).unwrap_or(0);
                let mut names: Vec<&str> = way[from..].iter().map(|(name, _)| *name).take(8).collect();
                names.push(target);
                return edges.get(target.as_str()).map(|(at, _)| (*at, names.join(" → ")));
            }
            if !done.contains(target.as_str()) && edges.contains_key(target.as_str()) {
                on_way.insert(target);
                way.push((target, 0));
            }
        }
    }
    None
}
