//! Every contract against what its source writes down: formats/ holds the fields, which of them are needed, the words and the limits.

use serde_json::Value as Json;

use super::*;
use crate::cases::dialect;

/// One file for each source: `# contract`, a line for each field, `>` and a role where it takes one before a line of the
/// template. `<word> =` stands for what is said more than once.
const SOURCES: [&str; 5] = [
    include_str!("formats/build-plan.txt"),
    include_str!("formats/decree.txt"),
    include_str!("formats/supervisor.txt"),
    include_str!("formats/team.txt"),
    include_str!("formats/workrail.txt"),
];

/// What a schema writes for a form of text, and the word for it.
const FORMS: [(&str, &str); 7] = [
    (r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?", "{time}"),
    (r"[0-9]{4}-[0-9]{2}-[0-9]{2}_[a-z0-9]+(-[a-z0-9]+)*", "{date}_{slug}"),
    (r"[\s\S]*\S[\s\S]*", "{text}"),
    ("[1-9][0-9]*", "{count}"),
    ("[0-9]+", "{number}"),
    ("[a-z0-9_-]+", "{id}"),
    ("(—|–|--?)", "—"),
];

/// A schema in one line for each field: its path, `?` where it may be left out, and what it may be.
struct Lines<'s> {
    definitions: &'s Json,
    lines: Vec<String>,
}

impl<'s> Lines<'s> {
    fn of(schema: &'s Json) -> Vec<String> {
        let mut lines = Self { definitions: &schema["$defs"], lines: Vec::new() };
        let word = lines.word("", schema);
        lines.lines.push(format!("(whole): {word}"));
        lines.lines.sort();
        lines.lines
    }

    fn word(&mut self, path: &str, schema: &'s Json) -> String {
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.rsplit('/').next().expect("a name");
            return self.word(path, &self.definitions[name]);
        }
        if let Some(word) = schema.get("const") {
            return format!("= {}", plain(word));
        }
        if let Some(words) = schema["enum"].as_array() {
            return words.iter().map(plain).collect::<Vec<_>>().join(" | ");
        }
        if let Some(any) = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array()) {
            let words: Vec<String> = any.iter().map(|one| self.word(path, one)).collect();
            return words.join(" | ").replace("= ", "");
        }
        let types: Vec<&str> = match &schema["type"] {
            Json::Array(types) => types.iter().filter_map(Json::as_str).collect(),
            one => one.as_str().into_iter().collect(),
        };
        let words: Vec<String> = types.iter().map(|of| self.plain_type(of, path, schema)).collect();
        if words.is_empty() { "any".to_owned() } else { words.join(" | ") }
    }

    fn plain_type(&mut self, of: &str, path: &str, schema: &'s Json) -> String {
        match of {
            "string" => text(schema),
            "integer" => format!("int{}", range(schema, "minimum", "maximum", 0)),
            "number" => format!("number{}", range(schema, "minimum", "maximum", i64::MIN)),
            "array" => {
                let unique = if schema["uniqueItems"] == true { " unique" } else { "" };
                let range = range(schema, "minItems", "maxItems", 0);
                format!("list{range}{unique} of {}", self.word(&format!("{path}[]"), &schema["items"]))
            }
            "object" if schema["properties"].is_object() => {
                let needed: Vec<&str> =
                    schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
                for (name, of) in schema["properties"].as_object().into_iter().flatten() {
                    let inside = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    let may = if needed.contains(&name.as_str()) { "" } else { "?" };
                    let word = self.word(&inside, of);
                    self.lines.push(format!("{inside}{may}: {word}"));
                }
                if schema["additionalProperties"] == false { "record".to_owned() } else { "open record".to_owned() }
            }
            "object" => {
                let keys = schema["propertyNames"]["pattern"].as_str().map(|form| format!(" by {}", written(form)));
                let range = range(schema, "minProperties", "maxProperties", 0);
                let of = self.word(&format!("{path}{{}}"), &schema["additionalProperties"]);
                format!("map{range}{} of {of}", keys.unwrap_or_default())
            }
            other => other.to_owned(),
        }
    }
}

fn plain(word: &Json) -> String {
    word.as_str().map_or_else(|| word.to_string(), str::to_owned)
}

fn text(schema: &Json) -> String {
    let like = schema["pattern"].as_str().map(|form| format!(" like {}", written(form)));
    let never = schema["not"]["enum"].as_array().map(|words| words.iter().map(plain).collect::<Vec<_>>().join(", "));
    let never = never.map(|words| format!(" not {words}"));
    format!(
        "text{}{}{}",
        range(schema, "minLength", "maxLength", 1),
        like.unwrap_or_default(),
        never.unwrap_or_default()
    )
}

/// A form of text as the language of contracts writes it.
fn written(form: &str) -> String {
    FORMS
        .iter()
        .fold(form.to_owned(), |form, (said, word)| form.replace(said, word))
        .trim_matches(['^', '$'])
        .replace('|', " | ")
}

/// Bounds, where they are not the usual ones.
fn range(schema: &Json, min: &str, max: &str, usual: i64) -> String {
    let bound = |key: &str| schema[key].as_i64();
    let min = bound(min).filter(|min| *min != usual).map(|min| min.to_string());
    let max = bound(max).map(|max| max.to_string());
    if min.is_none() && max.is_none() {
        return String::new();
    }
    format!(" {}..{}", min.unwrap_or_default(), max.unwrap_or_default())
}

/// A contract as its source writes it: its fields, and the lines of its template with the role that sees them.
struct Written {
    id: &'static str,
    fields: Vec<String>,
    lines: Vec<(&'static str, &'static str)>,
}

fn sources() -> Vec<Written> {
    let mut all: Vec<Written> = Vec::new();
    for source in SOURCES {
        let mut words: Vec<(&str, &str)> = Vec::new();
        for line in source.lines().filter(|line| !line.is_empty()) {
            if let Some(id) = line.strip_prefix("# ") {
                all.push(Written { id, fields: Vec::new(), lines: Vec::new() });
            } else if line.starts_with('<') {
                words.push(line.split_once(" = ").expect(line));
            } else if let Some(line) = line.strip_prefix('>') {
                all.last_mut().expect(line).lines.push(line.split_once(' ').expect(line));
            } else {
                let full = words.iter().fold(line.to_owned(), |line, (word, full)| line.replace(word, full));
                all.last_mut().expect(line).fields.push(full);
            }
        }
    }
    all
}

fn schema(id: &str) -> Json {
    dialect(id).format().schema()
}

fn template(id: &str, role: &str) -> String {
    let part = tollgate_core::report::Part::parse(role);
    let context = Context { role: (!role.is_empty()).then(|| role.into()), part, ..Context::default() };
    dialect(id).format().template(&context)
}

#[test]
fn each_contract_has_the_fields_words_and_limits_of_its_source() {
    let sources = sources();
    for id in registry::all() {
        let written = sources.iter().find(|one| id.split('@').next() == Some(one.id)).expect(id);
        let is = Lines::of(&schema(id));
        let lost: Vec<&String> = written.fields.iter().filter(|line| !is.contains(line)).collect();
        let new: Vec<&String> = is.iter().filter(|line| !written.fields.contains(line)).collect();
        assert!(lost.is_empty() && new.is_empty(), "{id}\n  its source writes: {lost:#?}\n  it has: {new:#?}");
    }
    assert_eq!(sources.len(), registry::all().count());
}

#[test]
fn each_template_has_the_headings_and_labels_of_its_source() {
    for written in sources() {
        for role in ["", "checker", "reviewer", "tester"] {
            let template = template(written.id, role);
            let mut rest = &template[..];
            for (_, line) in written.lines.iter().filter(|(whose, _)| *whose == role) {
                let at = rest.find(line).unwrap_or_else(|| panic!("{} {role}: no {line:?} in\n{rest}", written.id));
                rest = &rest[at + line.len()..];
            }
        }
    }
}
