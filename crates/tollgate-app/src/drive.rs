//! Driving a run: its lease is taken, its effects are performed, and it is released when it rests.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tollgate_core::run::Run;
use tollgate_engine::driver::{DriveOutcome, Driver, Watch, WhenIdle};
use tollgate_engine::executor::LocalExecutor;
use tollgate_engine::process::holder;
use tollgate_engine::session::Session;

use crate::engine_errors::about;
use crate::failure::Failure;
use crate::notice::Notice;
use crate::runs::Runs;
use crate::sandbox_summary;

/// How long ended workers have to come down before the run is released.
const QUIET: Duration = Duration::from_secs(5);

/// What drives runs of a state directory.
#[derive(Debug)]
pub struct Drive<'a> {
    runs: &'a Runs,
    hands: Arc<LocalExecutor>,
}

impl Runs {
    /// What drives runs here; `program` is Tollgate itself, which starts workers in their sandbox.
    pub fn drive(&self, program: &Path) -> Drive<'_> {
        Drive { runs: self, hands: Arc::new(LocalExecutor::new(&self.state, self.service.journal.clone(), program)) }
    }
}

impl Drive<'_> {
    /// What the sandbox will not do for a run.
    pub fn notices(&self, run: &Run) -> impl Iterator<Item = Notice> {
        let found = [
            sandbox_summary::sentence(&self.hands.sandbox_records(run)),
            sandbox_summary::hidden_path(&self.hands.path_into_checkout(run)),
        ];
        found.into_iter().flatten().map(|message| Notice::Warning { code: None, message, next: None })
    }

    /// Drives a run until it is over, halted, stopped, or waits for longer than the caller does.
    pub fn until_rest(
        &self,
        run: Session,
        patience: WhenIdle,
        stop: Arc<AtomicBool>,
        watch: &mut dyn Watch,
    ) -> Result<(Session, DriveOutcome), Failure> {
        let id = run.run().id;
        let hands = Arc::new(Arc::clone(&self.hands));
        let mut driver = Driver::take(run, hands, &holder::this_process(), stop, watch).map_err(about(id))?;
        let rest = driver.drive(patience, watch);
        self.hands.wait_until_quiet(QUIET);
        let run = driver.release();
        let rest = match rest.map_err(about(id))? {
            // It is over, and asks whether to deliver where something else changed.
            DriveOutcome::Closed if run.run().pending().next().is_some() => DriveOutcome::Waiting,
            rest => rest,
        };
        if rest == DriveOutcome::Waiting {
            // From now on the trees that are asked about are a person's, whether or not anybody is shown them here.
            drop(self.runs.service.trees_of(run.run()));
        }
        Ok((run, rest))
    }
}
