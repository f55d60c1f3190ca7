//! Recorded transcripts in, worker events and accounts out.

use std::path::Path;

use tollgate_core::protocol::model::Budget;
use tollgate_core::run::AgentStats;
use tollgate_core::run::agent_stats::Usage;

use super::tally::is_session;
use super::*;

pub(super) fn transcript(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/workers/agent/transcripts");
    std::fs::read_to_string(folder.join(format!("{name}.jsonl"))).unwrap()
}

/// The events of a transcript, a line each, and what is left of them in the end.
fn shown(name: &str, goes_on: Option<&AgentStats>, clean: bool) -> (String, AgentStats) {
    let adapter = adapter(name.split('-').next().unwrap()).unwrap();
    let mut account = Tally::new(adapter, goes_on);
    let mut text = format!("== {name}\n");
    for line in transcript(name).lines() {
        for event in account.read(line.as_bytes()) {
            text += &format!("{event:?}\n");
            account.take(event);
        }
    }
    let (told, failure) = account.end(clean);
    let Usage { input_tokens, cached_tokens, output_tokens, cost_nano_usd } = told.usage;
    text +=
        &format!("-- in {input_tokens:?}, cached {cached_tokens:?}, out {output_tokens:?}, cost {cost_nano_usd:?}\n");
    text += &format!("-- denied {:?}, quota {:?}\n-- {failure:?}\n\n", told.denied, told.quota);
    (text, told)
}

/// Every transcript of an adapter: name, and whether the program exited with 0.
fn all(adapter: &str, others: &[(&str, bool)]) -> String {
    let (mut text, told) = shown(&format!("{adapter}-writes"), None, true);
    text += &shown(&format!("{adapter}-resumed"), Some(&told), true).0;
    for (name, clean) in others {
        text += &shown(&format!("{adapter}-{name}"), None, *clean).0;
    }
    text
}

#[test]
fn claude_is_understood() {
    let others = [
        ("denied", true),
        ("outside", true),
        ("background", true),
        ("api-error", false),
        ("rate-limit", false),
        ("quota", false),
    ];
    insta::assert_snapshot!("claude", all("claude", &others));
}

#[test]
fn codex_is_understood() {
    insta::assert_snapshot!("codex", all("codex", &[("denied", true), ("api-error", false), ("quota", false)]));
}

#[test]
fn gemini_is_understood() {
    insta::assert_snapshot!("gemini", all("gemini", &[("denied", true), ("api-error", false), ("quota", false)]));
}

#[test]
fn opencode_is_understood() {
    insta::assert_snapshot!("opencode", all("opencode", &[("denied", true), ("api-error", false)]));
}

#[test]
fn qwen_is_understood() {
    insta::assert_snapshot!("qwen", all("qwen", &[("denied", true), ("api-error", false)]));
}

#[test]
fn copilot_is_understood() {
    insta::assert_snapshot!(
        "copilot",
        all("copilot", &[("denied", true), ("api-error", false), ("rate-limit", false)])
    );
}

#[test]
fn agents_of_the_agent_client_protocol_are_understood() {
    let others = [("denied", true), ("api-error", false), ("rate-limit", false), ("gone", false)];
    let mut text = all("acp", &others);
    for name in ["acp-gemini", "acp-opencode", "acp-qwen"] {
        text += &shown(name, None, true).0;
    }
    insta::assert_snapshot!("acp", text);
}

#[test]
fn what_a_resumed_session_used_is_unknown_without_the_account_before_it() {
    let lost = AgentStats { raw: None, ..AgentStats::default() };
    let usage = |name: &str| shown(name, Some(&lost), true).1.usage;
    assert_eq!(usage("codex-resumed"), Usage::default());
    let claude = usage("claude-resumed");
    assert_eq!((claude.output_tokens, claude.cost_nano_usd), (Some(30), None), "its tokens are of the call");
    // An account of another session says nothing of this one.
    let other = AgentStats { session: Some("another".into()), ..shown("claude-writes", None, true).1 };
    assert_eq!(shown("claude-resumed", Some(&other), true).1.usage.cost_nano_usd, None);
    let zero = serde_json::json!({"tokens": {"input": 1, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}, "cost": 0});
    assert_eq!((opencode::ADAPTER.spent)(&zero, PreviousUsage::Fresh).cost_nano_usd, None, "no price is no free lunch");
}

/// A task that was left in the background ends behind the first account, and the agent goes on.
#[test]
fn what_is_used_behind_an_account_counts_before_the_next_one() {
    let usage =
        r#""usage":{"input_tokens":60,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5}"#;
    let result = format!(r#"{{"type":"result","subtype":"success","total_cost_usd":0.5,{usage},"result":"x"}}"#);
    let answer = format!(r#"{{"type":"assistant","message":{{"id":"m","content":[],{usage}}}}}"#);
    let allowed = Budget { tokens: Some(100), ..Budget::default() };
    let mut account = Tally::new(&claude::ADAPTER, None);
    let silent = r#"{"type":"result","subtype":"success","total_cost_usd":0.7,"result":"x"}"#.to_owned();
    let over = [answer.replace("\"m\"", "\"l\""), result.clone(), answer, result.clone()].map(|line| {
        account.line(line.as_bytes());
        account.is_over(&allowed)
    });
    assert_eq!(over, [false, false, true, true]);
    let used = account.end(true).0.usage;
    assert_eq!((used.tokens().whole(), used.cost_nano_usd), (Some(130), Some(500_000_000)));
    // What one of them does not tell is unknown, whatever the other told.
    for lines in [[&result, &silent], [&silent, &result]] {
        let mut account = Tally::new(&claude::ADAPTER, None);
        lines.iter().for_each(|line| account.line(line.as_bytes()));
        let (used, cost) = (account.end(true).0.usage, if lines[1] == &silent { 700_000_000 } else { 500_000_000 });
        assert_eq!((used.input_tokens, used.output_tokens, used.cost_nano_usd), (None, None, Some(cost)));
    }
}

/// What an agent tells of its usage is not to be trusted to be a number: no sum gets less by it, and nothing is counted as zero.
#[test]
fn what_is_no_amount_is_unknown_and_takes_nothing_away() {
    let told = |adapter, lines: &[String]| {
        let mut account = Tally::new(adapter, None);
        lines.iter().for_each(|line| account.line(line.as_bytes()));
        account.end(true).0.usage
    };
    let claude = |input: &str, output: &str, cost: &str| {
        let usage = format!(
            "{{\"input_tokens\":{input},\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":{output}}}"
        );
        told(
            &claude::ADAPTER,
            &[format!(
                "{{\"type\":\"result\",\"subtype\":\"success\",\"total_cost_usd\":{cost},\"usage\":{usage},\"result\":\"x\"}}"
            )],
        )
    };
    let parts = |usage: Usage| (usage.input_tokens, usage.output_tokens, usage.cost_nano_usd);
    assert_eq!(parts(claude("5", "7", "0.5")), (Some(5), Some(7), Some(500_000_000)));
    for (tokens, dollars) in [
        ("-5", "-0.5"),
        ("1e308", "1e308"),
        ("\"5\"", "\"0.5\""),
        ("18446744073709551615", "18446744073709551615"),
        ("99999999999999999999", "1e7"),
        ("null", "null"),
        ("[5]", "{}"),
        ("true", "true"),
        ("0.5", "-1e-9"),
        // No JSON: the whole line says nothing.
        ("NaN", "NaN"),
        ("1e400", "Infinity"),
    ] {
        assert_eq!(parts(claude(tokens, tokens, dollars)), (None, None, None), "{tokens} {dollars}");
    }
    assert_eq!(parts(claude("5", "-7", "0.5")), (Some(5), None, Some(500_000_000)), "each for itself");
    let step = |input: &str, cost: &str| {
        format!(
            "{{\"type\":\"step_finish\",\"part\":{{\"tokens\":{{\"input\":{input},\"output\":1,\"reasoning\":0,\"cache\":{{\"read\":0,\"write\":0}}}},\"cost\":{cost}}}}}"
        )
    };
    let steps = |steps: &[(&str, &str)]| {
        let lines: Vec<String> = steps.iter().map(|(input, cost)| step(input, cost)).collect();
        parts(told(&opencode::ADAPTER, &lines))
    };
    assert_eq!(steps(&[("100", "0.05"), ("100", "0.05")]), (Some(200), Some(2), Some(100_000_000)));
    for (input, cost) in [("-50", "-0.05"), ("\"50\"", "\"0.05\""), ("1e308", "1e308"), ("0.5", "-0.0001")] {
        assert_eq!(steps(&[("100", "0.05"), (input, cost)]), (None, Some(2), None), "{input} {cost}");
        assert_eq!(steps(&[(input, cost), ("100", "0.05")]), (None, Some(2), None), "{input} {cost}");
        assert_eq!(steps(&[("100", "0.05"), (input, cost), ("100", "0.05")]), (None, Some(3), None), "{input} {cost}");
    }
}

/// Success in an envelope, exit 0: neither hides an error.
#[test]
fn an_error_counts_whatever_the_program_exits_with() {
    for adapter in ADAPTERS {
        let name = format!("{}-api-error", adapter.name);
        for clean in [true, false] {
            let mut account = Tally::new(adapter, None);
            transcript(&name).lines().for_each(|line| account.line(line.as_bytes()));
            let failure = account.end(clean).1.unwrap();
            assert_eq!(failure.code, "agent", "{name}");
            assert!(failure.reason.contains("scripted failure"), "{}", failure.reason);
        }
    }
}

#[test]
fn a_limit_is_known_by_the_words_for_it() {
    for what in [
        "You've hit your usage limit.",
        "exceeded retry limit, last status: 429 Too Many Requests",
        "Error: 429",
        "RESOURCE_EXHAUSTED",
        "Rate limit reached for requests",
    ] {
        assert!(names_a_limit(what), "{what}");
    }
    for what in ["zebra failure", "request 4290 failed", "line a429", "the limit of the context is reached", ""] {
        assert!(!names_a_limit(what), "{what}");
    }
}

/// A warning about a limit that was let pass is no failure while the program ends well.
#[test]
fn a_limit_fails_an_attempt_only_when_the_agent_failed() {
    let line = br#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":5}}"#;
    let account = || {
        let mut account = Tally::new(&claude::ADAPTER, None);
        account.line(line);
        account
    };
    assert_eq!(account().end(true).1, None);
    let (told, failure) = account().end(false);
    assert_eq!((told.quota.unwrap().resets_ms, failure.unwrap().code), (Some(5000), "quota"));
    let allowed = br#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":5}}"#;
    let mut account = Tally::new(&claude::ADAPTER, None);
    account.line(allowed);
    assert_eq!(account.end(false).0.quota, None);
}

fn words(call: &Call) -> String {
    call.args.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_command_lines_are_those_that_were_recorded() {
    let mut text = String::new();
    for adapter in ADAPTERS {
        let bare = Ask {
            program: Path::new("/bin/agent"),
            prompt: "Do it.",
            model: None,
            session: None,
            schema: None,
            args: &[],
            held: false,
            out: None,
        };
        let args = ["--flag", "value"].map(OsString::from);
        let out = Some(Path::new("/run/out"));
        let full = Ask { model: Some("m"), session: Some("s-1"), schema: Some("{}"), args: &args, out, ..bare };
        for ask in [bare, Ask { held: true, ..bare }, full] {
            let call = (adapter.call)(&ask);
            assert_eq!(call.stdin, "Do it.");
            text += &format!("{} {}\n", adapter.program.unwrap_or("tollgate"), words(&call));
        }
    }
    insta::assert_snapshot!("calls", text);
}

#[test]
fn what_the_configuration_says_goes_over_the_adapter() {
    for held in [false, true] {
        let call = |adapter: &Adapter, args: &[&str]| {
            let args: Vec<OsString> = args.iter().map(OsString::from).collect();
            let (program, model) = (Path::new("x"), Some("m"));
            let ask = Ask { program, prompt: "", model, session: None, schema: None, args: &args, held, out: None };
            words(&(adapter.call)(&ask))
        };
        let claude = call(&claude::ADAPTER, &["--permission-mode=plan", "--model", "n"]);
        assert!(claude.matches("--permission-mode").count() == 1 && !claude.contains("--model m"), "{claude}");
        let codex = call(&codex::ADAPTER, &["-c", "sandbox_mode = \"read-only\""]);
        assert_eq!(codex.matches("sandbox_mode").count(), 1, "{codex}");
        let gemini = call(&gemini::ADAPTER, &["--approval-mode", "plan"]);
        assert_eq!(gemini.matches("--approval-mode").count(), 1, "{gemini}");
        let opencode = call(&opencode::ADAPTER, &["--auto", "-m", "n"]);
        assert!(opencode.matches("--auto").count() == 1 && !opencode.contains("--model"), "{opencode}");
        let copilot = call(&copilot::ADAPTER, &["--allow-all-tools"]);
        assert_eq!(copilot.matches("--allow").count(), 1, "{copilot}");
        let acp = call(&acp::ADAPTER, &["--permit", "edits", "--", "--permit"]);
        assert_eq!(acp, "worker-acp --permit edits --model m -- x --permit");
    }
}

/// What an adapter does not say that it wants is not there when it reads.
#[test]
fn every_adapter_wants_what_it_reads() {
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/workers/agent/transcripts")).unwrap()
    {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(name) = name.strip_suffix(".jsonl") else { continue };
        let adapter = adapter(name.split('-').next().unwrap()).unwrap();
        let (mut account, mut pending) = (Tally::new(adapter, None), Pending::default());
        for line in transcript(name).lines() {
            let mut events = Vec::new();
            if let Ok(whole) = serde_json::from_str(line) {
                (adapter.read)(&whole, &mut pending, &mut events);
            }
            assert_eq!(account.read(line.as_bytes()), events, "{name}: {line}");
        }
    }
    for adapter in ADAPTERS {
        let file = format!("src/workers/agent/{}.rs", adapter.name);
        let source = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        let read = source[source.find("fn read(").unwrap()..].split("\nfn spent(").next().unwrap().to_owned();
        for way in read.split(", &[\"").skip(1) {
            for key in way.split_once(']').unwrap().0.split(['"', ',', ' ']).filter(|key| !key.is_empty()) {
                assert_ne!((adapter.wants)(key), FieldUse::Nothing, "{}: {key}", adapter.name);
            }
        }
    }
}

/// What an agent prints may come from whoever wrote the repository.
#[test]
fn hostile_lines_do_no_harm() {
    for id in ["", "-s", "--dangerously-skip-permissions", "a b", "a/../b", "a\n", &"a".repeat(200)] {
        assert!(!is_session(id), "{id}");
    }
    let deep = format!("{}1{}", "{\"type\":".repeat(5000), "}".repeat(5000));
    let huge = format!("{{\"type\":\"turn.completed\",\"usage\":{{\"x\":\"{}\"}}}}", "y".repeat(100_000));
    for adapter in ADAPTERS {
        let mut account = Tally::new(adapter, None);
        for line in
            ["", "{", "[]", "null", "{\"type\":3}", "{\"type\":\"result\"}", "{\"type\":\"error\"}", &deep, &huge]
        {
            account.line(line.as_bytes());
        }
        for number in 0..1000 {
            account.take(WorkerEvent::Denied { tool: "x".repeat(10_000), path: Some(number.to_string()) });
            account.take(WorkerEvent::Trouble(format!("{number}\n{}", "x".repeat(10_000))));
            account.read(format!("{{\"type\":\"tool_use\",\"tool_id\":\"{number}\",\"tool_name\":\"x\"}}").as_bytes());
        }
        assert!(account.pending.tools.len() <= PENDING_MAX);
        let told = account.end(true).0;
        assert!(serde_json::to_string(&told).unwrap().len() < 50_000);
        assert!(told.raw.is_none_or(|raw| raw.len() < 10_000));
    }
}
