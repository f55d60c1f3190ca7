//! The page of a contract in docs/contracts/.

use super::{example, fenced, language, phrases, plan, template, write};
use crate::defined::definition::{CodeMap, Definition, Form, Kind, Mapping, Rule, Sample, Type, samples};
use crate::tree::{Node, Value};
use tollgate_core::code::Code;

/// The whole page.
pub fn page(definition: &Definition) -> String {
    let mut out = format!("# {}\n\n{}\n\n", definition.id, definition.purpose);
    let forms: Vec<&str> = definition.forms.iter().map(|form| form.word()).collect();
    out.push_str(&format!("Form: {}.", forms.join(" or ")));
    if !definition.files.is_empty() {
        let files: Vec<String> = definition.files.iter().map(|file| format!("`{file}`")).collect();
        out.push_str(&format!(" Files called {} are such documents.", files.join(", ")));
    }
    out.push_str(&format!(" Schema: `docs/schemas/{}.schema.json`.\n\n", definition.name));
    out.push_str(&format!("## Example\n\n{}\n", fenced(language(definition), &example(definition))));
    out.push_str(&format!("## Fields\n\n{}\n", fields(definition)));
    if let Some(mapping) = &definition.report {
        out.push_str(&format!("## What it means\n\n{}\n", meaning(mapping)));
    }
    let planned = plan::lines(definition);
    if !planned.is_empty() {
        out.push_str(&format!("## What it plans\n\n{planned}\n"));
    }
    out.push_str("## Rules\n\n");
    out.push_str(&format!(
        "Each value is checked by its field: {}. Rules over several fields are `{}`.\n",
        types(definition),
        Code::RULE_BROKEN
    ));
    let shown = samples(definition);
    for rule in &definition.rules {
        out.push_str(&self::rule(definition, rule, &shown));
    }
    out.push_str(&format!("\n## Template\n\n{}", fenced(language(definition), &template(definition))));
    out
}

fn types(definition: &Definition) -> String {
    let syntax = match definition.forms.first() {
        Some(Form::Markdown) => {
            "sections and labels (`TG0204`, `TG0205`, `TG0206`, `TG0207`, `TG0208`, `TG0225`, `TG0241`), one document (`TG0256`)"
        }
        Some(Form::Yaml) => "YAML (`TG0100`, `TG0101`, `TG0102`)",
        Some(Form::Json | Form::JsonLines) | None => "JSON (`TG0240`, `TG0241`, `TG0250`, `TG0208`, `TG0256`)",
    };
    format!(
        "{syntax}, presence (`TG0242`, `TG0243`), kind (`TG0244`), words (`TG0245`), limits in characters (`TG0246`), form (`TG0247`), no item twice (`TG0248`)"
    )
}

fn fields(definition: &Definition) -> String {
    let markdown = definition.forms.first() == Some(&Form::Markdown);
    let mut out = String::from(if markdown {
        "| field | where | type | needed | says |\n|---|---|---|---|---|\n"
    } else {
        "| field | type | needed | says |\n|---|---|---|---|\n"
    });
    rows(&definition.root, "", markdown, &mut out);
    out
}

fn rows(of: &Type, prefix: &str, markdown: bool, out: &mut String) {
    let Some(record) = of.record() else { return };
    for field in &record.fields {
        let name = format!("{prefix}{}", field.name);
        let place = if markdown { format!(" {} |", phrases::layout(field)) } else { String::new() };
        let needed = match (field.unasked, field.optional) {
            (true, _) => "not asked for",
            (false, true) => "no",
            (false, false) => "yes",
        };
        let what = field.of.describe().replace('|', "\\|");
        out.push_str(&format!("| `{name}` |{place} {what} | {needed} | {} |\n", field.doc.replace('|', "\\|")));
        let (inner, sign) = match &field.of.kind {
            Kind::List(list) => (&list.of, "[]."),
            Kind::Map(map) => (&map.of, ".*."),
            _ => (&field.of, "."),
        };
        rows(inner, &format!("{name}{sign}"), markdown, out);
    }
}

fn meaning(mapping: &Mapping) -> String {
    let mut out = String::from("The first row that applies counts.\n\n| when | health | verdict |\n|---|---|---|\n");
    for case in &mapping.cases {
        let when = case.when.as_ref().map_or_else(|| "otherwise".to_owned(), phrases::condition);
        let code = match &case.code {
            Some(CodeMap::Word(word)) => format!(".{word}"),
            Some(CodeMap::Field(path, _)) => format!(" with the code in `{}`", path.written),
            None => String::new(),
        };
        out.push_str(&format!(
            "| {} | {}{code} | {} |\n",
            when.replace('|', "\\|"),
            case.health.word(),
            case.verdict.word()
        ));
    }
    out
}

fn rule(definition: &Definition, rule: &Rule, shown: &[Sample<'_>]) -> String {
    let severity = if rule.warning { "Warning" } else { "Error" };
    let mut out = format!(
        "\n### {}\n\n{severity} `{}`: {}. {}.\n",
        rule.id,
        Code::RULE_BROKEN,
        phrases::sentence(&rule.says),
        phrases::sentence(&rule.fix)
    );
    if let Some(when) = &rule.when {
        out.push_str(&format!("\nApplies when {}.\n", phrases::condition(when)));
    }
    let mut read = Vec::new();
    rule.when.iter().chain([&rule.must]).for_each(|condition| condition.paths(&mut read));
    let keys: Vec<&str> = rule
        .good
        .set
        .iter()
        .chain(&rule.bad.set)
        .map(|(path, _)| path)
        .chain(rule.good.without.iter().chain(&rule.bad.without))
        .chain(read)
        .filter_map(|path| path.steps.first().map(|step| &**step))
        .collect();
    for sample in shown.iter().filter(|sample| sample.shows == Some(&rule.id)) {
        let word = if sample.breaks.is_some() { "Bad" } else { "Good" };
        let by = sample.by.as_ref().map(|by| format!(", said by `{by}`")).unwrap_or_default();
        out.push_str(&format!("\n{word}{by}:\n{}", block(definition, &part(&sample.document, &keys))));
    }
    out
}

/// A part of a document as a reader would write it: its text, and what is given beside it.
fn block(definition: &Definition, part: &Node<'static>) -> String {
    let mut out = String::new();
    let text = write(definition, part);
    if !text.trim().is_empty() {
        out.push_str(&format!("\n{}", fenced(language(definition), &text)));
    }
    let labels = part.get("labels").and_then(Node::list).filter(|_| definition.forms.first() == Some(&Form::Markdown));
    if let Some(labels) = labels {
        let labels: Vec<&str> = labels.iter().filter_map(Node::word).collect();
        out.push_str(&format!("\n`--labels {}`\n", labels.join(",")));
    }
    out
}

/// The fields that an example is about.
fn part(document: &Node<'static>, keys: &[&str]) -> Node<'static> {
    match &document.value {
        Value::Map(entries) if !keys.is_empty() => {
            Node::new(Value::Map(entries.iter().filter(|entry| keys.contains(&&*entry.key)).cloned().collect()))
        }
        _ => document.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::registry;

    /// An example that stands on a page twice shows one of its two rules badly, and an empty one shows nothing.
    #[test]
    fn every_rule_has_an_example_of_its_own() {
        for own in registry::all_defined() {
            let mut seen = BTreeSet::new();
            let shown = samples(&own.definition);
            for rule in &own.definition.rules {
                let text = super::rule(&own.definition, rule, &shown);
                let (_, examples) = text.split_once("\nGood").expect("a good example");
                let (good, bad) = examples.split_once("\nBad").expect("a bad example");
                for (what, block) in [("good", good), ("bad", bad)] {
                    let (_, body) = block.split_once(":\n").expect("an example");
                    assert!(!body.trim().is_empty(), "{} {}: {what} is empty", own.definition.id, rule.id);
                    assert!(seen.insert(block.to_owned()), "{} {}: {what}\n{block}", own.definition.id, rule.id);
                }
            }
        }
    }
}
