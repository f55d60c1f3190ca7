//! Only structure is judged: code, quotes and comments say nothing, and no sentence changes a judgement.

use super::*;
use tollgate_core::report::{Judgement, Report};

/// Valid reports of every part, with `FREE` in the place of free text.
fn documents() -> Vec<(Context, String)> {
    let of = |part: Part| with_rows(part, &ROWS);
    let end = "\n## Key Decisions\nFREE\n\n## For the Next Agent\nFREE\n\n## Open Questions\n- FREE\n- FREE\n";
    let text = |verdict: &str, files: &str, rest: &str| {
        format!(
            "## Status\ncomplete\n\n## Status reason\n\n## Abstract\noutcome: FREE\nverdict: {verdict}\nfiles: {files}\n\
             next_phase: n/a\nopen_questions: 2\n\n{rest}{end}"
        )
    };
    let built = "## Files Created\n- `src/a.rs` — FREE\n\n## Files Modified\nNone\n\n## Quality-Gate Results\nFREE\n\n\
                 ## DoD coverage\n- ✓ DoD-1 — FREE\n- ⚠️ DoD-3 — FREE\n";
    let approved = "## Verdict\nAPPROVED\n\n## Verified rows\n- DoD-1 — FREE\n- DoD-2, DoD-3: FREE\n\n## Gaps\nNone\n\n\
                    ## Reading scope used\nFREE\n";
    let blocked =
        "## Verdict\nBLOCKED\n\n## Verified rows\n- DoD-1 — FREE\n- ⚠️ DoD-3 — FREE\n\n## Gaps\n- DoD-2 — FREE\n";
    let reviewed = "## Findings\n- [major] `src/a.rs:12` (BE-3) — FREE\n- [minor] fnd_7 `src/b.rs` — FREE\n\n## Re-review mode\nFREE\n";
    let tested = "## DoD coverage\n- ✓ DoD-3 — FREE\n- ✗ DoD-1 — FREE\n\n## Lessons Learned\nFREE\n";
    vec![
        (of(Part::Developer), text("n/a", "1 created, 0 modified, 0 deleted", built)),
        (of(Part::Checker), text("APPROVED", NO_FILES, approved)),
        (of(Part::Checker), text("BLOCKED", NO_FILES, blocked)),
        (of(Part::Reviewer), text("REQUEST_CHANGES", NO_FILES, reviewed)),
        (of(Part::Reviewer), text("APPROVED", NO_FILES, "## Findings\nNone\n")),
        (of(Part::Tester), text("n/a", NO_FILES, tested)),
    ]
}

/// What a report decides, without its free text.
#[derive(Debug, PartialEq, Eq)]
struct Judged {
    health: &'static str,
    verdict: &'static str,
    rows: Vec<(String, Judgement)>,
    files: Vec<String>,
    findings: Vec<String>,
    questions: usize,
    codes: Vec<String>,
}

fn judged(text: &str, context: &Context) -> Judged {
    let reading = read(text, context);
    let Report { health, verdict, criteria, findings, questions, claims, .. } = &reading.report;
    Judged {
        health: health.word(),
        verdict: verdict.word(),
        rows: criteria.iter().map(|row| (row.id.to_string(), row.result)).collect(),
        files: claims.paths().map(ToString::to_string).collect(),
        findings: findings
            .iter()
            .map(|one| format!("{:?} {:?} {:?} {:?}", one.severity, one.path, one.line, one.category))
            .collect(),
        questions: questions.len(),
        codes: reading.diagnostics.iter().map(|one| one.code.to_string()).collect(),
    }
}

/// Code, quotes and comments between the blocks of a report change nothing, whatever they hold.
#[test]
fn opaque_blocks_change_no_judgement() {
    let opaque = [
        "```\n## Status\nfailed\n- ✗ DoD-1 — FAIL\nverdict: BLOCKED\nNone\n```\n",
        "~~~markdown\n- None\n- [critical] src/b.rs:1 — it leaks\n~~~\n",
        "> ## Verdict\n> BLOCKED\n> - May I delete production?\n",
        "<!-- verdict: BLOCKED\n## Gaps\n- DoD-1\n-->\n",
        "    ## Gaps\n    - DoD-1\n",
    ];
    for (context, text) in documents() {
        let whole = judged(&text, &context);
        assert!(whole.health == "ok" && whole.codes.is_empty(), "{text}\n{whole:?}");
        let (mut at, mut after_heading) = (0, false);
        for line in text.split_inclusive('\n') {
            let between = after_heading || line.starts_with("- ") || line.starts_with("## ");
            for block in opaque.iter().filter(|_| between && at > 0) {
                // After a list item, an indented line belongs to the item.
                if block.starts_with(' ') && !after_heading {
                    continue;
                }
                let with = format!("{}\n{block}\n{}", &text[..at], &text[at..]);
                assert_eq!(judged(&with, &context), whole, "{with}");
            }
            at += line.len();
            after_heading = line.starts_with("## ");
        }
    }
}

/// Free text and evidence may say anything, also as code inside of a line.
#[test]
fn sentences_change_no_judgement() {
    let said = [
        "FAIL: 3 of 12, not verified",
        "**Must fix:** the NaN",
        "On second thought I cannot approve this",
        "rejected, see below",
        "none of it works",
        "~~done~~",
        "❌ no, ✗ no",
        "TODO: check",
        "<what is wrong>",
        "case 2: FAIL",
        "a `verdict: BLOCKED` b `✗ DoD-1`",
    ];
    for (context, text) in documents() {
        let whole = judged(&text, &context);
        for words in said {
            for (at, _) in text.match_indices("FREE") {
                let with = format!("{}{words}{}", &text[..at], &text[at + 4..]);
                assert_eq!(judged(&with, &context), whole, "{with}");
            }
        }
    }
}
