//! The command line as a person sees it: the real binary, in a folder of its own, under a pinned environment.
//! A snapshot holds the commands, their exit codes and what they print.

// A test that cannot be set up has failed.
#![allow(clippy::unwrap_used)]

mod contract;
mod explain;
mod protocol;
mod repository;
mod schemas;
mod worker;
mod world;
