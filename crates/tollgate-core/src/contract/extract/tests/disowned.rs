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
        ] {
            let text = format!("{title}\n\n{approval}");
            assert!(result(&text).starts_with("malformed none"), "{text}\n{}", result(&text));
            let text = format!("{refusal}\n{title}\n\n{approval}");
            assert!(result(&text).starts_with("malformed none"), "{text}\n{}", result(&text));
            let text = format!("{title}\n\n{refusal}\n\n## Final report\n\n{approval}");
            assert!(result(&text).starts_with("ok accept"), "{text}\n{}", result(&text));
        }
        for title in
            ["## Final report", "Here is my report:", "In the required format:", "Previous findings are mended:"]
        {
            let text = format!("{refusal}\n\n{title}\n\n{approval}");
            assert!(result(&text).starts_with("ok accept"), "{text}\n{}", result(&text));
        }
    }
    let example = report("wr.gate_verdict", "approved", "approved").replace('\n', "").replace("  ", " ");
    check("wr.gate_verdict", &format!("{}\n\n{example}\n", verdict("rejected", WHY)), "ok reject @1:1 echo@3:1");
}
