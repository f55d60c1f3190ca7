//! A draft: the run as it will be when the events collected so far are in the journal.

use std::sync::Arc;

use super::super::event::{By, ByKind, Event, Recorded};
use super::super::evolve::evolve;
use super::super::invariants::{self, Violation};
use super::super::pool::Around;
use super::super::state::{Instance, Run};
use super::{Decided, Rejection, Stamp};
use crate::id::UnitId;
use crate::protocol::Protocol;
use crate::protocol::model::Stage;
use crate::report::QuestionReport;

pub(super) struct Draft {
    pub run: Run,
    pub protocol: Arc<Protocol>,
    events: Vec<Recorded>,
    violations: Vec<Violation>,
    pub now_ms: u64,
    pub by: By,
    epoch: u64,
    /// What other runs know.
    pub around: Around,
    pub refusal: Option<Rejection>,
    /// The questions of the report being routed, for asks that take them from it.
    pub asked_by_report: Vec<QuestionReport>,
    /// Why the report being routed says it did not go well.
    pub reason: String,
}

impl Draft {
    pub fn new(run: &Run, stamp: &Stamp) -> Self {
        Self {
            run: run.clone(),
            protocol: Arc::clone(&run.protocol),
            events: Vec::new(),
            violations: Vec::new(),
            now_ms: stamp.now_ms,
            by: stamp.by.clone(),
            epoch: stamp.epoch,
            around: stamp.around.clone(),
            refusal: None,
            asked_by_report: Vec::new(),
            reason: String::new(),
        }
    }

    /// Records an event by the actor of the command.
    pub fn emit(&mut self, event: impl Into<Event>) {
        let by = self.by.clone();
        self.emit_by(by, event);
    }

    /// Records an event by another actor: an answer given in advance, a timer.
    pub fn emit_by(&mut self, by: By, event: impl Into<Event>) {
        let recorded = Recorded {
            run: self.run.id,
            seq: self.run.seq + 1,
            at_ms: self.now_ms,
            epoch: self.epoch,
            by,
            event: event.into(),
        };
        self.violations.extend(invariants::event(&self.run, &recorded));
        evolve(&mut self.run, &recorded);
        self.events.push(recorded);
    }

    /// Tries something; when it is refused, nothing of it is left.
    pub fn attempt(&mut self, change: impl FnOnce(&mut Self) -> Result<(), Rejection>) -> Result<(), Rejection> {
        let before = (self.run.clone(), self.events.len(), self.violations.len(), self.refusal.clone());
        let tried = change(self);
        if tried.is_err() {
            let (run, events, violations, refusal) = before;
            self.run = run;
            self.events.truncate(events);
            self.violations.truncate(violations);
            self.refusal = refusal;
        }
        tried
    }

    /// Whether leases may be granted: only the driver performs effects.
    pub fn is_driver(&self) -> bool {
        self.by.kind == ByKind::Driver
    }

    pub fn needs_person(&self) -> Result<(), Rejection> {
        if self.by.kind == ByKind::Person { Ok(()) } else { Err(Rejection::NotAPerson) }
    }

    pub fn needs_driver(&self) -> Result<(), Rejection> {
        if self.is_driver() { Ok(()) } else { Err(Rejection::NotTheDriver) }
    }

    pub fn instance(&self, name: &str) -> Option<Arc<Instance>> {
        self.run.instances.get(name).cloned()
    }

    /// A stage of an instance's flow, out of the protocol (which outlives the changes to the run).
    pub fn stage_of<'p>(protocol: &'p Protocol, instance: &Instance, stage: &str) -> Option<&'p Stage> {
        protocol.flow(&instance.flow)?.stage(stage)
    }

    /// The unit an instance works on.
    pub fn unit_of(&self, instance: &str) -> Option<UnitId> {
        self.run.instances.get(instance).and_then(|instance| instance.unit.clone())
    }

    /// The events and the run after them; refused when an invariant does not hold over what they touch.
    pub fn finish(self) -> Result<Decided, Rejection> {
        let mut violations = self.violations;
        violations.extend(invariants::after(&self.run, &self.events));
        if !violations.is_empty() {
            return Err(Rejection::Broken(violations));
        }
        Ok(Decided { events: self.events, run: self.run, refusal: self.refusal })
    }
}
