//! Which report of a transcript counts, through the binary: markers, what is opaque, what comes last, and text after it.

use crate::handoff::{extracted, shown, verdict};
use crate::world::World;

const BEGIN: &str = "TOLLGATE-REPORT-BEGIN att_3 0123456789abcdef";
const END: &str = "TOLLGATE-REPORT-END att_3 0123456789abcdef";

#[test]
fn the_markers_of_the_prompt_say_which_report_counts() {
    let world = World::new();
    world.write("prompt", format!("Review it. Print the report between `{BEGIN}` and `{END}`.\n"));
    let extract = |text: &str| extracted(&world, "wr.gate_verdict --prompt prompt", text);
    let (rejected, approved) = (verdict("rejected"), verdict("approved"));
    let marked = |report: &str| format!("{BEGIN}\n{report}\n{END}\n");
    assert_eq!(extract(&format!("A draft:\n{approved}\n\n{}Goodbye.\n", marked(&rejected))), "0 ok reject");
    assert_eq!(extract(&format!("{}{approved}\n", marked(&rejected))), "0 ok reject");
    assert_eq!(extract(&format!("{}{BEGIN}\n{approved}\n", marked(&rejected))), "1 malformed none TG0208@5");
    assert_eq!(extract(&marked(&approved)), "0 ok accept");
    assert_eq!(extract(&format!("{}Goodbye.\n", marked(&approved))), "1 malformed none TG0258@4");
    let (lines, _) = world.json("contract extract --json --contract wr.gate_verdict --prompt prompt it");
    assert_eq!(lines[0]["trailing"], serde_json::json!({"line": 4, "column": 1}));
}

#[test]
fn text_after_a_report_is_refused_beside_an_acceptance_alone() {
    let world = World::new();
    let extract = |text: &str| extracted(&world, "wr.gate_verdict", text);
    for after in ["Goodbye.", "On second thought I cannot approve this.", "Verworfen.", "{\"a\": 1}"] {
        assert_eq!(extract(&format!("{}\n\n{after}\n", verdict("rejected"))), "0 ok reject", "{after}");
        assert_eq!(extract(&format!("{}\n\n{after}\n", verdict("approved"))), "1 malformed none TG0258@3", "{after}");
    }
    assert_eq!(extract(&format!("My verdict:\n```json\n{}\n```\n", verdict("approved"))), "0 ok accept");
    let approval = shown(&world, "decree.review-approval --example").replace("All 4", "All 5");
    let rejection = shown(&world, "decree.review-rejection --example");
    let extract = |text: &str| extracted(&world, "decree.review-approval", text);
    assert_eq!(extract(&approval), "0 ok accept");
    assert_eq!(extract(&format!("{approval}\n{rejection}")), "1 malformed none TG0258@16");
    assert_eq!(extract(&format!("{rejection}\n{approval}")), "0 ok accept");
}

#[test]
fn a_call_that_failed_reports_nothing() {
    let world = World::new();
    let claude = |text: &str| extracted(&world, "wr.gate_verdict --agent claude", text);
    let codex = |text: &str| extracted(&world, "wr.gate_verdict --agent codex", text);
    let said = serde_json::Value::from(verdict("approved")).to_string();
    let assistant = format!(r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":{said}}}]}}}}"#);
    let message = format!(r#"{{"type":"item.completed","item":{{"type":"agent_message","text":{said}}}}}"#);
    let failed = r#"{"type":"turn.failed","error":{"message":"stream disconnected"}}"#;
    assert_eq!(
        claude(&format!(r#"{{"type":"result","subtype":"error_max_turns","is_error":true,"result":{said}}}"#)),
        "1 malformed none TG0257@1"
    );
    let ended = format!("{assistant}\n{}\n", r#"{"type":"result","subtype":"error_max_turns","is_error":true}"#);
    assert_eq!(claude(&ended), "1 malformed none TG0257@2");
    assert_eq!(codex(&format!("{message}\n{failed}\n")), "1 malformed none TG0257@2");
    assert_eq!(codex(&format!("{message}\n{failed}\n{message}\n")), "0 ok accept", "it was called again");
    let otherwise = r#"{"type":"result","subtype":"error_max_turns","is_error":false}"#;
    assert_eq!(claude(&format!("{assistant}\n{otherwise}\n")), "1 malformed none TG0257@2");
    let otherwise = r#"{"type":"error","message":"stream disconnected"}"#;
    assert_eq!(codex(&format!("{message}\n{otherwise}\n")), "1 malformed none TG0257@2");
    assert_eq!(extracted(&world, "wr.gate_verdict", &said), "0 ok accept", "JSON as a string of JSON");
}

/// Whoever looks for JSON overlooks what is almost JSON: the draft before it must not count in its place.
#[test]
fn a_last_report_that_is_broken_is_not_overlooked() {
    let world = World::new();
    let extract = |text: &str| extracted(&world, "wr.gate_verdict", text);
    let (approved, rejected) = (verdict("approved"), verdict("rejected"));
    let pretty = rejected.replace("{\"", "{\n  \"").replace(", \"", ",\n  \"").replace('}', "\n}");
    for last in [
        rejected.replace('"', "'"),
        pretty.replace('"', "'"),
        pretty.replacen('{', "{ // the last word", 1),
        pretty.replace("  \"", "  ").replace("\":", ":"),
        "{\"verdict\": \"rejected\", \"confidence\": \"high\", \"rationale\": \"x\"}".to_owned(),
        rejected[..60].to_owned(),
    ] {
        let told = extract(&format!("{approved}\n\n```json\n{last}\n```\n"));
        assert!(told.starts_with("1 malformed none TG02"), "{told}\n{last}");
        let (lines, _) = world.json("contract extract --json --contract wr.gate_verdict it");
        assert_eq!(lines[0]["earlier"]["report"]["verdict"], "accept", "it is shown\n{last}");
    }
}

#[test]
fn quotes_comments_lists_and_other_code_are_opaque() {
    let world = World::new();
    let extract = |text: &str| extracted(&world, "wr.gate_verdict", text);
    let (rejected, approved) = (verdict("rejected"), verdict("approved"));
    for block in [
        format!("The one before me said:\n\n> {approved}\n"),
        format!("```python\nexpected = {approved}\n```\n"),
        format!("```sh\ncat > gate.json <<'END'\n{approved}\nEND\n```\n"),
        format!("````md\n```json\n{approved}\n```\n````\n"),
        format!("<!--\n{approved}\n-->\n"),
        format!("- {approved}\n"),
        format!("An approval would have been `{approved}`.\n"),
    ] {
        assert_eq!(extract(&format!("{block}\n{rejected}\n")), "0 ok reject", "{block}");
        assert_eq!(extract(&format!("{rejected}\n\n{block}")), "0 ok reject", "{block}");
        assert!(extract(&block).starts_with("1 malformed none TG0201"), "{block}");
    }
    for fence in ["```", "```json", "~~~~ JSON", "```jsonc", "```js", "```text"] {
        let end: String = fence.chars().take_while(|c| matches!(c, '`' | '~')).collect();
        assert_eq!(extract(&format!("{fence}\n{rejected}\n{end}\n")), "0 ok reject", "{fence}");
    }
}
