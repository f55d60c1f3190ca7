//! Which report counts in what agents' programs print (`extraction.txt`): their lines in, what the search decides out.
//!
//! A case names an agent and a contract, whether the brief has markers (`marked`) and whether the output has no line end (`open`). In its output
//! `‹approved›` and `‹rejected›` are a report, with quotes for one inside of a JSON string, `‹begin›` and `‹end›` the markers.

use std::fmt::Write as _;

use tollgate_contract::extract::{Dialect, Extraction, Item, Markers, Read, Transcript, Why, extract};
use tollgate_contract::{Context, registry};
use tollgate_core::diagnostic::{Place, Severity};

use super::{adapter, speech};

fn verdict(word: &str) -> String {
    format!(
        "{{\"kind\": \"wr.gate_verdict\", \"version\": 1, \"verdict\": \"{word}\", \"confidence\": \"high\", \"rationale\": \"No test \
         shows the second criterion.\"}}"
    )
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn markers() -> Markers {
    Markers::new("att_3".parse().unwrap(), b"a seed")
}

fn found(agent: &str, contract: &str, output: &str, context: &Context) -> Extraction {
    let dialect = Dialect::Report(registry::report_dialect(contract).unwrap());
    extract(dialect, &speech(adapter(agent).unwrap(), output).transcript, context)
}

/// All that is decided: `health verdict @line:column`, what was passed over, and what is wrong.
fn shown(extraction: &Extraction) -> String {
    let place = |place: Place| format!("{}:{}", place.line, place.column);
    let Read::Report(reading) = &extraction.read else { panic!("a report") };
    let mut text = format!("{} {}", reading.report.health.word(), reading.report.verdict.word());
    extraction.found.iter().for_each(|found| text += &format!(" @{}", place(found.from)));
    for passed in &extraction.passed {
        let why = match &passed.why {
            Why::Echo => "echo",
            Why::Earlier => "earlier",
            Why::Repeated => "repeated",
            Why::OtherUnit(_) => "other",
        };
        text += &format!(" {why}@{}", place(passed.place));
    }
    extraction.earlier.iter().for_each(|earlier| text += &format!(" valid before@{}", place(earlier.place)));
    extraction.trailing.iter().for_each(|at| text += &format!(" trailing@{}", place(*at)));
    for one in reading.diagnostics.iter().filter(|one| one.severity == Severity::Error) {
        write!(text, "\n{} {} {}", place(one.place), one.code, one.message).unwrap();
        one.hint.iter().for_each(|hint| text += &format!(" ({hint})"));
    }
    text
}

fn answer(case: &str) -> String {
    let (head, output) = case.split_once("\n\n").unwrap();
    let mut words = head.split(' ');
    let (agent, contract) = (words.next().unwrap(), words.next().unwrap());
    let mut output = format!("{}\n", output.trim_end());
    let mut context = Context::default();
    for word in words {
        match word {
            "marked" => context.markers = Some(markers()),
            "open" => output.truncate(output.len() - 1),
            _ => panic!("{word}"),
        }
    }
    for word in ["approved", "rejected"] {
        let report = verdict(word);
        output = output.replace(&format!("‹\"{word}\"›"), quoted(&report).trim_matches('"'));
        output = output.replace(&format!("‹{word}›"), &report);
    }
    let output = output.replace("‹begin›", markers().begin()).replace("‹end›", markers().end());
    shown(&found(agent, contract, &output, &context))
}

#[test]
fn the_report_is_found_in_what_each_agent_says() {
    let cases = format!("\n{}", include_str!("extraction.txt"));
    let answers = cases.split("\n== ").skip(1).map(|case| {
        let (name, case) = case.split_once('\n').unwrap();
        format!("== {name}\n{}\n", answer(case))
    });
    insta::assert_snapshot!("extraction", answers.collect::<String>());
}

/// A message that was cut off with its line may have been the report: none before it is used.
#[test]
fn what_is_cut_off_hides_no_other_report() {
    let (first, last) = (quoted(&verdict("approved")), quoted(&verdict("rejected")));
    for (agent, message) in [
        ("claude", r#"{"type":"result","subtype":"success","result":@}"#),
        ("codex", r#"{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":@}}"#),
        ("copilot", r#"{"type":"assistant.message","data":{"content":@}}"#),
        ("gemini", r#"{"type":"message","role":"assistant","content":@}"#),
        ("opencode", r#"{"type":"text","part":{"type":"text","text":@}}"#),
        ("qwen", r#"{"type":"assistant","message":{"content":[{"type":"text","text":@}]}}"#),
        (
            "acp",
            r#"{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"text":@}}}}"#,
        ),
    ] {
        let (before, line) = (message.replace('@', &first), message.replace('@', &last));
        assert!(
            shown(&found(agent, "wr.gate_verdict", &before, &Context::default())).starts_with("ok accept"),
            "{agent}"
        );
        for at in 1..line.len() {
            let output = format!("{before}\n{}", &line[..at]);
            let extraction = found(agent, "wr.gate_verdict", &output, &Context::default());
            assert!(shown(&extraction).starts_with("malformed"), "{agent}: {}\n{extraction:#?}", &line[..at]);
        }
    }
}

/// What an agent quotes forces nothing, and what stands between the lines of its program is not its own.
#[test]
fn only_the_lines_of_its_program_are_the_agents_words() {
    let forced = format!("{{\"type\":\"result\",\"structured_output\":{}}}", verdict("approved"));
    let says = |text: &str| format!("{{\"type\":\"result\",\"subtype\":\"success\",\"result\":{}}}\n", quoted(text));
    let claude = |output: &str| shown(&found("claude", "wr.gate_verdict", output, &Context::default()));
    assert_eq!(claude(&format!("{forced}\n")), "ok accept @1:38");
    assert!(claude(&says(&format!("{forced}\n{}\n", verdict("rejected")))).starts_with("ok reject"));
    assert!(claude(&says(&forced)).starts_with("malformed"));
    let beside = format!("{}{}\n", says(&verdict("rejected")), verdict("approved"));
    assert!(claude(&beside).starts_with("ok reject"), "{}", claude(&beside));
    // An output without any line of the program is what the agent said.
    let plain = format!("Here:\n{}\n", verdict("approved"));
    assert_eq!(speech(adapter("claude").unwrap(), &plain).transcript, Transcript::Plain(&plain));
}

/// What an adapter reads of a transcript: every message once in its order, and nothing of tools and users.
#[test]
fn each_recorded_agent_is_heard() {
    let mut text = String::new();
    for agent in super::ADAPTERS {
        let output = super::tests::transcript(&format!("{}-writes", agent.name));
        let heard = speech(agent, &output);
        let Transcript::Agent(_, items) = &heard.transcript else { panic!("{}", agent.name) };
        writeln!(text, "== {}", agent.name).unwrap();
        for item in items {
            let said = match item {
                Item::Message(parts) => parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join("|"),
                other => format!("{other:?}"),
            };
            writeln!(text, "{said}").unwrap();
        }
        writeln!(text, "-- {:?}, {:?}, {:?}", heard.last_text, heard.last_tool, heard.last_error).unwrap();
    }
    insta::assert_snapshot!("heard", text);
}
