//! What the change in scope is known by: the names it brings, takes away, renames or touches.

use std::collections::{BTreeMap, BTreeSet};

use super::change::{Change, Content, Hunk, Kind, Moved, Sign};
use super::field::field_name;
use super::modules::{Dialect, GoModule, Places, go_folder, places};
use super::named::{file_name, is_manifest, stem};
use super::reached::Own;
use super::shape::{Piece, pieces};
use super::words::{Language, TokenSort, definitions, is_telling, language};
use crate::Name;
use crate::contract::text::quote;

/// A file of the change in scope.
type From<'c> = &'c Name;

/// The names of the change in scope, each with the first file that it stands in.
#[derive(Debug, Default)]
pub struct Names<'c> {
    /// Whether anything in scope changed.
    pub any: bool,
    pub go_modules: Vec<GoModule>,
    /// A file in scope whose change could not be read.
    pub unread: Option<From<'c>>,
    /// Defined now, not before.
    brought: BTreeMap<&'c str, From<'c>>,
    /// Defined before, not now.
    gone: BTreeMap<&'c str, From<'c>>,
    /// Defined before and now, otherwise.
    redefined: BTreeMap<&'c str, From<'c>>,
    /// Defined under another name now.
    renames: BTreeMap<(&'c str, &'c str), From<'c>>,
    /// What others get under another name now: from which file, in which it is now, and the two names.
    follows: BTreeSet<[&'c str; 4]>,
    /// Those of them that run: they may stand behind a dot elsewhere.
    reached: BTreeSet<(&'c str, &'c str)>,
    /// In lines that were added, and in none that was removed or stands beside them.
    fresh: BTreeMap<&'c str, From<'c>>,
    /// Anywhere in the change.
    touched: BTreeMap<&'c str, From<'c>>,
    /// Defined now, not before, by the file.
    brought_in: BTreeSet<(&'c str, &'c str)>,
    /// Defined before, not now, by the file.
    gone_in: BTreeSet<(&'c str, &'c str)>,
    /// The files that changed, also both ends of a rename, and which of them came or went.
    at: BTreeMap<&'c str, (From<'c>, Came)>,
    /// The files in each folder.
    in_folder: BTreeMap<&'c str, Vec<&'c str>>,
    /// The names of files that are new, gone or renamed.
    files: BTreeMap<&'c str, From<'c>>,
    /// The paths of all files and tests that changed.
    changed_paths: BTreeSet<&'c str>,
}

/// Whether a file came or went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    Here,
    Away,
    Neither,
}

/// The lines of one side of a file.
#[derive(Debug, Default)]
struct Side<'c> {
    defined: BTreeSet<&'c str>,
    /// Those of them that run.
    running: BTreeSet<&'c str>,
    words: BTreeSet<&'c str>,
}

/// How a word is known to the change in scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known<'c> {
    /// It is defined there now.
    Brought(From<'c>),
    /// It is no longer defined there.
    Gone(From<'c>),
    /// A file of this name is new, gone or renamed there.
    File(From<'c>),
    /// Its definition changed there.
    Redefined(From<'c>),
    /// It is used there now, and was not before.
    Fresh(From<'c>),
    /// It stands in a line that changed there.
    Touched(From<'c>),
}

impl<'c> Names<'c> {
    /// Takes the names of the files in scope; `changes` in the order of their paths.
    pub fn of(changes: &[&'c Change<'c>]) -> Self {
        let mut names = Self::default();
        for change in changes {
            names.any = true;
            names.take_file(change);
            match change.content {
                Content::Same => {}
                Content::Unread => {
                    names.unread.get_or_insert(&change.path);
                }
                Content::Lines(hunks) => names.take_lines(change, hunks),
            }
        }
        names
    }

    /// Takes a test beside a file in scope: it is in scope too, and its snapshot follows it.
    pub fn take_test(&mut self, change: &'c Change<'c>) {
        self.any = true;
        self.changed_paths.insert(&change.path);
    }

    /// Takes the names of one file. What it loses counts although another one gains it: it moved, and those who use it must follow.
    fn take_lines(&mut self, change: &'c Change<'c>, hunks: &'c [Hunk<'c>]) {
        let language = language(&change.path);
        let (mut before, mut now) = (Side::default(), Side::default());
        let mut known: BTreeSet<&'c str> = BTreeSet::new();
        for hunk in hunks {
            known.extend(super::words::words(&hunk.within, language));
            self.touch(&hunk.within, language, &change.path);
            for (sign, line) in &hunk.lines {
                let side = match sign {
                    Sign::Kept => {
                        known.extend(super::words::words(line, language));
                        continue;
                    }
                    Sign::Removed => &mut before,
                    Sign::Added => &mut now,
                };
                let tokens = language.tokens(line);
                for (name, runs) in definitions(line, &tokens) {
                    side.defined.insert(name);
                    if runs {
                        side.running.insert(name);
                    }
                }
                let words = tokens.iter().filter(|token| token.sort == TokenSort::Word).map(|token| token.text);
                side.words.extend(words.filter(|word| is_telling(word)));
            }
        }
        let path = &change.path;
        self.brought_in.extend(now.defined.difference(&before.defined).map(|word| (&**path, *word)));
        self.gone_in.extend(before.defined.difference(&now.defined).map(|word| (&**path, *word)));
        let mut take = |map: fn(&mut Self) -> &mut BTreeMap<&'c str, From<'c>>, words: Vec<&'c str>| {
            for word in words {
                map(self).entry(word).or_insert(path);
            }
        };
        take(|names| &mut names.touched, before.words.union(&now.words).copied().collect());
        let fresh = now.words.difference(&before.words).filter(|word| !known.contains(*word));
        take(|names| &mut names.fresh, fresh.copied().collect());
        take(|names| &mut names.brought, now.defined.difference(&before.defined).copied().collect());
        take(|names| &mut names.gone, before.defined.difference(&now.defined).copied().collect());
        take(|names| &mut names.redefined, now.defined.intersection(&before.defined).copied().collect());
        let own = Own::of(path, hunks, language);
        let from: &'c str = match &change.moved {
            Some(Moved::From(old)) => old,
            Some(Moved::To(_)) | None => path,
        };
        for piece in pieces(hunks, language) {
            let Piece::Renamed { pairs, .. } = piece else { continue };
            for (old, new) in pairs {
                let gone = before.defined.contains(old) && !now.defined.contains(old);
                if gone && now.defined.contains(new) && !before.defined.contains(new) {
                    self.renames.entry((old, new)).or_insert(path);
                    if own.renames(old, new) {
                        self.follows.insert([from, path, old, new]);
                    }
                    if before.running.contains(old) && now.running.contains(new) {
                        self.reached.insert((old, new));
                    }
                }
            }
        }
    }

    fn touch(&mut self, line: &'c str, language: Language, path: &'c Name) {
        for word in super::words::words(line, language).filter(|word| is_telling(word)) {
            self.touched.entry(word).or_insert(path);
        }
    }

    fn take_file(&mut self, change: &'c Change<'c>) {
        self.changed_paths.insert(&change.path);
        let came = match change.kind() {
            Kind::Added | Kind::MovedHere => Came::Here,
            Kind::Deleted | Kind::MovedAway => Came::Away,
            Kind::Modified | Kind::Replaced | Kind::Mode => Came::Neither,
        };
        self.place(&change.path, &change.path, came);
        match &change.moved {
            Some(Moved::From(old)) => self.place(old, &change.path, Came::Away),
            Some(Moved::To(new)) => self.place(new, &change.path, Came::Here),
            None => {}
        }
        let stem = stem(&change.path);
        self.touched.entry(stem).or_insert(&change.path);
        match change.kind() {
            Kind::Added | Kind::Deleted | Kind::MovedHere | Kind::MovedAway => {
                self.files.entry(stem).or_insert(&change.path);
            }
            Kind::Modified | Kind::Replaced | Kind::Mode => {}
        }
        if let Some(Moved::From(old)) = &change.moved {
            let (from, old) = (old, super::named::stem(old));
            self.files.entry(old).or_insert(&change.path);
            if old != stem {
                self.renames.entry((old, stem)).or_insert(&change.path);
                self.follows.insert([from, &change.path, old, stem]);
            }
        }
    }

    /// Places a file of the change; what is said of its own path counts before what a rename says of the other.
    fn place(&mut self, path: &'c str, by: From<'c>, came: Came) {
        if **by == *path {
            self.at.insert(path, (by, came));
        } else {
            self.at.entry(path).or_insert((by, came));
        }
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        self.in_folder.entry(folder).or_default().push(path);
    }

    /// The files of the change that a module, as the file at `path` writes it, may be; `name` may be one within it.
    pub fn files_of(&self, dialect: Dialect, path: &str, module: &str, name: &str) -> Vec<&'c str> {
        let mut places = places(dialect, path, module, name);
        if dialect == Dialect::Go {
            places.folders.extend(go_folder(&self.go_modules, module));
        }
        self.files_at(&places)
    }

    /// The files of the change at one of these places.
    pub fn files_at(&self, places: &Places) -> Vec<&'c str> {
        let files = places.files.iter().filter_map(|path| self.at.get_key_value(path.as_str()).map(|(path, _)| *path));
        let folders = places.folders.iter().filter_map(|folder| self.in_folder.get(folder.as_str())).flatten();
        files.chain(folders.copied()).collect()
    }

    /// Why something new comes from a file under this name.
    pub fn brings(&self, file: &str, word: &str) -> Option<(String, &'c Name)> {
        let (by, came) = self.at.get(file)?;
        if self.brought_in.contains(&(file, word)) {
            return Some((format!("{} is new", quote(word)), *by));
        }
        (*came == Came::Here).then(|| (format!("the file {} is new, gone or renamed:", quote(file)), *by))
    }

    /// Why something can no longer be had from a file under this name.
    pub fn loses(&self, file: &str, word: &str) -> Option<(String, &'c Name)> {
        let (by, came) = self.at.get(file)?;
        if self.gone_in.contains(&(file, word)) {
            return Some((format!("{} is gone", quote(word)), *by));
        }
        (*came == Came::Away).then(|| (format!("the file {} is new, gone or renamed:", quote(file)), *by))
    }

    /// How a word is known, the strongest first.
    pub fn knows(&self, word: &str) -> Option<Known<'c>> {
        let of = |map: &BTreeMap<&'c str, From<'c>>| map.get(word).copied();
        of(&self.brought)
            .map(Known::Brought)
            .or_else(|| of(&self.gone).map(Known::Gone))
            .or_else(|| of(&self.files).map(Known::File))
            .or_else(|| of(&self.redefined).map(Known::Redefined))
            .or_else(|| self.fresh.get(word).copied().map(Known::Fresh))
            .or_else(|| self.touched.get(word).copied().map(Known::Touched))
    }

    /// The file in scope that renamed one word into the other.
    pub fn renamed(&self, old: &str, new: &str) -> Option<&'c Name> {
        self.renames.get(&(old, new)).copied()
    }

    /// Whether what one file gave to others under one name is what they get from the other under the other name.
    pub fn follows(&self, from: &str, to: &str, old: &str, new: &str) -> bool {
        self.follows.contains(&[from, to, old, new])
    }

    /// Whether a word that was renamed in scope is the same one behind a dot: a function is, a constant may be any other.
    pub fn is_reached(&self, old: &str, new: &str) -> bool {
        self.reached.contains(&(old, new))
    }

    /// The file in scope in whose change a file is named.
    pub fn names_file(&self, path: &str) -> Option<&'c Name> {
        self.touched.get(stem(path)).copied().filter(|found| ***found != *path)
    }

    /// Whether a snapshot is that of a test which changed in scope: `__snapshots__/cart.test.js.snap` of `cart.test.js`.
    pub fn changed_test_of(&self, snapshot: &str) -> bool {
        let Some((test, _)) = snapshot.rsplit_once('.') else { return false };
        let above = test.rsplit_once('/').and_then(|(folder, name)| {
            let outer = folder.strip_suffix("__snapshots__")?;
            (outer.is_empty() || outer.ends_with('/')).then(|| format!("{outer}{name}"))
        });
        self.changed_paths.contains(test) || above.is_some_and(|test| self.changed_paths.contains(test.as_str()))
    }

    /// The manifest of a lock file that changed in scope: beside it, or below it as that of a member of its workspace.
    pub fn changed_manifest(&self, lock: &str, manifests: &[&str]) -> Option<&'c str> {
        let folder = &lock[..lock.len() - file_name(lock).len()];
        let is_its_own =
            |path: &str| path.starts_with(folder) && manifests.iter().any(|manifest| is_manifest(path, manifest));
        let mut own: Vec<&'c str> = self.changed_paths.iter().copied().filter(|path| is_its_own(path)).collect();
        own.sort_by_key(|path| path.matches('/').count());
        own.first().copied()
    }
}

/// Why the change in scope needs a field: it comes, and is used or defined there only now. A line that goes beside it is for a person.
pub fn added_field<'n>(sign: Sign, line: &str, language: Language, names: &Names<'n>) -> Option<(String, &'n Name)> {
    let name = field_name(line, language).filter(|name| sign == Sign::Added && is_telling(name))?;
    let by = match names.knows(name)? {
        Known::Brought(by) | Known::Fresh(by) => Some(by),
        // A file may be called as the field is.
        Known::File(_) => names.fresh.get(name).copied(),
        Known::Gone(_) | Known::Redefined(_) | Known::Touched(_) => None,
    };
    by.map(|by| (format!("{} is new", quote(name)), by))
}
