//! A scripted model on loopback: real agents run end to end against it, without a network or a key.
//!
//! It speaks the Messages of Anthropic (Claude Code), the Responses (Codex) and the Chat Completions (OpenCode) of OpenAI, and the
//! `generateContent` of Gemini. The step is chosen by how many results of tools a request holds, so that it keeps no state.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

/// The largest request that is read.
const REQUEST_BYTES_MAX: usize = 16 * 1024 * 1024;
/// What every call costs: tokens in, tokens out.
const USED: (u64, u64) = (120, 30);

/// One answer of the model.
#[derive(Debug, Clone)]
pub enum Step {
    /// Use a tool with these arguments.
    Tool(&'static str, Value),
    /// Say this and end.
    Say(String),
    /// Refuse: the status, headers and the body.
    Refuse(u16, Vec<(&'static str, String)>, Value),
    /// Take the question and never answer it.
    Hang,
}

/// What is said in one of the shapes.
#[derive(Debug, Clone, Copy)]
enum Words<'a> {
    Tool(&'a str, &'a Value),
    Text(&'a str),
}

/// What the model is asked.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// How many results of tools the request holds.
    pub results: usize,
    /// Its body.
    pub body: &'a str,
}

/// A model that answers by a script until it is dropped.
#[derive(Debug)]
pub struct Model {
    port: u16,
    shared: Arc<Shared>,
}

type Answers = Box<dyn Fn(Asked<'_>) -> Step + Send + Sync>;

struct Shared {
    answers: Answers,
    closed: AtomicBool,
    calls: AtomicUsize,
    /// What was asked, for a test that looks.
    asked: Mutex<Vec<String>>,
}

impl Model {
    /// Starts one; the last step is said again when there are no more.
    pub fn start(steps: Vec<Step>) -> std::io::Result<Self> {
        let last = steps.last().cloned().unwrap_or(Step::Say(String::new()));
        Self::answering(move |asked| steps.get(asked.results).cloned().unwrap_or_else(|| last.clone()))
    }

    /// Starts one that answers as it likes.
    pub fn answering(answers: impl Fn(Asked<'_>) -> Step + Send + Sync + 'static) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            answers: Box::new(answers),
            closed: AtomicBool::new(false),
            calls: AtomicUsize::new(0),
            asked: Mutex::default(),
        });
        let served = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if served.closed.load(Ordering::SeqCst) {
                    return;
                }
                let served = Arc::clone(&served);
                std::thread::spawn(move || serve(stream, &served));
            }
        });
        Ok(Self { port, shared })
    }

    /// Where it listens.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// How often it was asked with tools at hand.
    pub fn calls(&self) -> usize {
        self.shared.calls.load(Ordering::SeqCst)
    }

    /// The bodies of those requests.
    pub fn asked(&self) -> Vec<String> {
        self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("calls", &self.calls).finish_non_exhaustive()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::SeqCst);
        // The listener wakes up to see it.
        TcpStream::connect(("127.0.0.1", self.port)).ok();
    }
}

fn serve(stream: TcpStream, shared: &Shared) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut first, mut line, mut length) = (String::new(), String::new(), 0_usize);
    reader.read_line(&mut first).ok()?;
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let header = line.trim().to_ascii_lowercase();
        match header.split_once(':') {
            Some(("content-length", value)) => length = value.trim().parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length.min(REQUEST_BYTES_MAX)];
    reader.read_exact(&mut body).ok()?;
    let path = first.split(' ').nth(1)?.split('?').next()?.to_owned();
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let Some(Answer { status, headers, kind, body }) = answer(&path, &request, shared) else {
        // Until the other side has enough of it, or the model is gone.
        while !shared.closed.load(Ordering::SeqCst) {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        return None;
    };
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "HTTP/1.1 {status} scripted\r\ncontent-type: {kind}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let mut stream = stream;
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body.as_bytes()).ok()
}

/// What is sent back.
struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    kind: &'static str,
    body: String,
}

impl Answer {
    fn well(kind: &'static str, body: String) -> Self {
        Self { status: 200, headers: Vec::new(), kind, body }
    }
}

const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

/// The answer to a request; none: it hangs.
fn answer(path: &str, request: &Value, shared: &Shared) -> Option<Answer> {
    let streams = request["stream"] == json!(true) || path.contains(":stream");
    let speak: fn(Words<'_>, &Value) -> Vec<(String, Value)> = match path {
        _ if path.ends_with("/messages") => messages,
        _ if path.ends_with("/responses") => responses,
        _ if path.ends_with("/chat/completions") => chat,
        _ if path.contains("enerateContent") => gemini,
        _ => {
            let other = json!({"ok": true, "input_tokens": 10, "totalTokens": 10, "data": [], "models": []});
            return Some(Answer::well(JSON, other.to_string()));
        }
    };
    let step = if request["tools"].as_array().is_some_and(|tools| !tools.is_empty()) {
        shared.calls.fetch_add(1, Ordering::SeqCst);
        let body = request.to_string();
        let step = (shared.answers)(Asked { results: results(request), body: &body });
        shared.asked.lock().unwrap_or_else(PoisonError::into_inner).push(body);
        step
    } else {
        Step::Say("a title".to_owned())
    };
    let words = match &step {
        Step::Hang => return None,
        Step::Refuse(status, headers, body) => {
            return Some(Answer { status: *status, headers: headers.clone(), kind: JSON, body: body.to_string() });
        }
        Step::Tool(name, input) => Words::Tool(name, input),
        Step::Say(text) => Words::Text(text),
    };
    let events = speak(words, request);
    if !streams {
        let whole = events.last().map(|(_, whole)| whole["whole"].to_string()).unwrap_or_default();
        return Some(Answer::well(JSON, whole));
    }
    let line = |(name, data): &(String, Value)| {
        let name = if name.is_empty() { String::new() } else { format!("event: {name}\n") };
        format!("{name}data: {data}\n\n")
    };
    Some(Answer::well(EVENTS, events.iter().filter(|(name, _)| name != "whole").map(line).collect()))
}

/// How many results of tools a request holds, in any of the shapes.
fn results(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(results).sum(),
        Value::Object(object) => {
            let is = |key: &str, wanted: &str| object.get(key).and_then(Value::as_str) == Some(wanted);
            let own = is("type", "tool_result")
                || is("type", "function_call_output")
                || is("type", "custom_tool_call_output")
                || is("role", "tool")
                || object.contains_key("functionResponse");
            let inner = ["messages", "content", "input", "contents", "parts"].iter().filter_map(|key| object.get(*key));
            usize::from(own) + if own { 0 } else { inner.map(results).sum() }
        }
        _ => 0,
    }
}

fn named(name: &str, data: Value) -> (String, Value) {
    (name.to_owned(), data)
}

fn messages(step: Words<'_>, request: &Value) -> Vec<(String, Value)> {
    let usage = json!({"input_tokens": USED.0, "output_tokens": USED.1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0});
    let (block, start, delta, stop) = match step {
        Words::Text(text) => {
            let delta = json!({"type": "text_delta", "text": text});
            (json!({"type": "text", "text": text}), json!({"type": "text", "text": ""}), delta, "end_turn")
        }
        Words::Tool(name, input) => {
            let id = format!("toolu_{}", results(request));
            let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
            let start = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
            (json!({"type": "tool_use", "id": id, "name": name, "input": input}), start, delta, "tool_use")
        }
    };
    let id = format!("msg_{}", results(request));
    let message = json!({"id": id, "type": "message", "role": "assistant", "model": request["model"], "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage});
    let mut whole = message.clone();
    whole["content"] = json!([block]);
    whole["stop_reason"] = json!(stop);
    vec![
        named("message_start", json!({"type": "message_start", "message": message})),
        named("content_block_start", json!({"type": "content_block_start", "index": 0, "content_block": start})),
        named("content_block_delta", json!({"type": "content_block_delta", "index": 0, "delta": delta})),
        named("content_block_stop", json!({"type": "content_block_stop", "index": 0})),
        named(
            "message_delta",
            json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": USED.1}}),
        ),
        named("message_stop", json!({"type": "message_stop"})),
        named("whole", json!({"whole": whole})),
    ]
}

fn responses(step: Words<'_>, request: &Value) -> Vec<(String, Value)> {
    let item = match step {
        Words::Text(text) => {
            json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]})
        }
        Words::Tool(name, input) => {
            json!({"type": "function_call", "id": "fc_1", "call_id": format!("call_{}", results(request)), "name": name, "arguments": input.to_string(), "status": "completed"})
        }
    };
    let usage = json!({"input_tokens": USED.0, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": USED.1, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": USED.0 + USED.1});
    let begun = json!({"id": "resp_1", "object": "response", "created_at": 0, "model": request["model"], "status": "in_progress", "output": []});
    let mut whole = begun.clone();
    whole["status"] = json!("completed");
    whole["output"] = json!([item]);
    whole["usage"] = usage;
    vec![
        named("response.created", json!({"type": "response.created", "response": begun})),
        named(
            "response.output_item.done",
            json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        ),
        named("response.completed", json!({"type": "response.completed", "response": whole})),
        named("whole", json!({"whole": whole})),
    ]
}

fn chat(step: Words<'_>, request: &Value) -> Vec<(String, Value)> {
    let (message, end) = match step {
        Words::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
        Words::Tool(name, input) => {
            let call = json!({"index": 0, "id": format!("call_{}", results(request)), "type": "function", "function": {"name": name, "arguments": input.to_string()}});
            (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
        }
    };
    let usage = json!({"prompt_tokens": USED.0, "completion_tokens": USED.1, "total_tokens": USED.0 + USED.1});
    let chunk = |delta: Value, end: Value, usage: Value| {
        named(
            "",
            json!({"id": "chat_1", "object": "chat.completion.chunk", "created": 0, "model": request["model"], "choices": [{"index": 0, "delta": delta, "finish_reason": end}], "usage": usage}),
        )
    };
    let whole = json!({"id": "chat_1", "object": "chat.completion", "created": 0, "model": request["model"], "choices": [{"index": 0, "message": message, "finish_reason": end}], "usage": usage});
    vec![
        chunk(message, Value::Null, Value::Null),
        chunk(json!({}), json!(end), usage),
        named("whole", json!({"whole": whole})),
    ]
}

fn gemini(step: Words<'_>, _: &Value) -> Vec<(String, Value)> {
    let part = match step {
        Words::Text(text) => json!({"text": text}),
        Words::Tool(name, input) => json!({"functionCall": {"name": name, "args": input}}),
    };
    let whole = json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": USED.0, "candidatesTokenCount": USED.1, "totalTokenCount": USED.0 + USED.1}, "modelVersion": "scripted"});
    vec![named("", whole.clone()), named("whole", json!({"whole": whole}))]
}
