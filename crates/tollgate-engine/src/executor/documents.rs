//! Documents, which a person gives with a run or a worker writes: read and checked by their contract.

use std::collections::BTreeMap;

use tollgate_contract::Context;
use tollgate_contract::registry::Contracts;
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Severity};
use tollgate_core::digest::Digest;
use tollgate_core::id::AttemptId;
use tollgate_core::protocol::Protocol;
use tollgate_core::protocol::model::{Artifact, Kind, Over, Stage, Value};
use tollgate_core::report::Health;
use tollgate_core::run::decide::{AttemptResult, OpenArtifact};
use tollgate_core::run::{Run, gate};
use tollgate_store::Object;

use super::dispatch::{DIAGNOSTICS_MAX, line};
use super::{Failure, tree_id};
use crate::workspace::Workspace;

/// Collects the documents that the stage gives: those that are in the tree and pass their check.
pub(super) fn collect(
    workspace: &Workspace,
    run: &Run,
    contracts: &Contracts,
    id: AttemptId,
    result: &mut AttemptResult,
    objects: &mut Vec<Object>,
) -> Result<(), Failure> {
    let lease = &run.attempts[&id];
    let Some(instance) = run.instances.get(&lease.instance) else { return Ok(()) };
    let Some(stage) = run.stage(instance, &lease.stage) else { return Ok(()) };
    if result.report.health != Health::Ok {
        return Ok(());
    }
    let tree = result.content.as_ref().map_or(&lease.tree, |content| &content.tree);
    let tree = tree_id(tree)?;
    let paths = run.parts().documents;
    let sides = lanes(&run.protocol, &run.vars);
    for (name, artifact) in stage.gives.iter().filter_map(|name| Some((name, run.protocol.artifacts.get(&**name)?))) {
        let Some(path) = paths.get(&**name) else { continue };
        let Some(bytes) = workspace.file(&tree, path)? else { continue };
        match read_document(contracts, artifact, &bytes, sides.clone()) {
            Ok(given) => {
                result.artifacts.insert((&**name).into(), given);
                objects.push(Object::new(bytes));
            }
            Err(wrong) => {
                let lines: Vec<String> = wrong.diagnostics.iter().map(line).chain(wrong.why).collect();
                result.diagnostics.push(format!("{path}: {}", lines.join("; ")));
            }
        }
    }
    Ok(())
}

/// What is wrong with a document.
#[derive(Debug, Default)]
pub struct DocumentErrors {
    /// Errors at a place in it.
    pub diagnostics: Vec<Diagnostic>,
    /// Errors in the whole of it.
    pub why: Vec<String>,
}

impl DocumentErrors {
    fn whole(why: Vec<String>) -> Self {
        Self { why, ..Self::default() }
    }
}

/// The warnings about a document, which do not refuse it.
pub fn document_warnings(
    contracts: &Contracts,
    artifact: &Artifact,
    bytes: &[u8],
    sides: Option<Vec<Name>>,
) -> Vec<Diagnostic> {
    let dialect = artifact.schema.as_deref().and_then(|schema| contracts.document(schema));
    let (Some(dialect), Ok(text)) = (dialect, str::from_utf8(bytes)) else { return Vec::new() };
    let mut found = dialect.read(text, &Context { sides, ..Context::default() }).diagnostics;
    found.retain(|one| one.severity == Severity::Warning);
    found
}

/// Reads a document and checks it.
pub fn read_document(
    contracts: &Contracts,
    artifact: &Artifact,
    bytes: &[u8],
    sides: Option<Vec<Name>>,
) -> Result<OpenArtifact, DocumentErrors> {
    let object = Digest::of(bytes);
    let text = str::from_utf8(bytes).map_err(|_| DocumentErrors::whole(vec!["it is not text".to_owned()]))?;
    let missing = artifact.sections.iter().filter(|section| !has_heading(text, section));
    let missing: Vec<String> = missing.map(|section| format!("it has no section `{section}`")).collect();
    if !missing.is_empty() {
        return Err(DocumentErrors::whole(missing));
    }
    let Some(schema) = &artifact.schema else {
        return Ok(OpenArtifact { object, ..OpenArtifact::default() });
    };
    let dialect = contracts
        .document(schema)
        .ok_or_else(|| DocumentErrors::whole(vec![format!("there is no document contract `{schema}`")]))?;
    let without_sides = sides.is_none();
    let mut reading = dialect.read(text, &Context { sides, ..Context::default() });
    // Without units that run by themselves the scope would not be enforced.
    reading.diagnostics.extend(reading.scopes.iter().filter(|_| without_sides).map(|(side, place)| {
        let message = format!("the scope of `{side}` would not be enforced: no side runs by itself in this shape");
        let hint = "take it out, or start a shape in which sides run (`standard`, `complex`)";
        Diagnostic::error(Code::TASK_SCOPE, *place, message).hint(hint)
    }));
    let errors = reading.diagnostics.into_iter().filter(|found| found.severity == Severity::Error);
    let diagnostics: Vec<Diagnostic> = errors.take(DIAGNOSTICS_MAX).collect();
    if !diagnostics.is_empty() {
        return Err(DocumentErrors { diagnostics, ..DocumentErrors::default() });
    }
    Ok(OpenArtifact { object, fields: reading.fields, plan: reading.plan, places: reading.places })
}

fn has_heading(text: &str, section: &str) -> bool {
    text.lines().any(|line| {
        let heading = line.trim_start_matches('#');
        heading.len() < line.len() && heading.trim() == section
    })
}

/// The lanes that will run with these inputs; none when no stage of main, nor of a flow it calls for itself, runs lanes.
pub fn lanes(protocol: &Protocol, inputs: &BTreeMap<Name, Value>) -> Option<Vec<Name>> {
    let value = |name: &str| inputs.get(name).or_else(|| protocol.inputs.get(name)?.default.as_ref());
    let runs = |stage: &&Stage| stage.when.as_ref().is_none_or(|when| gate::over_inputs(when, &value));
    let mut called = vec![protocol.flow("main")?];
    while let Some(flow) = called.pop() {
        for stage in flow.stages.iter().filter(runs) {
            let Kind::Each(each) = &stage.kind else { continue };
            match &each.over {
                Over::Lanes(lanes) => return Some(lanes.clone()),
                Over::Input(input) => match value(input) {
                    Some(Value::List(lanes)) => return Some(lanes.clone()),
                    Some(Value::Text(lane)) => return Some(lane.split(',').map(|lane| lane.trim().into()).collect()),
                    Some(Value::Int(_)) | None => {}
                },
                Over::It => called.extend(protocol.flow(&each.flow)),
                Over::Units => {}
            }
        }
    }
    None
}
