//! Lists of paths, as people write the scope of a change: what an item is, and what it holds.

pub mod held;
pub mod item;
