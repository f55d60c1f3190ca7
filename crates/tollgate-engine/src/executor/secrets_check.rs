//! Secrets in a change: what adds one, or something in the shape of one, enters no tree of the run.

use std::sync::Arc;

use tollgate_core::Name;
use tollgate_core::id::AttemptId;
use tollgate_core::path::unquote;
use tollgate_core::redact::Secrets;
use tollgate_core::run::Run;
use tollgate_core::run::decide::AttemptResult;
use tollgate_core::run::event::ChangeKind;
use tollgate_core::scope::in_scope;

use super::binary_files;
use super::patch::{self, FileLines, PatchVisitor};
use super::{Failure, failed, tree_id};
use crate::workspace::Workspace;

/// How many secrets are named.
const SHOWN_MAX: usize = 5;

/// Looks for secrets in what files got.
struct Search {
    secrets: Arc<Secrets>,
    /// Where a repository keeps examples of them.
    examples: Vec<Name>,
    found: Vec<String>,
    /// What git shows no lines of, with its contents before and after.
    unshown: Vec<(String, (String, String))>,
}

impl PatchVisitor for Search {
    fn visit(&mut self, lines: &FileLines) {
        let is_example = !self.examples.is_empty() && in_scope(&lines.path, &self.examples);
        if is_example || self.found.len() == SHOWN_MAX {
            return;
        }
        self.unshown.extend(lines.blobs.clone().map(|blobs| (lines.path.clone(), blobs)));
        let found = self.secrets.found_in(&lines.added).map(|what| format!("{what} in {}", lines.path));
        self.found.extend(found.filter(|found| !self.found.contains(found)).into_iter().collect::<Vec<_>>());
    }
}

/// Fails an attempt whose change adds a secret. Where a repository keeps examples of them, its configuration says so.
pub(super) fn refuse(
    workspace: &Workspace,
    run: &Run,
    id: AttemptId,
    secrets: &Arc<Secrets>,
    result: &mut AttemptResult,
) -> Result<(), Failure> {
    let Some(content) = result.content.as_ref().filter(|_| !result.changed.is_empty()) else { return Ok(()) };
    let examples = run.opened.config.get("example_secrets").and_then(|list| list.as_array());
    let examples: Vec<Name> = examples.into_iter().flatten().filter_map(|glob| glob.as_str().map(Name::from)).collect();
    let (from, to) = (tree_id(&run.attempts[&id].tree)?, tree_id(&content.tree)?);
    let is_example = |path: &str| !examples.is_empty() && in_scope(path, &examples);
    let new = result.changed.iter().filter(|changed| changed.kind == ChangeKind::Created && !is_example(&changed.path));
    let names = new.filter_map(|changed| secrets.found_in(&unquote(&changed.path)));
    let mut found: Vec<String> = names.take(1).map(|what| format!("{what} in the name of a file")).collect();
    let search = Search { secrets: Arc::clone(secrets), examples, found: Vec::new(), unshown: Vec::new() };
    let search = patch::read(workspace, &from, &to, search)?;
    found.extend(search.found);
    found.extend(binary_files::added(workspace, secrets, &search.unshown)?);
    found.truncate(SHOWN_MAX);
    if !found.is_empty() {
        let reason = format!("it wrote what looks like a secret: {}", found.join(", "));
        result.report = failed("secret", reason.clone());
        result.diagnostics.push(reason);
        result.content = None;
    }
    Ok(())
}

/// Takes secrets out of what was measured: names of files, branches and the like are a worker's words too.
pub(super) fn scrub(secrets: &Secrets, result: &mut AttemptResult) {
    let words = result.noticed.iter_mut().chain(&mut result.diagnostics).chain([&mut result.report.reason]);
    words.for_each(|word| *word = secrets.scrubbed(word));
    // What was refused enters no tree. A path of the tree itself stays what it is.
    if result.content.is_none() {
        result.changed.iter_mut().for_each(|changed| changed.path = secrets.scrubbed(&changed.path).into());
    }
}
