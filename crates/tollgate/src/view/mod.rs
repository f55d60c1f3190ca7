//! What people see: text that cannot harm a terminal, words for states and times, tables, the live region.

pub mod budget;
pub mod decisions;
pub mod diagnostic;
pub mod evidence;
pub mod failure;
pub mod matrix;
pub mod progress;
pub mod progress_model;
pub mod question;
pub mod scope;
pub mod show;
pub mod status;
pub mod table;
pub mod text;
