//! One question by the Agent Client Protocol, version 1: initialize, open a session, ask, answer what the agent asks meanwhile.
//!
//! Pure: a message in, steps out. What the agent says is printed as it came. Lines of our own have a `type`: `session`, `permission`,
//! `result` and `failed`.

use std::collections::VecDeque;
use std::iter;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::permission::{self, Permission};
use crate::workers::REPORT_BYTES_MAX;

const VERSION: u64 = 1;
/// The JSON-RPC code of a method that is not there.
const NO_METHOD: i64 = -32601;

/// What is asked, of whom, and how.
#[derive(Debug, Clone, Default)]
pub struct AcpRequest {
    /// The folder of the session.
    pub cwd: PathBuf,
    /// The folder in which it hands documents over.
    pub out: Option<PathBuf>,
    /// The question.
    pub prompt: String,
    /// The session to go on with; none: a new one.
    pub session: Option<String>,
    /// The model; none: the agent's own choice.
    pub model: Option<String>,
    /// The mode of the session; none: the agent's own choice.
    pub mode: Option<String>,
    /// What the agent is allowed when it asks.
    pub permission: Permission,
}

/// What to do next.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    Send(Value),
    Print(Value),
    /// It is over; whether the question was answered.
    End(bool),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Initialize,
    Open,
    Resume,
    Set,
    Prompt,
}

/// A conversation under way.
#[derive(Debug)]
pub(super) struct Conversation {
    request: AcpRequest,
    stage: Stage,
    /// The id of the request that waits for its answer.
    asked: u64,
    agent: Value,
    session: String,
    /// What is still to be set before the question is put.
    settings: VecDeque<(&'static str, Value)>,
    /// The last message so far.
    said: String,
}

impl Conversation {
    pub(super) fn new(request: AcpRequest) -> Self {
        Self {
            request,
            stage: Stage::Initialize,
            asked: 0,
            agent: Value::Null,
            session: String::new(),
            settings: VecDeque::new(),
            said: String::new(),
        }
    }

    pub(super) fn begin(&mut self) -> Vec<Step> {
        // No file is served and no terminal kept: an agent that has neither of us uses its own.
        let params = json!({
            "protocolVersion": VERSION,
            "clientCapabilities": {"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false},
            "clientInfo": {"name": "tollgate", "version": env!("CARGO_PKG_VERSION")},
        });
        vec![self.request(Stage::Initialize, "initialize", params)]
    }

    /// Where it is, in words.
    pub(super) fn place(&self) -> &'static str {
        match self.stage {
            Stage::Initialize => "before it said what it can do",
            Stage::Open => "before it opened a session",
            Stage::Resume => "before it took up the session",
            Stage::Set => "while its session was set up",
            Stage::Prompt => "before it answered",
        }
    }

    /// Takes a message of the agent.
    pub(super) fn take(&mut self, message: Value) -> Vec<Step> {
        match (message["method"].as_str(), message.get("id")) {
            (Some(method), Some(id)) => self.answer(method, id, &message["params"]),
            (Some(method), None) => {
                // What a session says while it is taken up is what was said before, and another one is somebody else's.
                let own = message["params"]["sessionId"].as_str().is_none_or(|id| id == self.session);
                if method != "session/update" || (self.stage == Stage::Prompt && own) {
                    self.listen(&message["params"]["update"]);
                    return vec![Step::Print(message)];
                }
                Vec::new()
            }
            (None, Some(id)) if id.as_u64() == Some(self.asked) => match message.get("error") {
                None | Some(Value::Null) => self.went_well(&message["result"]),
                Some(error) => self.went_wrong(error),
            },
            (None, _) => Vec::new(),
        }
    }

    fn request(&mut self, stage: Stage, method: &str, params: Value) -> Step {
        self.stage = stage;
        self.asked += 1;
        Step::Send(json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params}))
    }

    fn answer(&self, method: &str, id: &Value, params: &Value) -> Vec<Step> {
        if method != "session/request_permission" {
            let error = json!({"code": NO_METHOD, "message": format!("`{method}` is not offered")});
            return vec![Step::Send(json!({"jsonrpc": "2.0", "id": id, "error": error}))];
        }
        let answer = {
            let folders: Vec<&Path> =
                iter::once(&self.request.cwd).chain(&self.request.out).map(PathBuf::as_path).collect();
            permission::answer(params, self.request.permission, &folders)
        };
        let line = json!({"type": "permission", "tool": answer.tool, "about": answer.about, "allowed": answer.allowed});
        vec![Step::Send(json!({"jsonrpc": "2.0", "id": id, "result": answer.result})), Step::Print(line)]
    }

    fn listen(&mut self, update: &Value) {
        match update["sessionUpdate"].as_str() {
            Some("agent_message_chunk") => {
                if let Some(text) = update["content"]["text"].as_str()
                    && self.said.len() + text.len() <= REPORT_BYTES_MAX
                {
                    self.said.push_str(text);
                }
            }
            // What was said before a tool was used is not the last message.
            Some("tool_call" | "tool_call_update") => self.said.clear(),
            _ => {}
        }
    }

    fn went_well(&mut self, result: &Value) -> Vec<Step> {
        match self.stage {
            Stage::Initialize => {
                if result["protocolVersion"].as_u64() != Some(VERSION) {
                    return failed(&format!(
                        "it speaks version {} of the protocol, not {VERSION}",
                        result["protocolVersion"]
                    ));
                }
                self.agent = result.clone();
                self.open()
            }
            Stage::Open | Stage::Resume => {
                let session = result["sessionId"].as_str().map(str::to_owned).or_else(|| self.request.session.clone());
                let Some(session) = session else { return failed("it opened a session without a name") };
                let mut steps = vec![Step::Print(json!({
                    "type": "session",
                    "session": session,
                    "agent": self.agent["agentInfo"]["name"],
                    "version": self.agent["agentInfo"]["version"],
                    "model": self.request.model.clone().map_or_else(|| current(result, "model", "models", "currentModelId"), Value::from),
                }))];
                self.session = session;
                let set = [
                    self.request
                        .mode
                        .clone()
                        .map(|mode| self.setting(result, "mode", "modes", ("session/set_mode", "modeId"), &mode)),
                    self.request
                        .model
                        .clone()
                        .map(|model| self.setting(result, "model", "models", ("session/set_model", "modelId"), &model)),
                ];
                for setting in set.into_iter().flatten() {
                    match setting {
                        Ok(setting) => self.settings.push_back(setting),
                        Err(what) => return failed(&what),
                    }
                }
                steps.push(self.next());
                steps
            }
            Stage::Set => vec![self.next()],
            Stage::Prompt => {
                let stop = result["stopReason"].as_str().unwrap_or("nothing");
                let line = json!({"type": "result", "stop": stop, "usage": result["usage"], "meta": result["_meta"], "result": self.said});
                vec![Step::Print(line), Step::End(stop == "end_turn")]
            }
        }
    }

    fn open(&mut self) -> Vec<Step> {
        let params = json!({"cwd": self.request.cwd, "mcpServers": []});
        let Some(session) = self.request.session.clone() else {
            return vec![self.request(Stage::Open, "session/new", params)];
        };
        let can = &self.agent["agentCapabilities"];
        let method = if can["sessionCapabilities"]["resume"].is_object() {
            "session/resume"
        } else if can["loadSession"] == true {
            "session/load"
        } else {
            return failed("it cannot go on with a session");
        };
        let mut params = params;
        params["sessionId"] = json!(session);
        vec![self.request(Stage::Resume, method, params)]
    }

    /// How something of the session is set: as one of its options, or in the way that was before these.
    fn setting(
        &self,
        opened: &Value,
        category: &str,
        before: &str,
        (method, key): (&'static str, &str),
        value: &str,
    ) -> Result<(&'static str, Value), String> {
        let session = &self.session;
        if let Some(option) = option(opened, category) {
            return Ok((
                "session/set_config_option",
                json!({"sessionId": session, "configId": option["id"], "value": value}),
            ));
        }
        if opened[before].is_object() {
            return Ok((method, json!({"sessionId": session, key: value})));
        }
        Err(format!("it does not let its {category} be chosen: leave `{category}` out"))
    }

    fn next(&mut self) -> Step {
        match self.settings.pop_front() {
            Some((method, params)) => self.request(Stage::Set, method, params),
            None => {
                let prompt = json!([{"type": "text", "text": self.request.prompt}]);
                self.request(Stage::Prompt, "session/prompt", json!({"sessionId": self.session, "prompt": prompt}))
            }
        }
    }

    fn went_wrong(&self, error: &Value) -> Vec<Step> {
        let what = error["message"].as_str().unwrap_or("an error without words");
        // The message is often a class of errors, and what it was stands beside it.
        let data = &error["data"];
        let more = data.as_str().or(data["details"].as_str()).or(data["message"].as_str());
        let more = more.map(|more| format!(": {more}")).unwrap_or_default();
        let line = json!({"type": "failed", "what": format!("{what}{more} ({})", self.place()), "code": error["code"], "data": error["data"]});
        vec![Step::Print(line), Step::End(false)]
    }
}

fn option<'v>(opened: &'v Value, category: &str) -> Option<&'v Value> {
    opened["configOptions"].as_array()?.iter().find(|option| option["category"] == category)
}

fn current(opened: &Value, category: &str, before: &str, key: &str) -> Value {
    option(opened, category).map_or_else(|| opened[before][key].clone(), |option| option["currentValue"].clone())
}

fn failed(what: &str) -> Vec<Step> {
    vec![Step::Print(json!({"type": "failed", "what": what})), Step::End(false)]
}
