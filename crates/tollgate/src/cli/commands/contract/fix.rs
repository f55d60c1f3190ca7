//! `tollgate contract fix`.

use std::time::Duration;

use similar::TextDiff;
use tollgate_api::{ContractFix, Mended};
use tollgate_app::contracts::{Contract, Contracts};
use tollgate_app::failure::Source;
use tollgate_app::failure::{Failure, Kind};
use tollgate_app::files;
use tollgate_app::format::count;
use tollgate_contract::Context;
use tollgate_contract::extract::Dialect;
use tollgate_contract::fix::{Fixed, fix};
use tollgate_core::code::Code;

use super::check;
use crate::cli::{Exit, Invocation};
use crate::view::diagnostic;
use crate::view::text::{Line, Style};

/// How long lines are matched to each other.
const DIFF_LIMIT: Duration = Duration::from_millis(300);

/// Fix what has one possible answer, and show the diff
///
/// The order of sections, the case of a word or a key, the level of a heading, text outside of the JSON, a comma before a bracket, a number in quotes, a count that
/// the lists give. The file is written unless `--dry-run` is given; everything else in it stays as it is, and what it says stays the same.
/// Exits with 0 when the mended text is valid, 1 when something is left that only its author can mend, 3 when the file cannot be read.
#[derive(Debug, clap::Args)]
pub struct FixArgs {
    /// The contract; found by the name and the content of the file where none is given
    #[arg(long)]
    contract: Option<String>,
    /// The role that reports; its own rules are checked then
    #[arg(long)]
    role: Option<String>,
    /// Only show what would be changed
    #[arg(long, conflicts_with = "write")]
    dry_run: bool,
    /// Write the file, which is what happens anyway
    #[arg(long)]
    write: bool,
    /// The file; `-` is stdin, which is shown and not written
    file: String,
}

pub fn run(args: &FixArgs, call: &Invocation) -> Result<Exit, Failure> {
    let unreadable = |text: String, diagnostic| {
        let source = Source { file: args.file.clone(), text };
        let failure = Failure::environment(Code::FILE, format!("{} cannot be fixed", args.file));
        failure.at(source, vec![diagnostic])
    };
    let text = match check::read(&args.file, check::REPORT_BYTES_MAX, call).map(String::from_utf8) {
        Ok(Ok(text)) => text,
        Ok(Err(error)) => {
            let (text, diagnostic) = files::undecoded(error);
            return Err(unreadable(text, diagnostic));
        }
        Err(diagnostic) => return Err(unreadable(String::new(), diagnostic)),
    };
    let contract = match args.contract.as_deref() {
        Some(name) => Contracts::named(name, &call.environment)?,
        None => {
            let known = Contracts::look(&call.environment)?;
            check::find(&args.file, &text, &known).map_err(|diagnostic| unreadable(String::new(), diagnostic))?
        }
    };
    let beside = Contracts::headings_beside(&contract, &call.environment)?;
    let context = Context { beside, ..super::context(&contract, args.role.as_deref(), call)? };
    let dialect = match (contract.report(), contract.document()) {
        (Some(dialect), _) => Dialect::Report(dialect),
        (None, Some(dialect)) => Dialect::Document(dialect),
        (None, None) => return Err(Failure::internal("a contract is neither for reports nor for documents")),
    };
    let fixed = fix(dialect, &text, &context);
    let write = !args.dry_run && args.file != "-" && fixed.text != text;
    if write {
        let path = call.environment.directory().join(&args.file);
        files::rewrite(&path, fixed.text.as_bytes()).map_err(|error| {
            Failure::environment(Code::FILE, format!("{} cannot be written", args.file)).cause(error)
        })?;
    }
    let result = result(&args.file, &contract, &text, &fixed, write);
    match call.json() {
        true => call.output.json(&result),
        false => print(&result, fixed, args, call),
    }
    Ok(if result.check.valid { Exit::Done } else { Exit::With(Kind::Refused) })
}

fn result(file: &str, contract: &Contract, before: &str, fixed: &Fixed, written: bool) -> ContractFix {
    let (report, plan) = check::read_as(&fixed.read, contract);
    let check = check::result(file, contract.id(), report, plan, fixed.read.diagnostics());
    let mended = fixed.mended.iter();
    let mended =
        mended.map(|(place, message)| Mended { line: place.line, column: place.column, message: message.clone() });
    ContractFix { check, mended: mended.collect(), diff: diff(file, before, &fixed.text), written }
}

/// What was changed, as a unified diff. Texts that have little in common are compared for a moment, and then as a whole.
fn diff(file: &str, before: &str, after: &str) -> String {
    let diff = TextDiff::configure().timeout(DIFF_LIMIT).diff_lines(before, after);
    // The root is no part of a name in a patch.
    let file = file.trim_start_matches('/');
    diff.unified_diff().header(&format!("a/{file}"), &format!("b/{file}")).to_string()
}

fn print(result: &ContractFix, fixed: Fixed, args: &FixArgs, call: &Invocation) {
    if !result.diff.is_empty() {
        call.output.document(&result.diff);
    }
    let source = Source { file: result.check.file.clone(), text: fixed.text };
    let lines = diagnostic::lines(fixed.read.diagnostics(), &source, call.output.width());
    lines.into_iter().for_each(|line| call.output.data(line));
    let (symbol, style, word) = match result.check.valid {
        true => ("✓", Style::Good, "valid"),
        false => ("✗", Style::Bad, "still invalid"),
    };
    let outcome = match (result.mended.len(), result.check.valid) {
        (0, true) => ", nothing to fix".to_owned(),
        (0, false) => {
            ": none of this has one possible answer, so nothing was changed; its author must fix it".to_owned()
        }
        (some, _) => format!(", {} fixed", count(some, "thing")),
    };
    let written = match (result.written, result.mended.is_empty()) {
        (true, _) => ", written",
        (false, false) if args.dry_run => ", not written (--dry-run)",
        (false, _) => "",
    };
    let head = Line::new().add(style, symbol).text(format!(" {}: ", result.check.file)).add(style, word);
    call.output.data(head.text(format!(" {}{outcome}{written}", result.check.contract)));
}
