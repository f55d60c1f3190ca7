//! The protocol language: its model, reading it, and the six checks.

pub mod condition;
pub mod model;

pub use condition::Condition;
pub use model::Protocol;
