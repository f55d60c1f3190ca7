//! What the documents of a contract that is data look like from outside.

use crate::defined::definition::{Definition, Form, Kind, LINES, Layout, RecordType};
use crate::extract::{Heads, Looks, Shape};

/// What documents of a contract look like.
pub fn signature(definition: &Definition) -> Looks {
    let mut looks = Looks::default();
    let Some(root) = definition.root.record() else { return looks };
    for form in &definition.forms {
        match form {
            Form::Json => looks.json = Some(shape(root)),
            Form::Yaml => looks.yaml = Some(shape(root)),
            Form::JsonLines => {
                let lines = definition.root.step(LINES).map(|(of, _)| of);
                looks.lines = lines.and_then(|of| of.item().record()).map(shape);
            }
            Form::Markdown => looks.markdown = Some(heads(definition, root)),
        }
    }
    (looks.lacks, looks.begin) = match looks.markdown.as_ref().map(Heads::line) {
        Some(Some(line)) => (format!("it has no `{line}` heading"), format!("begin the document with `{line}`")),
        Some(None) => ("it has none of the sections of one".to_owned(), "write it as the template shows".to_owned()),
        None => {
            let keys: Vec<String> =
                root.fields.iter().filter(|field| !field.optional).map(|field| format!("`{}`", field.name)).collect();
            ("it has no JSON or YAML with the fields of one".to_owned(), format!("print it with {}", keys.join(", ")))
        }
    };
    if looks.yaml.is_none() && looks.markdown.is_none() {
        looks.lacks = "it has no JSON object with the fields of one".to_owned();
    }
    looks
}

/// The keys of a record.
fn shape(record: &RecordType) -> Shape {
    let mut shape = Shape::default();
    for field in &record.fields {
        shape.known.push(field.name.clone());
        if !field.optional {
            shape.needed.push(field.name.clone());
        }
        if let Kind::Const(word, number) = &field.of.kind {
            let written = if *number { word.to_string() } else { format!("\"{word}\"") };
            shape.consts.push((field.name.clone(), written));
        }
    }
    shape
}

fn heads(definition: &Definition, root: &RecordType) -> Heads {
    match &definition.heading {
        Some(heading) => Heads::Own(heading.clone()),
        None => {
            let needed = root.fields.iter().filter(|field| !field.optional);
            Heads::Sections(
                needed
                    .filter_map(|field| match &field.layout {
                        Layout::Section(names) => Some(names.clone()),
                        _ => None,
                    })
                    .collect(),
            )
        }
    }
}
