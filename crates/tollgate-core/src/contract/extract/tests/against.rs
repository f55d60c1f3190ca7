//! A report behind which one of another contract says otherwise.

use super::*;

/// The example of a contract, with other words, so that it is somebody's.
fn report(id: &str, from: &str, to: &str) -> String {
    let example = crate::contract::guide::example(&registry::defined(id).expect("a contract").definition);
    assert!(example.contains(from), "{example}");
    example.replace(from, to)
}

fn approval() -> String {
    report("decree.review-approval", "All 4", "All 5")
}

fn rejection() -> String {
    report("decree.review-rejection", "An empty cart", "A full cart")
}

/// What a message of a tool and plain text with two reports come to.
fn after(id: &str, first: &str, second: &str) -> [String; 2] {
    let line = |text: &str| {
        format!("{{\"type\":\"item.completed\",\"item\":{{\"type\":\"agent_message\",\"text\":{}}}}}\n", quoted(text))
    };
    let plain = format!("{first}\n\nOn a second look:\n\n{second}");
    [plain, format!("{}{}", line(first), line(second))].map(|text| shown(&found(id, &text, &Context::default())))
}

#[track_caller]
fn refused(id: &str, first: &str, second: &str) {
    for said in after(id, first, second) {
        assert!(said.starts_with("malformed none"), "{second}\n{said}");
    }
}

#[track_caller]
fn kept(id: &str, first: &str, second: &str, expected: &str) {
    for said in after(id, first, second) {
        assert!(said.starts_with(expected), "{second}\n{said}");
    }
}

#[test]
fn a_rejection_is_known_by_its_words() {
    let rejection = rejection();
    for heading in [
        "## Review: Needs Changes",
        "## Review: needs-changes",
        "## Review: needs_changes",
        "## Review:  Needs Changes",
        "## Review:Needs Changes",
        "## Review:\u{a0}Needs\u{a0}Changes",
        "## Re\u{200b}view: Needs Changes",
        "## Review: `Needs Changes`",
        "## Review: *Needs Changes*",
        "## **Review: Needs Changes**",
        "## Review - Needs Changes",
        "## Review — Needs Changes",
        "## Review Needs Changes",
        "## Review (Needs Changes)",
        "## Review #2: Needs Changes",
        "## Review (revised): Needs Changes",
        "## Review of PR #34: Needs Changes",
        "## Code Review: Needs Changes",
        "## 2. Review: Needs Changes",
        "## ❌ Review: Needs Changes",
        "## Review: Needs Changes (2 findings)",
        "## Review: Rejected",
        "## Review: Not Approved",
        "## Review",
        "## Needs Changes",
        "## Verdict: Needs Changes",
        "## Outcome: needs-changes",
        "## Findings",
        "# Review: Needs Changes",
        "<h2>Review: Needs Changes</h2>\n",
        "Review: Needs Changes\n---",
        "Review: Needs Changes\n=====================",
    ] {
        refused("decree.review-approval", &approval(), &rejection.replacen("## Review: Needs Changes", heading, 1));
    }
    // A section of a rejection under whatever title.
    let section =
        "## My last word\n\n### Findings\n\n- **What:** src/cart.js:12 **Why:** It shows NaN. **Fix:** Begin at 0.\n";
    refused("decree.review-approval", &approval(), section);
    // What ends in the middle of its heading.
    for cut in ["## Rev", "## Review: N", "## Review: Needs Chan"] {
        for said in after("decree.review-approval", &approval(), cut) {
            assert!(said.starts_with("malformed none"), "{cut}\n{said}");
        }
    }
}

#[test]
fn a_rejection_that_is_shown_is_one_too() {
    let rejection = rejection();
    let each = |mark: &str| rejection.lines().map(|line| format!("{mark}{line}\n")).collect::<String>();
    let result = report("decree.reviewer-result", "approved", "needs-changes");
    let body = result.split_once('\n').map(|(_, body)| body).unwrap_or_default();
    for way in [
        format!("```markdown\n{rejection}```"),
        format!("~~~\n{}~~~", rejection.replace("Needs Changes", "needs-changes")),
        each("> "),
        format!("- {}", each("  ").trim_start()),
        format!("1. {}", each("   ").trim_start()),
        each("    "),
        format!("<pre>\n{}</pre>", rejection.replace("\n\n", "\n")),
        format!("### Reviewer Result\n{body}"),
        format!("Reviewer Result\n---------------\n{body}"),
        format!("**Reviewer Result**\n{body}"),
        format!("**Review: Needs Changes**\n\n{}", rejection.split_once('\n').unwrap().1),
        "Review: Needs Changes".to_owned(),
        "Review: needs-changes\n\nThe total is NaN.".to_owned(),
    ] {
        refused("decree.review-approval", &approval(), &way);
    }
}

#[test]
fn an_approval_may_be_spoken_of() {
    let rejected = approval().replace("Review: Approved", "Review: Needs Changes");
    assert_ne!(rejected, approval());
    for way in [
        "I wrote `## Review: Approved` as I was told, and not `## Review: Needs Changes`.",
        "## Summary\n\nNothing needs changes.\n",
        "The review of round 1: needs changes. All of it is mended.\n",
        "Previous review: needs changes\n",
        "## Nothing needs changes\n\nAll is well.\n",
        "## Findings\n\nNone.\n",
        "## Reviewed files\n\n- src/cart.js\n",
        "## Next steps\n\nMerge it.\n",
        "```sh\n# Review: needs changes before the first of May\ncargo test\ncargo clippy\n```\n",
        "The template says:\n\n```\n## Review: Needs Changes\n```\n",
        "**Approved.** The reviewer result follows.\n",
    ] {
        kept("decree.review-approval", &approval(), way, "ok accept");
    }
    for way in
        ["## Changes required\n\n- Fix the NaN\n", "## Blocking issues\n\nThe NaN.\n", "# Must fix\n\n1. the NaN\n"]
    {
        let said = found("decree.review-approval", &format!("{}\n\n{way}", approval()), &Context::default());
        assert!(
            shown(&said).starts_with("malformed none") && shown(&said).contains("TG0206"),
            "{way}: {}",
            shown(&said)
        );
    }
    for way in ["## Must fix\n\nNone\n", "## Files changed\n\n- src/cart.js\n", "### Below its level\n\nx\n"] {
        let said = found(
            "decree.reviewer-result",
            &format!(
                "{}\n\n{way}",
                report("decree.reviewer-result", "#34", "#35").replace("approved", "needs-changes")
            ),
            &Context::default(),
        );
        assert!(shown(&said).starts_with("ok reject"), "{way}: {}", shown(&said));
    }
    for way in [
        "Verdict: rejected",
        "**Final verdict:** needs-changes. The NaN stays.",
        "Decision: not approved",
        "### Must fix\n\n- the NaN\n",
    ] {
        for id in ["decree.review-approval", "wr.gate_verdict"] {
            let accepted = if id == "wr.gate_verdict" { report(id, "high", "low") } else { approval() };
            let fenced = format!("```json\n{accepted}\n```");
            let accepted = if id == "wr.gate_verdict" { [accepted, fenced] } else { [accepted.clone(), accepted] };
            for text in
                accepted.iter().flat_map(|one| [format!("{one}\n\n# Notes\n\nx\n\n{way}"), format!("{one}\n\n{way}")])
            {
                // A section below the level of a report is one of it, and told there.
                if way.starts_with('#') && text.starts_with("## ") && !text.contains("# Notes") {
                    continue;
                }
                let said = found(id, &text, &Context::default());
                assert!(shown(&said).starts_with("malformed none"), "{text}: {}", shown(&said));
            }
        }
    }
    for way in ["Previous verdict: rejected", "Verdict: approved", "Outcome: the rejected rows are mended"] {
        kept("decree.review-approval", &approval(), way, "ok accept");
    }
    for way in ["## Must fix\n\nNone\n", "## Files changed\n\n- src/cart.js\n"] {
        kept("decree.review-approval", &approval(), way, "ok accept");
    }
    let result = report("decree.reviewer-result", "#34", "#35");
    let rejects = result.replace("approved", "needs-changes");
    kept("decree.reviewer-result", &rejects, &rejection(), "ok reject");
    for said in after("decree.reviewer-result", &result, "## Review summary\n\nApproved.\n") {
        assert!(said.starts_with("ok accept"), "{said}");
    }
    // Headings of the prompt are shown, and what is said below them is not.
    let prompt = Some("End with one of:\n## Review: Approved\n## Review: Needs Changes\n### Findings".to_owned());
    let context = Context { prompt, ..Context::default() };
    let echo = format!("{}\n\n## Review: Needs Changes\n\n### Findings\n", approval());
    assert!(shown(&found("decree.review-approval", &echo, &context)).starts_with("ok accept"));
    let both = format!("{}\n{}", approval(), rejection());
    assert!(shown(&found("decree.review-approval", &both, &context)).starts_with("malformed none"));
}

/// Who is blocked behind what it completed is not done, whichever of the two is meant.
#[test]
fn what_stops_the_work_speaks_against_its_completion() {
    let result = report("decree.implementor-result", "#34", "#35");
    let blocker = report("decree.blocker", "Rounding is not said", "No test data");
    let failure = report("decree.validation-failure", "status draft", "missing");
    for stops in [&blocker, &failure] {
        refused("decree.implementor-result", &result, stops);
        refused("decree.implementor-result", &result, &stops.replacen("## ", "## **", 1).replacen('\n', "**\n", 1));
        refused("decree.review-approval", &approval(), stops);
    }
    for way in ["## Blocker: None", "## Blockers\n\nNone.", "## Validation\n\nAll checks pass.", "## No blocker: done"]
    {
        kept("decree.implementor-result", &result, way, "ok none");
    }
    // A question that does not block is none of these, and who is blocked may say what blocks it.
    let escalation = report("decree.escalation", "A shared type", "One shared type");
    kept("decree.implementor-result", &result, &escalation, "ok none");
    let blocked = result.replace("completed", "blocked").replace("PR:** #35", "PR:** None");
    assert_ne!(blocked, result);
    for said in after("decree.implementor-result", &blocked, &blocker) {
        assert!(!said.contains("TG0256"), "{said}");
    }
}
