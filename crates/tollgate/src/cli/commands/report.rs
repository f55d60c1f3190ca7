//! `tollgate report`.

use clap::ValueEnum;
use tollgate_app::failure::Failure;
use tollgate_app::files;
use tollgate_contract::status_block::document::Status as Word;
use tollgate_contract::status_block::{Answer, File, Object, Row, RowResult, StatusBlock};
use tollgate_contract::{Context, ReportDialect};
use tollgate_core::code::Code;
use tollgate_core::diagnostic::Severity;

use crate::cli::{Exit, Invocation};

/// The variable that names the file of the report.
const FILE: &str = "TOLLGATE_REPORT";

/// Report as a worker, from a script
///
/// Writes a status block as JSON to the file that `TOLLGATE_REPORT` names. A later call overwrites it.
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// How the work went
    status: Status,
    /// Why it is not complete, in one line
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// The verdict of a role that judges
    #[arg(long)]
    verdict: Option<Verdict>,
    /// A row and whether it holds: `DoD-1=pass:tests/cart.rs` or `DoD-2=fail:no such function`
    #[arg(long = "row", value_name = "ID=pass|fail:EVIDENCE", value_parser = row)]
    rows: Vec<Row>,
    /// A file that was created, changed or deleted
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,
    /// What is wrong: `[major] src/cart.rs:42 — the total overflows`
    #[arg(long = "finding", value_name = "TEXT")]
    findings: Vec<String>,
    /// A question to a person
    #[arg(long = "question", value_name = "TEXT")]
    questions: Vec<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Status {
    /// The work is done
    Complete,
    /// A person must answer a question first
    Blocked,
    /// An error stopped the work
    Failed,
    /// The budget ran out before everything was done
    Incomplete,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Verdict {
    /// The work passes
    Accept,
    /// It does not
    Reject,
}

/// One row as it is typed.
fn row(text: &str) -> Result<Row, String> {
    let (id, rest) = text.split_once('=').ok_or("expected ID=pass or ID=fail:EVIDENCE")?;
    let (result, evidence) = rest.split_once(':').unwrap_or((rest, ""));
    let result = match result {
        "pass" => RowResult::Pass,
        "fail" => RowResult::Fail,
        "unobservable" => RowResult::Unobservable,
        other => return Err(format!("`{other}` is not a result; expected one of: pass, fail, unobservable")),
    };
    Ok(Row { id: id.trim().to_owned(), result, evidence: evidence.trim().to_owned() })
}

pub fn run(args: ReportArgs, call: &Invocation) -> Result<Exit, Failure> {
    let Some(path) = call.environment.get(FILE).filter(|path| !path.is_empty()) else {
        let failure = Failure::usage(Code::NO_REPORT_FILE, format!("{FILE} is not set"));
        return Err(failure.hint("call this from a worker of a run, which has it, or set it to a file"));
    };
    let directory = call.environment.directory();
    let file = |path: String| File { deleted: !files::is_taken(&directory.join(&path)), path };
    let object = Object {
        status: match args.status {
            Status::Complete => Word::Complete,
            Status::Blocked => Word::Blocked,
            Status::Failed => Word::Failed,
            Status::Incomplete => Word::Incomplete,
        },
        reason: args.reason.unwrap_or_default(),
        verdict: args.verdict.map(|verdict| match verdict {
            Verdict::Accept => Answer::Accept,
            Verdict::Reject => Answer::Reject,
        }),
        rows: args.rows,
        files: args.files.into_iter().map(file).collect(),
        findings: args.findings,
        questions: args.questions,
    };
    let text = serde_json::to_string_pretty(&object)
        .map_err(|error| Failure::internal("the report cannot be written").cause(error))?;
    // What a role may say depends on the run; what no role may say is refused here.
    let read = StatusBlock.read_alone(&text, &Context::default());
    if let Some(wrong) = read.diagnostics.iter().find(|one| one.severity == Severity::Error) {
        let hint = match wrong.code {
            Code::QUESTION_MISSING => "add `--question TEXT`",
            Code::STATUS_REASON => "add `--reason TEXT`",
            Code::REJECTS_NOTHING => "add `--finding TEXT` or `--row ID=fail:EVIDENCE`",
            Code::FINDING_UNREADABLE => "write `[critical|major|minor] path:line (RULE) — what is wrong`",
            _ => "`tollgate report --help` says what it takes",
        };
        return Err(Failure::usage(wrong.code, wrong.message.clone()).hint(hint));
    }
    let path = directory.join(path);
    files::write(&path, format!("{text}\n").as_bytes()).map_err(|error| files::cannot_write(&path, error))?;
    Ok(Exit::Done)
}
