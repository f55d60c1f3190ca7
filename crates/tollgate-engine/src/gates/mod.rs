//! Commands that check: run by the engine on a throw-away copy of the tree under test.
//!
//! A command passes when it exits with 0. One that cannot be run here (no such program) is unobservable, which never
//! passes; one that runs too long fails.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use tollgate_core::report::Judgement;

use crate::process::{End, Environment, Program, Running, Tail, find_program, start};

/// How long a command may take when nothing else is said.
pub const LIMIT_MS: u64 = 10 * 60 * 1000;
/// How much of the end of its output is kept as evidence.
pub const OUTPUT_BYTES_MAX: usize = 256 * 1024;
/// What a shell exits with when it finds no such program.
const NOT_FOUND: i32 = 127;

/// A command that checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    /// A program and its arguments, from the configuration.
    Argv(Vec<OsString>),
    /// A line for `sh -c`, from a criterion.
    Shell(String),
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Whether it passed.
    pub result: Judgement,
    /// Why, in one sentence.
    pub why: String,
    /// The exit code, when there is one.
    pub exit: Option<i32>,
    /// The end of what it printed, both streams as they came.
    pub output: Vec<u8>,
    /// Whether something before it is missing.
    pub cut: bool,
}

impl Checked {
    fn new(result: Judgement, why: impl Into<String>) -> Self {
        Self { result, why: why.into(), exit: None, output: Vec::new(), cut: false }
    }
}

/// Runs a command in a copy of the tree under test and ends everything it started. What it runs may be a worker's work:
/// `started` sees the process, to record it and to be able to end it.
pub fn check(copy: &Path, check: &Check, limit: Duration, marker: &str, started: &mut dyn FnMut(&Running)) -> Checked {
    let (name, args) = match check {
        Check::Argv(argv) => match argv.split_first() {
            Some((name, args)) => (name.clone(), args.to_vec()),
            None => return Checked::new(Judgement::Unobservable, "the command is empty"),
        },
        Check::Shell(line) => (OsString::from("sh"), vec!["-c".into(), line.into()]),
    };
    let Some(path) = find_program(&name, copy) else { return not_found(&name) };
    let output = Tail::new(OUTPUT_BYTES_MAX);
    let program = Program {
        path,
        args,
        cwd: copy.to_owned(),
        env: Environment { set: Vec::new(), marker: Some(marker.to_owned()) },
        stdin: Vec::new(),
        limit,
    };
    let end = match start(program, output.clone(), output.clone()) {
        Ok(mut running) => {
            started(&running);
            running.wait_to_end()
        }
        Err(error) => {
            return Checked::new(Judgement::Unobservable, format!("`{}` cannot be started: {error}", name.display()));
        }
    };
    let (output, cut) = output.take();
    Checked { output, cut, ..judge(check, end, limit) }
}

/// A program of the tree that is missing is work not done; one of the machine is something we cannot observe.
fn not_found(name: &OsStr) -> Checked {
    let name = name.to_string_lossy();
    if name.contains('/') {
        Checked::new(Judgement::Fail, format!("the tree has no program `{name}`"))
    } else {
        Checked::new(Judgement::Unobservable, format!("`{name}` was not found on PATH"))
    }
}

fn judge(check: &Check, end: End, limit: Duration) -> Checked {
    match end {
        End::Exited(0) => Checked { exit: Some(0), ..Checked::new(Judgement::Pass, "it exited with 0") },
        End::Exited(NOT_FOUND) if matches!(check, Check::Shell(_)) => {
            let Check::Shell(line) = check else { return Checked::new(Judgement::Fail, "it exited with 127") };
            let word = line.split_ascii_whitespace().find(|word| !word.contains('=')).unwrap_or_default();
            let checked = if word.contains('/') {
                not_found(OsStr::new(word))
            } else {
                Checked::new(Judgement::Unobservable, "the shell found no such program (it exited with 127)")
            };
            Checked { exit: Some(NOT_FOUND), ..checked }
        }
        End::Exited(code) => {
            Checked { exit: Some(code), ..Checked::new(Judgement::Fail, format!("it exited with {code}")) }
        }
        End::Signalled(signal) => Checked::new(Judgement::Fail, format!("it was ended by signal {signal}")),
        End::TimedOut => {
            Checked::new(Judgement::Fail, format!("it ran longer than {} s and was ended", limit.as_secs()))
        }
        End::Cancelled => Checked::new(Judgement::Unobservable, "it was cancelled"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::find_by_marker;
    use crate::testing::{folder, write};

    fn shell(line: &str) -> Checked {
        let copy = folder("check");
        write(&copy, "file", "x");
        check(&copy, &Check::Shell(line.into()), Duration::from_secs(60), "run_check000/att_1/1", &mut |_| ())
    }

    #[test]
    fn the_exit_code_decides_and_the_output_is_kept() {
        let passed = shell("cat file; echo more >&2");
        assert_eq!((passed.result, passed.exit, passed.cut), (Judgement::Pass, Some(0), false));
        assert_eq!(passed.output.len(), "xmore\n".len());
        let failed = shell("echo bad; exit 3");
        assert_eq!((failed.result, failed.exit), (Judgement::Fail, Some(3)));
        assert_eq!(failed.output, b"bad\n");
        assert_eq!(shell("kill -9 $$").result, Judgement::Fail);
        let much = shell("head -c 1000000 /dev/zero; echo end");
        assert!(much.cut && much.output.len() == OUTPUT_BYTES_MAX && much.output.ends_with(b"end\n"));
    }

    #[test]
    fn what_is_not_on_this_machine_is_unobservable_and_what_is_not_in_the_tree_fails() {
        assert_eq!(shell("no-such-program --x").result, Judgement::Unobservable);
        assert_eq!(shell("A=1 ./no-such-script").result, Judgement::Fail);
        let copy = folder("argv");
        let argv = |words: &[&str]| {
            let words = words.iter().map(OsString::from).collect();
            check(&copy, &Check::Argv(words), Duration::from_secs(60), "run_check000/att_2/1", &mut |_| ()).result
        };
        assert_eq!(argv(&["no-such-program"]), Judgement::Unobservable);
        assert_eq!(argv(&["./absent"]), Judgement::Fail);
        assert_eq!(argv(&["true", "$(exit 1)"]), Judgement::Pass);
        assert_eq!(argv(&[]), Judgement::Unobservable);
    }

    #[test]
    fn a_command_that_takes_too_long_fails_and_leaves_nothing() {
        let copy = folder("slow");
        let line = "setsid sleep 1000 & sleep 1000";
        let checked =
            check(&copy, &Check::Shell(line.into()), Duration::from_millis(100), "run_check000/att_3/1", &mut |_| ());
        assert_eq!((checked.result, checked.exit), (Judgement::Fail, None));
        assert_eq!(find_by_marker("run_check000/att_3"), []);
    }
}
