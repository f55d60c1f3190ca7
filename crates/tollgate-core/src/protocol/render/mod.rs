//! A protocol for people and programs: as a table, a drawing, or data.

mod dot;
mod drawing;
mod mermaid;
mod rows;
mod table;
mod wording;

use super::condition::Condition;

pub use dot::dot;
pub use mermaid::mermaid;
pub use rows::{Leads, OutcomeRow, StageRow, rows};
pub use table::table;

/// A condition in words.
pub fn condition(condition: &Condition) -> String {
    wording::condition(condition)
}
