//! What a repository tells agents about itself, pinned when a run starts: a worker does not change what the next one is told.

use tollgate_core::scope::Entry;

use crate::workspace::{Workspace, WorkspaceError};

/// Where repositories keep it; the first that is there counts.
const FILES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md"];
/// What of it is shown.
const BYTES_MAX: usize = 16 << 10;

/// The instructions of the repository at the base of the run.
pub(crate) fn instructions(workspace: &Workspace, entries: &[Entry]) -> Result<Option<String>, WorkspaceError> {
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
