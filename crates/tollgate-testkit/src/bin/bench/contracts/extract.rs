//! What it costs to find a report in what an agent printed, over parsing the lines of the same text into nothing.

use std::hint::black_box;

use serde::de::IgnoredAny;
use tollgate_core::contract::Context;
use tollgate_core::contract::definition::Form;
use tollgate_core::contract::extract::{Dialect, extract};
use tollgate_core::contract::registry;

use super::subject::Contract;
use super::{DOUBLING, Figure, Series, Target, compare, growth, transcripts};
use crate::Outcome;

/// A transcript has about this size.
const BYTES: usize = 10 << 20;
/// Hostile ones have up to this size: no cache holds a quarter of it.
const HOSTILE_BYTES: usize = 6 << 20;
/// How often the sides take turns.
const ROUNDS: usize = 15;
const HOSTILE_ROUNDS: usize = 3;
/// The contracts that are looked for: Markdown by code and by data, JSON with a word of its own and without.
const CONTRACTS: [&str; 4] = ["status-block", "decree.review-rejection", "wr.gate_verdict", "team.output"];

/// Finding a report over parsing the lines into nothing, at least.
const RATIO: Target = Target::AtLeast(0.5);

/// For each contract and form of transcript: the time of the bare pass over that of the extraction.
pub fn ratios(only: &str) -> Outcome<Series> {
    eprintln!("measuring transcripts …");
    let mut figures = Vec::new();
    for id in CONTRACTS {
        let (contract, dialect) = known(id)?;
        let (texts, context) = contract.documents(1 << 10)?;
        let (form, report) = texts.first().ok_or("a contract without a form")?;
        eprintln!("  {id}");
        for (name, text) in transcripts::all(report.trim_end(), *form == Form::Markdown, BYTES) {
            let of = format!("{id} {name}");
            if !of.contains(only) {
                continue;
            }
            let found = extract(dialect, &text, &context);
            if found.read.is_refused() {
                return Err(format!("{id} {name}: the report is not found: {:?}", found.read.diagnostics()).into());
            }
            let mut ours = || drop(black_box(extract(dialect, &text, &context)));
            figures.push(RATIO.settle(&mut || {
                let (ours, bare) = compare(&mut ours, &mut || bare_pass(&text), ROUNDS);
                let speed = [ours, bare].map(|seconds| text.len() as f64 / seconds / 1e6);
                Figure { of: of.clone(), value: bare / ours, whole: 0.0, speed, again: Vec::new() }
            }));
        }
    }
    let (names, title) = (["extract_ratio", "extract_ratios"], "finding a report");
    Ok(Series { names, title, target: RATIO, figures })
}

/// For each contract and hostile transcript: how the time grows when it is twice as long.
pub fn doublings(only: &str) -> Outcome<Series> {
    eprintln!("measuring hostile transcripts …");
    let mut figures = Vec::new();
    let context = Context::default();
    for id in CONTRACTS {
        let (_, dialect) = known(id)?;
        eprintln!("  {id}");
        for (name, begin, again) in transcripts::HOSTILE {
            let of = format!("{id} {name}");
            if !of.contains(only) {
                continue;
            }
            let texts = growth::sizes(HOSTILE_BYTES).map(|bytes| transcripts::hostile(begin, again, bytes));
            let read = |text: &str| drop(black_box(extract(dialect, text, &context)));
            figures.push(DOUBLING.settle(&mut || {
                let grown = growth::measure(&read, &texts, HOSTILE_ROUNDS);
                let speed = [texts[growth::SIZES - 1].len() as f64 / grown.last_s / 1e6, 0.0];
                Figure { of: of.clone(), value: grown.steady(), whole: 0.0, speed, again: Vec::new() }
            }));
        }
    }
    let (names, title) = (["extract_doubling", "extract_doublings"], "twice the transcript");
    Ok(Series { names, title, target: DOUBLING, figures })
}

fn known(id: &str) -> Outcome<(Contract, Dialect<'static>)> {
    let all = Contract::all()?;
    let contract = all.into_iter().find(|one| one.id().starts_with(id)).ok_or_else(|| format!("{id} is not there"))?;
    let dialect = registry::report_dialect(id).ok_or_else(|| format!("{id} is no report"))?;
    Ok((contract, Dialect::Report(dialect)))
}

/// Parses every line into nothing.
fn bare_pass(text: &str) {
    for line in text.lines() {
        drop(black_box(serde_json::from_str::<IgnoredAny>(line)));
    }
}
