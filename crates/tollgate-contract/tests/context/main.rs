//! What attempts of a small run are shown. The run is built through the kernel, report by report.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test makes files of its own and fails by panicking"
)]

mod bench;
mod bounds;
mod briefs;
mod isolation;
mod next;
