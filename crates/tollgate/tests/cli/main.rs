//! The command line as a person sees it: the real binary, in a folder of its own, under a pinned environment.
//! A snapshot holds the commands, their exit codes and what they print.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test sets its world up, and fails when it cannot"
)]

mod contract;
mod explain;
mod look;
mod proof;
mod protocol;
mod repository;
mod schemas;
mod worker;
mod world;
