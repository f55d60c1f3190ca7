//! The scope rules: every changed path has one class.
//!
//! 1. what a person protected, whatever else holds it → protected
//! 2. listed in scope, or named by a correction that holds → primary
//! 3. excluded by the task → out of scope
//! 4. a test beside a file in scope → test
//! 5. measured by the three criteria → incidental, to be judged, or out of scope

use std::collections::{BTreeMap, BTreeSet};

use super::beside::sources_of_test;
use super::change::{Change, Content, Kind, Mode};
use super::correction::Correction;
use super::incidental::{Criteria, Met, measure};
use super::loose::is_there;
use super::modules::GoModule;
use super::names::Names;
use super::protects;
use super::task::TaskScope;
use crate::Name;

/// What a changed path is to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Listed, or named by a correction.
    Primary,
    /// A test beside a file in scope.
    Test,
    /// All three criteria are met.
    Incidental,
    /// A person has to judge one of them.
    Judge,
    /// The task excludes it, or a criterion is not met.
    OutOfScope,
    /// A person protected it.
    Protected,
}

impl Class {
    /// Every class, from the best to the worst.
    pub const ALL: [Self; 6] =
        [Self::Primary, Self::Test, Self::Incidental, Self::Judge, Self::OutOfScope, Self::Protected];

    /// The class in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Test => "co-located test",
            Self::Incidental => "incidental",
            Self::Judge => "incidental?",
            Self::OutOfScope => "out of scope",
            Self::Protected => "protected",
        }
    }
}

/// What a change is held against.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// The task.
    pub task: TaskScope,
    /// The corrections in the body of the pull request.
    pub corrections: Vec<Correction>,
    /// Patterns of paths that nobody may change.
    pub protected: Vec<Name>,
    /// The modules of Go; without one, no import of it leads anywhere.
    pub go_modules: Vec<GoModule>,
    /// What was found of the files that corrections name; one that is not here was there before.
    pub found: BTreeMap<String, Found>,
}

/// Where a file is that a correction names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// It was there before the change.
    Before,
    /// The change creates it.
    New,
    /// No file has such a path.
    Nowhere,
}

/// A changed path with its class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sorted<'c> {
    pub change: &'c Change<'c>,
    pub class: Class,
    /// Why it has this class, in a line.
    pub reason: String,
    /// What was measured, where the class rests on it.
    pub criteria: Option<Criteria>,
}

/// What became of a correction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corrected<'r> {
    pub correction: &'r Correction,
    /// Why it does not hold; none when it does.
    pub refused: Option<Refusal>,
}

/// Why a correction does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The task does not list the file.
    NotListed,
    /// Both files are the same.
    SameFile,
    /// What it names as the right file is a pattern, a folder or nothing.
    NoFile,
    /// The task excludes the file that is named as the right one: what it wants is not clear.
    Excluded(Name),
    /// The change creates the file that is named as the right one: no code was there.
    Created,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotListed => f.write_str("the task does not list the file that it corrects"),
            Self::SameFile => f.write_str("it names the same file twice"),
            Self::NoFile => f.write_str("what it names as the right file is no single file of the repository"),
            Self::Created => f.write_str("the change creates the file that it names: the code was not there"),
            Self::Excluded(item) => write!(f, "the task excludes the file that it names: `{item}`"),
        }
    }
}

/// The corrections that hold by the file that each names, and why a person has to look at one.
type Effective<'r> = BTreeMap<&'r str, (&'r Correction, Option<String>)>;

/// What the path alone says.
enum ByPath<'r> {
    Protected(&'r Name),
    Listed(&'r Name),
    Corrected(&'r Correction),
    /// By a correction that a person has to look at, for this reason.
    Doubtful(String),
    Excluded(&'r Name),
    /// Named under In Scope with words that refuse a change.
    Refused(&'r Name),
    /// By an item that may mean it or not; whether nothing else puts it in scope.
    PerhapsExcluded {
        item: &'r Name,
        unlisted: bool,
    },
    Test(String),
    Unlisted,
}

impl ByPath<'_> {
    /// A test is a file that can be read: of anything else that has its name, a person says what it is.
    fn of_text(self, change: &Change<'_>) -> Self {
        let Self::Test(source) = &self else { return self };
        let is = |mode: Mode| [change.before, change.after].contains(&mode);
        let what = match change.content {
            _ if is(Mode::Link) => "a link",
            _ if is(Mode::Submodule) => "a submodule",
            Content::Unread => "binary or too large to be read",
            Content::Same | Content::Lines(_) => return self,
        };
        Self::Doubtful(format!("It is named like a test beside {source} and is {what}"))
    }
}

impl Rules {
    /// What becomes of each correction.
    pub fn corrected(&self) -> Vec<Corrected<'_>> {
        let judged = |correction| Corrected { correction, refused: self.refusal(correction) };
        self.corrections.iter().map(judged).collect()
    }

    fn refusal(&self, correction: &Correction) -> Option<Refusal> {
        if correction.listed == correction.actual {
            return Some(Refusal::SameFile);
        }
        if !is_file_name(&correction.actual) || self.found(&correction.actual) == Found::Nowhere {
            return Some(Refusal::NoFile);
        }
        if self.task.listed.find(&correction.listed).is_none() {
            return Some(Refusal::NotListed);
        }
        if let Some((item, _)) = self.task.excluded.find(&correction.actual) {
            return Some(Refusal::Excluded(item.clone()));
        }
        let found = (self.found(&correction.listed), self.found(&correction.actual));
        (found == (Found::Before, Found::New)).then_some(Refusal::Created)
    }

    fn found(&self, path: &str) -> Found {
        self.found.get(path).copied().unwrap_or(Found::Before)
    }

    /// Holds the corrections against the files before the change and those that it changes.
    pub fn settle(&mut self, before: &BTreeSet<&str>, changed: &BTreeSet<&str>) {
        let find = |path: &str, listed: bool| match listed {
            _ if before.contains(path) => Found::Before,
            true if is_there(path, before) => Found::Before,
            _ if changed.contains(path) => Found::New,
            _ => Found::Nowhere,
        };
        let named = self.corrections.iter().flat_map(|one| [(&one.listed, true), (&one.actual, false)]);
        self.found = named.map(|(path, listed)| (path.clone(), find(path, listed))).collect();
    }

    /// The corrections that hold, by the file that each names, as far as a change of these paths lets them.
    fn effective(&self, paths: &[&Name]) -> Effective<'_> {
        let holding = self.corrected().into_iter().filter(|corrected| corrected.refused.is_none());
        let holding: Vec<&Correction> = holding.map(|corrected| corrected.correction).collect();
        let mut named: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for correction in &holding {
            named.entry(self.corrected_item(correction)).or_default().insert(&correction.actual);
        }
        let mut effective = Effective::new();
        for correction in holding {
            let listed = correction.listed.as_str();
            let holds =
                |path: &&&Name| path.strip_prefix(listed).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            let several = named.get(self.corrected_item(correction)).map_or(0, BTreeSet::len);
            let doubt = match paths.iter().find(holds) {
                Some(path) => {
                    Some(format!("the correction says that {listed} is the wrong file, and {path} changes too"))
                }
                None if self.found(&correction.actual) == Found::New => {
                    Some(format!("the change creates it, and {listed} was not there either"))
                }
                None if several > 1 => Some(format!("{several} corrections put other files in the place of {listed}")),
                None => None,
            };
            let entry = effective.entry(&correction.actual).or_insert_with(|| (correction, doubt.clone()));
            if doubt.is_none() {
                *entry = (correction, None);
            }
        }
        effective
    }

    /// What of the task a correction corrects: the file that it names, or the folder or glob that holds it.
    fn corrected_item<'r>(&'r self, correction: &'r Correction) -> &'r str {
        match self.task.listed.find(&correction.listed) {
            Some((item, firmness)) if firmness != usize::MAX => item,
            Some(_) | None => &correction.listed,
        }
    }

    /// Whether the class of any of these paths depends on what changed in the files.
    pub fn need_content<'p>(&self, paths: impl Iterator<Item = &'p Name>) -> bool {
        let paths: Vec<&Name> = paths.collect();
        let effective = self.effective(&paths);
        let is_measured = |by: ByPath<'_>| {
            let unlisted = matches!(by, ByPath::PerhapsExcluded { unlisted: true, .. });
            unlisted || matches!(by, ByPath::Unlisted | ByPath::Doubtful(_) | ByPath::Test(_))
        };
        paths.iter().any(|path| is_measured(self.by_path(path, &effective)))
    }

    /// Sorts a change, from the best class to the worst, each by path.
    pub fn sort<'c>(&self, changes: &'c [Change<'c>]) -> Vec<Sorted<'c>> {
        let paths: Vec<&Name> = changes.iter().map(|change| &change.path).collect();
        let effective = self.effective(&paths);
        let mut all: Vec<(&'c Change<'c>, ByPath<'_>)> =
            changes.iter().map(|change| (change, self.by_path(&change.path, &effective).of_text(change))).collect();
        all.sort_by(|(a, _), (b, _)| a.path.cmp(&b.path));
        let of = |wanted: fn(&ByPath<'_>) -> bool| -> Vec<&'c Change<'c>> {
            all.iter().filter(|(_, by)| wanted(by)).map(|(change, _)| *change).collect()
        };
        let mut names = Names::of(&of(|by| matches!(by, ByPath::Listed(_) | ByPath::Corrected(_))));
        names.go_modules.clone_from(&self.go_modules);
        of(|by| matches!(by, ByPath::Test(_))).into_iter().for_each(|test| names.take_test(test));
        let mut sorted: Vec<Sorted<'c>> = all.into_iter().map(|(change, by)| sorted(change, &by, &names)).collect();
        sorted.sort_by_key(|sorted| sorted.class);
        sorted
    }

    fn by_path<'r>(&'r self, path: &str, effective: &Effective<'r>) -> ByPath<'r> {
        let by = self.by_lists(path, effective);
        let unlisted = matches!(by, ByPath::Unlisted);
        // What the task names itself, in either list, is not in doubt.
        let open = match by {
            ByPath::Unlisted | ByPath::Doubtful(_) | ByPath::Test(_) => true,
            ByPath::Listed(_) => !self.task.listed.names(path),
            _ => false,
        };
        match self.task.may_exclude(path).filter(|_| open) {
            Some(item) => ByPath::PerhapsExcluded { item, unlisted },
            None => by,
        }
    }

    /// The item that refuses a change of a path: neither list holds it more firmly.
    fn refused(&self, path: &str) -> Option<&Name> {
        let (item, firmness) = self.task.refused.find(path)?;
        let excluded = self.task.excluded.find(path).is_some_and(|(_, excluded)| excluded >= firmness);
        let listed = self.task.listed.find(path).is_some_and(|(_, listed)| listed > firmness);
        (!excluded && !listed).then_some(item)
    }

    fn by_lists<'r>(&'r self, path: &str, effective: &Effective<'r>) -> ByPath<'r> {
        if let Some(pattern) = self.protected.iter().find(|pattern| protects(pattern, path)) {
            return ByPath::Protected(pattern);
        }
        if let Some(item) = self.refused(path) {
            return ByPath::Refused(item);
        }
        if let Some((correction, None)) = effective.get(path) {
            return ByPath::Corrected(correction);
        }
        match (self.task.listed.find(path), self.task.excluded.find(path)) {
            (Some((item, listed)), Some((_, excluded))) if listed > excluded => ByPath::Listed(item),
            (_, Some((item, _))) => ByPath::Excluded(item),
            (Some((item, _)), None) => ByPath::Listed(item),
            (None, None) => {
                let sources = sources_of_test(path);
                let in_scope = |source: &&String| {
                    let listed = self.task.listed.find(source).is_some() && self.task.excluded.find(source).is_none();
                    (listed && self.refused(source).is_none())
                        || matches!(effective.get(source.as_str()), Some((_, None)))
                };
                // A correction in doubt counts where nothing else says what the path is: it never worsens.
                let mut corrected = std::iter::once(path).chain(sources.iter().map(String::as_str));
                let doubt = corrected.find_map(|path| effective.get(path)).and_then(|(_, doubt)| doubt.clone());
                let narrowed = || self.task.narrowed.find(path).map(|(item, _)| format!("The task says: {item}"));
                let refused = || {
                    sources.iter().find_map(|source| self.refused(source)).map(|item| format!("The task says: {item}"))
                };
                let doubt = doubt.or_else(narrowed).or_else(refused);
                match (sources.iter().find(in_scope), doubt) {
                    (Some(source), _) => ByPath::Test(source.clone()),
                    (None, Some(doubt)) => ByPath::Doubtful(doubt),
                    (None, None) => ByPath::Unlisted,
                }
            }
        }
    }
}

/// Whether a path may name one file: it is no pattern, and leads neither to the top of the repository nor out of it.
fn is_file_name(path: &str) -> bool {
    let pattern = path.contains(['*', '?']) || (path.contains('{') && path.contains(','));
    let leads = path.split('/').any(|part| matches!(part, "" | "." | ".."));
    !pattern && !leads
}

fn sorted<'c>(change: &'c Change<'c>, by: &ByPath<'_>, names: &Names<'_>) -> Sorted<'c> {
    let plain = |class, reason| Sorted { change, class, reason, criteria: None };
    match by {
        ByPath::Protected(pattern) => plain(Class::Protected, format!("`{pattern}` is protected")),
        ByPath::Listed(item) if **item == change.path => plain(Class::Primary, "listed".to_owned()),
        ByPath::Listed(item) => plain(Class::Primary, format!("listed: {item}")),
        ByPath::Corrected(correction) => {
            plain(Class::Primary, format!("corrected: the task lists {}", correction.listed))
        }
        ByPath::Doubtful(doubt) => {
            // Without the correction it would be measured, and a correction never worsens.
            let criteria = measure(change, names);
            match settled(&criteria) {
                (Class::Incidental, reason) => {
                    Sorted { change, class: Class::Incidental, reason, criteria: Some(criteria) }
                }
                _ => plain(Class::Judge, format!("Does the task want this file? {doubt}.")),
            }
        }
        ByPath::PerhapsExcluded { item, unlisted } => {
            let criteria = unlisted.then(|| measure(change, names));
            match criteria.map(|criteria| (settled(&criteria), criteria)) {
                Some(((Class::OutOfScope, reason), criteria)) => {
                    Sorted { change, class: Class::OutOfScope, reason, criteria: Some(criteria) }
                }
                _ => plain(Class::Judge, format!("Does the task exclude this file? It says: {item}")),
            }
        }
        ByPath::Refused(item) => {
            plain(Class::Judge, format!("Does the task let this file be changed? It says: {item}"))
        }
        ByPath::Excluded(item) => plain(Class::OutOfScope, format!("the task excludes it: {item}")),
        ByPath::Test(source) => plain(Class::Test, format!("beside {source}")),
        ByPath::Unlisted => {
            let criteria = measure(change, names);
            let (class, reason) = settled(&criteria);
            Sorted { change, class, reason, criteria: Some(criteria) }
        }
    }
}

fn settled(criteria: &Criteria) -> (Class, String) {
    match criteria.settled() {
        Some(true) => {
            let reason = format!("{}; {}", criteria.minimal.measured, criteria.required.measured);
            (Class::Incidental, reason)
        }
        Some(false) => {
            let broken = criteria.all().into_iter().find(|(_, criterion)| criterion.met == Met::No);
            let why = broken.map(|(name, criterion)| format!("not {name}: {}", criterion.measured));
            (Class::OutOfScope, why.unwrap_or_default())
        }
        None => (Class::Judge, criteria.to_judge().join(" ")),
    }
}

/// Whether a path that is protected was only added to: said, and protected all the same.
pub fn only_adds(change: &Change<'_>) -> bool {
    let adds = change.lines().is_some_and(|(_, removed)| removed == 0);
    adds && matches!(change.kind(), Kind::Added | Kind::Modified)
}
