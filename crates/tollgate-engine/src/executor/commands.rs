//! A program that the engine runs itself, held and recorded: it may run what a worker wrote.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tollgate_core::redact::Secrets;
use tollgate_core::report::Judgement;
use tollgate_store::{Point, reach};

use super::command_check::{self, Check, Checked, Wall};
use super::preparation::not_ready;
use super::{Failure, RealHands, UnderWay};
use crate::process::{Inherit, Program, Recorded};
use crate::sandbox::{Own, Tether};
use crate::workers::{WorkerError, environment};
use crate::workspace::setup::caches;
use crate::workspace::{Held, remove_tree};

/// What is to be run, where, and what holds it.
pub(super) struct Errand<'a> {
    pub check: &'a Check,
    pub tree: &'a Path,
    /// A folder of its own, gone when it has ended.
    pub scratch: &'a Path,
    /// What it finds in its cache, which is its own and gone with the scratch.
    pub found: &'a Path,
    /// Whether what it leaves in its cache is what others find in theirs.
    pub leaves: bool,
    pub tether: &'a Tether,
    pub limit: Duration,
    pub marker: &'a str,
    pub secrets: &'a Arc<Secrets>,
}

impl RealHands {
    /// Runs it to its end; the work of the run is let go of once it has started.
    pub(super) fn run_errand(&self, errand: &Errand<'_>, way: &UnderWay, held: Held) -> Result<Checked, Failure> {
        let Errand { check, tree, scratch, found, leaves, tether, limit, marker, secrets } = *errand;
        // Recorded until it has ended.
        let (mut record, mut held) = (None, Some(held));
        let caches = caches::beside(scratch);
        caches::begin(found, &caches).map_err(not_ready)?;
        let own = Own { tree, scratch, caches: &caches, bundle: None };
        let leashed = |mut program: Program| {
            let seen = environment::common().chain(tether.variables.iter().cloned());
            program.env.inherit = Inherit::Only(seen.collect());
            tether.hold(program, own, &[])
        };
        let wall = Wall { hold: &leashed, unseen: &tether.unseen };
        let checked = command_check::check(tree, check, limit, marker, wall, secrets, &mut |running| {
            reach(Point::CommandSpawned);
            record = Some(Recorded::new(&self.state, running.id(), marker));
            if let Some(Err(_)) = record {
                // Nobody could end it after a crash, or tell that it is no person who calls from below it.
                running.canceller().cancel();
            }
            way.started(Some(running.canceller()));
            held = None;
        });
        let record = record.transpose().map_err(|source| WorkerError::Record { path: self.state.clone(), source })?;
        drop((record, held));
        if leaves && checked.result == Judgement::Pass {
            caches::leave(&caches, found);
        }
        remove_tree(&caches)?;
        remove_tree(scratch)?;
        Ok(checked)
    }
}
