//! Protected paths: tests and guard files that a change may add to, and not weaken.

use tollgate_core::Name;
use tollgate_core::id::AttemptId;
use tollgate_core::run::Run;
use tollgate_core::run::decide::AttemptResult;
use tollgate_core::scope::in_scope;

use super::{Failure, failed, patch, tree_id};
use crate::workspace::Workspace;

const SHOWN_MAX: usize = 5;
/// How tests are switched off, in the languages that people write them in.
const SKIPS: [&str; 18] = [
    "#[ignore",
    ".skip(",
    ".skip.",
    ".only(",
    ".todo(",
    "xit(",
    "xtest(",
    "xdescribe(",
    "@skip",
    "mark.skip",
    "mark.xfail",
    "pytest.skip",
    "skipTest(",
    "@Ignore",
    "@Disabled",
    "t.Skip",
    "@unittest.expectedFailure",
    "XCTSkip",
];

/// Fails an attempt whose change weakens a protected path: a line or a file is gone, or a test is skipped.
pub(super) fn refuse(
    workspace: &Workspace,
    run: &Run,
    id: AttemptId,
    result: &mut AttemptResult,
) -> Result<(), Failure> {
    let Some(content) = result.content.as_ref().filter(|_| !result.changed.is_empty()) else { return Ok(()) };
    let patterns = run.opened.config.get("protected").and_then(|list| list.as_array());
    let patterns: Vec<Name> = patterns.into_iter().flatten().filter_map(|glob| glob.as_str().map(Name::from)).collect();
    if !result.changed.iter().any(|change| !patterns.is_empty() && in_scope(&change.path, &patterns)) {
        return Ok(());
    }
    let (from, to) = (tree_id(&run.attempts[&id].tree)?, tree_id(&content.tree)?);
    let files = patch::read(workspace, &from, &to)?;
    let weakened = files.iter().filter(|(path, _)| in_scope(path, &patterns)).filter_map(|(path, file)| {
        let skips = String::from_utf8_lossy(&file.added)
            .lines()
            .find(|line| SKIPS.iter().any(|skip| line.contains(skip)))
            .map(str::to_owned);
        match (file.removed, skips) {
            (_, Some(line)) => {
                Some(format!("{path}: a test is skipped (`{}`)", line.trim().chars().take(60).collect::<String>()))
            }
            (1, None) => Some(format!("{path}: a line is gone")),
            (lines, None) if lines > 0 => Some(format!("{path}: {lines} lines are gone")),
            (_, None) if file.odd => Some(format!("{path}: it is gone, or is no longer the plain file that it was")),
            _ => None,
        }
    });
    let weakened: Vec<String> = weakened.take(SHOWN_MAX).collect();
    if !weakened.is_empty() {
        let reason = format!("it weakened what is protected: {}", weakened.join("; "));
        result.report = failed("protected", reason.clone());
        result.diagnostics.push(reason);
        result.content = None;
    }
    Ok(())
}
