//! Inputs of a run: what was given, in the form of its variables, what is taken by default, and what is missing.

use std::collections::{BTreeMap, BTreeSet};

use super::Rejection;
use crate::Name;
use crate::protocol::Condition;
use crate::protocol::model::{AtOnce, Each, Kind, Protocol, Value, Variable, VariableKind};

/// The inputs that are known: those that were given, and defaults. What is missing is asked for ([`missing`]).
pub fn inputs(protocol: &Protocol, given: &BTreeMap<Name, Value>) -> Result<BTreeMap<Name, Value>, Rejection> {
    let mut inputs = BTreeMap::new();
    for (name, value) in given {
        inputs.insert(name.clone(), input(protocol, name, value)?);
    }
    for (name, variable) in &protocol.inputs {
        if let (false, Some(default)) = (inputs.contains_key(name), &variable.default) {
            inputs.insert(name.clone(), input(protocol, name, default)?);
        }
    }
    for (name, value) in on_others(protocol, &inputs) {
        inputs.insert(name.clone(), input(protocol, name, value)?);
    }
    Ok(inputs)
}

/// The defaults that hang on other inputs, as far as these are known.
fn on_others<'p>(protocol: &'p Protocol, inputs: &BTreeMap<Name, Value>) -> Vec<(&'p Name, &'p Value)> {
    let value = |variable: &'p Variable| {
        for (when, value) in &variable.defaults {
            match holds(protocol, when, inputs) {
                Some(true) => return Some(value),
                Some(false) => {}
                None => return None,
            }
        }
        None
    };
    let open = protocol.inputs.iter().filter(|(name, _)| !inputs.contains_key(*name));
    open.filter_map(|(name, variable)| Some((name, value(variable)?))).collect()
}

/// Whether a condition over inputs holds; none while it reads one that is asked for.
fn holds(protocol: &Protocol, condition: &Condition, inputs: &BTreeMap<Name, Value>) -> Option<bool> {
    // One part that has the value decides; otherwise all must be known.
    let fold = |parts: &[Condition], decides: bool| {
        let parts: Vec<Option<bool>> = parts.iter().map(|part| holds(protocol, part, inputs)).collect();
        if parts.contains(&Some(decides)) { Some(decides) } else { (!parts.contains(&None)).then_some(!decides) }
    };
    match condition {
        Condition::All(parts) => fold(parts, false),
        Condition::Any(parts) => fold(parts, true),
        Condition::Not(part) => holds(protocol, part, inputs).map(|holds| !holds),
        Condition::Var { name, values } => match inputs.get(name) {
            Some(Value::Text(text)) => Some(values.contains(text)),
            Some(Value::Int(_) | Value::List(_)) => Some(false),
            None => (!protocol.inputs.get(name).is_some_and(|input| input.required)).then_some(false),
        },
        Condition::It { .. }
        | Condition::Holds(_)
        | Condition::Judged(_)
        | Condition::Answer { .. }
        | Condition::Command { .. }
        | Condition::Artifact { .. }
        | Condition::Set { .. }
        | Condition::Count { .. } => Some(false),
    }
}

/// The inputs that a person has to give before anything starts.
pub fn missing<'p>(protocol: &'p Protocol, inputs: &BTreeMap<Name, Value>) -> Vec<(&'p Name, &'p Variable)> {
    let is_missing = |(name, variable): &(&Name, &Variable)| {
        variable.required && !variable.has_default() && !inputs.contains_key(*name)
    };
    protocol.inputs.iter().filter(is_missing).collect()
}

/// A value of an input in the form of its variable.
pub fn input(protocol: &Protocol, name: &Name, value: &Value) -> Result<Value, Rejection> {
    let refuse = |why: String| Rejection::Input { name: name.clone(), why };
    let Some(variable) = protocol.inputs.get(name) else {
        let known: Vec<&str> = protocol.inputs.keys().map(|name| &**name).collect();
        return Err(refuse(format!("the protocol has no such input; it has {}", known.join(", "))));
    };
    let value = fits(variable, value).map_err(refuse)?;
    let is_at_once = |kind: &Kind| matches!(kind, Kind::Each(Each { at_once: AtOnce::Input(of), .. }) if of == name);
    let mut stages = protocol.flows.iter().flat_map(|flow| &flow.stages);
    if matches!(value, Value::Int(..1)) && stages.any(|stage| is_at_once(&stage.kind)) {
        return Err(refuse("it says how many units may be worked on at once: 1 or more".to_owned()));
    }
    Ok(value)
}

/// A value in the form of its variable.
fn fits(variable: &Variable, value: &Value) -> Result<Value, String> {
    let text = match value {
        Value::Text(text) => text.clone(),
        Value::Int(number) => number.to_string().into(),
        Value::List(items) => items.join(",").into(),
    };
    match &variable.kind {
        VariableKind::OneOf(values) if values.contains(&text) => Ok(Value::Text(text)),
        VariableKind::OneOf(values) => Err(format!("`{text}` is not one of {}", values.join(", "))),
        VariableKind::ListOf(values) => {
            let items: Vec<Name> = match value {
                Value::List(items) => items.clone(),
                Value::Text(_) | Value::Int(_) => text.split(',').map(|item| item.trim().into()).collect(),
            };
            if items.iter().all(|item| item.is_empty()) {
                return Err(format!("it names nothing: name one or more of {}", values.join(", ")));
            }
            match items.iter().find(|item| !values.contains(item)) {
                Some(wrong) => Err(format!("`{wrong}` is not one of {}", values.join(", "))),
                None if items.iter().collect::<BTreeSet<_>>().len() < items.len() => {
                    Err("it names something twice".to_owned())
                }
                None => Ok(Value::List(items)),
            }
        }
        VariableKind::Int => text.parse().map(Value::Int).map_err(|_| format!("`{text}` is not a whole number")),
        VariableKind::Text => Ok(Value::Text(text)),
    }
}
