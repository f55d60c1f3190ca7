//! Sorts a git change by what a task issue lists: [`rules`] has the four scope rules.

pub mod change;
mod colocated;
pub mod correction;
pub mod draft;
mod imports;
pub mod incidental;
mod item;
mod kinds;
mod languages;
mod names;
pub mod rules;
mod sides;
pub mod task;
mod tokens;

#[cfg(test)]
mod rules_tests;
