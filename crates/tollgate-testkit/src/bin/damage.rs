//! `cargo xtask damage [--stride N] [--repair-every N]`: damages a whole journal in every way there is, one at a time, and
//! ends with `damage: N damages, N named, H healed, 0 silent, 0 panics`.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a command for people at a terminal, with folders of its own"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use tollgate_testkit::damage::{Disk, Specimen, campaign, full_disk, inside};
use tollgate_testkit::temp::TempDir;

const USAGE: &str = "usage: damage [--class NAME] [--stride N] [--repair-every N] [--threads N] [--tollgate PROGRAM]\n\n  \
    --class NAME       only damages of one class: byte, head, column, log, heads, object, full …\n  \
    --stride N         of single bytes, one in N (1: every one)\n  \
    --repair-every N   of single bytes, repair after one in N (25); after every other damage a repair is tried\n  \
    --threads N        how many at once (2)\n  --tollgate PROGRAM the program that makes the journal (the one beside this)\n";
/// How many failures are shown.
const SHOWN_MAX: usize = 20;

struct Args {
    stride: usize,
    repair_every: usize,
    threads: usize,
    tollgate: PathBuf,
    class: Option<String>,
    inside: Option<PathBuf>,
}

fn args() -> Option<Args> {
    let tollgate = std::env::current_exe().ok()?.with_file_name("tollgate");
    let mut args = Args { stride: 1, repair_every: 25, threads: 2, tollgate, class: None, inside: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next()?;
        match word.as_str() {
            "--stride" => args.stride = value.parse().ok().filter(|stride| *stride > 0)?,
            "--repair-every" => args.repair_every = value.parse().ok().filter(|every| *every > 0)?,
            "--threads" => args.threads = value.parse().ok().filter(|threads| *threads > 0)?,
            "--tollgate" => args.tollgate = value.into(),
            "--class" => args.class = Some(value),
            "--inside" => args.inside = Some(value.into()),
            _ => return None,
        }
    }
    Some(args)
}

/// A journal of two real runs: the demo with its question, loops and kill, and one that waits, with a large object.
fn real_runs(tollgate: &Path, dir: &Path) -> PathBuf {
    let state = dir.join("state");
    let run = |folder: &Path, words: &[&str], code: i32| {
        let mut command = Command::new(tollgate);
        command.args(words).current_dir(folder).env("TOLLGATE_STATE", &state).env("USER", "somebody");
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    run(dir, &["demo"], 0);
    let demo = std::fs::read_dir(state.join("demo")).unwrap().next().unwrap().unwrap().path();
    let task = std::fs::read_to_string(demo.join("task.md")).unwrap();
    let long = task.replacen("\n## ", &format!("\n{}\n## ", "A long description. ".repeat(4_000)), 1);
    std::fs::write(demo.join("long.md"), long).unwrap();
    let words = ["run", "build-plan", "--task", "../long.md", "--script", "../agents.yaml", "--input"];
    let words = [&words[..], &["complexity=standard", "--answer", "sign-off=approve", "--no-wait"]].concat();
    run(&demo.join("greet"), &words, 4);
    state
}

fn main() -> ExitCode {
    let Some(args) = args() else {
        print!("{USAGE}");
        return ExitCode::from(2);
    };
    if let Some(dir) = &args.inside {
        let specimen = Specimen::of(&dir.join("specimen"), &dir.join("copy"));
        inside(&specimen, dir, if args.stride == 1 { 1 } else { 8 });
        return ExitCode::SUCCESS;
    }
    let temp = TempDir::new();
    let start = Instant::now();
    let state = real_runs(&args.tollgate, temp.path());
    let specimen = Specimen::of(&state, &temp.path().join("specimen"));
    println!("a journal of {} made in {:.1} s", specimen.describe(), start.elapsed().as_secs_f64());
    let mut damages = specimen.damages(args.stride);
    damages.retain(|damage| args.class.as_deref().is_none_or(|class| class == damage.class));
    println!("{} damages to come", damages.len());
    let (start, hook) = (Instant::now(), std::panic::take_hook());
    std::panic::set_hook(Box::new(|_| ()));
    let mut tally = campaign(&specimen, &damages, args.repair_every, args.threads);
    std::panic::set_hook(hook);
    println!("done in {:.1} s", start.elapsed().as_secs_f64());
    let disks = args.class.as_deref().is_none_or(|class| class == "full");
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.arg("--inside").arg(temp.path()).args(["--stride", &args.stride.to_string()]);
    match disks.then(|| full_disk(&mut again)) {
        None => {}
        Some(Disk::Done(disks)) => tally.join(disks),
        Some(Disk::NotPossible(why)) => {
            println!("SKIPPED: full and read-only disks need `unshare -rm`, which is not allowed here: {why}");
            if std::env::var_os("CI").is_some() {
                return ExitCode::FAILURE;
            }
        }
    }
    for (class, [named, healed, silent, panics]) in &tally.classes {
        println!("{class:<10} {named:>7} named {healed:>6} healed {silent:>3} silent {panics:>3} panics");
    }
    let codes: Vec<String> = tally.codes.iter().map(|(code, count)| format!("{code} {count}")).collect();
    println!("codes: {}", codes.join(", "));
    println!("{} repairs, {} of them refused: nothing was left, or it was no damage", tally.repairs.0, tally.repairs.1);
    tally.failures.iter().take(SHOWN_MAX).for_each(|failure| println!("failure: {failure}"));
    println!("{}", tally.line());
    if tally.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
