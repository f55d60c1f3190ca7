//! A hook between any two writes, for tests and the simulator.

/// A moment between two writes of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Point {
    /// Before a large object is written; asked once per object.
    BeforeObject,
    /// After the objects, before anything of the transaction.
    BeforeRows,
    /// After the rows, before the commit.
    BeforeCommit,
    /// After the commit, before the heads are written beside it.
    AfterCommit,
    /// After the heads, before the writer hears of it.
    BeforeReply,
}

impl Point {
    /// Every moment, in order.
    pub const ALL: [Self; 5] =
        [Self::BeforeObject, Self::BeforeRows, Self::BeforeCommit, Self::AfterCommit, Self::BeforeReply];
}

/// What happens at such a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The disk fails: the writer gets an error. After the commit that error is a lie, as it can be in life.
    Fail,
    /// The process dies: what is not committed is lost, and this handle answers nothing any more.
    Crash,
}

/// Decides what goes wrong. A store asks it at every [`Point`].
pub trait Faults: Send + Sync {
    /// What goes wrong here, if anything.
    fn at(&self, point: Point) -> Option<Fault>;
}
