//! From the effect that dispatches an attempt to the first instruction of its worker, over starting that program alone.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tollgate_core::run::{Effect, Run};
use tollgate_engine::driver::{Driver, EffectReply, Executor, ExecutorError, WhenIdle};
use tollgate_engine::executor::LocalExecutor;
use tollgate_engine::process::holder;
use tollgate_engine::workspace::Workspace;

use super::repository::World;
use super::runs::{self, AGAIN};
use crate::Outcome;
use crate::figures::median;
use crate::program::tollgate;
use crate::world::Unwatched;

/// The word by which this program is the worker.
pub const WORKER: &str = "@worker";
/// How many runs have a first attempt each.
const RUNS: usize = 3;
const QUIET: Duration = Duration::from_secs(10);

/// What was measured, in milliseconds over starting the program alone.
pub struct Took {
    /// Of an attempt: the worse of the first ones and of those after them.
    pub start_ms: f64,
    /// Of the first of a driver, in a tree that is there: with the look at what the sandbox can do.
    pub first_ms: f64,
    /// From the end of a worker to the next dispatch, where there is one.
    pub end_ms: f64,
}

/// The worker: says when it began, changes a file and reports that.
pub fn work() -> Outcome {
    let began = now_ms();
    let file = "src/part000/section00/file00.txt";
    if Path::new(file).exists() {
        std::fs::write(file, format!("changed at {began}\n"))?;
    }
    let report = format!(
        "## Status\ncomplete\n\n## Status reason\n\n## Abstract\noutcome: built\nverdict: n/a\nfiles: 0 created, 1 modified, \
         0 deleted\nnext_phase: n/a\nopen_questions: 0\n\n## Files Created\nNone\n\n## Files Modified\n- `{file}` — the time\n\n## Open \
         Questions\nNone\n"
    );
    let mut out = std::io::stdout().lock();
    writeln!(out, "began {began}\nended {}\n\n{report}", now_ms())?;
    Ok(())
}

/// The executor of a driver, and when each dispatch began.
struct Timed {
    executor: Arc<LocalExecutor>,
    begun: Mutex<Vec<f64>>,
}

impl Executor for Timed {
    fn recover(&self, run: &Run, epoch: u64) -> Result<(), ExecutorError> {
        self.executor.recover(run, epoch)
    }

    fn start(&self, run: &Run, effect: &Effect, token: u64, done: EffectReply) {
        if matches!(effect, Effect::Dispatch { .. }) {
            self.begun.lock().unwrap_or_else(PoisonError::into_inner).push(now_ms());
        }
        self.executor.start(run, effect, token, done);
    }

    fn cancel(&self, token: u64) {
        self.executor.cancel(token);
    }

    fn project(&self, run: &Run) {
        self.executor.project(run);
    }
}

/// Measures attempts in a repository.
pub fn measure(world: &World) -> Outcome<Took> {
    let program = tollgate()?;
    let journal = runs::journal(&world.state)?;
    let (mut bare, mut first, mut further, mut ends) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let session = runs::start(&journal, &world.state, &world.repository)?;
        let id = session.run().id;
        // The tree has a figure of its own.
        let workspace = Workspace::of(&world.state, session.run())?;
        workspace.work_tree(None, &workspace.base().tree)?;
        let executor = Arc::new(LocalExecutor::new(&world.state, Arc::clone(&journal), &program));
        let timed = Arc::new(Timed { executor: Arc::clone(&executor), begun: Mutex::default() });
        let stop = Arc::new(AtomicBool::new(false));
        let mut driver = Driver::take(session, timed.clone(), &holder::this_process(), stop, &mut Unwatched)?;
        driver.drive(WhenIdle::WaitForTimer, &mut Unwatched)?;
        executor.wait_until_quiet(QUIET);
        let begun = timed.begun.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut marks = Vec::new();
        for number in 1..=AGAIN + 1 {
            let log = world.state.join(format!("runs/{id}/logs/att_{number}.log"));
            let text = std::fs::read_to_string(&log).map_err(|error| format!("{}: {error}", log.display()))?;
            marks.push(marks_of(&text)?);
        }
        if begun.len() != marks.len() {
            return Err(format!("{} dispatches for {} attempts", begun.len(), marks.len()).into());
        }
        for (number, (begun, (began, _))) in begun.iter().zip(&marks).enumerate() {
            if number == 0 { &mut first } else { &mut further }.push(began - begun);
        }
        ends.extend(marks.iter().zip(&begun[1..]).map(|((_, ended), next)| next - ended));
        for _ in 0..=AGAIN {
            bare.push(alone(&world.repository.with_file_name("beside"))?);
        }
    }
    let bare = median(&bare);
    let (first_ms, further_ms) = (median(&first) - bare, median(&further) - bare);
    Ok(Took { start_ms: first_ms.max(further_ms), first_ms, end_ms: median(&ends) })
}

/// How long it takes to start the program with nothing around it.
fn alone(cwd: &Path) -> Outcome<f64> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(WORKER).current_dir(cwd).stdin(Stdio::null()).stderr(Stdio::inherit());
    let begun = now_ms();
    let output = command.output()?;
    Ok(marks_of(&String::from_utf8(output.stdout)?)?.0 - begun)
}

/// When a worker began and ended, by its own words.
fn marks_of(text: &str) -> Outcome<(f64, f64)> {
    let mark = |word: &str| text.lines().find_map(|line| line.strip_prefix(word)?.trim().parse().ok());
    mark("began ").zip(mark("ended ")).ok_or_else(|| format!("a worker did not say when it began: {text}").into())
}

/// The time that every process of this machine shares.
fn now_ms() -> f64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}
