//! The dossier: read and judged by its contract, with the surfaces that the command line names in the place of its own.

use std::path::Path;

use tollgate_contract::tree::{Node, Value, json_pretty};
use tollgate_contract::{Context, reask, registry};
use tollgate_core::diagnostic::{Diagnostic, Severity};

use super::surfaces::{self, in_git};

/// The contract of a dossier.
const CONTRACT: &str = "supervisor.dossier";
const ALLOWED: &str = "allowed_surfaces";
const FORBIDDEN: &str = "forbidden_surfaces";
/// The lists of lines: each is a text for the worker, and nothing reads it.
const LINES: [&str; 9] = [
    "non_goals",
    "must_read",
    "adversarial_checks",
    "required_commands_or_evidence",
    "supervisor_checkpoints",
    "stop_gates",
    "assumptions",
    "read_only_neighbors",
    "work_points",
];
/// How many mistakes are named.
const MISTAKES_MAX: usize = 20;

/// A dossier that holds.
#[derive(Debug, Default)]
pub(super) struct Dossier {
    /// As it was given.
    pub text: String,
    /// How it calls the unit.
    pub unit: String,
    /// What may be changed, from the folder the work is done in, each written in the shortest way.
    pub allowed: Vec<String>,
    /// What must not be.
    pub forbidden: Vec<String>,
    /// The rows that the work is judged by, as far as they have names.
    pub rows: Vec<String>,
    /// What is worth a word.
    pub warnings: Vec<String>,
}

/// What the command line says of the work.
#[derive(Debug, Clone, Copy)]
pub(super) struct SurfaceOverrides<'a> {
    pub role: &'a str,
    pub unit: &'a str,
    /// The folder to work in.
    pub cwd: &'a Path,
    /// In the place of the dossier's.
    pub allowed: &'a [String],
    /// Besides the dossier's.
    pub forbidden: &'a [String],
}

/// Reads a dossier; everything that is wrong with it otherwise.
pub(super) fn read(bytes: &[u8], said: SurfaceOverrides<'_>) -> Result<Dossier, Vec<String>> {
    let whole = |why: &str| vec![why.to_owned()];
    let text = str::from_utf8(bytes).map_err(|_| whole("it is not UTF-8 text"))?;
    let contract = registry::defined(CONTRACT).ok_or_else(|| whole("there is no contract for it"))?;
    let judged = contract.judge(text, &Context::default());
    let (root, lines) = judged.root.map(|root| with_lines(root.into_owned())).unzip();
    // To the contract each such line is one mistake. Whatever else is wrong stays wrong.
    let errors = judged.diagnostics.iter().filter(|one| one.severity == Severity::Error).count();
    if lines != Some(errors) {
        refuse(&judged.diagnostics, "")?;
    }
    let root = root.ok_or_else(|| whole("it cannot be read"))?;
    refuse(&contract.judge(&json_pretty(&root), &Context::default()).diagnostics, "with its lines as texts: ")?;
    let word = |key: &str| root.get(key).and_then(Node::text).unwrap_or_default();
    let mut wrong = Vec::new();
    if word("worker_role") != said.role {
        wrong.push(format!("`worker_role` is `{}`, and `{}` was asked for", word("worker_role"), said.role));
    }
    if !is_of(word("work_unit"), said.unit) {
        wrong.push(format!("`work_unit` is `{}`, and `{}` was asked for", word("work_unit"), said.unit));
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let warnings = judged.diagnostics.iter().filter(|one| one.severity != Severity::Error);
    let warnings = warnings.map(|found| format!("the dossier: {}", reask::point(found))).collect();
    let root = with_surfaces(root, said);
    // What the command line names is held to the same rules.
    let merged = json_pretty(&root);
    refuse(&contract.judge(&merged, &Context::default()).diagnostics, "with the surfaces of the command line: ")?;
    let rows = root.get("acceptance_matrix").and_then(Node::list).unwrap_or_default();
    Ok(Dossier {
        text: text.to_owned(),
        unit: root.get("work_unit").and_then(Node::text).unwrap_or_default().to_owned(),
        allowed: surfaces(&root, ALLOWED, said.cwd).and_then(without_git)?,
        forbidden: surfaces(&root, FORBIDDEN, said.cwd)?,
        rows: rows.iter().filter_map(row_name).map(str::to_owned).collect(),
        warnings,
    })
}

/// A dossier in which `- A2: text` is the line that its author means, not the map that YAML makes of it; and how many of these there were.
fn with_lines(mut root: Node<'static>) -> (Node<'static>, usize) {
    let mut count = 0;
    let Value::Map(entries) = &mut root.value else { return (root, count) };
    for entry in entries.iter_mut().filter(|entry| LINES.contains(&&*entry.key)) {
        let Value::List(items) = &mut entry.node.value else { continue };
        for item in items {
            let line = match item.map() {
                Some([only]) => only.node.text().map(|text| format!("{}: {text}", only.key)),
                _ => None,
            };
            if let Some(line) = line {
                item.value = Value::Text(line.into());
                count += 1;
            }
        }
    }
    (root, count)
}

/// How a row of the acceptance matrix is called: by its `id`, or by what stands before the colon in `A2: text`.
fn row_name<'a>(row: &'a Node<'_>) -> Option<&'a str> {
    let name = match (row.get("id"), row.map()) {
        (Some(id), _) => id.text()?,
        (None, Some([only])) => &*only.key,
        (None, _) => row.text()?.split_once(": ")?.0,
    };
    Some(name.trim()).filter(|name| !name.is_empty() && !name.contains(char::is_whitespace))
}

/// Whether a unit is the one: by its whole name, or with words behind it (`U1-cart-total` is `U1`).
fn is_of(named: &str, unit: &str) -> bool {
    let rest = named.trim().strip_prefix(unit.trim());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_', ' ', ':', '/']))
}

fn refuse(found: &[Diagnostic], before: &str) -> Result<(), Vec<String>> {
    let errors = found.iter().filter(|one| one.severity == Severity::Error);
    let wrong: Vec<String> = errors.take(MISTAKES_MAX).map(|one| format!("{before}{}", reask::point(one))).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

fn texts(root: &Node<'_>, key: &str) -> Vec<String> {
    let list = root.get(key).and_then(Node::list).unwrap_or_default();
    list.iter().filter_map(|node| node.text().map(str::to_owned)).collect()
}

/// The surfaces of a list. One that would be understood by nobody is refused: it would allow or forbid nothing.
fn surfaces(root: &Node<'_>, key: &str, cwd: &Path) -> Result<Vec<String>, Vec<String>> {
    let outside = |text: &String| format!("`{key}` has `{text}`, which is not inside of {}", cwd.display());
    let read = texts(root, key).into_iter().map(|text| surfaces::read(&text, cwd).ok_or_else(|| outside(&text)));
    read.collect::<Result<_, _>>().map_err(|wrong| vec![wrong])
}

/// What git keeps is never the worker's to change, and the sandbox must not be told that it is.
fn without_git(surfaces: Vec<String>) -> Result<Vec<String>, Vec<String>> {
    match surfaces.iter().find(|surface| in_git(surface)) {
        Some(surface) => Err(vec![format!("`{ALLOWED}` has `{surface}`, and a worker does not change what git keeps")]),
        None => Ok(surfaces),
    }
}

fn with_surfaces(root: Node<'static>, said: SurfaceOverrides<'_>) -> Node<'static> {
    let (mut allowed, mut forbidden) = (texts(&root, ALLOWED), texts(&root, FORBIDDEN));
    if !said.allowed.is_empty() {
        allowed = said.allowed.to_vec();
    }
    let more = said.forbidden.iter().filter(|surface| !forbidden.contains(surface)).cloned();
    let more: Vec<String> = more.collect();
    forbidden.extend(more);
    let Value::Map(mut entries) = root.value else { return root };
    for entry in &mut entries {
        let list = match &*entry.key {
            ALLOWED => &allowed,
            FORBIDDEN => &forbidden,
            _ => continue,
        };
        let texts = list.iter().map(|text| Node::new(Value::Text(text.clone().into()))).collect();
        entry.node = Node::new(Value::List(texts));
    }
    Node { value: Value::Map(entries), at: root.at }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_known_by_the_beginning_of_its_name() {
        for named in ["U1", "U1-cart", "U1: cart", " U1 "] {
            assert!(is_of(named, "U1"), "{named}");
        }
        for named in ["U10", "U", "", "XU1"] {
            assert!(!is_of(named, "U1"), "{named}");
        }
    }
}
