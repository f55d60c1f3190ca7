//! Gemini: `gemini --output-format stream-json`.
//!
//! What its mode does not allow it is not offered: a tool that is "not registered" was denied. Its exit code is the status of the
//! service, cut to eight bits: 144 is no signal.

use std::ffi::OsString;

use serde_json::Value;
use tollgate_core::run::agent_stats::Usage;

use super::{
    Adapter, Ask, Call, FieldUse, Guard, Login, Pending, PreviousUsage, WorkerEvent, names_a_limit, number, text,
};

pub(super) static ADAPTER: Adapter = Adapter {
    name: "gemini",
    program: Some("gemini"),
    bridged: false,
    variables: &["GEMINI_*", "GOOGLE_*"],
    home: &[".gemini/"],
    login: Some(Login { in_place: &["oauth_creds.json", "mcp-oauth-tokens.json"], replaced: None, databases: &[] }),
    guard: Guard {
        own: &["--approval-mode", "auto_edit"],
        off: &["--approval-mode", "yolo"],
        set: &[("GEMINI_SANDBOX", "false")],
        flags: &["--approval-mode", "--yolo", "-y"],
        folder: &["--include-directories={}"],
    },
    call,
    wants,
    says: &["message", "result"],
    read,
    forces_schema: false,
    adds: &[],
    spent,
};

/// The tools that leave a file changed.
const WRITES: [&str; 2] = ["write_file", "replace"];

fn call(ask: &Ask<'_>) -> Call {
    let mut args: Vec<OsString> = ["--output-format", "stream-json", "--skip-trust"].map(OsString::from).to_vec();
    args.extend(ask.guard(&ADAPTER.guard));
    if let Some(model) = ask.model {
        args.extend(ask.unless_given(&["--model", "-m"], model));
    }
    if let Some(session) = ask.session {
        args.extend(["--resume".into(), session.into()]);
    }
    args.extend_from_slice(ask.args);
    Call { args, set: Vec::new(), stdin: ask.prompt.to_owned() }
}

fn wants(key: &str) -> FieldUse {
    match key {
        "stats" => FieldUse::Whole,
        "type" | "session_id" | "model" | "role" | "content" | "tool_name" | "tool_id" | "parameters" | "file_path"
        | "command" | "status" | "error" | "message" | "delta" => FieldUse::Value,
        _ => FieldUse::Nothing,
    }
}

fn read(line: &Value, pending: &mut Pending, events: &mut Vec<WorkerEvent>) {
    match text(line, &["type"]) {
        Some("init") => {
            events.extend(text(line, &["session_id"]).map(WorkerEvent::session));
            events.extend(text(line, &["model"]).map(WorkerEvent::model));
        }
        Some("message") if text(line, &["role"]) == Some("assistant") => {
            events.extend(pending.answers(""));
            let is_piece = line.get("delta") == Some(&Value::Bool(true));
            let said = if is_piece { WorkerEvent::piece } else { WorkerEvent::said };
            events.extend(text(line, &["content"]).map(said));
        }
        Some("tool_use") => {
            events.extend(pending.answers(""));
            let tool = text(line, &["tool_name"]).unwrap_or("a tool");
            let path = text(line, &["parameters", "file_path"]);
            pending.begin(text(line, &["tool_id"]).unwrap_or_default(), tool, path);
            events.push(WorkerEvent::tool(tool, path.or(text(line, &["parameters", "command"]))));
        }
        Some("tool_result") => {
            pending.answered();
            tool_result(line, pending, events);
        }
        Some("error") => events.extend(text(line, &["message"]).map(WorkerEvent::trouble)),
        Some("result") => {
            events.extend(line.get("stats").cloned().map(WorkerEvent::Usage));
            if text(line, &["status"]) != Some("success") {
                let what = text(line, &["error", "message"]).unwrap_or("it ended with an error").to_owned();
                if names_a_limit(&what) {
                    events.push(WorkerEvent::Quota { said: what.clone(), resets_ms: None });
                }
                events.push(WorkerEvent::Failed { what, status: None });
            }
        }
        _ => {}
    }
}

fn tool_result(line: &Value, pending: &mut Pending, events: &mut Vec<WorkerEvent>) {
    let id = text(line, &["tool_id"]).unwrap_or_default();
    if text(line, &["status"]) == Some("success") {
        let used = pending.get(id).filter(|used| WRITES.contains(&used.tool.as_str()));
        events.extend(used.and_then(|used| used.path.clone()).map(WorkerEvent::File));
        return;
    }
    let kind = text(line, &["error", "type"]).unwrap_or_default();
    let why = text(line, &["error", "message"]).unwrap_or_default().to_lowercase();
    if kind == "tool_not_registered" || kind.contains("policy") || why.contains("denied") {
        events.extend(pending.deny(id, "a tool", None));
    }
}

fn spent(raw: &Value, _: PreviousUsage<'_>) -> Usage {
    Usage {
        input_tokens: number(raw, &["input_tokens"]),
        cached_tokens: number(raw, &["cached"]),
        output_tokens: number(raw, &["output_tokens"]),
        cost_nano_usd: None,
    }
}
