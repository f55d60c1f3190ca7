//! A place that could not be made ready: an environment failure, and nobody's of those who work.
//!
//! ```text
//! dispatch | commands → attempt.unready → held at its stage; no route is taken, so no limit counts it
//! retry → the same attempt again, under a new token: no further iteration
//! ```

use super::super::event::{AttemptUnready, Work, WorkKind};
use super::Rejection;
use super::draft::Draft;
use super::work::other_work;
use crate::digest::Digest;
use crate::id::AttemptId;
use crate::protocol::Outcome;

impl Draft {
    pub fn unready(
        &mut self,
        attempt: AttemptId,
        token: u64,
        why: String,
        output: Option<Digest>,
    ) -> Result<(), Rejection> {
        self.needs_driver()?;
        let Some(live) = self.live(attempt, token, output) else { return Ok(()) };
        if matches!(live.work, Work::Land { .. }) {
            return Err(other_work(attempt, &live, WorkKind::Commands));
        }
        let protocol = self.protocol.clone();
        let Some(instance) = self.instance(&live.instance) else { return Ok(()) };
        self.emit(AttemptUnready { attempt, token, why: why.clone(), output });
        if let Some(stage) = Self::stage_of(&protocol, &instance, &live.stage) {
            self.hold(&live.instance, stage, Some(&Outcome::Unready), why);
        }
        Ok(())
    }
}
