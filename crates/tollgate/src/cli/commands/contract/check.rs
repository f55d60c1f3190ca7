//! `tollgate contract check`.

use std::io;

use tollgate_api::ContractCheck;
use tollgate_app::contracts::{Contract, Contracts};
use tollgate_app::failure::Source;
use tollgate_app::failure::{Failure, Kind, wire_diagnostic};
use tollgate_app::files;
use tollgate_app::format::count;
use tollgate_app::wire;
use tollgate_contract::Context;
use tollgate_contract::extract::{Dialect, Read};
use tollgate_contract::markdown::Heading;
use tollgate_contract::reask::reask;
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place, Severity};

use super::sarif;
use crate::cli::{Exit, Invocation};
use crate::view::diagnostic;
use crate::view::text::{Line, Style};

pub(super) const REPORT_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// The contract of a file that none was found for.
const UNKNOWN: &str = "unknown";

/// Check files against their contracts
///
/// Without `--contract` the contract of each file is found by its name and what it says. Exits with 0 when every file is valid, 1
/// when one is not, 2 when `--contract` names none, 3 when a file cannot be read or none is found for it. With `--json` it prints one object a line.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// The contract: `status-block` or `status-block@1`
    #[arg(long)]
    contract: Option<String>,
    /// The role that reports; its own rules are checked then
    #[arg(long)]
    role: Option<String>,
    /// The labels of the issue that a document is
    #[arg(long, value_delimiter = ',', value_parser = label)]
    labels: Option<Vec<String>>,
    /// How the result is printed
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Print only what to tell the model that wrote a file, for each that is not valid
    #[arg(long, conflicts_with = "format")]
    reask: bool,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
    /// A pattern that no file matches is no mistake: where nothing was handed over, nothing is wrong
    #[arg(long)]
    if_any: bool,
    /// The files, or patterns of files; `-` is stdin
    #[arg(required = true)]
    files: Vec<String>,
}

/// The name of a label. Of no label at all nothing would be asked, and an issue without any would pass.
fn label(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a label has no name; an issue without labels is not ready".to_owned()),
        name => Ok(name.to_owned()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    Human,
    /// One object a line
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

/// What files are checked against, and the headings that documents of other contracts begin with.
enum Asked {
    Contract(Contract, Vec<Heading>),
    /// The one that each file seems to be written in.
    AnyOf(Contracts),
}

pub fn run(args: &CheckArgs, call: &Invocation) -> Result<Exit, Failure> {
    let environment = &call.environment;
    let contract = match args.contract.as_deref() {
        Some(name) => {
            let contract = Contracts::named(name, environment)?;
            let beside = Contracts::headings_beside(&contract, environment)?;
            Asked::Contract(contract, beside)
        }
        None => {
            let known = Contracts::look(environment)?;
            for path in known.broken() {
                let note =
                    format!("{path} cannot be used, and no file is read by it; `tollgate contract list` says why");
                call.output.say("note: ", Style::Accent, &note);
            }
            Asked::AnyOf(known)
        }
    };
    if let Asked::Contract(contract, _) = &contract {
        super::context(contract, args.role.as_deref(), call)?;
    }
    let format = args.format.unwrap_or(if call.json() { Format::Json } else { Format::Human });
    let mut worst = 0;
    let mut all = Vec::new();
    let unmatched = if args.if_any { files::Unmatched::Passed } else { files::Unmatched::Refused };
    let files = files::matching(call.environment.directory(), &args.files, unmatched)?;
    if files.is_empty() {
        call.output.say("note: ", Style::Accent, "no file matches: nothing was checked");
    }
    for file in files {
        let (result, source, diagnostics) = check_file(&file, &contract, args, call)?;
        match format {
            Format::Json => call.output.json(&result),
            Format::Human if args.reask => call.output.text(result.reask.as_deref().unwrap_or_default().trim_end()),
            Format::Human => print(&result, &source, &diagnostics, args.contract.is_none(), call),
            Format::Sarif => {}
        }
        let unreadable = result.report.is_none() && result.plan.is_none();
        worst = worst.max(match (result.valid, unreadable) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => 2,
        });
        all.push(result);
    }
    if format == Format::Sarif {
        call.output.json(&sarif::log(&all));
    }
    Ok([Exit::Done, Exit::With(Kind::Refused), Exit::With(Kind::Environment)][worst])
}

fn check_file(
    file: &str,
    asked: &Asked,
    args: &CheckArgs,
    call: &Invocation,
) -> Result<(ContractCheck, Source, Vec<Diagnostic>), Failure> {
    let unread = |id: &str, text: String, diagnostic: Diagnostic| {
        let diagnostics = vec![diagnostic];
        (result(file, id, None, None, &diagnostics), Source { file: file.to_owned(), text }, diagnostics)
    };
    let id = match asked {
        Asked::Contract(contract, _) => contract.id(),
        Asked::AnyOf(_) => UNKNOWN,
    };
    let text = match read(file, REPORT_BYTES_MAX, call).map(String::from_utf8) {
        Err(diagnostic) => return Ok(unread(id, String::new(), diagnostic)),
        Ok(Err(error)) => {
            let (text, diagnostic) = files::undecoded(error);
            return Ok(unread(id, text, diagnostic));
        }
        Ok(Ok(text)) => text,
    };
    let (found, beside) = match asked {
        Asked::Contract(contract, beside) => (contract.clone(), beside.clone()),
        Asked::AnyOf(contracts) => match find(file, &text, contracts) {
            Ok(contract) => (contract, contracts.headings()),
            Err(diagnostic) => return Ok(unread(UNKNOWN, text, diagnostic)),
        },
    };
    let labels = args.labels.as_ref().map(|labels| labels.iter().map(|label| Name::from(label.as_str())).collect());
    let context = Context { labels, beside, ..super::context(&found, args.role.as_deref(), call)? };
    let dialect = found.report().map(Dialect::Report).or_else(|| found.document().map(Dialect::Document));
    let read = dialect.map(|dialect| dialect.read(&text, &context));
    let (report, plan) = read.as_ref().map(|read| read_as(read, &found)).unwrap_or_default();
    let mut diagnostics = read.map(|read| read.diagnostics().to_vec()).unwrap_or_default();
    if args.strict {
        diagnostics.iter_mut().for_each(|one| one.severity = Severity::Error);
    }
    let mut result = result(file, found.id(), report, plan, &diagnostics);
    result.reask = args.reask.then(|| reask(&diagnostics)).flatten();
    Ok((result, Source { file: file.to_owned(), text }, diagnostics))
}

/// What was read, as a wire type.
pub(super) fn read_as(read: &Read, contract: &Contract) -> (Option<tollgate_api::Report>, Option<tollgate_api::Plan>) {
    match read {
        Read::Report(reading) => (contract.report().map(|dialect| wire::report(reading, dialect)), None),
        Read::Document(reading) => (None, Some(wire::plan(&reading.plan))),
    }
}

pub(super) fn result(
    file: &str,
    contract: &str,
    report: Option<tollgate_api::Report>,
    plan: Option<tollgate_api::Plan>,
    diagnostics: &[Diagnostic],
) -> ContractCheck {
    let valid = !diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let diagnostics = diagnostics.iter().map(|diagnostic| wire_diagnostic(diagnostic, Some(file))).collect();
    ContractCheck {
        file: file.to_owned(),
        contract: contract.to_owned(),
        valid,
        report,
        plan,
        diagnostics,
        reask: None,
    }
}

/// The contract of a file that nobody named one for.
pub(super) fn find(file: &str, text: &str, contracts: &Contracts) -> Result<Contract, Diagnostic> {
    let likely = contracts.recognise(file, text);
    let message = match &likely[..] {
        [one] => match contracts.find(one) {
            Ok(contract) => return Ok(contract),
            Err(_) => "no contract is known for this file".to_owned(),
        },
        [] => "no contract is known for this file".to_owned(),
        several => format!("this file may be any of {}", several.join(", ")),
    };
    let hint = "name it: `--contract ID`; `tollgate contract list` shows the names";
    Err(Diagnostic::error(Code::NO_CONTRACT, Place::default(), message).hint(hint))
}

/// Reads a file that a person named; what is wrong with it otherwise.
pub(super) fn read(file: &str, bytes_max: u64, call: &Invocation) -> Result<Vec<u8>, Diagnostic> {
    let path = call.environment.directory().join(file);
    let bytes = match file {
        "-" => files::read_all(io::stdin().lock(), bytes_max).map_err(|error| files::cannot_read("stdin", error)),
        _ => files::read(&path, bytes_max),
    };
    bytes.map_err(|failure| {
        let wire = failure.wire();
        let why = wire.causes.first().map_or("it cannot be read", String::as_str);
        let hint = match files::is_folder(&path) {
            true => format!(
                "this is a folder: name a file in it, or for `check` all of them with `'{}/**'`",
                file.trim_end_matches('/')
            ),
            false => "check the path and its permissions".to_owned(),
        };
        Diagnostic::error(Code::FILE, Place::default(), format!("the file cannot be read: {why}")).hint(hint)
    })
}

fn print(result: &ContractCheck, source: &Source, diagnostics: &[Diagnostic], found: bool, call: &Invocation) {
    let width = call.output.width();
    diagnostic::lines(diagnostics, source, width).into_iter().for_each(|line| call.output.data(line));
    let (symbol, style, word) =
        if result.valid { ("✓", Style::Good, "valid") } else { ("✗", Style::Bad, "invalid") };
    let head = Line::new().add(style, symbol).text(format!(" {}: ", result.file)).add(style, word);
    let head = if found && result.contract != UNKNOWN { head.text(format!(" {}", result.contract)) } else { head };
    call.output.data(head.text(said(result.report.as_ref(), result.plan.as_ref())));
}

/// What a report or a document says, in a few words.
pub(super) fn said(report: Option<&tollgate_api::Report>, plan: Option<&tollgate_api::Plan>) -> String {
    match (report, plan) {
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
    }
}
