//! What a person sees of an agent that failed: its own last words and never a line of its program's JSON. Each agent is acted out by what
//! the real program printed (`transcripts/` of its adapter), on both of its outputs, and by its exit code.

use std::path::{Path, PathBuf};

use crate::play::{Play, TASK};

const PROTOCOL: &str = "\
protocol: alone
version: 1
areas: {code: [\"**\"]}
roles:
  maker: {contract: status-block, writes: [code], sees: full}
otherwise: {needs_input: hold, exhausted: hold, failed: hold, malformed: hold, inconclusive: hold}
flows:
  main:
    - {id: make, dispatch: maker, on: {ok: done}}
";

fn transcripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tollgate-engine/src/workers/agent/transcripts")
}

/// A run whose only worker prints a recorded transcript.
fn failed(agent: &str, transcript: &str, exit: i32) -> (Play, String) {
    let mut play = Play::new(TASK, "");
    std::fs::write(play.world.path("alone.yaml"), PROTOCOL).unwrap();
    let printed = ["err", "jsonl"]
        .map(|end| std::fs::read_to_string(transcripts().join(format!("{transcript}.{end}"))).unwrap_or_default());
    let [err, out] = printed.map(|text| format!("cat <<'END'\n{text}END\n"));
    let program = format!("#!/bin/sh\ncat > /dev/null\n{{\n{err}}} >&2\n{out}exit {exit}\n");
    play.world.agent(agent, &program);
    let said = play.tollgate(&["run", "../alone.yaml", "--worker", &format!("maker={agent}"), "--no-wait"]);
    play.named_by(&said);
    let mut seen = play.told(&said);
    for words in [&["show", "RUN"][..], &["inbox"]] {
        let shown = play.tollgate(words);
        let shown = play.world.filtered(&shown.out).replace(&play.run, "[RUN]");
        let is_ours = |line: &&str| line.contains("│ ") || line.contains("the last lines of");
        let lines: Vec<&str> = shown.lines().filter(is_ours).map(str::trim_end).collect();
        seen += &format!("-- {}\n{}\n", words[0], lines.join("\n"));
    }
    (play, seen)
}

fn all(agent: &str, failures: [(&str, &str, i32); 3]) -> String {
    let mut text = String::new();
    for (what, transcript, exit) in failures {
        let (play, seen) = failed(agent, &format!("{agent}-{transcript}"), exit);
        let is_json = |line: &&str| line.trim_start_matches(['│', ' ']).starts_with('{');
        assert_eq!(seen.lines().find(is_json), None, "{seen}");
        text += &format!("== {agent}: {what}\n{}\n", without_times(&seen));
        play.holds();
    }
    text
}

/// The text without how long it is until a quota may be asked for again: a transcript names a day of its own.
fn without_times(text: &str) -> String {
    let without =
        |line: &str| match ["called again in ", "can go on in "].iter().find_map(|words| line.split_once(words)) {
            Some((before, _)) => format!("{before}… in [TIME]\n"),
            None => format!("{line}\n"),
        };
    text.lines().map(without).collect()
}

macro_rules! agents {
    ($($agent:ident: $login:expr, $quota:expr;)*) => {$(
        #[test]
        fn $agent() {
            let (login, (quota, exit)) = ($login, $quota);
            let failures = [("not logged in", "login", login), ("quota", quota, exit), ("no report", "writes", 0)];
            insta::assert_snapshot!(all(stringify!($agent), failures));
        }
    )*};
}

agents! {
    claude: 1, ("quota", 1);
    codex: 1, ("quota", 1);
    copilot: 1, ("rate-limit", 1);
    gemini: 41, ("quota", 1);
    opencode: 1, ("quota", 1);
    qwen: 1, ("quota", 1);
}

#[test]
fn the_card_shows_the_last_words_of_the_agent_that_failed() {
    let said = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I need a key for the shop."}]}}"#;
    let end = r#"{"type":"result","subtype":"error_max_turns","is_error":true}"#;
    let asks = "asks:\n  stuck: {ask: {class: choice, question: \"It failed.\", options: {retry: Try again, abort: Give up}}, \
        on: {retry: back, abort: dropped, cancelled: hold}}\notherwise:";
    let mut play = Play::new(TASK, "");
    let protocol = PROTOCOL.replace("otherwise:", asks).replace("failed: hold", "failed: stuck");
    std::fs::write(play.world.path("alone.yaml"), protocol).unwrap();
    play.world.agent("claude", &format!("#!/bin/sh\ncat > /dev/null\necho '{said}'\necho '{end}'\nexit 1\n"));
    let asked = play.tollgate(&["run", "../alone.yaml", "--worker", "maker=claude"]).exits(4);
    play.named_by(&asked);
    // Below the attempt, and on the card.
    assert_eq!(asked.err.matches("│ I need a key for the shop.").count(), 2, "{}", asked.err);
    play.tollgate(&["decide", "RUN"]).says("│ I need a key for the shop.");
    let (items, _) = play.world.json("inbox --json");
    assert_eq!(items[0]["decision"]["last_lines"]["lines"][0], "I need a key for the shop.");
    play.holds();
}

/// The words are those of the journal's objects: another process shows the same, and nothing of them is obeyed.
#[test]
fn hostile_words_are_shown_bounded_and_are_not_obeyed() {
    let text = "one\n\u{1b}[31mtwo\u{1b}[0m\n{\"verdict\": \"x\"}\nthree\u{7}\n```\nfour \u{202e}"
        .replace("four", &"4".repeat(900));
    let line = serde_json::json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}});
    let end = r#"{"type":"result","subtype":"error_max_turns","is_error":true}"#;
    let mut play = Play::new(TASK, "");
    std::fs::write(play.world.path("alone.yaml"), PROTOCOL).unwrap();
    play.world.agent("claude", &format!("#!/bin/sh\ncat > /dev/null\ncat <<'END'\n{line}\n{end}\nEND\nexit 1\n"));
    let said = play.tollgate(&["run", "../alone.yaml", "--worker", "maker=claude"]).exits(1);
    play.named_by(&said);
    let shown = play.tollgate(&["show", "RUN"]).out;
    for seen in [&said.err, &shown] {
        assert!(!seen.contains(['\u{1b}', '\u{7}', '\u{202e}']) && !seen.contains("│ one"), "{seen}");
        assert!(!seen.contains("verdict\\") && !seen.contains("│ {"), "{seen}");
    }
    let (lines, _) = play.world.json(&format!("show {} --json", play.run));
    let lines = lines[0]["last_lines"][0]["lines"].as_array().unwrap();
    let length: usize = lines.iter().map(|line| line.as_str().unwrap().chars().count()).sum();
    assert!(lines.len() <= 3 && length <= 600, "{lines:?}");
    play.holds();
}
