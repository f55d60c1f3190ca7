//! What the tests of several crates share: conformance suites and folders that clean up after themselves.

pub mod journal_conformance;
pub mod temp;
