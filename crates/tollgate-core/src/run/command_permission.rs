//! Commands that need a person's word before they show anything: they change the tree that they are to check, or the work changed the
//! set-up that prepares them. A person is asked once.
//!
//! ```text
//! a command fails where the tree is held, and passes where it changes paths of it --> question `@writes`
//! the work changed the set-up that a command is prepared by                        --> question `@setup`
//!     --allow--> exactly these paths may be written by the run's commands; the work's set-up prepares them; and it runs again
//!     --refuse--> it stays unobservable on this content
//! ```

use std::collections::BTreeSet;

use super::decide::list;
use super::event::{CommandResult, DecisionEnd};
use super::state::{Attempt, Decision, Run, Shown};
use crate::Name;
use crate::report::Judgement;
use crate::words::words;

/// Git's own folder in the tree that a command checks: no path of the content, and what `git diff` believes about it.
pub const GIT_FOLDER: &str = ".git";
/// How many paths are named; the card of a question names all.
const NAMED_MAX: usize = 5;

/// What a person may allow the commands of a run. Its word stands for an ask: no protocol can use these names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// That they write paths of the tree that they check.
    Writes,
    /// That the set-up prepares them with what the work wrote.
    Setup,
}

words!(Permission { Writes = "@writes", Setup = "@setup" });

/// What a person can say of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtPermission {
    /// It is allowed.
    Allow,
    /// It is not: the row stays as it is, and goes the way of what cannot be observed.
    Refuse,
}

words!(AtPermission { Allow = "allow", Refuse = "refuse" });

/// What a command changes, in words.
pub fn changes(paths: &[&Name]) -> String {
    let (git, tracked): (Vec<&Name>, Vec<&Name>) = paths.iter().copied().partition(|path| ***path == *GIT_FOLDER);
    let are = if tracked.len() == 1 { "is" } else { "are" };
    let of_content = (!tracked.is_empty()).then(|| format!("{}, which {are} tracked", named(&tracked)));
    let of_git = (!git.is_empty()).then(|| format!("git's own folder (`{GIT_FOLDER}`)"));
    let parts: Vec<String> = of_content.into_iter().chain(of_git).collect();
    format!("changes {}", parts.join(", and "))
}

/// The first of these paths, and how many more there are.
pub(super) fn named(paths: &[&Name]) -> String {
    let more = paths.len().saturating_sub(NAMED_MAX);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", list(&paths[..paths.len().min(NAMED_MAX)]))
}

impl CommandResult {
    /// The paths that a person is asked about.
    pub(super) fn asks_for(&self, permission: Permission) -> &[Name] {
        match permission {
            Permission::Writes => &self.changes,
            Permission::Setup => &self.setup,
        }
    }

    /// The same with what is still to be asked about: what its attempt was allowed from the start is not, and what passes or fails
    /// needs nothing.
    #[must_use]
    pub(super) fn asks_beyond(mut self, ran: &Attempt) -> Self {
        let is_unobservable = self.result == Judgement::Unobservable;
        self.changes.retain(|path| is_unobservable && !ran.writes.contains(path));
        self.setup.retain(|_| is_unobservable && !ran.own_setup);
        self
    }
}

impl Run {
    /// The paths of the tree that a person lets the commands of this run write.
    pub fn command_writes(&self) -> BTreeSet<&Name> {
        self.answered(Permission::Writes, AtPermission::Allow).flat_map(|decision| &decision.asked.paths).collect()
    }

    /// Whether a person lets the work's own set-up prepare what is checked and judged in this run.
    pub fn allows_own_setup(&self) -> bool {
        self.answered(Permission::Setup, AtPermission::Allow).next().is_some()
    }

    /// Whether nothing more has to be asked about a path.
    pub(super) fn is_allowed(&self, permission: Permission, path: &Name) -> bool {
        match permission {
            Permission::Writes => self.command_writes().contains(path),
            Permission::Setup => self.allows_own_setup(),
        }
    }

    /// Whether a command that asks about these paths is refused it, by a person's word for this content.
    pub(super) fn refuses(&self, permission: Permission, paths: &[Name], tree: &Name) -> bool {
        let mut refused = self.answered(permission, AtPermission::Refuse).filter(|decision| decision.on.tree == *tree);
        refused.any(|decision| decision.asked.paths.iter().any(|path| paths.contains(path)))
    }

    /// Whether a result only says what the command needs a person's word for, and nobody refused that: it is run again with what it
    /// may do then.
    pub(super) fn runs_again(&self, shown: &Shown) -> bool {
        let asks = [(Permission::Writes, &shown.changes), (Permission::Setup, &shown.setup)];
        asks.iter().any(|(permission, paths)| !paths.is_empty() && !self.refuses(*permission, paths, &shown.on.tree))
    }

    fn answered(&self, permission: Permission, word: AtPermission) -> impl Iterator<Item = &Decision> {
        let decisions = self.decisions.values().map(|decision| &**decision);
        decisions.filter(move |decision| {
            let end = decision.end.as_ref().filter(|end| end.end == DecisionEnd::Answered);
            let option = end.and_then(|end| end.option.as_deref());
            decision.permission() == Some(permission) && option.and_then(AtPermission::parse) == Some(word)
        })
    }
}
