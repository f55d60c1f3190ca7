//! Custody of work trees: a person is shown one with a question, may edit it, and returns it with the answer.
//!
//! A file beside each tree records who has it, and its content at that time. A difference from that content is a person's edit,
//! unless a worker is there or left it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::files::write_whole;
use super::locks::WorkLock;
use super::{WorkTree, Workspace, WorkspaceError};
use crate::git::ObjectId;

/// How long a look waits for whoever has the run's work in hand.
const LOOK_LIMIT: Duration = Duration::from_millis(500);

/// Who has a work tree, and its content when they got it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Custody {
    /// A person's, who was shown it at this content.
    Shown(ObjectId),
    /// Nobody's: made, or left by a worker, with this content.
    Left(ObjectId),
    /// A worker's, under this token.
    Sent(u64),
    /// Nobody's: a worker was there, and what it left could not be measured.
    Back,
}

impl Custody {
    fn text(&self) -> String {
        match self {
            Self::Shown(content) => format!("shown {content}"),
            Self::Left(content) => format!("left {content}"),
            Self::Sent(token) => format!("sent {token}"),
            Self::Back => "back".to_owned(),
        }
    }

    fn read(text: &str) -> Option<Self> {
        match text.split_once(' ') {
            Some(("shown", content)) => ObjectId::parse(content).map(Self::Shown),
            Some(("left", content)) => ObjectId::parse(content).map(Self::Left),
            Some(("sent", token)) => token.parse().ok().map(Self::Sent),
            _ => (text == "back").then_some(Self::Back),
        }
    }

    fn content(&self) -> Option<&ObjectId> {
        match self {
            Self::Shown(content) | Self::Left(content) => Some(content),
            Self::Sent(_) | Self::Back => None,
        }
    }
}

/// A work tree that a person gives back: nobody else touches it until its answer is written down.
#[derive(Debug)]
pub struct ReturnedTree {
    /// Which.
    pub tree: WorkTree,
    /// What it held when the person was shown it.
    pub shown: ObjectId,
    /// What it holds now.
    pub given: ObjectId,
    /// The hold.
    pub held: WorkLock,
}

/// What the journal says of a work tree.
#[expect(missing_debug_implementations, reason = "questions have no content")]
#[derive(Clone, Copy)]
pub struct TreeRecord<'a> {
    /// What the run has there.
    pub start: &'a ObjectId,
    /// Whether a worker has a lease under a token.
    pub is_leased: &'a dyn Fn(u64) -> bool,
    /// Whether it names a tree.
    pub names: &'a dyn Fn(&ObjectId) -> bool,
}

/// The threads of a process share its hold; what is noted of a tree is looked at and changed in one.
static NOTED: Mutex<()> = Mutex::new(());

impl Workspace {
    /// The work tree that a question shows, for somebody who may change it by hand: what the run has there, with what a person has
    /// changed of it already.
    /// For one who holds the run's work.
    pub fn tree_to_edit(&self, unit: Option<&str>, recorded: TreeRecord<'_>) -> Result<WorkTree, WorkspaceError> {
        let (tree, start) = (self.locate(unit), recorded.start);
        if self.is_shown(unit, start).is_none() {
            let custody = self.custody_of(&tree);
            // What was changed of something older is not put away by a look: the answer says so. What was given back, and is
            // not in the journal any more, is such a change; what a worker left, and nobody took, is none.
            let edited = custody.as_ref().is_some_and(|custody| match custody {
                Custody::Shown(content) => !((recorded.names)(content) && self.holds(&tree, content)),
                Custody::Left(content) => !self.holds(&tree, content),
                Custody::Sent(_) | Custody::Back => false,
            });
            let stale = custody.as_ref().and_then(Custody::content) != Some(start);
            if !tree.is_there() || !(is_worked_in(custody.as_ref(), recorded) || edited && stale) {
                self.show(unit, start)?;
            }
        }
        Ok(tree)
    }

    /// The work tree that was shown at this content, and is there.
    pub fn is_shown(&self, unit: Option<&str>, start: &ObjectId) -> Option<WorkTree> {
        let shown = |tree: &WorkTree| tree.is_there() && self.custody_of(tree) == Some(Custody::Shown(start.clone()));
        Some(self.locate(unit)).filter(shown)
    }

    /// The work tree that a person gives back, for one who holds the run's work. What could not be shown as it stood is put away first, and not
    /// taken: the person is shown what the run has, and told where the rest is.
    pub fn returned_tree(&self, unit: Option<&str>, recorded: TreeRecord<'_>) -> Result<WorkTree, WorkspaceError> {
        let tree = self.locate(unit);
        let gone = !tree.is_there();
        if is_worked_in(self.custody_of(&tree).as_ref(), recorded) && !gone {
            return Err(WorkspaceError::WorkedIn(tree.path));
        }
        let put_away = self.show(unit, recorded.start)?;
        match (gone, put_away) {
            (true, _) => Err(WorkspaceError::Gone(tree.path)),
            (false, true) => Err(WorkspaceError::NotShown { path: tree.path, kept: self.git_folder() }),
            (false, false) => Ok(tree),
        }
    }

    /// Records who has a work tree.
    pub fn set_custody(&self, tree: &WorkTree, custody: &Custody) -> Result<(), WorkspaceError> {
        let _noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
        write_whole(&self.custody_file(tree), custody.text().as_bytes())
    }

    /// A worker is there no more, however it ended. Whoever was sent there since stays.
    pub fn worker_left(&self, tree: &WorkTree, token: u64) -> Result<(), WorkspaceError> {
        self.pass_on(tree, &Custody::Sent(token), &Custody::Back)
    }

    /// What a person gave back is in the run. The tree stays theirs until a worker is sent there, who may be there already.
    pub fn accept_returned(&self, taken: ReturnedTree) -> Result<(), WorkspaceError> {
        let ReturnedTree { tree, shown, given, held: _held } = taken;
        self.pass_on(&tree, &Custody::Shown(shown), &Custody::Shown(given))
    }

    /// What was changed by hand in trees that were shown, and was never given back or is not in the journal any more, is kept under a
    /// ref: the run is over. What cannot be measured stays where it is.
    pub fn keep_manual_edits(&self, is_known: &dyn Fn(&ObjectId) -> bool) {
        for (tree, custody) in self.noted() {
            if let Custody::Shown(content) = custody {
                self.keep(&tree, &|held| *held == content && is_known(held)).ok();
            }
        }
    }

    /// What a worker left in a tree may stand on a person's change that the journal has lost: it counts as a person's.
    /// For one who holds the run's work.
    pub fn treat_lost_as_manual(&self, is_known: &dyn Fn(&ObjectId) -> bool) {
        for (tree, custody) in self.noted() {
            if let Custody::Left(content) = &custody
                && !is_known(content)
            {
                self.pass_on(&tree, &custody, &Custody::Shown(content.clone())).ok();
            }
        }
    }

    /// The trees that exist, with who has each.
    fn noted(&self) -> impl Iterator<Item = (WorkTree, Custody)> {
        let entries = std::fs::read_dir(self.run_folder().join("hands")).into_iter().flatten().flatten();
        entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let tree = WorkTree { path: self.locate(None).path.with_file_name(&name), name };
            let custody = self.custody_of(&tree).filter(|_| tree.is_there())?;
            Some((tree, custody))
        })
    }

    fn pass_on(&self, tree: &WorkTree, from: &Custody, to: &Custody) -> Result<(), WorkspaceError> {
        let _noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
        if self.custody_of(tree).as_ref() != Some(from) {
            return Ok(());
        }
        write_whole(&self.custody_file(tree), to.text().as_bytes())
    }

    /// Gives a tree to a person; answers whether its earlier content was put away.
    fn show(&self, unit: Option<&str>, start: &ObjectId) -> Result<bool, WorkspaceError> {
        let tree = self.locate(unit);
        let custody = self.custody_of(&tree).filter(|_| tree.is_there());
        if custody.as_ref() == Some(&Custody::Shown(start.clone())) {
            return Ok(false);
        }
        // A change to what the run has still is a person's; to what it had before, it would take back what came since.
        let is_current = custody.as_ref().and_then(Custody::content) == Some(start);
        let stays = is_current || self.holds(&tree, start);
        if !stays {
            self.reset_tree(unit, start, &|_| false)?;
        }
        self.set_custody(&tree, &Custody::Shown(start.clone()))?;
        Ok(!stays)
    }

    fn custody_of(&self, tree: &WorkTree) -> Option<Custody> {
        Custody::read(std::fs::read_to_string(self.custody_file(tree)).ok()?.trim())
    }

    fn custody_file(&self, tree: &WorkTree) -> std::path::PathBuf {
        self.run_folder().join("hands").join(&tree.name)
    }

    /// Holds the run's work, without the locks of a git that was killed.
    pub fn lock_clean(&self) -> Result<WorkLock, WorkspaceError> {
        self.clean(Self::lock(&self.state, self.run)?)
    }

    /// As [`Self::hold_clean`], for one who only looks: who has the work in hand is waited for a moment.
    pub fn lock_briefly(&self) -> Result<WorkLock, WorkspaceError> {
        self.clean(Self::lock_within(&self.state, self.run, LOOK_LIMIT)?)
    }

    fn clean(&self, held: WorkLock) -> Result<WorkLock, WorkspaceError> {
        self.folder.sweep_locks();
        Ok(held)
    }
}

/// Whether a worker is there: one that the journal does not know was cut off together with what it says of it.
fn is_worked_in(custody: Option<&Custody>, recorded: TreeRecord<'_>) -> bool {
    matches!(custody, Some(Custody::Sent(token)) if (recorded.is_leased)(*token))
}
