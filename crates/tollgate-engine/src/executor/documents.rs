//! Documents, which a person gives with a run or a worker writes: read and checked by their contract.

use std::collections::BTreeMap;
use std::path::Path;

use tollgate_contract::Context;
use tollgate_contract::registry::Contracts;
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Severity};
use tollgate_core::digest::Digest;
use tollgate_core::documents;
use tollgate_core::id::AttemptId;
use tollgate_core::protocol::Protocol;
use tollgate_core::protocol::model::{Artifact, Kind, Over, Stage, Value};
use tollgate_core::redact::Secrets;
use tollgate_core::report::{Health, Plan};
use tollgate_core::run::decide::{AttemptResult, OpenArtifact};
use tollgate_core::run::state::Attempt;
use tollgate_core::run::{Run, gate};
use tollgate_store::Object;

use super::dispatch::{DIAGNOSTICS_MAX, line};
use super::{Failure, tree_id};
use crate::workers::handed_over::HandedOver;
use crate::workspace::Workspace;

/// Where documents come from.
pub(super) struct Sources<'a> {
    pub workspace: &'a Workspace,
    /// The folder in which the worker handed documents over.
    pub out: Option<&'a Path>,
    pub secrets: &'a Secrets,
}

/// Whether the stage of an attempt gives a document that is handed over.
pub(super) fn are_handed_over(run: &Run, lease: &Attempt) -> bool {
    given(run, lease).any(|(_, artifact)| artifact.is_handed_over())
}

/// The documents that the stage of an attempt gives.
fn given<'r>(run: &'r Run, lease: &Attempt) -> impl Iterator<Item = (&'r Name, &'r Artifact)> {
    let stage = run.instances.get(&lease.instance).and_then(|instance| run.stage(instance, &lease.stage));
    let gives = stage.map(|stage| stage.gives.as_slice()).unwrap_or_default();
    gives.iter().filter_map(|name| run.protocol.artifacts.get_key_value(&**name))
}

/// Collects the documents that the stage gives: those that were handed over or are in the tree, and pass their check.
pub(super) fn collect(
    sources: &Sources<'_>,
    run: &Run,
    contracts: &Contracts,
    id: AttemptId,
    result: &mut AttemptResult,
    objects: &mut Vec<Object>,
) -> Result<(), Failure> {
    let lease = &run.attempts[&id];
    if result.report.health != Health::Ok {
        return Ok(());
    }
    let tree = result.content.as_ref().map_or(&lease.tree, |content| &content.tree);
    let tree = tree_id(tree)?;
    let paths = run.parts().documents;
    let sides = lanes(&run.protocol, &run.vars);
    let out = sources.out.and_then(HandedOver::open);
    for (name, artifact) in given(run, lease) {
        let context = Context { sides: sides.clone(), ..Context::default() };
        let read = |bytes: &[u8], file: Option<&str>| {
            let of_set = file.map(Name::from);
            read_as(contracts, artifact, bytes, Context { of_set, ..context.clone() })
        };
        let found = if artifact.from_report {
            // Its contract has read it already.
            Ok(Some((OpenArtifact { object: result.object, ..OpenArtifact::default() }, None)))
        } else if let Some(path) = paths.get(name) {
            sources.workspace.file(&tree, path)?.map(|bytes| Ok((read(&bytes, None)?, Some(bytes)))).transpose()
        } else {
            out.as_ref().map_or(Ok(None), |out| handed_over(out, name, artifact.many, sources.secrets, &read))
        };
        match found {
            Ok(Some((given, bytes))) => {
                result.artifacts.insert(name.clone(), given);
                objects.extend(bytes.map(Object::new));
            }
            Ok(None) => {}
            Err(wrong) => {
                let lines: Vec<String> = wrong.diagnostics.iter().map(line).chain(wrong.why).collect();
                let place = paths.get(name).unwrap_or(name);
                result.diagnostics.push(format!("{place}: {}", lines.join("; ")));
            }
        }
    }
    Ok(())
}

/// What was read of a document, and its bytes where they are not kept yet.
type Found = (OpenArtifact, Option<Vec<u8>>);
/// Reads a document, one of a set in a file of it.
type ReadDocument<'a> = dyn Fn(&[u8], Option<&str>) -> Result<OpenArtifact, DocumentErrors> + 'a;

/// A document that was handed over, or a set of them, and its bytes; none where there is none.
fn handed_over(
    out: &HandedOver,
    name: &str,
    many: bool,
    secrets: &Secrets,
    read: &ReadDocument<'_>,
) -> Result<Option<Found>, DocumentErrors> {
    let refused = |why: String| DocumentErrors::whole(vec![why]);
    if !many {
        let Some(bytes) = out.document(name).map_err(refused)? else { return Ok(None) };
        let bytes = secrets.scrub(&bytes).into_owned();
        return Ok(Some((read(&bytes, None)?, Some(bytes))));
    }
    let Some(found) = out.documents(name).map_err(refused)? else { return Ok(None) };
    let (mut texts, mut all) = (BTreeMap::new(), OpenArtifact::default());
    for (file, bytes) in found {
        let bytes = secrets.scrub(&bytes).into_owned();
        let one = read(&bytes, Some(&file)).map_err(|wrong| wrong.within(&file))?;
        let Plan { units, requirements, criteria, retires } = one.plan;
        all.plan.units.extend(units);
        all.plan.requirements.extend(requirements);
        all.plan.criteria.extend(criteria);
        all.plan.retires.extend(retires);
        texts.insert(file, String::from_utf8_lossy(&bytes).into_owned());
    }
    let set = documents::pack(&texts).into_bytes();
    Ok(Some((OpenArtifact { object: Digest::of(&set), ..all }, Some(set))))
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

    /// The same, of one document of a set.
    fn within(self, file: &str) -> Self {
        let lines = self.diagnostics.iter().map(line).chain(self.why);
        Self::whole(lines.map(|line| format!("{file}: {line}")).collect())
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
    read_as(contracts, artifact, bytes, Context { sides, ..Context::default() })
}

fn read_as(
    contracts: &Contracts,
    artifact: &Artifact,
    bytes: &[u8],
    context: Context,
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
    let without_sides = context.sides.is_none();
    let mut reading = dialect.read(text, &context);
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
