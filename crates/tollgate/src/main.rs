//! The `tollgate` binary: parses, runs one command, and turns what came of it into an exit code.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make files of their own"))]

#[allow(dead_code, reason = "the commands on runs use the rest")]
mod cli;
#[allow(dead_code, reason = "the commands on runs use the rest")]
mod config;
mod contracts;
mod files;
mod library;
mod repository;
mod trust;
#[allow(dead_code, reason = "the commands on runs use the rest")]
mod view;

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(cli::main(std::env::args_os()))
}
