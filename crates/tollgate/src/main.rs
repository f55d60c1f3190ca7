//! The `tollgate` binary: parses, runs one command, and turns what came of it into an exit code.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make files of their own"))]

mod cli;
mod view;

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(cli::main(std::env::args_os()))
}
