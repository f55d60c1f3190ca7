//! What a worker is told about its report.

use super::document::Word;
use super::draft::Draft;
use super::rules::{Part, TESTER_GROUP, TO_A_PERSON};
use crate::contract::Context;

const HEAD: &str = "\
End with one report in Markdown, outside any code fence, as the last thing you say. It begins with `## Status`.

- `## Status`: exactly one word. `complete`: finished. `blocked`: you cannot go on without an answer from a person; put
  each question as an item under `## Open Questions`. `failed`: an error you could not recover from. `incomplete`: out
  of budget before everything was done.
- `## Status reason`: one line when the status is not `complete`, else empty.
- `## Abstract`: an index of the rest; its counts and verdict must agree with the sections. A contradiction inside the
  report makes it worthless.
- A section that lists things has one item per thing, or the word `None` alone. Nothing else stands in it: no words around
  the list, no sub-headings, nothing nested that should be an item of its own.
";

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
    let part = Part::of(context, &Draft::default());
    let template = template(context);
    format!("{HEAD}{}{}\n```markdown\n{template}```\n", rules(part, context), next_by_verdict(context))
}

/// A report to fill in, for a role.
pub(super) fn template(context: &Context) -> String {
    let part = Part::of(context, &Draft::default());
    let verdict = match part {
        Part::DodChecker => format!("{} | {}", Word::Approved.word(), Word::Blocked.word()),
        Part::Reviewer => format!("{} | {}", Word::Approved.word(), Word::RequestChanges.word()),
        Part::Builder | Part::Tester => Word::NotApplicable.word().to_owned(),
        Part::Unknown => Word::ALL.map(Word::word).join(" | "),
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

const fn coverage(part: Part) -> &'static str {
    match part {
        Part::Builder | Part::Unknown => "- ✓ <DoD-N> — <what shows it>\n- ⚠️ <DoD-N> — <Tester scope, or the reason>",
        Part::Tester => "- ✓ <DoD-N> — <the test that shows it>\n- ✗ <DoD-N> — <what fails>",
        Part::DodChecker | Part::Reviewer => "None",
    }
}

const fn sections(part: Part) -> &'static str {
    match part {
        Part::Builder | Part::Unknown => "",
        Part::DodChecker => {
            "\n## Verdict\n<APPROVED | BLOCKED>\n\n## Verified rows\n- <DoD-N> — <what you saw, and where>\n\n## Gaps\n\
             - <DoD-N> — <what is missing>\n\n## Reading scope used\n<what you read>\n"
        }
        Part::Reviewer => {
            "\n## Findings\n- [<critical | major | minor>] `<path>:<line>` (<RULE-1>) — <what is wrong>\n\n## Re-review mode\n<full | fast>\n"
        }
        Part::Tester => "\n## Lessons Learned\n<what the next feature should know>\n",
    }
}

fn rules(part: Part, context: &Context) -> String {
    match part {
        Part::Builder | Part::Unknown => {
            "- You judge nothing: `verdict: n/a`.\n- When you repair findings you were shown, list the ids you addressed under \
             `## Addressed findings` (`- fnd_7`); without that section all of them count as addressed.\n"
                .to_owned()
        }
        Part::DodChecker => "- Every row of the Definition of Done is an item of `## Verified rows` or of `## Gaps`, by its id; none is in both.\n\
             - `APPROVED` exactly when there is no gap; `BLOCKED` names every gap. `## Verdict` and the Abstract say the same.\n\
             - A verified row that you could not observe here begins with ⚠️ and the reason; it is no pass, and a person is asked to waive it. When you accept \
             the ⚠️ of a builder, you verify the row: begin it with ✓ and say why in words.\n"
            .to_owned(),
        Part::Reviewer => "- `REQUEST_CHANGES` names at least one finding. A finding that was reported before begins with its id: `- [major] fnd_7 …`.\n\
             - With `APPROVED`, only `[minor]` findings may stand, and they stay notes.\n"
            .to_owned(),
        Part::Tester => {
            let scope = context.criteria.iter().flatten().filter(|row| row.group.as_deref() == Some(TESTER_GROUP));
            let ids: Vec<&str> = scope.map(|row| &*row.id).collect();
            let named = if ids.is_empty() { String::new() } else { format!(" ({})", ids.join(", ")) };
            format!(
                "- `verdict: n/a`: your verdict follows from `## DoD coverage`, where every row of the tester's scope{named} is \
                 marked: ✓ it holds, ✗ it does not, ⚠️ with the reason it cannot be observed here. A row left out makes the report worthless.\n\
                 - A ✗ rejects, also on a row of another scope that you saw fail. Leave other rows out otherwise.\n"
            )
        }
    }
}
