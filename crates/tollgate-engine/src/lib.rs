//! What Tollgate does: drives runs, starts workers, keeps work trees, runs commands.
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests make files of their own")
)]

pub mod clock;
pub mod delegate;
pub mod driver;
pub mod executor;
pub mod gc;
pub mod git;
pub mod paths;
pub mod process;
pub mod sandbox;
pub mod service;
pub mod session;
pub mod verify;
pub mod workers;
pub mod workspace;

#[cfg(test)]
mod testing;
