//! Reading a definition from YAML: unknown keys, unknown names and impossible rules are errors with their places.

use std::collections::BTreeMap;

use super::conditions::{Scope, resolve};
use super::types::{LABELS, Types};
use super::{
    Definition, Example, Form, Kind, Labels, Layout, ListType, Mapping, Path, PlanMapping, RecordType, Rule, Type,
};
use super::{Field, Items, Range, check, json_schema, mappings, plan};
use crate::Trailing;
use crate::markdown::Heading;
use crate::tree::{self, Node};
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place};
use tollgate_core::yaml::{self, Fields, Problems};

/// The field that holds the lines of a document with one value a line.
pub const LINES: &str = "lines";

/// Reads a definition; `built_in` ones may name checks in code. What is wrong with it otherwise.
///
/// Those that Tollgate brings along are checked by its tests, not each time they are read.
pub fn read(name: &str, text: &str, built_in: bool) -> (Option<Definition>, Vec<Diagnostic>) {
    let node = match yaml::parse(text) {
        Ok(node) => node,
        Err(diagnostic) => return (None, vec![diagnostic]),
    };
    let mut problems = Problems::default();
    let definition = definition(name, &node, built_in, &mut problems);
    if problems.has_errors() {
        return (None, problems.into_list());
    }
    if let Some(definition) = definition.as_ref().filter(|_| !built_in) {
        check::check(definition, &mut problems);
    }
    let sound = !problems.has_errors();
    (definition.filter(|_| sound), problems.into_list())
}

fn definition(name: &str, node: &yaml::Node, built_in: bool, problems: &mut Problems) -> Option<Definition> {
    let mut fields = Fields::open(node, "the contract", problems);
    let own_name = fields.need("contract", problems).and_then(|n| Some((problems.text(n, "`contract`")?, n.place)));
    let version = fields.need("version", problems).and_then(|n| problems.number::<u32>(n, "`version`"));
    if version == Some(0) {
        problems.value(node.place, "the version is 0", "begin with `version: 1`");
    }
    let purpose = fields.need("purpose", problems).and_then(|n| problems.text(n, "`purpose`"));
    let forms = fields.need("form", problems);
    let files = fields.take("files").map(|n| problems.one_or_more(n, "`files`")).unwrap_or_default();
    let roles = fields.take("roles").map(|n| problems.texts(n, "`roles`")).unwrap_or_default();
    for (at, (role, place)) in roles.iter().enumerate() {
        if roles[..at].iter().any(|(known, _)| known == role) {
            problems.value(*place, format!("the role `{role}` is named twice"), "name each role once");
        }
    }
    let roles: Vec<Name> = roles.into_iter().map(|(role, _)| role).collect();
    let heading = fields.take("heading").and_then(|n| Some((heading(n, problems)?, n.place)));
    let closing = fields.take("closing").and_then(|n| problems.text(n, "`closing`"));
    let types = fields.take("types");
    let open = fields.take("open").and_then(|n| problems.bool(n, "`open`")).unwrap_or(false);
    let labels = fields.take("labels").and_then(|n| problems.word(n, "a way to write labels", &LABELS));
    let schema = fields.take("schema");
    let own_fields = match schema {
        Some(_) => fields.take("fields"),
        None => fields.need("fields", problems),
    };
    let rules = fields.take("rules");
    let report = fields.take("report");
    let trailing = fields.take("trailing");
    let plan = fields.take("plan");
    let instructions = fields.take("instructions").and_then(|n| problems.text(n, "`instructions`"));
    let example = fields.need("example", problems);
    fields.close(problems);
    let (own_name, place) = own_name?;
    if &*own_name != name {
        let message = format!("the contract is called `{own_name}`, its file `{name}`");
        problems.value(place, message, "give both the same name");
    }
    let forms = forms.map(|n| problems.some(n, "`form`")).unwrap_or_default();
    let mut read_forms = Vec::new();
    for (form, place) in forms {
        match Form::WORDS.iter().find(|(word, _)| *word == &*form) {
            Some((_, form)) => read_forms.push(*form),
            None => problems.value(place, format!("`{form}` is not a form"), "one of: json, jsonl, yaml, markdown"),
        }
    }
    let types = named(types, problems);
    let (own, open) = match (schema, own_fields) {
        (Some(schema), None) => json_schema::root(schema, problems)?,
        (None, Some(own)) => (types.fields(own, 0, problems), open),
        (Some(schema), Some(_)) => {
            problems.value(schema.place, "there are both `fields` and `schema`", "keep one of them");
            return None;
        }
        (None, None) => return None,
    };
    if let Some((heading, place)) = &heading {
        heading_fits(heading, *place, &own, problems);
    }
    let first = *read_forms.first()?;
    if let Some(field) = own.iter().find(|field| field.checked && first != Form::Markdown) {
        let message = format!("`checked` of `{}` is about the boxes of a Markdown list", field.name);
        problems.value(node.place, message, "take it away: nothing would be checked by it");
    }
    let root = root(own, open, labels.unwrap_or(Labels::Lines), first);
    let scope = Scope { here: &root, root: &root, roles: &roles, built_in };
    let rules = rules.map(|n| problems.entries(n, "the rules")).unwrap_or_default();
    let rules = rules.iter().filter_map(|(key, node)| rule(key, node, scope, problems)).collect();
    let report = report.map(|node| mappings::report(node, scope, problems));
    let trailing = trailing.and_then(|node| read_trailing(node, report.as_ref(), problems)).unwrap_or_default();
    let plan = plan.map_or_else(PlanMapping::default, |node| plan::read(node, scope, problems));
    let example_place = example?.place;
    let example = wrapped(tree::convert_yaml(example?), first);
    Some(Definition {
        name: own_name.clone(),
        id: format!("{own_name}@{}", version?).into(),
        purpose: purpose?.to_string(),
        forms: read_forms,
        files: files.into_iter().map(|(file, _)| file).collect(),
        roles,
        heading: heading.map(|(heading, _)| heading),
        closing,
        trailing,
        root,
        rules,
        report,
        plan,
        instructions: instructions.map(|text| text.to_string()).unwrap_or_default(),
        example,
        example_place,
    })
}

/// What becomes of text after a report; only a contract that can accept has something to refuse it beside.
fn read_trailing(node: &yaml::Node, report: Option<&Mapping>, problems: &mut Problems) -> Option<Trailing> {
    let trailing = problems.word(node, "what becomes of text after a report", &Trailing::WORDS)?;
    let accepts = report.is_some_and(|mapping| mapping.cases.iter().any(|case| case.verdict.accepts()));
    if trailing == Trailing::Refuse && !accepts {
        let message = "`trailing: refuse` is about reports that accept, and no case of `report` does";
        problems.value(node.place, message, "remove it");
    }
    Some(trailing)
}

/// The document of a form with one value a line is its lines.
fn root(fields: Vec<Field>, open: bool, labels: Labels, form: Form) -> Type {
    let record = Type::of(Kind::Record(RecordType { fields, open, labels }));
    if form != Form::JsonLines {
        return record;
    }
    let range = Range { min: Some(1), max: None };
    let list = ListType { of: record, range, unique: None, items: Items::Bullets };
    let lines = Field::new(&LINES.into(), Type::of(Kind::List(Box::new(list))));
    let lines = Field { doc: "One value a line.".to_owned(), ..lines };
    Type::of(Kind::Record(RecordType { fields: vec![lines], open: false, labels }))
}

fn wrapped(node: Node<'static>, form: Form) -> Node<'static> {
    if form != Form::JsonLines {
        return node;
    }
    let entry = tree::Entry { key: LINES.into(), at: 0, node };
    Node::new(tree::Value::Map(vec![entry]))
}

/// How many types a type may be made of.
const PARTS_MAX: usize = 500;

/// Types by name; each may use those before it.
fn named(node: Option<&yaml::Node>, problems: &mut Problems) -> Types {
    let mut types = Types { named: BTreeMap::new() };
    for (key, node) in node.map(|node| problems.entries(node, "`types`")).unwrap_or_default() {
        let Some(of) = types.of(node, 0, problems) else { continue };
        // Types that hold types twice double with each; what is written from them would never end.
        if of.parts() > PARTS_MAX {
            let message = format!("the type `{}` is made of more than {PARTS_MAX} types", key.text);
            problems.value(key.place, message, "use fewer, or smaller ones");
            continue;
        }
        types.named.insert(key.text.clone(), of);
    }
    types
}

fn heading(node: &yaml::Node, problems: &mut Problems) -> Option<Heading> {
    let written = problems.text(node, "`heading`")?;
    let level = written.bytes().take_while(|byte| *byte == b'#').count();
    let words = written[level..].trim();
    if !(1..=5).contains(&level) || words.is_empty() {
        problems.value(node.place, format!("`{written}` is no heading"), "write it as Markdown does: `## Result`");
        return None;
    }
    let (words, hole) = match words.split_once('{') {
        Some((words, hole)) => (words.trim_end(), Some(Name::from(hole.trim_end_matches('}')))),
        None => (words, None),
    };
    Some(Heading { level, words: words.into(), hole })
}

/// Finds a hole that no field fills, and sections that would be taken for the heading.
fn heading_fits(heading: &Heading, place: Place, fields: &[Field], problems: &mut Problems) {
    if let Some(hole) = heading.hole.as_ref().filter(|hole| !fields.iter().any(|field| field.name == **hole)) {
        let message = format!("the heading has a hole for `{hole}`, and no field is called so");
        let known: Vec<&str> = fields.iter().map(|field| &*field.name).collect();
        problems.add(Diagnostic::error(Code::CONTRACT_NAME, place, message).hint(yaml::suggest_word(hole, &known)));
    }
    for field in fields {
        let Layout::Section(titles) = &field.layout else { continue };
        if let Some(title) = titles.iter().find(|title| heading.begins(title)) {
            let message = format!("the section `{title}` begins like the heading of the document");
            problems.value(place, message, "give one of the two other words");
        }
    }
}

fn rule(key: &yaml::Key, node: &yaml::Node, scope: Scope<'_>, problems: &mut Problems) -> Option<Rule> {
    let mut fields = Fields::open(node, format!("the rule `{}`", key.text), problems);
    let when = fields.take("when");
    let must = fields.need("must", problems);
    let says = fields.need("says", problems).and_then(|n| problems.text(n, "`says`"));
    let fix = fields.need("fix", problems).and_then(|n| problems.text(n, "`fix`"));
    let at = fields.take("at");
    let warning = fields.take("warning").and_then(|n| problems.bool(n, "`warning`")).unwrap_or(false);
    let good = fields.take("good").map(|n| example(n, scope, problems)).unwrap_or_default();
    let bad = fields.need("bad", problems).map(|n| example(n, scope, problems)).unwrap_or_default();
    fields.close(problems);
    let when = match when {
        Some(node) => Some(scope.condition(node, 0, problems)?),
        None => None,
    };
    let must = scope.condition(must?, 0, problems)?;
    let at = match at {
        Some(node) => {
            let written = problems.text(node, "`at`")?;
            Some(scope.any(&written, node.place, problems)?.0)
        }
        None => None,
    };
    let (says, fix) = (says?.to_string(), fix?.to_string());
    Some(Rule { id: key.text.clone(), place: key.place, when, must, says, fix, at, warning, good, bad })
}

fn example(node: &yaml::Node, scope: Scope<'_>, problems: &mut Problems) -> Example {
    let mut fields = Fields::open(node, "the example", problems);
    let by = fields.take("by").and_then(|n| problems.text(n, "`by`"));
    let set = fields.take("set").map(|n| problems.entries(n, "`set`")).unwrap_or_default();
    let without = fields.take("without").map(|n| problems.one_or_more(n, "`without`")).unwrap_or_default();
    fields.close(problems);
    let mut path = |written: &str, place| {
        // Numbers in a path choose an item of the example; types know no items.
        let names: Vec<&str> = written.split('.').filter(|step| step.parse::<usize>().is_err()).collect();
        let keyed = names.join(".");
        let known = keyed.is_empty()
            || is_map_key(scope.root, &names)
            || resolve(scope.root, &keyed, place, problems).is_some();
        let steps = written.split('.').map(Name::from).collect();
        known.then(|| Path { outer: None, steps, written: written.into(), place })
    };
    let without: Vec<Path> = without.into_iter().filter_map(|(written, place)| path(&written, place)).collect();
    let set: Vec<(Path, Node<'static>)> =
        set.iter().filter_map(|(key, node)| Some((path(&key.text, key.place)?, tree::convert_yaml(node)))).collect();
    Example { place: node.place, by, set, without }
}

/// Whether a path of an example leads to a key of a map, which no type knows.
fn is_map_key(root: &Type, names: &[&str]) -> bool {
    let mut of = root;
    for name in names {
        match (&of.kind, of.step(name)) {
            (Kind::Map(_) | Kind::Any, _) => return true,
            (Kind::Record(record), None) => return record.open,
            (_, Some((next, _))) => of = next,
            (_, None) => return false,
        }
    }
    matches!(of.kind, Kind::Map(_))
}
