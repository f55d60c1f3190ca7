//! Secrets in a change: what adds one, or something in the shape of one, enters no tree of the run.

use tollgate_core::Name;
use tollgate_core::id::AttemptId;
use tollgate_core::redact::Secrets;
use tollgate_core::run::Run;
use tollgate_core::run::decide::AttemptResult;
use tollgate_core::scope::in_scope;

use super::{Failure, failed, patch, tree_id};
use crate::workspace::Workspace;

/// How many secrets are named.
const SHOWN_MAX: usize = 5;

/// Fails an attempt whose change adds a secret. Where a repository keeps examples of them, its configuration says so.
pub(super) fn refuse(
    workspace: &Workspace,
    run: &Run,
    id: AttemptId,
    secrets: &Secrets,
    result: &mut AttemptResult,
) -> Result<(), Failure> {
    let Some(content) = result.content.as_ref().filter(|_| !result.changed.is_empty()) else { return Ok(()) };
    let examples = run.opened.config.get("example_secrets").and_then(|list| list.as_array());
    let examples: Vec<Name> = examples.into_iter().flatten().filter_map(|glob| glob.as_str().map(Name::from)).collect();
    let is_example = |path: &str| !examples.is_empty() && in_scope(path, &examples);
    let (from, to) = (tree_id(&run.attempts[&id].tree)?, tree_id(&content.tree)?);
    let files = patch::read(workspace, &from, &to)?;
    let found = files.iter().filter(|(path, _)| !is_example(path));
    let found = found.filter_map(|(path, file)| Some(format!("{} in {path}", secrets.found_in(&file.added)?)));
    let found: Vec<String> = found.take(SHOWN_MAX).collect();
    if !found.is_empty() {
        let reason = format!("it wrote what looks like a secret: {}", found.join(", "));
        result.report = failed("secret", reason.clone());
        result.diagnostics.push(reason);
        result.content = None;
    }
    Ok(())
}
