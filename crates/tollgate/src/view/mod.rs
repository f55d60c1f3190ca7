//! What people see: text that cannot harm a terminal, words for states and times, tables, the live region.

pub mod text;
pub mod words;
pub mod table;
