//! The `tollgate` binary: parses, runs one command, and turns what came of it into an exit code.

// What is not read yet is for the commands on runs.
#[allow(dead_code)]
mod cli;
#[allow(dead_code)]
mod config;
mod files;
mod library;
mod repository;
mod trust;
#[allow(dead_code)]
mod view;

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(cli::main(std::env::args_os()))
}
