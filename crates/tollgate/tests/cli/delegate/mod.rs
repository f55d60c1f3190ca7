//! Delegation without a run: one dossier in, one report out that its contract holds, whatever happened.

mod endings;
mod guard;
mod hostile;
mod inside;
mod moved;
pub mod stage;
