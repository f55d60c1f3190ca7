//! The repository's own commands: `cargo xtask help` lists them.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command for people at a terminal")]

mod agents;
mod breaks;
mod command;
mod test;
mod tidy;
mod tools;

use std::process::ExitCode;

use command::{BENCH, CRASH, DAMAGE, SIM};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test [--full]       everything that must hold before a change is merged; --full looks longer
  tidy                sizes, crate edges, code map, code pages, decisions (also run by `cargo test`)
  schemas [--check]   writes docs/schemas/, or says which of them differ from the code
  bench ARGS...       measures, e.g. `bench kernel --json`
  sim ARGS...         simulates, e.g. `sim --seeds 2000`, or `sim --seed 7` to repeat one
  crash ARGS...       kills the real program and resumes it, e.g. `crash --runs 200`, or `crash --seed 7` to repeat one
  damage ARGS...      damages a whole journal, one byte, row, object or file at a time; each must be named or healed
  golden              makes the golden journals of docs/golden/ again; read its README.md first
  agents [--few]      installs the command line tools of agents from npm and runs the conformance kit on them; --few: those of CI
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
        ("tidy", []) => tidy::run(),
        ("schemas", []) => command::schemas(&[]),
        ("schemas", ["--check"]) => command::schemas(&["--check"]),
        ("bench", args) => BENCH.run(args),
        ("sim", args) => SIM.run(args),
        ("crash", args) => CRASH.run(args),
        ("damage", args) => DAMAGE.run(args),
        ("golden", []) => CRASH.run(&["--golden", "docs/golden"]),
        ("agents", []) => agents::main(true),
        ("agents", ["--few"]) => agents::main(false),
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
