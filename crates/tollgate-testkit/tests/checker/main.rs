//! The protocol checker on the shipped protocols, with what the shipped contracts declare.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test makes files of its own and fails by panicking"
)]

mod clean;
mod hostile;
mod mutants;
mod renders;
mod shipped;
