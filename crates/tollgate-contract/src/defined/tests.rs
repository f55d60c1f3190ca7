//! Every contract that is data: its definition is sound, its examples are what they say, and each mistake gives one error.

use crate::defined::Defined;
use crate::defined::definition::{self, Definition, Sample, samples};
use crate::tree::{Node, Value};
use crate::{Context, registry};
use tollgate_core::diagnostic::{Diagnostic, Severity};

mod evasions;
mod formats;
mod generate;
mod hostile;
mod meaning;
mod mistakes;
mod pairs;
mod structure;
mod yaml;

fn context(sample: &Sample<'_>) -> Context {
    let labels = sample.document.get("labels").and_then(Node::list);
    let labels = labels.map(|labels| labels.iter().filter_map(Node::word).map(Into::into).collect());
    Context { role: sample.by.clone(), labels, ..Context::default() }
}

fn told(diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics.iter().map(|d| format!("{}:{} {} {}", d.place.line, d.place.column, d.code, d.message)).collect()
}

/// A text for a document, whether or not its rules hold.
fn text_of(own: &Defined, document: &Node<'_>) -> String {
    own.write(document).unwrap_or_else(|why| panic!("{}: {why}", own.definition.id))
}

#[test]
fn each_definition_is_sound() {
    for (name, text) in registry::sources() {
        let (read, problems) = definition::read(name, text, true);
        assert!(problems.is_empty(), "{name}: {problems:#?}");
        let wrong = definition::faults(&read.expect("a definition"));
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
    }
}

#[test]
fn each_example_says_what_it_should_where_it_stands() {
    for own in registry::all_defined() {
        for sample in samples(&own.definition) {
            let text = text_of(own, &sample.document);
            let judged = own.judge(&text, &context(&sample));
            let what = format!("{} {}: {:?}\n{text}", own.definition.id, sample.what, told(&judged.diagnostics));
            match sample.breaks {
                None => assert!(judged.diagnostics.is_empty(), "{what}"),
                Some(rule) => {
                    assert!(!judged.diagnostics.is_empty(), "{what}");
                    assert!(judged.diagnostics.iter().all(|d| d.rule.as_ref() == Some(rule)), "{what}");
                    assert!(
                        judged
                            .diagnostics
                            .iter()
                            .all(|d| d.place.line > 0 && d.place.column > 0 || !text.contains('{')),
                        "{what}"
                    );
                }
            }
        }
    }
}

/// Whether a report means what its cases say is a matter of its example; the words are checked by the table below.
#[test]
fn half_of_the_contracts_need_no_code() {
    let with_code =
        |definition: &Definition| definition.rules.iter().any(|rule| format!("{:?}", rule.must).contains("Check("));
    let all = registry::all_defined().count();
    let coded = registry::all_defined().filter(|own| with_code(&own.definition)).count();
    assert!(coded * 2 <= all, "{coded} of {all}");
}
