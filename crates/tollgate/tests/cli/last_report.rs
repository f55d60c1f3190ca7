//! Which report of a transcript counts: what is shown, quoted or called an example is none, and nothing behind the last one is overlooked.

use crate::handoff::{extracted, shown, verdict};
use crate::world::World;

#[test]
fn what_is_called_an_example_is_not_taken_for_the_report() {
    let world = World::new();
    let extract = |text: &str| extracted(&world, "wr.gate_verdict", text);
    let (rejected, approved) = (verdict("rejected"), verdict("approved"));
    for after in [
        format!("If it were mended I would say:\n```json\n{approved}\n```\n"),
        format!("For comparison, an approval would have been `{approved}`.\n"),
    ] {
        assert!(extract(&format!("{rejected}\n\n{after}")).starts_with("1 malformed none TG0201"), "{after}");
    }
    assert_eq!(extract(&format!("My verdict:\n```json\n{approved}\n```\n")), "0 ok accept");
}

#[test]
fn a_call_that_failed_reports_nothing() {
    let world = World::new();
    let extract = |text: &str| extracted(&world, "wr.gate_verdict", text);
    let said = serde_json::Value::from(verdict("approved")).to_string();
    let assistant = format!(r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":{said}}}]}}}}"#);
    let message = format!(r#"{{"type":"item.completed","item":{{"type":"agent_message","text":{said}}}}}"#);
    let failed = r#"{"type":"turn.failed","error":{"message":"stream disconnected"}}"#;
    assert_eq!(
        extract(&format!(r#"{{"type":"result","subtype":"error_max_turns","is_error":true,"result":{said}}}"#)),
        "1 malformed none TG0257@1"
    );
    let ended = format!("{assistant}\n{}\n", r#"{"type":"result","subtype":"error_max_turns","is_error":true}"#);
    assert_eq!(extract(&ended), "1 malformed none TG0257@2");
    assert_eq!(extract(&format!("{message}\n{failed}\n")), "1 malformed none TG0257@2");
    assert_eq!(extract(&format!("{message}\n{failed}\n{message}\n")), "0 ok accept", "it was called again");
    let (lines, _) = world.json("contract extract --json --contract wr.gate_verdict it");
    assert_eq!(lines[0]["report"]["verdict"], "accept");
    for otherwise in [
        r#"{"type":"result","subtype":"error_max_turns","is_error":false}"#,
        r#"{"type":"result","status":"error"}"#,
        r#"{"type":"error","message":"stream disconnected"}"#,
    ] {
        assert_eq!(extract(&format!("{message}\n{otherwise}\n")), "1 malformed none TG0257@2", "{otherwise}");
    }
    for twice in [said.clone(), format!(r#"{{"type":"result","result":{}}}"#, serde_json::Value::from(said.as_str()))] {
        assert_eq!(extract(&twice), "0 ok accept", "{twice}");
    }
}

/// A Markdown report in code, a quote or a list takes back the one before it, or does not: that is not guessed.
#[test]
fn markdown_that_is_shown_behind_a_report_is_not_overlooked() {
    let world = World::new();
    let example = world.run("contract show decree.reviewer-result --example", "").stdout;
    let approval = String::from_utf8(example).unwrap().replace("#34", "#77");
    let rejection = approval.replace("approved", "needs-changes");
    let quoted: String = rejection.lines().map(|line| format!("> {line}\n")).collect();
    let extract = |text: &str| extracted(&world, "decree.reviewer-result", text);
    assert_eq!(extract(&approval), "0 ok accept");
    for shown in [format!("```\n{rejection}```\n"), quoted, format!("- {}", rejection.replace('\n', "\n  "))] {
        let text = format!("{approval}\n## Correction\n\nI withdraw the above:\n\n{shown}\n");
        assert!(extract(&text).starts_with("1 malformed none"), "{text}");
    }
}

#[test]
fn an_example_is_one_in_every_language_and_outside_of_code() {
    let world = World::new();
    let extract = |text: &str| extracted(&world, "wr.gate_verdict", text);
    let (rejected, approved) = (verdict("rejected"), verdict("approved"));
    for after in [
        format!("For example:\n{approved}\n"),
        format!("### Example\n\n```json\n{approved}\n```\n"),
        format!("Wäre es behoben, würde ich sagen:\n\n```json\n{approved}\n```\n"),
        format!("Zum Beispiel:\n{approved}\n"),
        format!("Par exemple : {approved}\n"),
        format!("Por ejemplo:\n```\n{approved}\n```\n"),
        format!("例如：\n```json\n{approved}\n```\n"),
    ] {
        assert!(extract(&format!("{rejected}\n\n{after}")).starts_with("1 malformed none TG0201"), "{after}");
    }
    for before in ["The example works now. My verdict:", "Here is the filled template:", "# The example shop", ""] {
        assert_eq!(extract(&format!("{before}\n```json\n{rejected}\n```\n")), "0 ok reject", "{before}");
    }
}

/// Whoever looks for JSON overlooks what is almost JSON: the draft before it must not count in its place.
#[test]
fn a_last_report_that_cannot_be_read_is_not_overlooked() {
    let world = World::new();
    let extract = |text: &str| extracted(&world, "wr.gate_verdict", text);
    let (approved, rejected) = (verdict("approved"), verdict("rejected"));
    let pretty = rejected.replace("{\"", "{\n  \"").replace(", \"", ",\n  \"").replace('}', "\n}");
    let before = |sign: &str| pretty.lines().map(|line| format!("{sign}{line}\n")).collect::<String>();
    let said = serde_json::Value::from(rejected.as_str());
    for last in [
        rejected.replace('"', "'"),
        pretty.replace('"', "'"),
        pretty.replacen('{', "{ // the last word", 1),
        rejected.replace('"', "“"),
        rejected.replace('"', "&quot;"),
        pretty.replace("  \"", "  ").replace("\":", ":"),
        before("> "),
        before("│ "),
        before("+"),
        format!("{{\"report\": {rejected}}}"),
        format!("{{\"output\": {said}}}"),
        "kind: wr.gate_verdict\nversion: 1\nverdict: rejected\nconfidence: high\n".to_owned(),
        "{\"verdict\": \"rejected\", \"confidence\": \"high\"}".to_owned(),
    ] {
        for text in [
            format!("{approved}\n\nNo:\n\n{last}\n"),
            format!("{approved}\n\n```json\n{last}\n```\n"),
            format!(
                "{{\"type\":\"item.completed\",\"item\":{{\"type\":\"agent_message\",\"text\":{}}}}}\n\
                 {{\"type\":\"item.completed\",\"item\":{{\"type\":\"agent_message\",\"text\":{}}}}}\n",
                serde_json::Value::from(approved.as_str()),
                serde_json::Value::from(last.as_str())
            ),
        ] {
            let told = extract(&text);
            assert!(told.starts_with("1 malformed none TG02"), "{told}\n{text}");
            let (lines, _) = world.json("contract extract --json --contract wr.gate_verdict it");
            assert_eq!(lines[0]["earlier"]["report"]["verdict"], "accept", "it is shown\n{text}");
        }
    }
    // Words about the report, what a tool brings, and what the agent was told are none.
    let told = shown(&world, "wr.gate_verdict --instructions");
    let schema = shown(&world, "wr.gate_verdict --schema");
    let result = format!("{{\"type\":\"user\",\"message\":{{\"content\":{}}}}}", serde_json::Value::from(before("> ")));
    let line = serde_json::Value::from(rejected.as_str());
    let line = format!("{{\"type\":\"item.completed\",\"item\":{{\"type\":\"agent_message\",\"text\":{line}}}}}");
    for text in [
        format!("{rejected}\n\nVerdict: rejected. Confidence: high. The rationale: see above.\n"),
        format!("{rejected}\n\n- verdict: rejected\n- confidence: high\n"),
        format!("{rejected}\n\n{{\"verdict\": \"see above\", \"confidence\": \"high\"}}\n"),
        format!("{rejected}\n\n{told}\n{schema}\n"),
        format!("{line}\n{result}\n"),
    ] {
        assert_eq!(extract(&text), "0 ok reject", "{text}");
    }
}

#[test]
fn what_is_quoted_or_shown_as_code_is_not_taken_for_the_report() {
    let world = World::new();
    let extract = |text: &str| extracted(&world, "wr.gate_verdict", text);
    let (rejected, approved) = (verdict("rejected"), verdict("approved"));
    for after in [
        format!("The one before me said:\n\n> {approved}\n"),
        format!("```python\nexpected = {approved}\n```\n"),
        format!("```sh\ncat > gate.json <<'END'\n{approved}\nEND\n```\n"),
        format!("````md\n```json\n{approved}\n```\n````\n"),
    ] {
        assert!(extract(&format!("{rejected}\n\n{after}")).starts_with("1 malformed none TG0201"), "{after}");
    }
    for fence in ["```", "```json", "~~~~ JSON", "```jsonc", "```js", "```text"] {
        let end: String = fence.chars().take_while(|c| matches!(c, '`' | '~')).collect();
        assert_eq!(extract(&format!("{fence}\n{rejected}\n{end}\n")), "0 ok reject", "{fence}");
    }
}

#[test]
fn a_rejection_behind_an_approval_is_no_approval() {
    let world = World::new();
    let approval = shown(&world, "decree.review-approval --example").replace("All 4", "All 5");
    let rejection = shown(&world, "decree.review-rejection --example");
    let extract = |id: &str, text: &str| extracted(&world, id, text);
    assert_eq!(extract("decree.review-approval", &approval), "0 ok accept");
    assert_eq!(extract("decree.review-approval", &format!("{approval}\n{rejection}")), "1 malformed none TG0256@16");
    let said = |text: &str| {
        let text = serde_json::Value::from(text);
        format!("{{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}}}\n")
    };
    let both = format!("{}{}", said(&approval), said(&rejection));
    assert_eq!(extract("decree.review-approval", &both), "1 malformed none TG0256@2");
    assert_eq!(extract("decree.review-approval", &format!("{rejection}\n{approval}")), "0 ok accept");
    let result = shown(&world, "decree.reviewer-result --example").replace("All four", "All five");
    assert_eq!(extract("decree.reviewer-result", &format!("{result}\n{rejection}")), "1 malformed none TG0256@13");
    let rejects = result.replace("approved", "needs-changes");
    assert_eq!(extract("decree.reviewer-result", &format!("{rejects}\n{rejection}")), "0 ok reject");
    // A sign in the heading hides neither.
    let sign = |text: &str| text.replacen("## R", "## ❌ R", 1);
    let behind = format!("{result}\n{}", sign(&rejects));
    assert_eq!(extract("decree.reviewer-result", &behind), "1 malformed none TG0201@13");
    let behind = format!("{approval}\n{}", sign(&rejection));
    assert_eq!(extract("decree.review-approval", &behind), "1 malformed none TG0256@16");
}
