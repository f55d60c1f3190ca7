//! The result of a check as SARIF 2.1.0, which code scanning reads.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tollgate_api::{ContractCheck, Diagnostic, Severity};
use tollgate_core::code::Code;

use crate::cli::commands::explain::title;

/// One log with one run.
pub fn log(results: &[ContractCheck]) -> Value {
    let all =
        || results.iter().flat_map(|result| result.diagnostics.iter().map(move |diagnostic| (result, diagnostic)));
    let codes: BTreeSet<&str> = all().map(|(_, diagnostic)| diagnostic.code.as_str()).collect();
    let rules: Vec<Value> = codes.iter().map(|code| rule(code)).collect();
    let found: Vec<Value> = all().map(|(result, diagnostic)| found(result, diagnostic)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "tollgate", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "results": found,
        }],
    })
}

/// A code with the title and the text of its page.
fn rule(code: &str) -> Value {
    let known = Code::find(code);
    let (page, title) = (known.map_or("", Code::page), known.map_or(code, |known| title(known)));
    json!({"id": code, "shortDescription": {"text": title}, "help": {"text": page}})
}

fn found(result: &ContractCheck, diagnostic: &Diagnostic) -> Value {
    let level = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let hint = diagnostic.hint.as_ref().map(|hint| format!(". {hint}")).unwrap_or_default();
    // A whole file has no region; regions count from 1.
    let mut physical = json!({"artifactLocation": {"uri": uri(&result.file)}});
    if diagnostic.line > 0 {
        physical["region"] = json!({"startLine": diagnostic.line, "startColumn": diagnostic.column.max(1)});
    }
    json!({
        "ruleId": diagnostic.code,
        "level": level,
        "message": {"text": format!("{}{hint}", diagnostic.message)},
        "locations": [{"physicalLocation": physical}],
        "properties": {"contract": result.contract, "rule": diagnostic.rule},
    })
}

/// A path as a relative reference: what a URI cannot hold is escaped.
fn uri(file: &str) -> String {
    let mut uri = String::with_capacity(file.len());
    for byte in file.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            b'\\' => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
