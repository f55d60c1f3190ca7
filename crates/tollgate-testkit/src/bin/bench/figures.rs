//! The figures: what there is to measure, its targets, and how they are printed.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Value, json};

/// What a figure should be.
#[derive(Clone, Copy)]
enum Target {
    AtMost(f64),
    AtLeast(f64),
    /// For the record.
    None,
}

impl Target {
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
            Self::None => true,
        }
    }

    fn shown(self) -> String {
        match self {
            Self::AtMost(most) => format!("≤ {most}"),
            Self::AtLeast(least) => format!("≥ {least}"),
            Self::None => String::new(),
        }
    }
}

/// Every figure, in the order of the table.
const ALL: &[(&str, Target, &str)] = &[
    ("step_ratio", Target::AtMost(3.0), "a step over a raw commit of one row with the same 4 KiB, interleaved; means"),
    ("step_ratio_tiny", Target::None, "the same over a raw commit of one row of 100 bytes"),
    ("step_p50_us", Target::None, "a step, median"),
    ("step_mean_us", Target::None, "a step, mean"),
    ("raw_mean_us", Target::None, "the raw commit of 4 KiB, mean"),
    ("group_ratio", Target::AtLeast(0.5), "200 runs × 100 steps: steps/s over a bare loop of the same rows"),
    ("appends_per_commit", Target::AtLeast(20.0), "at those 200 runs"),
    ("steps_per_s", Target::None, "at those 200 runs"),
    ("bare_steps_per_s", Target::None, "the bare loop"),
    ("rss_mib", Target::AtMost(64.0), "most memory of a process that drives the 200 runs"),
    ("growth_ratio", Target::AtMost(1.15), "a step around step 10,000 over one around step 100, alternating"),
    ("step_100_us", Target::None, "a step around step 100"),
    ("step_10000_us", Target::None, "a step around step 10,000"),
    ("read_bytes_100", Target::None, "bytes read per step around step 100"),
    ("read_bytes_10000", Target::None, "bytes read per step around step 10,000"),
    ("open_snapshot_ms", Target::AtMost(20.0), "opening the journal and a run of 100,000 events, with its snapshot"),
    ("open_cold_ms", Target::AtMost(500.0), "the same without a snapshot"),
    (
        "crowd_ratio",
        Target::AtMost(1.15),
        "a dispatch among 2,000 runs of one day and pool over one alone, alternating",
    ),
    ("crowd_us", Target::None, "that dispatch among 2,000 runs"),
    ("ls_ms", Target::AtMost(100.0), "`tollgate ls` over 10,000 runs, process start to end"),
    ("version_ms", Target::AtMost(15.0), "`tollgate --version`"),
    ("resume_ms", Target::AtMost(300.0), "after kill -9, 1,000 files: start of `resume` to the first new step"),
    ("check_ms", Target::AtMost(10.0), "`tollgate contract check` of a 4 KiB report, process start to end"),
    (
        "extract_doubling",
        Target::AtMost(2.3),
        "finding a report in a hostile transcript twice as long, the worst of all",
    ),
    (
        "worktree_ratio",
        Target::AtMost(1.3),
        "making a unit's work tree over `git worktree add`, the worse of both sizes",
    ),
    ("worktree_ratio_10000", Target::AtMost(1.3), "with 10,000 files"),
    ("worktree_ratio_100000", Target::AtMost(1.3), "with 100,000 files"),
    ("worktree_add_ms", Target::None, "that `git worktree add`, 10,000 files"),
    ("worktree_add_ms_100000", Target::None, "with 100,000 files"),
    (
        "start_ms",
        Target::AtMost(60.0),
        "10,000 files: dispatch to the worker's first instruction, over the bare command",
    ),
    ("start_ms_first", Target::None, "the first attempt of a driver alone, in a tree that is there"),
    ("start_ms_100000", Target::AtMost(250.0), "the same with 100,000 files"),
    ("start_ms_100000_first", Target::None, "the first attempt of a driver alone"),
    ("end_ms", Target::None, "10,000 files: the worker's last instruction to the next dispatch"),
    ("end_ms_100000", Target::None, "with 100,000 files"),
    ("measure_ratio", Target::AtMost(1.5), "measuring a change over `git status`, the worse of both sizes"),
    ("measure_ratio_10000", Target::AtMost(1.5), "with 10,000 files"),
    ("measure_ratio_100000", Target::AtMost(1.5), "with 100,000 files"),
    ("status_ms", Target::None, "that `git status`, 10,000 files"),
    ("status_ms_100000", Target::None, "with 100,000 files"),
    ("stream_mb_s", Target::AtLeast(100.0), "an agent that prints 200 MB, parsed and redacted: the slowest of four"),
    ("stream_claude_mb_s", Target::None, "Claude Code"),
    ("stream_codex_mb_s", Target::None, "Codex"),
    ("stream_gemini_mb_s", Target::None, "Gemini"),
    ("stream_opencode_mb_s", Target::None, "OpenCode"),
    ("stream_rss_mib", Target::AtMost(64.0), "most memory of a process that does only that"),
];

/// What was measured so far.
#[derive(Default)]
pub struct Figures(BTreeMap<&'static str, Result<f64, String>>);

impl Figures {
    /// Keeps a figure.
    pub fn set(&mut self, name: &'static str, value: f64) {
        self.0.insert(name, Ok(value));
    }

    /// Keeps the larger of a figure and what it was before.
    pub fn worse(&mut self, name: &'static str, value: f64) {
        let before = self.0.get(name).and_then(|figure| figure.as_ref().ok()).copied();
        self.set(name, before.map_or(value, |before| before.max(value)));
    }

    /// Says why a figure could not be measured here.
    pub fn missing(&mut self, name: &'static str, why: &str) {
        self.0.insert(name, Err(why.to_owned()));
    }

    /// One object: every figure that was asked for, null where it could not be measured, and the targets missed.
    pub fn json(&self) -> Value {
        let mut object = Map::new();
        let mut missed = Vec::new();
        for (name, target, _) in ALL {
            match self.0.get(name) {
                Some(Ok(value)) => {
                    object.insert((*name).to_owned(), json!(rounded(*value)));
                    if !target.is_met(*value) {
                        missed.push(*name);
                    }
                }
                Some(Err(_)) => drop(object.insert((*name).to_owned(), Value::Null)),
                None => {}
            }
        }
        object.insert("missed".to_owned(), json!(missed));
        Value::Object(object)
    }

    /// A table for people.
    pub fn table(&self) -> String {
        let mut text = format!("{:<22} {:>12}  {:<8} {:<7} what\n", "figure", "measured", "target", "");
        for (name, target, what) in ALL {
            let (shown, met, what) = match self.0.get(name) {
                None => continue,
                Some(Ok(value)) => {
                    let met = match target {
                        Target::None => "",
                        Target::AtMost(_) | Target::AtLeast(_) if target.is_met(*value) => "met",
                        Target::AtMost(_) | Target::AtLeast(_) => "MISSED",
                    };
                    (rounded(*value).to_string(), met, (*what).to_owned())
                }
                Some(Err(why)) => ("–".to_owned(), "", format!("{what} (not measured: {why})")),
            };
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{name:<22} {shown:>12}  {:<8} {met:<7} {what}", target.shown());
        }
        text
    }
}

/// Three digits are as many as any of this deserves.
pub fn rounded(value: f64) -> f64 {
    let scale = match value.abs() {
        large if large >= 100.0 => 1.0,
        middling if middling >= 10.0 => 10.0,
        _ => 1000.0,
    };
    (value * scale).round() / scale
}

/// The mean.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The value in the middle.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The mean without the slowest and the fastest twentieth: a single stall of the disk must not decide.
pub fn trimmed_mean(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let cut = sorted.len() / 20;
    mean(&sorted[cut..sorted.len() - cut])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_is_missed_is_named_and_a_figure_without_a_value_is_null() {
        let mut figures = Figures::default();
        figures.set("step_ratio", 3.01);
        figures.set("group_ratio", 0.5);
        figures.missing("ls_ms", "no program");
        let json = figures.json();
        assert_eq!(json, json!({"step_ratio": 3.01, "group_ratio": 0.5, "ls_ms": null, "missed": ["step_ratio"]}));
        let table = figures.table();
        assert!(table.lines().any(|line| line.starts_with("step_ratio") && line.contains("MISSED")), "{table}");
        assert!(table.contains("not measured: no program"), "{table}");
    }

    #[test]
    fn means_and_medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        let mut values = vec![1.0; 19];
        values.push(1000.0);
        assert_eq!(trimmed_mean(&values), 1.0);
        assert_eq!(rounded(1234.56), 1235.0);
        assert_eq!(rounded(0.123_45), 0.123);
    }
}
