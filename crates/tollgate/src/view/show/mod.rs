//! One run on one screen: where it stands, what to type, what happened, and what shows that it is done.

mod timeline;

use tollgate_api::{self as api, DecisionStatus, RunDetail};
use tollgate_app::decision;
use tollgate_app::detail::History;
use tollgate_app::format::{self, ago, count, duration, list};

use super::status;
use super::table::{table, wrap};
use super::text::{Line, Style, plain, width};
use super::{budget, evidence, question};

/// How many changed files, findings or rows are shown.
const ROWS_MAX: usize = 30;

/// What a person let pass has not passed.
const WAIVED: (&str, Style) = ("!", Style::Warn);

/// The whole screen.
pub fn lines(detail: &RunDetail, history: &History, now_ms: u64, columns: usize) -> Vec<Line> {
    let mut screen = Screen { lines: Vec::new(), columns };
    head(&mut screen, detail, now_ms);
    standing(&mut screen, detail);
    questions(&mut screen, detail, now_ms);
    timeline::lines(&mut screen, detail, history);
    usage(&mut screen, detail);
    if !detail.budgets.is_empty() {
        screen.title("What it may use", "");
        screen.rows(budget::rows(&detail.budgets));
    }
    criteria(&mut screen, detail);
    gates(&mut screen, detail);
    findings(&mut screen, detail);
    notices(&mut screen, detail);
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
    let state = status::run(summary.status);
    let line = Line::new().add(Style::Strong, &summary.run).text("  ").join(state.line());
    screen.lines.push(line.text(format!("  {}", summary.protocol)).fit(screen.columns));
    screen.wrapped(Line::from("  "), &summary.goal, Style::Strong);
    if !summary.reason.is_empty() {
        screen.beside(Line::from("  why     "), &summary.reason);
    }
    for last in &detail.last_lines {
        let lines = question::last_lines(last, screen.columns.saturating_sub(10));
        screen.lines.extend(lines.into_iter().map(|line| Line::from("          ").join(line)));
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
        api::RunStatus::Succeeded | api::RunStatus::Reported | api::RunStatus::Dropped | api::RunStatus::Cancelled => {
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
    if let Some(sandbox) = &detail.sandbox {
        screen.wrapped(Line::from("  "), sandbox, Style::Warn);
    }
    if let Some(files) = &detail.not_as_checked_out {
        screen.beside(Line::from("  files   "), &format::not_as_checked_out(files));
    }
    screen.lines.push(Line::from("  journal ").add(Style::Faint, &detail.head).fit(screen.columns.max(76)));
}

fn standing(screen: &mut Screen, detail: &RunDetail) {
    screen.title("Current state", "");
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

fn questions(screen: &mut Screen, detail: &RunDetail, now_ms: u64) {
    let open: Vec<&api::Decision> =
        detail.decisions.iter().filter(|decision| decision.status == DecisionStatus::Pending).collect();
    if open.is_empty() {
        return;
    }
    screen.title("Waits for you", "");
    for question in open {
        let open = question.questions.iter().filter(|one| one.answer.is_none());
        let open = open.map(|one| (one.number, one.input.as_deref()));
        let options: Vec<&str> = question.options.iter().map(|option| option.id.as_str()).collect();
        let commands = match (detail.summary.run.parse(), question.id.parse()) {
            (Ok(run), Ok(id)) => decision::answers(run, id, &options, open),
            _ => Vec::new(),
        };
        let lines = question::lines(question, &commands, now_ms, screen.columns.saturating_sub(2));
        screen.lines.extend(lines.into_iter().map(|line| Line::from("  ").join(line)));
    }
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
        let tokens = |number: u64| format::thousands(number);
        vec![
            Line::new().add(Style::Strong, row.role.as_deref().unwrap_or("in all")),
            Line::from(count(to_usize(row.attempts.into()), "attempt")),
            Line::from(format!("read {}", sum(row.input_tokens, tokens))),
            Line::from(format!("written {}", sum(row.output_tokens, tokens))),
            Line::from(format!("cost {}", sum(row.cost_nano_usd, format::dollars))),
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
            "waived" => WAIVED,
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
        // What was run counts before what somebody says; a waiver that counts comes first and says so itself.
        let waived = row.status == "waived";
        let mut evidence: Vec<&api::Evidence> = row.evidence.iter().collect();
        evidence.sort_by_key(|evidence| match evidence.source {
            api::EvidenceSource::Decision if waived => 0,
            api::EvidenceSource::Command => 1,
            _ => 2,
        });
        let shown: Vec<String> = evidence.into_iter().map(|evidence| evidence::sentence(evidence, detail)).collect();
        let status = if waived { String::new() } else { format!("{}: ", row.status) };
        let shown = format!("{status}{}", shown.join("; "));
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
        let state = status::gate(gate.status);
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
        let (symbol, style) = match finding.status.as_str() {
            _ if is_open(&finding) => ("✗", Style::Bad),
            "waived" => WAIVED,
            _ => ("✓", Style::Good),
        };
        let place = match (&finding.path, finding.line) {
            (Some(path), Some(line)) => format!(" {path}:{line}"),
            (Some(path), None) => format!(" {path}"),
            (None, _) => String::new(),
        };
        let severity = finding.severity.as_ref().map(|severity| format!(" {severity}")).unwrap_or_default();
        let row = finding.criterion.as_ref().map(|row| format!(" {row}")).unwrap_or_default();
        let label = Line::from("  ").add(style, symbol).text(format!(" {}  ", finding.id));
        let what = finding.what.lines().next().unwrap_or_default();
        let found = if finding.role.is_some() { "found by" } else { "measured after" };
        let apart = finding
            .apart
            .iter()
            .map(|(unit, status)| format!("; {status} in the tree of {unit}, which has not landed"));
        let status = finding.status.clone() + &apart.collect::<String>();
        let by = finding.waived_by.as_ref().map(|name| format!(", waived by {name}")).unwrap_or_default();
        let text = format!("{status}{severity}{row}{place}: {what} ({found} {}{by})", finding.found_by);
        screen.wrapped(label, &text, Style::Plain);
    }
    screen.more(detail.findings.len(), "; `--json` shows all");
}

fn notices(screen: &mut Screen, detail: &RunDetail) {
    if detail.notices.is_empty() {
        return;
    }
    screen.title("Left open by reports", &count(detail.notices.len(), "notice"));
    for notice in detail.notices.iter().take(ROWS_MAX) {
        let about = notice.requirement.as_ref().or(notice.unit.as_ref()).map(|name| format!(" of {name}"));
        let label = Line::from("  ").add(Style::Warn, "!").text(format!(" {}  ", notice.kind));
        let what = notice.text.lines().next().unwrap_or_default();
        let text = format!("{what} ({}{})", notice.role, about.unwrap_or_default());
        screen.wrapped(label, &text, Style::Plain);
    }
    screen.more(detail.notices.len(), "; `--json` shows all");
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
