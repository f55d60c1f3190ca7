//! Reports between markers: only the last pair counts, wherever the agent said it.

use super::*;

fn markers() -> Markers {
    Markers::new("att_3".parse().unwrap(), b"a seed")
}

fn marked(report: &str) -> String {
    format!("{}\n{report}\n{}\n", markers().begin(), markers().end())
}

#[track_caller]
fn check_marked(text: &str, expected: &str) {
    let context = Context { markers: Some(markers()), ..Context::default() };
    check_with("wr.gate_verdict", text, &context, expected);
}

#[test]
fn only_the_last_pair_counts() {
    let (no, yes) = (verdict("rejected", WHY), verdict("approved", WHY));
    check_marked(&marked(&no), "ok reject @2:1");
    check_marked(&format!("{yes}\n{}", marked(&no)), "ok reject @3:1");
    check_marked(&format!("{}{yes}\n", marked(&no)), "ok reject @2:1");
    check_marked(&format!("{}{}", marked(&yes), marked(&no)), "ok reject @5:1 earlier@2:1");
    check_marked(&format!("{}{}", marked(&no), marked(&no)), "ok reject @5:1 repeated@2:1");
    check_marked(&format!("{}\n{yes}\n{}", markers().begin(), marked(&no)), "ok reject @4:1 earlier@2:1");
    // Another attempt's markers are none.
    let other = Markers::new("att_2".parse().unwrap(), b"a seed");
    check_marked(&format!("{}\n{yes}\n{}\n{}", other.begin(), other.end(), marked(&no)), "ok reject @5:1");
    // Neither is one inside of a sentence, as a brief has it.
    check_marked(&format!("{}\n{no}\n", markers().request()), "ok reject @2:1");
}

#[test]
fn a_beginning_without_an_end_is_cut_off() {
    let (no, yes) = (verdict("rejected", WHY), verdict("approved", WHY));
    check_marked(&format!("{}\n{no}\n", markers().begin()), "malformed none @2:1 TG0208@2:1");
    let cut = format!("{}{}\n{no}", marked(&yes), markers().begin());
    check_marked(&cut, "malformed none @5:1 earlier@2:1 valid before@2:1 TG0208@5:1");
    let lost = format!("{}\n{}\n", &no[40..], markers().end());
    assert!(
        shown(&extract(dialect("wr.gate_verdict"), &lost, &Context { markers: Some(markers()), ..Context::default() }))
            .starts_with("malformed none @2:1")
    );
}

#[test]
fn markers_hold_one_report_and_nothing_else() {
    let no = verdict("rejected", WHY);
    for text in [format!("Here it is:\n{no}"), format!("{no}\nBye."), format!("{no}\n{no}"), String::new()] {
        let context = Context { markers: Some(markers()), ..Context::default() };
        let extraction = found("wr.gate_verdict", &marked(&text), &context);
        assert!(shown(&extraction).starts_with("malformed none @"), "{text}\n{extraction:#?}");
    }
    for line in [format!("**{}**", markers().begin()), format!("  `{}`  ", markers().begin())] {
        let text = marked(&no).replacen(markers().begin(), &line, 1);
        check_marked(&text, "ok reject @2:1");
    }
}

/// Pieces are joined before markers are looked for, and a report may go over several messages.
#[test]
fn markers_are_found_in_what_tools_wrap() {
    let no = verdict("rejected", WHY);
    let context = Context { markers: Some(markers()), ..Context::default() };
    let said = format!("A draft: {}\n\n{}Goodbye.\n", verdict("approved", WHY), marked(&no));
    let piece = |words: &str| {
        let words = quoted(words);
        format!("{{\"type\":\"message\",\"role\":\"assistant\",\"content\":{words},\"delta\":true}}\n")
    };
    let message = |words: &str| {
        let words = quoted(words);
        format!("{{\"type\":\"item.completed\",\"item\":{{\"type\":\"agent_message\",\"text\":{words}}}}}\n")
    };
    let chars: Vec<char> = said.chars().collect();
    let pieces: String = chars.chunks(7).map(|chunk| piece(&String::from_iter(chunk))).collect();
    let parts: String = said.lines().map(message).collect();
    for text in [pieces, message(&said), parts, format!("{}{}", message(&said), message("Anything else?"))] {
        let extraction = found("wr.gate_verdict", &text, &context);
        assert!(shown(&extraction).starts_with("ok reject @"), "{text}\n{extraction:#?}");
        let place = extraction.trailing.expect("a farewell");
        let line = text.lines().nth(place.line as usize - 1).unwrap();
        assert!(line.chars().skip(place.column as usize - 1).collect::<String>().starts_with(['G', 'A']), "{place:?}");
        assert_eq!(extraction.found.unwrap().text.trim(), no);
    }
    // What a tool prints beside its lines is not what the agent said.
    let noise = format!("{}{}", message(&no), marked(&verdict("approved", WHY)));
    let extraction = found("wr.gate_verdict", &noise, &context);
    assert!(shown(&extraction).starts_with("ok reject @1:") && extraction.trailing.is_none(), "{extraction:#?}");
}

#[test]
fn a_call_that_fails_after_the_end_marker_has_no_report() {
    let message = format!(
        "{{\"type\":\"assistant\",\"message\":{{\"content\":{}}}}}",
        quoted(&marked(&verdict("approved", WHY)))
    );
    let failed = r#"{"type":"result","subtype":"error_max_turns","is_error":true}"#;
    let context = Context { markers: Some(markers()), ..Context::default() };
    let text = format!("{message}\n{failed}\n");
    let extraction = found("wr.gate_verdict", &text, &context);
    assert!(shown(&extraction).ends_with("TG0257@2:1") && extraction.earlier.is_some(), "{extraction:#?}");
    let again = format!("{message}\n{failed}\n{message}\n");
    assert!(shown(&found("wr.gate_verdict", &again, &context)).starts_with("ok accept"));
}

/// What a tool was forced to by a schema counts like a file: neither markers nor words are looked at.
#[test]
fn an_object_that_was_forced_by_a_schema_is_the_report() {
    let (no, yes) = (verdict("rejected", WHY), verdict("approved", WHY));
    let line = |object: &str| {
        let words = quoted(&format!("{}On second thought: no.", marked(&no)));
        format!("{{\"type\":\"result\",\"result\":{words},\"structured_output\":{object}}}\n")
    };
    let context = Context { markers: Some(markers()), ..Context::default() };
    let extraction = found("wr.gate_verdict", &line(&yes), &context);
    assert!(shown(&extraction).starts_with("ok accept") && extraction.trailing.is_none(), "{extraction:#?}");
    let invalid = found("wr.gate_verdict", &line("{\"verdict\": \"approved\"}"), &context);
    assert!(invalid.read.is_refused() && invalid.found.is_some(), "{invalid:#?}");
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
    for text in [format!("Here:\n\n{block}"), format!("# Report\n\n{block}"), format!("{block}\n{block}")] {
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
