//! One run on one screen: where it stands, what to type, what happened, and what shows that it is done.

use tollgate_api::{self as api, AttemptStatus, DecisionStatus, RunDetail};

use super::detail::{History, Moment, What};
use super::table::{table, wrap};
use super::text::{Line, Style, plain, width};
use super::words::{self, ago, count, duration, list};
use super::{budget, decision, evidence, listing};

/// How many moments are shown of the beginning of a long run, and of its end; `logs` tells all.
const FIRST_MAX: usize = 14;
const LAST_MAX: usize = 26;
/// How many changed files, findings or rows are shown.
const ROWS_MAX: usize = 30;

/// The whole screen.
pub fn lines(detail: &RunDetail, history: &History, now_ms: u64, columns: usize) -> Vec<Line> {
    let mut screen = Screen { lines: Vec::new(), columns };
    head(&mut screen, detail, now_ms);
    standing(&mut screen, detail);
    questions(&mut screen, detail);
    timeline(&mut screen, detail, history);
    usage(&mut screen, detail);
    if !detail.budgets.is_empty() {
        screen.title("What it may use", "");
        screen.rows(budget::rows(&detail.budgets));
    }
    criteria(&mut screen, detail);
    gates(&mut screen, detail);
    findings(&mut screen, detail);
    changes(&mut screen, detail);
    kept(&mut screen, detail);
    reads(&mut screen, detail);
    screen.lines
}

struct Screen {
    lines: Vec<Line>,
    columns: usize,
}

impl Screen {
    fn title(&mut self, title: &str, note: &str) {
        let note = if note.is_empty() { String::new() } else { format!("  {note}") };
        self.lines.push(Line::new());
        self.lines.push(Line::new().add(Style::Strong, title).add(Style::Faint, note).fit(self.columns));
    }

    fn rows(&mut self, rows: Vec<Vec<Line>>) {
        let lines = table(&[], rows, self.columns.saturating_sub(2));
        self.lines.extend(lines.into_iter().map(|line| Line::from("  ").join(line)));
    }

    /// A label and a text that is wrapped beside it.
    fn beside(&mut self, label: Line, text: &str) {
        self.wrapped(label, text, Style::Plain);
    }

    fn wrapped(&mut self, label: Line, text: &str, style: Style) {
        let indent = " ".repeat(label.width());
        let mut label = Some(label);
        // Made harmless first: what is shown in its place may be wider.
        for line in wrap(&plain(text), self.columns.saturating_sub(indent.len())) {
            let start = label.take().unwrap_or_else(|| Line::from(indent.as_str()));
            self.lines.push(start.add(style, line));
        }
        self.lines.extend(label);
    }

    fn more(&mut self, all: usize, hint: &str) {
        if let Some(more) = all.checked_sub(ROWS_MAX).filter(|more| *more > 0) {
            self.lines.push(Line::from("  ").add(Style::Faint, format!("and {more} more{hint}")));
        }
    }
}

fn head(screen: &mut Screen, detail: &RunDetail, now_ms: u64) {
    let summary = &detail.summary;
    let state = words::run(summary.status);
    let line = Line::new().add(Style::Strong, &summary.run).text("  ").join(state.line());
    screen.lines.push(line.text(format!("  {}", summary.protocol)).fit(screen.columns));
    screen.wrapped(Line::from("  "), &summary.goal, Style::Strong);
    if !summary.reason.is_empty() {
        screen.beside(Line::from("  why     "), &summary.reason);
    }
    // Open questions have a place of their own, with every command.
    let asks = detail.decisions.iter().any(|decision| decision.status == DecisionStatus::Pending);
    for command in summary.next.iter().filter(|command| !asks || !command.starts_with("tollgate decide")) {
        screen.lines.push(Line::from("  next    ").add(Style::Accent, command));
    }
    let last = detail.attempts.iter().rev().find(|attempt| attempt.role.is_some());
    if let Some(last) = last.filter(|_| summary.status == api::RunStatus::Halted) {
        let look = format!("tollgate logs {} {}", summary.run, last.id);
        screen.lines.push(Line::from("  look    ").add(Style::Accent, look));
    }
    if asks {
        screen.lines.push(Line::from("  next    ").text("answer below, or `tollgate inbox`"));
    }
    let started = ago(now_ms, summary.started_at_ms);
    let since = match summary.status {
        api::RunStatus::Succeeded | api::RunStatus::Dropped | api::RunStatus::Cancelled => {
            format!("took {}", duration(summary.changed_at_ms.saturating_sub(summary.started_at_ms)))
        }
        _ => format!("last changed {}", ago(now_ms, summary.changed_at_ms)),
    };
    let events = count(to_usize(summary.events), "event");
    screen.beside(Line::from("  when    "), &format!("started {started}, {since}, {events} in the journal"));
    screen.beside(Line::from("  where   "), &format!("{} at {}", summary.repository, short(&detail.base)));
    if let Some(branch) = &detail.branch {
        screen.beside(Line::from("  branch  "), branch);
    }
    for tree in &detail.trees {
        let of = tree.unit.as_ref().map(|unit| format!(" ({unit})")).unwrap_or_default();
        screen.beside(Line::from("  tree    "), &format!("{}{of}", tree.folder));
    }
    screen.lines.push(Line::from("  journal ").add(Style::Faint, &detail.head).fit(screen.columns.max(76)));
}

fn standing(screen: &mut Screen, detail: &RunDetail) {
    screen.title("Where it stands", "");
    let row = |position: &api::Position| {
        let unit = position.unit.clone().unwrap_or_else(|| "run".to_owned());
        let state = detail.units.iter().find(|known| Some(&known.name) == position.unit.as_ref());
        vec![
            Line::new().add(Style::Strong, unit),
            Line::from(position.stage.clone()),
            // Said once: the place of a unit that is held says so.
            Line::from(state.filter(|_| !position.state.starts_with("held")).map_or("", |unit| &unit.state)),
            // What lapsed went to its end once; why it must go again says more.
            Line::from(
                state
                    .filter(|unit| unit.state == "lapsed" && position.state == "done")
                    .map_or_else(|| position.state.clone(), |unit| unit.reason.clone()),
            ),
        ]
    };
    screen.rows(detail.positions.iter().map(row).collect());
    for position in detail.positions.iter().filter(|position| !position.limits.is_empty()) {
        let limits: Vec<String> = position.limits.iter().map(|(route, taken)| format!("{route} {taken}")).collect();
        let unit = position.unit.as_deref().unwrap_or("run");
        screen.wrapped(Line::from("  "), &format!("{unit} used of its limits: {}", limits.join(", ")), Style::Faint);
    }
    let waiting = detail.units.iter().filter(|unit| unit.stage.is_none());
    let waiting: Vec<&str> = waiting.map(|unit| unit.name.as_str()).collect();
    if !waiting.is_empty() {
        screen.beside(Line::from("  not started: "), &list(&waiting));
    }
}

fn questions(screen: &mut Screen, detail: &RunDetail) {
    let open: Vec<&api::Decision> =
        detail.decisions.iter().filter(|decision| decision.status == DecisionStatus::Pending).collect();
    if open.is_empty() {
        return;
    }
    screen.title("Waits for you", "");
    for question in open {
        let commands = match (detail.summary.run.parse(), question.id.parse()) {
            (Ok(run), Ok(id)) => listing::answers(run, id, question.options.iter().map(|option| option.id.as_str())),
            _ => Vec::new(),
        };
        let lines = decision::lines(question, &commands, screen.columns.saturating_sub(2));
        screen.lines.extend(lines.into_iter().map(|line| Line::from("  ").join(line)));
    }
}

fn timeline(screen: &mut Screen, detail: &RunDetail, history: &History) {
    // How it began and where it came to are shown; what is left out of a long run is the middle.
    let skipped = history.moments.len().saturating_sub(FIRST_MAX + LAST_MAX);
    let (first, last) = if skipped > 0 { (FIRST_MAX, FIRST_MAX + skipped) } else { (0, 0) };
    let note = match skipped {
        0 => String::new(),
        skipped => format!("{skipped} left out in the middle: `tollgate logs {}`", detail.summary.run),
    };
    screen.title("What happened", &note);
    let start = detail.summary.started_at_ms;
    let shown: Vec<(String, String, Told)> = history.moments[..first]
        .iter()
        .chain(&history.moments[last..])
        .map(|moment| {
            let (unit, told) = told(moment, detail, history);
            (format!("+{}", duration(moment.at_ms.saturating_sub(start))), unit, told)
        })
        .collect();
    let widest = |texts: &mut dyn Iterator<Item = &String>| texts.map(|text| width(text)).max().unwrap_or(0);
    let times = widest(&mut shown.iter().map(|(time, _, _)| time));
    let units = widest(&mut shown.iter().map(|(_, unit, _)| unit)).min(screen.columns / 5);
    let pad = |text: &str, wide: usize| format!("{}  ", " ".repeat(wide.saturating_sub(width(text))));
    for (place, (time, unit, told)) in shown.into_iter().enumerate() {
        if skipped > 0 && place == first {
            screen.lines.push(Line::from("  ").add(Style::Faint, format!("… {}", count(skipped, "more moment"))));
        }
        let unit_cell = Line::new().add(Style::Strong, unit).fit(units);
        let gap = pad(&unit_cell.to_string(), units);
        let label = Line::from("  ")
            .add(Style::Faint, pad(&time, times).trim_end_matches("  ").to_owned() + &time + "  ")
            .join(unit_cell)
            .text(gap)
            .add(told.style, told.symbol)
            .text(" ");
        screen.wrapped(label, &format!("{}{}", told.text, told.took), Style::Plain);
    }
}

/// One moment in words.
struct Told {
    symbol: &'static str,
    style: Style,
    text: String,
    took: String,
}

fn told(moment: &Moment, detail: &RunDetail, history: &History) -> (String, Told) {
    let subject = |unit: Option<&str>| unit.unwrap_or("run").to_owned();
    match &moment.what {
        What::Attempt(place) => match detail.attempts.get(*place) {
            Some(attempt) => (subject(attempt.unit.as_deref()), attempt_told(attempt, detail.summary.status)),
            None => {
                (subject(None), Told { symbol: "·", style: Style::Faint, text: String::new(), took: String::new() })
            }
        },
        What::Decision(id) => {
            let known = detail.decisions.iter().find(|decision| decision.id == id.to_string());
            let unit = known.and_then(|decision| decision.unit.as_deref());
            let notes = history.answered.get(id).map(Vec::as_slice).unwrap_or_default();
            let told = known.map(|decision| decision_told(decision, notes, history.in_advance.contains(id)));
            (
                subject(unit),
                told.unwrap_or(Told { symbol: "?", style: Style::Warn, text: id.to_string(), took: String::new() }),
            )
        }
        // Why is said at the top.
        What::Told { unit, text } if text.starts_with("halted: ") => {
            let told = Told { symbol: "■", style: Style::Bad, text: "halted".to_owned(), took: String::new() };
            (subject(unit.as_deref()), told)
        }
        What::Told { unit, text } => {
            let told = Told { symbol: "·", style: Style::Faint, text: text.clone(), took: String::new() };
            (subject(unit.as_deref()), told)
        }
    }
}

/// "build: developer (script), 2nd time: done, 3 files changed → check".
fn attempt_told(attempt: &api::Attempt, run: api::RunStatus) -> Told {
    let who = match (&attempt.role, &attempt.worker) {
        (Some(role), Some(worker)) => format!(": {role} ({})", worker_word(worker)),
        (Some(role), None) => format!(": {role}"),
        (None, _) => String::new(),
    };
    let again = if attempt.iteration > 1 { format!(", {}", words::nth_time(attempt.iteration)) } else { String::new() };
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
            let state = words::attempt(status);
            (state.symbol, state.style)
        }
    };
    let took = attempt.ended_at_ms.map(|end| took(attempt.started_at_ms, end)).unwrap_or_default();
    Told { symbol, style, text: format!("{} {}{who}{again}{what}{to}", attempt.id, attempt.stage), took }
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
    worker.split_once(':').map_or(worker, |(adapter, _)| adapter)
}

fn decision_told(decision: &api::Decision, notes: &[String], in_advance: bool) -> Told {
    let question = decision.question.lines().next().unwrap_or_default();
    let who = decision.by.as_ref().map(|by| format!(" by {}", by.name)).unwrap_or_default();
    let advance = if in_advance { ", in advance" } else { "" };
    let came = match decision.status {
        DecisionStatus::Pending => " → waits for you".to_owned(),
        DecisionStatus::Answered => {
            let answer = decision.answer.as_deref().unwrap_or_default().lines().next().unwrap_or_default();
            format!(" → {answer}{who}{advance}")
        }
        DecisionStatus::Cancelled => " → taken back".to_owned(),
        DecisionStatus::Replaced => " → asked again".to_owned(),
    };
    let notes = if notes.is_empty() { String::new() } else { format!("; {}", notes.join("; ")) };
    let ended = decision.ended_at_ms.filter(|_| !in_advance);
    let took = ended.map(|end| took(decision.asked_at_ms, end)).unwrap_or_default();
    Told { symbol: "?", style: Style::Warn, text: format!("{} {question}{came}{notes}", decision.id), took }
}

fn usage(screen: &mut Screen, detail: &RunDetail) {
    if detail.usage.is_empty() {
        return;
    }
    screen.title("What it used", "as the agents tell; what they do not tell is unknown");
    let row = |row: &api::RoleUsage| {
        let sum = |sum: api::UsageSum, shown: fn(u64) -> String| match sum {
            api::UsageSum { known, unknown: 0 } => shown(known),
            api::UsageSum { unknown, .. } if unknown == row.attempts => "unknown".to_owned(),
            api::UsageSum { known, unknown } => format!("{} + unknown ({unknown} of {})", shown(known), row.attempts),
        };
        let tokens = |number: u64| words::thousands(number);
        vec![
            Line::new().add(Style::Strong, row.role.as_deref().unwrap_or("in all")),
            Line::from(count(to_usize(row.attempts.into()), "attempt")),
            Line::from(format!("read {}", sum(row.input_tokens, tokens))),
            Line::from(format!("written {}", sum(row.output_tokens, tokens))),
            Line::from(format!("cost {}", sum(row.cost_nano_usd, words::dollars))),
        ]
    };
    screen.rows(detail.usage.iter().map(row).collect());
}

fn criteria(screen: &mut Screen, detail: &RunDetail) {
    if detail.criteria.is_empty() {
        return;
    }
    let with = |status: &str| detail.criteria.iter().filter(|row| row.status == status).count();
    let waived = match with("waived") {
        0 => String::new(),
        waived => format!(", {waived} waived"),
    };
    screen.title("What must be true", &format!("{} of {} passed{waived}", with("passed"), detail.criteria.len()));
    let ids = detail.criteria.iter().map(|row| width(&row.id)).max().unwrap_or(0);
    for row in detail.criteria.iter().take(ROWS_MAX) {
        let (symbol, style) = match row.status.as_str() {
            "passed" => ("✓", Style::Good),
            "waived" => ("✓", Style::Warn),
            "failed" => ("✗", Style::Bad),
            "stale" => ("~", Style::Warn),
            "unobservable" => ("?", Style::Warn),
            _ => ("·", Style::Faint),
        };
        let label =
            Line::from("  ").add(style, symbol).text(format!(" {}{}  ", row.id, " ".repeat(ids - width(&row.id))));
        let unit = row.unit.as_ref().map(|unit| format!(" ({unit})")).unwrap_or_default();
        if row.evidence.is_empty() {
            screen.wrapped(label, &format!("{}{unit}: {}", row.text, row.status), Style::Plain);
            continue;
        }
        screen.wrapped(label, &format!("{}{unit}", row.text), Style::Plain);
        let indent = " ".repeat(ids + 6);
        // What was run counts before what somebody says.
        let ran = row.evidence.iter().filter(|evidence| evidence.source == api::EvidenceSource::Command);
        let said = row.evidence.iter().filter(|evidence| evidence.source != api::EvidenceSource::Command);
        let shown: Vec<String> = ran.chain(said).map(|evidence| evidence::sentence(evidence, detail)).collect();
        let shown = format!("{}: {}", row.status, shown.join("; "));
        screen.wrapped(Line::from(indent), &shown, Style::Faint);
    }
    screen.more(detail.criteria.len(), "; `--json` shows all");
}

fn gates(screen: &mut Screen, detail: &RunDetail) {
    let mandatory: Vec<&api::Gate> = detail.gates.iter().filter(|gate| gate.mandatory).collect();
    if mandatory.is_empty() {
        return;
    }
    screen.title("Gates", "all of these must hold");
    for gate in mandatory {
        let state = words::gate(gate.status);
        let of = gate.unit.as_deref().unwrap_or("run");
        let label = Line::from("  ").add(state.style, state.symbol).text(" ");
        let why = if gate.status == api::GateStatus::Holds { String::new() } else { format!(": {}", gate.reason) };
        screen.wrapped(label, &format!("{} ({of}) {}{why}", gate.gate, state.word), Style::Plain);
    }
}

fn findings(screen: &mut Screen, detail: &RunDetail) {
    if detail.findings.is_empty() {
        return;
    }
    let is_open = |finding: &&api::Finding| matches!(finding.status.as_str(), "open" | "addressed");
    let open = detail.findings.iter().filter(is_open).count();
    screen.title("Findings", &format!("{open} of {} still open", detail.findings.len()));
    let mut sorted: Vec<&api::Finding> = detail.findings.iter().collect();
    sorted.sort_by_key(|finding| !is_open(finding));
    for finding in sorted.into_iter().take(ROWS_MAX) {
        let (symbol, style) = if is_open(&finding) { ("✗", Style::Bad) } else { ("✓", Style::Good) };
        let place = match (&finding.path, finding.line) {
            (Some(path), Some(line)) => format!(" {path}:{line}"),
            (Some(path), None) => format!(" {path}"),
            (None, _) => String::new(),
        };
        let severity = finding.severity.as_ref().map(|severity| format!(" {severity}")).unwrap_or_default();
        let row = finding.criterion.as_ref().map(|row| format!(" {row}")).unwrap_or_default();
        let label = Line::from("  ").add(style, symbol).text(format!(" {}  ", finding.id));
        let what = finding.what.lines().next().unwrap_or_default();
        let text = format!("{}{severity}{row}{place}: {what} (found by {})", finding.status, finding.found_by);
        screen.wrapped(label, &text, Style::Plain);
    }
    screen.more(detail.findings.len(), "; `--json` shows all");
}

fn changes(screen: &mut Screen, detail: &RunDetail) {
    if detail.changes.is_empty() {
        return;
    }
    screen.title("Changed", &format!("{} since {}", count(detail.changes.len(), "file"), short(&detail.base)));
    let mut sorted: Vec<&api::Change> = detail.changes.iter().collect();
    // What lies outside is what somebody has to look at: it is never among those that are left off.
    sorted.sort_by_key(|change| change.scope == "in_scope");
    let rows = sorted.into_iter().take(ROWS_MAX).map(|change| {
        let kind = match change.kind {
            api::ChangeKind::Created => "new",
            api::ChangeKind::Modified => "changed",
            api::ChangeKind::Deleted => "deleted",
        };
        let outside = if change.scope == "in_scope" { "" } else { "outside the scope" };
        let area = change.area.clone().unwrap_or_default();
        vec![
            Line::from(kind),
            Line::from(change.path.clone()),
            Line::new().add(Style::Faint, area),
            Line::new().add(Style::Bad, outside),
        ]
    });
    screen.rows(rows.collect());
    screen.more(detail.changes.len(), "");
}

fn kept(screen: &mut Screen, detail: &RunDetail) {
    if detail.kept.is_empty() {
        return;
    }
    screen.title("Put aside", "what a work tree held that the run did not take; no part of the run");
    for kept in detail.kept.iter().take(ROWS_MAX) {
        let unit = kept.unit.as_deref().unwrap_or("run");
        screen.lines.push(Line::from("  ").add(Style::Strong, unit).text("  ").add(Style::Accent, &kept.look));
    }
    screen.more(detail.kept.len(), "; `--json` shows all");
}

fn reads(screen: &mut Screen, detail: &RunDetail) {
    for reads in &detail.reads {
        let attempt = detail.attempts.iter().find(|attempt| attempt.id == reads.attempt);
        let role = attempt.and_then(|attempt| attempt.role.as_deref()).unwrap_or_default();
        let to = attempt.and_then(|attempt| attempt.routed_to.as_deref()).unwrap_or_default();
        let title = format!("What was read of {}, {role} at {}", reads.attempt, reads.stage);
        screen.title(&title, &format!("{} → {to}", reads.outcome));
        let rows = reads.read.iter().map(|read| {
            let bytes = format!("{:>6} B", read.bytes);
            vec![
                Line::from(read.section.clone()),
                Line::new().add(Style::Faint, bytes),
                Line::from(read.reason.clone()),
            ]
        });
        screen.rows(rows.collect());
        if !reads.checked_only.is_empty() {
            screen.beside(Line::from("  checked, not routed on: "), &list(&reads.checked_only));
        }
    }
}

fn short(id: &str) -> String {
    id.chars().take(12).collect()
}

fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
