//! The run: `decide`, `evolve`, `effects`, the ledger and the invariants.
//!
//! ```text
//! decide(&Run, Command, Stamp) -> Decided | Rejection     pure, synchronous, total
//! evolve(&mut Run, &Recorded)                             replay is this and nothing else
//! effects(&Run) -> Vec<Effect>                            what should be under way, derived from state
//! ```

pub mod agent_stats;
pub mod basis;
mod blank;
pub mod blockers;
pub mod budget;
pub mod bundle;
pub mod command_permission;
mod content_parts;
pub mod data;
pub mod decide;
mod decision;
pub mod effects;
pub mod empty_change;
mod envelope;
pub mod event;
mod evolve;
mod fan_out;
pub mod finding;
pub mod gate;
pub mod invariants;
mod landing;
mod named_objects;
mod net_change;
pub mod notice;
pub mod open_findings;
pub mod pool;
mod position;
pub mod repetition;
mod role_changes;
pub mod sandbox_record;
mod scope_policy;
pub mod state;
mod subject;
pub mod waiver;

pub use agent_stats::AgentStats;
pub use content_parts::documents;
pub use decide::{Command, Decided, Rejection, Stamp, decide, open};
pub use effects::{Effect, effects, effects_under, next_wake};
pub use event::{Event, Recorded};
pub use evolve::{begin, counter_key, evolve};
pub use fan_out::{is_left, was_entered};
pub use net_change::NetChange;
pub use role_changes::Wrote;
pub use sandbox_record::SandboxRecord;
pub use state::Run;
