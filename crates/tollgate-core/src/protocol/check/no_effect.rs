//! What a protocol says and nothing heeds.

use super::super::dialects::{Dialects, SectionClass};
use super::super::graph::Graph;
use super::super::model::{
    Class, Given, ITEMS, Kind, NOTICES, Resource, Role, Rule, ScopePolicy, Sees, Stage, Variable,
};
use super::Breaches;
use super::isolated::{judges_own, sees_item, sees_section};
use crate::Name;
use crate::code::Code;
use crate::diagnostic::Place;
use crate::id::RoleId;

pub(super) fn check(graph: &Graph<'_>, dialects: &Dialects, breaches: &mut Breaches) {
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
        let mut stages = protocol.flows.iter().flat_map(|flow| &flow.stages);
        if artifact.given != Given::ByStage && !stages.any(|stage| stage.gives.iter().any(|given| **given == **name)) {
            let of = format!("the artifact `{name}`");
            let hint = "leave it out: it is an input";
            no_effect("from: report", &of, "no stage gives it", artifact.place, hint, breaches);
        }
    }
    for (name, role) in &protocol.roles {
        self::role(graph, name, role, breaches);
        part(name, role, dialects, breaches);
        claims(graph, name, role, dialects, breaches);
    }
    for stage in protocol.flows.iter().flat_map(|flow| &flow.stages).chain(&protocol.asks) {
        let of = format!("the stage `{}`", stage.id);
        if stage.label.is_some() {
            let why = "no renderer of projections reads it";
            no_effect("label", &of, why, stage.place, "leave it out; a comment says it as well", breaches);
        }
        stage.on.iter().for_each(|rule| amends(graph, stage, rule, breaches));
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

/// What an answer amends, a person can bring: the work tree, documents in it, dispositions, a scope.
fn amends(graph: &Graph<'_>, stage: &Stage, rule: &Rule, breaches: &mut Breaches) {
    for resource in &rule.route.amends {
        let why = match resource {
            Resource::Tree | Resource::Scope | Resource::Requirements => continue,
            Resource::Named(_) if graph.protocol.lies_in_tree(resource) => continue,
            Resource::Units | Resource::Criteria => "no person brings them with an answer; a stage plans them",
            Resource::Findings => "an answer waives findings by what it `ensures`",
            Resource::Named(_) => "it lies in no work tree that a person could edit; lead to the stage that gives it",
        };
        let of = format!("the answer `{}` of `{}`", rule.outcome, stage.id);
        no_effect(&format!("amends: {resource}"), &of, why, rule.place, "leave it out", breaches);
    }
}

/// A part is for contracts whose reports differ by it.
fn part(name: &RoleId, role: &Role, dialects: &Dialects, breaches: &mut Breaches) {
    if role.part.is_some() && dialects.get(&role.contract).is_some_and(|known| !known.reads_part) {
        let why = format!("reports in `{}` are the same for every part", role.contract);
        no_effect("part", &format!("the role `{name}`"), &why, role.place, "leave it out", breaches);
    }
}

/// What a role is shown although it is a claim, it is shown, and it is one.
fn claims(graph: &Graph<'_>, name: &RoleId, role: &Role, dialects: &Dialects, breaches: &mut Breaches) {
    let protocol = graph.protocol;
    for item in &role.shown_claims {
        let (is_claim, is_seen) = match item.split_once('.') {
            Some((of, section)) => {
                let known = protocol.roles.iter().filter(|(known, _)| of == "*" || of == &***known);
                let class = |role: &Role| dialects.get(&role.contract).map(|known| known.sections.get(section));
                // A section or a contract that does not exist is refused by itself.
                let is_claim = |role: &Role| class(role).is_none_or(|class| class == Some(&SectionClass::Claim));
                let has = known.clone().any(|(_, role)| class(role).is_none_or(|class| class.is_some()));
                let mut claims = known.filter(|(_, role)| is_claim(role)).peekable();
                (!has || claims.peek().is_some(), !has || claims.any(|(of, _)| sees_section(role, of, section)))
            }
            None if **item == *NOTICES => {
                let leaves_open =
                    |role: &Role| dialects.get(&role.contract).is_some_and(|known| known.can_bring(NOTICES));
                (protocol.roles.values().any(leaves_open), sees_item(role, item))
            }
            None => (protocol.artifacts.get(item).is_some_and(|document| document.from_report), sees_item(role, item)),
        };
        let why = match (is_claim, is_seen) {
            (false, _) => "it is no claim: what `sees` shows of it needs no exception",
            (true, false) => "`sees` hides it",
            (true, true) => continue,
        };
        let key = format!("shown_claims: {item}");
        let hint = "leave it out, or let `sees` show the claim that is meant";
        no_effect(&key, &format!("the role `{name}`"), why, role.place, hint, breaches);
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
    let mut stages = graph.protocol.flows.iter().flat_map(|flow| &flow.stages);
    let judges_itself = |stage: &Stage| {
        matches!(&stage.kind, Kind::Dispatch { role } if role == name) && judges_own(graph.protocol, stage, role)
    };
    if role.self_check && !stages.any(judges_itself) {
        let why = "it judges nothing that it writes all of itself";
        no_effect("self_check", &of, why, role.place, "leave it out", breaches);
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
