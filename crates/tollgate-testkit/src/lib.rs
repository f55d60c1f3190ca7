//! What the tests of several crates share: conformance suites, scripts and simulations of runs, and folders that clean
//! up after themselves.

pub mod damage;
pub mod golden;
pub mod journal_conformance;
pub mod log;
pub mod model;
pub mod sample;
pub mod script;
pub mod sim;
pub mod temp;
pub mod world;
