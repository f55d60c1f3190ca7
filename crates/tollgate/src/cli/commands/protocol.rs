//! `tollgate protocol`.

use std::path::PathBuf;

use clap::Subcommand;
use tollgate_api::{
    ProtocolCheck, ProtocolDetail, ProtocolGate, ProtocolOrigin, ProtocolOutcome, ProtocolRule, ProtocolStage,
    ProtocolSummary,
};
use tollgate_app::failure::Source;
use tollgate_app::failure::{Failure, Kind, wire_diagnostic};
use tollgate_app::files;
use tollgate_app::format::count;
use tollgate_app::protocols::{self, Definition};
use tollgate_app::trust::Standing;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Severity};
use tollgate_core::protocol::model::{self, Owner};
use tollgate_core::protocol::render::{self, Leads, OutcomeRow, StageRow};
use tollgate_core::protocol::{self, Dialects, Protocol};
use tollgate_engine::service;

use crate::cli::{Exit, Invocation};
use crate::view::diagnostic;
use crate::view::table::table;
use crate::view::text::{Line, Style};
use tollgate_core::id::GateId;

const DIALECTS_BYTES_MAX: u64 = 1024 * 1024;

/// List, show and check protocols
#[derive(Debug, clap::Args)]
pub struct ProtocolArgs {
    #[command(subcommand)]
    command: ProtocolCommand,
}

#[derive(Debug, Subcommand)]
enum ProtocolCommand {
    List(ListArgs),
    Show(ShowArgs),
    Check(CheckArgs),
}

/// List the protocols that can be run here
#[derive(Debug, clap::Args)]
struct ListArgs {}

/// Show a protocol
///
/// The table says for every stage what happens on every outcome.
#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// The protocol's name, or the path of a file
    #[arg(value_name = "ID|FILE")]
    name: String,
    /// How to show it
    #[arg(long, value_enum, default_value_t = ShowFormat::Table)]
    format: ShowFormat,
    /// Declarations of contracts that do not exist yet
    #[arg(long, value_name = "FILE")]
    dialects: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ShowFormat {
    /// Its text
    Yaml,
    /// A row per stage and outcome
    Table,
    /// A Mermaid flow chart
    Mermaid,
    /// A Graphviz graph
    Dot,
    /// The table as data, and its text
    Json,
}

/// Prove that a protocol is total, connected, bounded, gated, declared and isolated
///
/// Prints file, line and column of each breach. Exits with 0 when there is none, 1 when there is one, 3 when the file cannot be read.
#[derive(Debug, clap::Args)]
struct CheckArgs {
    /// The protocol's name, or the path of a file
    #[arg(value_name = "FILE|ID")]
    name: String,
    /// Declarations of contracts that do not exist yet
    #[arg(long, value_name = "FILE")]
    dialects: Option<PathBuf>,
}

pub fn run(args: &ProtocolArgs, call: &Invocation) -> Result<Exit, Failure> {
    match &args.command {
        ProtocolCommand::List(_) => list(call),
        ProtocolCommand::Show(args) => show(args, call),
        ProtocolCommand::Check(args) => check(args, call),
    }
}

fn list(call: &Invocation) -> Result<Exit, Failure> {
    let definitions = protocols::list(&call.environment)?;
    let dialects = named_dialects(&definitions, call)?;
    let all: Vec<_> = definitions.iter().map(|definition| summary(definition, &dialects)).collect();
    if call.json() {
        all.iter().for_each(|summary| call.output.json(summary));
        return Ok(Exit::Done);
    }
    let row = |summary: ProtocolSummary| {
        let origin = summary.file.unwrap_or_else(|| "built in".into());
        let (style, word) = if summary.valid { (Style::Good, "✓ valid") } else { (Style::Bad, "✗ refused") };
        let (needs, roles) = (summary.required_inputs.join(" "), summary.roles.join(" "));
        let version = summary.version.to_string();
        vec![summary.id.into(), version.into(), Line::new().add(style, word), needs.into(), origin.into(), roles.into()]
    };
    for path in protocols::shadowed(&Standing::look(&call.environment)?) {
        call.output.talk(
            Line::new().add(Style::Warn, "warning").text(format!(": {}", protocols::taken(&path).wire().message)),
        );
        call.output.talk("  rename it, commit, and `tollgate trust`");
    }
    let header = ["protocol", "version", "checks", "needs", "from", "roles"];
    let lines = table(&header, all.into_iter().map(row).collect(), call.output.width());
    lines.into_iter().for_each(|line| call.output.data(line));
    Ok(Exit::Done)
}

fn show(args: &ShowArgs, call: &Invocation) -> Result<Exit, Failure> {
    let definition = protocols::find(&args.name, &call.environment)?;
    let format = if call.json() { ShowFormat::Json } else { args.format };
    // The text is shown even when it is no protocol: that is when one looks at it.
    if format == ShowFormat::Yaml {
        call.output.text(&definition.source.text);
        return Ok(Exit::Done);
    }
    let protocol = need(&definition)?;
    let dialects = dialects(&definition, args.dialects.as_deref(), call)?;
    match format {
        ShowFormat::Yaml => {}
        ShowFormat::Table => {
            call.output.text(&render::table(&protocol, &dialects, call.output.width()));
        }
        ShowFormat::Mermaid => call.output.text(&render::mermaid(&protocol)),
        ShowFormat::Dot => call.output.text(&render::dot(&protocol)),
        ShowFormat::Json => call.output.json(&detail(&definition, &protocol, &dialects)),
    }
    Ok(Exit::Done)
}

fn check(args: &CheckArgs, call: &Invocation) -> Result<Exit, Failure> {
    let definition = protocols::find(&args.name, &call.environment)?;
    let dialects = dialects(&definition, args.dialects.as_deref(), call)?;
    let (protocol, diagnostics) = prove(&definition, &dialects);
    let valid = is_valid(&diagnostics);
    let source = &definition.source;
    if call.json() {
        call.output.json(&ProtocolCheck {
            file: source.file.clone(),
            protocol: protocol.map(|protocol| protocol.name.to_string()),
            digest: definition.digest().to_string(),
            valid,
            diagnostics: diagnostics.iter().map(|diagnostic| wire_diagnostic(diagnostic, Some(&source.file))).collect(),
        });
    } else {
        let width = call.output.width();
        diagnostic::lines(&diagnostics, source, width).into_iter().for_each(|line| call.output.data(line));
        call.output.data(verdict(source, &diagnostics));
    }
    Ok(if valid { Exit::Done } else { Exit::With(Kind::Refused) })
}

fn verdict(source: &Source, diagnostics: &[Diagnostic]) -> Line {
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count();
    let warnings = diagnostics.len() - errors;
    let noted = if warnings > 0 { format!(", {}", count(warnings, "warning")) } else { String::new() };
    if errors > 0 {
        let head = Line::new().add(Style::Bad, "✗").text(format!(" {}: ", source.file));
        return head.add(Style::Bad, "refused").text(format!(", {}{noted}", count(errors, "error")));
    }
    let head = Line::new().add(Style::Good, "✓").text(format!(" {}: ", source.file));
    head.text(format!("total, connected, bounded, gated, declared and isolated{noted}"))
}

fn summary(definition: &Definition, dialects: &Dialects) -> ProtocolSummary {
    let (protocol, diagnostics) = prove(definition, dialects);
    let inputs = protocol.iter().flat_map(|protocol| &protocol.inputs);
    ProtocolSummary {
        id: definition.id.clone(),
        version: protocol.as_ref().map_or(0, |protocol| protocol.version),
        origin: definition.origin,
        file: (definition.origin != ProtocolOrigin::BuiltIn).then(|| definition.source.file.clone()),
        digest: definition.digest().to_string(),
        required_inputs: inputs.filter(|(_, input)| input.required).map(|(name, _)| name.to_string()).collect(),
        roles: protocol.iter().flat_map(|protocol| protocol.roles.keys()).map(ToString::to_string).collect(),
        valid: is_valid(&diagnostics),
    }
}

fn detail(definition: &Definition, protocol: &Protocol, dialects: &Dialects) -> ProtocolDetail {
    let gate = |(name, gate): (&GateId, &model::Gate)| ProtocolGate {
        gate: name.to_string(),
        holds: render::condition(&gate.holds),
        bound_to: strings(&gate.bound_to),
        mandatory_unit: gate.mandatory_unit.as_ref().map(render::condition),
        mandatory_run: gate.mandatory_run.as_ref().map(render::condition),
    };
    let stage = |row: StageRow<'_>| ProtocolStage {
        flow: row.flow.map(ToString::to_string),
        stage: row.stage.id.to_string(),
        what: row.what,
        when: row.when,
        requires: strings(&row.stage.requires),
        ensures: strings(&row.stage.ensures),
        gives: strings(&row.stage.gives),
        outcomes: row.outcomes.iter().map(outcome).collect(),
    };
    ProtocolDetail {
        summary: summary(definition, dialects),
        text: definition.source.text.clone(),
        stages: render::rows(protocol, dialects).into_iter().map(stage).collect(),
        gates: protocol.gates.iter().map(gate).collect(),
    }
}

fn outcome(row: &OutcomeRow<'_>) -> ProtocolOutcome {
    let (route, rule) = match row.leads {
        Leads::By(route, Owner::Stage) => (Some(route), ProtocolRule::Stage),
        Leads::By(route, Owner::Otherwise) => (Some(route), ProtocolRule::Otherwise),
        Leads::Upward => (None, ProtocolRule::Upward),
        Leads::Nowhere => (None, ProtocolRule::Nowhere),
    };
    ProtocolOutcome {
        outcome: row.outcome.to_string(),
        to: route.map(model::Route::to_word),
        limit: route.and_then(|route| route.limit),
        same: route.and_then(|route| route.same),
        then: route.and_then(model::Route::then_word),
        ensures: route.map(|route| strings(&route.ensured())).unwrap_or_default(),
        amends: route.map(|route| strings(&route.amends)).unwrap_or_default(),
        rule,
    }
}

fn strings(names: &[impl ToString]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// Reads a protocol and, where that succeeds, proves its six properties.
pub fn prove(definition: &Definition, dialects: &Dialects) -> (Option<Protocol>, Vec<Diagnostic>) {
    let (protocol, mut diagnostics) = protocol::read(&definition.source.text);
    if let Some(protocol) = &protocol {
        diagnostics.extend(protocol::check(protocol, dialects));
        diagnostics.sort_by_key(|diagnostic| diagnostic.place);
    }
    (protocol, diagnostics)
}

/// Reads a protocol, or says everything that is wrong with it.
pub fn need(definition: &Definition) -> Result<Protocol, Failure> {
    let (protocol, diagnostics) = protocol::read(&definition.source.text);
    protocol.ok_or_else(|| {
        let message = format!("{} is not a protocol", definition.source.file);
        Failure::refused(Code::NO_PROTOCOL, message).at(definition.source.clone(), diagnostics)
    })
}

/// What contracts declare: those of the program, and those of the repository that the protocols name.
fn named_dialects(definitions: &[Definition], call: &Invocation) -> Result<Dialects, Failure> {
    let protocols: Vec<Protocol> =
        definitions.iter().filter_map(|definition| protocol::read(&definition.source.text).0).collect();
    let names = protocols.iter().flat_map(Protocol::contract_names);
    let own = tollgate_app::contracts::definitions(names, &call.environment)?;
    Ok(service::dialects(&service::contracts(&own)?))
}

fn dialects(definition: &Definition, file: Option<&std::path::Path>, call: &Invocation) -> Result<Dialects, Failure> {
    let mut dialects = named_dialects(std::slice::from_ref(definition), call)?;
    if let Some(file) = file {
        let text = files::read_text(&call.environment.directory().join(file), DIALECTS_BYTES_MAX)?;
        let (declared, diagnostics) = Dialects::read(&text);
        if !is_valid(&diagnostics) {
            let file = file.display().to_string();
            let message = format!("{file} declares no dialects");
            return Err(Failure::refused(Code::NO_CONTRACT, message).at(Source { file, text }, diagnostics));
        }
        dialects.merge(declared);
    }
    Ok(dialects)
}

fn is_valid(diagnostics: &[Diagnostic]) -> bool {
    !diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}
