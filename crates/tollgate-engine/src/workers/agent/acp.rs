//! Any agent of the Agent Client Protocol: `gemini --acp`, `opencode acp`, `copilot --acp`, `qwen --acp`, `claude-agent-acp` and others.
//!
//! Tollgate itself is started and speaks with the agent (see [`crate::workers::acp`]); what it prints is read here: the agent's own messages,
//! and lines about the session, what was asked for and how it ended. What an agent of this protocol can do is its own.

use std::ffi::OsString;

use serde_json::{Value, json};
use tollgate_core::run::agent_stats::Usage;

use super::{Adapter, Ask, Call, FieldUse, Guard, Pending, PreviousUsage, WorkerEvent, items, names_a_limit, text};

pub(super) static ADAPTER: Adapter = Adapter {
    name: "acp",
    program: None,
    bridged: true,
    // Whose keys it needs only its configuration knows.
    variables: &[],
    // Those of the agent behind it, where that is known.
    home: &[],
    login: None,
    guard: Guard { own: &[], off: &["--permit", "all"], set: &[], flags: &["--permit"], folder: &[] },
    call,
    wants,
    says: &["result"],
    read,
    forces_schema: false,
    adds: &[],
    spent,
};

/// Words of ours before a `--` in the arguments; without one, all are the agent's.
fn own(args: &[OsString]) -> (&[OsString], &[OsString]) {
    match args.iter().position(|word| word == "--") {
        Some(end) => (&args[..end], &args[end + 1..]),
        None => (&[], args),
    }
}

fn call(ask: &Ask<'_>) -> Call {
    let (ours, theirs) = own(ask.args);
    let mut args: Vec<OsString> = vec!["worker-acp".into()];
    args.extend_from_slice(ours);
    args.extend(Ask { args: ours, ..*ask }.guard(&ADAPTER.guard));
    if let Some(model) = ask.model {
        args.extend(["--model".into(), model.into()]);
    }
    if let Some(session) = ask.session {
        args.extend(["--session".into(), session.into()]);
    }
    args.extend(["--".into(), ask.program.into()]);
    args.extend_from_slice(theirs);
    Call { args, set: Vec::new(), stdin: ask.prompt.to_owned() }
}

fn wants(key: &str) -> FieldUse {
    match key {
        "usage" | "meta" => FieldUse::Whole,
        "type" | "session" | "model" | "version" | "agent" | "allowed" | "tool" | "about" | "what" | "method"
        | "params" | "update" | "result" | "stop" | "toolCallId" | "locations" | "path" | "sessionUpdate"
        | "content" | "text" | "kind" | "title" | "status" => FieldUse::Value,
        _ => FieldUse::Nothing,
    }
}

fn read(line: &Value, pending: &mut Pending, events: &mut Vec<WorkerEvent>) {
    match text(line, &["type"]) {
        Some("session") => {
            events.extend(text(line, &["session"]).map(WorkerEvent::session));
            events.extend(text(line, &["model"]).map(WorkerEvent::model));
            let version = text(line, &["version"]);
            events.extend(version.map(|version| {
                WorkerEvent::Version([text(line, &["agent"]).unwrap_or_default(), version].join(" ").trim().to_owned())
            }));
        }
        Some("permission") if line["allowed"] == false => {
            let tool = text(line, &["tool"]).unwrap_or("a tool").to_owned();
            events.push(WorkerEvent::Denied { tool, path: text(line, &["about"]).map(str::to_owned) });
        }
        Some("result") => result(line, events),
        Some("failed") => {
            let what = text(line, &["what"]).unwrap_or("it ended with an error").to_owned();
            if names_a_limit(&what) {
                events.push(WorkerEvent::Quota { said: what.clone(), resets_ms: None });
            }
            events.push(WorkerEvent::Failed { what, status: None });
        }
        None if text(line, &["method"]) == Some("session/update") => update(&line["params"]["update"], pending, events),
        _ => {}
    }
}

fn result(line: &Value, events: &mut Vec<WorkerEvent>) {
    let usage = json!({"usage": line["usage"], "meta": line["meta"]});
    events.push(WorkerEvent::Usage(usage));
    let said = text(line, &["result"]).unwrap_or_default();
    match (text(line, &["stop"]), refused(said)) {
        (Some("end_turn"), None) => events.push(WorkerEvent::Final(said.to_owned())),
        (Some("end_turn"), Some(status)) => {
            if status == 429 {
                events.push(WorkerEvent::Quota { said: said.to_owned(), resets_ms: None });
            }
            events.push(WorkerEvent::Failed { what: said.to_owned(), status: Some(status) });
        }
        (stop, _) => {
            let what = format!("it stopped for another reason than that it was done: {}", stop.unwrap_or("none"));
            events.push(WorkerEvent::Failed { what, status: None });
        }
    }
}

/// The status of the service, where a message is nothing but that it refused: the protocol has no word for it, and Copilot ends its turn as ever.
fn refused(said: &str) -> Option<u64> {
    let status = said.strip_prefix("Error: ")?.split(' ').next()?.parse().ok()?;
    (400..600).contains(&status).then_some(status)
}

fn update(update: &Value, pending: &mut Pending, events: &mut Vec<WorkerEvent>) {
    let id = text(update, &["toolCallId"]).unwrap_or_default();
    let path = items(update, &["locations"]).find_map(|location| text(location, &["path"]));
    match text(update, &["sessionUpdate"]) {
        Some("agent_message_chunk") => events.extend(text(update, &["content", "text"]).map(WorkerEvent::piece)),
        Some("tool_call" | "tool_call_update") => {
            if pending.get(id).is_none() {
                let kind = text(update, &["kind"]).unwrap_or("tool");
                pending.begin(id, kind, path);
                events.push(WorkerEvent::tool(kind, path.or(text(update, &["title"]))));
            }
            let Some(used) = pending.get(id) else { return };
            used.path = used.path.take().or_else(|| path.map(str::to_owned));
            let wrote = matches!(used.tool.as_str(), "edit" | "delete" | "move");
            if wrote && text(update, &["status"]) == Some("completed") {
                events.extend(used.path.clone().map(WorkerEvent::File));
            }
        }
        _ => {}
    }
}

/// What it used is kept as it was told, and unknown: one agent counts the turn, another its last call, and nothing says which.
fn spent(_: &Value, _: PreviousUsage<'_>) -> Usage {
    Usage::default()
}
