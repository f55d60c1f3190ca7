//! The repository's own commands: `cargo xtask help` lists them.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command for people at a terminal")]

mod agents;
mod breaks;
mod command;
mod figures;
mod test;
mod tidy;
mod tools;

use std::process::ExitCode;

use command::{BENCH, CRASH, DAMAGE, SIM};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test [--full]       everything that must hold before a change is merged; --full looks longer, with all agents, breaks and damages
  figures             prints how large the tree is, how its modules hang together, and how long the last test took
  tidy                sizes, crate edges, code map, code pages, decisions (also run by `cargo test`)
  schemas [--check]   writes docs/schemas/, or says which of them differ from the code
  bench ARGS...       measures, e.g. `bench kernel --json`
  sim ARGS...         simulates, e.g. `sim --seeds 2000`, or `sim --seed 7` to repeat one
  crash ARGS...       kills the real program and resumes it, e.g. `crash --runs 200`, or `crash --seed 7` to repeat one
  damage ARGS...      damages a whole journal, one byte, row, object or file at a time; each must be named or healed
  golden              makes the golden journals of docs/golden/ again; read its README.md first
  agents [--full]     installs agents from npm and runs the conformance kit on them: Claude Code, or all with --full
  breaks [NAME...]    breaks the kernel one line at a time; the simulator must see each
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (name, rest) = match args.split_first() {
        Some((name, rest)) => (name.as_str(), rest),
        None => ("help", &[][..]),
    };
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    match (name, rest.as_slice()) {
        ("test", []) => test::run(test::Depth::Usual),
        ("test", ["--full"]) => test::run(test::Depth::Full),
        ("figures", []) => figures::run(),
        ("tidy", []) => tidy::run(),
        ("schemas", []) => command::schemas(&[]),
        ("schemas", ["--check"]) => command::schemas(&["--check"]),
        ("bench", args) => BENCH.run(args),
        ("sim", args) => SIM.run(args),
        ("crash", args) => CRASH.run(args),
        ("damage", args) => DAMAGE.run(args),
        ("golden", []) => CRASH.run(&["--golden", "docs/golden"]),
        ("agents", []) => agents::main(false),
        ("agents", ["--full"]) => agents::main(true),
        ("breaks", names) => breaks::run(names),
        ("help" | "--help" | "-h", []) => {
            print!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprint!("error: `cargo xtask {}` is not a command\n\n{USAGE}", args.join(" "));
            ExitCode::from(2)
        }
    }
}
