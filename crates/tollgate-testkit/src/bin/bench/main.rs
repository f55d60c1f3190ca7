//! Measures the kernel against what the machine can do at best, `cargo xtask bench kernel [--json]`, checking and finding
//! reports, `cargo xtask bench contracts [--json]`, and what surrounds a worker against git and the bare command,
//! `cargo xtask bench workers [--json]`.
//!
//! docs/BENCH.md says what each figure means. Whatever is compared is interleaved, so that the disk's mood falls on
//! both sides.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command for people at a terminal")]

mod contracts;
mod crowd;
mod figures;
mod group;
mod list;
mod long;
mod program;
mod resume;
mod step;
mod workers;
mod world;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use figures::Figures;

/// Whatever goes wrong ends the measurement: a figure from half of one would be none.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const USAGE: &str = "\
usage: bench kernel|contracts|workers [--json] [--only PART,...] [--dir DIR]

parts of kernel: step, group, long, crowd, list, resume; of contracts: check, extract; of workers: small, large, stream
(all of them unless --only is given)
DIR is where databases and work trees are made, on the disk to be measured; without it, beside the program
";

/// A part of the measurement, and the figures it gives.
struct Part {
    name: &'static str,
    measure: fn(&Path, &mut Figures) -> Outcome,
}

const KERNEL: &[Part] = &[
    Part { name: "step", measure: step::measure },
    Part { name: "group", measure: group::measure },
    Part { name: "long", measure: long::measure },
    Part { name: "crowd", measure: crowd::measure },
    Part { name: "list", measure: list::measure },
    Part { name: "resume", measure: resume::measure },
];

const CONTRACTS: &[Part] =
    &[Part { name: "check", measure: contracts::check }, Part { name: "extract", measure: contracts::grow }];

const WORKERS: &[Part] = &[
    Part { name: "small", measure: workers::small },
    Part { name: "large", measure: workers::large },
    Part { name: "stream", measure: workers::stream },
];

struct Args {
    json: bool,
    parts: Vec<&'static Part>,
    dir: PathBuf,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    if let Some(done) = workers::child(&words) {
        return ended(done);
    }
    let done = match words.as_slice() {
        // What is measured in a process of its own; started by `group::measure`.
        [group::CHILD, dir] => group::child(Path::new(dir)),
        ["kernel", options @ ..] => match read(options, KERNEL) {
            Ok(args) => measure(&args),
            Err(why) => return usage(&why),
        },
        ["workers", options @ ..] => match read(options, WORKERS) {
            Ok(args) => measure(&args),
            Err(why) => return usage(&why),
        },
        ["contracts", options @ ..] => match read(options, CONTRACTS) {
            Ok(args) => measure(&args),
            Err(why) => return usage(&why),
        },
        _ => return usage("there are three benches: `kernel`, `contracts` and `workers`"),
    };
    ended(done)
}

fn ended(done: Outcome) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn usage(why: &str) -> ExitCode {
    eprint!("error: {why}\n\n{USAGE}");
    ExitCode::from(2)
}

fn read(options: &[&str], all: &'static [Part]) -> Result<Args, String> {
    let beside = || Some(std::env::current_exe().ok()?.parent()?.to_owned());
    let mut args = Args { json: false, parts: all.iter().collect(), dir: beside().unwrap_or_default() };
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let mut value = || options.next().copied().ok_or_else(|| format!("{option} needs a value"));
        match *option {
            "--json" => args.json = true,
            "--dir" => args.dir = value()?.into(),
            "--only" => args.parts = value()?.split(',').map(|name| part(name, all)).collect::<Result<_, _>>()?,
            other => return Err(format!("`{other}` is not an option")),
        }
    }
    Ok(args)
}

fn part(name: &str, all: &'static [Part]) -> Result<&'static Part, String> {
    all.iter().find(|part| part.name == name).ok_or_else(|| format!("`{name}` is not a part"))
}

fn measure(args: &Args) -> Outcome {
    let mut figures = Figures::default();
    for part in &args.parts {
        eprintln!("measuring {} …", part.name);
        let dir = world::Folder::new(&args.dir, part.name)?;
        (part.measure)(dir.path(), &mut figures)?;
    }
    if args.json {
        println!("{}", figures.json());
    } else {
        print!("{}", figures.table());
    }
    Ok(())
}
