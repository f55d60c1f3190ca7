//! `tollgate contract`.

use std::collections::BTreeMap;
use std::io;

use clap::Subcommand;
use tollgate_api::{Contract, ContractCheck, ContractKind};
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::contract::registry::{all, document_dialect, report_dialect};
use tollgate_core::contract::{Context, DocumentDialect, ReportDialect};
use tollgate_core::diagnostic::{Diagnostic, Place, Severity};

use super::protocol::need;
use crate::cli::failure::{Failure, Kind, wire_diagnostic};
use crate::cli::snippet::{self, Source};
use crate::cli::{Exit, Session};
use crate::files;
use crate::library;
use crate::view::table::table;
use crate::view::text::{Line, Style};
use crate::view::wire;
use crate::view::words::{count, nearest};

const REPORT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// List, show and check contracts: what a report or a document must look like
#[derive(Debug, clap::Args)]
pub struct ContractArgs {
    #[command(subcommand)]
    command: ContractCommand,
}

#[derive(Debug, Subcommand)]
enum ContractCommand {
    List(ListArgs),
    Show(ShowArgs),
    Check(CheckArgs),
}

/// List the contracts
#[derive(Debug, clap::Args)]
struct ListArgs {}

/// Show what a worker is told, and the schema of the document
#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// The contract: `status-block` or `status-block@1`
    id: String,
    /// The role that reports; its own rules are shown then
    #[arg(long)]
    role: Option<String>,
}

/// Check files against a contract
///
/// Exits with 0 when every file is valid, 1 when one is not, 3 when one cannot be read. With `--json` it prints one object a line.
#[derive(Debug, clap::Args)]
struct CheckArgs {
    /// The contract: `status-block` or `status-block@1`
    #[arg(long)]
    contract: String,
    /// The role that reports; its own rules are checked then
    #[arg(long)]
    role: Option<String>,
    /// The files; `-` is stdin
    #[arg(required = true)]
    files: Vec<String>,
}

enum Dialect {
    Report(&'static dyn ReportDialect),
    Document(&'static dyn DocumentDialect),
}

pub fn run(args: &ContractArgs, session: &Session) -> Result<Exit, Failure> {
    match &args.command {
        ContractCommand::List(_) => list(session),
        ContractCommand::Show(args) => show(args, session),
        ContractCommand::Check(args) => check(args, session),
    }
}

fn list(session: &Session) -> Result<Exit, Failure> {
    let contracts = all()
        .map(|id| find(id).map(|dialect| describe(&dialect, &Context::default())))
        .collect::<Result<Vec<_>, _>>()?;
    if session.json() {
        contracts.iter().for_each(|contract| session.output.json(contract));
        return Ok(Exit::Done);
    }
    let row = |contract: Contract| {
        let kind = match contract.kind {
            ContractKind::Report => "what a worker hands back",
            ContractKind::Document => "a document that a run is given",
        };
        vec![Line::new().add(Style::Strong, contract.id), kind.into()]
    };
    let lines = table(&[], contracts.into_iter().map(row).collect(), session.output.width());
    lines.into_iter().for_each(|line| session.output.data(line));
    Ok(Exit::Done)
}

fn show(args: &ShowArgs, session: &Session) -> Result<Exit, Failure> {
    let dialect = find(&args.id)?;
    let contract = describe(&dialect, &context(&dialect, args.role.as_deref(), session)?);
    if session.json() {
        session.output.json(&contract);
        return Ok(Exit::Done);
    }
    session.output.data(Line::new().add(Style::Strong, &contract.id));
    if let Some(instructions) = &contract.instructions {
        session.output.data("");
        session.output.text(instructions);
    }
    session.output.data("");
    let schema = serde_json::to_string_pretty(&contract.schema);
    session.output.text(&schema.map_err(|error| Failure::internal("a schema cannot be written").cause(error))?);
    Ok(Exit::Done)
}

fn check(args: &CheckArgs, session: &Session) -> Result<Exit, Failure> {
    let dialect = find(&args.contract)?;
    let context = context(&dialect, args.role.as_deref(), session)?;
    let mut worst = 0;
    for file in &args.files {
        let (result, source, diagnostics) = check_file(file, &dialect, &context, session);
        if session.json() {
            session.output.json(&result);
        } else {
            print(&result, &source, &diagnostics, session);
        }
        let unreadable = result.report.is_none() && result.plan.is_none();
        worst = worst.max(match (result.valid, unreadable) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => 2,
        });
    }
    Ok([Exit::Done, Exit::With(Kind::Refused), Exit::With(Kind::Environment)][worst])
}

fn check_file(
    file: &str,
    dialect: &Dialect,
    context: &Context,
    session: &Session,
) -> (ContractCheck, Source, Vec<Diagnostic>) {
    let contract = match dialect {
        Dialect::Report(dialect) => dialect.id(),
        Dialect::Document(dialect) => dialect.id(),
    };
    let (report, plan, text, diagnostics) = match read(file, session) {
        Err(diagnostic) => (None, None, String::new(), vec![diagnostic]),
        Ok(bytes) => match (String::from_utf8(bytes), dialect) {
            (Ok(text), Dialect::Report(dialect)) => {
                let reading = dialect.read(&text, context);
                (Some(wire::report(&reading.report)), None, text, reading.diagnostics)
            }
            (Ok(text), Dialect::Document(dialect)) => {
                let reading = dialect.read(&text, context);
                (None, Some(wire::plan(&reading.plan)), text, reading.diagnostics)
            }
            (Err(error), _) => {
                let (text, diagnostic) = not_text(error);
                (None, None, text, vec![diagnostic])
            }
        },
    };
    let valid = !diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let on_wire = diagnostics.iter().map(|diagnostic| wire_diagnostic(diagnostic, Some(file))).collect();
    let result = ContractCheck {
        file: file.to_owned(),
        contract: contract.to_owned(),
        valid,
        report,
        plan,
        diagnostics: on_wire,
    };
    (result, Source { file: file.to_owned(), text }, diagnostics)
}

fn read(file: &str, session: &Session) -> Result<Vec<u8>, Diagnostic> {
    let bytes = match file {
        "-" => {
            files::read_all(io::stdin().lock(), REPORT_BYTES_MAX).map_err(|error| files::cannot_read("stdin", error))
        }
        _ => files::read(&session.environment.directory().join(file), REPORT_BYTES_MAX),
    };
    bytes.map_err(|failure| {
        let wire = failure.wire();
        let why = wire.causes.first().map_or("it cannot be read", String::as_str);
        Diagnostic::error(Code::FILE, Place::default(), format!("the file cannot be read: {why}"))
            .hint("check the path and its permissions")
    })
}

/// A text that is none, as far as it can be shown, and where it stops being one.
pub fn not_text(error: std::string::FromUtf8Error) -> (String, Diagnostic) {
    let good = error.utf8_error().valid_up_to();
    let before = String::from_utf8_lossy(&error.as_bytes()[..good]).into_owned();
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX - 1) + 1;
    let place = Place {
        line: number(before.matches('\n').count()),
        column: number(before.rsplit('\n').next().map_or(0, |line| line.chars().count())),
    };
    let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
    (text, Diagnostic::error(Code::FILE, place, "the file is not UTF-8 from here on").hint("write it as UTF-8 text"))
}

fn print(result: &ContractCheck, source: &Source, diagnostics: &[Diagnostic], session: &Session) {
    let width = session.output.width();
    snippet::lines(diagnostics, source, width).into_iter().for_each(|line| session.output.data(line));
    let (symbol, style, word) =
        if result.valid { ("✓", Style::Good, "valid") } else { ("✗", Style::Bad, "invalid") };
    let head = Line::new().add(style, symbol).text(format!(" {}: ", result.file)).add(style, word);
    let said = match (&result.report, &result.plan) {
        (Some(report), _) => {
            let code = report.code.as_ref().map(|code| format!(".{code}")).unwrap_or_default();
            let asked = count(report.questions.len(), "question");
            format!(
                ", health {}{code}, verdict {}, {}, {asked}",
                report.health,
                report.verdict,
                count(report.findings.len(), "finding")
            )
        }
        (None, Some(plan)) => format!(", {}", count(plan.criteria.len(), "row")),
        (None, None) => String::new(),
    };
    session.output.data(head.text(said));
}

fn find(id: &str) -> Result<Dialect, Failure> {
    let report = report_dialect(id).map(Dialect::Report);
    report.or_else(|| document_dialect(id).map(Dialect::Document)).ok_or_else(|| {
        let failure = Failure::usage(Code::NO_CONTRACT, format!("there is no contract `{id}`"));
        match nearest(id, all().map(bare)) {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint("`tollgate contract list` shows the names"),
        }
    })
}

fn describe(dialect: &Dialect, context: &Context) -> Contract {
    match dialect {
        Dialect::Report(dialect) => Contract {
            id: dialect.id().into(),
            kind: ContractKind::Report,
            instructions: Some(dialect.instructions(context)),
            schema: dialect.schema(),
        },
        Dialect::Document(dialect) => Contract {
            id: dialect.id().into(),
            kind: ContractKind::Document,
            instructions: None,
            schema: dialect.schema(),
        },
    }
}

/// The schema of every dialect, by its name without version.
pub fn schemas() -> Result<Vec<(String, serde_json::Value)>, Failure> {
    all().map(|id| Ok((bare(id).to_owned(), describe(&find(id)?, &Context::default()).schema))).collect()
}

fn bare(id: &str) -> &str {
    id.split_once('@').map_or(id, |(bare, _)| bare)
}

/// What is known of the role that reports: a role that no protocol has would switch rules off unseen.
fn context(dialect: &Dialect, role: Option<&str>, session: &Session) -> Result<Context, Failure> {
    let Some(role) = role else { return Ok(Context::default()) };
    let Dialect::Report(dialect) = dialect else {
        return Err(
            Failure::usage(Code::USAGE, "a document is given by a person: it has no role").hint("leave out --role")
        );
    };
    let mut known: BTreeMap<Name, bool> = BTreeMap::new();
    for definition in library::list(&session.environment)? {
        let protocol = need(&definition)?;
        let own = protocol
            .roles
            .iter()
            .filter(|(_, known)| report_dialect(&known.contract).is_some_and(|contract| contract.id() == dialect.id()));
        known.extend(own.map(|(name, known)| (name.clone(), known.judges())));
    }
    if let Some((name, judges)) = known.get_key_value(role) {
        return Ok(Context { role: Some(name.clone()), judges: Some(*judges), ..Context::default() });
    }
    let message = format!("no protocol has a role `{role}` that reports in {}", dialect.id());
    let names: Vec<String> = known.keys().map(|name| format!("`{name}`")).collect();
    let failure = Failure::usage(Code::USAGE, message);
    Err(match nearest(role, known.keys().map(|name| &**name)) {
        Some(near) => failure.hint(format!("did you mean `{near}`? The roles are {}", names.join(", "))),
        None => failure.hint(format!("the roles are {}", names.join(", "))),
    })
}
