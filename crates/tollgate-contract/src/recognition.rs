//! Which contract a file is written in, by its name and what it says.

use crate::defined::Defined;
use crate::defined::definition::{Definition, Form, Kind, LINES, Layout};
use crate::defined::layout::titles;
use crate::text::is_same_name;
use crate::tree::{Node, json, read_yaml};

/// How sure a contract is to be meant; more is surer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sure {
    /// Everything it needs at the top is there: so many things.
    Shape(usize),
    /// A word or a heading that only it has.
    Word,
    /// The file is called so.
    File,
}

/// A text, read as far as it takes to tell contracts apart.
struct Look<'a> {
    file: &'a str,
    /// The document, where it is JSON or YAML.
    tree: Option<Node<'a>>,
    /// The headings, where it is Markdown: level and words.
    titles: Vec<(usize, &'a str)>,
    /// The text, where it would be JSON and is broken: its words are all there is to go by.
    broken: Option<&'a str>,
}

/// The names of the contracts that a file is most likely written in: one, none, or several that cannot be told apart.
pub fn recognise<'d>(file: &str, text: &str, known: impl Iterator<Item = &'d Defined>) -> Vec<&'d str> {
    let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let known: Vec<&Defined> = known.collect();
    let named = |ends: &[&str]| ends.iter().any(|end| file.ends_with(end));
    let yaml = named(&[".yaml", ".yml"]);
    let found = likely(file, text, &known, yaml);
    // What is called otherwise may be YAML where it is nothing else.
    match found.is_empty() && !yaml && !named(&[".md", ".json", ".jsonl"]) {
        true => likely(file, text, &known, true),
        false => found,
    }
}

fn likely<'d>(file: &str, text: &str, known: &[&'d Defined], yaml: bool) -> Vec<&'d str> {
    let bare = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    let (tree, sound) = match bare.starts_with('{') {
        true if file.ends_with(".jsonl") => {
            let lines = json::parse_lines(text);
            (lines.node.and_then(|lines| lines.list()?.first().cloned()), lines.faults.is_empty())
        }
        true => {
            let parsed = json::parse(text);
            (parsed.node, parsed.faults.is_empty())
        }
        false if yaml => (read_yaml(text).node, true),
        false => (None, true),
    };
    let markdown = tree.is_none() && !bare.starts_with('{') && !yaml;
    let broken = (!sound).then_some(text);
    let look = Look { file, tree, titles: if markdown { titles(text) } else { Vec::new() }, broken };
    let mut best: Vec<(Sure, &str)> = Vec::new();
    let coded = look.coded().into_iter();
    for (sure, name) in
        coded.chain(known.iter().filter_map(|own| Some((look.at(&own.definition)?, &*own.definition.name))))
    {
        match best.first().map(|(most, _)| sure.cmp(most)) {
            Some(std::cmp::Ordering::Less) => {}
            Some(std::cmp::Ordering::Equal) => best.push((sure, name)),
            Some(std::cmp::Ordering::Greater) | None => best = vec![(sure, name)],
        }
    }
    best.into_iter().map(|(_, name)| name).collect()
}

impl Look<'_> {
    /// The contracts in code that the headings speak for.
    fn coded(&self) -> Option<(Sure, &'static str)> {
        let has = |level: usize, words: &str| {
            self.titles.iter().any(|(own, title)| *own == level && is_same_name(title, words))
        };
        if has(2, "Status") && has(2, "Abstract") {
            return Some((Sure::Word, "status-block"));
        }
        has(2, "Definition of Done").then_some((Sure::Shape(1), "build-plan.task"))
    }

    fn at(&self, definition: &Definition) -> Option<Sure> {
        let markdown = definition.forms.first() == Some(&Form::Markdown);
        let named = definition.files.iter().any(|file| **file == *self.file);
        match (&self.tree, markdown) {
            _ if named => Some(Sure::File),
            (Some(tree), false) => in_tree(definition, tree).or_else(|| in_broken(definition, self.broken?)),
            (None, true) => self.in_titles(definition),
            (None, false) => self.broken.and_then(|text| in_broken(definition, text)),
            (Some(_), true) => None,
        }
    }

    fn in_titles(&self, definition: &Definition) -> Option<Sure> {
        if let Some(heading) = &definition.heading {
            let found = self.titles.iter().any(|(level, title)| heading.is(*level, title));
            return found.then_some(Sure::Word);
        }
        let needed = definition.root.record()?.fields.iter().filter(|field| !field.optional);
        let names = needed.filter_map(|field| match &field.layout {
            Layout::Section(names) => Some(names),
            Layout::Label(_) | Layout::Head | Layout::Body | Layout::Given => None,
        });
        let names: Vec<_> = names.collect();
        let there = |names: &&Vec<tollgate_core::Name>| {
            let is = |title: &str| names.iter().any(|name| is_same_name(name, title));
            self.titles.iter().any(|(level, title)| *level == 2 && is(title))
        };
        (names.len() > 1 && names.iter().all(there)).then_some(Sure::Shape(names.len()))
    }
}

/// A document that cannot be read is still meant to be one, if it says so.
fn in_broken(definition: &Definition, text: &str) -> Option<Sure> {
    let fields = definition.root.record()?.fields.iter();
    let mut words = fields.filter_map(|field| match &field.of.kind {
        Kind::Const(word, false) => Some(format!("\"{word}\"")),
        _ => None,
    });
    words.any(|word| text.contains(&word)).then_some(Sure::Word)
}

fn in_tree(definition: &Definition, tree: &Node<'_>) -> Option<Sure> {
    let lines = (definition.forms.first() == Some(&Form::JsonLines)).then(|| definition.root.step(LINES)).flatten();
    let record = lines.map_or(&definition.root, |(of, _)| of.item()).record()?;
    let needed: Vec<_> = record.fields.iter().filter(|field| !field.optional).collect();
    let words = record.fields.iter().filter(|field| matches!(field.of.kind, Kind::Const(_, false)));
    let mut word = false;
    for field in words {
        let Kind::Const(known, _) = &field.of.kind else { continue };
        match tree.get(&field.name).and_then(Node::text) {
            Some(said) if *said == **known => word = true,
            Some(_) => return None,
            None => {}
        }
    }
    if word {
        return Some(Sure::Word);
    }
    let all = needed.iter().all(|field| tree.get(&field.name).is_some());
    (all && !needed.is_empty()).then_some(Sure::Shape(needed.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::defined::guide;
    use crate::registry;

    #[test]
    fn every_example_is_known_by_what_it_says() {
        for own in registry::all_defined() {
            let text = guide::example(&own.definition);
            let extension = match own.definition.forms[0] {
                Form::Json => "json",
                Form::JsonLines => "jsonl",
                Form::Yaml => "yaml",
                Form::Markdown => "md",
            };
            let found = recognise(&format!("some/file.{extension}"), &text, registry::all_defined());
            assert_eq!(found, [&*own.definition.name], "{text}");
            // A file may be called anything, or nothing.
            for file in ["some/file.txt", "-"].iter().filter(|_| extension != "jsonl") {
                assert_eq!(recognise(file, &text, registry::all_defined()), [&*own.definition.name], "{file}");
            }
            for file in &own.definition.files {
                assert_eq!(recognise(&format!("a/{file}"), "", registry::all_defined()), [&*own.definition.name]);
            }
        }
    }

    #[test]
    fn contracts_in_code_are_known_and_nonsense_is_not() {
        let known = |file: &str, text: &str| recognise(file, text, registry::all_defined()).join(" ");
        assert_eq!(known("a.md", "## Status\ncomplete\n## Abstract\n"), "status-block");
        assert_eq!(known("a.json", "{\"kind\": \"wr.council\", \"dissents\": ["), "wr.council", "cut off");
        assert_eq!(known("task.md", "# T\n## Definition of Done\n- a\n"), "build-plan.task");
        for nothing in ["", "hello", "{}", "{\"a\": 1}", "# Title\n", "[1]", "{\"kind\": \"wr.other\"}"] {
            assert_eq!(known("a.md", nothing), "", "{nothing}");
        }
    }
}
