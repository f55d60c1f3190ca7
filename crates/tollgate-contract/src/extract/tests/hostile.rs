//! Whatever is printed, an answer comes, and soon: work is linear in the text. That no text breaks it is shown by `fuzz`.

use super::*;

/// Enough that quadratic work would be seen.
fn bytes() -> usize {
    crate::proptest_cases::size(1 << 14, 1 << 16)
}

/// That these end at all is the proof: quadratic time would not.
#[test]
fn hostile_transcripts_end() {
    let report = verdict("rejected", WHY);
    for unit in [
        "{",
        "{\n",
        "```\n",
        "```json\n",
        "\"",
        "{\"",
        "{\"kind\":",
        "{\"kind\": {",
        "{\"verdict\": [",
        "{\"a\":1,",
        "## x\n",
        "## Validation Failure\n",
        "[",
        "{\"type\":\"result\",\"result\":\"",
        "\\",
        "{\"type\":\"text\"}\n",
        "\u{1b}",
        "\u{1b}[",
        "\u{1b}]",
        "kind:\n",
        "{ ",
        "~~~\n````\n",
        "{\"kind\": \"wr.gate_verdict\"}\n",
        "{\"kind\": \"wr.gate_verdict\", \n",
        "```json\n{\"kind\": \"wr.gate_verdict\", \n",
        "{\"type\":\"message\",\"role\":\"assistant\",\"delta\":true,\"content\":\"{\"}\n",
        "\r",
        "#",
        "- ",
        "> ## Validation Failure\n> a\n> b\n",
        "```\n## Status\nfailed\n## Abstract\nx\n```\n",
        "{\"type\":\"error\"}\n",
        "{\"a\":[{",
        "{\"a\":{\"b\":",
        "{\"a\":\"{\\\"b\\\":\",",
    ] {
        let many = unit.repeat(bytes() / unit.len());
        let behind = found("wr.gate_verdict", &format!("{report}\n{many}\n"), &Context::default());
        assert!(behind.passed.len() <= CANDIDATES_MAX, "{unit:?}");
        let text = format!("{many}\n{report}\n");
        for id in ["wr.gate_verdict", "decree.validation-failure", "status-block", "team.tasks", "team.design-history"]
        {
            let extraction = found(id, &text, &Context::default());
            assert!(
                extraction.passed.len() <= CANDIDATES_MAX && extraction.read.diagnostics().len() <= 200,
                "{unit:?} {id}"
            );
        }
    }
}

/// Many markers in many messages are no more work than their text.
#[test]
fn many_markers_end() {
    let markers = Markers::new("att_3".parse().unwrap(), b"a seed");
    let context = Context { markers: Some(markers.clone()), ..Context::default() };
    let message = |words: &str| format!("{}\n", quoted(words));
    for line in
        [markers.begin().to_owned(), markers.end().to_owned(), format!("{}\n{}", markers.begin(), markers.end())]
    {
        let text = message(&format!("{line}\n")).repeat(bytes() / 64);
        let extraction = extract(dialect("wr.gate_verdict"), &messages(&text), &context);
        assert!(extraction.read.is_refused() && extraction.passed.len() <= CANDIDATES_MAX, "{line}");
    }
}

/// Copies of a report push none out of sight that says something else.
#[test]
fn many_copies_hide_no_other_report() {
    let context = Context { markers: Some(markers()), ..Context::default() };
    let copies = marked(&verdict("approved", WHY)).repeat(CANDIDATES_MAX + 9);
    let text = format!("{}{copies}", marked(&verdict("rejected", WHY)));
    let extraction = found("wr.gate_verdict", &text, &context);
    let wrong = extraction.read.diagnostics().iter().find(|one| one.code == Code::REPORTS_DIFFER);
    assert!(extraction.read.is_refused() && extraction.passed.len() <= CANDIDATES_MAX);
    let message = &wrong.unwrap().message;
    assert!(
        message.contains("at line 2 says") && message.contains("rejected") && message.contains("approved"),
        "{message}"
    );
    assert!(!found("wr.gate_verdict", &copies, &context).read.is_refused(), "equal ones are one");
}
