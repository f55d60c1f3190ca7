//! Real agents: their command line tools from the npm registry, and the conformance kit that runs on them, without a network.
//!
//! The versions are those that the sheet was measured on (`crates/tollgate-engine/src/workers/agent/measured.json`). A newer one is a line
//! here and `TOLLGATE_BLESS=1 cargo xtask agents`, whose diff says what changed.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use crate::command::{answers, cargo, program, tee};

/// A package, and its version.
struct Package {
    name: &'static str,
    version: &'static str,
    /// The adapters that are measured with it; none: what the others need to run.
    measures: &'static [&'static str],
    /// Whether every change is held against it, or only with `--full`.
    always: bool,
}

const fn package(
    name: &'static str,
    version: &'static str,
    measures: &'static [&'static str],
    always: bool,
) -> Package {
    Package { name, version, measures, always }
}

const PACKAGES: [Package; 7] = [
    // Some need a newer one than a machine has.
    package("node", "24.21.0", &[], true),
    package("@anthropic-ai/claude-code", "2.1.325", &["claude"], true),
    package("@openai/codex", "0.166.0", &["codex"], false),
    package("@google/gemini-cli", "0.61.0", &["gemini"], false),
    package("opencode-ai", "1.18.33", &["opencode"], false),
    package("@qwen-code/qwen-code", "0.24.4", &["qwen"], false),
    package("@github/copilot", "1.0.102", &["copilot", "acp"], false),
];

/// What came of the kit.
pub enum Kit {
    Passed(Vec<String>),
    Failed(String),
    Skipped(String),
}

/// The command.
pub fn main(all: bool) -> ExitCode {
    let (code, lines) = match run(all) {
        Kit::Passed(lines) => (ExitCode::SUCCESS, lines),
        Kit::Failed(why) => (ExitCode::FAILURE, vec![why]),
        Kit::Skipped(why) => (ExitCode::from(3), vec![why]),
    };
    println!("{}", lines.join("\n"));
    code
}

/// Installs what is missing and runs the kit on it; of all of them, or of those that every change is held against.
pub fn run(all: bool) -> Kit {
    let wanted: Vec<&Package> = PACKAGES.iter().filter(|package| all || package.always).collect();
    let adapters: Vec<&str> = wanted.iter().flat_map(|package| package.measures).copied().collect();
    let Some(folder) = cache() else {
        return Kit::Skipped("there is no HOME to keep the agents in: NO AGENT WAS RUN".to_owned());
    };
    let start = Instant::now();
    let missing: Vec<&&Package> = wanted.iter().filter(|package| !is_installed(&folder, package)).collect();
    if !missing.is_empty()
        && let Err(why) = install(&folder, &wanted)
    {
        return Kit::Skipped(format!(
            "{} could not be installed from the npm registry, so NO AGENT WAS RUN: {why}",
            missing.iter().map(|package| package.name).collect::<Vec<_>>().join(", ")
        ));
    }
    let mut said = vec![format!(
        "installed: {} of {} packages, {:.0} s",
        missing.len(),
        wanted.len(),
        start.elapsed().as_secs_f64()
    )];
    let built = cargo().args(["test", "--quiet", "--workspace", "--test", "cli", "--no-run", "--locked"]).status();
    if !built.is_ok_and(|status| status.success()) {
        return Kit::Failed("the kit could not be built".to_owned());
    }
    let mut command = alone(&mut said);
    command.env("TOLLGATE_AGENTS", folder.join("node_modules/.bin")).env("TOLLGATE_KIT", adapters.join(","));
    match tee(&mut command, |line| line.contains("test result:") || line.contains("MEASURED:")) {
        Ok((true, lines)) => Kit::Passed([said, lines].concat()),
        Ok((false, lines)) => Kit::Failed([said, vec!["the kit failed".to_owned()], lines].concat().join("\n")),
        Err(error) => Kit::Failed(format!("the kit could not be started: {error}")),
    }
}

/// The tests of the kit, where only loopback can be reached.
fn alone(said: &mut Vec<String>) -> Command {
    let tests = [
        "test",
        "--quiet",
        "--offline",
        "--locked",
        "--workspace",
        "--test",
        "cli",
        "--",
        "real_agents::",
        "--nocapture",
        // They wait more than they work.
        "--test-threads=4",
    ];
    let inside = "ip link set lo up && exec \"$@\"";
    let rights = [&["-n"][..], &["-rn"][..]];
    let Some(rights) = rights
        .into_iter()
        .find(|rights| answers(program("unshare").args(*rights).args(["sh", "-c", "ip link set lo up"])))
    else {
        said.push(
            "NOT ALONE: `unshare -n` or `ip` is not allowed or not there, so the agents could have reached the network"
                .to_owned(),
        );
        let mut command = cargo();
        command.args(tests);
        return command;
    };
    said.push("alone: in a network namespace with loopback only".to_owned());
    let cargo = cargo();
    let mut command = program("unshare");
    command.args(rights).args(["sh", "-c", inside, "sh"]).arg(cargo.get_program()).args(tests);
    for (name, value) in cargo.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Where the agents are kept: outside of the repository, so that every clone finds them.
fn cache() -> Option<PathBuf> {
    let own = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    Some(own.or_else(home)?.join("tollgate/agents"))
}

fn is_installed(folder: &Path, package: &Package) -> bool {
    let path = folder.join("node_modules").join(package.name).join("package.json");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    // Whether npm came to its end is said by its own list.
    folder.join("node_modules/.package-lock.json").is_file()
        && text.contains(&format!("\"version\": \"{}\"", package.version))
}

fn install(folder: &Path, wanted: &[&Package]) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let words: Vec<String> = wanted.iter().map(|package| format!("{}@{}", package.name, package.version)).collect();
    println!("npm install {} in {}", words.join(" "), folder.display());
    // Without a network npm waits for minutes before it says so.
    if !answers(program("timeout").args(["30", "npm", "view", "node", "version"])) {
        return Err("`npm view` has no answer within 30 s".to_owned());
    }
    let mut npm = Command::new("npm");
    npm.current_dir(folder).args([
        "install",
        "--no-audit",
        "--no-fund",
        "--no-progress",
        "--loglevel=error",
        "--fetch-retries=1",
        "--save-exact",
    ]);
    npm.args(words).stdin(Stdio::null());
    match npm.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`npm install`: {status}")),
        Err(error) => Err(format!("`npm` could not be started: {error}")),
    }
}
