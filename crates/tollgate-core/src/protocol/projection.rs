//! Projections: files that are rendered from a run's state for readers.

use serde::Serialize;

use crate::Name;
use crate::diagnostic::Place;
use crate::words::words;

/// A file of a run that a renderer writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Projection {
    /// The word of a [`Renderer`]; a protocol that was pinned by another build may name one that is unknown here.
    pub renderer: Name,
    pub place: Place,
}

/// What can be rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renderer {
    /// The last report of each role, as it was written.
    Handoffs,
}

words!(Renderer { Handoffs = "status-block.handoff" });

impl Renderer {
    /// What its path may hold in braces.
    pub const fn placeholders(self) -> &'static [&'static str] {
        match self {
            Self::Handoffs => &["run", "unit", "role"],
        }
    }
}
