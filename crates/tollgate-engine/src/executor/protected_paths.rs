//! Protected paths: tests and guard files that a change may add to, and not weaken.

use std::collections::BTreeMap;

use tollgate_core::Name;
use tollgate_core::id::AttemptId;
use tollgate_core::run::Run;
use tollgate_core::run::decide::AttemptResult;
use tollgate_core::scope::protects;

use super::patch::{self, FileLines, PatchVisitor};
use super::{Failure, failed, tree_id};
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

/// What became of one protected file.
#[derive(Default)]
struct Guarded {
    removed: usize,
    odd: bool,
    /// The line that skips a test.
    skips: Option<String>,
}

/// Looks at what became of protected files.
struct Guard {
    patterns: Vec<Name>,
    files: BTreeMap<String, Guarded>,
}

impl PatchVisitor for Guard {
    fn visit(&mut self, lines: &FileLines) {
        if !self.patterns.iter().any(|pattern| protects(pattern, &lines.path)) {
            return;
        }
        let file = self.files.entry(lines.path.clone()).or_default();
        (file.removed, file.odd) = (lines.removed, lines.odd);
        if file.skips.is_none() {
            let added = String::from_utf8_lossy(&lines.added);
            let skips = added.lines().find(|line| SKIPS.iter().any(|skip| line.contains(skip)));
            file.skips = skips.map(|line| line.trim().chars().take(60).collect());
        }
    }
}

/// What is protected.
pub(super) fn patterns(run: &Run) -> Vec<Name> {
    let patterns = run.opened.config.get("protected").and_then(|list| list.as_array());
    patterns.into_iter().flatten().filter_map(|glob| glob.as_str().map(Name::from)).collect()
}

/// Fails an attempt whose change weakens a protected path: a line or a file is gone, or a test is skipped.
pub(super) fn refuse(
    workspace: &Workspace,
    run: &Run,
    id: AttemptId,
    result: &mut AttemptResult,
) -> Result<(), Failure> {
    let Some(content) = result.content.as_ref().filter(|_| !result.changed.is_empty()) else { return Ok(()) };
    let patterns = patterns(run);
    if !result.changed.iter().any(|change| patterns.iter().any(|pattern| protects(pattern, &change.path))) {
        return Ok(());
    }
    let (from, to) = (tree_id(&run.attempts[&id].tree)?, tree_id(&content.tree)?);
    let guard = patch::read(workspace, &from, &to, Guard { patterns, files: BTreeMap::new() })?;
    let weakened = guard.files.iter().filter_map(|(path, file)| match (file.removed, &file.skips) {
        (_, Some(line)) => Some(format!("{path}: a test is skipped (`{line}`)")),
        (1, None) => Some(format!("{path}: a line is gone")),
        (lines, None) if lines > 0 => Some(format!("{path}: {lines} lines are gone")),
        (_, None) if file.odd => Some(format!("{path}: it is gone, or is no longer the plain file that it was")),
        _ => None,
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
