//! Documents in Markdown: headings, labels and list items as the definition lays them out, read into the tree and written from it.

mod items;
mod labels;
mod outline;
mod read;
mod second_document;
mod tables;
mod truncated;
mod write;

pub use labels::{is_unchecked, unmarked, without_box};
pub use outline::{Head, Outline, titles};
pub use read::read;
pub use second_document::second;
pub use write::{in_text, write};

#[cfg(test)]
mod tests;
