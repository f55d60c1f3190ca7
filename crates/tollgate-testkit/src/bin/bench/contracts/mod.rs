//! Measures what contracts cost: `cargo xtask bench contracts [--json]`.
//!
//! Each is compared with a bare pass of the same bytes by the reader of its form, batch by batch in turns, so that what else
//! the machine does falls on both sides. The time is that of the processor, and of the batches the quicker ones count:
//! nothing makes a batch quicker than it is.

mod documents;
mod hostile;
mod subject;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value, json};
use tollgate_core::contract::Context;
use tollgate_core::contract::definition::Form;

use crate::Outcome;
use crate::figures::rounded;
use subject::{Contract, bare_pass, is_refused};

/// The sizes of the documents: one as agents write them, one as large as Markdown and YAML may be.
const SIZES: [(&str, usize); 2] = [("4k", 4 << 10), ("1m", (1 << 20) - 256)];
/// Hostile texts have this size, and twice this size.
const HOSTILE_BYTES: usize = 192 << 10;
/// How often the two sides take turns.
const ROUNDS: usize = 31;
const HOSTILE_ROUNDS: usize = 9;
/// How long one batch takes at least.
const BATCH_S: f64 = 0.001;
/// Reading and judging over the bare pass, at least.
const RATIO_LEAST: f64 = 0.4;
/// Twice the text in so many times the time, at most.
const DOUBLING_MOST: f64 = 2.3;

/// A figure, and of what.
struct Figure {
    of: String,
    value: f64,
    /// The same with the mapping into a report or a plan.
    whole: f64,
    /// Megabytes a second, ours and the bare pass.
    speed: [f64; 2],
}

/// Measures everything whose name (`status-block@1 markdown 4k`) has some words in it, and prints it.
pub fn run(json: bool, only: &str) -> Outcome {
    let contracts = Contract::all()?;
    eprintln!("measuring {} contracts …", contracts.len());
    let mut ratios = Vec::new();
    for contract in &contracts {
        for (size, bytes) in SIZES {
            ratios.extend(ratios_of(*contract, size, bytes, only)?);
        }
    }
    eprintln!("measuring hostile texts …");
    let mut doublings = Vec::new();
    for contract in &contracts {
        doublings.extend(doublings_of(*contract, only));
    }
    if json {
        print_json(&ratios, &doublings)
    } else {
        print_table(&ratios, &doublings)
    }
    Ok(())
}

fn ratios_of(contract: Contract, size: &str, bytes: usize, only: &str) -> Outcome<Vec<Figure>> {
    let name = |form: Form| format!("{} {} {size}", contract.id(), form.word());
    let mut figures = Vec::new();
    if !contract.forms().iter().any(|form| name(*form).contains(only)) {
        return Ok(figures);
    }
    let (texts, context) = contract.documents(bytes)?;
    for (form, text) in texts.into_iter().filter(|(form, _)| name(*form).contains(only)) {
        let found = contract.read(&text, &context);
        if is_refused(&found) {
            return Err(format!("{}: its own document is refused: {:?}", contract.id(), found.first()).into());
        }
        let mut judge = || drop(std::hint::black_box(contract.judge(&text, &context)));
        let mut read = || drop(std::hint::black_box(contract.read(&text, &context)));
        let mut bare = || bare_pass(form, &text);
        let (whole, beside) = compare(&mut read, &mut bare, ROUNDS);
        let (ours, bare) = compare(&mut judge, &mut bare, ROUNDS);
        let speed = [ours, bare].map(|seconds| text.len() as f64 / seconds / 1e6);
        figures.push(Figure { of: name(form), value: bare / ours, whole: beside / whole, speed });
    }
    Ok(figures)
}

fn doublings_of(contract: Contract, only: &str) -> Vec<Figure> {
    let context = Context::default();
    let mut figures = Vec::new();
    let forms = contract.forms().iter();
    for (form, attack) in forms.flat_map(|form| hostile::attacks(*form).iter().map(move |attack| (form, attack))) {
        let of = format!("{} {} {}", contract.id(), form.word(), attack.name);
        if !of.contains(only) {
            continue;
        }
        let (small, large) = ((attack.make)(HOSTILE_BYTES), (attack.make)(HOSTILE_BYTES * 2));
        // What is both JSON and YAML is read as what it looks like.
        if *form == Form::Yaml && contract.forms().len() > 1 && large.starts_with(['{', '[']) {
            continue;
        }
        let read = |text: &str| drop(std::hint::black_box(contract.read(text, &context)));
        let (once, twice) = compare(&mut || read(&small), &mut || read(&large), HOSTILE_ROUNDS);
        let speed = [large.len() as f64 / twice / 1e6, 0.0];
        // Under the tenth of a millisecond it was refused before it was read.
        let value = if twice < 1e-4 { 1.0 } else { twice / once };
        figures.push(Figure { of, value, whole: value, speed });
    }
    figures
}

/// How long one call keeps the processor busy.
fn timed(call: &mut dyn FnMut(), times: usize) -> f64 {
    let busy = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let start = busy();
    (0..times).for_each(|_| call());
    (busy() - start) / times as f64
}

/// How many calls make a batch.
fn batch(call: &mut dyn FnMut()) -> usize {
    let mut times = 1;
    while timed(call, times) * (times as f64) < BATCH_S {
        times *= 2;
    }
    times
}

/// How long each of two takes, in turns: the quickest tenth of the batches.
fn compare(one: &mut dyn FnMut(), other: &mut dyn FnMut(), rounds: usize) -> (f64, f64) {
    let (one_times, other_times) = (batch(one), batch(other));
    let turns: Vec<(f64, f64)> = (0..rounds).map(|_| (timed(one, one_times), timed(other, other_times))).collect();
    let quick = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times.get(rounds / 10).copied().unwrap_or(f64::NAN)
    };
    (quick(turns.iter().map(|(one, _)| *one).collect()), quick(turns.iter().map(|(_, other)| *other).collect()))
}

fn worst(figures: &[Figure], worse: fn(f64, f64) -> bool) -> Option<&Figure> {
    figures.iter().reduce(|worst, next| if worse(next.value, worst.value) { next } else { worst })
}

#[expect(clippy::print_stdout, reason = "what was measured")]
fn print_json(ratios: &[Figure], doublings: &[Figure]) {
    let (ratio, doubling) = (worst(ratios, |a, b| a < b), worst(doublings, |a, b| a > b));
    let of = |figure: Option<&Figure>| figure.map(|figure| figure.of.clone());
    let value = |figure: Option<&Figure>| figure.map(|figure| rounded(figure.value));
    let all = |figures: &[Figure], value: fn(&Figure) -> f64| -> Map<String, Value> {
        figures.iter().map(|figure| (figure.of.clone(), json!(rounded(value(figure))))).collect()
    };
    let mut missed = Vec::new();
    if ratio.is_none_or(|ratio| ratio.value < RATIO_LEAST) {
        missed.push("worst_ratio");
    }
    if doubling.is_none_or(|doubling| doubling.value > DOUBLING_MOST) {
        missed.push("worst_doubling");
    }
    let object = json!({
        "worst_ratio": value(ratio),
        "worst_ratio_of": of(ratio),
        "worst_doubling": value(doubling),
        "worst_doubling_of": of(doubling),
        "ratios": all(ratios, |figure| figure.value),
        "read_ratios": all(ratios, |figure| figure.whole),
        "doublings": all(doublings, |figure| figure.value),
        "missed": missed,
    });
    println!("{object}");
}

#[expect(clippy::print_stdout, reason = "what was measured")]
fn print_table(ratios: &[Figure], doublings: &[Figure]) {
    println!("{:<48} {:>6} {:>6}  {:>10} {:>10}", "reading and judging", "ratio", "mapped", "MB/s", "bare");
    for figure in ratios {
        let [ours, bare] = figure.speed.map(rounded);
        println!("{:<48} {:>6.2} {:>6.2}  {ours:>10} {bare:>10}", figure.of, figure.value, figure.whole);
    }
    let mut slowest: Vec<&Figure> = doublings.iter().collect();
    slowest.sort_by(|a, b| b.value.total_cmp(&a.value));
    println!("\n{:<48} {:>6}  {:>10}   the ten worst of {}", "twice the text", "time ×", "MB/s", slowest.len());
    for figure in slowest.iter().take(10) {
        println!("{:<48} {:>6.2}  {:>10}", figure.of, figure.value, rounded(figure.speed[0]));
    }
    if let (Some(ratio), Some(doubling)) = (worst(ratios, |a, b| a < b), slowest.first()) {
        println!("\nworst_ratio    {:.2} (≥ {RATIO_LEAST}): {}", ratio.value, ratio.of);
        println!("worst_doubling {:.2} (≤ {DOUBLING_MOST}): {}", doubling.value, doubling.of);
    }
}
