//! A protocol for people and programs: as a table, a drawing, or data.

mod dot;
mod drawing;
mod mermaid;
mod table;
mod words;

use super::model::Protocol;

pub use dot::dot;
pub use mermaid::mermaid;
pub use table::table;

/// The model as JSON.
pub fn json(protocol: &Protocol) -> serde_json::Value {
    // The model holds names, numbers and lists: nothing in it can fail to be written.
    serde_json::to_value(protocol).unwrap_or_default()
}
