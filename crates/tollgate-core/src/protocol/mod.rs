//! The protocol language: its model, reading it, and the six checks.

mod artifact;
mod check;
pub mod condition;
pub mod dialects;
pub mod graph;
pub mod model;
mod outcome;
mod projection;
pub mod reached;
mod read;
pub mod render;
mod sees;

pub use check::check;
pub use condition::Condition;
pub use dialects::{Brought, Declaration, Dialects, SectionClass};
pub use model::Protocol;
pub use outcome::{LandOutcome, Outcome};
pub use read::{read, read_tree};
