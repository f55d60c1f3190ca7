//! What this crate's tests share.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use tollgate_core::id::RunId;

static NEXT: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static RUN: RunId = {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        RunId::from_bits(u64::from(std::process::id()) << 16 | u64::from(number))
    };
}

/// Whether there is time for long tests: `cargo xtask test --full`.
#[allow(clippy::disallowed_methods, reason = "how long a test may take is asked of whoever starts it")]
pub(crate) fn full() -> bool {
    std::env::var_os("TOLLGATE_TEST_FULL").is_some()
}

/// A run of this test alone. What carries a run's marker is ended with it, also in another test that runs beside this one.
pub(crate) fn own_run() -> RunId {
    RUN.with(|run| *run)
}

/// A folder that goes with its test.
pub(crate) struct Folder(PathBuf);

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// A fresh folder for one test, below the build's own folder.
pub(crate) fn folder(name: &str) -> Folder {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let target = std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().join("tmp");
    let path = target.join(format!("engine-{}-{number}-{name}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    Folder(path)
}

/// Runs git as a person would, and answers what it printed.
pub(crate) fn git(cwd: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]);
    let output = command.args(args).current_dir(cwd).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Writes a file and the folders above it.
pub(crate) fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A repository with these files in one commit.
pub(crate) fn repository(name: &str, files: &[(&str, &str)]) -> Folder {
    let root = folder(name);
    git(&root, &["init", "-q"]);
    for (path, text) in files {
        write(&root, path, text);
    }
    git(&root, &["add", "-A"]);
    git(&root, &["commit", "-q", "--allow-empty", "-m", "first"]);
    root
}
