//! What an implementor posts when a file outside its scope needs more than an incidental change: a blocker when that stops the
//! work, an escalation when it does not.

use serde_json::{Value, json};

use super::change::Change;
use super::correction::Correction;
use super::rules::{Class, Corrected, Refusal, Rules, Sorted};
use crate::Format;
use crate::registry::defined;
use crate::text::one_line;

/// How many paths a draft names.
const PATHS_MAX: usize = 50;

/// A document to post.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draft {
    /// The change out of scope stops the work.
    Blocker,
    /// It does not.
    Escalation,
    /// A correction makes clear that the task does not say what it wants.
    SpecGap,
}

impl Draft {
    /// The contract it is written in.
    pub const fn contract(self) -> &'static str {
        match self {
            Self::Blocker | Self::SpecGap => "decree.blocker",
            Self::Escalation => "decree.escalation",
        }
    }

    /// Its type, as the contract names it.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Blocker => "technical-constraint",
            Self::Escalation => "scope-conflict",
            Self::SpecGap => "spec-gap",
        }
    }

    /// When it is to be posted.
    pub const fn when(self) -> &'static str {
        match self {
            Self::Blocker => "the work cannot continue without the change",
            Self::Escalation => "the work can continue",
            Self::SpecGap => "a correction names a file that the task excludes",
        }
    }
}

/// The documents that a result calls for. One blocker stops the work: the one that asks what the task wants comes first.
pub fn called_for(sorted: &[Sorted<'_>], corrected: &[Corrected<'_>]) -> Vec<Draft> {
    let unclear: Vec<&str> = corrected
        .iter()
        .filter(|corrected| matches!(corrected.refused, Some(Refusal::Excluded(_))))
        .map(|corrected| corrected.correction.actual.as_str())
        .collect();
    let outside = sorted.iter().filter(|sorted| matches!(sorted.class, Class::OutOfScope | Class::Protected));
    let others = outside.filter(|sorted| !unclear.contains(&&*sorted.change.path)).count();
    match (unclear.is_empty(), others) {
        (true, 0) => Vec::new(),
        (true, _) => vec![Draft::Blocker, Draft::Escalation],
        (false, 0) => vec![Draft::SpecGap],
        (false, _) => vec![Draft::SpecGap, Draft::Escalation],
    }
}

/// Writes a document; none when its contract does not let it.
pub fn write(draft: Draft, rules: &Rules, sorted: &[Sorted<'_>]) -> Option<String> {
    let outside = sorted.iter().filter(|sorted| matches!(sorted.class, Class::OutOfScope | Class::Protected));
    let paths: Vec<String> =
        outside.map(|sorted| format!("{} ({})", code(sorted.change), one_line(&sorted.reason))).collect();
    let count = paths.len();
    let files = if count == 1 { "a file".to_owned() } else { format!("{count} files") };
    let more = count.saturating_sub(PATHS_MAX);
    let mut named = paths.iter().take(PATHS_MAX).cloned().collect::<Vec<_>>().join("; ");
    if more > 0 {
        named.push_str(&format!("; and {more} more"));
    }
    let document = match draft {
        Draft::Blocker => json!({
            "title": format!("{files} out of scope must change"),
            "type": draft.kind(),
            "description": format!("The task cannot be finished within its scope. Changed outside it: {named}."),
            "options": [
                {
                    "name": "Extend the scope",
                    "description": "List these files in the task's In Scope.",
                    "tradeoffs": "The task grows, and may meet another one that owns them.",
                },
                {
                    "name": "Do it in a task of its own",
                    "description": "Another task makes these changes first; this one waits for it.",
                    "tradeoffs": "This task waits until then.",
                },
            ],
            "recommendation": "Option 1 because the work in scope does not work without these changes.",
            "impact": "The task stays unfinished.",
        }),
        Draft::Escalation => json!({
            "title": format!("{files} out of scope changed"),
            "type": draft.kind(),
            "description": format!("These changes are outside the task's scope and not incidental: {named}."),
            "tried": "The change was measured against In Scope, tests beside it, corrections and the three criteria of incidental changes.",
            "options": [
                "Extend the scope of the task to these files -- the task grows.",
                "Take these changes out, into a task of their own -- they come later.",
            ],
            "recommendation": "No recommendation",
            "blocked_tasks": "None",
            "needed_by": "No deadline",
        }),
        Draft::SpecGap => spec_gap(rules)?,
    };
    defined(draft.contract())?.render(&document).ok()
}

fn spec_gap(rules: &Rules) -> Option<Value> {
    let all = rules.corrected();
    let unclear = |corrected: &Corrected<'_>| -> Option<(Correction, String)> {
        match &corrected.refused {
            Some(Refusal::Excluded(item)) => Some((corrected.correction.clone(), item.to_string())),
            Some(Refusal::NotListed | Refusal::SameFile | Refusal::NoFile | Refusal::Created) | None => None,
        }
    };
    let (correction, item) = all.iter().find_map(unclear)?;
    let said = |text: &str, otherwise: &str| if text.is_empty() { otherwise.to_owned() } else { one_line(text) };
    Some(json!({
        "title": "The task excludes the file that holds the code",
        "type": Draft::SpecGap.kind(),
        "description": format!(
            "The task lists `{}`. The code is in `{}`, which the task excludes. {}",
            correction.listed, correction.actual, one_line(&correction.reason)
        ),
        "spec_reference": {
            "file": said(&rules.task.spec.0, "the task"),
            "section": said(&rules.task.spec.1, "Scope"),
            "quote": format!("\"Out of Scope: {}\"", one_line(&item)),
        },
        "options": [
            {
                "name": "Correct the scope",
                "description": format!("List `{}` in In Scope in place of `{}`.", correction.actual, correction.listed),
                "tradeoffs": "Its owner must know.",
            },
            {
                "name": "Leave the file alone",
                "description": "Say which other file the task is about.",
                "tradeoffs": "The task may have to be rewritten.",
            },
        ],
        "recommendation": "Option 1 because the code is there.",
        "impact": "It is unclear what the task asks for, so it stays unfinished.",
    }))
}

/// A path as code; one with a backtick in it has two around it.
fn code(change: &Change<'_>) -> String {
    let path = &change.path;
    if path.contains('`') { format!("`` {path} ``") } else { format!("`{path}`") }
}
