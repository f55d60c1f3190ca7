//! What the change in scope is known by: the names it brings, takes away, renames or touches.

use std::collections::{BTreeMap, BTreeSet};

use super::change::{Change, Content, Kind, Moved, Sign};
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
        let (mut before, mut now) = (BTreeMap::new(), BTreeMap::new());
        let mut removed = BTreeSet::new();
        let mut added = Vec::new();
        for change in changes {
            names.any = true;
            names.take_file(change);
            let hunks = match change.content {
                Content::Same => continue,
                Content::Unread => {
                    names.unread.get_or_insert(&change.path);
                    continue;
                }
                Content::Lines(hunks) => hunks,
            };
            let language = language(&change.path);
            for hunk in hunks {
                names.touch(&hunk.within, language, &change.path);
                for (sign, line) in hunk.lines.iter().filter(|(sign, _)| *sign != Sign::Kept) {
                    let tokens = language.tokens(line);
                    let words = tokens.iter().filter(|token| token.sort == TokenSort::Word).map(|token| token.text);
                    let defined = if *sign == Sign::Added { &mut now } else { &mut before };
                    for (name, _) in definitions(&tokens) {
                        defined.entry(name).or_insert(&change.path);
                    }
                    for word in words.filter(|word| is_telling(word)) {
                        names.touched.entry(word).or_insert(&change.path);
                        match sign {
                            Sign::Added => added.push((word, &change.path)),
                            Sign::Removed | Sign::Kept => _ = removed.insert(word),
                        }
                    }
                }
            }
            names.take_renames(change, hunks, language);
        }
        for (word, path) in added {
            if !removed.contains(word) {
                names.fresh.entry(word).or_insert(path);
            }
        }
        names.redefined =
            now.iter().filter(|(name, _)| before.contains_key(*name)).map(|(name, path)| (*name, *path)).collect();
        names.gone =
            before.iter().filter(|(name, _)| !now.contains_key(*name)).map(|(name, path)| (*name, *path)).collect();
        names.brought = now.into_iter().filter(|(name, _)| !before.contains_key(name)).collect();
        names
    }

    fn touch(&mut self, line: &'c str, language: Language, path: &'c Name) {
        for word in super::shape::words(line, language).filter(|word| is_telling(word)) {
            self.touched.entry(word).or_insert(path);
        }
    }

    fn take_file(&mut self, change: &'c Change<'c>) {
        self.changed_files.insert(file_name(&change.path));
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

    /// Names that a definition has now in place of another one.
    fn take_renames(&mut self, change: &'c Change<'c>, hunks: &'c [super::change::Hunk<'c>], language: Language) {
        let (mut before, mut now) = (BTreeSet::new(), BTreeSet::new());
        for (sign, line) in hunks.iter().flat_map(|hunk| &hunk.lines) {
            let side = match sign {
                Sign::Kept => continue,
                Sign::Removed => &mut before,
                Sign::Added => &mut now,
            };
            side.extend(definitions(&language.tokens(line)).into_iter().map(|(name, _)| name));
        }
        for piece in pieces(hunks, language) {
            let Piece::Renamed { pairs, .. } = piece else { continue };
            for (old, new) in pairs {
                let moved = before.contains(old) && now.contains(new) && !now.contains(old) && !before.contains(new);
                if moved {
                    self.renames.entry((old, new)).or_insert(&change.path);
                }
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

    /// Whether a file of this name changed in scope.
    pub fn changed_file(&self, name: &str) -> bool {
        self.changed_files.contains(name)
    }
}
