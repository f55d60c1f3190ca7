//! Sorts a git change by what a task issue lists: [`rules`] has the four scope rules.

pub mod blocker;
pub mod change;
mod change_kinds;
mod colocated;
pub mod correction;
mod diff;
mod imports;
pub mod incidental;
mod languages;
mod renames;
pub mod rules;
pub mod task;
mod tokens;

#[cfg(test)]
mod rules_tests;
