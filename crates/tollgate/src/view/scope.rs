//! A scope check as a person reads it, and as it goes over the wire.

use tollgate_api::{
    ScopeChange, ScopeCheck, ScopeClass, ScopeCorrection, ScopeCriteria, ScopeCriterion, ScopeDraft, ScopePath,
    ScopeResult, ScopeRole,
};
use tollgate_app::format::{count, list};
use tollgate_contract::scope::blocker::{Draft, write};
use tollgate_contract::scope::change::{Kind, Moved};
use tollgate_contract::scope::incidental::{Criterion, Met};
use tollgate_contract::scope::rules::{Class, Corrected, Rules, Sorted, only_adds};

use super::text::{Line, Style, beside};

/// How many paths of a class are shown: of one that is fine, and of one that is not.
const FINE_SHOWN: usize = 20;
const OPEN_SHOWN: usize = 200;
/// How many characters of a commit's id are shown.
const COMMIT_SHOWN: usize = 12;

pub fn result(sorted: &[Sorted<'_>]) -> ScopeResult {
    match sorted.iter().map(|sorted| sorted.class).max() {
        None | Some(Class::Primary | Class::Test | Class::Incidental) => ScopeResult::InScope,
        Some(Class::Judge) => ScopeResult::Judge,
        Some(Class::OutOfScope | Class::Protected) => ScopeResult::OutOfScope,
    }
}

pub fn path(sorted: &Sorted<'_>) -> ScopePath {
    let change = sorted.change;
    // Unread is "not needed" as well, where the name settled it.
    let lines = change.lines();
    let adds = sorted.class == Class::Protected && only_adds(change);
    ScopePath {
        path: change.path.to_string(),
        change: kind(change.kind()),
        other: change.moved.as_ref().map(|(Moved::From(other) | Moved::To(other))| other.to_string()),
        added: lines.map(|(added, _)| added),
        removed: lines.map(|(_, removed)| removed),
        class: class(sorted.class),
        reason: if adds { format!("{} (lines are only added)", sorted.reason) } else { sorted.reason.clone() },
        criteria: sorted.criteria.as_ref().map(|criteria| ScopeCriteria {
            minimal: criterion(&criteria.minimal),
            required: criterion(&criteria.required),
            unaltered: criterion(&criteria.unaltered),
        }),
        judge: match (&sorted.criteria, sorted.class) {
            (Some(criteria), Class::Judge) => criteria.to_judge().into_iter().map(str::to_owned).collect(),
            (None, Class::Judge) => vec![sorted.reason.clone()],
            _ => Vec::new(),
        },
    }
}

fn kind(kind: Kind) -> ScopeChange {
    match kind {
        Kind::Added => ScopeChange::Added,
        Kind::Modified => ScopeChange::Modified,
        Kind::Deleted => ScopeChange::Deleted,
        Kind::MovedHere => ScopeChange::MovedHere,
        Kind::MovedAway => ScopeChange::MovedAway,
        Kind::Replaced => ScopeChange::Replaced,
        Kind::Mode => ScopeChange::Mode,
    }
}

fn class(class: Class) -> ScopeClass {
    match class {
        Class::Primary => ScopeClass::Primary,
        Class::Test => ScopeClass::CoLocatedTest,
        Class::Incidental => ScopeClass::Incidental,
        Class::Judge => ScopeClass::Judge,
        Class::OutOfScope => ScopeClass::OutOfScope,
        Class::Protected => ScopeClass::Protected,
    }
}

fn criterion(criterion: &Criterion) -> ScopeCriterion {
    let met = match criterion.met {
        Met::Yes => Some(true),
        Met::No => Some(false),
        Met::Unknown => None,
    };
    ScopeCriterion { met, measured: criterion.measured.clone() }
}

pub fn correction(corrected: &Corrected<'_>) -> ScopeCorrection {
    let of = corrected.correction;
    ScopeCorrection {
        listed: of.listed.clone(),
        actual: of.actual.clone(),
        reason: of.reason.clone(),
        line: of.place.line,
        holds: corrected.refused.is_none(),
        why_not: corrected.refused.as_ref().map(ToString::to_string),
    }
}

pub fn drafts(drafts: &[Draft], rules: &Rules, sorted: &[Sorted<'_>]) -> Vec<ScopeDraft> {
    let one = |draft: &Draft| {
        Some(ScopeDraft {
            contract: draft.contract().to_owned(),
            kind: draft.kind().to_owned(),
            when: draft.when().to_owned(),
            text: write(*draft, rules, sorted)?,
        })
    };
    drafts.iter().filter_map(one).collect()
}

pub fn warnings(sorted: &[Sorted<'_>]) -> Vec<String> {
    let warning = |sorted: &Sorted<'_>| match sorted.class {
        Class::Primary | Class::Test | Class::Incidental => None,
        Class::Judge => Some(format!("[Warning] `{}` may be incidental: {}", sorted.change.path, sorted.reason)),
        Class::OutOfScope => Some(format!("[Warning] `{}` is out of scope: {}", sorted.change.path, sorted.reason)),
        Class::Protected => Some(format!("[Warning] `{}` is protected: {}", sorted.change.path, sorted.reason)),
    };
    sorted.iter().filter_map(warning).collect()
}

/// The check as lines of a width.
pub fn lines(check: &ScopeCheck, width: usize) -> Vec<Line> {
    let short = |commit: &str| commit.chars().take(COMMIT_SHOWN).collect::<String>();
    let head = check.head.as_deref().map_or("the checkout".to_owned(), short);
    let mut lines = vec![Line::new().add(Style::Strong, &check.task).text(format!(
        ": {}, {} to {head}",
        count(check.paths.len(), "changed path"),
        short(&check.base)
    ))];
    for class in Class::ALL.map(class) {
        let paths: Vec<&ScopePath> = check.paths.iter().filter(|path| path.class == class).collect();
        if !paths.is_empty() {
            lines.push(Line::new());
            group(class, &paths, check.role, width, &mut lines);
        }
    }
    if !check.corrections.is_empty() {
        lines.push(Line::new());
        lines.push(Line::new().add(Style::Strong, "scope corrections"));
        check.corrections.iter().for_each(|correction| lines.extend(corrected(correction, width)));
    }
    lines.push(Line::new());
    lines.extend(conclusion(check, width));
    lines
}

fn look(class: ScopeClass, role: ScopeRole) -> (&'static str, Style, &'static str) {
    let warned = role == ScopeRole::Reviewer;
    match class {
        ScopeClass::Primary => ("✓", Style::Good, "primary"),
        ScopeClass::CoLocatedTest => ("✓", Style::Good, "co-located test"),
        ScopeClass::Incidental => ("✓", Style::Good, "incidental"),
        ScopeClass::Judge => ("?", Style::Warn, "incidental?"),
        ScopeClass::OutOfScope if warned => ("!", Style::Warn, "out of scope"),
        ScopeClass::Protected if warned => ("!", Style::Warn, "protected"),
        ScopeClass::OutOfScope => ("✗", Style::Bad, "out of scope"),
        ScopeClass::Protected => ("✗", Style::Bad, "protected"),
    }
}

fn group(class: ScopeClass, paths: &[&ScopePath], role: ScopeRole, width: usize, lines: &mut Vec<Line>) {
    let (sign, style, word) = look(class, role);
    lines.push(Line::new().add(style, format!("{sign} {word}")).add(Style::Faint, format!(" ({})", paths.len())));
    let fine = matches!(class, ScopeClass::Primary | ScopeClass::CoLocatedTest | ScopeClass::Incidental);
    let shown = if fine { FINE_SHOWN } else { OPEN_SHOWN };
    let labels: Vec<Line> = paths.iter().take(shown).map(|path| Line::from(format!("  {}", path.path))).collect();
    let room = (width * 2 / 5).clamp(16, 60);
    let column = labels.iter().map(Line::width).filter(|width| *width <= room).max().unwrap_or(0);
    for (path, label) in paths.iter().zip(labels) {
        let said = match happened(path) {
            Some(what) if class == ScopeClass::Judge => what,
            Some(what) => format!("{what}; {}", path.reason),
            None if class == ScopeClass::Judge => "changed".to_owned(),
            None => path.reason.clone(),
        };
        let wide = label.width();
        if wide <= column {
            let label = label.text(" ".repeat(column - wide + 2));
            lines.extend(beside(&label, Style::Plain, &said, width));
        } else {
            lines.push(label);
            lines.extend(beside(&Line::from("      "), Style::Plain, &said, width));
        }
        if class == ScopeClass::Judge {
            lines.extend(measured(path, width));
        }
    }
    if paths.len() > shown {
        lines.push(
            Line::new().add(Style::Faint, format!("  and {} more; `--json` has all of them", paths.len() - shown)),
        );
    }
}

/// What happened to a path, where that is not a plain change of its lines.
fn happened(path: &ScopePath) -> Option<String> {
    let other = path.other.as_deref().unwrap_or_default();
    let lines = path.added.zip(path.removed).map(|(added, removed)| format!("+{added} -{removed}"));
    match path.change {
        ScopeChange::Added => Some("new".to_owned()),
        ScopeChange::Deleted => Some("deleted".to_owned()),
        ScopeChange::MovedHere => Some(format!("renamed from {other}")),
        ScopeChange::MovedAway => Some(format!("renamed to {other}")),
        ScopeChange::Replaced => Some("replaced".to_owned()),
        ScopeChange::Mode => Some("mode changed".to_owned()),
        ScopeChange::Modified => path.criteria.as_ref().and(lines),
    }
}

fn measured(path: &ScopePath, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let all = path.criteria.as_ref().map(|criteria| {
        [("minimal", &criteria.minimal), ("required", &criteria.required), ("unaltered", &criteria.unaltered)]
    });
    for (name, criterion) in all.into_iter().flatten() {
        let (sign, style) = match criterion.met {
            Some(true) => ("✓", Style::Good),
            Some(false) => ("✗", Style::Bad),
            None => ("?", Style::Warn),
        };
        let label = Line::from("      ").add(style, sign).text(format!(" {name:<10} "));
        lines.extend(beside(&label, Style::Plain, &criterion.measured, width));
    }
    let label = Line::from("      ").add(Style::Accent, "to judge: ");
    lines.extend(beside(&label, Style::Plain, &path.judge.join(" "), width));
    lines
}

fn corrected(correction: &ScopeCorrection, width: usize) -> Vec<Line> {
    let (sign, style) = if correction.holds { ("✓", Style::Good) } else { ("✗", Style::Bad) };
    let label = Line::from("  ").add(style, sign).text(" ");
    let why = correction.why_not.as_deref().unwrap_or(&correction.reason);
    beside(&label, Style::Plain, &format!("{} in place of {}: {why}", correction.actual, correction.listed), width)
}

fn conclusion(check: &ScopeCheck, width: usize) -> Vec<Line> {
    let number = |class: ScopeClass| check.paths.iter().filter(|path| path.class == class).count();
    let counted = |class| {
        let (_, _, word) = look(class, check.role);
        match number(class) {
            0 => None,
            count => Some(format!("{count} {word}")),
        }
    };
    let open: Vec<String> =
        [ScopeClass::OutOfScope, ScopeClass::Protected, ScopeClass::Judge].into_iter().filter_map(counted).collect();
    let (sign, style) = match (check.result, check.role) {
        (ScopeResult::InScope, _) => ("✓", Style::Good),
        (ScopeResult::Judge, _) => ("?", Style::Warn),
        (ScopeResult::OutOfScope, ScopeRole::Reviewer) => ("!", Style::Warn),
        (ScopeResult::OutOfScope, ScopeRole::Implementor) => ("✗", Style::Bad),
    };
    let said = match (check.paths.is_empty(), open.is_empty()) {
        (true, _) => "nothing changed".to_owned(),
        (false, true) => "everything is in scope".to_owned(),
        (false, false) => list(&open),
    };
    let mut lines = vec![Line::new().add(style, format!("{sign} {said}"))];
    let next = Line::new().add(Style::Accent, "next: ");
    for text in next_steps(check) {
        lines.extend(beside(&next, Style::Plain, &text, width));
    }
    if check.role == ScopeRole::Reviewer && !check.warnings.is_empty() {
        lines.push(Line::from("For the review, under Warnings (they do not reject it):"));
        for warning in check.warnings.iter().take(OPEN_SHOWN) {
            lines.extend(beside(&Line::from("- "), Style::Plain, warning, width));
        }
    }
    lines
}

fn next_steps(check: &ScopeCheck) -> Vec<String> {
    let mut steps = Vec::new();
    let implementor = check.role == ScopeRole::Implementor;
    let has = |class: ScopeClass| check.paths.iter().any(|path| path.class == class);
    if implementor && has(ScopeClass::Judge) {
        steps.push("a person judges each path marked `?`; if the answer is no, it is out of scope".to_owned());
    }
    for draft in &check.drafts {
        let name = draft.contract.trim_start_matches("decree.");
        steps.push(match draft.kind.as_str() {
            "spec-gap" => format!("{}: stop with a blocker, type spec-gap (`--draft blocker`)", draft.when),
            kind => format!("if {}: post the {name}, type {kind} (`--draft {name}`)", draft.when),
        });
    }
    if implementor && has(ScopeClass::OutOfScope) {
        steps.push("or revert those changes; if the task lists the wrong file, say so under `## Scope correction` (`--pr-body`)".to_owned());
    }
    steps
}
