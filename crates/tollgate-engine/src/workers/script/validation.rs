//! Whether a script fits a protocol: what would otherwise fail in the middle of a run is said before it.

use std::collections::BTreeSet;

use tollgate_contract::ReportDialect;
use tollgate_contract::registry::Contracts;
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place};
use tollgate_core::protocol::Protocol;
use tollgate_core::protocol::model::Artifact;
use tollgate_core::yaml::{self, Content, Node, Problems, suggest};

use super::{Script, json};

/// Parts of a report that are tried when one of them is wrong; after that the whole is named.
const BLAME_MAX: usize = 200;
/// How a dialect begins to say that a key is not there.
const MISSING: &str = "missing field";

impl Script {
    /// Reads a script for a protocol: its roles exist, so do its units where they are known, and each `report` is a document
    /// of its role's contract. A `text` may be anything: that is how a worker misbehaves.
    pub fn read_for(
        text: &str,
        protocol: &Protocol,
        contracts: &Contracts,
        units: Option<&BTreeSet<Name>>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let script = Self::read(text)?;
        let mut problems = Problems::default();
        let root = yaml::parse(text).map_err(|error| vec![error])?;
        for (key, entries) in root.get("roles").and_then(Node::map).into_iter().flatten() {
            let Some(role) = protocol.roles.get(&*key.text) else {
                let known: Vec<&str> = protocol.roles.keys().map(|name| &**name).collect();
                let message = format!("protocol `{}` has no role `{}`", protocol.name, key.text);
                problems.add(unknown(key.place, message, &key.text, &known));
                continue;
            };
            let Content::Seq(entries) = &entries.value else { continue };
            for entry in entries {
                if let Some((node, unit)) = entry.get("unit").and_then(|node| Some((node, node.text()?)))
                    && let Some(units) = units.filter(|units| !units.contains(unit))
                {
                    let known: Vec<&str> = units.iter().map(|name| &**name).collect();
                    let message = format!("protocol `{}` has no unit `{unit}`", protocol.name);
                    problems.add(unknown(node.place, message, unit, &known));
                }
                if let Some((node, stage)) = entry.get("stage").and_then(|node| Some((node, node.text()?))) {
                    let stages = protocol.flows.iter().flat_map(|flow| &flow.stages);
                    let known: Vec<&str> = stages.map(|stage| &*stage.id).collect();
                    if !known.contains(&&**stage) {
                        let message = format!("protocol `{}` has no stage `{stage}`", protocol.name);
                        problems.add(unknown(node.place, message, stage, &known));
                    }
                }
                for (path, _) in entry.get("hand_over").and_then(Node::map).into_iter().flatten() {
                    let name = path.text.split('/').next().unwrap_or_default();
                    if !protocol.artifacts.get(name).is_some_and(Artifact::is_handed_over) {
                        let handed = protocol.artifacts.iter().filter(|(_, artifact)| artifact.is_handed_over());
                        let known: Vec<&str> = handed.map(|(name, _)| &**name).collect();
                        let message = format!("protocol `{}` has no document `{name}` to hand over", protocol.name);
                        problems.add(unknown(path.place, message, name, &known));
                    }
                }
                if let (Some(report), Some(dialect)) = (entry.get("report"), contracts.report(&role.contract)) {
                    problems_of(report, dialect, &mut problems);
                }
            }
        }
        if problems.has_errors() { Err(problems.into_list()) } else { Ok(script) }
    }
}

fn unknown(place: Place, message: String, name: &str, known: &[&str]) -> Diagnostic {
    let hint = suggest(name, known).unwrap_or_else(|| match known {
        [] => "leave it out: there are none".to_owned(),
        known => format!("known: {}", known.join(", ")),
    });
    Diagnostic::error(Code::SCRIPT_INVALID, place, message).hint(hint)
}

fn problems_of(report: &Node, dialect: &dyn ReportDialect, problems: &mut Problems) {
    let document = json(report);
    if let Err(error) = dialect.render(&document) {
        let place = blame(report, &document, &error, dialect);
        let message = format!("the report is not one of {}: {error}", dialect.id());
        let hint =
            format!("`tollgate contract show {}` says what it holds; write `text: …` to misbehave", dialect.id());
        problems.add(Diagnostic::error(Code::SCRIPT_INVALID, place, message).hint(hint));
    }
}

/// The smallest part of a report without which it is not wrong in this way.
fn blame(report: &Node, document: &serde_json::Value, error: &str, dialect: &dyn ReportDialect) -> Place {
    let (mut node, mut found) = (report, report.place);
    let (mut path, mut tried) = (Vec::new(), 0);
    loop {
        let parts: Vec<(Step<'_>, Place, &Node)> = match &node.value {
            Content::Map(entries) => {
                entries.iter().map(|(key, node)| (Step::Key(&key.text), key.place, node)).collect()
            }
            Content::Seq(items) => {
                items.iter().enumerate().map(|(at, node)| (Step::Item(at), node.place, node)).collect()
            }
            Content::Scalar { .. } => return found,
        };
        let mut without_it = |step: &Step<'_>| {
            tried += 1;
            let mut without = document.clone();
            let removed = tried <= BLAME_MAX && remove(&mut without, &path, step);
            removed.then(|| dialect.render(&without).err())
        };
        // A value alone is not to blame for what is missing beside it.
        let can_be = |inner: &Node| !(matches!(inner.value, Content::Scalar { .. }) && error.starts_with(MISSING));
        // Without the guilty part nothing is wrong; or something else is, when it was a part that must be there.
        let cured = parts.iter().position(|(step, _, _)| without_it(step) == Some(None));
        let guilty = cured.or_else(|| {
            parts.iter().position(|(step, _, inner)| {
                can_be(inner) && without_it(step).is_some_and(|now| now.as_deref() != Some(error))
            })
        });
        let guilty = guilty.and_then(|at| parts.into_iter().nth(at));
        let Some((step, place, inner)) = guilty else { return found };
        path.push(step);
        (found, node) = (place, inner);
    }
}

#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Item(usize),
}

fn remove(document: &mut serde_json::Value, path: &[Step<'_>], last: &Step<'_>) -> bool {
    let mut at = document;
    for step in path {
        let next = match step {
            Step::Key(key) => at.get_mut(*key),
            Step::Item(item) => at.get_mut(*item),
        };
        let Some(next) = next else { return false };
        at = next;
    }
    match (last, at) {
        (Step::Key(key), serde_json::Value::Object(map)) => map.remove(*key).is_some(),
        (Step::Item(item), serde_json::Value::Array(items)) if *item < items.len() => {
            items.remove(*item);
            true
        }
        _ => false,
    }
}
