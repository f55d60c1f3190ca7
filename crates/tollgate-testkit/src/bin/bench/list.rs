//! The command line over ten thousand runs.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use tollgate_store::{Options, SqliteJournal};

use crate::Outcome;
use crate::figures::{Figures, median};
use crate::program::{time_ms, tollgate};
use crate::world::{Runs, many};

const RUNS: u64 = 10_000;
const CALLS: usize = 21;

/// Measures `ls` and `--version`.
pub fn measure(dir: &Path, figures: &mut Figures) -> Outcome {
    let program = match tollgate() {
        Ok(program) => program,
        Err(why) => {
            figures.missing("version_ms", &why);
            figures.missing("ls_ms", &why);
            return Ok(());
        }
    };
    figures.set("version_ms", median(&times(|| time_ms(Command::new(&program).arg("--version")))?));
    let state = dir.join("state");
    let journal = Arc::new(SqliteJournal::open(&state, Options::default())?);
    let runs = Runs::new(journal)?;
    many(0..RUNS, |number| runs.open(number).map(drop))?;
    drop(runs);
    let ls = || time_ms(Command::new(&program).arg("ls").env("TOLLGATE_STATE", &state).current_dir(dir));
    match times(ls) {
        Ok(took) => figures.set("ls_ms", median(&took)),
        Err(error) => figures.missing("ls_ms", &error.to_string()),
    }
    Ok(())
}

fn times(call: impl Fn() -> Outcome<f64>) -> Outcome<Vec<f64>> {
    (0..CALLS).map(|_| call()).collect()
}
