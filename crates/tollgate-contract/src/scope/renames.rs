//! What the change in scope brings, takes away and renames: another file may need to follow.

use std::collections::{BTreeMap, BTreeSet};

use super::change::{Change, Content, Kind as ChangeKind};
use super::change_kinds::{renamed_words, significant};
use super::diff::{Side, groups, texts};
use super::imports::{Binding, Target};
use super::languages::{Language, language};
use super::tokens::{Kind, Token};

/// One changed file in scope.
#[derive(Debug, Default)]
struct ScopeFile {
    came: bool,
    went: bool,
    brought: BTreeSet<String>,
    gone: BTreeSet<String>,
}

/// The names of the change in scope.
#[derive(Debug, Default)]
pub struct Names {
    files: BTreeMap<String, ScopeFile>,
    /// Names that are defined under another name now, each with its file.
    renames: BTreeMap<(String, String), String>,
    /// Words that a file has now and had not before.
    fresh: BTreeMap<String, String>,
}

impl Names {
    /// Takes in a changed file in scope.
    pub fn take(&mut self, change: &Change<'_>) {
        let kind = change.kind();
        let file = ScopeFile {
            came: matches!(kind, ChangeKind::Added | ChangeKind::MovedHere),
            went: matches!(kind, ChangeKind::Deleted | ChangeKind::MovedAway),
            ..ScopeFile::default()
        };
        let path = change.path.to_string();
        let file = self.files.entry(path.clone()).or_insert(file);
        let (Content::Lines(lines), Some(language)) = (change.content, language(&change.path)) else { return };
        let (before, after) = texts(lines);
        let (Some(before), Some(after)) = (Side::read(&before, language), Side::read(&after, language)) else { return };
        let (old, new) = (definitions(&before.tokens, language), definitions(&after.tokens, language));
        let owned =
            |names: std::collections::btree_set::Difference<'_, &str>| names.map(|name| (*name).to_owned()).collect();
        file.brought = owned(new.difference(&old));
        file.gone = owned(old.difference(&new));
        let known: BTreeSet<&str> = words(&before.tokens).collect();
        for word in words(&after.tokens).filter(|word| !known.contains(word)) {
            self.fresh.entry(word.to_owned()).or_insert_with(|| path.clone());
        }
        for group in groups(lines, &before, &after).unwrap_or_default() {
            let (removed, added) = (significant(&before, &group.removed), significant(&after, &group.added));
            for (_, old, new) in renamed_words(&removed, &added).unwrap_or_default() {
                if file.gone.contains(old) && file.brought.contains(new) {
                    self.renames.entry((old.to_owned(), new.to_owned())).or_insert_with(|| path.clone());
                }
            }
        }
    }

    /// Takes in a test beside a file in scope: its snapshot follows it, and nothing else does.
    pub fn take_test(&mut self, path: &str) {
        self.files.entry(path.to_owned()).or_default();
    }

    /// Whether nothing in scope changed.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether a file in scope changed.
    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// The changed files in scope.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The file in scope from which a new import gets something that it brings.
    pub fn brings(&self, from: &str, binding: &Binding) -> Option<&str> {
        self.leads(from, binding, |file| file.came || file.brought.contains(&binding.name))
    }

    /// The file in scope from which an import can no longer get something.
    pub fn loses(&self, from: &str, binding: &Binding) -> Option<&str> {
        self.leads(from, binding, |file| file.went || file.gone.contains(&binding.name))
    }

    fn leads(&self, from: &str, binding: &Binding, fits: impl Fn(&ScopeFile) -> bool) -> Option<&str> {
        let known = |path: &String| self.files.get_key_value(path);
        let found = match binding.target(from)? {
            Target::OneOf(paths) => paths.iter().filter_map(known).find(|(_, file)| fits(file)),
            Target::EndsWith(end) => self.files.iter().find(|(path, file)| path.ends_with(&end) && fits(file)),
        };
        found.map(|(path, _)| path.as_str())
    }

    /// The new names of what is renamed in scope.
    pub fn renames_of<'n>(&'n self, old: &'n str) -> impl Iterator<Item = &'n str> {
        let from = self.renames.range((old.to_owned(), String::new())..);
        from.map(|(pair, _)| pair).take_while(move |(name, _)| name == old).map(|(_, new)| new.as_str())
    }

    /// The file in scope that renames one name into another.
    pub fn renamed(&self, old: &str, new: &str) -> Option<&str> {
        self.renames.get(&(old.to_owned(), new.to_owned())).map(String::as_str)
    }

    /// The file in scope that uses a word now and did not before.
    pub fn uses_now(&self, word: &str) -> Option<&str> {
        self.fresh.get(word).map(String::as_str)
    }
}

fn words<'t>(tokens: &[Token<'t>]) -> impl Iterator<Item = &'t str> {
    tokens.iter().filter(|token| token.kind == Kind::Word).map(|token| token.text)
}

/// The names that are defined outside of everything.
fn definitions<'t>(tokens: &[Token<'t>], language: &Language) -> BTreeSet<&'t str> {
    let defines = |token: &Token<'_>| {
        let known = [language.function_words, language.type_words, language.value_words];
        token.kind == Kind::Word && known.iter().any(|words| words.contains(&token.text))
    };
    let (mut depth, mut column, mut line) = (0_usize, 0, usize::MAX);
    let mut found = BTreeSet::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.line != line {
            (line, column) = (token.line, token.column);
        }
        match token.text {
            "(" | "[" | "{" if token.kind == Kind::Punctuation => depth += 1,
            ")" | "]" | "}" if token.kind == Kind::Punctuation => depth = depth.saturating_sub(1),
            _ => {}
        }
        let inside = depth > 0 || (language.indents && column > 0);
        let name = tokens.get(at + 1).filter(|next| next.kind == Kind::Word && !defines(next));
        if let Some(name) = name.filter(|_| !inside && defines(token)) {
            found.insert(name.text);
        }
    }
    found
}
