//! The `tollgate` binary: parses, runs one command, and turns what came of it into an exit code.

mod cli;
mod config;
mod files;
mod library;
mod repository;
mod trust;
mod view;

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(cli::main(std::env::args_os()))
}
