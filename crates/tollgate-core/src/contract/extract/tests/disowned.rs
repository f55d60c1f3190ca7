//! Reports that are called something else than the report.

use super::taken_back::report;
use super::*;

/// A report under words that call it an older one, a draft or a form is not what the agent ended with, alone and behind another.
#[test]
fn a_report_that_is_disowned_does_not_count() {
    let review = report("decree.reviewer-result", "#34", "#35");
    let json = verdict("approved", WHY);
    for (id, approval, refusal) in [
        ("decree.reviewer-result", review.clone(), review.replace("approved", "needs-changes")),
        ("wr.gate_verdict", format!("```json\n{json}\n```\n"), verdict("rejected", WHY)),
        ("wr.gate_verdict", json.clone(), verdict("rejected", WHY)),
    ] {
        let result = |text: &str| shown(&found(id, text, &Context::default()));
        for title in [
            "Previous report, for reference:",
            "## Previous report",
            "Superseded:",
            "Draft (do not use):",
            "Expected format:",
            "The implementor claims:",
            "<details>\n<summary>Previous report</summary>\n",
            "Previous report\n===============",
            "_Previous report_",
            "=== Previous report ===",
            "## Report (superseded)",
            "## Previous report\n\n2026-11-16",
            "For the record, the previous report:",
        ] {
            let text = format!("{title}\n\n{approval}");
            assert!(result(&text).starts_with("malformed none"), "{text}\n{}", result(&text));
            let text = format!("{refusal}\n{title}\n\n{approval}");
            assert!(result(&text).starts_with("malformed none"), "{text}\n{}", result(&text));
            let text = format!("{title}\n\n{refusal}\n\n## Final report\n\n{approval}");
            assert!(result(&text).starts_with("ok accept"), "{text}\n{}", result(&text));
        }
        // Behind a report that it contradicts, whatever else the label speaks of, and whatever stands between the two.
        for title in [
            "Compare with the previous report:",
            "Compared to the earlier report of round 1:",
            "## Previous report\n\nIt was given in round 1, before the table was there.",
            "Archive, previous report:\n\nsee below",
            "**Quoted from the previous round**",
            "Ignore the following:",
            "Do not use this:\n\nThe tests passed by chance then.",
        ] {
            let text = format!("{refusal}\n{title}\n\n{approval}");
            assert!(result(&text).starts_with("malformed none"), "{text}\n{}", result(&text));
            let text = format!("{approval}\n{title}\n\n{approval}");
            assert!(result(&text).starts_with("ok accept"), "{text}\n{}", result(&text));
            let text = format!("{refusal}\n{title}\n\nThat is mended. My report:\n\n{approval}");
            assert!(result(&text).starts_with("ok accept"), "{text}\n{}", result(&text));
        }
        for title in [
            "I looked at the previous report again, and its finding does not hold.",
            "The earlier finding was a false alarm.",
            "Findings of the previous round:\n\n- NaN: gone",
            "Nothing is wrong:",
            "Previous verdict: rejected, for a total of NaN",
            "The linter reported:\n\n```\n0 warnings\n```",
            "## Final report",
            "Here is my report:",
            "In the required format:",
            "Previous findings are mended:",
            "Filled-in template:",
            "The completed template:",
            "Final JSON format:",
            "## Initial review",
            "If it helps, here is the report:",
            "Please do not use the draft above; final report:",
        ] {
            let text = format!("{refusal}\n\n{title}\n\n{approval}");
            assert!(result(&text).starts_with("ok accept"), "{text}\n{}", result(&text));
        }
    }
    let example = report("wr.gate_verdict", "approved", "approved").replace('\n', "").replace("  ", " ");
    check("wr.gate_verdict", &format!("{}\n\n{example}\n", verdict("rejected", WHY)), "ok reject @1:1 echo@3:1");
}

/// What is refused for a label names it, as a model sends the same again otherwise.
#[test]
fn a_label_that_disowns_is_named() {
    let told = |text: &str| {
        let extraction = found("wr.gate_verdict", text, &Context::default());
        let one = &extraction.read.diagnostics()[0];
        format!("{} ({})", one.message, one.hint.as_deref().unwrap_or_default())
    };
    let json = verdict("approved", WHY);
    for (text, label, line) in [
        (format!("Done.\n\n## Draft\n\n```json\n{json}\n```\n"), "`## Draft`", 3),
        (format!("Done.\r\n\r\nFor example:\r\n\r\n{json}\r\n"), "`For example:`", 3),
        (format!("Expected output: {json}"), "`Expected output:`", 1),
    ] {
        let named = format!("{label} in line {line} calls this an example");
        assert!(told(&text).starts_with(&named), "{}", told(&text));
        assert!(told(&text).contains(&format!("(leave {label} out")), "{}", told(&text));
    }
    assert!(told(&format!("~~{json}~~")).contains("taken out"), "{}", told(&format!("~~{json}~~")));
}

/// Under a title that says so stands an example, in whatever form the title and the report are written.
#[test]
fn a_report_under_a_title_of_an_example_does_not_count() {
    let block = include_str!("../../../../../../docs/contracts/examples/status-block.md").replace("two", "three");
    let approval = report("decree.review-approval", "None", "None.");
    let json = verdict("approved", WHY);
    for (id, good, refusal) in [
        ("status-block", block.replace("REQUEST_CHANGES", "n/a"), block),
        ("decree.review-approval", approval, "I could not finish the review.\n".to_owned()),
        ("wr.gate_verdict", format!("```json\n{json}\n```\n"), verdict("rejected", WHY)),
        ("wr.gate_verdict", json.clone(), verdict("rejected", WHY)),
    ] {
        let result = |text: &str| shown(&found(id, text, &Context::default()));
        for title in [
            "# Example",
            "## Example",
            "## An example",
            "## Example report",
            "### Example output",
            "## Example of an approval",
            "## Examples",
            "## Example (approved)",
            "## Beispiel",
            "**Example**",
            "Example\n-------",
            "Example report\n==============",
            "_Example_",
            "=== Example ===",
            "Example:",
            "## Example\n\n2026-11-16",
        ] {
            for text in [format!("{title}\n\n{good}"), format!("{refusal}\n\n{title}\n\n{good}")] {
                assert!(result(&text).starts_with("malformed none"), "{text}\n{}", result(&text));
            }
        }
        for title in ["# The example shop", "# The example.com checkout", "## Report\n\nThe examples pass."] {
            let text = format!("{title}\n\n{good}");
            assert!(result(&text).starts_with("ok "), "{text}\n{}", result(&text));
        }
    }
}

/// A label may be a message of its own in what a tool prints, and the tool may print the last message twice.
#[test]
fn a_label_that_is_a_message_of_its_own_counts() {
    let said = |text: &str| {
        let text = quoted(text);
        format!(
            "{{\"type\":\"assistant\",\"message\":{{\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}}}\n"
        )
    };
    let tool = "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"content\":\"ok\"}]}}\n";
    let [good, bad] = ["approved", "rejected"].map(|word| verdict(word, WHY));
    let result =
        format!("{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":{}}}\n", quoted(&good));
    for label in ["Example:", "For example:", "## Example", "Example report", "Expected format:", "Previous report:"] {
        let all = [said(label), said(&good)].concat();
        for text in [format!("{}{all}", said(&bad)), all.clone(), format!("{}{all}{result}", said(&bad))] {
            let found = shown(&found("wr.gate_verdict", &text, &Context::default()));
            assert!(found.starts_with("malformed none"), "{text}\n{found}");
        }
    }
    for words in [
        "My report:",
        "Let me look at the example in the tests:",
        "All tests pass.",
        "Here is an example of what was wrong before. It is mended.",
    ] {
        let text = [said(&bad), said(words), tool.to_owned(), said(&good), result.clone()].concat();
        let found = shown(&found("wr.gate_verdict", &text, &Context::default()));
        assert!(found.starts_with("ok accept"), "{text}\n{found}");
    }
}
