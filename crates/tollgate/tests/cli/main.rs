//! The command line as a person sees it: the real binary, in a folder of its own, under a pinned environment.
//! A snapshot holds the commands, their exit codes and what they print.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test sets its world up, and fails when it cannot"
)]

mod contract;
mod crash;
mod demo;
mod explain;
mod happy;
mod health;
mod limits;
mod misbehave;
mod play;
mod protocol;
mod repository;
mod rows;
mod schemas;
mod signoff;
mod start;
mod terminal;
mod wire;
mod worker;
mod world;
