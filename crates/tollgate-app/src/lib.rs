//! What every skin calls: starting a run, deciding, retrying, listing, details, watching.
//!
//! Who acts is an argument of each call, and so is the time. A failure says what, where, why and what to do next, so that a
//! skin only prints it. Nothing here prints, reads flags or a terminal, or looks at the environment of the process on its own.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make files of their own"))]

pub mod budget;
pub mod config;
pub mod contracts;
pub mod control;
pub mod decision;
pub mod delivery;
pub mod detail;
pub mod drive;
pub mod engine_errors;
pub mod environment;
pub mod event_text;
pub mod failure;
pub mod files;
pub mod format;
pub mod last_lines;
pub mod listing;
pub mod notice;
pub mod protocols;
pub mod repository;
pub mod runs;
pub mod sandbox_summary;
pub mod start;
pub mod tail;
pub mod trust;
pub mod wire;
