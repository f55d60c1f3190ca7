//! What happened in a run, moment by moment.

use tollgate_api::{self as api, AttemptStatus, DecisionStatus, RunDetail};
use tollgate_app::detail::{History, Moment, What};
use tollgate_app::format::{self, count, duration};
use tollgate_engine::workers::adapter_of;

use super::Screen;
use crate::view::status;
use crate::view::text::{Line, Style, width};

/// How many moments of a long run are shown, of which these are its beginning and its end; `logs` tells all.
const MOMENTS_MAX: usize = 40;
const FIRST_MAX: usize = 10;
const LAST_MAX: usize = 14;

pub(super) fn lines(screen: &mut Screen, detail: &RunDetail, history: &History) {
    let start = detail.summary.started_at_ms;
    let entry = |moment: &Moment| {
        let (unit, entry) = entry(moment, detail, history);
        (format!("+{}", duration(moment.at_ms.saturating_sub(start))), unit, entry)
    };
    let all: Vec<(String, String, Entry)> = history.moments.iter().map(entry).collect();
    let turns: Vec<bool> = all.iter().map(|(_, _, entry)| entry.symbol != "✓").collect();
    let shown = shown(&turns);
    let note = match all.len() - shown.len() {
        0 => String::new(),
        left_out => format!("{left_out} left out: `tollgate logs {}`", detail.summary.run),
    };
    screen.title("What happened", &note);
    let widest = |texts: &mut dyn Iterator<Item = &String>| texts.map(|text| width(text)).max().unwrap_or(0);
    let times = widest(&mut all.iter().map(|(time, _, _)| time));
    let units = widest(&mut all.iter().map(|(_, unit, _)| unit)).min(screen.columns / 5);
    let pad = |text: &str, wide: usize| format!("{}  ", " ".repeat(wide.saturating_sub(width(text))));
    let mut next = 0;
    for place in shown {
        if place > next {
            let how = if turns[next..place].contains(&true) { "" } else { " without problems" };
            let left_out = format!("… {}{how}", count(place - next, "more step"));
            screen.lines.push(Line::from("  ").add(Style::Faint, left_out));
        }
        next = place + 1;
        let (time, unit, entry) = &all[place];
        let unit_cell = Line::new().add(Style::Strong, unit).fit(units);
        let gap = pad(&unit_cell.to_string(), units);
        let label = Line::from("  ")
            .add(Style::Faint, pad(time, times).trim_end_matches("  ").to_owned() + time + "  ")
            .join(unit_cell)
            .text(gap)
            .add(entry.style, entry.symbol)
            .text(" ");
        screen.wrapped(label, &format!("{}{}{}", entry.text, entry.took, entry.to), Style::Plain);
    }
}

/// The places that are shown: of a long run how it began and where it came to, and between them before all what did not simply go
/// well.
fn shown(turns: &[bool]) -> Vec<usize> {
    let mut left = turns.len().saturating_sub(MOMENTS_MAX);
    let middle = FIRST_MAX..turns.len().saturating_sub(LAST_MAX);
    let mut shown = vec![true; turns.len()];
    for is_turn in [false, true] {
        for place in middle.clone().filter(|place| turns[*place] == is_turn) {
            if left > 0 {
                shown[place] = false;
                left -= 1;
            }
        }
    }
    (0..turns.len()).filter(|place| shown[*place]).collect()
}

/// One moment in words.
struct Entry {
    symbol: &'static str,
    style: Style,
    text: String,
    took: String,
    /// Where it led.
    to: String,
}

impl Entry {
    fn plain(symbol: &'static str, style: Style, text: String) -> Self {
        Self { symbol, style, text, took: String::new(), to: String::new() }
    }
}

fn entry(moment: &Moment, detail: &RunDetail, history: &History) -> (String, Entry) {
    let subject = |unit: Option<&str>| unit.unwrap_or("run").to_owned();
    match &moment.what {
        What::Attempt(place) => match detail.attempts.get(*place) {
            Some(attempt) => (subject(attempt.unit.as_deref()), attempt_entry(attempt, detail.summary.status)),
            None => (subject(None), Entry::plain("·", Style::Faint, String::new())),
        },
        What::Decision(id) => {
            let known = detail.decisions.iter().find(|decision| decision.id == id.to_string());
            let unit = known.and_then(|decision| decision.unit.as_deref());
            let notes = history.answered.get(id).map(Vec::as_slice).unwrap_or_default();
            let entry = known.map(|decision| decision_entry(decision, notes, history.in_advance.contains(id)));
            (subject(unit), entry.unwrap_or_else(|| Entry::plain("?", Style::Warn, id.to_string())))
        }
        // Why is said at the top.
        What::Event { unit, text } if text.starts_with("halted: ") => {
            (subject(unit.as_deref()), Entry::plain("■", Style::Bad, "halted".to_owned()))
        }
        What::Event { unit, text } => (subject(unit.as_deref()), Entry::plain("·", Style::Faint, text.clone())),
    }
}

/// "build: developer (script), 2nd time: done, 3 files changed → check".
fn attempt_entry(attempt: &api::Attempt, run: api::RunStatus) -> Entry {
    let who = match (&attempt.role, &attempt.worker) {
        (Some(role), Some(worker)) => format!(": {role} ({})", worker_word(worker)),
        (Some(role), None) => format!(": {role}"),
        (None, _) => String::new(),
    };
    let again =
        if attempt.iteration > 1 { format!(", {}", format::nth_time(attempt.iteration)) } else { String::new() };
    let what = match (attempt.status, attempt.reason.as_str()) {
        (AttemptStatus::Working, _) if run == api::RunStatus::Interrupted => {
            ": was at work when its driver went".to_owned()
        }
        (AttemptStatus::Working, "") => ": works".to_owned(),
        (AttemptStatus::Working, reason) => format!(": works ({reason})"),
        (_, reason) => format!(": {reason}"),
    };
    let to = attempt.routed_to.as_ref().map(|to| format!(" → {to}")).unwrap_or_default();
    let (symbol, style) = match (attempt.status, attempt.outcome.as_deref()) {
        (AttemptStatus::Reported, Some("ok" | "accept" | "accept_with_notes" | "pass" | "landed") | None) => {
            ("✓", Style::Good)
        }
        (AttemptStatus::Reported, Some("reject" | "fail" | "stale" | "inconclusive")) => ("✗", Style::Warn),
        (AttemptStatus::Reported, Some(outcome)) if outcome.starts_with("needs_input") => ("?", Style::Warn),
        (AttemptStatus::Reported, Some(_)) => ("✗", Style::Bad),
        (
            status @ (AttemptStatus::Working
            | AttemptStatus::Lost
            | AttemptStatus::Unready
            | AttemptStatus::Cancelled
            | AttemptStatus::Parked),
            _,
        ) => {
            let state = status::attempt(status);
            (state.symbol, state.style)
        }
    };
    let took = attempt.ended_at_ms.map(|end| took(attempt.started_at_ms, end)).unwrap_or_default();
    Entry { symbol, style, text: format!("{} {}{who}{again}{what}", attempt.id, attempt.stage), took, to }
}

/// How long something took, where that is worth a word; the times in front say the rest.
fn took(start_ms: u64, end_ms: u64) -> String {
    match end_ms.saturating_sub(start_ms) {
        0..1000 => String::new(),
        ms => format!(" ({})", duration(ms).replace(' ', "\u{a0}")),
    }
}

/// The adapter of a worker; its whole command is in the run's first event.
fn worker_word(worker: &str) -> &str {
    adapter_of(worker).map_or(worker, |(adapter, _)| adapter)
}

fn decision_entry(decision: &api::Decision, notes: &[String], in_advance: bool) -> Entry {
    let question = decision.question.lines().next().unwrap_or_default();
    let who = decision.by.as_ref().map(|by| format!(" by {}", by.name)).unwrap_or_default();
    let advance = if in_advance { ", in advance" } else { "" };
    let came = match decision.status {
        DecisionStatus::Pending => " → waits for you".to_owned(),
        DecisionStatus::Answered => {
            let each: Vec<&str> = decision.questions.iter().filter_map(|one| one.answer.as_deref()).collect();
            let each = each.join("; ");
            let answer = decision.answer.as_deref().unwrap_or(&each).lines().next().unwrap_or_default();
            format!(" → {answer}{who}{advance}")
        }
        DecisionStatus::Cancelled | DecisionStatus::Skipped if decision.reason.is_some() => {
            let how = if decision.status == DecisionStatus::Skipped { "skipped" } else { "cancelled" };
            format!(" → {how}{who}: {}", decision.reason.as_deref().unwrap_or_default())
        }
        DecisionStatus::Cancelled => " → taken back".to_owned(),
        DecisionStatus::Skipped => " → skipped".to_owned(),
        DecisionStatus::Replaced => " → asked again".to_owned(),
    };
    let notes = if notes.is_empty() { String::new() } else { format!("; {}", notes.join("; ")) };
    let ended = decision.ended_at_ms.filter(|_| !in_advance);
    let took = ended.map(|end| took(decision.asked_at_ms, end)).unwrap_or_default();
    Entry {
        symbol: "?",
        style: Style::Warn,
        text: format!("{} {question}", decision.id),
        took,
        to: format!("{came}{notes}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a long run that is left out before all which went well, and never its beginning or its end.
    #[test]
    fn what_did_not_go_well_is_shown() {
        let mut turns = vec![false; 60];
        [20, 30, 31].into_iter().for_each(|place| turns[place] = true);
        let places = shown(&turns);
        assert_eq!(places.len(), MOMENTS_MAX);
        assert!([0, 9, 20, 30, 31, 46, 59].iter().all(|place| places.contains(place)), "{places:?}");
        let all = shown(&[true; 100]);
        assert_eq!((all.len(), all[FIRST_MAX - 1], all[MOMENTS_MAX - LAST_MAX]), (MOMENTS_MAX, 9, 86));
        assert_eq!(shown(&[false; MOMENTS_MAX]).len(), MOMENTS_MAX);
        assert!(shown(&[]).is_empty());
    }
}
