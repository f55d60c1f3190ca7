//! Programs that are measured from outside: the release build of `tollgate`, and what the kernel says of this process.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::Outcome;

/// The release build of `tollgate`, which lies beside this program.
pub fn tollgate() -> Result<PathBuf, String> {
    let path = std::env::current_exe().map_err(|error| error.to_string())?.with_file_name("tollgate");
    let missing = "there is no `tollgate` beside this program; `cargo xtask bench` builds it";
    if path.is_file() { Ok(path) } else { Err(missing.to_owned()) }
}

/// Runs a command and says how many milliseconds it took from start to end; an error when it fails.
pub fn time_ms(command: &mut Command) -> Outcome<f64> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let output = command.output()?;
    let took = start.elapsed().as_secs_f64() * 1e3;
    if output.status.success() {
        return Ok(took);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?} ended with {}: {}", output.status, said.lines().next().unwrap_or_default()).into())
}

/// The most memory this process ever held.
pub fn peak_kib() -> Outcome<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("/proc has no VmHWM")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}

/// How many bytes this process has asked the system for.
pub fn bytes_read() -> Outcome<u64> {
    let io = std::fs::read_to_string("/proc/self/io")?;
    let line = io.lines().find_map(|line| line.strip_prefix("rchar: ")).ok_or("/proc has no rchar")?;
    Ok(line.trim().parse()?)
}
