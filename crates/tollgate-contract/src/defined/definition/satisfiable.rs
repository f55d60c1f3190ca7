//! What a condition can be, whatever the document says: by trying every combination of the words that its fields may have.
//!
//! Numbers and sizes are tried at every limit that is asked of them, and beside it. What else is no closed set of words counts as
//! true or false at will, so that a sound rule is never called idle.

use std::collections::BTreeMap;

use super::{Condition, Kind, Path, Quantifier, Range, Test, Type, as_float};
use crate::defined::judge::{and, not};
use crate::text::is_blank;
use tollgate_core::Name;

/// Combinations that are tried.
const COMBINATIONS_MAX: usize = 1 << 14;

/// The role that reports; none: it is not known.
const BY: &str = "by";
/// A role that no condition names.
const ANOTHER: &str = "(another)";
/// What a condition is that asks for the role of each item, when that is not known.
const UNKNOWN: &str = "unknown";

/// What a condition may read: each with the values it can have.
type Axes = Vec<(String, Vec<Option<Name>>)>;

/// One combination.
pub struct World<'a> {
    axes: &'a Axes,
    here: &'a Type,
    chosen: Vec<usize>,
}

/// Tries every combination for the conditions; false when there are too many.
pub fn worlds(conditions: &[&Condition], here: &Type, mut visit: impl FnMut(&World<'_>)) -> bool {
    let mut axes: Axes = Vec::new();
    for condition in conditions {
        collect(condition, here, &mut axes);
    }
    let size = axes.iter().try_fold(1usize, |size, (_, values)| size.checked_mul(values.len()));
    if size.is_none_or(|size| size > COMBINATIONS_MAX) {
        return false;
    }
    let mut world = World { axes: &axes, here, chosen: vec![0; axes.len()] };
    loop {
        visit(&world);
        let mut at = 0;
        loop {
            let Some((_, values)) = axes.get(at) else { return true };
            world.chosen[at] += 1;
            if world.chosen[at] < values.len() {
                break;
            }
            world.chosen[at] = 0;
            at += 1;
        }
    }
}

impl World<'_> {
    fn value(&self, key: &str) -> Option<&Name> {
        let at = self.axes.iter().position(|(known, _)| known == key)?;
        self.axes[at].1[self.chosen[at]].as_ref()
    }

    /// Whether the condition holds in this combination; unknown where the judge would not know it either.
    pub fn holds(&self, condition: &Condition) -> Option<bool> {
        match condition {
            Condition::All(all) => all.iter().map(|condition| self.holds(condition)).fold(Some(true), and),
            Condition::Any(any) => not(any.iter().map(|condition| not(self.holds(condition))).fold(Some(true), and)),
            Condition::Not(condition) => not(self.holds(condition)),
            Condition::By(roles) => self.value(BY).map(|role| roles.contains(role)),
            Condition::Test(path, Test::Is(words)) if self.value(&words_key(path)).is_some() => {
                Some(self.value(&words_key(path)).is_some_and(|word| words.contains(word)))
            }
            Condition::Has(path) if self.axes.iter().any(|(key, _)| *key == words_key(path)) => {
                Some(self.value(&words_key(path)).is_some())
            }
            Condition::Test(path, Test::Is(words)) if is_number(self.here, path) => {
                let size = self.size(path);
                Some(words.iter().any(|word| word.parse::<f64>().ok().is_some_and(|word| Some(word) == size)))
            }
            Condition::Test(path, Test::Within(asked)) if counted(self.here, path).is_some() => {
                Some(self.size(path).is_some_and(|size| asked.holds(size)))
            }
            Condition::Has(path) if is_filled(self.here, path) => Some(self.size(path).is_some_and(|size| size > 0.0)),
            Condition::Has(path) => self.is_there(path).or_else(|| self.at_will(condition)),
            Condition::Each { .. } => match as_some(condition) {
                Some(some) => not(self.at_will(&some)),
                None => self.at_will(condition),
            },
            other => self.at_will(other),
        }
    }

    /// What a condition is that counts as true or false at will.
    fn at_will(&self, condition: &Condition) -> Option<bool> {
        match self.value(&format!("{condition:?}")) {
            Some(word) if &**word == UNKNOWN => None,
            value => Some(value.is_some()),
        }
    }

    /// Whether a record is there, where what is chosen for its fields tells.
    fn is_there(&self, path: &Path) -> Option<bool> {
        let record = self.here.at(path)?;
        let inside = format!("{}.", path.steps.join("."));
        self.axes.iter().zip(&self.chosen).find_map(|((key, values), at)| {
            let rest = key.strip_prefix(['.', '#'])?.strip_prefix(&inside)?;
            let steps: Vec<Name> = rest.split('.').map(Name::from).collect();
            match &values[*at] {
                Some(word) => (key.starts_with('.') && !is_blank(word)).then_some(true),
                None => (!may_lack(record, &steps)).then_some(false),
            }
        })
    }

    /// The number or the size that a field has here.
    fn size(&self, path: &Path) -> Option<f64> {
        self.value(&size_key(path))?.parse().ok()
    }

    /// The words that the fields have here.
    pub fn words(&self) -> String {
        let named = self.axes.iter().zip(&self.chosen).filter_map(|((key, values), at)| {
            let name = if key == BY { Some(BY) } else { key.strip_prefix(['.', '#']) }?;
            Some(format!("{name}: {}", values[*at].as_deref().unwrap_or("(none)")))
        });
        named.collect::<Vec<_>>().join(", ")
    }
}

fn words_key(path: &Path) -> String {
    format!(".{}", path.steps.join("."))
}

fn size_key(path: &Path) -> String {
    format!("#{}", path.steps.join("."))
}

fn add(axes: &mut Axes, key: String, values: Vec<Option<Name>>) {
    match axes.iter_mut().find(|(known, _)| *known == key) {
        Some((_, known)) => {
            for value in values {
                if !known.contains(&value) {
                    known.push(value);
                }
            }
        }
        None => axes.push((key, values)),
    }
}

fn collect(condition: &Condition, here: &Type, axes: &mut Axes) {
    match condition {
        Condition::All(all) | Condition::Any(all) => all.iter().for_each(|condition| collect(condition, here, axes)),
        Condition::Not(condition) => collect(condition, here, axes),
        Condition::By(roles) => {
            let roles = roles.iter().cloned().map(Some).chain([None, Some(ANOTHER.into())]).collect();
            add(axes, BY.to_owned(), roles);
        }
        Condition::Has(path) | Condition::Test(path, Test::Is(_)) if words(here, path).is_some() => {
            add(axes, words_key(path), words(here, path).unwrap_or_default());
        }
        Condition::Test(path, Test::Is(words)) if is_number(here, path) => {
            // One that is no whole number is told apart from those around it.
            let around = |word: &Name| {
                let number = word.parse::<f64>().ok()?.floor();
                format!("{number}").parse::<i64>().ok()
            };
            for number in words.iter().filter_map(around) {
                add(axes, size_key(path), sizes(here, path, Range { min: Some(number), max: Some(number) }));
            }
            let own = counted(here, path).unwrap_or(Range { min: None, max: None });
            let asked = words.iter().filter(|word| word.parse().is_ok_and(|number| own.holds(number)));
            add(axes, size_key(path), asked.cloned().map(Some).collect());
        }
        Condition::Test(path, Test::Within(asked)) if counted(here, path).is_some() => {
            add(axes, size_key(path), sizes(here, path, *asked));
        }
        Condition::Has(path) if is_filled(here, path) => {
            add(axes, size_key(path), sizes(here, path, Range { min: Some(1), max: None }));
        }
        other => {
            let some = as_some(other);
            let other = some.as_ref().unwrap_or(other);
            let (can, cannot) = alone(other, here);
            let mut values = Vec::new();
            values.extend(can.then(|| Some("true".into())));
            values.extend(cannot.then_some(None));
            values.extend(asks_role(other).then(|| Some(UNKNOWN.into())));
            add(axes, format!("{other:?}"), values);
        }
    }
}

/// The words a field may have, and none where it may be absent.
fn words(here: &Type, path: &Path) -> Option<Vec<Option<Name>>> {
    let of = here.at(path)?;
    let mut words: Vec<Option<Name>> = of.words()?.into_iter().map(Some).collect();
    if may_lack(here, &path.steps) {
        words.push(None);
    }
    Some(words)
}

fn is_number(here: &Type, path: &Path) -> bool {
    matches!(here.at(path).map(|of| &of.kind), Some(Kind::Int(_) | Kind::Number(_)))
}

/// The limits of the number, or of the size, of what a path leads to.
fn counted(here: &Type, path: &Path) -> Option<Range> {
    let size = |own: Range| Range { min: own.min.or(Some(0)), ..own };
    match &here.at(path)?.kind {
        Kind::Int(own) | Kind::Number(own) => Some(*own),
        Kind::List(list) => Some(size(list.range)),
        Kind::Map(map) => Some(size(map.range)),
        Kind::Text(text) => Some(size(text.range)),
        _ => None,
    }
}

/// Whether a path leads to a list or map that says something as soon as it has a part.
fn is_filled(here: &Type, path: &Path) -> bool {
    match here.at(path).map(|of| &of.kind) {
        Some(Kind::List(list)) => !may_be_blank(&list.of),
        Some(Kind::Map(map)) => !may_be_blank(&map.of),
        _ => false,
    }
}

/// The numbers or sizes that limits tell apart, and none where a field may be absent.
fn sizes(here: &Type, path: &Path, asked: Range) -> Vec<Option<Name>> {
    let Some((own, of)) = counted(here, path).zip(here.at(path)) else { return Vec::new() };
    let limits: Vec<i64> = [asked.min, asked.max, own.min, own.max].into_iter().flatten().collect();
    let beside = |limit: i64| [limit.saturating_sub(1), limit, limit.saturating_add(1)];
    let mut numbers: Vec<String> = limits.iter().copied().flat_map(beside).map(|number| number.to_string()).collect();
    if let Kind::Number(_) = of.kind {
        numbers.extend(limits.iter().flat_map(|limit| [-0.5, 0.5].map(|half| (as_float(*limit) + half).to_string())));
    }
    let is_own = |number: &String| number.parse().is_ok_and(|number| own.holds(number));
    let absent = may_lack(here, &path.steps).then_some(None);
    numbers.into_iter().filter(is_own).map(|number| Some(Name::from(number.as_str()))).chain(absent).collect()
}

/// Whether a path may lead nowhere in a document that meets the types.
fn may_lack(here: &Type, steps: &[Name]) -> bool {
    let mut of = here;
    for step in steps {
        match of.step(step) {
            Some((next, optional)) if !optional && !next.nullable => of = next,
            _ => return true,
        }
    }
    false
}

/// A condition over all items as the one over some of them that is its opposite, so that both count as one.
fn as_some(condition: &Condition) -> Option<Condition> {
    let Condition::Each { quantifier, over, filter, is } = condition else { return None };
    let is = match (quantifier, &**is) {
        (Quantifier::Some, _) => return None,
        (Quantifier::None, _) => is.clone(),
        (Quantifier::Every, Condition::Not(inner)) => inner.clone(),
        (Quantifier::Every, _) => Box::new(Condition::Not(is.clone())),
    };
    Some(Condition::Each { quantifier: Quantifier::Some, over: over.clone(), filter: filter.clone(), is })
}

/// Whether a condition asks for the role that reports.
fn asks_role(condition: &Condition) -> bool {
    match condition {
        Condition::All(all) | Condition::Any(all) => all.iter().any(asks_role),
        Condition::Not(inner) => asks_role(inner),
        Condition::Each { filter, is, .. } => filter.as_deref().is_some_and(asks_role) || asks_role(is),
        Condition::By(_) => true,
        Condition::Has(_) | Condition::Test(..) => false,
        Condition::Acyclic { .. } | Condition::Numbered { .. } | Condition::Check(_) => false,
    }
}

/// Whether a condition that reads no words can hold, and whether it can fail.
fn alone(condition: &Condition, here: &Type) -> (bool, bool) {
    match condition {
        Condition::Has(path) => match here.at(path) {
            Some(of) if !may_lack(here, &path.steps) => (true, may_be_blank(of)),
            _ => (true, true),
        },
        Condition::Test(path, Test::Is(words) | Test::Begins(words) | Test::Holds(words)) => {
            match here.at(path).map(|of| &of.kind) {
                Some(Kind::Text(text)) => {
                    let most = text.range.max.and_then(|max| usize::try_from(max).ok()).unwrap_or(usize::MAX);
                    (words.iter().any(|word| word.chars().count() <= most), true)
                }
                _ => (true, true),
            }
        }
        Condition::Each { quantifier, over, filter, is } => {
            let Some(list) = here.at(over) else { return (true, true) };
            let (good, bad) = inside(filter.as_deref(), is, list.item());
            match quantifier {
                Quantifier::Every => (true, bad),
                Quantifier::Some => (good, true),
                Quantifier::None => (true, good),
            }
        }
        _ => (true, true),
    }
}

/// Whether conditions ask more than one thing of a value that is no closed set of words: whether all of it can be so together
/// is not tried.
pub fn is_beyond(conditions: &[&Condition], here: &Type) -> bool {
    let mut asked = Vec::new();
    conditions.iter().for_each(|condition| asked_of(condition, here, (&[], ""), &mut asked));
    asked.sort();
    asked.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1)
}

/// The values that a condition asks something of at will, and what: of the items of a list, by which quantifier.
fn asked_of(condition: &Condition, here: &Type, of: (&[Name], &str), asked: &mut Vec<(Vec<Name>, String)>) {
    match condition {
        Condition::All(all) | Condition::Any(all) => all.iter().for_each(|one| asked_of(one, here, of, asked)),
        Condition::Not(inner) => asked_of(inner, here, of, asked),
        Condition::Test(path, Test::Is(_)) if words(here, path).is_some() => {}
        Condition::Test(path, test) => {
            let value = [of.0, &path.steps].concat();
            // What another value says is asked of both.
            if let Test::Same(_) | Test::CountOf(_) = test {
                asked.push((value.clone(), "another".to_owned()));
            }
            asked.push((value, format!("{} {test:?}", of.1)));
        }
        Condition::Each { quantifier, over, filter, is } => {
            let Some(list) = here.at(over) else { return };
            let item = list.item();
            let (items, how) = ([of.0, &over.steps].concat(), format!("{} {quantifier:?}", of.1));
            filter.iter().chain([is]).for_each(|one| asked_of(one, item, (&items, &how), asked));
        }
        Condition::By(_) | Condition::Has(_) => {}
        Condition::Acyclic { .. } | Condition::Numbered { .. } | Condition::Check(_) => {}
    }
}

/// Whether an item that the filter keeps can meet the condition, and whether it can fail it.
fn inside(filter: Option<&Condition>, is: &Condition, item: &Type) -> (bool, bool) {
    let (mut good, mut bad) = (false, false);
    let conditions: Vec<&Condition> = filter.into_iter().chain([is]).collect();
    let tried = worlds(&conditions, item, |world| {
        if filter.is_none_or(|filter| world.holds(filter) == Some(true)) {
            let holds = world.holds(is);
            good |= holds == Some(true);
            bad |= holds == Some(false);
        }
    });
    if tried { (good, bad) } else { (true, true) }
}

fn may_be_blank(of: &Type) -> bool {
    match &of.kind {
        Kind::Any => true,
        Kind::Bool | Kind::Const(..) | Kind::OneOf(_) | Kind::Int(_) | Kind::Number(_) => false,
        Kind::Text(text) => text.range.min.is_none_or(|min| min < 1),
        Kind::List(list) => list.range.min.is_none_or(|min| min < 1),
        Kind::Map(map) => map.range.min.is_none_or(|min| min < 1),
        Kind::Record(record) => record.open || record.fields.iter().all(|field| field.optional),
        Kind::Union(types) => types.iter().any(may_be_blank),
    }
}

/// How often each of several conditions is the first to hold, and a combination in which none does.
pub fn first_to_hold(
    conditions: &[Option<&Condition>],
    here: &Type,
) -> Option<(BTreeMap<usize, usize>, Option<String>)> {
    let all: Vec<&Condition> = conditions.iter().copied().flatten().collect();
    let (mut first, mut missed) = (BTreeMap::new(), None);
    let tried = worlds(&all, here, |world| {
        let holds = |condition: &Condition| world.holds(condition) == Some(true);
        match conditions.iter().position(|condition| condition.is_none_or(holds)) {
            Some(at) => *first.entry(at).or_insert(0) += 1,
            None => missed = missed.take().or_else(|| Some(world.words())),
        }
    });
    tried.then_some((first, missed))
}
