//! Commands that change the tree that they are to check: a person is asked once which of these paths they may write.
//!
//! ```text
//! a command fails where the tree is held, and passes where it changes paths of it --> question `@writes`
//!     --allow--> exactly these paths may be written by the run's commands, and it runs again
//!     --refuse--> it stays unobservable on this content
//! ```

use std::collections::BTreeSet;

use super::event::{CommandResult, DecisionEnd};
use super::state::{Decision, Run, Shown};
use crate::Name;
use crate::report::Judgement;
use crate::words::words;

/// Stands for an ask where a command that changes the tree puts its question: no protocol can use this name.
pub const WRITES: &str = "@writes";

/// What a person can say of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtWrites {
    /// These paths may be written.
    Allow,
    /// They may not: the row stays as it is, and goes the way of what cannot be observed.
    Refuse,
}

words!(AtWrites { Allow = "allow", Refuse = "refuse" });

impl CommandResult {
    /// The same with the changes that are still to be asked about: what its attempt was allowed to write from the start is not, and what
    /// passes or fails needs none.
    #[must_use]
    pub(super) fn changes_beyond(mut self, allowed: &BTreeSet<Name>) -> Self {
        let is_unobservable = self.result == Judgement::Unobservable;
        self.changes.retain(|path| is_unobservable && !allowed.contains(path));
        self
    }
}

impl Run {
    /// The paths of the tree that a person lets the commands of this run write.
    pub fn command_writes(&self) -> BTreeSet<&Name> {
        self.answered_writes(AtWrites::Allow).flat_map(|decision| &decision.asked.paths).collect()
    }

    /// Whether a command that has to write these paths may not, by a person's word for this content.
    pub(super) fn refuses_writes(&self, paths: &[Name], tree: &Name) -> bool {
        let mut refused = self.answered_writes(AtWrites::Refuse).filter(|decision| decision.on.tree == *tree);
        refused.any(|decision| decision.asked.paths.iter().any(|path| paths.contains(path)))
    }

    /// Whether a result only says what the command has to write, and nobody refused that: it is run again with what it may write then.
    pub(super) fn runs_again(&self, shown: &Shown) -> bool {
        !shown.changes.is_empty() && !self.refuses_writes(&shown.changes, &shown.on.tree)
    }

    fn answered_writes(&self, word: AtWrites) -> impl Iterator<Item = &Decision> {
        let decisions = self.decisions.values().map(|decision| &**decision);
        decisions.filter(move |decision| {
            let end = decision.end.as_ref().filter(|end| end.end == DecisionEnd::Answered);
            let option = end.and_then(|end| end.option.as_deref());
            decision.is_of_writes() && option.and_then(AtWrites::parse) == Some(word)
        })
    }
}
