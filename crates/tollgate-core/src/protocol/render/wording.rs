//! Conditions, routes and targets in words.

use super::super::condition::{Condition, Quantifier};
use super::super::model::{Ensures, Route, Target};
use crate::Name;

/// A condition in words.
pub(super) fn condition(condition: &Condition) -> String {
    match condition {
        Condition::All(list) if list.is_empty() => "always".into(),
        Condition::All(list) => join(list, " and "),
        Condition::Any(list) => join(list, " or "),
        Condition::Not(inner) => format!("not ({})", self::condition(inner)),
        Condition::Var { name, values } => format!("{name} is {}", or(values)),
        Condition::It { attr, values } if &**attr == "state" => format!("it is {}", or(values)),
        Condition::It { attr, values } => format!("its {attr} has {}", or(values)),
        Condition::Holds(gate) => format!("{gate} holds"),
        Condition::Judged(role) => format!("{role} accepts"),
        Condition::Answer { ask, options, by_anyone } => {
            let timer = if *by_anyone { " (a timer's answer counts)" } else { "" };
            format!("{ask} is answered {}{timer}", or(options))
        }
        Condition::Command { name, repeat: 1 } => format!("command {name} passes"),
        Condition::Command { name, repeat } => format!("command {name} passes {repeat} times"),
        Condition::Artifact { name, with } if with.is_empty() => format!("{name} exists"),
        Condition::Artifact { name, with } => {
            let fields: Vec<String> = with.iter().map(|(field, value)| format!("{field} {value}")).collect();
            format!("{name} exists with {}", fields.join(", "))
        }
        Condition::Set { quantifier, set, filter, is, has } => {
            let quantifier = match quantifier {
                Quantifier::Every => "every",
                Quantifier::None => "no",
                Quantifier::Some => "some",
            };
            let filter: Vec<String> = filter.iter().map(|(key, values)| format!("{key} {}", or(values))).collect();
            let of = if filter.is_empty() { String::new() } else { format!(" of {}", filter.join(", ")) };
            let said = if has.is_empty() { format!("is {}", or(is)) } else { format!("has {}", has.join(", ")) };
            format!("{quantifier} {}{of} {said}", set.word())
        }
        Condition::Count { set, at_least } => format!("at least {at_least} of {}", set.word()),
    }
}

fn join(list: &[Condition], with: &str) -> String {
    let part = |inner: &Condition| {
        let several = matches!(inner, Condition::All(list) | Condition::Any(list) if list.len() > 1);
        if several { format!("({})", condition(inner)) } else { condition(inner) }
    };
    list.iter().map(part).collect::<Vec<_>>().join(with)
}

fn or(values: &[Name]) -> String {
    values.join(" or ")
}

/// A target as the language writes it.
pub(super) fn target(target: &Target) -> String {
    match target {
        Target::Stage(id) => id.to_string(),
        Target::Ask(id) => format!("ask {id}"),
        Target::Again => "again".into(),
        Target::Done => "done".into(),
        Target::Reported => "reported".into(),
        Target::Dropped => "dropped".into(),
        Target::Hold => "hold".into(),
        Target::Raise(raised) => format!("raise {raised}"),
        Target::Back => "back".into(),
        Target::Origin => "origin".into(),
        Target::As(outcome) => format!("as {outcome}"),
    }
}

/// Where a route leads, with its limit and what it ensures.
pub(super) fn route(route: &Route) -> String {
    let mut text = target(&route.to);
    if let (Some(limit), Some(then)) = (route.limit, &route.then) {
        let same = route.same.map(|same| format!(", {same}x with the same gaps")).unwrap_or_default();
        text += &format!(" (at most {limit}x{same}), then {}", target(then));
    }
    match &route.ensures {
        Ensures::Nothing => {}
        Ensures::Origin => text += "; ensures what the origin would",
        Ensures::Gates(gates) => text += &format!("; ensures {}", gates.join(", ")),
    }
    if !route.amends.is_empty() {
        text += &format!("; amends {}", route.amends.join(", "));
    }
    text
}
