//! Judging a tree against a definition: first each value by its type, then the rules over values that are right by themselves.

mod breaches;
mod hints;
mod references;
mod rules;
mod types;

use std::collections::BTreeSet;

pub use breaches::{Pointing, find_circles};
pub use rules::{Eval, and, not};
pub use types::shown;

use crate::defined::definition::Definition;
use crate::tree::json::Parsed;
use crate::tree::{Node, Places, Value};
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Fix, Severity};

/// How many errors, and how many warnings, are told of one text; the rest would repeat them. Warnings take no place from errors: what
/// is not told would not count.
const WRONG_MAX: usize = 50;
/// How many warnings are kept until it is known which are told.
const WARNINGS_MAX: usize = 1 << 12;
/// So many of them are told to who mends them all: reading again for every few would cost the square.
const EVERY_MAX: usize = 1 << 19;

/// Something wrong, before its line and column are known.
#[derive(Debug)]
pub struct Wrong {
    pub code: Code,
    pub severity: Severity,
    pub at: u32,
    pub other: Option<u32>,
    pub message: String,
    pub hint: String,
    pub rule: Option<Name>,
    pub fix: Option<Fix>,
}

impl Wrong {
    /// Something wrong at one place, by no rule of the contract.
    pub fn new(code: Code, severity: Severity, at: u32, message: String, hint: impl Into<String>) -> Self {
        Self { code, severity, at, other: None, message, hint: hint.into(), rule: None, fix: None }
    }

    /// The same, with the second place that it is about.
    pub fn and(mut self, other: Option<u32>) -> Self {
        self.other = other;
        self
    }
}

/// What a judge found.
#[derive(Debug, Default)]
pub struct Found {
    pub wrong: Vec<Wrong>,
    /// The values that are wrong by themselves: rules do not read them again.
    pub broken: BTreeSet<u32>,
    /// The values that could not be read, or whose end could not: what is not there is not missing.
    pub torn: BTreeSet<u32>,
    /// Where sections begin that the contract does not have: errors in a report that accepts the work.
    pub unknown: BTreeSet<u32>,
    /// Whether everything is told.
    pub every: bool,
    /// How many of those that are wrong are errors.
    errors: usize,
}

impl Found {
    /// Nothing yet, and whether everything is to be told.
    pub fn telling(every: bool) -> Self {
        Self { every, ..Self::default() }
    }

    /// Whether looking for more is in vain.
    pub fn is_full(&self) -> bool {
        self.errors >= if self.every { EVERY_MAX } else { WRONG_MAX }
    }

    /// Whether something is an error.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Keeps an error about a value.
    pub fn error(&mut self, code: Code, at: u32, message: String, hint: impl Into<String>) {
        self.push(Wrong::new(code, Severity::Error, at, message, hint));
    }

    /// Keeps that something is there twice: here, and first elsewhere.
    pub fn twice(&mut self, code: Code, at: u32, first: u32, message: String, hint: &str) {
        self.push(Wrong::new(code, Severity::Error, at, message, hint).and(Some(first)));
    }

    /// Keeps what is no JSON; gives what could be read all the same.
    pub fn parsed<'a>(&mut self, parsed: Parsed<'a>) -> Option<Node<'a>> {
        parsed.faults.into_iter().for_each(|fault| self.push(fault.into()));
        self.tear(parsed.broken);
        parsed.node
    }

    /// Notes values that could not be read as a whole.
    pub fn tear(&mut self, torn: Vec<u32>) {
        self.broken.extend(&torn);
        self.torn.extend(torn);
    }

    pub fn push(&mut self, wrong: Wrong) {
        let room = match wrong.severity {
            Severity::Error => !self.is_full(),
            Severity::Warning => self.every || self.wrong.len() - self.errors < WARNINGS_MAX,
        };
        if room {
            self.errors += usize::from(wrong.severity == Severity::Error);
            self.wrong.push(wrong);
        }
    }

    /// Takes back what only follows from something else.
    pub fn retain(&mut self, keep: impl FnMut(&Wrong) -> bool) {
        self.wrong.retain(keep);
        self.errors = self.wrong.iter().filter(|wrong| wrong.severity == Severity::Error).count();
    }

    /// Makes errors of the warnings about unknown sections: the report accepts the work.
    pub fn refuse_unknown(&mut self, hint: &str) {
        let room = if self.every { EVERY_MAX } else { WRONG_MAX }.saturating_sub(self.errors);
        let unknown = std::mem::take(&mut self.unknown);
        let is_unknown = |wrong: &&mut Wrong| wrong.code == Code::SECTION_UNKNOWN && unknown.contains(&wrong.at);
        for wrong in self.wrong.iter_mut().filter(is_unknown).take(room) {
            wrong.severity = Severity::Error;
            wrong.message.push_str(", and the report accepts the work");
            hint.clone_into(&mut wrong.hint);
        }
        self.retain(|_| true);
    }

    /// Adds the one way to fix what was found last.
    pub fn fix(&mut self, fix: Option<Fix>) {
        if let Some(wrong) = self.wrong.last_mut().filter(|_| fix.is_some()) {
            wrong.fix = fix;
        }
    }

    /// The diagnostics, in the order of the text.
    pub fn place(self, places: &Places<'_>) -> Vec<Diagnostic> {
        let full = self.is_full();
        let mut list: Vec<Diagnostic> = self
            .wrong
            .into_iter()
            .map(|wrong| Diagnostic {
                code: wrong.code,
                severity: wrong.severity,
                message: wrong.message,
                place: places.place(wrong.at),
                other: wrong.other.map(|at| places.place(at)),
                hint: Some(wrong.hint),
                rule: wrong.rule,
                fix: wrong.fix.map(Box::new),
            })
            .collect();
        list.sort_by_key(|diagnostic| diagnostic.place);
        let mut warnings = 0;
        list.retain(|one| {
            warnings += usize::from(one.severity == Severity::Warning);
            one.severity == Severity::Error || self.every || warnings <= WRONG_MAX
        });
        if let Some(last) = list.last_mut().filter(|_| full || warnings > WRONG_MAX) {
            crate::diagnostics::say_more(last);
        }
        list
    }
}

/// Judges a tree: types, then rules.
pub fn judge(definition: &Definition, root: &Node<'_>, role: Option<&Name>, found: &mut Found) {
    types::check(definition, root, found);
    if !found.torn.contains(&root.at) && !found.is_full() {
        rules::check(definition, root, role, found);
    }
}

/// Judges a tree that stands nowhere.
pub fn judge_tree(definition: &Definition, root: &Node<'_>, role: Option<&Name>) -> Vec<Diagnostic> {
    let mut numbered = root.clone();
    number(&mut numbered, &mut 0);
    let mut found = Found::default();
    judge(definition, &numbered, role, &mut found);
    found.place(&Places::Noted(Vec::new()))
}

/// Gives every value a place of its own: broken ones are told apart by it.
fn number(node: &mut Node<'_>, next: &mut u32) {
    *next += 1;
    node.at = *next;
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| number(item, next)),
        Value::Map(entries) => {
            for entry in entries {
                *next += 1;
                entry.at = *next;
                number(&mut entry.node, next);
            }
        }
        _ => {}
    }
}
