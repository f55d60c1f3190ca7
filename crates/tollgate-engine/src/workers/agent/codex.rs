//! Codex: `codex exec --json`.
//!
//! Its usage is of the whole thread, also of what came before a resume. A command that its sandbox stopped is not even listed: only
//! the tree shows it. A schema is handed to the model, and the answer is believed.

use std::ffi::OsString;

use serde_json::Value;
use tollgate_core::run::agent_stats::Usage;

use super::{
    Adapter, Ask, Call, FieldUse, Guard, Login, Pending, PreviousUsage, WorkerEvent, items, names_a_limit, since, text,
};

pub(super) static ADAPTER: Adapter = Adapter {
    name: "codex",
    program: Some("codex"),
    bridged: false,
    variables: &["OPENAI_*", "CODEX_*", "AZURE_OPENAI_*"],
    home: &[".codex/", "$CODEX_HOME"],
    login: Some(Login {
        in_place: &["auth.json", ".credentials.json"],
        replaced: None,
        databases: &["CODEX_SQLITE_HOME"],
    }),
    // `exec resume` knows no `--sandbox`; both know the setting.
    guard: Guard {
        own: &["-c", "sandbox_mode=\"workspace-write\""],
        off: &["-c", "sandbox_mode=\"danger-full-access\""],
        set: &[],
        flags: &["sandbox_mode", "--sandbox", "-s", "--dangerously-bypass-approvals-and-sandbox"],
        folder: &["-c", "sandbox_workspace_write.writable_roots=[{json}]"],
    },
    call,
    wants,
    says: &["item.completed"],
    read,
    forces_schema: false,
    adds: &[],
    spent,
};

fn call(ask: &Ask<'_>) -> Call {
    let mut args: Vec<OsString> = vec!["exec".into()];
    args.extend(ask.session.map(|_| "resume".into()));
    args.extend(["--json", "--skip-git-repo-check"].map(OsString::from));
    args.extend(ask.guard(&ADAPTER.guard));
    if let Some(model) = ask.model {
        args.extend(ask.unless_given(&["--model", "-m"], model));
    }
    args.extend_from_slice(ask.args);
    args.extend(ask.session.map(OsString::from));
    args.push("-".into());
    Call { args, set: Vec::new(), stdin: ask.prompt.to_owned() }
}

fn wants(key: &str) -> FieldUse {
    match key {
        "usage" => FieldUse::Whole,
        "type" | "thread_id" | "item" | "command" | "text" | "status" | "changes" | "path" | "tool" | "message"
        | "error" => FieldUse::Value,
        _ => FieldUse::Nothing,
    }
}

fn read(line: &Value, _: &mut Pending, events: &mut Vec<WorkerEvent>) {
    match text(line, &["type"]) {
        Some("thread.started") => events.extend(text(line, &["thread_id"]).map(WorkerEvent::session)),
        Some("item.started") => {
            if let Some(command) = text(line, &["item", "command"]) {
                events.push(WorkerEvent::tool("command", Some(command)));
            }
        }
        Some("item.completed") => item(line, events),
        Some("turn.completed") => events.extend(line.get("usage").cloned().map(WorkerEvent::Usage)),
        // Also said of a connection that is tried again.
        Some("error") => events.extend(text(line, &["message"]).map(WorkerEvent::trouble)),
        Some("turn.failed") => {
            let what = text(line, &["error", "message"]).unwrap_or("the turn failed").to_owned();
            if names_a_limit(&what) {
                events.push(WorkerEvent::Quota { said: what.clone(), resets_ms: None });
            }
            events.push(WorkerEvent::Failed { what, status: None });
        }
        _ => {}
    }
}

fn item(line: &Value, events: &mut Vec<WorkerEvent>) {
    let Some(item) = line.get("item") else { return };
    match text(item, &["type"]) {
        Some("agent_message") => events.extend(text(item, &["text"]).map(WorkerEvent::said)),
        Some("command_execution") if text(item, &["status"]) == Some("declined") => {
            let path = text(item, &["command"]).map(str::to_owned);
            events.push(WorkerEvent::Denied { tool: "command".to_owned(), path });
        }
        Some("file_change") if text(item, &["status"]) == Some("completed") => {
            let paths = items(item, &["changes"]).filter_map(|change| text(change, &["path"]));
            events.extend(paths.map(|path| WorkerEvent::File(path.to_owned())));
        }
        Some("mcp_tool_call") => events.extend(text(item, &["tool"]).map(|tool| WorkerEvent::tool(tool, None))),
        Some("error") => events.extend(text(item, &["message"]).map(WorkerEvent::trouble)),
        _ => {}
    }
}

fn spent(raw: &Value, before: PreviousUsage<'_>) -> Usage {
    let of = |key: &str| since(raw, before, &[key]);
    Usage {
        input_tokens: of("input_tokens"),
        cached_tokens: of("cached_input_tokens"),
        output_tokens: of("output_tokens"),
        cost_nano_usd: None,
    }
}
