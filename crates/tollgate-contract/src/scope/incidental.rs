//! Whether a change outside the listed files is incidental: three criteria, each measured as far as the change itself says.
//!
//! One criterion that is not met makes the change out of scope, three that are met make it incidental. Everything else is
//! for a person, with what was measured. What was not read never counts as met.

use std::collections::BTreeSet;

use super::change::{Change, Content, Kind, Line, Mode, Moved};
use super::change_kinds::{Breaking, Piece, breaking, piece, significant};
use super::colocated::tested_files;
use super::diff::{Side, groups, texts};
use super::imports::Binding;
use super::languages::{Language, file_name, folder, language, manifests};
use super::renames::Names;
use crate::text::quote;

/// Up to so many lines a change counts as minimal, whatever it is.
pub const MINIMAL_LINES_MAX: usize = 10;

/// Whether a criterion is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Met {
    Yes,
    No,
    /// The change does not say: a person has to judge.
    Unknown,
}

/// One criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    pub met: Met,
    /// What was measured.
    pub measured: String,
}

/// The three criteria of an incidental change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criteria {
    /// The change is minimal.
    pub minimal: Criterion,
    /// The change in scope would not work without it.
    pub required: Criterion,
    /// The file does what it did before.
    pub unaltered: Criterion,
}

impl Criteria {
    /// Whether the change is incidental; none when a person has to judge.
    pub fn settled(&self) -> Option<bool> {
        let all = self.all();
        if all.iter().any(|(_, criterion)| criterion.met == Met::No) {
            return Some(false);
        }
        all.iter().all(|(_, criterion)| criterion.met == Met::Yes).then_some(true)
    }

    /// The criteria with their names, in their order.
    pub fn all(&self) -> [(&'static str, &Criterion); 3] {
        [("minimal", &self.minimal), ("required", &self.required), ("unaltered", &self.unaltered)]
    }

    /// What a person has to judge.
    pub fn to_judge(&self) -> Vec<&'static str> {
        let questions = [
            "Is the change minimal?",
            "Would the change in scope work without it?",
            "Does the file still do what it did before?",
        ];
        let open = |((_, criterion), question): ((&str, &Criterion), &'static str)| {
            (criterion.met == Met::Unknown).then_some(question)
        };
        self.all().into_iter().zip(questions).filter_map(open).collect()
    }
}

fn yes(measured: impl Into<String>) -> Criterion {
    Criterion { met: Met::Yes, measured: measured.into() }
}

fn no(measured: impl Into<String>) -> Criterion {
    Criterion { met: Met::No, measured: measured.into() }
}

fn unknown(measured: impl Into<String>) -> Criterion {
    Criterion { met: Met::Unknown, measured: measured.into() }
}

/// Measures one change against the change in scope.
pub fn measure(change: &Change<'_>, names: &Names) -> Criteria {
    let mut criteria = by_content(change, names);
    if names.is_empty() {
        criteria.required = no("no file in scope changed, so nothing can need it");
    }
    if let Some(whole) = whole(change).filter(|_| !is_snapshot(change, names)) {
        criteria.minimal = whole;
    }
    if let Some(mode) = change.mode().filter(|_| criteria.unaltered.met == Met::Yes) {
        criteria.unaltered = unknown(mode);
    }
    criteria
}

/// A file that comes, goes or becomes another kind of thing is not minimal.
fn whole(change: &Change<'_>) -> Option<Criterion> {
    match change.kind() {
        Kind::Added if change.after == Mode::Submodule => Some(no("a new submodule")),
        Kind::Added => Some(no("a new file")),
        Kind::Deleted => Some(no("the whole file is removed")),
        Kind::Replaced => Some(no("another kind of file is there now")),
        Kind::Modified | Kind::MovedHere | Kind::MovedAway | Kind::Mode => None,
    }
}

/// Whether a changed file is the snapshot of a test that changes in scope.
fn is_snapshot(change: &Change<'_>, names: &Names) -> bool {
    change.after != Mode::Absent && matches!(change.content, Content::Lines(_)) && snapshot_of(change, names).is_some()
}

/// The test in scope whose snapshot a file is: `__snapshots__/cart.test.js.snap` or `cart.test.js.snap` of `cart.test.js`.
fn snapshot_of(change: &Change<'_>, names: &Names) -> Option<String> {
    let test = file_name(&change.path).strip_suffix(".snap")?;
    let above = folder(&change.path);
    let above =
        above.strip_suffix("__snapshots__/").filter(|outer| outer.is_empty() || outer.ends_with('/')).unwrap_or(above);
    Some(format!("{above}{test}")).filter(|test| names.has(test) && !tested_files(test).is_empty())
}

/// The manifest beside a lock file that changes in scope.
fn manifest_of<'n>(change: &Change<'_>, names: &'n Names) -> Option<&'n str> {
    let fits = |name: &str| {
        let known = manifests(file_name(&change.path));
        known.iter().any(|manifest| manifest.strip_prefix('*').map_or(name == *manifest, |end| name.ends_with(end)))
    };
    names.paths().find(|path| folder(path) == folder(&change.path) && fits(file_name(path)))
}

fn by_content(change: &Change<'_>, names: &Names) -> Criteria {
    let unread = |why: &str| Criteria {
        minimal: unknown(why),
        required: unknown("nothing in the change shows it"),
        unaltered: unknown(why),
    };
    let lines = match change.content {
        _ if [change.before, change.after].contains(&Mode::Submodule) => {
            return unread("the submodule has another commit");
        }
        Content::Unread => return unread("binary, or too large to be read"),
        Content::Same => return same(change),
        Content::Lines(lines) => lines,
    };
    if let Some(test) = snapshot_of(change, names) {
        return mechanical("a snapshot", format!("{test}, whose snapshot it is, changes in scope"));
    }
    if let Some(manifest) = manifest_of(change, names) {
        return mechanical("a lock file", format!("{manifest}, which it is written from, changes in scope"));
    }
    let is_link = [change.before, change.after].contains(&Mode::Link);
    language(&change.path)
        .filter(|_| !is_link)
        .and_then(|language| code(change, lines, names, language))
        .unwrap_or_else(|| {
            let why = "its text cannot be read as code of a known language";
            Criteria { minimal: by_size(change), ..unread(why) }
        })
}

/// What a tool writes.
fn mechanical(what: &str, required: String) -> Criteria {
    let written = format!("{what}, written by a tool");
    Criteria { minimal: yes(written.clone()), required: yes(required), unaltered: yes(written) }
}

fn same(change: &Change<'_>) -> Criteria {
    let required = match &change.moved {
        Some(Moved::From(other) | Moved::To(other)) => format!("the other path of the rename is {other}"),
        None => "nothing in the change shows it".to_owned(),
    };
    let (minimal, unaltered) = match (&change.moved, change.mode()) {
        (Some(_), _) => (unknown("the file has another name"), yes("its content is the same")),
        (None, Some(mode)) => (yes("only the mode changes"), unknown(mode)),
        (None, None) => (unknown("the file is empty"), unknown("an empty file may have a meaning")),
    };
    Criteria { minimal, required: unknown(required), unaltered }
}

fn by_size(change: &Change<'_>) -> Criterion {
    let count = change.lines().map_or(0, |(added, removed)| added + removed);
    let said = if count == 1 { "1 line changes".to_owned() } else { format!("{count} lines change") };
    if count <= MINIMAL_LINES_MAX { yes(said) } else { unknown(said) }
}

/// What ties the changed lines to the change in scope, and what may alter the file.
#[derive(Default)]
struct Ties {
    /// The first reason why the change in scope needs them.
    needed: Option<String>,
    /// Something that nothing in scope asks for.
    loose: Option<String>,
    /// Something that may alter what the file does.
    altering: Option<String>,
}

impl Ties {
    fn tie(&mut self, needed: Option<String>, otherwise: impl FnOnce() -> String) {
        match needed {
            Some(needed) => _ = self.needed.get_or_insert(needed),
            None => _ = self.loose.get_or_insert_with(otherwise),
        }
    }

    fn alters(&mut self, why: impl Into<String>) {
        self.altering.get_or_insert_with(|| why.into());
    }
}

/// Measures a change of code; none when it cannot be read.
fn code(change: &Change<'_>, lines: &[Line<'_>], names: &Names, language: &Language) -> Option<Criteria> {
    let (before, after) = texts(lines);
    let (before, after) = (Side::read(&before, language)?, Side::read(&after, language)?);
    let groups = groups(lines, &before, &after)?;
    let mut ties = Ties::default();
    let imported = imports(change, &before, &after, names, &mut ties);
    let (mut is_mechanical, mut other) = (true, Vec::new());
    for group in &groups {
        match piece(group, &before, &after, language) {
            Piece::Layout => {}
            Piece::Rename { pairs, plain } => {
                // A page may have the word as its text.
                let is_page = change.path.ends_with('x') && language.is_script;
                let is_name = |(old, new): &(&str, &str)| {
                    let follows = imported.contains(&((*old).to_owned(), (*new).to_owned()));
                    follows && !before.uses(new) && !after.uses(old)
                };
                if !plain || is_page || !pairs.iter().all(is_name) {
                    let (old, new) = pairs[0];
                    ties.alters(format!("{} in place of {}", quote(new), quote(old)));
                }
                for (old, new) in pairs {
                    let by = names.renamed(old, new);
                    is_mechanical &= by.is_some();
                    let renamed = by.map(|by| format!("{by} renames {} to {}", quote(old), quote(new)));
                    ties.tie(renamed, || format!("nothing in scope renames {}", quote(old)));
                }
            }
            Piece::Fields(fields) => {
                is_mechanical = false;
                for field in fields {
                    let needed = names.uses_now(field).map(|by| format!("{by} uses the new field {}", quote(field)));
                    ties.tie(needed, || format!("nothing in scope uses the new field {}", quote(field)));
                }
            }
            Piece::Comment => {
                is_mechanical = false;
                ties.alters("a comment changes, and a tool may read it");
            }
            Piece::Code => {
                is_mechanical = false;
                let (removed, added) = (significant(&before, &group.removed), significant(&after, &group.added));
                if ties.altering.is_none() || ties.loose.is_none() {
                    let line = match (added.first(), removed.first()) {
                        (Some((_, token)), _) => after.line(token),
                        (None, Some((_, token))) => before.line(token),
                        (None, None) => "",
                    };
                    let line = quote(line);
                    ties.tie(None, || format!("no rule ties this line to the change in scope: {line}"));
                    ties.alters(format!("this line {}: {line}", if added.is_empty() { "is gone" } else { "is new" }));
                }
                let plain = |tokens: Vec<(usize, _)>| tokens.into_iter().map(|(_, token)| token).collect();
                other.push((plain(removed), plain(added)));
            }
        }
    }
    let broken = breaking(&other, language);
    let minimal = match &broken {
        Some(Breaking::Test) => no("it adds a test case"),
        Some(Breaking::Function(name)) => no(format!("it adds the function {}", quote(name))),
        Some(Breaking::Control(_) | Breaking::Literal { .. }) | None if is_mechanical => {
            yes("imports and renamed words only")
        }
        Some(Breaking::Control(_) | Breaking::Literal { .. }) | None => by_size(change),
    };
    let unaltered = match (broken, ties.altering) {
        (Some(Breaking::Control(word)), _) => no(format!("it changes control flow ({})", quote(&word))),
        (Some(Breaking::Literal { old, new }), _) => {
            no(format!("it changes a value ({} to {})", quote(&old), quote(&new)))
        }
        (_, Some(why)) => unknown(why),
        (_, None) => yes("no line that does something changes"),
    };
    let required = match (ties.needed, ties.loose) {
        (Some(needed), None) => yes(needed),
        (_, Some(loose)) => unknown(loose),
        (None, None) => unknown("nothing in scope names it"),
    };
    Some(Criteria { minimal, required, unaltered })
}

/// Ties the imports that come and go; gives the names that follow a rename in scope.
fn imports(
    change: &Change<'_>,
    before: &Side<'_>,
    after: &Side<'_>,
    names: &Names,
    ties: &mut Ties,
) -> BTreeSet<(String, String)> {
    let removed: Vec<&Binding> = before.imports.bindings.difference(&after.imports.bindings).collect();
    let added: Vec<&Binding> = after.imports.bindings.difference(&before.imports.bindings).collect();
    if let Some(other) = before.imports.others.symmetric_difference(&after.imports.others).next() {
        ties.tie(None, || format!("where this import leads is not known: {}", quote(other)));
        ties.alters(format!("this import changes: {}", quote(other)));
    }
    let order = |own: &Side<'_>, other: &Side<'_>| -> Vec<String> {
        let known: BTreeSet<&String> = other.imports.order.iter().collect();
        own.imports.order.iter().filter(|one| known.contains(one)).cloned().collect()
    };
    if order(before, after) != order(after, before) {
        ties.alters("imports are in another order");
    }
    if !added.is_empty() && !after.places_imports() {
        ties.alters("an import is not among others");
    }
    let mut followed = BTreeSet::new();
    let new: BTreeSet<&str> = added.iter().map(|one| one.name.as_str()).collect();
    // Names that a file in scope no longer has.
    let mut gone = BTreeSet::new();
    let known: BTreeSet<&str> = before.imports.bindings.iter().map(|one| one.name.as_str()).collect();
    for binding in &removed {
        let name = &binding.name;
        let by = names.loses(&change.path, binding);
        ties.tie(by.map(|by| format!("{} is no longer in {by}", quote(name))), || {
            format!("nothing in scope takes {} away", quote(name))
        });
        if after.uses(name) && !new.contains(name.as_str()) {
            ties.alters(format!("{} is used and no longer imported", quote(name)));
        }
        if by.is_some() {
            gone.insert(name.as_str());
            followed.extend(names.renames_of(name).map(|new| (name.clone(), new.to_owned())));
        }
    }
    let mut led = BTreeSet::new();
    for binding in &added {
        let name = &binding.name;
        let by = names.brings(&change.path, binding);
        led.extend(by.map(|_| name.as_str()));
        ties.tie(by.map(|by| format!("{} is new in {by}", quote(name))), || {
            format!("nothing in scope brings {}", quote(name))
        });
        let is_moved = by.is_some() && gone.contains(name.as_str());
        if (before.uses(name) || known.contains(name.as_str())) && !is_moved {
            ties.alters(format!("the file has another {} already", quote(name)));
        }
    }
    followed.retain(|(_, new)| led.contains(new.as_str()));
    followed
}
