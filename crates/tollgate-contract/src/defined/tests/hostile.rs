//! What is cut off never passes, and the diagnostics of a text are bounded. That no text breaks a reader is shown by `fuzz`.

use super::*;

/// What is told last keeps what is said of it: fields beyond the bound are not looked at.
#[test]
fn a_field_beyond_the_last_one_told_mends_nothing() {
    let own = registry::defined("wr.loop_control@1").expect("a contract");
    let definition::Kind::Record(record) = &own.definition.root.kind else { panic!("a record") };
    let odd: String = (0..60).map(|at| format!("\"x{at}\": 1, ")).collect();
    let meant = record.fields[0].name.to_uppercase();
    let judged = |text: &str| own.judge(text, &Context::default()).diagnostics;
    assert!(judged(&format!("{{\"{meant}\": 1}}")).iter().any(|told| told.fix.is_some()), "{meant}");
    let told = judged(&format!("{{{odd}\"{meant}\": 1}}"));
    assert_eq!(told.len(), 50);
    assert!(told.iter().all(|told| told.fix.is_none()), "{told:?}");
}

/// A document that is cut off anywhere has one mistake at most: what is missing behind the cut is no other. Of JSON it has one.
#[test]
fn what_is_cut_off_is_one_mistake() {
    for own in registry::all_defined() {
        let is_json = match own.definition.forms[0] {
            definition::Form::Json => true,
            definition::Form::Markdown => false,
            definition::Form::Yaml | definition::Form::JsonLines => continue,
        };
        let text = guide::example(&own.definition);
        let cuts = text.trim_end().char_indices().map(|(at, _)| &text[..at]);
        for cut in cuts.step_by(crate::proptest_cases::size(3, 1)) {
            let judged = own.judge(cut, &Context::default());
            let errors: Vec<_> = judged.diagnostics.iter().filter(|one| one.severity == Severity::Error).collect();
            assert!(errors.len() == 1 || errors.is_empty() && !is_json, "{errors:#?}\n{cut}");
        }
    }
}

/// What is told is bounded; an error is told all the same, however many warnings stand before it.
#[test]
fn warnings_take_no_place_from_errors() {
    let review = registry::defined("decree.review-rejection").unwrap();
    let example = guide::example(&review.definition);
    let notes: String = (0..6000).map(|at| format!("### Notes {at}\n\nSeen.\n\n")).collect();
    let (heading, rest) = example.split_once("\n\n").unwrap();
    let text = format!("{heading}\n\n{notes}{}", rest.replace("**Fix:** ", ""));
    let judged = review.judge(&text, &Context::default());
    let count = |severity| judged.diagnostics.iter().filter(|one| one.severity == severity).count();
    assert_eq!((count(Severity::Error), count(Severity::Warning)), (1, 50));
}

/// A byte order mark begins a file. A second one is a character of its first line: it is told, and moves no other place.
#[test]
fn a_second_byte_order_mark_moves_no_place() {
    for own in registry::all_defined() {
        let text = guide::example(&own.definition).replacen("\n  \"", "\n  \"odd\": 1,\n  \"", 1).replace('\n', "\r\n");
        let places = |text: &str| -> Vec<_> {
            let judged = own.judge(text, &Context::default());
            judged.diagnostics.iter().map(|one| (one.code, one.place)).filter(|(_, place)| place.line > 1).collect()
        };
        let (one, two) = (places(&format!("\u{feff}{text}")), places(&format!("\u{feff}\u{feff}{text}")));
        assert!(one.iter().all(|place| two.contains(place)), "{}: {one:?} {two:?}", own.definition.id);
    }
}
