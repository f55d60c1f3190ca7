//! What agents read about a project: facts of the configuration, and the instructions of the repository, pinned when a run starts, so
//! that no worker changes what the next one reads.

use tollgate_core::scope::Entry;

use crate::workspace::{Workspace, WorkspaceError};

/// Where repositories keep it; the first that is there counts.
const FILES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md"];
/// What of it is shown.
const BYTES_MAX: usize = 16 << 10;

/// What is configured, and below it the instructions of the repository at the base of the run.
pub(crate) fn facts(
    configured: Option<&str>,
    workspace: &Workspace,
    entries: &[Entry],
) -> Result<Option<String>, WorkspaceError> {
    let configured = configured.map(|text| format!("The configuration says:\n\n{}\n", text.trim_end()));
    let all: Vec<String> = configured.into_iter().chain(instructions(workspace, entries)?).collect();
    Ok((!all.is_empty()).then(|| all.join("\n")))
}

/// The instructions of the repository.
fn instructions(workspace: &Workspace, entries: &[Entry]) -> Result<Option<String>, WorkspaceError> {
    let is_file = |path: &&&str| entries.iter().any(|entry| *entry.path == ***path && entry.mode.starts_with("100"));
    let Some(path) = FILES.iter().find(is_file) else {
        return Ok(None);
    };
    let Some(bytes) = workspace.file(&workspace.base().tree, path)? else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes);
    let end = text.floor_char_boundary(BYTES_MAX);
    let cut =
        if end < text.len() { format!("\n[cut: {end} of {} bytes of {path}]\n", text.len()) } else { String::new() };
    Ok(Some(format!("{path}, as the run began:\n\n{}{cut}", &text[..end])))
}
