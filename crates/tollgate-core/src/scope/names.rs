//! What the change in scope is known by: the names it brings, takes away, renames or touches.

use std::collections::{BTreeMap, BTreeSet};

use super::change::{Change, Content, Hunk, Kind, Moved, Sign};
use super::shape::{Piece, pieces};
use super::words::{Language, TokenSort, definitions, file_name, is_telling, language, stem};
use crate::Name;

/// A file of the change in scope.
type From<'c> = &'c Name;

/// The names of the change in scope, each with the first file that it stands in.
#[derive(Debug, Default)]
pub struct Names<'c> {
    /// Whether anything in scope changed.
    pub any: bool,
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
    /// In lines that were added, and in none that was removed.
    fresh: BTreeMap<&'c str, From<'c>>,
    /// Anywhere in the change.
    touched: BTreeMap<&'c str, From<'c>>,
    /// The names of files that are new, gone or renamed.
    files: BTreeMap<&'c str, From<'c>>,
    /// The names of all files that changed.
    changed_files: BTreeSet<&'c str>,
    /// The paths of all files and tests that changed.
    changed_paths: BTreeSet<&'c str>,
}

/// The lines of one side of a file.
#[derive(Debug, Default)]
struct Side<'c> {
    defined: BTreeSet<&'c str>,
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
        for hunk in hunks {
            self.touch(&hunk.within, language, &change.path);
            for (sign, line) in &hunk.lines {
                let side = match sign {
                    Sign::Kept => continue,
                    Sign::Removed => &mut before,
                    Sign::Added => &mut now,
                };
                let tokens = language.tokens(line);
                side.defined.extend(definitions(line, &tokens).into_iter().map(|(name, _)| name));
                let words = tokens.iter().filter(|token| token.sort == TokenSort::Word).map(|token| token.text);
                side.words.extend(words.filter(|word| is_telling(word)));
            }
        }
        let path = &change.path;
        let mut take = |map: fn(&mut Self) -> &mut BTreeMap<&'c str, From<'c>>, words: Vec<&'c str>| {
            for word in words {
                map(self).entry(word).or_insert(path);
            }
        };
        take(|names| &mut names.touched, before.words.union(&now.words).copied().collect());
        take(|names| &mut names.fresh, now.words.difference(&before.words).copied().collect());
        take(|names| &mut names.brought, now.defined.difference(&before.defined).copied().collect());
        take(|names| &mut names.gone, before.defined.difference(&now.defined).copied().collect());
        take(|names| &mut names.redefined, now.defined.intersection(&before.defined).copied().collect());
        for piece in pieces(hunks, language) {
            let Piece::Renamed { pairs, .. } = piece else { continue };
            for (old, new) in pairs {
                let gone = before.defined.contains(old) && !now.defined.contains(old);
                if gone && now.defined.contains(new) && !before.defined.contains(new) {
                    self.renames.entry((old, new)).or_insert(path);
                }
            }
        }
    }

    fn touch(&mut self, line: &'c str, language: Language, path: &'c Name) {
        for word in super::shape::words(line, language).filter(|word| is_telling(word)) {
            self.touched.entry(word).or_insert(path);
        }
    }

    fn take_file(&mut self, change: &'c Change<'c>) {
        self.changed_files.insert(file_name(&change.path));
        self.changed_paths.insert(&change.path);
        let stem = stem(&change.path);
        self.touched.entry(stem).or_insert(&change.path);
        match change.kind() {
            Kind::Added | Kind::Deleted | Kind::MovedHere | Kind::MovedAway => {
                self.files.entry(stem).or_insert(&change.path);
            }
            Kind::Modified | Kind::Replaced | Kind::Mode => {}
        }
        if let Some(Moved::From(old)) = &change.moved {
            let old = super::words::stem(old);
            self.files.entry(old).or_insert(&change.path);
            if old != stem {
                self.renames.entry((old, stem)).or_insert(&change.path);
            }
        }
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

    /// Whether a file of this name changed in scope.
    pub fn changed_file(&self, name: &str) -> bool {
        self.changed_files.contains(name)
    }
}
