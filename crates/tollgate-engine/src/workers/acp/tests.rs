//! Conversations, message by message, and one with a program.

use super::conversation::{Conversation, Step};
use super::*;

fn request() -> AcpRequest {
    AcpRequest { cwd: "/repo".into(), prompt: "Do it.".to_owned(), ..AcpRequest::default() }
}

/// What is sent, and what is printed or ends it, as one text a line.
fn shown(steps: &[Step]) -> Vec<String> {
    let one = |step: &Step| match step {
        Step::Send(message) => {
            format!("-> {}", message.get("method").or(message.get("result")).unwrap_or(&message["error"]))
        }
        Step::Print(line) => format!("{line}"),
        Step::End(answered) => format!("end {answered}"),
    };
    steps.iter().map(one).collect()
}

fn ok(id: u64, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn update(update: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s-1", "update": update}})
}

fn chunk(text: &str) -> Value {
    update(json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}))
}

/// A conversation that has come to its question.
fn asked(request: AcpRequest, opened: Value) -> Conversation {
    let mut conversation = Conversation::new(request);
    assert_eq!(shown(&conversation.begin()), [r#"-> "initialize""#]);
    let can = json!({"loadSession": true, "sessionCapabilities": {}});
    let steps = conversation.take(ok(
        1,
        json!({"protocolVersion": 1, "agentCapabilities": can, "agentInfo": {"name": "a", "version": "2"}}),
    ));
    assert_eq!(steps.len(), 1);
    let steps = conversation.take(ok(2, opened));
    assert!(matches!(&steps[0], Step::Print(line) if line["type"] == "session"), "{steps:?}");
    conversation
}

#[test]
fn a_question_is_answered_by_the_last_message() {
    let mut conversation = asked(request(), json!({"sessionId": "s-1"}));
    conversation.take(chunk("I look first."));
    conversation.take(update(json!({"sessionUpdate": "tool_call", "toolCallId": "1", "title": "look"})));
    for piece in ["I am ", "done."] {
        assert_eq!(
            conversation.take(chunk(piece)),
            [Step::Print(chunk(piece))],
            "what it says is handed on as it came"
        );
    }
    let mut others = chunk(" Or not.");
    others["params"]["sessionId"] = json!("s-2");
    assert_eq!(conversation.take(others), []);
    let steps = conversation.take(ok(3, json!({"stopReason": "end_turn", "usage": {"inputTokens": 3}})));
    let Step::Print(line) = &steps[0] else { panic!("{steps:?}") };
    assert_eq!((&line["result"], &line["usage"]["inputTokens"]), (&json!("I am done."), &json!(3)));
    assert_eq!(steps[1], Step::End(true));
}

#[test]
fn an_end_that_is_no_answer_is_none() {
    for stop in ["refusal", "max_tokens", "max_turn_requests", "cancelled"] {
        let mut conversation = asked(request(), json!({"sessionId": "s-1"}));
        assert_eq!(conversation.take(ok(3, json!({"stopReason": stop}))).pop(), Some(Step::End(false)), "{stop}");
    }
    let mut conversation = asked(request(), json!({"sessionId": "s-1"}));
    let error = json!({"jsonrpc": "2.0", "id": 3, "error": {"code": -32603, "message": "Internal error", "data": {"details": "no quota"}}});
    let said = shown(&conversation.take(error));
    assert!(said[0].contains("Internal error: no quota (before it answered)") && said[1] == "end false", "{said:?}");
}

#[test]
fn a_session_is_taken_up_and_what_it_repeats_is_not_said_again() {
    let mut conversation = Conversation::new(AcpRequest { session: Some("s-1".to_owned()), ..request() });
    conversation.begin();
    let hello = |can: Value| ok(1, json!({"protocolVersion": 1, "agentCapabilities": can}));
    assert_eq!(shown(&conversation.take(hello(json!({"loadSession": true})))), [r#"-> "session/load""#]);
    assert!(conversation.take(chunk("an old report")).is_empty());
    let steps = conversation.take(ok(2, Value::Null));
    assert_eq!(shown(&steps)[1], r#"-> "session/prompt""#);
    conversation.take(chunk("a new one"));
    let steps = conversation.take(ok(3, json!({"stopReason": "end_turn"})));
    assert!(matches!(&steps[0], Step::Print(line) if line["result"] == "a new one"), "{steps:?}");

    let resumption = || {
        let mut conversation = Conversation::new(AcpRequest { session: Some("s-1".to_owned()), ..request() });
        conversation.begin();
        conversation
    };
    assert_eq!(
        shown(&resumption().take(hello(json!({"sessionCapabilities": {"resume": {}}})))),
        [r#"-> "session/resume""#]
    );
    assert!(shown(&resumption().take(hello(json!({}))))[0].contains("it cannot go on with a session"));
    let mut conversation = resumption();
    conversation.take(hello(json!({"loadSession": true})));
    let unknown = json!({"jsonrpc": "2.0", "id": 2, "error": {"code": -32602, "message": "no such session"}});
    assert!(shown(&conversation.take(unknown))[0].contains("no such session"));
}

#[test]
fn model_and_mode_are_set_in_the_way_the_agent_offers_or_refused() {
    let both = || AcpRequest { model: Some("m".to_owned()), mode: Some("code".to_owned()), ..request() };
    let options = json!({"sessionId": "s-1", "configOptions": [{"id": "x", "category": "model"}, {"id": "y", "category": "mode"}]});
    let mut conversation = asked(both(), options);
    assert_eq!(shown(&conversation.take(ok(3, Value::Null))), [r#"-> "session/set_config_option""#]);
    assert_eq!(shown(&conversation.take(ok(4, Value::Null))), [r#"-> "session/prompt""#]);
    let mut conversation = asked(
        both(),
        json!({"sessionId": "s-1", "models": {"currentModelId": "n"}, "modes": {"currentModeId": "ask"}}),
    );
    assert_eq!(shown(&conversation.take(ok(3, Value::Null))), [r#"-> "session/set_model""#]);
    let mut conversation = Conversation::new(both());
    conversation.begin();
    conversation.take(ok(1, json!({"protocolVersion": 1})));
    let said = shown(&conversation.take(ok(2, json!({"sessionId": "s-1"}))));
    assert!(said[0].contains("leave `mode` out"), "{said:?}");
}

#[test]
fn what_the_agent_asks_is_answered() {
    let mut conversation = asked(request(), json!({"sessionId": "s-1"}));
    let ask = json!({"jsonrpc": "2.0", "id": "x", "method": "session/request_permission", "params": {
        "toolCall": {"kind": "execute", "title": "rm -rf /"}, "options": [{"optionId": "no", "kind": "reject_once"}]}});
    let steps = conversation.take(ask);
    assert!(
        matches!(&steps[0], Step::Send(answer) if answer["id"] == "x" && answer["result"]["outcome"]["optionId"] == "no")
    );
    let denied = json!({"type": "permission", "tool": "execute", "about": "rm -rf /", "allowed": false});
    assert_eq!(steps[1], Step::Print(denied));
    for method in ["fs/write_text_file", "fs/read_text_file", "terminal/create", "craft/drainMidTurnQueue"] {
        let steps = conversation.take(json!({"jsonrpc": "2.0", "id": 0, "method": method, "params": {}}));
        assert!(matches!(&steps[..], [Step::Send(answer)] if answer["error"]["code"] == -32601), "{method}");
    }
}

#[test]
fn nonsense_does_no_harm() {
    let mut conversation = Conversation::new(request());
    conversation.begin();
    for message in [
        json!(null),
        json!([]),
        json!({"id": 1}),
        json!({"method": 3}),
        json!({"id": "1", "result": {}}),
        json!({"id": 9, "result": {}}),
    ] {
        let steps = conversation.take(message);
        assert!(steps.is_empty() || matches!(steps.last(), Some(Step::End(false))), "{steps:?}");
    }
    let mut conversation = Conversation::new(request());
    conversation.begin();
    assert!(shown(&conversation.take(ok(1, json!({"protocolVersion": 9}))))[0].contains("it speaks version 9"));
}

fn with_program(script: &str) -> (bool, String) {
    let folder = crate::testing::folder("acp");
    let path = folder.join("agent.sh");
    std::fs::write(&path, script).unwrap();
    let mut out = Vec::new();
    let request = AcpRequest { cwd: folder.to_path_buf(), ..request() };
    let answered = converse(Path::new("sh"), &[path.into()], request, &mut out);
    (answered, String::from_utf8(out).unwrap())
}

#[test]
fn a_program_is_spoken_with() {
    let script = r#"
echo 'Welcome.'
read a; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}'
read a; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-1"}}'
read a; echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'"$(pwd | wc -l | tr -d ' ')"' done"}}}}'
echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'
read a
"#;
    let (answered, said) = with_program(script);
    assert!(answered && said.lines().count() == 3 && said.contains(r#""result":"1 done""#), "{said}");
}

/// An answer that is not heard would be waited for until the attempt's time is over.
#[test]
fn a_byte_that_is_no_text_takes_no_message_with_it() {
    let script = r#"
read a; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}'
read a; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-1"}}'
read a; printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"caf\351"}}}}\n'
printf '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","x":"\377"}}\n'
read a
"#;
    let (answered, said) = with_program(script);
    assert!(answered && said.contains("caf\u{fffd}"), "{said}");
    let (answered, said) = with_program("read a; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{'\nread a");
    assert!(!answered && said.contains("a message of the agent cannot be read"), "{said}");
}

/// What an agent runs while it works would be its client, and have it say whatever it likes.
#[test]
fn what_an_agent_starts_does_not_speak_to_it() {
    let script = r#"
read a; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}'
read a; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-1"}}'
read a; said=nobody
for at in 0 1; do sh -c 'echo forged > /proc/'$$'/fd/'$at 2>/dev/null && said="somebody at $at"; done
echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'"$said"'"}}}}'
echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'
read a
"#;
    let (answered, said) = with_program(script);
    assert!(answered && said.contains(r#""result":"nobody""#), "{said}");
}

#[test]
fn a_program_that_goes_away_or_says_too_much_is_named() {
    let (answered, said) = with_program("exit 3");
    assert!(!answered && said.contains("went away before it said what it can do"), "{said}");
    let (answered, said) = with_program("read a; head -c 9000000 /dev/zero | tr '\\0' x");
    assert!(!answered && said.contains("a message is longer than"), "{said}");
    let mut out = Vec::new();
    assert!(!converse(Path::new("/nonexistent/agent"), &[], request(), &mut out));
    assert!(String::from_utf8(out).unwrap().contains("could not be started"));
}
