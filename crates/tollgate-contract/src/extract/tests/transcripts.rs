//! Tables: transcript in, what counts out.

use super::*;
use crate::markdown;

#[test]
fn json_is_found_wherever_it_stands() {
    let report = verdict("rejected", WHY);
    let pretty = report.replace(", ", ",\n  ");
    for text in [
        report.clone(),
        format!("\u{feff}{report}\n"),
        format!("Here it is:\n\n```json\n{pretty}\n```\n\nThat is all.\n"),
        format!("I looked at {{this}} and {{\"that\": 1}}, then: {report} and so on"),
        format!("~~~~\n{pretty}\n~~~~"),
        format!("{{\"stray {report}"),
        format!("\u{1b}[32m{report}\u{1b}[0m").replace("verdict\":", "verdict\"\u{1b}[1m:"),
        format!("{{\"event\": \"start\"}}\n{report}\n{{\"event\": \"end\"}}\n"),
        format!("[{report}]"),
        report.replace(", ", ",\r\n"),
    ] {
        let extraction = found("wr.gate_verdict", &text, &Context::default());
        assert!(shown(&extraction).starts_with("ok reject @"), "{text}\n{extraction:#?}");
        let after = |one: &Diagnostic| one.code == Code::TEXT_AFTER;
        assert!(extraction.read.diagnostics().iter().all(after) && extraction.passed.is_empty(), "{text}");
    }
}

#[test]
fn the_last_one_counts_and_one_before_it_is_never_used() {
    let (first, last) = (verdict("approved", WHY), verdict("rejected", WHY));
    check("wr.gate_verdict", &format!("{first}\nno:\n{last}\n"), "ok reject @3:1 earlier@1:1");
    check("wr.gate_verdict", &format!("{last}\nagain:\n{last}\n"), "ok reject @3:1 repeated@1:1");
    let wrong = last.replace("rejected", "perhaps");
    check(
        "wr.gate_verdict",
        &format!("{first}\n{wrong}\n"),
        "malformed none @2:1 earlier@1:1 valid before@1:1 TG0245@2:54",
    );
    for broken in [
        last.replace("\"confidence\"", "confidence"),
        last.replace("}", ",}"),
        last.replace("No test", "No\ntest"),
        last.replace("wr.gate_verdict", "wr.gate_verdit"),
        last.replace("\"kind\": \"wr.gate_verdict\", ", ""),
        format!("```json\n{}\n```\n", last.replace('"', "'")),
        format!("```json\n{}\n```\n", last.replace("\"kind\"", "kind").replace("\"version\"", "version")),
    ] {
        let extraction = found("wr.gate_verdict", &format!("{first}\n{broken}\n"), &Context::default());
        assert!(
            shown(&extraction).starts_with("malformed none @") && extraction.earlier.is_some(),
            "{broken}\n{extraction:#?}"
        );
    }
    let other = r#"{"kind": "wr.assessment", "version": 1, "confidence": "high", "verdict": "x"}"#;
    check("wr.gate_verdict", &format!("{last}\n{other}\n"), "ok reject @1:1");
    check("wr.gate_verdict", "nothing here {\"a\": 1}\n", "malformed none TG0201@1:1");
}

#[test]
fn what_tools_wrap_around_it_is_opened() {
    let report = verdict("rejected", WHY);
    let words = quoted(&format!("Done.\n\n```json\n{report}\n```"));
    for line in [
        format!(
            "{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":{words},\"num_turns\":3}}"
        ),
        format!("{{\n  \"session_id\": \"s\",\n  \"response\": {words},\n  \"stats\": {{}}\n}}"),
        format!(
            "{{\"type\":\"item.completed\",\"item\":{{\"id\":\"item_3\",\"type\":\"agent_message\",\"text\":{words}}}}}"
        ),
        format!("{{\"type\":\"text\",\"sessionID\":\"ses_1\",\"part\":{{\"type\":\"text\",\"text\":{words}}}}}"),
        format!("[{{\"type\":\"system\"}},{{\"type\":\"result\",\"result\":{words}}}]"),
        format!("{{\"type\":\"result\",\"result\":\"ok\",\"structured_output\":{report}}}"),
        format!("{{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":{words}}}]}}}}"),
    ] {
        let before = "{\"type\":\"system\",\"subtype\":\"init\"}\n";
        let theirs = quoted(&verdict("approved", WHY));
        let tool = format!(
            "{{\"type\":\"user\",\"message\":{{\"content\":[{{\"type\":\"tool_result\",\"content\":{theirs}}}]}}}}\n"
        );
        let after = "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":1}}\n";
        let extraction = found("wr.gate_verdict", &format!("{before}{tool}{line}\n{tool}{after}"), &Context::default());
        assert!(
            shown(&extraction).starts_with("ok reject @") && extraction.passed.is_empty(),
            "{line}\n{extraction:#?}"
        );
    }
    let lines = format!(
        "{{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":{words}}}]}}}}\n{{\"type\":\"result\",\"result\":{words}}}\n"
    );
    let extraction = found("wr.gate_verdict", &lines, &Context::default());
    assert_eq!(extraction.passed.iter().map(|passed| passed.why.clone()).collect::<Vec<_>>(), [Why::Repeated]);
}

/// A tool that calls another tool hands on its lines as what was said.
#[test]
fn a_message_that_is_a_line_of_a_tool_is_opened_again() {
    let result = |text: &str| format!("{{\"type\":\"result\",\"result\":{}}}", quoted(text));
    check("wr.gate_verdict", &result(&result(&verdict("rejected", WHY))), "ok reject @1:62");
    let report = "## Validation Failure\n\n**Check:** a **Expected:** b **Actual:** c\n";
    check("decree.validation-failure", &result(&result(report)), "failed none @1:62");
    let open = shown(&found("wr.gate_verdict", &result("It is:\n\n```json\n"), &Context::default()));
    assert!(open.starts_with("malformed none @1:") && open.contains("TG0208"), "{open}");
}

#[test]
fn a_report_in_many_pieces_is_one() {
    let report = verdict("rejected", WHY);
    let pieces = |make: &dyn Fn(&str) -> String, between: &str| {
        let chars: Vec<char> = format!("So:\n{report}\n").chars().collect();
        chars
            .chunks(7)
            .map(|piece| format!("{}\n{between}", make(&quoted(&String::from_iter(piece)))))
            .collect::<String>()
    };
    let claude = |piece: &str| {
        format!(
            "{{\"type\":\"stream_event\",\"event\":{{\"type\":\"content_block_delta\",\"delta\":{{\"type\":\"text_delta\",\"text\":{piece}}}}}}}"
        )
    };
    let acp = |piece: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"update\":{{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{{\"type\":\"text\",\"text\":{piece}}}}}}}}}"
        )
    };
    let gemini =
        |piece: &str| format!("{{\"type\":\"message\",\"role\":\"assistant\",\"content\":{piece},\"delta\":true}}");
    for text in [
        pieces(&claude, ""),
        pieces(&acp, ""),
        pieces(&gemini, ""),
        pieces(&claude, "{\"type\":\"stream_event\",\"event\":{\"type\":\"ping\"}}\n"),
    ] {
        let extraction = found("wr.gate_verdict", &text, &Context::default());
        assert!(shown(&extraction).starts_with("ok reject @1:"), "{text}\n{extraction:#?}");
    }
    // The second message begins anew: its heading stands at the start of a line.
    let head = claude(&quoted("Let me look."));
    let tail = claude(&quoted("## Validation Failure\n\n**Check:** a **Expected:** b **Actual:** c\n"));
    check(
        "decree.validation-failure",
        &format!("{head}\n{{\"type\":\"user\",\"message\":{{}}}}\n{tail}\n"),
        "failed none @3:99",
    );
}

#[test]
fn a_place_inside_of_a_string_is_a_place_in_the_file() {
    let wrong = verdict("rejected", WHY).replace("rejected", "perhaps").replace(", ", ",\n");
    let text =
        format!("{{\"type\":\"system\"}}\n{{\"type\":\"result\",\"result\":{}}}\n", quoted(&format!("é:\n{wrong}")));
    let extraction = found("wr.gate_verdict", &text, &Context::default());
    let [diagnostic] = extraction.read.diagnostics() else { panic!("{extraction:#?}") };
    let line = text.lines().nth(1).unwrap_or_default();
    let column =
        line.chars().count() - line.split_once("\\\"perhaps").map_or(0, |(_, rest)| rest.chars().count() + 9) + 1;
    assert_eq!((diagnostic.place.line, diagnostic.place.column as usize), (2, column));
    assert!(
        diagnostic
            .hint
            .as_deref()
            .unwrap_or_default()
            .ends_with("this is line 3, column 12 of the report in the JSON string")
    );
    let own = &extraction.found.as_ref().expect("a report").diagnostics[0];
    assert_eq!(own.place, Place { line: 3, column: 12 });
}

#[test]
fn what_was_shown_is_no_report() {
    let Dialect::Report(dialect) = dialect("wr.gate_verdict") else { panic!("a report") };
    let told = dialect.instructions(&Context::default());
    let report = verdict("rejected", WHY);
    check("wr.gate_verdict", &told, "malformed none echo@6:1 TG0201@6:1");
    check("wr.gate_verdict", &format!("{told}\n{report}\n"), "ok reject @15:1 echo@6:1");
    check("wr.gate_verdict", &format!("{report}\n{told}\n"), "ok reject @1:1 echo@7:1");
    let schema = serde_json::to_string_pretty(&dialect.schema()).unwrap();
    check("wr.gate_verdict", &format!("{report}\n{schema}\n"), "ok reject @1:1");
    // A report that the prompt holds comes back in another layout.
    let old = verdict("approved", WHY);
    let context = Context { prompt: Some(format!("You said:\n{old}\nThink again.")), ..Context::default() };
    check_with("wr.gate_verdict", &old.replace(", ", ",\n   "), &context, "malformed none echo@1:1 TG0201@1:1");
    check_with("wr.gate_verdict", &format!("{report}\n{old}"), &context, "ok reject @1:1 echo@2:1");
    for id in ["decree.implementor-result", "status-block", "team.output", "decree.review-rejection", "wr.council"] {
        let Dialect::Report(dialect) = super::dialect(id) else { panic!("a report") };
        let extraction = found(id, &format!("{}\n", dialect.instructions(&Context::default())), &Context::default());
        assert!(extraction.found.is_none(), "{id} {extraction:#?}");
    }
}

#[test]
fn a_unit_has_its_own_report() {
    let one =
        crate::defined::guide::example(&registry::defined("decree.reviewer-result").expect("a contract").definition);
    let one = one.replace("All four", "All five");
    let two = one.replace("#21 —", "#210 —").replace("approved", "needs-changes");
    let of = |unit: &str| Context { unit: Some(unit.into()), ..Context::default() };
    let text = format!("{one}\n{two}");
    let line = one.lines().count() + 2;
    check("decree.reviewer-result", &text, &format!("ok reject @{line}:1 earlier@1:1"));
    for unit in ["#21", "21", "#21 — show the total"] {
        check_with(
            "decree.reviewer-result",
            &text,
            &of(unit),
            &format!("ok accept @1:1 of #210 — Show the total@{line}:1"),
        );
    }
    check_with("decree.reviewer-result", &one, &of("22"), "malformed none of #21 — Show the total@1:1 TG0201@1:1");
}

#[test]
fn markdown_is_found_under_its_heading() {
    let report = "## Validation Failure\n\n**Check:** a **Expected:** b **Actual:** c\n";
    check("decree.validation-failure", &format!("# Log\n\nx\n\n{report}\n## Next\n\ny\n"), "failed none @5:1");
    // Code counts where it is all that was said.
    check("decree.validation-failure", &format!("```\n{report}```\n"), "failed none @2:1");
    for block in
        [format!("```\n{report}```\n"), format!("<!--\n{report}-->\n"), format!("> {}", report.replace('\n', "\n> "))]
    {
        let extraction = found("decree.validation-failure", &format!("So:\n\n{block}"), &Context::default());
        assert!(shown(&extraction).starts_with("malformed none TG0201@"), "{}", shown(&extraction));
    }
    check(
        "decree.validation-failure",
        &format!("{report}\n{}", report.replace("Actual", "Is")),
        "malformed none @5:1 earlier@1:1 valid before@1:1 TG0242@5:4",
    );
    for cut in ["#", "##", "## ", "## Valid", "## Validation Failur"] {
        check(
            "decree.validation-failure",
            &format!("{report}\n{cut}"),
            "malformed none @5:1 earlier@1:1 valid before@1:1 TG0208@5:1",
        );
    }
    let line = format!("{{\"type\":\"result\",\"result\":{}}}", quoted(report));
    check("decree.validation-failure", &line, "failed none @1:28");
    // What a tool prints, quoted in a report, is a part of the report.
    let quoting = report.replace("**Actual:** c", &format!("**Actual:**\n\n```\n{line}\n```"));
    check("decree.validation-failure", &quoting, "failed none @1:1");
    let noise = "x\n".repeat(markdown::BYTES_MAX / 2 + 1);
    let deep = format!("{}x\n", "> ".repeat(64));
    let lines = noise.lines().count() + 2;
    check("decree.validation-failure", &format!("{deep}{noise}{report}"), &format!("failed none @{lines}:1"));
}

#[test]
fn documents_are_found_too() {
    let tasks = "tasks:\n  - {id: T-1, status: not-started, goal: x, acceptance_checks: [\"cmd: x\"]}\n";
    for text in
        [tasks.to_owned(), format!("Here:\n\n```yaml\n{tasks}```\n\nok: no\n"), format!("Hello.\n{tasks}\nThe end.\n")]
    {
        let extraction = found("team.tasks", &text, &Context::default());
        assert!(!extraction.read.is_refused() && extraction.found.is_some(), "{text}\n{extraction:#?}");
    }
    let line = "{\"at\": \"2026-01-31T12:00:00Z\", \"decision_id\": \"UD-APPROVE-DESIGN\", \"answer\": \"changes-requested: x\", \"state_context\": \"APPROVE_DESIGN\"}\n";
    check("team.design-history", &format!("cat it:\n{line}{line}\n$\n"), "0 rows @2:1");
    check("build-plan.task", "Hi.\n\n# T\n\n## Definition of Done\n- a\n", "1 rows @3:1");
    let extraction = found("supervisor.dossier", "no dossier here\n", &Context::default());
    assert!(extraction.found.is_none() && extraction.read.is_refused());
}

#[test]
fn what_is_cut_off_hides_no_other_report() {
    let (first, last) = (verdict("approved", WHY), verdict("rejected", WHY));
    let line = format!("{{\"type\":\"result\",\"subtype\":\"success\",\"result\":{}}}", quoted(&last));
    let before = format!(
        "{{\"type\":\"item.completed\",\"item\":{{\"type\":\"agent_message\",\"text\":{}}}}}\n",
        quoted(&first)
    );
    for at in 1..line.len() {
        let extraction = found("wr.gate_verdict", &format!("{before}{}", &line[..at]), &Context::default());
        assert!(shown(&extraction).starts_with("malformed"), "{}\n{extraction:#?}", &line[..at]);
    }
    let known = "{\"type\":\"turn.completed\",\"usage\":{\"in";
    check("wr.gate_verdict", &format!("{before}{known}"), "ok accept @1:65");
    check(
        "wr.gate_verdict",
        &format!("{first}\n```json\n"),
        "malformed none @3:1 earlier@1:1 valid before@1:1 TG0208@3:1",
    );
}

/// What a tool brings, and what an agent says that was started for a task of its own, is nobody's report here.
#[test]
fn no_words_of_others_pass_for_the_agents_own() {
    let said = |parent: &str, word: &str| {
        let words = quoted(&verdict(word, WHY));
        format!(
            "{{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":{words}}}]}},\"parent_tool_use_id\":{parent}}}\n"
        )
    };
    let piece = |word: &str| {
        let words = quoted(&verdict(word, WHY));
        format!(
            "{{\"type\":\"stream_event\",\"event\":{{\"type\":\"content_block_delta\",\"delta\":{{\"type\":\"text_delta\",\"text\":{words}}}}},\"parent_tool_use_id\":\"toolu_1\"}}\n"
        )
    };
    let own = said("null", "rejected");
    let result = "{\"type\":\"result\",\"result\":\"Done.\"}\n";
    let deep = format!(
        "{{\"type\":\"user\",\"tool_use_result\":{{\"a\":{}{},\"b\":{}}}}}\n",
        "[".repeat(130),
        "]".repeat(130),
        verdict("approved", WHY)
    );
    let side = said("null", "approved").replacen('{', "{\"isSidechain\":true,", 1);
    let tools = said("null", "approved").replacen('{', "{\"isApiErrorMessage\":true,", 1);
    let synthetic = format!(
        "{{\"type\":\"text\",\"part\":{{\"type\":\"text\",\"text\":{},\"synthetic\":true}}}}\n",
        quoted(&verdict("approved", WHY))
    );
    for others in [said("\"toolu_1\"", "approved"), piece("approved"), deep, side, tools, synthetic] {
        let extraction = found("wr.gate_verdict", &format!("{own}{others}{result}"), &Context::default());
        assert!(shown(&extraction).starts_with("ok reject @1:"), "{others}\n{extraction:#?}");
    }
}

#[test]
fn a_brace_in_the_last_words_is_no_report() {
    let report = verdict("rejected", WHY);
    for words in
        ["The parser failed on the missing \"{\" in line 3.", "It lacks a {", "Write \"{\"", "See {\" and ask."]
    {
        check("wr.gate_verdict", &format!("{report}\n\n{words}"), "ok reject @1:1");
        let line = format!("{{\"type\": \"result\", \"result\": {}}}", quoted(&format!("{report}\n\n{words}")));
        let extraction = found("wr.gate_verdict", &line, &Context::default());
        assert!(shown(&extraction).starts_with("ok reject"), "{words}: {}", shown(&extraction));
    }
    for cut in ["{", "{\"", "So: {\"kin", "{\"verd"] {
        let extraction = found("wr.gate_verdict", &format!("{report}\n\n{cut}"), &Context::default());
        assert!(shown(&extraction).starts_with("malformed none"), "{cut}: {}", shown(&extraction));
    }
}

#[test]
fn a_report_whose_unit_is_in_doubt_is_not_passed_over() {
    let own = registry::defined("supervisor.worker-report").unwrap();
    let report = crate::defined::guide::example(&own.definition).replace("41 passed", "42 passed");
    let unit = own.definition.example.get("unit_id").and_then(crate::tree::Node::text).unwrap();
    let context = Context { unit: Some(unit.into()), ..Context::default() };
    let said = format!("\"unit_id\": \"{unit}\"");
    assert!(report.contains(&said), "{report}");
    for doubt in [format!("\"unit_id\": \"U-9\", {said}"), "\"unit_id\": 3".to_owned()] {
        let text = format!("{report}\n{}", report.replace(&said, &doubt));
        let extraction = found("supervisor.worker-report", &text, &context);
        assert!(shown(&extraction).starts_with("malformed none"), "{doubt}: {}", shown(&extraction));
    }
    let other = format!("{report}\n{}", report.replace(&said, "\"unit_id\": \"U-9\""));
    assert!(shown(&found("supervisor.worker-report", &other, &context)).starts_with("ok none"));
}

#[test]
fn what_the_prompt_quotes_is_an_echo() {
    for id in ["decree.review-approval", "wr.gate_verdict"] {
        let own = registry::defined(id).unwrap();
        let example = crate::defined::guide::example(&own.definition);
        let quote: String = example.lines().map(|line| format!("> {line}\n")).collect();
        let prompt = Some(format!("Report like this:\n\n{quote}\nNow begin.\n"));
        let context = Context { prompt, ..Context::default() };
        let extraction = found(id, &format!("I begin.\n\n{example}"), &context);
        assert!(shown(&extraction).starts_with("malformed none echo@3:1"), "{id}: {}", shown(&extraction));
    }
}

#[test]
fn a_template_of_somebody_elses_is_no_approval() {
    let template = "## Review: Approved\n\n### Checklist\n\n- **Unresolved Comments:** No outstanding items (or N/A)\n- **Scope Compliance:** All modified files within scope\n- **Task Constraints:** All constraints satisfied\n- **Acceptance Criteria:** All N criteria verified\n- **Spec Conformance:** Implementation matches spec\n- **Code Quality:** Consistent with project standards\n\n### Warnings\n\n<any warnings from skipped steps or scope observations, or \"None\">\n";
    let extraction = found("decree.review-approval", template, &Context::default());
    assert!(shown(&extraction).starts_with("malformed none"), "{}", shown(&extraction));
}

#[test]
fn a_heading_of_another_level_is_named() {
    let text = "# Status\ncomplete\n\n## Abstract\noutcome: x\n";
    let extraction = found("status-block", text, &Context::default());
    let one = &extraction.read.diagnostics()[0];
    assert_eq!((one.place.line, one.hint.as_deref()), (1, Some("write `# Status` as `## Status`")), "{one:?}");
}

#[test]
fn a_line_among_the_pieces_that_is_another_kind_is_no_piece() {
    let line = |kind: &str, parent: &str, words: &str| {
        let words = quoted(words);
        format!(
            "{{\"type\":\"stream_event\",\"event\":{{\"delta\":{{\"type\":\"{kind}\",\"text\":{words}}}}},\"uuid\":\"{}\",\"parent_tool_use_id\":{parent}}}\n",
            words.len()
        )
    };
    let report = verdict("rejected", WHY);
    let (begin, end) = report.split_at(40);
    let pieces = |between: &str| {
        let said = |words: &str| line("text_delta", "null", words);
        format!("{}{}{}{between}{}{}", said("Done"), said(": "), said(begin), said(end), said("\n"))
    };
    check("wr.gate_verdict", &pieces(""), "ok reject @3:70");
    check("wr.gate_verdict", &pieces(&line("text_delta", "null", "")), "ok reject @3:70");
    for other in [line("thinking_delta", "null", "not said"), line("text_delta", "\"toolu_1\"", "not its own")] {
        let extraction = found("wr.gate_verdict", &pieces(&other), &Context::default());
        assert!(shown(&extraction).starts_with("malformed none"), "{other}\n{extraction:#?}");
    }
}

/// However a tool says that its call failed, what was printed before is no report; an error that it got over is none.
#[test]
fn a_call_that_failed_has_no_report() {
    let words = quoted(&verdict("approved", WHY));
    let claude = format!("{{\"type\":\"assistant\",\"message\":{{\"content\":{words}}}}}");
    let codex = format!("{{\"type\":\"item.completed\",\"item\":{{\"type\":\"agent_message\",\"text\":{words}}}}}");
    let gemini = format!("{{\"type\":\"message\",\"role\":\"assistant\",\"content\":{words}}}");
    let piece = format!("{{\"type\":\"message\",\"role\":\"assistant\",\"content\":{words},\"delta\":true}}");
    let opencode = format!("{{\"type\":\"text\",\"part\":{{\"type\":\"text\",\"text\":{words}}}}}");
    let error = r#"{"type":"error","message":"stream disconnected"}"#;
    for (said, end) in [
        (&claude, r#"{"type":"result","subtype":"error_max_turns","is_error":false,"num_turns":2}"#),
        (&claude, r#"{"type":"result","subtype":"error_during_execution"}"#),
        (&gemini, r#"{"type":"result","status":"error","error":{"message":"x"}}"#),
        (&gemini, r#"{"session_id":"s","error":{"type":"FatalTurnLimited"}}"#),
        (&piece, error),
        (&codex, error),
        (&codex, r#"{"type":"item.completed","item":{"id":"item_9","type":"error","message":"x"}}"#),
        (&opencode, r#"{"type":"error","error":{"name":"X"}}"#),
        (&opencode, r#"{"type":"step_finish","part":{"type":"step-finish","reason":"length"}}"#),
        (&claude, r#"{"type":"result","subtype":"success","is_error":false,"stop_reason":"max_tokens","result":"x"}"#),
        (
            &claude,
            r#"{"type":"assistant","message":{"stop_reason":"max_tokens","content":[{"type":"text","text":"x"}]}}"#,
        ),
        (&claude, r#"{"type":"assistant","isApiErrorMessage":true,"message":{"content":"API Error: x"}}"#),
        (&claude, r#"{"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}"#),
        (&claude, r#"{"type":"user","message":{"content":"[Request interrupted by user for tool use]"}}"#),
    ] {
        let extraction = found("wr.gate_verdict", &format!("{said}\n{end}\n"), &Context::default());
        let shown = shown(&extraction);
        assert!(shown.starts_with("malformed none") && shown.ends_with("TG0257@2:1"), "{end}\n{shown}");
        let again = found("wr.gate_verdict", &format!("{said}\n{end}\n{codex}\n"), &Context::default());
        assert!(!again.read.is_refused(), "{end}");
    }
    let cut = claude.replace("{\"content\"", "{\"stop_reason\":\"max_tokens\",\"content\"");
    check("wr.gate_verdict", &cut, "malformed none earlier@1:70 valid before@1:70 TG0257@1:1");
    let both = format!("{{\"response\":{words},\"error\":{{\"code\":53}}}}");
    check("wr.gate_verdict", &both, "malformed none TG0257@1:1");
    for over in [
        format!("{codex}\n{error}\n{{\"type\":\"turn.completed\",\"usage\":{{}}}}\n"),
        format!("{error}\n{codex}\n"),
        format!("{error}\n{piece}\n"),
        format!("{{\"response\":{words},\"error\":null}}"),
        format!("{opencode}\n{}\n", r#"{"type":"step_finish","part":{"type":"step-finish","reason":"stop"}}"#),
    ] {
        assert!(shown(&found("wr.gate_verdict", &over, &Context::default())).starts_with("ok accept"), "{over}");
    }
}
