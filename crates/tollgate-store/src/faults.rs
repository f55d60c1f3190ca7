//! Moments between any two writes, by name: where tests and the simulator make a store fail, and where the crash campaign
//! kills the real program.

use std::sync::OnceLock;

macro_rules! points {
    ($($(#[$doc:meta])* $point:ident = $name:literal,)*) => {
        /// A moment between two writes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Point {
            $($(#[$doc])* $point,)*
        }

        impl Point {
            /// Every moment, in order.
            pub const ALL: &'static [Self] = &[$(Self::$point,)*];

            /// Its name, as the crash campaign knows it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$point => $name,)* }
            }
        }
    };
}

points! {
    /// Before a large object is written; asked once per object.
    BeforeObject = "before-object",
    /// After the objects, before anything of the transaction.
    BeforeRows = "before-rows",
    /// After a snapshot, within the transaction.
    SnapshotWritten = "snapshot-written",
    /// After the rows, before the commit.
    BeforeCommit = "before-commit",
    /// After the commit, before the heads are written beside it.
    AfterCommit = "after-commit",
    /// After the heads, before the writer hears of it.
    BeforeReply = "before-reply",
    /// After the events, before the projections.
    BeforeProjections = "before-projections",
    /// After the projections.
    AfterProjections = "after-projections",
    /// The work of a new run is made and its base pinned; the run is not in the journal.
    StartMade = "start-made",
    /// A driver has the run's lease; what a dead one left is still there.
    LeaseTaken = "lease-taken",
    /// What a dead driver left is in order; the take-over is not in the journal.
    Settled = "settled",
    /// An attempt is to be started, by what this run and the others know; nothing is appended.
    BeforeStarted = "before-started",
    /// The files of a new work tree are made beside its place.
    TreeMade = "tree-made",
    /// What a work tree held is kept; nothing has moved.
    TreeKept = "tree-kept",
    /// The old work tree is moved aside, the new one is not in its place.
    TreeAside = "tree-aside",
    /// The new work tree is in its place, the old one still aside.
    TreePut = "tree-put",
    /// Lease, tree and bundle are ready; the worker is not started.
    BeforeSpawn = "before-spawn",
    /// The worker is started and not recorded.
    Spawned = "spawned",
    /// The worker is recorded.
    WorkerRecorded = "worker-recorded",
    /// The worker has ended; nothing is measured.
    Reported = "reported",
    /// Report and change are known; nothing is appended.
    Measured = "measured",
    /// A command that checks is started and not recorded.
    CommandSpawned = "command-spawned",
    /// Before a change is merged.
    BeforeLand = "before-land",
    /// A change is merged; nothing is appended.
    AfterLand = "after-land",
    /// The closing commit is made; the branch does not point to it.
    CommitMade = "commit-made",
    /// The branch is there; nothing is appended.
    BranchMade = "branch-made",
    /// The base is no longer pinned; nothing is appended.
    Unpinned = "unpinned",
    /// The commit that lands is made; nothing has moved.
    LandMerged = "land-merged",
    /// The checkout is about to be moved; nothing in it has.
    LandBegun = "land-begun",
    /// The files of the checkout are those of the commit; index and branch are not.
    LandFiles = "land-files",
    /// Files and index are; the branch is not.
    LandIndex = "land-index",
    /// The branch is there; nothing is appended.
    LandPut = "land-put",
    /// What is cleaned up is out of its place, and still there.
    GcMoved = "gc-moved",
    /// The note of what is set aside is written; it is still in its place.
    GcNoted = "gc-noted",
    /// It is set aside.
    GcAside = "gc-aside",
}

impl Point {
    /// The moments at which every store asks its [`Faults`].
    pub const STORE: [Self; 5] =
        [Self::BeforeObject, Self::BeforeRows, Self::BeforeCommit, Self::AfterCommit, Self::BeforeReply];

    /// The moments that come when a person cleans up after runs.
    const CLEANING: [Self; 3] = [Self::GcMoved, Self::GcNoted, Self::GcAside];

    /// The moments that a run comes to on its way from its start to where it lands.
    pub fn of_a_run() -> Vec<Self> {
        Self::ALL.iter().copied().filter(|point| !Self::CLEANING.contains(point)).collect()
    }
}

/// What happens at such a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The disk fails: the writer gets an error. After the commit that error is a lie, as it can be in life.
    Fail,
    /// The process dies: what is not committed is lost, and this handle answers nothing any more.
    Crash,
}

/// Decides what goes wrong. A store asks it at every [`Point`] of its own.
pub trait Faults: Send + Sync {
    /// What goes wrong here, if anything.
    fn at(&self, point: Point) -> Option<Fault>;
}

type Hook = Box<dyn Fn(Point) + Send + Sync>;

static HOOK: OnceLock<Hook> = OnceLock::new();

/// Has a function called at every moment from now on; the first one given stays. Debug builds only: a release has no hook.
#[cfg(debug_assertions)]
pub fn arm(hook: Hook) {
    HOOK.set(hook).ok();
}

/// Says that a moment has come. In a release nothing happens, and nothing can be made to.
pub fn reach(point: Point) {
    if cfg!(debug_assertions)
        && let Some(hook) = HOOK.get()
    {
        hook(point);
    }
}
