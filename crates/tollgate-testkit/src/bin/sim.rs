//! `cargo xtask sim --seeds N [--seed S] [--first] [--brief]`: plays seeds and ends with `sim: N seeds, V violations`.

#![expect(clippy::print_stdout, reason = "a command for people at a terminal")]

use std::collections::BTreeSet;
use std::process::ExitCode;

use tollgate_testkit::sim::{Campaign, campaign, history, on_sqlite, play, shrink};

const USAGE: &str = "usage: sim [--seeds N] [--seed S] [--first] [--brief]\n\n  \
    --seeds N   how many seeds (1 with --seed, else 2000)\n  --seed S    the first seed (0)\n  \
    --first     stop at the first violation\n  --brief     no history of a violation\n";
/// Lines of the whole history that are shown before the shrunk one.
const TAIL: usize = 12;
/// Failures that are shown with their history.
const SHOWN_MAX: usize = 3;

struct Args {
    seeds: u64,
    first: u64,
    stop_at_first: bool,
    brief: bool,
}

fn args() -> Option<Args> {
    let (mut seeds, mut first, mut stop_at_first, mut brief) = (None, None, false, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seeds" => seeds = Some(words.next()?.parse().ok()?),
            "--seed" => first = Some(words.next()?.parse().ok()?),
            "--first" => stop_at_first = true,
            "--brief" => brief = true,
            _ => return None,
        }
    }
    let alone = if first.is_some() { 1 } else { 2_000 };
    Some(Args { seeds: seeds.unwrap_or(alone), first: first.unwrap_or(0), stop_at_first, brief })
}

fn main() -> ExitCode {
    let Some(args) = args() else {
        print!("{USAGE}");
        return ExitCode::from(2);
    };
    let done = campaign(args.first, args.seeds, args.stop_at_first);
    statistics(&done);
    for (seed, violation) in done.failures.iter().take(SHOWN_MAX) {
        println!("\nseed {seed}: invariant {}: {}", violation.invariant, violation.what);
        if args.brief {
            continue;
        }
        let whole = history(&play(*seed, on_sqlite(*seed), &BTreeSet::new()));
        println!("the last of {} lines:", whole.len());
        whole.iter().skip(whole.len().saturating_sub(TAIL)).for_each(|line| println!("{line}"));
        let shrunk = shrink(*seed, on_sqlite(*seed), violation);
        println!("shrunk to {} events:", shrunk.events.len());
        history(&shrunk).iter().for_each(|line| println!("{line}"));
        if let Some(violation) = &shrunk.violation {
            println!("      invariant {}: {}", violation.invariant, violation.what);
        }
        println!("repeat with: cargo xtask sim --seed {seed}");
    }
    let gaps = done.gaps();
    gaps.iter().for_each(|gap| println!("gap: {gap}"));
    println!("sim: {} seeds, {} violations", done.seeds, done.failures.len());
    if done.failures.is_empty() && gaps.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn statistics(done: &Campaign) {
    println!("{} events, {} a seed", done.events, done.events / done.seeds.max(1));
    let by_seed: Vec<String> = done.misbehaved.iter().map(|(how, seeds)| format!("{how} {seeds}")).collect();
    println!("seeds with: {}", by_seed.join(", "));
    let counts: Vec<String> = done.coverage.iter().map(|(what, count)| format!("{what} {count}")).collect();
    println!("exercised: {}", counts.join(", "));
    let mut kinds: Vec<(u8, u64)> = Vec::new();
    for violation in done.failures.values() {
        match kinds.iter_mut().find(|(invariant, _)| *invariant == violation.invariant) {
            Some((_, count)) => *count += 1,
            None => kinds.push((violation.invariant, 1)),
        }
    }
    for (invariant, count) in kinds {
        println!("invariant {invariant}: {count} seeds");
    }
}
