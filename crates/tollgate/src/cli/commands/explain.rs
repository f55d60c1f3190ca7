//! `tollgate explain`.

use tollgate_api::CodePage;
use tollgate_app::failure::Failure;
use tollgate_core::code::Code;

use crate::cli::{Exit, Invocation};
use crate::view::table::table;
use crate::view::text::{Line, Style};

/// Explain a code such as TG0142
///
/// Prints what it means, why, and what to do next. Without a code it lists them all.
#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    /// The code: `TG0142`, `tg142` or `142`
    code: Option<String>,
}

pub fn run(args: &ExplainArgs, call: &Invocation) -> Result<Exit, Failure> {
    let Some(text) = &args.code else {
        let codes = Code::all().collect::<Vec<_>>();
        if call.json() {
            codes.into_iter().for_each(|code| call.output.json(&page(code)));
        } else {
            let row = |code: Code| vec![Line::new().add(Style::Strong, code.as_str()), title(code).into()];
            let lines = table(&[], codes.into_iter().map(row).collect(), call.output.width());
            lines.into_iter().for_each(|line| call.output.data(line));
        }
        return Ok(Exit::Done);
    };
    let code = Code::find(text).ok_or_else(|| {
        Failure::usage(Code::NO_CODE, format!("there is no code `{text}`")).hint("`tollgate explain` lists them all")
    })?;
    if call.json() {
        call.output.json(&page(code));
    } else {
        call.output.page(code.page());
    }
    Ok(Exit::Done)
}

fn page(code: Code) -> CodePage {
    CodePage { code: code.to_string(), title: title(code).to_owned(), page: code.page().to_owned() }
}

/// The title of a code's page.
pub(super) fn title(code: Code) -> &'static str {
    let first = code.page().lines().next().unwrap_or_default();
    first.split_once(": ").map_or(first, |(_, title)| title)
}
