//! The run: `decide`, `evolve`, `effects`, the ledger and the invariants.
//!
//! ```text
//! decide(&Run, Command, Stamp) -> Decided | Rejection     pure, synchronous, total
//! evolve(&mut Run, &Recorded)                             replay is this and nothing else
//! effects(&Run) -> Vec<Effect>                            what should be under way, derived from state
//! ```

mod at;
pub mod budget;
pub mod bundle;
pub mod data;
pub mod decide;
pub mod effects;
mod envelope;
pub mod event;
mod evolve;
pub mod finding;
pub mod gate;
pub mod invariants;
mod landing;
pub mod leash;
mod over;
mod parts;
pub mod pool;
pub mod repeated;
pub mod state;
pub mod told;
pub mod waiver;
mod wrote;

pub use decide::{Command, Decided, Rejection, Stamp, decide, open};
pub use effects::{Effect, effects, effects_under, next_wake};
pub use event::{Event, Recorded};
pub use evolve::{begin, counter_key, evolve};
pub use leash::Leash;
pub use over::is_left;
pub use parts::documents;
pub use state::Run;
pub use told::Told;
pub use wrote::Wrote;
