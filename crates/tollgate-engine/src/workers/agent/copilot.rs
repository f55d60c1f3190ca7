//! GitHub Copilot: `copilot --output-format json`.
//!
//! Its lines say nothing of tokens or money, and name the session only at the end.

use std::ffi::OsString;

use serde_json::Value;
use tollgate_core::run::agent_stats::Usage;

use super::{Adapter, Ask, Call, FieldUse, Guard, Pending, PreviousUsage, WorkerEvent, items, number, text};

pub(super) static ADAPTER: Adapter = Adapter {
    name: "copilot",
    program: Some("copilot"),
    bridged: false,
    variables: &["COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST"],
    home: &[".copilot/", ".config/github-copilot"],
    login: None,
    // One word: it takes any number of values.
    guard: Guard {
        own: &["--allow-tool=write"],
        off: &["--allow-all"],
        set: &[],
        flags: &["--allow-tool", "--allow-all-tools", "--allow-all", "--yolo"],
        folder: &["--add-dir={}"],
    },
    call,
    wants,
    says: &["assistant.message", "assistant.message_delta"],
    read,
    forces_schema: false,
    adds: &[],
    spent,
};

fn call(ask: &Ask<'_>) -> Call {
    let mut args: Vec<OsString> = ["--output-format", "json", "--no-auto-update"].map(OsString::from).to_vec();
    args.extend(ask.guard(&ADAPTER.guard));
    if let Some(model) = ask.model {
        args.extend(ask.unless_given(&["--model"], model));
    }
    if let Some(session) = ask.session {
        args.push(format!("--resume={session}").into());
    }
    args.extend_from_slice(ask.args);
    Call { args, set: Vec::new(), stdin: ask.prompt.to_owned() }
}

fn wants(key: &str) -> FieldUse {
    match key {
        "data" | "type" | "agentId" | "parentToolCallId" | "deltaContent" | "sessionId" | "toolCallId" | "model"
        | "content" | "toolName" | "arguments" | "path" | "command" | "fileEdits" | "error" | "code"
        | "errorMessage" | "message" | "statusCode" | "errorType" => FieldUse::Value,
        _ => FieldUse::Nothing,
    }
}

fn read(line: &Value, pending: &mut Pending, events: &mut Vec<WorkerEvent>) {
    let Some(data) = line.get("data") else {
        if text(line, &["type"]) == Some("result") {
            events.extend(text(line, &["sessionId"]).map(WorkerEvent::session));
        }
        return;
    };
    let id = text(data, &["toolCallId"]).unwrap_or_default();
    // An agent that this one has started has a task of its own.
    let own = line.get("agentId").is_none_or(Value::is_null) && data.get("parentToolCallId").is_none_or(Value::is_null);
    match text(line, &["type"]) {
        Some("assistant.turn_start") => events.push(WorkerEvent::Turn),
        Some("assistant.message") => {
            events.extend(text(data, &["model"]).map(WorkerEvent::model));
            events.extend(text(data, &["content"]).filter(|said| own && !said.is_empty()).map(WorkerEvent::said));
        }
        Some("assistant.message_delta") if own => {
            events.extend(text(data, &["deltaContent"]).map(WorkerEvent::piece));
        }
        Some("tool.execution_start") => {
            let tool = text(data, &["toolName"]).unwrap_or("a tool");
            let path = text(data, &["arguments", "path"]);
            pending.begin(id, tool, path);
            events.push(WorkerEvent::tool(tool, path.or(text(data, &["arguments", "command"]))));
        }
        Some("tool.execution_complete") => {
            let files = items(data, &["fileEdits"]).filter_map(|edit| text(edit, &["path"]));
            events.extend(files.map(|path| WorkerEvent::File(path.to_owned())));
            if text(data, &["error", "code"]) == Some("denied") {
                events.extend(pending.deny(id, "a tool", None));
            }
        }
        Some("model.call_failure") => events.extend(text(data, &["errorMessage"]).map(WorkerEvent::trouble)),
        Some("session.error") => {
            let what = text(data, &["message"]).unwrap_or("it ended with an error").to_owned();
            let status = number(data, &["statusCode"]);
            let kind = text(data, &["errorType"]).unwrap_or_default();
            if status == Some(429) || kind.contains("rate_limit") || kind.contains("quota") {
                events.push(WorkerEvent::Quota { said: what.clone(), resets_ms: None });
            }
            events.push(WorkerEvent::Failed { what, status });
        }
        _ => {}
    }
}

fn spent(_: &Value, _: PreviousUsage<'_>) -> Usage {
    Usage::default()
}
