//! What Tollgate does: drives runs, starts workers, keeps work trees, runs commands.

pub mod gates;
pub mod git;
pub mod process;
#[cfg(test)]
mod testing;
pub mod workers;
pub mod workspace;
