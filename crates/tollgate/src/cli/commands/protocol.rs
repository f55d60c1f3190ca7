//! `tollgate protocol`.

use clap::Subcommand;
use tollgate_api::{ProtocolOrigin, ProtocolSummary};
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Severity};
use tollgate_core::protocol::{self, Protocol};

use crate::cli::failure::Failure;
use crate::cli::{Exit, Session};
use crate::library::{self, Definition};
use crate::view::table::table;
use crate::view::text::{Line, Style};

/// List, show and check protocols
#[derive(Debug, clap::Args)]
pub struct ProtocolArgs {
    #[command(subcommand)]
    command: ProtocolCommand,
}

#[derive(Debug, Subcommand)]
enum ProtocolCommand {
    List(ListArgs),
}

/// List the protocols that can be run here
#[derive(Debug, clap::Args)]
struct ListArgs {}

pub fn run(args: &ProtocolArgs, session: &Session) -> Result<Exit, Failure> {
    match &args.command {
        ProtocolCommand::List(_) => list(session),
    }
}

fn list(session: &Session) -> Result<Exit, Failure> {
    let all: Vec<_> = library::list(&session.environment)?.iter().map(summary).collect();
    if session.json() {
        all.iter().for_each(|summary| session.output.json(summary));
        return Ok(Exit::Done);
    }
    let row = |summary: ProtocolSummary| {
        let origin = summary.file.unwrap_or_else(|| "built in".into());
        let state = if summary.valid {
            Line::new().add(Style::Good, "✓ valid")
        } else {
            Line::new().add(Style::Bad, "✗ refused")
        };
        let needs = summary.required_inputs.join(" ");
        vec![
            summary.id.into(),
            format!("{}", summary.version).into(),
            state,
            needs.into(),
            origin.into(),
            summary.roles.join(" ").into(),
        ]
    };
    let header = ["protocol", "version", "checks", "needs", "from", "roles"];
    let lines = table(&header, all.into_iter().map(row).collect(), session.output.width());
    lines.into_iter().for_each(|line| session.output.data(line));
    Ok(Exit::Done)
}

fn summary(definition: &Definition) -> ProtocolSummary {
    let (protocol, diagnostics) = check(definition);
    let inputs = protocol.iter().flat_map(|protocol| &protocol.inputs);
    ProtocolSummary {
        id: definition.id.clone(),
        version: protocol.as_ref().map_or(0, |protocol| protocol.version),
        origin: definition.origin,
        file: (definition.origin != ProtocolOrigin::BuiltIn).then(|| definition.source.file.clone()),
        digest: definition.digest().to_string(),
        required_inputs: inputs.filter(|(_, input)| input.required).map(|(name, _)| name.to_string()).collect(),
        roles: protocol.iter().flat_map(|protocol| protocol.roles.keys()).map(|role| role.to_string()).collect(),
        valid: !diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error),
    }
}

fn check(definition: &Definition) -> (Option<Protocol>, Vec<Diagnostic>) {
    protocol::read(&definition.source.text)
}

/// Reads a protocol, or says everything that is wrong with it.
pub fn need(definition: &Definition) -> Result<Protocol, Failure> {
    let (protocol, diagnostics) = protocol::read(&definition.source.text);
    protocol.ok_or_else(|| {
        let message = format!("{} is not a protocol", definition.source.file);
        Failure::refused(Code::NO_PROTOCOL, message).at(definition.source.clone(), diagnostics)
    })
}
