//! What a configuration that nobody trusts would say: it is not in force, and that is said.

use std::collections::BTreeSet;

use tollgate_core::protocol::Protocol;

use super::{ALL_OTHERS, CONFIG_PATH, InForce, Layer, Origin, parse};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::format::list;
use crate::trust::{Standing, Trust};

/// What an untrusted configuration would change about a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inactive {
    /// The roles it would give a worker.
    pub roles: BTreeSet<String>,
    /// In words, for people.
    pub said: String,
}

/// What to do about it.
pub const NEXT: &str = "read it (`git show HEAD:.tollgate/config.toml`), then `tollgate trust`";

/// What of the repository's configuration is not in force because nobody trusts it; none when nothing is missed.
pub fn inactive(
    standing: &Standing,
    protocol: &Protocol,
    force: &InForce,
    environment: &Environment,
) -> Result<Option<Inactive>, Failure> {
    let Standing::Untrusted(repository, folder) = standing else { return Ok(None) };
    let Some(text) = folder.text(CONFIG_PATH) else { return Ok(None) };
    let read = text.and_then(|text| parse(CONFIG_PATH.to_owned(), text));
    let (roles, missed) = match &read {
        Ok(layer) => missed(layer, protocol, force),
        Err(_) => (BTreeSet::new(), vec!["all of it: it cannot be read".to_owned()]),
    };
    if missed.is_empty() {
        return Ok(None);
    }
    let root = repository.root().display().to_string();
    let known = Trust::in_state_dir(&environment.state_dir()?).list()?.iter().any(|entry| entry.repository == root);
    let why = if known { "has changed since it was trusted" } else { "is not trusted" };
    let said = format!("{CONFIG_PATH} {why}, so it does not act. Not in force: {}", missed.join("; "));
    Ok(Some(Inactive { roles, said }))
}

fn missed(layer: &Layer, protocol: &Protocol, force: &InForce) -> (BTreeSet<String>, Vec<String>) {
    let stronger = |role: &String| force.roles.get(role).is_some_and(|assigned| assigned.from > Origin::Repository);
    let known = |role: &&String| protocol.roles.contains_key(role.as_str()) && !stronger(role);
    let free = |role: &String| !force.roles.contains_key(role) && layer.roles.contains_key(ALL_OTHERS);
    let others = protocol.roles.keys().map(ToString::to_string).filter(free);
    let roles: BTreeSet<String> = layer.roles.keys().filter(known).cloned().chain(others).collect();
    let areas: Vec<&str> =
        layer.areas.get(&*protocol.name).into_iter().flatten().map(|(area, _)| area.as_str()).collect();
    let commands: Vec<&str> = layer.commands.keys().map(String::as_str).collect();
    let named: Vec<&str> = roles.iter().map(String::as_str).collect();
    let parts = [("the workers of", &named), ("the areas", &areas), ("the commands", &commands)];
    let said =
        parts.into_iter().filter(|(_, names)| !names.is_empty()).map(|(what, names)| format!("{what} {}", list(names)));
    (roles.clone(), said.collect())
}
