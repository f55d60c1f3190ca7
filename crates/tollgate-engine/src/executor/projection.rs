//! Projections: files rendered from a run's state for people and agents, under the run's `files/` folder.
//!
//! Written after their event, rewritten whenever they differ, never read back, and never part of a tree.
#![expect(clippy::disallowed_methods, reason = "this module owns projected files")]

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use tollgate_contract::registry::Contracts;
use tollgate_core::protocol::model::Renderer;
use tollgate_core::run::Run;
use tollgate_core::run::state::RequirementDecision;
use tollgate_core::{Name, documents};
use tollgate_store::Journal;

/// Writes the projections of a run that differ from what its state says. What cannot be written is left for the next
/// time: a projection is never needed for anything.
pub fn write(folder: &Path, run: &Run, journal: &dyn Journal, contracts: impl FnOnce() -> Option<Arc<Contracts>>) {
    let rendered = run.protocol.projections.iter().filter_map(|(template, projection)| {
        Some(match Renderer::parse(&projection.renderer)? {
            Renderer::Handoffs => handoffs(run, template, journal),
        })
    });
    for (path, bytes) in rendered.flatten().chain(shown(run, journal, contracts)) {
        if let Some(path) = inside(folder, &path)
            && std::fs::read(&path).ok().as_deref() != Some(&bytes)
        {
            put(&path, &bytes).ok();
        }
    }
}

/// The documents that people are shown, as they were handed over, with what a person decided of their requirements since; those of a
/// set in a folder.
fn shown(
    run: &Run,
    journal: &dyn Journal,
    contracts: impl FnOnce() -> Option<Arc<Contracts>>,
) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let decisions: Vec<RequirementDecision> = run.requirement_decisions().collect();
    let contracts = (!decisions.is_empty()).then(contracts).flatten();
    let with_decisions = |schema: Option<&Name>, bytes: &[u8]| {
        let dialect = contracts.as_ref()?.document(schema?)?;
        dialect.decided(str::from_utf8(bytes).ok()?, &decisions).map(String::into_bytes)
    };
    for (name, given) in &run.artifacts {
        let Some(artifact) = run.protocol.artifacts.get(name) else { continue };
        let Some(path) = artifact.shown_at.as_ref().map(|path| path.replace("{run}", run.id.digits())) else {
            continue;
        };
        let Ok(Some(bytes)) = journal.object(given.object) else { continue };
        let schema = artifact.schema.as_ref();
        let rendered = |bytes: Vec<u8>| with_decisions(schema, &bytes).unwrap_or(bytes);
        let set = artifact.many.then(|| documents::unpack(str::from_utf8(&bytes).ok()?)).flatten();
        match set {
            Some(set) => {
                let rendered = |(file, text): (_, String)| (format!("{path}/{file}"), rendered(text.into_bytes()));
                files.extend(set.into_iter().map(rendered));
            }
            None => drop(files.insert(path, rendered(bytes.to_vec()))),
        }
    }
    files
}

/// A path below a folder; none when it would lead out of it.
fn inside(folder: &Path, path: &str) -> Option<PathBuf> {
    let plain = Path::new(path).components().all(|component| matches!(component, Component::Normal(_)));
    (plain && !path.is_empty()).then(|| folder.join(path))
}

fn put(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let next = path.with_extension("new");
    std::fs::write(&next, bytes)?;
    std::fs::rename(&next, path)
}

/// The last hand-off of each role, as it was written.
fn handoffs(run: &Run, template: &str, journal: &dyn Journal) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for (instance, reports) in &run.reports {
        let unit = run.instances.get(instance).and_then(|known| known.unit.as_deref()).unwrap_or("run");
        for report in reports {
            let path = template
                .replace("{run}", run.id.digits())
                .replace("{unit}", &crate::workspace::safe_name(unit))
                .replace("{role}", &report.role);
            if let Ok(Some(bytes)) = journal.object(report.object) {
                files.insert(path, bytes.to_vec());
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_projection_stays_in_its_folder() {
        let folder = Path::new("files");
        assert_eq!(inside(folder, "a/b.md"), Some(PathBuf::from("files/a/b.md")));
        for bad in ["", "../x", "/etc/passwd", "a/../../x"] {
            assert_eq!(inside(folder, bad), None, "{bad}");
        }
    }
}
