//! A changed file as tokens: all of it before, all of it after, and the places at which the two differ.

use std::collections::BTreeSet;

use super::change::{Line, Sign};
use super::imports::{Imports, imports};
use super::languages::Language;
use super::tokens::{Kind, Token, tokens};

/// The text of one side, and for each of its lines whether the other side has it too.
#[derive(Debug, Default)]
pub struct Text {
    text: String,
    changed: Vec<bool>,
}

/// The two texts of a changed file.
pub fn texts(lines: &[Line<'_>]) -> (Text, Text) {
    let (mut before, mut after) = (Text::default(), Text::default());
    for (sign, line) in lines {
        for (side, own) in [(&mut before, Sign::Removed), (&mut after, Sign::Added)] {
            if *sign == Sign::Kept || *sign == own {
                side.text.push_str(line);
                side.text.push('\n');
                side.changed.push(*sign == own);
            }
        }
    }
    (before, after)
}

/// One side as tokens.
#[derive(Debug)]
pub struct Side<'t> {
    pub tokens: Vec<Token<'t>>,
    pub imports: Imports,
    text: &'t str,
    changed: &'t [bool],
    /// The tokens of imports.
    imported: BTreeSet<usize>,
    /// The words outside of imports, also those inside of strings.
    used: BTreeSet<&'t str>,
}

impl<'t> Side<'t> {
    /// Reads a side; none when its text cannot be split into tokens.
    pub fn read(text: &'t Text, language: &Language) -> Option<Self> {
        let tokens = tokens(&text.text, language)?;
        let imports = imports(&tokens, language);
        let imported: BTreeSet<usize> = imports.statements.iter().flat_map(|(range, _)| range.clone()).collect();
        let mut used = BTreeSet::new();
        for (_, token) in tokens.iter().enumerate().filter(|(at, _)| !imported.contains(at)) {
            match token.kind {
                Kind::Word => _ = used.insert(token.text),
                Kind::Text => used.extend(token.text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')),
                Kind::Number | Kind::Comment | Kind::Punctuation => {}
            }
        }
        Some(Self { tokens, imports, text: &text.text, changed: &text.changed, imported, used })
    }

    /// Whether a token begins in a line that the other side has not.
    pub fn is_changed(&self, token: &Token<'_>) -> bool {
        self.changed.get(token.line).copied().unwrap_or_default()
    }

    /// The line of a token, as it is written.
    pub fn line(&self, token: &Token<'_>) -> &'t str {
        self.text.lines().nth(token.line).unwrap_or_default().trim()
    }

    /// Whether a name is used outside of imports, as a word or inside of a string.
    pub fn uses(&self, name: &str) -> bool {
        self.used.contains(name)
    }

    /// Whether every import that has a changed line is among others or begins the file.
    pub fn places_imports(&self) -> bool {
        let touched = |(range, _): &&(std::ops::Range<usize>, bool)| {
            self.tokens[range.clone()].iter().any(|token| self.is_changed(token))
        };
        self.imports.statements.iter().filter(touched).all(|(_, placed)| *placed)
    }

    /// The tokens of lines that the other side has too.
    fn kept(&self) -> Vec<&Token<'t>> {
        self.tokens.iter().filter(|token| !self.is_changed(token)).collect()
    }
}

/// Lines that changed together, as the positions of their tokens; imports are left out.
#[derive(Debug, Default)]
pub struct Group {
    pub removed: Vec<usize>,
    pub added: Vec<usize>,
}

/// The groups of a change; none when lines that stayed are other tokens now, because a comment or string begins or ends elsewhere.
pub fn groups(lines: &[Line<'_>], before: &Side<'_>, after: &Side<'_>) -> Option<Vec<Group>> {
    let (kept, now) = (before.kept(), after.kept());
    if kept.len() != now.len() || !kept.iter().zip(&now).all(|(one, other)| one.same(other)) {
        return None;
    }
    let mut found = vec![Group::default()];
    let (mut line_before, mut line_after) = (0, 0);
    let mut tokens_before = before.tokens.iter().enumerate().peekable();
    let mut tokens_after = after.tokens.iter().enumerate().peekable();
    for (sign, _) in lines {
        if *sign == Sign::Kept {
            found.push(Group::default());
        }
        if *sign != Sign::Added {
            while let Some((at, _)) = tokens_before.next_if(|(_, token)| token.line <= line_before) {
                if *sign == Sign::Removed && !before.imported.contains(&at) {
                    found.last_mut()?.removed.push(at);
                }
            }
            line_before += 1;
        }
        if *sign != Sign::Removed {
            while let Some((at, _)) = tokens_after.next_if(|(_, token)| token.line <= line_after) {
                if *sign == Sign::Added && !after.imported.contains(&at) {
                    found.last_mut()?.added.push(at);
                }
            }
            line_after += 1;
        }
    }
    found.retain(|group| !group.removed.is_empty() || !group.added.is_empty());
    Some(found)
}
