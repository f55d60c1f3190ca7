//! Starts cargo and other programs at the root of the repository.

use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

/// Writes or compares the JSON Schemas of what `--json` prints.
pub const SCHEMAS: &[&str] = &["run", "--quiet", "--package", "tollgate", "--", "schemas", "--dir", "docs/schemas"];
/// What is measured from outside; built before it is measured.
const MEASURED: &[&str] = &["build", "--release", "--quiet", "--package", "tollgate", "--bin", "tollgate"];
/// Measures with optimisations on, as users run it.
const BENCH: &[&str] = &["run", "--release", "--quiet", "--package", "tollgate-testkit", "--bin", "bench", "--"];
/// Simulates with optimisations on, because the number of seeds is what counts.
pub const SIM: &[&str] = &["run", "--release", "--quiet", "--package", "tollgate-testkit", "--bin", "sim", "--"];

/// What is killed: the real program, built as the campaign needs it, with fail points.
const KILLED: &[&str] = &["build", "--quiet", "--package", "tollgate", "--bin", "tollgate"];
/// Kills it, and compares what came of it.
const CRASH: &[&str] = &["run", "--quiet", "--package", "tollgate-testkit", "--bin", "crash", "--"];
/// Damages with optimisations on, because the number of damages is what counts.
const DAMAGE: &[&str] = &["run", "--release", "--quiet", "--package", "tollgate-testkit", "--bin", "damage", "--"];

/// The root of the repository this command was started in.
pub fn root() -> PathBuf {
    let manifest =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest.parent().map_or(manifest.clone(), PathBuf::from)
}

/// A program that starts at the root.
pub fn program(name: &str) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root());
    command
}

/// The cargo that runs this command.
pub fn cargo() -> Command {
    let mut command = program(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    // What cargo set for xtask itself is not meant for the packages that it builds now.
    for name in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_PKG_NAME", "CARGO_PKG_VERSION"] {
        command.env_remove(name);
    }
    command
}

/// Whether a program answers when it is asked for its version.
pub fn answers(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Runs cargo with arguments of the user behind the fixed ones and passes its exit code on.
pub fn forward(fixed: &[&str], args: &[&str]) -> ExitCode {
    match cargo().args(fixed).args(args).status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(70)),
        Err(error) => not_started(&error),
    }
}

/// Builds what is measured from outside, then measures.
pub fn bench(args: &[&str]) -> ExitCode {
    built(MEASURED, BENCH, args)
}

/// Builds what is killed, then kills it.
pub fn crash(args: &[&str]) -> ExitCode {
    built(KILLED, CRASH, args)
}

/// Builds what is killed, then writes the golden journals.
pub fn golden() -> ExitCode {
    built(KILLED, CRASH, &["--golden", "docs/golden"])
}

/// Builds the program that makes a journal, then damages the journal.
pub fn damage(args: &[&str]) -> ExitCode {
    built(MEASURED, DAMAGE, args)
}

/// Builds what another program uses, then runs that.
fn built(build: &[&str], fixed: &[&str], args: &[&str]) -> ExitCode {
    match cargo().args(build).status() {
        Ok(status) if status.success() => forward(fixed, args),
        Ok(_) => ExitCode::FAILURE,
        Err(error) => not_started(&error),
    }
}

fn not_started(error: &std::io::Error) -> ExitCode {
    eprintln!("error: cargo could not be started: {error}");
    ExitCode::from(3)
}

/// Runs a command, shows its output as it comes, and returns whether it succeeded and the lines that `keep` wants.
pub fn tee(command: &mut Command, keep: fn(&str) -> bool) -> std::io::Result<(bool, Vec<String>)> {
    if std::io::stderr().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let on_err = std::thread::spawn(move || show(err, keep, |line| eprintln!("{line}")));
    let mut kept = show(out, keep, |line| println!("{line}"));
    kept.extend(on_err.join().unwrap_or_default());
    Ok((child.wait()?.success(), kept))
}

fn show(stream: Option<impl Read>, keep: fn(&str) -> bool, print: impl Fn(&str)) -> Vec<String> {
    let mut kept = Vec::new();
    let mut reader = match stream {
        Some(stream) => BufReader::new(stream),
        None => return kept,
    };
    let mut bytes = Vec::new();
    while reader.read_until(b'\n', &mut bytes).is_ok_and(|read| read > 0) {
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end();
        print(line);
        if keep(line) {
            kept.push(line.trim().to_owned());
        }
        bytes.clear();
    }
    kept
}
