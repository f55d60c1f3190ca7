//! Measures what contracts cost: `cargo xtask bench contracts [--json]`.

mod growth;
mod transcripts;

pub use transcripts::of as transcript;

use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use tollgate_contract::Context;
use tollgate_contract::extract::{Dialect, extract};
use tollgate_contract::registry;
use tollgate_engine::workers::agent::{adapter, speech};

use crate::Outcome;
use crate::figures::{Figures, median};
use crate::program::{time_ms, tollgate};

/// The size of a report as agents write them.
const REPORT_BYTES: usize = 4 << 10;
/// How often the program is started.
const CALLS: usize = 21;
/// Hostile transcripts have up to this size: no cache holds a quarter of it.
const HOSTILE_BYTES: usize = 6 << 20;
const HOSTILE_ROUNDS: usize = 3;
/// The contracts that are looked for: Markdown by code and by data, JSON with a word of its own and without.
const CONTRACTS: [&str; 4] = ["status-block", "decree.review-rejection", "wr.gate_verdict", "team.output"];

/// Measures `contract check` of a report, from the start of the process to its end.
pub fn check(dir: &Path, figures: &mut Figures) -> Outcome {
    let program = match tollgate() {
        Ok(program) => program,
        Err(why) => {
            figures.missing("check_ms", &why);
            return Ok(());
        }
    };
    std::fs::write(dir.join("report.md"), report())?;
    let call = || {
        let mut command = Command::new(&program);
        command.args(["contract", "check", "--contract", "decree.review-rejection", "report.md"]);
        time_ms(command.current_dir(dir).env("TOLLGATE_STATE", dir.join("state")))
    };
    let took = (0..CALLS).map(|_| call()).collect::<Outcome<Vec<f64>>>()?;
    figures.set("check_ms", median(&took));
    Ok(())
}

/// A report in Markdown of the size.
fn report() -> String {
    let mut text = "## Review: Needs Changes\n\n### Findings\n\n#### Code Quality\n\n".to_owned();
    for line in 1.. {
        if text.len() >= REPORT_BYTES {
            break;
        }
        text +=
            &format!("- **What:** src/cart.js:{line} **Why:** An empty cart shows NaN. **Fix:** Begin the sum at 0.\n");
    }
    text + "\n### Warnings\n\nNone\n"
}

/// Measures how the time of finding a report grows when a hostile transcript is twice as long; the worst of all.
pub fn grow(_: &Path, figures: &mut Figures) -> Outcome {
    let context = Context::default();
    // Its lines come in pieces. What has no such line is what a plain program prints.
    let agent = adapter("gemini").ok_or("there is no adapter `gemini`")?;
    for id in CONTRACTS {
        let dialect = registry::report_dialect(id).ok_or_else(|| format!("{id} is no report"))?;
        eprintln!("  {id}");
        for (_, begin, again) in transcripts::HOSTILE {
            let texts = growth::sizes(HOSTILE_BYTES).map(|bytes| transcripts::hostile(begin, again, bytes));
            let read = |text: &str| {
                let transcript = speech(agent, text).transcript;
                drop(black_box(extract(Dialect::Report(dialect), &transcript, &context)));
            };
            figures.worse("extract_doubling", growth::measure(&read, &texts, HOSTILE_ROUNDS).steady());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_that_is_checked_is_good_and_of_the_size() {
        let (text, dialect) = (report(), registry::report_dialect("decree.review-rejection").expect("a contract"));
        assert_eq!(dialect.read_alone(&text, &Context::default()).diagnostics, []);
        assert!((REPORT_BYTES..REPORT_BYTES + 256).contains(&text.len()), "{}", text.len());
    }
}
