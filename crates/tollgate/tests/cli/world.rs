//! A folder with a home, a state directory and a repository, and the transcript of what was typed in it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

pub use tollgate_testkit::sample::{full, some_of};

/// This program as a word of a line for a shell, whatever folder it was built in.
pub const TOLLGATE: &str = concat!("'", env!("CARGO_BIN_EXE_tollgate"), "'");

static WORLDS: AtomicU32 = AtomicU32::new(0);

/// Where a test happens.
pub struct World {
    root: PathBuf,
    variables: Vec<(String, String)>,
    /// Everything that was typed and printed.
    pub transcript: String,
}

impl World {
    /// A new folder, without a repository.
    pub fn new() -> Self {
        // Outside of every repository: the target folder lies in one.
        let number = WORLDS.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("tollgate-world-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        for folder in ["home", "state", "work"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::fs::create_dir_all(root.join("bin")).unwrap();
        let world = Self { root: root.canonicalize().unwrap(), variables: Vec::new(), transcript: String::new() };
        world.agent("agent", "#!/bin/sh\n");
        world
    }

    /// A new folder with a repository of one commit.
    pub fn with_repository() -> Self {
        let world = Self::new();
        world.write("README.md", "# A project\n");
        world.write("src/main.rs", "fn main() {}\n");
        world.write("tests/smoke.rs", "// nothing yet\n");
        // Without the samples of the templates, which are a dozen files to make and to remove.
        world.git(&["init", "-q", "-b", "main", "--template="]);
        for folder in ["hooks", "info"] {
            std::fs::create_dir(world.path("work/.git").join(folder)).unwrap();
        }
        world.commit("Start");
        world
    }

    /// Sets a variable for what follows.
    pub fn set(&mut self, name: &str, value: &str) -> &mut Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A path in the folder; the working directory is `work`.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Writes a file below the working directory.
    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.root.join("work").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// A program in the search path.
    pub fn agent(&self, name: &str, text: &str) {
        let path = self.path("bin").join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// Commits everything.
    pub fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "-m", message]);
    }

    /// What git says to a command.
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = self.git_output(arguments);
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The same, where it may refuse.
    pub fn git_output(&self, arguments: &[&str]) -> Output {
        let mut command = self.pinned("git");
        // Pinned times make the ids of commits the same on every machine.
        command.env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z").env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z");
        command.args(arguments).output().unwrap()
    }

    fn pinned(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.root.join("work"))
            .env_clear()
            .env("PATH", format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap_or_default()))
            .env("HOME", self.root.join("home"))
            .env("TOLLGATE_STATE", self.root.join("state"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("COLUMNS", "120")
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Types a command line (words are split at spaces) and keeps what came of it.
    pub fn type_in(&mut self, line: &str) -> &mut Self {
        self.type_with(line, "")
    }

    /// Types a command line and gives it an input.
    pub fn type_with(&mut self, line: &str, input: &str) -> &mut Self {
        let output = self.run(line, input);
        let text = |bytes: &[u8]| self.filtered(&String::from_utf8_lossy(bytes));
        let code = output.status.code().map_or("killed".to_owned(), |code| code.to_string());
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        let indent =
            |text: &str| text.lines().map(|line| format!("  {line}").trim_end().to_owned() + "\n").collect::<String>();
        let line = self.filtered(line);
        let _ = writeln!(self.transcript, "$ tollgate {line}\nexit {code}");
        for (name, text) in [("stdout", stdout), ("stderr", stderr)].into_iter().filter(|(_, text)| !text.is_empty()) {
            let _ = write!(self.transcript, "{name}:\n{}", indent(&text));
        }
        self.transcript.push('\n');
        self
    }

    /// The program with these words, not started yet; its streams are piped.
    pub fn program(&self, words: &[&str]) -> Command {
        self.program_at(std::path::Path::new(env!("CARGO_BIN_EXE_tollgate")), words)
    }

    /// The same of a copy of the program.
    pub fn program_at(&self, place: &std::path::Path, words: &[&str]) -> Command {
        let mut command = self.pinned(place);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command line.
    pub fn run(&self, line: &str, input: &str) -> Output {
        let mut command = self.program(&line.split_ascii_whitespace().collect::<Vec<_>>());
        let mut child = command.spawn().unwrap();
        // A command that reads no input may be gone already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// Starts a command line and leaves it running.
    pub fn spawn(&self, line: &str) -> std::process::Child {
        let mut command = self.pinned(env!("CARGO_BIN_EXE_tollgate"));
        command.args(line.split_ascii_whitespace()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Runs a shell in which mounts can be made that nobody else sees; `tollgate` is in its path. None, and said so, where
    /// the machine does not allow it.
    pub fn shell_with_mounts(&self, script: &str) -> Option<Output> {
        let allowed =
            Command::new("unshare").args(["-rm", "true"]).output().is_ok_and(|output| output.status.success());
        if !allowed {
            assert!(
                std::env::var_os("CI").is_none(),
                "`unshare -rm` is not allowed here, and nothing is skipped under CI"
            );
            println!("SKIPPED: `unshare -rm` is not allowed here");
            return None;
        }
        let bin = std::path::Path::new(env!("CARGO_BIN_EXE_tollgate")).parent().unwrap().display().to_string();
        let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
        let mut command = self.pinned("unshare");
        command.env("PATH", path).args(["-rm", "sh", "-euc", script]);
        Some(command.stdin(Stdio::null()).output().unwrap())
    }

    /// The JSON objects that a command prints, a line each, and its exit code.
    pub fn json(&self, line: &str) -> (Vec<serde_json::Value>, i32) {
        let output = self.run(line, "");
        let text = String::from_utf8(output.stdout).unwrap();
        let values =
            text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")));
        (values.collect(), output.status.code().unwrap())
    }

    /// What differs between two runs of a test is replaced: folders, versions, digests, ids of commits, times.
    pub fn filtered(&self, text: &str) -> String {
        // What holds workers is the machine's to say, in as many lines as the screen is wide.
        let mut said = false;
        let machines_own = |line: &&str| {
            let goes_on = said && line.starts_with("          ") && !line.trim_start().starts_with("next:");
            said = goes_on || line.split_whitespace().nth(2) == Some("sandbox");
            !said && !line.trim_end().ends_with("explain TG0540")
        };
        let text: String = text.split_inclusive('\n').filter(machines_own).collect();
        let text = text.replace(&self.root.display().to_string(), "[WORLD]");
        let text = text.replace(concat!("tollgate ", env!("CARGO_PKG_VERSION")), "tollgate [VERSION]");
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let word = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).len();
            let (token, tail) = rest.split_at(word.max(first.len_utf8()));
            rest = tail;
            let digits = token.bytes().all(|byte| byte.is_ascii_digit());
            if digits && out.ends_with("_ms\":") {
                out.push_str("[MS]");
            } else if digits && out.ends_with("git ") {
                out.push_str("[GIT]");
                rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            } else if token.len() == 8 && out.ends_with("run_") {
                out.truncate(out.len() - "run_".len());
                out.push_str("[RUN]");
            } else if token.len() >= 12 && token.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
                out.push_str("[HEX]");
            } else {
                out.push_str(token);
            }
        }
        out
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}
