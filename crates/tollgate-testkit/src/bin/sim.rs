//! `cargo xtask sim --seeds N [--kit-seeds N] [--seed S] [--protocol NAME | --file PATH] [--first] [--brief]`: plays seeds of each protocol
//! and ends with `sim: N seeds, V violations, S stuck`.

#![expect(clippy::print_stdout, reason = "a command for people at a terminal")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;

use tollgate_testkit::sim::{Campaign, Played, Seeds, campaign, history, play, shrink};

const USAGE: &str = "usage: sim [--seeds N] [--kit-seeds N] [--seed S] [--protocol NAME | --file PATH] [--first] [--brief]\n\n  \
    --seeds N         how many seeds of each protocol (1 with --seed, else 700)\n  --kit-seeds N     how many of each of the kit, if fewer\n  \
    --seed S          the first seed (0)\n  \
    --protocol NAME   only this protocol\n  --file PATH       a protocol that is not shipped, with the dialects.yaml beside it\n  \
    --first           stop at the first violation or stuck run\n  --brief           no histories\n";
/// Lines of the whole history that are shown before the shrunk one.
const TAIL: usize = 12;
/// Failures that are shown with their history.
const SHOWN_MAX: usize = 3;

struct Args {
    seeds: Seeds,
    first: u64,
    protocols: Vec<Played>,
    /// What names the protocol on the command line, if one was named.
    named: String,
    stop_at_first: bool,
    brief: bool,
}

fn args() -> Result<Args, String> {
    let (mut seeds, mut of_kit, mut first, mut stop_at_first, mut brief) = (None, None, None, false, false);
    let (mut protocols, mut named) = (None, String::new());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| USAGE.to_owned());
        match word.as_str() {
            "--seeds" => seeds = Some(value()?.parse().map_err(|_| USAGE)?),
            "--kit-seeds" => of_kit = Some(value()?.parse().map_err(|_| USAGE)?),
            "--seed" => first = Some(value()?.parse().map_err(|_| USAGE)?),
            "--protocol" => {
                let name = value()?;
                named = format!(" --protocol {name}");
                protocols = Some(vec![Played::named(&name).ok_or(format!("there is no protocol `{name}`\n"))?]);
            }
            "--file" => {
                let path = value()?;
                named = format!(" --file {path}");
                protocols = Some(vec![Played::file(Path::new(&path))?]);
            }
            "--first" => stop_at_first = true,
            "--brief" => brief = true,
            _ => return Err(USAGE.to_owned()),
        }
    }
    let each = seeds.unwrap_or(if first.is_some() { 1 } else { 700 });
    let seeds = Seeds { each, of_kit: of_kit.unwrap_or(each) };
    let protocols = protocols.unwrap_or_else(Played::all);
    Ok(Args { seeds, first: first.unwrap_or(0), protocols, named, stop_at_first, brief })
}

fn main() -> ExitCode {
    let args = match args() {
        Ok(args) => args,
        Err(usage) => {
            println!("{usage}");
            return ExitCode::from(2);
        }
    };
    let done = campaign(&args.protocols, args.first, args.seeds, args.stop_at_first);
    statistics(&done);
    for (&(which, seed), violation) in done.failures.iter().take(SHOWN_MAX) {
        let played = &args.protocols[which];
        println!("\nseed {seed} of {}: invariant {}: {}", played.name, violation.invariant, violation.what);
        if args.brief {
            continue;
        }
        last_lines(played, seed);
        let shrunk = shrink(played, seed, violation);
        println!("shrunk to {} events:", shrunk.events.len());
        history(&shrunk).iter().for_each(|line| println!("{line}"));
        if let Some(violation) = &shrunk.violation {
            println!("      invariant {}: {}", violation.invariant, violation.what);
        }
        repeat(&args, which, seed);
    }
    for (&(which, seed), waits_for) in done.stuck.iter().take(SHOWN_MAX) {
        let played = &args.protocols[which];
        println!("\nseed {seed} of {}: stuck: {waits_for}", played.name);
        if !args.brief {
            last_lines(played, seed);
            repeat(&args, which, seed);
        }
    }
    stuck(&args.protocols, &done);
    ends(&args.protocols, &done);
    let mut gaps = done.bad_ends(&args.protocols);
    gaps.extend(if args.named.is_empty() { done.gaps() } else { Vec::new() });
    gaps.iter().for_each(|gap| println!("gap: {gap}"));
    println!("sim: {} seeds, {} violations, {} stuck", done.seeds, done.failures.len(), done.stuck.len());
    let holds = done.failures.is_empty() && done.stuck.is_empty() && gaps.is_empty();
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn last_lines(played: &Played, seed: u64) {
    let whole = history(&play(played, seed, &BTreeSet::new()));
    println!("the last of {} lines:", whole.len());
    whole.iter().skip(whole.len().saturating_sub(TAIL)).for_each(|line| println!("{line}"));
}

fn repeat(args: &Args, which: usize, seed: u64) {
    let named =
        if args.named.is_empty() { format!(" --protocol {}", args.protocols[which].name) } else { args.named.clone() };
    println!("repeat with: cargo xtask sim{named} --seed {seed}");
}

/// What the stuck runs of each protocol wait for, most frequent first.
fn stuck(protocols: &[Played], done: &Campaign) {
    for (which, played) in protocols.iter().enumerate() {
        let mut often: BTreeMap<&str, u64> = BTreeMap::new();
        for (_, waits_for) in done.stuck.iter().filter(|((of, _), _)| *of == which) {
            *often.entry(waits_for).or_default() += 1;
        }
        let mut often: Vec<(&str, u64)> = often.into_iter().collect();
        often.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        if !often.is_empty() {
            let stuck = often.iter().map(|(_, count)| count).sum::<u64>();
            println!("\n{}: {stuck} stuck, {} ended well", played.name, done.ended_well(which));
        }
        often.iter().for_each(|(waits_for, count)| println!("{count:>5}  {waits_for}"));
    }
}

/// How the runs of each protocol ended, and how many could not end well for what a person gave up.
fn ends(protocols: &[Played], done: &Campaign) {
    for (which, played) in protocols.iter().enumerate() {
        let ends = done.closed.iter().filter(|((of, _), _)| *of == which);
        let mut ends: Vec<String> = ends.map(|((_, end), count)| format!("{count} {end}")).collect();
        let excused = done.excused.get(&which).copied().unwrap_or(0);
        ends.push(format!("{excused} excused: a person gave up a unit that has landed or is needed"));
        println!("ends of {}: {}", played.name, ends.join(", "));
    }
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
