//! The first mistake hides no second: two mistakes in two places of a good document are both told, in every contract.

use super::mistakes::{Mistake, all, put, text_with};
use super::*;
use crate::proptest_cases;
use tollgate_core::code::Code;

/// Whether two mistakes are in two places: neither is made inside of what the other changes.
fn are_apart(one: &Mistake, other: &Mistake) -> bool {
    !one.path.starts_with(&other.path) && !other.path.starts_with(&one.path)
}

fn errors(own: &Defined, document: &Node<'static>) -> Option<Vec<(String, String)>> {
    let text = text_with(own, document)?;
    let judged = own.judge(&text, &Context::default());
    let errors = judged.diagnostics.into_iter().filter(|one| one.severity == Severity::Error);
    Some(errors.map(|one| (one.code.to_string(), one.message)).collect())
}

/// Whether a mistake leaves nothing where something was: at the end of a text that is a cut.
fn is_gap(mistake: &Mistake) -> bool {
    mistake.value.is_none() || mistake.what.ends_with("is blank") || mistake.what.ends_with("is empty")
}

#[test]
fn two_mistakes_are_two_errors() {
    let (mut count, mut hidden) = (0, Vec::new());
    for own in registry::all_defined() {
        let all: Vec<_> = all(own).into_iter().filter_map(|one| Some((errors(own, &one.document)?, one))).collect();
        let pairs: Vec<_> = (0..all.len())
            .flat_map(|at| all[at + 1..].iter().map(move |other| (at, other)))
            .map(|(at, other)| (&all[at], other))
            .filter(|(one, other)| are_apart(&one.1, &other.1))
            .collect();
        // A sample of them, the same each time.
        let step = 1 + pairs.len() / usize::try_from(proptest_cases::few(40).cases).unwrap();
        for ((first, one), (second, other)) in pairs.into_iter().step_by(step) {
            let mut both = one.document.clone();
            let Some(told) = put(&mut both, &other.path, other.value.clone()).then(|| errors(own, &both)).flatten()
            else {
                continue;
            };
            count += 1;
            let is_cut = told.len() == 1 && told[0].0 == Code::REPORT_CUT_OFF.as_str() && is_gap(one) && is_gap(other);
            let is_told = first.iter().chain(second).all(|one| told.contains(one));
            if !is_cut && (!is_told || told.len() != first.len() + second.len()) {
                hidden.push(format!("{}: {}, {}: {told:?}", own.definition.id, one.what, other.what));
            }
        }
    }
    assert!(hidden.is_empty(), "{} of {count}\n{}", hidden.len(), hidden.join("\n"));
    assert!(count > 1_000, "{count}");
}
