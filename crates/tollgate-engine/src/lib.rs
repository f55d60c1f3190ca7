//! What Tollgate does: drives runs, starts workers, keeps work trees, runs commands.
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests make files of their own")
)]

pub mod around;
mod by_hand;
pub mod by_names;
pub mod clock;
pub mod delegate;
mod documents;
pub mod driver;
pub mod gates;
pub mod gc;
pub mod git;
pub mod git_program;
pub mod hands;
pub mod holder;
pub mod landing;
pub mod needed;
pub mod pinned;
pub mod process;
pub mod projection;
pub mod repair;
pub mod sandbox;
pub mod service;
pub mod session;
pub mod setup;
pub mod summary;
pub mod verify;
mod way;
pub mod workers;
pub mod workspace;

#[cfg(test)]
mod testing;
