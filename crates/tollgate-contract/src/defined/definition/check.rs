//! What can never be meant: rules that do nothing, documents without a meaning, examples that show something else.

use std::collections::BTreeSet;

use super::satisfiable::{first_to_hold, is_beyond, worlds};
use super::{Condition, Definition, Form, Mapping, Rule, samples};
use crate::defined::judge::{Eval, judge_tree};
use crate::defined::plan;
use crate::defined::render::render;
use crate::tree::Node;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place, Severity};
use tollgate_core::yaml::Problems;

/// Everything that is wrong with a definition that could be read.
pub fn faults(definition: &Definition) -> Vec<Diagnostic> {
    let mut problems = Problems::default();
    check(definition, &mut problems);
    problems.into_list()
}

/// Adds everything that is wrong with a definition that could be read.
pub fn check(definition: &Definition, problems: &mut Problems) {
    for rule in &definition.rules {
        idle(rule, definition, problems);
    }
    if let Some(mapping) = &definition.report {
        total(mapping, definition, problems);
    }
    examples(definition, problems);
}

/// Finds rules that never fail, never hold, or never apply.
fn idle(rule: &Rule, definition: &Definition, problems: &mut Problems) {
    let (mut applies, mut holds, mut fails) = (false, false, false);
    let conditions: Vec<&Condition> = rule.when.iter().chain([&rule.must]).collect();
    let tried = worlds(&conditions, &definition.root, |world| {
        if rule.when.as_ref().is_none_or(|when| world.holds(when) == Some(true)) {
            applies = true;
            let good = world.holds(&rule.must);
            holds |= good == Some(true);
            fails |= good == Some(false);
        }
    });
    let what = match (tried, applies, holds, fails) {
        (false, ..) | (true, true, true, true) if !is_beyond(&conditions, &definition.root) => return,
        (false, ..) | (true, true, true, true) if is_shown(rule, definition) => return,
        (false, ..) | (true, true, true, true) => "is kept by no example that it applies to: maybe it can never hold",
        (true, false, ..) => "never applies: its `when` cannot be true",
        (true, true, false, _) => "can never hold: every document would be refused",
        (true, true, true, false) => "can never fail: it guards nothing",
    };
    let hint = match what.starts_with("is kept") {
        true => "correct its condition, or give it a `good` example that its `when` is true of",
        false => "correct its condition, or take it away",
    };
    let message = format!("the rule `{}` {what}", rule.id);
    problems.add(Diagnostic::error(Code::RULE_IDLE, rule.place, message).hint(hint));
}

/// Whether one of the examples is a document that a rule applies to and that keeps it.
fn is_shown(rule: &Rule, definition: &Definition) -> bool {
    let none = BTreeSet::new();
    samples(definition).iter().any(|sample| {
        let eval = Eval::new(definition, &sample.document, sample.by.as_ref(), &none);
        let applies = rule.when.as_ref().is_none_or(|when| eval.holds(when) == Some(true));
        applies && eval.holds(&rule.must) == Some(true)
    })
}

/// Finds documents without a case, and cases that are never reached.
fn total(mapping: &Mapping, definition: &Definition, problems: &mut Problems) {
    let conditions: Vec<Option<&Condition>> = mapping.cases.iter().map(|case| case.when.as_ref()).collect();
    let tried = first_to_hold(&conditions, &definition.root);
    let message = match &tried {
        Some((_, None)) => None,
        // Only words, numbers and sizes have a name.
        Some((_, Some(words))) if words.is_empty() => {
            Some("no case of the mapping need apply: each of their conditions may fail".to_owned())
        }
        Some((_, Some(words))) => Some(format!("no case of the mapping applies to: {words}")),
        None if mapping.cases.last().is_some_and(|case| case.when.is_none()) => None,
        None => {
            let why = "its cases ask for more combinations than can be tried";
            Some(format!("whether the mapping has a case for every document is not known: {why}"))
        }
    };
    if let Some(message) = message {
        let place = mapping.cases.last().map_or(Place::default(), |case| case.place);
        let hint = match tried {
            Some(_) => "add a case for it, or a last case without `when`",
            None => "add a last case without `when`",
        };
        problems.add(Diagnostic::error(Code::NOT_MAPPED, place, message).hint(hint));
    }
    let Some((first, _)) = tried else { return };
    for (at, case) in mapping.cases.iter().enumerate().filter(|(at, _)| !first.contains_key(at)) {
        let message = format!("case {} of the mapping is never reached", at + 1);
        let hint = "a case before it holds whenever it does";
        problems.add(Diagnostic::error(Code::NOT_MAPPED, case.place, message).hint(hint));
    }
}

/// What is said of a document once it is written down, where it cannot be what its tree says.
fn unread(definition: &Definition, document: &Node<'_>) -> Option<String> {
    if definition.forms.first() != Some(&Form::Markdown) {
        return None;
    }
    render(definition, document).err()
}

/// Finds examples that are not what they are said to be.
fn examples(definition: &Definition, problems: &mut Problems) {
    for sample in samples(definition) {
        let mut found = judge_tree(definition, &sample.document, sample.by.as_ref());
        if found.is_empty() {
            found = plan::faults(definition, &sample.document);
        }
        let wrong = found
            .iter()
            .find(|d| d.rule.as_ref() != sample.breaks || d.severity == Severity::Error && sample.breaks.is_none());
        let wrong = wrong.filter(|d| sample.breaks.is_some() || d.severity == Severity::Error);
        let mut hint = "correct the example";
        let message = match (wrong, sample.breaks) {
            (Some(other), _) => format!("{} is wrong in another way: {}", sample.what, other.message),
            (None, Some(rule)) if found.is_empty() => format!("{} does not break the rule `{rule}`", sample.what),
            (None, _) => match unread(definition, &sample.document) {
                Some(why) => {
                    hint = "give each field a label, a section or the hole of the heading that no other field has";
                    format!("{} is not read as it is written: {why}", sample.what)
                }
                None => continue,
            },
        };
        problems.add(Diagnostic::error(Code::CONTRACT_EXAMPLE, sample.place, message).hint(hint));
    }
}
