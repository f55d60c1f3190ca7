//! What Tollgate decides. Pure: no clock, no randomness, no files, no processes, no network.
//!
//! [`protocol`] is the language and its six checks, [`report`] the canonical form of what workers report, [`run`] the state machine (`decide`, `evolve`, `effects`) with its ledger and invariants, [`context`] what
//! one attempt is shown of it.
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests make files of their own")
)]
// Purity is a compile error, not a habit: clippy.toml names the calls. The tests may read their fixtures.
#![cfg_attr(not(test), forbid(clippy::disallowed_methods, clippy::disallowed_types))]
// A new variant of an enum must break every match that it concerns.
#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

pub mod amount;
pub mod code;
pub mod context;
pub mod diagnostic;
pub mod digest;
pub mod documents;
pub mod id;
pub mod path;
pub mod protocol;
pub mod redact;
pub mod report;
pub mod run;
pub mod run_secret;
pub mod scope;
pub mod text;
mod words;
pub mod yaml;

/// A name from a protocol, a report or a run; cheap to copy.
pub type Name = std::sync::Arc<str>;
