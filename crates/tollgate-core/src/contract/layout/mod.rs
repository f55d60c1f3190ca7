//! Documents in Markdown: headings, labels and list items as the definition lays them out, read into the tree and written from it.

mod cut;
mod items;
mod label;
mod labels;
mod marks;
mod neutral;
mod outline;
mod read;
mod second;
mod unknown;
mod write;

pub use label::{is_crossed, is_unchecked};
pub use neutral::doubted;
pub use outline::{heads, titles};
pub use read::read;
pub use second::second;
pub use unknown::{demanded, where_to};
pub use write::{in_text, write};

#[cfg(test)]
mod tests;
