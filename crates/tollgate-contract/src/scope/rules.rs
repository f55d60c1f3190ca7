//! The scope rules: every changed path has one class.
//!
//! 1. a person protected it → protected
//! 2. listed in scope, or named by a correction that holds → primary
//! 3. excluded by the task → out of scope
//! 4. a test beside a file in scope → test
//! 5. measured by the three criteria → incidental, for a person to judge, or out of scope

use std::collections::{BTreeMap, BTreeSet};

use super::change::{Change, Content, Kind, Mode};
use super::colocated::tested_files;
use super::correction::Correction;
use super::incidental::{Criteria, Met, measure};
use super::renames::Names;
use super::task::TaskScope;
use crate::path_list::item::{is_folder, is_glob};
use tollgate_core::Name;
use tollgate_core::scope::protects;
use tollgate_core::words;

/// What a changed path is to a task, from the best to the worst.
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

words!(Class {
    Primary = "primary",
    Test = "co-located test",
    Incidental = "incidental",
    Judge = "incidental?",
    OutOfScope = "out of scope",
    Protected = "protected",
});

/// What a change is held against.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// The task.
    pub task: TaskScope,
    /// The corrections in the body of the pull request.
    pub corrections: Vec<Correction>,
    /// Patterns of paths that may not be changed.
    pub protected: Vec<Name>,
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
            Self::NotListed => f.write_str("the task does not list the file under `Listed`"),
            Self::SameFile => f.write_str("`Listed` and `Actual` name the same file"),
            Self::NoFile => f.write_str("`Actual` names no file of the repository"),
            Self::Created => f.write_str("the change creates the file under `Actual`, so the code was not there"),
            Self::Excluded(item) => write!(f, "the task excludes the file under `Actual`: `{item}`"),
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
    Test(String),
    Unlisted,
}

impl ByPath<'_> {
    /// A test is a file that can be read: anything else with its name is for a person.
    fn of_text(self, change: &Change<'_>) -> Self {
        let Self::Test(source) = &self else { return self };
        let is = |mode: Mode| [change.before, change.after].contains(&mode);
        let what = match change.content {
            _ if is(Mode::Link) => "a link",
            _ if is(Mode::Submodule) => "a submodule",
            Content::Unread => "binary or too large to be read",
            Content::Same | Content::Lines(_) => return self,
        };
        Self::Doubtful(format!("It has the name of a test of {source} and is {what}"))
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

    /// Looks up the files that corrections name, among those before the change and those that it changes.
    pub fn settle(&mut self, before: &BTreeSet<&str>, changed: &BTreeSet<&str>) {
        let find = |path: &str, listed: bool| match listed {
            _ if before.contains(path) => Found::Before,
            true if is_folder(path, before) => Found::Before,
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
                    Some(format!("The correction says that {listed} is the wrong file, and {path} changes too"))
                }
                None if self.found(&correction.actual) == Found::New => {
                    Some(format!("The change creates it, and {listed} did not exist either"))
                }
                None if several > 1 => Some(format!("{several} corrections replace {listed}")),
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
            Some((item, closeness)) if closeness != usize::MAX => item,
            Some(_) | None => &correction.listed,
        }
    }

    /// Whether the class of any of these paths depends on what changed in the files.
    pub fn need_content<'p>(&self, paths: impl Iterator<Item = &'p Name>) -> bool {
        let paths: Vec<&Name> = paths.collect();
        let effective = self.effective(&paths);
        let is_measured = |by: ByPath<'_>| matches!(by, ByPath::Unlisted | ByPath::Doubtful(_) | ByPath::Test(_));
        paths.iter().any(|path| is_measured(self.by_path(path, &effective)))
    }

    /// Sorts a change, from the best class to the worst, each by path.
    pub fn sort<'c>(&self, changes: &'c [Change<'c>]) -> Vec<Sorted<'c>> {
        let paths: Vec<&Name> = changes.iter().map(|change| &change.path).collect();
        let effective = self.effective(&paths);
        let mut all: Vec<(&'c Change<'c>, ByPath<'_>)> =
            changes.iter().map(|change| (change, self.by_path(&change.path, &effective).of_text(change))).collect();
        all.sort_by(|(a, _), (b, _)| a.path.cmp(&b.path));
        let mut names = Names::default();
        for (change, by) in &all {
            match by {
                ByPath::Listed(_) | ByPath::Corrected(_) => names.take(change),
                ByPath::Test(_) => names.take_test(&change.path),
                ByPath::Protected(_) | ByPath::Doubtful(_) | ByPath::Excluded(_) | ByPath::Unlisted => {}
            }
        }
        let mut sorted: Vec<Sorted<'c>> = all.into_iter().map(|(change, by)| sorted(change, &by, &names)).collect();
        sorted.sort_by_key(|sorted| sorted.class);
        sorted
    }

    fn by_path<'r>(&'r self, path: &str, effective: &Effective<'r>) -> ByPath<'r> {
        if let Some(pattern) = self.protected.iter().find(|pattern| protects(pattern, path)) {
            return ByPath::Protected(pattern);
        }
        if let Some((correction, None)) = effective.get(path) {
            return ByPath::Corrected(correction);
        }
        match (self.task.listed.find(path), self.task.excluded.find(path)) {
            (Some((item, listed)), Some((_, excluded))) if listed > excluded => return ByPath::Listed(item),
            (_, Some((item, _))) => return ByPath::Excluded(item),
            (Some((item, _)), None) => return ByPath::Listed(item),
            (None, None) => {}
        }
        let sources = tested_files(path);
        let in_scope = |source: &&String| {
            let listed = self.task.listed.find(source).is_some() && self.task.excluded.find(source).is_none();
            listed || matches!(effective.get(source.as_str()), Some((_, None)))
        };
        // A correction in doubt counts only where nothing else says what the path is.
        let mut corrected = std::iter::once(path).chain(sources.iter().map(String::as_str));
        let doubt = corrected.find_map(|path| effective.get(path)).and_then(|(_, doubt)| doubt.clone());
        match (sources.iter().find(in_scope), doubt) {
            (Some(source), _) => ByPath::Test(source.clone()),
            (None, Some(doubt)) => ByPath::Doubtful(doubt),
            (None, None) => ByPath::Unlisted,
        }
    }
}

/// Whether a path may name one file: it is no pattern, and leads neither to the top of the repository nor out of it.
fn is_file_name(path: &str) -> bool {
    let leads = path.split('/').any(|part| matches!(part, "" | "." | ".."));
    !is_glob(path) && !leads
}

fn sorted<'c>(change: &'c Change<'c>, by: &ByPath<'_>, names: &Names) -> Sorted<'c> {
    let plain = |class, reason| Sorted { change, class, reason, criteria: None };
    match by {
        ByPath::Protected(pattern) => plain(Class::Protected, format!("`{pattern}` is protected")),
        ByPath::Listed(item) if **item == change.path => plain(Class::Primary, "listed".to_owned()),
        ByPath::Listed(item) => plain(Class::Primary, format!("listed: {item}")),
        ByPath::Corrected(correction) => {
            plain(Class::Primary, format!("corrected: the task lists {}", correction.listed))
        }
        ByPath::Doubtful(doubt) => {
            // Without the correction it would be measured, and a correction never makes a class worse.
            let criteria = measure(change, names);
            match settled(&criteria) {
                (Class::Incidental, reason) => {
                    Sorted { change, class: Class::Incidental, reason, criteria: Some(criteria) }
                }
                _ => plain(Class::Judge, format!("Does the task want this file? {doubt}.")),
            }
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

/// Whether lines were only added to a protected path: it is shown, and the path stays protected.
pub fn only_adds(change: &Change<'_>) -> bool {
    let adds = change.lines().is_some_and(|(_, removed)| removed == 0);
    adds && matches!(change.kind(), Kind::Added | Kind::Modified)
}
