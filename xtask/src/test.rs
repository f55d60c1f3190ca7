//! `cargo xtask test`: everything that must hold before a change is merged. Adding a step is adding an entry to [`STEPS`].

use std::process::{Command, ExitCode};
use std::time::Instant;

use crate::agents::{self, Kit};
use crate::command::{CRASH, DAMAGE, SIM_CHECKED, cargo, in_memory, schemas, tee};
use crate::{breaks, figures, tidy, tools};

/// How long to look.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    Usual,
    Full,
}

struct Step {
    name: &'static str,
    run: fn(Depth) -> Outcome,
}

enum Outcome {
    Passed(Vec<String>),
    Failed(String),
    Skipped(String),
}

/// The steps of a group run at the same time: agents mostly wait, and the simulator only computes.
const STEPS: &[&[Step]] = &[
    &[Step { name: "fmt", run: |_| status(cargo().args(["fmt", "--all", "--check"])) }],
    &[Step { name: "tidy", run: |_| tidy_step() }],
    &[Step {
        name: "clippy",
        run: |_| {
            status(cargo().args(["clippy", "--workspace", "--all-targets", "--locked", "--", "--deny", "warnings"]))
        },
    }],
    &[Step { name: "build", run: |_| status(cargo().args(["build", "--workspace", "--locked"])) }],
    &[Step { name: "tests", run: tests }],
    &[Step {
        name: "schemas",
        run: |_| ended(schemas(&["--check"]), "docs/schemas/ is not what the code says: `cargo xtask schemas`"),
    }],
    &[
        Step { name: "agents", run: agents_step },
        Step {
            name: "sim",
            run: |depth| {
                ended(
                    SIM_CHECKED.run(&["--seeds", depth.of(&SIM_SEEDS), "--kit-seeds", depth.of(&SIM_SEEDS_OF_KIT)]),
                    "`cargo xtask sim` broke an invariant, or a run is stuck",
                )
            },
        },
    ],
    // Kills the real program at every named point, and at random moments when there is time.
    &[Step {
        name: "crash",
        run: |depth| {
            ended(
                CRASH.run(&["--runs", depth.of(&CRASH_RUNS)]),
                "`cargo xtask crash` found something lost, doubled or left running",
            )
        },
    }],
    &[Step { name: "breaks", run: broken }],
    &[Step { name: "damage", run: damaged }],
    &[Step { name: "deny", run: |_| deny() }],
];

/// How many histories of each shipped protocol are simulated: before every merge, and with `--full`.
const SIM_SEEDS: [&str; 2] = ["100", "700"];
/// And of each of the kit, whose histories are long: with the others enough that what was exercised is asserted.
const SIM_SEEDS_OF_KIT: [&str; 2] = ["34", "700"];

/// How often the real program is killed at random, besides once at every named point.
const CRASH_RUNS: [&str; 2] = ["0", "40"];

impl Depth {
    fn of(self, [usual, full]: &[&'static str; 2]) -> &'static str {
        match self {
            Self::Usual => usual,
            Self::Full => full,
        }
    }
}

/// Runs every step, whatever became of the ones before it, and sums up.
pub fn run(depth: Depth) -> ExitCode {
    println!("== tools");
    if let Err(missing) = tools::ensure() {
        eprintln!("error: the steps cannot run here\n{missing}");
        return ExitCode::from(3);
    }
    let (mut lines, mut steps) = (Vec::new(), Vec::new());
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let begin = Instant::now();
    for group in STEPS {
        let names: Vec<&str> = group.iter().map(|step| step.name).collect();
        println!("\n== {}", names.join(", "));
        for (name, seconds, outcome) in at_once(group, depth) {
            steps.push((name, seconds));
            let (word, detail) = match outcome {
                Outcome::Passed(detail) => (count(&mut passed, "passed"), detail),
                Outcome::Failed(why) => (count(&mut failed, "FAILED"), vec![why]),
                Outcome::Skipped(why) => (count(&mut skipped, "SKIPPED"), vec![why]),
            };
            lines.push(format!("{word:<8} {name:<8} {seconds:>7.1} s"));
            lines.extend(detail.iter().flat_map(|text| text.lines()).map(|line| format!("         {line}")));
        }
    }
    let all = begin.elapsed().as_secs_f64();
    steps.push(("all", all));
    figures::keep(&steps);
    println!("\n== summary\n{}", lines.join("\n"));
    println!("steps: {passed} passed, {failed} failed, {skipped} skipped, {all:.0} s");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs the steps of a group side by side: each with its name, its seconds and what came of it.
fn at_once(group: &'static [Step], depth: Depth) -> Vec<(&'static str, f64, Outcome)> {
    let one = move |step: &'static Step| {
        let start = Instant::now();
        let outcome = (step.run)(depth);
        (step.name, start.elapsed().as_secs_f64(), outcome)
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = group.iter().map(|step| (step.name, scope.spawn(move || one(step)))).collect();
        let ended = running.into_iter().map(|(name, running)| {
            let crashed = || (name, 0.0, Outcome::Failed("the step itself panicked".to_owned()));
            running.join().unwrap_or_else(|_| crashed())
        });
        ended.collect()
    })
}

fn count(counter: &mut u32, word: &'static str) -> &'static str {
    *counter += 1;
    word
}

fn status(command: &mut Command) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Outcome::Passed(Vec::new()),
        Ok(status) => Outcome::Failed(format!("{}: {status}", shown(command))),
        Err(error) => Outcome::Failed(format!("{} could not be started: {error}", shown(command))),
    }
}

/// The command as a person types it.
fn shown(command: &Command) -> String {
    let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
    format!("`cargo {}`", args.join(" "))
}

fn tidy_step() -> Outcome {
    let breaches = tidy::breaches();
    if breaches.is_empty() { Outcome::Passed(Vec::new()) } else { Outcome::Failed(breaches.join("\n")) }
}

fn tests(depth: Depth) -> Outcome {
    let mut command = cargo();
    if tools::nextest() {
        // Most tests wait for processes that they started.
        let threads = 2 * std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = threads.to_string();
        command.args(["nextest", "run", "--workspace", "--locked", "--no-fail-fast", "--test-threads", &threads]);
    } else {
        println!("cargo-nextest is not installed (`cargo install cargo-nextest --locked`): using `cargo test`");
        command.args(["test", "--workspace", "--locked", "--no-fail-fast"]);
    }
    if depth == Depth::Full {
        command.env("PROPTEST_CASES", "4096").env("TOLLGATE_TEST_FULL", "1");
    }
    let shown = shown(&command);
    match tee(&mut in_memory(command), is_summary) {
        Ok((true, lines)) => Outcome::Passed(lines),
        Ok((false, lines)) => Outcome::Failed([vec![format!("{shown} failed")], lines].concat().join("\n")),
        Err(error) => Outcome::Failed(format!("{shown} could not be started: {error}")),
    }
}

/// Whether a line is the one in which cargo or nextest sums up what it ran.
fn is_summary(line: &str) -> bool {
    line.contains("test result:") || (line.contains("Summary") && line.contains("run:"))
}

/// What became of a command of ours, and what it means that it failed.
fn ended(code: ExitCode, failed: &str) -> Outcome {
    if code == ExitCode::SUCCESS { Outcome::Passed(Vec::new()) } else { Outcome::Failed(failed.to_owned()) }
}

/// Real agents against a scripted model: one before every merge, all of them when there is time.
fn agents_step(depth: Depth) -> Outcome {
    match agents::run(depth == Depth::Full) {
        Kit::Passed(lines) => Outcome::Passed(lines),
        Kit::Failed(why) => Outcome::Failed(why),
        Kit::Skipped(why) => Outcome::Skipped(why),
    }
}

/// Breaks the kernel on purpose; the simulator must see each. Many builds, so only when there is time.
fn broken(depth: Depth) -> Outcome {
    if depth == Depth::Usual {
        return Outcome::Skipped("only with --full: every invariant is broken on purpose and must be seen".to_owned());
    }
    ended(breaks::run(&[]), "the simulator missed a break")
}

/// Damages a journal in every way there is. It needs an optimised build, so only when there is time.
fn damaged(depth: Depth) -> Outcome {
    if depth == Depth::Usual {
        return Outcome::Skipped(
            "only with --full: a journal is damaged byte by byte (`cargo xtask damage`)".to_owned(),
        );
    }
    ended(DAMAGE.run(&[]), "`cargo xtask damage` found damage that was neither named nor repaired")
}

/// Advisories; what else deny.toml says is also a rule of `tidy`. Optional because advisories need a network, and a build without one must not fail for it.
fn deny() -> Outcome {
    if tools::deny() {
        status(cargo().args(["deny", "check"]))
    } else {
        Outcome::Skipped(
            "cargo-deny is not installed: advisories were NOT checked (`cargo install cargo-deny --locked`); tidy held licences, sources and bans".to_owned(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::is_summary;

    #[test]
    fn summaries_of_both_test_runners_are_kept() {
        assert!(is_summary("     Summary [   0.031s] 12 tests run: 12 passed, 0 skipped"));
        assert!(is_summary(
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"
        ));
        assert!(!is_summary("        PASS [   0.005s] xtask tests::summary"));
    }
}
