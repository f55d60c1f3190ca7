//! The protocol language: its model, reading it, and the six checks.

pub mod condition;
pub mod model;
mod read;

pub use condition::Condition;
pub use model::Protocol;
pub use read::{read, read_tree};
