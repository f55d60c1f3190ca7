//! The decisions of a run, as a person reads them: the question, what came of it, who decided, when and why.

use tollgate_api::{self as api, DecisionStatus};
use tollgate_app::format::{ago, then};

use super::question::{heading, proposed};
use super::table::wrap;
use super::text::{Line, Style, plain};

/// Their lines, in the order in which they were asked.
pub fn lines(decisions: &[api::Decision], now_ms: u64, width: usize) -> Vec<Line> {
    decisions.iter().flat_map(|decision| one(decision, now_ms, width)).collect()
}

fn one(decision: &api::Decision, now_ms: u64, width: usize) -> Vec<Line> {
    let subject = decision.unit.as_deref().unwrap_or("run");
    let (status, style) = status(decision);
    let when = format!(", asked {}", ago(now_ms, decision.asked_at_ms));
    let about = format!("  {} for {subject}, ", decision.class);
    let head = Line::new().add(Style::Strong, &decision.id).add(Style::Faint, about);
    let mut lines = vec![head.add(style, status).add(Style::Faint, when).fit(width)];
    let mut indented = |indent: usize, style: Style, text: &str| {
        let wrapped = wrap(&plain(text), width.saturating_sub(indent));
        lines.extend(wrapped.into_iter().map(|line| Line::from(" ".repeat(indent)).add(style, line)));
    };
    let heading = heading(decision);
    if !heading.is_empty() {
        indented(2, Style::Plain, heading);
    }
    for one in &decision.questions {
        indented(2, Style::Plain, &format!("{}. {}", one.number, one.text));
        proposed(one).iter().for_each(|text| indented(5, Style::Plain, text));
    }
    let by = decision.by.as_ref().map(|by| format!("by {}", by.name)).unwrap_or_default();
    let ended = decision.ended_at_ms.map(|at_ms| format!(", {}", ago(now_ms, at_ms))).unwrap_or_default();
    match (&decision.answer, decision.status) {
        (_, DecisionStatus::Pending) => {}
        (Some(answer), _) => indented(2, Style::Plain, &format!("→ {answer} ({by}{ended})")),
        (None, _) => indented(2, Style::Plain, &format!("→ {status} ({by}{ended})")),
    }
    if let Some(text) = &decision.text {
        indented(4, Style::Plain, text);
    }
    for decided in &decision.requirements {
        let later = decided.overruled_by.as_ref().map(|later| format!(", until {later}")).unwrap_or_default();
        let said = format!("{}: {}{later}", decided.id, decided.disposition.replace('_', " "));
        indented(4, Style::Plain, &said);
    }
    let until = decision.deferred_until_ms.map(|at_ms| format!("asked again {}", then(now_ms, at_ms)));
    let why: Vec<String> = decision.reason.iter().map(|why| format!("reason: {why}")).chain(until).collect();
    why.iter().for_each(|text| indented(4, Style::Faint, text));
    lines.push(Line::new());
    lines
}

fn status(decision: &api::Decision) -> (&'static str, Style) {
    match decision.status {
        DecisionStatus::Pending if decision.deferred_until_ms.is_some() => ("put off", Style::Warn),
        DecisionStatus::Pending => ("pending", Style::Warn),
        DecisionStatus::Answered => ("answered", Style::Good),
        DecisionStatus::Cancelled => ("cancelled", Style::Warn),
        DecisionStatus::Skipped => ("skipped", Style::Warn),
        DecisionStatus::Replaced => ("asked again", Style::Faint),
    }
}
