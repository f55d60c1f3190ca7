//! Conditions over a tree. What is wrong by itself is unknown here: no rule is broken by it, so one mistake gives one error.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::Found;
use super::references::{self, Names};
use crate::defined::definition::{Condition, Definition, Kind, Layout, Path, Quantifier, Test, Type};
use crate::text::is_same_name;
use crate::tree::{Node, Value};
use tollgate_core::Name;

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
pub(super) enum At<'n, 'a> {
    Node(&'n Node<'a>),
    /// It may be absent, and is.
    Absent,
    /// It is wrong, or must be there and is not.
    Broken,
}

/// A path, and the names that stand there; none where they could not be read.
type Looked<'e, 'n> = (&'e Path, Option<Names<'n>>);

/// Evaluates conditions over one document.
pub struct Eval<'e, 'n, 'a> {
    pub(super) root: &'n Node<'a>,
    pub(super) of: &'e Type,
    role: Option<&'e Name>,
    broken: &'e BTreeSet<u32>,
    /// The words at a path from the root, looked up once.
    words: RefCell<Vec<Looked<'e, 'n>>>,
}

impl<'e, 'n, 'a> Eval<'e, 'n, 'a> {
    pub fn new(
        definition: &'e Definition,
        root: &'n Node<'a>,
        role: Option<&'e Name>,
        broken: &'e BTreeSet<u32>,
    ) -> Self {
        Self { root, of: &definition.root, role, broken, words: RefCell::default() }
    }

    /// Whether a condition holds of the document; unknown where it reads what is wrong.
    pub fn holds(&self, condition: &'e Condition) -> Option<bool> {
        self.eval(condition, self.root, self.of)
    }

    pub(super) fn eval(&self, condition: &'e Condition, node: &Node<'a>, of: &Type) -> Option<bool> {
        match condition {
            Condition::All(all) => all.iter().map(|c| self.eval(c, node, of)).fold(Some(true), and),
            Condition::Any(any) => not(any.iter().map(|c| not(self.eval(c, node, of))).fold(Some(true), and)),
            Condition::Not(inner) => not(self.eval(inner, node, of)),
            Condition::By(roles) => self.role.map(|role| roles.iter().any(|known| is_same_name(known, role))),
            Condition::Has(path) => match self.find(path, node, of) {
                // What is wrong inside may be what would fill it.
                At::Node(node) if node.is_blank() && self.holds_broken(node) => None,
                // What is given beside the text is known, also when there is none of it.
                At::Node(node) => Some(!node.is_blank() || is_given(path, of)),
                At::Absent => Some(false),
                At::Broken => None,
            },
            Condition::Test(path, test) => match self.find(path, node, of) {
                At::Node(node) => self.test(test, node),
                At::Absent => Some(false),
                At::Broken => None,
            },
            Condition::Each { quantifier, over, filter, is } => {
                let mut every = Some(true);
                let whole = self.each(&over.steps, node, of, &mut |item, item_type| {
                    // One item that fails settles it.
                    if every != Some(false)
                        && !self.is_broken(item)
                        && let Some(holds) = self.item(*quantifier, filter.as_deref(), is, item, item_type)
                    {
                        every = and(every, holds);
                    }
                });
                let every = if whole { every } else { and(every, None) };
                if *quantifier == Quantifier::Some { not(every) } else { every }
            }
            Condition::Acyclic { .. } | Condition::Numbered { .. } | Condition::Check(_) => {
                Some(self.places(condition, node, of).is_empty())
            }
        }
    }

    /// Whether one item does what its quantifier asks of each; nothing of an item that the filter leaves out.
    pub(super) fn item(
        &self,
        quantifier: Quantifier,
        filter: Option<&'e Condition>,
        is: &'e Condition,
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

    /// Whether something inside a list or map is wrong by itself.
    fn holds_broken(&self, node: &Node<'_>) -> bool {
        let inside = |inner: &Node<'_>| self.is_broken(inner) || self.holds_broken(inner);
        !self.broken.is_empty()
            && match &node.value {
                Value::List(items) => items.iter().any(inside),
                Value::Map(entries) => entries.iter().any(|entry| inside(&entry.node)),
                _ => false,
            }
    }

    pub(super) fn is_broken(&self, node: &Node<'_>) -> bool {
        self.is_broken_at(node.at)
    }

    pub(super) fn is_broken_at(&self, at: u32) -> bool {
        at != 0 && self.broken.contains(&at)
    }

    pub(super) fn find<'x>(&self, path: &Path, node: &'x Node<'a>, of: &Type) -> At<'x, 'a> {
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

    /// Visits the items at a path with what each is: through lists, and of a map the keys. Says whether all of them could be read.
    pub(super) fn each(
        &self,
        steps: &[Name],
        node: &Node<'a>,
        of: &Type,
        visit: &mut dyn FnMut(&Node<'a>, &Type),
    ) -> bool {
        if self.is_broken(node) {
            return false;
        }
        let Some((step, rest)) = steps.split_first() else {
            match (&node.value, &of.kind) {
                (Value::Map(entries), Kind::Map(_)) => {
                    for entry in entries {
                        visit(&Node { value: Value::Text(entry.key.clone()), at: entry.at }, of);
                    }
                }
                (Value::List(items), _) => items.iter().for_each(|item| visit(item, of.item())),
                (Value::Null, _) => {}
                _ => visit(node, of),
            }
            return true;
        };
        match (&node.value, of.step(step)) {
            (Value::List(items), _) => {
                items.iter().fold(true, |whole, item| whole & self.each(steps, item, of.item(), visit))
            }
            (Value::Map(entries), next) if &**step == "*" => {
                let inner = next.map_or(of, |(inner, _)| inner);
                entries.iter().fold(true, |whole, entry| whole & self.each(rest, &entry.node, inner, visit))
            }
            (_, next) => match (node.get(step), next) {
                (Some(inner), Some((of, _))) => self.each(rest, inner, of, visit),
                (Some(inner), None) => self.each(rest, inner, of, visit),
                (None, next) => node.map().is_none() || next.is_none_or(|(_, optional)| optional),
            },
        }
    }

    /// The names at a path from the root; none where something on the way could not be read.
    fn names_at(&self, path: &Path) -> Option<Names<'n>> {
        let mut names = Vec::new();
        self.gather(&path.steps, self.root, self.of, &mut names).then(|| Names::new(&names))
    }

    fn gather(&self, steps: &[Name], node: &'n Node<'a>, of: &Type, words: &mut Vec<references::Name<'n>>) -> bool {
        if self.is_broken(node) {
            let is_name = steps.is_empty() && !matches!(node.value, Value::List(_) | Value::Map(_));
            words.extend(is_name.then(|| (node.text(), false)));
            return is_name;
        }
        match (&node.value, steps.split_first()) {
            (Value::List(items), _) => {
                items.iter().fold(true, |whole, item| whole & self.gather(steps, item, of.item(), words))
            }
            (Value::Map(entries), None) => {
                words.extend(entries.iter().map(|entry| (Some(&*entry.key), true)));
                true
            }
            (_, None) => {
                words.extend(node.word().map(|word| (Some(word), true)));
                true
            }
            (Value::Map(entries), Some((step, rest))) if &**step == "*" => {
                let inner = of.step(step).map_or(of, |(inner, _)| inner);
                entries.iter().fold(true, |whole, entry| whole & self.gather(rest, &entry.node, inner, words))
            }
            (_, Some((step, rest))) => match (node.get(step), of.step(step)) {
                (Some(inner), next) => self.gather(rest, inner, next.map_or(of, |(of, _)| of), words),
                (None, next) if node.map().is_none() || next.is_none_or(|(_, optional)| optional) => true,
                (None, _) => {
                    words.extend(rest.is_empty().then_some((None, false)));
                    rest.is_empty()
                }
            },
        }
    }

    fn test(&self, test: &'e Test, node: &Node<'a>) -> Option<bool> {
        Some(match test {
            Test::Is(words) => match &node.value {
                // `0` and `0.0` are one number.
                Value::Number(said) => words.iter().any(|word| **word == **said || is_same_number(word, said)),
                _ => node.word().is_some_and(|said| words.iter().any(|word| **word == *said)),
            },
            Test::Within(range) => match &node.value {
                Value::Number(number) => number.parse::<f64>().is_ok_and(|number| range.holds(number)),
                Value::Text(text) => range.counts(text.chars().count()),
                // Which of the items are meant is unknown.
                Value::List(items) if items.iter().any(|item| self.is_broken(item)) => return None,
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
            Test::CountOf(path) => node.word().and_then(|word| word.parse().ok()) == Some(self.counted(path)?),
        })
    }

    /// How many values are at a path from the root; unknown where one of them is wrong.
    pub(super) fn counted(&self, path: &Path) -> Option<usize> {
        let (mut count, mut sound) = (0, true);
        let whole = self.each(&path.steps, self.root, self.of, &mut |item, _| {
            count += 1;
            sound &= !self.is_broken(item);
        });
        (whole && sound).then_some(count)
    }

    fn among(&self, path: &'e Path, word: &str) -> Option<bool> {
        let mut cache = self.words.borrow_mut();
        if let Some((_, words)) =
            cache.iter().find(|(known, _)| std::ptr::eq(*known, path) || known.steps == path.steps)
        {
            return words.as_ref().and_then(|names| names.has(word));
        }
        let names = self.names_at(path);
        let found = names.as_ref().and_then(|names| names.has(word));
        cache.push((path, names));
        found
    }
}

/// Whether a path leads to a field that does not stand in the text.
fn is_given(path: &Path, of: &Type) -> bool {
    let [step] = &path.steps[..] else { return false };
    let field = of.record().and_then(|record| record.fields.iter().find(|field| field.name == *step));
    field.is_some_and(|field| field.layout == Layout::Given)
}

/// Whether both hold; what fails is known, whatever the other is.
pub fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (None, _) | (_, None) => None,
        (Some(true), Some(true)) => Some(true),
    }
}

/// Whether it does not hold.
pub fn not(a: Option<bool>) -> Option<bool> {
    a.map(|a| !a)
}

fn is_same_number(word: &str, said: &str) -> bool {
    word.parse::<f64>().ok().zip(said.parse::<f64>().ok()).is_some_and(|(word, said)| word == said)
}
