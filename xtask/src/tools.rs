//! The tools that building and testing need, and how a machine gets them.

use std::path::Path;

use crate::command::{answers, cargo, program};

/// The oldest git with which work trees are made and measured.
const GIT_MIN: (u32, u32) = (2, 39);

struct Tool {
    what: &'static str,
    here: fn() -> bool,
    get: Get,
}

enum Get {
    /// Debian packages that hold it.
    Packages(&'static [&'static str]),
    /// The command that installs it, where no package does.
    Command(&'static str),
}

const NEEDED: &[Tool] = &[
    Tool { what: "git 2.39 or newer", here: git_is_new_enough, get: Get::Packages(&["git"]) },
    Tool { what: "a C compiler (for SQLite)", here: c_compiler, get: Get::Packages(&["gcc", "libc6-dev"]) },
    Tool {
        what: "rustfmt",
        here: || answers(cargo().args(["fmt", "--version"])),
        get: Get::Command("rustup component add rustfmt"),
    },
    Tool {
        what: "clippy",
        here: || answers(cargo().args(["clippy", "--version"])),
        get: Get::Command("rustup component add clippy"),
    },
];

/// Installs what is missing where that is possible, and otherwise says exactly what to install.
pub fn ensure() -> Result<(), String> {
    let missing: Vec<&Tool> = NEEDED.iter().filter(|tool| !(tool.here)()).collect();
    let packages: Vec<&str> = missing.iter().flat_map(|tool| packages(tool)).copied().collect();
    if !packages.is_empty() && is_debian() && is_root() {
        println!("installing {}", packages.join(" "));
        apt_install(&packages);
    }
    let still: Vec<String> = missing
        .iter()
        .filter(|tool| !(tool.here)())
        .map(|tool| format!("{} is missing: {}", tool.what, advice(tool)))
        .collect();
    if still.is_empty() { Ok(()) } else { Err(still.join("\n")) }
}

/// Whether cargo-nextest is there.
pub fn nextest() -> bool {
    answers(cargo().args(["nextest", "--version"]))
}

/// Whether cargo-deny is there.
pub fn deny() -> bool {
    answers(cargo().args(["deny", "--version"]))
}

fn packages(tool: &Tool) -> &'static [&'static str] {
    match tool.get {
        Get::Packages(packages) => packages,
        Get::Command(_) => &[],
    }
}

fn advice(tool: &Tool) -> String {
    match tool.get {
        Get::Packages(packages) if is_debian() => format!("run `apt-get install {}` as root", packages.join(" ")),
        Get::Packages(packages) => format!("install it (on Debian the packages are {})", packages.join(", ")),
        Get::Command(command) => format!("run `{command}`"),
    }
}

/// Installs packages. Whether it worked is seen by looking for the tools again.
fn apt_install(packages: &[&str]) {
    let run = |args: &[&str]| {
        let mut apt = program("apt-get");
        apt.env("DEBIAN_FRONTEND", "noninteractive").args(args);
        apt.status().is_ok_and(|status| status.success())
    };
    let install = [&["install", "--yes", "--no-install-recommends"], packages].concat();
    // A fresh machine has no package lists; one that has them need not fetch them again.
    if !run(&install) && run(&["update"]) {
        run(&install);
    }
}

fn is_debian() -> bool {
    Path::new("/etc/debian_version").exists() && answers(program("apt-get").arg("--version"))
}

fn is_root() -> bool {
    program("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn c_compiler() -> bool {
    let name = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    // `CC` may carry a wrapper and flags: `ccache gcc`.
    let mut words = name.split_whitespace();
    words.next().is_some_and(|first| answers(program(first).args(words).arg("--version")))
}

fn git_is_new_enough() -> bool {
    let Ok(output) = program("git").arg("--version").output() else { return false };
    git_version(&String::from_utf8_lossy(&output.stdout)).is_some_and(|version| version >= GIT_MIN)
}

/// Reads `git version 2.47.3 (Apple Git-1)`.
fn git_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split_whitespace().nth(2)?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_versions_are_read() {
        assert_eq!(git_version("git version 2.47.3\n"), Some((2, 47)));
        assert_eq!(git_version("git version 2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(git_version("git version 2.51.GIT"), Some((2, 51)));
        assert_eq!(git_version("no git here"), None);
        // Debian 12 packages 2.39.
        assert!((2, 38) < GIT_MIN && (2, 39) >= GIT_MIN && (3, 0) > GIT_MIN);
    }
}
