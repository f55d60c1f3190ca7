//! What agents read about a project: what a person configured, and the instructions of the repository, pinned when a run starts, so that
//! no worker changes what the next one reads.

use tollgate_core::Name;
use tollgate_core::scope::Entry;

use crate::session::pinned_protocol::{INSTRUCTIONS, PROJECT};
use crate::workspace::{Workspace, WorkspaceError};

/// Where repositories keep it; the first that is there counts.
const FILES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md"];
/// What of it is kept; a brief shows the beginning.
const BYTES_MAX: usize = 1 << 20;

/// What is configured, and the instructions of the repository at the base of the run: each under the name that it is pinned by.
pub(crate) fn texts(
    configured: Option<&str>,
    workspace: &Workspace,
    entries: &[Entry],
) -> Result<Vec<(Name, Vec<u8>)>, WorkspaceError> {
    let configured = configured.map(|text| (PROJECT.into(), text.as_bytes().to_vec()));
    let mut all: Vec<(Name, Vec<u8>)> = configured.into_iter().collect();
    let is_file = |path: &&&str| entries.iter().any(|entry| *entry.path == ***path && entry.mode.starts_with("100"));
    if let Some(path) = FILES.iter().find(is_file)
        && let Some(mut bytes) = workspace.file(&workspace.base().tree, path)?
    {
        bytes.truncate(BYTES_MAX);
        all.push((format!("{INSTRUCTIONS}{path}").into(), bytes));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{folder, own_run, repository, write};
    use crate::workspace::{Dirty, Repository, Signature};

    /// The pins of a repository with these files, and what each of them says.
    fn told(configured: Option<&str>, files: &[(&str, &str)]) -> Vec<(String, String)> {
        let (root, state) = (repository("told", files), folder("state"));
        let by = Signature { name: "Ada".into(), email: "ada@example.org".into(), at_s: 1_700_000_000 };
        let found = Repository::open(&root, &state.join("scratch")).unwrap();
        let workspace = Workspace::create(&state, own_run(), found, Dirty::Refuse, &by).unwrap();
        // What the checkout says later is no word of the base.
        write(&root, "AGENTS.md", "later");
        let entries = workspace.entries(&workspace.base().tree).unwrap();
        let texts = texts(configured, &workspace, &entries).unwrap();
        texts.into_iter().map(|(pin, text)| (pin.to_string(), String::from_utf8(text).unwrap())).collect()
    }

    #[test]
    fn the_first_file_of_instructions_counts_as_it_was_committed() {
        let (agents, claude, copilot) =
            (("AGENTS.md", "a"), ("CLAUDE.md", "c"), (".github/copilot-instructions.md", "g"));
        let of = |files: &[(&str, &str)]| told(None, files);
        let one = |(path, text): (&str, &str)| vec![(format!("instructions:{path}"), text.to_owned())];
        assert_eq!(of(&[agents, claude, copilot]), one(agents));
        assert_eq!(of(&[claude, copilot]), one(claude));
        assert_eq!(of(&[copilot]), one(copilot));
        assert_eq!(of(&[("README.md", "r")]), Vec::new());
        let both = [("project".to_owned(), "A shop.".to_owned()), one(claude).remove(0)];
        assert_eq!(told(Some("A shop."), &[claude]), both);
    }
}
