//! What a protocol says and nothing heeds.

use super::super::graph::Graph;
use super::super::model::{Class, ITEMS, Kind, Role, ScopePolicy, Sees, Variable};
use super::Breaches;
use crate::Name;
use crate::code::Code;
use crate::diagnostic::Place;
use crate::id::RoleId;

pub(super) fn check(graph: &Graph<'_>, breaches: &mut Breaches) {
    let protocol = graph.protocol;
    for (name, variable) in &protocol.vars {
        let of = format!("the variable `{name}`");
        let hint = "declare it under `inputs`, or leave the key out";
        for (key, _) in
            [("required", variable.required), ("default", has_default(variable))].iter().filter(|(_, is)| *is)
        {
            no_effect(key, &of, "only a stage gives a variable", variable.place, hint, breaches);
        }
    }
    for (name, input) in protocol.inputs.iter().filter(|(_, input)| input.required && has_default(input)) {
        let of = format!("the input `{name}`");
        no_effect("required", &of, "it has a default", input.place, "leave out `required` or `default`", breaches);
    }
    for (name, artifact) in protocol.artifacts.iter().filter(|(_, artifact)| artifact.from_report) {
        if !artifact.sections.is_empty() {
            let of = format!("the artifact `{name}`");
            let why = "the contract of the report judges it";
            no_effect("sections", &of, why, artifact.place, "leave it out, or leave out `from: report`", breaches);
        }
    }
    for (name, role) in &protocol.roles {
        self::role(graph, name, role, breaches);
    }
    for stage in protocol.flows.iter().flat_map(|flow| &flow.stages).chain(&protocol.asks) {
        let of = format!("the stage `{}`", stage.id);
        if stage.label.is_some() {
            let why = "no renderer of projections reads it";
            no_effect("label", &of, why, stage.place, "leave it out; a comment says it as well", breaches);
        }
        if let Kind::Ask(ask) = &stage.kind {
            if ask.class == Class::Intake {
                let why = "a run asks for its inputs by itself, before its first stage";
                let hint = "write `choice` or `clarification`, or declare an input with `required: true`";
                no_effect("class: intake", &of, why, stage.place, hint, breaches);
            }
            for item in ask.shows.iter().filter(|item| !protocol.artifacts.contains_key(*item)) {
                let message = format!("`{item}` in `shows` of {of} is never shown: a question shows documents");
                breaches.error(Code::NO_EFFECT, stage.place, message, "name an artifact, or leave it out");
            }
        }
    }
}

fn has_default(input: &Variable) -> bool {
    input.default.is_some() || !input.defaults.is_empty()
}

fn role(graph: &Graph<'_>, name: &RoleId, role: &Role, breaches: &mut Breaches) {
    let of = format!("the role `{name}`");
    if role.session.is_some() {
        let why = "every attempt of a role has a session of its own";
        no_effect("session", &of, why, role.place, "leave it out", breaches);
    }
    if role.writes.is_empty() && role.scope != ScopePolicy::Strict {
        no_effect("scope", &of, "the role writes nothing", role.place, "leave it out", breaches);
    }
    let (Sees::Only(items) | Sees::AllBut(items)) = &role.sees else { return };
    let is_shown =
        |item: &&Name| item.contains('.') || ITEMS.contains(&&***item) || graph.protocol.artifacts.contains_key(*item);
    for item in items.iter().filter(|item| !is_shown(item)) {
        let message = format!("`{item}` in `sees` of {of} is never shown to anybody");
        let hint = format!("leave it out; there is: {}, and the artifacts", ITEMS.join(", "));
        breaches.error(Code::NO_EFFECT, role.place, message, hint);
    }
}

fn no_effect(key: &str, of: &str, why: &str, place: Place, hint: &str, breaches: &mut Breaches) {
    breaches.error(Code::NO_EFFECT, place, format!("`{key}` of {of} has no effect: {why}"), hint);
}
