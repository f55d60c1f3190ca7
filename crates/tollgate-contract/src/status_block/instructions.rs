//! What a worker is asked to report, by the part that it plays.

use super::document::Word;
use super::rules::{Reporter, TESTER_GROUP, TO_A_PERSON};
use crate::Context;

const HEAD: &str = "\
End with one report in Markdown, outside any code fence, as the last thing you say. It begins with `## Status`.

- `## Status`: exactly one word. `complete`: finished. `blocked`: you cannot go on without an answer from a person; put
  each question as an item under `## Open Questions`. `failed`: an error you could not recover from. `incomplete`: out
  of budget before everything was done.
- `## Status reason`: one line when the status is not `complete`, else empty.
- `## Abstract`: an index of the rest, with all five fields; its verdict and its number of questions must agree with the
  sections.
- A section that lists things has one `- ` item per thing, or the single word `None`, and nothing else: no other text, no
  sub-headings, no table. Items nested below one belong to it.
- Use these sections and no others. What you write in code blocks, quotes and comments is not read.
";

/// The line of the template where the status is chosen.
pub(super) const STATUS: &str = "<complete | blocked | failed | incomplete>";

const TEMPLATE: &str = "\
## Status
<complete | blocked | failed | incomplete>

## Status reason

## Abstract
outcome: <one line: what was achieved, or why it stopped>
verdict: <VERDICT>
files: <N> created, <M> modified, <K> deleted
next_phase: <NEXT>
open_questions: <number>

## Iteration
iter <N>

## Files Created
- `<path>` — <what it is>

## Files Modified
- `<path>` — <what changed>

## Quality-Gate Results
<summary lines of the tools, word for word>

## DoD coverage
<COVERAGE>
<PART>
## Key Decisions

## For the Next Agent

## Open Questions
None
";

/// The instructions for a role.
pub(super) fn instructions(context: &Context) -> String {
    let part = Reporter::of(context);
    let template = template(context);
    format!("{HEAD}{}{}\n```markdown\n{template}```\n", rules_for(part, context), next_by_verdict(context))
}

/// A report to fill in, for a role.
pub(super) fn template(context: &Context) -> String {
    let part = Reporter::of(context);
    let verdict = match part {
        Reporter::Checker => format!("{} | {}", Word::Approved.word(), Word::Blocked.word()),
        Reporter::Reviewer => format!("{} | {}", Word::Approved.word(), Word::RequestChanges.word()),
        Reporter::Builder | Reporter::Tester => Word::NotApplicable.word().to_owned(),
        Reporter::Judge | Reporter::Anyone => Word::ALL.map(Word::word).join(" | "),
    };
    TEMPLATE
        .replace("<VERDICT>", &verdict)
        .replace("<NEXT>", &next(context))
        .replace("<COVERAGE>", coverage(part))
        .replace("<PART>", sections(part))
}

fn next(context: &Context) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in context.next.iter().flat_map(|routes| routes.values().flatten()) {
        if &**name != "person" && !names.contains(&&**name) {
            names.push(name);
        }
    }
    names.push(TO_A_PERSON);
    names.push("n/a");
    names.join(" | ")
}

/// Which next phase belongs to which verdict, where there is more than one.
fn next_by_verdict(context: &Context) -> String {
    let routes = context.next.iter().flatten().filter(|(outcome, _)| matches!(&***outcome, "accept" | "reject"));
    let said: Vec<String> = routes
        .map(|(outcome, names)| {
            let names: Vec<String> = names
                .iter()
                .map(|name| if &**name == "person" { format!("`{TO_A_PERSON}`") } else { format!("`{name}`") })
                .collect();
            let names = if names.is_empty() { "`n/a`".to_owned() } else { names.join(" or ") };
            format!("{names} when you {outcome}")
        })
        .collect();
    if said.is_empty() { String::new() } else { format!("- `next_phase` is {}.\n", said.join(", ")) }
}

const fn coverage(part: Reporter) -> &'static str {
    match part {
        Reporter::Builder | Reporter::Anyone => {
            "- ✓ <DoD-N> — <what shows it>\n- ⚠️ <DoD-N> — <Tester scope, or the reason>"
        }
        Reporter::Tester => "- ✓ <DoD-N> — <the test that shows it>\n- ✗ <DoD-N> — <what fails>",
        Reporter::Checker | Reporter::Reviewer | Reporter::Judge => "None",
    }
}

const fn sections(part: Reporter) -> &'static str {
    match part {
        Reporter::Builder | Reporter::Anyone => "",
        Reporter::Checker => {
            "\n## Verdict\n<APPROVED | BLOCKED>\n\n## Verified rows\n- <DoD-N> — <what you saw, and where>\n\n## Gaps\n\
             - <DoD-N> — <what is missing>\n\n## Reading scope used\n<what you read>\n"
        }
        Reporter::Reviewer => {
            "\n## Findings\n- [<critical | major | minor>] `<path>:<line>` (<RULE-1>) — <what is wrong>\n\n\
             ## Re-review mode\n<full | fast>\n"
        }
        Reporter::Judge => {
            "\n## Verified rows\n- <DoD-N> — <what you saw, and where>\n\n## Gaps\n- <DoD-N> — <what is missing>\n\n\
             ## Findings\n- [<critical | major | minor>] `<path>:<line>` (<RULE-1>) — <what is wrong>\n"
        }
        Reporter::Tester => "\n## Lessons Learned\n<what the next feature should know>\n",
    }
}

fn rules_for(part: Reporter, context: &Context) -> String {
    let rules = match part {
        Reporter::Builder | Reporter::Anyone => {
            "- You judge nothing: `verdict: n/a`.\n\
             - When you repair findings you were shown, list the ids you addressed under `## Addressed findings` (`- fnd_7`);\n  \
             without that section all of them count as addressed.\n"
        }
        Reporter::Checker => {
            "- Every row of the Definition of Done is an item of `## Verified rows` or of `## Gaps`, by its id; none is in both.\n\
             - `APPROVED` exactly when there is no gap; `BLOCKED` names every gap. `## Verdict` and the Abstract say the same.\n\
             - A verified row that you could not observe here begins with ⚠️ and gives the reason; it does not pass, and a\n  \
             person is asked to waive it. When you accept the ⚠️ of a builder, begin the row with ✓ and say why.\n"
        }
        Reporter::Reviewer => {
            "- `REQUEST_CHANGES` names at least one finding. A finding that was reported before names its id: `- [major] fnd_7 …`.\n\
             - With `APPROVED`, only `[minor]` findings are allowed, and they stay notes.\n"
        }
        Reporter::Judge => {
            "- You judge: `verdict` is `APPROVED`, or `REQUEST_CHANGES` or `BLOCKED` with at least one finding or gap.\n\
             - Rows are named by their id: those that hold under `## Verified rows`, those that do not under `## Gaps`.\n"
        }
        Reporter::Tester => {
            let scope = context.criteria.iter().flatten().filter(|row| row.group.as_deref() == Some(TESTER_GROUP));
            let ids: Vec<&str> = scope.map(|row| &*row.id).collect();
            let named = if ids.is_empty() { String::new() } else { format!(" ({})", ids.join(", ")) };
            return format!(
                "- `verdict: n/a`: your verdict follows from `## DoD coverage`, where every row of the tester's scope{named} begins\n  \
                 with a mark: ✓ it holds, ✗ it does not, ⚠️ it cannot be observed here. No row may be left out.\n\
                 - A ✗ rejects, also on a row of another scope that you saw fail. Leave other rows out otherwise.\n"
            );
        }
    };
    rules.to_owned()
}
