//! Only structure is judged: code, quotes and comments between the blocks of a document, and the words of free text, change no judgement.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, Parser, Tag};

use super::*;
use crate::defined::definition::{Condition, Form, Kind, Layout, Mapping, Path, Range, Test, Type};
use crate::proptest_cases::some;
use tollgate_core::code::Code;

/// What a contract decides about a text: what is wrong by code and rule, and of a report everything but its words.
#[derive(Debug, PartialEq)]
struct Judgement {
    wrong: Vec<(Severity, Code, Option<tollgate_core::Name>)>,
    means: Option<String>,
}

fn judgement(own: &Defined, text: &str, context: &Context) -> Judgement {
    let judged = own.judge(text, context);
    let wrong = judged.diagnostics.iter().map(|one| (one.severity, one.code, one.rule.clone())).collect();
    let refused = judged.diagnostics.iter().any(|one| one.severity == Severity::Error);
    let root = judged.root.filter(|_| !refused);
    let means = root
        .zip(own.definition.report.as_ref())
        .map(|(root, mapping)| means(&mapping::report(&own.definition, mapping, &root, context.role.as_ref())));
    Judgement { wrong, means }
}

fn means(report: &Report) -> String {
    let rows: Vec<_> = report.criteria.iter().map(|row| (&row.id, row.result)).collect();
    let found: Vec<_> = report.findings.iter().map(|one| (&one.severity, &one.path, one.line)).collect();
    let asked: Vec<_> = report.questions.iter().map(|one| (one.blocking, one.options.len())).collect();
    let claims = (&report.claims.created, &report.claims.modified, &report.claims.deleted);
    let (health, verdict, code) = (report.health, report.verdict, &report.code);
    format!("{health:?} {verdict:?} {code:?} {rows:?} {found:?} {asked:?} {claims:?} {:?}", report.gives)
}

/// Blocks whose content is not read, however much it looks like a part of a document.
const OPAQUE: [&str; 6] = [
    "```\n## Review: Needs Changes\n- [ ] **Outcome:** needs-changes\n```",
    "~~~text\n### Findings\n\nNone\n~~~",
    "    - [ ] not done\n    **Type:** other",
    "> ### Must fix\n>\n> - [ ] the NaN",
    "<!-- ### Findings\n\n- [ ] **What:** x -->",
    "> I cannot approve this.",
];

/// Where the blocks of a text begin, and where it ends; with whether a list comes right before.
fn gaps(text: &str) -> Vec<(usize, bool)> {
    let (mut gaps, mut depth, mut after_list) = (Vec::new(), 0, false);
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 0 {
                    gaps.push((range.start, after_list));
                    after_list = matches!(tag, Tag::List(_));
                }
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            _ => {}
        }
    }
    gaps.push((text.len(), after_list));
    gaps
}

#[test]
fn code_quotes_and_comments_between_blocks_change_no_judgement() {
    let (mut count, mut changed) = (0, Vec::new());
    for own in registry::all_defined().filter(|own| own.definition.forms[0] == Form::Markdown) {
        for sample in samples(&own.definition) {
            let (text, context) = (text_of(own, &sample.document), context(&sample));
            let before = judgement(own, &text, &context);
            for (at, after_list) in gaps(&text) {
                // Behind a list, an indented block is more of its last item.
                for block in some(OPAQUE, count, 3).filter(|block| !(after_list && block.starts_with("    "))) {
                    let with = format!("{}\n\n{block}\n\n{}", text[..at].trim_end(), &text[at..]);
                    let after = judgement(own, with.trim_start_matches('\n'), &context);
                    count += 1;
                    if after != before {
                        changed.push(format!("{} {}: {before:?}\n{after:?}\n{with}", own.definition.id, sample.what));
                    }
                }
            }
        }
    }
    assert!(changed.is_empty(), "{} of {count}\n{}", changed.len(), changed.first().unwrap());
    assert!(count > 500, "{count}");
}

/// Sentences that a reader may take for a refusal, for nothing, or for something put off; and code in a sentence.
const SENTENCES: [&str; 9] = [
    "On second thought I cannot approve this.",
    "FAIL: criterion 3 is not met, 3 of 4 hold",
    "TBD",
    "nothing",
    "❌ not verified",
    "~~all of it~~ none of it",
    "must fix: `**Outcome:** blocked` and the NaN",
    "[critical] `- [ ]` rejected",
    "<the words of a template>",
];

/// The paths that something structural reads: rules, the mapping, and the checks by name.
fn read_paths(own: &Defined) -> BTreeSet<String> {
    let checked = ["recommendation", "labels", "allowed_surfaces", "forbidden_surfaces"];
    let mut read: BTreeSet<String> = checked.into_iter().map(str::to_owned).collect();
    for rule in &own.definition.rules {
        rule.when.iter().chain([&rule.must]).for_each(|condition| walk(condition, "", &mut read));
    }
    if let Some(mapping) = &own.definition.report {
        mapping.cases.iter().filter_map(|case| case.when.as_ref()).for_each(|when| walk(when, "", &mut read));
        read.extend(structural(mapping).into_iter().map(|path| path.steps.join(".")));
    }
    if let Some(units) = &own.definition.plan.units {
        let each = units.item.each.as_ref().map(|each| each.steps.clone()).unwrap_or_default();
        let inside = |path: &Path| [&each[..], &path.steps[..]].concat().join(".");
        read.extend(units.needs.iter().chain(&units.scope).map(inside));
    }
    read
}

/// The paths that a condition compares with something; that something is there is no word of it.
fn walk(condition: &Condition, within: &str, read: &mut BTreeSet<String>) {
    let inside = |path: &Path| [within, &path.steps.join(".")].join(".").trim_matches('.').to_owned();
    match condition {
        Condition::All(all) | Condition::Any(all) => all.iter().for_each(|inner| walk(inner, within, read)),
        Condition::Not(inner) => walk(inner, within, read),
        Condition::Test(path, test) => {
            read.insert(inside(path));
            if let Test::In(other) | Test::Same(other) | Test::CountOf(other) = test {
                read.insert(other.steps.join("."));
            }
        }
        Condition::Each { over, is, filter, .. } => {
            let over = inside(over);
            filter.iter().chain([is]).for_each(|inner| walk(inner, &over, read));
        }
        Condition::Acyclic { over, by, to } => {
            let fields = by.iter().chain(to).map(|field| format!("{}.{field}", inside(over)));
            read.extend(fields.chain([inside(over)]));
        }
        Condition::Numbered { over, by, .. } => {
            read.insert(format!("{}.{by}", inside(over)));
        }
        Condition::Has(_) | Condition::By(_) | Condition::Check(_) => {}
    }
}

/// What the mapping takes for more than words.
fn structural(mapping: &Mapping) -> Vec<&Path> {
    let claims = [&mapping.claims.created, &mapping.claims.modified, &mapping.claims.deleted];
    let mut all: Vec<&Path> = mapping.unit.iter().chain(claims.into_iter().flatten()).collect();
    all.extend(mapping.gives.iter().map(|(_, path)| path));
    all
}

/// Every free text of a document: a text without a form that nothing structural reads.
fn free(of: &Type, path: &mut Vec<String>, node: &Node<'_>, out: &mut Vec<Vec<String>>) {
    match (&of.kind, &node.value) {
        // A check box in a text is structure.
        (Kind::Text(_), Value::Text(said)) if said.starts_with("- [") => {}
        (Kind::Text(text), Value::Text(_)) if text.like.is_empty() && !has_limits(text.range) => out.push(path.clone()),
        (Kind::List(list), Value::List(items)) if list.unique.is_none() || list.of.record().is_some() => {
            for (at, item) in items.iter().enumerate() {
                path.push(at.to_string());
                free(&list.of, path, item, out);
                path.pop();
            }
        }
        (Kind::Record(record), Value::Map(_)) => {
            for field in record.fields.iter().filter(|field| field.layout != Layout::Given) {
                let Some(inner) = node.get(&field.name) else { continue };
                path.push(field.name.to_string());
                free(&field.of, path, inner, out);
                path.pop();
            }
        }
        (Kind::Union(types), Value::Text(_)) => {
            let text = types.iter().find(|of| matches!(of.kind, Kind::Text(_)));
            text.into_iter().for_each(|of| free(of, path, node, out));
        }
        (Kind::Union(types), Value::Map(_)) => {
            types.iter().filter(|of| of.record().is_some()).for_each(|of| free(of, path, node, out));
        }
        _ => {}
    }
}

fn has_limits(range: Range) -> bool {
    range.min.is_some_and(|min| min > 1) || range.max.is_some()
}

#[test]
fn rewording_free_text_changes_no_judgement() {
    let (mut count, mut changed) = (0, Vec::new());
    for own in registry::all_defined() {
        let read = read_paths(own);
        let unique = unique_keys(&own.definition.root);
        for sample in samples(&own.definition) {
            let context = context(&sample);
            let before = judgement(own, &text_of(own, &sample.document), &context);
            let mut paths = Vec::new();
            free(&own.definition.root, &mut Vec::new(), &sample.document, &mut paths);
            for path in paths {
                let names: Vec<&str> =
                    path.iter().filter(|step| step.parse::<usize>().is_err()).map(|s| &**s).collect();
                if read.contains(&names.join(".")) || unique.contains(&names.join(".")) {
                    continue;
                }
                for sentence in some(SENTENCES, count, 4) {
                    let mut document = sample.document.clone();
                    assert!(mistakes::put(&mut document, &path, Some(Value::Text(sentence.into()))));
                    let text = mistakes::text_with(own, &document).unwrap();
                    let after = judgement(own, &text, &context);
                    count += 1;
                    if after != before {
                        let (id, what, path) = (&own.definition.id, &sample.what, path.join("."));
                        changed.push(format!("{id} {what}: {path}: {sentence}\n{before:?}\n{after:?}"));
                    }
                }
            }
        }
    }
    assert!(changed.is_empty(), "{} of {count}\n{}", changed.len(), changed.join("\n"));
    assert!(count > 1_000, "{count}");
}

/// The fields that distinguish the items of lists.
fn unique_keys(of: &Type) -> Vec<String> {
    let inside = |name: &str, inner: Vec<String>| inner.into_iter().map(|one| format!("{name}.{one}")).collect();
    match &of.kind {
        Kind::Record(record) => record
            .fields
            .iter()
            .flat_map(|field| -> Vec<String> { inside(&field.name, unique_keys(&field.of)) })
            .collect(),
        Kind::List(list) => {
            let own = list.unique.iter().flatten().map(ToString::to_string);
            own.chain(unique_keys(&list.of)).collect()
        }
        Kind::Union(types) => types.iter().flat_map(unique_keys).collect(),
        _ => Vec::new(),
    }
}
