//! What agents print, of a size: the lines of each tool, with messages and what tools said between them, and the report last.

use serde_json::Value;

/// What an agent says between two calls of tools, as Markdown.
const SAID: &[&str] = &[
    "I'll look at how the total is computed before I change anything.",
    "The cart sums its lines in `Cart::total`; the rounding happens twice, which explains the cent that is lost.",
    "## What I found\n\n- `src/cart/total.rs` rounds every line\n- `src/cart/tax.rs` rounds the sum again\n\nOne of them has to go. The tests only cover \"whole\" prices.\n",
    "Here is the change:\n\n```rust\nfn total(&self) -> Money {\n    self.lines.iter().map(|line| line.price * line.count).sum()\n}\n```\n\nThe callers stay as they are.\n",
    "All tests pass now. I'll also read the configuration, since `{\"rounding\": \"half-up\"}` is set there.",
    "### Next\n\n1. run the whole suite\n2. update the changelog\n\nThen I am done with this part.",
];

/// What a tool answers: a part of a file, with line numbers.
const TOLD: &str = "     1\tuse crate::money::Money;\n     2\t\n     3\t/// A cart \"as it is\": its lines and what they cost.\n     4\tpub struct Cart {\n     5\t    lines: Vec<Line>,\n     6\t}\n     7\t\n     8\timpl Cart {\n     9\t    /// The sum of all lines.\n    10\t    pub fn total(&self) -> Money {\n    11\t        self.lines.iter().map(Line::total).sum()\n    12\t    }\n    13\t}\n";

/// The lines of a tool, as it writes them. In each, `@` is what is said, as a JSON string, and `%` a number of its own.
struct Tool {
    name: &'static str,
    begin: &'static str,
    /// Of each message.
    said: &'static str,
    /// Between two messages, with what a tool printed.
    between: &'static str,
    /// The last message.
    end: &'static str,
}

const CLAUDE_BEGIN: &str = r#"{"type":"system","subtype":"init","cwd":"/src","session_id":"0b6f5c7e-9d0a-4d53-8d2e-5f1c3a7e9b21","tools":["Bash","Read","Edit"],"model":"claude"}
"#;
const CLAUDE_SAID: &str = r#"{"type":"assistant","message":{"id":"msg_01%","type":"message","role":"assistant","model":"claude","content":[{"type":"text","text":@}],"stop_reason":null,"usage":{"input_tokens":3,"cache_read_input_tokens":14822,"output_tokens":41}},"parent_tool_use_id":null,"session_id":"0b6f5c7e-9d0a-4d53-8d2e-5f1c3a7e9b21","uuid":"5f1c3a7e-9d0a-4d53-8d2e-%"}
"#;
const CLAUDE_BETWEEN: &str = r#"{"type":"assistant","message":{"id":"msg_01%","type":"message","role":"assistant","model":"claude","content":[{"type":"tool_use","id":"toolu_01%","name":"Read","input":{"file_path":"/src/cart.rs","offset":%}}],"stop_reason":null,"usage":{"input_tokens":3,"cache_read_input_tokens":14822,"output_tokens":41}},"parent_tool_use_id":null,"session_id":"0b6f5c7e-9d0a-4d53-8d2e-5f1c3a7e9b21","uuid":"5f1c3a7e-9d0a-4d53-8d2e-%"}
{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_01%","type":"tool_result","content":@}]},"parent_tool_use_id":null,"session_id":"0b6f5c7e-9d0a-4d53-8d2e-5f1c3a7e9b21","uuid":"5f1c3a7e-9d0a-4d53-8d2e-%","tool_use_result":{"type":"text","file":{"filePath":"/src/cart.rs","content":@,"numLines":13,"startLine":1,"totalLines":13}}}
"#;
const GEMINI_BEGIN: &str = r#"{"type":"init","timestamp":"2026-01-31T12:00:00.000Z","session_id":"0b6f5c7e-9d0a-4d53-8d2e-5f1c3a7e9b21","model":"gemini"}
"#;
const GEMINI_BETWEEN: &str = r#"{"type":"tool_use","timestamp":"2026-01-31T12:00:00.000Z","tool_name":"read_file","tool_id":"read-%","parameters":{"path":"src/cart.rs"}}
{"type":"tool_result","timestamp":"2026-01-31T12:00:00.000Z","tool_id":"read-%","status":"success","output":@}
"#;
const GEMINI_SAID: &str = r#"{"type":"message","timestamp":"2026-01-31T12:00:00.000Z","role":"assistant","content":@}
"#;

const TOOLS: &[Tool] = &[
    Tool {
        name: "claude",
        begin: CLAUDE_BEGIN,
        said: CLAUDE_SAID,
        between: CLAUDE_BETWEEN,
        end: r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":81234,"num_turns":41,"result":@,"session_id":"0b6f5c7e-9d0a-4d53-8d2e-5f1c3a7e9b21","total_cost_usd":1.25,"usage":{"input_tokens":12,"output_tokens":2113}}
"#,
    },
    Tool {
        name: "codex",
        begin: "{\"type\":\"thread.started\",\"thread_id\":\"0199-%\"}\n{\"type\":\"turn.started\"}\n",
        said: r#"{"type":"item.completed","item":{"id":"item_%","type":"agent_message","text":@}}
"#,
        between: r#"{"type":"item.started","item":{"id":"item_%","type":"command_execution","command":"bash -lc 'cat src/cart.rs'","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_%","type":"command_execution","command":"bash -lc 'cat src/cart.rs'","aggregated_output":@,"exit_code":0,"status":"completed"}}
"#,
        end: r#"{"type":"item.completed","item":{"id":"item_%","type":"agent_message","text":@}}
{"type":"turn.completed","usage":{"input_tokens":24763,"cached_input_tokens":24448,"output_tokens":122}}
"#,
    },
    Tool { name: "gemini", begin: GEMINI_BEGIN, said: GEMINI_SAID, between: GEMINI_BETWEEN, end: GEMINI_SAID },
    Tool {
        name: "opencode",
        begin: "{\"type\":\"step_start\",\"timestamp\":1767036059338,\"sessionID\":\"ses_494719016ffe85dkDMj0FPRbHK\",\"part\":{\"type\":\"step-start\"}}\n",
        said: r#"{"type":"text","timestamp":1767036061199,"sessionID":"ses_494719016ffe85dkDMj0FPRbHK","part":{"id":"prt_%","sessionID":"ses_494719016ffe85dkDMj0FPRbHK","messageID":"msg_%","type":"text","text":@,"time":{"start":1767036061198,"end":1767036061198}}}
"#,
        between: r#"{"type":"tool_use","timestamp":1767036061199,"sessionID":"ses_494719016ffe85dkDMj0FPRbHK","part":{"id":"prt_%","type":"tool","callID":"call_%","tool":"read","state":{"status":"completed","input":{"filePath":"src/cart.rs"},"output":@,"title":"src/cart.rs","time":{"start":1767036061198,"end":1767036061198}}}}
"#,
        end: r#"{"type":"text","timestamp":1767036061199,"sessionID":"ses_494719016ffe85dkDMj0FPRbHK","part":{"type":"text","text":@}}
{"type":"step_finish","timestamp":1767036061199,"sessionID":"ses_494719016ffe85dkDMj0FPRbHK","part":{"type":"step-finish","reason":"stop"}}
"#,
    },
];

/// What the tool of one agent prints, of about so many bytes.
pub fn of(agent: &str, bytes: usize) -> crate::Outcome<String> {
    let tool =
        TOOLS.iter().find(|tool| tool.name == agent).ok_or_else(|| format!("no lines of `{agent}` are known"))?;
    Ok(tool.prints("Done.", bytes))
}

impl Tool {
    fn prints(&self, last: &str, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + bytes / 64);
        line(&mut text, self.begin, "");
        for said in SAID.iter().cycle() {
            if text.len() >= bytes {
                break;
            }
            line(&mut text, self.said, said);
            line(&mut text, self.between, TOLD);
        }
        line(&mut text, self.end, last);
        text
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn line(text: &mut String, of: &str, said: &str) {
    let number = text.len().to_string();
    *text += &of.replace('%', &number).replace('@', &quoted(said));
}

/// Transcripts that were made to cost more than their size: a name and what is repeated, behind a beginning.
pub const HOSTILE: &[(&str, &str, &str)] = &[
    ("braces", "", "{"),
    ("quotes", "", "\""),
    ("half-keys", "", "{\""),
    ("escapes", "", "\\"),
    ("fences", "", "```\n"),
    ("open-fences", "", "```json\n"),
    ("other-fences", "", "~~~\n````\n"),
    ("half-objects", "", "{\"a\":1,\n"),
    ("nested-objects", "", "{\"a\":"),
    ("half-reports", "", "{\"status\": \"OK\", \"summary\": \n"),
    ("broken-reports", "", "{\"status\": \"OK\", \"summary\": x\n"),
    ("half-reports-in-a-fence", "```json\n", "{\"status\": \"OK\", \"summary\": \n"),
    ("reports", "", "{\"status\": \"OK\", \"summary\": {}, \"artifacts\": {}}\n"),
    ("lists", "", "["),
    ("headings", "", "## x\n"),
    ("report-headings", "", "## Status\ncomplete\n"),
    ("signs", "", "#"),
    ("items", "", "- "),
    ("returns", "", "\r"),
    ("terminal", "", "\u{1b}["),
    ("half-lines", "", "{\"type\":\"result\",\"result\":\""),
    ("empty-lines-of-a-tool", "", "{\"type\":\"text\"}\n"),
    ("words-after-a-report", REPORT, "{\"type\":\"text\",\"part\":{\"type\":\"text\",\"text\":\"status: it is\"}}\n"),
    ("fields-after-a-report", REPORT, "status: 'OK', summary: 'x', \n"),
    ("deltas", "", GEMINI_PIECE_OF_NOTHING),
    (
        "deltas-and-pings",
        "{\"type\":\"message\",\"role\":\"assistant\",\"delta\":true,\"content\":\"a\"}\n",
        "\n{\"type\":\"ping\"}\n",
    ),
    (
        "pings-after-space",
        "{\"type\":\"message\",\"role\":\"assistant\",\"delta\":true,\"content\":\"a\"}\n#SPACE#x\n",
        "{\"type\":\"ping\"}\n",
    ),
];
const REPORT: &str = "{\"status\": \"OK\", \"summary\": {}, \"artifacts\": {}}\n";
const GEMINI_PIECE_OF_NOTHING: &str =
    "{\"type\":\"message\",\"role\":\"assistant\",\"delta\":true,\"content\":\"{\"}\n";

/// A hostile transcript of about so many bytes.
pub fn hostile(begin: &str, again: &str, bytes: usize) -> String {
    let begin = begin.replace("#SPACE#", &"\n".repeat(bytes / 2));
    let times = bytes.saturating_sub(begin.len()) / again.len();
    format!("{begin}{}", again.repeat(times))
}
