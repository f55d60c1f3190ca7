//! Transcripts that are too long or too many to be cases.

use super::*;
use crate::markdown;

#[test]
fn a_text_that_is_too_long_or_too_deep_to_be_parsed_is_read_line_by_line() {
    let report = "## Validation Failure\n\n**Check:** a **Expected:** b **Actual:** c\n";
    let noise = "x\n".repeat(markdown::BYTES_MAX / 2 + 1);
    let deep = format!("{}x\n", "> ".repeat(64));
    let lines = noise.lines().count() + 2;
    check("decree.validation-failure", &format!("{deep}{noise}{report}"), &format!("failed none @{lines}:1"));
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
fn a_report_file_is_the_report_and_nothing_else() {
    let context = Context { markers: Some(markers()), ..Context::default() };
    let read = |text: &str| {
        let Dialect::Report(dialect) = dialect("wr.gate_verdict") else { panic!("a report") };
        report_file(dialect, text, &context).0.report
    };
    let yes = verdict("approved", WHY);
    for text in [yes.clone(), format!("\n{yes}\n"), marked(&yes)] {
        assert_eq!(read(&text).verdict, Verdict::Accept, "{text}");
    }
    let Dialect::Report(status) = dialect("status-block") else { panic!("a report") };
    let block = include_str!("../../../../../docs/contracts/examples/status-block.md");
    let health = |text: &str| report_file(status, text, &context).0.report.health;
    for text in [block.to_owned(), format!("\n{block}"), format!("<!-- a note -->\n{block}"), marked(block)] {
        assert_eq!(health(&text), Health::Ok, "{text}");
    }
    let line = format!("{{\"type\":\"result\",\"subtype\":\"success\",\"result\":{}}}\n", quoted(block));
    for text in [format!("Here:\n\n{block}"), format!("# Report\n\n{block}"), format!("{block}\n{block}"), line] {
        assert_eq!(health(&text), Health::Malformed, "{text}");
    }
    for text in [
        format!("Here:\n{yes}"),
        format!("{yes}\nBye."),
        format!("{}Bye.", marked(&yes)),
        format!("```json\n{yes}\n```"),
    ] {
        assert_eq!(read(&text).health, Health::Malformed, "{text}");
    }
}

#[test]
fn an_echo_is_one_however_its_heading_is_written() {
    let report = include_str!("../../../../../docs/contracts/examples/status-block.md").to_owned();
    for heading in ["## Status", "## status", "## Status ##", "##  Status"] {
        let shown = report.replacen("## Status", heading, 1);
        let context = Context { prompt: Some(format!("Last time:\n\n{shown}\n")), ..Context::default() };
        let extraction = found("status-block", &shown, &context);
        assert!(extraction.found.is_none(), "{heading} {extraction:#?}");
    }
}
