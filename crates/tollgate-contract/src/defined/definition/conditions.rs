//! Reading conditions, typed against the fields they speak of.

use super::types::numbers;
use super::{Condition, Kind, Path, Quantifier, Range, Test, Type};
use crate::defined::checks;
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place};
use tollgate_core::yaml::{Fields, Key, Node, Problems, suggest};

/// Where a condition stands: what it speaks of, and the whole document.
#[derive(Clone, Copy)]
pub struct Scope<'t> {
    /// The document, or the item of a quantifier.
    pub here: &'t Type,
    pub root: &'t Type,
    /// The roles that there are.
    pub roles: &'t [Name],
    /// Whether checks in code may be named.
    pub built_in: bool,
}

/// How deep conditions may nest.
const DEPTH_MAX: usize = 32;

impl<'t> Scope<'t> {
    /// Reads a condition: a map of one or more, all of which hold.
    pub fn condition(self, node: &Node, depth: usize, problems: &mut Problems) -> Option<Condition> {
        if depth > DEPTH_MAX {
            problems.value(node.place, "conditions nest too deeply", "write it flatter");
            return None;
        }
        let entries = problems.entries(node, "the condition");
        let (head, value) = match entries {
            [] => {
                if node.map().is_some() {
                    problems.value(node.place, "the condition is empty", "say what must be true");
                }
                return None;
            }
            [(head, value), ..] => (head, value),
        };
        match &*head.text {
            "every" => self.each(Quantifier::Every, node, depth, problems),
            "some" => self.each(Quantifier::Some, node, depth, problems),
            "none" => self.each(Quantifier::None, node, depth, problems),
            "acyclic" => self.acyclic(node, problems),
            "numbered" => self.numbered(node, problems),
            _ if entries.len() > 1 => {
                let one = |(head, value): &(Key, Node)| self.single(head, value, depth, problems);
                let all: Option<Vec<_>> = entries.iter().map(one).collect();
                all.map(Condition::All)
            }
            _ => self.single(head, value, depth, problems),
        }
    }

    fn single(self, head: &Key, value: &Node, depth: usize, problems: &mut Problems) -> Option<Condition> {
        match &*head.text {
            "all" => self.several(value, depth, problems).map(Condition::All),
            "any" => self.several(value, depth, problems).map(Condition::Any),
            "not" => Some(Condition::Not(Box::new(self.condition(value, depth + 1, problems)?))),
            "by" => {
                let roles = problems.some(value, "`by`");
                for (role, place) in roles.iter().filter(|(role, _)| !self.roles.contains(role)) {
                    let known: Vec<&str> = self.roles.iter().map(|role| &**role).collect();
                    let hint = suggest(role, &known).unwrap_or_else(|| "list it in `roles`".to_owned());
                    let message = format!("there is no role `{role}`");
                    problems.add(Diagnostic::error(Code::CONTRACT_NAME, *place, message).hint(hint));
                }
                (!roles.is_empty()).then(|| Condition::By(roles.into_iter().map(|(role, _)| role).collect()))
            }
            "has" => {
                let paths = problems.some(value, "`has`");
                let all: Option<Vec<_>> = paths
                    .into_iter()
                    .map(|(written, place)| self.one(&written, place, problems).map(|(path, _)| Condition::Has(path)))
                    .collect();
                all.map(|mut all| if all.len() == 1 { all.remove(0) } else { Condition::All(all) })
            }
            "check" => {
                let name = problems.text(value, "`check`")?;
                if self.built_in && checks::find(&name).is_some() {
                    return Some(Condition::Check(name));
                }
                let message = format!("there is no check `{name}`");
                let hint = "checks in code are for the contracts that Tollgate brings along";
                problems.add(Diagnostic::error(Code::CONTRACT_NAME, value.place, message).hint(hint));
                None
            }
            _ => {
                let (path, of) = self.one(&head.text, head.place, problems)?;
                Some(Condition::Test(path, self.test(of, &head.text, value, problems)?))
            }
        }
    }

    fn several(self, node: &Node, depth: usize, problems: &mut Problems) -> Option<Vec<Condition>> {
        let items = problems.filled(node, "the conditions");
        let read: Option<Vec<_>> = items.iter().map(|item| self.condition(item, depth + 1, problems)).collect();
        read.filter(|read| !read.is_empty())
    }

    fn test(self, of: &Type, what: &str, node: &Node, problems: &mut Problems) -> Option<Test> {
        if node.map().is_none() {
            let words = problems.some(node, &format!("`{what}`"));
            if let Some(known) = of.words() {
                for (word, place) in words.iter().filter(|(word, _)| !known.contains(word)) {
                    let known: Vec<&str> = known.iter().map(|k| &**k).collect();
                    let hint = suggest(word, &known).unwrap_or_else(|| format!("values: {}", known.join(", ")));
                    let message = format!("`{what}` is never `{word}`");
                    problems.add(Diagnostic::error(Code::CONTRACT_NAME, *place, message).hint(hint));
                }
            }
            return (!words.is_empty()).then(|| Test::Is(words.into_iter().map(|(word, _)| word).collect()));
        }
        let mut fields = Fields::open(node, format!("what is asked of `{what}`"), problems);
        let range = numbers(&mut fields, ["at_least", "at_most"], problems);
        let words = |n: Option<&Node>, problems: &mut Problems| {
            n.map(|n| problems.some(n, "the words").into_iter().map(|(word, _)| word).collect::<Vec<Name>>())
        };
        let begins = fields.take("begins");
        let begins = words(begins, problems);
        let holds = fields.take("holds");
        let holds = words(holds, problems);
        let target = |n: Option<&Node>, problems: &mut Problems| {
            let node = n?;
            let written = problems.text(node, "a path")?;
            self.at_root(&written, node.place, problems).map(|(path, _)| path)
        };
        let paths = ["in", "same_as", "count_of"].map(|key| fields.take(key));
        let is_compared = paths.iter().any(Option::is_some);
        let [into, same, count] = paths.map(|node| target(node, problems));
        let place = fields.place;
        fields.close(problems);
        // A bound that could not be read asks something all the same.
        let range = range?;
        let bounds = (range != Range::default()).then_some(Test::Within(range));
        let asked =
            [bounds.is_some(), begins.is_some(), holds.is_some(), into.is_some(), same.is_some(), count.is_some()];
        if asked.into_iter().filter(|asked| *asked).count() > 1 {
            problems.value(
                place,
                format!("several things are asked of `{what}` at once"),
                "ask each in a condition of its own, under `all`",
            );
        }
        let found = bounds
            .or(begins.map(Test::Begins))
            .or(holds.map(Test::Holds))
            .or(into.map(Test::In))
            .or(same.map(Test::Same))
            .or(count.map(Test::CountOf));
        if found.is_none() && !is_compared {
            let hint = "one of: at_least, at_most, begins, holds, in, same_as, count_of";
            problems.value(place, format!("nothing is asked of `{what}`"), hint);
        }
        found
    }

    fn each(self, quantifier: Quantifier, node: &Node, depth: usize, problems: &mut Problems) -> Option<Condition> {
        let mut fields = Fields::open(node, "the condition", problems);
        let key = match quantifier {
            Quantifier::Every => "every",
            Quantifier::Some => "some",
            Quantifier::None => "none",
        };
        let over = fields.need(key, problems);
        let filter = fields.take("where");
        let is = fields.need("is", problems);
        fields.close(problems);
        let (over, item) = list(self.here, over?, problems)?;
        let inner = Scope { here: &item, ..self };
        let filter = match filter {
            Some(node) => Some(Box::new(inner.condition(node, depth + 1, problems)?)),
            None => None,
        };
        Some(Condition::Each { quantifier, over, filter, is: Box::new(inner.condition(is?, depth + 1, problems)?) })
    }

    fn acyclic(self, node: &Node, problems: &mut Problems) -> Option<Condition> {
        let mut fields = Fields::open(node, "the condition `acyclic`", problems);
        let over = fields.need("acyclic", problems);
        let by = fields.take("by").and_then(|n| problems.text(n, "`by`").map(|text| (text, n.place)));
        let to = fields.take("to").and_then(|n| problems.text(n, "`to`").map(|text| (text, n.place)));
        fields.close(problems);
        let (over, item) = list(self.here, over?, problems)?;
        for (name, place) in by.iter().chain(&to) {
            resolve(&item, name, *place, problems)?;
        }
        Some(Condition::Acyclic { over, by: by.map(|(name, _)| name), to: to.map(|(name, _)| name) })
    }

    fn numbered(self, node: &Node, problems: &mut Problems) -> Option<Condition> {
        let mut fields = Fields::open(node, "the condition `numbered`", problems);
        let over = fields.need("numbered", problems);
        let by = fields.need("by", problems);
        let prefix = fields.need("prefix", problems).and_then(|n| problems.text(n, "`prefix`"));
        fields.close(problems);
        let (over, item) = list(self.here, over?, problems)?;
        let by = by?;
        let name = problems.text(by, "`by`")?;
        resolve(&item, &name, by.place, problems)?;
        Some(Condition::Numbered { over, by: name, prefix: prefix? })
    }

    /// A path to one value.
    pub fn one(self, written: &str, place: Place, problems: &mut Problems) -> Option<(Path, &'t Type)> {
        let (path, of) = resolve(self.here, written, place, problems)?;
        if through_list(self.here, &path) {
            let hint = "ask with `every`, `some` or `none`";
            problems.value(place, format!("`{written}` leads to many values"), hint);
            return None;
        }
        Some((path, of))
    }

    /// A path from the root, to one value or many.
    pub fn at_root(self, written: &str, place: Place, problems: &mut Problems) -> Option<(Path, &'t Type)> {
        resolve(self.root, written, place, problems)
    }

    /// A path from here, to one value or many.
    pub fn any(self, written: &str, place: Place, problems: &mut Problems) -> Option<(Path, &'t Type)> {
        resolve(self.here, written, place, problems)
    }
}

/// A path to items, and what each of them is.
pub fn list(here: &Type, node: &Node, problems: &mut Problems) -> Option<(Path, Type)> {
    let written = problems.text(node, "a list")?;
    let (path, of) = resolve(here, &written, node.place, problems)?;
    let many = through_list(here, &path);
    let item = match &of.kind {
        Kind::List(list) => list.of.clone(),
        Kind::Map(_) | Kind::Any => Type::of(Kind::Any),
        _ if many => of.clone(),
        _ => {
            problems.value(node.place, format!("`{written}` is no list and no map"), "name a list");
            return None;
        }
    };
    Some((path, item))
}

/// Whether a path goes through the items of a list or the values of a map.
pub fn through_list(from: &Type, path: &Path) -> bool {
    let mut of = from;
    for step in &path.steps {
        if matches!(of.kind, Kind::List(_)) || &**step == "*" {
            return true;
        }
        match of.step(step) {
            Some((next, _)) => of = next,
            None => return false,
        }
    }
    false
}

/// Reads a path and finds what it leads to.
pub fn resolve<'t>(from: &'t Type, written: &str, place: Place, problems: &mut Problems) -> Option<(Path, &'t Type)> {
    let steps: Vec<Name> = match written {
        "it" => Vec::new(),
        _ => written.strip_prefix("it.").unwrap_or(written).split('.').map(Name::from).collect(),
    };
    let mut of = from;
    for step in &steps {
        if matches!(of.kind, Kind::Any) {
            break;
        }
        match of.step(step) {
            Some((next, _)) => of = next,
            None => {
                let known: Vec<&str> = of
                    .record()
                    .map(|record| record.fields.iter().map(|field| &*field.name).collect())
                    .unwrap_or_default();
                let hint = suggest(step, &known).unwrap_or_else(|| match &known[..] {
                    [] => "nothing is inside it".to_owned(),
                    known => format!("fields: {}", known.join(", ")),
                });
                let message = format!("`{written}` names no field: there is no `{step}`");
                problems.add(Diagnostic::error(Code::CONTRACT_NAME, place, message).hint(hint));
                return None;
            }
        }
    }
    Some((Path { outer: None, steps, written: written.into(), place }, of))
}
