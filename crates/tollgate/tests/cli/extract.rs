//! Reports found in what agents print.

use crate::world::World;

fn verdict(word: &str) -> String {
    format!(
        "{{\"kind\": \"wr.gate_verdict\", \"version\": 1, \"verdict\": \"{word}\", \"confidence\": \"high\",\n \"rationale\": \"No test shows the second criterion.\"}}"
    )
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// What Claude Code prints with `--output-format stream-json`: a tool's result that holds somebody else's report, a draft, and the end.
fn stream(last: &str) -> String {
    let theirs = quoted(&verdict("uncertain"));
    let draft = quoted(&format!("A first thought:\n\n{}", verdict("approved")));
    format!(
        "{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}}\n\
         {{\"type\":\"user\",\"message\":{{\"content\":[{{\"type\":\"tool_result\",\"content\":{theirs}}}]}}}}\n\
         {{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":{draft}}}]}}}}\n\
         {{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":{}}}\n",
        quoted(&format!("Done.\n\n```json\n{last}\n```\n"))
    )
}

#[test]
fn the_last_report_of_a_transcript_counts() {
    let mut world = World::new();
    world.write("stream.jsonl", stream(&verdict("rejected")));
    world.write("wrong.jsonl", stream(&verdict("perhaps")));
    let cut = stream(&verdict("rejected"));
    world.write("cut.jsonl", &cut[..cut.len() - 60]);
    world.write("chat.md", format!("\u{1b}[1mHere it is\u{1b}[0m:\n\n```json\n{}\n```\n", verdict("approved")));
    world.write("none.md", "I could not do it.\n");
    world.type_in("contract extract --agent claude --contract wr.gate_verdict stream.jsonl");
    world.type_in("contract extract --agent claude --contract wr.gate_verdict wrong.jsonl");
    world.type_in("contract extract --agent claude --contract wr.gate_verdict --reask wrong.jsonl");
    world.type_in("contract extract --agent claude --contract wr.gate_verdict cut.jsonl");
    // Without its name nobody knows whose lines these are.
    world.type_in("contract extract --contract wr.gate_verdict stream.jsonl");
    world.type_in("contract extract --agent clode --contract wr.gate_verdict stream.jsonl");
    world.type_in("contract extract --contract wr.gate_verdict --text chat.md");
    world.type_in("contract extract --contract wr.gate_verdict none.md");
    world.type_in("contract extract --contract wr.gate_verdict missing.md");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn what_the_agent_was_told_is_no_report() {
    let mut world = World::new();
    let told = String::from_utf8(world.run("contract show status-block --instructions", "").stdout).unwrap();
    let report = String::from_utf8(world.run("contract show status-block --example", "").stdout).unwrap();
    let before = report.replace("APPROVED", "REQUEST_CHANGES").replace("the overflow", "an overflow");
    let prompt = format!("Review it.\n\n{told}\nLast time you said:\n\n{before}\n");
    world.write("prompt.md", &prompt);
    world.write("echo.md", format!("> thinking\n\n{prompt}"));
    let last = report.replace("the total overflows", "the sum overflows");
    world.write("both.md", format!("{prompt}\n# Review\n\n{last}"));
    world.type_in("contract extract --contract status-block --prompt prompt.md echo.md");
    world.type_in("contract extract --contract status-block --role reviewer --prompt prompt.md both.md");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn a_unit_is_asked_for_by_name() {
    let mut world = World::new();
    let one = String::from_utf8(world.run("contract show supervisor.worker-report --example", "").stdout).unwrap();
    let one = one.replace("41 passed", "42 passed");
    let two = one.replace("\"unit_id\": \"U-3\"", "\"unit_id\": \"U-4\"").replace("\"PASS\"", "\"BLOCKED\"");
    world.write("two.log", format!("U-3:\n{one}\nU-4:\n{two}\n"));
    world.type_in("contract extract --contract supervisor.worker-report --unit U-3 two.log");
    world.type_in("contract extract --contract supervisor.worker-report --unit U-5 two.log");
    world.write("chat.md", verdict("approved"));
    world.type_in("contract extract --contract wr.gate_verdict --unit U-3 chat.md");
    insta::assert_snapshot!(world.transcript);
    let (lines, exit) = world.json("contract extract --json --contract supervisor.worker-report --unit U-3 two.log");
    assert_eq!((exit, &lines[0]["valid"], &lines[0]["passed"][0]["why"]), (0, &true.into(), &"other_unit".into()));
    assert_eq!(lines[0]["passed"][0]["unit"], "U-4");
    assert_eq!(lines[0]["found"]["text"].as_str().map(str::trim), Some(one.trim()));
}

#[test]
fn programs_get_places_and_what_to_tell_the_agent() {
    let world = World::new();
    world.write("wrong.jsonl", stream(&verdict("perhaps")));
    let (lines, exit) =
        world.json("contract extract --agent claude --json --reask --contract wr.gate_verdict wrong.jsonl");
    let line = &lines[0];
    assert_eq!((exit, &line["valid"], &line["report"]["health"]), (1, &false.into(), &"malformed".into()));
    assert_eq!((&line["found"]["line"], &line["found"]["in_string"]), (&4.into(), &true.into()));
    assert_eq!((&line["earlier"]["line"], &line["earlier"]["report"]["verdict"]), (&3.into(), &"accept".into()));
    let error = line["diagnostics"].as_array().unwrap().iter().find(|one| one["severity"] == "error").unwrap();
    let text = stream(&verdict("perhaps"));
    let wrong: String = text
        .lines()
        .nth(3)
        .unwrap()
        .chars()
        .skip(usize::try_from(error["column"].as_u64().unwrap()).unwrap() - 1)
        .take(9)
        .collect();
    assert_eq!((&error["line"], wrong.as_str()), (&4.into(), "\\\"perhaps"));
    assert!(line["reask"].as_str().unwrap().contains("line 1, column 54"), "{line}");
    let (lines, exit) = world.json("contract extract --json --contract wr.gate_verdict no-such-file");
    assert_eq!(
        (exit, &lines[0]["report"], &lines[0]["found"]),
        (3, &serde_json::Value::Null, &serde_json::Value::Null)
    );
    let output =
        world.run("contract extract --agent claude --contract wr.gate_verdict --text -", &stream(&verdict("rejected")));
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), verdict("rejected"));
}

/// Tools print what they were given: one byte that is no text does not lose the report.
#[test]
fn a_byte_that_is_no_text_loses_no_report() {
    let world = World::new();
    let mut bytes = b"The file says \xff here.\n\n".to_vec();
    bytes.extend(verdict("rejected").into_bytes());
    std::fs::write(world.path("work/odd.txt"), &bytes).unwrap();
    let output = world.run("contract extract --contract wr.gate_verdict odd.txt", "");
    let (said, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("verdict reject"), "{said}{told}");
    assert!(told.contains("line 1: what is not UTF-8"), "{told}");
    std::fs::write(world.path("work/odd.json"), &bytes[14..]).unwrap();
    assert_eq!(world.run("contract check --contract wr.gate_verdict odd.json", "").status.code(), Some(3));
}
