//! `tollgate contract extract`.

use clap::builder::PossibleValuesParser;
use tollgate_api::{ContractExtract, EarlierReport, FoundReport, PassedReport, PassedWhy, TrailingText};
use tollgate_app::contracts::{Contract, Contracts};
use tollgate_app::failure::Source;
use tollgate_app::failure::{Failure, Kind};
use tollgate_app::files;
use tollgate_app::format::count;
use tollgate_contract::Context;
use tollgate_contract::extract::{BYTES_MAX, Dialect, Earlier, Extraction, Item, Markers, Transcript, Why, extract};
use tollgate_contract::reask::reask;
use tollgate_core::diagnostic::Diagnostic;
use tollgate_engine::workers::agent::{ADAPTERS, adapter, speech};

use super::check;
use crate::cli::{Exit, Invocation};
use crate::view::diagnostic;
use crate::view::text::{Line, Style};

/// Find the report in what an agent printed, and check it
///
/// The text is what was said, as it is. With `--agent` it is the output of that agent's program, in the format in which Tollgate calls it, and
/// only the agent's own messages are searched.
///
/// An object that the agent's tool was forced to by a schema counts first, then what is between the last pair of the marker lines that the
/// prompt asks for. Without those, the last report counts that is no echo of the prompt, the template, the example or the schema: a JSON object or
/// Markdown of the contract, outside of quotes, lists, comments and other code. When the last one is cut off or invalid, nothing counts, and a
/// valid one before it is only shown. Text after the report is not read. Exits with 0 when the report is valid, 1 when it is not or there is none, 3 when the
/// file cannot be read.
#[derive(Debug, clap::Args)]
pub struct ExtractArgs {
    /// The contract: `status-block` or `status-block@1`
    #[arg(long)]
    contract: String,
    /// The agent whose program printed the text; its adapter reads the lines
    #[arg(long, value_name = "NAME", value_parser = agents())]
    agent: Option<String>,
    /// The role that reports; its own rules are checked then
    #[arg(long)]
    role: Option<String>,
    /// The unit that is reported on; reports that name another are passed over
    #[arg(long)]
    unit: Option<String>,
    /// The prompt of the agent: what repeats it is no report, and it names the marker lines
    #[arg(long, value_name = "FILE")]
    prompt: Option<String>,
    /// Print only what to tell the agent when its report is not valid
    #[arg(long, conflicts_with = "text")]
    reask: bool,
    /// Print only the text of the report that counts, without what is around it
    #[arg(long)]
    text: bool,
    /// The transcript; `-` is stdin
    file: String,
}

pub fn run(args: &ExtractArgs, call: &Invocation) -> Result<Exit, Failure> {
    let contract = Contracts::named(&args.contract, &call.environment)?;
    let prompt = args.prompt.as_ref();
    let prompt =
        prompt.map(|file| files::read_text(&call.environment.directory().join(file), BYTES_MAX as u64)).transpose()?;
    let unit = args.unit.as_deref().map(Into::into);
    let markers = prompt.as_deref().and_then(Markers::named_in);
    let context = Context { prompt, unit, markers, ..super::context(&contract, args.role.as_deref(), call)? };
    let dialect = match (contract.report(), contract.document()) {
        (Some(dialect), _) => Dialect::Report(dialect),
        (None, Some(dialect)) => Dialect::Document(dialect),
        (None, None) => return Err(Failure::internal("a contract is neither for reports nor for documents")),
    };
    if args.unit.is_some() && !contract.report().is_some_and(tollgate_contract::ReportDialect::names_units) {
        let note = format!("what is written in {} names no unit: --unit changes nothing", contract.id());
        call.output.say("note: ", Style::Accent, &note);
    }
    let text = match check::read(&args.file, BYTES_MAX as u64, call).map(String::from_utf8) {
        Ok(Ok(text)) => text,
        // Tools print what they were given: a byte that is no text is no reason to lose the report.
        Ok(Err(error)) => {
            let (text, diagnostic) = files::undecoded(error);
            let note = format!("line {}: what is not UTF-8 is read as \u{fffd}", diagnostic.place.line);
            call.output.say("note: ", Style::Accent, &note);
            text
        }
        Err(diagnostic) => {
            unread(args, &contract, diagnostic, call);
            return Ok(Exit::With(Kind::Environment));
        }
    };
    let agent = args.agent.as_deref().and_then(adapter);
    let transcript = agent.map_or(Transcript::Plain(&text), |agent| speech(agent, &text).transcript);
    let extraction = extract(dialect, &transcript, &context);
    if args.agent.is_none() && extraction.found.is_none() {
        speakers(&text).iter().for_each(|note| call.output.say("note: ", Style::Accent, note));
    }
    let result = result(args, &contract, &extraction);
    if call.json() {
        call.output.json(&result);
    } else if args.reask {
        call.output.text(result.check.reask.as_deref().unwrap_or_default().trim_end());
    } else if args.text && result.check.valid {
        call.output.document(result.found.as_ref().map_or("", |found| &found.text));
    } else {
        print(&result, text, extraction.read.diagnostics(), call);
    }
    Ok(if result.check.valid { Exit::Done } else { Exit::With(Kind::Refused) })
}

fn agents() -> PossibleValuesParser {
    PossibleValuesParser::new(ADAPTERS.map(|adapter| adapter.name))
}

/// Names the agents whose lines a text may be.
fn speakers(text: &str) -> Option<String> {
    let says = |transcript: &Transcript<'_>| match transcript {
        Transcript::Agent(_, items) => items.iter().any(|item| matches!(item, Item::Message(_) | Item::Object { .. })),
        Transcript::Plain(_) => false,
    };
    let known = ADAPTERS.into_iter().filter(|adapter| says(&speech(adapter, text).transcript));
    let names: Vec<String> = known.map(|adapter| format!("`--agent {}`", adapter.name)).collect();
    let names = names.join(" or ");
    (!names.is_empty())
        .then(|| format!("these look like the lines of an agent's program: {names} reads what the agent said in them"))
}

fn unread(args: &ExtractArgs, contract: &Contract, diagnostic: Diagnostic, call: &Invocation) {
    let diagnostics = [diagnostic];
    let check = check::result(&args.file, contract.id(), None, None, &diagnostics);
    let result = ContractExtract { check, found: None, passed: Vec::new(), unseen: 0, earlier: None, trailing: None };
    match call.json() {
        true => call.output.json(&result),
        false => print(&result, String::new(), &diagnostics, call),
    }
}

fn result(args: &ExtractArgs, contract: &Contract, extraction: &Extraction) -> ContractExtract {
    let (report, plan) = check::read_as(&extraction.read, contract);
    let mut check = check::result(&args.file, contract.id(), report, plan, extraction.read.diagnostics());
    let own = extraction.found.as_ref().map_or(extraction.read.diagnostics(), |found| &found.diagnostics);
    check.reask = args.reask.then(|| reask(own)).flatten();
    let found = extraction.found.as_ref().map(|found| FoundReport {
        line: found.from.line,
        column: found.from.column,
        end_line: found.to.line,
        in_string: found.in_string,
        text: found.text.clone(),
    });
    let passed = extraction.passed.iter().map(|passed| {
        let (why, unit) = match &passed.why {
            Why::Echo => (PassedWhy::Echo, None),
            Why::Earlier => (PassedWhy::Earlier, None),
            Why::Repeated => (PassedWhy::Repeated, None),
            Why::OtherUnit(unit) => (PassedWhy::OtherUnit, Some(unit.clone())),
        };
        PassedReport { why, unit, line: passed.place.line, column: passed.place.column }
    });
    let earlier = extraction.earlier.as_ref().map(|Earlier { place, read }| {
        let (report, plan) = check::read_as(read, contract);
        EarlierReport { line: place.line, column: place.column, report, plan }
    });
    let trailing = extraction.trailing.map(|place| TrailingText { line: place.line, column: place.column });
    ContractExtract { check, found, passed: passed.collect(), unseen: extraction.unseen as u64, earlier, trailing }
}

fn print(result: &ContractExtract, text: String, diagnostics: &[Diagnostic], call: &Invocation) {
    let source = Source { file: result.check.file.clone(), text };
    // Reports before the last are listed below, with the others that were passed over.
    let own: Vec<Diagnostic> =
        diagnostics.iter().filter(|one| one.code != tollgate_core::code::Code::REPORT_DRAFT).cloned().collect();
    diagnostic::lines(&own, &source, call.output.width()).into_iter().for_each(|line| call.output.data(line));
    let (symbol, style, word) = match (&result.found, result.check.valid) {
        (Some(_), true) => ("✓", Style::Good, "valid"),
        (Some(_), false) => ("✗", Style::Bad, "invalid"),
        (None, _) if result.check.report.is_none() && result.check.plan.is_none() => ("✗", Style::Bad, "unreadable"),
        (None, _) => ("✗", Style::Bad, "no report"),
    };
    let head = Line::new().add(style, symbol).text(format!(" {}: ", result.check.file)).add(style, word);
    let place = result.found.as_ref().map(|found| match (found.end_line > found.line, found.in_string) {
        (true, _) => format!(" {} in lines {} to {}", result.check.contract, found.line, found.end_line),
        (false, true) => format!(" {} in a JSON string of line {}", result.check.contract, found.line),
        (false, false) => format!(" {} in line {}", result.check.contract, found.line),
    });
    let words = match &result.found {
        Some(_) => check::said(result.check.report.as_ref(), result.check.plan.as_ref()),
        None => String::new(),
    };
    call.output.data(head.text(place.unwrap_or_default()).text(words));
    if result.unseen > 0 {
        let before = count(usize::try_from(result.unseen).unwrap_or(usize::MAX), "report");
        call.output.data(Line::new().add(Style::Faint, format!("  passed over: {before} not looked at")));
    }
    for passed in &result.passed {
        let why = match (passed.why, &passed.unit) {
            (PassedWhy::Echo, _) => "an echo of what the agent was shown".to_owned(),
            (PassedWhy::Earlier, _) => "an earlier report".to_owned(),
            (PassedWhy::Repeated, _) => "the same report, earlier".to_owned(),
            (PassedWhy::OtherUnit, unit) => format!("a report on {}", unit.as_deref().unwrap_or("another unit")),
        };
        call.output.data(Line::new().add(Style::Faint, format!("  passed over: line {}, {why}", passed.line)));
    }
    if let Some(earlier) = &result.earlier {
        let said = check::said(earlier.report.as_ref(), earlier.plan.as_ref());
        call.output.data(
            Line::new()
                .add(Style::Warn, "  not used: ")
                .text(format!("the report in line {} is valid{said}", earlier.line)),
        );
    }
}
