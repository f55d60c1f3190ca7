//! Secrets in a change: what adds one, or something in the shape of one, enters no tree of the run.

use std::collections::BTreeMap;

use tollgate_core::Name;
use tollgate_core::id::AttemptId;
use tollgate_core::redact::Secrets;
use tollgate_core::run::Run;
use tollgate_core::run::decide::AttemptResult;
use tollgate_core::scope::in_scope;

use super::{Failure, failed, tree_id};
use crate::workspace::Workspace;

/// How much of a change is looked through, and how many secrets are named.
const PATCH_BYTES_MAX: usize = 64 * 1024 * 1024;
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
    let (patch, _) = workspace.diff(&from, &to, None, PATCH_BYTES_MAX)?;
    let added = added(&patch);
    let found = added.iter().filter(|(path, _)| !is_example(path));
    let found = found.filter_map(|(path, text)| Some(format!("{} in {path}", secrets.found_in(text)?)));
    let found: Vec<String> = found.take(SHOWN_MAX).collect();
    if !found.is_empty() {
        let reason = format!("it wrote what looks like a secret: {}", found.join(", "));
        result.report = failed("secret", reason.clone());
        result.diagnostics.push(reason);
        result.content = None;
    }
    Ok(())
}

/// The lines that a patch adds to each file.
fn added(patch: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let (mut file, mut within) = (String::new(), false);
    for line in patch.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b"diff --git ") {
            within = false;
        } else if line.starts_with(b"@@") {
            within = true;
        } else if let (false, Some(path)) = (within, line.strip_prefix(b"+++ ")) {
            let path = String::from_utf8_lossy(path.trim_ascii_end());
            file = path.trim_start_matches('"').trim_start_matches("b/").trim_end_matches('"').to_owned();
        } else if let (true, Some(text)) = (within, line.strip_prefix(b"+")) {
            files.entry(file.clone()).or_default().extend_from_slice(text);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_added_is_looked_at() {
        let patch = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n-old\n same\n+new\n+++ odd\n\
            diff --git a/y b/y\nnew file mode 100644\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+y\n";
        let added = added(patch);
        assert_eq!(added["x"], b"new\n++ odd\n");
        assert_eq!(added["y"], b"y\n");
        assert_eq!(added.len(), 2);
    }
}
