//! Commands that check: run by the engine on a throw-away copy of the tree under test.
//!
//! A command passes when it exits with 0. One whose own program is not on this machine is unobservable, which never
//! passes. Everything else fails: what runs too long, and what calls a program that is not there.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tollgate_core::redact::Secrets;
use tollgate_core::report::Judgement;

use crate::process::{End, Environment, Program, Redacted, Running, Tail, find_in, find_program, start};
use crate::sandbox::{is_covered, search_path_into};
use crate::workers::shell_words;

/// How long a command may take when nothing else is said.
pub const LIMIT_MS: u64 = 10 * 60 * 1000;
/// How much of the end of its output is kept as evidence.
pub const OUTPUT_BYTES_MAX: usize = 256 * 1024;
/// What a shell exits with when it finds no such program.
const NOT_FOUND: i32 = 127;
/// How long a shell may take to say whether it knows a program.
const PROBE_LIMIT: Duration = Duration::from_secs(10);

/// A command that checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    /// A program and its arguments, from the configuration.
    Argv(Vec<OsString>),
    /// A line for `sh -c`, from a criterion.
    Shell(String),
}

impl Check {
    /// Its words, as far as they can be told apart.
    pub fn words(&self) -> Vec<String> {
        match self {
            Self::Argv(argv) => argv.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            Self::Shell(line) => shell_words::split(line).unwrap_or_default(),
        }
    }
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

/// What stands around a command.
#[derive(Clone, Copy)]
pub struct CommandSandbox<'a> {
    /// Puts what holds it around a program.
    pub hold: &'a dyn Fn(Program) -> std::io::Result<Program>,
    /// The folders in which it finds programs.
    pub path: &'a [PathBuf],
    /// The first path that starting a program needs and that what is started in the sandbox, which is named first, does not see.
    pub covered: &'a dyn Fn(&Path, &Path) -> Option<PathBuf>,
    /// What it does not see; programs there are not found.
    pub unseen: &'a [PathBuf],
}

/// Runs a command in a copy of the tree under test and ends everything it started. What it runs may be a worker's work:
/// `started` sees the process, to record it and to be able to end it.
pub fn check(
    copy: &Path,
    check: &Check,
    limit: Duration,
    marker: &str,
    sandbox: CommandSandbox<'_>,
    secrets: &Arc<Secrets>,
    started: &mut dyn FnMut(&Running),
) -> Checked {
    let (name, args) = match check {
        Check::Argv(argv) => match argv.split_first() {
            Some((name, args)) => (name.clone(), args.to_vec()),
            None => return Checked::new(Judgement::Unobservable, "the command is empty"),
        },
        Check::Shell(line) => (OsString::from("sh"), vec!["-c".into(), line.into()]),
    };
    let Some(path) = found(&name, copy, sandbox) else { return not_found(&name, sandbox) };
    let first = match check {
        Check::Argv(_) => Some(path.clone()),
        Check::Shell(line) => first_program(line, copy, sandbox.path),
    };
    if let Some((program, covered)) = first.and_then(|first| (sandbox.covered)(&path, &first).map(|path| (first, path)))
    {
        let why = format!("{}; name it in `reads` of the configuration", is_covered(&program, &covered));
        return Checked::new(Judgement::Unobservable, why);
    }
    let output = Tail::new(OUTPUT_BYTES_MAX);
    let program = Program {
        path,
        args,
        cwd: copy.to_owned(),
        env: Environment { marker: Some(marker.to_owned()), ..Environment::default() },
        stdin: Vec::new(),
        limit,
        control: None,
    };
    let redacted = || Redacted::new(secrets, output.clone());
    let end = match (sandbox.hold)(program).and_then(|program| start(program, redacted(), redacted())) {
        Ok(mut running) => {
            started(&running);
            running.wait_to_end()
        }
        Err(error) => {
            return Checked::new(Judgement::Unobservable, format!("`{}` cannot be started: {error}", name.display()));
        }
    };
    let (output, cut) = output.take();
    let missing = match (check, end) {
        (Check::Shell(line), End::Exited(NOT_FOUND)) => missing(copy, line, marker, sandbox),
        _ => None,
    };
    Checked { output, cut, ..missing.unwrap_or_else(|| judge(end, limit)) }
}

/// The file that a line starts first, where its first word names one by a path, or in these folders. What is part of the tree is the work's.
pub(crate) fn first_program(line: &str, tree: &Path, path: &[PathBuf]) -> Option<PathBuf> {
    let words = shell_words::split(line).ok()?;
    let name = OsStr::new(words.first()?);
    if !name.as_encoded_bytes().contains(&b'/') {
        return find_in(name, path);
    }
    let found = find_program(name, tree)?;
    let in_tree = || found.canonicalize().ok()?.strip_prefix(tree.canonicalize().ok()?).ok().map(drop);
    if Path::new(name).is_relative() && in_tree().is_some() { None } else { Some(found) }
}

/// The program of a line, when the shell does not know it: only then is 127 no word of the work itself.
fn missing(copy: &Path, line: &str, marker: &str, sandbox: CommandSandbox<'_>) -> Option<Checked> {
    let (settings, program) = program(line)?;
    let probe = format!("{settings}\ncommand -v -- {program} >/dev/null");
    let program_of_probe = Program {
        path: found(OsStr::new("sh"), copy, sandbox)?,
        args: vec!["-c".into(), probe.into()],
        cwd: copy.to_owned(),
        env: Environment { marker: Some(marker.to_owned()), ..Environment::default() },
        stdin: Vec::new(),
        limit: PROBE_LIMIT,
        control: None,
    };
    let silent = Tail::new(OUTPUT_BYTES_MAX);
    let end = start((sandbox.hold)(program_of_probe).ok()?, silent.clone(), silent).ok()?.wait_to_end();
    // A relative path is looked up where the line changes to; one that is not there is work not done in any case.
    let unknown = matches!(end, End::Exited(code) if code != 0) && !program.contains('/');
    unknown.then(|| Checked { exit: Some(NOT_FOUND), ..not_found(OsStr::new(program), sandbox) })
}

/// The settings and the name of the first program of a line, past `cd`; none where only a shell can tell.
fn program(line: &str) -> Option<(&str, &str)> {
    let mut rest = line.trim_start();
    while let Some(after) = rest.strip_prefix("cd ") {
        let at = after.find(['&', ';', '|'])?;
        rest = after[at..].strip_prefix("&&").or_else(|| after[at..].strip_prefix(';'))?.trim_start();
    }
    let from = rest;
    loop {
        let word = &rest[..rest.find(|c: char| c.is_whitespace() || ";&|<>()".contains(c)).unwrap_or(rest.len())];
        if word.is_empty() || word.contains(['\'', '"', '\\', '`', '*', '?', '[', '~', '{', '}', '#', '!']) {
            return None;
        }
        let is_setting = word.split_once('=').is_some_and(|(name, _)| {
            let known = |c: char| c == '_' || c.is_ascii_alphanumeric();
            !name.is_empty() && name.chars().all(known) && !name.starts_with(|c: char| c.is_ascii_digit())
        });
        if !is_setting {
            let plain = !word.contains('$') && !word.starts_with('-');
            return plain.then(|| (from[..from.len() - rest.len()].trim_end(), word));
        }
        rest = rest[word.len()..].trim_start();
    }
}

/// A program of the tree, or one that the command can see on this machine.
fn found(name: &OsStr, copy: &Path, sandbox: CommandSandbox<'_>) -> Option<PathBuf> {
    let in_tree = name.as_encoded_bytes().contains(&b'/');
    if in_tree { find_program(name, copy) } else { find_in(name, sandbox.path) }
}

/// A program of the tree that is missing is work not done; one of the machine is something we cannot observe.
fn not_found(name: &OsStr, sandbox: CommandSandbox<'_>) -> Checked {
    let shown = name.to_string_lossy();
    if shown.contains('/') {
        return Checked::new(Judgement::Fail, format!("the tree has no program `{shown}`"));
    }
    let why = match find_in(name, &search_path_into(sandbox.unseen)) {
        Some(path) => format!(
            "`{shown}` was found only in your checkout ({}), which a run does not see; have `[worktree] setup` install it",
            path.display()
        ),
        None => format!("`{shown}` was not found on PATH"),
    };
    Checked::new(Judgement::Unobservable, why)
}

fn judge(end: End, limit: Duration) -> Checked {
    match end {
        End::Exited(0) => Checked { exit: Some(0), ..Checked::new(Judgement::Pass, "it exited with 0") },
        End::Exited(code) => {
            Checked { exit: Some(code), ..Checked::new(Judgement::Fail, format!("it exited with {code}")) }
        }
        End::Signalled(signal) => Checked::new(Judgement::Fail, format!("it was ended by signal {signal}")),
        End::TimedOut => {
            Checked::new(Judgement::Fail, format!("it ran longer than {} s and was ended", limit.as_secs()))
        }
        End::Silent | End::Cancelled => Checked::new(Judgement::Unobservable, "it was cancelled"),
        End::Unheld => Checked::new(Judgement::Unobservable, "the sandbox did not hold, and nothing was run"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{Control, find_by_marker, search_path};
    use crate::testing::{folder, own_run, write};

    fn path() -> &'static [PathBuf] {
        static PATH: std::sync::OnceLock<Vec<PathBuf>> = std::sync::OnceLock::new();
        PATH.get_or_init(search_path)
    }

    fn open() -> CommandSandbox<'static> {
        CommandSandbox { hold: &Ok, path: path(), covered: &|_, _| None, unseen: &[] }
    }

    fn marker() -> String {
        format!("{}/att_1/1", own_run())
    }

    fn secrets() -> Arc<Secrets> {
        Arc::new(Secrets::new([("KEY".into(), "abcdefgh-12345678".to_owned())]).unwrap())
    }

    #[test]
    fn no_secret_is_kept_of_an_output() {
        for line in ["printf abcdefgh-; sleep 0.1; echo 12345678", "echo abcdefgh-12345678 >&2"] {
            assert_eq!(shell(line).output, b"[redacted KEY]\n", "{line}");
        }
    }

    fn shell(line: &str) -> Checked {
        let copy = folder("check");
        write(&copy, "file", "x");
        check(&copy, &Check::Shell(line.into()), Duration::from_secs(60), &marker(), open(), &secrets(), &mut |_| ())
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
        for line in [
            "cd . && no-such-program",
            "A=1 B=$HOME no-such-program --x 'a b' | cat -; exit 127",
            "no-such-program;exit 127",
        ] {
            let checked = shell(line);
            assert_eq!(checked.result, Judgement::Unobservable, "{line}");
            assert_eq!(checked.why, "`no-such-program` was not found on PATH");
        }
        let copy = folder("argv");
        let argv = |words: &[&str]| {
            let words = words.iter().map(OsString::from).collect();
            check(&copy, &Check::Argv(words), Duration::from_secs(60), &marker(), open(), &secrets(), &mut |_| ())
                .result
        };
        assert_eq!(argv(&["no-such-program"]), Judgement::Unobservable);
        assert_eq!(argv(&["./absent"]), Judgement::Fail);
        assert_eq!(argv(&["true", "$(exit 1)"]), Judgement::Pass);
        assert_eq!(argv(&[]), Judgement::Unobservable);
    }

    /// It was looked for where the sandbox has nothing: that says nothing of the work.
    #[test]
    fn a_program_that_the_sandbox_covers_is_unobservable_and_named() {
        let (root, outside) = (folder("first").canonicalize().unwrap(), folder("outside").canonicalize().unwrap());
        for file in [root.join("tool"), outside.join("tool")] {
            write(file.parent().unwrap(), "tool", "#!/bin/sh\n");
            std::fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
        std::os::unix::fs::symlink(outside.join("tool"), root.join("linked")).unwrap();
        let there = outside.join("tool").display().to_string();
        let covered = |_: &Path, program: &Path| program.canonicalize().ok().filter(|path| path.starts_with(&*outside));
        let sandbox = CommandSandbox { covered: &covered, ..open() };
        let checked = |line: &str| {
            check(&root, &Check::Shell(line.into()), PROBE_LIMIT, &marker(), sandbox, &secrets(), &mut |_| ())
        };
        for line in [there.clone(), format!("'{there}' --x | cat"), "./linked".to_owned()] {
            let checked = checked(&line);
            assert_eq!((checked.result, checked.exit), (Judgement::Unobservable, None), "{line}");
            assert!(checked.why.contains(&there) && checked.why.contains("`reads`"), "{}", checked.why);
        }
        for line in ["./tool", "true", "no-such-program", "test -e x"] {
            assert!(!checked(line).why.contains("reads"), "{line}");
        }
    }

    #[test]
    fn what_the_work_itself_calls_and_does_not_find_fails() {
        let lines = [
            "echo no-such-program > t.sh; sh t.sh",
            "echo no-such-program > t.sh && sh t.sh",
            "sh -c no-such-program",
            "exit 127",
            "true && no-such-program",
            "$(echo no-such-program)",
            "'no-such-program'",
            "if no-such-program; then exit 0; else exit 127; fi",
        ];
        for line in lines {
            let checked = shell(line);
            assert_eq!((checked.result, checked.exit), (Judgement::Fail, Some(NOT_FOUND)), "{line}: {}", checked.why);
        }
    }

    /// Whatever stands in the place of the helper and exits with 0: nothing was run, and nothing passed.
    #[test]
    fn what_holds_a_command_and_does_not_answer_passes_nothing() {
        let copy = folder("unheld");
        let by = |helper: &str| {
            let hold = |program: Program| {
                let control = Some(Control { order: b"{}".to_vec(), answer: "the answer".to_owned() });
                Ok(Program { path: find_program(OsStr::new(helper), &copy).unwrap(), control, ..program })
            };
            let sandbox = CommandSandbox { hold: &hold, ..open() };
            check(
                &copy,
                &Check::Shell("true".into()),
                Duration::from_secs(60),
                &marker(),
                sandbox,
                &secrets(),
                &mut |_| (),
            )
        };
        for helper in ["true", "false", "cat"] {
            let checked = by(helper);
            assert_eq!((checked.result, checked.exit), (Judgement::Unobservable, None), "{helper}: {}", checked.why);
        }
    }

    #[test]
    fn a_command_that_takes_too_long_fails_and_leaves_nothing() {
        let copy = folder("slow");
        let line = "setsid sleep 1000 & sleep 1000";
        let checked = check(
            &copy,
            &Check::Shell(line.into()),
            Duration::from_millis(100),
            &marker(),
            open(),
            &secrets(),
            &mut |_| (),
        );
        assert_eq!((checked.result, checked.exit), (Judgement::Fail, None));
        assert_eq!(find_by_marker(&own_run().to_string()), []);
    }
}
