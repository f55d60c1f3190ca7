//! Valuations and facts: what the data flow says about one point of a flow.
//!
//! A valuation is a number: one digit per variable that steers (0 is unset; the values that no condition names are one value), one
//! per atom `it.attr ∈ values`. Facts are bits: established gates, given artifacts, `units`, `requirements`, `landed`, "not yet
//! written" per role, and "entered" per set of units that an `each` runs over.

use std::collections::{BTreeMap, BTreeSet};

use super::super::artifact::placeholders;
use super::super::condition::Condition;
use super::super::model::{Kind, Over, Protocol, VariableKind};
use crate::Name;

/// Valuations a protocol may have.
const VALUATIONS_MAX: u64 = 1 << 20;

/// A set of facts: two words, so that the inner loop of the analysis is plain arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Facts(u128, u128);

impl Facts {
    pub const MAX: usize = 256;

    pub fn one(bit: usize) -> Self {
        if bit < 128 { Self(1 << bit, 0) } else { Self(0, 1 << (bit - 128)) }
    }

    pub fn set(&mut self, bit: usize) {
        *self = self.or(Self::one(bit));
    }

    pub fn has(&self, bit: usize) -> bool {
        self.and(Self::one(bit)) != Self::default()
    }

    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0, self.1 & other.1)
    }

    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0, self.1 | other.1)
    }

    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0, self.1 & !other.1)
    }
}

/// The state at a node: each valuation that reaches it, with the facts that hold on every path; sorted.
pub(super) type State = Vec<(u32, Facts)>;

/// Joins `from` into `into`, and gives what that changed. Both are sorted, each valuation once.
pub(super) fn join(into: &mut State, from: &State) -> State {
    if into.is_empty() {
        into.clone_from(from);
        return from.clone();
    }
    let mut changed = State::new();
    let mut fresh = State::new();
    let mut at = 0;
    for (valuation, facts) in from {
        while at < into.len() && into[at].0 < *valuation {
            at += 1;
        }
        match into.get_mut(at) {
            Some((known, held)) if *known == *valuation => {
                let met = held.and(*facts);
                if met != *held {
                    *held = met;
                    changed.push((*valuation, met));
                }
            }
            _ => {
                fresh.push((*valuation, *facts));
                changed.push((*valuation, *facts));
            }
        }
    }
    if !fresh.is_empty() {
        // Two sorted runs: the stable sort merges them in one pass.
        into.extend(fresh);
        into.sort_by_key(|(valuation, _)| *valuation);
    }
    changed
}

/// Brings a list of pairs into the form of a state.
pub(super) fn normal(mut list: Vec<(u32, Facts)>) -> State {
    list.sort_by_key(|(valuation, _)| *valuation);
    list.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 = kept.1.and(next.1);
        }
        same
    });
    list
}

/// A variable that steers.
pub(super) struct Dim {
    /// What it can be: each value that a condition names, and one for all others, which none can tell apart.
    pub values: Vec<Name>,
    /// The place of that one among them.
    other: Option<usize>,
    stride: u32,
}

impl Dim {
    fn new(all: &[Name], named: &BTreeSet<Name>, stride: u32) -> Self {
        let other = all.iter().find(|value| !named.contains(*value));
        let values: Vec<Name> =
            all.iter().filter(|value| named.contains(*value) || Some(*value) == other).cloned().collect();
        let other = values.iter().position(|value| Some(value) == other);
        Self { values, other, stride }
    }

    /// The place of a value, or of the one that stands for it.
    pub fn place(&self, value: &str) -> Option<usize> {
        self.values.iter().position(|known| **known == *value).or(self.other)
    }
}

/// A question about the subject's attribute.
struct Atom {
    attr: Name,
    values: BTreeSet<Name>,
}

/// The dimensions of a protocol's valuations and the bits of its facts.
pub(super) struct Space {
    pub dims: Vec<Dim>,
    /// For an input that a stage may change: the dimension that keeps what it was at the start.
    shadows: BTreeMap<usize, usize>,
    by_name: BTreeMap<Name, usize>,
    atoms: Vec<Atom>,
    atom_stride: u32,
    pub gates: BTreeMap<Name, usize>,
    pub artifacts: BTreeMap<Name, usize>,
    pub roles: BTreeMap<Name, usize>,
    entered: Vec<(Over, usize)>,
    pub units: usize,
    pub requirements: usize,
    pub landed: usize,
}

impl Space {
    /// The space of a protocol; `None` when it is too large to look at.
    pub fn new(protocol: &Protocol) -> Option<Self> {
        let mut read: BTreeMap<Name, BTreeSet<Name>> = BTreeMap::new();
        let mut asked: BTreeSet<(Name, BTreeSet<Name>)> = BTreeSet::new();
        for condition in protocol.conditions() {
            if let Condition::Var { name, values } = condition {
                read.entry(name.clone()).or_default().extend(values.iter().cloned());
            } else if let Condition::It { attr, values } = condition
                // A unit's state changes while its flow runs: no path can be told apart by it.
                && &**attr != "state"
            {
                asked.insert((attr.clone(), values.iter().cloned().collect()));
            }
        }
        let paths = protocol.artifacts.values().filter_map(|artifact| artifact.path.as_ref());
        let filled_in = paths.flat_map(|path| placeholders(path)).filter_map(|word| protocol.vars.get_key_value(word));
        for (name, _) in filled_in {
            read.entry(name.clone()).or_default();
        }
        let mut space = Self {
            dims: Vec::new(),
            shadows: BTreeMap::new(),
            by_name: BTreeMap::new(),
            atoms: asked.into_iter().map(|(attr, values)| Atom { attr, values }).collect(),
            atom_stride: 0,
            gates: BTreeMap::new(),
            artifacts: BTreeMap::new(),
            roles: BTreeMap::new(),
            entered: Vec::new(),
            units: 0,
            requirements: 1,
            landed: 2,
        };
        let mut size = space.add_dims(protocol, &read)?;
        space.atom_stride = u32::try_from(size).ok()?;
        size = size.checked_mul(1_u64.checked_shl(u32::try_from(space.atoms.len()).ok()?)?)?;
        let mut bit = 3;
        for (map, names) in [
            (&mut space.gates, protocol.gates.keys().map(|name| &**name).collect::<Vec<_>>()),
            (&mut space.artifacts, protocol.artifacts.keys().map(|name| &**name).collect()),
            (&mut space.roles, protocol.roles.keys().map(|name| &**name).collect()),
        ] {
            for name in names {
                map.insert(name.into(), bit);
                bit += 1;
            }
        }
        for stage in protocol.flows.iter().flat_map(|flow| &flow.stages) {
            if let Kind::Each(each) = &stage.kind
                && each.over != Over::It
                && space.entered(&each.over).is_none()
            {
                space.entered.push((each.over.clone(), bit));
                bit += 1;
            }
        }
        (size <= VALUATIONS_MAX && bit <= Facts::MAX).then_some(space)
    }

    /// Adds the variables that are read, each with the values that conditions name.
    fn add_dims(&mut self, protocol: &Protocol, read: &BTreeMap<Name, BTreeSet<Name>>) -> Option<u64> {
        let stages = protocol.flows.iter().flat_map(|flow| &flow.stages);
        let given: BTreeSet<&str> = stages.flat_map(|stage| &stage.gives).map(|given| &**given).collect();
        let mut stride: u64 = 1;
        let mut add = |dims: &mut Vec<Dim>, values: &[Name], named: &BTreeSet<Name>| -> Option<usize> {
            let dim = Dim::new(values, named, u32::try_from(stride).ok()?);
            stride = stride.checked_mul(dim.values.len() as u64 + 1).filter(|size| *size <= VALUATIONS_MAX)?;
            dims.push(dim);
            Some(dims.len() - 1)
        };
        for (name, variable) in protocol.inputs.iter().chain(&protocol.vars) {
            let VariableKind::OneOf(values) = &variable.kind else { continue };
            let Some(named) = read.get(name) else { continue };
            let dim = add(&mut self.dims, values, named)?;
            self.by_name.insert(name.clone(), dim);
            if protocol.inputs.contains_key(name) && given.contains(&**name) {
                let shadow = add(&mut self.dims, values, named)?;
                self.shadows.insert(dim, shadow);
            }
        }
        Some(stride)
    }

    /// The fact that an `each` over these units was entered; none for a flow in place.
    pub fn entered(&self, over: &Over) -> Option<usize> {
        self.entered.iter().find(|(set, _)| set == over).map(|(_, bit)| *bit)
    }

    pub fn dim(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    fn digit(&self, valuation: u32, dim: usize) -> usize {
        let dim = &self.dims[dim];
        (valuation / dim.stride) as usize % (dim.values.len() + 1)
    }

    /// The value of a variable under a valuation; none when it is unset.
    pub fn value(&self, valuation: u32, dim: usize) -> Option<&Name> {
        self.digit(valuation, dim).checked_sub(1).map(|i| &self.dims[dim].values[i])
    }

    /// The valuation with a variable set.
    pub fn with(&self, valuation: u32, dim: usize, value: usize) -> u32 {
        let old = self.digit(valuation, dim);
        let stride = self.dims[dim].stride;
        valuation - u32::try_from(old).unwrap_or(0) * stride + u32::try_from(value + 1).unwrap_or(0) * stride
    }

    /// Whether the subject's attribute holds one of the values; none where that is no atom.
    pub fn atom(&self, valuation: u32, attr: &str, values: &[Name]) -> Option<bool> {
        let same = |atom: &Atom| atom.values.len() == values.len() && values.iter().all(|v| atom.values.contains(v));
        let is = |atom: &Atom| &*atom.attr == attr && same(atom);
        let index = self.atoms.iter().position(is)?;
        Some((valuation / self.atom_stride) & (1 << index) != 0)
    }

    /// Every answer the atoms can have together.
    fn atom_sets(&self) -> Vec<u32> {
        let consistent = |set: &u32| {
            // A set that holds one of few values holds one of more values too.
            self.atoms.iter().enumerate().all(|(i, small)| {
                self.atoms.iter().enumerate().all(|(j, large)| {
                    let implies = small.attr == large.attr && small.values.is_subset(&large.values);
                    !implies || set & (1 << i) == 0 || set & (1 << j) != 0
                })
            })
        };
        (0..1_u32 << self.atoms.len()).filter(consistent).map(|set| set * self.atom_stride).collect()
    }

    /// A state in which nothing is known about the subject's attributes.
    pub fn free_atoms(&self, state: State) -> State {
        if self.atoms.is_empty() {
            return state;
        }
        let sets = self.atom_sets();
        let spread = |(valuation, facts): (u32, Facts)| {
            let bare = valuation % self.atom_stride;
            sets.iter().map(move |set| (bare + set, facts)).collect::<Vec<_>>()
        };
        normal(state.into_iter().flat_map(spread).collect())
    }

    /// Every combination of the inputs, and its valuation.
    pub fn starts(&self, protocol: &Protocol) -> Vec<u32> {
        let mut starts = vec![0];
        for (name, dim) in &self.by_name {
            let Some(input) = protocol.inputs.get(name) else { continue };
            let values = 0..self.dims[*dim].values.len();
            let unset = !input.required && !input.has_default();
            let spread = |start: u32| {
                let set = values.clone().map(move |value| {
                    let start = self.with(start, *dim, value);
                    self.shadows.get(dim).map_or(start, |shadow| self.with(start, *shadow, value))
                });
                unset.then_some(start).into_iter().chain(set)
            };
            starts = starts.into_iter().flat_map(spread).collect();
        }
        starts
    }

    /// The combination of inputs with which a valuation started.
    pub fn start_of(&self, protocol: &Protocol, valuation: u32) -> u32 {
        let mut start = 0;
        for (name, dim) in &self.by_name {
            if !protocol.inputs.contains_key(name) {
                continue;
            }
            let shadow = self.shadows.get(dim).copied();
            if let Some(value) = self.digit(valuation, shadow.unwrap_or(*dim)).checked_sub(1) {
                start = self.with(start, *dim, value);
                start = shadow.map_or(start, |shadow| self.with(start, shadow, value));
            }
        }
        start
    }

    /// A valuation in words: `mode is full, ui is unset`.
    pub fn describe(&self, valuation: u32) -> String {
        self.words(valuation, |_| true)
    }

    /// What several valuations have in common, in words.
    pub fn describe_common(&self, valuations: &[u32]) -> String {
        let Some((first, rest)) = valuations.split_first() else { return String::new() };
        let common = |name: &Name| {
            let dim = self.by_name[name];
            rest.iter().all(|valuation| self.digit(*valuation, dim) == self.digit(*first, dim))
        };
        self.words(*first, common)
    }

    /// The inputs of a valuation in words.
    pub fn describe_inputs(&self, protocol: &Protocol, valuation: u32) -> String {
        self.words(valuation, |name| protocol.inputs.contains_key(name))
    }

    fn words(&self, valuation: u32, wanted: impl Fn(&Name) -> bool) -> String {
        let dims = self.by_name.iter().filter(|(name, _)| wanted(name));
        let said = dims.map(|(name, dim)| match self.value(valuation, *dim) {
            Some(value) => format!("{name} is {value}"),
            None => format!("{name} is unset"),
        });
        said.collect::<Vec<_>>().join(", ")
    }
}
