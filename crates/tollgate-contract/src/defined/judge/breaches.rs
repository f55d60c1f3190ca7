//! Where a rule is broken, and by what: looked for only when it is.

use std::collections::{BTreeMap, BTreeSet};

use super::rules::{At, Eval};
use super::{Found, Wrong};
use crate::defined::checks;
use crate::defined::definition::{Condition, Path, Quantifier, Rule, Test, Type};
use crate::tree::{Node, Value};
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Fix, Severity};

/// How many breaches of one rule are told apart.
const BREACHES_MAX: usize = 20;
/// How many circles are looked at: each costs its length.
const CIRCLES_MAX: usize = 32;
/// How many names of a circle are told.
const CIRCLE_MAX: usize = 8;

/// A place, and what more is to be said of it.
type Breach = (u32, Option<String>);

/// Something with a name that points to others.
pub struct Pointing<'x> {
    pub name: &'x str,
    pub at: u32,
    pub to: Vec<&'x str>,
}

impl<'e, 'a> Eval<'e, '_, 'a> {
    /// Says where a rule is broken that does not hold.
    pub(super) fn report(&self, rule: &'e Rule, found: &mut Found) {
        let mut places = match &rule.at {
            Some(path) => vec![(nearest(path, self.root), None)],
            None => self.places(&rule.must, self.root, self.of),
        };
        if places.is_empty() {
            places.push((self.root.at, None));
        }
        let severity = if rule.warning { Severity::Warning } else { Severity::Error };
        let mut told = BTreeSet::new();
        for (at, detail) in places.into_iter().filter(|(at, _)| told.insert(*at)).take(BREACHES_MAX) {
            // What another rule asks for here mends this one too.
            if found.wrong.iter().any(|wrong| wrong.at == at && wrong.rule.is_some() && wrong.hint == rule.fix) {
                continue;
            }
            let detail = detail.map(|detail| format!(": {detail}")).unwrap_or_default();
            let message = format!("{}{detail} (rule `{}`)", rule.says, rule.id);
            let wrong = Wrong::new(Code::RULE_BROKEN, severity, at, message, &rule.fix);
            found.push(Wrong { rule: Some(rule.id.clone()), fix: self.recounted(rule), ..wrong });
        }
    }

    /// A number that a list gives.
    fn recounted(&self, rule: &'e Rule) -> Option<Fix> {
        let (Condition::Test(path, Test::CountOf(of)), None) = (&rule.must, &rule.at) else { return None };
        let At::Node(node) = self.find(path, self.root, self.of) else { return None };
        // A list that is not there may have been lost.
        let At::Node(_) = self.find(of, self.root, self.of) else { return None };
        let count = self.counted(of)?;
        let said = node.word().filter(|_| matches!(node.value, Value::Number(_)))?;
        Some(Fix::Word { said: said.to_owned(), with: count.to_string() })
    }

    /// Where a condition that does not hold is broken.
    pub(super) fn places(&self, condition: &'e Condition, node: &Node<'a>, of: &Type) -> Vec<Breach> {
        match condition {
            Condition::All(all) => {
                let failed = all.iter().filter(|inner| self.eval(inner, node, of) == Some(false));
                failed.flat_map(|inner| self.places(inner, node, of)).collect()
            }
            Condition::Each { quantifier: quantifier @ (Quantifier::Every | Quantifier::None), over, filter, is } => {
                let mut places = Vec::new();
                self.each(&over.steps, node, of, &mut |item, item_type| {
                    let full = places.len() > BREACHES_MAX;
                    if full
                        || self.is_broken(item)
                        || self.item(*quantifier, filter.as_deref(), is, item, item_type) != Some(Some(false))
                    {
                        return;
                    }
                    let inner = match quantifier {
                        Quantifier::Every => self.places(is, item, item_type),
                        Quantifier::Some | Quantifier::None => Vec::new(),
                    };
                    match inner.is_empty() {
                        true => places.push((item.at, None)),
                        false => places.extend(inner),
                    }
                });
                places
            }
            Condition::Acyclic { over, by, to } => {
                // A circle is one whatever else is wrong with the list or its keys.
                let Some(list) = over.steps.iter().try_fold(node, |node, step| node.get(step)) else {
                    return Vec::new();
                };
                let circles = find_circles(&pointing(list, by.as_deref(), to.as_deref()));
                circles.into_iter().map(|(at, names)| (at, Some(names))).collect()
            }
            Condition::Numbered { over, by, prefix } => self.misnumbered(over, by, prefix, node, of),
            Condition::Check(name) => {
                let places = checks::find(name).map(|check| check(self.root)).unwrap_or_default();
                // Code does not ask whether a value is wrong by itself.
                places.into_iter().filter(|at| !self.is_broken_at(*at)).map(|at| (at, None)).collect()
            }
            Condition::Not(inner) if matches!(**inner, Condition::Any(_)) => {
                let Condition::Any(any) = &**inner else { return Vec::new() };
                let held = any.iter().find(|one| self.eval(one, node, of) == Some(true)).unwrap_or(inner);
                vec![(first_path(held).map_or(node.at, |path| nearest(path, node)), None)]
            }
            other => vec![(first_path(other).map_or(node.at, |path| nearest(path, node)), None)],
        }
    }

    fn misnumbered(&self, over: &Path, by: &str, prefix: &str, node: &Node<'a>, of: &Type) -> Vec<Breach> {
        let mut next = 1u64;
        let mut places = Vec::new();
        self.each(&over.steps, node, of, &mut |item, _| {
            let Some(named) = item.get(by).filter(|named| !self.is_broken(named)) else { return };
            let digits = named.text().and_then(|text| text.strip_prefix(prefix));
            let is_number = |digits: &&str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            if let Some(digits) = digits.filter(is_number) {
                // One that is too large to be counted is not the next one either.
                let number = digits.parse::<u64>().ok();
                if number != Some(next) && places.is_empty() {
                    places.push((named.at, Some(format!("{prefix}{next} would be next"))));
                }
                next = number.unwrap_or(next).saturating_add(1);
            }
        });
        places
    }
}

/// The place of what a path leads to, or of the last thing on the way.
fn nearest(path: &Path, node: &Node<'_>) -> u32 {
    let mut node = node;
    for step in &path.steps {
        match node.get(step) {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node.at
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

/// Who points to whom: the entries of a map, or the items of a list by two of their fields.
fn pointing<'x>(list: &'x Node<'x>, by: Option<&str>, to: Option<&str>) -> Vec<Pointing<'x>> {
    match (&list.value, by, to) {
        (Value::Map(entries), ..) => {
            entries.iter().map(|entry| Pointing { name: &entry.key, at: entry.at, to: names(&entry.node) }).collect()
        }
        (Value::List(items), Some(by), Some(to)) => {
            let one = |item: &'x Node<'x>| {
                let name = item.get(by).and_then(Node::word)?;
                Some(Pointing { name, at: item.at, to: item.get(to).map(names).unwrap_or_default() })
            };
            items.iter().filter_map(one).collect()
        }
        _ => Vec::new(),
    }
}

/// A name, or a list of names.
fn names<'x>(node: &'x Node<'x>) -> Vec<&'x str> {
    match &node.value {
        Value::List(items) => items.iter().filter_map(Node::word).collect(),
        Value::Text(word) | Value::Number(word) => vec![word],
        Value::Null | Value::Bool(_) | Value::Map(_) => Vec::new(),
    }
}

/// Walks everything once, without recursion: documents choose how deep they are. Circles that share a name are one mistake.
pub fn find_circles(all: &[Pointing<'_>]) -> Vec<(u32, String)> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        OnTheWay,
        Done,
    }
    // Of a name that is there twice the first one counts.
    let known: BTreeMap<&str, usize> = all.iter().enumerate().rev().map(|(at, one)| (one.name, at)).collect();
    let mut seen = vec![Seen::No; all.len()];
    let mut told = vec![false; all.len()];
    let (mut circles, mut tried) = (Vec::new(), 0);
    for start in 0..all.len() {
        let mut way: Vec<(usize, usize)> = Vec::new();
        if seen[start] == Seen::No {
            seen[start] = Seen::OnTheWay;
            way.push((start, 0));
        }
        while let Some((at, next)) = way.last_mut() {
            let Some(target) = all[*at].to.get(*next) else {
                seen[*at] = Seen::Done;
                way.pop();
                continue;
            };
            *next += 1;
            match known.get(target).map(|target| (*target, seen[*target])) {
                Some((target, Seen::No)) => {
                    seen[target] = Seen::OnTheWay;
                    way.push((target, 0));
                }
                Some((target, Seen::OnTheWay)) => {
                    if told[target] || tried == CIRCLES_MAX {
                        continue;
                    }
                    tried += 1;
                    let from = way.iter().position(|(at, _)| *at == target).unwrap_or(0);
                    if way[from..].iter().any(|(at, _)| told[*at]) {
                        continue;
                    }
                    way[from..].iter().for_each(|(at, _)| told[*at] = true);
                    let names = way[from..].iter().take(CIRCLE_MAX).map(|(at, _)| all[*at].name);
                    let names: Vec<&str> = names.chain([all[target].name]).collect();
                    circles.push((all[target].at, names.join(" → ")));
                }
                Some((_, Seen::Done)) | None => {}
            }
        }
    }
    circles
}
