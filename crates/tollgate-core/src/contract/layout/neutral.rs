//! Sections beside an acceptance that its contract does not have. What asks for a change has countless names, so that only what is known to ask for
//! nothing is let pass.

use super::labels::without_box;
use super::outline::heads;
use crate::contract::grave::{asks_for_change, refuses_alone};
use crate::contract::nothing::{holds_nothing, lists_nothing};
use crate::contract::text::words;

/// Words of titles that tell what was seen or may be done some day, and ask for nothing now.
const HARMLESS: [&str; 99] = [
    "acknowledgement",
    "acknowledgements",
    "acknowledgments",
    "analysis",
    "appendix",
    "approach",
    "assessment",
    "background",
    "changed",
    "check",
    "checked",
    "checks",
    "ci",
    "code",
    "commands",
    "comment",
    "comments",
    "conclusion",
    "context",
    "coverage",
    "covered",
    "decision",
    "detail",
    "details",
    "documentation",
    "environment",
    "evidence",
    "examined",
    "files",
    "follow",
    "followup",
    "followups",
    "future",
    "gates",
    "highlights",
    "information",
    "inspected",
    "introduction",
    "links",
    "log",
    "method",
    "methodology",
    "metrics",
    "next",
    "nit",
    "nitpick",
    "nitpicks",
    "nits",
    "nonblocking",
    "note",
    "notes",
    "observations",
    "optional",
    "outcome",
    "overview",
    "performance",
    "pipeline",
    "plan",
    "positive",
    "positives",
    "praise",
    "quality",
    "ran",
    "rationale",
    "read",
    "reasoning",
    "references",
    "remarks",
    "result",
    "results",
    "reviewed",
    "run",
    "scope",
    "self",
    "statistics",
    "status",
    "steps",
    "strengths",
    "style",
    "suggestions",
    "summary",
    "task",
    "tasks",
    "test",
    "tested",
    "testing",
    "tests",
    "thanks",
    "timeline",
    "touched",
    "ups",
    "validated",
    "validation",
    "verdict",
    "verification",
    "verified",
    "well",
    "went",
    "work",
];
/// Words that tie those together.
const TIES: [&str; 32] = [
    "a",
    "about",
    "additional",
    "an",
    "and",
    "at",
    "brief",
    "by",
    "did",
    "executive",
    "final",
    "for",
    "general",
    "how",
    "i",
    "in",
    "it",
    "my",
    "of",
    "on",
    "or",
    "other",
    "our",
    "overall",
    "short",
    "that",
    "the",
    "this",
    "to",
    "was",
    "were",
    "what",
];
/// Words of titles that tell what was seen of something.
const TELLING: [&str; 22] = [
    "analysis",
    "assessment",
    "checked",
    "conclusion",
    "coverage",
    "criteria",
    "criterion",
    "details",
    "evidence",
    "highlights",
    "method",
    "notes",
    "overview",
    "positives",
    "results",
    "reviewed",
    "scope",
    "strengths",
    "summary",
    "tested",
    "verification",
    "verified",
];
/// What it is seen of. By itself it may ask for something: `Review comments`, `Changes`.
const SUBJECTS: [&str; 22] = [
    "acceptance",
    "api",
    "architecture",
    "build",
    "change",
    "changes",
    "commit",
    "commits",
    "criteria",
    "criterion",
    "design",
    "diff",
    "dod",
    "implementation",
    "pr",
    "requirements",
    "review",
    "reviewer",
    "rows",
    "security",
    "spec",
    "why",
];
/// Words that tell what came of something, or of which round it is.
const SETTLED: [&str; 16] = [
    "added",
    "addressed",
    "answered",
    "closed",
    "complete",
    "completed",
    "done",
    "earlier",
    "fixed",
    "made",
    "performed",
    "previous",
    "prior",
    "resolved",
    "taken",
    "updated",
];
/// What is settled so: `Issues fixed`, `Prior verdict`.
const OPEN: [&str; 12] = [
    "action",
    "actions",
    "decisions",
    "feedback",
    "finding",
    "findings",
    "gaps",
    "issue",
    "issues",
    "problems",
    "questions",
    "round",
];

/// The title of a section, or of one inside of it, that may ask for a change and does not say that there is nothing to ask for.
pub fn doubted<'t>(title: &'t str, body: &'t str) -> Option<&'t str> {
    let inner = heads(body);
    let ends = inner.iter().skip(1).map(|(.., range)| range.start).chain([body.len()]);
    let inner: Vec<(&str, &str)> = inner
        .iter()
        .zip(ends)
        .map(|((_, title, range), end)| (&body[title.clone()], &body[range.end.min(end)..end]))
        .collect();
    let first = heads(body).first().map_or(body.len(), |(.., range)| range.start);
    let parts = || std::iter::once((title, &body[..first])).chain(inner.iter().copied());
    let says = |(title, body): &(&str, &str)| {
        !(holds_nothing(body) && names_nothing(title)) || (body.trim().is_empty() && refuses_alone(title))
    };
    // Below a title that asks for nothing a mark may; of what is settled it tells what was asked.
    let asks = |part: &(&str, &str)| match is_neutral(part.0) {
        true => (asks_for_change(part.1) || refuses_alone(part.1)) && !is_settled(part.0),
        false => says(part),
    };
    match is_neutral(title) {
        true => parts().find(asks).map(|part| part.0),
        false => parts().any(|part| says(&part)).then_some(title),
    }
}

/// Whether a title has no value behind a colon, or one that says that there is nothing: `Must fix: none`.
fn names_nothing(title: &str) -> bool {
    title.split_once(':').is_none_or(|(_, value)| lists_nothing(value.trim()))
}

/// Whether a title asks for nothing, whatever stands below it. Numbers and pictures say nothing, and a cross denies what it stands before.
fn is_neutral(title: &str) -> bool {
    let is = |word: &str, known: &[&str]| known.iter().any(|known| word.eq_ignore_ascii_case(known));
    // What does not block is one word here.
    let title = &title.to_lowercase().replace("non-blocking", "nonblocking");
    let own = || words(title).filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
    let settled = is_settled(title);
    let tells = settled || own().any(|word| is(word, &TELLING));
    let known = |word: &str| {
        [&HARMLESS[..], &TIES, &SETTLED].iter().any(|known| is(word, known))
            || (tells && is(word, &SUBJECTS))
            || (settled && is(word, &OPEN))
    };
    lists_nothing(title) || (own().next().is_some() && own().all(known) && !is_crossed(title))
}

/// Whether a title tells what came of something.
fn is_settled(title: &str) -> bool {
    words(title).any(|word| SETTLED.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

/// Signs that deny what they stand before.
const CROSSES: [&str; 11] = ["❌", "✗", "✘", "✖", "❎", "🚫", "⛔", "☐", "⬜", "🔴", "👎"];

/// Whether an item, or the value of its label, begins with a sign that denies it.
pub fn is_crossed(item: &str) -> bool {
    let crossed = |text: &str| CROSSES.iter().any(|sign| text.trim_start().starts_with(sign));
    let value = [":**", "**:"].iter().filter_map(|sign| item.split_once(sign)).map(|(_, value)| value).next();
    crossed(without_box(item)) || value.is_some_and(crossed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_for_a_change_is_doubted_by_any_name() {
        for title in [
            "Summary",
            "📝 2. Notes",
            "What was reviewed",
            "Follow-ups",
            "Next steps",
            "Optional: nits and suggestions",
            "Code quality",
            "Review summary",
            "Summary of the changes",
            "Acceptance criteria verified",
            "Tests & results",
            "Questions answered",
            "Changes made",
            "Prior verdict",
            "No blocking issues",
            "Nothing needs changes",
            "What Went Well",
            "Commands run",
            "Acceptance Criteria",
            "CI status",
            "Verdict",
            "Non-blocking comments",
            "Tests added",
            "Actions taken",
            "Task complete",
        ] {
            assert_eq!(doubted(title, "- Fix the NaN\n"), None, "{title}");
        }
        for title in [
            "Required changes",
            "Changes",
            "Must fix",
            "Needs fixing",
            "Blockers",
            "Critical",
            "To fix",
            "Rejected",
            "Review comments",
            "Concerns",
            "Summary of issues",
            "Issues to be fixed",
            "Unresolved issues",
            "Security",
            "Bugs",
            "Not verified",
            "❌ Tests",
            "Actions",
            "Blocking comments",
            "Unmet criteria",
            "Änderungen",
            "必須の修正",
            "1.",
        ] {
            assert_eq!(doubted(title, "- Fix the NaN\n"), Some(title));
        }
        for nothing in [
            "",
            "None\n",
            "- None.\n",
            "No blocking issues found.\n\n---\n",
            "No changes are required.",
            "No further changes needed",
            "### Cart\n\nNone\n",
        ] {
            assert_eq!(doubted("Must fix", nothing), None, "{nothing}");
        }
        assert_eq!(doubted("Must fix: none", ""), None);
        assert_eq!(doubted("Must fix: the NaN", ""), Some("Must fix: the NaN"));
        assert_eq!(doubted("Must fix", "None\n- but the NaN\n"), Some("Must fix"));
        assert_eq!(doubted("Must fix", "No changes required, but rename the total\n"), Some("Must fix"));
        assert_eq!(doubted("Notes", "All is well.\n\n### Must fix\n\n- the NaN\n"), Some("Must fix"));
        assert_eq!(doubted("Notes", "All is well.\n\n### Must fix\n\nNone\n"), None);
        assert_eq!(doubted("Review notes", "- [critical] NaN in src/cart.js:12\n"), Some("Review notes"));
        assert_eq!(doubted("Notes", "Fine.\n\n### Comments\n\n1. **Blocking:** NaN\n"), Some("Comments"));
        for refusal in
            ["rejected", "**REJECTED**", "Needs changes", "Not approved.", "Do not merge.", "❌ 3 failed", "FAIL"]
        {
            assert_eq!(doubted("Verdict", refusal), Some("Verdict"), "{refusal}");
        }
        for accepted in ["approved", "Rejected names are told.", "Failed: 0", "No changes requested.", "Blocked: none"]
        {
            assert_eq!(doubted("Test results", accepted), None, "{accepted}");
        }
        assert_eq!(doubted("Do not merge", ""), Some("Do not merge"));
        assert_eq!(doubted("Prior verdict", "rejected"), None);
        assert_eq!(doubted("Findings addressed", "- [critical] NaN in src/cart.js:12\n"), None);
    }
}
