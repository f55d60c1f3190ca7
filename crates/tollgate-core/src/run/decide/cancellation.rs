//! Stopping: leases and questions that nobody needs any more.

use super::super::event::{Asked, AttemptCancelled, DecisionEnd, DecisionEnded};
use super::draft::Draft;
use crate::id::{AttemptId, DecisionId, InstanceId};
use crate::protocol::model::Class;
use std::collections::BTreeSet;

impl Draft {
    /// Stops everything below an instance; what was written is kept.
    pub fn stop_below(&mut self, name: &str) {
        let below: BTreeSet<InstanceId> = self.below(name);
        let live: Vec<AttemptId> = self
            .run
            .attempts
            .iter()
            .filter(|(_, attempt)| below.contains(&attempt.instance))
            .map(|(id, _)| *id)
            .collect();
        for attempt in live {
            self.emit(AttemptCancelled { attempt, why: "a sibling left the flow".to_owned() });
        }
        // A question of security is nobody else's to end: it stays open, and the run does not close before its answer.
        let ends = |asked: &Asked| asked.blocking && asked.class != Class::Security;
        let open: Vec<DecisionId> = self
            .run
            .pending()
            .filter(|(_, decision)| below.contains(&decision.asked.instance) && ends(&decision.asked))
            .map(|(id, _)| id)
            .collect();
        for decision in open {
            self.cancel_decision(decision);
        }
    }

    pub(super) fn below(&self, name: &str) -> BTreeSet<InstanceId> {
        let prefix = format!("{name}/");
        self.run.instances.keys().filter(|id| id.starts_with(&prefix)).cloned().collect()
    }

    /// Ends a question nobody needs to answer any more.
    pub fn cancel_decision(&mut self, decision: DecisionId) {
        self.emit(DecisionEnded {
            decision,
            end: DecisionEnd::Cancelled,
            option: None,
            text: String::new(),
            in_advance: false,
        });
    }

    /// Ends every lease and every question: the run is about to close.
    pub fn end_everything(&mut self, why: &str) {
        self.end_all_but(None, why);
    }

    /// Ends every lease, and every question but those of a class.
    pub(super) fn end_all_but(&mut self, kept: Option<Class>, why: &str) {
        let live: Vec<AttemptId> = self.run.attempts.keys().copied().collect();
        for attempt in live {
            self.emit(AttemptCancelled { attempt, why: why.to_owned() });
        }
        let ends = |asked: &Asked| Some(asked.class) != kept;
        let open: Vec<DecisionId> =
            self.run.pending().filter(|(_, decision)| ends(&decision.asked)).map(|(id, _)| id).collect();
        for decision in open {
            self.cancel_decision(decision);
        }
    }
}
