//! `tollgate contract render`.

use std::io;

use tollgate_app::contracts::{Contract, Contracts};
use tollgate_app::failure::Failure;
use tollgate_app::failure::Source;
use tollgate_app::files;
use tollgate_contract::Context;
use tollgate_contract::tree::{Places, json};
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place, Severity};

use crate::cli::{Exit, Invocation};
use crate::view::text::Style;

const DOCUMENT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Write a document in the form of its contract
///
/// A field of another kind is refused; a document that breaks a rule is written, with a note on stderr.
#[derive(Debug, clap::Args)]
pub struct RenderArgs {
    /// The contract: `status-block` or `status-block@1`
    id: String,
    /// The document as JSON, as `contract show ID --schema` describes it; `-` is stdin
    #[arg(long, value_name = "DOCUMENT.json")]
    from: String,
}

pub fn run(args: &RenderArgs, call: &Invocation) -> Result<Exit, Failure> {
    let contract = Contracts::named(&args.id, &call.environment)?;
    let text = match args.from.as_str() {
        "-" => {
            let bytes = files::read_all(io::stdin().lock(), DOCUMENT_BYTES_MAX);
            let bytes = bytes.map_err(|error| files::cannot_read("stdin", error))?;
            String::from_utf8(bytes).map_err(|error| files::not_text("stdin", &error))?
        }
        from => files::read_text(&call.environment.directory().join(from), DOCUMENT_BYTES_MAX)?,
    };
    let source = Source { file: args.from.clone(), text: text.clone() };
    let refused = |diagnostics: Vec<Diagnostic>| {
        let message = format!("{} is no document of {}", args.from, contract.id());
        let code = diagnostics.first().map_or(Code::FIELD_KIND, |diagnostic| diagnostic.code);
        Failure::refused(code, message).at(source.clone(), diagnostics)
    };
    let node = json::read(&text).map_err(|fault| {
        let place = Places::of(&text).place(fault.at);
        refused(vec![Diagnostic::error(fault.code, place, fault.message).hint(fault.hint)])
    })?;
    let written = match &contract {
        Contract::Data(data) => {
            let wrong = data.get().wrong_types(&node, &text);
            if !wrong.is_empty() {
                return Err(refused(wrong));
            }
            data.get().write(&node)
        }
        Contract::Report(dialect) => dialect.render(&value(&text)?),
        Contract::Document(dialect) => dialect.render(&value(&text)?),
    };
    let written = written.map_err(|why| {
        let hint = "`tollgate contract show ID --schema` describes the document";
        refused(vec![Diagnostic::error(Code::FIELD_KIND, Place::default(), why).hint(hint)])
    })?;
    call.output.document(&written);
    let found = match (contract.report(), contract.document()) {
        (Some(dialect), _) => dialect.read(&written, &Context::default()).diagnostics,
        (None, Some(dialect)) => dialect.read(&written, &Context::default()).diagnostics,
        (None, None) => Vec::new(),
    };
    // What a rule asks for is the writer's to say: it is written down as it is, and not passed over.
    if let Some(wrong) = found.iter().find(|found| found.severity == Severity::Error) {
        let note = format!("`tollgate contract check` would refuse this: {} [{}]", wrong.message, wrong.code);
        call.output.say("note: ", Style::Accent, &note);
    }
    Ok(Exit::Done)
}

fn value(text: &str) -> Result<serde_json::Value, Failure> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str(text).map_err(|error| Failure::refused(Code::JSON_SYNTAX, "this is not JSON").cause(error))
}
