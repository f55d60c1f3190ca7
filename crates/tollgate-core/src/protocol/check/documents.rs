//! Documents and projections: their contracts exist and can bring what is wanted of them, and their paths can be filled in.

use std::collections::BTreeSet;

use super::super::artifact::placeholders;
use super::super::condition::Condition;
use super::super::dialects::{Declaration, Dialects};
use super::super::graph::Graph;
use super::super::model::{Artifact, Given, Projection, Protocol, Renderer, Resource, Role, VariableKind};
use super::Breaches;
use crate::Name;
use crate::code::Code;
use crate::diagnostic::Place;
use crate::scope::area_of;
use crate::yaml::suggest;

pub(super) fn check(graph: &Graph<'_>, dialects: &Dialects, breaches: &mut Breaches) {
    let protocol = graph.protocol;
    for (name, artifact) in &protocol.artifacts {
        contract(name, artifact, dialects, breaches);
        if let Some(path) = &artifact.path {
            path_of_tree(protocol, name, path, artifact.place, breaches);
        }
        let of_run = |path| placeholders(path).filter(|word| *word != "run");
        for word in artifact.shown_at.iter().flat_map(|path| of_run(path)) {
            let message = format!("`shown_at` of the artifact `{name}` has `{{{word}}}`, which is not filled in");
            breaches.error(Code::NAME_UNKNOWN, artifact.place, message, "write `{run}`, or the name itself");
        }
    }
    shown_apart(protocol, breaches);
    for (path, projection) in &protocol.projections {
        rendered(path, projection, breaches);
    }
    for (place, condition) in protocol.placed_conditions() {
        if let Condition::Artifact { name, with } = condition
            && let Some(artifact) = protocol.artifacts.get(name)
        {
            with.iter().for_each(|asked| field(name, artifact, asked, place, dialects, breaches));
        }
    }
}

/// People find each document at a place of its own: not at that of another, nor in its folder.
fn shown_apart(protocol: &Protocol, breaches: &mut Breaches) {
    let parts = |path: &str| {
        path.split('/').filter(|part| !matches!(*part, "" | ".")).map(str::to_owned).collect::<Vec<String>>()
    };
    let shown =
        protocol.artifacts.iter().filter_map(|(name, known)| Some((name, known, parts(known.shown_at.as_ref()?))));
    let shown: Vec<_> = shown.collect();
    for (at, (name, artifact, path)) in shown.iter().enumerate() {
        let meets =
            |(_, _, other): &&(&Name, &Artifact, Vec<String>)| other.starts_with(path) || path.starts_with(other);
        if let Some((other, ..)) = shown[..at].iter().find(meets) {
            let message =
                format!("the artifact `{name}` is shown at `{}`, where people find `{other}`", path.join("/"));
            breaches.error(Code::NAME_TAKEN, artifact.place, message, "give each a `shown_at` of its own");
        }
    }
}

/// What the contract of a document that is no report declares.
fn declared<'d>(artifact: &Artifact, dialects: &'d Dialects) -> Option<&'d Declaration> {
    dialects.document(artifact.schema.as_ref()?)
}

/// Whether a document brings a part of the ledger when it is given. A contract that is unknown is refused by itself.
pub(super) fn brings(artifact: &Artifact, resource: &str, dialects: &Dialects) -> bool {
    let can =
        || artifact.schema.is_some() && declared(artifact, dialects).is_none_or(|known| known.can_bring(resource));
    let is_named = |all: &Vec<_>| all.iter().any(|brought: &Resource| **brought == *resource);
    !artifact.from_report && artifact.brings.as_ref().map_or_else(can, is_named)
}

/// The contract exists, and can bring what the document is said to bring.
fn contract(name: &Name, artifact: &Artifact, dialects: &Dialects, breaches: &mut Breaches) {
    if artifact.from_report && artifact.given == Given::ByStage {
        // The stage that gives it is compared with the contract of its role.
        return;
    }
    if let Some(schema) = artifact.schema.as_ref().filter(|_| declared(artifact, dialects).is_none()) {
        let (why, hint) = if dialects.get(schema).is_some() {
            let hint = match artifact.from_report {
                true => "leave out `given`, or name a contract of documents: an input is read before anybody reports",
                false => "write `from: report` if the report is the document, or name a contract of documents",
            };
            ("is a contract of reports", hint.to_owned())
        } else {
            let list: Vec<&str> = dialects.document_names().map(|name| &**name).collect();
            let hint = "`tollgate contract list` has those there are; your own go into `.tollgate/contracts/`";
            ("does not exist", suggest(schema, &list).unwrap_or_else(|| hint.to_owned()))
        };
        let message = format!("the contract `{schema}` of the artifact `{name}` {why}");
        breaches.error(Code::CONTRACT_UNKNOWN, artifact.place, message, hint);
        return;
    }
    if artifact.from_report {
        return;
    }
    let known = declared(artifact, dialects);
    let unable = |resource: &&Resource| !known.is_some_and(|known| known.can_bring(resource));
    for resource in artifact.brings.iter().flatten().filter(unable) {
        let why = match &artifact.schema {
            Some(schema) => format!("its contract `{schema}` has none in its plan"),
            None => "it has no contract".to_owned(),
        };
        let message = format!("the artifact `{name}` cannot bring `{}`: {why}", &**resource);
        let hint = "name a contract whose `plan` has them with `schema`, or leave them out of `brings`";
        breaches.error(Code::CANNOT_GIVE, artifact.place, message, hint);
    }
}

/// The path of a document in the tree: the run's digits, and variables that are texts.
fn path_of_tree(protocol: &Protocol, name: &Name, path: &Name, place: Place, breaches: &mut Breaches) {
    for word in placeholders(path).filter(|word| *word != "run") {
        let input = protocol.inputs.get(word);
        if input.is_some_and(|input| !input.required && !input.has_default()) {
            let message = format!("the path of the artifact `{name}` has `{{{word}}}`, which may have no value");
            let hint = format!("write `required: true` or a `default` at the input `{word}`");
            breaches.error(Code::NOT_ASSIGNED, place, message, hint);
        }
        let variable = input.or_else(|| protocol.vars.get(word));
        let why = match variable.map(|variable| &variable.kind) {
            Some(VariableKind::OneOf(_) | VariableKind::Text) => continue,
            Some(VariableKind::ListOf(_) | VariableKind::Int) => "is neither a text nor a `one_of`",
            None => "nothing declares",
        };
        let message = format!("the path of the artifact `{name}` has `{{{word}}}`, which {why}");
        let hint = format!("declare `{word}: {{text: true, required: true}}` under `inputs`, or write `{{run}}`");
        breaches.error(Code::NAME_UNKNOWN, place, message, hint);
    }
}

/// Paths that one path with names in braces may come to, of which each is looked at.
const PATHS_MAX: usize = 256;

/// Why a role cannot write a document with a path; nothing where a text that is not known yet is a part of it.
pub(super) fn unwritten(protocol: &Protocol, artifact: &Artifact, role: &Role) -> Option<String> {
    let path = artifact.path.as_ref()?;
    if role.writes.is_empty() {
        return Some(format!("it is the file `{path}`, and the role writes nothing"));
    }
    let mut paths = vec![path.replace("{run}", "run")];
    let names: BTreeSet<&str> = placeholders(path).filter(|word| *word != "run").collect();
    for name in names {
        let variable = protocol.inputs.get(name).or_else(|| protocol.vars.get(name))?;
        let VariableKind::OneOf(values) = &variable.kind else { return None };
        if paths.len().saturating_mul(values.len()) > PATHS_MAX {
            return None;
        }
        let with = |path: &String| values.iter().map(|v| path.replace(&format!("{{{name}}}"), v)).collect::<Vec<_>>();
        paths = paths.iter().flat_map(with).collect();
    }
    let area = |path: &str| area_of(&protocol.areas, path);
    let other = paths.iter().find(|path| area(path).is_none_or(|area| !role.writes.contains(area)))?;
    Some(match area(other) {
        Some(area) => format!("it is the file `{other}` of the area `{area}`, which the role may not write"),
        None => format!("it is the file `{other}`, which is in no area"),
    })
}

fn rendered(path: &Name, projection: &Projection, breaches: &mut Breaches) {
    let Some(renderer) = Renderer::parse(&projection.renderer) else {
        let message =
            format!("the projection `{path}` names the renderer `{}`, which does not exist", projection.renderer);
        let hint = suggest(&projection.renderer, Renderer::WORDS)
            .unwrap_or_else(|| format!("leave it out; there is: {}", Renderer::WORDS.join(", ")));
        breaches.error(Code::NAME_UNKNOWN, projection.place, message, hint);
        return;
    };
    let known = renderer.placeholders();
    for word in placeholders(path).filter(|word| !known.contains(word)) {
        let message = format!("the projection `{path}` has `{{{word}}}`, which `{}` does not fill in", renderer.word());
        let hint = format!("it fills in: {}", known.join(", "));
        breaches.error(Code::NAME_UNKNOWN, projection.place, message, hint);
    }
}

/// A field that a condition asks for: the contract has it, with this word among its words.
fn field(
    name: &Name,
    artifact: &Artifact,
    (field, value): (&Name, &Name),
    place: Place,
    dialects: &Dialects,
    breaches: &mut Breaches,
) {
    let known = declared(artifact, dialects).filter(|_| !artifact.from_report && !artifact.many);
    let asks = format!("a condition asks the artifact `{name}` for `{field}: {value}`");
    let (code, why, hint) = match (known, known.and_then(|known| known.fields.get(field))) {
        (None, _) if artifact.schema.is_some() && !artifact.from_report && !artifact.many => return,
        (None, _) => {
            let why = "only a single document with a contract of its own has fields";
            (Code::NAME_UNKNOWN, why.to_owned(), "add `schema`, or ask without `with`".to_owned())
        }
        (Some(known), None) => {
            let fields: Vec<&str> = known.fields.keys().map(|field| &**field).collect();
            let hint = match &fields[..] {
                [] => "ask without `with`: the contract has no field with a closed list of words".to_owned(),
                fields => format!("it can be asked for: {}", fields.join(", ")),
            };
            (Code::NAME_UNKNOWN, "its contract has no such field".to_owned(), hint)
        }
        (Some(_), Some(words)) if words.contains(value) => return,
        (Some(_), Some(words)) => {
            let why = format!("`{value}` is not one of the words of that field");
            (Code::VALUE_UNKNOWN, why, format!("it can be: {}", words.join(", ")))
        }
    };
    breaches.error(code, place, format!("{asks}: {why}"), hint);
}
