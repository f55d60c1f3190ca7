//! Qwen Code: `qwen --output-format stream-json`.
//!
//! Its lines have the shape of Claude Code's. Its `usage` is of the session, also of what came before a resume, and of calls that it shows
//! nothing of. A tool that its mode does not allow is not offered, and not a word is said when the model asks for it all the same.

use std::ffi::OsString;

use serde_json::Value;
use tollgate_core::run::agent_stats::Usage;

use super::{Adapter, Ask, Call, FieldUse, Guard, Pending, PreviousUsage, WorkerEvent, claude, since, text};

pub(super) static ADAPTER: Adapter = Adapter {
    name: "qwen",
    program: Some("qwen"),
    bridged: false,
    variables: &["QWEN_*", "OPENAI_*", "DASHSCOPE_*", "BAILIAN_*", "MODELSCOPE_*"],
    home: &[".qwen/"],
    login: None,
    guard: Guard {
        own: &["--approval-mode", "auto-edit"],
        off: &["--approval-mode", "yolo"],
        set: &[("QWEN_SANDBOX", "false")],
        flags: &["--approval-mode", "--yolo", "-y"],
        folder: &["--include-directories={}"],
    },
    call,
    wants,
    says: &["assistant", "result", "stream_event"],
    read,
    forces_schema: false,
    adds: &[],
    spent,
};

fn call(ask: &Ask<'_>) -> Call {
    let mut args: Vec<OsString> = ["--output-format", "stream-json"].map(OsString::from).to_vec();
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
    if key == "qwen_code_version" { FieldUse::Value } else { claude::wants(key) }
}

fn read(line: &Value, pending: &mut Pending, events: &mut Vec<WorkerEvent>) {
    if let Some(message) = claude::answer(line) {
        // Words and tools of one answer come as messages of their own.
        events.extend(pending.answers(""));
        events.extend(message.get("usage").map(|_| WorkerEvent::Step(spent(message, PreviousUsage::Fresh))));
    }
    if text(line, &["type"]) == Some("user") {
        pending.answered();
    }
    claude::said(line, pending, events);
    if text(line, &["type"]) == Some("system") {
        events.extend(text(line, &["qwen_code_version"]).map(WorkerEvent::version));
    }
}

fn spent(raw: &Value, before: PreviousUsage<'_>) -> Usage {
    let of = |key: &str| since(raw, before, &["usage", key]);
    Usage {
        input_tokens: of("input_tokens"),
        cached_tokens: of("cache_read_input_tokens"),
        output_tokens: of("output_tokens"),
        cost_nano_usd: None,
    }
}
