//! `tollgate completions`.

use tollgate_api::Completions;
use tollgate_app::failure::Failure;

use crate::cli::{Exit, Invocation};

/// Print the completions of a shell
///
/// For bash: `tollgate completions bash > ~/.local/share/bash-completion/completions/tollgate`
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// The shell
    shell: clap_complete::Shell,
}

pub fn run(args: &CompletionsArgs, call: &Invocation, mut command: clap::Command) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "tollgate", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    if call.json() {
        call.output.json(&Completions { shell: args.shell.to_string(), script });
    } else {
        call.output.text(&script);
    }
    Ok(Exit::Done)
}
