//! OpenCode: `opencode run --format json`.
//!
//! It gives an account of each step. Where it has no price for a model it says that the cost is 0, which is unknown. A rate limit it
//! waits out by itself, without a word.

use std::ffi::OsString;

use serde_json::{Value, json};
use tollgate_core::run::agent_stats::Usage;

use super::{Adapter, Ask, Call, FieldUse, Guard, Pending, PreviousUsage, WorkerEvent, at, nano_usd, number, text};

pub(super) static ADAPTER: Adapter = Adapter {
    name: "opencode",
    program: Some("opencode"),
    bridged: false,
    variables: &["OPENCODE_*", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"],
    home: &[
        ".config/opencode/",
        ".local/share/opencode/",
        ".local/state/opencode/",
        ".cache/opencode",
        ".opencode",
        "$OPENCODE_CONFIG",
        "$OPENCODE_CONFIG_DIR",
    ],
    login: None,
    guard: Guard { own: &["--auto"], off: &["--auto"], set: &[], flags: &["--auto"], folder: &[] },
    call,
    wants,
    says: &["text"],
    read,
    forces_schema: false,
    adds: &["tokens", "cost"],
    spent,
};

/// The tools that leave a file changed.
const WRITES: [&str; 3] = ["write", "edit", "patch"];

fn call(ask: &Ask<'_>) -> Call {
    let mut args: Vec<OsString> = ["run", "--format", "json"].map(OsString::from).to_vec();
    args.extend(ask.guard(&ADAPTER.guard));
    if let Some(model) = ask.model {
        args.extend(ask.unless_given(&["--model", "-m"], model));
    }
    if let Some(session) = ask.session {
        args.extend(["--session".into(), session.into()]);
    }
    args.extend_from_slice(ask.args);
    Call { args, set: vec![("OPENCODE_DISABLE_AUTOUPDATE", "1")], stdin: ask.prompt.to_owned() }
}

fn wants(key: &str) -> FieldUse {
    match key {
        "tokens" => FieldUse::Whole,
        "type" | "sessionID" | "part" | "text" | "cost" | "error" | "data" | "message" | "name" | "statusCode"
        | "tool" | "state" | "input" | "filePath" | "command" | "status" | "responseHeaders" | "retry-after"
        | "timestamp" | "synthetic" | "reason" => FieldUse::Value,
        _ => FieldUse::Nothing,
    }
}

fn read(line: &Value, _: &mut Pending, events: &mut Vec<WorkerEvent>) {
    match text(line, &["type"]) {
        Some("step_start") => {
            events.extend(text(line, &["sessionID"]).map(WorkerEvent::session));
            events.push(WorkerEvent::Turn);
        }
        // What its program adds in its name is not its word.
        Some("text") if at(line, &["part", "synthetic"]) != Some(&Value::Bool(true)) => {
            events.extend(text(line, &["part", "text"]).map(WorkerEvent::said));
        }
        Some("tool_use") => tool(line, events),
        Some("step_finish") => {
            let (tokens, cost) = (at(line, &["part", "tokens"]), at(line, &["part", "cost"]));
            events.push(WorkerEvent::Usage(json!({"tokens": tokens, "cost": cost})));
            if text(line, &["part", "reason"]) == Some("length") {
                events.push(WorkerEvent::trouble("the answer was cut off at its limit of tokens"));
            }
        }
        Some("error") => {
            events.extend(text(line, &["sessionID"]).map(WorkerEvent::session));
            let what = text(line, &["error", "data", "message"]).or(text(line, &["error", "name"]));
            let what = what.unwrap_or("it ended with an error").to_owned();
            let status = number(line, &["error", "data", "statusCode"]);
            if status == Some(429) {
                events.push(WorkerEvent::Quota { said: what.clone(), resets_ms: resets(line) });
            }
            events.push(WorkerEvent::Failed { what, status });
        }
        _ => {}
    }
}

fn tool(line: &Value, events: &mut Vec<WorkerEvent>) {
    let tool = text(line, &["part", "tool"]).unwrap_or("a tool");
    let path = text(line, &["part", "state", "input", "filePath"]);
    events.push(WorkerEvent::tool(tool, path.or(text(line, &["part", "state", "input", "command"]))));
    let why = text(line, &["part", "state", "error"]).unwrap_or_default().to_lowercase();
    match text(line, &["part", "state", "status"]) {
        Some("completed") if WRITES.contains(&tool) => {
            events.extend(path.map(|path| WorkerEvent::File(path.to_owned())));
        }
        Some("error") if why.contains("rejected permission") || why.contains("denied") => {
            events.push(WorkerEvent::Denied { tool: tool.to_owned(), path: path.map(str::to_owned) });
        }
        _ => {}
    }
}

/// When a limit ends, by the time of the line and the seconds that the service gave.
fn resets(line: &Value) -> Option<u64> {
    let seconds: u64 = text(line, &["error", "data", "responseHeaders", "retry-after"])?.parse().ok()?;
    number(line, &["timestamp"])?.checked_add(seconds.checked_mul(1000)?)
}

fn spent(raw: &Value, _: PreviousUsage<'_>) -> Usage {
    let sum = |ways: &[&[&str]]| ways.iter().try_fold(0_u64, |sum, way| sum.checked_add(number(raw, way)?));
    let cached: &[&str] = &["tokens", "cache", "read"];
    Usage {
        input_tokens: sum(&[&["tokens", "input"], cached, &["tokens", "cache", "write"]]),
        cached_tokens: number(raw, cached),
        output_tokens: sum(&[&["tokens", "output"], &["tokens", "reasoning"]]),
        cost_nano_usd: nano_usd(raw, &["cost"]).filter(|cost| *cost > 0),
    }
}
