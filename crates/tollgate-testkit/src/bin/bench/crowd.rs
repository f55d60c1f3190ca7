//! One run among many: what the others use, and which pools they may not call, is looked up before each dispatch.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use tollgate_store::{Options, SqliteJournal};

use crate::Outcome;
use crate::figures::{Figures, trimmed_mean};
use crate::world::{Runs, Stepper, many};

const OTHERS: u64 = 2_000;
const WARM_UP: usize = 50;
const PAIRS: usize = 500;

/// Measures a dispatch among many runs beside one alone.
pub fn measure(dir: &Path, figures: &mut Figures) -> Outcome {
    let (mut alone, mut among) = (among(&dir.join("alone"), 0)?, among(&dir.join("crowd"), OTHERS)?);
    let (mut alone_us, mut among_us) = (Vec::new(), Vec::new());
    for pair in 0..WARM_UP + PAIRS {
        for (stepper, took) in [(&mut alone, &mut alone_us), (&mut among, &mut among_us)] {
            let start = Instant::now();
            stepper.step()?;
            if pair >= WARM_UP {
                took.push(start.elapsed().as_secs_f64() * 1e6);
            }
        }
    }
    figures.set("crowd_ratio", trimmed_mean(&among_us) / trimmed_mean(&alone_us));
    figures.set("crowd_us", trimmed_mean(&among_us));
    Ok(())
}

/// A run in a state directory with so many others, each of which used something today.
fn among(state: &Path, others: u64) -> Outcome<Stepper> {
    let runs = Runs::new(Arc::new(SqliteJournal::open(state, Options::default())?))?;
    many(1..others + 1, |number| Stepper::take(runs.open_among_others(number)?)?.step())?;
    Stepper::take(runs.open_among_others(0)?)
}
