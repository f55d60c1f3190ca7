//! Measures what contracts cost: `cargo xtask bench contracts [--json]`.
//!
//! Each is compared with a bare pass of the same bytes by the reader of its form, batch by batch in turns, so that what else
//! the machine does falls on both sides. The time is that of the processor, and of the batches the quicker ones count:
//! nothing makes a batch quicker than it is.

mod documents;
mod extract;
mod growth;
mod hostile;
mod subject;
mod transcripts;

pub use transcripts::of as transcript;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value, json};
use tollgate_core::contract::Context;
use tollgate_core::contract::definition::Form;

use crate::Outcome;
use crate::figures::rounded;
use subject::{Contract, bare_pass, is_refused};

/// The sizes of the documents: one as agents write them, one as large as Markdown and YAML may be.
const SIZES: [(&str, usize); 2] = [("4k", 4 << 10), ("1m", (1 << 20) - 256)];
/// Hostile texts have up to this size: what Markdown and YAML may have is not far above.
const HOSTILE_BYTES: usize = 768 << 10;
/// How often the two sides take turns.
const ROUNDS: usize = 31;
const HOSTILE_ROUNDS: usize = 9;
/// How long one batch takes at least.
const BATCH_S: f64 = 0.001;
/// Reading and judging over the bare pass, at least.
const RATIO: Target = Target::AtLeast(0.4);
/// Twice the text in so many times the time, at most.
const DOUBLING: Target = Target::AtMost(2.3);
/// The part that measures finding a report.
pub const EXTRACT: &str = "extract";

/// A figure, and of what.
struct Figure {
    of: String,
    value: f64,
    /// The same with the mapping into a report or a plan.
    whole: f64,
    /// Megabytes a second, ours and the bare pass.
    speed: [f64; 2],
    /// What was measured, where once was not enough: three times, in their order.
    again: Vec<f64>,
}

/// Figures of one kind, of which the worst has a target.
struct Series {
    /// The name of the worst, and that of all.
    names: [&'static str; 2],
    title: &'static str,
    target: Target,
    figures: Vec<Figure>,
}

#[derive(Clone, Copy)]
enum Target {
    AtLeast(f64),
    AtMost(f64),
}

impl Target {
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtLeast(least) => value >= least,
            Self::AtMost(most) => value <= most,
        }
    }

    /// Measures a figure. Of hundreds the worst is also the most disturbed one: what misses is measured twice more, and the
    /// middle of the three counts.
    fn settle(self, measure: &mut dyn FnMut() -> Figure) -> Figure {
        let first = measure();
        if self.is_met(first.value) {
            return first;
        }
        let mut three = [first, measure(), measure()];
        let again = three.iter().map(|figure| figure.value).collect();
        three.sort_by(|a, b| a.value.total_cmp(&b.value));
        let [_, middle, _] = three;
        Figure { again, ..middle }
    }
}

impl Series {
    fn worst(&self) -> Option<&Figure> {
        let worse = |a: f64, b: f64| match self.target {
            Target::AtLeast(_) => a < b,
            Target::AtMost(_) => a > b,
        };
        self.figures.iter().reduce(|worst, next| if worse(next.value, worst.value) { next } else { worst })
    }

    fn is_met(&self) -> bool {
        self.worst().is_some_and(|worst| self.target.is_met(worst.value))
    }

    fn measured_again(&self) -> impl Iterator<Item = &Figure> {
        self.figures.iter().filter(|figure| !figure.again.is_empty())
    }
}

/// Measures everything, or only what has some words in its name (`status-block@1 markdown 4k`, `extract`, `extract team.output gemini`), and prints it.
pub fn run(json: bool, only: &str) -> Outcome {
    let mut measures: Vec<Box<dyn Fn() -> Outcome<Series>>> = Vec::new();
    let (extract_only, words) = match only.strip_prefix(EXTRACT) {
        Some(words) => (true, words.trim_start()),
        None => (false, ""),
    };
    if !extract_only {
        measures.extend([Box::new(|| ratios(only)) as Box<dyn Fn() -> Outcome<Series>>, Box::new(|| doublings(only))]);
    }
    if only.is_empty() || extract_only {
        measures.extend([
            Box::new(|| extract::ratios(words)) as Box<dyn Fn() -> Outcome<Series>>,
            Box::new(|| extract::doublings(words)),
        ]);
    }
    let mut all = Vec::new();
    for measure in measures {
        let series = measure()?;
        if !json {
            print_table(&series);
        }
        all.push(series);
    }
    if json {
        print_json(&all);
    }
    Ok(())
}

fn ratios(only: &str) -> Outcome<Series> {
    eprintln!("measuring contracts …");
    let mut figures = Vec::new();
    for contract in Contract::all()? {
        eprintln!("  {}", contract.id());
        for (size, bytes) in SIZES {
            figures.extend(ratios_of(contract, size, bytes, only)?);
        }
    }
    let (names, title) = (["worst_ratio", "ratios"], "reading and judging");
    Ok(Series { names, title, target: RATIO, figures })
}

fn doublings(only: &str) -> Outcome<Series> {
    eprintln!("measuring hostile texts …");
    let mut figures = Vec::new();
    for contract in Contract::all()? {
        eprintln!("  {}", contract.id());
        figures.extend(doublings_of(contract, only));
    }
    let (names, title) = (["worst_doubling", "doublings"], "twice the text");
    Ok(Series { names, title, target: DOUBLING, figures })
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
        figures.push(RATIO.settle(&mut || {
            let (whole, beside) = compare(&mut read, &mut bare, ROUNDS);
            let (ours, bare) = compare(&mut judge, &mut bare, ROUNDS);
            let speed = [ours, bare].map(|seconds| text.len() as f64 / seconds / 1e6);
            Figure { of: name(form), value: bare / ours, whole: beside / whole, speed, again: Vec::new() }
        }));
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
        let texts = growth::sizes(HOSTILE_BYTES).map(attack.make);
        // What is both JSON and YAML is read as what it looks like.
        if *form == Form::Yaml && contract.forms().len() > 1 && texts[0].starts_with(['{', '[']) {
            continue;
        }
        let read = |text: &str| drop(std::hint::black_box(contract.read(text, &context)));
        figures.push(DOUBLING.settle(&mut || {
            let grown = growth::measure(&read, &texts, HOSTILE_ROUNDS);
            let speed = [texts[growth::SIZES - 1].len() as f64 / grown.last_s / 1e6, 0.0];
            // Under a fifth of a millisecond it was refused before it was read.
            let value = if grown.last_s < 2e-4 { 1.0 } else { grown.steady() };
            Figure { of: of.clone(), value, whole: value, speed, again: Vec::new() }
        }));
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

#[expect(clippy::print_stdout, reason = "what was measured")]
fn print_json(all: &[Series]) {
    let mut object = Map::new();
    for series in all {
        let [name, figures] = series.names;
        let worst = series.worst();
        object.insert(name.to_owned(), json!(worst.map(|worst| rounded(worst.value))));
        object.insert(format!("{name}_of"), json!(worst.map(|worst| &worst.of)));
        let values = series.figures.iter().map(|figure| (figure.of.clone(), json!(rounded(figure.value))));
        object.insert(figures.to_owned(), Value::Object(values.collect()));
        let mapped = series.figures.iter().filter(|figure| figure.whole > 0.0);
        let mapped: Map<String, Value> =
            mapped.map(|figure| (figure.of.clone(), json!(rounded(figure.whole)))).collect();
        if !mapped.is_empty() {
            object.insert(format!("read_{figures}"), Value::Object(mapped));
        }
    }
    let again = || all.iter().flat_map(Series::measured_again);
    let values = |figure: &Figure| figure.again.iter().copied().map(rounded).collect::<Vec<_>>();
    object.insert("measured_again".to_owned(), json!(again().count()));
    let of = again().map(|figure| (figure.of.clone(), json!(values(figure))));
    object.insert("measured_again_of".to_owned(), Value::Object(of.collect()));
    let missed = all.iter().filter(|series| !series.is_met()).map(|series| series.names[0]);
    object.insert("missed".to_owned(), missed.collect());
    println!("{}", Value::Object(object));
}

/// Every ratio; of doublings, the ten worst.
#[expect(clippy::print_stdout, reason = "what was measured")]
fn print_table(series: &Series) {
    let mut shown: Vec<&Figure> = series.figures.iter().collect();
    let target = match series.target {
        Target::AtLeast(least) => {
            println!("{:<48} {:>6}  {:>10} {:>10}  {:>6}", series.title, "ratio", "MB/s", "bare", "mapped");
            format!("≥ {least}")
        }
        Target::AtMost(most) => {
            shown.sort_by(|a, b| b.value.total_cmp(&a.value));
            println!("{:<48} {:>6}  {:>10}   the ten worst of {}", series.title, "time ×", "MB/s", shown.len());
            shown.truncate(10);
            format!("≤ {most}")
        }
    };
    for figure in shown {
        let [ours, bare] = figure.speed.map(rounded);
        let bare = if bare > 0.0 { bare.to_string() } else { String::new() };
        let mapped = if figure.whole > 0.0 { format!("{:.2}", figure.whole) } else { String::new() };
        println!("{:<48} {:>6.2}  {ours:>10} {bare:>10}  {mapped:>6}", figure.of, figure.value);
    }
    for figure in series.measured_again() {
        let values: Vec<String> = figure.again.iter().map(|value| format!("{value:.2}")).collect();
        println!("measured again: {} {}; the middle counts", figure.of, values.join(", "));
    }
    if let Some(worst) = series.worst() {
        println!("{} {:.2} ({target}): {}\n", series.names[0], worst.value, worst.of);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Settles a figure of these values, in their order; gives what counts, and what was measured.
    fn settled(target: Target, values: &[f64]) -> (f64, Vec<f64>) {
        let mut values = values.iter();
        let mut measure = || {
            let value = *values.next().expect("no further measure");
            Figure { of: value.to_string(), value, whole: value, speed: [value; 2], again: Vec::new() }
        };
        let figure = target.settle(&mut measure);
        assert_eq!((figure.of, figure.whole), (figure.value.to_string(), figure.value), "all of one measure");
        assert!(values.next().is_none(), "every value is asked for");
        (figure.value, figure.again)
    }

    #[test]
    fn what_meets_its_target_is_measured_once() {
        assert_eq!(settled(Target::AtLeast(0.5), &[0.5]), (0.5, vec![]));
        assert_eq!(settled(Target::AtMost(2.3), &[2.3]), (2.3, vec![]));
    }

    #[test]
    fn what_misses_is_measured_twice_more_and_the_middle_counts() {
        assert_eq!(settled(Target::AtLeast(0.5), &[0.4, 0.6, 0.7]), (0.6, vec![0.4, 0.6, 0.7]));
        assert_eq!(settled(Target::AtLeast(0.5), &[0.4, 0.9, 0.3]), (0.4, vec![0.4, 0.9, 0.3]), "a miss stays one");
        assert_eq!(settled(Target::AtMost(2.3), &[2.9, 2.0, 2.1]), (2.1, vec![2.9, 2.0, 2.1]));
        assert_eq!(settled(Target::AtMost(2.3), &[2.4, 2.6, 2.0]), (2.4, vec![2.4, 2.6, 2.0]));
    }
}
