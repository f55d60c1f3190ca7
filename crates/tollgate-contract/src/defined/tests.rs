//! Every contract that is data: its definition is sound, its examples are what they say, and each mistake gives one error.
//!
//! A script of `tests/*.txt` names a contract, and who reports (`by`) or the labels of an issue where that matters. The document is
//! its example with changes (`set PATH JSON`, `without PATH`, `with A => B`), or follows after an empty line; `tree` asks how it was read, `plan` what it
//! brings into the ledger.

use crate::cases::{context, dialect};
use crate::defined::Defined;
use crate::defined::definition::{self, samples};
use crate::defined::{guide, mapping};
use crate::tree::{Node, Value, json, json_line};
use crate::{Context, registry};
use tollgate_core::Name;
use tollgate_core::diagnostic::{Diagnostic, Severity};
use tollgate_core::report::{FindingReport, Report};

mod formats;
mod generate;
mod hostile;
mod meaning;
mod mistakes;
mod pairs;
mod plan;
mod structure;
mod yaml;

fn told(diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics.iter().map(|d| format!("{}:{} {} {}", d.place.line, d.place.column, d.code, d.message)).collect()
}

/// A text for a document, whether or not its rules hold.
fn text_of(own: &Defined, document: &Node<'_>) -> String {
    own.write(document).unwrap_or_else(|why| panic!("{}: {why}", own.definition.id))
}

/// The contract of `tests/result.yaml`: Markdown of every layout.
pub const RESULT: &str = include_str!("tests/result.yaml");

/// A contract of a file beside the tests, a definition without a fault.
fn contract(name: &str) -> Defined {
    let text = match name {
        "t.plan" => include_str!("definition/tests/plan.yaml"),
        "t.asks" => include_str!("definition/tests/asks.yaml"),
        _ => RESULT,
    };
    let (definition, problems) = definition::read(name, text, false);
    assert!(problems.is_empty(), "{problems:?}");
    Defined { definition: definition.expect("a definition") }
}

/// The contract of `tests/result.yaml`.
pub fn result() -> Defined {
    contract("t.result")
}

/// What a report means, what is wrong with a document, and how it was read.
fn answer(script: &str) -> String {
    let (head, text) = script.split_once("\n\n").unwrap_or((script, ""));
    let id = head.lines().next().unwrap_or_default();
    let test = contract(if id.starts_with("t.") { id } else { "t.result" });
    let own = registry::defined(id).unwrap_or(&test);
    let (mut context, mut shows, mut document) = (Context::default(), "", own.definition.example.clone());
    let (mut text, others) =
        crate::cases::changed(&if text.is_empty() { guide::example(&own.definition) } else { text.to_owned() }, head);
    for line in others.iter().skip(1) {
        match line.split_once(' ') {
            Some(("set" | "without", change)) => {
                let (path, value) = change.split_once(' ').unwrap_or((change, ""));
                let steps: Vec<Name> = path.split('.').map(Into::into).collect();
                definition::put(&mut document, &steps, json::read(value).ok().map(Node::into_owned).as_ref());
                text = mistakes::text_with(own, &document).expect(line);
            }
            Some(("by", role)) => context.role = Some(role.into()),
            Some(("labels", labels)) => context.labels = Some(labels.split_terminator(',').map(Into::into).collect()),
            _ => shows = line,
        }
    }
    let judged = own.judge(&text, &context);
    let refused = judged.diagnostics.iter().any(|one| one.severity == Severity::Error);
    let mut lines = Vec::new();
    if let (Some(root), Some(map), false) = (&judged.root, &own.definition.report, refused) {
        lines.extend(meaning(&mapping::report(&own.definition, map, root, context.role.as_ref())));
    }
    lines.extend(judged.diagnostics.iter().map(crate::cases::line));
    lines.extend(judged.root.filter(|_| shows == "tree").map(|root| json_line(&root)));
    if shows == "plan" && !refused {
        lines.extend(plan::lines(&judged.plan));
    }
    if lines.is_empty() { "good".to_owned() } else { lines.join("\n") }
}

/// The pair of health and verdict, how many criteria and questions there are, what is recommended, and the findings.
fn meaning(report: &Report) -> Vec<String> {
    let code = report.code.as_ref().map(|code| format!(".{code}")).unwrap_or_default();
    let criteria = if report.criteria.is_empty() { String::new() } else { format!(" {}c", report.criteria.len()) };
    let asked =
        report.questions.iter().map(|question| if question.blocking { " ?!" } else { " ?" }).collect::<String>();
    let pair = format!("{}{code}/{}{criteria}{asked}", report.health.word(), report.verdict.word());
    let finding = |one: &FindingReport| {
        format!("finding {}: {}", one.criterion.as_deref().or(one.category.as_deref()).unwrap_or("-"), one.what)
    };
    let findings = report.findings.iter().map(finding);
    let proposed = report.questions.iter().filter_map(|question| {
        let reason = question.reason.as_ref().map(|reason| format!(", because: {reason}")).unwrap_or_default();
        question.recommendation.as_ref().map(|one| format!("of {}: {one}{reason}", question.options.join(" | ")))
    });
    [pair].into_iter().chain(proposed).chain(findings).chain(report.notices.iter().map(plan::notice)).collect()
}

#[test]
fn cases() {
    for file in ["documents", "markdown", "meaning", "plan"] {
        crate::cases::check(&format!("defined/tests/{file}.txt"), answer);
    }
}

#[test]
fn a_template_is_no_document() {
    let context = Context::default();
    for id in registry::all() {
        let own = dialect(id);
        let template = own.format().template(&context);
        let told = own.read(&template, &context).diagnostics().to_vec();
        assert!(told.iter().any(|one| one.severity == Severity::Error), "{id}\n{template}");
    }
    let review = registry::defined("decree.review-approval").unwrap();
    let template = guide::template(&review.definition);
    let filled = template.lines().map(|line| match line.starts_with('<') {
        true => "None\n".to_owned(),
        false => format!("{line}\n"),
    });
    let told = review.judge(&filled.collect::<String>(), &Context::default()).diagnostics;
    assert_eq!(told.len(), 6, "each line of the checklist is reported: {told:?}");
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
