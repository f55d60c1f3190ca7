//! Starts cargo and other programs at the root of the repository.

use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// A program of the repository that a command runs. All are built as the whole workspace is, so that what they share is built once.
pub struct Ours {
    name: &'static str,
    profile: &'static str,
    /// The real program, where this one starts it: it is looked for in the same folder.
    beside: Option<&'static str>,
}

const TOLLGATE: Ours = Ours { name: "tollgate", profile: "dev", beside: None };
/// Measures with optimisations on, as users run it.
pub const BENCH: Ours = Ours { name: "bench", profile: "release", beside: Some("tollgate") };
/// Simulates with optimisations on, because the number of seeds is what counts.
pub const SIM: Ours = Ours { name: "sim", profile: "release", beside: None };
/// Simulates as the tests do, with every assertion on: for two thousand seeds that takes less time than another build.
pub const SIM_CHECKED: Ours = Ours { profile: "dev", ..SIM };
/// Kills the real program, built as the campaign needs it, with fail points; and compares what came of it.
pub const CRASH: Ours = Ours { name: "crash", profile: "dev", beside: Some("tollgate") };
/// Damages with optimisations on, because the number of damages is what counts.
pub const DAMAGE: Ours = Ours { name: "damage", profile: "release", beside: Some("tollgate") };

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

/// The command, with the folder for temporary files in memory where root can mount one: tests make and remove files by the hundred
/// thousand, which costs some disks a fifth of all their time.
pub fn in_memory(command: Command) -> Command {
    const MOUNT: &str = r#"mount -t tmpfs -o mode=1777 tmpfs "$0""#;
    let temporary = std::env::temp_dir();
    // What lies there already would be out of sight.
    let own = [Some(root()), std::env::current_exe().ok(), std::env::home_dir()];
    let hides = own.into_iter().flatten().any(|path| path.starts_with(&temporary));
    let unshared = |script: &str| {
        let mut unshared = program("unshare");
        unshared.args(["--mount", "sh", "-c", script]).arg(&temporary);
        unshared
    };
    if hides || !answers(&mut unshared(MOUNT)) {
        return command;
    }
    let mut inside = unshared(&format!(r#"{MOUNT} && exec "$@""#));
    inside.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => inside.env(name, value),
            None => inside.env_remove(name),
        };
    }
    inside
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

impl Ours {
    /// Builds it, runs it with these arguments, and passes its exit code on.
    pub fn run(&self, args: &[&str]) -> ExitCode {
        let mut build = cargo();
        build.args(["build", "--quiet", "--workspace", "--profile", self.profile, "--bin", self.name]);
        build.args(self.beside.iter().flat_map(|name| ["--bin", name]));
        match build.status() {
            Ok(status) if status.success() => {}
            Ok(_) => return ExitCode::FAILURE,
            Err(error) => return not_started("cargo", &error),
        }
        match self.path().and_then(|path| program(&path.to_string_lossy()).args(args).status()) {
            Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(70)),
            Err(error) => not_started(self.name, &error),
        }
    }

    /// Where cargo puts it: where this command is, in the folder of its profile.
    fn path(&self) -> std::io::Result<PathBuf> {
        let own = std::env::current_exe()?;
        let folder = if self.profile == "dev" { "debug" } else { self.profile };
        let all = own.parent().and_then(Path::parent).unwrap_or(&own);
        Ok(all.join(folder).join(self.name))
    }
}

/// Writes the JSON Schemas of what `--json` prints, or compares them.
pub fn schemas(args: &[&str]) -> ExitCode {
    TOLLGATE.run(&[&["schemas", "--dir", "docs/schemas"], args].concat())
}

fn not_started(name: &str, error: &std::io::Error) -> ExitCode {
    eprintln!("error: {name} could not be started: {error}");
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
