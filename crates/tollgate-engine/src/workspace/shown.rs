//! Work trees in a person's hands: shown with a question, changed by hand, given back with the answer.
//!
//! Beside each tree stands the content it had when it was shown. While the run has it at that content and no worker was
//! sent there since, what lies in it is the person's, whichever question shows it.

use super::claim::Held;
use super::files::write_whole;
use super::{WorkTree, Workspace, WorkspaceError};
use crate::git::ObjectId;

impl Workspace {
    /// The work tree that a question shows, for somebody who may change it by hand. Shown the first time it holds `start`,
    /// whatever was left there.
    pub fn shown_tree(&self, unit: Option<&str>, start: &ObjectId) -> Result<WorkTree, WorkspaceError> {
        let tree = self.locate(unit);
        if !self.is_shown(&tree, start) {
            let _held = self.hold_clean()?;
            if !self.is_shown(&tree, start) {
                if !self.holds(&tree, start) {
                    self.reset_tree(unit, start, &|_| false)?;
                }
                self.shows(&tree, start)?;
            }
        }
        Ok(tree)
    }

    /// The work tree that a person gives back, and the hold on it. Nothing is put back: what was never shown as it stands is
    /// shown now, and taken with the next answer.
    pub fn given_tree(&self, unit: Option<&str>, start: &ObjectId) -> Result<(WorkTree, Held), WorkspaceError> {
        let tree = self.locate(unit);
        if !tree.is_there() {
            return Err(WorkspaceError::Gone(self.shown_tree(unit, start)?.path));
        }
        let held = self.hold_clean()?;
        if !self.is_shown(&tree, start) {
            let untouched = self.holds(&tree, start);
            self.shows(&tree, start)?;
            if !untouched {
                return Err(WorkspaceError::NotShown(tree.path));
            }
        }
        Ok((tree, held))
    }

    /// Notes that a work tree is in a person's hands, at this content of the run.
    pub fn shows(&self, tree: &WorkTree, content: &ObjectId) -> Result<(), WorkspaceError> {
        write_whole(&self.shown_mark(tree), content.as_str().as_bytes())
    }

    /// A worker is sent there: what it leaves is not a person's.
    pub fn takes_back(&self, tree: &WorkTree) {
        std::fs::remove_file(self.shown_mark(tree)).ok();
    }

    fn is_shown(&self, tree: &WorkTree, content: &ObjectId) -> bool {
        tree.is_there() && std::fs::read_to_string(self.shown_mark(tree)).is_ok_and(|text| text == content.as_str())
    }

    fn shown_mark(&self, tree: &WorkTree) -> std::path::PathBuf {
        self.run_folder().join("shown").join(&tree.name)
    }

    /// Holds the run's work, without the locks of a git that was killed.
    fn hold_clean(&self) -> Result<Held, WorkspaceError> {
        let held = Self::hold(&self.state, self.run)?;
        self.folder.sweep_locks();
        Ok(held)
    }
}
