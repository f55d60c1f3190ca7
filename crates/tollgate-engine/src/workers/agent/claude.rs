//! Claude Code: `claude -p --output-format stream-json`.
//!
//! What an answer read stands in its lines as it works; what it wrote stands there as it was when it began. It prints a result whenever it comes to rest, again after a task that it had left in the background ended: the `usage` of each is what was used since the one before, its `total_cost_usd` is of the session. An error of the service comes as a result whose subtype is "success".

use std::ffi::OsString;

use serde_json::{Value, json};
use tollgate_core::run::agent_stats::Usage;

use super::{
    Adapter, Ask, Call, FieldUse, Guard, Login, Pending, PreviousUsage, ReplacedLogin, WorkerEvent, at, items,
    nano_usd, number, text,
};

pub(super) static ADAPTER: Adapter = Adapter {
    name: "claude",
    program: Some("claude"),
    bridged: false,
    variables: &["ANTHROPIC_*", "CLAUDE_*", "AWS_*", "DISABLE_AUTOUPDATER", "IS_SANDBOX"],
    home: &[
        ".claude/",
        ".claude.json",
        ".config/claude",
        ".local/share/claude",
        ".local/state/claude",
        "$CLAUDE_CONFIG_DIR",
    ],
    login: Some(Login {
        in_place: &[],
        replaced: Some(ReplacedLogin {
            variable: "CLAUDE_SECURESTORAGE_CONFIG_DIR",
            places: &["$CLAUDE_SECURESTORAGE_CONFIG_DIR", "$CLAUDE_CONFIG_DIR", ".claude/"],
            file: ".credentials.json",
            lock: ".oauth_refresh.lock",
        }),
        databases: &[],
    }),
    guard: Guard {
        own: &["--permission-mode", "acceptEdits"],
        off: &["--permission-mode", "bypassPermissions"],
        // Without it, root is refused.
        set: &[("IS_SANDBOX", "1")],
        flags: &["--permission-mode", "--dangerously-skip-permissions"],
        folder: &["--add-dir={}"],
    },
    call,
    wants,
    says: &["assistant", "result", "stream_event"],
    read,
    forces_schema: true,
    adds: &["usage"],
    spent,
};

const CUT_OFF: &str = "the answer was cut off at its limit of tokens";

fn call(ask: &Ask<'_>) -> Call {
    let mut args: Vec<OsString> = ["-p", "--output-format", "stream-json", "--verbose"].map(OsString::from).to_vec();
    args.extend(ask.guard(&ADAPTER.guard));
    if let Some(model) = ask.model {
        args.extend(ask.unless_given(&["--model"], model));
    }
    if let Some(session) = ask.session {
        args.extend(["--resume".into(), session.into()]);
    }
    if let Some(schema) = ask.schema {
        // It asks the model again where the answer breaks the schema, and says it in words where that does not help: nothing is lost.
        args.extend(ask.unless_given(&["--json-schema"], schema));
    }
    args.extend_from_slice(ask.args);
    Call { args, set: vec![("DISABLE_AUTOUPDATER", "1")], stdin: ask.prompt.to_owned() }
}

pub(super) fn wants(key: &str) -> FieldUse {
    match key {
        "usage" => FieldUse::Whole,
        "type"
        | "subtype"
        | "session_id"
        | "model"
        | "claude_code_version"
        | "rate_limit_info"
        | "status"
        | "rateLimitType"
        | "resetsAt"
        | "is_api_error_message"
        | "isApiErrorMessage"
        | "isSidechain"
        | "structured_output"
        | "structured_result"
        | "stop_reason"
        | "event"
        | "delta"
        | "parent_tool_use_id"
        | "message"
        | "content"
        | "text"
        | "name"
        | "id"
        | "input"
        | "file_path"
        | "command"
        | "tool_result_meta"
        | "permission_decision"
        | "decision"
        | "tool_use_result"
        | "structuredPatch"
        | "filePath"
        | "permission_denials"
        | "tool_name"
        | "tool_use_id"
        | "tool_input"
        | "total_cost_usd"
        | "result"
        | "error"
        | "is_error"
        | "api_error_status" => FieldUse::Value,
        _ => FieldUse::Nothing,
    }
}

fn read(line: &Value, pending: &mut Pending, events: &mut Vec<WorkerEvent>) {
    if let Some(message) = answer(line) {
        // An answer comes in pieces, and a tool may end between two of them.
        events.extend(pending.answers(text(message, &["id"]).unwrap_or_default()));
        events.push(WorkerEvent::Step(Usage { output_tokens: None, ..tokens(message) }));
    }
    said(line, pending, events);
}

/// A message of its own, as far as it came; what an agent says that this one has started is not its own word.
pub(super) fn answer(line: &Value) -> Option<&Value> {
    let by_model = text(line, &["message", "model"]) != Some("<synthetic>") && !is_error(line);
    line.get("message").filter(|_| is_own(line) && by_model && text(line, &["type"]) == Some("assistant"))
}

/// Whether a line is about the task that the agent was given, and not about that of an agent which it has started.
fn is_own(line: &Value) -> bool {
    at(line, &["parent_tool_use_id"]).is_none_or(Value::is_null) && !is_true(line, "isSidechain")
}

/// Whether a message is the program's word for an error of the service. The files of its sessions spell it in another way than its output.
fn is_error(line: &Value) -> bool {
    is_true(line, "is_api_error_message") || is_true(line, "isApiErrorMessage")
}

fn is_true(line: &Value, key: &str) -> bool {
    line.get(key) == Some(&Value::Bool(true))
}

/// The texts of a message, which is one itself or a list.
fn texts(line: &Value) -> impl Iterator<Item = &str> {
    let whole = text(line, &["message", "content"]);
    let is_text = |item: &&Value| text(item, &["type"]) == Some("text");
    let items = items(line, &["message", "content"]).filter(is_text).filter_map(|item| text(item, &["text"]));
    whole.into_iter().chain(items)
}

/// What a line says besides what it used.
pub(super) fn said(line: &Value, pending: &mut Pending, events: &mut Vec<WorkerEvent>) {
    match text(line, &["type"]) {
        Some("system") if text(line, &["subtype"]) == Some("init") => {
            events.extend(text(line, &["session_id"]).map(WorkerEvent::session));
            events.extend(text(line, &["model"]).map(WorkerEvent::model));
            events.extend(text(line, &["claude_code_version"]).map(WorkerEvent::version));
        }
        Some("rate_limit_event") if text(line, &["rate_limit_info", "status"]) == Some("rejected") => {
            let kind = text(line, &["rate_limit_info", "rateLimitType"]).unwrap_or("rate");
            let resets_ms = number(line, &["rate_limit_info", "resetsAt"]).and_then(|at| at.checked_mul(1000));
            events.push(WorkerEvent::Quota { said: format!("the {kind} limit is reached"), resets_ms });
        }
        Some("assistant") => assistant(line, pending, events),
        Some("stream_event") if is_own(line) => match text(line, &["event", "type"]) {
            // It comes between the pieces of one message.
            Some("ping") => events.push(WorkerEvent::piece("")),
            _ if text(line, &["event", "delta", "type"]) == Some("text_delta") => {
                events.extend(text(line, &["event", "delta", "text"]).map(WorkerEvent::piece));
            }
            _ => {}
        },
        Some("user") => {
            let stopped = texts(line).find(|text| text.starts_with("[Request interrupted by user"));
            events.extend(stopped.map(WorkerEvent::trouble));
            tool_results(line, pending, events);
        }
        Some("result") => result(line, pending, events),
        _ => {}
    }
}

fn assistant(line: &Value, pending: &mut Pending, events: &mut Vec<WorkerEvent>) {
    if is_error(line) {
        return events.extend(texts(line).next().map(WorkerEvent::trouble));
    }
    if let Some(message) = answer(line) {
        events.extend(texts(line).map(WorkerEvent::said));
        let is_cut = text(message, &["stop_reason"]) == Some("max_tokens");
        events.extend(is_cut.then(|| WorkerEvent::trouble(CUT_OFF)));
    }
    for item in items(line, &["message", "content"]) {
        if let (Some("tool_use"), Some(tool)) = (text(item, &["type"]), text(item, &["name"])) {
            let path = text(item, &["input", "file_path"]);
            pending.begin(text(item, &["id"]).unwrap_or_default(), tool, path);
            events.push(WorkerEvent::tool(tool, path.or(text(item, &["input", "command"]))));
        }
    }
}

fn tool_results(line: &Value, pending: &mut Pending, events: &mut Vec<WorkerEvent>) {
    for meta in items(line, &["tool_result_meta"]) {
        if text(meta, &["permission_decision", "decision"]) == Some("reject") {
            events.extend(pending.deny(text(meta, &["id"]).unwrap_or_default(), "a tool", None));
        }
    }
    let patched = at(line, &["tool_use_result", "structuredPatch"]).is_some();
    let path = text(line, &["tool_use_result", "filePath"]).filter(|_| patched);
    events.extend(path.map(|path| WorkerEvent::File(path.to_owned())));
}

fn result(line: &Value, pending: &mut Pending, events: &mut Vec<WorkerEvent>) {
    events.extend(text(line, &["session_id"]).map(WorkerEvent::session));
    for denial in items(line, &["permission_denials"]) {
        let tool = text(denial, &["tool_name"]).unwrap_or("a tool");
        let id = text(denial, &["tool_use_id"]).unwrap_or_default();
        events.extend(pending.deny(id, tool, text(denial, &["tool_input", "file_path"])));
    }
    // One that does not tell is told too: what was used since the one before is unknown.
    let raw = json!({"usage": at(line, &["usage"]), "total_cost_usd": at(line, &["total_cost_usd"])});
    events.push(WorkerEvent::Usage(raw));
    let said = text(line, &["result"]).or(text(line, &["error", "message"])).unwrap_or_default();
    let subtype = text(line, &["subtype"]).unwrap_or("success");
    if at(line, &["is_error"]) == Some(&Value::Bool(true)) || subtype != "success" {
        let status = number(line, &["api_error_status"]);
        if status == Some(429) {
            events.push(WorkerEvent::Quota { said: said.to_owned(), resets_ms: None });
        }
        let what = if said.is_empty() { subtype } else { said };
        events.push(WorkerEvent::Failed { what: what.to_owned(), status });
    } else {
        events.push(WorkerEvent::Final(said.to_owned()));
    }
    let is_object = |field: &&str| line.get(*field).is_some_and(Value::is_object);
    events.extend(["structured_output", "structured_result"].into_iter().find(is_object).map(WorkerEvent::Structured));
    if text(line, &["stop_reason"]) == Some("max_tokens") {
        events.push(WorkerEvent::Unfinished(CUT_OFF));
    }
}

fn spent(raw: &Value, before: PreviousUsage<'_>) -> Usage {
    let cost = |raw: &Value| nano_usd(raw, &["total_cost_usd"]);
    let cost_nano_usd = match before {
        PreviousUsage::Fresh => cost(raw),
        PreviousUsage::Resumed(before) => before.and_then(|before| cost(raw)?.checked_sub(cost(before)?)),
    };
    Usage { cost_nano_usd, ..tokens(raw) }
}

/// What a message or a call used, by its `usage`.
fn tokens(raw: &Value) -> Usage {
    let parts = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    let parts = parts.map(|part| number(raw, &["usage", part]));
    Usage {
        input_tokens: parts.iter().copied().try_fold(0_u64, |sum, part| sum.checked_add(part?)),
        cached_tokens: parts[2],
        output_tokens: number(raw, &["usage", "output_tokens"]),
        cost_nano_usd: None,
    }
}
