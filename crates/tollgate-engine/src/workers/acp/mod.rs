//! The client of the Agent Client Protocol: starts an agent, speaks JSON-RPC with it over two sockets, and prints what it says, a line each.
//!
//! An agent of this protocol must be answered while it works, which no other worker needs. So a process of its own does that
//! (`tollgate worker-acp -- PROGRAM`), and to the engine it is one more program that prints lines: the same group, limits, log and kill.
//! [`talk`] knows the protocol and is pure, [`permit`] answers for the person.

mod conversation;
mod permission;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub use conversation::AcpRequest;
pub use permission::Permission;

use super::REPORT_BYTES_MAX;
use super::agent::leniently;
use crate::process::{input_socket, output_socket};
use conversation::{Conversation, Step};

/// The longest message that is read: a report is at most one.
const MESSAGE_BYTES_MAX: usize = 2 * REPORT_BYTES_MAX;
/// How long an agent may take to end when it is no longer spoken to.
const GRACE: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(20);

/// Puts a question to an agent and prints what it says to `out`; whether it answered.
pub fn converse(program: &Path, args: &[OsString], request: AcpRequest, out: &mut dyn Write) -> bool {
    match begin(program, args, &request.cwd) {
        Ok((mut child, to, from)) => {
            let answered = speak(to, from, request, out);
            end(&mut child);
            answered
        }
        Err(error) => {
            fail(out, &format!("`{}` could not be started: {error}", program.display()));
            false
        }
    }
}

/// Starts it, with what it is spoken to and heard by. Neither can be opened by what it starts, which would put questions to it, or
/// answer them, in our name.
fn begin(
    program: &Path,
    args: &[OsString],
    cwd: &Path,
) -> std::io::Result<(Child, impl Write + use<>, impl Read + use<>)> {
    let ((to, stdin), (from, stdout)) = (input_socket()?, output_socket()?);
    let child = Command::new(program).args(args).current_dir(cwd).stdin(stdin).stdout(stdout).spawn()?;
    Ok((child, to, from))
}

fn speak(mut to: impl Write, from: impl Read, request: AcpRequest, out: &mut dyn Write) -> bool {
    let mut from = BufReader::new(from);
    let mut conversation = Conversation::new(request);
    let mut steps = conversation.begin();
    loop {
        for step in steps {
            match step {
                // An agent that is gone is seen when it is read from.
                Step::Send(message) => drop(write(&mut to, &message)),
                Step::Print(line) => drop(write(out, &line)),
                Step::End(answered) => return answered,
            }
        }
        steps = match message(&mut from) {
            Ok(Some(line)) => match leniently(&line, |line| serde_json::from_str(line).ok()) {
                Some(message) => conversation.take(message),
                // Both would wait for ever.
                None if line.starts_with(b"{\"jsonrpc\"") => {
                    fail(out, &format!("a message of the agent cannot be read {}", conversation.place()));
                    return false;
                }
                // Some greet there, too.
                None => Vec::new(),
            },
            Ok(None) => {
                fail(out, &format!("the agent went away {}", conversation.place()));
                return false;
            }
            Err(error) => {
                fail(out, &format!("the agent cannot be read {}: {error}", conversation.place()));
                return false;
            }
        };
    }
}

fn write(to: &mut dyn Write, message: &Value) -> std::io::Result<()> {
    to.write_all(format!("{message}\n").as_bytes())?;
    to.flush()
}

fn fail(out: &mut dyn Write, what: &str) {
    write(out, &json!({"type": "failed", "what": what})).ok();
}

/// The next line; none at the end.
fn message(from: &mut impl BufRead) -> std::io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let limit = u64::try_from(MESSAGE_BYTES_MAX).unwrap_or(u64::MAX);
    from.take(limit).read_until(b'\n', &mut line)?;
    if line.len() == MESSAGE_BYTES_MAX && !line.ends_with(b"\n") {
        return Err(std::io::Error::other(format!("a message is longer than {MESSAGE_BYTES_MAX} bytes")));
    }
    Ok(Some(line).filter(|line| !line.is_empty()))
}

/// Lets the agent end: its input is closed by now. What it leaves behind is ended with the attempt.
fn end(child: &mut Child) {
    let until = Instant::now() + GRACE;
    while let (Ok(None), true) = (child.try_wait(), Instant::now() < until) {
        std::thread::sleep(LOOK);
    }
    child.kill().ok();
    child.wait().ok();
}
